//! The frame that facets are in.

use crate::exact::{recip, rsqrt, sin_cos_turns, sqrt};
use crate::passes::vector::Vector;

/// Squared sine below which a tangent counts as along the normal.
pub const TANGENT_MIN: f32 = 1e-6;

/// Three unit axes at right angles.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    tangent: Vector,
    bitangent: Vector,
    normal: Vector,
}

impl Frame {
    /// The frame of a normal, its x axis as near to `tangent` as can be. *Source* of the axis where the two are
    /// parallel: Duff et al., Building an Orthonormal Basis, Revisited, 2017.
    #[inline(always)]
    pub fn new(normal: Vector, tangent: Vector) -> Frame {
        let across = tangent - normal.scale(normal.dot(tangent));
        let square = across.dot(across);
        let tangent = if square > TANGENT_MIN {
            across.scale(rsqrt(square))
        } else {
            let sign = if normal.z < -TANGENT_MIN { -1.0 } else { 1.0 };
            let a = -recip(sign + normal.z);
            Vector {
                x: 1.0 + sign * (normal.x * normal.x * a),
                y: sign * (normal.x * normal.y * a),
                z: -sign * normal.x,
            }
        };
        Frame { tangent, bitangent: normal.cross(tangent), normal }
    }

    /// World axes to the frame's.
    #[inline(always)]
    pub fn local(&self, d: Vector) -> Vector {
        Vector { x: d.dot(self.tangent), y: d.dot(self.bitangent), z: d.dot(self.normal) }
    }

    /// The frame's axes to the world's.
    #[inline(always)]
    pub fn world(&self, d: Vector) -> Vector {
        self.tangent.scale(d.x) + self.bitangent.scale(d.y) + self.normal.scale(d.z)
    }
}

/// A direction about z, its density its cosine over pi. *Source*: Malley's method.
#[inline(always)]
pub(super) fn sample_cosine(u: [f32; 2]) -> Vector {
    let [sin, cos] = sin_cos_turns(u[0]);
    let radius = sqrt(u[1]);
    Vector { x: radius * cos, y: radius * sin, z: sqrt(1.0 - u[1]) }
}

/// A direction about z, all as likely.
#[inline(always)]
pub(super) fn sample_uniform(u: [f32; 2]) -> Vector {
    let [sin, cos] = sin_cos_turns(u[0]);
    let radius = sqrt(u[1] * (2.0 - u[1]));
    Vector { x: radius * cos, y: radius * sin, z: 1.0 - u[1] }
}
