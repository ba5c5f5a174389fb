#!/usr/bin/env python3
"""Writes the two generated benchmark scenes as .glb files.

many_triangles.glb  about 500,000 drawn triangles: a height field, a knot, three displaced balls (each
                    its own mesh) and rings and studs that share meshes; 14 untextured materials
many_textures.glb   200 PNG textures of 512x512 on 240 objects (tiles, balls, boxes), 200 materials

Only numpy and the standard library. There is no random generator: noise is an integer hash of its
coordinates, and positions are rounded to 2^-16, so the geometry and the pixels are the same
everywhere. The PNG bytes also depend on the zlib that compresses them, the decoded pixels do not.

usage: generate.py [OUTPUT_FOLDER]      (default target/bench/scenes)
"""
import hashlib
import json
import struct
import sys
import zlib
from pathlib import Path

import numpy as np

TEXTURE_COUNT = 200
TEXTURE_SIZE_PX = 512
FLOAT, UINT16, UINT32 = 5126, 5123, 5125
ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER = 34962, 34963


class Glb:
    """Collects buffers, meshes, materials and nodes, and writes one binary glTF file."""

    def __init__(self):
        self.binary = bytearray()
        self.json = {
            "asset": {"version": "2.0", "generator": "isoframe benches/generate.py"},
            "scene": 0, "scenes": [{"nodes": []}], "nodes": [], "meshes": [], "materials": [],
            "accessors": [], "bufferViews": [],
        }

    def view(self, data, target=None):
        self.binary += b"\0" * (-len(self.binary) % 4)
        view = {"buffer": 0, "byteOffset": len(self.binary), "byteLength": len(data)}
        if target:
            view["target"] = target
        self.binary += data
        return self.push("bufferViews", view)

    def push(self, kind, item):
        self.json.setdefault(kind, []).append(item)
        return len(self.json[kind]) - 1

    def attribute(self, array, with_bounds=False):
        array = np.ascontiguousarray(array, np.float32)
        accessor = {
            "bufferView": self.view(array.tobytes(), ARRAY_BUFFER), "componentType": FLOAT,
            "count": len(array), "type": f"VEC{array.shape[1]}",
        }
        if with_bounds:
            accessor["min"] = [float(x) for x in array.min(axis=0)]
            accessor["max"] = [float(x) for x in array.max(axis=0)]
        return self.push("accessors", accessor)

    def geometry(self, surface):
        """Uploads one surface; several primitives may share what this returns."""
        position, normal, uv, index = surface
        small = len(position) < 65535
        index = np.ascontiguousarray(index.reshape(-1), np.uint16 if small else np.uint32)
        indices = self.push("accessors", {
            "bufferView": self.view(index.tobytes(), ELEMENT_ARRAY_BUFFER),
            "componentType": UINT16 if small else UINT32, "count": len(index), "type": "SCALAR",
        })
        attributes = {"POSITION": self.attribute(position, True), "NORMAL": self.attribute(normal)}
        if uv is not None:
            attributes["TEXCOORD_0"] = self.attribute(uv)
        return {"attributes": attributes, "indices": indices}

    def mesh(self, name, geometry, material):
        return self.push("meshes", {"name": name, "primitives": [geometry | {"material": material}]})

    def node(self, mesh, **transform):
        self.json["scenes"][0]["nodes"].append(self.push("nodes", {"mesh": mesh} | transform))

    def write(self, path):
        self.binary += b"\0" * (-len(self.binary) % 4)
        self.json["buffers"] = [{"byteLength": len(self.binary)}]
        text = json.dumps(self.json, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        length = 12 + 8 + len(text) + 8 + len(self.binary)
        data = b"".join([
            struct.pack("<4sII", b"glTF", 2, length), struct.pack("<I4s", len(text), b"JSON"), text,
            struct.pack("<I4s", len(self.binary), b"BIN\0"), self.binary,
        ])
        path.write_bytes(data)
        digest = hashlib.sha256(data).hexdigest()
        print(f"{path}: {len(data):,} bytes, {self.triangle_count():,} triangles, "
              f"{len(self.json['nodes'])} nodes, {len(self.json.get('images', []))} textures, "
              f"sha256 {digest[:16]}")

    def triangle_count(self):
        per_mesh = [sum(self.json["accessors"][p["indices"]]["count"] // 3 for p in m["primitives"])
                    for m in self.json["meshes"]]
        return sum(per_mesh[n["mesh"]] for n in self.json["nodes"] if "mesh" in n)


# ---- noise and surfaces

def hash_unit(x, y, seed):
    """An integer hash of lattice points, as a float in [0, 1)."""
    h = (x.astype(np.uint32) * np.uint32(0x8DA6B343)) ^ (y.astype(np.uint32) * np.uint32(0xD8163841))
    h ^= np.uint32(seed * 0x9E3779B1 & 0xFFFFFFFF)
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        h = (h ^ (h >> np.uint32(shift))) * np.uint32(factor)
    h ^= h >> np.uint32(16)
    return (h >> np.uint32(8)).astype(np.float64) / (1 << 24)


def value_noise(x, y, seed):
    """Smooth noise in [0, 1] over the plane."""
    x0, y0 = np.floor(x), np.floor(y)
    fx, fy = x - x0, y - y0
    fx, fy = fx * fx * (3 - 2 * fx), fy * fy * (3 - 2 * fy)
    x0, y0 = x0.astype(np.int64), y0.astype(np.int64)

    def corner(dx, dy):
        return hash_unit(x0 + dx, y0 + dy, seed)

    low = corner(0, 0) * (1 - fx) + corner(1, 0) * fx
    high = corner(0, 1) * (1 - fx) + corner(1, 1) * fx
    return low * (1 - fy) + high * fy


def tiling_noise(size, period, seed):
    """`value_noise` over a square of size x size pixels that holds period x period lattice cells."""
    cell = np.arange(period + 1) % period
    lattice = hash_unit(cell[None, :].repeat(period + 1, 0), cell[:, None].repeat(period + 1, 1), seed)
    at = np.arange(size) * (period / size)
    low = np.floor(at).astype(np.int64)
    f = at - low
    f = f * f * (3 - 2 * f)
    across = lattice[:, low] * (1 - f) + lattice[:, low + 1] * f
    return across[low] * (1 - f)[:, None] + across[low + 1] * f[:, None]


def rounded(position):
    return np.round(np.asarray(position, np.float64) * 65536) / 65536


def grid_surface(position, uv=None):
    """Turns a (rows, columns, 3) net of points into an indexed surface with smooth normals."""
    rows, columns, _ = position.shape
    r, c = np.meshgrid(np.arange(rows - 1), np.arange(columns - 1), indexing="ij")
    a = r * columns + c
    b, d, e = a + 1, a + columns, a + columns + 1
    index = np.stack([a, d, b, b, d, e], axis=-1).reshape(-1, 3)
    flat = rounded(position).reshape(-1, 3)
    return flat, smooth_normals(flat, index), uv, index


def smooth_normals(position, index):
    """Area-weighted normals, summed over vertices at equal places, so seams and poles are smooth."""
    corner = position[index]
    face = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    _, shared = np.unique(np.round(position * 4096).astype(np.int64), axis=0, return_inverse=True)
    shared = shared.reshape(-1)
    total = np.zeros((shared.max() + 1, 3))
    for k in range(3):
        np.add.at(total, shared[index[:, k]], face)
    length = np.linalg.norm(total, axis=1, keepdims=True)
    normal = np.where(length > 1e-20, total / np.maximum(length, 1e-20), [0.0, 1.0, 0.0])
    return normal[shared]


def ball(columns, rows, radius=1.0, displace=None):
    theta = np.linspace(0, np.pi, rows + 1)[:, None]
    phi = np.linspace(0, 2 * np.pi, columns + 1)[None, :]
    unit = np.stack([np.sin(theta) * np.cos(phi), np.cos(theta) + 0 * phi, -np.sin(theta) * np.sin(phi)], -1)
    unit[:, -1] = unit[:, 0]                                # exact seam
    unit[0], unit[-1] = [0, 1, 0], [0, -1, 0]               # exact poles
    scale = radius if displace is None else radius * displace(unit)[..., None]
    u = np.broadcast_to(phi / (2 * np.pi), unit.shape[:2])
    v = np.broadcast_to(theta / np.pi, unit.shape[:2])
    return grid_surface(unit * scale, np.stack([u, v], -1).reshape(-1, 2))


def tube(centre, across, up, radius, sides):
    """A closed tube around a closed curve; `across` and `up` span each cross-section."""
    angle = np.linspace(0, 2 * np.pi, sides + 1)[None, :, None]
    net = centre[:, None] + radius * (np.cos(angle) * across[:, None] + np.sin(angle) * up[:, None])
    net[-1], net[:, -1] = net[0], net[:, 0]
    return grid_surface(net)


def ring(segments, sides, radius, thickness):
    t = np.linspace(0, 2 * np.pi, segments + 1)
    across = np.stack([np.cos(t), np.sin(t), 0 * t], -1)
    up = np.broadcast_to([0.0, 0.0, 1.0], across.shape)
    return tube(across * radius, up, across, thickness, sides)


def knot(segments, sides, p=2, q=3, thickness=0.3):
    t = np.linspace(0, 2 * np.pi, segments + 1)

    def curve(t):
        r = 2 + np.cos(q * t)
        return np.stack([r * np.cos(p * t), r * np.sin(p * t), -np.sin(q * t)], -1) * 0.5

    tangent = curve(t + 1e-4) - curve(t - 1e-4)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    across = np.cross(tangent, curve(t) + [0, 0, 3.0])
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    return tube(curve(t), np.cross(across, tangent), across, thickness, sides)


def height_field(columns, rows, width, depth):
    x, z = np.meshgrid(np.linspace(-width / 2, width / 2, columns + 1),
                       np.linspace(-depth / 2, depth / 2, rows + 1))
    y = sum(value_noise(x * f, z * f, seed) * a
            for f, a, seed in ((0.45, 0.9, 1), (1.1, 0.35, 2), (3.1, 0.1, 3), (9.0, 0.025, 4)))
    return grid_surface(np.stack([x, y - 0.7, z], -1))


def box(half):
    """Six faces with their own normals and the whole texture on each."""
    position, normal, uv, index = [], [], [], []
    for axis in range(3):
        for sign in (1.0, -1.0):
            n, a, b = np.zeros(3), np.zeros(3), np.zeros(3)
            n[axis], a[(axis + 1) % 3], b[(axis + 2) % 3] = sign, 1, sign
            start = len(position)
            for s, t in ((0, 0), (1, 0), (1, 1), (0, 1)):
                position.append((n + a * (2 * s - 1) + b * (2 * t - 1)) * half)
                normal.append(n)
                uv.append((s, 1 - t))
            index += [(start, start + 1, start + 2), (start, start + 2, start + 3)]
    return rounded(position), np.array(normal), np.array(uv, float), np.array(index)


def pillow(cells, half, bulge):
    """A slightly bulged square tile that faces +z."""
    s = np.linspace(-1, 1, cells + 1)
    x, y = np.meshgrid(s, s[::-1])
    net = np.stack([x * half, y * half, bulge * (1 - x * x) * (1 - y * y)], -1)
    return grid_surface(net, np.stack([(x + 1) / 2, (1 - y) / 2], -1).reshape(-1, 2))


def turn(axis, degrees):
    """A glTF quaternion (x, y, z, w)."""
    axis = np.array(axis, float) / np.linalg.norm(axis)
    half = np.radians(degrees) / 2
    return [round(float(q), 9) for q in (*(axis * np.sin(half)), np.cos(half))]


# ---- the scenes

def many_triangles():
    glb = Glb()
    look = [  # linear base colour, metallic, roughness
        ("clay", (0.55, 0.18, 0.10), 0, 0.9), ("moss", (0.10, 0.23, 0.06), 0, 0.95),
        ("gold", (1.00, 0.71, 0.29), 1, 0.25), ("copper", (0.95, 0.45, 0.30), 1, 0.4),
        ("chrome", (0.85, 0.86, 0.88), 1, 0.08), ("cobalt", (0.03, 0.09, 0.55), 0, 0.3),
        ("porcelain", (0.80, 0.79, 0.74), 0, 0.15), ("rubber", (0.03, 0.03, 0.035), 0, 0.8),
        ("jade", (0.05, 0.42, 0.24), 0, 0.35), ("brass", (0.80, 0.60, 0.25), 1, 0.55),
        ("coral", (0.85, 0.22, 0.20), 0, 0.5), ("sand", (0.62, 0.50, 0.33), 0, 1.0),
        ("steel", (0.40, 0.42, 0.45), 1, 0.35), ("plum", (0.30, 0.05, 0.28), 0, 0.45),
    ]
    material = {name: glb.push("materials", {"name": name, "pbrMetallicRoughness": {
        "baseColorFactor": [*colour, 1.0], "metallicFactor": metallic, "roughnessFactor": roughness,
    }}) for name, colour, metallic, roughness in look}

    ground = glb.geometry(height_field(280, 160, 9.0, 5.0))
    glb.node(glb.mesh("ground", ground, material["moss"]))
    knot_mesh = glb.mesh("knot", glb.geometry(knot(900, 56)), material["gold"])
    glb.node(knot_mesh, translation=[0, 1.75, 0.1], rotation=turn([0, 1, 0], 12), scale=[0.92] * 3)

    def bumpy(seed, frequency, amount):
        return lambda unit: 1 + amount * sum(
            value_noise(unit[..., i] * frequency + 17, unit[..., (i + 1) % 3] * frequency + 17, seed + i) - 0.5
            for i in range(3))

    for seed, place, look_name, frequency, amount in (
            (10, [-2.85, 1.35, 0.0], "porcelain", 3.0, 0.35), (20, [2.85, 1.35, 0.0], "cobalt", 7.0, 0.22),
            (30, [0, 3.35, -1.5], "coral", 2.0, 0.5)):
        displaced = ball(160, 120, 0.95, bumpy(seed, frequency, amount))
        glb.node(glb.mesh(f"ball {seed}", glb.geometry(displaced), material[look_name]), translation=place)

    # Shared geometry: one upload, a mesh per material, many nodes.
    rings = glb.geometry(ring(56, 20, 0.3, 0.1))
    ring_meshes = [glb.mesh(f"ring {name}", rings, material[name])
                   for name in ("chrome", "copper", "jade", "rubber", "brass", "plum")]
    studs = glb.geometry(ball(36, 24, 0.17))
    stud_meshes = [glb.mesh(f"stud {name}", studs, material[name])
                   for name in ("steel", "coral", "porcelain", "sand", "clay", "cobalt")]
    columns, rows = 12, 6                                     # a wall of rings and studs behind
    for i in range(columns * rows):
        column, row = i % columns, i // columns
        x, y = (column - (columns - 1) / 2) * 0.72, 0.35 + row * 0.72
        glb.node(ring_meshes[(column + 2 * row) % 6], translation=[round(x, 4), round(y, 4), -2.3],
                 rotation=turn([1, 0.3, 0], 20 * ((i * 7) % 5 - 2)))
    for i in range(22):                                       # a row in front
        x = (i - 10.5) * 0.4
        glb.node(stud_meshes[i % 6], translation=[round(x, 4), 0.3, 2.2])
    return glb


def texture_pixels(number):
    """One of eight kinds of pattern, in colours that depend on the number; rgb8."""
    n = TEXTURE_SIZE_PX
    kind, seed = number % 8, number * 101 + 7
    y, x = np.mgrid[0:n, 0:n].astype(np.float64) / n
    k = 3 + number % 5
    grain = tiling_noise(n, 64, seed + 5)
    cloud = sum(tiling_noise(n, f, seed + f) / f for f in (4, 8, 16, 32)) / 0.46875
    mask = [
        lambda: ((np.floor(x * 2 * k) + np.floor(y * 2 * k)) % 2),                       # checks
        lambda: 0.5 + 0.5 * np.sin((x * k + cloud * 0.8) * 2 * np.pi),                    # marble
        lambda: cloud,                                                                   # clouds
        lambda: (np.hypot((x * k) % 1 - 0.5, (y * k) % 1 - 0.5) < 0.33).astype(float),    # dots
        lambda: (((y * 2 * k) % 1 > 0.1) & ((x * k + 0.5 * (np.floor(y * 2 * k) % 2)) % 1 > 0.06)).astype(float),  # bricks
        lambda: 0.5 + 0.5 * np.sin((np.hypot(x - 0.5, y - 0.5) * 6 + cloud) * 2 * np.pi),  # wood rings
        lambda: (((x + y) * k) % 1 > 0.5).astype(float),                                  # stripes
        lambda: np.clip(cloud * 3 - 1, 0, 1),                                            # patches
    ][kind]()
    hue = (number * 0.618034) % 1.0

    def colour(h, value):
        return np.array([value * (0.55 + 0.45 * np.cos(2 * np.pi * (h - i / 3))) for i in range(3)])

    dark, light = colour(hue, 0.45), colour(hue + 0.35, 0.95)
    mixed = dark + (light - dark) * mask[..., None]
    mixed = mixed * (0.85 + 0.3 * grain[..., None])
    edge = (np.minimum(np.minimum(x, y), np.minimum(1 - x, 1 - y)) < 0.02)[..., None]
    mixed = np.where(edge, 0.92, mixed)
    return np.clip(np.floor(mixed * 255 + 0.5), 0, 255).astype(np.uint8)


def png(pixels):
    height, width, channels = pixels.shape
    flat = pixels.reshape(height, -1)
    left = np.zeros_like(flat)
    left[:, channels:] = flat[:, :-channels]
    rows = np.concatenate([np.ones((height, 1), np.uint8), flat - left], axis=1)   # filter 1: Sub

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
            + chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)) + chunk(b"IEND", b""))


