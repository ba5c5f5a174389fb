//! Axis-aligned boxes.

/// A box; empty where `min` is above `max`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)]
pub struct Box3 {
    pub min: [f32; 3],
    pub max: [f32; 3],
}

impl Box3 {
    /// Holds nothing.
    pub const EMPTY: Box3 = Box3 { min: [f32::INFINITY; 3], max: [f32::NEG_INFINITY; 3] };

    /// Around points.
    pub fn around(points: impl IntoIterator<Item = [f32; 3]>) -> Box3 {
        let mut out = Box3::EMPTY;
        for p in points {
            out.add(&Box3 { min: p, max: p });
        }
        out
    }

    /// Grows to hold the other.
    #[inline(always)]
    pub fn add(&mut self, o: &Box3) {
        for k in 0..3 {
            self.min[k] = self.min[k].min(o.min[k]);
            self.max[k] = self.max[k].max(o.max[k]);
        }
    }

    /// Twice the centre.
    #[inline(always)]
    pub fn center2(&self, axis: usize) -> f32 {
        self.min[axis] + self.max[axis]
    }

    /// Half the surface; 0 where empty.
    #[inline(always)]
    pub fn half_area(&self) -> f32 {
        let [x, y, z] = std::array::from_fn(|k| (self.max[k] - self.min[k]).max(0.0));
        x * y + y * z + z * x
    }

    /// Largest magnitude of a coordinate; 0 where empty.
    pub fn reach(&self) -> f32 {
        (0..3).fold(0.0f32, |reach, k| reach.max(-self.min[k]).max(self.max[k]))
    }

    /// The corners.
    pub fn corners(&self) -> [[f32; 3]; 8] {
        std::array::from_fn(|k| {
            std::array::from_fn(|axis| if k >> axis & 1 == 0 { self.min[axis] } else { self.max[axis] })
        })
    }
}
