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

/// Colours and places against another decoder: libjpeg-turbo's pixels of the same files. Two decoders may round
/// and smooth chroma differently, by a few levels. The last is stored as RGB.
#[test]
fn jpeg_pixels_are_those_of_libjpeg() {
    const PLACES: [[usize; 2]; 5] = [[0, 0], [15, 3], [16, 3], [40, 20], [66, 44]];
    let cases: [(&[u8], [[u8; 3]; 5]); 8] = [
        (
            include_bytes!("data/full.jpg"),
            [[134, 0, 0], [148, 64, 18], [109, 50, 0], [29, 145, 246], [117, 255, 17]],
        ),
        (
            include_bytes!("data/half_width.jpg"),
            [[122, 0, 0], [164, 58, 19], [126, 52, 5], [49, 153, 242], [118, 255, 25]],
        ),
        (
            include_bytes!("data/quarter.jpg"),
            [[146, 1, 0], [149, 79, 0], [94, 56, 0], [43, 156, 234], [117, 239, 105]],
        ),
        (
            include_bytes!("data/progressive.jpg"),
            [[154, 0, 0], [147, 68, 0], [117, 76, 12], [48, 148, 255], [120, 243, 92]],
        ),
        (
            include_bytes!("data/grey.jpg"),
            [[33, 33, 33], [78, 78, 78], [69, 69, 69], [130, 130, 130], [192, 192, 192]],
        ),
        (
            include_bytes!("data/restart.jpg"),
            [[154, 0, 0], [142, 57, 20], [117, 56, 11], [40, 151, 255], [125, 251, 66]],
        ),
        (
            include_bytes!("data/extreme.jpg"),
            [[123, 0, 166], [163, 64, 85], [86, 51, 75], [83, 131, 229], [102, 252, 119]],
        ),
        (
            include_bytes!("data/rgb.jpg"),
            [[132, 2, 0], [147, 62, 15], [114, 49, 0], [33, 140, 247], [116, 255, 19]],
        ),
    ];
    for (case, (bytes, expected)) in cases.iter().enumerate() {
        let got = texels(bytes);
        assert!(got.iter().all(|texel| texel[3] == 255), "case {case}");
        for ([x, y], rgb) in PLACES.iter().zip(expected) {
            let texel = got[y * 67 + x];
            assert!(
                texel.iter().zip(rgb).all(|(a, b)| a.abs_diff(*b) <= 4),
                "case {case} at {x}, {y}: {texel:?}, {rgb:?}"
            );
        }
    }
}

/// Every width up to two of the decoder's runs of 16 pixels and the rest after them, a colour to each corner.
#[test]
fn jpeg_rows_of_every_width_keep_their_places() {
    for width in (1..=34).chain([63, 64, 65, 1000]) {
        let picture = image::RgbImage::from_fn(width, 9, |x, y| {
            image::Rgb([(x * 255 / width) as u8, (y * 28) as u8, 255 - (x * 255 / width) as u8])
        });
        let mut bytes = Vec::new();
        let encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut bytes, 100);
        picture.write_with_encoder(encoder).unwrap();
        let got = texels(&bytes);
        for (texel, stored) in got.iter().zip(picture.pixels()) {
            let near = texel.iter().zip(&stored.0).all(|(a, b)| a.abs_diff(*b) <= 6);
            assert!(near && texel[3] == 255, "{width} wide: {texel:?}, {stored:?}");
        }
    }
}

/// Hashes of the RGBA bytes. JPEG: from zune-jpeg 0.5.15 built without its vector code; its AVX2 code gives the same
/// for these and for 800 random files, half of them damaged. WebP: from libwebp 1.6.0, which shares nothing with the
/// decoder here. Both are integer code only.
/// The files are PIL's, of one 67 x 45 picture: chroma at full, half and quarter size, and one with every AC
/// coefficient crushed (quality 3).
#[test]
fn decoded_bytes_are_the_same_on_every_machine() {
    let cases: [(&str, &[u8], &str); 10] = [
        (
            "full",
            include_bytes!("data/full.jpg"),
            "ce34671a7d447c1341ec8ef3b2527747c5406c37ca1957b7ff8db9e3416d59d5",
        ),
        (
            "half_width",
            include_bytes!("data/half_width.jpg"),
            "9fadf55c5689eb3eefdb34e669d27e253210d790b37926a24946045b950f9c3b",
        ),
        (
            "quarter",
            include_bytes!("data/quarter.jpg"),
            "6e48b206555b79e1a412ecb6044ff54574e16c5584ed725b4a6a4413e1dbbce1",
        ),
        (
            "progressive",
            include_bytes!("data/progressive.jpg"),
            "8ef51aea712257da18e355b48a2656cfc43b17858accc498022fd6f6982ea750",
        ),
        (
            "grey",
            include_bytes!("data/grey.jpg"),
            "6b8bbd99589d1aac66c134e2ab0cc784aaeacc950cac0bb244a3d8c37ba39357",
        ),
        (
            "restart",
            include_bytes!("data/restart.jpg"),
            "bc515cd8334be1fcb9ade8b8106122aa60eabcae82379bf7a395e51b80b32de5",
        ),
        (
            "extreme",
            include_bytes!("data/extreme.jpg"),
            "599b638c2c34e48ac0f3b2e03eaf6f4441d20749f3d432ad00ccf3d8c622d0c2",
        ),
        (
            "lossy",
            include_bytes!("data/lossy.webp"),
            "62a43ddcd7f5fcab31415b20e063ae3ca631fc8cf2b9b067e758d0c4a2e7307e",
        ),
        (
            "lossy_alpha",
            include_bytes!("data/lossy_alpha.webp"),
            "52da433e3da21fe5e06017fbf22cc2fde0002acbd46319328bcf7c1bd8f825c8",
        ),
        (
            "lossless_alpha",
            include_bytes!("data/lossless_alpha.webp"),
            "02fde9b1789b240790dc6f4baaba9c7f5ce54b299d301636a38d1462fa781e20",
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
