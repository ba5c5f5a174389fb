//! A clear coat over everything else, KHR_materials_clearcoat.

use super::frame::Frame;
use super::microfacets::Microfacets;
use super::tables::{self, Tables};
use super::{LOBE_PRESENT, NOL_MIN, Parameters, fresnel, seen};
use crate::passes::light::{DIELECTRIC_F0, ROUGHNESS_MIN};
use crate::passes::vector::Vector;

/// The lobe, seen from one direction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Coat {
    pub present: bool,
    frame: Frame,
    view: Vector,
    facets: Microfacets,
    weight: f32,
    /// Of uniform light. Not only Fresnel's share at n·v, for a rough coat reflects more or less than that.
    pub albedo: f32,
    /// What is left for the layers below.
    pub keep: f32,
}

impl Coat {
    #[inline(always)]
    pub fn new(p: &Parameters, to_viewer: Vector, tables: &Tables<'_>) -> Coat {
        let frame = Frame::new(p.clearcoat_normal, p.tangent);
        let view = seen(frame.local(to_viewer));
        let roughness = p.clearcoat_roughness.max(ROUGHNESS_MIN).min(1.0);
        let alpha = roughness * roughness;
        let present = p.clearcoat > LOBE_PRESENT;
        let [scale, bias] = tables::dfg(tables.dfg, view.z, roughness);
        let albedo = if present { p.clearcoat * (DIELECTRIC_F0 * scale + bias) } else { 0.0 };
        let facets = Microfacets::new([alpha, alpha], view);
        Coat { present, frame, view, facets, weight: p.clearcoat, albedo, keep: 1.0 - albedo }
    }

    /// Cosine-weighted, and the density.
    #[inline(always)]
    pub fn evaluate(&self, to_light: Vector) -> [f32; 2] {
        let light = self.frame.local(to_light);
        if light.z < NOL_MIN {
            return [0.0, 0.0];
        }
        let half = (light + self.view).normalize();
        let distribution = self.facets.distribution(half);
        let grazing = fresnel::grazing5(self.view.dot(half));
        let reflected = DIELECTRIC_F0 + (1.0 - DIELECTRIC_F0) * grazing;
        let value = (self.weight * reflected) * (distribution * self.facets.visibility_cosine(light));
        [value, distribution * self.facets.masking()]
    }

    /// A direction. *Space*: world.
    #[inline(always)]
    pub fn sample(&self, u: [f32; 2]) -> Vector {
        let half = self.facets.sample(u);
        self.frame.world(half.scale(2.0 * self.view.dot(half)) - self.view)
    }
}
