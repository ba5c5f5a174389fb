//! The arithmetic that every backend agrees on. Twin: `shaders/exact.wgsl`.
//!
//! Only `+ - *`, comparisons, `min`, `max`, `abs`, `floor`, `select` and 32-bit integers are used here and in
//! the passes; a product that feeds a sum is guarded in the twin. Results never depend on the sign of a zero
//! or on whether denormals are flushed: bit tricks mask the sign and clamp small arguments first, stores
//! [`flush`].

use fearless_simd::{f32x8, prelude::*, u32x8};

use crate::image::srgb::LINEAR_TO_SRGB8_THRESHOLDS;

/// Magnitudes below 2^-100 are stored as +0.
pub const FLUSH_BELOW: f32 = f32::from_bits(0x0D80_0000);

/// First guess of a reciprocal: `RECIP_GUESS - bits(x)`.
pub const RECIP_GUESS: u32 = 0x7EF3_11C7;

/// First guess of a reciprocal square root: `RSQRT_GUESS - (bits(x) >> 1)`.
pub const RSQRT_GUESS: u32 = 0x5F37_5A86;

/// Coefficients of a polynomial for log2(m), m in 1 to 2, highest power first. *Source*: least squares for
/// q in p(m) = (m - 1) (1 + (m - 2) q(m)), so that p(1) = 0 and p(2) = 1; error below 2e-5.
pub const LOG2_POLYNOMIAL: [f32; 6] =
    [0.044_243_74, -0.412_481_22, 1.621_042_5, -3.539_049_8, 5.085_514, -2.799_269_3];

/// Coefficients of a polynomial for 2^f, f in 0 to 1, highest power first, the last is 1. *Source*: minimax fit of
/// the relative error, q in p(f) = 1 + f + f (f - 1) q(f), so that p(0) = 1 and p(1) = 2; error below 3e-9.
#[expect(clippy::approx_constant, reason = "the slope at 0 is fitted, near ln 2 and not it")]
pub const EXP2_POLYNOMIAL: [f32; 6] =
    [0.000_217_150_24, 0.001_244_087_7, 0.009_678_064, 0.055_484_153, 0.240_229_52, 0.693_147];

/// Arguments of [`exp2`] are clamped to this magnitude.
pub const EXP2_MAX: f32 = 99.0;

/// Coefficients of sin(f pi/2) / f in f^2, f in -1/2 to 1/2, highest power first. *Source*: minimax fit; error
/// below 5e-9.
pub const SIN_POLYNOMIAL: [f32; 4] = [-0.004_602_177, 0.079_680_23, -0.645_963_5, 1.570_796_4];

/// Coefficients of (cos(f pi/2) - 1) / f^2, as in [`SIN_POLYNOMIAL`]; error of the cosine below 6e-11.
pub const COS_POLYNOMIAL: [f32; 4] = [0.000_904_021_67, -0.020_860_288, 0.253_669_23, -1.233_700_5];

/// Quarters in a turn.
pub const QUARTERS: f32 = 4.0;

/// Coefficients of an odd polynomial for sin(2 pi b), b up to a quarter, highest power first. *Source*: least squares;
/// error below 1e-6.
pub const SINE_POLYNOMIAL: [f32; 4] = [-70.989_94, 81.340_385, -41.337_13, 6.283_164];

/// Of a turn: where the cosine is 0.
pub const QUARTER_TURN: f32 = 0.25;

/// 1/x for 2^-100 <= |x| <= 2^100. *Error*: at most 2 ulp. *Source*: Newton's iteration from an integer guess.
#[inline(always)]
pub fn recip(x: f32) -> f32 {
    let sign = x.to_bits() & 0x8000_0000;
    let a = f32::from_bits(x.to_bits() & 0x7FFF_FFFF);
    let mut r = f32::from_bits(RECIP_GUESS.wrapping_sub(a.to_bits()));
    r *= 2.0 - a * r;
    r *= 2.0 - a * r;
    r *= 2.0 - a * r;
    f32::from_bits(r.to_bits() ^ sign)
}

