//! Emitters: the triangles that shine in a frame, made ready to be sampled in proportion to their power.

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

use crate::draw::{DrawList, Instance, instance_flags};
use crate::environment::{MASS_ALL, cumulative};
use crate::passes::vector::Vector;
use crate::prepared::{PackedMaterial, PackedTexture, Prepared, Vertex, material_flags};

/// An instance whose triangles do not shine.
pub const DARK: u32 = u32::MAX;

/// A triangle that shines, 16 bytes. Twin: `Emitter` in `shaders/emitters.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Pod, Zeroable)]
pub struct Emitter {
    /// Mass before it, of [`MASS_ALL`].
    pub before: u32,
    /// Its instance.
    pub instance: u32,
    /// Number over all instances.
    pub triangle: u32,
    /// Density of its points. *Units*: 1 / area in eye space.
    pub pdf_area: f32,
}

/// All that shine in a frame.
#[derive(Debug, Clone, Default)]
pub struct Emitters {
    /// In order of their numbers; one more ends the masses, unless there are none.
    pub list: Vec<Emitter>,
    /// By instance: its first triangle in `list`, or [`DARK`].
    pub first: Vec<u32>,
}

impl Emitters {
    /// Of a frame; `vertices` finds an instance's, deformed where it deforms.
    pub fn new<'v>(
        prepared: &Prepared,
        list: &DrawList,
        vertices: impl Fn(&Instance) -> &'v [Vertex] + Sync,
    ) -> Emitters {
        let mut out = Emitters { list: Vec::new(), first: vec![DARK; list.instances.len()] };
        let (mut weights, mut areas) = (Vec::new(), Vec::new());
        for (k, instance) in list.instances.iter().enumerate() {
            let material = &prepared.materials[instance.material as usize];
            let shines = luminance(material.emissive) * mean_luminance(prepared, material);
            if !is_lit(instance, material) || shines <= 0.0 {
                continue;
            }
            out.first[k] = out.list.len() as u32;
            let of = vertices(instance);
            let indices = &prepared.indices[instance.first_index as usize..];
            let found: Vec<f64> = (0..instance.triangle_count as usize)
                .into_par_iter()
                .map(|t| {
                    let corner = |c: usize| {
                        let vertex = &of[indices[3 * t + c] as usize];
                        Vector::new(vertex.position).transform_point(&instance.eye_from_local)
                    };
                    area([corner(0), corner(1), corner(2)])
                })
                .collect();
            for (t, area) in (0u32..).zip(found) {
                weights.push(area * shines);
                areas.push(area);
                let triangle = instance.first_triangle + t;
                out.list.push(Emitter { instance: k as u32, triangle, ..Emitter::default() });
            }
        }
        out.weigh(&weights, &areas);
        out
    }

    fn weigh(&mut self, weights: &[f64], areas: &[f64]) {
        // Masses are whole: more triangles than that could not each have one.
        let fits = weights.len() < (MASS_ALL / 4) as usize;
        if weights.is_empty() || !fits || weights.iter().sum::<f64>() <= 0.0 {
            self.list.clear();
            self.first.fill(DARK);
            return;
        }
        let masses = cumulative(weights);
        for (k, emitter) in self.list.iter_mut().enumerate() {
            emitter.before = masses[k];
            let mass = f64::from(masses[k + 1] - masses[k]) / f64::from(MASS_ALL);
            emitter.pdf_area = if areas[k] > 1e-24 { (mass / areas[k]).min(1e24) as f32 } else { 0.0 };
        }
        self.list.push(Emitter { before: MASS_ALL, ..Emitter::default() });
    }

    /// Whether nothing shines.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

fn is_lit(instance: &Instance, material: &PackedMaterial) -> bool {
    let plain = instance_flags::LINES | instance_flags::POINTS | instance_flags::UNLIT;
    instance.flags & plain == 0 && material.flags & material_flags::UNLIT == 0
}

fn luminance([r, g, b]: [f32; 3]) -> f64 {
    0.2126 * f64::from(r) + 0.7152 * f64::from(g) + 0.0722 * f64::from(b)
}

/// Of the emissive texture, from its coarsest level; 1 without. Not quite 0, so that what shines here and there is
/// found.
fn mean_luminance(prepared: &Prepared, material: &PackedMaterial) -> f64 {
    let t: &PackedTexture = &material.emissive_texture;
    if t.level_count == 0 {
        return 1.0;
    }
    let (mut first, mut width, mut height) = (t.first_texel, t.width, t.height);
    for _ in 1..t.level_count {
        first += width * height;
        (width, height) = ((width >> 1).max(1), (height >> 1).max(1));
    }
    let texel = prepared.texels[first as usize];
    let channel = |k: u32| crate::image::srgb::SRGB8_TO_LINEAR[(texel >> (8 * k) & 255) as usize];
    luminance([channel(0), channel(1), channel(2)]).max(1e-3)
}

fn area([a, b, c]: [Vector; 3]) -> f64 {
    let to = |v: Vector| [v.x - a.x, v.y - a.y, v.z - a.z].map(f64::from);
    let (u, v) = (to(b), to(c));
    let cross = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    0.5 * (cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]).sqrt()
}
