#!/usr/bin/env bash
# Runs the cross-driver tests on each software driver, twice, each time in a process of its own.
# Further arguments go to cargo: ops/drivers/matrix.sh --release
set -euo pipefail

cd "$(dirname "$0")/../.."
tests=(--test gpu_exact --test gpu_device --test matrix)
cargo test -p isoframe-raster "$@" "${tests[@]}" --no-run
for driver in mesa-vulkan-128 mesa-vulkan-256 mesa-gl swiftshader; do
    for run in 1 2; do
        echo "matrix: $driver, process $run"
        (
            eval "$(ops/drivers/env.sh "$driver")"
            cargo test -p isoframe-raster "$@" "${tests[@]}" -- --nocapture
        )
    done
done
