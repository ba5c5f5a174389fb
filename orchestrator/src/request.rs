//! Requests from outside: names and values as the command line and query strings write them, limits, and
//! the canonical form that identities are made from.

mod pairs;

use isoframe_raster::frame::{
    AnimationChoice, CameraChoice, FrameRequest, Lighting, Output, ProjectionChoice, Traced,
};
use serde::{Deserialize, Serialize};

pub use self::pairs::{PARAMETERS, camera, from_pairs};
use crate::fallback::Reason;

/// What is wrong with a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// A field has a value that cannot be.
    #[error("{field}: {reason}")]
    Field {
        /// The field, or the parameter as it was written.
        field: &'static str,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// A parameter that does not exist.
    #[error("unknown parameter `{name}`; parameters are {}", PARAMETERS.join(", "))]
    Unknown {
        /// As it was written, cut to a readable length.
        name: String,
    },
    /// A parameter that was given twice, or `size` beside `width` or `height`.
    #[error("{field}: given more than once")]
    Repeated {
        /// The parameter.
        field: &'static str,
    },
    /// `neural=required`, and the neural path is not to be had.
    #[error("neural=required cannot be met: {detail}")]
    NeuralUnavailable {
        /// Why not.
        reason: Reason,
        /// In words.
        detail: String,
    },
}

/// What a request may ask for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RequestLimits {
    /// Longest side. *Units*: pixels.
    pub side_px: u32,
    /// Most pixels in a frame.
    pub pixels: u64,
    /// Most pixels in a frame whose light is traced.
    pub traced_pixels: u64,
    /// Most light samples of a pixel, up to 65536.
    pub light_samples: u32,
    /// Longest name of a camera, animation or variant. *Units*: bytes.
    pub name_bytes: usize,
}

impl Default for RequestLimits {
    fn default() -> Self {
        RequestLimits {
            side_px: 16384,
            pixels: 64 << 20,
            traced_pixels: 16 << 20,
            light_samples: LIGHT_SAMPLES_MAX,
            name_bytes: 1024,
        }
    }
}

/// Farthest time from zero. *Units*: seconds (about 30 years).
pub const TIME_MAX_S: f64 = 1e9;
/// Farthest exposure from zero. *Units*: stops.
pub const EXPOSURE_MAX_EV: f32 = 32.0;
/// Brightest scale of the environment.
pub const ENVIRONMENT_INTENSITY_MAX: f32 = 65504.0;
/// Farthest angle from zero. *Units*: radians.
pub const ANGLE_MAX_RAD: f64 = 1e4;
/// Narrowest vertical field of view, and least distance from 180 degrees. *Units*: radians.
pub const YFOV_MIN_RAD: f64 = 1e-4;
/// Longest component of a direction; its longest is at least the reciprocal, so that squares stay in range.
pub const DIRECTION_MAX: f64 = 1e6;
/// Brightest sun. *Units*: lux (a clear noon is about 1e5).
pub const ILLUMINANCE_MAX_LUX: f32 = 1e7;
/// Most light samples of a pixel.
pub const LIGHT_SAMPLES_MAX: u32 = 1 << 16;
/// Most bounces of a kind.
pub const BOUNCES_MAX: u32 = 8;
/// Largest radius of a light, and of ambient occlusion. *Units*: scene units.
pub const LIGHT_RADIUS_MAX: f64 = 1e6;
/// Smallest radius of ambient occlusion. *Units*: scene units.
pub const LIGHT_RADIUS_MIN: f64 = 1e-6;
/// Widest directional light, from its centre to its rim. *Units*: radians.
pub const LIGHT_ANGLE_MAX_RAD: f64 = std::f64::consts::FRAC_PI_2;
/// Largest length in a camera. *Units*: scene units.
pub const LENGTH_MAX: f64 = 1e15;

fn field(field: &'static str, reason: impl Into<String>) -> RequestError {
    RequestError::Field { field, reason: reason.into() }
}

/// Checks that a request is one that can be rendered under these limits. What depends on the scene (does the
/// camera exist?) is left to the backend.
pub fn validate(request: &FrameRequest, limits: &RequestLimits) -> Result<(), RequestError> {
    check_hash("scene", &request.scene)?;
    if let Some(hash) = &request.environment {
        check_hash("environment", hash)?;
    }
    check_size(request, limits)?;
    if ![1, 4, 8, 16].contains(&request.samples) {
        return Err(field("samples", format!("{} is not 1, 4, 8 or 16", request.samples)));
    }
    check_range("time_s", request.time_s, -TIME_MAX_S, TIME_MAX_S)?;
    if let Some(time_s) = request.previous_time_s {
        check_range("previous_time_s", time_s, -TIME_MAX_S, TIME_MAX_S)?;
    }
    let exposure = f64::from(EXPOSURE_MAX_EV);
    check_range("exposure_ev", request.exposure_ev.into(), -exposure, exposure)?;
    check_camera("camera", &request.camera, limits)?;
    if let Some(camera) = &request.previous_camera {
        check_camera("previous_camera", camera, limits)?;
    }
    if let AnimationChoice::Name(name) = &request.animation {
        check_name("animation", name, limits)?;
    }
    if let Some(name) = &request.variant {
        check_name("variant", name, limits)?;
    }
    check_name("model_channel", &request.model_channel, limits)?;
    check_lighting(&request.lighting, limits)?;
    if request.outputs.is_empty() {
        return Err(field("outputs", "at least one output is needed"));
    }
    let classic = request.lighting.traced.is_none();
    if let Some(output) = request.outputs.iter().find(|output| classic && Output::TRACED.contains(output)) {
        return Err(field("outputs", format!("{output} is there where light is traced")));
    }
    Ok(())
}

