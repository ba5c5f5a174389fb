//! Texture lookups in our own arithmetic: wrap, level, bilinear, trilinear.
//!
//! *Reads*: RGBA8 texels in unsigned integers, decoded by table (sRGB) or by 1/255. Level 0 is the image.
//! The level is log2 of the longer side of the pixel's footprint; Williams 1983, OpenGL 4.6 section 8.14.

use fearless_simd::{f32x8, i32x8, mask32x8, prelude::*, u32x8};

use super::vector::{always, fill, lanes};
use crate::exact::log2_8;
use crate::image::srgb::SRGB8_TO_LINEAR;
use crate::prepared::{PackedTexture, texture_flags, wrap_code};

/// Texture coordinates are clamped to this before they are wrapped.
pub const UV_MAX: f32 = 1_048_576.0;

/// What the largest code of eight bits is multiplied by to give 1.
pub const INVERSE_255: f32 = 1.0 / 255.0;

/// Coordinates of a set and their change per pixel to the right and down.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Footprint<S: Simd> {
    pub u: f32x8<S>,
    pub v: f32x8<S>,
    pub du_dx: f32x8<S>,
    pub dv_dx: f32x8<S>,
    pub du_dy: f32x8<S>,
    pub dv_dy: f32x8<S>,
}

impl<S: Simd> Footprint<S> {
    #[inline(always)]
    fn transformed(&self, m: &[f32; 6]) -> Footprint<S> {
        if *m == [1.0, 0.0, 0.0, 0.0, 1.0, 0.0] {
            return *self;
        }
        Footprint {
            u: self.u * m[0] + self.v * m[1] + m[2],
            v: self.u * m[3] + self.v * m[4] + m[5],
            du_dx: self.du_dx * m[0] + self.dv_dx * m[1],
            dv_dx: self.du_dx * m[3] + self.dv_dx * m[4],
            du_dy: self.du_dy * m[0] + self.dv_dy * m[1],
            dv_dy: self.du_dy * m[3] + self.dv_dy * m[4],
        }
    }
}

/// Bits for the channels a lookup needs.
#[allow(missing_docs)]
pub mod channels {
    pub const R: u32 = 1;
    pub const G: u32 = 2;
    pub const B: u32 = 4;
    pub const A: u32 = 8;
}

/// Filtered RGBA, 0 to 1, sRGB decoded; channels outside `CHANNELS` are 0.
pub fn sample<S: Simd, const CHANNELS: u32>(
    simd: S,
    texels: &[u32],
    texture: &PackedTexture,
    footprint: &Footprint<S>,
) -> [f32x8<S>; 4] {
    // A call of its own: inlined into each of its many callers it would take minutes to build.
    simd.vectorize(
        #[inline(always)]
        || sample_here::<S, CHANNELS>(simd, texels, texture, footprint),
    )
}

#[inline(always)]
fn sample_here<S: Simd, const CHANNELS: u32>(
    simd: S,
    texels: &[u32],
    texture: &PackedTexture,
    footprint: &Footprint<S>,
) -> [f32x8<S>; 4] {
    use texture_flags::*;
    let f = footprint.transformed(&texture.uv_transform);
    let (width, height) = (texture.width as f32, texture.height as f32);
    let (ax, ay) = (f.du_dx * width, f.dv_dx * height);
    let (bx, by) = (f.du_dy * width, f.dv_dy * height);
    let rho2 = (ax * ax + ay * ay).max(bx * bx + by * by);
    let lod = log2_8(rho2) * 0.5;
    let zero = f32x8::splat(simd, 0.0);

    let minified = lod.simd_gt(zero);
    let all = always(
        #[inline(always)]
        |on: u32| mask32x8::splat(simd, texture.flags & on != 0),
    );
    let linear = (minified & all(MIN_LINEAR)) | (!minified & all(MAG_LINEAR));

    let last = (texture.level_count - 1) as f32;
    let lod = if texture.flags & MIPS != 0 { lod.max(zero).min(f32x8::splat(simd, last)) } else { zero };
    let (level, blend) = if texture.flags & MIP_LINEAR != 0 {
        let level = lod.floor();
        (level, lod - level)
    } else {
        ((lod + 0.5).floor(), zero)
    };
    let level: i32x8<S> = level.to_int();
    let near = bilinear::<S, CHANNELS>(simd, texels, texture, &f, level, linear);
    if blend.simd_gt(zero).all_false() {
        return near;
    }
    let next = (level + 1).min(i32x8::splat(simd, texture.level_count as i32 - 1));
    let far = bilinear::<S, CHANNELS>(simd, texels, texture, &f, next, linear);
    fill(
        #[inline(always)]
        |k| if CHANNELS >> k & 1 == 1 { near[k] + (far[k] - near[k]) * blend } else { zero },
    )
}

