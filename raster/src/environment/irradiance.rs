//! Diffuse light as spherical harmonics of order 2. *Source*: Ramamoorthi and Hanrahan, An Efficient Representation
//! for Irradiance Environment Maps, 2001.
//!
//! Each pixel is a patch of constant radiance and the basis is integrated over it in closed form, so that uniform
//! light gives uniform irradiance whatever the picture's size.

use std::f64::consts::{PI, TAU};

use super::panorama::Panorama;

/// Directions on which irradiance must not be negative.
const PROBES: u32 = 2048;

/// Halvings of the range in which the damping of band 1 is sought.
const SEARCH_STEPS: u32 = 40;

/// Irradiance / pi; see [`super::Environment::irradiance_sh`].
///
/// Where a strong small light makes the series dip below zero, band 1 is damped by the largest factor that lifts it,
/// the same for all colours. With `BAND_1_LEAST` the truncated cosine lobe itself is nowhere negative, so that no
/// light needs more.
pub fn irradiance_sh(panorama: &Panorama) -> [[f32; 4]; 9] {
    let mut series = convolved(&moments(panorama));
    let factor = band_1_factor(&series);
    for coefficient in &mut series[1..4] {
        *coefficient = coefficient.map(|v| v * factor);
    }
    let mut out = [[0.0f32; 4]; 9];
    for (out, coefficient) in out.iter_mut().zip(series) {
        for c in 0..3 {
            out[c] = crate::exact::flush(coefficient[c] as f32);
        }
    }
    out
}

/// sqrt(45) / 8: the lobe is 1 + 2 f x + 5/8 (3 x^2 - 1), with x the cosine; its discriminant is 4 f^2 - 45/16.
const BAND_1_LEAST: f64 = 0.838_525_491_562_421_1;

type Series = [[f64; 3]; 9];

fn basis([x, y, z]: [f64; 3]) -> [f64; 9] {
    [1.0, y, z, x, x * y, y * z, 3.0 * z * z - 1.0, x * z, x * x - y * y]
}

/// Integrals of radiance times each basis function over the sphere.
fn moments(panorama: &Panorama) -> Series {
    let columns: Vec<Column> = (0..panorama.width).map(|x| Column::new(x, panorama.width)).collect();
    let mut sum = [[0.0; 3]; 9];
    for (row, y) in panorama.pixels.chunks_exact(panorama.width).zip(0..) {
        // Sums along the row of radiance times 1, cos, sin, cos sin, cos^2, sin^2 of the azimuth.
        let mut along = [[0.0f64; 3]; 6];
        for (pixel, column) in row.iter().zip(&columns) {
            for (sum, weight) in along.iter_mut().zip(column.integrals) {
                for c in 0..3 {
                    sum[c] += weight * f64::from(pixel[c]);
                }
            }
        }
        let [one, cos, sin, cos_sin, cos2, sin2] = along;
        let polar = Row::new(y, panorama.height);
        for c in 0..3 {
            let integrals = [
                polar.s * one[c],
                polar.sc * one[c],
                polar.ss * sin[c],
                polar.ss * cos[c],
                polar.ssc * cos[c],
                polar.ssc * sin[c],
                3.0 * polar.sss * sin2[c] - polar.s * one[c],
                polar.sss * cos_sin[c],
                polar.sss * cos2[c] - polar.scc * one[c],
            ];
            for (sum, integral) in sum.iter_mut().zip(integrals) {
                sum[c] += integral;
            }
        }
    }
    sum
}

/// Integrals over a pixel's azimuths of 1, cos, sin, cos sin, cos^2, sin^2.
struct Column {
    integrals: [f64; 6],
}

impl Column {
    fn new(x: usize, width: usize) -> Column {
        let edge = |x: usize| TAU * (x as f64 / width as f64 - 0.5);
        let (a, b) = (edge(x), edge(x + 1));
        let (cos_a, sin_a, cos_b, sin_b) = (libm::cos(a), libm::sin(a), libm::cos(b), libm::sin(b));
        let twist = 0.5 * (sin_b * cos_b - sin_a * cos_a);
        let half = 0.5 * (b - a);
        let cos_sin = 0.5 * (sin_b * sin_b - sin_a * sin_a);
        Column { integrals: [b - a, sin_b - sin_a, cos_a - cos_b, cos_sin, half + twist, half - twist] }
    }
}

/// Integrals over a pixel's polar angles t, +Y being 0, of products of s = sin t and c = cos t.
struct Row {
    s: f64,
    sc: f64,
    ss: f64,
    ssc: f64,
    sss: f64,
    scc: f64,
}

impl Row {
    fn new(y: usize, height: usize) -> Row {
        let edge = |y: usize| PI * y as f64 / height as f64;
        let (a, b) = (edge(y), edge(y + 1));
        let (ca, sa, cb, sb) = (libm::cos(a), libm::sin(a), libm::cos(b), libm::sin(b));
        let cubes = (cb * cb * cb - ca * ca * ca) / 3.0;
        Row {
            s: ca - cb,
            sc: 0.5 * (ca * ca - cb * cb),
            ss: 0.5 * ((b - a) - (sb * cb - sa * ca)),
            ssc: (sb * sb * sb - sa * sa * sa) / 3.0,
            sss: (ca - cb) + cubes,
            scc: -cubes,
        }
    }
}

/// Moments times the square of each basis function's norm and the cosine lobe's 1, 2/3, 1/4 per band.
fn convolved(moments: &Series) -> Series {
    let linear = 3.0 / (4.0 * PI) * (2.0 / 3.0);
    let product = 15.0 / (4.0 * PI) * 0.25;
    let (polar, difference) = (5.0 / (16.0 * PI) * 0.25, 15.0 / (16.0 * PI) * 0.25);
    let factor = [1.0 / (4.0 * PI), linear, linear, linear, product, product, polar, product, difference];
    std::array::from_fn(|i| moments[i].map(|moment| moment * factor[i]))
}

/// The largest factor on band 1 that leaves no probe negative.
fn band_1_factor(series: &Series) -> f64 {
    let probes: Vec<[f64; 9]> = (0..PROBES).map(|i| basis(spread(i, PROBES))).collect();
    let lifted = |factor: f64| {
        probes.iter().all(|basis| {
            (0..3).all(|c| {
                let term = |i: usize| series[i][c] * basis[i];
                let rest = term(0) + term(4) + term(5) + term(6) + term(7) + term(8);
                rest + factor * (term(1) + term(2) + term(3)) >= 0.0
            })
        })
    };
    if lifted(1.0) {
        return 1.0;
    }
    let (mut low, mut high) = (BAND_1_LEAST, 1.0);
    for _ in 0..SEARCH_STEPS {
        let middle = 0.5 * (low + high);
        if lifted(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// The i-th of n directions spread evenly: a golden-angle spiral.
fn spread(i: u32, n: u32) -> [f64; 3] {
    let y = 1.0 - (2.0 * f64::from(i) + 1.0) / f64::from(n);
    let r = (1.0 - y * y).sqrt();
    let turn = PI * (3.0 - 5.0f64.sqrt()) * f64::from(i);
    [r * libm::cos(turn), y, r * libm::sin(turn)]
}
