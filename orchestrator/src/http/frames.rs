//! Frames at once: answered from what is known, from the cache, or rendered.

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use isoframe_raster::backend::Cancel;
use tokio_util::io::ReaderStream;

use super::app::{App, blocking};
use super::ask::{Ask, Pins};
use super::assets::{check_stored, is_id, not_found};
use super::problem::ApiError;
use super::render::{self, Made, render};
use super::request::{Params, Segment, is_head, read_json};
use super::{conditional, jobs, openapi};
use crate::admission::{Full, Slot, Ticket};
use crate::config::ms;
use crate::fallback::Fallback;
use crate::plan::Plan;
use crate::store::{AssetKind, CachedBody, CachedFrame, FrameMeta};

/// Bytes read from a large file at once. *Units*: bytes.
const READ_BYTES: usize = 256 * 1024;

/// Render a frame.
///
/// The body is a frame request with `format` beside its fields. The answer is the file; its receipt is inside.
/// With `Prefer: respond-async` a frame that is not cached becomes a job.
#[utoipa::path(
    post, path = "/v1/frames", tag = "frames",
    params(openapi::FrameHeaders, openapi::JobHeaders),
    request_body(content = openapi::FrameBody, content_type = "application/json"),
    responses(
        (status = OK, response = openapi::FrameFile), (status = ACCEPTED, body = jobs::Job, description = "A job."),
        (status = 400, response = openapi::Problems), (status = 404, response = openapi::Problems),
        (status = 408, response = openapi::Problems), (status = 409, response = openapi::Problems),
        (status = 410, response = openapi::Problems), (status = 413, response = openapi::Problems),
        (status = 415, response = openapi::Problems), (status = 422, response = openapi::Problems),
        (status = 500, response = openapi::Problems), (status = 503, response = openapi::Problems),
        (status = 504, response = openapi::Problems),
    )
)]
pub(crate) async fn post(State(app): State<Arc<App>>, request: Request) -> Result<Response, ApiError> {
    app.open_for_work()?;
    // Let in before the body is read: what waits is bounded, bodies included.
    let ticket = enter(&app)?;
    let headers = request.headers().clone();
    let (value, _) = read_json(request, app.settings.server.json_bytes).await?;
    let ask = Ask::from_json(value)?;
    let pins = Pins { immutable: false };
    let post = Method::POST;
    answer(&app, ask, pins, &post, &headers, Some(ticket)).await
}

/// A frame of a scene, as a file.
///
/// Parameters are the flags of `isoframe render`. The strong ETag is known from the parameters alone: 304 and HEAD
/// are answered without rendering. With `engine` and `neural=off` in the URL the answer never changes and is
/// `immutable`.
#[utoipa::path(
    method(get, head), path = "/v1/scenes/{id}/frame.png", tag = "frames",
    params(("id" = String, Path, description = "Scene, blake3, hex."), openapi::FrameQuery, openapi::FrameHeaders),
    responses(
        (status = OK, response = openapi::FrameFile), (status = ACCEPTED, body = jobs::Job, description = "A job."),
        (status = NOT_MODIFIED, description = "The client has this file."),
        (status = 404, response = openapi::Problems), (status = 409, response = openapi::Problems),
        (status = 410, response = openapi::Problems), (status = 422, response = openapi::Problems),
        (status = 500, response = openapi::Problems), (status = 503, response = openapi::Problems),
        (status = 504, response = openapi::Problems),
    )
)]
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    Segment(scene): Segment,
    Params(pairs): Params<Vec<(String, String)>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    app.open_for_work()?;
    if !is_id(&scene) {
        return Err(not_found(AssetKind::Scene, &scene));
    }
    let extension = uri.path().rsplit('.').next().unwrap_or_default();
    let (ask, pins) = Ask::from_query(&scene, extension, pairs)?;
    answer(&app, ask, pins, &method, &headers, None).await
}

