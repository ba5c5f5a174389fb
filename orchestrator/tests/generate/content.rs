//! What scenes hold, and that the manifest says so.

use std::collections::{BTreeMap, BTreeSet};

use isoframe_raster::environment::{Environment, EnvironmentLimits};
use isoframe_raster::scene::{AlphaMode, LightKind};

use super::{SAMPLES, Sample};

/// Extensions that are written for renderers that read them; the loader may say that it does not.
const LOBES: [&str; 8] = [
    "KHR_materials_anisotropy",
    "KHR_materials_clearcoat",
    "KHR_materials_ior",
    "KHR_materials_iridescence",
    "KHR_materials_sheen",
    "KHR_materials_specular",
    "KHR_materials_transmission",
    "KHR_materials_volume",
];

fn json(sample: &Sample) -> serde_json::Value {
    let glb = &sample.made.glb;
    let size = u32::from_le_bytes(glb[12..16].try_into().expect("four bytes")) as usize;
    serde_json::from_slice(&glb[20..20 + size]).expect("JSON")
}

fn has(sample: &Sample, tag: &str) -> bool {
    sample.made.entry.tags.iter().any(|other| other == tag)
}

#[test]
fn the_loader_has_nothing_to_say_but_what_it_does_not_read() {
    for Sample { made, read } in SAMPLES.iter() {
        let unexpected: Vec<_> = read
            .notes
            .iter()
            .filter(|note| !LOBES.iter().any(|name| note.starts_with(&format!("extension {name} "))))
            .collect();
        assert!(unexpected.is_empty(), "{}: {unexpected:?}", made.entry.file);
    }
}

#[test]
fn extensions_are_used_and_none_is_required() {
    let mut seen = BTreeSet::new();
    for sample in SAMPLES.iter() {
        let json = json(sample);
        assert!(json.get("extensionsRequired").is_none());
        let text = json.to_string();
        for name in json["extensionsUsed"].as_array().expect("a list") {
            let name = name.as_str().expect("a name").to_owned();
            assert!(text.matches(&name).count() > 1, "{}: {name} is not used", sample.made.entry.file);
            seen.insert(name);
        }
    }
    for name in LOBES.iter().chain(&["KHR_lights_punctual", "KHR_materials_emissive_strength"]) {
        assert!(seen.contains(*name), "no scene uses {name}");
    }
}

#[test]
fn nothing_in_a_file_is_unused() {
    for Sample { made, read } in SAMPLES.iter() {
        let drawn: BTreeSet<u32> = read
            .meshes
            .iter()
            .flat_map(|mesh| &mesh.primitives)
            .map(|primitive| primitive.material)
            .collect();
        // The last one is glTF's default.
        assert_eq!(drawn.len(), read.materials.len() - 1, "{}", made.entry.file);
        let placed: BTreeSet<u32> = read.nodes.iter().filter_map(|node| node.mesh).collect();
        assert_eq!(placed.len(), read.meshes.len(), "{}", made.entry.file);
        assert_eq!(read.images.len(), read.textures.len(), "{}", made.entry.file);
    }
}

#[test]
fn sizes_are_in_bounds_and_as_the_manifest_says() {
    for Sample { made, read } in SAMPLES.iter() {
        let entry = &made.entry;
        let triangles = |mesh: u32| -> usize {
            read.meshes[mesh as usize].primitives.iter().map(|primitive| primitive.indices.len() / 3).sum()
        };
        let drawn: usize = read.nodes.iter().filter_map(|node| node.mesh).map(triangles).sum();
        assert_eq!(entry.triangle_count, drawn as u64, "{}", entry.file);
        assert!((1000..200_000).contains(&drawn), "{}: {drawn} triangles", entry.file);
        assert_eq!(entry.bytes, made.glb.len() as u64);
        assert!(entry.bytes < 8 << 20, "{}: {} bytes", entry.file, entry.bytes);
        assert_eq!(entry.blake3, read.hash, "the hash that frame requests name it by");
    }
}

