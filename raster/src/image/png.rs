//! PNG: every colour type, bit depth and interlacing; ancillary chunks are skipped, not inflated.

use std::io::Cursor;

use png::{ColorType, Decoder, DecodingError, InterlaceInfo, Limits, Transformations};

use super::Format;
use super::decode::damaged;
use super::limits::ImageError;

/// Bytes the decoder may hold for chunks other than pixels.
const CHUNK_LIMIT_BYTES: usize = 4 << 20;

type Bytes<'a> = Cursor<&'a [u8]>;

fn decoder(bytes: &[u8]) -> Decoder<Bytes<'_>> {
    let mut decoder = Decoder::new_with_limits(Cursor::new(bytes), Limits { bytes: CHUNK_LIMIT_BYTES });
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    decoder.set_transformations(Transformations::EXPAND);
    decoder
}

fn error(source: DecodingError) -> ImageError {
    damaged(Format::Png, source)
}

pub(super) fn probe(bytes: &[u8]) -> Result<(u32, u32), ImageError> {
    let mut decoder = decoder(bytes);
    let info = decoder.read_header_info().map_err(error)?;
    Ok((info.width, info.height))
}

pub(super) fn decode(bytes: &[u8], rgba: &mut [[u8; 4]]) -> Result<(), ImageError> {
    let mut reader = decoder(bytes).read_info().map_err(error)?;
    let width = reader.info().width as usize;
    let (color, depth) = reader.output_color_type();
    let sample_bytes = if depth == png::BitDepth::Sixteen { 2 } else { 1 };
    let mut row_rgba = vec![[0u8; 4]; width];
    let mut next_line = 0;
    while let Some(row) = reader.next_interlaced_row().map_err(error)? {
        let texels = row.data().len() / (color.samples() * sample_bytes);
        let row_rgba = row_rgba.get_mut(..texels).ok_or_else(|| damaged(Format::Png, "a row is too long"))?;
        if sample_bytes == 2 {
            expand_16(color, row.data(), row_rgba);
        } else {
            expand_8(color, row.data(), row_rgba);
        }
        match row.interlace() {
            InterlaceInfo::Null(_) => rgba
                .get_mut(next_line * width..next_line * width + texels)
                .ok_or_else(|| damaged(Format::Png, "it has more rows than its header says"))?
                .copy_from_slice(row_rgba),
            InterlaceInfo::Adam7(pass) => png::expand_interlaced_row(
                bytemuck::cast_slice_mut(rgba),
                width * 4,
                bytemuck::cast_slice(row_rgba),
                pass,
                32,
            ),
        }
        next_line += 1;
    }
    Ok(())
}

fn expand_8(color: ColorType, row: &[u8], rgba: &mut [[u8; 4]]) {
    match color {
        ColorType::Grayscale => rgba.iter_mut().zip(row).for_each(|(p, &v)| *p = [v, v, v, 255]),
        ColorType::GrayscaleAlpha => {
            rgba.iter_mut().zip(row.as_chunks().0).for_each(|(p, &[v, a])| *p = [v, v, v, a]);
        }
        // EXPAND leaves no palette.
        ColorType::Rgb | ColorType::Indexed => {
            rgba.iter_mut().zip(row.as_chunks().0).for_each(|(p, &[r, g, b])| *p = [r, g, b, 255]);
        }
        ColorType::Rgba => rgba.iter_mut().zip(row.as_chunks().0).for_each(|(p, &v)| *p = v),
    }
}

fn expand_16(color: ColorType, row: &[u8], rgba: &mut [[u8; 4]]) {
    let samples = color.samples();
    for (texel, out) in row.chunks_exact(samples * 2).zip(rgba) {
        let sample = |i: usize| nearest_8(u16::from_be_bytes([texel[i * 2], texel[i * 2 + 1]]));
        *out = match samples {
            1 => [sample(0), sample(0), sample(0), 255],
            2 => [sample(0), sample(0), sample(0), sample(1)],
            3 => [sample(0), sample(1), sample(2), 255],
            _ => [sample(0), sample(1), sample(2), sample(3)],
        };
    }
}

/// The 8 bit value nearest to a 16 bit one.
fn nearest_8(v: u16) -> u8 {
    ((u32::from(v) * 255 + 32767) / 65535) as u8
}
