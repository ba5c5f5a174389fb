#!/usr/bin/env python3
"""How long each renderer takes to the same error, from pictures at growing sample counts.

relMSE is the mean over pixels and channels of (x - r)^2 / (r^2 + 0.01), r being that renderer's own reference of many
samples: surface models differ, noise is compared. The brightest thousandth of the errors is left out, since a handful
of fireflies would else decide. A straight line through log time and log relMSE gives the time at the error that is
asked for; without `--at`, at the geometric mean of the errors of all, where no renderer is far from what was measured.

A run is a JSON file: {"name", "reference": [FILE, ...], "pictures": [{"seconds", "picture"}, ...]}; references are averaged.

usage: relmse.py RUN.json ... [--at 0.01] [--baseline isoframe]
"""
import argparse
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
import picture                                       # noqa: E402

DARK = 0.01
LEFT_OUT = 1e-3


def relmse(pixels, reference):
    error = (pixels - reference) ** 2 / (reference ** 2 + DARK)
    error = np.sort(error.mean(axis=-1).reshape(-1))
    return float(error[:len(error) - int(len(error) * LEFT_OUT)].mean())


def line(seconds, errors):
    """Slope and offset of log error by log time."""
    if len(seconds) < 2:
        raise ValueError("a line needs two pictures")
    slope, offset = np.polyfit(np.log(seconds), np.log(errors), 1)
    if slope >= 0:
        raise ValueError("error does not fall with time: is the reference good enough?")
    return slope, offset


def time_at(error, fit):
    return float(np.exp((np.log(error) - fit[1]) / fit[0]))


def measure(run):
    reference = np.mean([picture.read(path)[0] for path in run["reference"]], axis=0)
    seconds = [p["seconds"] for p in run["pictures"]]
    errors = [relmse(picture.read(p["picture"])[0], reference) for p in run["pictures"]]
    return {"name": run["name"], "seconds": seconds, "errors": errors, "fit": line(seconds, errors)}


def table(measured, at, baseline):
    base = next((time_at(at, m["fit"]) for m in measured if m["name"] == baseline), None)
    ratio = f" | to {baseline}" if base else ""
    rows = [f"| renderer | s: relMSE | slope | s at relMSE {at:.3g}{ratio} |", "|---|---|---|---|" + "---|" * bool(base)]
    for m in measured:
        points = ", ".join(f"{s:.3g}: {e:.3g}" for s, e in zip(m["seconds"], m["errors"]))
        time = time_at(at, m["fit"])
        rows.append(f"| {m['name']} | {points} | {m['fit'][0]:.2f} | {time:.3g} |" + (f" {time / base:.2f} |" if base else ""))
    return "\n".join(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--at", type=float)
    parser.add_argument("--baseline", default="isoframe")
    args = parser.parse_args()
    measured = [measure(json.loads(Path(run).read_text())) for run in args.runs]
    at = args.at or float(np.exp(np.mean([np.log(e) for m in measured for e in m["errors"]])))
    print(table(measured, at, args.baseline))


if __name__ == "__main__":
    main()
