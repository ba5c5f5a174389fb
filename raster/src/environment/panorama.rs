//! An equirectangular picture of everything around.

use super::error::{EnvironmentError, EnvironmentLimits};
use super::octahedron::Octahedron;
use super::{OCTAHEDRAL_SIDE, RADIANCE_MAX, exr, hdr};

/// Largest side of the octahedral map that a picture becomes.
const OCTAHEDRON_SIDE_MAX: u32 = 1024;

/// Brightest pixel kept. Suns exceed the halves of what is stored, but not once they are averaged over a texel;
/// sums over any picture stay finite.
const PIXEL_MAX: f32 = 16_777_216.0;

/// Pictures wider than this are averaged down first: more than the octahedral map could hold.
const WIDTH_MAX: usize = 2048;

/// An equirectangular picture.
///
/// *Space*: world, +Y up: the top row is +Y, and u = atan2(z, x) / (2 pi) + 0.5, as in three.js and the Khronos
/// sample viewer. So the middle of the picture is +X, a quarter to its right +Z, a quarter to its left -Z, and the
/// left and right edges meet at -X. *Units*: linear Rec.709 radiance.
#[derive(Debug, Clone)]
pub struct Panorama {
    /// *Units*: pixels.
    pub width: usize,
    /// *Units*: pixels.
    pub height: usize,
    /// Rows from the top; finite, 0 to 2^24.
    pub pixels: Vec<[f32; 3]>,
    /// Pixels of the file that were negative, undefined, infinite or beyond 2^24.
    pub repaired_px: u64,
}

impl Panorama {
    /// Decodes a Radiance `.hdr` or OpenEXR file.
    ///
    /// *Errors*: see [`EnvironmentError`].
    pub fn from_bytes(bytes: &[u8], limits: &EnvironmentLimits) -> Result<Panorama, EnvironmentError> {
        if bytes.starts_with(b"#?") {
            hdr::decode(bytes, limits)
        } else if bytes.starts_with(&[0x76, 0x2f, 0x31, 0x01]) {
            exr::decode(bytes, limits)
        } else {
            Err(EnvironmentError::Format { magic: bytes[..bytes.len().min(8)].to_vec() })
        }
    }

    /// A picture from pixels that may hold anything. Brings them into range: what is negative or undefined becomes 0,
    /// infinity 65504 (what overflowed was most likely a half), what is beyond 2^24 becomes that.
    pub fn new(width: usize, height: usize, mut pixels: Vec<[f32; 3]>) -> Panorama {
        assert!(
            width > 0 && height > 0 && pixels.len() == width * height,
            "a picture has width x height pixels"
        );
        let mut repaired_px = 0;
        for pixel in &mut pixels {
            let repaired = pixel.map(repaired);
            repaired_px += u64::from(repaired != *pixel);
            *pixel = repaired;
        }
        Panorama { width, height, pixels, repaired_px }
    }

    /// The same picture unfolded from an octahedron: every direction averaged over its texel.
    pub fn to_octahedron(&self) -> Octahedron {
        let mut reduced = None;
        while reduced.as_ref().unwrap_or(self).width > WIDTH_MAX {
            reduced = Some(reduced.as_ref().unwrap_or(self).halved());
        }
        let even = reduced.as_ref().unwrap_or(self).evened();
        let side = (even.width as u32).next_power_of_two().clamp(OCTAHEDRAL_SIDE, OCTAHEDRON_SIDE_MAX);
        let samples = if even.width > OCTAHEDRON_SIDE_MAX as usize { 3 } else { 2 };
        Octahedron::from_fn(side, samples, |d| even.radiance(d))
    }

    /// Half the width and height, rounded down; every pixel counts by the solid angle that falls to it.
    fn halved(&self) -> Panorama {
        let height = self.height as f64;
        let columns = halving(self.width, |x| x);
        let rows = halving(self.height, |y| -libm::cos(std::f64::consts::PI * y / height));
        let mut pixels = Vec::with_capacity(columns.len() * rows.len());
        let mut line = vec![[0.0f32; 3]; self.width];
        for (y, weights) in rows.iter().enumerate() {
            line.fill([0.0; 3]);
            let above = self.pixels[y * 2 * self.width..].chunks_exact(self.width);
            for (row, &weight) in above.zip(weights) {
                line.iter_mut().zip(row).for_each(|(sum, pixel)| add(sum, pixel, weight));
            }
            pixels.extend(columns.iter().enumerate().map(|(x, weights)| {
                let mut sum = [0.0; 3];
                line[x * 2..].iter().zip(weights).for_each(|(pixel, &weight)| add(&mut sum, pixel, weight));
                sum
            }));
        }
        Panorama { width: columns.len(), height: rows.len(), pixels, repaired_px: 0 }
    }

