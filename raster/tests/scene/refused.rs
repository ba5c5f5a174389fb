//! Bad files: each gets a code of its own and is told where.

use serde_json::{Value, json};

use crate::common::gltf::{F32, Gltf, TRIANGLE, U8, U16, U32, f32_bytes, glb, u16_bytes, u32_bytes};
use crate::{check_refused, scene};

/// The triangle with these indices.
fn indexed(mode: u32, component: u32, bytes: &[u8], count: usize) -> Vec<u8> {
    let mut file = Gltf::triangle();
    let indices = file.accessor("SCALAR", component, count, bytes);
    let primitive = &mut file.json["meshes"][0]["primitives"][0];
    primitive["indices"] = json!(indices);
    primitive["mode"] = json!(mode);
    file.glb()
}

#[test]
fn bad_indices() {
    // B15.
    let restart = "is the primitive restart value";
    let cases: [(&str, Vec<u8>, &str, &str); 9] = [
        (
            "7 of 3",
            indexed(4, U16, &u16_bytes(&[0, 1, 7]), 3),
            "index-out-of-range",
            "index 7 at 2 is out of range (3 vertices)",
        ),
        ("3 of 3", indexed(4, U8, &[0, 1, 3], 3), "index-out-of-range", "index 3 at 2"),
        ("65535", indexed(4, U16, &u16_bytes(&[0, 1, 65535]), 3), "index-restart-value", restart),
        ("255", indexed(4, U8, &[0, 1, 255], 3), "index-restart-value", restart),
        ("strip", indexed(5, U32, &u32_bytes(&[0, 1, 2, u32::MAX]), 4), "index-restart-value", restart),
        ("255 in shorts", indexed(4, U16, &u16_bytes(&[0, 1, 255]), 3), "index-out-of-range", "index 255"),
        (
            "4 for triangles",
            indexed(4, U8, &[0, 1, 2, 0], 4),
            "index-count",
            "4 indices do not make TRIANGLES",
        ),
        (
            "2 for a strip",
            indexed(5, U8, &[0, 1], 2),
            "too-few-indices",
            "2 indices do not make TRIANGLE_STRIP",
        ),
        (
            "floats",
            indexed(4, F32, &f32_bytes(&[0.0, 1.0, 2.0]), 3),
            "accessor-format",
            "mesh 0 primitive 0 indices",
        ),
    ];
    for (name, bytes, code, says) in cases {
        check_refused(name, bytes, code, says);
    }
}

#[test]
fn numbers_that_are_not_finite() {
    // B21 (1, 2) and every other place that floats come from.
    let nan_at = |attribute: &str, kind: &str, value: f32| {
        let mut file = Gltf::triangle();
        let width = crate::common::gltf::components(kind);
        let mut values = vec![0.0f32; 3 * width];
        values[2 * width] = value;
        let accessor = file.floats(kind, &values);
        file.json["meshes"][0]["primitives"][0]["attributes"]["NORMAL"] = json!(0);
        file.json["meshes"][0]["primitives"][0]["attributes"][attribute] = json!(accessor);
        file.glb()
    };
    for (attribute, kind) in [
        ("POSITION", "VEC3"),
        ("NORMAL", "VEC3"),
        ("TANGENT", "VEC4"),
        ("TEXCOORD_0", "VEC2"),
        ("TEXCOORD_1", "VEC2"),
        ("COLOR_0", "VEC4"),
    ] {
        for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let says = format!("mesh 0 primitive 0 {attribute}");
            let name = format!("{attribute} {value}");
            check_refused(&name, nan_at(attribute, kind, value), "not-finite", &says);
            check_refused(&name, nan_at(attribute, kind, value), "not-finite", "element 2 is not finite");
        }
    }
    // In a vertex that nobody uses: the accessor is broken all the same (3.6.2.2).
    let mut file = Gltf::new();
    let mut values = TRIANGLE.to_vec();
    values.extend([f32::NAN, 0.0, 0.0]);
    let position = file.floats("VEC3", &values);
    let indices = file.indices(&[0, 1, 2]);
    file.mesh(json!({ "attributes": { "POSITION": position }, "indices": indices }));
    check_refused("unused vertex", file.glb(), "not-finite", "element 3");
    // JSON numbers beyond f32.
    for (name, node) in [
        ("translation", json!({ "translation": [0, 1e39, 0] })),
        ("scale", json!({ "scale": [1, 1, -1e300] })),
        ("matrix", json!({ "matrix": [1e39, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1] })),
    ] {
        let mut file = Gltf::new();
        file.node(node);
        check_refused(name, file.glb(), "not-finite", &format!("node 0 {name}"));
    }
    let text = String::from_utf8(Gltf::triangle().gltf())
        .unwrap()
        .replace("\"mesh\":0", "\"mesh\":0,\"scale\":[1e400,1,1]");
    check_refused("1e400", text, "invalid-json", "number out of range");
}

