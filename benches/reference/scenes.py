#!/usr/bin/env python3
"""Writes the four scenes by which traced light is judged, as .glb files, and the environment of one of them.

cornell.glb   the Cornell box: a lamp in the ceiling, red and green walls, two boxes
gap.glb       a closed room lit only through a slot in a partition
spheres.glb   metals and dielectrics from smooth to rough on a floor, under sky.hdr
lights.glb    a point, a spot and a directional light, hard shadows, rough metal and dielectrics

They leave nothing to convention. There are no vertex normals, since renderers disagree on what an interpolated one
does to light; balls are finely faceted instead. Nothing is seen from behind, lamps fill holes in their ceiling, objects
sink into what they stand on: whether a surface has a back never matters. The environment is smooth, so that how a
renderer resamples it does not show.

usage: scenes.py [OUTPUT_FOLDER]      (default target/bench/reference)
"""
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parent.parent))
from generate import UINT32, ELEMENT_ARRAY_BUFFER, Glb, rounded   # noqa: E402


@dataclass(frozen=True)
class Settings:
    """How a scene is rendered by everybody."""
    environment: str | None = None
    diffuse_bounces: int = 3
    specular_bounces: int = 0       # of scenes that are purely diffuse, where depth has one meaning


# Where lobes mix, renderers count bounces each in its own way: there they go on until nothing is left.
SETTINGS = {
    "cornell": Settings(),
    "gap": Settings(diffuse_bounces=5),
    "spheres": Settings(environment="sky.hdr", diffuse_bounces=8, specular_bounces=8),
    "lights": Settings(diffuse_bounces=8, specular_bounces=8),
}


class FlatGlb(Glb):
    """A .glb without vertex normals, which glTF says is flat shaded; with materials, lights and a camera."""

    def __init__(self):
        super().__init__()
        self.json["asset"]["generator"] = "isoframe benches/reference/scenes.py"
        self.lights = []

    def solid(self, name, surface, material):
        position, index = surface
        index = np.ascontiguousarray(index.reshape(-1), np.uint32)
        indices = self.push("accessors", {
            "bufferView": self.view(index.tobytes(), ELEMENT_ARRAY_BUFFER),
            "componentType": UINT32, "count": len(index), "type": "SCALAR"})
        geometry = {"attributes": {"POSITION": self.attribute(rounded(position), True)}, "indices": indices}
        self.node(self.mesh(name, geometry, material))

    def material(self, name, base, metallic=0.0, roughness=1.0, specular=1.0, emissive=None, strength=1.0):
        material = {"name": name, "extensions": {}, "pbrMetallicRoughness": {
            "baseColorFactor": [*base, 1.0], "metallicFactor": metallic, "roughnessFactor": roughness}}
        if specular != 1.0:
            material["extensions"]["KHR_materials_specular"] = {"specularFactor": specular}
        if emissive:
            material["emissiveFactor"] = list(emissive)
            material["extensions"]["KHR_materials_emissive_strength"] = {"emissiveStrength": strength}
        return self.push("materials", material)

    def lambert(self, name, base):
        return self.material(name, base, specular=0.0)

    def lamp(self, radiance):
        strength = max(radiance)
        return self.material("lamp", (0.0, 0.0, 0.0), specular=0.0,
                             emissive=[c / strength for c in radiance], strength=strength)

    def light(self, kind, color, intensity, eye, target, **more):
        self.lights.append({"type": kind, "color": list(color), "intensity": intensity} | more)
        self.place({"extensions": {"KHR_lights_punctual": {"light": len(self.lights) - 1}}}, eye, target)

    def camera(self, eye, target, yfov):
        camera = self.push("cameras", {"type": "perspective", "perspective": {
            "yfov": yfov, "aspectRatio": 1.0, "znear": 0.01}})
        self.place({"camera": camera}, eye, target)

    def place(self, node, eye, target):
        """Cameras and lights look along -Z."""
        eye, target = np.array(eye, float), np.array(target, float)
        back = (eye - target) / np.linalg.norm(eye - target)
        right = np.cross([0.0, 1.0, 0.0], back)
        right /= np.linalg.norm(right)
        columns = np.eye(4)
        columns[:4, :3] = np.array([right, np.cross(back, right), back, eye]).round(9)
        self.json["scenes"][0]["nodes"].append(self.push("nodes", node | {"matrix": columns.reshape(-1).tolist()}))

    def write(self, path):
        used = {name for material in self.json["materials"] for name in material["extensions"]}
        if self.lights:
            self.json["extensions"] = {"KHR_lights_punctual": {"lights": self.lights}}
            used.add("KHR_lights_punctual")
        self.json["extensionsUsed"] = sorted(used)
        super().write(path)


# ---- surfaces: positions and triangles that turn counterclockwise seen from the front

def joined(surfaces):
    positions, indices, start = [], [], 0
    for position, index in surfaces:
        positions.append(position)
        indices.append(index + start)
        start += len(position)
    return np.concatenate(positions), np.concatenate(indices)


