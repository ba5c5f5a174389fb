#!/usr/bin/env python3
"""Makes demo.glb: an exploded planetary gear drive, the scene that `isoframe render demo` shows.

Everything in it is made here from numbers: shapes, textures, lettering, occlusion. It is packed as a web shop would
pack it, quantised and compressed. Needs Python 3, NumPy and meshoptimizer (both from PyPI):

    python3 scenes/demo.py scenes/demo.glb

Lengths are metres. Parts stand along the drive's axis, +X; each is built around that axis (`axial`, `radius`, `angle`,
the angle from +Y towards +Z) and placed by its node.
"""

import json
import math
import struct
import sys
import zlib

import meshoptimizer
import numpy as np

MODULE = 0.003  # gear module: pitch diameter / teeth
SUN_TEETH, PLANET_TEETH, RING_TEETH = 12, 12, 36  # ring = sun + 2 planets, and (sun + ring) / 3 is whole
LOOP_S = 8.0  # one turn of the carrier, four of the sun
AXIS_Y = 0.083  # height of the axis above the plinth
AO_RAYS = int(sys.argv[2]) if len(sys.argv) > 2 else 192


# ---------------------------------------------------------------- shapes

class Mesh:
    """Triangles with normals and texture coordinates."""

    def __init__(self, position, normal, uv, index):
        self.position = np.asarray(position, np.float64).reshape(-1, 3)
        self.normal = np.asarray(normal, np.float64).reshape(-1, 3)
        self.uv = np.asarray(uv, np.float64).reshape(-1, 2)
        self.index = np.asarray(index, np.int64).reshape(-1)

    def moved(self, offset):
        return Mesh(self.position + np.asarray(offset), self.normal, self.uv, self.index)

    def turned_x(self, angle):
        c, s = math.cos(angle), math.sin(angle)
        turn = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
        return Mesh(self.position @ turn.T, self.normal @ turn.T, self.uv, self.index)


def joined(*meshes):
    offsets = np.cumsum([0] + [len(m.position) for m in meshes])
    return Mesh(
        np.concatenate([m.position for m in meshes]),
        np.concatenate([m.normal for m in meshes]),
        np.concatenate([m.uv for m in meshes]),
        np.concatenate([m.index + o for m, o in zip(meshes, offsets)]),
    )


def around(axial, radius, angle):
    return np.stack([axial + 0 * angle, radius * np.cos(angle), radius * np.sin(angle)], -1)


def rounded(profile, bevel, closed=True, steps=2):
    """The (axial, radius) profile with each corner replaced by an arc."""
    points = [np.array(p, float) for p in profile]
    out = []
    count = len(points)
    for i, p in enumerate(points):
        if not closed and i in (0, count - 1):
            out.append(p)
            continue
        before, after = points[i - 1], points[(i + 1) % count]
        d0, d1 = before - p, after - p
        l0, l1 = np.linalg.norm(d0), np.linalg.norm(d1)
        b = min(bevel, l0 * 0.45, l1 * 0.45)
        start, end = p + d0 / l0 * b, p + d1 / l1 * b
        for k in range(steps + 1):
            t = k / steps
            out.append((1 - t) ** 2 * start + 2 * t * (1 - t) * p + t * t * end)
    return out


def segment_normals(points, closed):
    """Outward normals per (axial, radius) segment, for profiles that run along +axial on the outside."""
    count = len(points) if closed else len(points) - 1
    normals, lengths = [], []
    for i in range(count):
        d = points[(i + 1) % len(points)] - points[i]
        length = np.linalg.norm(d)
        lengths.append(length)
        normals.append(np.array([-d[1], d[0]]) / max(length, 1e-12))
    return normals, lengths


def lathe(profile, segments, closed=True, uv_scale=(1.0, 20.0), smooth_deg=50.0, arc=2 * math.pi, start=0.0):
    """Turns a profile about the axis; long segments keep flat normals, sharp corners are split."""
    points = [np.array(p, float) for p in profile]
    normals, lengths = segment_normals(points, closed)
    count = len(normals)
    angle = start + np.linspace(0.0, arc, segments + 1)
    position, normal, uv, index = [], [], [], []
    travelled = 0.0
    for i in range(count):
        ends = []
        for point, other in ((i, i - 1), (i + 1, i + 1)):
            n = normals[i]
            neighbour = other % count if closed else other
            if 0 <= neighbour < count and normals[i] @ normals[neighbour] > math.cos(math.radians(smooth_deg)):
                n = normals[i] * lengths[i] + normals[neighbour] * lengths[neighbour]
                n = n / np.linalg.norm(n)
            ends.append((points[point % len(points)], n))
        base = sum(len(p) for p in position)
        for k, (p, n) in enumerate(ends):
            position.append(around(p[0], p[1], angle))
            normal.append(around(n[0], n[1], angle))
            v = (travelled + k * lengths[i]) * uv_scale[1]
            uv.append(np.stack([np.linspace(0, uv_scale[0], segments + 1), np.full(segments + 1, v)], -1))
        travelled += lengths[i]
        row = segments + 1
        for j in range(segments):
            a, b, c, d = base + j, base + j + 1, base + row + j + 1, base + row + j
            index += [a, b, c, a, c, d]
    return Mesh(np.concatenate(position), np.concatenate(normal), np.concatenate(uv), index)


def ring_profile(a0, a1, inner, outer):
    """A rectangle in (axial, radius), run so that normals point outward."""
    return [(a0, inner), (a0, outer), (a1, outer), (a1, inner)]


def polygon_wall(points, a0, a1, chamfer, smooth_deg=42.0, uv_scale=20.0):
    """The side of a prism over a closed (y, z) polygon; counter-clockwise from +X means outward normals."""
    points = np.asarray(points, float)
    count = len(points)
    edges = np.roll(points, -1, 0) - points
    length = np.linalg.norm(edges, axis=1)
    edge_normal = np.stack([edges[:, 1], -edges[:, 0]], -1) / length[:, None]
    before = np.roll(edge_normal, 1, 0)
    mitre = edge_normal + before
    mitre /= np.linalg.norm(mitre, axis=1)[:, None]
    inset = points - mitre * chamfer
    smooth = np.einsum("ij,ij->i", edge_normal, before) > math.cos(math.radians(smooth_deg))
    position, normal, uv, index = [], [], [], []
    along = np.concatenate([[0], np.cumsum(length)])
    for i in range(count):
        j = (i + 1) % count
        n0 = mitre[i] if smooth[i] else edge_normal[i]
        n1 = mitre[j] if smooth[j] else edge_normal[i]
        rows = [(a0, inset, -0.7), (a0 + chamfer, points, 0.0), (a1 - chamfer, points, 0.0), (a1, inset, 0.7)]
        base = len(position)
        for a, ring, tilt in rows:
            for k, n, u in ((i, n0, along[i]), (j, n1, along[i + 1])):
                position.append((a, *ring[k]))
                normal.append(np.array([tilt, *(n * math.sqrt(1 - tilt * tilt))]))
                uv.append((u * uv_scale, a * uv_scale))
        for p in (base, base + 2, base + 4):
            index += [p, p + 2, p + 3, p, p + 3, p + 1]
    return Mesh(position, normal, uv, index), inset


