//! Whether the service lives, is ready, and what it is.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use isoframe_raster::frame::ENGINE;
use serde::Serialize;
use utoipa::ToSchema;

use super::app::App;
use super::metrics::Readings;
use crate::frames::BackendReport;

/// Whether the process lives.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Live {
    /// Always `live`; a process that is not does not answer.
    status: &'static str,
}

/// Whether the service can take work.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Ready {
    /// Whether requests should be sent here.
    ready: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// What renders.
    backend: BackendState,
}

/// What renders, why this, and how it is.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BackendState {
    /// `cpu`, or the adapter and its driver.
    name: String,
    /// Why this one.
    reason: String,
    /// Whether it is a software adapter.
    software: bool,
    /// Whether it renders; if not, the CPU stands in while it is opened again. Frames are the same.
    healthy: bool,
    /// Times it was lost.
    losses: u64,
    /// Times it was opened again.
    rebuilds: u64,
}

impl From<BackendReport> for BackendState {
    fn from(report: BackendReport) -> BackendState {
        let BackendReport { name, reason, software, healthy, rebuilds, losses } = report;
        BackendState { name, reason, software, healthy, losses, rebuilds }
    }
}

/// What runs here.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Version {
    /// Version of the program.
    version: &'static str,
    /// Version of the arithmetic that makes the pixels; equal engines make equal frames.
    engine: &'static str,
}

/// Is the process alive?
#[utoipa::path(get, path = "/healthz", tag = "service", responses((status = OK, body = Live, description = "It is.")))]
pub(crate) async fn healthz() -> Json<Live> {
    Json(Live { status: "live" })
}

/// Should requests be sent here?
#[utoipa::path(
    get, path = "/readyz", tag = "service",
    responses(
        (status = OK, body = Ready, description = "Yes."),
        (status = SERVICE_UNAVAILABLE, body = Ready, description = "No, and why not.")
    )
)]
pub(crate) async fn readyz(State(app): State<Arc<App>>) -> Response {
    let stopping = app.stopping.is_cancelled();
    let reason = stopping.then(|| "shutting down".to_owned());
    let status = if stopping { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
    let backend = app.frames.backend_report().into();
    (status, Json(Ready { ready: !stopping, reason, backend })).into_response()
}

/// What runs here?
#[utoipa::path(get, path = "/version", tag = "service", responses((status = OK, body = Version, description = "This.")))]
pub(crate) async fn version() -> Json<Version> {
    Json(Version { version: env!("CARGO_PKG_VERSION"), engine: ENGINE })
}

/// Metrics in Prometheus' text format.
#[utoipa::path(
    get, path = "/metrics", tag = "service",
    responses((status = OK, body = String, content_type = "text/plain", description = "All metrics."))
)]
pub(crate) async fn metrics(State(app): State<Arc<App>>) -> Response {
    let (cache_bytes, cache_frames) = app.store.frames().size();
    let readings = Readings {
        cache_bytes,
        cache_frames,
        resident_bytes: app.frames.resident_bytes(),
        backend: app.frames.backend_report(),
        load: app.admission.load(),
        jobs: app.store(|store| store.job_counts()).await.unwrap_or_default(),
    };
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], app.metrics.text(readings)).into_response()
}
