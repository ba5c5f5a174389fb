//! Nodes: transforms and what hangs on them.

use super::error::SceneError;
use super::file::get;
use super::graph::Graph;
use super::instancing;
use super::joints;
use super::limits::within;
use super::mesh::weights;
use super::reader::{Reader, finite_array, unit};
use super::{Mesh, Node, Transform, Trs, json};

/// Checks all nodes of the file and makes those of the active scene. `skins` gives the number of joints of each
/// glTF skin.
pub(crate) fn nodes(
    reader: &mut Reader<'_, '_>,
    graph: &Graph,
    meshes: &[Mesh],
) -> Result<Vec<Node>, SceneError> {
    let mut made = Vec::with_capacity(graph.order.len());
    made.resize_with(graph.order.len(), Node::default);
    let mut largest_joints = vec![None; meshes.len()];
    let mut light_nodes = 0u64;
    for (index, json) in reader.root.nodes.iter().enumerate() {
        let what = format!("node {index}");
        let mut node = read_node(reader, &what, json, meshes)?;
        check_skin(reader, &what, json, meshes, &mut largest_joints)?;
        let Some(position) = graph.position[index] else { continue };
        node.gltf_index = index as u32;
        node.parent = graph.parent[index].and_then(|parent| graph.position[parent as usize]);
        light_nodes += u64::from(node.light.is_some());
        within("light nodes", "lights", light_nodes, reader.budget.limits.lights)?;
        if let (Some(extension), Some(_)) = (&json.extensions.instancing, node.mesh) {
            node.instances = Some(instancing::instances(reader, &what, extension)?);
        }
        charge_drawn(reader, &what, &node, meshes)?;
        made[position as usize] = node;
    }
    Ok(made)
}

fn charge_drawn(
    reader: &mut Reader<'_, '_>,
    what: &str,
    node: &Node,
    meshes: &[Mesh],
) -> Result<(), SceneError> {
    let Some(mesh) = node.mesh else { return Ok(()) };
    let size = |primitive: &super::Primitive| primitive.indices.len() as u64 / 3;
    let triangles: u64 = meshes[mesh as usize].primitives.iter().map(size).sum();
    let copies = node.instances.as_ref().map_or(1, Vec::len) as u64;
    reader.budget.drawn_triangles(what, triangles.saturating_mul(copies))
}

fn read_node(
    reader: &Reader<'_, '_>,
    what: &str,
    json: &json::Node,
    meshes: &[Mesh],
) -> Result<Node, SceneError> {
    let root = reader.root;
    let structure = |reason| Err(SceneError::Structure { what: what.into(), reason });
    if let Some(mesh) = json.mesh {
        get(&root.meshes, mesh, "mesh", || what.into())?;
    }
    if let Some(camera) = json.camera {
        get(&root.cameras, camera, "camera", || what.into())?;
    }
    if let Some(skin) = json.skin {
        get(&root.skins, skin, "skin", || what.into())?;
        if json.mesh.is_none() {
            return structure("a skin needs a mesh");
        }
    }
    let light = json.extensions.light.as_ref().map(|light| light.light);
    if let Some(light) = light {
        let lights = root.extensions.lights.as_ref().map_or(&[][..], |lights| &lights.lights);
        get(lights, light, "light", || what.into())?;
    }
    let node_weights = match (json.mesh, &json.weights) {
        (None, Some(_)) => return structure("weights need a mesh"),
        (Some(mesh), Some(values)) => weights(what, Some(values), meshes[mesh as usize].weights.len())?,
        (_, None) => None,
    };
    Ok(Node {
        name: json.name.clone(),
        local: transform(what, json, reader.budget.limits.coordinate)?,
        mesh: json.mesh,
        skin: json.skin,
        camera: json.camera,
        light,
        weights: node_weights,
        visible: json.extensions.visibility.as_ref().and_then(|v| v.visible).unwrap_or(true),
        ..Node::default()
    })
}

