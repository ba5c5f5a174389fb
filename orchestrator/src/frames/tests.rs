//! Devices that fail on purpose, and what stays in memory.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use isoframe_raster::frame::Output;
use isoframe_raster::scene::{Limits, Source, load};

use super::device::{Opened, Renderer};
use super::*;

/// What a planted device does with its frames, in turn; then it renders.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Lost,
    Limit,
    Panic,
    Refuse,
}

/// The CPU backend under another name, with faults planted.
struct Planted {
    cpu: Cpu,
    faults: Arc<Mutex<Vec<Fault>>>,
}

impl Renderer for Planted {
    fn render(&self, job: &Job<'_>) -> Result<Frame, RenderError> {
        let fault = self.faults.lock().unwrap().pop();
        match fault {
            None => self.cpu.render(job),
            Some(Fault::Lost) => Err(RenderError::DeviceLost("unplugged".into())),
            Some(Fault::Limit) => Err(RenderError::DeviceLimit { what: "vertices", wanted: 2, got: 1 }),
            Some(Fault::Panic) => panic!("planted"),
            Some(Fault::Refuse) => Err(RenderError::Request { field: "camera", reason: "not there".into() }),
        }
    }

    fn name(&self) -> String {
        "planted".into()
    }
}

fn cpu() -> Cpu {
    Cpu::new(CpuOptions { threads: 1, ..CpuOptions::default() }).unwrap()
}

/// Frames on a planted device that opens after `failures` attempts to rebuild it.
fn planted(faults: &[Fault], failures: usize) -> Frames {
    let faults = Arc::new(Mutex::new(faults.iter().rev().copied().collect::<Vec<_>>()));
    let attempts = AtomicUsize::new(0);
    let opener = move || {
        let attempt = attempts.fetch_add(1, Ordering::SeqCst);
        if (1..=failures).contains(&attempt) {
            return Err("still gone".into());
        }
        let renderer = Arc::new(Planted { cpu: cpu(), faults: Arc::clone(&faults) });
        Ok(Opened { renderer, software: true })
    };
    let settings = FrameSettings {
        backend: BackendChoice::Cpu,
        threads: 1,
        rebuild_first_ms: 1,
        rebuild_longest_ms: 4,
        ..FrameSettings::default()
    };
    let device = Device::new(Box::new(opener), &settings).unwrap();
    Frames { device: Some(device), ..Frames::open(&settings).unwrap() }
}

struct Inputs {
    scene: Prepared,
    environment: Environment,
    request: FrameRequest,
}

fn inputs() -> Inputs {
    let gltf = r#"{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{}]}"#;
    let source = Source::from_bytes(gltf, &Limits::default()).unwrap();
    let scene = Prepared::new(Arc::new(load(&source, &Limits::default()).unwrap()));
    let environment = Environment {
        hash: crate::plan::STUDIO.into(),
        specular: vec![[0.0; 4]; 256 * 256 * 2],
        irradiance_sh: [[0.0; 4]; 9],
        background: vec![[0.0; 4]],
        background_side: 1,
        distribution: Default::default(),
    };
    let request = FrameRequest {
        scene: scene.scene.hash.clone(),
        width: 8,
        height: 8,
        outputs: vec![Output::Color, Output::Depth],
        ..FrameRequest::default()
    };
    Inputs { scene, environment, request }
}

fn render(frames: &Frames, inputs: &Inputs) -> Result<Rendered, FramesError> {
    let plan = frames.plan(&inputs.request).unwrap();
    frames.render(&plan, &inputs.scene, &inputs.environment, ColorFormat::Srgb8, &Cancel::default())
}

