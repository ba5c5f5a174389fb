//! Bytes read one after another, never beyond the end.

use super::Broken;

/// What every reader says that runs out of bytes.
const SHORT: Broken = "the stream ends too early";

/// The rest of a stream.
#[derive(Debug, Clone)]
pub(super) struct Stream<'b> {
    rest: &'b [u8],
}

impl<'b> Stream<'b> {
    pub fn new(rest: &'b [u8]) -> Self {
        Stream { rest }
    }

    pub fn take(&mut self, count: usize) -> Result<&'b [u8], Broken> {
        let (head, rest) = self.rest.split_at_checked(count).ok_or(SHORT)?;
        self.rest = rest;
        Ok(head)
    }

    pub fn byte(&mut self) -> Result<u8, Broken> {
        Ok(self.take(1)?[0])
    }

    /// An unsigned LEB128 number of at most five bytes; bits beyond 32 are dropped.
    pub fn varint(&mut self) -> Result<u32, Broken> {
        let mut value = 0u32;
        for shift in [0, 7, 14, 21, 28] {
            let byte = self.byte()?;
            value |= u32::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("a number is longer than five bytes")
    }

    /// Refuses bytes left over.
    pub fn end(&self) -> Result<(), Broken> {
        if self.rest.is_empty() { Ok(()) } else { Err("bytes are left over before the tail") }
    }
}

/// Splits off the last `tail` bytes.
pub(super) fn split_tail(bytes: &[u8], tail: usize) -> Result<(&[u8], &[u8]), Broken> {
    let at = bytes.len().checked_sub(tail).ok_or(SHORT)?;
    Ok(bytes.split_at(at))
}

/// The signed difference behind a zigzag number.
pub(super) fn unzigzag(value: u32) -> u32 {
    if value & 1 != 0 { !(value >> 1) } else { value >> 1 }
}
