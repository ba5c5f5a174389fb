//! Materials: one function per kind of thing, each with chance left in it.

use super::gltf::{Anisotropy, Clearcoat, Ior, Iridescence, Lobes, Sheen, Specular, Transmission, Volume};
use super::pattern::Pattern;
use super::rng::Rng;
use super::texture::{Cutout, Rgb};

/// A material before its pictures are made.
#[derive(Debug, Clone)]
pub(super) struct Look {
    /// Linear.
    pub base: Rgb,
    pub alpha: f64,
    pub metallic: f64,
    pub roughness: f64,
    pub surface: Surface,
    /// Linear colour and radiance.
    pub emission: Option<(Rgb, f64)>,
    pub lobes: Lobes,
    pub double_sided: bool,
}

/// What is painted on a material.
#[derive(Debug, Clone)]
pub(super) enum Surface {
    Plain,
    /// `low` and `high` are sRGB-encoded; `relief` above 0 makes a normal map.
    Pattern {
        pattern: Pattern,
        low: Rgb,
        high: Rgb,
        tile_m: f64,
        relief: f64,
        rough: bool,
    },
    /// Cut out of a square, with texture coordinates of 0 to 1.
    Cutout {
        cutout: Cutout,
        color: Rgb,
        repeat: f64,
    },
    /// Blended as a whole.
    Blend,
}

impl Look {
    fn plain(base: Rgb, roughness: f64) -> Look {
        Look {
            base,
            alpha: 1.0,
            metallic: 0.0,
            roughness,
            surface: Surface::Plain,
            emission: None,
            lobes: Lobes::default(),
            double_sided: false,
        }
    }

    fn painted(pattern: Pattern, [low, high]: [Rgb; 2], tile_m: f64, relief: f64) -> Look {
        let surface = Surface::Pattern { pattern, low, high, tile_m, relief, rough: true };
        Look { surface, ..Look::plain([1.0; 3], 1.0) }
    }

    fn double_sided(self) -> Look {
        Look { double_sided: true, ..self }
    }
}

/// Hue in turns, saturation and value: which space it is in is the caller's.
pub(super) fn hsv(hue: f64, saturation: f64, value: f64) -> Rgb {
    [5.0, 3.0, 1.0].map(|offset: f64| {
        let k = (offset + hue * 6.0).rem_euclid(6.0);
        value - value * saturation * k.min(4.0 - k).min(1.0).max(0.0)
    })
}

fn color(rng: &mut Rng) -> Rgb {
    let (hue, saturation) = (rng.unit(), rng.range(0.2, 0.85));
    hsv(hue, saturation, rng.range(0.25, 0.9))
}

/// Blackbody-like white, from candle to overcast sky.
pub(super) fn white(warmth: f64) -> Rgb {
    [1.0, 0.95 - 0.33 * warmth, 0.95 - 0.7 * warmth]
}

pub(super) fn emitter(color: Rgb, radiance: f64) -> Look {
    // Strengths are cut where the loader would cut them, at the largest half float.
    Look { emission: Some((color, radiance.min(60_000.0))), ..Look::plain([0.8; 3], 0.6) }.double_sided()
}

/// One colour that only scatters, linear.
pub(super) fn flat(base: Rgb) -> Look {
    Look::plain(base, 1.0)
}

pub(super) fn plaster(rng: &mut Rng) -> Look {
    let hue = rng.unit();
    let wall = hsv(hue, rng.range(0.0, 0.3), rng.range(0.7, 0.95));
    let relief = rng.range(0.002, 0.01);
    Look::painted(Pattern::Noise { cells: 8 }, [wall.map(|value| value * 0.92), wall], 1.5, relief)
}

pub(super) fn wallpaper(rng: &mut Rng) -> Look {
    let hue = rng.unit();
    let (low, high) = (hsv(hue, rng.range(0.1, 0.5), 0.65), hsv(hue + rng.range(-0.1, 0.1), 0.15, 0.9));
    let pattern = match rng.int(0, 3) {
        0 => Pattern::Stripes { count: rng.int(4, 12), slant: 0 },
        1 => Pattern::Dots { count: rng.int(4, 9) },
        2 => Pattern::Checker { count: 8 },
        _ => Pattern::Weave { count: 16 },
    };
    Look::painted(pattern, [low, high], rng.range(0.5, 1.2), 0.0)
}

pub(super) fn brick(rng: &mut Rng) -> Look {
    let brick = hsv(rng.range(0.01, 0.07), rng.range(0.3, 0.6), rng.range(0.4, 0.75));
    Look::painted(Pattern::Bricks { columns: 4, rows: 12 }, [[0.6, 0.58, 0.55], brick], 1.0, 0.02)
}

/// A front of windows, for houses seen from far.
pub(super) fn facade(rng: &mut Rng) -> Look {
    let hue = rng.unit();
    let (wall, window) =
        (hsv(hue, rng.range(0.05, 0.35), rng.range(0.5, 0.85)), hsv(0.58, 0.3, rng.range(0.1, 0.4)));
    let pattern = if rng.chance(0.6) { Pattern::Windows { count: 3 } } else { Pattern::Tiles { count: 3 } };
    Look::painted(pattern, [wall, window], rng.range(5.0, 10.0), 0.0)
}

