"""Turns a .glb of the bench into a Mitsuba 3 scene of the same light.

Units: a candela of glTF is one unit of radiant intensity, a lux one of irradiance (no 683: 1 lux shows a white diffuser
at 1/pi), emissive factor times strength is radiance, pixels of the environment are radiance.
"""
import tempfile
from pathlib import Path

import numpy as np

import gltf


def export(path, environment=None, variant="llvm_ad_rgb"):
    """A Mitsuba scene (no sensor) and the glTF camera. Scalar variants only know purely diffuse materials."""
    import mitsuba as mi
    if mi.variant() != variant:
        mi.set_variant(variant)
    source = gltf.read(path)
    scene = {"type": "scene"}
    with tempfile.TemporaryDirectory() as folder:
        for index, mesh in enumerate(source.meshes):
            scene[f"mesh{index}"] = shape(mi, mesh, Path(folder) / f"{index}.ply", variant)
        for index, light in enumerate(source.lights):
            scene[f"light{index}"] = emitter(mi, light, variant)
        if environment:
            scene["environment"] = panorama(mi, environment)
        return mi.load_dict(scene), source.camera


def shape(mi, mesh, ply, variant):
    write_ply(ply, mesh)
    made = {"type": "ply", "filename": str(ply), "face_normals": mesh.normals is None,
            "bsdf": surface(mi, mesh.material, variant)}
    if any(mesh.material.emission):
        made["emitter"] = {"type": "area", "radiance": {"type": "rgb", "value": list(mesh.material.emission)}}
    return made


def surface(mi, material, variant):
    if purely_diffuse(material):
        return {"type": "diffuse", "reflectance": {"type": "rgb", "value": list(material.base)}}
    if variant.startswith("scalar"):
        raise ValueError(f"material {material.name}: only purely diffuse ones in {variant}")
    import isoframe_model                                # noqa: F401  registers the plugin for this variant
    return mi.load_dict({"type": "isoframe_surface"}).set(material)


def purely_diffuse(material):
    return material.specular == 0 and material.metallic == 0


def emitter(mi, light, variant):
    value = {"type": "rgb", "value": list(light.strength)}
    if light.kind == "point":
        return {"type": "point", "position": light.position.tolist(), "intensity": value}
    if light.kind == "directional":
        return {"type": "directional", "direction": light.direction.tolist(), "irradiance": value}
    if variant.startswith("scalar"):
        raise ValueError(f"spot lights are not made in {variant}")
    import isoframe_model                                # noqa: F401
    return mi.load_dict({"type": "gltf_spot"}).set(light)


def panorama(mi, path):
    """Isoframe finds direction d at u = atan2(z, x) / 2 pi + 1/2, Mitsuba at atan2(x, -z) / 2 pi: a quarter turn apart."""
    return {"type": "envmap", "filename": str(path),
            "to_world": mi.ScalarTransform4f().rotate([0, 1, 0], 90)}


def sensor(mi, camera, width, height):
    """glTF looks along -Z with x to the right, Mitsuba along +Z with x to the left."""
    turn = np.diag([-1.0, 1.0, -1.0, 1.0])
    return mi.load_dict({
        "type": "perspective", "fov": float(np.degrees(camera.yfov_rad)), "fov_axis": "y", "near_clip": 1e-3,
        "far_clip": 1e4, "to_world": mi.ScalarTransform4f(camera.world_from_view @ turn),
        "film": {"type": "hdrfilm", "width": width, "height": height, "rfilter": {"type": "box"}}})


def write_ply(path, mesh):
    vertices, names = mesh.positions.astype("<f4"), "xyz"
    properties = [f"property float {name}" for name in names]
    if mesh.normals is not None:
        vertices = np.concatenate([vertices, mesh.normals.astype("<f4")], 1)
        properties += [f"property float n{name}" for name in names]
    faces = np.zeros(len(mesh.triangles), [("count", "u1"), ("index", "<i4", 3)])
    faces["count"], faces["index"] = 3, mesh.triangles
    header = ["ply", "format binary_little_endian 1.0", f"element vertex {len(vertices)}", *properties,
              f"element face {len(faces)}", "property list uchar int vertex_indices", "end_header", ""]
    path.write_bytes("\n".join(header).encode() + np.ascontiguousarray(vertices).tobytes() + faces.tobytes())
