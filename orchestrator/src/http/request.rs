//! What every request passes through: its id, its span, its metrics, and the net under panics.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{FromRequestParts, MatchedPath, Path, Query, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use serde::de::DeserializeOwned;
use tracing::Instrument;

use super::app::{App, request_panic_text};
use super::body::read_all;
use super::ids;
use super::problem::{ApiError, Problem};

pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Longest request id taken from a client. *Units*: bytes.
const REQUEST_ID_MAX_BYTES: usize = 128;

/// Name of the route for metrics when none matched.
const NO_ROUTE: &str = "none";

/// Wraps every handler.
pub(crate) async fn layer(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    let id = client_id(request.headers()).unwrap_or_else(ids::request_id);
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let route = route.unwrap_or_else(|| NO_ROUTE.to_owned());
    let method = request.method().clone();
    let span = tracing::info_span!("request", id, %method, route);
    let handled = AssertUnwindSafe(next.run(request)).catch_unwind().instrument(span.clone()).await;
    let mut response = span.in_scope(|| {
        handled.unwrap_or_else(|panic| ApiError::internal(request_panic_text(panic.as_ref())).into_response())
    });
    if let Some(mut problem) = response.extensions_mut().remove::<Problem>() {
        problem.instance = Some(format!("urn:isoframe:request:{id}"));
        response = with_headers_of(response.headers(), problem.into_answer());
    }
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
        .headers_mut()
        .entry(header::X_CONTENT_TYPE_OPTIONS)
        .or_insert(HeaderValue::from_static("nosniff"));
    let took = start.elapsed();
    app.metrics.request(&method, &route, response.status(), took);
    span.in_scope(|| {
        tracing::info!(status = response.status().as_u16(), ms = took.as_secs_f64() * 1e3, "answered");
    });
    response
}

/// Keeps what a handler set beside the problem (`Allow`, `Connection`).
fn with_headers_of(headers: &HeaderMap, mut answer: Response) -> Response {
    for (name, value) in headers {
        if !answer.headers().contains_key(name) && name != header::CONTENT_LENGTH {
            answer.headers_mut().insert(name.clone(), value.clone());
        }
    }
    answer
}

/// The client's own id for the request, if it is fit for logs and headers.
fn client_id(headers: &HeaderMap) -> Option<String> {
    let id = headers.get(REQUEST_ID)?.to_str().ok()?;
    let fit = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (!id.is_empty() && id.len() <= REQUEST_ID_MAX_BYTES && id.bytes().all(fit)).then(|| id.to_owned())
}

/// No route has the path.
pub(crate) async fn no_route() -> ApiError {
    ApiError::NotFound
}

/// The path has other methods.
pub(crate) async fn no_method() -> ApiError {
    ApiError::Method
}

/// Refuses bodies that came compressed: their limits would be on the wrong side of the decoder.
pub(crate) fn refuse_encoding(headers: &HeaderMap) -> Result<(), ApiError> {
    match headers.get(header::CONTENT_ENCODING) {
        Some(encoding) if encoding != "identity" => {
            Err(ApiError::MediaType("send the body as it is, without Content-Encoding".into()))
        }
        _ => Ok(()),
    }
}

/// Reads a JSON body of at most `limit_bytes`; its bytes are returned beside it.
pub(crate) async fn read_json<T: DeserializeOwned>(
    request: Request,
    limit_bytes: u64,
) -> Result<(T, bytes::Bytes), ApiError> {
    refuse_encoding(request.headers())?;
    let media_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media_type = media_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if !media_type.eq_ignore_ascii_case("application/json") {
        return Err(ApiError::MediaType("send the body as application/json".into()));
    }
    let bytes = read_all(request.into_body(), limit_bytes).await?;
    let value = serde_json::from_slice(&bytes).map_err(|error| ApiError::Malformed(error.to_string()))?;
    Ok((value, bytes))
}

/// The query of a URL, read as `T`.
pub(crate) struct Params<T>(pub T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Params<T>, ApiError> {
        let query = Query::try_from_uri(&parts.uri);
        query.map(|Query(value)| Params(value)).map_err(|error| ApiError::Malformed(error.body_text()))
    }
}

/// The one variable segment of a path.
pub(crate) struct Segment(pub String);

impl<S: Send + Sync> FromRequestParts<S> for Segment {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Segment, ApiError> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        path.map(|Path(segment)| Segment(segment)).map_err(|error| ApiError::Malformed(error.body_text()))
    }
}

/// Whether the method is HEAD: the answer's headers are wanted, not its body.
pub(crate) fn is_head(method: &Method) -> bool {
    method == Method::HEAD
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::routing::get;
    use tower::ServiceExt;

    use super::*;
    use crate::config::Settings;

    async fn panics() -> &'static str {
        panic!("secret of {}", file!())
    }

    #[test]
    fn a_panic_is_a_problem_without_its_text() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut settings = Settings::default();
        settings.server.data_dir = folder.path().display().to_string();
        settings.render.backend = crate::frames::BackendChoice::Cpu;
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let (status, body) = runtime.block_on(async {
            let app = Arc::new(App::open(settings).expect("opens"));
            let layer = axum::middleware::from_fn_with_state(app.clone(), layer);
            let router: Router = Router::new().route("/", get(panics)).layer(layer).with_state(app);
            let request =
                Request::builder().uri("/").header(REQUEST_ID, "r1").body(Body::empty()).expect("valid");
            let response = router.oneshot(request).await.expect("answered");
            let status = response.status();
            (status, read_all(response.into_body(), 10_000).await.expect("read"))
        });
        assert_eq!(status, 500);
        let problem: Problem = serde_json::from_slice(&body).expect("a problem");
        assert_eq!(problem.instance.as_deref(), Some("urn:isoframe:request:r1"));
        let text = String::from_utf8_lossy(&body);
        assert!(!text.contains("secret") && !text.contains(".rs"), "{text}");
    }
}
