//! Decoding: every encoding that glTF files carry, exactly; what is damaged or too large is refused.

use image::{DynamicImage, ExtendedColorType, ImageEncoder};
use isoframe_raster::image::{Format, ImageError, PixelBudget, decode, probe};

fn png(width: u32, height: u32, color: png::ColorType, depth: png::BitDepth, data: &[u8]) -> Vec<u8> {
    png_with(width, height, color, depth, data, |_| {})
}

fn png_with(
    width: u32,
    height: u32,
    color: png::ColorType,
    depth: png::BitDepth,
    data: &[u8],
    set: impl FnOnce(&mut png::Encoder<'_, &mut Vec<u8>>),
) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width, height);
    encoder.set_color(color);
    encoder.set_depth(depth);
    set(&mut encoder);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(data).unwrap();
    writer.finish().unwrap();
    out
}

fn texels(bytes: &[u8]) -> Vec<[u8; 4]> {
    decode(bytes, None, &mut PixelBudget::default()).unwrap().rgba
}

#[test]
fn grey_palette_and_depth_conversions_are_exact() {
    use png::BitDepth::*;
    use png::ColorType::*;
    let cases: Vec<(&str, Vec<u8>, Vec<[u8; 4]>)> = vec![
        ("grey 8", png(2, 1, Grayscale, Eight, &[128, 7]), vec![[128, 128, 128, 255], [7, 7, 7, 255]]),
        (
            "grey alpha 8",
            png(1, 2, GrayscaleAlpha, Eight, &[128, 9, 3, 255]),
            vec![[128, 128, 128, 9], [3, 3, 3, 255]],
        ),
        ("rgb 8", png(1, 1, Rgb, Eight, &[1, 2, 3]), vec![[1, 2, 3, 255]]),
        ("rgba 8", png(1, 1, Rgba, Eight, &[1, 2, 3, 0]), vec![[1, 2, 3, 0]]),
        // 1 bit: 0, 255; 2 bit: v * 85; 4 bit: v * 17.
        ("grey 1", png(3, 1, Grayscale, One, &[0b1010_0000]), vec![[255; 4], [0, 0, 0, 255], [255; 4]]),
        ("grey 2", png(2, 1, Grayscale, Two, &[0b0110_0000]), vec![[85, 85, 85, 255], [170, 170, 170, 255]]),
        ("grey 4", png(2, 1, Grayscale, Four, &[0x9f]), vec![[153, 153, 153, 255], [255; 4]]),
        // 16 bit, by hand: round(v * 255 / 65535). 128 * 257 is 128; 128 and 129 straddle 0.5; 65406 = 254.498.
        ("grey 16", png(4, 1, Grayscale, Sixteen, &[128, 128, 0, 128, 0, 129, 0xff, 0x7e]), {
            vec![[128, 128, 128, 255], [0, 0, 0, 255], [1, 1, 1, 255], [254, 254, 254, 255]]
        }),
        ("rgba 16", png(1, 1, Rgba, Sixteen, &[1, 1, 0, 0, 0xff, 0xff, 0x80, 0x80]), vec![[1, 0, 255, 128]]),
        ("grey alpha 16", png(1, 1, GrayscaleAlpha, Sixteen, &[2, 2, 3, 3]), vec![[2, 2, 2, 3]]),
    ];
    for (name, bytes, expected) in cases {
        assert_eq!(texels(&bytes), expected, "{name}");
    }
}

#[test]
fn sixteen_bit_rounds_to_nearest_everywhere() {
    let data: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_be_bytes).collect();
    let got = texels(&png(256, 256, png::ColorType::Grayscale, png::BitDepth::Sixteen, &data));
    for (v, texel) in got.iter().enumerate() {
        assert_eq!(texel[0], (v as f64 / 257.0).round() as u8, "{v}");
    }
}