/// Answers from the first of these that can: the client's own copy, the cache, the plan, the renderer.
async fn answer(
    app: &Arc<App>,
    ask: Ask,
    pins: Pins,
    method: &Method,
    headers: &HeaderMap,
    ticket: Option<Ticket>,
) -> Result<Response, ApiError> {
    let (plan, etag) = ask.plan(app)?;
    let known = {
        let (app, scene, etag) = (app.clone(), plan.scene().to_owned(), etag.clone());
        let environment = plan.request().environment.clone();
        let look = Look::of(method, headers, &etag);
        blocking(move || look_up(&app, &scene, environment.as_deref(), &etag, look)).await??
    };
    let reply = Reply { app, plan: &plan, etag: &etag, pins, sha256: conditional::wants_sha256(headers) };
    match known {
        Known::Here => return Ok(reply.not_modified()),
        Known::Meta(meta) => return reply.head(Some(&meta), &ask),
        Known::File(frame) => return reply.cached(frame),
        Known::Nothing => {}
    }
    if is_head(method) {
        check_scene_allows(app, &ask, &plan).await?;
        return reply.head(None, &ask);
    }
    if conditional::prefers_async(headers) {
        return jobs::submit_frame(app, &ask, headers).await;
    }
    let ticket = ticket.map_or_else(|| enter(app), Ok)?;
    let start = Instant::now();
    let slot = wait_for_slot(app, &ticket).await?;
    let wait = start.elapsed();
    app.metrics.frame_seconds.with_label_values(&["wait"]).observe(wait.as_secs_f64());
    // While this waited, another request may have made the same frame.
    if !conditional::wants_fresh(headers)
        && let Some(frame) = cached(app, &plan, &etag).await?
    {
        drop(slot);
        return reply.cached(frame);
    }
    let limit = ms(app.settings.render.render_ms);
    let mut made = render(app, &ask, &plan, slot, limit, Cancel::default()).await?;
    drop(ticket);
    made.stages.wait = wait;
    reply.made(made).await
}

/// A place in the queue, or the refusal of one.
pub(crate) fn enter(app: &App) -> Result<Ticket, ApiError> {
    app.admission.enter().map_err(|Full { retry_after_s }| {
        app.metrics.refused.with_label_values(&["interactive"]).inc();
        ApiError::Overload { reason: "the queue of frames is full", retry_after_s }
    })
}

async fn wait_for_slot(app: &App, ticket: &Ticket) -> Result<Slot, ApiError> {
    let waited = tokio::time::timeout(ms(app.settings.render.queue_ms), ticket.slot()).await;
    waited.map_err(|_| {
        app.metrics.refused.with_label_values(&["interactive_wait"]).inc();
        ApiError::Overload {
            reason: "the turn of this frame did not come in time",
            retry_after_s: app.admission.retry_after(),
        }
    })
}

/// What is worth looking for.
#[derive(Debug, Clone, Copy)]
enum Look {
    /// The client has it.
    Nowhere,
    /// HEAD: what is known of the file.
    ForMeta,
    /// The file.
    ForFile,
    /// The client wants it made anew.
    Past,
}

impl Look {
    fn of(method: &Method, headers: &HeaderMap, etag: &str) -> Look {
        if method != Method::POST && conditional::is_known(headers, etag) {
            Look::Nowhere
        } else if conditional::wants_fresh(headers) {
            Look::Past
        } else if is_head(method) {
            Look::ForMeta
        } else {
            Look::ForFile
        }
    }
}

/// What is known before anything is rendered.
enum Known {
    Here,
    Meta(FrameMeta),
    File(CachedFrame),
    Nothing,
}

/// Blocks. A frame of a scene that was deleted is not answered, cached or not.
fn look_up(
    app: &App,
    scene: &str,
    environment: Option<&str>,
    etag: &str,
    look: Look,
) -> Result<Known, ApiError> {
    check_stored(app, scene, environment)?;
    let cache = app.store.frames();
    let known = match look {
        Look::Nowhere => return Ok(Known::Here),
        Look::Past => return Ok(Known::Nothing),
        Look::ForMeta => cache.meta(scene, etag).map(Known::Meta),
        Look::ForFile => cache.get(scene, etag).map(Known::File),
    };
    if cache.enabled() {
        let outcome = if known.is_some() { "hit" } else { "miss" };
        app.metrics.cache.with_label_values(&[outcome]).inc();
    }
    Ok(known.unwrap_or(Known::Nothing))
}

async fn cached(app: &Arc<App>, plan: &Plan, etag: &str) -> Result<Option<CachedFrame>, ApiError> {
    if !app.store.frames().contains(plan.scene(), etag) {
        return Ok(None);
    }
    let (app, scene, etag) = (app.clone(), plan.scene().to_owned(), etag.to_owned());
    blocking(move || app.store.frames().get(&scene, &etag)).await
}

/// HEAD promises what GET gives. What has to be read for it is read in a slot.
async fn check_scene_allows(app: &Arc<App>, ask: &Ask, plan: &Plan) -> Result<(), ApiError> {
    let ticket = match app.frames.resident_scene(plan.scene()) {
        Some(_) => None,
        None => Some(enter(app)?),
    };
    let slot = match &ticket {
        Some(ticket) => Some(wait_for_slot(app, ticket).await?),
        None => None,
    };
    let (app, ask, plan) = (app.clone(), ask.clone(), plan.clone());
    blocking(move || {
        let _slot = slot;
        render::check(&app, &ask, &plan)
    })
    .await?
}

/// What all answers to one request share.
struct Reply<'a> {
    app: &'a Arc<App>,
    plan: &'a Plan,
    etag: &'a str,
    pins: Pins,
    sha256: bool,
}

