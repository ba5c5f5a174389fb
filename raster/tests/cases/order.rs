//! One set of bytes whatever runs beside a render, and rules for ties: CASES B28.

use crate::common::gltf::Gltf;
use crate::rendered::*;
use isoframe_raster::backend::Backend;
use isoframe_raster::frame::*;
use isoframe_raster::prepared::Prepared;
use serde_json::json;

/// Unlit squares at these depths, overlapping in part, every third of them blended; nodes in a shuffled order.
fn crowd(depths: &[f32]) -> Prepared {
    let mut file = Gltf::new();
    file.uses("KHR_materials_unlit");
    let mut nodes = Vec::new();
    for (index, depth) in depths.iter().enumerate() {
        let hue = [index as f32 * 0.37 % 1.0, index as f32 * 0.61 % 1.0, index as f32 * 0.83 % 1.0];
        let alpha = if index % 3 == 0 { 0.4 } else { 1.0 };
        let material = file.push(
            "materials",
            json!({
                "alphaMode": if index % 3 == 0 { "BLEND" } else { "OPAQUE" },
                "pbrMetallicRoughness": { "baseColorFactor": [hue[0], hue[1], hue[2], alpha] },
                "extensions": { "KHR_materials_unlit": {} }
            }),
        );
        let (x, y) = (index as f32 * 0.71 % 2.0 - 1.0, index as f32 * 0.43 % 2.0 - 1.0);
        let corners = [[x, y, 0.0], [x + 1.5, y, 0.0], [x + 1.5, y + 1.5, 0.0], [x, y + 1.5, 0.0]];
        let position = file.floats("VEC3", &corners.concat());
        let indices = file.indices(&[0, 1, 2, 0, 2, 3]);
        let mesh = file.mesh(
            json!({ "attributes": { "POSITION": position }, "indices": indices, "material": material }),
        );
        nodes.push(json!({ "mesh": mesh, "translation": [0.0, 0.0, -depth] }));
    }
    // 7 and 30 have no common divisor: every node once, in a fixed order that is not the file's.
    for step in 0..nodes.len() {
        let at = step * 7 % nodes.len();
        file.node(nodes[at].clone());
    }
    ready(file.glb())
}

fn request() -> FrameRequest {
    FrameRequest { camera: facing([0.2, 0.1, 0.0]), samples: 4, ..plain(160, 96) }
}

/// Equal depths, 50 renders, 1, 4 and 16 threads, other scenes between them and at the same time.
#[test]
fn equal_depths_have_one_answer() {
    let scene = crowd(&[2.0; 30]);
    let other = crowd(&[1.0, 2.0, 3.0, 4.0, 5.0]);
    let backends: Vec<Backend> = [1, 4, 16].into_iter().map(cpu).collect();
    let reference = render_on(&backends[0], &scene, &request());
    assert!(pixels(&reference).filter(|(.., pixel)| pixel.id != [0, 0]).count() > 3000);
    std::thread::scope(|threads| {
        for backend in &backends {
            threads.spawn(|| {
                for round in 0..17 {
                    // Buffers given back hold another scene's pixels.
                    let frame = render_on(backend, &scene, &request());
                    assert_same(&frame, &reference, &format!("round {round}"));
                    backend.recycle(frame);
                    backend.recycle(render_on(backend, &other, &request()));
                }
            });
        }
    });
}

/// The tie rule: of opaque surfaces at one depth, the one that comes first (nodes in scene order, then
/// primitives, then triangles) is seen; of blended ones, it lies on top.
#[test]
fn of_equal_depths_the_first_is_seen() {
    let panes = |blended: bool, order: [usize; 3]| {
        let mut file = Gltf::new();
        file.uses("KHR_materials_unlit");
        let materials = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|[r, g, b]| {
            file.push(
                "materials",
                json!({
                    "alphaMode": if blended { "BLEND" } else { "OPAQUE" },
                    "pbrMetallicRoughness": { "baseColorFactor": [r, g, b, 0.5] },
                    "extensions": { "KHR_materials_unlit": {} }
                }),
            )
        });
        for which in order {
            let corners = [[-1.0f32, -1.0, -2.0], [1.0, -1.0, -2.0], [1.0, 1.0, -2.0], [-1.0, 1.0, -2.0]];
            let position = file.floats("VEC3", &corners.concat());
            let indices = file.indices(&[0, 1, 2, 0, 2, 3]);
            let attributes = json!({ "POSITION": position });
            let material = materials[which];
            let mesh =
                file.mesh(json!({ "attributes": attributes, "indices": indices, "material": material }));
            file.node(json!({ "mesh": mesh }));
        }
        let request = FrameRequest { camera: facing([0.0; 3]), ..plain(32, 32) };
        pixel(&render(&ready(file.glb()), &request), 16, 16)
    };
    for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
        let seen = panes(false, order);
        assert_eq!(seen.id, [1, 1], "{order:?}");
        assert_eq!(seen.base[order[0]], 1.0, "{order:?}: {seen:?}");
        // Half of the first, half of the rest for the second, and so on.
        let blended = panes(true, order).base;
        for (place, share) in [0.5, 0.25, 0.125].into_iter().enumerate() {
            assert!((blended[order[place]] - share).abs() < 1e-6, "{order:?}: {blended:?}");
        }
    }
}

/// A fresh process has other addresses and other hash seeds.
#[test]
fn fresh_processes_agree() {
    let here = hash(&render(&crowd(&[2.0; 30]), &request()));
    for _ in 0..3 {
        let mut child = std::process::Command::new(std::env::current_exe().expect("this test's path"));
        child.args(["--exact", "order::child_renders_once", "--ignored", "--nocapture"]);
        let output = child.output().expect("the child starts");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains(&here), "not {here}: {said}");
    }
}

#[test]
#[ignore = "run by fresh_processes_agree"]
fn child_renders_once() {
    println!("{}", hash(&render(&crowd(&[2.0; 30]), &request())));
}
