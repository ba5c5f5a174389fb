//! Trace: the light that arrives at a surface along one sampled path. Twin: `shaders/trace.wgsl`.
//!
//! *Reads*: the point a path starts from, what rays meet, what shines. *Writes*: light divided by reflectance,
//! diffuse and specular apart. The first vertex draws from each kind of light, later ones from one kind; light found
//! by scattering and by drawing is weighed by the power heuristic.
//! *Source*: Kajiya 1986; Veach 1997; Pharr, Jakob, Humphreys, "Physically Based Rendering", 4th edition, 2023.

use fearless_simd::prelude::*;

use super::bsdf::{Bsdf, Lobe, Parameters, Tables};
use super::hit::Matter;
use super::illuminate::{Arriving, Illumination, lights, shows, weight};
use super::ray::T_MAX;
use super::sequence::{Sequence, decision, join, unit};
use super::shadow::Origin;
use super::sky::Sky;
use super::vector::Vector;
use crate::accel::{Hit, Query, SceneTree, Stack};
use crate::backend::Job;
use crate::draw::DrawList;
use crate::emitters::Emitters;
use crate::environment::{Environment, dfg_table, sheen_table};
use crate::exact::{FLUSH_BELOW, exp2, flush, recip};
use crate::frame::Traced;
use crate::prepared::material_flags;

/// Distance that is told where a path meets nothing, the largest finite half.
pub const DISTANCE_MAX: f32 = 65504.0;

/// Light of one sample is at most this, so that sums of squares stay finite.
pub const SAMPLE_MAX: f32 = 1e12;

/// log2(e).
pub const LOG2_E: f32 = std::f32::consts::LOG2_E;

/// Vertices after which paths may end by chance.
pub const ROULETTE_FROM: u32 = 3;

/// Largest chance to go on.
pub const SURVIVAL_MAX: f32 = 0.95;

/// Numbers of a frame's traced light.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TraceLimits {
    /// See [`crate::frame::Traced`].
    pub diffuse_bounces: u32,
    /// See [`crate::frame::Traced`].
    pub specular_bounces: u32,
    /// Ambient occlusion's radius; [`T_MAX`] where light bounces.
    pub occlusion_radius: f32,
    /// Whether light bounces.
    pub bounces: bool,
    /// [`SAMPLE_MAX`] or less.
    pub sample_max: f32,
    /// [`Technique::Both`] but in tests that hold the two against each other.
    pub technique: Technique,
}

/// How light that can be found in two ways is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Technique {
    /// In both, weighed.
    #[default]
    Both,
    /// By drawing from lights alone.
    Drawing,
    /// By scattering alone.
    Scattering,
}

impl TraceLimits {
    /// As asked for.
    pub fn new(traced: &Traced) -> TraceLimits {
        TraceLimits {
            diffuse_bounces: traced.diffuse_bounces,
            specular_bounces: traced.specular_bounces,
            occlusion_radius: traced.occlusion_radius.unwrap_or(T_MAX),
            bounces: traced.occlusion_radius.is_none(),
            sample_max: traced.sample_radiance_max.unwrap_or(SAMPLE_MAX),
            technique: Technique::Both,
        }
    }
}

/// Squared radius of point and spot lights.
pub fn light_radius2(traced: &Traced) -> f32 {
    flush(traced.light_radius * traced.light_radius)
}

/// 1 - cos of the angle from a directional light's centre to its rim, with all its digits.
pub fn light_depth(traced: &Traced) -> f32 {
    let half_sine = libm::sin(0.5 * f64::from(traced.light_angle_rad));
    flush((2.0 * half_sine * half_sine) as f32)
}

/// Whether the environment lights a frame.
pub fn is_sky_lit(list: &DrawList, environment: &Environment) -> bool {
    list.constants.environment_light == 1 && !environment.distribution().is_empty()
}

/// A surface that is seen.
#[derive(Debug, Clone, Copy)]
pub struct Start {
    /// Where it is.
    pub origin: Origin,
    /// Unit.
    pub to_viewer: Vector,
    /// What it is made of.
    pub parameters: Parameters,
}

/// Light along one path.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Light {
    /// Divided by the diffuse reflectance.
    pub diffuse: Vector,
    /// Divided by the specular reflectance.
    pub specular: Vector,
    /// To what the path met first. *Units*: scene units; [`DISTANCE_MAX`] where nothing.
    pub distance: f32,
}

/// Everything that paths read.
#[derive(Clone, Copy)]
pub struct Tracer<'a> {
    /// What rays meet.
    pub tree: &'a SceneTree,
    /// What it is made of.
    pub matter: Matter<'a>,
    /// What shines.
    pub illumination: Illumination<'a>,
    /// Of reflectances.
    pub tables: Tables<'a>,
    /// How far paths go.
    pub limits: TraceLimits,
}

