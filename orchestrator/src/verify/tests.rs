//! Files of a real render, whole and tampered with.

use isoframe_raster::environment::LEVELS;
use isoframe_raster::environment::OCTAHEDRAL_SIDE;
use isoframe_raster::frame::{Color, Frame, FrameRequest, Output};
use isoframe_raster::scene::{Limits, Source, load};

use super::*;
use crate::frames::{BackendChoice, FrameSettings};
use crate::request::RequestLimits;

const FORMATS: [Format; 6] = [
    Format::Png8,
    Format::Png16,
    Format::ExrHalf,
    Format::ExrFloat,
    Format::Webp,
    Format::Jpeg { quality: 90 },
];

/// What a file is verified against.
struct Bench {
    frames: Frames,
    scene: Prepared,
    environment: Environment,
    plan: Plan,
}

/// One unlit triangle.
fn gltf(green: f32) -> String {
    let positions: Vec<u8> =
        [-1.0_f32, -1.0, 0.0, 1.0, -1.0, 0.0, 0.0, 1.0, 0.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    use base64::Engine as _;
    let data = base64::engine::general_purpose::STANDARD.encode(positions);
    serde_json::json!({
        "asset": {"version": "2.0"},
        "extensionsUsed": ["KHR_materials_unlit"],
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "name": "wedge"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "material": 0}]}],
        "materials": [{
            "pbrMetallicRoughness": {"baseColorFactor": [0.8, green, 0.1, 1.0]},
            "extensions": {"KHR_materials_unlit": {}},
        }],
        "accessors": [{
            "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",
            "min": [-1, -1, 0], "max": [1, 1, 0],
        }],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "buffers": [{"byteLength": 36, "uri": format!("data:application/octet-stream;base64,{data}")}],
    })
    .to_string()
}

fn prepared(green: f32) -> Prepared {
    let source = Source::from_bytes(gltf(green), &Limits::default()).unwrap();
    Prepared::new(std::sync::Arc::new(load(&source, &Limits::default()).unwrap()))
}

/// An environment that lights nothing: the triangle is unlit.
fn dark() -> Environment {
    let texels = (0..LEVELS).map(|level| (OCTAHEDRAL_SIDE >> level).pow(2) as usize).sum();
    Environment {
        hash: crate::plan::STUDIO.into(),
        specular: vec![[0.0; 4]; texels],
        irradiance_sh: [[0.0; 4]; 9],
        background: vec![[0.0; 4]],
        background_side: 1,
        distribution: Default::default(),
    }
}

fn settings(limits: RequestLimits) -> FrameSettings {
    FrameSettings { backend: BackendChoice::Cpu, threads: 1, limits, ..FrameSettings::default() }
}

impl Bench {
    fn new() -> Bench {
        let frames = Frames::open(&settings(RequestLimits::default())).unwrap();
        let scene = prepared(0.4);
        let request = FrameRequest {
            scene: scene.scene.hash.clone(),
            width: 40,
            height: 30,
            previous_time_s: Some(0.0),
            outputs: Output::CLASSIC.to_vec(),
            ..FrameRequest::default()
        };
        let plan = frames.plan(&request).unwrap();
        Bench { frames, scene, environment: dark(), plan }
    }

    fn frame(&self, format: Format) -> Frame {
        let color = color_format(format);
        let cancel = Cancel::default();
        self.frames.render(&self.plan, &self.scene, &self.environment, color, &cancel).unwrap().frame
    }

    fn encode(&self, frame: &Frame, format: Format, output: Option<Output>) -> Encoded {
        let selection = output.map_or(Selection::Layers, Selection::One);
        let options = EncodeOptions { scene: Some(&self.scene.scene) };
        encode::encode(frame, &self.plan, format, selection, &options).unwrap()
    }

    fn verify(&self, file: &[u8]) -> Verdict {
        verify(file, &self.scene, &self.environment, &self.frames, &Cancel::default()).unwrap()
    }
}

