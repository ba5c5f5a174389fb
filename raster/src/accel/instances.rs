//! The upper level: instances in eye space.

use std::sync::Arc;

use fearless_simd::prelude::*;
use rayon::prelude::*;

use super::boxes::Box3;
use super::build::{Tree, build};
use super::mesh::MeshTree;
use super::wide::{Accept, Hit, Query, Stack, Wide};
use crate::draw::{DrawList, Instance, instance_flags};
use crate::passes::ray::{self, NO_TRIANGLE};
use crate::passes::vector::Vector;
use crate::prepared::{Prepared, Vertex, material_flags};

/// Entries of a transform back to mesh space stay below this, or the instance is put into eye space instead.
const INVERSE_MAX: f64 = (1u64 << 40) as f64;

/// What a box is widened by, in parts of its coordinates and of where its instance is: a ray brought into mesh space
/// runs a little beside itself.
const PLACED_SLACK: f32 = 1.0 / (1u32 << 16) as f32;

const IDENTITY: [[f32; 4]; 3] = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];

/// A mesh where it stands.
#[derive(Debug, Clone)]
pub struct Placed {
    /// Index into [`DrawList::instances`].
    pub instance: u32,
    /// Number of its first triangle over all instances.
    pub first_triangle: u32,
    /// Its triangles.
    pub mesh: Arc<MeshTree>,
    /// Whether they are the scene's, at rest in mesh space, rather than made for this frame.
    pub at_rest: bool,
    /// Rows.
    pub local_from_eye: [[f32; 4]; 3],
    /// Whether every hit counts.
    pub opaque: bool,
}

/// What the rays of a frame meet.
#[derive(Debug, Clone, Default)]
pub struct SceneTree {
    /// The instances that have triangles, in the order of the draw list.
    pub placed: Vec<Placed>,
    /// The binary tree over them, which GPUs visit; a leaf holds one.
    pub tree: Tree,
    wide: Wide,
}

impl SceneTree {
    /// Of a frame; `vertices` finds an instance's, deformed where it deforms.
    pub fn new<'v>(
        prepared: &Prepared,
        list: &DrawList,
        vertices: impl Fn(&Instance) -> &'v [Vertex] + Sync,
    ) -> SceneTree {
        let place =
            |(k, instance): (usize, &Instance)| place(prepared, list, k, instance, vertices(instance));
        let (placed, boxes): (Vec<Placed>, Vec<Box3>) =
            list.instances.par_iter().enumerate().filter_map(place).unzip();
        let tree = build(&boxes, 1);
        let wide = Wide::new(&tree, 1, |items| tree.order[items.start]);
        SceneTree { placed, tree, wide }
    }

    /// The nearest triangle that a ray meets, ties to the lower number; or whether it meets any. `accept` is asked
    /// about hits on instances that are not opaque, and answers by the hit alone.
    #[inline(always)]
    pub fn trace<S: Simd>(
        &self,
        simd: S,
        query: &Query,
        stack: &mut Stack,
        accept: Accept<'_>,
    ) -> Option<Hit> {
        let mut best = Hit { t: query.t_max, instance: 0, triangle: NO_TRIANGLE, weights: [0.0; 3] };
        self.wide.visit(
            simd,
            query.origin,
            query.direction,
            query.t_max,
            stack,
            #[inline(always)]
            |stack, leaf| {
                let placed = &self.placed[leaf as usize];
                let origin = query.origin.transform_point(&placed.local_from_eye);
                let direction = query.direction.transform_vector(&placed.local_from_eye);
                placed.mesh.meet(
                    simd,
                    origin,
                    direction,
                    best.t,
                    stack,
                    #[inline(always)]
                    |number, t, edge, sum| {
                        let triangle = placed.first_triangle + number;
                        if triangle == query.skip || t == best.t && triangle >= best.triangle {
                            return best.t;
                        }
                        let hit =
                            Hit { t, instance: placed.instance, triangle, weights: ray::weights(edge, sum) };
                        if !placed.opaque && !accept(&hit) {
                            return best.t;
                        }
                        best = hit;
                        if query.any { 0.0 } else { best.t }
                    },
                );
                if query.any && best.triangle != NO_TRIANGLE { 0.0 } else { best.t }
            },
        );
        (best.triangle != NO_TRIANGLE).then_some(best)
    }

    /// Memory held beside the meshes. *Units*: bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(self.placed.as_slice()) + size_of_val(self.tree.nodes.as_slice()) + self.wide.bytes()
    }
}

