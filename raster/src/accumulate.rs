//! Sums of traced light over samples: a fixed binary tree over the sample's number, so that parts can be made apart
//! and joined without moving a bit.

use std::ops::Range;

use crate::frame::{FrameRequest, RenderError};
use crate::passes::vector::Vector;

/// Numbers that are summed for each pixel: see [`Sums`].
pub const CHANNELS: usize = 12;

/// Sums of a pixel: diffuse light, specular light, light that is not kept apart, distance, and the squares of both
/// luminances.
pub type Sums = [f32; CHANNELS];

/// What one sample of a pixel adds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sample {
    /// Divided by reflectance.
    pub diffuse: Vector,
    /// Divided by reflectance.
    pub specular: Vector,
    /// Weighted light of layers, and of fragments that no pixel's light is for.
    pub extra: Vector,
    /// To what the path met.
    pub distance: f32,
}

impl Sample {
    /// As it is summed.
    #[inline(always)]
    pub fn sums(&self) -> Sums {
        let (d, s, e) = (self.diffuse, self.specular, self.extra);
        let luminance = |v: Vector| v.x * 0.2126 + v.y * 0.7152 + v.z * 0.0722;
        let (a, b) = (luminance(d), luminance(s));
        [d.x, d.y, d.z, s.x, s.y, s.z, e.x, e.y, e.z, self.distance, a * a, b * b]
    }
}

/// Most samples of a run: each costs the visibility again.
pub const RUN_MAX: u32 = 64;

/// Splits samples into aligned runs, each a power of two: first sample and count.
pub fn runs(samples: Range<u32>) -> impl Iterator<Item = (u32, u32)> {
    let mut first = samples.start;
    std::iter::from_fn(move || {
        let left = samples.end.checked_sub(first)?.checked_ilog2()?;
        let aligned = first.trailing_zeros().min(RUN_MAX.ilog2());
        let run = (first, 1 << aligned.min(left));
        first += run.1;
        Some(run)
    })
}

/// That a frame has no traced light.
pub(crate) fn untraced() -> RenderError {
    RenderError::Request { field: "lighting.traced", reason: "the frame's light is classic".into() }
}

/// Whether a frame has traced light. *Errors*: [`RenderError::Request`].
#[cfg(feature = "gpu")]
pub(crate) fn check_traced(request: &FrameRequest) -> Result<(), RenderError> {
    if request.lighting.traced.is_some() { Ok(()) } else { Err(untraced()) }
}

/// Adds samples of one aligned run, in order.
#[derive(Debug, Clone, Copy)]
pub struct Tree {
    levels: [Sums; 17],
    count: u32,
}

impl Default for Tree {
    fn default() -> Self {
        Tree { levels: [[0.0; CHANNELS]; 17], count: 0 }
    }
}

impl Tree {
    /// Adds the next sample.
    #[inline(always)]
    pub fn push(&mut self, sums: Sums) {
        let mut sums = sums;
        let level = self.count.trailing_ones() as usize;
        for below in &self.levels[..level] {
            sums = add(below, &sums);
        }
        self.levels[level] = sums;
        self.count += 1;
    }

    /// The sum, after a number of samples that is a power of two.
    pub fn whole(&self) -> Sums {
        self.levels[self.count.trailing_zeros() as usize]
    }
}

/// Earlier plus later.
#[inline(always)]
pub fn add(earlier: &Sums, later: &Sums) -> Sums {
    std::array::from_fn(|k| earlier[k] + later[k])
}

/// Sums of an image over an aligned run of samples.
#[derive(Debug, Clone)]
struct Node {
    first: u32,
    count: u32,
    pixels: Vec<Sums>,
}

/// Sums of an image over any samples: the fewest aligned runs that hold them.
#[derive(Debug, Clone, Default)]
pub struct Accumulated {
    nodes: Vec<Node>,
}

impl Accumulated {
    /// Adds the run of `count` samples from `first` on, which follows what is there; `count` is a power of two that
    /// divides `first`.
    pub fn push(&mut self, first: u32, count: u32, pixels: Vec<Sums>) {
        let mut node = Node { first, count, pixels };
        while let Some(before) = self
            .nodes
            .pop_if(|before| before.count == node.count && before.first.is_multiple_of(2 * node.count))
        {
            let pixels = before.pixels.iter().zip(&node.pixels).map(|(a, b)| add(a, b)).collect();
            node = Node { first: before.first, count: 2 * node.count, pixels };
        }
        self.nodes.push(node);
    }

    /// Adds what follows.
    pub fn append(&mut self, later: Accumulated) {
        for node in later.nodes {
            self.push(node.first, node.count, node.pixels);
        }
    }

    /// Samples in all.
    pub fn count(&self) -> u32 {
        self.nodes.iter().map(|node| node.count).sum()
    }

    /// Sum of a pixel.
    pub fn sums(&self, pixel: usize) -> Sums {
        let mut nodes = self.nodes.iter();
        let first = nodes.next().map_or([0.0; CHANNELS], |node| node.pixels[pixel]);
        nodes.fold(first, |sum, node| add(&sum, &node.pixels[pixel]))
    }

    /// The sample after the last, where the first is 0.
    pub fn end(&self) -> u32 {
        self.nodes.last().map_or(0, |node| node.first + node.count)
    }

    /// As bytes, little-endian: for each run its first sample, its count, and its pixels.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for node in &self.nodes {
            bytes.extend_from_slice(&node.first.to_le_bytes());
            bytes.extend_from_slice(&node.count.to_le_bytes());
            bytes.extend(node.pixels.as_flattened().iter().flat_map(|v| v.to_le_bytes()));
        }
        bytes
    }

    /// Back from bytes, of an image of `pixels` pixels; none where they are not what [`Accumulated::to_bytes`] made of
    /// samples from 0 on.
    pub fn from_bytes(bytes: &[u8], pixels: usize) -> Option<Accumulated> {
        let mut all = Accumulated::default();
        let mut rest = bytes;
        while !rest.is_empty() {
            let (first, tail) = rest.split_first_chunk::<4>()?;
            let (count, tail) = tail.split_first_chunk::<4>()?;
            let (body, tail) = tail.split_at_checked(pixels.checked_mul(size_of::<Sums>())?)?;
            let (first, count) = (u32::from_le_bytes(*first), u32::from_le_bytes(*count));
            let aligned = count.is_power_of_two() && first.is_multiple_of(count);
            if first != all.end() || !aligned || first.checked_add(count).is_none() {
                return None;
            }
            let values: Vec<f32> = body.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
            if values.iter().any(|v| !v.is_finite() || *v < 0.0) {
                return None;
            }
            all.push(first, count, values.as_chunks::<CHANNELS>().0.to_vec());
            rest = tail;
        }
        Some(all)
    }

    /// Whether this is light of a frame's pixels. *Errors*: [`RenderError::Request`].
    pub(crate) fn check_fits(&self, request: &FrameRequest) -> Result<(), RenderError> {
        let (got, wanted) = (self.pixel_count(), request.width as usize * request.height as usize);
        if got != wanted {
            let reason = format!("light of {got} pixels, the frame has {wanted}");
            return Err(RenderError::Request { field: "lighting.traced", reason });
        }
        Ok(())
    }

    /// Pixels.
    pub fn pixel_count(&self) -> usize {
        self.nodes.first().map_or(0, |node| node.pixels.len())
    }
}
