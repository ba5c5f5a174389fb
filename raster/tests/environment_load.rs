//! Radiance and OpenEXR files: every way to write pixels, orientation, repairs, refusals.

use exr::prelude::*;
use isoframe_raster::environment::{EnvironmentError, EnvironmentLimits, Panorama};

fn load(bytes: &[u8]) -> std::result::Result<Panorama, EnvironmentError> {
    Panorama::from_bytes(bytes, &EnvironmentLimits::default())
}

fn hdr(header: &str, resolution: &str, data: &[u8]) -> Vec<u8> {
    [format!("#?RADIANCE\n{header}\n{resolution}\n").as_bytes(), data].concat()
}

const RGBE: &str = "FORMAT=32-bit_rle_rgbe\n";

/// A 16 x 8 picture, different at every pixel.
fn pattern() -> Vec<[u8; 4]> {
    (0..128u8).map(|i| [i, 255 - i, i ^ 0x55, 120 + i % 20]).collect()
}

/// m * 2^(e - 136), in f64.
fn decoded(rgbe: &[[u8; 4]]) -> Vec<[f32; 3]> {
    let component = |m: u8, e: u8| (f64::from(m) * 2f64.powi(i32::from(e) - 136)) as f32;
    rgbe.iter().map(|&[r, g, b, e]| [component(r, e), component(g, e), component(b, e)]).collect()
}

/// New run lengths, with a run where values repeat.
fn planes(rows: &[[u8; 4]], width: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for row in rows.chunks(width) {
        out.extend([2, 2, (width >> 8) as u8, width as u8]);
        for k in 0..4 {
            let mut x = 0;
            while x < width {
                let run = row[x..].iter().take_while(|p| p[k] == row[x][k]).count().min(127);
                if run > 2 {
                    out.extend([128 + run as u8, row[x][k]]);
                    x += run;
                } else {
                    out.extend([1, row[x][k]]);
                    x += 1;
                }
            }
        }
    }
    out
}

#[test]
fn radiance_pixels_flat_and_in_both_run_lengths() {
    let pixels = pattern();
    let mut runs = pattern();
    runs[16..30].fill([9, 8, 7, 130]);
    runs[32..].fill([60, 50, 40, 128]);
    let old_runs = {
        let mut out: Vec<u8> = runs[..17].concat();
        out.extend([1, 1, 1, 13]);
        out.extend(runs[30..33].concat());
        // A run ends with its scanline, so 15 more here and one pixel and 15 on each of the lines that follow.
        out.extend([1, 1, 1, 15]);
        for _ in 3..8 {
            out.extend([60, 50, 40, 128, 1, 1, 1, 15]);
        }
        out
    };
    let cases = [
        ("flat", pixels.concat(), decoded(&pixels)),
        ("new run lengths", planes(&pixels, 16), decoded(&pixels)),
        ("new run lengths with runs", planes(&runs, 16), decoded(&runs)),
        ("old run lengths", old_runs, decoded(&runs)),
    ];
    for (name, data, expected) in cases {
        let panorama = load(&hdr(RGBE, "-Y 8 +X 16", &data)).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!((panorama.width, panorama.height, panorama.repaired_px), (16, 8, 0), "{name}");
        assert_eq!(panorama.pixels, expected, "{name}");
    }
    // 1 << 8 pixels from a second run in a row: 600 = 1 + 87 + 2 * 256.
    let long = [[70, 80, 90, 129], [1, 1, 1, 87], [1, 1, 1, 2]].concat().repeat(300);
    let panorama = load(&hdr(RGBE, "-Y 300 +X 600", &long)).unwrap();
    assert!(panorama.pixels.iter().all(|p| *p == decoded(&[[70, 80, 90, 129]])[0]));
}

