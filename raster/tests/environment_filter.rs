//! Prefiltered light against closed forms and independent quadrature.

use std::f64::consts::PI;

use isoframe_raster::environment::{
    self, DFG_SIDE, Environment, LEVELS, OCTAHEDRAL_SIDE, Octahedron, Panorama, dfg_table, direction_of,
    irradiance_sh, position_of,
};

/// Writes what a generated file should hold when `ISOFRAME_REGENERATE` is set, and fails all the same.
fn check_generated(path: &str, expected: &[u8]) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::fs::read(&path).unwrap_or_default() == expected {
        return;
    }
    if std::env::var_os("ISOFRAME_REGENERATE").is_some() {
        std::fs::write(&path, expected).unwrap();
        panic!("{} was written; run again without ISOFRAME_REGENERATE", path.display());
    }
    panic!("{} is not what the code makes; set ISOFRAME_REGENERATE=1 to renew it", path.display());
}

#[test]
fn the_shipped_studio_is_what_the_code_bakes() {
    check_generated("src/environment/studio.bin", &environment::bake_studio());
}

#[test]
fn the_shipped_split_sum_table_is_what_the_code_integrates() {
    use rayon::prelude::*;
    let side = DFG_SIDE as usize;
    let values: Vec<[f64; 2]> = (0..side * side)
        .into_par_iter()
        .map(|i| {
            let place = |k: usize| (k as f64 + 0.5) / side as f64;
            environment::integrate_dfg(place(i % side), place(i / side))
        })
        .collect();
    let bytes: Vec<u8> = values.iter().flatten().flat_map(|&v| (v as f32).to_le_bytes()).collect();
    check_generated("src/environment/dfg.bin", &bytes);
}

/// A picture from a function of direction.
fn panorama(width: usize, radiance: impl Fn([f64; 3]) -> [f32; 3]) -> Panorama {
    let pixels = (0..width * width / 2).map(|i| {
        let polar = PI * ((i / width) as f64 + 0.5) / (width / 2) as f64;
        let turn = 2.0 * PI * (((i % width) as f64 + 0.5) / width as f64 - 0.5);
        radiance([libm::sin(polar) * libm::cos(turn), libm::cos(polar), libm::sin(polar) * libm::sin(turn)])
    });
    Panorama::new(width, width / 2, pixels.collect())
}

fn environment(panorama: &Panorama) -> Environment {
    Environment::from_panorama("test".into(), panorama)
}

/// Texels of a level with their directions.
fn level(environment: &Environment, k: u32) -> impl Iterator<Item = ([f64; 3], [f32; 4])> + '_ {
    let side = OCTAHEDRAL_SIDE >> k;
    let first: u32 = (0..k).map(|k| (OCTAHEDRAL_SIDE >> k).pow(2)).sum();
    let place = move |i: u32| (f64::from(i) + 0.5) / f64::from(side) * 2.0 - 1.0;
    (0..side * side).map(move |i| {
        (direction_of(place(i % side), place(i / side)), environment.specular[(first + i) as usize])
    })
}

fn irradiance(sh: &[[f32; 4]; 9], [x, y, z]: [f64; 3]) -> [f64; 3] {
    let basis = [1.0, y, z, x, x * y, y * z, 3.0 * z * z - 1.0, x * z, x * x - y * y];
    std::array::from_fn(|c| basis.iter().zip(sh).map(|(b, s)| b * f64::from(s[c])).sum())
}

