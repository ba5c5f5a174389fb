//! Where everything is at one moment: animation, hierarchy, skins, lights, bounds.
//!
//! Runs on the host, in `f64`, from `+ - * /`, `sqrt` and the `libm` crate alone: the same bits everywhere.

mod animation;
mod bounds;
mod hierarchy;
mod light;

use glam::{DMat4, DVec3};

use crate::frame::{AnimationChoice, RenderError};
use crate::scene::Scene;

pub(crate) use animation::{listed, span_s};
pub use bounds::bounds_world;
pub(crate) use bounds::{Box3, Clouds};
pub use hierarchy::trs_matrix;
pub use light::{PlacedKind, PlacedLight, check_sun, lights};

/// A scene at one moment. The vectors are as long as [`Scene::nodes`].
#[derive(Debug, Clone, PartialEq)]
pub struct Pose {
    /// What moves the scene.
    pub animation: AnimationChoice,
    /// World from node, every entry within [`COORDINATE_LIMIT`]. Nodes whose scale is zero have singular matrices.
    pub world_from_node: Vec<DMat4>,
    /// Whether a node's mesh and light show: its own and all its ancestors' KHR_node_visibility.
    pub visible: Vec<bool>,
    /// Morph weights in force for nodes with a mesh, one per target: animated, else the node's, else the mesh's.
    pub weights: Vec<Vec<f32>>,
    /// For nodes with mesh and skin, world from mesh as each joint has it: `world_from_joint * joint_from_mesh`.
    /// The node's own transform has no part in it.
    pub palettes: Vec<Option<Vec<DMat4>>>,
}

/// Largest magnitude of an entry of a world matrix: its square still fits an `f32`. *Units*: scene units.
pub const COORDINATE_LIMIT: f64 = 1e18;

/// Places the whole scene at a time.
///
/// Times outside an animation's keys clamp to its ends (glTF 3.11); nothing loops.
/// *Errors*: a time that is not finite, an animation that is not there, transforms that multiply beyond
/// [`COORDINATE_LIMIT`].
pub fn evaluate(scene: &Scene, choice: &AnimationChoice, time_s: f64) -> Result<Pose, RenderError> {
    if !time_s.is_finite() {
        return Err(RenderError::Request {
            field: "time_s",
            reason: format!("{time_s} is not a finite time"),
        });
    }
    let animated = animation::sample(scene, choice, time_s)?;
    let world_from_node = hierarchy::world_matrices(scene, &animated.locals)?;
    let palettes = hierarchy::palettes(scene, &world_from_node)?;
    Ok(Pose {
        animation: choice.clone(),
        visible: hierarchy::visibility(scene),
        weights: animated.weights,
        world_from_node,
        palettes,
    })
}

pub(crate) fn vec3(v: [f32; 3]) -> DVec3 {
    DVec3::new(v[0].into(), v[1].into(), v[2].into())
}
