//! Streams of the reference encoder decode to what the reference decoder says (`tests/data/meshopt_vectors.mjs`).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use serde::Deserialize;

use super::*;

#[derive(Debug, Deserialize)]
struct Vector {
    name: String,
    count: u64,
    stride: u64,
    mode: String,
    filter: String,
    version: u8,
    packed: String,
    expected: String,
}

fn vectors() -> Vec<Vector> {
    serde_json::from_str(include_str!("../../../tests/data/meshopt_vectors.json")).unwrap()
}

fn run(vector: &Vector, packed: &[u8], dialect: Dialect) -> Result<Vec<u8>, SceneError> {
    let json = serde_json::json!({
        "buffer": 0, "byteLength": packed.len(), "byteStride": vector.stride, "count": vector.count,
        "mode": vector.mode, "filter": vector.filter,
    });
    let compressed = serde_json::from_value(json).unwrap();
    let view = serde_json::json!({ "buffer": 1, "byteLength": vector.stride * vector.count });
    let view = serde_json::from_value(view).unwrap();
    let limits = crate::scene::Limits::default();
    let buffers = [Some(std::borrow::Cow::Borrowed(packed))];
    unpack("view", &view, &compressed, dialect, &buffers, &mut Budget::new(&limits))
}

/// Largest difference between components of one or two bytes: one unit is allowed for filters with a square root.
fn difference(got: &[u8], expected: &[u8], stride: u64) -> i32 {
    let wide = |bytes: &[u8]| -> Vec<i32> {
        match stride {
            8 => bytes.chunks_exact(2).map(|two| i32::from(i16::from_le_bytes([two[0], two[1]]))).collect(),
            _ => bytes.iter().map(|&byte| i32::from(byte as i8)).collect(),
        }
    };
    wide(got).iter().zip(wide(expected)).map(|(a, b)| (a - b).abs()).max().unwrap_or(0)
}

#[test]
fn reference_streams_decode() {
    let vectors = vectors();
    assert!(vectors.len() > 100);
    for vector in &vectors {
        let packed = STANDARD.decode(&vector.packed).unwrap();
        let expected = STANDARD.decode(&vector.expected).unwrap();
        let what = format!("{} {} v{}", vector.name, vector.mode, vector.version);
        let got = run(vector, &packed, Dialect::Khr).unwrap_or_else(|error| panic!("{what}: {error}"));
        match vector.filter.as_str() {
            "OCTAHEDRAL" | "QUATERNION" => assert!(difference(&got, &expected, vector.stride) <= 1, "{what}"),
            _ => assert_eq!(got, expected, "{what}"),
        }
        let ext = run(vector, &packed, Dialect::Ext);
        if vector.version == 0 {
            assert_eq!(ext.unwrap(), got, "{what}");
        } else {
            assert!(ext.is_err(), "{what}: version 1 and the colour filter are KHR only");
        }
    }
}

#[test]
fn short_and_long_streams_are_refused() {
    for vector in vectors() {
        let packed = STANDARD.decode(&vector.packed).unwrap();
        for length in 0..packed.len() {
            assert!(
                run(&vector, &packed[..length], Dialect::Khr).is_err(),
                "{} cut to {length}",
                vector.name
            );
        }
        let stride = vector.stride as usize;
        let tail = match (vector.mode.as_str(), vector.version) {
            ("INDICES", _) => 4,
            ("TRIANGLES", _) => 16,
            (_, 0) => stride.max(32),
            _ => (stride + stride / 4).max(24),
        };
        let mut long = packed.clone();
        long.insert(packed.len() - tail, 0);
        assert!(run(&vector, &long, Dialect::Khr).is_err(), "{} with a byte too many", vector.name);
    }
}

#[test]
fn numbers_that_disagree_are_refused() {
    let good = Vector {
        name: String::new(),
        count: 3,
        stride: 4,
        mode: "TRIANGLES".into(),
        filter: "NONE".into(),
        version: 0,
        packed: String::new(),
        expected: String::new(),
    };
    let cases = [
        ("count not of triangles", Vector { count: 4, ..clone(&good) }),
        ("stride of indices", Vector { stride: 8, ..clone(&good) }),
        ("filtered indices", Vector { filter: "EXPONENTIAL".into(), ..clone(&good) }),
        ("unknown mode", Vector { mode: "STRIPS".into(), ..clone(&good) }),
        ("unknown filter", Vector { mode: "ATTRIBUTES".into(), filter: "X".into(), ..clone(&good) }),
        (
            "stride of quaternions",
            Vector { mode: "ATTRIBUTES".into(), filter: "QUATERNION".into(), ..clone(&good) },
        ),
        ("stride of attributes", Vector { mode: "ATTRIBUTES".into(), stride: 260, ..clone(&good) }),
        ("huge count", Vector { count: u64::MAX / 4 * 3, stride: 2, ..clone(&good) }),
    ];
    for (what, vector) in cases {
        // The huge count wraps on its way into the view's length, so it disagrees with it.
        let vector = Vector { count: vector.count.min(1 << 60), ..vector };
        assert!(run(&vector, &[0xE1; 64], Dialect::Khr).is_err(), "{what}");
    }
}

fn clone(vector: &Vector) -> Vector {
    Vector {
        name: String::new(),
        mode: vector.mode.clone(),
        filter: vector.filter.clone(),
        packed: String::new(),
        expected: String::new(),
        ..*vector
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Whatever the bytes, decoding ends without a panic and gives the announced length.
    #[test]
    fn broken_streams_never_panic(index in 0usize..1000, flips in prop::collection::vec((0usize..4096, any::<u8>()), 1..6)) {
        let vectors = vectors();
        let vector = &vectors[index % vectors.len()];
        let mut packed = STANDARD.decode(&vector.packed).unwrap();
        for (at, byte) in flips {
            let at = at % packed.len();
            packed[at] = byte;
        }
        if let Ok(bytes) = run(vector, &packed, Dialect::Khr) {
            prop_assert_eq!(bytes.len() as u64, vector.count * vector.stride);
        }
    }

    /// Indices survive a trip through the simplest possible encoder: one baseline, differences as they come.
    #[test]
    fn index_sequences_round_trip(list in prop::collection::vec(0u32..1 << 28, 0..200)) {
        let mut packed = vec![0xD1];
        let mut last = 0i64;
        for &index in &list {
            let delta = i64::from(index) - last;
            last = i64::from(index);
            let zigzag = ((delta << 1) ^ (delta >> 63)) as u64;
            let mut value = (zigzag << 1) as u32;
            while value >= 0x80 {
                packed.push(value as u8 | 0x80);
                value >>= 7;
            }
            packed.push(value as u8);
        }
        packed.extend([0; 4]);
        prop_assert_eq!(indices::decode(&packed, list.len()).unwrap(), list);
    }
}
