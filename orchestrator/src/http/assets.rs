//! What scenes and environments have in common: received, checked, kept once, listed, removed.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use isoframe_raster::scene::Scene;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::sync::OwnedSemaphorePermit;
use utoipa::{IntoParams, ToSchema};

use super::app::{App, blocking};
use super::problem::ApiError;
use super::upload;
use crate::config::ms;
use crate::store::{Asset, AssetKind, Kept};

/// Which part of a list is wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageQuery {
    /// Entries in the answer; the setting `upload.page_entries` is the most.
    limit: Option<u32>,
    /// Id of the entry before the page: `next` of the page before.
    after: Option<String>,
}

/// A stored file.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Stored<T> {
    /// blake3 of what is in the file, hex.
    #[schema(example = "0f3e4c1b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f00f")]
    pub id: String,
    /// Where it is.
    pub url: String,
    /// Size of the file.
    pub bytes: u64,
    /// When it was stored, in milliseconds since 1970.
    pub added_ms: i64,
    /// What is in it.
    #[serde(flatten)]
    pub about: T,
}

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Page<T> {
    /// In the order they were stored.
    pub entries: Vec<Stored<T>>,
    /// `after` of the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// What a check found: the id to keep the file under, and what is in it.
pub(crate) struct Checked {
    pub id: String,
    pub summary: String,
    /// Made ready once it is stored: it is read already, and likely to be asked for next.
    pub scene: Option<Scene>,
}

/// Path below which a kind of file is served.
fn url(kind: AssetKind, id: &str) -> String {
    match kind {
        AssetKind::Scene => format!("/v1/scenes/{id}"),
        AssetKind::Environment => format!("/v1/environments/{id}"),
    }
}

/// What is missing, as a problem.
pub(crate) fn not_found(kind: AssetKind, id: &str) -> ApiError {
    // An id is repeated in the answer; what is not an id is not.
    let id = if is_id(id) { id } else { "(not an id)" }.to_owned();
    match kind {
        AssetKind::Scene => ApiError::SceneNotFound(id),
        AssetKind::Environment => ApiError::EnvironmentNotFound(id),
    }
}

/// Whether a text is a blake3 hash in lower case hex.
pub(crate) fn is_id(id: &str) -> bool {
    id.len() == 64 && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Receives a file, checks it with `check`, and keeps it. The same bytes twice are one file, checked once.
pub(crate) async fn upload<T: DeserializeOwned + Serialize>(
    app: &Arc<App>,
    kind: AssetKind,
    limit_bytes: u64,
    request: Request,
    check: impl FnOnce(&App, Vec<u8>) -> Result<Checked, ApiError> + Send + 'static,
) -> Result<Response, ApiError> {
    app.open_for_work()?;
    let seat = seat(app).await?;
    let intake = upload::receive(app, request, limit_bytes).await?;
    let app_there = app.clone();
    let (asset, new) = blocking(move || {
        // The seat is free when the check has really ended, whether or not the client still waits.
        let _seat = seat;
        let app = app_there;
        if let Some(known) = app.store.asset_by_file(kind, &intake.hash())? {
            return Ok((known, false));
        }
        let checked = check(&app, intake.read()?)?;
        let limit_bytes = app.settings.upload.stored_bytes;
        let kept = match app.store.keep_asset(kind, &checked.id, intake, &checked.summary, limit_bytes)? {
            Kept::New(asset) => (asset, true),
            Kept::Known(asset) => (asset, false),
            Kept::Full { stored_bytes } => return Err(ApiError::StorageFull { stored_bytes, limit_bytes }),
        };
        if let Some(scene) = checked.scene {
            app.frames.prepare(scene);
        }
        Ok(kept)
    })
    .await??;
    let status = if new { StatusCode::CREATED } else { StatusCode::OK };
    let location = HeaderValue::from_str(&url(kind, &asset.id)).map_err(ApiError::internal)?;
    let stored = stored::<T>(kind, asset)?;
    Ok((status, [(header::LOCATION, location)], axum::Json(stored)).into_response())
}

/// A seat for an upload, waited for with its body unread; refused at once where too many wait.
async fn seat(app: &App) -> Result<(OwnedSemaphorePermit, OwnedSemaphorePermit), ApiError> {
    let refused = |reason| {
        app.metrics.refused.with_label_values(&["uploads"]).inc();
        ApiError::Overload { reason, retry_after_s: 1 }
    };
    let place = app.upload_places.clone().try_acquire_owned();
    let place = place.map_err(|_| refused("too many uploads at once"))?;
    let seat =
        tokio::time::timeout(ms(app.settings.upload.queue_ms), app.upload_seats.clone().acquire_owned());
    let seat = seat.await.map_err(|_| refused("no upload ended in time for this one"))?;
    Ok((place, seat.map_err(ApiError::internal)?))
}

fn stored<T: DeserializeOwned>(kind: AssetKind, asset: Asset) -> Result<Stored<T>, ApiError> {
    let about = serde_json::from_str(&asset.summary).map_err(ApiError::internal)?;
    let url = url(kind, &asset.id);
    Ok(Stored { id: asset.id, url, bytes: asset.bytes, added_ms: asset.added_ms, about })
}

/// One page of all files of a kind.
pub(crate) async fn list<T: DeserializeOwned>(
    app: &App,
    kind: AssetKind,
    query: PageQuery,
) -> Result<Page<T>, ApiError> {
    let most = app.settings.upload.page_entries;
    let limit = query.limit.unwrap_or(most.min(50));
    if !(1..=most).contains(&limit) {
        return Err(ApiError::invalid("limit", format!("{limit} is not from 1 to {most}")));
    }
    let mut assets = app.store(move |store| store.assets(kind, query.after.as_deref(), limit + 1)).await?;
    let more = assets.len() > limit as usize;
    assets.truncate(limit as usize);
    let next = if more { assets.last().map(|asset| asset.id.clone()) } else { None };
    let entries = assets.into_iter().map(|asset| stored(kind, asset)).collect::<Result<_, _>>()?;
    Ok(Page { entries, next })
}

/// What is known of one file.
pub(crate) async fn find<T: DeserializeOwned>(
    app: &App,
    kind: AssetKind,
    id: String,
) -> Result<Stored<T>, ApiError> {
    let asset = app.store({
        let id = id.clone();
        move |store| store.asset(kind, &id)
    });
    let asset = asset.await?.ok_or_else(|| not_found(kind, &id))?;
    stored(kind, asset)
}

/// Removes one file, unless a job needs it.
pub(crate) async fn delete(app: &Arc<App>, kind: AssetKind, id: String) -> Result<StatusCode, ApiError> {
    let missing = not_found(kind, &id);
    let app_there = app.clone();
    let gone = blocking(move || {
        let gone = app_there.store.delete_asset(kind, &id)?;
        if let (AssetKind::Scene, Ok(true)) = (kind, &gone) {
            app_there.frames.forget_scene(&id);
            app_there.store.frames().forget_scene(&id);
        }
        Ok::<_, ApiError>(gone)
    })
    .await??;
    match gone {
        Err(job) => Err(ApiError::InUse { job }),
        Ok(false) => Err(missing),
        Ok(true) => Ok(StatusCode::NO_CONTENT),
    }
}

/// Fails unless these files are stored.
pub(crate) fn check_stored(app: &App, scene: &str, environment: Option<&str>) -> Result<(), ApiError> {
    let wanted = [(AssetKind::Scene, Some(scene)), (AssetKind::Environment, environment)];
    for (kind, id) in wanted {
        if let Some(id) = id
            && app.store.asset(kind, id)?.is_none()
        {
            return Err(not_found(kind, id));
        }
    }
    Ok(())
}

/// The bytes of a stored file.
pub(crate) fn read(app: &App, kind: AssetKind, id: &str) -> Result<Vec<u8>, ApiError> {
    app.store.read_asset(kind, id)?.ok_or_else(|| not_found(kind, id))
}
