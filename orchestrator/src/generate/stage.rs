//! A scene while it is built: what stands where, what must stay free, and what the manifest will say of it.

use std::collections::{BTreeMap, BTreeSet};

use glam::{DQuat, DVec3};

use super::GenerateError;
use super::glb::{Glb, Range, f32x3, push};
use super::gltf;
use super::manifest::Camera;
use super::mesh::{Bounds, Mesh, Pose};
use super::rng::Rng;
use super::texture::{Picture, Rgb};

/// Parts of one thing, each with its material.
pub(super) type Parts = Vec<(Mesh, u32)>;

/// Where a viewer stands and looks; nothing is put there, nor close before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Viewpoint {
    pub eye: DVec3,
    pub target: DVec3,
    pub yfov_rad: f64,
}

/// Clear space around an eye. *Units*: metres.
pub(super) const EYE_CLEARANCE_M: f64 = 0.45;

/// A mesh that may be drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draft(usize);

#[derive(Debug)]
struct Made {
    name: String,
    /// Until it is written.
    parts: Parts,
    bounds: Bounds,
    triangles: u64,
    /// Its glTF mesh.
    written: Option<u32>,
}

#[derive(Debug)]
pub(super) struct Stage {
    pub glb: Glb,
    /// The seed's generator, only ever forked.
    pub rng: Rng,
    pub tags: BTreeSet<&'static str>,
    pub light_kinds: BTreeSet<&'static str>,
    pub cameras: Vec<Camera>,
    pub exposure_ev: f64,
    /// Light from around: intensity and turn in degrees.
    pub around: Option<(f64, f64)>,
    pub triangles: u64,
    /// Top-level nodes.
    pub roots: Vec<u32>,
    pub tracks: Vec<(gltf::Channel, gltf::AnimationSampler)>,
    pub duration_s: f64,
    /// By glTF texture.
    pub pictures: Vec<Picture>,
    /// Materials by what they are for.
    pub roles: BTreeMap<String, u32>,
    meshes: Vec<Made>,
    obstacles: Vec<Bounds>,
    clear: Vec<Bounds>,
}

impl Stage {
    pub(super) fn new(rng: Rng) -> Stage {
        Stage {
            glb: Glb::default(),
            rng,
            tags: BTreeSet::new(),
            light_kinds: BTreeSet::new(),
            cameras: Vec::new(),
            exposure_ev: 0.0,
            around: None,
            triangles: 0,
            roots: Vec::new(),
            tracks: Vec::new(),
            duration_s: 0.0,
            pictures: Vec::new(),
            roles: BTreeMap::new(),
            meshes: Vec::new(),
            obstacles: Vec::new(),
            clear: Vec::new(),
        }
    }

    /// Says that the file uses an extension.
    pub(super) fn uses(&mut self, extension: &'static str) {
        let used = &mut self.glb.root.extensions_used;
        if let Err(at) = used.binary_search(&extension) {
            used.insert(at, extension);
        }
    }

    /// A mesh that nodes can draw. It goes into the file with the first of them.
    pub(super) fn mesh(&mut self, name: &str, parts: Parts) -> Draft {
        let points = parts.iter().flat_map(|(mesh, _)| mesh.position.iter().copied());
        let bounds = Bounds::of(points);
        let triangles = parts.iter().map(|(mesh, _)| mesh.triangle_count() as u64).sum();
        self.meshes.push(Made { name: name.to_owned(), parts, bounds, triangles, written: None });
        Draft(self.meshes.len() - 1)
    }

    /// The glTF mesh of a draft.
    fn written(&mut self, Draft(index): Draft) -> u32 {
        let made = &mut self.meshes[index];
        if let Some(mesh) = made.written {
            return mesh;
        }
        let parts = std::mem::take(&mut made.parts);
        let primitives = parts.iter().map(|(mesh, material)| self.glb.primitive(mesh, *material)).collect();
        let mesh = gltf::Mesh { name: made.name.clone(), primitives, weights: Vec::new() };
        *made.written.insert(push(&mut self.glb.root.meshes, mesh))
    }

    /// A node that draws a mesh, wherever it may be.
    pub(super) fn fix(&mut self, name: &str, mesh: Draft, pose: Pose) -> u32 {
        self.triangles += self.meshes[mesh.0].triangles;
        let node = gltf::Node { mesh: Some(self.written(mesh)), ..posed(name, pose) };
        self.root(node)
    }