/// Directions over the whole sphere, evenly.
fn spread(count: u32) -> impl Iterator<Item = [f64; 3]> {
    (0..count).map(move |i| {
        let y = 1.0 - (2.0 * f64::from(i) + 1.0) / f64::from(count);
        let (r, turn) = ((1.0 - y * y).sqrt(), 2.399_963 * f64::from(i));
        [r * libm::cos(turn), y, r * libm::sin(turn)]
    })
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[test]
fn the_octahedron_covers_the_sphere_once() {
    for d in spread(1000) {
        let [px, pz] = position_of(d);
        let back = direction_of(px, pz);
        assert!((0..3).all(|k| (back[k] - d[k]).abs() < 1e-14), "{d:?} {back:?}");
    }
    assert_eq!(direction_of(0.0, 0.0), [0.0, 1.0, 0.0]);
    assert_eq!(direction_of(1.0, 0.0), [1.0, 0.0, 0.0]);
    assert_eq!(direction_of(0.0, -1.0), [0.0, 0.0, -1.0]);
    assert_eq!(direction_of(-1.0, 1.0).map(f64::abs), [0.0, 1.0, 0.0]);
    assert!(direction_of(-1.0, 1.0)[1] < 0.0);
    let whole = Octahedron::from_fn(64, 2, |_| [1.0; 3]);
    let solid_angle: f64 = whole.texels.iter().map(|texel| f64::from(texel[3])).sum();
    assert!((solid_angle / (4.0 * PI) - 1.0).abs() < 1e-4, "{solid_angle}");
    let halved: f64 = whole.halved().texels.iter().map(|texel| f64::from(texel[3])).sum();
    assert!((halved / solid_angle - 1.0).abs() < 1e-6);
}

#[test]
fn uniform_light_stays_uniform() {
    for (width, value) in [(2, 0.37f32), (64, 40_000.0), (4096, 1.0)] {
        let flat = Panorama::new(width, width / 2, vec![[value, value * 0.5, 0.0]; width * width / 2]);
        let lit = environment(&flat);
        let near = |v: f32, want: f32, slack: f32| (v - want).abs() <= slack * want;
        for (i, texel) in lit.specular.iter().chain(&lit.background).enumerate() {
            let fits = near(texel[0], value, 1e-5) && near(texel[1], value * 0.5, 1e-5);
            assert!(fits && texel[2..] == [0.0, 0.0], "{width} px, texel {i}: {texel:?} for {value}");
        }
        assert!(near(lit.irradiance_sh[0][0], value, 1e-6), "{:?}", lit.irradiance_sh[0]);
        for i in 1..9 {
            assert!(lit.irradiance_sh[i][0].abs() < 1e-6 * value, "{i}: {:?}", lit.irradiance_sh[i]);
        }
    }
}

/// Low bands in closed form: a cosine lobe keeps 1, 2/3 and 1/4 of bands 0, 1 and 2.
#[test]
fn irradiance_of_smooth_light_is_known() {
    let light = panorama(512, |[x, y, z]| {
        [1.0 + 0.5 * x, 1.0 + 0.4 * (1.5 * y * y - 0.5), 2.0 + x * z - 0.3 * z].map(|v| v as f32)
    });
    let lit = irradiance_sh(&light);
    for n in spread(200) {
        let [x, y, z] = n;
        let want = [
            1.0 + 0.5 * x * 2.0 / 3.0,
            1.0 + 0.4 * (1.5 * y * y - 0.5) / 4.0,
            2.0 + x * z / 4.0 - 0.3 * z * 2.0 / 3.0,
        ];
        let got = irradiance(&lit, n);
        for c in 0..3 {
            // Pixels are patches of 0.7 degrees: 2e-5 of the bands.
            assert!((got[c] - want[c]).abs() < 5e-5, "{n:?} {c}: {} not {}", got[c], want[c]);
        }
    }
}

/// One lit pixel: order 2 alone would dip below zero opposite to it.
#[test]
fn irradiance_is_never_negative_and_keeps_its_mean() {
    let mut light = panorama(128, |_| [0.0; 3]);
    light.pixels[20 * 128 + 77] = [3000.0, 0.0, 0.0];
    let lit = irradiance_sh(&light);
    let band = |y: f64| libm::cos(PI * y / 64.0);
    let mean = 3000.0 * (band(20.0) - band(21.0)) / 128.0 / 2.0;
    assert!((f64::from(lit[0][0]) / mean - 1.0).abs() < 1e-6);
    let mut most = 0.0f64;
    for n in spread(5000) {
        let [r, g, b] = irradiance(&lit, n);
        assert!(r >= -2e-3 * mean && g == 0.0 && b == 0.0, "{n:?}: {r}");
        most = most.max(r);
    }
    // In truth 4; the series alone 1 + 2 + 5/4, with band 1 damped least 1 + sqrt(45) / 4 + 5/4.
    assert!((most / mean - 3.927).abs() < 0.01, "{}", most / mean);
    // Where nothing dips nothing is damped: the same light on enough grey.
    let grey = panorama(128, |_| [10.0; 3]);
    light.pixels.iter_mut().zip(&grey.pixels).for_each(|(p, g)| (0..3).for_each(|k| p[k] += g[k]));
    let lit = irradiance_sh(&light);
    let most = spread(5000).map(|n| irradiance(&lit, n)[0] - 10.0).fold(0.0, f64::max);
    assert!((most / mean - 4.25).abs() < 0.01, "{}", most / mean);
}

/// The picture's middle is +X, right of it +Z, left of it -Z, the edges -X, the top +Y.
#[test]
fn pictures_are_turned_as_in_other_viewers() {
    let mut light = panorama(64, |_| [0.0; 3]);
    let mut mark = |x: usize, y: usize, color: [f32; 3]| {
        for (dx, dy) in (0..4).flat_map(|dy| (0..4).map(move |dx| (dx, dy))) {
            light.pixels[(y + dy - 2).min(31) * 64 + (x + dx - 2) % 64] = color;
        }
    };
    mark(32, 16, [1.0, 0.0, 0.0]);
    mark(48, 16, [0.0, 1.0, 0.0]);
    mark(16, 16, [0.0, 0.0, 1.0]);
    mark(64, 16, [1.0, 1.0, 0.0]);
    light.pixels[..128].fill([0.0, 1.0, 1.0]);
    let end = light.pixels.len();
    light.pixels[end - 128..].fill([1.0, 0.0, 1.0]);
    let lit = environment(&light);
    let cases = [
        ([1.0, 0.0, 0.0], [1.0, 0.0, 0.0]),
        ([0.0, 0.0, 1.0], [0.0, 1.0, 0.0]),
        ([0.0, 0.0, -1.0], [0.0, 0.0, 1.0]),
        ([-1.0, 0.0, 0.0], [1.0, 1.0, 0.0]),
        ([0.0, 1.0, 0.0], [0.0, 1.0, 1.0]),
        ([0.0, -1.0, 0.0], [1.0, 0.0, 1.0]),
    ];
    for (d, color) in cases {
        for (texels, side) in [(&lit.background, lit.background_side), (&lit.specular, OCTAHEDRAL_SIDE)] {
            let texel = position_of(d).map(|p| (((p * 0.5 + 0.5) * f64::from(side)) as u32).min(side - 1));
            let got = texels[(texel[1] * side + texel[0]) as usize];
            assert!((0..3).all(|k| (got[k] - color[k]).abs() < 1e-3), "{d:?}: {got:?} not {color:?}");
        }
    }
}

/// Every level against a sum over all pixels of the picture with the lobe's exact weight, in f64; a sun of one pixel
/// apart, by the lobe's integral in closed form, since a narrow lobe sees few pixels.
#[test]
fn levels_follow_the_ggx_lobe() {
    const WIDTH: usize = 512;
    let soft = |d: [f64; 3]| {
        let spot = (dot(d, [0.48, 0.6, 0.64]) - 0.95).max(0.0) * 600.0;
        [(0.3 + 0.2 * d[1] + spot) as f32, (1.0 + d[0]) as f32, (0.5 + 0.5 * d[2] * d[2]) as f32]
    };
    // A sun of one pixel, brighter than all the rest together.
    let (sun, sun_row) = (70 * WIDTH + 300, 70.0);
    let sunlight = [60_000.0, 40_000.0, 30_000.0f32];
    let soft_light = panorama(WIDTH, soft);
    let mut sunny = soft_light.clone();
    (0..3).for_each(|c| sunny.pixels[sun][c] += sunlight[c]);
    let edge = |row: f64| libm::cos(PI * row / (WIDTH / 2) as f64);
    let sun_area = (edge(sun_row) - edge(sun_row + 1.0)) * 2.0 * PI / WIDTH as f64;
    let directions: Vec<[f64; 3]> = {
        let coded = panorama(WIDTH, |d| d.map(|c| (c + 1.0) as f32));
        coded.pixels.iter().map(|p| p.map(|c| f64::from(c) - 1.0)).collect()
    };
    // Bilinear lookups make a pixel a tent, two pixels wide; on a narrow lobe's slope that is 2.6 % from a point.
    let tent = || (-7..8).map(|i| (f64::from(i) / 8.0, (8.0 - f64::from(i).abs()) / 64.0));
    let disc: Vec<([f64; 3], f64)> = tent()
        .flat_map(|(dy, across)| tent().map(move |(dx, along)| (dx, dy, across * along)))
        .map(|(dx, dy, share)| {
            let polar = PI * (sun_row + 0.5 + dy) / (WIDTH / 2) as f64;
            let turn = 2.0 * PI * (((sun % WIDTH) as f64 + 0.5 + dx) / WIDTH as f64 - 0.5);
            let flat = libm::sin(polar);
            ([flat * libm::cos(turn), libm::cos(polar), flat * libm::sin(turn)], share)
        })
        .collect();
    for (name, light, sunlight) in [("soft", &soft_light, [0.0; 3]), ("sunny", &sunny, sunlight)] {
        let lit = environment(light);
        for k in 1..LEVELS {
            let roughness = 1.0 - (1.0 - f64::from(k) / f64::from(LEVELS - 1)).sqrt();
            let alpha2 = roughness.powi(4);
            // N = V: the half vector's cosine squared is (1 + n.l) / 2.
            let lobe = |n_dot_l: f64| {
                let width = (alpha2 - 1.0) * 0.5 * (1.0 + n_dot_l) + 1.0;
                n_dot_l.max(0.0) / (width * width)
            };
            let (a, b) = (0.5 * (1.0 + alpha2), 0.5 * (alpha2 - 1.0));
            // The widest lobe is a plain cosine.
            let narrow = 2.0 * PI / (b * b) * (libm::log(alpha2 / a) + a / alpha2 - 1.0);
            let whole = if k == LEVELS - 1 { PI } else { narrow };
            let every = (OCTAHEDRAL_SIDE >> k).pow(2) / 24;
            // Spread over the level, and those that face the sun.
            let chosen = level(&lit, k).enumerate().filter(|(i, (n, _))| {
                *i as u32 % every == 3 || dot(*n, directions[sun]) > 1.0 - 0.03 * f64::from(k * k) / 16.0
            });
            for (i, (n, got)) in chosen {
                let (mut sum, mut weights) = ([0.0; 3], 0.0);
                for ((pixel, d), j) in soft_light.pixels.iter().zip(&directions).zip(0..) {
                    let row: usize = j / WIDTH;
                    let weight = lobe(dot(n, *d)) * libm::sin(PI * (row as f64 + 0.5) / (WIDTH / 2) as f64);
                    weights += weight;
                    (0..3).for_each(|c| sum[c] += weight * f64::from(pixel[c]));
                }
                for c in 0..3 {
                    let through: f64 = disc.iter().map(|(d, share)| share * lobe(dot(n, *d))).sum();
                    let from_sun = f64::from(sunlight[c]) * sun_area * through / whole;
                    let (got, want) = (f64::from(got[c]), sum[c] / weights + from_sun);
                    let slack = 0.015 * want + 0.002;
                    assert!((got - want).abs() < slack, "{name} level {k} texel {i} {n:?}: {got} not {want}");
                }
            }
        }
    }
}

/// Filtering moves light about, it makes none: each level has the picture's mean, even with a sun of one pixel.
#[test]
fn levels_keep_the_energy() {
    for sun in [[150usize, 35], [2, 4], [64, 64]] {
        let mut light = panorama(256, |_| [0.1; 3]);
        light.pixels[sun[1] * 256 + sun[0]] = [60_000.0; 3];
        let lit = environment(&light);
        let want = f64::from(lit.irradiance_sh[0][0]);
        for k in 0..LEVELS {
            let (mut sum, mut area) = (0.0, 0.0);
            for (d, texel) in level(&lit, k) {
                let length = d[0].abs() + d[1].abs() + d[2].abs();
                sum += f64::from(texel[0]) * length.powi(3);
                area += length.powi(3);
            }
            let got = sum / area;
            assert!((got / want - 1.0).abs() < 0.015, "sun at {sun:?}, level {k}: {got} of {want}");
        }
    }
}

/// Large pictures are averaged down first, of whatever size, by solid angle: what stands in a last, odd row or column,
/// or at a pole, counts as much as it should.
#[test]
fn large_pictures_of_odd_sizes_keep_their_energy() {
    const WIDTH: usize = 4098;
    let dark = Panorama::new(WIDTH, WIDTH / 2, vec![[0.1; 3]; WIDTH * WIDTH / 2]);
    let last_row = WIDTH / 2 - 1;
    let places: [(usize, usize, usize, f32); 3] =
        [(WIDTH - 2, 700, 2, 2e6), (0, last_row, WIDTH, 2e5), (1024, 1024, 2, 2e6)];
    for (x, y, count, light) in places {
        let mut lit = dark.clone();
        lit.pixels[y * WIDTH + x..][..count].fill([light; 3]);
        let mean = |sum: f64| sum / (4.0 * PI);
        let picture = lit.to_octahedron();
        let got = mean(picture.texels.iter().map(|t| f64::from(t[0]) * f64::from(t[3])).sum());
        let want = f64::from(irradiance_sh(&lit)[0][0]);
        // A pole's own row is 13/12 of itself: bilinear lookups end there.
        assert!((got / want - 1.0).abs() < 0.05, "{count} px at {x}, {y}: {got} of {want}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let light = panorama(256, |[x, y, z]| [x.max(0.0) * 9.0, y * y, z + 1.5].map(|v| v as f32));
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let lit = pool.install(|| environment(&light));
        let bits = lit.specular.iter().chain(&lit.background).chain(&lit.irradiance_sh);
        let bytes: Vec<u8> = bits.flatten().flat_map(|v| v.to_le_bytes()).collect();
        blake3::hash(&bytes).to_hex().to_string()
    };
    let one = on(1);
    assert_eq!(on(2), one);
    assert_eq!(on(7), one);
    // Made on x86-64; any machine and any code generation must repeat it.
    assert_eq!(one, "0136a1732a6004691c3956fd47b55b753b7f4d2f1c96096f4c2ca6c8f344f677");
}

#[test]
fn stored_values_are_in_range_and_never_denormal() {
    let light = panorama(64, |[x, y, _]| {
        let faint = 1e-33 * (1.0 + x);
        [faint, if y > 0.9 { 16e6 } else { 0.0 }, 1e-30].map(|v| v as f32)
    });
    let lit = environment(&light);
    for v in lit.specular.iter().chain(&lit.background).chain(&lit.irradiance_sh).flatten() {
        let small = v.abs() < f32::from_bits(0x0D80_0000);
        assert!(v.is_finite() && v.abs() <= 16e6 && (!small || v.to_bits() == 0), "{v:e}");
    }
    assert!(lit.specular.iter().flatten().all(|v| (0.0..=65504.0).contains(v)));
}

/// The table against a rule that shares nothing with it: sampling of half vectors by D alone, and closed forms.
#[test]
fn the_split_sum_is_right() {
    let table = |x: usize, y: usize| dfg_table()[y * DFG_SIDE as usize + x].map(f64::from);
    let reference = |n_dot_v: f64, roughness: f64| {
        let alpha2 = roughness.powi(4);
        let smith = |c: f64| 0.5 * ((1.0 + alpha2 * (1.0 - c * c) / (c * c)).sqrt() - 1.0);
        let (steps, turns) = (3000, 200);
        let sin_v = (1.0 - n_dot_v * n_dot_v).sqrt();
        let mut sum = [0.0; 2];
        for i in 0..steps {
            let u = (f64::from(i) + 0.5) / f64::from(steps);
            let cos2 = (1.0 - u) / (1.0 + (alpha2 - 1.0) * u);
            let (cos_h, sin_h) = (cos2.sqrt(), (1.0 - cos2).sqrt());
            for j in 0..turns {
                let turn = PI * (f64::from(j) + 0.5) / f64::from(turns);
                let v_dot_h = sin_v * sin_h * libm::cos(turn) + n_dot_v * cos_h;
                let n_dot_l = 2.0 * v_dot_h * cos_h - n_dot_v;
                if n_dot_l > 0.0 && v_dot_h > 0.0 {
                    let masking = 1.0 / (1.0 + smith(n_dot_v) + smith(n_dot_l));
                    let weight = masking * v_dot_h / (cos_h * n_dot_v);
                    let fresnel = (1.0 - v_dot_h).powi(5);
                    sum[0] += (1.0 - fresnel) * weight;
                    sum[1] += fresnel * weight;
                }
            }
        }
        sum.map(|s| s / f64::from(steps * turns))
    };
    let place = |k: usize| (k as f64 + 0.5) / f64::from(DFG_SIDE);
    for (x, y) in [(32, 8), (5, 2), (50, 5), (63, 63), (10, 32), (8, 40), (40, 20), (63, 0), (20, 60)] {
        let (got, want) = (table(x, y), reference(place(x), place(y)));
        for k in 0..2 {
            assert!((got[k] - want[k]).abs() < 3e-4, "({x}, {y}): {got:?} not {want:?}");
        }
    }
    for y in 0..DFG_SIDE as usize {
        for x in 0..DFG_SIDE as usize {
            let [scale, bias] = table(x, y);
            assert!(scale >= 0.0 && bias >= 0.0 && scale + bias <= 1.0 + 1e-6, "({x}, {y})");
        }
    }
    // A mirror: all of it, split by (1 - n.v)^5.
    for x in [4, 20, 60] {
        let [scale, bias] = table(x, 0);
        assert!((bias - (1.0 - place(x)).powi(5)).abs() < 1e-3 && (scale + bias - 1.0).abs() < 1e-3);
    }
}

/// White diffuse things seen from the front show near white after Khronos neutral at exposure 0, and nothing is tinted.
#[test]
fn the_studio_is_grey_and_bright_enough() {
    let studio = Environment::studio();
    assert_eq!(studio.hash, "studio");
    for texel in studio.specular.iter().chain(&studio.background).chain(&studio.irradiance_sh) {
        assert!(texel[0] == texel[1] && texel[1] == texel[2] && texel[3] == 0.0);
    }
    let (mut sum, mut weights, mut least, mut most) = (0.0, 0.0, f64::MAX, 0.0f64);
    for n in spread(4000) {
        let light = irradiance(&studio.irradiance_sh, n)[0];
        if n[2] > 0.0 {
            sum += light * n[2];
            weights += n[2];
        }
        (least, most) = (least.min(light), most.max(light));
    }
    let mean = sum / weights;
    assert!((0.9..1.05).contains(&mean), "mean {mean}");
    assert!(least > 0.3 && most < 1.6, "{least} to {most}");
    // The key light is at the upper left front.
    assert!(
        irradiance(&studio.irradiance_sh, [-0.6, 0.5, 0.62])[0]
            > irradiance(&studio.irradiance_sh, [0.6, 0.5, 0.62])[0] * 1.15
    );
}
