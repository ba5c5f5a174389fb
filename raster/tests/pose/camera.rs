//! Cameras of the file, framed cameras and explicit ones, as pixels.

use crate::posed::*;
use glam::{DMat4, DVec3};
use isoframe_raster::frame::{CameraChoice, FrameRequest, NamedView, ProjectionChoice};
use isoframe_raster::pose::bounds_world;
use isoframe_raster::scene::*;
use isoframe_raster::view::{Lens, View, moments, resolve};

fn perspective(yfov_rad: f32, aspect: Option<f32>) -> CameraKind {
    CameraKind::Perspective { yfov_rad, aspect, znear: 0.1, zfar: None }
}

/// A scene with one camera node at the origin, looking down -Z.
fn seen_by(kind: CameraKind) -> Scene {
    let mut scene = scene(vec![Node { camera: Some(0), ..at(0.0, 0.0, 0.0) }]);
    scene.cameras = vec![Camera { name: "lens".into(), kind }];
    scene
}

fn auto(scene: &Scene, width: u32, height: u32) -> View {
    resolve(scene, &rest(scene), &CameraChoice::Auto, width, height).expect("a view")
}

struct Seen {
    name: &'static str,
    kind: CameraKind,
    size_px: (u32, u32),
    point_world: [f64; 3],
    expected: (f64, f64, f64),
}

/// CASES B08 and R03. Pixels by hand: tan(pi/4) is 1, so at distance 1 the height spans y from -1 to 1.
#[test]
fn lenses_keep_pixels_square() {
    let right_angle = std::f32::consts::FRAC_PI_2;
    let ortho = |xmag, ymag| CameraKind::Orthographic { xmag, ymag, znear: 0.0, zfar: 10.0 };
    let cases = [
        Seen {
            name: "B08 top edge",
            kind: perspective(right_angle, None),
            size_px: (200, 100),
            point_world: [0.0, 1.0, -1.0],
            expected: (100.0, 0.0, 1.0),
        },
        Seen {
            name: "B08 right edge",
            kind: perspective(right_angle, None),
            size_px: (200, 100),
            point_world: [2.0, 0.0, -1.0],
            expected: (200.0, 50.0, 1.0),
        },
        Seen {
            name: "B08 a million away",
            kind: perspective(right_angle, None),
            size_px: (200, 100),
            point_world: [1e6, -1e6, -1e6],
            expected: (150.0, 100.0, 1e6),
        },
        Seen {
            name: "B08 aspect 1 in a wide viewport fits the height",
            kind: perspective(right_angle, Some(1.0)),
            size_px: (200, 100),
            point_world: [1.0, 1.0, -1.0],
            expected: (150.0, 0.0, 1.0),
        },
        Seen {
            name: "aspect 2 in a square viewport fits the width",
            kind: perspective(right_angle, Some(2.0)),
            size_px: (100, 100),
            point_world: [2.0, 1.0, -1.0],
            expected: (100.0, 25.0, 1.0),
        },
        Seen {
            name: "R03 half extents",
            kind: ortho(2.0, 2.0),
            size_px: (100, 100),
            point_world: [2.0, -2.0, -3.0],
            expected: (100.0, 100.0, 3.0),
        },
        Seen {
            name: "R03 no stretch in a wide viewport",
            kind: ortho(2.0, 2.0),
            size_px: (200, 100),
            point_world: [2.0, 2.0, -3.0],
            expected: (150.0, 0.0, 3.0),
        },
        Seen {
            name: "R03 no stretch with unequal extents",
            kind: ortho(2.0, 1.0),
            size_px: (100, 100),
            point_world: [2.0, 1.0, -3.0],
            expected: (100.0, 25.0, 3.0),
        },
    ];
    for case in cases {
        let view = auto(&seen_by(case.kind), case.size_px.0, case.size_px.1);
        let (x_px, y_px, depth) =
            view.project(case.point_world.into(), case.size_px.0, case.size_px.1).expect("in front");
        let off = DVec3::new(x_px - case.expected.0, y_px - case.expected.1, depth / case.expected.2 - 1.0);
        // The f32 nearest to pi/2 is 4e-8 off.
        assert!(off.length() < 1e-5, "{}: {x_px}, {y_px} at {depth}", case.name);
    }
    let lens = auto(&seen_by(perspective(right_angle, None)), 200, 100).lens;
    assert!(matches!(lens, Lens::Perspective { zfar: None, .. }), "no far plane: {lens:?}");
}

