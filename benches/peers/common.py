"""What the Python peers share: the description in, the timed loop, one JSON line out."""
import json
import os
import resource
import sys
import time

import numpy as np


def load():
    """Reads the description named on the command line; `--png FILE` also saves the last frame."""
    with open(sys.argv[1]) as file:
        description = json.load(file)
    description["png"] = sys.argv[3] if sys.argv[2:3] == ["--png"] else None
    return description


def seconds_since_process_start():
    with open("/proc/self/stat") as file:
        start_ticks = int(file.read().rsplit(")", 1)[1].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - start_ticks / os.sysconf("SC_CLK_TCK")


def world_from_camera(description):
    return np.array(description["camera"], float).reshape(4, 4).T


def light_matrix(direction):
    """A rotation whose -z is the direction in which the light travels."""
    back = -np.array(direction, float)
    back /= np.linalg.norm(back)
    right = np.cross([0.0, 1.0, 0.0], back)
    right /= np.linalg.norm(right)
    matrix = np.eye(4)
    matrix[:3, 0], matrix[:3, 1], matrix[:3, 2] = right, np.cross(back, right), back
    return matrix


def load_hdr(path, max_width=None):
    """Reads a Radiance .hdr (new run-length form) as float32 (height, width, 3)."""
    with open(path, "rb") as file:
        data = file.read()
    end = data.index(b"\n\n") + 2
    line_end = data.index(b"\n", end)
    _, height, _, width = data[end:line_end].split()
    height, width = int(height), int(width)
    at, rows = line_end + 1, np.empty((height, 4, width), np.uint8)
    for y in range(height):
        at += 4
        for channel in range(4):
            x, row = 0, rows[y, channel]
            while x < width:
                count = data[at]
                if count > 128:
                    row[x:x + count - 128] = data[at + 1]
                    x, at = x + count - 128, at + 2
                else:
                    row[x:x + count] = np.frombuffer(data, np.uint8, count, at + 1)
                    x, at = x + count, at + 1 + count
    rgbe = rows.transpose(0, 2, 1)
    scale = np.ldexp(np.float32(1), rgbe[..., 3:].astype(int) - 136).astype(np.float32)
    return rgbe[..., :3].astype(np.float32) * scale


def measure(description, frame, *, peer, version, driver, samples, cannot, notes=()):
    """Times `frame()`, which returns RGBA8 (height, width, 4) in memory, and prints one JSON line."""
    image = np.asarray(frame())
    cold_ms = seconds_since_process_start() * 1000
    frame()
    cpu_began, times_ms, began = time.process_time(), [], time.perf_counter()
    while len(times_ms) < description["frames"]:
        start = time.perf_counter()
        image = np.asarray(frame())
        times_ms.append((time.perf_counter() - start) * 1000)
        if len(times_ms) >= 3 and time.perf_counter() - began > description["max_seconds"]:
            break
    cpu_ms = (time.process_time() - cpu_began) * 1000 / len(times_ms)
    width, height = description["size"]
    assert image.shape == (height, width, 4) and image.dtype == np.uint8, (image.shape, image.dtype)
    if description["png"]:
        from PIL import Image
        Image.fromarray(image[..., :3]).save(description["png"])
    result = {
        "peer": peer, "version": version, "driver": driver, "samples": samples,
        "median_ms": round(float(np.median(times_ms)), 3), "min_ms": round(min(times_ms), 3),
        "max_ms": round(max(times_ms), 3), "cpu_ms_per_frame": round(cpu_ms, 3), "frames": len(times_ms), "cold_first_frame_ms": round(cold_ms, 1),
        "max_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "picture_std": round(float(image[..., :3].std()), 2),     # 0 would be a blank frame
        "cannot": list(cannot), "notes": list(notes),
    }
    sys.stdout.flush()
    print("\n" + json.dumps(result), flush=True)
