//! What becomes of geometry on its way to pixels: CASES B01, B14, B21, R04, R08, R11.

use crate::common;
use crate::common::gltf::{Gltf, TRIANGLE};
use crate::rendered::*;
use glam::{DMat4, DVec3};
use isoframe_raster::frame::*;
use serde_json::{Value, json};

/// Pixels that show something.
fn drawn(frame: &Frame) -> usize {
    pixels(frame).filter(|(.., pixel)| pixel.id != [0, 0]).count()
}

struct Mirrored {
    name: &'static str,
    /// Nodes from the root to the mesh.
    scales: &'static [[f32; 3]],
    reversed: bool,
    /// Point on the triangle's image, or none where it must be culled.
    seen_at: Option<[f64; 3]>,
}

const MIRRORED: &[Mirrored] = &[
    Mirrored { name: "plain", scales: &[[1., 1., 1.]], reversed: false, seen_at: Some([0.25, 0.25, 0.0]) },
    Mirrored {
        name: "mirrored in x",
        scales: &[[-1., 1., 1.]],
        reversed: false,
        seen_at: Some([-0.25, 0.25, 0.0]),
    },
    Mirrored {
        name: "mirrored twice, by parent and child",
        scales: &[[-1., 1., 1.], [1., -1., 1.]],
        reversed: false,
        seen_at: Some([-0.25, -0.25, 0.0]),
    },
    Mirrored {
        name: "mirrored twice, by one node",
        scales: &[[-1., -1., 1.]],
        reversed: false,
        seen_at: Some([-0.25, -0.25, 0.0]),
    },
    // It faces away: a mirror in z turns its normal to -Z.
    Mirrored { name: "mirrored in z", scales: &[[1., 1., -1.]], reversed: false, seen_at: None },
    Mirrored { name: "reversed", scales: &[[1., 1., 1.]], reversed: true, seen_at: None },
    Mirrored { name: "reversed and mirrored", scales: &[[-1., 1., 1.]], reversed: true, seen_at: None },
];

/// CASES B01, each alone and all in one file, where the mesh is shared. The camera is 3 away. A mirror does
/// not turn a face over: what was seen before it is seen in it.
#[test]
fn mirrored_nodes_show_the_same_side() {
    let mut all = Gltf::new();
    let position = all.floats("VEC3", &TRIANGLE);
    let meshes = [[0, 1, 2], [0, 2, 1]].map(|indices| {
        let indices = all.indices(&indices);
        all.mesh(json!({ "attributes": { "POSITION": position }, "indices": indices }))
    });
    let request = FrameRequest { camera: facing([0.0, 0.0, 3.0]), ..plain(64, 64) };
    for case in MIRRORED {
        let mut file = all.clone();
        let mut node = json!({ "mesh": meshes[usize::from(case.reversed)] });
        for (depth, scale) in case.scales.iter().rev().enumerate() {
            node["scale"] = json!(scale);
            let last = depth + 1 == case.scales.len();
            let index = if last { file.node(node) } else { file.child(node) };
            node = json!({ "children": [index] });
        }
        let scene = ready(file.glb());
        let frame = render(&scene, &request);
        match case.seen_at {
            Some(point) => {
                let pixel = pixel_of(&scene, &request, &frame, point);
                assert!((pixel.depth - 3.0).abs() < 1e-5, "{}: {pixel:?}", case.name);
                assert!(pixel.normal[2] > 0.999, "{}: it faces the viewer: {pixel:?}", case.name);
            }
            None => assert_eq!(drawn(&frame), 0, "{}", case.name),
        }
    }
    all.node(json!({ "mesh": meshes[0] }));
    all.node(json!({ "mesh": meshes[0], "scale": [-1, 1, 1] }));
    let scene = ready(all.glb());
    let frame = render(&scene, &request);
    for (x, id) in [(0.25, [1, 1]), (-0.25, [2, 1])] {
        assert_eq!(pixel_of(&scene, &request, &frame, [x, 0.25, 0.0]).id, id);
    }
}

/// Corners of two triangles folded by 90 degrees along the edge from corner 2 to corner 0.
const FOLD: [[f32; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, -1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, -1.0]];