/// Every corner of the bounds inside the frame, with the margin, and touching it somewhere.
fn assert_framed(scene: &Scene, view: &View, width: u32, height: u32, name: &str) {
    let (low, high) = bounds_world(scene, &rest(scene)).expect("bounds");
    let mut reach: f64 = 0.0;
    for corner in 0..8 {
        let pick = |bit: usize| if corner >> bit & 1 == 0 { low[bit] } else { high[bit] };
        let (x_px, y_px, depth) =
            view.project(DVec3::new(pick(0), pick(1), pick(2)), width, height).expect("in front");
        let Lens::Perspective { znear, .. } = view.lens else { panic!("{name}: perspective") };
        assert!(depth > znear, "{name}: corner at {depth}, near plane {znear}");
        let (half_width, half_height) = (f64::from(width) / 2.0, f64::from(height) / 2.0);
        reach =
            reach.max((x_px - half_width).abs() / half_width).max((y_px - half_height).abs() / half_height);
    }
    assert!((reach - 1.0 / 1.05).abs() < 1e-9, "{name}: the box reaches {reach} of the frame");
}

#[test]
fn framed_views_show_the_whole_box_tightly() {
    let mut scene = scene(vec![Node { mesh: Some(0), ..node([5.0, -3.0, 2.0], UNTURNED, [1.0, 2.0, 4.0]) }]);
    let corner = |i: u32| [0, 1, 2].map(|bit| if i >> bit & 1 == 0 { -1.0 } else { 1.0 });
    scene.meshes = vec![mesh(points(&(0..8).map(corner).collect::<Vec<_>>()))];
    let views = [
        (NamedView::Front, [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]),
        (NamedView::Back, [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]),
        (NamedView::Left, [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]),
        (NamedView::Right, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]),
        (NamedView::Top, [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]),
        (NamedView::Bottom, [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]),
    ];
    for (width, height) in [(200, 100), (100, 200), (64, 64)] {
        for (named, backward, up) in views {
            let view =
                resolve(&scene, &rest(&scene), &CameraChoice::View(named), width, height).expect("a view");
            assert_eq!(view.world_from_view.z_axis.truncate(), DVec3::from_array(backward), "{named:?}");
            assert_eq!(view.world_from_view.y_axis.truncate(), DVec3::from_array(up), "{named:?}");
            assert_framed(&scene, &view, width, height, &format!("{named:?} {width}x{height}"));
        }
        let view = auto(&scene, width, height);
        assert_framed(&scene, &view, width, height, "auto");
        let three_quarter = CameraChoice::View(NamedView::ThreeQuarter);
        assert_eq!(view, resolve(&scene, &rest(&scene), &three_quarter, width, height).expect("a view"));
    }
}

fn explicit(world_from_view: DMat4) -> CameraChoice {
    CameraChoice::Matrix {
        world_from_view: world_from_view.to_cols_array(),
        projection: ProjectionChoice::Perspective { yfov_rad: 1.0, znear: None, zfar: None },
    }
}