/// The finest level at one point, for rays: they have no footprint, and many of them average.
#[inline(always)]
pub fn sample_finest(texels: &[u32], texture: &PackedTexture, u: f32, v: f32) -> [f32; 4] {
    let m = &texture.uv_transform;
    let (u, v) = if *m == [1.0, 0.0, 0.0, 0.0, 1.0, 0.0] {
        (u, v)
    } else {
        (u * m[0] + v * m[1] + m[2], u * m[3] + v * m[4] + m[5])
    };
    let linear = texture.flags & texture_flags::MAG_LINEAR != 0;
    let wrap = |shift: u32| texture.flags >> shift & texture_flags::WRAP_MASK;
    let [left, right, across] = axis_of_one(u, texture.width, wrap(texture_flags::WRAP_U_SHIFT), linear);
    let [upper, lower, down] = axis_of_one(v, texture.height, wrap(texture_flags::WRAP_V_SHIFT), linear);
    let texel = |x: f32, y: f32| texels[(texture.first_texel + y as u32 * texture.width + x as u32) as usize];
    let taps = [texel(left, upper), texel(right, upper), texel(left, lower), texel(right, lower)];
    let srgb = texture.flags & texture_flags::SRGB != 0;
    fill(
        #[inline(always)]
        |k| {
            let decoded = srgb && k < 3;
            let tap = |t: u32| {
                let code = t >> (8 * k as u32) & 255;
                if decoded { SRGB8_TO_LINEAR[code as usize] } else { code as f32 }
            };
            let [a, b, c, d] = taps.map(tap);
            let top = a + (b - a) * across;
            let bottom = c + (d - c) * across;
            let value = top + (bottom - top) * down;
            if decoded { value } else { value * INVERSE_255 }
        },
    )
}

/// Two neighbouring texels along an axis, as whole numbers, and the way between them. The same as [`axis`].
#[inline(always)]
fn axis_of_one(t: f32, count: u32, wrap: u32, linear: bool) -> [f32; 3] {
    let t = t.max(-UV_MAX).min(UV_MAX);
    let unit = match wrap {
        wrap_code::REPEAT => t - t.floor(),
        wrap_code::MIRROR => {
            let m = t - (t * 0.5).floor() * 2.0;
            if m > 1.0 { 2.0 - m } else { m }
        }
        _ => t.max(0.0).min(1.0),
    };
    let size = count as f32;
    let position = unit * size - if linear { 0.5 } else { 0.0 };
    let floor = position.floor();
    let blend = if linear { position - floor } else { 0.0 };
    let last = size - 1.0;
    let fold = |i: f32| match wrap {
        wrap_code::REPEAT if i < 0.0 => i + size,
        wrap_code::REPEAT if i > last => i - size,
        wrap_code::REPEAT => i,
        _ => i.max(0.0).min(last),
    };
    [fold(floor), fold(floor + 1.0), blend]
}

/// One level.
fn bilinear<S: Simd, const CHANNELS: u32>(
    simd: S,
    texels: &[u32],
    texture: &PackedTexture,
    f: &Footprint<S>,
    level: i32x8<S>,
    linear: mask32x8<S>,
) -> [f32x8<S>; 4] {
    simd.vectorize(
        #[inline(always)]
        || bilinear_here::<S, CHANNELS>(simd, texels, texture, f, level, linear),
    )
}

