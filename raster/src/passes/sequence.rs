//! Sequence: the numbers that light is sampled by. Integers, so that the noise is exact. Twin:
//! `shaders/sequence.wgsl`.
//!
//! Each decision along a path takes a pair from the first two dimensions of Sobol's sequence, shuffled and scrambled
//! anew for each pixel and decision, so that pairs are well spread and independent of one another.
//! *Source*: Burley, "Practical hash-based Owen scrambling", 2020; Laine, Karras 2011; Vegdahl's constants.

/// 2^-24.
pub const UNIT: f32 = 1.0 / 16_777_216.0;

/// Factors of [`mix`].
pub const MIX_FIRST: u32 = 0x7FEB_352D;
/// See [`MIX_FIRST`].
pub const MIX_SECOND: u32 = 0x846C_A68B;
/// Of [`join`]: 2^32 over the golden ratio, and the next 32 bits of that quotient.
pub const JOIN_FACTOR: u32 = 0x9E37_79B9;
/// See [`JOIN_FACTOR`].
pub const JOIN_OFFSET: u32 = 0x7F4A_7C15;
/// Even factors of the scrambling: Vegdahl's.
pub const SCRAMBLE_FIRST: u32 = 0x3D20_ADEA;
/// See [`SCRAMBLE_FIRST`].
pub const SCRAMBLE_SECOND: u32 = 0x0552_6C56;
/// See [`SCRAMBLE_FIRST`].
pub const SCRAMBLE_THIRD: u32 = 0x53A2_2864;
/// Set the scrambling of both numbers of a pair apart.
pub const SALT_FIRST: u32 = 0xA511_E9B3;
/// See [`SALT_FIRST`].
pub const SALT_SECOND: u32 = 0x63D8_3595;

/// What a decision is for; each vertex of a path has its own.
#[allow(missing_docs)]
pub mod decision {
    /// Which light, and its own second number.
    pub const LIGHT: u32 = 0;
    /// Where on it.
    pub const LIGHT_POINT: u32 = 1;
    /// Which lobe, and whether the path goes on.
    pub const LOBE: u32 = 2;
    /// Where the lobe sends the path.
    pub const DIRECTION: u32 = 3;
    /// The environment, where a vertex samples it beside a light.
    pub const ENVIRONMENT: u32 = 4;
    pub const ENVIRONMENT_POINT: u32 = 5;
    /// Opacity of what a shadow ray passes.
    pub const OPACITY: u32 = 6;
    /// Decisions of a vertex.
    pub const COUNT: u32 = 8;
}

/// Where a path gets its numbers.
#[derive(Debug, Clone, Copy)]
pub struct Sequence {
    /// Number of the sample.
    pub sample: u32,
    /// Hash of pixel and seed.
    pub key: u32,
}

/// Mixes bits: each bit of the result depends on all. *Source*: Wellons, "lowbias32".
#[inline(always)]
pub fn mix(x: u32) -> u32 {
    let x = (x ^ x >> 16).wrapping_mul(MIX_FIRST);
    let x = (x ^ x >> 15).wrapping_mul(MIX_SECOND);
    x ^ x >> 16
}

/// Mixes two numbers into one.
#[inline(always)]
pub fn join(a: u32, b: u32) -> u32 {
    mix(a ^ b.wrapping_mul(JOIN_FACTOR).wrapping_add(JOIN_OFFSET))
}

/// Owen scrambling of the bits of x, from the lowest up: a bit is flipped by a hash of those below it.
#[inline(always)]
fn scramble_from_low(x: u32, seed: u32) -> u32 {
    let x = x ^ x.wrapping_mul(SCRAMBLE_FIRST);
    let x = x.wrapping_add(seed);
    let x = x.wrapping_mul(seed >> 16 | 1);
    let x = x ^ x.wrapping_mul(SCRAMBLE_SECOND);
    x ^ x.wrapping_mul(SCRAMBLE_THIRD)
}

/// The second dimension of Sobol's sequence at index i, bits reversed: Pascal's triangle modulo 2, by doubling.
#[inline(always)]
fn sobol_second_reversed(i: u32) -> u32 {
    let x = i ^ (i & 0xAAAA_AAAA) >> 1;
    let x = x ^ (x & 0xCCCC_CCCC) >> 2;
    let x = x ^ (x & 0xF0F0_F0F0) >> 4;
    let x = x ^ (x & 0xFF00_FF00) >> 8;
    x ^ (x & 0xFFFF_0000) >> 16
}

