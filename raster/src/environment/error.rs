//! What an environment file may cost, and how one is refused.

/// Limits on environment files, checked from the header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvironmentLimits {
    /// Largest width or height. *Units*: pixels. *Default*: 8192.
    pub max_side_px: u32,
    /// Most pixels; decoding holds 12 bytes for each. *Units*: pixels. *Default*: 2^25 (8192 x 4096, 384 MiB).
    pub max_px: u64,
}

impl Default for EnvironmentLimits {
    fn default() -> Self {
        EnvironmentLimits { max_side_px: 8192, max_px: 1 << 25 }
    }
}

impl EnvironmentLimits {
    /// Whether a picture of this size may be decoded as an equirectangular one.
    pub(super) fn check(&self, width: u64, height: u64) -> Result<(), EnvironmentError> {
        if width == 0 || height == 0 || width != height.saturating_mul(2) {
            return Err(EnvironmentError::Shape { width, height });
        }
        if width > u64::from(self.max_side_px) {
            return Err(EnvironmentError::Size {
                width,
                height,
                what: "pixels per side",
                limit: self.max_side_px.into(),
            });
        }
        if width * height > self.max_px {
            return Err(EnvironmentError::Size { width, height, what: "pixels", limit: self.max_px });
        }
        Ok(())
    }
}

/// Why an environment was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvironmentError {
    /// The first bytes are those of no format read here.
    #[error("not a Radiance .hdr or OpenEXR file (first bytes {magic:02x?})")]
    Format {
        /// The first bytes, at most eight.
        magic: Vec<u8>,
    },
    /// A variety of the format that is not read.
    #[error("{format} environment: {what}")]
    Unsupported {
        /// `Radiance` or `OpenEXR`.
        format: &'static str,
        /// The variety, and what to do about it.
        what: String,
    },
    /// Not twice as wide as high.
    #[error("an equirectangular picture is twice as wide as high; this one has {width}x{height} pixels")]
    Shape {
        /// *Units*: pixels.
        width: u64,
        /// *Units*: pixels.
        height: u64,
    },
    /// Above a limit.
    #[error("environment of {width}x{height} pixels is above the limit of {limit} {what}")]
    Size {
        /// *Units*: pixels.
        width: u64,
        /// *Units*: pixels.
        height: u64,
        /// What the limit counts.
        what: &'static str,
        /// The limit.
        limit: u64,
    },
    /// The data is damaged, cut short or contradicts itself.
    #[error("damaged {format} environment: {reason}")]
    Damaged {
        /// `Radiance` or `OpenEXR`.
        format: &'static str,
        /// What is wrong.
        reason: String,
    },
}

impl EnvironmentError {
    /// A stable name of the cause.
    pub fn code(&self) -> &'static str {
        match self {
            EnvironmentError::Format { .. } => "environment_format",
            EnvironmentError::Unsupported { .. } => "environment_unsupported",
            EnvironmentError::Shape { .. } => "environment_shape",
            EnvironmentError::Size { .. } => "environment_size",
            EnvironmentError::Damaged { .. } => "environment_damaged",
        }
    }
}
