//! Bounds of what is drawn.

use crate::posed::*;
use glam::DVec3;
use isoframe_raster::pose::{Pose, bounds_world, trs_matrix};
use isoframe_raster::scene::*;
use proptest::prelude::*;

fn drawn(node: Node, primitive: Primitive) -> Scene {
    let mut scene = scene(vec![Node { mesh: Some(0), ..node }]);
    scene.meshes = vec![mesh(primitive)];
    scene
}

fn cube() -> Primitive {
    let corner = |i: u32| [0, 1, 2].map(|bit| if i >> bit & 1 == 0 { -1.0 } else { 1.0 });
    points(&(0..8).map(corner).collect::<Vec<_>>())
}

#[track_caller]
fn assert_bounds(scene: &Scene, low: [f64; 3], high: [f64; 3]) {
    let (got_low, got_high) = bounds_world(scene, &rest(scene)).expect("something drawn");
    assert_near(got_low, low, 1e-7);
    assert_near(got_high, high, 1e-7);
}

/// CASES R09. A cube turned by 45 degrees about Z reaches sqrt(2); a diamond turned likewise does not
/// reach beyond 1/sqrt(2), where its turned min and max would.
#[test]
fn turned_boxes_are_tight() {
    let eighth = (std::f32::consts::PI / 8.0).sin_cos();
    let turn = node([0.0; 3], [0.0, 0.0, eighth.0, eighth.1], [1.0; 3]);
    let root = 2f64.sqrt();
    assert_bounds(&drawn(turn.clone(), cube()), [-root, -root, -1.0], [root, root, 1.0]);
    let diamond = points(&[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]);
    let half = 0.5f64.sqrt();
    assert_bounds(&drawn(turn, diamond), [-half, -half, 0.0], [half, half, 0.0]);
}

#[test]
fn only_what_is_drawn_counts() {
    // CASES R09: all coordinates negative, so that a box begun at the origin would show.
    assert_bounds(&drawn(at(-5.0, -6.0, -7.0), triangle()), [-5.0, -6.0, -7.0], [-4.0, -5.0, -7.0]);

    let mut spare = triangle();
    spare.position.push([100.0; 3]);
    assert_bounds(&drawn(at(0.0, 0.0, 0.0), spare), [0.0; 3], [1.0, 1.0, 0.0]);

    let mut hidden = drawn(at(0.0, 0.0, 0.0), triangle());
    hidden.nodes.push(Node { mesh: Some(0), visible: false, ..at(50.0, 0.0, 0.0) });
    assert_bounds(&hidden, [0.0; 3], [1.0, 1.0, 0.0]);

    // Left out on load for want of POSITION: a mesh with nothing in it.
    hidden.meshes.push(Mesh::default());
    hidden.nodes.push(Node { mesh: Some(1), ..at(70.0, 0.0, 0.0) });
    assert_bounds(&hidden, [0.0; 3], [1.0, 1.0, 0.0]);
    hidden.nodes[0].visible = false;
    assert_eq!(bounds_world(&hidden, &rest(&hidden)), None);
    let empty = scene(vec![]);
    assert_eq!(bounds_world(&empty, &rest(&empty)), None);
}

#[test]
fn morphs_and_instances_count() {
    let mut primitive = triangle();
    let moved = |d: [f32; 3]| MorphTarget { position: vec![d; 3], ..MorphTarget::default() };
    primitive.targets = vec![moved([10.0, 0.0, 0.0]), moved([0.0, 0.0, -4.0]), MorphTarget::default()];
    let mut scene = drawn(at(0.0, 0.0, 0.0), primitive);
    scene.nodes[0].weights = Some(vec![0.5, 0.25, 1.0]);
    assert_bounds(&scene, [5.0, 0.0, -1.0], [6.0, 1.0, -1.0]);
    // Node scale applies after the instance's own translation.
    scene.nodes[0].local = scaled(2.0, 1.0, 1.0).local;
    let instance = |x| Trs { translation: [x, 0.0, 0.0], ..Trs::default() };
    scene.nodes[0].instances = Some(vec![instance(-20.0), instance(0.0)]);
    assert_bounds(&scene, [-30.0, 0.0, -1.0], [12.0, 1.0, -1.0]);
    scene.nodes[0].instances = Some(vec![]);
    assert_eq!(bounds_world(&scene, &rest(&scene)), None);
}

/// Every vertex of every instance by itself.
fn one_by_one(scene: &Scene, pose: &Pose) -> (DVec3, DVec3) {
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for (node, world_from_node) in scene.nodes.iter().zip(&pose.world_from_node) {
        for instance in node.instances.as_deref().unwrap_or(&[Trs::default()]) {
            let world_from_mesh = *world_from_node * trs_matrix(instance);
            for position in &scene.meshes[0].primitives[0].position {
                let point = world_from_mesh.transform_point3(glam::Vec3::from_array(*position).as_dvec3());
                low = low.min(point);
                high = high.max(point);
            }
        }
    }
    (low, high)
}

fn trs() -> impl Strategy<Value = Trs> {
    let three = |reach: f32| prop::array::uniform3(-reach..reach);
    (three(10.0), prop::array::uniform4(-1.0f32..1.0), three(2.0))
        .prop_map(|(translation, rotation, scale)| Trs { translation, rotation, scale })
}

proptest! {
    /// Passing over blocks of vertices loses none.
    #[test]
    fn blocks_lose_nothing(
        position in prop::collection::vec(prop::array::uniform3(-1.0f32..1.0), 1..400),
        places in prop::collection::vec(trs(), 1..4),
        instances in prop::collection::vec(trs(), 1..6),
    ) {
        let nodes = places.iter().map(|trs| Node {
            mesh: Some(0),
            instances: Some(instances.clone()),
            ..node(trs.translation, trs.rotation, trs.scale)
        });
        let mut scene = scene(nodes.collect());
        scene.meshes = vec![mesh(points(&position))];
        let pose = rest(&scene);
        let (low, high) = bounds_world(&scene, &pose).expect("something drawn");
        let expected = one_by_one(&scene, &pose);
        prop_assert!(low.abs_diff_eq(expected.0, 1e-12) && high.abs_diff_eq(expected.1, 1e-12));
    }
}
