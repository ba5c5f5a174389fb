//! The file's cameras in pixels: CASES B08, R03.

use crate::common::gltf::Gltf;
use crate::rendered::*;
use isoframe_raster::frame::*;
use serde_json::{Value, json};

/// A square facing the camera.
fn square(file: &mut Gltf, centre: [f32; 3], half: f32) {
    let [x, y, z] = centre;
    let corner = |dx: f32, dy: f32| [x + dx * half, y + dy * half, z];
    let corners = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
    let position = file.floats("VEC3", &corners.concat());
    let indices = file.indices(&[0, 1, 2, 0, 2, 3]);
    let mesh = file.mesh(json!({ "attributes": { "POSITION": position }, "indices": indices }));
    file.node(json!({ "mesh": mesh }));
}

fn seen_by(camera: Value) -> Gltf {
    let mut file = Gltf::new();
    file.push("cameras", camera);
    file.node(json!({ "camera": 0 }));
    file
}

/// CASES B08, as it stands there: node 1 is the far square, 2 and 3 are at the top and right edges.
#[test]
fn cameras_without_far_plane_and_aspect() {
    let mut file = seen_by(
        json!({ "type": "perspective", "perspective": { "yfov": std::f32::consts::FRAC_PI_2, "znear": 0.1 } }),
    );
    square(&mut file, [0.0, 0.0, -1e6], 3e6);
    square(&mut file, [0.0, 1.0, -1.0], 0.05);
    square(&mut file, [2.0, 0.0, -1.0], 0.05);
    let frame = render(&ready(file.glb()), &plain(200, 100));
    // A square of 0.1 at distance 1 spans 5 pixels, half of them beyond the edge.
    for (x, y, id, depth) in [
        (50, 75, 2, 1e6),
        (100, 0, 3, 1.0),
        (100, 1, 3, 1.0),
        (100, 3, 2, 1e6),
        (199, 50, 4, 1.0),
        (198, 50, 4, 1.0),
        (196, 50, 2, 1e6),
        (0, 0, 2, 1e6),
        (199, 99, 2, 1e6),
    ] {
        let pixel = pixel(&frame, x, y);
        assert_eq!(pixel.id, [id, 1], "{x}, {y}");
        assert!((pixel.depth / depth - 1.0).abs() < 1e-5, "{x}, {y}: {}", pixel.depth);
    }
}

/// Widths and heights of the one square that is seen. *Units*: pixels.
fn extent(frame: &Frame) -> (u32, u32) {
    let shown = || pixels(frame).filter(|(.., pixel)| pixel.id != [0, 0]);
    let span = |at: &dyn Fn(u32, u32) -> u32| {
        let low = shown().map(|(x, y, _)| at(x, y)).min().expect("something seen");
        let high = shown().map(|(x, y, _)| at(x, y)).max().expect("something seen");
        high - low + 1
    };
    (span(&|x, _| x), span(&|_, y| y))
}

struct Lens {
    name: &'static str,
    camera: Value,
    size_px: (u32, u32),
    /// Pixels that a square of side 1 at distance 2 spans.
    expected_px: u32,
}

/// CASES B08, second run, and R03: squares stay square. A perspective of 90 degrees shows 4 units at distance 2.
#[test]
fn lenses_do_not_stretch() {
    let right_angle = std::f32::consts::FRAC_PI_2;
    let eyes = |aspect: Option<f32>| {
        let mut lens = json!({ "yfov": right_angle, "znear": 0.1, "zfar": 10.0 });
        if let Some(aspect) = aspect {
            lens["aspectRatio"] = json!(aspect);
        }
        json!({ "type": "perspective", "perspective": lens })
    };
    let ortho = |xmag: f32, ymag: f32| json!({ "type": "orthographic", "orthographic": { "xmag": xmag, "ymag": ymag, "znear": 0.0, "zfar": 10.0 } });
    let cases = [
        Lens { name: "no aspect", camera: eyes(None), size_px: (160, 80), expected_px: 20 },
        Lens { name: "aspect 1 in 2:1", camera: eyes(Some(1.0)), size_px: (160, 80), expected_px: 20 },
        Lens { name: "aspect 2 in 1:1", camera: eyes(Some(2.0)), size_px: (80, 80), expected_px: 10 },
        Lens { name: "aspect 1 in 1:2", camera: eyes(Some(1.0)), size_px: (80, 160), expected_px: 20 },
        // Half extents of 2 show 4 units.
        Lens { name: "half extents", camera: ortho(2.0, 2.0), size_px: (80, 80), expected_px: 20 },
        Lens { name: "half extents in 2:1", camera: ortho(2.0, 2.0), size_px: (160, 80), expected_px: 20 },
        Lens { name: "wide extents in 1:1", camera: ortho(4.0, 2.0), size_px: (80, 80), expected_px: 10 },
        Lens { name: "tall extents in 2:1", camera: ortho(1.0, 2.0), size_px: (160, 80), expected_px: 20 },
    ];
    for case in cases {
        let mut file = seen_by(case.camera);
        square(&mut file, [0.0, 0.0, -2.0], 0.5);
        let frame = render(&ready(file.glb()), &plain(case.size_px.0, case.size_px.1));
        assert_eq!(extent(&frame), (case.expected_px, case.expected_px), "{}", case.name);
        let middle = pixel(&frame, case.size_px.0 / 2, case.size_px.1 / 2);
        assert!((middle.depth - 2.0).abs() < 1e-5, "{}: {}", case.name, middle.depth);
    }
}

/// What lies before the near or behind the far plane is not drawn.
#[test]
fn planes_cut() {
    for (name, camera) in [
        (
            "perspective",
            json!({ "type": "perspective", "perspective": { "yfov": 1.0, "znear": 1.0, "zfar": 3.0 } }),
        ),
        (
            "orthographic",
            json!({ "type": "orthographic", "orthographic": { "xmag": 1.0, "ymag": 1.0, "znear": 1.0, "zfar": 3.0 } }),
        ),
    ] {
        for (z, seen) in [(-0.9, false), (-1.1, true), (-2.9, true), (-3.1, false)] {
            let mut file = seen_by(camera.clone());
            square(&mut file, [0.0, 0.0, z], 0.2);
            let middle = pixel(&render(&ready(file.glb()), &plain(32, 32)), 16, 16);
            assert_eq!(middle.id != [0, 0], seen, "{name} at {z}");
        }
    }
}

/// A camera's node may be scaled and mirrored: the picture is neither.
#[test]
fn camera_nodes_are_rigid() {
    let file = |scale: [f32; 3]| {
        let mut file =
            seen_by(json!({ "type": "perspective", "perspective": { "yfov": 1.0, "znear": 0.1 } }));
        file.json["nodes"][0]["scale"] = json!(scale);
        square(&mut file, [0.3, 0.2, -2.0], 0.5);
        ready(file.glb())
    };
    let plainly = render(&file([1.0; 3]), &plain(32, 32));
    for scale in [[3.0, 3.0, 3.0], [0.5, 2.0, 4.0], [-1.0, 1.0, 1.0]] {
        assert_same(&render(&file(scale), &plain(32, 32)), &plainly, &format!("{scale:?}"));
    }
}
