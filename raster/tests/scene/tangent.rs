//! Tangents that are made: right where they can be, finite everywhere.

use isoframe_raster::scene::{Primitive, Scene};
use serde_json::json;

use crate::common::gltf::{Gltf, U32, png, u32_bytes};
use crate::scene;

/// Positions, UVs and triangles with a normal-mapped material; normals along +Z.
fn mapped(positions: &[[f32; 3]], uvs: &[[f32; 2]], indices: &[u32]) -> Gltf {
    let mut file = Gltf::new();
    let texture = file.texture(&png(1, 1, [128, 128, 255, 255]));
    file.push("materials", json!({ "normalTexture": { "index": texture } }));
    let position = file.floats("VEC3", positions.as_flattened());
    let normal = file.floats("VEC3", &[0.0, 0.0, 1.0].repeat(positions.len()));
    let uv = file.floats("VEC2", uvs.as_flattened());
    let indices = file.accessor("SCALAR", U32, indices.len(), &u32_bytes(indices));
    let attributes = json!({ "POSITION": position, "NORMAL": normal, "TEXCOORD_0": uv });
    file.mesh(json!({ "attributes": attributes, "indices": indices, "material": 0 }));
    file.node(json!({ "mesh": 0 }));
    file
}

fn first(scene: &Scene) -> &Primitive {
    &scene.meshes[0].primitives[0]
}

const SQUARE: [[f32; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
const BOTH: [u32; 6] = [0, 1, 2, 0, 2, 3];

#[test]
fn tangents_of_a_square() {
    // glTF's v points down: a map that stands upright has u along +X, and +Y of the map is up. Then the bitangent
    // cross(normal, tangent) * w is +Y for w = 1.
    let cases: [(&str, [[f32; 2]; 4], [f32; 4]); 4] = [
        ("upright", [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]], [1.0, 0.0, 0.0, 1.0]),
        ("mirrored", [[1.0, 1.0], [0.0, 1.0], [0.0, 0.0], [1.0, 0.0]], [-1.0, 0.0, 0.0, -1.0]),
        ("upside down", [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], [1.0, 0.0, 0.0, -1.0]),
        // u grows along +Y, v along +X.
        ("turned", [[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]], [0.0, 1.0, 0.0, 1.0]),
    ];
    for (name, uvs, expected) in cases {
        let made = scene(mapped(&SQUARE, &uvs, &BOTH).glb());
        assert_eq!(first(&made).tangent, [expected; 4], "{name}");
        assert_eq!(first(&made).position.len(), 4, "{name}: nothing to split");
    }
}

#[test]
fn given_tangents_are_kept_and_needless_ones_are_not_made() {
    let mut file = mapped(&SQUARE, &[[0.0; 2]; 4], &BOTH);
    let tangent = file.floats("VEC4", &[0.0, 3.0, 0.0, -1.0].repeat(4));
    file.json["meshes"][0]["primitives"][0]["attributes"]["TANGENT"] = json!(tangent);
    assert_eq!(first(&scene(file.glb())).tangent, [[0.0, 1.0, 0.0, -1.0]; 4]);
    file.json["materials"][0] = json!({});
    assert!(first(&scene(file.glb())).tangent.is_empty(), "no normal map, no tangents");
}

#[test]
fn a_variant_with_a_normal_map_gets_tangents() {
    let uvs = [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]];
    let mut file = mapped(&SQUARE, &uvs, &BOTH);
    file.require("KHR_materials_variants");
    file.push("materials", json!({}));
    file.json["extensions"] = json!({ "KHR_materials_variants": { "variants": [{ "name": "bumpy" }] } });
    let primitive = &mut file.json["meshes"][0]["primitives"][0];
    primitive["material"] = json!(1);
    primitive["extensions"] =
        json!({ "KHR_materials_variants": { "mappings": [{ "material": 0, "variants": [0] }] } });
    assert_eq!(first(&scene(file.glb())).tangent, [[1.0, 0.0, 0.0, 1.0]; 4]);
}

#[test]
fn mirrored_halves_split_their_seam() {
    // Two quads share an edge at x = 1; the right one has its map mirrored.
    let positions = [[0., 0., 0.], [1., 0., 0.], [1., 1., 0.], [0., 1., 0.], [2., 0., 0.], [2., 1., 0.]];
    let uvs = [[0., 1.], [1., 1.], [1., 0.], [0., 0.], [0., 1.], [0., 0.]];
    let made = scene(mapped(&positions, &uvs, &[0, 1, 2, 0, 2, 3, 1, 4, 5, 1, 5, 2]).glb());
    let primitive = first(&made);
    assert_eq!(primitive.position.len(), 8, "the two vertices of the seam are there twice");
    for (triangle, expected) in primitive.indices.chunks_exact(3).zip([1.0, 1.0, -1.0, -1.0]) {
        for &index in triangle {
            assert_eq!(primitive.tangent[index as usize], [expected, 0.0, 0.0, expected]);
        }
    }
}

