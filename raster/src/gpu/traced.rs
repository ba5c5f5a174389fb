//! Traced light on the device: what host and shaders must agree on.

use bytemuck::{Pod, Zeroable};

use super::features::{Features, feature};
use super::layout::part;
use super::shader::Constant;
use crate::accumulate::{CHANNELS, RUN_MAX};
use crate::backend::Job;
use crate::emitters::{DARK, Emitter, Emitters};
use crate::frame::Traced;
use crate::passes::bsdf::Parameters;
use crate::passes::gather::{self, Guide, NEIGHBOURS, NO_SURFACE};
use crate::passes::illuminate::{self, lights};
use crate::passes::sequence::{self, decision};
use crate::passes::sky;
use crate::passes::trace::{self, TraceLimits};
use crate::passes::vector::Vector;
use crate::pixel_light::PixelLight;

/// Elements of a guide.
pub(super) const GUIDE_PARTS: u32 = part(size_of::<PackedGuide>());
/// Elements of a pixel's light.
pub(super) const PIXEL_LIGHT_PARTS: u32 = part(size_of::<PackedPixelLight>());
/// Words of a guide as the device finds it.
pub(super) const GUIDE_WORDS: u32 = 5;
/// Elements of a point without lobes, and with them.
const POINT_PARTS: [u32; 2] = [7, 12];
/// Elements of a path.
pub(super) const PATH_PARTS: u32 = 2;
/// Elements of a pixel's sums.
const SUMS_PARTS: u32 = (CHANNELS / 4) as u32;

/// Elements of a point that light is traced for.
pub(super) fn point_parts(features: Features) -> u32 {
    POINT_PARTS[usize::from(features.has(feature::LOBES))]
}

/// What the paths of one sample share. Twin: `Tracing` in `shaders/tracing.wgsl`, in storage.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Pod, Zeroable)]
pub(crate) struct Tracing {
    pub seed: u32,
    pub sample: u32,
    pub diffuse_bounces: u32,
    pub specular_bounces: u32,
    /// 1 where light bounces.
    pub bounces: u32,
    pub occlusion_radius: f32,
    pub sample_max: f32,
    pub light_radius2: f32,
    pub light_depth: f32,
    /// Of the grid that directions are drawn from. *Units*: cells.
    pub sky_side: u32,
    pub emitter_count: u32,
    /// Sums of the tree that the sample completes.
    pub merges: u32,
    /// Of the band.
    pub pixel_count: u32,
    pub padding_0: u32,
    pub padding_1: u32,
    pub padding_2: u32,
}

impl Tracing {
    /// Of a frame, before its first sample.
    pub fn new(job: &Job<'_>, traced: &Traced, emitters: &Emitters) -> Tracing {
        let limits = TraceLimits::new(traced);
        Tracing {
            seed: job.request.seed,
            diffuse_bounces: limits.diffuse_bounces,
            specular_bounces: limits.specular_bounces,
            bounces: limits.bounces.into(),
            occlusion_radius: limits.occlusion_radius,
            sample_max: limits.sample_max,
            light_radius2: trace::light_radius2(traced),
            light_depth: trace::light_depth(traced),
            sky_side: job.environment.distribution().side,
            emitter_count: emitters.list.len().saturating_sub(1) as u32,
            ..Tracing::default()
        }
    }
}

/// A guide, 32 bytes. Twin: `guide_at` in `shaders/gather.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct PackedGuide {
    pub normal: [f32; 3],
    pub depth: f32,
    pub instance: u32,
    /// Zero.
    pub padding: [u32; 3],
}

impl From<&Guide> for PackedGuide {
    fn from(guide: &Guide) -> PackedGuide {
        let &Guide { instance, normal, depth } = guide;
        PackedGuide { normal: normal.array(), depth, instance, padding: [0; 3] }
    }
}

/// Back from the words of `shaders/guide.wgsl`.
pub(super) fn guide_from(words: &[u32]) -> Guide {
    let float = |k: usize| f32::from_bits(words[k]);
    match words[0] {
        0 => Guide::default(),
        above => {
            let normal = Vector { x: float(1), y: float(2), z: float(3) };
            Guide { instance: above - 1, normal, depth: float(4) }
        }
    }
}

/// Traced light of a pixel, 48 bytes. Twin: `light_of_pixel` in `shaders/pixel_light.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct PackedPixelLight {
    pub diffuse: [f32; 3],
    /// Zero.
    pub padding_0: u32,
    pub specular: [f32; 3],
    /// Zero.
    pub padding_1: u32,
    pub extra: [f32; 3],
    /// Zero.
    pub padding_2: u32,
}

impl From<&PixelLight> for PackedPixelLight {
    fn from(light: &PixelLight) -> PackedPixelLight {
        PackedPixelLight {
            diffuse: light.diffuse.array(),
            specular: light.specular.array(),
            extra: light.extra.array(),
            ..PackedPixelLight::zeroed()
        }
    }
}

