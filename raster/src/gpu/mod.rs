//! The wgpu backend: runs the passes' WGSL twins.

mod adapter;
mod buffers;
mod capacity;
mod deform;
mod device;
mod features;
mod layout;
mod lists;
mod lobes;
mod output;
mod pass;
mod passes;
mod probe;
mod record;
mod render;
mod resident;
mod scatter;
mod shader;
mod state;
mod trace;
mod traced;
mod trees;
mod twins;

use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::accumulate::{self, Accumulated};
use crate::backend::Job;
use crate::frame::{Frame, RenderError};

pub use adapter::{AdapterChoice, AdapterInfo, AdapterLimits, adapters};
#[doc(hidden)]
pub use device::Fault;
pub use device::{STORAGE_BINDING_BYTES, STORAGE_BUFFERS, WORKGROUP_INVOCATIONS};
#[doc(hidden)]
pub use layout::TEXELS_LAYERS_MAX;
pub use probe::ProbeReport;
#[doc(hidden)]
pub use scatter::{CASE_PARTS as SCATTER_CASE_PARTS, RESULT_PARTS as SCATTER_RESULT_PARTS};
#[doc(hidden)]
pub use twins::{HostField, HostStruct, bound_structs, listed_structs};

use device::Device;
use render::FrameOnDevice;
use state::State;

/// Texels of a layer of the texture that holds all of a scene's.
#[doc(hidden)]
pub const TEXELS_PER_LAYER: u32 = layout::TEXELS_WIDTH * layout::TEXELS_ROWS;

/// Why an adapter cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GpuError {
    /// There is no hardware adapter.
    #[error("no adapter is hardware; there {}", listed(.present))]
    NoHardware {
        /// What there is.
        present: Vec<String>,
    },
    /// No adapter is so named.
    #[error("no adapter is named `{wanted}`; there {}", listed(.present))]
    NotFound {
        /// What was asked for.
        wanted: String,
        /// What there is.
        present: Vec<String>,
    },
    /// The adapter's limits are too small.
    #[error("{adapter} cannot run the passes: {reason}")]
    Unfit {
        /// Which adapter.
        adapter: String,
        /// Which limit.
        reason: String,
    },
    /// The adapter does not compute exactly.
    #[error("{adapter} is refused for exact work, it failed: {}; first: {detail}", .probes.join(", "))]
    Probe {
        /// Which adapter.
        adapter: String,
        /// Names of the probes that failed.
        probes: Vec<&'static str>,
        /// First difference.
        detail: String,
    },
    /// The device could not be opened, or failed while it was probed.
    #[error("{adapter} could not be opened: {reason}")]
    Device {
        /// Which adapter.
        adapter: String,
        /// What the driver said.
        reason: String,
    },
}

fn listed(present: &[String]) -> String {
    match present {
        [] => "is no adapter at all".to_owned(),
        present => format!("are: {}", present.join("; ")),
    }
}

/// Bounds of the wgpu backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GpuSettings {
    /// Longest wait for one submission before the device counts as lost. *Units*: milliseconds. *Default*: 60000.
    pub wait_limit_ms: u64,
    /// Scratch memory kept between frames. *Units*: bytes. *Default*: 1 GiB.
    pub scratch_bytes: u64,
    /// Scenes and environments kept on the device; the one being rendered always fits. *Units*: bytes.
    /// *Default*: 2 GiB.
    pub resident_bytes: u64,
}

impl Default for GpuSettings {
    fn default() -> Self {
        GpuSettings { wait_limit_ms: 60_000, scratch_bytes: 1 << 30, resident_bytes: 2 << 30 }
    }
}

/// wgpu on one adapter that passed the probe.
///
/// One frame is rendered at a time; others wait. A lost device is opened, and probed, again by the next frame.
#[derive(Debug)]
pub struct Gpu {
    info: AdapterInfo,
    settings: GpuSettings,
    /// Absent after a failure, until the next frame.
    opened: Mutex<Option<Opened>>,
}

