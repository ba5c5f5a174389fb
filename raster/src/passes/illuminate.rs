//! Illuminate: light drawn from what shines: punctual lights with a size, triangles that shine, the environment.
//! Twin: `shaders/illuminate.wgsl`.
//!
//! *Source*: Veach 1997 for multiple importance sampling, with the power heuristic; the cone of a sphere: Pharr,
//! Jakob, Humphreys, "Physically Based Rendering", 4th edition, 2023, section 6.2.4.

use super::hit::{Matter, Place};
use super::light::DISTANCE2_MIN;
use super::ray::T_MAX;
use super::sequence::{Sequence, decision};
use super::shadow::Origin;
use super::sky::{Sky, find};
use super::vector::Vector;
use crate::draw::{PackedLight, light_kind};
use crate::emitters::Emitters;
use crate::exact::{FLUSH_BELOW, recip, rsqrt, sin_cos_turns, sqrt};
use crate::prepared::material_flags;

/// A shadow ray to a shining triangle ends short of it, by this part of its length.
pub const NEARLY: f32 = 1.0 - 1.0 / 65536.0;

/// Densities are at most this, so that their squares are finite.
pub const PDF_MAX: f32 = 1e15;

/// Largest squared sine of the angle under which a light with a size is seen: points inside are taken to be near.
pub const SINE2_MAX: f32 = 0.9999;

/// Kinds of light.
#[allow(missing_docs)]
pub mod lights {
    pub const SKY: u32 = 0;
    pub const PUNCTUAL: u32 = 1;
    pub const EMITTERS: u32 = 2;
    /// How many there are.
    pub const KINDS: u32 = 3;
}

/// Light that may arrive.
#[derive(Debug, Clone, Copy)]
pub struct Arriving {
    /// Where from, unit. *Space*: world axes.
    pub direction: Vector,
    /// How far the way must be clear.
    pub distance: f32,
    /// Radiance over density, weighed against `pdf` being found by scattering: see [`Arriving::weighed`].
    pub radiance: Vector,
    /// Density of the direction; 0 where only this finds it.
    pub pdf: f32,
}

impl Arriving {
    /// Radiance to multiply the scattering by, which would find this direction with density `other`.
    #[inline(always)]
    pub fn weighed(&self, other: f32) -> Vector {
        if self.pdf < FLUSH_BELOW {
            return self.radiance;
        }
        let (a, b) = (self.pdf.min(PDF_MAX), other.min(PDF_MAX));
        // (a^2 / (a^2 + b^2)) / a, which stays finite where a vanishes.
        self.radiance.scale(a * recip((a * a + b * b).max(FLUSH_BELOW)))
    }
}

/// Weight of light found by scattering with density `own`, where drawing from lights has density `other`.
#[inline(always)]
pub fn weight(own: f32, other: f32) -> f32 {
    let (a, b) = (own.min(PDF_MAX), other.min(PDF_MAX));
    a * a * recip((a * a + b * b).max(FLUSH_BELOW))
}

/// Two directions across a unit one. *Source*: Duff et al., "Building an orthonormal basis, revisited", 2017.
#[inline(always)]
pub fn across(n: Vector) -> [Vector; 2] {
    let sign = if n.z < -FLUSH_BELOW { -1.0 } else { 1.0 };
    let a = -recip(sign + n.z);
    let b = n.x * n.y * a;
    [
        Vector { x: n.x * n.x * a * sign + 1.0, y: b * sign, z: -(n.x * sign) },
        Vector { x: b, y: n.y * n.y * a + sign, z: -n.y },
    ]
}

/// A direction in a cone about `axis` with 1 - cos of `depth`, evenly, and its squared sine.
#[inline(always)]
fn in_cone(axis: Vector, depth: f32, [u, v]: [f32; 2]) -> (Vector, f32) {
    let fall = u * depth;
    let sine2 = fall * (2.0 - fall);
    let [sin, cos] = sin_cos_turns(v);
    let [s, t] = across(axis);
    let radius = sqrt(sine2);
    let d = s.scale(radius * cos) + t.scale(radius * sin) + axis.scale(1.0 - fall);
    (d.normalize(), sine2)
}

/// Everything that lights a traced frame.
#[derive(Clone, Copy)]
pub struct Illumination<'a> {
    /// Punctual lights.
    pub punctual: &'a [PackedLight],
    /// Radius of point and spot lights, squared.
    pub light_radius2: f32,
    /// 1 - cos of the angle under which a directional light's rim is seen from its centre.
    pub light_depth: f32,
    /// Triangles that shine.
    pub emitters: &'a Emitters,
    /// The environment; absent where it does not light.
    pub sky: Option<Sky<'a>>,
}

