//! JPEG: baseline and progressive, grey, YCbCr and RGB.
//!
//! The decoder has portable, AVX2 and NEON code. All three do the same wrapping 32-bit integer steps with the same
//! shifts (the inverse transform), the same 16-bit triangle filter (chroma) and the same 14-bit fixed-point colour
//! matrix, so their results are equal; `tests/image_decode.rs` holds each machine to hashes made by the portable code.

use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;
use zune_jpeg::errors::DecodeErrors;

use super::Format;
use super::decode::damaged;
use super::limits::ImageError;

/// Scans a progressive image may have; each costs a walk over the whole image.
const MAX_SCANS: usize = 64;

type Decoder<'a> = JpegDecoder<ZCursor<&'a [u8]>>;

fn error(source: DecodeErrors) -> ImageError {
    damaged(Format::Jpeg, source)
}

/// Reads the headers, tolerating what is merely odd in them.
///
/// RGBA is asked for here because the decoder chooses its colour conversion while it reads the headers: a layout
/// asked for later would get the strides of one and the bytes of the other.
fn with_headers(bytes: &[u8]) -> Result<Decoder<'_>, ImageError> {
    let options = DecoderOptions::default()
        .set_strict_mode(false)
        .jpeg_set_out_colorspace(ColorSpace::RGBA)
        .set_max_width(usize::from(u16::MAX))
        .set_max_height(usize::from(u16::MAX));
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(error)?;
    Ok(decoder)
}

pub(super) fn probe(bytes: &[u8]) -> Result<(u32, u32), ImageError> {
    size(&with_headers(bytes)?)
}

fn size(decoder: &Decoder<'_>) -> Result<(u32, u32), ImageError> {
    let (width, height) =
        decoder.dimensions().ok_or_else(|| damaged(Format::Jpeg, "it has no frame header"))?;
    Ok((width as u32, height as u32))
}

pub(super) fn decode(bytes: &[u8], expected: (u32, u32), rgba: &mut [[u8; 4]]) -> Result<(), ImageError> {
    let mut decoder = with_headers(bytes)?;
    if size(&decoder)? != expected {
        return Err(damaged(Format::Jpeg, "its headers contradict each other"));
    }
    let converted = match decoder.input_colorspace() {
        Some(ColorSpace::YCbCr | ColorSpace::Luma) => true,
        Some(ColorSpace::RGB) => false,
        Some(ColorSpace::CMYK | ColorSpace::YCCK) => {
            return Err(ImageError::Unsupported {
                format: Format::Jpeg,
                what: "CMYK has no defined colours without its ICC profile; convert it to RGB",
            });
        }
        _ => {
            return Err(ImageError::Unsupported {
                format: Format::Jpeg,
                what: "only grey, YCbCr and RGB are read",
            });
        }
    };
    if !has_end_marker(bytes) {
        return Err(damaged(Format::Jpeg, "it is cut short"));
    }
    // From here on the decoder is strict: it would otherwise paint what is missing grey and call it done.
    let options = (*decoder.options()).set_strict_mode(true).jpeg_set_max_scans(MAX_SCANS);
    if converted {
        decoder.set_options(options);
        return decoder.decode_into(bytemuck::cast_slice_mut(rgba)).map_err(error);
    }
    // RGB is stored as it is, without a conversion that could be the wrong one.
    decoder.set_options(options.jpeg_set_out_colorspace(ColorSpace::RGB));
    let mut rgb = vec![0u8; rgba.len() * 3];
    decoder.decode_into(&mut rgb).map_err(error)?;
    for (out, &[r, g, b]) in rgba.iter_mut().zip(rgb.as_chunks().0) {
        *out = [r, g, b, 255];
    }
    Ok(())
}

/// Whether an end-of-image marker follows the first scan. Inside a scan 0xff is always escaped, so that the pair
/// means nothing else there; before it, a thumbnail may hold one. The decoder takes a last row cut short for whole.
fn has_end_marker(bytes: &[u8]) -> bool {
    const START_OF_SCAN: u8 = 0xda;
    let mut rest = bytes.get(2..).unwrap_or_default();
    while let [prefix, marker, after @ ..] = rest {
        if *prefix != 0xff || *marker == 0xff {
            // Fill bytes, or junk between segments.
            rest = &rest[1..];
            continue;
        }
        let Some(length) = after.first_chunk::<2>() else { return false };
        let Some(next) = after.get(usize::from(u16::from_be_bytes(*length))..) else { return false };
        if *marker == START_OF_SCAN {
            return next.windows(2).any(|pair| pair == [0xff, 0xd9]);
        }
        rest = next;
    }
    false
}
