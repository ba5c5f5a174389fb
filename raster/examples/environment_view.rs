//! Writes pictures of environments and of what they do to spheres: mirror, rough metal, plastic, white diffuse.
//!
//! `cargo run --release --no-default-features -p isoframe-raster --example environment_view -- OUT_DIR [FILE.hdr ...]`

use std::path::{Path, PathBuf};
use std::time::Instant;

use isoframe_raster::environment::{
    DFG_SIDE, Environment, EnvironmentLimits, LEVELS, OCTAHEDRAL_SIDE, dfg_table, direction_of, position_of,
};

const SPHERE_PX: usize = 220;

/// Metallic, perceptual roughness, base colour.
const BALLS: [(f64, f64, [f64; 3]); 8] = [
    (1.0, 0.0, [1.0; 3]),
    (1.0, 0.15, [1.0; 3]),
    (1.0, 0.4, [1.0; 3]),
    (1.0, 0.7, [1.0; 3]),
    (1.0, 1.0, [1.0; 3]),
    (0.0, 1.0, [0.8; 3]),
    (0.0, 0.25, [0.05, 0.1, 0.6]),
    (0.0, 0.5, [0.7, 0.05, 0.03]),
];

fn main() {
    let mut args = std::env::args().skip(1);
    let out = PathBuf::from(args.next().expect("OUT_DIR"));
    std::fs::create_dir_all(&out).unwrap();
    let start = Instant::now();
    let studio = Environment::studio();
    println!("studio: {:.2} ms", start.elapsed().as_secs_f64() * 1e3);
    write(&out, "studio", &studio);
    for file in args {
        let bytes = std::fs::read(&file).unwrap();
        let start = Instant::now();
        let environment = Environment::from_bytes(&bytes, &EnvironmentLimits::default()).unwrap();
        println!(
            "{file}: {:.0} ms, background {}",
            start.elapsed().as_secs_f64() * 1e3,
            environment.background_side
        );
        write(&out, Path::new(&file).file_stem().unwrap().to_str().unwrap(), &environment);
    }
}

fn write(out: &Path, name: &str, environment: &Environment) {
    let view = View { environment };
    let rows: Vec<f64> = [
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
        [-1.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 0.0, -1.0],
        [0.0, -1.0, 0.0],
    ]
    .iter()
    .map(|&n| view.irradiance(n)[1])
    .collect();
    println!(
        "{name}: irradiance / pi (green) +Y {:.3} +Z {:.3} -X {:.3} +X {:.3} -Z {:.3} -Y {:.3}",
        rows[0], rows[1], rows[2], rows[3], rows[4], rows[5]
    );
    view.equirectangular().save(out.join(format!("{name}_around.png"))).unwrap();
    view.levels().save(out.join(format!("{name}_levels.png"))).unwrap();
    view.balls().save(out.join(format!("{name}_balls.png"))).unwrap();
}

struct View<'a> {
    environment: &'a Environment,
}

