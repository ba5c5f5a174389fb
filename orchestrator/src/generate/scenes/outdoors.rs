//! Places under the sky.

use std::f64::consts::{FRAC_PI_2, TAU};

use glam::DVec3;

use super::super::lamps::{self, Strength};
use super::super::look::{self, white};
use super::super::mesh::{Mesh, Pose};
use super::super::motion;
use super::super::props;
use super::super::rng::Rng;
use super::super::shapes;
use super::super::stage::{Draft, Stage, Viewpoint};

/// A sun between `low` and `high` above the horizon. *Units*: radians.
fn sun(stage: &mut Stage, rng: &mut Rng, low: f64, high: f64) {
    let height = rng.range(low, high);
    // From behind the viewer or from a side, seldom into the lens: viewers look towards -Z.
    let turn = rng.range(-2.2, 2.2);
    let (sin, cos) = libm::sincos(turn);
    let (up, out) = libm::sincos(height);
    let warmth = (1.0 - height).max(0.05);
    stage.sun(DVec3::new(-sin * out, -up, -cos * out), white(warmth), rng.range(3.0, 7.0));
}

/// A viewer at `eye`, with a second, closer view.
fn views(stage: &mut Stage, rng: &mut Rng, eye: DVec3, target: DVec3) {
    stage.tags.insert("exterior");
    let view = Viewpoint { eye, target, yfov_rad: rng.range(0.75, 1.05) };
    let camera = stage.view("wide", view);
    let near = eye + (target - eye) * 0.3 + DVec3::Y * 0.2;
    stage.view("near", Viewpoint { eye: near, target, yfov_rad: 0.7 });
    if rng.chance(0.3) {
        motion::dolly(stage, camera, view);
    }
}

fn flat_ground(stage: &mut Stage, half: f64, make: impl FnOnce(&mut Rng) -> look::Look) {
    let material = stage.role("ground", make);
    let corner = DVec3::new(half, 0.0, half);
    stage.build("ground", vec![(shapes::slab(-corner - DVec3::Y * 0.2, corner), material)]);
}

/// Somewhere on the ground in front of the viewer.
fn spot(rng: &mut Rng, reach: f64) -> DVec3 {
    DVec3::new(rng.range(-reach, reach), 0.0, rng.range(-reach, reach * 0.5))
}

/// A mesh placed again and again, each turned and scaled otherwise.
fn scatter(stage: &mut Stage, rng: &mut Rng, name: &str, mesh: Draft, count: u32, reach: f64) {
    for _ in 0..count {
        let pose = Pose::to(spot(rng, reach)).yaw(rng.range(0.0, TAU)).scaled(rng.range(0.7, 1.3));
        stage.place(name, mesh, pose);
    }
}

