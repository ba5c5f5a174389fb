//! The attributes of an OpenEXR header, walked in place: to find the receipt, and to put them in one order.
//!
//! *Source*: "OpenEXR File Layout". A header is magic, version, then attributes (name, type, size, value) up
//! to a zero byte.

use std::ops::Range;

const MAGIC: [u8; 4] = [0x76, 0x2f, 0x31, 0x01];

/// Version 2 and "long names": the only flag of single-part files of flat scan lines.
const VERSION: u32 = 2;
const LONG_NAMES: u32 = 0x400;

/// Most attributes that are read.
const ATTRIBUTES_MAX: usize = 4096;

/// Longest name or type that is read. *Units*: bytes.
const NAME_MAX_BYTES: usize = 255;

/// One attribute, where it lies in the file.
#[derive(Debug, Clone)]
pub(super) struct Attribute {
    /// From its name to the end of its value.
    whole: Range<usize>,
    name: Range<usize>,
    value: Range<usize>,
}

/// The attributes of the one header of a file.
#[derive(Debug)]
pub(super) struct Attributes<'a> {
    bytes: &'a [u8],
    list: Vec<Attribute>,
}

/// Whether a file says that it is an EXR file.
pub(super) fn is_exr(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

impl<'a> Attributes<'a> {
    /// Walks a header. *Errors*: what is wrong, in words.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Attributes<'a>, String> {
        if !is_exr(bytes) {
            return Err("not an EXR file".into());
        }
        let version = u32::from_le_bytes(array(bytes, 4)?);
        if version & !LONG_NAMES != VERSION {
            return Err("not one part of flat scan lines".into());
        }
        let mut list = Vec::new();
        let mut at = 8;
        while *bytes.get(at).ok_or("the header ends early")? != 0 {
            if list.len() == ATTRIBUTES_MAX {
                return Err(format!("more than {ATTRIBUTES_MAX} attributes"));
            }
            let name = text(bytes, at)?;
            let kind = text(bytes, name.end + 1)?;
            let size = u32::from_le_bytes(array(bytes, kind.end + 1)?) as usize;
            let start = kind.end + 5;
            let end = start.checked_add(size).filter(|end| *end <= bytes.len());
            let value = start..end.ok_or("an attribute is longer than the file")?;
            list.push(Attribute { whole: at..value.end, name, value: value.clone() });
            at = value.end;
        }
        Ok(Attributes { bytes, list })
    }

    /// The value of an attribute.
    pub(super) fn value(&self, name: &str) -> Option<&'a [u8]> {
        let named = |attribute: &&Attribute| self.bytes[attribute.name.clone()] == *name.as_bytes();
        self.list.iter().find(named).map(|attribute| &self.bytes[attribute.value.clone()])
    }

    /// Where the attributes lie, and their bytes sorted by name. Names are unique, so there is one order.
    fn sorted(&self) -> (Range<usize>, Vec<u8>) {
        let mut list: Vec<&Attribute> = self.list.iter().collect();
        list.sort_by_key(|attribute| &self.bytes[attribute.name.clone()]);
        let sorted =
            list.iter().flat_map(|attribute| &self.bytes[attribute.whole.clone()]).copied().collect();
        let end = self.list.last().map_or(8, |attribute| attribute.whole.end);
        (8..end, sorted)
    }
}

/// Sorts the attributes of a header by name: the `exr` crate keeps custom ones in a map whose order changes
/// from run to run. Their bytes stay as many, so that nothing after them moves.
pub(super) fn sort(file: &mut [u8]) -> Result<(), String> {
    let (range, sorted) = Attributes::read(file)?.sorted();
    file[range].copy_from_slice(&sorted);
    Ok(())
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], String> {
    let slice = bytes.get(at..at + N).ok_or("the header ends early")?;
    slice.try_into().map_err(|_| "the header ends early".into())
}

/// The range of a text that ends at a zero byte, without that byte.
fn text(bytes: &[u8], at: usize) -> Result<Range<usize>, String> {
    let window = bytes.get(at..).ok_or("the header ends early")?;
    let length = window.iter().take(NAME_MAX_BYTES + 1).position(|byte| *byte == 0);
    match length {
        Some(0) | None => Err("an attribute has no name or type, or a very long one".into()),
        Some(length) => Ok(at..at + length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(attributes: &[(&str, &str, &[u8])]) -> Vec<u8> {
        let mut bytes = [&MAGIC[..], &VERSION.to_le_bytes()].concat();
        for (name, kind, value) in attributes {
            bytes.extend([name.as_bytes(), b"\0", kind.as_bytes(), b"\0"].concat());
            bytes.extend((value.len() as u32).to_le_bytes());
            bytes.extend(*value);
        }
        bytes.extend(b"\0rest");
        bytes
    }

    #[test]
    fn attributes_are_found_and_sorted() {
        let mut unsorted =
            file(&[("b", "string", b"two"), ("c", "int", &[0, 0, 0, 0]), ("a", "string", b"")]);
        assert_eq!(Attributes::read(&unsorted).unwrap().value("b"), Some(&b"two"[..]));
        assert_eq!(Attributes::read(&unsorted).unwrap().value("d"), None);
        sort(&mut unsorted).unwrap();
        let sorted = file(&[("a", "string", b""), ("b", "string", b"two"), ("c", "int", &[0, 0, 0, 0])]);
        assert_eq!(unsorted, sorted);
    }

    #[test]
    fn damaged_headers_are_refused() {
        let whole = file(&[("a", "string", b"value")]);
        let end = whole.len() - b"\0rest".len();
        for length in 0..=end {
            assert!(Attributes::read(&whole[..length]).is_err(), "{length}");
        }
        let mut long = whole.clone();
        let size = 8 + "a\0string\0".len();
        long[size..size + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(Attributes::read(&long).is_err());
        let mut multipart = whole;
        multipart[5] = 0x10;
        assert!(Attributes::read(&multipart).is_err());
        let many: Vec<(String, usize)> = (0..=ATTRIBUTES_MAX).map(|k| (format!("n{k}"), k)).collect();
        let many: Vec<(&str, &str, &[u8])> =
            many.iter().map(|(name, _)| (name.as_str(), "int", &b""[..])).collect();
        assert!(Attributes::read(&file(&many)).is_err());
    }
}
