//! Visibility: which triangle owns each coverage sample of a tile.
//!
//! *Reads*: [`Setup`] records. *Writes*: per sample a depth key and a triangle. Coverage is integer with the
//! top-left rule, so a sample on a shared edge belongs to one triangle. The largest key wins, ties go to the
//! lower id, so the order of triangles does not matter.
//!
//! Samples lie on a grid of 1/16 pixel. With X, Y in those units an edge is `16 (A X + B Y) + C`, whose sign is
//! that of `A X + B Y + floor(C / 16)`. Inside a block of 8×8 pixels, where the edge crosses it, that fits
//! `i32`; what does not cross is accepted or rejected whole, in `i64`.
//! *Source*: Pineda 1988; Greene 1996 for the hierarchy.

use fearless_simd::{f32x8, i32x8, mask32x8, prelude::*, u32x8};

use super::project::{Setup, mode};
use super::vector::{always, fill};
use crate::frame::sample_offsets_px16;

/// Width of a tile. *Units*: pixels.
pub const TILE_WIDTH: usize = 64;
/// Height of a tile. *Units*: pixels.
pub const TILE_HEIGHT: usize = 32;
/// Side of a block. *Units*: pixels.
pub const BLOCK: usize = 8;
/// Blocks in a row of a tile.
pub const BLOCKS_X: usize = TILE_WIDTH / BLOCK;
/// Blocks in a tile.
pub const BLOCKS: usize = BLOCKS_X * (TILE_HEIGHT / BLOCK);
/// No triangle.
pub const NOTHING: u32 = u32::MAX;

/// Keys and ids of a tile: index `((block * samples) + sample) * 64 + y * 8 + x` within the block.
#[derive(Debug, Default)]
pub struct TileSamples {
    /// Coverage samples per pixel.
    pub samples: usize,
    /// Depth keys.
    pub keys: Vec<f32>,
    /// Set-up ids, [`NOTHING`] where none.
    pub ids: Vec<u32>,
}

impl TileSamples {
    /// Empties the tile: nothing farther than `key_far` will be seen.
    pub fn clear(&mut self, samples: usize, key_far: f32) {
        let count = BLOCKS * samples * BLOCK * BLOCK;
        self.samples = samples;
        self.keys.clear();
        self.keys.resize(count, key_far);
        self.ids.clear();
        self.ids.resize(count, NOTHING);
    }

    /// First index of a row of eight pixels.
    #[inline(always)]
    pub fn row(&self, block: usize, sample: usize, y: usize) -> usize {
        ((block * self.samples + sample) * BLOCK + y) * BLOCK
    }
}

/// A stretch of eight pixels that a triangle covers at one sample, before the depth test decides.
pub struct Stretch<S: Simd> {
    /// Block in the tile.
    pub block: usize,
    /// Row in the block.
    pub y: usize,
    /// Coverage sample.
    pub sample: usize,
    /// Lanes inside the triangle and in front of what is there.
    pub mask: mask32x8<S>,
    /// Keys of the lanes.
    pub key: f32x8<S>,
}

