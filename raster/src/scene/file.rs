//! Files behind URIs, the buffers they fill, and the identity of them all.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::error::SceneError;
use super::json;
use super::limits::Budget;
use super::source::Source;
use super::uri::{self, Uri};

/// Looks up `index` in `list`. *Errors*: [`SceneError::Reference`].
pub(crate) fn get<'l, T>(
    list: &'l [T],
    index: json::Index,
    target: &'static str,
    what: impl FnOnce() -> String,
) -> Result<&'l T, SceneError> {
    list.get(index as usize).ok_or_else(|| SceneError::Reference {
        what: what(),
        target,
        index: u64::from(index),
        count: list.len() as u64,
    })
}

/// The source's files as they are read.
#[derive(Debug)]
pub(crate) struct Files<'s> {
    source: &'s Source,
    /// Side files read, by path relative to the scene file's directory: blake3 and length.
    side_files: BTreeMap<String, (blake3::Hash, u64)>,
}

impl<'s> Files<'s> {
    pub fn new(source: &'s Source) -> Self {
        Files { source, side_files: BTreeMap::new() }
    }

    /// Reads what `uri` names.
    pub fn fetch(&mut self, what: &str, uri: &str, budget: &mut Budget<'_>) -> Result<Vec<u8>, SceneError> {
        match uri::resolve(what, uri, self.source.base())? {
            Uri::Data(bytes) => Ok(bytes),
            Uri::File(segments) => {
                let bytes = self.source.side_file(&segments, what, uri, budget)?;
                let path = relative(&segments, self.source.base());
                self.side_files.insert(path, (blake3::hash(&bytes), bytes.len() as u64));
                Ok(bytes)
            }
        }
    }

    /// Identity of the scene, blake3 in hex.
    ///
    /// A scene file without side files is hashed as it is, wherever it came from. Otherwise the hash is that of a
    /// listing: a first line `isoframe scene files 1`, then for the scene file (path empty) and for each side file
    /// that it names, sorted by path, a line `<blake3 hex> <bytes> <path>`, the path relative to the scene file's
    /// directory. So a directory and a zip of it are one scene, and files that nobody names do not count.
    pub fn hash(&self) -> String {
        let main = blake3::hash(self.source.main_bytes());
        if self.side_files.is_empty() {
            return main.to_hex().to_string();
        }
        let mut listing = blake3::Hasher::new();
        listing.update(b"isoframe scene files 1\n");
        let mut line = |path: &str, hash: &blake3::Hash, bytes: u64| {
            listing.update(format!("{} {bytes} {path}\n", hash.to_hex()).as_bytes());
        };
        line("", &main, self.source.main_bytes().len() as u64);
        for (path, (hash, bytes)) in &self.side_files {
            line(path, hash, *bytes);
        }
        listing.finalize().to_hex().to_string()
    }
}

/// The path of a file as seen from the directory `base`, both below one root.
fn relative(segments: &[String], base: &[String]) -> String {
    let shared = segments.iter().zip(base).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..", base.len() - shared);
    up.chain(segments[shared..].iter().map(String::as_str)).collect::<Vec<_>>().join("/")
}

/// Bytes of a buffer, `byteLength` long; `None` for placeholders that only compressed views refer to.
pub(crate) type Buffer<'s> = Option<Cow<'s, [u8]>>;

/// Reads all buffers.
pub(crate) fn buffers<'s>(
    root: &json::Root,
    files: &mut Files<'s>,
    budget: &mut Budget<'_>,
) -> Result<Vec<Buffer<'s>>, SceneError> {
    root.buffers.iter().enumerate().map(|(index, buffer)| read_buffer(index, buffer, files, budget)).collect()
}

fn read_buffer<'s>(
    index: usize,
    buffer: &json::Buffer,
    files: &mut Files<'s>,
    budget: &mut Budget<'_>,
) -> Result<Buffer<'s>, SceneError> {
    let what = format!("buffer {index}");
    let wanted = buffer.byte_length;
    if wanted == 0 {
        let what = format!("{what} byteLength");
        return Err(SceneError::ValueOutOfRange { what, value: 0.0, allowed: "at least 1" });
    }
    if buffer.extensions.is_fallback() {
        return Ok(None);
    }
    let length = usize::try_from(wanted).unwrap_or(usize::MAX);
    let truncated = |got: usize| SceneError::Truncated { what: what.clone(), wanted, got: got as u64 };
    if let Some(uri) = &buffer.uri {
        let mut bytes = files.fetch(&what, uri, budget)?;
        if bytes.len() < length {
            return Err(truncated(bytes.len()));
        }
        bytes.truncate(length);
        return Ok(Some(Cow::Owned(bytes)));
    }
    match files.source.bin() {
        Some(bin) if index == 0 => match bin.get(..length) {
            Some(bytes) => Ok(Some(Cow::Borrowed(bytes))),
            None => Err(truncated(bin.len())),
        },
        _ => Ok(None),
    }
}