/// The list of a frame's emitters: see `shaders/emitters.wgsl`.
pub(super) fn emitter_parts(emitters: &Emitters) -> Vec<[u32; 4]> {
    let mut parts: Vec<[u32; 4]> = emitters.list.iter().map(|e: &Emitter| bytemuck::cast(*e)).collect();
    let part = |four: &[u32]| std::array::from_fn(|k| four.get(k).copied().unwrap_or(DARK));
    parts.extend(emitters.first.chunks(4).map(part));
    parts
}

/// Numbers of traced light.
pub(super) fn constants() -> Vec<Constant> {
    let whole = [
        ("GUIDE_WORDS", GUIDE_WORDS),
        ("GUIDE_PARTS", GUIDE_PARTS),
        ("PIXEL_LIGHT_PARTS", PIXEL_LIGHT_PARTS),
        ("PATH_PARTS", PATH_PARTS),
        ("SUMS_PARTS", SUMS_PARTS),
        ("POINT_NONE", 0),
        ("POINT_OWN", 1),
        ("POINT_EXTRA", 2),
        ("NEIGHBOURS", NEIGHBOURS.len() as u32),
        ("DARK", DARK),
        ("LIGHTS_SKY", lights::SKY),
        ("LIGHTS_PUNCTUAL", lights::PUNCTUAL),
        ("LIGHTS_EMITTERS", lights::EMITTERS),
        ("LIGHTS_KINDS", lights::KINDS),
        ("ROULETTE_FROM", trace::ROULETTE_FROM),
        ("DECISION_LIGHT", decision::LIGHT),
        ("DECISION_LIGHT_POINT", decision::LIGHT_POINT),
        ("DECISION_LOBE", decision::LOBE),
        ("DECISION_DIRECTION", decision::DIRECTION),
        ("DECISION_ENVIRONMENT", decision::ENVIRONMENT),
        ("DECISION_ENVIRONMENT_POINT", decision::ENVIRONMENT_POINT),
        ("DECISION_OPACITY", decision::OPACITY),
        ("DECISION_COUNT", decision::COUNT),
        ("MIX_FIRST", sequence::MIX_FIRST),
        ("MIX_SECOND", sequence::MIX_SECOND),
        ("JOIN_FACTOR", sequence::JOIN_FACTOR),
        ("JOIN_OFFSET", sequence::JOIN_OFFSET),
        ("SCRAMBLE_FIRST", sequence::SCRAMBLE_FIRST),
        ("SCRAMBLE_SECOND", sequence::SCRAMBLE_SECOND),
        ("SCRAMBLE_THIRD", sequence::SCRAMBLE_THIRD),
        ("SALT_FIRST", sequence::SALT_FIRST),
        ("SALT_SECOND", sequence::SALT_SECOND),
    ];
    let plain = Parameters::default();
    let numbers = [
        ("SAME_NORMAL", gather::SAME_NORMAL),
        ("SAME_DEPTH", gather::SAME_DEPTH),
        ("UNIT", sequence::UNIT),
        ("MASS_UNIT", sky::MASS_UNIT),
        ("HIGH_HALF", sky::HIGH_HALF),
        ("MAP_STRETCH", sky::MAP_STRETCH),
        ("NEARLY", illuminate::NEARLY),
        ("PDF_MAX", illuminate::PDF_MAX),
        ("SINE2_MAX", illuminate::SINE2_MAX),
        ("COSINE_MIN", illuminate::COSINE_MIN),
        ("DISTANCE_MAX", trace::DISTANCE_MAX),
        ("SAMPLE_MAX", trace::SAMPLE_MAX),
        ("SURVIVAL_MAX", trace::SURVIVAL_MAX),
        ("PLAIN_IRIDESCENCE_IOR", plain.iridescence_ior),
        ("PLAIN_IRIDESCENCE_THICKNESS_NM", plain.iridescence_thickness_nm),
    ];
    let mut all = whole.map(|(name, value)| Constant::U32(name, value)).to_vec();
    all.extend(numbers.map(|(name, value)| Constant::F32(name, value)));
    for (k, [x, y]) in NEIGHBOURS.into_iter().enumerate() {
        all.push(Constant::Numbered("NEIGHBOUR_X", k, x));
        all.push(Constant::Numbered("NEIGHBOUR_Y", k, y));
    }
    all
}

/// Bytes of a pixel's sums of a run of samples, in all levels of its tree.
pub(super) fn sums_bytes(count: u32) -> u64 {
    debug_assert!(count.is_power_of_two() && count <= RUN_MAX);
    u64::from(count.ilog2() + 1) * u64::from(SUMS_PARTS) * 16
}

const _: () = assert!(NO_SURFACE == u32::MAX);
