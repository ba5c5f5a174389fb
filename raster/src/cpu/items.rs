//! What a tile lights: fragments (the distinct triangles of each pixel's samples) and layers (BLEND triangles).

use fearless_simd::prelude::*;

use super::geometry::Geometry;
use crate::frame::sample_offsets_px16;
use crate::passes::resolve::{LAYERS_MAX, Lit};
use crate::passes::visibility::{BLOCK, BLOCKS, BLOCKS_X, NOTHING, TILE_HEIGHT, TILE_WIDTH, TileSamples};

/// Pixels of a tile.
pub const PIXELS: usize = TILE_WIDTH * TILE_HEIGHT;
/// Shading point code for the pixel's centre.
pub const CENTER: u8 = u8::MAX;
/// Layers a tile collects before it drops what lies too deep.
pub const LAYERS_PRUNED_AT: usize = PIXELS * LAYERS_MAX * 2;

/// A primitive to light at one pixel.
#[derive(Debug, Clone, Copy, Default)]
pub struct Item {
    pub setup: u32,
    /// Depth key at the shading point; layers only.
    pub key: u32,
    pub mask: u16,
    /// `block * 64 + y * 8 + x`.
    pub pixel: u16,
    /// Coverage sample that is the shading point, or [`CENTER`].
    pub point: u8,
    /// Whether the data outputs show it.
    pub first: bool,
    /// Whether it is blended over what lies behind.
    pub layer: bool,
}

/// Items and their light.
#[derive(Debug, Default)]
pub struct Items {
    pub items: Vec<Item>,
    /// First item of each pixel, one more at the end.
    pub first: Vec<u32>,
    pub red: Vec<f32>,
    pub green: Vec<f32>,
    pub blue: Vec<f32>,
    pub alpha: Vec<f32>,
}

impl Items {
    pub fn clear(&mut self) {
        self.items.clear();
        self.first.clear();
    }

    pub fn of_pixel(&self, pixel: usize) -> std::ops::Range<usize> {
        self.first[pixel] as usize..self.first[pixel + 1] as usize
    }

    pub fn lit(&self, range: std::ops::Range<usize>) -> impl Iterator<Item = Lit> + '_ {
        range.map(|k| Lit {
            radiance: [self.red[k], self.green[k], self.blue[k]],
            alpha: self.alpha[k],
            mask: u32::from(self.items[k].mask),
        })
    }
}

/// x and y of a pixel in the tile.
#[inline(always)]
pub fn position(pixel: usize) -> (i32, i32) {
    let (block, inner) = (pixel / 64, pixel % 64);
    (((block % BLOCKS_X) * BLOCK + inner % BLOCK) as i32, ((block / BLOCKS_X) * BLOCK + inner / BLOCK) as i32)
}

#[inline(always)]
pub fn offset_of(point: u8, samples: u32) -> [i32; 2] {
    if point == CENTER { [0, 0] } else { sample_offsets_px16(samples)[point as usize] }
}

/// The centre where all samples are covered, else the first one that is.
#[inline(always)]
pub fn shading_point(mask: u16, samples: u32) -> u8 {
    if mask.count_ones() == samples { CENTER } else { mask.trailing_zeros() as u8 }
}

/// Finds the distinct triangles of each pixel, in order of their first sample. Set-ups that clipping made of one
/// triangle are that triangle.
#[inline(always)]
pub fn collect_fragments<S: Simd>(simd: S, geometry: &Geometry<'_>, samples: &TileSamples, out: &mut Items) {
    let n = samples.samples;
    let full = ((1u32 << n) - 1) as u16;
    for block in 0..BLOCKS {
        for y in 0..BLOCK {
            let row0 = &samples.ids[samples.row(block, 0, y)..][..8];
            let first = fearless_simd::u32x8::from_slice(simd, row0);
            let mut same = fearless_simd::mask32x8::splat(simd, true);
            for s in 1..n {
                let row = &samples.ids[samples.row(block, s, y)..][..8];
                same = same & first.simd_eq(fearless_simd::u32x8::from_slice(simd, row));
            }
            let same = same.to_bitmask();
            for x in 0..8 {
                let pixel = (block * 64 + y * 8 + x) as u16;
                out.first.push(out.items.len() as u32);
                if same >> x & 1 == 1 {
                    if row0[x] != NOTHING {
                        out.items.push(Item {
                            setup: row0[x],
                            key: 0,
                            mask: full,
                            pixel,
                            point: CENTER,
                            first: true,
                            layer: false,
                        });
                    }
                } else {
                    collect_mixed(geometry, samples, block, y, x, pixel, &mut out.items);
                }
            }
        }
    }
    out.first.push(out.items.len() as u32);
}

fn collect_mixed(
    geometry: &Geometry<'_>,
    samples: &TileSamples,
    block: usize,
    y: usize,
    x: usize,
    pixel: u16,
    out: &mut Vec<Item>,
) {
    let n = samples.samples;
    let begin = out.len();
    let same = |p: u32, q: u32| p == q || geometry.setup(p).triangle == geometry.setup(q).triangle;
    for s in 0..n {
        let id = samples.ids[samples.row(block, s, y) + x];
        if id == NOTHING {
            continue;
        }
        match out[begin..].iter_mut().find(|i| same(i.setup, id)) {
            Some(item) => item.mask |= 1 << s,
            None => out.push(Item {
                setup: id,
                key: 0,
                mask: 1 << s,
                pixel,
                point: s as u8,
                first: s == 0,
                layer: false,
            }),
        }
    }
    if let [whole] = &mut out[begin..] {
        whole.point = shading_point(whole.mask, n as u32);
    }
}

/// Orders layers by pixel, nearest first, and drops what lies too deep.
pub fn prune(layers: &mut Vec<Item>) {
    layers.sort_unstable_by_key(|i| (i.pixel, u32::MAX - i.key, i.setup));
    let mut depth = 0;
    let mut last = u16::MAX;
    layers.retain(|i| {
        depth = if i.pixel == last { depth + 1 } else { 1 };
        last = i.pixel;
        depth <= LAYERS_MAX
    });
}

pub fn index_pixels(layers: &mut Items) {
    let mut k = 0;
    for pixel in 0..=PIXELS {
        while k < layers.items.len() && (layers.items[k].pixel as usize) < pixel {
            k += 1;
        }
        layers.first.push(k as u32);
    }
}