#[test]
fn scale_shear_and_mirroring_are_left_out() {
    let eye = DMat4::from_translation(DVec3::new(1.0, 2.0, 3.0));
    let shear = DMat4::from_cols_array(&[1., 0., 0., 0., 0.5, 1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1.]);
    let cases = [
        ("scale", DMat4::from_scale(DVec3::new(2.0, 3.0, 0.25))),
        ("mirrored in x", DMat4::from_scale(DVec3::new(-1.0, 1.0, 1.0))),
        ("huge", DMat4::from_scale(DVec3::splat(1e17))),
        ("tiny", DMat4::from_scale(DVec3::splat(1e-200))),
    ];
    let plain = resolve(&scene(vec![]), &rest(&scene(vec![])), &explicit(eye), 64, 64).expect("a view");
    assert_eq!(plain.world_from_view, eye);
    for (name, matrix) in cases {
        let empty = scene(vec![]);
        let view = resolve(&empty, &rest(&empty), &explicit(eye * matrix), 64, 64).expect(name);
        assert_eq!(view, plain, "{name}");
    }
    let empty = scene(vec![]);
    let sheared = resolve(&empty, &rest(&empty), &explicit(eye * shear), 64, 64).expect("sheared");
    assert!((sheared.world_from_view.determinant() - 1.0).abs() < 1e-12);
    assert_near(
        (sheared.view_from_world * sheared.world_from_view).x_axis.truncate(),
        [1.0, 0.0, 0.0],
        1e-12,
    );
    for (name, matrix) in [
        ("flat in z", DMat4::from_scale(DVec3::new(1.0, 1.0, 0.0))),
        ("flat in y", DMat4::from_scale(DVec3::new(1.0, 0.0, 1.0))),
        ("nothing", DMat4::from_scale(DVec3::ZERO)),
    ] {
        let refused = resolve(&empty, &rest(&empty), &explicit(eye * matrix), 64, 64).unwrap_err();
        assert!(reason(refused, "camera").contains("singular"), "{name}");
    }
}

#[test]
fn missing_cameras_are_named_beside_what_is_there() {
    let mut scene = seen_by(perspective(1.0, None));
    scene.nodes.push(Node { name: "Empty".into(), ..at(0.0, 0.0, 0.0) });
    scene.cameras.push(Camera { name: "spare".into(), kind: perspective(1.0, None) });
    let pose = rest(&scene);
    let refused = |choice| reason(resolve(&scene, &pose, &choice, 8, 8).unwrap_err(), "camera");
    let has = "the scene has 1 camera: 0 `lens`";
    let named = |name: &str| CameraChoice::Name(name.into());
    assert_eq!(refused(CameraChoice::Index(1)), format!("there is no camera 1; {has}"));
    assert_eq!(refused(named("nope")), format!("there is no camera `nope`; {has}"));
    assert_eq!(refused(named("Empty")), format!("node `Empty` carries no camera; {has}"));
    assert_eq!(refused(named("spare")), format!("no node of the scene carries camera `spare`; {has}"));
    assert!(resolve(&scene, &pose, &named("lens"), 8, 8).is_ok());
}

#[test]
fn previous_moments_fall_back_to_the_current() {
    let mut scene = scene(vec![Node { mesh: Some(0), ..at(0.0, 0.0, 0.0) }]);
    scene.meshes = vec![mesh(triangle())];
    scene.animations = vec![animation(
        "slide",
        vec![channel(
            0,
            ChannelPath::Translation,
            Interpolation::Linear,
            &[0.0, 1.0],
            &[0., 0., 0., 4., 0., 0.],
        )],
    )];
    let request = FrameRequest { time_s: 1.0, width: 64, height: 64, ..FrameRequest::default() };
    assert_eq!(moments(&scene, &request).expect("moments").previous, None);

    let timed =
        moments(&scene, &FrameRequest { previous_time_s: Some(0.5), ..request.clone() }).expect("moments");
    let (pose, _) = timed.previous.expect("a previous moment");
    assert_eq!(place(&pose, 0, [0.0; 3]).x, 2.0);
    assert_eq!(place(&timed.current.0, 0, [0.0; 3]).x, 4.0);

    let top = Some(CameraChoice::View(NamedView::Top));
    let moved = moments(&scene, &FrameRequest { previous_camera: top, ..request.clone() }).expect("moments");
    let (pose, view) = moved.previous.expect("a previous moment");
    assert_eq!(pose, moved.current.0);
    assert_eq!(view.world_from_view.z_axis.truncate(), DVec3::Y);

    let missing = Some(CameraChoice::Index(3));
    let refused = moments(&scene, &FrameRequest { previous_camera: missing, ..request.clone() }).unwrap_err();
    assert!(reason(refused, "previous_camera").contains("no camera 3"));
    let refused = moments(&scene, &FrameRequest { previous_time_s: Some(f64::NAN), ..request }).unwrap_err();
    reason(refused, "previous_time_s");
}

