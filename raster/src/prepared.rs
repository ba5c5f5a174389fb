//! A scene made ready for the backends: packed geometry, texels with mips.

mod lobes;
mod material;

use std::collections::BTreeMap;
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};

use crate::accel::Meshes;
use crate::image::mips::{self, MipChain};
use crate::scene::{AlphaMode, Primitive, Scene, TextureRef, Topology, Wrap};
use crate::view::Extents;

pub use material::{PackedMaterial, PackedTexture, TEXTURES, material_flags, texture_flags, wrap_code};

/// A packed vertex, 64 bytes. Twin: `Vertex` in `shaders/vertices.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Pod, Zeroable)]
pub struct Vertex {
    /// *Space*: mesh local.
    pub position: [f32; 3],
    /// Unit, or zero where there is none.
    pub normal: [f32; 3],
    /// xyz and handedness. Lines: x holds the bits of the other end's vertex index, w the side (-1 or 1).
    /// Points: x and y hold the corner (-1 or 1).
    pub tangent: [f32; 4],
    /// TEXCOORD_0.
    pub uv0: [f32; 2],
    /// TEXCOORD_1.
    pub uv1: [f32; 2],
    /// COLOR_0 as four 16-bit fractions: r | g << 16, b | a << 16.
    pub color: [u32; 2],
}

/// Where a primitive's data lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// Into [`Prepared::vertices`].
    pub first_vertex: u32,
    /// Vertices.
    pub vertex_count: u32,
    /// Into [`Prepared::indices`]; indices count from `first_vertex`.
    pub first_index: u32,
    /// Triangles, after lines and points became pairs of them.
    pub triangle_count: u32,
    /// What the vertices' tangents mean.
    pub topology: Topology,
    /// Whether there are normals to light.
    pub lit: bool,
    /// Whether any vertex colour differs from opaque white.
    pub colored: bool,
    /// First of `vertex_count` entries in [`Prepared::sources`]; which source vertex each packed vertex came from.
    pub first_source: u32,
}

/// What the texels of a texture are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Texels {
    Data,
    /// sRGB, alpha being coverage.
    Color,
    /// sRGB, alpha being something else.
    ColorBesideData,
}

const _: () = assert!(size_of::<Vertex>() == 64);

/// Everything about a scene that does not change from frame to frame.
#[derive(Debug)]
pub struct Prepared {
    /// The scene it was made from.
    pub scene: Arc<Scene>,
    /// What framed cameras frame, found when first asked for.
    pub extents: Extents,
    /// All vertices of all primitives.
    pub vertices: Vec<Vertex>,
    /// Triangle lists.
    pub indices: Vec<u32>,
    /// Per mesh, per primitive.
    pub geometries: Vec<Vec<Geometry>>,
    /// For each packed vertex, the primitive's own vertex that it shows.
    pub sources: Vec<u32>,
    /// One per scene material.
    pub materials: Vec<PackedMaterial>,
    /// RGBA8, r in the low byte.
    pub texels: Vec<u32>,
    /// What rays meet of each primitive at rest.
    pub trees: Meshes,
}

impl Prepared {
    /// Packs a scene.
    pub fn new(scene: Arc<Scene>) -> Prepared {
        let mut prepared = Prepared {
            extents: Extents::new(&scene),
            vertices: Vec::new(),
            indices: Vec::new(),
            geometries: Vec::new(),
            sources: Vec::new(),
            materials: Vec::new(),
            texels: Vec::new(),
            trees: Meshes::default(),
            scene: scene.clone(),
        };
        for mesh in &scene.meshes {
            let geometries = mesh.primitives.iter().map(|p| prepared.pack_primitive(p)).collect();
            prepared.geometries.push(geometries);
        }
        prepared.pack_materials(&scene);
        prepared.trees = Meshes::new(&prepared.geometries);
        prepared
    }

    /// Memory held, in bytes, beside the scene.
    pub fn bytes(&self) -> u64 {
        (self.vertices.len() * size_of::<Vertex>()
            + (self.indices.len() + self.texels.len() + self.sources.len()) * 4
            + self.materials.len() * size_of::<PackedMaterial>()) as u64
    }

    fn pack_primitive(&mut self, p: &Primitive) -> Geometry {
        let first_vertex = self.vertices.len() as u32;
        let first_index = self.indices.len() as u32;
        let first_source = self.sources.len() as u32;
        match p.topology {
            Topology::Triangles => {
                self.vertices.extend((0..p.position.len()).map(|i| pack_vertex(p, i)));
                self.sources.extend(0..p.position.len() as u32);
                self.indices.extend_from_slice(&p.indices);
            }
            Topology::Lines => {
                for ends in p.indices.chunks_exact(2) {
                    self.pack_sprite(
                        p,
                        first_vertex,
                        [ends[0], ends[0], ends[1], ends[1]],
                        |corner, base| {
                            let other = if corner < 2 { base + 2 } else { base };
                            // Seen from its own end the line runs the other way, so the far end swaps sides.
                            let side = if corner == 0 || corner == 3 { -1.0 } else { 1.0 };
                            [f32::from_bits(other), 0.0, 0.0, side]
                        },
                    );
                }
            }
            Topology::Points => {
                for &i in &p.indices {
                    self.pack_sprite(p, first_vertex, [i; 4], |corner, _| {
                        let (x, y) = ((corner & 1) as f32, (corner >> 1) as f32);
                        [x * 2.0 - 1.0, y * 2.0 - 1.0, 0.0, 1.0]
                    });
                }
            }
        }
        Geometry {
            first_vertex,
            vertex_count: self.vertices.len() as u32 - first_vertex,
            first_index,
            triangle_count: (self.indices.len() as u32 - first_index) / 3,
            topology: p.topology,
            lit: !p.normal.is_empty(),
            colored: p.color.iter().any(|c| *c != [1.0; 4]),
            first_source,
        }
    }

