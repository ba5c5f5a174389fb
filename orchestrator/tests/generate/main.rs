//! Generated scenes: the same bytes everywhere, what the manifest promises, and pictures that are worth looking at.

mod bytes;
mod content;
mod eye;

use std::sync::LazyLock;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use isoframe::generate::{Generated, scene};
use isoframe_raster::scene::{Limits, Scene, Source, load};

/// Seeds that are looked at: two rounds of kinds and more.
const SEED_COUNT: u32 = 64;

/// A scene as made and as read.
struct Sample {
    made: Generated,
    read: Scene,
}

static SAMPLES: LazyLock<Vec<Sample>> = LazyLock::new(|| {
    let next = AtomicU32::new(0);
    let samples = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= SEED_COUNT {
                        break;
                    }
                    let made = scene(seed).expect("a scene");
                    let read = read(&made);
                    samples.lock().expect("no panic").push(Sample { made, read });
                }
            });
        }
    });
    let mut samples = samples.into_inner().expect("no panic");
    samples.sort_by_key(|sample: &Sample| sample.made.entry.seed);
    samples
});

fn read(made: &Generated) -> Scene {
    let limits = Limits::default();
    let source = Source::from_bytes(made.glb.as_slice(), &limits).expect("a .glb");
    load(&source, &limits).unwrap_or_else(|error| panic!("{}: {error}", made.entry.file))
}
