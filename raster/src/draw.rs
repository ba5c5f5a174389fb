//! What a frame draws: instances, lights and constants, computed on the host in `f64` and rounded once.
//!
//! *Eye space* is world axes with the origin at the eye, so that shading keeps its precision far from the
//! world's origin. *Clip coordinates* are homogeneous pixels relative to the image centre, y down:
//! `x_px = X / W`, `y_px = Y / W`; `D` is the linear view depth.

use bytemuck::{Pod, Zeroable};
use glam::{DMat3, DMat4, DVec3, DVec4};

use crate::environment::Environment;
use crate::frame::{Background, ColorFormat, FrameRequest, Output, RenderError, Tonemap};
use crate::passes::tonemap::curve;
use crate::pose::{self, PlacedKind, Pose};
use crate::prepared::{Geometry, Prepared, Vertex};
use crate::scene::{FACTOR_MAX, Topology};
use crate::view::{self, Lens, Moments, View};

/// Most lights a frame may have.
pub const LIGHTS_MAX: usize = 256;

/// Bits of [`Instance::flags`].
#[allow(missing_docs)]
pub mod instance_flags {
    /// The world transform mirrors: front faces wind the other way.
    pub const MIRRORED: u32 = 1;
    pub const LINES: u32 = 2;
    pub const POINTS: u32 = 4;
    /// Vertices lie in the deformed buffer.
    pub const DEFORMED: u32 = 8;
    pub const UNLIT: u32 = 16;
    pub const COLORED: u32 = 32;
}

/// Codes of [`PackedLight::kind`].
#[allow(missing_docs)]
pub mod light_kind {
    pub const DIRECTIONAL: u32 = 0;
    pub const POINT: u32 = 1;
    pub const SPOT: u32 = 2;
}

/// Codes of [`FrameConstants::background`].
#[allow(missing_docs)]
pub mod background_kind {
    pub const TRANSPARENT: u32 = 0;
    pub const CONSTANT: u32 = 1;
    pub const ENVIRONMENT: u32 = 2;
}

/// One primitive drawn once, 256 bytes. Twin: `shaders/instances.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Pod, Zeroable)]
pub struct Instance {
    /// Rows X, Y, W, D.
    pub clip_from_local: [[f32; 4]; 4],
    /// Rows X, Y, W of the previous frame.
    pub previous_clip_from_local: [[f32; 4]; 3],
    /// Rows.
    pub eye_from_local: [[f32; 4]; 3],
    /// Rows of the inverse transpose, outward also where the transform mirrors; w is zero.
    pub normal_from_local: [[f32; 4]; 3],
    /// First vertex of the primitive, in the static or the deformed buffer.
    pub first_vertex: u32,
    /// Vertices.
    pub vertex_count: u32,
    /// First clip vertex of this instance.
    pub first_clip_vertex: u32,
    /// Into the index buffer.
    pub first_index: u32,
    /// First global primitive id; ids order equal depths.
    pub first_triangle: u32,
    /// Triangles.
    pub triangle_count: u32,
    /// Material.
    pub material: u32,
    /// glTF node index + 1.
    pub node_id: u32,
    /// glTF primitive index + 1.
    pub primitive_id: u32,
    /// [`instance_flags`].
    pub flags: u32,
    /// How much longer lengths are in the world: the cube root of how much larger volumes are.
    pub scale: f32,
    /// Zero.
    pub padding: u32,
}

impl Instance {
    /// Its vertices, of those at rest or of those deformed for the frame.
    #[inline(always)]
    pub fn vertices<'v>(&self, fixed: &'v [Vertex], deformed: &'v [Vertex]) -> &'v [Vertex] {
        let source = if self.flags & instance_flags::DEFORMED != 0 { deformed } else { fixed };
        &source[self.first_vertex as usize..][..self.vertex_count as usize]
    }
}

