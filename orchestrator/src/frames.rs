//! Where stages are joined: backends with their fallback, resident scenes, plans into frames.

mod device;
mod parts;
mod resident;

use std::sync::Arc;
use std::time::{Duration, Instant};

use isoframe_neural::{ModelId, Resolution, resolve};
use isoframe_raster::backend::{Backend, Cancel, Job};
use isoframe_raster::cpu::{Cpu, CpuError, CpuOptions};
use isoframe_raster::environment::Environment;
use isoframe_raster::frame::{ColorFormat, Frame, FrameRequest, RenderError};
use isoframe_raster::prepared::Prepared;
use isoframe_raster::scene::Scene;
use serde::{Deserialize, Serialize};

use self::device::Device;
pub use self::parts::PART_SAMPLES;
use self::resident::Resident;
use crate::fallback::{Fallback, Reason};
use crate::plan::Plan;
use crate::request::{self, RequestError, RequestLimits};

/// Which backend renders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BackendChoice {
    /// A hardware adapter if there is one, else the CPU.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// A hardware adapter, or the adapter named; refuses to start without.
    Wgpu,
}

impl std::str::FromStr for BackendChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<BackendChoice, String> {
        match text {
            "auto" => Ok(BackendChoice::Auto),
            "cpu" => Ok(BackendChoice::Cpu),
            "wgpu" => Ok(BackendChoice::Wgpu),
            _ => Err(format!("unknown backend `{text}`; backends are auto, cpu, wgpu")),
        }
    }
}

/// Settings of [`Frames`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FrameSettings {
    /// Which backend renders.
    pub backend: BackendChoice,
    /// Part of the name of the adapter to use; the only way to a software adapter.
    pub adapter: Option<String>,
    /// Threads of the CPU backend; 0: one per core.
    pub threads: usize,
    /// Memory that prepared scenes may hold between frames. *Units*: bytes.
    pub resident_scene_bytes: u64,
    /// Memory that prefiltered environments may hold between frames. *Units*: bytes.
    pub resident_environment_bytes: u64,
    /// Wait before the first attempt to rebuild a lost device; doubles with each failure. *Units*: milliseconds.
    pub rebuild_first_ms: u64,
    /// Longest wait between attempts. *Units*: milliseconds.
    pub rebuild_longest_ms: u64,
    /// Longest wait for a device before it counts as lost. *Units*: milliseconds.
    pub device_wait_ms: u64,
    /// Scratch memory kept on the device between frames. *Units*: bytes.
    pub device_scratch_bytes: u64,
    /// Scenes and environments kept on the device between frames. *Units*: bytes.
    pub device_resident_bytes: u64,
    /// Largest frame whose buffers the CPU backend keeps for the next one. *Units*: bytes.
    pub spare_frame_bytes: usize,
    /// What requests may ask for.
    pub limits: RequestLimits,
}

impl Default for FrameSettings {
    fn default() -> Self {
        FrameSettings {
            backend: BackendChoice::Auto,
            adapter: None,
            threads: 0,
            resident_scene_bytes: 2 << 30,
            resident_environment_bytes: 256 << 20,
            rebuild_first_ms: 250,
            rebuild_longest_ms: 60_000,
            device_wait_ms: 60_000,
            device_scratch_bytes: 1 << 30,
            device_resident_bytes: 2 << 30,
            spare_frame_bytes: 128 << 20,
            limits: RequestLimits::default(),
        }
    }
}

/// Why a frame could not be made.
#[derive(Debug, thiserror::Error)]
pub enum FramesError {
    /// The backend that was asked for is not to be had.
    #[error("backend {backend}: {reason}")]
    Backend {
        /// `wgpu`.
        backend: &'static str,
        /// Why not.
        reason: String,
    },
    /// The request cannot be rendered.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The plan is for another scene or environment than the one given.
    #[error("the plan names {what} {wanted}, this is {got}")]
    Mismatch {
        /// `scene` or `environment`.
        what: &'static str,
        /// Hash in the plan.
        wanted: String,
        /// Hash of what was given.
        got: String,
    },
    /// The CPU backend cannot start.
    #[error("backend cpu: {0}")]
    Cpu(#[from] CpuError),
    /// The render failed.
    #[error(transparent)]
    Render(#[from] RenderError),
}

/// Which backend renders, why, and how it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BackendReport {
    /// `cpu`, or the adapter's name and driver.
    pub name: String,
    /// Why this one.
    pub reason: String,
    /// Whether it is a software adapter.
    pub software: bool,
    /// Whether it renders; if not, the CPU stands in while it is rebuilt.
    pub healthy: bool,
    /// Times a lost device was rebuilt.
    pub rebuilds: u64,
    /// Times a device was lost.
    pub losses: u64,
}

/// A frame, and how it came about.
#[derive(Debug)]
pub struct Rendered {
    /// The frame.
    pub frame: Frame,
    /// Name of the backend that rendered it.
    pub backend: String,
    /// Why it was not the primary backend.
    pub fallback: Option<Fallback>,
    /// What it took.
    pub timings: Timings,
}

/// What a frame took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timings {
    /// Rendering, on whichever backend, with failed attempts.
    pub render: Duration,
}

/// Makes frames. Shared between threads.
#[derive(Debug)]
pub struct Frames {
    device: Option<Device>,
    cpu: Backend,
    reason: String,
    scenes: Resident<Prepared>,
    environments: Resident<Environment>,
    limits: RequestLimits,
}

