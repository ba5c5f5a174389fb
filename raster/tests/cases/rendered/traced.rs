//! What a sample should show, found in `f64` by trying every triangle. Built on poses and views alone.

use glam::DVec3;
use isoframe_raster::pose::{Pose, trs_matrix};
use isoframe_raster::scene::{Primitive, Scene, Trs};
use isoframe_raster::view::{Lens, Moments, View};

/// A triangle now and before.
#[derive(Debug, Clone, Copy)]
pub struct Traced {
    pub now_world: [DVec3; 3],
    pub before_world: [DVec3; 3],
    /// glTF node + 1, glTF primitive + 1.
    pub id: [u32; 2],
}

/// What a sample sees.
#[derive(Debug, Clone, Copy)]
pub struct Hit {
    pub depth: f64,
    /// Previous minus current; zero where the point was not in front of the eye.
    pub motion_px: [f64; 2],
    pub id: [u32; 2],
    /// Place among the triangles.
    pub triangle: usize,
}

/// All triangles of visible nodes, both sides.
pub fn triangles(scene: &Scene, moments: &Moments) -> Vec<Traced> {
    let now = &moments.current.0;
    let before = moments.previous.as_ref().map_or(now, |(pose, _)| pose);
    let mut traced = Vec::new();
    for (index, node) in scene.nodes.iter().enumerate() {
        let Some(mesh) = node.mesh.filter(|_| now.visible[index]) else { continue };
        for instance in node.instances.as_deref().unwrap_or(&[Trs::default()]) {
            for primitive in &scene.meshes[mesh as usize].primitives {
                let at = |pose: &Pose, vertex: u32| {
                    vertex_world(pose, index, primitive, instance, vertex as usize)
                };
                for corners in primitive.indices.chunks_exact(3) {
                    traced.push(Traced {
                        now_world: [0, 1, 2].map(|k| at(now, corners[k])),
                        before_world: [0, 1, 2].map(|k| at(before, corners[k])),
                        id: [node.gltf_index + 1, primitive.gltf_index + 1],
                    });
                }
            }
        }
    }
    traced
}

fn vertex_world(pose: &Pose, node: usize, primitive: &Primitive, instance: &Trs, vertex: usize) -> DVec3 {
    let wide = |v: [f32; 3]| glam::Vec3::from_array(v).as_dvec3();
    let mut point = wide(primitive.position[vertex]);
    for (target, weight) in primitive.targets.iter().zip(&pose.weights[node]) {
        point += wide(target.position[vertex]) * f64::from(*weight);
    }
    match &pose.palettes[node] {
        Some(palette) => {
            let influences = primitive.joints[vertex].iter().zip(&primitive.joint_weights[vertex]);
            influences
                .map(|(joint, weight)| palette[*joint as usize].transform_point3(point) * f64::from(*weight))
                .sum()
        }
        None => (pose.world_from_node[node] * trs_matrix(instance)).transform_point3(point),
    }
}

/// The nearest triangle at a point of the picture.
pub fn trace(
    triangles: &[Traced],
    moments: &Moments,
    size_px: [u32; 2],
    x_px: f64,
    y_px: f64,
) -> Option<Hit> {
    let view = &moments.current.1;
    let (x, y) = (x_px - f64::from(size_px[0]) / 2.0, f64::from(size_px[1]) / 2.0 - y_px);
    // A point at depth t is start + t * step.
    let (start, step, znear, zfar) = match view.lens {
        Lens::Perspective { focal_px, znear, zfar } => {
            (DVec3::ZERO, DVec3::new(x / focal_px, y / focal_px, -1.0), znear, zfar.unwrap_or(f64::INFINITY))
        }
        Lens::Orthographic { px_per_unit, znear, zfar } => {
            (DVec3::new(x / px_per_unit, y / px_per_unit, 0.0), DVec3::NEG_Z, znear, zfar)
        }
    };
    let start = view.world_from_view.transform_point3(start);
    let step = view.world_from_view.transform_vector3(step);
    let mut nearest: Option<Hit> = None;
    for (index, triangle) in triangles.iter().enumerate() {
        let Some((depth, across, along)) = meet(&triangle.now_world, start, step) else { continue };
        let limit = nearest.map_or(zfar, |hit| hit.depth);
        if depth < znear || depth >= limit {
            continue;
        }
        let [a, b, c] = triangle.before_world;
        let before_world = a + (b - a) * across + (c - a) * along;
        let motion_px = match &moments.previous {
            Some((_, before)) => moved(before, before_world, size_px, [x_px, y_px]),
            None => [0.0; 2],
        };
        nearest = Some(Hit { depth, motion_px, id: triangle.id, triangle: index });
    }
    nearest
}

fn moved(before: &View, before_world: DVec3, size_px: [u32; 2], now_px: [f64; 2]) -> [f64; 2] {
    match before.project(before_world, size_px[0], size_px[1]) {
        Some((x_px, y_px, _)) => [x_px - now_px[0], y_px - now_px[1]].map(|v| v.clamp(-65504.0, 65504.0)),
        None => [0.0; 2],
    }
}

/// Depth and the two barycentric weights beside the first corner's. *Source*: Möller, Trumbore 1997.
fn meet([a, b, c]: &[DVec3; 3], start: DVec3, step: DVec3) -> Option<(f64, f64, f64)> {
    let (ab, ac) = (*b - *a, *c - *a);
    let perpendicular = step.cross(ac);
    let determinant = ab.dot(perpendicular);
    if determinant == 0.0 {
        return None;
    }
    let from_a = start - *a;
    let across = from_a.dot(perpendicular) / determinant;
    let turned = from_a.cross(ab);
    let along = step.dot(turned) / determinant;
    let inside = across >= 0.0 && along >= 0.0 && across + along <= 1.0;
    inside.then(|| (ac.dot(turned) / determinant, across, along))
}