/// The one form of a request that means this: outputs in canonical order without repeats, and no -0, which
/// RFC 8785 writes as 0 and which arithmetic could tell apart.
pub fn canonical(request: &FrameRequest) -> FrameRequest {
    let mut canonical = request.clone();
    canonical.outputs.sort_unstable();
    canonical.outputs.dedup();
    plain_zero(&mut canonical.time_s);
    canonical.previous_time_s.iter_mut().for_each(plain_zero);
    plain_zero32(&mut canonical.exposure_ev);
    plain_zero32(&mut canonical.lighting.environment_intensity);
    plain_zero32(&mut canonical.lighting.environment_rotation_rad);
    if let Some(sun) = &mut canonical.lighting.sun {
        sun.direction_world.iter_mut().for_each(plain_zero32);
        plain_zero32(&mut sun.illuminance_lux);
    }
    if let Some(traced) = &mut canonical.lighting.traced {
        plain_zero32(&mut traced.light_radius);
        plain_zero32(&mut traced.light_angle_rad);
    }
    camera_plain_zeros(&mut canonical.camera);
    canonical.previous_camera.iter_mut().for_each(camera_plain_zeros);
    canonical
}

fn plain_zero(value: &mut f64) {
    // IEEE: -0 + 0 = +0, and x + 0 = x for every other x.
    *value += 0.0;
}

fn plain_zero32(value: &mut f32) {
    *value += 0.0;
}

fn camera_plain_zeros(camera: &mut CameraChoice) {
    match camera {
        CameraChoice::Auto | CameraChoice::Index(_) | CameraChoice::Name(_) | CameraChoice::View(_) => {}
        CameraChoice::Orbit { theta_rad, phi_rad, radius, radius_relative: _, target_world, yfov_rad } => {
            [theta_rad, phi_rad, radius].into_iter().for_each(plain_zero);
            target_world.iter_mut().flatten().for_each(plain_zero);
            yfov_rad.iter_mut().for_each(plain_zero);
        }
        CameraChoice::Matrix { world_from_view, projection } => {
            world_from_view.iter_mut().for_each(plain_zero);
            match projection {
                ProjectionChoice::Perspective { yfov_rad, znear, zfar } => {
                    plain_zero(yfov_rad);
                    znear.iter_mut().for_each(plain_zero);
                    zfar.iter_mut().for_each(plain_zero);
                }
                ProjectionChoice::Orthographic { metres_per_px } => plain_zero(metres_per_px),
            }
        }
    }
}

fn check_hash(name: &'static str, hash: &str) -> Result<(), RequestError> {
    let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if hash.len() != 64 || !hash.bytes().all(hex) {
        return Err(field(name, "needs the blake3 hash, 64 lower-case hex digits"));
    }
    Ok(())
}

fn check_size(request: &FrameRequest, limits: &RequestLimits) -> Result<(), RequestError> {
    for (name, side_px) in [("width", request.width), ("height", request.height)] {
        if side_px == 0 || side_px > limits.side_px {
            return Err(field(name, format!("{side_px} px is not between 1 and {}", limits.side_px)));
        }
    }
    let pixels = u64::from(request.width) * u64::from(request.height);
    let (most, where_traced) = match request.lighting.traced {
        Some(_) => (limits.pixels.min(limits.traced_pixels), " where light is traced"),
        None => (limits.pixels, ""),
    };
    if pixels > most {
        let (width, height) = (request.width, request.height);
        return Err(field(
            "size",
            format!("{width}x{height} is {pixels} pixels, the limit is {most}{where_traced}"),
        ));
    }
    Ok(())
}

fn check_name(name: &'static str, value: &str, limits: &RequestLimits) -> Result<(), RequestError> {
    if value.is_empty() || value.len() > limits.name_bytes {
        return Err(field(
            name,
            format!("a name has 1 to {} bytes, this has {}", limits.name_bytes, value.len()),
        ));
    }
    Ok(())
}

fn check_range(name: &'static str, value: f64, low: f64, high: f64) -> Result<(), RequestError> {
    // Written so that NaN fails.
    if value >= low && value <= high {
        Ok(())
    } else {
        Err(field(name, format!("{value} is not between {low} and {high}")))
    }
}

