//! Jobs: work accepted with a promise to finish it, kept across restarts.

use std::fs;
use std::path::PathBuf;

use rusqlite::{Connection, OptionalExtension, Row, params};
use tempfile::NamedTempFile;

use super::{AssetKind, Store, StoreError, Trying, now_ms, sync_folder};

macro_rules! named {
    ($(#[$doc:meta])* $type:ident { $($(#[$variant_doc:meta])* $variant:ident = $name:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $type { $($(#[$variant_doc])* $variant),* }

        impl $type {
            /// Name in the index and in answers.
            pub fn name(self) -> &'static str {
                match self { $($type::$variant => $name),* }
            }

            fn parse(name: &str) -> Result<$type, StoreError> {
                match name {
                    $($name => Ok($type::$variant),)*
                    other => Err(StoreError::Row(format!("`{other}` is no {}", stringify!($type)))),
                }
            }
        }
    };
}

named! {
    /// What a job makes.
    JobKind {
        /// One frame as a file.
        Frame = "frame",
        /// Frames over a range of time, as a zip.
        Sequence = "sequence",
        /// Unrelated frames, as a zip.
        Batch = "batch",
    }
}

named! {
    /// Where a job is in its life.
    JobState {
        /// Waits for its turn.
        Queued = "queued",
        /// Is being worked on.
        Running = "running",
        /// Has a result.
        Done = "done",
        /// Has a problem instead.
        Failed = "failed",
        /// Was cancelled.
        Cancelled = "cancelled",
    }
}

impl JobState {
    /// Whether nothing more will happen to the job.
    pub fn is_final(self) -> bool {
        matches!(self, JobState::Done | JobState::Failed | JobState::Cancelled)
    }
}

/// A job to be accepted.
#[derive(Debug, Clone)]
pub struct NewJob {
    /// Its id.
    pub id: String,
    /// What it makes.
    pub kind: JobKind,
    /// What was asked for, as JSON that can be read again after a restart.
    pub request: String,
    /// Frames it will make.
    pub frames_total: u32,
    /// Files it needs.
    pub assets: Vec<(AssetKind, String)>,
    /// The client's key for this request.
    pub idempotency_key: Option<String>,
    /// blake3 of the request, hex; what a repeated key must match.
    pub body_hash: String,
}

/// What became of a job that was to be accepted.
#[derive(Debug, Clone, PartialEq)]
pub enum Submitted {
    /// Accepted.
    New(JobRow),
    /// The key came before with the same request: this is its job.
    Known(JobRow),
    /// The key came before with another request, as this job.
    Mismatch(String),
    /// Too many wait already.
    Full,
    /// A file it needs is not stored.
    MissingAsset(AssetKind, String),
}

/// A job as the index knows it.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub struct JobRow {
    pub id: String,
    pub kind: JobKind,
    pub state: JobState,
    pub request: String,
    /// Times it was begun.
    pub attempts: u32,
    pub frames_done: u32,
    pub frames_total: u32,
    /// *Units*: milliseconds since 1970.
    pub created_ms: i64,
    pub finished_ms: Option<i64>,
    /// A problem as JSON, when it failed.
    pub problem: Option<String>,
    /// What the result file is, as JSON, when it is done.
    pub result: Option<String>,
}

const COLUMNS: &str = "id, kind, state, request, attempts, frames_done, frames_total, created_ms, finished_ms, \
                       problem, result";

/// A row and the error that its names may hold.
type Parsed = Result<JobRow, StoreError>;

fn job(row: &Row<'_>) -> rusqlite::Result<Parsed> {
    let (kind, state): (String, String) = (row.get(1)?, row.get(2)?);
    let (kind, state) = match (JobKind::parse(&kind), JobState::parse(&state)) {
        (Ok(kind), Ok(state)) => (kind, state),
        (Err(error), _) | (_, Err(error)) => return Ok(Err(error)),
    };
    Ok(Ok(JobRow {
        id: row.get(0)?,
        kind,
        state,
        request: row.get(3)?,
        attempts: row.get(4)?,
        frames_done: row.get(5)?,
        frames_total: row.get(6)?,
        created_ms: row.get(7)?,
        finished_ms: row.get(8)?,
        problem: row.get(9)?,
        result: row.get(10)?,
    }))
}

