//! Products, materials and shapes, close up.

use std::f64::consts::TAU;

use glam::DVec3;

use super::super::lamps::{self, Strength};
use super::super::look::{self, white};
use super::super::mesh::{Mesh, Pose, turn};
use super::super::motion;
use super::super::props;
use super::super::rng::Rng;
use super::super::room::{Room, WALL_M};
use super::super::shapes;
use super::super::stage::{Stage, Viewpoint};

fn lit(lux: f64, distance_m: f64) -> Strength {
    Strength { lux, distance_m }
}

/// A viewer on a circle about the origin.
fn viewer(stage: &mut Stage, rng: &mut Rng, distance: f64, target: DVec3) -> Viewpoint {
    let (sin, cos) = libm::sincos(rng.range(-0.6, 0.6));
    let (up, out) = libm::sincos(rng.range(0.2, 0.55));
    let eye = target + DVec3::new(sin * out, up, cos * out) * distance;
    let view = Viewpoint { eye, target, yfov_rad: rng.range(0.6, 0.8) };
    let camera = stage.view("front", view);
    let other = target + DVec3::new(-(sin + 0.5) * out, up * 1.2, cos * out) * (distance * 0.85);
    stage.view("side", Viewpoint { eye: other, ..view });
    if rng.chance(0.3) {
        motion::dolly(stage, camera, view);
    }
    view
}

/// A sheet that lies in front and rises behind, as photographers hang it.
fn backdrop(stage: &mut Stage, half: f64) {
    let sheet =
        stage.role("backdrop", |rng| rng.pick(&[look::matte, look::matte, look::plastic, look::fabric])(rng));
    let mesh = shapes::surface(32, 1, [6.0 * half, 4.0 * half], |u, v| {
        // Front to back: level, a quarter circle, upright.
        let way = u * 5.0 * half;
        let (start, radius) = (3.0 * half, half);
        let arc = ((way - start) / radius).max(0.0).min(TAU / 4.0);
        let (sin, cos) = libm::sincos(arc);
        let rest = (way - start - radius * TAU / 4.0).max(0.0);
        let z = 2.0 * half - way.min(start) - radius * sin;
        DVec3::new((v - 0.5) * 6.0 * half, radius * (1.0 - cos) + rest, z)
    });
    let up = mesh.normal[0].y > 0.0;
    stage.build("backdrop", vec![(if up { mesh } else { mesh.inside_out() }, sheet)]);
}

/// Softboxes, spots, or nothing but an environment.
fn studio_light(stage: &mut Stage, rng: &mut Rng, scale: f64) {
    match rng.int(0, 3) {
        0 => {
            stage.tags.insert("environment_only");
            stage.surround(rng, 1.2);
        }
        1 => {
            for _ in 0..rng.int(1, 3) {
                let (at, _) = above(rng, scale);
                let strength = lit(3.0, at.length());
                let side = scale * rng.range(0.5, 1.2);
                lamps::panel(
                    stage,
                    at,
                    -at.normalize(),
                    [side, side * 0.7],
                    white(rng.range(0.0, 0.5)),
                    strength,
                );
            }
        }
        2 => {
            for _ in 0..rng.int(1, 3) {
                let (at, distance) = above(rng, scale);
                let candela = 4.0 * distance * distance;
                stage.spot(at, DVec3::ZERO, white(rng.range(0.0, 0.6)), candela, rng.range(0.3, 0.7));
            }
            stage.surround(rng, 0.3);
        }
        _ => {
            let (at, _) = above(rng, scale);
            stage.sun(-at, white(rng.range(0.0, 0.5)), rng.range(2.5, 5.0));
            stage.surround(rng, 0.5);
        }
    }
}

/// A place for a light, above and rather in front.
fn above(rng: &mut Rng, scale: f64) -> (DVec3, f64) {
    let at = DVec3::new(rng.range(-1.5, 1.5), rng.range(1.4, 2.2), rng.range(-0.3, 1.5)) * scale;
    (at, at.length())
}

