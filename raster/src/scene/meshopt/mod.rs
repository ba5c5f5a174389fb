//! EXT_meshopt_compression.

use super::error::SceneError;
use super::file::Buffer;
use super::json;
use super::limits::Budget;

/// Unpacks a compressed view.
pub(crate) fn unpack(
    _what: &str,
    _view: &json::BufferView,
    _compressed: &json::MeshoptView,
    _buffers: &[Buffer<'_>],
    _budget: &mut Budget<'_>,
) -> Result<Vec<u8>, SceneError> {
    Err(SceneError::UnsupportedExtension { name: "EXT_meshopt_compression".into() })
}
