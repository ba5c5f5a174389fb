//! What the frames are rendered on.

use std::process::{Command, Stdio};

use isoframe_raster::backend::{Backend, Cancel, Job};
use isoframe_raster::cpu::{Cpu, CpuOptions, InstructionSet};
use isoframe_raster::frame::{ColorFormat, Frame};

use super::super::exit::Failure;
use super::super::interrupt;
use super::SubjectDigests;
use super::subjects::Subject;

/// Thread counts of the matrix: none beside it, as many as two cores, an odd number beyond them.
const THREADS: [usize; 3] = [1, 2, 7];

/// A row of the table.
pub(super) struct Row {
    /// What it renders on.
    pub name: String,
    /// Whether another process renders.
    pub is_fresh_process: bool,
    make: Box<dyn Fn() -> Result<Backend, Failure>>,
}

/// Renders subjects one after another.
pub(super) trait Renders {
    /// Renders every buffer of a subject.
    fn render(&mut self, subject: &Subject) -> Result<Frame, Failure>;
}

struct On {
    backend: Backend,
    cancel: Cancel,
}

impl Renders for On {
    fn render(&mut self, subject: &Subject) -> Result<Frame, Failure> {
        let job = Job {
            scene: &subject.scene,
            environment: &subject.environment,
            request: &subject.request,
            color: ColorFormat::Srgb8,
            cancel: &self.cancel,
        };
        let frame = self.backend.render(&job);
        frame.map_err(|error| Failure::fault(format!("{}: {error}", subject.name)))
    }
}

impl Row {
    /// Opens what it renders on.
    pub(super) fn open(&self) -> Result<Box<dyn Renders>, Failure> {
        Ok(Box::new(On { backend: (self.make)()?, cancel: interrupt::cancel() }))
    }
}

fn on_cpu(options: CpuOptions) -> Row {
    let CpuOptions { threads, instruction_set, denormals_flushed, .. } = options;
    let denormals = if denormals_flushed { "flushed" } else { "kept" };
    let plural = if threads == 1 { "" } else { "s" };
    let make = move || Cpu::new(options).map(Backend::Cpu).map_err(Failure::not_here);
    Row {
        name: format!("cpu, {}, {threads} thread{plural}, denormals {denormals}", instruction_set.name()),
        is_fresh_process: false,
        make: Box::new(make),
    }
}

/// The CPU row that others are compared with: one thread, the smallest instruction set, IEEE denormals.
pub(super) fn plainest() -> Row {
    let instruction_set = InstructionSet::available().first().copied().unwrap_or(InstructionSet::Best);
    on_cpu(CpuOptions { threads: 1, instruction_set, ..CpuOptions::default() })
}

/// Every combination of threads, instruction set and denormals.
pub(super) fn cpu() -> Vec<Row> {
    let mut rows = Vec::new();
    for instruction_set in InstructionSet::available() {
        for threads in THREADS {
            for denormals_flushed in [false, true] {
                rows.push(on_cpu(CpuOptions {
                    threads,
                    instruction_set,
                    denormals_flushed,
                    ..CpuOptions::default()
                }));
            }
        }
    }
    rows
}

/// The plainest row in another process.
pub(super) fn fresh_process() -> Row {
    Row { name: "cpu, in a fresh process".into(), is_fresh_process: true, ..plainest() }
}

/// Runs this program again, and takes the hashes that it prints.
pub(super) fn in_fresh_process(scenes: &[String], size: &str) -> Result<Vec<SubjectDigests>, Failure> {
    let failed = |what: String| Failure::fault(format!("fresh process: {what}"));
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let output = Command::new(program)
        .args(["conformance", "--plainest", "--json", "--size", size])
        .args(scenes)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(output.status.to_string()));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| failed(error.to_string()))
}

/// Every adapter, or those that are named. *Errors*: a name that no adapter has.
#[cfg(feature = "gpu")]
pub(super) fn wgpu(names: &[String]) -> Result<Vec<Row>, Failure> {
    use isoframe_raster::gpu::{AdapterChoice, AdapterInfo, Gpu, GpuSettings, adapters};
    let adapters = adapters();
    if let Some(unknown) = names.iter().find(|name| !adapters.iter().any(|info| info.is_named(name))) {
        return Err(Failure::not_here(format!("--adapter {unknown}: no adapter is named so"))
            .hint("isoframe adapters"));
    }
    let wanted = |info: &AdapterInfo| names.is_empty() || names.iter().any(|name| info.is_named(name));
    let row = |info: AdapterInfo| {
        let choice = AdapterChoice::Named(format!("{}:{}", info.backend, info.name));
        let make = move || {
            let gpu = Gpu::open(&choice, GpuSettings::default()).map_err(Failure::not_here)?;
            Ok(Backend::Wgpu(Box::new(gpu)))
        };
        Row { name: info.title(), is_fresh_process: false, make: Box::new(make) }
    };
    Ok(adapters.into_iter().filter(wanted).map(row).collect())
}

#[cfg(not(feature = "gpu"))]
pub(super) fn wgpu(names: &[String]) -> Result<Vec<Row>, Failure> {
    match names {
        [] => Ok(Vec::new()),
        [name, ..] => Err(Failure::not_here(format!("--adapter {name}: this build has no wgpu backend"))),
    }
}
