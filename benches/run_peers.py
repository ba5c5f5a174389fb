#!/usr/bin/env python3
"""Measures Isoframe beside its peers in one run and prints ratios. A benchmark, not a timed test.

Every round runs every contestant once on every scene, each in a fresh process, in an order that turns
from round to round, so that what else the machine does is spread over all of them. A contestant's figure
is the median over rounds of its median warm frame; ratios are `peer / Isoframe`, above 1 where Isoframe
is faster.

usage: run_peers.py [--parts frames,cold,http,memory] [--scenes ...] [--contestants ...] [--rounds 3] ...
"""
import argparse
import atexit
import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent
WORK = Path(os.environ.get("ISOFRAME_BENCH_DIR", REPOSITORY / "target/bench"))
ASSETS = Path(os.environ.get("ISOFRAME_ASSETS", REPOSITORY.parent / "shared/assets"))
BINARY = Path(os.environ.get("ISOFRAME_BIN", REPOSITORY / "target/release/isoframe"))
PARTS = ("frames", "cold", "http", "memory")
SIZE, SIZE_4K = (1280, 720), (3840, 2160)
FRAME3D_RECORDED_S = (1.65, 2.41)   # truck, 1280x720, per request; recorded on a 2-core machine without a GPU


def enter_environment():
    """Installs the peers, then goes on inside their Python, which has numpy."""
    python = WORK / "venv/bin/python"
    if os.environ.get("ISOFRAME_BENCH_INSIDE") == str(python):
        return
    sys.path.insert(0, str(HERE))
    sys.dont_write_bytecode = True
    from install_peers import install
    problems = install(WORK) if "--skip-install" not in sys.argv else []
    for problem in problems:
        print(f"!! not installed: {problem}", file=sys.stderr)
    if not python.exists():
        sys.exit("!! no Python environment for the peers, nothing can be measured")
    os.environ["ISOFRAME_BENCH_INSIDE"] = str(python)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"      # no caches beside the scripts
    os.execv(python, [str(python), *sys.argv])


enter_environment()

import isoframe as isoframe_cli                      # noqa: E402  these need the environment
import report                                        # noqa: E402
import scenes as catalogue                           # noqa: E402
from process import run                              # noqa: E402

PYTHON = WORK / "venv/bin/python"


def peer(script, **environment):
    def measure(description, description_file, timeout_s):
        interpreter = "node" if script.endswith(".mjs") else PYTHON
        done = run([interpreter, HERE / "peers" / script, description_file],
                   env={"NODE_PEERS_DIR": str(WORK / "node"), **environment}, timeout_s=timeout_s)
        result = isoframe_cli.last_json(done.output)
        if not script.endswith(".mjs"):              # the browser's tree is summed by the script
            result["max_rss_bytes"] = done.max_rss_bytes
        if result["picture_std"] < 5:
            raise RuntimeError(f"{script}: the frame is blank")
        return result
    return measure


def isoframe(backend, outputs):
    def measure(description, _description_file, timeout_s):
        return isoframe_cli.Isoframe(BINARY).bench(description, backend, outputs, timeout_s)
    return measure


