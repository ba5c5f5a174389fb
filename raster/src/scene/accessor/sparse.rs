//! Sparse accessors: some elements replaced.

use super::layout::{Component, slice};
use crate::scene::error::SceneError;
use crate::scene::file::get;
use crate::scene::json;
use crate::scene::view::View;

/// Elements that replace those of the base.
#[derive(Debug)]
pub(crate) struct Sparse<'a> {
    /// Strictly increasing, below the accessor's count.
    pub indices: Vec<u32>,
    /// As many elements, tightly packed.
    pub values: &'a [u8],
    /// Bytes of one element.
    pub element: usize,
}

/// Checks the sparse part of an accessor and reads its indices.
pub(super) fn sparse<'a>(
    what: &str,
    part: &json::Sparse,
    count: u64,
    component: Component,
    element: u64,
    views: &'a [View<'_>],
) -> Result<Sparse<'a>, SceneError> {
    let what = format!("{what} sparse");
    if part.count == 0 || part.count > count {
        return Err(SceneError::ValueOutOfRange {
            what: format!("{what} count"),
            value: part.count as f64,
            allowed: "1 to the accessor's count",
        });
    }
    let index_component = Component::from_gltf(part.indices.component_type)
        .filter(|c| matches!(c, Component::U8 | Component::U16 | Component::U32))
        .ok_or_else(|| SceneError::ValueOutOfRange {
            what: format!("{what} indices componentType"),
            value: f64::from(part.indices.component_type),
            allowed: "5121, 5123 or 5125",
        })?;
    let view = |index, name: &str| {
        let what = format!("{what} {name}");
        let view = get(views, index, "bufferView", || what.clone())?;
        match view.stride {
            Some(stride) => {
                Err(SceneError::Stride { what, stride, reason: "sparse data must not be strided" })
            }
            None => Ok(view),
        }
    };
    let size = index_component.bytes();
    let (index_view, value_view) =
        (view(part.indices.buffer_view, "indices")?, view(part.values.buffer_view, "values")?);
    let index_bytes = slice(&what, index_view, part.indices.byte_offset, size, size, part.count, size)?;
    let values =
        slice(&what, value_view, part.values.byte_offset, element, element, part.count, component.bytes())?;
    let indices: Vec<u32> = index_bytes.chunks_exact(size as usize).map(little_endian).collect();
    for (at, &value) in indices.iter().enumerate() {
        let wrong = |reason| SceneError::Sparse { what: what.clone(), at: at as u64, value, reason };
        if u64::from(value) >= count {
            return Err(wrong("it is not below the accessor's count"));
        }
        if at > 0 && indices[at - 1] >= value {
            return Err(wrong("indices must increase"));
        }
    }
    Ok(Sparse { indices, values, element: element as usize })
}

/// An unsigned integer of one to four bytes.
pub(super) fn little_endian(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte))
}
