//! Scenes and environments: files by hash, with what was found in them.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use rusqlite::{OptionalExtension, Row, params};

use super::{Intake, JobState, Store, StoreError, Trying, now_ms};

/// What an uploaded file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AssetKind {
    /// A glTF scene.
    Scene,
    /// An equirectangular environment.
    Environment,
}

impl AssetKind {
    /// Both.
    pub const ALL: [AssetKind; 2] = [AssetKind::Scene, AssetKind::Environment];

    /// Name in the index.
    pub fn name(self) -> &'static str {
        match self {
            AssetKind::Scene => "scene",
            AssetKind::Environment => "environment",
        }
    }

    fn folder(self) -> &'static str {
        match self {
            AssetKind::Scene => "scenes",
            AssetKind::Environment => "environments",
        }
    }
}

/// A stored file.
#[derive(Debug, Clone, PartialEq)]
pub struct Asset {
    /// Its hash, hex: what requests name.
    pub id: String,
    /// Size of the file.
    pub bytes: u64,
    /// When it was stored. *Units*: milliseconds since 1970.
    pub added_ms: i64,
    /// What was found in it, as JSON.
    pub summary: String,
}

/// What became of a file that was to be kept.
#[derive(Debug, Clone, PartialEq)]
pub enum Kept {
    /// It is stored now.
    New(Asset),
    /// It was stored already.
    Known(Asset),
    /// There is no room for it.
    Full {
        /// Size of what is stored.
        stored_bytes: u64,
    },
}

const COLUMNS: &str = "id, bytes, added_ms, summary";

fn asset(row: &Row<'_>) -> rusqlite::Result<Asset> {
    Ok(Asset { id: row.get(0)?, bytes: row.get(1)?, added_ms: row.get(2)?, summary: row.get(3)? })
}

impl Store {
    /// Where the file of an asset lies.
    pub fn asset_path(&self, kind: AssetKind, id: &str) -> PathBuf {
        let shard = id.get(..2).unwrap_or("__");
        self.folder.join(kind.folder()).join(shard).join(id)
    }

    /// The bytes of a stored file; none if it is not stored.
    pub fn read_asset(&self, kind: AssetKind, id: &str) -> Result<Option<Vec<u8>>, StoreError> {
        if self.asset(kind, id)?.is_none() {
            return Ok(None);
        }
        match fs::read(self.asset_path(kind, id)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).trying("reading a stored file"),
        }
    }

    /// What is known of an asset.
    pub fn asset(&self, kind: AssetKind, id: &str) -> Result<Option<Asset>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM assets WHERE kind = ? AND id = ?");
        Ok(self.index().prepare_cached(&sql)?.query_row(params![kind.name(), id], asset).optional()?)
    }

    /// The asset that was made from these very bytes.
    pub fn asset_by_file(&self, kind: AssetKind, file_hash: &str) -> Result<Option<Asset>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM assets WHERE kind = ? AND file_hash = ?");
        Ok(self.index().prepare_cached(&sql)?.query_row(params![kind.name(), file_hash], asset).optional()?)
    }

    /// Assets in the order they came, after `after` (an id), at most `limit`.
    pub fn assets(&self, kind: AssetKind, after: Option<&str>, limit: u32) -> Result<Vec<Asset>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM assets WHERE kind = ?1 AND (?2 IS NULL OR (added_ms, id) > \
             (SELECT added_ms, id FROM assets WHERE kind = ?1 AND id = ?2)) ORDER BY added_ms, id LIMIT ?3"
        );
        let index = self.index();
        let mut statement = index.prepare_cached(&sql)?;
        let rows = statement.query_map(params![kind.name(), after, limit], asset)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Keeps a received file under its id, unless all files together would pass `limit_bytes`.
    pub fn keep_asset(
        &self,
        kind: AssetKind,
        id: &str,
        intake: Intake,
        summary: &str,
        limit_bytes: u64,
    ) -> Result<Kept, StoreError> {
        let _commit = self.commit();
        if let Some(known) = self.asset(kind, id)? {
            return Ok(Kept::Known(known));
        }
        let sum = "SELECT coalesce(sum(bytes), 0) FROM assets";
        let stored_bytes: u64 = self.index().query_row(sum, [], |row| row.get(0))?;
        if stored_bytes.saturating_add(intake.bytes()) > limit_bytes {
            return Ok(Kept::Full { stored_bytes });
        }
        let kept =
            Asset { id: id.into(), bytes: intake.bytes(), added_ms: now_ms(), summary: summary.into() };
        let file_hash = intake.hash();
        intake.place(&self.asset_path(kind, id))?;
        self.index().execute(
            "INSERT INTO assets (kind, id, file_hash, bytes, added_ms, summary) VALUES (?, ?, ?, ?, ?, ?)",
            params![kind.name(), id, file_hash, kept.bytes, kept.added_ms, summary],
        )?;
        Ok(Kept::New(kept))
    }

    /// Removes an asset. `Ok(Err(job))`: a job that waits or runs needs it. `Ok(Ok(false))`: it was not there.
    pub fn delete_asset(&self, kind: AssetKind, id: &str) -> Result<Result<bool, String>, StoreError> {
        let _commit = self.commit();
        let index = self.index();
        let needed: Option<String> = index
            .query_row(
                "SELECT job FROM job_assets JOIN jobs ON jobs.id = job_assets.job \
                 WHERE job_assets.kind = ? AND asset = ? AND state IN (?, ?) LIMIT 1",
                params![kind.name(), id, JobState::Queued.name(), JobState::Running.name()],
                |row| row.get(0),
            )
            .optional()?;
        if let Some(job) = needed {
            return Ok(Err(job));
        }
        let rows = index.execute("DELETE FROM assets WHERE kind = ? AND id = ?", params![kind.name(), id])?;
        drop(index);
        if rows > 0 {
            let _ = fs::remove_file(self.asset_path(kind, id));
        }
        Ok(Ok(rows > 0))
    }

    /// After a crash: files without a row and rows without a file go.
    pub(super) fn reconcile_assets(&self) -> Result<(), StoreError> {
        for kind in AssetKind::ALL {
            let index = self.index();
            let mut statement = index.prepare("SELECT id FROM assets WHERE kind = ?")?;
            let ids: HashSet<String> =
                statement.query_map([kind.name()], |row| row.get(0))?.collect::<Result<_, _>>()?;
            for id in ids.iter().filter(|id| !self.asset_path(kind, id).is_file()) {
                tracing::warn!(kind = kind.name(), id, "a stored file is missing; its entry is removed");
                index.execute("DELETE FROM assets WHERE kind = ? AND id = ?", params![kind.name(), id])?;
            }
            for path in files_below(&self.folder.join(kind.folder())) {
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                if !ids.contains(name) {
                    let _ = fs::remove_file(&path);
                }
            }
        }
        Ok(())
    }
}

/// Files two levels below a folder (`ab/abcd…`); none if there is no folder.
pub(super) fn files_below(folder: &std::path::Path) -> Vec<PathBuf> {
    let entries = |folder: &std::path::Path| {
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
    };
    entries(folder).flat_map(|shard| entries(&shard).collect::<Vec<_>>()).collect()
}