fn find(index: &Connection, condition: &str, value: &str) -> Result<Option<JobRow>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM jobs WHERE {condition} ORDER BY created_ms, id LIMIT 1");
    index.prepare_cached(&sql)?.query_row([value], job).optional()?.transpose()
}

impl Store {
    /// Accepts a job: when this returns it is on disk.
    pub fn submit_job(&self, new: &NewJob, queue_limit: usize) -> Result<Submitted, StoreError> {
        let mut index = self.index();
        let transaction = index.transaction()?;
        if let Some(key) = &new.idempotency_key
            && let Some(known) = find(&transaction, "idempotency_key = ?", key)?
        {
            let hash: String =
                transaction
                    .query_row("SELECT body_hash FROM jobs WHERE id = ?", [&known.id], |row| row.get(0))?;
            let same = hash == new.body_hash && known.kind == new.kind;
            return Ok(if same { Submitted::Known(known) } else { Submitted::Mismatch(known.id) });
        }
        let waiting: usize = transaction.query_row(
            "SELECT count(*) FROM jobs WHERE state = ?",
            [JobState::Queued.name()],
            |row| row.get(0),
        )?;
        if waiting >= queue_limit {
            return Ok(Submitted::Full);
        }
        for (kind, id) in &new.assets {
            let stored: bool = transaction.query_row(
                "SELECT EXISTS (SELECT 1 FROM assets WHERE kind = ? AND id = ?)",
                params![kind.name(), id],
                |row| row.get(0),
            )?;
            if !stored {
                return Ok(Submitted::MissingAsset(*kind, id.clone()));
            }
        }
        transaction.execute(
            "INSERT INTO jobs (id, kind, state, request, attempts, frames_done, frames_total, created_ms, \
             idempotency_key, body_hash) VALUES (?, ?, ?, ?, 0, 0, ?, ?, ?, ?)",
            params![
                new.id,
                new.kind.name(),
                JobState::Queued.name(),
                new.request,
                new.frames_total,
                now_ms(),
                new.idempotency_key,
                new.body_hash
            ],
        )?;
        for (kind, id) in &new.assets {
            transaction.execute(
                "INSERT OR IGNORE INTO job_assets (job, kind, asset) VALUES (?, ?, ?)",
                params![new.id, kind.name(), id],
            )?;
        }
        let row = find(&transaction, "id = ?", &new.id)?
            .ok_or_else(|| StoreError::Row("a job is gone within its own transaction".into()))?;
        transaction.commit()?;
        Ok(Submitted::New(row))
    }

    /// A job.
    pub fn job(&self, id: &str) -> Result<Option<JobRow>, StoreError> {
        find(&self.index(), "id = ?", id)
    }

    /// Begins the oldest job that waits. One that was begun `attempts` times already fails instead, with
    /// `problem`.
    pub fn begin_job(&self, attempts: u32, problem: &str) -> Result<Option<JobRow>, StoreError> {
        loop {
            let index = self.index();
            let Some(mut row) = find(&index, "state = ?", JobState::Queued.name())? else { return Ok(None) };
            if row.attempts >= attempts {
                drop(index);
                self.finish_job(&row.id, JobState::Failed, row.frames_done, Some(problem), None)?;
                continue;
            }
            index.execute(
                "UPDATE jobs SET state = ?, attempts = attempts + 1 WHERE id = ?",
                params![JobState::Running.name(), row.id],
            )?;
            row.state = JobState::Running;
            row.attempts += 1;
            return Ok(Some(row));
        }
    }

    /// Puts a running job back to wait. `counted` is false where nothing was wrong with the attempt (at shutdown).
    pub fn requeue_job(&self, id: &str, counted: bool) -> Result<(), StoreError> {
        self.index().execute(
            "UPDATE jobs SET state = ?, attempts = max(attempts - ?, 0) WHERE id = ? AND state = ?",
            params![JobState::Queued.name(), i64::from(!counted), id, JobState::Running.name()],
        )?;
        Ok(())
    }

