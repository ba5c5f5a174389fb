//! What a surface is made of where a ray meets it: the same as `surface` and `lobes` find on the screen.

use super::Place;
use crate::draw::instance_flags;
use crate::passes::bsdf::Parameters;
use crate::passes::illuminate::across;
use crate::passes::vector::Vector;
use crate::prepared::{PackedMaterial, PackedTexture, material_flags};

/// Normal, tangent and bitangent of the mesh, on the front side.
#[derive(Clone, Copy)]
struct Frame {
    normal: Vector,
    tangent: Vector,
    bitangent: Vector,
}

impl Frame {
    /// A normal from a map.
    #[inline(always)]
    fn mapped(&self, t: [f32; 4], scale: f32) -> Vector {
        let x = (t[0] * 2.0 - 1.0) * scale;
        let y = (t[1] * 2.0 - 1.0) * scale;
        let z = t[2] * 2.0 - 1.0;
        (self.tangent.scale(x) + self.bitangent.scale(y) + self.normal.scale(z)).normalize()
    }
}

impl Place<'_> {
    #[inline(always)]
    fn frame(&self) -> Frame {
        let n = self.mean3(|v| v.normal).transform_vector(&self.instance.normal_from_local).normalize();
        let mirrored = self.instance.flags & instance_flags::MIRRORED != 0;
        let side = self.corners[0].tangent[3];
        let side = if mirrored { -side } else { side };
        let along = self.mean3(|v| [v.tangent[0], v.tangent[1], v.tangent[2]]);
        let along = along.transform_vector(&self.instance.eye_from_local);
        let tangent = (along - n.scale(n.dot(along))).normalize();
        Frame { normal: n, tangent, bitangent: n.cross(tangent).scale(side) }
    }

    /// What the surface is made of, as seen from its back where `behind`.
    #[inline(always)]
    pub fn parameters(&self, texels: &[u32], behind: bool) -> Parameters {
        let m = self.material;
        let [r, g, b, _] = self.base_color(texels);
        let frame = self.frame();
        let seen = |n: Vector| if behind { -n } else { n };
        let normal = seen(match self.sample(texels, &m.normal_texture) {
            Some(t) => frame.mapped(t, m.normal_scale),
            None => frame.normal,
        });
        let mut out = Parameters {
            normal,
            tangent: across(normal)[0],
            base: Vector { x: r, y: g, z: b },
            metallic: m.metallic,
            roughness: m.roughness,
            clearcoat_normal: normal,
            outside: !behind,
            ..Parameters::default()
        };
        if let Some(t) = self.sample(texels, &m.metallic_roughness_texture) {
            out.roughness *= t[1];
            out.metallic *= t[2];
        }
        if m.flags & material_flags::LOBES != 0 {
            self.lobes(texels, &frame, seen, &mut out);
        }
        out
    }

    /// What the material extensions add.
    fn lobes(&self, texels: &[u32], frame: &Frame, seen: impl Fn(Vector) -> Vector, out: &mut Parameters) {
        let m = self.material;
        let has = |flag: u32| m.flags & flag != 0;
        let factor = |factor: f32, texture: &PackedTexture, channel: usize| match self.sample(texels, texture)
        {
            Some(t) => factor * t[channel],
            None => factor,
        };
        let color = |factor: [f32; 3], texture: &PackedTexture| match self.sample(texels, texture) {
            Some([r, g, b, _]) => Vector::new(factor) * Vector { x: r, y: g, z: b },
            None => Vector::new(factor),
        };
        if has(material_flags::SPECULAR | material_flags::TRANSMISSION | material_flags::IRIDESCENCE) {
            out.ior = m.ior;
        }
        if has(material_flags::SPECULAR) {
            out.specular = factor(m.specular, &m.specular_texture, 3);
            out.specular_color = color(m.specular_color, &m.specular_color_texture);
        }
        if has(material_flags::CLEARCOAT) {
            out.clearcoat = factor(m.clearcoat, &m.clearcoat_texture, 0);
            out.clearcoat_roughness = factor(m.clearcoat_roughness, &m.clearcoat_roughness_texture, 1);
            out.clearcoat_normal = seen(match self.sample(texels, &m.clearcoat_normal_texture) {
                Some(t) => frame.mapped(t, m.clearcoat_normal_scale),
                None => frame.normal,
            });
        }
        if has(material_flags::SHEEN) {
            out.sheen_color = color(m.sheen_color, &m.sheen_color_texture);
            out.sheen_roughness = factor(m.sheen_roughness, &m.sheen_roughness_texture, 3);
        }
        if has(material_flags::ANISOTROPY) {
            let (strength, tangent) = anisotropy(m, self.sample(texels, &m.anisotropy_texture), frame);
            out.anisotropy = strength;
            out.tangent = (tangent - out.normal.scale(out.normal.dot(tangent))).normalize();
        }
        if has(material_flags::TRANSMISSION) {
            out.transmission = factor(m.transmission, &m.transmission_texture, 0);
            out.thin = !has(material_flags::VOLUME);
        }
        if has(material_flags::IRIDESCENCE) {
            out.iridescence = factor(m.iridescence, &m.iridescence_texture, 0);
            out.iridescence_ior = m.iridescence_ior;
            let (min, max) = (m.iridescence_thickness_min, m.iridescence_thickness_max);
            out.iridescence_thickness_nm = match self.sample(texels, &m.iridescence_thickness_texture) {
                Some(t) => t[1] * (max - min) + min,
                None => max,
            };
        }
    }
}

/// Strength and direction.
#[inline(always)]
fn anisotropy(m: &PackedMaterial, texture: Option<[f32; 4]>, frame: &Frame) -> (f32, Vector) {
    let [cos, sin] = m.anisotropy_direction;
    let (mut along, mut across, mut strength) = (cos, sin, m.anisotropy);
    if let Some(t) = texture {
        let (x, y) = (t[0] * 2.0 - 1.0, t[1] * 2.0 - 1.0);
        along = x * cos - y * sin;
        across = x * sin + y * cos;
        strength *= t[2];
    }
    (strength, frame.tangent.scale(along) + frame.bitangent.scale(across))
}
