//! How likely lobes are chosen: by their luminance, never less than a floor.

use super::{LOBE_MIN, LOBE_PRESENT, LUMINANCE};
use crate::exact::recip;
use crate::passes::vector::Vector;

/// One share for each lobe.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chance {
    /// Part of `cosine` that belongs to the diffuse lobe.
    pub diffuse: f32,
    /// Both lobes that go with the cosine: diffuse and multiple scattering.
    pub cosine: f32,
    pub facets: f32,
    pub transmission: f32,
    pub sheen: f32,
    pub coat: f32,
}

impl Chance {
    /// From what lobes give back of uniform light.
    #[inline(always)]
    pub fn new(
        diffuse: Vector,
        multiple: Vector,
        [facets, transmission, sheen, coat]: [Vector; 4],
    ) -> Chance {
        let diffuse = LUMINANCE.dot(diffuse);
        let cosine = diffuse + LUMINANCE.dot(multiple);
        let of_cosine = weight(cosine);
        let facets = weight(LUMINANCE.dot(facets));
        let transmission = weight(LUMINANCE.dot(transmission));
        let sheen = weight(LUMINANCE.dot(sheen));
        let coat = weight(LUMINANCE.dot(coat));
        let sum = (((of_cosine + facets) + transmission) + sheen) + coat;
        let whole = recip(sum.max(LOBE_PRESENT));
        let chance = of_cosine * whole;
        Chance {
            diffuse: chance * (diffuse * recip(cosine.max(LOBE_PRESENT))),
            cosine: chance,
            facets: facets * whole,
            transmission: transmission * whole,
            sheen: sheen * whole,
            coat: coat * whole,
        }
    }
}

#[inline(always)]
fn weight(luminance: f32) -> f32 {
    if luminance > LOBE_PRESENT { luminance.max(LOBE_MIN) } else { 0.0 }
}
