//! A file being received: hashed and counted as it is written.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use tempfile::NamedTempFile;

use super::{StoreError, Trying, sync_folder};

/// A file being received. Dropped before it is placed, it is removed.
#[derive(Debug)]
pub struct Intake {
    file: NamedTempFile,
    hasher: blake3::Hasher,
    bytes: u64,
}

impl Intake {
    pub(super) fn new(folder: &Path) -> Result<Intake, StoreError> {
        let file = NamedTempFile::new_in(folder).trying("creating a file for incoming bytes")?;
        Ok(Intake { file, hasher: blake3::Hasher::new(), bytes: 0 })
    }

    /// Appends bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.file.write_all(bytes).trying("writing incoming bytes")?;
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Bytes so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// blake3 of the bytes so far, hex.
    pub fn hash(&self) -> String {
        self.hasher.finalize().to_hex().to_string()
    }

    /// All bytes, read back.
    pub fn read(&self) -> Result<Vec<u8>, StoreError> {
        fs::read(self.file.path()).trying("reading incoming bytes back")
    }

    /// The file, opened again for random access.
    pub fn reopen(&self) -> Result<File, StoreError> {
        self.file.reopen().trying("opening incoming bytes")
    }

    /// Puts the file in its place, whole or not at all.
    pub fn place(self, path: &Path) -> Result<(), StoreError> {
        self.file.as_file().sync_all().trying("writing a file to disk")?;
        self.place_unsynced(path)?;
        sync_folder(path.parent().unwrap_or(path));
        Ok(())
    }

    /// The same for what may be lost in a power cut.
    pub fn place_unsynced(self, path: &Path) -> Result<(), StoreError> {
        fs::create_dir_all(path.parent().unwrap_or(path))
            .trying("creating a folder in the data directory")?;
        self.file.persist(path).map_err(|error| error.error).trying("putting a file in its place")?;
        Ok(())
    }
}
