//! Every shared scene loads and renders, or is refused for the reason written here.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use isoframe_raster::backend::{Cancel, Job};
use isoframe_raster::cpu::{Cpu, CpuOptions};
use isoframe_raster::environment::Environment;
use isoframe_raster::frame::{ColorFormat, Frame, FrameRequest, Output};
use isoframe_raster::prepared::Prepared;
use isoframe_raster::scene::{Limits, Scene, Source, load};

/// Scenes that must be refused: part of the path, code, what the error names.
const REFUSED: &[(&str, &str, &str)] = &[
    // Only compressed data: there is nothing else to draw.
    ("BoxDraco", "unsupported-extension", "KHR_draco_mesh_compression"),
    // Required, and not rendered: the core fallback would be another picture than the file asks for.
    ("blenderio_14_emission_strength", "unsupported-extension", "KHR_materials_pbrSpecularGlossiness"),
];

/// Scenes in which nothing is to be seen: part of the path.
const EMPTY: &[&str] = &[
    // Masked, with a cutoff that no alpha reaches.
    "Material_AlphaMask_03",
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

fn frame(cpu: &Cpu, scene: Scene) -> Frame {
    let request = FrameRequest {
        width: 64,
        height: 64,
        time_s: 0.4,
        previous_time_s: Some(0.3),
        outputs: Output::CLASSIC.to_vec(),
        ..FrameRequest::default()
    };
    let job = Job {
        scene: &Prepared::new(Arc::new(scene)),
        environment: &Environment::studio(),
        request: &request,
        color: ColorFormat::Linear,
        cancel: &Cancel::default(),
    };
    cpu.render(&job).unwrap()
}

/// Whether all numbers are numbers; depth is infinite where nothing is drawn, and there only.
fn is_sound(frame: &Frame) -> bool {
    let finite = |values: &[f32]| values.iter().all(|v| v.is_finite());
    let depths = frame.depth.as_ref().unwrap().iter().zip(frame.id.as_ref().unwrap());
    finite(frame.base.as_ref().unwrap().as_flattened())
        && finite(frame.motion.as_ref().unwrap().as_flattened())
        && finite(frame.normal.as_ref().unwrap().as_flattened())
        && finite(frame.albedo.as_ref().unwrap().as_flattened())
        && depths
            .into_iter()
            .all(|(depth, id)| if *id == [0, 0] { *depth == f32::INFINITY } else { depth.is_finite() })
}

#[test]
fn every_shared_scene_renders_or_is_refused_by_name() {
    let Some(assets) = crate::common::assets() else { return };
    let mut found = Vec::new();
    scenes(&assets, &mut found);
    assert!(found.len() > 30, "{} scenes", found.len());
    let limits = Limits::default();
    let mut wrong = Vec::new();
    let cpu = Cpu::new(CpuOptions::default()).unwrap();
    for path in found {
        let name = path.strip_prefix(&assets).unwrap().display().to_string();
        let started = std::time::Instant::now();
        let result = Source::from_path(&path, &limits).and_then(|source| load(&source, &limits));
        let expected = REFUSED.iter().find(|(part, ..)| name.contains(part));
        match (&result, expected) {
            (Ok(scene), None) => {
                println!("{name}: {:?}, {} nodes, {:?}", started.elapsed(), scene.nodes.len(), scene.notes);
                let frame = frame(&cpu, result.unwrap());
                let drawn = frame.base.as_ref().unwrap().iter().any(|pixel| pixel[3] > 0.0);
                let empty = EMPTY.iter().any(|part| name.contains(part));
                if !is_sound(&frame) || drawn == empty {
                    wrong.push(format!("{name}: sound {}, drawn {drawn}", is_sound(&frame)));
                }
            }
            (Err(error), Some((_, code, names)))
                if error.code() == *code && error.to_string().contains(names) => {}
            _ => wrong.push(format!("{name}: {:?}", result.map(|scene| scene.notes))),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
