//! Surface: what a triangle looks like at a point of the screen: barycentrics, attributes, textures.
//!
//! *Reads*: clip vertices, vertices, materials, texels. Barycentrics come from homogeneous coordinates with the
//! point moved to the origin, so they are perspective correct and hold for triangles that cross the near plane.
//! *Source*: Olano, Greer, "Triangle scan conversion using 2D homogeneous coordinates", 1997.

use fearless_simd::{f32x8, mask32x8, prelude::*};

use super::light::RADIANCE_MAX;
use super::lobes::{self, Lobes};
use super::project::ClipVertex;
use super::tangent_space::TangentSpace;
use super::texture::{self, Footprint, channels};
use super::vector::{V3, always, fill, lanes};
use crate::draw::{Instance, instance_flags};
use crate::exact::{FLUSH_BELOW, recip8};
use crate::prepared::{PackedMaterial, PackedTexture, Vertex, material_flags};

/// What the largest code of sixteen bits is multiplied by to give 1.
pub const INVERSE_65535: f32 = 1.0 / 65535.0;

/// Nearest W at which a point has moved, 2^-20: nearer than any near plane.
pub const MOTION_W_MIN: f32 = f32::from_bits(0x3580_0000);

/// What the triangles of one instance are made of.
#[derive(Clone, Copy)]
pub struct InstanceData<'a> {
    /// Its place in the draw list.
    pub index: u32,
    /// The instance.
    pub instance: &'a Instance,
    /// Its material.
    pub material: &'a PackedMaterial,
    /// Its vertices.
    pub vertices: &'a [Vertex],
    /// Its projected vertices.
    pub clip: &'a [ClipVertex],
    /// X, Y, W of its vertices in the previous frame; empty where nothing moves.
    pub previous: &'a [[f32; 3]],
    /// Its triangle list.
    pub indices: &'a [u32],
    /// All texels.
    pub texels: &'a [u32],
}

/// Vertex numbers of up to eight triangles.
#[derive(Clone, Copy)]
pub struct Corners {
    index: [[u32; 8]; 3],
    uniform: bool,
}

impl Corners {
    /// Corners of the triangles with these global ids.
    #[inline(always)]
    pub fn new(data: &InstanceData<'_>, triangles: &[u32; 8]) -> Corners {
        let uniform = triangles.iter().all(|&t| t == triangles[0]);
        let first = data.instance.first_triangle;
        let mut index = [[0; 8]; 3];
        if uniform {
            let at = ((triangles[0] - first) * 3) as usize;
            for k in 0..3 {
                index[k] = [data.indices[at + k]; 8];
            }
        } else {
            for lane in 0..8 {
                let at = ((triangles[lane] - first) * 3) as usize;
                for k in 0..3 {
                    index[k][lane] = data.indices[at + k];
                }
            }
        }
        Corners { index, uniform }
    }

    /// A value of each corner.
    #[inline(always)]
    pub fn fetch<S: Simd>(&self, simd: S, value: impl Fn(usize) -> f32) -> [f32x8<S>; 3] {
        fill(
            #[inline(always)]
            |k| {
                if self.uniform {
                    f32x8::splat(simd, value(self.index[k][0] as usize))
                } else {
                    lanes(
                        simd,
                        #[inline(always)]
                        |lane| value(self.index[k][lane] as usize),
                    )
                }
            },
        )
    }
}

/// Barycentric weights and their slopes.
#[derive(Clone, Copy)]
pub struct Barycentrics<S: Simd> {
    /// Weights of the corners: each 0 to 1, together 1.
    pub weight: [f32x8<S>; 3],
    /// Change of the unnormalised weights per pixel right and down, over their sum.
    slope_x: [f32x8<S>; 3],
    slope_y: [f32x8<S>; 3],
    /// Whether the corners run clockwise on the screen.
    pub clockwise: mask32x8<S>,
}

