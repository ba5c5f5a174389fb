//! Tone mapping: scene-linear radiance to display-referred linear.
//!
//! *Source*: Khronos PBR Neutral Tone Mapper 1.0; ACES fit by Stephen Hill (BakingLab).

use fearless_simd::{f32x8, prelude::*};

use super::vector::{V3, always};
use crate::exact::recip8;

/// Where Neutral starts to compress.
pub const NEUTRAL_START: f32 = 0.76;
/// How much Neutral desaturates.
pub const NEUTRAL_DESATURATION: f32 = 0.15;

/// Rows of the ACES input transform.
pub const ACES_INPUT: [[f32; 4]; 3] =
    [[0.59719, 0.35458, 0.04823, 0.0], [0.07600, 0.90834, 0.01566, 0.0], [0.02840, 0.13383, 0.83777, 0.0]];
/// Rows of the ACES output transform.
pub const ACES_OUTPUT: [[f32; 4]; 3] = [
    [1.60475, -0.53108, -0.07367, 0.0],
    [-0.10208, 1.10813, -0.00605, 0.0],
    [-0.00327, -0.07276, 1.07602, 0.0],
];
/// Values are clamped to this before the ACES curve.
pub const ACES_MAX: f32 = 1e6;

/// Applies curve `tonemap` (0 none, 1 Neutral, 2 ACES) to exposed radiance.
#[inline(always)]
pub fn tonemap<S: Simd>(simd: S, tonemap: u32, c: V3<S>) -> V3<S> {
    match tonemap {
        1 => neutral(simd, c),
        2 => aces(simd, c),
        _ => c,
    }
}

#[inline(always)]
fn neutral<S: Simd>(simd: S, c: V3<S>) -> V3<S> {
    let one = f32x8::splat(simd, 1.0);
    let start = f32x8::splat(simd, NEUTRAL_START);
    let least = c.x.min(c.y).min(c.z);
    let toe = least - least * least * 6.25;
    let offset = least.simd_lt(f32x8::splat(simd, 0.08)).select(toe, f32x8::splat(simd, 0.04));
    let c = V3 { x: c.x - offset, y: c.y - offset, z: c.z - offset };
    let peak = c.x.max(c.y).max(c.z);
    let compressed = peak.simd_ge(start);
    let peak = peak.max(start);
    const D: f32 = 1.0 - NEUTRAL_START;
    let new_peak = one - recip8(peak + (D - NEUTRAL_START)) * (D * D);
    let scaled = c.scale(new_peak * recip8(peak));
    let grey = one - recip8((peak - new_peak) * NEUTRAL_DESATURATION + 1.0);
    let bright = V3 {
        x: scaled.x + (new_peak - scaled.x) * grey,
        y: scaled.y + (new_peak - scaled.y) * grey,
        z: scaled.z + (new_peak - scaled.z) * grey,
    };
    V3::select(compressed, bright, c)
}

#[inline(always)]
fn aces<S: Simd>(simd: S, c: V3<S>) -> V3<S> {
    let zero = f32x8::splat(simd, 0.0);
    let one = f32x8::splat(simd, 1.0);
    let most = f32x8::splat(simd, ACES_MAX);
    let c = V3 { x: c.x.min(most), y: c.y.min(most), z: c.z.min(most) };
    let c = c.transform_vector(&ACES_INPUT);
    let curve = always(
        #[inline(always)]
        |v: f32x8<S>| {
            let a = v * (v + 0.024_578_6) - 0.000_090_537;
            let b = v * (v * 0.983_729 + 0.432_951) + 0.238_081;
            a * recip8(b)
        },
    );
    let c = V3 { x: curve(c.x), y: curve(c.y), z: curve(c.z) }.transform_vector(&ACES_OUTPUT);
    V3 { x: c.x.max(zero).min(one), y: c.y.max(zero).min(one), z: c.z.max(zero).min(one) }
}
