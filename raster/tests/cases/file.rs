//! What a file says, seen in its pixels: CASES B07, B13, B18, R05, R06, R07.

use crate::common::gltf::{Gltf, I16, TRIANGLE, U8, data_uri, f32_bytes, i16_bytes, png};
use crate::rendered::*;
use isoframe_raster::frame::*;
use serde_json::{Value, json};

/// Orthographic, eight pixels a unit, the origin in the middle: whole units fall on whole pixels, and all numbers
/// on the way are exact, so that two ways to say the same give the same bits.
fn request() -> FrameRequest {
    FrameRequest { camera: square_on([0.0, 0.0, 4.0], 0.125), samples: 4, ..plain(64, 64) }
}

/// [`TRIANGLE`] moved by this much, by its node.
fn shifted(x: f32, y: f32) -> Frame {
    let mut file = Gltf::triangle();
    file.json["nodes"][0]["translation"] = json!([x, y, 0.0]);
    render(&ready(file.glb()), &request())
}

/// The triangle with attributes and material changed.
fn triangle(change: impl FnOnce(&mut Gltf) -> Value) -> Frame {
    let mut file = Gltf::triangle();
    let primitive = change(&mut file);
    let given = file.json["meshes"][0]["primitives"][0].as_object_mut().expect("an object");
    for (name, value) in primitive.as_object().expect("an object") {
        given.insert(name.clone(), value.clone());
    }
    render(&ready(file.glb()), &request())
}

