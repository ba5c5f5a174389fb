//! Requests as pairs of names and values: query strings, and flags of the command line without their dashes.

use std::collections::BTreeSet;
use std::str::FromStr;

use isoframe_raster::frame::{
    AnimationChoice, Background, CameraChoice, FrameRequest, NeuralMode, Output, RenderError, Sun, Tonemap,
    Traced,
};

use super::{RequestError, field};

/// The parameters of [`from_pairs`], as flags of the command line without their dashes.
pub const PARAMETERS: [&str; 33] = [
    "animation",
    "background",
    "camera",
    "diffuse-bounces",
    "env",
    "env-intensity",
    "env-light",
    "env-rotation",
    "exposure",
    "height",
    "light-angle",
    "light-radius",
    "lights",
    "model-channel",
    "neural",
    "occlusion-radius",
    "output",
    "previous-camera",
    "previous-time",
    "sample-max",
    "samples",
    "scene",
    "seed",
    "shadows",
    "size",
    "specular-bounces",
    "sun",
    "sun-lux",
    "time",
    "tonemap",
    "traced",
    "variant",
    "width",
];

/// Illuminance of a sun that is given without `sun-lux`: a white diffuser that faces it shows radiance 1.
const SUN_DEFAULT_LUX: f32 = std::f32::consts::PI;

/// Longest part of a bad parameter that an error repeats. *Units*: characters.
const QUOTE_CHARS: usize = 64;

/// Reads a request; what is not given has its default. *Errors*: an unknown, repeated or malformed parameter.
///
/// | name | value | default |
/// |---|---|---|
/// | `scene`, `env` | blake3 hash | none, the built-in studio |
/// | `camera`, `previous-camera` | see [`camera`] | `auto`, none |
/// | `animation` | `first`, `none`, `all`, an index, or a name; `name:` before a name that is one of these | `first` |
/// | `time`, `previous-time` | seconds | 0, none |
/// | `variant` | name | none |
/// | `size`, or `width` and `height` | `1280x720` | 1280x720 |
/// | `samples`, `seed` | whole numbers | 4, 0 |
/// | `env-light` | `auto`, `on`, `off` | `auto` |
/// | `env-intensity`, `env-rotation` | factor, angle (`30deg`, `0.5rad`, bare degrees) | 1, 0 |
/// | `lights` | `on`, `off` | `on` |
/// | `sun`, `sun-lux` | direction `x,y,z` in which it shines, lux | none, pi |
/// | `shadows` | hard shadows of classic light: `on`, `off` | `off` |
/// | `traced` | light samples of each pixel, `off` for classic light | `off` |
/// | `diffuse-bounces`, `specular-bounces` | 0 to 8 | 3, 4 |
/// | `light-radius`, `light-angle` | scene units, angle from a directional light's centre to its rim | 0, 0 |
/// | `occlusion-radius` | ambient occlusion instead of bounces: scene units | none |
/// | `sample-max` | radiance that one sample may add | none |
/// | `exposure` | stops | 0 |
/// | `tonemap` | `neutral`, `aces`, `none` | `neutral` |
/// | `background` | `transparent`, `environment`, `#rrggbb`, `r,g,b` | `transparent` |
/// | `output` | outputs, separated by commas | `color` |
/// | `neural`, `model-channel` | `off`, `auto`, `required`; a name | `off`, `live` |
pub fn from_pairs<K, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Result<FrameRequest, RequestError>
where
    K: AsRef<str>,
    V: AsRef<str>,
{
    let mut request = FrameRequest::default();
    let mut seen = BTreeSet::new();
    let mut sun_lux = None;
    let mut of_traced = Vec::new();
    for (name, value) in pairs {
        let (name, value) = (name.as_ref(), value.as_ref());
        let Some(&name) = PARAMETERS.iter().find(|known| **known == name) else {
            return Err(RequestError::Unknown { name: quote(name) });
        };
        if !seen.insert(name) {
            return Err(RequestError::Repeated { field: name });
        }
        if name == "sun-lux" {
            sun_lux = Some(number32(name, value)?);
        } else if OF_TRACED.contains(&name) {
            of_traced.push((name, value.to_owned()));
        } else {
            set(&mut request, name, value)?;
        }
    }
    if seen.contains("size") && (seen.contains("width") || seen.contains("height")) {
        return Err(RequestError::Repeated { field: "size" });
    }
    for (name, value) in of_traced {
        let traced = request.lighting.traced.as_mut();
        set_traced(traced.ok_or_else(|| field(name, "needs light samples in `traced`"))?, name, &value)?;
    }
    match (&mut request.lighting.sun, sun_lux) {
        (Some(sun), Some(lux)) => sun.illuminance_lux = lux,
        (None, Some(_)) => return Err(field("sun-lux", "needs a direction in `sun`")),
        (_, None) => {}
    }
    Ok(request)
}