pub(super) fn garden(stage: &mut Stage, rng: &mut Rng) {
    let eye = DVec3::new(rng.range(-2.0, 2.0), rng.range(1.4, 1.9), 7.0);
    views(stage, rng, eye, DVec3::new(0.0, 1.2, 0.0));
    let (seed, relief) = (rng.bits() >> 1, 0.25);
    let material = stage.role("ground", look::soil);
    let ground = shapes::heightfield(40.0, 80, |x, z| shapes::terrain_height(seed, relief, x, z) - 0.15);
    stage.build("ground", vec![(ground, material)]);
    let fence = stage.role("fence", look::fence);
    for index in 0..12 {
        let mut panel = Mesh::default();
        let x = -12.0 + 2.0 * f64::from(index);
        let corner = |dx: f64, y: f64| DVec3::new(x + dx, y - 0.25, -5.0);
        panel.quad([corner(0.0, 0.0), corner(2.0, 0.0), corner(2.0, 1.6), corner(0.0, 1.6)], [1.0, 1.0]);
        stage.build("fence", vec![(panel, fence)]);
    }
    for _ in 0..2 {
        let (height, count) = (rng.range(3.0, 5.5), rng.int(500, 1400));
        let tree = props::tree(stage, rng, height, count);
        let mesh = stage.mesh("tree", tree);
        scatter(stage, rng, "tree", mesh, 6, 6.0);
    }
    for _ in 0..4 {
        let (radius, count) = (rng.range(0.3, 0.7), rng.int(200, 600));
        let green = stage.role("leaf", look::leaf);
        let bush = shapes::leaves(rng, radius, count, 0.1).moved(Pose::at(0.0, radius * 0.7, 0.0));
        let mesh = stage.mesh("bush", vec![(bush, green)]);
        scatter(stage, rng, "bush", mesh, 9, 5.0);
    }
    let stone = stage.role("stone", look::stone);
    let pebble = shapes::rock(rng, 0.22, 28);
    let pebble = stage.mesh("stone", vec![(pebble, stone)]);
    scatter(stage, rng, "stone", pebble, 14, 5.0);
    let flowers = stage.role("flowers", |rng| look::Look { double_sided: true, ..look::plastic(rng) });
    let meadow = shapes::meadow(rng, 6.0, 1500, 0.08);
    stage.build("flowers", vec![(meadow, flowers)]);
    for _ in 0..rng.int(6, 10) {
        let size = rng.range(0.4, 0.9);
        let parts = match rng.int(0, 3) {
            0 => props::chair(stage, rng),
            1 => props::potted_plant(stage, rng),
            _ => props::item(stage, rng, size),
        };
        stage.put("thing", parts, Pose::to(spot(rng, 3.5)).yaw(rng.range(0.0, TAU)));
    }
    sun(stage, rng, 0.4, 1.1);
    stage.surround(rng, 0.8);
}

pub(super) fn terrain(stage: &mut Stage, rng: &mut Rng) {
    let (seed, relief) = (rng.bits() >> 1, rng.range(3.0, 8.0));
    let height = |x: f64, z: f64| {
        // Level around the viewer and their way, hills beyond.
        let far = ((x * x + (z - 4.0) * (z - 4.0)).sqrt() * 0.045).min(1.0);
        shapes::terrain_height(seed, relief, x, z) * far
    };
    let eye = DVec3::new(0.0, height(0.0, 9.0) + 2.2, 9.0);
    views(stage, rng, eye, DVec3::new(0.0, height(0.0, -4.0).max(0.0) + 0.8, -4.0));
    let material = stage.role("ground", look::soil);
    stage.build("ground", vec![(shapes::heightfield(60.0, 150, height), material)]);
    let stone = stage.role("rock", look::stone);
    for _ in 0..3 {
        let radius = rng.range(0.3, 0.9);
        let rock = shapes::rock(rng, radius, 40);
        let mesh = stage.mesh("rock", vec![(rock, stone)]);
        for _ in 0..8 {
            let at = spot(rng, 9.0);
            let pose = Pose::at(at.x, height(at.x, at.z), at.z).yaw(rng.range(0.0, TAU));
            stage.place("rock", mesh, pose.scaled(rng.range(0.5, 1.6)));
        }
    }
    let tall = rng.range(2.0, 4.5);
    let tree = props::tree(stage, rng, tall, 700);
    let mesh = stage.mesh("tree", tree);
    for _ in 0..10 {
        let at = spot(rng, 12.0);
        let pose = Pose::at(at.x, height(at.x, at.z) - 0.05, at.z).yaw(rng.range(0.0, TAU));
        stage.place("tree", mesh, pose.scaled(rng.range(0.6, 1.4)));
    }
    if rng.chance(0.7) {
        sun(stage, rng, 0.15, 0.8);
    } else {
        stage.tags.insert("environment_only");
    }
    stage.surround(rng, 1.0);
}