/// [`recip`] for eight.
#[inline(always)]
pub fn recip8<S: Simd>(x: f32x8<S>) -> f32x8<S> {
    let bits: u32x8<S> = x.to_bits();
    let sign = bits & 0x8000_0000;
    let a = f32x8::from_bits(bits & 0x7FFF_FFFF);
    let mut r = f32x8::from_bits(u32x8::splat(x.simd, RECIP_GUESS) - a.to_bits());
    let two = f32x8::splat(x.simd, 2.0);
    r = r * (two - a * r);
    r = r * (two - a * r);
    r = r * (two - a * r);
    f32x8::from_bits(r.to_bits() ^ sign)
}

/// 1/sqrt(x) for 2^-100 <= x <= 2^100; smaller and negative x count as 2^-100. *Error*: at most 3 ulp.
#[inline(always)]
pub fn rsqrt(x: f32) -> f32 {
    let x = if x > FLUSH_BELOW { x } else { FLUSH_BELOW };
    let half = 0.5 * x;
    let mut r = f32::from_bits(RSQRT_GUESS - (x.to_bits() >> 1));
    r *= 1.5 - half * r * r;
    r *= 1.5 - half * r * r;
    r *= 1.5 - half * r * r;
    r
}

/// [`rsqrt`] for eight.
#[inline(always)]
pub fn rsqrt8<S: Simd>(x: f32x8<S>) -> f32x8<S> {
    let tiny = f32x8::splat(x.simd, FLUSH_BELOW);
    let x = x.simd_gt(tiny).select(x, tiny);
    let half = x * 0.5;
    let mut r = f32x8::from_bits(u32x8::splat(x.simd, RSQRT_GUESS) - (x.to_bits() >> 1));
    let three_halves = f32x8::splat(x.simd, 1.5);
    r = r * (three_halves - half * r * r);
    r = r * (three_halves - half * r * r);
    r = r * (three_halves - half * r * r);
    r
}

/// sqrt(x) as x / sqrt(x); 0 for x up to 2^-100.
#[inline(always)]
pub fn sqrt8<S: Simd>(x: f32x8<S>) -> f32x8<S> {
    let tiny = f32x8::splat(x.simd, FLUSH_BELOW);
    x.simd_gt(tiny).select(x * rsqrt8(x), f32x8::splat(x.simd, 0.0))
}

/// [`sqrt8`] for one.
#[inline(always)]
pub fn sqrt(x: f32) -> f32 {
    if x > FLUSH_BELOW { x * rsqrt(x) } else { 0.0 }
}

/// [`log2_8`] for one.
#[inline(always)]
pub fn log2(x: f32) -> f32 {
    let bits = (if x > FLUSH_BELOW { x } else { FLUSH_BELOW }).to_bits();
    let exponent = (bits >> 23) as f32;
    let m = f32::from_bits((bits & 0x007F_FFFF) | 0x3F80_0000);
    let [c5, c4, c3, c2, c1, c0] = LOG2_POLYNOMIAL;
    let p = m * c5 + c4;
    let p = p * m + c3;
    let p = p * m + c2;
    let p = p * m + c1;
    let p = p * m + c0;
    (exponent - 127.0) + p
}

/// 2^x for x in -99 to 99, to which x is clamped. *Error*: at most 3 ulp.
#[inline(always)]
pub fn exp2(x: f32) -> f32 {
    let x = x.max(-EXP2_MAX).min(EXP2_MAX);
    let whole = x.floor();
    let f = x - whole;
    let [c6, c5, c4, c3, c2, c1] = EXP2_POLYNOMIAL;
    let p = f * c6 + c5;
    let p = p * f + c4;
    let p = p * f + c3;
    let p = p * f + c2;
    let p = p * f + c1;
    let p = p * f + 1.0;
    p * f32::from_bits(((whole as i32 + 127) as u32) << 23)
}