/// A folded pair of triangles: corners in this order, with indices or none, drawn in this mode.
fn folded(
    corners: &[usize],
    indices: Option<&[u16]>,
    mode: u32,
    extra: impl FnOnce(&mut Gltf, &mut Value),
) -> Vec<u8> {
    let mut file = Gltf::new();
    let position = file.floats("VEC3", &corners.iter().flat_map(|&corner| FOLD[corner]).collect::<Vec<_>>());
    let mut primitive = json!({ "attributes": { "POSITION": position }, "mode": mode });
    if let Some(indices) = indices {
        primitive["indices"] = json!(file.indices(indices));
    }
    extra(&mut file, &mut primitive);
    let mesh = file.mesh(primitive);
    file.node(json!({ "mesh": mesh }));
    let light = json!({ "lights": [{ "type": "directional", "intensity": 2.0 }] });
    file.json["extensions"] = json!({ "KHR_lights_punctual": light });
    file.uses("KHR_lights_punctual");
    // From the left, above and behind the camera.
    file.node(json!({
        "extensions": { "KHR_lights_punctual": { "light": 0 } },
        "rotation": [-0.25, -0.35, 0.0, 0.9]
    }));
    file.glb()
}

/// CASES B14: without normals faces are flat, whatever the mode and whatever garbage TANGENT holds. By the
/// cross product of its edges the right face's normal is (1, 0, 1) / sqrt(2), the left one's (-1, 0, 1) / sqrt(2).
#[test]
fn faces_without_normals_are_flat() {
    let nothing = |_: &mut Gltf, _: &mut Value| {};
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let reference = folded(&[1, 2, 0, 2, 3, 0], None, 4, |file, primitive| {
        let normals = [[[half, 0.0, half]; 3], [[-half, 0.0, half]; 3]].concat().concat();
        primitive["attributes"]["NORMAL"] = json!(file.floats("VEC3", &normals));
    });
    let request = FrameRequest { camera: facing([0.1, 0.4, 1.5]), samples: 4, ..plain(96, 96) };
    let reference = render(&ready(reference), &request);
    let mut faces = [0; 2];
    for (x, y, pixel) in pixels(&reference).filter(|(.., pixel)| pixel.id != [0, 0]) {
        let face = usize::from(pixel.normal[0] < 0.0);
        let expected = [[half, 0.0, half], [-half, 0.0, half]][face];
        assert!((0..3).all(|k| (pixel.normal[k] - expected[k]).abs() < 1e-5), "{x}, {y}: {pixel:?}");
        faces[face] += 1;
    }
    // Their common edge is 1 tall at distance 1.5, so 32 pixels at 48 a unit; the far corners, at distance 2.5 and
    // 0.9 and 1.1 to the sides, are 20.48 and 17.92 pixels away from it. Half of base times height, in pixels.
    for (count, area_px) in faces.into_iter().zip([327.68, 286.72]) {
        assert!((f64::from(count) - area_px).abs() < 8.0, "{faces:?}");
    }

    let garbage = |file: &mut Gltf, primitive: &mut Value| {
        let tangents =
            [[1.0f32, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, -1.0], [0.6, 0.8, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]];
        primitive["attributes"]["TANGENT"] = json!(file.floats("VEC4", &tangents.concat()));
    };
    let cases = [
        ("indexed", folded(&[0, 1, 2, 3], Some(&[1, 2, 0, 2, 3, 0]), 4, nothing)),
        ("not indexed", folded(&[1, 2, 0, 2, 3, 0], None, 4, nothing)),
        // A strip's triangles are (0, 1, 2) and (1, 3, 2), a fan's (1, 2, 0) and (2, 3, 0).
        ("strip", folded(&[1, 2, 0, 3], None, 5, nothing)),
        ("indexed strip", folded(&[0, 1, 2, 3], Some(&[1, 2, 0, 3]), 5, nothing)),
        ("fan", folded(&[0, 1, 2, 3], None, 6, nothing)),
        ("indexed fan", folded(&[3, 2, 1, 0], Some(&[3, 2, 1, 0]), 6, nothing)),
        ("garbage tangents", folded(&[0, 1, 2, 3], Some(&[1, 2, 0, 2, 3, 0]), 4, garbage)),
    ];
    for (name, file) in cases {
        assert_same(&render(&ready(file), &request), &reference, name);
    }
}

