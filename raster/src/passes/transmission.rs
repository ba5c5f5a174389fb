//! Transmission: what shows through a surface. Part of `light`.
//!
//! Classic lighting knows no scene behind a surface, only the environment and the lights.
//! *Source*: KHR_materials_transmission, KHR_materials_volume, KHR_materials_ior.

use fearless_simd::{f32x8, prelude::*};

use super::light::{Lights, ROUGHNESS_MIN, Reflectance, prefiltered};
use super::lobes::Lobes;
use super::microfacet::{self, Angles};
use super::octahedron::turn;
use super::surface::Surface;
use super::vector::V3;
use crate::exact::{exp2_8, recip8, sqrt8};
use crate::prepared::material_flags;

/// log2(e).
pub const LOG2_E: f32 = std::f32::consts::LOG2_E;

/// Share of light that is left after the way through the volume.
pub fn left<S: Simd>(simd: S, lobes: &Lobes<S>) -> V3<S> {
    simd.vectorize(
        #[inline(always)]
        || {
            if !lobes.has(material_flags::VOLUME) {
                return V3::splat(simd, [1.0; 3]);
            }
            let depth = lobes.attenuation.scale(lobes.thickness * -LOG2_E);
            V3 { x: exp2_8(depth.x), y: exp2_8(depth.y), z: exp2_8(depth.z) }
        },
    )
}

/// Perceptual roughness of what is seen through: an index of 1 bends nothing, so nothing is blurred.
#[inline(always)]
fn roughness<S: Simd>(simd: S, s: &Surface<S>, r: &Reflectance<S>) -> f32x8<S> {
    let (zero, one) = (f32x8::splat(simd, 0.0), f32x8::splat(simd, 1.0));
    let blur = (s.lobes.ior * 2.0 - 2.0).max(zero).min(one);
    (r.roughness * blur).max(f32x8::splat(simd, ROUGHNESS_MIN))
}

/// The environment through the surface. What bounds a volume bends light once; nothing is known of its far side.
pub fn behind<S: Simd>(simd: S, lights: &Lights<'_>, s: &Surface<S>, r: &Reflectance<S>) -> V3<S> {
    simd.vectorize(
        #[inline(always)]
        || {
            let one = f32x8::splat(simd, 1.0);
            let mut direction = -s.to_viewer;
            if s.lobes.has(material_flags::VOLUME) {
                let eta = recip8(s.lobes.ior.max(one));
                let inward = sqrt8(one - eta * eta * (one - r.n_dot_v * r.n_dot_v));
                direction = s.normal.scale(eta * r.n_dot_v - inward) - s.to_viewer.scale(eta);
            }
            let c = lights.constants;
            prefiltered(simd, lights.specular, turn(c, direction), roughness(simd, s, r))
        },
    )
}

/// Distribution times visibility and cosine of a light behind the surface, which shines through it as its mirror
/// image would shine on it.
pub fn ggx<S: Simd>(simd: S, s: &Surface<S>, r: &Reflectance<S>, to_light: V3<S>) -> f32x8<S> {
    simd.vectorize(
        #[inline(always)]
        || {
            let mirrored = to_light - s.normal.scale(s.normal.dot(to_light) * 2.0);
            let angles = Angles::new(simd, s.normal, s.to_viewer, mirrored, r.n_dot_v);
            microfacet::ggx(simd, &angles, roughness(simd, s, r)) * angles.n_dot_l
        },
    )
}
