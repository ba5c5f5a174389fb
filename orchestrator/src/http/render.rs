//! From a plan to a file: the one place where requests and jobs meet the renderer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use isoframe_raster::backend::Cancel;
use isoframe_raster::draw::DrawList;
use isoframe_raster::environment::Environment;
use isoframe_raster::frame::{ENGINE, FrameRequest, RenderError};
use isoframe_raster::prepared::Prepared;
use tokio::task::spawn_blocking;

use super::app::{App, panic_text};
use super::ask::Ask;
use super::problem::ApiError;
use super::{assets, scenes};
use crate::admission::Slot;
use crate::encode::{EncodeError, EncodeOptions, color_format, encode};
use crate::fallback::{Decided, Fallback};
use crate::frames::FramesError;
use crate::plan::Plan;
use crate::store::{AssetKind, FrameMeta, StoreError, sha256_base64};

/// A file that was just made.
#[derive(Debug)]
pub(crate) struct Made {
    pub meta: FrameMeta,
    pub file: Bytes,
    /// Why it was not made the way the request asked for.
    pub fallback: Option<Fallback>,
    pub stages: Stages,
}

/// What each stage took.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stages {
    pub wait: Duration,
    pub scene: Duration,
    pub render: Duration,
    pub encode: Duration,
}

impl Stages {
    /// Names for metrics and `Server-Timing`.
    pub(crate) fn named(&self) -> [(&'static str, Duration); 4] {
        [("wait", self.wait), ("scene", self.scene), ("render", self.render), ("encode", self.encode)]
    }
}

impl Made {
    /// Whether the file may be kept under the plan's name: circumstance alone may not decide what a name means,
    /// unless the frame is the one that the plan names.
    pub(crate) fn may_be_kept(&self) -> bool {
        let by_circumstance =
            self.fallback.as_ref().is_some_and(|f| f.reason.decided() == Decided::ByCircumstance);
        !by_circumstance || self.meta.frame_id == self.meta.plan_id
    }
}

/// What a frame costs here, learnt from the frames made: nanoseconds per coverage sample.
#[derive(Debug, Default)]
pub(crate) struct Throughput(AtomicU64);

/// How a finished frame moves the average: a fifth new, the rest old.
const AVERAGE_SHARE: f64 = 0.2;

impl Throughput {
    fn learn(&self, samples: u64, took: Duration) {
        let new = took.as_secs_f64() * 1e9 / samples.max(1) as f64;
        let old = f64::from_bits(self.0.load(Ordering::Relaxed));
        let next = if old == 0.0 { new } else { old + (new - old) * AVERAGE_SHARE };
        self.0.store(next.to_bits(), Ordering::Relaxed);
    }

    /// Milliseconds a frame of so many coverage samples may take; unknown before the first frame.
    pub(crate) fn estimate_ms(&self, samples: u64) -> Option<f64> {
        let nanoseconds = f64::from_bits(self.0.load(Ordering::Relaxed));
        (nanoseconds > 0.0).then(|| nanoseconds * samples as f64 / 1e6)
    }
}

/// Coverage samples of a frame: what its cost is counted in.
pub(crate) fn samples(request: &FrameRequest) -> u64 {
    u64::from(request.width) * u64::from(request.height) * u64::from(request.samples)
}

/// Asks a render to stop when nobody waits for it any more.
struct StopOnDrop<'a> {
    cancel: Cancel,
    app: &'a App,
    armed: bool,
}

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        if self.armed {
            self.cancel.cancel();
            self.app.metrics.renders_stopped.with_label_values(&["hang_up"]).inc();
        }
    }
}

/// Renders on a thread of its own, in a slot that is free when the render has really ended.
///
/// *Errors*: the request cannot be rendered; `limit` passed. Dropping the future stops the render.
pub(crate) async fn render(
    app: &Arc<App>,
    ask: &Ask,
    plan: &Plan,
    slot: Slot,
    limit: Duration,
    cancel: Cancel,
) -> Result<Made, ApiError> {
    let span = tracing::Span::current();
    let (app_there, ask, plan, cancel_there) = (app.clone(), ask.clone(), plan.clone(), cancel.clone());
    let mut stop = StopOnDrop { cancel: cancel.clone(), app, armed: true };
    let mut task = spawn_blocking(move || {
        let _slot = slot;
        span.in_scope(|| make(&app_there, &ask, &plan, &cancel_there))
    });
    let ended = tokio::time::timeout(limit, &mut task).await;
    stop.armed = false;
    match ended {
        Ok(joined) => joined.map_err(|error| ApiError::internal(panic_text(error)))?,
        Err(_) => {
            cancel.cancel();
            app.metrics.renders_stopped.with_label_values(&["time_limit"]).inc();
            Err(ApiError::RenderTimeout { limit_ms: limit.as_millis() as u64 })
        }
    }
}