/// What is left of a path.
struct Path {
    direction: Vector,
    /// Density with which scattering chose the direction.
    pdf: f32,
    origin: Origin,
    throughput: Vector,
    diffuse_left: u32,
    specular_left: u32,
    /// Whether the last vertex drew from every kind of light.
    all_kinds: bool,
}

/// A vertex after the first.
struct Vertex {
    origin: Origin,
    bsdf: Bsdf,
}

impl<'a> Tracer<'a> {
    /// Of a frame.
    pub fn new(
        job: &Job<'a>,
        traced: &Traced,
        tree: &'a SceneTree,
        emitters: &'a Emitters,
        list: &'a DrawList,
        matter: Matter<'a>,
    ) -> Tracer<'a> {
        let environment = job.environment;
        let sky = is_sky_lit(list, environment).then(|| Sky {
            constants: &list.constants,
            texels: &environment.background,
            distribution: environment.distribution(),
        });
        Tracer {
            tree,
            matter,
            illumination: Illumination {
                punctual: &list.lights,
                light_radius2: light_radius2(traced),
                light_depth: light_depth(traced),
                emitters,
                sky,
            },
            tables: Tables { dfg: dfg_table(), sheen: sheen_table() },
            limits: TraceLimits::new(traced),
        }
    }
}

