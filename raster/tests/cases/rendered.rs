//! Scenes rendered on the CPU, for tests that look at pixels.

pub mod traced;

use std::sync::{Arc, OnceLock};

use glam::{DMat4, DVec3};
use isoframe_raster::backend::{Backend, Cancel, Job};
use isoframe_raster::cpu::{Cpu, CpuOptions};
use isoframe_raster::environment::{Environment, LEVELS, OCTAHEDRAL_SIDE};
use isoframe_raster::frame::*;
use isoframe_raster::prepared::Prepared;
use isoframe_raster::scene::{Limits, Scene, SceneError, Source, load};
use isoframe_raster::view::moments;

/// A CPU backend of this many threads.
pub fn cpu(threads: usize) -> Backend {
    Backend::Cpu(Cpu::new(CpuOptions { threads, ..CpuOptions::default() }).expect("a CPU backend"))
}

/// No light from anywhere.
pub fn dark() -> &'static Environment {
    static DARK: OnceLock<Environment> = OnceLock::new();
    DARK.get_or_init(|| {
        let texels = (0..LEVELS).map(|level| (OCTAHEDRAL_SIDE >> level).pow(2) as usize).sum();
        Environment {
            hash: "dark".into(),
            specular: vec![[0.0; 4]; texels],
            irradiance_sh: [[0.0; 4]; 9],
            background: vec![[0.0; 4]],
            background_side: 1,
            distribution: Default::default(),
        }
    })
}

/// A file read and made ready. *Errors*: what the loader refuses.
pub fn read(file: impl Into<Vec<u8>>) -> Result<Prepared, SceneError> {
    let limits = Limits::default();
    let scene = load(&Source::from_bytes(file, &limits)?, &limits)?;
    Ok(Prepared::new(Arc::new(scene)))
}

/// A file that must load.
pub fn ready(file: impl Into<Vec<u8>>) -> Prepared {
    read(file).unwrap_or_else(|error| panic!("the scene loads: {error}"))
}

/// Renders on a backend, `color` as sRGB8.
pub fn render_on(backend: &Backend, scene: &Prepared, request: &FrameRequest) -> Frame {
    let job =
        Job { scene, environment: dark(), request, color: ColorFormat::Srgb8, cancel: &Cancel::default() };
    backend.render(&job).unwrap_or_else(|error| panic!("the frame renders: {error}"))
}

/// Renders on two threads.
pub fn render(scene: &Prepared, request: &FrameRequest) -> Frame {
    static CPU: OnceLock<Backend> = OnceLock::new();
    render_on(CPU.get_or_init(|| cpu(2)), scene, request)
}

pub fn render_scene(scene: Scene, request: &FrameRequest) -> Frame {
    render(&Prepared::new(Arc::new(scene)), request)
}

/// Every output, one sample in the middle of each pixel, no environment, colours as they are.
pub fn plain(width: u32, height: u32) -> FrameRequest {
    FrameRequest {
        width,
        height,
        samples: 1,
        outputs: Output::CLASSIC.to_vec(),
        tonemap: Tonemap::None,
        lighting: Lighting { environment: Some(false), ..Lighting::default() },
        ..FrameRequest::default()
    }
}

/// An explicit camera looking from `eye` along -Z, with a vertical field of view of 90 degrees: at distance
/// d, a unit spans height / 2 / d pixels.
pub fn facing(eye: [f64; 3]) -> CameraChoice {
    placed(DMat4::from_translation(DVec3::from_array(eye)))
}

pub fn placed(world_from_view: DMat4) -> CameraChoice {
    CameraChoice::Matrix {
        world_from_view: world_from_view.to_cols_array(),
        projection: ProjectionChoice::Perspective {
            yfov_rad: std::f64::consts::FRAC_PI_2,
            znear: Some(0.01),
            zfar: None,
        },
    }
}

/// An orthographic camera looking from `eye` along -Z.
pub fn square_on(eye: [f64; 3], metres_per_px: f64) -> CameraChoice {
    CameraChoice::Matrix {
        world_from_view: DMat4::from_translation(DVec3::from_array(eye)).to_cols_array(),
        projection: ProjectionChoice::Orthographic { metres_per_px },
    }
}

