//! The folder of generated scenes: nothing in it is changed unless that was asked for.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::cli::destination;
use crate::cli::exit::Failure;
use crate::generate::{Entry, GENERATOR, Manifest};

/// Name of the manifest.
pub(super) const MANIFEST: &str = "scenes.json";

const OVERWRITE: &str = "take another folder, or --overwrite";

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    AsItWas,
    Written,
}

impl Kept {
    /// Of a scene and its panorama.
    pub(super) fn and(self, other: Kept) -> Kept {
        if other == Kept::Written { other } else { self }
    }
}

/// A folder and its manifest.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    overwrite: bool,
    /// By file name, which is the order of seeds.
    entries: BTreeMap<String, Entry>,
}

impl Folder {
    /// Opens a folder, or makes it. *Errors*: one that holds scenes of another generator, or a `scenes.json` of
    /// something else, unless it may be overwritten.
    pub(super) fn open(path: &Path, overwrite: bool) -> Result<Folder, Failure> {
        match fs::create_dir(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(Failure::bad_input(format!("--out {}: {error}", path.display())));
            }
            _ if !path.is_dir() => {
                return Err(Failure::bad_input(format!("--out {}: is no folder", path.display())));
            }
            _ => {}
        }
        let mut folder = Folder { path: path.to_owned(), overwrite, entries: BTreeMap::new() };
        let manifest = path.join(MANIFEST);
        let Some(bytes) = read(&manifest)? else { return Ok(folder) };
        let refuse =
            |what: String| Failure::bad_input(format!("{}: {what}", manifest.display())).hint(OVERWRITE);
        match serde_json::from_slice::<Manifest>(&bytes) {
            Ok(manifest) if manifest.generator == GENERATOR => {
                folder.entries =
                    manifest.scenes.into_iter().map(|entry| (entry.file.clone(), entry)).collect();
            }
            _ if overwrite => {}
            Ok(manifest) => {
                return Err(refuse(format!("is of {}, this is {GENERATOR}", manifest.generator)));
            }
            Err(error) => return Err(refuse(format!("is no manifest of scenes: {error}"))),
        }
        Ok(folder)
    }

    /// The entry of a scene whose files are there as the manifest says.
    pub(super) fn has(&self, file: &str) -> Result<Option<Entry>, Failure> {
        let Some(entry) = self.entries.get(file) else { return Ok(None) };
        let around = entry.environment.as_ref().map(|around| (&around.file, &around.blake3));
        for (file, blake3) in std::iter::once((&entry.file, &entry.blake3)).chain(around) {
            let bytes = read(&self.path.join(file))?;
            if bytes.is_none_or(|bytes| blake3::hash(&bytes).to_hex().as_str() != blake3) {
                return Ok(None);
            }
        }
        Ok(Some(entry.clone()))
    }

    /// Writes a file. *Errors*: other bytes under that name, unless they may be overwritten.
    pub(super) fn write(&self, file: &str, bytes: &[u8]) -> Result<Kept, Failure> {
        let path = self.path.join(file);
        match read(&path)? {
            Some(there) if there == bytes => return Ok(Kept::AsItWas),
            Some(_) if !self.overwrite => {
                let what = format!("{}: is there and differs from what its seed gives", path.display());
                return Err(Failure::bad_input(what).hint(OVERWRITE));
            }
            _ => {}
        }
        destination::write(Some(&path), bytes)?;
        Ok(Kept::Written)
    }

    pub(super) fn add(&mut self, entry: Entry) {
        self.entries.insert(entry.file.clone(), entry);
    }

    /// Writes the manifest.
    pub(super) fn save(&self) -> Result<(), Failure> {
        let manifest =
            Manifest { generator: GENERATOR.to_owned(), scenes: self.entries.values().cloned().collect() };
        let mut json = serde_json::to_vec_pretty(&manifest).map_err(Failure::fault)?;
        json.push(b'\n');
        destination::write(Some(&self.path.join(MANIFEST)), &json)
    }
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, Failure> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::bad_input(format!("{}: {error}", path.display()))),
    }
}
