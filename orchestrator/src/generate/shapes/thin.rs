//! What is thin: wires, grilles, blinds, cloth, leaves.

use std::f64::consts::TAU;

use glam::DVec3;

use super::super::mesh::{Mesh, Pose, turn};
use super::super::rng::Rng;
use super::{slab, surface};

/// A tube along a path, its frame carried without twist. A closed path ends where it begins.
///
/// *Source*: Wang et al., "Computation of Rotation Minimizing Frames", TOG 2008 (projection method).
pub(in super::super) fn tube(path: &[DVec3], radius: f64, sides: u32, closed: bool) -> Mesh {
    let count = path.len();
    let tangent = |index: usize| {
        let (before, after) = if closed {
            (path[(index + count - 1) % count], path[(index + 1) % count])
        } else {
            (path[index.saturating_sub(1)], path[(index + 1).min(count - 1)])
        };
        (after - before).normalize_or(DVec3::Y)
    };
    let mut side = tangent(0).any_orthonormal_vector();
    let mut mesh = Mesh::default();
    let mut travelled = 0.0;
    for step in 0..count + usize::from(closed) {
        let index = step % count;
        let forward = tangent(index);
        side = (side - forward * side.dot(forward)).normalize_or(forward.any_orthonormal_vector());
        if step == count {
            // Where a loop closes its rings must meet, whatever twist is left over.
            side = mesh.normal[0];
        }
        let up = forward.cross(side);
        for corner in 0..=sides {
            let (sin, cos) = libm::sincos(TAU * f64::from(corner) / f64::from(sides));
            let out = side * cos + up * sin;
            mesh.position.push(path[index] + out * radius);
            mesh.normal.push(out);
            mesh.uv.push([TAU * radius * f64::from(corner) / f64::from(sides), travelled]);
        }
        travelled += (path[(index + 1) % count] - path[index]).length();
    }
    let row = sides + 1;
    for ring in 0..(mesh.position.len() as u32 / row) - 1 {
        for corner in 0..sides {
            let a = ring * row + corner;
            mesh.index.extend([a, a + 1, a + row + 1, a, a + row + 1, a + row]);
        }
    }
    if !closed {
        cap(&mut mesh, path[0], -tangent(0), 0, sides, true);
        let last = mesh_ring(count, row);
        cap(&mut mesh, path[count - 1], tangent(count - 1), last, sides, false);
    }
    mesh
}

fn mesh_ring(count: usize, row: u32) -> u32 {
    (count as u32 - 1) * row
}

fn cap(mesh: &mut Mesh, centre: DVec3, normal: DVec3, ring: u32, sides: u32, start: bool) {
    let first = mesh.position.len() as u32;
    mesh.position.push(centre);
    mesh.normal.push(normal);
    mesh.uv.push([0.0, 0.0]);
    for corner in 0..=sides {
        mesh.position.push(mesh.position[(ring + corner) as usize]);
        mesh.normal.push(normal);
        mesh.uv.push([0.0, 0.0]);
    }
    for corner in 1..=sides {
        let (a, b) = (first + corner, first + corner + 1);
        mesh.index.extend(if start { [first, b, a] } else { [first, a, b] });
    }
}

/// An open wire through points.
pub(in super::super) fn wire(path: &[DVec3], radius: f64, sides: u32) -> Mesh {
    tube(path, radius, sides, false)
}

/// A spring that stands on y = 0.
pub(in super::super) fn coil(radius: f64, height: f64, turns: u32, wire_radius: f64) -> Mesh {
    let count = turns * 20;
    let path: Vec<DVec3> = (0..=count)
        .map(|index| {
            let t = f64::from(index) / f64::from(count);
            let (sin, cos) = libm::sincos(TAU * t * f64::from(turns));
            DVec3::new(radius * cos, wire_radius + height * t, radius * sin)
        })
        .collect();
    tube(&path, wire_radius, 8, false)
}

/// A torus knot, centred.
pub(in super::super) fn knot(radius: f64, thickness: f64, p: u32, q: u32) -> Mesh {
    const COUNT: u32 = 160;
    let path: Vec<DVec3> = (0..COUNT)
        .map(|index| {
            let t = TAU * f64::from(index) / f64::from(COUNT);
            let (sin_p, cos_p) = libm::sincos(t * f64::from(p));
            let (sin_q, cos_q) = libm::sincos(t * f64::from(q));
            let out = radius * (0.7 + 0.3 * cos_q);
            DVec3::new(out * cos_p, radius * 0.35 * sin_q, out * sin_p)
        })
        .collect();
    tube(&path, thickness, 10, true)
}

/// Bars in a frame, upright in the plane z = 0, standing on y = 0, centred in x.
pub(in super::super) fn grille(width: f64, height: f64, bars: u32, thickness: f64) -> Mesh {
    let t = thickness;
    let bar = |x0: f64, y0: f64, x1: f64, y1: f64, depth: f64| {
        slab(DVec3::new(x0, y0, -depth), DVec3::new(x1, y1, depth))
    };
    let (left, right) = (-width * 0.5, width * 0.5);
    let mut mesh = bar(left, 0.0, right, 2.0 * t, t);
    mesh.join(&bar(left, height - 2.0 * t, right, height, t));
    for index in 0..=bars {
        let x = left + t + (width - 2.0 * t) * f64::from(index) / f64::from(bars);
        mesh.join(&bar(x - t * 0.5, 2.0 * t, x + t * 0.5, height - 2.0 * t, t * 0.5));
    }
    mesh
}

