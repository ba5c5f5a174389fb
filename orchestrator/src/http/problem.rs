//! Errors as answers: every error maps to one kind of RFC 9457 problem here, and nowhere else.
//!
//! What a problem says is made for its reader: which field, which limit, what to do. What went wrong inside
//! goes to the log under the request's id; no path, address or type of ours leaves the process.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use super::body::BodyError;
use crate::fallback::Reason;
use crate::store::StoreError;

/// A kind of problem: what its `type` URI stands for.
#[derive(Debug, PartialEq)]
pub(crate) struct Kind {
    /// Last part of the `type` URI; with `_` for `-` it is the `code` member. Never changes.
    pub slug: &'static str,
    /// HTTP status.
    pub status: u16,
    /// `title` member.
    pub title: &'static str,
    /// The page behind the `type` URI: when it happens and what to do.
    pub about: &'static str,
}

macro_rules! kinds {
    ($($name:ident = $slug:literal, $status:literal, $title:literal, $about:literal;)*) => {
        $(pub(crate) const $name: Kind = Kind { slug: $slug, status: $status, title: $title, about: $about };)*
        /// All kinds, in the order of their status.
        pub(crate) const KINDS: &[&Kind] = &[$(&$name),*];
    };
}

kinds! {
    MALFORMED = "request-malformed", 400, "The request cannot be read",
        "The body is not the JSON or the multipart form it should be, or a query or header does not parse. \
         `detail` says where.";
    NOT_FOUND = "not-found", 404, "There is nothing here",
        "No route has this path. All routes are listed at /docs.";
    SCENE_NOT_FOUND = "scene-not-found", 404, "No such scene",
        "No scene with this id is stored here. Upload it with POST /v1/scenes; the id is the file's hash, so \
         uploading it again gives the same id.";
    ENVIRONMENT_NOT_FOUND = "environment-not-found", 404, "No such environment",
        "No environment with this id is stored here. Upload it with POST /v1/environments.";
    JOB_NOT_FOUND = "job-not-found", 404, "No such job",
        "No job with this id is known. Finished jobs are kept for the time that `jobs.keep_s` sets.";
    METHOD = "method-not-allowed", 405, "The path does not take this method",
        "The `Allow` header lists the methods that this path takes.";
    BODY_TIMEOUT = "body-timeout", 408, "The request body came too slowly",
        "The body stopped arriving, or arrived below the slowest rate accepted (`server.body_idle_ms`, \
         `server.body_rate_bytes_per_s`). Send it again over a better connection.";
    SCENE_IN_USE = "scene-in-use", 409, "A job still needs this file",
        "A scene or environment cannot be deleted while a job that waits or runs needs it. Cancel the job, or \
         delete it when the job is done.";
    JOB_NOT_DONE = "job-not-done", 409, "The job has no result",
        "The job still waits or runs, was cancelled, or failed. Its own page says which.";
    NEURAL_OFF = "neural-off", 409, "The neural path is switched off",
        "The request says `neural=required`, and a flag or the kill switch is off for it. Ask with `neural=auto` \
         or `neural=off` for a deterministic frame.";
    IDEMPOTENCY_IN_FLIGHT = "idempotency-in-flight", 409, "A request with this key is being handled",
        "Another request with the same Idempotency-Key has not been answered yet. Wait for it, then repeat.";
    ENGINE_GONE = "engine-gone", 410, "This engine is not here",
        "The URL pins an engine (the version of the arithmetic that makes the pixels) which this server does \
         not run. The frame may be asked for without `engine`, and will be made by the engine that is here.";
    TOO_LARGE = "body-too-large", 413, "The request body is too large",
        "`limit_bytes` is the most that this path takes.";
    MEDIA_TYPE = "media-type-unsupported", 415, "This kind of body is not taken",
        "Compressed bodies (Content-Encoding) are refused, and JSON routes take application/json only.";
    INVALID = "request-invalid", 422, "The request asks for what cannot be",
        "A field has a value that is out of range, unknown, or contradicts another; `field` names it.";
    SCENE_INVALID = "scene-invalid", 422, "The scene cannot be used",
        "The file breaks the glTF rules, needs an extension that is refused, or exceeds a limit. `detail` says \
         what and where, `cause` is stable for programs.";
    ENVIRONMENT_INVALID = "environment-invalid", 422, "The environment cannot be used",
        "The file is not an equirectangular .hdr or .exr picture inside the limits. `detail` says what and where, \
         `cause` is stable for programs.";
    IDEMPOTENCY_MISMATCH = "idempotency-mismatch", 422, "The key was used for another request",
        "An Idempotency-Key names one request. This body differs from the one the key came with first.";
    INTERNAL = "internal", 500, "Something went wrong inside",
        "A fault of the server, not of the request. The log has it under the request id in `instance`.";
    BACKEND = "backend-failed", 500, "The frame could not be rendered",
        "Every backend that could render this frame failed. The log has it under the request id in `instance`.";
    NEURAL_UNAVAILABLE = "neural-unavailable", 503, "The neural path is not to be had now",
        "The request says `neural=required`, and no model can make this frame now; `detail` says why. Ask with \
         `neural=auto` or `neural=off` for a deterministic frame.";
    OVERLOAD = "overload", 503, "Too much is waiting already",
        "The queue is full or the turn did not come in time. Repeat after `Retry-After` seconds.";
    SHUTTING_DOWN = "shutting-down", 503, "The server is shutting down",
        "It finishes what it has begun and takes nothing new. Repeat after `Retry-After` seconds.";
    RENDER_TIMEOUT = "render-timeout", 504, "The frame took too long",
        "Rendering passed `render.render_ms` and was stopped. Ask for fewer pixels or samples, or as a job.";
    STORAGE_FULL = "storage-full", 507, "The store is full",
        "Scenes and environments together have reached `upload.stored_bytes`. Delete some.";
}

