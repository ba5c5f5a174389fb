//! Rooms, by where their light comes from.

use std::f64::consts::TAU;

use glam::DVec3;

use super::super::lamps::{self, Strength};
use super::super::look::{self, white};
use super::super::mesh::{Mesh, Pose, turn};
use super::super::motion;
use super::super::props;
use super::super::rng::Rng;
use super::super::room::{Opening, Room, Side, WALL_M};
use super::super::shapes;
use super::super::stage::{Stage, Viewpoint};

fn lit(lux: f64, distance_m: f64) -> Strength {
    Strength { lux, distance_m }
}

/// Builds the shell, with the viewer's place kept free; furnishing comes after what the light needs.
fn shell(stage: &mut Stage, rng: &mut Rng, room: &Room) -> Viewpoint {
    stage.tags.insert("interior");
    let view = room.viewpoint(rng);
    let camera = stage.view("room", view);
    // From the other end of the front wall, closer to the things.
    let across = DVec3::new(room.size.x - view.eye.x, view.eye.y - 0.3, view.eye.z);
    stage.view("corner", Viewpoint { eye: across, yfov_rad: view.yfov_rad * 0.75, ..view });
    if rng.chance(0.3) {
        motion::dolly(stage, camera, view);
    }
    room.build(stage, "room", DVec3::ZERO);
    view
}

/// Strong sun through a window, thrown on the floor in the middle of the room.
fn sun_through(stage: &mut Stage, rng: &mut Rng, room: &Room, window: &Opening) {
    let from = room.middle(window);
    let floor = DVec3::new(room.size.x * rng.range(0.4, 0.6), 0.0, room.size.z * rng.range(0.35, 0.55));
    stage.sun(floor - from, white(rng.range(0.1, 0.5)), rng.range(12.0, 40.0));
    stage.tags.insert("sun_gap");
}

fn some_side(rng: &mut Rng) -> Side {
    rng.pick(&[Side::Left, Side::Right, Side::Back])
}

pub(super) fn window_sun(stage: &mut Stage, rng: &mut Rng) {
    let mut room = Room::any(rng);
    let side = some_side(rng);
    let window = room.window(rng, side);
    shell(stage, rng, &room);
    room.glaze(stage, rng, &window);
    if rng.chance(0.6) {
        curtains(stage, rng, &room, &window);
    }
    room.furnish(stage, rng);
    sun_through(stage, rng, &room, &window);
    stage.surround(rng, 0.6);
    stage.exposure_ev = 0.5;
}

/// A curtain on each side of a window, leaving a gap.
fn curtains(stage: &mut Stage, rng: &mut Rng, room: &Room, window: &Opening) {
    let cloth = stage.role("curtain", look::fabric);
    let pose = room.wall(window.side);
    let width = (window.max[0] - window.min[0]) * rng.range(0.35, 0.55);
    let height = window.max[1] + 0.1;
    for at in [window.min[0] - 0.05, window.max[0] + 0.05] {
        let inward = if at < window.min[0] { 1.0 } else { -1.0 };
        let x = at + inward * width * 0.5;
        let mesh = shapes::curtain(rng, width, height - 0.05).moved(Pose::at(x, 0.05, 0.12)).moved(pose);
        stage.build("curtain", vec![(mesh, cloth)]);
    }
    stage.tags.insert("thin");
}

pub(super) fn blinds(stage: &mut Stage, rng: &mut Rng) {
    let mut room = Room::any(rng);
    let side = some_side(rng);
    let window = room.window(rng, side);
    shell(stage, rng, &room);
    let slat = stage.role("slats", rng.pick(&[look::matte, look::wood, look::metal]));
    let (width, height) = (window.max[0] - window.min[0], window.max[1] - window.min[1]);
    let mesh =
        shapes::blinds(width - 0.02, height, (height / rng.range(0.03, 0.06)) as u32, rng.range(0.2, 0.7));
    let at = Pose::at(window.min[0] + width * 0.5, window.min[1], -0.04);
    stage.build("blinds", vec![(mesh.moved(at).moved(room.wall(side)), slat)]);
    room.furnish(stage, rng);
    sun_through(stage, rng, &room, &window);
    stage.surround(rng, 0.6);
    stage.tags.insert("thin");
    stage.exposure_ev = 1.0;
}

