//! What is in a scene, for people and programs that choose what to ask for.

use isoframe_raster::frame::AnimationChoice;
use isoframe_raster::pose;
use isoframe_raster::scene::{CameraKind, LightKind, Scene, Topology};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What is in a scene.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct SceneInfo {
    /// How much there is.
    pub counts: SceneCounts,
    /// Cameras, in the order that `camera=0`, `camera=1`, … name them.
    pub cameras: Vec<SceneCamera>,
    /// Animations.
    pub animations: Vec<SceneAnimation>,
    /// Lights of the file.
    pub lights: Vec<SceneLight>,
    /// Material variants.
    pub variants: Vec<String>,
    /// Box around all that is drawn at rest, in scene units; absent where nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<SceneBounds>,
    /// What the file holds that will be ignored.
    pub notes: Vec<String>,
}

/// How much is in a scene.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[allow(missing_docs)]
pub(crate) struct SceneCounts {
    pub nodes: u64,
    pub meshes: u64,
    pub primitives: u64,
    /// Triangles of all primitives, each counted once however often it is drawn.
    pub triangles: u64,
    pub vertices: u64,
    pub materials: u64,
    pub textures: u64,
    pub images: u64,
    pub skins: u64,
}

/// A camera of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct SceneCamera {
    /// Name of the node or of the camera; may be empty.
    pub name: String,
    /// `perspective` or `orthographic`.
    pub kind: String,
}

/// An animation of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct SceneAnimation {
    /// May be empty.
    pub name: String,
    /// Time of the last key, in seconds.
    pub duration_s: f32,
}

/// A light of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct SceneLight {
    /// May be empty.
    pub name: String,
    /// `directional`, `point` or `spot`.
    pub kind: String,
}

/// A box in world space.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[allow(missing_docs)]
pub(crate) struct SceneBounds {
    pub min: [f64; 3],
    pub max: [f64; 3],
}

impl SceneInfo {
    /// Looks a scene over.
    pub(crate) fn of(scene: &Scene) -> SceneInfo {
        let rest = pose::evaluate(scene, &AnimationChoice::None, 0.0).ok();
        let bounds = rest.and_then(|rest| pose::bounds_world(scene, &rest));
        SceneInfo {
            counts: SceneCounts::of(scene),
            cameras: cameras(scene),
            animations: scene
                .animations
                .iter()
                .map(|animation| SceneAnimation {
                    name: animation.name.clone(),
                    duration_s: animation.duration_s,
                })
                .collect(),
            lights: scene
                .lights
                .iter()
                .map(|light| SceneLight { name: light.name.clone(), kind: light_kind(light.kind).into() })
                .collect(),
            variants: scene.variants.clone(),
            bounds: bounds.map(|(low, high)| SceneBounds { min: low.to_array(), max: high.to_array() }),
            notes: scene.notes.clone(),
        }
    }
}

impl SceneCounts {
    fn of(scene: &Scene) -> SceneCounts {
        let primitives = || scene.meshes.iter().flat_map(|mesh| &mesh.primitives);
        let triangles = primitives().filter(|primitive| primitive.topology == Topology::Triangles);
        SceneCounts {
            nodes: scene.nodes.len() as u64,
            meshes: scene.meshes.len() as u64,
            primitives: primitives().count() as u64,
            triangles: triangles.map(|primitive| primitive.indices.len() as u64 / 3).sum(),
            vertices: primitives().map(|primitive| primitive.position.len() as u64).sum(),
            materials: scene.materials.len() as u64,
            textures: scene.textures.len() as u64,
            images: scene.images.len() as u64,
            skins: scene.skins.len() as u64,
        }
    }
}

/// One entry per node that carries a camera: that is what an index in a request counts.
fn cameras(scene: &Scene) -> Vec<SceneCamera> {
    let placed =
        scene.nodes.iter().filter_map(|node| Some((node, scene.cameras.get(node.camera? as usize)?)));
    let describe = |(node, camera): (&isoframe_raster::scene::Node, &isoframe_raster::scene::Camera)| {
        let name = if node.name.is_empty() { &camera.name } else { &node.name };
        let kind = match camera.kind {
            CameraKind::Perspective { .. } => "perspective",
            CameraKind::Orthographic { .. } => "orthographic",
        };
        SceneCamera { name: name.clone(), kind: kind.into() }
    };
    placed.map(describe).collect()
}

fn light_kind(kind: LightKind) -> &'static str {
    match kind {
        LightKind::Directional => "directional",
        LightKind::Point => "point",
        LightKind::Spot { .. } => "spot",
    }
}
