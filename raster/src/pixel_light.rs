//! The mean of what was traced for each pixel.

use rayon::prelude::*;

use crate::accumulate::{Accumulated, Sums};
use crate::exact::flush;
use crate::frame::Frame;
use crate::passes::vector::Vector;

/// Mean light of a pixel.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PixelLight {
    /// Divided by reflectance.
    pub diffuse: Vector,
    /// Divided by reflectance.
    pub specular: Vector,
    /// Of layers, and of fragments that no pixel's light is for.
    pub extra: Vector,
    /// To what paths met first.
    pub distance: f32,
    /// Of the luminance of one sample's diffuse and specular light.
    pub variance: [f32; 2],
}

impl PixelLight {
    /// Of sums over samples, each of which counts `share`.
    pub fn new(sums: &Sums, share: f32) -> PixelLight {
        let mean = sums.map(|v| flush(v * share));
        let luminance = |k: usize| mean[k] * 0.2126 + mean[k + 1] * 0.7152 + mean[k + 2] * 0.0722;
        let variance = |k: usize, squares: f32| flush((squares - luminance(k) * luminance(k)).max(0.0));
        PixelLight {
            diffuse: Vector::new([mean[0], mean[1], mean[2]]),
            specular: Vector::new([mean[3], mean[4], mean[5]]),
            extra: Vector::new([mean[6], mean[7], mean[8]]),
            distance: mean[9],
            variance: [variance(0, mean[10]), variance(3, mean[11])],
        }
    }

    /// Of all pixels.
    pub fn all(light: &Accumulated) -> Vec<PixelLight> {
        let share = (1.0 / f64::from(light.count())) as f32;
        let pixel = |k| PixelLight::new(&light.sums(k), share);
        (0..light.pixel_count()).into_par_iter().map(pixel).collect()
    }
}

/// Fills the outputs that hold a pixel's light as it is.
pub fn fill(frame: &mut Frame, pixels: &[PixelLight]) {
    fn each<T>(buffer: &mut Option<Vec<T>>, pixels: &[PixelLight], value: impl Fn(&PixelLight) -> T) {
        if let Some(buffer) = buffer {
            buffer.iter_mut().zip(pixels).for_each(|(out, pixel)| *out = value(pixel));
        }
    }
    each(&mut frame.irradiance, pixels, |p| {
        let ([a, b, c], [d, e, f]) = (p.diffuse.array(), p.specular.array());
        [a, b, c, d, e, f]
    });
    each(&mut frame.hit_distance, pixels, |p| p.distance);
    each(&mut frame.variance, pixels, |p| p.variance);
}
