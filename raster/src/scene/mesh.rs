//! Meshes and their primitives.

use super::error::SceneError;
use super::file::get;
use super::primitive::PrimitiveReader;
use super::reader::{Reader, finite};
use super::{Material, Mesh, json};

/// Reads all meshes.
pub(crate) fn meshes(reader: &mut Reader<'_, '_>, materials: &[Material]) -> Result<Vec<Mesh>, SceneError> {
    let mut stamps = Stamps::default();
    let mut meshes = Vec::with_capacity(reader.root.meshes.len());
    for (index, mesh) in reader.root.meshes.iter().enumerate() {
        meshes.push(read_mesh(reader, materials, &mut stamps, index, mesh)?);
    }
    Ok(meshes)
}

/// Scratch memory that tells which vertices a primitive uses, without being cleared for each.
#[derive(Default)]
pub(crate) struct Stamps {
    seen: Vec<u32>,
    epoch: u32,
}

impl Stamps {
    /// The vertices that `indices` use, in increasing order; renumbers `indices` to positions in that list.
    /// `None`, and nothing renumbered, where all `count` vertices are used.
    pub fn compact(&mut self, indices: &mut [u32], count: usize) -> Option<Vec<u32>> {
        if self.seen.len() < count {
            self.seen.resize(count, 0);
        }
        if self.epoch == u32::MAX {
            self.seen.fill(0);
            self.epoch = 0;
        }
        self.epoch += 1;
        let mut used = Vec::new();
        for &index in indices.iter() {
            let seen = &mut self.seen[index as usize];
            if *seen != self.epoch {
                *seen = self.epoch;
                used.push(index);
            }
        }
        if used.len() == count {
            return None;
        }
        used.sort_unstable();
        let position: std::collections::HashMap<u32, u32> = if used.len() < count / 16 {
            used.iter().enumerate().map(|(at, &index)| (index, at as u32)).collect()
        } else {
            return Some(self.renumber(indices, used, count));
        };
        indices.iter_mut().for_each(|index| *index = position[index]);
        Some(used)
    }

    fn renumber(&self, indices: &mut [u32], used: Vec<u32>, count: usize) -> Vec<u32> {
        let mut position = vec![0u32; count];
        used.iter().enumerate().for_each(|(at, &index)| position[index as usize] = at as u32);
        indices.iter_mut().for_each(|index| *index = position[*index as usize]);
        used
    }
}

fn read_mesh(
    reader: &mut Reader<'_, '_>,
    materials: &[Material],
    stamps: &mut Stamps,
    index: usize,
    json: &json::Mesh,
) -> Result<Mesh, SceneError> {
    let what = format!("mesh {index}");
    let Some(first) = json.primitives.first() else {
        return Err(SceneError::Structure { what, reason: "it has no primitives" });
    };
    let targets = first.targets.len();
    if let Some(other) = json.primitives.iter().find(|primitive| primitive.targets.len() != targets) {
        let (wanted, got) = (targets as u64, other.targets.len() as u64);
        let what = format!("{what} morph targets of all primitives");
        return Err(SceneError::CountMismatch { what, wanted, got });
    }
    let weights = weights(&what, json.weights.as_deref(), targets)?.unwrap_or_else(|| vec![0.0; targets]);
    let mut primitives = Vec::with_capacity(json.primitives.len());
    for (number, primitive) in json.primitives.iter().enumerate() {
        let what = format!("mesh {index} primitive {number}");
        let material = match primitive.material {
            Some(material) => {
                get(&reader.root.materials, material, "material", || what.clone())?;
                material
            }
            None => materials.len() as u32 - 1,
        };
        let made = PrimitiveReader { reader, materials, stamps, what }.read(primitive, material)?;
        if let Some(mut made) = made {
            made.gltf_index = number as u32;
            primitives.push(made);
        }
    }
    Ok(Mesh { name: json.name.clone(), primitives, weights })
}

/// Morph weights of a mesh or node: finite, one per target.
pub(crate) fn weights(
    what: &str,
    values: Option<&[f64]>,
    targets: usize,
) -> Result<Option<Vec<f32>>, SceneError> {
    let Some(values) = values else { return Ok(None) };
    if values.len() != targets {
        let (wanted, got) = (targets as u64, values.len() as u64);
        return Err(SceneError::CountMismatch { what: format!("{what} weights"), wanted, got });
    }
    let narrow = values.iter().map(|&value| finite(|| format!("{what} weights"), value));
    narrow.collect::<Result<_, _>>().map(Some)
}
