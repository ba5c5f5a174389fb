//! Same seed, same bytes.

use std::collections::BTreeSet;

use isoframe::generate::{GENERATOR, TRIANGLES, scene, triangles};

use super::{SAMPLES, read};

/// blake3 over the files of the first round of kinds, in order. When it changes, so does `GENERATOR`.
const FIRST_ROUND: (&str, &str) =
    ("isoframe-scenes-1", "e9db13818f252367d3156abf91205e8d367722165ba6e7b53aabc60482073d5d");

/// blake3 of `triangles(3, 5000)`.
const SOUP: &str = "a9625a23ad3ad74d1b12afbe37aaa62c81a3f05c722791ef51d6439edb5b3c93";

#[test]
fn the_bytes_of_a_seed_never_change() {
    let mut hasher = blake3::Hasher::new();
    for sample in &SAMPLES[..24] {
        hasher.update(&sample.made.glb);
    }
    assert_eq!((GENERATOR, hasher.finalize().to_hex().as_str()), FIRST_ROUND);
}

#[test]
fn a_scene_made_again_alone_is_the_same() {
    for seed in [3, 22, 19] {
        let again = scene(seed).expect("a scene");
        assert!(again.glb == SAMPLES[seed as usize].made.glb, "seed {seed}");
        assert_eq!(again.entry, SAMPLES[seed as usize].made.entry);
    }
}

#[test]
fn seeds_differ_and_so_do_scenes_of_one_kind() {
    let hashes: BTreeSet<&str> = SAMPLES.iter().map(|sample| sample.made.entry.blake3.as_str()).collect();
    assert_eq!(hashes.len(), SAMPLES.len());
    for pair in SAMPLES.windows(25) {
        let (one, other) = (&pair[0].made.entry, &pair[24].made.entry);
        assert_eq!(one.kind, other.kind);
        assert_ne!(one.triangle_count, other.triangle_count, "{}: {} and {}", one.kind, one.seed, other.seed);
    }
}

#[test]
fn a_scene_of_a_number_of_triangles_has_that_number() {
    for count in [1000, 4999, 100_000] {
        let made = triangles(3, count).expect("a scene");
        let scene = read(&made);
        let primitives = scene.meshes.iter().flat_map(|mesh| &mesh.primitives);
        let drawn: usize = primitives.map(|primitive| primitive.indices.len() / 3).sum();
        assert_eq!(drawn, count as usize);
        assert_eq!(made.entry.triangle_count, u64::from(count));
    }
    let low = triangles(3, 1).expect("a scene");
    assert_eq!(low.entry.triangle_count, u64::from(*TRIANGLES.start()), "clamped");
    let soup = triangles(3, 5000).expect("a scene");
    assert_eq!(soup.entry.blake3, SOUP);
    assert_ne!(soup.entry.blake3, triangles(4, 5000).expect("a scene").entry.blake3);
}
