//! The CPU backend: runs the passes on threads. Vertices and triangles go in chunks, pixels in tiles; results do
//! not depend on how many threads there are, nor on the instruction set. Each pass runs in a `tracing` span named
//! after it, so that whoever has a clock can time it.

mod band;
mod denormals;
mod geometry;
mod items;
mod order;
mod tile;
mod traced;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fearless_simd::Level;
#[cfg(target_arch = "x86_64")]
use fearless_simd::Simd;

use crate::accel::SceneTree;
use crate::accumulate::{self, Accumulated};
use crate::backend::Job;
use crate::draw::DrawList;
use crate::emitters::Emitters;
use crate::environment;
use crate::frame::{Color, ColorFormat, Coverage, Frame, Output, RenderError, SharedPixel};
use crate::passes::gather::{Guide, Guides};
use crate::passes::hit::Matter;
use crate::passes::light::Lights;
use crate::passes::trace::{Technique, Tracer};
use crate::pixel_light::{self, PixelLight};
use geometry::Geometry;
use tile::{Scratch, TileContext};
use traced::{TracedLight, Work};

/// Instruction sets that the passes are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstructionSet {
    /// The best of this machine.
    Best,
    /// x86-64 baseline.
    Sse2,
    /// x86-64-v3.
    Avx2,
    /// aarch64 baseline.
    Neon,
}

impl InstructionSet {
    /// All that this machine can run, best last; without [`InstructionSet::Best`].
    pub fn available() -> Vec<InstructionSet> {
        use InstructionSet::*;
        [Sse2, Avx2, Neon].into_iter().filter(|s| s.level().is_some()).collect()
    }

