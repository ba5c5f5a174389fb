//! Nodes, visibility, skins, morph weights and lights in place.

use crate::posed::*;
use glam::{DMat4, DQuat, DVec3};
use isoframe_raster::frame::{AnimationChoice, Lighting, Sun};
use isoframe_raster::pose::{COORDINATE_LIMIT, PlacedKind, check_sun, evaluate, lights, trs_matrix};
use isoframe_raster::scene::*;
use proptest::prelude::*;

/// CASES B01: the sign of the global determinant is what picks the winding.
#[test]
fn mirrors_multiply() {
    let cases = [
        ("plain", vec![at(0.0, 0.0, 0.0)], 1.0),
        ("one mirror", vec![scaled(-1.0, 1.0, 1.0)], -1.0),
        ("two in one node", vec![scaled(-1.0, -1.0, 1.0)], 1.0),
        ("two in a row", vec![scaled(-1.0, 1.0, 1.0), under(0, scaled(1.0, -1.0, 1.0))], 1.0),
        ("three", vec![scaled(-1.0, -1.0, 1.0), under(0, scaled(1.0, 1.0, -1.0))], -1.0),
    ];
    for (name, nodes, determinant) in cases {
        let scene = scene(nodes);
        let last = rest(&scene).world_from_node.pop().expect("a node");
        assert_eq!(last.determinant(), determinant, "{name}");
    }
}

/// (0,0,0) scaled by nothing, CASES B21 5 to 7.
#[test]
fn nothing_scaled_is_finite() {
    let cases = [
        ("flat", vec![scaled(1.0, 0.0, 1.0)]),
        ("a point", vec![scaled(0.0, 0.0, 0.0)]),
        ("a point in a point", vec![scaled(0.0, 0.0, 0.0), under(0, scaled(0.0, 0.0, 0.0))]),
        ("a rotation of no length", vec![node([1.0, 2.0, 3.0], [0.0; 4], [1.0; 3])]),
    ];
    for (name, nodes) in cases {
        let pose = rest(&scene(nodes));
        assert!(pose.world_from_node.iter().all(is_finite), "{name}");
    }
}

#[test]
fn transforms_that_explode_are_refused_by_node() {
    let mut nodes = vec![Node { name: "big".into(), ..scaled(1e10, 1.0, 1.0) }];
    nodes.push(Node { name: "bigger".into(), ..under(0, scaled(1e9, 1.0, 1.0)) });
    let refused = evaluate(&scene(nodes), &AnimationChoice::None, 0.0).unwrap_err();
    assert_eq!(
        reason(refused, "scene"),
        format!("node 1 `bigger`: its transform and its parents' multiply beyond {COORDINATE_LIMIT:e}")
    );
    // 40 factors of 1e30 leave f64 through infinity to NaN.
    let deep =
        (0..40).map(|index| Node { parent: (index > 0).then(|| index - 1), ..scaled(1e30, 1e30, 1e30) });
    assert!(evaluate(&scene(deep.collect()), &AnimationChoice::None, 0.0).is_err());
}

/// CASES B17 (4): no recursion to overflow. 100,000 steps of 0.25 along X are exact in binary.
#[test]
fn deep_chains_hold() {
    let chain = (0..100_000u32).map(|index| Node { parent: index.checked_sub(1), ..at(0.25, 0.0, 0.0) });
    let pose = rest(&scene(chain.collect()));
    assert_near(place(&pose, 99_999, [0.0; 3]), [25_000.0, 0.0, 0.0], 0.0);
}

#[test]
fn hidden_parents_hide() {
    let hidden = |node: Node| Node { visible: false, ..node };
    let o = || at(0.0, 0.0, 0.0);
    let nodes = vec![o(), hidden(under(0, o())), under(1, o()), under(2, o()), under(0, o())];
    assert_eq!(rest(&scene(nodes)).visible, [true, false, false, false, true]);
}

/// A two-joint strip as CASES B04 has it: joints 2 and 3, mesh node 1 under parent 0.
fn strip(parent: [f32; 3], own: [f32; 3]) -> Scene {
    let mut scene = scene(vec![
        node(parent, UNTURNED, [1.0; 3]),
        under(0, Node { mesh: Some(0), skin: Some(0), ..node(own, UNTURNED, [1.0; 3]) }),
        at(0.0, 0.0, 0.0),
        under(2, at(0.0, 0.0, 0.0)),
    ]);
    scene.skins = vec![Skin {
        joints: vec![2, 3],
        inverse_bind: vec![glam::Mat4::IDENTITY.to_cols_array(); 2],
        ..Skin::default()
    }];
    let mut primitive = triangle();
    primitive.joints = vec![[0, 1, 0, 0, 0, 0, 0, 0]; 3];
    primitive.joint_weights = vec![[0.5, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]; 3];
    scene.meshes = vec![mesh(primitive)];
    scene
}

