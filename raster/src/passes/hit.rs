//! What a ray finds where it meets a triangle. Twin: `shaders/hit.wgsl`.
//!
//! *Reads*: instances, vertices, materials, texels; textures at their finest level, since many rays average.

mod parameters;

use super::surface::INVERSE_65535;
use super::texture;
use super::vector::Vector;
use crate::accel::Hit;
use crate::draw::{Instance, instance_flags};
use crate::prepared::{PackedMaterial, PackedTexture, Vertex, material_flags};

/// Alpha from which a BLEND surface casts a hard shadow.
pub const SHADOW_ALPHA: f32 = 0.5;

/// What triangles are made of.
#[derive(Clone, Copy)]
pub struct Matter<'a> {
    /// Instances of the frame.
    pub instances: &'a [Instance],
    /// All materials.
    pub materials: &'a [PackedMaterial],
    /// Vertices at rest.
    pub vertices: &'a [Vertex],
    /// Vertices deformed for this frame.
    pub deformed: &'a [Vertex],
    /// All indices.
    pub indices: &'a [u32],
    /// All texels.
    pub texels: &'a [u32],
}

/// A triangle with its corners fetched, and where on it the point is.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The instance.
    pub instance: &'a Instance,
    /// Its material.
    pub material: &'a PackedMaterial,
    /// Corners.
    pub corners: [&'a Vertex; 3],
    /// Their weights.
    pub weights: [f32; 3],
}

impl<'a> Matter<'a> {
    /// Fetches what is at a hit.
    #[inline(always)]
    pub fn place(&self, instance: u32, triangle: u32, weights: [f32; 3]) -> Place<'a> {
        let instance = &self.instances[instance as usize];
        let vertices =
            if instance.flags & instance_flags::DEFORMED != 0 { self.deformed } else { self.vertices };
        let at = (instance.first_index + 3 * (triangle - instance.first_triangle)) as usize;
        let corner = |k: usize| &vertices[(instance.first_vertex + self.indices[at + k]) as usize];
        Place {
            instance,
            material: &self.materials[instance.material as usize],
            corners: [corner(0), corner(1), corner(2)],
            weights,
        }
    }

    /// Whether a hit casts a hard shadow.
    #[inline(always)]
    pub fn casts_shadow(&self, hit: &Hit) -> bool {
        let place = self.place(hit.instance, hit.triangle, hit.weights);
        let alpha = place.base_color(self.texels)[3];
        let blended = place.material.flags & material_flags::BLEND != 0;
        alpha >= if blended { SHADOW_ALPHA } else { place.material.cutoff }
    }
}

impl Place<'_> {
    /// (w0 v0 + w1 v1) + w2 v2.
    #[inline(always)]
    pub fn mean(&self, value: impl Fn(&Vertex) -> f32) -> f32 {
        let [a, b, c] = self.corners;
        self.weights[0] * value(a) + self.weights[1] * value(b) + self.weights[2] * value(c)
    }

    /// [`Place::mean`] per component.
    #[inline(always)]
    pub fn mean3(&self, value: impl Fn(&Vertex) -> [f32; 3]) -> Vector {
        Vector { x: self.mean(|v| value(v)[0]), y: self.mean(|v| value(v)[1]), z: self.mean(|v| value(v)[2]) }
    }

    /// *Space*: eye.
    #[inline(always)]
    pub fn position_eye(&self) -> Vector {
        self.mean3(|v| v.position).transform_point(&self.instance.eye_from_local)
    }

    /// Unit normal of the flat triangle, outward as its corners run. *Space*: world axes.
    #[inline(always)]
    pub fn flat_normal(&self) -> Vector {
        let [a, b, c] = self.corners.map(|v| Vector::new(v.position));
        let across = (b - a).normalize().cross((c - a).normalize());
        across.transform_vector(&self.instance.normal_from_local).normalize()
    }

    /// A texture at its finest level; none where the material has none.
    #[inline(always)]
    pub fn sample(&self, texels: &[u32], texture: &PackedTexture) -> Option<[f32; 4]> {
        (texture.level_count > 0).then(|| {
            let second = texture.uv_set == 1;
            let u = self.mean(|v| if second { v.uv1[0] } else { v.uv0[0] });
            let v = self.mean(|v| if second { v.uv1[1] } else { v.uv0[1] });
            texture::sample_finest(texels, texture, u, v)
        })
    }

    /// Base colour with alpha: factor × texture × vertex colour.
    #[inline(always)]
    pub fn base_color(&self, texels: &[u32]) -> [f32; 4] {
        let mut color = self.material.base_color;
        if let Some(t) = self.sample(texels, &self.material.base_color_texture) {
            color = std::array::from_fn(|k| color[k] * t[k]);
        }
        if self.instance.flags & instance_flags::COLORED != 0 {
            for k in 0..4 {
                let vertex = self.mean(|v| (v.color[k / 2] >> (16 * (k as u32 % 2)) & 0xFFFF) as f32);
                color[k] *= vertex * INVERSE_65535;
            }
        }
        color
    }

    /// Emitted radiance, whichever side it is seen from.
    #[inline(always)]
    pub fn emission(&self, texels: &[u32]) -> Vector {
        let emissive = Vector::new(self.material.emissive);
        match self.sample(texels, &self.material.emissive_texture) {
            Some([r, g, b, _]) => emissive * Vector { x: r, y: g, z: b },
            None => emissive,
        }
    }

    /// Whether it shows its colour whatever the light.
    #[inline(always)]
    pub fn is_unlit(&self) -> bool {
        self.material.flags & material_flags::UNLIT != 0 || self.instance.flags & instance_flags::UNLIT != 0
    }
}
