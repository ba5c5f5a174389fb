//! Mip chains and sRGB tables against their definitions in f64.

use isoframe_raster::image::mips::{MipChain, MipLevel, build, build_beside_data};
use isoframe_raster::image::srgb::{
    LINEAR_TO_SRGB8_THRESHOLDS, SRGB8_TO_LINEAR, linear_from_srgb, tables_source,
};
use isoframe_raster::scene::Image;

fn image(width: u32, height: u32, texel: impl Fn(u32, u32) -> [u8; 4]) -> Image {
    let rgba = (0..width * height).map(|i| texel(i % width, i / width)).collect();
    Image { name: String::new(), width, height, rgba }
}

fn texel(chain: &MipChain, level: usize, x: u32, y: u32) -> [u8; 4] {
    let MipLevel { width, offset_texels, .. } = chain.levels[level];
    chain.texels[(offset_texels + y * width + x) as usize].to_le_bytes()
}

fn noise(seed: u32) -> u32 {
    let mut v = seed.wrapping_mul(0x9E37_79B9) ^ 0x85EB_CA6B;
    v = (v ^ v >> 15).wrapping_mul(0x2C1B_3C6D);
    v = (v ^ v >> 12).wrapping_mul(0x297A_2D39);
    v ^ v >> 15
}

#[test]
fn the_committed_srgb_tables_are_what_the_definition_gives() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/image/srgb_tables.rs");
    let computed = tables_source();
    if std::fs::read_to_string(path).unwrap() != computed {
        if std::env::var_os("ISOFRAME_REGENERATE").is_some() {
            std::fs::write(path, computed).unwrap();
            panic!("{path} was written; run again without ISOFRAME_REGENERATE");
        }
        panic!("{path} is not what the code makes; set ISOFRAME_REGENERATE=1 to renew it");
    }
}

#[test]
fn thresholds_are_the_smallest_values_of_their_codes() {
    let encoded = |x: f32| {
        let x = f64::from(x);
        255.0 * if x <= 0.003_130_8 { x * 12.92 } else { 1.055 * libm::pow(x, 1.0 / 2.4) - 0.055 }
    };
    for code in 1..256usize {
        let t = LINEAR_TO_SRGB8_THRESHOLDS[code];
        let half = code as f64 - 0.5;
        // The two branches of the curve meet within 1e-7 of each other; so close may t lie to the exact half.
        assert!(encoded(t) >= half - 1e-9 && encoded(t.next_down()) < half, "{code}: {t}");
        assert!(t > LINEAR_TO_SRGB8_THRESHOLDS[code - 1]);
        assert!(t < SRGB8_TO_LINEAR[code] && SRGB8_TO_LINEAR[code - 1] < t);
    }
    // By hand: 0.5 / 255 / 12.92 = 0.000151763..., ((188 / 255 + 0.055) / 1.055)^2.4 = 0.5028865...
    assert_eq!(LINEAR_TO_SRGB8_THRESHOLDS[0], 0.0);
    assert!((LINEAR_TO_SRGB8_THRESHOLDS[1] - 0.000_151_763_5).abs() < 1e-9);
    assert!((SRGB8_TO_LINEAR[188] - 0.502_886_5).abs() < 1e-6);
    assert_eq!((SRGB8_TO_LINEAR[0], SRGB8_TO_LINEAR[255]), (0.0, 1.0));
}

#[test]
fn levels_halve_rounding_down() {
    let cases: [(u32, u32, &[(u32, u32)]); 5] = [
        (1, 1, &[(1, 1)]),
        (4, 4, &[(4, 4), (2, 2), (1, 1)]),
        (5, 3, &[(5, 3), (2, 1), (1, 1)]),
        (1, 9, &[(1, 9), (1, 4), (1, 2), (1, 1)]),
        (6, 1, &[(6, 1), (3, 1), (1, 1)]),
    ];
    for (width, height, expected) in cases {
        let chain = build(&image(width, height, |_, _| [1; 4]), false);
        let sizes: Vec<(u32, u32)> = chain.levels.iter().map(|l| (l.width, l.height)).collect();
        assert_eq!(sizes, expected);
        let mut offset = 0;
        for level in &chain.levels {
            assert_eq!(level.offset_texels, offset);
            offset += level.width * level.height;
        }
        assert_eq!(chain.texels.len() as u32, offset);
    }
}

#[test]
fn averages_known_by_hand() {
    let checker = image(2, 2, |x, y| if (x + y) % 2 == 0 { [255; 4] } else { [0, 0, 0, 255] });
    // Half the light of white is code 188; half the number is 127.5.
    assert_eq!(texel(&build(&checker, true), 1, 0, 0), [188, 188, 188, 255]);
    assert_eq!(texel(&build(&checker, false), 1, 0, 0), [128, 128, 128, 255]);
    // Three across: thirds.
    let ramp = image(3, 1, |x, _| [[0, 90, 240][x as usize], 30, 0, 255]);
    assert_eq!(texel(&build(&ramp, false), 1, 0, 0), [110, 30, 0, 255]);
    // Five across, by the three-tap weights (2, 2, 1) / 5 and (1, 2, 2) / 5.
    let five = image(5, 1, |x, _| [[0, 50, 100, 150, 250][x as usize], 0, 0, 255]);
    let chain = build(&five, false);
    assert_eq!(texel(&chain, 1, 0, 0)[0], 40);
    assert_eq!(texel(&chain, 1, 1, 0)[0], 180);
    assert_eq!(texel(&chain, 2, 0, 0)[0], 110);
}