/// An instance and the box around it; none where it has no triangles.
fn place(
    prepared: &Prepared,
    list: &DrawList,
    k: usize,
    instance: &Instance,
    vertices: &[Vertex],
) -> Option<(Placed, Box3)> {
    let [mesh, primitive] = list.parts[k];
    if instance.flags & (instance_flags::LINES | instance_flags::POINTS) != 0 || instance.triangle_count == 0
    {
        return None;
    }
    let indices =
        || &prepared.indices[instance.first_index as usize..][..3 * instance.triangle_count as usize];
    let rows = &instance.eye_from_local;
    let deformed = instance.flags & instance_flags::DEFORMED != 0;
    let (mesh, at_rest, local_from_eye, bounds) = match inverse(rows) {
        Some(inverse) => {
            let mesh = if deformed {
                Arc::new(MeshTree::new(vertices, indices()))
            } else {
                prepared.trees.tree(prepared, mesh, primitive)
            };
            let corners = mesh.bounds().corners().map(|c| Vector::new(c).transform_point(rows).array());
            let bounds = Box3::around(corners);
            (mesh, !deformed, inverse, bounds)
        }
        // Flattened, or of a scale that has no inverse in f32.
        None => {
            let place =
                |v: &Vertex| Vertex { position: Vector::new(v.position).transform_point(rows).array(), ..*v };
            let mesh = MeshTree::new(&vertices.iter().map(place).collect::<Vec<_>>(), indices());
            let bounds = mesh.bounds();
            (Arc::new(mesh), false, IDENTITY, bounds)
        }
    };
    let at = rows.iter().fold(0.0f32, |at, row| at.max(row[3].abs()));
    let slack = PLACED_SLACK * (bounds.reach() + at);
    let bounds = Box3 { min: bounds.min.map(|v| v - slack), max: bounds.max.map(|v| v + slack) };
    let alpha = material_flags::MASK | material_flags::BLEND;
    let opaque = prepared.materials[instance.material as usize].flags & alpha == 0;
    let (instance, first_triangle) = (k as u32, instance.first_triangle);
    Some((Placed { instance, first_triangle, mesh, at_rest, local_from_eye, opaque }, bounds))
}

/// The way back, where f32 can express it.
fn inverse(rows: &[[f32; 4]; 3]) -> Option<[[f32; 4]; 3]> {
    let m = rows.map(|row| row.map(f64::from));
    let minor = |r: [usize; 2], c: [usize; 2]| m[r[0]][c[0]] * m[r[1]][c[1]] - m[r[0]][c[1]] * m[r[1]][c[0]];
    const REST: [[usize; 2]; 3] = [[1, 2], [2, 0], [0, 1]];
    let cofactor: [[f64; 3]; 3] = std::array::from_fn(|r| std::array::from_fn(|c| minor(REST[r], REST[c])));
    let determinant = m[0][0] * cofactor[0][0] + m[0][1] * cofactor[0][1] + m[0][2] * cofactor[0][2];
    let largest = m.iter().flat_map(|row| &row[..3]).fold(0.0f64, |l, v| l.max(v.abs()));
    // So flat that rounding would decide where it is.
    if determinant.abs() <= largest * largest * largest * 1e-7 {
        return None;
    }
    let mut out = [[0.0; 4]; 3];
    for r in 0..3 {
        for c in 0..3 {
            out[r][c] = cofactor[c][r] / determinant;
        }
        out[r][3] = -(out[r][0] * m[0][3] + out[r][1] * m[1][3] + out[r][2] * m[2][3]);
    }
    let fits = out.iter().flatten().all(|v| v.abs() < INVERSE_MAX);
    fits.then(|| out.map(|row| row.map(|v| if v.abs() < 1e-30 { 0.0 } else { v as f32 })))
}
