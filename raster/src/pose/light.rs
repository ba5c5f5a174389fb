//! Punctual lights placed in the world. *Source*: KHR_lights_punctual.

use glam::{DMat4, DVec3};

use super::{Pose, vec3};
use crate::frame::{Lighting, RenderError};
use crate::scene::{Light, LightKind, Scene};

/// Brightest colour times intensity, so that products of two stay finite in `f32`. *Units*: lux or candela.
const INTENSITY_LIMIT: f32 = 1e18;

/// Kind of a placed light.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum PlacedKind {
    Directional,
    Point,
    Spot,
}

/// A light where it stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlacedLight {
    /// Kind.
    pub kind: PlacedKind,
    /// Where it stands; the origin for directional lights of the request.
    pub position_world: DVec3,
    /// Where its light travels, unit length; -Z for point lights, which have none.
    pub direction_world: DVec3,
    /// Linear Rec.709 colour times intensity. *Units*: lux (directional) or candela. *Range*: 0 to 1e18.
    pub linear_color: [f32; 3],
    /// Distance at which it has faded to nothing; 0: never. *Units*: scene units, not scaled by the node.
    pub range: f32,
    /// Cosine of the angle up to which a spot is full; 1 for other kinds.
    pub cos_inner: f32,
    /// Cosine of the angle at which a spot ends, at most `cos_inner`; -1 for other kinds.
    pub cos_outer: f32,
}

/// The lights that shine: the scene's in node order (invisible nodes give none), then the request's sun.
///
/// A directional or spot light whose node is scaled to nothing along Z has no direction and gives none.
pub fn lights(scene: &Scene, pose: &Pose, lighting: &Lighting) -> Vec<PlacedLight> {
    let mut placed = Vec::new();
    if lighting.punctual {
        for (index, node) in scene.nodes.iter().enumerate() {
            if let Some(light) = node.light.filter(|_| pose.visible[index]) {
                placed.extend(place(&scene.lights[light as usize], &pose.world_from_node[index]));
            }
        }
    }
    if let Some(sun) = &lighting.sun
        && let Some(direction_world) = unit(vec3(sun.direction_world))
    {
        placed.push(PlacedLight {
            kind: PlacedKind::Directional,
            position_world: DVec3::ZERO,
            direction_world,
            linear_color: [clamp_intensity(sun.illuminance_lux); 3],
            range: 0.0,
            cos_inner: 1.0,
            cos_outer: -1.0,
        });
    }
    placed
}

/// Whether the request's sun can shine. *Errors*: a direction or illuminance that is not finite, a zero
/// direction, a negative illuminance.
pub fn check_sun(lighting: &Lighting) -> Result<(), RenderError> {
    let Some(sun) = &lighting.sun else { return Ok(()) };
    let refuse = |reason: String| Err(RenderError::Request { field: "lighting.sun", reason });
    if unit(vec3(sun.direction_world)).is_none() {
        return refuse(format!("direction_world {:?} is not a direction", sun.direction_world));
    }
    if !sun.illuminance_lux.is_finite() || sun.illuminance_lux < 0.0 {
        return refuse(format!("illuminance_lux {} is not zero or more", sun.illuminance_lux));
    }
    Ok(())
}

fn place(light: &Light, world_from_node: &DMat4) -> Option<PlacedLight> {
    let kind = match light.kind {
        LightKind::Directional => PlacedKind::Directional,
        LightKind::Point => PlacedKind::Point,
        LightKind::Spot { .. } => PlacedKind::Spot,
    };
    let direction_world = match kind {
        PlacedKind::Point => DVec3::NEG_Z,
        _ => unit(-world_from_node.z_axis.truncate())?,
    };
    let (cos_inner, cos_outer) = match light.kind {
        LightKind::Spot { inner_cone_rad, outer_cone_rad } => cone(inner_cone_rad, outer_cone_rad),
        _ => (1.0, -1.0),
    };
    Some(PlacedLight {
        kind,
        position_world: world_from_node.w_axis.truncate(),
        direction_world,
        linear_color: light.color.map(|channel| clamp_intensity(channel * light.intensity)),
        range: light.range.filter(|range| range.is_finite() && *range > 0.0).unwrap_or(0.0),
        cos_inner,
        cos_outer,
    })
}

/// Cosines of a cone, the outer angle held to 0..pi/2 and the inner one to 0..outer.
fn cone(inner_rad: f32, outer_rad: f32) -> (f32, f32) {
    let outer_rad = f64::from(outer_rad).clamp(0.0, std::f64::consts::FRAC_PI_2);
    let inner_rad = f64::from(inner_rad).clamp(0.0, outer_rad);
    (libm::cos(inner_rad) as f32, libm::cos(outer_rad) as f32)
}

fn clamp_intensity(value: f32) -> f32 {
    // max first: NaN becomes 0.
    value.max(0.0).min(INTENSITY_LIMIT)
}

fn unit(v: DVec3) -> Option<DVec3> {
    let length = v.length();
    (length.is_finite() && length > 1e-30).then(|| v / length)
}
