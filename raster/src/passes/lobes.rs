//! Lobes: what the material extensions add to a point of a surface. Part of `surface`.
//!
//! *Source*: KHR_materials_specular, ior, clearcoat, sheen, anisotropy, transmission, volume, iridescence.

use fearless_simd::{f32x8, prelude::*};

use super::surface::{Coordinates, InstanceData};
use super::tangent_space::TangentSpace;
use super::texture::channels;
use super::vector::V3;
use crate::prepared::{PackedTexture, material_flags};

const RGB: u32 = channels::R | channels::G | channels::B;

/// Parameters of the lobes. Those whose bit of `flags` is not set mean nothing.
#[derive(Clone, Copy)]
pub struct Lobes<S: Simd> {
    /// Those of [`material_flags`] that are [`material_flags::LOBES`].
    pub flags: u32,
    /// Strength of dielectric reflection, 0 to 1.
    pub specular: f32x8<S>,
    /// Linear, 0 or more.
    pub specular_color: V3<S>,
    /// At least 1, or 0.
    pub ior: f32x8<S>,
    /// Strength of the coat, 0 to 1.
    pub clearcoat: f32x8<S>,
    /// Perceptual, 0 to 1.
    pub clearcoat_roughness: f32x8<S>,
    /// Unit normal of the coat, world axes.
    pub clearcoat_normal: V3<S>,
    /// Linear, 0 to 1.
    pub sheen_color: V3<S>,
    /// Perceptual, 0 to 1.
    pub sheen_roughness: f32x8<S>,
    /// Strength, 0 to 1.
    pub anisotropy: f32x8<S>,
    /// Unit direction of anisotropy across the normal, world axes.
    pub tangent: V3<S>,
    /// Share of light that is let through, 0 to 1.
    pub transmission: f32x8<S>,
    /// Way through the volume. *Units*: scene units of the world. 0 where there is no volume.
    pub thickness: f32x8<S>,
    /// Absorption coefficient. *Units*: 1 / scene unit.
    pub attenuation: V3<S>,
    /// Strength of the film, 0 to 1.
    pub iridescence: f32x8<S>,
    /// Of the film, at least 1.
    pub iridescence_ior: f32x8<S>,
    /// Of the film. *Units*: nanometres.
    pub iridescence_thickness_nm: f32x8<S>,
}

impl<S: Simd> Lobes<S> {
    /// No lobes.
    #[inline(always)]
    pub fn none(simd: S) -> Self {
        let zero = f32x8::splat(simd, 0.0);
        let black = V3 { x: zero, y: zero, z: zero };
        Lobes {
            flags: 0,
            specular: zero,
            specular_color: black,
            ior: zero,
            clearcoat: zero,
            clearcoat_roughness: zero,
            clearcoat_normal: black,
            sheen_color: black,
            sheen_roughness: zero,
            anisotropy: zero,
            tangent: black,
            transmission: zero,
            thickness: zero,
            attenuation: black,
            iridescence: zero,
            iridescence_ior: zero,
            iridescence_thickness_nm: zero,
        }
    }

    /// Whether the material has a lobe.
    #[inline(always)]
    pub fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }
}

/// Evaluates the lobes of a material that has some. `normal` is the surface's, turned to the viewer's side.
pub fn evaluate<S: Simd>(
    simd: S,
    data: &InstanceData<'_>,
    coordinates: &Coordinates<S>,
    space: &TangentSpace<S>,
    normal: V3<S>,
) -> Lobes<S> {
    // A call of its own, so that materials without lobes pay nothing for it.
    simd.vectorize(
        #[inline(always)]
        || evaluate_here(simd, data, coordinates, space, normal),
    )
}