impl Illumination<'_> {
    /// How many kinds of light there are.
    #[inline(always)]
    pub fn kinds(&self) -> u32 {
        u32::from(!self.punctual.is_empty())
            + u32::from(!self.emitters.is_empty())
            + u32::from(self.sky.is_some())
    }

    /// Light of the environment.
    #[inline(always)]
    pub fn from_sky(&self, sequence: &Sequence, vertex: u32) -> Option<Arriving> {
        let sky = self.sky.as_ref()?;
        let cell = sequence.bits(vertex, decision::ENVIRONMENT);
        let drawn = sky.sample(cell, sequence.bits(vertex, decision::ENVIRONMENT_POINT));
        Some(Arriving {
            direction: drawn.direction,
            distance: T_MAX,
            radiance: sky.radiance(drawn.direction),
            pdf: drawn.pdf,
        })
    }

    /// Light of a punctual light, picked by how bright it would be here.
    #[inline(always)]
    pub fn from_punctual(&self, origin: &Origin, sequence: &Sequence, vertex: u32) -> Option<Arriving> {
        let mut total = 0.0;
        for light in self.punctual {
            total += brightness(light, origin.position_eye);
        }
        if total < FLUSH_BELOW {
            return None;
        }
        let [pick, _] = sequence.pair(vertex, decision::LIGHT);
        let at = pick * total;
        let mut before = 0.0;
        let mut picked = None;
        for light in self.punctual {
            let own = brightness(light, origin.position_eye);
            if own >= FLUSH_BELOW && (picked.is_none() || before <= at) {
                picked = Some((light, own));
            }
            before += own;
        }
        let (light, own) = picked?;
        let lit =
            self.punctual_light(light, origin.position_eye, sequence.pair(vertex, decision::LIGHT_POINT));
        Some(Arriving { radiance: lit.radiance.scale(total * recip(own)), ..lit })
    }

    #[inline(always)]
    fn punctual_light(&self, light: &PackedLight, position: Vector, point: [f32; 2]) -> Arriving {
        let color = Vector::new(light.linear_color);
        let axis = Vector::new(light.direction);
        if light.kind == light_kind::DIRECTIONAL {
            let (direction, _) = in_cone(axis, self.light_depth, point);
            // Over all of it, the illuminance of a facing surface is what the light says.
            let radiance = color.scale(2.0 * recip(2.0 - self.light_depth));
            return Arriving { direction, distance: T_MAX, radiance, pdf: 0.0 };
        }
        let away = Vector::new(light.position_eye) - position;
        let distance2 = away.dot(away).max(DISTANCE2_MIN);
        let inverse = rsqrt(distance2);
        let towards = away.scale(inverse);
        let rim2 = (self.light_radius2 * recip(distance2)).min(SINE2_MAX);
        let cosine = sqrt(1.0 - rim2);
        let depth = rim2 * recip(1.0 + cosine);
        let (direction, sine2) = in_cone(towards, depth, point);
        let distance = distance2 * inverse;
        // To where the sphere begins.
        let half_chord = sqrt((rim2 - sine2).max(0.0));
        let reach = distance * (sqrt((1.0 - sine2).max(0.0)) - half_chord);
        let strength = falloff(light, towards, distance2) * 2.0 * recip(1.0 + cosine);
        Arriving { direction, distance: reach, radiance: color.scale(strength), pdf: 0.0 }
    }

    /// Light of a shining triangle.
    #[inline(always)]
    pub fn from_emitters(
        &self,
        matter: &Matter<'_>,
        origin: &Origin,
        sequence: &Sequence,
        vertex: u32,
    ) -> Option<Arriving> {
        if self.emitters.is_empty() {
            return None;
        }
        let [pick, _] = sequence.bits(vertex, decision::LIGHT);
        let list = &self.emitters.list;
        let emitter = list[find(list, |emitter| emitter.before, pick >> 1)];
        let [u, v] = sequence.pair(vertex, decision::LIGHT_POINT);
        let root = sqrt(u);
        let weights = [1.0 - root, root * (1.0 - v), root * v];
        let place = matter.place(emitter.instance, emitter.triangle, weights);
        let away = place.position_eye() - origin.position_eye;
        let distance2 = away.dot(away).max(DISTANCE2_MIN);
        let inverse = rsqrt(distance2);
        let direction = away.scale(inverse);
        let cosine = -place.flat_normal().dot(direction);
        if emitter.triangle == origin.triangle || !shows(&place, cosine) {
            return None;
        }
        let pdf = emitter.pdf_area * distance2 * recip(cosine.abs());
        let radiance = place.emission(matter.texels);
        Some(Arriving { direction, distance: distance2 * inverse * NEARLY, radiance, pdf })
    }

    /// Density with which drawing from shining triangles finds a point on one, seen under `cosine` to its normal.
    #[inline(always)]
    pub fn emitter_pdf(&self, instance: u32, number: u32, distance: f32, cosine: f32) -> f32 {
        let first = self.emitters.first[instance as usize];
        if first == crate::emitters::DARK {
            return 0.0;
        }
        let emitter = &self.emitters.list[(first + number) as usize];
        emitter.pdf_area * (distance * distance) * recip(cosine.abs().max(COSINE_MIN))
    }
}

/// Smallest cosine at which a shining triangle is seen.
pub const COSINE_MIN: f32 = 1e-6;

/// Whether a triangle shines to where it is seen under `cosine` to its normal.
#[inline(always)]
pub fn shows(place: &Place<'_>, cosine: f32) -> bool {
    let both = place.material.flags & material_flags::DOUBLE_SIDED != 0;
    cosine > COSINE_MIN || both && cosine < -COSINE_MIN
}

/// Of a point or spot light: distance, range and cone.
#[inline(always)]
fn falloff(light: &PackedLight, towards: Vector, distance2: f32) -> f32 {
    let ratio2 = distance2 * light.inverse_range2;
    let window = (1.0 - ratio2 * ratio2).max(0.0);
    let faded = recip(distance2) * window;
    if light.kind != light_kind::SPOT {
        return faded;
    }
    let cosine = -Vector::new(light.direction).dot(towards);
    let cone = (cosine * light.spot_scale + light.spot_offset).max(0.0).min(1.0);
    faded * (cone * cone)
}

/// About how bright a light is at a place; 0 where it does not reach.
#[inline(always)]
fn brightness(light: &PackedLight, position: Vector) -> f32 {
    let [r, g, b] = light.linear_color;
    let luminance = r * 0.2126 + g * 0.7152 + b * 0.0722;
    if light.kind == light_kind::DIRECTIONAL {
        return luminance;
    }
    let away = Vector::new(light.position_eye) - position;
    let distance2 = away.dot(away).max(DISTANCE2_MIN);
    luminance * falloff(light, away.scale(rsqrt(distance2)), distance2)
}