/// CASES B11: one grey, every way to write it.
#[test]
fn odd_encodings_of_one_grey_are_the_same() {
    use png::BitDepth::*;
    use png::ColorType::*;
    let reference = texels(&png(4, 4, Rgb, Eight, &[128; 48]));
    let icc = {
        // An iCCP chunk that no reader could apply: it must not be looked at.
        let mut chunk = b"icc\0\0".to_vec();
        chunk.extend(zlib_stored(&[0xab; 64]));
        insert_chunk(&png(4, 4, Rgb, Eight, &[128; 48]), b"iCCP", &chunk)
    };
    let cases = [
        ("grey", png(4, 4, Grayscale, Eight, &[128; 16])),
        ("grey alpha", png(4, 4, GrayscaleAlpha, Eight, &[128, 255].repeat(16))),
        (
            "palette",
            png_with(4, 4, Indexed, Eight, &[1; 16], |e| e.set_palette(vec![0, 0, 0, 128, 128, 128])),
        ),
        ("gamma", png_with(4, 4, Rgb, Eight, &[128; 48], |e| e.set_source_gamma(png::ScaledFloat::new(1.0)))),
        ("chromaticities", {
            let wide = png::SourceChromaticities::new((0.3, 0.3), (0.7, 0.3), (0.2, 0.7), (0.1, 0.1));
            png_with(4, 4, Rgb, Eight, &[128; 48], |e| e.set_source_chromaticities(wide))
        }),
        ("icc", icc),
        ("16 bit", png(4, 4, Rgb, Sixteen, &[128; 96])),
    ];
    for (name, bytes) in cases {
        assert_eq!(texels(&bytes), reference, "{name}");
    }
    let grey = jpeg(DynamicImage::ImageLuma8(image::GrayImage::from_pixel(4, 4, image::Luma([128]))));
    for texel in texels(&grey) {
        assert!(texel[0] == texel[1] && texel[1] == texel[2] && texel[3] == 255, "grey JPEG: {texel:?}");
        assert!(texel[0].abs_diff(128) <= 2, "grey JPEG: {texel:?}");
    }
}

fn jpeg(image: DynamicImage) -> Vec<u8> {
    let mut out = Vec::new();
    image.write_with_encoder(image::codecs::jpeg::JpegEncoder::new_with_quality(&mut out, 90)).unwrap();
    out
}

fn webp(width: u32, height: u32, color: ExtendedColorType, data: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    image::codecs::webp::WebPEncoder::new_lossless(&mut out).write_image(data, width, height, color).unwrap();
    out
}

/// A zlib stream of stored blocks, of at most 65535 bytes each.
fn zlib_stored(data: &[u8]) -> Vec<u8> {
    let mut out = vec![0x78, 0x01];
    for (i, chunk) in data.chunks(65535).enumerate() {
        let last = (i + 1) * 65535 >= data.len();
        out.push(u8::from(last));
        out.extend((chunk.len() as u16).to_le_bytes());
        out.extend((!(chunk.len() as u16)).to_le_bytes());
        out.extend(chunk);
    }
    let (a, b) = data.iter().fold((1u32, 0u32), |(a, b), &v| {
        let a = (a + u32::from(v)) % 65521;
        (a, (b + a) % 65521)
    });
    out.extend((b << 16 | a).to_be_bytes());
    out
}

/// Puts a chunk right after IHDR.
fn insert_chunk(png: &[u8], kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let mut out = png[..33].to_vec();
    out.extend((data.len() as u32).to_be_bytes());
    let body: Vec<u8> = [kind.as_slice(), data].concat();
    out.extend(&body);
    out.extend(crc32(&body).to_be_bytes());
    out.extend(&png[33..]);
    out
}

fn crc32(data: &[u8]) -> u32 {
    !data.iter().fold(!0u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |c, _| if c & 1 == 1 { c >> 1 ^ 0xedb8_8320 } else { c >> 1 })
    })
}

#[test]
fn webp_lossless_is_exact() {
    let rgba: Vec<u8> = (0..8 * 8 * 4).map(|i| (i * 37 % 251) as u8).collect();
    let got = texels(&webp(8, 8, ExtendedColorType::Rgba8, &rgba));
    assert_eq!(got.concat(), rgba);
    let rgb: Vec<u8> = (0..8 * 8 * 3).map(|i| (i * 37 % 251) as u8).collect();
    let got = texels(&webp(8, 8, ExtendedColorType::Rgb8, &rgb));
    assert!(got.iter().zip(rgb.chunks(3)).all(|(t, c)| t[..3] == *c && t[3] == 255));
}