impl<S: Simd> Barycentrics<S> {
    /// At pixels `x_px`, `y_px` from the image centre.
    #[inline(always)]
    pub fn new(simd: S, data: &InstanceData<'_>, corners: &Corners, x_px: f32x8<S>, y_px: f32x8<S>) -> Self {
        let w = corners.fetch(simd, |i| data.clip[i].w);
        let mut x = corners.fetch(simd, |i| data.clip[i].x);
        let mut y = corners.fetch(simd, |i| data.clip[i].y);
        for k in 0..3 {
            x[k] = x[k] - x_px * w[k];
            y[k] = y[k] - y_px * w[k];
        }
        let e0 = x[1] * y[2] - x[2] * y[1];
        let e1 = x[2] * y[0] - x[0] * y[2];
        let e2 = x[0] * y[1] - x[1] * y[0];
        let sum = e0 + e1 + e2;
        let zero = f32x8::splat(simd, 0.0);
        let one = f32x8::splat(simd, 1.0);
        let flat = sum.abs().simd_lt(f32x8::splat(simd, FLUSH_BELOW));
        let inverse = recip8(flat.select(one, sum));
        let clamp = always(
            #[inline(always)]
            |e: f32x8<S>| (e * inverse).max(zero).min(one),
        );
        let (b0, b1, b2) = (flat.select(one, clamp(e0)), clamp(e1), clamp(e2));
        let scale = recip8(b0 + b1 + b2);
        Barycentrics {
            weight: [b0 * scale, b1 * scale, b2 * scale],
            slope_x: [
                (w[2] * y[1] - w[1] * y[2]) * inverse,
                (w[0] * y[2] - w[2] * y[0]) * inverse,
                (w[1] * y[0] - w[0] * y[1]) * inverse,
            ],
            slope_y: [
                (w[1] * x[2] - w[2] * x[1]) * inverse,
                (w[2] * x[0] - w[0] * x[2]) * inverse,
                (w[0] * x[1] - w[1] * x[0]) * inverse,
            ],
            clockwise: sum.simd_gt(zero),
        }
    }

    /// Weighted mean of corner values: (b0 v0 + b1 v1) + b2 v2.
    #[inline(always)]
    pub fn mean(&self, v: &[f32x8<S>; 3]) -> f32x8<S> {
        self.weight[0] * v[0] + self.weight[1] * v[1] + self.weight[2] * v[2]
    }

    /// Change of the mean `m` of corner values per pixel, for the slopes given.
    #[inline(always)]
    fn change(slope: &[f32x8<S>; 3], v: &[f32x8<S>; 3], m: f32x8<S>) -> f32x8<S> {
        slope[0] * (v[0] - m) + slope[1] * (v[1] - m) + slope[2] * (v[2] - m)
    }
}

/// Both texture coordinate sets of a point.
pub struct Coordinates<S: Simd> {
    sets: [Footprint<S>; 2],
}

impl<S: Simd> Coordinates<S> {
    /// Interpolates what the material's textures use.
    #[inline(always)]
    pub fn new(simd: S, data: &InstanceData<'_>, corners: &Corners, b: &Barycentrics<S>) -> Self {
        let m = data.material;
        let uses = always(
            #[inline(always)]
            |set: u32| m.textures().iter().any(|t| t.level_count > 0 && t.uv_set == set),
        );
        let footprint = always(
            #[inline(always)]
            |u: [f32x8<S>; 3], v: [f32x8<S>; 3]| {
                let (mu, mv) = (b.mean(&u), b.mean(&v));
                Footprint {
                    u: mu,
                    v: mv,
                    du_dx: Barycentrics::change(&b.slope_x, &u, mu),
                    dv_dx: Barycentrics::change(&b.slope_x, &v, mv),
                    du_dy: Barycentrics::change(&b.slope_y, &u, mu),
                    dv_dy: Barycentrics::change(&b.slope_y, &v, mv),
                }
            },
        );
        let zero = f32x8::splat(simd, 0.0);
        let mut sets =
            [Footprint { u: zero, v: zero, du_dx: zero, dv_dx: zero, du_dy: zero, dv_dy: zero }; 2];
        if uses(0) {
            sets[0] = footprint(
                corners.fetch(simd, |i| data.vertices[i].uv0[0]),
                corners.fetch(simd, |i| data.vertices[i].uv0[1]),
            );
        }
        if uses(1) {
            sets[1] = footprint(
                corners.fetch(simd, |i| data.vertices[i].uv1[0]),
                corners.fetch(simd, |i| data.vertices[i].uv1[1]),
            );
        }
        Coordinates { sets }
    }