impl Sequence {
    /// Of a sample of a pixel.
    #[inline(always)]
    pub fn new(x: u32, y: u32, seed: u32, sample: u32) -> Sequence {
        Sequence { sample, key: join(join(x, y), seed) }
    }

    /// The pair of a [`decision`] at a vertex, all 32 bits.
    #[inline(always)]
    pub fn bits(&self, vertex: u32, decision: u32) -> [u32; 2] {
        let seed = join(self.key, vertex * decision::COUNT + decision);
        // Shuffled as a scrambled van der Corput index: aligned runs of 2^k samples stay together.
        let index = scramble_from_low(self.sample.reverse_bits(), seed).reverse_bits();
        let first = scramble_from_low(index, mix(seed ^ SALT_FIRST));
        let second = scramble_from_low(sobol_second_reversed(index), mix(seed ^ SALT_SECOND));
        [first.reverse_bits(), second.reverse_bits()]
    }

    /// The pair as numbers from 0 to below 1.
    #[inline(always)]
    pub fn pair(&self, vertex: u32, decision: u32) -> [f32; 2] {
        self.bits(vertex, decision).map(unit)
    }
}

/// From 0 to below 1.
#[inline(always)]
pub fn unit(bits: u32) -> f32 {
    (bits >> 8) as f32 * UNIT
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Direction numbers by Sobol's recurrence for the second dimension: primitive polynomial x + 1.
    fn sobol_second(index: u32) -> u32 {
        let mut direction = 1u32 << 31;
        let mut out = 0;
        for bit in 0..32 {
            if index >> bit & 1 == 1 {
                out ^= direction;
            }
            direction ^= direction >> 1;
        }
        out
    }

    #[test]
    fn the_second_dimension_is_sobols() {
        for index in (0..4096).chain([u32::MAX, 0x8000_0000, 0x1234_5678]) {
            assert_eq!(sobol_second_reversed(index).reverse_bits(), sobol_second(index), "{index}");
        }
    }

    /// In each aligned run of 2^k samples, each elementary interval of area 2^-k holds one point.
    #[test]
    fn aligned_runs_are_nets() {
        for (pixel, decision) in [(1, decision::LIGHT), (77, decision::DIRECTION)] {
            for (first, count) in [(0, 16), (16, 16), (64, 64), (960, 64)] {
                let log = 31 - u32::leading_zeros(count);
                let points: Vec<[u32; 2]> = (first..first + count)
                    .map(|sample| Sequence::new(pixel, 5, 9, sample).bits(2, decision))
                    .collect();
                for across in 0..=log {
                    let down = log - across;
                    let cell = |p: &[u32; 2]| {
                        let part = |v: u32, bits: u32| u64::from(v) >> (32 - bits);
                        part(p[0], across) << down | part(p[1], down)
                    };
                    let mut cells: Vec<u64> = points.iter().map(cell).collect();
                    cells.sort_unstable();
                    assert!(cells.iter().copied().eq(0..u64::from(count)), "{first} {count} {across}");
                }
            }
        }
    }

    /// Means over many pixels are those of independent numbers.
    #[test]
    fn decisions_are_independent() {
        let count = 20_000u32;
        let mut sums = [0.0f64; 3];
        for pixel in 0..count {
            let s = Sequence::new(pixel, pixel / 7, 3, 0);
            let (a, b) = (s.pair(0, decision::LIGHT), s.pair(1, decision::LIGHT));
            let centered = |v: f32| f64::from(v) - 0.5;
            sums[0] += centered(a[0]) * centered(b[0]);
            sums[1] += centered(a[0]) * centered(a[1]);
            sums[2] += centered(a[0]) + centered(a[1]);
        }
        // Standard deviation of a product of two is 1/12 over the root of the count; of a sum of two, 0.41.
        let root = f64::from(count).sqrt();
        assert!(sums[0].abs() / f64::from(count) < 5.0 / 12.0 / root, "{sums:?}");
        assert!(sums[1].abs() / f64::from(count) < 5.0 / 12.0 / root, "{sums:?}");
        assert!(sums[2].abs() / f64::from(count) < 5.0 * 0.41 / root, "{sums:?}");
    }
}
