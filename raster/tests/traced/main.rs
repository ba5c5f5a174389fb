//! Traced light: what it must be by theory, whatever the noise; and that parts of it join.

#[path = "../common/gltf.rs"]
#[allow(dead_code)]
mod gltf;
mod light;
mod parts;
mod room;
mod theory;