    /// Four vertices and two triangles for a line or a point.
    fn pack_sprite(
        &mut self,
        p: &Primitive,
        first_vertex: u32,
        ends: [u32; 4],
        tangent: impl Fn(u32, u32) -> [f32; 4],
    ) {
        let base = self.vertices.len() as u32 - first_vertex;
        for (corner, &i) in (0..4u32).zip(&ends) {
            let vertex = pack_vertex(p, i as usize);
            self.vertices.push(Vertex { tangent: tangent(corner, base), ..vertex });
            self.sources.push(i);
        }
        self.indices.extend([0, 1, 2, 2, 1, 3].map(|k| base + k));
    }

    fn pack_materials(&mut self, scene: &Scene) {
        let mut chains: BTreeMap<(u32, Texels), (u32, MipChain)> = BTreeMap::new();
        for m in &scene.materials {
            let mut texture = |t: Option<TextureRef>, kind: Texels| -> PackedTexture {
                let Some(t) = t else { return PackedTexture::default() };
                let sampler = scene.textures[t.texture as usize];
                let texels = &mut self.texels;
                let (first_texel, chain) = chains.entry((sampler.image, kind)).or_insert_with(|| {
                    let image = &scene.images[sampler.image as usize];
                    let chain = match kind {
                        Texels::Data => mips::build(image, false),
                        Texels::Color => mips::build(image, true),
                        Texels::ColorBesideData => mips::build_beside_data(image),
                    };
                    let first = texels.len() as u32;
                    texels.extend_from_slice(&chain.texels);
                    (first, MipChain { levels: chain.levels, texels: Vec::new() })
                });
                use texture_flags::*;
                let wrap = |w: Wrap| match w {
                    Wrap::Repeat => wrap_code::REPEAT,
                    Wrap::Mirror => wrap_code::MIRROR,
                    Wrap::Clamp => wrap_code::CLAMP,
                };
                let flag = |on: bool, bit: u32| if on { bit } else { 0 };
                PackedTexture {
                    uv_transform: t.uv_transform,
                    uv_set: t.uv_set,
                    first_texel: *first_texel,
                    width: chain.levels[0].width,
                    height: chain.levels[0].height,
                    level_count: chain.levels.len() as u32,
                    flags: flag(kind != Texels::Data, SRGB)
                        | flag(sampler.mag_linear, MAG_LINEAR)
                        | flag(sampler.min_linear, MIN_LINEAR)
                        | flag(sampler.mip_linear.is_some(), MIPS)
                        | flag(sampler.mip_linear == Some(true), MIP_LINEAR)
                        | wrap(sampler.wrap_u) << WRAP_U_SHIFT
                        | wrap(sampler.wrap_v) << WRAP_V_SHIFT,
                }
            };
            let (mode, cutoff) = match m.alpha_mode {
                AlphaMode::Opaque => (0, 0.0),
                AlphaMode::Mask { cutoff } => (material_flags::MASK, cutoff),
                AlphaMode::Blend => (material_flags::BLEND, 0.0),
            };
            let mut packed = PackedMaterial {
                base_color: m.base_color,
                emissive: m.emissive,
                cutoff,
                metallic: m.metallic,
                roughness: m.roughness,
                normal_scale: m.normal_scale,
                occlusion_strength: m.occlusion_strength,
                flags: mode
                    | if m.double_sided { material_flags::DOUBLE_SIDED } else { 0 }
                    | if m.unlit { material_flags::UNLIT } else { 0 },
                padding: [0; 3],
                base_color_texture: texture(m.base_color_texture, Texels::Color),
                metallic_roughness_texture: texture(m.metallic_roughness_texture, Texels::Data),
                normal_texture: texture(m.normal_texture, Texels::Data),
                occlusion_texture: texture(m.occlusion_texture, Texels::Data),
                emissive_texture: texture(m.emissive_texture, Texels::Color),
                ..PackedMaterial::default()
            };
            if !m.unlit {
                lobes::pack(m, &mut packed, &mut texture);
            }
            self.materials.push(packed);
        }
    }
}

fn pack_vertex(p: &Primitive, i: usize) -> Vertex {
    fn at<T: Copy>(values: &[T], i: usize, absent: T) -> T {
        values.get(i).copied().unwrap_or(absent)
    }
    let fraction = |c: f32| (c.clamp(0.0, 1.0) * 65535.0 + 0.5) as u32;
    let [r, g, b, a] = at(&p.color, i, [1.0; 4]).map(fraction);
    Vertex {
        position: p.position[i],
        normal: at(&p.normal, i, [0.0; 3]),
        tangent: at(&p.tangent, i, [0.0; 4]),
        uv0: at(&p.uv0, i, [0.0; 2]),
        uv1: at(&p.uv1, i, [0.0; 2]),
        color: [r | g << 16, b | a << 16],
    }
}