/// Replaces text of the same length, which must be there.
fn replaced(file: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let at = file.windows(from.len()).position(|window| window == from.as_bytes());
    let at = at.unwrap_or_else(|| panic!("{from} is not in the file"));
    let mut file = file.to_vec();
    file[at..at + to.len()].copy_from_slice(to.as_bytes());
    file
}

/// A frame whose centre pixel is another colour.
fn retouched(frame: &Frame) -> Frame {
    let mut frame = frame.clone();
    let centre = (frame.width * (frame.height / 2) + frame.width / 2) as usize;
    match frame.color.as_mut().unwrap() {
        Color::Srgb8(color) => color[centre] = [1, 250, 3, 255],
        Color::Linear(color) => color[centre] = [0.5, 0.0, 1.0, 1.0],
    }
    frame
}

fn forged_hash(encoded: &Encoded) -> (String, String) {
    let hash = encoded.pixels.to_string();
    let forged = hash.chars().rev().collect();
    (hash, forged)
}

#[test]
fn whole_files_are_the_same() {
    let bench = Bench::new();
    for format in FORMATS {
        let frame = bench.frame(format);
        let layers = matches!(format, Format::ExrHalf | Format::ExrFloat).then_some(None);
        for output in Output::CLASSIC.into_iter().map(Some).chain(layers) {
            let encoded = bench.encode(&frame, format, output);
            let verdict = bench.verify(&encoded.bytes);
            assert_eq!(verdict, Verdict::Same { file_identical: true }, "{format} {output:?}");
        }
    }
}

#[test]
fn tampering_is_told_apart() {
    let bench = Bench::new();
    for format in FORMATS {
        let frame = bench.frame(format);
        let color = Some(Output::Color);
        let (whole, altered) =
            (bench.encode(&frame, format, color), bench.encode(&retouched(&frame), format, color));
        assert_ne!(whole.pixels, altered.pixels);
        let pixels = replaced(&altered.bytes, &altered.pixels.to_string(), &whole.pixels.to_string());
        let verdict = bench.verify(&pixels);
        assert!(
            matches!(&verdict, Verdict::Differs { what: Difference::Pixels { .. } }),
            "{format}: {verdict}"
        );

        // Pixels and receipt that agree with each other; a JPEG does not hold the pixels that its receipt hashes.
        let verdict = bench.verify(&altered.bytes);
        let told = match &verdict {
            Verdict::Differs { what: Difference::Render { .. } } => true,
            Verdict::Differs { what: Difference::Receipt { .. } } => matches!(format, Format::Jpeg { .. }),
            _ => false,
        };
        assert!(told, "{format}: {verdict}");

        let (hash, forged) = forged_hash(&whole);
        let id = bench.plan.plan_id();
        for (from, to) in [
            (hash.as_str(), forged.as_str()),
            ("\"seed\":0", "\"seed\":1"),
            ("\"samples\":4", "\"samples\":8"),
            ("\"width\":40", "\"width\":41"),
            ("\"motion_valid\":true,", "\"motion_valid\":null,"),
            ("\"path\":\"raster\"", "\"path\":\"neural\""),
            (&format!("\"plan\":\"{id}\""), &format!("\"plan\":\"{}\"", forged)),
            (&format!("\"frame\":\"{id}\""), &format!("\"frame\":\"{}\"", forged)),
            ("\"outputs\":[\"color\"],", "\"outputs\":[\"depth\"],"),
            ("\"receipt\":1,", "\"receipt\": 1"),
        ] {
            let verdict = bench.verify(&replaced(&whole.bytes, from, to));
            let told = matches!(&verdict, Verdict::Differs { what: Difference::Receipt { .. } })
                || (to == "\"receipt\": 1" && matches!(&verdict, Verdict::NotComparable { .. }));
            assert!(told, "{format}: {to}: {verdict}");
        }
        let both = replaced(&altered.bytes, &altered.pixels.to_string(), &forged);
        assert!(matches!(bench.verify(&both), Verdict::Differs { .. }), "{format}");
    }
}

