"""Prints what run_peers.py measured: tables, ratios, and how they stand against the project's bars."""

PEERS_TO_BEAT = ("filament", "three", "pyrender", "f3d", "pygfx", "pygfx-1")


def print_report(results):
    print(f"\n{results['cpu']}, {results['cores']} cores, {results['size'][0]}x{results['size'][1]}, "
          f"{results['samples']} samples; {results['rounds']} rounds; load {results['load_before'][0]:.1f} before, "
          f"{results['load_after'][0]:.1f} after; {results['took_s']} s")
    if max(results["load_before"][0], results["load_after"][0]) > results["cores"] * 1.5:
        print("!! the machine was busy with other things: times are inflated, ratios are rough")
    if "frames" in results:
        print_frames(results["frames"])
    if "cold" in results:
        print_cold(results["cold"])
    if "http" in results:
        print_http(results)
    if "memory" in results:
        print_memory(results["memory"])
    for what, why in results["failures"].items():
        print(f"!! failed: {what}: {why.strip().splitlines()[-1] if why.strip() else ''}")


def print_frames(frames):
    for scene, contestants in frames.items():
        base = contestants.get("isoframe-cpu")
        base_all = contestants.get("isoframe-cpu-all")
        wgpu = contestants.get("isoframe-wgpu")
        rows = [("", "median ms", "min", "max", "cpu ms", "rss MB", "spp", "/iso cpu", "/iso all", "/iso wgpu")]
        for name, figures in sorted(contestants.items(), key=lambda item: item[1]["median_ms"]):
            rows.append((name, number(figures["median_ms"]), number(figures["min_ms"]), number(figures["max_ms"]),
                         number(figures["cpu_ms_per_frame"]), number(figures["max_rss_bytes"] / 1e6, 0),
                         str(figures.get("samples", 4)),
                         *(ratio(figures, other) for other in (base, base_all, wgpu))))
        print(f"\n{scene}: one warm frame, render and read-back into memory")
        print_rows(rows)
        for name, figures in contestants.items():
            if figures.get("cannot"):
                print(f"  {name} cannot: {'; '.join(figures['cannot'])}")
        if base:
            print_bars(contestants, base, base_all, wgpu)


def print_bars(contestants, base, base_all, wgpu):
    peers = {name: contestants[name]["median_ms"] for name in PEERS_TO_BEAT if name in contestants}
    if peers:
        fastest = min(peers, key=peers.get)
        bar(f"cpu color ahead of every peer (fastest: {fastest})", base["median_ms"], peers[fastest])
    filament = peers.get("filament")
    if filament:
        bar("goal: cpu color 3 x filament", base["median_ms"] * 3, filament)
        if base_all:
            bar("cpu all outputs ahead of filament", base_all["median_ms"], filament)
            bar("goal: cpu all outputs 2 x filament", base_all["median_ms"] * 2, filament)
        if wgpu:
            bar("goal: wgpu ahead of filament", wgpu["median_ms"], filament)
    same_driver = {name: peers[name] for name in ("pygfx", "pygfx-1") if name in peers}
    if wgpu:
        for name, median_ms in same_driver.items():
            bar(f"wgpu ahead of {name}", wgpu["median_ms"], median_ms)


def print_cold(cold):
    print("\ncold start: whole process, scene to PNG on disk")
    rows = [("", "median ms", "min", "max")]
    for scene, programs in cold.items():
        rows += [(f"{scene} {name}", number(f["median_ms"]), number(f["min_ms"]), number(f["max_ms"]))
                 for name, f in programs.items()]
    print_rows(rows)
    for scene, programs in cold.items():
        if "isoframe" in programs and "f3d" in programs:
            ours, theirs = programs["isoframe"]["median_ms"], programs["f3d"]["median_ms"]
            bar(f"{scene}: a third of f3d", ours, theirs / 3)
            bar(f"{scene}: goal: under 100 ms", ours, 100)


def print_http(results):
    low_s, high_s = results["frame3d_recorded_s"]
    print("\nHTTP: GET as PNG, scene resident, frame cache off, whole answer on a kept-alive connection")
    print(f"  frame3d was not run: it is not in the package registries; recorded {low_s}-{high_s} s per request (truck)")
    rows = [("", "median ms", "min", "max", "kB")]
    rows += [(scene, number(f["median_ms"]), number(f["min_ms"]), number(f["max_ms"]), number(f["bytes"] / 1e3, 0))
             for scene, f in results["http"].items()]
    print_rows(rows)
    for scene, figures in results["http"].items():
        if not figures["same_view"]:
            print(f"  !! {scene}: with the server's own camera, so not comparable with the frame times above")
        if figures["server_timing"]:
            print(f"  {scene} server-timing: {figures['server_timing']}")
        if scene == "truck":
            bar("truck: under a tenth of frame3d's fastest recorded", figures["median_ms"], low_s * 100)
        frame = results.get("frames", {}).get(scene, {}).get("isoframe-cpu")
        encode_ms = server_timing_ms(figures["server_timing"], ("encode", "png"))
        if frame and encode_ms is not None:
            bar(f"{scene}: goal: cpu frame + encoding + 3 ms", figures["median_ms"], frame["median_ms"] + encode_ms + 3)


def server_timing_ms(header, names):
    for entry in header.split(","):
        parts = [part.strip() for part in entry.split(";")]
        if any(name in parts[0] for name in names):
            for part in parts[1:]:
                if part.startswith("dur="):
                    return float(part[4:])
    return None


def print_memory(memory):
    print("\npeak memory of `isoframe bench`, all outputs")
    rows = [("", "peak MB", "scene's own MB", "over it MB")]
    rows += [(what, number(f["max_rss_bytes"] / 1e6, 0), number(f["scene_bytes"] / 1e6, 0),
              number((f["max_rss_bytes"] - f["scene_bytes"]) / 1e6, 0)) for what, f in memory.items()]
    print_rows(rows)
    for what, figures in memory.items():
        over = figures["max_rss_bytes"] - figures["scene_bytes"]
        if what == "truck 1280x720":
            bar("truck: 0.3 GB", figures["max_rss_bytes"] / 1e6, 300)
            bar("truck: goal: half of that", figures["max_rss_bytes"] / 1e6, 150)
        elif what.endswith("3840x2160"):
            bar(f"{what}: 1 GB over the scene's own size", over / 1e6, 1000)
            bar(f"{what}: goal: half of that", over / 1e6, 500)


def bar(what, ours, limit):
    print(f"  {'met    ' if ours < limit else 'NOT MET'}  {what}: {number(ours)} against {number(limit)}")


def ratio(figures, base):
    return f"{figures['median_ms'] / base['median_ms']:.2f}" if base else "-"


def number(value, digits=None):
    if value is None:
        return "-"
    digits = digits if digits is not None else (1 if abs(value) < 1000 else 0)
    return f"{value:,.{digits}f}"


def print_rows(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  " + row[0].ljust(widths[0]) + "".join("  " + cell.rjust(width) for cell, width in zip(row[1:], widths[1:])))
