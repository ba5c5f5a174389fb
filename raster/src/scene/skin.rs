//! Skins.

use super::accessor::{Accessor, Component, Kind, Rows};
use super::error::SceneError;
use super::file::get;
use super::graph::Graph;
use super::limits::within;
use super::node::check_entries;
use super::reader::Reader;
use super::{Node, Skin, json};

/// Column-major identity.
const IDENTITY: [f32; 16] = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];

/// Checks all skins, keeps those whose joints are in the active scene, and points `nodes` at them.
///
/// *Errors*: besides broken skins, a node of the active scene with a skin whose joints are not all in that scene.
pub(crate) fn skins(
    reader: &mut Reader<'_, '_>,
    graph: &Graph,
    nodes: &mut [Node],
) -> Result<Vec<Skin>, SceneError> {
    let mut kept = Vec::new();
    let mut position = Vec::with_capacity(reader.root.skins.len());
    for (index, json) in reader.root.skins.iter().enumerate() {
        let what = format!("skin {index}");
        let inverse_bind = read_skin(reader, &what, json)?;
        let joints: Option<Vec<u32>> =
            json.joints.iter().map(|&joint| graph.position[joint as usize]).collect();
        position.push(joints.map(|joints| {
            kept.push(Skin { name: json.name.clone(), joints, inverse_bind });
            kept.len() as u32 - 1
        }));
    }
    for node in nodes {
        let Some(skin) = node.skin else { continue };
        node.skin = position[skin as usize];
        if node.skin.is_none() {
            let what = format!("node {}: skin {skin}", node.gltf_index);
            return Err(SceneError::Structure { what, reason: "its joints are not all in the node's scene" });
        }
    }
    Ok(kept)
}

fn read_skin(
    reader: &mut Reader<'_, '_>,
    what: &str,
    json: &json::Skin,
) -> Result<Vec<[f32; 16]>, SceneError> {
    let count = json.joints.len();
    if count == 0 {
        return Err(SceneError::Structure { what: what.into(), reason: "it has no joints" });
    }
    within(what, "skin_joints", count as u64, reader.budget.limits.skin_joints)?;
    for &joint in json.joints.iter().chain(&json.skeleton) {
        get(&reader.root.nodes, joint, "node", || what.into())?;
    }
    let mut sorted = json.joints.clone();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(SceneError::Structure { what: what.into(), reason: "a node is a joint twice" });
    }
    let Some(index) = json.inverse_bind_matrices else { return Ok(vec![IDENTITY; count]) };
    let what = format!("{what} inverseBindMatrices");
    let accessor: &Accessor<'_> = reader.accessor(index, &what)?;
    let fits = accessor.kind == Kind::Mat4 && accessor.component == Component::F32;
    accessor.require(fits, &what, "MAT4 of F32")?;
    if accessor.count < count {
        let (wanted, got) = (count as u64, accessor.count as u64);
        return Err(SceneError::CountMismatch { what, wanted, got });
    }
    let mut matrices = accessor.floats::<16>(&what, Rows::All, &mut reader.budget)?;
    matrices.truncate(count);
    for (at, matrix) in matrices.iter_mut().enumerate() {
        // Exporters leave rounding in the last row; anything more is another transform than a skin can have.
        let last = [matrix[3], matrix[7], matrix[11], matrix[15] - 1.0];
        if last.iter().any(|value| value.abs() > 1e-4) {
            let what = format!("{what} element {at}");
            return Err(SceneError::Structure { what, reason: "the last row is not 0, 0, 0, 1" });
        }
        [matrix[3], matrix[7], matrix[11], matrix[15]] = [0.0, 0.0, 0.0, 1.0];
        check_entries(&what, "value", matrix, reader.budget.limits.coordinate)?;
    }
    Ok(matrices)
}