/// Renders and encodes, and keeps the file where it may be kept.
fn make(app: &App, ask: &Ask, plan: &Plan, cancel: &Cancel) -> Result<Made, ApiError> {
    let start = Instant::now();
    let scene = scene(app, plan)?;
    let environment = environment(app, plan)?;
    let mut stages = Stages { scene: start.elapsed(), ..Stages::default() };
    let rendered = app.frames.render(plan, &scene, &environment, color_format(ask.format), cancel)?;
    stages.render = rendered.timings.render;
    app.throughput.learn(samples(plan.request()), stages.render);
    let start = Instant::now();
    let options = EncodeOptions { scene: Some(&scene.scene) };
    let encoded = encode(&rendered.frame, plan, ask.format, ask.selection, &options)?;
    app.frames.recycle(rendered.frame);
    let file = Bytes::from(encoded.bytes);
    let meta = FrameMeta {
        scene: plan.scene().into(),
        etag: plan.etag(ask.selection, ask.format),
        content_type: encoded.media_type.into(),
        plan_id: plan.plan_id().into(),
        frame_id: plan.frame_id().into(),
        path: plan.path().to_string(),
        model: plan.model().map_or_else(|| "none".into(), |model| model.to_string()),
        pixels: encoded.pixels.to_string(),
        backend: rendered.backend,
        engine: ENGINE.into(),
        sha256: sha256_base64(&file),
        bytes: file.len() as u64,
    };
    stages.encode = start.elapsed();
    let fallback = rendered.fallback.or_else(|| plan.fallback().cloned());
    let made = Made { meta, file, fallback, stages };
    count(app, &made);
    if made.may_be_kept()
        && let Err(error) = keep(app, &made)
    {
        // The client has its frame; the next one will be made again.
        tracing::error!(%error, "a frame could not be cached");
    }
    Ok(made)
}

/// Keeps a file in the cache, unless its scene was deleted while it was made.
fn keep(app: &App, made: &Made) -> Result<(), StoreError> {
    let scene = &made.meta.scene;
    app.store.frames().put(&made.meta, &made.file)?;
    if app.store.asset(AssetKind::Scene, scene)?.is_none() {
        app.frames.forget_scene(scene);
        app.store.frames().forget_scene(scene);
    }
    Ok(())
}

fn count(app: &App, made: &Made) {
    let fallback = made.fallback.as_ref().map_or("none", |fallback| fallback.reason.name());
    app.metrics.frames.with_label_values(&[made.meta.path.as_str(), &made.meta.backend, fallback]).inc();
    for (stage, took) in made.stages.named().into_iter().skip(1) {
        app.metrics.frame_seconds.with_label_values(&[stage]).observe(took.as_secs_f64());
    }
}

/// Whether the renderer would take a plan: its camera, animation and variant are in the scene. Blocks.
pub(crate) fn check(app: &App, ask: &Ask, plan: &Plan) -> Result<(), ApiError> {
    let (scene, environment) = (scene(app, plan)?, environment(app, plan)?);
    DrawList::new(&scene, &environment, plan.request(), color_format(ask.format))?;
    Ok(())
}

/// The scene of a plan, resident or read.
fn scene(app: &App, plan: &Plan) -> Result<Arc<Prepared>, ApiError> {
    let id = plan.scene();
    app.frames.scene(id, || scenes::parse(app, assets::read(app, AssetKind::Scene, id)?))
}

fn environment(app: &App, plan: &Plan) -> Result<Arc<Environment>, ApiError> {
    super::environments::ready(app, plan.environment())
}

impl From<FramesError> for ApiError {
    fn from(error: FramesError) -> ApiError {
        match error {
            FramesError::Request(error) => error.into(),
            FramesError::Render(error) => error.into(),
            FramesError::Backend { .. } | FramesError::Cpu(_) | FramesError::Mismatch { .. } => {
                ApiError::internal(error)
            }
        }
    }
}

impl From<RenderError> for ApiError {
    fn from(error: RenderError) -> ApiError {
        match error {
            RenderError::Request { field, reason } => ApiError::invalid(field, reason),
            RenderError::Cancelled => ApiError::Cancelled,
            RenderError::DeviceLimit { .. } | RenderError::DeviceLost(_) => {
                ApiError::Backend { cause: error.to_string() }
            }
        }
    }
}

impl From<EncodeError> for ApiError {
    fn from(error: EncodeError) -> ApiError {
        match error {
            EncodeError::Layers { .. } | EncodeError::Range { .. } => {
                ApiError::invalid("outputs", error.to_string())
            }
            EncodeError::Size { .. } => ApiError::invalid("format", error.to_string()),
            _ => ApiError::internal(error),
        }
    }
}