/// CASES R04: (1, 1, 0) / sqrt(2) under scale (2, 1, 1) is (1/2, 1, 0) / |..| = (0.447, 0.894, 0).
#[test]
fn normals_go_by_the_inverse_transpose() {
    for (name, scale, expected) in [
        ("stretched", [2.0, 1.0, 1.0], [0.447_213_6, 0.894_427_2, 0.0]),
        ("stretched and mirrored", [-2.0, 1.0, 1.0], [-0.447_213_6, 0.894_427_2, 0.0]),
        ("small", [2e-4, 1e-4, 1e-4], [0.447_213_6, 0.894_427_2, 0.0]),
        ("large", [2e4, 1e4, 1e4], [0.447_213_6, 0.894_427_2, 0.0]),
    ] {
        let half = std::f32::consts::FRAC_1_SQRT_2;
        let mut file = Gltf::triangle();
        let normals = file.floats("VEC3", &[[half, half, 0.0]; 3].concat());
        file.json["meshes"][0]["primitives"][0]["attributes"]["NORMAL"] = json!(normals);
        file.json["nodes"][0]["scale"] = json!(scale);
        let scene = ready(file.glb());
        let far = scale[1] * 2.0;
        let camera = CameraChoice::Matrix {
            world_from_view: DMat4::from_translation(DVec3::new(0.0, 0.0, far)).to_cols_array(),
            // In proportion, so that it cuts the small one no more than the large one.
            projection: ProjectionChoice::Perspective {
                yfov_rad: std::f64::consts::FRAC_PI_2,
                znear: Some(far * 0.01),
                zfar: None,
            },
        };
        let request = FrameRequest { camera, ..plain(64, 64) };
        let frame = render(&scene, &request);
        let point = [scale[0] * 0.25, scale[1] * 0.25, 0.0];
        let normal = pixel_of(&scene, &request, &frame, point).normal;
        for k in 0..3 {
            assert!((normal[k] - expected[k]).abs() < 1e-4, "{name}: {normal:?}");
        }
    }
}

/// CASES R08: points are single pixels, lines one pixel wide, neither lit nor filled.
#[test]
fn points_and_lines_are_a_pixel_wide() {
    let file = |mode: u32, position: &[f32]| {
        let mut file = Gltf::new();
        let position = file.floats("VEC3", position);
        file.push(
            "materials",
            json!({ "pbrMetallicRoughness": { "baseColorFactor": [1.0, 0.0, 0.0, 1.0] } }),
        );
        let mesh = file.mesh(json!({ "attributes": { "POSITION": position }, "mode": mode, "material": 0 }));
        file.node(json!({ "mesh": mesh }));
        ready(file.glb())
    };
    // Orthographic, ten pixels a unit: (x, y) falls on pixel (32 + 10 x, 32 - 10 y). Points sit at pixel centres.
    let request = FrameRequest { camera: square_on([0.0, 0.0, 5.0], 0.1), ..plain(64, 64) };
    let corners = [-0.95f32, 0.95, 0.0, 1.05, 0.95, 0.0, 1.05, -1.05, 0.0, -0.95, -1.05, 0.0];
    let shown = |frame: &Frame| -> Vec<(u32, u32)> {
        let lit = pixels(frame).filter(|(.., pixel)| pixel.id != [0, 0]);
        lit.inspect(|(.., pixel)| assert_eq!(pixel.srgb, [255, 0, 0, 255], "unlit"))
            .map(|(x, y, _)| (x, y))
            .collect()
    };
    let points = render(&file(0, &corners), &request);
    assert_eq!(shown(&points), [(22, 22), (42, 22), (22, 42), (42, 42)]);
    assert!(pixels(&points).all(|(.., pixel)| pixel.id == [0, 0] || (pixel.depth - 5.0).abs() < 1e-4));

    // A side of 20 pixels and its two half end pixels: 19 to 21 pixels in the row, none beside it.
    let along = |shown: &[(u32, u32)], row: u32| shown.iter().filter(|(_, y)| *y == row).count();
    let lines = shown(&render(&file(1, &corners), &request));
    assert!((19..=21).contains(&along(&lines, 22)) && (19..=21).contains(&along(&lines, 42)), "{lines:?}");
    assert_eq!(lines.len(), along(&lines, 22) + along(&lines, 42), "two lines and nothing else");

    let (strip, closed) =
        (shown(&render(&file(3, &corners), &request)), shown(&render(&file(2, &corners), &request)));
    assert!((57..=63).contains(&strip.len()), "three sides: {}", strip.len());
    assert!((76..=84).contains(&closed.len()), "four sides: {}", closed.len());
    for (x, y) in closed {
        let on = |at: u32| at == 22 || at == 42;
        assert!(on(x) || on(y), "{x}, {y} is on no side");
    }
}

