//! Buffers on the device: made within its limits, pooled between frames, read back.

use std::collections::BTreeMap;
use std::sync::mpsc;

use bytemuck::Pod;

use super::device::Device;
use crate::frame::RenderError;

/// Buffers are made in multiples of this, so that near sizes share one. *Units*: bytes.
const GRAIN_BYTES: u64 = 64 << 10;

const STORAGE: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE
    .union(wgpu::BufferUsages::COPY_SRC)
    .union(wgpu::BufferUsages::COPY_DST)
    .union(wgpu::BufferUsages::INDIRECT);

/// Whether a storage buffer of `bytes` fits, before any device call.
pub(crate) fn check_fits(device: &Device, what: &'static str, bytes: u64) -> Result<(), RenderError> {
    match device.binding_bytes() {
        got if bytes > got => Err(RenderError::DeviceLimit { what, wanted: bytes, got }),
        _ => Ok(()),
    }
}

/// A storage buffer that holds `data`; never empty, since a binding may not be.
pub(crate) fn upload<T: Pod>(
    device: &Device,
    what: &'static str,
    data: &[T],
) -> Result<wgpu::Buffer, RenderError> {
    let bytes: &[u8] = bytemuck::cast_slice(data);
    let size = (bytes.len() as u64).next_multiple_of(4).max(16);
    check_fits(device, what, size)?;
    let buffer = create(device, what, size, STORAGE);
    write(device, &buffer, bytes);
    device.check()?;
    Ok(buffer)
}

/// A uniform buffer that holds `value`.
pub(crate) fn uniform<T: Pod>(device: &Device, what: &'static str, value: &T) -> wgpu::Buffer {
    let bytes = bytemuck::bytes_of(value);
    let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
    let buffer = create(device, what, bytes.len() as u64, usage);
    write(device, &buffer, bytes);
    buffer
}

fn create(device: &Device, what: &'static str, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    device.wgpu().create_buffer(&wgpu::BufferDescriptor {
        label: Some(what),
        size,
        usage,
        mapped_at_creation: false,
    })
}

/// Copies `bytes` to the start of `buffer`; a tail short of four bytes is padded with zeros.
fn write(device: &Device, buffer: &wgpu::Buffer, bytes: &[u8]) {
    let whole = bytes.len() & !3;
    if whole > 0 {
        device.queue().write_buffer(buffer, 0, &bytes[..whole]);
    }
    if whole < bytes.len() {
        let mut tail = [0; 4];
        tail[..bytes.len() - whole].copy_from_slice(&bytes[whole..]);
        device.queue().write_buffer(buffer, whole as u64, &tail);
    }
}

/// Storage and readback buffers that frames share, one per label.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    buffers: BTreeMap<&'static str, wgpu::Buffer>,
}

impl Pool {
    /// The storage buffer of this label, of at least `bytes`; what it holds is left over from before.
    pub fn storage(
        &mut self,
        device: &Device,
        what: &'static str,
        bytes: u64,
    ) -> Result<wgpu::Buffer, RenderError> {
        check_fits(device, what, bytes)?;
        self.buffer(device, what, bytes.max(16), STORAGE, device.binding_bytes())
    }

    fn buffer(
        &mut self,
        device: &Device,
        what: &'static str,
        bytes: u64,
        usage: wgpu::BufferUsages,
        limit: u64,
    ) -> Result<wgpu::Buffer, RenderError> {
        if let Some(buffer) = self.buffers.get(what)
            && buffer.size() >= bytes
        {
            return Ok(buffer.clone());
        }
        self.buffers.remove(what);
        let buffer = create(device, what, bytes.next_multiple_of(GRAIN_BYTES).min(limit), usage);
        device.check()?;
        self.buffers.insert(what, buffer.clone());
        Ok(buffer)
    }

    /// A buffer to read back from, of at least `bytes`.
    pub fn readback(
        &mut self,
        device: &Device,
        what: &'static str,
        bytes: u64,
    ) -> Result<wgpu::Buffer, RenderError> {
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        self.buffer(device, what, bytes, usage, device.binding_bytes())
    }

    /// Memory held. *Units*: bytes.
    pub fn bytes(&self) -> u64 {
        self.buffers.values().map(wgpu::Buffer::size).sum()
    }

    /// The uniform buffer of this label, with `value` written to it.
    pub fn uniform<T: Pod>(
        &mut self,
        device: &Device,
        what: &'static str,
        value: &T,
    ) -> Result<wgpu::Buffer, RenderError> {
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        self.with_value(device, what, value, usage)
    }

    /// The storage buffer of this label that holds one `value`, with that written to it.
    pub fn stored<T: Pod>(
        &mut self,
        device: &Device,
        what: &'static str,
        value: &T,
    ) -> Result<wgpu::Buffer, RenderError> {
        self.with_value(device, what, value, STORAGE)
    }

    fn with_value<T: Pod>(
        &mut self,
        device: &Device,
        what: &'static str,
        value: &T,
        usage: wgpu::BufferUsages,
    ) -> Result<wgpu::Buffer, RenderError> {
        let bytes = bytemuck::bytes_of(value);
        let size = bytes.len() as u64;
        let buffer = match self.buffers.get(what) {
            Some(buffer) => buffer.clone(),
            None => self.buffers.entry(what).or_insert(create(device, what, size, usage)).clone(),
        };
        write(device, &buffer, bytes);
        device.check()?;
        Ok(buffer)
    }

    /// Lets everything go.
    pub fn clear(&mut self) {
        self.buffers.clear();
    }
}

/// Waits for `index`, then shows the first `count` elements of `buffer`.
///
/// Buffers, not textures, are read: rows are tight at any width.
pub(crate) fn read<T: Pod>(
    device: &Device,
    buffer: &wgpu::Buffer,
    index: wgpu::SubmissionIndex,
    count: usize,
    read_with: impl FnOnce(&[T]),
) -> Result<(), RenderError> {
    let bytes = (count * size_of::<T>()) as u64;
    let slice = buffer.slice(..bytes.next_multiple_of(8).min(buffer.size()));
    let (sender, receiver) = mpsc::channel();
    slice.map_async(wgpu::MapMode::Read, move |result| {
        // The receiver is gone only when this read was given up.
        let _ = sender.send(result);
    });
    device.wait(index)?;
    let lost = |reason: String| RenderError::DeviceLost(format!("reading back: {reason}"));
    receiver
        .try_recv()
        .map_err(|_| lost("the buffer was not mapped".to_owned()))?
        .map_err(|error| lost(error.to_string()))?;
    let view = slice.get_mapped_range().map_err(|error| lost(error.to_string()))?;
    read_with(bytemuck::cast_slice(&view[..bytes as usize]));
    drop(view);
    buffer.unmap();
    device.check()
}
