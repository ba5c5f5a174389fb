//! How much facets reflect.

use super::Parameters;
use crate::exact::recip;
use crate::passes::vector::Vector;

/// Reflectance at normal incidence and at grazing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fresnel {
    pub f0: Vector,
    pub f90: Vector,
}

impl Fresnel {
    /// *Source*: glTF 2.0, KHR_materials_ior, KHR_materials_specular.
    #[inline(always)]
    pub fn new(p: &Parameters) -> Fresnel {
        let ratio = (p.ior - 1.0) * recip(p.ior + 1.0);
        let dielectric = p.specular_color.scale(ratio * ratio).map(|v| v.min(1.0)).scale(p.specular);
        let grazing = p.specular + (1.0 - p.specular) * p.metallic;
        Fresnel { f0: dielectric + (p.base - dielectric).scale(p.metallic), f90: Vector::splat(grazing) }
    }

    /// Schlick's.
    #[inline(always)]
    pub fn at(&self, cosine: f32) -> Vector {
        self.f0 + (self.f90 - self.f0).scale(grazing5(cosine))
    }
}

/// (1 - cosine)^5.
#[inline(always)]
pub(super) fn grazing5(cosine: f32) -> f32 {
    let grazing = (1.0 - cosine).max(0.0);
    let grazing2 = grazing * grazing;
    grazing2 * grazing2 * grazing
}
