//! The service under load: many clients, many requests, files made to hurt. It runs in a process of its own, for
//! these tests look at its memory; one test at a time.

mod bombs;
#[path = "../http/client.rs"]
#[allow(dead_code)]
mod client;
#[path = "../http/fixtures.rs"]
#[allow(dead_code)]
mod fixtures;
#[path = "../../../raster/tests/common/gltf.rs"]
#[allow(dead_code)]
mod gltf;
#[path = "../../../raster/tests/common/bombs.rs"]
#[allow(dead_code)]
mod images;
mod load;
mod memory;
#[path = "../../../raster/tests/common/process_memory.rs"]
mod process_memory;
mod served;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held by the test that runs.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
