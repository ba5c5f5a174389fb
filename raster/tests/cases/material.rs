//! What materials make of pixels: CASES B10, B26, R12.

use crate::common::gltf::{F32, Gltf, TRIANGLE, U8, f32_bytes, png};
use crate::rendered::*;
use isoframe_raster::frame::*;
use serde_json::{Value, json};

const UNLIT: &str = "KHR_materials_unlit";

fn unlit(file: &mut Gltf, mut material: Value) -> u32 {
    file.uses(UNLIT);
    material["extensions"] = json!({ UNLIT: {} });
    file.push("materials", material)
}

/// A triangle with COLOR_0, unlit.
fn colored(color: impl FnOnce(&mut Gltf) -> u32) -> Vec<u8> {
    let mut file = Gltf::triangle();
    let color = color(&mut file);
    let material = unlit(&mut file, json!({}));
    let primitive = &mut file.json["meshes"][0]["primitives"][0];
    primitive["attributes"]["COLOR_0"] = json!(color);
    primitive["material"] = json!(material);
    file.glb()
}

/// CASES B10. 128 / 255 linear is 0.7353 in sRGB by IEC 61966-2-1 (1.055 * 0.50196^(1/2.4) - 0.055), times 255 is
/// 187.5: the 188 that CASES gives.
#[test]
fn vertex_colors_are_linear_fractions() {
    let request = FrameRequest { camera: facing([0.25, 0.25, 2.0]), ..plain(64, 64) };
    let interleaved = {
        let mut file = Gltf::new();
        let rows: Vec<u8> = TRIANGLE
            .chunks_exact(3)
            .flat_map(|position| [f32_bytes(position), vec![255, 128, 0, 77]].concat())
            .collect();
        let view = file.view(&rows);
        file.json["bufferViews"][view as usize]["byteStride"] = json!(16);
        let position = file.push(
            "accessors",
            json!({ "bufferView": view, "componentType": F32, "type": "VEC3", "count": 3 }),
        );
        let color = file.push(
            "accessors",
            json!({
                "bufferView": view, "byteOffset": 12, "componentType": U8, "normalized": true, "type": "VEC3", "count": 3
            }),
        );
        let material = unlit(&mut file, json!({}));
        let attributes = json!({ "POSITION": position, "COLOR_0": color });
        let mesh = file.mesh(json!({ "attributes": attributes, "material": material }));
        file.node(json!({ "mesh": mesh }));
        render(&ready(file.glb()), &request)
    };
    let floats = |values: &[f32], kind: &'static str| {
        let values = values.repeat(3);
        render(&ready(colored(|file| file.floats(kind, &values))), &request)
    };
    assert_same(&interleaved, &floats(&[1.0, 128.0 / 255.0, 0.0], "VEC3"), "bytes and floats");
    assert_eq!(pixel(&interleaved, 32, 32).srgb, [255, 188, 0, 255]);

    let clamped = floats(&[2.0, -1.0, 0.5, 3.0], "VEC4");
    assert_same(&clamped, &floats(&[1.0, 0.0, 0.5, 1.0], "VEC4"), "clamped to 0 to 1");
    assert_same(&floats(&[0.2, 0.4, 0.6], "VEC3"), &floats(&[0.2, 0.4, 0.6, 1.0], "VEC4"), "no alpha is 1");
}

/// A square of half size 1 facing +Z at a depth from a camera at the origin, its vertices' alpha given.
fn pane(file: &mut Gltf, z: f32, half: f32, alpha: f32, material: u32) {
    let corners = [[-half, -half, z], [half, -half, z], [half, half, z], [-half, half, z]];
    let position = file.floats("VEC3", &corners.concat());
    let color = file.floats("VEC4", &[1.0, 1.0, 1.0, alpha].repeat(4));
    let indices = file.indices(&[0, 1, 2, 0, 2, 3]);
    let attributes = json!({ "POSITION": position, "COLOR_0": color });
    let mesh = file.mesh(json!({ "attributes": attributes, "indices": indices, "material": material }));
    file.node(json!({ "mesh": mesh }));
}

