//! Mip chains: each level is the area average of the one above it, in whole numbers.
//!
//! A level has half the size, rounded down, at least 1. Even sides average pairs; odd sides give every texel the
//! three-tap weights of its exact footprint (*Source*: Guthe and Heckbert, Non-Power-of-Two Mipmapping, NVIDIA 2005).
//!
//! Colour is averaged as 16-bit linear light, data as it is; between levels 16 bits are kept, so that rounding does
//! not add up. In sRGB images that have alpha, colour is weighted by alpha: what is transparent does not bleed into
//! what is not. Where a whole footprint is transparent its colour is the plain average.

use std::sync::LazyLock;

use super::srgb::{LINEAR_TO_SRGB8_THRESHOLDS, SRGB8_TO_LINEAR};
use crate::scene::Image;

/// One level of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MipLevel {
    /// *Units*: texels.
    pub width: u32,
    /// *Units*: texels.
    pub height: u32,
    /// Of the level's first texel in [`MipChain::texels`].
    pub offset_texels: u32,
}

/// An image and its smaller versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MipChain {
    /// From the image itself to 1 x 1.
    pub levels: Vec<MipLevel>,
    /// RGBA8, straight alpha: r | g << 8 | b << 16 | a << 24. Rows from the top, levels one after another.
    pub texels: Vec<u32>,
}

/// Builds the chain of an image that is not empty; `srgb` says that its colours are sRGB encoded, beside coverage.
pub fn build(image: &Image, srgb: bool) -> MipChain {
    build_weighted(image, srgb, srgb)
}

/// [`build`] for sRGB colours beside data, which does not say how much of them is there.
pub fn build_beside_data(image: &Image) -> MipChain {
    build_weighted(image, true, false)
}

fn build_weighted(image: &Image, srgb: bool, weighted: bool) -> MipChain {
    let levels = levels(image.width, image.height);
    let count = levels.last().map_or(0, |last| last.offset_texels as usize + 1);
    let mut texels = Vec::with_capacity(count);
    texels.extend(image.rgba.iter().map(|texel| u32::from_le_bytes(*texel)));

    let weighted = weighted && image.rgba.iter().any(|texel| texel[3] != 255);
    let codec = if srgb { &*SRGB } else { &*DATA };
    let mut above: Vec<[u16; 4]> = Vec::new();
    for pair in levels.windows(2) {
        let sizes = Sizes { from: (pair[0].width, pair[0].height), to: (pair[1].width, pair[1].height) };
        above = if pair[0].offset_texels == 0 {
            reduce(&image.rgba, sizes, weighted, |texel| codec.decode(texel))
        } else {
            reduce(&above, sizes, weighted, |texel| texel.map(u32::from))
        };
        texels.extend(above.iter().map(|texel| codec.encode(texel)));
    }
    MipChain { levels, texels }
}

fn levels(mut width: u32, mut height: u32) -> Vec<MipLevel> {
    let mut levels = Vec::new();
    let mut offset_texels = 0;
    loop {
        levels.push(MipLevel { width, height, offset_texels });
        if width <= 1 && height <= 1 {
            return levels;
        }
        offset_texels += width * height;
        (width, height) = ((width / 2).max(1), (height / 2).max(1));
    }
}

/// Between 8-bit codes and 16-bit values that may be averaged.
struct Codec {
    decode: [u16; 256],
    /// Code at the start of each run of 16 values; the true code is this or, past its threshold, the next.
    guess: Vec<u8>,
    /// Smallest value of each code, and one that is never reached.
    first: [u32; 257],
}

static SRGB: LazyLock<Codec> = LazyLock::new(|| {
    let wide = |linear: f32| f64::from(linear) * 65535.0;
    Codec::new(
        std::array::from_fn(|code| (wide(SRGB8_TO_LINEAR[code]) + 0.5) as u16),
        std::array::from_fn(|code| wide(LINEAR_TO_SRGB8_THRESHOLDS[code]).ceil() as u32),
    )
});

static DATA: LazyLock<Codec> = LazyLock::new(|| {
    Codec::new(
        std::array::from_fn(|code| code as u16 * 257),
        std::array::from_fn(|code| (code as u32 * 257).saturating_sub(128)),
    )
});

impl Codec {
    fn new(decode: [u16; 256], first: [u32; 256]) -> Codec {
        let guess = (0..4096u32).map(|run| (first.partition_point(|&f| f <= run * 16) - 1) as u8).collect();
        let mut padded = [u32::MAX; 257];
        padded[..256].copy_from_slice(&first);
        Codec { decode, guess, first: padded }
    }

    #[inline(always)]
    fn decode(&self, texel: &[u8; 4]) -> [u32; 4] {
        let wide = |code: u8| u32::from(self.decode[usize::from(code)]);
        [wide(texel[0]), wide(texel[1]), wide(texel[2]), u32::from(texel[3]) * 257]
    }

    #[inline(always)]
    fn code(&self, value: u16) -> u32 {
        let guess = u32::from(self.guess[usize::from(value >> 4)]);
        guess + u32::from(u32::from(value) >= self.first[guess as usize + 1])
    }

