//! What the material extensions add to the metallic-roughness core. Each type's default changes nothing.

use serde::Serialize;

use super::error::SceneError;
use super::material::MaterialReader;
use super::reader::{finite, finite_array};
use super::{Material, TextureRef, json};

/// Largest thickness and unbounded factor kept, 2^40: products of three of them stay finite.
pub(crate) const FACTOR_MAX: f32 = 1_099_511_627_776.0;

/// KHR_materials_specular: strength and colour of dielectric reflection.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Specular {
    /// 0 to 1.
    pub strength: f32,
    /// Strength in the fourth channel.
    pub texture: Option<TextureRef>,
    /// Linear RGB, 0 or more: what it multiplies is clamped to 1.
    pub color: [f32; 3],
    /// sRGB.
    pub color_texture: Option<TextureRef>,
}

impl Default for Specular {
    fn default() -> Self {
        Specular { strength: 1.0, texture: None, color: [1.0; 3], color_texture: None }
    }
}

/// KHR_materials_clearcoat: a clear dielectric layer over everything else.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Clearcoat {
    /// 0 to 1.
    pub strength: f32,
    /// Strength in the first channel.
    pub texture: Option<TextureRef>,
    /// Perceptual, 0 to 1.
    pub roughness: f32,
    /// Roughness in the second channel.
    pub roughness_texture: Option<TextureRef>,
    pub normal_texture: Option<TextureRef>,
    pub normal_scale: f32,
}

impl Default for Clearcoat {
    fn default() -> Self {
        Clearcoat {
            strength: 0.0,
            texture: None,
            roughness: 0.0,
            roughness_texture: None,
            normal_texture: None,
            normal_scale: 1.0,
        }
    }
}

/// KHR_materials_sheen: fibres that stand up from a surface.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Sheen {
    /// Linear RGB, 0 to 1.
    pub color: [f32; 3],
    /// sRGB.
    pub color_texture: Option<TextureRef>,
    /// Perceptual, 0 to 1.
    pub roughness: f32,
    /// Roughness in the fourth channel.
    pub roughness_texture: Option<TextureRef>,
}

/// KHR_materials_anisotropy: highlights stretched along a direction.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Anisotropy {
    /// 0 to 1.
    pub strength: f32,
    /// Counter-clockwise from the tangent.
    pub rotation_rad: f32,
    /// Direction in the first two channels, -1 to 1; strength in the third.
    pub texture: Option<TextureRef>,
}

/// KHR_materials_transmission: the share of light that is not diffused but let through.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Transmission {
    /// 0 to 1.
    pub strength: f32,
    /// Strength in the first channel.
    pub texture: Option<TextureRef>,
}

/// KHR_materials_volume: what lies beneath a surface that transmits.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Volume {
    /// 0: the surface bounds no volume. *Space*: mesh local. *Units*: scene units.
    pub thickness: f32,
    /// Thickness in the second channel.
    pub thickness_texture: Option<TextureRef>,
    /// Linear RGB that white light has after `attenuation_distance`, 0 to 1.
    pub attenuation_color: [f32; 3],
    /// None: nothing is absorbed. *Space*: world. *Units*: scene units.
    pub attenuation_distance: Option<f32>,
}

impl Default for Volume {
    fn default() -> Self {
        Volume {
            thickness: 0.0,
            thickness_texture: None,
            attenuation_color: [1.0; 3],
            attenuation_distance: None,
        }
    }
}

/// KHR_materials_iridescence: a thin film in which light interferes with itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Iridescence {
    /// 0 to 1.
    pub strength: f32,
    /// Strength in the first channel.
    pub texture: Option<TextureRef>,
    /// Of the film, at least 1.
    pub ior: f32,
    /// Where the texture is 0.
    pub thickness_min_nm: f32,
    /// Where the texture is 1, or absent. May be below the other.
    pub thickness_max_nm: f32,
    /// Thickness in the second channel.
    pub thickness_texture: Option<TextureRef>,
}

impl Default for Iridescence {
    fn default() -> Self {
        Iridescence {
            strength: 0.0,
            texture: None,
            ior: 1.3,
            thickness_min_nm: 100.0,
            thickness_max_nm: 400.0,
            thickness_texture: None,
        }
    }
}

impl Material {
    /// The UV set that tangents are made from, where this material needs tangents.
    pub(crate) fn tangent_uv_set(&self) -> Option<u32> {
        let coat = self.clearcoat.normal_texture.filter(|_| self.clearcoat.strength > 0.0);
        let mapped = self.normal_texture.or(coat).map(|texture| texture.uv_set);
        let stretched = self.anisotropy.texture.map_or(0, |texture| texture.uv_set);
        mapped.or((self.anisotropy.strength > 0.0).then_some(stretched))
    }
}

