//! What the tests of the lobes share.

use isoframe_raster::environment::{dfg_table, sheen_table};
use isoframe_raster::passes::bsdf::{Bsdf, Lobe, Parameters, Tables};
use isoframe_raster::passes::vector::Vector;

use crate::quadrature::{Direction, integrate, viewer};

pub const ROUGHNESSES: [f32; 6] = [0.0, 0.1, 0.25, 0.5, 0.75, 1.0];
pub const COSINES: [f64; 5] = [0.08, 0.2, 0.45, 0.75, 0.98];

pub fn tables() -> Tables<'static> {
    Tables { dfg: dfg_table(), sheen: sheen_table() }
}

pub fn vector(d: Direction) -> Vector {
    Vector::new(d.map(|x| x as f32))
}

pub fn array(v: Vector) -> Direction {
    v.array().map(f64::from)
}

/// Shares of uniform white light, and of what is sampled.
#[derive(Debug, Clone, Copy)]
pub struct Furnace {
    pub diffuse: Direction,
    pub specular: Direction,
    pub density: f64,
}

impl Furnace {
    /// All that is scattered.
    pub fn total(&self) -> Direction {
        [0, 1, 2].map(|k| self.diffuse[k] + self.specular[k])
    }
}

/// Alphas at which a surface may have peaks.
pub fn peaks(p: &Parameters) -> Vec<f64> {
    let alpha = |roughness: f32| f64::from(roughness.max(0.045)).powi(2);
    let mut all = vec![alpha(p.roughness)];
    if p.clearcoat > 0.0 {
        all.push(alpha(p.clearcoat_roughness));
    }
    all
}

/// Integrates what [`Bsdf::evaluate`] says.
pub fn evaluated(p: &Parameters, view: Direction, side: u32) -> Furnace {
    let bsdf = Bsdf::new(p, vector(view), &tables());
    let tint = array(bsdf.diffuse_reflectance());
    let sums: [f64; 7] = integrate(view, &peaks(p), side, p.transmission > 0.0, |light| {
        let s = bsdf.evaluate(vector(light));
        let (d, r) = (array(s.diffuse), array(s.specular));
        [d[0] * tint[0], d[1] * tint[1], d[2] * tint[2], r[0], r[1], r[2], f64::from(s.pdf)]
    });
    Furnace { diffuse: [sums[0], sums[1], sums[2]], specular: [sums[3], sums[4], sums[5]], density: sums[6] }
}

/// A hash of a counter, as a fraction. *Source*: PCG, "Hash Functions for GPU Rendering" (Jarzynski, Olano 2020).
pub fn random(k: u32) -> f32 {
    let state = k.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
    let word = ((state >> ((state >> 28) + 4)) ^ state).wrapping_mul(277_803_737);
    (((word >> 22) ^ word) >> 8) as f32 / 16_777_216.0
}

/// Mean and standard error of what [`Bsdf::sample`] brings, and the share of samples that bring something.
pub struct Sampling {
    pub mean: Furnace,
    pub error: Direction,
}

/// Averages over samples, each held to [`Bsdf::evaluate`] of its direction.
pub fn sampled(p: &Parameters, view: Direction, count: u32, seed: u32) -> Sampling {
    let bsdf = Bsdf::new(p, vector(view), &tables());
    let tint = array(bsdf.diffuse_reflectance());
    let mut mean = Furnace { diffuse: [0.0; 3], specular: [0.0; 3], density: 0.0 };
    let mut squares = [0.0; 3];
    for k in 0..count {
        let u = [0, 1, 2].map(|d| random((k * 3 + d).wrapping_add(seed.wrapping_mul(0x9E37_79B9))));
        let Some(sample) = bsdf.sample(u) else { continue };
        let s = sample.scattered;
        assert_eq!(s, bsdf.evaluate(sample.to_light), "{p:?} {u:?}");
        assert!(s.pdf.is_finite() && s.pdf > 0.0, "{p:?} {u:?} {s:?}");
        let length = sample.to_light.dot(sample.to_light);
        assert!((length - 1.0).abs() < 1e-5, "{length}");
        assert_eq!(sample.transmitted, sample.to_light.dot(p.normal) < 0.0, "{p:?} {u:?}");
        assert!(!(sample.transmitted && sample.lobe == Lobe::Diffuse), "{p:?} {u:?}");
        let weight = 1.0 / (f64::from(s.pdf) * f64::from(count));
        for c in 0..3 {
            let (d, r) = (array(s.diffuse)[c] * tint[c] * weight, array(s.specular)[c] * weight);
            assert!(d >= 0.0 && r >= 0.0, "{p:?} {u:?} {s:?}");
            mean.diffuse[c] += d;
            mean.specular[c] += r;
            squares[c] += (d + r) * (d + r) * f64::from(count);
        }
        mean.density += 1.0 / f64::from(count);
    }
    let total = mean.total();
    let error = [0, 1, 2].map(|c| ((squares[c] - total[c] * total[c]).max(0.0) / f64::from(count)).sqrt());
    Sampling { mean, error }
}

/// What samples bring of uniform light, for what has its peaks where quadrature does not look. It may not be more than
/// all.
pub fn check_samples(p: &Parameters, cosine: f64, turn: f64) -> f64 {
    let sampling = sampled(p, viewer(cosine, turn), 20_000, 3);
    let total = sampling.mean.total();
    for c in 0..3 {
        assert!(total[c] <= 1.005 + 4.5 * sampling.error[c], "{total:?} at n·v {cosine}, {turn}, {p:?}");
    }
    total[0]
}

/// Holds a surface to what any must keep: nothing is gained, sampling finds what evaluation says, densities are
/// whole. Returns what was found.
pub fn check(p: &Parameters, cosine: f64, turn: f64) -> Furnace {
    let view = viewer(cosine, turn);
    let found = evaluated(p, view, 160);
    let what = format!("n·v {cosine}, {p:?}: {found:?}");
    for c in 0..3 {
        assert!(found.total()[c] <= 1.005, "gains: {what}");
    }
    let sampling = sampled(p, view, 40_000, (cosine * 1000.0) as u32);
    for c in 0..3 {
        let difference = sampling.mean.total()[c] - found.total()[c];
        let bound = 4.5 * sampling.error[c] + 2e-3;
        assert!(difference.abs() <= bound, "sampling is {difference} off, of {bound}: {what}");
    }
    // What the samples lost below the horizon is missing from the density, too.
    let lost = found.density - sampling.mean.density;
    assert!(lost.abs() < 6e-3 && found.density < 1.002, "density {lost} off: {what}");
    found
}
