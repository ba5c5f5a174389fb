"""Filament through the `filly` wheel, on Mesa's llvmpipe."""
from importlib.metadata import version

import common
import filly

description = common.load()
width, height = description["size"]
renderer = filly.Renderer()
scene = renderer.create_scene()
scene.load(description["scene"])
camera = renderer.create_camera()
camera.exposure = 1.0                       # light units as they are, instead of a sunlit photograph
camera.set_perspective(fov_y_deg=description["yfov"] * 57.29577951308232, aspect=width / height,
                       near=description["near"], far=description["far"])
camera.transform = common.world_from_camera(description).astype("float32")
scene.camera = camera
scene.add_directional_light(direction=description["light"]["direction"], intensity=description["light"]["intensity"])
if description["environment"]:
    scene.environment = renderer.load_environment(description["environment"])
    scene.environment_intensity = 1.0
scene.msaa = description["samples"]
target = renderer.create_render_target(width=width, height=height)


def frame():
    renderer.render(scene, target)
    return target.read()


common.measure(
    description, frame, peer="filament", version=f"filly {version('filly')}", driver="llvmpipe (OpenGL)",
    samples=scene.msaa, cannot=[], notes=[f"tone mapping {scene.tone_mapping}, shadows {scene.shadows}"])
