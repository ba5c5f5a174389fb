//! Light: classic lighting of a surface: environment and punctual lights, no shadows, no noise.
//!
//! *Reads*: surfaces, lights, the prefiltered environment, the split-sum table. *Writes*: linear radiance.
//! Energy is kept: what a point reflects once goes where the lobe sends it, what it reflects more often and what
//! enters it is spread evenly, and the shares sum to one over what is not absorbed.
//! *Source*: GGX with height-correlated Smith (Heitz 2014), split sum (Karis 2013), multiple scattering
//! (Fdez-Agüera 2019), glTF 2.0 appendix B, KHR_lights_punctual.

use fearless_simd::{f32x8, i32x8, mask32x8, prelude::*};

use super::coats::Coats;
use super::film;
use super::microfacet::{self, Angles, Stretch};
use super::octahedron::{octahedral, octahedral_level, turn};
use super::surface::Surface;
use super::transmission;
use super::vector::{V3, always, fill, lanes};
use crate::draw::{FrameConstants, PackedLight, light_kind};
use crate::environment::{DFG_SIDE, LEVELS, OCTAHEDRAL_SIDE};
use crate::exact::{recip8, rsqrt8};
use crate::prepared::material_flags;

/// Radiance is clamped to this, the largest finite half.
pub const RADIANCE_MAX: f32 = 65504.0;

/// Smallest roughness of punctual highlights.
pub const ROUGHNESS_MIN: f32 = 0.045;

/// Smallest cosine between normal and viewer.
pub const NOV_MIN: f32 = 1e-4;

/// Smallest squared distance to a light.
pub const DISTANCE2_MIN: f32 = 1e-8;

/// Reflectance of dielectrics at normal incidence, glTF's.
pub const DIELECTRIC_F0: f32 = 0.04;

/// Weight of 1 - F0 in the mean of Schlick's Fresnel over the hemisphere.
pub const FRESNEL_MEAN: f32 = 1.0 / 21.0;

/// 1 / pi.
pub const INVERSE_PI: f32 = std::f32::consts::FRAC_1_PI;

/// What lights a frame.
#[derive(Clone, Copy)]
pub struct Lights<'a> {
    /// Constants.
    pub constants: &'a FrameConstants,
    /// Punctual lights.
    pub punctual: &'a [PackedLight],
    /// [`crate::environment::Environment::specular`].
    pub specular: &'a [[f32; 4]],
    /// [`crate::environment::dfg_table`].
    pub dfg: &'a [[f32; 2]],
    /// [`crate::environment::sheen_table`].
    pub sheen: &'a [f32],
}

/// Radiance towards the viewer. `reaching` holds the lanes that each punctual light reaches, bit by bit; all where
/// absent.
#[inline(always)]
pub fn shade<S: Simd>(simd: S, lights: &Lights<'_>, s: &Surface<S>, reaching: Option<&[u8]>) -> V3<S> {
    let zero = f32x8::splat(simd, 0.0);
    let reflectance = Reflectance::new(simd, lights, s);
    let mut radiance = s.emissive;
    if s.lobes.has(material_flags::CLEARCOAT) {
        radiance = radiance.scale(reflectance.coats.through_coat);
    }
    if lights.constants.environment_light == 1 {
        radiance = radiance + environment(simd, lights, s, &reflectance);
    }
    for (k, light) in lights.punctual.iter().enumerate() {
        let light = punctual(simd, light, s, &reflectance);
        radiance = radiance
            + match reaching {
                None => light,
                Some(lanes) => {
                    let reached = mask32x8::from_bitmask(simd, u64::from(lanes[k]));
                    V3::select(reached, light, V3::splat(simd, [0.0; 3]))
                }
            };
    }
    let limit = f32x8::splat(simd, RADIANCE_MAX);
    V3 {
        x: radiance.x.max(zero).min(limit),
        y: radiance.y.max(zero).min(limit),
        z: radiance.z.max(zero).min(limit),
    }
}