impl Reply<'_> {
    /// Validators and identity: what 200, 304 and HEAD have in common.
    fn headers(&self, kept: bool) -> HeaderMap {
        let mut headers = HeaderMap::new();
        put(&mut headers, header::ETAG, self.etag);
        headers.insert(header::CACHE_CONTROL, conditional::cache_control(self.pins.immutable, kept));
        put(&mut headers, header::ACCEPT_RANGES, "none");
        put(&mut headers, name("isoframe-plan-id"), self.plan.plan_id());
        put(&mut headers, name("isoframe-frame-id"), self.plan.frame_id());
        put(&mut headers, name("isoframe-engine"), self.plan.engine());
        put(&mut headers, name("isoframe-path"), &self.plan.path().to_string());
        let model = self.plan.model().map_or_else(|| "none".to_owned(), |model| model.to_string());
        put(&mut headers, name("isoframe-model"), &model);
        headers
    }

    /// What is known once the file is.
    fn file_headers(&self, meta: &FrameMeta, fallback: Option<&Fallback>, kept: bool) -> HeaderMap {
        let mut headers = self.headers(kept);
        put(&mut headers, header::CONTENT_TYPE, &meta.content_type);
        put(&mut headers, name("isoframe-pixels"), &meta.pixels);
        put(&mut headers, name("isoframe-backend"), &meta.backend);
        if let Some(fallback) = fallback {
            put(&mut headers, name("isoframe-fallback"), fallback.reason.name());
        }
        if self.sha256 {
            put(&mut headers, name("repr-digest"), &format!("sha-256=:{}:", meta.sha256));
        }
        headers
    }

    fn not_modified(&self) -> Response {
        (StatusCode::NOT_MODIFIED, self.headers(true)).into_response()
    }

    fn head(&self, meta: Option<&FrameMeta>, ask: &Ask) -> Result<Response, ApiError> {
        let mut headers = match meta {
            Some(meta) => self.file_headers(meta, self.plan.fallback(), true),
            None => self.headers(true),
        };
        put(&mut headers, header::CONTENT_TYPE, ask.format.media_type());
        let Some(meta) = meta else {
            // An empty body would say that the file has no bytes; how many it has is not known yet.
            let unknown = futures_util::stream::empty::<Result<bytes::Bytes, std::convert::Infallible>>();
            return Ok((headers, Body::from_stream(unknown)).into_response());
        };
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(meta.bytes));
        Ok((headers, Body::empty()).into_response())
    }

    fn cached(&self, frame: CachedFrame) -> Result<Response, ApiError> {
        let mut headers = self.file_headers(&frame.meta, self.plan.fallback(), true);
        put(&mut headers, name("cache-status"), "isoframe; hit");
        put(&mut headers, name("server-timing"), "cache;desc=hit");
        let bytes = frame.meta.bytes;
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(bytes));
        self.app.metrics.sent_bytes.inc_by(bytes);
        let body = match frame.body {
            CachedBody::Memory(file) => Body::from(file),
            CachedBody::File(file) => file_body(file),
        };
        Ok((headers, body).into_response())
    }

    async fn made(&self, made: Made) -> Result<Response, ApiError> {
        let mut headers = self.file_headers(&made.meta, made.fallback.as_ref(), made.may_be_kept());
        if self.app.store.frames().enabled() {
            put(&mut headers, name("cache-status"), "isoframe; fwd=miss; stored");
        }
        let timing: Vec<_> = made
            .stages
            .named()
            .iter()
            .map(|(stage, took)| format!("{stage};dur={:.2}", took.as_secs_f64() * 1e3))
            .collect();
        put(&mut headers, name("server-timing"), &timing.join(", "));
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(made.meta.bytes));
        self.app.metrics.sent_bytes.inc_by(made.meta.bytes);
        let body = match self.app.answers.try_hold(made.file) {
            Ok(body) => body,
            Err(file) => {
                // Too much is held for clients already: this one waits on disk.
                let spilled = self.app.store(move |store| {
                    let mut intake = store.intake()?;
                    intake.write(&file)?;
                    intake.reopen()
                });
                file_body(spilled.await?)
            }
        };
        Ok((headers, body).into_response())
    }
}

/// An open file as a body.
pub(crate) fn file_body(file: std::fs::File) -> Body {
    Body::from_stream(ReaderStream::with_capacity(tokio::fs::File::from_std(file), READ_BYTES))
}

fn name(name: &'static str) -> HeaderName {
    HeaderName::from_static(name)
}

/// Sets a header. Our values are hex, numbers and names; a driver's name may hold more, which is left out.
fn put(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    let visible: String = value.chars().filter(|c| (' '..='~').contains(c)).collect();
    if let Ok(value) = HeaderValue::from_str(&visible) {
        headers.insert(name, value);
    }
}