struct Degenerate {
    name: &'static str,
    points: &'static [[f32; 3]],
}

const DEGENERATE: &[Degenerate] = &[
    Degenerate { name: "nothing", points: &[] },
    Degenerate { name: "a point", points: &[[0.0; 3]] },
    Degenerate { name: "a point far off", points: &[[1e7, -1e7, 1e7]] },
    Degenerate { name: "a line along the view", points: &[[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]] },
    Degenerate { name: "a plane seen edge on", points: &[[-1.0, 0.0, -1.0], [1.0, 0.0, 1.0]] },
    Degenerate { name: "huge", points: &[[-1e7; 3], [1e7; 3]] },
    Degenerate { name: "as large as f32 goes", points: &[[f32::MIN; 3], [f32::MAX; 3]] },
    Degenerate { name: "small and far off", points: &[[1e7, 0.0, 0.0], [1e7 + 1.0, 1e-3, 0.0]] },
    Degenerate { name: "tiny", points: &[[-1e-30; 3], [1e-30; 3]] },
];

fn cloud(positions: &[[f32; 3]]) -> Scene {
    let mut scene = scene(vec![Node { mesh: Some(0), ..at(0.0, 0.0, 0.0) }]);
    scene.meshes = vec![mesh(points(positions))];
    scene
}

/// The camera of any bounds is finite, in front of them, and has every vertex in the frame.
#[test]
fn degenerate_bounds_are_seen() {
    for case in DEGENERATE {
        let scene = cloud(case.points);
        let named = [NamedView::Front, NamedView::Top, NamedView::Left, NamedView::ThreeQuarter];
        let orbit = CameraChoice::Orbit {
            theta_rad: 0.5,
            phi_rad: 1.0,
            radius: 1.05,
            radius_relative: true,
            target_world: None,
            yfov_rad: None,
        };
        for choice in named.map(CameraChoice::View).into_iter().chain([orbit, CameraChoice::Auto]) {
            for (width, height) in [(64, 64), (1000, 1), (1, 1000)] {
                let view = resolve(&scene, &rest(&scene), &choice, width, height).expect(case.name);
                let name = format!("{} from {choice:?} at {width}x{height}: {view:?}", case.name);
                assert!(is_finite(&view.world_from_view) && is_finite(&view.view_from_world), "{name}");
                let Lens::Perspective { focal_px, znear, zfar: None } = view.lens else { panic!("{name}") };
                assert!(focal_px > 0.0 && focal_px.is_finite() && znear > 0.0 && znear.is_finite(), "{name}");
                for point in case.points {
                    let point_world = glam::Vec3::from_array(*point).as_dvec3();
                    let (x_px, y_px, depth) = view.project(point_world, width, height).expect(&name);
                    assert!(depth > znear, "{name}");
                    let inside = |at_px: f64, size: u32| (-1e-6..=f64::from(size) + 1e-6).contains(&at_px);
                    assert!(inside(x_px, width) && inside(y_px, height), "{name}: {x_px}, {y_px}");
                }
            }
        }
    }
}

