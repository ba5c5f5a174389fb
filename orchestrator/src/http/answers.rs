//! Files held in memory while their clients take them, counted together.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What one permit stands for. *Units*: bytes.
const PERMIT_BYTES: u64 = 4096;

/// How much answers may hold together.
#[derive(Debug)]
pub(crate) struct Answers(Arc<Semaphore>);

impl Answers {
    pub(crate) fn new(limit_bytes: u64) -> Answers {
        let permits = usize::try_from(limit_bytes / PERMIT_BYTES).unwrap_or(usize::MAX);
        Answers(Arc::new(Semaphore::new(permits.min(Semaphore::MAX_PERMITS))))
    }

    /// A body that counts for as long as it is being taken, or the file back if there is no room for it.
    pub(crate) fn try_hold(&self, file: Bytes) -> Result<Body, Bytes> {
        let permits = (file.len() as u64).div_ceil(PERMIT_BYTES).try_into();
        let permits: Result<u32, _> = permits;
        let Ok(permits) = permits else { return Err(file) };
        match self.0.clone().try_acquire_many_owned(permits) {
            Ok(room) => Ok(Body::new(Held { file: Some(file), room: Some(room) })),
            Err(_) => Err(file),
        }
    }
}

/// A file that counts until the connection has taken all of it.
struct Held {
    file: Option<Bytes>,
    room: Option<OwnedSemaphorePermit>,
}

/// How much of a file is handed to the connection at once. *Units*: bytes.
const CHUNK_BYTES: usize = 256 * 1024;

impl HttpBody for Held {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let Some(file) = &mut self.file else { return Poll::Ready(None) };
        let chunk = file.split_to(file.len().min(CHUNK_BYTES));
        if file.is_empty() {
            self.file = None;
            self.room = None;
        }
        Poll::Ready(if chunk.is_empty() { None } else { Some(Ok(Frame::data(chunk))) })
    }

    fn is_end_stream(&self) -> bool {
        self.file.as_ref().is_none_or(Bytes::is_empty)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.file.as_ref().map_or(0, Bytes::len) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_taken_and_given_back() {
        let answers = Answers::new(100 * PERMIT_BYTES);
        let file = Bytes::from(vec![1; 60 * PERMIT_BYTES as usize]);
        let held = answers.try_hold(file.clone()).expect("room");
        assert_eq!(answers.try_hold(file.clone()).expect_err("full"), file);
        let taken = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime")
            .block_on(axum::body::to_bytes(held, usize::MAX))
            .expect("all of it");
        assert_eq!(taken, file);
        drop(answers.try_hold(file).expect("room again"));
    }
}
