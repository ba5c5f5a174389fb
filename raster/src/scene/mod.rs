//! glTF in, plain validated data out.
//!
//! Everything here is finite, in range and acyclic: the passes check nothing again.

mod accessor;
mod animation;
mod archive;
mod camera;
mod error;
mod extension;
mod extent;
mod file;
mod glb;
mod graph;
mod instancing;
mod joints;
mod json;
mod light;
mod limits;
mod load;
mod lobes;
mod material;
mod mesh;
mod meshopt;
mod node;
mod normals;
mod primitive;
mod reader;
mod skin;
mod source;
mod tangents;
mod texture;
mod topology;
mod uri;
mod view;

pub use error::SceneError;
pub use limits::Limits;
pub use load::load;
pub(crate) use lobes::FACTOR_MAX;
pub use lobes::{Anisotropy, Clearcoat, Iridescence, Sheen, Specular, Transmission, Volume};
pub use source::Source;

use serde::Serialize;

/// A validated scene. Indices are into the vectors of this struct and always in range.
#[derive(Debug, Clone, Default)]
pub struct Scene {
    /// blake3 of the source, hex. A `.glb` or `.gltf` alone: of its bytes. With side files: see [`Scene::hash`]'s maker in `load`.
    pub hash: String,
    /// All nodes of the active scene and what they reach; parents come before children.
    pub nodes: Vec<Node>,
    /// Meshes.
    pub meshes: Vec<Mesh>,
    /// Materials; the last one is glTF's default material.
    pub materials: Vec<Material>,
    /// Textures: an image and how to sample it.
    pub textures: Vec<Texture>,
    /// Decoded images.
    pub images: Vec<Image>,
    /// Skins.
    pub skins: Vec<Skin>,
    /// Animations.
    pub animations: Vec<Animation>,
    /// Cameras (lens only; the node places it).
    pub cameras: Vec<Camera>,
    /// KHR_lights_punctual lights.
    pub lights: Vec<Light>,
    /// KHR_materials_variants names, unique.
    pub variants: Vec<String>,
    /// What the file holds that will be ignored, in words.
    pub notes: Vec<String>,
}

/// A node. *Space*: `local` maps node space to parent space.
#[derive(Debug, Clone, Default)]
pub struct Node {
    /// Index of this node in the glTF file.
    pub gltf_index: u32,
    /// Name, may be empty.
    pub name: String,
    /// Parent, always a lower index.
    pub parent: Option<u32>,
    /// Rest transform.
    pub local: Transform,
    /// Mesh drawn here.
    pub mesh: Option<u32>,
    /// Skin that moves the mesh; then this node's own transform is ignored.
    pub skin: Option<u32>,
    /// Camera.
    pub camera: Option<u32>,
    /// Light.
    pub light: Option<u32>,
    /// Morph weights of this node; absent: the mesh's.
    pub weights: Option<Vec<f32>>,
    /// KHR_node_visibility; hides the subtree.
    pub visible: bool,
    /// EXT_mesh_gpu_instancing: transforms applied before the node's own.
    pub instances: Option<Vec<Trs>>,
}

/// A local transform.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Transform {
    /// Translation, rotation, scale; what animations move.
    Trs(Trs),
    /// Column-major matrix; never animated.
    Matrix([f32; 16]),
}

impl Default for Transform {
    fn default() -> Self {
        Transform::Trs(Trs::default())
    }
}

/// Translation, unit quaternion (x, y, z, w), scale.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)]
pub struct Trs {
    pub translation: [f32; 3],
    pub rotation: [f32; 4],
    pub scale: [f32; 3],
}

impl Default for Trs {
    fn default() -> Self {
        Trs { translation: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0], scale: [1.0; 3] }
    }
}

/// A mesh.
#[derive(Debug, Clone, Default)]
pub struct Mesh {
    /// Name, may be empty.
    pub name: String,
    /// Primitives; those without POSITION are left out (and noted).
    pub primitives: Vec<Primitive>,
    /// Default morph weights, one per target (zeros when the file has none).
    pub weights: Vec<f32>,
}

