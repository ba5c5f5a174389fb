//! Project: vertices to clip coordinates and the sub-pixel grid, triangles to set-up records.
//!
//! *Reads*: vertices, indices, instances. *Writes*: [`ClipVertex`] per vertex, [`Setup`] per visible triangle.
//! Coverage is decided by integers from here on. Clip points come from end points ordered by their bits, so
//! both neighbours of an edge get the same one. *Source*: Sutherland, Hodgman 1974; Giesen, "Triangle
//! rasterization in practice", 2013.

use bytemuck::{Pod, Zeroable};
use fearless_simd::{Level, f32x8, i32x8, mask32x8, prelude::*, u32x8};

use super::vector::{always, fill, lanes};
use crate::draw::{FrameConstants, Instance, instance_flags};
use crate::exact::{FLUSH_BELOW, f32_from_i64, recip, recip8, rsqrt8};
use crate::prepared::{PackedMaterial, Vertex, material_flags};
use crate::simd::dispatch;

/// Sub-pixel units per pixel.
pub const SUBPIXELS: i32 = 256;

/// Half side of the square that projected vertices stay in. *Units*: pixels from the image centre.
pub const GUARD_PX: f32 = 16383.0;

/// Components of X and Y below 2^-60 are stored as 0, so that products of two never reach denormals.
pub const CLIP_FLUSH_BELOW: f32 = f32::from_bits(0x2180_0000);

/// Bits of [`ClipVertex::outcode`].
#[allow(missing_docs)]
pub mod outcode {
    pub const NEAR: u32 = 1;
    pub const FAR: u32 = 2;
    pub const LEFT: u32 = 4;
    pub const RIGHT: u32 = 8;
    pub const TOP: u32 = 16;
    pub const BOTTOM: u32 = 32;
    /// Beyond the guard band: must be clipped before it is snapped.
    pub const WIDE: u32 = 64;
}

/// A projected vertex, 32 bytes. Twin: `clip` in `shaders/project.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Pod, Zeroable)]
pub struct ClipVertex {
    /// Homogeneous pixels from the image centre.
    pub x: f32,
    /// See `x`.
    pub y: f32,
    /// Homogeneous weight; 1 where orthographic.
    pub w: f32,
    /// Linear view depth.
    pub d: f32,
    /// Snapped position from the image's top left. *Units*: 1/256 pixel. Valid unless NEAR or WIDE.
    pub sx: i32,
    /// See `sx`.
    pub sy: i32,
    /// Depth key: larger is nearer, affine over the screen.
    pub key: f32,
    /// [`outcode`].
    pub outcode: u32,
}

/// How a triangle is drawn.
#[allow(missing_docs)]
pub mod mode {
    pub const OPAQUE: u32 = 0;
    pub const MASK: u32 = 1;
    pub const BLEND: u32 = 2;
}

/// A triangle ready to be rasterised, 64 bytes. Twin: `setups` in `shaders/setup.wgsl`, where the order in which
/// ties are decided stands for triangle and instance.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Pod, Zeroable)]
pub struct Setup {
    /// Corners, wound so that the area is positive with y down. *Units*: 1/256 pixel.
    pub sx: [i32; 3],
    /// See `sx`.
    pub sy: [i32; 3],
    /// Key at corner 0.
    pub key: f32,
    /// Key per sub-pixel in x.
    pub key_dx: f32,
    /// Key per sub-pixel in y.
    pub key_dy: f32,
    /// Smallest key of the corners.
    pub key_min: f32,
    /// Largest key of the corners.
    pub key_max: f32,
    /// Global primitive id.
    pub triangle: u32,
    /// Instance.
    pub instance: u32,
    /// [`mode`].
    pub mode: u32,
    /// Bounds in pixels, inclusive, inside the image: x0 | x1 << 16.
    pub bounds_x: u32,
    /// y0 | y1 << 16.
    pub bounds_y: u32,
}

const _: () = assert!(size_of::<ClipVertex>() == 32 && size_of::<Setup>() == 64);

/// Projects vertices `base..base + out.len()` of one instance through `rows` (X, Y, W, D).
/// `all` are the instance's vertices; lines name their other end by index into it.
pub fn vertices(
    level: Level,
    constants: &FrameConstants,
    flags: u32,
    rows: &[[f32; 4]; 4],
    all: &[Vertex],
    base: usize,
    out: &mut [ClipVertex],
) {
    dispatch!(level, simd => {
        let mut k = 0;
        while k < out.len() {
            let lanes = (out.len() - k).min(8);
            project8(simd, constants, flags, rows, all, base + k, &mut out[k..k + lanes]);
            k += 8;
        }
    });
}

