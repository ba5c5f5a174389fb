#!/usr/bin/env bash
# Installs the software drivers that the cross-driver checks run on (Debian, as root):
#   Mesa's Vulkan (lavapipe), Mesa's OpenGL through EGL (llvmpipe), and SwiftShader, taken out of Debian's
#   chromium-common package without installing the browser.
# Nothing that is already there is touched. `ISOFRAME_DRIVERS` is where SwiftShader goes
# (default ~/.cache/isoframe/drivers). Says what it did, one line per driver.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
. "$here/paths.sh"
log=$(mktemp)
trap 'status=$?; [ $status -eq 0 ] || { echo "drivers: failed, log follows" >&2; cat "$log" >&2; }; rm -f "$log"' EXIT

packages_missing() {
    for package in "$@"; do
        dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || echo "$package"
    done
}

updated=
apt_update_once() {
    [ -n "$updated" ] || { apt-get update -qq >>"$log" 2>&1; updated=1; }
}

mesa="mesa-vulkan-drivers libvulkan1 libegl1 libgl1-mesa-dri libgles2"
missing=$(packages_missing $mesa)
if [ -n "$missing" ]; then
    apt_update_once
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >>"$log" 2>&1
    echo "drivers: installed" $missing
else
    echo "drivers: mesa is there ($(dpkg-query -W -f '${Version}' mesa-vulkan-drivers))"
fi

if [ -f "$swiftshader_library" ]; then
    echo "drivers: swiftshader is there ($(cat "$drivers/swiftshader/version"))"
else
    mkdir -p "$drivers/swiftshader"
    work=$(mktemp -d "$drivers/fetch.XXXXXX")
    chmod 755 "$work"
    apt_update_once
    (cd "$work" && apt-get download -qq -o APT::Sandbox::User=root chromium-common >>"$log" 2>&1)
    deb=$(echo "$work"/chromium-common_*.deb)
    dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$work" ./usr/lib/chromium/libvk_swiftshader.so
    dpkg-deb -f "$deb" Version >"$drivers/swiftshader/version"
    # Renamed last, so that a run cut short leaves nothing that looks whole.
    mv "$work/usr/lib/chromium/libvk_swiftshader.so" "$swiftshader_library"
    rm -rf "$work"
    echo "drivers: took swiftshader from chromium $(cat "$drivers/swiftshader/version")"
fi
printf '{"file_format_version": "1.0.0", "ICD": {"library_path": "%s", "api_version": "1.3.0"}}\n' \
    "$swiftshader_library" >"$swiftshader_icd"
