//! Cameras.

use super::error::{SceneError, quote};
use super::reader::{Reader, finite};
use super::{Camera, CameraKind, json};

/// Reads all cameras.
pub(crate) fn cameras(reader: &mut Reader<'_, '_>) -> Result<Vec<Camera>, SceneError> {
    let mut cameras = Vec::with_capacity(reader.root.cameras.len());
    for (index, camera) in reader.root.cameras.iter().enumerate() {
        let what = format!("camera {index}");
        let kind = match (camera.kind.as_str(), &camera.perspective, &camera.orthographic) {
            ("perspective", Some(lens), None) => perspective(&what, lens)?,
            ("orthographic", None, Some(lens)) => orthographic(reader, &what, lens)?,
            ("perspective" | "orthographic", _, _) => {
                let reason = "it must have the lens that its type names, and no other";
                return Err(SceneError::Structure { what, reason });
            }
            (other, _, _) => {
                let got = quote(other);
                return Err(SceneError::AccessorFormat { what, got, allowed: "perspective or orthographic" });
            }
        };
        cameras.push(Camera { name: camera.name.clone(), kind });
    }
    Ok(cameras)
}

/// A number above zero.
fn positive(what: &str, name: &str, value: f64) -> Result<f32, SceneError> {
    let what = format!("{what} {name}");
    let narrow = finite(|| what.clone(), value)?;
    if narrow <= 0.0 {
        return Err(SceneError::ValueOutOfRange { what, value, allowed: "more than 0" });
    }
    Ok(narrow)
}

fn beyond_near(what: &str, znear: f32, zfar: f32) -> Result<(), SceneError> {
    if zfar <= znear {
        let what = format!("{what} zfar");
        return Err(SceneError::ValueOutOfRange { what, value: f64::from(zfar), allowed: "more than znear" });
    }
    Ok(())
}

fn perspective(what: &str, lens: &json::Perspective) -> Result<CameraKind, SceneError> {
    let optional = |name, value: Option<f64>| value.map(|value| positive(what, name, value)).transpose();
    let yfov_rad = positive(what, "yfov", lens.yfov)?;
    let aspect = optional("aspectRatio", lens.aspect_ratio)?;
    let znear = positive(what, "znear", lens.znear)?;
    let zfar = optional("zfar", lens.zfar)?;
    if let Some(zfar) = zfar {
        beyond_near(what, znear, zfar)?;
    }
    Ok(CameraKind::Perspective { yfov_rad, aspect, znear, zfar })
}

fn orthographic(
    reader: &mut Reader<'_, '_>,
    what: &str,
    lens: &json::Orthographic,
) -> Result<CameraKind, SceneError> {
    let mut half = |name: &str, value: f64| {
        if value < 0.0 {
            reader.note(format!("{what} {name} is negative, its magnitude is used"));
        }
        positive(what, name, value.abs())
    };
    let (xmag, ymag) = (half("xmag", lens.xmag)?, half("ymag", lens.ymag)?);
    let znear = finite(|| format!("{what} znear"), lens.znear)?;
    if znear < 0.0 {
        let what = format!("{what} znear");
        return Err(SceneError::ValueOutOfRange { what, value: lens.znear, allowed: "0 or more" });
    }
    let zfar = positive(what, "zfar", lens.zfar)?;
    beyond_near(what, znear, zfar)?;
    Ok(CameraKind::Orthographic { xmag, ymag, znear, zfar })
}
