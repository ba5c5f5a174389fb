//! Primitive modes, flat normals, vertex sharing.

use isoframe_raster::scene::Topology;
use serde_json::json;

use crate::common::gltf::{F32, Gltf, U8, U32, f32_bytes, u32_bytes};
use crate::{check_refused, primitive, scene};

/// Mode, indices, expected topology, expected list. Lists written out from the equations of 3.7.2.1.
const MODES: &[(u32, &[u16], Topology, &[u32])] = &[
    (0, &[0, 1, 2, 3, 4], Topology::Points, &[0, 1, 2, 3, 4]),
    (1, &[0, 1, 2, 3], Topology::Lines, &[0, 1, 2, 3]),
    (2, &[0, 1, 2, 3, 4], Topology::Lines, &[0, 1, 1, 2, 2, 3, 3, 4, 4, 0]),
    (3, &[0, 1, 2, 3, 4], Topology::Lines, &[0, 1, 1, 2, 2, 3, 3, 4]),
    (4, &[0, 1, 2, 2, 3, 4], Topology::Triangles, &[0, 1, 2, 2, 3, 4]),
    (5, &[0, 1, 2, 3, 4], Topology::Triangles, &[0, 1, 2, 1, 3, 2, 2, 3, 4]),
    (6, &[0, 1, 2, 3, 4], Topology::Triangles, &[1, 2, 0, 2, 3, 0, 3, 4, 0]),
];

/// Five vertices on a parabola, with normals so that they stay shared.
fn parabola(mode: u32, indices: Option<&[u16]>, vertices: usize) -> Vec<u8> {
    let mut file = Gltf::new();
    let positions: Vec<f32> = (0..vertices).flat_map(|i| [i as f32, (i * i) as f32, 0.0]).collect();
    let position = file.floats("VEC3", &positions);
    let normal = file.floats("VEC3", &[0.0, 0.0, 1.0].repeat(vertices));
    let mut primitive = json!({ "attributes": { "POSITION": position, "NORMAL": normal }, "mode": mode });
    if let Some(indices) = indices {
        primitive["indices"] = json!(file.indices(indices));
    }
    let mesh = file.mesh(primitive);
    file.node(json!({ "mesh": mesh }));
    file.glb()
}

#[test]
fn modes_become_lists() {
    for &(mode, indices, topology, list) in MODES {
        let vertices = usize::from(*indices.iter().max().unwrap()) + 1;
        let indexed = primitive(parabola(mode, Some(indices), vertices));
        assert_eq!((indexed.topology, indexed.indices.as_slice()), (topology, list), "mode {mode}");
        assert_eq!(indexed.position[2], [2.0, 4.0, 0.0], "mode {mode}");
        if indices.windows(2).all(|pair| pair[0] + 1 == pair[1]) {
            let plain = primitive(parabola(mode, None, vertices));
            assert_eq!(plain.indices, indexed.indices, "mode {mode} without indices");
        }
    }
}

#[test]
fn counts_must_fit_the_mode() {
    // Mode, number of indices, code.
    let cases = [
        (1, 3, "index-count"),
        (1, 1, "too-few-indices"),
        (2, 1, "too-few-indices"),
        (3, 1, "too-few-indices"),
        (4, 4, "index-count"),
        (4, 2, "too-few-indices"),
        (5, 2, "too-few-indices"),
        (6, 2, "too-few-indices"),
    ];
    for (mode, count, code) in cases {
        let indices: Vec<u16> = (0..count).collect();
        let name = format!("mode {mode}, {count} indices");
        check_refused(&name, parabola(mode, Some(&indices), 5), code, "mesh 0 primitive 0 indices");
        check_refused(&name, parabola(mode, None, usize::from(count)), code, "mesh 0 primitive 0 indices");
    }
    check_refused("mode 7", parabola(7, None, 3), "value-out-of-range", "mode");
}