#[inline(always)]
fn project8<S: Simd>(
    simd: S,
    c: &FrameConstants,
    flags: u32,
    rows: &[[f32; 4]; 4],
    all: &[Vertex],
    first: usize,
    out: &mut [ClipVertex],
) {
    let last = first + out.len() - 1;
    let at = always(
        #[inline(always)]
        |lane: usize| &all[(first + lane).min(last)],
    );
    let p: [f32x8<S>; 3] = fill(
        #[inline(always)]
        |k| {
            lanes(
                simd,
                #[inline(always)]
                |lane| at(lane).position[k],
            )
        },
    );
    let row = always(
        #[inline(always)]
        |p: &[f32x8<S>; 3], r: &[f32; 4]| p[0] * r[0] + p[1] * r[1] + p[2] * r[2] + r[3],
    );
    let mut x = row(&p, &rows[0]);
    let mut y = row(&p, &rows[1]);
    let w = row(&p, &rows[2]);
    let d = row(&p, &rows[3]);
    if flags & instance_flags::LINES != 0 {
        // Half a pixel to the side, across the direction in which the line runs on screen.
        let q: [f32x8<S>; 3] = fill(
            #[inline(always)]
            |k| {
                lanes(
                    simd,
                    #[inline(always)]
                    |lane| all[at(lane).tangent[0].to_bits() as usize].position[k],
                )
            },
        );
        let side = lanes(
            simd,
            #[inline(always)]
            |lane| at(lane).tangent[3] * 0.5,
        );
        let (qx, qy, qw) = (row(&q, &rows[0]), row(&q, &rows[1]), row(&q, &rows[2]));
        let dx = qx * w - x * qw;
        let dy = qy * w - y * qw;
        let half = rsqrt8(dx * dx + dy * dy) * side * w;
        x = x - dy * half;
        y = y + dx * half;
    }
    if flags & instance_flags::POINTS != 0 {
        x = x + lanes(
            simd,
            #[inline(always)]
            |lane| at(lane).tangent[0] * 0.5,
        ) * w;
        y = y + lanes(
            simd,
            #[inline(always)]
            |lane| at(lane).tangent[1] * 0.5,
        ) * w;
    }
    let zero = f32x8::splat(simd, 0.0);
    let flush = always(
        #[inline(always)]
        |v: f32x8<S>| v.abs().simd_lt(f32x8::splat(simd, CLIP_FLUSH_BELOW)).select(zero, v),
    );
    let (x, y) = (flush(x), flush(y));

    let near = d.simd_lt(f32x8::splat(simd, c.znear));
    let safe_w = near.select(f32x8::splat(simd, 1.0), w);
    let inverse_w = recip8(safe_w);
    let px = x * inverse_w;
    let py = y * inverse_w;
    let key = if c.orthographic == 1 { d * c.key_scale + c.key_offset } else { inverse_w };

    let guard = f32x8::splat(simd, GUARD_PX);
    let code = always(
        #[inline(always)]
        |m: mask32x8<S>, bit: u32| m.select(u32x8::splat(simd, bit), u32x8::splat(simd, 0)),
    );
    let half_width = f32x8::splat(simd, c.width as f32 * 0.5);
    let half_height = f32x8::splat(simd, c.height as f32 * 0.5);
    let inside = code(px.simd_lt(-half_width), outcode::LEFT)
        | code(px.simd_gt(half_width), outcode::RIGHT)
        | code(py.simd_lt(-half_height), outcode::TOP)
        | code(py.simd_gt(half_height), outcode::BOTTOM)
        | code(d.simd_gt(f32x8::splat(simd, c.zfar)), outcode::FAR)
        | code(px.abs().simd_gt(guard) | py.abs().simd_gt(guard), outcode::WIDE);
    let codes = near.select(u32x8::splat(simd, outcode::NEAR), inside);

    let snap = always(
        #[inline(always)]
        |v: f32x8<S>, extent: u32| -> i32x8<S> {
            let v = v.max(-guard).min(guard) * SUBPIXELS as f32;
            let whole: i32x8<S> = (v + 0.5).floor().to_int();
            whole + (extent as i32 * (SUBPIXELS / 2))
        },
    );
    let sx = snap(px, c.width);
    let sy = snap(py, c.height);
    for (lane, o) in out.iter_mut().enumerate() {
        *o = ClipVertex {
            x: x[lane],
            y: y[lane],
            w: w[lane],
            d: d[lane],
            sx: sx[lane],
            sy: sy[lane],
            key: key[lane],
            outcode: codes[lane],
        };
    }
}

