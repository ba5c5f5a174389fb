#!/usr/bin/env python3
"""Makes rays worth timing, times Embree on them, and compares what two programs say they hit.

    rays.py make SCENE.glb FOLDER    SCENE.triangles, .primary.rays, .shadow.rays, .bounce.rays (formats: README.md)
    rays.py make field:1000000 FOLDER    the same of a hilly field of that many triangles
    rays.py embree FOLDER            times Embree on every set of rays in the folder, one JSON line each
    rays.py check FOLDER             Embree's hits against a brute-force search in f64, of some rays
    rays.py compare A.hits B.hits    share of rays on which two programs agree; exit status 1 below 99.99 %

usage: rays.py COMMAND ... [--size 1280x720] [--threads 2] [--rounds 3] [--check-rays 2000]
"""
import argparse
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "reference"), str(HERE.parent)]
import generate                                      # noqa: E402
import gltf                                          # noqa: E402

WORK = Path(os.environ.get("ISOFRAME_BENCH_DIR", HERE.parents[1] / "target/bench"))
PROGRAM = WORK / "embree_rays"
RAY = np.dtype([("origin", "<f4", 3), ("direction", "<f4", 3), ("distance_max", "<f4"), ("kind", "<u4")])
HIT = np.dtype([("triangle", "<u4"), ("distance", "<f4")])
NEAREST, ANY = 0, 1
NOTHING = 0xFFFFFFFF
YFOV_RAD = np.radians(35)
SUN = np.array([-0.7, 0.35, 0.2])                    # low, and from the side that the camera is not on
SAME_DISTANCE = 1e-4                                 # relative: both round in f32, each in its own way


# ---- files

def write(path, magic, items):
    path.write_bytes(magic + np.uint64(len(items)).tobytes() + items.tobytes())


def read(path, magic, kind):
    data = Path(path).read_bytes()
    if data[:8] != magic:
        raise ValueError(f"{path} does not begin with {magic!r}")
    items = np.frombuffer(data, kind, offset=16)
    if len(items) != int.from_bytes(data[8:16], "little"):
        raise ValueError(f"{path} is too short")
    return items


def read_triangles(path):
    return read(path, b"ISOTRI1\n", np.dtype(("<f4", (3, 3))))


# ---- rays

def triangles_of(scene):
    """(n, 3, 3) in world space."""
    if scene.startswith("field:"):
        rows = round((int(scene.removeprefix("field:")) / 4) ** 0.5)
        position, _, _, index = generate.height_field(2 * rows, rows, 9.0, 4.5)
        return position[index]
    return np.concatenate([mesh.positions[mesh.triangles] for mesh in gltf.read(scene, strict=False).meshes])


def eye_from_world(triangles, aspect):
    """A camera above and to the right, as near as it still sees every corner; looks along -Z."""
    back = np.array([0.5, 0.45, 0.75]) / np.linalg.norm([0.5, 0.45, 0.75])
    right = np.cross([0.0, 1.0, 0.0], back)
    right /= np.linalg.norm(right)
    rotation = np.array([right, np.cross(back, right), back])
    turned = triangles.reshape(-1, 3) @ rotation.T
    middle = (turned.min(axis=0) + turned.max(axis=0)) / 2
    reach = np.abs(turned[:, :2] - middle[:2]) / (np.tan(YFOV_RAD / 2) * np.array([aspect, 1.0]))
    return rotation, np.array([middle[0], middle[1], (turned[:, 2:] + reach).max()])


def make_rays(origin, direction, distance_max, kind):
    rays = np.zeros(len(origin), RAY)
    rays["origin"], rays["direction"], rays["distance_max"], rays["kind"] = origin, direction, distance_max, kind
    return rays


def primary(width, height):
    x, y = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    scale = 2 * np.tan(YFOV_RAD / 2) / height
    direction = np.stack([(x - width / 2) * scale, (height / 2 - y) * scale, -np.ones_like(x)], -1).reshape(-1, 3)
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return make_rays(np.zeros_like(direction), direction, np.inf, NEAREST)


def secondary(triangles, rays, hits, rotation):
    """From what the primary rays hit: to a sun, and anywhere by the cosine. In the order of the pixels."""
    found = hits["triangle"] != NOTHING
    corner = triangles[hits["triangle"][found]].astype(np.float64)
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30)
    normal *= -np.sign((normal * rays["direction"][found]).sum(axis=1, keepdims=True))
    place = rays["direction"][found] * hits["distance"][found, None].astype(np.float64)
    origin = place + normal * (1e-4 * np.abs(place).max(axis=1, keepdims=True))
    sun = rotation @ (SUN / np.linalg.norm(SUN))
    lit = normal @ sun > 1e-3
    shadow = make_rays(origin[lit], np.broadcast_to(sun, (lit.sum(), 3)), np.inf, ANY)

    index = np.arange(len(normal), dtype=np.uint32)
    height, turn = (generate.hash_unit(index, index * 0 + k, 7) for k in (1, 2))
    height = 1 - 2 * height
    ring = np.sqrt(1 - height * height)
    on_sphere = np.stack([ring * np.cos(2 * np.pi * turn), ring * np.sin(2 * np.pi * turn), height], -1)
    direction = normal * (1 + 1e-6) + on_sphere      # a point of the sphere that touches the surface: cosine
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return shadow, make_rays(origin, direction, np.inf, NEAREST)


# ---- commands

