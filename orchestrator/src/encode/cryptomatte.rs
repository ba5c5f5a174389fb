//! Cryptomatte: ids as hashes of names, with the share of each pixel that they cover.
//!
//! *Source*: Friedman and Jones, "Fully automatic ID mattes with support for motion blur and transparency"
//! (2015), and the Cryptomatte specification 1.2: MurmurHash3 (x86, 32 bit, seed 0) of the name, as the bits
//! of a float that is neither denormal nor infinite, ranked by coverage, two ranks to a layer.

use std::collections::{BTreeMap, BTreeSet};

use isoframe_raster::frame::IdCoverage;
use isoframe_raster::scene::Scene;

/// Name of the mattes by node.
pub(super) const LAYER: &str = "CryptoObject";

/// Ranks kept: as many ids as the frame keeps per pixel.
pub(super) const RANKS: usize = 4;

/// MurmurHash3, x86, 32 bit.
pub(super) fn murmur3_32(bytes: &[u8], seed: u32) -> u32 {
    let scramble = |word: u32| word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    let mut hash = seed;
    let mut words = bytes.chunks_exact(4);
    for word in &mut words {
        let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        hash = (hash ^ scramble(word)).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    let tail = words.remainder().iter().rev().fold(0, |tail, byte| tail << 8 | u32::from(*byte));
    hash ^= scramble(tail) ^ bytes.len() as u32;
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

/// The hash of a name whose bits are those of a normal float.
pub(super) fn name_hash(name: &str) -> u32 {
    let hash = murmur3_32(name.as_bytes(), 0);
    let exponent = hash >> 23 & 0xff;
    if exponent == 0 || exponent == 0xff { hash ^ 1 << 23 } else { hash }
}

/// The mattes of one scene.
#[derive(Debug)]
pub(super) struct Mattes {
    /// Hash by node index + 1.
    hashes: BTreeMap<u32, u32>,
    /// Hash by name.
    names: BTreeMap<String, u32>,
}

impl Mattes {
    /// Names the nodes that are drawn: their own names, `node` where they have none, `#` and the glTF index
    /// behind those that are taken.
    pub(super) fn new(scene: &Scene) -> Mattes {
        let mut drawn: Vec<_> = scene.nodes.iter().filter(|node| node.mesh.is_some()).collect();
        drawn.sort_by_key(|node| node.gltf_index);
        // A name that some node has of its own is not given to another.
        let own: BTreeSet<&str> = drawn.iter().map(|node| node.name.as_str()).collect();
        let mut mattes = Mattes { hashes: BTreeMap::new(), names: BTreeMap::new() };
        for node in drawn {
            let mut name = node.name.clone();
            if name.is_empty() || mattes.names.contains_key(&name) {
                let stem = if name.is_empty() { "node" } else { &name };
                name = format!("{stem}#{}", node.gltf_index);
                while own.contains(name.as_str()) || mattes.names.contains_key(&name) {
                    name.push('#');
                }
            }
            let hash = name_hash(&name);
            mattes.hashes.insert(node.gltf_index.wrapping_add(1), hash);
            mattes.names.insert(name, hash);
        }
        mattes
    }

    /// Header attributes: names and values.
    pub(super) fn metadata(&self) -> [(String, String); 4] {
        let key = format!("{:08x}", name_hash(LAYER));
        let attribute = |name: &str, value: String| (format!("cryptomatte/{}/{name}", &key[..7]), value);
        let manifest: BTreeMap<&str, String> =
            self.names.iter().map(|(name, hash)| (name.as_str(), format!("{hash:08x}"))).collect();
        // Texts only: this cannot fail to be JSON.
        let manifest = serde_json::to_string(&manifest).unwrap_or_default();
        [
            attribute("name", LAYER.into()),
            attribute("hash", "MurmurHash3_32".into()),
            attribute("conversion", "uint32_to_float32".into()),
            attribute("manifest", manifest),
        ]
    }

    /// Id and coverage of each rank of a pixel; zeros beyond the last. Primitives of one node are one id;
    /// what nothing covers is no id.
    pub(super) fn ranks(&self, pixel: &[IdCoverage; 4], samples: u32) -> [(f32, f32); RANKS] {
        let mut merged = [(0_u32, 0_u32); RANKS];
        let mut count = 0;
        for part in pixel.iter().filter(|part| part.samples > 0 && part.id != [0, 0]) {
            let node = part.id[0];
            let slot = merged[..count].iter().position(|(known, _)| *known == node).unwrap_or(count);
            count = count.max(slot + 1);
            merged[slot].0 = node;
            merged[slot].1 += part.samples;
        }
        merged[..count].sort_by_key(|(node, covered)| (std::cmp::Reverse(*covered), *node));
        merged.map(|(node, covered)| {
            if covered == 0 {
                return (0.0, 0.0);
            }
            let hash = self.hashes.get(&node).copied().unwrap_or(0);
            (f32::from_bits(hash), covered as f32 / samples as f32)
        })
    }
}

#[cfg(test)]
mod tests;
