//! Microfacets: GGX with height-correlated Smith, round and stretched, and fibres. Part of `light`.
//!
//! *Source*: Heitz, Understanding the Masking-Shadowing Function in Microfacet-Based BRDFs, 2014;
//! KHR_materials_anisotropy; fibres: see [`crate::environment::sheen_table`].

use fearless_simd::{f32x8, prelude::*};

use super::light::INVERSE_PI;
use super::surface::Surface;
use super::vector::{V3, always};
use crate::exact::{exp2_8, log2_8, recip8, sqrt8};

/// Smallest divisor of the visibility term.
pub const DIVISOR_MIN: f32 = 1e-6;

/// Cosines between normal, viewer, light and the direction half way, 0 to 1.
pub struct Angles<S: Simd> {
    /// Unit, half way between viewer and light.
    pub half: V3<S>,
    /// Above 0.
    pub n_dot_v: f32x8<S>,
    /// Normal and light.
    pub n_dot_l: f32x8<S>,
    /// Normal and half way.
    pub n_dot_h: f32x8<S>,
    /// Viewer and half way.
    pub v_dot_h: f32x8<S>,
}

impl<S: Simd> Angles<S> {
    /// Of unit vectors.
    #[inline(always)]
    pub fn new(simd: S, normal: V3<S>, to_viewer: V3<S>, to_light: V3<S>, n_dot_v: f32x8<S>) -> Self {
        let zero = f32x8::splat(simd, 0.0);
        let one = f32x8::splat(simd, 1.0);
        let clamp = always(
            #[inline(always)]
            |v: f32x8<S>| v.max(zero).min(one),
        );
        let half = (to_light + to_viewer).normalize();
        Angles {
            half,
            n_dot_v,
            n_dot_l: clamp(normal.dot(to_light)),
            n_dot_h: clamp(normal.dot(half)),
            v_dot_h: clamp(to_viewer.dot(half)),
        }
    }

    /// Schlick's weight of the reflectance at grazing.
    #[inline(always)]
    pub fn fresnel(&self) -> f32x8<S> {
        schlick(self.v_dot_h)
    }
}

/// Schlick's weight of the reflectance at grazing, for a cosine of 0 to 1.
#[inline(always)]
pub fn schlick<S: Simd>(cosine: f32x8<S>) -> f32x8<S> {
    let grazing = f32x8::splat(cosine.simd, 1.0) - cosine;
    let grazing2 = grazing * grazing;
    grazing2 * grazing2 * grazing
}

/// Distribution times visibility of a perceptual roughness.
#[inline(always)]
pub fn ggx<S: Simd>(simd: S, a: &Angles<S>, roughness: f32x8<S>) -> f32x8<S> {
    let one = f32x8::splat(simd, 1.0);
    let least = f32x8::splat(simd, DIVISOR_MIN);
    let alpha = roughness * roughness;
    let alpha2 = alpha * alpha;
    let d = (a.n_dot_h * alpha2 - a.n_dot_h) * a.n_dot_h + one;
    let distribution = alpha2 * INVERSE_PI * recip8((d * d).max(least * least));
    let smith_v = a.n_dot_l * sqrt8((a.n_dot_v - a.n_dot_v * alpha2) * a.n_dot_v + alpha2);
    let smith_l = a.n_dot_v * sqrt8((a.n_dot_l - a.n_dot_l * alpha2) * a.n_dot_l + alpha2);
    distribution * (recip8((smith_v + smith_l).max(least)) * 0.5)
}

/// 1 / (8 pi): the distribution's 1 / (2 pi) and the visibility's 1 / 4.
pub const CHARLIE_SCALE: f32 = INVERSE_PI / 8.0;

/// Distribution times visibility of fibres of a perceptual roughness.
#[inline(always)]
pub fn charlie<S: Simd>(simd: S, a: &Angles<S>, roughness: f32x8<S>) -> f32x8<S> {
    let one = f32x8::splat(simd, 1.0);
    let exponent = recip8(roughness * roughness);
    let sine2 = one - a.n_dot_h * a.n_dot_h;
    let distribution = (exponent + 2.0) * exp2_8(log2_8(sine2) * (exponent * 0.5));
    distribution * recip8(a.n_dot_l + a.n_dot_v - a.n_dot_l * a.n_dot_v) * CHARLIE_SCALE
}

/// A lobe that is longer along a direction than across it.
#[derive(Clone, Copy)]
pub struct Stretch<S: Simd> {
    tangent: V3<S>,
    bitangent: V3<S>,
    /// Roughness of the distribution along the tangent and across it.
    alpha_along: f32x8<S>,
    alpha_across: f32x8<S>,
}

impl<S: Simd> Stretch<S> {
    /// None.
    #[inline(always)]
    pub fn none(simd: S) -> Self {
        let zero = f32x8::splat(simd, 0.0);
        let nowhere = V3 { x: zero, y: zero, z: zero };
        Stretch { tangent: nowhere, bitangent: nowhere, alpha_along: zero, alpha_across: zero }
    }

    /// Of a surface with anisotropy and this perceptual roughness.
    #[inline(always)]
    pub fn new(simd: S, s: &Surface<S>, roughness: f32x8<S>) -> Self {
        let one = f32x8::splat(simd, 1.0);
        let strength = strength(simd, s);
        let alpha = roughness * roughness;
        Stretch {
            tangent: s.lobes.tangent,
            bitangent: s.normal.cross(s.lobes.tangent),
            alpha_along: alpha + (one - alpha) * (strength * strength),
            alpha_across: alpha,
        }
    }

