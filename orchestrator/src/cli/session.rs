//! What commands that render share: a backend, scenes and environments by the names that people give them.

use std::path::Path;
use std::sync::Arc;

use clap::Args;
use isoframe_raster::backend::Cancel;
use isoframe_raster::environment::Environment;
use isoframe_raster::prepared::Prepared;

use super::exit::Failure;
use super::source;
use crate::config::{Settings, Sources};
use crate::frames::{BackendChoice, FrameSettings, Frames};

/// Which backend renders.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Backend")]
pub(crate) struct BackendFlags {
    /// Backend [default: auto]: auto (a hardware adapter if there is one, else the CPU), cpu or wgpu (refuses to start without an
    /// adapter); the pixels are the same
    #[arg(long, value_name = "NAME", value_parser = backend)]
    backend: Option<BackendChoice>,
    /// Part of an adapter's name; the only way to a software adapter. See `isoframe adapters`
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
    /// Threads of the CPU backend [default: one per core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

fn backend(text: &str) -> Result<BackendChoice, String> {
    text.parse()
}

impl BackendFlags {
    /// Settings of [`Frames`]: these flags over the process's settings.
    pub(crate) fn settings(&self) -> Result<FrameSettings, Failure> {
        let sources = Sources { overrides: self.settings_given(), ..Sources::from_process() };
        Ok(Settings::load(&sources)?.frames())
    }

    /// The flags that were given, under the names of settings.
    pub(crate) fn settings_given(&self) -> Vec<(String, String)> {
        let backend = self.backend.map(|backend| match backend {
            BackendChoice::Auto => "auto",
            BackendChoice::Cpu => "cpu",
            BackendChoice::Wgpu => "wgpu",
        });
        let given = [
            ("render.backend", backend.map(str::to_owned)),
            ("render.adapter", self.adapter.clone()),
            ("render.threads", self.threads.map(|threads| threads.to_string())),
        ];
        given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}

/// An open backend, and what was loaded for it.
#[derive(Debug)]
pub(crate) struct Session {
    /// Makes the frames.
    pub frames: Frames,
    /// Stops them; Ctrl-C does.
    pub cancel: Cancel,
}

impl Session {
    /// Opens the backend that the flags name.
    pub(crate) fn open(backend: &BackendFlags) -> Result<Session, Failure> {
        let frames = Frames::open(&backend.settings()?)?;
        Ok(Session { frames, cancel: super::interrupt::cancel() })
    }

    /// The scene that a person named.
    pub(crate) fn scene(&self, name: &str) -> Result<Arc<Prepared>, Failure> {
        Ok(self.frames.prepare(source::scene(name)?))
    }

    /// The environment of a file, or the built-in studio.
    pub(crate) fn environment(&self, file: Option<&Path>) -> Result<Arc<Environment>, Failure> {
        source::environment(file).map(Arc::new)
    }
}
