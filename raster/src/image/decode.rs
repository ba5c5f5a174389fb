//! From file bytes to RGBA8: format by magic, size from the header, budget, then pixels.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::limits::{ImageError, PixelBudget};
use super::{jpeg, png, webp};
use crate::scene::Image;

/// A format that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Format {
    Png,
    Jpeg,
    WebP,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Png => "PNG",
            Format::Jpeg => "JPEG",
            Format::WebP => "WebP",
        })
    }
}

impl Format {
    /// The format that the first bytes announce, whatever a MIME type says.
    pub fn of(bytes: &[u8]) -> Option<Format> {
        if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
            Some(Format::Png)
        } else if bytes.starts_with(&[0xff, 0xd8, 0xff]) {
            Some(Format::Jpeg)
        } else if bytes.len() >= 12 && bytes.starts_with(b"RIFF") && &bytes[8..12] == b"WEBP" {
            Some(Format::WebP)
        } else {
            None
        }
    }
}

/// Width and height from the header, without decoding.
///
/// *Errors*: [`ImageError::Format`], [`ImageError::Unsupported`], [`ImageError::Damaged`].
pub fn probe(bytes: &[u8]) -> Result<(u32, u32), ImageError> {
    probe_as(format_of(bytes, None)?, bytes)
}

/// Decodes an image to RGBA8, straight alpha, rows from the top; the name is left empty.
///
/// *Conversions*: grey becomes r = g = b; palettes and tRNS are expanded; 1, 2 and 4 bit scale by 255 / (2^n - 1);
/// 16 bit becomes (v * 255 + 32767) / 65535, the nearest 8 bit value; missing alpha is 255. CMYK JPEG is refused:
/// its colours need the ICC profile that glTF says to ignore.
///
/// The size is taken from `budget` before any pixel is decoded; a refused image leaves the budget untouched only
/// when the size was what refused it.
///
/// *Errors*: all of [`ImageError`]. `mime` only helps their words.
pub fn decode(bytes: &[u8], mime: Option<&str>, budget: &mut PixelBudget) -> Result<Image, ImageError> {
    let format = format_of(bytes, mime)?;
    let (width, height) = probe_as(format, bytes)?;
    budget.take(width, height)?;
    let mut rgba = vec![[0u8; 4]; width as usize * height as usize];
    contained(format, || match format {
        Format::Png => png::decode(bytes, &mut rgba),
        Format::Jpeg => jpeg::decode(bytes, (width, height), &mut rgba),
        Format::WebP => webp::decode(bytes, (width, height), &mut rgba),
    })?;
    Ok(Image { name: String::new(), width, height, rgba })
}

fn format_of(bytes: &[u8], mime: Option<&str>) -> Result<Format, ImageError> {
    Format::of(bytes).ok_or_else(|| ImageError::Format {
        declared: mime.unwrap_or("nothing").chars().take(80).collect(),
        magic: bytes[..bytes.len().min(8)].to_vec(),
    })
}

fn probe_as(format: Format, bytes: &[u8]) -> Result<(u32, u32), ImageError> {
    let (width, height) = contained(format, || match format {
        Format::Png => png::probe(bytes),
        Format::Jpeg => jpeg::probe(bytes),
        Format::WebP => webp::probe(bytes),
    })?;
    if width == 0 || height == 0 {
        return Err(damaged(format, "its width or height is zero"));
    }
    Ok((width, height))
}

/// Runs a decoder so that a panic inside a library becomes an error: what was uploaded must not end a server's thread.
fn contained<T>(format: Format, run: impl FnOnce() -> Result<T, ImageError>) -> Result<T, ImageError> {
    catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|_| Err(damaged(format, "the decoder gave up on contradictory data")))
}

pub(super) fn damaged(format: Format, reason: impl fmt::Display) -> ImageError {
    ImageError::Damaged { format, reason: reason.to_string() }
}
