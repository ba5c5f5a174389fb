//! Jobs as clients see them: accepted, watched, fetched, cancelled.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, stream};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use utoipa::ToSchema;

use super::app::App;
use super::ask::Ask;
use super::frames::file_body;
use super::problem::{ApiError, Problem};
use super::request::Segment;
use super::{assets, conditional, ids, openapi};
use crate::store::{AssetKind, FrameMeta, JobKind, JobRow, JobState, NewJob, Submitted, Trying};

/// Longest Idempotency-Key. *Units*: bytes.
const KEY_MAX_BYTES: usize = 255;

/// A sign of life on event streams. *Units*: seconds.
const KEEP_ALIVE_S: u64 = 15;

/// Work that outlives its request.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Job {
    /// Names the job.
    pub id: String,
    /// Where it is.
    pub url: String,
    /// Progress as server-sent events, until the job ends.
    pub events_url: String,
    /// `frame`, `sequence` or `batch`.
    pub kind: String,
    /// `queued`, `running`, `done`, `failed` or `cancelled`.
    pub state: String,
    /// Frames made so far.
    pub frames_done: u32,
    /// Frames it makes.
    pub frames_total: u32,
    /// Times it was begun; a restart of the server begins it again.
    pub attempts: u32,
    /// In milliseconds since 1970.
    pub created_ms: i64,
    /// In milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_ms: Option<i64>,
    /// The file it made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<JobResult>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
}

/// The file a job made.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct JobResult {
    /// Where it is.
    pub url: String,
    /// Media type.
    pub content_type: String,
    /// Size.
    pub bytes: u64,
}

/// What the index keeps about a result.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ResultMeta {
    pub file_name: String,
    pub content_type: String,
    pub bytes: u64,
    /// Base64.
    pub sha256: String,
    /// The frame, where the result is one.
    pub frame: Option<FrameMeta>,
    /// Why that frame was not made as asked.
    pub fallback: Option<String>,
}

impl Job {
    fn of(row: JobRow, board: &JobBoard) -> Result<Job, ApiError> {
        let url = format!("/v1/jobs/{}", row.id);
        let meta: Option<ResultMeta> =
            row.result.as_deref().map(serde_json::from_str).transpose().map_err(ApiError::internal)?;
        let problem =
            row.problem.as_deref().map(serde_json::from_str).transpose().map_err(ApiError::internal)?;
        let live = (row.state == JobState::Running).then(|| board.frames_done(&row.id)).flatten();
        Ok(Job {
            events_url: format!("{url}/events"),
            kind: row.kind.name().into(),
            state: row.state.name().into(),
            frames_done: live.unwrap_or(row.frames_done),
            frames_total: row.frames_total,
            attempts: row.attempts,
            created_ms: row.created_ms,
            finished_ms: row.finished_ms,
            result: meta.map(|meta| JobResult {
                url: format!("{url}/result"),
                content_type: meta.content_type,
                bytes: meta.bytes,
            }),
            problem,
            id: row.id,
            url,
        })
    }
}

/// What this process knows of jobs beside the index: who watches, what runs, which keys are being handled.
#[derive(Debug, Default)]
pub(crate) struct JobBoard {
    /// Told when a job was accepted.
    pub wake: Notify,
    live: Mutex<HashMap<String, Live>>,
    keys: Mutex<HashSet<String>>,
}

/// A job that is watched or runs.
#[derive(Debug)]
struct Live {
    /// Frames done; every change, the last one included, wakes those who watch.
    frames_done: watch::Sender<u32>,
    stop: CancellationToken,
}

impl Live {
    fn new() -> Live {
        Live { frames_done: watch::Sender::new(0), stop: CancellationToken::new() }
    }
}