    /// Looks a texture up; None where the material has none.
    #[inline(always)]
    pub fn sample<const CHANNELS: u32>(
        &self,
        simd: S,
        data: &InstanceData<'_>,
        texture: &PackedTexture,
    ) -> Option<[f32x8<S>; 4]> {
        (texture.level_count > 0).then(|| {
            texture::sample::<S, CHANNELS>(simd, data.texels, texture, &self.sets[texture.uv_set as usize])
        })
    }
}

/// Base colour with alpha: factor × texture × vertex colour.
#[inline(always)]
pub fn base_color<S: Simd>(
    simd: S,
    data: &InstanceData<'_>,
    corners: &Corners,
    b: &Barycentrics<S>,
    coordinates: &Coordinates<S>,
) -> [f32x8<S>; 4] {
    let factor = data.material.base_color;
    let mut color: [f32x8<S>; 4] = fill(
        #[inline(always)]
        |k| f32x8::splat(simd, factor[k]),
    );
    if let Some(t) = coordinates.sample::<{ channels::R | channels::G | channels::B | channels::A }>(
        simd,
        data,
        &data.material.base_color_texture,
    ) {
        for k in 0..4 {
            color[k] = color[k] * t[k];
        }
    }
    if data.instance.flags & instance_flags::COLORED != 0 {
        for k in 0..4 {
            let v = corners.fetch(simd, |i| {
                let packed = data.vertices[i].color[k / 2];
                (packed >> (16 * (k as u32 % 2)) & 0xFFFF) as f32
            });
            color[k] = color[k] * (b.mean(&v) * INVERSE_65535);
        }
    }
    color
}

/// Alpha alone, for MASK.
#[inline(always)]
pub fn alpha<S: Simd>(
    simd: S,
    data: &InstanceData<'_>,
    triangles: &[u32; 8],
    x_px: f32x8<S>,
    y_px: f32x8<S>,
) -> f32x8<S> {
    let corners = Corners::new(data, triangles);
    let b = Barycentrics::new(simd, data, &corners, x_px, y_px);
    let coordinates = Coordinates::new(simd, data, &corners, &b);
    base_color(simd, data, &corners, &b, &coordinates)[3]
}

/// A vertex attribute at the point.
#[inline(always)]
pub fn attribute<S: Simd>(
    simd: S,
    data: &InstanceData<'_>,
    corners: &Corners,
    b: &Barycentrics<S>,
    value: impl Fn(&Vertex) -> f32,
) -> f32x8<S> {
    b.mean(&corners.fetch(simd, |i| value(&data.vertices[i])))
}

/// A point to be lit.
pub struct Surface<S: Simd> {
    /// *Space*: eye.
    pub position_eye: V3<S>,
    /// Unit shading normal, world axes; zero where the primitive has none.
    pub normal: V3<S>,
    /// Towards the viewer, unit.
    pub to_viewer: V3<S>,
    /// Linear base colour.
    pub base: V3<S>,
    /// Alpha.
    pub alpha: f32x8<S>,
    /// 0 to 1.
    pub metallic: f32x8<S>,
    /// Perceptual, 0 to 1.
    pub roughness: f32x8<S>,
    /// Share of ambient light that arrives, 0 to 1.
    pub occlusion: f32x8<S>,
    /// Linear radiance.
    pub emissive: V3<S>,
    /// Linear view depth.
    pub depth: f32x8<S>,
    /// Pixels: previous minus current.
    pub motion: [f32x8<S>; 2],
    /// What extensions add.
    pub lobes: Lobes<S>,
}

