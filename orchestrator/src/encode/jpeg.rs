//! JPEG: baseline, integer transform, without alpha; EXIF says sRGB, receipt in XMP.
//!
//! Where alpha is below 255, the picture lies over white, blended in sRGB codes as browsers do:
//! `(c a + 255 (255 - a) + 127) / 255` in whole numbers.

use std::borrow::Cow;

use image::codecs::jpeg::JpegEncoder;
use image::{ExtendedColorType, ImageEncoder};

use super::samples::{Image, Layout};
use super::xmp;

/// Longest side. *Units*: pixels.
pub(super) const SIDE_MAX_PX: u32 = 65535;

/// Name space of XMP in APP1.
const XMP_HEADER: &[u8] = b"http://ns.adobe.com/xap/1.0/\0";

/// Longest content of a segment. *Units*: bytes.
const SEGMENT_MAX_BYTES: usize = 65533;

const START_OF_IMAGE: [u8; 2] = [0xff, 0xd8];
const APP0: u8 = 0xe0;
const APP1: u8 = 0xe1;
const START_OF_SCAN: u8 = 0xda;

/// TIFF, little-endian: one directory that points to an EXIF directory that says `ColorSpace = 1`, sRGB.
const EXIF_SRGB: [u8; 44] = [
    b'I', b'I', 42, 0, 8, 0, 0, 0, // the first directory is at 8
    1, 0, 0x69, 0x87, 4, 0, 1, 0, 0, 0, 26, 0, 0, 0, 0, 0, 0, 0, // EXIF directory at 26, no next
    1, 0, 0x01, 0xa0, 3, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, // ColorSpace: sRGB, no next
];

/// An image without alpha.
pub(super) fn flatten<'a>(image: Image<'a>) -> Image<'a> {
    if image.layout != Layout::Rgba8 {
        return image;
    }
    let over_white = |color: u8, alpha: u8| {
        let (color, alpha) = (u32::from(color), u32::from(alpha));
        ((color * alpha + 255 * (255 - alpha) + 127) / 255) as u8
    };
    let samples = image.samples.chunks_exact(4).flat_map(|pixel| {
        let [red, green, blue, alpha] = [pixel[0], pixel[1], pixel[2], pixel[3]];
        [over_white(red, alpha), over_white(green, alpha), over_white(blue, alpha)]
    });
    Image { layout: Layout::Rgb8, samples: Cow::Owned(samples.collect()), ..image }
}

/// Writes an 8-bit image without alpha. *Errors*: what the library says, or a receipt beyond one segment.
pub(super) fn write(image: &Image<'_>, quality: u8, receipt_json: &str) -> Result<Vec<u8>, String> {
    let color = match image.layout {
        Layout::Gray8 => ExtendedColorType::L8,
        Layout::Rgb8 => ExtendedColorType::Rgb8,
        _ => return Err("samples have alpha or 16 bits".into()),
    };
    let segment = [XMP_HEADER, &xmp::packet(receipt_json)].concat();
    if segment.len() > SEGMENT_MAX_BYTES {
        return Err(format!("the receipt takes {} bytes, a segment {SEGMENT_MAX_BYTES}", segment.len()));
    }
    let mut bytes = Vec::new();
    let mut encoder = JpegEncoder::new_with_quality(&mut bytes, quality);
    if image.srgb {
        encoder.set_exif_metadata(EXIF_SRGB.to_vec()).map_err(|error| error.to_string())?;
    }
    encoder
        .write_image(&image.samples, image.width, image.height, color)
        .map_err(|error| error.to_string())?;
    let at = after_applications(&bytes)?;
    let length = (segment.len() as u16 + 2).to_be_bytes();
    let marker = [0xff, APP1, length[0], length[1]];
    bytes.splice(at..at, marker.into_iter().chain(segment));
    Ok(bytes)
}

/// Whether a file says that it is a JPEG file.
pub(super) fn is_jpeg(bytes: &[u8]) -> bool {
    bytes.starts_with(&START_OF_IMAGE)
}

/// The receipt of a file. *Errors*: a segment that is longer than the file.
pub(super) fn receipt_json(bytes: &[u8]) -> Result<Option<String>, String> {
    for segment in (Segments { bytes, at: START_OF_IMAGE.len() }) {
        let (marker, _, content) = segment?;
        let packet = content.strip_prefix(XMP_HEADER).filter(|_| marker == APP1);
        if let Some(json) = packet.and_then(xmp::json) {
            return Ok(Some(json));
        }
    }
    Ok(None)
}

/// Where the JFIF and EXIF segments end.
fn after_applications(bytes: &[u8]) -> Result<usize, String> {
    let mut end = START_OF_IMAGE.len();
    for segment in (Segments { bytes, at: end }) {
        let (marker, next, _) = segment?;
        if ![APP0, APP1].contains(&marker) {
            break;
        }
        end = next;
    }
    Ok(end)
}

/// Segments up to the scan: marker, where the next one starts, content.
struct Segments<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Segments<'a> {
    type Item = Result<(u8, usize, &'a [u8]), String>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.bytes.get(self.at..)?;
        let (&[escape, marker, high, low], body) = rest.split_first_chunk::<4>()?;
        if escape != 0xff || marker == START_OF_SCAN {
            return None;
        }
        let length = usize::from(u16::from_be_bytes([high, low]));
        let Some(content) = length.checked_sub(2).and_then(|length| body.get(..length)) else {
            self.at = self.bytes.len();
            return Some(Err("a segment is longer than the file".into()));
        };
        self.at += 2 + length;
        Some(Ok((marker, self.at, content)))
    }
}