#[inline(always)]
fn evaluate_here<S: Simd>(
    simd: S,
    data: &InstanceData<'_>,
    coordinates: &Coordinates<S>,
    space: &TangentSpace<S>,
    normal: V3<S>,
) -> Lobes<S> {
    let m = data.material;
    let look = Look { simd, data, coordinates };
    let mut lobes = Lobes { flags: m.flags & material_flags::LOBES, ..Lobes::none(simd) };
    lobes.ior = f32x8::splat(simd, m.ior);
    if lobes.has(material_flags::SPECULAR) {
        lobes.specular = look.factor::<{ channels::A }, 3>(m.specular, &m.specular_texture);
        lobes.specular_color = look.color(m.specular_color, &m.specular_color_texture);
    }
    if lobes.has(material_flags::CLEARCOAT) {
        lobes.clearcoat = look.factor::<{ channels::R }, 0>(m.clearcoat, &m.clearcoat_texture);
        lobes.clearcoat_roughness =
            look.factor::<{ channels::G }, 1>(m.clearcoat_roughness, &m.clearcoat_roughness_texture);
        let coat = match look.texture::<RGB>(&m.clearcoat_normal_texture) {
            Some(t) => space.mapped(t, m.clearcoat_normal_scale),
            None => space.normal,
        };
        lobes.clearcoat_normal = space.seen(coat);
    }
    if lobes.has(material_flags::SHEEN) {
        lobes.sheen_color = look.color(m.sheen_color, &m.sheen_color_texture);
        lobes.sheen_roughness =
            look.factor::<{ channels::A }, 3>(m.sheen_roughness, &m.sheen_roughness_texture);
    }
    if lobes.has(material_flags::ANISOTROPY) {
        lobes.anisotropy = f32x8::splat(simd, m.anisotropy);
        let [cos, sin] = m.anisotropy_direction;
        let (mut along, mut across) = (f32x8::splat(simd, cos), f32x8::splat(simd, sin));
        if let Some(t) = look.texture::<RGB>(&m.anisotropy_texture) {
            let (x, y) = (t[0] * 2.0 - 1.0, t[1] * 2.0 - 1.0);
            along = x * cos - y * sin;
            across = x * sin + y * cos;
            lobes.anisotropy = lobes.anisotropy * t[2];
        }
        let direction = space.tangent.scale(along) + space.bitangent.scale(across);
        lobes.tangent = (direction - normal.scale(normal.dot(direction))).normalize();
    }
    if lobes.has(material_flags::TRANSMISSION) {
        lobes.transmission = look.factor::<{ channels::R }, 0>(m.transmission, &m.transmission_texture);
    }
    if lobes.has(material_flags::VOLUME) {
        let local = look.factor::<{ channels::G }, 1>(m.thickness, &m.thickness_texture);
        lobes.thickness = local * data.instance.scale;
        lobes.attenuation = V3::splat(simd, m.attenuation);
    }
    if lobes.has(material_flags::IRIDESCENCE) {
        lobes.iridescence = look.factor::<{ channels::R }, 0>(m.iridescence, &m.iridescence_texture);
        lobes.iridescence_ior = f32x8::splat(simd, m.iridescence_ior);
        let (min, max) = (m.iridescence_thickness_min, m.iridescence_thickness_max);
        lobes.iridescence_thickness_nm =
            match look.texture::<{ channels::G }>(&m.iridescence_thickness_texture) {
                Some(t) => t[1] * (max - min) + min,
                None => f32x8::splat(simd, max),
            };
    }
    lobes
}

/// Looks up the textures of a point.
struct Look<'a, S: Simd> {
    simd: S,
    data: &'a InstanceData<'a>,
    coordinates: &'a Coordinates<S>,
}

impl<S: Simd> Look<'_, S> {
    #[inline(always)]
    fn texture<const CHANNELS: u32>(&self, texture: &PackedTexture) -> Option<[f32x8<S>; 4]> {
        self.coordinates.sample::<CHANNELS>(self.simd, self.data, texture)
    }

    /// A factor times channel `K`, which alone is in `CHANNELS`.
    #[inline(always)]
    fn factor<const CHANNELS: u32, const K: usize>(&self, factor: f32, texture: &PackedTexture) -> f32x8<S> {
        let factor = f32x8::splat(self.simd, factor);
        match self.texture::<CHANNELS>(texture) {
            Some(t) => factor * t[K],
            None => factor,
        }
    }

    #[inline(always)]
    fn color(&self, factor: [f32; 3], texture: &PackedTexture) -> V3<S> {
        let factor = V3::splat(self.simd, factor);
        match self.texture::<RGB>(texture) {
            Some(t) => factor * V3 { x: t[0], y: t[1], z: t[2] },
            None => factor,
        }
    }
}
