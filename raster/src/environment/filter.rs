//! Specular light: the environment convolved with GGX lobes.
//!
//! N = V = R as in Karis 2013; the lobe is importance sampled on a fixed Hammersley set, and every sample reads the
//! pyramid at the level whose texels have its solid angle (Křivánek and Colbert 2008), so that no small bright light
//! is missed or makes a firefly. Weights are normalised: uniform light stays what it is.

use rayon::prelude::*;

use super::octahedron::{Octahedron, direction_of};
use super::{LEVELS, OCTAHEDRAL_SIDE, stored};

/// Samples per texel of each level after the first.
const SAMPLES: [u32; LEVELS as usize - 1] = [64, 128, 256, 512];

/// All levels of [`super::Environment::specular`], one after another.
pub fn prefilter(picture: &Octahedron) -> Vec<[f32; 4]> {
    let pyramid = Pyramid::new(picture);
    let mut finest = picture.clone();
    while finest.side > OCTAHEDRAL_SIDE {
        finest = finest.halved();
    }
    assert_eq!(
        finest.side, OCTAHEDRAL_SIDE,
        "pictures are powers of two, at least as fine as the finest level"
    );
    let mut out: Vec<[f32; 4]> = finest.texels.iter().map(|&texel| stored(texel)).collect();
    for level in 1..LEVELS {
        let lobe = Lobe::new(roughness(level), SAMPLES[level as usize - 1], pyramid.texel_area);
        let side = OCTAHEDRAL_SIDE >> level;
        let texels = (0..side * side).into_par_iter().map(|i| {
            let place = |k: u32| (f64::from(k) + 0.5) / f64::from(side) * 2.0 - 1.0;
            stored(lobe.average(&pyramid, direction_of(place(i % side), place(i / side)).map(|c| c as f32)))
        });
        out.par_extend(texels);
    }
    out
}

/// Perceptual roughness of a level; see [`LEVELS`].
fn roughness(level: u32) -> f64 {
    1.0 - (1.0 - f64::from(level) / f64::from(LEVELS - 1)).sqrt()
}

/// The picture and its halves, each with a border of what lies across the fold.
struct Pyramid {
    levels: Vec<Bordered>,
    /// Of a texel of the finest level on the octahedron's map, both sides 2.
    texel_area: f64,
}

struct Bordered {
    side: f32,
    stride: usize,
    texels: Vec<[f32; 4]>,
}

impl Pyramid {
    fn new(picture: &Octahedron) -> Pyramid {
        let mut levels = vec![Bordered::new(picture)];
        let mut next = picture.halved();
        // 4 x 4 texels still tell up from down; no lobe is wider.
        while next.side >= 4 {
            levels.push(Bordered::new(&next));
            next = next.halved();
        }
        let step = 2.0 / f64::from(picture.side);
        Pyramid { levels, texel_area: step * step }
    }

    #[inline(always)]
    fn sample(&self, at: [f32; 2], lod: f32) -> [f32; 4] {
        let lod = lod.clamp(0.0, (self.levels.len() - 1) as f32);
        let level = lod as usize;
        let blend = lod - level as f32;
        let near = self.levels[level].bilinear(at);
        let far = self.levels[(level + 1).min(self.levels.len() - 1)].bilinear(at);
        mix(near, far, blend)
    }
}

impl Bordered {
    fn new(level: &Octahedron) -> Bordered {
        let side = level.side as i32;
        let stride = level.side as usize + 2;
        let mut texels = Vec::with_capacity(stride * stride);
        for y in -1..=side {
            for x in -1..=side {
                let (x, y) = across_fold(x, y, side);
                texels.push(level.texels[(y * side + x) as usize]);
            }
        }
        Bordered { side: level.side as f32, stride, texels }
    }

    /// `at` is the place in the square, 0 to 1.
    #[inline(always)]
    fn bilinear(&self, at: [f32; 2]) -> [f32; 4] {
        // Shifted by the border, so that nothing is negative.
        let (x, y) = (at[0] * self.side + 0.5, at[1] * self.side + 0.5);
        let (x0, y0) = (x as usize, y as usize);
        let (fx, fy) = (x - x0 as f32, y - y0 as f32);
        let top = &self.texels[y0 * self.stride + x0..][..2];
        let bottom = &self.texels[(y0 + 1) * self.stride + x0..][..2];
        mix(mix(top[0], top[1], fx), mix(bottom[0], bottom[1], fx), fy)
    }
}