pub(super) fn daylight(stage: &mut Stage, rng: &mut Rng) {
    let mut room = Room::any(rng);
    let side = some_side(rng);
    let window = room.window(rng, side);
    shell(stage, rng, &room);
    room.glaze(stage, rng, &window);
    room.furnish(stage, rng);
    stage.surround(rng, 4.0);
    stage.tags.insert("sky_portal");
    stage.exposure_ev = 1.0;
}

/// Light from above through a shaft in the roof.
pub(super) fn skylight(stage: &mut Stage, rng: &mut Rng) {
    let mut room = Room::any(rng);
    room.size.y = 3.2;
    let view = room.viewpoint(rng);
    stage.tags.extend(["interior", "sky_portal"]);
    stage.view("room", view);
    let hole = [room.size.x * 0.35, room.size.x * 0.65, room.size.z * 0.25, room.size.z * 0.55];
    roofless(stage, &room, hole);
    room.furnish(stage, rng);
    stage.surround(rng, 3.0);
    if rng.chance(0.6) {
        let direction = DVec3::new(rng.range(-0.35, 0.35), -1.0, rng.range(-0.3, 0.3));
        stage.sun(direction, white(0.2), rng.range(10.0, 30.0));
        stage.tags.insert("sun_gap");
    }
    stage.exposure_ev = 0.5;
}

/// A room whose ceiling has a hole: x from, to, z from, to.
fn roofless(stage: &mut Stage, room: &Room, [x0, x1, z0, z1]: [f64; 4]) {
    let wall = stage.role("room wall", look::plaster);
    let floor = stage.role("room floor", look::wood);
    let ceiling = stage.role("room ceiling", look::matte);
    let DVec3 { x, y, z } = room.size;
    let o = WALL_M;
    let slab = |a: [f64; 3], b: [f64; 3]| shapes::slab(DVec3::from(a), DVec3::from(b));
    let mut sides = slab([-o, 0.0, -o], [x + o, y, 0.0]);
    sides.join(&slab([-o, 0.0, z], [x + o, y, z + o]));
    sides.join(&slab([-o, 0.0, 0.0], [0.0, y, z]));
    sides.join(&slab([x, 0.0, 0.0], [x + o, y, z]));
    let mut top = slab([-o, y, -o], [x + o, y + o, z0]);
    top.join(&slab([-o, y, z1], [x + o, y + o, z + o]));
    top.join(&slab([-o, y, z0], [x0, y + o, z1]));
    top.join(&slab([x1, y, z0], [x + o, y + o, z1]));
    let ground = slab([-o, -o, -o], [x + o, 0.0, z + o]);
    stage.build("room shell", vec![(sides, wall), (ground, floor), (top, ceiling)]);
}

pub(super) fn behind_screen(stage: &mut Stage, rng: &mut Rng) {
    let room = Room::any(rng);
    let view = shell(stage, rng, &room);
    // In the far corner on the side that the viewer looks towards.
    let side = if view.target.x < room.size.x * 0.5 { 0.0 } else { room.size.x };
    let inward = if side == 0.0 { 1.0 } else { -1.0 };
    let lamp = DVec3::new(side + inward * 0.4, 0.0, 0.45);
    let screen = DVec3::new(side + inward * 0.85, 0.0, 0.95);
    let parts = props::folding_screen(stage, rng);
    let facing = turn(DVec3::Y, inward * 0.75);
    stage.put("screen", parts, Pose::to(screen).turned(facing));
    let height = rng.range(1.2, 1.45);
    let parts = props::floor_lamp(stage, rng, height);
    stage.put("floor lamp", parts, Pose::to(lamp));
    let color = white(rng.range(0.3, 0.9));
    let at = lamp + DVec3::Y * (height - 0.1);
    if rng.chance(0.6) {
        lamps::bulb(stage, at, 0.05, color, lit(14.0, 1.5));
    } else {
        stage.point(at, color, 30.0);
    }
    room.furnish(stage, rng);
    stage.tags.insert("indirect");
    stage.exposure_ev = 1.5;
}

