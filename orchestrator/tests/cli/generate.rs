//! `generate`: scenes into a folder, and what happens to what is there.

use super::*;

/// The quickest kinds: a box and wires.
const QUICK: [&str; 4] = ["--seed", "22", "--count", "2"];
const FILES: [&str; 2] = ["0000000022.glb", "0000000023.glb"];

fn generate(out: &str, more: &[&str]) -> Run {
    run(["generate", "--out", out].iter().copied().chain(more.iter().copied()))
}

fn manifest(folder: &str) -> serde_json::Value {
    let text = std::fs::read_to_string(Path::new(folder).join("scenes.json")).expect("a manifest");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn scenes_and_a_complete_manifest() {
    let folder = Folder::new();
    let out = folder.file("set");
    let report = generate(&out, &[&QUICK[..], &["--json"]].concat()).expect(0).json();
    assert_eq!((&report["scene_count"], &report["kept_count"]), (&2.into(), &0.into()));
    let scenes = manifest(&out)["scenes"].as_array().expect("a list").clone();
    assert_eq!(scenes.len(), 2);
    let mut bytes = 0;
    for (scene, file) in scenes.iter().zip(FILES) {
        assert_eq!(scene["file"], file);
        let data = std::fs::read(Path::new(&out).join(file)).expect("a scene");
        assert_eq!(scene["bytes"], data.len());
        assert_eq!(scene["blake3"], blake3::hash(&data).to_hex().as_str());
        bytes += data.len();
    }
    assert_eq!(report["bytes"], bytes);
    // Any other tool of the house takes them.
    let (scene, picture) = (Path::new(&out).join(FILES[0]), folder.file("picture.png"));
    render(&scene.to_string_lossy(), &picture, &["--camera", "0"]).expect(0);
}

#[test]
fn parts_and_thread_counts_give_the_same_files() {
    let folder = Folder::new();
    let (whole, parts) = (folder.file("whole"), folder.file("parts"));
    generate(&whole, &[&QUICK[..], &["--threads", "2"]].concat()).expect(0);
    generate(&parts, &["--seed", "23", "--count", "1", "--threads", "1"]).expect(0);
    generate(&parts, &["--seed", "22", "--count", "1"]).expect(0);
    for file in FILES.iter().chain(&["scenes.json"]) {
        let of = |set: &str| std::fs::read(Path::new(set).join(file)).expect("a file");
        assert!(of(&whole) == of(&parts), "{file}");
    }
}

#[test]
fn what_is_there_is_kept_and_what_is_missing_is_made() {
    let folder = Folder::new();
    let out = folder.file("set");
    generate(&out, &QUICK).expect(0);
    let before = manifest(&out);
    std::fs::remove_file(Path::new(&out).join(FILES[1])).expect("removed");
    let report = generate(&out, &[&QUICK[..], &["--json"]].concat()).expect(0).json();
    assert_eq!(report["kept_count"], 1);
    assert_eq!(manifest(&out), before);
    // A run that died before it could write a manifest.
    std::fs::remove_file(Path::new(&out).join("scenes.json")).expect("removed");
    let report = generate(&out, &[&QUICK[..], &["--json"]].concat()).expect(0).json();
    assert_eq!(report["kept_count"], 2);
    assert_eq!(manifest(&out), before);
}

#[test]
fn other_files_are_not_overwritten_unless_asked() {
    let folder = Folder::new();
    let out = folder.file("set");
    generate(&out, &QUICK).expect(0);
    let path = Path::new(&out).join(FILES[0]);
    let good = std::fs::read(&path).expect("a scene");
    std::fs::write(&path, b"mine").expect("written");
    let error = generate(&out, &[&QUICK[..], &["--json"]].concat()).expect(2).error();
    assert!(error["message"].as_str().expect("words").contains(FILES[0]), "{error}");
    assert!(error["hint"].as_str().expect("a hint").contains("--overwrite"), "{error}");
    assert_eq!(std::fs::read(&path).expect("still there"), b"mine");
    generate(&out, &[&QUICK[..], &["--overwrite"]].concat()).expect(0);
    assert!(std::fs::read(&path).expect("a scene") == good);
    for text in ["{}", "[", r#"{"generator":"isoframe-scenes-0","scenes":[]}"#] {
        let path = Path::new(&out).join("scenes.json");
        std::fs::write(&path, text).expect("written");
        generate(&out, &QUICK).expect(2);
        assert_eq!(std::fs::read_to_string(&path).expect("still there"), text);
    }
}

#[test]
fn a_number_of_triangles() {
    let folder = Folder::new();
    let out = folder.file("");
    let report = generate(&out, &["--triangles", "20000", "--json"]).expect(0).json();
    assert_eq!(report["triangle_count"], 20_000);
    let scene = "triangles-00020000-0000000000";
    assert_eq!(folder.names(), ["scenes.json".into(), format!("{scene}.glb"), format!("{scene}.hdr")]);
}

#[test]
fn mistakes() {
    let folder = Folder::new();
    let out = folder.file("set");
    for more in [
        &["--count", "0"] as &[&str],
        &["--triangles", "999"],
        &["--triangles", "20000001"],
        &["--triangles", "2000", "--count", "2"],
        &["--seed", "4294967295", "--count", "2"],
        &["--threads", "0"],
    ] {
        generate(&out, more).expect(2);
    }
    assert!(!Path::new(&out).exists());
    generate(&folder.file("missing/set"), &QUICK).expect(2);
    let file = folder.file("file");
    std::fs::write(&file, b"x").expect("written");
    generate(&file, &QUICK).expect(2);
}
