//! The OpenAPI document, made from the routes themselves, and the pages that show it.

use std::sync::Arc;

use axum::Router;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{self, ContentBuilder, HeaderBuilder, RefOr, ResponseBuilder};
use utoipa::{OpenApi, PartialSchema, ToResponse, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::app::App;
use super::problem::{ApiError, KINDS, Kind, Problem};
use super::{environments, frames, health, jobs, scenes, sequences};

mod schemas;

pub(crate) use self::schemas::{FrameBody, FrameHeaders, FrameQuery, JobHeaders};

/// What the document says beside its routes.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Isoframe",
        description = "Deterministic frames of glTF scenes. The same plan gives the same bytes on every machine.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    components(schemas(Problem), responses(Problems, FrameFile)),
    tags(
        (name = "scenes", description = "Files that frames show, by the hash of what is in them."),
        (name = "environments", description = "Light from everywhere: equirectangular .hdr and .exr."),
        (name = "frames", description = "Frames of a scene, at once."),
        (name = "jobs", description = "Work that outlives its request."),
        (name = "service", description = "How the service is.")
    )
)]
struct Document;

/// A problem (RFC 9457): what is wrong, with a stable `type` and `code`.
#[derive(ToResponse)]
#[response(description = "A problem (RFC 9457).", content_type = "application/problem+json")]
#[allow(dead_code)]
pub(crate) struct Problems(Problem);

/// A frame's file.
pub(crate) struct FrameFile;

/// Headers of a frame's answer, and what they say.
const FRAME_HEADERS: [(&str, &str); 12] = [
    ("etag", "Strong; known from the parameters alone."),
    ("cache-control", "`immutable` only where the URL pins everything."),
    ("repr-digest", "SHA-256 of the file (RFC 9530)."),
    ("isoframe-frame-id", "Names what was rendered."),
    ("isoframe-plan-id", "Names what was planned; equal without a fallback."),
    ("isoframe-engine", "Version of the arithmetic that made the pixels."),
    ("isoframe-path", "How it was made: `raster`."),
    ("isoframe-model", "Model that blended it, or `none`."),
    ("isoframe-pixels", "Hash of the pixels alone."),
    ("isoframe-backend", "What rendered it."),
    ("isoframe-fallback", "Why it was not made as asked; absent where it was."),
    ("server-timing", "What each stage took."),
];

impl<'r> ToResponse<'r> for FrameFile {
    fn response() -> (&'r str, RefOr<openapi::Response>) {
        let binary = || {
            let format = SchemaFormat::KnownFormat(KnownFormat::Binary);
            let schema = ObjectBuilder::new().schema_type(Type::String).format(Some(format)).build();
            ContentBuilder::new().schema(Some(schema)).build()
        };
        let mut response = ResponseBuilder::new().description("The file. Its receipt is inside.");
        for media_type in ["image/png", "image/x-exr", "image/webp", "image/jpeg"] {
            response = response.content(media_type, binary());
        }
        for (name, about) in FRAME_HEADERS {
            let header = HeaderBuilder::new().description(Some(about)).schema(Some(String::schema())).build();
            response = response.header(name, header);
        }
        ("FrameFile", response.build().into())
    }
}

/// A form with one file.
#[derive(ToSchema)]
#[allow(dead_code)]
pub(crate) struct FileForm {
    /// The file.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
}

/// Extensions of frames beside `.png`, which documents them all.
const OTHER_EXTENSIONS: [&str; 3] = ["exr", "webp", "jpg"];

/// Every documented route.
pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    let mut routes = OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(scenes::list, scenes::upload))
        .routes(routes!(scenes::find, scenes::delete))
        .routes(routes!(environments::list, environments::upload))
        .routes(routes!(environments::find, environments::delete))
        .routes(routes!(frames::post))
        .routes(routes!(frames::get))
        .routes(routes!(sequences::sequence))
        .routes(routes!(sequences::batch))
        .routes(routes!(jobs::find, jobs::delete))
        .routes(routes!(jobs::events))
        .routes(routes!(jobs::result))
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
        .routes(routes!(health::metrics))
        .routes(routes!(health::version));
    for extension in OTHER_EXTENSIONS {
        let path = format!("/v1/scenes/{{id}}/frame.{extension}");
        let paths = &mut routes.get_openapi_mut().paths.paths;
        if let Some(item) = paths.get("/v1/scenes/{id}/frame.png").cloned() {
            paths.insert(path.clone(), item);
        }
        routes = routes.route(&path, get(frames::get));
    }
    name_operations(&mut routes);
    routes
}

/// Gives each operation an id made of its method and path, so that generated clients have one name for each.
fn name_operations(routes: &mut OpenApiRouter<Arc<App>>) {
    for (path, item) in &mut routes.get_openapi_mut().paths.paths {
        let words = path.trim_start_matches("/v1").replace(['/', '.', '{', '}'], " ");
        let name = words.split_whitespace().collect::<Vec<_>>().join("_");
        for (method, operation) in [
            ("get", &mut item.get),
            ("head", &mut item.head),
            ("post", &mut item.post),
            ("delete", &mut item.delete),
        ] {
            if let Some(operation) = operation {
                operation.operation_id = Some(format!("{method}_{name}"));
            }
        }
    }
}

/// The document as JSON.
pub(crate) fn json(document: &utoipa::openapi::OpenApi) -> String {
    // Strings, numbers and maps with string keys: this cannot fail to be JSON.
    document.to_pretty_json().unwrap_or_default()
}

/// The pages about the service: the document, its reader, and one page per kind of problem.
pub(crate) fn pages(document: &utoipa::openapi::OpenApi) -> Router<Arc<App>> {
    let json = bytes::Bytes::from(json(document));
    let spec = move || {
        let json = json.clone();
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
         content=\"width=device-width\"><title>{title}</title><style>:root{{color-scheme:light dark}}\
         body{{font:16px/1.5 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem}}\
         code{{font-size:.95em}}</style>\
         <h1>{title}</h1><p>Status <code>{status}</code>, code <code>{code}</code>.</p><p>{about}</p>\
         <p><a href=\"/docs\">All routes</a></p></html>",
        title = kind.title,
        status = kind.status,
        code = kind.slug.replace('-', "_"),
        about = kind.about,
    )
}
