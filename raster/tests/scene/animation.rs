//! Animations: keys, interpolations, targets.

use isoframe_raster::scene::{ChannelPath, Interpolation};
use serde_json::{Value, json};

use crate::common::gltf::{Gltf, I8, I16, U16, i16_bytes, u16_bytes};
use crate::{check_refused, scene};

/// A node moved along `path` by these keys; `edit` may still change the file.
fn animated(path: &str, interpolation: Value, times: &[f32], kind: &str, values: &[f32]) -> Gltf {
    let mut file = Gltf::triangle();
    let input = file.floats("SCALAR", times);
    let output = file.floats(kind, values);
    let mut sampler = json!({ "input": input, "output": output });
    if !interpolation.is_null() {
        sampler["interpolation"] = interpolation;
    }
    let channel = json!({ "sampler": 0, "target": { "node": 0, "path": path } });
    file.push("animations", json!({ "name": "move", "samplers": [sampler], "channels": [channel] }));
    file
}

#[test]
fn keys_of_every_interpolation() {
    for (name, interpolation, copies) in [
        (Value::Null, Interpolation::Linear, 1),
        (json!("LINEAR"), Interpolation::Linear, 1),
        (json!("STEP"), Interpolation::Step, 1),
        (json!("CUBICSPLINE"), Interpolation::CubicSpline, 3),
    ] {
        let values: Vec<f32> = (0..6 * copies).map(|value| value as f32).collect();
        let made = scene(animated("translation", name, &[1.0, 3.0], "VEC3", &values).glb());
        let animation = &made.animations[0];
        let channel = &animation.channels[0];
        assert_eq!(
            (channel.node, channel.path, channel.interpolation),
            (0, ChannelPath::Translation, interpolation)
        );
        assert_eq!((channel.times_s.as_slice(), channel.values.as_slice()), (&[1.0, 3.0][..], &values[..]));
        assert_eq!((channel.width, animation.duration_s, animation.name.as_str()), (3, 3.0, "move"));
    }
}

#[test]
fn rotations_and_weights_as_integers() {
    let mut file =
        animated("rotation", Value::Null, &[0.0, 1.0], "VEC4", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0]);
    let shorts = i16_bytes(&[0, 0, 0, 32767, 0, 0, -32768, 16384]);
    let output = file.normalized("VEC4", I16, 2, &shorts);
    file.json["animations"][0]["samplers"][0]["output"] = json!(output);
    let made = scene(file.glb());
    assert_eq!(
        made.animations[0].channels[0].values,
        [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, -1.0, 16384.0 / 32767.0]
    );
    let output = file.normalized("VEC4", I8, 2, &[0, 0, 0, 127, 0, 127, 0, 0]);
    file.json["animations"][0]["samplers"][0]["output"] = json!(output);
    assert_eq!(scene(file.glb()).animations[0].channels[0].values[5], 1.0);

    // Two targets: width 2, values of one key side by side.
    let mut file = animated("weights", Value::Null, &[0.0, 1.0], "SCALAR", &[0.0; 4]);
    let delta = file.floats("VEC3", &[0.0; 9]);
    file.json["meshes"][0]["primitives"][0]["targets"] =
        json!([{ "POSITION": delta }, { "POSITION": delta }]);
    let output = file.normalized("SCALAR", U16, 4, &u16_bytes(&[0, 65535, 13107, 0]));
    file.json["animations"][0]["samplers"][0]["output"] = json!(output);
    let made = scene(file.glb());
    let channel = &made.animations[0].channels[0];
    assert_eq!((channel.width, channel.values.as_slice()), (2, &[0.0, 1.0, 0.2, 0.0][..]));
}

