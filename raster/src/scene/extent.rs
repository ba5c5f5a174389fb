//! How far from the origin a scene reaches at rest: what every pass may rely on to stay finite.

use super::error::SceneError;
use super::{Mesh, Node, Transform, Trs};

/// Columns of the upper three rows of an affine matrix.
type Affine = [[f64; 3]; 4];

const IDENTITY: Affine = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]];

/// Refuses scenes whose vertices or nodes lie beyond `limit` at rest, after all their parents' transforms.
pub(crate) fn check(nodes: &[Node], meshes: &[Mesh], limit: f64) -> Result<(), SceneError> {
    let boxes: Vec<Option<[[f64; 3]; 2]>> = meshes.iter().map(mesh_box).collect();
    let mut world: Vec<Affine> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let local = affine(&node.local);
        let placed = node.parent.map_or(local, |parent| product(&world[parent as usize], &local));
        let what = || format!("node {} in world space", node.gltf_index);
        within(placed.iter().flatten(), limit, what)?;
        world.push(placed);
        let corners = node.mesh.and_then(|mesh| boxes[mesh as usize]);
        let Some(corners) = corners.filter(|_| node.skin.is_none()) else { continue };
        let what = || format!("node {}: its mesh in world space", node.gltf_index);
        match &node.instances {
            None => check_box(&placed, &corners, limit, what)?,
            Some(instances) => {
                for instance in instances {
                    let placed = product(&placed, &affine(&Transform::Trs(*instance)));
                    check_box(&placed, &corners, limit, what)?;
                }
            }
        }
    }
    Ok(())
}

fn mesh_box(mesh: &Mesh) -> Option<[[f64; 3]; 2]> {
    let positions = mesh.primitives.iter().flat_map(|primitive| &primitive.position);
    positions.fold(None, |corners, position| {
        let position = position.map(f64::from);
        let [low, high] = corners.unwrap_or([position; 2]);
        let axes = [0, 1, 2];
        Some([axes.map(|k| low[k].min(position[k])), axes.map(|k| high[k].max(position[k]))])
    })
}

fn check_box(
    world: &Affine,
    [low, high]: &[[f64; 3]; 2],
    limit: f64,
    what: impl Fn() -> String,
) -> Result<(), SceneError> {
    // The farthest any point of the box can be: each term at whichever end is larger.
    let reach = [0, 1, 2].map(|row| {
        let terms = (0..3).map(|k| (world[k][row] * low[k]).abs().max((world[k][row] * high[k]).abs()));
        world[3][row].abs() + terms.sum::<f64>()
    });
    // An overestimate is only believed where it stays inside; else the corners are looked at.
    if reach.iter().all(|&value| value <= limit) {
        return Ok(());
    }
    for corner in 0..8 {
        let pick = |k: usize| if corner >> k & 1 == 0 { low[k] } else { high[k] };
        let point = [0, 1, 2].map(|row| {
            world[0][row] * pick(0) + world[1][row] * pick(1) + world[2][row] * pick(2) + world[3][row]
        });
        within(point.iter(), limit, &what)?;
    }
    Ok(())
}

fn within<'v>(
    values: impl Iterator<Item = &'v f64>,
    limit: f64,
    what: impl Fn() -> String,
) -> Result<(), SceneError> {
    for value in values {
        // NaN, from infinity times zero, is beyond any limit too.
        let inside = value.abs() <= limit;
        if !inside {
            let wanted = if value.is_nan() { u64::MAX } else { value.abs().ceil() as u64 };
            return Err(SceneError::Limit {
                what: what(),
                limit: "coordinate",
                wanted,
                allowed: limit as u64,
            });
        }
    }
    Ok(())
}

fn affine(transform: &Transform) -> Affine {
    match transform {
        Transform::Matrix(m) => {
            let m = m.map(f64::from);
            [[m[0], m[1], m[2]], [m[4], m[5], m[6]], [m[8], m[9], m[10]], [m[12], m[13], m[14]]]
        }
        Transform::Trs(Trs { translation, rotation, scale }) => {
            let [x, y, z, w] = rotation.map(f64::from);
            let [sx, sy, sz] = scale.map(f64::from);
            let right = [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)];
            let up = [2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)];
            let back = [2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)];
            [right.map(|v| v * sx), up.map(|v| v * sy), back.map(|v| v * sz), translation.map(f64::from)]
        }
    }
}

fn product(a: &Affine, b: &Affine) -> Affine {
    let mut out = IDENTITY;
    for (column, out) in out.iter_mut().enumerate() {
        for (row, out) in out.iter_mut().enumerate() {
            *out = a[0][row] * b[column][0] + a[1][row] * b[column][1] + a[2][row] * b[column][2];
            if column == 3 {
                *out += a[3][row];
            }
        }
    }
    out
}
