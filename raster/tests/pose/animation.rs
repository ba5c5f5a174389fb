//! Channels sampled at a time: glTF 2.0 section 3.11 and appendix C.

use crate::posed;
use crate::posed::*;
use glam::DVec3;
use isoframe_raster::frame::AnimationChoice;
use isoframe_raster::pose::evaluate;
use isoframe_raster::scene::{ChannelPath, Interpolation, Scene};

/// One node moved by one channel.
fn moved(path: ChannelPath, interpolation: Interpolation, times_s: &[f32], values: &[f32]) -> Scene {
    let mut scene = scene(vec![at(0.0, 0.0, 0.0)]);
    scene.animations = vec![animation("a", vec![channel(0, path, interpolation, times_s, values)])];
    scene
}

struct Clamped {
    name: &'static str,
    interpolation: Interpolation,
    times_s: &'static [f32],
    x: &'static [f32],
    expected: &'static [(f64, f64)],
}

/// Values by hand, CASES B06.
const CLAMPED: &[Clamped] = &[
    Clamped {
        name: "linear",
        interpolation: Interpolation::Linear,
        times_s: &[1.0, 3.0],
        x: &[2.0, 4.0],
        expected: &[(0.0, 2.0), (1.0, 2.0), (2.0, 3.0), (3.0, 4.0), (10.0, 4.0), (-1e300, 2.0), (1e300, 4.0)],
    },
    Clamped {
        name: "step",
        interpolation: Interpolation::Step,
        times_s: &[1.0, 3.0],
        x: &[2.0, 4.0],
        expected: &[(0.0, 2.0), (1.0, 2.0), (2.0, 2.0), (3.0, 4.0), (10.0, 4.0)],
    },
    Clamped {
        name: "one key, linear",
        interpolation: Interpolation::Linear,
        times_s: &[1.0],
        x: &[2.0],
        expected: &[(0.0, 2.0), (1.0, 2.0), (10.0, 2.0)],
    },
    Clamped {
        name: "one key, step",
        interpolation: Interpolation::Step,
        times_s: &[1.0],
        x: &[2.0],
        expected: &[(0.0, 2.0), (1.0, 2.0), (10.0, 2.0)],
    },
];

#[test]
fn clamps_and_hits_keys() {
    for case in CLAMPED {
        let values: Vec<f32> = case.x.iter().flat_map(|&x| [x, 0.0, 0.0]).collect();
        let scene = moved(ChannelPath::Translation, case.interpolation, case.times_s, &values);
        for &(time_s, x) in case.expected {
            let got = place(&posed(&scene, time_s), 0, [0.0; 3]);
            assert_eq!(got, DVec3::new(x, 0.0, 0.0), "{} at {time_s} s", case.name);
        }
    }
}

/// A cubic spline with one key is that key; between two, the Hermite polynomial worked out by hand:
/// at half time h = (1/2, 1/8, 1/2, -1/8), tangents times the 2 s of the segment, so
/// 0.5 * 2 + 0.125 * 2 * 3 + 0.5 * 4 - 0.125 * 2 * 5 = 2.5.
#[test]
fn cubic_tangents_span_the_segment() {
    let values = [[9.0f32, 2.0, 3.0], [5.0, 4.0, 9.0]]
        .iter()
        .flat_map(|&[before, value, after]| [before, 0.0, 0.0, value, 0.0, 0.0, after, 0.0, 0.0])
        .collect::<Vec<_>>();
    let scene = moved(ChannelPath::Translation, Interpolation::CubicSpline, &[1.0, 3.0], &values);
    for (time_s, x) in [(0.0, 2.0), (1.0, 2.0), (2.0, 2.5), (3.0, 4.0), (10.0, 4.0)] {
        assert_eq!(place(&posed(&scene, time_s), 0, [0.0; 3]).x, x, "at {time_s} s");
    }
    let one = moved(ChannelPath::Translation, Interpolation::CubicSpline, &[1.0], &values[..9]);
    for time_s in [0.0, 1.0, 2.0] {
        assert_eq!(place(&posed(&one, time_s), 0, [0.0; 3]).x, 2.0, "one key at {time_s} s");
    }
}

/// 120 degrees about Z: (0, 0, sin 60, cos 60).
const TURNED_120: [f32; 4] = [0.0, 0.0, 0.866_025_4, 0.5];

/// CASES B05: half way between identity and 120 degrees with flat tangents is exactly 60 degrees by
/// symmetry, and a square's edges keep their length.
#[test]
fn cubic_rotation_is_rigid() {
    for duration_s in [1.0f32, 4.0] {
        let flat = [[0.0; 4], UNTURNED, [0.0; 4], [0.0; 4], TURNED_120, [0.0; 4]].concat();
        let scene = moved(ChannelPath::Rotation, Interpolation::CubicSpline, &[0.0, duration_s], &flat);
        let pose = posed(&scene, f64::from(duration_s) / 2.0);
        let corner = place(&pose, 0, [1.0, 0.0, 0.0]);
        assert_near(corner, [0.5, 0.75f64.sqrt(), 0.0], 1e-7);
        assert_edges_kept(&scene, duration_s);
    }
}