def quad(a, b, c, d):
    return np.array([a, b, c, d], float), np.array([[0, 1, 2], [0, 2, 3]])


def block(low, high, turn_deg=0.0):
    """A box from corner to corner, turned about the upright axis through its middle; seen from outside."""
    low, high = np.array(low, float), np.array(high, float)
    corner = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    cos, sin = np.cos(np.radians(turn_deg)), np.sin(np.radians(turn_deg))
    middle = (low + high) / 2
    at = (low + corner * (high - low)) - middle
    at = np.stack([at[:, 0] * cos + at[:, 2] * sin, at[:, 1], at[:, 2] * cos - at[:, 0] * sin], -1) + middle
    return joined([quad(*at[list(face)]) for face in faces])


def lamp_ceiling(x, z, y):
    """A ceiling that faces down, split by three spans each way; the middle one is the lamp."""
    tiles = [quad((x[i], y, z[j]), (x[i + 1], y, z[j]), (x[i + 1], y, z[j + 1]), (x[i], y, z[j + 1]))
             for i in range(3) for j in range(3)]
    lamp = tiles.pop(4)
    return joined(tiles), lamp


def ball(centre, radius, divisions=4):
    """An icosahedron split `divisions` times and blown up."""
    golden = (1 + 5 ** 0.5) / 2
    point = [(-1, golden, 0), (1, golden, 0), (-1, -golden, 0), (1, -golden, 0), (0, -1, golden), (0, 1, golden),
             (0, -1, -golden), (0, 1, -golden), (golden, 0, -1), (golden, 0, 1), (-golden, 0, -1), (-golden, 0, 1)]
    point = [np.array(p) / np.linalg.norm(p) for p in point]
    face = [(0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6),
            (7, 1, 8), (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10),
            (8, 6, 7), (9, 8, 1)]
    for _ in range(divisions):
        between, finer = {}, []

        def middle(a, b):
            key = (min(a, b), max(a, b))
            if key not in between:
                halfway = point[a] + point[b]
                point.append(halfway / np.linalg.norm(halfway))
                between[key] = len(point) - 1
            return between[key]

        for a, b, c in face:
            ab, bc, ca = middle(a, b), middle(b, c), middle(c, a)
            finer += [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
        face = finer
    return np.array(point) * radius + np.array(centre, float), np.array(face)


# ---- the scenes

def cornell():
    glb = FlatGlb()
    white = glb.lambert("white", (0.73, 0.71, 0.68))
    red, green = glb.lambert("red", (0.63, 0.065, 0.05)), glb.lambert("green", (0.14, 0.45, 0.091))
    ceiling, lamp = lamp_ceiling([-1, -0.25, 0.25, 1], [-1, -0.25, 0.25, 1], 2)
    glb.solid("room", joined([
        quad((-1, 0, 1), (1, 0, 1), (1, 0, -1), (-1, 0, -1)),
        quad((-1, 0, -1), (1, 0, -1), (1, 2, -1), (-1, 2, -1)), ceiling]), white)
    glb.solid("left", quad((-1, 0, 1), (-1, 0, -1), (-1, 2, -1), (-1, 2, 1)), red)
    glb.solid("right", quad((1, 0, -1), (1, 0, 1), (1, 2, 1), (1, 2, -1)), green)
    glb.solid("tall", block((-0.65, -0.05, -0.6), (-0.05, 1.2, 0.0), 17), white)
    glb.solid("short", block((0.05, -0.05, 0.05), (0.65, 0.6, 0.65), -18), white)
    glb.solid("lamp", lamp, glb.lamp((18.0, 14.0, 9.0)))
    glb.camera((0, 1, 3.6), (0, 1, 0), 0.76)
    return glb


def gap():
    glb = FlatGlb()
    grey, blue = glb.lambert("grey", (0.7, 0.7, 0.7)), glb.lambert("blue", (0.15, 0.3, 0.65))
    ochre = glb.lambert("ochre", (0.7, 0.45, 0.15))
    ceiling, lamp = lamp_ceiling([-2, 1.125, 1.875, 2], [-2, -0.375, 0.375, 2], 2.5)
    glb.solid("room", joined([
        ceiling,
        quad((-2, 0, 2), (2, 0, 2), (2, 0, -2), (-2, 0, -2)),
        quad((-2, 0, -2), (2, 0, -2), (2, 2.5, -2), (-2, 2.5, -2)),
        quad((2, 0, 2), (-2, 0, 2), (-2, 2.5, 2), (2, 2.5, 2)),
        quad((2, 0, -2), (2, 0, 2), (2, 2.5, 2), (2, 2.5, -2))]), grey)
    glb.solid("far wall", quad((-2, 0, 2), (-2, 0, -2), (-2, 2.5, -2), (-2, 2.5, 2)), blue)
    for name, low, high in (("partition back", -2.1, -0.1), ("partition front", 0.1, 2.1)):
        glb.solid(name, block((0.6, -0.1, low), (0.7, 2.6, high)), grey)
    glb.solid("box", block((-0.9, -0.05, -1.3), (-0.2, 0.7, -0.6), 25), ochre)
    glb.solid("ball", ball((-1.1, 0.36, 0.1), 0.4), grey)
    glb.solid("lamp", lamp, glb.lamp((60.0, 55.0, 45.0)))
    glb.camera((-1.2, 1.4, 1.8), (-0.5, 0.8, -1.0), 1.15)
    return glb


ROUGHNESS = (0.1, 0.25, 0.5, 0.75, 1.0)


def spheres():
    glb = FlatGlb()
    floor = glb.lambert("floor", (0.4, 0.4, 0.4))
    glb.solid("floor", quad((-6, 0, 6), (6, 0, 6), (6, 0, -6), (-6, 0, -6)), floor)
    rows = (("metal", (0.95, 0.64, 0.42), 1.0, 0.0), ("dielectric", (0.1, 0.35, 0.6), 0.0, 1.05))
    for name, base, metallic, z in rows:
        for i, roughness in enumerate(ROUGHNESS):
            look = glb.material(f"{name} {roughness}", base, metallic, roughness)
            glb.solid(f"{name} {roughness}", ball((1.0 * (i - 2), 0.44, z), 0.46), look)
    glb.camera((0, 2.9, 5.2), (0, 0.3, 0.45), 0.92)
    return glb


def lights():
    glb = FlatGlb()
    floor = glb.material("floor", (0.5, 0.48, 0.45), roughness=0.6)
    glb.solid("floor", quad((-4, 0, 4), (4, 0, 4), (4, 0, -4), (-4, 0, -4)), floor)
    glb.solid("wall", quad((-4, 0, -2), (4, 0, -2), (4, 4, -2), (-4, 4, -2)), glb.lambert("wall", (0.6, 0.6, 0.65)))
    glb.solid("metal", ball((-1.1, 0.58, 0.2), 0.6), glb.material("metal", (0.9, 0.75, 0.5), 1.0, 0.45))
    glb.solid("paint", ball((0.25, 0.43, 0.8), 0.45), glb.material("paint", (0.6, 0.08, 0.06), 0.0, 0.5))
    glb.solid("half metal", block((0.7, -0.05, -0.6), (1.5, 1.1, 0.2), 30),
              glb.material("half metal", (0.3, 0.5, 0.55), 0.5, 0.7))
    glb.light("point", (1.0, 0.7, 0.4), 9.0, (1.6, 2.2, 1.4), (1.6, 0.0, 1.2))
    glb.light("spot", (0.5, 0.7, 1.0), 40.0, (-2.4, 3.0, 1.8), (-0.7, 0.3, 0.0),
              spot={"innerConeAngle": 0.15, "outerConeAngle": 0.4})
    glb.light("directional", (1.0, 0.95, 0.9), 1.5, (-0.5, 1.0, 0.6), (0.0, 0.0, 0.0))
    glb.camera((0, 2.0, 4.6), (0, 0.6, 0), 0.8)
    return glb


SCENES = {"cornell": cornell, "gap": gap, "spheres": spheres, "lights": lights}


# ---- the environment

def sky(width=1024):
    """Radiance by pixel, equirectangular, top row +Y, u = atan2(z, x) / 2 pi + 1/2 as Isoframe reads it."""
    height = width // 2
    polar = np.pi * (np.arange(height)[:, None] + 0.5) / height
    azimuth = 2 * np.pi * ((np.arange(width)[None, :] + 0.5) / width - 0.5)
    d = np.stack([np.sin(polar) * np.cos(azimuth), np.cos(polar) + 0 * azimuth, np.sin(polar) * np.sin(azimuth)], -1)
    up = 0.5 + 0.5 * d[..., 1:2]
    radiance = (1 - up) * np.array([0.25, 0.22, 0.2]) + up * np.array([0.3, 0.5, 0.9])
    for toward, sharpness, colour in (
            ((0.6, 0.7, 0.4), 40.0, (25.0, 21.0, 15.0)), ((-0.8, 0.4, 0.3), 12.0, (1.5, 2.5, 4.0)),
            ((0.1, 0.3, -1.0), 20.0, (3.0, 1.0, 0.6))):
        lobe = np.exp(sharpness * (d @ (np.array(toward) / np.linalg.norm(toward)) - 1))
        radiance = radiance + lobe[..., None] * np.array(colour)
    return radiance


def write_hdr(path, radiance):
    """Radiance's RGBE, not run-length coded."""
    height, width, _ = radiance.shape
    _, exponent = np.frexp(radiance.max(axis=2))
    mantissa = np.floor(np.ldexp(radiance, 8 - exponent[..., None])).clip(0, 255)
    pixels = np.concatenate([mantissa, exponent[..., None] + 128], -1).astype(np.uint8)
    path.write_bytes(f"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y {height} +X {width}\n".encode() + pixels.tobytes())
    print(f"{path}: {width}x{height}")


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "target/bench/reference")
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in SCENES.items():
        make().write(folder / f"{name}.glb")
    write_hdr(folder / "sky.hdr", sky())


if __name__ == "__main__":
    main()