    /// A node that draws a mesh and takes up its place; none where something is in the way.
    pub(super) fn place(&mut self, name: &str, mesh: Draft, pose: Pose) -> Option<u32> {
        let bounds = self.meshes[mesh.0].bounds.moved(&pose);
        if !self.free(&bounds) {
            return None;
        }
        self.obstacles.push(bounds);
        Some(self.fix(name, mesh, pose))
    }

    /// A thing of its own, if there is room for it.
    pub(super) fn put(&mut self, name: &str, parts: Parts, pose: Pose) -> Option<u32> {
        let points = parts.iter().flat_map(|(mesh, _)| mesh.position.iter().copied());
        if !self.free(&Bounds::of(points).moved(&pose)) {
            return None;
        }
        let mesh = self.mesh(name, parts);
        self.place(name, mesh, pose)
    }

    /// A thing that belongs where it is: walls, ground.
    pub(super) fn build(&mut self, name: &str, parts: Parts) -> u32 {
        let mesh = self.mesh(name, parts);
        self.fix(name, mesh, Pose::IDENTITY)
    }

    /// The same in a pose, for what takes up no room.
    pub(super) fn build_at(&mut self, name: &str, parts: Parts, pose: Pose) -> u32 {
        let mesh = self.mesh(name, parts);
        self.fix(name, mesh, pose)
    }

    /// Makes top-level nodes the children of one that stands at the origin, unturned.
    pub(super) fn adopt(&mut self, parent: u32, children: &[u32]) {
        self.roots.retain(|node| !children.contains(node));
        self.glb.root.nodes[parent as usize].children.extend(children);
    }

    /// Whether nothing stands there, and no viewer.
    pub(super) fn free(&self, bounds: &Bounds) -> bool {
        !self.obstacles.iter().chain(&self.clear).any(|other| other.overlaps(bounds))
    }

    /// Keeps a place free of what is put later.
    pub(super) fn block(&mut self, bounds: Bounds) {
        self.obstacles.push(bounds);
    }

    /// A node at the top.
    pub(super) fn root(&mut self, node: gltf::Node) -> u32 {
        let node = push(&mut self.glb.root.nodes, node);
        self.roots.push(node);
        node
    }

    /// A camera, and clear space around its eye and along the first half of its way to the target.
    pub(super) fn view(&mut self, name: &'static str, view: Viewpoint) -> u32 {
        for step in 0..6 {
            let t = f64::from(step) * 0.1;
            let at = view.eye + (view.target - view.eye) * t;
            // Nearest the eye things hide most.
            let around = EYE_CLEARANCE_M * (1.0 - t);
            self.clear.push(Bounds { min: at, max: at }.grown(around));
        }
        let perspective = gltf::Perspective { yfov: view.yfov_rad as f32, znear: 0.02 };
        let camera = gltf::Camera { name: name.to_owned(), kind: "perspective", perspective };
        let camera = push(&mut self.glb.root.cameras, camera);
        self.cameras.push(Camera { index: camera, name: name.to_owned() });
        let pose = Pose::to(view.eye).turned(look_rotation(view.target - view.eye));
        self.root(gltf::Node { camera: Some(camera), ..posed(name, pose) })
    }

    /// A point light. *Units*: candela.
    pub(super) fn point(&mut self, at: DVec3, color: Rgb, candela: f64) -> u32 {
        self.light_kinds.insert("point");
        self.light("point", Pose::to(at), color, candela, None)
    }

    /// A spot light. *Units*: candela, radians.
    pub(super) fn spot(&mut self, at: DVec3, target: DVec3, color: Rgb, candela: f64, outer_rad: f64) -> u32 {
        self.light_kinds.insert("spot");
        let pose = Pose::to(at).turned(look_rotation(target - at));
        let spot =
            gltf::Spot { inner_cone_angle: (outer_rad * 0.6) as f32, outer_cone_angle: outer_rad as f32 };
        self.light("spot", pose, color, candela, Some(spot))
    }

    /// The sun. *Units*: lux, of which pi makes a white surface that faces it have radiance 1.
    pub(super) fn sun(&mut self, direction: DVec3, color: Rgb, lux: f64) -> u32 {
        self.light_kinds.insert("directional");
        self.light("directional", Pose::IDENTITY.turned(look_rotation(direction)), color, lux, None)
    }

    /// Light from a panorama around the scene.
    pub(super) fn surround(&mut self, rng: &mut Rng, intensity: f64) {
        self.light_kinds.insert("environment");
        self.around = Some((intensity, rng.range(0.0, 360.0).floor()));
    }

