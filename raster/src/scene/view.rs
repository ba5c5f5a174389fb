//! Buffer views: ranges of buffers, unpacked where they are compressed.

use std::borrow::Cow;

use super::error::SceneError;
use super::file::{Buffer, get};
use super::json;
use super::limits::Budget;
use super::meshopt::{self, Dialect};

/// Bytes of a buffer view, checked against its buffer.
#[derive(Debug)]
pub(crate) struct View<'a> {
    pub bytes: Cow<'a, [u8]>,
    pub offset: u64,
    pub stride: Option<u64>,
    /// Whether the buffer has no data at all: allowed as long as nobody reads.
    pub placeholder: bool,
}

/// Checks and unpacks all buffer views.
pub(crate) fn views<'a>(
    root: &json::Root,
    buffers: &'a [Buffer<'_>],
    budget: &mut Budget<'_>,
) -> Result<Vec<View<'a>>, SceneError> {
    let all = root.buffer_views.iter().enumerate();
    all.map(|(index, view)| read_view(index, view, root, buffers, budget)).collect()
}

fn read_view<'a>(
    index: usize,
    view: &json::BufferView,
    root: &json::Root,
    buffers: &'a [Buffer<'_>],
    budget: &mut Budget<'_>,
) -> Result<View<'a>, SceneError> {
    let what = || format!("bufferView {index}");
    if view.byte_length == 0 {
        let what = format!("{} byteLength", what());
        return Err(SceneError::ValueOutOfRange { what, value: 0.0, allowed: "at least 1" });
    }
    if let Some(stride) = view.byte_stride {
        check_stride(index, stride, view.byte_length)?;
    }
    let buffer = get(buffers, view.buffer, "buffer", what)?;
    let available = root.buffers[view.buffer as usize].byte_length;
    let end = view.byte_offset.saturating_add(view.byte_length);
    if end > available {
        return Err(SceneError::OutOfBounds { what: what(), end, available });
    }
    let (offset, stride) = (view.byte_offset, view.byte_stride);
    let compressed = match (&view.extensions.meshopt, &view.extensions.khr_meshopt) {
        (Some(_), Some(_)) => {
            let reason = "it is packed with both EXT_ and KHR_meshopt_compression";
            return Err(SceneError::Structure { what: what(), reason });
        }
        (Some(ext), None) => Some((ext, Dialect::Ext)),
        (None, Some(khr)) => Some((khr, Dialect::Khr)),
        (None, None) => None,
    };
    if let Some((compressed, dialect)) = compressed {
        let bytes = meshopt::unpack(&what(), view, compressed, dialect, buffers, budget)?;
        return Ok(View { bytes: Cow::Owned(bytes), offset: 0, stride, placeholder: false });
    }
    Ok(match buffer {
        Some(buffer) => {
            let bytes = Cow::Borrowed(&buffer[offset as usize..end as usize]);
            View { bytes, offset, stride, placeholder: false }
        }
        None => View { bytes: Cow::Borrowed(&[]), offset, stride, placeholder: true },
    })
}

fn check_stride(index: usize, stride: u64, byte_length: u64) -> Result<(), SceneError> {
    let what = format!("bufferView {index} byteStride");
    if !(4..=252).contains(&stride) {
        return Err(SceneError::Stride { what, stride, reason: "it must be 4 to 252" });
    }
    if !stride.is_multiple_of(4) {
        return Err(SceneError::Misaligned { what, offset: stride, alignment: 4 });
    }
    if stride > byte_length {
        return Err(SceneError::Stride { what, stride, reason: "it is longer than the view" });
    }
    Ok(())
}