/// A closed box of this half size, its faces wound to be seen from inside, cut into `cuts` squared squares each.
fn room(half: f32, cuts: usize) -> Gltf {
    let mut positions: Vec<f32> = Vec::new();
    for axis in 0..3 {
        for side in [-1.0f32, 1.0] {
            let point = |u: usize, v: usize| {
                let at = |k: usize| (k as f32 / cuts as f32 * 2.0 - 1.0) * half;
                let mut point = [0.0; 3];
                point[axis] = side * half;
                point[(axis + 1) % 3] = at(u);
                point[(axis + 2) % 3] = at(v);
                point
            };
            for (u, v) in (0..cuts).flat_map(|u| (0..cuts).map(move |v| (u, v))) {
                let quad = [point(u, v), point(u + 1, v), point(u + 1, v + 1), point(u, v + 1)];
                // Anticlockwise from outside for side 1, so clockwise order is what shows within.
                let order = if side > 0.0 { [0, 2, 1, 0, 3, 2] } else { [0, 1, 2, 0, 2, 3] };
                positions.extend(order.iter().flat_map(|&corner| quad[corner]));
            }
        }
    }
    let mut file = Gltf::new();
    let position = file.floats("VEC3", &positions);
    let mesh = file.mesh(json!({ "attributes": { "POSITION": position } }));
    file.node(json!({ "mesh": mesh }));
    file
}

/// CASES R11: a closed box around the camera has no hole, however its triangles are clipped.
#[test]
fn closed_rooms_have_no_holes() {
    for (half, cuts) in [(1.0f32, 1), (1.0, 7), (300.0, 1), (10_000.0, 3)] {
        let scene = ready(room(half, cuts).glb());
        for turn in 0..12 {
            let turned = f64::from(turn);
            let eye = DVec3::new(0.37, -0.61, 0.83) * f64::from(half) * (turned / 14.0);
            let world_from_view = DMat4::from_translation(eye)
                * DMat4::from_rotation_y(turned * 0.7)
                * DMat4::from_rotation_x(turned * 1.1)
                * DMat4::from_rotation_z(turned * 0.4);
            for samples in [1, 4] {
                let request = FrameRequest { camera: placed(world_from_view), samples, ..plain(97, 61) };
                let frame = render(&scene, &request);
                for (x, y, pixel) in pixels(&frame) {
                    let name =
                        format!("half {half}, {cuts} cuts, turn {turn}, {samples} samples at {x}, {y}");
                    assert_eq!(pixel.id, [1, 1], "{name}");
                    assert_eq!(pixel.base[3], 1.0, "{name}");
                    assert!(pixel.depth.is_finite() && pixel.depth <= half * 3.5, "{name}: {}", pixel.depth);
                }
            }
        }
    }
}

