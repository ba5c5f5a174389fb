//! Members of the material extensions that add lobes to the core's, as written.

use serde::Deserialize;

use super::{NormalTexture, TextureInfo};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Ior {
    pub ior: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Specular {
    pub specular_factor: Option<f64>,
    pub specular_texture: Option<TextureInfo>,
    pub specular_color_factor: Option<[f64; 3]>,
    pub specular_color_texture: Option<TextureInfo>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Clearcoat {
    pub clearcoat_factor: Option<f64>,
    pub clearcoat_texture: Option<TextureInfo>,
    pub clearcoat_roughness_factor: Option<f64>,
    pub clearcoat_roughness_texture: Option<TextureInfo>,
    pub clearcoat_normal_texture: Option<NormalTexture>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Sheen {
    pub sheen_color_factor: Option<[f64; 3]>,
    pub sheen_color_texture: Option<TextureInfo>,
    pub sheen_roughness_factor: Option<f64>,
    pub sheen_roughness_texture: Option<TextureInfo>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Anisotropy {
    pub anisotropy_strength: Option<f64>,
    pub anisotropy_rotation: Option<f64>,
    pub anisotropy_texture: Option<TextureInfo>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Transmission {
    pub transmission_factor: Option<f64>,
    pub transmission_texture: Option<TextureInfo>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Volume {
    pub thickness_factor: Option<f64>,
    pub thickness_texture: Option<TextureInfo>,
    pub attenuation_distance: Option<f64>,
    pub attenuation_color: Option<[f64; 3]>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Iridescence {
    pub iridescence_factor: Option<f64>,
    pub iridescence_texture: Option<TextureInfo>,
    pub iridescence_ior: Option<f64>,
    pub iridescence_thickness_minimum: Option<f64>,
    pub iridescence_thickness_maximum: Option<f64>,
    pub iridescence_thickness_texture: Option<TextureInfo>,
}
