//! The exactness probe: whether an adapter computes what Rust computes, before it is trusted with a frame.
//!
//! Twin: `shaders/probe.wgsl`. Each row of [`PROBES`] is a case there; an adapter with one differing bit in
//! any row is refused, by the name of that row.

use super::GpuError;
use super::adapter::AdapterInfo;
use super::buffers::{self, Pool};
use super::device::Device;
use super::pass::{Binding, Pass, Pipeline, Workgroups};
use super::shader::{self, Constant};
use crate::exact;
use crate::frame::RenderError;

/// Input vectors per probe.
pub(super) const VECTORS: usize = 256;
/// Workgroup size of the shader.
const WORKGROUP: usize = 64;

/// Swallows the low bits of what it is added to.
const MILLION: f32 = 1e6;
/// What no product of its neighbours gives exactly.
const TENTH: f32 = 0.1;
/// Where floats are clamped before they become integers.
const INTEGER_MAX: f32 = 2e9;

/// 2^-24, the step between the fractions of a turn that are asked.
const TURN_STEP: f32 = 1.0 / exact::EXACT_INTEGERS;

/// What a probe is fed with.
#[derive(Debug, Clone, Copy)]
enum Feed {
    /// Floats of -16 to 16; the third is the rounded product of the first two.
    Moderate,
    /// Positive floats of 2^-90 to 2^90.
    Positive,
    /// Floats of 2^-75 to 2^-25, either sign: products fall to both sides of the flush threshold.
    Small,
    /// Denormal bit patterns and zeros, either sign.
    Denormal,
    /// Floats of 2^-10 to 2^40, either sign.
    Wide,
    /// Any bits, never read as floats.
    Bits,
}

/// One question to the adapter.
struct Probe {
    /// Name in messages.
    name: &'static str,
    /// Name of the case in WGSL.
    case: &'static str,
    feed: Feed,
    /// The answer.
    expected: fn([u32; 4]) -> [u32; 2],
}

fn floats(v: [u32; 4]) -> [f32; 4] {
    v.map(f32::from_bits)
}

fn bits2(x: f32, y: f32) -> [u32; 2] {
    [x.to_bits(), y.to_bits()]
}

/// Row of the workgroup atomics, which are answered per workgroup.
const ATOMICS: usize = 0;
/// Row that is reported but never compared: plain products may be fused.
const UNGUARDED: usize = 1;