/// Walks the samples of a tile that the triangle covers and that pass the depth test, in rows of eight.
/// `tile_px` is the tile's first pixel.
#[inline(always)]
pub fn walk<S: Simd>(
    simd: S,
    setup: &Setup,
    id: u32,
    tile_px: [i32; 2],
    samples: &mut TileSamples,
    mut visit: impl FnMut(&mut TileSamples, Stretch<S>),
) {
    let edges: [Edge; 3] = fill(
        #[inline(always)]
        |k| Edge::new(setup, k, tile_px),
    );
    let lane16 = i32x8::simd_from(simd, [0, 16, 32, 48, 64, 80, 96, 112]);
    let lane256 = f32x8::simd_from(simd, [0.0, 256.0, 512.0, 768.0, 1024.0, 1280.0, 1536.0, 1792.0]);
    let lanes = [lane16 * edges[0].a, lane16 * edges[1].a, lane16 * edges[2].a];
    let offsets = sample_offsets_px16(samples.samples as u32);

    let local = always(
        #[inline(always)]
        |packed: u32, shift: u32, origin: i32, size: usize| {
            (((packed >> shift) & 0xFFFF) as i32 - origin).clamp(-1, size as i32)
        },
    );
    let x0 = local(setup.bounds_x, 0, tile_px[0], TILE_WIDTH).max(0);
    let x1 = local(setup.bounds_x, 16, tile_px[0], TILE_WIDTH).min(TILE_WIDTH as i32 - 1);
    let y0 = local(setup.bounds_y, 0, tile_px[1], TILE_HEIGHT).max(0);
    let y1 = local(setup.bounds_y, 16, tile_px[1], TILE_HEIGHT).min(TILE_HEIGHT as i32 - 1);
    let (key_dx, key_dy) = (setup.key_dx, setup.key_dy);
    let key_min = f32x8::splat(simd, setup.key_min);
    let key_max = f32x8::splat(simd, setup.key_max);
    let id_lanes = u32x8::splat(simd, id);

    let mut by = y0 >> 3;
    while by <= y1 >> 3 {
        let rows = (y0 - by * 8).max(0)..(y1 - by * 8).min(7) + 1;
        let mut bx = x0 >> 3;
        while bx <= x1 >> 3 {
            let block = by as usize * BLOCKS_X + bx as usize;
            let Some(local) = block_edges(&edges, bx, by) else {
                bx += 1;
                continue;
            };
            let zero = i32x8::splat(simd, 0);
            let lane: [i32x8<S>; 3] = fill(
                #[inline(always)]
                |k| if local[k].crosses { lanes[k] } else { zero },
            );
            for (sample, offset) in offsets.iter().enumerate() {
                let first_x = (tile_px[0] + bx * 8) * 256 + 128 + 16 * offset[0] - setup.sx[0];
                let first_y = (tile_px[1] + by * 8) * 256 + 128 + 16 * offset[1] - setup.sy[0];
                let key_x = (lane256 + first_x as f32) * key_dx;
                for y in rows.clone() {
                    let e: [i32x8<S>; 3] = fill(
                        #[inline(always)]
                        |k| lane[k] + local[k].at(8 + offset[0], 8 + offset[1] + 16 * y),
                    );
                    let covered = (e[0] | e[1] | e[2]).simd_ge(zero);
                    if covered.all_false() {
                        continue;
                    }
                    let dy = (first_y + 256 * y) as f32;
                    let key = key_x + (setup.key + dy * key_dy);
                    let key = key.max(key_min).min(key_max);
                    let at = samples.row(block, sample, y as usize);
                    let old_key = f32x8::from_slice(simd, &samples.keys[at..at + 8]);
                    let old_id = u32x8::from_slice(simd, &samples.ids[at..at + 8]);
                    let nearer = key.simd_gt(old_key) | (key.simd_eq(old_key) & id_lanes.simd_lt(old_id));
                    let mask = covered & nearer;
                    if mask.any_true() {
                        visit(samples, Stretch { block, y: y as usize, sample, mask, key });
                    }
                }
            }
            bx += 1;
        }
        by += 1;
    }
}

/// Writes a stretch.
#[inline(always)]
pub fn store<S: Simd>(simd: S, samples: &mut TileSamples, id: u32, s: &Stretch<S>) {
    let at = samples.row(s.block, s.sample, s.y);
    let keys = f32x8::from_slice(simd, &samples.keys[at..at + 8]);
    let ids = u32x8::from_slice(simd, &samples.ids[at..at + 8]);
    s.mask.select(s.key, keys).store_slice(&mut samples.keys[at..at + 8]);
    s.mask.select(u32x8::splat(simd, id), ids).store_slice(&mut samples.ids[at..at + 8]);
}

/// Draws an opaque triangle into a tile.
#[inline(always)]
pub fn draw<S: Simd>(simd: S, setup: &Setup, id: u32, tile_px: [i32; 2], samples: &mut TileSamples) {
    debug_assert_eq!(setup.mode, mode::OPAQUE);
    walk(
        simd,
        setup,
        id,
        tile_px,
        samples,
        #[inline(always)]
        |samples, s| store(simd, samples, id, &s),
    );
}

/// An edge over a tile: `a X + b Y + c`, X and Y in 1/16 pixel from the tile's origin.
#[derive(Clone, Copy)]
struct Edge {
    a: i32,
    b: i32,
    c: i64,
}

