//! Materials and textures as the backends read them.

use bytemuck::{Pod, Zeroable};

/// Bits of [`PackedTexture::flags`].
#[allow(missing_docs)]
pub mod texture_flags {
    pub const SRGB: u32 = 1;
    pub const MAG_LINEAR: u32 = 2;
    pub const MIN_LINEAR: u32 = 4;
    pub const MIPS: u32 = 8;
    pub const MIP_LINEAR: u32 = 16;
    /// Shifts of the [`wrap_code`](super::wrap_code)s.
    pub const WRAP_U_SHIFT: u32 = 8;
    pub const WRAP_V_SHIFT: u32 = 10;
    pub const WRAP_MASK: u32 = 3;
}

/// How coordinates beyond 0 to 1 are brought back.
#[allow(missing_docs)]
pub mod wrap_code {
    pub const REPEAT: u32 = 0;
    pub const MIRROR: u32 = 1;
    pub const CLAMP: u32 = 2;
}

/// A texture as a material sees it, 48 bytes. Twin: `PackedTexture` in `shaders/materials.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Pod, Zeroable)]
pub struct PackedTexture {
    /// Rows of the coordinate transform: u' = m0 u + m1 v + m2, v' = m3 u + m4 v + m5.
    pub uv_transform: [f32; 6],
    /// 0 or 1.
    pub uv_set: u32,
    /// Level 0 in [`super::Prepared::texels`]; levels follow one another.
    pub first_texel: u32,
    /// *Units*: texels.
    pub width: u32,
    /// *Units*: texels.
    pub height: u32,
    /// Levels, 0 where there is no texture.
    pub level_count: u32,
    /// [`texture_flags`].
    pub flags: u32,
}

/// Bits of [`PackedMaterial::flags`].
#[allow(missing_docs)]
pub mod material_flags {
    pub const MASK: u32 = 1;
    pub const BLEND: u32 = 2;
    pub const DOUBLE_SIDED: u32 = 4;
    pub const UNLIT: u32 = 8;
    // Extensions, each only where it changes the picture.
    pub const CLEARCOAT: u32 = 1 << 4;
    pub const SHEEN: u32 = 1 << 5;
    /// KHR_materials_specular or KHR_materials_ior.
    pub const SPECULAR: u32 = 1 << 6;
    pub const TRANSMISSION: u32 = 1 << 7;
    /// What is transmitted is refracted and absorbed; never without TRANSMISSION.
    pub const VOLUME: u32 = 1 << 8;
    pub const ANISOTROPY: u32 = 1 << 9;
    pub const IRIDESCENCE: u32 = 1 << 10;
    /// All of them.
    pub const LOBES: u32 = CLEARCOAT | SHEEN | SPECULAR | TRANSMISSION | VOLUME | ANISOTROPY | IRIDESCENCE;
}

/// A material, 976 bytes. Twin: `shaders/materials.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Pod, Zeroable)]
pub struct PackedMaterial {
    /// Linear RGBA.
    pub base_color: [f32; 4],
    /// Linear RGB radiance.
    pub emissive: [f32; 3],
    /// Alpha cutoff of MASK.
    pub cutoff: f32,
    /// Metallic factor.
    pub metallic: f32,
    /// Perceptual roughness factor.
    pub roughness: f32,
    /// Scale of the normal map's x and y.
    pub normal_scale: f32,
    /// Strength of occlusion.
    pub occlusion_strength: f32,
    /// [`material_flags`].
    pub flags: u32,
    /// Zero.
    pub padding: [u32; 3],
    /// sRGB, alpha in the fourth.
    pub base_color_texture: PackedTexture,
    /// Roughness in the second channel, metallic in the third.
    pub metallic_roughness_texture: PackedTexture,
    /// Tangent-space normal.
    pub normal_texture: PackedTexture,
    /// Occlusion in the first channel.
    pub occlusion_texture: PackedTexture,
    /// sRGB.
    pub emissive_texture: PackedTexture,
    // What follows is zero where its bit of `flags` is not set.
    /// Linear RGB factor of dielectric reflection, 0 or more.
    pub specular_color: [f32; 3],
    /// Strength of dielectric reflection.
    pub specular: f32,
    /// Of the surface; at least 1, or 0. With SPECULAR, TRANSMISSION or IRIDESCENCE.
    pub ior: f32,
    /// Strength of the coat.
    pub clearcoat: f32,
    /// Perceptual.
    pub clearcoat_roughness: f32,
    /// Scale of the coat's normal map's x and y.
    pub clearcoat_normal_scale: f32,
    /// Linear RGB.
    pub sheen_color: [f32; 3],
    /// Perceptual.
    pub sheen_roughness: f32,
    /// Strength.
    pub anisotropy: f32,
    /// Share of light that is let through.
    pub transmission: f32,
    /// Unit direction of anisotropy: along the tangent and the bitangent.
    pub anisotropy_direction: [f32; 2],
    /// Absorption coefficient. *Units*: 1 / scene unit.
    pub attenuation: [f32; 3],
    /// *Space*: mesh local. *Units*: scene units.
    pub thickness: f32,
    /// Strength of the film's effect.
    pub iridescence: f32,
    /// Of the film, at least 1.
    pub iridescence_ior: f32,
    /// *Units*: nanometres.
    pub iridescence_thickness_min: f32,
    /// *Units*: nanometres.
    pub iridescence_thickness_max: f32,
    /// Strength in the fourth channel.
    pub specular_texture: PackedTexture,
    /// sRGB.
    pub specular_color_texture: PackedTexture,
    /// Strength in the first channel.
    pub clearcoat_texture: PackedTexture,
    /// Roughness in the second channel.
    pub clearcoat_roughness_texture: PackedTexture,
    /// Tangent-space normal of the coat.
    pub clearcoat_normal_texture: PackedTexture,
    /// sRGB.
    pub sheen_color_texture: PackedTexture,
    /// Roughness in the fourth channel.
    pub sheen_roughness_texture: PackedTexture,
    /// Direction in the first two channels, strength in the third.
    pub anisotropy_texture: PackedTexture,
    /// Share in the first channel.
    pub transmission_texture: PackedTexture,
    /// Thickness in the second channel.
    pub thickness_texture: PackedTexture,
    /// Strength in the first channel.
    pub iridescence_texture: PackedTexture,
    /// Thickness in the second channel.
    pub iridescence_thickness_texture: PackedTexture,
}

impl PackedMaterial {
    /// All textures, in their order.
    pub fn textures(&self) -> [&PackedTexture; TEXTURES] {
        [
            &self.base_color_texture,
            &self.metallic_roughness_texture,
            &self.normal_texture,
            &self.occlusion_texture,
            &self.emissive_texture,
            &self.specular_texture,
            &self.specular_color_texture,
            &self.clearcoat_texture,
            &self.clearcoat_roughness_texture,
            &self.clearcoat_normal_texture,
            &self.sheen_color_texture,
            &self.sheen_roughness_texture,
            &self.anisotropy_texture,
            &self.transmission_texture,
            &self.thickness_texture,
            &self.iridescence_texture,
            &self.iridescence_thickness_texture,
        ]
    }
}

/// Textures of a material.
pub const TEXTURES: usize = 17;

const _: () = assert!(size_of::<PackedTexture>() == 48 && size_of::<PackedMaterial>() == 976);
