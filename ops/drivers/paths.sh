# Where the drivers are; read by install.sh and env.sh.
drivers=${ISOFRAME_DRIVERS:-${HOME:-/root}/.cache/isoframe/drivers}
swiftshader_library=$drivers/swiftshader/libvk_swiftshader.so
swiftshader_icd=$drivers/swiftshader/icd.json
lavapipe_icd=$(ls /usr/share/vulkan/icd.d/lvp_icd.*json 2>/dev/null | head -n 1 || true)
