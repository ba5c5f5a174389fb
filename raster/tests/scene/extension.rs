//! Extensions: read, refused by name, or noted.

use isoframe_raster::scene::{Scene, Transform, Trs};
use serde_json::json;

use crate::common::gltf::{F32, Gltf, I16, TRIANGLE, data_uri, f32_bytes, i16_bytes, png};
use crate::{check_refused, error, primitive, scene};

#[test]
fn unknown_extensions() {
    // B18.
    let mut file = Gltf::new();
    file.require("KHR_mesh_quantization");
    let position = file.accessor("VEC3", I16, 3, &i16_bytes(&[0, 0, 0, 0, 7, 0, 0, 0, -9, 0, 0, 0]));
    file.json["bufferViews"][0]["byteStride"] = json!(8);
    file.mesh(json!({ "attributes": { "POSITION": position } }));
    file.node(json!({ "mesh": 0 }));
    assert_eq!(primitive(file.glb()).position, [[0.0; 3], [7.0, 0.0, 0.0], [-9.0, 0.0, 0.0]]);
    let mut file = Gltf::triangle();
    file.require("VENDOR_invented");
    check_refused("required", file.glb(), "unsupported-extension", "VENDOR_invented");
    let mut file = Gltf::triangle();
    file.uses("VENDOR_invented");
    assert_eq!(scene(file.glb()).notes, ["extension VENDOR_invented is not rendered: it is ignored"]);
    let mut file = Gltf::triangle();
    file.json["nodes"][0]["extensions"] = json!({ "VENDOR_secret": { "x": 1 } });
    assert_eq!(
        scene(file.glb()).notes,
        [
            "extension VENDOR_secret is used but not declared in extensionsUsed",
            "extension VENDOR_secret is not rendered: it is ignored",
        ]
    );
}

#[test]
fn draco_and_basis_by_name() {
    let mut file = Gltf::triangle();
    file.json["meshes"][0]["primitives"][0]["extensions"] =
        json!({ "KHR_draco_mesh_compression": { "bufferView": 0, "attributes": { "POSITION": 0 } } });
    file.uses("KHR_draco_mesh_compression");
    let made = scene(file.glb());
    assert_eq!(made.meshes[0].primitives[0].position.as_flattened(), TRIANGLE, "the plain data");
    assert!(made.notes.iter().any(|note| note.contains("KHR_draco_mesh_compression")), "{:?}", made.notes);
    file.require("KHR_draco_mesh_compression");
    check_refused("draco", file.glb(), "unsupported-extension", "KHR_draco_mesh_compression");
    // Used, not required, but without plain data: refused by name too, rather than drawn as zeros.
    let mut file = Gltf::triangle();
    file.uses("KHR_draco_mesh_compression");
    file.json["accessors"][0].as_object_mut().unwrap().remove("bufferView");
    file.json["meshes"][0]["primitives"][0]["extensions"] =
        json!({ "KHR_draco_mesh_compression": { "bufferView": 0, "attributes": { "POSITION": 0 } } });
    check_refused("draco alone", file.glb(), "unsupported-extension", "KHR_draco_mesh_compression");

    let mut file = Gltf::new();
    file.texture(&png(1, 1, [9, 9, 9, 255]));
    let basis = file.push("images", json!({ "uri": data_uri("image/ktx2", b"\xabKTX 20\xbb\r\n\x1a\n") }));
    file.json["textures"][0]["extensions"] = json!({ "KHR_texture_basisu": { "source": basis } });
    file.push("materials", json!({ "emissiveTexture": { "index": 0 } }));
    file.uses("KHR_texture_basisu");
    let made = scene(file.glb());
    assert_eq!(made.images[0].rgba, [[9, 9, 9, 255]]);
    assert!(made.notes.iter().any(|note| note.contains("KHR_texture_basisu")), "{:?}", made.notes);
    file.json["textures"][0].as_object_mut().unwrap().remove("source");
    check_refused("basis alone", file.glb(), "unsupported-extension", "KHR_texture_basisu");
    file.require("KHR_texture_basisu");
    check_refused("basis", file.glb(), "unsupported-extension", "KHR_texture_basisu");
}

#[test]
fn webp_wins_over_its_fallback() {
    let mut webp = std::io::Cursor::new(Vec::new());
    let picture = ::image::RgbaImage::from_pixel(2, 2, ::image::Rgba([1, 200, 3, 255]));
    picture.write_to(&mut webp, ::image::ImageFormat::WebP).unwrap();
    let mut file = Gltf::new();
    file.texture(&png(1, 1, [9, 9, 9, 255]));
    let image = file.push("images", json!({ "uri": data_uri("image/webp", webp.get_ref()) }));
    file.json["textures"][0]["extensions"] = json!({ "EXT_texture_webp": { "source": image } });
    file.push("materials", json!({ "emissiveTexture": { "index": 0 } }));
    file.uses("EXT_texture_webp");
    let made = scene(file.glb());
    assert_eq!((made.images[0].width, made.images[0].rgba[0]), (2, [1, 200, 3, 255]));
    file.json["textures"][0].as_object_mut().unwrap().remove("source");
    file.require("EXT_texture_webp");
    assert_eq!(scene(file.glb()).images[0].width, 2);
}

