#!/usr/bin/env python3
"""How the cost of a frame grows with pixels and with triangles.

Runs `isoframe bench` over sizes of one scene and over balls of more and more triangles, and prints for each the
median, what one pixel or triangle costs beyond the first row, and a bar. Linear cost shows as a flat last column.

usage: curves.py [--backend cpu|wgpu] [--svg FILE]        needs target/release/isoframe, or ISOFRAME_BIN
"""
import argparse
import math
import os
import subprocess
import sys
from pathlib import Path

from generate import Glb, ball
from isoframe import LAVAPIPE, last_json

ROOT = Path(__file__).resolve().parent.parent
SIZES = [(320, 180), (640, 360), (960, 540), (1280, 720), (1920, 1080), (2560, 1440), (3840, 2160)]
COLUMNS = [32, 64, 128, 256, 512, 1024]


def bench(scene, size, backend, frames):
    binary = os.environ.get("ISOFRAME_BIN", ROOT / "target/release/isoframe")
    command = [binary, "bench", "--scene", scene, "--size", "{}x{}".format(*size), "--samples", "4",
               "--backend", backend, "--outputs", "color", "--frames", str(frames), "--json"]
    if backend == "wgpu":
        command += ["--adapter", "llvmpipe"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | LAVAPIPE)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return last_json(done.stdout)["median_ms"]


def table(title, unit, rows):
    """rows: label, amount, milliseconds."""
    print(f"\n{title}\n{'':>12} {unit:>12} {'median ms':>10} {'ns each more':>13}")
    most = max(ms for _, _, ms in rows)
    (_, first_amount, first_ms) = rows[0]
    for label, amount, ms in rows:
        more = amount - first_amount
        each = f"{(ms - first_ms) * 1e6 / more:13.1f}" if more else " " * 13
        print(f"{label:>12} {amount:12,} {ms:10.2f} {each} {'#' * round(40 * ms / most)}")


def amount_name(exponent):
    """A power of ten as 100, 10 k, 1 M."""
    thousands = min(max(exponent // 3, 0), 2)
    return f"{10 ** (exponent - 3 * thousands)}{('', ' k', ' M')[thousands]}"


def chart(curves):
    """An SVG of both curves, logarithmic both ways: linear cost is a line at 45 degrees. `curves`: title, rows."""
    width, height, left, top, side = 760, 330, 60, 40, 240
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
           f'font-size="12"><rect width="{width}" height="{height}" fill="#fff"/>']
    for k, (title, rows) in enumerate(curves):
        x0 = left + k * (side + 130)
        decades = [(math.floor(math.log10(min(v))), math.ceil(math.log10(max(v))))
                   for v in ([row[1] for row in rows], [row[2] for row in rows])]
        place = [lambda v, low=low, high=high: side * (math.log10(v) - low) / (high - low) for low, high in decades]
        at = [(x0 + place[0](amount), top + side - place[1](ms)) for _, amount, ms in rows]
        out.append(f'<text x="{x0}" y="{top - 14}" font-weight="bold">{title}</text>')
        for exponent in range(decades[0][0], decades[0][1] + 1):
            x = x0 + place[0](10.0 ** exponent)
            out.append(f'<path d="M{x:.1f} {top}v{side}" stroke="#ddd"/>'
                       f'<text x="{x:.1f}" y="{top + side + 18}" text-anchor="middle">{amount_name(exponent)}</text>')
        for exponent in range(decades[1][0], decades[1][1] + 1):
            y = top + side - place[1](10.0 ** exponent)
            out.append(f'<path d="M{x0} {y:.1f}h{side}" stroke="#ddd"/>'
                       f'<text x="{x0 - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0 ** exponent:g} ms</text>')
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
        out.append(f'<polyline points="{line}" fill="none" stroke="#0b57d0" stroke-width="2"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="#0b57d0"/>' for x, y in at]
    return "\n".join(out) + "\n</svg>\n"


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
    parser.add_argument("--svg", help="also draw the curves into this file")
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
    if options.svg:
        Path(options.svg).write_text(chart([("one frame by pixels", pixels), ("one frame by triangles", triangles)]))


if __name__ == "__main__":
    main()