impl Tracer<'_> {
    /// Light along the path of a sample.
    #[inline(always)]
    pub fn light<S: Simd>(&self, simd: S, stack: &mut Stack, start: &Start, sequence: &Sequence) -> Light {
        let bsdf = Bsdf::new(&start.parameters, start.to_viewer, &self.tables);
        let mut out = Light { distance: DISTANCE_MAX, ..Light::default() };
        let shining = &self.illumination;
        // In the order of their kinds.
        let drawn = [
            shining.from_sky(sequence, 0),
            shining.from_punctual(&start.origin, sequence, 0),
            shining.from_emitters(&self.matter, &start.origin, sequence, 0),
        ];
        for (kind, arriving) in (0u32..).zip(drawn) {
            let Some(arriving) = arriving else { continue };
            let scattered = bsdf.evaluate(arriving.direction);
            if scattered.diffuse.largest().max(scattered.specular.largest()) < FLUSH_BELOW
                || self.is_blocked(simd, stack, &start.origin, &arriving, sequence, 0, kind)
            {
                continue;
            }
            // Ambient occlusion finds shining triangles by drawing from them alone.
            let other = if self.limits.bounces || kind == lights::SKY { scattered.pdf } else { 0.0 };
            let light = self.drawn(&arriving, other);
            out.diffuse = out.diffuse + scattered.diffuse * light;
            out.specular = out.specular + scattered.specular * light;
        }
        let [lobe, _] = sequence.pair(0, decision::LOBE);
        let [u, v] = sequence.pair(0, decision::DIRECTION);
        if let Some(sampled) = bsdf.sample([lobe, u, v]) {
            let inverse = recip(sampled.scattered.pdf);
            let mut path = Path {
                direction: sampled.to_light,
                pdf: sampled.scattered.pdf,
                origin: start.origin,
                throughput: Vector::splat(1.0),
                diffuse_left: self.limits.diffuse_bounces,
                specular_left: self.limits.specular_bounces,
                all_kinds: true,
            };
            let goes_on = path.count(sampled.lobe);
            let found = self.follow(simd, stack, &mut path, goes_on, sequence, &mut out.distance);
            out.diffuse = out.diffuse + (sampled.scattered.diffuse * found).scale(inverse);
            out.specular = out.specular + (sampled.scattered.specular * found).scale(inverse);
        }
        let inverse = bsdf.specular_reflectance().map(recip);
        out.specular = out.specular * inverse;
        Light { diffuse: self.bounded(out.diffuse), specular: self.bounded(out.specular), ..out }
    }

    /// Light that comes along a path's direction.
    #[inline(always)]
    fn follow<S: Simd>(
        &self,
        simd: S,
        stack: &mut Stack,
        path: &mut Path,
        mut goes_on: bool,
        sequence: &Sequence,
        distance: &mut f32,
    ) -> Vector {
        let mut found = Vector::splat(0.0);
        let mut vertex = 1;
        loop {
            let Some(hit) = self.nearest(simd, stack, path, sequence, vertex) else {
                return found + path.throughput * self.missed(path);
            };
            if vertex == 1 {
                *distance = hit.t.min(DISTANCE_MAX);
            }
            if !self.limits.bounces {
                return found;
            }
            let Some(at) = self.arrive(path, &hit, &mut found) else { return found };
            if !goes_on {
                return found;
            }
            found = found + path.throughput * self.drawn_light(simd, stack, &at, sequence, vertex);
            if !self.scatter(path, &at, sequence, vertex, &mut goes_on) {
                return found;
            }
            vertex += 1;
        }
    }

    #[inline(always)]
    fn nearest<S: Simd>(
        &self,
        simd: S,
        stack: &mut Stack,
        path: &Path,
        sequence: &Sequence,
        vertex: u32,
    ) -> Option<Hit> {
        let query = Query {
            origin: path.origin.towards(path.direction),
            direction: path.direction,
            t_max: self.limits.occlusion_radius,
            skip: path.origin.triangle,
            any: false,
        };
        let [_, key] = sequence.bits(vertex, decision::OPACITY);
        self.tree.trace(simd, &query, stack, &|hit| self.is_opaque(hit, key))
    }

    /// Light of the environment where a path leaves the scene.
    #[inline(always)]
    fn missed(&self, path: &Path) -> Vector {
        let Some(sky) = &self.illumination.sky else { return Vector::splat(0.0) };
        let other = sky.pdf(path.direction) * self.share(path.all_kinds);
        sky.radiance(path.direction).scale(self.found(path.pdf, other))
    }

    /// With which probability a vertex draws from a kind of light.
    #[inline(always)]
    fn share(&self, all_kinds: bool) -> f32 {
        if all_kinds { 1.0 } else { recip(self.illumination.kinds().max(1) as f32) }
    }

    /// Adds what a surface emits along the path; none where the path ends there.
    #[inline(always)]
    fn arrive(&self, path: &mut Path, hit: &Hit, found: &mut Vector) -> Option<Vertex> {
        let texels = self.matter.texels;
        let place = self.matter.place(hit.instance, hit.triangle, hit.weights);
        if place.is_unlit() {
            let [r, g, b, _] = place.base_color(texels);
            *found = *found + path.throughput * Vector { x: r, y: g, z: b };
            return None;
        }
        let flat_normal = place.flat_normal();
        let cosine = -flat_normal.dot(path.direction);
        let behind = cosine < -FLUSH_BELOW;
        if behind && place.material.flags & material_flags::VOLUME != 0 {
            path.throughput = path.throughput * absorbed(Vector::new(place.material.attenuation), hit.t);
        }
        if shows(&place, cosine) {
            let number = hit.triangle - place.instance.first_triangle;
            let pdf = self.illumination.emitter_pdf(hit.instance, number, hit.t, cosine);
            let weight = self.found(path.pdf, pdf * self.share(path.all_kinds));
            *found = *found + path.throughput * place.emission(texels).scale(weight);
        }
        let parameters = place.parameters(texels, behind);
        let origin = Origin::new(place.instance, hit.triangle, place.position_eye(), flat_normal);
        Some(Vertex { origin, bsdf: Bsdf::new(&parameters, -path.direction, &self.tables) })
    }

    /// Light drawn at a later vertex, from one kind.
    #[inline(always)]
    fn drawn_light<S: Simd>(
        &self,
        simd: S,
        stack: &mut Stack,
        at: &Vertex,
        sequence: &Sequence,
        vertex: u32,
    ) -> Vector {
        let shining = &self.illumination;
        let kinds = shining.kinds();
        let dark = Vector::splat(0.0);
        if kinds == 0 {
            return dark;
        }
        let [_, pick] = sequence.pair(vertex, decision::LIGHT);
        let nth = (pick * kinds as f32) as u32;
        let has_sky = u32::from(shining.sky.is_some());
        let has_punctual = u32::from(!shining.punctual.is_empty());
        let kind = if nth < has_sky {
            lights::SKY
        } else if nth < has_sky + has_punctual {
            lights::PUNCTUAL
        } else {
            lights::EMITTERS
        };
        let arriving = match kind {
            lights::SKY => shining.from_sky(sequence, vertex),
            lights::PUNCTUAL => shining.from_punctual(&at.origin, sequence, vertex),
            _ => shining.from_emitters(&self.matter, &at.origin, sequence, vertex),
        };
        let Some(arriving) = arriving else { return dark };
        let arriving = Arriving {
            radiance: if arriving.pdf < FLUSH_BELOW {
                arriving.radiance.scale(kinds as f32)
            } else {
                arriving.radiance
            },
            pdf: arriving.pdf * self.share(false),
            ..arriving
        };
        let scattered = at.bsdf.evaluate(arriving.direction);
        let reflected = scattered.diffuse * at.bsdf.diffuse_reflectance() + scattered.specular;
        if reflected.largest() < FLUSH_BELOW
            || self.is_blocked(simd, stack, &at.origin, &arriving, sequence, vertex, kind)
        {
            return dark;
        }
        reflected * self.drawn(&arriving, scattered.pdf)
    }

    /// Sends the path on; false where it ends.
    #[inline(always)]
    fn scatter(
        &self,
        path: &mut Path,
        at: &Vertex,
        sequence: &Sequence,
        vertex: u32,
        goes_on: &mut bool,
    ) -> bool {
        let [lobe, chance] = sequence.pair(vertex, decision::LOBE);
        let [u, v] = sequence.pair(vertex, decision::DIRECTION);
        let Some(sampled) = at.bsdf.sample([lobe, u, v]) else { return false };
        let scattered = sampled.scattered;
        let reflected = scattered.diffuse * at.bsdf.diffuse_reflectance() + scattered.specular;
        path.throughput = path.throughput * reflected.scale(recip(scattered.pdf));
        let largest = path.throughput.largest();
        if largest < FLUSH_BELOW {
            return false;
        }
        if vertex >= ROULETTE_FROM && largest < SURVIVAL_MAX {
            if chance >= largest {
                return false;
            }
            path.throughput = path.throughput.scale(recip(largest));
        }
        path.direction = sampled.to_light;
        path.pdf = scattered.pdf;
        path.origin = at.origin;
        path.all_kinds = false;
        *goes_on = path.count(sampled.lobe);
        true
    }

    /// Light that was drawn, which scattering would find with density `other`.
    #[inline(always)]
    fn drawn(&self, arriving: &Arriving, other: f32) -> Vector {
        match self.limits.technique {
            Technique::Both => arriving.weighed(other),
            Technique::Drawing => arriving.weighed(0.0),
            Technique::Scattering if arriving.pdf < FLUSH_BELOW => arriving.radiance,
            Technique::Scattering => Vector::splat(0.0),
        }
    }

    /// Weight of light that scattering found with density `own`, and drawing would find with density `other`.
    #[inline(always)]
    fn found(&self, own: f32, other: f32) -> f32 {
        match self.limits.technique {
            Technique::Both => weight(own, other),
            Technique::Scattering => 1.0,
            Technique::Drawing if other < FLUSH_BELOW => 1.0,
            Technique::Drawing => 0.0,
        }
    }

    /// Whether something stands between a point and light.
    #[inline(always)]
    fn is_blocked<S: Simd>(
        &self,
        simd: S,
        stack: &mut Stack,
        origin: &Origin,
        arriving: &Arriving,
        sequence: &Sequence,
        vertex: u32,
        kind: u32,
    ) -> bool {
        let far = if kind == lights::SKY { self.limits.occlusion_radius } else { T_MAX };
        let query = Query {
            origin: origin.towards(arriving.direction),
            direction: arriving.direction,
            t_max: arriving.distance.min(far),
            skip: origin.triangle,
            any: true,
        };
        let [key, _] = sequence.bits(vertex, decision::OPACITY);
        self.tree.trace(simd, &query, stack, &|hit| self.is_opaque(hit, key)).is_some()
    }

    /// Whether a ray ends at a hit: MASK by its cutoff, BLEND by chance.
    #[inline(always)]
    fn is_opaque(&self, hit: &Hit, key: u32) -> bool {
        let place = self.matter.place(hit.instance, hit.triangle, hit.weights);
        let alpha = place.base_color(self.matter.texels)[3];
        if place.material.flags & material_flags::BLEND != 0 {
            return unit(join(key, hit.triangle)) < alpha;
        }
        alpha >= place.material.cutoff
    }

    /// Within what a sample may add, in its own hue.
    #[inline(always)]
    fn bounded(&self, light: Vector) -> Vector {
        let most = self.limits.sample_max;
        let largest = light.largest();
        let light = if largest > most { light.scale(most * recip(largest.min(T_MAX))) } else { light };
        light.map(|v| v.max(0.0).min(SAMPLE_MAX))
    }
}

/// What is left of light after a way through a volume. *Source*: Beer, Lambert.
#[inline(always)]
fn absorbed(coefficient: Vector, way: f32) -> Vector {
    coefficient.map(|c| exp2(-(c * way * LOG2_E)))
}

impl Path {
    /// Counts a bounce; false where there was none left, so that the path ends where it arrives.
    #[inline(always)]
    fn count(&mut self, lobe: Lobe) -> bool {
        let left = match lobe {
            Lobe::Diffuse => &mut self.diffuse_left,
            Lobe::Specular => &mut self.specular_left,
        };
        let goes_on = *left > 0;
        *left = left.saturating_sub(1);
        goes_on
    }
}
