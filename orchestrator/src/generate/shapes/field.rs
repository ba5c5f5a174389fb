//! Ground, rocks and blobs: surfaces displaced by noise.

use std::f64::consts::{PI, TAU};

use glam::DVec3;

use super::super::mesh::Mesh;
use super::super::noise::fbm;
use super::super::rng::Rng;
use super::surface;

/// A square of ground about the origin, seen from above.
pub(in super::super) fn heightfield(side: f64, count: u32, height: impl Fn(f64, f64) -> f64) -> Mesh {
    surface(count, count, [side, side], |u, v| {
        // u runs along +Z and v along +X, so that the front is up.
        let (x, z) = ((v - 0.5) * side, (u - 0.5) * side);
        DVec3::new(x, height(x, z), z)
    })
}

/// Rolling ground, 0 on average.
pub(in super::super) fn terrain_height(seed: u64, relief: f64, x: f64, z: f64) -> f64 {
    (fbm(seed, DVec3::new(x * 0.12, 0.5, z * 0.12)) - 0.5) * 2.0 * relief
}

fn displaced(count: u32, radius: f64, squash: DVec3, out: impl Fn(DVec3) -> f64) -> Mesh {
    surface(count, count / 2, [TAU * radius, PI * radius], |u, v| {
        let (sin_v, cos_v) = libm::sincos(PI * v);
        let (sin_u, cos_u) = libm::sincos(TAU * u);
        let direction = DVec3::new(sin_v * cos_u, cos_v, sin_v * sin_u);
        direction * squash * (radius * out(direction))
    })
}

/// A smooth lump, centred.
pub(in super::super) fn blob(rng: &mut Rng, radius: f64, count: u32) -> Mesh {
    let (seed, scale, depth) = (rng.bits() >> 1, rng.range(0.6, 1.6), rng.range(0.3, 0.9));
    displaced(count, radius, DVec3::ONE, |direction| {
        1.0 - depth * (fbm(seed, direction * scale + 7.0) - 0.35).max(0.0)
    })
}

/// A rough stone, centred.
pub(in super::super) fn rock(rng: &mut Rng, radius: f64, count: u32) -> Mesh {
    let (seed, scale) = (rng.bits() >> 1, rng.range(1.2, 2.2));
    let squash = DVec3::new(rng.range(0.7, 1.0), rng.range(0.5, 0.8), rng.range(0.7, 1.0));
    displaced(count, radius, squash, |direction| 0.65 + 0.6 * (fbm(seed, direction * scale + 9.0) - 0.3))
}
