//! EXT_meshopt_compression and KHR_meshopt_compression: buffer views unpacked in safe Rust.
//!
//! *Source*: the extensions' own appendices (bitstream and filters). The KHR form adds version 1 of the attribute
//! stream and the colour filter; the rest is the same.

mod attributes;
mod filter;
mod indices;
mod stream;
#[cfg(test)]
mod tests;
mod triangles;

use super::error::{SceneError, quote};
use super::file::{Buffer, get};
use super::json;
use super::limits::Budget;
use filter::Filter;

/// Why a stream cannot be unpacked.
pub(crate) type Broken = &'static str;

/// Which extension a view is packed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// EXT_meshopt_compression.
    Ext,
    /// KHR_meshopt_compression.
    Khr,
}

/// How a stream is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Attributes,
    Triangles,
    Indices,
}

/// Unpacks a compressed view, after checking that its numbers agree with each other and with `view`.
///
/// *Errors*: numbers that disagree, streams that do not decode, the meshopt budget (before anything is unpacked).
pub(crate) fn unpack(
    what: &str,
    view: &json::BufferView,
    compressed: &json::MeshoptView,
    dialect: Dialect,
    buffers: &[Buffer<'_>],
    budget: &mut Budget<'_>,
) -> Result<Vec<u8>, SceneError> {
    let broken = |reason| SceneError::Meshopt { what: what.into(), reason };
    let (mode, filter) = kind(what, compressed, dialect)?;
    let (stride, count) = (compressed.byte_stride, compressed.count);
    check_stride(mode, filter, stride, count).map_err(broken)?;
    let bytes = stride.saturating_mul(count);
    if bytes != view.byte_length {
        let what = format!("{what} byteLength");
        return Err(SceneError::CountMismatch { what, wanted: bytes, got: view.byte_length });
    }
    budget.meshopt_bytes(what, bytes)?;
    let packed = packed(what, compressed, buffers)?;
    let (stride, count) = (stride as usize, count as usize);
    let mut unpacked = match mode {
        Mode::Attributes => attributes::decode(packed, count, stride, dialect == Dialect::Khr),
        Mode::Triangles => triangles::decode(packed, count).map(|list| index_bytes(&list, stride)),
        Mode::Indices => indices::decode(packed, count).map(|list| index_bytes(&list, stride)),
    }
    .map_err(broken)?;
    filter.apply(&mut unpacked, stride);
    Ok(unpacked)
}

fn kind(what: &str, view: &json::MeshoptView, dialect: Dialect) -> Result<(Mode, Filter), SceneError> {
    let unknown = |name: &str, value: &str, allowed| SceneError::AccessorFormat {
        what: format!("{what} meshopt {name}"),
        got: quote(value),
        allowed,
    };
    let mode = match view.mode.as_str() {
        "ATTRIBUTES" => Mode::Attributes,
        "TRIANGLES" => Mode::Triangles,
        "INDICES" => Mode::Indices,
        other => return Err(unknown("mode", other, "ATTRIBUTES, TRIANGLES or INDICES")),
    };
    let filter = match view.filter.as_deref() {
        None | Some("NONE") => Filter::None,
        Some("OCTAHEDRAL") => Filter::Octahedral,
        Some("QUATERNION") => Filter::Quaternion,
        Some("EXPONENTIAL") => Filter::Exponential,
        Some("COLOR") if dialect == Dialect::Khr => Filter::Color,
        Some(other) => return Err(unknown("filter", other, "NONE, OCTAHEDRAL, QUATERNION or EXPONENTIAL")),
    };
    Ok((mode, filter))
}

fn check_stride(mode: Mode, filter: Filter, stride: u64, count: u64) -> Result<(), Broken> {
    if mode == Mode::Attributes {
        if !stride.is_multiple_of(4) || !(4..=256).contains(&stride) {
            return Err("byteStride must be a multiple of 4 up to 256");
        }
        let fits = match filter {
            Filter::None | Filter::Exponential => true,
            Filter::Octahedral | Filter::Color => matches!(stride, 4 | 8),
            Filter::Quaternion => stride == 8,
        };
        return if fits { Ok(()) } else { Err("byteStride does not fit the filter") };
    }
    if filter != Filter::None {
        return Err("indices cannot be filtered");
    }
    if !matches!(stride, 2 | 4) {
        return Err("byteStride of indices must be 2 or 4");
    }
    if mode == Mode::Triangles && !count.is_multiple_of(3) {
        return Err("count of triangle indices must be a multiple of 3");
    }
    Ok(())
}

fn packed<'b>(
    what: &str,
    view: &json::MeshoptView,
    buffers: &'b [Buffer<'_>],
) -> Result<&'b [u8], SceneError> {
    let buffer = get(buffers, view.buffer, "buffer", || what.into())?;
    let Some(buffer) = buffer.as_deref() else {
        return Err(SceneError::Structure {
            what: what.into(),
            reason: "the buffer of its packed data has none",
        });
    };
    let end = view.byte_offset.saturating_add(view.byte_length);
    if end > buffer.len() as u64 {
        return Err(SceneError::OutOfBounds { what: what.into(), end, available: buffer.len() as u64 });
    }
    Ok(&buffer[view.byte_offset as usize..end as usize])
}

/// Indices of two (wrapping, as the extension says) or four bytes.
fn index_bytes(indices: &[u32], stride: usize) -> Vec<u8> {
    if stride == 4 {
        return indices.iter().flat_map(|index| index.to_le_bytes()).collect();
    }
    indices.iter().flat_map(|&index| (index as u16).to_le_bytes()).collect()
}
