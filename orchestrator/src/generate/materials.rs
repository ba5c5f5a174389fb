//! Materials of a stage: made when first asked for, left out where nothing was made of them.

use super::glb::push;
use super::gltf;
use super::look::{Look, Surface};
use super::rng::Rng;
use super::stage::Stage;
use super::texture::{Cutout, Picture, Sampled, cutout};

impl Stage {
    /// The material that plays a role in this scene, made when first asked for.
    pub(super) fn role(&mut self, name: &str, make: impl FnOnce(&mut Rng) -> Look) -> u32 {
        if let Some(&material) = self.roles.get(name) {
            return material;
        }
        let mut rng = self.rng.fork(name);
        let look = make(&mut rng);
        let material = self.material(name, &look, &mut rng);
        self.roles.insert(name.to_owned(), material);
        material
    }

    fn material(&mut self, name: &str, look: &Look, rng: &mut Rng) -> u32 {
        let mut material = gltf::Material {
            name: name.to_owned(),
            pbr_metallic_roughness: gltf::Pbr {
                base_color_factor: [look.base[0], look.base[1], look.base[2], look.alpha]
                    .map(|value| value as f32),
                metallic_factor: look.metallic as f32,
                roughness_factor: look.roughness as f32,
                ..Default::default()
            },
            double_sided: look.double_sided,
            extensions: look.lobes.clone(),
            ..Default::default()
        };
        if let Some((color, radiance)) = look.emission {
            material.emissive_factor = Some(color.map(|value| value as f32));
            let emissive_strength = radiance as f32;
            material.extensions.emissive_strength = Some(gltf::EmissiveStrength { emissive_strength });
        }
        self.paint(&look.surface, &mut material, rng);
        push(&mut self.glb.root.materials, material)
    }

    fn paint(&mut self, surface: &Surface, material: &mut gltf::Material, rng: &mut Rng) {
        match *surface {
            Surface::Plain => {}
            Surface::Blend => material.alpha_mode = Some("BLEND"),
            Surface::Pattern { pattern, low, high, tile_m, relief, rough } => {
                let side = rng.pick(&[128, 128, 256, 256, 256, 512]);
                let sampled = Sampled::new(pattern, rng.bits() >> 1, side);
                let turn = if rng.chance(0.15) { rng.range(-0.8, 0.8) } else { 0.0 };
                let texture = |stage: &mut Stage, picture| stage.texture(picture, 1.0 / tile_m, turn);
                let pbr = &mut material.pbr_metallic_roughness;
                pbr.base_color_texture = Some(texture(self, sampled.color(low, high)));
                if rough {
                    pbr.metallic_roughness_texture = Some(texture(self, sampled.roughness()));
                }
                if relief > 0.0 {
                    material.normal_texture = Some(gltf::TextureInfo {
                        scale: Some(rng.range(0.5, 1.2) as f32),
                        ..texture(self, sampled.normals(relief / tile_m.max(0.3)))
                    });
                }
            }
            Surface::Cutout { cutout: kind, color, repeat } => {
                let picture = cutout(kind, rng, 256, color);
                material.pbr_metallic_roughness.base_color_texture = Some(self.texture(picture, repeat, 0.0));
                let blended = kind == Cutout::Decal;
                material.alpha_mode = Some(if blended { "BLEND" } else { "MASK" });
                material.alpha_cutoff = (!blended).then_some(0.5);
            }
        }
    }

    fn texture(&mut self, picture: Picture, scale: f64, rotation: f64) -> gltf::TextureInfo {
        self.pictures.push(picture);
        let transform = gltf::TextureTransform { rotation: rotation as f32, scale: [scale as f32; 2] };
        gltf::TextureInfo {
            index: self.pictures.len() as u32 - 1,
            scale: None,
            extensions: Some(gltf::TextureExtensions { transform }),
        }
    }

    /// Leaves out materials that were made for things that found no room, and their pictures.
    pub(super) fn prune(&mut self) {
        let root = &mut self.glb.root;
        let mut used = vec![false; root.materials.len()];
        for primitive in root.meshes.iter().flat_map(|mesh| &mesh.primitives) {
            used[primitive.material as usize] = true;
        }
        let renumbered = keep(&mut root.materials, &used);
        for primitive in root.meshes.iter_mut().flat_map(|mesh| &mut mesh.primitives) {
            primitive.material = renumbered[primitive.material as usize];
        }
        let mut used = vec![false; self.pictures.len()];
        for texture in root.materials.iter_mut().flat_map(gltf::Material::textures) {
            used[texture.index as usize] = true;
        }
        let renumbered = keep(&mut self.pictures, &used);
        for texture in root.materials.iter_mut().flat_map(gltf::Material::textures) {
            texture.index = renumbered[texture.index as usize];
        }
    }
}

/// Keeps the entries that are used, and says where each went.
fn keep<T>(list: &mut Vec<T>, used: &[bool]) -> Vec<u32> {
    let mut kept = 0;
    let renumbered = used.iter().map(|&used| {
        let index = kept;
        kept += u32::from(used);
        index
    });
    let renumbered = renumbered.collect();
    let mut used = used.iter();
    list.retain(|_| used.next() == Some(&true));
    renumbered
}
