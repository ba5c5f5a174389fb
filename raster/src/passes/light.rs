//! Light: classic lighting of a surface: environment and punctual lights, no shadows, no noise.
//!
//! *Reads*: surfaces, lights, the prefiltered environment, the split-sum table. *Writes*: linear radiance.
//! *Source*: GGX with height-correlated Smith (Heitz 2014), split sum (Karis 2013), multiple scattering
//! (Fdez-Agüera 2019; Filament for punctual lights), glTF 2.0 appendix B, KHR_lights_punctual.

use fearless_simd::{f32x4, f32x8, i32x8, prelude::*};

use super::surface::Surface;
use super::vector::{V3, always, fill, lanes};
use crate::draw::{FrameConstants, PackedLight, light_kind};
use crate::environment::{DFG_SIDE, LEVELS, OCTAHEDRAL_SIDE};
use crate::exact::{recip8, rsqrt8, sqrt8};

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

/// Smallest share of light that single scattering is taken to reflect.
pub const ENERGY_MIN: f32 = 0.05;

/// Smallest divisor of the visibility term.
pub const DIVISOR_MIN: f32 = 1e-6;

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
}

/// Radiance towards the viewer.
#[inline(always)]
pub fn shade<S: Simd>(simd: S, lights: &Lights<'_>, s: &Surface<S>) -> V3<S> {
    let zero = f32x8::splat(simd, 0.0);
    let reflectance = Reflectance::new(simd, lights, s);
    let mut radiance = s.emissive;
    if lights.constants.environment_light == 1 {
        radiance = radiance + environment(simd, lights, s, &reflectance);
    }
    for light in lights.punctual {
        radiance = radiance + punctual(simd, light, s, &reflectance);
    }
    let limit = f32x8::splat(simd, RADIANCE_MAX);
    V3 {
        x: radiance.x.max(zero).min(limit),
        y: radiance.y.max(zero).min(limit),
        z: radiance.z.max(zero).min(limit),
    }
}

/// How a surface reflects, once per point.
struct Reflectance<S: Simd> {
    n_dot_v: f32x8<S>,
    diffuse: V3<S>,
    f0: V3<S>,
    /// Split sum: scale and bias of F0.
    scale: f32x8<S>,
    bias: f32x8<S>,
    roughness: f32x8<S>,
}

impl<S: Simd> Reflectance<S> {
    #[inline(always)]
    fn new(simd: S, lights: &Lights<'_>, s: &Surface<S>) -> Self {
        let zero = f32x8::splat(simd, 0.0);
        let one = f32x8::splat(simd, 1.0);
        let metallic = s.metallic.max(zero).min(one);
        let roughness = s.roughness.max(f32x8::splat(simd, ROUGHNESS_MIN)).min(one);
        let n_dot_v = s.normal.dot(s.to_viewer).max(f32x8::splat(simd, NOV_MIN)).min(one);
        let dielectric = V3::splat(simd, [DIELECTRIC_F0; 3]);
        let [scale, bias] = dfg(simd, lights.dfg, n_dot_v, roughness);
        Reflectance {
            n_dot_v,
            diffuse: s.base.scale(one - metallic),
            f0: dielectric + (s.base - dielectric).scale(metallic),
            scale,
            bias,
            roughness,
        }
    }
}