pub(super) fn turntable(stage: &mut Stage, rng: &mut Rng) {
    stage.tags.insert("product");
    viewer(stage, rng, 1.5, DVec3::Y * 0.2);
    backdrop(stage, 1.0);
    let plate = stage
        .role("turntable", |rng| rng.pick(&[look::plastic, look::metal, look::lacquer, look::wood])(rng));
    let disc = stage.build("turntable", vec![(shapes::cylinder(0.42, 0.04, 64), plate)]);
    let mut nodes = vec![disc];
    let count = rng.int(2, 5);
    for index in 0..count {
        let (sin, cos) = libm::sincos(TAU * f64::from(index) / f64::from(count));
        let (reach, size) = (0.24, rng.range(0.16, 0.3));
        let parts = props::item(stage, rng, size);
        nodes.extend(stage.put("product", parts, Pose::at(sin * reach, 0.04, cos * reach)));
    }
    if rng.chance(0.6) {
        // The things turn with the plate: children of it.
        let things: Vec<u32> = nodes.drain(1..).collect();
        stage.adopt(disc, &things);
        motion::spin(stage, disc, DVec3::Y, glam::DQuat::IDENTITY, 1.0);
    }
    studio_light(stage, rng, 1.0);
}

/// One shape in materials of every kind.
pub(super) fn material_row(stage: &mut Stage, rng: &mut Rng) {
    stage.tags.extend(["product", "materials"]);
    viewer(stage, rng, 2.8, DVec3::new(0.0, 0.2, 0.0));
    backdrop(stage, 1.6);
    let makers: [(&str, fn(&mut Rng) -> look::Look); 12] = [
        ("clearcoat", look::lacquer),
        ("sheen", look::fabric),
        ("specular", look::plastic),
        ("transmission", look::glass),
        ("anisotropy", look::metal),
        ("iridescence", look::iridescent),
        ("marble", look::marble),
        ("wood", look::wood),
        ("brick", look::brick),
        ("ceramic", look::ceramic),
        ("printed", look::printed),
        ("blend", look::pane),
    ];
    let ball = match rng.int(0, 3) {
        0 => shapes::sphere(0.17, 64),
        1 => shapes::knot(0.18, 0.045, 2, 3).moved(Pose::IDENTITY.turned(turn(DVec3::X, 1.2))),
        2 => shapes::rounded_box(DVec3::splat(0.28), 0.06),
        _ => shapes::blob(rng, 0.19, 64),
    };
    let ball = props::standing(ball);
    for (index, (name, maker)) in makers.into_iter().enumerate() {
        let (column, row) = (index % 4, index / 4);
        let material = stage.role(name, maker);
        let at = Pose::at(column as f64 * 0.56 - 0.84, 0.0, row as f64 * -0.56 + 0.45);
        let pose = at.yaw(rng.range(0.0, TAU));
        stage.put(name, vec![(ball.clone(), material)], pose);
    }
    studio_light(stage, rng, 1.6);
}

