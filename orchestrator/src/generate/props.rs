//! Things to put into scenes. Each stands on y = 0, centred in x and z, its front towards +Z.

use glam::DVec3;

use super::look;
use super::mesh::{Mesh, Pose, turn};
use super::rng::Rng;
use super::shapes;
use super::stage::{Parts, Stage};

fn bar(x: [f64; 2], y: [f64; 2], z: [f64; 2]) -> Mesh {
    shapes::slab(DVec3::new(x[0], y[0], z[0]), DVec3::new(x[1], y[1], z[1]))
}

/// Moves a mesh so that its lowest point is at 0.
pub(super) fn standing(mesh: Mesh) -> Mesh {
    let low = mesh.bounds().min.y;
    mesh.moved(Pose::at(0.0, -low, 0.0))
}

/// One of a scene's eight materials for small things.
pub(super) fn any_material(stage: &mut Stage, rng: &mut Rng) -> u32 {
    stage.role(&format!("thing {}", rng.int(0, 7)), look::any)
}

/// A small thing of any shape and material, about `size` large.
pub(super) fn item(stage: &mut Stage, rng: &mut Rng, size: f64) -> Parts {
    let material = any_material(stage, rng);
    vec![(shape(rng, size), material)]
}

/// A shape of about `size`, standing.
pub(super) fn shape(rng: &mut Rng, size: f64) -> Mesh {
    let half = size * 0.5;
    let sides = DVec3::new(rng.range(0.5, 1.0), rng.range(0.4, 1.2), rng.range(0.5, 1.0)) * size;
    standing(match rng.int(0, 14) {
        0 => shapes::cuboid(sides),
        1 => shapes::rounded_box(sides, size * rng.range(0.05, 0.2)),
        2 => shapes::sphere(half, 48),
        3 => shapes::torus(half * 0.7, half * rng.range(0.15, 0.3), 48, 20),
        4 => shapes::cylinder(half * rng.range(0.4, 0.9), sides.y, 40),
        5 => shapes::prism(half, sides.y, rng.int(3, 8)),
        6 => shapes::extrude(&shapes::star(half, half * rng.range(0.4, 0.7), rng.int(4, 9)), sides.y * 0.5),
        7 => shapes::extrude(&shapes::gear(half, rng.int(10, 24)), size * rng.range(0.1, 0.3)),
        8 => {
            let height = size * rng.range(0.8, 1.6);
            let outline = shapes::profile(rng, half, height, 5);
            let top = outline[outline.len() - 1];
            shapes::lathe(&[outline, vec![[0.0, top[1]]]].concat(), 40, true)
        }
        9 | 10 => {
            let height = size * rng.range(0.7, 1.2);
            shapes::vessel(rng, height, 48)
        }
        11 => shapes::blob(rng, half, 48),
        12 => shapes::rock(rng, half, 40),
        13 => {
            let (p, q) = rng.pick(&[(2, 3), (3, 2), (3, 4), (2, 5)]);
            let upright = turn(DVec3::X, rng.range(0.3, 1.5));
            shapes::knot(half, size * rng.range(0.04, 0.09), p, q).moved(Pose::IDENTITY.turned(upright))
        }
        _ => shapes::coil(half * 0.6, sides.y, rng.int(4, 9), size * rng.range(0.015, 0.04)),
    })
}

/// A table, and the size of its top: x, height, z.
pub(super) fn table(stage: &mut Stage, rng: &mut Rng, low: bool) -> (Parts, DVec3) {
    let height = if low { rng.range(0.35, 0.5) } else { rng.range(0.7, 0.78) };
    let size = DVec3::new(rng.range(0.9, 1.6), height, rng.range(0.6, 0.9));
    let (x, z, leg, top) = (size.x * 0.5, size.z * 0.5, rng.range(0.02, 0.04), rng.range(0.02, 0.05));
    let maker = rng.pick(&[look::wood, look::wood, look::marble, look::lacquer, look::plastic]);
    let board = stage.role("table top", maker);
    let legs = stage.role("table legs", rng.pick(&[look::wood, look::metal]));
    let mut mesh = Mesh::default();
    for (sx, sz) in [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)] {
        let (cx, cz) = (sx * (x - 0.06), sz * (z - 0.06));
        mesh.join(&bar([cx - leg, cx + leg], [0.0, height - top], [cz - leg, cz + leg]));
    }
    let plate = shapes::rounded_box(DVec3::new(size.x, top, size.z), top * 0.4).moved(Pose::at(
        0.0,
        height - top * 0.5,
        0.0,
    ));
    (vec![(plate, board), (mesh, legs)], size)
}