/// The box of [`degenerate_bounds_are_seen`]'s cases aside: radius sqrt(3) around a cube, half of 30 degrees
/// has the sine 0.2588190451, so 100 % stands at 1.7320508 / 0.2588190451 = 6.6921304; azimuth 90 degrees
/// is +X; `fov` narrows the field, `target` moves all.
#[test]
fn orbits_follow_model_viewer() {
    let scene = cloud(&[[-1.0; 3], [1.0; 3]]);
    let orbit = |theta_deg: f64, phi_deg: f64, radius, radius_relative, target_world| CameraChoice::Orbit {
        theta_rad: theta_deg.to_radians(),
        phi_rad: phi_deg.to_radians(),
        radius,
        radius_relative,
        target_world,
        yfov_rad: None,
    };
    let cases = [
        (orbit(0.0, 90.0, 1.0, true, None), [0.0, 0.0, 6.692_130_4]),
        (orbit(90.0, 90.0, 1.0, true, None), [6.692_130_4, 0.0, 0.0]),
        (orbit(0.0, 0.0, 2.0, true, None), [0.0, 13.384_260_9, 0.0]),
        (orbit(180.0, 90.0, 3.0, false, None), [0.0, 0.0, -3.0]),
        (orbit(-90.0, 90.0, 3.0, false, Some([1.0, 2.0, 4.0])), [-2.0, 2.0, 4.0]),
        // 4 * (sin 60 sin 45, cos 60, sin 60 cos 45).
        (orbit(45.0, 60.0, 4.0, false, None), [2.449_489_7, 2.0, 2.449_489_7]),
    ];
    for (choice, eye) in cases {
        let view = resolve(&scene, &rest(&scene), &choice, 64, 32).expect("a view");
        assert_near(view.eye_world(), eye, 1e-6);
        let target = match choice {
            CameraChoice::Orbit { target_world: Some(target), .. } => target.into(),
            _ => DVec3::ZERO,
        };
        let (x_px, y_px, _) = view.project(target, 64, 32).expect("in front");
        assert!((x_px - 32.0).abs() < 1e-9 && (y_px - 16.0).abs() < 1e-9, "looks at its target");
        assert!(view.world_from_view.y_axis.y >= -1e-12, "up is up");
    }
    for (bad, says) in [
        (orbit(f64::NAN, 0.0, 1.0, true, None), "angles are finite"),
        (orbit(0.0, 0.0, 0.0, true, None), "radius is above zero"),
        (orbit(0.0, 0.0, -1.0, false, None), "radius is above zero"),
        (orbit(0.0, 0.0, f64::INFINITY, false, None), "radius is above zero"),
        (orbit(0.0, 0.0, 1.0, false, Some([f64::NAN; 3])), "goes beyond"),
        (orbit(0.0, 0.0, 1e300, false, None), "goes beyond"),
    ] {
        let refused = resolve(&scene, &rest(&scene), &bad, 64, 32).unwrap_err();
        assert!(reason(refused, "camera").contains(says), "{bad:?}");
    }
}

/// A framed camera covers what the animation covers, at every time from the same place.
#[test]
fn framed_cameras_stand_still() {
    let mut scene = cloud(&[[-1.0; 3], [1.0; 3]]);
    let slide = [[0.0, 0.0, 0.0], [8.0, 0.0, 0.0]].concat();
    scene.animations = vec![animation(
        "slide",
        vec![channel(0, ChannelPath::Translation, Interpolation::Linear, &[0.0, 1.0], &slide)],
    )];
    let at_start = resolve(&scene, &posed(&scene, 0.0), &CameraChoice::Auto, 64, 64).expect("a view");
    for time_s in [0.3, 1.0, 7.0] {
        let view = resolve(&scene, &posed(&scene, time_s), &CameraChoice::Auto, 64, 64).expect("a view");
        assert_eq!(view, at_start);
    }
    for x in [-1.0, 9.0] {
        let (x_px, ..) = at_start.project(DVec3::new(x, 0.0, 0.0), 64, 64).expect("in front");
        assert!((0.0..=64.0).contains(&x_px), "{x} at {x_px}");
    }
    let still = resolve(&scene, &rest(&scene), &CameraChoice::Auto, 64, 64).expect("a view");
    assert!(still.eye_world().x < at_start.eye_world().x, "without the animation, only the rest pose counts");
}