pub(super) fn tiles(rng: &mut Rng) -> Look {
    let hue = rng.unit();
    let tile = hsv(hue, rng.range(0.0, 0.4), rng.range(0.5, 0.95));
    let grout = [rng.range(0.25, 0.6); 3];
    Look::painted(Pattern::Tiles { count: 4 }, [grout, tile], rng.range(0.8, 2.0), 0.01)
}

pub(super) fn wood(rng: &mut Rng) -> Look {
    let hue = rng.range(0.05, 0.1);
    let (dark, light) =
        (hsv(hue, 0.6, rng.range(0.2, 0.4)), hsv(hue, rng.range(0.3, 0.55), rng.range(0.55, 0.85)));
    let mut look =
        Look::painted(Pattern::Wood { planks: rng.int(2, 6) }, [dark, light], rng.range(0.6, 1.2), 0.004);
    if rng.chance(0.35) {
        look.lobes.clearcoat = Some(Clearcoat { clearcoat_factor: 0.8, clearcoat_roughness_factor: 0.1 });
    }
    look
}

pub(super) fn marble(rng: &mut Rng) -> Look {
    let stone = hsv(rng.unit(), rng.range(0.0, 0.2), rng.range(0.6, 0.95));
    Look::painted(
        Pattern::Marble { cells: 3 },
        [stone, stone.map(|value| value * 0.4)],
        rng.range(0.8, 2.0),
        0.0,
    )
}

pub(super) fn stone(rng: &mut Rng) -> Look {
    let stone = hsv(rng.range(0.05, 0.15), rng.range(0.05, 0.25), rng.range(0.45, 0.75));
    Look::painted(Pattern::Noise { cells: 6 }, [stone.map(|value| value * 0.55), stone], 1.2, 0.03)
}

pub(super) fn soil(rng: &mut Rng) -> Look {
    let hue = if rng.chance(0.6) { rng.range(0.2, 0.3) } else { rng.range(0.06, 0.12) };
    let ground = hsv(hue, rng.range(0.25, 0.5), rng.range(0.35, 0.6));
    Look::painted(
        Pattern::Noise { cells: 24 },
        [ground.map(|value| value * 0.7), ground],
        rng.range(2.0, 4.0),
        0.02,
    )
}

pub(super) fn fabric(rng: &mut Rng) -> Look {
    let thread = color(rng);
    let pattern = match rng.int(0, 2) {
        0 => Pattern::Stripes { count: rng.int(4, 12), slant: 0 },
        1 => Pattern::Checker { count: 6 },
        _ => Pattern::Weave { count: 48 },
    };
    let dark = thread.map(|value| value * 0.6);
    let mut look = Look::painted(pattern, [dark, thread], rng.range(0.3, 0.8), 0.004).double_sided();
    let sheen = color(rng).map(|value| (value * 0.6) as f32);
    let roughness = rng.range(0.3, 0.7) as f32;
    look.lobes.sheen = Some(Sheen { sheen_color_factor: sheen, sheen_roughness_factor: roughness });
    look
}

pub(super) fn paper(rng: &mut Rng) -> Look {
    let ink = if rng.chance(0.7) { [0.1; 3] } else { color(rng) };
    let sheet = hsv(rng.range(0.08, 0.16), rng.range(0.02, 0.2), 0.92);
    Look::painted(Pattern::Marks { rows: rng.int(8, 20) }, [sheet, ink], 1.0, 0.0)
}

pub(super) fn printed(rng: &mut Rng) -> Look {
    let pair = [color(rng), color(rng)];
    let pattern = Pattern::any(rng);
    Look::painted(pattern, pair, rng.range(0.2, 0.8), if rng.chance(0.4) { 0.008 } else { 0.0 })
}

pub(super) fn metal(rng: &mut Rng) -> Look {
    let metals =
        [[0.95, 0.93, 0.88], [1.0, 0.77, 0.34], [0.96, 0.64, 0.54], [0.56, 0.57, 0.58], [0.91, 0.92, 0.92]];
    let base = rng.pick(&metals);
    let roughness = rng.log_range(0.03, 0.6);
    let mut look = Look { metallic: 1.0, ..Look::plain(base, roughness) };
    if rng.chance(0.4) {
        let (strength, rotation) = (rng.range(0.3, 0.95) as f32, rng.range(0.0, 3.1) as f32);
        look.lobes.anisotropy =
            Some(Anisotropy { anisotropy_strength: strength, anisotropy_rotation: rotation });
        look.roughness = rng.range(0.25, 0.5);
    } else if rng.chance(0.5) {
        let pattern = Pattern::Scratches { count: 80 };
        let [low, high] = [[0.75; 3], [0.95; 3]];
        look.surface = Surface::Pattern { pattern, low, high, tile_m: 0.4, relief: 0.001, rough: true };
        look.roughness = 1.0;
    }
    look
}

