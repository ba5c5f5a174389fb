#!/usr/bin/env python3
"""Renders a .glb of the bench with Mitsuba 3, once per seed, into linear .exr files.

Every path starts through the centre of its pixel, as Isoframe's does with one coverage sample, so that no pixel filter
stands between the two. Alpha is 1 where a surface is seen, and the same one 1/64 pixel to the left, right, above and
below; at the other pixels Isoframe's edges, which are decided on a grid of 1/256 pixel, may show another surface.

`--filter box` spreads the paths over the pixel instead, with Mitsuba's own film and loop: for timing.

The last line is JSON: seconds of each seed, the first after one that only compiles.

usage: render_mitsuba.py SCENE.glb -o 'NAME.%d.exr' [--seeds 8] [--spp 1024] [--size 128] [--environment FILE] ...
"""
import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
import install                                       # noqa: E402
import picture                                       # noqa: E402
from export_mitsuba import export, sensor            # noqa: E402

WAVE_PATHS = 1 << 23                                 # paths in flight: memory grows with them, speed hardly
EDGE_PX = 1 / 64                                     # four steps of Isoframe's grid of 1/256
SAME_FACE_COSINE = 0.99                              # between facets of a ball, not between faces of a box


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("scene")
    parser.add_argument("-o", "--out", required=True, help="with %%d for the seed")
    parser.add_argument("--environment")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--spp", type=int, default=1024)
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--max-depth", type=int, default=5, help="segments of a path: bounces + 2")
    parser.add_argument("--variant", default="llvm_ad_rgb")
    parser.add_argument("--filter", choices=("centre", "box"), default="centre")
    return parser.parse_args()


class Centre:
    """Radiance along rays through pixel centres."""

    def __init__(self, mi, scene, camera, size, max_depth):
        self.mi, self.scene, self.size = mi, scene, size
        self.sensor = sensor(mi, camera, size, size)
        self.integrator = mi.load_dict({"type": "path", "max_depth": max_depth, "rr_depth": 8})

    def rays(self, pixel, shift=(0.0, 0.0)):
        """Differentials off: nothing here is textured."""
        mi = self.mi
        x = (mi.Float(pixel % self.size) + 0.5 + shift[0]) / self.size
        y = (mi.Float(pixel // self.size) + 0.5 + shift[1]) / self.size
        ray, _ = self.sensor.sample_ray(0.0, 0.5, mi.Point2f(x, y), mi.Point2f(0.5, 0.5))
        return ray

    def coverage(self):
        import drjit as dr
        pixel = dr.arange(self.mi.UInt32, self.size * self.size)

        def seen(shift):
            hit = self.scene.ray_intersect(self.rays(pixel, shift))
            return np.array(hit.is_valid()), np.array(dr.reinterpret_array(self.mi.UInt32, hit.shape)), np.array(hit.n)

        sure, shape, normal = seen((0.0, 0.0))
        for shift in ((-EDGE_PX, 0.0), (EDGE_PX, 0.0), (0.0, -EDGE_PX), (0.0, EDGE_PX)):
            near, near_shape, near_normal = seen(shift)
            sure = sure & near & (near_shape == shape) & ((near_normal * normal).sum(axis=0) > SAME_FACE_COSINE)
        return sure.reshape(self.size, self.size).astype(np.float32)

    def render(self, seed, spp):
        import drjit as dr
        pixels = self.size * self.size
        wave_spp = max(1, min(spp, WAVE_PATHS // pixels))
        total = np.zeros((pixels, 3))
        for wave in range(-(-spp // wave_spp)):
            count = min(wave_spp, spp - wave * wave_spp)
            sampler = self.mi.load_dict({"type": "independent"})
            sampler.seed(dr.opaque(self.mi.UInt32, seed * 65536 + wave), pixels * count)
            pixel = dr.arange(self.mi.UInt32, pixels * count) // count
            radiance, _, _ = self.integrator.sample(self.scene, sampler, self.rays(pixel))
            for k in range(3):
                total[:, k] += np.array(dr.block_sum(radiance[k], count), np.float64)
        return (total / spp).reshape(self.size, self.size, 3)


class CentreScalar(Centre):
    """The same, path by path."""

    def coverage(self):
        return np.ones((self.size, self.size), np.float32)

    def rays(self, pixel, shift=(0.0, 0.0)):
        place = self.mi.Point2f((pixel % self.size + 0.5) / self.size, (pixel // self.size + 0.5) / self.size)
        return self.sensor.sample_ray(0.0, 0.5, place, self.mi.Point2f(0.5, 0.5))[0]

    def render(self, seed, spp):
        sampler = self.mi.load_dict({"type": "independent"})
        sampler.seed(seed)
        total = np.zeros((self.size * self.size, 3))
        for pixel in range(self.size * self.size):
            ray = self.rays(pixel)
            for _ in range(spp):
                total[pixel] += self.integrator.sample(self.scene, sampler, ray)[0]
        return (total / spp).reshape(self.size, self.size, 3)


class Film(Centre):
    """Mitsuba's own loop, paths spread over the pixel."""

    def render(self, seed, spp):
        import drjit as dr
        self.sensor.sampler().set_sample_count(spp)
        seed = dr.opaque(self.mi.UInt32, seed)
        return np.array(self.mi.render(self.scene, sensor=self.sensor, integrator=self.integrator, seed=seed, spp=spp))


def main():
    args = arguments()
    install.use_llvm()
    import mitsuba as mi
    mi.set_variant(args.variant)
    scene, camera = export(args.scene, args.environment, args.variant)
    scalar = args.variant.startswith("scalar")
    kind = Film if args.filter == "box" else CentreScalar if scalar else Centre
    view = kind(mi, scene, camera, args.size, args.max_depth)
    coverage = view.coverage()
    if not scalar:
        view.render(0, min(args.spp, max(1, WAVE_PATHS // args.size ** 2)))     # compiles
    seconds = []
    for seed in range(args.first_seed, args.first_seed + args.seeds):
        start = time.perf_counter()
        pixels = view.render(seed, args.spp)
        seconds.append(time.perf_counter() - start)
        if not np.isfinite(pixels).all():
            sys.exit(f"{args.scene}: {np.count_nonzero(~np.isfinite(pixels))} undefined values")
        picture.write(args.out.replace("%d", str(seed)), np.dstack([pixels, coverage]))
    print(json.dumps({"scene": args.scene, "spp": args.spp, "seconds": [round(s, 3) for s in seconds]}))


if __name__ == "__main__":
    main()
