//! Scenes: uploaded once, named by their hash.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use isoframe_raster::scene::{self, Scene, SceneError, Source};

use super::app::App;
use super::assets::{self, Checked, Page, PageQuery, Stored};
use super::openapi::{FileForm, Problems};
use super::problem::ApiError;
use super::request::{Params, Segment};
use super::scene_info::SceneInfo;
use crate::store::AssetKind;

impl From<SceneError> for ApiError {
    fn from(error: SceneError) -> ApiError {
        ApiError::SceneInvalid { cause: error.code(), reason: error.to_string() }
    }
}

/// Store a scene.
///
/// The body is a `.glb`, a `.gltf` with data URIs, or a zip with side files; or a form with one file. It is read
/// and checked before it is kept. The same bytes twice are one scene.
#[utoipa::path(
    post, path = "/v1/scenes", tag = "scenes",
    request_body(content(
        (Vec<u8> = "model/gltf-binary"), (Vec<u8> = "model/gltf+json"), (Vec<u8> = "application/zip"),
        (Vec<u8> = "application/octet-stream"), (FileForm = "multipart/form-data"),
    )),
    responses(
        (status = CREATED, body = Stored<SceneInfo>, description = "Stored.",
            headers(("location" = String, description = "Where it is."))),
        (status = OK, body = Stored<SceneInfo>, description = "It was stored already."),
        (status = 400, response = Problems), (status = 408, response = Problems),
        (status = 413, response = Problems), (status = 415, response = Problems),
        (status = 422, response = Problems), (status = 503, response = Problems),
        (status = 507, response = Problems),
    )
)]
pub(crate) async fn upload(State(app): State<Arc<App>>, request: Request) -> Result<Response, ApiError> {
    let limit_bytes = app.settings.scene.file_bytes;
    assets::upload::<SceneInfo>(&app, AssetKind::Scene, limit_bytes, request, |app, bytes| {
        let scene = parse(app, bytes)?;
        let summary = serde_json::to_string(&SceneInfo::of(&scene)).map_err(ApiError::internal)?;
        let id = scene.hash.clone();
        Ok(Checked { id, summary, scene: Some(scene) })
    })
    .await
}

/// List scenes.
#[utoipa::path(
    get, path = "/v1/scenes", tag = "scenes", params(PageQuery),
    responses((status = OK, body = Page<SceneInfo>, description = "A page."), (status = 422, response = Problems))
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Params(query): Params<PageQuery>,
) -> Result<Json<Page<SceneInfo>>, ApiError> {
    Ok(Json(assets::list(&app, AssetKind::Scene, query).await?))
}

/// What is in a scene.
#[utoipa::path(
    get, path = "/v1/scenes/{id}", tag = "scenes", params(("id" = String, Path, description = "blake3, hex.")),
    responses((status = OK, body = Stored<SceneInfo>, description = "It."), (status = 404, response = Problems))
)]
pub(crate) async fn find(
    State(app): State<Arc<App>>,
    Segment(id): Segment,
) -> Result<Json<Stored<SceneInfo>>, ApiError> {
    Ok(Json(assets::find(&app, AssetKind::Scene, id).await?))
}

/// Remove a scene, and the frames kept of it.
///
/// Frames being rendered finish. A job that waits or runs keeps the scene: 409.
#[utoipa::path(
    delete, path = "/v1/scenes/{id}", tag = "scenes", params(("id" = String, Path, description = "blake3, hex.")),
    responses(
        (status = NO_CONTENT, description = "It is gone."), (status = 404, response = Problems),
        (status = 409, response = Problems)
    )
)]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    Segment(id): Segment,
) -> Result<StatusCode, ApiError> {
    assets::delete(&app, AssetKind::Scene, id).await
}

/// Reads a scene under the limits of the settings.
pub(crate) fn parse(app: &App, bytes: Vec<u8>) -> Result<Scene, ApiError> {
    let limits = &app.settings.scene;
    Ok(scene::load(&Source::from_bytes(bytes, limits)?, limits)?)
}