/// Glass on a table under a small bright light.
pub(super) fn caustics(stage: &mut Stage, rng: &mut Rng) {
    stage.tags.extend(["product", "caustic"]);
    viewer(stage, rng, 1.7, DVec3::Y * 0.15);
    let top =
        stage.role("table top", |rng| rng.pick(&[look::matte, look::wood, look::paper, look::marble])(rng));
    stage.build("table", vec![(shapes::slab(DVec3::new(-1.5, -0.05, -1.5), DVec3::new(1.5, 0.0, 1.5)), top)]);
    let wall = stage.role("wall", look::plaster);
    stage.build("wall", vec![(shapes::slab(DVec3::new(-1.5, 0.0, -1.55), DVec3::new(1.5, 1.8, -1.5)), wall)]);
    for index in 0..rng.int(9, 16) {
        let clear = index < 3 || rng.chance(0.5);
        let material = if clear {
            stage.role(&format!("glass {}", rng.int(0, 2)), look::glass)
        } else {
            props::any_material(stage, rng)
        };
        let size = rng.range(0.14, 0.34);
        let mesh = match rng.int(0, 3) {
            0 => shapes::sphere(size * 0.4, 64).moved(Pose::at(0.0, size * 0.4, 0.0)),
            1 | 2 => shapes::vessel(rng, size, 64),
            _ => props::shape(rng, size * 0.8),
        };
        let at = Pose::at(rng.range(-0.55, 0.55), 0.001, rng.range(-0.5, 0.45));
        stage.put("glass", vec![(mesh, material)], at);
    }
    let at = DVec3::new(rng.sign() * rng.range(0.6, 1.3), rng.range(0.9, 1.5), rng.range(-1.0, 0.2));
    match rng.int(0, 2) {
        0 => lamps::bulb(
            stage,
            at,
            rng.log_range(0.01, 0.05),
            white(rng.range(0.0, 0.6)),
            lit(5.0, at.length()),
        ),
        1 => drop(stage.spot(at, DVec3::ZERO, white(0.2), 6.0 * at.length_squared(), 0.6)),
        _ => drop(stage.sun(-at, white(0.2), 6.0)),
    }
    if rng.chance(0.5) {
        stage.surround(rng, 0.2);
    }
}

pub(super) fn machine(stage: &mut Stage, rng: &mut Rng) {
    stage.tags.extend(["product", "thin"]);
    viewer(stage, rng, 1.9, DVec3::Y * 0.3);
    backdrop(stage, 1.3);
    let steel = stage.role("steel", look::metal);
    let brass = stage.role("brass", look::metal);
    let paint = stage.role("paint", look::lacquer);
    let base = shapes::rounded_box(DVec3::new(1.1, 0.08, 0.7), 0.02).moved(Pose::at(0.0, 0.04, 0.0));
    stage.build("base", vec![(base, paint)]);
    let mut x = -0.42;
    let mut sign = 1.0;
    for _ in 0..rng.int(2, 4) {
        let radius = rng.range(0.1, 0.19);
        let teeth = (radius * 100.0) as u32;
        let wheel = shapes::extrude(&shapes::gear(radius, teeth), 0.05);
        let axle = shapes::cylinder(0.02, 0.2, 24).moved(Pose::at(0.0, -0.08, 0.0));
        let upright = turn(DVec3::X, TAU / 4.0);
        let pose = Pose::at(x + radius, 0.34, rng.range(-0.1, 0.1)).turned(upright);
        if let Some(node) = stage.put("gear", vec![(wheel, brass), (axle, steel)], pose) {
            motion::spin(stage, node, DVec3::Y, upright, sign);
        }
        x += 2.0 * radius + 0.01;
        sign = -sign;
    }
    for _ in 0..rng.int(10, 18) {
        let at = Pose::at(rng.range(-0.48, 0.48), 0.08, rng.range(-0.3, 0.3));
        let turns = rng.int(4, 10);
        let mesh = match rng.int(0, 3) {
            0 => shapes::coil(0.05, rng.range(0.1, 0.25), turns, 0.006),
            1 => shapes::cylinder(rng.range(0.01, 0.03), rng.range(0.1, 0.3), 32),
            2 => shapes::prism(rng.range(0.03, 0.05), rng.range(0.03, 0.1), 6),
            _ => props::standing(shapes::torus(0.06, 0.015, 48, 16)),
        };
        let material = if rng.chance(0.5) { steel } else { brass };
        stage.put("part", vec![(mesh, material)], at);
    }
    for index in 0..rng.int(3, 6) {
        let from = DVec3::new(rng.range(-0.5, 0.5), 0.08, -0.3);
        let to = DVec3::new(rng.range(-0.5, 0.5), 0.08, -0.3 - 0.02 * f64::from(index));
        let rise = DVec3::Y * rng.range(0.2, 0.6);
        let path: Vec<DVec3> = (0..=40)
            .map(|step| {
                let t = f64::from(step) / 40.0;
                from + (to - from) * t + rise * (4.0 * t * (1.0 - t))
            })
            .collect();
        let cable = stage.role(&format!("cable {index}"), look::plastic);
        stage.build("cable", vec![(shapes::wire(&path, 0.008, 10), cable)]);
    }
    studio_light(stage, rng, 1.3);
}

