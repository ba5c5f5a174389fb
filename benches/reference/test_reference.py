#!/usr/bin/env python3
"""Tests the judges: statistics on made-up noise, the model's energy, units and directions of light by hand.

usage: target/bench/ref-venv/bin/python benches/reference/test_reference.py
"""
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import install                                       # noqa: E402

install.use_llvm()
import drjit as dr                                   # noqa: E402
import mitsuba as mi                                 # noqa: E402

mi.set_variant("llvm_ad_rgb")
import compare                                       # noqa: E402
import export_mitsuba                                # noqa: E402
import gltf                                          # noqa: E402
import isoframe_model as model                       # noqa: E402
import relmse                                        # noqa: E402
import scenes                                        # noqa: E402

DFG = Path(__file__).resolve().parents[2] / "raster/src/environment/dfg.bin"


def noisy(seed, scale=1.0, count=8):
    level = np.linspace(0.2, 2.0, 64)[None, :, None, None] * np.ones((1, 1, 64, 3))
    return scale * level * (1 + 0.1 * np.random.default_rng(seed).standard_normal((count, 64, 64, 3)))


class Statistics(unittest.TestCase):
    def verdict(self, a, b, **options):
        return compare.compare(a, b, np.ones((64, 64)), **options)

    def test_equal_means_agree(self):
        verdicts = [self.verdict(noisy(k), noisy(k + 1000))["verdict"] for k in range(50)]
        self.assertEqual(verdicts.count(compare.AGREES), 50)

    def test_one_percent_is_found_and_can_be_allowed(self):
        self.assertEqual(self.verdict(noisy(1, 1.01), noisy(2))["verdict"], compare.DIFFERS)
        self.assertEqual(self.verdict(noisy(1, 1.01), noisy(2), bias=0.02)["verdict"], compare.AGREES)

    def test_one_wrong_tile_is_found(self):
        wrong = noisy(1)
        wrong[:, 16:32, 16:32] *= 1.15
        self.assertIn("tiles", self.verdict(wrong, noisy(2))["failed"])

    def test_noise_that_hides_a_difference_is_no_agreement(self):
        loud = [noisy(k) * (1 + 0.2 * np.random.default_rng(k).standard_normal((8, 1, 1, 1))) for k in (1, 2)]
        self.assertEqual(self.verdict(*loud)["verdict"], compare.TOO_NOISY)

    def test_relmse_falls_by_samples(self):
        reference = noisy(0, count=1)[0] * 0 + 1.0
        errors = [relmse.relmse(1 + s * np.random.default_rng(3).standard_normal((64, 64, 3)), reference) for s in (0.2, 0.1)]
        self.assertAlmostEqual(errors[0] / errors[1], 4, delta=0.01)
        fit = relmse.line([1.0, 4.0], errors)
        self.assertAlmostEqual(relmse.time_at(errors[1], fit), 4.0, places=6)


class Model(unittest.TestCase):
    def test_single_scattering_is_that_of_the_shipped_table(self):
        table = np.frombuffer(DFG.read_bytes(), "<f4").reshape(64, 64, 2)
        for x, y in ((2, 20), (10, 40), (32, 32), (50, 10), (60, 60)):
            ours = model.single_scattering((x + 0.5) / 64, ((y + 0.5) / 64) ** 2)
            np.testing.assert_allclose(ours, table[y, x], atol=1e-3)

    def test_a_white_surface_gives_back_all_light(self):
        count = 1 << 20
        sampler = mi.load_dict({"type": "independent"})
        sampler.seed(1, count)
        for metallic in (0.0, 1.0):
            for roughness in (0.2, 0.6, 1.0):
                surface = mi.load_dict({"type": "isoframe_surface"}).set(
                    gltf.Material(base=(1.0, 1.0, 1.0), metallic=metallic, roughness=roughness))
                for cosine in (0.2, 0.9):
                    si = dr.zeros(mi.SurfaceInteraction3f, count)
                    si.wi = mi.Vector3f(float(np.sqrt(1 - cosine * cosine)), 0.0, cosine)
                    _, weight = surface.sample(mi.BSDFContext(), si, sampler.next_1d(), sampler.next_2d())
                    self.assertAlmostEqual(dr.mean(weight.x)[0], 1.0, delta=0.004, msg=(metallic, roughness, cosine))


class Export(unittest.TestCase):
    def test_environment_stands_where_isoframe_has_it(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "sky.hdr"
            pixels = scenes.sky()
            scenes.write_hdr(file, pixels)
            environment = mi.load_dict(export_mitsuba.panorama(mi, file))
            height, width, _ = pixels.shape
            for direction in ((1, 0, 0), (0, 0, 1), (-1, 0.2, 0), (0.1, 0.3, -1), (0.6, 0.7, 0.4)):
                x, y, z = np.array(direction) / np.linalg.norm(direction)
                u, v = np.arctan2(z, x) / (2 * np.pi) + 0.5, np.arccos(y) / np.pi
                si = dr.zeros(mi.SurfaceInteraction3f)
                si.wi = mi.Vector3f(*map(float, (-x, -y, -z)))
                np.testing.assert_allclose(np.array(environment.eval(si))[:, 0],
                                           pixels[int(v * height), int(u * width) % width], rtol=0.04)

    def test_lights_have_gltf_units(self):
        at, to = np.array([0.0, 2.0, 0.0]), np.array([0.0, -1.0, 0.0])
        si = dr.zeros(mi.SurfaceInteraction3f)
        cases = (("point", (0.0, 0.0, 0.0), 3.0 / 4), ("spot", (0.0, 0.0, 0.0), 3.0 / 4),
                 ("spot", (1.0, 0.0, 0.0), 3.0 / 5 * ((2 / 5 ** 0.5 - 0.8) / 0.1) ** 2))
        for kind, place, expected in cases:
            light = gltf.Light(kind, (3.0, 3.0, 3.0), at, to, 0.9, 0.8)
            made = export_mitsuba.emitter(mi, light, mi.variant())
            si.p = mi.Point3f(*place)
            made = mi.load_dict(made) if isinstance(made, dict) else made
            _, weight = made.sample_direction(si, mi.Point2f(0.5), True)
            self.assertAlmostEqual(np.array(weight)[0, 0], expected, places=5)


if __name__ == "__main__":
    unittest.main()
