//! Rays and triangles. Twin: `shaders/ray.wgsl`.
//!
//! Whether a ray meets a triangle is decided by three edge functions in a space sheared along the ray. Neighbours
//! share an edge's function but for its sign, so that no ray passes between them; a ray on the edge meets both, and
//! the lower id is taken.
//! Rounding alone decides the edge functions of what the ray sees edge-on, anywhere along its line; so the ray must also
//! pass within the corners' extent, which all that it truly meets fulfils.
//! *Source*: Woop, Benthin, Wald, "Watertight ray/triangle intersection", 2013; offsets after Wächter, Binder, "A
//! fast and robust method for avoiding self-intersection", 2019.

use fearless_simd::{f32x8, mask32x8, prelude::*};

use super::vector::Vector;
use crate::exact::{FLUSH_BELOW, recip, recip8};

/// No triangle.
pub const NO_TRIANGLE: u32 = u32::MAX;

/// Nearest distance that counts, in lengths of the ray's direction.
pub const T_MIN: f32 = FLUSH_BELOW;

/// Largest distance, for rays without an end.
pub const T_MAX: f32 = 1e30;

/// Eight triangles, component by component.
#[repr(C, align(32))]
#[derive(Debug, Clone, Copy)]
pub struct Triangles {
    /// By corner, then axis. Lanes without a triangle hold zeros.
    pub corner: [[[f32; 8]; 3]; 3],
    /// Numbers within the mesh; [`NO_TRIANGLE`] where there is none.
    pub number: [u32; 8],
}

/// A ray as its triangles see it: the axis it runs along most, and the shear that turns it into that axis.
#[derive(Debug, Clone, Copy)]
pub struct Shear {
    /// Axes: across, across, along.
    pub axis: [usize; 3],
    /// Across per along, twice, and 1 / along.
    pub slope: [f32; 3],
    /// Origin by axis x, y, z.
    pub origin: [f32; 3],
}

impl Shear {
    /// Of a ray whose largest component of direction is within 2^-100 to 2^100.
    #[inline(always)]
    pub fn new(origin: Vector, direction: Vector) -> Shear {
        let d = direction.array();
        let [x, y, z] = direction.map(f32::abs).array();
        let along = if x >= y && x >= z {
            0
        } else if y >= z {
            1
        } else {
            2
        };
        let (a, b) = ([1, 2, 0][along], [2, 0, 1][along]);
        let inverse = recip(d[along]);
        Shear {
            axis: [a, b, along],
            slope: [d[a] * inverse, d[b] * inverse, inverse],
            origin: origin.array(),
        }
    }
}

/// Where a ray meets triangles.
#[derive(Clone, Copy)]
pub struct Meeting<S: Simd> {
    /// Which are met, at [`T_MIN`] or beyond.
    pub met: mask32x8<S>,
    /// Distance in lengths of the direction.
    pub t: f32x8<S>,
    /// Edge functions of the corners, and their sum; weights are their quotients.
    pub edge: [f32x8<S>; 3],
    /// See `edge`.
    pub sum: f32x8<S>,
}

/// Meets eight triangles.
#[inline(always)]
pub fn meet<S: Simd>(simd: S, shear: &Shear, triangles: &Triangles) -> Meeting<S> {
    let [a, b, along] = shear.axis;
    let mut x = [f32x8::splat(simd, 0.0); 3];
    let mut y = x;
    let mut z = x;
    for k in 0..3 {
        let corner = |axis: usize| f32x8::simd_from(simd, triangles.corner[k][axis]) - shear.origin[axis];
        let forward = corner(along);
        x[k] = corner(a) - forward * shear.slope[0];
        y[k] = corner(b) - forward * shear.slope[1];
        z[k] = forward * shear.slope[2];
    }
    let edge = [x[2] * y[1] - y[2] * x[1], x[0] * y[2] - y[0] * x[2], x[1] * y[0] - y[1] * x[0]];
    let least = f32x8::splat(simd, FLUSH_BELOW);
    let some_left = edge[0].min(edge[1]).min(edge[2]).simd_lt(-least);
    let some_right = edge[0].max(edge[1]).max(edge[2]).simd_gt(least);
    let sum = edge[0] + edge[1] + edge[2];
    let thick = sum.abs().simd_gt(least);
    let inverse = recip8(thick.select(sum, f32x8::splat(simd, 1.0)));
    let t = (edge[0] * z[0] + edge[1] * z[1] + edge[2] * z[2]) * inverse;
    let within = spans(&x, least) & spans(&y, least);
    let met = !(some_left & some_right) & thick & within & t.simd_gt(f32x8::splat(simd, T_MIN));
    Meeting { met, t, edge, sum }
}

/// Where 0 is within what the corners span.
#[inline(always)]
fn spans<S: Simd>(v: &[f32x8<S>; 3], least: f32x8<S>) -> mask32x8<S> {
    v[0].min(v[1]).min(v[2]).simd_le(least) & v[0].max(v[1]).max(v[2]).simd_ge(-least)
}

/// Weights of a triangle's corners: each 0 to 1, together about 1.
#[inline(always)]
pub fn weights(edge: [f32; 3], sum: f32) -> [f32; 3] {
    let inverse = recip(sum);
    edge.map(|e| (e * inverse).max(0.0).min(1.0))
}

/// Units in the last place of the largest coordinate by which a ray's origin stands off its surface, as a power of
/// two: 2^-17 of it.
pub const OFFSET_EXPONENT: u32 = 17;

/// Exponent of the smallest such length, as bits have it.
pub const OFFSET_EXPONENT_MIN: u32 = 30;

/// The length by which rays leave a surface whose coordinates, and those of what placed it, are up to `reach`.
#[inline(always)]
pub fn offset(reach: f32) -> f32 {
    let exponent = reach.to_bits() >> 23 & 255;
    f32::from_bits((exponent.max(OFFSET_EXPONENT + OFFSET_EXPONENT_MIN) - OFFSET_EXPONENT) << 23)
}
