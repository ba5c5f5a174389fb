//! The 132 files of the Khronos glTF validator: what it calls an error is refused, everything else loads, and every
//! exception has its reason here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use isoframe_raster::scene::{Limits, Source, load};

const BOUNDS: &str =
    "bounds are taken from the data; min and max are never used, so they can be wrong or missing";
const EMPTY: &str = "an empty list says the same as no list; old exporters write them";
const IGNORED: &str =
    "what has no meaning in glTF or no base to add to is ignored, with a note; nothing else changes";

/// Files with errors that load all the same: path, and why a renderer may accept them.
const ACCEPTED: &[(&str, &str)] = &[
    ("accessor_data/out_of_range_elements_float.gltf", BOUNDS),
    ("accessor_data/out_of_range_elements_sint8.gltf", BOUNDS),
    ("accessor_data/out_of_range_elements_uint32.gltf", BOUNDS),
    ("animation/empty_array.gltf", EMPTY),
    ("animation/sampler_input_no_bounds.gltf", BOUNDS),
    (
        "animation_data/quaternion_cubic_non_unit_values.gltf",
        "rotations are normalised after interpolation anyway; one of no length is refused",
    ),
    ("buffer/empty_array.gltf", EMPTY),
    ("buffer_view/empty_array.gltf", EMPTY),
    ("camera/empty_array.gltf", EMPTY),
    ("image/empty_array.gltf", EMPTY),
    ("material/empty_array.gltf", EMPTY),
    ("mesh/invalid_attribute_escaped_name.gltf", IGNORED),
    ("mesh/morph_attribute_no_base.gltf", IGNORED),
    ("mesh/morph_position_accessor_no_bounds.gltf", BOUNDS),
    ("mesh/position_accessor_no_bounds.gltf", BOUNDS),
    ("node/empty_children_array.gltf", EMPTY),
    (
        "root/extensions_undeclared_wrong_pointer.gltf",
        "an extension that is not required can be ignored, declared or not; it is noted",
    ),
    ("sampler/empty_array.gltf", EMPTY),
    ("scene/empty_array.gltf", EMPTY),
    ("texture/empty_array.gltf", EMPTY),
];

/// Files without errors that are refused: path, code, and why.
const REFUSED: &[(&str, &str, &str)] = &[
    ("asset/min_version_valid.gltf", "unsupported-version", "it says that a 2.0 loader is not enough"),
    ("buffer/non_relative_uri.gltf", "uri-scheme", "nothing is ever fetched, whoever asks"),
    (
        "mesh/primitive_incompatible_mode.gltf",
        "index-count",
        "3.7.2.1: the count must fit the mode; never draw a part",
    ),
];

fn reports(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            reports(&path, found);
        } else if path.to_string_lossy().ends_with(".report.json") {
            found.push(path);
        }
    }
}

/// Codes of the errors (severity 0) in a report.
fn errors(report: &Path) -> Vec<String> {
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    let messages = report["issues"]["messages"].as_array().unwrap();
    let errors = messages.iter().filter(|message| message["severity"] == 0);
    errors.map(|message| message["code"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn verdicts_agree_with_the_validator() {
    let Some(assets) = crate::common::assets() else { return };
    let folder = assets.join("validator");
    let mut found = Vec::new();
    reports(&folder, &mut found);
    found.sort();
    assert_eq!(found.len(), 132);
    let accepted: BTreeMap<&str, &str> = ACCEPTED.iter().copied().collect();
    let refused: BTreeMap<&str, &str> = REFUSED.iter().map(|&(name, code, _)| (name, code)).collect();
    let limits = Limits::default();
    let mut wrong = Vec::new();
    for report in found {
        let path = PathBuf::from(report.to_string_lossy().trim_end_matches(".report.json"));
        let name = path.strip_prefix(&folder).unwrap().to_string_lossy().replace('\\', "/");
        let errors = errors(&report);
        let result = Source::from_path(&path, &limits).and_then(|source| load(&source, &limits));
        let should_load = if errors.is_empty() {
            !refused.contains_key(name.as_str())
        } else {
            accepted.contains_key(name.as_str())
        };
        match result {
            Ok(scene) if !should_load => {
                wrong.push(format!("{name} loads, notes {:?}, but {errors:?}", scene.notes))
            }
            Err(error) if should_load => {
                wrong.push(format!("{name}: {} ({error}), validator {errors:?}", error.code()))
            }
            Err(error) if refused.get(name.as_str()).is_some_and(|code| *code != error.code()) => {
                wrong.push(format!("{name}: {} is another code than expected", error.code()));
            }
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{} files:\n{}", wrong.len(), wrong.join("\n"));
}
