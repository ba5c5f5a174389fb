//! Lists of `vec4<u32>` in textures: drivers fetch four words from a texture for less than one from a buffer.
//! Texels are a list too, in layers, since a scene has more of them than a plain texture has room for.

use std::collections::BTreeMap;

use bytemuck::Pod;

use super::TEXELS_PER_LAYER;
use super::device::Device;
use super::layout::{LIST_WIDTH, ROWS_MAX, TEXELS_LAYERS_MAX, TEXELS_ROWS, TEXELS_WIDTH};
use crate::frame::RenderError;

/// Bytes of an element.
const PART_BYTES: u64 = 16;

/// The texture that a list is made into.
struct Shape {
    format: wgpu::TextureFormat,
    usage: wgpu::TextureUsages,
    /// Elements in a row.
    width: u32,
    /// Rows in a layer.
    rows: u32,
    /// Most layers; 1 means that there are none to choose from.
    layers: u32,
}

/// A texture that holds a list, row after row, layer after layer.
#[derive(Debug, Clone)]
pub(crate) struct List {
    texture: wgpu::Texture,
    view: wgpu::TextureView,
    width: u32,
    element_bytes: u32,
}

impl List {
    /// A list of `count` vec4<u32>, with room to the end of its last row.
    pub fn new(device: &Device, what: &'static str, count: u64) -> Result<List, RenderError> {
        let shape = Shape {
            format: wgpu::TextureFormat::Rgba32Uint,
            usage: wgpu::TextureUsages::TEXTURE_BINDING
                | wgpu::TextureUsages::STORAGE_BINDING
                | wgpu::TextureUsages::COPY_DST,
            width: LIST_WIDTH,
            rows: ROWS_MAX,
            layers: 1,
        };
        List::create(device, what, count, &shape)
    }

    /// A list that holds `data`, padded with zeros to a whole element.
    pub fn upload<T: Pod>(device: &Device, what: &'static str, data: &[T]) -> Result<List, RenderError> {
        let bytes: &[u8] = bytemuck::cast_slice(data);
        let list = List::new(device, what, (bytes.len() as u64).div_ceil(PART_BYTES))?;
        list.write(device, 0, bytes);
        device.check()?;
        Ok(list)
    }

    /// All texels of a scene, RGBA8.
    pub fn upload_texels(device: &Device, texels: &[u32]) -> Result<List, RenderError> {
        let shape = Shape {
            format: wgpu::TextureFormat::Rgba8Uint,
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
            width: TEXELS_WIDTH,
            rows: TEXELS_ROWS,
            layers: TEXELS_LAYERS_MAX,
        };
        let list = List::create(device, "texels", texels.len() as u64, &shape)?;
        for (texels, layer) in texels.chunks(TEXELS_PER_LAYER as usize).zip(0..) {
            list.write(device, layer * TEXELS_PER_LAYER, bytemuck::cast_slice(texels));
            // What is staged for a layer goes to the device before the next is.
            device.queue().submit([]);
        }
        device.check()?;
        Ok(list)
    }

    fn create(device: &Device, what: &'static str, count: u64, shape: &Shape) -> Result<List, RenderError> {
        let &Shape { format, usage, width, rows: rows_max, layers: layers_max } = shape;
        let element_bytes = format.block_copy_size(None).unwrap_or(16);
        let rows = count.div_ceil(u64::from(width)).max(1);
        let most = u64::from(rows_max) * u64::from(layers_max);
        if rows > most {
            let bytes = |rows: u64| rows * u64::from(width) * u64::from(element_bytes);
            return Err(RenderError::DeviceLimit { what, wanted: bytes(rows), got: bytes(most) });
        }
        // A short list takes a short row.
        let used = if rows == 1 { (count.max(1) as u32).next_multiple_of(64).min(width) } else { width };
        // OpenGL has no array of one layer.
        let layers = if layers_max == 1 { 1 } else { rows.div_ceil(u64::from(rows_max)).max(2) as u32 };
        let texture = device.wgpu().create_texture(&wgpu::TextureDescriptor {
            label: Some(what),
            size: wgpu::Extent3d {
                width: used,
                height: rows.min(u64::from(rows_max)) as u32,
                depth_or_array_layers: layers,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage,
            view_formats: &[],
        });
        // An array of layers where there may be many, else a plain texture: what the shaders bind.
        let view = texture.create_view(&Default::default());
        device.check()?;
        Ok(List { texture, view, width, element_bytes })
    }

    /// Elements that fit.
    pub fn capacity(&self) -> u64 {
        let wgpu::Extent3d { width, height, depth_or_array_layers } = self.texture.size();
        u64::from(width) * u64::from(height) * u64::from(depth_or_array_layers)
    }

    /// Memory held. *Units*: bytes.
    pub fn bytes(&self) -> u64 {
        self.capacity() * u64::from(self.element_bytes)
    }

    /// What a pass binds.
    pub fn resource(&self) -> wgpu::BindingResource<'_> {
        wgpu::BindingResource::TextureView(&self.view)
    }

    /// Writes `bytes` from element `first` on, which begins a row or shares it with all of `bytes`. All of them go
    /// to one layer.
    pub fn write(&self, device: &Device, first: u32, bytes: &[u8]) {
        let row_bytes = (self.width * self.element_bytes) as usize;
        let (column, row) = (first % self.width, first / self.width);
        if column > 0 || bytes.len() < row_bytes {
            self.write_rows(device, [column, row], 1, bytes);
            return;
        }
        let whole = bytes.len() / row_bytes;
        self.write_rows(device, [0, row], whole as u32, &bytes[..whole * row_bytes]);
        self.write_rows(device, [0, row + whole as u32], 1, &bytes[whole * row_bytes..]);
    }

    fn write_rows(&self, device: &Device, [x, y]: [u32; 2], rows: u32, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let element = self.element_bytes as usize;
        let mut padded = Vec::new();
        let bytes = if bytes.len().is_multiple_of(element) {
            bytes
        } else {
            padded.extend_from_slice(bytes);
            padded.resize(bytes.len().next_multiple_of(element), 0);
            &padded
        };
        let width = (bytes.len() / element) as u32 / rows;
        let height = self.texture.height();
        device.queue().write_texture(
            wgpu::TexelCopyTextureInfo {
                texture: &self.texture,
                mip_level: 0,
                origin: wgpu::Origin3d { x, y: y % height, z: y / height },
                aspect: wgpu::TextureAspect::All,
            },
            bytes,
            wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(width * self.element_bytes),
                rows_per_image: None,
            },
            wgpu::Extent3d { width, height: rows, depth_or_array_layers: 1 },
        );
    }
}

/// Lists that frames share, one per label.
#[derive(Debug, Default)]
pub(crate) struct ListPool {
    lists: BTreeMap<&'static str, List>,
}

impl ListPool {
    /// The list of this label with room for `count`; what it holds is left over from before.
    pub fn get(&mut self, device: &Device, what: &'static str, count: u64) -> Result<List, RenderError> {
        if let Some(list) = self.lists.get(what)
            && list.capacity() >= count
        {
            return Ok(list.clone());
        }
        self.lists.remove(what);
        let list = List::new(device, what, count)?;
        self.lists.insert(what, list.clone());
        Ok(list)
    }

    /// Memory held. *Units*: bytes.
    pub fn bytes(&self) -> u64 {
        self.lists.values().map(List::bytes).sum()
    }

    /// Lets everything go.
    pub fn clear(&mut self) {
        self.lists.clear();
    }
}
