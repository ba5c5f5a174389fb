//! Flat normals where a file has none.

use super::Primitive;
use super::accessor::settle;
use super::error::SceneError;
use super::limits::Budget;

/// Gives each triangle its own vertices and its face normal, as glTF 2.0 (3.7.2.1) requires; morph targets get the
/// change of that normal, so that a target at weight one alone is flat too. Tangents are dropped.
pub(crate) fn flatten(
    what: &str,
    primitive: &mut Primitive,
    budget: &mut Budget<'_>,
) -> Result<(), SceneError> {
    let corners = std::mem::take(&mut primitive.indices);
    budget.vertices(what, corners.len() as u64)?;
    budget.geometry_bytes(what, corners.len() as u64 * bytes_per_vertex(primitive))?;
    gather_vertices(primitive, &corners);
    primitive.indices = (0..corners.len() as u32).collect();
    primitive.tangent = Vec::new();
    primitive.normal = face_normals(primitive.position.chunks_exact(3).map(|t| [t[0], t[1], t[2]]));
    for target in &mut primitive.targets {
        target.tangent = Vec::new();
        if target.position.is_empty() {
            target.normal = Vec::new();
            continue;
        }
        let moved: Vec<[f32; 3]> =
            primitive.position.iter().zip(&target.position).map(|(p, d)| add(*p, *d)).collect();
        let normals = face_normals(moved.chunks_exact(3).map(|t| [t[0], t[1], t[2]]));
        target.normal = normals.iter().zip(&primitive.normal).map(|(n, base)| subtract(*n, *base)).collect();
    }
    Ok(())
}

/// Bytes that one vertex takes in all the attributes that are there, and the normals that will be.
pub(crate) fn bytes_per_vertex(primitive: &Primitive) -> u64 {
    let present = |length: usize, bytes: u64| if length == 0 { 0 } else { bytes };
    let targets: u64 = primitive.targets.iter().map(|target| 24 + present(target.tangent.len(), 12)).sum();
    24 + present(primitive.tangent.len(), 16)
        + present(primitive.uv0.len(), 8)
        + present(primitive.uv1.len(), 8)
        + present(primitive.color.len(), 16)
        + present(primitive.joints.len(), 48)
        + targets
}

/// Replaces every vertex attribute by its values at `by`.
pub(crate) fn gather_vertices(primitive: &mut Primitive, by: &[u32]) {
    fn gather<T: Copy>(values: &mut Vec<T>, by: &[u32]) {
        if !values.is_empty() {
            *values = by.iter().map(|&index| values[index as usize]).collect();
        }
    }
    gather(&mut primitive.position, by);
    gather(&mut primitive.normal, by);
    gather(&mut primitive.tangent, by);
    gather(&mut primitive.uv0, by);
    gather(&mut primitive.uv1, by);
    gather(&mut primitive.color, by);
    gather(&mut primitive.joints, by);
    gather(&mut primitive.joint_weights, by);
    for target in &mut primitive.targets {
        gather(&mut target.position, by);
        gather(&mut target.normal, by);
        gather(&mut target.tangent, by);
    }
}

fn face_normals(triangles: impl Iterator<Item = [[f32; 3]; 3]>) -> Vec<[f32; 3]> {
    triangles.flat_map(|triangle| [face_normal(triangle); 3]).collect()
}

/// The unit normal of a counter-clockwise triangle; +Z where it has no area. Worked in `f64`.
pub(crate) fn face_normal([a, b, c]: [[f32; 3]; 3]) -> [f32; 3] {
    let edge = |to: [f32; 3]| [0, 1, 2].map(|axis| f64::from(to[axis]) - f64::from(a[axis]));
    let (u, v) = (edge(b), edge(c));
    let cross = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    let squared = cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2];
    if squared < 1e-200 {
        return [0.0, 0.0, 1.0];
    }
    let length = squared.sqrt();
    cross.map(|value| settle((value / length) as f32))
}

fn add(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

fn subtract(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]].map(settle)
}
