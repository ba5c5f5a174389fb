//! Where a scene's bytes come from: one file in memory, a zip in memory, or a directory on disk.

use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::archive::Archive;
use super::error::{SceneError, quote};
use super::glb;
use super::limits::{Budget, Limits, within};

/// The bytes of a scene, and where its side files may come from.
///
/// A source made from bytes never opens a file: side files come from the zip or not at all. A source made from a
/// path opens files in the scene's directory and below, after following links, and nowhere else.
#[derive(Debug)]
pub struct Source {
    main: Vec<u8>,
    json: Range<usize>,
    bin: Option<Range<usize>>,
    /// Directory of the scene file below the root, as segments.
    base: Vec<String>,
    side: Side,
}

#[derive(Debug)]
enum Side {
    None,
    Archive(Archive),
    /// Canonical path of the root.
    Directory(PathBuf),
}

impl Source {
    /// A scene from memory: `.glb` or zip by their first bytes, else `.gltf`. Opens no file.
    ///
    /// *Errors*: unknown or broken containers, sizes beyond the limits.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>, limits: &Limits) -> Result<Source, SceneError> {
        let bytes = bytes.into();
        within("scene file", "file_bytes", bytes.len() as u64, limits.file_bytes)?;
        if !Archive::recognises(&bytes) {
            return Source::single(bytes, Vec::new(), Side::None);
        }
        let archive = Archive::open(bytes, limits)?;
        let path = main_file(archive.names())?;
        let main = archive
            .read(&path, limits.file_bytes)?
            .ok_or_else(|| SceneError::Archive { reason: "the scene file cannot be found again".into() })?;
        let mut base: Vec<String> = path.split('/').map(str::to_owned).collect();
        base.pop();
        Source::single(main, base, Side::Archive(archive))
    }

    /// A scene from disk: a `.glb`, `.gltf` or zip, or a directory with one scene file in it.
    ///
    /// Side files of a `.gltf` or `.glb` must lie in its directory or below; those of a directory, in it or below.
    /// *Errors*: as [`Source::from_bytes`], and what cannot be read.
    pub fn from_path(path: impl AsRef<Path>, limits: &Limits) -> Result<Source, SceneError> {
        let path = path.as_ref();
        let failed = |error: std::io::Error| SceneError::Io {
            what: quote(&path.display().to_string()),
            reason: error.kind().to_string(),
        };
        let path = path.canonicalize().map_err(failed)?;
        if path.is_dir() {
            let names = list_directory(&path).map_err(failed)?;
            let name = main_file(names.iter().map(String::as_str))?;
            let bytes = read_file(&path.join(&name), "scene file", "file_bytes", limits.file_bytes)?;
            return Source::single(bytes, Vec::new(), Side::Directory(path));
        }
        let bytes = read_file(&path, "scene file", "file_bytes", limits.file_bytes)?;
        if Archive::recognises(&bytes) {
            return Source::from_bytes(bytes, limits);
        }
        let root = path.parent().map(Path::to_path_buf).unwrap_or_default();
        Source::single(bytes, Vec::new(), Side::Directory(root))
    }

    fn single(main: Vec<u8>, base: Vec<String>, side: Side) -> Result<Source, SceneError> {
        let whole = 0..main.len();
        if main.starts_with(glb::MAGIC) {
            let chunks = glb::parse(&main)?;
            return Ok(Source { json: chunks.json, bin: chunks.bin, main, base, side });
        }
        let start = if main.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        match main[start..].iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(b'{') => Ok(Source { json: start..whole.end, bin: None, main, base, side }),
            Some(_) => Err(SceneError::UnknownFormat {
                reason: "it starts neither like a .glb, nor like JSON, nor like a zip".into(),
            }),
            None => Err(SceneError::UnknownFormat { reason: "it is empty".into() }),
        }
    }

    /// The JSON text.
    pub(crate) fn json(&self) -> &[u8] {
        &self.main[self.json.clone()]
    }

    /// The binary chunk of a `.glb`.
    pub(crate) fn bin(&self) -> Option<&[u8]> {
        self.bin.clone().map(|range| &self.main[range])
    }

    /// The scene file as it came.
    pub(crate) fn main_bytes(&self) -> &[u8] {
        &self.main
    }

    /// Directory of the scene file below the root.
    pub(crate) fn base(&self) -> &[String] {
        &self.base
    }

    /// Reads the side file at `segments` below the root. `what` and `uri` are for errors.
    pub(crate) fn side_file(
        &self,
        segments: &[String],
        what: &str,
        uri: &str,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<u8>, SceneError> {
        let missing = || SceneError::MissingFile { what: what.into(), uri: quote(uri) };
        let allowed = budget.side_bytes_left();
        let bytes = match &self.side {
            Side::None => return Err(SceneError::SideFile { what: what.into(), uri: quote(uri) }),
            Side::Archive(archive) => archive.read(&segments.join("/"), allowed)?.ok_or_else(missing)?,
            Side::Directory(root) => {
                let path = segments.iter().fold(root.clone(), |path, segment| path.join(segment));
                let path = path.canonicalize().map_err(|_| missing())?;
                if !path.starts_with(root) {
                    return Err(SceneError::UriEscapes { what: what.into(), uri: quote(uri) });
                }
                if !path.is_file() {
                    return Err(missing());
                }
                read_file(&path, what, "side_bytes", allowed)?
            }
        };
        budget.side_bytes(what, bytes.len() as u64)?;
        Ok(bytes)
    }
}

/// Chooses the scene among file names: the only `.gltf` or `.glb` of the topmost directory that has one.
fn main_file<'a>(names: impl Iterator<Item = &'a str>) -> Result<String, SceneError> {
    let hidden =
        |name: &str| name.split('/').any(|segment| segment.starts_with('.') || segment == "__MACOSX");
    let is_scene = |name: &str| {
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        extension.is_some_and(|e| e.eq_ignore_ascii_case("gltf") || e.eq_ignore_ascii_case("glb"))
    };
    let mut scenes: Vec<&str> = names.filter(|name| is_scene(name) && !hidden(name)).collect();
    let depth = |name: &str| name.matches('/').count();
    let top = scenes.iter().map(|name| depth(name)).min();
    scenes.retain(|name| Some(depth(name)) == top);
    scenes.sort_unstable();
    match scenes.as_slice() {
        [only] => Ok((*only).into()),
        [] => Err(SceneError::UnknownFormat { reason: "there is no .gltf or .glb in it".into() }),
        [first, second, ..] => Err(SceneError::UnknownFormat {
            reason: format!(
                "{} scene files lie side by side (\"{}\", \"{}\"); there must be one",
                scenes.len(),
                quote(first),
                quote(second)
            ),
        }),
    }
}

/// Most entries of a directory that are looked at.
const DIRECTORY_ENTRIES: usize = 100_000;

fn list_directory(path: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in path.read_dir()?.take(DIRECTORY_ENTRIES) {
        names.extend(entry?.file_name().into_string());
    }
    Ok(names)
}

fn read_file(path: &Path, what: &str, limit: &'static str, allowed: u64) -> Result<Vec<u8>, SceneError> {
    let failed =
        |error: std::io::Error| SceneError::Io { what: what.into(), reason: error.kind().to_string() };
    let file = std::fs::File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    within(what, limit, size, allowed)?;
    let mut bytes = Vec::with_capacity(size as usize);
    // A file that grows while it is read is still bounded.
    file.take(allowed.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    within(what, limit, bytes.len() as u64, allowed)?;
    Ok(bytes)
}
