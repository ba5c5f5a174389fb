//! Things turned about the axis +Y.

use std::f64::consts::TAU;

use glam::DVec3;

use super::super::mesh::{Mesh, Pose};
use super::super::rng::Rng;
use super::surface;

/// Turns a profile of (radius, height), given from the bottom of the axis around the outside to its top: the front is
/// on the right of its way. Smooth profiles become one Catmull-Rom curve, others keep their corners.
pub(in super::super) fn lathe(profile: &[[f64; 2]], count: u32, smooth: bool) -> Mesh {
    let around = |[radius, height]: [f64; 2], u: f64| {
        let (sin, cos) = libm::sincos(-TAU * u);
        DVec3::new(radius * cos, height, radius * sin)
    };
    let girth = TAU * profile.iter().fold(0.0_f64, |largest, point| largest.max(point[0]));
    if smooth {
        let steps = 4 * (profile.len() as u32 - 1);
        let length = profile.windows(2).map(|pair| distance(pair[0], pair[1])).sum();
        return surface(count, steps, [girth, length], |u, v| around(curve(profile, v), u));
    }
    let mut mesh = Mesh::default();
    for pair in profile.windows(2) {
        let [a, b] = [pair[0], pair[1]];
        mesh.join(&surface(count, 1, [girth, distance(a, b)], |u, v| {
            around([a[0] + (b[0] - a[0]) * v, a[1] + (b[1] - a[1]) * v], u)
        }));
    }
    mesh
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    let [x, y] = [b[0] - a[0], b[1] - a[1]];
    (x * x + y * y).sqrt()
}

/// A Catmull-Rom curve through points; radii stay at or above zero.
fn curve(points: &[[f64; 2]], t: f64) -> [f64; 2] {
    let last = points.len() - 1;
    let at = t.max(0.0).min(1.0) * last as f64;
    let segment = (at as usize).min(last - 1);
    let t = at - segment as f64;
    let [p, q, r, s] = [
        points[segment.saturating_sub(1)],
        points[segment],
        points[segment + 1],
        points[(segment + 2).min(last)],
    ];
    let along = |axis: usize| {
        let [p, q, r, s] = [p[axis], q[axis], r[axis], s[axis]];
        let linear = r - p;
        let square = 2.0 * p - 5.0 * q + 4.0 * r - s;
        let cubic = 3.0 * (q - r) + s - p;
        0.5 * (2.0 * q + t * (linear + t * (square + t * cubic)))
    };
    [along(0).max(0.0), along(1)]
}

/// A random outline from foot to rim, closed at the bottom: vases, table legs, chess men.
pub(in super::super) fn profile(rng: &mut Rng, radius: f64, height: f64, points: u32) -> Vec<[f64; 2]> {
    let mut outline = vec![[0.0, 0.0], [radius * rng.range(0.5, 0.9), 0.0]];
    for index in 1..points {
        let at = height * f64::from(index) / f64::from(points);
        outline.push([radius * rng.range(0.25, 1.0), at]);
    }
    outline.push([radius * rng.range(0.3, 0.8), height]);
    outline
}

/// An open vessel with a thick wall that stands on y = 0: glasses, bowls, cups, vases.
pub(in super::super) fn vessel(rng: &mut Rng, height: f64, count: u32) -> Mesh {
    let radius = height * rng.range(0.3, 0.7);
    let wall = (radius * 0.12).max(0.002);
    let base = radius * rng.range(0.5, 0.9);
    let waist = radius * rng.range(0.7, 1.0);
    let rim = radius * rng.range(0.75, 1.0);
    let outline = [
        [0.0, 0.0],
        [base * 0.6, 0.0],
        [base, height * 0.03],
        [waist, height * 0.35],
        [radius, height * 0.65],
        [rim, height * 0.97],
        [rim - wall * 0.5, height],
        [rim - wall, height * 0.97],
        [radius - wall, height * 0.65],
        [(waist - wall).max(0.2 * radius), height * 0.35],
        [(base - wall).max(0.15 * radius) * 0.8, height * 0.1],
        [0.0, height * 0.08],
    ];
    // The curve swings a little below its foot.
    let mesh = lathe(&outline, count, true);
    let low = mesh.bounds().min.y;
    mesh.moved(Pose::at(0.0, -low, 0.0))
}
