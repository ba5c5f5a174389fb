//! Files out of synthetic frames: what goes in comes out, the same bytes every time.

mod decode;
mod determinism;
mod hostile;

use isoframe_raster::frame::{
    Color, ColorFormat, Coverage, Frame, FrameRequest, IdCoverage, Lighting, Output, SharedPixel, Traced,
};
use isoframe_raster::scene::{Mesh, Node, Scene};

use super::*;

const SIZES: [(u32, u32); 5] = [(1, 1), (63, 5), (64, 64), (65, 3), (257, 3)];

const FORMATS: [Format; 6] = [
    Format::Png8,
    Format::Png16,
    Format::ExrHalf,
    Format::ExrFloat,
    Format::Webp,
    Format::Jpeg { quality: 90 },
];

/// Well-mixed bits of a number: the finaliser of MurmurHash3.
fn noise(seed: u32) -> u32 {
    let mut hash = seed.wrapping_add(0x9e37_79b9);
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

/// From 0 up to 1.
fn unit(seed: u32) -> f32 {
    (noise(seed) >> 8) as f32 / (1 << 24) as f32
}

/// A frame with all outputs: values of every kind that the contract allows, extremes among them.
fn frame(width: u32, height: u32, color: ColorFormat) -> Frame {
    let pixels = width * height;
    let color = match color {
        ColorFormat::Srgb8 => Color::Srgb8((0..pixels).map(|k| noise(k).to_le_bytes()).collect()),
        ColorFormat::Linear => Color::Linear((0..pixels).map(|k| premultiplied(k, 1.0)).collect()),
    };
    let ids = |k: u32| if k.is_multiple_of(5) { [0, 0] } else { [1 + noise(k) % 3, 1 + noise(k) / 7 % 2] };
    let signed = |k: u32| unit(k) * 2.0 - 1.0;
    Frame {
        width,
        height,
        color: Some(color),
        base: Some((0..pixels).map(|k| premultiplied(k, 65504.0)).collect()),
        depth: Some((0..pixels).map(|k| if k % 5 == 0 { f32::INFINITY } else { 1.0 + unit(k) }).collect()),
        motion: Some((0..pixels).map(|k| [signed(k) * 100.0, signed(k + 7) * 65504.0]).collect()),
        normal: Some((0..pixels).map(|k| [signed(k), signed(k + 1), signed(k + 2)]).collect()),
        albedo: Some((0..pixels).map(|k| [unit(k), unit(k + 1), 0.0]).collect()),
        id: Some((0..pixels).map(ids).collect()),
        irradiance: Some((0..pixels).map(|k| [0, 1, 2, 3, 4, 5].map(|n| unit(k + n) * 3.0)).collect()),
        reflectance: Some((0..pixels).map(|k| [0, 1, 2, 3, 4, 5].map(|n| unit(k + 2 * n))).collect()),
        emission: Some((0..pixels).map(|k| [0, 1, 2].map(|n| unit(k + n) * 100.0)).collect()),
        hit_distance: Some((0..pixels).map(|k| unit(k) * 65504.0).collect()),
        variance: Some((0..pixels).map(|k| [unit(k), unit(k + 3) * 9.0]).collect()),
        motion_valid: true,
        coverage: Some(Coverage { samples: 4, shared: (0..pixels).map(|k| shared(k, ids(k))).collect() }),
    }
}

fn all() -> Vec<Output> {
    Output::all().collect()
}

fn premultiplied(k: u32, scale: f32) -> [f32; 4] {
    let alpha = if k.is_multiple_of(3) { 1.0 } else { (noise(k) % 5) as f32 / 4.0 };
    let channel = |n| unit(4 * k + n) * alpha * scale;
    [channel(0), channel(1), channel(2), alpha]
}

fn shared(index: u32, id: [u32; 2]) -> SharedPixel {
    let none = IdCoverage::default();
    SharedPixel::new(
        index,
        [IdCoverage { id, samples: 3 }, IdCoverage { id: [2, 1], samples: 1 }, none, none],
    )
}

fn scene() -> Scene {
    let node =
        |gltf_index, name: &str| Node { gltf_index, name: name.into(), mesh: Some(0), ..Node::default() };
    Scene {
        nodes: vec![node(0, "Körper"), node(1, "wheel"), node(2, "wheel")],
        meshes: vec![Mesh::default()],
        ..Scene::default()
    }
}

fn plan(width: u32, height: u32, outputs: &[Output]) -> Plan {
    let request = FrameRequest {
        scene: "5".repeat(64),
        width,
        height,
        outputs: outputs.to_vec(),
        lighting: Lighting { traced: Some(Traced::default()), ..Lighting::default() },
        variant: Some("\"<ü>&\"".into()),
        ..FrameRequest::default()
    };
    Plan::raster(&request, None).unwrap()
}

/// Every file that a frame of this size can be.
fn files(width: u32, height: u32) -> Vec<(Format, Selection, Frame, Encoded)> {
    let plan = plan(width, height, &all());
    let scene = scene();
    let mut files = Vec::new();
    for format in FORMATS {
        let frame = frame(width, height, color_format(format));
        let exr = matches!(format, Format::ExrHalf | Format::ExrFloat);
        let selections = Output::all().map(Selection::One).chain(exr.then_some(Selection::Layers));
        for selection in selections {
            let options = EncodeOptions { scene: Some(&scene) };
            let encoded = encode(&frame, &plan, format, selection, &options)
                .unwrap_or_else(|error| panic!("{width}x{height} {format} {selection:?}: {error}"));
            files.push((format, selection, frame.clone(), encoded));
        }
    }
    files
}

#[test]
fn every_file_carries_its_receipt_and_its_pixels() {
    for (width, height) in SIZES {
        for (format, selection, _, encoded) in files(width, height) {
            let what = format!("{width}x{height} {format} {selection:?}");
            let receipt =
                crate::receipt::read(&encoded.bytes).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(receipt, encoded.receipt, "{what}");
            assert_eq!(receipt.pixels, encoded.pixels, "{what}");
            assert_eq!(receipt.format.parse(), Ok(format), "{what}");
            assert_eq!(receipt_json(&encoded.bytes).unwrap(), receipt.to_json(), "{what}");
            if let Format::Jpeg { .. } = format {
                continue;
            }
            let pixels = pixels_of_file(&encoded.bytes, format, &receipt.request, &receipt.outputs);
            assert_eq!(
                pixels.unwrap_or_else(|error| panic!("{what}: {error}")).hash(),
                encoded.pixels,
                "{what}"
            );
        }
    }
}

#[test]
fn formats_have_one_name() {
    for format in FORMATS.into_iter().chain((1..=100).map(|quality| Format::Jpeg { quality })) {
        assert_eq!(format.to_string().parse(), Ok(format));
    }
    for bad in ["", "PNG", "jpg:0", "jpg:101", "jpg:", "tiff", "png8"] {
        assert_eq!(bad.parse::<Format>(), Err(FormatError), "{bad}");
    }
    assert_eq!("jpeg".parse(), Ok(Format::Jpeg { quality: JPEG_DEFAULT_QUALITY }));
}

#[test]
fn etags_tell_files_apart() {
    let mut seen = std::collections::BTreeSet::new();
    for plan in [plan(4, 4, &[Output::Color, Output::Depth]), plan(4, 5, &[Output::Color, Output::Depth])] {
        for format in FORMATS.into_iter().chain([Format::Jpeg { quality: 91 }]) {
            for selection in [Selection::One(Output::Color), Selection::One(Output::Depth), Selection::Layers]
            {
                let etag = plan.etag(selection, format);
                assert!(etag.len() == 34 && etag.starts_with('"') && etag.ends_with('"'), "{etag}");
                assert_eq!(etag, plan.clone().etag(selection, format));
                assert!(seen.insert(etag), "{format} {selection:?}");
            }
        }
    }
}

#[test]
fn what_cannot_be_encoded_is_refused() {
    let plan = plan(4, 4, &all());
    let options = EncodeOptions::default();
    let srgb = frame(4, 4, ColorFormat::Srgb8);
    let linear = frame(4, 4, ColorFormat::Linear);
    let refusal =
        |frame: &Frame, format, selection| encode(frame, &plan, format, selection, &options).unwrap_err();
    for format in FORMATS {
        let wrong = if color_format(format) == ColorFormat::Srgb8 { &linear } else { &srgb };
        let error = refusal(wrong, format, Selection::One(Output::Color));
        assert_eq!(error, EncodeError::ColorFormat { format, needed: color_format(format) });
        for output in Output::all() {
            let error =
                refusal(&Frame { width: 4, height: 4, ..Frame::default() }, format, Selection::One(output));
            assert_eq!(error, EncodeError::Missing { output });
        }
        let short = Frame { depth: Some(vec![1.0; 15]), ..srgb.clone() };
        let error = refusal(&short, format, Selection::One(Output::Depth));
        assert_eq!(error, EncodeError::Shape { output: Output::Depth, wanted: 16, got: 15 });
        if !matches!(format, Format::ExrHalf | Format::ExrFloat) {
            assert_eq!(refusal(&srgb, format, Selection::Layers), EncodeError::Layers { format });
        }
    }
    let large = Frame { id: Some(vec![[65536, 1]; 16]), ..srgb.clone() };
    let error = refusal(&large, Format::Png16, Selection::One(Output::Id));
    assert!(matches!(error, EncodeError::Range { output: Output::Id, .. }), "{error}");
    let wide =
        Frame { width: 16385, height: 1, color: Some(Color::Srgb8(vec![[0; 4]; 16385])), ..Frame::default() };
    let error = refusal(&wide, Format::Webp, Selection::One(Output::Color));
    assert_eq!(error, EncodeError::Size { format: Format::Webp, limit_px: 16384 });
    let request = FrameRequest { variant: Some("v".repeat(RECEIPT_MAX_BYTES)), ..plan.request().clone() };
    let long = Plan::raster(&request, None).unwrap();
    for format in FORMATS {
        let frame = frame(4, 4, color_format(format));
        let error = encode(&frame, &long, format, Selection::One(Output::Color), &options).unwrap_err();
        assert!(matches!(error, EncodeError::Receipt { .. }), "{format}: {error}");
    }
}
