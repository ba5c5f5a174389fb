//! Rooms: closed shells of walls with a thickness, with openings, so that light comes in only where it should.

use std::f64::consts::{FRAC_PI_2, PI};

use glam::DVec3;

use super::look;
use super::mesh::{Mesh, Pose};
use super::props;
use super::rng::Rng;
use super::shapes;
use super::stage::{Stage, Viewpoint};

/// Thickness of walls, floor and ceiling. *Units*: metres.
pub(super) const WALL_M: f64 = 0.15;

/// A side of a room, by the axis that points out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// -Z
    Back,
    /// +Z
    Front,
    /// -X
    Left,
    /// +X
    Right,
}

/// A hole in a wall: from its left lower corner as seen from inside.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opening {
    pub side: Side,
    pub min: [f64; 2],
    pub max: [f64; 2],
}

/// A room between the origin and `size`.
#[derive(Debug, Clone)]
pub(super) struct Room {
    pub size: DVec3,
    pub openings: Vec<Opening>,
}

impl Room {
    /// A room of usual size, the viewer near its front wall.
    pub(super) fn any(rng: &mut Rng) -> Room {
        let size = DVec3::new(rng.range(3.4, 6.0), rng.range(2.4, 3.2), rng.range(3.8, 6.5));
        Room { size, openings: Vec::new() }
    }

    /// Length of a wall.
    pub(super) fn length(&self, side: Side) -> f64 {
        if matches!(side, Side::Back | Side::Front) { self.size.x } else { self.size.z }
    }

    /// Stands in a wall: x along it from the left as seen from inside, y up, +z into the room.
    pub(super) fn wall(&self, side: Side) -> Pose {
        let DVec3 { x, z, .. } = self.size;
        match side {
            Side::Back => Pose::IDENTITY,
            Side::Front => Pose::at(x, 0.0, z).yaw(PI),
            Side::Left => Pose::at(0.0, 0.0, z).yaw(FRAC_PI_2),
            Side::Right => Pose::at(x, 0.0, 0.0).yaw(-FRAC_PI_2),
        }
    }

    /// The middle of an opening, in the plane of the wall's inner face.
    pub(super) fn middle(&self, opening: &Opening) -> DVec3 {
        let [x, y] = [0, 1].map(|axis| (opening.min[axis] + opening.max[axis]) * 0.5);
        self.wall(opening.side).point(DVec3::new(x, y, 0.0))
    }

    /// A window of a usual size in a wall.
    pub(super) fn window(&mut self, rng: &mut Rng, side: Side) -> Opening {
        let length = self.length(side);
        let width = rng.range(0.9, 1.8).min(length - 1.0);
        let start = rng.range(0.35, 0.65) * (length - width);
        let opening =
            Opening { side, min: [start, rng.range(0.7, 1.0)], max: [start + width, self.size.y - 0.35] };
        self.openings.push(opening);
        opening
    }

    pub(super) fn door(&mut self, rng: &mut Rng, side: Side) -> Opening {
        let length = self.length(side);
        let start = rng.range(0.3, 0.7) * (length - 0.95);
        let opening = Opening { side, min: [start, 0.0], max: [start + 0.9, 2.05] };
        self.openings.push(opening);
        opening
    }

    /// Where a viewer stands near the front wall, looking across the room.
    pub(super) fn viewpoint(&self, rng: &mut Rng) -> Viewpoint {
        let DVec3 { x, z, .. } = self.size;
        let side = rng.sign();
        let eye = DVec3::new(
            x * (0.5 + side * rng.range(0.1, 0.3)),
            rng.range(1.25, 1.7),
            z - rng.range(0.55, 0.8),
        );
        let target = DVec3::new(x * (0.5 - side * rng.range(0.0, 0.25)), rng.range(0.8, 1.1), z * 0.2);
        Viewpoint { eye, target, yfov_rad: rng.range(0.95, 1.25) }
    }

    /// Builds the shell; `prefix` keeps the materials of several rooms apart.
    pub(super) fn build(&self, stage: &mut Stage, prefix: &str, origin: DVec3) {
        let walls = [look::plaster, look::plaster, look::wallpaper, look::brick];
        let floors = [look::wood, look::wood, look::tiles, look::marble];
        let wall = stage.role(&format!("{prefix} wall"), |rng| rng.pick(&walls)(rng));
        let floor = stage.role(&format!("{prefix} floor"), |rng| rng.pick(&floors)(rng));
        let ceiling = stage.role(&format!("{prefix} ceiling"), look::matte);
        let DVec3 { x, y, z } = self.size;
        let out = WALL_M;
        let mut sides = Mesh::default();
        for side in [Side::Back, Side::Front, Side::Left, Side::Right] {
            sides.join(&self.wall_mesh(side).moved(self.wall(side)));
        }
        let plate = |low: f64, high: f64| {
            shapes::slab(DVec3::new(-out, low, -out), DVec3::new(x + out, high, z + out))
        };
        let parts = vec![(sides, wall), (plate(-out, 0.0), floor), (plate(y, y + out), ceiling)];
        let moved = parts.into_iter().map(|(mesh, material)| (mesh.moved(Pose::to(origin)), material));
        stage.build(&format!("{prefix} shell"), moved.collect());
    }

