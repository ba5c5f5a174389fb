//! What outlives a request: scenes, environments, frames and jobs in one folder that one process holds.
//!
//! Files are named by what is in them and written beside their place, then renamed into it, so a crash leaves
//! either all of a file or nothing. SQLite knows which files count; what it does not know is removed at the
//! next start. Everything here blocks: callers on the async side go through `spawn_blocking`.

mod assets;
mod byte_lru;
mod frames;
mod intake;
mod jobs;

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::Connection;

pub use self::assets::{Asset, AssetKind, Kept};
pub use self::byte_lru::ByteLru;
pub use self::frames::{CachedBody, CachedFrame, FrameCache, FrameMeta};
pub(crate) use self::frames::{base64_of, sha256_base64};
pub use self::intake::Intake;
pub use self::jobs::{JobKind, JobRow, JobState, NewJob, Submitted};

/// What can go wrong with the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process holds the folder.
    #[error("{} is held by another isoframe process", .0.display())]
    Held(PathBuf),
    /// The file system refused.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// Why it failed.
        source: io::Error,
    },
    /// SQLite refused.
    #[error("index: {0}")]
    Index(#[from] rusqlite::Error),
    /// The folder was written by a newer version.
    #[error("the data directory has version {found}; this program knows up to {known}")]
    Version {
        /// Version in the folder.
        found: u32,
        /// Newest version known here.
        known: u32,
    },
    /// A row does not hold what this program writes.
    #[error("index: a row cannot be read: {0}")]
    Row(String),
}

/// Adds to an I/O error what was tried.
pub(crate) trait Trying<T> {
    fn trying(self, what: &str) -> Result<T, StoreError>;
}

impl<T> Trying<T> for io::Result<T> {
    fn trying(self, what: &str) -> Result<T, StoreError> {
        self.map_err(|source| StoreError::Io { what: what.to_owned(), source })
    }
}

/// Schema, one entry per version; the database's `user_version` counts those applied.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE assets (
        kind TEXT NOT NULL,
        id TEXT NOT NULL,
        file_hash TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        added_ms INTEGER NOT NULL,
        summary TEXT NOT NULL,
        PRIMARY KEY (kind, id)
    ) STRICT;
    CREATE INDEX assets_by_time ON assets (kind, added_ms, id);
    CREATE INDEX assets_by_file ON assets (kind, file_hash);
    CREATE TABLE jobs (
        id TEXT NOT NULL PRIMARY KEY,
        kind TEXT NOT NULL,
        state TEXT NOT NULL,
        request TEXT NOT NULL,
        attempts INTEGER NOT NULL,
        frames_done INTEGER NOT NULL,
        frames_total INTEGER NOT NULL,
        created_ms INTEGER NOT NULL,
        finished_ms INTEGER,
        problem TEXT,
        result TEXT,
        result_bytes INTEGER NOT NULL DEFAULT 0,
        idempotency_key TEXT UNIQUE,
        body_hash TEXT NOT NULL
    ) STRICT;
    CREATE INDEX jobs_by_state ON jobs (state, created_ms);
    CREATE TABLE job_assets (
        job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
        kind TEXT NOT NULL,
        asset TEXT NOT NULL,
        PRIMARY KEY (job, kind, asset)
    ) STRICT;
    CREATE INDEX job_assets_by_asset ON job_assets (kind, asset);
"];

/// The store.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    index: Mutex<Connection>,
    /// Held so that a file is never removed between being written and being entered, or the other way round.
    commit: Mutex<()>,
    frames: FrameCache,
    /// Locked for as long as the store lives.
    _lock: File,
}

impl Store {
    /// Opens the folder, or makes it. *Errors*: another process holds it, or it cannot be written.
    pub fn open(folder: &Path, frame_cache_bytes: u64) -> Result<Store, StoreError> {
        fs::create_dir_all(folder).trying("creating the data directory")?;
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(folder.join("lock"))
            .trying("opening the data directory's lock")?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StoreError::Held(folder.to_owned())),
            Err(TryLockError::Error(error)) => Err(error).trying("locking the data directory")?,
        }
        // What a crashed process was still receiving.
        let _ = fs::remove_dir_all(folder.join("incoming"));
        for name in ["incoming", "results"] {
            fs::create_dir_all(folder.join(name)).trying("creating a folder in the data directory")?;
        }
        let index = open_index(&folder.join("index.sqlite"))?;
        let frames = FrameCache::open(folder.join("frames"), folder.join("incoming"), frame_cache_bytes)?;
        let store = Store {
            folder: folder.to_owned(),
            index: Mutex::new(index),
            commit: Mutex::new(()),
            frames,
            _lock: lock,
        };
        store.reconcile_assets()?;
        store.reconcile_jobs()?;
        Ok(store)
    }

    /// The frames kept on disk.
    pub fn frames(&self) -> &FrameCache {
        &self.frames
    }

    /// A new file to receive bytes into.
    pub fn intake(&self) -> Result<Intake, StoreError> {
        Intake::new(&self.folder.join("incoming"))
    }

    fn index(&self) -> MutexGuard<'_, Connection> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn commit(&self) -> MutexGuard<'_, ()> {
        self.commit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn open_index(path: &Path) -> Result<Connection, StoreError> {
    let mut index = Connection::open(path)?;
    index.pragma_update(None, "journal_mode", "WAL")?;
    // Accepted work must survive a power cut, so each transaction reaches the disk.
    index.pragma_update(None, "synchronous", "FULL")?;
    index.pragma_update(None, "foreign_keys", true)?;
    let found: u32 = index.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let known = MIGRATIONS.len() as u32;
    if found > known {
        return Err(StoreError::Version { found, known });
    }
    for (version, migration) in MIGRATIONS.iter().enumerate().skip(found as usize) {
        let transaction = index.transaction()?;
        transaction.execute_batch(migration)?;
        transaction.pragma_update(None, "user_version", version as u32 + 1)?;
        transaction.commit()?;
    }
    Ok(index)
}

/// Milliseconds since 1970, for the order and age of rows.
pub(crate) fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

/// Makes a rename durable, where the system allows a folder to be synced.
pub(crate) fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}