/// How a surface reflects, once per point.
pub struct Reflectance<S: Simd> {
    /// Cosine to the viewer, above 0.
    pub n_dot_v: f32x8<S>,
    /// Perceptual.
    pub roughness: f32x8<S>,
    /// Fresnel reflectance at normal incidence and at grazing.
    f0: V3<S>,
    f90: f32x8<S>,
    /// Share of uniform light that is reflected once.
    single: V3<S>,
    /// Share that is scattered evenly: reflected more than once, or diffused.
    scattered: V3<S>,
    /// Share that is let through, with what it was coloured by.
    pub through: V3<S>,
    /// With ANISOTROPY.
    stretch: Stretch<S>,
    /// With SHEEN or CLEARCOAT.
    coats: Coats<S>,
}

impl<S: Simd> Reflectance<S> {
    #[inline(always)]
    fn new(simd: S, lights: &Lights<'_>, s: &Surface<S>) -> Self {
        let zero = f32x8::splat(simd, 0.0);
        let one = f32x8::splat(simd, 1.0);
        let white = V3 { x: one, y: one, z: one };
        let metallic = s.metallic.max(zero).min(one);
        let roughness = s.roughness.max(f32x8::splat(simd, ROUGHNESS_MIN)).min(one);
        let n_dot_v = s.normal.dot(s.to_viewer).max(f32x8::splat(simd, NOV_MIN)).min(one);
        let (dielectric, strength) = dielectric(simd, s);
        let mut f0 = dielectric + (s.base - dielectric).scale(metallic);
        let f90 = strength + (one - strength) * metallic;
        if s.lobes.has(material_flags::IRIDESCENCE) {
            f0 = film::reflectance(simd, &s.lobes, n_dot_v, f0, f90);
        }
        let mut stretch = Stretch::none(simd);
        let mut mean_roughness = roughness;
        if s.lobes.has(material_flags::ANISOTROPY) {
            stretch = Stretch::new(simd, s, roughness);
            mean_roughness = stretch.mean_roughness();
        }

        let [scale, bias] = albedo(simd, lights.dfg, n_dot_v, mean_roughness);
        let grazing = f90 * bias;
        let single = f0.scale(scale) + V3 { x: grazing, y: grazing, z: grazing };
        let missing = one - (scale + bias);
        let most = V3 { x: f90, y: f90, z: f90 };
        let average = f0 + (most - f0).scale(f32x8::splat(simd, FRESNEL_MEAN));
        let again = always(
            #[inline(always)]
            |single: f32x8<S>, average: f32x8<S>| {
                single * average * recip8(one - missing * average) * missing
            },
        );
        let multiple = V3 {
            x: again(single.x, average.x),
            y: again(single.y, average.y),
            z: again(single.z, average.z),
        };
        let mut entering = s.base.scale(one - metallic) * (white - single - multiple);
        let mut through = V3 { x: zero, y: zero, z: zero };
        if s.lobes.has(material_flags::TRANSMISSION) {
            let share = s.lobes.transmission.max(zero).min(one);
            through = (entering * transmission::left(simd, &s.lobes)).scale(share);
            entering = entering.scale(one - share);
        }
        let mut coats = Coats::none(simd);
        if s.lobes.has(material_flags::SHEEN | material_flags::CLEARCOAT) {
            coats = Coats::new(simd, lights, s, n_dot_v);
        }
        Reflectance {
            n_dot_v,
            roughness,
            f0,
            f90,
            single,
            scattered: multiple + entering,
            through,
            stretch,
            coats,
        }
    }
}

/// Reflectance of the dielectric part at normal incidence, and the strength of its reflection.
#[inline(always)]
fn dielectric<S: Simd>(simd: S, s: &Surface<S>) -> (V3<S>, f32x8<S>) {
    let zero = f32x8::splat(simd, 0.0);
    let one = f32x8::splat(simd, 1.0);
    if !s.lobes.has(material_flags::SPECULAR) {
        return (V3::splat(simd, [DIELECTRIC_F0; 3]), one);
    }
    let ratio = (s.lobes.ior - 1.0) * recip8(s.lobes.ior + 1.0);
    let strength = s.lobes.specular.max(zero).min(one);
    let tinted = s.lobes.specular_color.scale(ratio * ratio);
    (V3 { x: tinted.x.min(one), y: tinted.y.min(one), z: tinted.z.min(one) }.scale(strength), strength)
}