#[test]
fn data_beyond_its_bounds() {
    let accessor = |edit: &dyn Fn(&mut Value)| {
        let mut file = Gltf::triangle();
        edit(&mut file.json);
        file.glb()
    };
    let cases: [(&str, Vec<u8>, &str, &str); 15] = [
        (
            "count",
            accessor(&|j| j["accessors"][0]["count"] = json!(4)),
            "out-of-bounds",
            "accessor 0: ends at byte 48 of 36",
        ),
        (
            "offset",
            accessor(&|j| j["accessors"][0]["byteOffset"] = json!(4)),
            "out-of-bounds",
            "accessor 0: ends at byte 40 of 36",
        ),
        (
            "count 0",
            accessor(&|j| j["accessors"][0]["count"] = json!(0)),
            "value-out-of-range",
            "accessor 0 count",
        ),
        (
            "huge count",
            accessor(&|j| j["accessors"][0]["count"] = json!(u64::MAX)),
            "limit-exceeded",
            "accessor_elements",
        ),
        (
            "offset overflows",
            accessor(&|j| j["accessors"][0]["byteOffset"] = json!(u64::MAX - 3)),
            "out-of-bounds",
            "accessor 0",
        ),
        (
            "odd offset",
            accessor(&|j| j["accessors"][0]["byteOffset"] = json!(2)),
            "misaligned",
            "accessor 0: byte 2 is not a multiple of 4",
        ),
        (
            "view",
            accessor(&|j| j["bufferViews"][0]["byteLength"] = json!(40)),
            "out-of-bounds",
            "bufferView 0: ends at byte 40 of 36",
        ),
        (
            "view overflows",
            accessor(&|j| j["bufferViews"][0]["byteOffset"] = json!(u64::MAX)),
            "out-of-bounds",
            "bufferView 0",
        ),
        (
            "view of 0",
            accessor(&|j| j["bufferViews"][0]["byteLength"] = json!(0)),
            "value-out-of-range",
            "bufferView 0 byteLength",
        ),
        (
            "stride",
            accessor(&|j| j["bufferViews"][0]["byteStride"] = json!(8)),
            "invalid-stride",
            "accessor 0: stride 8: elements would overlap",
        ),
        (
            "long stride",
            accessor(&|j| j["bufferViews"][0]["byteStride"] = json!(256)),
            "invalid-stride",
            "bufferView 0",
        ),
        (
            "odd stride",
            accessor(&|j| j["bufferViews"][0]["byteStride"] = json!(14)),
            "misaligned",
            "bufferView 0",
        ),
        (
            "no buffer",
            accessor(&|j| j["bufferViews"][0]["buffer"] = json!(1)),
            "unresolved-reference",
            "bufferView 0: buffer 1 does not exist (1 present)",
        ),
        (
            "no view",
            accessor(&|j| j["accessors"][0]["bufferView"] = json!(1)),
            "unresolved-reference",
            "accessor 0: bufferView 1",
        ),
        (
            "no accessor",
            accessor(&|j| j["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = json!(9)),
            "unresolved-reference",
            "mesh 0 primitive 0 POSITION: accessor 9",
        ),
    ];
    for (name, bytes, code, says) in cases {
        check_refused(name, bytes, code, says);
    }
    let mut file = Gltf::triangle();
    let short = file.floats("VEC2", &[0.0; 4]);
    file.json["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"] = json!(short);
    check_refused(
        "unequal counts",
        file.glb(),
        "count-mismatch",
        "mesh 0 primitive 0 TEXCOORD_0: 3 expected, 2 found",
    );
}

#[test]
fn buffers_shorter_than_they_say() {
    let mut file = Gltf::triangle();
    file.json["buffers"] = json!([{ "byteLength": 37 + 3 }]);
    check_refused(
        "binary chunk",
        file.glb(),
        "truncated",
        "buffer 0 is truncated: 40 bytes announced, 36 there",
    );
    file.json["buffers"] = json!([{ "byteLength": 0 }]);
    check_refused("empty", file.glb(), "value-out-of-range", "buffer 0 byteLength");
    file.json["buffers"] = json!([{ "byteLength": 36 }, { "byteLength": 8 }]);
    file.json["bufferViews"][0]["buffer"] = json!(1);
    file.json["bufferViews"][0]["byteLength"] = json!(8);
    check_refused("no data at all", file.glb(), "invalid-structure", "its buffer has no data");
}

#[test]
fn json_of_the_wrong_shape() {
    let good = String::from_utf8(Gltf::triangle().gltf()).unwrap();
    let cases = [
        ("cut off", good[..good.len() - 1].to_owned(), "invalid-json", "EOF"),
        ("number for a text", good.replace("\"2.0\"", "2.0"), "invalid-json", "invalid type"),
        ("text for a number", good.replace("\"count\":3", "\"count\":\"3\""), "invalid-json", "invalid type"),
        ("fraction", good.replace("\"count\":3", "\"count\":3.5"), "invalid-json", "invalid type"),
        ("negative", good.replace("\"count\":3", "\"count\":-3"), "invalid-json", "invalid value"),
        ("twice", good.replace("\"count\":3", "\"count\":3,\"count\":3"), "invalid-json", "duplicate field"),
        (
            "short vector",
            good.replace("\"mesh\":0", "\"mesh\":0,\"scale\":[1,1]"),
            "invalid-json",
            "invalid length",
        ),
        (
            "long vector",
            good.replace("\"mesh\":0", "\"mesh\":0,\"scale\":[1,1,1,1]"),
            "invalid-json",
            "trailing characters",
        ),
        ("something after", format!("{good} {{}}"), "invalid-json", "trailing characters"),
        ("array", format!("[{good}]"), "unknown-format", "JSON"),
        ("no asset", "{}".to_owned(), "invalid-structure", "asset"),
        ("1.0", good.replace("\"2.0\"", "\"1.0\""), "unsupported-version", "1.0"),
        ("3.0", good.replace("\"2.0\"", "\"3.0\""), "unsupported-version", "3.0"),
        ("no version", good.replace("\"2.0\"", "\"two\""), "unsupported-version", "two"),
        (
            "deep",
            format!(
                "{{\"asset\":{{\"version\":\"2.0\"}},\"extras\":{}{}}}",
                "[".repeat(100),
                "]".repeat(100)
            ),
            "limit-exceeded",
            "json_depth",
        ),
        ("very deep", "[".repeat(1_000_000).replacen('[', "{\"a\":", 1), "limit-exceeded", "json_depth"),
    ];
    for (name, text, code, says) in cases {
        check_refused(name, text.as_bytes(), code, says);
    }
    scene(good.replace("\"mesh\":0", "\"mesh\":0,\"extras\":{\"extensions\":{\"not\":1}},\"unknown\":[1]"));
    scene(format!("\u{feff}{good}"));
}

#[test]
fn containers_that_break_their_rules() {
    let good = Gltf::triangle().glb();
    let edit = |at: usize, bytes: &[u8]| {
        let mut file = good.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        file
    };
    let json_length = u32::from_le_bytes(good[12..16].try_into().unwrap()) as usize;
    let bin = 20 + json_length;
    let cases: [(&str, Vec<u8>, &str, &str); 10] = [
        ("empty", Vec::new(), "unknown-format", "empty"),
        ("text", b"hello".to_vec(), "unknown-format", "neither"),
        ("header only", good[..8].to_vec(), "truncated", "GLB header"),
        ("cut off", good[..good.len() - 1].to_vec(), "truncated", "GLB is truncated"),
        ("version 1", edit(4, &[1]), "unsupported-version", "1 (GLB)"),
        ("short length", edit(8, &[4, 0, 0, 0]), "invalid-glb", "smaller than the header"),
        ("long chunk", edit(bin, &[0xFC, 0xFF, 0xFF, 0xFF]), "invalid-glb", "longer than the file"),
        ("odd chunk", edit(bin, &[0x21]), "invalid-glb", "multiple of 4"),
        ("BIN first", edit(16, b"BIN\0"), "invalid-glb", "first chunk is not JSON"),
        ("two JSON", edit(bin + 4, b"JSON"), "invalid-glb", "two JSON chunks"),
    ];
    for (name, bytes, code, says) in cases {
        check_refused(name, bytes, code, says);
    }
    scene(edit(0, b"glTF"));
    let mut longer = good.clone();
    longer.extend_from_slice(b"after the end");
    scene(longer);
    check_refused("every cut", glb(b"{", &[]), "invalid-json", "EOF");
    for length in 0..good.len() {
        crate::error(&good[..length]);
    }
}
