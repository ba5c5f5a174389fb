//! Shadow: which punctual lights reach a point; one ray each, no noise. Twin: `shaders/shadow.wgsl`.

use super::ray::{self, T_MAX};
use super::vector::Vector;
use crate::accel::Query;
use crate::draw::{Instance, PackedLight, light_kind};
use crate::exact::FLUSH_BELOW;

/// A point that rays leave.
#[derive(Debug, Clone, Copy)]
pub struct Origin {
    /// *Space*: eye.
    pub position_eye: Vector,
    /// Unit normal of the flat triangle, either side. *Space*: world axes.
    pub flat_normal: Vector,
    /// How far rays stand off: [`ray::offset`].
    pub offset: f32,
    /// Its triangle, which no ray from it meets again.
    pub triangle: u32,
}

impl Origin {
    /// A point on a triangle of an instance.
    #[inline(always)]
    pub fn new(instance: &Instance, triangle: u32, position_eye: Vector, flat_normal: Vector) -> Origin {
        let rows = &instance.eye_from_local;
        let at = rows[0][3].abs().max(rows[1][3].abs()).max(rows[2][3].abs());
        let reach = position_eye.map(f32::abs).largest().max(at);
        Origin { position_eye, flat_normal, offset: ray::offset(reach), triangle }
    }

    /// Where a ray in this direction begins: off the surface, on the side it goes to.
    #[inline(always)]
    pub fn towards(&self, direction: Vector) -> Vector {
        let side = if self.flat_normal.dot(direction) < -FLUSH_BELOW { -self.offset } else { self.offset };
        self.position_eye + self.flat_normal.scale(side)
    }

    /// The ray to a light's centre.
    #[inline(always)]
    pub fn to_light(&self, light: &PackedLight) -> Query {
        let center = Vector::new(light.position_eye);
        let axis = Vector::new(light.direction);
        let directional = light.kind == light_kind::DIRECTIONAL;
        let origin = self.towards(if directional { axis } else { center - self.position_eye });
        let (direction, t_max) = if directional { (axis, T_MAX) } else { (center - origin, 1.0) };
        Query { origin, direction, t_max, skip: self.triangle, any: true }
    }
}
