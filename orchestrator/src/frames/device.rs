//! The primary device: opened, watched, left when it fails, rebuilt in the background.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use isoframe_raster::backend::{Backend, Job};
use isoframe_raster::frame::{Frame, RenderError};

use super::{BackendChoice, BackendReport, FrameSettings, FramesError};
use crate::fallback::{Fallback, Reason};

/// What renders: a [`Backend`], or in tests one that fails on purpose.
pub(super) trait Renderer: Send + Sync {
    fn render(&self, job: &Job<'_>) -> Result<Frame, RenderError>;
    fn name(&self) -> String;
}

impl Renderer for Backend {
    fn render(&self, job: &Job<'_>) -> Result<Frame, RenderError> {
        Backend::render(self, job)
    }

    fn name(&self) -> String {
        Backend::name(self)
    }
}

/// A device that was opened.
pub(super) struct Opened {
    pub(super) renderer: Arc<dyn Renderer>,
    pub(super) software: bool,
}

/// Opens the device, at the start and after a loss. *Errors*: in words.
type Opener = Box<dyn Fn() -> Result<Opened, String> + Send + Sync>;

/// Why the primary device gave no frame.
pub(super) enum Failed {
    /// The CPU makes it instead.
    Fallback(Fallback),
    /// It fails anywhere.
    Render(RenderError),
}

/// A device that may be lost.
#[derive(Debug)]
pub(super) struct Device(Arc<Inner>);

struct Inner {
    opener: Opener,
    first_wait: Duration,
    longest_wait: Duration,
    state: Mutex<State>,
}

struct State {
    live: Option<Arc<dyn Renderer>>,
    name: String,
    software: bool,
    losses: u64,
    rebuilds: u64,
    /// Wait before the next attempt; back to the first one when a frame succeeds.
    wait: Duration,
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("Device").field("name", &state.name).field("live", &state.live.is_some()).finish()
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        // Every change is complete before anything can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens the primary device that the settings name, and says why it is this one; none where the CPU is primary.
pub(super) fn open(settings: &FrameSettings) -> Result<(Option<Device>, String), FramesError> {
    if settings.backend == BackendChoice::Cpu {
        return Ok((None, "asked for: cpu".into()));
    }
    let any_hardware = settings.backend == BackendChoice::Auto && settings.adapter.is_none();
    if cfg!(target_os = "linux") && any_hardware && !has_gpu_file(Path::new("/dev")) {
        let reason =
            "there is no device file of a GPU in /dev; `--backend wgpu` asks every driver for an adapter";
        return Ok((None, format!("auto: cpu, because {reason}")));
    }
    let of_device = settings.clone();
    let opened = Device::new(Box::new(move || open_wgpu(&of_device)), settings);
    match (opened, settings.backend, &settings.adapter) {
        (Ok(device), BackendChoice::Auto, None) => {
            let name = device.0.state().name.clone();
            Ok((Some(device), format!("auto: hardware adapter {name}")))
        }
        (Ok(device), _, _) => {
            let name = device.0.state().name.clone();
            Ok((Some(device), format!("asked for: {name}")))
        }
        (Err(reason), BackendChoice::Auto, None) => Ok((None, format!("auto: cpu, because {reason}"))),
        (Err(reason), _, _) => Err(FramesError::Backend { backend: "wgpu", reason }),
    }
}

/// Whether Linux shows a GPU under `dev`. Without one there is only software to find, and asking every driver for it
/// takes longer than a small frame.
fn has_gpu_file(dev: &Path) -> bool {
    /// Direct rendering, and drivers with files of their own: NVIDIA's of desktops and of Tegra, WSL's, Adreno's,
    /// Mali's, PowerVR's.
    const PREFIXES: [&str; 10] =
        ["dri", "nvidia", "nvhost", "nvgpu", "nvmap", "dxg", "kgsl", "mali", "pvr", "kfd"];
    let Ok(entries) = std::fs::read_dir(dev) else { return true };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        PREFIXES.iter().any(|prefix| name.as_encoded_bytes().starts_with(prefix.as_bytes()))
    })
}

#[cfg(feature = "gpu")]
fn open_wgpu(settings: &FrameSettings) -> Result<Opened, String> {
    use isoframe_raster::gpu::{AdapterChoice, Gpu, GpuSettings};
    let choice = settings.adapter.clone().map_or(AdapterChoice::Hardware, AdapterChoice::Named);
    let settings = GpuSettings {
        wait_limit_ms: settings.device_wait_ms,
        scratch_bytes: settings.device_scratch_bytes,
        resident_bytes: settings.device_resident_bytes,
    };
    let gpu = Gpu::open(&choice, settings).map_err(|error| error.to_string())?;
    let software = gpu.info().software;
    Ok(Opened { renderer: Arc::new(Backend::Wgpu(Box::new(gpu))), software })
}

