//! Many frames at once: sequences over time and batches of unrelated frames, as jobs that end in a zip.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::app::{App, blocking};
use super::ask::Ask;
use super::assets::check_stored;
use super::frames::enter;
use super::problem::ApiError;
use super::request::{Params, read_json};
use super::{jobs, openapi, render};
use crate::store::JobKind;

/// Fastest and slowest rate of a sequence. *Units*: frames per second.
const FPS: (f64, f64) = (0.001, 1000.0);

/// Highest frame number. Times stay well inside what a request may say.
const FRAME_NUMBER_MAX: u32 = 10_000_000;

/// A frame and its name in the zip.
#[derive(Debug)]
pub(crate) struct NamedAsk {
    pub name: String,
    pub ask: Ask,
}

/// Whether to only say what would be done.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct DryRun {
    /// Say ids, cost and what is cached, and make nothing.
    #[serde(default)]
    dry_run: bool,
}

/// Frames of one scene over a range of time.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SequenceBody {
    /// What each frame is; its `time_s` is the time of frame number 0.
    #[schema(value_type = openapi::FrameBody)]
    frame: Value,
    /// Number of the first frame.
    #[schema(example = 0)]
    first: u32,
    /// Number of the last frame, which is made too.
    #[schema(example = 23)]
    last: u32,
    /// Frames per second: frame n shows the time `time_s + n / fps`, and its motion relates to frame n - 1; frame
    /// 0 has none before.
    #[schema(example = 24.0)]
    fps: f64,
}

/// Unrelated frames.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BatchBody {
    /// In the order of the zip.
    #[schema(value_type = Vec<openapi::FrameBody>)]
    frames: Vec<Value>,
}

/// What a dry run says of a frame.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PlannedFrame {
    /// Its name in the zip.
    name: String,
    /// Names its plan.
    plan_id: String,
    /// Names the frame.
    frame_id: String,
    /// ETag of its file.
    etag: String,
    /// Whether it is cached, and costs nothing.
    cached: bool,
    /// What it costs: width times height times coverage samples.
    pixel_samples: u64,
    /// What it may take here, in milliseconds; absent before this server has made a frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimated_ms: Option<f64>,
}

/// What a dry run says.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Planned {
    /// Each frame, in order.
    frames: Vec<PlannedFrame>,
    /// Frames that are cached.
    cached: u64,
    /// Cost of those that are not.
    pixel_samples: u64,
    /// What those may take here, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimated_ms: Option<f64>,
}

/// Render a sequence.
///
/// A job that ends in a zip of numbered frames and a manifest of their ids and hashes.
#[utoipa::path(
    post, path = "/v1/sequences", tag = "jobs", params(DryRun, openapi::JobHeaders),
    request_body(content = SequenceBody, content_type = "application/json"),
    responses(
        (status = ACCEPTED, body = jobs::Job, description = "Accepted: it is on disk and survives a restart."),
        (status = OK, body = Planned, description = "The dry run."),
        (status = 400, response = openapi::Problems), (status = 404, response = openapi::Problems),
        (status = 409, response = openapi::Problems), (status = 410, response = openapi::Problems),
        (status = 413, response = openapi::Problems), (status = 415, response = openapi::Problems),
        (status = 422, response = openapi::Problems), (status = 503, response = openapi::Problems),
    )
)]
pub(crate) async fn sequence(
    State(app): State<Arc<App>>,
    Params(query): Params<DryRun>,
    request: Request,
) -> Result<Response, ApiError> {
    accept::<SequenceBody>(&app, JobKind::Sequence, query, request).await
}

/// Render a batch.
///
/// A job that ends in a zip of frames in the order given, and a manifest of their ids and hashes.
#[utoipa::path(
    post, path = "/v1/batches", tag = "jobs", params(DryRun, openapi::JobHeaders),
    request_body(content = BatchBody, content_type = "application/json"),
    responses(
        (status = ACCEPTED, body = jobs::Job, description = "Accepted: it is on disk and survives a restart."),
        (status = OK, body = Planned, description = "The dry run."),
        (status = 400, response = openapi::Problems), (status = 404, response = openapi::Problems),
        (status = 409, response = openapi::Problems), (status = 410, response = openapi::Problems),
        (status = 413, response = openapi::Problems), (status = 415, response = openapi::Problems),
        (status = 422, response = openapi::Problems), (status = 503, response = openapi::Problems),
    )
)]
pub(crate) async fn batch(
    State(app): State<Arc<App>>,
    Params(query): Params<DryRun>,
    request: Request,
) -> Result<Response, ApiError> {
    accept::<BatchBody>(&app, JobKind::Batch, query, request).await
}

/// A body that becomes frames.
trait ManyFrames: serde::de::DeserializeOwned + Send + 'static {
    /// How many, before any is made.
    fn count(&self) -> u64;
    /// Each of them. *Errors*: the first that cannot be, and which it is.
    fn asks(self) -> Result<Vec<NamedAsk>, ApiError>;
}

impl ManyFrames for SequenceBody {
    fn count(&self) -> u64 {
        (u64::from(self.last) + 1).saturating_sub(u64::from(self.first))
    }

