//! Nodes, scenes, cameras, lights.

use isoframe_raster::scene::{CameraKind, LightKind, Limits, Transform};
use serde_json::json;

use crate::common::gltf::Gltf;
use crate::{check_refused, load_within, scene};

fn nodes(list: serde_json::Value, roots: serde_json::Value) -> Vec<u8> {
    let mut file = Gltf::new();
    file.json["nodes"] = list;
    file.json["scenes"] = json!([{ "nodes": roots }]);
    file.glb()
}

#[test]
fn graphs_that_are_no_trees() {
    // B17 (1 to 3) and their kin.
    let c = |children: serde_json::Value| json!({ "children": children });
    let leaf = json!({});
    let cases = [
        ("0 -> 1 -> 0", json!([c(json!([1])), c(json!([0]))]), json!([0]), "node-cycle", "its own ancestor"),
        ("its own child", json!([c(json!([0]))]), json!([0]), "node-cycle", "node 0"),
        ("cycle apart", json!([leaf, c(json!([2])), c(json!([1]))]), json!([0]), "node-cycle", "node"),
        (
            "below a cycle",
            json!([leaf, c(json!([2])), c(json!([1, 3])), leaf]),
            json!([0]),
            "node-cycle",
            "node",
        ),
        (
            "two parents",
            json!([c(json!([2])), c(json!([2])), leaf]),
            json!([0, 1]),
            "node-two-parents",
            "node 2",
        ),
        ("a child twice", json!([c(json!([1, 1])), leaf]), json!([0]), "node-two-parents", "node 1"),
        ("a root with a parent", json!([c(json!([1])), leaf]), json!([0, 1]), "node-two-parents", "node 1"),
        ("a root twice", json!([leaf]), json!([0, 0]), "node-two-parents", "node 0"),
        ("no such child", json!([c(json!([5]))]), json!([0]), "unresolved-reference", "node 5"),
        ("no such root", json!([leaf]), json!([5]), "unresolved-reference", "scene 0 nodes: node 5"),
    ];
    for (name, list, roots, code, says) in cases {
        check_refused(name, nodes(list, roots), code, says);
    }
}

#[test]
fn a_chain_of_100_000_nodes() {
    // B17 (4): a bounded refusal; with the limit raised, it loads without recursion.
    let count = 100_000;
    let chain: Vec<_> = (0..count)
        .map(|index| if index + 1 < count { json!({ "children": [index + 1] }) } else { json!({}) })
        .collect();
    let bytes = nodes(json!(chain), json!([0]));
    check_refused("default", bytes.clone(), "limit-exceeded", "node_depth = 4096");
    let made = load_within(bytes, &Limits { node_depth: 100_000, ..Limits::default() }).unwrap();
    assert_eq!(made.nodes.len(), count);
    assert_eq!(made.nodes[count - 1].parent, Some(count as u32 - 2));
}

#[test]
fn files_that_draw_nothing_load() {
    // B17 (6).
    let cases = [
        ("no nodes", json!({ "asset": { "version": "2.0" }, "scenes": [{}] })),
        ("empty list", json!({ "asset": { "version": "2.0" }, "scenes": [{ "nodes": [] }], "nodes": [] })),
        ("no scenes", json!({ "asset": { "version": "2.0" } })),
        (
            "no scenes, but nodes",
            json!({ "asset": { "version": "2.0" }, "nodes": [{}, { "children": [0] }] }),
        ),
    ];
    for (name, json) in cases {
        let made = scene(json.to_string());
        assert!(made.nodes.is_empty(), "{name}");
        assert_eq!(made.notes.is_empty(), name != "no scenes, but nodes", "{name}: {:?}", made.notes);
    }
}

#[test]
fn the_scene_that_is_asked_for() {
    let mut file = Gltf::new();
    file.json["nodes"] = json!([{ "name": "a" }, { "name": "b" }]);
    file.json["scenes"] = json!([{ "nodes": [0] }, { "nodes": [1] }]);
    for (index, name) in [(json!(0), "a"), (json!(1), "b"), (json!(null), "a")] {
        file.json["scene"] = index;
        assert_eq!(scene(file.glb()).nodes[0].name, name);
    }
    file.json["scene"] = json!(2);
    check_refused("no such scene", file.glb(), "unresolved-reference", "scene 2 does not exist (2 present)");
}

#[test]
fn parents_come_before_children_in_the_files_order() {
    // 4 is the root of 1 and 0; 3 stands alone; 2 belongs to 3.
    let list = json!([{}, {}, {}, { "children": [2] }, { "children": [1, 0] }]);
    let made = scene(nodes(list, json!([4, 3])));
    let order: Vec<u32> = made.nodes.iter().map(|node| node.gltf_index).collect();
    assert_eq!(order, [3, 2, 4, 0, 1]);
    let parents: Vec<Option<u32>> = made.nodes.iter().map(|node| node.parent).collect();
    assert_eq!(parents, [None, Some(0), None, Some(2), Some(2)]);
}