#[test]
fn points_and_lines_without_normals_stay_without() {
    // R08: drawn unlit, never as triangles.
    for mode in [0, 1, 2, 3] {
        let mut file = Gltf::new();
        let position = file.floats("VEC3", &[0.0; 12]);
        let mesh = file.mesh(json!({ "attributes": { "POSITION": position }, "mode": mode }));
        file.node(json!({ "mesh": mesh }));
        let made = primitive(file.glb());
        assert!(made.normal.is_empty() && made.topology != Topology::Triangles, "mode {mode}");
    }
}

/// A triangle's corners, starting from its smallest, each with its normal.
type Face = [([i32; 3], [i32; 3]); 3];

fn faces(bytes: Vec<u8>) -> Vec<Face> {
    let made = primitive(bytes);
    let corner = |index: u32| {
        let (p, n) = (made.position[index as usize], made.normal[index as usize]);
        // All values of this test are whole.
        (p.map(|v| v as i32), n.map(|v| v as i32))
    };
    let mut faces: Vec<Face> = made
        .indices
        .chunks_exact(3)
        .map(|triangle| {
            let mut face = [corner(triangle[0]), corner(triangle[1]), corner(triangle[2])];
            let first = (0..3).min_by_key(|&k| face[k]).unwrap();
            face.rotate_left(first);
            face
        })
        .collect();
    faces.sort_unstable();
    faces
}

#[test]
fn flat_normals_in_every_mode() {
    // B14. Two triangles at a right angle sharing the edge A B: one in the plane z = 0, one in x = 0.
    let (a, b, c, d) = ([0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]);
    let build = |vertices: &[[f32; 3]], mode: u32, indices: Option<&[u16]>, normals: Option<&[f32]>| {
        let mut file = Gltf::new();
        let position = file.floats("VEC3", vertices.as_flattened());
        let mut attributes = json!({ "POSITION": position });
        match normals {
            Some(normals) => attributes["NORMAL"] = json!(file.floats("VEC3", normals)),
            None => {
                let garbage = file.floats("VEC4", &[0.3, -7.0, 2.0, 1.0].repeat(vertices.len()));
                attributes["TANGENT"] = json!(garbage);
            }
        }
        let mut primitive = json!({ "attributes": attributes, "mode": mode });
        if let Some(indices) = indices {
            primitive["indices"] = json!(file.indices(indices));
        }
        let mesh = file.mesh(primitive);
        file.node(json!({ "mesh": mesh }));
        file.glb()
    };
    // (C, A, B) faces -Z: (A - C) x (B - C) = (-1, 0, 0) x (-1, 1, 0) = (0, 0, -1). (A, D, B) faces -X likewise.
    let explicit: Vec<f32> =
        [[0.0, 0.0, -1.0]; 3].into_iter().chain([[-1.0, 0.0, 0.0]; 3]).flatten().collect();
    let expected = faces(build(&[c, a, b, a, d, b], 4, None, Some(&explicit)));
    assert_eq!(expected.len(), 2);
    let cases = [
        ("indexed", build(&[a, b, c, d], 4, Some(&[2, 0, 1, 0, 3, 1]), None)),
        ("not indexed", build(&[c, a, b, a, d, b], 4, None, None)),
        ("strip", build(&[c, a, b, d], 5, None, None)),
        ("indexed strip", build(&[a, b, c, d], 5, Some(&[2, 0, 1, 3]), None)),
        ("fan", build(&[a, d, b, c], 6, None, None)),
        ("indexed fan", build(&[a, b, c, d], 6, Some(&[0, 3, 1, 2]), None)),
    ];
    for (name, bytes) in cases {
        assert!(primitive(bytes.clone()).tangent.is_empty(), "{name}: garbage TANGENT has no effect");
        assert_eq!(faces(bytes), expected, "{name}");
    }
}