#[test]
fn a_receipt_may_not_name_another_format() {
    let bench = Bench::new();
    let whole = bench.encode(&bench.frame(Format::Png8), Format::Png8, Some(Output::Depth));
    let lied = replaced(&whole.bytes, "\"format\":\"png\"", "\"format\":\"exr\"");
    assert!(matches!(bench.verify(&lied), Verdict::Differs { .. }));
}

#[test]
fn what_cannot_be_compared_says_why() {
    let bench = Bench::new();
    for format in FORMATS {
        let whole = bench.encode(&bench.frame(format), format, Some(Output::Color)).bytes;
        let obstacle = |file: &[u8]| match bench.verify(file) {
            Verdict::NotComparable { why } => why,
            other => panic!("{format}: {other}"),
        };
        let other_engine = replaced(&whole, ENGINE, &ENGINE.replace("isoframe", "isofrane"));
        assert!(matches!(obstacle(&other_engine), Obstacle::Engine { .. }));
        let other_encoder = replaced(&whole, ENCODER, &ENCODER.replace("isoframe", "isofrane"));
        assert!(matches!(obstacle(&other_encoder), Obstacle::Encoder { .. }));
        assert_eq!(obstacle(&replaced(&whole, "\"receipt\":1", "\"receipt\":2")), Obstacle::Form(2));
        assert!(matches!(obstacle(b"GIF89a"), Obstacle::Receipt(ReceiptError::UnknownFormat)));

        let other_scene = prepared(0.5);
        let verdict =
            verify(&whole, &other_scene, &bench.environment, &bench.frames, &Cancel::default()).unwrap();
        assert!(matches!(verdict, Verdict::NotComparable { why: Obstacle::Input { what: "scene", .. } }));
        let other_light = Environment { hash: "7".repeat(64), ..dark() };
        let verdict = verify(&whole, &bench.scene, &other_light, &bench.frames, &Cancel::default()).unwrap();
        assert!(matches!(
            verdict,
            Verdict::NotComparable { why: Obstacle::Input { what: "environment", .. } }
        ));
        let narrow =
            Frames::open(&settings(RequestLimits { side_px: 39, ..RequestLimits::default() })).unwrap();
        let verdict = verify(&whole, &bench.scene, &bench.environment, &narrow, &Cancel::default()).unwrap();
        assert!(matches!(verdict, Verdict::NotComparable { why: Obstacle::Request(_) }));
    }
    let plain = image::DynamicImage::new_rgba8(4, 4);
    let mut file = std::io::Cursor::new(Vec::new());
    plain.write_to(&mut file, image::ImageFormat::Png).unwrap();
    let verdict = bench.verify(&file.into_inner());
    assert_eq!(verdict, Verdict::NotComparable { why: Obstacle::Receipt(ReceiptError::Missing) });
}

/// A PNG whose pixels were packed again, and whose text was kept, as optimisers do.
#[test]
fn repacked_files_are_the_same() {
    let bench = Bench::new();
    let whole = bench.encode(&bench.frame(Format::Png8), Format::Png8, Some(Output::Color));
    let image = image::load_from_memory(&whole.bytes).unwrap().into_rgba8();
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, image.width(), image.height());
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_compression(png::Compression::NoCompression);
    let mut writer = encoder.write_header().unwrap();
    let text = [b"isoframe:receipt\0\0\0\0\0", whole.receipt.to_json().as_bytes()].concat();
    writer.write_chunk(png::chunk::iTXt, &text).unwrap();
    writer.write_image_data(&image).unwrap();
    writer.finish().unwrap();
    assert_eq!(bench.verify(&file), Verdict::Same { file_identical: false });
}
