//! A clock for the passes: raster opens a span around each, here is measured how long they are entered.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::span::Id;
use tracing::subscriber::Interest;
use tracing::{Metadata, Subscriber, callsite};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::{Context, Filter, Layer};
use tracing_subscriber::registry::LookupSpan;

/// What the names of passes begin with.
const PREFIX: &str = "raster.";

static RUNNING: AtomicBool = AtomicBool::new(false);
static TIMES: Mutex<BTreeMap<&'static str, Duration>> = Mutex::new(BTreeMap::new());

/// Times of all passes while `work` runs, summed over threads. The clock costs nothing while it does not run.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, BTreeMap<&'static str, Duration>) {
    times().clear();
    switch(true);
    let result = work();
    switch(false);
    (result, std::mem::take(&mut *times()))
}

fn switch(running: bool) {
    RUNNING.store(running, Ordering::SeqCst);
    // Spans ask once whether anybody wants them, and remember the answer.
    callsite::rebuild_interest_cache();
}

fn times() -> std::sync::MutexGuard<'static, BTreeMap<&'static str, Duration>> {
    TIMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The layer that measures; goes beside the log.
pub(crate) struct PassClock;

/// When a span was entered.
struct Entered(Instant);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for PassClock {
    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            span.extensions_mut().replace(Entered(Instant::now()));
        }
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(Entered(start)) = span.extensions_mut().remove() {
            *times().entry(span.name()).or_default() += start.elapsed();
        }
    }
}

/// Lets passes through while the clock runs.
pub(crate) struct WhileRunning;

fn wanted(metadata: &Metadata<'_>) -> bool {
    RUNNING.load(Ordering::SeqCst) && metadata.is_span() && metadata.name().starts_with(PREFIX)
}

impl<S> Filter<S> for WhileRunning {
    fn enabled(&self, metadata: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        wanted(metadata)
    }

    fn callsite_enabled(&self, metadata: &'static Metadata<'static>) -> Interest {
        if wanted(metadata) { Interest::always() } else { Interest::never() }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(if RUNNING.load(Ordering::SeqCst) { LevelFilter::TRACE } else { LevelFilter::OFF })
    }
}
