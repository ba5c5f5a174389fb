//! What moves: turning and travelling nodes, cameras, a skinned stalk, a morphing lump.

use std::f64::consts::TAU;

use glam::{DMat4, DQuat, DVec3};

use super::glb::{Range, f32x3, push};
use super::gltf;
use super::look;
use super::mesh::{Bounds, Mesh, Pose, turn};
use super::noise::fbm;
use super::rng::Rng;
use super::shapes;
use super::stage::{Stage, Viewpoint, look_rotation, posed, quaternion};

/// Length of every animation. *Units*: seconds.
const DURATION_S: f64 = 4.0;
/// Keys of a smooth motion.
const KEY_COUNT: u32 = 17;

fn times() -> Vec<f64> {
    (0..KEY_COUNT).map(|key| DURATION_S * f64::from(key) / f64::from(KEY_COUNT - 1)).collect()
}

/// Turns a node about its own axis; ends where it began.
pub(super) fn spin(stage: &mut Stage, node: u32, axis: DVec3, start: DQuat, turns: f64) {
    let keys: Vec<[f32; 4]> = times()
        .iter()
        .map(|time| quaternion((start * turn(axis, TAU * turns * time / DURATION_S)).normalize()))
        .collect();
    stage.track(node, "rotation", "VEC4", &times(), &keys);
}

/// Carries a node along a loop around where it stands.
pub(super) fn hover(stage: &mut Stage, node: u32, at: DVec3, reach: DVec3) {
    let keys: Vec<[f32; 3]> = times()
        .iter()
        .map(|time| {
            let (sin, cos) = libm::sincos(TAU * time / DURATION_S);
            let (double, _) = libm::sincos(2.0 * TAU * time / DURATION_S);
            f32x3(at + reach * DVec3::new(sin, double, cos - 1.0))
        })
        .collect();
    stage.track(node, "translation", "VEC3", &times(), &keys);
}

/// Moves a camera sideways within the clear space around its eye, still looking at its target.
pub(super) fn dolly(stage: &mut Stage, camera_node: u32, view: Viewpoint) {
    let aside = (view.target - view.eye).cross(DVec3::Y).normalize_or(DVec3::X) * 0.25;
    let eye = |time: f64| {
        let (sin, cos) = libm::sincos(TAU * time / DURATION_S);
        view.eye + aside * sin + DVec3::Y * (0.1 * (1.0 - cos))
    };
    let places: Vec<[f32; 3]> = times().iter().map(|&time| f32x3(eye(time))).collect();
    let turns: Vec<[f32; 4]> =
        times().iter().map(|&time| quaternion(look_rotation(view.target - eye(time)))).collect();
    stage.track(camera_node, "translation", "VEC3", &times(), &places);
    stage.track(camera_node, "rotation", "VEC4", &times(), &turns);
    stage.tags.insert("moving_camera");
}

/// A stalk that sways on a skin of six joints.
pub(super) fn stalk(stage: &mut Stage, rng: &mut Rng, pose: Pose, height: f64) -> bool {
    const JOINTS: u32 = 6;
    let pitch = height / f64::from(JOINTS);
    let (low, high) = (height * rng.range(0.06, 0.12), height * rng.range(0.02, 0.05));
    let outline: Vec<[f64; 2]> = (0..=24)
        .map(|step| {
            let t = f64::from(step) / 24.0;
            [low + (high - low) * t, height * t]
        })
        .collect();
    let mesh = shapes::lathe(&[vec![[0.0, 0.0]], outline, vec![[0.0, height]]].concat(), 24, false);
    // It sways: what it may reach is kept free.
    let reach = DVec3::new(0.5, 0.0, 0.5) * height;
    let bounds = Bounds { min: pose.translation - reach, max: pose.translation + reach + DVec3::Y * height };
    if !stage.free(&bounds) {
        return false;
    }
    stage.block(bounds);
    let material = super::props::any_material(stage, rng);
    let node = skinned(stage, &mesh, material, pitch, JOINTS);
    let joints = chain(stage, pitch, JOINTS, pose);
    let skin = bind(stage, &joints, pitch);
    stage.glb.root.nodes[node as usize].skin = Some(skin);
    let (amount, phase) = (rng.range(0.1, 0.22), rng.unit());
    for (index, &joint) in joints.iter().enumerate().skip(1) {
        let keys: Vec<[f32; 4]> = times()
            .iter()
            .map(|time| {
                let angle = TAU * (time / DURATION_S + phase + 0.1 * index as f64);
                let bend =
                    turn(DVec3::X, amount * libm::sin(angle)) * turn(DVec3::Z, amount * libm::cos(angle));
                quaternion(bend.normalize())
            })
            .collect();
        stage.track(joint, "rotation", "VEC4", &times(), &keys);
    }
    stage.tags.insert("skin");
    true
}

