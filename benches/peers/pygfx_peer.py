"""pygfx (wgpu) on Mesa's lavapipe.

pygfx has no multisampling; its 4-fold anti-aliasing is supersampling, which shades every sample.
ISOFRAME_PYGFX_SAMPLES=1 measures it without any, which is in its favour.
"""
import os
from importlib.metadata import version

import common
import numpy as np
import pygfx
from rendercanvas.offscreen import OffscreenRenderCanvas

CUBE_SIZE_PX = 256
MAX_RADIANCE = 4.0             # plain mip levels would smear the sun over everything

description = common.load()
samples = int(os.environ.get("ISOFRAME_PYGFX_SAMPLES", description["samples"]))
width, height = description["size"]


def cube_from_equirectangular(panorama):
    """pygfx reads an environment only from a cube map: +x, -x, +y, -y, +z, -z."""
    s = (np.arange(CUBE_SIZE_PX) + 0.5) / CUBE_SIZE_PX * 2 - 1
    u, v = np.meshgrid(s, s)
    one = np.ones_like(u)
    faces = np.stack([np.stack(face, -1) for face in (
        (one, -v, -u), (-one, -v, u), (u, one, v), (u, -one, -v), (u, -v, one), (-u, -v, -one))])
    faces /= np.linalg.norm(faces, axis=-1, keepdims=True)
    rows, columns, _ = panorama.shape
    x = (np.arctan2(faces[..., 2], faces[..., 0]) / (2 * np.pi) + 0.5) % 1.0
    y = np.arccos(np.clip(faces[..., 1], -1, 1)) / np.pi
    texels = panorama[np.minimum((y * rows).astype(int), rows - 1), np.minimum((x * columns).astype(int), columns - 1)]
    rgba = np.ones((6, CUBE_SIZE_PX, CUBE_SIZE_PX, 4), np.float16)
    rgba[..., :3] = np.minimum(texels, MAX_RADIANCE)
    return pygfx.Texture(rgba, dim=2, size=(CUBE_SIZE_PX, CUBE_SIZE_PX, 6), colorspace="physical", generate_mipmaps=True)


canvas = OffscreenRenderCanvas(size=(width, height), pixel_ratio=1)
renderer = pygfx.renderers.WgpuRenderer(canvas, pixel_scale=round(samples ** 0.5), ppaa="none")
scene = pygfx.Scene()
scene.add(pygfx.Background.from_color("#000"))
gltf = pygfx.load_gltf(description["scene"], quiet=True)
scene.add(gltf.scene or gltf.scenes[0])
light = description["light"]
sun = pygfx.DirectionalLight("#fff", intensity=light["intensity"])
sun.local.position = tuple(-10 * np.array(light["direction"]))
scene.add(sun)
cannot = []
if samples > 1:
    cannot.append(f"multisampling: {samples} samples by supersampling")
else:
    cannot.append("multisampling: measured with one sample")
if description["environment"]:
    environment = cube_from_equirectangular(common.load_hdr(description["environment"]))
    for node in scene.iter(lambda node: isinstance(getattr(node, "material", None), pygfx.MeshStandardMaterial)):
        node.material.env_map = environment
# pygfx measures its angle over the mean of width and height.
mean_fov_rad = 2 * np.arctan(np.tan(description["yfov"] / 2) * (1 + width / height) / 2)
camera = pygfx.PerspectiveCamera(np.degrees(mean_fov_rad), width / height,
                                 depth_range=(description["near"], description["far"]))
camera.local.matrix = common.world_from_camera(description)
canvas.request_draw(lambda: renderer.render(scene, camera))


def frame():
    return np.asarray(canvas.draw())


common.measure(
    description, frame, peer="pygfx" if samples > 1 else "pygfx-1", version=f"pygfx {version('pygfx')}, wgpu {version('wgpu')}",
    driver=renderer.device.adapter.info["device"] + " (Vulkan)", samples=samples, cannot=cannot,
    notes=["environment: cube map with plain mip levels, no prefiltering"])