impl Frames {
    /// Opens the backend that the settings name. *Errors*: `wgpu` without an adapter that fits.
    pub fn open(settings: &FrameSettings) -> Result<Frames, FramesError> {
        let (device, reason) = device::open(settings)?;
        tracing::info!(reason, "backend chosen");
        Ok(Frames {
            device,
            cpu: Backend::Cpu(Cpu::new(CpuOptions {
                threads: settings.threads,
                spare_frame_bytes: settings.spare_frame_bytes,
                ..CpuOptions::default()
            })?),
            reason,
            scenes: Resident::new(settings.resident_scene_bytes),
            environments: Resident::new(settings.resident_environment_bytes),
            limits: settings.limits.clone(),
        })
    }

    /// What requests may ask for.
    pub fn limits(&self) -> &RequestLimits {
        &self.limits
    }

    /// Which backend renders, why, and how it is.
    pub fn backend_report(&self) -> BackendReport {
        match &self.device {
            Some(device) => device.report(self.reason.clone()),
            None => BackendReport {
                name: self.cpu.name(),
                reason: self.reason.clone(),
                software: false,
                healthy: true,
                rebuilds: 0,
                losses: 0,
            },
        }
    }

    /// The prepared scene of this hash, if it is resident.
    pub fn resident_scene(&self, hash: &str) -> Option<Arc<Prepared>> {
        self.scenes.get(hash)
    }

    /// Prepares a scene and keeps it resident.
    pub fn prepare(&self, scene: Scene) -> Arc<Prepared> {
        let hash = scene.hash.clone();
        let prepared = Arc::new(Prepared::new(Arc::new(scene)));
        self.scenes.put(&hash, Arc::clone(&prepared), prepared.bytes());
        prepared
    }

    /// The resident scene of this hash, or the one that `load` reads, prepared. Callers that ask for the same
    /// scene at once wait for one load.
    pub fn scene<E>(&self, hash: &str, load: impl FnOnce() -> Result<Scene, E>) -> Result<Arc<Prepared>, E> {
        self.scenes.get_or_make(hash, || {
            let prepared = Prepared::new(Arc::new(load()?));
            let bytes = prepared.bytes();
            Ok((Arc::new(prepared), bytes))
        })
    }

    /// The resident environment of this hash (`studio` for the built-in one), or the one that `load` makes.
    pub fn environment<E>(
        &self,
        hash: &str,
        load: impl FnOnce() -> Result<Environment, E>,
    ) -> Result<Arc<Environment>, E> {
        self.environments.get_or_make(hash, || {
            let environment = load()?;
            let texels = environment.specular.len() + environment.background.len();
            Ok((Arc::new(environment), (texels * size_of::<[f32; 4]>()) as u64))
        })
    }

    /// Forgets a scene; frames that hold it finish.
    pub fn forget_scene(&self, hash: &str) {
        self.scenes.remove(hash);
    }

    /// Memory held by resident scenes and environments. *Units*: bytes.
    pub fn resident_bytes(&self) -> u64 {
        self.scenes.bytes() + self.environments.bytes()
    }

    /// Validates a request, resolves its flags and channels, and names the frame.
    pub fn plan(&self, request: &FrameRequest) -> Result<Plan, RequestError> {
        request::validate(request, &self.limits)?;
        let detail = || format!("no model is live on channel `{}`", request.model_channel);
        let live: Option<ModelId> = None;
        match resolve(request.neural, live) {
            Resolution::Raster | Resolution::Model(_) => Plan::raster(request, None),
            Resolution::NoModel => {
                Plan::raster(request, Some(Fallback { reason: Reason::NoModel, detail: detail() }))
            }
            Resolution::Unavailable => {
                Err(RequestError::NeuralUnavailable { reason: Reason::NoModel, detail: detail() })
            }
        }
    }

    /// Renders a plan. A device that fails is left, and the frame made on the CPU: the same bytes, and said.
    pub fn render(
        &self,
        plan: &Plan,
        scene: &Prepared,
        environment: &Environment,
        color: ColorFormat,
        cancel: &Cancel,
    ) -> Result<Rendered, FramesError> {
        check_inputs(plan, scene, environment)?;
        let job = Job { scene, environment, request: plan.request(), color, cancel };
        let start = Instant::now();
        let fallback = match self.device.as_ref().map(|device| device.render(&job)) {
            None => None,
            Some(Ok((frame, backend))) => {
                let timings = Timings { render: start.elapsed() };
                return Ok(Rendered { frame, backend, fallback: None, timings });
            }
            Some(Err(device::Failed::Fallback(fallback))) => Some(fallback),
            Some(Err(device::Failed::Render(error))) => return Err(error.into()),
        };
        if let Some(fallback) = &fallback {
            tracing::warn!(
                reason = fallback.reason.name(),
                detail = fallback.detail,
                "rendering on the cpu instead"
            );
        }
        let frame = self.cpu.render(&job)?;
        let timings = Timings { render: start.elapsed() };
        Ok(Rendered { frame, backend: self.cpu.name(), fallback, timings })
    }

    /// Takes the buffers of a frame that is encoded, for the next one. Where a device renders, the CPU's next frame is
    /// not to be expected.
    pub fn recycle(&self, frame: Frame) {
        if self.device.is_none() {
            self.cpu.recycle(frame);
        }
    }
}

fn check_inputs(plan: &Plan, scene: &Prepared, environment: &Environment) -> Result<(), FramesError> {
    let mismatch = |what, wanted: &str, got: &str| {
        if wanted == got {
            Ok(())
        } else {
            Err(FramesError::Mismatch { what, wanted: wanted.to_owned(), got: got.to_owned() })
        }
    };
    mismatch("scene", plan.scene(), &scene.scene.hash)?;
    mismatch("environment", plan.environment(), &environment.hash)
}

#[cfg(test)]
mod tests;
