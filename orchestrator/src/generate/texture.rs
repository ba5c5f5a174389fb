//! Images of patterns, and the PNG files that hold them.

use super::GenerateError;
use super::pattern::{Pattern, Texel};
use super::rng::Rng;

/// Rows from the top, 3 or 4 bytes a pixel.
#[derive(Debug)]
pub(super) struct Picture {
    side: u32,
    channels: u32,
    bytes: Vec<u8>,
}

/// A colour: linear where it is a factor, sRGB-encoded where it is painted into a picture.
pub(super) type Rgb = [f64; 3];

fn byte(value: f64) -> u8 {
    (value.max(0.0).min(1.0) * 255.0 + 0.5) as u8
}

impl Picture {
    fn of<const N: usize>(side: u32, at: impl Fn(u32, u32) -> [f64; N]) -> Picture {
        let mut bytes = Vec::with_capacity((side * side) as usize * N);
        for y in 0..side {
            for x in 0..side {
                bytes.extend(at(x, y).map(byte));
            }
        }
        Picture { side, channels: N as u32, bytes }
    }

    /// The file; see `encode::png` for why these settings give the same bytes anywhere.
    pub(super) fn png(&self) -> Result<Vec<u8>, GenerateError> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.side, self.side);
        encoder.set_color(if self.channels == 4 { png::ColorType::Rgba } else { png::ColorType::Rgb });
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Fast);
        encoder.set_filter(png::Filter::Paeth);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.bytes)?;
        writer.finish()?;
        Ok(bytes)
    }
}

/// A pattern sampled once, from which all maps of a material are made.
pub(super) struct Sampled {
    side: u32,
    texels: Vec<Texel>,
}

impl Sampled {
    pub(super) fn new(pattern: Pattern, seed: u64, side: u32) -> Sampled {
        let at = |index: u32| (f64::from(index) + 0.5) / f64::from(side);
        let texels = (0..side * side).map(|index| pattern.at(seed, at(index % side), at(index / side)));
        Sampled { side, texels: texels.collect() }
    }

    fn at(&self, x: u32, y: u32) -> Texel {
        self.texels[((y % self.side) * self.side + x % self.side) as usize]
    }

    /// Between two sRGB-encoded colours.
    pub(super) fn color(&self, low: Rgb, high: Rgb) -> Picture {
        Picture::of(self.side, |x, y| {
            let mix = self.at(x, y).mix.max(0.0).min(1.0);
            [0, 1, 2].map(|channel| low[channel] + (high[channel] - low[channel]) * mix)
        })
    }

    /// Roughness in green, full metal in blue: factors say how much of each.
    pub(super) fn roughness(&self) -> Picture {
        Picture::of(self.side, |x, y| [1.0, self.at(x, y).rough, 1.0])
    }

    /// Tangent-space normals, +Y up, of heights that rise by `relief` of the picture's side.
    pub(super) fn normals(&self, relief: f64) -> Picture {
        let scale = relief * f64::from(self.side) * 0.5;
        let before = self.side - 1;
        Picture::of(self.side, |x, y| {
            let across = (self.at(x + 1, y).height - self.at(x + before, y).height) * scale;
            // Rows run down, the tangent-space y axis up.
            let up = (self.at(x, y + before).height - self.at(x, y + 1).height) * scale;
            let length = (across * across + up * up + 1.0).sqrt();
            [-across / length, -up / length, 1.0 / length].map(|value| value * 0.5 + 0.5)
        })
    }
}

/// What a MASK or BLEND texture leaves of its square.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cutout {
    Leaf,
    Fern,
    ChainLink,
    Pickets,
    Decal,
}

/// A picture with alpha, in shades of a colour.
pub(super) fn cutout(cutout: Cutout, rng: &mut Rng, side: u32, color: Rgb) -> Picture {
    let seed = rng.bits();
    let (lobes, tilt) = (f64::from(rng.int(5, 9)), rng.range(0.3, 0.9));
    let grain = Sampled::new(Pattern::Noise { cells: 6 }, seed, side);
    Picture::of(side, |x, y| {
        let [u, v] = [x, y].map(|at| (f64::from(at) + 0.5) / f64::from(side) * 2.0 - 1.0);
        let alpha = match cutout {
            Cutout::Leaf => inside(0.62 * (1.0 - v * v) - u.abs() + 0.04 * libm::sin(v * 40.0)),
            Cutout::Fern => {
                let spread = 0.95 * (1.0 - v * v);
                let finger = libm::sin((v - u.abs() * tilt) * lobes * 3.0);
                inside((spread - u.abs()).min(0.3 * (finger + 0.65)).max(0.07 - u.abs()))
            }
            Cutout::ChainLink => {
                let near = |at: f64| (at - at.floor() - 0.5).abs();
                inside(0.13 - near((u + v) * 4.0).min(near((u - v) * 4.0)))
            }
            Cutout::Pickets => {
                let across = (u * 4.0 - (u * 4.0).floor() - 0.5).abs();
                let tip = v + 0.95 - across * 0.5;
                inside((0.36 - across).min(tip).max((0.07 - ((v + 0.4).abs()).min((v - 0.6).abs())) * 2.0))
            }
            Cutout::Decal => {
                let (sin, cos) = (u * lobes, v * lobes);
                let ragged = 0.12 * libm::sin(sin * 1.7 + 1.0) * libm::sin(cos * 1.3);
                ((0.85 + ragged - (u * u + v * v).sqrt()) * 6.0).max(0.0).min(0.9)
            }
        };
        let shade = 0.65 + 0.5 * grain.at(x, y).mix;
        [color[0] * shade, color[1] * shade, color[2] * shade, alpha]
    })
}

/// A soft edge, so that mip levels keep the outline.
fn inside(depth: f64) -> f64 {
    (depth * 24.0 + 0.5).max(0.0).min(1.0)
}