impl JobBoard {
    fn live(&self) -> MutexGuard<'_, HashMap<String, Live>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watch(&self, id: &str) -> watch::Receiver<u32> {
        self.live().entry(id.to_owned()).or_insert_with(Live::new).frames_done.subscribe()
    }

    pub(crate) fn frames_done(&self, id: &str) -> Option<u32> {
        self.live().get(id).map(|live| *live.frames_done.borrow())
    }

    /// A job begins; the token stops it.
    pub(crate) fn begin(&self, id: &str) -> CancellationToken {
        let mut live = self.live();
        let entry = live.entry(id.to_owned()).or_insert_with(Live::new);
        entry.stop = CancellationToken::new();
        entry.frames_done.send_replace(0);
        entry.stop.clone()
    }

    /// A job has made so many frames.
    pub(crate) fn progress(&self, id: &str, frames_done: u32) {
        if let Some(live) = self.live().get(id) {
            live.frames_done.send_replace(frames_done);
        }
    }

    /// A job has ended, or waits again: those who watch look at the index once more.
    pub(crate) fn end(&self, id: &str) {
        self.live().remove(id);
    }

    fn stop(&self, id: &str) {
        if let Some(live) = self.live().get(id) {
            live.stop.cancel();
        }
    }

    /// Holds the client's key while its request is handled.
    pub(crate) fn hold_key<'a>(&'a self, headers: &HeaderMap) -> Result<Option<Key<'a>>, ApiError> {
        let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
        let fit = |text: &&str| !text.is_empty() && text.len() <= KEY_MAX_BYTES;
        let Some(key) = value.to_str().ok().map(|text| text.trim_matches('"')).filter(fit) else {
            let reason = format!("is not 1 to {KEY_MAX_BYTES} visible characters");
            return Err(ApiError::invalid("Idempotency-Key", reason));
        };
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if !keys.insert(key.to_owned()) {
            return Err(ApiError::IdempotencyInFlight);
        }
        Ok(Some(Key { board: self, key: key.to_owned() }))
    }
}

/// A key of a request that is being handled.
pub(crate) struct Key<'a> {
    board: &'a JobBoard,
    key: String,
}

impl Drop for Key<'_> {
    fn drop(&mut self) {
        self.board.keys.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

/// Accepts one frame as a job.
pub(crate) async fn submit_frame(
    app: &Arc<App>,
    ask: &Ask,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    let key = app.jobs.hold_key(headers)?;
    submit(app, JobKind::Frame, ask.to_json(), std::slice::from_ref(ask), key.as_ref(), headers).await
}

/// Accepts a job: once this answers 202, the job is on disk.
pub(crate) async fn submit(
    app: &Arc<App>,
    kind: JobKind,
    request: Value,
    asks: &[Ask],
    key: Option<&Key<'_>>,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    app.open_for_work()?;
    let request = request.to_string();
    let mut needs: Vec<(AssetKind, String)> = Vec::new();
    for ask in asks {
        let environment = ask.request.environment.iter().map(|id| (AssetKind::Environment, id.clone()));
        needs.extend(environment.chain([(AssetKind::Scene, ask.request.scene.clone())]));
    }
    needs.sort_unstable_by(|a, b| (a.0.name(), &a.1).cmp(&(b.0.name(), &b.1)));
    needs.dedup();
    let new = NewJob {
        id: ids::job_id(),
        kind,
        body_hash: blake3::hash(request.as_bytes()).to_hex().to_string(),
        request,
        frames_total: asks.len() as u32,
        assets: needs,
        idempotency_key: key.map(|key| key.key.clone()),
    };
    let queue_jobs = app.settings.jobs.queue_jobs;
    let row = match app.store(move |store| store.submit_job(&new, queue_jobs)).await? {
        Submitted::New(row) => {
            app.jobs.wake.notify_one();
            row
        }
        Submitted::Known(row) => row,
        Submitted::Mismatch(job) => return Err(ApiError::IdempotencyMismatch { job }),
        Submitted::MissingAsset(kind, id) => return Err(assets::not_found(kind, &id)),
        Submitted::Full => {
            app.metrics.refused.with_label_values(&["jobs"]).inc();
            let retry_after_s = app.admission.retry_after();
            return Err(ApiError::Overload { reason: "the queue of jobs is full", retry_after_s });
        }
    };
    let job = Job::of(row, &app.jobs)?;
    let location = HeaderValue::from_str(&job.url).map_err(ApiError::internal)?;
    let mut response = (StatusCode::ACCEPTED, [(header::LOCATION, location)], Json(job)).into_response();
    if conditional::prefers_async(headers) {
        let applied = HeaderValue::from_static("respond-async");
        response.headers_mut().insert(HeaderName::from_static("preference-applied"), applied);
    }
    Ok(response)
}

async fn row(app: &App, id: &str) -> Result<JobRow, ApiError> {
    let wanted = id.to_owned();
    let row = app.store(move |store| store.job(&wanted)).await?;
    row.ok_or_else(|| {
        let id = if is_job_id(id) { id } else { "(not an id)" };
        ApiError::JobNotFound(id.to_owned())
    })
}

fn is_job_id(id: &str) -> bool {
    id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// How a job is.
#[utoipa::path(
    get, path = "/v1/jobs/{id}", tag = "jobs", params(("id" = String, Path, description = "Job.")),
    responses((status = OK, body = Job, description = "It."), (status = 404, response = openapi::Problems))
)]
pub(crate) async fn find(State(app): State<Arc<App>>, Segment(id): Segment) -> Result<Response, ApiError> {
    let job = Job::of(row(&app, &id).await?, &app.jobs)?;
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(job)).into_response())
}

