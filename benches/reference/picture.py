"""Linear float pictures as arrays (height, width, channel), in OpenEXR files through Mitsuba's reader and writer."""
import numpy as np


def bitmap_class():
    import mitsuba as mi
    if not mi.variant():
        mi.set_variant("scalar_rgb")
    return mi


def write(path, pixels):
    """Three channels are written as RGB, four as RGBA; 32 bits each."""
    bitmap = bitmap_class().Bitmap(np.ascontiguousarray(pixels, np.float32))
    bitmap.write(str(path))


def read(path):
    """RGB and coverage, which is 1 where the file has no alpha. A layer's name before a channel's is passed over."""
    mi = bitmap_class()
    bitmap = mi.Bitmap(str(path))
    names = [bitmap.struct_()[i].name.rsplit(".")[-1] for i in range(bitmap.channel_count())]
    pixels = np.array(bitmap)
    pixels = pixels.reshape(*pixels.shape[:2], -1)
    missing = {"R", "G", "B"} - set(names)
    if missing:
        raise ValueError(f"{path}: no channel {', '.join(sorted(missing))} among {', '.join(names)}")
    rgb = np.stack([pixels[..., names.index(c)] for c in "RGB"], -1).astype(np.float64)
    alpha = pixels[..., names.index("A")] if "A" in names else np.ones(pixels.shape[:2])
    return rgb, alpha
