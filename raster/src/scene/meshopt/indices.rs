//! Mode 2: indices of any topology, as differences from one of two baselines.

use super::Broken;
use super::stream::{Stream, split_tail, unzigzag};

/// Decodes `count` indices.
pub(super) fn decode(packed: &[u8], count: usize) -> Result<Vec<u32>, Broken> {
    let mut stream = Stream::new(packed);
    if stream.byte()? != 0xD1 {
        return Err("the header of an index stream is missing");
    }
    let (body, _tail) = split_tail(&packed[1..], 4)?;
    // One byte each at least: a short stream cannot ask for much memory.
    if body.len() < count {
        return Err("the stream is shorter than its count");
    }
    let mut stream = Stream::new(body);
    let mut last = [0u32; 2];
    let mut out = Vec::with_capacity(count);
    for _ in 0..count {
        let value = stream.varint()?;
        let baseline = &mut last[(value & 1) as usize];
        *baseline = baseline.wrapping_add(unzigzag(value >> 1));
        out.push(*baseline);
    }
    stream.end()?;
    Ok(out)
}
