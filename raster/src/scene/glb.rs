//! The binary container: a header, a JSON chunk, perhaps a binary chunk.

use std::ops::Range;

use super::error::SceneError;

/// First bytes of a `.glb`.
pub(crate) const MAGIC: &[u8; 4] = b"glTF";
const JSON: u32 = 0x4E4F_534A;
const BIN: u32 = 0x004E_4942;

/// Where the chunks lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chunks {
    pub json: Range<usize>,
    pub bin: Option<Range<usize>>,
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
}

/// Finds the chunks. Bytes after the announced length are ignored, unknown chunks after the first are skipped.
pub(crate) fn parse(bytes: &[u8]) -> Result<Chunks, SceneError> {
    let broken = |reason: &str| SceneError::Container { reason: reason.into() };
    let truncated = |what: &str, wanted: u64| SceneError::Truncated {
        what: what.into(),
        wanted,
        got: bytes.len() as u64,
    };
    let (Some(version), Some(length)) = (u32_at(bytes, 4), u32_at(bytes, 8)) else {
        return Err(truncated("GLB header", 12));
    };
    if version != 2 {
        return Err(SceneError::Version { version: format!("{version} (GLB)") });
    }
    let end = length as usize;
    if end < 12 {
        return Err(broken("the length is smaller than the header"));
    }
    if end > bytes.len() {
        return Err(truncated("GLB", u64::from(length)));
    }
    let (mut json, mut bin) = (None, None);
    let (mut at, mut number) = (12usize, 0u32);
    while at < end {
        let (Some(size), Some(kind)) = (u32_at(&bytes[..end], at), u32_at(&bytes[..end], at + 4)) else {
            return Err(broken("the last chunk has no whole header"));
        };
        if size % 4 != 0 {
            return Err(broken("a chunk's length is not a multiple of 4"));
        }
        let start = at + 8;
        let stop = start.checked_add(size as usize).filter(|&stop| stop <= end);
        let Some(stop) = stop else {
            return Err(broken("a chunk is longer than the file"));
        };
        match (kind, number) {
            (JSON, 0) => json = Some(start..stop),
            (_, 0) => return Err(broken("the first chunk is not JSON")),
            (JSON, _) => return Err(broken("there are two JSON chunks")),
            (BIN, 1) => bin = Some(start..stop),
            (BIN, _) => return Err(broken("the binary chunk is not the second one, or there are two")),
            _ => {}
        }
        at = stop;
        number += 1;
    }
    let json = json.ok_or_else(|| broken("there is no JSON chunk"))?;
    if json.is_empty() {
        return Err(broken("the JSON chunk is empty"));
    }
    Ok(Chunks { json, bin })
}
