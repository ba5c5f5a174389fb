//! Hashes of pixels, apart from the files that hold them.
//!
//! blake3 over width and height (u32, little-endian), then the samples. PNG, WebP and JPEG: interleaved,
//! row-major from the top left, 16-bit samples little-endian; of a JPEG, the samples before compression.
//! EXR: channel by channel in the file's order (by name), each its name, a zero byte, its type as EXR numbers
//! it (0 uint, 1 half, 2 float; one byte) and its samples little-endian, row-major from the top left.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::samples::Image;

/// blake3 of canonical pixel bytes, 64 hex digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PixelHash(String);

impl fmt::Display for PixelHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn start(width: u32, height: u32) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&width.to_le_bytes());
    hasher.update(&height.to_le_bytes());
    hasher
}

pub(super) fn of_image(image: &Image<'_>) -> PixelHash {
    let mut hasher = start(image.width, image.height);
    hasher.update(&image.samples);
    PixelHash(hasher.finalize().to_hex().to_string())
}
