#!/usr/bin/env python3
"""Makes the scenes of the goldens: one small .gltf per feature, from numbers alone.

    python3 goldens/scenes.py            writes goldens/<case>/scene.gltf
    python3 goldens/scenes.py --check    exits with 1 where a file is not what this script writes

Needs Python 3 only. Numbers are rounded before they are written, so that every machine writes the same bytes.
"""

import base64
import json
import math
import pathlib
import struct
import sys
import zlib

HERE = pathlib.Path(__file__).parent
UNSIGNED_BYTE, UNSIGNED_SHORT, FLOAT = 5121, 5123, 5126
FORMATS = {UNSIGNED_BYTE: "B", UNSIGNED_SHORT: "H", FLOAT: "f"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


class Gltf:
    """A document in the making, with one buffer."""

    def __init__(self):
        self.buffer = bytearray()
        self.doc = {"asset": {"version": "2.0", "generator": "isoframe goldens/scenes.py"}, "scene": 0,
                    "scenes": [{"nodes": []}]}

    def add(self, kind, **fields):
        entries = self.doc.setdefault(kind, [])
        entries.append(fields)
        return len(entries) - 1

    def use(self, *extensions):
        self.doc["extensionsUsed"] = sorted({*self.doc.get("extensionsUsed", []), *extensions})

    def view(self, data):
        while len(self.buffer) % 4:
            self.buffer.append(0)
        index = self.add("bufferViews", buffer=0, byteOffset=len(self.buffer), byteLength=len(data))
        self.buffer += data
        return index

    def accessor(self, values, kind, component=FLOAT, bounds=False, **extra):
        flat = [v for row in values for v in (row if isinstance(row, (list, tuple)) else (row,))]
        if component == FLOAT:
            flat = [round(v, 6) + 0.0 for v in flat]
        data = struct.pack(f"<{len(flat)}{FORMATS[component]}", *flat)
        width = WIDTHS[kind]
        if bounds:
            columns = [struct.unpack(f"<{len(flat)}f", data)[k::width] for k in range(width)]
            extra.update(min=[min(c) for c in columns], max=[max(c) for c in columns])
        return self.add("accessors", bufferView=self.view(data), componentType=component, count=len(flat) // width,
                        type=kind, **extra)

    def primitive(self, positions, indices=None, normals=None, uvs=None, colors=None, material=None, **extra):
        attributes = {"POSITION": self.accessor(positions, "VEC3", bounds=True)}
        if normals:
            attributes["NORMAL"] = self.accessor(normals, "VEC3")
        if uvs:
            attributes["TEXCOORD_0"] = self.accessor(uvs, "VEC2")
        if colors:
            attributes["COLOR_0"] = self.accessor(colors, "VEC4")
        attributes.update(extra.pop("attributes", {}))
        primitive = {"attributes": attributes, **extra}
        if indices is not None:
            primitive["indices"] = self.accessor(indices, "SCALAR", UNSIGNED_SHORT)
        if material is not None:
            primitive["material"] = material
        return primitive

    def mesh(self, *primitives, **extra):
        return self.add("meshes", primitives=list(primitives), **extra)

    def node(self, parent=None, **fields):
        index = self.add("nodes", **fields)
        owner = self.doc["scenes"][0]["nodes"] if parent is None else self.doc["nodes"][parent].setdefault("children", [])
        owner.append(index)
        return index

    def material(self, color=(0.8, 0.8, 0.8, 1.0), metallic=0.0, roughness=0.6, **extra):
        pbr = {"baseColorFactor": list(color), "metallicFactor": metallic, "roughnessFactor": roughness}
        pbr.update(extra.pop("pbr", {}))
        return self.add("materials", pbrMetallicRoughness=pbr, **extra)

    def texture(self, pixels, **sampler):
        image = self.add("images", bufferView=self.view(png(pixels)), mimeType="image/png")
        return self.add("textures", source=image, sampler=self.add("samplers", **sampler))

    def light(self, node_fields, **fields):
        self.use("KHR_lights_punctual")
        lights = self.doc.setdefault("extensions", {}).setdefault("KHR_lights_punctual", {}).setdefault("lights", [])
        lights.append(fields)
        return self.node(**node_fields, extensions={"KHR_lights_punctual": {"light": len(lights) - 1}})

    def camera(self, eye, target, yfov_deg=40.0):
        camera = self.add("cameras", type="perspective", perspective={"yfov": round(math.radians(yfov_deg), 6), "znear": 0.1})
        return self.node(name="camera", camera=camera, translation=list(eye), rotation=look_at(eye, target))

    def animate(self, node, path, times, values, interpolation="LINEAR"):
        animation = self.doc.setdefault("animations", [{"name": "move", "samplers": [], "channels": []}])[0]
        kind = {"rotation": "VEC4", "weights": "SCALAR"}.get(path, "VEC3")
        animation["samplers"].append({"input": self.accessor(times, "SCALAR", bounds=True),
                                      "output": self.accessor(values, kind), "interpolation": interpolation})
        animation["channels"].append({"sampler": len(animation["samplers"]) - 1, "target": {"node": node, "path": path}})

    def text(self):
        uri = "data:application/octet-stream;base64," + base64.b64encode(bytes(self.buffer)).decode()
        self.doc["buffers"] = [{"byteLength": len(self.buffer), "uri": uri}]
        return json.dumps(self.doc, indent=1) + "\n"


def png(pixels):
    """8-bit PNG of rows of (r, g, b) or (r, g, b, a)."""
    channels = len(pixels[0][0])
    raw = b"".join(b"\0" + bytes(v for pixel in row for v in pixel) for row in pixels)

    def chunk(tag, data):
        return struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))

    header = struct.pack(">IIBBBBB", len(pixels[0]), len(pixels), 8, {3: 2, 4: 6}[channels], 0, 0, 0)
    # Stored, not compressed: zlib versions differ in their output.
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw, 0)) + chunk(b"IEND", b"")


