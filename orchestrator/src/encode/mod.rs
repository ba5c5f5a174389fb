//! Frames into files: PNG, EXR, WebP and JPEG, each deterministic, tagged and carrying its receipt.

mod pixels;
mod png;
mod samples;
mod srgb;

use std::fmt;
use std::str::FromStr;

use isoframe_raster::frame::{ColorFormat, Frame, FrameRequest, Output};
use isoframe_raster::scene::Scene;
use serde::{Deserialize, Serialize};

pub use self::pixels::PixelHash;
use crate::plan::Plan;
use crate::receipt::Receipt;

/// Version of the encoders: changes whenever any byte of any file may change for the same frame.
pub const ENCODER: &str = "isoframe-encode-1";

/// A file format, with the precision of its samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// `png`: 8 bit.
    Png8,
    /// `png16`: 16 bit.
    Png16,
    /// `exr`: colour as half, data as float or integer.
    ExrHalf,
    /// `exr32`: everything as float or integer.
    ExrFloat,
    /// `webp`: lossless, 8 bit.
    Webp,
    /// `jpg`: baseline, without alpha.
    Jpeg {
        /// 1 to 100.
        quality: u8,
    },
}

/// Quality of `jpg` without a number.
pub const JPEG_DEFAULT_QUALITY: u8 = 90;

impl Format {
    /// IANA media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Format::Png8 | Format::Png16 => "image/png",
            Format::ExrHalf | Format::ExrFloat => "image/x-exr",
            Format::Webp => "image/webp",
            Format::Jpeg { .. } => "image/jpeg",
        }
    }

    /// File name extension, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Png8 | Format::Png16 => "png",
            Format::ExrHalf | Format::ExrFloat => "exr",
            Format::Webp => "webp",
            Format::Jpeg { .. } => "jpg",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Format::Png8 => f.write_str("png"),
            Format::Png16 => f.write_str("png16"),
            Format::ExrHalf => f.write_str("exr"),
            Format::ExrFloat => f.write_str("exr32"),
            Format::Webp => f.write_str("webp"),
            Format::Jpeg { quality: JPEG_DEFAULT_QUALITY } => f.write_str("jpg"),
            Format::Jpeg { quality } => write!(f, "jpg:{quality}"),
        }
    }
}

/// A format name that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown format; formats are png, png16, exr, exr32, webp, jpg and jpg:1 to jpg:100")]
pub struct FormatError;

impl FromStr for Format {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Format, FormatError> {
        Ok(match text {
            "png" => Format::Png8,
            "png16" => Format::Png16,
            "exr" => Format::ExrHalf,
            "exr32" => Format::ExrFloat,
            "webp" => Format::Webp,
            "jpg" | "jpeg" => Format::Jpeg { quality: JPEG_DEFAULT_QUALITY },
            _ => {
                let quality = text.strip_prefix("jpg:").and_then(|quality| quality.parse().ok());
                match quality {
                    Some(quality @ 1..=100) => Format::Jpeg { quality },
                    _ => return Err(FormatError),
                }
            }
        })
    }
}

/// Which outputs a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// One output.
    One(Output),
    /// Every output of the request, as layers; EXR only.
    Layers,
}

impl Selection {
    /// The outputs, in canonical order.
    pub fn outputs(self, request: &FrameRequest) -> Vec<Output> {
        match self {
            Selection::One(output) => vec![output],
            Selection::Layers => request.outputs.clone(),
        }
    }
}

/// A file.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoded {
    /// The file.
    pub bytes: Vec<u8>,
    /// Hash of its pixels alone.
    pub pixels: PixelHash,
    /// The receipt that it carries.
    pub receipt: Receipt,
    /// IANA media type.
    pub media_type: &'static str,
    /// File name extension, without the dot.
    pub extension: &'static str,
}

/// What encoders may know beside the frame.
#[derive(Debug, Clone, Copy, Default)]
pub struct EncodeOptions<'a> {
    /// The scene, for node names in Cryptomatte manifests; without it, an EXR with ids has no Cryptomatte layers.
    pub scene: Option<&'a Scene>,
}

/// Why a frame cannot be this file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The frame does not hold the output.
    #[error("output `{output}` was not rendered")]
    Missing {
        /// The output.
        output: Output,
    },
    /// The frame's colour is not in [`color_format`] of this format.
    #[error("{format} needs colour rendered as {needed:?}")]
    ColorFormat {
        /// The format.
        format: Format,
        /// What it needs.
        needed: ColorFormat,
    },
    /// The frame's buffer does not have `width * height` pixels.
    #[error("output `{output}` has {got} pixels, the frame has {wanted}")]
    Shape {
        /// The output.
        output: Output,
        /// Pixels of the frame.
        wanted: usize,
        /// Pixels of the buffer.
        got: usize,
    },
    /// The format holds one output.
    #[error("{format} holds one output; ask for one, or for exr")]
    Layers {
        /// The format.
        format: Format,
    },
    /// The format has no room for these values.
    #[error("output `{output}` does not fit {format}: {reason}; exr holds it as it is")]
    Range {
        /// The output.
        output: Output,
        /// The format.
        format: Format,
        /// What does not fit.
        reason: String,
    },
    /// The format has no room for this size.
    #[error("{format} holds at most {limit_px} pixels a side")]
    Size {
        /// The format.
        format: Format,
        /// Longest side. *Units*: pixels.
        limit_px: u32,
    },
    /// The library that writes the format refused.
    #[error("{format}: {reason}")]
    Library {
        /// The format.
        format: Format,
        /// What it said.
        reason: String,
    },
}

/// How `color` has to be rendered for this format.
pub fn color_format(format: Format) -> ColorFormat {
    match format {
        Format::Png8 | Format::Webp | Format::Jpeg { .. } => ColorFormat::Srgb8,
        Format::Png16 | Format::ExrHalf | Format::ExrFloat => ColorFormat::Linear,
    }
}

/// Writes a frame as a file. The same frame, plan, format and selection give the same bytes anywhere.
pub fn encode(
    frame: &Frame,
    plan: &Plan,
    format: Format,
    selection: Selection,
    options: &EncodeOptions<'_>,
) -> Result<Encoded, EncodeError> {
    let _ = options;
    let (Selection::One(output), Format::Png8 | Format::Png16) = (selection, format) else {
        return Err(EncodeError::Layers { format });
    };
    let image = samples::image(frame, output, format)?;
    let pixels = pixels::of_image(&image);
    let receipt =
        Receipt::new(plan, format, vec![output], pixels.clone(), image.depth_range, frame.motion_valid);
    let bytes = png::write(&image, &receipt).map_err(|reason| EncodeError::Library { format, reason })?;
    Ok(Encoded { bytes, pixels, receipt, media_type: format.media_type(), extension: format.extension() })
}