/// Small bright lamps over polished things in the dark.
pub(super) fn jewels(stage: &mut Stage, rng: &mut Rng) {
    stage.tags.extend(["product", "tiny_lights"]);
    viewer(stage, rng, 0.95, DVec3::Y * 0.06);
    let ground =
        stage.role("ground", |rng| rng.pick(&[look::fabric, look::marble, look::lacquer, look::wood])(rng));
    stage.build(
        "ground",
        vec![(shapes::slab(DVec3::new(-2.0, -0.05, -2.0), DVec3::new(2.0, 0.0, 2.0)), ground)],
    );
    let makers = [look::metal, look::metal, look::glass, look::iridescent, look::lacquer, look::ceramic];
    for index in 0..rng.int(24, 40) {
        let material = stage.role(&format!("jewel {}", index % 6), |rng| rng.pick(&makers)(rng));
        let size = rng.range(0.06, 0.16);
        let mesh = match rng.int(0, 3) {
            0 => {
                let upright = turn(DVec3::X, rng.range(0.0, 1.6));
                shapes::torus(size * 0.5, size * 0.09, 64, 20).moved(Pose::IDENTITY.turned(upright))
            }
            1 => shapes::lathe(
                &[[0.0, 0.0], [size * 0.5, size * 0.45], [size * 0.3, size * 0.6], [0.0, size * 0.6]],
                rng.int(6, 10),
                false,
            ),
            2 => shapes::knot(size * 0.5, size * 0.08, 2, 3),
            _ => shapes::sphere(size * 0.35, 48),
        };
        let pose = Pose::at(rng.range(-0.34, 0.34), 0.001, rng.range(-0.4, 0.25));
        stage.put("jewel", vec![(props::standing(mesh), material)], pose);
    }
    let count = rng.int(3, 9);
    for _ in 0..count {
        let at = DVec3::new(rng.range(-0.7, 0.7), rng.range(0.45, 0.9), rng.range(-0.6, 0.4));
        let radius = rng.log_range(0.002, 0.008);
        lamps::small_light(stage, rng, at, radius, lit(6.0 / f64::from(count) + 0.5, 0.7));
    }
}

/// Two blocks, or other things, in a box under a square light; after Goral et al. 1984.
pub(super) fn cornell(stage: &mut Stage, rng: &mut Rng) {
    stage.tags.extend(["box", "interior"]);
    let room = Room { size: DVec3::new(2.0, 2.0, 2.0), openings: Vec::new() };
    let eye = DVec3::new(1.0, 1.0, 5.0);
    let view = Viewpoint { eye, target: DVec3::new(1.0, 1.0, 1.0), yfov_rad: 0.72 };
    let camera = stage.view("front", view);
    if rng.chance(0.3) {
        motion::dolly(stage, camera, view);
    }
    let grey = stage.role("grey", |_| look::flat([0.73; 3]));
    let hue = rng.unit();
    let left = stage.role("left", |_| look::flat(look::hsv(hue, 0.9, 0.65)));
    let right = stage.role("right", |_| look::flat(look::hsv(hue + 0.5, 0.8, 0.5)));
    let o = WALL_M;
    let slab = |a: [f64; 3], b: [f64; 3]| shapes::slab(DVec3::from(a), DVec3::from(b));
    let mut shell = slab([-o, -o, -o], [2.0 + o, 0.0, 2.0]);
    shell.join(&slab([-o, 2.0, -o], [2.0 + o, 2.0 + o, 2.0]));
    shell.join(&slab([-o, 0.0, -o], [2.0 + o, 2.0, 0.0]));
    stage.build(
        "box",
        vec![
            (shell, grey),
            (slab([-o, 0.0, 0.0], [0.0, 2.0, 2.0]), left),
            (slab([2.0, 0.0, 0.0], [2.0 + o, 2.0, 2.0]), right),
        ],
    );
    let side = rng.log_range(0.12, 0.8);
    let at = DVec3::new(1.0, room.size.y - 0.005, 1.0);
    lamps::panel(stage, at, DVec3::NEG_Y, [side, side], white(0.3), lit(7.0, 1.3));
    let material = |stage: &mut Stage, rng: &mut Rng| {
        if rng.chance(0.4) { grey } else { props::any_material(stage, rng) }
    };
    for (x, z) in [(0.62, 0.62), (1.38, 1.1), (0.7, 1.4)] {
        let size = rng.range(0.45, 0.7);
        let made_of = material(stage, rng);
        let mesh = if rng.chance(0.4) {
            props::standing(shapes::cuboid(DVec3::new(size, size * rng.range(0.8, 1.9), size)))
        } else {
            props::shape(rng, size)
        };
        stage.put("thing", vec![(mesh, made_of)], Pose::at(x, 0.0005, z).yaw(rng.range(-0.5, 0.5)));
    }
    let tag = if side < 0.25 { "tiny_lights" } else { "area_light" };
    stage.tags.insert(tag);
}