/// Planes of explicit cameras come from the scene where they are not given.
#[test]
fn explicit_lenses_find_their_planes() {
    let scene = cloud(&[[-1.0; 3], [1.0; 3]]);
    let from = |z: f64, projection| CameraChoice::Matrix {
        world_from_view: DMat4::from_translation(DVec3::new(0.0, 0.0, z)).to_cols_array(),
        projection,
    };
    let lens = |choice| resolve(&scene, &rest(&scene), &choice, 64, 32).expect("a view").lens;
    let eyes = |yfov_rad, znear, zfar| ProjectionChoice::Perspective { yfov_rad, znear, zfar };
    let right_angle = std::f64::consts::FRAC_PI_2;

    let Lens::Perspective { focal_px, znear, zfar } = lens(from(5.0, eyes(right_angle, None, None))) else {
        panic!("perspective")
    };
    assert!((focal_px - 16.0).abs() < 1e-12 && znear == 2.0 && zfar.is_none(), "half of the 4 to the box");
    let Lens::Perspective { znear, .. } = lens(from(0.0, eyes(right_angle, None, Some(1e-3)))) else {
        panic!("perspective")
    };
    assert!(znear > 0.0 && znear < 1e-3, "inside the box, below the far plane: {znear}");
    let ortho = ProjectionChoice::Orthographic { metres_per_px: 0.25 };
    let Lens::Orthographic { px_per_unit, znear, zfar } = lens(from(5.0, ortho)) else {
        panic!("orthographic")
    };
    // The box is 4 to 6 away and sqrt(3) in radius.
    let spare = 3f64.sqrt();
    assert!(px_per_unit == 4.0 && (znear - 4.0 + spare).abs() < 1e-12 && (zfar - 6.0 - spare).abs() < 1e-12);
    let Lens::Orthographic { znear, zfar, .. } = lens(from(-50.0, ortho)) else { panic!("orthographic") };
    assert!(znear == 0.0 && zfar > 0.0, "everything lies behind: {znear} to {zfar}");

    for (bad, says) in [
        (from(0.0, eyes(0.0, None, None)), "field of view"),
        (from(0.0, eyes(std::f64::consts::PI, None, None)), "field of view"),
        (from(0.0, eyes(f64::NAN, None, None)), "field of view"),
        (from(0.0, eyes(1.0, Some(0.0), None)), "near plane"),
        (from(0.0, eyes(1.0, Some(2.0), Some(1.0))), "near plane"),
        (from(0.0, eyes(1.0, Some(2.0), Some(f64::INFINITY))), "near plane"),
        (from(0.0, ProjectionChoice::Orthographic { metres_per_px: 0.0 }), "metres per pixel"),
        (from(0.0, ProjectionChoice::Orthographic { metres_per_px: f64::NAN }), "metres per pixel"),
        (from(f64::NAN, ortho), "beyond"),
        (explicit(DMat4::from_translation(DVec3::X).transpose()), "row-major"),
    ] {
        let refused = resolve(&scene, &rest(&scene), &bad, 64, 32).unwrap_err();
        let said = reason(refused, "camera");
        assert!(said.contains(says), "{bad:?}: {said}");
    }
    for (width, height, field) in [(0, 1, "width"), (1, 0, "height")] {
        reason(resolve(&scene, &rest(&scene), &CameraChoice::Auto, width, height).unwrap_err(), field);
    }
}

/// Names: nodes first, then cameras; the first of each.
#[test]
fn cameras_are_chosen_in_node_order() {
    let mut scene = scene(vec![at(1.0, 0.0, 0.0), at(2.0, 0.0, 0.0), at(3.0, 0.0, 0.0), at(4.0, 0.0, 0.0)]);
    let camera = |name: &str| Camera { name: name.into(), kind: perspective(1.0, None) };
    scene.cameras = vec![camera("lens"), camera("eye")];
    for (node, (name, camera)) in
        [("a", None), ("b", Some(1)), ("eye", Some(0)), ("b", Some(0))].into_iter().enumerate()
    {
        scene.nodes[node].name = name.into();
        scene.nodes[node].camera = camera;
    }
    let named = |name: &str| CameraChoice::Name(name.into());
    for (choice, x) in [
        (CameraChoice::Auto, 2.0),
        (CameraChoice::Index(0), 2.0),
        (CameraChoice::Index(2), 4.0),
        (named("b"), 2.0),
        (named("eye"), 3.0),
        (named("lens"), 3.0),
    ] {
        let view = resolve(&scene, &rest(&scene), &choice, 8, 8).expect("a view");
        assert_eq!(view.eye_world().x, x, "{choice:?}");
    }
}
