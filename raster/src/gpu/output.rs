//! What comes back from the device: where outputs lie in a band's buffer, and how they become a frame.

use super::layout::{Band, COVERAGE_WORDS, OWNER_WORDS};
use crate::draw::DrawList;
use crate::frame::{COVERAGE_OWNERS, Color, ColorFormat, Coverage, Frame, IdCoverage, Output, SharedPixel};

/// Words per pixel of each output, in the order of [`Output::CLASSIC`], then of coverage, reflectance and emission.
fn words(list: &DrawList) -> [u32; 10] {
    let c = &list.constants;
    let wants = |output: Output| wants(list, output);
    let color = if c.srgb8 == 1 { 1 } else { 4 };
    let of = |output: Output| match output {
        Output::Color => color,
        Output::Base => 4,
        Output::Depth => 1,
        // Where nothing moves the host fills in zeros.
        Output::Motion if !list.moving => 0,
        Output::Motion | Output::Id => 2,
        Output::Normal | Output::Albedo | Output::Emission => 3,
        Output::Reflectance => 6,
        // The host has these.
        Output::Irradiance | Output::HitDistance | Output::Variance => 0,
    };
    let words = |output: Output| if wants(output) { of(output) } else { 0 };
    std::array::from_fn(|k| match k {
        7 if wants(Output::Id) => COVERAGE_WORDS,
        7 => 0,
        8 => words(Output::Reflectance),
        9 => words(Output::Emission),
        _ => words(Output::CLASSIC[k]),
    })
}

fn wants(list: &DrawList, output: Output) -> bool {
    Output::all().position(|o| o == output).is_some_and(|k| list.constants.outputs >> k & 1 == 1)
}

/// Words per pixel of all outputs.
pub(crate) fn pixel_words(list: &DrawList) -> u32 {
    words(list).iter().sum()
}

/// Lays outputs of `pixels` pixels out in `band`.
pub(crate) fn lay_out(list: &DrawList, pixels: u32, band: &mut Band) {
    let words = words(list);
    let mut at = 0;
    let places = [
        &mut band.color_at,
        &mut band.base_at,
        &mut band.depth_at,
        &mut band.motion_at,
        &mut band.normal_at,
        &mut band.albedo_at,
        &mut band.id_at,
        &mut band.coverage_at,
        &mut band.reflectance_at,
        &mut band.emission_at,
    ];
    for (place, words) in places.into_iter().zip(words) {
        *place = at;
        at += words * pixels;
    }
}

/// A frame that grows band by band.
#[derive(Debug)]
pub(crate) struct Assembly {
    frame: Frame,
    words: [u32; 10],
    /// Pixels so far.
    pixels: u32,
}

impl Assembly {
    /// An empty frame.
    pub fn new(list: &DrawList, color: ColorFormat) -> Assembly {
        let c = &list.constants;
        let count = c.width as usize * c.height as usize;
        let wants = |o: Output| wants(list, o);
        fn room<T>(wanted: bool, count: usize) -> Option<Vec<T>> {
            wanted.then(|| Vec::with_capacity(count))
        }
        // The host fills these in.
        fn filled<T: Clone + bytemuck::Zeroable>(wanted: bool, count: usize) -> Option<Vec<T>> {
            wanted.then(|| bytemuck::zeroed_vec(count))
        }
        let frame = Frame {
            width: c.width,
            height: c.height,
            color: wants(Output::Color).then(|| match color {
                ColorFormat::Srgb8 => Color::Srgb8(Vec::with_capacity(count)),
                ColorFormat::Linear => Color::Linear(Vec::with_capacity(count)),
            }),
            base: room(wants(Output::Base), count),
            depth: room(wants(Output::Depth), count),
            motion: room(wants(Output::Motion), count),
            normal: room(wants(Output::Normal), count),
            albedo: room(wants(Output::Albedo), count),
            id: room(wants(Output::Id), count),
            motion_valid: list.motion_valid,
            coverage: wants(Output::Id).then(|| Coverage { samples: c.samples, shared: Vec::new() }),
            reflectance: room(wants(Output::Reflectance), count),
            emission: room(wants(Output::Emission), count),
            irradiance: filled(wants(Output::Irradiance), count),
            hit_distance: filled(wants(Output::HitDistance), count),
            variance: filled(wants(Output::Variance), count),
        };
        Assembly { frame, words: words(list), pixels: 0 }
    }

    /// Adds `pixels` pixels of a band whose outputs lie in `data`.
    pub fn add(&mut self, band: &Band, pixels: u32, data: &[u32]) {
        let part = |at: u32, k: usize| &data[at as usize..][..(self.words[k] * pixels) as usize];
        let frame = &mut self.frame;
        match &mut frame.color {
            Some(Color::Srgb8(out)) => out.extend_from_slice(bytemuck::cast_slice(part(band.color_at, 0))),
            Some(Color::Linear(out)) => out.extend_from_slice(bytemuck::cast_slice(part(band.color_at, 0))),
            None => {}
        }
        fn extend<T: bytemuck::Pod>(out: &mut Option<Vec<T>>, data: &[u32]) {
            if let Some(out) = out {
                out.extend_from_slice(bytemuck::cast_slice(data));
            }
        }
        extend(&mut frame.base, part(band.base_at, 1));
        extend(&mut frame.depth, part(band.depth_at, 2));
        extend(&mut frame.motion, part(band.motion_at, 3));
        extend(&mut frame.normal, part(band.normal_at, 4));
        extend(&mut frame.albedo, part(band.albedo_at, 5));
        extend(&mut frame.id, part(band.id_at, 6));
        extend(&mut frame.reflectance, part(band.reflectance_at, 8));
        extend(&mut frame.emission, part(band.emission_at, 9));
        if let Some(coverage) = &mut frame.coverage {
            let owner = |w: &[u32]| IdCoverage { id: [w[0], w[1]], samples: w[2] };
            let words = part(band.coverage_at, 7).chunks_exact(COVERAGE_WORDS as usize);
            for (index, words) in (self.pixels..).zip(words) {
                let owners: [IdCoverage; COVERAGE_OWNERS] =
                    std::array::from_fn(|k| owner(&words[k * OWNER_WORDS as usize..]));
                if owners[1].samples > 0 {
                    coverage.shared.push(SharedPixel::new(index, owners));
                }
            }
        }
        self.pixels += pixels;
    }

    /// The whole frame.
    pub fn finish(mut self) -> Frame {
        let count = self.frame.width as usize * self.frame.height as usize;
        if let Some(motion) = &mut self.frame.motion {
            motion.resize(count, [0.0; 2]);
        }
        self.frame
    }
}