/// Parameters of traced light.
const OF_TRACED: [&str; 6] =
    ["diffuse-bounces", "light-angle", "light-radius", "occlusion-radius", "sample-max", "specular-bounces"];

fn set_traced(traced: &mut Traced, name: &'static str, value: &str) -> Result<(), RequestError> {
    match name {
        "diffuse-bounces" => traced.diffuse_bounces = parse(name, value, "a whole number from 0 to 8")?,
        "light-angle" => traced.light_angle_rad = angle_rad(name, value)?,
        "light-radius" => traced.light_radius = number32(name, value)?,
        "occlusion-radius" => traced.occlusion_radius = Some(number32(name, value)?),
        "sample-max" => traced.sample_radiance_max = Some(number32(name, value)?),
        _ => traced.specular_bounces = parse(name, value, "a whole number from 0 to 8")?,
    }
    Ok(())
}

fn traced(name: &'static str, value: &str) -> Result<Option<Traced>, RequestError> {
    if value == "off" {
        return Ok(None);
    }
    let samples = parse(name, value, "`off` or a number of light samples")?;
    Ok(Some(Traced { samples, ..Traced::default() }))
}

fn set(request: &mut FrameRequest, name: &'static str, value: &str) -> Result<(), RequestError> {
    match name {
        "animation" => request.animation = animation(value),
        "background" => request.background = background(name, value)?,
        "camera" => request.camera = camera(name, value)?,
        "env" => request.environment = Some(value.to_owned()),
        "env-intensity" => request.lighting.environment_intensity = number32(name, value)?,
        "env-light" => request.lighting.environment = switch_or_auto(name, value)?,
        "env-rotation" => request.lighting.environment_rotation_rad = angle_rad(name, value)?,
        "exposure" => request.exposure_ev = number32(name, value)?,
        "height" => request.height = parse(name, value, "a whole number of pixels")?,
        "lights" => request.lighting.punctual = switch(name, value)?,
        "model-channel" => request.model_channel = value.to_owned(),
        "neural" => request.neural = neural(name, value)?,
        "output" => request.outputs = outputs(name, value)?,
        "previous-camera" => request.previous_camera = Some(camera(name, value)?),
        "previous-time" => request.previous_time_s = Some(number(name, value)?),
        "samples" => request.samples = parse(name, value, "1, 4, 8 or 16")?,
        "scene" => request.scene = value.to_owned(),
        "seed" => request.seed = parse(name, value, "a whole number below 2^32")?,
        "shadows" => request.lighting.shadows = switch(name, value)?,
        "size" => (request.width, request.height) = size(name, value)?,
        "sun" => request.lighting.sun = Some(sun(name, value)?),
        "time" => request.time_s = number(name, value)?,
        "tonemap" => request.tonemap = tonemap(name, value)?,
        "traced" => request.lighting.traced = traced(name, value)?,
        "variant" => request.variant = Some(value.to_owned()),
        "width" => request.width = parse(name, value, "a whole number of pixels")?,
        _ => return Err(RequestError::Unknown { name: quote(name) }),
    }
    Ok(())
}

fn quote(text: &str) -> String {
    text.chars().take(QUOTE_CHARS).collect()
}

fn wanted(name: &'static str, value: &str, what: &str) -> RequestError {
    field(name, format!("`{}` is not {what}", quote(value)))
}

fn parse<T: FromStr>(name: &'static str, value: &str, what: &str) -> Result<T, RequestError> {
    value.parse().map_err(|_| wanted(name, value, what))
}

fn number(name: &'static str, value: &str) -> Result<f64, RequestError> {
    let number: f64 = parse(name, value, "a number")?;
    if number.is_finite() { Ok(number) } else { Err(wanted(name, value, "a finite number")) }
}

/// Through `f64`, as JSON numbers are read: the same text gives the same bits on both ways in.
fn number32(name: &'static str, value: &str) -> Result<f32, RequestError> {
    let number = number(name, value)? as f32;
    if number.is_finite() { Ok(number) } else { Err(wanted(name, value, "a finite 32-bit number")) }
}