/// A light, 64 bytes. Twin: `PackedLight` in `shaders/light.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Pod, Zeroable)]
pub struct PackedLight {
    /// *Space*: eye.
    pub position_eye: [f32; 3],
    /// [`light_kind`].
    pub kind: u32,
    /// Towards the light where directional, else the way a spot shines. Unit.
    pub direction: [f32; 3],
    /// 1 / range^2, 0 where unbounded.
    pub inverse_range2: f32,
    /// Linear RGB times intensity.
    pub linear_color: [f32; 3],
    /// Spot: falloff = clamp(cos * scale + offset)^2.
    pub spot_scale: f32,
    /// See `spot_scale`.
    pub spot_offset: f32,
    /// Zero.
    pub padding: [u32; 3],
}

/// Constants of a frame. Twin: `FrameConstants` in `shaders/frame.wgsl`, a uniform.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Pod, Zeroable)]
pub struct FrameConstants {
    /// 0, always; what the guard of products is made of.
    pub zero: u32,
    /// *Units*: pixels.
    pub width: u32,
    /// *Units*: pixels.
    pub height: u32,
    /// Coverage samples per pixel.
    pub samples: u32,
    /// Depth key is `1 / W`, or `key_scale * D + key_offset` where orthographic.
    pub orthographic: u32,
    /// See `orthographic`.
    pub key_scale: f32,
    /// See `orthographic`.
    pub key_offset: f32,
    /// Smallest D that is drawn.
    pub znear: f32,
    /// Largest D that is drawn.
    pub zfar: f32,
    /// 2^EV.
    pub exposure: f32,
    /// A [`curve`].
    pub tonemap: u32,
    /// A [`background_kind`].
    pub background: u32,
    /// Lights.
    pub light_count: u32,
    /// Whether the environment lights.
    pub environment_light: u32,
    /// Scale of the environment.
    pub environment_intensity: f32,
    /// Side of the background's octahedral map.
    pub background_side: u32,
    /// Environment from world: x' = cos x + sin z, z' = -sin x + cos z.
    pub environment_cos: f32,
    /// See `environment_cos`.
    pub environment_sin: f32,
    /// Bit k: output k of [`Output::CLASSIC`] is wanted.
    pub outputs: u32,
    /// Whether `color` is sRGB8.
    pub srgb8: u32,
    /// The constant background: display-referred linear, alpha.
    pub background_linear: [f32; 4],
    /// The direction towards an orthographic viewer; w is zero.
    pub to_viewer: [f32; 4],
    /// Rows of the direction through a pixel, not unit: d = x_px * r0 + y_px * r1 + r2, per component.
    pub ray_x: [f32; 4],
    /// See `ray_x`.
    pub ray_y: [f32; 4],
    /// See `ray_x`.
    pub ray_0: [f32; 4],
    /// Environment irradiance / pi; see [`Environment::irradiance_sh`].
    pub irradiance_sh: [[f32; 4]; 9],
}

const _: () = assert!(size_of::<Instance>() == 256 && size_of::<PackedLight>() == 64);

/// A primitive that skins or morphs this frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Deform {
    /// Instance that shows it.
    pub instance: u32,
    /// Mesh and primitive in the scene.
    pub mesh: u32,
    /// See `mesh`.
    pub primitive: u32,
    /// Its packed geometry.
    pub geometry: Geometry,
    /// First vertex in the deformed buffer.
    pub first_vertex: u32,
    /// Weights of the morph targets, now and before.
    pub weights: [Vec<f32>; 2],
    /// Rows of eye-from-mesh per joint, now and before; empty without a skin.
    pub palettes: [Vec<[[f32; 4]; 3]>; 2],
}