#[inline(always)]
fn mix(a: [f32; 4], b: [f32; 4], t: f32) -> [f32; 4] {
    std::array::from_fn(|k| a[k] + (b[k] - a[k]) * t)
}

/// A texel beyond the edge, at most one away, is its neighbour across the fold. As in `passes::light`.
fn across_fold(x: i32, y: i32, side: i32) -> (i32, i32) {
    let last = side - 1;
    let (x, y) = if x < 0 || x > last { (x.clamp(0, last), last - y) } else { (x, y) };
    if y < 0 || y > last { (last - x, y.clamp(0, last)) } else { (x, y) }
}

/// Directions about +Z to look along.
struct Lobe {
    samples: Vec<LobeSample>,
}

#[derive(Clone, Copy)]
struct LobeSample {
    direction: [f32; 3],
    /// Cosine to the normal.
    weight: f32,
    /// Level of the pyramid where the map is not stretched.
    lod: f32,
}

impl Lobe {
    fn new(roughness: f64, count: u32, texel_area: f64) -> Lobe {
        use std::f64::consts::{PI, TAU};
        let alpha = roughness * roughness;
        let spread = alpha * alpha - 1.0;
        let samples = (0..count).filter_map(|i| {
            let u = f64::from(i.reverse_bits()) / 4_294_967_296.0 + 0.5 / f64::from(count);
            let azimuth = TAU * (f64::from(i) + 0.5) / f64::from(count);
            let cos2 = (1.0 - u) / (1.0 + spread * u);
            let cos_light = 2.0 * cos2 - 1.0;
            if cos_light <= 0.0 {
                return None;
            }
            let sin_light = 2.0 * (cos2 * (1.0 - cos2)).sqrt();
            let width = spread * cos2 + 1.0;
            // GGX over 4: half vectors to light directions, where V is N.
            let density = alpha * alpha / (PI * width * width) * 0.25;
            let solid_angle = 1.0 / (f64::from(count) * density);
            Some(LobeSample {
                direction: [sin_light * libm::cos(azimuth), sin_light * libm::sin(azimuth), cos_light]
                    .map(|c| c as f32),
                weight: cos_light as f32,
                lod: (0.5 * libm::log2(solid_angle / texel_area)) as f32,
            })
        });
        Lobe { samples: samples.collect() }
    }

    fn average(&self, pyramid: &Pyramid, normal: [f32; 3]) -> [f32; 4] {
        let (tangent, bitangent) = frame(normal);
        let mut sum = [0.0f32; 4];
        let mut weights = 0.0f32;
        for sample in &self.samples {
            let [a, b, c] = sample.direction;
            let [x, y, z]: [f32; 3] =
                std::array::from_fn(|k| (tangent[k] * a + bitangent[k] * b) + normal[k] * c);
            let length = x.abs() + y.abs() + z.abs();
            let light = pyramid.sample(place(x, y, z, length), sample.lod - 1.5 * log2_to_root_3(length));
            for k in 0..3 {
                sum[k] += light[k] * sample.weight;
            }
            weights += sample.weight;
        }
        sum.map(|s| s / weights)
    }
}

/// Place in the square, 0 to 1. `length` is |x| + |y| + |z|.
#[inline(always)]
fn place(x: f32, y: f32, z: f32, length: f32) -> [f32; 2] {
    let scale = 1.0 / length;
    let (x, z) = (x * scale, z * scale);
    let signed = |v: f32, by: f32| if by < 0.0 { -v } else { v };
    let (px, pz) = if y < 0.0 { (signed(1.0 - z.abs(), x), signed(1.0 - x.abs(), z)) } else { (x, z) };
    [(px * 0.5 + 0.5).clamp(0.0, 1.0), (pz * 0.5 + 0.5).clamp(0.0, 1.0)]
}

/// log2 of 1 to sqrt(3) within 0.005: it only chooses a level.
#[inline(always)]
fn log2_to_root_3(v: f32) -> f32 {
    let t = v - 1.0;
    t * (1.378 - 0.4019 * t)
}

/// Two unit vectors square to a unit normal and to each other. *Source*: Duff et al. 2017.
fn frame([x, y, z]: [f32; 3]) -> ([f32; 3], [f32; 3]) {
    let sign = if z < 0.0 { -1.0 } else { 1.0 };
    let a = -1.0 / (sign + z);
    let b = x * y * a;
    ([1.0 + sign * x * x * a, sign * b, -sign * x], [b, sign + y * y * a, -y])
}
