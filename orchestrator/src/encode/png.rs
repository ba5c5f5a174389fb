//! PNG: 8 and 16 bit, tagged as sRGB three ways, receipt in `iTXt`.

use super::samples::{Image, Layout};
use crate::receipt::{PNG_KEYWORD, Receipt};

/// Rec.709 primaries, sRGB curve, RGB, full range (ITU-T H.273).
const CICP_SRGB: [u8; 4] = [1, 13, 0, 1];

/// Writes an image. *Errors*: what the library says.
pub(super) fn write(image: &Image<'_>, receipt: &Receipt) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(image.samples.len() / 2 + 4096);
    write_to(image, receipt, &mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

fn write_to(image: &Image<'_>, receipt: &Receipt, bytes: &mut Vec<u8>) -> Result<(), png::EncodingError> {
    let mut encoder = png::Encoder::new(bytes, image.width, image.height);
    let (color, depth) = match image.layout {
        Layout::Gray8 => (png::ColorType::Grayscale, png::BitDepth::Eight),
        Layout::Rgb8 => (png::ColorType::Rgb, png::BitDepth::Eight),
        Layout::Rgba8 => (png::ColorType::Rgba, png::BitDepth::Eight),
        Layout::Gray16 => (png::ColorType::Grayscale, png::BitDepth::Sixteen),
        Layout::Rgb16 => (png::ColorType::Rgb, png::BitDepth::Sixteen),
        Layout::Rgba16 => (png::ColorType::Rgba, png::BitDepth::Sixteen),
    };
    encoder.set_color(color);
    encoder.set_depth(depth);
    encoder.set_compression(png::Compression::Fast);
    encoder.set_filter(png::Filter::Up);
    if image.srgb {
        encoder.set_source_srgb(png::SrgbRenderingIntent::RelativeColorimetric);
    }
    let mut writer = encoder.write_header()?;
    if image.srgb {
        writer.write_chunk(png::chunk::ChunkType(*b"cICP"), &CICP_SRGB)?;
    }
    writer.write_chunk(png::chunk::iTXt, &text(receipt))?;
    if image.layout.bytes_per_sample() == 2 {
        let mut big_endian = image.samples.to_vec();
        big_endian.chunks_exact_mut(2).for_each(<[u8]>::reverse);
        writer.write_image_data(&big_endian)?;
    } else {
        writer.write_image_data(&image.samples)?;
    }
    writer.finish()
}

/// Keyword, no compression, no language, no translation, UTF-8.
fn text(receipt: &Receipt) -> Vec<u8> {
    let mut data = PNG_KEYWORD.as_bytes().to_vec();
    data.extend_from_slice(&[0; 5]);
    data.extend_from_slice(receipt.to_json().as_bytes());
    data
}
