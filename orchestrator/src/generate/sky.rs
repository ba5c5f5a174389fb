//! Light from all around: a panorama for each scene that has one, as a Radiance `.hdr`.

use std::f64::consts::{PI, TAU};

use glam::DVec3;

use super::look::hsv;
use super::noise::fbm;
use super::rng::Rng;
use super::texture::Rgb;

const WIDTH: u32 = 128;
const HEIGHT: u32 = 64;

/// What is around: colours are linear radiance, about 1 where bright.
#[derive(Debug)]
struct Sky {
    zenith: Rgb,
    horizon: Rgb,
    ground: Rgb,
    /// How much of the sky is cloud, and where.
    cover: f64,
    clouds: u64,
    /// Bright discs: direction, cosine of their radius, radiance.
    discs: Vec<(DVec3, f64, Rgb)>,
}

/// A random surrounding. `sun` allows a small bright disc: scenes that have the sun as a light of their own need none.
pub(super) fn panorama(rng: &mut Rng, sun: bool) -> Vec<u8> {
    let sky = Sky::any(rng, sun);
    let mut file = format!("#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y {HEIGHT} +X {WIDTH}\n").into_bytes();
    for y in 0..HEIGHT {
        for x in 0..WIDTH {
            let polar = PI * (f64::from(y) + 0.5) / f64::from(HEIGHT);
            let (sin, cos) = libm::sincos(TAU * (f64::from(x) + 0.5) / f64::from(WIDTH));
            let (out, up) = libm::sincos(polar);
            file.extend(rgbe(sky.at(DVec3::new(sin * out, up, cos * out))));
        }
    }
    file
}

impl Sky {
    fn any(rng: &mut Rng, sun: bool) -> Sky {
        let (tint, dim) = (rng.unit(), rng.range(0.1, 0.3));
        let (zenith, horizon) = match rng.int(0, 3) {
            // Clear, hazy, evening, and the dark of a studio.
            0 => (hsv(0.59, rng.range(0.5, 0.8), 0.6), hsv(0.57, 0.2, 0.9)),
            1 => (hsv(0.6, 0.1, 0.8), hsv(0.1, 0.1, 0.9)),
            2 => (hsv(rng.range(0.6, 0.75), 0.6, 0.25), hsv(rng.range(0.02, 0.1), 0.7, 1.0)),
            _ => (hsv(tint, 0.2, dim * 0.3), hsv(tint, 0.2, dim)),
        };
        let mut discs = Vec::new();
        let direction = |rng: &mut Rng| {
            let (sin, cos) = libm::sincos(rng.range(0.0, TAU));
            let (up, out) = libm::sincos(rng.range(0.15, 1.3));
            DVec3::new(sin * out, up, cos * out)
        };
        if sun && rng.chance(0.6) {
            discs.push((direction(rng), 0.9985, super::look::white(rng.unit()).map(|value| value * 300.0)));
        }
        for _ in 0..rng.int(0, 3) {
            // Openings in the clouds, windows, softboxes.
            let (radius, radiance) = (rng.range(0.9, 0.99), rng.log_range(2.0, 12.0));
            discs.push((
                direction(rng),
                radius,
                super::look::white(rng.unit()).map(|value| value * radiance),
            ));
        }
        let ground = hsv(rng.unit(), rng.range(0.0, 0.4), rng.range(0.05, 0.35));
        Sky { zenith, horizon, ground, cover: rng.unit(), clouds: rng.bits() >> 1, discs }
    }

    fn at(&self, direction: DVec3) -> Rgb {
        let base = if direction.y < 0.0 {
            self.ground
        } else {
            let height = direction.y.sqrt();
            let cloud =
                ((fbm(self.clouds, direction * 3.0 + 5.0) + self.cover - 1.1) * 4.0).max(0.0).min(0.8);
            [0, 1, 2].map(|channel| {
                let clear = self.horizon[channel] + (self.zenith[channel] - self.horizon[channel]) * height;
                clear + (self.horizon[channel].max(0.3) - clear) * cloud
            })
        };
        self.discs.iter().fold(base, |sum, (towards, cosine, radiance)| {
            // A soft edge of a tenth of the disc.
            let inside = ((direction.dot(*towards) - cosine) / ((1.0 - cosine) * 0.2)).max(0.0).min(1.0);
            [0, 1, 2].map(|channel| sum[channel] + radiance[channel] * inside)
        })
    }
}

/// A shared exponent of eight bits. *Source*: Ward, "Real Pixels", Graphics Gems II, 1991.
fn rgbe(color: Rgb) -> [u8; 4] {
    let largest = color[0].max(color[1]).max(color[2]);
    if largest < 1e-32 {
        return [0; 4];
    }
    let (_, exponent) = libm::frexp(largest);
    let mantissa = color.map(|value| libm::ldexp(value, 8 - exponent) as u8);
    [mantissa[0], mantissa[1], mantissa[2], (exponent + 128) as u8]
}

#[cfg(test)]
mod tests {
    use isoframe_raster::environment::{Environment, EnvironmentLimits};

    use super::*;

    #[test]
    fn rgbe_keeps_eight_bits_of_the_largest() {
        for value in [1.0, 0.5, 0.999, 300.0, 1e-6] {
            let [r, _, _, e] = rgbe([value, 0.0, 0.0]);
            assert!(r >= 128);
            let back = libm::ldexp(f64::from(r), i32::from(e) - 136);
            assert!(back <= value && value - back <= value / 128.0, "{value}: {back}");
        }
        assert_eq!(rgbe([0.0; 3]), [0; 4]);
    }

    #[test]
    fn the_loader_reads_every_panorama() {
        for seed in 0..3 {
            let file = panorama(&mut Rng::new(seed), seed % 2 == 0);
            Environment::from_bytes(&file, &EnvironmentLimits::default()).expect("an environment");
        }
    }
}