fn numbers3<T: FromStr>(value: &str) -> Option<[T; 3]> {
    let mut parts = value.split(',').map(|part| part.trim().parse().ok());
    let three = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(three)
}

fn angle_rad(name: &'static str, value: &str) -> Result<f32, RequestError> {
    let rad = match value.strip_suffix("rad") {
        Some(rad) => number(name, rad)?,
        None => number(name, value.strip_suffix("deg").unwrap_or(value))? * (std::f64::consts::PI / 180.0),
    };
    Ok(rad as f32)
}

fn switch(name: &'static str, value: &str) -> Result<bool, RequestError> {
    match value {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(wanted(name, value, "on or off")),
    }
}

fn switch_or_auto(name: &'static str, value: &str) -> Result<Option<bool>, RequestError> {
    match value {
        "auto" => Ok(None),
        "on" => Ok(Some(true)),
        "off" => Ok(Some(false)),
        _ => Err(wanted(name, value, "auto, on or off")),
    }
}

fn animation(value: &str) -> AnimationChoice {
    if let Some(name) = value.strip_prefix("name:") {
        return AnimationChoice::Name(name.to_owned());
    }
    match value {
        "first" => AnimationChoice::First,
        "none" => AnimationChoice::None,
        "all" => AnimationChoice::All,
        _ => value.parse().map_or_else(|_| AnimationChoice::Name(value.to_owned()), AnimationChoice::Index),
    }
}

/// A camera as it is written: see the `FromStr` of [`CameraChoice`].
pub fn camera(name: &'static str, value: &str) -> Result<CameraChoice, RequestError> {
    value.parse().map_err(|error| match error {
        RenderError::Request { reason, .. } => field(name, reason),
        other => field(name, other.to_string()),
    })
}

fn tonemap(name: &'static str, value: &str) -> Result<Tonemap, RequestError> {
    match value {
        "neutral" => Ok(Tonemap::Neutral),
        "aces" => Ok(Tonemap::Aces),
        "none" => Ok(Tonemap::None),
        _ => Err(wanted(name, value, "neutral, aces or none")),
    }
}

fn neural(name: &'static str, value: &str) -> Result<NeuralMode, RequestError> {
    match value {
        "off" => Ok(NeuralMode::Off),
        "auto" => Ok(NeuralMode::Auto),
        "required" => Ok(NeuralMode::Required),
        _ => Err(wanted(name, value, "off, auto or required")),
    }
}

fn background(name: &'static str, value: &str) -> Result<Background, RequestError> {
    let bad = || wanted(name, value, "transparent, environment, #rrggbb or r,g,b (0 to 255)");
    match value {
        "transparent" => return Ok(Background::Transparent),
        "environment" => return Ok(Background::Environment),
        _ => {}
    }
    let Some(hex) = value.strip_prefix('#') else {
        return numbers3(value).map(Background::Srgb).ok_or_else(bad);
    };
    if hex.len() != 6 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(bad());
    }
    let packed = u32::from_str_radix(hex, 16).map_err(|_| bad())?;
    let [_, red, green, blue] = packed.to_be_bytes();
    Ok(Background::Srgb([red, green, blue]))
}

fn outputs(name: &'static str, value: &str) -> Result<Vec<Output>, RequestError> {
    let known: Vec<&str> = Output::all().map(Output::name).collect();
    let wanted = |output| wanted(name, output, &format!("one of {}", known.join(", ")));
    let mut outputs = Vec::new();
    for text in value.split(',').map(str::trim) {
        let output = text.parse().map_err(|_| wanted(text))?;
        if !outputs.contains(&output) {
            outputs.push(output);
        }
    }
    Ok(outputs)
}

fn size(name: &'static str, value: &str) -> Result<(u32, u32), RequestError> {
    value
        .split_once('x')
        .and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)))
        .ok_or_else(|| wanted(name, value, "a size like 1280x720"))
}

fn sun(name: &'static str, value: &str) -> Result<Sun, RequestError> {
    let direction = numbers3::<f64>(value).ok_or_else(|| wanted(name, value, "a direction like 0,-1,0"))?;
    Ok(Sun { direction_world: direction.map(|component| component as f32), illuminance_lux: SUN_DEFAULT_LUX })
}