/// What a primitive is made of; strips, fans and loops are expanded to lists on load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[allow(missing_docs)]
pub enum Topology {
    #[default]
    Triangles,
    Lines,
    Points,
}

/// One drawable. All attribute vectors have the length of `position`, or are empty where absent.
#[derive(Debug, Clone, Default)]
pub struct Primitive {
    /// Index of this primitive within its glTF mesh.
    pub gltf_index: u32,
    /// What `indices` lists.
    pub topology: Topology,
    /// Always explicit, all below `position.len()`, a multiple of 3, 2 or 1.
    pub indices: Vec<u32>,
    /// *Space*: mesh local.
    pub position: Vec<[f32; 3]>,
    /// Unit normals. Never empty for triangles: where the file has none, vertices are split and flat normals made.
    /// Empty for lines and points without NORMAL (drawn unlit).
    pub normal: Vec<[f32; 3]>,
    /// xyz unit tangent, w = handedness. Given or made (MikkTSpace) where the material or a variant needs them: for a normal map or anisotropy; else empty.
    pub tangent: Vec<[f32; 4]>,
    /// TEXCOORD_0.
    pub uv0: Vec<[f32; 2]>,
    /// TEXCOORD_1.
    pub uv1: Vec<[f32; 2]>,
    /// COLOR_0, linear RGBA in 0 to 1.
    pub color: Vec<[f32; 4]>,
    /// Joint indices into the skin, influences beyond the four largest kept in further sets of four.
    pub joints: Vec<[u16; 8]>,
    /// Joint weights, normalised to sum to one (all-zero rows become [1, 0, ...]); same length as `joints`.
    pub joint_weights: Vec<[f32; 8]>,
    /// Morph targets.
    pub targets: Vec<MorphTarget>,
    /// Material.
    pub material: u32,
    /// Material per variant, where the primitive names one. Same length as `Scene::variants`, or empty.
    pub variant_materials: Vec<Option<u32>>,
}

/// Displacements of one morph target; vectors are empty where absent, else as long as `position`.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs)]
pub struct MorphTarget {
    pub position: Vec<[f32; 3]>,
    pub normal: Vec<[f32; 3]>,
    pub tangent: Vec<[f32; 3]>,
}

/// How alpha is used.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub enum AlphaMode {
    /// Alpha is ignored.
    #[default]
    Opaque,
    /// Drawn where alpha is at least the cutoff.
    Mask {
        /// Cutoff, any finite value.
        cutoff: f32,
    },
    /// Blended over what lies behind.
    Blend,
}

/// Metallic-roughness material.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Material {
    pub name: String,
    /// Linear RGBA.
    pub base_color: [f32; 4],
    pub base_color_texture: Option<TextureRef>,
    pub metallic: f32,
    pub roughness: f32,
    pub metallic_roughness_texture: Option<TextureRef>,
    pub normal_texture: Option<TextureRef>,
    pub normal_scale: f32,
    pub occlusion_texture: Option<TextureRef>,
    pub occlusion_strength: f32,
    /// Linear RGB, already times KHR_materials_emissive_strength; 0 to 65504.
    pub emissive: [f32; 3],
    pub emissive_texture: Option<TextureRef>,
    pub alpha_mode: AlphaMode,
    pub double_sided: bool,
    /// KHR_materials_unlit.
    pub unlit: bool,
    /// KHR_materials_ior: at least 1, or 0 where everything is reflected.
    pub ior: f32,
    pub specular: Specular,
    pub clearcoat: Clearcoat,
    pub sheen: Sheen,
    pub anisotropy: Anisotropy,
    pub transmission: Transmission,
    pub volume: Volume,
    pub iridescence: Iridescence,
}

