//! A frame's buffers in rows of tiles, so that threads can fill them side by side.

use crate::frame::{Color, Frame, SharedPixel};
use crate::passes::visibility::TILE_HEIGHT;

/// One row of tiles of every buffer.
pub struct Band<'a> {
    /// Index of its first pixel in the image.
    pub first: usize,
    pub width: usize,
    pub height: usize,
    pub srgb8: Option<&'a mut [[u8; 4]]>,
    pub linear: Option<&'a mut [[f32; 4]]>,
    pub base: Option<&'a mut [[f32; 4]]>,
    pub depth: Option<&'a mut [f32]>,
    pub motion: Option<&'a mut [[f32; 2]]>,
    pub normal: Option<&'a mut [[f32; 3]]>,
    pub albedo: Option<&'a mut [[f32; 3]]>,
    pub id: Option<&'a mut [[u32; 2]]>,
    pub reflectance: Option<&'a mut [[f32; 6]]>,
    pub emission: Option<&'a mut [[f32; 3]]>,
    /// Pixels of several owners, found tile by tile.
    pub shared: Option<Vec<SharedPixel>>,
}

impl Band<'_> {
    /// Nothing drawn, in the buffers of which only drawn pixels are written.
    pub fn clear(&mut self) {
        fn fill<T: Copy>(buffer: &mut Option<&mut [T]>, value: T) {
            if let Some(buffer) = buffer {
                buffer.fill(value);
            }
        }
        fill(&mut self.depth, f32::INFINITY);
        fill(&mut self.motion, [0.0; 2]);
        fill(&mut self.normal, [0.0; 3]);
        fill(&mut self.albedo, [0.0; 3]);
        fill(&mut self.id, [0; 2]);
        fill(&mut self.reflectance, [0.0; 6]);
        fill(&mut self.emission, [0.0; 3]);
    }

    /// The pixels of several owners, by ascending index.
    pub fn into_shared(self) -> Vec<SharedPixel> {
        let mut shared = self.shared.unwrap_or_default();
        shared.sort_unstable_by_key(SharedPixel::index);
        shared
    }
}

/// Splits a frame into rows of tiles.
pub fn bands(frame: &mut Frame) -> Vec<Band<'_>> {
    let (width, height) = (frame.width as usize, frame.height as usize);
    let size = width * TILE_HEIGHT;
    pub fn chunks<'f, T>(buffer: &'f mut Option<Vec<T>>, size: usize) -> impl FnMut() -> Option<&'f mut [T]> {
        let mut chunks = buffer.as_mut().map(|b| b.chunks_mut(size));
        move || chunks.as_mut().and_then(Iterator::next)
    }
    let (mut srgb8, mut linear) = match &mut frame.color {
        Some(Color::Srgb8(pixels)) => (Some(pixels.chunks_mut(size)), None),
        Some(Color::Linear(pixels)) => (None, Some(pixels.chunks_mut(size))),
        None => (None, None),
    };
    let mut base = chunks(&mut frame.base, size);
    let mut depth = chunks(&mut frame.depth, size);
    let mut motion = chunks(&mut frame.motion, size);
    let mut normal = chunks(&mut frame.normal, size);
    let mut albedo = chunks(&mut frame.albedo, size);
    let mut id = chunks(&mut frame.id, size);
    let mut reflectance = chunks(&mut frame.reflectance, size);
    let mut emission = chunks(&mut frame.emission, size);
    let shares = frame.coverage.is_some();
    (0..(height).div_ceil(TILE_HEIGHT))
        .map(|row| Band {
            width,
            height: TILE_HEIGHT.min(height - row * TILE_HEIGHT),
            srgb8: srgb8.as_mut().and_then(Iterator::next),
            linear: linear.as_mut().and_then(Iterator::next),
            base: base(),
            depth: depth(),
            motion: motion(),
            normal: normal(),
            albedo: albedo(),
            id: id(),
            reflectance: reflectance(),
            emission: emission(),
            shared: shares.then(Vec::new),
            first: row * size,
        })
        .collect()
}