impl View<'_> {
    fn lookup(&self, texels: &[[f32; 4]], side: u32, d: [f64; 3]) -> [f64; 3] {
        let last = side as i32 - 1;
        let place = position_of(d).map(|p| (p * 0.5 + 0.5) * f64::from(side) - 0.5);
        let corner = place.map(f64::floor);
        let mut sum = [0.0; 3];
        for k in 0..4 {
            let (dx, dy) = (k & 1, k >> 1);
            let (mut x, mut y) = (corner[0] as i32 + dx, corner[1] as i32 + dy);
            let weight = |axis: usize, far: i32| {
                let f = place[axis] - corner[axis];
                if far == 1 { f } else { 1.0 - f }
            };
            let weight = weight(0, dx) * weight(1, dy);
            if x < 0 || x > last {
                (x, y) = (x.clamp(0, last), last - y);
            }
            if y < 0 || y > last {
                (x, y) = (last - x, y.clamp(0, last));
            }
            let texel = texels[(y * side as i32 + x) as usize];
            (0..3).for_each(|c| sum[c] += weight * f64::from(texel[c]));
        }
        sum
    }

    fn specular(&self, d: [f64; 3], roughness: f64) -> [f64; 3] {
        let level = roughness * (2.0 - roughness) * f64::from(LEVELS - 1);
        let low = (level as u32).min(LEVELS - 2);
        let at = |k: u32| {
            let first: u32 = (0..k).map(|k| (OCTAHEDRAL_SIDE >> k).pow(2)).sum();
            self.lookup(&self.environment.specular[first as usize..], OCTAHEDRAL_SIDE >> k, d)
        };
        let (a, b, t) = (at(low), at(low + 1), level - f64::from(low));
        std::array::from_fn(|c| a[c] + (b[c] - a[c]) * t)
    }

    fn irradiance(&self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        let basis = [1.0, y, z, x, x * y, y * z, 3.0 * z * z - 1.0, x * z, x * x - y * y];
        let sh = &self.environment.irradiance_sh;
        std::array::from_fn(|c| (0..9).map(|i| basis[i] * f64::from(sh[i][c])).sum::<f64>().max(0.0))
    }

    fn shade(&self, normal: [f64; 3], view: [f64; 3], ball: &(f64, f64, [f64; 3])) -> [f64; 3] {
        let (metallic, roughness, base) = *ball;
        let n_dot_v = dot(normal, view).clamp(1e-4, 1.0);
        let reflected: [f64; 3] = std::array::from_fn(|k| 2.0 * n_dot_v * normal[k] - view[k]);
        let [scale, bias] = dfg(n_dot_v, roughness);
        let (light, irradiance) = (self.specular(reflected, roughness), self.irradiance(normal));
        std::array::from_fn(|c| {
            let f0 = 0.04 + (base[c] - 0.04) * metallic;
            let single = f0 * scale + bias;
            let missing = 1.0 - scale - bias;
            let average = f0 + (1.0 - f0) / 21.0;
            let multiple = single * average / (1.0 - missing * average) * missing;
            let diffuse = base[c] * (1.0 - metallic) * (1.0 - single - multiple);
            single * light[c] + (multiple + diffuse) * irradiance[c]
        })
    }

    fn balls(&self) -> image::RgbImage {
        let (columns, rows) = (4, BALLS.len() / 4);
        let mut picture = image::RgbImage::new((columns * SPHERE_PX) as u32, (rows * SPHERE_PX) as u32);
        for (px, py, pixel) in picture.enumerate_pixels_mut() {
            let ball = &BALLS[py as usize / SPHERE_PX * columns + px as usize / SPHERE_PX];
            let mut sum = [0.0; 3];
            for sample in 0..9 {
                let place = |p: u32, s: u32| {
                    let local = f64::from(p % SPHERE_PX as u32) + (f64::from(s) + 0.5) / 3.0;
                    (local / SPHERE_PX as f64 * 2.0 - 1.0) * 1.08
                };
                let (x, y) = (place(px, sample % 3), -place(py, sample / 3));
                let rest = 1.0 - x * x - y * y;
                let radiance = if rest > 0.0 {
                    self.shade([x, y, rest.sqrt()], [0.0, 0.0, 1.0], ball)
                } else {
                    let d = [x * 0.35, y * 0.35, -1.0];
                    self.lookup(&self.environment.background, self.environment.background_side, d)
                };
                let shown = neutral(radiance).map(|v| v / 9.0);
                (0..3).for_each(|c| sum[c] += shown[c]);
            }
            *pixel = image::Rgb(sum.map(srgb8));
        }
        picture
    }

    fn equirectangular(&self) -> image::RgbImage {
        image::RgbImage::from_fn(1024, 512, |x, y| {
            let turn = ((f64::from(x) + 0.5) / 1024.0 - 0.5) * std::f64::consts::TAU;
            let polar = (f64::from(y) + 0.5) / 512.0 * std::f64::consts::PI;
            let d = [polar.sin() * turn.cos(), polar.cos(), polar.sin() * turn.sin()];
            let radiance = self.lookup(&self.environment.background, self.environment.background_side, d);
            image::Rgb(neutral(radiance).map(srgb8))
        })
    }

    /// All levels at one size, as they lie on the octahedron.
    fn levels(&self) -> image::RgbImage {
        image::RgbImage::from_fn(256 * LEVELS, 256, |x, y| {
            let (level, x) = (x / 256, x % 256);
            let place = |k: u32| (f64::from(k) + 0.5) / 128.0 - 1.0;
            let roughness = 1.0 - (1.0 - f64::from(level) / f64::from(LEVELS - 1)).sqrt();
            image::Rgb(neutral(self.specular(direction_of(place(x), place(y)), roughness)).map(srgb8))
        })
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn dfg(n_dot_v: f64, roughness: f64) -> [f64; 2] {
    let side = DFG_SIDE as usize;
    let place = |v: f64| (v * side as f64 - 0.5).clamp(0.0, side as f64 - 1.0);
    let (x, y) = (place(n_dot_v), place(roughness));
    let (x0, y0) = ((x as usize).min(side - 2), (y as usize).min(side - 2));
    let (fx, fy) = (x - x0 as f64, y - y0 as f64);
    let at = |x: usize, y: usize, k: usize| f64::from(dfg_table()[y * side + x][k]);
    std::array::from_fn(|k| {
        let top = at(x0, y0, k) * (1.0 - fx) + at(x0 + 1, y0, k) * fx;
        let bottom = at(x0, y0 + 1, k) * (1.0 - fx) + at(x0 + 1, y0 + 1, k) * fx;
        top * (1.0 - fy) + bottom * fy
    })
}

/// Khronos PBR Neutral.
fn neutral(color: [f64; 3]) -> [f64; 3] {
    let start = 0.8 - 0.04;
    let lowest = color[0].min(color[1]).min(color[2]);
    let offset = if lowest < 0.08 { lowest - 6.25 * lowest * lowest } else { 0.04 };
    let color = color.map(|c| c - offset);
    let peak = color[0].max(color[1]).max(color[2]);
    if peak < start {
        return color;
    }
    let d = 1.0 - start;
    let new_peak = 1.0 - d * d / (peak + d - start);
    let g = 1.0 - 1.0 / (0.15 * (peak - new_peak) + 1.0);
    color.map(|c| c * new_peak / peak * (1.0 - g) + new_peak * g)
}

fn srgb8(v: f64) -> u8 {
    let v = v.clamp(0.0, 1.0);
    let s = if v <= 0.0031308 { v * 12.92 } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 };
    (s * 255.0 + 0.5) as u8
}