#[test]
fn morph_targets_of_flat_meshes_turn_the_face() {
    let mut file = Gltf::triangle();
    // The target lifts (1,0,0) to (0,0,-1): the face (0,0,0) (0,0,-1) (0,1,0) looks along +X.
    let target = file.floats("VEC3", &[0.0, 0.0, 0.0, -1.0, 0.0, -1.0, 0.0, 0.0, 0.0]);
    file.json["meshes"][0]["primitives"][0]["targets"] = json!([{ "POSITION": target }]);
    let made = primitive(file.glb());
    assert_eq!(made.normal, [[0.0, 0.0, 1.0]; 3]);
    assert_eq!(made.targets[0].normal, [[1.0, 0.0, -1.0]; 3]);
}

#[test]
fn triangles_without_area_are_harmless() {
    // B21 (4): a collinear triangle beside a good one.
    let mut file = Gltf::new();
    let corners = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [2.0, 0.0, 0.0],
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
    ];
    let position = file.floats("VEC3", corners.as_flattened());
    let mesh = file.mesh(json!({ "attributes": { "POSITION": position } }));
    file.node(json!({ "mesh": mesh }));
    let made = primitive(file.glb());
    assert_eq!(made.normal, [[0.0, 0.0, 1.0]; 6], "+Z stands in for the normal of no face");
    assert_eq!(made.indices, [0, 1, 2, 3, 4, 5], "the face stays: ids count primitives");
}

#[test]
fn a_primitive_keeps_only_the_vertices_it_uses() {
    // R09: what nobody draws must not widen the bounds. Vertex 1 of 5 is far away and unused.
    let mut file = Gltf::new();
    let positions = [[0.0, 0.0, 0.0], [1e6, 0.0, 0.0], [1.0, 0.0, 0.0], [9.0, 9.0, 9.0], [0.0, 1.0, 0.0]];
    let position = file.floats("VEC3", positions.as_flattened());
    let normal = file.floats("VEC3", &[0.0, 0.0, 1.0].repeat(5));
    let indices = file.accessor("SCALAR", U8, 3, &[4, 0, 2]);
    let mesh =
        file.mesh(json!({ "attributes": { "POSITION": position, "NORMAL": normal }, "indices": indices }));
    file.node(json!({ "mesh": mesh }));
    let made = primitive(file.glb());
    assert_eq!(made.position, [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
    assert_eq!(made.indices, [2, 0, 1]);
}

#[test]
fn many_primitives_over_one_big_accessor_cost_what_they_draw() {
    // 2000 triangles, each a primitive of its own, over one accessor of 200,000 vertices.
    let mut file = Gltf::new();
    let (vertices, primitives) = (200_000u32, 2000u32);
    let positions: Vec<f32> = (0..vertices).flat_map(|i| [(i % 777) as f32, (i / 777) as f32, 0.0]).collect();
    let position = file.accessor("VEC3", F32, vertices as usize, &f32_bytes(&positions));
    let list: Vec<_> = (0..primitives)
        .map(|number| {
            let first = number * 97;
            let bytes = u32_bytes(&[first, first + 1, first + 777]);
            let indices = file.accessor("SCALAR", U32, 3, &bytes);
            json!({ "attributes": { "POSITION": position }, "indices": indices })
        })
        .collect();
    file.push("meshes", json!({ "primitives": list }));
    file.node(json!({ "mesh": 0 }));
    let started = std::time::Instant::now();
    let made = scene(file.glb());
    assert_eq!(made.meshes[0].primitives.len(), 2000);
    assert!(made.meshes[0].primitives.iter().all(|primitive| primitive.position.len() == 3));
    // Reading all vertices for each primitive would take 2000 times 200,000 of them.
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

#[test]
fn primitives_without_position_are_skipped() {
    let mut file = Gltf::triangle();
    let uv = file.floats("VEC2", &[0.0; 6]);
    let list = file.json["meshes"][0]["primitives"].as_array_mut().unwrap();
    list.insert(0, json!({ "attributes": { "TEXCOORD_0": uv } }));
    let made = scene(file.glb());
    assert_eq!(made.meshes[0].primitives.len(), 1);
    assert_eq!(made.meshes[0].primitives[0].gltf_index, 1, "numbering is the file's");
    assert_eq!(made.notes, ["mesh 0 primitive 0 has no POSITION and draws nothing"]);
}