    /// A wall as boxes around its openings, in the wall's own space. Back and front cover the corners.
    fn wall_mesh(&self, side: Side) -> Mesh {
        let (length, height) = (self.length(side), self.size.y);
        let over = if matches!(side, Side::Back | Side::Front) { WALL_M } else { 0.0 };
        let holes: Vec<&Opening> = self.openings.iter().filter(|opening| opening.side == side).collect();
        let cuts = |axis: usize, low: f64, high: f64| {
            let mut cuts = vec![low, high];
            cuts.extend(holes.iter().flat_map(|hole| [hole.min[axis], hole.max[axis]]));
            cuts.sort_unstable_by(f64::total_cmp);
            cuts.dedup();
            cuts
        };
        let (columns, rows) = (cuts(0, -over, length + over), cuts(1, 0.0, height));
        let mut mesh = Mesh::default();
        for x in columns.windows(2) {
            for y in rows.windows(2) {
                let (at_x, at_y) = ((x[0] + x[1]) * 0.5, (y[0] + y[1]) * 0.5);
                let open = holes.iter().any(|hole| {
                    (hole.min[0]..hole.max[0]).contains(&at_x) && (hole.min[1]..hole.max[1]).contains(&at_y)
                });
                if !open {
                    mesh.join(&shapes::slab(DVec3::new(x[0], y[0], -WALL_M), DVec3::new(x[1], y[1], 0.0)));
                }
            }
        }
        mesh
    }

    /// Frame, bars and now and then a pane in a window.
    pub(super) fn glaze(&self, stage: &mut Stage, rng: &mut Rng, window: &Opening) {
        let frame = stage.role("window frame", rng.pick(&[look::wood, look::matte, look::plastic]));
        let pose = self.wall(window.side);
        let ([x0, y0], [x1, y1]) = (window.min, window.max);
        let bar = |a: [f64; 2], b: [f64; 2]| {
            shapes::slab(DVec3::new(a[0], a[1], -0.09), DVec3::new(b[0], b[1], -0.05))
        };
        let edge = 0.04;
        let mut mesh = bar([x0, y0], [x1, y0 + edge]);
        mesh.join(&bar([x0, y1 - edge], [x1, y1]));
        let count = rng.int(1, 3);
        for index in 0..=count {
            let x = x0 + (x1 - x0 - edge) * f64::from(index) / f64::from(count);
            mesh.join(&bar([x, y0 + edge], [x + edge, y1 - edge]));
        }
        stage.build("window frame", vec![(mesh.moved(pose), frame)]);
        if rng.chance(0.35) {
            let pane = stage.role("pane", look::pane);
            let mut glass = Mesh::default();
            let corner = |x: f64, y: f64| pose.point(DVec3::new(x, y, -0.07));
            glass.quad([corner(x0, y0), corner(x1, y0), corner(x1, y1), corner(x0, y1)], [1.0, 1.0]);
            stage.build("pane", vec![(glass, pane)]);
        }
    }

    /// Keeps the way into a door free.
    pub(super) fn keep_door_free(&self, stage: &mut Stage, door: &Opening) {
        let pose = self.wall(door.side);
        let bounds = super::mesh::Bounds {
            min: DVec3::new(door.min[0], 0.05, -0.2),
            max: DVec3::new(door.max[0], 2.0, 0.9),
        };
        stage.block(bounds.moved(&pose));
    }

