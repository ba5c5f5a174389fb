//! A zip in memory: listed at once, entries unpacked one by one under limits.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::sync::Mutex;

use zip::ZipArchive;

use super::error::{SceneError, quote};
use super::limits::{Limits, within};

/// Entries above this size must not unpack to more than `Limits::zip_ratio` times their packed size.
const RATIO_FREE_BYTES: u64 = 1 << 20;

/// An archive whose entry names are all plain relative paths.
#[derive(Debug)]
pub(crate) struct Archive {
    // The reader moves its position, which is no state that anyone sees.
    zip: Mutex<ZipArchive<Cursor<Vec<u8>>>>,
    /// Normalised path to entry.
    entries: BTreeMap<String, usize>,
}

fn broken(reason: impl Into<String>) -> SceneError {
    SceneError::Archive { reason: reason.into() }
}

impl Archive {
    /// Whether the bytes start like a zip.
    pub fn recognises(bytes: &[u8]) -> bool {
        bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06")
    }

    /// Reads the list of entries. *Errors*: too many, overlapping, encrypted, linked or escaping entries.
    pub fn open(bytes: Vec<u8>, limits: &Limits) -> Result<Archive, SceneError> {
        let announced = announced_entries(&bytes);
        within("zip", "zip_entries", announced, limits.zip_entries)?;
        let mut zip =
            ZipArchive::new(Cursor::new(bytes)).map_err(|error| broken(quote(&error.to_string())))?;
        within("zip", "zip_entries", zip.len() as u64, limits.zip_entries)?;
        let overlapping = zip.has_overlapping_files().map_err(|error| broken(quote(&error.to_string())))?;
        if overlapping {
            return Err(broken("entries overlap"));
        }
        let mut entries = BTreeMap::new();
        let mut total_bytes = 0u64;
        for index in 0..zip.len() {
            let entry = zip.by_index_raw(index).map_err(|error| broken(quote(&error.to_string())))?;
            let name =
                std::str::from_utf8(entry.name_raw()).map_err(|_| broken("an entry's name is not UTF-8"))?;
            let path = entry_path(name)?;
            let kind = entry.unix_mode().map_or(0, |mode| mode & 0o170_000);
            if !matches!(kind, 0 | 0o100_000 | 0o040_000) || entry.is_symlink() {
                return Err(broken(format!("entry \"{}\" is a link or device", quote(name))));
            }
            if entry.encrypted() {
                return Err(broken(format!("entry \"{}\" is encrypted", quote(name))));
            }
            if entry.is_dir() {
                continue;
            }
            let (size, packed) = (entry.size(), entry.compressed_size());
            if size > RATIO_FREE_BYTES {
                within("zip entry", "zip_ratio", size / packed.max(1), limits.zip_ratio)?;
            }
            total_bytes = total_bytes.saturating_add(size);
            if entries.insert(path, index).is_some() {
                return Err(broken(format!("entry \"{}\" is there twice", quote(name))));
            }
        }
        within("zip", "side_bytes", total_bytes, limits.side_bytes.saturating_add(limits.file_bytes))?;
        Ok(Archive { zip: Mutex::new(zip), entries })
    }

    /// Paths of all files, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Unpacks one file; `None` where there is none of that path. `allowed` bounds its size in bytes.
    pub fn read(&self, path: &str, allowed: u64) -> Result<Option<Vec<u8>>, SceneError> {
        let Some(&index) = self.entries.get(path) else {
            return Ok(None);
        };
        let mut zip = self.zip.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let entry = zip.by_index(index).map_err(|error| broken(quote(&error.to_string())))?;
        let announced = entry.size();
        within("zip entry", "side_bytes", announced, allowed)?;
        let mut bytes = Vec::with_capacity(announced as usize);
        // The announced size is only a claim: never read beyond it.
        let read = entry.take(announced.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|error| broken(format!("entry \"{}\": {}", quote(path), error.kind())))?;
        if bytes.len() as u64 != announced {
            return Err(broken(format!("entry \"{}\" is not as long as announced", quote(path))));
        }
        Ok(Some(bytes))
    }
}

/// Number of entries that the end record announces; read before anything is allocated for them.
fn announced_entries(bytes: &[u8]) -> u64 {
    let tail = &bytes[bytes.len().saturating_sub(22 + 65_535)..];
    let end = tail.windows(4).rposition(|window| window == b"PK\x05\x06");
    let count = end.and_then(|at| tail.get(at + 10..at + 12));
    count.map_or(0, |two| u64::from(u16::from_le_bytes([two[0], two[1]])))
}

/// The normalised path of an entry. *Errors*: absolute paths, `..`, backslashes, control characters.
fn entry_path(name: &str) -> Result<String, SceneError> {
    let escaping = || broken(format!("entry \"{}\" does not lie inside the archive", quote(name)));
    if name.starts_with('/') || name.contains('\\') || name.chars().any(char::is_control) {
        return Err(escaping());
    }
    let mut segments = Vec::new();
    for segment in name.split('/') {
        match segment {
            "" | "." => {}
            ".." => return Err(escaping()),
            _ => segments.push(segment),
        }
    }
    if segments.first().is_some_and(|first| first.contains(':')) {
        return Err(escaping());
    }
    Ok(segments.join("/"))
}