/// Positions of the previous frame: X, Y, W per vertex, as [`vertices`] finds them.
pub fn previous_vertices(
    level: Level,
    constants: &FrameConstants,
    instance: &Instance,
    all: &[Vertex],
    base: usize,
    out: &mut [[f32; 3]],
) {
    let p = &instance.previous_clip_from_local;
    let rows = [p[0], p[1], p[2], p[2]];
    let mut clip = [ClipVertex::default(); 64];
    let mut k = 0;
    while k < out.len() {
        let count = (out.len() - k).min(64);
        vertices(level, constants, instance.flags, &rows, all, base + k, &mut clip[..count]);
        for (o, v) in out[k..k + count].iter_mut().zip(&clip) {
            *o = [v.x, v.y, v.w];
        }
        k += count;
    }
}

/// Distance between columns (and rows) of coverage samples, and the first one. *Units*: 1/256 pixel.
pub fn sample_grid(samples: u32) -> (i32, i32) {
    match samples {
        4 => (64, 32),
        8 => (32, 16),
        16 => (16, 0),
        _ => (256, 128),
    }
}

/// Sets up triangles `range` of an instance. `clip` are the instance's vertices, `indices` its triangle list.
pub fn triangles(
    constants: &FrameConstants,
    instance_index: u32,
    instance: &Instance,
    material: &PackedMaterial,
    clip: &[ClipVertex],
    indices: &[u32],
    range: std::ops::Range<u32>,
    out: &mut Vec<Setup>,
) {
    use outcode::*;
    let mode = if material.flags & material_flags::BLEND != 0 {
        mode::BLEND
    } else if material.flags & material_flags::MASK != 0 {
        mode::MASK
    } else {
        mode::OPAQUE
    };
    let sprite = instance.flags & (instance_flags::LINES | instance_flags::POINTS) != 0;
    let double_sided = sprite || material.flags & material_flags::DOUBLE_SIDED != 0;
    let maker = SetupMaker {
        constants,
        grid: sample_grid(constants.samples),
        negative_kept: double_sided || instance.flags & instance_flags::MIRRORED == 0,
        positive_kept: double_sided || instance.flags & instance_flags::MIRRORED != 0,
        instance: instance_index,
        mode,
    };
    for t in range {
        let corner = always(
            #[inline(always)]
            |k: u32| &clip[indices[(t * 3 + k) as usize] as usize],
        );
        let v = [corner(0), corner(1), corner(2)];
        let all = v[0].outcode & v[1].outcode & v[2].outcode;
        if all & !WIDE != 0 {
            continue;
        }
        let any = v[0].outcode | v[1].outcode | v[2].outcode;
        let triangle = instance.first_triangle + t;
        if any & (NEAR | WIDE) == 0 {
            let p = v.map(|v| Projected { sx: v.sx, sy: v.sy, key: v.key });
            out.extend(maker.make(triangle, p));
        } else {
            clip_triangle(&maker, triangle, v.map(|v| [v.x, v.y, v.w, v.d]), out);
        }
    }
}

#[derive(Clone, Copy)]
struct Projected {
    sx: i32,
    sy: i32,
    key: f32,
}

struct SetupMaker<'a> {
    constants: &'a FrameConstants,
    grid: (i32, i32),
    negative_kept: bool,
    positive_kept: bool,
    instance: u32,
    mode: u32,
}