struct Alpha {
    name: &'static str,
    material: Value,
    alpha: f32,
    /// Depth that the middle shows: 2 is the pane, 4 the wall behind it.
    depth: f32,
}

/// CASES B26. BLEND writes no depth, motion or id: data outputs show the nearest opaque surface.
#[test]
fn masks_decide_all_outputs_alike() {
    let mask = || json!({ "alphaMode": "MASK", "alphaCutoff": 0.5 });
    let cases = [
        Alpha { name: "below", material: mask(), alpha: 0.4, depth: 4.0 },
        Alpha { name: "at", material: mask(), alpha: 0.5, depth: 2.0 },
        Alpha { name: "above", material: mask(), alpha: 0.6, depth: 2.0 },
        Alpha { name: "below the default", material: json!({ "alphaMode": "MASK" }), alpha: 0.4, depth: 4.0 },
        Alpha { name: "at the default", material: json!({ "alphaMode": "MASK" }), alpha: 0.5, depth: 2.0 },
        Alpha { name: "above the default", material: json!({ "alphaMode": "MASK" }), alpha: 0.6, depth: 2.0 },
        Alpha {
            name: "a cutoff above 1",
            material: json!({ "alphaMode": "MASK", "alphaCutoff": 1.5 }),
            alpha: 1.0,
            depth: 4.0,
        },
        Alpha {
            name: "a cutoff of 0",
            material: json!({ "alphaMode": "MASK", "alphaCutoff": 0.0 }),
            alpha: 0.0,
            depth: 2.0,
        },
        Alpha { name: "opaque", material: json!({ "alphaMode": "OPAQUE" }), alpha: 0.0, depth: 2.0 },
        Alpha { name: "opaque by default", material: json!({}), alpha: 0.0, depth: 2.0 },
        Alpha { name: "blend", material: json!({ "alphaMode": "BLEND" }), alpha: 0.9, depth: 4.0 },
    ];
    // 0.1 to the right: 32 pixels a unit at distance 1 make 1.6 and 0.8 pixels at 2 and 4.
    let request = FrameRequest {
        camera: facing([0.1, 0.0, 0.0]),
        previous_camera: Some(facing([0.0, 0.0, 0.0])),
        ..plain(64, 64)
    };
    for case in cases {
        for samples in [1, 4] {
            let mut file = Gltf::new();
            let wall = unlit(&mut file, json!({}));
            let material = unlit(&mut file, case.material.clone());
            pane(&mut file, -2.0, 1.0, case.alpha, material);
            pane(&mut file, -4.0, 4.0, 1.0, wall);
            let frame = render(&ready(file.glb()), &FrameRequest { samples, ..request.clone() });
            let pixel = pixel(&frame, 32, 32);
            assert!((pixel.depth - case.depth).abs() < 1e-5, "{}: {pixel:?}", case.name);
            assert_eq!(pixel.id, [if case.depth == 2.0 { 1 } else { 2 }, 1], "{}", case.name);
            assert!((pixel.motion[0] - 3.2 / case.depth).abs() < 1e-3, "{}: {pixel:?}", case.name);
            assert_eq!(pixel.srgb, [255; 4], "{}: white before white", case.name);
        }
    }
}

