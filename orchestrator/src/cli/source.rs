//! Scenes and environments by the names that people give them.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use isoframe_raster::environment::Environment;
use isoframe_raster::scene::{Limits, Scene, Source, load};

use super::exit::Failure;

/// The scene inside the binary.
pub(crate) const DEMO: &str = "demo";

static DEMO_GLB: &[u8] = include_bytes!("../../../scenes/demo.glb");

/// Reads a scene: a `.glb`, a `.gltf`, a folder or zip with one of them, or `demo`. A file called `demo` is `./demo`.
pub(crate) fn scene(name: &str) -> Result<Scene, Failure> {
    let limits = Limits::default();
    let source = if name == DEMO {
        Source::from_bytes(DEMO_GLB, &limits)
    } else {
        if !Path::new(name).exists() {
            return Err(Failure::bad_input(format!("scene {name}: there is no such file or folder"))
                .hint("`demo` is the built-in scene"));
        }
        Source::from_path(name, &limits)
    };
    let scene = source.and_then(|source| load(&source, &limits));
    scene.map_err(|error| Failure::bad_input(format!("scene {name}: {error}")))
}
