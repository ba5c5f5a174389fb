//! Motion vectors against projections in `f64`: CASES B04, B22, B24, B27.
//!
//! *Rule under test*: motion is where the surface was minus where it is, in pixels, x right, y down, without
//! the sample's offset; a frame moved along it gives the next one.

use std::sync::Arc;

use crate::posed::*;
use crate::rendered::traced::{self, Hit, Traced};
use crate::rendered::{self, pixels, plain, render, render_scene};
use glam::{DMat4, DVec3};
use isoframe_raster::frame::*;
use isoframe_raster::prepared::Prepared;
use isoframe_raster::scene::*;
use isoframe_raster::view::{Moments, moments};

struct Moved {
    name: &'static str,
    scene: Scene,
    request: FrameRequest,
    tolerance_px: f64,
    /// Pixels that must show something and be compared, so that an empty picture does not pass.
    compared_least: usize,
    /// Largest length of a vector that must occur.
    motion_least_px: f64,
}

/// How far from a sample nothing may change for it to be compared: a rasteriser snaps corners to 1/256 pixel.
const CLEAR_PX: f64 = 0.02;

/// What the data outputs of a pixel should show: at its centre where one triangle covers all samples, else at
/// sample 0. `Err` where an edge passes too close to a sample to tell.
fn expected(
    triangles: &[Traced],
    moments: &Moments,
    request: &FrameRequest,
    x: u32,
    y: u32,
) -> Result<Option<Hit>, Unclear> {
    let size_px = [request.width, request.height];
    let middle = [f64::from(x) + 0.5, f64::from(y) + 0.5];
    let trace = |x_px, y_px| traced::trace(triangles, moments, size_px, x_px, y_px);
    let mut owners = Vec::new();
    for offset in sample_offsets_px16(request.samples) {
        let at = [0, 1].map(|k| middle[k] + f64::from(offset[k]) / 16.0);
        let owner = trace(at[0], at[1]);
        let triangle = owner.map(|hit| hit.triangle);
        for (dx, dy) in [(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)] {
            if trace(at[0] + dx * CLEAR_PX, at[1] + dy * CLEAR_PX).map(|hit| hit.triangle) != triangle {
                return Err(Unclear);
            }
        }
        owners.push(owner);
    }
    let triangle = owners[0].map(|hit| hit.triangle);
    if owners.iter().any(|owner| owner.map(|hit| hit.triangle) != triangle) {
        return Ok(owners[0]);
    }
    Ok(trace(middle[0], middle[1]))
}

#[derive(Debug)]
struct Unclear;

/// Renders and compares every pixel whose samples lie clear of edges.
fn check(case: &Moved) {
    let moments = moments(&case.scene, &case.request).expect("moments");
    let triangles = traced::triangles(&case.scene, &moments);
    let frame = render_scene(case.scene.clone(), &case.request);
    rendered::assert_finite(&frame, case.name);
    assert!(frame.motion_valid, "{}: something is previous", case.name);
    let (mut compared, mut longest) = (0, 0.0f64);
    for (x, y, pixel) in pixels(&frame) {
        let Ok(expected) = expected(&triangles, &moments, &case.request, x, y) else { continue };
        let Some(hit) = expected else {
            assert_eq!((pixel.id, pixel.motion), ([0, 0], [0.0; 2]), "{}: {x}, {y} is background", case.name);
            continue;
        };
        assert_eq!(pixel.id, hit.id, "{}: {x}, {y}", case.name);
        // Means of f32 corners are known to the corners' size, not to their own.
        let eye = moments.current.1.eye_world();
        let reach =
            triangles[hit.triangle].now_world.iter().fold(0.0, |far: f64, p| far.max(p.distance(eye)));
        let depth_error = (f64::from(pixel.depth) - hit.depth).abs();
        assert!(
            depth_error <= reach * f64::from(f32::EPSILON) * 2.0,
            "{}: {x}, {y} at {} not {}",
            case.name,
            pixel.depth,
            hit.depth
        );
        let length = hit.motion_px[0].hypot(hit.motion_px[1]);
        for (got, expected) in pixel.motion.iter().zip(hit.motion_px) {
            let off_px = (f64::from(*got) - expected).abs();
            // f32 positions carry 2^-24 of their distance from the centre.
            let tolerance_px = case.tolerance_px + length * 1e-5;
            assert!(
                off_px <= tolerance_px,
                "{}: {x}, {y} moved {:?}, not {:?}",
                case.name,
                pixel.motion,
                hit
            );
        }
        compared += 1;
        longest = longest.max(length);
    }
    assert!(compared >= case.compared_least, "{}: only {compared} pixels compared", case.name);
    assert!(longest >= case.motion_least_px, "{}: nothing moved more than {longest} px", case.name);
}

