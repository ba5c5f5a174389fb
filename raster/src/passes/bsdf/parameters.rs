//! What is to be scattered from.

use crate::passes::vector::Vector;

/// What a surface is made of at a point, in glTF's terms. Defaults change nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    /// Unit shading normal, on the side that `to_viewer` is on. *Space*: world axes.
    pub normal: Vector,
    /// Unit tangent across `normal`, along which anisotropy stretches; any where there is none.
    pub tangent: Vector,
    /// Linear base colour, 0 to 1.
    pub base: Vector,
    /// 0 to 1.
    pub metallic: f32,
    /// Perceptual, 0 to 1.
    pub roughness: f32,
    /// KHR_materials_ior, at least 1 (0: Fresnel is 1 everywhere).
    pub ior: f32,
    /// KHR_materials_specular.
    pub specular: f32,
    /// See `specular`.
    pub specular_color: Vector,
    /// KHR_materials_anisotropy, 0 to 1.
    pub anisotropy: f32,
    /// KHR_materials_clearcoat, 0 to 1.
    pub clearcoat: f32,
    /// Perceptual.
    pub clearcoat_roughness: f32,
    /// Unit, on the viewer's side.
    pub clearcoat_normal: Vector,
    /// KHR_materials_sheen.
    pub sheen_color: Vector,
    /// Perceptual.
    pub sheen_roughness: f32,
    /// KHR_materials_transmission, 0 to 1.
    pub transmission: f32,
    /// Whether the surface bounds no volume: what is transmitted goes straight on.
    pub thin: bool,
    /// Whether the viewer is outside of the volume.
    pub outside: bool,
    /// KHR_materials_iridescence, 0 to 1.
    pub iridescence: f32,
    /// Of the film.
    pub iridescence_ior: f32,
    /// Of the film. *Units*: nanometres.
    pub iridescence_thickness_nm: f32,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters {
            normal: Vector { x: 0.0, y: 0.0, z: 1.0 },
            tangent: Vector { x: 1.0, y: 0.0, z: 0.0 },
            base: Vector::splat(1.0),
            metallic: 0.0,
            roughness: 1.0,
            ior: 1.5,
            specular: 1.0,
            specular_color: Vector::splat(1.0),
            anisotropy: 0.0,
            clearcoat: 0.0,
            clearcoat_roughness: 0.0,
            clearcoat_normal: Vector { x: 0.0, y: 0.0, z: 1.0 },
            sheen_color: Vector::splat(0.0),
            sheen_roughness: 0.0,
            transmission: 0.0,
            thin: true,
            outside: true,
            iridescence: 0.0,
            iridescence_ior: 1.3,
            iridescence_thickness_nm: 400.0,
        }
    }
}
