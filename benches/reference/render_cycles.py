#!/usr/bin/env python3
"""Renders a .glb of the bench with Blender Cycles on the CPU, once per number of samples, into linear .exr files.

As Isoframe renders it: no denoising, no clamping, no adaptive sampling, no filtered glossiness, caustics on, a box
filter of one pixel, 3 diffuse and 4 glossy bounces; units of light as they are in the file. Cycles keeps its own
surface model, so a picture is compared with Cycles' own reference of many samples.

The last line is JSON: seconds of each picture, from a warm program; writing the file is not counted.

usage: render_cycles.py SCENE.glb -o 'NAME.%d.exr' --spp 1,4,16,64 [--seed 0] [--size 128] [--environment FILE] [--threads 2]
       (with target/bench/bpy-venv/bin/python, which install.py --cycles makes: bpy 5.0 wants Python 3.11)
"""
import argparse
import json
import os
import sys
import tempfile
import time


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("scene")
    parser.add_argument("-o", "--out", required=True, help="with %%d for the number of samples")
    parser.add_argument("--spp", required=True, help="one or more, with commas")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--environment")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--diffuse-bounces", type=int, default=3)
    parser.add_argument("--glossy-bounces", type=int, default=4)
    return parser.parse_args()


def set_up(bpy, args):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    # COMPAT: candela and lux as radiant intensity and irradiance, without the 683 lumens of a watt.
    bpy.ops.import_scene.gltf(filepath=os.path.abspath(args.scene), export_import_convert_lighting_mode="COMPAT")
    scene = bpy.context.scene
    scene.camera = next(thing for thing in scene.objects if thing.type == "CAMERA")
    scene.render.engine = "CYCLES"
    cycles = scene.cycles
    cycles.device = "CPU"
    cycles.seed = args.seed
    cycles.use_denoising = cycles.use_adaptive_sampling = False
    cycles.sample_clamp_direct = cycles.sample_clamp_indirect = cycles.blur_glossy = 0.0
    cycles.caustics_reflective = cycles.caustics_refractive = True
    cycles.diffuse_bounces, cycles.glossy_bounces = args.diffuse_bounces, args.glossy_bounces
    cycles.max_bounces = args.diffuse_bounces + args.glossy_bounces
    cycles.pixel_filter_type = "BOX"
    cycles.filter_width = 1.0
    render = scene.render
    render.resolution_x = render.resolution_y = args.size
    render.resolution_percentage = 100
    render.threads_mode, render.threads = "FIXED", args.threads
    render.use_persistent_data = True                 # the scene is built once, as by the other renderers
    render.image_settings.file_format = "OPEN_EXR"
    render.image_settings.color_mode, render.image_settings.color_depth = "RGB", "32"
    world(bpy, scene, args.environment)
    return scene


def world(bpy, scene, environment):
    """Blender's equirectangular pictures have +X in the middle and turn as Isoframe's do."""
    scene.world = bpy.data.worlds.new("world")
    scene.world.use_nodes = True
    nodes, links = scene.world.node_tree.nodes, scene.world.node_tree.links
    background = nodes["Background"]
    background.inputs["Color"].default_value = (0.0, 0.0, 0.0, 1.0)
    if environment:
        texture = nodes.new("ShaderNodeTexEnvironment")
        texture.image = bpy.data.images.load(os.path.abspath(environment))
        texture.image.colorspace_settings.name = "Linear Rec.709"
        links.new(texture.outputs["Color"], background.inputs["Color"])


def render(bpy, scene, samples, path):
    scene.cycles.samples = samples
    scene.render.filepath = os.path.abspath(path)
    start = time.perf_counter()
    bpy.ops.render.render()
    seconds = time.perf_counter() - start
    bpy.data.images["Render Result"].save_render(scene.render.filepath)
    return seconds


def main():
    args = arguments()
    import bpy
    scene = set_up(bpy, args)
    quiet, said = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(said, 1)                                  # Blender tells every tile
    with tempfile.TemporaryDirectory() as folder:
        render(bpy, scene, 1, os.path.join(folder, "warm.exr"))
    pictures = []
    for samples in map(int, args.spp.split(",")):
        path = args.out.replace("%d", str(samples))
        pictures.append({"spp": samples, "seconds": round(render(bpy, scene, samples, path), 4), "picture": path})
    sys.stdout.flush()
    os.dup2(quiet, 1)
    print(json.dumps({"scene": args.scene, "version": bpy.app.version_string, "pictures": pictures}))


if __name__ == "__main__":
    main()