#[test]
fn broken_animations() {
    let still = |times: &[f32], values: usize| {
        animated("translation", Value::Null, times, "VEC3", &vec![0.0; values])
    };
    let edit = |change: &dyn Fn(&mut Value)| {
        let mut file = still(&[0.0, 1.0], 6);
        change(&mut file.json);
        file
    };
    let channel = "/animations/0/channels/0";
    let set = |pointer: &'static str, value: Value| {
        edit(&move |json| *json.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value.clone())
    };
    let matrix = json!({ "mesh": 0, "matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1] });
    let twice = json!([
        { "sampler": 0, "target": { "node": 0, "path": "scale" } },
        { "sampler": 0, "target": { "node": 0, "path": "scale" } },
    ]);
    let zero = animated("rotation", Value::Null, &[0.0], "VEC4", &[0.0; 4]);
    assert!(channel.starts_with("/animations"));
    let cases: Vec<(&str, Gltf, &str, &str)> = vec![
        ("equal times", still(&[0.0, 1.0, 1.0], 9), "animation-times", "animation 0 channel 0 input: time 2"),
        ("falling times", still(&[1.0, 0.5], 6), "animation-times", "time 1"),
        ("negative time", still(&[-1.0, 0.5], 6), "value-out-of-range", "animation 0 channel 0 input"),
        ("NaN time", still(&[0.0, f32::NAN], 6), "not-finite", "animation 0 channel 0 input"),
        (
            "short output",
            still(&[0.0, 1.0, 2.0], 6),
            "count-mismatch",
            "animation 0 channel 0 output: 3 expected, 2 found",
        ),
        ("long output", still(&[0.0], 6), "count-mismatch", "1 expected, 2 found"),
        (
            "no tangents",
            set(
                "/animations/0/samplers/0",
                json!({ "input": 1, "output": 2, "interpolation": "CUBICSPLINE" }),
            ),
            "count-mismatch",
            "6 expected, 2 found",
        ),
        (
            "interpolation",
            set("/animations/0/samplers/0", json!({ "input": 1, "output": 2, "interpolation": "SPLINE" })),
            "accessor-format",
            "SPLINE",
        ),
        (
            "no sampler",
            set("/animations/0/channels/0/sampler", json!(1)),
            "unresolved-reference",
            "sampler 1",
        ),
        ("no node", set("/animations/0/channels/0/target/node", json!(7)), "unresolved-reference", "node 7"),
        (
            "no input",
            set("/animations/0/samplers/0/input", json!(70)),
            "unresolved-reference",
            "animation 0 sampler 0 input: accessor 70",
        ),
        (
            "input of vectors",
            set("/animations/0/samplers/0/input", json!(0)),
            "accessor-format",
            "animation 0 sampler 0 input",
        ),
        (
            "output of scalars",
            set("/animations/0/samplers/0/output", json!(1)),
            "accessor-format",
            "animation 0 channel 0 output",
        ),
        (
            "weights without targets",
            set("/animations/0/channels/0/target/path", json!("weights")),
            "invalid-structure",
            "no morph targets",
        ),
        ("matrix", set("/nodes/0", matrix), "invalid-structure", "a node with a matrix cannot be animated"),
        ("same property twice", set("/animations/0/channels", twice), "invalid-structure", "same property"),
        ("rotation of no length", zero, "value-out-of-range", "animation 0 channel 0 output key 0"),
        (
            "far away",
            animated("translation", Value::Null, &[0.0], "VEC3", &[0.0, 1e30, 0.0]),
            "limit-exceeded",
            "coordinate",
        ),
    ];
    for (name, file, code, says) in cases {
        check_refused(name, file.glb(), code, says);
    }
}

#[test]
fn channels_without_effect_are_left_out() {
    let mut file = animated("translation", Value::Null, &[0.0, 1.0], "VEC3", &[0.0; 6]);
    let outside = file.child(json!({}));
    file.json["animations"][0]["channels"] = json!([
        { "sampler": 0, "target": { "path": "translation" } },
        { "sampler": 0, "target": { "node": outside, "path": "translation" } },
        { "sampler": 0, "target": { "path": "pointer", "extensions": { "KHR_animation_pointer": {} } } },
        { "sampler": 0, "target": { "node": 0, "path": "scale" } },
    ]);
    let made = scene(file.glb());
    assert_eq!(made.animations[0].channels.len(), 1);
    assert_eq!(made.animations[0].channels[0].path, ChannelPath::Scale);
    assert!(
        made.notes.contains(&"animation 0 channel 2 moves pointer, which is ignored".to_owned()),
        "{:?}",
        made.notes
    );
}
