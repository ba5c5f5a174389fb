//! Checkpoints: traced light that a long render has found so far, in a file.
//!
//! A line of text, the plan id and a newline, the blake3 hash of what follows, and the sums of
//! [`Accumulated::to_bytes`].

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use isoframe_raster::accumulate::Accumulated;

use super::destination;
use super::exit::Failure;
use crate::plan::Plan;

const HEAD: &str = "isoframe light 1\n";

/// Longest time between two writes: what is lost at most. Writing a large frame's sums takes a second.
const INTERVAL: Duration = Duration::from_secs(20);

/// Where a render keeps its light.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    path: PathBuf,
    head: String,
    written: Instant,
}

impl Checkpoint {
    /// Of a plan, in a file that may be there from before.
    pub(crate) fn new(path: &Path, plan: &Plan) -> Checkpoint {
        let head = format!("{HEAD}{}\n", plan.plan_id());
        Checkpoint { path: path.to_owned(), head, written: Instant::now() }
    }

    /// The light that the file holds; none where there is no file. *Errors*: a file of another render, or damaged.
    pub(crate) fn read(&self, pixels: usize) -> Result<Accumulated, Failure> {
        let path = self.path.display();
        let bytes = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Accumulated::default()),
            Err(error) => return Err(Failure::bad_input(format!("--checkpoint {path}: {error}"))),
        };
        let refused = |why: &str| {
            Failure::bad_input(format!("--checkpoint {path}: {why}"))
                .hint("name another file, or delete this one to begin again")
        };
        if !bytes.starts_with(HEAD.as_bytes()) {
            return Err(refused("this is no checkpoint"));
        }
        let Some(rest) = bytes.strip_prefix(self.head.as_bytes()) else {
            return Err(refused("it is of another scene, request or engine"));
        };
        let (hash, sums) =
            rest.split_at_checked(blake3::OUT_LEN).ok_or_else(|| refused("it is cut short"))?;
        if blake3::hash(sums).as_bytes() != hash {
            return Err(refused("it is damaged"));
        }
        Accumulated::from_bytes(sums, pixels).ok_or_else(|| refused("it is damaged"))
    }

    /// Writes the light, unless the last time is not long ago.
    pub(crate) fn keep(&mut self, light: &Accumulated) -> Result<(), Failure> {
        if self.written.elapsed() < INTERVAL {
            return Ok(());
        }
        self.write(light)
    }

    /// Writes the light.
    pub(crate) fn write(&mut self, light: &Accumulated) -> Result<(), Failure> {
        let sums = light.to_bytes();
        let mut bytes = self.head.clone().into_bytes();
        bytes.extend_from_slice(blake3::hash(&sums).as_bytes());
        bytes.extend_from_slice(&sums);
        destination::write(Some(&self.path), &bytes)?;
        self.written = Instant::now();
        Ok(())
    }

    /// Removes the file of a render that is done.
    pub(crate) fn remove(&self) {
        if let Err(error) = fs::remove_file(&self.path)
            && error.kind() != ErrorKind::NotFound
        {
            tracing::warn!(path = %self.path.display(), %error, "the checkpoint stays");
        }
    }
}