#[test]
fn variants() {
    let mut file = Gltf::triangle();
    file.require("KHR_materials_variants");
    file.json["materials"] = json!([{}, { "name": "red" }, { "name": "blue" }]);
    file.json["extensions"] = json!({ "KHR_materials_variants": { "variants": [{ "name": "a" }, { "name": "b" }, { "name": "a" }] } });
    let mappings = json!([{ "material": 1, "variants": [0, 2] }]);
    file.json["meshes"][0]["primitives"][0]["extensions"] =
        json!({ "KHR_materials_variants": { "mappings": mappings } });
    let made = scene(file.glb());
    assert_eq!(made.variants, ["a", "b", "a (2)"]);
    let first = &made.meshes[0].primitives[0];
    assert_eq!(first.variant_materials, [Some(1), None, Some(1)]);
    assert_eq!(first.material, 3, "the default material");
    let set = |mappings: serde_json::Value| {
        let mut file = file.clone();
        file.json["meshes"][0]["primitives"][0]["extensions"]["KHR_materials_variants"]["mappings"] =
            mappings;
        file.glb()
    };
    let cases = [
        (json!([{ "material": 3, "variants": [0] }]), "unresolved-reference", "material 3"),
        (json!([{ "material": 1, "variants": [3] }]), "unresolved-reference", "variant 3"),
        (
            json!([{ "material": 1, "variants": [0] }, { "material": 2, "variants": [0] }]),
            "invalid-structure",
            "mapped twice",
        ),
    ];
    for (mappings, code, says) in cases {
        check_refused(says, set(mappings), code, says);
    }
}

