//! The acceleration structure: what rays meet. Two levels, meshes in their own space and instances in eye space.
//!
//! Only the tests of triangles decide what is hit (`passes::ray`), with ties to the lower id; boxes are tested with
//! room for every rounding of theirs. So the result depends neither on how the boxes are stacked nor on the order in
//! which they are visited, and each backend may use the structure that suits it.

mod boxes;
mod build;
mod instances;
mod mesh;
mod wide;

pub use boxes::Box3;
pub use build::{DEPTH_MAX, Node, Tree, build};
pub use instances::{Placed, SceneTree};
pub use mesh::{MeshTree, Meshes};
pub use wide::{Accept, BOX_DIRECTION_MIN, BOX_FARTHER, BOX_SLACK, Hit, Query, Stack};
