//! KHR_lights_punctual.

use super::error::{SceneError, quote};
use super::reader::{Reader, finite, finite_array};
use super::{Light, LightKind, json};

/// Reads all lights.
pub(crate) fn lights(reader: &mut Reader<'_, '_>) -> Result<Vec<Light>, SceneError> {
    let Some(extension) = &reader.root.extensions.lights else { return Ok(Vec::new()) };
    extension.lights.iter().enumerate().map(|(index, light)| read_light(index, light)).collect()
}

fn read_light(index: usize, light: &json::Light) -> Result<Light, SceneError> {
    let what = format!("light {index}");
    let not_negative = |name: &str, value: f64| {
        let what = format!("{what} {name}");
        let narrow = finite(|| what.clone(), value)?;
        if narrow < 0.0 {
            return Err(SceneError::ValueOutOfRange { what, value, allowed: "0 or more" });
        }
        Ok(narrow)
    };
    let mut color = finite_array(&format!("{what} color"), light.color.unwrap_or([1.0; 3]))?;
    color.iter_mut().for_each(|value| *value = value.max(0.0));
    let kind = match light.kind.as_str() {
        "directional" => LightKind::Directional,
        "point" => LightKind::Point,
        "spot" => {
            let default = json::Spot::default();
            let spot = light.spot.as_ref().unwrap_or(&default);
            let inner_cone_rad = not_negative("innerConeAngle", spot.inner_cone_angle.unwrap_or(0.0))?;
            let quarter = std::f64::consts::FRAC_PI_4;
            let outer_cone_rad = not_negative("outerConeAngle", spot.outer_cone_angle.unwrap_or(quarter))?;
            if outer_cone_rad <= inner_cone_rad || outer_cone_rad > std::f32::consts::FRAC_PI_2 {
                return Err(SceneError::ValueOutOfRange {
                    what: format!("{what} outerConeAngle"),
                    value: f64::from(outer_cone_rad),
                    allowed: "more than innerConeAngle, at most pi/2",
                });
            }
            LightKind::Spot { inner_cone_rad, outer_cone_rad }
        }
        other => {
            return Err(SceneError::AccessorFormat {
                what,
                got: quote(other),
                allowed: "directional, point or spot",
            });
        }
    };
    let range = match light.range {
        Some(range) => Some(not_negative("range", range)?).filter(|&range| range > 0.0),
        None => None,
    };
    let intensity = not_negative("intensity", light.intensity.unwrap_or(1.0))?;
    Ok(Light { name: light.name.clone(), kind, color, intensity, range })
}