/// Radiance's eight orientations all show one picture. Scanlines are rows from the top or bottom, or columns.
#[test]
fn radiance_orientations() {
    let (width, height) = (16usize, 8usize);
    let picture = pattern();
    let at = |x: usize, y: usize| picture[y * width + x];
    for flip_y in [false, true] {
        for flip_x in [false, true] {
            let place = |x: usize, y: usize| {
                at(if flip_x { width - 1 - x } else { x }, if flip_y { height - 1 - y } else { y })
            };
            let (sx, sy) = (if flip_x { '-' } else { '+' }, if flip_y { '+' } else { '-' });
            let rows: Vec<u8> = (0..height)
                .flat_map(|y| (0..width).map(move |x| (x, y)))
                .flat_map(|(x, y)| place(x, y))
                .collect();
            let columns: Vec<u8> = (0..width)
                .flat_map(|x| (0..height).map(move |y| (x, y)))
                .flat_map(|(x, y)| place(x, y))
                .collect();
            for (line, data) in [(format!("{sy}Y 8 {sx}X 16"), rows), (format!("{sx}X 16 {sy}Y 8"), columns)]
            {
                let panorama = load(&hdr(RGBE, &line, &data)).unwrap();
                assert_eq!((panorama.width, panorama.height), (16, 8), "{line}");
                assert_eq!(panorama.pixels, decoded(&picture), "{line}");
            }
        }
    }
}

#[test]
fn radiance_headers_and_ranges() {
    let flat = |rgbe: [u8; 4]| rgbe.repeat(2);
    let first = |bytes: Vec<u8>| load(&bytes).map(|p| (p.pixels[0], p.repaired_px));
    // The magic's second spelling, carriage returns, comments and keys that are ignored.
    let odd = b"#?RGBE\r\n# made by hand\r\nEXPOSURE=8\r\nGAMMA=2\r\nFORMAT=32-bit_rle_rgbe\r\n\r\n-Y 1 +X 2\r\n\x80\x40\x20\x80\x80\x40\x20\x80";
    assert_eq!(load(odd).unwrap().pixels[0], [0.5, 0.25, 0.125]);
    // 255 * 2^119 is far beyond any light: brought to 2^24. e = 0 and what is below 2^-118 is nothing.
    let most = 16_777_216.0;
    assert_eq!(first(hdr(RGBE, "-Y 1 +X 2", &flat([255, 1, 0, 255]))).unwrap(), ([most, most, 0.0], 2));
    assert_eq!(first(hdr(RGBE, "-Y 1 +X 2", &flat([255, 255, 255, 0]))).unwrap(), ([0.0; 3], 0));
    assert_eq!(first(hdr(RGBE, "-Y 1 +X 2", &flat([255, 255, 255, 9]))).unwrap(), ([0.0; 3], 0));
    // 2^-126, the first exponent that is kept.
    let tiny = first(hdr(RGBE, "-Y 1 +X 2", &flat([1, 2, 0, 10]))).unwrap().0;
    assert_eq!(tiny, [f32::MIN_POSITIVE, f32::MIN_POSITIVE * 2.0, 0.0]);
    let refusals = [
        (hdr("FORMAT=32-bit_rle_xyze\n", "-Y 1 +X 2", &[0; 8]), "environment_unsupported"),
        (hdr(RGBE, "-Y 2 +X 2", &[0; 16]), "environment_shape"),
        (hdr(RGBE, "-Y 0 +X 0", &[]), "environment_shape"),
        (hdr(RGBE, "-Y 1 +Y 2", &[0; 8]), "environment_damaged"),
        (hdr(RGBE, "-Y one +X 2", &[0; 8]), "environment_damaged"),
        (hdr(RGBE, "-Y 1 +X 2", &[1, 1, 1, 1, 9, 9, 9, 9]), "environment_damaged"),
        (hdr(RGBE, "-Y 4 +X 8", &[[2, 2, 0, 9].as_slice(), &[0; 200]].concat()), "environment_damaged"),
        (
            hdr(RGBE, "-Y 4 +X 8", &[[2, 2, 0, 8, 137, 1].as_slice(), &[0; 200]].concat()),
            "environment_damaged",
        ),
        (b"P6 2 1 255 ......".to_vec(), "environment_format"),
        (Vec::new(), "environment_format"),
    ];
    for (bytes, code) in refusals {
        let refused = load(&bytes).unwrap_err();
        assert_eq!(refused.code(), code, "{refused}");
    }
    let small = EnvironmentLimits { max_side_px: 15, ..EnvironmentLimits::default() };
    let picture = hdr(RGBE, "-Y 8 +X 16", &pattern().concat());
    assert_eq!(Panorama::from_bytes(&picture, &small).unwrap_err().code(), "environment_size");
    let few = EnvironmentLimits { max_px: 127, ..EnvironmentLimits::default() };
    assert_eq!(Panorama::from_bytes(&picture, &few).unwrap_err().code(), "environment_size");
}

