//! Request bodies: timed, bounded, and read to their end even when nobody wants them.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Frame, Incoming, SizeHint};
use tokio::time::{Instant, Sleep};

use crate::config::{self, Server};

/// Time limits of a request body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyLimits {
    idle: Duration,
    rate_bytes_per_s: u64,
    drain: Duration,
    drain_bytes: u64,
}

impl BodyLimits {
    pub(crate) fn new(server: &Server) -> BodyLimits {
        BodyLimits {
            idle: config::ms(server.body_idle_ms),
            rate_bytes_per_s: server.body_rate_bytes_per_s,
            drain: config::ms(server.drain_ms),
            drain_bytes: server.drain_bytes,
        }
    }
}

/// Why a body could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    /// The client sends too slowly.
    #[error("the request body came too slowly")]
    Slow,
    /// The body is larger than its limit.
    #[error("the request body is larger than {limit_bytes} bytes")]
    TooLarge { limit_bytes: u64 },
    /// The connection broke, or the framing is wrong.
    #[error("the request body could not be read")]
    Broken,
}

impl BodyError {
    /// The cause of an error that came out of a [`GuardedBody`] through any number of wrappers.
    pub(crate) fn of(error: &(dyn std::error::Error + 'static)) -> BodyError {
        let mut cause = Some(error);
        while let Some(error) = cause {
            if let Some(BodyError::Slow) = error.downcast_ref() {
                return BodyError::Slow;
            }
            cause = error.source();
        }
        BodyError::Broken
    }
}

/// A body under a clock that only counts while the client is waited for.
///
/// Dropped before its end, what is left is read and thrown away for a while: closing a socket that holds
/// unread bytes resets it, and a client that still sends would never see the answer.
pub(crate) struct GuardedBody {
    /// Taken when the end is reached or nothing more is wanted.
    inner: Option<Incoming>,
    limits: BodyLimits,
    timer: Option<Pin<Box<Sleep>>>,
    waiting_since: Option<Instant>,
    waited: Duration,
    received_bytes: u64,
    /// The client sends nothing before it is told to, which hyper does when the body is first read.
    unasked: bool,
}

impl GuardedBody {
    pub(crate) fn new(inner: Incoming, expects_continue: bool, limits: BodyLimits) -> GuardedBody {
        GuardedBody {
            inner: (!inner.is_end_stream()).then_some(inner),
            limits,
            timer: None,
            waiting_since: None,
            waited: Duration::ZERO,
            received_bytes: 0,
            unasked: expects_continue,
        }
    }

    fn too_slow(&self) -> bool {
        let wanted = self.limits.rate_bytes_per_s as f64 * self.waited.as_secs_f64();
        self.waited > self.limits.idle && (self.received_bytes as f64) < wanted
    }

    /// Waits on: an error once the client was silent for too long.
    fn poll_silence(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let since = *self.waiting_since.get_or_insert_with(Instant::now);
        let deadline = since + self.limits.idle;
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
        if timer.deadline() != deadline {
            timer.as_mut().reset(deadline);
        }
        timer.as_mut().poll(cx)
    }
}

impl HttpBody for GuardedBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        self.unasked = false;
        let Some(inner) = &mut self.inner else { return Poll::Ready(None) };
        let frame = match Pin::new(inner).poll_frame(cx) {
            Poll::Pending if self.poll_silence(cx).is_pending() => return Poll::Pending,
            Poll::Pending => Some(Err(BodyError::Slow)),
            Poll::Ready(frame) => frame.map(|frame| frame.map_err(|_| BodyError::Broken)),
        };
        if let Some(since) = self.waiting_since.take() {
            self.waited += since.elapsed();
        }
        let frame = match frame {
            Some(Ok(frame)) => {
                self.received_bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
                if self.too_slow() { Some(Err(BodyError::Slow)) } else { Some(Ok(frame)) }
            }
            other => other,
        };
        if !matches!(frame, Some(Ok(_))) {
            self.inner = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.as_ref().map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

impl Drop for GuardedBody {
    fn drop(&mut self) {
        let unasked = self.unasked;
        let Some(inner) = self.inner.take_if(|inner| !unasked && !inner.is_end_stream()) else { return };
        let limits = self.limits;
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(tokio::time::timeout(limits.drain, drain(inner, limits.drain_bytes)));
        }
    }
}

async fn drain(mut body: Incoming, limit_bytes: u64) {
    let mut drained_bytes = 0;
    while drained_bytes <= limit_bytes
        && let Some(Ok(frame)) = body.frame().await
    {
        drained_bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
    }
}

/// Reads a whole body of at most `limit_bytes`.
pub(crate) async fn read_all(mut body: Body, limit_bytes: u64) -> Result<Bytes, BodyError> {
    if body.size_hint().lower() > limit_bytes {
        return Err(BodyError::TooLarge { limit_bytes });
    }
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| BodyError::of(&error))?;
        if let Ok(data) = frame.into_data() {
            if (bytes.len() + data.len()) as u64 > limit_bytes {
                return Err(BodyError::TooLarge { limit_bytes });
            }
            bytes.extend_from_slice(&data);
        }
    }
    Ok(bytes.freeze())
}
