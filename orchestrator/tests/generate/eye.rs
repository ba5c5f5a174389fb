//! Rays from every camera: it stands in the open, outside of everything, and sees something.

use glam::{DMat4, DVec3};
use isoframe_raster::frame::AnimationChoice;
use isoframe_raster::pose;
use isoframe_raster::scene::{CameraKind, Scene};

use super::SAMPLES;

/// Rays across and up.
const GRID: [u32; 2] = [12, 8];
const ASPECT: f64 = 1.5;

/// A drawn mesh in the world.
struct Solid {
    min: DVec3,
    max: DVec3,
    triangles: Vec<[DVec3; 3]>,
    double_sided: bool,
}

fn solids(scene: &Scene, time_s: f64) -> (Vec<Solid>, Vec<DMat4>) {
    let pose = pose::evaluate(scene, &AnimationChoice::First, time_s).expect("a pose");
    let mut solids = Vec::new();
    for (node, world) in scene.nodes.iter().zip(&pose.world_from_node) {
        // Skinned meshes are where their joints are; what they reach is kept free, not what they are at rest.
        let Some(mesh) = node.mesh.filter(|_| node.skin.is_none()) else { continue };
        for primitive in &scene.meshes[mesh as usize].primitives {
            let point = |index: u32| {
                let [x, y, z] = primitive.position[index as usize].map(f64::from);
                world.transform_point3(DVec3::new(x, y, z))
            };
            let triangles: Vec<[DVec3; 3]> =
                primitive.indices.chunks_exact(3).map(|t| [point(t[0]), point(t[1]), point(t[2])]).collect();
            let all = || triangles.iter().flatten().copied();
            solids.push(Solid {
                min: all().fold(DVec3::INFINITY, DVec3::min),
                max: all().fold(DVec3::NEG_INFINITY, DVec3::max),
                double_sided: scene.materials[primitive.material as usize].double_sided,
                triangles,
            });
        }
    }
    (solids, pose.world_from_node)
}

/// Distance to the nearest triangle, and whether its back was met.
fn nearest(solids: &[Solid], from: DVec3, along: DVec3) -> Option<(f64, bool)> {
    let mut best: Option<(f64, bool)> = None;
    for solid in solids {
        let (low, high) = ((solid.min - from) / along, (solid.max - from) / along);
        let (enter, leave) = (low.min(high).max_element(), low.max(high).min_element());
        if enter > leave || leave < 0.0 || best.is_some_and(|(distance, _)| enter > distance) {
            continue;
        }
        for [a, b, c] in &solid.triangles {
            // Möller and Trumbore 1997.
            let (u, v) = (*b - *a, *c - *a);
            let p = along.cross(v);
            let determinant = u.dot(p);
            if determinant.abs() < 1e-14 {
                continue;
            }
            let s = (from - *a) / determinant;
            let (x, q) = (s.dot(p), s.cross(u));
            let (y, t) = (along.dot(q), v.dot(q));
            if x >= 0.0
                && y >= 0.0
                && x + y <= 1.0
                && t > 0.0
                && best.is_none_or(|(distance, _)| t < distance)
            {
                best = Some((t, determinant < 0.0 && !solid.double_sided));
            }
        }
    }
    best
}

/// What the rays of a camera met.
#[derive(Debug, Default)]
struct Seen {
    hits: usize,
    backs: usize,
    near: usize,
    closest: f64,
    farthest: f64,
}

fn look(solids: &[Solid], world_from_view: &DMat4, yfov_rad: f64) -> Seen {
    let from = world_from_view.w_axis.truncate();
    let tan = libm::tan(yfov_rad * 0.5);
    let mut seen = Seen { closest: f64::INFINITY, ..Seen::default() };
    for row in 0..GRID[1] {
        for column in 0..GRID[0] {
            let [x, y] = [(column, GRID[0]), (row, GRID[1])]
                .map(|(at, count)| (f64::from(at) + 0.5) / f64::from(count) * 2.0 - 1.0);
            let along =
                world_from_view.transform_vector3(DVec3::new(x * tan * ASPECT, y * tan, -1.0)).normalize();
            let Some((distance, back)) = nearest(solids, from, along) else { continue };
            seen.hits += 1;
            seen.backs += usize::from(back);
            seen.near += usize::from(distance < 0.4);
            seen.closest = seen.closest.min(distance);
            seen.farthest = seen.farthest.max(distance);
        }
    }
    seen
}

#[test]
fn cameras_stand_in_the_open_and_see_something() {
    let ray_count = (GRID[0] * GRID[1]) as usize;
    let mut wrong = Vec::new();
    for sample in SAMPLES.iter() {
        let (entry, scene) = (&sample.made.entry, &sample.read);
        for &time_s in entry.times_s.iter().step_by(2) {
            let (solids, world_from_node) = solids(scene, time_s);
            for (index, node) in scene.nodes.iter().enumerate() {
                let Some(camera) = node.camera.map(|camera| &scene.cameras[camera as usize]) else {
                    continue;
                };
                let CameraKind::Perspective { yfov_rad, .. } = camera.kind else { panic!("{}", camera.name) };
                let seen = look(&solids, &world_from_node[index], yfov_rad.into());
                let ok = seen.hits * 3 >= ray_count
                    && seen.backs * 50 <= seen.hits
                    && seen.near * 20 <= ray_count
                    && seen.closest > 0.1
                    && seen.farthest > 1.3 * seen.closest;
                if !ok {
                    wrong
                        .push(format!("{} {} {} at {time_s}: {seen:?}", entry.file, entry.kind, camera.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
