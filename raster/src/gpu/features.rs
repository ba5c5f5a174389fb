//! What a frame uses. Shaders are made for it: drivers that run on a CPU execute what they branch around.

use super::layout::sample_constants;
use super::shader::Constant;
use super::traced::point_parts;
use crate::draw::{DrawList, background_kind, instance_flags, light_kind};
use crate::frame::Lighting;
use crate::prepared::{PackedMaterial, material_flags, texture_flags};

/// Bits of [`Features::bits`].
pub(crate) mod feature {
    pub const UV0: u64 = 1;
    pub const UV1: u64 = 1 << 1;
    pub const TEXTURED_BASE: u64 = 1 << 2;
    pub const TEXTURED_METALLIC_ROUGHNESS: u64 = 1 << 3;
    pub const TEXTURED_NORMAL: u64 = 1 << 4;
    pub const TEXTURED_OCCLUSION: u64 = 1 << 5;
    pub const TEXTURED_EMISSIVE: u64 = 1 << 6;
    pub const COLORED: u64 = 1 << 7;
    pub const TRILINEAR: u64 = 1 << 8;
    pub const LIT: u64 = 1 << 9;
    pub const ENVIRONMENT_LIGHT: u64 = 1 << 10;
    pub const PUNCTUAL_LIGHTS: u64 = 1 << 11;
    pub const POSITIONAL_LIGHTS: u64 = 1 << 12;
    pub const ORTHOGRAPHIC: u64 = 1 << 13;
    pub const MOVING: u64 = 1 << 14;
    pub const OUT_DEPTH: u64 = 1 << 15;
    pub const OUT_NORMAL: u64 = 1 << 16;
    pub const OUT_ALBEDO: u64 = 1 << 17;
    pub const OUT_ID: u64 = 1 << 18;
    pub const OUT_BASE: u64 = 1 << 19;
    pub const OUT_COLOR: u64 = 1 << 20;
    pub const SRGB8: u64 = 1 << 21;
    pub const LAYERED: u64 = 1 << 22;
    /// Whether anything is masked; the shaders need not know.
    pub const MASKED: u64 = 1 << 23;
    // Lobes of lit materials.
    pub const SPECULAR: u64 = 1 << 24;
    pub const CLEARCOAT: u64 = 1 << 25;
    pub const ANISOTROPY: u64 = 1 << 26;
    pub const TRANSMISSION: u64 = 1 << 27;
    pub const VOLUME: u64 = 1 << 28;
    pub const IRIDESCENCE: u64 = 1 << 29;
    pub const SHEEN: u64 = 1 << 30;
    pub const LOBES: u64 = SPECULAR | CLEARCOAT | SHEEN | ANISOTROPY | TRANSMISSION | VOLUME | IRIDESCENCE;
    /// Whether punctual lights cast shadows.
    pub const SHADOWS: u64 = 1 << 31;
    /// Whether light is traced, and what it comes from beside punctual lights.
    pub const TRACED: u64 = 1 << 32;
    pub const SKY: u64 = 1 << 33;
    pub const EMITTERS: u64 = 1 << 34;
    pub const OUT_REFLECTANCE: u64 = 1 << 35;
    pub const OUT_EMISSION: u64 = 1 << 36;
    /// Outputs that show what a pixel's first sample does.
    pub const DATA: u64 =
        MOVING | OUT_DEPTH | OUT_NORMAL | OUT_ALBEDO | OUT_ID | OUT_REFLECTANCE | OUT_EMISSION;
}

