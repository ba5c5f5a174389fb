//! What other readers see: the `image` and `exr` crates, by their public ways.

use std::io::Cursor;

use ::exr::prelude::{FlatSamples, ReadChannels, ReadLayers, f16, read};
use image::DynamicImage;

use super::*;

#[test]
fn eight_bit_colour_is_the_frame() {
    for (width, height) in SIZES {
        for (format, selection, frame, encoded) in files(width, height) {
            let (Format::Png8 | Format::Webp, Selection::One(Output::Color)) = (format, selection) else {
                continue;
            };
            let image = image::load_from_memory(&encoded.bytes).unwrap();
            assert_eq!((image.width(), image.height()), (width, height));
            let Some(Color::Srgb8(color)) = &frame.color else { panic!("not 8 bit") };
            assert_eq!(image.into_rgba8().into_raw(), color.as_flattened(), "{width}x{height} {format}");
        }
    }
}

/// Codes worked out by hand from the mapping's documentation.
#[test]
fn whole_numbers_are_as_documented() {
    let inf = f32::INFINITY;
    let frame = Frame {
        width: 4,
        height: 1,
        color: Some(Color::Linear(vec![[0.09, 0.5, 1.0, 0.5], [1.0, 0.0, 2.0, 1.0], [0.0; 4], [0.18; 4]])),
        base: Some(vec![[0.25, 0.5, 9.0, 0.5]; 4]),
        depth: Some(vec![1.0, inf, 3.0, 2.0]),
        motion: Some(vec![[0.0, 0.0], [-1.5, 2.25], [511.0, -512.0], [600.0, 0.0]]),
        normal: Some(vec![[0.0, 0.0, 0.0], [1.0, -1.0, 0.0], [0.6, 0.0, -0.8], [0.0, 1.0, 0.0]]),
        albedo: Some(vec![[0.18, 0.5, 1.0]; 4]),
        id: Some(vec![[0, 0], [1, 2], [65535, 1], [3, 1]]),
        irradiance: Some(vec![[0.18, 0.5, 2.0, 9.0, 9.0, 9.0]; 4]),
        reflectance: Some(vec![[0.18, 0.5, 1.0, 9.0, 9.0, 9.0]; 4]),
        emission: Some(vec![[0.18, 0.5, 7.0]; 4]),
        hit_distance: Some(vec![1.0, 65504.0, 3.0, 2.0]),
        variance: Some(vec![[0.25, 4.0]; 4]),
        motion_valid: true,
        coverage: None,
    };
    let plan = plan(4, 1, &super::all());
    let decode = |frame: &Frame, format, output| {
        let encoded =
            encode(frame, &plan, format, Selection::One(output), &EncodeOptions::default()).unwrap();
        let image = image::load_from_memory(&encoded.bytes).unwrap();
        (encoded.receipt.depth_range, image)
    };
    let sixteen = |output| match decode(&frame, Format::Png16, output).1 {
        DynamicImage::ImageLuma16(image) => image.into_raw(),
        DynamicImage::ImageRgb16(image) => image.into_raw(),
        DynamicImage::ImageRgba16(image) => image.into_raw(),
        other => panic!("{output}: {:?}", other.color()),
    };
    let eight = |output| decode(&frame, Format::Png8, output).1.into_bytes();
    // 0.18 is 30235 on the curve, 0.5 is 48192; colour is divided by alpha first.
    let half = 32768;
    assert_eq!(sixteen(Output::Color)[..8], [30235, 65535, 65535, half, 65535, 0, 65535, 65535]);
    assert_eq!(sixteen(Output::Color)[8..], [0, 0, 0, 0, 65535, 65535, 65535, 11796]);
    assert_eq!(sixteen(Output::Base)[..4], [48192, 65535, 65535, half]);
    assert_eq!(sixteen(Output::Albedo)[..3], [30235, 48192, 65535]);
    for output in [Output::Irradiance, Output::Reflectance, Output::Emission] {
        assert_eq!(sixteen(output)[..3], [30235, 48192, 65535], "{output}");
    }
    assert_eq!(sixteen(Output::Variance)[..3], [half, 65535, 0]);
    assert_eq!(eight(Output::HitDistance), [0, 254, 0, 0]);
    assert_eq!(sixteen(Output::Depth), [0, 65535, 65534, 32767]);
    assert_eq!(eight(Output::Depth), [0, 255, 254, 127]);
    let range = decode(&frame, Format::Png16, Output::Depth).0.unwrap();
    assert_eq!((range.near, range.far), (1.0, 3.0));
    assert_eq!(sixteen(Output::Motion), [half, half, 1, 32672, 32912, 1, 65472, 0, 1, 65535, half, 0]);
    assert_eq!(eight(Output::Motion), [128, 128, 255, 126, 130, 255, 255, 0, 0, 255, 128, 0]);
    assert_eq!(
        sixteen(Output::Normal),
        [half, half, half, 65535, 0, half, 52428, half, 6553, half, 65535, half]
    );
    assert_eq!(sixteen(Output::Id), [0, 0, 0, 1, 2, 0, 65535, 1, 0, 3, 1, 0]);
    let id = eight(Output::Id);
    assert_eq!(id[..3], [0, 0, 0]);
    assert!(id[3..].iter().all(|channel| *channel >= 48) && id[3..6] != id[9..12], "{id:?}");
    let still = Frame { motion_valid: false, ..frame.clone() };
    assert_eq!(decode(&still, Format::Png8, Output::Motion).1.into_bytes()[2], 0);
    let empty = Frame { depth: Some(vec![inf; 4]), ..frame.clone() };
    assert_eq!(decode(&empty, Format::Png8, Output::Depth).1.into_bytes(), [255; 4]);
    let flat = Frame { depth: Some(vec![2.0, 2.0, inf, 2.0]), ..frame };
    assert_eq!(decode(&flat, Format::Png8, Output::Depth).1.into_bytes(), [0, 0, 255, 0]);
}