#[test]
fn instances() {
    let mut file = Gltf::triangle();
    file.require("EXT_mesh_gpu_instancing");
    let translation = file.floats("VEC3", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let rotation = file.normalized("VEC4", I16, 2, &i16_bytes(&[0, 0, 0, 32767, 0, 32767, 0, 0]));
    let scale = file.accessor("VEC3", I16, 2, &i16_bytes(&[2, 2, 2, 0, 3, 1, 1, 0]));
    file.json["bufferViews"][3]["byteStride"] = json!(8);
    let attributes =
        json!({ "TRANSLATION": translation, "ROTATION": rotation, "SCALE": scale, "_ID": translation });
    file.json["nodes"][0]["extensions"] = json!({ "EXT_mesh_gpu_instancing": { "attributes": attributes } });
    let made = scene(file.glb());
    let expected = [
        Trs { translation: [1.0, 2.0, 3.0], rotation: [0.0, 0.0, 0.0, 1.0], scale: [2.0; 3] },
        Trs { translation: [4.0, 5.0, 6.0], rotation: [0.0, 1.0, 0.0, 0.0], scale: [3.0, 1.0, 1.0] },
    ];
    assert_eq!(made.nodes[0].instances.as_deref(), Some(&expected[..]));
    let set = |attributes: serde_json::Value| {
        let mut file = file.clone();
        file.json["nodes"][0]["extensions"]["EXT_mesh_gpu_instancing"]["attributes"] = attributes;
        file.glb()
    };
    check_refused(
        "counts",
        set(json!({ "TRANSLATION": translation, "SCALE": 0 })),
        "count-mismatch",
        "node 0 EXT_mesh_gpu_instancing",
    );
    check_refused("none", set(json!({})), "invalid-structure", "no attributes");
    check_refused(
        "kind",
        set(json!({ "ROTATION": translation })),
        "accessor-format",
        "node 0 EXT_mesh_gpu_instancing ROTATION",
    );
    check_refused("missing", set(json!({ "SCALE": 99 })), "unresolved-reference", "accessor 99");
}

#[test]
fn visibility() {
    let mut file = Gltf::triangle();
    file.require("KHR_node_visibility");
    for (extension, visible) in
        [(json!({}), true), (json!({ "visible": false }), false), (json!({ "visible": true }), true)]
    {
        file.json["nodes"][0]["extensions"] = json!({ "KHR_node_visibility": extension });
        assert_eq!(scene(file.glb()).nodes[0].visible, visible);
    }
}

/// The triangle's positions as an exponential-filtered meshopt view of version 0: written by hand, all deltas as
/// whole bytes.
fn packed_triangle() -> Vec<u8> {
    // Elements of 12 bytes, three of them, one group of 16: for each byte a header (mode 3 in the low bits) and 16
    // zigzag deltas from the element before; the first differs from the baseline, which is zero.
    let elements: Vec<[u8; 12]> =
        TRIANGLE.chunks_exact(3).map(|corner| f32_bytes(corner).try_into().unwrap()).collect();
    let mut out = vec![0xA0];
    for byte in 0..12 {
        out.push(3);
        let mut last = 0u8;
        for index in 0..16 {
            let value = elements.get(index).map_or(last, |element| element[byte]);
            let delta = value.wrapping_sub(last) as i8;
            last = value;
            out.push(((delta << 1) ^ (delta >> 7)) as u8);
        }
    }
    out.extend([0; 32]);
    out
}

#[test]
fn meshopt_views() {
    let packed = packed_triangle();
    for name in ["EXT_meshopt_compression", "KHR_meshopt_compression"] {
        let mut file = Gltf::new();
        file.require(name);
        file.bin = packed.clone();
        let compressed = json!({
            "buffer": 0, "byteLength": packed.len(), "byteStride": 12, "count": 3, "mode": "ATTRIBUTES",
        });
        file.json["buffers"] = json!([{ "byteLength": packed.len() }, { "byteLength": 36, "extensions": { name: { "fallback": true } } }]);
        file.push(
            "bufferViews",
            json!({ "buffer": 1, "byteLength": 36, "extensions": { name: compressed } }),
        );
        file.push("accessors", json!({ "bufferView": 0, "componentType": F32, "type": "VEC3", "count": 3 }));
        file.mesh(json!({ "attributes": { "POSITION": 0 } }));
        file.node(json!({ "mesh": 0 }));
        assert_eq!(primitive(file.glb()).position.as_flattened(), TRIANGLE, "{name}");
        // A fallback buffer is never read, so it may name what is not there.
        let mut fallback = file.clone();
        fallback.json["buffers"][1]["uri"] = json!("not-there.bin");
        assert_eq!(primitive(fallback.glb()).position.as_flattened(), TRIANGLE, "{name}");
        let set = |key: &str, value: serde_json::Value| {
            let mut file = file.clone();
            file.json["bufferViews"][0]["extensions"][name][key] = value;
            file.glb()
        };
        check_refused(
            "count",
            set("count", json!(4)),
            "count-mismatch",
            "bufferView 0 byteLength: 48 expected, 36 found",
        );
        check_refused("huge", set("count", json!(u64::MAX)), "count-mismatch", "bufferView 0");
        check_refused("length", set("byteLength", json!(packed.len() + 1)), "out-of-bounds", "bufferView 0");
        check_refused("mode", set("mode", json!("TRIANGLES")), "invalid-meshopt", "byteStride");
        check_refused("buffer", set("buffer", json!(1)), "invalid-structure", "bufferView 0");
        assert_eq!(error(set("byteLength", json!(packed.len() - 1))).code(), "invalid-meshopt");
        let mut plain = file.clone();
        plain.json["bufferViews"][0]["extensions"] = json!({});
        check_refused("plain view of a fallback", plain.glb(), "invalid-structure", "its buffer has no data");
    }
}

/// World position of a point of a node, from the node's and its parents' rest transforms.
fn in_world(scene: &Scene, node: usize, mut point: [f32; 3]) -> [f32; 3] {
    let mut at = Some(node);
    while let Some(index) = at {
        let node = &scene.nodes[index];
        point = match node.local {
            Transform::Matrix(m) => {
                [0, 1, 2].map(|k| m[k] * point[0] + m[4 + k] * point[1] + m[8 + k] * point[2] + m[12 + k])
            }
            Transform::Trs(trs) => {
                assert_eq!(trs.rotation, [0.0, 0.0, 0.0, 1.0], "this test needs no rotation");
                [0, 1, 2].map(|k| point[k] * trs.scale[k] + trs.translation[k])
            }
        };
        at = node.parent.map(|parent| parent as usize);
    }
    point
}

#[test]
fn meshopt_and_plain_boxes_are_the_same() {
    let Some(assets) = crate::common::assets() else { return };
    let corners = |path: &str| {
        let made = scene(std::fs::read(assets.join(path)).unwrap());
        let node = made.nodes.iter().position(|node| node.mesh.is_some()).unwrap();
        let primitive = &made.meshes[made.nodes[node].mesh.unwrap() as usize].primitives[0];
        let corner = |&index: &u32| {
            let thousandths = in_world(&made, node, primitive.position[index as usize]).map(|v| v * 1000.0);
            thousandths.map(|v| v.round() as i32)
        };
        let mut triangles: Vec<_> = primitive
            .indices
            .chunks_exact(3)
            .map(|triangle| {
                let mut corners = [corner(&triangle[0]), corner(&triangle[1]), corner(&triangle[2])];
                let first = (0..3).min_by_key(|&k| corners[k]).unwrap();
                corners.rotate_left(first);
                corners
            })
            .collect();
        triangles.sort_unstable();
        triangles
    };
    let (plain, packed) = (corners("Box/Box.glb"), corners("BoxMeshopt/BoxMeshopt.glb"));
    assert_eq!(plain.len(), 12);
    assert_eq!(plain, packed, "corners in thousandths, triangles by their smallest corner");
}
