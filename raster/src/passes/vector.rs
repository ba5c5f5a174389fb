//! Points and directions, one or eight at once. Sums run x, y, z; the twins guard each product and inner sum.

use std::ops::{Add, Mul, Neg, Sub};

use fearless_simd::{f32x8, mask32x8, prelude::*};

use crate::exact::{rsqrt, rsqrt8};

/// An array by index; unlike `std::array::from_fn` always inlined, as code that keeps vectors in registers must be.
#[inline(always)]
pub fn fill<T: Copy, const N: usize>(value: impl Fn(usize) -> T) -> [T; N] {
    let mut out = [value(0); N];
    let mut k = 1;
    while k < N {
        out[k] = value(k);
        k += 1;
    }
    out
}

/// A vector by lane, always inlined.
#[inline(always)]
pub fn lanes<S: Simd>(simd: S, value: impl Fn(usize) -> f32) -> f32x8<S> {
    f32x8::simd_from(simd, fill(value))
}

/// Marks a closure that must be inlined where it is called; attributes are not allowed on `let`.
#[inline(always)]
pub fn always<F>(closure: F) -> F {
    closure
}

/// Eight vectors of three.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct V3<S: Simd> {
    pub x: f32x8<S>,
    pub y: f32x8<S>,
    pub z: f32x8<S>,
}

impl<S: Simd> V3<S> {
    /// The same vector in all lanes.
    #[inline(always)]
    pub fn splat(simd: S, v: [f32; 3]) -> Self {
        V3 { x: f32x8::splat(simd, v[0]), y: f32x8::splat(simd, v[1]), z: f32x8::splat(simd, v[2]) }
    }

    /// (x x' + y y') + z z'.
    #[inline(always)]
    pub fn dot(self, o: Self) -> f32x8<S> {
        self.x * o.x + self.y * o.y + self.z * o.z
    }

    /// Cross product.
    #[inline(always)]
    pub fn cross(self, o: Self) -> Self {
        V3 { x: self.y * o.z - self.z * o.y, y: self.z * o.x - self.x * o.z, z: self.x * o.y - self.y * o.x }
    }

    /// Times one factor per lane.
    #[inline(always)]
    pub fn scale(self, s: f32x8<S>) -> Self {
        V3 { x: self.x * s, y: self.y * s, z: self.z * s }
    }

    /// Unit length; what is shorter than 2^-50 stays short.
    #[inline(always)]
    pub fn normalize(self) -> Self {
        self.scale(rsqrt8(self.dot(self)))
    }

    /// Per lane.
    #[inline(always)]
    pub fn select(mask: mask32x8<S>, yes: Self, no: Self) -> Self {
        V3 { x: mask.select(yes.x, no.x), y: mask.select(yes.y, no.y), z: mask.select(yes.z, no.z) }
    }

    /// Linear part of rows times the vector: (r0 x + r1 y) + r2 z.
    #[inline(always)]
    pub fn transform_vector(self, rows: &[[f32; 4]; 3]) -> Self {
        let row = always(
            #[inline(always)]
            |r: &[f32; 4]| self.x * r[0] + self.y * r[1] + self.z * r[2],
        );
        V3 { x: row(&rows[0]), y: row(&rows[1]), z: row(&rows[2]) }
    }

    /// Rows times the point: ((r0 x + r1 y) + r2 z) + r3.
    #[inline(always)]
    pub fn transform_point(self, rows: &[[f32; 4]; 3]) -> Self {
        let row = always(
            #[inline(always)]
            |r: &[f32; 4]| self.x * r[0] + self.y * r[1] + self.z * r[2] + r[3],
        );
        V3 { x: row(&rows[0]), y: row(&rows[1]), z: row(&rows[2]) }
    }
}

impl<S: Simd> Add for V3<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        V3 { x: self.x + o.x, y: self.y + o.y, z: self.z + o.z }
    }
}

