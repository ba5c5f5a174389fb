//! Albedos by angle and roughness, looked up.

use crate::environment::DFG_SIDE;
use crate::exact::sqrt;

/// What was integrated beforehand.
#[derive(Debug, Clone, Copy)]
pub struct Tables<'a> {
    /// [`crate::environment::dfg_table`].
    pub dfg: &'a [[f32; 2]],
    /// [`crate::environment::sheen_table`].
    pub sheen: &'a [f32],
}

/// Scale and bias of F0, bilinear.
#[inline(always)]
pub(super) fn dfg(table: &[[f32; 2]], n_dot_v: f32, roughness: f32) -> [f32; 2] {
    let (x, fx) = place(n_dot_v);
    let (y, fy) = place(roughness);
    let at = (y * DFG_SIDE + x) as usize;
    let below = at + DFG_SIDE as usize;
    [0, 1].map(|k| blend([table[at][k], table[at + 1][k], table[below][k], table[below + 1][k]], fx, fy))
}

/// Albedo of sheen, bilinear. Columns go by the root of the cosine, for the albedo falls fast from grazing on.
#[inline(always)]
pub(super) fn sheen(table: &[f32], n_dot_v: f32, roughness: f32) -> f32 {
    let (x, fx) = place(sqrt(n_dot_v));
    let (y, fy) = place(roughness);
    let at = (y * DFG_SIDE + x) as usize;
    let below = at + DFG_SIDE as usize;
    blend([table[at], table[at + 1], table[below], table[below + 1]], fx, fy)
}

/// Entry at or before a coordinate of 0 to 1, and the share of the next; beyond the last entry its slope goes on,
/// for albedos fall most steeply where surfaces are roughest.
#[inline(always)]
fn place(t: f32) -> (u32, f32) {
    let p = (t * DFG_SIDE as f32 - 0.5).max(0.0);
    let low = p.floor().min((DFG_SIDE - 2) as f32);
    (low as u32, p - low)
}

#[inline(always)]
fn blend([a, b, c, d]: [f32; 4], x: f32, y: f32) -> f32 {
    let top = a + (b - a) * x;
    let bottom = c + (d - c) * x;
    top + (bottom - top) * y
}