/// A device and what it keeps.
#[derive(Debug)]
struct Opened {
    device: Device,
    state: State,
}

impl Gpu {
    /// Opens an adapter and probes it.
    pub fn open(choice: &AdapterChoice, settings: GpuSettings) -> Result<Gpu, GpuError> {
        let (adapter, info) = adapter::find(choice)?;
        let opened = open_probed(&adapter, &info, settings)?;
        Ok(Gpu { info, settings, opened: Mutex::new(Some(opened)) })
    }

    /// The adapter.
    pub fn info(&self) -> &AdapterInfo {
        &self.info
    }

    /// Adapter name and driver.
    pub fn name(&self) -> String {
        self.info.title()
    }

    /// Provokes a failure in a frame to come; for tests of what follows from one.
    #[doc(hidden)]
    pub fn inject(&self, fault: Fault) {
        if let Some(opened) = &*self.opened.lock().unwrap_or_else(PoisonError::into_inner) {
            opened.device.inject(fault);
        }
    }

    /// Breaks the shaders of frames to come by replacing text; for tests that show that breaking a rule is seen.
    #[doc(hidden)]
    pub fn edit_shaders(&self, edits: &[(&str, &str)]) {
        if let Some(opened) = &mut *self.opened.lock().unwrap_or_else(PoisonError::into_inner) {
            opened.state.edit(edits.iter().map(|(from, to)| (from.to_string(), to.to_string())).collect());
        }
    }

    /// Asks the probe's questions with `rounds` times more vectors, seeded anew; for tests of the arithmetic.
    #[doc(hidden)]
    pub fn sweep(&self, rounds: u32) -> Result<ProbeReport, RenderError> {
        let held = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = held.as_ref().ok_or_else(|| RenderError::DeviceLost("not open".into()))?;
        probe::sweep(&opened.device, rounds)
    }

    /// What surfaces scatter, as `shaders/scatter.wgsl` packs it; for tests of the lobes.
    #[doc(hidden)]
    pub fn scatter(
        &self,
        cases: &[[[f32; 4]; SCATTER_CASE_PARTS]],
    ) -> Result<Vec<[[f32; 4]; SCATTER_RESULT_PARTS]>, RenderError> {
        let held = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = held.as_ref().ok_or_else(|| RenderError::DeviceLost("not open".into()))?;
        scatter::answers(&opened.device, cases)
    }

    /// Memory held on the device between frames. *Units*: bytes.
    pub fn device_bytes(&self) -> u64 {
        let held = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        held.as_ref().map_or(0, |opened| opened.state.bytes())
    }

    /// Renders a frame. *Errors*: [`RenderError`]; after [`RenderError::DeviceLost`] the next frame opens the
    /// device again.
    pub fn render(&self, job: &Job<'_>) -> Result<Frame, RenderError> {
        self.with_frame(job, |frame| frame.render())
    }

    /// Traces samples of a frame whose light is traced; what other ranges find is joined by [`Accumulated::append`].
    /// *Errors*: [`RenderError`]; a frame whose light is classic.
    pub fn trace(&self, job: &Job<'_>, samples: Range<u32>) -> Result<Accumulated, RenderError> {
        accumulate::check_traced(job.request)?;
        self.with_frame(job, |frame| frame.trace(samples))
    }

    /// The frame with the light that was traced so far. *Errors*: [`RenderError`]; a frame whose light is classic, light
    /// of another size, or none.
    pub fn resolve(&self, job: &Job<'_>, light: &Accumulated) -> Result<Frame, RenderError> {
        accumulate::check_traced(job.request)?;
        light.check_fits(job.request)?;
        self.with_frame(job, |frame| frame.resolve(light))
    }