pub(super) fn next_room(stage: &mut Stage, rng: &mut Rng) {
    let mut room = Room::any(rng);
    let side = rng.pick(&[Side::Left, Side::Right]);
    let door = room.door(rng, side);
    let view = shell(stage, rng, &room);
    room.keep_door_free(stage, &door);
    let mut other = Room { size: DVec3::new(3.0, room.size.y, room.size.z), openings: Vec::new() };
    let (x, facing) = match side {
        Side::Left => (-other.size.x - WALL_M, Side::Right),
        _ => (room.size.x + WALL_M, Side::Left),
    };
    // The same hole from the other side, where left and right are exchanged.
    let length = other.length(facing);
    let mirrored = [length - door.max[0], length - door.min[0]];
    other.openings.push(Opening { side: facing, min: [mirrored[0], 0.0], max: [mirrored[1], door.max[1]] });
    other.build(stage, "next", DVec3::new(x, 0.0, 0.0));
    room.furnish(stage, rng);
    let middle = DVec3::new(x + 1.5, room.size.y - 0.6, room.middle(&door).z);
    // Away from the door, along the next room, so that the lamp itself is not seen.
    let away = if view.eye.z > middle.z { 1.0 } else { -1.0 };
    let at = middle + DVec3::Z * away * rng.range(0.4, 1.0).min(other.size.z * 0.2);
    match rng.int(0, 2) {
        0 => lamps::bulb(stage, at, 0.08, white(0.5), lit(20.0, 2.0)),
        1 => lamps::panel(
            stage,
            DVec3::new(at.x, room.size.y - 0.02, at.z),
            DVec3::NEG_Y,
            [0.6, 0.6],
            white(0.2),
            lit(16.0, 2.0),
        ),
        _ => {
            stage.point(at, white(rng.range(0.2, 0.7)), 70.0);
        }
    }
    stage.tags.insert("indirect");
    stage.exposure_ev = 2.0;
}

/// Strips behind a ledge under the ceiling: none of them is seen from below.
pub(super) fn cove(stage: &mut Stage, rng: &mut Rng) {
    let room = Room::any(rng);
    shell(stage, rng, &room);
    let ledge = stage.role("ledge", look::matte);
    let color = white(rng.range(0.0, 0.9));
    let radiance = rng.range(15.0, 40.0);
    let strip = stage.role("strip", |_| look::emitter(color, radiance));
    for side in [Side::Back, Side::Left, Side::Right] {
        let length = room.length(side);
        let y = room.size.y - 0.32;
        let mut mesh = shapes::slab(DVec3::new(0.2, y, 0.0), DVec3::new(length - 0.2, y + 0.03, 0.2));
        mesh.join(&shapes::slab(DVec3::new(0.2, y + 0.03, 0.18), DVec3::new(length - 0.2, y + 0.12, 0.2)));
        let mut glow = Mesh::default();
        let at = |x: f64, z: f64| DVec3::new(x, y + 0.04, z);
        glow.quad(
            [at(0.25, 0.09), at(length - 0.25, 0.09), at(length - 0.25, 0.05), at(0.25, 0.05)],
            [1.0, 1.0],
        );
        let pose = room.wall(side);
        stage.build("cove", vec![(mesh.moved(pose), ledge), (glow.moved(pose), strip)]);
    }
    room.furnish(stage, rng);
    stage.tags.insert("indirect");
    stage.exposure_ev = 1.0;
}

pub(super) fn tiny_lamps(stage: &mut Stage, rng: &mut Rng) {
    let room = Room::any(rng);
    shell(stage, rng, &room);
    room.furnish(stage, rng);
    let count = rng.int(2, 4);
    for index in 0..count {
        let x = room.size.x * (f64::from(index) + 0.5) / f64::from(count);
        let at = DVec3::new(x, rng.range(1.2, room.size.y - 0.2), room.size.z * rng.range(0.15, 0.5));
        let radius = rng.log_range(0.004, 0.012);
        lamps::small_light(stage, rng, at, radius, lit(4.0 / f64::from(count) + 1.0, 1.5));
    }
    stage.tags.insert("tiny_lights");
    stage.exposure_ev = 0.5;
}

