//! Every shared scene loads, or is refused for the reason written here.

use std::path::{Path, PathBuf};

use isoframe_raster::scene::{Limits, Source, load};

/// Scenes that must be refused: part of the path, code, what the error names.
const REFUSED: &[(&str, &str, &str)] = &[
    // Only compressed data: there is nothing else to draw.
    ("BoxDraco", "unsupported-extension", "KHR_draco_mesh_compression"),
    // Required, and not rendered: the core fallback would be another picture than the file asks for.
    ("blenderio_14_emission_strength", "unsupported-extension", "KHR_materials_pbrSpecularGlossiness"),
];

fn scenes(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "validator") {
                scenes(&path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "gltf" || extension == "glb") {
            found.push(path);
        }
    }
}

#[test]
fn every_shared_scene_loads_or_is_refused_by_name() {
    let Some(assets) = crate::common::assets() else { return };
    let mut found = Vec::new();
    scenes(&assets, &mut found);
    assert!(found.len() > 30, "{} scenes", found.len());
    let limits = Limits::default();
    let mut wrong = Vec::new();
    for path in found {
        let name = path.strip_prefix(&assets).unwrap().display().to_string();
        let started = std::time::Instant::now();
        let result = Source::from_path(&path, &limits).and_then(|source| load(&source, &limits));
        let expected = REFUSED.iter().find(|(part, ..)| name.contains(part));
        match (&result, expected) {
            (Ok(scene), None) => {
                println!("{name}: {:?}, {} nodes, {:?}", started.elapsed(), scene.nodes.len(), scene.notes)
            }
            (Err(error), Some((_, code, names)))
                if error.code() == *code && error.to_string().contains(names) => {}
            _ => wrong.push(format!("{name}: {:?}", result.map(|scene| scene.notes))),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
