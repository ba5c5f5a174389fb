//! Devices that are absent, lost, refused, too small, or used for long.
#![cfg(feature = "gpu")]

#[path = "common/adapters.rs"]
mod adapters;

use std::process::Command;
use std::sync::Arc;

use isoframe_raster::backend::{Cancel, Job};
use isoframe_raster::cpu::{Cpu, CpuOptions};
use isoframe_raster::environment::Environment;
use isoframe_raster::frame::{Color, ColorFormat, Frame, FrameRequest, Output, RenderError};
use isoframe_raster::gpu::{AdapterChoice, Fault, Gpu, GpuError, GpuSettings};
use isoframe_raster::prepared::Prepared;
use isoframe_raster::scene::{Material, Mesh, Node, Primitive, Scene};

/// Two slanted triangles and the default material.
fn scene() -> Prepared {
    let primitive = Primitive {
        position: vec![[-1.0, -1.0, 0.0], [1.0, -0.9, 0.3], [0.9, 1.0, 0.0], [-1.0, 0.8, -0.4]],
        normal: vec![[0.0, 0.0, 1.0]; 4],
        indices: vec![0, 1, 2, 0, 2, 3],
        ..Primitive::default()
    };
    Prepared::new(Arc::new(Scene {
        nodes: vec![Node { mesh: Some(0), visible: true, ..Node::default() }],
        meshes: vec![Mesh { primitives: vec![primitive], ..Mesh::default() }],
        materials: vec![Material::default()],
        ..Scene::default()
    }))
}

struct Bench {
    scene: Prepared,
    environment: Environment,
}

impl Bench {
    fn new() -> Bench {
        Bench { scene: scene(), environment: Environment::studio() }
    }

    fn with<T>(&self, request: &FrameRequest, color: ColorFormat, run: impl FnOnce(&Job<'_>) -> T) -> T {
        let (scene, environment) = (&self.scene, &self.environment);
        run(&Job { scene, environment, request, color, cancel: &Cancel::default() })
    }
}

fn request(width: u32, height: u32) -> FrameRequest {
    FrameRequest { width, height, outputs: vec![Output::Color], ..FrameRequest::default() }
}

fn same(a: &Frame, b: &Frame) -> bool {
    match (&a.color, &b.color) {
        (Some(Color::Srgb8(a)), Some(Color::Srgb8(b))) => a == b,
        (Some(Color::Linear(a)), Some(Color::Linear(b))) => {
            bytemuck::cast_slice::<_, u8>(a) == bytemuck::cast_slice::<_, u8>(b)
        }
        _ => false,
    }
}

/// Runs one ignored test of this file in a process of its own.
fn child(name: &str, environment: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().expect("this test's path"));
    command.args(["--exact", name, "--ignored", "--nocapture"]).envs(environment.iter().copied());
    let output = command.output().expect("the child starts");
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {text}");
    text
}

const HIDDEN: [(&str, &str); 3] = [
    ("VK_DRIVER_FILES", "/nonexistent"),
    ("VK_ICD_FILENAMES", "/nonexistent"),
    ("__EGL_VENDOR_LIBRARY_FILENAMES", "/nonexistent"),
];

#[test]
fn no_driver_at_all_is_an_answer() {
    child("child_without_drivers", &HIDDEN);
}

#[test]
#[ignore = "run by no_driver_at_all_is_an_answer"]
fn child_without_drivers() {
    assert_eq!(isoframe_raster::gpu::adapters(), Vec::new());
    let open = |choice| Gpu::open(&choice, GpuSettings::default()).map(|gpu| gpu.name());
    assert_eq!(open(AdapterChoice::Hardware), Err(GpuError::NoHardware { present: Vec::new() }));
    let missing = open(AdapterChoice::Named("llvmpipe".into()));
    assert_eq!(missing, Err(GpuError::NotFound { wanted: "llvmpipe".into(), present: Vec::new() }));
}

