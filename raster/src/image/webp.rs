//! WebP: lossy and lossless stills, with and without alpha. The decoder is integer code throughout.

use std::io::Cursor;

use image_webp::{DecodingError, WebPDecoder};

use super::Format;
use super::decode::damaged;
use super::limits::ImageError;

/// Bytes the decoder may hold for chunks other than pixels.
const CHUNK_LIMIT_BYTES: usize = 4 << 20;

fn error(source: DecodingError) -> ImageError {
    damaged(Format::WebP, source)
}

/// The size that the pixel data itself states; an extended file must say the same for its canvas, because the
/// decoder allocates by the one and the caller budgets by the other.
pub(super) fn probe(bytes: &[u8]) -> Result<(u32, u32), ImageError> {
    let mut canvas = None;
    for (fourcc, data) in chunks(bytes.get(12..).unwrap_or_default()) {
        let size = match fourcc {
            b"VP8X" => {
                canvas = Some(extended_size(data)?);
                continue;
            }
            b"VP8 " => lossy_size(data)?,
            b"VP8L" => lossless_size(data)?,
            b"ANMF" => {
                return Err(ImageError::Unsupported { format: Format::WebP, what: "it is animated" });
            }
            _ => continue,
        };
        if canvas.is_some_and(|canvas| canvas != size) {
            return Err(damaged(Format::WebP, "its canvas and its pixels differ in size"));
        }
        return Ok(size);
    }
    Err(damaged(Format::WebP, "it has no pixels"))
}

/// Chunks of a RIFF body: four-character code and data, cut where the file ends.
fn chunks(mut rest: &[u8]) -> impl Iterator<Item = (&[u8; 4], &[u8])> {
    std::iter::from_fn(move || {
        let (fourcc, after) = rest.split_first_chunk::<4>()?;
        let (length, after) = after.split_first_chunk::<4>()?;
        let length = u32::from_le_bytes(*length) as usize;
        let data = &after[..length.min(after.len())];
        rest = after.get(length.saturating_add(length & 1)..).unwrap_or_default();
        Some((fourcc, data))
    })
}

fn short() -> ImageError {
    damaged(Format::WebP, "a header is cut short")
}

fn extended_size(data: &[u8]) -> Result<(u32, u32), ImageError> {
    const ANIMATION: u8 = 1 << 1;
    let header = data.first_chunk::<10>().ok_or_else(short)?;
    if header[0] & ANIMATION != 0 {
        return Err(ImageError::Unsupported { format: Format::WebP, what: "it is animated" });
    }
    let side = |i: usize| u32::from_le_bytes([header[i], header[i + 1], header[i + 2], 0]) + 1;
    Ok((side(4), side(7)))
}

fn lossy_size(data: &[u8]) -> Result<(u32, u32), ImageError> {
    let header = data.first_chunk::<10>().ok_or_else(short)?;
    let side = |i: usize| u32::from(u16::from_le_bytes([header[i], header[i + 1]]) & 0x3fff);
    Ok((side(6), side(8)))
}

fn lossless_size(data: &[u8]) -> Result<(u32, u32), ImageError> {
    let header = data.first_chunk::<5>().ok_or_else(short)?;
    let bits = u32::from_le_bytes([header[1], header[2], header[3], header[4]]);
    Ok(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
}

pub(super) fn decode(bytes: &[u8], expected: (u32, u32), rgba: &mut [[u8; 4]]) -> Result<(), ImageError> {
    let mut decoder = WebPDecoder::new(Cursor::new(bytes)).map_err(error)?;
    decoder.set_memory_limit(CHUNK_LIMIT_BYTES);
    if decoder.dimensions() != expected {
        return Err(damaged(Format::WebP, "its canvas and its pixels differ in size"));
    }
    if decoder.has_alpha() {
        return decoder.read_image(bytemuck::cast_slice_mut(rgba)).map_err(error);
    }
    let mut rgb = vec![0u8; rgba.len() * 3];
    decoder.read_image(&mut rgb).map_err(error)?;
    for (out, &[r, g, b]) in rgba.iter_mut().zip(rgb.as_chunks().0) {
        *out = [r, g, b, 255];
    }
    Ok(())
}
