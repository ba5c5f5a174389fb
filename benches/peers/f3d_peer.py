"""F3D through its wheel, EGL on Mesa's llvmpipe.

F3D has no multisampling: only FXAA, SSAA (far more than 4 samples) and TAA. It is measured without any,
which is in its favour; ISOFRAME_F3D_AA=ssaa (or fxaa) measures another mode.
"""
import math
import os

import common
import f3d
import numpy as np

# VTK's diffuse term has no 1/pi, so its intensity is in units of lux / pi.
F3D_INTENSITY_PER_LUX = 1 / math.pi

description = common.load()
width, height = description["size"]
f3d.Engine.autoload_plugins()
engine = f3d.Engine.create_egl()
mode = os.environ.get("ISOFRAME_F3D_AA", "none")
engine.options.update({"render.effect.antialiasing.mode": mode, "render.effect.tone_mapping": False, "ui.loader_progress": False,
                       "render.background.color": [0.0, 0.0, 0.0]})
if description["environment"]:
    engine.options.update({"render.hdri.file": description["environment"], "render.hdri.ambient": True})
window = engine.window
window.size = (width, height)
engine.scene.add(description["scene"])
light = description["light"]
direction = np.array(light["direction"]) / np.linalg.norm(light["direction"])
engine.scene.remove_all_lights()            # F3D's own five
engine.scene.add_light(f3d.LightState(
    f3d.LightType.SCENE_LIGHT, tuple(float(-100 * x) for x in direction), f3d.Color(1, 1, 1),
    tuple(float(x) for x in direction), False, light["intensity"] * F3D_INTENSITY_PER_LUX, True))
world_from_camera = common.world_from_camera(description)
eye, up, forward = world_from_camera[:3, 3], world_from_camera[:3, 1], -world_from_camera[:3, 2]
camera = window.camera
camera.position, camera.focal_point, camera.view_up = tuple(eye), tuple(eye + forward), tuple(up)
camera.view_angle = math.degrees(description["yfov"])


def frame():
    image = window.render_to_image()
    pixels = np.frombuffer(image.content, np.uint8).reshape(height, width, image.channel_count)[::-1]
    rgba = np.full((height, width, 4), 255, np.uint8)
    rgba[..., :3] = pixels[..., :3]
    return rgba


cannot = ["4-sample anti-aliasing: no multisampling, measured without any"] if mode == "none" else []
common.measure(
    description, frame, peer="f3d" if mode == "none" else f"f3d-{mode}", version=f"F3D {f3d.__version__}" if hasattr(f3d, "__version__") else "F3D 4",
    driver="llvmpipe (OpenGL, EGL)", samples=1, cannot=cannot,
    notes=["only as many channels as it reads back (RGB); one copy to RGBA8 counted"])
