//! PNG: 8 and 16 bit; pictures tagged as sRGB by `cICP`, `sRGB`, `gAMA` and `cHRM`; receipt in `iTXt`.

use std::io::Cursor;

use png::chunk::ChunkType;
use png::{BitDepth, ColorType, Transformations};

use super::pixels::{Pixels, Rows};
use super::samples::{Image, Layout};
use crate::receipt::PNG_KEYWORD;

/// Rec.709 primaries, sRGB curve, RGB, full range (ITU-T H.273).
const CICP_SRGB: [u8; 4] = [1, 13, 0, 1];

/// What stands in for the sRGB curve where only `gAMA` is read. *Units*: 1/100000.
const GAMA_SRGB: u32 = 45455;

const SIGNATURE: [u8; 8] = [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n'];

/// What follows a keyword: its end, no compression (two bytes), no language, no translated keyword.
const PLAIN_TEXT: [u8; 5] = [0; 5];

/// Writes an image. *Errors*: what the library says.
pub(super) fn write(image: &Image<'_>, receipt_json: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(image.samples.len() / 2 + 4096);
    write_to(image, receipt_json, &mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

fn write_to(image: &Image<'_>, receipt_json: &str, bytes: &mut Vec<u8>) -> Result<(), png::EncodingError> {
    let mut encoder = png::Encoder::new(bytes, image.width, image.height);
    let (color, depth) = png_layout(image.layout);
    encoder.set_color(color);
    encoder.set_depth(depth);
    // fdeflate: scalar, so the same bytes anywhere; with Paeth, the smallest of what takes the same time.
    encoder.set_compression(png::Compression::Fast);
    encoder.set_filter(png::Filter::Paeth);
    if image.srgb {
        encoder.set_source_srgb(png::SrgbRenderingIntent::RelativeColorimetric);
        encoder.set_source_gamma(png::ScaledFloat::from_scaled(GAMA_SRGB));
        encoder.set_source_chromaticities(png::SourceChromaticities::new(
            (0.3127, 0.329),
            (0.64, 0.33),
            (0.3, 0.6),
            (0.15, 0.06),
        ));
    }
    let mut writer = encoder.write_header()?;
    if image.srgb {
        writer.write_chunk(ChunkType(*b"cICP"), &CICP_SRGB)?;
    }
    let text = [PNG_KEYWORD.as_bytes(), &PLAIN_TEXT, receipt_json.as_bytes()].concat();
    writer.write_chunk(png::chunk::iTXt, &text)?;
    if depth == BitDepth::Sixteen {
        writer.write_image_data(&swapped(&image.samples))?;
    } else {
        writer.write_image_data(&image.samples)?;
    }
    writer.finish()
}

fn png_layout(layout: Layout) -> (ColorType, BitDepth) {
    match layout {
        Layout::Gray8 => (ColorType::Grayscale, BitDepth::Eight),
        Layout::Rgb8 => (ColorType::Rgb, BitDepth::Eight),
        Layout::Rgba8 => (ColorType::Rgba, BitDepth::Eight),
        Layout::Gray16 => (ColorType::Grayscale, BitDepth::Sixteen),
        Layout::Rgb16 => (ColorType::Rgb, BitDepth::Sixteen),
        Layout::Rgba16 => (ColorType::Rgba, BitDepth::Sixteen),
    }
}

/// Between PNG's big-endian samples and little-endian ones.
fn swapped(samples: &[u8]) -> Vec<u8> {
    samples.chunks_exact(2).flat_map(|pair| [pair[1], pair[0]]).collect()
}

/// Whether a file says that it is a PNG file.
pub(super) fn is_png(bytes: &[u8]) -> bool {
    bytes.starts_with(&SIGNATURE)
}

/// The receipt of a file. *Errors*: a chunk that is longer than the file.
pub(super) fn receipt_json(bytes: &[u8]) -> Result<Option<&[u8]>, String> {
    let mut rest = &bytes[SIGNATURE.len()..];
    while let Some((head, body)) = rest.split_first_chunk::<8>() {
        let size = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let data = body.get(..size).ok_or("a chunk is longer than the file")?;
        if head.ends_with(b"iTXt") {
            let text = data.strip_prefix(PNG_KEYWORD.as_bytes());
            if let Some(json) = text.and_then(|text| text.strip_prefix(&PLAIN_TEXT)) {
                return Ok(Some(json));
            }
        }
        // Past the checksum.
        rest = body.get(size + 4..).unwrap_or(&[]);
    }
    Ok(None)
}

/// Reads the samples of a file of this size and layout. *Errors*: a file that is damaged, or another one.
pub(super) fn read(bytes: &[u8], width: u32, height: u32, layout: Layout) -> Result<Pixels, String> {
    let rows = Rows::of_image(width, height, layout);
    let limits = png::Limits { bytes: rows.bytes().saturating_mul(2).max(1 << 20) };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(Transformations::IDENTITY);
    let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
    let info = reader.info();
    if (info.width, info.height) != (width, height) {
        return Err(format!("not {width}x{height} pixels"));
    }
    if (info.color_type, info.bit_depth) != png_layout(layout) {
        return Err("not the channels that the receipt names".into());
    }
    let mut samples = vec![0; rows.bytes()];
    reader.next_frame(&mut samples).map_err(|error| error.to_string())?;
    if layout.bytes_per_sample() == 2 {
        samples = swapped(&samples);
    }
    Ok(Pixels { rows, samples })
}
