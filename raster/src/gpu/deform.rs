//! Morph targets and skins as lists: what the scene holds once, what a frame adds.

use std::collections::BTreeMap;

use bytemuck::{Pod, Zeroable};

use crate::draw::{Deform, DrawList};
use crate::prepared::{Geometry, Prepared, Vertex};
use crate::scene::{MorphTarget, Primitive, Topology};

/// Joints of a vertex.
pub(crate) const JOINTS: u32 = 8;
/// Elements of a vertex in the list of sources: itself, its joints packed two to a word, its weights.
pub(crate) const SOURCE_PARTS: u32 = size_of::<Vertex>() as u32 / 16 + JOINTS / 8 + JOINTS / 4;
/// Elements of a vertex of a morph target.
pub(crate) const TARGET_PARTS: u32 = 3;
/// No joints.
const NOTHING: u32 = u32::MAX;

/// One primitive to deform. Twin: `DeformJob` in `shaders/deform.wgsl`, a uniform. Places count elements.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Pod, Zeroable)]
pub(crate) struct DeformJob {
    pub first_vertex: u32,
    pub vertex_count: u32,
    pub first_source: u32,
    pub first_target: u32,
    pub target_count: u32,
    pub first_weight: u32,
    pub first_joint: u32,
    pub is_triangles: u32,
}

/// Where a primitive's sources lie.
#[derive(Debug, Clone, Copy)]
struct Source {
    first_source: u32,
    first_target: u32,
    skinned: bool,
}

/// What the scene's deformable primitives are made of.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// Elements to upload.
    pub parts: Vec<[u32; 4]>,
    places: BTreeMap<(u32, u32), Source>,
}

impl Sources {
    /// Packs all primitives that have targets or joints.
    pub fn new(prepared: &Prepared) -> Sources {
        let mut sources = Sources::default();
        for (m, mesh) in prepared.scene.meshes.iter().enumerate() {
            for (k, primitive) in mesh.primitives.iter().enumerate() {
                if !primitive.targets.is_empty() || !primitive.joints.is_empty() {
                    let geometry = &prepared.geometries[m][k];
                    sources.pack(prepared, (m as u32, k as u32), primitive, geometry);
                }
            }
        }
        sources
    }

    fn pack(&mut self, prepared: &Prepared, key: (u32, u32), primitive: &Primitive, g: &Geometry) {
        let count = g.vertex_count as usize;
        let rest = &prepared.vertices[g.first_vertex as usize..][..count];
        let numbers = &prepared.sources[g.first_source as usize..][..count];
        let first_source = self.parts.len() as u32;
        for (vertex, &number) in rest.iter().zip(numbers) {
            let words: [[u32; 4]; 4] = bytemuck::cast(*vertex);
            self.parts.extend(words);
            let joints = primitive.joints.get(number as usize).copied().unwrap_or_default();
            let weights = primitive.joint_weights.get(number as usize).copied().unwrap_or_default();
            self.parts
                .push(std::array::from_fn(|j| u32::from(joints[2 * j]) | u32::from(joints[2 * j + 1]) << 16));
            self.parts.push(std::array::from_fn(|j| weights[j].to_bits()));
            self.parts.push(std::array::from_fn(|j| weights[4 + j].to_bits()));
        }
        let first_target = self.parts.len() as u32;
        for MorphTarget { position, normal, tangent } in &primitive.targets {
            for &number in numbers {
                for deltas in [position, normal, tangent] {
                    let [x, y, z] = deltas.get(number as usize).copied().unwrap_or_default();
                    self.parts.push([x.to_bits(), y.to_bits(), z.to_bits(), 0]);
                }
            }
        }
        let skinned = !primitive.joints.is_empty() && !primitive.joint_weights.is_empty();
        self.places.insert(key, Source { first_source, first_target, skinned });
    }

    /// What a frame deforms at a moment (0 now, 1 before): jobs, and weights and joints added to `pose`.
    /// Deformed vertices begin at `first_vertex`.
    pub fn jobs(
        &self,
        list: &DrawList,
        moment: usize,
        first_vertex: u32,
        prepared: &Prepared,
        pose: &mut Vec<[f32; 4]>,
    ) -> Vec<DeformJob> {
        list.deforms.iter().map(|d| self.job(d, moment, first_vertex, prepared, pose)).collect()
    }

    fn job(
        &self,
        deform: &Deform,
        moment: usize,
        first_vertex: u32,
        prepared: &Prepared,
        pose: &mut Vec<[f32; 4]>,
    ) -> DeformJob {
        let primitive = &prepared.scene.meshes[deform.mesh as usize].primitives[deform.primitive as usize];
        let source = self.places.get(&(deform.mesh, deform.primitive));
        let weights = &deform.weights[moment];
        let first_weight = pose.len() as u32;
        for four in weights.chunks(4) {
            pose.push(std::array::from_fn(|k| four.get(k).copied().unwrap_or(0.0)));
        }
        let palette = &deform.palettes[moment];
        let first_joint = pose.len() as u32;
        pose.extend(palette.iter().flatten());
        let skinned = source.is_some_and(|s| s.skinned) && !palette.is_empty();
        DeformJob {
            first_vertex: first_vertex + deform.first_vertex,
            vertex_count: deform.geometry.vertex_count,
            first_source: source.map_or(0, |s| s.first_source),
            first_target: source.map_or(0, |s| s.first_target),
            target_count: primitive.targets.len().min(weights.len()) as u32,
            first_weight,
            first_joint: if skinned { first_joint } else { NOTHING },
            is_triangles: u32::from(deform.geometry.topology == Topology::Triangles),
        }
    }
}
