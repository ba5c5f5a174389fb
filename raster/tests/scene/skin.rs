//! Skins, joints, weights.

use serde_json::json;

use crate::common::gltf::{F32, Gltf, U8, U16, f32_bytes, u16_bytes};
use crate::{check_refused, scene};

/// A triangle on two joints, with these joints and weights per vertex (all three alike).
fn skinned(joints: [u8; 4], weights: [f32; 4]) -> Gltf {
    let mut file = Gltf::triangle();
    let joints = file.accessor("VEC4", U8, 3, &joints.repeat(3));
    let weights = file.floats("VEC4", &weights.repeat(3));
    let attributes = &mut file.json["meshes"][0]["primitives"][0]["attributes"];
    attributes["JOINTS_0"] = json!(joints);
    attributes["WEIGHTS_0"] = json!(weights);
    let first = file.node(json!({}));
    let second = file.node(json!({}));
    file.push("skins", json!({ "joints": [first, second] }));
    file.json["nodes"][0]["skin"] = json!(0);
    file
}

#[test]
fn weights_become_shares() {
    // R06.
    let influences = |file: Gltf| {
        let made = scene(file.glb()).meshes.swap_remove(0).primitives.swap_remove(0);
        (made.joints[2], made.joint_weights[2])
    };
    let cases: [([u8; 4], [f32; 4], [u16; 4], [f32; 4]); 5] = [
        ([1, 0, 0, 0], [1.0, 0.0, 0.0, 0.0], [1, 0, 0, 0], [1.0, 0.0, 0.0, 0.0]),
        ([1, 0, 1, 0], [1.0, 1.0, 2.0, 0.0], [1, 0, 1, 0], [0.25, 0.25, 0.5, 0.0]),
        // Without any weight the first joint moves the vertex.
        ([1, 1, 1, 1], [0.0; 4], [1, 0, 0, 0], [1.0, 0.0, 0.0, 0.0]),
        // Less than nothing is nothing.
        ([0, 1, 0, 0], [-3.0, 2.0, 0.0, 0.0], [0, 1, 0, 0], [0.0, 1.0, 0.0, 0.0]),
        // A joint that does not exist is harmless at weight zero.
        ([0, 200, 0, 0], [1.0, 0.0, 0.0, 0.0], [0, 0, 0, 0], [1.0, 0.0, 0.0, 0.0]),
    ];
    for (joints, weights, expected_joints, expected_weights) in cases {
        let (got_joints, got_weights) = influences(skinned(joints, weights));
        assert_eq!(
            (&got_joints[..4], &got_weights[..4]),
            (&expected_joints[..], &expected_weights[..]),
            "{joints:?} {weights:?}"
        );
        assert_eq!((&got_joints[4..], &got_weights[4..]), (&[0u16; 4][..], &[0.0f32; 4][..]));
    }
    // Bytes that add up to 254 of 255.
    let mut file = skinned([0, 1, 0, 0], [0.0; 4]);
    let bytes = file.normalized("VEC4", U8, 3, &[127, 127, 0, 0].repeat(3));
    file.json["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"] = json!(bytes);
    assert_eq!(influences(file).1[..2], [0.5, 0.5]);
}

#[test]
fn a_second_set_of_joints_counts() {
    let mut file = skinned([0, 1, 0, 1], [0.25, 0.25, 0.0, 0.0]);
    let joints = file.accessor("VEC4", U16, 3, &u16_bytes(&[1, 0, 0, 1].repeat(3)));
    let weights = file.normalized("VEC4", U16, 3, &u16_bytes(&[0, 0, 0, 32768].repeat(3)));
    let attributes = &mut file.json["meshes"][0]["primitives"][0]["attributes"];
    attributes["JOINTS_1"] = json!(joints);
    attributes["WEIGHTS_1"] = json!(weights);
    let made = scene(file.glb()).meshes.swap_remove(0).primitives.swap_remove(0);
    // The sum is 0.5 + 32768 / 65535.
    let sum = 0.5 + f64::from(32768.0f32 / 65535.0);
    let share = |weight: f64| (weight / sum) as f32;
    assert_eq!(made.joints[0], [0, 1, 0, 0, 0, 0, 0, 1]);
    let half = f64::from(32768.0f32 / 65535.0);
    assert_eq!(made.joint_weights[0], [share(0.25), share(0.25), 0.0, 0.0, 0.0, 0.0, 0.0, share(half)]);
}

