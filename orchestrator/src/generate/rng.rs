//! Random numbers that are the same on every machine, from a seed and a chain of names.

/// SplitMix64. *Source*: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
#[derive(Debug, Clone)]
pub(super) struct Rng {
    state: u64,
}

/// 2^64 over the golden ratio, odd.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser of SplitMix64: a bijection of 64 bits in which every input bit reaches every output bit.
pub(super) fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

impl Rng {
    pub(super) fn new(seed: u64) -> Rng {
        Rng { state: mix(seed.wrapping_add(GAMMA)) }
    }

    /// A stream of its own for a part of a scene, so that a draw more in one part moves nothing in another.
    pub(super) fn fork(&self, name: &str) -> Rng {
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Rng { state: mix(self.state ^ mix(hash)) }
    }

    pub(super) fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GAMMA);
        mix(self.state)
    }

    /// From 0 up to, not including, 1.
    pub(super) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    pub(super) fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Between two positive values, each octave as likely as the other.
    pub(super) fn log_range(&mut self, low: f64, high: f64) -> f64 {
        libm::exp(self.range(libm::log(low), libm::log(high)))
    }

    /// From `low` to `high`, both included.
    pub(super) fn int(&mut self, low: u32, high: u32) -> u32 {
        low + (self.unit() * f64::from(high - low + 1)) as u32
    }

    pub(super) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    pub(super) fn sign(&mut self) -> f64 {
        if self.chance(0.5) { -1.0 } else { 1.0 }
    }

    pub(super) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.int(0, choices.len() as u32 - 1) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_splitmix64s() {
        // Java's SplittableRandom and Vigna's splitmix64.c give these for the state 1234567.
        let mut rng = Rng { state: 1_234_567 };
        assert_eq!(rng.bits(), 6_457_827_717_110_365_317);
        assert_eq!(rng.bits(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn ranges_are_kept_and_filled() {
        let mut rng = Rng::new(5);
        let mut seen = [0; 4];
        for _ in 0..4000 {
            seen[rng.int(0, 3) as usize] += 1;
            assert!((2.0..8.0).contains(&rng.range(2.0, 8.0)));
            assert!((0.009..11.0).contains(&rng.log_range(0.01, 10.0)));
        }
        assert!(seen.iter().all(|&count| (850..1150).contains(&count)), "{seen:?}");
    }

    #[test]
    fn forks_depend_on_name_and_parent_and_not_on_draws_of_other_forks() {
        let rng = Rng::new(9);
        let first = rng.fork("walls").bits();
        let _ = rng.fork("lights").bits();
        assert_eq!(rng.fork("walls").bits(), first);
        assert_ne!(rng.fork("wells").bits(), first);
        assert_ne!(Rng::new(10).fork("walls").bits(), first);
    }
}