/// A scene drawn from both sides.
fn drawn(nodes: Vec<Node>, primitive: Primitive) -> Scene {
    let mut scene = scene(nodes);
    scene.meshes = vec![mesh(primitive)];
    scene.materials = vec![Material { double_sided: true, ..Material::default() }];
    scene
}

fn shown(node: Node) -> Node {
    Node { mesh: Some(0), ..node }
}

/// The square from (-1, -1, 0) to (1, 1, 0).
fn square() -> Primitive {
    let mut primitive = points(&[[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]]);
    primitive.topology = Topology::Triangles;
    primitive.indices = vec![0, 1, 2, 0, 2, 3];
    primitive
}

/// A strip of two units along Y on two joints; the upper one turns 10 degrees per second about Z.
fn strip() -> Scene {
    let mut primitive = points(&[
        [-0.3, 0.0, 0.0],
        [0.3, 0.0, 0.0],
        [-0.3, 1.0, 0.0],
        [0.3, 1.0, 0.0],
        [-0.3, 2.0, 0.0],
        [0.3, 2.0, 0.0],
    ]);
    primitive.indices = vec![0, 1, 3, 0, 3, 2, 2, 3, 5, 2, 5, 4];
    primitive.joints = vec![[0, 1, 0, 0, 0, 0, 0, 0]; 6];
    primitive.joint_weights = [0.0f32, 0.0, 0.5, 0.5, 1.0, 1.0]
        .iter()
        .map(|upper| [1.0 - upper, *upper, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
        .collect();
    let mut scene = drawn(
        vec![
            Node { skin: Some(0), ..shown(at(0.0, 0.0, 0.0)) },
            at(0.0, 0.0, 0.0),
            under(1, at(0.0, 1.0, 0.0)),
        ],
        primitive,
    );
    let bind = |y: f32| glam::Mat4::from_translation(glam::Vec3::new(0.0, -y, 0.0)).to_cols_array();
    scene.skins =
        vec![Skin { joints: vec![1, 2], inverse_bind: vec![bind(0.0), bind(1.0)], ..Skin::default() }];
    // 90 degrees in 9 seconds.
    let turned = [0.0, 0.0, std::f32::consts::FRAC_1_SQRT_2, std::f32::consts::FRAC_1_SQRT_2];
    let turn = [UNTURNED, turned].concat();
    scene.animations = vec![animation(
        "bend",
        vec![channel(2, ChannelPath::Rotation, Interpolation::Linear, &[0.0, 9.0], &turn)],
    )];
    scene
}

/// CASES B22: 10 degrees per frame, static camera, three frames.
#[test]
fn skinned_surfaces_move_with_their_joints() {
    let request = FrameRequest { camera: rendered::facing([0.2, 1.0, 2.0]), ..plain(96, 64) };
    for samples in [1, 4] {
        for time_s in [1.0, 2.0, 3.0] {
            check(&Moved {
                name: "strip",
                scene: strip(),
                request: FrameRequest {
                    samples,
                    time_s,
                    previous_time_s: Some(time_s - 1.0),
                    ..request.clone()
                },
                tolerance_px: 0.01,
                compared_least: 200,
                motion_least_px: 2.0,
            });
        }
    }
    let first = render_scene(strip(), &request);
    assert!(!first.motion_valid, "nothing previous");
    assert!(pixels(&first).all(|(.., pixel)| pixel.motion == [0.0; 2]));
}

/// CASES B04: two joints and their inverse binds at the origin, the mesh's node moved under a parent that moves
/// too: neither shows, at rest or in motion.
#[test]
fn a_skinned_node_that_moves_does_not() {
    let file = |parent: [f32; 3], own: [f32; 3]| {
        let mut primitive = strip().meshes.remove(0).primitives.remove(0);
        primitive.joint_weights = vec![[0.5, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]; 6];
        let mut scene = drawn(
            vec![
                at(parent[0], parent[1], parent[2]),
                under(0, Node { skin: Some(0), ..shown(at(own[0], own[1], own[2])) }),
                at(0.0, 0.0, 0.0),
                under(2, at(0.0, 0.0, 0.0)),
            ],
            primitive,
        );
        let identity = glam::Mat4::IDENTITY.to_cols_array();
        scene.skins = vec![Skin { joints: vec![2, 3], inverse_bind: vec![identity; 2], ..Skin::default() }];
        scene
    };
    let request = FrameRequest {
        camera: rendered::facing([0.2, 1.0, 2.0]),
        time_s: 2.0,
        previous_time_s: Some(1.0),
        ..plain(96, 64)
    };
    let still = render_scene(file([0.0; 3], [0.0; 3]), &request);
    assert!(pixels(&still).filter(|(.., pixel)| pixel.id != [0, 0]).count() > 200);
    assert!(still.motion_valid && pixels(&still).all(|(.., pixel)| pixel.motion == [0.0; 2]));
    let moved = file([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
    rendered::assert_same(&render_scene(moved.clone(), &request), &still, "moved nodes");

    let mut moving = moved;
    let slide = |node: u32, to: [f32; 3]| {
        let keys = [[0.0; 3], to].concat();
        channel(node, ChannelPath::Translation, Interpolation::Linear, &[0.0, 9.0], &keys)
    };
    moving.animations = vec![animation("slide", vec![slide(0, [9.0, 5.0, 0.0]), slide(1, [-4.0, 0.0, 3.0])])];
    rendered::assert_same(&render_scene(moving, &request), &still, "moving nodes");
}

/// A primitive without joints under a skin moves with the node, as the loader says it does.
#[test]
fn what_has_no_joints_moves_with_its_node() {
    let mut partly = strip();
    partly.meshes[0].primitives[0].joints.clear();
    partly.meshes[0].primitives[0].joint_weights.clear();
    let mut bare = partly.clone();
    bare.nodes[0].skin = None;
    for scene in [&mut partly, &mut bare] {
        let slide = [[0.0, 0.0, 0.0], [9.0, 5.0, 0.0]].concat();
        scene.animations[0].channels =
            vec![channel(0, ChannelPath::Translation, Interpolation::Linear, &[0.0, 9.0], &slide)];
    }
    let request = FrameRequest {
        camera: rendered::facing([0.2, 1.0, 2.0]),
        time_s: 1.0,
        previous_time_s: Some(0.5),
        ..plain(96, 64)
    };
    let [partly, bare] = [partly, bare].map(|scene| render_scene(scene, &request));
    assert!(pixels(&bare).filter(|(.., pixel)| pixel.id != [0, 0]).count() > 200);
    rendered::assert_same(&partly, &bare, "a skin that has no hold on the primitive");
}

/// Things that move in every way a file can say.
#[test]
fn surfaces_move_with_nodes_morphs_and_instances() {
    let request = FrameRequest {
        camera: rendered::facing([0.0, 0.0, 3.0]),
        time_s: 1.0,
        previous_time_s: Some(0.4),
        ..plain(96, 64)
    };
    let moving = |mut scene: Scene, channels| {
        scene.animations = vec![animation("a", channels)];
        scene
    };
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let linear = Interpolation::Linear;
    let turn =
        channel(0, ChannelPath::Rotation, linear, &[0.0, 1.0], &[UNTURNED, [0.0, half, 0.0, half]].concat());
    let slide = channel(0, ChannelPath::Translation, linear, &[0.0, 1.0], &[0.0, 0.0, -2.0, 0.5, 0.25, 0.5]);
    let grow = channel(1, ChannelPath::Scale, linear, &[0.0, 1.0], &[0.2, 0.2, 0.2, 1.0, 1.5, 1.0]);
    let copies = [[-1.5f32, 0.0, 0.0], [1.5, 0.5, -1.0]].map(|translation| Trs {
        translation,
        rotation: [half, 0.0, 0.0, half * 0.5],
        scale: [0.6, 0.7, 0.8],
    });
    let mut morphed = square();
    let corners = |z: [f32; 4]| z.map(|z| [0.3 * z, -0.2 * z, z]).to_vec();
    morphed.targets = vec![
        MorphTarget { position: corners([1.0, -0.5, 0.25, 0.0]), ..MorphTarget::default() },
        MorphTarget { position: corners([0.0, 0.5, 0.0, -1.0]), ..MorphTarget::default() },
    ];
    let weigh = channel(0, ChannelPath::Weights, linear, &[0.0, 1.0], &[0.0, 1.0, 1.0, 0.25]);
    let cases = [
        (
            "slides and turns",
            moving(
                drawn(vec![shown(node([0.0; 3], UNTURNED, [1.0; 3]))], square()),
                vec![slide.clone(), turn],
            ),
            0.02,
        ),
        (
            "a parent and a child",
            moving(
                drawn(vec![at(0.0, 0.0, 0.0), under(0, shown(at(0.25, 0.0, 0.0)))], square()),
                vec![slide.clone(), grow],
            ),
            0.02,
        ),
        ("morphs", moving(drawn(vec![shown(at(0.0, 0.0, 0.0))], morphed), vec![weigh]), 0.02),
        (
            "instances",
            moving(
                drawn(vec![Node { instances: Some(copies.to_vec()), ..shown(at(0.0, 0.0, 0.0)) }], square()),
                vec![slide],
            ),
            0.02,
        ),
    ];
    for (name, scene, tolerance_px) in cases {
        for samples in [1, 4, 8, 16] {
            check(&Moved {
                name,
                scene: scene.clone(),
                request: FrameRequest { samples, ..request.clone() },
                tolerance_px,
                compared_least: 150,
                motion_least_px: 3.0,
            });
        }
    }
}

/// Cameras that move: given, of the file, orthographic, off the world's origin.
#[test]
fn surfaces_move_with_cameras() {
    let still = || drawn(vec![shown(node([0.0; 3], [0.2, 0.1, 0.0, 0.97], [1.5; 3]))], square());
    let turned = |angle_rad: f64, eye: DVec3| {
        rendered::placed(DMat4::from_translation(eye) * DMat4::from_rotation_y(angle_rad))
    };
    let request = plain(64, 96);

    let mut far = still();
    far.nodes[0].local = Transform::Trs(Trs { translation: [1e5, -1e5, 1e5], ..Trs::default() });
    let by = |x: f64| turned(0.0, DVec3::new(1e5 + x, -1e5, 1e5 + 2.5));

    let mut filmed = still();
    filmed.nodes.push(Node { camera: Some(0), gltf_index: 1, ..at(0.0, 0.0, 0.0) });
    filmed.cameras = vec![Camera {
        name: String::new(),
        kind: CameraKind::Perspective { yfov_rad: 1.2, aspect: Some(1.5), znear: 0.1, zfar: Some(50.0) },
    }];
    let dolly = channel(
        1,
        ChannelPath::Translation,
        Interpolation::Linear,
        &[0.0, 1.0],
        &[0.5, 0.5, 6.0, 0.0, 0.0, 3.0],
    );
    filmed.animations = vec![animation("dolly", vec![dolly])];

    let cases = [
        (
            "turned",
            still(),
            FrameRequest {
                camera: turned(0.1, DVec3::new(0.0, 0.0, 2.5)),
                previous_camera: Some(turned(-0.1, DVec3::new(0.3, 0.2, 3.5))),
                ..request.clone()
            },
        ),
        (
            "orthographic",
            still(),
            FrameRequest {
                camera: rendered::square_on([0.0, 0.0, 5.0], 0.05),
                previous_camera: Some(rendered::square_on([0.4, -0.3, 7.0], 0.04)),
                ..request.clone()
            },
        ),
        (
            "far from the origin",
            far,
            FrameRequest { camera: by(0.0), previous_camera: Some(by(0.5)), ..request.clone() },
        ),
        ("of the file", filmed, FrameRequest { time_s: 1.0, previous_time_s: Some(0.5), ..request }),
    ];
    for (name, scene, request) in cases {
        check(&Moved { name, scene, request, tolerance_px: 0.02, compared_least: 500, motion_least_px: 3.0 });
    }
}

/// CASES B24 (1): what stands still has no motion, whatever the coverage samples.
#[test]
fn stillness_is_zero() {
    for samples in [1, 4, 8, 16] {
        let request = FrameRequest {
            samples,
            camera: rendered::facing([0.1, 0.2, 1.7]),
            time_s: 3.0,
            previous_time_s: Some(2.0),
            ..plain(61, 47)
        };
        let scene = drawn(vec![shown(node([0.0; 3], [0.3, 0.1, 0.2, 0.9], [1.0; 3]))], square());
        let frame = render_scene(scene, &request);
        assert!(frame.motion_valid);
        for (x, y, pixel) in pixels(&frame) {
            assert_eq!(pixel.motion, [0.0; 2], "{samples} samples at {x}, {y}");
        }
    }
}

/// CASES B24 (2 to 4): moving the camera by 4 pixels moves everything by 4 pixels, and the documented rule
/// finds each pixel's id, depth and colour in the frame before. At distance 4 a unit spans height / 8 pixels, so
/// 4 pixels are 32 / height units, and colours that run from 0 to 1 over a square's two units change by
/// 4 / height a pixel.
#[test]
fn frames_follow_from_the_one_before() {
    for (width, height) in [(64, 64), (128, 32), (40, 96)] {
        let step = 32.0 / f64::from(height);
        // 0.02 pixels' worth.
        let color_tolerance = 0.02 * 4.0 / height as f32;
        for (name, eye, expected) in [
            ("right", [step, 0.0, 4.0], [4, 0]),
            ("up", [0.0, step, 4.0], [0, -4]),
            ("left and down", [-step, -step, 4.0], [-4, 4]),
        ] {
            let mut colored = square();
            colored.color =
                colored.position.iter().map(|[x, y, _]| [x * 0.5 + 0.5, y * 0.5 + 0.5, 0.5, 1.0]).collect();
            let scene = Prepared::new(Arc::new(drawn(
                vec![shown(at(-1.1, -0.9, 0.0)), shown(at(1.2, 0.3, 0.0)), shown(at(0.3, 2.2, 0.0))],
                colored,
            )));
            let from = rendered::facing([0.0, 0.0, 4.0]);
            let before = render(&scene, &FrameRequest { camera: from.clone(), ..plain(width, height) });
            let camera = rendered::facing(eye);
            let now =
                render(&scene, &FrameRequest { camera, previous_camera: Some(from), ..plain(width, height) });
            let mut compared = 0;
            for (x, y, pixel) in pixels(&now).filter(|(.., pixel)| pixel.id != [0, 0]) {
                let off = |k: usize| (pixel.motion[k] - expected[k] as f32).abs();
                assert!(off(0) < 1e-3 && off(1) < 1e-3, "{name}: {:?} at {x}, {y}", pixel.motion);
                let (from_x, from_y) = (x as i32 + expected[0], y as i32 + expected[1]);
                if (0..width as i32).contains(&from_x) && (0..height as i32).contains(&from_y) {
                    let there = rendered::pixel(&before, from_x as u32, from_y as u32);
                    assert_eq!(there.id, pixel.id, "{name}: {x}, {y}");
                    assert!((there.depth - pixel.depth).abs() < 1e-5, "{name}: {x}, {y}");
                    for k in 0..3 {
                        let off = (there.albedo[k] - pixel.albedo[k]).abs();
                        assert!(off < color_tolerance, "{name}: {x}, {y} was {there:?} and is {pixel:?}");
                    }
                    compared += 1;
                }
            }
            assert!(compared > 100, "{name} at {width}x{height}: {compared}");
        }
    }
}

/// CASES B27: cuts, things from behind, things through the near plane, things that were not there.
#[test]
fn cuts_stay_finite() {
    let still = || drawn(vec![shown(at(0.0, 0.0, 0.0))], square());
    let from = |eye| Some(rendered::facing(eye));
    let camera = rendered::facing([0.0, 0.0, 2.0]);
    let request = FrameRequest { camera: camera.clone(), ..plain(96, 64) };

    // From 3 behind the camera to 2 in front of it.
    let mut arriving = still();
    let fly = channel(
        0,
        ChannelPath::Translation,
        Interpolation::Linear,
        &[0.0, 1.0],
        &[0.0, 0.0, 5.0, 0.0, 0.0, 0.0],
    );
    arriving.animations = vec![animation("fly", vec![fly])];

    // A floor from behind the camera to far in front, just below the eye.
    let mut floor = still();
    let half = std::f32::consts::FRAC_1_SQRT_2;
    floor.nodes[0] = shown(node([0.0, -0.3, 0.0], [half, 0.0, 0.0, half], [500.0; 3]));

    let mut appearing = still();
    let appear =
        channel(0, ChannelPath::Scale, Interpolation::Step, &[0.0, 1.0], &[0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    appearing.animations = vec![animation("appear", vec![appear])];

    let cases = [
        (
            "cut by 1000 m",
            still(),
            FrameRequest { previous_camera: from([1000.0, 0.0, 2.0]), ..request.clone() },
            1000.0,
        ),
        (
            "cut to behind",
            still(),
            FrameRequest { previous_camera: from([0.0, 0.0, -1000.0]), ..request.clone() },
            0.0,
        ),
        (
            "just before the surface",
            still(),
            FrameRequest { previous_camera: from([0.0, 0.0, 1e-3]), ..request.clone() },
            10_000.0,
        ),
        (
            "from behind",
            arriving,
            FrameRequest { time_s: 1.0, previous_time_s: Some(0.0), ..request.clone() },
            0.0,
        ),
        (
            "a floor under the camera",
            floor,
            FrameRequest { previous_camera: from([0.2, 0.1, 2.5]), ..request.clone() },
            1.0,
        ),
        (
            "not there before",
            appearing,
            FrameRequest { time_s: 1.0, previous_time_s: Some(0.5), ..request },
            5.0,
        ),
    ];
    for (name, scene, request, motion_least_px) in cases {
        for samples in [1, 4] {
            let request = FrameRequest { samples, ..request.clone() };
            check(&Moved {
                name,
                scene: scene.clone(),
                request,
                tolerance_px: 0.02,
                compared_least: 500,
                motion_least_px,
            });
        }
    }
}
