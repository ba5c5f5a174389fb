//! Mode 0: elements of any kind, as differences of each byte from the element before.

use super::Broken;
use super::stream::{Stream, split_tail};

/// Elements in one group of differences.
const GROUP: usize = 16;

/// How the differences of four bytes of an element are meant.
#[derive(Debug, Clone, Copy)]
enum Channel {
    /// Each byte on its own.
    Bytes,
    /// Two little-endian numbers.
    Shorts,
    /// One little-endian number, as the rotated difference in bits.
    Xor(u32),
}

impl Channel {
    fn from_byte(byte: u8) -> Result<Channel, Broken> {
        match (byte & 0xF, byte >> 4) {
            (0, 0) => Ok(Channel::Bytes),
            (1, 0) => Ok(Channel::Shorts),
            (2, rotation) => Ok(Channel::Xor(u32::from(rotation))),
            _ => Err("a channel mode is unknown"),
        }
    }

    /// The four bytes that follow `before`.
    fn step(self, before: [u8; 4], delta: [u8; 4]) -> [u8; 4] {
        match self {
            Channel::Bytes => std::array::from_fn(|byte| {
                let d = delta[byte];
                before[byte].wrapping_add(if d & 1 != 0 { !(d >> 1) } else { d >> 1 })
            }),
            Channel::Shorts => {
                let half = |at: usize| {
                    let d = u16::from_le_bytes([delta[at], delta[at + 1]]);
                    let before = u16::from_le_bytes([before[at], before[at + 1]]);
                    before.wrapping_add(if d & 1 != 0 { !(d >> 1) } else { d >> 1 }).to_le_bytes()
                };
                let (low, high) = (half(0), half(2));
                [low[0], low[1], high[0], high[1]]
            }
            Channel::Xor(rotation) => {
                let d = u32::from_le_bytes(delta).rotate_left(rotation);
                (u32::from_le_bytes(before) ^ d).to_le_bytes()
            }
        }
    }
}

/// Decodes `count` elements of `stride` bytes, a multiple of four up to 256.
pub(super) fn decode(packed: &[u8], count: usize, stride: usize, version_1: bool) -> Result<Vec<u8>, Broken> {
    let (tail_bytes, least) = match packed.first() {
        Some(0xA0) => (stride, 32),
        Some(0xA1) if version_1 => (stride + stride / 4, 24),
        Some(0xA1) => return Err("version 1 needs KHR_meshopt_compression"),
        _ => return Err("the header of an attribute stream is missing"),
    };
    let (body, tail) = split_tail(&packed[1..], tail_bytes.max(least))?;
    let (baseline, modes) = tail[tail.len() - tail_bytes..].split_at(stride);
    let version_1 = !modes.is_empty();
    let channels = if version_1 {
        modes.iter().map(|&mode| Channel::from_byte(mode)).collect::<Result<Vec<_>, _>>()?
    } else {
        vec![Channel::Bytes; stride / 4]
    };
    let block = (8192 / stride / GROUP * GROUP).min(256);
    // Streams say little about their length: a block of `block` elements takes at least this many bytes.
    let least_per_block = if version_1 { stride / 4 } else { stride };
    if body.len() / least_per_block < count.div_ceil(block) {
        return Err("the stream is shorter than its count");
    }
    let mut out = vec![0u8; count * stride];
    let mut before = baseline.to_vec();
    let mut stream = Stream::new(body);
    for elements in out.chunks_mut(block * stride) {
        decode_block(&mut stream, elements, &mut before, &channels, version_1)?;
    }
    stream.end()?;
    Ok(out)
}

fn decode_block(
    stream: &mut Stream<'_>,
    elements: &mut [u8],
    before: &mut [u8],
    channels: &[Channel],
    version_1: bool,
) -> Result<(), Broken> {
    let stride = before.len();
    let count = elements.len() / stride;
    let control = if version_1 { stream.take(stride / 4)? } else { &[] };
    let mut deltas = [[0u8; 256]; 4];
    for (number, channel) in channels.iter().enumerate() {
        for (byte, deltas) in deltas.iter_mut().enumerate() {
            let mode = control.get(number).map(|packed| packed >> (2 * byte) & 3);
            decode_bytes(stream, &mut deltas[..count.next_multiple_of(GROUP)], count, mode)?;
        }
        let at = number * 4;
        let mut last = [before[at], before[at + 1], before[at + 2], before[at + 3]];
        for (index, element) in elements.chunks_exact_mut(stride).enumerate() {
            last = channel.step(last, [0, 1, 2, 3].map(|byte| deltas[byte][index]));
            element[at..at + 4].copy_from_slice(&last);
        }
        before[at..at + 4].copy_from_slice(&last);
    }
    Ok(())
}

/// One byte of each element: `mode` is the control mode, none in version 0.
fn decode_bytes(
    stream: &mut Stream<'_>,
    out: &mut [u8],
    count: usize,
    mode: Option<u8>,
) -> Result<(), Broken> {
    let bits = match mode {
        None => [0, 2, 4, 8],
        Some(0) => [0, 1, 2, 4],
        Some(1) => [1, 2, 4, 8],
        Some(2) => {
            out.fill(0);
            return Ok(());
        }
        Some(_) => {
            out[..count].copy_from_slice(stream.take(count)?);
            return Ok(());
        }
    };
    let groups = out.len() / GROUP;
    let header = stream.take(groups.div_ceil(4))?;
    for (index, group) in out.chunks_exact_mut(GROUP).enumerate() {
        let mode = header[index / 4] >> (index % 4 * 2) & 3;
        decode_group(stream, group, bits[usize::from(mode)])?;
    }
    Ok(())
}

/// Sixteen differences of `bits` bits; all ones stand for a whole byte that follows.
fn decode_group(stream: &mut Stream<'_>, group: &mut [u8], bits: u32) -> Result<(), Broken> {
    match bits {
        0 => group.fill(0),
        8 => group.copy_from_slice(stream.take(GROUP)?),
        _ => {
            let per_byte = (8 / bits) as usize;
            let packed = stream.take(GROUP / per_byte)?;
            let sentinel = (1u8 << bits) - 1;
            for (index, value) in group.iter_mut().enumerate() {
                let place = (index % per_byte) as u32;
                // Single bits start at the low end, wider ones at the high end.
                let shift = if bits == 1 { place } else { 8 - bits * (place + 1) };
                *value = packed[index / per_byte] >> shift & sentinel;
            }
            for value in group.iter_mut().filter(|value| **value == sentinel) {
                *value = stream.byte()?;
            }
        }
    }
    Ok(())
}
