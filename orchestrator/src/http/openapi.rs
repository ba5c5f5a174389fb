//! The OpenAPI document, made from the routes themselves, and the pages that show it.

use std::sync::Arc;

use axum::Router;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::app::App;
use super::health;
use super::problem::{ApiError, KINDS, Kind, Problem};

/// What the document says beside its routes.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Isoframe",
        description = "Deterministic frames of glTF scenes. The same plan gives the same bytes on every machine.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    components(schemas(Problem)),
    tags(
        (name = "scenes", description = "Files that frames show, by the hash of what is in them."),
        (name = "environments", description = "Light from everywhere: equirectangular .hdr and .exr."),
        (name = "frames", description = "Frames of a scene, at once."),
        (name = "jobs", description = "Work that outlives its request."),
        (name = "service", description = "How the service is.")
    )
)]
struct Document;

/// Every documented route.
pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
        .routes(routes!(health::metrics))
        .routes(routes!(health::version))
}

/// The document as JSON.
pub(crate) fn json(document: &utoipa::openapi::OpenApi) -> String {
    // Strings, numbers and maps with string keys: this cannot fail to be JSON.
    document.to_pretty_json().unwrap_or_default()
}

/// The pages about the service: the document, its reader, and one page per kind of problem.
pub(crate) fn pages(document: &utoipa::openapi::OpenApi) -> Router<Arc<App>> {
    let json: Arc<str> = json(document).into();
    let spec = move || {
        let json = json.to_string();
        async move { ([(header::CONTENT_TYPE, "application/json")], json) }
    };
    Router::new()
        .route("/v1/openapi.json", get(spec))
        .route("/docs", get(|| async { Html(include_str!("docs.html")) }))
        .route("/", get(|| async { (StatusCode::SEE_OTHER, [(header::LOCATION, "/docs")]) }))
        .route("/problems/{slug}", get(problem_page))
}

async fn problem_page(Path(slug): Path<String>) -> Response {
    match KINDS.iter().find(|kind| kind.slug == slug) {
        Some(kind) => Html(problem_html(kind)).into_response(),
        None => ApiError::NotFound.into_response(),
    }
}

fn problem_html(kind: &Kind) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>{title}</title><style>body{{font:16px/1.5 system-ui,sans-serif;\
         max-width:42rem;margin:3rem auto;padding:0 1rem;color-scheme:light dark}}code{{font-size:.95em}}</style>\
         <h1>{title}</h1><p>Status <code>{status}</code>, code <code>{code}</code>.</p><p>{about}</p>\
         <p><a href=\"/docs\">All routes</a></p></html>",
        title = kind.title,
        status = kind.status,
        code = kind.slug.replace('-', "_"),
        about = kind.about,
    )
}
