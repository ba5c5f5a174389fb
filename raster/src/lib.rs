//! A glTF scene in, exact frame buffers out.
//!
//! The same request gives the same bytes on the CPU backend at any thread count and instruction set,
//! and on wgpu over any adapter that passes the probe. See `ARCHITECTURE.md`.

pub mod accel;
pub mod accumulate;
pub mod backend;
pub mod cpu;
pub mod draw;
pub mod emitters;
pub mod environment;
pub mod exact;
pub mod frame;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod image;
pub mod passes;
mod pixel_light;
pub mod pose;
pub mod prepared;
pub mod scene;
mod simd;
pub mod view;
