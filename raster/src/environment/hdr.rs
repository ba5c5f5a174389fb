//! Radiance `.hdr`: flat, old and new run lengths, every orientation.
//!
//! *Source*: Ward, Real Pixels, Graphics Gems II, 1991; Radiance's `color.c` and `resolu.c`. A component is
//! m * 2^(e - 136), as in stb_image and three.js; EXPOSURE, GAMMA, COLORCORR and PRIMARIES are ignored, as there.

use super::error::{EnvironmentError, EnvironmentLimits};
use super::panorama::Panorama;

/// Bytes that the text before the pixels may have.
const HEADER_LIMIT_BYTES: usize = 64 << 10;

fn damaged(reason: &str) -> EnvironmentError {
    EnvironmentError::Damaged { format: "Radiance", reason: reason.into() }
}

fn unsupported(what: impl Into<String>) -> EnvironmentError {
    EnvironmentError::Unsupported { format: "Radiance", what: what.into() }
}

pub(super) fn decode(bytes: &[u8], limits: &EnvironmentLimits) -> Result<Panorama, EnvironmentError> {
    let mut lines = Lines { rest: bytes, left: HEADER_LIMIT_BYTES };
    loop {
        let line = lines.next()?;
        if let Some(format) = line.strip_prefix("FORMAT=")
            && format.trim() != "32-bit_rle_rgbe"
        {
            return Err(unsupported(format!(
                "pixel format {:.40}; only 32-bit_rle_rgbe is read",
                format.trim()
            )));
        }
        if line.is_empty() {
            break;
        }
    }
    let order = Order::parse(lines.next()?)?;
    let (width, height) = order.size();
    limits.check(width as u64, height as u64)?;
    // A line takes four bytes at least: no memory for pixels that cannot be there.
    if lines.rest.len() < order.lines * 4 {
        return Err(damaged("it is cut short"));
    }
    let mut pixels = vec![[0.0f32; 3]; width * height];
    let mut scanline = vec![[0u8; 4]; order.length];
    let mut data = lines.rest;
    for line in 0..order.lines {
        data = read_scanline(data, &mut scanline)?;
        for (i, rgbe) in scanline.iter().enumerate() {
            pixels[order.index(line, i)] = radiance(*rgbe);
        }
    }
    Ok(Panorama::new(width, height, pixels))
}

/// Lines of the header.
struct Lines<'a> {
    rest: &'a [u8],
    left: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Result<&'a str, EnvironmentError> {
        let window = &self.rest[..self.rest.len().min(self.left)];
        let end =
            window.iter().position(|&b| b == b'\n').ok_or_else(|| damaged("its header does not end"))?;
        self.left -= end + 1;
        let line = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        // What is not text is no line that matters here.
        Ok(std::str::from_utf8(line).unwrap_or("?").trim_end_matches('\r'))
    }
}

/// How pixels follow one another in the file: `-Y height +X width` and its seven turns and mirrors.
struct Order {
    /// Scanlines and pixels in each.
    lines: usize,
    length: usize,
    /// Whether scanlines are columns of the picture.
    columns: bool,
    /// Whether scanlines, and pixels in them, run towards the picture's right or bottom.
    lines_forward: bool,
    pixels_forward: bool,
}

impl Order {
    fn parse(line: &str) -> Result<Order, EnvironmentError> {
        let wrong = || damaged(&format!("its resolution line is `{line:.40}`"));
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [first, lines, second, length] = words[..] else { return Err(wrong()) };
        let forward = |axis: &str| match axis {
            "+X" | "-Y" => Ok(true),
            "-X" | "+Y" => Ok(false),
            _ => Err(wrong()),
        };
        let order = Order {
            lines: lines.parse::<u32>().map_err(|_| wrong())? as usize,
            length: length.parse::<u32>().map_err(|_| wrong())? as usize,
            columns: first.ends_with('X'),
            lines_forward: forward(first)?,
            pixels_forward: forward(second)?,
        };
        if first.as_bytes()[1] == second.as_bytes()[1] {
            return Err(wrong());
        }
        Ok(order)
    }

    fn size(&self) -> (usize, usize) {
        if self.columns { (self.lines, self.length) } else { (self.length, self.lines) }
    }

    fn index(&self, line: usize, i: usize) -> usize {
        let line = if self.lines_forward { line } else { self.lines - 1 - line };
        let i = if self.pixels_forward { i } else { self.length - 1 - i };
        if self.columns { i * self.lines + line } else { line * self.length + i }
    }
}

/// Fills one scanline; gives back what follows it.
fn read_scanline<'a>(data: &'a [u8], out: &mut [[u8; 4]]) -> Result<&'a [u8], EnvironmentError> {
    let cut = || damaged("it is cut short");
    let (start, rest) = data.split_first_chunk::<4>().ok_or_else(cut)?;
    let stated = usize::from(start[2]) << 8 | usize::from(start[3]);
    if (8..0x8000).contains(&out.len()) && start[0] == 2 && start[1] == 2 && start[2] & 0x80 == 0 {
        if stated != out.len() {
            return Err(damaged("a scanline is not as long as the picture is wide"));
        }
        return read_planes(rest, out);
    }
    read_pixels(data, out)
}

/// New run lengths: the four components one after another, each in runs (128 + count, value) and literals.
fn read_planes<'a>(mut data: &'a [u8], out: &mut [[u8; 4]]) -> Result<&'a [u8], EnvironmentError> {
    let cut = || damaged("it is cut short");
    for component in 0..4 {
        let mut at = 0;
        while at < out.len() {
            let (&code, rest) = data.split_first().ok_or_else(cut)?;
            let run = code > 128;
            let count = usize::from(if run { code - 128 } else { code });
            if count == 0 || count > out.len() - at {
                return Err(damaged("a run is empty or leaves its scanline"));
            }
            let (values, rest) = rest.split_at_checked(if run { 1 } else { count }).ok_or_else(cut)?;
            for (i, pixel) in out[at..at + count].iter_mut().enumerate() {
                pixel[component] = values[if run { 0 } else { i }];
            }
            (data, at) = (rest, at + count);
        }
    }
    Ok(data)
}

/// Flat pixels, and old run lengths: (1, 1, 1, n) repeats the pixel before; in a row, each counts 256 times more.
fn read_pixels<'a>(mut data: &'a [u8], out: &mut [[u8; 4]]) -> Result<&'a [u8], EnvironmentError> {
    let mut at = 0;
    let mut shift = 0;
    while at < out.len() {
        let (&pixel, rest) = data.split_first_chunk::<4>().ok_or_else(|| damaged("it is cut short"))?;
        data = rest;
        if pixel[..3] == [1, 1, 1] {
            let count = usize::from(pixel[3]) << shift;
            if at == 0 || shift > 16 || count > out.len() - at {
                return Err(damaged("a run repeats nothing or leaves its scanline"));
            }
            let last = out[at - 1];
            out[at..at + count].fill(last);
            at += count;
            shift += 8;
        } else {
            out[at] = pixel;
            at += 1;
            shift = 0;
        }
    }
    Ok(data)
}

fn radiance([r, g, b, e]: [u8; 4]) -> [f32; 3] {
    // 2^(e - 136) as bits; below e = 10 it is under 2^-126 and the component under 2^-118: nothing.
    if e < 10 {
        return [0.0; 3];
    }
    let scale = f32::from_bits((u32::from(e) - 9) << 23);
    [r, g, b].map(|m| f32::from(m) * scale)
}
