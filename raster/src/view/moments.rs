//! This frame's moment and the one that motion relates to.

use super::{Extents, View, resolve_within};
use crate::frame::{FrameRequest, RenderError};
use crate::pose::{self, Pose};
use crate::scene::Scene;

/// Pose and view now, and then.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    /// What is drawn.
    pub current: (Pose, View),
    /// What motion relates to; none where the request names neither a previous time nor a previous camera.
    pub previous: Option<(Pose, View)>,
}

/// Evaluates a request's moments.
///
/// *Previous*: a previous time without a camera sees through the same camera choice at that time; a
/// previous camera without a time sees the current pose.
/// *Errors*: those of [`pose::evaluate`], [`super::resolve`] and [`pose::check_sun`]; fields of the previous moment
/// are named as such.
pub fn moments(scene: &Scene, request: &FrameRequest) -> Result<Moments, RenderError> {
    moments_within(scene, &Extents::new(scene), request)
}

/// [`moments`] with extents kept from frame to frame: framed cameras then cost nothing after the first.
pub fn moments_within(
    scene: &Scene,
    extents: &Extents,
    request: &FrameRequest,
) -> Result<Moments, RenderError> {
    pose::check_sun(&request.lighting)?;
    let size_px = [request.width, request.height];
    let pose = pose::evaluate(scene, &request.animation, request.time_s)?;
    let view = resolve_within(scene, extents, &pose, &request.camera, size_px)?;
    let previous = if request.previous_time_s.is_none() && request.previous_camera.is_none() {
        None
    } else {
        let pose = match request.previous_time_s {
            Some(time_s) => pose::evaluate(scene, &request.animation, time_s).map_err(previously)?,
            None => pose.clone(),
        };
        let camera = request.previous_camera.as_ref().unwrap_or(&request.camera);
        let view = resolve_within(scene, extents, &pose, camera, size_px).map_err(previously)?;
        Some((pose, view))
    };
    Ok(Moments { current: (pose, view), previous })
}

fn previously(error: RenderError) -> RenderError {
    match error {
        RenderError::Request { field: "time_s", reason } => {
            RenderError::Request { field: "previous_time_s", reason }
        }
        RenderError::Request { field: "camera", reason } => {
            RenderError::Request { field: "previous_camera", reason }
        }
        other => other,
    }
}
