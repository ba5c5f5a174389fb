//! Elements of accessors as numbers.

use super::layout::{Accessor, Component};
use super::sparse::little_endian;
use crate::scene::error::SceneError;
use crate::scene::limits::Budget;

/// Which elements are read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rows<'r> {
    /// All of them.
    All,
    /// These, strictly increasing and below the count.
    Some(&'r [u32]),
}

/// Magnitudes below this are stored as +0, so that no pass depends on how denormals are treated.
const TINY: f32 = f32::from_bits((127 - 100) << 23);

/// Turns -0 and what is below 2^-100 into +0.
pub(crate) fn settle(value: f32) -> f32 {
    if value.abs() < TINY { 0.0 } else { value }
}

impl Accessor<'_> {
    fn rows(&self, rows: Rows<'_>) -> usize {
        match rows {
            Rows::All => self.count,
            Rows::Some(list) => list.len(),
        }
    }

    /// Calls `each` with the position among the rows and the bytes of every element that has any.
    fn visit(&self, rows: Rows<'_>, mut each: impl FnMut(usize, &[u8])) {
        if let Some(bytes) = self.bytes {
            match rows {
                Rows::All => {
                    bytes.chunks(self.stride).enumerate().for_each(|(at, element)| each(at, element))
                }
                Rows::Some(list) => {
                    for (at, &row) in list.iter().enumerate() {
                        each(at, &bytes[row as usize * self.stride..]);
                    }
                }
            }
        }
        let Some(sparse) = &self.sparse else { return };
        let values = sparse.values.chunks(sparse.element);
        let mut from = 0;
        for (&row, value) in sparse.indices.iter().zip(values) {
            match rows {
                Rows::All => each(row as usize, value),
                // Both lists increase: look only at what is left.
                Rows::Some(list) => match list[from..].binary_search(&row) {
                    Ok(at) => {
                        each(from + at, value);
                        from += at + 1;
                    }
                    Err(at) => from += at,
                },
            }
        }
    }

    /// Reads elements as floats; integers are scaled when normalized (3.6.2.2), else taken as they are.
    ///
    /// *Errors*: NaN or infinity anywhere in the accessor, the geometry budget.
    pub fn floats<const N: usize>(
        &self,
        what: &str,
        rows: Rows<'_>,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<[f32; N]>, SceneError> {
        debug_assert_eq!(N, self.kind.components());
        self.check_finite(what)?;
        let count = self.rows(rows);
        budget.geometry_bytes(what, (count * N * 4) as u64)?;
        let mut out = vec![[0.0f32; N]; count];
        macro_rules! fill {
            ($bytes:literal, $from:expr) => {
                self.visit(rows, |at, element| {
                    for (value, part) in out[at].iter_mut().zip(element.chunks_exact($bytes)) {
                        *value = $from(part);
                    }
                })
            };
        }
        let i16 = |part: &[u8]| f32::from(i16::from_le_bytes([part[0], part[1]]));
        let u16 = |part: &[u8]| f32::from(u16::from_le_bytes([part[0], part[1]]));
        match (self.component, self.normalized) {
            (Component::F32, _) => fill!(4, |part: &[u8]| settle(f32::from_bits(little_endian(part)))),
            (Component::U32, _) => fill!(4, |part: &[u8]| little_endian(part) as f32),
            (Component::I8, false) => fill!(1, |part: &[u8]| f32::from(part[0] as i8)),
            (Component::U8, false) => fill!(1, |part: &[u8]| f32::from(part[0])),
            (Component::I16, false) => fill!(2, i16),
            (Component::U16, false) => fill!(2, u16),
            (Component::I8, true) => fill!(1, |part: &[u8]| (f32::from(part[0] as i8) / 127.0).max(-1.0)),
            (Component::U8, true) => fill!(1, |part: &[u8]| f32::from(part[0]) / 255.0),
            (Component::I16, true) => fill!(2, |part: &[u8]| (i16(part) / 32767.0).max(-1.0)),
            (Component::U16, true) => fill!(2, |part: &[u8]| u16(part) / 65535.0),
        }
        Ok(out)
    }

    /// Reads elements as unsigned integers; the accessor must be of an unsigned type.
    pub fn integers<const N: usize>(
        &self,
        what: &str,
        rows: Rows<'_>,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<[u32; N]>, SceneError> {
        debug_assert_eq!(N, self.kind.components());
        let count = self.rows(rows);
        budget.geometry_bytes(what, (count * N * 4) as u64)?;
        let mut out = vec![[0u32; N]; count];
        let size = self.component.bytes() as usize;
        self.visit(rows, |at, element| {
            for (value, part) in out[at].iter_mut().zip(element.chunks_exact(size)) {
                *value = little_endian(part);
            }
        });
        Ok(out)
    }

    /// Refuses NaN and infinity; the accessor is searched once, however often it is read.
    fn check_finite(&self, what: &str) -> Result<(), SceneError> {
        if self.component != Component::F32 {
            return Ok(());
        }
        match *self.not_finite.get_or_init(|| self.find_not_finite()) {
            None => Ok(()),
            Some(element) => Err(SceneError::NotFinite {
                what: format!("{what} (accessor {})", self.index),
                element: element as u64,
            }),
        }
    }

    fn find_not_finite(&self) -> Option<usize> {
        // The exponent of what is not finite is all ones.
        let finite = |element: &[u8]| {
            let used = &element[..element.len().min(self.kind.components() * 4)];
            used.chunks_exact(4).all(|part| little_endian(part) & 0x7F80_0000 != 0x7F80_0000)
        };
        let replaced = |at: usize| {
            let sparse = self.sparse.as_ref();
            sparse.is_some_and(|sparse| sparse.indices.binary_search(&(at as u32)).is_ok())
        };
        let base = self.bytes.and_then(|bytes| {
            let mut elements = bytes.chunks(self.stride).enumerate();
            elements.find(|(at, element)| !finite(element) && !replaced(*at)).map(|(at, _)| at)
        });
        base.or_else(|| {
            let sparse = self.sparse.as_ref()?;
            let bad = sparse.values.chunks(sparse.element).position(|element| !finite(element))?;
            Some(sparse.indices[bad] as usize)
        })
    }
}