/// Everything a frame draws.
#[derive(Debug, Clone)]
pub struct DrawList {
    /// Constants.
    pub constants: FrameConstants,
    /// In order of node, copy, primitive.
    pub instances: Vec<Instance>,
    /// Mesh and primitive of each instance.
    pub parts: Vec<[u32; 2]>,
    /// Lights.
    pub lights: Vec<PackedLight>,
    /// Primitives to deform.
    pub deforms: Vec<Deform>,
    /// Vertices over all instances.
    pub clip_vertex_count: u32,
    /// Vertices in the deformed buffer.
    pub deformed_vertex_count: u32,
    /// Triangles over all instances.
    pub triangle_count: u32,
    /// Whether previous positions may differ from current ones and motion is wanted.
    pub moving: bool,
    /// Whether there was a previous time or camera.
    pub motion_valid: bool,
}

impl DrawList {
    /// Resolves a request. *Errors*: [`RenderError::Request`].
    pub fn new(
        prepared: &Prepared,
        environment: &Environment,
        request: &FrameRequest,
        color: ColorFormat,
    ) -> Result<DrawList, RenderError> {
        let scene = &prepared.scene;
        let untraced = request.lighting.traced.is_none();
        if let Some(output) = request.outputs.iter().find(|o| untraced && Output::TRACED.contains(o)) {
            let reason = format!("{output} is there where light is traced");
            return Err(RenderError::Request { field: "outputs", reason });
        }
        let moments = view::moments_within(scene, &prepared.extents, request)?;
        let variant = match &request.variant {
            None => None,
            Some(name) => Some(scene.variants.iter().position(|v| v == name).ok_or_else(|| {
                let known = scene.variants.iter().take(10).cloned().collect::<Vec<_>>().join(", ");
                RenderError::Request {
                    field: "variant",
                    reason: format!("no variant `{name}`; the scene has: {known}"),
                }
            })?),
        };
        let lights = pack_lights(scene, &moments, request)?;
        let constants = constants(&moments.current.1, environment, request, color, &lights, scene);
        let mut list = DrawList {
            constants,
            instances: Vec::new(),
            parts: Vec::new(),
            lights,
            deforms: Vec::new(),
            clip_vertex_count: 0,
            deformed_vertex_count: 0,
            triangle_count: 0,
            moving: moments.previous.is_some() && request.outputs.contains(&Output::Motion),
            motion_valid: moments.previous.is_some(),
        };
        let current = Transforms::new(&moments.current);
        let previous = moments.previous.as_ref().map(Transforms::new);
        for node in 0..scene.nodes.len() {
            list.add_node(prepared, node, variant, &current, previous.as_ref())?;
        }
        Ok(list)
    }

