//! Images that are small and claim, or inflate, to be large: CASES B40.

/// An 8-bit grey PNG whose header says this size, over these bytes of rows.
pub fn png(width: u32, height: u32, rows: &[u8]) -> Vec<u8> {
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = [width.to_be_bytes(), height.to_be_bytes()].concat();
    header.extend([8, 0, 0, 0, 0]);
    chunk(&mut out, b"IHDR", &header);
    chunk(&mut out, b"IDAT", &zlib_stored(rows));
    chunk(&mut out, b"IEND", &[]);
    out
}

/// Appends a PNG chunk.
pub fn chunk(out: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    out.extend((data.len() as u32).to_be_bytes());
    let start = out.len();
    out.extend(kind);
    out.extend(data);
    let mut table = [0u32; 256];
    for (i, entry) in (0u32..).zip(&mut table) {
        *entry = (0..8).fold(i, |c, _| if c & 1 == 1 { c >> 1 ^ 0xedb8_8320 } else { c >> 1 });
    }
    let crc = out[start..].iter().fold(!0u32, |c, &b| c >> 8 ^ table[usize::from(c as u8 ^ b)]);
    out.extend((!crc).to_be_bytes());
}

fn zlib_stored(data: &[u8]) -> Vec<u8> {
    assert!(data.len() < 65536);
    let length = data.len() as u16;
    let mut out = vec![0x78, 0x01, 1];
    out.extend(length.to_le_bytes());
    out.extend((!length).to_le_bytes());
    out.extend(data);
    let (a, b) = data.iter().fold((1u32, 0u32), |(a, b), &v| {
        let a = (a + u32::from(v)) % 65521;
        (a, (b + a) % 65521)
    });
    out.extend((b << 16 | a).to_be_bytes());
    out
}

/// A zlib stream of 1 + 258 n zeros in 13 bits for each 258: fixed Huffman codes, length 258, distance 1.
pub fn zlib_zeros(n: usize) -> Vec<u8> {
    let mut out = vec![0x78, 0x01];
    let (mut bits, mut count) = (0u64, 0u32);
    let mut put = |code: u64, width: u32, out: &mut Vec<u8>| {
        bits |= code << count;
        count += width;
        while count >= 8 {
            out.push(bits as u8);
            bits >>= 8;
            count -= 8;
        }
    };
    put(0b011, 3, &mut out);
    put(0x30u8.reverse_bits().into(), 8, &mut out);
    for _ in 0..n {
        put(0b1100_0101u8.reverse_bits().into(), 8, &mut out);
        put(0, 5, &mut out);
    }
    put(0, 7, &mut out);
    put(0, 7, &mut out);
    let length = (1 + 258 * n) % 65521;
    out.extend(((length as u32) << 16 | 1).to_be_bytes());
    out
}

/// `n` of [`zlib_zeros`] that inflates to a gigabyte.
pub const GIGABYTE_OF_MATCHES: usize = (1 << 30) / 258;

/// An 8-bit grey PNG of zeros: rows for its whole size, and up to a match more.
pub fn png_of_zeros(width: u32, height: u32) -> Vec<u8> {
    let mut out = png(width, height, &[]);
    out.truncate(AFTER_HEADER);
    let bytes = height as usize * (1 + width as usize);
    chunk(&mut out, b"IDAT", &zlib_zeros(bytes / 258));
    chunk(&mut out, b"IEND", &[]);
    out
}

/// A sound 2 x 2 PNG with a chunk of this kind before its pixels: `prefix`, then a gigabyte once inflated.
pub fn png_with_gigabyte(kind: &[u8; 4], prefix: &[u8]) -> Vec<u8> {
    let plain = png(2, 2, &[0, 10, 20, 0, 30, 40]);
    let mut out = plain[..AFTER_HEADER].to_vec();
    chunk(&mut out, kind, &[prefix, &zlib_zeros(GIGABYTE_OF_MATCHES)].concat());
    out.extend(&plain[AFTER_HEADER..]);
    out
}

/// Where the chunk after `IHDR` begins.
pub const AFTER_HEADER: usize = 33;

/// A JPEG whose frame header says this size.
pub fn jpeg_of_header(width: u16, height: u16) -> Vec<u8> {
    let mut out = include_bytes!("../data/full.jpg").to_vec();
    let sof = out.windows(2).position(|pair| pair == [0xff, 0xc0]).expect("a baseline frame");
    out[sof + 5..sof + 7].copy_from_slice(&height.to_be_bytes());
    out[sof + 7..sof + 9].copy_from_slice(&width.to_be_bytes());
    out
}