impl MaterialReader<'_, '_, '_> {
    /// Reads all extensions that add lobes.
    pub(super) fn lobes(
        &mut self,
        json: &json::MaterialExtensions,
        material: &mut Material,
    ) -> Result<(), SceneError> {
        if let Some(ior) = json.ior.as_ref().and_then(|ior| ior.ior) {
            material.ior = if ior == 0.0 { 0.0 } else { self.at_least(1.0, "ior", ior)? };
        }
        if let Some(specular) = &json.specular {
            material.specular = self.specular(specular)?;
        }
        if let Some(clearcoat) = &json.clearcoat {
            material.clearcoat = self.clearcoat(clearcoat)?;
        }
        if let Some(sheen) = &json.sheen {
            material.sheen = self.sheen(sheen)?;
        }
        if let Some(anisotropy) = &json.anisotropy {
            material.anisotropy = self.anisotropy(anisotropy)?;
        }
        if let Some(transmission) = &json.transmission {
            material.transmission = Transmission {
                strength: self.share("transmissionFactor", transmission.transmission_factor, 0.0)?,
                texture: self.texture("transmissionTexture", transmission.transmission_texture.as_ref())?,
            };
        }
        if let Some(volume) = &json.volume {
            material.volume = self.volume(volume)?;
        }
        if let Some(iridescence) = &json.iridescence {
            material.iridescence = self.iridescence(iridescence)?;
        }
        Ok(())
    }

    fn specular(&mut self, json: &json::Specular) -> Result<Specular, SceneError> {
        let mut color = [1.0; 3];
        for (channel, value) in color.iter_mut().zip(json.specular_color_factor.unwrap_or([1.0; 3])) {
            *channel = self.at_least(0.0, "specularColorFactor", value)?;
        }
        Ok(Specular {
            strength: self.share("specularFactor", json.specular_factor, 1.0)?,
            texture: self.texture("specularTexture", json.specular_texture.as_ref())?,
            color,
            color_texture: self.texture("specularColorTexture", json.specular_color_texture.as_ref())?,
        })
    }

    fn clearcoat(&mut self, json: &json::Clearcoat) -> Result<Clearcoat, SceneError> {
        let (normal_texture, normal_scale) =
            self.normal_texture("clearcoatNormalTexture", json.clearcoat_normal_texture.as_ref())?;
        let roughness_texture = json.clearcoat_roughness_texture.as_ref();
        Ok(Clearcoat {
            strength: self.share("clearcoatFactor", json.clearcoat_factor, 0.0)?,
            texture: self.texture("clearcoatTexture", json.clearcoat_texture.as_ref())?,
            roughness: self.share("clearcoatRoughnessFactor", json.clearcoat_roughness_factor, 0.0)?,
            roughness_texture: self.texture("clearcoatRoughnessTexture", roughness_texture)?,
            normal_texture,
            normal_scale,
        })
    }

    fn sheen(&mut self, json: &json::Sheen) -> Result<Sheen, SceneError> {
        let roughness_texture = json.sheen_roughness_texture.as_ref();
        Ok(Sheen {
            color: self.unit_range("sheenColorFactor", json.sheen_color_factor.unwrap_or([0.0; 3]))?,
            color_texture: self.texture("sheenColorTexture", json.sheen_color_texture.as_ref())?,
            roughness: self.share("sheenRoughnessFactor", json.sheen_roughness_factor, 0.0)?,
            roughness_texture: self.texture("sheenRoughnessTexture", roughness_texture)?,
        })
    }

    fn anisotropy(&mut self, json: &json::Anisotropy) -> Result<Anisotropy, SceneError> {
        let what = format!("{} anisotropyRotation", self.what);
        Ok(Anisotropy {
            strength: self.share("anisotropyStrength", json.anisotropy_strength, 0.0)?,
            rotation_rad: finite(|| what, json.anisotropy_rotation.unwrap_or(0.0))?,
            texture: self.texture("anisotropyTexture", json.anisotropy_texture.as_ref())?,
        })
    }

    fn volume(&mut self, json: &json::Volume) -> Result<Volume, SceneError> {
        let color = json.attenuation_color.unwrap_or([1.0; 3]);
        let mut distance = None;
        if let Some(value) = json.attenuation_distance {
            let [value] = finite_array(&format!("{} attenuationDistance", self.what), [value])?;
            if value > 0.0 {
                distance = Some(value);
            } else {
                let what = &self.what;
                self.reader.note(format!("{what} attenuationDistance is not above 0: nothing is absorbed"));
            }
        }
        Ok(Volume {
            thickness: self.at_least(0.0, "thicknessFactor", json.thickness_factor.unwrap_or(0.0))?,
            thickness_texture: self.texture("thicknessTexture", json.thickness_texture.as_ref())?,
            attenuation_color: self.unit_range("attenuationColor", color)?,
            attenuation_distance: distance,
        })
    }

    fn iridescence(&mut self, json: &json::Iridescence) -> Result<Iridescence, SceneError> {
        let mut thickness = |name: &str, value: Option<f64>, absent: f32| {
            self.at_least(0.0, name, value.unwrap_or(f64::from(absent)))
        };
        let min = thickness("iridescenceThicknessMinimum", json.iridescence_thickness_minimum, 100.0)?;
        let max = thickness("iridescenceThicknessMaximum", json.iridescence_thickness_maximum, 400.0)?;
        let thickness_texture = json.iridescence_thickness_texture.as_ref();
        Ok(Iridescence {
            strength: self.share("iridescenceFactor", json.iridescence_factor, 0.0)?,
            texture: self.texture("iridescenceTexture", json.iridescence_texture.as_ref())?,
            ior: self.at_least(1.0, "iridescenceIor", json.iridescence_ior.unwrap_or(1.3))?,
            thickness_min_nm: min,
            thickness_max_nm: max,
            thickness_texture: self.texture("iridescenceThicknessTexture", thickness_texture)?,
        })
    }

    /// A factor of 0 to 1.
    fn share(&mut self, name: &str, value: Option<f64>, absent: f64) -> Result<f32, SceneError> {
        let [share] = self.unit_range(name, [value.unwrap_or(absent)])?;
        Ok(share)
    }

    /// Clamps to `least` and more, notes where that changes something.
    fn at_least(&mut self, least: f32, name: &str, value: f64) -> Result<f32, SceneError> {
        let [value] = finite_array(&format!("{} {name}", self.what), [value])?;
        let clamped = value.clamp(least, FACTOR_MAX);
        if clamped != value {
            let bound = if value < least { "at least" } else { "at most" };
            self.reader.note(format!("{} {name} is clamped to {bound} {clamped}", self.what));
        }
        Ok(clamped)
    }
}
