//! Sky: the environment as single rays see and sample it. Twin: `shaders/sky.wgsl`.

use super::octahedron::fold;
use super::sequence::unit;
use super::vector::Vector;
use crate::draw::FrameConstants;
use crate::environment::{Distribution, MASS_ALL};
use crate::exact::{FLUSH_BELOW, recip};

/// 1 / [`MASS_ALL`].
pub const MASS_UNIT: f32 = 1.0 / MASS_ALL as f32;

/// 2^16: what the upper half of a word counts.
pub const HIGH_HALF: f32 = 65536.0;

/// The octahedral map stretches solid angle by this times (|x| + |y| + |z|)^3.
pub const MAP_STRETCH: f32 = 0.25;

/// An environment and where its light comes from.
#[derive(Clone, Copy)]
pub struct Sky<'a> {
    /// Turn and intensity.
    pub constants: &'a FrameConstants,
    /// [`crate::environment::Environment::background`].
    pub texels: &'a [[f32; 4]],
    /// Where its light comes from.
    pub distribution: &'a Distribution,
}

/// A direction drawn from the sky.
#[derive(Debug, Clone, Copy)]
pub struct SkySample {
    /// Unit. *Space*: world axes.
    pub direction: Vector,
    /// Density. *Units*: 1 / steradian.
    pub pdf: f32,
}

/// A whole number as f32, rounded once.
#[inline(always)]
pub fn f32_from_u32(x: u32) -> f32 {
    (x >> 16) as f32 * HIGH_HALF + (x & 0xFFFF) as f32
}

/// The entry whose stretch of cumulated masses holds `at`; `before` finds the mass before one, the last ends them all.
#[inline(always)]
pub fn find<T>(entries: &[T], before: impl Fn(&T) -> u32, at: u32) -> usize {
    let (mut low, mut high) = (0, entries.len() - 1);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if before(&entries[middle]) <= at {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

impl Sky<'_> {
    /// World axes to the environment's.
    #[inline(always)]
    fn turned(&self, d: Vector) -> Vector {
        let (cos, sin) = (self.constants.environment_cos, self.constants.environment_sin);
        Vector { x: d.x * cos + d.z * sin, y: d.y, z: d.z * cos - d.x * sin }
    }

    /// And back.
    #[inline(always)]
    fn turned_back(&self, d: Vector) -> Vector {
        let (cos, sin) = (self.constants.environment_cos, self.constants.environment_sin);
        Vector { x: d.x * cos - d.z * sin, y: d.y, z: d.z * cos + d.x * sin }
    }

    /// Radiance from a direction: bilinear, as [`super::octahedron::octahedral_level`].
    #[inline(always)]
    pub fn radiance(&self, direction: Vector) -> Vector {
        let side = self.constants.background_side as i32;
        let [u, v, _] = octahedral(self.turned(direction));
        let (x, y) = (u * side as f32 - 0.5, v * side as f32 - 0.5);
        let (x0, y0) = (x.floor(), y.floor());
        let (across, down) = (x - x0, y - y0);
        let tap = |dx: i32, dy: i32| {
            let (x, y) = fold(x0 as i32 + dx, y0 as i32 + dy, side);
            let [r, g, b, _] = self.texels[(y * side + x) as usize];
            Vector { x: r, y: g, z: b }
        };
        let (a, b, c, d) = (tap(0, 0), tap(1, 0), tap(0, 1), tap(1, 1));
        let top = a + (b - a).scale(across);
        let bottom = c + (d - c).scale(across);
        (top + (bottom - top).scale(down)).scale(self.constants.environment_intensity)
    }

    /// Draws a direction: `cell` picks the cell, `point` the place in it.
    #[inline(always)]
    pub fn sample(&self, cell: [u32; 2], point: [u32; 2]) -> SkySample {
        let d = self.distribution;
        let side = d.side as usize;
        let y = find(&d.rows, |&mass| mass, cell[0] >> 1);
        let row = &d.cells[y * (side + 1)..][..side + 1];
        let x = find(row, |&mass| mass, cell[1] >> 1);
        let inverse_side = recip(side as f32);
        let at = |k: usize, bits: u32| (k as f32 + unit(bits)) * inverse_side * 2.0 - 1.0;
        let place = on_octahedron(at(x, point[0]), at(y, point[1]));
        let direction = place.normalize();
        let pdf = self.density(x, y, direction);
        SkySample { direction: self.turned_back(direction), pdf }
    }

    /// Density with which a direction is drawn.
    #[inline(always)]
    pub fn pdf(&self, direction: Vector) -> f32 {
        let d = self.turned(direction);
        let side = self.distribution.side as f32;
        let [u, v, _] = octahedral(d);
        let cell = |t: f32| (t * side).max(0.0).min(side - 1.0) as usize;
        self.density(cell(u), cell(v), d)
    }

    /// Of a unit direction in a cell: the map stretches solid angle by (|x| + |y| + |z|)^3 / 4.
    #[inline(always)]
    fn density(&self, x: usize, y: usize, d: Vector) -> f32 {
        let side = self.distribution.side as usize;
        let masses = |m: &[u32], k: usize| f32_from_u32(m[k + 1] - m[k]) * MASS_UNIT;
        let mass = masses(&self.distribution.rows, y)
            * masses(&self.distribution.cells[y * (side + 1)..][..side + 1], x);
        let inverse = recip(d.x.abs() + d.y.abs() + d.z.abs());
        let cells = (side * side) as f32;
        mass * cells * MAP_STRETCH * (inverse * inverse * inverse)
    }
}

/// Place in the octahedral map, 0 to 1 twice, and the octahedron's distance in that direction for a unit one.
#[inline(always)]
fn octahedral(d: Vector) -> [f32; 3] {
    let scale = recip((d.x.abs() + d.y.abs() + d.z.abs()).max(FLUSH_BELOW));
    let (x, y, z) = (d.x * scale, d.y * scale, d.z * scale);
    let signed = |v: f32, by: f32| if by < -FLUSH_BELOW { -v } else { v };
    let (px, pz) =
        if y < -FLUSH_BELOW { (signed(1.0 - z.abs(), x), signed(1.0 - x.abs(), z)) } else { (x, z) };
    [px * 0.5 + 0.5, pz * 0.5 + 0.5, scale]
}

/// The point of the octahedron at a place in the map, -1 to 1 twice.
#[inline(always)]
fn on_octahedron(px: f32, pz: f32) -> Vector {
    let y = 1.0 - px.abs() - pz.abs();
    let signed = |v: f32, by: f32| if by < -FLUSH_BELOW { -v } else { v };
    if y < -FLUSH_BELOW {
        Vector { x: signed(1.0 - pz.abs(), px), y, z: signed(1.0 - px.abs(), pz) }
    } else {
        Vector { x: px, y, z: pz }
    }
}