    fn add_node(
        &mut self,
        prepared: &Prepared,
        node: usize,
        variant: Option<usize>,
        current: &Transforms<'_>,
        previous: Option<&Transforms<'_>>,
    ) -> Result<(), RenderError> {
        let scene = &prepared.scene;
        let Some(mesh) = scene.nodes[node].mesh else { return Ok(()) };
        if !current.pose.visible[node] {
            return Ok(());
        }
        let identity = [DMat4::IDENTITY];
        let copies: Vec<DMat4>;
        let copies: &[DMat4] = match &scene.nodes[node].instances {
            Some(instances) => {
                copies = instances.iter().map(pose::trs_matrix).collect();
                &copies
            }
            None => &identity,
        };
        for copy in copies {
            let world_from_local = current.pose.world_from_node[node] * *copy;
            for (k, geometry) in prepared.geometries[mesh as usize].iter().enumerate() {
                let primitive = &scene.meshes[mesh as usize].primitives[k];
                // What has no joints moves with the node, skin or not.
                let skinned = current.pose.palettes[node].is_some() && !primitive.joints.is_empty();
                let deforms = skinned || !primitive.targets.is_empty();
                let previous_local = previous.map(|p| p.pose.world_from_node[node] * *copy);
                let mut instance = Instance {
                    first_vertex: geometry.first_vertex,
                    vertex_count: geometry.vertex_count,
                    first_clip_vertex: self.clip_vertex_count,
                    first_index: geometry.first_index,
                    first_triangle: self.triangle_count,
                    triangle_count: geometry.triangle_count,
                    material: variant
                        .and_then(|v| primitive.variant_materials.get(v).copied().flatten())
                        .unwrap_or(primitive.material),
                    node_id: scene.nodes[node].gltf_index + 1,
                    primitive_id: primitive.gltf_index + 1,
                    flags: geometry_flags(geometry),
                    ..Instance::default()
                };
                // A skin's palette already leads to eye space; other transforms lead there from the mesh.
                let (now, before) = if skinned {
                    (current.world_from_eye, previous.map(|p| p.world_from_eye))
                } else {
                    (world_from_local, previous_local)
                };
                current.fill(&mut instance, now);
                instance.previous_clip_from_local = match (previous, before) {
                    (Some(p), Some(b)) => p.clip_rows(b),
                    _ => [
                        instance.clip_from_local[0],
                        instance.clip_from_local[1],
                        instance.clip_from_local[2],
                    ],
                };
                if deforms {
                    instance.flags |= instance_flags::DEFORMED;
                    instance.first_vertex = self.deformed_vertex_count;
                    self.add_deform(node, mesh, k as u32, *geometry, skinned, current, previous);
                }
                self.clip_vertex_count = checked_add(self.clip_vertex_count, geometry.vertex_count)?;
                self.triangle_count = checked_add(self.triangle_count, geometry.triangle_count)?;
                self.instances.push(instance);
                self.parts.push([mesh, k as u32]);
            }
        }
        Ok(())
    }

    fn add_deform(
        &mut self,
        node: usize,
        mesh: u32,
        primitive: u32,
        geometry: Geometry,
        skinned: bool,
        current: &Transforms<'_>,
        previous: Option<&Transforms<'_>>,
    ) {
        let palette = |t: &Transforms<'_>| -> Vec<[[f32; 4]; 3]> {
            let joints = t.pose.palettes[node].as_deref().filter(|_| skinned).unwrap_or(&[]);
            joints.iter().map(|j| affine_rows(t.eye_from_world * *j)).collect()
        };
        let before = previous.unwrap_or(current);
        self.deforms.push(Deform {
            instance: self.instances.len() as u32,
            mesh,
            primitive,
            geometry,
            first_vertex: self.deformed_vertex_count,
            weights: [current.pose.weights[node].clone(), before.pose.weights[node].clone()],
            palettes: [palette(current), palette(before)],
        });
        self.deformed_vertex_count += geometry.vertex_count;
    }
}

fn checked_add(a: u32, b: u32) -> Result<u32, RenderError> {
    // Ids stay below 2^31 so that backends may keep a flag beside them.
    a.checked_add(b).filter(|&s| s < 1 << 31).ok_or(RenderError::Request {
        field: "scene",
        reason: "more than 2^31 vertices or triangles after instancing".into(),
    })
}

fn geometry_flags(geometry: &Geometry) -> u32 {
    use instance_flags::*;
    let topology = match geometry.topology {
        Topology::Triangles => 0,
        Topology::Lines => LINES,
        Topology::Points => POINTS,
    };
    topology | if geometry.lit { 0 } else { UNLIT } | if geometry.colored { COLORED } else { 0 }
}

/// The matrices of one moment.
struct Transforms<'a> {
    pose: &'a Pose,
    clip_from_world: DMat4,
    eye_from_world: DMat4,
    world_from_eye: DMat4,
}