def look_at(eye, target):
    """Rotation (x, y, z, w) of a camera at `eye`, +Y up."""
    def unit(v):
        length = math.sqrt(sum(c * c for c in v))
        return [c / length for c in v]

    def cross(a, b):
        return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]

    z = unit([e - t for e, t in zip(eye, target)])
    x = unit(cross([0, 1, 0], z))
    y = cross(z, x)
    w = math.sqrt(max(1 + x[0] + y[1] + z[2], 1e-12)) / 2
    return [round(v, 6) + 0.0 for v in ((y[2] - z[1]) / (4 * w), (z[0] - x[2]) / (4 * w), (x[1] - y[0]) / (4 * w), w)]


def quad(half=1.0, z=0.0):
    """Corners, normals, texture coordinates and indices of a square that faces +Z."""
    p = [(-half, -half, z), (half, -half, z), (half, half, z), (-half, half, z)]
    return p, [(0, 0, 1)] * 4, [(0, 1), (1, 1), (1, 0), (0, 0)], [0, 1, 2, 0, 2, 3]


def floor(half=4.0):
    p = [(-half, 0, half), (half, 0, half), (half, 0, -half), (-half, 0, -half)]
    return p, [(0, 1, 0)] * 4, [(0, 1), (1, 1), (1, 0), (0, 0)], [0, 1, 2, 0, 2, 3]


def sphere(radius=1.0, segments=16, rings=10):
    p, n, t, i = [], [], [], []
    for r in range(rings + 1):
        for s in range(segments + 1):
            a, b = math.pi * r / rings, 2 * math.pi * s / segments
            d = (math.sin(a) * math.sin(b), math.cos(a), math.sin(a) * math.cos(b))
            n.append(d)
            p.append(tuple(radius * c for c in d))
            t.append((s / segments, r / rings))
    row = segments + 1
    for r in range(rings):
        for s in range(segments):
            a, b = r * row + s, (r + 1) * row + s
            i += [a, b, b + 1, a, b + 1, a + 1]
    return p, n, t, i


def box(half=(1, 1, 1)):
    p, n, i = [], [], []
    for axis in range(3):
        for side in (-1, 1):
            u, v = (axis + 1) % 3, (axis + 2) % 3
            normal = [0, 0, 0]
            normal[axis] = side
            base = len(p)
            for du, dv in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
                corner = [0, 0, 0]
                corner[axis], corner[u], corner[v] = side * half[axis], du * half[u], dv * half[v]
                p.append(tuple(corner))
                n.append(tuple(normal))
            i += [base + k for k in ((0, 1, 2, 0, 2, 3) if side > 0 else (0, 2, 1, 0, 3, 2))]
    return p, n, i


def turn(axis, angle):
    s = math.sin(angle / 2)
    return [axis[0] * s, axis[1] * s, axis[2] * s, math.cos(angle / 2)]


