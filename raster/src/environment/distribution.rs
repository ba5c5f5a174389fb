//! Where in an environment its light comes from, for sampling it in proportion. All whole numbers, so that every
//! backend draws the same texel.
//!
//! *Source*: Pharr, Jakob, Humphreys, "Physically Based Rendering", 4th edition, 2023, section 12.5.

use super::octahedron::direction_of;

/// Side of the grid that directions are drawn from, at most. *Units*: cells.
pub const DISTRIBUTION_SIDE: u32 = 512;

/// What all masses of a row, and all rows, sum to.
pub const MASS_ALL: u32 = 1 << 31;

/// Share of the mean that every cell has at least: light interpolated across a cell's edge is found too.
const FLOOR: f64 = 0.02;

/// A grid over the octahedral map, in rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Distribution {
    /// *Units*: cells.
    pub side: u32,
    /// Mass before each row, and that of all: `side + 1`.
    pub rows: Vec<u32>,
    /// Mass before each cell of its row, and that of all: `side + 1` for each row.
    pub cells: Vec<u32>,
}

impl Distribution {
    /// In proportion to luminance and solid angle of a square octahedral map; empty where it is black.
    pub fn new(texels: &[[f32; 4]], texel_side: u32) -> Distribution {
        let side = texel_side.min(DISTRIBUTION_SIDE);
        let step = texel_side / side;
        let weight = |x: u32, y: u32| {
            let mut sum = 0.0;
            for k in 0..step * step {
                let [r, g, b, _] =
                    texels[((y * step + k / step) * texel_side + x * step + k % step) as usize];
                sum += 0.2126 * f64::from(r) + 0.7152 * f64::from(g) + 0.0722 * f64::from(b);
            }
            sum * solid_angle(x, y, side)
        };
        let mut weights: Vec<f64> = (0..side * side).map(|k| weight(k % side, k / side)).collect();
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        if mean <= 0.0 {
            return Distribution::default();
        }
        let sphere = 4.0 * std::f64::consts::PI / f64::from(side * side);
        for (k, weight) in weights.iter_mut().enumerate() {
            let k = k as u32;
            *weight += FLOOR * mean * solid_angle(k % side, k / side, side) / sphere;
        }
        let mut sums = Vec::new();
        let mut cells = Vec::new();
        for row in weights.chunks_exact(side as usize) {
            sums.push(row.iter().sum());
            cells.extend(cumulative(row));
        }
        Distribution { side, rows: cumulative(&sums), cells }
    }

    /// Whether there is no light.
    pub fn is_empty(&self) -> bool {
        self.side == 0
    }
}

/// Of a cell, nearly. *Units*: steradians.
fn solid_angle(x: u32, y: u32, side: u32) -> f64 {
    let at = |k: u32| (f64::from(k) + 0.5) / f64::from(side) * 2.0 - 1.0;
    let [dx, dy, dz] = direction_of(at(x), at(y));
    // The point of the octahedron in this direction lies 1 / (|x| + |y| + |z|) from the centre.
    let inverse = dx.abs() + dy.abs() + dz.abs();
    4.0 / f64::from(side * side) * inverse * inverse * inverse
}

/// Whole masses in proportion to weights, cumulated; each at least 1.
pub(crate) fn cumulative(weights: &[f64]) -> Vec<u32> {
    let count = weights.len() as u32;
    let total: f64 = weights.iter().sum();
    let spread = f64::from(MASS_ALL - count);
    let mut before = 0.0;
    let mut out = Vec::with_capacity(weights.len() + 1);
    for (k, weight) in weights.iter().enumerate() {
        out.push((before / total * spread) as u32 + k as u32);
        before += weight;
    }
    out.push(MASS_ALL);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solid_angles_make_a_sphere() {
        let sum: f64 = (0..64 * 64).map(|k| solid_angle(k % 64, k / 64, 64)).sum();
        assert!((sum / (4.0 * std::f64::consts::PI) - 1.0).abs() < 1e-3, "{sum}");
    }

    #[test]
    fn masses_follow_the_light() {
        let side = 8u32;
        let mut texels = vec![[0.0f32; 4]; 64];
        texels[8 * 3 + 5] = [10.0, 10.0, 10.0, 0.0];
        let d = Distribution::new(&texels, side);
        let row = |y: usize| f64::from(d.rows[y + 1] - d.rows[y]) / f64::from(MASS_ALL);
        let cell =
            |y: usize, x: usize| f64::from(d.cells[y * 9 + x + 1] - d.cells[y * 9 + x]) / f64::from(MASS_ALL);
        assert!(row(3) * cell(3, 5) > 0.97, "{}", row(3) * cell(3, 5));
        assert!((0..8).all(|y| row(y) > 0.0 && (0..8).all(|x| cell(y, x) > 0.0)));
        assert!(Distribution::new(&[[0.0; 4]; 64], side).is_empty());
    }
}