impl Edge {
    fn new(setup: &Setup, k: usize, tile_px: [i32; 2]) -> Edge {
        let n = if k == 2 { 0 } else { k + 1 };
        let a = setup.sy[k] - setup.sy[n];
        let b = setup.sx[n] - setup.sx[k];
        let (wide_a, wide_b) = (i64::from(a), i64::from(b));
        let c = -(wide_a * i64::from(setup.sx[k]) + wide_b * i64::from(setup.sy[k]));
        // Left and top edges own the samples that lie on them.
        let owned = a > 0 || (a == 0 && b > 0);
        let c = (if owned { c } else { c - 1 }) >> 4;
        let c = c + wide_a * i64::from(16 * tile_px[0]) + wide_b * i64::from(16 * tile_px[1]);
        Edge { a, b, c }
    }
}

/// An edge over a block: `a X + b Y + c` from the block's origin, all zero where the whole block is inside.
#[derive(Clone, Copy)]
struct BlockEdge {
    a: i32,
    b: i32,
    c: i32,
    crosses: bool,
}

impl BlockEdge {
    #[inline(always)]
    fn at(&self, x: i32, y: i32) -> i32 {
        self.c.wrapping_add(self.a.wrapping_mul(x)).wrapping_add(self.b.wrapping_mul(y))
    }
}

