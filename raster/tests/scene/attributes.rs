//! Accessors in all forms, through the attributes that read them.

use serde_json::json;

use crate::common::gltf::{
    F32, Gltf, I8, I16, TRIANGLE, U8, U16, U32, f32_bytes, i16_bytes, u16_bytes, u32_bytes,
};
use crate::{check_refused, primitive, scene};

/// A triangle with one more attribute, made by `add`.
fn with(name: &str, add: impl FnOnce(&mut Gltf) -> u32) -> Gltf {
    let mut file = Gltf::triangle();
    let accessor = add(&mut file);
    file.json["meshes"][0]["primitives"][0]["attributes"][name] = json!(accessor);
    file
}

/// A triangle whose POSITION is made by `add`, with KHR_mesh_quantization.
fn quantized(add: impl FnOnce(&mut Gltf) -> u32) -> Gltf {
    let mut file = Gltf::new();
    file.require("KHR_mesh_quantization");
    let position = add(&mut file);
    let mesh = file.mesh(json!({ "attributes": { "POSITION": position } }));
    file.node(json!({ "mesh": mesh }));
    file
}

#[test]
fn integers_are_scaled_as_the_specification_says() {
    // 3.6.2.2: c / 255, max(c / 127, -1), c / 65535, max(c / 32767, -1).
    let bytes = |values: [i8; 12]| values.map(|value| value as u8);
    let i8s = bytes([-128, -127, 0, 0, 127, 64, 1, 0, 0, 0, 0, 0]);
    let padded = |file: &mut Gltf, normalized: bool| {
        let index = file.accessor("VEC3", I8, 3, &i8s);
        // Elements of three bytes start at multiples of four.
        let view = file.json["accessors"][index as usize]["bufferView"].as_u64().unwrap() as usize;
        file.json["bufferViews"][view]["byteStride"] = json!(4);
        file.json["accessors"][index as usize]["normalized"] = json!(normalized);
        index
    };
    let made = primitive(quantized(|file| padded(file, true)).glb());
    assert_eq!(made.position, [[-1.0, -1.0, 0.0], [1.0, 64.0 / 127.0, 1.0 / 127.0], [0.0; 3]]);
    let made = primitive(quantized(|file| padded(file, false)).glb());
    assert_eq!(made.position, [[-128.0, -127.0, 0.0], [127.0, 64.0, 1.0], [0.0; 3]]);

    let shorts = i16_bytes(&[-32768, -32767, 0, 32767, 16384, 1, 0, 0, 0]);
    let made = primitive(quantized(|file| file.normalized("VEC3", I16, 3, &shorts)).glb());
    assert_eq!(made.position, [[-1.0, -1.0, 0.0], [1.0, 16384.0 / 32767.0, 1.0 / 32767.0], [0.0; 3]]);
    let made = primitive(quantized(|file| file.accessor("VEC3", I16, 3, &shorts)).glb());
    assert_eq!(made.position[0], [-32768.0, -32767.0, 0.0]);

    let made =
        primitive(with("COLOR_0", |file| file.normalized("VEC4", U8, 3, &[0, 51, 128, 255].repeat(3))).glb());
    assert_eq!(made.color, [[0.0, 0.2, 128.0 / 255.0, 1.0]; 3]);
    let shorts = u16_bytes(&[0, 13107, 32768, 65535].repeat(3));
    let made = primitive(with("COLOR_0", |file| file.normalized("VEC4", U16, 3, &shorts)).glb());
    assert_eq!(made.color, [[0.0, 0.2, 32768.0 / 65535.0, 1.0]; 3]);
}

#[test]
fn both_uv_sets_are_read() {
    // R05, with set 1 in normalized shorts.
    let mut file = with("TEXCOORD_0", |file| file.floats("VEC2", &[0.0, 0.5, 1.0, -2.0, 3.0, 0.25]));
    let second = file.normalized("VEC2", U16, 3, &u16_bytes(&[0, 65535, 13107, 0, 0, 0]));
    file.json["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_1"] = json!(second);
    let made = primitive(file.glb());
    assert_eq!(made.uv0, [[0.0, 0.5], [1.0, -2.0], [3.0, 0.25]]);
    assert_eq!(made.uv1, [[0.0, 1.0], [0.2, 0.0], [0.0, 0.0]]);
    let mut file = with("TEXCOORD_0", |file| file.accessor("VEC2", I16, 3, &i16_bytes(&[-3, 4, 0, 0, 0, 0])));
    check_refused("plain shorts", file.glb(), "accessor-format", "mesh 0 primitive 0 TEXCOORD_0");
    file.require("KHR_mesh_quantization");
    assert_eq!(primitive(file.glb()).uv0[0], [-3.0, 4.0]);
}

