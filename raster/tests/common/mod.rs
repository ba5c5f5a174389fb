//! What tests share: where the shared assets are, and a builder of small glTF files.

#![allow(dead_code)]

pub mod gltf;

use std::path::PathBuf;

/// The folder of scenes made by others; `None`, said loudly, where it is absent.
pub fn assets() -> Option<PathBuf> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/assets");
    let path = std::env::var_os("ISOFRAME_ASSETS").map_or_else(|| PathBuf::from(default), PathBuf::from);
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("SKIPPED: no shared assets at {} (set ISOFRAME_ASSETS)", path.display());
    None
}
