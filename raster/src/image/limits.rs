//! What an image may cost, and how one is refused.

use super::Format;

/// How many pixels may be decoded, for one scene or one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PixelBudget {
    /// Largest width or height. *Units*: pixels. *Default*: 8192.
    pub max_side_px: u32,
    /// Pixels that may still be decoded, over all images together. *Units*: pixels. *Default*: 2^26 (256 MiB of RGBA8).
    pub remaining_px: u64,
}

impl Default for PixelBudget {
    fn default() -> Self {
        PixelBudget { max_side_px: 8192, remaining_px: 1 << 26 }
    }
}

impl PixelBudget {
    /// Takes an image of this size out of the budget, or leaves the budget as it was.
    ///
    /// Calling this for every [`super::probe`]d image on a clone refuses a set of images before the first is decoded.
    ///
    /// *Errors*: [`ImageError::Side`], [`ImageError::Budget`].
    pub fn take(&mut self, width: u32, height: u32) -> Result<(), ImageError> {
        if width > self.max_side_px || height > self.max_side_px {
            return Err(ImageError::Side { width, height, max_side_px: self.max_side_px });
        }
        let wanted_px = u64::from(width) * u64::from(height);
        if wanted_px > self.remaining_px {
            return Err(ImageError::Budget { width, height, remaining_px: self.remaining_px });
        }
        self.remaining_px -= wanted_px;
        Ok(())
    }
}

/// Why an image was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// The first bytes are those of no format read here.
    #[error("not a PNG, JPEG or WebP image (declared as {declared}; first bytes {magic:02x?})")]
    Format {
        /// The MIME type that came with it, or `nothing`.
        declared: String,
        /// The first bytes, at most eight.
        magic: Vec<u8>,
    },
    /// A variety of the format that is not read.
    #[error("{format} image: {what}")]
    Unsupported {
        /// Format.
        format: Format,
        /// The variety, and what to do about it.
        what: &'static str,
    },
    /// Width or height above the limit.
    #[error("image of {width}x{height} pixels is above the limit of {max_side_px} per side")]
    Side {
        /// As the header says.
        width: u32,
        /// As the header says.
        height: u32,
        /// The limit.
        max_side_px: u32,
    },
    /// More pixels than are left for this scene.
    #[error(
        "image of {width}x{height} pixels does not fit the {remaining_px} pixels left of the decoding budget"
    )]
    Budget {
        /// As the header says.
        width: u32,
        /// As the header says.
        height: u32,
        /// Pixels left before this image.
        remaining_px: u64,
    },
    /// The data is damaged, cut short or contradicts itself.
    #[error("damaged {format} image: {reason}")]
    Damaged {
        /// Format.
        format: Format,
        /// What is wrong.
        reason: String,
    },
}

impl ImageError {
    /// A stable name of the cause.
    pub fn code(&self) -> &'static str {
        match self {
            ImageError::Format { .. } => "image_format",
            ImageError::Unsupported { .. } => "image_unsupported",
            ImageError::Side { .. } => "image_side",
            ImageError::Budget { .. } => "image_budget",
            ImageError::Damaged { .. } => "image_damaged",
        }
    }
}
