//! What rays meet, on the device. Meshes at rest stay there; what a frame deforms or flattens, and the tree over its
//! instances, come behind them with each frame.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};

use super::device::Device;
use super::layout::{LIST_WIDTH, NODE_PARTS, ROWS_MAX, TRIANGLE_PARTS};
use super::lists::List;
use crate::accel::{MeshTree, Node, Placed, SceneTree};
use crate::frame::RenderError;

/// Elements of the longest list.
const PARTS_MAX: u64 = LIST_WIDTH as u64 * ROWS_MAX as u64;
/// Nodes and triangles at rest are filled up to this many, so that a frame's begin a row.
const GRAIN: usize = LIST_WIDTH as usize;

/// A mesh where it stands, 80 bytes. Twin: `placement_at` in `shaders/tree.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct Placement {
    /// Rows.
    pub local_from_eye: [[f32; 4]; 3],
    /// Index of the instance.
    pub instance: u32,
    /// Number of its first triangle over all instances.
    pub first_triangle: u32,
    /// Where its mesh begins in the list of nodes.
    pub first_node: u32,
    /// Where its mesh begins in the list of triangles.
    pub first_leaf_triangle: u32,
    /// 1 where every hit counts.
    pub opaque: u32,
    /// Zero.
    pub padding: [u32; 3],
}

/// A triangle of a leaf, 48 bytes. Twin: `leaf_triangle` in `shaders/tree.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Pod, Zeroable)]
pub(crate) struct LeafTriangle {
    /// *Space*: its mesh's.
    pub corner_0: [f32; 3],
    /// Within the mesh.
    pub number: u32,
    /// See `corner_0`.
    pub corner_1: [f32; 3],
    /// Zero.
    pub padding_1: u32,
    /// See `corner_0`.
    pub corner_2: [f32; 3],
    /// Zero.
    pub padding_2: u32,
}

/// What a frame's rays meet, uploaded.
#[derive(Debug)]
pub(crate) struct FrameTrees {
    /// Instances, leaf by leaf.
    pub placements: List,
    /// Nodes of all trees.
    pub nodes: List,
    /// Triangles of all meshes, leaf by leaf.
    pub triangles: List,
    /// Root of the tree over them, in the list of nodes.
    pub first_node: u32,
    /// Most nodes that a ray can visit.
    pub visits_max: u32,
}

/// The trees of a scene's meshes at rest, and behind them those of a frame.
#[derive(Debug, Default)]
pub(crate) struct TreeLists {
    lists: Option<Lists>,
    /// Meshes at rest: held, so that none is mistaken for another that came to lie at its address.
    rest: Vec<Arc<MeshTree>>,
    /// Where they lie.
    places: BTreeMap<usize, Place>,
    /// Where a frame's begin.
    rest_end: Place,
}

#[derive(Debug)]
struct Lists {
    nodes: List,
    triangles: List,
}

/// Places in the two lists.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    node: usize,
    triangle: usize,
}

/// Meshes one behind the other.
#[derive(Debug, Default)]
struct Meshes {
    begin: Place,
    nodes: Vec<Node>,
    triangles: Vec<LeafTriangle>,
    /// By the address of the mesh.
    places: BTreeMap<usize, Place>,
}

impl Meshes {
    fn new<'a>(begin: Place, meshes: impl Iterator<Item = &'a Arc<MeshTree>>) -> Meshes {
        let mut all = Meshes { begin, ..Meshes::default() };
        for mesh in meshes {
            if all.places.insert(address(mesh), all.end()).is_none() {
                all.nodes.extend_from_slice(&mesh.tree.nodes);
                all.triangles.extend(mesh.leaf_triangles().into_iter().map(LeafTriangle::from));
            }
        }
        all
    }

    fn end(&self) -> Place {
        Place {
            node: self.begin.node + self.nodes.len(),
            triangle: self.begin.triangle + self.triangles.len(),
        }
    }
}

fn address(mesh: &Arc<MeshTree>) -> usize {
    Arc::as_ptr(mesh) as usize
}

