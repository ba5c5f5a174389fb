//! The passes, one file each: what it reads and writes, and the CPU code, which is the truth. The twin of
//! `shade.rs` is `shaders/shade.wgsl`, and so on.
//!
//! `deform` → `project` → `visibility` → (`surface`, `light`) → `resolve` → `tonemap`

pub mod deform;
pub mod light;
pub mod project;
pub mod resolve;
pub mod surface;
pub mod texture;
pub mod tonemap;
pub mod vector;
pub mod visibility;