/// The mesh with two joints a vertex, blended along its height.
fn skinned(stage: &mut Stage, mesh: &Mesh, material: u32, pitch: f64, joint_count: u32) -> u32 {
    let bone = |point: &DVec3| (point.y / pitch - 0.5).max(0.0).min(f64::from(joint_count - 1));
    let joints: Vec<[u16; 4]> = mesh
        .position
        .iter()
        .map(|point| {
            let low = bone(point) as u16;
            [low, (low + 1).min(joint_count as u16 - 1), 0, 0]
        })
        .collect();
    let weights: Vec<[f32; 4]> = mesh
        .position
        .iter()
        .map(|point| {
            let t = (bone(point) - bone(point).floor()) as f32;
            [1.0 - t, t, 0.0, 0.0]
        })
        .collect();
    let node = stage.build("stalk", vec![(mesh.clone(), material)]);
    let mesh_index = stage.glb.root.nodes[node as usize].mesh.unwrap_or_default();
    let (joints, weights) = (stage.glb.joints(&joints), stage.glb.weights(&weights));
    let attributes = &mut stage.glb.root.meshes[mesh_index as usize].primitives[0].attributes;
    (attributes.joints_0, attributes.weights_0) = (Some(joints), Some(weights));
    node
}

/// Joints one above the other, each the child of the one below; the first has the pose.
fn chain(stage: &mut Stage, pitch: f64, count: u32, pose: Pose) -> Vec<u32> {
    let mut joints = vec![stage.root(posed("joint 0", pose))];
    for index in 1..count {
        let node = posed(&format!("joint {index}"), Pose::at(0.0, pitch, 0.0));
        let joint = push(&mut stage.glb.root.nodes, node);
        stage.glb.root.nodes[joints[joints.len() - 1] as usize].children.push(joint);
        joints.push(joint);
    }
    joints
}

fn bind(stage: &mut Stage, joints: &[u32], pitch: f64) -> u32 {
    let inverse: Vec<[f32; 16]> = (0..joints.len())
        .map(|index| {
            let matrix = DMat4::from_translation(DVec3::new(0.0, -pitch * index as f64, 0.0));
            matrix.to_cols_array().map(|value| value as f32 + 0.0)
        })
        .collect();
    let inverse_bind_matrices = stage.glb.floats("MAT4", inverse, Range::Unsaid, None);
    push(&mut stage.glb.root.skins, gltf::Skin { joints: joints.to_vec(), inverse_bind_matrices })
}

/// A ball that morphs into two lumps and back.
pub(super) fn morphing(stage: &mut Stage, rng: &mut Rng, pose: Pose, radius: f64) -> bool {
    let material =
        stage.role("morphing", rng.pick(&[look::plastic, look::metal, look::lacquer, look::iridescent]));
    let base = shapes::sphere(radius, 48);
    let seeds = [rng.bits() >> 1, rng.bits() >> 1];
    let Some(node) = stage.put("morphing", vec![(base.clone(), material)], pose) else { return false };
    let mesh = stage.glb.root.nodes[node as usize].mesh.unwrap_or_default() as usize;
    let mut targets = Vec::new();
    for seed in seeds {
        let out = |point: DVec3| point * (0.7 * (fbm(seed, point / radius * 1.3 + 5.0) - 0.6));
        let moved: Vec<DVec3> = base.position.iter().map(|&point| out(point)).collect();
        let bent = base
            .position
            .iter()
            .zip(&base.normal)
            .map(|(&point, &normal)| bend(&out, point, normal) - normal);
        let bent: Vec<DVec3> = bent.collect();
        let position = stage.glb.points(moved, Range::Said);
        let normal = stage.glb.points(bent, Range::Unsaid);
        targets.push(gltf::Attributes { position, normal, ..Default::default() });
    }
    stage.glb.root.meshes[mesh].primitives[0].targets = targets;
    stage.glb.root.meshes[mesh].weights = vec![0.0, 0.0];
    let keys: Vec<[f32; 1]> = times()
        .iter()
        .flat_map(|time| {
            let (sin, cos) = libm::sincos(TAU * time / DURATION_S);
            [[(0.5 - 0.5 * cos) as f32], [(0.5 + 0.5 * sin) as f32]]
        })
        .collect();
    stage.track(node, "weights", "SCALAR", &times(), &keys);
    stage.tags.insert("morph");
    true
}

/// The normal of a displaced sphere, from differences along two tangents.
fn bend(out: &impl Fn(DVec3) -> DVec3, point: DVec3, normal: DVec3) -> DVec3 {
    let right = normal.any_orthonormal_vector();
    let up = normal.cross(right);
    let step = point.length() * 1e-4;
    let moved = |along: DVec3| point + along * step + out(point + along * step);
    (moved(right) - moved(-right)).cross(moved(up) - moved(-up)).normalize_or(normal)
}
