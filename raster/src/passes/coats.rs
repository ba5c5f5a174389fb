//! Coats: what lies over a surface: fibres, and over them a clear coat. Part of `light`.
//!
//! A coat reflects its share of the light and leaves the rest to what is beneath, so that together they give back no
//! more than they got.
//! *Source*: KHR_materials_clearcoat, KHR_materials_sheen.

use fearless_simd::{f32x8, prelude::*};

use super::light::{DIELECTRIC_F0, Lights, NOV_MIN, ROUGHNESS_MIN, albedo, mirror, prefiltered};
use super::microfacet::{self, Angles};
use super::octahedron::turn;
use super::surface::Surface;
use super::vector::{V3, always};
use crate::environment::SHEEN_ROUGHNESS_MIN;
use crate::exact::{recip8, sqrt8};
use crate::prepared::material_flags;

/// The coats of a point.
#[derive(Clone, Copy)]
pub struct Coats<S: Simd> {
    /// Share of light that the coat leaves to what is beneath it.
    pub through_coat: f32x8<S>,
    /// Strength of the coat.
    coat: f32x8<S>,
    /// Share of uniform light that the coat reflects.
    coat_albedo: f32x8<S>,
    /// Perceptual.
    coat_roughness: f32x8<S>,
    /// Cosine between the coat's normal and the viewer, above 0.
    coat_n_dot_v: f32x8<S>,
    /// Share of light that the fibres leave to what is beneath them.
    through_sheen: f32x8<S>,
    /// Colour of the fibres.
    sheen: V3<S>,
    /// Share of uniform light that white fibres reflect.
    sheen_albedo: f32x8<S>,
    /// What the lobe is scaled by, so that it reflects no more than it gets.
    sheen_scale: f32x8<S>,
    /// Perceptual.
    sheen_roughness: f32x8<S>,
}

impl<S: Simd> Coats<S> {
    /// Nothing over the surface.
    #[inline(always)]
    pub fn none(simd: S) -> Self {
        let zero = f32x8::splat(simd, 0.0);
        Coats {
            through_coat: f32x8::splat(simd, 1.0),
            coat: zero,
            coat_albedo: zero,
            coat_roughness: zero,
            coat_n_dot_v: zero,
            through_sheen: f32x8::splat(simd, 1.0),
            sheen: V3 { x: zero, y: zero, z: zero },
            sheen_albedo: zero,
            sheen_scale: zero,
            sheen_roughness: zero,
        }
    }

    /// Of a surface with a coat or fibres.
    pub fn new(simd: S, lights: &Lights<'_>, s: &Surface<S>, n_dot_v: f32x8<S>) -> Self {
        simd.vectorize(
            #[inline(always)]
            || {
                let (zero, one) = (f32x8::splat(simd, 0.0), f32x8::splat(simd, 1.0));
                let mut coats = Coats::none(simd);
                if s.lobes.has(material_flags::SHEEN) {
                    let color = s.lobes.sheen_color;
                    let unit = always(
                        #[inline(always)]
                        |v: f32x8<S>| v.max(zero).min(one),
                    );
                    let roughness = s.lobes.sheen_roughness;
                    coats.sheen = V3 { x: unit(color.x), y: unit(color.y), z: unit(color.z) };
                    coats.sheen_roughness = roughness.max(f32x8::splat(simd, SHEEN_ROUGHNESS_MIN)).min(one);
                    let table = lights.sheen.as_chunks().0;
                    let [whole] = albedo(simd, table, sqrt8(n_dot_v), coats.sheen_roughness);
                    coats.sheen_albedo = whole.min(one);
                    coats.sheen_scale = recip8(whole.max(one));
                    let largest = coats.sheen.x.max(coats.sheen.y).max(coats.sheen.z);
                    coats.through_sheen = one - largest * coats.sheen_albedo;
                }
                if s.lobes.has(material_flags::CLEARCOAT) {
                    let roughness = s.lobes.clearcoat_roughness;
                    let n_dot_v = s.lobes.clearcoat_normal.dot(s.to_viewer);
                    coats.coat = s.lobes.clearcoat.max(zero).min(one);
                    coats.coat_roughness = roughness.max(f32x8::splat(simd, ROUGHNESS_MIN)).min(one);
                    coats.coat_n_dot_v = n_dot_v.max(f32x8::splat(simd, NOV_MIN)).min(one);
                    let [scale, bias] = albedo(simd, lights.dfg, coats.coat_n_dot_v, coats.coat_roughness);
                    coats.coat_albedo = coats.coat * (scale * DIELECTRIC_F0 + bias);
                    coats.through_coat = one - coats.coat_albedo;
                }
                coats
            },
        )
    }

    /// Adds the coats over the light of the environment that `beneath` gives.
    pub fn environment(&self, simd: S, lights: &Lights<'_>, s: &Surface<S>, beneath: V3<S>) -> V3<S> {
        simd.vectorize(
            #[inline(always)]
            || {
                let c = lights.constants;
                let mut light = beneath;
                if s.lobes.has(material_flags::SHEEN) {
                    let seen = turn(c, mirror(s.normal, s.to_viewer));
                    let fibres = self.sheen * prefiltered(simd, lights.specular, seen, self.sheen_roughness);
                    light = light.scale(self.through_sheen) + fibres.scale(self.sheen_albedo);
                }
                if s.lobes.has(material_flags::CLEARCOAT) {
                    let seen = turn(c, mirror(s.lobes.clearcoat_normal, s.to_viewer));
                    let coat = prefiltered(simd, lights.specular, seen, self.coat_roughness);
                    light = light.scale(self.through_coat) + coat.scale(self.coat_albedo);
                }
                light
            },
        )
    }

    /// Adds the coats over the light of a punctual light that `beneath` gives.
    pub fn punctual(
        &self,
        simd: S,
        s: &Surface<S>,
        to_light: V3<S>,
        angles: &Angles<S>,
        beneath: V3<S>,
    ) -> V3<S> {
        simd.vectorize(
            #[inline(always)]
            || {
                let mut light = beneath;
                if s.lobes.has(material_flags::SHEEN) {
                    let spread = microfacet::charlie(simd, angles, self.sheen_roughness);
                    let fibres = self.sheen.scale(spread * self.sheen_scale * angles.n_dot_l);
                    light = light.scale(self.through_sheen) + fibres;
                }
                if s.lobes.has(material_flags::CLEARCOAT) {
                    let normal = s.lobes.clearcoat_normal;
                    let angles = Angles::new(simd, normal, s.to_viewer, to_light, self.coat_n_dot_v);
                    let fresnel = angles.fresnel() * (1.0 - DIELECTRIC_F0) + DIELECTRIC_F0;
                    let spread = microfacet::ggx(simd, &angles, self.coat_roughness);
                    let coat = self.coat * fresnel * spread * angles.n_dot_l;
                    light = light.scale(self.through_coat) + V3 { x: coat, y: coat, z: coat };
                }
                light
            },
        )
    }
}
