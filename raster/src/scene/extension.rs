//! Which extensions are read, which are refused, and which are ignored.

use super::error::{SceneError, quote};
use super::json;
use super::json::Scan;
use super::limits::{Limits, Notes};

/// Extensions whose meaning is honoured in full.
const READ: &[&str] = &[
    "EXT_mesh_gpu_instancing",
    "EXT_meshopt_compression",
    "EXT_texture_webp",
    "KHR_lights_punctual",
    "KHR_materials_anisotropy",
    "KHR_materials_clearcoat",
    "KHR_materials_emissive_strength",
    "KHR_materials_ior",
    "KHR_materials_iridescence",
    "KHR_materials_sheen",
    "KHR_materials_specular",
    "KHR_materials_transmission",
    "KHR_materials_unlit",
    "KHR_materials_variants",
    "KHR_materials_volume",
    "KHR_mesh_quantization",
    "KHR_meshopt_compression",
    "KHR_node_visibility",
    "KHR_texture_transform",
];

/// Extensions that carry no meaning for a picture: nothing is lost by not reading them, so they are not noted.
const WITHOUT_PICTURE: &[&str] = &["KHR_xmp_json_ld", "KHR_xmp"];

/// Extensions that are not read, and what happens instead.
const INSTEAD: &[(&str, &str)] = &[
    ("KHR_draco_mesh_compression", "the plain data beside it is used"),
    ("KHR_materials_dispersion", "all colours are refracted alike"),
    ("KHR_texture_basisu", "the fallback image beside it is used"),
    ("KHR_materials_pbrSpecularGlossiness", "the metallic-roughness values beside it are used"),
    ("KHR_animation_pointer", "animations of anything but nodes are ignored"),
];

/// Whether the file uses an extension.
pub(crate) fn uses(root: &json::Root, name: &str) -> bool {
    root.extensions_used.iter().chain(&root.extensions_required).any(|used| used == name)
}

/// Refuses files that require what is not read, and notes what is used but not read.
pub(crate) fn check(
    root: &json::Root,
    scan: &Scan,
    limits: &Limits,
    notes: &mut Notes,
) -> Result<(), SceneError> {
    for name in &root.extensions_required {
        if !READ.contains(&name.as_str()) && !WITHOUT_PICTURE.contains(&name.as_str()) {
            return Err(SceneError::UnsupportedExtension { name: quote(name) });
        }
    }
    let declared = |name: &String| uses(root, name);
    for name in scan.extensions.iter().filter(|name| !declared(name)) {
        notes.add(limits, format!("extension {} is used but not declared in extensionsUsed", quote(name)));
    }
    let mut used: Vec<&String> = root.extensions_used.iter().chain(&scan.extensions).collect();
    used.sort_unstable();
    used.dedup();
    for name in used {
        if READ.contains(&name.as_str()) || WITHOUT_PICTURE.contains(&name.as_str()) {
            continue;
        }
        let instead = INSTEAD.iter().find(|(known, _)| known == name);
        let effect = instead.map_or("it is ignored", |(_, effect)| effect);
        notes.add(limits, format!("extension {} is not rendered: {effect}", quote(name)));
    }
    Ok(())
}