pub(super) fn chair(stage: &mut Stage, rng: &mut Rng) -> Parts {
    let frame = stage.role("chair", rng.pick(&[look::wood, look::metal, look::plastic]));
    let seat = stage.role("seat", rng.pick(&[look::fabric, look::wood, look::plastic]));
    let mut mesh = Mesh::default();
    for (x, z) in [(-0.19, -0.19), (0.17, -0.19), (-0.19, 0.17), (0.17, 0.17)] {
        let top = if z < 0.0 { 0.9 } else { 0.44 };
        mesh.join(&bar([x, x + 0.025], [0.0, top], [z, z + 0.025]));
    }
    for y in [0.55, 0.68, 0.81] {
        mesh.join(&bar([-0.165, 0.17], [y, y + 0.05], [-0.185, -0.17]));
    }
    let cushion = shapes::rounded_box(DVec3::new(0.42, 0.05, 0.42), 0.02).moved(Pose::at(0.0, 0.465, 0.0));
    vec![(mesh, frame), (cushion, seat)]
}

pub(super) fn sofa(stage: &mut Stage, rng: &mut Rng) -> Parts {
    let cloth = stage.role("sofa", look::fabric);
    let width = rng.range(1.4, 2.1);
    let cushion = |size: [f64; 3], at: [f64; 3]| {
        shapes::rounded_box(DVec3::from(size), 0.06).moved(Pose::to(DVec3::from(at)))
    };
    let mut mesh = cushion([width, 0.3, 0.8], [0.0, 0.2, 0.0]);
    mesh.join(&cushion([width, 0.55, 0.2], [0.0, 0.55, -0.32]));
    for side in [-1.0, 1.0] {
        mesh.join(&cushion([0.18, 0.5, 0.82], [side * (width * 0.5 - 0.09), 0.32, 0.01]));
        let seat = [width * 0.5 - 0.2, 0.14, 0.58];
        mesh.join(&cushion(seat, [side * (width * 0.25 - 0.09), 0.41, 0.08]));
    }
    let mut parts = vec![(mesh, cloth)];
    let spare = stage.role("pillow", look::fabric);
    for _ in 0..rng.int(0, 2) {
        let tilt = turn(DVec3::X, -0.5);
        let x = rng.range(-0.3, 0.3) * width;
        let pillow = shapes::rounded_box(DVec3::new(0.4, 0.4, 0.14), 0.065);
        parts.push((pillow.moved(Pose::at(x, 0.66, -0.1).turned(tilt)), spare));
    }
    parts
}

/// Shelves with books and things on them.
pub(super) fn shelf(stage: &mut Stage, rng: &mut Rng) -> Parts {
    let board = stage.role("shelf", rng.pick(&[look::wood, look::wood, look::matte, look::metal]));
    let (width, depth, levels, pitch) = (rng.range(0.7, 1.4), 0.3, rng.int(2, 5), 0.36);
    let (x, z, height) = (width * 0.5, depth * 0.5, f64::from(levels) * pitch + 0.02);
    let mut mesh = bar([-x, -x + 0.02], [0.0, height], [-z, z]);
    mesh.join(&bar([x - 0.02, x], [0.0, height], [-z, z]));
    mesh.join(&bar([-x + 0.02, x - 0.02], [0.0, height], [-z, -z + 0.01]));
    let mut parts = Vec::new();
    for level in 0..=levels {
        let y = f64::from(level) * pitch;
        mesh.join(&bar([-x + 0.02, x - 0.02], [y, y + 0.02], [-z + 0.01, z]));
        if level == levels {
            break;
        }
        if rng.chance(0.7) {
            parts.extend(books(stage, rng, [-x + 0.04, x - 0.04], y + 0.02));
        } else {
            let at = Pose::at(rng.range(-0.2, 0.2), y + 0.02, 0.02);
            parts
                .extend(item(stage, rng, 0.2).into_iter().map(|(mesh, material)| (mesh.moved(at), material)));
        }
    }
    parts.push((mesh, board));
    parts
}

