//! What is written about scenes, beside them.

use serde::{Deserialize, Serialize};

/// The manifest, `scenes.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of the generator: other bytes for the same seed mean another version.
    pub generator: String,
    /// In the order of their seeds.
    pub scenes: Vec<Entry>,
}

/// A scene.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// File name, in the manifest's folder.
    pub file: String,
    /// What it is made from.
    pub seed: u32,
    /// What it shows, in a word or two.
    pub kind: String,
    /// What is special about it, sorted: see `docs/training-scenes.md`.
    pub tags: Vec<String>,
    /// Sorted: `directional`, `emissive`, `environment`, `point`, `spot`.
    pub light_kinds: Vec<String>,
    /// Cameras that are worth looking through.
    pub cameras: Vec<Camera>,
    /// Times that are worth looking at; 0 alone where nothing moves. *Units*: seconds.
    pub times_s: Vec<f64>,
    /// Exposure at which traced light should look right. *Units*: stops.
    pub exposure_ev: f64,
    /// The environment that should light it; none where it is closed or made for its own lights.
    pub environment: Option<EnvironmentEntry>,
    /// Triangles drawn.
    pub triangle_count: u64,
    /// Size of the file. *Units*: bytes.
    pub bytes: u64,
    /// blake3 of the file, hex: what frame requests name it by.
    pub blake3: String,
}

/// A camera of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Camera {
    /// As `--camera` takes it.
    pub index: u32,
    /// Its name.
    pub name: String,
}

/// Light from around.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvironmentEntry {
    /// File name, in the manifest's folder: an equirectangular `.hdr`.
    pub file: String,
    /// blake3 of the file, hex.
    pub blake3: String,
    /// As `--env-intensity` takes it.
    pub intensity: f64,
    /// As `--env-rotation` takes it. *Units*: degrees.
    pub rotation_deg: f64,
}