/// What one pixel shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pixel {
    pub srgb: [u8; 4],
    pub base: [f32; 4],
    pub depth: f32,
    pub motion: [f32; 2],
    pub normal: [f32; 3],
    pub albedo: [f32; 3],
    /// glTF node + 1, glTF primitive + 1.
    pub id: [u32; 2],
}

/// The pixel in column x and row y of a frame with all outputs.
pub fn pixel(frame: &Frame, x: u32, y: u32) -> Pixel {
    let at = (y * frame.width + x) as usize;
    let Some(Color::Srgb8(color)) = &frame.color else { panic!("sRGB8 was asked for") };
    fn wanted<T>(buffer: &Option<Vec<T>>) -> &[T] {
        buffer.as_deref().expect("all outputs were asked for")
    }
    Pixel {
        srgb: color[at],
        base: wanted(&frame.base)[at],
        depth: wanted(&frame.depth)[at],
        motion: wanted(&frame.motion)[at],
        normal: wanted(&frame.normal)[at],
        albedo: wanted(&frame.albedo)[at],
        id: wanted(&frame.id)[at],
    }
}

/// The pixel that a point of the world falls into.
#[track_caller]
pub fn pixel_of(scene: &Prepared, request: &FrameRequest, frame: &Frame, point_world: [f64; 3]) -> Pixel {
    let view = moments(&scene.scene, request).expect("moments").current.1;
    let (x_px, y_px, _) = view.project(point_world.into(), frame.width, frame.height).expect("in front");
    pixel(frame, x_px as u32, y_px as u32)
}

pub fn pixels(frame: &Frame) -> impl Iterator<Item = (u32, u32, Pixel)> + '_ {
    (0..frame.height).flat_map(move |y| (0..frame.width).map(move |x| (x, y, pixel(frame, x, y))))
}

/// Every value of every buffer is a number, and depth alone may be infinite.
#[track_caller]
pub fn assert_finite(frame: &Frame, name: &str) {
    for (x, y, pixel) in pixels(frame) {
        let numbers = pixel.base.iter().chain(&pixel.motion).chain(&pixel.normal).chain(&pixel.albedo);
        let finite = numbers.copied().all(f32::is_finite) && !pixel.depth.is_nan() && pixel.depth > 0.0;
        assert!(finite, "{name}: pixel {x}, {y} holds {pixel:?}");
    }
}

/// The first pixel in which two frames differ, in any output.
pub fn difference(a: &Frame, b: &Frame) -> Option<(u32, u32, Pixel, Pixel)> {
    assert_eq!((a.width, a.height), (b.width, b.height));
    let bits = |p: &Pixel| {
        let floats = [&p.base[..], &[p.depth], &p.motion, &p.normal, &p.albedo].concat();
        (p.srgb, floats.into_iter().map(f32::to_bits).collect::<Vec<_>>(), p.id)
    };
    pixels(a)
        .zip(pixels(b))
        .find(|((.., p), (.., q))| bits(p) != bits(q))
        .map(|((x, y, p), (.., q))| (x, y, p, q))
}

#[track_caller]
pub fn assert_same(a: &Frame, b: &Frame, name: &str) {
    if let Some((x, y, p, q)) = difference(a, b) {
        panic!("{name}: pixel {x}, {y} is\n{p:?}\nand\n{q:?}");
    }
    assert!(a == b, "{name}: coverage or flags differ");
}

/// Names a frame by all its bytes.
pub fn hash(frame: &Frame) -> String {
    let mut hasher = blake3::Hasher::new();
    for (.., pixel) in pixels(frame) {
        hasher.update(&pixel.srgb);
        let floats = [&pixel.base[..], &[pixel.depth], &pixel.motion, &pixel.normal, &pixel.albedo].concat();
        hasher.update(bytemuck::cast_slice(&floats));
        hasher.update(bytemuck::cast_slice(&pixel.id));
    }
    hasher.finalize().to_hex().to_string()
}
