//! Resolve: what a pixel's samples add up to.
//!
//! A pixel holds *layers* (BLEND, nearest first) over *fragments* (one per opaque primitive, in order of their
//! first sample). Each layer takes its share of the light that its samples still let through, then each
//! fragment, then the background. Layers are ordered by the depth key at the pixel's shading point, nearest
//! first, ties to the lower primitive id; at most [`LAYERS_MAX`] are kept, the nearest.
//! *Source*: Porter, Duff 1984 (`over`, premultiplied).

use fearless_simd::{f32x8, prelude::*};

use super::light;
use super::octahedron::{octahedral, octahedral_level, turn};
use super::tonemap::tonemap;
use super::vector::{V3, always, fill};
use crate::draw::{FrameConstants, background_kind};
use crate::exact::{FLUSH_BELOW, Srgb8Encoder, flush8, recip8};

/// Most BLEND layers of a pixel.
pub const LAYERS_MAX: usize = 64;

/// One lit primitive of a pixel.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lit {
    /// Linear radiance.
    pub radiance: [f32; 3],
    /// Alpha; 1 for fragments.
    pub alpha: f32,
    /// Coverage samples.
    pub mask: u32,
}

/// Premultiplied colour, alpha and what of the background shows.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sum {
    /// Premultiplied radiance and alpha.
    pub color: [f32; 4],
    /// Share of the background.
    pub background: f32,
}

/// What one coverage sample counts.
#[inline(always)]
fn share(samples: u32) -> f32 {
    match samples {
        4 => 0.25,
        8 => 0.125,
        16 => 0.0625,
        _ => 1.0,
    }
}

/// [`pixel`] without layers: every sample lets all light through, so the sums over samples are counts.
#[inline(always)]
pub fn opaque_pixel(samples: u32, fragments: impl Iterator<Item = Lit>) -> Sum {
    let share = share(samples);
    let mut sum = Sum::default();
    let mut open = samples;
    for fragment in fragments {
        let count = fragment.mask.count_ones();
        let weight = count as f32 * share;
        for k in 0..3 {
            sum.color[k] += weight * fragment.radiance[k];
        }
        sum.color[3] += weight;
        open -= count;
    }
    sum.background = open as f32 * share;
    sum
}

/// How much of a pixel each of its layers, then each of its fragments is, as [`pixel`] weighs them. Layers are given
/// by mask and alpha, fragments by mask.
pub fn weights(
    samples: u32,
    layers: impl Iterator<Item = (u32, f32)>,
    fragments: impl Iterator<Item = u32>,
    out: &mut Vec<f32>,
) {
    let share = share(samples);
    let mut through = [1.0f32; 16];
    let covered = |mask: u32| (0..samples as usize).filter(move |s| mask >> s & 1 == 1);
    let transmitted =
        |through: &[f32; 16], mask: u32| covered(mask).fold(0.0f32, |total, s| total + through[s]) * share;
    out.clear();
    for (mask, alpha) in layers {
        out.push(transmitted(&through, mask) * alpha);
        let rest = 1.0 - alpha;
        covered(mask).for_each(|s| through[s] *= rest);
    }
    out.extend(fragments.map(|mask| transmitted(&through, mask)));
}

/// Adds up one pixel. `layers` nearest first.
#[inline]
pub fn pixel(samples: u32, layers: impl Iterator<Item = Lit>, fragments: impl Iterator<Item = Lit>) -> Sum {
    let share = share(samples);
    let mut through = [1.0f32; 16];
    let mut sum = Sum::default();
    let mut open = (1u32 << samples) - 1;
    let add = always(
        #[inline(always)]
        |sum: &mut Sum, weight: f32, lit: &Lit| {
            for k in 0..3 {
                sum.color[k] += weight * lit.radiance[k];
            }
            sum.color[3] += weight;
        },
    );
    let transmitted = always(
        #[inline(always)]
        |through: &[f32; 16], mask: u32| {
            let mut total = 0.0f32;
            for s in 0..samples as usize {
                if mask >> s & 1 == 1 {
                    total += through[s];
                }
            }
            total * share
        },
    );
    for layer in layers {
        let weight = transmitted(&through, layer.mask) * layer.alpha;
        add(&mut sum, weight, &layer);
        let rest = 1.0 - layer.alpha;
        for s in 0..samples as usize {
            if layer.mask >> s & 1 == 1 {
                through[s] *= rest;
            }
        }
    }
    for fragment in fragments {
        add(&mut sum, transmitted(&through, fragment.mask), &fragment);
        open &= !fragment.mask;
    }
    sum.background = transmitted(&through, open);
    sum
}

/// Eight finished pixels.
#[derive(Clone, Copy)]
pub struct Finished<S: Simd> {
    /// Premultiplied scene-linear radiance and alpha.
    pub base: [f32x8<S>; 4],
    /// Display-referred linear, straight, and alpha.
    pub display: [f32x8<S>; 4],
}

