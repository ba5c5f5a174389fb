//! The lower level: the triangles of a mesh's primitive, in its own space.

use std::sync::{Arc, OnceLock};

use fearless_simd::prelude::*;

use super::boxes::Box3;
use super::build::{Tree, build};
use super::wide::{Stack, Wide};
use crate::exact::FLUSH_BELOW;
use crate::passes::ray::{self, NO_TRIANGLE, Shear, Triangles};
use crate::passes::vector::Vector;
use crate::prepared::{Geometry, Prepared, Vertex};
use crate::scene::Topology;

/// Most triangles in a leaf of the binary tree.
const LEAF_TRIANGLES: usize = 4;

/// Triangles in boxes.
#[derive(Debug, Clone, Default)]
pub struct MeshTree {
    /// The binary tree, which GPUs visit.
    pub tree: Tree,
    wide: Wide,
    blocks: Vec<Triangles>,
}

impl MeshTree {
    /// Of triangles given by vertices and a list of indices.
    pub fn new(vertices: &[Vertex], indices: &[u32]) -> MeshTree {
        let corner = |k: u32| vertices[k as usize].position;
        let boxes: Vec<Box3> = indices
            .chunks_exact(3)
            .map(|t| Box3::around([corner(t[0]), corner(t[1]), corner(t[2])]))
            .collect();
        let tree = build(&boxes, LEAF_TRIANGLES);
        let mut blocks = Vec::new();
        let wide = Wide::new(&tree, 8, |items| {
            let mut block = Triangles { corner: [[[0.0; 8]; 3]; 3], number: [NO_TRIANGLE; 8] };
            for (lane, &triangle) in tree.order[items].iter().enumerate() {
                let index = &indices[triangle as usize * 3..][..3];
                for k in 0..3 {
                    for axis in 0..3 {
                        block.corner[k][axis][lane] = corner(index[k])[axis];
                    }
                }
                block.number[lane] = triangle;
            }
            blocks.push(block);
            blocks.len() as u32 - 1
        });
        MeshTree { tree, wide, blocks }
    }

    /// The box around all.
    pub fn bounds(&self) -> Box3 {
        self.tree.nodes.first().map_or(Box3::EMPTY, |root| root.bounds())
    }

    /// Memory held. *Units*: bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(self.tree.nodes.as_slice())
            + size_of_val(self.tree.order.as_slice())
            + self.wide.bytes()
            + size_of_val(self.blocks.as_slice())
    }

    /// Corners of the triangles leaf by leaf, as [`Tree::order`] has them, each with its number.
    pub fn leaf_triangles(&self) -> Vec<([[f32; 3]; 3], u32)> {
        let mut place_of = vec![0; self.tree.order.len()];
        for (place, &number) in self.tree.order.iter().enumerate() {
            place_of[number as usize] = place;
        }
        let mut out = vec![([[0.0; 3]; 3], 0); place_of.len()];
        for block in &self.blocks {
            for (lane, &number) in block.number.iter().enumerate().filter(|(_, n)| **n != NO_TRIANGLE) {
                out[place_of[number as usize]] = (block.corner.map(|c| c.map(|axis| axis[lane])), number);
            }
        }
        out
    }

    /// Meets the triangles of a ray in mesh space; `met` is given each that may be the nearest, by number, distance,
    /// edge functions and their sum, and returns how far the ray still goes.
    #[inline(always)]
    pub fn meet<S: Simd>(
        &self,
        simd: S,
        origin: Vector,
        direction: Vector,
        t_max: f32,
        stack: &mut Stack,
        mut met: impl FnMut(u32, f32, [f32; 3], f32) -> f32,
    ) {
        // A ray that goes nowhere meets nothing.
        if direction.map(f32::abs).largest() < FLUSH_BELOW {
            return;
        }
        let shear = Shear::new(origin, direction);
        let mut t_max = t_max;
        self.wide.visit(
            simd,
            origin,
            direction,
            t_max,
            stack,
            #[inline(always)]
            |_, block| {
                let block = &self.blocks[block as usize];
                let meeting = ray::meet(simd, &shear, block);
                let near = meeting.t.simd_le(fearless_simd::f32x8::splat(simd, t_max));
                let mut lanes = (meeting.met & near).to_bitmask();
                while lanes != 0 {
                    let lane = lanes.trailing_zeros() as usize;
                    lanes &= lanes - 1;
                    let t = meeting.t[lane];
                    if t <= t_max {
                        let edge = [meeting.edge[0][lane], meeting.edge[1][lane], meeting.edge[2][lane]];
                        t_max = met(block.number[lane], t, edge, meeting.sum[lane]);
                    }
                }
                t_max
            },
        );
    }
}

/// The trees of a scene's meshes at rest, each built when first needed.
#[derive(Debug, Default)]
pub struct Meshes {
    /// By mesh, by primitive.
    trees: Vec<Vec<OnceLock<Arc<MeshTree>>>>,
}

impl Meshes {
    /// None built yet.
    pub fn new(geometries: &[Vec<Geometry>]) -> Meshes {
        let trees = geometries.iter().map(|mesh| mesh.iter().map(|_| OnceLock::new()).collect()).collect();
        Meshes { trees }
    }

    /// The tree of a primitive; without triangles for lines and points, which have a width only on the screen.
    pub fn tree(&self, prepared: &Prepared, mesh: u32, primitive: u32) -> Arc<MeshTree> {
        let build = || {
            let geometry = &prepared.geometries[mesh as usize][primitive as usize];
            if geometry.topology != Topology::Triangles {
                return Arc::default();
            }
            let vertices =
                &prepared.vertices[geometry.first_vertex as usize..][..geometry.vertex_count as usize];
            let indices =
                &prepared.indices[geometry.first_index as usize..][..3 * geometry.triangle_count as usize];
            Arc::new(MeshTree::new(vertices, indices))
        };
        self.trees[mesh as usize][primitive as usize].get_or_init(build).clone()
    }
}
