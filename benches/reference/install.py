"""Installs what the references need into the bench's folder: two Python environments, and an LLVM for Mitsuba."""
import hashlib
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORK = Path(os.environ.get("ISOFRAME_BENCH_DIR", HERE.parents[1] / "target/bench"))
PYTHON = WORK / "ref-venv/bin/python"
CYCLES_PYTHON = WORK / "bpy-venv/bin/python"       # apart: bpy wants an older numpy
LLVM = WORK / "llvm/usr/lib/x86_64-linux-gnu/libLLVM.so.19.1"


def use_llvm():
    """Dr.Jit needs LLVM 19 or newer; Debian 12's own 15 cannot select some instructions. Call before importing Mitsuba."""
    if LLVM.exists():
        os.environ.setdefault("DRJIT_LIBLLVM_PATH", str(LLVM))


def install(cycles=False):
    environment(WORK / "ref-venv", HERE / "requirements.txt")
    if cycles:
        environment(WORK / "bpy-venv", HERE / "requirements-cycles.txt")
    if not LLVM.exists():
        folder = WORK / "llvm"
        folder.mkdir(parents=True, exist_ok=True)
        call(["apt-get", "-q", "download", "libllvm19"], cwd=folder)
        call(["dpkg", "-x", *folder.glob("libllvm19_*.deb"), folder])


def environment(folder, pins):
    mark, digest = folder / "installed", hashlib.sha256(pins.read_bytes()).hexdigest()
    if mark.exists() and mark.read_text() == digest:
        return
    call([sys.executable, "-m", "venv", "--clear", folder])
    call([folder / "bin/pip", "install", "-q", "-r", pins])
    mark.write_text(digest)


def call(command, **options):
    print("+", *command, file=sys.stderr, flush=True)
    subprocess.run([str(part) for part in command], check=True, stdout=sys.stderr, **options)


if __name__ == "__main__":
    install(cycles="--cycles" in sys.argv)