    #[inline(always)]
    fn encode(&self, texel: &[u16; 4]) -> u32 {
        let alpha = (u32::from(texel[3]) + 128) / 257;
        self.code(texel[0]) | self.code(texel[1]) << 8 | self.code(texel[2]) << 16 | alpha << 24
    }
}

#[derive(Clone, Copy)]
struct Sizes {
    from: (u32, u32),
    to: (u32, u32),
}

/// One level from the one above it.
fn reduce<T>(
    above: &[T],
    sizes: Sizes,
    weighted: bool,
    decode: impl Fn(&T) -> [u32; 4] + Copy,
) -> Vec<[u16; 4]> {
    let even = sizes.from.0.is_multiple_of(2) && sizes.from.1.is_multiple_of(2);
    match (even, weighted) {
        (true, false) => reduce_even(above, sizes, |footprint| average(footprint.map(decode))),
        (true, true) => reduce_even(above, sizes, |footprint| {
            average_by_alpha(footprint.map(decode).iter().map(|value| (1, *value)), 4)
        }),
        (false, _) => reduce_odd(above, sizes, weighted, decode),
    }
}

fn reduce_even<T>(above: &[T], sizes: Sizes, merge: impl Fn([&T; 4]) -> [u16; 4]) -> Vec<[u16; 4]> {
    let width = sizes.from.0 as usize;
    let mut below = Vec::with_capacity(sizes.to.0 as usize * sizes.to.1 as usize);
    for rows in above.chunks_exact(width * 2) {
        let (top, bottom) = rows.split_at(width);
        let pairs = top.as_chunks::<2>().0.iter().zip(bottom.as_chunks::<2>().0);
        below.extend(pairs.map(|([a, b], [c, d])| merge([a, b, c, d])));
    }
    below
}

#[inline(always)]
fn average([a, b, c, d]: [[u32; 4]; 4]) -> [u16; 4] {
    std::array::from_fn(|k| ((a[k] + b[k] + c[k] + d[k] + 2) >> 2) as u16)
}

fn reduce_odd<T>(
    above: &[T],
    sizes: Sizes,
    weighted: bool,
    decode: impl Fn(&T) -> [u32; 4] + Copy,
) -> Vec<[u16; 4]> {
    let columns: Vec<Taps> = (0..sizes.to.0).map(|x| Taps::new(x, sizes.from.0)).collect();
    let mut below = Vec::with_capacity(sizes.to.0 as usize * sizes.to.1 as usize);
    for y in 0..sizes.to.1 {
        let rows = Taps::new(y, sizes.from.1);
        for columns in &columns {
            let footprint = (0..rows.count).flat_map(|j| {
                let row = &above[(rows.first + j) * sizes.from.0 as usize..];
                (0..columns.count)
                    .map(move |i| (rows.weight[j] * columns.weight[i], decode(&row[columns.first + i])))
            });
            let total = rows.total * columns.total;
            below.push(if weighted {
                average_by_alpha(footprint, total)
            } else {
                plain_average(footprint, total)
            });
        }
    }
    below
}

/// Which texels of the level above one texel covers along an axis, and how much of each.
struct Taps {
    first: usize,
    count: usize,
    weight: [u64; 3],
    total: u64,
}

impl Taps {
    fn new(index: u32, size: u32) -> Taps {
        let (i, half) = (u64::from(index), u64::from(size / 2));
        if size == 1 {
            Taps { first: 0, count: 1, weight: [1, 0, 0], total: 1 }
        } else if size.is_multiple_of(2) {
            Taps { first: index as usize * 2, count: 2, weight: [1, 1, 0], total: 2 }
        } else {
            let weight = [half - i, half, i + 1];
            Taps { first: index as usize * 2, count: 3, weight, total: 2 * half + 1 }
        }
    }
}

// Sums stay below 2^58: weights of both axes 2^26 together (sides up to 2^13), values and alpha 2^16 each.

fn plain_average(footprint: impl Iterator<Item = (u64, [u32; 4])>, total: u64) -> [u16; 4] {
    let mut sum = [0u64; 4];
    for (weight, value) in footprint {
        for k in 0..4 {
            sum[k] += weight * u64::from(value[k]);
        }
    }
    sum.map(|s| ((s + total / 2) / total) as u16)
}

fn average_by_alpha(footprint: impl Iterator<Item = (u64, [u32; 4])> + Clone, total: u64) -> [u16; 4] {
    let mut sum = [0u64; 4];
    for (weight, value) in footprint.clone() {
        let alpha = weight * u64::from(value[3]);
        for k in 0..3 {
            sum[k] += alpha * u64::from(value[k]);
        }
        sum[3] += alpha;
    }
    let opacity = sum[3];
    if opacity == 0 {
        return plain_average(footprint, total);
    }
    let nearest = |sum: u64, by: u64| ((sum + by / 2) / by) as u16;
    [nearest(sum[0], opacity), nearest(sum[1], opacity), nearest(sum[2], opacity), nearest(opacity, total)]
}