    /// Each row averaged along itself over the width that a pixel is high: towards the poles pixels are narrow
    /// slivers, and a lookup must not miss any. Twice, which makes the tent that lookups have across rows: the sharp
    /// ends of a single box alias.
    fn evened(&self) -> Panorama {
        let mut pixels = Vec::with_capacity(self.pixels.len());
        let mut once = Vec::with_capacity(self.width);
        for (row, y) in self.pixels.chunks_exact(self.width).zip(0..) {
            let polar = std::f64::consts::PI * (f64::from(y) + 0.5) / self.height as f64;
            let reach = ((0.5 / libm::sin(polar)) as usize).min((self.width - 1) / 2);
            once.clear();
            even_row(row, reach, &mut once);
            even_row(&once, reach, &mut pixels);
        }
        Panorama { width: self.width, height: self.height, pixels, repaired_px: 0 }
    }

    /// Radiance from a unit direction, bilinear; wraps around, stops at the poles.
    fn radiance(&self, [x, y, z]: [f64; 3]) -> [f32; 3] {
        const INVERSE_PI: f32 = std::f32::consts::FRAC_1_PI;
        let u = libm::atan2f(z as f32, x as f32) * (0.5 * INVERSE_PI) + 0.5;
        let v = libm::atan2f((x * x + z * z).sqrt() as f32, y as f32) * INVERSE_PI;
        let (column, row) = (u * self.width as f32 - 0.5, v * self.height as f32 - 0.5);
        let (left, top) = (column.floor(), row.floor());
        let (fx, fy) = (column - left, row - top);
        let last = (self.width as i32 - 1, self.height as i32 - 1);
        // One pixel beyond the edge at most.
        let wrap = |i: i32| if i < 0 { last.0 } else if i > last.0 { 0 } else { i } as usize;
        let clamp = |i: i32| i.clamp(0, last.1) as usize * self.width;
        let (x0, x1) = (wrap(left as i32), wrap(left as i32 + 1));
        let (y0, y1) = (clamp(top as i32), clamp(top as i32 + 1));
        let [a, b, c, d] = [y0 + x0, y0 + x1, y1 + x0, y1 + x1].map(|i| self.pixels[i]);
        std::array::from_fn(|k| {
            let above = a[k] + (b[k] - a[k]) * fx;
            let below = c[k] + (d[k] - c[k]) * fx;
            above + (below - above) * fy
        })
    }
}

fn repaired(v: f32) -> f32 {
    if v.is_nan() {
        0.0
    } else if v == f32::INFINITY {
        RADIANCE_MAX
    } else {
        v.clamp(0.0, PIXEL_MAX)
    }
}

/// Weights of pixels 2 i, 2 i + 1 and 2 i + 2 for the i-th of half as many, which are a little wider than two where the
/// side is odd. `measure` is what lies before an edge between pixels.
fn halving(side: usize, measure: impl Fn(f64) -> f64) -> Vec<[f32; 3]> {
    let half = side / 2;
    let edge = |i: usize| (i * side) as f64 / half as f64;
    (0..half)
        .map(|i| {
            let (start, end) = (edge(i), edge(i + 1));
            let whole = measure(end) - measure(start);
            [0, 1, 2].map(|k| {
                let pixel = (i * 2 + k) as f64;
                let (a, b) = (pixel.max(start), (pixel + 1.0).min(end));
                if a < b { ((measure(b) - measure(a)) / whole) as f32 } else { 0.0 }
            })
        })
        .collect()
}

fn add(sum: &mut [f32; 3], pixel: &[f32; 3], weight: f32) {
    (0..3).for_each(|k| sum[k] += pixel[k] * weight);
}

/// Appends `row`, each pixel averaged with `reach` neighbours on either side, around the edge.
fn even_row(row: &[[f32; 3]], reach: usize, out: &mut Vec<[f32; 3]>) {
    if reach == 0 {
        out.extend_from_slice(row);
        return;
    }
    let width = row.len();
    let count = reach * 2 + 1;
    let mut sum = [0.0f64; 3];
    for i in 0..count {
        let pixel = row[(width - reach + i) % width];
        (0..3).for_each(|k| sum[k] += f64::from(pixel[k]));
    }
    for i in 0..width {
        // The running sum is in f64: its rounding stays far below the pixels' own.
        out.push(sum.map(|s| (s.max(0.0) / count as f64) as f32));
        let (enters, leaves) = (row[(i + reach + 1) % width], row[(width + i - reach) % width]);
        (0..3).for_each(|k| sum[k] += f64::from(enters[k]) - f64::from(leaves[k]));
    }
}