#[cfg(not(feature = "gpu"))]
fn open_wgpu(_: &FrameSettings) -> Result<Opened, String> {
    Err("this build has no wgpu backend (feature `gpu`)".into())
}

impl Device {
    pub(super) fn new(opener: Opener, settings: &FrameSettings) -> Result<Device, String> {
        let opened = opener()?;
        let first_wait = Duration::from_millis(settings.rebuild_first_ms);
        let state = State {
            name: opened.renderer.name(),
            live: Some(opened.renderer),
            software: opened.software,
            losses: 0,
            rebuilds: 0,
            wait: first_wait,
        };
        let longest_wait = Duration::from_millis(settings.rebuild_longest_ms);
        Ok(Device(Arc::new(Inner { opener, first_wait, longest_wait, state: Mutex::new(state) })))
    }

    pub(super) fn report(&self, reason: String) -> BackendReport {
        let state = self.0.state();
        BackendReport {
            name: state.name.clone(),
            reason,
            software: state.software,
            healthy: state.live.is_some(),
            rebuilds: state.rebuilds,
            losses: state.losses,
        }
    }

    /// Renders on the device, with its name.
    pub(super) fn render(&self, job: &Job<'_>) -> Result<(Frame, String), Failed> {
        let (live, name) = {
            let state = self.0.state();
            (state.live.clone(), state.name.clone())
        };
        let Some(live) = live else {
            let detail = format!("{name} is being rebuilt");
            return Err(Failed::Fallback(Fallback { reason: Reason::DeviceLost, detail }));
        };
        // A panic in a driver's binding costs the device, not the frame.
        let rendered = catch_unwind(AssertUnwindSafe(|| live.render(job)))
            .unwrap_or_else(|_| Err(RenderError::DeviceLost("the backend panicked".into())));
        match rendered {
            Ok(frame) => {
                self.0.state().wait = self.0.first_wait;
                Ok((frame, name))
            }
            Err(RenderError::DeviceLost(cause)) => {
                self.lose(&live);
                let detail = format!("{name}: {cause}");
                Err(Failed::Fallback(Fallback { reason: Reason::DeviceLost, detail }))
            }
            Err(error @ RenderError::DeviceLimit { .. }) => {
                let detail = format!("{name}: {error}");
                Err(Failed::Fallback(Fallback { reason: Reason::DeviceLimit, detail }))
            }
            Err(error) => Err(Failed::Render(error)),
        }
    }

    /// Takes the device out, once however many frames it failed, and has it rebuilt.
    fn lose(&self, lost: &Arc<dyn Renderer>) {
        let mut state = self.0.state();
        if !state.live.as_ref().is_some_and(|live| Arc::ptr_eq(live, lost)) {
            return;
        }
        state.live = None;
        state.losses += 1;
        tracing::error!(device = state.name, "device lost");
        let device = Arc::downgrade(&self.0);
        let rebuilder = std::thread::Builder::new().name("device-rebuild".into());
        if let Err(error) = rebuilder.spawn(move || rebuild(&device)) {
            tracing::error!(%error, "no thread to rebuild the device; it stays lost");
        }
    }
}

/// Opens the device again, waiting twice as long after each failure, until it is there or nobody needs it.
fn rebuild(device: &Weak<Inner>) {
    loop {
        let Some(wait) = device.upgrade().map(|inner| {
            let mut state = inner.state();
            let wait = state.wait;
            state.wait = (wait * 2).min(inner.longest_wait);
            wait
        }) else {
            return;
        };
        std::thread::sleep(wait);
        let Some(inner) = device.upgrade() else { return };
        let opened = catch_unwind(AssertUnwindSafe(|| (inner.opener)()))
            .unwrap_or_else(|_| Err("the backend panicked".into()));
        match opened {
            Ok(opened) => {
                let mut state = inner.state();
                state.name = opened.renderer.name();
                state.software = opened.software;
                state.live = Some(opened.renderer);
                state.rebuilds += 1;
                tracing::info!(device = state.name, "device rebuilt");
                return;
            }
            Err(reason) => tracing::warn!(reason, "the device could not be rebuilt; trying again"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_is_known_by_its_device_file() {
        for (files, expected) in [
            (&["null", "tty", "video0"][..], false),
            (&["null", "dri"], true),
            (&["nvidiactl"], true),
            (&["nvhost-gpu"], true),
            (&["dxg"], true),
            (&["mali0"], true),
        ] {
            let dev = tempfile::tempdir().unwrap();
            files.iter().for_each(|name| std::fs::write(dev.path().join(name), "").unwrap());
            assert_eq!(has_gpu_file(dev.path()), expected, "{files:?}");
        }
        // Where nothing can be read, drivers are asked.
        assert!(has_gpu_file(Path::new("/nowhere at all")));
    }
}
