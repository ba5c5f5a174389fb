//! Packing of what the material extensions add, where it changes the picture.

use super::material_flags::*;
use super::{PackedMaterial, PackedTexture, Texels};
use crate::scene::{FACTOR_MAX, Material, TextureRef};

/// Least share of light that is taken to be left after the attenuation distance, 2^-24: none would be an infinite
/// coefficient.
const ATTENUATION_MIN: f64 = 1.0 / 16_777_216.0;

/// Sets the flags of the lobes that a material really has, and what they need. `texture` packs one.
pub(super) fn pack(
    m: &Material,
    packed: &mut PackedMaterial,
    texture: &mut impl FnMut(Option<TextureRef>, Texels) -> PackedTexture,
) {
    // A metal reflects all that it does not absorb: nothing of a dielectric is left to change.
    if m.metallic < 1.0 || m.metallic_roughness_texture.is_some() {
        pack_dielectric(m, packed, texture);
    }
    if m.clearcoat.strength > 0.0 {
        let c = &m.clearcoat;
        packed.flags |= CLEARCOAT;
        packed.clearcoat = c.strength;
        packed.clearcoat_roughness = c.roughness;
        packed.clearcoat_normal_scale = c.normal_scale;
        packed.clearcoat_texture = texture(c.texture, Texels::Data);
        packed.clearcoat_roughness_texture = texture(c.roughness_texture, Texels::Data);
        packed.clearcoat_normal_texture = texture(c.normal_texture, Texels::Data);
    }
    if m.sheen.color.iter().any(|&c| c > 0.0) {
        packed.flags |= SHEEN;
        packed.sheen_color = m.sheen.color;
        packed.sheen_roughness = m.sheen.roughness;
        packed.sheen_color_texture = texture(m.sheen.color_texture, Texels::ColorBesideData);
        packed.sheen_roughness_texture = texture(m.sheen.roughness_texture, Texels::Data);
    }
    if m.anisotropy.strength > 0.0 {
        let angle = f64::from(m.anisotropy.rotation_rad);
        packed.flags |= ANISOTROPY;
        packed.anisotropy = m.anisotropy.strength;
        packed.anisotropy_direction = [libm::cos(angle) as f32, libm::sin(angle) as f32];
        packed.anisotropy_texture = texture(m.anisotropy.texture, Texels::Data);
    }
    pack_iridescence(m, packed, texture);
}

fn pack_dielectric(
    m: &Material,
    packed: &mut PackedMaterial,
    texture: &mut impl FnMut(Option<TextureRef>, Texels) -> PackedTexture,
) {
    let s = &m.specular;
    packed.ior = m.ior;
    packed.specular = s.strength;
    packed.specular_color = s.color;
    let plain = s.strength == 1.0 && s.color == [1.0; 3] && m.ior == 1.5;
    if !plain || s.texture.is_some() || s.color_texture.is_some() {
        packed.flags |= SPECULAR;
        packed.specular_texture = texture(s.texture, Texels::Data);
        packed.specular_color_texture = texture(s.color_texture, Texels::ColorBesideData);
    }
    if m.transmission.strength > 0.0 {
        packed.flags |= TRANSMISSION;
        packed.transmission = m.transmission.strength;
        packed.transmission_texture = texture(m.transmission.texture, Texels::Data);
    }
    let v = &m.volume;
    if m.transmission.strength <= 0.0 || v.thickness <= 0.0 {
        return;
    }
    packed.flags |= VOLUME;
    packed.thickness = v.thickness;
    packed.thickness_texture = texture(v.thickness_texture, Texels::Data);
    if let Some(distance) = v.attenuation_distance {
        packed.attenuation = v.attenuation_color.map(|color| {
            let per_unit = -libm::log(f64::from(color).max(ATTENUATION_MIN)) / f64::from(distance);
            // Adding zero makes the negative zero of white a plain one.
            (per_unit as f32).min(FACTOR_MAX) + 0.0
        });
    }
}

fn pack_iridescence(
    m: &Material,
    packed: &mut PackedMaterial,
    texture: &mut impl FnMut(Option<TextureRef>, Texels) -> PackedTexture,
) {
    let i = &m.iridescence;
    let thickest = match i.thickness_texture {
        Some(_) => i.thickness_min_nm.max(i.thickness_max_nm),
        None => i.thickness_max_nm,
    };
    if i.strength <= 0.0 || thickest <= 0.0 {
        return;
    }
    packed.flags |= IRIDESCENCE;
    packed.iridescence = i.strength;
    packed.iridescence_ior = i.ior;
    packed.iridescence_thickness_min = i.thickness_min_nm;
    packed.iridescence_thickness_max = i.thickness_max_nm;
    packed.iridescence_texture = texture(i.texture, Texels::Data);
    packed.iridescence_thickness_texture = texture(i.thickness_texture, Texels::Data);
}