impl Default for Material {
    fn default() -> Self {
        Material {
            name: String::new(),
            base_color: [1.0; 4],
            base_color_texture: None,
            metallic: 1.0,
            roughness: 1.0,
            metallic_roughness_texture: None,
            normal_texture: None,
            normal_scale: 1.0,
            occlusion_texture: None,
            occlusion_strength: 1.0,
            emissive: [0.0; 3],
            emissive_texture: None,
            alpha_mode: AlphaMode::Opaque,
            double_sided: false,
            unlit: false,
            ior: 1.5,
            specular: Specular::default(),
            clearcoat: Clearcoat::default(),
            sheen: Sheen::default(),
            anisotropy: Anisotropy::default(),
            transmission: Transmission::default(),
            volume: Volume::default(),
            iridescence: Iridescence::default(),
        }
    }
}

/// A texture seen by a material.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TextureRef {
    /// Index into `Scene::textures`.
    pub texture: u32,
    /// 0 or 1.
    pub uv_set: u32,
    /// KHR_texture_transform as rows: u' = m0 u + m1 v + m2, v' = m3 u + m4 v + m5.
    pub uv_transform: [f32; 6],
}

/// How texture coordinates outside 0 to 1 are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[allow(missing_docs)]
pub enum Wrap {
    #[default]
    Repeat,
    Mirror,
    Clamp,
}

/// An image and how to sample it. *Defaults*: linear, linear between mips, repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Texture {
    pub image: u32,
    pub mag_linear: bool,
    pub min_linear: bool,
    /// None: level 0 only; Some(false): nearest level; Some(true): between levels.
    pub mip_linear: Option<bool>,
    pub wrap_u: Wrap,
    pub wrap_v: Wrap,
}

/// A decoded image: RGBA, 8 bit, straight alpha, rows from the top, as encoded (no colour management).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Image {
    pub name: String,
    pub width: u32,
    pub height: u32,
    pub rgba: Vec<[u8; 4]>,
}

/// A skin.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs)]
pub struct Skin {
    pub name: String,
    /// Nodes.
    pub joints: Vec<u32>,
    /// One per joint, column-major; identity where the file has none.
    pub inverse_bind: Vec<[f32; 16]>,
}

/// An animation.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs)]
pub struct Animation {
    pub name: String,
    pub channels: Vec<Channel>,
    /// Largest key time. *Units*: seconds.
    pub duration_s: f32,
}

/// What a channel moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ChannelPath {
    Translation,
    Rotation,
    Scale,
    Weights,
}

/// How values between keys are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Interpolation {
    Step,
    Linear,
    CubicSpline,
}

/// Keys of one property of one node.
#[derive(Debug, Clone)]
pub struct Channel {
    /// Node moved.
    pub node: u32,
    /// Property moved.
    pub path: ChannelPath,
    /// Interpolation.
    pub interpolation: Interpolation,
    /// Strictly increasing. *Units*: seconds. Not empty.
    pub times_s: Vec<f32>,
    /// `width` values per key (3 with in-tangent, value, out-tangent for cubic splines).
    pub values: Vec<f32>,
    /// Floats per value: 3, 4 or the number of morph targets.
    pub width: usize,
}

/// A lens.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum CameraKind {
    Perspective {
        yfov_rad: f32,
        aspect: Option<f32>,
        znear: f32,
        zfar: Option<f32>,
    },
    /// Half extents.
    Orthographic {
        xmag: f32,
        ymag: f32,
        znear: f32,
        zfar: f32,
    },
}

/// A camera of the file.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub struct Camera {
    pub name: String,
    pub kind: CameraKind,
}

/// Kind of a punctual light; shines along the node's -Z.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)]
pub enum LightKind {
    Directional,
    Point,
    Spot { inner_cone_rad: f32, outer_cone_rad: f32 },
}

/// A KHR_lights_punctual light.
#[derive(Debug, Clone, PartialEq)]
pub struct Light {
    /// Name, may be empty.
    pub name: String,
    /// Kind.
    pub kind: LightKind,
    /// Linear RGB.
    pub color: [f32; 3],
    /// *Units*: candela, or lux for directional.
    pub intensity: f32,
    /// Distance at which it fades to nothing. *Units*: scene units.
    pub range: Option<f32>,
}