#[test]
fn transforms() {
    let matrix = json!([1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9, 0, 10, 11, 12, 1]);
    let list = json!([
        { "translation": [1, 2, 3], "rotation": [0, 0, 2, 0], "scale": [0, 1, -1] },
        { "matrix": matrix },
        {},
    ]);
    let made = scene(nodes(list, json!([0, 1, 2])));
    let Transform::Trs(trs) = made.nodes[0].local else { panic!() };
    assert_eq!(
        (trs.translation, trs.rotation, trs.scale),
        ([1.0, 2.0, 3.0], [0.0, 0.0, 1.0, 0.0], [0.0, 1.0, -1.0])
    );
    assert_eq!(
        made.nodes[1].local,
        Transform::Matrix([1., 2., 3., 0., 4., 5., 6., 0., 7., 8., 9., 0., 10., 11., 12., 1.])
    );
    assert_eq!(made.nodes[2].local, Transform::default());
    let cases = [
        ("both", json!({ "matrix": matrix, "scale": [1, 1, 1] }), "invalid-structure", "node 0: it has both"),
        (
            "projective",
            json!({ "matrix": [1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1] }),
            "invalid-structure",
            "last row",
        ),
        ("no rotation", json!({ "rotation": [0, 0, 0, 0] }), "value-out-of-range", "node 0 rotation"),
        (
            "far",
            json!({ "translation": [0, 0, 2e8] }),
            "limit-exceeded",
            "node 0 translation: 200000000 exceeds the limit coordinate",
        ),
        ("skin alone", json!({ "skin": 0 }), "unresolved-reference", "skin"),
        ("weights alone", json!({ "weights": [1] }), "invalid-structure", "weights need a mesh"),
        ("no such mesh", json!({ "mesh": 0 }), "unresolved-reference", "node 0: mesh 0"),
        ("no such camera", json!({ "camera": 0 }), "unresolved-reference", "node 0: camera 0"),
    ];
    for (name, node, code, says) in cases {
        check_refused(name, nodes(json!([node]), json!([0])), code, says);
    }
}

#[test]
fn scenes_that_reach_too_far_are_refused() {
    // Each scale is allowed, their product is not.
    let mut file = Gltf::triangle();
    file.json["nodes"][0]["scale"] = json!([1e5, 1, 1]);
    file.json["nodes"][0]["translation"] = json!([0, 1e3, 0]);
    file.child(json!({ "scale": [1e4, 1, 1], "children": [0] }));
    file.json["scenes"][0]["nodes"] = json!([1]);
    check_refused(
        "product",
        file.glb(),
        "limit-exceeded",
        "node 0 in world space: 1000000000 exceeds the limit coordinate",
    );
    file.json["nodes"][0]["scale"] = json!([1e4, 1, 1]);
    file.json["nodes"][1]["scale"] = json!([1e3, 1, 1]);
    scene(file.glb());
    file.json["nodes"][0]["translation"] = json!([1, 0, 0]);
    scene(file.glb());
    file.json["nodes"][0]["translation"] = json!([1e5, 0, 0]);
    check_refused("mesh", file.glb(), "limit-exceeded", "node 0: its mesh in world space");
    let mut file = Gltf::new();
    let far = file.floats("VEC3", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 3e38, 0.0]);
    file.mesh(json!({ "attributes": { "POSITION": far } }));
    check_refused("vertex", file.glb(), "limit-exceeded", "mesh 0 primitive 0 POSITION");
}

#[test]
fn weights_of_meshes_and_nodes() {
    // B13.
    let mut file = Gltf::triangle();
    let x = file.floats("VEC3", &[1.0, 0.0, 0.0].repeat(3));
    let y = file.floats("VEC3", &[0.0, 1.0, 0.0].repeat(3));
    file.json["meshes"][0]["primitives"][0]["targets"] = json!([{ "POSITION": x }, { "POSITION": y }]);
    file.json["meshes"][0]["weights"] = json!([1, 0]);
    file.node(json!({ "mesh": 0, "weights": [0, 1] }));
    let mut bare = file.json["meshes"][0].clone();
    bare.as_object_mut().unwrap().remove("weights");
    file.push("meshes", bare);
    file.node(json!({ "mesh": 1 }));
    let made = scene(file.glb());
    assert_eq!(made.meshes[0].weights, [1.0, 0.0]);
    assert_eq!(made.meshes[1].weights, [0.0, 0.0], "a mesh without weights is at rest");
    let weights: Vec<_> = made.nodes.iter().map(|node| node.weights.clone()).collect();
    assert_eq!(weights, [None, Some(vec![0.0, 1.0]), None]);
    assert_eq!(made.meshes[0].primitives[0].targets[1].position, [[0.0, 1.0, 0.0]; 3]);
    file.json["nodes"][1]["weights"] = json!([1]);
    check_refused("node", file.glb(), "count-mismatch", "node 1 weights: 2 expected, 1 found");
    file.json["nodes"][1]["weights"] = json!([1, 1]);
    file.json["meshes"][0]["weights"] = json!([1, 1, 1]);
    check_refused("mesh", file.glb(), "count-mismatch", "mesh 0 weights: 2 expected, 3 found");
}

