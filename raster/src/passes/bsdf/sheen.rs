//! Sheen of fibres that stand up, KHR_materials_sheen. *Source*: see [`crate::environment::sheen_table`].

use super::tables::{self, Tables};
use super::{LOBE_PRESENT, Parameters};
use crate::environment::SHEEN_ROUGHNESS_MIN;
use crate::exact::{exp2, log2, recip};
use crate::passes::light::INVERSE_PI;
use crate::passes::vector::Vector;

/// Density of a uniform direction over the hemisphere.
pub const UNIFORM_PDF: f32 = 0.5 * INVERSE_PI;

/// A quarter, of the visibility term.
pub const QUARTER: f32 = 0.25;

/// The lobe, seen from one direction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sheen {
    pub present: bool,
    n_dot_v: f32,
    /// Half of 1 / alpha: the power of the squared sine.
    exponent: f32,
    /// Colour and all factors.
    scale: Vector,
    /// Of uniform light.
    pub albedo: Vector,
    /// What is left for the layers below.
    pub keep: f32,
}

impl Sheen {
    #[inline(always)]
    pub fn new(p: &Parameters, n_dot_v: f32, tables: &Tables<'_>) -> Sheen {
        let roughness = p.sheen_roughness.max(SHEEN_ROUGHNESS_MIN).min(1.0);
        let inverse_alpha = recip(roughness * roughness);
        let largest = p.sheen_color.largest();
        let present = largest > LOBE_PRESENT;
        let whole = if present { tables::sheen(tables.sheen, n_dot_v, roughness).max(0.0) } else { 0.0 };
        // Neubelt's visibility gives back more than comes in at grazing angles: brought down to 1.
        let shown = whole.min(1.0);
        let scale = (2.0 + inverse_alpha) * UNIFORM_PDF * QUARTER * recip(whole.max(1.0));
        Sheen {
            present,
            n_dot_v,
            exponent: 0.5 * inverse_alpha,
            scale: p.sheen_color.scale(scale),
            albedo: p.sheen_color.scale(shown),
            keep: 1.0 - largest * shown,
        }
    }

    /// Cosine-weighted, by the cosine to the light and the half vector, which is in the frame of the surface.
    #[inline(always)]
    pub fn evaluate(&self, n_dot_l: f32, half: Vector) -> Vector {
        let sine2 = half.x * half.x + half.y * half.y;
        let distribution = exp2(log2(sine2) * self.exponent);
        let divisor = (n_dot_l + self.n_dot_v) - n_dot_l * self.n_dot_v;
        self.scale.scale((distribution * n_dot_l) * recip(divisor))
    }
}