/// Venetian blinds in the plane z = 0, standing on y = 0, centred in x; slats turned from level by `tilt_rad`.
pub(in super::super) fn blinds(width: f64, height: f64, slats: u32, tilt_rad: f64) -> Mesh {
    let pitch = height / f64::from(slats);
    let slat =
        slab(DVec3::new(-width * 0.5, -0.0007, -pitch * 0.5), DVec3::new(width * 0.5, 0.0007, pitch * 0.5));
    let mut mesh = Mesh::default();
    for index in 0..slats {
        let y = (f64::from(index) + 0.5) * pitch;
        mesh.join(&slat.clone().moved(Pose::at(0.0, y, 0.0).turned(turn(DVec3::X, tilt_rad))));
    }
    for x in [-width * 0.35, width * 0.35] {
        mesh.join(&slab(DVec3::new(x - 0.002, 0.0, -0.001), DVec3::new(x + 0.002, height, 0.001)));
    }
    mesh
}

/// Cloth that hangs in folds in the plane z = 0, standing on y = 0, centred in x. One-sided triangles.
pub(in super::super) fn curtain(rng: &mut Rng, width: f64, height: f64) -> Mesh {
    let (folds, depth) = (rng.range(4.0, 9.0) * width, rng.range(0.03, 0.06));
    let phase = rng.range(0.0, TAU);
    let count = (folds * 8.0) as u32 + 8;
    surface(count, 4, [width, height], move |u, v| {
        let wave = libm::sin(TAU * folds * u + phase) + 0.3 * libm::sin(TAU * folds * 2.3 * u + v);
        DVec3::new((u - 0.5) * width, v * height, depth * wave * (1.2 - 0.5 * v))
    })
}

/// Quads for a MASK texture that spans 0 to 1, scattered in a ball about the origin, facing mostly up and out.
pub(in super::super) fn leaves(rng: &mut Rng, radius: f64, count: u32, size: f64) -> Mesh {
    let mut mesh = Mesh::default();
    for _ in 0..count {
        let direction = on_sphere(rng);
        let at = direction * radius * (0.35 + 0.65 * rng.unit().sqrt());
        let normal = (direction + DVec3::Y * 0.6 + on_sphere(rng) * 0.8).normalize_or(DVec3::Y);
        leaf(&mut mesh, at, normal, on_sphere(rng), size * rng.range(0.7, 1.3));
    }
    mesh
}

/// Petals that float a hand above the plane y = 0, up to `half` away, facing up.
pub(in super::super) fn meadow(rng: &mut Rng, half: f64, count: u32, size: f64) -> Mesh {
    let mut mesh = Mesh::default();
    for _ in 0..count {
        let at = DVec3::new(rng.range(-half, half), rng.range(0.02, 0.2), rng.range(-half, half));
        let normal = (on_sphere(rng) + DVec3::Y * 1.5).normalize_or(DVec3::Y);
        leaf(&mut mesh, at, normal, on_sphere(rng), size * rng.range(0.5, 1.0));
    }
    mesh
}

/// Arching leaves from one root at the origin, for a MASK texture that spans 0 to 1.
pub(in super::super) fn plant(rng: &mut Rng, height: f64, count: u32) -> Mesh {
    let mut mesh = Mesh::default();
    for index in 0..count {
        let (sin, cos) = libm::sincos(TAU * (f64::from(index) * 0.381_966 + rng.range(0.0, 0.05)));
        let out = DVec3::new(cos, 0.0, sin);
        let across = DVec3::new(-sin, 0.0, cos);
        let (reach, droop, width) =
            (height * rng.range(0.4, 0.9), height * rng.range(0.2, 0.8), height * rng.range(0.1, 0.2));
        let rise = height * rng.range(0.8, 1.5);
        let bent = surface(2, 5, [1.0, 1.0], |u, v| {
            out * (reach * v) + DVec3::Y * (rise * v - droop * v * v) + across * (width * (u - 0.5))
        });
        // The front of a leaf is above.
        mesh.join(&if bent.normal[0].y < 0.0 { bent.inside_out() } else { bent });
    }
    mesh
}

fn leaf(mesh: &mut Mesh, at: DVec3, normal: DVec3, along: DVec3, size: f64) {
    let along =
        (along - normal * along.dot(normal)).normalize_or(normal.any_orthonormal_vector()) * (size * 0.5);
    let across = normal.cross(along);
    mesh.quad(
        [at - across - along, at + across - along, at + across + along, at - across + along],
        [1.0, 1.0],
    );
}

/// A direction, each as likely. *Source*: Marsaglia 1972, by rejection.
pub(in super::super) fn on_sphere(rng: &mut Rng) -> DVec3 {
    loop {
        let point = DVec3::new(rng.range(-1.0, 1.0), rng.range(-1.0, 1.0), rng.range(-1.0, 1.0));
        if (0.01..1.0).contains(&point.length_squared()) {
            return point.normalize();
        }
    }
}
