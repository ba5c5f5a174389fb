//! Hashes of a frame's buffers, bit by bit: what goldens and conformance compare.
//!
//! blake3 over width and height (u32, little-endian), then the buffer as it lies in memory on a little-endian
//! machine. A NaN, a -0 or an infinity counts like any other bit pattern.

use std::collections::BTreeMap;

use isoframe_raster::frame::{Color, Frame, Output};
use serde::{Deserialize, Serialize};

/// Words are hashed in pieces of this size.
const HASHED_AT_ONCE_BYTES: usize = 64 << 10;

/// Hash per buffer, by name: the outputs, and `coverage` beside `id`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Digests(pub BTreeMap<String, String>);

impl Digests {
    /// Hashes every buffer that the frame holds.
    pub(crate) fn of(frame: &Frame) -> Digests {
        let size = (frame.width, frame.height);
        let mut digests = BTreeMap::new();
        let mut add = |name: &str, hash: Option<String>| {
            if let Some(hash) = hash {
                digests.insert(name.to_owned(), hash);
            }
        };
        add(Output::Color.name(), frame.color.as_ref().map(|color| of_color(size, color)));
        add(Output::Base.name(), frame.base.as_deref().map(|buffer| of_floats(size, buffer.as_flattened())));
        add(Output::Depth.name(), frame.depth.as_deref().map(|buffer| of_floats(size, buffer)));
        add(
            Output::Motion.name(),
            frame.motion.as_deref().map(|buffer| of_floats(size, buffer.as_flattened())),
        );
        add(
            Output::Normal.name(),
            frame.normal.as_deref().map(|buffer| of_floats(size, buffer.as_flattened())),
        );
        add(
            Output::Albedo.name(),
            frame.albedo.as_deref().map(|buffer| of_floats(size, buffer.as_flattened())),
        );
        add(
            Output::Id.name(),
            frame.id.as_deref().map(|buffer| of_words(size, buffer.iter().flatten().copied())),
        );
        let light = [(Output::Irradiance, &frame.irradiance), (Output::Reflectance, &frame.reflectance)];
        for (output, buffer) in light {
            add(output.name(), buffer.as_deref().map(|buffer| of_floats(size, buffer.as_flattened())));
        }
        let emission = frame.emission.as_deref().map(|buffer| of_floats(size, buffer.as_flattened()));
        add(Output::Emission.name(), emission);
        let distance = frame.hit_distance.as_deref().map(|buffer| of_floats(size, buffer));
        add(Output::HitDistance.name(), distance);
        let variance = frame.variance.as_deref().map(|buffer| of_floats(size, buffer.as_flattened()));
        add(Output::Variance.name(), variance);
        let coverage = frame.coverage.as_ref().zip(frame.id.as_deref()).map(|(coverage, ids)| {
            let shares = coverage.owners(0, ids).flatten();
            of_words(size, shares.flat_map(|share| [share.id[0], share.id[1], share.samples]))
        });
        add("coverage", coverage);
        Digests(digests)
    }

    /// Names of buffers whose hashes are not those of `other`, or that only one of the two has.
    pub(crate) fn differing(&self, other: &Digests) -> Vec<String> {
        let names = self.0.keys().chain(other.0.keys()).collect::<std::collections::BTreeSet<_>>();
        names.into_iter().filter(|name| self.0.get(*name) != other.0.get(*name)).cloned().collect()
    }
}

fn hasher((width, height): (u32, u32)) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&width.to_le_bytes());
    hasher.update(&height.to_le_bytes());
    hasher
}

fn of_color(size: (u32, u32), color: &Color) -> String {
    match color {
        Color::Srgb8(pixels) => {
            let mut hasher = hasher(size);
            hasher.update(pixels.as_flattened());
            hasher.finalize().to_hex().to_string()
        }
        Color::Linear(pixels) => of_floats(size, pixels.as_flattened()),
    }
}

fn of_floats(size: (u32, u32), floats: &[f32]) -> String {
    of_words(size, floats.iter().map(|value| value.to_bits()))
}

fn of_words(size: (u32, u32), words: impl Iterator<Item = u32>) -> String {
    let mut hasher = hasher(size);
    let mut bytes = Vec::with_capacity(HASHED_AT_ONCE_BYTES);
    for word in words {
        bytes.extend(word.to_le_bytes());
        if bytes.len() == HASHED_AT_ONCE_BYTES {
            hasher.update(&bytes);
            bytes.clear();
        }
    }
    hasher.update(&bytes);
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame() -> Frame {
        Frame {
            width: 2,
            height: 1,
            color: Some(Color::Srgb8(vec![[1, 2, 3, 4], [5, 6, 7, 8]])),
            depth: Some(vec![0.0, f32::INFINITY]),
            id: Some(vec![[0, 0], [1, 1]]),
            ..Frame::default()
        }
    }

    #[test]
    fn one_bit_anywhere_shows() {
        let before = Digests::of(&frame());
        assert_eq!(before.0.keys().map(String::as_str).collect::<Vec<_>>(), ["color", "depth", "id"]);
        let mut zero = frame();
        zero.depth = Some(vec![-0.0, f32::INFINITY]);
        assert_eq!(before.differing(&Digests::of(&zero)), ["depth"]);
        let mut alpha = frame();
        alpha.color = Some(Color::Srgb8(vec![[1, 2, 3, 4], [5, 6, 7, 9]]));
        assert_eq!(before.differing(&Digests::of(&alpha)), ["color"]);
        let mut gone = frame();
        gone.id = None;
        assert_eq!(before.differing(&Digests::of(&gone)), ["id"]);
        let mut turned = frame();
        (turned.width, turned.height) = (1, 2);
        assert_eq!(before.differing(&Digests::of(&turned)).len(), 3);
    }
}