#[test]
fn software_adapters_are_opened_by_name_only() {
    for gpu in adapters::opened().iter().filter(|gpu| gpu.info().software) {
        let name = format!("{}:{}", gpu.info().backend, gpu.info().name);
        let named = Gpu::open(&AdapterChoice::Named(name), GpuSettings::default()).expect("named");
        assert_eq!(named.info(), gpu.info());
    }
    match Gpu::open(&AdapterChoice::Hardware, GpuSettings::default()) {
        Ok(gpu) => assert!(!gpu.info().software, "{}", gpu.name()),
        Err(GpuError::NoHardware { .. }) => {}
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_lost_device_is_said_and_opened_again() {
    let bench = Bench::new();
    let request = request(40, 30);
    for gpu in adapters::opened() {
        let render = || bench.with(&request, ColorFormat::Srgb8, |job| gpu.render(job));
        let whole = render().expect("a frame");
        for fault in [Fault::DeviceLost(0), Fault::OutOfMemory(0), Fault::DeviceLost(1)] {
            gpu.inject(fault);
            let results: Vec<_> = (0..3).map(|_| render()).collect();
            let lost = results.iter().filter(|r| matches!(r, Err(RenderError::DeviceLost(_)))).count();
            assert_eq!(lost, 1, "{}, {fault:?}: {results:?}", gpu.name());
            let last = results.last().expect("three frames").as_ref().expect("rebuilt");
            assert!(same(last, &whole), "{}, {fault:?}", gpu.name());
        }
    }
}

#[test]
fn pixels_are_where_they_belong_at_any_width() {
    let bench = Bench::new();
    let cpu = Cpu::new(CpuOptions::default()).expect("threads");
    for gpu in adapters::opened() {
        for width in [1, 63, 64, 65, 100, 128, 257] {
            for height in [1, 3] {
                for color in [ColorFormat::Srgb8, ColorFormat::Linear] {
                    let request = FrameRequest { outputs: Output::ALL.to_vec(), ..request(width, height) };
                    let expected = bench.with(&request, color, |job| cpu.render(job)).expect("a frame");
                    let frame = bench.with(&request, color, |job| gpu.render(job)).expect("a frame");
                    let name = gpu.name();
                    assert!(same(&frame, &expected), "{name}, {width}x{height} {color:?}");
                    assert_eq!(frame.id, expected.id, "{name}, {width}x{height}");
                    assert_eq!(frame.depth, expected.depth, "{name}, {width}x{height}");
                }
            }
        }
    }
}

#[test]
fn tall_frames_come_in_bands_of_bounded_memory() {
    let bench = Bench::new();
    let cpu = Cpu::new(CpuOptions::default()).expect("threads");
    for gpu in adapters::opened() {
        let mut held = Vec::new();
        for height in [2100, 4200] {
            let request = FrameRequest { samples: 1, ..request(1024, height) };
            let expected = bench.with(&request, ColorFormat::Srgb8, |job| cpu.render(job)).expect("a frame");
            let frame = bench.with(&request, ColorFormat::Srgb8, |job| gpu.render(job)).expect("a frame");
            assert!(same(&frame, &expected), "{}, {height}", gpu.name());
            held.push(gpu.device_bytes());
        }
        assert_eq!(held[0], held[1], "{}: memory grows with height", gpu.name());
    }
}

#[test]
fn cancelling_stops_a_frame_and_harms_no_other() {
    let bench = Bench::new();
    let request = request(40, 30);
    for gpu in adapters::opened() {
        let cancel = Cancel::default();
        cancel.cancel();
        let (scene, environment) = (&bench.scene, &bench.environment);
        let job = Job { scene, environment, request: &request, color: ColorFormat::Srgb8, cancel: &cancel };
        assert_eq!(gpu.render(&job).err(), Some(RenderError::Cancelled));
        assert!(bench.with(&request, ColorFormat::Srgb8, |job| gpu.render(job)).is_ok());
    }
}

/// Resident memory of this process. *Units*: KiB.
fn resident_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[test]
fn memory_does_not_grow_from_frame_to_frame() {
    // In a process of its own: other tests' memory is not counted.
    eprintln!("{}", child("child_renders_many_frames", &[]));
}

/// 300 frames; `ISOFRAME_SOAK_FRAMES` asks for more.
#[test]
#[ignore = "run by memory_does_not_grow_from_frame_to_frame"]
fn child_renders_many_frames() {
    let frames = std::env::var("ISOFRAME_SOAK_FRAMES").ok().and_then(|n| n.parse().ok()).unwrap_or(300u32);
    let bench = [Bench::new(), Bench::new()];
    for gpu in adapters::opened() {
        let mut before = None;
        for k in 0..frames {
            let bench = &bench[k as usize % 2];
            let size = if k % 3 == 0 { 256 } else { 128 };
            let result = bench.with(&request(size, size), ColorFormat::Srgb8, |job| gpu.render(job));
            assert!(result.is_ok(), "{}: {result:?}", gpu.name());
            if k == frames / 3 {
                before = resident_kib();
            }
        }
        let (Some(before), Some(after)) = (before, resident_kib()) else {
            eprintln!("SKIPPED: no /proc/self/status to read memory from");
            continue;
        };
        // Allocators keep some slack; a leak of one frame's buffers each would be hundreds of MiB.
        let grown = after.saturating_sub(before);
        eprintln!("{}: {grown} KiB more after {} frames", gpu.name(), frames - frames / 3);
        assert!(grown < 16 * 1024, "{}: {before} KiB became {after} KiB", gpu.name());
    }
}