/// Quality 100 keeps flat colours within one code; where alpha is 0 there is white.
#[test]
fn jpeg_lies_over_white() {
    let pixels = |pixel: [u8; 4]| Frame {
        width: 16,
        height: 16,
        color: Some(Color::Srgb8(vec![pixel; 256])),
        ..Frame::default()
    };
    let plan = plan(16, 16, &[Output::Color]);
    for (pixel, expected) in [
        ([200, 100, 50, 255], [200, 100, 50]),
        ([1, 2, 3, 0], [255, 255, 255]),
        ([0, 0, 0, 128], [127, 127, 127]),
    ] {
        let format = Format::Jpeg { quality: 100 };
        let options = EncodeOptions::default();
        let encoded = encode(&pixels(pixel), &plan, format, Selection::One(Output::Color), &options).unwrap();
        for decoded in image::load_from_memory(&encoded.bytes).unwrap().into_rgb8().pixels() {
            let close = decoded.0.iter().zip(expected).all(|(got, wanted)| got.abs_diff(wanted) <= 1);
            assert!(close, "{:?} is not {expected:?}", decoded.0);
        }
    }
}

/// Channel by channel, every bit.
#[test]
fn exr_is_the_frame() {
    for (width, height) in SIZES {
        for (format, selection, frame, encoded) in files(width, height) {
            if !matches!(format, Format::ExrHalf | Format::ExrFloat) {
                continue;
            }
            let image = read()
                .no_deep_data()
                .largest_resolution_level()
                .all_channels()
                .first_valid_layer()
                .all_attributes()
                .from_buffered(Cursor::new(&encoded.bytes))
                .unwrap();
            let channels = &image.layer_data.channel_data.list;
            let names: Vec<String> = channels.iter().map(|channel| channel.name.to_string()).collect();
            assert!(names.is_sorted(), "{names:?}");
            if selection == Selection::Layers {
                assert_eq!(names.len(), 45, "{names:?}");
            }
            for (channel, name) in channels.iter().zip(&names) {
                check_channel(&frame, name, &channel.sample_data, format == Format::ExrHalf);
            }
            let attributes = &image.attributes;
            assert_eq!(attributes.chromaticities.map(|c| c.red.0), Some(0.64));
        }
    }
}

