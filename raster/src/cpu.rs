//! The CPU backend: runs the passes on threads.

use crate::backend::Job;
use crate::frame::{Frame, RenderError};

/// Rust on threads.
#[derive(Debug)]
pub struct Cpu {
    threads: usize,
}

impl Cpu {
    /// A pool of `threads` threads; 0: one per core.
    pub fn new(threads: usize) -> Cpu {
        Cpu { threads }
    }

    /// Name for logs and headers.
    pub fn name(&self) -> String {
        format!("cpu ({} threads)", self.threads)
    }

    /// Renders a frame.
    pub fn render(&self, job: &Job<'_>) -> Result<Frame, RenderError> {
        let _ = job;
        Err(RenderError::Cancelled)
    }
}