    /// Perceptual roughness of the round lobe that covers as much.
    #[inline(always)]
    pub fn mean_roughness(&self) -> f32x8<S> {
        sqrt8(sqrt8(self.alpha_along * self.alpha_across))
    }

    /// The normal about which the environment is mirrored: bent so that the lobe lies across the tangent.
    #[inline(always)]
    pub fn bent_normal(&self, simd: S, s: &Surface<S>, roughness: f32x8<S>) -> V3<S> {
        let one = f32x8::splat(simd, 1.0);
        let across = self.bitangent;
        let flat = across.cross(s.to_viewer).cross(across);
        let keep = one - strength(simd, s) * (one - roughness);
        let keep2 = keep * keep;
        (flat + (s.normal - flat).scale(keep2 * keep2)).normalize()
    }

    /// Distribution times visibility.
    #[inline(always)]
    pub fn ggx(&self, simd: S, to_viewer: V3<S>, to_light: V3<S>, a: &Angles<S>) -> f32x8<S> {
        let least = f32x8::splat(simd, DIVISOR_MIN);
        let (along, across) = (self.alpha_along, self.alpha_across);
        let area = along * across;
        let f = V3 {
            x: self.tangent.dot(a.half) * across,
            y: self.bitangent.dot(a.half) * along,
            z: a.n_dot_h * area,
        };
        let w = area * recip8(f.dot(f).max(least * least));
        let distribution = area * INVERSE_PI * (w * w);
        let reach = always(
            #[inline(always)]
            |to: V3<S>, n_dot: f32x8<S>| {
                let g = V3 { x: self.tangent.dot(to) * along, y: self.bitangent.dot(to) * across, z: n_dot };
                sqrt8(g.dot(g))
            },
        );
        let smith_v = a.n_dot_l * reach(to_viewer, a.n_dot_v);
        let smith_l = a.n_dot_v * reach(to_light, a.n_dot_l);
        distribution * (recip8((smith_v + smith_l).max(least)) * 0.5)
    }
}

#[inline(always)]
fn strength<S: Simd>(simd: S, s: &Surface<S>) -> f32x8<S> {
    s.lobes.anisotropy.max(f32x8::splat(simd, 0.0)).min(f32x8::splat(simd, 1.0))
}

#[cfg(test)]
mod tests {
    use fearless_simd::Level;

    use super::*;
    use crate::simd::dispatch;

    /// Directions over the hemisphere about +Z with the solid angle of each: `side` squared of equal area.
    fn hemisphere(side: u32) -> impl Iterator<Item = ([f32; 3], f32)> {
        let area = std::f32::consts::TAU / (side * side) as f32;
        (0..side * side).map(move |k| {
            let z = ((k / side) as f32 + 0.5) / side as f32;
            let angle = std::f32::consts::TAU * ((k % side) as f32 + 0.5) / side as f32;
            let radius = (1.0 - z * z).sqrt();
            ([radius * angle.cos(), radius * angle.sin(), z], area)
        })
    }

    /// A lobe along X on a surface that faces +Z.
    fn lobe<S: Simd>(simd: S, along: f32, across: f32) -> Stretch<S> {
        Stretch {
            tangent: V3::splat(simd, [1.0, 0.0, 0.0]),
            bitangent: V3::splat(simd, [0.0, 1.0, 0.0]),
            alpha_along: f32x8::splat(simd, along),
            alpha_across: f32x8::splat(simd, across),
        }
    }

    fn angles<S: Simd>(simd: S, v: [f32; 3], l: [f32; 3]) -> (V3<S>, V3<S>, Angles<S>) {
        let (v, l, n) = (V3::splat(simd, v), V3::splat(simd, l), V3::splat(simd, [0.0, 0.0, 1.0]));
        let angles = Angles::new(simd, n, v, l, n.dot(v));
        (v, l, angles)
    }

    #[test]
    fn a_lobe_that_is_not_stretched_is_round() {
        dispatch!(Level::new(), simd => {
            for roughness in [0.2f32, 0.5, 1.0] {
                let alpha = roughness * roughness;
                for (v, _) in hemisphere(4) {
                    for (l, _) in hemisphere(5) {
                        let (to_viewer, to_light, a) = angles(simd, v, l);
                        let round = ggx(simd, &a, f32x8::splat(simd, roughness))[0];
                        let same = lobe(simd, alpha, alpha).ggx(simd, to_viewer, to_light, &a)[0];
                        assert!((round - same).abs() <= 1e-3 * round, "{roughness}, {v:?}, {l:?}: {round} {same}");
                    }
                }
            }
        });
    }

    #[test]
    fn stretched_lobes_reflect_at_most_what_they_get() {
        dispatch!(Level::new(), simd => {
            for (along, across) in [(0.3, 0.3), (0.9, 0.2), (1.0, 0.1), (0.25, 0.8)] {
                let stretch = lobe(simd, along, across);
                for v in [[0.0, 0.0, 1.0], [0.6, 0.0, 0.8], [0.0, 0.6, 0.8], [0.9f32, 0.3, 0.316_227_77]] {
                    let mut sum = 0.0;
                    for (l, area) in hemisphere(160) {
                        let (to_viewer, to_light, a) = angles(simd, v, l);
                        sum += stretch.ggx(simd, to_viewer, to_light, &a)[0] * l[2] * area;
                    }
                    assert!(sum <= 1.005, "{along} {across} {v:?}: {sum}");
                }
            }
        });
    }
}