def embree(triangles, rays, args, hits=None):
    source = HERE / "embree_rays.cpp"
    if not PROGRAM.exists() or PROGRAM.stat().st_mtime < source.stat().st_mtime:
        PROGRAM.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["g++", "-std=c++20", "-O2", "-march=native", source, "-o", PROGRAM, "-lembree3", "-lpthread"],
                       check=True)
    command = [PROGRAM, triangles, rays, "--threads", str(args.threads), "--rounds", str(args.rounds)]
    command += ["--hits", hits] if hits else []
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def make(args):
    scene, folder = args.paths[0], Path(args.paths[1])
    folder.mkdir(parents=True, exist_ok=True)
    name = Path(scene).stem.replace(":", "-")
    world = triangles_of(scene)
    width, height = map(int, args.size.split("x"))
    rotation, eye = eye_from_world(world, width / height)
    triangles = (world @ rotation.T - eye).astype("<f4")
    write(folder / f"{name}.triangles", b"ISOTRI1\n", triangles)
    rays = primary(width, height)
    write(folder / f"{name}.primary.rays", b"ISORAY1\n", rays)
    hits_file = folder / f"{name}.primary.hits"
    embree(folder / f"{name}.triangles", folder / f"{name}.primary.rays", args, hits_file)
    shadow, bounce = secondary(triangles, rays, read(hits_file, b"ISOHIT1\n", HIT), rotation)
    write(folder / f"{name}.shadow.rays", b"ISORAY1\n", shadow)
    write(folder / f"{name}.bounce.rays", b"ISORAY1\n", bounce)
    print(f"{name}: {len(triangles):,} triangles, rays: {len(rays):,} primary, {len(shadow):,} shadow, "
          f"{len(bounce):,} bounce")


def ray_sets(folder):
    for rays in sorted(Path(folder).glob("*.rays")):
        yield rays, rays.with_name(rays.name.split(".")[0] + ".triangles"), rays.with_suffix(".hits")


def time_embree(args):
    for rays, triangles, hits in ray_sets(args.paths[0]):
        print(f"{rays.stem} {embree(triangles, rays, args, hits)}", flush=True)


def brute_force(triangles, ray):
    """Distance to the nearest triangle in f64 (Moller and Trumbore 1997), and how far from all edges the nearest are."""
    a = triangles[:, 0].astype(np.float64)
    b, c = triangles[:, 1] - a, triangles[:, 2] - a
    origin, direction = ray["origin"].astype(np.float64), ray["direction"].astype(np.float64)
    p = np.cross(direction, c)
    det = (b * p).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        s = origin - a
        u = (s * p).sum(axis=1) / det
        q = np.cross(s, b)
        v = (q @ direction) / det
        t = (c * q).sum(axis=1) / det
    inside = np.minimum(np.minimum(u, v), 1 - u - v)
    ahead = (det != 0) & (t > 0) & (t <= ray["distance_max"])
    return [t[ahead & (inside >= least)].min(initial=np.inf) for least in (1e-4, -1e-4)]


def check(args):
    """A ray passes where Embree's distance is that of the triangles shrunk or grown by 1e-4, or between."""
    wrong = 0
    for rays_file, triangles_file, hits_file in ray_sets(args.paths[0]):
        embree(triangles_file, rays_file, args, hits_file)
        triangles, rays = read_triangles(triangles_file), read(rays_file, b"ISORAY1\n", RAY)
        hits = read(hits_file, b"ISOHIT1\n", HIT)
        chosen = np.arange(0, len(rays), max(1, len(rays) // args.check_rays))
        bad = 0
        for i in chosen:
            shrunk, grown = brute_force(triangles, rays[i])
            if rays[i]["kind"] == ANY:
                found = hits[i]["triangle"] != NOTHING
                bad += not (np.isfinite(shrunk) <= found <= np.isfinite(grown))
            else:
                t = float(hits[i]["distance"])
                rounding = SAME_DISTANCE * np.abs(rays[i]["origin"]).max()   # of where the ray starts
                bad += not grown * (1 - SAME_DISTANCE) - rounding <= t <= shrunk * (1 + SAME_DISTANCE) + rounding
        print(f"{rays_file.stem}: {len(chosen)} rays checked, {bad} wrong")
        wrong += bad
    sys.exit(wrong > 0)


def compare(args):
    a, b = (read(path, b"ISOHIT1\n", HIT) for path in args.paths)
    if len(a) != len(b):
        sys.exit(f"{len(a)} and {len(b)} rays")
    hit_a, hit_b = a["triangle"] != NOTHING, b["triangle"] != NOTHING
    both = hit_a & hit_b
    with np.errstate(invalid="ignore"):
        near = np.abs(a["distance"] - b["distance"]) <= SAME_DISTANCE * np.maximum(a["distance"], b["distance"])
    agree = (~hit_a & ~hit_b) | (both & near)
    other = both & near & (a["triangle"] != b["triangle"])
    print(f"{len(a)} rays: {agree.sum()} agree, of these {other.sum()} on another triangle at the same distance; "
          f"{(hit_a & ~hit_b).sum()} only hit in the first, {(hit_b & ~hit_a).sum()} only in the second, "
          f"{(both & ~near).sum()} at another distance")
    sys.exit(agree.mean() < 0.9999)


def main():
    commands = {"make": (make, 2), "embree": (time_embree, 1), "check": (check, 1), "compare": (compare, 2)}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=commands)
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--size", default="1280x720")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--check-rays", type=int, default=2000)
    args = parser.parse_args()
    run, count = commands[args.command]
    if len(args.paths) != count:
        parser.error(f"{args.command} takes {count} paths")
    run(args)


if __name__ == "__main__":
    main()
