//! Triangles in `f64`, and how they are moved and joined.

use glam::{DQuat, DVec3};

/// A triangle mesh. All vectors of vertices have one length. *Units*: metres; texture coordinates are metres too,
/// unless a shape says that they span 0 to 1.
#[derive(Debug, Clone, Default)]
pub(super) struct Mesh {
    pub position: Vec<DVec3>,
    pub normal: Vec<DVec3>,
    pub uv: Vec<[f64; 2]>,
    pub index: Vec<u32>,
}

/// Where something stands: scaled, turned, moved.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pose {
    pub translation: DVec3,
    pub rotation: DQuat,
    pub scale: DVec3,
}

impl Pose {
    pub(super) const IDENTITY: Pose =
        Pose { translation: DVec3::ZERO, rotation: DQuat::IDENTITY, scale: DVec3::ONE };

    pub(super) fn at(x: f64, y: f64, z: f64) -> Pose {
        Pose::to(DVec3::new(x, y, z))
    }

    pub(super) fn to(translation: DVec3) -> Pose {
        Pose { translation, ..Pose::IDENTITY }
    }

    pub(super) fn turned(self, rotation: DQuat) -> Pose {
        Pose { rotation, ..self }
    }

    /// Turned about +Y. *Units*: radians.
    pub(super) fn yaw(self, angle_rad: f64) -> Pose {
        self.turned(turn(DVec3::Y, angle_rad))
    }

    pub(super) fn scaled(self, factor: f64) -> Pose {
        Pose { scale: DVec3::splat(factor), ..self }
    }

    pub(super) fn point(&self, point: DVec3) -> DVec3 {
        self.translation + self.rotation * (point * self.scale)
    }
}

/// The rotation about a unit axis, by `libm`.
pub(super) fn turn(axis: DVec3, angle_rad: f64) -> DQuat {
    let (sin, cos) = libm::sincos(angle_rad * 0.5);
    DQuat::from_xyzw(axis.x * sin, axis.y * sin, axis.z * sin, cos)
}

/// A box with axes for edges.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub min: DVec3,
    pub max: DVec3,
}

impl Bounds {
    pub(super) fn of(points: impl IntoIterator<Item = DVec3>) -> Bounds {
        let empty = Bounds { min: DVec3::INFINITY, max: DVec3::NEG_INFINITY };
        points
            .into_iter()
            .fold(empty, |bounds, point| Bounds { min: bounds.min.min(point), max: bounds.max.max(point) })
    }

    pub(super) fn grown(self, by: f64) -> Bounds {
        Bounds { min: self.min - by, max: self.max + by }
    }

    pub(super) fn size(&self) -> DVec3 {
        self.max - self.min
    }

    pub(super) fn overlaps(&self, other: &Bounds) -> bool {
        self.min.cmplt(other.max).all() && other.min.cmplt(self.max).all()
    }

    pub(super) fn moved(&self, pose: &Pose) -> Bounds {
        Bounds::of((0..8).map(|corner| {
            let pick = |bit: u32, low: f64, high: f64| if corner >> bit & 1 == 0 { low } else { high };
            pose.point(DVec3::new(
                pick(0, self.min.x, self.max.x),
                pick(1, self.min.y, self.max.y),
                pick(2, self.min.z, self.max.z),
            ))
        }))
    }
}

impl Mesh {
    pub(super) fn triangle_count(&self) -> usize {
        self.index.len() / 3
    }

    pub(super) fn bounds(&self) -> Bounds {
        Bounds::of(self.position.iter().copied())
    }

    /// A flat quadrilateral, counter-clockwise as seen from its front; `size` in texture space.
    pub(super) fn quad(&mut self, corners: [DVec3; 4], size: [f64; 2]) {
        let first = self.position.len() as u32;
        let normal = (corners[1] - corners[0]).cross(corners[3] - corners[0]).normalize_or(DVec3::Y);
        self.position.extend(corners);
        self.normal.extend([normal; 4]);
        self.uv.extend([[0.0, size[1]], size, [size[0], 0.0], [0.0, 0.0]]);
        self.index.extend([0, 1, 2, 0, 2, 3].map(|corner| first + corner));
    }

    pub(super) fn join(&mut self, other: &Mesh) {
        let first = self.position.len() as u32;
        self.position.extend_from_slice(&other.position);
        self.normal.extend_from_slice(&other.normal);
        self.uv.extend_from_slice(&other.uv);
        self.index.extend(other.index.iter().map(|index| first + index));
    }

    pub(super) fn joined(mut self, other: Mesh) -> Mesh {
        self.join(&other);
        self
    }

    /// Moves the vertices themselves. Scales are above zero.
    pub(super) fn moved(mut self, pose: Pose) -> Mesh {
        for point in &mut self.position {
            *point = pose.point(*point);
        }
        for normal in &mut self.normal {
            *normal = (pose.rotation * (*normal / pose.scale)).normalize_or(DVec3::Y);
        }
        self
    }

    /// The side that was inside is outside now.
    pub(super) fn inside_out(mut self) -> Mesh {
        self.index.chunks_exact_mut(3).for_each(|triangle| triangle.swap(1, 2));
        self.normal.iter_mut().for_each(|normal| *normal = -*normal);
        self
    }

    /// Six times the signed volume: above zero where a closed mesh is wound with its front outside.
    #[cfg(test)]
    pub(super) fn volume6(&self) -> f64 {
        let corner = |index: u32| self.position[index as usize];
        self.index.chunks_exact(3).map(|t| corner(t[0]).dot(corner(t[1]).cross(corner(t[2])))).sum()
    }
}
