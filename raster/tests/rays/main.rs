//! What rays meet: the structure against every triangle one by one, and that nothing slips between neighbours.

mod brute;
mod watertight;

use isoframe_raster::exact::{FLUSH_BELOW, recip};
use isoframe_raster::passes::ray::T_MIN;
use isoframe_raster::prepared::Vertex;

/// A triangle's corners.
type Corners = [[f32; 3]; 3];

/// A hash of a counter.
struct Random(u32);

impl Random {
    fn bits(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(1);
        let state = self.0.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        let word = ((state >> ((state >> 28) + 4)) ^ state).wrapping_mul(277_803_737);
        (word >> 22) ^ word
    }

    fn below(&mut self, count: usize) -> usize {
        self.bits() as usize % count
    }

    fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * ((self.bits() >> 8) as f32 / 16_777_216.0)
    }

    fn point(&mut self, extent: f32) -> [f32; 3] {
        std::array::from_fn(|_| self.between(-extent, extent))
    }
}

fn difference(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    std::array::from_fn(|k| a[k] - b[k])
}

fn vertices(positions: &[[f32; 3]]) -> Vec<Vertex> {
    positions.iter().map(|&position| Vertex { position, ..Vertex::default() }).collect()
}

/// Where a ray meets a triangle: distance and weights. One at a time, as the shader computes it.
fn meet(origin: [f32; 3], direction: [f32; 3], corners: &Corners) -> Option<(f32, [f32; 3])> {
    let size = direction.map(f32::abs);
    let along = (0..3).rev().max_by(|&a, &b| size[a].total_cmp(&size[b]))?;
    if size[along] < FLUSH_BELOW {
        return None;
    }
    let (a, b) = ((along + 1) % 3, (along + 2) % 3);
    let inverse = recip(direction[along]);
    let slope = [direction[a] * inverse, direction[b] * inverse];
    let sheared = corners.map(|corner| {
        let c = difference(corner, origin);
        [c[a] - c[along] * slope[0], c[b] - c[along] * slope[1], c[along] * inverse]
    });
    let [p, q, r] = sheared;
    let side = |from: [f32; 3], to: [f32; 3]| to[0] * from[1] - to[1] * from[0];
    let edge = [side(q, r), side(r, p), side(p, q)];
    let least = edge.iter().fold(f32::INFINITY, |m, &e| m.min(e));
    let most = edge.iter().fold(f32::NEG_INFINITY, |m, &e| m.max(e));
    let sum = edge[0] + edge[1] + edge[2];
    if least < -FLUSH_BELOW && most > FLUSH_BELOW || sum.abs() <= FLUSH_BELOW {
        return None;
    }
    let spans = |axis: usize| {
        let [a, b, c] = [p[axis], q[axis], r[axis]];
        a.min(b).min(c) <= FLUSH_BELOW && a.max(b).max(c) >= -FLUSH_BELOW
    };
    if !spans(0) || !spans(1) {
        return None;
    }
    let inverse = recip(sum);
    let t = (edge[0] * p[2] + edge[1] * q[2] + edge[2] * r[2]) * inverse;
    (t > T_MIN).then(|| (t, edge.map(|e| (e * inverse).max(0.0).min(1.0))))
}