#[test]
fn probe_reads_the_size_of_each_format() {
    let rgb = DynamicImage::ImageRgb8(image::RgbImage::new(17, 5));
    let cases = [
        (Format::Png, png(17, 5, png::ColorType::Rgb, png::BitDepth::Eight, &[0; 17 * 5 * 3])),
        (Format::Jpeg, jpeg(rgb)),
        (Format::WebP, webp(17, 5, ExtendedColorType::Rgb8, &[0; 17 * 5 * 3])),
    ];
    for (format, bytes) in cases {
        assert_eq!(Format::of(&bytes), Some(format));
        assert_eq!(probe(&bytes).unwrap(), (17, 5), "{format}");
    }
}

#[test]
fn the_budget_is_one_for_all_images_and_is_checked_first() {
    let image = png(4, 4, png::ColorType::Grayscale, png::BitDepth::Eight, &[0; 16]);
    let mut budget = PixelBudget { max_side_px: 4, remaining_px: 40 };
    assert!(decode(&image, None, &mut budget).is_ok());
    assert!(decode(&image, None, &mut budget).is_ok());
    assert_eq!(budget.remaining_px, 8);
    let refused = decode(&image, None, &mut budget).unwrap_err();
    assert_eq!(refused, ImageError::Budget { width: 4, height: 4, remaining_px: 8 });
    assert_eq!(budget.remaining_px, 8);
    let mut narrow = PixelBudget { max_side_px: 3, remaining_px: 1000 };
    assert_eq!(decode(&image, None, &mut narrow).unwrap_err().code(), "image_side");
}

#[test]
fn what_is_not_an_image_is_named() {
    let mut budget = PixelBudget::default();
    for bytes in [&b""[..], b"\xff", b"GIF89a..........", b"RIFF....WAVE", b"<svg/>"] {
        let refused = decode(bytes, Some("image/png"), &mut budget).unwrap_err();
        assert_eq!(refused.code(), "image_format");
        assert!(refused.to_string().contains("image/png"), "{refused}");
    }
}

#[test]
fn truncation_is_refused_at_every_length() {
    let noise: Vec<u8> = (0u32..32 * 32 * 3).map(|i| (i.wrapping_mul(2654435761) >> 24) as u8).collect();
    let rgb = image::RgbImage::from_raw(32, 32, noise.clone()).unwrap();
    let cases = [
        (png(32, 32, png::ColorType::Rgb, png::BitDepth::Eight, &noise), 12),
        (jpeg(DynamicImage::ImageRgb8(rgb)), 3),
        (webp(32, 32, ExtendedColorType::Rgb8, &noise), 2),
    ];
    for (bytes, slack) in cases {
        // `slack` bytes at the end carry no pixels (IEND, EOI and padding, RIFF padding).
        for length in (0..bytes.len() - slack).step_by(7) {
            let format = Format::of(&bytes);
            assert!(
                decode(&bytes[..length], None, &mut PixelBudget::default()).is_err(),
                "{format:?} at {length}"
            );
        }
    }
}

