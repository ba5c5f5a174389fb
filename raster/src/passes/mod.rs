//! The passes, one file each: what it reads and writes, and the CPU code, which is the truth. The twin of
//! `shade.rs` is `shaders/shade.wgsl`, and so on.
//!
//! `deform` → `project` → `visibility` → (`surface`, `lobes`, `light`) → `resolve` → `tonemap`

pub mod bsdf;
pub mod coats;
pub mod deform;
pub mod film;
pub mod gather;
pub mod hit;
pub mod illuminate;
pub mod light;
pub mod lobes;
pub mod microfacet;
pub mod octahedron;
pub mod project;
pub mod ray;
pub mod resolve;
pub mod sequence;
pub mod shadow;
pub mod sky;
pub mod surface;
pub mod tangent_space;
pub mod texture;
pub mod tonemap;
pub mod trace;
pub mod transmission;
pub mod vector;
pub mod visibility;