    /// Ends a job, unless it has ended already. `result`: what the result file is (JSON), and its size.
    pub fn finish_job(
        &self,
        id: &str,
        state: JobState,
        frames_done: u32,
        problem: Option<&str>,
        result: Option<(&str, u64)>,
    ) -> Result<bool, StoreError> {
        let rows = self.index().execute(
            "UPDATE jobs SET state = ?, frames_done = ?, finished_ms = ?, problem = ?, result = ?, \
             result_bytes = ? WHERE id = ? AND state IN (?, ?)",
            params![
                state.name(),
                frames_done,
                now_ms(),
                problem,
                result.map(|(json, _)| json),
                result.map_or(0, |(_, bytes)| bytes),
                id,
                JobState::Queued.name(),
                JobState::Running.name()
            ],
        )?;
        Ok(rows > 0)
    }

    /// Cancels a job that waits; false if it does not wait (any more).
    pub fn cancel_queued_job(&self, id: &str) -> Result<bool, StoreError> {
        let rows = self.index().execute(
            "UPDATE jobs SET state = ?, finished_ms = ? WHERE id = ? AND state = ?",
            params![JobState::Cancelled.name(), now_ms(), id, JobState::Queued.name()],
        )?;
        Ok(rows > 0)
    }

    /// Jobs that wait, and jobs that run.
    pub fn job_counts(&self) -> Result<(u64, u64), StoreError> {
        Ok(self.index().query_row(
            "SELECT count(*) FILTER (WHERE state = ?), count(*) FILTER (WHERE state = ?) FROM jobs",
            params![JobState::Queued.name(), JobState::Running.name()],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?)
    }

    /// Where the result of a job lies.
    pub fn result_path(&self, job: &str) -> PathBuf {
        self.folder.join("results").join(job)
    }

    /// A file to make a result in; removed unless it is kept.
    pub fn scratch(&self) -> Result<NamedTempFile, StoreError> {
        NamedTempFile::new_in(self.folder.join("incoming")).trying("creating a file for a result")
    }

    /// Puts the result of a job in its place, whole or not at all.
    pub fn keep_result(&self, job: &str, scratch: NamedTempFile) -> Result<(), StoreError> {
        let path = self.result_path(job);
        scratch.as_file().sync_all().trying("writing a result to disk")?;
        scratch.persist(&path).map_err(|error| error.error).trying("putting a result in its place")?;
        sync_folder(&self.folder.join("results"));
        Ok(())
    }

    /// Forgets a job that has ended, with its result.
    pub fn forget_job(&self, id: &str) -> Result<(), StoreError> {
        let rows = self.index().execute("DELETE FROM jobs WHERE id = ? AND finished_ms IS NOT NULL", [id])?;
        if rows > 0 {
            let _ = fs::remove_file(self.result_path(id));
        }
        Ok(())
    }

    /// Forgets finished jobs older than `keep_s`, and the oldest whose results pass `result_bytes` together.
    pub fn prune_jobs(&self, keep_s: u64, result_bytes: u64) -> Result<u64, StoreError> {
        let index = self.index();
        let oldest_ms = now_ms().saturating_sub((keep_s as i64).saturating_mul(1000));
        let sql = "SELECT id FROM (SELECT id, finished_ms, \
                   sum(result_bytes) OVER (ORDER BY finished_ms DESC, id) AS together \
                   FROM jobs WHERE finished_ms IS NOT NULL) WHERE finished_ms < ? OR together > ?";
        let mut statement = index.prepare_cached(sql)?;
        let gone: Vec<String> = statement
            .query_map(params![oldest_ms, i64::try_from(result_bytes).unwrap_or(i64::MAX)], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        for id in &gone {
            index.execute("DELETE FROM jobs WHERE id = ?", [id])?;
            let _ = fs::remove_file(self.result_path(id));
        }
        Ok(gone.len() as u64)
    }

    /// After a restart: what ran waits again; results without a job go.
    pub(super) fn reconcile_jobs(&self) -> Result<(), StoreError> {
        let index = self.index();
        index.execute(
            "UPDATE jobs SET state = ? WHERE state = ?",
            params![JobState::Queued.name(), JobState::Running.name()],
        )?;
        for entry in fs::read_dir(self.folder.join("results")).into_iter().flatten().flatten() {
            let id = entry.file_name().to_string_lossy().into_owned();
            if find(&index, "state = 'done' AND id = ?", &id)?.is_none() {
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(())
    }
}