def many_textures():
    glb = Glb()
    sampler = glb.push("samplers", {"magFilter": 9729, "minFilter": 9987, "wrapS": 10497, "wrapT": 10497})
    shapes = [glb.geometry(pillow(12, 0.46, 0.12)), glb.geometry(ball(40, 24, 0.48)), glb.geometry(box(0.36))]
    meshes = {}
    for number in range(TEXTURE_COUNT):
        image = glb.push("images", {"bufferView": glb.view(png(texture_pixels(number))), "mimeType": "image/png"})
        texture = glb.push("textures", {"sampler": sampler, "source": image})
        glb.push("materials", {"name": f"texture {number}", "pbrMetallicRoughness": {
            "baseColorTexture": {"index": texture}, "metallicFactor": 0.9 if number % 9 == 4 else 0.0,
            "roughnessFactor": 0.3 + 0.1 * (number % 7)}})
    columns, rows = 20, 12
    for i in range(columns * rows):
        column, row = i % columns, i // columns
        number, shape = (i * 7) % TEXTURE_COUNT, (column + row * 2) % 3
        if (shape, number) not in meshes:
            meshes[shape, number] = glb.mesh(f"shape {shape} texture {number}", shapes[shape], number)
        x, y = column - (columns - 1) / 2, row - (rows - 1) / 2
        transform = {"translation": [x, y, round(0.35 * ((i * 5) % 4), 4)]}
        if shape == 2:
            transform["rotation"] = turn([1, 1, 0.2], 15 + (i * 13) % 50)
        elif shape == 1:
            transform["rotation"] = turn([0, 1, 0], (i * 37) % 360)
        glb.node(meshes[shape, number], **transform)
    return glb


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "target/bench/scenes")
    folder.mkdir(parents=True, exist_ok=True)
    many_triangles().write(folder / "many_triangles.glb")
    many_textures().write(folder / "many_textures.glb")


if __name__ == "__main__":
    main()