impl<S: Simd> Sub for V3<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        V3 { x: self.x - o.x, y: self.y - o.y, z: self.z - o.z }
    }
}

impl<S: Simd> Mul for V3<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        V3 { x: self.x * o.x, y: self.y * o.y, z: self.z * o.z }
    }
}

impl<S: Simd> Neg for V3<S> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        V3 { x: -self.x, y: -self.y, z: -self.z }
    }
}

/// One point, direction or colour; what follows rays works on one at a time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Vector {
    pub x: f32,
    pub y: f32,
    pub z: f32,
}

impl Vector {
    /// The same number three times.
    #[inline(always)]
    pub const fn splat(v: f32) -> Vector {
        Vector { x: v, y: v, z: v }
    }

    /// From an array.
    #[inline(always)]
    pub const fn new([x, y, z]: [f32; 3]) -> Vector {
        Vector { x, y, z }
    }

    /// As an array.
    #[inline(always)]
    pub const fn array(self) -> [f32; 3] {
        [self.x, self.y, self.z]
    }

    /// (x x' + y y') + z z'.
    #[inline(always)]
    pub fn dot(self, o: Vector) -> f32 {
        self.x * o.x + self.y * o.y + self.z * o.z
    }

    /// Cross product.
    #[inline(always)]
    pub fn cross(self, o: Vector) -> Vector {
        Vector {
            x: self.y * o.z - self.z * o.y,
            y: self.z * o.x - self.x * o.z,
            z: self.x * o.y - self.y * o.x,
        }
    }

    /// Times a factor.
    #[inline(always)]
    pub fn scale(self, s: f32) -> Vector {
        Vector { x: self.x * s, y: self.y * s, z: self.z * s }
    }

    /// Unit length; what is shorter than 2^-50 stays short.
    #[inline(always)]
    pub fn normalize(self) -> Vector {
        self.scale(rsqrt(self.dot(self)))
    }

    /// Per component.
    #[inline(always)]
    pub fn map(self, f: impl Fn(f32) -> f32) -> Vector {
        Vector { x: f(self.x), y: f(self.y), z: f(self.z) }
    }

    /// The largest component.
    #[inline(always)]
    pub fn largest(self) -> f32 {
        self.x.max(self.y).max(self.z)
    }

    /// Linear part of rows times the vector: (r0 x + r1 y) + r2 z.
    #[inline(always)]
    pub fn transform_vector(self, rows: &[[f32; 4]; 3]) -> Vector {
        let row = |r: &[f32; 4]| self.x * r[0] + self.y * r[1] + self.z * r[2];
        Vector { x: row(&rows[0]), y: row(&rows[1]), z: row(&rows[2]) }
    }

    /// Rows times the point: ((r0 x + r1 y) + r2 z) + r3.
    #[inline(always)]
    pub fn transform_point(self, rows: &[[f32; 4]; 3]) -> Vector {
        let row = |r: &[f32; 4]| self.x * r[0] + self.y * r[1] + self.z * r[2] + r[3];
        Vector { x: row(&rows[0]), y: row(&rows[1]), z: row(&rows[2]) }
    }
}

impl Add for Vector {
    type Output = Vector;
    #[inline(always)]
    fn add(self, o: Vector) -> Vector {
        Vector { x: self.x + o.x, y: self.y + o.y, z: self.z + o.z }
    }
}

impl Sub for Vector {
    type Output = Vector;
    #[inline(always)]
    fn sub(self, o: Vector) -> Vector {
        Vector { x: self.x - o.x, y: self.y - o.y, z: self.z - o.z }
    }
}

impl Mul for Vector {
    type Output = Vector;
    #[inline(always)]
    fn mul(self, o: Vector) -> Vector {
        Vector { x: self.x * o.x, y: self.y * o.y, z: self.z * o.z }
    }
}

impl Neg for Vector {
    type Output = Vector;
    #[inline(always)]
    fn neg(self) -> Vector {
        Vector { x: -self.x, y: -self.y, z: -self.z }
    }
}
