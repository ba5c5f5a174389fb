//! Octahedral maps: a direction's place, and bilinear lookups whose edges wrap as the octahedron folds.

use fearless_simd::{f32x4, f32x8, i32x8, prelude::*};

use super::vector::{V3, always, fill};
use crate::draw::FrameConstants;
use crate::exact::recip8;

/// World axes to the environment's.
#[inline(always)]
pub fn turn<S: Simd>(c: &FrameConstants, d: V3<S>) -> V3<S> {
    V3 {
        x: d.x * c.environment_cos + d.z * c.environment_sin,
        y: d.y,
        z: d.z * c.environment_cos - d.x * c.environment_sin,
    }
}

/// Texel position in an octahedral map of unit side, 0 to 1.
#[inline(always)]
pub fn octahedral<S: Simd>(simd: S, d: V3<S>) -> [f32x8<S>; 2] {
    let one = f32x8::splat(simd, 1.0);
    let zero = f32x8::splat(simd, 0.0);
    let scale = recip8(d.x.abs() + d.y.abs() + d.z.abs());
    let (x, y, z) = (d.x * scale, d.y * scale, d.z * scale);
    let below = y.simd_lt(zero);
    let signed = always(
        #[inline(always)]
        |v: f32x8<S>, by: f32x8<S>| by.simd_lt(zero).select(-v, v),
    );
    let px = below.select(signed(one - z.abs(), x), x);
    let pz = below.select(signed(one - x.abs(), z), z);
    [px * 0.5 + 0.5, pz * 0.5 + 0.5]
}

/// Bilinear lookup in a level of an octahedral map; edges wrap as the octahedron folds. RGB and the fourth.
pub fn octahedral_level<S: Simd>(
    simd: S,
    texels: &[[f32; 4]],
    first: [usize; 8],
    side: [u32; 8],
    at: [f32x8<S>; 2],
) -> V3<S> {
    simd.vectorize(
        #[inline(always)]
        || octahedral_level_here(simd, texels, first, side, at),
    )
}

#[inline(always)]
fn octahedral_level_here<S: Simd>(
    simd: S,
    texels: &[[f32; 4]],
    first: [usize; 8],
    side: [u32; 8],
    at: [f32x8<S>; 2],
) -> V3<S> {
    let side = i32x8::simd_from(simd, fill(|lane| side[lane] as i32));
    let first = i32x8::simd_from(simd, fill(|lane| first[lane] as i32));
    let sides: f32x8<S> = side.to_float();
    let x = at[0] * sides - 0.5;
    let y = at[1] * sides - 0.5;
    let (x0, y0) = (x.floor(), y.floor());
    let (fx, fy) = (x - x0, y - y0);
    let xi: i32x8<S> = x0.to_int();
    let yi: i32x8<S> = y0.to_int();
    let zero = i32x8::splat(simd, 0);
    let last = side - 1;
    let within = xi.simd_ge(zero) & yi.simd_ge(zero) & xi.simd_lt(last) & yi.simd_lt(last);
    // The texels to the right of these two are theirs too: only at the fold is a neighbour elsewhere.
    let unfolded = within.all_true();
    let upper = first + yi * side + xi;
    let lower = upper + side;
    let mut out = [[0.0f32; 8]; 3];
    for lane in 0..8 {
        let tap = always(
            #[inline(always)]
            |texel: &[f32; 4]| f32x4::from_slice(simd, texel),
        );
        let [a, b, c, d] = if unfolded {
            let upper = &texels[upper[lane] as usize..][..2];
            let lower = &texels[lower[lane] as usize..][..2];
            [tap(&upper[0]), tap(&upper[1]), tap(&lower[0]), tap(&lower[1])]
        } else {
            fill(
                #[inline(always)]
                |k| {
                    let (dx, dy) = (k as i32 & 1, k as i32 >> 1);
                    let (x, y) = fold(xi[lane] + dx, yi[lane] + dy, side[lane]);
                    tap(&texels[(first[lane] + y * side[lane] + x) as usize])
                },
            )
        };
        let top = a + (b - a) * fx[lane];
        let bottom = c + (d - c) * fx[lane];
        let value = top + (bottom - top) * fy[lane];
        for k in 0..3 {
            out[k][lane] = value[k];
        }
    }
    V3 {
        x: f32x8::simd_from(simd, out[0]),
        y: f32x8::simd_from(simd, out[1]),
        z: f32x8::simd_from(simd, out[2]),
    }
}

/// A texel beyond the edge, at most one away, is its neighbour across the fold.
#[inline(always)]
pub(super) fn fold(x: i32, y: i32, side: i32) -> (i32, i32) {
    let last = side - 1;
    let (x, y) = if x < 0 {
        (0, last - y)
    } else if x > last {
        (last, last - y)
    } else {
        (x, y)
    };
    if y < 0 {
        (last - x, 0)
    } else if y > last {
        (last - x, last)
    } else {
        (x, y)
    }
}