const PROBES: [Probe; 27] = [
    Probe { name: "workgroup atomics", case: "PROBE_ATOMICS", feed: Feed::Bits, expected: |_| [0, 0] },
    Probe {
        name: "unguarded product",
        case: "PROBE_UNGUARDED_PRODUCT",
        feed: Feed::Moderate,
        expected: |v| {
            let [a, b, c, d] = floats(v);
            bits2(a * b - c, a * b + c * d)
        },
    },
    Probe {
        name: "fused product",
        case: "PROBE_FUSED_PRODUCT",
        feed: Feed::Moderate,
        expected: |v| {
            let [a, b, c, d] = floats(v);
            bits2(a * b - c, a * b + c * d)
        },
    },
    Probe {
        name: "regrouped sum",
        case: "PROBE_REGROUPED_SUM",
        feed: Feed::Moderate,
        expected: |v| {
            let [a, b, c, d] = floats(v);
            bits2((a + b) - a, ((a + b) + c) + d)
        },
    },
    Probe {
        name: "regrouped constants",
        case: "PROBE_REGROUPED_CONSTANTS",
        feed: Feed::Moderate,
        expected: |v| {
            let [a, ..] = floats(v);
            bits2((a + MILLION) - MILLION, (a * 3.0) * TENTH)
        },
    },
    Probe {
        name: "regrouped product",
        case: "PROBE_REGROUPED_PRODUCT",
        feed: Feed::Moderate,
        expected: |v| {
            let [a, b, c, _] = floats(v);
            bits2((a * b) * c, (a * a) * b)
        },
    },
    Probe {
        name: "distributed product",
        case: "PROBE_DISTRIBUTED_PRODUCT",
        feed: Feed::Moderate,
        expected: |v| {
            let [a, b, c, _] = floats(v);
            bits2((a + 1.0) * 3.0, (a - b) * c)
        },
    },
    Probe {
        name: "factored sum",
        case: "PROBE_FACTORED_SUM",
        feed: Feed::Moderate,
        expected: |v| {
            let [a, b, c, _] = floats(v);
            bits2(a * c + b * c, a * (1.0 - c) + b * c)
        },
    },
    Probe {
        name: "denormals",
        case: "PROBE_DENORMALS",
        feed: Feed::Small,
        expected: |v| {
            let [a, b, ..] = floats(v);
            bits2(exact::flush(a * b), if a > exact::FLUSH_BELOW { 1.0 } else { 2.0 })
        },
    },
    Probe {
        name: "stored denormals",
        case: "PROBE_STORED_DENORMALS",
        feed: Feed::Denormal,
        expected: |v| {
            let [a, b, ..] = floats(v);
            bits2(exact::flush(a), exact::flush(b))
        },
    },
    Probe { name: "zeros", case: "PROBE_ZEROS", feed: Feed::Moderate, expected: |_| [0, 1] },
    Probe {
        name: "float to integer",
        case: "PROBE_FLOAT_TO_INTEGER",
        feed: Feed::Wide,
        expected: |v| {
            let [a, b, ..] = floats(v);
            [a.clamp(-INTEGER_MAX, INTEGER_MAX) as i32 as u32, b.clamp(0.0, INTEGER_MAX) as u32]
        },
    },
    Probe {
        name: "integer to float",
        case: "PROBE_INTEGER_TO_FLOAT",
        feed: Feed::Bits,
        expected: |v| bits2((v[0] as i32 >> 7) as f32, (v[1] >> 8) as f32),
    },
    Probe {
        name: "floor",
        case: "PROBE_FLOOR",
        feed: Feed::Wide,
        expected: |v| {
            let [a, b, ..] = floats(v);
            bits2(a.floor(), b - b.floor())
        },
    },
    Probe {
        name: "min and max",
        case: "PROBE_MIN_MAX",
        feed: Feed::Moderate,
        expected: |v| {
            let [a, b, c, d] = floats(v);
            bits2(a.min(b.max(c)), a.abs().max(b.min(d)))
        },
    },
    Probe {
        name: "select",
        case: "PROBE_SELECT",
        feed: Feed::Moderate,
        expected: |v| {
            let [a, b, c, d] = floats(v);
            bits2(if c < d { b } else { a }, if v[0] <= v[1] { b } else { a })
        },
    },
    Probe {
        name: "reciprocal",
        case: "PROBE_RECIP",
        feed: Feed::Positive,
        expected: |v| {
            let [a, b, ..] = floats(v);
            bits2(exact::recip(a), exact::recip(-b))
        },
    },
    Probe {
        name: "reciprocal square root",
        case: "PROBE_RSQRT",
        feed: Feed::Moderate,
        expected: |v| {
            let [a, b, c, _] = floats(v);
            bits2(exact::rsqrt(a), exact::rsqrt(b * b + c * c))
        },
    },
    Probe {
        name: "square root",
        case: "PROBE_ROOT",
        feed: Feed::Positive,
        expected: |v| {
            let [a, b, ..] = floats(v);
            bits2(exact::sqrt(a), exact::sqrt(b))
        },
    },
    Probe {
        name: "logarithm",
        case: "PROBE_LOG_TWO",
        feed: Feed::Positive,
        expected: |v| {
            let [a, b, ..] = floats(v);
            bits2(exact::log2(a), exact::log2(b))
        },
    },
    Probe {
        name: "power of two",
        case: "PROBE_EXP_TWO",
        feed: Feed::Moderate,
        expected: |v| {
            let [a, b, ..] = floats(v);
            bits2(exact::exp2(a), exact::exp2(a * b))
        },
    },
    Probe {
        name: "sine and cosine",
        case: "PROBE_SIN_COS",
        feed: Feed::Bits,
        expected: |v| {
            let [sin, cos] = exact::sin_cos_turns((v[0] >> 8) as f32 * TURN_STEP);
            bits2(exact::flush(sin), exact::flush(cos))
        },
    },
    Probe {
        name: "wrapping integers",
        case: "PROBE_WRAPPED_INTEGER",
        feed: Feed::Bits,
        expected: |[a, b, c, _]| [a.wrapping_mul(b), a.wrapping_add(b).wrapping_sub(c)],
    },
    Probe {
        name: "shifts",
        case: "PROBE_SHIFT",
        feed: Feed::Bits,
        expected: |[a, b, c, _]| {
            let by = c & 31;
            [(a << by) ^ (b >> by), ((a as i32 >> by) ^ ((b as i32) << by)) as u32]
        },
    },
    Probe {
        name: "integer division",
        case: "PROBE_INTEGER_DIVISION",
        feed: Feed::Bits,
        // Unsigned: GLSL leaves the remainder of negative numbers open, and drivers differ.
        expected: |[a, b, c, d]| [(a / (b | 1)) ^ ((c % (d | 1)) << 1), (c / 255) ^ (d % 255)],
    },
    Probe {
        name: "wide integers",
        case: "PROBE_WIDE_INTEGER",
        feed: Feed::Bits,
        expected: |[a, b, c, d]| {
            let product = (i64::from(a as i32) * i64::from(b as i32)) as u64;
            let sum = product
                .wrapping_add(u64::from(c) * u64::from(d))
                .wrapping_sub(u64::from(a) << 32 | u64::from(b));
            [sum as u32, (sum >> 32) as u32]
        },
    },
    Probe {
        name: "bit counts",
        case: "PROBE_BITS",
        feed: Feed::Bits,
        expected: |[a, b, c, d]| {
            [(a >> (b & 31)).leading_zeros(), c.count_ones() ^ ((d | 0x8000_0000).trailing_zeros() << 8)]
        },
    },
];

