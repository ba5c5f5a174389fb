//! Every limit holds: set just below what a file needs, it refuses that file by name.

use isoframe_raster::scene::Limits;
use serde_json::json;

use crate::common::gltf::{Gltf, png};
use crate::load_within;

/// A file with some of everything.
fn rich() -> Vec<u8> {
    let mut file = Gltf::triangle();
    file.uses("EXT_mesh_gpu_instancing").uses("KHR_lights_punctual");
    let texture = file.texture(&png(4, 4, [1, 2, 3, 4]));
    file.push("materials", json!({ "normalTexture": { "index": texture } }));
    let uv = file.floats("VEC2", &[0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
    let primitive = &mut file.json["meshes"][0]["primitives"][0];
    primitive["targets"] = json!([{ "POSITION": 0 }, { "POSITION": 0 }]);
    primitive["material"] = json!(0);
    primitive["attributes"]["TEXCOORD_0"] = json!(uv);
    let places = file.floats("VEC3", &[0.0; 9]);
    file.json["nodes"][0]["extensions"] =
        json!({ "EXT_mesh_gpu_instancing": { "attributes": { "TRANSLATION": places } } });
    let light = file.node(json!({ "extensions": { "KHR_lights_punctual": { "light": 0 } } }));
    file.json["extensions"] = json!({ "KHR_lights_punctual": { "lights": [{ "type": "point" }] } });
    let child = file.child(json!({}));
    file.json["nodes"][light as usize]["children"] = json!([child]);
    file.push("skins", json!({ "joints": [light, child] }));
    let (input, output) = (file.floats("SCALAR", &[0.0, 1.0]), file.floats("VEC3", &[0.0; 6]));
    let channel = json!({ "sampler": 0, "target": { "node": child, "path": "scale" } });
    file.push(
        "animations",
        json!({ "samplers": [{ "input": input, "output": output }], "channels": [channel] }),
    );
    file.json["extras"] = json!([[[[0]]]]);
    file.glb()
}

#[test]
fn limits_refuse_by_name() {
    let file = rich();
    let base = Limits::default();
    load_within(file.clone(), &base).unwrap();
    let cases: Vec<(&str, Limits, u64)> = vec![
        ("file_bytes", Limits { file_bytes: file.len() as u64 - 1, ..base.clone() }, file.len() as u64),
        ("json_bytes", Limits { json_bytes: 100, ..base.clone() }, 0),
        ("json_depth", Limits { json_depth: 6, ..base.clone() }, 0),
        ("array_entries", Limits { array_entries: 4, ..base.clone() }, 5),
        ("nodes", Limits { nodes: 2, ..base.clone() }, 3),
        ("node_depth", Limits { node_depth: 1, ..base.clone() }, 2),
        ("accessor_elements", Limits { accessor_elements: 2, ..base.clone() }, 3),
        ("vertices", Limits { vertices: 5, ..base.clone() }, 6),
        ("triangles", Limits { triangles: 0, ..base.clone() }, 1),
        ("drawn_triangles", Limits { drawn_triangles: 2, ..base.clone() }, 3),
        ("instances", Limits { instances: 2, ..base.clone() }, 3),
        ("morph_targets", Limits { morph_targets: 1, ..base.clone() }, 2),
        ("skin_joints", Limits { skin_joints: 1, ..base.clone() }, 2),
        ("animation_keys", Limits { animation_keys: 1, ..base.clone() }, 2),
        ("lights", Limits { lights: 0, ..base.clone() }, 1),
        ("geometry_bytes", Limits { geometry_bytes: 100, ..base.clone() }, 0),
        ("images", Limits { images: 0, ..base.clone() }, 1),
        ("image_side_px", Limits { image_side_px: 3, ..base.clone() }, 4),
        ("image_pixels", Limits { image_pixels: 15, ..base.clone() }, 16),
        ("coordinate", Limits { coordinate: 0.5, ..base.clone() }, 1),
    ];
    for (name, limits, wanted) in cases {
        let error = load_within(file.clone(), &limits).expect_err(name);
        let text = error.to_string();
        assert_eq!(error.code(), "limit-exceeded", "{name}: {text}");
        assert!(text.contains(&format!("the limit {name} = ")), "{name}: {text}");
        assert!(wanted == 0 || text.contains(&format!(": {wanted} exceeds")), "{name}: {text}");
    }
    let limits = Limits { tangent_valence: 0, ..base.clone() };
    assert!(load_within(file.clone(), &limits).unwrap().notes[0].contains("simple tangents"));
    let limits = Limits { tangent_pairs: 2, ..base };
    assert!(load_within(file, &limits).unwrap().notes[0].contains("simple tangents"));
}

#[test]
fn few_bytes_cannot_ask_for_much_memory() {
    // 49 million zeros without a byte behind them, drawn by 40 meshes.
    let mut file = Gltf::new();
    file.push("accessors", json!({ "componentType": 5126, "type": "VEC3", "count": 49_999_998 }));
    for _ in 0..40 {
        file.mesh(json!({ "attributes": { "POSITION": 0 } }));
    }
    let error = load_within(file.glb(), &Limits::default()).unwrap_err();
    assert_eq!(error.code(), "limit-exceeded", "{error}");
}

#[test]
fn notes_are_bounded_and_said_once() {
    let mut file = Gltf::new();
    for _ in 0..500 {
        file.push("textures", json!({}));
    }
    let notes = load_within(file.glb(), &Limits { notes: 10, ..Limits::default() }).unwrap().notes;
    assert_eq!(notes.len(), 11);
    assert_eq!(notes[10], "490 more notes left out");
}

#[test]
fn limits_travel_as_toml_like_any_setting() {
    let text = serde_json::to_string(&Limits::default()).unwrap();
    assert_eq!(serde_json::from_str::<Limits>(&text).unwrap(), Limits::default());
    assert_eq!(serde_json::from_str::<Limits>("{}").unwrap(), Limits::default());
    assert!(serde_json::from_str::<Limits>("{\"node\": 1}").is_err(), "a typing error is no setting");
}