/// Evaluates triangles at points of the screen.
#[inline(always)]
pub fn evaluate<S: Simd>(
    simd: S,
    data: &InstanceData<'_>,
    to_viewer: Option<[f32; 3]>,
    triangles: &[u32; 8],
    x_px: f32x8<S>,
    y_px: f32x8<S>,
) -> Surface<S> {
    let (m, instance) = (data.material, data.instance);
    let corners = Corners::new(data, triangles);
    let b = Barycentrics::new(simd, data, &corners, x_px, y_px);
    let coordinates = Coordinates::new(simd, data, &corners, &b);

    let position = V3 {
        x: attribute(simd, data, &corners, &b, |v| v.position[0]),
        y: attribute(simd, data, &corners, &b, |v| v.position[1]),
        z: attribute(simd, data, &corners, &b, |v| v.position[2]),
    };
    let position_eye = position.transform_point(&instance.eye_from_local);
    let to_viewer = match to_viewer {
        Some(v) => V3::splat(simd, v),
        None => (-position_eye).normalize(),
    };

    let zero = f32x8::splat(simd, 0.0);
    let one = f32x8::splat(simd, 1.0);
    let color = base_color(simd, data, &corners, &b, &coordinates);
    let mut surface = Surface {
        position_eye,
        normal: V3::splat(simd, [0.0; 3]),
        to_viewer,
        base: V3 { x: color[0], y: color[1], z: color[2] },
        alpha: color[3],
        metallic: f32x8::splat(simd, m.metallic),
        roughness: f32x8::splat(simd, m.roughness),
        occlusion: one,
        emissive: V3::splat(simd, m.emissive),
        depth: b.mean(&corners.fetch(simd, |i| data.clip[i].d)),
        motion: motion(simd, data, &corners, &b),
        lobes: Lobes::none(simd),
    };
    if instance.flags & instance_flags::UNLIT == 0 {
        let space = TangentSpace::new(simd, data, &corners, &b);
        let map =
            coordinates.sample::<{ channels::R | channels::G | channels::B }>(simd, data, &m.normal_texture);
        let normal = match map {
            Some(t) => space.mapped(t, m.normal_scale),
            None => space.normal,
        };
        surface.normal = space.seen(normal);
        if m.flags & material_flags::LOBES != 0 {
            surface.lobes = lobes::evaluate(simd, data, &coordinates, &space, surface.normal);
        }
    }
    if m.flags & material_flags::UNLIT != 0 {
        return surface;
    }
    if let Some(t) =
        coordinates.sample::<{ channels::G | channels::B }>(simd, data, &m.metallic_roughness_texture)
    {
        surface.roughness = surface.roughness * t[1];
        surface.metallic = surface.metallic * t[2];
    }
    if let Some(t) = coordinates.sample::<{ channels::R }>(simd, data, &m.occlusion_texture) {
        surface.occlusion = ((t[0] - one) * m.occlusion_strength + one).max(zero);
    }
    if let Some(t) =
        coordinates.sample::<{ channels::R | channels::G | channels::B }>(simd, data, &m.emissive_texture)
    {
        surface.emissive = surface.emissive * V3 { x: t[0], y: t[1], z: t[2] };
    }
    surface
}

/// Where the surface was minus where it is. *Units*: pixels. Zero where it was behind the camera.
#[inline(always)]
fn motion<S: Simd>(
    simd: S,
    data: &InstanceData<'_>,
    corners: &Corners,
    b: &Barycentrics<S>,
) -> [f32x8<S>; 2] {
    let zero = f32x8::splat(simd, 0.0);
    if data.previous.is_empty() {
        return [zero, zero];
    }
    let now: [f32x8<S>; 3] = [
        b.mean(&corners.fetch(simd, |i| data.clip[i].x)),
        b.mean(&corners.fetch(simd, |i| data.clip[i].y)),
        b.mean(&corners.fetch(simd, |i| data.clip[i].w)),
    ];
    let before: [f32x8<S>; 3] = fill(
        #[inline(always)]
        |k| b.mean(&corners.fetch(simd, |i| data.previous[i][k])),
    );
    let least = f32x8::splat(simd, MOTION_W_MIN);
    let seen = before[2].simd_gt(least) & now[2].simd_gt(least);
    let inverse_now = recip8(seen.select(now[2], least));
    let inverse_before = recip8(seen.select(before[2], least));
    let limit = f32x8::splat(simd, RADIANCE_MAX);
    fill(
        #[inline(always)]
        |k| {
            let moved = before[k] * inverse_before - now[k] * inverse_now;
            seen.select(moved.max(-limit).min(limit), zero)
        },
    )
}
