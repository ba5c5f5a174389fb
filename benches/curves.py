#!/usr/bin/env python3
"""How the cost of a frame grows with pixels and with triangles.

Runs `isoframe bench` over sizes of one scene and over balls of more and more triangles, and prints for each the
median, what one pixel or triangle costs beyond the first row, and a bar. Linear cost shows as a flat last column.

usage: curves.py [--backend cpu|wgpu]        needs target/release/isoframe, or ISOFRAME_BIN
"""
import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from generate import Glb, ball

ROOT = Path(__file__).resolve().parent.parent
SIZES = [(320, 180), (640, 360), (960, 540), (1280, 720), (1920, 1080), (2560, 1440), (3840, 2160)]
COLUMNS = [32, 64, 128, 256, 512, 1024]


def bench(scene, size, backend, frames):
    binary = os.environ.get("ISOFRAME_BIN", ROOT / "target/release/isoframe")
    command = [binary, "bench", "--scene", scene, "--size", "{}x{}".format(*size), "--samples", "4",
               "--backend", backend, "--outputs", "color", "--frames", str(frames), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])["median_ms"]


def table(title, unit, rows):
    """rows: label, amount, milliseconds."""
    print(f"\n{title}\n{'':>12} {unit:>12} {'median ms':>10} {'ns each more':>13}")
    most = max(ms for _, _, ms in rows)
    (_, first_amount, first_ms) = rows[0]
    for label, amount, ms in rows:
        more = amount - first_amount
        each = f"{(ms - first_ms) * 1e6 / more:13.1f}" if more else " " * 13
        print(f"{label:>12} {amount:12,} {ms:10.2f} {each} {'#' * round(40 * ms / most)}")


def ball_scene(folder, columns):
    glb = Glb()
    grey = glb.push("materials", {"pbrMetallicRoughness": {"baseColorFactor": [0.6, 0.6, 0.6, 1],
                                                           "metallicFactor": 0, "roughnessFactor": 0.5}})
    glb.node(glb.mesh("ball", glb.geometry(ball(columns, columns // 2)), grey))
    path = folder / f"ball_{columns}.glb"
    glb.write(path)
    return path, glb.triangle_count()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--frames", type=int, default=15)
    options = parser.parse_args()
    folder = Path(os.environ.get("ISOFRAME_BENCH_DIR", ROOT / "target/bench")) / "scenes"
    folder.mkdir(parents=True, exist_ok=True)

    scene, _ = ball_scene(folder, 256)
    pixels = [("{}x{}".format(*size), size[0] * size[1], bench(scene, size, options.backend, options.frames))
              for size in SIZES]
    table("pixels: a ball of 65,000 triangles that fills the frame's height", "pixels", pixels)
    triangles = []
    for columns in COLUMNS:
        scene, count = ball_scene(folder, columns)
        triangles.append((f"{columns} columns", count, bench(scene, (1280, 720), options.backend, options.frames)))
    table("triangles: the same ball at 1280x720", "triangles", triangles)


if __name__ == "__main__":
    main()