    /// Furniture along the walls and in the middle, and small things on it.
    pub(super) fn furnish(&self, stage: &mut Stage, rng: &mut Rng) {
        let DVec3 { x, z, .. } = self.size;
        if rng.chance(0.7) {
            self.rug(stage, rng);
        }
        for side in [Side::Back, Side::Left, Side::Right, Side::Back, Side::Left, Side::Right] {
            let pose = self.wall(side);
            let along = rng.range(0.15, 0.85) * self.length(side);
            let (name, parts) = match rng.int(0, 4) {
                0 => ("shelf", props::shelf(stage, rng)),
                1 => ("cabinet", props::cabinet(stage, rng)),
                2 => ("sofa", props::sofa(stage, rng)),
                _ => ("plant", props::potted_plant(stage, rng)),
            };
            let depth = parts.iter().fold(0.0_f64, |depth, (mesh, _)| depth.max(-mesh.bounds().min.z));
            let at = pose.point(DVec3::new(along, 0.0, depth + 0.01));
            if self.inside(&parts, at, pose) {
                let top = if name == "cabinet" { parts[0].0.bounds().max.y } else { 0.0 };
                if stage.put(name, parts, Pose { translation: at, ..pose }).is_some() && top > 0.0 {
                    let small = props::item(stage, rng, 0.25);
                    stage.put("thing", small, Pose { translation: at + DVec3::Y * top, ..pose });
                }
            }
        }
        self.pictures(stage, rng);
        for _ in 0..rng.int(1, 2) {
            let at = DVec3::new(rng.range(0.3, 0.7) * x, 0.0, rng.range(0.25, 0.6) * z);
            dinner(stage, rng, at);
        }
        for _ in 0..rng.int(4, 9) {
            let size = rng.range(0.15, 0.4);
            let parts =
                if rng.chance(0.15) { props::cage(stage, rng, size) } else { props::item(stage, rng, size) };
            let at =
                Pose::at(rng.range(0.3, x - 0.3), 0.013, rng.range(0.3, z - 0.8)).yaw(rng.range(0.0, 6.0));
            if self.inside(&parts, at.translation, at) {
                stage.put("thing", parts, at);
            }
        }
    }

    /// Whether parts stay clear of the walls.
    fn inside(&self, parts: &[(Mesh, u32)], at: DVec3, pose: Pose) -> bool {
        let pose = Pose { translation: at, ..pose };
        parts.iter().all(|(mesh, _)| {
            let bounds = mesh.bounds().moved(&pose);
            bounds.min.cmpgt(DVec3::new(0.0, -0.001, 0.0)).all() && bounds.max.cmplt(self.size).all()
        })
    }

    fn rug(&self, stage: &mut Stage, rng: &mut Rng) {
        let cloth = stage.role("rug", look::fabric);
        let size = DVec3::new(self.size.x * rng.range(0.3, 0.6), 0.012, self.size.z * rng.range(0.3, 0.5));
        let min = (self.size - size) * DVec3::new(0.5, 0.0, 0.4);
        stage.build("rug", vec![(shapes::slab(min + DVec3::Y * 0.0005, min + size), cloth)]);
    }

    fn pictures(&self, stage: &mut Stage, rng: &mut Rng) {
        for side in [Side::Back, Side::Left, Side::Right] {
            let parts = props::framed_picture(stage, rng);
            let width = parts[0].0.bounds().size().x;
            let along = rng.range(0.2, 0.8) * self.length(side);
            let clear = self.openings.iter().filter(|hole| hole.side == side).all(|hole| {
                along + width * 0.5 + 0.1 < hole.min[0] || along - width * 0.5 - 0.1 > hole.max[0]
            });
            if clear {
                let pose = self.wall(side);
                let at = pose.point(DVec3::new(along, rng.range(1.3, 1.6), 0.001));
                stage.put("framed picture", parts, Pose { translation: at, ..pose });
            }
        }
    }
}

/// A table, things on it, and chairs around it.
fn dinner(stage: &mut Stage, rng: &mut Rng, at: DVec3) {
    let low = rng.chance(0.4);
    let (parts, size) = props::table(stage, rng, low);
    if stage.put("table", parts, Pose::to(at)).is_none() {
        return;
    }
    for _ in 0..rng.int(3, 8) {
        let item_size = rng.range(0.08, 0.22);
        let parts = props::item(stage, rng, item_size);
        let reach = DVec3::new(size.x * 0.5 - item_size, 0.0, size.z * 0.5 - item_size);
        let aside = reach * DVec3::new(rng.range(-1.0, 1.0), 0.0, rng.range(-1.0, 1.0));
        let top = at + aside + DVec3::Y * (size.y + 0.0005);
        stage.put("thing", parts, Pose::to(top).yaw(rng.range(0.0, 6.0)));
    }
    if low {
        return;
    }
    let chair = props::chair(stage, rng);
    let mesh = stage.mesh("chair", chair);
    for (x, z, yaw) in [(-0.3, -0.35, 0.0), (0.3, -0.35, 0.0), (-0.25, 0.35, PI), (0.7, 0.0, -FRAC_PI_2)] {
        let beside = DVec3::new(x * size.x + if z == 0.0 { 0.2 } else { 0.0 }, 0.0, z * 2.0 * size.z);
        if rng.chance(0.75) {
            let pose = Pose::to(at + beside + DVec3::Y * 0.013).yaw(yaw + rng.range(-0.2, 0.2));
            stage.place("chair", mesh, pose);
        }
    }
}
