//! `inspect`: what is in a scene.

use super::*;

#[test]
fn the_demo_as_a_table_and_as_json() {
    let text = run(["inspect", "demo"]).expect(0).text();
    for word in ["ring gear", "planet gear", "glass", "hero", "run", "triangles"] {
        assert!(text.contains(word), "no `{word}` in\n{text}");
    }
    let summary = run(["inspect", "demo", "--json"]).expect(0).json();
    assert_eq!(summary["hash"].as_str().map(str::len), Some(64));
    let meshes = summary["meshes"].as_array().expect("meshes");
    let uses =
        |name: &str| meshes.iter().find(|mesh| mesh["name"] == name).map(|mesh| mesh["use_count"].clone());
    assert_eq!(uses("planet gear"), Some(3.into()), "three nodes draw it");
    assert_eq!(uses("ball"), Some(10.into()), "ten instances");
    let drawn: u64 = meshes
        .iter()
        .map(|mesh| {
            mesh["triangle_count"].as_u64().expect("a count") * mesh["use_count"].as_u64().expect("a count")
        })
        .sum();
    assert_eq!(summary["triangle_count"], drawn);
    assert_eq!(summary["animations"][0]["duration_s"], 8.0);
}

#[test]
fn what_will_be_ignored_is_said() {
    let folder = Folder::new();
    let path = folder.file("dispersion.gltf");
    let scene = r#"{"asset":{"version":"2.0"},"extensionsUsed":["KHR_materials_dispersion"],
        "materials":[{"extensions":{"KHR_materials_dispersion":{"dispersion":0.5}}}]}"#;
    std::fs::write(&path, scene).expect("written");
    let said = run(["inspect", &path]).expect(0).text();
    assert!(said.contains("ignored") && said.contains("KHR_materials_dispersion"), "{said}");
    let summary = run(["inspect", &path, "--json"]).expect(0).json();
    assert!(!summary["ignored"].as_array().expect("a list").is_empty());
}

#[test]
fn cameras_are_listed_as_the_flag_counts_them() {
    let summary = run(["inspect", &scene("skin"), "--json"]).expect(0).json();
    assert_eq!(summary["cameras"][0]["index"], 0);
    assert_eq!(summary["cameras"][0]["name"], "camera");
    let folder = Folder::new();
    let (by_index, by_name) = (folder.file("i.png"), folder.file("n.png"));
    render(&scene("skin"), &by_index, &["--camera", "0"]).expect(0);
    render(&scene("skin"), &by_name, &["--camera", "camera"]).expect(0);
    let picture = |path: &str| image::open(path).expect("readable").to_rgba8();
    assert!(picture(&by_index) == picture(&by_name));
}