impl SetupMaker<'_> {
    #[inline]
    fn make(&self, triangle: u32, p: [Projected; 3]) -> Option<Setup> {
        let [a, mut b, mut c] = p;
        let (min_x, max_x) = (a.sx.min(b.sx).min(c.sx), a.sx.max(b.sx).max(c.sx));
        let (min_y, max_y) = (a.sy.min(b.sy).min(c.sy), a.sy.max(b.sy).max(c.sy));
        let (pitch, first) = self.grid;
        let missed = always(
            #[inline(always)]
            |min: i32, max: i32| (max - first) & -pitch < min - first,
        );
        if missed(min_x, max_x) || missed(min_y, max_y) {
            return None;
        }
        let wide = always(
            #[inline(always)]
            |p: i32, q: i32| i64::from(p) - i64::from(q),
        );
        let mut area = wide(b.sx, a.sx) * wide(c.sy, a.sy) - wide(c.sx, a.sx) * wide(b.sy, a.sy);
        let kept = if area < 0 { self.negative_kept } else { self.positive_kept };
        if area == 0 || !kept {
            return None;
        }
        if area < 0 {
            std::mem::swap(&mut b, &mut c);
            area = -area;
        }
        let x0 = (min_x >> 8).max(0);
        let x1 = (max_x >> 8).min(self.constants.width as i32 - 1);
        let y0 = (min_y >> 8).max(0);
        let y1 = (max_y >> 8).min(self.constants.height as i32 - 1);
        if x0 > x1 || y0 > y1 {
            return None;
        }
        let inverse_area = recip(f32_from_i64(area));
        let (k1, k2) = (b.key - a.key, c.key - a.key);
        let (x1f, y1f) = ((b.sx - a.sx) as f32, (b.sy - a.sy) as f32);
        let (x2f, y2f) = ((c.sx - a.sx) as f32, (c.sy - a.sy) as f32);
        Some(Setup {
            sx: [a.sx, b.sx, c.sx],
            sy: [a.sy, b.sy, c.sy],
            key: a.key,
            key_dx: (k1 * y2f - k2 * y1f) * inverse_area,
            key_dy: (k2 * x1f - k1 * x2f) * inverse_area,
            key_min: a.key.min(b.key).min(c.key),
            key_max: a.key.max(b.key).max(c.key),
            triangle,
            instance: self.instance,
            mode: self.mode,
            bounds_x: x0 as u32 | (x1 as u32) << 16,
            bounds_y: y0 as u32 | (y1 as u32) << 16,
        })
    }
}

/// Corners of a clipped triangle: three, and one more per plane.
const CLIPPED_MAX: usize = 8;

/// X, Y, W, D.
type Homogeneous = [f32; 4];

/// Distance inside plane `k`: near, then the guard band's right, left, bottom, top.
fn inside_plane(c: &FrameConstants, k: usize, v: &Homogeneous) -> f32 {
    match k {
        0 => v[3] - c.znear,
        1 => GUARD_PX * v[2] - v[0],
        2 => GUARD_PX * v[2] + v[0],
        3 => GUARD_PX * v[2] - v[1],
        _ => GUARD_PX * v[2] + v[1],
    }
}

fn clip_triangle(maker: &SetupMaker<'_>, triangle: u32, corners: [Homogeneous; 3], out: &mut Vec<Setup>) {
    let mut polygon = [[0.0f32; 4]; CLIPPED_MAX];
    polygon[..3].copy_from_slice(&corners);
    let mut count = 3;
    for plane in 0..5 {
        let mut next = [[0.0f32; 4]; CLIPPED_MAX];
        let mut kept = 0;
        for k in 0..count {
            let (p, q) = (polygon[k], polygon[if k + 1 == count { 0 } else { k + 1 }]);
            let dp = inside_plane(maker.constants, plane, &p);
            let dq = inside_plane(maker.constants, plane, &q);
            if dp >= 0.0 && kept < CLIPPED_MAX {
                next[kept] = p;
                kept += 1;
            }
            if (dp >= 0.0) != (dq >= 0.0) && kept < CLIPPED_MAX {
                next[kept] = intersect(p, dp, q, dq);
                kept += 1;
            }
        }
        polygon = next;
        count = kept;
        if count < 3 {
            return;
        }
    }
    let projected = polygon.map(|v| project_clipped(maker.constants, &v));
    for k in 1..count - 1 {
        out.extend(maker.make(triangle, [projected[0], projected[k], projected[k + 1]]));
    }
}

/// Where the edge meets the plane; the same bits whichever end comes first.
fn intersect(p: Homogeneous, dp: f32, q: Homogeneous, dq: f32) -> Homogeneous {
    let ordered = p.map(f32::to_bits) <= q.map(f32::to_bits);
    let (a, da, b, db) = if ordered { (p, dp, q, dq) } else { (q, dq, p, dp) };
    // The distances differ in sign, and either end may be the one outside.
    let (da, db) = (da.abs(), db.abs());
    let t = da * recip((da + db).max(FLUSH_BELOW));
    fill(
        #[inline(always)]
        |k| a[k] + (b[k] - a[k]) * t,
    )
}