#[test]
fn colours_interleaved_three_wide_and_out_of_range() {
    // B10, GLB-1: POSITION and three normalized bytes in elements of 16 bytes.
    let mut interleaved = Vec::new();
    for corner in TRIANGLE.chunks_exact(3) {
        interleaved.extend(f32_bytes(corner));
        interleaved.extend([255, 128, 0, 77]);
    }
    let mut file = Gltf::new();
    let view = file.view(&interleaved);
    file.json["bufferViews"][view as usize]["byteStride"] = json!(16);
    file.push("accessors", json!({ "bufferView": view, "componentType": F32, "type": "VEC3", "count": 3 }));
    file.push(
        "accessors",
        json!({ "bufferView": view, "byteOffset": 12, "componentType": U8, "type": "VEC3", "count": 3, "normalized": true }),
    );
    file.mesh(json!({ "attributes": { "POSITION": 0, "COLOR_0": 1 } }));
    file.node(json!({ "mesh": 0 }));
    let first = primitive(file.glb());
    // GLB-2: the same as floats.
    let second =
        primitive(with("COLOR_0", |file| file.floats("VEC3", &[1.0, 128.0 / 255.0, 0.0].repeat(3))).glb());
    assert_eq!(first.color, [[1.0, 128.0 / 255.0, 0.0, 1.0]; 3]);
    assert_eq!((first.color, first.position), (second.color, second.position));
    // GLB-3: clamped.
    let third =
        primitive(with("COLOR_0", |file| file.floats("VEC4", &[2.0, -1.0, 0.5, 7.0].repeat(3))).glb());
    assert_eq!(third.color, [[1.0, 0.0, 0.5, 1.0]; 3]);
    // Three bytes without a stride lie tightly: misaligned for a GPU, but without doubt.
    let tight =
        primitive(with("COLOR_0", |file| file.normalized("VEC3", U8, 3, &[255, 128, 0].repeat(3))).glb());
    assert_eq!(tight.color, [[1.0, 128.0 / 255.0, 0.0, 1.0]; 3]);
}

/// Gives accessor 0 (POSITION of the triangle) a sparse part.
fn sparse(file: &mut Gltf, component: u32, indices: &[u8], count: usize, values: &[f32]) {
    let (index_view, value_view) = (file.view(indices), file.view(&f32_bytes(values)));
    file.json["accessors"][0]["sparse"] = json!({
        "count": count,
        "indices": { "bufferView": index_view, "componentType": component },
        "values": { "bufferView": value_view },
    });
}

#[test]
fn sparse_values_replace_the_base() {
    for (component, indices) in [(U8, vec![0u8, 2]), (U16, u16_bytes(&[0, 2])), (U32, u32_bytes(&[0, 2]))] {
        let mut file = Gltf::triangle();
        sparse(&mut file, component, &indices, 2, &[5.0, 6.0, 7.0, -1.0, -2.0, -3.0]);
        assert_eq!(primitive(file.glb()).position, [[5.0, 6.0, 7.0], [1.0, 0.0, 0.0], [-1.0, -2.0, -3.0]]);
    }
    // Without a view the base is zeros.
    let mut file = Gltf::triangle();
    file.json["accessors"][0].as_object_mut().unwrap().remove("bufferView");
    sparse(&mut file, U8, &[1], 1, &[4.0, 5.0, 6.0]);
    assert_eq!(primitive(file.glb()).position, [[0.0; 3], [4.0, 5.0, 6.0], [0.0; 3]]);
    // Neither view nor sparse part: all zeros.
    let mut file = Gltf::triangle();
    file.json["accessors"][0].as_object_mut().unwrap().remove("bufferView");
    assert_eq!(primitive(file.glb()).position, [[0.0; 3]; 3]);
    // Only the vertices in use are read: the merge of rows and sparse indices must not slip.
    let mut file = Gltf::new();
    let zeros = file.floats("VEC3", &[0.0; 30]);
    assert_eq!(zeros, 0);
    sparse(&mut file, U8, &[1, 3, 4, 8], 4, &[1., 1., 1., 3., 3., 3., 4., 4., 4., 8., 8., 8.]);
    let indices = file.indices(&[3, 5, 8]);
    file.mesh(json!({ "attributes": { "POSITION": 0 }, "indices": indices, "mode": 4 }));
    file.node(json!({ "mesh": 0 }));
    assert_eq!(primitive(file.glb()).position, [[3.0; 3], [0.0; 3], [8.0; 3]]);
}

