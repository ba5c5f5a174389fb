//! Tangent space: the directions that a material's maps turn about. Part of `surface`.

use fearless_simd::{f32x8, mask32x8, prelude::*};

use super::surface::{Barycentrics, Corners, InstanceData, attribute};
use super::vector::V3;
use crate::draw::instance_flags;
use crate::prepared::material_flags;

/// The directions at a point.
pub struct TangentSpace<S: Simd> {
    /// Unit, interpolated, towards the side that the vertices say.
    pub normal: V3<S>,
    /// Unit and across `normal`; anything where nothing needs it.
    pub tangent: V3<S>,
    /// Unit and across both; as `tangent`.
    pub bitangent: V3<S>,
    /// Where the other side is seen, of a material with two.
    back: Option<mask32x8<S>>,
}

impl<S: Simd> TangentSpace<S> {
    /// At a point of a triangle.
    #[inline(always)]
    pub fn new(simd: S, data: &InstanceData<'_>, corners: &Corners, b: &Barycentrics<S>) -> Self {
        let (m, instance) = (data.material, data.instance);
        let n = V3 {
            x: attribute(simd, data, corners, b, |v| v.normal[0]),
            y: attribute(simd, data, corners, b, |v| v.normal[1]),
            z: attribute(simd, data, corners, b, |v| v.normal[2]),
        };
        let normal = n.transform_vector(&instance.normal_from_local).normalize();
        let mirrored = instance.flags & instance_flags::MIRRORED != 0;
        let mut space = TangentSpace { normal, tangent: normal, bitangent: normal, back: None };
        if m.normal_texture.level_count > 0 || m.flags & TANGENT_LOBES != 0 {
            let tangent = V3 {
                x: attribute(simd, data, corners, b, |v| v.tangent[0]),
                y: attribute(simd, data, corners, b, |v| v.tangent[1]),
                z: attribute(simd, data, corners, b, |v| v.tangent[2]),
            };
            let side = corners.fetch(simd, |i| data.vertices[i].tangent[3])[0];
            let side = if mirrored { -side } else { side };
            let tangent = tangent.transform_vector(&instance.eye_from_local);
            space.tangent = (tangent - normal.scale(normal.dot(tangent))).normalize();
            space.bitangent = normal.cross(space.tangent).scale(side);
        }
        if m.flags & material_flags::DOUBLE_SIDED != 0 {
            // Front faces run anticlockwise, clockwise where the transform mirrors.
            space.back = Some(if mirrored { !b.clockwise } else { b.clockwise });
        }
        space
    }

    /// The normal that a map gives, towards the side that the vertices say.
    #[inline(always)]
    pub fn mapped(&self, [red, green, blue, _]: [f32x8<S>; 4], scale: f32) -> V3<S> {
        let x = (red * 2.0 - 1.0) * scale;
        let y = (green * 2.0 - 1.0) * scale;
        let z = blue * 2.0 - 1.0;
        (self.tangent.scale(x) + self.bitangent.scale(y) + self.normal.scale(z)).normalize()
    }

    /// A normal turned to the viewer's side where the material has two.
    #[inline(always)]
    pub fn seen(&self, normal: V3<S>) -> V3<S> {
        match self.back {
            Some(back) => V3::select(back, -normal, normal),
            None => normal,
        }
    }
}

/// Lobes that turn about a tangent.
const TANGENT_LOBES: u32 = material_flags::CLEARCOAT | material_flags::ANISOTROPY;