fn books(stage: &mut Stage, rng: &mut Rng, span: [f64; 2], y: f64) -> Parts {
    let covers = [0, 1, 2].map(|index| stage.role(&format!("book {index}"), look::printed));
    let mut parts: Parts = covers.iter().map(|&cover| (Mesh::default(), cover)).collect();
    let mut x = span[0];
    let end = span[0] + (span[1] - span[0]) * rng.range(0.4, 1.0);
    loop {
        let (width, height, depth) = (rng.range(0.015, 0.05), rng.range(0.18, 0.3), rng.range(0.12, 0.2));
        if x + width > end {
            break;
        }
        let book = bar([x, x + width], [y, y + height], [-0.12, -0.12 + depth]);
        parts[rng.int(0, 2) as usize].0.join(&book);
        x += width + 0.001;
    }
    parts.retain(|(mesh, _)| !mesh.index.is_empty());
    parts
}

pub(super) fn cabinet(stage: &mut Stage, rng: &mut Rng) -> Parts {
    let body = stage.role("cabinet", rng.pick(&[look::wood, look::lacquer, look::matte, look::plastic]));
    let knob = stage.role("knobs", look::metal);
    let (width, height, depth) = (rng.range(0.6, 1.4), rng.range(0.5, 1.1), 0.42);
    let mut mesh = bar([-width * 0.5, width * 0.5], [0.06, height], [-depth * 0.5, depth * 0.5]).joined(bar(
        [-width * 0.45, width * 0.45],
        [0.0, 0.06],
        [-depth * 0.4, depth * 0.4],
    ));
    let mut knobs = Mesh::default();
    let (columns, rows) = (rng.int(1, 3), rng.int(1, 4));
    for column in 0..columns {
        for row in 0..rows {
            let (w, h) = (width / f64::from(columns), (height - 0.06) / f64::from(rows));
            let x = -width * 0.5 + f64::from(column) * w;
            let y = 0.06 + f64::from(row) * h;
            let front = [depth * 0.5, depth * 0.5 + 0.015];
            mesh.join(&bar([x + 0.008, x + w - 0.008], [y + 0.008, y + h - 0.008], front));
            let at = Pose::at(x + w * 0.5, y + h * 0.7, depth * 0.5 + 0.03);
            knobs.join(&shapes::sphere(0.014, 16).moved(at));
        }
    }
    vec![(mesh, body), (knobs, knob)]
}

/// A potted plant with MASK leaves.
pub(super) fn potted_plant(stage: &mut Stage, rng: &mut Rng) -> Parts {
    let pot = stage.role("pot", rng.pick(&[look::ceramic, look::stone, look::plastic]));
    let green = stage.role("leaf", look::leaf);
    let (height, leaf_count) = (rng.range(0.4, 0.9), rng.int(10, 24));
    let vessel = shapes::vessel(rng, height * 0.5, 40);
    let leaves = shapes::plant(rng, height, leaf_count).moved(Pose::at(0.0, height * 0.3, 0.0));
    vec![(vessel, pot), (leaves, green)]
}

/// A tree of about `height`, with a crown of MASK leaves.
pub(super) fn tree(stage: &mut Stage, rng: &mut Rng, height: f64, leaf_count: u32) -> Parts {
    let bark = stage.role("bark", look::stone);
    let green = stage.role("leaf", look::leaf);
    let crown = height * rng.range(0.22, 0.32);
    let top = DVec3::new(rng.range(-0.1, 0.1), 0.72, rng.range(-0.1, 0.1)) * height;
    let bend = DVec3::new(rng.range(-0.06, 0.06), 0.4, rng.range(-0.06, 0.06)) * height;
    let mut wood = shapes::wire(&[DVec3::ZERO, bend * 0.5, bend, top], height * 0.018, 8);
    for _ in 0..rng.int(3, 6) {
        let from = bend + (top - bend) * rng.unit();
        let reach = DVec3::new(rng.range(-1.0, 1.0), rng.range(0.2, 0.8), rng.range(-1.0, 1.0)) * crown * 0.8;
        wood.join(&shapes::wire(
            &[from, from + reach * 0.5 + DVec3::Y * 0.02, from + reach],
            height * 0.006,
            6,
        ));
    }
    let leaves = shapes::leaves(rng, crown, leaf_count, height * 0.05).moved(Pose::to(top));
    vec![(wood, bark), (leaves, green)]
}

