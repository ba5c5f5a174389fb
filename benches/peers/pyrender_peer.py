"""pyrender, EGL on Mesa's llvmpipe."""
import os

os.environ["PYOPENGL_PLATFORM"] = "egl"
os.environ["EGL_PLATFORM"] = "surfaceless"

import numpy as np

np.infty = np.inf                            # pyrender 0.1.45 predates NumPy 2

import common
import pyrender
import trimesh

description = common.load()
width, height = description["size"]
light = description["light"]
# Without an environment map, a constant ambient term stands in for the environment.
scene = pyrender.Scene.from_trimesh_scene(
    trimesh.load(description["scene"]), bg_color=[0, 0, 0, 255],
    ambient_light=[0.3] * 3 if description["environment"] else [0, 0, 0])
scene.add(pyrender.DirectionalLight(color=np.ones(3), intensity=light["intensity"]),
          pose=common.light_matrix(light["direction"]))
scene.add(pyrender.PerspectiveCamera(yfov=description["yfov"], znear=description["near"], zfar=description["far"]),
          pose=common.world_from_camera(description))
renderer = pyrender.OffscreenRenderer(width, height)


def frame():
    color, _depth = renderer.render(scene, flags=pyrender.RenderFlags.RGBA)
    return color


common.measure(
    description, frame, peer="pyrender", version=f"pyrender {pyrender.__version__}",
    driver="llvmpipe (OpenGL, EGL)", samples=4,
    cannot=["environment light: a constant ambient colour instead", "clearcoat", "metallic reflections"],
    notes=["always reads depth back too", "its 4 samples are built in"])
