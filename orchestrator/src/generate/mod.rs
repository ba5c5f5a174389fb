//! Scenes from numbers: varied rooms, places and products to train and to measure with, as `.glb` files.
//!
//! A scene is a function of its seed alone: an integer generator, `f64` with IEEE operations, and `libm`. The kind of
//! scene follows the seed round a fixed table, so any run of consecutive seeds has its fair share of each.

mod glb;
mod gltf;
mod lamps;
mod look;
mod manifest;
mod materials;
mod mesh;
mod motion;
mod noise;
mod pattern;
mod props;
mod rng;
mod room;
mod scenes;
mod shapes;
mod sky;
mod soup;
mod stage;
mod texture;

pub use manifest::{Camera, Entry, EnvironmentEntry, Manifest};
pub use soup::{TRIANGLES, triangles};

use rng::Rng;
use stage::Stage;

/// Version of the generator. It changes with any byte of any scene.
pub const GENERATOR: &str = "isoframe-scenes-1";

/// Why a scene could not be made.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// The JSON chunk.
    #[error("the scene's JSON cannot be written: {0}")]
    Json(#[from] serde_json::Error),
    /// A texture.
    #[error("a texture cannot be written: {0}")]
    Png(#[from] png::EncodingError),
    /// More than a `.glb` can hold.
    #[error("the scene takes {bytes} bytes, and a .glb holds 4294967295")]
    TooLarge {
        /// What it takes.
        bytes: usize,
    },
}

/// A scene and what the manifest says of it.
#[derive(Debug, Clone)]
pub struct Generated {
    /// The file.
    pub glb: Vec<u8>,
    /// The panorama that lights it, where its entry names one.
    pub environment: Option<Vec<u8>>,
    /// Its entry.
    pub entry: Entry,
}

/// The scene of a seed: the same bytes on every machine.
///
/// *Errors*: none that a seed is known to cause.
pub fn scene(seed: u32) -> Result<Generated, GenerateError> {
    let kind = &scenes::KINDS[seed as usize % scenes::KINDS.len()];
    let mut stage = Stage::new(Rng::new(u64::from(seed)));
    let mut rng = stage.rng.fork(kind.name);
    (kind.make)(&mut stage, &mut rng);
    if scenes::HARD.iter().any(|hard| stage.tags.contains(hard)) {
        stage.tags.insert("hard_light");
    }
    finished(stage, kind.name, scene_file(seed), seed)
}

/// The file name of [`scene`].
pub fn scene_file(seed: u32) -> String {
    format!("{seed:010}.glb")
}

/// The file name of [`triangles`].
pub fn triangles_file(seed: u32, count: u32) -> String {
    format!("triangles-{count:08}-{seed:010}.glb")
}

/// The file and its entry.
fn finished(mut stage: Stage, kind: &str, file: String, seed: u32) -> Result<Generated, GenerateError> {
    stage.close();
    let words = |set: &std::collections::BTreeSet<&str>| set.iter().map(|&word| word.to_owned()).collect();
    let moving = stage.duration_s > 0.0;
    let times_s =
        if moving { [0.0, 0.3, 0.7].map(|part| part * stage.duration_s).to_vec() } else { vec![0.0] };
    let mut entry = Entry {
        file,
        seed,
        kind: kind.to_owned(),
        tags: words(&stage.tags),
        light_kinds: words(&stage.light_kinds),
        cameras: stage.cameras.clone(),
        times_s,
        exposure_ev: stage.exposure_ev,
        environment: None,
        triangle_count: stage.triangles,
        bytes: 0,
        blake3: String::new(),
    };
    let environment = stage.around.map(|(intensity, rotation_deg)| {
        let bytes = sky::panorama(&mut stage.rng.fork("sky"), !stage.light_kinds.contains("directional"));
        let file = entry.file.replace(".glb", ".hdr");
        let blake3 = blake3::hash(&bytes).to_hex().to_string();
        entry.environment = Some(EnvironmentEntry { file, blake3, intensity, rotation_deg });
        bytes
    });
    let glb = stage.finish()?;
    entry.bytes = glb.len() as u64;
    entry.blake3 = blake3::hash(&glb).to_hex().to_string();
    Ok(Generated { glb, environment, entry })
}