pub(super) fn courtyard(stage: &mut Stage, rng: &mut Rng) {
    let eye = DVec3::new(rng.range(-1.5, 1.5), 1.7, 5.2);
    views(stage, rng, eye, DVec3::new(0.0, 1.3, -1.0));
    flat_ground(stage, 9.0, |rng| rng.pick(&[look::tiles, look::stone, look::marble])(rng));
    let wall = stage.role("wall", |rng| rng.pick(&[look::brick, look::plaster, look::stone])(rng));
    let mut walls = Mesh::default();
    for (min, max) in [([-6.5, -6.5], [6.5, -6.0]), ([-6.5, -6.0], [-6.0, 6.5]), ([6.0, -6.0], [6.5, 6.5])] {
        let height = rng.range(2.5, 5.0);
        walls.join(&shapes::slab(DVec3::new(min[0], 0.0, min[1]), DVec3::new(max[0], height, max[1])));
    }
    stage.build("walls", vec![(walls, wall)]);
    let stone = stage.role("column", |rng| rng.pick(&[look::marble, look::stone, look::plaster])(rng));
    let outline: Vec<[f64; 2]> =
        [[0.0, 0.0], [0.34, 0.0], [0.34, 0.12], [0.24, 0.2], [0.2, 2.6], [0.3, 2.75], [0.3, 2.9], [0.0, 2.9]]
            .into();
    let column = stage.mesh("column", vec![(shapes::lathe(&outline, 32, false), stone)]);
    let count = rng.int(4, 6);
    for index in 0..count {
        let t = f64::from(index) / f64::from(count - 1) * 2.0 - 1.0;
        stage.place("column", column, Pose::at(t * 4.6, 0.0, -4.4));
        stage.place("column", column, Pose::at(-4.6, 0.0, t * 4.0 - 0.2));
        stage.place("column", column, Pose::at(4.6, 0.0, t * 4.0 - 0.2));
    }
    let basin = rng.range(1.6, 2.2);
    let fountain = shapes::vessel(rng, basin, 64);
    let scale = rng.range(0.45, 0.6);
    stage.put("fountain", vec![(fountain, stone)], Pose::at(0.0, 0.0, -1.2).scaled(scale));
    for _ in 0..rng.int(8, 14) {
        let size = rng.range(0.4, 1.0);
        let parts =
            if rng.chance(0.3) { props::potted_plant(stage, rng) } else { props::item(stage, rng, size) };
        stage.put("thing", parts, Pose::to(spot(rng, 3.8)).yaw(rng.range(0.0, TAU)));
    }
    for _ in 0..4 {
        let parts = props::decal(stage, rng, 1.5);
        stage.build_at("decal", parts, Pose::to(spot(rng, 3.5)).yaw(rng.range(0.0, TAU)));
    }
    sun(stage, rng, 0.5, 1.1);
    stage.surround(rng, 0.8);
}

pub(super) fn night_street(stage: &mut Stage, rng: &mut Rng) {
    let eye = DVec3::new(rng.range(-1.2, 1.2), 1.7, 8.5);
    views(stage, rng, eye, DVec3::new(0.0, 1.8, -4.0));
    flat_ground(stage, 30.0, |rng| look::Look { roughness: 0.5, ..look::stone(rng) });
    for side in [-1.0, 1.0] {
        let mut z = 8.0;
        while z > -22.0 {
            let (width, height) = (rng.range(3.0, 6.0), rng.range(4.0, 9.0));
            house(stage, rng, side, z, width, height);
            z -= width + 0.02;
        }
    }
    let post = stage.role("lamp stand", look::lacquer);
    let pole = shapes::cylinder(0.05, 3.0, 16)
        .joined(shapes::cylinder(0.2, 0.05, 24).moved(Pose::at(0.0, 3.12, 0.0)));
    let pole = stage.mesh("lamp post", vec![(pole, post)]);
    let warmth = rng.range(0.4, 1.0);
    let punctual = rng.chance(0.5);
    for index in 0..8 {
        let side = if index % 2 == 0 { -1.0 } else { 1.0 };
        let at = DVec3::new(side * 2.9, 0.0, 5.0 - 3.2 * f64::from(index));
        stage.place("lamp post", pole, Pose::to(at));
        let strength = Strength { lux: 5.0, distance_m: 2.5 };
        let lamp = at + DVec3::Y * 3.08;
        match (punctual, index % 3) {
            (true, 0) => drop(stage.spot(lamp, at - DVec3::X * side * 0.8, white(warmth), 50.0, 1.1)),
            (true, _) => drop(stage.point(lamp, white(warmth), 31.0)),
            (false, _) => lamps::bulb(stage, lamp, 0.05, white(warmth), strength),
        }
    }
    for _ in 0..rng.int(8, 14) {
        let size = rng.range(0.5, 1.2);
        let parts = props::item(stage, rng, size);
        let at = DVec3::new(rng.range(-2.4, 2.4), 0.0, rng.range(-10.0, 5.0));
        stage.put("thing", parts, Pose::to(at));
    }
    stage.tags.extend(["many_lights", "night"]);
    stage.exposure_ev = 0.5;
}

