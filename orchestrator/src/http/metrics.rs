//! `/metrics`: what the service has done and how it is, for Prometheus.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::{Method, StatusCode};
use prometheus::{
    Encoder, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
    TextEncoder,
};

use crate::admission::Load;
use crate::frames::BackendReport;

/// Upper bounds of duration buckets. *Units*: seconds.
const SECONDS: [f64; 14] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0];

/// All metrics of one service.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: IntCounterVec,
    request_seconds: HistogramVec,
    /// Frames rendered, by path, backend kind and fallback reason (`none`).
    pub frames: IntCounterVec,
    /// What a rendered frame took, by stage: wait, scene, render, encode.
    pub frame_seconds: HistogramVec,
    /// Renders stopped before their end, by why: hang_up, time_limit, cancelled, shutdown.
    pub renders_stopped: IntCounterVec,
    /// Answers from the frame cache, by hit or miss.
    pub cache: IntCounterVec,
    /// Requests refused because too much waits, by queue.
    pub refused: IntCounterVec,
    /// Bytes of uploads received.
    pub received_bytes: IntCounter,
    /// Bytes of frames and results handed to connections.
    pub sent_bytes: IntCounter,
    queue: IntGaugeVec,
    cache_bytes: IntGauge,
    cache_frames: IntGauge,
    resident_bytes: IntGauge,
    device: IntGaugeVec,
    backend: IntGaugeVec,
    reading: Mutex<()>,
}

/// Numbers that are read when `/metrics` is asked for.
#[derive(Debug)]
pub(crate) struct Readings {
    pub cache_bytes: u64,
    pub cache_frames: usize,
    pub resident_bytes: u64,
    pub backend: BackendReport,
    pub load: Load,
    /// Jobs that wait, and that run.
    pub jobs: (u64, u64),
}

impl Metrics {
    pub(crate) fn new() -> Metrics {
        let registry = Registry::new();
        let counters = |name: &str, help: &str, labels: &[&str]| {
            let counters = IntCounterVec::new(Opts::new(name, help), labels).expect("a valid name");
            registry.register(Box::new(counters.clone())).expect("registered once");
            counters
        };
        let gauges = |name: &str, help: &str, labels: &[&str]| {
            let gauges = IntGaugeVec::new(Opts::new(name, help), labels).expect("a valid name");
            registry.register(Box::new(gauges.clone())).expect("registered once");
            gauges
        };
        let seconds = |name: &str, help: &str, labels: &[&str]| {
            let options = HistogramOpts::new(name, help).buckets(SECONDS.to_vec());
            let histogram = HistogramVec::new(options, labels).expect("a valid name");
            registry.register(Box::new(histogram.clone())).expect("registered once");
            histogram
        };
        let counter = |name: &str, help: &str| {
            let counter = IntCounter::new(name, help).expect("a valid name");
            registry.register(Box::new(counter.clone())).expect("registered once");
            counter
        };
        let gauge = |name: &str, help: &str| {
            let gauge = IntGauge::new(name, help).expect("a valid name");
            registry.register(Box::new(gauge.clone())).expect("registered once");
            gauge
        };
        Metrics {
            requests: counters(
                "isoframe_requests_total",
                "Requests answered.",
                &["method", "route", "status"],
            ),
            request_seconds: seconds("isoframe_request_seconds", "Time to an answer's header.", &["route"]),
            frames: counters("isoframe_frames_total", "Frames rendered.", &["path", "backend", "fallback"]),
            frame_seconds: seconds("isoframe_frame_seconds", "Time of a frame's stages.", &["stage"]),
            renders_stopped: counters("isoframe_renders_stopped_total", "Renders stopped early.", &["why"]),
            cache: counters("isoframe_frame_cache_total", "Looks into the frame cache.", &["outcome"]),
            refused: counters("isoframe_refused_total", "Requests refused for load.", &["queue"]),
            received_bytes: counter("isoframe_received_bytes_total", "Bytes of uploads received."),
            sent_bytes: counter("isoframe_sent_bytes_total", "Bytes of frames and results answered."),
            queue: gauges("isoframe_queue", "Requests and jobs, by where they are.", &["place"]),
            cache_bytes: gauge("isoframe_frame_cache_bytes", "Bytes of frames kept on disk."),
            cache_frames: gauge("isoframe_frame_cache_frames", "Frames kept on disk."),
            resident_bytes: gauge(
                "isoframe_resident_bytes",
                "Bytes of scenes and environments ready in memory.",
            ),
            device: gauges(
                "isoframe_device",
                "The device: 1 if healthy, times it was lost, times it was rebuilt.",
                &["what"],
            ),
            backend: gauges(
                "isoframe_backend",
                "1 for what renders: its name, why it does, and whether it is a software adapter.",
                &["name", "reason", "software"],
            ),
            reading: Mutex::default(),
            registry,
        }
    }

    /// A request was answered.
    pub(crate) fn request(&self, method: &Method, route: &str, status: StatusCode, took: Duration) {
        // Methods are the client's to choose; those we do not serve share a label.
        let method = match method.as_str() {
            known @ ("GET" | "HEAD" | "POST" | "DELETE" | "OPTIONS") => known,
            _ => "other",
        };
        self.requests.with_label_values(&[method, route, status.as_str()]).inc();
        self.request_seconds.with_label_values(&[route]).observe(took.as_secs_f64());
    }

    /// All metrics as text.
    pub(crate) fn text(&self, readings: Readings) -> String {
        // One at a time: what one sets for itself, another must not take back before it is read.
        let _alone = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        self.cache_bytes.set(readings.cache_bytes as i64);
        self.cache_frames.set(readings.cache_frames as i64);
        self.resident_bytes.set(readings.resident_bytes as i64);
        let device = |what: &str, value: u64| self.device.with_label_values(&[what]).set(value as i64);
        let BackendReport { name, reason, software, healthy, rebuilds, losses } = &readings.backend;
        device("healthy", (*healthy).into());
        device("losses", *losses);
        device("rebuilds", *rebuilds);
        // A device that was opened again may have another name.
        self.backend.reset();
        self.backend.with_label_values(&[name.as_str(), reason, &software.to_string()]).set(1);
        let queue = |place: &str, count: u64| self.queue.with_label_values(&[place]).set(count as i64);
        queue("interactive_waiting", readings.load.interactive_waiting as u64);
        queue("batch_waiting", readings.load.batch_waiting as u64);
        queue("rendering", readings.load.rendering as u64);
        queue("jobs_queued", readings.jobs.0);
        queue("jobs_running", readings.jobs.1);
        let mut text = Vec::new();
        // Writing to memory cannot fail; names were checked when they were registered.
        let _ = TextEncoder::new().encode(&self.registry.gather(), &mut text);
        String::from_utf8_lossy(&text).into_owned()
    }
}