def cap(outer, inner, axial, facing, uv_scale=20.0):
    """A flat face between two closed (y, z) polygons with the same number of points; `facing` is +1 or -1."""
    outer, inner = np.asarray(outer, float), np.asarray(inner, float)
    count = len(outer)
    both = np.concatenate([outer, outer[:1], inner, inner[:1]])
    position = np.concatenate([np.full((len(both), 1), axial), both], 1)
    normal = np.tile([facing, 0.0, 0.0], (len(both), 1))
    radius = np.linalg.norm(both, axis=1)
    turn = np.linspace(0, 1, count + 1)
    uv = np.stack([np.concatenate([turn, turn]), radius * uv_scale], -1)
    index = []
    for i in range(count):
        a, b, c, d = i, i + 1, count + 1 + i + 1, count + 1 + i
        index += [a, b, c, a, c, d] if facing > 0 else [a, c, b, a, d, c]
    return Mesh(position, normal, uv, index)


def circle(radius, angles):
    return np.stack([radius * np.cos(angles), radius * np.sin(angles)], -1)


def involute_gear(teeth, internal=False):
    """A closed (y, z) gear outline, counter-clockwise from +X."""
    pitch = MODULE * teeth / 2
    base = pitch * math.cos(math.radians(20))
    tip = pitch + (-0.85 if internal else 1.0) * MODULE
    root = pitch + (1.15 if internal else -1.2) * MODULE
    low, high = min(tip, root), max(tip, root)

    def half_tooth(radius):
        """Half the angle the tooth takes at a radius; backlash taken off."""
        def inv(r):
            t = math.sqrt(max((r / base) ** 2 - 1, 0.0))
            return t - math.atan(t)
        half = math.pi / (2 * teeth) - 0.012 * (12 / teeth)
        sign = -1 if internal else 1
        return half + sign * (inv(pitch) - inv(max(radius, base)))

    radii = np.linspace(low, high, 4)
    outline = []
    step = 2 * math.pi / teeth
    for k in range(teeth):
        centre = k * step
        sides = [(r, half_tooth(r)) for r in radii]
        if internal:  # the tooth points inward: wide at the high radius
            path = [(r, centre - h) for r, h in reversed(sides)] + [(r, centre + h) for r, h in sides]
        else:
            path = [(r, centre - h) for r, h in sides] + [(r, centre + h) for r, h in reversed(sides)]
        outline += path
    radius = np.array([p[0] for p in outline])
    angle = np.array([p[1] for p in outline])
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], -1)


def gear(teeth, width, bore, hub):
    """An external gear with a turned web, centred on the origin."""
    outline = involute_gear(teeth)
    wall, inset = polygon_wall(outline, -width / 2, width / 2, 0.0004)
    angles = np.unwrap(np.arctan2(inset[:, 1], inset[:, 0]))
    rim = MODULE * (teeth / 2 - 1.2) * 0.86
    faces = [cap(inset, circle(rim, angles), side * width / 2, side) for side in (1, -1)]
    depth = width * 0.16
    web = [
        (-width / 2, rim), (-width / 2 + depth, rim * 0.97), (-width / 2 + depth, hub), (-width / 2, hub * 0.96),
        (-width / 2, bore), (width / 2, bore), (width / 2, hub * 0.96), (width / 2 - depth, hub),
        (width / 2 - depth, rim * 0.97), (width / 2, rim),
    ]
    # The web runs rim to bore to rim, so its outside is towards the axis: turn it round.
    disc = lathe(rounded(web[::-1], 0.0005, closed=False, steps=1), 32, closed=False)
    return joined(wall, *faces, disc)


def internal_gear(width, outer):
    """The ring gear: teeth inside, a smooth drum outside."""
    hole = involute_gear(RING_TEETH, internal=True)
    wall, inset = polygon_wall(hole[::-1], -width / 2, width / 2, 0.0004)
    inset = inset[::-1]
    angles = np.unwrap(np.arctan2(inset[:, 1], inset[:, 0]))
    lip = MODULE * (RING_TEETH / 2 + 1.15) + 0.0015
    faces = [cap(circle(lip, angles), inset, side * width / 2, side) for side in (1, -1)]
    return joined(wall, *faces), lip


def screw(head_radius, head_length, shank_radius, shank_length):
    """A socket-head screw along +X, head at the origin's +X side."""
    head = lathe(
        rounded([(-shank_length, 0.0), (-shank_length, shank_radius), (0.0, shank_radius), (0.0, head_radius),
                 (head_length, head_radius), (head_length, head_radius * 0.72)], 0.0005, closed=False),
        16, closed=False,
    )
    angles = np.linspace(0, 2 * math.pi, 24, endpoint=False)
    flat = head_radius * 0.5
    hexagon = circle(flat / np.cos((angles + math.pi / 6) % (math.pi / 3) - math.pi / 6), angles)
    face = cap(circle(head_radius * 0.72, angles), hexagon, head_length, 1)
    depth = head_length * 0.6
    socket, _ = polygon_wall(hexagon[::-1], head_length - depth, head_length, 1e-5)
    floor = cap(hexagon, hexagon * 0.0, head_length - depth, 1)
    return joined(head, face, socket, floor)


def sphere(radius, segments=20, rings=10):
    angle = np.linspace(math.pi, 0, rings + 1)
    return lathe([(radius * math.cos(a), radius * math.sin(a)) for a in angle], segments, closed=False)


def torus(radius, thickness, segments=64, sides=16):
    angle = np.linspace(0, -2 * math.pi, sides, endpoint=False)
    return lathe([(thickness * math.cos(a), radius + thickness * math.sin(a)) for a in angle], segments)


def carrier_plate(width, reach, lobe, bore):
    """A three-lobed plate: lobes around the planets' pins."""
    angles = np.linspace(0, 2 * math.pi, 96, endpoint=False)
    radius = []
    for a in angles:
        best = 0.0
        for k in range(3):
            d = (a - k * 2 * math.pi / 3 + math.pi) % (2 * math.pi) - math.pi
            across = reach * math.sin(d)
            if abs(across) < lobe and math.cos(d) > 0:
                best = max(best, reach * math.cos(d) + math.sqrt(lobe * lobe - across * across))
        waist = reach * 0.62
        radius.append((best ** 8 + waist ** 8) ** (1 / 8))
    outline = circle(np.array(radius), angles)
    wall, inset = polygon_wall(outline, -width / 2, width / 2, 0.0007, smooth_deg=60)
    faces = [cap(inset, circle(bore, angles), side * width / 2, side) for side in (1, -1)]
    tube = lathe([(width / 2, bore), (-width / 2, bore)], 48, closed=False)
    return joined(wall, *faces, tube)


