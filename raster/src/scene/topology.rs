//! Primitive modes: strips, fans and loops as lists, exactly as glTF 2.0 (3.7.2.1) writes them.

use super::Topology;
use super::error::SceneError;

/// A primitive mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Points,
    Lines,
    LineLoop,
    LineStrip,
    Triangles,
    TriangleStrip,
    TriangleFan,
}

impl Mode {
    pub fn from_gltf(code: u32) -> Option<Mode> {
        Some(match code {
            0 => Mode::Points,
            1 => Mode::Lines,
            2 => Mode::LineLoop,
            3 => Mode::LineStrip,
            4 => Mode::Triangles,
            5 => Mode::TriangleStrip,
            6 => Mode::TriangleFan,
            _ => return None,
        })
    }

    pub fn topology(self) -> Topology {
        match self {
            Mode::Points => Topology::Points,
            Mode::Lines | Mode::LineLoop | Mode::LineStrip => Topology::Lines,
            Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan => Topology::Triangles,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Mode::Points => "POINTS",
            Mode::Lines => "LINES",
            Mode::LineLoop => "LINE_LOOP",
            Mode::LineStrip => "LINE_STRIP",
            Mode::Triangles => "TRIANGLES",
            Mode::TriangleStrip => "TRIANGLE_STRIP",
            Mode::TriangleFan => "TRIANGLE_FAN",
        }
    }

    /// How many lines, triangles or points `count` indices make. *Errors*: numbers that the mode does not allow.
    pub fn pieces(self, count: usize, what: &str) -> Result<usize, SceneError> {
        let (least, step) = match self {
            Mode::Points => (1, 1),
            Mode::Lines => (2, 2),
            Mode::LineLoop | Mode::LineStrip => (2, 1),
            Mode::Triangles => (3, 3),
            Mode::TriangleStrip | Mode::TriangleFan => (3, 1),
        };
        if count < least || !count.is_multiple_of(step) {
            let count = count as u64;
            return Err(SceneError::IndexCount {
                what: what.into(),
                mode: self.name(),
                count,
                least: least as u64,
            });
        }
        Ok(match self {
            Mode::Points | Mode::LineLoop => count,
            Mode::Lines => count / 2,
            Mode::LineStrip => count - 1,
            Mode::Triangles => count / 3,
            Mode::TriangleStrip | Mode::TriangleFan => count - 2,
        })
    }

    /// Whether indices already are a list.
    pub fn is_list(self) -> bool {
        matches!(self, Mode::Points | Mode::Lines | Mode::Triangles)
    }

    /// The list that `indices` stand for; their number must have passed [`Mode::pieces`].
    pub fn expand(self, indices: &[u32]) -> Vec<u32> {
        let v = indices;
        let last = v.len() - 1;
        match self {
            Mode::Points | Mode::Lines | Mode::Triangles => v.to_vec(),
            Mode::LineStrip => (0..last).flat_map(|i| [v[i], v[i + 1]]).collect(),
            Mode::LineLoop => {
                (0..last).map(|i| (i, i + 1)).chain([(last, 0)]).flat_map(|(a, b)| [v[a], v[b]]).collect()
            }
            Mode::TriangleStrip => {
                (0..last - 1).flat_map(|i| [v[i], v[i + 1 + i % 2], v[i + 2 - i % 2]]).collect()
            }
            Mode::TriangleFan => (0..last - 1).flat_map(|i| [v[i + 1], v[i + 2], v[0]]).collect(),
        }
    }
}