/// CASES B05 with tangents. Half way, with keys q0, q1, out-tangent b, in-tangent a and 4 s between them,
/// q = (q0 + q1) / 2 + 4 (b - a) / 8: here z = 0.4330127 + 0.5 (0.1 + 0.2), w = 0.75, so the angle is
/// 2 atan(0.5830127 / 0.75) = 75.71944 degrees (Python's math.atan2).
#[test]
fn cubic_rotation_tangents_span_the_segment() {
    let out_tangent = [0.0, 0.0, 0.1, 0.0];
    let in_tangent = [0.0, 0.0, -0.2, 0.0];
    let keys = [[0.0; 4], UNTURNED, out_tangent, in_tangent, TURNED_120, [0.0; 4]].concat();
    let scene = moved(ChannelPath::Rotation, Interpolation::CubicSpline, &[0.0, 4.0], &keys);
    let corner = place(&posed(&scene, 2.0), 0, [1.0, 0.0, 0.0]);
    let angle_deg = corner.y.atan2(corner.x).to_degrees();
    assert!((angle_deg - ANGLE_WITH_TANGENTS_DEG).abs() < 1e-4, "{angle_deg}");
    assert_edges_kept(&scene, 4.0);
}

const ANGLE_WITH_TANGENTS_DEG: f64 = 75.719_437;

fn assert_edges_kept(scene: &Scene, duration_s: f32) {
    let square = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
    for step in 0..=16 {
        let pose = posed(scene, f64::from(duration_s) * f64::from(step) / 16.0);
        let corners = square.map(|corner| place(&pose, 0, corner));
        for edge in 0..4 {
            let length = (corners[(edge + 1) % 4] - corners[edge]).length();
            assert!((length - 1.0).abs() < 1e-12, "edge {edge} is {length} long at step {step}");
        }
    }
}

struct Turn {
    name: &'static str,
    from: [f32; 4],
    to: [f32; 4],
    fraction: f64,
    expected_deg: f64,
}

/// About Z by a degrees: (0, 0, sin a/2, cos a/2). Angles by proportion.
const TURNS: &[Turn] = &[
    Turn { name: "a quarter of 120", from: UNTURNED, to: TURNED_120, fraction: 0.25, expected_deg: 30.0 },
    Turn {
        name: "the short way though the quaternion has the long way's sign",
        from: UNTURNED,
        to: [0.0, 0.0, -0.866_025_4, -0.5],
        fraction: 0.25,
        expected_deg: 30.0,
    },
    Turn {
        name: "unnormalised keys",
        from: [0.0, 0.0, 0.0, 0.5],
        to: [0.0, 0.0, 1.732_050_8, 1.0],
        fraction: 0.5,
        expected_deg: 60.0,
    },
    Turn { name: "no turn", from: TURNED_120, to: TURNED_120, fraction: 0.3, expected_deg: 120.0 },
    Turn {
        name: "one turn written with both signs",
        from: TURNED_120,
        to: [0.0, 0.0, -0.866_025_4, -0.5],
        fraction: 0.3,
        expected_deg: 120.0,
    },
    Turn {
        name: "half a turn: one of the two ways round",
        from: UNTURNED,
        to: [0.0, 0.0, 1.0, 0.0],
        fraction: 0.5,
        expected_deg: 90.0,
    },
];

#[test]
fn linear_rotation_turns_evenly_the_short_way() {
    for turn in TURNS {
        let keys = [turn.from, turn.to].concat();
        let scene = moved(ChannelPath::Rotation, Interpolation::Linear, &[0.0, 1.0], &keys);
        let corner = place(&posed(&scene, turn.fraction), 0, [1.0, 0.0, 0.0]);
        let got_deg = corner.y.atan2(corner.x).to_degrees();
        assert!((got_deg - turn.expected_deg).abs() < 1e-5, "{}: {got_deg}", turn.name);
        assert!((corner.length() - 1.0).abs() < 1e-12, "{}: rigid", turn.name);
    }
}

/// Rotations a rounding apart interpolate without dividing by their angle.
#[test]
fn nearly_equal_rotations_stay_finite() {
    for nudge in [0.0f32, 1e-30, 1e-10, 1e-7, 1e-5] {
        let keys = [UNTURNED, [0.0, 0.0, nudge, 1.0]].concat();
        let scene = moved(ChannelPath::Rotation, Interpolation::Linear, &[0.0, 1.0], &keys);
        let corner = place(&posed(&scene, 0.5), 0, [1.0, 0.0, 0.0]);
        // Half of an angle of 2 * nudge.
        assert_near(corner, [1.0, f64::from(nudge), 0.0], 1e-9);
    }
}