#[test]
fn the_manifest_says_what_lights_a_scene() {
    for Sample { made, read } in SAMPLES.iter() {
        let mut kinds = BTreeSet::new();
        for light in read.nodes.iter().filter_map(|node| node.light) {
            kinds.insert(match read.lights[light as usize].kind {
                LightKind::Directional => "directional",
                LightKind::Point => "point",
                LightKind::Spot { .. } => "spot",
            });
        }
        if read.materials.iter().any(|material| material.emissive != [0.0; 3]) {
            kinds.insert("emissive");
        }
        if made.entry.environment.is_some() {
            kinds.insert("environment");
        }
        assert!(!kinds.is_empty(), "{} is dark", made.entry.file);
        assert!(made.entry.light_kinds.iter().map(String::as_str).eq(kinds), "{}", made.entry.file);
    }
}

#[test]
fn the_manifest_says_what_is_special() {
    for sample in SAMPLES.iter() {
        let (entry, read) = (&sample.made.entry, &sample.read);
        let alpha = |wanted: fn(&AlphaMode) -> bool| {
            read.materials.iter().any(|material| wanted(&material.alpha_mode))
        };
        let nodes = |wanted: fn(&isoframe_raster::scene::Node) -> bool| read.nodes.iter().any(wanted);
        for (tag, there) in [
            ("mask", alpha(|mode| matches!(mode, AlphaMode::Mask { .. }))),
            ("blend", alpha(|mode| *mode == AlphaMode::Blend)),
            ("motion", !read.animations.is_empty()),
            ("skin", nodes(|node| node.skin.is_some())),
            ("morph", read.meshes.iter().any(|mesh| !mesh.weights.is_empty())),
        ] {
            assert_eq!(has(sample, tag), there, "{}: {tag}", entry.file);
        }
        assert_eq!(entry.cameras.len(), read.cameras.len());
        assert!(!entry.cameras.is_empty());
        let duration = read.animations.first().map_or(0.0, |animation| f64::from(animation.duration_s));
        assert_eq!(entry.times_s.len() > 1, duration > 0.0);
        assert!(entry.times_s.iter().all(|time| (0.0..=duration).contains(time)));
    }
}

#[test]
fn shares_are_as_promised() {
    let share = |wanted: &dyn Fn(&Sample) -> bool| {
        SAMPLES.iter().filter(|sample| wanted(sample)).count() as f64 / SAMPLES.len() as f64
    };
    for (tag, least) in [
        ("hard_light", 1.0 / 3.0),
        ("interior", 0.3),
        ("exterior", 0.2),
        ("product", 0.15),
        ("indirect", 0.1),
        ("sun_gap", 0.1),
        ("tiny_lights", 0.05),
        ("many_lights", 0.05),
        ("caustic", 0.03),
        ("mask", 0.2),
        ("blend", 0.1),
        ("glass", 0.3),
        ("thin", 0.3),
        ("motion", 0.2),
        ("moving_camera", 0.1),
        ("skin", 0.02),
        ("morph", 0.02),
    ] {
        let found = share(&|sample| has(sample, tag));
        assert!(found >= least, "{tag}: {found:.2}, promised {least:.2}");
    }
    for kind in ["directional", "point", "spot", "emissive", "environment"] {
        let found = share(&|sample| sample.made.entry.light_kinds.iter().any(|other| other == kind));
        assert!(found >= 0.08, "{kind}: {found:.2}");
    }
}

#[test]
fn panoramas_are_as_the_manifest_says() {
    for Sample { made, .. } in SAMPLES.iter() {
        assert_eq!(made.entry.environment.is_some(), made.environment.is_some(), "{}", made.entry.file);
        if let (Some(entry), Some(bytes)) = (&made.entry.environment, &made.environment) {
            assert_eq!(blake3::hash(bytes).to_hex().as_str(), entry.blake3);
            assert!((0.0..360.0).contains(&entry.rotation_deg) && entry.intensity > 0.0);
        }
    }
}

#[test]
fn a_panorama_is_named_by_the_hash_of_frame_requests() {
    let Sample { made, .. } = &SAMPLES[0];
    let bytes = made.environment.as_deref().expect("a window");
    let environment = Environment::from_bytes(bytes, &EnvironmentLimits::default()).expect("an environment");
    assert_eq!(Some(environment.hash), made.entry.environment.as_ref().map(|entry| entry.blake3.clone()));
}

#[test]
fn every_kind_comes_round() {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for sample in &SAMPLES[..48] {
        *kinds.entry(&sample.made.entry.kind).or_default() += 1;
    }
    assert_eq!(kinds.len(), 24);
    assert!(kinds.values().all(|&count| count == 2), "{kinds:?}");
}
