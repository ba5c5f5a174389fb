//! Film: the colours of a thin film over a surface. Part of `light`.
//!
//! *Source*: Belcour, Barla, A Practical Extension to Microfacet Theory for the Modeling of Varying Iridescence, 2017,
//! with two interreflections; spectral sensitivities as Gaussians, as in KHR_materials_iridescence.

use fearless_simd::{f32x8, prelude::*};

use super::lobes::Lobes;
use super::microfacet::schlick;
use super::vector::{V3, always};
use crate::exact::{cos_turns8, exp2_8, recip8, sqrt8};

/// A film thinner than this fades out. *Units*: 1 / nanometre.
pub const INVERSE_FADE_NM: f32 = 1.0 / 0.03;
/// Longest optical path: by then colours have long averaged out. *Units*: nanometres.
pub const PATH_MAX_NM: f32 = 65_536.0;
/// Largest reflectance of the base: one of 1 has no index of refraction.
pub const BASE_MAX: f32 = 0.9999;
/// Largest weight of the reflectance at grazing for which that at normal incidence is looked for.
pub const GRAZING_MAX: f32 = 0.9;
/// Bounds of the product of both reflectances.
pub const PRODUCT_MIN: f32 = 1e-5;
/// See [`PRODUCT_MIN`].
pub const PRODUCT_MAX: f32 = 0.9999;

/// Frequencies of X, Y, Z and of X's second peak. *Units*: turns per nanometre of path, 1e-9 of the paper's.
pub const FREQUENCY: [f32; 4] = [1.6810e-3, 1.7953e-3, 2.2084e-3, 2.2399e-3];
/// Their heights over 1.0685e-7: value × sqrt(2 pi variance).
pub const HEIGHT: [f32; 4] = [0.846_59, 1.000_221_9, 1.001_122_5, 0.153_868_3];
/// Their decays: -(2 pi 1e-9)^2 × variance × log2(e), to go with powers of two.
pub const DECAY: [f32; 4] = [-2.464_912_2e-7, -5.299_464_5e-7, -3.765_942_5e-7, -2.579_050_7e-7];
/// Linear Rec.709 from XYZ, rows.
pub const RGB_FROM_XYZ: [[f32; 3]; 3] = [
    [3.240_454_2, -1.537_138_5, -0.498_531_4],
    [-0.969_266, 1.876_010_8, 0.041_556],
    [0.055_643_4, -0.204_025_9, 1.057_225_2],
];

/// Reflectance at normal incidence of a base with this `f0` under the film, such that Schlick's curve gives the
/// film's reflectance at this cosine.
pub fn reflectance<S: Simd>(simd: S, lobes: &Lobes<S>, n_dot_v: f32x8<S>, f0: V3<S>, f90: f32x8<S>) -> V3<S> {
    simd.vectorize(
        #[inline(always)]
        || {
            let (zero, one) = (f32x8::splat(simd, 0.0), f32x8::splat(simd, 1.0));
            let film = Film::new(simd, lobes, n_dot_v);
            let grazing = schlick(n_dot_v).min(f32x8::splat(simd, GRAZING_MAX));
            let scale = recip8(one - grazing);
            let share = lobes.iridescence.max(zero).min(one) * film.there;
            let blend = always(
                #[inline(always)]
                |f0: f32x8<S>, seen: f32x8<S>| {
                    let flat = ((seen.min(one) - f90 * grazing) * scale).max(zero).min(one);
                    f0 + (flat - f0) * share
                },
            );
            let seen = film.over(simd, f0);
            V3 { x: blend(f0.x, seen.x), y: blend(f0.y, seen.y), z: blend(f0.z, seen.z) }
        },
    )
}

/// A film at a point.
struct Film<S: Simd> {
    /// 0 where it has no thickness: Schlick's curve would see it at grazing all the same.
    there: f32x8<S>,
    ior: f32x8<S>,
    /// Cosine within the film; 0 where light does not get in.
    cosine: f32x8<S>,
    /// Reflectance of its upper side.
    upper: f32x8<S>,
    /// What one and two more passes through it add, in colours of white light, -1 to 1.
    once: V3<S>,
    twice: V3<S>,
}

