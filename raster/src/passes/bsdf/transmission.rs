//! Light from the other side, KHR_materials_transmission: through a thin sheet, or into and out of a volume.
//!
//! *Source*: Walter et al., Microfacet Models for Refraction through Rough Surfaces, 2007.

use super::fresnel::Fresnel;
use super::microfacets::Microfacets;
use super::{Albedo, LOBE_PRESENT, Parameters};
use crate::exact::{recip, sqrt};
use crate::passes::vector::Vector;

/// Smallest index of refraction that bends light: at 1 no facet can be told from the direction.
pub const VOLUME_IOR_MIN: f32 = 1.01;

/// Smallest albedo of a thin sheet that is made up to what it should be.
pub const THIN_MIN: f32 = 1e-3;

/// The lobe, seen from one direction.
///
/// Light that another facet shadows is taken to go on through it, so that of what enters visible facets, none is lost
/// on the way but by the Fresnel term: shadowing is left out in volumes, and a sheet's albedo is scaled to what is
/// not reflected. Radiance is not scaled by the squared index on entering a volume, as it is scaled back on leaving.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transmission {
    pub present: bool,
    thin: bool,
    /// Whether light leaves a volume.
    inside: bool,
    /// Share of the surface that transmits.
    weight: f32,
    /// Weight and colour; of a thin sheet also what makes up for shadowing.
    tint: Vector,
    /// Index on the viewer's side over that on the light's.
    ratio: f32,
    /// Of uniform light, an estimate.
    pub albedo: Vector,
    /// What the facets reflect beyond the base's albedo, an estimate.
    pub more: Vector,
}

impl Transmission {
    #[inline(always)]
    pub fn new(p: &Parameters, f: &Fresnel, albedo: &Albedo, n_dot_v: f32) -> Transmission {
        let weight = (1.0 - p.metallic) * p.transmission;
        let present = weight > LOBE_PRESENT;
        let weight = if present { weight } else { 0.0 };
        let inside = present && !p.thin && !p.outside;
        let ior = p.ior.max(VOLUME_IOR_MIN);
        let mut lobe = Transmission {
            present,
            thin: p.thin,
            inside,
            weight,
            tint: p.base.scale(weight),
            ratio: if p.outside { recip(ior) } else { ior },
            albedo: albedo.rest * p.base.scale(weight),
            more: Vector::splat(0.0),
        };
        if p.thin {
            // Facets that reflected all would give `white`, of which `single` is reflected and the rest transmitted.
            let once = Vector::splat(albedo.white) - albedo.single;
            lobe.tint = lobe.tint * albedo.rest * once.map(|v| recip(v.max(THIN_MIN)));
        }
        if inside {
            let reflected = lobe.fresnel(f, n_dot_v);
            lobe.more = reflected - f.at(n_dot_v);
            lobe.albedo = lobe.tint * (Vector::splat(1.0) - lobe.beyond(f, n_dot_v));
        }
        lobe
    }

    /// What the interface reflects: on the way out of a volume the angle outside counts, and from where there is none,
    /// all is reflected.
    #[inline(always)]
    fn beyond(&self, f: &Fresnel, cosine: f32) -> Vector {
        if !self.inside {
            return f.at(cosine);
        }
        let square = self.cosine2(cosine);
        if square > FACING_MIN { f.at(sqrt(square)) } else { Vector::splat(1.0) }
    }

    /// What the whole surface reflects at an angle to a facet: what does not transmit is seen as from outside.
    #[inline(always)]
    pub fn fresnel(&self, f: &Fresnel, cosine: f32) -> Vector {
        let reflected = f.at(cosine);
        if self.inside {
            reflected + (self.beyond(f, cosine) - reflected).scale(self.weight)
        } else {
            reflected
        }
    }

    /// Squared cosine on the other side of a facet, negative where there is none.
    #[inline(always)]
    fn cosine2(&self, cosine: f32) -> f32 {
        1.0 - (self.ratio * self.ratio) * (1.0 - cosine * cosine)
    }

    /// Cosine-weighted, and the density, from below.
    #[inline(always)]
    pub fn evaluate(&self, f: &Fresnel, facets: &Microfacets, light: Vector) -> (Vector, f32) {
        let view = facets.view;
        let white = Vector::splat(1.0);
        if self.thin {
            let mirrored = Vector { z: -light.z, ..light };
            let half = (mirrored + view).normalize();
            let distribution = facets.distribution(half);
            let share = self.tint * (white - f.at(view.dot(half)));
            let value = share.scale(distribution * facets.visibility_cosine(mirrored));
            return (value, distribution * facets.masking());
        }
        let half = (view.scale(self.ratio) + light).normalize();
        let half = if half.z < -FACING_MIN { -half } else { half };
        let (v, l) = (view.dot(half), light.dot(half));
        if v < FACING_MIN || l > -FACING_MIN {
            return (Vector::splat(0.0), 0.0);
        }
        // The density of facets, to that of directions: 4 v·h is not in `masking`.
        let sum = self.ratio * v + l;
        let spread = -l * recip((sum * sum).max(SPREAD_MIN));
        let density = (facets.distribution(half) * facets.masking()) * (FACET_SHARE * v * spread);
        let share = self.tint * (white - self.beyond(f, v));
        (share.scale(density), density)
    }

    /// A direction from below in the frame of the surface, of a facet.
    #[inline(always)]
    pub fn sample(&self, view: Vector, half: Vector) -> Option<Vector> {
        let cosine = view.dot(half);
        if self.thin {
            let reflected = half.scale(2.0 * cosine) - view;
            return Some(Vector { z: -reflected.z, ..reflected });
        }
        let square = self.cosine2(cosine);
        if square < FACING_MIN {
            return None;
        }
        Some(half.scale(self.ratio * cosine - sqrt(square)) - view.scale(self.ratio))
    }
}

/// Facets seen at a smaller cosine than this from either side transmit nothing.
pub const FACING_MIN: f32 = 1e-6;

/// Smallest divisor of the change from facets to directions.
pub const SPREAD_MIN: f32 = 1e-12;

/// Undoes the quarter in the share of facets that are seen.
pub const FACET_SHARE: f32 = 4.0;
