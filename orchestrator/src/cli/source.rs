//! Scenes and environments by the names that people give them.

use std::path::Path;

use isoframe_raster::environment::Environment;
use isoframe_raster::scene::{Limits, Scene, SceneError, Source, load};

use super::exit::Failure;
use crate::config::{Settings, Sources};

/// The scene inside the binary.
pub(crate) const DEMO: &str = "demo";

static DEMO_GLB: &[u8] = include_bytes!("../../../scenes/demo.glb");

/// Reads a scene: a `.glb`, a `.gltf`, a folder or zip with one of them, or `demo`. A file called `demo` is `./demo`.
pub(crate) fn scene(name: &str) -> Result<Scene, Failure> {
    if name == DEMO {
        return scene_from_bytes(name, DEMO_GLB);
    }
    if !Path::new(name).exists() {
        return Err(Failure::bad_input(format!("scene {name}: there is no such file or folder"))
            .hint("`demo` is the built-in scene"));
    }
    let limits = settings()?.scene;
    loaded(name, Source::from_path(name, &limits), &limits)
}

/// Reads a scene from memory; `name` is for errors.
pub(crate) fn scene_from_bytes(name: &str, bytes: &[u8]) -> Result<Scene, Failure> {
    let limits = settings()?.scene;
    loaded(name, Source::from_bytes(bytes, &limits), &limits)
}

/// Limits are settings here as in the service: from the file that ISOFRAME_CONFIG names, and from variables.
fn settings() -> Result<Settings, Failure> {
    Ok(Settings::load(&Sources::from_process())?)
}

fn loaded(name: &str, source: Result<Source, SceneError>, limits: &Limits) -> Result<Scene, Failure> {
    let scene = source.and_then(|source| load(&source, limits));
    scene.map_err(|error| Failure::bad_input(format!("scene {name}: {error}")))
}

/// The built-in studio, or what an equirectangular `.hdr` or `.exr` file lights.
pub(crate) fn environment(file: Option<&Path>) -> Result<Environment, Failure> {
    let Some(path) = file else { return Ok(Environment::studio()) };
    let bad = |error: &dyn std::fmt::Display| {
        Failure::bad_input(format!("environment {}: {error}", path.display()))
    };
    let bytes = std::fs::read(path).map_err(|error| bad(&error))?;
    Environment::from_bytes(&bytes, &settings()?.environment_limits()).map_err(|error| bad(&error))
}