/// The split-sum table, bilinear.
#[inline(always)]
fn dfg<S: Simd>(simd: S, table: &[[f32; 2]], n_dot_v: f32x8<S>, roughness: f32x8<S>) -> [f32x8<S>; 2] {
    let last = f32x8::splat(simd, (DFG_SIDE - 1) as f32);
    let zero = f32x8::splat(simd, 0.0);
    let place = always(
        #[inline(always)]
        |t: f32x8<S>| {
            let p = (t * DFG_SIDE as f32 - 0.5).max(zero).min(last);
            let low = p.floor().min(last - 1.0);
            let index: i32x8<S> = low.to_int();
            (index, p - low)
        },
    );
    let (x, fx) = place(n_dot_v);
    let (y, fy) = place(roughness);
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

/// Light from the environment, diffuse and specular, with multiple scattering.
#[inline(always)]
fn environment<S: Simd>(simd: S, lights: &Lights<'_>, s: &Surface<S>, r: &Reflectance<S>) -> V3<S> {
    let c = lights.constants;
    let one = f32x8::splat(simd, 1.0);
    let n_dot_v = s.normal.dot(s.to_viewer);
    let reflected = s.normal.scale(n_dot_v * 2.0) - s.to_viewer;
    let irradiance = irradiance(simd, c, turn(c, s.normal));
    let specular = prefiltered(simd, lights.specular, turn(c, reflected), r.roughness);

    let single = r.f0.scale(r.scale) + V3 { x: r.bias, y: r.bias, z: r.bias };
    let missing = one - (r.scale + r.bias);
    let white = V3 { x: one, y: one, z: one };
    let average = r.f0 + (white - r.f0).scale(f32x8::splat(simd, FRESNEL_MEAN));
    let again = always(
        #[inline(always)]
        |single: f32x8<S>, average: f32x8<S>| single * average * recip8(one - missing * average) * missing,
    );
    let multiple =
        V3 { x: again(single.x, average.x), y: again(single.y, average.y), z: again(single.z, average.z) };
    let diffuse = r.diffuse * (white - single - multiple);
    let light = single * specular + (multiple + diffuse) * irradiance;
    light.scale(s.occlusion * c.environment_intensity)
}

/// World axes to the environment's.
#[inline(always)]
pub fn turn<S: Simd>(c: &FrameConstants, d: V3<S>) -> V3<S> {
    V3 {
        x: d.x * c.environment_cos + d.z * c.environment_sin,
        y: d.y,
        z: d.z * c.environment_cos - d.x * c.environment_sin,
    }
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

/// Texel position in an octahedral map of unit side, 0 to 1.
#[inline(always)]
pub fn octahedral<S: Simd>(simd: S, d: V3<S>) -> [f32x8<S>; 2] {
    let one = f32x8::splat(simd, 1.0);
    let zero = f32x8::splat(simd, 0.0);
    let scale = recip8(d.x.abs() + d.y.abs() + d.z.abs());
    let (x, y, z) = (d.x * scale, d.y * scale, d.z * scale);
    let below = y.simd_lt(zero);
    let signed = always(
        #[inline(always)]
        |v: f32x8<S>, by: f32x8<S>| by.simd_lt(zero).select(-v, v),
    );
    let px = below.select(signed(one - z.abs(), x), x);
    let pz = below.select(signed(one - x.abs(), z), z);
    [px * 0.5 + 0.5, pz * 0.5 + 0.5]
}

/// Bilinear lookup in a level of an octahedral map; edges wrap as the octahedron folds. RGB and the fourth.
pub fn octahedral_level<S: Simd>(
    simd: S,
    texels: &[[f32; 4]],
    first: [usize; 8],
    side: [u32; 8],
    at: [f32x8<S>; 2],
) -> V3<S> {
    simd.vectorize(
        #[inline(always)]
        || octahedral_level_here(simd, texels, first, side, at),
    )
}

#[inline(always)]
fn octahedral_level_here<S: Simd>(
    simd: S,
    texels: &[[f32; 4]],
    first: [usize; 8],
    side: [u32; 8],
    at: [f32x8<S>; 2],
) -> V3<S> {
    let side = i32x8::simd_from(simd, fill(|lane| side[lane] as i32));
    let first = i32x8::simd_from(simd, fill(|lane| first[lane] as i32));
    let sides: f32x8<S> = side.to_float();
    let x = at[0] * sides - 0.5;
    let y = at[1] * sides - 0.5;
    let (x0, y0) = (x.floor(), y.floor());
    let (fx, fy) = (x - x0, y - y0);
    let xi: i32x8<S> = x0.to_int();
    let yi: i32x8<S> = y0.to_int();
    let zero = i32x8::splat(simd, 0);
    let last = side - 1;
    let within = xi.simd_ge(zero) & yi.simd_ge(zero) & xi.simd_lt(last) & yi.simd_lt(last);
    // The texels to the right of these two are theirs too: only at the fold is a neighbour elsewhere.
    let unfolded = within.all_true();
    let upper = first + yi * side + xi;
    let lower = upper + side;
    let mut out = [[0.0f32; 8]; 3];
    for lane in 0..8 {
        let tap = always(
            #[inline(always)]
            |texel: &[f32; 4]| f32x4::from_slice(simd, texel),
        );
        let [a, b, c, d] = if unfolded {
            let upper = &texels[upper[lane] as usize..][..2];
            let lower = &texels[lower[lane] as usize..][..2];
            [tap(&upper[0]), tap(&upper[1]), tap(&lower[0]), tap(&lower[1])]
        } else {
            fill(
                #[inline(always)]
                |k| {
                    let (dx, dy) = (k as i32 & 1, k as i32 >> 1);
                    let (x, y) = fold(xi[lane] + dx, yi[lane] + dy, side[lane]);
                    tap(&texels[(first[lane] + y * side[lane] + x) as usize])
                },
            )
        };
        let top = a + (b - a) * fx[lane];
        let bottom = c + (d - c) * fx[lane];
        let value = top + (bottom - top) * fy[lane];
        for k in 0..3 {
            out[k][lane] = value[k];
        }
    }
    V3 {
        x: f32x8::simd_from(simd, out[0]),
        y: f32x8::simd_from(simd, out[1]),
        z: f32x8::simd_from(simd, out[2]),
    }
}

/// A texel beyond the edge, at most one away, is its neighbour across the fold.
#[inline(always)]
fn fold(x: i32, y: i32, side: i32) -> (i32, i32) {
    let last = side - 1;
    let (x, y) = if x < 0 {
        (0, last - y)
    } else if x > last {
        (last, last - y)
    } else {
        (x, y)
    };
    if y < 0 {
        (last - x, 0)
    } else if y > last {
        (last - x, last)
    } else {
        (x, y)
    }
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
fn prefiltered<S: Simd>(simd: S, texels: &[[f32; 4]], d: V3<S>, roughness: f32x8<S>) -> V3<S> {
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
    let zero = f32x8::splat(simd, 0.0);
    let one = f32x8::splat(simd, 1.0);
    let least = f32x8::splat(simd, DIVISOR_MIN);
    let axis = V3::splat(simd, light.direction);
    let (to_light, strength) = if light.kind == light_kind::DIRECTIONAL {
        (axis, one)
    } else {
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
    };
    let half = (to_light + s.to_viewer).normalize();
    let clamp = always(
        #[inline(always)]
        |v: f32x8<S>| v.max(zero).min(one),
    );
    let n_dot_l = clamp(s.normal.dot(to_light));
    let n_dot_h = clamp(s.normal.dot(half));
    let v_dot_h = clamp(s.to_viewer.dot(half));

    let alpha = r.roughness * r.roughness;
    let alpha2 = alpha * alpha;
    let d = (n_dot_h * alpha2 - n_dot_h) * n_dot_h + one;
    let distribution = alpha2 * INVERSE_PI * recip8((d * d).max(least * least));
    let smith_v = n_dot_l * sqrt8((r.n_dot_v - r.n_dot_v * alpha2) * r.n_dot_v + alpha2);
    let smith_l = r.n_dot_v * sqrt8((n_dot_l - n_dot_l * alpha2) * n_dot_l + alpha2);
    let visibility = recip8((smith_v + smith_l).max(least)) * 0.5;
    let grazing = one - v_dot_h;
    let grazing2 = grazing * grazing;
    let grazing5 = grazing2 * grazing2 * grazing;
    let white = V3 { x: one, y: one, z: one };
    let fresnel = r.f0 + (white - r.f0).scale(grazing5);
    // What single scattering loses inside the microsurface comes back coloured by F0.
    let lost = recip8((r.scale + r.bias).max(f32x8::splat(simd, ENERGY_MIN))) - one;
    let energy = white + r.f0.scale(lost);
    let specular = (fresnel * energy).scale(distribution * visibility);
    let diffuse = ((white - fresnel) * r.diffuse).scale(f32x8::splat(simd, INVERSE_PI));
    let color = V3::splat(simd, light.linear_color);
    ((diffuse + specular) * color).scale(n_dot_l * strength)
}
