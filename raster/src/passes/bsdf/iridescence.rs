//! A thin film over the surface, KHR_materials_iridescence.
//!
//! *Source*: Belcour and Barla, A Practical Extension to Microfacet Theory for the Modeling of Varying Iridescence,
//! 2017, as the extension's appendix has it.

use super::fresnel::{Fresnel, grazing5};
use super::{LOBE_PRESENT, Parameters};
use crate::exact::{exp2, recip, sin_cos_turns, sqrt};
use crate::passes::vector::Vector;

/// Gaussians fitted to the colour matching functions x, y, z and the second one of x in the Fourier domain. Each:
/// amplitude over the integral of y; turns per nanometre; decay. *Units*: 1; 1/nm; log2 per squared nanometre.
pub const SENSITIVITY: [[f32; 3]; 4] = [
    [0.846_59, 1.681e-3, 2.464_912_3e-7],
    [1.000_221_8, 1.7953e-3, 5.299_464e-7],
    [1.001_122_5, 2.2084e-3, 3.765_942_4e-7],
    [0.153_868_3, 2.2399e-3, 2.579_050_7e-7],
];

/// Rec.709 from XYZ, by rows.
pub const REC709_FROM_XYZ: [[f32; 3]; 3] = [
    [3.240_454_2, -1.537_138_5, -0.498_531_4],
    [-0.969_266, 1.876_010_8, 0.041_556],
    [0.055_643_4, -0.204_025_9, 1.057_225_2],
];

/// Largest reflectance whose index of refraction is looked for.
pub const REFLECTANCE_MAX: f32 = 0.9999;

/// Smallest reflectance of a round trip within the film.
pub const ROUND_TRIP_MIN: f32 = 1e-5;

/// 1 over the thickness up to which a film fades in. *Units*: 1 / nm.
pub const FADE_IN: f32 = 1.0 / 0.03;

/// Schlick's (1 - cosine)^5 counts as at most this when F0 is found from reflectance.
pub const GRAZING_MAX: f32 = 0.9;

/// F0 with which Schlick's Fresnel gives at the viewer's angle what the film gives, so that albedos follow from the
/// split-sum table. Facets at other angles have the colour of that one, as in the glTF sample renderer.
#[inline(always)]
pub(super) fn film(p: &Parameters, f: &Fresnel, cosine: f32) -> Fresnel {
    if p.iridescence < LOBE_PRESENT {
        return *f;
    }
    let reflected = reflectance(p, f.f0, cosine).map(|v| v.max(0.0).min(1.0));
    let grazing = grazing5(cosine).min(GRAZING_MAX);
    let f0 = (reflected - f.f90.scale(grazing)).scale(recip(1.0 - grazing)).map(|v| v.max(0.0).min(1.0));
    Fresnel { f0: f.f0 + (f0 - f.f0).scale(p.iridescence), f90: f.f90 }
}

/// What film and surface reflect together.
#[inline(always)]
fn reflectance(p: &Parameters, f0: Vector, cosine: f32) -> Vector {
    // A film that gets thinner turns into air.
    let t = (p.iridescence_thickness_nm * FADE_IN).max(0.0).min(1.0);
    let ior = 1.0 + (p.iridescence_ior - 1.0) * (t * t * (3.0 - 2.0 * t));
    let inverse = recip(ior);
    let square = 1.0 - (inverse * inverse) * (1.0 - cosine * cosine);
    let below = sqrt(square);
    let r12 = mirror(f0_between(ior, 1.0), cosine);
    let t121 = 1.0 - r12;
    let path = (2.0 * ior) * (p.iridescence_thickness_nm * below);
    let waves = [sensitivity(path), sensitivity(2.0 * path)];
    let channels = f0.array().map(|f0| {
        let root = sqrt(f0.max(0.0).min(REFLECTANCE_MAX));
        let base = (1.0 + root) * recip(1.0 - root);
        let r23 = mirror(f0_between(base, ior), below);
        let round = (r12 * r23).max(ROUND_TRIP_MIN).min(REFLECTANCE_MAX);
        let inner = (t121 * t121) * (r23 * recip(1.0 - round));
        // Half a wave is lost where the index rises: once or twice, between the film's faces.
        let sign = if base < ior { 1.0 } else { -1.0 };
        (inner, sqrt(round), if ior < 1.0 { -sign } else { sign })
    });
    let mut xyz = [[0.0; 3]; 2];
    for m in 0..2 {
        for k in 0..3 {
            let sign = if m == 0 { channels[k].2 } else { 1.0 };
            xyz[m][k] = 2.0 * (waves[m][k] * sign);
        }
    }
    let color = xyz.map(|v| REC709_FROM_XYZ.map(|row| Vector::new(row).dot(Vector::new(v))));
    Vector::new([0, 1, 2].map(|k| {
        let (inner, round, _) = channels[k];
        let first = (inner - t121) * round;
        let second = first * round;
        ((r12 + inner) + first * color[0][k]) + second * color[1][k]
    }))
}

/// Reflectance at normal incidence between two media.
#[inline(always)]
fn f0_between(a: f32, b: f32) -> f32 {
    let ratio = (a - b) * recip(a + b);
    ratio * ratio
}

#[inline(always)]
fn mirror(f0: f32, cosine: f32) -> f32 {
    f0 + (1.0 - f0) * grazing5(cosine)
}

/// XYZ of light whose waves meet after a path difference, without any lost half. *Units*: nm.
#[inline(always)]
fn sensitivity(path: f32) -> [f32; 3] {
    let wave = |[amplitude, frequency, decay]: [f32; 3]| {
        let turns = path * frequency;
        let [_, cos] = sin_cos_turns(turns - turns.floor());
        (amplitude * cos) * exp2(-((decay * path) * path))
    };
    let [x, y, z, more_x] = SENSITIVITY.map(wave);
    [x + more_x, y, z]
}