#[test]
fn a_rotation_of_no_length_is_no_rotation() {
    let scene = moved(ChannelPath::Rotation, Interpolation::Linear, &[0.0], &[0.0; 4]);
    assert_near(place(&posed(&scene, 0.0), 0, [1.0, 2.0, 3.0]), [1.0, 2.0, 3.0], 0.0);
}

#[test]
fn weights_and_scale_move() {
    let mut scene = scene(vec![at(0.0, 0.0, 0.0)]);
    let mut primitive = triangle();
    primitive.targets = vec![Default::default(), Default::default()];
    scene.meshes = vec![mesh(primitive)];
    scene.nodes[0].mesh = Some(0);
    scene.animations = vec![animation(
        "a",
        vec![
            channel(0, ChannelPath::Weights, Interpolation::Linear, &[0.0, 2.0], &[0.0, 1.0, 1.0, 0.5]),
            channel(
                0,
                ChannelPath::Scale,
                Interpolation::Linear,
                &[0.0, 2.0],
                &[1.0, 1.0, 1.0, 3.0, 5.0, 7.0],
            ),
        ],
    )];
    let pose = posed(&scene, 1.0);
    assert_eq!(pose.weights[0], [0.5, 0.75]);
    assert_near(place(&pose, 0, [1.0, 1.0, 1.0]), [2.0, 3.0, 4.0], 0.0);
}

/// Two animations that both move x, and one of them y.
fn two() -> Scene {
    let x = |name: &str, x: f32| {
        animation(
            name,
            vec![channel(0, ChannelPath::Translation, Interpolation::Step, &[0.0], &[x, 0.0, 0.0])],
        )
    };
    let mut scene = scene(vec![at(7.0, 0.0, 0.0), at(0.0, 0.0, 0.0)]);
    scene.animations = vec![x("run", 1.0), x("walk", 2.0)];
    let second = channel(1, ChannelPath::Translation, Interpolation::Step, &[0.0], &[0.0, 3.0, 0.0]);
    scene.animations[0].channels.push(second);
    scene
}

#[test]
fn chooses_animations() {
    let scene = two();
    let cases = [
        (AnimationChoice::None, 7.0, 0.0),
        (AnimationChoice::First, 1.0, 3.0),
        (AnimationChoice::Index(0), 1.0, 3.0),
        (AnimationChoice::Index(1), 2.0, 0.0),
        (AnimationChoice::Name("walk".into()), 2.0, 0.0),
        (AnimationChoice::All, 2.0, 3.0),
    ];
    for (choice, x, y) in cases {
        let pose = evaluate(&scene, &choice, 0.0).expect("a pose");
        assert_eq!((place(&pose, 0, [0.0; 3]).x, place(&pose, 1, [0.0; 3]).y), (x, y), "{choice:?}");
    }
    let none = posed::scene(vec![at(7.0, 0.0, 0.0)]);
    for choice in [AnimationChoice::First, AnimationChoice::All, AnimationChoice::None] {
        assert_eq!(place(&evaluate(&none, &choice, 1.0).expect("a pose"), 0, [0.0; 3]).x, 7.0);
    }
}

#[test]
fn missing_animations_are_named_beside_what_is_there() {
    let scene = two();
    let refused = |choice| reason(evaluate(&scene, &choice, 0.0).unwrap_err(), "animation");
    assert_eq!(
        refused(AnimationChoice::Name("fly".into())),
        "there is no animation `fly`; the scene has 2 animations: 0 `run`, 1 `walk`"
    );
    assert_eq!(
        refused(AnimationChoice::Index(2)),
        "there is no animation 2; the scene has 2 animations: 0 `run`, 1 `walk`"
    );
    let mut many = posed::scene(vec![]);
    many.animations = (0..12).map(|index| animation(&format!("a{index}"), vec![])).collect();
    let listed = reason(evaluate(&many, &AnimationChoice::Index(99), 0.0).unwrap_err(), "animation");
    assert!(listed.ends_with("9 `a9`, ..."), "{listed}");
}

#[test]
fn times_must_be_finite() {
    for time_s in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let refused = evaluate(&two(), &AnimationChoice::First, time_s).unwrap_err();
        assert!(reason(refused, "time_s").contains("not a finite time"));
    }
}

/// A matrix is not animated (glTF 3.11): the channel has no effect.
#[test]
fn matrices_stay() {
    let mut scene = two();
    let mut columns = glam::Mat4::IDENTITY.to_cols_array();
    columns[12] = 5.0;
    scene.nodes[0].local = isoframe_raster::scene::Transform::Matrix(columns);
    assert_eq!(place(&posed(&scene, 0.0), 0, [0.0; 3]).x, 5.0);
}