/// Adds the background, exposes and tone maps eight neighbouring pixels whose centres are at `x_px`, `y_px`
/// from the image centre. `octahedron` is [`crate::environment::Environment::background`].
#[inline(always)]
pub fn finish<S: Simd>(
    simd: S,
    c: &FrameConstants,
    octahedron: &[[f32; 4]],
    color: [f32x8<S>; 4],
    background: f32x8<S>,
    x_px: f32x8<S>,
    y_px: f32x8<S>,
) -> Finished<S> {
    let zero = f32x8::splat(simd, 0.0);
    let one = f32x8::splat(simd, 1.0);
    let mut rgb = V3 { x: color[0], y: color[1], z: color[2] };
    let mut alpha = color[3].min(one);
    if c.background == background_kind::ENVIRONMENT {
        // Also where a row of pixels shows none of it: a pixel may not depend on its neighbours.
        alpha = one;
        if background.simd_gt(zero).any_true() {
            let sky = sky(simd, c, octahedron, x_px, y_px);
            rgb = rgb + sky.scale(background);
        }
    }
    let limit = f32x8::splat(simd, light::RADIANCE_MAX);
    let base = [flush8(rgb.x.min(limit)), flush8(rgb.y.min(limit)), flush8(rgb.z.min(limit)), flush8(alpha)];

    let thin = alpha.simd_lt(f32x8::splat(simd, FLUSH_BELOW));
    let divisor = thin.select(one, alpha);
    let straight = divisor.simd_ge(one).select(one, recip8(divisor));
    let exposed = rgb.scale(straight * c.exposure);
    let mapped = tonemap(simd, c.tonemap, exposed);
    let mut display = V3::select(thin, V3::splat(simd, [0.0; 3]), mapped);
    if c.background == background_kind::CONSTANT {
        let [r, g, b, _] = c.background_linear;
        display = display.scale(alpha) + V3::splat(simd, [r, g, b]).scale(one - alpha);
        alpha = one;
    }
    Finished { base, display: [display.x, display.y, display.z, alpha] }
}

/// The environment itself, through the pixel centre.
#[inline(always)]
fn sky<S: Simd>(
    simd: S,
    c: &FrameConstants,
    octahedron: &[[f32; 4]],
    x_px: f32x8<S>,
    y_px: f32x8<S>,
) -> V3<S> {
    let ray = always(
        #[inline(always)]
        |k: usize| x_px * c.ray_x[k] + y_px * c.ray_y[k] + c.ray_0[k],
    );
    let d = turn(c, V3 { x: ray(0), y: ray(1), z: ray(2) });
    let side = c.background_side;
    octahedral_level(simd, octahedron, [0; 8], [side; 8], octahedral(simd, d))
        .scale(f32x8::splat(simd, c.environment_intensity))
}

/// Straight sRGB8 with straight alpha.
#[inline(always)]
pub fn encode_srgb8<S: Simd>(encoder: &Srgb8Encoder, display: &[f32x8<S>; 4], out: &mut [[u8; 4]]) {
    for (lane, o) in out.iter_mut().enumerate() {
        let alpha = (display[3][lane] * 255.0 + 0.5) as u8;
        let code = |k: usize| encoder.encode(display[k][lane]);
        *o = [code(0), code(1), code(2), alpha];
    }
}

/// Premultiplied linear.
#[inline(always)]
pub fn encode_linear<S: Simd>(display: &[f32x8<S>; 4], out: &mut [[f32; 4]]) {
    let premultiplied: [f32x8<S>; 4] = fill(
        #[inline(always)]
        |k| flush8(if k < 3 { display[k] * display[3] } else { display[3] }),
    );
    for (lane, o) in out.iter_mut().enumerate() {
        *o = fill(
            #[inline(always)]
            |k| premultiplied[k][lane],
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opaque_pixels_are_pixels_without_layers() {
        let mut seed = 1u32;
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            seed >> 8
        };
        for samples in [1, 4, 8, 16] {
            for _ in 0..500 {
                let mut open = (1u32 << samples) - 1;
                let mut fragments = Vec::new();
                for _ in 0..next() % 5 {
                    let mask = next() & open;
                    open &= !mask;
                    let radiance = std::array::from_fn(|_| next() as f32 / 65536.0);
                    fragments.push(Lit { radiance, alpha: 1.0, mask });
                }
                let (a, b) = (
                    pixel(samples, std::iter::empty(), fragments.iter().copied()),
                    opaque_pixel(samples, fragments.iter().copied()),
                );
                let bits = |s: &Sum| (s.color.map(f32::to_bits), s.background.to_bits());
                assert_eq!(bits(&a), bits(&b), "{samples} samples: {fragments:?}");
            }
        }
    }
}