#[test]
fn truncated_files_are_refused_at_every_length() {
    let whole = hdr(RGBE, "-Y 8 +X 16", &planes(&pattern(), 16));
    for length in 0..whole.len() {
        assert!(load(&whole[..length]).is_err(), "{length} of {}", whole.len());
    }
    assert!(load(&whole).is_ok());
    let whole = rgb_exr(|x, y| (x as f32, y as f32, 0.5), Compression::ZIP16);
    for length in (0..whole.len()).step_by(3) {
        assert!(load(&whole[..length]).is_err(), "{length} of {}", whole.len());
    }
    let mut seed = 7u32;
    for _ in 0..400 {
        let mut bytes = whole.clone();
        for _ in 0..2 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let at = (seed >> 8) as usize % bytes.len();
            bytes[at] = seed as u8;
        }
        // Whatever it is, it is no panic.
        let _ = load(&bytes);
    }
}

fn rgb_exr(pixel: impl Fn(usize, usize) -> (f32, f32, f32) + Sync, compression: Compression) -> Vec<u8> {
    let channels = SpecificChannels::rgb(|at: Vec2<usize>| pixel(at.x(), at.y()));
    let encoding = Encoding { compression, ..Encoding::FAST_LOSSLESS };
    let layer = Layer::new((16, 8), LayerAttributes::default(), encoding, channels);
    written(&Image::from_layer(layer))
}

fn written<'a, L>(image: &'a Image<L>) -> Vec<u8>
where
    L: exr::image::write::layers::WritableLayers<'a>,
{
    let mut out = std::io::Cursor::new(Vec::new());
    image.write().non_parallel().to_buffered(&mut out).unwrap();
    out.into_inner()
}

fn named(channels: Vec<(&str, FlatSamples)>) -> Vec<u8> {
    let list = channels.into_iter().map(|(name, samples)| AnyChannel::new(name, samples)).collect();
    let channels = AnyChannels::sort(list);
    let layer = Layer::new((4, 2), LayerAttributes::default(), Encoding::UNCOMPRESSED, channels);
    written(&Image::from_layer(layer))
}

#[test]
fn openexr_in_every_lossless_compression() {
    use Compression::*;
    for compression in [Uncompressed, RLE, ZIP1, ZIP16, PIZ] {
        let panorama = load(&rgb_exr(|x, y| (x as f32 * 1.5, y as f32, 1e-3), compression)).unwrap();
        assert_eq!((panorama.width, panorama.height, panorama.repaired_px), (16, 8, 0));
        for (i, pixel) in panorama.pixels.iter().enumerate() {
            assert_eq!(*pixel, [(i % 16) as f32 * 1.5, (i / 16) as f32, 1e-3], "{compression:?} at {i}");
        }
    }
}

