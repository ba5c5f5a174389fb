#!/usr/bin/env bash
# Runs the cross-driver tests on each software driver, those of bytes twice, each time in a process of its own.
# Further arguments go to cargo: ops/drivers/matrix.sh --release
set -euo pipefail

cd "$(dirname "$0")/../.."
tests=(--test gpu_exact --test matrix)
cargo test --workspace "$@" "${tests[@]}" --test gpu_device --no-run
for driver in mesa-vulkan-128 mesa-vulkan-256 mesa-gl swiftshader; do
    for run in 1 2; do
        echo "matrix: $driver, process $run"
        (
            eval "$(ops/drivers/env.sh "$driver")"
            [ "$run" -eq 2 ] || tests+=(--test gpu_device)
            cargo test --workspace "$@" "${tests[@]}" -- --nocapture
        )
    done
done