/// Cancel a job that waits or runs; forget one that has ended, with its result.
#[utoipa::path(
    delete, path = "/v1/jobs/{id}", tag = "jobs", params(("id" = String, Path, description = "Job.")),
    responses(
        (status = ACCEPTED, body = Job, description = "It is being cancelled."),
        (status = NO_CONTENT, description = "It is forgotten."),
        (status = 404, response = openapi::Problems)
    )
)]
pub(crate) async fn delete(State(app): State<Arc<App>>, Segment(id): Segment) -> Result<Response, ApiError> {
    if row(&app, &id).await?.state.is_final() {
        app.store(move |store| store.forget_job(&id)).await?;
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let queued = id.clone();
    if app.store(move |store| store.cancel_queued_job(&queued)).await? {
        app.jobs.end(&id);
    } else {
        app.jobs.stop(&id);
    }
    let job = Job::of(row(&app, &id).await?, &app.jobs)?;
    Ok((StatusCode::ACCEPTED, Json(job)).into_response())
}

/// The file that a job made.
#[utoipa::path(
    get, path = "/v1/jobs/{id}/result", tag = "jobs", params(("id" = String, Path, description = "Job.")),
    responses(
        (status = OK, description = "A frame's file, or a zip of frames with a manifest.",
            content((Vec<u8> = "application/zip"), (Vec<u8> = "image/png"), (Vec<u8> = "image/x-exr"),
                (Vec<u8> = "image/webp"), (Vec<u8> = "image/jpeg"))),
        (status = NOT_MODIFIED, description = "The client has this file."),
        (status = 404, response = openapi::Problems), (status = 409, response = openapi::Problems)
    )
)]
pub(crate) async fn result(
    State(app): State<Arc<App>>,
    Segment(id): Segment,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let row = row(&app, &id).await?;
    let Some(meta) = row.result.filter(|_| row.state == JobState::Done) else {
        return Err(ApiError::JobNotDone { state: row.state.name() });
    };
    let meta: ResultMeta = serde_json::from_str(&meta).map_err(ApiError::internal)?;
    let etag = meta.frame.as_ref().map_or_else(|| format!("\"{}\"", meta.sha256), |frame| frame.etag.clone());
    let mut answer = HeaderMap::new();
    let mut put = |name: &'static str, value: String| {
        if let Ok(value) = HeaderValue::from_str(&value) {
            answer.insert(HeaderName::from_static(name), value);
        }
    };
    put("etag", etag.clone());
    put("cache-control", "private, no-cache".into());
    if conditional::is_known(&headers, &etag) {
        return Ok((StatusCode::NOT_MODIFIED, answer).into_response());
    }
    put("content-type", meta.content_type);
    put("content-length", meta.bytes.to_string());
    put("content-disposition", format!("attachment; filename=\"{}\"", meta.file_name));
    if conditional::wants_sha256(&headers) {
        put("repr-digest", format!("sha-256=:{}:", meta.sha256));
    }
    if let Some(fallback) = meta.fallback {
        put("isoframe-fallback", fallback);
    }
    if let Some(frame) = meta.frame {
        put("isoframe-plan-id", frame.plan_id);
        put("isoframe-frame-id", frame.frame_id);
        put("isoframe-engine", frame.engine);
        put("isoframe-path", frame.path);
        put("isoframe-model", frame.model);
        put("isoframe-pixels", frame.pixels);
        put("isoframe-backend", frame.backend);
    }
    let path = app.store.result_path(&id);
    let file = app.store(move |_| std::fs::File::open(path).trying("opening a result")).await?;
    app.metrics.sent_bytes.inc_by(meta.bytes);
    Ok((answer, file_body(file)).into_response())
}

