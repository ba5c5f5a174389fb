//! The instruction sets that the passes are compiled for: each architecture's baseline, and AVX2.
//!
//! More would cost build time and could not all be tested: every set compiled here is one that the tests force.

/// Runs an expression with the token of the best compiled set that `level` allows, inlined into a function that
/// has the set's features.
macro_rules! dispatch {
    ($level:expr, $simd:ident => $op:expr) => {{
        let level: fearless_simd::Level = $level;
        #[cfg(target_arch = "x86_64")]
        {
            use fearless_simd::Simd as _;
            match (level.as_avx2(), level.as_sse2()) {
                (Some($simd), _) => $simd.vectorize(
                    #[inline(always)]
                    || $op,
                ),
                (None, Some($simd)) => $simd.vectorize(
                    #[inline(always)]
                    || $op,
                ),
                (None, None) => unreachable!("x86-64 has SSE2"),
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            fearless_simd::dispatch!(level, $simd => $op)
        }
    }};
}

pub(crate) use dispatch;