/// A house front beside the street, some of its windows lit.
fn house(stage: &mut Stage, rng: &mut Rng, side: f64, z: f64, width: f64, height: f64) {
    let wall = stage.role(&format!("house {}", rng.int(0, 3)), |rng| {
        rng.pick(&[look::brick, look::plaster, look::stone])(rng)
    });
    let dark = stage.role("dark window", |rng| look::Look {
        roughness: 0.05,
        base: [0.03; 3],
        ..look::ceramic(rng)
    });
    let glow = rng.range(0.5, 3.0);
    let lit =
        stage.role(&format!("lit window {}", rng.int(0, 1)), |rng| look::emitter(white(rng.unit()), glow));
    let (near, far) = (side * 3.6, side * 8.0);
    let body = shapes::slab(DVec3::new(near.min(far), 0.0, z - width), DVec3::new(near.max(far), height, z));
    let mut windows = [Mesh::default(), Mesh::default()];
    let (columns, rows) = ((width / 1.4) as u32, (height / 1.9) as u32);
    for column in 0..columns {
        for row in 0..rows {
            let at_z = z - width * (f64::from(column) + 0.5) / f64::from(columns);
            let at = DVec3::new(near - side * 0.01, 1.2 + 1.9 * f64::from(row), at_z);
            let pane = shapes::cuboid(DVec3::new(0.04, 1.1, 0.8)).moved(Pose::to(at));
            windows[usize::from(rng.chance(0.3))].join(&pane);
        }
    }
    let [black, bright] = windows;
    let mut parts = vec![(body, wall), (black, dark), (bright, lit)];
    parts.retain(|(mesh, _)| !mesh.index.is_empty());
    stage.build("house", parts);
}