/// CASES B04: only joints move a skinned mesh.
#[test]
fn a_skinned_mesh_ignores_its_node() {
    let bound = strip([0.0; 3], [0.0; 3]);
    let moved = strip([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
    assert_eq!(rest(&bound).palettes, rest(&moved).palettes);
    let palettes = rest(&moved).palettes;
    assert_eq!(palettes[1], Some(vec![DMat4::IDENTITY; 2]));
    assert_eq!((&palettes[0], &palettes[2], &palettes[3]), (&None, &None, &None));
    let bounds = |scene: &Scene| isoframe_raster::pose::bounds_world(scene, &rest(scene));
    assert_eq!(bounds(&bound), bounds(&moved));
}

/// CASES B17 (5): a joint that is also the ancestor of the skinned mesh; world = joint * inverse bind.
#[test]
fn a_joint_may_be_an_ancestor() {
    let mut scene = scene(vec![
        node([3.0, 0.0, 0.0], UNTURNED, [2.0; 3]),
        under(0, Node { mesh: Some(0), skin: Some(0), ..at(9.0, 9.0, 9.0) }),
    ]);
    scene.meshes = vec![mesh(triangle())];
    let inverse_bind = glam::Mat4::from_translation(glam::Vec3::new(-1.0, 0.0, 0.0)).to_cols_array();
    scene.skins = vec![Skin { joints: vec![0], inverse_bind: vec![inverse_bind], ..Skin::default() }];
    let palette = rest(&scene).palettes[1].clone().expect("a palette");
    // (5 - 1) * 2 + 3.
    assert_near(palette[0].transform_point3(DVec3::new(5.0, 0.0, 0.0)), [11.0, 0.0, 0.0], 0.0);
}

/// CASES B13: a node's weights come before its mesh's.
#[test]
fn weights_in_force() {
    let mut morphed = triangle();
    morphed.targets = vec![MorphTarget::default(), MorphTarget::default()];
    let mut scene = scene(vec![
        Node { mesh: Some(0), ..at(0.0, 0.0, 0.0) },
        Node { mesh: Some(0), weights: Some(vec![0.0, 1.0]), ..at(0.0, 0.0, 0.0) },
        Node { mesh: Some(1), ..at(0.0, 0.0, 0.0) },
        Node { weights: Some(vec![0.5]), ..at(0.0, 0.0, 0.0) },
        Node { mesh: Some(0), weights: Some(vec![0.5]), ..at(0.0, 0.0, 0.0) },
    ]);
    scene.meshes = vec![Mesh { weights: vec![1.0, 0.0], ..mesh(morphed) }, mesh(triangle())];
    let expected: [&[f32]; 5] = [&[1.0, 0.0], &[0.0, 1.0], &[], &[], &[0.5, 0.0]];
    assert_eq!(rest(&scene).weights, expected);
}

fn lit(node: Node, kind: LightKind) -> Scene {
    let mut scene = scene(vec![Node { light: Some(0), ..node }]);
    let light =
        Light { name: String::new(), kind, color: [1.0, 0.5, 0.25], intensity: 8.0, range: Some(5.0) };
    scene.lights = vec![light];
    scene
}

/// KHR_lights_punctual: along -Z, scale without effect; a quarter turn about X takes -Z to +Y... from
/// (0, 0, -1) to (0, sin 90, -cos 90) = (0, 1, 0).
#[test]
fn lights_stand_and_point() {
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let turned = node([1.0, 2.0, 3.0], [half, 0.0, 0.0, half], [4.0, 4.0, 4.0]);
    let spot = LightKind::Spot { inner_cone_rad: 0.0, outer_cone_rad: std::f32::consts::FRAC_PI_3 };
    for (kind, placed) in [
        (LightKind::Directional, PlacedKind::Directional),
        (LightKind::Point, PlacedKind::Point),
        (spot, PlacedKind::Spot),
    ] {
        let scene = lit(turned.clone(), kind);
        let lights = lights(&scene, &rest(&scene), &Lighting::default());
        assert_eq!(lights.len(), 1);
        assert_eq!((lights[0].kind, lights[0].range), (placed, 5.0));
        assert_eq!(lights[0].linear_color, [8.0, 4.0, 2.0]);
        assert_near(lights[0].position_world, [1.0, 2.0, 3.0], 0.0);
        if placed != PlacedKind::Point {
            assert_near(lights[0].direction_world, [0.0, 1.0, 0.0], 1e-7);
        }
        if placed == PlacedKind::Spot {
            assert_eq!(lights[0].cos_inner, 1.0);
            assert!((lights[0].cos_outer - 0.5).abs() < 1e-6);
        }
    }
}

#[test]
fn only_lights_that_can_shine_do() {
    let on = Lighting::default();
    let count = |scene: &Scene, lighting: &Lighting| lights(scene, &rest(scene), lighting).len();
    let o = || at(0.0, 0.0, 0.0);
    assert_eq!(count(&lit(Node { visible: false, ..o() }, LightKind::Point), &on), 0);
    assert_eq!(count(&lit(o(), LightKind::Point), &Lighting { punctual: false, ..on }), 0);
    assert_eq!(count(&lit(scaled(1.0, 1.0, 0.0), LightKind::Directional), &on), 0);
    assert_eq!(count(&lit(scaled(0.0, 0.0, 0.0), LightKind::Point), &on), 1);
}

#[test]
fn cones_are_held_in_order() {
    let cases = [
        ("inner beyond outer", 1.0, 0.5, 0.5, 0.5),
        ("outer beyond a right angle", 0.1, 4.0, 0.1, std::f64::consts::FRAC_PI_2),
        ("negative", -1.0, -2.0, 0.0, 0.0),
    ];
    for (name, inner, outer, inner_rad, outer_rad) in cases {
        let scene = lit(at(0.0, 0.0, 0.0), LightKind::Spot { inner_cone_rad: inner, outer_cone_rad: outer });
        let light = lights(&scene, &rest(&scene), &Lighting::default())[0];
        assert!((f64::from(light.cos_inner) - f64::cos(inner_rad)).abs() < 1e-6, "{name}: {light:?}");
        assert!((f64::from(light.cos_outer) - f64::cos(outer_rad)).abs() < 1e-6, "{name}: {light:?}");
    }
}

#[test]
fn the_sun_is_placed_last_and_checked() {
    let sun = |direction_world, illuminance_lux| Lighting {
        sun: Some(Sun { direction_world, illuminance_lux }),
        ..Lighting::default()
    };
    let scene = lit(at(0.0, 0.0, 0.0), LightKind::Point);
    let placed = lights(&scene, &rest(&scene), &sun([0.0, -3.0, 4.0], 2.0));
    assert_eq!(
        (placed.len(), placed[1].kind, placed[1].linear_color),
        (2, PlacedKind::Directional, [2.0; 3])
    );
    assert_near(placed[1].direction_world, [0.0, -0.6, 0.8], 1e-15);

    assert_eq!(check_sun(&Lighting::default()), Ok(()));
    assert_eq!(check_sun(&sun([0.0, -1e-20, 0.0], 0.0)), Ok(()));
    let nan = f32::NAN;
    for bad in [
        sun([0.0; 3], 1.0),
        sun([nan, 0.0, 0.0], 1.0),
        sun([0.0, -1.0, 0.0], -1.0),
        sun([0.0, -1.0, 0.0], nan),
    ] {
        reason(check_sun(&bad).unwrap_err(), "lighting.sun");
    }
}

/// Colour times intensity stays where products of two are finite.
#[test]
fn extreme_intensities_are_held() {
    for (intensity, expected) in [(f32::MAX, 1e18), (-1.0, 0.0), (0.0, 0.0)] {
        let mut scene = lit(at(0.0, 0.0, 0.0), LightKind::Point);
        scene.lights[0].intensity = intensity;
        scene.lights[0].color = [1.0; 3];
        assert_eq!(lights(&scene, &rest(&scene), &Lighting::default())[0].linear_color, [expected; 3]);
    }
}

fn trs() -> impl Strategy<Value = Trs> {
    let three = |low: f32, high: f32| prop::array::uniform3(low..high);
    (three(-10.0, 10.0), prop::array::uniform4(-1.0f32..1.0), three(-2.0, 2.0))
        .prop_map(|(translation, rotation, scale)| Trs { translation, rotation, scale })
}

/// T * R * S written out, quaternion normalised.
fn written_out(trs: &Trs) -> DMat4 {
    let rotation = DQuat::from_array(trs.rotation.map(f64::from)).normalize();
    DMat4::from_translation(glam::Vec3::from_array(trs.translation).as_dvec3())
        * DMat4::from_quat(rotation)
        * DMat4::from_scale(glam::Vec3::from_array(trs.scale).as_dvec3())
}

proptest! {
    /// A chain's world matrix is the product of its locals, however that is bracketed.
    #[test]
    fn worlds_are_products(chain in prop::collection::vec(trs(), 1..8)) {
        prop_assume!(chain.iter().all(|trs| trs.rotation.iter().map(|q| q * q).sum::<f32>() > 0.01));
        let nodes = chain.iter().enumerate().map(|(index, trs)| Node {
            parent: (index as u32).checked_sub(1),
            ..node(trs.translation, trs.rotation, trs.scale)
        });
        let world = rest(&scene(nodes.collect())).world_from_node.pop().expect("a node");
        let from_the_right = chain.iter().rev().fold(DMat4::IDENTITY, |product, trs| written_out(trs) * product);
        let tolerance = 1e-10 * 2f64.powi(chain.len() as i32) * 100.0;
        prop_assert!(world.abs_diff_eq(from_the_right, tolerance), "{} {}", world, from_the_right);
        prop_assert!(trs_matrix(&chain[0]).abs_diff_eq(written_out(&chain[0]), 1e-12));
    }

    /// A matrix node and the TRS node that says the same stand alike.
    #[test]
    fn matrices_are_transforms_too(trs in trs()) {
        prop_assume!(trs.rotation.iter().map(|q| q * q).sum::<f32>() > 0.01);
        let columns = written_out(&trs).to_cols_array().map(|entry| entry as f32);
        let matrix = Node { local: Transform::Matrix(columns), ..at(0.0, 0.0, 0.0) };
        let both = rest(&scene(vec![matrix, node(trs.translation, trs.rotation, trs.scale)]));
        prop_assert!(both.world_from_node[0].abs_diff_eq(both.world_from_node[1], 1e-5));
    }
}