#[test]
fn inverse_binds() {
    let mut file = skinned([0; 4], [1.0, 0.0, 0.0, 0.0]);
    let identity = [1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1.];
    assert_eq!(scene(file.glb()).skins[0].inverse_bind, [identity; 2], "identity where there are none");
    let mut matrices = [identity, identity, identity];
    (matrices[1][12], matrices[1][3], matrices[2][0]) = (5.0, 1e-6, 9.0);
    let index = file.accessor("MAT4", F32, 3, &f32_bytes(matrices.as_flattened()));
    file.json["skins"][0]["inverseBindMatrices"] = json!(index);
    let skin = scene(file.glb()).skins.swap_remove(0);
    matrices[1][3] = 0.0;
    assert_eq!(
        skin.inverse_bind,
        matrices[..2],
        "more than there are joints is allowed, the last row is made exact"
    );
    file.json["accessors"][index as usize]["count"] = json!(1);
    check_refused("too few", file.glb(), "count-mismatch", "skin 0 inverseBindMatrices: 2 expected, 1 found");
    matrices[0][7] = 0.5;
    let index = file.accessor("MAT4", F32, 3, &f32_bytes(matrices.as_flattened()));
    file.json["skins"][0]["inverseBindMatrices"] = json!(index);
    check_refused("projective", file.glb(), "invalid-structure", "skin 0 inverseBindMatrices element 0");
}

#[test]
fn a_joint_may_be_the_meshs_ancestor() {
    // B17 (5).
    let mut file = skinned([0; 4], [1.0, 0.0, 0.0, 0.0]);
    file.json["nodes"][1]["children"] = json!([0]);
    file.json["scenes"][0]["nodes"] = json!([1, 2]);
    let made = scene(file.glb());
    let mesh = made.nodes.iter().position(|node| node.mesh.is_some()).unwrap();
    assert_eq!(made.nodes[mesh].parent.map(|parent| made.nodes[parent as usize].gltf_index), Some(1));
    assert_eq!(made.skins[0].joints.len(), 2);
}

#[test]
fn broken_skins() {
    let edit = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut file = skinned([0; 4], [1.0, 0.0, 0.0, 0.0]);
        change(&mut file.json);
        file.glb()
    };
    let cases: [(&str, Vec<u8>, &str, &str); 8] = [
        (
            "joint out of range",
            skinned([0, 2, 0, 0], [0.5, 0.5, 0.0, 0.0]).glb(),
            "unresolved-reference",
            "node 0: mesh 0 JOINTS: joint 2 does not exist (2 present)",
        ),
        (
            "no joints",
            edit(&|j| j["skins"][0]["joints"] = json!([])),
            "invalid-structure",
            "skin 0: it has no joints",
        ),
        (
            "no such node",
            edit(&|j| j["skins"][0]["joints"][1] = json!(9)),
            "unresolved-reference",
            "skin 0: node 9",
        ),
        (
            "no such skeleton",
            edit(&|j| j["skins"][0]["skeleton"] = json!(9)),
            "unresolved-reference",
            "skin 0: node 9",
        ),
        (
            "joint twice",
            edit(&|j| j["skins"][0]["joints"][1] = j["skins"][0]["joints"][0].clone()),
            "invalid-structure",
            "a node is a joint twice",
        ),
        (
            "joint outside the scene",
            edit(&|j| j["scenes"][0]["nodes"] = json!([0, 1])),
            "invalid-structure",
            "its joints are not all in the node's scene",
        ),
        (
            "no such skin",
            edit(&|j| j["nodes"][0]["skin"] = json!(1)),
            "unresolved-reference",
            "node 0: skin 1",
        ),
        (
            "weights alone",
            edit(&|j| {
                j["meshes"][0]["primitives"][0]["attributes"].as_object_mut().unwrap().remove("JOINTS_0");
            }),
            "invalid-structure",
            "JOINTS and WEIGHTS come in pairs",
        ),
    ];
    for (name, bytes, code, says) in cases {
        check_refused(name, bytes, code, says);
    }
    let made = scene(edit(&|j| j["nodes"][0]["skin"] = serde_json::Value::Null));
    assert_eq!(made.notes, ["node 0 has a skinned mesh but no skin: drawn as it is at rest"]);
}
