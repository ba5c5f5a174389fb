//! How a surface scatters light, for tracing: evaluated, sampled, with its density. Twin: `shaders/bsdf.wgsl`.
//!
//! *Reads*: what the surface is made of, tables of albedos. *Writes*: what share of light from a direction goes to
//! the viewer, diffuse and specular apart. *Space*: world directions outside, the surface's frame inside.
//! *Source*: glTF 2.0 appendix B and its extensions; multiple scattering as Fdez-Agüera 2019 has it, whose lobe
//! depends on the light by its cosine only; one-sample multiple importance sampling over the lobes (Veach 1997).
//!
//! Paths start at the camera, so the layers need not be reciprocal: what one lobe takes is judged by the viewer's
//! angle, and the albedos of all lobes sum to at most 1.

mod chance;
mod coat;
mod frame;
mod fresnel;
mod iridescence;
mod microfacets;
mod parameters;
mod sheen;
mod tables;
mod transmission;

pub use frame::TANGENT_MIN;
pub use iridescence::{FADE_IN, GRAZING_MAX, REC709_FROM_XYZ, REFLECTANCE_MAX, ROUND_TRIP_MIN, SENSITIVITY};
pub use parameters::Parameters;
pub use sheen::{QUARTER, UNIFORM_PDF};
pub use tables::Tables;
pub use transmission::{FACET_SHARE, FACING_MIN, SPREAD_MIN, THIN_MIN, VOLUME_IOR_MIN};

use super::light::{FRESNEL_MEAN, INVERSE_PI, NOV_MIN, ROUGHNESS_MIN};
use super::vector::Vector;
use crate::exact::recip;
use chance::Chance;
use coat::Coat;
use frame::{Frame, sample_cosine, sample_uniform};
use fresnel::Fresnel;
use microfacets::Microfacets;
use sheen::Sheen;
use transmission::Transmission;

/// Smallest cosine between normal and light that counts as above the surface.
pub const NOL_MIN: f32 = 1e-6;

/// Smallest [`Bsdf::specular_reflectance`]: 2^-10.
pub const REFLECTANCE_MIN: f32 = 1.0 / 1024.0;

/// Lobes that reflect less than this of white light are never chosen.
pub const LOBE_PRESENT: f32 = 1.0 / 65536.0;

/// Others are chosen as if they reflected at least this.
pub const LOBE_MIN: f32 = 0.05;

/// Densities up to this are none at all.
pub const PDF_MIN: f32 = 1e-20;

/// Share of each channel in luminance, Rec.709.
pub const LUMINANCE: Vector = Vector { x: 0.2126, y: 0.7152, z: 0.0722 };

/// What part of light from a direction goes to the viewer.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Scattered {
    /// Cosine-weighted, without [`Bsdf::diffuse_reflectance`].
    pub diffuse: Vector,
    /// Cosine-weighted, everything else.
    pub specular: Vector,
    /// Density of [`Bsdf::sample`] choosing the direction, over all lobes. *Units*: 1 / steradian.
    pub pdf: f32,
}

/// The lobe that chose a direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lobe {
    /// Scattered below the surface.
    Diffuse,
    /// Anything else.
    Specular,
}

/// A direction chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampled {
    /// Unit.
    pub to_light: Vector,
    /// [`Bsdf::evaluate`] of it.
    pub scattered: Scattered,
    /// See [`Lobe`].
    pub lobe: Lobe,
    /// Whether light comes from the other side of the surface.
    pub transmitted: bool,
}

/// A surface as seen from one direction.
#[derive(Debug, Clone, Copy)]
pub struct Bsdf {
    frame: Frame,
    view: Vector,
    facets: Microfacets,
    fresnel: Fresnel,
    albedo: Albedo,
    coat: Coat,
    sheen: Sheen,
    transmission: Transmission,
    /// What coat and sheen leave for the base.
    keep: f32,
    diffuse_reflectance: Vector,
    specular_reflectance: Vector,
    chance: Chance,
}

/// What lobes of the base give back of uniform white light.
#[derive(Debug, Clone, Copy)]
struct Albedo {
    /// Facets, if they reflected all.
    white: f32,
    /// Facets, once.
    single: Vector,
    /// Facets, more than once.
    multiple: Vector,
    /// What is left for below the surface.
    rest: Vector,
}

impl Bsdf {
    /// A surface seen from a unit direction.
    #[inline(always)]
    pub fn new(p: &Parameters, to_viewer: Vector, tables: &Tables<'_>) -> Bsdf {
        let frame = Frame::new(p.normal, p.tangent);
        let view = seen(frame.local(to_viewer));
        let roughness = p.roughness.max(ROUGHNESS_MIN).min(1.0);
        let alpha = roughness * roughness;
        let stretched = alpha + (1.0 - alpha) * (p.anisotropy * p.anisotropy);
        let fresnel = iridescence::film(p, &Fresnel::new(p), view.z);
        let albedo = Albedo::new(&fresnel, tables::dfg(tables.dfg, view.z, roughness), p.anisotropy);
        let coat = Coat::new(p, to_viewer, tables);
        let sheen = Sheen::new(p, view.z, tables);
        let transmission = Transmission::new(p, &fresnel, &albedo, view.z);
        let keep = coat.keep * sheen.keep;

        let diffuse_reflectance = p.base.scale((1.0 - p.metallic) * (1.0 - p.transmission));
        let diffuse = (albedo.rest * diffuse_reflectance).scale(keep);
        let multiple = albedo.multiple.scale(keep);
        let lobes = [
            (albedo.single + transmission.more).scale(keep),
            transmission.albedo.scale(keep),
            sheen.albedo.scale(coat.keep),
            Vector::splat(coat.albedo),
        ];
        let specular = (((multiple + lobes[0]) + lobes[1]) + lobes[2]) + lobes[3];
        Bsdf {
            frame,
            view,
            facets: Microfacets::new([stretched, alpha], view),
            fresnel,
            albedo,
            coat,
            sheen,
            transmission,
            keep,
            diffuse_reflectance,
            specular_reflectance: specular.map(|v| v.max(REFLECTANCE_MIN)),
            chance: Chance::new(diffuse, multiple, lobes),
        }
    }

