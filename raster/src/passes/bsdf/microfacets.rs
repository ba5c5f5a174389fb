//! A surface of GGX facets, in its own frame: z is the normal, x the tangent.
//!
//! *Source*: height-correlated Smith (Heitz 2014); visible normals by spherical caps (Dupuy and Benyoub 2023).

use crate::exact::{recip, rsqrt, sin_cos_turns, sqrt};
use crate::passes::light::INVERSE_PI;
use crate::passes::vector::Vector;

/// Facets as seen from one side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Microfacets {
    alpha: [f32; 2],
    inverse_alpha: [f32; 2],
    pub view: Vector,
    /// See [`Microfacets::stretched_length`].
    view_length: f32,
}

impl Microfacets {
    /// Alpha along the tangent and across it; the view's cosine is positive.
    #[inline(always)]
    pub fn new(alpha: [f32; 2], view: Vector) -> Microfacets {
        let inverse_alpha = [recip(alpha[0]), recip(alpha[1])];
        let view_length = stretched_length(alpha, view);
        Microfacets { alpha, inverse_alpha, view, view_length }
    }

    /// Density of facets by their normals. The sine is never taken from the cosine, which has no digits for it
    /// where facets are smooth.
    #[inline(always)]
    pub fn distribution(&self, half: Vector) -> f32 {
        let x = half.x * self.inverse_alpha[0];
        let y = half.y * self.inverse_alpha[1];
        let q = x * x + y * y + half.z * half.z;
        let peak = INVERSE_PI * (self.inverse_alpha[0] * self.inverse_alpha[1]);
        peak * recip(q * q)
    }

    /// Masking and shadowing over 4 (n·v)(n·l), times n·l, the cosine of `light`, which is positive.
    #[inline(always)]
    pub fn visibility_cosine(&self, light: Vector) -> f32 {
        let length = stretched_length(self.alpha, light);
        0.5 * light.z * recip(light.z * self.view_length + self.view.z * length)
    }

    /// Share of facets that the viewer sees, over 4 n·v: times the distribution it is the density of reflected
    /// directions.
    #[inline(always)]
    pub fn masking(&self) -> f32 {
        0.5 * recip(self.view.z + self.view_length)
    }

    /// The normal of a facet that the viewer sees.
    #[inline(always)]
    pub fn sample(&self, u: [f32; 2]) -> Vector {
        let [tangent, bitangent] = self.alpha;
        let stretched =
            Vector { x: self.view.x * tangent, y: self.view.y * bitangent, z: self.view.z }.normalize();
        let [sin, cos] = sin_cos_turns(u[0]);
        // The cap's points have heights from 1 down to -stretched.z; `depth` is what they lie below 1.
        let depth = u[1] * (1.0 + stretched.z);
        let radius = sqrt(depth * (2.0 - depth));
        let cap = Vector { x: radius * cos, y: radius * sin, z: 1.0 - depth };
        let half = cap + stretched;
        Vector { x: half.x * tangent, y: half.y * bitangent, z: half.z }.normalize()
    }
}

/// Length of a direction in the space where the facets form a hemisphere of unit radius, z kept.
#[inline(always)]
fn stretched_length(alpha: [f32; 2], d: Vector) -> f32 {
    let (x, y) = (d.x * alpha[0], d.y * alpha[1]);
    let square = x * x + y * y + d.z * d.z;
    square * rsqrt(square)
}