/// Everything that can go wrong with a request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiError {
    /// Cannot be parsed.
    #[error("{0}")]
    Malformed(String),
    /// No such route.
    #[error("no route has this path")]
    NotFound,
    /// No such scene.
    #[error("no scene `{0}` is stored here")]
    SceneNotFound(String),
    /// No such environment.
    #[error("no environment `{0}` is stored here")]
    EnvironmentNotFound(String),
    /// No such job.
    #[error("no job `{0}` is known here")]
    JobNotFound(String),
    /// The route has other methods.
    #[error("the path does not take this method")]
    Method,
    /// The body could not be read.
    #[error(transparent)]
    Body(#[from] BodyError),
    /// Deleting what a job needs.
    #[error("job `{job}` needs it")]
    InUse { job: String },
    /// The job has no result.
    #[error("the job is {state}")]
    JobNotDone { state: &'static str },
    /// Same key, not answered yet.
    #[error("another request with this Idempotency-Key is being handled")]
    IdempotencyInFlight,
    /// Same key, another body.
    #[error("the Idempotency-Key came with another body before, as job `{job}`")]
    IdempotencyMismatch { job: String },
    /// The URL pins an engine that is not here.
    #[error("engine `{wanted}` is not here; this server runs `{here}`")]
    EngineGone { wanted: String, here: &'static str },
    /// Wrong media type or an encoding.
    #[error("{0}")]
    MediaType(String),
    /// A field's value.
    #[error("{field}: {reason}")]
    Invalid { field: String, reason: String },
    /// A scene file.
    #[error("{reason}")]
    SceneInvalid { cause: &'static str, reason: String },
    /// An environment file.
    #[error("{reason}")]
    EnvironmentInvalid { cause: &'static str, reason: String },
    /// Full queue or long wait.
    #[error("{reason}")]
    Overload { reason: &'static str, retry_after_s: u64 },
    /// `neural=required` that cannot be met.
    #[error("neural=required cannot be met: {detail}")]
    NeuralUnavailable { reason: Reason, detail: String },
    /// Stopped before its end.
    #[error("the render was stopped")]
    Cancelled,
    /// Shutting down.
    #[error("the server is shutting down")]
    ShuttingDown,
    /// Render time limit.
    #[error("rendering passed {limit_ms} ms and was stopped")]
    RenderTimeout { limit_ms: u64 },
    /// No backend could.
    #[error("the frame could not be rendered")]
    Backend { cause: String },
    /// No space under the setting.
    #[error("the store holds {stored_bytes} of {limit_bytes} bytes")]
    StorageFull { stored_bytes: u64, limit_bytes: u64 },
    /// Our fault.
    #[error("something went wrong inside")]
    Internal { cause: String },
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> ApiError {
        ApiError::Internal { cause: error.to_string() }
    }
}

impl ApiError {
    /// A fault of ours.
    pub(crate) fn internal(cause: impl std::fmt::Display) -> ApiError {
        ApiError::Internal { cause: cause.to_string() }
    }

    /// A field with a value that cannot be.
    pub(crate) fn invalid(field: impl Into<String>, reason: impl Into<String>) -> ApiError {
        ApiError::Invalid { field: field.into(), reason: reason.into() }
    }

    /// Says in which part of a larger request the field is.
    pub(crate) fn within(self, part: &str) -> ApiError {
        match self {
            ApiError::Invalid { field, reason } if field == "body" => ApiError::invalid(part, reason),
            ApiError::Invalid { field, reason } => ApiError::invalid(format!("{part}.{field}"), reason),
            other => other,
        }
    }

    /// Whether the same work may succeed at another time.
    pub(crate) fn may_pass(&self) -> bool {
        self.kind().status >= 500 && !matches!(self, ApiError::RenderTimeout { .. })
    }

    /// Tells the log what the answer must not say.
    pub(crate) fn log(&self) {
        if let Some(cause) = self.cause() {
            tracing::error!(cause, code = self.kind().slug, "request failed");
        }
    }

    /// The kind of problem it is.
    pub(crate) fn kind(&self) -> &'static Kind {
        match self {
            ApiError::Malformed(_) | ApiError::Body(BodyError::Broken) => &MALFORMED,
            ApiError::NotFound => &NOT_FOUND,
            ApiError::SceneNotFound(_) => &SCENE_NOT_FOUND,
            ApiError::EnvironmentNotFound(_) => &ENVIRONMENT_NOT_FOUND,
            ApiError::JobNotFound(_) => &JOB_NOT_FOUND,
            ApiError::Method => &METHOD,
            ApiError::Body(BodyError::Slow) => &BODY_TIMEOUT,
            ApiError::Body(BodyError::TooLarge { .. }) => &TOO_LARGE,
            ApiError::InUse { .. } => &SCENE_IN_USE,
            ApiError::JobNotDone { .. } => &JOB_NOT_DONE,
            ApiError::IdempotencyInFlight => &IDEMPOTENCY_IN_FLIGHT,
            ApiError::IdempotencyMismatch { .. } => &IDEMPOTENCY_MISMATCH,
            ApiError::EngineGone { .. } => &ENGINE_GONE,
            ApiError::MediaType(_) => &MEDIA_TYPE,
            ApiError::Invalid { .. } => &INVALID,
            ApiError::SceneInvalid { .. } => &SCENE_INVALID,
            ApiError::EnvironmentInvalid { .. } => &ENVIRONMENT_INVALID,
            ApiError::Overload { .. } => &OVERLOAD,
            ApiError::NeuralUnavailable { reason: Reason::FlagOff | Reason::KillSwitch, .. } => &NEURAL_OFF,
            ApiError::NeuralUnavailable { .. } => &NEURAL_UNAVAILABLE,
            ApiError::ShuttingDown | ApiError::Cancelled => &SHUTTING_DOWN,
            ApiError::RenderTimeout { .. } => &RENDER_TIMEOUT,
            ApiError::Backend { .. } => &BACKEND,
            ApiError::StorageFull { .. } => &STORAGE_FULL,
            ApiError::Internal { .. } => &INTERNAL,
        }
    }

    /// The problem to send; `instance` is filled in where the request's id is known.
    pub(crate) fn problem(&self) -> Problem {
        let kind = self.kind();
        let mut problem = Problem::of(kind, self.to_string());
        match self {
            ApiError::Invalid { field, .. } => problem.field = Some(field.clone()),
            ApiError::SceneInvalid { cause, .. } | ApiError::EnvironmentInvalid { cause, .. } => {
                problem.cause = Some((*cause).to_owned());
            }
            ApiError::Overload { retry_after_s, .. } => problem.retry_after_s = Some(*retry_after_s),
            ApiError::ShuttingDown | ApiError::Cancelled => problem.retry_after_s = Some(5),
            ApiError::NeuralUnavailable { .. } if problem.status == 503 => problem.retry_after_s = Some(60),
            ApiError::Body(BodyError::TooLarge { limit_bytes })
            | ApiError::StorageFull { limit_bytes, .. } => problem.limit_bytes = Some(*limit_bytes),
            _ => {}
        }
        problem
    }

    /// What the log should have and the answer must not.
    fn cause(&self) -> Option<&str> {
        match self {
            ApiError::Internal { cause } | ApiError::Backend { cause } => Some(cause),
            _ => None,
        }
    }
}

/// An RFC 9457 problem.
#[derive(Debug, Clone, PartialEq, Serialize, serde::Deserialize, ToSchema)]
pub(crate) struct Problem {
    /// Stable URI of the kind of problem, relative to the server; a page explains it.
    #[serde(rename = "type")]
    #[schema(example = "/problems/scene-invalid")]
    pub type_uri: String,
    /// Stable short name of the kind, for programs.
    #[schema(example = "scene_invalid")]
    pub code: String,
    /// What kind of problem it is, in words.
    pub title: String,
    /// HTTP status.
    #[schema(example = 422)]
    pub status: u16,
    /// What is wrong with this request, and where.
    pub detail: String,
    /// The request this happened to; the log knows it by the same id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "urn:isoframe:request:0192f3c4a5b6")]
    pub instance: Option<String>,
    /// Field of the request that is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Stable name of what is wrong with an uploaded file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "index-out-of-range")]
    pub cause: Option<String>,
    /// The limit that was passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_bytes: Option<u64>,
    /// When to try again; also in `Retry-After`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_s: Option<u64>,
}

impl Problem {
    fn of(kind: &Kind, detail: String) -> Problem {
        Problem {
            type_uri: format!("/problems/{}", kind.slug),
            code: kind.slug.replace('-', "_"),
            title: kind.title.to_owned(),
            status: kind.status,
            detail,
            instance: None,
            field: None,
            cause: None,
            limit_bytes: None,
            retry_after_s: None,
        }
    }

    /// The answer that carries it.
    pub(crate) fn into_answer(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let retry_after_s = self.retry_after_s;
        let mut response = (status, Json(self)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = retry_after_s {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl IntoResponse for ApiError {
    /// The request-id layer finds the problem in the extensions, fills in `instance` and makes the body.
    fn into_response(self) -> Response {
        self.log();
        let problem = self.problem();
        let mut response = problem.clone().into_answer();
        response.extensions_mut().insert(problem);
        response
    }
}
