//! What a device keeps from frame to frame, and what a frame is made ready with.

use super::GpuSettings;
use super::buffers::{Pool, uniform};
use super::capacity::Capacities;
use super::device::Device;
use super::features::{Features, feature};
use super::layout;
use super::lists::{List, ListPool};
use super::record::{Pipelines, Recorder};
use super::render::{FrameOnDevice, Kept};
use super::resident::{Loaded, Needs, Residents};
use super::traced::{Tracing, emitter_parts};
use crate::accel::SceneTree;
use crate::backend::Job;
use crate::draw::{DrawList, Instance, instance_flags};
use crate::emitters::Emitters;
use crate::frame::RenderError;
use crate::passes::deform;
use crate::passes::trace::is_sky_lit;

/// Global triangle ids that leave room for the piece of a clipped one.
const TRIANGLES_MAX: u32 = u32::MAX / layout::PIECES + 1;

/// What a device keeps from frame to frame.
#[derive(Debug, Default)]
pub(crate) struct State {
    residents: Residents,
    pool: Pool,
    lists: ListPool,
    pipelines: Pipelines,
    capacities: Capacities,
    edits: Vec<(String, String)>,
}

impl State {
    /// Replaces text in all shaders that are compiled from now on.
    pub fn edit(&mut self, edits: Vec<(String, String)>) {
        self.edits = edits;
        self.pipelines.clear();
    }

    /// Memory held on the device. *Units*: bytes.
    pub fn bytes(&self) -> u64 {
        self.pool.bytes() + self.lists.bytes() + self.residents.bytes()
    }

    /// Makes ready what the passes of a frame read, and runs them.
    pub fn with_frame<T>(
        &mut self,
        device: &Device,
        settings: GpuSettings,
        job: &Job<'_>,
        run: impl FnOnce(&mut FrameOnDevice<'_>) -> Result<T, RenderError>,
    ) -> Result<T, RenderError> {
        let mut list = DrawList::new(job.scene, job.environment, job.request, job.color)?;
        if list.triangle_count >= TRIANGLES_MAX {
            let wanted = u64::from(list.triangle_count);
            return Err(RenderError::DeviceLimit {
                what: "triangles",
                wanted,
                got: u64::from(TRIANGLES_MAX),
            });
        }
        let mut features = Features::of(&list, &job.scene.materials, &job.request.lighting);
        let traced = job.request.lighting.traced.filter(|_| features.has(feature::TRACED));
        let RayScene { tree, emitters } = RayScene::new(job, &list, features);
        if traced.is_some() {
            features = features.with(feature::SKY, is_sky_lit(&list, job.environment));
            features = features.with(feature::EMITTERS, !emitters.is_empty());
        }
        for instance in &mut list.instances {
            if instance.flags & instance_flags::DEFORMED != 0 {
                instance.first_vertex += job.scene.vertices.len() as u32;
            }
        }
        let needs = Needs { tree: tree.as_ref(), distribution: features.has(feature::SKY) };
        let limit_bytes = settings.resident_bytes;
        let Loaded { scene, lights, trees } =
            self.residents.load(device, job.scene, job.environment, &list, needs, limit_bytes)?;
        lights.write_lights(device, &list.lights);
        let recorder = Recorder {
            device,
            list: &list,
            features,
            scene,
            lights,
            pipelines: &mut self.pipelines,
            edits: &self.edits,
            trees,
            emitters: List::upload(device, "emitters", &emitter_parts(&emitters))?,
            constants: uniform(device, "constants", &list.constants),
        };
        let tracing = traced.map(|traced| Tracing::new(job, &traced, &emitters)).unwrap_or_default();
        let mut frame = FrameOnDevice::new(
            device,
            job,
            recorder,
            Kept { pool: &mut self.pool, lists: &mut self.lists, capacities: &mut self.capacities },
            tracing,
        )?;
        let result = run(&mut frame);
        if self.pool.bytes() + self.lists.bytes() > settings.scratch_bytes {
            self.pool.clear();
            self.lists.clear();
            self.capacities = Capacities::default();
        }
        result
    }
}

/// What the rays of a frame meet, and which triangles shine on it.
struct RayScene {
    tree: Option<SceneTree>,
    emitters: Emitters,
}

impl RayScene {
    /// The host deforms for it what the device deforms to draw: a tree is built of it.
    fn new(job: &Job<'_>, list: &DrawList, features: Features) -> RayScene {
        let traced = features.has(feature::TRACED);
        if !traced && !features.has(feature::SHADOWS) {
            return RayScene { tree: None, emitters: Emitters::default() };
        }
        let deformed = deform::all(job.scene, list, 0);
        let vertices = |instance: &Instance| instance.vertices(&job.scene.vertices, &deformed);
        let emitters = if traced { Emitters::new(job.scene, list, vertices) } else { Emitters::default() };
        RayScene { tree: Some(SceneTree::new(job.scene, list, vertices)), emitters }
    }
}
