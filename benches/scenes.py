"""The benchmark scenes: where they are, from where they are seen, and how they are lit.

`describe` returns the plain data that every peer script takes as JSON:

  scene        path of the .glb
  size         [width, height] in pixels
  camera       world_from_camera, 16 numbers, column-major; the camera looks along its -z, y is up
  yfov         vertical field of view in radians
  near, far    clip planes, for those that ask
  light        direction (in which the light travels, world space) and intensity (lux, white)
  environment  path of an equirectangular .hdr, or null
  samples      coverage samples per pixel
  frames, max_seconds   stop after so many warm frames or so much time, whichever comes first
"""
import json
import math
import struct
from pathlib import Path

import numpy as np

REPOSITORY = Path(__file__).resolve().parent.parent
YFOV_RAD = math.radians(35)
FILL = 0.96                    # share of the frame's half extent that the outermost vertex reaches
LIGHT = {"direction": [-0.45, -0.75, -0.5], "intensity": 3.0}
ENVIRONMENT = "env/qwantani_afternoon_puresky_1k.hdr"

# name: (folder, path, direction from the object to the camera)
SCENES = {
    "truck": ("assets", "CesiumMilkTruck/CesiumMilkTruck.glb", (0.75, 0.3, 1.0)),
    "clearcoat": ("assets", "ClearCoatTest/ClearCoatTest.glb", (0.0, 0.0, 1.0)),
    "many_triangles": ("generated", "many_triangles.glb", (0.12, 0.3, 1.0)),
    "many_textures": ("generated", "many_textures.glb", (0.18, -0.22, 1.0)),
}


def scene_path(name, assets, generated):
    folder, path, _ = SCENES[name]
    return (Path(assets) if folder == "assets" else Path(generated)) / path


def describe(name, assets, generated, size=(1280, 720), samples=4, frames=20, max_seconds=6.0):
    path = scene_path(name, assets, generated)
    camera, near, far = fit(Glb(path).world_positions(), SCENES[name][2], size[0] / size[1])
    return {
        "scene": str(path), "size": list(size), "camera": camera, "yfov": YFOV_RAD, "near": near, "far": far,
        "light": LIGHT, "environment": str(Path(assets) / ENVIRONMENT), "samples": samples,
        "frames": frames, "max_seconds": max_seconds,
    }


def fit(points_world, direction, aspect):
    """Centres the object and moves back until every vertex is inside `FILL` of the frame."""
    back = np.array(direction, float)
    back /= np.linalg.norm(back)
    right = np.cross([0.0, 1.0, 0.0], back)
    right /= np.linalg.norm(right)
    up = np.cross(back, right)
    x, y, z = (points_world @ axis for axis in (right, up, back))
    tan_y = math.tan(YFOV_RAD / 2) * FILL
    tan_x = math.tan(YFOV_RAD / 2) * aspect * FILL

    def middle(v, tan):
        """The place across where both sides touch, and how far back that needs."""
        low, high = (v - tan * z).min(), (v + tan * z).max()
        return (low + high) / 2, (high - low) / 2 / tan

    cx, dx = middle(x, tan_x)
    cy, dy = middle(y, tan_y)
    cz = max(dx, dy)
    eye = right * cx + up * cy + back * cz
    matrix = np.eye(4)
    matrix[:3, 0], matrix[:3, 1], matrix[:3, 2], matrix[:3, 3] = right, up, back, eye
    near, far = cz - z.max(), cz - z.min()
    return ([round(float(v), 6) for v in matrix.T.reshape(-1)],
            round(max(near * 0.8, far * 1e-3), 6), round(far * 1.2, 6))


class Glb:
    """Just enough of a reader for camera fitting, triangle counts and sizes: float positions, TRS or matrix."""

    def __init__(self, path):
        data = Path(path).read_bytes()
        length = struct.unpack_from("<I", data, 12)[0]
        self.file_bytes = len(data)
        self.json = json.loads(data[20:20 + length])
        self.binary = data[28 + length:]

    def positions(self, accessor_index):
        accessor = self.json["accessors"][accessor_index]
        view = self.json["bufferViews"][accessor["bufferView"]]
        stride = view.get("byteStride", 12)
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        raw = np.frombuffer(self.binary, np.uint8, (accessor["count"] - 1) * stride + 12, start)
        rows = np.lib.stride_tricks.as_strided(raw, (accessor["count"], 12), (stride, 1))
        return np.ascontiguousarray(rows).view(np.float32).reshape(-1, 3).astype(float)

    def local_matrix(self, node):
        if "matrix" in node:
            return np.array(node["matrix"], float).reshape(4, 4).T
        x, y, z, w = node.get("rotation", (0, 0, 0, 1))
        matrix = np.eye(4)
        matrix[:3, :3] = np.array([
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]) * np.array(node.get("scale", (1, 1, 1)), float)
        matrix[:3, 3] = node.get("translation", (0, 0, 0))
        return matrix

    def instances(self):
        """(primitive, world_from_mesh) of everything in the default scene."""
        todo = [(i, np.eye(4)) for i in self.json["scenes"][self.json.get("scene", 0)]["nodes"]]
        while todo:
            index, parent = todo.pop()
            node = self.json["nodes"][index]
            matrix = parent @ self.local_matrix(node)
            todo += [(child, matrix) for child in node.get("children", [])]
            if "mesh" in node:
                for primitive in self.json["meshes"][node["mesh"]]["primitives"]:
                    yield primitive, matrix

    def world_positions(self):
        cache, parts = {}, []
        for primitive, matrix in self.instances():
            accessor = primitive["attributes"]["POSITION"]
            if accessor not in cache:
                cache[accessor] = self.positions(accessor)
            parts.append(cache[accessor] @ matrix[:3, :3].T + matrix[:3, 3])
        return np.concatenate(parts)

    def triangle_count(self):
        return sum(self.json["accessors"][p.get("indices", p["attributes"]["POSITION"])]["count"] // 3
                   for p, _ in self.instances())

    def decoded_bytes(self):
        """The scene's own size in memory: its buffers less the images' bytes, and every image as RGBA8, no mips."""
        images = self.json.get("images", [])
        encoded = texels = 0
        for image in images:
            view = self.json["bufferViews"][image["bufferView"]]
            start = view.get("byteOffset", 0)
            encoded += view["byteLength"]
            width, height = image_size(self.binary[start:start + view["byteLength"]])
            texels += width * height
        return len(self.binary) - encoded + 4 * texels


def image_size(data):
    if data[:8] == b"\x89PNG\r\n\x1a\n":
        return struct.unpack(">II", data[16:24])
    at = 2                                            # JPEG: walk the markers to the frame header
    while data[at] == 0xFF:
        marker, length = data[at + 1], struct.unpack(">H", data[at + 2:at + 4])[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5:at + 9])
            return width, height
        at += 2 + length
    raise ValueError("neither PNG nor JPEG")
