//! Who does the jobs: takes the oldest, makes its frames one by one, leaves its file.

use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use isoframe_raster::backend::Cancel;
use serde::Serialize;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::app::{App, blocking, request_panic_text};
use super::ask::Ask;
use super::assets::check_stored;
use super::jobs::ResultMeta;
use super::problem::ApiError;
use super::render::render;
use super::sequences::{NamedAsk, asks_of};
use crate::config::ms;
use crate::fallback::{Decided, Fallback, Reason};
use crate::store::{CachedBody, CachedFrame, FrameMeta, JobKind, JobRow, JobState, base64_of};

/// Pause after the index failed, and between looks for old jobs. *Units*: seconds.
const PAUSE_S: u64 = 1;
const PRUNE_S: u64 = 30;

/// Works until the service stops. What it was in the middle of waits for the next start.
pub(crate) async fn work(app: Arc<App>) {
    let attempts = app.settings.jobs.attempts;
    let gave_up = ApiError::internal("begun too often").problem();
    let gave_up = serde_json::to_string(&gave_up).unwrap_or_default();
    while !app.stopping.is_cancelled() {
        let accepted = app.jobs.wake.notified();
        let problem = gave_up.clone();
        match app.store(move |store| store.begin_job(attempts, &problem)).await {
            Ok(Some(row)) => {
                let span = tracing::info_span!("job", id = row.id, kind = row.kind.name());
                run(&app, row).instrument(span).await;
            }
            Ok(None) => tokio::select! {
                () = accepted => {}
                () = app.stopping.cancelled() => {}
                () = tokio::time::sleep(Duration::from_secs(PRUNE_S)) => {}
            },
            Err(error) => {
                tracing::error!(%error, "the next job could not be read");
                tokio::time::sleep(Duration::from_secs(PAUSE_S)).await;
            }
        }
        let (keep_s, result_bytes) = (app.settings.jobs.keep_s, app.settings.jobs.result_bytes);
        if let Err(error) = app.store(move |store| store.prune_jobs(keep_s, result_bytes)).await {
            tracing::error!(%error, "old jobs could not be forgotten");
        }
    }
}

/// How a run of a job ended without a result.
enum Stop {
    Failed(ApiError),
    Cancelled,
    /// The service stops; the job waits for the next start.
    Shutdown,
}

impl Stop {
    /// Says which frame it was.
    fn within(self, frame: &str) -> Stop {
        match self {
            Stop::Failed(error) => Stop::Failed(error.within(frame)),
            other => other,
        }
    }
}

impl<E: Into<ApiError>> From<E> for Stop {
    fn from(error: E) -> Stop {
        Stop::Failed(error.into())
    }
}

async fn run(app: &Arc<App>, row: JobRow) {
    let stop = app.jobs.begin(&row.id);
    let made = AssertUnwindSafe(make(app, &row, &stop)).catch_unwind().await;
    let made =
        made.unwrap_or_else(|panic| Err(ApiError::internal(request_panic_text(panic.as_ref())).into()));
    if let Err(error) = settle(app, &row, made).await {
        tracing::error!(%error, "how a job ended could not be written down");
    }
    app.jobs.end(&row.id);
}

