//! What renders a frame: one call, two backends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::environment::Environment;
use crate::frame::{ColorFormat, Frame, FrameRequest, RenderError};
use crate::prepared::Prepared;

/// Stops a render from another thread; checked between tiles.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks the render to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// One frame to render.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The scene, made ready.
    pub scene: &'a Prepared,
    /// The light.
    pub environment: &'a Environment,
    /// What is asked for.
    pub request: &'a FrameRequest,
    /// How `color` is wanted.
    pub color: ColorFormat,
    /// Stops the render.
    pub cancel: &'a Cancel,
}

/// A backend.
#[derive(Debug)]
pub enum Backend {
    /// Rust on threads.
    Cpu(crate::cpu::Cpu),
    /// wgpu on one adapter.
    #[cfg(feature = "gpu")]
    Wgpu(Box<crate::gpu::Gpu>),
}

impl Backend {
    /// Renders a frame. *Errors*: see [`RenderError`].
    pub fn render(&self, job: &Job<'_>) -> Result<Frame, RenderError> {
        match self {
            Backend::Cpu(cpu) => cpu.render(job),
            #[cfg(feature = "gpu")]
            Backend::Wgpu(gpu) => gpu.render(job),
        }
    }

    /// Takes the buffers of a frame that is done with, for the next one.
    pub fn recycle(&self, frame: Frame) {
        match self {
            Backend::Cpu(cpu) => cpu.recycle(frame),
            #[cfg(feature = "gpu")]
            Backend::Wgpu(_) => drop(frame),
        }
    }

    /// `cpu`, or the adapter's name and driver.
    pub fn name(&self) -> String {
        match self {
            Backend::Cpu(cpu) => cpu.name(),
            #[cfg(feature = "gpu")]
            Backend::Wgpu(gpu) => gpu.name(),
        }
    }
}
