//! Pixels as rows of bytes, and their hash, apart from the files that hold them.
//!
//! The hash is blake3 over a line of text and the rows from the top. Text: `isoframe-pixels WIDTH HEIGHT
//! LAYOUT` and a newline. Layout of PNG, WebP and JPEG: `gray8`, `rgb8`, `rgba8`, `gray16`, `rgb16` or
//! `rgba16`, and rows are interleaved, 16-bit samples little-endian; of a JPEG, they are the samples before
//! compression. Layout of EXR: `NAME:TYPE` of each channel, sorted by name, separated by commas, with types
//! `half`, `float` and `uint`; a row is one channel's samples after the other's, little-endian, as EXR's own
//! scan lines are.

use std::fmt;

use exr::meta::attribute::SampleType;
use serde::{Deserialize, Serialize};

use super::samples::{Image, Layout};

/// blake3 of pixels, 64 hex digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PixelHash(String);

impl PixelHash {
    pub(super) fn new(hasher: &blake3::Hasher) -> PixelHash {
        PixelHash(hasher.finalize().to_hex().to_string())
    }
}

impl fmt::Display for PixelHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How pixels lie in rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rows {
    width: u32,
    height: u32,
    layout: String,
    pixel_bytes: usize,
}

impl Rows {
    pub(super) fn of_image(width: u32, height: u32, layout: Layout) -> Rows {
        let pixel_bytes = layout.channels() * layout.bytes_per_sample();
        Rows { width, height, layout: layout.name().into(), pixel_bytes }
    }

    pub(super) fn of_channels(
        width: u32,
        height: u32,
        channels: impl Iterator<Item = (String, SampleType)>,
    ) -> Rows {
        let mut pixel_bytes = 0;
        let names: Vec<String> = channels
            .map(|(name, sample_type)| {
                pixel_bytes += sample_type.bytes_per_sample();
                let sample_type = match sample_type {
                    SampleType::F16 => "half",
                    SampleType::F32 => "float",
                    SampleType::U32 => "uint",
                };
                format!("{name}:{sample_type}")
            })
            .collect();
        Rows { width, height, layout: names.join(","), pixel_bytes }
    }

    pub(super) fn row_bytes(&self) -> usize {
        self.width as usize * self.pixel_bytes
    }

    pub(super) fn bytes(&self) -> usize {
        self.row_bytes() * self.height as usize
    }

    /// A hasher that waits for the rows.
    pub(super) fn hasher(&self) -> blake3::Hasher {
        let mut hasher = blake3::Hasher::new();
        let text = format!("isoframe-pixels {} {} {}\n", self.width, self.height, self.layout);
        hasher.update(text.as_bytes());
        hasher
    }
}

/// Pixels of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pixels {
    pub(super) rows: Rows,
    pub(super) samples: Vec<u8>,
}

impl Pixels {
    pub(crate) fn hash(&self) -> PixelHash {
        let mut hasher = self.rows.hasher();
        hasher.update(&self.samples);
        PixelHash::new(&hasher)
    }

    /// Whether size and channels are those of others.
    pub(crate) fn has_layout_of(&self, other: &Pixels) -> bool {
        self.rows == other.rows
    }

    /// How these pixels differ from others, in words; none where they do not.
    pub(crate) fn difference(&self, other: &Pixels) -> Option<String> {
        if self.rows != other.rows {
            let describe = |rows: &Rows| format!("{}x{} {}", rows.width, rows.height, rows.layout);
            return Some(format!("{} against {}", describe(&self.rows), describe(&other.rows)));
        }
        let row_bytes = self.rows.row_bytes();
        let rows = self.samples.chunks(row_bytes).zip(other.samples.chunks(row_bytes));
        let differing: Vec<usize> = rows.enumerate().filter(|(_, (a, b))| a != b).map(|(y, _)| y).collect();
        let (first, last) = (differing.first()?, differing.last()?);
        Some(format!("{} of {} rows, from y = {first} to {last}", differing.len(), self.rows.height))
    }
}

pub(super) fn hash_image(image: &Image<'_>) -> PixelHash {
    let mut hasher = Rows::of_image(image.width, image.height, image.layout).hasher();
    hasher.update(&image.samples);
    PixelHash::new(&hasher)
}