/// Sun through a roof of slats.
pub(super) fn pergola(stage: &mut Stage, rng: &mut Rng) {
    let eye = DVec3::new(rng.range(-1.0, 1.0), 1.6, 4.4);
    views(stage, rng, eye, DVec3::new(0.0, 0.8, -0.5));
    flat_ground(stage, 12.0, |rng| rng.pick(&[look::tiles, look::wood, look::stone])(rng));
    let timber = stage.role("timber", |rng| rng.pick(&[look::wood, look::matte, look::metal])(rng));
    let mut mesh = Mesh::default();
    for (x, z) in [(-2.8, -2.8), (2.8, -2.8), (-2.8, 2.8), (2.8, 2.8)] {
        mesh.join(&shapes::slab(DVec3::new(x - 0.06, 0.0, z - 0.06), DVec3::new(x + 0.06, 2.5, z + 0.06)));
    }
    let count = rng.int(14, 36);
    let width = 5.6 / f64::from(count) * rng.range(0.4, 0.8);
    for index in 0..=count {
        let x = -2.8 + 5.6 * f64::from(index) / f64::from(count);
        mesh.join(&shapes::slab(
            DVec3::new(x - width * 0.5, 2.56, -3.2),
            DVec3::new(x + width * 0.5, 2.62, 3.2),
        ));
    }
    for z in [-2.8, 0.0, 2.8] {
        mesh.join(&shapes::slab(DVec3::new(-3.2, 2.5, z - 0.05), DVec3::new(3.2, 2.56, z + 0.05)));
    }
    stage.build("pergola", vec![(mesh, timber)]);
    let back = stage.role("wall", |rng| rng.pick(&[look::plaster, look::brick])(rng));
    stage.build("wall", vec![(shapes::slab(DVec3::new(-4.0, 0.0, -3.6), DVec3::new(4.0, 2.8, -3.4)), back)]);
    let (parts, size) = props::table(stage, rng, false);
    if stage.put("table", parts, Pose::at(0.0, 0.0, -0.6)).is_some() {
        for _ in 0..6 {
            let item = props::item(stage, rng, 0.18);
            let aside =
                DVec3::new(rng.range(-0.4, 0.4) * size.x, size.y, rng.range(-0.3, 0.3) * size.z - 0.6);
            stage.put("thing", item, Pose::to(aside));
        }
    }
    let chair = props::chair(stage, rng);
    let chair = stage.mesh("chair", chair);
    for (x, z, yaw) in [(-1.3, -0.6, FRAC_PI_2), (1.3, -0.6, -FRAC_PI_2), (0.2, -1.6, 0.0)] {
        stage.place("chair", chair, Pose::at(x, 0.0, z).yaw(yaw));
    }
    for _ in 0..8 {
        let parts =
            if rng.chance(0.6) { props::potted_plant(stage, rng) } else { props::item(stage, rng, 0.5) };
        stage.put("thing", parts, Pose::to(spot(rng, 2.6)));
    }
    sun(stage, rng, 0.8, 1.2);
    stage.surround(rng, 0.5);
    stage.tags.extend(["sun_gap", "thin"]);
}

pub(super) fn city(stage: &mut Stage, rng: &mut Rng) {
    let eye = DVec3::new(rng.range(-12.0, 12.0), rng.range(18.0, 34.0), 58.0);
    views(stage, rng, eye, DVec3::new(0.0, 5.0, 0.0));
    flat_ground(stage, 70.0, look::stone);
    let fronts = [0, 1, 2, 3].map(|index| {
        stage.role(&format!("front {index}"), |rng| {
            rng.pick(&[look::facade, look::facade, look::facade, look::plaster])(rng)
        })
    });
    let glassy = stage.role("tower", look::metal);
    for column in -5..=5 {
        for row in -6..=3 {
            let at = DVec3::new(f64::from(column) * 7.0, 0.0, f64::from(row) * 7.0);
            let near = (at.x * at.x + at.z * at.z).sqrt();
            let height = rng.log_range(2.5, 24.0) * (1.0 - near / 120.0);
            let size = DVec3::new(rng.range(3.5, 6.0), height, rng.range(3.5, 6.0));
            let material = if rng.chance(0.15) { glassy } else { rng.pick(&fronts) };
            let body = match rng.int(0, 5) {
                0 => shapes::cylinder(size.x * 0.45, height, 48),
                1 => shapes::prism(size.x * 0.5, height, 6),
                2 => shapes::slab(
                    DVec3::new(-size.x * 0.5, 0.0, -size.z * 0.5),
                    DVec3::new(size.x * 0.5, height * 0.6, size.z * 0.5),
                )
                .joined(shapes::slab(
                    DVec3::new(-size.x * 0.3, height * 0.6, -size.z * 0.3),
                    DVec3::new(size.x * 0.3, height, size.z * 0.3),
                )),
                _ => shapes::slab(
                    DVec3::new(-size.x * 0.5, 0.0, -size.z * 0.5),
                    DVec3::new(size.x * 0.5, height, size.z * 0.5),
                ),
            };
            stage.put("building", vec![(body, material)], Pose::to(at));
        }
    }
    sun(stage, rng, 0.25, 0.9);
    stage.surround(rng, 1.0);
}
