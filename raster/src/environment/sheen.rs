//! Directional albedo of sheen, KHR_materials_sheen.
//!
//! *Source*: the "Charlie" distribution, Estevez and Kulla, Production Friendly Microfacet Sheen BRDF, 2017; visibility
//! after Neubelt and Pettineo, Crafting a Next-Gen Material Pipeline for The Order: 1886, 2013.

use std::sync::LazyLock;

use super::DFG_SIDE;

/// Rings and spokes of the midpoint rule over the directions of light, half a turn of them, by symmetry.
const RINGS: u32 = 256;
const SPOKES: u32 = 128;

/// Smallest perceptual roughness of sheen; below it its lobe is a line along the horizon.
pub const SHEEN_ROUGHNESS_MIN: f32 = 0.07;

static TABLE: LazyLock<Vec<f32>> = LazyLock::new(|| {
    include_bytes!("sheen.bin").as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
});

/// What white sheen reflects of uniform light; `DFG_SIDE` squared, row-major: column x is the root of the cosine to the
/// viewer (x + 0.5) / `DFG_SIDE`, row y the perceptual roughness (y + 0.5) / `DFG_SIDE`.
pub fn sheen_table() -> &'static [f32] {
    &TABLE
}

/// Albedo for one cosine and perceptual roughness, both above 0; what the table was made with. Above 1 where rough
/// facets are seen at grazing angles, as this visibility has it.
pub fn integrate(n_dot_v: f64, roughness: f64) -> f64 {
    let roughness = roughness.max(f64::from(SHEEN_ROUGHNESS_MIN));
    let exponent = 1.0 / (roughness * roughness);
    let view = [(1.0 - n_dot_v * n_dot_v).sqrt(), n_dot_v];
    let mut sum = 0.0;
    for ring in 0..RINGS {
        // Rings crowd towards the horizon: cosine p^2, its step 2 p dp.
        let p = (f64::from(ring) + 0.5) / f64::from(RINGS);
        let n_dot_l = p * p;
        let sine = (1.0 - n_dot_l * n_dot_l).sqrt();
        let visibility = 1.0 / (4.0 * (n_dot_l + n_dot_v - n_dot_l * n_dot_v));
        for spoke in 0..SPOKES {
            let angle = std::f64::consts::PI * (f64::from(spoke) + 0.5) / f64::from(SPOKES);
            let half = [view[0] + sine * libm::cos(angle), sine * libm::sin(angle), view[1] + n_dot_l];
            let across = half[0] * half[0] + half[1] * half[1];
            let sine2 = across / (across + half[2] * half[2]);
            let distribution = (2.0 + exponent) * libm::pow(sine2, 0.5 * exponent);
            sum += distribution * visibility * n_dot_l * 2.0 * p;
        }
    }
    // D's 1 / (2 pi) and the whole turn cancel.
    sum / f64::from(RINGS * SPOKES)
}

const _: () = assert!(include_bytes!("sheen.bin").len() == (DFG_SIDE * DFG_SIDE * 4) as usize);
