#!/usr/bin/env python3
"""Judges Isoframe's traced light by Mitsuba 3 on four scenes, and writes the table for goldens/README.md.

Both render every scene with several seeds; compare.py says whether they agree within the noise of both.
Exit status: 0 all agree, 1 one differs, is too noisy to tell or fails to render, 2 Isoframe is not there.

usage: run_reference.py [--scenes cornell,gap,spheres,lights] [--seeds 8] [--spp 1024] [--only-mitsuba] [--table FILE]
"""
import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True                       # no caches beside the scripts
import install                                       # noqa: E402
from install import HERE, PYTHON, WORK               # noqa: E402

BINARY = Path(os.environ.get("ISOFRAME_BIN", HERE.parents[1] / "target/release/isoframe"))
FOLDER = WORK / "reference"
SIZE_PX = 128


def isoframe_command(scene, settings, spp, seed, out):
    """The one place that knows how traced light is asked for. One coverage sample: rays through pixel centres."""
    command = [BINARY, "render", FOLDER / f"{scene}.glb", "-o", out, "--format", "exr32", "--output", "base",
               "--size", f"{SIZE_PX}x{SIZE_PX}", "--samples", 1, "--seed", seed, "--traced", spp,
               "--diffuse-bounces", settings.diffuse_bounces, "--specular-bounces", settings.specular_bounces]
    if settings.environment:
        return command + ["--env", FOLDER / settings.environment]
    return command + ["--env-light", "off"]


def mitsuba_command(scene, settings, spp, seeds, out):
    depth = settings.diffuse_bounces + settings.specular_bounces + 2
    command = [PYTHON, HERE / "render_mitsuba.py", FOLDER / f"{scene}.glb", "-o", out, "--seeds", seeds, "--spp", spp,
               "--size", SIZE_PX, "--max-depth", depth]
    return command + (["--environment", FOLDER / settings.environment] if settings.environment else [])


def run(command):
    """Returns standard output; a failure stops everything, with what was said."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command[:3]))}: exit status {done.returncode}: {done.stderr[-800:]}")
    return done.stdout


def judge(ours, theirs):
    command = [PYTHON, HERE / "compare.py", *ours, "--reference", *theirs, "--json"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode not in (0, 1, 2) or not done.stdout:
        raise RuntimeError(f"compare.py: {done.stderr[-800:]}")
    return json.loads(done.stdout)


def row(scene, result):
    def percent(values):
        return ", ".join(f"{100 * value:+.3f}" for value in values)
    verdict = ("agree", "**differ**: " + ", ".join(result["failed"]), "too noisy to tell")[result["verdict"]]
    return (f"| {scene} | {percent(result['difference'])} | {percent(result['error'])} | {result['worst_tile']:.2%} "
            f"({result['tile_error']:.2%}) | {result['chi2_per_tile']:.2f} | {min(result['chance'].values()):.2g} "
            f"| {verdict} |")


HEADER = ("| scene | difference of the mean, R, G, B, % | its standard error, % | worst tile (median error) "
          "| chi-square per tile | least chance | |\n|---|---|---|---|---|---|---|")


def arguments(known):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--scenes", default=",".join(known))
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--spp", type=int, default=1024)
    parser.add_argument("--only-mitsuba", action="store_true", help="judges Mitsuba by other seeds of itself")
    parser.add_argument("--table", type=Path, default=FOLDER / "table.md")
    parser.add_argument("--skip-install", action="store_true")
    args = parser.parse_args()
    args.scenes = args.scenes.split(",")
    unknown = set(args.scenes) - set(known)
    if unknown:
        parser.error(f"--scenes: {', '.join(sorted(unknown))} not in {', '.join(known)}")
    return args


def enter_environment():
    """Goes on inside the Python that has numpy."""
    if os.environ.get("ISOFRAME_REFERENCE_INSIDE"):
        return
    if "--skip-install" not in sys.argv:
        install.install()
    os.environ["ISOFRAME_REFERENCE_INSIDE"] = "1"
    os.execv(PYTHON, [str(PYTHON), *sys.argv])


def main():
    enter_environment()
    import scenes
    args = arguments(list(scenes.SCENES))
    if not args.only_mitsuba and not os.access(BINARY, os.X_OK):
        print(f"!! {BINARY} is not there (ISOFRAME_BIN)", file=sys.stderr)
        return 2
    run([PYTHON, HERE / "scenes.py", FOLDER])
    rows, verdicts = [], []
    for scene in args.scenes:
        settings = scenes.SETTINGS[scene]
        seeds = args.seeds * (2 if args.only_mitsuba else 1)
        run(mitsuba_command(scene, settings, args.spp, seeds, FOLDER / f"{scene}.mitsuba.%d.exr"))
        theirs = [FOLDER / f"{scene}.mitsuba.{seed}.exr" for seed in range(seeds)]
        if args.only_mitsuba:
            ours, theirs = theirs[args.seeds:], theirs[:args.seeds]
        else:
            ours = [FOLDER / f"{scene}.isoframe.{seed}.exr" for seed in range(args.seeds)]
            for seed, out in enumerate(ours):
                run(isoframe_command(scene, settings, args.spp, seed, out))
        result = judge(ours, theirs)
        rows.append(row(scene, result))
        verdicts.append(result["verdict"])
        print(rows[-1], flush=True)
    args.table.write_text("\n".join([HEADER, *rows]) + "\n")
    print(f"{args.table}: {args.seeds} seeds of {args.spp} paths a pixel each")
    return int(any(verdicts))


if __name__ == "__main__":
    sys.exit(main())