fn transform(what: &str, json: &json::Node, limit: f64) -> Result<Transform, SceneError> {
    let trs = [json.translation.is_some(), json.rotation.is_some(), json.scale.is_some()];
    if let Some(matrix) = json.matrix {
        if trs.contains(&true) {
            let reason = "it has both a matrix and translation, rotation or scale";
            return Err(SceneError::Structure { what: what.into(), reason });
        }
        let matrix = finite_array(&format!("{what} matrix"), matrix)?;
        if [matrix[3], matrix[7], matrix[11]] != [0.0; 3] || matrix[15] != 1.0 {
            let reason = "the last row of its matrix is not 0, 0, 0, 1";
            return Err(SceneError::Structure { what: what.into(), reason });
        }
        check_entries(what, "matrix", &matrix, limit)?;
        return Ok(Transform::Matrix(matrix));
    }
    let translation = finite_array(&format!("{what} translation"), json.translation.unwrap_or([0.0; 3]))?;
    let scale = finite_array(&format!("{what} scale"), json.scale.unwrap_or([1.0; 3]))?;
    check_entries(what, "translation", &translation, limit)?;
    check_entries(what, "scale", &scale, limit)?;
    let rotation = rotation(&format!("{what} rotation"), json.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]))?;
    Ok(Transform::Trs(Trs { translation, rotation, scale }))
}

/// A unit quaternion. *Errors*: one of no length.
fn rotation(what: &str, values: [f64; 4]) -> Result<[f32; 4], SceneError> {
    let values = finite_array(what, values)?;
    unit_quaternion(values).ok_or_else(|| SceneError::ValueOutOfRange {
        what: what.into(),
        value: 0.0,
        allowed: "a quaternion of length 1",
    })
}

/// The quaternion at length one; `None` where it has next to no length.
pub(crate) fn unit_quaternion(values: [f32; 4]) -> Option<[f32; 4]> {
    let squared: f64 = values.iter().map(|&v| f64::from(v) * f64::from(v)).sum();
    (squared > 1e-12).then(|| unit(values, values))
}

/// Refuses entries of a transform beyond the coordinate limit.
pub(crate) fn check_entries(what: &str, name: &str, values: &[f32], limit: f64) -> Result<(), SceneError> {
    match values.iter().find(|value| f64::from(value.abs()) > limit) {
        None => Ok(()),
        Some(value) => Err(SceneError::Limit {
            what: format!("{what} {name}"),
            limit: "coordinate",
            wanted: value.abs().ceil() as u64,
            allowed: limit as u64,
        }),
    }
}

/// Holds a skinned node's mesh against its skin.
fn check_skin(
    reader: &mut Reader<'_, '_>,
    what: &str,
    json: &json::Node,
    meshes: &[Mesh],
    largest_joints: &mut [Option<Option<u16>>],
) -> Result<(), SceneError> {
    let Some(mesh) = json.mesh else { return Ok(()) };
    let primitives = &meshes[mesh as usize].primitives;
    let Some(skin) = json.skin else {
        if primitives.iter().any(|primitive| !primitive.joints.is_empty()) {
            reader.note(format!("{what} has a skinned mesh but no skin: drawn as it is at rest"));
        }
        return Ok(());
    };
    if primitives.iter().any(|primitive| primitive.joints.is_empty()) {
        reader.note(format!(
            "{what} has a skin, but not all of mesh {mesh} has JOINTS_0: that part moves with the node"
        ));
    }
    let cached = &mut largest_joints[mesh as usize];
    let largest = *cached.get_or_insert_with(|| primitives.iter().filter_map(joints::largest).max());
    let joints = reader.root.skins[skin as usize].joints.len() as u64;
    match largest {
        // A skin without joints is refused where skins are read.
        Some(largest) if joints > 0 && u64::from(largest) >= joints => Err(SceneError::Reference {
            what: format!("{what}: mesh {mesh} JOINTS"),
            target: "joint",
            index: u64::from(largest),
            count: joints,
        }),
        _ => Ok(()),
    }
}