/// A string of lights along the ceiling and walls.
pub(super) fn many_lights(stage: &mut Stage, rng: &mut Rng) {
    let room = Room::any(rng);
    shell(stage, rng, &room);
    room.furnish(stage, rng);
    let count = rng.int(32, 96);
    let colors = [0, 1, 2, 3]
        .map(|_| if rng.chance(0.6) { white(rng.unit()) } else { look::hsv(rng.unit(), 0.8, 1.0) });
    let wire = stage.role("wire", look::metal);
    let sag = rng.range(0.1, 0.3);
    let place = |t: f64| {
        let (sin, cos) = libm::sincos(TAU * t);
        let swing = libm::sin(TAU * t * 9.0);
        let middle = DVec3::new(room.size.x, 0.0, room.size.z) * 0.5;
        let reach = DVec3::new(cos * room.size.x, 0.0, sin * room.size.z) * 0.42;
        middle + reach + DVec3::Y * (room.size.y - 0.2 - sag * (1.0 + swing))
    };
    let path: Vec<DVec3> = (0..200).map(|index| place(f64::from(index) / 200.0)).collect();
    stage.build("string", vec![(shapes::tube(&path, 0.003, 6, true), wire)]);
    let punctual = rng.chance(0.4);
    let power = 30.0 / f64::from(count);
    for index in 0..count {
        let at = place((f64::from(index) + 0.5) / f64::from(count)) - DVec3::Y * 0.03;
        let color = colors[index as usize % colors.len()];
        if punctual {
            stage.point(at, color, power);
        } else {
            lamps::bulb(stage, at, 0.015, color, lit(power, 1.0));
        }
    }
    stage.tags.extend(["many_lights", "thin"]);
    stage.exposure_ev = 0.0;
}

pub(super) fn office(stage: &mut Stage, rng: &mut Rng) {
    let room = Room::any(rng);
    shell(stage, rng, &room);
    room.furnish(stage, rng);
    let (columns, rows) = (rng.int(1, 2), rng.int(1, 3));
    let warmth = rng.range(0.0, 0.3);
    for column in 0..columns {
        for row in 0..rows {
            let x = room.size.x * (f64::from(column) + 0.5) / f64::from(columns);
            let z = room.size.z * (f64::from(row) + 0.5) / f64::from(rows);
            let at = DVec3::new(x, room.size.y - 0.01, z);
            let share = 7.0 / f64::from(columns * rows);
            lamps::panel(stage, at, DVec3::NEG_Y, [0.6, 0.6], white(warmth), lit(share, 2.0));
        }
    }
    if rng.chance(0.5) {
        let target = DVec3::new(room.size.x * rng.range(0.2, 0.8), 0.8, 0.3);
        let at = DVec3::new(target.x, room.size.y - 0.1, 1.3);
        stage.spot(at, target, white(0.4), 8.0, 0.5);
    }
    stage.exposure_ev = -0.3;
}

pub(super) fn evening(stage: &mut Stage, rng: &mut Rng) {
    let room = Room::any(rng);
    shell(stage, rng, &room);
    let hook =
        DVec3::new(room.size.x * rng.range(0.35, 0.65), room.size.y, room.size.z * rng.range(0.25, 0.45));
    let drop = rng.range(0.5, 0.9);
    lamps::pendant(stage, rng, hook, drop, lit(5.0, 1.6));
    let lamp = DVec3::new(if rng.chance(0.5) { 0.35 } else { room.size.x - 0.35 }, 0.0, 0.4);
    let height = rng.range(1.3, 1.6);
    let parts = props::floor_lamp(stage, rng, height);
    if stage.put("floor lamp", parts, Pose::to(lamp)).is_some() {
        lamps::bulb(stage, lamp + DVec3::Y * (height - 0.12), 0.04, white(0.7), lit(4.0, 1.2));
    }
    room.furnish(stage, rng);
    stage.exposure_ev = 0.3;
}
