//! Members of glTF objects. Names are the specification's; numbers are `f64` and `u64` as JSON has them.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::lobes::{Anisotropy, Clearcoat, Ior, Iridescence, Sheen, Specular, Transmission, Volume};

/// Index of something in one of the root's arrays.
pub(crate) type Index = u32;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Root {
    pub asset: Option<Asset>,
    pub extensions_used: Vec<String>,
    pub extensions_required: Vec<String>,
    pub accessors: Vec<Accessor>,
    pub animations: Vec<Animation>,
    pub buffers: Vec<Buffer>,
    pub buffer_views: Vec<BufferView>,
    pub cameras: Vec<Camera>,
    pub images: Vec<Image>,
    pub materials: Vec<Material>,
    pub meshes: Vec<Mesh>,
    pub nodes: Vec<Node>,
    pub samplers: Vec<Sampler>,
    pub scene: Option<Index>,
    pub scenes: Option<Vec<Scene>>,
    pub skins: Vec<Skin>,
    pub textures: Vec<Texture>,
    pub extensions: RootExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RootExtensions {
    #[serde(rename = "KHR_lights_punctual")]
    pub lights: Option<RootLights>,
    #[serde(rename = "KHR_materials_variants")]
    pub variants: Option<RootVariants>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Asset {
    pub version: String,
    pub min_version: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Accessor {
    pub buffer_view: Option<Index>,
    pub byte_offset: Option<u64>,
    pub component_type: u32,
    #[serde(default)]
    pub normalized: bool,
    pub count: u64,
    #[serde(rename = "type")]
    pub kind: String,
    pub sparse: Option<Sparse>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Sparse {
    pub count: u64,
    pub indices: SparseIndices,
    pub values: SparseValues,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SparseIndices {
    pub buffer_view: Index,
    #[serde(default)]
    pub byte_offset: u64,
    pub component_type: u32,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SparseValues {
    pub buffer_view: Index,
    #[serde(default)]
    pub byte_offset: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Animation {
    #[serde(default)]
    pub name: String,
    pub channels: Vec<Channel>,
    pub samplers: Vec<AnimationSampler>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Channel {
    pub sampler: Index,
    pub target: ChannelTarget,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ChannelTarget {
    pub node: Option<Index>,
    pub path: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct AnimationSampler {
    pub input: Index,
    pub output: Index,
    pub interpolation: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Buffer {
    pub uri: Option<String>,
    pub byte_length: u64,
    #[serde(default)]
    pub extensions: BufferExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct BufferExtensions {
    #[serde(rename = "EXT_meshopt_compression")]
    pub meshopt: Option<MeshoptBuffer>,
    #[serde(rename = "KHR_meshopt_compression")]
    pub khr_meshopt: Option<MeshoptBuffer>,
}

impl BufferExtensions {
    /// Whether the buffer only serves loaders that cannot unpack the views that name it.
    pub fn is_fallback(&self) -> bool {
        [&self.meshopt, &self.khr_meshopt].into_iter().flatten().any(|buffer| buffer.fallback)
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct MeshoptBuffer {
    #[serde(default)]
    pub fallback: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BufferView {
    pub buffer: Index,
    #[serde(default)]
    pub byte_offset: u64,
    pub byte_length: u64,
    pub byte_stride: Option<u64>,
    #[serde(default)]
    pub extensions: BufferViewExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct BufferViewExtensions {
    #[serde(rename = "EXT_meshopt_compression")]
    pub meshopt: Option<MeshoptView>,
    #[serde(rename = "KHR_meshopt_compression")]
    pub khr_meshopt: Option<MeshoptView>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MeshoptView {
    pub buffer: Index,
    #[serde(default)]
    pub byte_offset: u64,
    pub byte_length: u64,
    pub byte_stride: u64,
    pub count: u64,
    pub mode: String,
    pub filter: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Camera {
    #[serde(default)]
    pub name: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub perspective: Option<Perspective>,
    pub orthographic: Option<Orthographic>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Perspective {
    pub aspect_ratio: Option<f64>,
    pub yfov: f64,
    pub zfar: Option<f64>,
    pub znear: f64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Orthographic {
    pub xmag: f64,
    pub ymag: f64,
    pub zfar: f64,
    pub znear: f64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Image {
    #[serde(default)]
    pub name: String,
    pub uri: Option<String>,
    pub mime_type: Option<String>,
    pub buffer_view: Option<Index>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Material {
    pub name: String,
    pub pbr_metallic_roughness: Option<PbrMetallicRoughness>,
    pub normal_texture: Option<NormalTexture>,
    pub occlusion_texture: Option<OcclusionTexture>,
    pub emissive_texture: Option<TextureInfo>,
    pub emissive_factor: Option<[f64; 3]>,
    pub alpha_mode: Option<String>,
    pub alpha_cutoff: Option<f64>,
    pub double_sided: bool,
    pub extensions: MaterialExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct MaterialExtensions {
    #[serde(rename = "KHR_materials_unlit")]
    pub unlit: Option<Empty>,
    #[serde(rename = "KHR_materials_emissive_strength")]
    pub emissive_strength: Option<EmissiveStrength>,
    #[serde(rename = "KHR_materials_ior")]
    pub ior: Option<Ior>,
    #[serde(rename = "KHR_materials_specular")]
    pub specular: Option<Specular>,
    #[serde(rename = "KHR_materials_clearcoat")]
    pub clearcoat: Option<Clearcoat>,
    #[serde(rename = "KHR_materials_sheen")]
    pub sheen: Option<Sheen>,
    #[serde(rename = "KHR_materials_anisotropy")]
    pub anisotropy: Option<Anisotropy>,
    #[serde(rename = "KHR_materials_transmission")]
    pub transmission: Option<Transmission>,
    #[serde(rename = "KHR_materials_volume")]
    pub volume: Option<Volume>,
    #[serde(rename = "KHR_materials_iridescence")]
    pub iridescence: Option<Iridescence>,
}

/// An object of which only its presence counts.
#[derive(Debug, Deserialize)]
pub(crate) struct Empty {}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EmissiveStrength {
    pub emissive_strength: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct PbrMetallicRoughness {
    pub base_color_factor: Option<[f64; 4]>,
    pub base_color_texture: Option<TextureInfo>,
    pub metallic_factor: Option<f64>,
    pub roughness_factor: Option<f64>,
    pub metallic_roughness_texture: Option<TextureInfo>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TextureInfo {
    pub index: Index,
    #[serde(default)]
    pub tex_coord: u32,
    #[serde(default)]
    pub extensions: TextureInfoExtensions,
}

#[derive(Debug, Deserialize)]
pub(crate) struct NormalTexture {
    #[serde(flatten)]
    pub info: TextureInfo,
    pub scale: Option<f64>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct OcclusionTexture {
    #[serde(flatten)]
    pub info: TextureInfo,
    pub strength: Option<f64>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TextureInfoExtensions {
    #[serde(rename = "KHR_texture_transform")]
    pub transform: Option<TextureTransform>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct TextureTransform {
    pub offset: Option<[f64; 2]>,
    pub rotation: Option<f64>,
    pub scale: Option<[f64; 2]>,
    pub tex_coord: Option<u32>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Mesh {
    #[serde(default)]
    pub name: String,
    pub primitives: Vec<Primitive>,
    pub weights: Option<Vec<f64>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Primitive {
    pub attributes: BTreeMap<String, Index>,
    pub indices: Option<Index>,
    pub material: Option<Index>,
    pub mode: Option<u32>,
    #[serde(default)]
    pub targets: Vec<BTreeMap<String, Index>>,
    #[serde(default)]
    pub extensions: PrimitiveExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PrimitiveExtensions {
    #[serde(rename = "KHR_materials_variants")]
    pub variants: Option<PrimitiveVariants>,
    #[serde(rename = "KHR_draco_mesh_compression")]
    pub draco: Option<Empty>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PrimitiveVariants {
    pub mappings: Vec<VariantMapping>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct VariantMapping {
    pub material: Index,
    pub variants: Vec<Index>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct RootVariants {
    pub variants: Vec<Variant>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Variant {
    pub name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Node {
    pub name: String,
    pub camera: Option<Index>,
    pub children: Vec<Index>,
    pub skin: Option<Index>,
    pub matrix: Option<[f64; 16]>,
    pub mesh: Option<Index>,
    pub rotation: Option<[f64; 4]>,
    pub scale: Option<[f64; 3]>,
    pub translation: Option<[f64; 3]>,
    pub weights: Option<Vec<f64>>,
    pub extensions: NodeExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct NodeExtensions {
    #[serde(rename = "KHR_lights_punctual")]
    pub light: Option<NodeLight>,
    #[serde(rename = "KHR_node_visibility")]
    pub visibility: Option<NodeVisibility>,
    #[serde(rename = "EXT_mesh_gpu_instancing")]
    pub instancing: Option<Instancing>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct NodeLight {
    pub light: Index,
}

#[derive(Debug, Deserialize)]
pub(crate) struct NodeVisibility {
    pub visible: Option<bool>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Instancing {
    pub attributes: BTreeMap<String, Index>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct RootLights {
    pub lights: Vec<Light>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Light {
    #[serde(default)]
    pub name: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub color: Option<[f64; 3]>,
    pub intensity: Option<f64>,
    pub range: Option<f64>,
    pub spot: Option<Spot>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Spot {
    pub inner_cone_angle: Option<f64>,
    pub outer_cone_angle: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Sampler {
    pub mag_filter: Option<u32>,
    pub min_filter: Option<u32>,
    pub wrap_s: Option<u32>,
    pub wrap_t: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Scene {
    pub nodes: Vec<Index>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Skin {
    #[serde(default)]
    pub name: String,
    pub inverse_bind_matrices: Option<Index>,
    pub skeleton: Option<Index>,
    pub joints: Vec<Index>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Texture {
    pub sampler: Option<Index>,
    pub source: Option<Index>,
    /// Extensions that offer the image in another format.
    pub extensions: BTreeMap<String, TextureSource>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct TextureSource {
    pub source: Option<Index>,
}
