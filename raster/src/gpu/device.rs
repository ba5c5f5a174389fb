//! A wgpu device whose failures come back as errors: never a panic, never a wait without end.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::layout::{ROWS_MAX, TEXELS_LAYERS_MAX};
use super::{AdapterInfo, GpuError};
use crate::frame::RenderError;

/// Storage buffers that one pass may bind.
pub const STORAGE_BUFFERS: u32 = 10;
/// Invocations in the largest workgroup.
pub const WORKGROUP_INVOCATIONS: u32 = 256;
/// Smallest storage binding an adapter must offer. *Units*: bytes.
pub const STORAGE_BINDING_BYTES: u64 = 128 << 20;
/// Largest storage binding that is used, so that 32-bit byte offsets suffice. *Units*: bytes.
const LARGEST_BINDING_BYTES: u64 = 2 << 30;

/// The limits that a device is asked for: what the passes need, and bindings as large as the adapter has.
pub(super) fn wanted_limits(adapter: &wgpu::Limits) -> wgpu::Limits {
    let binding_bytes = adapter.max_storage_buffer_binding_size.min(adapter.max_buffer_size);
    wgpu::Limits {
        max_storage_buffers_per_shader_stage: STORAGE_BUFFERS,
        max_compute_invocations_per_workgroup: WORKGROUP_INVOCATIONS,
        max_storage_buffer_binding_size: binding_bytes.clamp(STORAGE_BINDING_BYTES, LARGEST_BINDING_BYTES),
        max_buffer_size: binding_bytes.clamp(STORAGE_BINDING_BYTES, LARGEST_BINDING_BYTES),
        max_texture_dimension_2d: ROWS_MAX,
        max_texture_array_layers: TEXELS_LAYERS_MAX,
        // What drawing would need is not asked for: an adapter may lack it.
        max_samplers_per_shader_stage: 0,
        max_vertex_buffers: 0,
        max_vertex_attributes: 0,
        max_vertex_buffer_array_stride: 0,
        max_inter_stage_shader_variables: 0,
        max_bind_groups_plus_vertex_buffers: 4,
        ..wgpu::Limits::downlevel_defaults()
    }
}

/// A failure to provoke, for tests of what follows from one.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The device is destroyed at the n-th submission from now, counted from 0.
    DeviceLost(u32),
    /// The n-th submission from now is answered with an out-of-memory error.
    OutOfMemory(u32),
}

/// Where the first failure of a device is kept.
#[derive(Debug, Clone, Default)]
struct Failure(Arc<Mutex<Option<String>>>);

impl Failure {
    fn set(&self, reason: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
    }

    fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A device and its queue.
#[derive(Debug)]
pub(crate) struct Device {
    device: wgpu::Device,
    queue: wgpu::Queue,
    failure: Failure,
    fault: Mutex<Option<Fault>>,
    submits_left: AtomicU32,
    wait_limit: Duration,
}

impl Device {
    /// Opens a device with exactly the limits that the passes need.
    pub fn open(
        adapter: &wgpu::Adapter,
        info: &AdapterInfo,
        wait_limit: Duration,
    ) -> Result<Device, GpuError> {
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("isoframe"),
            required_limits: wanted_limits(&adapter.limits()),
            memory_hints: wgpu::MemoryHints::MemoryUsage,
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))
            .map_err(|error| GpuError::Device { adapter: info.title(), reason: error.to_string() })?;
        let failure = Failure::default();
        let errors = failure.clone();
        device.on_uncaptured_error(Arc::new(move |error| errors.set(describe(&error))));
        let losses = failure.clone();
        device.set_device_lost_callback(move |reason, message| losses.set(format!("{reason:?}: {message}")));
        Ok(Device {
            device,
            queue,
            failure,
            fault: Mutex::new(None),
            submits_left: AtomicU32::new(0),
            wait_limit,
        })
    }

    /// The device, to make things with; [`Device::check`] afterwards.
    pub fn wgpu(&self) -> &wgpu::Device {
        &self.device
    }

    /// The queue, to write buffers with; [`Device::check`] afterwards.
    pub fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    /// Largest storage binding. *Units*: bytes.
    pub fn binding_bytes(&self) -> u64 {
        self.device.limits().max_storage_buffer_binding_size
    }

    /// Whether anything failed since the device was opened.
    pub fn check(&self) -> Result<(), RenderError> {
        match self.failure.get() {
            Some(reason) => Err(RenderError::DeviceLost(reason)),
            None => Ok(()),
        }
    }

    /// Provokes a failure.
    pub fn inject(&self, fault: Fault) {
        let (Fault::DeviceLost(after) | Fault::OutOfMemory(after)) = fault;
        self.submits_left.store(after, Ordering::Relaxed);
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
    }

    fn provoke(&self) {
        let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(kind) = *fault else { return };
        let left = self.submits_left.load(Ordering::Relaxed);
        if left > 0 {
            self.submits_left.store(left - 1, Ordering::Relaxed);
            return;
        }
        *fault = None;
        match kind {
            Fault::DeviceLost(_) => self.device.destroy(),
            Fault::OutOfMemory(_) => self.failure.set("out of memory (injected)".to_owned()),
        }
    }

    /// Submits what was recorded.
    pub fn submit(&self, commands: wgpu::CommandEncoder) -> Result<wgpu::SubmissionIndex, RenderError> {
        self.check()?;
        self.provoke();
        let index = self.queue.submit([commands.finish()]);
        self.check()?;
        Ok(index)
    }

    /// Waits for a submission, and frees what it held on to.
    pub fn wait(&self, index: wgpu::SubmissionIndex) -> Result<(), RenderError> {
        let wait = wgpu::PollType::Wait { submission_index: Some(index), timeout: Some(self.wait_limit) };
        match self.device.poll(wait) {
            Ok(_) => self.check(),
            Err(error) => {
                self.failure.set(format!("waiting for the device ({:?}): {error}", self.wait_limit));
                self.check()
            }
        }
    }
}

fn describe(error: &wgpu::Error) -> String {
    match error {
        wgpu::Error::OutOfMemory { .. } => "out of memory".to_owned(),
        wgpu::Error::Validation { description, .. } => format!("call refused: {description}"),
        wgpu::Error::Internal { description, .. } => format!("internal error: {description}"),
    }
}
