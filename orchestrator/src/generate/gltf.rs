//! The part of glTF 2.0 that is written here. Structs, not maps: their fields keep their order in every build.

use serde::Serialize;

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Root {
    pub asset: Asset,
    pub extensions_used: Vec<&'static str>,
    pub scene: u32,
    pub scenes: Vec<Scene>,
    pub nodes: Vec<Node>,
    pub meshes: Vec<Mesh>,
    pub materials: Vec<Material>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub textures: Vec<Texture>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub samplers: Vec<Sampler>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skins: Vec<Skin>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub animations: Vec<Animation>,
    pub cameras: Vec<Camera>,
    pub accessors: Vec<Accessor>,
    pub buffer_views: Vec<BufferView>,
    pub buffers: Vec<Buffer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extensions: Option<RootExtensions>,
}

#[derive(Debug, Serialize)]
pub(super) struct Asset {
    pub version: &'static str,
    pub generator: &'static str,
}

impl Default for Asset {
    fn default() -> Self {
        Asset { version: "2.0", generator: "isoframe generate" }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Scene {
    pub nodes: Vec<u32>,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Node {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub translation: Option<[f32; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotation: Option<[f32; 4]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<[f32; 3]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mesh: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skin: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub camera: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extensions: Option<NodeExtensions>,
}

#[derive(Debug, Serialize)]
pub(super) struct NodeExtensions {
    #[serde(rename = "KHR_lights_punctual")]
    pub light: NodeLight,
}

#[derive(Debug, Serialize)]
pub(super) struct NodeLight {
    pub light: u32,
}

#[derive(Debug, Serialize)]
pub(super) struct Mesh {
    pub name: String,
    pub primitives: Vec<Primitive>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<f32>,
}

#[derive(Debug, Serialize)]
pub(super) struct Primitive {
    pub attributes: Attributes,
    pub indices: u32,
    pub material: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Attributes>,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) struct Attributes {
    pub position: u32,
    pub normal: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub texcoord_0: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joints_0: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights_0: Option<u32>,
}

#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Material {
    pub name: String,
    pub pbr_metallic_roughness: Pbr,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normal_texture: Option<TextureInfo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emissive_factor: Option<[f32; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha_mode: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha_cutoff: Option<f32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub double_sided: bool,
    #[serde(skip_serializing_if = "Lobes::is_empty")]
    pub extensions: Lobes,
}

impl Material {
    /// All that it refers to.
    pub(super) fn textures(&mut self) -> impl Iterator<Item = &mut TextureInfo> {
        let pbr = &mut self.pbr_metallic_roughness;
        let textures =
            [&mut pbr.base_color_texture, &mut pbr.metallic_roughness_texture, &mut self.normal_texture];
        textures.into_iter().flatten()
    }
}

#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Pbr {
    pub base_color_factor: [f32; 4],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_color_texture: Option<TextureInfo>,
    pub metallic_factor: f32,
    pub roughness_factor: f32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metallic_roughness_texture: Option<TextureInfo>,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct TextureInfo {
    pub index: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extensions: Option<TextureExtensions>,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct TextureExtensions {
    #[serde(rename = "KHR_texture_transform")]
    pub transform: TextureTransform,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct TextureTransform {
    pub rotation: f32,
    pub scale: [f32; 2],
}

macro_rules! lobes {
    ($($name:ident: $lobe:ident $key:literal),* $(,)?) => {
        /// The extensions of a material.
        #[derive(Debug, Clone, Default, Serialize)]
        pub(super) struct Lobes {
            $(#[serde(rename = $key, skip_serializing_if = "Option::is_none")] pub $name: Option<$lobe>,)*
        }

        impl Lobes {
            /// Names of those that are there.
            pub(super) fn names(&self) -> Vec<&'static str> {
                let mut names = Vec::new();
                $(if self.$name.is_some() { names.push($key); })*
                names
            }

            fn is_empty(&self) -> bool {
                self.names().is_empty()
            }
        }
    };
}

lobes! {
    anisotropy: Anisotropy "KHR_materials_anisotropy",
    clearcoat: Clearcoat "KHR_materials_clearcoat",
    emissive_strength: EmissiveStrength "KHR_materials_emissive_strength",
    ior: Ior "KHR_materials_ior",
    iridescence: Iridescence "KHR_materials_iridescence",
    sheen: Sheen "KHR_materials_sheen",
    specular: Specular "KHR_materials_specular",
    transmission: Transmission "KHR_materials_transmission",
    volume: Volume "KHR_materials_volume",
}

macro_rules! lobe {
    ($($name:ident { $($field:ident: $kind:ty),* $(,)? })*) => {$(
        #[derive(Debug, Clone, Default, Serialize)]
        #[serde(rename_all = "camelCase")]
        pub(super) struct $name { $(pub $field: $kind),* }
    )*};
}

lobe! {
    Anisotropy { anisotropy_strength: f32, anisotropy_rotation: f32 }
    Clearcoat { clearcoat_factor: f32, clearcoat_roughness_factor: f32 }
    EmissiveStrength { emissive_strength: f32 }
    Ior { ior: f32 }
    Iridescence {
        iridescence_factor: f32,
        iridescence_ior: f32,
        iridescence_thickness_minimum: f32,
        iridescence_thickness_maximum: f32,
    }
    Sheen { sheen_color_factor: [f32; 3], sheen_roughness_factor: f32 }
    Specular { specular_factor: f32, specular_color_factor: [f32; 3] }
    Transmission { transmission_factor: f32 }
    Volume { thickness_factor: f32, attenuation_distance: f32, attenuation_color: [f32; 3] }
}

#[derive(Debug, Serialize)]
pub(super) struct Texture {
    pub source: u32,
    pub sampler: u32,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Image {
    pub name: String,
    pub buffer_view: u32,
    pub mime_type: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sampler {
    pub mag_filter: u32,
    pub min_filter: u32,
    pub wrap_s: u32,
    pub wrap_t: u32,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Skin {
    pub joints: Vec<u32>,
    pub inverse_bind_matrices: u32,
}

#[derive(Debug, Serialize)]
pub(super) struct Animation {
    pub name: &'static str,
    pub channels: Vec<Channel>,
    pub samplers: Vec<AnimationSampler>,
}

#[derive(Debug, Serialize)]
pub(super) struct Channel {
    pub sampler: u32,
    pub target: Target,
}

#[derive(Debug, Serialize)]
pub(super) struct Target {
    pub node: u32,
    pub path: &'static str,
}

#[derive(Debug, Serialize)]
pub(super) struct AnimationSampler {
    pub input: u32,
    pub interpolation: &'static str,
    pub output: u32,
}

#[derive(Debug, Serialize)]
pub(super) struct Camera {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub perspective: Perspective,
}

#[derive(Debug, Serialize)]
pub(super) struct Perspective {
    pub yfov: f32,
    pub znear: f32,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    pub buffer_view: u32,
    pub component_type: u32,
    pub count: u32,
    #[serde(rename = "type")]
    pub kind: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub min: Vec<f32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub max: Vec<f32>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BufferView {
    pub buffer: u32,
    pub byte_offset: u64,
    pub byte_length: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<u32>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Buffer {
    pub byte_length: u64,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct RootExtensions {
    #[serde(rename = "KHR_lights_punctual")]
    pub lights: Lights,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Lights {
    pub lights: Vec<Light>,
}

#[derive(Debug, Serialize)]
pub(super) struct Light {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub color: [f32; 3],
    pub intensity: f32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spot: Option<Spot>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Spot {
    pub inner_cone_angle: f32,
    pub outer_cone_angle: f32,
}