async fn settle(
    app: &App,
    row: &JobRow,
    made: Result<(NamedTempFile, ResultMeta), Stop>,
) -> Result<(), ApiError> {
    let (id, total) = (row.id.clone(), row.frames_total);
    let frames_done = app.jobs.frames_done(&id).unwrap_or(0);
    match made {
        Ok((file, meta)) => {
            let json = serde_json::to_string(&meta).map_err(ApiError::internal)?;
            tracing::info!(bytes = meta.bytes, "job done");
            app.store(move |store| {
                store.keep_result(&id, file)?;
                store.finish_job(&id, JobState::Done, total, None, Some((&json, meta.bytes)))
            })
            .await?;
        }
        Err(Stop::Cancelled) => {
            tracing::info!("job cancelled");
            app.store(move |store| store.finish_job(&id, JobState::Cancelled, frames_done, None, None))
                .await?;
        }
        Err(Stop::Shutdown) => app.store(move |store| store.requeue_job(&id, false)).await?,
        // A fault of ours may be gone the next time; a fault of the request will not.
        Err(Stop::Failed(error)) if error.may_pass() && row.attempts < app.settings.jobs.attempts => {
            tracing::warn!(%error, attempt = row.attempts, "job failed; it is tried again");
            app.store(move |store| store.requeue_job(&id, true)).await?;
        }
        Err(Stop::Failed(error)) => {
            error.log();
            tracing::info!(%error, "job failed");
            let mut problem = error.problem();
            problem.instance = Some(format!("/v1/jobs/{id}"));
            let json = serde_json::to_string(&problem).map_err(ApiError::internal)?;
            app.store(move |store| store.finish_job(&id, JobState::Failed, frames_done, Some(&json), None))
                .await?;
        }
    }
    Ok(())
}

async fn make(
    app: &Arc<App>,
    row: &JobRow,
    stop: &CancellationToken,
) -> Result<(NamedTempFile, ResultMeta), Stop> {
    let request = serde_json::from_str(&row.request).map_err(ApiError::internal)?;
    let asks = asks_of(row.kind, request)?;
    let scratch = app.store(|store| store.scratch()).await?;
    if row.kind == JobKind::Frame {
        let ask = asks.into_iter().next().ok_or_else(|| ApiError::internal("a job without a frame"))?.ask;
        let frame = frame(app, &ask, stop).await?;
        return Ok(blocking(move || single(scratch, frame, &ask)).await??);
    }
    let mut archive = Archive::new(scratch)?;
    for (index, NamedAsk { name, ask }) in asks.into_iter().enumerate() {
        if app.stopping.is_cancelled() && index > 0 {
            return Err(Stop::Shutdown);
        }
        let frame = frame(app, &ask, stop).await.map_err(|stop| stop.within(&name))?;
        archive = blocking(move || archive.add(name, &ask, frame)).await??;
        app.jobs.progress(&row.id, index as u32 + 1);
    }
    let kind = row.kind.name();
    let id = row.id.clone();
    Ok(blocking(move || archive.finish(kind, &id)).await??)
}

/// One frame of a job.
struct Finished {
    meta: FrameMeta,
    body: CachedBody,
    fallback: Option<Fallback>,
}

/// One frame of a job, from the cache or made in a slot.
async fn frame(app: &Arc<App>, ask: &Ask, stop: &CancellationToken) -> Result<Finished, Stop> {
    let (plan, etag) = ask.plan(app)?;
    let cached = {
        let (app, plan) = (app.clone(), plan.clone());
        blocking(move || {
            check_stored(&app, plan.scene(), plan.request().environment.as_deref())?;
            Ok::<_, ApiError>(app.store.frames().get(plan.scene(), &etag))
        })
        .await??
    };
    if let Some(CachedFrame { meta, body }) = cached {
        return Ok(Finished { meta, body, fallback: plan.fallback().cloned() });
    }
    let work = async {
        let slot = app.admission.batch_slot().await;
        let limit = ms(app.settings.jobs.frame_ms);
        render(app, ask, &plan, slot, limit, Cancel::default()).await
    };
    let made = tokio::select! {
        made = work => made?,
        () = stop.cancelled() => return Err(Stop::Cancelled),
    };
    Ok(Finished { meta: made.meta, body: CachedBody::Memory(made.file), fallback: made.fallback })
}

/// Copies a frame's file.
fn copy(body: CachedBody, to: &mut impl Write) -> std::io::Result<u64> {
    match body {
        CachedBody::Memory(file) => to.write_all(&file).map(|()| file.len() as u64),
        CachedBody::File(mut file) => std::io::copy(&mut file, to),
    }
}

