//! Prefiltered light against closed forms and independent quadrature.

use isoframe_raster::environment::{self, DFG_SIDE};

/// Writes what a generated file should hold when `ISOFRAME_REGENERATE` is set, and fails all the same.
fn check_generated(path: &str, expected: &[u8]) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::fs::read(&path).unwrap_or_default() == expected {
        return;
    }
    if std::env::var_os("ISOFRAME_REGENERATE").is_some() {
        std::fs::write(&path, expected).unwrap();
        panic!("{} was written; run again without ISOFRAME_REGENERATE", path.display());
    }
    panic!("{} is not what the code makes; set ISOFRAME_REGENERATE=1 to renew it", path.display());
}

#[test]
fn the_shipped_studio_is_what_the_code_bakes() {
    check_generated("src/environment/studio.bin", &environment::bake_studio());
}

#[test]
fn the_shipped_split_sum_table_is_what_the_code_integrates() {
    use rayon::prelude::*;
    let side = DFG_SIDE as usize;
    let values: Vec<[f64; 2]> = (0..side * side)
        .into_par_iter()
        .map(|i| {
            let place = |k: usize| (k as f64 + 0.5) / side as f64;
            environment::integrate_dfg(place(i % side), place(i / side))
        })
        .collect();
    let bytes: Vec<u8> = values.iter().flatten().flat_map(|&v| (v as f32).to_le_bytes()).collect();
    check_generated("src/environment/dfg.bin", &bytes);
}