/// Clipping cuts a triangle into pieces, which stay one surface: a pixel that lies across a cut is shaded at its
/// centre like its neighbours. A floor 0.3 below the eye, at 32 pixels a unit, is 9.6 / y deep y pixels below the
/// horizon.
#[test]
fn clipping_leaves_no_seams() {
    let mut file = Gltf::new();
    let floor = [-500.0f32, -0.3, 500.0, 500.0, -0.3, 500.0, 0.0, -0.3, -2000.0];
    let position = file.floats("VEC3", &floor);
    let mesh = file.mesh(json!({ "attributes": { "POSITION": position } }));
    file.node(json!({ "mesh": mesh }));
    let scene = ready(file.glb());
    for samples in [1, 4, 8, 16] {
        let frame = render(&scene, &FrameRequest { camera: facing([0.0; 3]), samples, ..plain(96, 64) });
        for (x, y, pixel) in pixels(&frame).filter(|(_, y, _)| *y > 32) {
            let depth = 9.6 / (f64::from(y) - 31.5);
            // Means of corners 2000 away are known to 2^-22 of that.
            let off = (f64::from(pixel.depth) - depth).abs();
            assert!(off < 2000.0 / 4_194_304.0, "{samples} samples at {x}, {y}: {} not {depth}", pixel.depth);
        }
    }
}

/// CASES B21 (3 to 7): flat, collapsed and collinear things leave every value finite and others untouched.
#[test]
fn collapsed_things_stay_finite() {
    let request = FrameRequest { camera: facing([0.0, 0.0, 3.0]), samples: 4, ..plain(48, 48) };
    let alone = render(&ready(Gltf::triangle().glb()), &request);
    let beside = |name: &str, more: &dyn Fn(&mut Gltf)| {
        let mut file = Gltf::triangle();
        more(&mut file);
        let frame = render(&ready(file.glb()), &request);
        assert_finite(&frame, name);
        assert_same(&frame, &alone, name);
    };
    beside("a collinear triangle", &|file| {
        let position = file.floats("VEC3", &[0.0, 0.0, 0.5, 0.25, 0.25, 0.5, 1.0, 1.0, 0.5]);
        let mesh = file.mesh(json!({ "attributes": { "POSITION": position } }));
        file.node(json!({ "mesh": mesh }));
    });
    beside("nothing in a node", &|file| {
        file.node(json!({ "mesh": 0, "scale": [0, 0, 0] }));
    });
    beside("nothing in nothing", &|file| {
        let child = file.child(json!({ "mesh": 0, "scale": [0, 0, 0] }));
        file.node(json!({ "children": [child], "scale": [0, 0, 0] }));
    });
    let mut flat = Gltf::triangle();
    flat.json["nodes"][0]["scale"] = json!([1, 0, 1]);
    assert_finite(&render(&ready(flat.glb()), &request), "flat in y");

    let mut mapped = Gltf::triangle();
    let uv = mapped.floats("VEC2", &[0.5; 6]);
    mapped.json["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"] = json!(uv);
    let texture = mapped.texture(&common::gltf::png(2, 2, [200, 100, 230, 255]));
    mapped.push("materials", json!({ "normalTexture": { "index": texture } }));
    mapped.json["meshes"][0]["primitives"][0]["material"] = json!(0);
    let sun = Sun { direction_world: [0.3, -0.4, -0.8], illuminance_lux: 3.0 };
    let lit = FrameRequest { lighting: Lighting { sun: Some(sun), ..request.lighting }, ..request.clone() };
    let frame = render(&ready(mapped.glb()), &lit);
    assert!(drawn(&frame) > 15);
    assert_finite(&frame, "a normal map on one point");
}

/// CASES B17 (6): nothing to draw is a background.
#[test]
fn empty_files_are_background() {
    let mut no_scene = Gltf::triangle();
    no_scene.json.as_object_mut().expect("an object").remove("scenes");
    no_scene.json.as_object_mut().expect("an object").remove("scene");
    for (name, file) in [("no nodes", Gltf::new()), ("no scenes", no_scene)] {
        let frame = render(&ready(file.glb()), &plain(16, 16));
        for (x, y, pixel) in pixels(&frame) {
            assert_eq!(
                (pixel.id, pixel.srgb, pixel.depth),
                ([0, 0], [0; 4], f32::INFINITY),
                "{name} at {x}, {y}"
            );
        }
    }
}
