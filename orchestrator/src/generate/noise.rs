//! Lattice noise from an integer hash. *Source*: Perlin, "Improving Noise", SIGGRAPH 2002, for the fade curve.

use glam::DVec3;

use super::rng::mix;

fn lattice(seed: u64, x: i64, y: i64, z: i64) -> f64 {
    // Odd factors keep the cells of a scene apart; the finaliser does the rest.
    let cell = (x as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ (y as u64).wrapping_mul(0xc2b2_ae3d_27d4_eb4f)
        ^ (z as u64).wrapping_mul(0x1656_67b1_9e37_79f9);
    let hash = mix(mix(seed).wrapping_add(cell));
    (hash >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

fn fade(t: f64) -> f64 {
    t * t * t * (t * (t * 6.0 - 15.0) + 10.0)
}

fn lerp(a: f64, b: f64, t: f64) -> f64 {
    a + (b - a) * t
}

/// Value noise in 0..1; with `period`, x and y repeat after that many cells.
fn value(seed: u64, point: DVec3, period: Option<i64>) -> f64 {
    let floor = point.floor();
    let [fx, fy, fz] = (point - floor).to_array().map(fade);
    let wrap = |cell: f64| period.map_or(cell as i64, |period| (cell as i64).rem_euclid(period));
    let [x0, x1] = [wrap(floor.x), wrap(floor.x + 1.0)];
    let [y0, y1] = [wrap(floor.y), wrap(floor.y + 1.0)];
    let z0 = floor.z as i64;
    let plane = |z: i64| {
        let near = lerp(lattice(seed, x0, y0, z), lattice(seed, x1, y0, z), fx);
        let far = lerp(lattice(seed, x0, y1, z), lattice(seed, x1, y1, z), fx);
        lerp(near, far, fy)
    };
    if fz == 0.0 { plane(z0) } else { lerp(plane(z0), plane(z0 + 1), fz) }
}

/// Five octaves of value noise, in 0..1.
pub(super) fn fbm(seed: u64, point: DVec3) -> f64 {
    octaves(|octave| value(seed + octave, point * (1u64 << octave) as f64, None))
}

/// The same on a square that tiles: `u` and `v` repeat after 1, with `cells` cells in the first octave.
pub(super) fn tiled_fbm(seed: u64, u: f64, v: f64, cells: u32) -> f64 {
    octaves(|octave| {
        let period = i64::from(cells) << octave;
        value(seed + octave, DVec3::new(u * period as f64, v * period as f64, 0.0), Some(period))
    })
}

/// A random number in 0..1 that belongs to a cell of a grid.
pub(super) fn cell(seed: u64, x: i64, y: i64) -> f64 {
    lattice(seed, x, y, 0)
}

fn octaves(at: impl Fn(u64) -> f64) -> f64 {
    let mut sum = 0.0;
    let mut weight = 0.5;
    for octave in 0..5 {
        sum += weight * at(octave);
        weight *= 0.5;
    }
    // The weights sum to 31/32.
    sum * (32.0 / 31.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_in_range_continuous_and_tiles() {
        for step in 0..400 {
            let t = f64::from(step) * 0.01;
            let here = fbm(3, DVec3::new(t, 0.3, -t));
            assert!((0.0..=1.0).contains(&here));
            let next = fbm(3, DVec3::new(t + 1e-6, 0.3, -t));
            assert!((here - next).abs() < 1e-4, "a jump at {t}");
            let tiled = tiled_fbm(3, t, 0.25, 5);
            assert!((tiled - tiled_fbm(3, t + 1.0, -0.75, 5)).abs() < 1e-9);
        }
    }
}