/// Sine and cosine of 2 pi u, u in 0 to 1: the nearest quarter turn, and polynomials for the rest. *Error*: below
/// 2e-7.
#[inline(always)]
pub fn sin_cos_turns(u: f32) -> [f32; 2] {
    let quarters = u * QUARTERS;
    let nearest = (quarters + 0.5).floor();
    let f = quarters - nearest;
    let g = f * f;
    let [s3, s2, s1, s0] = SIN_POLYNOMIAL;
    let s = g * s3 + s2;
    let s = s * g + s1;
    let s = s * g + s0;
    let s = s * f;
    let [c4, c3, c2, c1] = COS_POLYNOMIAL;
    let c = g * c4 + c3;
    let c = c * g + c2;
    let c = c * g + c1;
    let c = c * g + 1.0;
    let quarter = nearest as i32 as u32 & 3;
    let (sin, cos) = if quarter & 1 == 1 { (c, -s) } else { (s, c) };
    if quarter & 2 == 2 { [-sin, -cos] } else { [sin, cos] }
}

/// log2(x) for x >= 2^-100; smaller and negative x count as 2^-100. *Error*: below 4e-5.
#[inline(always)]
pub fn log2_8<S: Simd>(x: f32x8<S>) -> f32x8<S> {
    let simd = x.simd;
    let tiny = f32x8::splat(simd, FLUSH_BELOW);
    let bits: u32x8<S> = x.simd_gt(tiny).select(x, tiny).to_bits();
    let exponent: f32x8<S> = (bits >> 23).to_float();
    let m = f32x8::from_bits((bits & 0x007F_FFFF) | 0x3F80_0000);
    let [c5, c4, c3, c2, c1, c0] = LOG2_POLYNOMIAL;
    let p = m * c5 + c4;
    let p = p * m + c3;
    let p = p * m + c2;
    let p = p * m + c1;
    let p = p * m + c0;
    (exponent - 127.0) + p
}

/// [`exp2`] for eight.
#[inline(always)]
pub fn exp2_8<S: Simd>(x: f32x8<S>) -> f32x8<S> {
    let most = f32x8::splat(x.simd, EXP2_MAX);
    let x = x.max(-most).min(most);
    let whole = x.floor();
    let f = x - whole;
    let [c6, c5, c4, c3, c2, c1] = EXP2_POLYNOMIAL;
    let p = f * c6 + c5;
    let p = p * f + c4;
    let p = p * f + c3;
    let p = p * f + c2;
    let p = p * f + c1;
    let p = p * f + 1.0;
    let exponent: u32x8<S> = (whole + 127.0).to_int();
    p * f32x8::from_bits(exponent << 23)
}

/// cos(2 pi x) for |x| up to 2^20. *Error*: below 2e-6, beside that of x.
#[inline(always)]
pub fn cos_turns8<S: Simd>(x: f32x8<S>) -> f32x8<S> {
    // The way to the nearest whole number, then to the nearer quarter.
    let b = f32x8::splat(x.simd, QUARTER_TURN) - (x - (x + 0.5).floor()).abs();
    let b2 = b * b;
    let [c3, c2, c1, c0] = SINE_POLYNOMIAL;
    let p = b2 * c3 + c2;
    let p = p * b2 + c1;
    let p = p * b2 + c0;
    p * b
}

/// What is stored: +0 where |x| is below 2^-100, else x.
#[inline(always)]
pub fn flush(x: f32) -> f32 {
    if (x.to_bits() & 0x7FFF_FFFF) < FLUSH_BELOW.to_bits() { 0.0 } else { x }
}

/// [`flush`] for eight.
#[inline(always)]
pub fn flush8<S: Simd>(x: f32x8<S>) -> f32x8<S> {
    let magnitude = x.to_bits() & 0x7FFF_FFFF;
    magnitude.simd_lt(u32x8::splat(x.simd, FLUSH_BELOW.to_bits())).select(f32x8::splat(x.simd, 0.0), x)
}

/// Integers up to 2^24 are exact as f32.
pub const EXACT_INTEGERS: f32 = 16_777_216.0;

/// An exact 64-bit integer as f32, rounded once: both halves are exact.
#[inline(always)]
pub fn f32_from_i64(x: i64) -> f32 {
    let high = (x >> 24) as i32 as f32;
    let low = (x & 0x00FF_FFFF) as i32 as f32;
    high * EXACT_INTEGERS + low
}