pub(super) fn plastic(rng: &mut Rng) -> Look {
    let mut look = Look::plain(color(rng), rng.range(0.08, 0.6));
    match rng.int(0, 2) {
        0 => look.lobes.ior = Some(Ior { ior: rng.range(1.3, 1.8) as f32 }),
        1 => {
            let tint = color(rng).map(|value| value as f32);
            let factor = rng.range(0.3, 1.0) as f32;
            look.lobes.specular = Some(Specular { specular_factor: factor, specular_color_factor: tint });
        }
        _ => {}
    }
    look
}

pub(super) fn lacquer(rng: &mut Rng) -> Look {
    let mut look = Look::plain(color(rng), rng.range(0.3, 0.7));
    look.metallic = if rng.chance(0.5) { rng.range(0.3, 0.9) } else { 0.0 };
    look.lobes.clearcoat = Some(Clearcoat {
        clearcoat_factor: rng.range(0.6, 1.0) as f32,
        clearcoat_roughness_factor: rng.log_range(0.01, 0.3) as f32,
    });
    look
}

pub(super) fn iridescent(rng: &mut Rng) -> Look {
    let mut look = Look::plain(color(rng).map(|value| value * 0.5), rng.range(0.05, 0.3));
    look.metallic = if rng.chance(0.5) { 1.0 } else { 0.0 };
    look.lobes.iridescence = Some(Iridescence {
        iridescence_factor: rng.range(0.6, 1.0) as f32,
        iridescence_ior: rng.range(1.2, 1.8) as f32,
        iridescence_thickness_minimum: 100.0,
        iridescence_thickness_maximum: rng.range(250.0, 700.0) as f32,
    });
    look
}

/// Clear or tinted, with a thickness: what throws caustics.
pub(super) fn glass(rng: &mut Rng) -> Look {
    let roughness = if rng.chance(0.7) { 0.0 } else { rng.range(0.05, 0.35) };
    let mut look = Look::plain([1.0; 3], roughness);
    look.lobes.transmission = Some(Transmission { transmission_factor: rng.range(0.9, 1.0) as f32 });
    look.lobes.ior = Some(Ior { ior: rng.range(1.33, 1.7) as f32 });
    let hue = rng.unit();
    look.lobes.volume = Some(Volume {
        thickness_factor: rng.range(0.01, 0.1) as f32,
        attenuation_distance: rng.log_range(0.03, 0.6) as f32,
        attenuation_color: hsv(hue, rng.range(0.0, 0.7), 0.95).map(|value| value as f32),
    });
    look
}

/// A window pane: blended, so that light that is not refracted goes straight through.
pub(super) fn pane(rng: &mut Rng) -> Look {
    let tint = hsv(rng.range(0.4, 0.6), 0.15, 0.9);
    let alpha = rng.range(0.05, 0.2);
    Look { alpha, surface: Surface::Blend, ..Look::plain(tint, 0.03) }.double_sided()
}

pub(super) fn leaf(rng: &mut Rng) -> Look {
    let hue = if rng.chance(0.8) { rng.range(0.2, 0.36) } else { rng.range(0.02, 0.12) };
    let color = hsv(hue, rng.range(0.4, 0.75), rng.range(0.4, 0.75));
    let cutout = if rng.chance(0.6) { Cutout::Leaf } else { Cutout::Fern };
    masked(cutout, color, 1.0, 0.5)
}

pub(super) fn fence(rng: &mut Rng) -> Look {
    if rng.chance(0.5) {
        Look { metallic: 0.6, ..masked(Cutout::ChainLink, [0.6, 0.62, 0.64], 2.0, 0.4) }
    } else {
        let paint = hsv(rng.range(0.05, 0.15), rng.range(0.0, 0.5), 0.85);
        masked(Cutout::Pickets, paint, 1.0, 0.7)
    }
}

fn masked(cutout: Cutout, color: Rgb, repeat: f64, roughness: f64) -> Look {
    let surface = Surface::Cutout { cutout, color, repeat };
    Look { surface, ..Look::plain([1.0; 3], roughness) }.double_sided()
}

pub(super) fn decal(rng: &mut Rng) -> Look {
    let surface = Surface::Cutout { cutout: Cutout::Decal, color: color(rng), repeat: 1.0 };
    Look { surface, ..Look::plain([1.0; 3], rng.range(0.1, 0.8)) }
}

pub(super) fn ceramic(rng: &mut Rng) -> Look {
    Look::plain(hsv(rng.unit(), rng.range(0.0, 0.5), rng.range(0.6, 0.9)), rng.range(0.05, 0.25))
}

pub(super) fn matte(rng: &mut Rng) -> Look {
    Look::plain(hsv(rng.unit(), rng.range(0.0, 0.15), rng.range(0.5, 0.85)), 0.9)
}

/// Anything that a small thing may be made of.
pub(super) fn any(rng: &mut Rng) -> Look {
    let makers = [
        wood, marble, stone, fabric, printed, metal, plastic, lacquer, iridescent, glass, ceramic, matte,
        metal, plastic, printed, paper,
    ];
    rng.pick(&makers)(rng)
}
