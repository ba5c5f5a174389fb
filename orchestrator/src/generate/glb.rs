//! Data into accessors and views, and a `.glb` out of them. *Source*: glTF 2.0, sections 3.6 and 4.

use glam::DVec3;

use super::gltf::{Accessor, Attributes, Buffer, BufferView, Primitive, Root};
use super::mesh::Mesh;

const FLOAT: u32 = 5126;
const U16: u32 = 5123;
const U32: u32 = 5125;
const VERTICES: u32 = 34962;
const INDICES: u32 = 34963;

/// The binary chunk while it grows, with the JSON that describes it.
#[derive(Debug, Default)]
pub(super) struct Glb {
    pub root: Root,
    bin: Vec<u8>,
}

/// Whether least and largest are written, which glTF wants of positions and of key times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Range {
    Said,
    Unsaid,
}

impl Glb {
    /// A view of bytes, aligned to four.
    pub(super) fn view(&mut self, bytes: &[u8], target: Option<u32>) -> u32 {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let view = BufferView {
            buffer: 0,
            byte_offset: self.bin.len() as u64,
            byte_length: bytes.len() as u64,
            target,
        };
        self.bin.extend_from_slice(bytes);
        push(&mut self.root.buffer_views, view)
    }

    /// An accessor of `kind`, `N` floats each. `target` is that of its view, none for keys and matrices.
    pub(super) fn floats<const N: usize>(
        &mut self,
        kind: &'static str,
        values: impl IntoIterator<Item = [f32; N]>,
        range: Range,
        target: Option<u32>,
    ) -> u32 {
        let mut bytes = Vec::new();
        let (mut min, mut max, mut count) = ([f32::INFINITY; N], [f32::NEG_INFINITY; N], 0);
        for value in values {
            for axis in 0..N {
                min[axis] = min[axis].min(value[axis]);
                max[axis] = max[axis].max(value[axis]);
                bytes.extend_from_slice(&value[axis].to_le_bytes());
            }
            count += 1;
        }
        let said = |value: [f32; N]| if range == Range::Said { value.to_vec() } else { Vec::new() };
        let buffer_view = self.view(&bytes, target);
        let (min, max) = (said(min), said(max));
        push(&mut self.root.accessors, Accessor { buffer_view, component_type: FLOAT, count, kind, min, max })
    }

    pub(super) fn points(&mut self, points: impl IntoIterator<Item = DVec3>, range: Range) -> u32 {
        self.floats("VEC3", points.into_iter().map(f32x3), range, Some(VERTICES))
    }

    /// Per-vertex integers of 16 bits, four each: joints.
    pub(super) fn joints(&mut self, values: &[[u16; 4]]) -> u32 {
        let bytes: Vec<u8> = values.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
        self.integers(&bytes, "VEC4", U16, values.len() as u32, VERTICES)
    }

    /// Per-vertex weights, four each.
    pub(super) fn weights(&mut self, values: &[[f32; 4]]) -> u32 {
        self.floats("VEC4", values.iter().copied(), Range::Unsaid, Some(VERTICES))
    }

    fn integers(
        &mut self,
        bytes: &[u8],
        kind: &'static str,
        component_type: u32,
        count: u32,
        target: u32,
    ) -> u32 {
        let buffer_view = self.view(bytes, Some(target));
        let accessor = Accessor { buffer_view, component_type, count, kind, min: vec![], max: vec![] };
        push(&mut self.root.accessors, accessor)
    }

    /// The primitive of a mesh; indices take 16 bits where they fit.
    pub(super) fn primitive(&mut self, mesh: &Mesh, material: u32) -> Primitive {
        let position = self.points(mesh.position.iter().copied(), Range::Said);
        let normal = self.points(mesh.normal.iter().copied(), Range::Unsaid);
        let uv = mesh.uv.iter().map(|uv| uv.map(|value| value as f32));
        let uv = self.floats("VEC2", uv, Range::Unsaid, Some(VERTICES));
        let count = mesh.index.len() as u32;
        let indices = if mesh.position.len() < usize::from(u16::MAX) {
            let bytes: Vec<u8> = mesh.index.iter().flat_map(|&index| (index as u16).to_le_bytes()).collect();
            self.integers(&bytes, "SCALAR", U16, count, INDICES)
        } else {
            let bytes: Vec<u8> = mesh.index.iter().flat_map(|index| index.to_le_bytes()).collect();
            self.integers(&bytes, "SCALAR", U32, count, INDICES)
        };
        let attributes = Attributes { position, normal, texcoord_0: Some(uv), ..Default::default() };
        Primitive { attributes, indices, material, targets: Vec::new() }
    }

    /// The file. *Errors*: more than the 4 GiB that the container can name.
    pub(super) fn finish(mut self) -> Result<Vec<u8>, super::GenerateError> {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        self.root.buffers = vec![Buffer { byte_length: self.bin.len() as u64 }];
        let mut json = serde_json::to_vec(&self.root)?;
        json.resize(json.len().next_multiple_of(4), b' ');
        let total = 12 + 8 + json.len() + 8 + self.bin.len();
        let size =
            |bytes: usize| u32::try_from(bytes).map_err(|_| super::GenerateError::TooLarge { bytes: total });
        let mut glb = Vec::with_capacity(total);
        glb.extend_from_slice(b"glTF");
        for word in [2, size(total)?, size(json.len())?] {
            glb.extend_from_slice(&word.to_le_bytes());
        }
        glb.extend_from_slice(b"JSON");
        glb.extend_from_slice(&json);
        glb.extend_from_slice(&size(self.bin.len())?.to_le_bytes());
        glb.extend_from_slice(b"BIN\0");
        glb.extend_from_slice(&self.bin);
        Ok(glb)
    }
}

/// Adds an entry, and says its index.
pub(super) fn push<T>(list: &mut Vec<T>, entry: T) -> u32 {
    list.push(entry);
    list.len() as u32 - 1
}

/// Rounds once, and never to a negative zero.
pub(super) fn f32x3(v: DVec3) -> [f32; 3] {
    v.to_array().map(|value| value as f32 + 0.0)
}