    fn light(
        &mut self,
        kind: &'static str,
        pose: Pose,
        color: Rgb,
        intensity: f64,
        spot: Option<gltf::Spot>,
    ) -> u32 {
        self.uses("KHR_lights_punctual");
        let lights = &mut self.glb.root.extensions.get_or_insert_default().lights.lights;
        let light = gltf::Light {
            name: format!("{kind} {}", lights.len()),
            kind,
            color: color.map(|value| value as f32),
            intensity: intensity as f32,
            spot,
        };
        let name = light.name.clone();
        let light = push(lights, light);
        let extensions = Some(gltf::NodeExtensions { light: gltf::NodeLight { light } });
        self.root(gltf::Node { extensions, ..posed(&name, pose) })
    }

    /// Keys of one property of a node; `kind` is the accessor type of a value.
    pub(super) fn track<const N: usize>(
        &mut self,
        node: u32,
        path: &'static str,
        kind: &'static str,
        times_s: &[f64],
        values: &[[f32; N]],
    ) {
        self.tags.insert("motion");
        self.duration_s = times_s.iter().fold(self.duration_s, |longest, &time| longest.max(time));
        let times = times_s.iter().map(|&time| [time as f32]);
        let input = self.glb.floats("SCALAR", times, Range::Said, None);
        let output = self.glb.floats(kind, values.iter().copied(), Range::Unsaid, None);
        let channel =
            gltf::Channel { sampler: self.tracks.len() as u32, target: gltf::Target { node, path } };
        self.tracks.push((channel, gltf::AnimationSampler { input, interpolation: "LINEAR", output }));
    }

    /// What is said of materials, once it is known which there are.
    fn tell(&mut self) {
        let root = &mut self.glb.root;
        let mut used: BTreeSet<&'static str> = root.extensions_used.iter().copied().collect();
        for material in &mut root.materials {
            used.extend(material.extensions.names());
            if material.textures().next().is_some() {
                used.insert("KHR_texture_transform");
            }
            let tags = [
                (material.extensions.transmission.is_some(), "glass"),
                (material.alpha_mode == Some("BLEND"), "blend"),
                (material.alpha_mode == Some("MASK"), "mask"),
            ];
            self.tags.extend(tags.iter().filter(|(there, _)| *there).map(|(_, tag)| *tag));
            if material.emissive_factor.is_some() {
                self.light_kinds.insert("emissive");
            }
        }
        root.extensions_used = used.into_iter().collect();
    }

    /// Says what is in the scene; nothing is added after it.
    pub(super) fn close(&mut self) {
        self.prune();
        self.tell();
    }

    /// The file.
    pub(super) fn finish(mut self) -> Result<Vec<u8>, GenerateError> {
        for (index, picture) in self.pictures.iter().enumerate() {
            let png = picture.png()?;
            let buffer_view = self.glb.view(&png, None);
            let name = format!("picture {index}");
            self.glb.root.images.push(gltf::Image { name, buffer_view, mime_type: "image/png" });
            self.glb.root.textures.push(gltf::Texture { source: index as u32, sampler: 0 });
        }
        if !self.pictures.is_empty() {
            // Linear, linear between mips, repeat.
            let sampler = gltf::Sampler { mag_filter: 9729, min_filter: 9987, wrap_s: 10497, wrap_t: 10497 };
            self.glb.root.samplers.push(sampler);
        }
        if !self.tracks.is_empty() {
            let (channels, samplers) = std::mem::take(&mut self.tracks).into_iter().unzip();
            self.glb.root.animations.push(gltf::Animation { name: "motion", channels, samplers });
        }
        self.glb.root.scenes.push(gltf::Scene { nodes: std::mem::take(&mut self.roots) });
        self.glb.finish()
    }
}

/// A node with a pose; what is as by default is left out.
pub(super) fn posed(name: &str, pose: Pose) -> gltf::Node {
    gltf::Node {
        name: name.to_owned(),
        translation: (pose.translation != DVec3::ZERO).then(|| f32x3(pose.translation)),
        rotation: (pose.rotation != DQuat::IDENTITY).then(|| quaternion(pose.rotation)),
        scale: (pose.scale != DVec3::ONE).then(|| f32x3(pose.scale)),
        ..Default::default()
    }
}

pub(super) fn quaternion(rotation: DQuat) -> [f32; 4] {
    rotation.to_array().map(|value| value as f32 + 0.0)
}

/// What turns -Z to a direction and keeps +Y up.
pub(super) fn look_rotation(direction: DVec3) -> DQuat {
    let back = -direction.normalize_or(DVec3::NEG_Z);
    let right = DVec3::Y.cross(back).normalize_or(DVec3::X);
    DQuat::from_mat3(&glam::DMat3::from_cols(right, back.cross(right), back)).normalize()
}
