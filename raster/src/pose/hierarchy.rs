//! Local transforms into world matrices and skin palettes.

use glam::{DMat4, DQuat, DVec3};

use super::{COORDINATE_LIMIT, vec3};
use crate::frame::RenderError;
use crate::scene::{Scene, Transform, Trs};

/// A local transform in `f64`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Local {
    Trs { translation: DVec3, rotation: DQuat, scale: DVec3 },
    Matrix(DMat4),
}

impl Local {
    pub(super) fn rest(transform: &Transform) -> Local {
        match transform {
            Transform::Trs(trs) => Local::Trs {
                translation: vec3(trs.translation),
                rotation: unit_quaternion(trs.rotation.map(f64::from)),
                scale: vec3(trs.scale),
            },
            Transform::Matrix(columns) => Local::Matrix(matrix(columns)),
        }
    }

    fn parent_from_node(&self) -> DMat4 {
        match *self {
            Local::Trs { translation, rotation, scale } => compose(translation, rotation, scale),
            Local::Matrix(matrix) => matrix,
        }
    }
}

/// The matrix of a translation, rotation and scale; the quaternion is normalised first.
pub fn trs_matrix(trs: &Trs) -> DMat4 {
    Local::rest(&Transform::Trs(*trs)).parent_from_node()
}

/// Normalises; a quaternion too short to have a direction is no rotation.
pub(super) fn unit_quaternion(q: [f64; 4]) -> DQuat {
    let length_squared = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    // Shorter than any normalised i8 or f32 that an exporter meant: 1e-12 squared.
    if length_squared.is_nan() || length_squared < 1e-24 {
        return DQuat::IDENTITY;
    }
    let length = length_squared.sqrt();
    DQuat::from_xyzw(q[0] / length, q[1] / length, q[2] / length, q[3] / length)
}

fn compose(translation: DVec3, rotation: DQuat, scale: DVec3) -> DMat4 {
    DMat4::from_scale_rotation_translation(scale, rotation, translation)
}

fn matrix(columns: &[f32; 16]) -> DMat4 {
    DMat4::from_cols_array(&columns.map(f64::from))
}

pub(super) fn world_matrices(scene: &Scene, locals: &[Local]) -> Result<Vec<DMat4>, RenderError> {
    let mut world_from_node: Vec<DMat4> = Vec::with_capacity(scene.nodes.len());
    for (index, (node, local)) in scene.nodes.iter().zip(locals).enumerate() {
        let parent_from_node = local.parent_from_node();
        let matrix = match node.parent {
            Some(parent) => world_from_node[parent as usize] * parent_from_node,
            None => parent_from_node,
        };
        check(scene, index, &matrix)?;
        world_from_node.push(matrix);
    }
    Ok(world_from_node)
}

fn check(scene: &Scene, node: usize, matrix: &DMat4) -> Result<(), RenderError> {
    // NaN fails the comparison too.
    if matrix.to_cols_array().iter().all(|entry| entry.abs() <= COORDINATE_LIMIT) {
        return Ok(());
    }
    let node = &scene.nodes[node];
    Err(RenderError::Request {
        field: "scene",
        reason: format!(
            "node {} `{}`: its transform and its parents' multiply beyond {COORDINATE_LIMIT:e}",
            node.gltf_index, node.name
        ),
    })
}

pub(super) fn visibility(scene: &Scene) -> Vec<bool> {
    let mut visible: Vec<bool> = Vec::with_capacity(scene.nodes.len());
    for node in &scene.nodes {
        visible.push(node.visible && node.parent.is_none_or(|parent| visible[parent as usize]));
    }
    visible
}

pub(super) fn palettes(
    scene: &Scene,
    world_from_node: &[DMat4],
) -> Result<Vec<Option<Vec<DMat4>>>, RenderError> {
    let palette = |(index, node): (usize, &crate::scene::Node)| {
        let (Some(_), Some(skin)) = (node.mesh, node.skin) else { return Ok(None) };
        let skin = &scene.skins[skin as usize];
        let mut palette = Vec::with_capacity(skin.joints.len());
        for (position, &joint) in skin.joints.iter().enumerate() {
            let joint_from_mesh = skin.inverse_bind.get(position).map_or(DMat4::IDENTITY, matrix);
            let world_from_mesh = world_from_node[joint as usize] * joint_from_mesh;
            check(scene, index, &world_from_mesh)?;
            palette.push(world_from_mesh);
        }
        Ok(Some(palette))
    };
    scene.nodes.iter().enumerate().map(palette).collect()
}