impl<S: Simd> Film<S> {
    #[inline(always)]
    fn new(simd: S, lobes: &Lobes<S>, n_dot_v: f32x8<S>) -> Self {
        let (zero, one) = (f32x8::splat(simd, 0.0), f32x8::splat(simd, 1.0));
        let thickness = lobes.iridescence_thickness_nm.max(zero);
        let t = (thickness * INVERSE_FADE_NM).min(one);
        let there = t * t * (f32x8::splat(simd, 3.0) - t * 2.0);
        let ior = one + (lobes.iridescence_ior - one) * there;
        let inverse = recip8(ior);
        let cosine = sqrt8(one - inverse * inverse * (one - n_dot_v * n_dot_v));
        let upper = fresnel(normal_reflectance(ior, one), n_dot_v);
        let path = (ior * thickness * cosine * 2.0).min(f32x8::splat(simd, PATH_MAX_NM));
        Film { there, ior, cosine, upper, once: interference(path), twice: interference(path * 2.0) }
    }

    /// Reflectance with a base of this reflectance at normal incidence below.
    #[inline(always)]
    fn over(&self, simd: S, f0: V3<S>) -> V3<S> {
        V3 {
            x: self.channel(simd, f0.x, self.once.x, self.twice.x),
            y: self.channel(simd, f0.y, self.once.y, self.twice.y),
            z: self.channel(simd, f0.z, self.once.z, self.twice.z),
        }
    }

    #[inline(always)]
    fn channel(&self, simd: S, f0: f32x8<S>, once: f32x8<S>, twice: f32x8<S>) -> f32x8<S> {
        let (zero, one) = (f32x8::splat(simd, 0.0), f32x8::splat(simd, 1.0));
        let root = sqrt8(f0.max(zero).min(f32x8::splat(simd, BASE_MAX)));
        let base_ior = (one + root) * recip8(one - root);
        let lower = fresnel(normal_reflectance(base_ior, self.ior), self.cosine);
        let product =
            (self.upper * lower).max(f32x8::splat(simd, PRODUCT_MIN)).min(f32x8::splat(simd, PRODUCT_MAX));
        let amplitude = sqrt8(product);
        let entering = one - self.upper;
        let returned = entering * entering * lower * recip8(one - product);
        // The first order changes its sign where the base is the denser: its reflection is half a turn off.
        let first = (returned - entering) * amplitude;
        let turned = base_ior.simd_lt(self.ior).select(first, -first);
        let sum = self.upper + returned + turned * once * 2.0 + first * amplitude * twice * 2.0;
        sum.max(zero)
    }
}

/// Reflectance at normal incidence between two indices.
#[inline(always)]
fn normal_reflectance<S: Simd>(inside: f32x8<S>, outside: f32x8<S>) -> f32x8<S> {
    let ratio = (inside - outside) * recip8(inside + outside);
    ratio * ratio
}

#[inline(always)]
fn fresnel<S: Simd>(f0: f32x8<S>, cosine: f32x8<S>) -> f32x8<S> {
    f0 + (f32x8::splat(f0.simd, 1.0) - f0) * schlick(cosine)
}

/// The colour of white light's interference with itself after a path, -1 to 1 of it.
#[inline(always)]
fn interference<S: Simd>(path_nm: f32x8<S>) -> V3<S> {
    let wave = always(
        #[inline(always)]
        |k: usize| exp2_8(path_nm * path_nm * DECAY[k]) * cos_turns8(path_nm * FREQUENCY[k]) * HEIGHT[k],
    );
    let xyz = V3 { x: wave(0) + wave(3), y: wave(1), z: wave(2) };
    let row = always(
        #[inline(always)]
        |r: [f32; 3]| xyz.x * r[0] + xyz.y * r[1] + xyz.z * r[2],
    );
    V3 { x: row(RGB_FROM_XYZ[0]), y: row(RGB_FROM_XYZ[1]), z: row(RGB_FROM_XYZ[2]) }
}

#[cfg(test)]
mod tests {
    use fearless_simd::Level;

    use super::*;
    use crate::simd::dispatch;