const NAMES: [(&str, u64); 36] = {
    use feature::*;
    [
        ("UV0", UV0),
        ("UV1", UV1),
        ("TEXTURED_BASE", TEXTURED_BASE),
        ("TEXTURED_METALLIC_ROUGHNESS", TEXTURED_METALLIC_ROUGHNESS),
        ("TEXTURED_NORMAL", TEXTURED_NORMAL),
        ("TEXTURED_OCCLUSION", TEXTURED_OCCLUSION),
        ("TEXTURED_EMISSIVE", TEXTURED_EMISSIVE),
        ("COLORED", COLORED),
        ("TRILINEAR", TRILINEAR),
        ("LIT", LIT),
        ("ENVIRONMENT_LIGHT", ENVIRONMENT_LIGHT),
        ("PUNCTUAL_LIGHTS", PUNCTUAL_LIGHTS),
        ("POSITIONAL_LIGHTS", POSITIONAL_LIGHTS),
        ("ORTHOGRAPHIC", ORTHOGRAPHIC),
        ("MOVING", MOVING),
        ("OUT_DEPTH", OUT_DEPTH),
        ("OUT_NORMAL", OUT_NORMAL),
        ("OUT_ALBEDO", OUT_ALBEDO),
        ("OUT_ID", OUT_ID),
        ("OUT_BASE", OUT_BASE),
        ("OUT_COLOR", OUT_COLOR),
        ("SRGB8", SRGB8),
        ("LAYERED", LAYERED),
        ("SHADOWS", SHADOWS),
        ("SPECULAR", SPECULAR),
        ("CLEARCOAT", CLEARCOAT),
        ("SHEEN", SHEEN),
        ("ANISOTROPY", ANISOTROPY),
        ("TRANSMISSION", TRANSMISSION),
        ("VOLUME", VOLUME),
        ("IRIDESCENCE", IRIDESCENCE),
        ("TRACED", TRACED),
        ("SKY", SKY),
        ("EMITTERS", EMITTERS),
        ("OUT_REFLECTANCE", OUT_REFLECTANCE),
        ("OUT_EMISSION", OUT_EMISSION),
    ]
};

/// What a frame, or a pass of it, uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Features {
    /// Bits of [`feature`].
    pub bits: u64,
    /// Coverage samples.
    pub samples: u32,
    /// As in `FrameConstants`.
    pub tonemap: u32,
    /// As in `FrameConstants`.
    pub background: u32,
}

impl Features {
    /// What a frame uses.
    pub fn of(list: &DrawList, materials: &[PackedMaterial], lighting: &Lighting) -> Features {
        use feature::*;
        let c = &list.constants;
        let when = |on: bool, bit: u64| if on { bit } else { 0 };
        let mut bits = when(c.environment_light == 1, ENVIRONMENT_LIGHT)
            | when(!list.lights.is_empty(), PUNCTUAL_LIGHTS)
            | when(list.lights.iter().any(|l| l.kind != light_kind::DIRECTIONAL), POSITIONAL_LIGHTS)
            | when(c.orthographic == 1, ORTHOGRAPHIC)
            | when(list.moving, MOVING)
            | when(c.srgb8 == 1, SRGB8)
            | output_bits(c.outputs);
        let mut seen = vec![false; materials.len()];
        for instance in &list.instances {
            let material = &materials[instance.material as usize];
            bits |= when(instance.flags & instance_flags::COLORED != 0, COLORED);
            let unlit =
                instance.flags & instance_flags::UNLIT != 0 || material.flags & material_flags::UNLIT != 0;
            bits |= when(!unlit, LIT);
            if !std::mem::replace(&mut seen[instance.material as usize], true) {
                bits |= material_bits(material);
            }
        }
        let shaded = bits & LIT != 0 && bits & PUNCTUAL_LIGHTS != 0;
        let traced = lighting.traced.is_some() && bits & LIT != 0;
        bits |= when(traced, TRACED) | when(lighting.shadows && shaded && !traced, SHADOWS);
        Features { bits, samples: c.samples, tonemap: c.tonemap, background: c.background }
    }

