//! Gather: whose traced light a fragment takes. Twin: `shaders/gather.wgsl`.
//!
//! Light is traced for one coverage sample of each pixel. A fragment takes that of its own pixel or of the neighbour
//! which shows the same surface, so that edges are as smooth as coverage makes them; one that finds none is traced
//! for itself.

use super::vector::Vector;
use crate::exact::FLUSH_BELOW;

/// No surface.
pub const NO_SURFACE: u32 = u32::MAX;

/// Least cosine between normals of what counts as one surface, about 26 degrees.
pub const SAME_NORMAL: f32 = 0.9;

/// Largest difference in depth of what counts as one surface, in parts of the depth.
pub const SAME_DEPTH: f32 = 0.125;

/// Pixels from which light may come, in the order in which they are asked.
pub const NEIGHBOURS: [[i32; 2]; 9] =
    [[0, 0], [-1, 0], [1, 0], [0, -1], [0, 1], [-1, -1], [1, -1], [-1, 1], [1, 1]];

/// What a pixel's light was traced for, 20 bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Guide {
    /// Index of the instance, or [`NO_SURFACE`].
    pub instance: u32,
    /// Unit shading normal.
    pub normal: Vector,
    /// Linear view depth.
    pub depth: f32,
}

impl Default for Guide {
    fn default() -> Self {
        Guide { instance: NO_SURFACE, normal: Vector::splat(0.0), depth: 0.0 }
    }
}

impl Guide {
    /// Whether both are of one surface.
    #[inline(always)]
    pub fn matches(&self, other: &Guide) -> bool {
        let apart = (self.depth - other.depth).abs();
        self.instance == other.instance
            && self.normal.dot(other.normal) >= SAME_NORMAL
            && apart <= (other.depth.abs() * SAME_DEPTH).max(FLUSH_BELOW)
    }
}

/// Guides of an image, row by row.
#[derive(Debug, Clone, Copy)]
pub struct Guides<'a> {
    /// *Units*: pixels.
    pub width: usize,
    /// All of them.
    pub pixels: &'a [Guide],
}

impl Guides<'_> {
    /// Index of the pixel whose light a fragment of pixel x, y takes.
    #[inline(always)]
    pub fn source(&self, x: usize, y: usize, fragment: &Guide) -> Option<usize> {
        let height = self.pixels.len() / self.width;
        NEIGHBOURS.iter().find_map(|&[dx, dy]| {
            let (x, y) = (x as i32 + dx, y as i32 + dy);
            if x < 0 || y < 0 || x >= self.width as i32 || y >= height as i32 {
                return None;
            }
            let at = y as usize * self.width + x as usize;
            self.pixels[at].matches(fragment).then_some(at)
        })
    }
}