#[test]
fn transparent_texels_do_not_bleed() {
    let leaf = |x: u32| if x == 0 { [200, 10, 10, 255] } else { [0, 255, 0, 0] };
    let chain = build(&image(2, 2, |x, _| leaf(x)), true);
    assert_eq!(texel(&chain, 1, 0, 0), [200, 10, 10, 128]);
    let odd = build(&image(3, 3, |x, _| leaf(x)), true);
    assert_eq!(texel(&odd, 1, 0, 0), [200, 10, 10, 85]);
    // Data is not weighted: alpha is just one more number.
    let data = build(&image(2, 2, |x, _| leaf(x)), false);
    assert_eq!(texel(&data, 1, 0, 0), [100, 133, 5, 128]);
    // Colour beside data neither: as if it were opaque.
    let beside = build_beside_data(&image(2, 2, |x, _| leaf(x)));
    let opaque = build(&image(2, 2, |x, _| [leaf(x)[0], leaf(x)[1], leaf(x)[2], 255]), true);
    let ([r, g, b, a], [or, og, ob, _]) = (texel(&beside, 1, 0, 0), texel(&opaque, 1, 0, 0));
    assert_eq!(([r, g, b], a), ([or, og, ob], 128));
    // Nothing but transparent: the plain average, so that a filter across the edge meets no black.
    let gone = build(&image(2, 2, |x, _| [if x == 0 { 255 } else { 0 }, 0, 7, 0]), true);
    assert_eq!(texel(&gone, 1, 0, 0), [188, 0, 7, 0]);
}

#[test]
fn a_constant_stays_that_constant() {
    for code in 0..=255u8 {
        for (width, height) in [(8, 8), (7, 5), (6, 11)] {
            for (srgb, alpha) in [(true, 255), (true, 3), (false, 77)] {
                let flat = [code, 255 - code, code / 2, alpha];
                let chain = build(&image(width, height, |_, _| flat), srgb);
                assert!(chain.texels.iter().all(|t| t.to_le_bytes() == flat), "{flat:?} {width}x{height}");
            }
        }
    }
}

/// A level in f64: colour (linear where sRGB) and alpha, 0 to 1.
type Exact = (u32, u32, Vec<[f64; 4]>);

/// The average over each texel's exact footprint, weighted by alpha where asked.
fn reduced((width, height, above): &Exact, weighted: bool) -> Exact {
    let (w, h) = ((width / 2).max(1), (height / 2).max(1));
    let overlap = |i: u32, size: u32, below: u32, k: u32| {
        let scale = f64::from(size) / f64::from(below);
        let (from, to) = (f64::from(i) * scale, f64::from(i + 1) * scale);
        (to.min(f64::from(k + 1)) - from.max(f64::from(k))).max(0.0)
    };
    let mut below = Vec::new();
    for (x, y) in (0..h).flat_map(|y| (0..w).map(move |x| (x, y))) {
        let (mut plain, mut by_alpha, mut area) = ([0.0; 4], [0.0; 4], 0.0);
        for (i, j) in (0..*height).flat_map(|j| (0..*width).map(move |i| (i, j))) {
            let part = overlap(x, *width, w, i) * overlap(y, *height, h, j);
            let value = above[(j * width + i) as usize];
            area += part;
            for k in 0..4 {
                plain[k] += part * value[k];
                by_alpha[k] += part * value[3] * value[k];
            }
        }
        let alpha = plain[3];
        let out: [f64; 4] = std::array::from_fn(|k| {
            if weighted && k < 3 && alpha > 0.0 { by_alpha[k] / alpha } else { plain[k] / area }
        });
        below.push(out);
    }
    (w, h, below)
}

#[test]
fn chains_follow_exact_averages() {
    for (width, height) in [(8, 8), (7, 5), (1, 9), (6, 1), (5, 4), (13, 16), (3, 3)] {
        for (srgb, opaque) in [(true, true), (true, false), (false, false)] {
            let source = image(width, height, |x, y| {
                let bits = noise(x * 7919 + y * 104_729 + width).to_le_bytes();
                [bits[0], bits[1], bits[2], if opaque { 255 } else { bits[3] & 0xf0 }]
            });
            let chain = build(&source, srgb);
            let unit = |v: u8, k: usize| {
                let v = f64::from(v) / 255.0;
                if srgb && k < 3 { linear_from_srgb(v) } else { v }
            };
            let first = source.rgba.iter().map(|t| std::array::from_fn(|k| unit(t[k], k))).collect();
            let mut exact: Exact = (width, height, first);
            for level in 1..chain.levels.len() {
                exact = reduced(&exact, srgb);
                for (i, want) in exact.2.iter().enumerate() {
                    let got = texel(&chain, level, i as u32 % exact.0, i as u32 / exact.0);
                    for k in 0..4 {
                        // Half a code, and 3/65535 for the roundings to 16 bit on the way.
                        let (low, high) = (f64::from(got[k]) - 0.5, f64::from(got[k]) + 0.5);
                        let linear = |code: f64| {
                            let v = (code / 255.0).clamp(0.0, 1.0);
                            if srgb && k < 3 { linear_from_srgb(v) } else { v }
                        };
                        let slack = 3.0 / 65535.0;
                        assert!(
                            want[k] >= linear(low) - slack && want[k] <= linear(high) + slack,
                            "{width}x{height} level {level} texel {i} channel {k}: {got:?} for {want:?}"
                        );
                    }
                }
            }
        }
    }
}
