//! Good files broken at random: whatever happens, it is an answer and not a panic.

use isoframe_raster::scene::Limits;
use proptest::prelude::*;
use serde_json::json;

use crate::common::gltf::{Gltf, U8, png};
use crate::load_within;

/// Small files that between them reach every part of the loader.
fn seeds() -> Vec<Vec<u8>> {
    let mut rich = Gltf::triangle();
    let texture = rich.texture(&png(2, 2, [1, 2, 3, 4]));
    rich.push("materials", json!({ "normalTexture": { "index": texture }, "alphaMode": "MASK" }));
    let indices = rich.accessor("SCALAR", U8, 4, &[0, 1, 2, 0]);
    let joints = rich.accessor("VEC4", U8, 3, &[0; 12]);
    let weights = rich.normalized("VEC4", U8, 3, &[255, 0, 0, 0].repeat(3));
    let uv = rich.floats("VEC2", &[0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
    let primitive = &mut rich.json["meshes"][0]["primitives"][0];
    primitive["indices"] = json!(indices);
    primitive["mode"] = json!(5);
    primitive["material"] = json!(0);
    primitive["targets"] = json!([{ "POSITION": 0 }]);
    primitive["attributes"]["JOINTS_0"] = json!(joints);
    primitive["attributes"]["WEIGHTS_0"] = json!(weights);
    primitive["attributes"]["TEXCOORD_0"] = json!(uv);
    let bone = rich.node(json!({}));
    rich.push("skins", json!({ "joints": [bone] }));
    rich.json["nodes"][0]["skin"] = json!(0);
    let (input, output) = (rich.floats("SCALAR", &[0.0, 1.0]), rich.floats("VEC3", &[0.0; 6]));
    let channel = json!({ "sampler": 0, "target": { "node": bone, "path": "scale" } });
    rich.push(
        "animations",
        json!({ "samplers": [{ "input": input, "output": output }], "channels": [channel] }),
    );
    let mut sparse = Gltf::triangle();
    let (at, values) = (sparse.view(&[1]), sparse.view(&[0; 12]));
    sparse.json["accessors"][0]["sparse"] = json!({
        "count": 1, "indices": { "bufferView": at, "componentType": U8 }, "values": { "bufferView": values },
    });
    vec![rich.glb(), rich.gltf(), sparse.glb(), sparse.gltf()]
}

fn small() -> Limits {
    Limits {
        geometry_bytes: 1 << 20,
        vertices: 10_000,
        triangles: 10_000,
        image_pixels: 10_000,
        accessor_elements: 10_000,
        ..Limits::default()
    }
}

#[test]
fn seeds_are_good() {
    seeds().into_iter().for_each(|seed| drop(load_within(seed, &small()).unwrap()));
}

/// The fuzz target begins with the same files. `ISOFRAME_REGENERATE` writes them, and fails all the same.
#[test]
fn fuzz_seeds_are_current() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds/scene_load");
    let names = ["rich.glb", "rich.gltf", "sparse.glb", "sparse.gltf"];
    let current = |name: &str, seed: &[u8]| std::fs::read(folder.join(name)).is_ok_and(|file| file == seed);
    let stale: Vec<_> = names.into_iter().zip(seeds()).filter(|(name, seed)| !current(name, seed)).collect();
    if std::env::var_os("ISOFRAME_REGENERATE").is_some() {
        std::fs::create_dir_all(&folder).unwrap();
        stale.iter().for_each(|(name, seed)| std::fs::write(folder.join(name), seed).unwrap());
    }
    let stale: Vec<_> = stale.into_iter().map(|(name, _)| name).collect();
    assert!(stale.is_empty(), "{stale:?} are not current; set ISOFRAME_REGENERATE=1 to renew them");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn broken_bytes(which in 0usize..4, cut in 0usize..1 << 16, edits in prop::collection::vec((0usize..1 << 16, any::<u8>()), 0..8)) {
        let mut file = seeds().swap_remove(which);
        for (at, value) in edits {
            let at = at % file.len();
            file[at] = value;
        }
        if cut % 4 == 0 {
            file.truncate(cut / 4 % file.len());
        }
        let _ = load_within(file, &small());
    }

    /// Numbers of the JSON replaced by others: gets further than flipped bytes.
    #[test]
    fn broken_numbers(which in 0usize..2, edits in prop::collection::vec((0usize..1 << 16, prop::sample::select(vec![0i64, 1, 2, 3, 4, 5, 7, 8, 16, 255, 5120, 5121, 5123, 5125, 5126, 65535, 1 << 31, i64::MAX, -1])), 1..6)) {
        let text = String::from_utf8(seeds().swap_remove(which * 2 + 1)).unwrap();
        let mut pieces: Vec<String> = Vec::new();
        let mut digits = false;
        for letter in text.chars() {
            if pieces.is_empty() || letter.is_ascii_digit() != digits {
                pieces.push(String::new());
            }
            digits = letter.is_ascii_digit();
            pieces.last_mut().unwrap().push(letter);
        }
        let numbers: Vec<usize> =
            (0..pieces.len()).filter(|&at| pieces[at].starts_with(|c: char| c.is_ascii_digit())).collect();
        for (at, value) in edits {
            pieces[numbers[at % numbers.len()]] = value.to_string();
        }
        let _ = load_within(pieces.concat(), &small());
    }
}
