//! The built-in photo studio, made from formulas and shipped filtered.
//!
//! A grey cyclorama (floor, horizon and ceiling run into one another) with four soft boxes: key from the upper left
//! front, fill from the right, a rim strip from behind, and a box overhead. It has no colour at all, so that base
//! colours stay what they are.

use half::f16;

use super::octahedron::Octahedron;
use super::panorama::Panorama;
use super::{Environment, LEVELS, OCTAHEDRAL_SIDE, filter, irradiance};

/// One f32 per spherical-harmonic coefficient, then one half per texel of all levels; little endian.
static BAKED: &[u8] = include_bytes!("studio.bin");

const SH_BYTES: usize = 9 * 4;

pub(super) fn studio() -> Environment {
    let (sh, texels) = BAKED.split_at(SH_BYTES);
    let grey = |v: f32| [v, v, v, 0.0];
    let mut irradiance_sh = [[0.0; 4]; 9];
    for (out, &bytes) in irradiance_sh.iter_mut().zip(sh.as_chunks::<4>().0) {
        *out = grey(f32::from_le_bytes(bytes));
    }
    let texels = texels.as_chunks::<2>().0.iter();
    let specular: Vec<[f32; 4]> = texels.map(|&bytes| grey(f16::from_le_bytes(bytes).to_f32())).collect();
    let background = specular[..(OCTAHEDRAL_SIDE * OCTAHEDRAL_SIDE) as usize].to_vec();
    Environment {
        hash: "studio".into(),
        specular,
        irradiance_sh,
        background,
        background_side: OCTAHEDRAL_SIDE,
        distribution: Default::default(),
    }
}

/// The bytes of `studio.bin`, computed.
pub fn bake() -> Vec<u8> {
    let picture = Octahedron::from_fn(OCTAHEDRAL_SIDE * 2, 4, |d| [radiance(d) as f32; 3]);
    let specular = filter::prefilter(&picture);
    let sh = irradiance::irradiance_sh(&panorama());
    let texels = specular.iter().flat_map(|texel| f16::from_f32(texel[0]).to_le_bytes());
    sh.iter().flat_map(|c| c[0].to_le_bytes()).chain(texels).collect()
}

fn panorama() -> Panorama {
    const HEIGHT: usize = 256;
    let pixels = (0..HEIGHT * HEIGHT * 2).map(|i| {
        let polar = std::f64::consts::PI * ((i / (HEIGHT * 2)) as f64 + 0.5) / HEIGHT as f64;
        let turn = std::f64::consts::PI * (((i % (HEIGHT * 2)) as f64 + 0.5) / HEIGHT as f64 - 1.0);
        let flat = libm::sin(polar);
        [radiance([flat * libm::cos(turn), libm::cos(polar), flat * libm::sin(turn)]) as f32; 3]
    });
    Panorama::new(HEIGHT * 2, HEIGHT, pixels.collect())
}

/// A rectangular light seen under an angle: soft at the rim, a little brighter in the middle.
struct SoftBox {
    /// Where its middle is, any length. The object stands at the origin, the camera on +Z.
    towards: [f64; 3],
    /// Tangents of half its width and height.
    half_size: [f64; 2],
    /// Width of the soft rim, in the same measure.
    rim: f64,
    /// Radiance of its middle.
    radiance: f64,
}

const BOXES: [SoftBox; 4] = [
    SoftBox { towards: [-0.8, 0.6, 0.85], half_size: [0.46, 0.4], rim: 0.1, radiance: 5.2 },
    SoftBox { towards: [1.0, 0.22, 0.3], half_size: [0.2, 0.62], rim: 0.1, radiance: 2.6 },
    SoftBox { towards: [0.5, 0.5, -1.0], half_size: [0.62, 0.14], rim: 0.07, radiance: 4.0 },
    SoftBox { towards: [0.0, 1.0, 0.12], half_size: [0.52, 0.3], rim: 0.16, radiance: 3.0 },
];

/// Radiance from a unit direction.
fn radiance(d: [f64; 3]) -> f64 {
    BOXES.iter().fold(backdrop(d[1]), |light, soft_box| soft_box.over(light, d))
}

/// Floor, horizon and ceiling by height.
fn backdrop(y: f64) -> f64 {
    const FLOOR: f64 = 0.3;
    const HORIZON: f64 = 0.6;
    const CEILING: f64 = 0.4;
    let lower = FLOOR + (HORIZON - FLOOR) * smooth(-0.6, 0.06, y);
    lower + (CEILING - HORIZON) * smooth(0.06, 0.9, y)
}

impl SoftBox {
    fn over(&self, light: f64, d: [f64; 3]) -> f64 {
        let front = unit(self.towards);
        // A box overhead has its width along X, the others level.
        let level = if front[1] > 0.98 { [0.0, 0.0, -1.0] } else { [0.0, 1.0, 0.0] };
        let right = unit(cross(level, front));
        let up = cross(front, right);
        let depth = dot(d, front);
        if depth <= 0.05 {
            return light;
        }
        let (x, y) = (dot(d, right) / depth, dot(d, up) / depth);
        // Distance to a rectangle with round corners, negative inside.
        let round = self.rim;
        let (dx, dy) = (x.abs() - self.half_size[0] + round, y.abs() - self.half_size[1] + round);
        let (ox, oy) = (dx.max(0.0), dy.max(0.0));
        let distance = (ox * ox + oy * oy).sqrt() + dx.max(dy).min(0.0) - round;
        let cover = smooth(self.rim * 0.5, -self.rim * 0.5, distance);
        let (u, v) = (x / self.half_size[0], y / self.half_size[1]);
        let falloff = 1.0 / (1.0 + 0.25 * (u * u + v * v));
        light + (self.radiance * falloff - light) * cover
    }
}

/// 0 at `from`, 1 at `to`, without corners.
fn smooth(from: f64, to: f64, v: f64) -> f64 {
    let t = ((v - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn unit(v: [f64; 3]) -> [f64; 3] {
    let length = dot(v, v).sqrt();
    v.map(|c| c / length)
}

const _: () = assert!(OCTAHEDRAL_SIDE >> (LEVELS - 1) >= 16);