def plinth(half_length, radius, height, bevel=0.004, segments=40):
    """A stadium-shaped slab under the drive, top at y = 0; the top carries the shadow texture."""
    def outline(inset):
        r = radius - inset
        left = [(-half_length - r * math.sin(t), r * math.cos(t)) for t in np.linspace(0, math.pi, segments)]
        right = [(half_length + r * math.sin(t), -r * math.cos(t)) for t in np.linspace(0, math.pi, segments)]
        return np.array(left + right)  # (x, z), clockwise seen from above

    rows = []
    for k in range(5):
        t = math.pi / 2 * k / 4
        rows.append((outline(bevel * (1 - math.sin(t))), -bevel * (1 - math.cos(t)), t))
    rows.append((outline(0.0), -height, math.pi / 2))
    count = len(rows[0][0])
    centre = outline(0.0)
    tangent = np.roll(centre, -1, 0) - np.roll(centre, 1, 0)
    side = np.stack([-tangent[:, 1], tangent[:, 0]], -1)
    side /= np.linalg.norm(side, axis=1)[:, None]
    if (side * centre).sum() < 0:
        side = -side
    full = half_length + radius
    position, normal, uv, index = [], [], [], []

    def texcoord(points):
        return np.stack([points[:, 0] / (2 * full) + 0.5, points[:, 1] / (2 * radius) + 0.5], -1)

    for ring, y, tilt in rows:
        position.append(np.stack([ring[:, 0], np.full(count, y), ring[:, 1]], -1))
        normal.append(np.stack([side[:, 0] * math.sin(tilt), np.full(count, math.cos(tilt)), side[:, 1] * math.sin(tilt)], -1))
        uv.append(texcoord(ring))
    for r in range(len(rows) - 1):
        for i in range(count):
            j = (i + 1) % count
            a, b, c, d = r * count + i, r * count + j, (r + 1) * count + j, (r + 1) * count + i
            index += [a, b, c, a, c, d]
    position, normal, uv = np.concatenate(position), np.concatenate(normal), np.concatenate(uv)
    for i in range(1, count - 1):
        index += [0, i + 1, i]
    mesh = Mesh(position, normal, uv, index)
    return faced(mesh)


def faced(mesh):
    """Turns each triangle so that it faces the way its normals do."""
    t = mesh.index.reshape(-1, 3).copy()
    p = mesh.position[t]
    face = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    wrong = np.einsum("ij,ij->i", face, mesh.normal[t].sum(1)) < 0
    t[wrong] = t[wrong][:, ::-1]
    return Mesh(mesh.position, mesh.normal, mesh.uv, t.reshape(-1))


# ---------------------------------------------------------------- pictures