    fn with_frame<T>(
        &self,
        job: &Job<'_>,
        run: impl FnOnce(&mut FrameOnDevice<'_>) -> Result<T, RenderError>,
    ) -> Result<T, RenderError> {
        let mut held = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let mut opened = match held.take() {
            Some(opened) => opened,
            None => self.reopen()?,
        };
        // It is put back only when the frame ended without a loss, or a panic.
        let result = opened.state.with_frame(&opened.device, self.settings, job, run);
        if !matches!(result, Err(RenderError::DeviceLost(_))) {
            *held = Some(opened);
        }
        result
    }

    fn reopen(&self) -> Result<Opened, RenderError> {
        let lost = |error: GpuError| RenderError::DeviceLost(format!("opening it again: {error}"));
        let adapter = adapter::find_again(&self.info).map_err(lost)?;
        let opened = open_probed(&adapter, &self.info, self.settings).map_err(lost)?;
        tracing::warn!(adapter = self.info.title(), "device rebuilt");
        Ok(opened)
    }
}

fn open_probed(
    adapter: &wgpu::Adapter,
    info: &AdapterInfo,
    settings: GpuSettings,
) -> Result<Opened, GpuError> {
    let device = Device::open(adapter, info, Duration::from_millis(settings.wait_limit_ms))?;
    let report = probe::run(&device)
        .map_err(|error| GpuError::Device { adapter: info.title(), reason: error.to_string() })?;
    probe::verdict(info, &report)?;
    Ok(Opened { device, state: State::default() })
}

/// Opens and probes an adapter, and says what was found; `Err` where it cannot be opened at all.
pub fn probe(choice: &AdapterChoice) -> Result<(AdapterInfo, ProbeReport), GpuError> {
    let (adapter, info) = adapter::find(choice)?;
    let wait_limit = Duration::from_millis(GpuSettings::default().wait_limit_ms);
    let device = Device::open(&adapter, &info, wait_limit)?;
    let report = probe::run(&device)
        .map_err(|error| GpuError::Device { adapter: info.title(), reason: error.to_string() })?;
    Ok((info, report))
}

/// A shader as a device would get it, for tests that need no adapter.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct ShaderText {
    /// Label of the pass.
    pub label: &'static str,
    /// Entry point.
    pub entry: &'static str,
    /// Workgroup size.
    pub workgroup: [u32; 3],
    /// Names of the bindings of group 0, in order, and how each is used.
    pub bindings: Vec<(&'static str, &'static str)>,
    /// Which features it is made for.
    pub features: String,
    /// WGSL.
    pub text: String,
}

/// All passes, made for a spread of features.
#[doc(hidden)]
pub fn shader_texts() -> Vec<ShaderText> {
    let describe = |pass: &pass::Pass, features: String, text: String| ShaderText {
        label: pass.label,
        entry: pass.entry,
        workgroup: pass.workgroup,
        bindings: pass.bindings.iter().map(|b| (b.name, b.access.name())).collect(),
        features,
        text,
    };
    let probe = shader::compose(
        probe::PASS.stem,
        &[shader::exact_constants(), probe::constants(probe::VECTORS)].concat(),
    );
    let mut texts = vec![
        describe(&probe::PASS, String::new(), probe),
        describe(&scatter::PASS, String::new(), scatter::source()),
    ];
    for pass in passes::ALL {
        let mut seen = std::collections::BTreeSet::new();
        for features in features::Features::spread() {
            let features = passes::relevant(pass, features);
            if seen.insert(features) {
                texts.push(describe(pass, format!("{features:?}"), record::source(pass, features)));
            }
        }
    }
    texts
}

/// The WGSL files, by stem.
#[doc(hidden)]
pub fn shader_sources() -> &'static [(&'static str, &'static str)] {
    &shader::SOURCES
}

/// The numbers that Rust gives the shaders, made for a spread of features: name and bits, one per component.
#[doc(hidden)]
pub fn shader_constants() -> Vec<(String, Vec<u32>)> {
    let mut all = layout::constants();
    all.extend(probe::constants(probe::VECTORS));
    all.extend(scatter::constants());
    all.extend(features::Features::spread().into_iter().flat_map(features::Features::constants));
    all.iter().map(shader::Constant::bits).collect()
}
