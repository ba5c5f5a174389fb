//! Bounds of what is drawn, from the vertices themselves.

use glam::{DMat4, DVec3};

use super::{Pose, trs_matrix, vec3};
use crate::scene::{Node, Primitive, Scene};

/// Vertices that are passed over together where their box adds nothing.
const BLOCK_VERTICES: usize = 64;

/// Smallest axis-aligned box around all that is drawn: visible, indexed, morphed, skinned, instanced
/// vertices. *Space*: world. None where nothing is drawn. *Cost*: linear in vertices; further instances of a
/// mesh cost its blocks of 64 vertices.
pub fn bounds_world(scene: &Scene, pose: &Pose) -> Option<(DVec3, DVec3)> {
    let mut bounds = Box3::EMPTY;
    Clouds::new(scene).extend(&mut bounds, pose);
    bounds.get()
}

/// An axis-aligned box that grows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Box3 {
    low: DVec3,
    high: DVec3,
}

impl Box3 {
    pub const EMPTY: Box3 = Box3 { low: DVec3::INFINITY, high: DVec3::NEG_INFINITY };

    fn add(&mut self, point: DVec3) {
        self.low = self.low.min(point);
        self.high = self.high.max(point);
    }

    pub fn get(&self) -> Option<(DVec3, DVec3)> {
        (self.low.x <= self.high.x).then_some((self.low, self.high))
    }

    /// Whether the image of another box lies inside.
    fn contains(&self, matrix: &DMat4, other: &Box3) -> bool {
        let centre = matrix.transform_point3(other.low * 0.5 + other.high * 0.5);
        let half = other.high * 0.5 - other.low * 0.5;
        let reach = matrix.x_axis.truncate().abs() * half.x
            + matrix.y_axis.truncate().abs() * half.y
            + matrix.z_axis.truncate().abs() * half.z;
        (centre - reach).cmpge(self.low).all() && (centre + reach).cmple(self.high).all()
    }
}

/// The drawn vertices of a primitive, in mesh space, with boxes to pass them over by.
#[derive(Debug, Clone)]
struct Cloud {
    points: Vec<DVec3>,
    blocks: Vec<Box3>,
    whole: Box3,
}

impl Cloud {
    fn new(points: Vec<DVec3>) -> Cloud {
        let around = |points: &[DVec3]| {
            let mut around = Box3::EMPTY;
            points.iter().for_each(|point| around.add(*point));
            around
        };
        Cloud { blocks: points.chunks(BLOCK_VERTICES).map(around).collect(), whole: around(&points), points }
    }

    fn extend(&self, bounds: &mut Box3, matrix: &DMat4) {
        if self.points.is_empty() || bounds.contains(matrix, &self.whole) {
            return;
        }
        for (block, points) in self.blocks.iter().zip(self.points.chunks(BLOCK_VERTICES)) {
            if !bounds.contains(matrix, block) {
                points.iter().for_each(|point| bounds.add(matrix.transform_point3(*point)));
            }
        }
    }
}

/// Clouds of a scene's meshes at rest, made when first wanted, for bounds at many moments.
pub(crate) struct Clouds<'a> {
    scene: &'a Scene,
    rest: Vec<Option<Vec<Cloud>>>,
}

impl<'a> Clouds<'a> {
    pub fn new(scene: &'a Scene) -> Clouds<'a> {
        Clouds { scene, rest: vec![None; scene.meshes.len()] }
    }

    /// Grows bounds around all that is drawn in a pose.
    pub fn extend(&mut self, bounds: &mut Box3, pose: &Pose) {
        for (index, node) in self.scene.nodes.iter().enumerate() {
            let Some(mesh) = node.mesh.filter(|_| pose.visible[index]) else { continue };
            let primitives = &self.scene.meshes[mesh as usize].primitives;
            let weights = &pose.weights[index];
            let placements = placements(node, &pose.world_from_node[index]);
            for (at, primitive) in primitives.iter().enumerate() {
                if let Some(palette) = pose.palettes[index].as_ref().filter(|_| !primitive.joints.is_empty())
                {
                    add_skinned(bounds, primitive, weights, palette);
                } else if moves(primitive, weights) {
                    let cloud = Cloud::new(morphed(primitive, weights).map(|(_, point)| point).collect());
                    placements.iter().for_each(|matrix| cloud.extend(bounds, matrix));
                } else {
                    let at_rest = |primitive| Cloud::new(morphed(primitive, &[]).map(|(_, p)| p).collect());
                    let clouds = self.rest[mesh as usize]
                        .get_or_insert_with(|| primitives.iter().map(at_rest).collect());
                    placements.iter().for_each(|matrix| clouds[at].extend(bounds, matrix));
                }
            }
        }
    }
}

/// World from mesh for each time a node's rigid mesh is drawn.
fn placements(node: &Node, world_from_node: &DMat4) -> Vec<DMat4> {
    match &node.instances {
        Some(instances) => instances.iter().map(|trs| *world_from_node * trs_matrix(trs)).collect(),
        None => vec![*world_from_node],
    }
}

/// Whether some target moves some vertex.
fn moves(primitive: &Primitive, weights: &[f32]) -> bool {
    primitive
        .targets
        .iter()
        .zip(weights)
        .any(|(target, weight)| *weight != 0.0 && !target.position.is_empty())
}

/// Vertices that some index names, moved by the morph targets. *Space*: mesh.
fn morphed<'a>(primitive: &'a Primitive, weights: &'a [f32]) -> impl Iterator<Item = (usize, DVec3)> + 'a {
    let mut used = vec![false; primitive.position.len()];
    primitive.indices.iter().for_each(|&index| used[index as usize] = true);
    let moved = move |vertex: usize| {
        let mut point = vec3(primitive.position[vertex]);
        for (target, &weight) in primitive.targets.iter().zip(weights) {
            if weight != 0.0 && !target.position.is_empty() {
                point += vec3(target.position[vertex]) * f64::from(weight);
            }
        }
        (vertex, point)
    };
    (0..used.len()).filter(move |&vertex| used[vertex]).map(moved)
}

fn add_skinned(bounds: &mut Box3, primitive: &Primitive, weights: &[f32], palette: &[DMat4]) {
    for (vertex, point) in morphed(primitive, weights) {
        let mut point_world = DVec3::ZERO;
        for (&joint, &weight) in primitive.joints[vertex].iter().zip(&primitive.joint_weights[vertex]) {
            if weight != 0.0 {
                point_world += palette[joint as usize].transform_point3(point) * f64::from(weight);
            }
        }
        bounds.add(point_world);
    }
}