    /// The extension's own text in `f64`, one channel of it.
    fn expected(ior: f64, nm: f64, cosine: f64, f0: f64, channel: usize) -> f64 {
        let fresnel = |f0: f64, cosine: f64| f0 + (1.0 - f0) * libm::pow(1.0 - cosine, 5.0);
        let between = |a: f64, b: f64| libm::pow((a - b) / (a + b), 2.0);
        let refracted = libm::sqrt(1.0 - (1.0 - cosine * cosine) / (ior * ior));
        let upper = fresnel(between(ior, 1.0), cosine);
        let root = libm::sqrt(f0.min(0.9999));
        let base_ior = (1.0 + root) / (1.0 - root);
        let lower = fresnel(between(base_ior, ior), refracted);
        let shift = std::f64::consts::PI * if base_ior < ior { 2.0 } else { 1.0 };
        let product = (upper * lower).clamp(1e-5, 0.9999);
        let returned = (1.0 - upper).powi(2) * lower / (1.0 - product);
        let mut sum = upper + returned;
        let mut amplitude = returned - (1.0 - upper);
        for order in 1..=2 {
            amplitude *= libm::sqrt(product);
            let path = f64::from(order) * 2.0 * ior * nm * refracted * 1e-9;
            sum += amplitude * 2.0 * sensitivity(path, f64::from(order) * shift, channel);
        }
        sum.max(0.0)
    }

    fn sensitivity(path: f64, shift: f64, channel: usize) -> f64 {
        let phase = std::f64::consts::TAU * path;
        let peak = |height: f64, position: f64, variance: f64| {
            let wide = libm::sqrt(std::f64::consts::TAU * variance);
            height * wide * libm::cos(position * phase + shift) * libm::exp(-phase * phase * variance)
                / 1.0685e-7
        };
        let x = peak(5.4856e-13, 1.6810e6, 4.3278e9) + peak(9.7470e-14, 2.2399e6, 4.5282e9);
        let (y, z) = (peak(4.4201e-13, 1.7953e6, 9.3046e9), peak(5.2481e-13, 2.2084e6, 6.6121e9));
        let [rx, ry, rz] = RGB_FROM_XYZ[channel].map(f64::from);
        rx * x + ry * y + rz * z
    }

    #[test]
    fn films_reflect_what_the_extension_says() {
        dispatch!(Level::new(), simd => {
            for (ior, nm) in [(1.3, 400.0), (1.33, 100.0), (1.8, 550.0), (1.2, 900.0), (2.2, 250.0)] {
                for cosine in [0.05, 0.3, 0.7, 1.0] {
                    let at = |v: f32| f32x8::splat(simd, v);
                    let lobes = Lobes {
                        iridescence: at(1.0),
                        iridescence_ior: at(ior),
                        iridescence_thickness_nm: at(nm),
                        ..Lobes::none(simd)
                    };
                    let film = Film::new(simd, &lobes, at(cosine));
                    for f0 in [0.0, 0.04, 0.3, 0.9, 1.0] {
                        let got = film.over(simd, V3::splat(simd, [f0; 3]));
                        for (channel, got) in [got.x[0], got.y[0], got.z[0]].into_iter().enumerate() {
                            let [ior, nm, cosine, f0] = [ior, nm, cosine, f0].map(f64::from);
                            let want = expected(ior, nm, cosine, f0, channel);
                            assert!(
                                (f64::from(got) - want).abs() < 1e-3,
                                "film {ior} of {nm} nm, cosine {cosine}, base {f0}: {got}, not {want}"
                            );
                        }
                    }
                }
            }
        });
    }

    #[test]
    fn a_film_without_thickness_is_not_there() {
        dispatch!(Level::new(), simd => {
            let at = |v: f32| f32x8::splat(simd, v);
            let lobes = Lobes { iridescence: at(1.0), iridescence_ior: at(1.3), ..Lobes::none(simd) };
            for cosine in [0.2, 0.6, 1.0] {
                let f = reflectance(simd, &lobes, at(cosine), V3::splat(simd, [0.04, 0.3, 0.8]), at(1.0));
                let near = |got: f32, want: f32| (got - want).abs() < 0.02;
                assert!(near(f.x[0], 0.04) && near(f.y[0], 0.3) && near(f.z[0], 0.8), "{} {} {}", f.x[0], f.y[0], f.z[0]);
            }
        });
    }
}