/// A table of albedos, bilinear; `column` and `row` are 0 to 1. Beyond the last entry its slope goes on, for albedos
/// fall most steeply where surfaces are roughest.
#[inline(always)]
pub fn albedo<S: Simd, const N: usize>(
    simd: S,
    table: &[[f32; N]],
    column: f32x8<S>,
    row: f32x8<S>,
) -> [f32x8<S>; N] {
    let last = f32x8::splat(simd, (DFG_SIDE - 2) as f32);
    let zero = f32x8::splat(simd, 0.0);
    let place = always(
        #[inline(always)]
        |t: f32x8<S>| {
            let p = (t * DFG_SIDE as f32 - 0.5).max(zero);
            let low = p.floor().min(last);
            let index: i32x8<S> = low.to_int();
            (index, p - low)
        },
    );
    let (x, fx) = place(column);
    let (y, fy) = place(row);
    let at = y * DFG_SIDE as i32 + x;
    fill(
        #[inline(always)]
        |k| {
            let tap = always(
                #[inline(always)]
                |d: usize| {
                    lanes(
                        simd,
                        #[inline(always)]
                        |lane| table[at[lane] as usize + d][k],
                    )
                },
            );
            let (a, b) = (tap(0), tap(1));
            let (c, d) = (tap(DFG_SIDE as usize), tap(DFG_SIDE as usize + 1));
            let top = a + (b - a) * fx;
            let bottom = c + (d - c) * fx;
            top + (bottom - top) * fy
        },
    )
}

/// Light from the environment.
#[inline(always)]
fn environment<S: Simd>(simd: S, lights: &Lights<'_>, s: &Surface<S>, r: &Reflectance<S>) -> V3<S> {
    let c = lights.constants;
    let mut about = s.normal;
    if s.lobes.has(material_flags::ANISOTROPY) {
        about = r.stretch.bent_normal(simd, s, r.roughness);
    }
    let irradiance = irradiance(simd, c, turn(c, s.normal));
    let specular = prefiltered(simd, lights.specular, turn(c, mirror(about, s.to_viewer)), r.roughness);
    let mut light = r.single * specular + r.scattered * irradiance;
    if s.lobes.has(material_flags::TRANSMISSION) {
        light = light + r.through * transmission::behind(simd, lights, s, r);
    }
    if s.lobes.has(material_flags::SHEEN | material_flags::CLEARCOAT) {
        light = r.coats.environment(simd, lights, s, light);
    }
    light.scale(s.occlusion * c.environment_intensity)
}

/// The direction that `v` is seen in when mirrored about `n`.
#[inline(always)]
pub fn mirror<S: Simd>(n: V3<S>, v: V3<S>) -> V3<S> {
    n.scale(n.dot(v) * 2.0) - v
}

/// Irradiance / pi from spherical harmonics.
#[inline(always)]
fn irradiance<S: Simd>(simd: S, c: &FrameConstants, n: V3<S>) -> V3<S> {
    let one = f32x8::splat(simd, 1.0);
    let basis =
        [one, n.y, n.z, n.x, n.x * n.y, n.y * n.z, n.z * n.z * 3.0 - one, n.x * n.z, n.x * n.x - n.y * n.y];
    let zero = f32x8::splat(simd, 0.0);
    let channel = always(
        #[inline(always)]
        |k: usize| {
            let mut sum = basis[0] * c.irradiance_sh[0][k];
            for i in 1..9 {
                sum = sum + basis[i] * c.irradiance_sh[i][k];
            }
            sum.max(zero)
        },
    );
    V3 { x: channel(0), y: channel(1), z: channel(2) }
}

