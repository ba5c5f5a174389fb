//! The node graph: who is whose child, without recursion.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::error::SceneError;
use super::file::get;
use super::json;
use super::limits::{Limits, within};

/// The active scene's nodes, parents first.
#[derive(Debug)]
pub(crate) struct Graph {
    /// glTF node indices; a node comes after its parent, else in the file's order.
    pub order: Vec<u32>,
    /// Parent of each glTF node, by glTF index.
    pub parent: Vec<Option<u32>>,
    /// Position in `order` of each glTF node that is in it.
    pub position: Vec<Option<u32>>,
}

/// Checks the whole graph for cycles, shared children and depth, then lists what the active scene reaches.
///
/// The active scene is `scene`, else the first one. A file without scenes is a library (3.5.1): nothing is drawn.
pub(crate) fn graph(root: &json::Root, limits: &Limits) -> Result<Graph, SceneError> {
    within("nodes", "nodes", root.nodes.len() as u64, limits.nodes)?;
    let parent = parents(root)?;
    check_acyclic(root, &parent, limits)?;
    let scenes = root.scenes.as_deref().unwrap_or_default();
    for (index, scene) in scenes.iter().enumerate() {
        check_roots(root, &parent, index, scene)?;
    }
    let active = match root.scene {
        Some(index) => Some(get(scenes, index, "scene", || "scene".into())?),
        None => scenes.first(),
    };
    let roots = active.map_or(&[][..], |scene| &scene.nodes);
    let mut waiting: BinaryHeap<Reverse<u32>> = roots.iter().map(|&node| Reverse(node)).collect();
    let mut order = Vec::new();
    let mut position = vec![None; root.nodes.len()];
    // The smallest index whose parent is placed comes next: the file's own order wherever it is possible.
    while let Some(Reverse(node)) = waiting.pop() {
        position[node as usize] = Some(order.len() as u32);
        order.push(node);
        waiting.extend(root.nodes[node as usize].children.iter().map(|&child| Reverse(child)));
    }
    Ok(Graph { order, parent, position })
}

fn parents(root: &json::Root) -> Result<Vec<Option<u32>>, SceneError> {
    let mut parent = vec![None; root.nodes.len()];
    for (index, node) in root.nodes.iter().enumerate() {
        for &child in &node.children {
            get(&root.nodes, child, "node", || format!("node {index} children"))?;
            if child as usize == index {
                return Err(SceneError::NodeCycle { node: child });
            }
            let slot = &mut parent[child as usize];
            if slot.is_some() {
                return Err(SceneError::NodeParents { node: child });
            }
            *slot = Some(index as u32);
        }
    }
    Ok(parent)
}

/// With at most one parent each, nodes that no root reaches lie on or below a cycle.
fn check_acyclic(root: &json::Root, parent: &[Option<u32>], limits: &Limits) -> Result<(), SceneError> {
    let mut reached = vec![false; parent.len()];
    let roots = (0..parent.len() as u32).filter(|&node| parent[node as usize].is_none());
    let mut waiting: Vec<(u32, u64)> = roots.map(|node| (node, 1)).collect();
    while let Some((node, depth)) = waiting.pop() {
        within("node hierarchy", "node_depth", depth, limits.node_depth)?;
        reached[node as usize] = true;
        waiting.extend(root.nodes[node as usize].children.iter().map(|&child| (child, depth + 1)));
    }
    match reached.iter().position(|reached| !reached) {
        Some(node) => Err(SceneError::NodeCycle { node: on_cycle(parent, node as u32) }),
        None => Ok(()),
    }
}

/// A node that is certainly on the cycle at or above `node`: going up once per node ends on it.
fn on_cycle(parent: &[Option<u32>], mut node: u32) -> u32 {
    for _ in 0..parent.len() {
        node = parent[node as usize].unwrap_or(node);
    }
    node
}

fn check_roots(
    root: &json::Root,
    parent: &[Option<u32>],
    index: usize,
    scene: &json::Scene,
) -> Result<(), SceneError> {
    let what = || format!("scene {index} nodes");
    let mut nodes = scene.nodes.clone();
    nodes.sort_unstable();
    for pair in nodes.windows(2) {
        if pair[0] == pair[1] {
            return Err(SceneError::NodeParents { node: pair[0] });
        }
    }
    for &node in &nodes {
        get(&root.nodes, node, "node", what)?;
        if parent[node as usize].is_some() {
            return Err(SceneError::NodeParents { node });
        }
    }
    Ok(())
}
