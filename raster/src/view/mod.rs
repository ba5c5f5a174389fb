//! From where the scene is seen, and through what lens.
//!
//! *Space*: view space is right-handed, X right, Y up, looking down -Z. Pixel (x, y) has its centre at
//! (x + 0.5, y + 0.5), y down, and pixels are square: x_px = width / 2 + focal_px * X / -Z,
//! y_px = height / 2 - focal_px * Y / -Z.

mod choose;
mod extent;
mod framing;
mod moments;
mod number;
mod parse;

use glam::{DMat4, DVec3};

use crate::frame::{CameraChoice, RenderError};
use crate::pose::Pose;
use crate::scene::Scene;

pub use extent::Extents;
pub use moments::{Moments, moments, moments_within};

/// A camera in place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// World from view: a rotation and a translation, no scale, never mirrored.
    pub world_from_view: DMat4,
    /// Its inverse.
    pub view_from_world: DMat4,
    /// The lens.
    pub lens: Lens,
}

/// How view space lands on pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Lens {
    /// Size falls with distance.
    Perspective {
        /// Pixels that one unit spans at distance one, the same in x and y.
        focal_px: f64,
        /// Nearest distance drawn, above zero.
        znear: f64,
        /// Farthest distance drawn; infinite when absent.
        zfar: Option<f64>,
    },
    /// Size is the same at any distance.
    Orthographic {
        /// Pixels per scene unit.
        px_per_unit: f64,
        /// Nearest distance drawn, zero or more.
        znear: f64,
        /// Farthest distance drawn.
        zfar: f64,
    },
}

impl View {
    /// A view from where a matrix puts it, without that matrix's scale and shear.
    ///
    /// The viewing direction is kept, then up as far as it can be; right follows from them, so that a
    /// mirrored camera does not mirror the picture. None where the matrix has no viewing direction or up.
    pub fn new(world_from_view: DMat4, lens: Lens) -> Option<View> {
        let backward = unit(world_from_view.z_axis.truncate())?;
        let up = world_from_view.y_axis.truncate();
        let up = unit(up)?;
        let up = up - backward * up.dot(backward);
        // Closer to parallel than this, what is left of up is rounding.
        if up.length() < 1e-9 {
            return None;
        }
        let up = unit(up)?;
        Some(View::from_axes(up.cross(backward), up, backward, world_from_view.w_axis.truncate(), lens))
    }

    fn from_axes(right: DVec3, up: DVec3, backward: DVec3, eye_world: DVec3, lens: Lens) -> View {
        let world_from_view =
            DMat4::from_cols(right.extend(0.0), up.extend(0.0), backward.extend(0.0), eye_world.extend(1.0));
        let rotation = DMat4 { w_axis: glam::DVec4::W, ..world_from_view }.transpose();
        let origin_view = -rotation.transform_vector3(eye_world);
        View { world_from_view, view_from_world: DMat4 { w_axis: origin_view.extend(1.0), ..rotation }, lens }
    }

    /// Where the camera is. *Space*: world.
    pub fn eye_world(&self) -> DVec3 {
        self.world_from_view.w_axis.truncate()
    }

    /// Pixel and distance along the view axis of a point in the world, for a viewport of this size; None
    /// where a perspective camera has it at or behind the eye.
    pub fn project(&self, point_world: DVec3, width: u32, height: u32) -> Option<(f64, f64, f64)> {
        let point_view = self.view_from_world.transform_point3(point_world);
        let depth = -point_view.z;
        let scale_px = match self.lens {
            Lens::Perspective { focal_px, .. } if depth > 0.0 => focal_px / depth,
            Lens::Perspective { .. } => return None,
            Lens::Orthographic { px_per_unit, .. } => px_per_unit,
        };
        let x_px = f64::from(width) * 0.5 + scale_px * point_view.x;
        let y_px = f64::from(height) * 0.5 - scale_px * point_view.y;
        Some((x_px, y_px, depth))
    }
}

/// Finds the camera that a request asks for and fits its lens to the viewport.
///
/// *Aspect rule*: pixels stay square. Without an aspect ratio, the vertical field of view spans the
/// height. With one, a frustum of that shape fits inside the viewport and more of the scene is seen on
/// the longer side; orthographic half extents likewise. *Far plane*: absent means infinite.
/// *Framed views* stand still while the scene moves: see [`Extents`].
/// *Errors*: a camera that is not there or cannot look, numbers that are not finite, an empty viewport.
pub fn resolve(
    scene: &Scene,
    pose: &Pose,
    choice: &CameraChoice,
    width: u32,
    height: u32,
) -> Result<View, RenderError> {
    resolve_within(scene, &Extents::new(scene), pose, choice, [width, height])
}

/// [`resolve`] with extents kept from frame to frame.
fn resolve_within(
    scene: &Scene,
    extents: &Extents,
    pose: &Pose,
    choice: &CameraChoice,
    size_px: [u32; 2],
) -> Result<View, RenderError> {
    for (field, size) in [("width", size_px[0]), ("height", size_px[1])] {
        if size == 0 {
            return Err(RenderError::Request { field, reason: "a frame has at least one pixel".into() });
        }
    }
    let [width, height] = size_px.map(f64::from);
    choose::Choosing { extents, scene, pose, width, height }.view(choice)
}

fn unit(v: DVec3) -> Option<DVec3> {
    // Scaled by the largest component first, so that tiny and huge vectors keep a length.
    let largest = v.abs().max_element();
    if !(largest > 0.0 && largest.is_finite()) {
        return None;
    }
    let scaled = v / largest;
    Some(scaled / scaled.length())
}
