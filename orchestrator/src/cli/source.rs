//! Scenes and environments by the names that people give them.

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

/// TEMPORARY
pub(crate) fn environment(_file: Option<&Path>) -> Result<Environment, Failure> {
    use isoframe_raster::environment::{LEVELS, OCTAHEDRAL_SIDE};
    let mut specular = Vec::new();
    for level in 0..LEVELS {
        let side = OCTAHEDRAL_SIDE >> level;
        for y in 0..side {
            for x in 0..side {
                let p =
                    [(x as f32 + 0.5) / side as f32 * 2.0 - 1.0, (y as f32 + 0.5) / side as f32 * 2.0 - 1.0];
                let h = 1.0 - p[0].abs() - p[1].abs();
                let soft = 0.1 + level as f32 * 0.15;
                let top = ((h - 0.35) / soft).clamp(0.0, 1.0);
                let key = ((p[0] * 0.6 + p[1] * 0.5 + h * 0.3 - 0.45) / soft).clamp(0.0, 1.0) * 2.0;
                let v = 0.18 + 0.25 * (h.max(-1.0) * 0.5 + 0.5) + 1.6 * top + key;
                specular.push([v, v, v, 0.0]);
            }
        }
    }
    let mut sh = [[0.0; 4]; 9];
    sh[0] = [0.75, 0.75, 0.75, 0.0];
    sh[1] = [0.4, 0.4, 0.4, 0.0];
    sh[2] = [0.15, 0.15, 0.15, 0.0];
    Ok(Environment {
        hash: "studio".into(),
        specular,
        irradiance_sh: sh,
        background: vec![[0.3, 0.3, 0.3, 0.0]; 16],
        background_side: 4,
    })
}