/// Progress of a job, as server-sent events: `progress` with the job each time it moves, then one event named
/// after how it ended, then the end of the stream.
#[utoipa::path(
    get, path = "/v1/jobs/{id}/events", tag = "jobs", params(("id" = String, Path, description = "Job.")),
    responses(
        (status = OK, body = String, content_type = "text/event-stream", description = "Events, until it ends."),
        (status = 404, response = openapi::Problems)
    )
)]
pub(crate) async fn events(
    State(app): State<Arc<App>>,
    Segment(id): Segment,
) -> Result<Sse<impl Stream<Item = Result<Event, axum::Error>>>, ApiError> {
    row(&app, &id).await?;
    let alive = KeepAlive::new().interval(Duration::from_secs(KEEP_ALIVE_S)).text("alive");
    Ok(Sse::new(stream::unfold(Watching::new(app, id), Watching::next)).keep_alive(alive))
}

/// One client's view of a job.
struct Watching {
    app: Arc<App>,
    id: String,
    changes: Option<watch::Receiver<u32>>,
    last: Option<(String, u32)>,
    over: bool,
}

impl Watching {
    fn new(app: Arc<App>, id: String) -> Watching {
        Watching { app, id, changes: None, last: None, over: false }
    }

    /// The next event; none after the last.
    async fn next(mut self) -> Option<(Result<Event, axum::Error>, Watching)> {
        while !self.over && !self.app.stopping.is_cancelled() {
            // Watched before it is read, so that no change falls between the two.
            let changes = self.changes.get_or_insert_with(|| self.app.jobs.watch(&self.id));
            changes.mark_unchanged();
            let Ok(row) = row(&self.app, &self.id).await else { break };
            let is_final = row.state.is_final();
            let name = if is_final { row.state.name() } else { "progress" };
            let Ok(job) = Job::of(row, &self.app.jobs) else { break };
            let now = (job.state.clone(), job.frames_done);
            self.over = is_final;
            if is_final {
                self.app.jobs.end(&self.id);
            }
            if is_final || self.last.as_ref() != Some(&now) {
                self.last = Some(now);
                return Some((Event::default().event(name).json_data(&job), self));
            }
            let stopping = self.app.stopping.clone();
            let changes = self.changes.as_mut()?;
            tokio::select! {
                // An error says that the job ended or waits again, and that a new watch is needed.
                changed = changes.changed() => if changed.is_err() { self.changes = None },
                () = stopping.cancelled() => break,
            }
        }
        None
    }
}