#[test]
fn broken_sparse_parts_are_refused() {
    let cases: [(&str, &[u8], usize, &str, &str); 4] = [
        ("index beyond the count", &[0, 3], 2, "invalid-sparse", "sparse index 3 at 1"),
        ("indices that fall", &[2, 1], 2, "invalid-sparse", "sparse index 1 at 1"),
        ("an index twice", &[1, 1], 2, "invalid-sparse", "sparse index 1 at 1"),
        ("more than there are elements", &[0, 1, 2, 3], 4, "value-out-of-range", "accessor 0 sparse count"),
    ];
    for (name, indices, count, code, says) in cases {
        let mut file = Gltf::triangle();
        sparse(&mut file, U8, indices, count, &vec![0.0; count * 3]);
        check_refused(name, file.glb(), code, says);
    }
}

#[test]
fn strides_leave_gaps_out() {
    let mut bytes = Vec::new();
    for corner in TRIANGLE.chunks_exact(3) {
        bytes.extend(f32_bytes(corner));
        bytes.extend(f32_bytes(&[f32::NAN, f32::INFINITY]));
    }
    // The last element needs no gap after it.
    bytes.truncate(20 * 2 + 12);
    let mut file = Gltf::new();
    let view = file.view(&bytes);
    file.json["bufferViews"][view as usize]["byteStride"] = json!(20);
    file.push("accessors", json!({ "bufferView": view, "componentType": F32, "type": "VEC3", "count": 3 }));
    file.mesh(json!({ "attributes": { "POSITION": 0 } }));
    file.node(json!({ "mesh": 0 }));
    assert_eq!(primitive(file.glb()).position.as_flattened(), TRIANGLE, "what lies in the gaps is nobody's");
}

#[test]
fn tiny_numbers_and_minus_zero_become_zero() {
    // Bytes of frames may not depend on whether denormals are flushed.
    let mut values = TRIANGLE;
    (values[2], values[5], values[8]) = (-0.0, 1e-38, -7e-31);
    let mut file = Gltf::new();
    let position = file.floats("VEC3", &values);
    file.mesh(json!({ "attributes": { "POSITION": position } }));
    file.node(json!({ "mesh": 0, "translation": [-0.0, 1e-40, 8e-31] }));
    let made = scene(file.glb());
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    let position = &made.meshes[0].primitives[0].position;
    assert_eq!(bits(position.as_flattened()), bits(&TRIANGLE));
    let isoframe_raster::scene::Transform::Trs(trs) = made.nodes[0].local else { panic!("no matrix here") };
    assert_eq!(bits(&trs.translation), bits(&[0.0, 0.0, 8e-31]));
}

#[test]
fn formats_that_an_attribute_cannot_have_are_refused() {
    let cases: [(&str, &str, u32, bool); 9] = [
        ("POSITION", "VEC2", F32, false),
        ("POSITION", "VEC3", I16, false),
        ("NORMAL", "VEC3", I8, true),
        ("TANGENT", "VEC3", F32, false),
        ("TEXCOORD_0", "VEC3", F32, false),
        ("COLOR_0", "VEC2", F32, false),
        ("COLOR_0", "VEC4", U8, false),
        ("COLOR_0", "VEC4", I8, true),
        ("POSITION", "MAT2", F32, false),
    ];
    for (name, kind, component, normalized) in cases {
        let mut file = with(name, |file| file.accessor(kind, component, 3, &[0; 192]));
        let index = file.json["meshes"][0]["primitives"][0]["attributes"][name].as_u64().unwrap() as usize;
        file.json["accessors"][index]["normalized"] = json!(normalized);
        if name == "POSITION" {
            file.json["meshes"][0]["primitives"][0]["attributes"] = json!({ "POSITION": index });
        }
        let label = format!("{name} as {kind} of {component}");
        check_refused(&label, file.glb(), "accessor-format", &format!("mesh 0 primitive 0 {name}"));
    }
    let mut file =
        with("NORMAL", |file| file.normalized("VEC3", I16, 3, &i16_bytes(&[0, 0, 32767, 0].repeat(3))));
    file.json["bufferViews"][1]["byteStride"] = json!(8);
    check_refused("not declared", file.glb(), "accessor-format", "NORMAL");
    file.uses("KHR_mesh_quantization");
    assert_eq!(primitive(file.glb()).normal, [[0.0, 0.0, 1.0]; 3]);
}

#[test]
fn normals_come_out_at_length_one() {
    let made = primitive(
        with("NORMAL", |file| file.floats("VEC3", &[0.0, 3.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1e-20])).glb(),
    );
    assert_eq!(made.normal, [[0.0, 0.6, 0.8], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]);
}

#[test]
fn attributes_that_mean_nothing_are_noted() {
    let mut file = with("COLOR_1", |file| file.floats("VEC3", &[0.0; 9]));
    file.json["meshes"][0]["primitives"][0]["attributes"]["_BATCH"] = json!(0);
    assert_eq!(scene(file.glb()).notes, ["attribute COLOR_1 is ignored"]);
}