/// The pass that answers.
pub(super) const PASS: Pass = Pass {
    label: "raster.probe",
    stem: "probe",
    entry: "main",
    workgroup: [WORKGROUP as u32, 1, 1],
    bindings: &[Binding::uniform("u"), Binding::read("inputs"), Binding::write("results")],
};

/// What the probe found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProbeReport {
    /// Probes that differ from Rust: name, and the first difference.
    pub failed: Vec<(&'static str, String)>,
    /// Whether this device fuses plain products, or computes them otherwise than Rust does. Allowed.
    pub fuses: bool,
}

/// The numbers of the cases, and those in them.
pub(super) fn constants(vectors: usize) -> Vec<Constant> {
    let cases = PROBES.iter().zip(0..).map(|(probe, number)| Constant::U32(probe.case, number));
    let numbers = [
        Constant::U32("PROBE_WORKGROUP", WORKGROUP as u32),
        Constant::U32("PROBE_WORKGROUPS", (vectors / WORKGROUP) as u32),
        Constant::F32("PROBE_MILLION", MILLION),
        Constant::F32("PROBE_TENTH", TENTH),
        Constant::F32("PROBE_INTEGER_MAX", INTEGER_MAX),
        Constant::F32("PROBE_TURN_STEP", TURN_STEP),
    ];
    cases.chain(numbers).collect()
}

/// A hash of a counter. *Source*: PCG, "Hash Functions for GPU Rendering" (Jarzynski, Olano 2020).
fn hash(x: u32) -> u32 {
    let state = x.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
    let word = ((state >> ((state >> 28) + 4)) ^ state).wrapping_mul(277_803_737);
    (word >> 22) ^ word
}

/// A float with a random mantissa and an exponent from `low` to `high - 1`.
fn float_between(random: u32, low: i32, high: i32, signed: bool) -> u32 {
    let exponent = low + (hash(random) % (high - low) as u32) as i32;
    let sign = if signed { random & 0x8000_0000 } else { 0 };
    sign | ((exponent + 127) as u32) << 23 | random & 0x007F_FFFF
}

