//! Connections: accepted under a limit, watched by a clock, closed when slow, idle or shut down.
//!
//! hyper alone waits for ever on a client that reads slowly, and cannot tell an idle connection from half a
//! header. Here one watch per connection knows the phase it is in and ends it at that phase's limit.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::http::header::EXPECT;
use axum::http::{Request, Response};
use bytes::Bytes;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tower::ServiceExt;

use super::body::{BodyLimits, GuardedBody};
use crate::config::{self, Server};

/// Bytes that hyper reads ahead on a connection; bounds what many connections hold together.
const BUFFER_BYTES: usize = 64 * 1024;

/// Limits of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConnectionLimits {
    header_read: Duration,
    header_bytes: usize,
    idle: Duration,
    stall: Duration,
    stall_bytes: u64,
    body: BodyLimits,
}

impl ConnectionLimits {
    pub(crate) fn new(server: &Server) -> ConnectionLimits {
        let stall = config::ms(server.response_stall_ms);
        ConnectionLimits {
            header_read: config::ms(server.header_read_ms),
            header_bytes: server.header_bytes,
            idle: config::ms(server.idle_ms),
            stall,
            stall_bytes: (server.response_rate_bytes_per_s as f64 * stall.as_secs_f64()) as u64,
            body: BodyLimits::new(server),
        }
    }

    /// How often the watch looks: often enough to keep the shortest limit within a quarter.
    fn tick(&self) -> Duration {
        let shortest = self.header_read.min(self.idle).min(self.stall);
        (shortest / 4).clamp(Duration::from_millis(5), Duration::from_secs(1))
    }
}

/// File handles beside those of connections: the store, the cache, libraries.
const OTHER_HANDLES: u64 = 256;

/// Lets the process hold as many file handles as its connections need, as far as the system allows; says so where
/// it does not.
pub(crate) fn raise_handle_limit(connections: usize) {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        // A connection may hold its socket and a file it is being sent.
        let wanted = 2 * connections as u64 + OTHER_HANDLES;
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        let Some(current) = current.filter(|current| *current < wanted) else { return };
        let raised = maximum.map_or(wanted, |maximum| maximum.min(wanted));
        let set = setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum });
        let allowed = if set.is_ok() { raised } else { current };
        if allowed < wanted {
            tracing::warn!(
                allowed,
                wanted,
                "fewer file handles than server.connections may need; see ulimit -n"
            );
        }
    }
    #[cfg(not(unix))]
    let _ = connections;
}

/// Accepts until `shutdown`, then lets running requests finish for `grace`.
pub(crate) async fn accept(
    listener: TcpListener,
    router: Router,
    server: &Server,
    shutdown: impl Future<Output = ()>,
) {
    let limits = ConnectionLimits::new(server);
    let seats = Arc::new(Semaphore::new(server.connections));
    let graceful = GracefulShutdown::new();
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        let seat = tokio::select! {
            () = &mut shutdown => break,
            seat = seats.clone().acquire_owned() => seat.expect("the semaphore is never closed"),
        };
        let stream = tokio::select! {
            () = &mut shutdown => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Out of file handles, or a client gone before it was accepted: neither ends the service.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    continue;
                }
            },
        };
        let connection = serve_connection(stream, router.clone(), limits, graceful.watcher());
        tokio::spawn(async move {
            connection.await;
            drop(seat);
        });
    }
    drop(listener);
    let running = graceful.count();
    if running > 0 {
        tracing::info!(connections = running, "shutting down: open connections finish their requests");
    }
    if tokio::time::timeout(config::ms(server.shutdown_ms), graceful.shutdown()).await.is_err() {
        tracing::warn!("shutting down: requests still ran after server.shutdown_ms and were dropped");
    }
}