/// `>=` at equality, for cutoffs that binary does not hold, whatever the alpha comes from: a factor, or texels
/// of n / 255.
#[test]
fn alpha_at_the_cutoff_passes() {
    let shown = |material: &dyn Fn(&mut Gltf) -> Value| {
        let mut file = Gltf::new();
        let material = material(&mut file);
        let material = unlit(&mut file, material);
        pane(&mut file, -2.0, 1.0, 1.0, material);
        let corners = file.floats("VEC2", &[0.1, 0.3, 2.7, 0.2, 2.9, 1.8, 0.2, 1.9]);
        file.json["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"] = json!(corners);
        let frame = render(&ready(file.glb()), &FrameRequest { camera: facing([0.0; 3]), ..plain(64, 64) });
        pixels(&frame).filter(|(.., pixel)| pixel.id != [0, 0]).count()
    };
    for hundredths in (5..100).step_by(5) {
        let cutoff = hundredths as f32 / 100.0;
        let factor = json!({ "baseColorFactor": [1.0, 1.0, 1.0, cutoff] });
        let material = json!({ "alphaMode": "MASK", "alphaCutoff": cutoff, "pbrMetallicRoughness": factor });
        // Half the height: 32 by 32 pixels.
        assert_eq!(shown(&|_| material.clone()), 1024, "cutoff {cutoff}");
    }
    for code in [1u8, 51, 77, 102, 128, 153, 204, 254, 255] {
        let cutoff = f32::from(code) / 255.0;
        let count = shown(&|file| {
            let texture = file.texture(&png(4, 4, [255, 255, 255, code]));
            let textured = json!({ "baseColorTexture": { "index": texture } });
            json!({ "alphaMode": "MASK", "alphaCutoff": cutoff, "pbrMetallicRoughness": textured })
        });
        assert_eq!(count, 1024, "texels of {code}");
    }
}

/// BLEND takes no notice of a cutoff.
#[test]
fn blending_ignores_the_cutoff() {
    let file = |material: Value| {
        let mut file = Gltf::new();
        let wall =
            unlit(&mut file, json!({ "pbrMetallicRoughness": { "baseColorFactor": [0.0, 0.0, 0.0, 1.0] } }));
        let material = unlit(&mut file, material);
        pane(&mut file, -2.0, 1.0, 0.25, material);
        pane(&mut file, -4.0, 4.0, 1.0, wall);
        render(&ready(file.glb()), &FrameRequest { camera: facing([0.0; 3]), ..plain(32, 32) })
    };
    let plainly = file(json!({ "alphaMode": "BLEND" }));
    let base = pixel(&plainly, 16, 16).base;
    // Vertex colours are kept in 16 bits.
    assert!((base[0] - 0.25).abs() < 1e-5, "a quarter of white over black: {base:?}");
    assert_same(&plainly, &file(json!({ "alphaMode": "BLEND", "alphaCutoff": 0.5 })), "with a cutoff");
}

/// CASES R12: what is blended is ordered by where it is, not by its node or its place in the file. Red nearer
/// than green, both half transparent over black: 0.5 red, 0.5 * 0.5 green.
#[test]
fn blended_surfaces_are_ordered_by_depth() {
    let file = |order: [usize; 2], baked: bool| {
        let mut file = Gltf::new();
        let colors = [[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0]];
        let materials = colors.map(|color| {
            let material =
                json!({ "alphaMode": "BLEND", "pbrMetallicRoughness": { "baseColorFactor": color } });
            unlit(&mut file, material)
        });
        let wall =
            unlit(&mut file, json!({ "pbrMetallicRoughness": { "baseColorFactor": [0.0, 0.0, 0.0, 1.0] } }));
        pane(&mut file, -5.0, 9.0, 1.0, wall);
        for which in order {
            let z = [-2.0, -3.0][which];
            pane(&mut file, if baked { z } else { 0.0 }, 1.0, 0.5, materials[which]);
            if !baked {
                let last = file.json["nodes"].as_array().expect("nodes").len() - 1;
                file.json["nodes"][last]["translation"] = json!([0.0, 0.0, z]);
            }
        }
        render(&ready(file.glb()), &FrameRequest { camera: facing([0.0; 3]), samples: 4, ..plain(48, 48) })
    };
    let expected = file([0, 1], true);
    let base = pixel(&expected, 24, 24).base;
    // Vertex colours are kept in 16 bits.
    assert!((base[0] - 0.5).abs() < 1e-5 && (base[1] - 0.25).abs() < 1e-5 && base[2] == 0.0, "{base:?}");
    for (order, baked) in [([1, 0], true), ([0, 1], false), ([1, 0], false)] {
        assert_same(&file(order, baked), &expected, &format!("order {order:?}, baked {baked}"));
    }
}