/// Greater than zero.
fn check_positive(name: &'static str, value: f64, high: f64) -> Result<(), RequestError> {
    if value > 0.0 && value <= high {
        Ok(())
    } else {
        Err(field(name, format!("{value} is not above 0 and up to {high}")))
    }
}

fn check_yfov(name: &'static str, yfov_rad: f64) -> Result<(), RequestError> {
    check_range(name, yfov_rad, YFOV_MIN_RAD, std::f64::consts::PI - YFOV_MIN_RAD)
}

fn check_camera(
    name: &'static str,
    camera: &CameraChoice,
    limits: &RequestLimits,
) -> Result<(), RequestError> {
    match camera {
        CameraChoice::Auto | CameraChoice::Index(_) | CameraChoice::View(_) => Ok(()),
        CameraChoice::Name(camera) => check_name(name, camera, limits),
        CameraChoice::Orbit { theta_rad, phi_rad, radius, radius_relative: _, target_world, yfov_rad } => {
            check_range(name, *theta_rad, -ANGLE_MAX_RAD, ANGLE_MAX_RAD)?;
            check_range(name, *phi_rad, -ANGLE_MAX_RAD, ANGLE_MAX_RAD)?;
            check_positive(name, *radius, LENGTH_MAX)?;
            for coordinate in target_world.iter().flatten() {
                check_range(name, *coordinate, -LENGTH_MAX, LENGTH_MAX)?;
            }
            yfov_rad.map_or(Ok(()), |yfov_rad| check_yfov(name, yfov_rad))
        }
        CameraChoice::Matrix { world_from_view, projection } => {
            for element in world_from_view {
                check_range(name, *element, -LENGTH_MAX, LENGTH_MAX)?;
            }
            check_projection(name, projection)
        }
    }
}

fn check_projection(name: &'static str, projection: &ProjectionChoice) -> Result<(), RequestError> {
    match projection {
        ProjectionChoice::Perspective { yfov_rad, znear, zfar } => {
            check_yfov(name, *yfov_rad)?;
            for distance in [znear, zfar].into_iter().flatten() {
                check_positive(name, *distance, LENGTH_MAX)?;
            }
            match (znear, zfar) {
                (Some(znear), Some(zfar)) if znear >= zfar => {
                    Err(field(name, format!("znear {znear} is not below zfar {zfar}")))
                }
                _ => Ok(()),
            }
        }
        ProjectionChoice::Orthographic { metres_per_px } => check_positive(name, *metres_per_px, LENGTH_MAX),
    }
}

fn check_lighting(lighting: &Lighting, limits: &RequestLimits) -> Result<(), RequestError> {
    let name = "lighting.environment_intensity";
    check_range(name, lighting.environment_intensity.into(), 0.0, ENVIRONMENT_INTENSITY_MAX.into())?;
    let rotation_rad = f64::from(lighting.environment_rotation_rad);
    check_range("lighting.environment_rotation_rad", rotation_rad, -ANGLE_MAX_RAD, ANGLE_MAX_RAD)?;
    if let Some(traced) = &lighting.traced {
        check_traced(traced, limits)?;
    }
    let Some(sun) = &lighting.sun else { return Ok(()) };
    check_range("lighting.sun.illuminance_lux", sun.illuminance_lux.into(), 0.0, ILLUMINANCE_MAX_LUX.into())?;
    let name = "lighting.sun.direction_world";
    for component in sun.direction_world {
        check_range(name, component.into(), -DIRECTION_MAX, DIRECTION_MAX)?;
    }
    let longest = sun.direction_world.iter().fold(0.0_f32, |longest, component| longest.max(component.abs()));
    if f64::from(longest) < 1.0 / DIRECTION_MAX {
        return Err(field(name, format!("is shorter than {}, so it has no direction", 1.0 / DIRECTION_MAX)));
    }
    Ok(())
}

fn check_traced(traced: &Traced, limits: &RequestLimits) -> Result<(), RequestError> {
    let bounces = f64::from(BOUNCES_MAX);
    check_range("lighting.traced.samples", traced.samples.into(), 1.0, limits.light_samples.into())?;
    check_range("lighting.traced.diffuse_bounces", traced.diffuse_bounces.into(), 0.0, bounces)?;
    check_range("lighting.traced.specular_bounces", traced.specular_bounces.into(), 0.0, bounces)?;
    check_range("lighting.traced.light_radius", traced.light_radius.into(), 0.0, LIGHT_RADIUS_MAX)?;
    check_range("lighting.traced.light_angle_rad", traced.light_angle_rad.into(), 0.0, LIGHT_ANGLE_MAX_RAD)?;
    if let Some(radius) = traced.occlusion_radius {
        check_range("lighting.traced.occlusion_radius", radius.into(), LIGHT_RADIUS_MIN, LIGHT_RADIUS_MAX)?;
    }
    if let Some(most) = traced.sample_radiance_max {
        check_range("lighting.traced.sample_radiance_max", most.into(), 1e-6, 1e9)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