/// Thin and moving things, skinned and morphing ones among them.
pub(super) fn wires(stage: &mut Stage, rng: &mut Rng) {
    stage.tags.extend(["thin", "abstract"]);
    viewer(stage, rng, 4.2, DVec3::Y * 0.7);
    backdrop(stage, 2.6);
    let at = Pose::at(rng.range(-0.8, 0.8), 0.55, 0.3);
    motion::morphing(stage, rng, at, 0.42);
    for x in [-1.1, 1.1] {
        let (height, z) = (rng.range(0.9, 1.3), rng.range(-0.8, 0.0));
        motion::stalk(stage, rng, Pose::at(x, 0.0, z), height);
    }
    for _ in 0..rng.int(7, 11) {
        let size = rng.range(0.4, 0.9);
        let at = DVec3::new(rng.range(-1.4, 1.4), 0.0, rng.range(-1.2, 0.8));
        let metal = stage.role("wire", look::metal);
        match rng.int(0, 3) {
            0 => {
                let cage = props::cage(stage, rng, size);
                stage.put("cage", cage, Pose::to(at).yaw(rng.unit()));
            }
            1 => {
                let grille = shapes::grille(size, size * 1.4, rng.int(8, 20), 0.008);
                stage.put("grille", vec![(grille, metal)], Pose::to(at).yaw(rng.range(-0.6, 0.6)));
            }
            2 => {
                let knot = shapes::knot(size * 0.5, size * 0.03, 3, rng.pick(&[4, 5, 7]));
                let at = at + DVec3::Y * rng.range(0.5, 1.0);
                if let Some(node) = stage.put("knot", vec![(knot, metal)], Pose::to(at)) {
                    motion::spin(stage, node, DVec3::Y, glam::DQuat::IDENTITY, rng.sign());
                }
            }
            _ => {
                let parts = props::item(stage, rng, size * 0.7);
                let at = at + DVec3::Y * rng.range(0.3, 0.9);
                if let Some(node) = stage.put("thing", parts, Pose::to(at)) {
                    motion::hover(stage, node, at, DVec3::new(0.2, 0.1, 0.1));
                }
            }
        }
    }
    let mut strands = Mesh::default();
    for _ in 0..rng.int(6, 14) {
        let x = rng.range(-1.6, 1.6);
        let from = DVec3::new(x, 0.0, -1.5);
        let to = DVec3::new(x + rng.range(-0.6, 0.6), rng.range(1.0, 2.0), -1.6);
        strands.join(&shapes::wire(
            &[from, (from + to) * 0.5 + DVec3::Z * rng.range(-0.2, 0.2), to],
            rng.log_range(0.002, 0.01),
            6,
        ));
    }
    let metal = stage.role("wire", look::metal);
    stage.build("strands", vec![(strands, metal)]);
    studio_light(stage, rng, 2.4);
}