CONTESTANTS = {
    "isoframe-cpu": isoframe("cpu", "color"),
    "isoframe-cpu-all": isoframe("cpu", "all"),
    "isoframe-wgpu": isoframe("wgpu", "color"),
    "filament": peer("filament_peer.py"),
    "three": peer("three_peer.mjs"),
    "pyrender": peer("pyrender_peer.py"),
    "f3d": peer("f3d_peer.py"),
    "pygfx": peer("pygfx_peer.py", **isoframe_cli.LAVAPIPE),
    "pygfx-1": peer("pygfx_peer.py", ISOFRAME_PYGFX_SAMPLES="1", **isoframe_cli.LAVAPIPE),
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--scenes", default=",".join(catalogue.SCENES))
    parser.add_argument("--contestants", default=",".join(CONTESTANTS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--frames", type=int, default=20, help="warm frames per round and scene")
    parser.add_argument("--max-seconds", type=float, default=6, help="stop a slow contestant's warm frames after this")
    parser.add_argument("--cold-rounds", type=int, default=7)
    parser.add_argument("--requests", type=int, default=30)
    parser.add_argument("--timeout-s", type=float, default=240, help="for one process")
    parser.add_argument("--json", type=Path, default=WORK / "results.json")
    parser.add_argument("--skip-install", action="store_true")
    chosen = parser.parse_args()
    for name, known in (("parts", PARTS), ("scenes", catalogue.SCENES), ("contestants", CONTESTANTS)):
        values = [value for value in getattr(chosen, name).split(",") if value]
        unknown = [value for value in values if value not in known]
        if unknown:
            parser.error(f"--{name}: {', '.join(unknown)} not in {', '.join(known)}")
        setattr(chosen, name, values)
    return chosen


def generate_scenes():
    """Once per content of generate.py."""
    folder = WORK / "scenes"
    script = HERE / "generate.py"
    mark = folder / "generated-by"
    if not mark.exists() or mark.read_text() != script.read_text():
        subprocess.run([PYTHON, script, folder], check=True, stdout=sys.stderr)
        mark.write_text(script.read_text())
    return folder


def describe_all(chosen):
    generated, descriptions = generate_scenes(), {}
    folder = Path(tempfile.mkdtemp(prefix="descriptions-", dir=WORK))      # its own: two runs may overlap
    atexit.register(shutil.rmtree, folder)
    for name in chosen.scenes:
        path = catalogue.scene_path(name, ASSETS, generated)
        if not path.exists():
            print(f"!! scene {name} left out: no {path} (ISOFRAME_ASSETS names the folder)", file=sys.stderr)
            continue
        description = catalogue.describe(name, ASSETS, generated, SIZE, 4, chosen.frames, chosen.max_seconds)
        if not Path(description["environment"]).exists():
            print(f"!! no {description['environment']}: no environment light", file=sys.stderr)
            description["environment"] = None
        file = folder / f"{name}.json"
        file.write_text(json.dumps(description, indent=1))
        descriptions[name] = (description, file)
    return descriptions


def attempt(failures, what, action):
    """A contestant that fails is named, and the others go on."""
    try:
        return action()
    except Exception as error:                       # noqa: BLE001  whatever a peer's failure looks like
        print(f"!! {what}: {str(error)[-600:]}", file=sys.stderr, flush=True)
        failures[what] = str(error)[-600:]
        return None


def measure_frames(chosen, contestants, descriptions, failures):
    """Ctrl-C or a termination signal ends the rounds early and keeps what there is."""
    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGTERM, interrupt)
    rounds = {}
    try:
        measure_rounds(chosen, contestants, descriptions, failures, rounds)
    except KeyboardInterrupt:
        failures["rounds"] = "interrupted: not every contestant has every round"
    return {scene: {name: summary(results) for name, results in by_name.items()} for scene, by_name in rounds.items()}


def interrupt(*_):
    raise KeyboardInterrupt


def measure_rounds(chosen, contestants, descriptions, failures, rounds):
    for number in range(chosen.rounds):
        for scene, (description, file) in descriptions.items():
            turn = number % len(contestants)
            for name in contestants[turn:] + contestants[:turn]:
                what = f"{name} on {scene}"
                if what in failures:
                    continue
                result = attempt(failures, what, lambda: CONTESTANTS[name](description, file, chosen.timeout_s))
                if result:
                    result["load_1min"] = round(os.getloadavg()[0], 2)
                    rounds.setdefault(scene, {}).setdefault(name, []).append(result)
                    print(f"  round {number + 1} {what}: {result['median_ms']:.1f} ms", file=sys.stderr, flush=True)


def summary(results):
    medians = [result["median_ms"] for result in results]
    kept = {key: value for key, value in results[-1].items() if not key.endswith("_ms")}
    return kept | {
        "median_ms": statistics.median(medians), "round_medians_ms": medians,
        "min_ms": min(result.get("min_ms", result["median_ms"]) for result in results),
        "max_ms": max(result.get("max_ms", result["median_ms"]) for result in results),
        "cpu_ms_per_frame": optional_median(results, "cpu_ms_per_frame"),
        "cold_first_frame_ms": optional_median(results, "cold_first_frame_ms"),
        "max_rss_bytes": max(result["max_rss_bytes"] for result in results),
        "loads_1min": [result["load_1min"] for result in results],
    }


def optional_median(results, key):
    values = [result[key] for result in results if result.get(key) is not None]
    return statistics.median(values) if values else None


def measure_cold(chosen, with_isoframe, failures):
    """Whole processes, small scenes, to a PNG on disk, taking turns; the first of each warms the disk cache."""
    measured = {}
    for scene in ("Box/Box.glb", "CesiumMilkTruck/CesiumMilkTruck.glb"):
        path, output = ASSETS / scene, WORK / f"cold-{os.getpid()}.png"
        if not path.exists():
            print(f"!! cold start on {scene} left out: no {path}", file=sys.stderr)
            continue
        programs = {"f3d": lambda: run([PYTHON, HERE / "peers/f3d_cold.py", path, output, *SIZE], memory=False)}
        if with_isoframe:
            programs["isoframe"] = lambda: isoframe_cli.Isoframe(BINARY).render(path, output, SIZE)
        times_ms = {name: [] for name in programs}
        for number in range(chosen.cold_rounds + 1):
            for name, program in programs.items():
                what = f"cold {name} on {scene}"
                if what in failures:
                    continue
                output.unlink(missing_ok=True)
                done = attempt(failures, what, program)
                if done and (not output.exists() or output.stat().st_size < 500):
                    failures[what] = "wrote no picture"
                elif done and number > 0:
                    times_ms[name].append(done.wall_s * 1000)
        output.unlink(missing_ok=True)
        measured[Path(scene).stem] = {name: {"median_ms": statistics.median(values), "min_ms": min(values),
                                             "max_ms": max(values), "runs": len(values)}
                                      for name, values in times_ms.items() if values}
    return measured


def measure_http(chosen, descriptions, failures):
    def serve():
        results = {}
        with (tempfile.TemporaryDirectory(prefix="data-", dir=WORK) as data_dir,
              isoframe_cli.Isoframe(BINARY).serve(data_dir, WORK / "serve.log") as client):
            for scene, (description, _) in descriptions.items():
                scene_id = client.upload(description["scene"])
                query, same_view = isoframe_cli.same_view_query(description), True
                try:
                    client.frame_png(scene_id, query)
                except RuntimeError as error:
                    print(f"!! http {scene}: measured with the server's own camera: {error}", file=sys.stderr)
                    query, same_view = isoframe_cli.plain_query(description), False
                times_ms = []
                for number in range(chosen.requests + 2):
                    start = time.perf_counter()
                    data, server_timing = client.frame_png(scene_id, query)
                    if number >= 2:
                        times_ms.append((time.perf_counter() - start) * 1000)
                if data[:8] != b"\x89PNG\r\n\x1a\n":
                    raise RuntimeError(f"{scene}: the answer is no PNG")
                results[scene] = {"median_ms": statistics.median(times_ms), "min_ms": min(times_ms),
                                  "max_ms": max(times_ms), "bytes": len(data), "same_view": same_view, "server_timing": server_timing}
        return results
    return attempt(failures, "http", serve) or {}


def measure_memory(descriptions, failures):
    """Isoframe's peak, over what the scene itself needs (decoded, no mip levels)."""
    results = {}
    for scene, (description, _) in descriptions.items():
        for size in (SIZE, SIZE_4K):
            few = description | {"size": list(size), "frames": 3}
            done = attempt(failures, f"memory {scene} {size[0]}x{size[1]}",
                           lambda: isoframe_cli.Isoframe(BINARY).bench(few, "cpu", "all"))
            if done:
                own = catalogue.Glb(description["scene"]).decoded_bytes()
                results[f"{scene} {size[0]}x{size[1]}"] = {"max_rss_bytes": done["max_rss_bytes"], "scene_bytes": own}
    return results


def main():
    chosen = arguments()
    with_isoframe = not isoframe_cli.Isoframe(BINARY).missing()
    banner = (f"!! NO ISOFRAME BINARY at {BINARY}: only the peers are measured, there are no ratios.\n"
              "!! Build it (cargo build --release) or set ISOFRAME_BIN.")
    if not with_isoframe:
        print(banner, file=sys.stderr)
    contestants = [name for name in chosen.contestants if with_isoframe or not name.startswith("isoframe")]
    descriptions, failures = describe_all(chosen), {}
    began = time.time()
    results = {
        "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "cores": os.cpu_count(), "cpu": cpu_name(),
        "system": platform.platform(), "load_before": os.getloadavg(), "size": SIZE, "samples": 4,
        "rounds": chosen.rounds, "isoframe": str(BINARY) if with_isoframe else None,
        "scenes": {name: {"triangles": catalogue.Glb(d["scene"]).triangle_count(),
                          "decoded_bytes": catalogue.Glb(d["scene"]).decoded_bytes()}
                   for name, (d, _) in descriptions.items()},
        "frame3d_recorded_s": FRAME3D_RECORDED_S,
    }
    if "frames" in chosen.parts:
        results["frames"] = measure_frames(chosen, contestants, descriptions, failures)
    if "cold" in chosen.parts:
        results["cold"] = measure_cold(chosen, with_isoframe, failures)
    if "http" in chosen.parts and with_isoframe:
        results["http"] = measure_http(chosen, descriptions, failures)
    if "memory" in chosen.parts and with_isoframe:
        results["memory"] = measure_memory(descriptions, failures)
    results |= {"failures": failures, "load_after": os.getloadavg(), "took_s": round(time.time() - began)}
    chosen.json.write_text(json.dumps(results, indent=1))
    report.print_report(results)
    print(f"\nJSON: {chosen.json}")
    if not with_isoframe:
        print(banner)
    sys.exit(2 if failures or not with_isoframe else 0)


def cpu_name():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


if __name__ == "__main__":
    main()
