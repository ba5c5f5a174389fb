#!/usr/bin/env bash
# Prints the environment that shows a process one driver and hides the others, as `export` lines:
#   eval "$(ops/drivers/env.sh swiftshader)"; cargo test -p isoframe-raster --test matrix
# `env.sh --list` names the drivers. ISOFRAME_REQUIRE_ADAPTERS makes the tests fail where the driver is absent.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
. "$here/paths.sh"
names="mesa-vulkan mesa-vulkan-128 mesa-vulkan-256 mesa-gl swiftshader"

# Mesa complains on stderr where there is no session; any private folder will do.
say_runtime_dir() {
    say XDG_RUNTIME_DIR "${XDG_RUNTIME_DIR:-$(mkdir -p "$drivers/run" && chmod 700 "$drivers/run" && echo "$drivers/run")}"
}
say() { printf 'export %s=%q\n' "$1" "$2"; }
fail() { echo "env.sh: $1" >&2; exit 2; }
vulkan_only() {
    [ -f "$1" ] || fail "$name is not installed: run ops/drivers/install.sh"
    say VK_DRIVER_FILES "$1"
    say VK_ICD_FILENAMES "$1"
    say __EGL_VENDOR_LIBRARY_FILENAMES /nonexistent
    say_runtime_dir
}

name=${1:---list}
case $name in
--list) printf '%s\n' $names; exit ;;
mesa-vulkan | mesa-vulkan-128 | mesa-vulkan-256)
    vulkan_only "${lavapipe_icd:-/nonexistent}"
    say ISOFRAME_REQUIRE_ADAPTERS vulkan:llvmpipe
    case $name in *-128 | *-256) say LP_NATIVE_VECTOR_WIDTH "${name##*-}" ;; esac
    ;;
mesa-gl)
    say VK_DRIVER_FILES /nonexistent
    say VK_ICD_FILENAMES /nonexistent
    say_runtime_dir
    say LIBGL_ALWAYS_SOFTWARE 1
    say ISOFRAME_REQUIRE_ADAPTERS gl:llvmpipe
    ;;
swiftshader)
    vulkan_only "$swiftshader_icd"
    say ISOFRAME_REQUIRE_ADAPTERS vulkan:swiftshader
    ;;
*) fail "no driver named $name; there are: $names" ;;
esac
