//! What a frame uses. Shaders are made for it: drivers that run on a CPU execute what they branch around.

use super::layout::sample_constants;
use super::shader::Constant;
use crate::draw::{DrawList, background_kind, instance_flags, light_kind};
use crate::prepared::{PackedMaterial, material_flags, texture_flags};

/// Bits of [`Features::bits`].
pub(crate) mod feature {
    pub const UV0: u32 = 1;
    pub const UV1: u32 = 1 << 1;
    pub const TEXTURED_BASE: u32 = 1 << 2;
    pub const TEXTURED_METALLIC_ROUGHNESS: u32 = 1 << 3;
    pub const TEXTURED_NORMAL: u32 = 1 << 4;
    pub const TEXTURED_OCCLUSION: u32 = 1 << 5;
    pub const TEXTURED_EMISSIVE: u32 = 1 << 6;
    pub const COLORED: u32 = 1 << 7;
    pub const TRILINEAR: u32 = 1 << 8;
    pub const LIT: u32 = 1 << 9;
    pub const ENVIRONMENT_LIGHT: u32 = 1 << 10;
    pub const PUNCTUAL_LIGHTS: u32 = 1 << 11;
    pub const POSITIONAL_LIGHTS: u32 = 1 << 12;
    pub const ORTHOGRAPHIC: u32 = 1 << 13;
    pub const MOVING: u32 = 1 << 14;
    pub const OUT_DEPTH: u32 = 1 << 15;
    pub const OUT_NORMAL: u32 = 1 << 16;
    pub const OUT_ALBEDO: u32 = 1 << 17;
    pub const OUT_ID: u32 = 1 << 18;
    pub const OUT_BASE: u32 = 1 << 19;
    pub const OUT_COLOR: u32 = 1 << 20;
    pub const SRGB8: u32 = 1 << 21;
    pub const LAYERED: u32 = 1 << 22;
    /// Whether anything is masked; the shaders need not know.
    pub const MASKED: u32 = 1 << 23;
}

const NAMES: [(&str, u32); 23] = {
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
    ]
};

/// What a frame, or a pass of it, uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Features {
    /// Bits of [`feature`].
    pub bits: u32,
    /// Coverage samples.
    pub samples: u32,
    /// As in `FrameConstants`.
    pub tonemap: u32,
    /// As in `FrameConstants`.
    pub background: u32,
}

impl Features {
    /// What a frame uses.
    pub fn of(list: &DrawList, materials: &[PackedMaterial]) -> Features {
        use feature::*;
        let c = &list.constants;
        let when = |on: bool, bit: u32| if on { bit } else { 0 };
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
        Features { bits, samples: c.samples, tonemap: c.tonemap, background: c.background }
    }

    /// Each bit alone, none, all, all but each; with every sample count, curve and background.
    pub fn spread() -> Vec<Features> {
        let all = NAMES.iter().fold(0, |bits, (_, bit)| bits | bit);
        let alone = NAMES.iter().flat_map(|(_, bit)| [*bit, all & !bit]);
        let bits: Vec<u32> = alone.chain([0, all]).collect();
        let of = |bits, samples, look| Features { bits, samples, tonemap: look, background: look };
        let mut spread: Vec<_> = bits.iter().map(|bits| of(*bits, 4, 1)).collect();
        for samples in [1, 4, 8, 16] {
            for look in 0..3 {
                spread.extend([of(0, samples, look), of(all, samples, look)]);
            }
        }
        spread
    }

    /// Whether a bit is set.
    pub fn has(self, bit: u32) -> bool {
        self.bits & bit != 0
    }

    /// What the shaders see.
    pub fn constants(self) -> Vec<Constant> {
        use feature::*;
        let mut all: Vec<_> =
            NAMES.iter().map(|(name, bit)| Constant::Bool(name, self.bits & bit != 0)).collect();
        let data = MOVING | OUT_DEPTH | OUT_NORMAL | OUT_ALBEDO | OUT_ID;
        let layered = self.has(LAYERED);
        all.extend([
            Constant::Bool("OUT_DATA", self.has(data)),
            // The environment shows where no triangle does.
            Constant::Bool("ALL_TILES", self.background == background_kind::ENVIRONMENT),
            Constant::U32("MODES", if layered { 3 } else { 1 }),
            Constant::U32("PIXEL_WORDS", if layered { 2 } else { 1 }),
            Constant::U32("TONEMAP", self.tonemap),
            Constant::U32("BACKGROUND", self.background),
        ]);
        all.extend(sample_constants(self.samples));
        all
    }
}

fn output_bits(outputs: u32) -> u32 {
    use feature::*;
    // In the order of `Output::ALL`; motion is in MOVING.
    [OUT_COLOR, OUT_BASE, OUT_DEPTH, 0, OUT_NORMAL, OUT_ALBEDO, OUT_ID]
        .iter()
        .enumerate()
        .filter(|(k, _)| outputs >> k & 1 == 1)
        .fold(0, |bits, (_, bit)| bits | bit)
}

fn material_bits(m: &PackedMaterial) -> u32 {
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
            bits |= bit | if texture.uv_set == 1 { UV1 } else { UV0 };
            if texture.flags & texture_flags::MIP_LINEAR != 0 {
                bits |= TRILINEAR;
            }
        }
    }
    bits
}
