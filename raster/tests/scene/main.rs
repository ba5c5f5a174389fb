//! The glTF loader: what comes out of good files, number by number, and what bad files are told.

#[path = "../common/mod.rs"]
mod common;

mod animation;
mod assets;
mod attributes;
mod extension;
mod geometry;
mod graph;
mod image;
mod limit;
mod lobes;
mod material;
mod mutation;
mod refused;
mod skin;
mod source;
mod tangent;
mod validator;

use isoframe_raster::scene::{Limits, Primitive, Scene, SceneError, Source, load};

/// Loads an upload with default limits.
fn try_load(bytes: impl Into<Vec<u8>>) -> Result<Scene, SceneError> {
    load_within(bytes, &Limits::default())
}

/// Loads an upload with these limits.
fn load_within(bytes: impl Into<Vec<u8>>, limits: &Limits) -> Result<Scene, SceneError> {
    load(&Source::from_bytes(bytes, limits)?, limits)
}

/// Loads an upload that must be good.
fn scene(bytes: impl Into<Vec<u8>>) -> Scene {
    try_load(bytes).unwrap_or_else(|error| panic!("{}: {error}", error.code()))
}

/// Loads an upload that must be good, and takes its first primitive.
fn primitive(bytes: impl Into<Vec<u8>>) -> Primitive {
    scene(bytes).meshes.swap_remove(0).primitives.swap_remove(0)
}

/// The error of an upload that must be bad.
fn error(bytes: impl Into<Vec<u8>>) -> SceneError {
    try_load(bytes).expect_err("this file is bad")
}

/// Holds an upload's error against a code and a piece of its text.
fn check_refused(name: &str, bytes: impl Into<Vec<u8>>, code: &str, says: &str) {
    match try_load(bytes) {
        Ok(_) => panic!("{name}: loads, but must be refused with {code}"),
        Err(error) => {
            let text = error.to_string();
            assert_eq!(error.code(), code, "{name}: {text}");
            assert!(text.contains(says), "{name}: \"{text}\" does not say \"{says}\"");
        }
    }
}