/// The result of a job that makes one frame: the frame's file.
fn single(
    mut scratch: NamedTempFile,
    frame: Finished,
    ask: &Ask,
) -> Result<(NamedTempFile, ResultMeta), ApiError> {
    copy(frame.body, &mut scratch).map_err(ApiError::internal)?;
    let meta = ResultMeta {
        file_name: format!("frame.{}", ask.format.extension()),
        content_type: frame.meta.content_type.clone(),
        bytes: frame.meta.bytes,
        sha256: frame.meta.sha256.clone(),
        frame: Some(frame.meta),
        fallback: frame.fallback.map(|fallback| fallback.reason.name().to_owned()),
    };
    Ok((scratch, meta))
}

/// What a manifest says of a frame: enough to check it anywhere.
#[derive(Serialize)]
struct Entry {
    name: String,
    time_s: f64,
    plan_id: String,
    frame_id: String,
    engine: String,
    path: String,
    model: String,
    pixels: String,
    sha256: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fallback: Option<&'static str>,
}

/// A zip of frames and their manifest. The same frames give the same bytes: fixed order, no times, no
/// compression (frames are compressed already).
struct Archive {
    zip: ZipWriter<BufWriter<File>>,
    scratch: NamedTempFile,
    entries: Vec<Entry>,
}

fn stored() -> SimpleFileOptions {
    SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(zip::DateTime::default())
        .unix_permissions(0o644)
        .large_file(false)
}

impl Archive {
    fn new(scratch: NamedTempFile) -> Result<Archive, ApiError> {
        let file = scratch.reopen().map_err(ApiError::internal)?;
        Ok(Archive { zip: ZipWriter::new(BufWriter::new(file)), scratch, entries: Vec::new() })
    }

    fn add(mut self, name: String, ask: &Ask, frame: Finished) -> Result<Archive, ApiError> {
        self.zip.start_file(&name, stored()).map_err(ApiError::internal)?;
        copy(frame.body, &mut self.zip).map_err(ApiError::internal)?;
        // What circumstance decided is in log and metrics: the same frames give the same zip.
        let reason = frame.fallback.map(|fallback| fallback.reason);
        let told = reason.filter(|reason| reason.decided() != Decided::ByCircumstance);
        let meta = frame.meta;
        self.entries.push(Entry {
            name,
            time_s: ask.request.time_s,
            plan_id: meta.plan_id,
            frame_id: meta.frame_id,
            engine: meta.engine,
            path: meta.path,
            model: meta.model,
            pixels: meta.pixels,
            sha256: meta.sha256,
            fallback: told.map(Reason::name),
        });
        Ok(self)
    }

    fn finish(mut self, kind: &str, id: &str) -> Result<(NamedTempFile, ResultMeta), ApiError> {
        let manifest = serde_json::json!({ "kind": kind, "frames": self.entries });
        let manifest = serde_json::to_vec_pretty(&manifest).map_err(ApiError::internal)?;
        self.zip.start_file("manifest.json", stored()).map_err(ApiError::internal)?;
        self.zip.write_all(&manifest).map_err(ApiError::internal)?;
        let mut writer = self.zip.finish().map_err(ApiError::internal)?;
        writer.flush().map_err(ApiError::internal)?;
        let (sha256, bytes) = sha256_of(writer.get_mut()).map_err(ApiError::internal)?;
        let file_name = format!("{kind}-{}.zip", id.get(..8).unwrap_or(id));
        let content_type = "application/zip".into();
        let meta = ResultMeta { file_name, content_type, bytes, sha256, frame: None, fallback: None };
        Ok((self.scratch, meta))
    }
}

/// SHA-256 of a whole file, base64, and its size.
fn sha256_of(file: &mut File) -> std::io::Result<(String, u64)> {
    file.seek(SeekFrom::Start(0))?;
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; 256 * 1024];
    let mut bytes = 0;
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok((base64_of(&hasher.finalize()), bytes)),
            read => {
                hasher.update(&chunk[..read]);
                bytes += read as u64;
            }
        }
    }
}