/// Smallest f32 whose bucket is in `SRGB8_GUESS`; below it the code is 0.
pub const SRGB8_GUESS_FROM: u32 = 0x3900_0000; // 2^-13
/// Bits that a bucket of `SRGB8_GUESS` leaves out.
pub const SRGB8_GUESS_SHIFT: u32 = 16;

/// `SRGB8_GUESS`, for the twin.
pub fn srgb8_guesses() -> &'static [u8] {
    &SRGB8_GUESS
}

/// Code at the start of each bucket of 1/128 octave; the true code is this or one more.
static SRGB8_GUESS: std::sync::LazyLock<Vec<u8>> = std::sync::LazyLock::new(|| {
    let buckets = ((1.0f32.to_bits() - SRGB8_GUESS_FROM) >> SRGB8_GUESS_SHIFT) + 1;
    (0..buckets)
        .map(|k| {
            let start = f32::from_bits(SRGB8_GUESS_FROM + (k << SRGB8_GUESS_SHIFT));
            (LINEAR_TO_SRGB8_THRESHOLDS.partition_point(|&t| t <= start).saturating_sub(1)) as u8
        })
        .collect()
});

/// Threshold above each code; the last is never reached.
static SRGB8_NEXT: std::sync::LazyLock<[f32; 256]> = std::sync::LazyLock::new(|| {
    std::array::from_fn(|k| LINEAR_TO_SRGB8_THRESHOLDS.get(k + 1).copied().unwrap_or(f32::MAX))
});

/// Tables of [`srgb8`], fetched once by code that encodes many values.
#[derive(Clone, Copy)]
pub struct Srgb8Encoder {
    guess: &'static [u8],
    next: &'static [f32; 256],
}

impl Srgb8Encoder {
    /// The encoder.
    #[inline(always)]
    pub fn new() -> Srgb8Encoder {
        Srgb8Encoder { guess: &SRGB8_GUESS, next: &SRGB8_NEXT }
    }

    /// The sRGB8 code of a linear value: the largest k whose threshold is at most x; clamped to 0..1.
    #[inline(always)]
    pub fn encode(&self, x: f32) -> u8 {
        let least = f32::from_bits(SRGB8_GUESS_FROM);
        let x = if x > least { x } else { least };
        let x = if x < 1.0 { x } else { 1.0 };
        let k = self.guess[((x.to_bits() - SRGB8_GUESS_FROM) >> SRGB8_GUESS_SHIFT) as usize];
        k + (self.next[k as usize] <= x) as u8
    }
}

impl Default for Srgb8Encoder {
    fn default() -> Self {
        Srgb8Encoder::new()
    }
}