#[test]
fn cameras() {
    // B08: what is not given is not there. R03: half extents, as they are.
    let mut file = Gltf::new();
    file.json["cameras"] = json!([
        { "type": "perspective", "perspective": { "yfov": 1.5, "znear": 0.1 } },
        { "type": "perspective", "perspective": { "yfov": 1, "znear": 0.5, "zfar": 9, "aspectRatio": 2 } },
        { "type": "orthographic", "orthographic": { "xmag": 3, "ymag": -2, "znear": 0, "zfar": 9 } },
    ]);
    file.node(json!({ "camera": 1, "name": "eye" }));
    let made = scene(file.glb());
    let kinds: Vec<_> = made.cameras.iter().map(|camera| camera.kind.clone()).collect();
    assert_eq!(
        kinds,
        [
            CameraKind::Perspective { yfov_rad: 1.5, aspect: None, znear: 0.1, zfar: None },
            CameraKind::Perspective { yfov_rad: 1.0, aspect: Some(2.0), znear: 0.5, zfar: Some(9.0) },
            CameraKind::Orthographic { xmag: 3.0, ymag: 2.0, znear: 0.0, zfar: 9.0 },
        ]
    );
    assert_eq!(made.notes, ["camera 2 ymag is negative, its magnitude is used"]);
    assert_eq!((made.nodes[0].camera, made.nodes[0].name.as_str()), (Some(1), "eye"));
    let lens = |kind: &str, lens: serde_json::Value| json!({ "type": kind, kind: lens });
    let cases = [
        ("no angle", lens("perspective", json!({ "yfov": 0, "znear": 1 })), "yfov"),
        ("no near", lens("perspective", json!({ "yfov": 1, "znear": 0 })), "znear"),
        ("far before near", lens("perspective", json!({ "yfov": 1, "znear": 2, "zfar": 1 })), "zfar"),
        ("no aspect", lens("perspective", json!({ "yfov": 1, "znear": 2, "aspectRatio": 0 })), "aspectRatio"),
        ("no width", lens("orthographic", json!({ "xmag": 0, "ymag": 1, "znear": 0, "zfar": 1 })), "xmag"),
        ("behind", lens("orthographic", json!({ "xmag": 1, "ymag": 1, "znear": -1, "zfar": 1 })), "znear"),
        ("flat", lens("orthographic", json!({ "xmag": 1, "ymag": 1, "znear": 1, "zfar": 1 })), "zfar"),
    ];
    for (name, camera, says) in cases {
        let mut file = Gltf::new();
        file.push("cameras", camera);
        check_refused(name, file.glb(), "value-out-of-range", &format!("camera 0 {says}"));
    }
    let mut file = Gltf::new();
    file.push("cameras", json!({ "type": "perspective" }));
    check_refused("no lens", file.glb(), "invalid-structure", "camera 0");
}

#[test]
fn lights() {
    let mut file = Gltf::new();
    file.require("KHR_lights_punctual");
    file.json["extensions"] = json!({ "KHR_lights_punctual": { "lights": [
        { "type": "point" },
        { "type": "directional", "color": [1, 0.5, 0], "intensity": 3, "name": "sun" },
        { "type": "spot", "range": 4, "spot": { "innerConeAngle": 0.1 } },
        { "type": "spot", "spot": { "innerConeAngle": 0.25, "outerConeAngle": 0.5 } },
    ] } });
    file.node(json!({ "extensions": { "KHR_lights_punctual": { "light": 1 } } }));
    let made = scene(file.glb());
    let (quarter, inner) = (std::f32::consts::FRAC_PI_4, 0.1);
    assert_eq!(made.lights[0].kind, LightKind::Point);
    assert_eq!((made.lights[0].color, made.lights[0].intensity, made.lights[0].range), ([1.0; 3], 1.0, None));
    assert_eq!((made.lights[1].color, made.lights[1].intensity), ([1.0, 0.5, 0.0], 3.0));
    assert_eq!(made.lights[2].kind, LightKind::Spot { inner_cone_rad: inner, outer_cone_rad: quarter });
    assert_eq!(made.lights[2].range, Some(4.0));
    assert_eq!(made.lights[3].kind, LightKind::Spot { inner_cone_rad: 0.25, outer_cone_rad: 0.5 });
    assert_eq!(made.nodes[0].light, Some(1));
    let good = file.clone();
    let light = |edit: serde_json::Value| {
        let mut file = good.clone();
        file.json["extensions"]["KHR_lights_punctual"]["lights"][0] = edit;
        file.glb()
    };
    check_refused("kind", light(json!({ "type": "area" })), "accessor-format", "light 0: area");
    check_refused(
        "dark",
        light(json!({ "type": "point", "intensity": -1 })),
        "value-out-of-range",
        "light 0 intensity",
    );
    let narrow = json!({ "type": "spot", "spot": { "innerConeAngle": 0.9 } });
    check_refused("cone", light(narrow), "value-out-of-range", "light 0 outerConeAngle");
    file.json["nodes"][0]["extensions"]["KHR_lights_punctual"]["light"] = json!(4);
    check_refused(
        "no such light",
        file.glb(),
        "unresolved-reference",
        "node 0: light 4 does not exist (4 present)",
    );
}
