"""Installs the peers into a throw-away folder, and from Debian what cannot live in one."""
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
DEBIAN = {                      # package: a file that shows it is there
    "chromium": "/usr/bin/chromium",
    "mesa-vulkan-drivers": "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json",
    "libgl1-mesa-dri": "/usr/lib/x86_64-linux-gnu/dri/swrast_dri.so",
    "libegl1": "/usr/lib/x86_64-linux-gnu/libEGL.so.1",
    "libegl-mesa0": "/usr/lib/x86_64-linux-gnu/libEGL_mesa.so.0",
    "libgl1": "/usr/lib/x86_64-linux-gnu/libGL.so.1",
    "libgles2": "/usr/lib/x86_64-linux-gnu/libGLESv2.so.2",
    "time": "/usr/bin/time",
}


def install(folder):
    """What is already there at the pinned versions is kept. Problems are returned, not raised."""
    problems = []
    folder.mkdir(parents=True, exist_ok=True)
    for step in (install_debian, install_python, install_node):
        try:
            step(folder)
        except (OSError, subprocess.CalledProcessError) as error:
            problems.append(f"{step.__name__}: {error}")
    return problems


def install_debian(_folder):
    wanted = [package for package, shows in DEBIAN.items() if not Path(shows).exists()]
    if not wanted:
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise OSError(f"run as root on Debian, or install: {' '.join(wanted)}")
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    call(["apt-get", "-q", "update"], env=environment)
    call(["apt-get", "-q", "install", "-y", "--no-install-recommends", *wanted], env=environment)


def install_python(folder):
    pins = HERE / "peers/requirements.txt"
    if stamped(folder / "venv", pins):
        return
    call([sys.executable, "-m", "venv", "--clear", folder / "venv"])
    call([folder / "venv/bin/pip", "install", "-q", "--no-deps", "-r", pins])
    stamp(folder / "venv", pins)


def install_node(folder):
    pins = HERE / "peers/package.json"
    if stamped(folder / "node", pins):
        return
    (folder / "node").mkdir(exist_ok=True)
    shutil.copy(pins, folder / "node/package.json")
    call(["npm", "install", "--no-audit", "--no-fund", "--legacy-peer-deps", "--ignore-scripts"], cwd=folder / "node")
    stamp(folder / "node", pins)


def stamped(folder, pins):
    mark = folder / "installed"
    return mark.exists() and mark.read_text() == hashlib.sha256(pins.read_bytes()).hexdigest()


def stamp(folder, pins):
    (folder / "installed").write_text(hashlib.sha256(pins.read_bytes()).hexdigest())


def call(command, **options):
    print("+", *command, file=sys.stderr, flush=True)
    subprocess.run(["nice", "-n", "10", *map(str, command)], check=True, stdout=sys.stderr, **options)