    /// Each bit alone, none, all, all but each; with every sample count, curve and background.
    pub fn spread() -> Vec<Features> {
        let all = NAMES.iter().fold(0, |bits, (_, bit)| bits | bit);
        let alone = NAMES.iter().flat_map(|(_, bit)| [*bit, all & !bit]);
        let bits: Vec<u64> = alone.chain([0, all]).collect();
        let of = |bits, samples, look| Features { bits, samples, tonemap: look, background: look };
        let mut spread: Vec<_> = bits.iter().map(|bits| of(*bits, 4, 1)).collect();
        for samples in [1, 4, 8, 16] {
            for look in 0..3 {
                spread.extend([of(0, samples, look), of(all, samples, look)]);
            }
        }
        spread
    }

    /// The same, with a bit set or not.
    pub fn with(self, bit: u64, on: bool) -> Features {
        Features { bits: if on { self.bits | bit } else { self.bits & !bit }, ..self }
    }

    /// Whether a bit is set.
    pub fn has(self, bit: u64) -> bool {
        self.bits & bit != 0
    }

    /// What the shaders see.
    pub fn constants(self) -> Vec<Constant> {
        use feature::*;
        let mut all: Vec<_> =
            NAMES.iter().map(|(name, bit)| Constant::Bool(name, self.bits & bit != 0)).collect();
        let layered = self.has(LAYERED);
        all.extend([
            Constant::Bool("OUT_DATA", self.has(DATA)),
            Constant::Bool("WITH_LOBES", self.has(LOBES)),
            // The environment shows where no triangle does.
            Constant::Bool("ALL_TILES", self.background == background_kind::ENVIRONMENT),
            Constant::U32("MODES", if layered { 3 } else { 1 }),
            Constant::U32("PIXEL_WORDS", if layered { 2 } else { 1 }),
            Constant::U32("POINT_PARTS", point_parts(self)),
            Constant::U32("TONEMAP", self.tonemap),
            Constant::U32("BACKGROUND", self.background),
        ]);
        all.extend(sample_constants(self.samples));
        all
    }
}

fn output_bits(outputs: u32) -> u64 {
    use feature::*;
    // In the order of `Output::all`; motion is in MOVING. The host knows the other outputs of traced light.
    let bits =
        [OUT_COLOR, OUT_BASE, OUT_DEPTH, 0, OUT_NORMAL, OUT_ALBEDO, OUT_ID, 0, OUT_REFLECTANCE, OUT_EMISSION];
    bits.iter().enumerate().filter(|(k, _)| outputs >> k & 1 == 1).fold(0, |bits, (_, bit)| bits | bit)
}

fn material_bits(m: &PackedMaterial) -> u64 {
    use feature::*;
    let mut bits = match m.flags & (material_flags::BLEND | material_flags::MASK) {
        0 => 0,
        material_flags::MASK => LAYERED | MASKED,
        _ => LAYERED,
    };
    let textures = [
        (&m.base_color_texture, TEXTURED_BASE),
        (&m.metallic_roughness_texture, TEXTURED_METALLIC_ROUGHNESS),
        (&m.normal_texture, TEXTURED_NORMAL),
        (&m.occlusion_texture, TEXTURED_OCCLUSION),
        (&m.emissive_texture, TEXTURED_EMISSIVE),
    ];
    for (texture, bit) in textures {
        if texture.level_count > 0 {
            bits |= bit;
        }
    }
    let lobes = [
        (material_flags::SPECULAR, SPECULAR),
        (material_flags::CLEARCOAT, CLEARCOAT),
        (material_flags::SHEEN, SHEEN),
        (material_flags::ANISOTROPY, ANISOTROPY),
        (material_flags::TRANSMISSION, TRANSMISSION),
        (material_flags::VOLUME, VOLUME),
        (material_flags::IRIDESCENCE, IRIDESCENCE),
    ];
    for (flag, bit) in lobes {
        if m.flags & flag != 0 {
            bits |= bit;
        }
    }
    for texture in m.textures().into_iter().filter(|texture| texture.level_count > 0) {
        bits |= if texture.uv_set == 1 { UV1 } else { UV0 };
        if texture.flags & texture_flags::MIP_LINEAR != 0 {
            bits |= TRILINEAR;
        }
    }
    bits
}
