//! Files from outside: cut, bent and forged ones give errors, never a panic.

use super::*;

fn samples_of(format: Format) -> Vec<(Selection, Encoded)> {
    files(9, 5)
        .into_iter()
        .filter(|(found, ..)| *found == format)
        .map(|(_, selection, _, encoded)| (selection, encoded))
        .collect()
}

/// Reads what verification reads.
fn read_all(bytes: &[u8], format: Format, receipt: &Receipt) {
    let _ = crate::receipt::read(bytes);
    let _ = pixels_of_file(bytes, format, &receipt.request, &receipt.outputs);
}

/// A receipt may name another format than its file's.
#[test]
fn mistaken_files() {
    for (_, _, _, encoded) in files(9, 5) {
        for format in FORMATS.into_iter().filter(|format| format.media_type() != encoded.media_type) {
            let receipt = &encoded.receipt;
            assert!(pixels_of_file(&encoded.bytes, format, &receipt.request, &receipt.outputs).is_err());
        }
    }
}

#[test]
fn cut_files() {
    for format in FORMATS {
        let (_, encoded) = samples_of(format).swap_remove(0);
        for length in (0..encoded.bytes.len()).step_by(7) {
            read_all(&encoded.bytes[..length], format, &encoded.receipt);
        }
    }
}

#[test]
fn bent_files() {
    for format in FORMATS {
        for (selection, encoded) in samples_of(format) {
            let whole = &encoded.bytes;
            for k in 0..60 {
                let mut bent = whole.clone();
                for change in 0..=noise(k) % 3 {
                    let at = noise(k * 7 + change) as usize % bent.len();
                    bent[at] = noise(k * 13 + change) as u8;
                }
                read_all(&bent, format, &encoded.receipt);
                if bent != *whole && !matches!(format, Format::Jpeg { .. }) {
                    // Whatever else changed, other pixels never pass for the receipt's.
                    let pixels =
                        pixels_of_file(&bent, format, &encoded.receipt.request, &encoded.receipt.outputs);
                    let same =
                        pixels_of_file(whole, format, &encoded.receipt.request, &encoded.receipt.outputs);
                    if let (Ok(pixels), Ok(same)) = (pixels, same) {
                        assert_eq!(
                            pixels.hash() == encoded.pixels,
                            pixels == same,
                            "{format} {selection:?} {k}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn what_is_no_frame_has_no_receipt() {
    for (bytes, expected) in [
        (&b""[..], ReceiptError::UnknownFormat),
        (b"GIF89a", ReceiptError::UnknownFormat),
        (b"RIFF\x04\0\0\0WAVE", ReceiptError::UnknownFormat),
        (b"\x89PNG\r\n\x1a\n", ReceiptError::Missing),
        (b"RIFF\x04\0\0\0WEBP", ReceiptError::Missing),
        (b"\xff\xd8\xff\xd9", ReceiptError::Missing),
    ] {
        assert_eq!(crate::receipt::read(bytes), Err(expected), "{bytes:?}");
    }
    for bytes in [
        &b"\x89PNG\r\n\x1a\n\xff\xff\xff\xffiTXt"[..],
        b"RIFF\x04\0\0\0WEBPXMP \xff\xff\xff\xff",
        b"\xff\xd8\xff\xe1\xff\xff",
        b"\xff\xd8\xff\xe1\x00\x00",
        b"\x76\x2f\x31\x01\x02\0\0\0",
    ] {
        assert!(matches!(crate::receipt::read(bytes), Err(ReceiptError::Damaged(_))), "{bytes:?}");
    }
}

/// A receipt that is too long is not parsed.
#[test]
fn long_receipts_are_refused() {
    let (_, encoded) = samples_of(Format::Png8).swap_remove(0);
    let mut file = encoded.bytes[..8].to_vec();
    let text = [b"isoframe:receipt\0\0\0\0\0".to_vec(), vec![b'['; RECEIPT_MAX_BYTES + 1]].concat();
    file.extend((text.len() as u32).to_be_bytes());
    file.extend([b"iTXt".to_vec(), text, vec![0; 4]].concat());
    assert!(matches!(crate::receipt::read(&file), Err(ReceiptError::Malformed(_))));
}