fn project_clipped(c: &FrameConstants, v: &Homogeneous) -> Projected {
    let w = if v[2] > CLIP_FLUSH_BELOW { v[2] } else { CLIP_FLUSH_BELOW };
    let inverse_w = recip(w);
    let snap = always(
        #[inline(always)]
        |p: f32, extent: u32| {
            let v = (p * inverse_w).max(-GUARD_PX).min(GUARD_PX) * SUBPIXELS as f32;
            (v + 0.5).floor() as i32 + extent as i32 * (SUBPIXELS / 2)
        },
    );
    let key = if c.orthographic == 1 { v[3] * c.key_scale + c.key_offset } else { inverse_w };
    Projected { sx: snap(v[0], c.width), sy: snap(v[1], c.height), key }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::sample_offsets_px16;

    fn maker(constants: &FrameConstants) -> SetupMaker<'_> {
        SetupMaker {
            constants,
            grid: sample_grid(constants.samples),
            negative_kept: true,
            positive_kept: true,
            instance: 0,
            mode: mode::OPAQUE,
        }
    }

    /// Whether any sample of a 16×16 image lies inside, edges included, by the definition.
    fn covers_any(samples: u32, p: &[Projected; 3]) -> bool {
        let edge = |a: Projected, b: Projected, x: i64, y: i64| {
            i64::from(b.sx - a.sx) * (y - i64::from(a.sy)) - i64::from(b.sy - a.sy) * (x - i64::from(a.sx))
        };
        (0..256).any(|k| {
            sample_offsets_px16(samples).iter().any(|o| {
                let x = i64::from(k % 16 * 256 + 128 + 16 * o[0]);
                let y = i64::from(k / 16 * 256 + 128 + 16 * o[1]);
                let e = [edge(p[0], p[1], x, y), edge(p[1], p[2], x, y), edge(p[2], p[0], x, y)];
                e.iter().all(|&e| e >= 0) || e.iter().all(|&e| e <= 0)
            })
        })
    }

    #[test]
    fn triangles_dropped_before_rasterising_cover_no_sample() {
        let mut state = 7u32;
        let mut random = |n: i32| {
            state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            (state >> 8) as i32 % n
        };
        let mut dropped = 0;
        for round in 0..20_000 {
            let samples = [1, 4, 8, 16][round % 4];
            let constants = FrameConstants { width: 16, height: 16, samples, ..FrameConstants::default() };
            let (x, y, extent) = (random(5000) - 400, random(5000) - 400, 1 + random(400));
            let p: [Projected; 3] = std::array::from_fn(|_| Projected {
                sx: x + random(extent),
                sy: y + random(extent),
                key: 1.0,
            });
            let area = i64::from(p[1].sx - p[0].sx) * i64::from(p[2].sy - p[0].sy)
                - i64::from(p[2].sx - p[0].sx) * i64::from(p[1].sy - p[0].sy);
            if area != 0 && maker(&constants).make(0, p).is_none() {
                dropped += 1;
                assert!(!covers_any(samples, &p), "{samples} samples: {:?}", p.map(|p| (p.sx, p.sy)));
            }
        }
        assert!(dropped > 1000, "only {dropped} were dropped: the test tests little");
    }

    #[test]
    fn an_edge_is_clipped_to_the_same_point_from_both_ends() {
        let p = [1.5f32, -2.0, 0.25, 0.25];
        let q = [-7.0f32, 3.0, -1.75, -1.75];
        let constants = FrameConstants { znear: 0.01, ..FrameConstants::default() };
        for plane in 0..5 {
            let (dp, dq) = (inside_plane(&constants, plane, &p), inside_plane(&constants, plane, &q));
            let a = intersect(p, dp, q, dq).map(f32::to_bits);
            assert_eq!(a, intersect(q, dq, p, dp).map(f32::to_bits));
        }
    }

    #[test]
    fn clip_points_lie_on_the_plane_whichever_end_is_outside() {
        let constants = FrameConstants { znear: 0.1, ..FrameConstants::default() };
        // Outside and inside ends, in both orders of their bits.
        for (outside, inside) in [
            ([1.0f32, 2.0, -0.5, -0.5], [3.0f32, -2.0, 4.0, 4.0]),
            ([3.0, -2.0, -0.5, -0.5], [1.0, 2.0, 4.0, 4.0]),
            ([-1.0, 0.0, -0.5, -0.5], [1.0, 0.0, 0.5, 0.5]),
            ([1.0, 0.0, -0.5, -0.5], [-1.0, 0.0, 0.5, 0.5]),
        ] {
            let (d_out, d_in) = (inside_plane(&constants, 0, &outside), inside_plane(&constants, 0, &inside));
            let got = intersect(outside, d_out, inside, d_in);
            // Worked out by hand: (znear - d0) / (d1 - d0) of the way.
            let t = (0.1 - outside[3]) / (inside[3] - outside[3]);
            for k in 0..4 {
                let want = outside[k] + (inside[k] - outside[k]) * t;
                assert!(
                    (got[k] - want).abs() < 1e-5,
                    "{outside:?} to {inside:?}: {got:?}, {k} is not {want}"
                );
            }
        }
    }
}
