"""Reads the part of glTF that scenes of the bench use, into world space; refuses what it would get wrong."""
import json
import struct
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

COMPONENT = {5120: np.int8, 5121: np.uint8, 5122: np.int16, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
WIDTH = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
KNOWN = {"KHR_materials_specular", "KHR_materials_emissive_strength", "KHR_lights_punctual"}


@dataclass
class Material:
    """Linear colours; `specular` is KHR_materials_specular's factor, `emission` radiance."""
    name: str = ""
    base: tuple = (1.0, 1.0, 1.0)
    metallic: float = 1.0
    roughness: float = 1.0
    specular: float = 1.0
    emission: tuple = (0.0, 0.0, 0.0)


@dataclass
class Mesh:
    """Triangles in world space; `normals` are None where the surface is flat."""
    name: str
    positions: np.ndarray
    triangles: np.ndarray
    normals: np.ndarray | None
    material: Material


@dataclass
class Light:
    """`strength` is colour times intensity: candela, or lux for directional; `direction` is where the light travels."""
    kind: str
    strength: tuple
    position: np.ndarray
    direction: np.ndarray
    cos_inner: float = 1.0
    cos_outer: float = -1.0


@dataclass
class Camera:
    """Looks along -Z of `world_from_view`."""
    world_from_view: np.ndarray
    yfov_rad: float


@dataclass
class Scene:
    meshes: list = field(default_factory=list)
    lights: list = field(default_factory=list)
    camera: Camera | None = None


class Reader:
    def __init__(self, path, strict=True):
        data = Path(path).read_bytes()
        magic, version, _ = struct.unpack_from("<4sII", data)
        if (magic, version) != (b"glTF", 2):
            raise ValueError(f"{path}: not a binary glTF 2.0 file")
        json_bytes, = struct.unpack_from("<I", data, 12)
        self.json = json.loads(data[20:20 + json_bytes])
        self.binary = memoryview(data)[20 + json_bytes + 8:]
        self.strict = strict
        unknown = set(self.json.get("extensionsUsed", [])) - KNOWN
        if strict and (unknown or self.json.get("skins") or self.json.get("animations")):
            raise ValueError(f"{path}: skins, animations or {sorted(unknown)} are not understood here")

    def scene(self):
        scene = Scene()
        root = self.json["scenes"][self.json.get("scene", 0)]
        for node in root["nodes"]:
            self.visit(scene, self.json["nodes"][node], np.eye(4))
        return scene

    def visit(self, scene, node, world_from_parent):
        world = world_from_parent @ local(node)
        if "mesh" in node:
            for primitive in self.json["meshes"][node["mesh"]]["primitives"]:
                scene.meshes.append(self.mesh(node, primitive, world))
        if "camera" in node and scene.camera is None:
            lens = self.json["cameras"][node["camera"]]["perspective"]
            scene.camera = Camera(world, lens["yfov"])
        if "KHR_lights_punctual" in node.get("extensions", {}):
            index = node["extensions"]["KHR_lights_punctual"]["light"]
            scene.lights.append(light(self.json["extensions"]["KHR_lights_punctual"]["lights"][index], world))
        for child in node.get("children", []):
            self.visit(scene, self.json["nodes"][child], world)

    def mesh(self, node, primitive, world):
        if primitive.get("mode", 4) != 4:
            raise ValueError("only triangle lists are understood here")
        position = self.accessor(primitive["attributes"]["POSITION"]).astype(np.float64)
        position = position @ world[:3, :3].T + world[:3, 3]
        if "indices" in primitive:
            triangles = self.accessor(primitive["indices"]).reshape(-1, 3)
        else:
            triangles = np.arange(len(position)).reshape(-1, 3)
        if np.linalg.det(world[:3, :3]) < 0:
            triangles = triangles[:, ::-1]
        normals = None
        if "NORMAL" in primitive["attributes"]:
            normals = self.accessor(primitive["attributes"]["NORMAL"]) @ np.linalg.inv(world[:3, :3])
            normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-20)
        return Mesh(node.get("name", ""), position, triangles.astype(np.uint32), normals, self.material(primitive))

    def material(self, primitive):
        if "material" not in primitive:
            return Material()
        source = self.json["materials"][primitive["material"]]
        pbr, extensions = source.get("pbrMetallicRoughness", {}), source.get("extensions", {})
        if self.strict and "texture" in json.dumps(source).lower():
            raise ValueError(f"material {source.get('name')}: textures are not understood here")
        strength = extensions.get("KHR_materials_emissive_strength", {}).get("emissiveStrength", 1.0)
        return Material(
            source.get("name", ""), tuple(pbr.get("baseColorFactor", [1.0] * 4)[:3]), pbr.get("metallicFactor", 1.0),
            pbr.get("roughnessFactor", 1.0), extensions.get("KHR_materials_specular", {}).get("specularFactor", 1.0),
            tuple(c * strength for c in source.get("emissiveFactor", [0.0] * 3)))

    def accessor(self, index):
        accessor = self.json["accessors"][index]
        view = self.json["bufferViews"][accessor["bufferView"]]
        kind, width = np.dtype(COMPONENT[accessor["componentType"]]), WIDTH[accessor["type"]]
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        stride = view.get("byteStride", kind.itemsize * width)
        rows = np.ndarray((accessor["count"], width), kind, self.binary, start, (stride, kind.itemsize))
        return rows.reshape(-1) if width == 1 else rows.copy()


def local(node):
    if "matrix" in node:
        return np.array(node["matrix"], float).reshape(4, 4).T
    x, y, z, w = node.get("rotation", (0, 0, 0, 1))
    matrix = np.eye(4)
    matrix[:3, :3] = np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]) * node.get("scale", (1, 1, 1))
    matrix[:3, 3] = node.get("translation", (0, 0, 0))
    return matrix


def light(source, world):
    strength = tuple(c * source.get("intensity", 1.0) for c in source.get("color", [1.0] * 3))
    if source.get("range"):
        raise ValueError("lights with a range are not understood here")
    direction = -world[:3, 2] / np.linalg.norm(world[:3, 2])
    placed = Light(source["type"], strength, world[:3, 3], direction)
    if placed.kind == "spot":
        spot = source.get("spot", {})
        placed.cos_inner = float(np.cos(spot.get("innerConeAngle", 0.0)))
        placed.cos_outer = float(np.cos(spot.get("outerConeAngle", np.pi / 4)))
    return placed


def read(path, strict=True):
    return Reader(path, strict).scene()
