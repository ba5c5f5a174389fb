//! Scenes written down as data, for the tests of poses and views.

use glam::{DMat4, DVec3};
use isoframe_raster::frame::{AnimationChoice, RenderError};
use isoframe_raster::pose::{Pose, evaluate};
use isoframe_raster::scene::*;

/// A node of this translation, rotation and scale.
pub fn node(translation: [f32; 3], rotation: [f32; 4], scale: [f32; 3]) -> Node {
    Node { local: Transform::Trs(Trs { translation, rotation, scale }), visible: true, ..Node::default() }
}

pub const UNTURNED: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

pub fn at(x: f32, y: f32, z: f32) -> Node {
    node([x, y, z], UNTURNED, [1.0; 3])
}

pub fn scaled(x: f32, y: f32, z: f32) -> Node {
    node([0.0; 3], UNTURNED, [x, y, z])
}

pub fn under(parent: u32, node: Node) -> Node {
    Node { parent: Some(parent), ..node }
}

/// A scene of these nodes; each gets its position as its glTF index.
pub fn scene(nodes: Vec<Node>) -> Scene {
    let numbered = |(index, node)| Node { gltf_index: index as u32, ..node };
    Scene { nodes: nodes.into_iter().enumerate().map(numbered).collect(), ..Scene::default() }
}

/// The triangle (0,0,0), (1,0,0), (0,1,0).
pub fn triangle() -> Primitive {
    points(&[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
}

/// A primitive of these vertices, indexed in order.
pub fn points(position: &[[f32; 3]]) -> Primitive {
    Primitive {
        topology: if position.len().is_multiple_of(3) { Topology::Triangles } else { Topology::Points },
        indices: (0..position.len() as u32).collect(),
        position: position.to_vec(),
        ..Primitive::default()
    }
}

pub fn mesh(primitive: Primitive) -> Mesh {
    let weights = vec![0.0; primitive.targets.len()];
    Mesh { primitives: vec![primitive], weights, ..Mesh::default() }
}

pub fn channel(
    node: u32,
    path: ChannelPath,
    interpolation: Interpolation,
    times_s: &[f32],
    values: &[f32],
) -> Channel {
    let per_key = if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
    let width = values.len() / times_s.len() / per_key;
    Channel { node, path, interpolation, times_s: times_s.to_vec(), values: values.to_vec(), width }
}

pub fn animation(name: &str, channels: Vec<Channel>) -> Animation {
    let duration_s = channels.iter().filter_map(|c| c.times_s.last().copied()).fold(0.0, f32::max);
    Animation { name: name.into(), channels, duration_s }
}

/// The rest pose.
pub fn rest(scene: &Scene) -> Pose {
    evaluate(scene, &AnimationChoice::None, 0.0).expect("a rest pose")
}

pub fn posed(scene: &Scene, time_s: f64) -> Pose {
    evaluate(scene, &AnimationChoice::First, time_s).expect("a pose")
}

pub fn place(pose: &Pose, node: usize, point: [f64; 3]) -> DVec3 {
    pose.world_from_node[node].transform_point3(DVec3::from_array(point))
}

/// What a refused request says of a field.
pub fn reason(error: RenderError, field: &str) -> String {
    match error {
        RenderError::Request { field: named, reason } if named == field => reason,
        other => panic!("expected a refusal of `{field}`, got: {other}"),
    }
}

#[track_caller]
pub fn assert_near(got: DVec3, expected: [f64; 3], tolerance: f64) {
    let distance = (got - DVec3::from_array(expected)).length();
    assert!(distance <= tolerance, "got {got}, expected {expected:?}, {distance:e} apart");
}

pub fn is_finite(matrix: &DMat4) -> bool {
    matrix.to_cols_array().iter().all(|entry| entry.is_finite())
}
