//! Environments: light from everywhere, uploaded once, named by their hash.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use isoframe_raster::environment::{Environment, EnvironmentError, Panorama};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::app::App;
use super::assets::{self, Checked, Page, PageQuery, Stored};
use super::openapi::{FileForm, Problems};
use super::problem::ApiError;
use super::request::{Params, Segment};
use crate::plan::STUDIO;
use crate::store::AssetKind;

/// What is known of an environment.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(crate) struct EnvironmentInfo {
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// Pixels that were negative, infinite or undefined, and are brought into range.
    pub repaired_px: u64,
}

/// Store an environment.
///
/// The body is an equirectangular `.hdr` or `.exr`; or a form with one file. It is read and checked before it is
/// kept. The same bytes twice are one environment.
#[utoipa::path(
    post, path = "/v1/environments", tag = "environments",
    request_body(content(
        (Vec<u8> = "image/vnd.radiance"), (Vec<u8> = "image/x-exr"), (Vec<u8> = "application/octet-stream"),
        (FileForm = "multipart/form-data"),
    )),
    responses(
        (status = CREATED, body = Stored<EnvironmentInfo>, description = "Stored.",
            headers(("location" = String, description = "Where it is."))),
        (status = OK, body = Stored<EnvironmentInfo>, description = "It was stored already."),
        (status = 400, response = Problems), (status = 408, response = Problems),
        (status = 413, response = Problems), (status = 415, response = Problems),
        (status = 422, response = Problems), (status = 503, response = Problems),
        (status = 507, response = Problems),
    )
)]
pub(crate) async fn upload(State(app): State<Arc<App>>, request: Request) -> Result<Response, ApiError> {
    let limit_bytes = app.settings.environment.file_bytes;
    assets::upload::<EnvironmentInfo>(&app, AssetKind::Environment, limit_bytes, request, |app, bytes| {
        let panorama = Panorama::from_bytes(&bytes, &app.settings.environment_limits())?;
        let info = EnvironmentInfo {
            width: panorama.width as u32,
            height: panorama.height as u32,
            repaired_px: panorama.repaired_px,
        };
        let summary = serde_json::to_string(&info).map_err(ApiError::internal)?;
        Ok(Checked { id: blake3::hash(&bytes).to_hex().to_string(), summary, scene: None })
    })
    .await
}

/// List environments.
#[utoipa::path(
    get, path = "/v1/environments", tag = "environments", params(PageQuery),
    responses((status = OK, body = Page<EnvironmentInfo>, description = "A page."), (status = 422, response = Problems))
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Params(query): Params<PageQuery>,
) -> Result<Json<Page<EnvironmentInfo>>, ApiError> {
    Ok(Json(assets::list(&app, AssetKind::Environment, query).await?))
}

/// What is known of an environment.
#[utoipa::path(
    get, path = "/v1/environments/{id}", tag = "environments",
    params(("id" = String, Path, description = "blake3, hex.")),
    responses((status = OK, body = Stored<EnvironmentInfo>, description = "It."), (status = 404, response = Problems))
)]
pub(crate) async fn find(
    State(app): State<Arc<App>>,
    Segment(id): Segment,
) -> Result<Json<Stored<EnvironmentInfo>>, ApiError> {
    Ok(Json(assets::find(&app, AssetKind::Environment, id).await?))
}

/// Remove an environment.
///
/// Frames being rendered finish. A job that waits or runs keeps the environment: 409.
#[utoipa::path(
    delete, path = "/v1/environments/{id}", tag = "environments",
    params(("id" = String, Path, description = "blake3, hex.")),
    responses(
        (status = NO_CONTENT, description = "It is gone."), (status = 404, response = Problems), (status = 409, response = Problems)
    )
)]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    Segment(id): Segment,
) -> Result<StatusCode, ApiError> {
    assets::delete(&app, AssetKind::Environment, id).await
}

impl From<EnvironmentError> for ApiError {
    fn from(error: EnvironmentError) -> ApiError {
        ApiError::EnvironmentInvalid { cause: error.code(), reason: error.to_string() }
    }
}

/// Makes the built-in environment ready, so that the first frame need not wait for it.
pub(crate) fn warm_up(app: &App) {
    if let Err(error) = ready(app, STUDIO) {
        tracing::error!(%error, "the built-in environment could not be made ready");
    }
}

/// The environment of this hash, or the built-in one, ready for rendering: resident or read.
pub(crate) fn ready(app: &App, id: &str) -> Result<Arc<Environment>, ApiError> {
    app.frames.environment(id, || {
        if id == STUDIO {
            return Ok(Environment::studio());
        }
        let bytes = assets::read(app, AssetKind::Environment, id)?;
        Ok(Environment::from_bytes(&bytes, &app.settings.environment_limits())?)
    })
}