/// Waits for the rebuild in the background, which takes milliseconds.
fn until_healthy(frames: &Frames) {
    for _ in 0..2000 {
        if frames.backend_report().healthy {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("the device was not rebuilt");
}

#[test]
fn a_failing_device_costs_no_frame() {
    let inputs = inputs();
    let expected = render(&planted(&[], 0), &inputs).unwrap();
    assert_eq!((expected.backend.as_str(), &expected.fallback), ("planted", &None));
    for (fault, reason, losses) in [
        (Fault::Lost, Reason::DeviceLost, 1),
        (Fault::Panic, Reason::DeviceLost, 1),
        (Fault::Limit, Reason::DeviceLimit, 0),
    ] {
        let frames = planted(&[fault], 2);
        let rendered = render(&frames, &inputs).unwrap();
        assert_eq!(rendered.frame, expected.frame, "{fault:?}");
        assert_eq!(rendered.fallback.as_ref().map(|fallback| fallback.reason), Some(reason), "{fault:?}");
        assert!(rendered.backend.starts_with("cpu"), "{fault:?}: {}", rendered.backend);
        until_healthy(&frames);
        let report = frames.backend_report();
        assert_eq!((report.losses, report.rebuilds), (losses, losses), "{fault:?}");
        let again = render(&frames, &inputs).unwrap();
        assert_eq!((again.backend.as_str(), again.fallback), ("planted", None), "{fault:?}");
        assert_eq!(again.frame, expected.frame, "{fault:?}");
    }
}

#[test]
fn frames_are_made_while_the_device_is_gone() {
    let frames = planted(&[Fault::Lost], usize::MAX - 1);
    let inputs = inputs();
    for _ in 0..3 {
        let rendered = render(&frames, &inputs).unwrap();
        assert_eq!(rendered.fallback.map(|fallback| fallback.reason), Some(Reason::DeviceLost));
    }
    let report = frames.backend_report();
    assert_eq!((report.healthy, report.losses, report.rebuilds), (false, 1, 0));
}

#[test]
fn what_fails_anywhere_is_no_fallback() {
    let inputs = inputs();
    let error = render(&planted(&[Fault::Refuse], 0), &inputs).unwrap_err();
    assert!(matches!(error, FramesError::Render(RenderError::Request { field: "camera", .. })), "{error}");
    let frames = planted(&[], 0);
    let plan = frames.plan(&inputs.request).unwrap();
    let cancel = Cancel::default();
    cancel.cancel();
    let cancelled = frames.render(&plan, &inputs.scene, &inputs.environment, ColorFormat::Linear, &cancel);
    assert!(matches!(cancelled, Err(FramesError::Render(RenderError::Cancelled))));
    let other = Environment { hash: "x".into(), ..inputs.environment.clone() };
    let error = frames.render(&plan, &inputs.scene, &other, ColorFormat::Linear, &Cancel::default());
    assert!(matches!(error, Err(FramesError::Mismatch { what: "environment", .. })));
}

#[test]
fn the_cpu_may_be_asked_for() {
    let settings = FrameSettings { backend: BackendChoice::Cpu, threads: 1, ..FrameSettings::default() };
    let report = Frames::open(&settings).unwrap().backend_report();
    assert_eq!((report.name.as_str(), report.reason.as_str()), ("cpu (1 threads)", "asked for: cpu"));
    assert!(report.healthy && !report.software);
}

#[test]
fn an_adapter_that_is_not_there_is_an_error_when_it_was_asked_for() {
    let adapter = Some("no adapter has this name".to_owned());
    for backend in [BackendChoice::Wgpu, BackendChoice::Auto] {
        let settings =
            FrameSettings { backend, adapter: adapter.clone(), threads: 1, ..FrameSettings::default() };
        let error = Frames::open(&settings).unwrap_err();
        assert!(matches!(error, FramesError::Backend { backend: "wgpu", .. }), "{error}");
    }
}

#[test]
fn neural_is_resolved_and_said() {
    use isoframe_raster::frame::NeuralMode;
    let frames = planted(&[], 0);
    let request = |neural| FrameRequest { neural, ..inputs().request };
    let off = frames.plan(&request(NeuralMode::Off)).unwrap();
    let auto = frames.plan(&request(NeuralMode::Auto)).unwrap();
    assert_eq!(off.fallback(), None);
    assert_eq!(auto.fallback().map(|fallback| fallback.reason), Some(Reason::NoModel));
    assert_eq!(off.plan_id(), auto.plan_id());
    let error = frames.plan(&request(NeuralMode::Required)).unwrap_err();
    assert!(matches!(error, RequestError::NeuralUnavailable { reason: Reason::NoModel, .. }), "{error}");
}

fn numbers(limit_bytes: u64) -> Resident<u32> {
    Resident::new(limit_bytes)
}

#[test]
fn the_least_recently_used_goes_first() {
    let resident = numbers(10);
    for key in ["a", "b", "c"] {
        resident.put(key, Arc::new(1), 3);
    }
    assert_eq!(resident.bytes(), 9);
    assert!(resident.get("a").is_some());
    resident.put("d", Arc::new(1), 3);
    let held: Vec<bool> = ["a", "b", "c", "d"].map(|key| resident.get(key).is_some()).into();
    assert_eq!(held, [true, false, true, true]);
    resident.put("large", Arc::new(1), 11);
    assert!(resident.get("large").is_none(), "larger than the limit");
    resident.put("full", Arc::new(1), 10);
    assert_eq!(resident.bytes(), 10);
    resident.put("full", Arc::new(2), 4);
    assert_eq!((resident.bytes(), resident.get("full").as_deref()), (4, Some(&2)));
    resident.remove("full");
    assert_eq!(resident.bytes(), 0);
}

#[test]
fn callers_at_once_wait_for_one_load() {
    let (resident, loads) = (numbers(10), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let made = resident.get_or_make("k", || {
                    loads.fetch_add(1, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(20));
                    Ok::<_, ()>((Arc::new(7), 1))
                });
                assert_eq!(made.as_deref(), Ok(&7));
            });
        }
    });
    assert_eq!(loads.into_inner(), 1);
    // A failure is not kept.
    assert_eq!(resident.get_or_make("f", || Err("bad")), Err("bad"));
    assert_eq!(resident.get_or_make("f", || Ok::<_, ()>((Arc::new(1), 1))).as_deref(), Ok(&1));
    assert!(resident.idle());
}