def checker(side, cell, a, b):
    return [[a if (x // cell + y // cell) % 2 == 0 else b for x in range(side)] for y in range(side)]


# ---------------------------------------------------------------- the cases

def materials():
    """Five spheres from metal to plastic, rough to smooth, one emissive."""
    g = Gltf()
    p, n, _, i = sphere(0.42)
    for k, (color, metallic, roughness, extra) in enumerate([
        ((0.95, 0.64, 0.54, 1), 1.0, 0.1, {}), ((0.9, 0.9, 0.9, 1), 1.0, 0.6, {}), ((0.05, 0.2, 0.7, 1), 0.0, 0.05, {}),
        ((0.7, 0.1, 0.05, 1), 0.0, 1.0, {}),
        ((0, 0, 0, 1), 0.0, 0.5, {"emissiveFactor": [0.1, 0.8, 0.3],
                                  "extensions": {"KHR_materials_emissive_strength": {"emissiveStrength": 3.0}}}),
    ]):
        mesh = g.mesh(g.primitive(p, i, n, material=g.material(color, metallic, roughness, **extra)))
        g.node(mesh=mesh, translation=[k - 2.0, 0, 0])
    g.use("KHR_materials_emissive_strength")
    g.camera((0, 0.5, 4.2), (0, 0, 0), 28)
    return g


def alpha():
    """OPAQUE with alpha 0, MASK at the cutoff, and three BLEND layers over a far wall."""
    g = Gltf()
    p, n, t, i = quad(0.8)
    wall = quad(3.0)
    g.node(mesh=g.mesh(g.primitive(wall[0], wall[3], wall[1], material=g.material((0.2, 0.5, 0.8, 1)))), translation=[0, 0, -2])
    stripes = [[(255, 200, 80, a) for a in (102, 127, 128, 153, 0, 255, 128, 64)] for _ in range(8)]
    texture = g.texture(stripes, magFilter=9728, minFilter=9728)
    masked = g.material((1, 1, 1, 1), pbr={"baseColorTexture": {"index": texture}}, alphaMode="MASK")
    g.node(mesh=g.mesh(g.primitive(p, i, n, t, material=masked)), translation=[-1.1, 0.9, 0])
    g.node(mesh=g.mesh(g.primitive(p, i, n, t, material=g.material((0.9, 0.1, 0.1, 0.0)))), translation=[1.1, 0.9, 0])
    for k, color in enumerate([(1, 0, 0, 0.5), (0, 1, 0, 0.5), (0, 0, 1, 0.5)]):
        sheet = g.material(color, alphaMode="BLEND", doubleSided=k == 1)
        g.node(mesh=g.mesh(g.primitive(p, i, n, material=sheet)), translation=[0.5 * k - 0.5, -0.9, 0.3 * (k % 2)])
    g.camera((0.3, 0.2, 5), (0, 0, 0))
    return g


def textures():
    """Wrap modes, filters, mip levels towards the horizon, a texture transform and the second UV set."""
    g = Gltf()
    p, n, t, i = floor(20.0)
    tiles = g.texture(checker(64, 8, (230, 230, 230), (40, 60, 90)), magFilter=9729, minFilter=9987)
    ground = g.material((1, 1, 1, 1), pbr={"baseColorTexture": {"index": tiles}})
    g.node(mesh=g.mesh(g.primitive(p, i, n, [(u * 20, v * 20) for u, v in t], material=ground)), translation=[0, -1, 0])
    four = [[(255, 0, 0), (0, 255, 0)], [(0, 0, 255), (255, 255, 0)]]
    q = quad(0.45)
    for k, (wrap_u, wrap_v, mag) in enumerate([(10497, 10497, 9728), (33071, 33648, 9729), (33648, 33071, 9728)]):
        texture = g.texture(four, magFilter=mag, minFilter=mag, wrapS=wrap_u, wrapT=wrap_v)
        material = g.material((1, 1, 1, 1), pbr={"baseColorTexture": {"index": texture}})
        uvs = [(3 * u - 1, 3 * v - 1) for u, v in q[2]]
        g.node(mesh=g.mesh(g.primitive(q[0], q[3], q[1], uvs, material=material)), translation=[k * 1.1 - 1.65, 0, 0])
    g.use("KHR_texture_transform")
    turned = {"offset": [0.25, 0.1], "rotation": 0.6, "scale": [1.5, 0.75], "texCoord": 1}
    texture = g.texture(four, magFilter=9729, minFilter=9729)
    material = g.material((1, 1, 1, 1), pbr={"baseColorTexture": {"index": texture, "extensions": {"KHR_texture_transform": turned}}})
    second = {"TEXCOORD_1": g.accessor([(u * 2, v) for u, v in q[2]], "VEC2")}
    g.node(mesh=g.mesh(g.primitive(q[0], q[3], q[1], q[2], material=material, attributes=second)), translation=[1.65, 0, 0])
    g.camera((0, 0.4, 3.6), (0, -0.1, 0), 45)
    return g


def bumps():
    """Normal and occlusion maps, with tangents made by the loader, on a mirrored UV seam."""
    g = Gltf()

    def pixel(x, y):
        dx, dy = math.cos(x * math.pi / 4) * 0.6, math.cos(y * math.pi / 4) * 0.6
        length = math.sqrt(dx * dx + dy * dy + 1)
        return tuple(int(round((c / length) * 127.5 + 127.5)) for c in (dx, dy, 1.0))

    normals = g.texture([[pixel(x, y) for x in range(16)] for y in range(16)], magFilter=9729, minFilter=9987)
    dark = g.texture([[(255 - 12 * abs(x - 8), 160, 200) for x in range(16)] for _ in range(16)], magFilter=9729, minFilter=9987)
    material = g.material((0.8, 0.75, 0.7, 1), 1.0, 1.0, pbr={"metallicRoughnessTexture": {"index": dark}},
                          normalTexture={"index": normals, "scale": 0.7}, occlusionTexture={"index": dark, "strength": 0.8})
    p, n, t, i = sphere(1.0, 24, 16)
    mirrored = [(2 * u if u < 0.5 else 2 - 2 * u, v) for u, v in t]
    g.node(mesh=g.mesh(g.primitive(p, i, n, mirrored, material=material)))
    g.camera((1.2, 0.8, 3), (0, 0, 0))
    return g


def lights():
    """A directional, a point and a spot light, each with a colour; no environment."""
    g = Gltf()
    p, n, _, i = floor(3.0)
    g.node(mesh=g.mesh(g.primitive(p, i, n, material=g.material((0.7, 0.7, 0.7, 1), 0.0, 0.5))))
    p, n, _, i = sphere(0.5)
    ball = g.mesh(g.primitive(p, i, n, material=g.material((0.8, 0.8, 0.8, 1), 0.0, 0.3)))
    g.node(mesh=ball, translation=[-0.8, 0.5, 0])
    g.node(mesh=ball, translation=[0.9, 0.7, -0.5], scale=[0.7, 1.4, 0.7])
    g.light({"rotation": [round(v, 6) for v in turn((1, 0, 0), -1.0)]}, type="directional", color=[1, 0.9, 0.8], intensity=1.2)
    g.light({"translation": [0, 1.2, 1]}, type="point", color=[0.3, 0.5, 1], intensity=4.0, range=4.0)
    g.light({"translation": [1.5, 3, 0.5], "rotation": [round(v, 6) for v in turn((1, 0, 0), -math.pi / 2)]}, type="spot",
            color=[1, 0.2, 0.1], intensity=12.0, spot={"innerConeAngle": 0.2, "outerConeAngle": 0.45})
    g.camera((0, 2.2, 5), (0, 0.5, 0))
    return g


def skin():
    """A strip of two joints, bending; the mesh node's own transform must not count."""
    g = Gltf()
    material = g.material((0.3, 0.7, 0.4, 1), doubleSided=True)
    rows = 9
    p = [(x, y * 2.0 / (rows - 1), 0) for y in range(rows) for x in (-0.25, 0.25)]
    i = [v for y in range(rows - 1) for v in (2 * y, 2 * y + 1, 2 * y + 3, 2 * y, 2 * y + 3, 2 * y + 2)]
    upper = [min(max((y * 2.0 / (rows - 1) - 0.5), 0.0), 1.0) for y in range(rows) for _ in (0, 1)]
    attributes = {
        "JOINTS_0": g.accessor([(0, 1, 0, 0)] * len(p), "VEC4", UNSIGNED_BYTE),
        "WEIGHTS_0": g.accessor([(1 - w, w, 0, 0) for w in upper], "VEC4"),
    }
    mesh = g.mesh(g.primitive(p, i, [(0, 0, 1)] * len(p), material=material, attributes=attributes))
    base = g.node(name="base")
    tip = g.node(base, name="tip", translation=[0, 1, 0])
    identity = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
    down = identity[:12] + [0, -1, 0, 1]
    inverse = g.accessor([identity, down], "MAT4")
    skin_index = g.add("skins", joints=[base, tip], inverseBindMatrices=inverse)
    g.node(mesh=mesh, skin=skin_index, translation=[7, 7, 7])
    g.animate(tip, "rotation", [0, 1], [turn((0, 0, 1), 0), turn((0, 0, 1), 1.2)])
    g.camera((0, 1, 4), (0, 1, 0))
    return g


def morph():
    """Two targets; node weights over mesh weights; weights that move along a cubic spline."""
    g = Gltf()
    p, n, i = box((0.4, 0.4, 0.4))
    taller = [(0, 0.6, 0) if y > 0 else (0, 0, 0) for _, y, _ in p]
    sheared = [(0.5 * y, 0, 0) for _, y, _ in p]
    primitive = g.primitive(p, i, n, material=g.material((0.8, 0.5, 0.2, 1)))
    primitive["targets"] = [{"POSITION": g.accessor(taller, "VEC3", bounds=True)}, {"POSITION": g.accessor(sheared, "VEC3", bounds=True)}]
    mesh = g.mesh(primitive, weights=[1, 0])
    g.node(mesh=mesh, translation=[-1.2, 0, 0])
    g.node(mesh=mesh, translation=[0, 0, 0], weights=[0, 1])
    moving = g.node(mesh=mesh, translation=[1.2, 0, 0])
    keys = [0, 0, 0, 0, 1, 1, 1, 1, 1, 0.5, 0, 0]  # in-tangents, values, out-tangents of two keys with two weights
    g.animate(moving, "weights", [0, 1], keys, "CUBICSPLINE")
    g.camera((0.6, 0.8, 4.5), (0, 0.1, 0))
    return g


def nodes():
    """Mirrored, doubly mirrored, flattened and hidden nodes, a step animation, and instances."""
    g = Gltf()
    g.use("KHR_node_visibility", "EXT_mesh_gpu_instancing")
    wedge_p = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 0.6), (1, 0, 0.6), (0, 1, 0.6)]
    wedge_i = [0, 2, 1, 3, 4, 5, 0, 1, 4, 0, 4, 3, 1, 2, 5, 1, 5, 4, 2, 0, 3, 2, 3, 5]
    mesh = g.mesh(g.primitive(wedge_p, wedge_i, material=g.material((0.7, 0.3, 0.6, 1))))
    g.node(mesh=mesh, translation=[-2, 0.3, 0])
    g.node(mesh=mesh, translation=[-0.4, 0.3, 0], scale=[-1, 1, 1])
    parent = g.node(translation=[1, 0.3, 0], scale=[-1, 1, 1])
    g.node(parent, mesh=mesh, scale=[1, -1, 1], translation=[0, 1, 0])
    g.node(mesh=mesh, translation=[2, 0.3, 0], scale=[0.6, 1, 0])
    hidden = g.node(mesh=mesh, extensions={"KHR_node_visibility": {"visible": False}})
    g.node(hidden, mesh=mesh, translation=[0, 2, 0])
    stepping = g.node(mesh=mesh, translation=[0, -1.2, 0], scale=[0.5, 0.5, 0.5])
    g.animate(stepping, "translation", [0, 0.5, 1], [(-2, -1.2, 0), (-1.2, -1.2, 0), (0, -1.2, 0)], "STEP")
    at = {"TRANSLATION": g.accessor([(0.7 + 0.5 * k, -1.2, 0) for k in range(4)], "VEC3"),
          "ROTATION": g.accessor([turn((0, 1, 0), 0.6 * k) for k in range(4)], "VEC4"),
          "SCALE": g.accessor([(0.4, 0.3 + 0.2 * k, 0.4) for k in range(4)], "VEC3")}
    g.node(mesh=mesh, extensions={"EXT_mesh_gpu_instancing": {"attributes": at}})
    g.camera((0, 0.4, 6), (0, 0, 0))
    return g


def clipping():
    """A closed box around the camera and triangles through the near plane: no pixel may show the background."""
    g = Gltf()
    p, n, i = box((2, 1.5, 2))
    inside = [v for k in range(0, len(i), 3) for v in (i[k], i[k + 2], i[k + 1])]
    colors = [(0.5 + 0.2 * x, 0.5 + 0.25 * y, 0.5 + 0.2 * z, 1) for x, y, z in p]
    g.node(mesh=g.mesh(g.primitive(p, inside, [tuple(-c for c in v) for v in n], colors=colors, material=g.material((1, 1, 1, 1), 0.0, 1.0))))
    blade = [(-1.5, -1.2, 3), (1.6, -1.1, 3), (0.2, -0.4, -1.8)]
    g.node(mesh=g.mesh(g.primitive(blade, [0, 1, 2], [(0, 1, 0)] * 3, material=g.material((0.9, 0.6, 0.1, 1), doubleSided=True))))
    g.camera((0.1, 0.05, 0.3), (-0.4, -0.2, -1), 90)
    return g


def edges():
    """Slivers and fans of thin triangles: what coverage samples are for."""
    g = Gltf()
    p, i, c = [(0, 0, 0)], [], [(1, 1, 1, 1)]
    count = 36
    for k in range(count):
        a = 2 * math.pi * k / count
        width = 0.006 + 0.0022 * k
        base = len(p)
        p += [(math.cos(a - width), math.sin(a - width), 0), (math.cos(a + width), math.sin(a + width), 0)]
        shade = (0.2 + 0.8 * k / count, 0.3, 1 - 0.8 * k / count, 1)
        c += [shade, shade]
        i += [0, base, base + 1]
    g.use("KHR_materials_unlit")
    flat = g.material((1, 1, 1, 1), doubleSided=True, extensions={"KHR_materials_unlit": {}})
    g.node(mesh=g.mesh(g.primitive(p, i, colors=c, material=flat)))
    g.camera((0, 0, 3), (0, 0, 0), 42)
    return g


def points_and_lines():
    """POINTS, LINES, LINE_STRIP and LINE_LOOP, a strip and a fan, with vertex colours and no normals."""
    g = Gltf()
    g.use("KHR_materials_unlit")
    flat = g.material((1, 1, 1, 1), extensions={"KHR_materials_unlit": {}}, doubleSided=True)
    shape = [(math.cos(k * 1.1) * 0.4, math.sin(k * 1.7) * 0.4, 0) for k in range(8)]
    colors = [((k % 3) / 2, (k % 2), 1 - k / 8, 1) for k in range(8)]
    for k, mode in enumerate([0, 1, 3, 2]):
        g.node(mesh=g.mesh(g.primitive(shape, colors=colors, material=flat, mode=mode)), translation=[k - 1.5, 0.5, 0])
    strip = [(0.2 * k - 0.7, 0.2 * (k % 2), 0) for k in range(8)]
    g.node(mesh=g.mesh(g.primitive(strip, colors=colors, material=flat, mode=5)), translation=[-0.9, -0.6, 0])
    fan = [(0, 0, 0)] + [(0.4 * math.cos(k * 0.9), 0.4 * math.sin(k * 0.9), 0) for k in range(7)]
    g.node(mesh=g.mesh(g.primitive(fan, colors=colors, material=flat, mode=6)), translation=[0.9, -0.5, 0])
    g.camera((0, 0, 3.4), (0, 0, 0))
    return g


def variants():
    """KHR_materials_variants: one shape, three colourways; the request names one."""
    g = Gltf()
    g.use("KHR_materials_variants")
    g.doc["extensions"] = {"KHR_materials_variants": {"variants": [{"name": "sand"}, {"name": "sea"}]}}
    plain, sand, sea = (g.material(c, 0.0, 0.4) for c in ((0.5, 0.5, 0.5, 1), (0.8, 0.6, 0.3, 1), (0.05, 0.3, 0.5, 1)))
    p, n, _, i = sphere(0.9, 20, 12)
    mappings = [{"material": sand, "variants": [0]}, {"material": sea, "variants": [1]}]
    g.node(mesh=g.mesh(g.primitive(p, i, n, material=plain, extensions={"KHR_materials_variants": {"mappings": mappings}})))
    g.camera((0, 0.5, 3.2), (0, 0, 0))
    return g


def ties():
    """Coplanar surfaces of different colour, opaque and blended: the order is a rule, not luck."""
    g = Gltf()
    p, n, _, i = quad(0.6)
    for k, color in enumerate([(1, 0.2, 0.2, 1), (0.2, 1, 0.2, 1), (0.2, 0.2, 1, 1)]):
        g.node(mesh=g.mesh(g.primitive(p, i, n, material=g.material(color))), translation=[0.3 * k - 1.3, 0.3 * k - 0.3, 0])
        sheet = g.material((*color[:3], 0.6), alphaMode="BLEND")
        g.node(mesh=g.mesh(g.primitive(p, i, n, material=sheet)), translation=[0.3 * k + 0.7, 0.3 * k - 0.3, 0])
    g.camera((0, 0, 4.2), (0, 0, 0))
    return g


def shadows():
    """Hard shadows of a sun, a point and a spot light: of a box, of a sheet cut out by its alpha, of thin blended glass."""
    g = Gltf()
    p, n, _, i = floor(3.0)
    g.node(mesh=g.mesh(g.primitive(p, i, n, material=g.material((0.7, 0.7, 0.7, 1), 0.0, 0.6))))
    p, n, i = box((0.3, 0.5, 0.3))
    g.node(mesh=g.mesh(g.primitive(p, i, n, material=g.material((0.8, 0.4, 0.2, 1)))), translation=[-1.2, 0.5, 0.2],
           rotation=[round(v, 6) for v in turn((0, 1, 0), 0.6)])
    holes = g.texture(checker(16, 2, (60, 160, 60, 255), (0, 0, 0, 0)))
    leaf = g.material((1, 1, 1, 1), alphaMode="MASK", doubleSided=True)
    g.doc["materials"][leaf]["pbrMetallicRoughness"]["baseColorTexture"] = {"index": holes}
    p, n, t, i = quad(0.6)
    g.node(mesh=g.mesh(g.primitive(p, i, n, t, material=leaf)), translation=[0.2, 0.7, -0.2],
           rotation=[round(v, 6) for v in turn((1, 0, 0), -0.7)])
    for k, alpha in enumerate((0.3, 0.7)):
        pane = g.material((0.3, 0.5, 0.9, alpha), alphaMode="BLEND", doubleSided=True)
        g.node(mesh=g.mesh(g.primitive(*[quad(0.4)[c] for c in (0, 3, 1)], material=pane)),
               translation=[1.0 + 0.7 * k, 0.45, 0.4 - 0.7 * k])
    g.light({"rotation": [round(v, 6) for v in turn((1, 0, 0), -1.0)]}, type="directional", color=[1, 0.9, 0.8], intensity=1.5)
    g.light({"translation": [-2.4, 1.6, 1.4]}, type="point", color=[0.4, 0.6, 1], intensity=5.0)
    g.light({"translation": [1.5, 3, 1.5], "rotation": [round(v, 6) for v in turn((1, 0, 0), -1.1)]}, type="spot",
            color=[1, 0.3, 0.2], intensity=12.0, spot={"innerConeAngle": 0.3, "outerConeAngle": 0.5})
    g.camera((0.4, 2.4, 4.6), (0.2, 0.4, 0))
    return g


def traced_room():
    """A room lit by a lamp in its ceiling and by what comes back from its walls; a metal ball, a glass ball, a pane."""
    g = Gltf()
    g.use("KHR_materials_emissive_strength", "KHR_materials_transmission", "KHR_materials_volume", "KHR_materials_ior")
    white, red, green = (g.material((*c, 1), 0.0, 0.9, doubleSided=True)
                         for c in ((0.75, 0.75, 0.75), (0.7, 0.15, 0.1), (0.2, 0.6, 0.15)))
    lamp = g.material((0, 0, 0, 1), emissiveFactor=[1, 0.9, 0.75],
                      extensions={"KHR_materials_emissive_strength": {"emissiveStrength": 12}})
    metal = g.material((0.95, 0.8, 0.5, 1), 1.0, 0.25)
    glass = g.material((1, 1, 1, 1), 0.0, 0.0, extensions={
        "KHR_materials_transmission": {"transmissionFactor": 1}, "KHR_materials_ior": {"ior": 1.5},
        "KHR_materials_volume": {"thicknessFactor": 0.5, "attenuationColor": [0.5, 0.8, 1], "attenuationDistance": 0.5}})
    pane = g.material((0.9, 0.5, 0.2, 0.35), 0.0, 0.3, alphaMode="BLEND", doubleSided=True)

    def wall(size, material, **place):
        p, n, _, i = quad(size)
        g.node(mesh=g.mesh(g.primitive(p, i, n, material=material)), **place)

    def turned(axis, angle):
        return [round(v, 6) for v in turn(axis, angle)]

    quarter = math.pi / 2
    wall(1, white, translation=[0, 0, -1])
    wall(1, white, translation=[0, -1, 0], rotation=turned((1, 0, 0), -quarter))
    wall(1, white, translation=[0, 1, 0], rotation=turned((1, 0, 0), quarter))
    wall(1, red, translation=[-1, 0, 0], rotation=turned((0, 1, 0), quarter))
    wall(1, green, translation=[1, 0, 0], rotation=turned((0, 1, 0), -quarter))
    wall(0.25, lamp, translation=[0, 0.99, 0], rotation=turned((1, 0, 0), quarter))
    p, n, _, i = sphere(0.35)
    g.node(mesh=g.mesh(g.primitive(p, i, n, material=metal)), translation=[-0.45, -0.65, -0.35])
    g.node(mesh=g.mesh(g.primitive(p, i, n, material=glass)), translation=[0.4, -0.65, 0.1])
    wall(0.3, pane, translation=[-0.1, 0.1, 0.5], rotation=turned((0, 1, 0), 0.5))
    g.camera((0, 0, 3.6), (0, 0, 0), 38.0)
    return g


def lobes():
    """A ball for each material extension, in front of a checkered wall."""
    g = Gltf()
    extensions = [
        {"KHR_materials_clearcoat": {"clearcoatFactor": 1, "clearcoatRoughnessFactor": 0.1}},
        {"KHR_materials_sheen": {"sheenColorFactor": [0.9, 0.6, 0.8], "sheenRoughnessFactor": 0.4}},
        {"KHR_materials_specular": {"specularFactor": 0.8, "specularColorFactor": [1, 0.4, 0.2]},
         "KHR_materials_ior": {"ior": 1.9}},
        {"KHR_materials_transmission": {"transmissionFactor": 0.9}},
        {"KHR_materials_transmission": {"transmissionFactor": 1}, "KHR_materials_volume": {
            "thicknessFactor": 0.8, "attenuationColor": [0.3, 0.9, 0.5], "attenuationDistance": 0.6}},
        {"KHR_materials_iridescence": {"iridescenceFactor": 1, "iridescenceIor": 1.4,
                                       "iridescenceThicknessMaximum": 450}},
        {"KHR_materials_anisotropy": {"anisotropyStrength": 0.8, "anisotropyRotation": 0.6}},
    ]
    g.use(*(name for extension in extensions for name in extension))
    p, n, t, i = sphere(0.42)
    for k, extension in enumerate(extensions):
        rough = 0.1 if "KHR_materials_transmission" in extension else 0.4
        metallic = 1.0 if "KHR_materials_anisotropy" in extension else 0.0
        ball = g.material((0.6, 0.5, 0.7, 1), metallic, rough, extensions=extension)
        g.node(mesh=g.mesh(g.primitive(p, i, n, t, material=ball)), translation=[k % 4 - 1.5 + 0.5 * (k // 4), 0.5 - k // 4, 0])
    wall = g.material((1, 1, 1, 1), 0.0, 0.9)
    pattern = g.texture(checker(16, 4, (230, 220, 200, 255), (60, 70, 90, 255)))
    g.doc["materials"][wall]["pbrMetallicRoughness"]["baseColorTexture"] = {"index": pattern}
    p, n, t, i = quad(3.0, -1.0)
    g.node(mesh=g.mesh(g.primitive(p, i, n, t, material=wall)))
    g.camera((0, 0, 4.4), (0, 0, 0), 36.0)
    return g


CASES = {
    "materials": materials, "alpha": alpha, "textures": textures, "bumps": bumps, "lights": lights, "skin": skin,
    "morph": morph, "nodes": nodes, "clipping": clipping, "edges": edges, "points-and-lines": points_and_lines,
    "variants": variants, "ties": ties, "shadows": shadows, "traced-room": traced_room, "lobes": lobes,
}


def main():
    stale = []
    for name, make in CASES.items():
        path = HERE / name / "scene.gltf"
        text = make().text()
        if "--check" in sys.argv:
            if not path.exists() or path.read_text() != text:
                stale.append(name)
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
    if stale:
        sys.exit(f"not what goldens/scenes.py writes: {', '.join(stale)}")


if __name__ == "__main__":
    main()