    /// What [`Scattered::diffuse`] is to be multiplied by.
    #[inline(always)]
    pub fn diffuse_reflectance(&self) -> Vector {
        self.diffuse_reflectance
    }

    /// Estimate of what all but the diffuse lobe give back of uniform light, never below [`REFLECTANCE_MIN`].
    #[inline(always)]
    pub fn specular_reflectance(&self) -> Vector {
        self.specular_reflectance
    }

    /// What goes from a unit direction to the viewer.
    #[inline(always)]
    pub fn evaluate(&self, to_light: Vector) -> Scattered {
        let light = self.frame.local(to_light);
        if light.z > NOL_MIN {
            self.reflected(to_light, light)
        } else if self.transmission.present && light.z < -NOL_MIN {
            let (value, density) = self.transmission.evaluate(&self.fresnel, &self.facets, light);
            Scattered {
                diffuse: Vector::splat(0.0),
                specular: value.scale(self.keep),
                pdf: self.chance.transmission * density,
            }
        } else {
            Scattered::default()
        }
    }

    /// From above: `light` is `to_light` in the surface's frame.
    #[inline(always)]
    fn reflected(&self, to_light: Vector, light: Vector) -> Scattered {
        let half = (light + self.view).normalize();
        let distribution = self.facets.distribution(half);
        let fresnel = self.transmission.fresnel(&self.fresnel, self.view.dot(half));
        let single = fresnel.scale(distribution * self.facets.visibility_cosine(light));
        let cosine = light.z * INVERSE_PI;
        let mut specular = (single + self.albedo.multiple.scale(cosine)).scale(self.keep);
        let mut pdf =
            self.chance.cosine * cosine + self.chance.facets * (distribution * self.facets.masking());
        if self.sheen.present {
            specular = specular + self.sheen.evaluate(light.z, half).scale(self.coat.keep);
            pdf += self.chance.sheen * UNIFORM_PDF;
        }
        if self.coat.present {
            let [value, density] = self.coat.evaluate(to_light);
            specular = specular + Vector::splat(value);
            pdf += self.chance.coat * density;
        }
        Scattered { diffuse: self.albedo.rest.scale(cosine * self.keep), specular, pdf }
    }

    /// Chooses a direction: `u[0]` the lobe, the others the direction, each in 0 to 1 without 1. None where nothing
    /// is scattered.
    #[inline(always)]
    pub fn sample(&self, u: [f32; 3]) -> Option<Sampled> {
        let at = [u[1], u[2]];
        let lobe = if u[0] < self.chance.diffuse { Lobe::Diffuse } else { Lobe::Specular };
        let facets = self.chance.cosine + self.chance.facets;
        let transmission = facets + self.chance.transmission;
        let sheen = transmission + self.chance.sheen;
        let transmitted = u[0] >= facets && u[0] < transmission;
        let direction = if u[0] < self.chance.cosine {
            self.frame.world(sample_cosine(at))
        } else if u[0] < transmission {
            let half = self.facets.sample(at);
            let light = if transmitted {
                self.transmission.sample(self.view, half)?
            } else {
                half.scale(2.0 * self.view.dot(half)) - self.view
            };
            self.frame.world(light)
        } else if self.sheen.present && (u[0] < sheen || !self.coat.present) {
            self.frame.world(sample_uniform(at))
        } else if self.coat.present {
            self.coat.sample(at)
        } else {
            // Chances sum to a little less than 1.
            return None;
        };
        let to_light = direction.normalize();
        // Each lobe has its side of the surface: what it sends to the other is lost.
        let cosine = self.frame.local(to_light).z;
        if (cosine < 0.0) != transmitted {
            return None;
        }
        let scattered = self.evaluate(to_light);
        (scattered.pdf > PDF_MIN).then_some(Sampled { to_light, scattered, lobe, transmitted })
    }
}

/// A view at or below the horizon, as shading normals make them, is brought just above it.
#[inline(always)]
fn seen(view: Vector) -> Vector {
    Vector { z: view.z.max(NOV_MIN), ..view }.normalize()
}

impl Albedo {
    /// The table knows round lobes only. Stretched ones lose more than it says, by up to half at the most; what they
    /// get back of it fades with the stretch, so that nothing is gained.
    #[inline(always)]
    fn new(f: &Fresnel, [scale, bias]: [f32; 2], anisotropy: f32) -> Albedo {
        let single = f.f0.scale(scale) + f.f90.scale(bias);
        let white = scale + bias;
        let missing = 1.0 - white;
        let average = f.f0 + (f.f90 - f.f0).scale(FRESNEL_MEAN);
        let again = average.map(|average| recip(1.0 - missing * average));
        let multiple = (single * average * again).scale(missing);
        let rest = (Vector::splat(1.0) - single) - multiple;
        Albedo { white, single, multiple: multiple.scale(1.0 - anisotropy), rest }
    }
}