impl<'a> Transforms<'a> {
    fn new((pose, view): &'a (Pose, View)) -> Transforms<'a> {
        // Rows X, Y, W, D of clip coordinates from view space.
        let clip_from_view = match view.lens {
            Lens::Perspective { focal_px, .. } => DMat4::from_cols(
                DVec4::new(focal_px, 0.0, 0.0, 0.0),
                DVec4::new(0.0, -focal_px, 0.0, 0.0),
                DVec4::new(0.0, 0.0, -1.0, -1.0),
                DVec4::ZERO,
            ),
            Lens::Orthographic { px_per_unit, .. } => DMat4::from_cols(
                DVec4::new(px_per_unit, 0.0, 0.0, 0.0),
                DVec4::new(0.0, -px_per_unit, 0.0, 0.0),
                DVec4::new(0.0, 0.0, 0.0, -1.0),
                DVec4::new(0.0, 0.0, 1.0, 0.0),
            ),
        };
        let eye_world = view.world_from_view.w_axis.truncate();
        Transforms {
            pose,
            clip_from_world: clip_from_view * view.view_from_world,
            eye_from_world: DMat4::from_translation(-eye_world),
            world_from_eye: DMat4::from_translation(eye_world),
        }
    }

    fn clip_rows(&self, world_from_local: DMat4) -> [[f32; 4]; 3] {
        let m = self.clip_from_world * world_from_local;
        [row(m, 0), row(m, 1), row(m, 2)]
    }

    fn fill(&self, instance: &mut Instance, world_from_local: DMat4) {
        let m = self.clip_from_world * world_from_local;
        instance.clip_from_local = [row(m, 0), row(m, 1), row(m, 2), row(m, 3)];
        instance.eye_from_local = affine_rows(self.eye_from_world * world_from_local);
        let linear = DMat3::from_mat4(world_from_local);
        let (a, b, c) = (linear.x_axis, linear.y_axis, linear.z_axis);
        let determinant = a.dot(b.cross(c));
        if determinant < 0.0 {
            instance.flags |= instance_flags::MIRRORED;
        }
        // The cofactor matrix is the inverse transpose times the determinant; it exists where that is zero too.
        let sign = if determinant < 0.0 { -1.0 } else { 1.0 };
        instance.scale = small(libm::cbrt(determinant.abs())).min(FACTOR_MAX);
        let cofactor = [b.cross(c), c.cross(a), a.cross(b)];
        let largest = cofactor.iter().fold(0.0f64, |m, v| m.max(v.abs().max_element()));
        let scale = if largest > 0.0 { sign / largest } else { 0.0 };
        let [x, y, z] = cofactor.map(|v| v * scale);
        instance.normal_from_local = [
            [small(x.x), small(y.x), small(z.x), 0.0],
            [small(x.y), small(y.y), small(z.y), 0.0],
            [small(x.z), small(y.z), small(z.z), 0.0],
        ];
    }
}

/// Rounds to f32; what would underflow the passes' products becomes 0.
fn small(x: f64) -> f32 {
    if x.abs() < 1e-18 { 0.0 } else { x as f32 }
}

fn row(m: DMat4, k: usize) -> [f32; 4] {
    let r = m.row(k);
    [small(r.x), small(r.y), small(r.z), small(r.w)]
}

fn affine_rows(m: DMat4) -> [[f32; 4]; 3] {
    [row(m, 0), row(m, 1), row(m, 2)]
}

fn pack_lights(
    scene: &crate::scene::Scene,
    moments: &Moments,
    request: &FrameRequest,
) -> Result<Vec<PackedLight>, RenderError> {
    let (pose, view) = &moments.current;
    let placed = pose::lights(scene, pose, &request.lighting);
    if placed.len() > LIGHTS_MAX {
        return Err(RenderError::Request {
            field: "scene",
            reason: format!("{} lights, at most {LIGHTS_MAX} are drawn", placed.len()),
        });
    }
    let eye_world = view.world_from_view.w_axis.truncate();
    let f = |v: DVec3| [small(v.x), small(v.y), small(v.z)];
    Ok(placed
        .iter()
        .map(|l| {
            let scale = 1.0 / f64::from((l.cos_inner - l.cos_outer).max(0.001));
            PackedLight {
                position_eye: f(l.position_world - eye_world),
                kind: match l.kind {
                    PlacedKind::Directional => light_kind::DIRECTIONAL,
                    PlacedKind::Point => light_kind::POINT,
                    PlacedKind::Spot => light_kind::SPOT,
                },
                direction: match l.kind {
                    PlacedKind::Directional => f(-l.direction_world),
                    _ => f(l.direction_world),
                },
                inverse_range2: if l.range > 0.0 {
                    small(1.0 / (f64::from(l.range) * f64::from(l.range)))
                } else {
                    0.0
                },
                linear_color: l.linear_color.map(|c| c.min(1e8)),
                spot_scale: scale as f32,
                spot_offset: (-f64::from(l.cos_outer) * scale) as f32,
                padding: [0; 3],
            }
        })
        .collect())
}

fn constants(
    view: &View,
    environment: &Environment,
    request: &FrameRequest,
    color: ColorFormat,
    lights: &[PackedLight],
    scene: &crate::scene::Scene,
) -> FrameConstants {
    let lighting = &request.lighting;
    let axes = DMat3::from_mat4(view.world_from_view);
    let f = |v: DVec3| [small(v.x), small(v.y), small(v.z), 0.0];
    let (orthographic, focal, znear, zfar) = match view.lens {
        Lens::Perspective { focal_px, znear, zfar } => {
            (0, focal_px, znear, zfar.unwrap_or(f64::from(f32::MAX)))
        }
        Lens::Orthographic { px_per_unit, znear, zfar } => (1, px_per_unit, znear, zfar),
    };
    let (ray_x, ray_y, ray_0) = if orthographic == 1 {
        (DVec3::ZERO, DVec3::ZERO, -axes.z_axis)
    } else {
        (axes.x_axis / focal, -axes.y_axis / focal, -axes.z_axis)
    };
    let turn = f64::from(lighting.environment_rotation_rad);
    let (background, background_linear) = match request.background {
        Background::Transparent => (background_kind::TRANSPARENT, [0.0; 4]),
        Background::Srgb(srgb) => {
            let [r, g, b] = srgb.map(|c| crate::image::srgb::SRGB8_TO_LINEAR[c as usize]);
            (background_kind::CONSTANT, [r, g, b, 1.0])
        }
        Background::Environment => (background_kind::ENVIRONMENT, [0.0; 4]),
    };
    let lit_by_file = lighting.punctual && !scene.lights.is_empty() || lighting.sun.is_some();
    let environment_light = lighting.environment.unwrap_or(request.environment.is_some() || !lit_by_file);
    FrameConstants {
        zero: 0,
        width: request.width,
        height: request.height,
        samples: request.samples,
        orthographic,
        key_scale: (-1.0 / (zfar - znear)) as f32,
        key_offset: (zfar / (zfar - znear)) as f32,
        znear: znear as f32,
        zfar: zfar as f32,
        exposure: libm::exp2(f64::from(request.exposure_ev)) as f32,
        tonemap: match request.tonemap {
            Tonemap::None => curve::NONE,
            Tonemap::Neutral => curve::NEUTRAL,
            Tonemap::Aces => curve::ACES,
        },
        background,
        light_count: lights.len() as u32,
        environment_light: environment_light as u32,
        environment_intensity: lighting.environment_intensity,
        background_side: environment.background_side,
        environment_cos: small(libm::cos(turn)),
        environment_sin: small(libm::sin(turn)),
        outputs: Output::all()
            .enumerate()
            .filter(|(_, o)| request.outputs.contains(o))
            .fold(0, |bits, (k, _)| bits | 1 << k),
        srgb8: (color == ColorFormat::Srgb8) as u32,
        background_linear,
        to_viewer: f(axes.z_axis),
        ray_x: f(ray_x),
        ray_y: f(ray_y),
        ray_0: f(ray_0),
        irradiance_sh: environment.irradiance_sh,
    }
}