fn check_sound(name: &str, primitive: &Primitive) {
    assert_eq!(primitive.tangent.len(), primitive.position.len(), "{name}");
    for &[x, y, z, w] in &primitive.tangent {
        let length = (x * x + y * y + z * z).sqrt();
        assert!((length - 1.0).abs() < 1e-5 && w.abs() == 1.0, "{name}: {:?}", [x, y, z, w]);
    }
}

#[test]
fn degenerate_maps_and_triangles_give_sound_tangents() {
    // B21 (3, 4).
    let huge = [[0.0, 0.0], [3e38, 0.0], [3e38, -3e38], [0.0, 1e30]];
    let cases: [(&str, [[f32; 3]; 4], [[f32; 2]; 4]); 5] = [
        ("one point", SQUARE, [[0.5, 0.5]; 4]),
        ("a line", SQUARE, [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]),
        ("huge", SQUARE, huge),
        ("points in space", [[1.0, 1.0, 1.0]; 4], [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]]),
        (
            "collinear",
            [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]],
        ),
    ];
    for (name, positions, uvs) in cases {
        check_sound(name, first(&scene(mapped(&positions, &uvs, &BOTH).glb())));
    }
    let mut file = mapped(&SQUARE, &[[0.0; 2]; 4], &BOTH);
    file.json["meshes"][0]["primitives"][0]["attributes"].as_object_mut().unwrap().remove("TEXCOORD_0");
    let made = scene(file.glb());
    check_sound("no map", first(&made));
    assert_eq!(made.notes, ["mesh 0 primitive 0 needs tangents but has no TEXCOORD_0"]);
    let mut file = mapped(&SQUARE, &[[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]], &BOTH);
    file.json["meshes"][0]["primitives"][0]["attributes"].as_object_mut().unwrap().remove("NORMAL");
    check_sound("flat", first(&scene(file.glb())));
}

#[test]
fn a_vertex_of_very_many_triangles_takes_neither_stack_nor_time() {
    // A fan of 200,000 triangles around one vertex: MikkTSpace recurses along it and compares all pairs.
    let count = 200_000u32;
    let mut positions = vec![[0.0, 0.0, 0.0]];
    let mut uvs = vec![[0.0, 0.0]];
    for number in 0..=count {
        let (x, y) = (number as f32 / count as f32, 1.0);
        positions.push([x, y, 0.0]);
        uvs.push([x, -y]);
    }
    let indices: Vec<u32> = (0..count).flat_map(|number| [0, number + 2, number + 1]).collect();
    let started = std::time::Instant::now();
    let made = scene(mapped(&positions, &uvs, &indices).glb());
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
    assert_eq!(made.notes.len(), 1, "{:?}", made.notes);
    assert!(made.notes[0].contains("simple tangents"), "{:?}", made.notes);
    assert_eq!(first(&made).tangent[0], [1.0, 0.0, 0.0, 1.0]);
    check_sound("fan", first(&made));
    // Degenerate triangles beside many good ones: MikkTSpace would search all of those for each.
    let side = 200u32;
    let grid: Vec<[f32; 3]> = (0..side * side).map(|i| [(i % side) as f32, (i / side) as f32, 0.0]).collect();
    let maps: Vec<[f32; 2]> = grid.iter().map(|[x, y, _]| [*x, -*y]).collect();
    let mut indices = Vec::new();
    for i in (0..side * (side - 1)).filter(|i| i % side != side - 1) {
        indices.extend([i, i + 1, i + side, i, i, i, i, i, i + 1]);
    }
    let started = std::time::Instant::now();
    let made = scene(mapped(&grid, &maps, &indices).glb());
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
    assert_eq!(made.notes, [""; 0]);
    check_sound("grid", first(&made));
}

#[test]
fn anisotropy_and_a_coats_normal_map_need_tangents() {
    let uvs = [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]];
    let coat = |strength: f64| {
        json!({ "KHR_materials_clearcoat":
            { "clearcoatFactor": strength, "clearcoatNormalTexture": { "index": 0 } } })
    };
    let cases = [
        ("coat", coat(0.5), true),
        ("no coat", coat(0.0), false),
        ("anisotropy", json!({ "KHR_materials_anisotropy": { "anisotropyStrength": 0.5 } }), true),
        ("no anisotropy", json!({ "KHR_materials_anisotropy": { "anisotropyRotation": 0.5 } }), false),
    ];
    for (name, extensions, needed) in cases {
        let mut file = mapped(&SQUARE, &uvs, &BOTH);
        file.uses("KHR_materials_clearcoat").uses("KHR_materials_anisotropy");
        file.json["materials"][0] = json!({ "extensions": extensions });
        let made = scene(file.glb());
        let expected: &[[f32; 4]] = if needed { &[[1.0, 0.0, 0.0, 1.0]; 4] } else { &[] };
        assert_eq!(first(&made).tangent, expected, "{name}");
    }
}
