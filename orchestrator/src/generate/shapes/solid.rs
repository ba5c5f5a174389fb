//! Boxes, balls, rings and prisms.

use std::f64::consts::{PI, TAU};

use glam::DVec3;

use super::super::mesh::Mesh;
use super::{lathe, surface};

/// A box, centred.
pub(in super::super) fn cuboid(size: DVec3) -> Mesh {
    slab(size * -0.5, size * 0.5)
}

/// A box between two corners, texture coordinates in metres from the origin: neighbours' patterns meet.
pub(in super::super) fn slab(min: DVec3, max: DVec3) -> Mesh {
    let mut mesh = Mesh::default();
    for axis in 0..3 {
        // The other two axes, so that u × v = axis.
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        for (side, at) in [(1.0, max[axis]), (-1.0, min[axis])] {
            let corner = |at_u: f64, at_v: f64| {
                let mut point = DVec3::ZERO;
                (point[axis], point[u], point[v]) = (at, at_u, at_v);
                point
            };
            let [p, q, r, s] = [
                corner(min[u], min[v]),
                corner(max[u], min[v]),
                corner(max[u], max[v]),
                corner(min[u], max[v]),
            ];
            let first = mesh.position.len();
            mesh.quad(if side > 0.0 { [p, q, r, s] } else { [p, s, r, q] }, [1.0, 1.0]);
            for index in first..mesh.position.len() {
                let point = mesh.position[index];
                // Walls have their pattern upright: v runs down.
                mesh.uv[index] = match axis {
                    0 => [point.z, -point.y],
                    1 => [point.x, point.z],
                    _ => [point.x, -point.y],
                };
            }
        }
    }
    mesh
}

/// A box with round edges, centred.
pub(in super::super) fn rounded_box(size: DVec3, radius: f64) -> Mesh {
    let half = size * 0.5;
    let radius = radius.min(half.min_element() * 0.95);
    let inner = half - radius;
    let mut mesh = Mesh::default();
    let steps = |axis: usize| {
        let (h, i) = (half[axis], inner[axis]);
        [-h, -i - radius * 0.7, -i - radius * 0.3, -i, i, i + radius * 0.3, i + radius * 0.7, h]
    };
    for axis in 0..3 {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        for side in [1.0, -1.0] {
            let (columns, rows) = (steps(u), steps(v));
            let first = mesh.position.len() as u32;
            for at_v in rows {
                for at_u in columns {
                    let mut point = DVec3::ZERO;
                    (point[axis], point[u], point[v]) = (side * half[axis], at_u, at_v);
                    let core = point.clamp(-inner, inner);
                    let normal = (point - core).normalize();
                    mesh.position.push(core + normal * radius);
                    mesh.normal.push(normal);
                    mesh.uv.push([at_u, -at_v]);
                }
            }
            for j in 0..rows.len() as u32 - 1 {
                for i in 0..columns.len() as u32 - 1 {
                    let a = first + j * columns.len() as u32 + i;
                    let [b, d] = [a + 1, a + columns.len() as u32];
                    let c = d + 1;
                    let corners = if side > 0.0 { [a, b, c, a, c, d] } else { [a, c, b, a, d, c] };
                    mesh.index.extend(corners);
                }
            }
        }
    }
    mesh
}

/// A ball, centred; `count` segments around.
pub(in super::super) fn sphere(radius: f64, count: u32) -> Mesh {
    surface(count, count / 2, [TAU * radius, PI * radius], |u, v| {
        let (sin_v, cos_v) = libm::sincos(PI * v);
        let (sin_u, cos_u) = libm::sincos(TAU * u);
        DVec3::new(sin_v * cos_u, cos_v, sin_v * sin_u) * radius
    })
}

/// A ring that lies flat, centred.
pub(in super::super) fn torus(major: f64, minor: f64, around: u32, across: u32) -> Mesh {
    surface(around, across, [TAU * major, TAU * minor], |u, v| {
        let (sin_u, cos_u) = libm::sincos(-TAU * u);
        let (sin_v, cos_v) = libm::sincos(TAU * v);
        let radius = major + minor * cos_v;
        DVec3::new(radius * cos_u, minor * sin_v, radius * sin_u)
    })
}

/// A cylinder that stands on y = 0.
pub(in super::super) fn cylinder(radius: f64, height: f64, count: u32) -> Mesh {
    lathe(&[[0.0, 0.0], [radius, 0.0], [radius, height], [0.0, height]], count, false)
}

/// A prism with `count` flat sides that stands on y = 0.
pub(in super::super) fn prism(radius: f64, height: f64, count: u32) -> Mesh {
    extrude(&star(radius, radius, count), height)
}

/// The outline of a star, or of a regular polygon where the radii are equal, in (x, z) from +X towards
/// +Z.
pub(in super::super) fn star(outer: f64, inner: f64, points: u32) -> Vec<[f64; 2]> {
    let even = outer == inner;
    let count = if even { points } else { 2 * points };
    let radius = |index: u32| if even || index.is_multiple_of(2) { outer } else { inner };
    (0..count).map(|index| on_circle(radius(index), f64::from(index) / f64::from(count))).collect()
}

/// The outline of a gear wheel.
pub(in super::super) fn gear(radius: f64, teeth: u32) -> Vec<[f64; 2]> {
    let depth = radius * 3.0 / f64::from(teeth);
    let steps = [(0.0, 0.0), (0.15, 1.0), (0.45, 1.0), (0.6, 0.0)];
    let tooth = |index: u32| {
        steps.map(|(at, out)| {
            on_circle(radius - depth * (1.0 - out), (f64::from(index) + at) / f64::from(teeth))
        })
    };
    (0..teeth).flat_map(tooth).collect()
}

fn on_circle(radius: f64, turn: f64) -> [f64; 2] {
    let (sin, cos) = libm::sincos(TAU * turn);
    [radius * cos, radius * sin]
}

/// Lifts an outline, star-shaped about the origin, from y = 0 to `height`. The outline runs from +X towards +Z.
pub(in super::super) fn extrude(outline: &[[f64; 2]], height: f64) -> Mesh {
    let mut mesh = Mesh::default();
    let at = |point: [f64; 2], y: f64| DVec3::new(point[0], y, point[1]);
    for (index, &a) in outline.iter().enumerate() {
        let b = outline[(index + 1) % outline.len()];
        let width = (at(b, 0.0) - at(a, 0.0)).length();
        mesh.quad([at(b, 0.0), at(a, 0.0), at(a, height), at(b, height)], [width, height]);
        for (y, normal) in [(height, DVec3::Y), (0.0, DVec3::NEG_Y)] {
            let first = mesh.position.len() as u32;
            mesh.position.extend([DVec3::Y * y, at(a, y), at(b, y)]);
            mesh.normal.extend([normal; 3]);
            mesh.uv.extend([[0.0, 0.0], a, b]);
            let order = if normal.y > 0.0 { [0, 2, 1] } else { [0, 1, 2] };
            mesh.index.extend(order.map(|corner| first + corner));
        }
    }
    mesh
}