    fn asks(self) -> Result<Vec<NamedAsk>, ApiError> {
        if !(FPS.0..=FPS.1).contains(&self.fps) {
            return Err(ApiError::invalid("fps", format!("{} is not from {} to {}", self.fps, FPS.0, FPS.1)));
        }
        if self.last > FRAME_NUMBER_MAX {
            return Err(ApiError::invalid("last", format!("is above {FRAME_NUMBER_MAX}")));
        }
        let base = Ask::from_json(self.frame).map_err(|error| error.within("frame"))?;
        if base.request.previous_time_s.is_some() {
            let reason = "a sequence's previous time is that of the frame before";
            return Err(ApiError::invalid("frame.previous_time_s", reason));
        }
        let start_s = base.request.time_s;
        let time_s = |number: u32| start_s + f64::from(number) / self.fps;
        let named = |number: u32| {
            let mut ask = base.clone();
            ask.request.time_s = time_s(number);
            // Whether a sequence is made whole or in parts, its frames are the same: only frame 0 has none before.
            ask.request.previous_time_s = number.checked_sub(1).map(time_s);
            NamedAsk { name: format!("frame_{number:04}.{}", ask.format.extension()), ask }
        };
        Ok((self.first..=self.last).map(named).collect())
    }
}

impl ManyFrames for BatchBody {
    fn count(&self) -> u64 {
        self.frames.len() as u64
    }

    fn asks(self) -> Result<Vec<NamedAsk>, ApiError> {
        let named = |(index, frame)| {
            let ask = Ask::from_json(frame).map_err(|error| error.within(&format!("frames[{index}]")))?;
            Ok(NamedAsk { name: format!("{index:04}.{}", ask.format.extension()), ask })
        };
        self.frames.into_iter().enumerate().map(named).collect()
    }
}

/// The frames of a job, from what the index kept of it.
pub(crate) fn asks_of(kind: JobKind, request: Value) -> Result<Vec<NamedAsk>, ApiError> {
    if kind == JobKind::Frame {
        return Ok(vec![NamedAsk { name: String::new(), ask: Ask::from_kept(request)? }]);
    }
    let kept: Vec<(String, Value)> = serde_json::from_value(request).map_err(ApiError::internal)?;
    kept.into_iter().map(|(name, ask)| Ok(NamedAsk { name, ask: Ask::from_kept(ask)? })).collect()
}

async fn accept<T: ManyFrames>(
    app: &Arc<App>,
    kind: JobKind,
    query: DryRun,
    request: Request,
) -> Result<Response, ApiError> {
    app.open_for_work()?;
    let _ticket = enter(app)?;
    let headers = request.headers().clone();
    let key = app.jobs.hold_key(&headers)?;
    let (body, _) = read_json::<T>(request, app.settings.server.json_bytes).await?;
    let (app_there, dry_run) = (app.clone(), query.dry_run);
    let (asks, planned) = blocking(move || {
        let asks = counted(&app_there, body)?;
        let planned = plan_all(&app_there, &asks)?;
        Ok::<_, ApiError>((asks, planned))
    })
    .await??;
    if dry_run {
        return Ok(Json(planned).into_response());
    }
    let kept: Vec<_> = asks.iter().map(|named| json!([named.name, named.ask.to_json()])).collect();
    let asks: Vec<_> = asks.into_iter().map(|named| named.ask).collect();
    jobs::submit(app, kind, kept.into(), &asks, key.as_ref(), &headers).await
}

fn counted<T: ManyFrames>(app: &App, body: T) -> Result<Vec<NamedAsk>, ApiError> {
    let most = u64::from(app.settings.jobs.frames);
    match body.count() {
        0 => Err(ApiError::invalid("frames", "there is no frame to make")),
        count if count > most => Err(ApiError::invalid("frames", format!("{count} frames, at most {most}"))),
        _ => body.asks(),
    }
}

/// Plans every frame: a job that cannot be done is refused before it is accepted.
fn plan_all(app: &App, asks: &[NamedAsk]) -> Result<Planned, ApiError> {
    let mut planned = Planned { frames: Vec::new(), cached: 0, pixel_samples: 0, estimated_ms: None };
    for NamedAsk { name, ask } in asks {
        let (plan, etag) = ask.plan(app).map_err(|error| error.within(name))?;
        check_stored(app, plan.scene(), plan.request().environment.as_deref())?;
        let cached = app.store.frames().contains(plan.scene(), &etag);
        let pixel_samples = render::samples(plan.request());
        if cached {
            planned.cached += 1;
        } else {
            planned.pixel_samples += pixel_samples;
        }
        planned.frames.push(PlannedFrame {
            name: name.clone(),
            plan_id: plan.plan_id().into(),
            frame_id: plan.frame_id().into(),
            etag,
            cached,
            pixel_samples,
            estimated_ms: app.throughput.estimate_ms(if cached { 0 } else { pixel_samples }),
        });
    }
    planned.estimated_ms = app.throughput.estimate_ms(planned.pixel_samples);
    Ok(planned)
}