/// [`Srgb8Encoder::encode`] of one value.
pub fn srgb8(x: f32) -> u8 {
    Srgb8Encoder::new().encode(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::dispatch;
    use fearless_simd::Level;

    fn spread() -> impl Iterator<Item = f32> {
        // Exponents -99 to 99, 400 mantissas each, from a Weyl sequence.
        (-99..100).flat_map(|e: i32| {
            (0..400u32)
                .map(move |k| f32::from_bits((((e + 127) as u32) << 23) | (k.wrapping_mul(0x9E37_79B9) >> 9)))
        })
    }

    fn ulp_error(got: f32, want: f64) -> f64 {
        let ulp = f64::from(f32::from_bits((want.abs() as f32).to_bits() + 1)) - f64::from(want.abs() as f32);
        (f64::from(got) - want).abs() / ulp
    }

    #[test]
    fn reciprocals_are_within_their_bounds() {
        for x in spread() {
            assert!(ulp_error(recip(x), 1.0 / f64::from(x)) <= 2.0, "1/{x:e}");
            assert!(ulp_error(rsqrt(x), 1.0 / f64::from(x).sqrt()) <= 3.0, "1/sqrt {x:e}");
            assert_eq!(recip(-x), -recip(x));
        }
    }

    #[test]
    fn eight_agree_with_one() {
        let values: Vec<f32> = spread().collect();
        dispatch!(Level::new(), simd => {
            for chunk in values.chunks_exact(8) {
                let x = f32x8::from_slice(simd, chunk);
                let (r, q, f) = (recip8(x), rsqrt8(x), flush8(x * f32x8::splat(simd, 1e-10)));
                let (l, root, power) = (log2_8(x), sqrt8(x), exp2_8(x));
                for k in 0..8 {
                    assert_eq!(r[k].to_bits(), recip(chunk[k]).to_bits());
                    assert_eq!(q[k].to_bits(), rsqrt(chunk[k]).to_bits());
                    assert_eq!(f[k].to_bits(), flush(chunk[k] * 1e-10).to_bits());
                    assert_eq!(l[k].to_bits(), log2(chunk[k]).to_bits());
                    assert_eq!(root[k].to_bits(), sqrt(chunk[k]).to_bits());
                    assert_eq!(power[k].to_bits(), exp2(chunk[k]).to_bits());
                    let want = f64::from(chunk[k]).log2();
                    assert!((f64::from(l[k]) - want).abs() < 5e-5, "log2 {} = {} not {want}", chunk[k], l[k]);
                }
            }
        });
    }

    #[test]
    fn cosines_are_within_their_bound() {
        let values: Vec<f32> = (0..80_000).map(|k| k as f32 * 0.002_51 - 100.4).collect();
        dispatch!(Level::new(), simd => {
            for chunk in values.chunks_exact(8) {
                let cosine = cos_turns8(f32x8::from_slice(simd, chunk));
                for k in 0..8 {
                    let want = libm::cos(f64::from(chunk[k]) * std::f64::consts::TAU);
                    let error = (f64::from(cosine[k]) - want).abs();
                    assert!(error < 2e-6, "cos of {} turns: {}", chunk[k], cosine[k]);
                }
            }
        });
    }

    #[test]
    fn powers_of_two_are_within_their_bound() {
        for k in -990_000..=990_000i32 {
            let x = k as f32 * 1e-4;
            let error = ulp_error(exp2(x), libm::exp2(f64::from(x)));
            assert!(error <= 3.0, "2^{x} is {error} ulp off");
        }
        for k in -99..=99 {
            assert_eq!(exp2(k as f32), f32::from_bits(((k + 127) as u32) << 23), "2^{k}");
        }
        assert_eq!((exp2(-1e30), exp2(1e30)), (exp2(-99.0), exp2(99.0)));
        assert_eq!(exp2(-1e-20), 2.0 * 0.5, "the fraction rounds up to 1");
    }

    #[test]
    fn sines_and_cosines_are_within_their_bound() {
        let steps = 1 << 20;
        for k in 0..steps {
            let u = (k as f32 + 0.37) / steps as f32;
            let angle = std::f64::consts::TAU * f64::from(u);
            let [sin, cos] = sin_cos_turns(u).map(f64::from);
            assert!((sin - libm::sin(angle)).abs() < 2e-7, "sin {u}");
            assert!((cos - libm::cos(angle)).abs() < 2e-7, "cos {u}");
        }
        let quarters = [0.0, 0.25, 0.5, 0.75].map(sin_cos_turns);
        assert_eq!(quarters, [[0.0, 1.0], [1.0, 0.0], [0.0, -1.0], [-1.0, 0.0]]);
    }

    #[test]
    fn wide_integers_round_once() {
        for x in [0i64, 1, -1, 16_777_217, -16_777_217, 1 << 45, -(1 << 45) + 12345, (1 << 46) - 1] {
            assert_eq!(f32_from_i64(x), x as f32, "{x}");
        }
    }

    #[test]
    fn srgb_codes_follow_the_thresholds() {
        for k in 0..256usize {
            let t = LINEAR_TO_SRGB8_THRESHOLDS[k];
            assert_eq!(srgb8(t) as usize, k);
            if k > 0 {
                assert_eq!(srgb8(f32::from_bits(t.to_bits() - 1)) as usize, k - 1);
            }
        }
        for x in spread() {
            let want = LINEAR_TO_SRGB8_THRESHOLDS.partition_point(|&t| t <= x.min(1.0)).saturating_sub(1);
            assert_eq!(srgb8(x) as usize, want, "{x}");
        }
        assert_eq!((srgb8(-1.0), srgb8(0.0), srgb8(2.0)), (0, 0, 255));
    }
}
