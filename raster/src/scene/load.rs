//! From a source to a scene.

use super::accessor::accessors;
use super::animation::animations;
use super::camera::cameras;
use super::error::{SceneError, quote};
use super::file::{Files, buffers};
use super::graph::graph;
use super::light::lights;
use super::limits::{Budget, Limits, Notes, within};
use super::material::materials;
use super::mesh::meshes;
use super::node::nodes;
use super::reader::Reader;
use super::skin::skins;
use super::source::Source;
use super::texture::Textures;
use super::view::views;
use super::{Scene, extension, extent, json};

/// Reads a scene: everything is checked before it is believed, and sized before memory is taken.
///
/// *Errors*: the first thing found wrong, in a fixed order.
pub fn load(source: &Source, limits: &Limits) -> Result<Scene, SceneError> {
    let (root, scan) = json::parse(source.json(), limits)?;
    check_asset(&root)?;
    check_arrays(&root, limits)?;
    let mut notes = Notes::default();
    extension::check(&root, &scan, limits, &mut notes)?;
    // The graph needs no data, and no data is read for one that is broken.
    let graph = graph(&root, limits)?;
    let mut budget = Budget::new(limits);
    let mut files = Files::new(source);
    let buffers = buffers(&root, &mut files, &mut budget)?;
    let views = views(&root, &buffers, &mut budget)?;
    let accessors = accessors(&root, &views, limits)?;
    let quantized = extension::uses(&root, "KHR_mesh_quantization");
    let mut reader =
        Reader { root: &root, views: &views, accessors: &accessors, files, budget, notes, quantized };
    let reader = &mut reader;
    if root.scenes.as_ref().is_none_or(Vec::is_empty) && !root.nodes.is_empty() {
        reader.note("the file has no scene: nothing is drawn".into());
    }
    let cameras = cameras(reader)?;
    let lights = lights(reader)?;
    let variants = variants(reader);
    let mut textures = Textures::read(reader)?;
    let materials = materials(reader, &mut textures)?;
    let meshes = meshes(reader, &materials)?;
    let mut nodes = nodes(reader, &graph, &meshes)?;
    let skins = skins(reader, &graph, &mut nodes)?;
    extent::check(&nodes, &meshes, limits.coordinate)?;
    let animations = animations(reader, &graph, &meshes)?;
    let (textures, images) = textures.finish(reader)?;
    Ok(Scene {
        hash: reader.files.hash(),
        nodes,
        meshes,
        materials,
        textures,
        images,
        skins,
        animations,
        cameras,
        lights,
        variants,
        notes: std::mem::take(&mut reader.notes).finish(),
    })
}

/// Accepts glTF 2.x whose `minVersion` is 2.0.
fn check_asset(root: &json::Root) -> Result<(), SceneError> {
    let asset = root
        .asset
        .as_ref()
        .ok_or_else(|| SceneError::Structure { what: "asset".into(), reason: "it is missing" })?;
    let version = |text: &str| {
        let (major, minor) = text.split_once('.')?;
        Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
    };
    let refuse = |text: &str| Err(SceneError::Version { version: quote(text) });
    match version(&asset.version) {
        Some((2, _)) => {}
        _ => return refuse(&asset.version),
    }
    match asset.min_version.as_deref().map(|text| (text, version(text))) {
        None | Some((_, Some((2, 0)))) => Ok(()),
        Some((text, _)) => refuse(text),
    }
}

fn check_arrays(root: &json::Root, limits: &Limits) -> Result<(), SceneError> {
    let lengths = [
        ("accessors", root.accessors.len()),
        ("animations", root.animations.len()),
        ("buffers", root.buffers.len()),
        ("bufferViews", root.buffer_views.len()),
        ("cameras", root.cameras.len()),
        ("images", root.images.len()),
        ("materials", root.materials.len()),
        ("meshes", root.meshes.len()),
        ("samplers", root.samplers.len()),
        ("scenes", root.scenes.as_ref().map_or(0, Vec::len)),
        ("skins", root.skins.len()),
        ("textures", root.textures.len()),
    ];
    lengths
        .into_iter()
        .try_for_each(|(what, length)| within(what, "array_entries", length as u64, limits.array_entries))
}

/// Names of material variants; a name that is there already gets a number.
fn variants(reader: &mut Reader<'_, '_>) -> Vec<String> {
    let Some(extension) = &reader.root.extensions.variants else { return Vec::new() };
    let mut names: Vec<String> = Vec::with_capacity(extension.variants.len());
    let mut taken = std::collections::BTreeSet::new();
    for variant in &extension.variants {
        let mut name = variant.name.clone();
        let mut number = 2;
        while !taken.insert(name.clone()) {
            name = format!("{} ({number})", variant.name);
            number += 1;
        }
        if name != variant.name {
            reader.note(format!(
                "two variants are called \"{}\"; one is now \"{}\"",
                quote(&variant.name),
                quote(&name)
            ));
        }
        names.push(name);
    }
    names
}
