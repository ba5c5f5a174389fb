//! Receiving a file: streamed to disk, hashed and counted on the way, from a plain body or a form.

use axum::body::{Body, HttpBody};
use axum::extract::multipart::{Field, Multipart, MultipartError};
use axum::extract::{FromRequest, Request};
use axum::http::header;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;

use super::app::{App, blocking};
use super::body::BodyError;
use super::problem::ApiError;
use super::request::refuse_encoding;
use crate::store::Intake;

/// Bytes gathered before they are written: a write is a visit to another thread.
const WRITE_BYTES: usize = 1 << 20;

/// What a form may hold beside its file: boundaries, headers, small fields. *Units*: bytes.
const FORM_BYTES: u64 = 64 * 1024;

/// Receives the file of a request: its body, or the one file of a multipart form.
pub(crate) async fn receive(app: &App, request: Request, limit_bytes: u64) -> Result<Intake, ApiError> {
    refuse_encoding(request.headers())?;
    let announced_bytes = request.body().size_hint().lower();
    let form = is_form(&request);
    let room_bytes = if form { limit_bytes.saturating_add(FORM_BYTES) } else { limit_bytes };
    if announced_bytes > room_bytes {
        return Err(BodyError::TooLarge { limit_bytes }.into());
    }
    let intake = app.store(|store| store.intake()).await?;
    let mut sink = Sink { app, intake: Some(intake), buffer: BytesMut::new(), bytes: 0, limit_bytes };
    if form {
        let form = Multipart::from_request(request, &()).await;
        receive_form(form.map_err(|error| ApiError::Malformed(error.body_text()))?, &mut sink).await?;
    } else {
        receive_body(request.into_body(), &mut sink).await?;
    }
    sink.finish().await
}

fn is_form(request: &Request) -> bool {
    let media_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    media_type.is_some_and(|value| value.trim_start().to_ascii_lowercase().starts_with("multipart/form-data"))
}

async fn receive_body(mut body: Body, sink: &mut Sink<'_>) -> Result<(), ApiError> {
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| BodyError::of(&error))?;
        if let Ok(data) = frame.into_data() {
            sink.push(data).await?;
        }
    }
    Ok(())
}

async fn receive_form(mut form: Multipart, sink: &mut Sink<'_>) -> Result<(), ApiError> {
    let mut files = 0;
    let mut other_bytes = 0;
    while let Some(mut field) = form.next_field().await.map_err(form_error)? {
        if is_file(&field) {
            files += 1;
            if files > 1 {
                return Err(ApiError::Malformed("the form holds more than one file".into()));
            }
            while let Some(chunk) = field.chunk().await.map_err(form_error)? {
                sink.push(chunk).await?;
            }
        } else {
            while let Some(chunk) = field.chunk().await.map_err(form_error)? {
                other_bytes += chunk.len() as u64;
                if other_bytes > FORM_BYTES {
                    return Err(BodyError::TooLarge { limit_bytes: FORM_BYTES }.into());
                }
            }
        }
    }
    if files == 0 {
        return Err(ApiError::Malformed("the form holds no file; send one as field `file`".into()));
    }
    Ok(())
}

fn is_file(field: &Field<'_>) -> bool {
    field.file_name().is_some() || field.name() == Some("file")
}

fn form_error(error: MultipartError) -> ApiError {
    match BodyError::of(&error) {
        BodyError::Slow => BodyError::Slow.into(),
        _ => ApiError::Malformed(error.body_text()),
    }
}

/// Where received bytes go.
struct Sink<'a> {
    app: &'a App,
    /// Away while a write is under way.
    intake: Option<Intake>,
    buffer: BytesMut,
    bytes: u64,
    limit_bytes: u64,
}

impl Sink<'_> {
    async fn push(&mut self, data: Bytes) -> Result<(), ApiError> {
        self.bytes += data.len() as u64;
        self.app.metrics.received_bytes.inc_by(data.len() as u64);
        if self.bytes > self.limit_bytes {
            return Err(BodyError::TooLarge { limit_bytes: self.limit_bytes }.into());
        }
        self.buffer.extend_from_slice(&data);
        if self.buffer.len() >= WRITE_BYTES { self.write().await } else { Ok(()) }
    }

    async fn write(&mut self) -> Result<(), ApiError> {
        let data = self.buffer.split();
        let mut intake = self.intake.take().ok_or_else(|| ApiError::internal("an upload lost its file"))?;
        let (intake, written) = blocking(move || {
            let written = intake.write(&data);
            (intake, written)
        })
        .await?;
        self.intake = Some(intake);
        Ok(written?)
    }

    async fn finish(mut self) -> Result<Intake, ApiError> {
        self.write().await?;
        self.intake.take().ok_or_else(|| ApiError::internal("an upload lost its file"))
    }
}
