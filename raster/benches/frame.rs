//! Frames per backend and scene. Scenes come from `ISOFRAME_BENCH_SCENES` (paths, `:` between), else the demo.

use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use isoframe_raster::backend::{Cancel, Job};
use isoframe_raster::cpu::{Cpu, CpuOptions, InstructionSet};
use isoframe_raster::environment::Environment;
use isoframe_raster::frame::{ColorFormat, FrameRequest, Output};
use isoframe_raster::prepared::Prepared;
use isoframe_raster::scene::{self, Limits, Source};

fn frames(criterion: &mut Criterion) {
    let paths = std::env::var("ISOFRAME_BENCH_SCENES")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../scenes/demo.glb").into());
    let environment = Environment::studio();
    for path in paths.split(':') {
        let limits = Limits::default();
        let loaded = Source::from_path(path, &limits).and_then(|s| scene::load(&s, &limits));
        let scene = match loaded {
            Ok(scene) => Prepared::new(Arc::new(scene)),
            Err(error) => {
                eprintln!("SKIPPED: {path}: {error}");
                continue;
            }
        };
        let name = std::path::Path::new(path).file_stem().map_or("scene".into(), |s| s.to_string_lossy());
        let mut group = criterion.benchmark_group(format!("raster.frame/{name}"));
        group.throughput(Throughput::Elements(1280 * 720));
        for set in [InstructionSet::Sse2, InstructionSet::Best] {
            let Ok(cpu) = Cpu::new(CpuOptions { instruction_set: set, ..CpuOptions::default() }) else {
                continue;
            };
            for (what, outputs) in [("color", vec![Output::Color]), ("all", Output::CLASSIC.to_vec())] {
                let request = FrameRequest { outputs, ..FrameRequest::default() };
                let job = Job {
                    scene: &scene,
                    environment: &environment,
                    request: &request,
                    color: ColorFormat::Srgb8,
                    cancel: &Cancel::default(),
                };
                group.bench_function(format!("cpu.{}/{what}", set.name()), |b| {
                    b.iter(|| cpu.render(&job).map(|frame| cpu.recycle(frame)));
                });
            }
        }
        group.finish();
    }
}

criterion_group!(benches, frames);
criterion_main!(benches);