/// None where the block is wholly outside an edge.
#[inline(always)]
fn block_edges(edges: &[Edge; 3], bx: i32, by: i32) -> Option<[BlockEdge; 3]> {
    /// Largest offset of a sample from the block's origin. *Units*: 1/16 pixel.
    const LAST: i64 = 127;
    let mut out = [BlockEdge { a: 0, b: 0, c: 0, crosses: false }; 3];
    for (edge, out) in edges.iter().zip(&mut out) {
        let (a, b) = (i64::from(edge.a), i64::from(edge.b));
        let c = edge.c + a * i64::from(128 * bx) + b * i64::from(128 * by);
        let (down_a, up_a) = if a < 0 { (a * LAST, 0) } else { (0, a * LAST) };
        let (down_b, up_b) = if b < 0 { (b * LAST, 0) } else { (0, b * LAST) };
        if c + up_a + up_b < 0 {
            return None;
        }
        if c + down_a + down_b < 0 {
            *out = BlockEdge { a: edge.a, b: edge.b, c: c as i32, crosses: true };
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::dispatch;
    use fearless_simd::Level;

    /// A small fixed generator: PCG's multiplier, top bits.
    struct Random(u64);
    impl Random {
        fn below(&mut self, n: i32) -> i32 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((self.0 >> 33) % n as u64) as i32
        }
    }

    fn setup(x: [i32; 3], y: [i32; 3], size: [i32; 2]) -> Option<Setup> {
        let wide = |p: i32, q: i32| i64::from(p) - i64::from(q);
        let area = wide(x[1], x[0]) * wide(y[2], y[0]) - wide(x[2], x[0]) * wide(y[1], y[0]);
        if area == 0 {
            return None;
        }
        let order = if area > 0 { [0, 1, 2] } else { [0, 2, 1] };
        let bounds = |v: [i32; 3], last: i32| {
            let low = (v[0].min(v[1]).min(v[2]) >> 8).max(0);
            let high = (v[0].max(v[1]).max(v[2]) >> 8).min(last);
            (low <= high).then_some(low as u32 | (high as u32) << 16)
        };
        Some(Setup {
            sx: order.map(|k| x[k]),
            sy: order.map(|k| y[k]),
            key: 0.5,
            key_min: 0.5,
            key_max: 0.5,
            bounds_x: bounds(x, size[0] - 1)?,
            bounds_y: bounds(y, size[1] - 1)?,
            ..Setup::default()
        })
    }

    /// The definition: edge functions in 128 bits with the top-left rule.
    fn covers(s: &Setup, px: i32, py: i32) -> bool {
        (0..3).all(|k| {
            let n = (k + 1) % 3;
            let (a, b) = (i128::from(s.sy[k] - s.sy[n]), i128::from(s.sx[n] - s.sx[k]));
            let e = a * i128::from(px - s.sx[k]) + b * i128::from(py - s.sy[k]);
            e > 0 || (e == 0 && (a > 0 || (a == 0 && b > 0)))
        })
    }

    /// Pixels of an image of `tiles` tiles at which `draw` leaves `id`, against the definition.
    fn check(s: &Setup, samples: usize, tiles: [i32; 2]) {
        for ty in 0..tiles[1] {
            for tx in 0..tiles[0] {
                let tile_px = [tx * TILE_WIDTH as i32, ty * TILE_HEIGHT as i32];
                let mut out = TileSamples::default();
                out.clear(samples, 0.0);
                dispatch!(Level::new(), simd => draw(simd, s, 7, tile_px, &mut out));
                for (sample, offset) in sample_offsets_px16(samples as u32).iter().enumerate() {
                    for y in 0..TILE_HEIGHT {
                        for x in 0..TILE_WIDTH {
                            let block = y / BLOCK * BLOCKS_X + x / BLOCK;
                            let got = out.ids[out.row(block, sample, y % BLOCK) + x % BLOCK] == 7;
                            let at = |tile: i32, v: usize, o: i32| (tile + v as i32) * 256 + 128 + 16 * o;
                            let want = covers(s, at(tile_px[0], x, offset[0]), at(tile_px[1], y, offset[1]));
                            assert_eq!(got, want, "{s:?} sample {sample} at {x},{y} of {tile_px:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn coverage_is_the_definition() {
        let mut random = Random(1);
        // Extents from a fraction of a pixel to the whole guard band on both sides.
        for extent in [40, 300, 5_000, 70_000, 1 << 23] {
            for round in 0..40 {
                let mut coordinate = |size: i32| random.below(extent) - extent / 2 + size * 128;
                let x = [coordinate(128), coordinate(128), coordinate(128)];
                let y = [coordinate(64), coordinate(64), coordinate(64)];
                if let Some(s) = setup(x, y, [128, 64]) {
                    check(&s, [1, 4, 8, 16][round % 4], [2, 2]);
                }
            }
        }
    }

    #[test]
    fn neighbours_share_no_sample_and_leave_none() {
        // A fan about a point that lies on samples: every sample of the ring's inside belongs to one triangle.
        let mut random = Random(2);
        for samples in [1usize, 4, 8, 16] {
            for _ in 0..20 {
                let (cx, cy) = (random.below(32) * 256 + 4224, random.below(16) * 256 + 2176);
                let ring: [[i32; 2]; 6] =
                    [[-4000, 20], [-1900, -1800], [2000, -2100], [4200, 0], [1900, 2000], [-2100, 1900]];
                let mut owners = TileSamples::default();
                owners.clear(samples, 0.0);
                let mut count = vec![0; owners.ids.len()];
                for k in 0..6 {
                    let (p, q) = (ring[k], ring[(k + 1) % 6]);
                    let s = setup([cx, cx + p[0], cx + q[0]], [cy, cy + p[1], cy + q[1]], [64, 32]);
                    let mut one = TileSamples::default();
                    one.clear(samples, 0.0);
                    let Some(s) = s else { continue };
                    dispatch!(Level::new(), simd => draw(simd, &s, 1, [0, 0], &mut one));
                    for (c, id) in count.iter_mut().zip(&one.ids) {
                        *c += i32::from(*id == 1);
                    }
                }
                assert!(count.iter().all(|&c| c <= 1), "a sample belongs to two triangles");
                // Within 1500 units of the centre the fan has no outside.
                for (sample, offset) in sample_offsets_px16(samples as u32).iter().enumerate() {
                    for y in 0..TILE_HEIGHT {
                        for x in 0..TILE_WIDTH {
                            let dx = x as i32 * 256 + 128 + 16 * offset[0] - cx;
                            let dy = y as i32 * 256 + 128 + 16 * offset[1] - cy;
                            if dx.abs() < 1500 && dy.abs() < 1500 {
                                let block = y / BLOCK * BLOCKS_X + x / BLOCK;
                                let at = owners.row(block, sample, y % BLOCK) + x % BLOCK;
                                assert_eq!(count[at], 1, "a hole at {x},{y} sample {sample}");
                            }
                        }
                    }
                }
            }
        }
    }
}
