//! Bounds of what is drawn, from the vertices themselves.

use glam::{DMat4, DVec3};

use super::{Pose, trs_matrix, vec3};
use crate::scene::{Node, Primitive, Scene};

/// Smallest axis-aligned box around all that is drawn: visible, indexed, morphed, skinned, instanced
/// vertices. *Space*: world. None where nothing is drawn. *Cost*: linear in vertices times instances.
pub fn bounds_world(scene: &Scene, pose: &Pose) -> Option<(DVec3, DVec3)> {
    let mut bounds = Bounds::EMPTY;
    for (index, node) in scene.nodes.iter().enumerate() {
        let Some(mesh) = node.mesh.filter(|_| pose.visible[index]) else { continue };
        for primitive in &scene.meshes[mesh as usize].primitives {
            let points = morphed(primitive, &pose.weights[index]);
            match &pose.palettes[index] {
                Some(palette) if !primitive.joints.is_empty() => {
                    for &(vertex, point) in &points {
                        bounds.add(skin(primitive, palette, vertex).transform_point3(point));
                    }
                }
                _ => {
                    for matrix in placements(node, &pose.world_from_node[index]) {
                        points.iter().for_each(|(_, point)| bounds.add(matrix.transform_point3(*point)));
                    }
                }
            }
        }
    }
    bounds.get()
}

struct Bounds {
    low: DVec3,
    high: DVec3,
}

impl Bounds {
    const EMPTY: Bounds = Bounds { low: DVec3::INFINITY, high: DVec3::NEG_INFINITY };

    fn add(&mut self, point: DVec3) {
        self.low = self.low.min(point);
        self.high = self.high.max(point);
    }

    fn get(&self) -> Option<(DVec3, DVec3)> {
        (self.low.x <= self.high.x).then_some((self.low, self.high))
    }
}

/// World from mesh for each time a node's rigid mesh is drawn.
fn placements(node: &Node, world_from_node: &DMat4) -> Vec<DMat4> {
    match &node.instances {
        Some(instances) => instances.iter().map(|trs| *world_from_node * trs_matrix(trs)).collect(),
        None => vec![*world_from_node],
    }
}

/// Vertices that some index names, moved by the morph targets. *Space*: mesh.
fn morphed(primitive: &Primitive, weights: &[f32]) -> Vec<(usize, DVec3)> {
    let mut used = vec![false; primitive.position.len()];
    primitive.indices.iter().for_each(|&index| used[index as usize] = true);
    let moved = |vertex: usize| {
        let mut point = vec3(primitive.position[vertex]);
        for (target, &weight) in primitive.targets.iter().zip(weights) {
            if weight != 0.0 && !target.position.is_empty() {
                point += vec3(target.position[vertex]) * f64::from(weight);
            }
        }
        (vertex, point)
    };
    (0..used.len()).filter(|&vertex| used[vertex]).map(moved).collect()
}

fn skin(primitive: &Primitive, palette: &[DMat4], vertex: usize) -> DMat4 {
    let mut world_from_mesh = DMat4::ZERO;
    for (&joint, &weight) in primitive.joints[vertex].iter().zip(&primitive.joint_weights[vertex]) {
        if weight != 0.0 {
            world_from_mesh += palette[joint as usize] * f64::from(weight);
        }
    }
    world_from_mesh
}
