//! Tone mapping: scene-linear radiance to display-referred linear.
//!
//! *Source*: Khronos PBR Neutral Tone Mapper 1.0; ACES fit by Stephen Hill (BakingLab).

use fearless_simd::{f32x8, prelude::*};

use super::vector::{V3, always};
use crate::exact::recip8;

/// Codes of the curves, as in [`FrameConstants::tonemap`](crate::draw::FrameConstants::tonemap).
#[allow(missing_docs)]
pub mod curve {
    pub const NONE: u32 = 0;
    pub const NEUTRAL: u32 = 1;
    pub const ACES: u32 = 2;
}

/// What Neutral takes off: the reflection of a dielectric.
pub const NEUTRAL_OFFSET: f32 = 0.04;
/// Below this least channel Neutral takes less off, along a parabola.
pub const NEUTRAL_TOE: f32 = 0.08;
/// Square coefficient of that parabola.
pub const NEUTRAL_TOE_SQUARED: f32 = 6.25;
/// Where Neutral starts to compress.
pub const NEUTRAL_START: f32 = 0.76;
/// Neutral compresses a peak p to 1 - scale / (p + offset).
pub const NEUTRAL_PEAK_SCALE: f32 = (1.0 - NEUTRAL_START) * (1.0 - NEUTRAL_START);
/// See [`NEUTRAL_PEAK_SCALE`].
pub const NEUTRAL_PEAK_OFFSET: f32 = (1.0 - NEUTRAL_START) - NEUTRAL_START;
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
/// Coefficients a to e of the ACES curve (v (v + a) - b) / (v (v c + d) + e).
pub const ACES_CURVE: [f32; 5] = [0.024_578_6, 0.000_090_537, 0.983_729, 0.432_951, 0.238_081];

/// Applies a [`curve`] to exposed radiance.
#[inline(always)]
pub fn tonemap<S: Simd>(simd: S, tonemap: u32, c: V3<S>) -> V3<S> {
    match tonemap {
        curve::NEUTRAL => neutral(simd, c),
        curve::ACES => aces(simd, c),
        _ => c,
    }
}

#[inline(always)]
fn neutral<S: Simd>(simd: S, c: V3<S>) -> V3<S> {
    let one = f32x8::splat(simd, 1.0);
    let start = f32x8::splat(simd, NEUTRAL_START);
    let least = c.x.min(c.y).min(c.z);
    let toe = least - least * least * NEUTRAL_TOE_SQUARED;
    let offset =
        least.simd_lt(f32x8::splat(simd, NEUTRAL_TOE)).select(toe, f32x8::splat(simd, NEUTRAL_OFFSET));
    let c = V3 { x: c.x - offset, y: c.y - offset, z: c.z - offset };
    let peak = c.x.max(c.y).max(c.z);
    let compressed = peak.simd_ge(start);
    let peak = peak.max(start);
    let new_peak = one - recip8(peak + NEUTRAL_PEAK_OFFSET) * NEUTRAL_PEAK_SCALE;
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
            let [a, b, c, d, e] = ACES_CURVE;
            (v * (v + a) - b) * recip8(v * (v * c + d) + e)
        },
    );
    let c = V3 { x: curve(c.x), y: curve(c.y), z: curve(c.z) }.transform_vector(&ACES_OUTPUT);
    V3 { x: c.x.max(zero).min(one), y: c.y.max(zero).min(one), z: c.z.max(zero).min(one) }
}