/// Hashes of the RGBA bytes. JPEG: from zune-jpeg 0.5.15 built without its vector code; its AVX2 code gives the same
/// for these and for 800 random files, half of them damaged. WebP: from this decoder, which has integer code only.
/// The files are PIL's, of one 67 x 45 picture: chroma at full, half and quarter size, and one with every AC
/// coefficient crushed (quality 3).
#[test]
fn decoded_bytes_are_the_same_on_every_machine() {
    let cases: [(&str, &[u8], &str); 8] = [
        (
            "full",
            include_bytes!("data/full.jpg"),
            "8231d6a495453da5a4fb77be63ee2a54c0f4ece225996c2875c1159078864385",
        ),
        (
            "half_width",
            include_bytes!("data/half_width.jpg"),
            "e00864b2c04c974a27bbc1ffc72ee013e97ea8bfb3832e120dc1ee7835bb5a4e",
        ),
        (
            "quarter",
            include_bytes!("data/quarter.jpg"),
            "8cfd2a2c8ca8f66d669736d7c928177fe1a241a8e0f609e56499ee19f47c3f4f",
        ),
        (
            "progressive",
            include_bytes!("data/progressive.jpg"),
            "629b1009d8eecb587bffcd03e5ce6969fe3ab95a109ceaeaad66894e56bae0d3",
        ),
        (
            "grey",
            include_bytes!("data/grey.jpg"),
            "6b8bbd99589d1aac66c134e2ab0cc784aaeacc950cac0bb244a3d8c37ba39357",
        ),
        (
            "restart",
            include_bytes!("data/restart.jpg"),
            "a20710bd175d79be0f6ecbf39fb7d2a39ebb803ae83b652f7c870b4bfb5d9469",
        ),
        (
            "extreme",
            include_bytes!("data/extreme.jpg"),
            "db432930344f4699092bbcbd7714c09d1cdf466bf7c5efd89ab534e9a4a07d3c",
        ),
        (
            "lossy",
            include_bytes!("data/lossy.webp"),
            "62a43ddcd7f5fcab31415b20e063ae3ca631fc8cf2b9b067e758d0c4a2e7307e",
        ),
    ];
    for (name, bytes, expected) in cases {
        let image = decode(bytes, None, &mut PixelBudget::default()).unwrap();
        assert_eq!((image.width, image.height), (67, 45), "{name}");
        assert_eq!(blake3::hash(image.rgba.as_flattened()).to_hex().as_str(), expected, "{name}");
    }
}

#[test]
fn varieties_without_defined_pixels_are_refused_by_name() {
    let cases: [(&[u8], &str); 2] =
        [(include_bytes!("data/cmyk.jpg"), "CMYK"), (include_bytes!("data/animated.webp"), "animated")];
    for (bytes, word) in cases {
        let refused = decode(bytes, None, &mut PixelBudget::default()).unwrap_err();
        assert_eq!(refused.code(), "image_unsupported");
        assert!(refused.to_string().contains(word), "{refused}");
    }
}

/// Nothing that is done to a file makes the decoder panic or read past its end.
#[test]
fn damaged_bytes_never_panic() {
    let files: [&[u8]; 6] = [
        include_bytes!("data/full.jpg"),
        include_bytes!("data/progressive.jpg"),
        include_bytes!("data/lossy.webp"),
        include_bytes!("data/lossy_alpha.webp"),
        include_bytes!("data/lossless_alpha.webp"),
        &png(9, 7, png::ColorType::Rgba, png::BitDepth::Eight, &[77; 9 * 7 * 4]),
    ];
    let mut budget = PixelBudget { max_side_px: 512, remaining_px: u64::MAX };
    let mut seed = 1u32;
    for file in files {
        for _ in 0..200 {
            let mut bytes = file.to_vec();
            for _ in 0..3 {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let at = (seed >> 8) as usize % bytes.len();
                bytes[at] = seed as u8;
            }
            let _ = decode(&bytes, None, &mut budget);
        }
    }
}

/// A file cut inside its last row, with an end marker inside its thumbnail.
#[test]
fn an_end_marker_in_a_thumbnail_is_not_the_end() {
    let whole = include_bytes!("data/full.jpg");
    let thumbnail = [&[0xff, 0xe1, 0, 8, 0xff, 0xd8, 0xff, 0xd9, 0, 0][..]].concat();
    let with_thumbnail = [&whole[..2], &thumbnail, &whole[2..]].concat();
    assert!(decode(&with_thumbnail, None, &mut PixelBudget::default()).is_ok());
    let cut = &with_thumbnail[..with_thumbnail.len() - 6];
    assert_eq!(decode(cut, None, &mut PixelBudget::default()).unwrap_err().code(), "image_damaged");
}
