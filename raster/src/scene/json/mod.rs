//! The JSON of a glTF file as it is written: shapes and types, no meaning yet.
//!
//! Unknown members are let through (they are `extras` or belong to extensions), values of a wrong type are not.

mod lobes;
mod root;
mod scan;

pub(crate) use lobes::*;
pub(crate) use root::*;
pub(crate) use scan::{Scan, scan};

use super::error::{SceneError, quote};
use super::limits::{Limits, within};

/// Parses the JSON of a scene: once lightly for its depth and the extensions in use, then into [`Root`].
pub(crate) fn parse(bytes: &[u8], limits: &Limits) -> Result<(Root, Scan), SceneError> {
    within("JSON", "json_bytes", bytes.len() as u64, limits.json_bytes)?;
    let scan = scan(bytes, limits)?;
    let root = serde_json::from_slice(bytes).map_err(json_error)?;
    Ok((root, scan))
}

fn json_error(error: serde_json::Error) -> SceneError {
    let text = error.to_string();
    // The position is told apart; serde_json appends it to its text.
    let reason = text.split(" at line ").next().unwrap_or(&text);
    SceneError::Json { line: error.line(), column: error.column(), reason: quote(reason) }
}
