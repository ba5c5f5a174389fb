//! The CPU backend: runs the passes on threads. Vertices and triangles go in chunks, pixels in tiles; results do
//! not depend on how many threads there are, nor on the instruction set. Each pass runs in a `tracing` span named
//! after it, so that whoever has a clock can time it.

mod denormals;
mod geometry;
mod tile;

use fearless_simd::Level;
#[cfg(target_arch = "x86_64")]
use fearless_simd::Simd;
use rayon::prelude::*;

use crate::backend::Job;
use crate::draw::DrawList;
use crate::environment;
use crate::frame::{Color, ColorFormat, Frame, IdCoverage, Output, RenderError};
use crate::passes::light::Lights;
use crate::passes::visibility::TILE_HEIGHT;
use geometry::Geometry;
use tile::{Scratch, TileContext};

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
}

impl Default for CpuOptions {
    fn default() -> Self {
        CpuOptions { threads: 0, instruction_set: InstructionSet::Best, denormals_flushed: false }
    }
}

/// Rust on threads.
#[derive(Debug)]
pub struct Cpu {
    pool: rayon::ThreadPool,
    level: Level,
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
        Ok(Cpu { pool, level })
    }

    /// Name for logs and headers.
    pub fn name(&self) -> String {
        format!("cpu ({} threads)", self.pool.current_num_threads())
    }

    /// Renders a frame. *Errors*: [`RenderError`].
    pub fn render(&self, job: &Job<'_>) -> Result<Frame, RenderError> {
        self.pool.install(|| self.render_here(job))
    }

    fn render_here(&self, job: &Job<'_>) -> Result<Frame, RenderError> {
        let list = DrawList::new(job.scene, job.environment, job.request, job.color)?;
        if job.cancel.is_cancelled() {
            return Err(RenderError::Cancelled);
        }
        let geometry = Geometry::new(self.level, job.scene, &list);
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
            },
            background: &job.environment.background,
        };
        let mut frame = empty_frame(job, &list);
        let mut bands = tile::bands(&mut frame);
        bands.par_iter_mut().with_max_len(1).enumerate().for_each_init(
            Scratch::default,
            |scratch, (row, band)| {
                tile::band(self.level, &context, job.cancel, scratch, row, band);
            },
        );
        drop(bands);
        if job.cancel.is_cancelled() { Err(RenderError::Cancelled) } else { Ok(frame) }
    }
}

/// A frame with every wanted buffer at its "nothing drawn" value.
fn empty_frame(job: &Job<'_>, list: &DrawList) -> Frame {
    let request = job.request;
    let count = request.width as usize * request.height as usize;
    let wants = |o: Output| request.outputs.contains(&o);
    Frame {
        width: request.width,
        height: request.height,
        color: wants(Output::Color).then(|| match job.color {
            ColorFormat::Srgb8 => Color::Srgb8(vec![[0; 4]; count]),
            ColorFormat::Linear => Color::Linear(vec![[0.0; 4]; count]),
        }),
        base: wants(Output::Base).then(|| vec![[0.0; 4]; count]),
        depth: wants(Output::Depth).then(|| vec![f32::INFINITY; count]),
        motion: wants(Output::Motion).then(|| vec![[0.0; 2]; count]),
        normal: wants(Output::Normal).then(|| vec![[0.0; 3]; count]),
        albedo: wants(Output::Albedo).then(|| vec![[0.0; 3]; count]),
        id: wants(Output::Id).then(|| vec![[0; 2]; count]),
        motion_valid: list.motion_valid,
        coverage: wants(Output::Id).then(|| {
            let background = IdCoverage { id: [0, 0], samples: request.samples };
            let none = IdCoverage::default();
            vec![[background, none, none, none]; count]
        }),
    }
}

/// Rows of tiles in an image.
fn tile_rows(height: u32) -> usize {
    (height as usize).div_ceil(TILE_HEIGHT)
}