    /// Name for tables.
    pub fn name(self) -> &'static str {
        match self {
            InstructionSet::Best => "best",
            InstructionSet::Sse2 => "sse2",
            InstructionSet::Avx2 => "avx2",
            InstructionSet::Neon => "neon",
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn level(self) -> Option<Level> {
        let best = Level::new();
        match self {
            InstructionSet::Best => Some(best),
            InstructionSet::Sse2 => best.as_sse2().map(|s| s.level()),
            InstructionSet::Avx2 => best.as_avx2().map(|s| s.level()),
            InstructionSet::Neon => None,
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn level(self) -> Option<Level> {
        match self {
            InstructionSet::Best => Some(Level::new()),
            InstructionSet::Neon if cfg!(target_arch = "aarch64") => Some(Level::new()),
            _ => None,
        }
    }
}

/// How the CPU backend runs. None of it changes a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuOptions {
    /// Threads; 0 for one per core.
    pub threads: usize,
    /// Instruction set.
    pub instruction_set: InstructionSet,
    /// Whether the threads treat denormals as zero, as many GPUs do.
    pub denormals_flushed: bool,
    /// Largest frame whose buffers are kept for the next one. *Units*: bytes.
    pub spare_frame_bytes: usize,
}

impl Default for CpuOptions {
    fn default() -> Self {
        CpuOptions {
            threads: 0,
            instruction_set: InstructionSet::Best,
            denormals_flushed: false,
            spare_frame_bytes: 128 << 20,
        }
    }
}

/// Rust on threads.
#[derive(Debug)]
pub struct Cpu {
    pool: rayon::ThreadPool,
    level: Level,
    /// Buffers of the last frame given back.
    spare: Box<Mutex<Frame>>,
    spare_frame_bytes: usize,
}

/// Why a CPU backend cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum CpuError {
    /// The machine lacks the instruction set.
    #[error("this machine does not have {}", .0.name())]
    InstructionSet(InstructionSet),
    /// Threads could not be started.
    #[error("threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

impl Cpu {
    /// Starts the threads. *Errors*: [`CpuError`].
    pub fn new(options: CpuOptions) -> Result<Cpu, CpuError> {
        let level =
            options.instruction_set.level().ok_or(CpuError::InstructionSet(options.instruction_set))?;
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(options.threads)
            .thread_name(|k| format!("raster-{k}"))
            .start_handler(move |_| {
                if options.denormals_flushed {
                    denormals::flush();
                }
            })
            .build()?;
        Ok(Cpu { pool, level, spare: Box::default(), spare_frame_bytes: options.spare_frame_bytes })
    }

    /// Name for logs and headers.
    pub fn name(&self) -> String {
        format!("cpu ({} threads)", self.pool.current_num_threads())
    }

    /// Renders a frame. *Errors*: [`RenderError`].
    pub fn render(&self, job: &Job<'_>) -> Result<Frame, RenderError> {
        self.pool.install(|| self.render_here(job))
    }

    /// Takes the buffers of a frame that is done with: getting a large frame's memory from the system anew takes as long
    /// as filling it.
    pub fn recycle(&self, frame: Frame) {
        if frame.bytes() <= self.spare_frame_bytes {
            *lock(&self.spare) = frame;
        }
    }

    /// Traces samples of a frame whose light is traced; what other ranges find is joined by [`Accumulated::append`].
    /// *Errors*: [`RenderError`]; a frame whose light is classic.
    pub fn trace(&self, job: &Job<'_>, samples: Range<u32>) -> Result<Accumulated, RenderError> {
        self.trace_by(Technique::Both, job, samples)
    }

    /// [`Cpu::trace`] with light found in one way alone; for tests that hold the two against each other.
    #[doc(hidden)]
    pub fn trace_by(
        &self,
        technique: Technique,
        job: &Job<'_>,
        samples: Range<u32>,
    ) -> Result<Accumulated, RenderError> {
        self.pool.install(|| {
            self.with_frame(job, |frame| match frame.tracer {
                Some(mut tracer) => {
                    tracer.limits.technique = technique;
                    let work = self.work(job, &frame.context, &tracer);
                    work.accumulate(&work.guides()?, samples.clone())
                }
                None => Err(accumulate::untraced()),
            })
        })
    }

    /// The frame with the light that was traced so far. *Errors*: [`RenderError`]; a frame whose light is classic, light
    /// of another size, or none.
    pub fn resolve(&self, job: &Job<'_>, light: &Accumulated) -> Result<Frame, RenderError> {
        light.check_fits(job.request)?;
        self.pool.install(|| {
            self.with_frame(job, |frame| match &frame.tracer {
                Some(tracer) => {
                    let work = self.work(job, &frame.context, tracer);
                    self.shade_traced(job, &frame.context, tracer, &work.guides()?, light)
                }
                None => Err(accumulate::untraced()),
            })
        })
    }

    fn render_here(&self, job: &Job<'_>) -> Result<Frame, RenderError> {
        self.with_frame(job, |frame| {
            let (Some(tracer), Some(traced)) = (&frame.tracer, &job.request.lighting.traced) else {
                return self.shade(job, &frame.context);
            };
            let work = self.work(job, &frame.context, tracer);
            let guides = work.guides()?;
            let light = work.accumulate(&guides, 0..traced.samples)?;
            self.shade_traced(job, &frame.context, tracer, &guides, &light)
        })
    }

    /// Makes ready what the tiles of a frame read.
    fn with_frame<T>(
        &self,
        job: &Job<'_>,
        run: impl FnOnce(&FrameOnCpu<'_>) -> Result<T, RenderError>,
    ) -> Result<T, RenderError> {
        let list = DrawList::new(job.scene, job.environment, job.request, job.color)?;
        if job.cancel.is_cancelled() {
            return Err(RenderError::Cancelled);
        }
        let geometry = Geometry::new(self.level, job.scene, &list);
        let lighting = &job.request.lighting;
        let tree = (lighting.shadows || lighting.traced.is_some()).then(|| {
            let _span = tracing::trace_span!("raster.accel").entered();
            SceneTree::new(job.scene, &list, |instance| geometry.vertices(instance))
        });
        let [vertices, deformed] = geometry.all_vertices();
        let matter = Matter {
            instances: &list.instances,
            materials: &job.scene.materials,
            vertices,
            deformed,
            indices: &job.scene.indices,
            texels: &job.scene.texels,
        };
        let context = TileContext {
            list: &list,
            geometry: &geometry,
            materials: &job.scene.materials,
            indices: &job.scene.indices,
            texels: &job.scene.texels,
            lights: Lights {
                constants: &list.constants,
                punctual: &list.lights,
                specular: &job.environment.specular,
                dfg: environment::dfg_table(),
                sheen: environment::sheen_table(),
            },
            background: &job.environment.background,
            rays: tree.as_ref().filter(|_| lighting.traced.is_none()),
            matter,
            traced: None,
        };
        let emitters = match lighting.traced {
            Some(_) => Emitters::new(job.scene, &list, |instance| geometry.vertices(instance)),
            None => Emitters::default(),
        };
        let tracer = match (&lighting.traced, &tree) {
            (Some(traced), Some(tree)) => Some(Tracer::new(job, traced, tree, &emitters, &list, matter)),
            _ => None,
        };
        run(&FrameOnCpu { context, tracer })
    }

    fn work<'a>(&self, job: &'a Job<'_>, context: &'a TileContext<'a>, tracer: &'a Tracer<'a>) -> Work<'a> {
        Work {
            level: self.level,
            threads: self.pool.current_num_threads(),
            context,
            tracer,
            cancel: job.cancel,
            seed: job.request.seed,
        }
    }

    /// Shades with light that was traced.
    fn shade_traced(
        &self,
        job: &Job<'_>,
        context: &TileContext<'_>,
        tracer: &Tracer<'_>,
        guides: &[Guide],
        light: &Accumulated,
    ) -> Result<Frame, RenderError> {
        let pixels = PixelLight::all(light);
        let guides = Guides { width: job.request.width as usize, pixels: guides };
        let traced = TracedLight { guides, pixels: &pixels, tracer };
        let mut frame = self.shade(job, &TileContext { traced: Some(traced), ..*context })?;
        pixel_light::fill(&mut frame, &pixels);
        Ok(frame)
    }

    /// Shades tile by tile.
    fn shade(&self, job: &Job<'_>, context: &TileContext<'_>) -> Result<Frame, RenderError> {
        let mut frame = buffers(job, context.list, std::mem::take(&mut *lock(&self.spare)));
        let bands = band::bands(&mut frame);
        let shared = Mutex::new(InOrder::default());
        let waiting = Mutex::new(bands.into_iter().enumerate());
        rayon::scope(|scope| {
            for _ in 0..self.pool.current_num_threads() {
                scope.spawn(|_| {
                    let mut scratch = Scratch::default();
                    while let Some((row, mut band)) = take(&waiting) {
                        tile::band(self.level, context, job.cancel, &mut scratch, row, &mut band);
                        lock(&shared).add(row, band.into_shared());
                    }
                });
            }
        });
        if job.cancel.is_cancelled() {
            return Err(RenderError::Cancelled);
        }
        if let Some(coverage) = &mut frame.coverage {
            coverage.shared = std::mem::take(&mut lock(&shared).done);
        }
        Ok(frame)
    }
}

/// What the tiles of a frame read.
struct FrameOnCpu<'a> {
    context: TileContext<'a>,
    /// Where light is traced.
    tracer: Option<Tracer<'a>>,
}

/// Joins what bands found in their order, as soon as all before are there, so that little of it waits in memory.
#[derive(Debug, Default)]
struct InOrder {
    done: Vec<SharedPixel>,
    next: usize,
    waiting: BTreeMap<usize, Vec<SharedPixel>>,
}

impl InOrder {
    fn add(&mut self, row: usize, band: Vec<SharedPixel>) {
        self.waiting.insert(row, band);
        while let Some(band) = self.waiting.remove(&self.next) {
            self.done.extend_from_slice(&band);
            self.next += 1;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn take<I: Iterator>(queue: &Mutex<I>) -> Option<I::Item> {
    lock(queue).next()
}

/// The buffers of a frame, from `spare` where it has them. What is in them means nothing; new ones are memory that
/// nobody has touched yet, so that threads share the work of getting it.
fn buffers(job: &Job<'_>, list: &DrawList, spare: Frame) -> Frame {
    let request = job.request;
    let count = request.width as usize * request.height as usize;
    fn buffer<T: bytemuck::Zeroable + Clone>(spare: Option<Vec<T>>, count: usize) -> Vec<T> {
        spare.filter(|spare| spare.len() == count).unwrap_or_else(|| bytemuck::zeroed_vec(count))
    }
    let wants = |o: Output| request.outputs.contains(&o);
    let color = wants(Output::Color).then(|| match (job.color, spare.color) {
        (ColorFormat::Srgb8, Some(Color::Srgb8(spare))) => Color::Srgb8(buffer(Some(spare), count)),
        (ColorFormat::Srgb8, _) => Color::Srgb8(buffer(None, count)),
        (ColorFormat::Linear, Some(Color::Linear(spare))) => Color::Linear(buffer(Some(spare), count)),
        (ColorFormat::Linear, _) => Color::Linear(buffer(None, count)),
    });
    Frame {
        width: request.width,
        height: request.height,
        color,
        base: wants(Output::Base).then(|| buffer(spare.base, count)),
        depth: wants(Output::Depth).then(|| buffer(spare.depth, count)),
        motion: wants(Output::Motion).then(|| buffer(spare.motion, count)),
        normal: wants(Output::Normal).then(|| buffer(spare.normal, count)),
        albedo: wants(Output::Albedo).then(|| buffer(spare.albedo, count)),
        id: wants(Output::Id).then(|| buffer(spare.id, count)),
        irradiance: wants(Output::Irradiance).then(|| buffer(spare.irradiance, count)),
        reflectance: wants(Output::Reflectance).then(|| buffer(spare.reflectance, count)),
        emission: wants(Output::Emission).then(|| buffer(spare.emission, count)),
        hit_distance: wants(Output::HitDistance).then(|| buffer(spare.hit_distance, count)),
        variance: wants(Output::Variance).then(|| buffer(spare.variance, count)),
        motion_valid: list.motion_valid,
        coverage: wants(Output::Id).then(|| Coverage { samples: request.samples, shared: Vec::new() }),
    }
}
