//! Materials: core metallic-roughness, unlit, emissive strength, texture transforms. Further lobes: `lobes`.

use super::error::{SceneError, quote};
use super::file::get;
use super::reader::{Reader, finite, finite_array};
use super::texture::Textures;
use super::{AlphaMode, Material, TextureRef, json};

/// Largest radiance kept: the largest finite half float.
const RADIANCE_MAX: f32 = 65504.0;

/// Reads all materials and appends glTF's default material.
pub(crate) fn materials(
    reader: &mut Reader<'_, '_>,
    textures: &mut Textures,
) -> Result<Vec<Material>, SceneError> {
    let mut materials = Vec::with_capacity(reader.root.materials.len() + 1);
    for (index, material) in reader.root.materials.iter().enumerate() {
        materials
            .push(MaterialReader { reader, textures, what: format!("material {index}") }.read(material)?);
    }
    materials.push(Material::default());
    Ok(materials)
}

pub(super) struct MaterialReader<'m, 'a, 's> {
    pub reader: &'m mut Reader<'a, 's>,
    textures: &'m mut Textures,
    pub what: String,
}

impl MaterialReader<'_, '_, '_> {
    fn read(mut self, json: &json::Material) -> Result<Material, SceneError> {
        let default_pbr = json::PbrMetallicRoughness::default();
        let pbr = json.pbr_metallic_roughness.as_ref().unwrap_or(&default_pbr);
        let mut material = Material { name: json.name.clone(), ..Material::default() };
        if let Some(color) = pbr.base_color_factor {
            material.base_color = self.unit_range("baseColorFactor", color)?;
        }
        material.base_color_texture = self.texture("baseColorTexture", pbr.base_color_texture.as_ref())?;
        if let Some(metallic) = pbr.metallic_factor {
            [material.metallic] = self.unit_range("metallicFactor", [metallic])?;
        }
        if let Some(roughness) = pbr.roughness_factor {
            [material.roughness] = self.unit_range("roughnessFactor", [roughness])?;
        }
        let metallic_roughness = pbr.metallic_roughness_texture.as_ref();
        material.metallic_roughness_texture = self.texture("metallicRoughnessTexture", metallic_roughness)?;
        (material.normal_texture, material.normal_scale) =
            self.normal_texture("normalTexture", json.normal_texture.as_ref())?;
        if let Some(occlusion) = &json.occlusion_texture {
            material.occlusion_texture = self.texture("occlusionTexture", Some(&occlusion.info))?;
            [material.occlusion_strength] =
                self.unit_range("occlusionTexture strength", [occlusion.strength.unwrap_or(1.0)])?;
        }
        material.emissive = self.emissive(json)?;
        material.emissive_texture = self.texture("emissiveTexture", json.emissive_texture.as_ref())?;
        material.alpha_mode = self.alpha_mode(json)?;
        material.double_sided = json.double_sided;
        material.unlit = json.extensions.unlit.is_some();
        self.lobes(&json.extensions, &mut material)?;
        Ok(material)
    }

    /// Clamps to 0..1 and notes where that changes something.
    pub(super) fn unit_range<const N: usize>(
        &mut self,
        name: &str,
        values: [f64; N],
    ) -> Result<[f32; N], SceneError> {
        let values = finite_array(&format!("{} {name}", self.what), values)?;
        let clamped = values.map(|value| value.clamp(0.0, 1.0));
        if clamped != values {
            self.reader.note(format!("{} {name} is clamped to 0..1", self.what));
        }
        Ok(clamped)
    }

    fn emissive(&mut self, json: &json::Material) -> Result<[f32; 3], SceneError> {
        let factor = self.unit_range("emissiveFactor", json.emissive_factor.unwrap_or([0.0; 3]))?;
        let strength = json.extensions.emissive_strength.as_ref().and_then(|s| s.emissive_strength);
        let Some(strength) = strength else { return Ok(factor) };
        let what = format!("{} emissiveStrength", self.what);
        let strength_f32 = finite(|| what.clone(), strength)?;
        if strength_f32 < 0.0 {
            return Err(SceneError::ValueOutOfRange { what, value: strength, allowed: "0 or more" });
        }
        let emissive = factor.map(|value| value * strength_f32);
        if emissive.iter().any(|&value| value > RADIANCE_MAX) {
            self.reader.note(format!("{} emission is clamped to {RADIANCE_MAX}", self.what));
        }
        Ok(emissive.map(|value| value.min(RADIANCE_MAX)))
    }

    fn alpha_mode(&mut self, json: &json::Material) -> Result<AlphaMode, SceneError> {
        let what = format!("{} alphaCutoff", self.what);
        let cutoff = finite(|| what, json.alpha_cutoff.unwrap_or(0.5))?;
        match json.alpha_mode.as_deref() {
            None | Some("OPAQUE") => Ok(AlphaMode::Opaque),
            Some("MASK") => Ok(AlphaMode::Mask { cutoff }),
            Some("BLEND") => Ok(AlphaMode::Blend),
            Some(other) => {
                self.reader.note(format!(
                    "{}: alphaMode \"{}\" is unknown, OPAQUE is used",
                    self.what,
                    quote(other)
                ));
                Ok(AlphaMode::Opaque)
            }
        }
    }

    /// A normal map and its scale.
    pub(super) fn normal_texture(
        &mut self,
        name: &str,
        normal: Option<&json::NormalTexture>,
    ) -> Result<(Option<TextureRef>, f32), SceneError> {
        let Some(normal) = normal else { return Ok((None, 1.0)) };
        let texture = self.texture(name, Some(&normal.info))?;
        let what = format!("{} {name} scale", self.what);
        Ok((texture, finite(|| what, normal.scale.unwrap_or(1.0))?))
    }

    /// A texture with its transform; left out, with a note, where it has no image or needs a third UV set.
    pub(super) fn texture(
        &mut self,
        name: &str,
        info: Option<&json::TextureInfo>,
    ) -> Result<Option<TextureRef>, SceneError> {
        let Some(info) = info else { return Ok(None) };
        let what = format!("{} {name}", self.what);
        get(&self.reader.root.textures, info.index, "texture", || what.clone())?;
        let transform = info.extensions.transform.clone().unwrap_or_default();
        let uv_set = transform.tex_coord.unwrap_or(info.tex_coord);
        let uv_transform = uv_transform(&what, &transform)?;
        if uv_set > 1 {
            self.reader.note(format!(
                "{what} is left out: it needs TEXCOORD_{uv_set}, and only sets 0 and 1 are read"
            ));
            return Ok(None);
        }
        let texture = self.textures.use_texture(info.index, &what)?;
        Ok(texture.map(|texture| TextureRef { texture, uv_set, uv_transform }))
    }
}

/// KHR_texture_transform as rows: translation * rotation * scale, rotation counter-clockwise in radians where v
/// points down.
fn uv_transform(what: &str, transform: &json::TextureTransform) -> Result<[f32; 6], SceneError> {
    let what = format!("{what} KHR_texture_transform");
    let offset = finite_array(&what, transform.offset.unwrap_or([0.0; 2]))?;
    let scale = finite_array(&what, transform.scale.unwrap_or([1.0; 2]))?;
    let rotation = f64::from(finite(|| what.clone(), transform.rotation.unwrap_or(0.0))?);
    let (sin, cos) = (libm::sin(rotation), libm::cos(rotation));
    let [scale_u, scale_v] = scale.map(f64::from);
    let rows = [
        cos * scale_u,
        sin * scale_v,
        f64::from(offset[0]),
        -sin * scale_u,
        cos * scale_v,
        f64::from(offset[1]),
    ];
    finite_array(&what, rows)
}