#[test]
fn openexr_sample_types_names_and_layers() {
    let ramp = |scale: f32| (0..8).map(|i| i as f32 * scale).collect::<Vec<f32>>();
    let float = |scale: f32| FlatSamples::F32(ramp(scale));
    let half = |scale: f32| FlatSamples::F16(ramp(scale).into_iter().map(f16::from_f32).collect());
    let uint = FlatSamples::U32((0..8).map(|i| i * 100_000).collect());
    let cases = [
        ("float", named(vec![("R", float(1.0)), ("G", float(2.0)), ("B", float(0.1))]), [1.0, 2.0, 0.1f32]),
        ("half", named(vec![("R", half(1.0)), ("G", half(2.0)), ("B", half(0.5))]), [1.0, 2.0, 0.5]),
        (
            "mixed, with alpha",
            named(vec![("A", float(0.0)), ("R", uint), ("G", half(1.0)), ("B", float(3.0))]),
            [100_000.0, 1.0, 3.0],
        ),
        ("grey", named(vec![("Y", float(4.0))]), [4.0; 3]),
        (
            "layer",
            named(vec![
                ("Sky.R", float(1.0)),
                ("Sky.G", float(2.0)),
                ("Sky.B", float(3.0)),
                ("Z", float(9.0)),
            ]),
            [1.0, 2.0, 3.0],
        ),
    ];
    for (name, bytes, scale) in cases {
        let panorama = load(&bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        for (i, pixel) in panorama.pixels.iter().enumerate() {
            assert_eq!(*pixel, scale.map(|s| i as f32 * s), "{name} at {i}");
        }
    }
    // Not read as grey: luminance with its chroma.
    let chroma = vec![("Y", float(1.0)), ("RY", float(0.1)), ("BY", float(0.1))];
    for channels in [vec![("Z", float(1.0)), ("R", float(1.0))], chroma] {
        let refused = load(&named(channels)).unwrap_err();
        assert_eq!(refused.code(), "environment_unsupported");
    }
}

#[test]
fn openexr_repairs_what_is_no_radiance() {
    let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0, 70_000.0, -0.0, 65504.0, 1.0];
    let expected = [0.0, 65504.0, 0.0, 0.0, 70_000.0, 0.0, 65504.0, 1.0f32];
    let samples = || FlatSamples::F32(odd.to_vec());
    let panorama = load(&named(vec![("R", samples()), ("G", samples()), ("B", samples())])).unwrap();
    for (pixel, want) in panorama.pixels.iter().zip(expected) {
        assert_eq!(*pixel, [want; 3]);
    }
    // -0 equals 0: nothing to report.
    assert_eq!(panorama.repaired_px, 4);
}

#[test]
fn openexr_refusals() {
    let dwa = rgb_exr(|_, _| (1.0, 1.0, 1.0), Compression::DWAA(Some(45.0)));
    assert_eq!(load(&dwa).unwrap_err().code(), "environment_unsupported");
    let square = {
        let channels = SpecificChannels::rgb(|_: Vec2<usize>| (1.0f32, 1.0f32, 1.0f32));
        written(&Image::from_layer(Layer::new(
            (8, 8),
            LayerAttributes::default(),
            Encoding::FAST_LOSSLESS,
            channels,
        )))
    };
    assert_eq!(load(&square).unwrap_err().code(), "environment_shape");
    let picture = rgb_exr(|_, _| (1.0, 1.0, 1.0), Compression::RLE);
    let small = EnvironmentLimits { max_side_px: 15, ..EnvironmentLimits::default() };
    assert_eq!(Panorama::from_bytes(&picture, &small).unwrap_err().code(), "environment_size");
}

/// The two shared files, against their own bytes read by a dozen lines of numpy (f64 mean of R, G and B, m * 2^(e - 136)).
#[test]
fn real_files() {
    let assets = std::env::var("ISOFRAME_ASSETS")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/assets").into());
    let cases = [
        (
            "chinese_garden_1k.hdr",
            [0.4738653125241399, 0.4577056335110683, 0.4597717256857856],
            [0.267578125, 0.326171875, 0.064453125],
        ),
        (
            "qwantani_afternoon_puresky_1k.hdr",
            [0.6946034412831068, 0.7069603428244591, 0.7457136986777186],
            [0.0419921875, 0.072265625, 0.1376953125],
        ),
    ];
    for (name, mean, pixel) in cases {
        let path = std::path::Path::new(&assets).join("env").join(name);
        let Ok(bytes) = std::fs::read(&path) else {
            eprintln!("SKIPPED: {} is not there", path.display());
            continue;
        };
        let panorama = load(&bytes).unwrap();
        assert_eq!((panorama.width, panorama.height), (1024, 512), "{name}");
        for k in 0..3 {
            let sum: f64 = panorama.pixels.iter().map(|p| f64::from(p[k])).sum();
            let got = sum / panorama.pixels.len() as f64;
            assert!((got - mean[k]).abs() < 1e-9 * mean[k], "{name} mean {k}: {got:.12} not {}", mean[k]);
        }
        assert_eq!(panorama.pixels[100 * 1024 + 200].map(f64::from), pixel, "{name}");
    }
}
