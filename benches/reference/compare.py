#!/usr/bin/env python3
"""Whether two renderers agree within the noise of both, from several seeds of each.

Noise is what differs from seed to seed, nothing is assumed about how samples are spread. Three tests, each by Welch's t,
because each side has its own variance and few seeds:
  mean    the picture's mean, per channel
  tiles   each tile of 16x16 pixels, per channel; the worst, corrected for their number (Bonferroni)
  spread  all tiles at once, luminance: a chi-square of their scores, which finds many small differences
Pixels at edges (alpha of REF below 1) are left out; so are tiles with less than a quarter of their pixels.

Exit status: 0 they agree, 1 they differ, 2 too noisy to tell: what could be missed in the mean exceeds `--resolution`.

usage: compare.py A.0.exr A.1.exr ... --reference REF.0.exr REF.1.exr ... [--bias 0.001] [--json]
"""
import argparse
import json
import sys
from pathlib import Path

import numpy as np
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parent))
import picture                                       # noqa: E402

TILE_PX = 16
TILE_LEAST_SHARE = 0.25
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])
FALSE_ALARMS = 1e-3                                  # of each test, where there is no difference
AGREES, DIFFERS, TOO_NOISY = 0, 1, 2


def welch(a, b, allowance=0.0):
    """Difference of means over the first axis, its standard error, and the two-sided chance of so much by noise."""
    variance_a, variance_b = a.var(axis=0, ddof=1) / len(a), b.var(axis=0, ddof=1) / len(b)
    error = np.sqrt(variance_a + variance_b)
    difference = a.mean(axis=0) - b.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = (variance_a + variance_b) ** 2 / (variance_a ** 2 / (len(a) - 1) + variance_b ** 2 / (len(b) - 1))
        beyond = np.maximum(np.abs(difference) - allowance, 0)
        chance = 2 * stats.t.sf(beyond / error, freedom)
    still = error == 0                               # no noise at all: any difference is one
    return difference, error, np.where(still, (beyond == 0).astype(float), chance)


def tiles(pictures, weight):
    """Means over tiles, (seed, tile, channel), of the tiles with enough pixels."""
    count, height, width, channels = pictures.shape
    if height % TILE_PX or width % TILE_PX:
        raise ValueError(f"{width}x{height} does not divide into tiles of {TILE_PX}")
    grid = (count, height // TILE_PX, TILE_PX, width // TILE_PX, TILE_PX, channels)
    sums = (pictures * weight[..., None]).reshape(grid).sum(axis=(2, 4)).reshape(count, -1, channels)
    area = weight.reshape(grid[1:5]).sum(axis=(1, 3)).reshape(-1)
    enough = area >= TILE_LEAST_SHARE * TILE_PX * TILE_PX
    return sums[:, enough] / area[enough, None]


def compare(a, b, weight, bias=0.0, resolution=0.01):
    """`a`, `b`: (seed, height, width, 3); `weight` (height, width) is 1 where pixels count."""
    if len(a) < 4 or len(b) < 4:
        raise ValueError("noise needs at least four seeds of each")
    means_a, means_b = ((p * weight[..., None]).sum(axis=(1, 2)) / weight.sum() for p in (a, b))
    level = means_b.mean(axis=0)
    difference, error, chance = welch(means_a, means_b, bias * level)
    tiles_a, tiles_b = tiles(a, weight), tiles(b, weight)
    tile_level = np.maximum(tiles_b.mean(axis=0), level * 0.05)
    tile_difference, tile_error, tile_chance = welch(tiles_a, tiles_b, bias * tile_level)
    _, _, luminance_chance = welch(tiles_a @ LUMINANCE, tiles_b @ LUMINANCE, bias * (tile_level @ LUMINANCE))
    score = stats.norm.isf(luminance_chance.clip(1e-15, 1) / 2)
    least = {"mean": float(min(1, chance.min() * 3)), "tiles": float(min(1, tile_chance.min() * tile_chance.size)),
             "spread": float(stats.chi2.sf((score ** 2).sum(), len(score)))}
    # What the mean could be off by and still pass, at this false alarm rate and half of the time.
    missed = error * stats.norm.isf(FALSE_ALARMS / 6) / level
    failed = [name for name, value in least.items() if value < FALSE_ALARMS]
    verdict = DIFFERS if failed else TOO_NOISY if (missed > resolution).any() else AGREES
    return {
        "seeds": [len(a), len(b)], "pixels": float(weight.mean()), "tiles": len(score),
        "mean": level.tolist(), "difference": (difference / level).tolist(), "error": (error / level).tolist(),
        "worst_tile": float((np.abs(tile_difference) / tile_level).max()),
        "tile_error": float(np.median(tile_error / tile_level)),
        "chi2_per_tile": float((score ** 2).mean()), "chance": least, "missed": missed.tolist(),
        "failed": failed, "verdict": verdict}


def load(paths):
    loaded = [picture.read(path) for path in paths]
    return np.stack([rgb for rgb, _ in loaded]), np.stack([alpha for _, alpha in loaded])


VERDICTS = {AGREES: "agree", DIFFERS: "DIFFER", TOO_NOISY: "too noisy to tell"}


def percent(values):
    return ", ".join(f"{100 * v:+.3f}" for v in values)


def table(result):
    rows = [
        ("seeds, tiles, share of pixels", "{} + {}, {}, {:.1%}".format(
            *result["seeds"], result["tiles"], result["pixels"])),
        ("mean of the reference", ", ".join(f"{v:.5f}" for v in result["mean"])),
        ("difference of the mean, %", percent(result["difference"])),
        ("its standard error, %", percent(result["error"])),
        ("a difference of this would be found, %", percent(result["missed"])),
        ("worst tile, median error of a tile", f"{result['worst_tile']:.2%}, {result['tile_error']:.2%}"),
        ("chi-square per tile", f"{result['chi2_per_tile']:.3f}"),
        *((f"chance by noise: {name}", f"{value:.3g}") for name, value in result["chance"].items()),
        ("verdict", VERDICTS[result["verdict"]] + "".join(f" ({name})" for name in result["failed"]))]
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("pictures", nargs="+")
    parser.add_argument("--reference", nargs="+", required=True)
    parser.add_argument("--bias", type=float, default=0.0, help="relative difference allowed besides noise")
    parser.add_argument("--resolution", type=float, default=0.01, help="relative difference that must be found")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    (a, _), (b, alpha) = load(args.pictures), load(args.reference)
    result = compare(a, b, (alpha.min(axis=0) >= 1).astype(float), args.bias, args.resolution)
    print(json.dumps(result) if args.json else table(result))
    sys.exit(result["verdict"])


if __name__ == "__main__":
    main()
