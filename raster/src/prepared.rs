//! A scene made ready for the backends: packed geometry, texels with mips.

use std::sync::Arc;

use crate::scene::Scene;

/// Everything about a scene that does not change from frame to frame.
#[derive(Debug)]
pub struct Prepared {
    /// The scene it was made from.
    pub scene: Arc<Scene>,
}

impl Prepared {
    /// Packs a scene.
    pub fn new(scene: Arc<Scene>) -> Prepared {
        Prepared { scene }
    }

    /// Memory held, in bytes, beside the scene.
    pub fn bytes(&self) -> u64 {
        0
    }
}