/// First texel of each level of [`crate::environment::Environment::specular`].
const LEVEL_FIRST: [u32; LEVELS as usize] = {
    let mut first = [0; LEVELS as usize];
    let mut k = 1;
    while k < LEVELS as usize {
        let side = OCTAHEDRAL_SIDE >> (k - 1);
        first[k] = first[k - 1] + side * side;
        k += 1;
    }
    first
};

/// The environment as seen by a lobe of this roughness about `d`.
#[inline(always)]
pub fn prefiltered<S: Simd>(simd: S, texels: &[[f32; 4]], d: V3<S>, roughness: f32x8<S>) -> V3<S> {
    let last = (LEVELS - 1) as f32;
    // r (2 - r), as the levels were made.
    let two = f32x8::splat(simd, 2.0);
    let level = (roughness * (two - roughness) * last).min(f32x8::splat(simd, last));
    let low = level.floor().min(f32x8::splat(simd, last - 1.0));
    let blend = level - low;
    let low: i32x8<S> = low.to_int();
    let at = octahedral(simd, d);
    let lookup = always(
        #[inline(always)]
        |more: i32| {
            let mut first = [0; 8];
            let mut side = [0; 8];
            for lane in 0..8 {
                let k = (low[lane] + more) as usize;
                first[lane] = LEVEL_FIRST[k] as usize;
                side[lane] = OCTAHEDRAL_SIDE >> k;
            }
            octahedral_level(simd, texels, first, side, at)
        },
    );
    let (a, b) = (lookup(0), lookup(1));
    a + (b - a).scale(blend)
}

/// Light from one punctual light.
#[inline(always)]
fn punctual<S: Simd>(simd: S, light: &PackedLight, s: &Surface<S>, r: &Reflectance<S>) -> V3<S> {
    let (to_light, strength) = arriving(simd, light, s);
    let angles = Angles::new(simd, s.normal, s.to_viewer, to_light, r.n_dot_v);
    let spread = if s.lobes.has(material_flags::ANISOTROPY) {
        r.stretch.ggx(simd, s.to_viewer, to_light, &angles)
    } else {
        microfacet::ggx(simd, &angles, r.roughness)
    };
    let most = V3 { x: r.f90, y: r.f90, z: r.f90 };
    let fresnel = r.f0 + (most - r.f0).scale(angles.fresnel());
    let scattered = r.scattered.scale(f32x8::splat(simd, INVERSE_PI));
    let mut light_out = (fresnel.scale(spread) + scattered).scale(angles.n_dot_l);
    if s.lobes.has(material_flags::TRANSMISSION) {
        light_out = light_out + r.through.scale(transmission::ggx(simd, s, r, to_light));
    }
    if s.lobes.has(material_flags::SHEEN | material_flags::CLEARCOAT) {
        light_out = r.coats.punctual(simd, s, to_light, &angles, light_out);
    }
    (light_out * V3::splat(simd, light.linear_color)).scale(strength)
}

/// The direction towards a light, and how much of its intensity arrives.
#[inline(always)]
fn arriving<S: Simd>(simd: S, light: &PackedLight, s: &Surface<S>) -> (V3<S>, f32x8<S>) {
    let zero = f32x8::splat(simd, 0.0);
    let one = f32x8::splat(simd, 1.0);
    let axis = V3::splat(simd, light.direction);
    if light.kind == light_kind::DIRECTIONAL {
        return (axis, one);
    }
    let away = V3::splat(simd, light.position_eye) - s.position_eye;
    let distance2 = away.dot(away).max(f32x8::splat(simd, DISTANCE2_MIN));
    let to_light = away.scale(rsqrt8(distance2));
    let ratio2 = distance2 * light.inverse_range2;
    let window = (one - ratio2 * ratio2).max(zero);
    let mut strength = recip8(distance2) * window;
    if light.kind == light_kind::SPOT {
        let cosine = -axis.dot(to_light);
        let cone = (cosine * light.spot_scale + light.spot_offset).max(zero).min(one);
        strength = strength * (cone * cone);
    }
    (to_light, strength)
}
