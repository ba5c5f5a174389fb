//! Bounds on what a scene may cost, and the account that is kept while one is read.

use serde::{Deserialize, Serialize};

use super::error::SceneError;

/// Bounds on a scene. Each is checked before the memory it protects is taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// The scene file itself, or a zip as it comes. *Units*: bytes.
    pub file_bytes: u64,
    /// All side files and unpacked zip entries together. *Units*: bytes.
    pub side_bytes: u64,
    /// The JSON of the scene. *Units*: bytes.
    pub json_bytes: u64,
    /// Nesting of the JSON. *Units*: levels; at most 127.
    pub json_depth: u32,
    /// Entries of a zip. *Units*: entries.
    pub zip_entries: u64,
    /// Unpacked size of a zip entry over its packed size, for entries above 1 MiB. *Units*: ratio.
    pub zip_ratio: u64,
    /// Entries of any one array of the JSON (accessors, materials, meshes, ...). *Units*: entries.
    pub array_entries: u64,
    /// Nodes. *Units*: nodes.
    pub nodes: u64,
    /// Longest path from a root node to a leaf. *Units*: nodes.
    pub node_depth: u64,
    /// Elements of one accessor. *Units*: elements.
    pub accessor_elements: u64,
    /// Vertices of all primitives, after flat normals and tangents split them. *Units*: vertices.
    pub vertices: u64,
    /// Triangles, lines and points of all primitives. *Units*: primitives.
    pub triangles: u64,
    /// Triangles times the nodes and instances that draw them. *Units*: primitives.
    pub drawn_triangles: u64,
    /// EXT_mesh_gpu_instancing instances of all nodes. *Units*: instances.
    pub instances: u64,
    /// Morph targets of one primitive. *Units*: targets.
    pub morph_targets: u64,
    /// Joints of one skin. *Units*: joints.
    pub skin_joints: u64,
    /// Keys of all animation channels. *Units*: keys.
    pub animation_keys: u64,
    /// Punctual lights that shine. *Units*: light nodes.
    pub lights: u64,
    /// Memory that decoded geometry and animations may take. *Units*: bytes.
    pub geometry_bytes: u64,
    /// What one scene's EXT_meshopt_compression views unpack to. *Units*: bytes.
    pub meshopt_bytes: u64,
    /// Images. *Units*: images.
    pub images: u64,
    /// Longer side of an image. *Units*: pixels.
    pub image_side_px: u32,
    /// Pixels of all decoded images together. *Units*: pixels.
    pub image_pixels: u64,
    /// Triangles around one vertex where tangents are made. Above it, or when `tangent_pairs` is spent, simple
    /// tangents are made instead of MikkTSpace's, whose stack and time grow with it. *Units*: triangles.
    pub tangent_valence: u64,
    /// Pairs of triangles around one vertex that MikkTSpace may compare in all. *Units*: pairs.
    pub tangent_pairs: u64,
    /// Largest coordinate of any vertex, in its mesh and where its node puts it at rest, and largest entry of any
    /// node's transform; keeps products of four coordinates finite in `f32`. *Units*: scene units.
    pub coordinate: f64,
    /// Notes kept about what is ignored. *Units*: notes.
    pub notes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        const MIB: u64 = 1 << 20;
        Limits {
            file_bytes: 256 * MIB,
            side_bytes: 512 * MIB,
            json_bytes: 64 * MIB,
            json_depth: 64,
            zip_entries: 4096,
            zip_ratio: 200,
            array_entries: 200_000,
            nodes: 200_000,
            node_depth: 4096,
            accessor_elements: 50_000_000,
            vertices: 20_000_000,
            triangles: 20_000_000,
            drawn_triangles: 100_000_000,
            instances: 1_000_000,
            morph_targets: 1024,
            skin_joints: 4096,
            animation_keys: 20_000_000,
            lights: 1024,
            geometry_bytes: 2048 * MIB,
            meshopt_bytes: 256 * MIB,
            images: 4096,
            image_side_px: 8192,
            image_pixels: 256 * MIB,
            tangent_valence: 1024,
            tangent_pairs: 500_000_000,
            coordinate: 1e8,
            notes: 200,
        }
    }
}

/// Refuses `wanted` above `allowed`.
pub(crate) fn within(what: &str, limit: &'static str, wanted: u64, allowed: u64) -> Result<(), SceneError> {
    if wanted > allowed {
        return Err(SceneError::Limit { what: what.into(), limit, wanted, allowed });
    }
    Ok(())
}

/// Running totals of one scene against its limits.
#[derive(Debug)]
pub(crate) struct Budget<'a> {
    pub limits: &'a Limits,
    geometry_bytes: u64,
    vertices: u64,
    triangles: u64,
    drawn_triangles: u64,
    instances: u64,
    animation_keys: u64,
    meshopt_bytes: u64,
    side_bytes: u64,
    tangent_pairs: u64,
}

macro_rules! account {
    ($($field:ident: $doc:literal),*) => {$(
        #[doc = $doc]
        pub(crate) fn $field(&mut self, what: &str, more: u64) -> Result<(), SceneError> {
            self.$field = self.$field.saturating_add(more);
            within(what, stringify!($field), self.$field, self.limits.$field)
        }
    )*};
}

impl<'a> Budget<'a> {
    pub(crate) fn new(limits: &'a Limits) -> Self {
        Budget {
            limits,
            geometry_bytes: 0,
            vertices: 0,
            triangles: 0,
            drawn_triangles: 0,
            instances: 0,
            animation_keys: 0,
            meshopt_bytes: 0,
            side_bytes: 0,
            tangent_pairs: 0,
        }
    }

    /// Bytes of side files that may still be read.
    pub(crate) fn side_bytes_left(&self) -> u64 {
        self.limits.side_bytes.saturating_sub(self.side_bytes)
    }

    /// Takes `pairs` from what MikkTSpace may compare; false, and nothing taken, where that is too much.
    pub(crate) fn take_tangent_pairs(&mut self, pairs: u64) -> bool {
        let total = self.tangent_pairs.saturating_add(pairs);
        let enough = total <= self.limits.tangent_pairs;
        if enough {
            self.tangent_pairs = total;
        }
        enough
    }

    account! {
        geometry_bytes: "Charges memory for decoded geometry.",
        vertices: "Charges vertices.",
        triangles: "Charges expanded triangles, lines or points.",
        drawn_triangles: "Charges triangles as often as they are drawn.",
        instances: "Charges instances.",
        animation_keys: "Charges animation keys.",
        meshopt_bytes: "Charges unpacked meshopt data.",
        side_bytes: "Charges side files."
    }
}

/// What the file holds that will be ignored, in words; each once, the first `Limits::notes` of them.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    list: Vec<String>,
    seen: std::collections::BTreeSet<String>,
    left_out: u64,
}

impl Notes {
    pub(crate) fn add(&mut self, limits: &Limits, note: String) {
        if self.seen.contains(&note) {
            return;
        }
        if self.list.len() as u64 >= limits.notes {
            self.left_out += 1;
            return;
        }
        self.seen.insert(note.clone());
        self.list.push(note);
    }

    pub(crate) fn finish(mut self) -> Vec<String> {
        if self.left_out > 0 {
            self.list.push(format!("{} more notes left out", self.left_out));
        }
        self.list
    }
}
