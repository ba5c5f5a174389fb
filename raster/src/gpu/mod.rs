//! The wgpu backend: runs the passes' WGSL twins.

use crate::backend::Job;
use crate::frame::{Frame, RenderError};

/// wgpu on one adapter that passed the probe.
#[derive(Debug)]
pub struct Gpu {}

impl Gpu {
    /// Adapter name and driver.
    pub fn name(&self) -> String {
        String::new()
    }

    /// Renders a frame.
    pub fn render(&self, job: &Job<'_>) -> Result<Frame, RenderError> {
        let _ = job;
        Err(RenderError::Cancelled)
    }
}