/// A folding screen of three panels that hides what is behind it, about 1.7 m high.
pub(super) fn folding_screen(stage: &mut Stage, rng: &mut Rng) -> Parts {
    let panel = stage.role("screen", rng.pick(&[look::fabric, look::printed, look::wood]));
    let mut mesh = Mesh::default();
    for (x, yaw) in [(-0.5, 0.4), (0.0, -0.4), (0.5, 0.4)] {
        let board = shapes::cuboid(DVec3::new(0.55, 1.7, 0.025));
        mesh.join(&board.moved(Pose::at(x, 0.86, 0.0).yaw(yaw)));
    }
    vec![(mesh, panel)]
}

/// A stand and an open shade about `height`; the light belongs at (0, height - 0.1, 0).
pub(super) fn floor_lamp(stage: &mut Stage, rng: &mut Rng, height: f64) -> Parts {
    let stand = stage.role("lamp stand", look::metal);
    let shade = stage.role("lamp shade", look::fabric);
    let mesh = shapes::cylinder(0.14, 0.02, 32)
        .joined(shapes::cylinder(0.012, height - 0.25, 12).moved(Pose::at(0.0, 0.02, 0.0)));
    let (low, high) = (rng.range(0.16, 0.22), rng.range(0.08, 0.14));
    let cone = shapes::lathe(&[[low, height - 0.25], [high, height + 0.03]], 40, false);
    vec![(mesh, stand), (cone, shade)]
}

/// A picture in its frame, its back against the plane z = 0, its lower edge at y = 0.
pub(super) fn framed_picture(stage: &mut Stage, rng: &mut Rng) -> Parts {
    let frame = stage.role("frame", rng.pick(&[look::wood, look::metal, look::lacquer]));
    let sheet = stage.role(&format!("picture {}", rng.int(0, 2)), rng.pick(&[look::printed, look::paper]));
    let (w, h, edge) = (rng.range(0.3, 0.9), rng.range(0.3, 0.7), 0.03);
    let x = w * 0.5;
    let mut mesh = bar([-x, x], [0.0, edge], [0.0, 0.03]);
    mesh.join(&bar([-x, x], [h - edge, h], [0.0, 0.03]));
    mesh.join(&bar([-x, -x + edge], [edge, h - edge], [0.0, 0.03]));
    mesh.join(&bar([x - edge, x], [edge, h - edge], [0.0, 0.03]));
    vec![(mesh, frame), (bar([-x + edge, x - edge], [edge, h - edge], [0.002, 0.012]), sheet)]
}

/// A flat mark just above the plane y = 0, blended.
pub(super) fn decal(stage: &mut Stage, rng: &mut Rng, size: f64) -> Parts {
    let material = stage.role("decal", look::decal);
    let half = size * rng.range(0.3, 0.6);
    let mut mesh = Mesh::default();
    let corner = |x: f64, z: f64| DVec3::new(x * half, 0.002, z * half);
    mesh.quad([corner(-1.0, 1.0), corner(1.0, 1.0), corner(1.0, -1.0), corner(-1.0, -1.0)], [1.0, 1.0]);
    vec![(mesh, material)]
}

/// A wire basket or cage.
pub(super) fn cage(stage: &mut Stage, rng: &mut Rng, size: f64) -> Parts {
    let metal = stage.role("wire", look::metal);
    let mut mesh = Mesh::default();
    let (count, thickness) = (rng.int(10, 20), size * 0.012);
    let side = shapes::grille(size, size, count, thickness);
    for quarter in 0..4 {
        let yaw = turn(DVec3::Y, f64::from(quarter) * std::f64::consts::FRAC_PI_2);
        mesh.join(&side.clone().moved(Pose::to(yaw * DVec3::new(0.0, 0.0, size * 0.5)).turned(yaw)));
    }
    stage.tags.insert("thin");
    vec![(mesh, metal)]
}
