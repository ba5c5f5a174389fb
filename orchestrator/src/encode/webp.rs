//! WebP: lossless, 8 bit; receipt in XMP. Without a profile, WebP is sRGB by its specification.

use std::io::Cursor;

use image_webp::{ColorType, WebPDecoder, WebPEncoder};

use super::pixels::{Pixels, Rows};
use super::samples::{Image, Layout};
use super::xmp;

/// Longest side. *Units*: pixels.
pub(super) const SIDE_MAX_PX: u32 = 16384;

/// Writes an 8-bit image. *Errors*: what the library says.
pub(super) fn write(image: &Image<'_>, receipt_json: &str) -> Result<Vec<u8>, String> {
    let color = match image.layout {
        Layout::Gray8 => ColorType::L8,
        Layout::Rgb8 => ColorType::Rgb8,
        Layout::Rgba8 => ColorType::Rgba8,
        Layout::Gray16 | Layout::Rgb16 | Layout::Rgba16 => return Err("samples have 16 bits".into()),
    };
    let mut bytes = Vec::new();
    let mut encoder = WebPEncoder::new(&mut bytes);
    encoder.set_xmp_metadata(xmp::packet(receipt_json));
    encoder.encode(&image.samples, image.width, image.height, color).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// Whether a file says that it is a WebP file.
pub(super) fn is_webp(bytes: &[u8]) -> bool {
    bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP")
}

/// The receipt of a file. *Errors*: a chunk that is longer than the file.
pub(super) fn receipt_json(bytes: &[u8]) -> Result<Option<String>, String> {
    let mut rest = &bytes[12..];
    while let Some((head, body)) = rest.split_first_chunk::<8>() {
        let size = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        let data = body.get(..size).ok_or("a chunk is longer than the file")?;
        let packet = Some(data).filter(|_| head.starts_with(b"XMP "));
        if let Some(json) = packet.and_then(xmp::json) {
            return Ok(Some(json));
        }
        rest = body.get(size + size % 2..).unwrap_or(&[]);
    }
    Ok(None)
}

/// Reads the samples of a file of this size and layout. *Errors*: a file that is damaged, or another one.
pub(super) fn read(bytes: &[u8], width: u32, height: u32, layout: Layout) -> Result<Pixels, String> {
    let mut decoder = WebPDecoder::new(Cursor::new(bytes)).map_err(|error| error.to_string())?;
    if decoder.dimensions() != (width, height) || decoder.is_animated() {
        return Err(format!("not one picture of {width}x{height} pixels"));
    }
    let rows = Rows::of_image(width, height, layout);
    decoder.set_memory_limit(rows.bytes().saturating_mul(4).max(1 << 20));
    let decoded_bytes = decoder.output_buffer_size().ok_or("too large")?;
    let mut decoded = vec![0; decoded_bytes];
    decoder.read_image(&mut decoded).map_err(|error| error.to_string())?;
    // WebP has colours only, so grey comes back as RGB.
    let samples = match (layout, decoder.has_alpha()) {
        (Layout::Gray8, false) if decoded.chunks(3).all(|rgb| rgb[0] == rgb[1] && rgb[1] == rgb[2]) => {
            decoded.chunks(3).map(|rgb| rgb[0]).collect()
        }
        (Layout::Rgb8, false) | (Layout::Rgba8, true) => decoded,
        _ => return Err("not the channels that the receipt names".into()),
    };
    Ok(Pixels { rows, samples })
}
