//! Cameras made from the bounds of a scene.

use glam::DVec3;

use super::{Lens, View};
use crate::frame::NamedView;

/// Vertical field of view of framed cameras: 30 degrees.
pub const FRAMED_YFOV_RAD: f64 = std::f64::consts::PI / 6.0;

/// Room left around a framed scene, as a factor of its size.
pub const MARGIN: f64 = 1.05;

/// Azimuth and polar angle of the three-quarter view: 35 and 70 degrees.
const THREE_QUARTER_RAD: [f64; 2] =
    [35.0 * std::f64::consts::PI / 180.0, 70.0 * std::f64::consts::PI / 180.0];

/// What is framed: a box. A scene in which nothing is drawn is framed as a unit cube at the origin.
#[derive(Debug, Clone, Copy)]
pub(super) struct Framed {
    pub centre_world: DVec3,
    half_extent: DVec3,
    /// Radius of the sphere around the box, above zero.
    pub radius: f64,
}

impl Framed {
    pub fn new(bounds_world: Option<(DVec3, DVec3)>) -> Framed {
        let (low, high) = bounds_world.unwrap_or((DVec3::splat(-0.5), DVec3::splat(0.5)));
        let centre_world = low * 0.5 + high * 0.5;
        let half_extent = high * 0.5 - low * 0.5;
        let radius = half_extent.length();
        // A point has no size: it is seen as something of one unit would be. Far from the origin, a
        // size that coordinates hardly resolve is raised to one that they do.
        let radius = if radius > 0.0 { radius.max(centre_world.length() * 1e-9) } else { 1.0 };
        Framed { centre_world, half_extent, radius }
    }

    fn corners(&self) -> [DVec3; 8] {
        std::array::from_fn(|corner| {
            let sign = |bit: usize| if corner >> bit & 1 == 0 { -1.0 } else { 1.0 };
            self.centre_world + self.half_extent * DVec3::new(sign(0), sign(1), sign(2))
        })
    }

    /// Depths of the nearest and the farthest corner.
    fn depths(&self, view: &View) -> (f64, f64) {
        self.corners().iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(near, far), corner| {
            let depth = -view.view_from_world.transform_point3(*corner).z;
            (near.min(depth), far.max(depth))
        })
    }

    /// A near plane that cuts nothing off where the camera is outside the box, and is close enough to the
    /// eye where it is inside.
    pub fn znear(&self, view: &View) -> f64 {
        let (near, _) = self.depths(view);
        (near * 0.5).max(self.radius * 1e-4)
    }

    /// Near and far planes around everything in front of an orthographic camera, with the box's radius to
    /// spare; as close together as they may be, since depth keys are spread evenly between them.
    pub fn planes(&self, view: &View) -> (f64, f64) {
        let (near, far) = self.depths(view);
        ((near - self.radius).max(0.0), (far + self.radius).max(self.radius))
    }
}

/// Where a framed camera stands as seen from its target. *Space*: world axes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stand {
    pub right: DVec3,
    pub up: DVec3,
    pub backward: DVec3,
}

impl Stand {
    /// model-viewer's orbit: azimuth from +Z towards +X, polar angle from +Y. At the poles the azimuth
    /// still says where up is.
    pub fn orbit(theta_rad: f64, phi_rad: f64) -> Stand {
        let (sin_theta, cos_theta) = (libm::sin(theta_rad), libm::cos(theta_rad));
        let (sin_phi, cos_phi) = (libm::sin(phi_rad), libm::cos(phi_rad));
        Stand::from_sines([sin_theta, cos_theta], [sin_phi, cos_phi])
    }

    /// The six sides stand exactly on the axes. Left is the side of -X: the viewer's left hand when
    /// looking at the front, which glTF has facing +Z.
    pub fn named(view: NamedView) -> Stand {
        match view {
            NamedView::Front => Stand::from_sines([0.0, 1.0], [1.0, 0.0]),
            NamedView::Back => Stand::from_sines([0.0, -1.0], [1.0, 0.0]),
            NamedView::Left => Stand::from_sines([-1.0, 0.0], [1.0, 0.0]),
            NamedView::Right => Stand::from_sines([1.0, 0.0], [1.0, 0.0]),
            NamedView::Top => Stand::from_sines([0.0, 1.0], [0.0, 1.0]),
            NamedView::Bottom => Stand::from_sines([0.0, 1.0], [0.0, -1.0]),
            NamedView::ThreeQuarter => Stand::orbit(THREE_QUARTER_RAD[0], THREE_QUARTER_RAD[1]),
        }
    }

    fn from_sines([sin_theta, cos_theta]: [f64; 2], [sin_phi, cos_phi]: [f64; 2]) -> Stand {
        Stand {
            right: DVec3::new(cos_theta, 0.0, -sin_theta),
            up: DVec3::new(-cos_phi * sin_theta, sin_phi, -cos_phi * cos_theta),
            backward: DVec3::new(sin_phi * sin_theta, cos_phi, sin_phi * cos_theta),
        }
    }

    /// The view of a target from a distance; `lens` has yet to get its near plane.
    pub fn view(&self, target_world: DVec3, distance: f64, lens: Lens) -> View {
        View::from_axes(self.right, self.up, self.backward, target_world + self.backward * distance, lens)
    }
}

/// Half the field of view's tangent across and up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub tan_x: f64,
    pub tan_y: f64,
}

impl Field {
    /// Distance at which every corner of the box, seen with its centre in the middle, is inside the field
    /// with [`MARGIN`] to spare.
    pub fn distance_to_box(&self, framed: &Framed, stand: &Stand) -> f64 {
        // In front of the box even where it is seen along an edge or as a point.
        let mut distance = framed.radius;
        for corner in framed.corners() {
            let offset = corner - framed.centre_world;
            let across = offset.dot(stand.right).abs() * MARGIN / self.tan_x;
            let up = offset.dot(stand.up).abs() * MARGIN / self.tan_y;
            distance = distance.max(offset.dot(stand.backward) + across.max(up));
        }
        let floor = if framed.half_extent == DVec3::ZERO { self.distance_to_sphere(framed) } else { 0.0 };
        distance.max(floor).max(framed.radius * 1.05)
    }

    /// Distance at which the sphere around the box just touches the field's edge, from any side: a
    /// turntable keeps it.
    pub fn distance_to_sphere(&self, framed: &Framed) -> f64 {
        let tan = self.tan_x.min(self.tan_y);
        // 1 / sine from the tangent.
        framed.radius * (1.0 + tan * tan).sqrt() / tan
    }
}
