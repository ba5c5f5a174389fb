use isoframe_raster::scene::Node;

use super::*;

/// Vectors: Austin Appleby's reference implementation as published with SMHasher, seeds 0 and others.
#[test]
fn murmur3_matches_known_vectors() {
    for (text, seed, expected) in [
        ("", 0, 0),
        ("", 1, 0x514e_28b7),
        ("", 0xffff_ffff, 0x81f1_6f39),
        ("test", 0, 0xba6b_d213),
        ("test", 0x9747_b28c, 0x704b_81dc),
        ("Hello, world!", 0, 0xc036_3e43),
        ("Hello, world!", 0x9747_b28c, 0x2488_4cba),
        ("The quick brown fox jumps over the lazy dog", 0, 0x2e4f_f723),
        ("aaa", 0x9747_b28c, 0x283e_0130),
        ("aa", 0x9747_b28c, 0x5d21_1726),
        ("a", 0x9747_b28c, 0x7fa0_9ea6),
    ] {
        assert_eq!(murmur3_32(text.as_bytes(), seed), expected, "{text:?} {seed:x}");
    }
}

/// Names and hashes of the Cryptomatte specification's sample manifest, and the fix for what is no normal float.
#[test]
fn hashes_are_normal_floats() {
    for (name, expected) in [("bunny", 0x1385_1a76_u32), ("default", 0x42c9_679f)] {
        assert_eq!(name_hash(name), expected, "{name}");
    }
    let mut fixed = 0;
    for k in 0..20_000 {
        let name = format!("node{k}");
        let (raw, hash) = (murmur3_32(name.as_bytes(), 0), name_hash(&name));
        assert!(f32::from_bits(hash).is_normal(), "{name}");
        assert!(raw == hash || raw ^ hash == 1 << 23);
        fixed += u32::from(raw != hash);
    }
    // 2 of 256 exponents are not those of normal floats.
    assert!((100..220).contains(&fixed), "{fixed}");
}

fn scene(names: &[(&str, u32, bool)]) -> Scene {
    let nodes = names.iter().map(|(name, gltf_index, drawn)| Node {
        name: (*name).into(),
        gltf_index: *gltf_index,
        mesh: drawn.then_some(0),
        ..Node::default()
    });
    Scene { nodes: nodes.collect(), ..Scene::default() }
}

#[test]
fn drawn_nodes_have_unique_names() {
    let mattes = Mattes::new(&scene(&[
        ("a", 4, true),
        ("a", 2, true),
        ("a#4", 9, true),
        ("", 3, true),
        ("light", 1, false),
    ]));
    let names: Vec<&str> = mattes.names.keys().map(String::as_str).collect();
    assert_eq!(names, ["a", "a#4", "a#4#", "node#3"]);
    assert_eq!(mattes.hashes[&3], name_hash("a"));
    assert_eq!(mattes.hashes[&5], name_hash("a#4#"));
    let [name, hash, conversion, manifest] = mattes.metadata();
    let key = format!("cryptomatte/{}", &format!("{:08x}", name_hash("CryptoObject"))[..7]);
    assert_eq!(name, (format!("{key}/name"), "CryptoObject".into()));
    assert_eq!(hash, (format!("{key}/hash"), "MurmurHash3_32".into()));
    assert_eq!(conversion, (format!("{key}/conversion"), "uint32_to_float32".into()));
    assert_eq!(manifest.0, format!("{key}/manifest"));
    let read: BTreeMap<String, String> = serde_json::from_str(&manifest.1).unwrap();
    assert_eq!(read["a"], format!("{:08x}", name_hash("a")));
    assert_eq!(read.len(), 4);
}

#[test]
fn ranks_are_by_coverage_and_by_node() {
    let mattes = Mattes::new(&scene(&[("a", 0, true), ("b", 1, true)]));
    let part = |node, primitive, samples| IdCoverage { id: [node, primitive], samples };
    let (a, b) = (f32::from_bits(name_hash("a")), f32::from_bits(name_hash("b")));
    let none = (0.0, 0.0);
    for (pixel, expected) in [
        ([part(0, 0, 8), part(0, 0, 0), part(0, 0, 0), part(0, 0, 0)], [none; 4]),
        ([part(2, 1, 8), part(0, 0, 0), part(0, 0, 0), part(0, 0, 0)], [(b, 1.0), none, none, none]),
        // Two primitives of one node outweigh a larger part of another.
        ([part(1, 1, 3), part(2, 1, 2), part(2, 2, 2), part(0, 0, 1)], [(b, 0.5), (a, 0.375), none, none]),
        // A tie goes to the lower node.
        ([part(2, 1, 4), part(1, 1, 4), part(0, 0, 0), part(0, 0, 0)], [(a, 0.5), (b, 0.5), none, none]),
    ] {
        assert_eq!(mattes.ranks(&pixel, 8), expected, "{pixel:?}");
    }
}
