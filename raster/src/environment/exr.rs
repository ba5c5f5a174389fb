//! OpenEXR: the first layer with R, G and B (or Y alone), in half, float or uint.
//!
//! DWAA and DWAB are refused: their decoder's arithmetic depends on the CPU's vector unit.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use exr::compression::Compression;
use exr::meta::MetaData;
use exr::meta::header::Header;
use exr::prelude::*;

use super::error::{EnvironmentError, EnvironmentLimits};
use super::panorama::Panorama;

/// Bytes that one pixel may take over all channels: a block of lines is held whole while it is unpacked.
const PIXEL_LIMIT_BYTES: usize = 512;

fn damaged(reason: impl ToString) -> EnvironmentError {
    EnvironmentError::Damaged { format: "OpenEXR", reason: reason.to_string() }
}

fn unsupported(what: impl Into<String>) -> EnvironmentError {
    EnvironmentError::Unsupported { format: "OpenEXR", what: what.into() }
}

pub(super) fn decode(
    bytes: &[u8],
    limits: &EnvironmentLimits,
) -> std::result::Result<Panorama, EnvironmentError> {
    // A panic inside the library becomes an error: what was uploaded must not end a server's thread.
    catch_unwind(AssertUnwindSafe(|| read_layer(bytes, limits)))
        .unwrap_or_else(|_| Err(damaged("the decoder gave up on contradictory data")))
}

fn read_layer(bytes: &[u8], limits: &EnvironmentLimits) -> std::result::Result<Panorama, EnvironmentError> {
    let meta = MetaData::read_from_buffered(Cursor::new(bytes), false).map_err(damaged)?;
    let mut chosen = None;
    for header in &meta.headers {
        check(header, limits)?;
        if chosen.is_none() {
            chosen = channels_of(header).map(|names| (names, header));
        }
    }
    let Some((names, header)) = chosen else {
        return Err(unsupported("no layer has channels R, G and B, or Y without chroma"));
    };
    let size = header.layer_size;
    let reader = exr::prelude::read().no_deep_data().largest_resolution_level().specific_channels();
    let pixels = match names {
        Channels::Rgb([r, g, b]) => {
            reader
                .required(r)
                .required(g)
                .required(b)
                .collect_pixels(
                    |size, _| Grid::new(size),
                    |grid: &mut Grid, at, (r, g, b): (f32, f32, f32)| grid.put(at, [r, g, b]),
                )
                .first_valid_layer()
                .all_attributes()
                .non_parallel()
                .from_buffered(Cursor::new(bytes))
                .map_err(damaged)?
                .layer_data
                .channel_data
                .pixels
        }
        Channels::Grey(y) => {
            reader
                .required(y)
                .collect_pixels(
                    |size, _| Grid::new(size),
                    |grid: &mut Grid, at, (y,): (f32,)| grid.put(at, [y; 3]),
                )
                .first_valid_layer()
                .all_attributes()
                .non_parallel()
                .from_buffered(Cursor::new(bytes))
                .map_err(damaged)?
                .layer_data
                .channel_data
                .pixels
        }
    };
    if pixels.size != size {
        return Err(damaged("its layers contradict each other"));
    }
    Ok(Panorama::new(size.width(), size.height(), pixels.pixels))
}

fn check(header: &Header, limits: &EnvironmentLimits) -> std::result::Result<(), EnvironmentError> {
    limits.check(header.layer_size.width() as u64, header.layer_size.height() as u64)?;
    if header.deep {
        return Err(unsupported("deep data has no single picture"));
    }
    if matches!(header.compression, Compression::DWAA(_) | Compression::DWAB(_)) {
        return Err(unsupported(
            "DWA compression unpacks to other bits on other CPUs; save it as ZIP or PIZ",
        ));
    }
    let pixel_bytes = header.channels.bytes_per_pixel;
    if pixel_bytes > PIXEL_LIMIT_BYTES {
        return Err(unsupported(format!(
            "{pixel_bytes} bytes per pixel; at most {PIXEL_LIMIT_BYTES} are read"
        )));
    }
    Ok(())
}

/// Names of the channels to read.
enum Channels {
    Rgb([Text; 3]),
    Grey(Text),
}

/// R, G and B of the file's own layer, else of the first named one, else Y, unless chroma stands beside it.
fn channels_of(header: &Header) -> Option<Channels> {
    let list = &header.channels.list;
    let has = |name: &str| list.iter().any(|channel| channel.name == *name);
    let prefixes = list.iter().filter_map(|channel| {
        let name = channel.name.to_string();
        name.strip_suffix('R').filter(|prefix| prefix.ends_with('.')).map(str::to_owned)
    });
    for prefix in std::iter::once(String::new()).chain(prefixes) {
        let names = ["R", "G", "B"].map(|c| format!("{prefix}{c}"));
        if names.iter().all(|name| has(name)) {
            return Some(Channels::Rgb(names.map(|name| Text::from(name.as_str()))));
        }
    }
    let chroma = has("RY") || has("BY");
    (has("Y") && !chroma).then(|| Channels::Grey(Text::from("Y")))
}

/// Where decoded pixels go.
struct Grid {
    size: Vec2<usize>,
    pixels: Vec<[f32; 3]>,
}

impl Grid {
    fn new(size: Vec2<usize>) -> Grid {
        Grid { size, pixels: vec![[0.0; 3]; size.area()] }
    }

    fn put(&mut self, at: Vec2<usize>, pixel: [f32; 3]) {
        self.pixels[at.y() * self.size.width() + at.x()] = pixel;
    }
}