#[inline(always)]
fn bilinear_here<S: Simd, const CHANNELS: u32>(
    simd: S,
    texels: &[u32],
    texture: &PackedTexture,
    f: &Footprint<S>,
    level: i32x8<S>,
    linear: mask32x8<S>,
) -> [f32x8<S>; 4] {
    let levels = Levels::new(simd, texture, &level);
    let wrap_u = texture.flags >> texture_flags::WRAP_U_SHIFT & texture_flags::WRAP_MASK;
    let wrap_v = texture.flags >> texture_flags::WRAP_V_SHIFT & texture_flags::WRAP_MASK;
    let x = axis(simd, f.u, levels.width, wrap_u, linear);
    let y = axis(simd, f.v, levels.height, wrap_v, linear);

    let upper = levels.first + y.low * levels.width;
    let lower = levels.first + y.high * levels.width;
    let places = [upper + x.low, upper + x.high, lower + x.low, lower + x.high];
    let taps: [[u32; 8]; 4] = fill(
        #[inline(always)]
        |t| {
            fill(
                #[inline(always)]
                |lane| texels[places[t][lane] as u32 as usize],
            )
        },
    );
    let srgb = texture.flags & texture_flags::SRGB != 0;
    fill(
        #[inline(always)]
        |k| {
            if CHANNELS >> k & 1 == 0 {
                return f32x8::splat(simd, 0.0);
            }
            let shift = 8 * k as u32;
            let decoded = srgb && k < 3;
            let [a, b, c, d]: [f32x8<S>; 4] = fill(
                #[inline(always)]
                |t| {
                    if decoded {
                        lanes(
                            simd,
                            #[inline(always)]
                            |lane| SRGB8_TO_LINEAR[(taps[t][lane] >> shift & 255) as usize],
                        )
                    } else {
                        ((u32x8::simd_from(simd, taps[t]) >> shift) & 255).to_float()
                    }
                },
            );
            let top = a + (b - a) * x.blend;
            let bottom = c + (d - c) * x.blend;
            let value = top + (bottom - top) * y.blend;
            if decoded { value } else { value * INVERSE_255 }
        },
    )
}

/// Size and first texel of the level of each lane.
struct Levels<S: Simd> {
    width: i32x8<S>,
    height: i32x8<S>,
    first: i32x8<S>,
}

impl<S: Simd> Levels<S> {
    #[inline(always)]
    fn new(simd: S, texture: &PackedTexture, level: &i32x8<S>) -> Self {
        let nearest = level[0];
        if level.simd_eq(i32x8::splat(simd, nearest)).all_true() {
            let [width, height, first] = level_of(texture, nearest);
            return Levels {
                width: i32x8::splat(simd, width),
                height: i32x8::splat(simd, height),
                first: i32x8::splat(simd, first),
            };
        }
        let mut out = [[0; 8]; 3];
        for lane in 0..8 {
            let of = level_of(texture, level[lane]);
            for k in 0..3 {
                out[k][lane] = of[k];
            }
        }
        Levels {
            width: i32x8::simd_from(simd, out[0]),
            height: i32x8::simd_from(simd, out[1]),
            first: i32x8::simd_from(simd, out[2]),
        }
    }
}

/// Width, height and first texel of a level; the bits of an unsigned texel number.
#[inline(always)]
fn level_of(texture: &PackedTexture, level: i32) -> [i32; 3] {
    let (mut w, mut h, mut first) = (texture.width, texture.height, texture.first_texel);
    for _ in 0..level {
        first += w * h;
        w = (w >> 1).max(1);
        h = (h >> 1).max(1);
    }
    [w as i32, h as i32, first as i32]
}

/// Two neighbouring texels along an axis and the way between them.
struct Axis<S: Simd> {
    low: i32x8<S>,
    high: i32x8<S>,
    blend: f32x8<S>,
}

#[inline(always)]
fn axis<S: Simd>(simd: S, t: f32x8<S>, count: i32x8<S>, wrap: u32, linear: mask32x8<S>) -> Axis<S> {
    let zero = f32x8::splat(simd, 0.0);
    let one = f32x8::splat(simd, 1.0);
    let t = t.max(f32x8::splat(simd, -UV_MAX)).min(f32x8::splat(simd, UV_MAX));
    let unit = match wrap {
        wrap_code::REPEAT => t - t.floor(),
        wrap_code::MIRROR => {
            let m = t - (t * 0.5).floor() * 2.0;
            m.simd_gt(one).select(f32x8::splat(simd, 2.0) - m, m)
        }
        _ => t.max(zero).min(one),
    };
    let size: f32x8<S> = count.to_float();
    let position = unit * size - linear.select(f32x8::splat(simd, 0.5), zero);
    let floor = position.floor();
    let blend = linear.select(position - floor, zero);
    let last = count - 1;
    let low: i32x8<S> = floor.to_int();
    let high = low + 1;
    let zero = i32x8::splat(simd, 0);
    let fold = always(
        #[inline(always)]
        |i: i32x8<S>| {
            if wrap == wrap_code::REPEAT {
                let i = i.simd_lt(zero).select(i + count, i);
                i.simd_gt(last).select(i - count, i)
            } else {
                i.max(zero).min(last)
            }
        },
    );
    Axis { low: fold(low), high: fold(high), blend }
}