async fn serve_connection(
    stream: TcpStream,
    router: Router,
    limits: ConnectionLimits,
    watcher: hyper_util::server::graceful::Watcher,
) {
    // Answers are written whole; waiting to fill packets only delays them.
    let _ = stream.set_nodelay(true);
    let pulse = Arc::new(Pulse::new());
    let io = TokioIo::new(Watched { stream, pulse: pulse.clone() });
    let service_pulse = pulse.clone();
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        let pulse = service_pulse.clone();
        pulse.enter(Phase::Busy);
        let answered = Answered(pulse);
        let expects_continue = request.headers().contains_key(EXPECT);
        let request = request.map(|body| Body::new(GuardedBody::new(body, expects_continue, limits.body)));
        let router = router.clone();
        async move {
            let response = router.oneshot(request).await;
            response.map(|response: Response<Body>| response.map(|body| Answer { body, _answered: answered }))
        }
    });
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(None)
        .max_header_size(limits.header_bytes)
        .max_buf_size(limits.header_bytes.max(BUFFER_BYTES));
    let connection = watcher.watch(builder.serve_connection(io, service));
    tokio::select! {
        ended = connection => if let Err(error) = ended {
            tracing::debug!(%error, "connection ended");
        },
        reason = pulse.watch(limits) => tracing::debug!(reason, "connection closed"),
    }
}

/// What a connection waits for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    /// A request header, since its first byte (the first one: since the connection opened).
    Header,
    /// The next request.
    Idle,
    /// The answer to a request.
    Busy,
}

/// What the watch of a connection knows about it.
#[derive(Debug)]
struct Pulse(Mutex<Beat>);

#[derive(Debug)]
struct Beat {
    phase: Phase,
    since: Instant,
    written_bytes: u64,
    /// Since when the client has not taken what waits for it, and `written_bytes` then.
    stalled: Option<(Instant, u64)>,
}

impl Pulse {
    fn new() -> Pulse {
        let now = Instant::now();
        Pulse(Mutex::new(Beat { phase: Phase::Header, since: now, written_bytes: 0, stalled: None }))
    }

    fn with<T>(&self, act: impl FnOnce(&mut Beat) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn enter(&self, phase: Phase) {
        self.with(|beat| (beat.phase, beat.since) = (phase, Instant::now()));
    }

    fn bytes_read(&self) {
        self.with(|beat| {
            if beat.phase == Phase::Idle {
                (beat.phase, beat.since) = (Phase::Header, Instant::now());
            }
        });
    }

    fn write_ended(&self, wanted: usize, written: Option<usize>) {
        self.with(|beat| {
            beat.written_bytes += written.unwrap_or(0) as u64;
            if written == Some(wanted) {
                beat.stalled = None;
            } else if beat.stalled.is_none() {
                beat.stalled = Some((Instant::now(), beat.written_bytes));
            }
        });
    }

    /// Ends with the reason why the connection has to.
    async fn watch(&self, limits: ConnectionLimits) -> &'static str {
        let mut tick = tokio::time::interval(limits.tick());
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            if let Some(reason) = self.with(|beat| beat.overdue(&limits)) {
                return reason;
            }
        }
    }
}

impl Beat {
    fn overdue(&mut self, limits: &ConnectionLimits) -> Option<&'static str> {
        if let Some((since, bytes)) = self.stalled
            && since.elapsed() >= limits.stall
        {
            if self.written_bytes - bytes < limits.stall_bytes.max(1) {
                return Some("the client takes its answer too slowly");
            }
            self.stalled = Some((Instant::now(), self.written_bytes));
        }
        match self.phase {
            Phase::Header if self.since.elapsed() >= limits.header_read => Some("no whole header in time"),
            // Bytes that still wait for the client are judged by the stall rule alone.
            Phase::Idle if self.stalled.is_none() && self.since.elapsed() >= limits.idle => Some("idle"),
            _ => None,
        }
    }
}

/// A stream that tells its pulse what moves.
struct Watched {
    stream: TcpStream,
    pulse: Arc<Pulse>,
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        if buffer.filled().len() > before {
            self.pulse.bytes_read();
        }
        Poll::Ready(Ok(()))
    }
}

impl Watched {
    fn note(&self, wanted: usize, outcome: &Poll<io::Result<usize>>) {
        match outcome {
            Poll::Ready(Ok(written)) => self.pulse.write_ended(wanted, Some(*written)),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => self.pulse.write_ended(wanted, None),
        }
    }
}

impl AsyncWrite for Watched {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.note(bytes.len(), &outcome);
        outcome
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.note(slices.iter().map(|slice| slice.len()).sum(), &outcome);
        outcome
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// Dropped when a request is done with: the connection is idle again.
struct Answered(Arc<Pulse>);

impl Drop for Answered {
    fn drop(&mut self) {
        self.0.enter(Phase::Idle);
    }
}

/// An answer's body; the connection counts as busy for as long as it lives.
struct Answer {
    body: Body,
    _answered: Answered,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
