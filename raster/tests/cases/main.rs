//! Small scenes rendered on the CPU, one file per area, against values worked out by hand or in `f64`.

#[path = "../common/mod.rs"]
mod common;
#[allow(dead_code)]
#[path = "../pose/posed.rs"]
mod posed;
#[allow(dead_code)]
mod rendered;

mod camera;
mod file;
mod furnace;
mod geometry;
mod index;
mod material;
mod motion;
mod order;
