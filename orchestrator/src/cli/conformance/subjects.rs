//! What is rendered: the goldens inside the binary, or scenes that a person named.

use isoframe_raster::environment::Environment;
use isoframe_raster::frame::{FrameRequest, Output};
use isoframe_raster::prepared::Prepared;
use std::sync::Arc;

use isoframe_raster::frame::ENGINE;

use super::super::digest::Digests;
use super::super::exit::Failure;
use super::super::goldens::{CASES, Case, Embedded, Expected};
use super::super::source;
use crate::request::from_pairs;

/// A scene and a request of it.
pub(super) struct Subject {
    /// Name, for the table.
    pub name: String,
    /// The scene.
    pub scene: Arc<Prepared>,
    /// The light.
    pub environment: Arc<Environment>,
    /// All outputs of one frame.
    pub request: FrameRequest,
    /// The hashes in the binary, if they are of this `ENGINE`.
    pub expected: Option<Digests>,
}

/// The goldens inside the binary.
pub(super) fn embedded() -> Result<Vec<Subject>, Failure> {
    let studio = Arc::new(source::environment(None)?);
    CASES.iter().map(|case| of_embedded(case, &studio)).collect()
}

fn of_embedded(embedded: &Embedded, studio: &Arc<Environment>) -> Result<Subject, Failure> {
    let case = Case::parse(embedded.case).map_err(Failure::fault)?;
    let scene = match embedded.scene {
        Some(bytes) => source::scene_from_bytes(embedded.name, bytes)?,
        None => source::scene(source::DEMO)?,
    };
    let request = case.request(&scene.hash, None)?;
    let expected = Expected::parse(embedded.expected).map_err(Failure::fault)?;
    Ok(Subject {
        name: embedded.name.to_owned(),
        scene: Arc::new(Prepared::new(Arc::new(scene))),
        environment: Arc::clone(studio),
        request,
        expected: (expected.engine == ENGINE).then_some(expected.buffers),
    })
}

/// Scenes by name, from their own camera, a little into their animation.
pub(super) fn named(scenes: &[String], size: &str) -> Result<Vec<Subject>, Failure> {
    let studio = Arc::new(source::environment(None)?);
    let all = Output::CLASSIC.map(Output::name).join(",");
    let of_name = |name: &String| -> Result<Subject, Failure> {
        let scene = source::scene(name)?;
        let request = from_pairs([
            ("scene", scene.hash.as_str()),
            ("size", size),
            ("output", &all),
            ("time", "0.5"),
            ("previous-time", "0.4"),
        ])?;
        Ok(Subject {
            name: name.clone(),
            scene: Arc::new(Prepared::new(Arc::new(scene))),
            environment: Arc::clone(&studio),
            request,
            expected: None,
        })
    };
    scenes.iter().map(of_name).collect()
}