impl TreeLists {
    /// Puts what a frame's rays meet on the device; of the meshes at rest, those that are not there yet.
    pub fn load(&mut self, device: &Device, tree: &SceneTree) -> Result<FrameTrees, RenderError> {
        for placed in tree.placed.iter().filter(|placed| placed.at_rest) {
            if let Entry::Vacant(place) = self.places.entry(address(&placed.mesh)) {
                place.insert(Place::default());
                self.rest.push(placed.mesh.clone());
                self.lists = None;
            }
        }
        let mut rest = None;
        if self.lists.is_none() {
            let meshes = Meshes::new(Place::default(), self.rest.iter());
            self.rest_end = Place {
                node: meshes.nodes.len().next_multiple_of(GRAIN),
                triangle: meshes.triangles.len().next_multiple_of(GRAIN),
            };
            self.places.clone_from(&meshes.places);
            rest = Some(meshes);
        }
        let of_frame = tree.placed.iter().filter(|placed| !placed.at_rest).map(|placed| &placed.mesh);
        let mut frame = Meshes::new(self.rest_end, of_frame);
        let first_node = frame.end().node as u32;
        frame.nodes.extend_from_slice(&tree.tree.nodes);
        let end = frame.end();
        let lists = match self.lists.take().filter(|lists| lists.fit(end)) {
            Some(lists) => lists,
            None => {
                let rest = rest.unwrap_or_else(|| Meshes::new(Place::default(), self.rest.iter()));
                Lists::new(device, end, &rest)?
            }
        };
        let lists = self.lists.insert(lists);
        lists.write(device, &frame)?;
        let placement = |&k: &u32| {
            let placed = &tree.placed[k as usize];
            let places = if placed.at_rest { &self.places } else { &frame.places };
            Placement::new(placed, places[&address(&placed.mesh)])
        };
        // Leaf by leaf, so that a leaf's place is its instance's.
        let placements: Vec<_> = tree.tree.order.iter().map(placement).collect();
        let visits = tree.placed.iter().map(|placed| placed.mesh.tree.nodes.len()).sum::<usize>();
        Ok(FrameTrees {
            placements: List::upload(device, "instances that rays meet", &placements)?,
            nodes: lists.nodes.clone(),
            triangles: lists.triangles.clone(),
            first_node,
            visits_max: u32::try_from(visits + tree.tree.nodes.len()).unwrap_or(u32::MAX),
        })
    }

    /// Memory held on the device. *Units*: bytes.
    pub fn bytes(&self) -> u64 {
        self.lists.as_ref().map_or(0, |lists| lists.nodes.bytes() + lists.triangles.bytes())
    }
}

impl Lists {
    /// With room for more than this frame needs, and the meshes at rest.
    fn new(device: &Device, end: Place, rest: &Meshes) -> Result<Lists, RenderError> {
        let list = |what, parts: u32, begin: usize, end: usize| {
            let wanted = end as u64 * u64::from(parts);
            let more = (end - begin) as u64 / 4 * u64::from(parts);
            List::new(device, what, (wanted + more).min(PARTS_MAX).max(wanted))
        };
        let nodes = list("boxes that rays meet", NODE_PARTS, rest.end().node, end.node)?;
        let triangles = list("triangles that rays meet", TRIANGLE_PARTS, rest.end().triangle, end.triangle)?;
        let lists = Lists { nodes, triangles };
        lists.write(device, rest)?;
        Ok(lists)
    }

    fn fit(&self, end: Place) -> bool {
        self.nodes.capacity() >= end.node as u64 * u64::from(NODE_PARTS)
            && self.triangles.capacity() >= end.triangle as u64 * u64::from(TRIANGLE_PARTS)
    }

    fn write(&self, device: &Device, meshes: &Meshes) -> Result<(), RenderError> {
        let Place { node, triangle } = meshes.begin;
        self.nodes.write(device, node as u32 * NODE_PARTS, bytemuck::cast_slice(&meshes.nodes));
        self.triangles.write(
            device,
            triangle as u32 * TRIANGLE_PARTS,
            bytemuck::cast_slice(&meshes.triangles),
        );
        device.check()
    }
}

impl Placement {
    fn new(placed: &Placed, place: Place) -> Placement {
        Placement {
            local_from_eye: placed.local_from_eye,
            instance: placed.instance,
            first_triangle: placed.first_triangle,
            first_node: place.node as u32,
            first_leaf_triangle: place.triangle as u32,
            opaque: placed.opaque.into(),
            padding: [0; 3],
        }
    }
}

impl From<([[f32; 3]; 3], u32)> for LeafTriangle {
    fn from(([corner_0, corner_1, corner_2], number): ([[f32; 3]; 3], u32)) -> LeafTriangle {
        LeafTriangle { corner_0, number, corner_1, corner_2, ..LeafTriangle::default() }
    }
}