/// CASES B07 (1 to 3): one textured triangle, however its bytes travel.
#[test]
fn containers_render_the_same() {
    let picture = png(2, 2, [200, 100, 50, 255]);
    let file = |picture_uri: Option<&str>| {
        let mut file = Gltf::triangle();
        let uv = file.floats("VEC2", &[0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
        file.json["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"] = json!(uv);
        file.json["meshes"][0]["primitives"][0]["material"] = json!(0);
        file.uses("KHR_materials_unlit");
        match picture_uri {
            Some(uri) => {
                file.push("images", json!({ "uri": uri }));
                file.push("textures", json!({ "source": 0 }));
            }
            None => {
                file.texture(&picture);
            }
        }
        file.push(
            "materials",
            json!({
                "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } },
                "extensions": { "KHR_materials_unlit": {} }
            }),
        );
        file
    };
    let glb = render(&ready(file(None).glb()), &request());
    // The middle of the triangle, (1/4, 1/4).
    assert_eq!(pixel(&glb, 33, 29).srgb, [200, 100, 50, 255]);
    let uri = data_uri("image/png", &picture);
    let plain = file(None);
    let gltf_buffer = data_uri("application/gltf-buffer", &plain.bin);
    for (name, bytes) in [
        ("octet-stream", plain.gltf()),
        ("gltf-buffer", plain.gltf_with_uri(&gltf_buffer)),
        ("an image in a data URI", file(Some(&uri)).glb()),
        ("everything in data URIs", file(Some(&uri)).gltf()),
    ] {
        assert_same(&render(&ready(bytes), &request()), &glb, name);
    }
}

/// CASES B13: a node's weights come before its mesh's; without either nothing is morphed.
#[test]
fn node_weights_come_before_mesh_weights() {
    let morphed = |mesh_weights: Option<Value>, node_weights: Option<Value>| {
        let mut file = Gltf::triangle();
        let right = file.floats("VEC3", &[1.0, 0.0, 0.0].repeat(3));
        let up = file.floats("VEC3", &[0.0, 1.0, 0.0].repeat(3));
        file.json["meshes"][0]["primitives"][0]["targets"] =
            json!([{ "POSITION": right }, { "POSITION": up }]);
        if let Some(weights) = mesh_weights {
            file.json["meshes"][0]["weights"] = weights;
        }
        if let Some(weights) = node_weights {
            file.json["nodes"][0]["weights"] = weights;
        }
        render(&ready(file.glb()), &request())
    };
    for (name, mesh, node, x, y) in [
        ("the mesh's", Some(json!([1, 0])), None, 1.0, 0.0),
        ("the node's", Some(json!([1, 0])), Some(json!([0, 1])), 0.0, 1.0),
        ("none", None, None, 0.0, 0.0),
        ("the node's alone", None, Some(json!([2, -1])), 2.0, -1.0),
    ] {
        assert_same(&morphed(mesh, node), &shifted(x, y), name);
    }
}

/// CASES B18: a quantized triangle is the triangle.
#[test]
fn quantized_positions_are_positions() {
    let quantized = triangle(|file| {
        file.require("KHR_mesh_quantization");
        // Elements of VEC3 shorts start at multiples of four.
        let corners: Vec<i16> =
            TRIANGLE.chunks_exact(3).flat_map(|p| [p[0] as i16, p[1] as i16, 0, 0]).collect();
        let position = file.accessor("VEC3", I16, 3, &i16_bytes(&corners));
        let view = file.json["bufferViews"].as_array().expect("views").len() - 1;
        file.json["bufferViews"][view]["byteStride"] = json!(8);
        json!({ "attributes": { "POSITION": position } })
    });
    assert_same(&quantized, &shifted(0.0, 0.0), "shorts");
}

/// CASES R05: the left half of the texture is red, the right half green; set 0 points left, set 1 right.
#[test]
fn each_texture_has_its_coordinate_set() {
    let halves = {
        let picture = image::RgbaImage::from_fn(2, 1, |x, _| {
            image::Rgba(if x == 0 { [255, 0, 0, 255] } else { [0, 255, 0, 255] })
        });
        let mut out = std::io::Cursor::new(Vec::new());
        picture.write_to(&mut out, image::ImageFormat::Png).expect("PNG encodes");
        out.into_inner()
    };
    let seen = |set: u32| {
        let frame = triangle(|file| {
            let uv0 = file.floats("VEC2", &[0.25, 0.5].repeat(3));
            let uv1 = file.floats("VEC2", &[0.75, 0.5].repeat(3));
            file.texture(&halves);
            file.push(
                "materials",
                json!({ "pbrMetallicRoughness": { "baseColorTexture": { "index": 0, "texCoord": set } } }),
            );
            json!({
                "attributes": { "POSITION": 0, "TEXCOORD_0": uv0, "TEXCOORD_1": uv1 },
                "material": 0
            })
        });
        pixel(&frame, 33, 29).albedo
    };
    // In the middle of a texel, to the rounding of interpolated coordinates.
    for (set, expected) in [(0, [1.0, 0.0, 0.0]), (1, [0.0, 1.0, 0.0])] {
        let albedo = seen(set);
        assert!((0..3).all(|k| (albedo[k] - expected[k]).abs() < 1e-6), "set {set}: {albedo:?}");
    }
}

/// CASES R06: weights are shares of their sum; without any, the vertex's first joint moves it; a second set
/// counts. Joint 0 stands still, joint 1 is 2 to the right.
#[test]
fn skin_weights_are_shares() {
    let skinned = |sets: &[([u8; 4], [u8; 4])]| {
        let mut file = Gltf::triangle();
        for (set, (joints, weights)) in sets.iter().enumerate() {
            let joints = file.accessor("VEC4", U8, 3, &joints.repeat(3));
            let weights = file.normalized("VEC4", U8, 3, &weights.repeat(3));
            let attributes = &mut file.json["meshes"][0]["primitives"][0]["attributes"];
            attributes[format!("JOINTS_{set}")] = json!(joints);
            attributes[format!("WEIGHTS_{set}")] = json!(weights);
        }
        let joints = [file.node(json!({})), file.node(json!({ "translation": [2, 0, 0] }))];
        file.push("skins", json!({ "joints": joints }));
        file.json["nodes"][0]["skin"] = json!(0);
        let frame = render(&ready(file.glb()), &request());
        assert_finite(&frame, &format!("{sets:?}"));
        frame
    };
    let still = ([0, 0, 0, 0], [0, 0, 0, 0]);
    for (name, sets, x) in [
        ("254 of 255", vec![([0, 1, 0, 0], [127, 127, 0, 0])], 1.0),
        ("all of one", vec![([1, 0, 0, 0], [255, 0, 0, 0])], 2.0),
        ("nothing", vec![([1, 0, 0, 0], [0, 0, 0, 0])], 2.0),
        ("the second set", vec![still, ([0, 1, 0, 0], [0, 255, 0, 0])], 2.0),
        (
            "a quarter in the second set",
            vec![([0, 0, 0, 0], [51, 51, 51, 0]), ([1, 0, 0, 0], [51, 0, 0, 0])],
            0.5,
        ),
    ] {
        let expected = shifted(x, 0.0);
        let frame = skinned(&sets);
        // A share of 1/4 is 51 / 204 in f32, perhaps not to the last bit: coverage and ids are equal, depth is.
        assert!(frame.id == expected.id, "{name}: ids differ");
        assert!(frame.depth == expected.depth, "{name}: depths differ");
        assert!(frame.coverage == expected.coverage, "{name}: coverage differs");
    }
}

/// CASES R07: geometry without a vertex to draw is no reason to stop, alone or beside something.
#[test]
fn empty_geometry_draws_nothing() {
    let empty = |file: &mut Gltf| {
        let normal = file.floats("VEC3", &[0.0, 0.0, 1.0]);
        let mesh = file.mesh(json!({ "attributes": { "NORMAL": normal } }));
        file.node(json!({ "mesh": mesh }));
    };
    let mut alone = Gltf::new();
    empty(&mut alone);
    for camera in [request().camera, CameraChoice::Auto] {
        let frame = render(&ready(alone.glb()), &FrameRequest { camera, ..request() });
        assert!(pixels(&frame).all(|(.., pixel)| pixel.id == [0, 0] && pixel.srgb == [0; 4]));
    }
    let mut beside = Gltf::triangle();
    empty(&mut beside);
    assert_same(&render(&ready(beside.glb()), &request()), &shifted(0.0, 0.0), "beside a triangle");

    // Accessors and views of nothing are refused, not sliced.
    let mut file = Gltf::triangle();
    file.json["accessors"][0]["count"] = json!(0);
    assert!(read(file.glb()).is_err());
    let mut file = Gltf::new();
    let position = file.accessor("VEC3", crate::common::gltf::F32, 3, &f32_bytes(&TRIANGLE));
    file.json["bufferViews"][0]["byteLength"] = json!(0);
    let mesh = file.mesh(json!({ "attributes": { "POSITION": position } }));
    file.node(json!({ "mesh": mesh }));
    assert!(read(file.glb()).is_err());
}