fn check_channel(frame: &Frame, name: &str, samples: &FlatSamples, half: bool) {
    let Some(Color::Linear(color)) = &frame.color else { panic!("not linear") };
    let letter = name.rsplit('.').next().unwrap_or(name);
    let rgba = || "RGBA".find(letter).unwrap();
    let xyz = || "XYZ".find(letter).unwrap();
    let expected: Vec<f32> = match name.split('.').next().unwrap() {
        "R" | "G" | "B" | "A" => color.iter().map(|pixel| pixel[rgba()]).collect(),
        "base" => frame.base.iter().flatten().map(|pixel| pixel[rgba()]).collect(),
        "albedo" => frame.albedo.iter().flatten().map(|pixel| pixel[rgba()]).collect(),
        "depth" => frame.depth.clone().unwrap(),
        "motion" => frame.motion.iter().flatten().map(|pixel| pixel[xyz()]).collect(),
        "normal" => frame.normal.iter().flatten().map(|pixel| pixel[xyz()]).collect(),
        "irradiance" | "reflectance" => {
            let both = if name.starts_with("irradiance") { &frame.irradiance } else { &frame.reflectance };
            let at = rgba() + if name.contains(".specular.") { 3 } else { 0 };
            both.iter().flatten().map(|pixel| pixel[at]).collect()
        }
        "emission" => frame.emission.iter().flatten().map(|pixel| pixel[rgba()]).collect(),
        "hit_distance" => frame.hit_distance.clone().unwrap(),
        "variance" => {
            let at = usize::from(letter == "specular");
            frame.variance.iter().flatten().map(|pixel| pixel[at]).collect()
        }
        "id" => {
            let at = usize::from(letter == "primitive");
            let expected: Vec<u32> = frame.id.iter().flatten().map(|pixel| pixel[at]).collect();
            assert_eq!(*samples, FlatSamples::U32(expected), "{name}");
            return;
        }
        // Ranks have tests of their own; here, that all four samples of each pixel are found again.
        "CryptoObject00" | "CryptoObject01" => return,
        other => panic!("{other}"),
    };
    let colour = ["R", "G", "B", "A", "base", "albedo"].contains(&name.split('.').next().unwrap());
    match samples {
        FlatSamples::F16(values) if half && colour => {
            let expected: Vec<f16> = expected.into_iter().map(f16::from_f32).collect();
            assert_eq!(*values, expected, "{name}");
        }
        FlatSamples::F32(values) if !(half && colour) => assert_eq!(*values, expected, "{name}"),
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn cryptomatte_of_a_file() {
    let (_, _, frame, encoded) = files(65, 3)
        .into_iter()
        .find(|(format, selection, ..)| *format == Format::ExrHalf && *selection == Selection::Layers)
        .unwrap();
    let image = read()
        .no_deep_data()
        .largest_resolution_level()
        .all_channels()
        .first_valid_layer()
        .all_attributes()
        .from_buffered(Cursor::new(&encoded.bytes))
        .unwrap();
    let floats = |name: &str| {
        let channel =
            image.layer_data.channel_data.list.iter().find(|channel| channel.name.eq(name)).unwrap();
        match &channel.sample_data {
            FlatSamples::F32(values) => values.clone(),
            other => panic!("{name}: {other:?}"),
        }
    };
    let (id, covered) = (floats("CryptoObject00.R"), floats("CryptoObject00.G"));
    let (second, second_covered) = (floats("CryptoObject00.B"), floats("CryptoObject00.A"));
    let hash = |node: u32| match node {
        1 => cryptomatte::name_hash("Körper"),
        2 => cryptomatte::name_hash("wheel"),
        _ => cryptomatte::name_hash("wheel#2"),
    };
    for (k, [node, _]) in frame.id.as_ref().unwrap().iter().enumerate() {
        let got = ((id[k].to_bits(), covered[k]), (second[k].to_bits(), second_covered[k]));
        let wheel = hash(2);
        let expected = match node {
            0 => ((wheel, 0.25), (0, 0.0)),
            2 => ((wheel, 1.0), (0, 0.0)),
            node => ((hash(*node), 0.75), (wheel, 0.25)),
        };
        assert_eq!(got, expected, "pixel {k}");
    }
    let manifest = image.layer_data.attributes.other.iter();
    let manifest = manifest.filter(|(name, _)| name.to_string().ends_with("/manifest")).count();
    assert_eq!(manifest, 1);
}

/// Tags by the specification of PNG: chunks in this order, before the pixels.
#[test]
fn png_says_that_it_is_srgb() {
    for (format, selection, _, encoded) in files(1, 1) {
        let (Format::Png8 | Format::Png16, Selection::One(output)) = (format, selection) else { continue };
        let mut names = Vec::new();
        let mut rest = &encoded.bytes[8..];
        while let Some((head, body)) = rest.split_first_chunk::<8>() {
            names.push(String::from_utf8(head[4..].to_vec()).unwrap());
            let size = u32::from_be_bytes(head[..4].try_into().unwrap()) as usize;
            if names.last().unwrap() == "cICP" {
                assert_eq!(body[..size], [1, 13, 0, 1]);
            }
            rest = &body[size + 4..];
        }
        let picture = super::super::samples::is_picture(output);
        for tag in ["cICP", "sRGB", "gAMA", "cHRM"] {
            assert_eq!(
                names.iter().filter(|name| *name == tag).count(),
                usize::from(picture),
                "{output} {tag}"
            );
        }
        let image = names.iter().position(|name| name == "IDAT").unwrap();
        assert!(names[image..].iter().all(|name| name == "IDAT" || name == "IEND"), "{names:?}");
    }
}