impl Feed {
    fn vector(self, seed: u32) -> [u32; 4] {
        let random: [u32; 4] = std::array::from_fn(|k| hash(seed.wrapping_mul(4).wrapping_add(k as u32)));
        match self {
            Feed::Moderate => {
                let mut v = random.map(|r| float_between(r, -4, 4, true));
                // Where the product was rounded, fusing shows as a difference that is not zero.
                v[2] = (f32::from_bits(v[0]) * f32::from_bits(v[1])).to_bits();
                v
            }
            Feed::Positive => random.map(|r| float_between(r, -90, 90, false)),
            Feed::Small => random.map(|r| float_between(r, -75, -25, true)),
            Feed::Denormal => {
                random.map(|r| r & 0x807F_FFFF & if r & 0x300 == 0 { 0x8000_0000 } else { u32::MAX })
            }
            Feed::Wide => random.map(|r| float_between(r, -10, 40, true)),
            Feed::Bits => random,
        }
    }
}

/// Runs the battery on a device. *Errors*: the device failed.
pub(super) fn run(device: &Device) -> Result<ProbeReport, RenderError> {
    ask(device, VECTORS, 0)
}

/// Runs the battery with `rounds` times 16384 vectors. *Errors*: the device failed.
pub(super) fn sweep(device: &Device, rounds: u32) -> Result<ProbeReport, RenderError> {
    let mut report = ProbeReport::default();
    for round in 0..rounds {
        let found = ask(device, 16384, hash(round + 1))?;
        report.fuses |= found.fuses;
        report.failed.extend(found.failed);
    }
    Ok(report)
}

fn ask(device: &Device, vectors: usize, seed: u32) -> Result<ProbeReport, RenderError> {
    let inputs: Vec<[u32; 4]> = PROBES
        .iter()
        .zip(0u32..)
        .flat_map(|(probe, row)| {
            (0..vectors as u32).map(move |k| probe.feed.vector(seed.wrapping_add(row << 20 | k)))
        })
        .collect();
    let results = answers(device, &inputs, vectors)?;
    let mut report = ProbeReport::default();
    for (row, probe) in PROBES.iter().enumerate() {
        let at = row * vectors..(row + 1) * vectors;
        let difference = difference(row, &inputs[at.clone()], &results[at]);
        match difference {
            Some(_) if row == UNGUARDED => report.fuses = true,
            Some(difference) => report.failed.push((probe.name, difference)),
            None => {}
        }
    }
    Ok(report)
}

/// What the device answers.
fn answers(device: &Device, inputs: &[[u32; 4]], vectors: usize) -> Result<Vec<[u32; 2]>, RenderError> {
    let source = shader::compose(PASS.stem, &[shader::exact_constants(), constants(vectors)].concat());
    let pipeline = Pipeline::new(device, &PASS, &source)?;
    let mut pool = Pool::default();
    let input_buffer = buffers::upload(device, "probe inputs", inputs)?;
    let bytes = (inputs.len() * size_of::<[u32; 2]>()) as u64;
    let result_buffer = pool.storage(device, "probe results", bytes)?;
    let readback = pool.readback(device, "probe readback", bytes)?;
    let uniform = buffers::uniform(device, "probe uniform", &[0u32; 4]);
    let resources = [&uniform, &input_buffer, &result_buffer].map(wgpu::Buffer::as_entire_binding);
    let mut commands = device.wgpu().create_command_encoder(&Default::default());
    let workgroups = Workgroups::Fixed([(inputs.len() / WORKGROUP) as u32, 1, 1]);
    pipeline.record(device, &mut commands.begin_compute_pass(&Default::default()), &resources, workgroups);
    commands.copy_buffer_to_buffer(&result_buffer, 0, &readback, 0, bytes);
    let index = device.submit(commands)?;
    let mut results = Vec::new();
    buffers::read(device, &readback, index, inputs.len(), |answers: &[[u32; 2]]| {
        results.extend_from_slice(answers)
    })?;
    Ok(results)
}

