//! What all handlers share.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::ServeError;
use super::answers::Answers;
use super::jobs::JobBoard;
use super::metrics::Metrics;
use super::problem::ApiError;
use super::render::Throughput;
use crate::admission::Admission;
use crate::config::Settings;
use crate::frames::Frames;
use crate::store::{Store, StoreError};

/// What all handlers share.
pub(crate) struct App {
    pub settings: Settings,
    pub store: Arc<Store>,
    pub frames: Frames,
    pub admission: Arc<Admission>,
    pub metrics: Metrics,
    pub throughput: Throughput,
    pub answers: Answers,
    pub jobs: JobBoard,
    /// Seats of uploads that are received or checked, and places of those that have or await one.
    pub upload_seats: Arc<Semaphore>,
    pub upload_places: Arc<Semaphore>,
    /// Cancelled when the service stops taking requests.
    pub stopping: CancellationToken,
}

impl App {
    pub(crate) fn open(settings: Settings) -> Result<App, ServeError> {
        let store = Store::open(&settings.data_dir(), settings.cache.frame_bytes)?;
        Ok(App {
            store: Arc::new(store),
            frames: Frames::open(&settings.frames())?,
            admission: Admission::new(
                settings.render.concurrent,
                settings.render.queue_requests,
                settings.render.batch_every_frames,
            ),
            metrics: Metrics::new(),
            throughput: Throughput::default(),
            answers: Answers::new(settings.server.answer_bytes),
            jobs: JobBoard::default(),
            upload_seats: Arc::new(Semaphore::new(settings.upload.concurrent)),
            upload_places: Arc::new(Semaphore::new(
                settings.upload.concurrent + settings.upload.queue_uploads,
            )),
            stopping: CancellationToken::new(),
            settings,
        })
    }

    /// Refuses new work while shutting down.
    pub(crate) fn open_for_work(&self) -> Result<(), ApiError> {
        if self.stopping.is_cancelled() { Err(ApiError::ShuttingDown) } else { Ok(()) }
    }

    /// Asks the store on a thread that may block.
    pub(crate) async fn store<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let store = self.store.clone();
        Ok(blocking(move || ask(&store)).await??)
    }
}

/// Runs on a thread that may block, inside the request's span. *Errors*: it panicked.
pub(crate) async fn blocking<T: Send + 'static>(
    act: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ApiError> {
    let span = tracing::Span::current();
    let done = tokio::task::spawn_blocking(move || span.in_scope(act)).await;
    done.map_err(|error| ApiError::internal(panic_text(error)))
}

/// What a panic said, for the log.
pub(crate) fn panic_text(error: tokio::task::JoinError) -> String {
    let Ok(panic) = error.try_into_panic() else { return "a task was dropped at shutdown".into() };
    request_panic_text(panic.as_ref())
}

/// What a panic said, for the log.
pub(crate) fn request_panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("panic: {}", text.unwrap_or_else(|| "not a text".into()))
}
