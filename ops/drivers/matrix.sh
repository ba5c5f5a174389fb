#!/usr/bin/env bash
# Runs the cross-driver tests on each software driver, each in processes of its own.
# Further arguments go to cargo: ops/drivers/matrix.sh --release
set -euo pipefail

cd "$(dirname "$0")/../.."
tests=(--test gpu_exact --test gpu_bsdf --test gpu_device --test matrix)
cargo test --workspace "$@" "${tests[@]}" --no-run
for driver in mesa-vulkan-128 mesa-vulkan-256 mesa-gl swiftshader; do
    echo "matrix: $driver"
    (
        eval "$(ops/drivers/env.sh "$driver")"
        cargo test --workspace "$@" "${tests[@]}" -- --nocapture
    )
done
