//! Outputs as whole numbers, for PNG, WebP and JPEG.
//!
//! `color` and `albedo` are pictures, encoded with the sRGB curve. The other outputs have a mapping each, so
//! that they can be seen, and in 16 bit be used; EXR holds them as they are.
//!
//! | output | 16 bit | 8 bit |
//! |---|---|---|
//! | `color` | RGBA, straight alpha, sRGB | the same |
//! | `base` | as `color`, clamped to 0 to 1 | the same |
//! | `depth` | grey, linear: see [`DepthRange`] | the same |
//! | `motion` | RGB as KITTI flow: 32768 + 64 px; blue is 1 where motion is valid and in range | RGB: 128 + 1 px |
//! | `normal` | RGB: (n + 1) / 2 of full | the same |
//! | `albedo` | RGB, sRGB | the same |
//! | `irradiance`, `reflectance` | RGB, sRGB: the diffuse part, clamped to 0 to 1 | the same |
//! | `emission` | RGB, sRGB, clamped to 0 to 1 | the same |
//! | `hit_distance` | grey, as `depth` | the same |
//! | `variance` | RGB: square roots of the diffuse and the specular, clamped to 0 to 1; 0 | the same |
//! | `id` | RGB: node + 1, primitive + 1, 0 | RGB: a colour per pair from a hash, black where nothing is |
//!
//! Rounding is to nearest, halves to even.

use std::borrow::Cow;

use isoframe_raster::frame::{Color, Frame, Output};

use super::srgb::Table;
use super::{EncodeError, Format, color_format};
use crate::receipt::DepthRange;

/// How samples lie in an [`Image`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    Gray8,
    Rgb8,
    Rgba8,
    Gray16,
    Rgb16,
    Rgba16,
}

impl Layout {
    pub(super) fn bytes_per_sample(self) -> usize {
        match self {
            Layout::Gray8 | Layout::Rgb8 | Layout::Rgba8 => 1,
            Layout::Gray16 | Layout::Rgb16 | Layout::Rgba16 => 2,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Layout::Gray8 => "gray8",
            Layout::Rgb8 => "rgb8",
            Layout::Rgba8 => "rgba8",
            Layout::Gray16 => "gray16",
            Layout::Rgb16 => "rgb16",
            Layout::Rgba16 => "rgba16",
        }
    }

    pub(super) fn channels(self) -> usize {
        match self {
            Layout::Gray8 | Layout::Gray16 => 1,
            Layout::Rgb8 | Layout::Rgb16 => 3,
            Layout::Rgba8 | Layout::Rgba16 => 4,
        }
    }
}

/// Whole-number samples, interleaved, row-major from the top left; 16 bit is little-endian.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Image<'a> {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) layout: Layout,
    /// Whether the samples are colours on the sRGB curve, rather than data.
    pub(super) srgb: bool,
    pub(super) samples: Cow<'a, [u8]>,
    pub(super) depth_range: Option<DepthRange>,
}

/// How wide samples are, and what fills them.
#[derive(Clone, Copy)]
struct Depth {
    sixteen: bool,
    full: f64,
}

/// How the samples of an output lie.
pub(super) fn layout(output: Output, sixteen: bool) -> Layout {
    match (output, sixteen) {
        (Output::Color | Output::Base, false) => Layout::Rgba8,
        (Output::Color | Output::Base, true) => Layout::Rgba16,
        (Output::Depth | Output::HitDistance, false) => Layout::Gray8,
        (Output::Depth | Output::HitDistance, true) => Layout::Gray16,
        (_, false) => Layout::Rgb8,
        (_, true) => Layout::Rgb16,
    }
}

/// One output of a frame as whole numbers.
pub(super) fn image<'a>(frame: &'a Frame, output: Output, format: Format) -> Result<Image<'a>, EncodeError> {
    let sixteen = format == Format::Png16;
    let depth = Depth { sixteen, full: if sixteen { 65535.0 } else { 255.0 } };
    let mut range = None;
    let samples = match output {
        Output::Color => color(frame, format, depth)?,
        Output::Base => straight_srgb(buffer(frame, output, frame.base.as_deref())?, depth),
        Output::Albedo => curve(buffer(frame, output, frame.albedo.as_deref())?.iter().flatten(), depth),
        Output::Emission => curve(buffer(frame, output, frame.emission.as_deref())?.iter().flatten(), depth),
        Output::Irradiance | Output::Reflectance => {
            let both = if output == Output::Irradiance { &frame.irradiance } else { &frame.reflectance };
            curve(buffer(frame, output, both.as_deref())?.iter().flat_map(|both| &both[..3]), depth)
        }
        Output::Variance => {
            let variance = buffer(frame, output, frame.variance.as_deref())?;
            let code = |v: f32| libm::rint(f64::from(v).sqrt().clamp(0.0, 1.0) * depth.full) as u32;
            depth.pack(variance.iter().flat_map(|[diffuse, specular]| [code(*diffuse), code(*specular), 0]))
        }
        Output::Depth | Output::HitDistance => {
            let distances = if output == Output::Depth { &frame.depth } else { &frame.hit_distance };
            let values = buffer(frame, output, distances.as_deref())?;
            let found = *range.insert(depth_range(values));
            depth.pack(values.iter().map(|value| depth_code(*value, found, depth.full)))
        }
        Output::Normal => {
            let normal = buffer(frame, output, frame.normal.as_deref())?;
            depth.pack(normal.iter().flatten().map(|component| normal_code(*component, depth.full)))
        }
        Output::Motion => {
            let motion = buffer(frame, output, frame.motion.as_deref())?;
            depth.pack(motion.iter().flat_map(|value| motion_code(*value, frame.motion_valid, depth)))
        }
        Output::Id => ids(buffer(frame, output, frame.id.as_deref())?, format, depth)?,
    };
    Ok(Image {
        width: frame.width,
        height: frame.height,
        layout: layout(output, sixteen),
        srgb: is_picture(output),
        samples,
        depth_range: range,
    })
}