def png(pixels):
    """8-bit PNG of an array of shape (height, width) or (height, width, 2 to 4)."""
    pixels = np.clip(np.rint(pixels), 0, 255).astype(np.uint8)
    if pixels.ndim == 2:
        pixels = pixels[..., None]
    height, width, channels = pixels.shape
    kind = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    rows = []
    previous = np.zeros(width * channels, np.int32)
    for row in pixels.reshape(height, -1).astype(np.int32):
        left = np.concatenate([np.zeros(channels, np.int32), row[:-channels]])
        options = [(0, row), (1, (row - left) % 256), (2, (row - previous) % 256)]
        best = min(options, key=lambda o: np.minimum(o[1], 256 - o[1]).sum())
        rows.append(bytes([best[0]]) + best[1].astype(np.uint8).tobytes())
        previous = row

    def chunk(tag, data):
        return struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))

    header = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    body = zlib.compress(b"".join(rows), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def noise(shape, smoothing, seed):
    random = np.random.default_rng(seed)
    values = random.standard_normal(shape)
    for axis, width in enumerate(smoothing):
        if width > 1:
            kernel = np.hanning(width + 2)[1:-1]
            kernel /= np.sqrt((kernel ** 2).sum())
            padded = np.concatenate([values] * 3, axis)
            values = np.apply_along_axis(lambda v: np.convolve(v, kernel, "same"), axis, padded)
            values = np.take(values, range(shape[axis], 2 * shape[axis]), axis)
    return values


def turned_normals():
    """Normal map of a lathe-turned surface: grooves along u, tilting along v."""
    slope = noise((256, 8), (2, 1), 1).mean(1)[:, None].repeat(8, 1) * 0.11 + noise((256, 8), (1, 4), 2) * 0.015
    n = np.stack([0 * slope, slope, np.ones_like(slope)], -1)
    n /= np.linalg.norm(n, axis=-1, keepdims=True)
    return n * 127.5 + 127.5


def turned_roughness(low, high):
    """Metallic-roughness map of a turned surface: green roughness, blue metallic."""
    grooves = noise((256, 8), (3, 1), 3).mean(1)[:, None].repeat(8, 1) + noise((256, 8), (1, 8), 4) * 0.2
    grooves = np.clip(grooves * 0.5 + 0.5, 0, 1)
    return np.stack([0 * grooves + 255, (low + (high - low) * grooves) * 255, 0 * grooves + 255], -1)


def knurl_normals(side=32):
    """Normal map of a diamond knurl."""
    y, x = np.mgrid[0:side, 0:side] / side
    height = np.abs(((x + y) % 1) - 0.5) + np.abs(((x - y) % 1) - 0.5)
    dx = (np.roll(height, -1, 1) - np.roll(height, 1, 1)) * side / 2
    dy = (np.roll(height, -1, 0) - np.roll(height, 1, 0)) * side / 2
    n = np.stack([-dx * 0.35, dy * 0.35, np.ones_like(dx)], -1)
    n /= np.linalg.norm(n, axis=-1, keepdims=True)
    return n * 127.5 + 127.5


def vent_alpha():
    """White with slots of alpha 0: the vent band's mask."""
    y, x = np.mgrid[0:64, 0:64]
    across = np.abs(x - 31.5)
    along = np.maximum(np.abs(y - 31.5) - 15, 0)
    distance = np.hypot(across, along) - 9
    alpha = np.clip(distance * 90 + 127, 0, 255)
    return np.stack([0 * alpha + 255, alpha], -1)


GLYPHS = {  # strokes in a 4 by 6 box, y up; "o" marks arcs as polylines
    "I": [[(2, 0), (2, 6)]],
    "S": [[(4, 5), (3, 6), (1, 6), (0, 5), (0, 4), (1, 3.2), (3, 2.8), (4, 2), (4, 1), (3, 0), (1, 0), (0, 1)]],
    "O": [[(1, 0), (0, 1.2), (0, 4.8), (1, 6), (3, 6), (4, 4.8), (4, 1.2), (3, 0), (1, 0)]],
    "F": [[(0, 0), (0, 6), (4, 6)], [(0, 3.2), (3, 3.2)]],
    "R": [[(0, 0), (0, 6), (3, 6), (4, 5.2), (4, 3.8), (3, 3), (0, 3)], [(2, 3), (4, 0)]],
    "A": [[(0, 0), (2, 6), (4, 0)], [(0.75, 2.1), (3.25, 2.1)]],
    "M": [[(0, 0), (0, 6), (2, 2.6), (4, 6), (4, 0)]],
    "E": [[(4, 0), (0, 0), (0, 6), (4, 6)], [(0, 3.1), (3.2, 3.1)]],
    "P": [[(0, 0), (0, 6), (3, 6), (4, 5.2), (4, 3.6), (3, 2.8), (0, 2.8)]],
    "L": [[(0, 6), (0, 0), (4, 0)]],
    "N": [[(0, 0), (0, 6), (4, 0), (4, 6)]],
    "T": [[(0, 6), (4, 6)], [(2, 6), (2, 0)]],
    "Y": [[(0, 6), (2, 3.2), (4, 6)], [(2, 3.2), (2, 0)]],
    "D": [[(0, 0), (0, 6), (2.4, 6), (4, 4.6), (4, 1.4), (2.4, 0), (0, 0)]],
    "V": [[(0, 6), (2, 0), (4, 6)]],
    "G": [[(4, 4.8), (3, 6), (1, 6), (0, 4.8), (0, 1.2), (1, 0), (3, 0), (4, 1.2), (4, 2.8), (2.4, 2.8)]],
    "0": [[(1, 0), (0, 1.2), (0, 4.8), (1, 6), (3, 6), (4, 4.8), (4, 1.2), (3, 0), (1, 0)]],
    "1": [[(0.8, 4.8), (2.2, 6), (2.2, 0)]],
    "2": [[(0, 4.8), (1, 6), (3, 6), (4, 4.9), (4, 4), (0, 0), (4, 0)]],
    "3": [[(0, 5), (1, 6), (3, 6), (4, 5), (4, 4), (3, 3.2), (1.6, 3.2)], [(3, 3.2), (4, 2.4), (4, 1), (3, 0), (1, 0), (0, 1)]],
    "4": [[(3, 0), (3, 6), (0, 1.8), (4.2, 1.8)]],
    "5": [[(4, 6), (0.4, 6), (0, 3.4), (2.8, 3.6), (4, 2.6), (4, 1.2), (3, 0), (1, 0), (0, 0.9)]],
    "8": [[(1, 3.2), (0, 4), (0, 5.2), (1, 6), (3, 6), (4, 5.2), (4, 4), (3, 3.2), (1, 3.2), (0, 2.4), (0, 1), (1, 0), (3, 0), (4, 1), (4, 2.4), (3, 3.2)]],
    ":": [[(1.6, 1), (1.6, 1.3)], [(1.6, 3.6), (1.6, 3.9)]],
    "-": [[(0.6, 3), (3.4, 3)]],
    " ": [],
}


def lettering(canvas, text, left, base, height, weight, ink):
    """Strokes of `text` onto a canvas (rows from the top), anti-aliased."""
    unit = height / 6
    rows, columns = np.mgrid[0:canvas.shape[0], 0:canvas.shape[1]]
    for character in text:
        for stroke in GLYPHS[character]:
            for (x0, y0), (x1, y1) in zip(stroke, stroke[1:]):
                ax, ay, bx, by = left + x0 * unit, base - y0 * unit, left + x1 * unit, base - y1 * unit
                dx, dy = bx - ax, by - ay
                t = np.clip(((columns - ax) * dx + (rows - ay) * dy) / (dx * dx + dy * dy), 0, 1)
                distance = np.hypot(columns - ax - t * dx, rows - ay - t * dy)
                cover = np.clip(weight / 2 - distance + 0.5, 0, 1)[..., None]
                canvas[:] = canvas * (1 - cover) + np.asarray(ink) * cover
        left += unit * (3.2 if character in " :1I" else 6.2)
    return left


def label():
    canvas = np.full((192, 512, 3), (236.0, 236.0, 230.0))
    dark, accent = (30.0, 34.0, 40.0), (226.0, 88.0, 28.0)
    canvas[:, :22] = accent
    lettering(canvas, "ISOFRAME", 46, 84, 48, 9, dark)
    lettering(canvas, "PLANETARY GEAR DRIVE", 47, 124, 17, 3, (70.0, 74.0, 80.0))
    lettering(canvas, "4:1   24 V   35 00 148", 47, 166, 17, 3, (70.0, 74.0, 80.0))
    left = 404
    for index, bar in enumerate([3, 2, 5, 2, 2, 4, 3, 2, 6, 2, 3, 3, 2, 5, 3, 2, 4, 2, 2, 6, 3, 2]):
        if index % 2 == 0:
            canvas[134:170, left:left + bar] = dark
        left += bar
    canvas[:4], canvas[-4:], canvas[:, -4:] = dark, dark, dark
    return canvas


# ---------------------------------------------------------------- occlusion

class Occluder:
    """A hollow cylinder along the axis: what blocks the sky, roughly."""

    def __init__(self, a0, a1, inner, outer):
        self.a0, self.a1, self.inner, self.outer = a0, a1, inner, outer

    def blocked(self, origin, direction):
        """Whether rays enter the shell; marched, which is enough for soft light."""
        hit = np.zeros(len(origin), bool)
        for step in np.linspace(0.003, 0.22, 56):
            p = origin + direction * step
            radius = np.hypot(p[:, 1] - AXIS_Y, p[:, 2])
            hit |= (p[:, 0] > self.a0) & (p[:, 0] < self.a1) & (radius < self.outer) & (radius > self.inner)
        return hit


def sky_share(position, normal, occluders, floor=True, seed=7):
    """Share of cosine-weighted directions from which light arrives. *Space*: world."""
    random = np.random.default_rng(seed)
    u, v = random.random(AO_RAYS), random.random(AO_RAYS)
    local = np.stack([np.sqrt(u) * np.cos(2 * np.pi * v), np.sqrt(u) * np.sin(2 * np.pi * v), np.sqrt(1 - u)], -1)
    share = np.zeros(len(position))
    helper = np.where(np.abs(normal[:, :1]) > 0.9, [[0.0, 1.0, 0.0]], [[1.0, 0.0, 0.0]])
    tangent = np.cross(normal, helper)
    tangent /= np.maximum(np.linalg.norm(tangent, axis=1, keepdims=True), 1e-9)
    bitangent = np.cross(normal, tangent)
    origin = position + normal * 0.0012
    for ray in local:
        direction = tangent * ray[0] + bitangent * ray[1] + normal * ray[2]
        hit = np.zeros(len(position), bool)
        for occluder in occluders:
            hit |= occluder.blocked(origin, direction)
        light = np.where(hit, 0.0, 1.0)
        if floor:  # the plinth returns part of the light
            down = direction[:, 1] < -1e-6
            reach = -position[:, 1] / np.minimum(direction[:, 1], -1e-6)
            where = origin + direction * reach[:, None]
            on = down & (np.abs(where[:, 0]) < 0.26) & (np.abs(where[:, 2]) < 0.1)
            light = np.where(~hit & on, 0.55, light)
        share += light
    return share / AO_RAYS


# ---------------------------------------------------------------- the file

class Glb:
    """Collects a glTF document and its one buffer; geometry is quantised as KHR_mesh_quantization allows."""

    UV_RANGE = 64.0  # texture coordinates are stored over this, and scaled back by KHR_texture_transform

    def __init__(self):
        self.buffer = bytearray()
        self.unpacked_bytes = 0  # the buffer that compressed views would fill; it is not in the file
        self.doc = {
            "asset": {"version": "2.0", "generator": "isoframe scenes/demo.py", "copyright": "MIT OR Apache-2.0"},
            "extensionsUsed": ["EXT_mesh_gpu_instancing", "EXT_meshopt_compression", "KHR_materials_emissive_strength", "KHR_mesh_quantization",
                               "KHR_texture_transform"],
            "extensionsRequired": ["EXT_meshopt_compression", "KHR_mesh_quantization"],
            "scene": 0, "scenes": [{"nodes": []}], "nodes": [], "meshes": [], "materials": [], "textures": [],
            "images": [], "samplers": [{"magFilter": 9729, "minFilter": 9987}], "accessors": [], "bufferViews": [],
            "cameras": [], "animations": [],
        }

    def view(self, data, **extra):
        while len(self.buffer) % 4:
            self.buffer.append(0)
        self.doc["bufferViews"].append({"buffer": 0, "byteOffset": len(self.buffer), "byteLength": len(data), **extra})
        self.buffer += data
        return len(self.doc["bufferViews"]) - 1

    def packed_view(self, packed, count, stride, mode):
        """A view that EXT_meshopt_compression unpacks."""
        while len(self.buffer) % 4:
            self.buffer.append(0)
        compression = {"buffer": 0, "byteOffset": len(self.buffer), "byteLength": len(packed), "byteStride": stride,
                       "count": count, "mode": mode}
        self.buffer += packed
        view = {"buffer": 1, "byteOffset": self.unpacked_bytes, "byteLength": count * stride,
                "extensions": {"EXT_meshopt_compression": compression}}
        if mode == "ATTRIBUTES":
            view["byteStride"] = stride
        self.unpacked_bytes += -(-count * stride // 4) * 4
        self.doc["bufferViews"].append(view)
        return len(self.doc["bufferViews"]) - 1

    def add_accessor(self, view, component, count, kind, **extra):
        self.doc["accessors"].append({"bufferView": view, "componentType": component, "count": count, "type": kind, **extra})
        return len(self.doc["accessors"]) - 1

    def accessor(self, array, component, kind, **extra):
        """Plain values: animations and instances."""
        array = np.ascontiguousarray(array)
        return self.add_accessor(self.view(array.tobytes()), component, len(array), kind, **extra)

    def attribute(self, array, component, kind, **extra):
        """Vertex attributes; rows are padded to four bytes, as they must be."""
        stride = -(-array.shape[1] * array.itemsize // 4) * 4
        rows = np.zeros((len(array), stride // array.itemsize), array.dtype)
        rows[:, :array.shape[1]] = array
        packed = meshoptimizer.encode_vertex_buffer(rows, len(rows), stride)
        view = self.packed_view(packed, len(rows), stride, "ATTRIBUTES")
        return self.add_accessor(view, component, len(array), kind, normalized=True, **extra)

    def indices(self, index, vertex_count):
        packed = meshoptimizer.encode_index_buffer(index, len(index), vertex_count)
        return self.add_accessor(self.packed_view(packed, len(index), 2, "TRIANGLES"), 5123, len(index), "SCALAR")

    def texture(self, name, pixels):
        view = self.view(png(pixels))
        self.doc["images"].append({"name": name, "bufferView": view, "mimeType": "image/png"})
        self.doc["textures"].append({"sampler": 0, "source": len(self.doc["images"]) - 1})
        return len(self.doc["textures"]) - 1

    def tiled(self, texture, **extra):
        scale = [self.UV_RANGE, self.UV_RANGE]
        return {"index": texture, "extensions": {"KHR_texture_transform": {"scale": scale}}, **extra}

    def material(self, name, color, metallic, roughness, **extra):
        pbr = {"baseColorFactor": [*color, 1.0][:4], "metallicFactor": metallic, "roughnessFactor": roughness}
        pbr.update(extra.pop("pbr", {}))
        self.doc["materials"].append({"name": name, "pbrMetallicRoughness": pbr, **extra})
        return len(self.doc["materials"]) - 1

    def node(self, parent=None, **fields):
        self.doc["nodes"].append(fields)
        index = len(self.doc["nodes"]) - 1
        owner = self.doc["scenes"][0]["nodes"] if parent is None else self.doc["nodes"][parent].setdefault("children", [])
        owner.append(index)
        return index

    def geometry(self, mesh, uv=None, shade=None):
        """Welded, quantised attributes; returns (attributes, indices, scale)."""
        mesh = faced(mesh)
        scale = float(np.abs(mesh.position).max())
        columns = [np.rint(mesh.position / scale * 32767), np.rint(mesh.normal * 127)]
        if uv:
            span = self.UV_RANGE if uv == "tiled" else 1.0
            shift = np.floor(mesh.uv.min(0)) if uv == "tiled" else 0.0
            columns.append(np.clip(np.rint((mesh.uv - shift) / span * 65535), 0, 65535))
        if shade is not None:
            columns.append(np.rint(np.repeat(shade[:, None], 3, 1) * 255))
        rows, inverse = np.unique(np.concatenate(columns, 1), axis=0, return_inverse=True)
        triangles = inverse.reshape(-1)[mesh.index].reshape(-1, 3)
        distinct = (triangles[:, 0] != triangles[:, 1]) & (triangles[:, 1] != triangles[:, 2]) & (triangles[:, 0] != triangles[:, 2])
        triangles = triangles[distinct]
        # In the order in which triangles use them, which is what compresses well.
        index = np.zeros(triangles.size, np.uint32)
        meshoptimizer.optimize_vertex_cache(index, triangles.reshape(-1).astype(np.uint32), index.size, len(rows))
        first_use = np.full(len(rows), index.size)
        np.minimum.at(first_use, index, np.arange(index.size))
        order = np.argsort(first_use, kind="stable")
        place = np.empty(len(rows), np.uint32)
        place[order] = np.arange(len(rows))
        rows, index = rows[order], place[index]
        p = rows[:, :3].astype(np.int16)
        attributes = {
            "POSITION": self.attribute(p, 5122, "VEC3", min=[int(v) for v in p.min(0)], max=[int(v) for v in p.max(0)]),
            "NORMAL": self.attribute(rows[:, 3:6].astype(np.int8), 5120, "VEC3"),
        }
        next_column = 6
        if uv:
            attributes["TEXCOORD_0"] = self.attribute(rows[:, 6:8].astype(np.uint16), 5123, "VEC2")
            next_column = 8
        if shade is not None:
            attributes["COLOR_0"] = self.attribute(rows[:, next_column:].astype(np.uint8), 5121, "VEC3")
        return attributes, self.indices(index, len(rows)), scale

    def mesh(self, name, geometry, material):
        attributes, indices, _ = geometry
        self.doc["meshes"].append({"name": name, "primitives": [{"attributes": attributes, "indices": indices, "material": material}]})
        return len(self.doc["meshes"]) - 1

    def spin(self, animation, node, turns, start=0.0):
        """One loop of whole turns about +X."""
        count = max(4 * abs(turns), 4) + 1
        times = np.linspace(0, LOOP_S, count).astype(np.float32)
        angle = start + np.linspace(0, 2 * math.pi * turns, count)
        keys = np.stack([np.sin(angle / 2), 0 * angle, 0 * angle, np.cos(angle / 2)], -1).astype(np.float32)
        animation["samplers"].append({
            "input": self.accessor(times, 5126, "SCALAR", min=[0.0], max=[float(times[-1])]),
            "output": self.accessor(keys, 5126, "VEC4"), "interpolation": "LINEAR",
        })
        target = {"node": node, "path": "rotation"}
        animation["channels"].append({"sampler": len(animation["samplers"]) - 1, "target": target})

    def bytes(self):
        while len(self.buffer) % 4:
            self.buffer.append(0)
        fallback = {"EXT_meshopt_compression": {"fallback": True}}
        self.doc["buffers"] = [{"byteLength": len(self.buffer)},
                               {"byteLength": self.unpacked_bytes, "extensions": fallback}]
        text = json.dumps(self.doc, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        length = 12 + 8 + len(text) + 8 + len(self.buffer)
        return (struct.pack("<III", 0x46546C67, 2, length) + struct.pack("<II", len(text), 0x4E4F534A) + text
                + struct.pack("<II", len(self.buffer), 0x004E4942) + bytes(self.buffer))


def turn(angle):
    return [math.sin(angle / 2), 0.0, 0.0, math.cos(angle / 2)]


def look_at(eye, target):
    """Rotation of a camera node at `eye`."""
    back = np.array(eye) - np.array(target)
    back /= np.linalg.norm(back)
    right = np.cross([0, 1, 0], back)
    right /= np.linalg.norm(right)
    up = np.cross(back, right)
    m = np.stack([right, up, back], 1)
    w = math.sqrt(max(0.0, 1 + m[0, 0] + m[1, 1] + m[2, 2])) / 2
    return [(m[2, 1] - m[1, 2]) / (4 * w), (m[0, 2] - m[2, 0]) / (4 * w), (m[1, 0] - m[0, 1]) / (4 * w), w]


OCCLUDERS = [  # what blocks the sky, in the world
    Occluder(-0.235, -0.122, 0.0, 0.045), Occluder(-0.122, -0.07, 0.0, 0.019), Occluder(-0.045, -0.013, 0.053, 0.066),
    Occluder(0.024, 0.06, 0.012, 0.05), Occluder(0.085, 0.093, 0.0, 0.04), Occluder(0.093, 0.15, 0.0, 0.0085),
    Occluder(0.112, 0.118, 0.045, 0.051), Occluder(0.128, 0.142, 0.012, 0.031), Occluder(0.17, 0.182, 0.045, 0.066),
]


def build():
    glb = Glb()
    turned = glb.texture("turned normals", turned_normals())
    polished = glb.texture("turned roughness", turned_roughness(0.16, 0.42))
    knurl = glb.texture("knurl normals", knurl_normals())
    printed = glb.texture("label", label())
    slots = glb.texture("vent slots", vent_alpha())

    def metal(name, color, roughness=1.0):
        return glb.material(name, color, 1.0, roughness, pbr={"metallicRoughnessTexture": glb.tiled(polished)},
                            normalTexture=glb.tiled(turned, scale=0.8))

    steel = metal("steel", (0.66, 0.66, 0.68))
    brass = metal("brass", (0.87, 0.60, 0.21), 0.85)
    blue = metal("blue anodised", (0.05, 0.17, 0.50))
    copper = glb.material("copper winding", (0.92, 0.42, 0.22), 1.0, 0.38, normalTexture=glb.tiled(turned, scale=2.0))
    knurled = glb.material("knurled steel", (0.50, 0.51, 0.53), 1.0, 0.3, normalTexture=glb.tiled(knurl))
    paint = glb.material("orange paint", (0.86, 0.16, 0.016), 0.0, 0.28)
    charcoal = glb.material("charcoal paint", (0.030, 0.033, 0.038), 0.0, 0.42)
    black = glb.material("black oxide", (0.075, 0.075, 0.08), 1.0, 0.38)
    rubber = glb.material("rubber", (0.018, 0.018, 0.019), 0.0, 0.8)
    sticker = glb.material("label", (1.0, 1.0, 1.0), 0.0, 0.5, pbr={"baseColorTexture": {"index": printed}})
    vent = glb.material("vent", (0.05, 0.053, 0.06), 0.0, 0.45, pbr={"baseColorTexture": glb.tiled(slots)},
                        alphaMode="MASK", alphaCutoff=0.5, doubleSided=True)
    lamp = glb.material("status ring", (0.0, 0.02, 0.02), 0.0, 0.4, emissiveFactor=[0.05, 0.85, 0.55],
                        extensions={"KHR_materials_emissive_strength": {"emissiveStrength": 2.2}})
    glass = glb.material("cover glass", (0.55, 0.80, 0.90), 0.0, 0.04, pbr={"baseColorFactor": [0.55, 0.80, 0.90, 0.2]},
                         alphaMode="BLEND")

    drive = glb.node(name="drive", translation=[0.0, AXIS_Y, 0.0])
    animation = {"name": "run", "samplers": [], "channels": []}

    def place(name, mesh, material, x=0.0, parent=drive, uv=None, baked=True, rotation=None, static=True):
        """A part on a node; the inner scale undoes quantisation."""
        shade = None
        if baked:
            world = mesh.position + [x, AXIS_Y, 0.0]
            shade = np.clip(sky_share(world, mesh.normal, OCCLUDERS) ** 0.8, 0.03, 1.0)
        geometry = glb.geometry(mesh, uv, shade)
        fields = {"name": name, "mesh": glb.mesh(name, geometry, material), "scale": [geometry[2]] * 3}
        if x:
            fields["translation"] = [x, 0.0, 0.0]
        if rotation:
            fields["rotation"] = rotation
        return glb.node(parent, **fields)

    motor(place, charcoal, black, steel, copper, vent, lamp, sticker, rubber)
    gears(glb, drive, animation, place, steel, brass, blue, paint, black)
    output_side(glb, drive, animation, place, steel, knurled, rubber, glass, paint, black)
    stage(glb)
    glb.doc["animations"].append(animation)
    eye, target = (0.315, 0.285, 0.765), (-0.005, 0.047, 0.0)
    glb.doc["cameras"].append({"name": "hero", "type": "perspective",
                               "perspective": {"yfov": math.radians(24), "znear": 0.05, "zfar": 10.0}})
    glb.node(name="hero camera", camera=0, translation=list(eye), rotation=look_at(eye, target))
    return glb.bytes()


def motor(place, charcoal, black, steel, copper, vent, lamp, sticker, rubber):
    can = rounded(ring_profile(-0.205, -0.137, 0.0, 0.043), 0.003)
    place("motor can", lathe(can, 48), charcoal)
    flange = rounded(ring_profile(-0.135, -0.127, 0.006, 0.050), 0.0012)
    place("motor flange", lathe(flange, 48, uv_scale=(8, 30)), steel, uv="tiled")
    place("status ring", lathe(rounded(ring_profile(-0.2015, -0.1985, 0.04, 0.0434), 0.0006, steps=1), 48), lamp, baked=False)
    place("winding", lathe(rounded(ring_profile(-0.222, -0.205, 0.0, 0.0375), 0.004), 36, uv_scale=(2, 60)), copper, uv="tiled")
    band = lathe([(-0.2235, 0.0425), (-0.2055, 0.0425)], 48, closed=False, uv_scale=(14, 1 / 0.018))
    place("vent band", band, vent, uv="tiled")
    place("rear cap", lathe(rounded(ring_profile(-0.232, -0.2235, 0.0, 0.043), 0.003), 48), charcoal)
    # The sticker wraps the side that the camera sees: up is away from the plinth.
    arc = lathe([(-0.19, 0.0432), (-0.1445, 0.0432)], 20, closed=False, arc=math.radians(62), start=math.radians(28))
    u = (arc.position[:, 0] + 0.19) / 0.0455
    v = (np.arctan2(arc.position[:, 2], arc.position[:, 1]) - math.radians(28)) / math.radians(62)
    place("label", Mesh(arc.position, arc.normal, np.stack([u, v], -1), arc.index), sticker, uv="unit")
    place("motor shaft", lathe(rounded([(-0.127, 0.0), (-0.127, 0.0058), (-0.062, 0.0058), (-0.062, 0.0)], 0.001, closed=False), 24, closed=False, uv_scale=(1, 60)), steel, uv="tiled")
    place("cable gland", lathe(rounded([(-0.243, 0.0), (-0.243, 0.009), (-0.232, 0.011), (-0.232, 0.0)], 0.0012, closed=False), 6, closed=False, smooth_deg=10), black)
    place("cable", cable(), rubber)


def cable(radius=0.0046, sides=10, steps=20):
    """From the gland down into the plinth."""
    t = np.linspace(0, 1, steps)
    control = np.array([(-0.24, 0.0, 0.0), (-0.288, 0.0, 0.0), (-0.272, -0.07, 0.006), (-0.262, -AXIS_Y - radius, 0.014)])
    weights = np.stack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t ** 3], -1)
    slopes = np.stack([-3 * (1 - t) ** 2, 3 * (1 - t) ** 2 - 6 * t * (1 - t), 6 * t * (1 - t) - 3 * t * t, 3 * t * t], -1)
    path, along = weights @ control, slopes @ control
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    side = np.cross(along, [0.35, 0.2, 1.0])
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    up = np.cross(along, side)
    angle = np.linspace(0, 2 * math.pi, sides, endpoint=False)
    normal = side[:, None] * np.cos(angle)[None, :, None] + up[:, None] * np.sin(angle)[None, :, None]
    position = path[:, None] + normal * radius
    index = []
    for i in range(steps - 1):
        for j in range(sides):
            a, b = i * sides + j, i * sides + (j + 1) % sides
            index += [a, b, b + sides, a, b + sides, a + sides]
    return faced(Mesh(position, normal, np.zeros((steps * sides, 2)), index))


def gears(glb, drive, animation, place, steel, brass, blue, paint, black):
    pinion = gear(PLANET_TEETH, 0.016, 0.0058, 0.0095)
    shared = glb.geometry(pinion, "tiled")
    size = [shared[2]] * 3
    sun = glb.node(drive, name="sun", translation=[-0.075, 0.0, 0.0])
    glb.node(sun, name="sun gear", mesh=glb.mesh("sun gear", shared, brass), scale=size)
    glb.spin(animation, sun, 4)

    teeth, lip = internal_gear(0.024, 0.064)
    place("ring gear", teeth, steel, -0.03, uv="tiled")
    drum = rounded([(-0.012, lip), (-0.012, 0.067), (-0.0085, 0.067), (-0.0075, 0.0635), (0.0075, 0.0635), (0.0085, 0.067),
                    (0.012, 0.067), (0.012, lip)], 0.0008, closed=False, steps=2)
    place("ring housing", lathe(drum, 64, closed=False), paint, -0.03)

    carrier = glb.node(drive, name="carrier", translation=[0.04, 0.0, 0.0])
    glb.spin(animation, carrier, 1)
    place("carrier plate", carrier_plate(0.006, 0.036, 0.0125, 0.0235), blue, -0.012, parent=carrier, uv="tiled", baked=False)
    planet = glb.mesh("planet gear", shared, steel)
    pin = lathe(rounded([(-0.012, 0.0), (-0.012, 0.0055), (0.0145, 0.0055), (0.0145, 0.0)], 0.0009, closed=False), 20, closed=False)
    pin_geometry = glb.geometry(pin)
    pin_mesh = glb.mesh("pin", pin_geometry, black)
    orbit = MODULE * (SUN_TEETH + PLANET_TEETH) / 2
    for k in range(3):
        angle = 2 * math.pi * k / 3
        at = [0.0, orbit * math.cos(angle), orbit * math.sin(angle)]
        spot = glb.node(carrier, name=f"planet {k + 1}", translation=at)
        glb.node(spot, name=f"planet gear {k + 1}", mesh=planet, scale=size)
        # In mesh with the sun: half a tooth off towards it. Over the carrier's turn the ring makes it turn back 3 times.
        glb.spin(animation, spot, -3, start=math.pi / PLANET_TEETH)
        glb.node(carrier, name=f"pin {k + 1}", mesh=pin_mesh, translation=at, scale=[pin_geometry[2]] * 3)


def output_side(glb, drive, animation, place, steel, knurled, rubber, glass, paint, black):
    output = glb.node(drive, name="output", translation=[0.089, 0.0, 0.0])
    glb.spin(animation, output, 1)
    place("output plate", carrier_plate(0.006, 0.036, 0.0125, 0.009), steel, 0.0, parent=output, uv="tiled", baked=False)
    shaft = rounded([(-0.003, 0.0), (-0.003, 0.0095), (0.012, 0.0095), (0.014, 0.008), (0.058, 0.008), (0.058, 0.0)], 0.0011, closed=False)
    place("output shaft", lathe(shaft, 28, closed=False, uv_scale=(1, 60)), steel, 0.0, parent=output, uv="tiled", baked=False)
    key = polygon_wall([(0.0102, 0.0018), (0.0070, 0.0018), (0.0070, -0.0018), (0.0102, -0.0018)][::-1], 0.034, 0.056, 0.0004)[0]
    ends = cap([(0.0098, 0.0014), (0.0074, 0.0014), (0.0074, -0.0014), (0.0098, -0.0014)][::-1], [(0.0086, 0.0)] * 4, 0.056, 1)
    place("shaft key", joined(key, ends), black, 0.0, parent=output, baked=False)

    place("seal", torus(0.048, 0.0032, 48, 10), rubber, 0.115)
    bearing(glb, drive, place, steel, black)

    bezel = rounded([(-0.006, 0.046), (-0.006, 0.067), (0.006, 0.067), (0.006, 0.050), (0.002, 0.046)], 0.001, steps=2)
    place("cover", lathe(bezel, 64), paint, 0.186)
    place("grip", lathe([(-0.004, 0.0669), (-0.0035, 0.0677), (0.0035, 0.0677), (0.004, 0.0669)], 72, closed=False, uv_scale=(60, 150)), knurled, 0.186, uv="tiled")
    place("cover glass", lathe(rounded(ring_profile(-0.001, 0.001, 0.0135, 0.0462), 0.0003, steps=1), 40), glass, 0.187, baked=False)
    hub = rounded(ring_profile(-0.005, 0.005, 0.0095, 0.0145), 0.001)
    place("cover hub", lathe(hub, 32, uv_scale=(4, 40)), steel, 0.187, uv="tiled")

    bolt = glb.geometry(screw(0.0042, 0.0042, 0.0023, 0.022))
    angles = [2 * math.pi * (k + 0.5) / 6 for k in range(6)]
    at = np.array([(0.222, 0.0585 * math.cos(a), 0.0585 * math.sin(a)) for a in angles], np.float32)
    instances = {"TRANSLATION": glb.accessor(at, 5126, "VEC3"),
                 "ROTATION": glb.accessor(np.array([turn(0.7 * k) for k in range(6)], np.float32), 5126, "VEC4"),
                 "SCALE": glb.accessor(np.full((6, 3), bolt[2], np.float32), 5126, "VEC3")}
    glb.node(drive, name="screws", mesh=glb.mesh("screw", bolt, black),
             extensions={"EXT_mesh_gpu_instancing": {"attributes": instances}})


def bearing(glb, drive, place, steel, black):
    outer = rounded(ring_profile(-0.0055, 0.0055, 0.0255, 0.031), 0.0008, steps=2)
    inner = rounded(ring_profile(-0.0055, 0.0055, 0.0125, 0.017), 0.0008, steps=2)
    races = joined(lathe(outer, 36, uv_scale=(6, 40)), lathe(inner, 28, uv_scale=(4, 40)))
    place("bearing races", races, steel, 0.152, uv="tiled")
    shield = lathe(rounded(ring_profile(-0.0012, 0.0012, 0.0178, 0.0247), 0.0004, steps=1), 32)
    place("bearing cage", shield, black, 0.152)
    ball = glb.geometry(sphere(0.0041, 12, 7))
    angles = [2 * math.pi * k / 10 for k in range(10)]
    at = np.array([(0.152, 0.02125 * math.cos(a), 0.02125 * math.sin(a)) for a in angles], np.float32)
    bright = glb.material("ball", (0.8, 0.8, 0.82), 1.0, 0.12)
    instances = {"TRANSLATION": glb.accessor(at, 5126, "VEC3"),
                 "SCALE": glb.accessor(np.full((10, 3), ball[2], np.float32), 5126, "VEC3")}
    glb.node(drive, name="balls", mesh=glb.mesh("ball", ball, bright),
             extensions={"EXT_mesh_gpu_instancing": {"attributes": instances}})


def stage(glb, half_length=0.2, radius=0.092, height=0.012):
    """The plinth, with the drive's soft shadow in its texture."""
    columns, rows = 160, 52
    full = half_length + radius
    x = ((np.arange(columns) + 0.5) / columns - 0.5) * 2 * full
    z = ((np.arange(rows) + 0.5) / rows - 0.5) * 2 * radius
    gx, gz = np.meshgrid(x, z)
    position = np.stack([gx, 0 * gx, gz], -1).reshape(-1, 3)
    normal = np.tile([0.0, 1.0, 0.0], (len(position), 1))
    share = sky_share(position, normal, OCCLUDERS, floor=False).reshape(rows, columns)
    for axis in (0, 1):  # a little blur takes the sampling noise off
        padded = np.pad(share, [(1, 1) if a == axis else (0, 0) for a in (0, 1)], "edge")
        share = sum(w * np.take(padded, range(k, k + share.shape[axis]), axis) for k, w in ((0, 0.25), (1, 0.5), (2, 0.25)))
    shadow = glb.texture("plinth shadow", 255 * np.clip(share, 0, 1) ** (1 / 2.2))
    satin = glb.material("plinth", (0.62, 0.63, 0.64), 0.0, 0.5, pbr={"baseColorTexture": {"index": shadow}})
    geometry = glb.geometry(plinth(half_length, radius, height), "unit")
    glb.node(name="plinth", mesh=glb.mesh("plinth", geometry, satin), scale=[geometry[2]] * 3)


if __name__ == "__main__":
    # The stream versions that EXT_meshopt_compression has.
    meshoptimizer.encode_vertex_version(0)
    meshoptimizer.encode_index_version(1)
    out = sys.argv[1] if len(sys.argv) > 1 else "demo.glb"
    data = build()
    with open(out, "wb") as file:
        file.write(data)
    print(f"{out}: {len(data)} bytes")
