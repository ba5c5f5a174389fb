//! Small scenes made here, so that the tests need no files.

use base64::Engine;
use serde_json::{Value, json};

/// A triangle in the xy plane with a colour made from `variety`, so that each value is another scene.
pub fn triangle(variety: u32) -> Value {
    let positions: [[f32; 3]; 3] = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.0, 0.0]];
    let bytes: Vec<u8> = positions.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
    let data = base64::engine::general_purpose::STANDARD.encode(&bytes);
    let red = f64::from(variety % 997) / 997.0;
    json!({
        "asset": { "version": "2.0" },
        "scene": 0,
        "scenes": [{ "nodes": [0] }],
        "nodes": [{ "mesh": 0, "name": "triangle" }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 }, "material": 0 }] }],
        "materials": [{ "pbrMetallicRoughness": { "baseColorFactor": [red, 0.5, 0.25, 1.0], "metallicFactor": 0.0 } }],
        "accessors": [{
            "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",
            "min": [-1.0, -1.0, 0.0], "max": [1.0, 1.0, 0.0]
        }],
        "bufferViews": [{ "buffer": 0, "byteLength": 36 }],
        "buffers": [{ "byteLength": 36, "uri": format!("data:application/octet-stream;base64,{data}") }]
    })
}

/// The same, spinning about its own y axis within one second.
pub fn spinning(variety: u32) -> Value {
    let mut scene = triangle(variety);
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let times: [f32; 3] = [0.0, 0.5, 1.0];
    let turns: [[f32; 4]; 3] = [[0.0, 0.0, 0.0, 1.0], [0.0, half, 0.0, half], [0.0, 1.0, 0.0, 0.0]];
    let bytes: Vec<u8> =
        times.iter().chain(turns.iter().flatten()).flat_map(|value| value.to_le_bytes()).collect();
    let data = base64::engine::general_purpose::STANDARD.encode(&bytes);
    let push = |scene: &mut Value, list: &str, value: Value| {
        scene[list].as_array_mut().expect("a list").push(value);
    };
    push(
        &mut scene,
        "buffers",
        json!({ "byteLength": 60, "uri": format!("data:application/octet-stream;base64,{data}") }),
    );
    push(&mut scene, "bufferViews", json!({ "buffer": 1, "byteLength": 12 }));
    push(&mut scene, "bufferViews", json!({ "buffer": 1, "byteOffset": 12, "byteLength": 48 }));
    push(
        &mut scene,
        "accessors",
        json!({ "bufferView": 1, "componentType": 5126, "count": 3, "type": "SCALAR", "min": [0.0], "max": [1.0] }),
    );
    push(
        &mut scene,
        "accessors",
        json!({ "bufferView": 2, "componentType": 5126, "count": 3, "type": "VEC4" }),
    );
    scene["animations"] = json!([{
        "name": "spin",
        "channels": [{ "sampler": 0, "target": { "node": 0, "path": "rotation" } }],
        "samplers": [{ "input": 1, "output": 2 }]
    }]);
    scene
}

/// A scene's JSON, filled with spaces to exactly so many bytes.
pub fn padded(scene: &Value, bytes: usize) -> Vec<u8> {
    let mut text = scene.to_string().into_bytes();
    assert!(text.len() <= bytes, "the scene alone has {} bytes", text.len());
    text.resize(bytes, b' ');
    text
}
