//! Index values that glTF forbids: CASES B15.

use crate::common::gltf::{Gltf, U8, U16, U32, u16_bytes, u32_bytes};
use crate::rendered;
use serde_json::json;

struct Refused {
    name: &'static str,
    component: u32,
    bytes: Vec<u8>,
    count: usize,
    mode: u32,
    code: &'static str,
}

/// Three vertices. Codes by cause: a vertex that is not there, a restart value (the type's largest), a count that
/// the mode cannot use, a count below the mode's least.
#[test]
fn forbidden_indices_are_refused_by_cause() {
    let shorts = |values: &[u16]| (U16, u16_bytes(values), values.len());
    let case = |name, (component, bytes, count): (u32, Vec<u8>, usize), mode, code| Refused {
        name,
        component,
        bytes,
        count,
        mode,
        code,
    };
    let cases = [
        case("no such vertex", shorts(&[0, 1, 7]), 4, "index-out-of-range"),
        case("the first that is not there", shorts(&[0, 1, 3]), 4, "index-out-of-range"),
        case("restart in u16", shorts(&[0, 1, 65535]), 4, "index-restart-value"),
        case("restart in u8", (U8, vec![0, 1, 255], 3), 4, "index-restart-value"),
        case("restart in u32", (U32, u32_bytes(&[0, 1, 2, u32::MAX]), 4), 5, "index-restart-value"),
        case("four for triangles", shorts(&[0, 1, 2, 0]), 4, "index-count"),
        case("three for lines", shorts(&[0, 1, 2]), 1, "index-count"),
        case("two for a strip", shorts(&[0, 1]), 5, "too-few-indices"),
        case("two for a fan", shorts(&[0, 1]), 6, "too-few-indices"),
        case("one for a line strip", shorts(&[0]), 3, "too-few-indices"),
    ];
    for case in cases {
        let mut file = Gltf::triangle();
        let indices = file.accessor("SCALAR", case.component, case.count, &case.bytes);
        let primitive = &mut file.json["meshes"][0]["primitives"][0];
        primitive["indices"] = json!(indices);
        primitive["mode"] = json!(case.mode);
        match rendered::read(file.glb()) {
            Err(error) => assert_eq!(error.code(), case.code, "{}: {error}", case.name),
            Ok(_) => panic!("{} loads", case.name),
        }
    }
}

/// What lies just inside the rules loads.
#[test]
fn allowed_indices_load() {
    let mut file = Gltf::triangle();
    let indices = file.accessor("SCALAR", U8, 3, &[2, 1, 0]);
    file.json["meshes"][0]["primitives"][0]["indices"] = json!(indices);
    let prepared = rendered::ready(file.glb());
    let primitive = &prepared.scene.meshes[0].primitives[0];
    let drawn: Vec<[f32; 3]> =
        primitive.indices.iter().map(|&index| primitive.position[index as usize]).collect();
    assert_eq!(drawn, [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]);
}