/// The first vector whose answer is not Rust's.
fn difference(row: usize, inputs: &[[u32; 4]], results: &[[u32; 2]]) -> Option<String> {
    let expected: Vec<[u32; 2]> = match row {
        ATOMICS => inputs.chunks(WORKGROUP).flat_map(|group| [atomics(group); WORKGROUP]).collect(),
        _ => inputs.iter().map(|v| (PROBES[row].expected)(*v)).collect(),
    };
    let at = (0..inputs.len()).find(|&k| results[k] != expected[k])?;
    Some(format!("{:08x?} gives {:08x?}, expected {:08x?}", inputs[at], results[at], expected[at]))
}

/// What a workgroup's atomics hold in the end.
fn atomics(group: &[[u32; 4]]) -> [u32; 2] {
    let lowest = group.iter().map(|v| v[0]).min().unwrap_or(u32::MAX);
    let highest = group.iter().map(|v| v[0]).max().unwrap_or(0);
    let total = group.iter().fold(0u32, |sum, v| sum.wrapping_add(v[1]));
    let any_bits = group.iter().fold(0, |bits, v| bits | v[2] & 0x1111_1111);
    [lowest ^ (highest << 1), total ^ (any_bits << 1)]
}

/// Refuses an adapter that failed, naming the probes.
pub(super) fn verdict(info: &AdapterInfo, report: &ProbeReport) -> Result<(), GpuError> {
    match report.failed.split_first() {
        None => Ok(()),
        Some(((_, detail), _)) => Err(GpuError::Probe {
            adapter: info.title(),
            probes: report.failed.iter().map(|(name, _)| *name).collect(),
            detail: detail.clone(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_are_treated_apart_are_where_they_are_said_to_be() {
        assert_eq!(PROBES[ATOMICS].case, "PROBE_ATOMICS");
        assert_eq!(PROBES[UNGUARDED].case, "PROBE_UNGUARDED_PRODUCT");
    }

    #[test]
    fn feeds_stay_where_the_answers_are_defined() {
        for (row, probe) in PROBES.iter().enumerate() {
            for k in 0..VECTORS as u32 {
                let v = probe.feed.vector((row as u32) << 16 | k);
                if !matches!(probe.feed, Feed::Bits) {
                    assert!(floats(v).iter().all(|x| x.is_finite()), "{} {v:08x?}", probe.name);
                }
            }
        }
    }

    #[test]
    fn a_fused_device_would_be_seen() {
        let row = PROBES.iter().position(|probe| probe.case == "PROBE_FUSED_PRODUCT").expect("the row");
        let inputs: Vec<_> =
            (0..VECTORS as u32).map(|k| PROBES[row].feed.vector((row as u32) << 16 | k)).collect();
        let fused: Vec<_> = inputs
            .iter()
            .map(|v| {
                let [a, b, c, d] = floats(*v);
                bits2(a.mul_add(b, -c), a.mul_add(b, c * d))
            })
            .collect();
        assert!(difference(row, &inputs, &fused).is_some());
    }

    #[test]
    fn a_flushing_device_passes_and_one_that_keeps_denormals_too() {
        let row = PROBES.iter().position(|probe| probe.case == "PROBE_DENORMALS").expect("the row");
        let inputs: Vec<_> =
            (0..VECTORS as u32).map(|k| PROBES[row].feed.vector((row as u32) << 16 | k)).collect();
        let flushed = |x: f32| if x.is_subnormal() { 0.0 } else { x };
        let answers: Vec<_> = inputs
            .iter()
            .map(|v| {
                let [a, b, ..] = floats(*v);
                bits2(exact::flush(flushed(a * b)), if a > exact::FLUSH_BELOW { 1.0 } else { 2.0 })
            })
            .collect();
        assert_eq!(difference(row, &inputs, &answers), None);
        assert!(inputs.iter().any(|v| (f32::from_bits(v[0]) * f32::from_bits(v[1])).is_subnormal()));
        assert!(
            inputs.iter().any(|v| (f32::from_bits(v[0]) * f32::from_bits(v[1])).abs() > exact::FLUSH_BELOW)
        );
    }
}
