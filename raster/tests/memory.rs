//! Memory from frame to frame on the CPU backend: CASES B32, R10. Counted, not measured, so that what an
//! allocator keeps for itself does not blur it.

#[path = "common/slanted.rs"]
mod slanted;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use isoframe_raster::backend::{Cancel, Job};
use isoframe_raster::cpu::{Cpu, CpuOptions};
use isoframe_raster::environment::Environment;
use isoframe_raster::frame::{ColorFormat, Frame, FrameRequest, Output, RenderError};
use isoframe_raster::prepared::Prepared;
use slanted::scene;

/// Counts what is held.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed on to the system's allocator unchanged; the counter touches no memory of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are handed on.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One test at a time: the counter is the process's.
static TURN: Mutex<()> = Mutex::new(());

/// Queues of the thread pool grow a little before they have their size.
const SLACK_BYTES: usize = 64 << 10;

struct Bench {
    cpu: Cpu,
    scenes: [Prepared; 2],
    environment: Environment,
}

impl Bench {
    fn new() -> Bench {
        let options = CpuOptions { threads: 2, ..CpuOptions::default() };
        Bench {
            cpu: Cpu::new(options).expect("threads"),
            scenes: [scene(0.0), scene(-1.0)],
            environment: Environment::studio(),
        }
    }

    fn render(&self, which: usize, request: &FrameRequest) -> Result<Frame, RenderError> {
        let (scene, environment) = (&self.scenes[which], &self.environment);
        let job = Job { scene, environment, request, color: ColorFormat::Srgb8, cancel: &Cancel::default() };
        self.cpu.render(&job)
    }

    /// Renders and gives the buffers back; bytes that the frame held.
    fn render_and_recycle(&self, which: usize, request: &FrameRequest) -> usize {
        let frame = self.render(which, request).expect("a frame");
        let bytes = frame.bytes();
        self.cpu.recycle(frame);
        bytes
    }
}

fn held() -> usize {
    HELD.load(Ordering::Relaxed)
}

fn request(side: u32) -> FrameRequest {
    FrameRequest { width: side, height: side, outputs: Output::CLASSIC.to_vec(), ..FrameRequest::default() }
}

/// CASES B32 allows 1 MB in 1000 frames.
#[test]
fn frames_and_failures_leave_nothing_behind() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let bench = Bench::new();
    let failing = FrameRequest { variant: Some("none".into()), ..request(64) };
    let round = |count: usize| {
        for k in 0..count {
            let side = if k % 4 < 2 { 128 } else { 96 };
            bench.render_and_recycle(k % 2, &request(side));
            assert!(bench.render(k % 2, &failing).is_err(), "there is no such variant");
        }
    };
    // Both end with the same size, whose buffers are kept.
    round(40);
    let before = held();
    round(1000);
    let grown = held().saturating_sub(before);
    assert!(grown < SLACK_BYTES, "1000 frames and 1000 failures left {grown} bytes");
}

/// CASES R10: of a big frame, given back or not, nothing is held once a small one was rendered, and there may be
/// another.
#[test]
fn a_big_frame_is_given_back() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let bench = Bench::new();
    for _ in 0..10 {
        bench.render_and_recycle(0, &request(64));
    }
    let before = held();
    for _ in 0..3 {
        // 4 bytes of colour, 16 of base, 4 of depth, 8 of motion, 12 of normal, 12 of albedo, 8 of id.
        assert!(bench.render_and_recycle(0, &request(1024)) >= 64 << 20, "a big frame");
        bench.render_and_recycle(1, &request(64));
        let grown = held().saturating_sub(before);
        assert!(grown < SLACK_BYTES, "{grown} bytes of a big frame stay");
    }
    let options = CpuOptions { threads: 2, spare_frame_bytes: 1 << 20, ..CpuOptions::default() };
    let thrifty = Bench { cpu: Cpu::new(options).expect("threads"), ..bench };
    thrifty.render_and_recycle(0, &request(64));
    let before = held();
    thrifty.render_and_recycle(0, &request(1024));
    let grown = held().saturating_sub(before);
    assert!(grown < SLACK_BYTES, "{grown} bytes are kept beyond the limit");
}
