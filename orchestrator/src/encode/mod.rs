//! Frames into files: PNG, EXR, WebP and JPEG, each deterministic, tagged and carrying its receipt.

mod cryptomatte;
mod exr;
mod exr_header;
mod jpeg;
mod pixels;
mod png;
mod samples;
mod srgb;
mod webp;
mod xmp;

use std::fmt;
use std::str::FromStr;

use isoframe_raster::frame::{ColorFormat, Frame, FrameRequest, Output};
use isoframe_raster::scene::Scene;
use isoframe_raster::view::{View, moments};
use serde::{Deserialize, Serialize};

pub use self::pixels::PixelHash;
pub(crate) use self::pixels::Pixels;
use crate::plan::Plan;
use crate::receipt::{RECEIPT_MAX_BYTES, Receipt, ReceiptError};

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
    /// Every output of the request, as layers; EXR only, unless there is only one.
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
    /// The scene, for the camera and the node names in an EXR header; without it, an EXR has no camera, and
    /// ids have no Cryptomatte layers.
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
    /// The receipt is longer than what files hold.
    #[error("the receipt takes {bytes} bytes, the limit is {RECEIPT_MAX_BYTES}")]
    Receipt {
        /// Its length.
        bytes: usize,
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
    let outputs = selection.outputs(plan.request());
    let library = |reason| EncodeError::Library { format, reason };
    let receipt = |outputs, pixels, depth_range| {
        let receipt = Receipt::new(plan, format, outputs, pixels, depth_range, frame.motion_valid);
        let bytes = receipt.to_json().len();
        if bytes > RECEIPT_MAX_BYTES { Err(EncodeError::Receipt { bytes }) } else { Ok(receipt) }
    };
    let (bytes, receipt) = match format {
        Format::ExrHalf | Format::ExrFloat => {
            let layers = exr::Layers::new(frame, &outputs, format, options)?;
            let receipt = receipt(outputs, layers.hash(), None)?;
            let view = options.scene.and_then(|scene| view_of(scene, plan));
            (layers.write(&receipt, view.as_ref()).map_err(library)?, receipt)
        }
        Format::Png8 | Format::Png16 | Format::Webp | Format::Jpeg { .. } => {
            let [output] = outputs[..] else { return Err(EncodeError::Layers { format }) };
            check_side(frame, format)?;
            let image = whole_numbers(frame, output, format)?;
            let receipt = receipt(outputs, pixels::hash_image(&image), image.depth_range)?;
            let json = receipt.to_json();
            let bytes = match format {
                Format::Webp => webp::write(&image, &json),
                Format::Jpeg { quality } => jpeg::write(&image, quality, &json),
                _ => png::write(&image, &json),
            };
            (bytes.map_err(library)?, receipt)
        }
    };
    let pixels = receipt.pixels.clone();
    Ok(Encoded { bytes, pixels, receipt, media_type: format.media_type(), extension: format.extension() })
}

/// The view that a plan looks through; none where its camera is not in the scene.
fn view_of(scene: &Scene, plan: &Plan) -> Option<View> {
    moments(scene, plan.request()).ok().map(|moments| moments.current.1)
}

fn check_side(frame: &Frame, format: Format) -> Result<(), EncodeError> {
    let limit_px = match format {
        Format::Webp => webp::SIDE_MAX_PX,
        Format::Jpeg { .. } => jpeg::SIDE_MAX_PX,
        _ => return Ok(()),
    };
    if frame.width.max(frame.height) > limit_px {
        Err(EncodeError::Size { format, limit_px })
    } else {
        Ok(())
    }
}

/// One output as the samples that this format holds.
fn whole_numbers(frame: &Frame, output: Output, format: Format) -> Result<samples::Image<'_>, EncodeError> {
    let image = samples::image(frame, output, format)?;
    Ok(if matches!(format, Format::Jpeg { .. }) { jpeg::flatten(image) } else { image })
}

/// The receipt of a file, as it stands there.
pub(crate) fn receipt_json(file: &[u8]) -> Result<String, ReceiptError> {
    let text = |json: &[u8]| {
        std::str::from_utf8(json)
            .map(str::to_owned)
            .map_err(|error| ReceiptError::Malformed(error.to_string()))
    };
    let json = if png::is_png(file) {
        png::receipt_json(file).map_err(ReceiptError::Damaged)?.map(text).transpose()?
    } else if exr_header::is_exr(file) {
        exr::receipt_json(file).map_err(ReceiptError::Damaged)?.map(text).transpose()?
    } else if webp::is_webp(file) {
        webp::receipt_json(file).map_err(ReceiptError::Damaged)?
    } else if jpeg::is_jpeg(file) {
        jpeg::receipt_json(file).map_err(ReceiptError::Damaged)?
    } else {
        return Err(ReceiptError::UnknownFormat);
    };
    match json.ok_or(ReceiptError::Missing)? {
        json if json.len() > RECEIPT_MAX_BYTES => {
            Err(ReceiptError::Malformed(format!("it is longer than {RECEIPT_MAX_BYTES} bytes")))
        }
        json => Ok(json),
    }
}

/// The pixels of a file of this format, of the size and output of a request. *Errors*: a file that is damaged or
/// holds something else; JPEG, which does not hold the pixels that went in.
pub(crate) fn pixels_of_file(
    file: &[u8],
    format: Format,
    request: &FrameRequest,
    outputs: &[Output],
) -> Result<Pixels, String> {
    let (width, height) = (request.width, request.height);
    let layout = outputs.first().map(|output| samples::layout(*output, format == Format::Png16));
    match (format, layout) {
        (Format::ExrHalf | Format::ExrFloat, _) => exr::read(file, width, height),
        (Format::Png8 | Format::Png16, Some(layout)) => png::read(file, width, height, layout),
        (Format::Webp, Some(layout)) => webp::read(file, width, height, layout),
        (Format::Jpeg { .. }, _) => Err("JPEG keeps an approximation of its pixels".into()),
        (_, None) => Err("no output".into()),
    }
}

#[cfg(test)]
mod tests;
