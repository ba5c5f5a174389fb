//! Files per format, of a frame of 1280x720 with everything in it. The scene comes from
//! `ISOFRAME_BENCH_SCENE`, else the demo.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use isoframe::encode::{EncodeOptions, Format, Selection, color_format, encode};
use isoframe::frames::{BackendChoice, FrameSettings, Frames};
use isoframe_raster::backend::Cancel;
use isoframe_raster::environment::Environment;
use isoframe_raster::frame::{FrameRequest, Output};
use isoframe_raster::scene::{self, Limits, Source};

fn files(criterion: &mut Criterion) {
    let path = std::env::var("ISOFRAME_BENCH_SCENE")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../scenes/demo.glb").into());
    let limits = Limits::default();
    let scene = match Source::from_path(&path, &limits).and_then(|source| scene::load(&source, &limits)) {
        Ok(scene) => scene,
        Err(error) => return eprintln!("SKIPPED: {path}: {error}"),
    };
    let settings = FrameSettings { backend: BackendChoice::Cpu, ..FrameSettings::default() };
    let frames = Frames::open(&settings).expect("the CPU is always there");
    let (scene, environment) = (frames.prepare(scene), Environment::studio());
    let request = FrameRequest {
        scene: scene.scene.hash.clone(),
        outputs: Output::CLASSIC.to_vec(),
        previous_time_s: Some(0.0),
        ..FrameRequest::default()
    };
    let plan = frames.plan(&request).expect("a valid request");
    let options = EncodeOptions { scene: Some(&scene.scene) };
    let mut group = criterion.benchmark_group("encode");
    group.throughput(Throughput::Elements(1280 * 720)).sample_size(10);
    let one = |format| (format, Selection::One(Output::Color));
    for (format, selection) in [
        one(Format::Png8),
        one(Format::Png16),
        one(Format::Webp),
        one(Format::Jpeg { quality: 90 }),
        one(Format::ExrHalf),
        (Format::Png16, Selection::One(Output::Depth)),
        (Format::ExrHalf, Selection::Layers),
    ] {
        let color = color_format(format);
        let rendered = frames.render(&plan, &scene, &environment, color, &Cancel::default());
        let frame = rendered.expect("the demo renders").frame;
        let write = || encode(&frame, &plan, format, selection, &options).expect("the frame fits");
        let what = match selection {
            Selection::One(output) => output.name(),
            Selection::Layers => "layers",
        };
        println!("{format}/{what}: {} bytes", write().bytes.len());
        group.bench_function(format!("{format}/{what}"), |bencher| bencher.iter(write));
    }
    group.finish();
}

criterion_group!(benches, files);
criterion_main!(benches);
