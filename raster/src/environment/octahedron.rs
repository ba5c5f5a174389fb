//! The sphere unfolded into a square. *Source*: Cigolle et al., A Survey of Efficient Representations for
//! Independent Unit Vectors, 2014; with +Y in the middle and -Y in the corners.

use rayon::prelude::*;

/// Unit direction of a place in the square, both coordinates -1 to 1.
pub fn direction_of(px: f64, pz: f64) -> [f64; 3] {
    let (p, length) = on_octahedron(px, pz);
    p.map(|c| c / length)
}

/// Place of a direction (of any length but zero) in the square, both coordinates -1 to 1.
pub fn position_of([x, y, z]: [f64; 3]) -> [f64; 2] {
    let scale = 1.0 / (x.abs() + y.abs() + z.abs());
    let (x, y, z) = (x * scale, y * scale, z * scale);
    if y < 0.0 { [fold(z, x), fold(x, z)] } else { [x, z] }
}

/// 1 - |across|, with the sign of `along`.
fn fold(across: f64, along: f64) -> f64 {
    if along < 0.0 { across.abs() - 1.0 } else { 1.0 - across.abs() }
}

/// The point of the octahedron |x| + |y| + |z| = 1 at a place in the square, and its distance from the centre.
fn on_octahedron(px: f64, pz: f64) -> ([f64; 3], f64) {
    let y = 1.0 - px.abs() - pz.abs();
    let (x, z) = if y < 0.0 { (fold(pz, px), fold(px, pz)) } else { (px, pz) };
    ([x, y, z], (x * x + y * y + z * z).sqrt())
}

/// A square picture of the sphere.
#[derive(Debug, Clone)]
pub struct Octahedron {
    /// *Units*: texels.
    pub side: u32,
    /// Row-major: RGB radiance, averaged over the texel's solid angle, and that solid angle in steradians.
    pub texels: Vec<[f32; 4]>,
}

impl Octahedron {
    /// Averages `radiance` over each texel, from `samples` squared directions, each with its solid angle.
    pub fn from_fn(side: u32, samples: u32, radiance: impl Fn([f64; 3]) -> [f32; 3] + Sync) -> Octahedron {
        let mut texels = vec![[0.0; 4]; (side * side) as usize];
        // A square of area dA on the face of the octahedron at distance r is seen under dA / (sqrt(3) r^3), and the
        // map stretches the face's dA to sqrt(3) dx dz.
        let step = 2.0 / f64::from(side * samples);
        let area = step * step;
        texels.par_chunks_mut(side as usize).zip(0..side).for_each(|(row, y)| {
            for (texel, x) in row.iter_mut().zip(0u32..) {
                let mut sum = [0.0f64; 4];
                for k in 0..samples * samples {
                    let px = f64::from(x * samples + k % samples) + 0.5;
                    let pz = f64::from(y * samples + k / samples) + 0.5;
                    let (p, r) = on_octahedron(px * step - 1.0, pz * step - 1.0);
                    let solid_angle = area / (r * r * r);
                    let light = radiance(p.map(|c| c / r));
                    for c in 0..3 {
                        sum[c] += solid_angle * f64::from(light[c]);
                    }
                    sum[3] += solid_angle;
                }
                let [r, g, b, solid_angle] = sum;
                *texel = [r / solid_angle, g / solid_angle, b / solid_angle, solid_angle].map(|v| v as f32);
            }
        });
        Octahedron { side, texels }
    }

    /// The same picture at half the side, by solid angle.
    pub fn halved(&self) -> Octahedron {
        let width = self.side as usize;
        let mut texels = Vec::with_capacity(self.texels.len() / 4);
        for rows in self.texels.chunks_exact(width * 2) {
            let (top, bottom) = rows.split_at(width);
            let pairs = top.as_chunks::<2>().0.iter().zip(bottom.as_chunks::<2>().0);
            texels.extend(pairs.map(|([a, b], [c, d])| merged([a, b, c, d])));
        }
        Octahedron { side: self.side / 2, texels }
    }
}

fn merged(four: [&[f32; 4]; 4]) -> [f32; 4] {
    let solid_angle = (four[0][3] + four[1][3]) + (four[2][3] + four[3][3]);
    let mut out = [0.0, 0.0, 0.0, solid_angle];
    for c in 0..3 {
        let term = |k: usize| four[k][c] * four[k][3];
        out[c] = ((term(0) + term(1)) + (term(2) + term(3))) / solid_angle;
    }
    out
}