/// Whether an output is colours on the sRGB curve, rather than data.
pub(super) fn is_picture(output: Output) -> bool {
    use Output::{Albedo, Base, Color, Emission, Irradiance, Reflectance};
    matches!(output, Color | Base | Albedo | Emission | Irradiance | Reflectance)
}

/// Linear channels on the sRGB curve.
fn curve<'a>(channels: impl Iterator<Item = &'a f32>, depth: Depth) -> Cow<'static, [u8]> {
    let table = depth.table();
    depth.pack(channels.map(|channel| table.code(*channel)))
}

/// A buffer that is there, and as large as the frame.
fn buffer<'a, T>(frame: &Frame, output: Output, values: Option<&'a [T]>) -> Result<&'a [T], EncodeError> {
    let values = values.ok_or(EncodeError::Missing { output })?;
    let (wanted, got) = (frame.width as usize * frame.height as usize, values.len());
    if wanted == got { Ok(values) } else { Err(EncodeError::Shape { output, wanted, got }) }
}

fn color(frame: &Frame, format: Format, depth: Depth) -> Result<Cow<'_, [u8]>, EncodeError> {
    let output = Output::Color;
    match (frame.color.as_ref().ok_or(EncodeError::Missing { output })?, depth.sixteen) {
        (Color::Srgb8(color), false) => {
            Ok(Cow::Borrowed(bytemuck::cast_slice(buffer(frame, output, Some(color))?)))
        }
        (Color::Linear(color), true) => Ok(straight_srgb(buffer(frame, output, Some(color))?, depth)),
        _ => Err(EncodeError::ColorFormat { format, needed: color_format(format) }),
    }
}

fn ids(ids: &[[u32; 2]], format: Format, depth: Depth) -> Result<Cow<'static, [u8]>, EncodeError> {
    if !depth.sixteen {
        return Ok(depth.pack(ids.iter().flat_map(|id| id_color(*id))));
    }
    if let Some(id) = ids.iter().flatten().find(|id| **id > 65535) {
        let reason = format!("{id} is above 65535");
        return Err(EncodeError::Range { output: Output::Id, format, reason });
    }
    Ok(depth.pack(ids.iter().flat_map(|[node, primitive]| [*node, *primitive, 0])))
}

impl Depth {
    fn table(self) -> &'static Table {
        if self.sixteen { Table::sixteen() } else { Table::eight() }
    }

    fn pack(self, codes: impl Iterator<Item = u32>) -> Cow<'static, [u8]> {
        if self.sixteen {
            Cow::Owned(codes.flat_map(|code| (code as u16).to_le_bytes()).collect())
        } else {
            Cow::Owned(codes.map(|code| code as u8).collect())
        }
    }
}

/// Premultiplied linear to straight sRGB.
fn straight_srgb(pixels: &[[f32; 4]], depth: Depth) -> Cow<'static, [u8]> {
    let table = depth.table();
    let codes = pixels.iter().flat_map(|&[red, green, blue, alpha]| {
        let straight = |channel: f32| {
            if alpha == 1.0 || alpha <= 0.0 { channel } else { channel / alpha }
        };
        let alpha_code = libm::rint(f64::from(alpha).clamp(0.0, 1.0) * depth.full) as u32;
        [table.code(straight(red)), table.code(straight(green)), table.code(straight(blue)), alpha_code]
    });
    depth.pack(codes)
}

/// Least and greatest finite depth; 0 to 0 where nothing was drawn.
fn depth_range(values: &[f32]) -> DepthRange {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let Some(first) = finite().next() else { return DepthRange { near: 0.0, far: 0.0 } };
    let (near, far) = finite().fold((first, first), |(near, far), value| (near.min(value), far.max(value)));
    DepthRange { near, far }
}

fn depth_code(value: f32, range: DepthRange, full: f64) -> u32 {
    if !value.is_finite() {
        return full as u32;
    }
    let (near, far) = (f64::from(range.near), f64::from(range.far));
    if far <= near {
        return 0;
    }
    libm::rint((f64::from(value) - near) / (far - near) * (full - 1.0)) as u32
}

fn normal_code(component: f32, full: f64) -> u32 {
    libm::rint((f64::from(component).clamp(-1.0, 1.0) + 1.0) / 2.0 * full) as u32
}

fn motion_code(motion_px: [f32; 2], valid: bool, depth: Depth) -> [u32; 3] {
    let (zero, scale) = if depth.sixteen { (32768.0, 64.0) } else { (128.0, 1.0) };
    let exact = motion_px.map(|component| libm::rint(f64::from(component) * scale) + zero);
    let clamped = exact.map(|code| code.clamp(0.0, depth.full));
    let flag = if valid && exact == clamped { if depth.sixteen { 1 } else { 255 } } else { 0 };
    [clamped[0] as u32, clamped[1] as u32, flag]
}

/// A colour that tells neighbours apart: the finaliser of MurmurHash3 over both numbers, kept off black.
fn id_color([node, primitive]: [u32; 2]) -> [u32; 3] {
    if [node, primitive] == [0, 0] {
        return [0; 3];
    }
    let mut hash = node.wrapping_mul(0x9e37_79b1) ^ primitive.wrapping_mul(0x85eb_ca77);
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^= hash >> 16;
    [hash & 0xff, (hash >> 8) & 0xff, (hash >> 16) & 0xff].map(|channel| 48 + channel * 207 / 255)
}
