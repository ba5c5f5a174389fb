"""One whole F3D process: scene to PNG, as its users run it. The wheel has no command-line program.

usage: f3d_cold.py SCENE OUTPUT.png WIDTH HEIGHT
"""
import sys

import f3d

scene, output, width, height = sys.argv[1:]
f3d.Engine.autoload_plugins()
engine = f3d.Engine.create_egl()
engine.window.size = (int(width), int(height))
engine.scene.add(scene)
engine.window.render_to_image().save(output)