#[cfg(feature = "gpu")]
mod adapters {
    use isoframe_raster::gpu::adapters;

    use super::*;

    fn settings(backend: BackendChoice, adapter: Option<String>) -> FrameSettings {
        FrameSettings { backend, adapter, threads: 1, ..FrameSettings::default() }
    }

    /// `auto` and `wgpu` take hardware only, and say so where there is none.
    #[test]
    fn software_is_never_taken_unasked() {
        let hardware = adapters().iter().any(|adapter| !adapter.software);
        let auto = Frames::open(&settings(BackendChoice::Auto, None)).unwrap().backend_report();
        assert!(!auto.software, "{auto:?}");
        assert!(auto.reason.starts_with("auto: "), "{auto:?}");
        if !hardware {
            assert!(auto.name.starts_with("cpu") && auto.reason.contains("adapter"), "{auto:?}");
            let error = Frames::open(&settings(BackendChoice::Wgpu, None)).unwrap_err();
            assert!(matches!(error, FramesError::Backend { backend: "wgpu", .. }), "{error}");
        }
    }

    /// Every adapter of this machine by its name: the CPU's bytes.
    #[test]
    fn a_named_adapter_renders_the_same_bytes() {
        let inputs = inputs();
        let expected = render(&planted(&[], 0), &inputs).unwrap().frame;
        let found: Vec<_> = adapters().into_iter().filter(|adapter| adapter.unfit.is_none()).collect();
        if found.is_empty() {
            eprintln!("SKIPPED: a_named_adapter_renders_the_same_bytes: no adapter on this machine");
        }
        for adapter in found {
            let name = format!("{}:{}", adapter.backend, adapter.name);
            let frames = match Frames::open(&settings(BackendChoice::Wgpu, Some(name.clone()))) {
                Ok(frames) => frames,
                Err(error) => {
                    assert!(error.to_string().contains("refused for exact work"), "{name}: {error}");
                    continue;
                }
            };
            let rendered = render(&frames, &inputs).unwrap();
            assert_eq!(rendered.fallback, None, "{name}");
            assert_eq!(rendered.frame, expected, "{name}");
            assert_eq!(frames.backend_report().software, adapter.software, "{name}");
            assert_eq!(rendered.backend, frames.backend_report().name);
        }
    }
}
