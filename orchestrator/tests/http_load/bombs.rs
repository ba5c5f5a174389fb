//! CASES B40: images that are small and claim, or inflate, to be large, as a service meets them.

use serde_json::json;

use crate::alone;
use crate::client::Request;
use crate::gltf::{Gltf, glb};
use crate::images::{GIGABYTE_OF_MATCHES, jpeg_of_header, png, png_of_zeros, png_with_gigabyte, zlib_zeros};
use crate::served::{self, Served};

/// CASES B40 asks for less than 64 MB.
const BOUND_BYTES: u64 = 64_000_000;

/// A triangle with this image.
fn textured(image: &[u8], media_type: &str) -> Vec<u8> {
    let mut file = Gltf::triangle();
    let texture = file.texture(image);
    file.json["images"][0]["mimeType"] = json!(media_type);
    file.push("materials", json!({ "pbrMetallicRoughness": { "baseColorTexture": { "index": texture } } }));
    file.json["meshes"][0]["primitives"][0]["material"] = json!(0);
    file.glb()
}

/// A thousand triangles with a texture each, all of one image's bytes.
fn thousand_textured(image: &[u8]) -> Vec<u8> {
    let mut file = Gltf::triangle();
    let view = file.view(image);
    let primitive = file.json["meshes"][0]["primitives"][0].clone();
    let primitives = (0..1000).map(|_| {
        let image = file.push("images", json!({ "bufferView": view, "mimeType": "image/png" }));
        let texture = file.push("textures", json!({ "source": image }));
        let base = json!({ "baseColorTexture": { "index": texture } });
        let mut primitive = primitive.clone();
        primitive["material"] = json!(file.push("materials", json!({ "pbrMetallicRoughness": base })));
        primitive
    });
    let primitives: Vec<_> = primitives.collect();
    file.json["meshes"][0]["primitives"] = json!(primitives);
    file.glb()
}

fn post(server: &Served, request: Request) -> (crate::client::Answer, Option<u64>) {
    server.peak_growth(|| server.send(request))
}

#[test]
fn image_bombs_are_refused_in_bounded_memory() {
    let _alone = alone();
    let server = served::start(&[]);
    // What the first upload brings once is none of theirs.
    server.upload(&textured(&png(2, 2, &[0, 10, 20, 0, 30, 40]), "image/png"));
    let cases = [
        (
            "a PNG header of 50000 x 50000",
            textured(&png(50_000, 50_000, &[0; 8]), "image/png"),
            "image_side_px",
        ),
        (
            "a PNG of 16384 x 16384 zeros",
            textured(&png_of_zeros(16_384, 16_384), "image/png"),
            "image_side_px",
        ),
        ("a JPEG of 65500 x 65500", textured(&jpeg_of_header(65_500, 65_500), "image/jpeg"), "image_side_px"),
        ("1000 textures of 4096 x 4096", thousand_textured(&png_of_zeros(4096, 4096)), "image_pixels"),
    ];
    for (name, file, says) in cases {
        let (answer, growth) = post(&server, Request::new("POST", "/v1/scenes").body(file));
        let problem = answer.expect_problem(422, "scene_invalid");
        assert_eq!(problem["cause"], "limit-exceeded", "{name}: {problem}");
        assert!(problem["detail"].as_str().expect("a text").contains(says), "{name}: {problem}");
        eprintln!("{name}: memory grew by {growth:?}");
        assert!(growth.is_none_or(|growth| growth < BOUND_BYTES), "{name}: memory grew by {growth:?} bytes");
    }
    server.get("/healthz").expect(200);
}

/// Its pixels are sound and few: it is a picture.
#[test]
fn a_gigabyte_of_text_in_an_image_is_not_inflated() {
    let _alone = alone();
    let server = served::start(&[]);
    server.upload(&textured(&png(2, 2, &[0, 10, 20, 0, 30, 40]), "image/png"));
    let file = textured(&png_with_gigabyte(b"zTXt", b"k\0\0"), "image/png");
    let (answer, growth) = post(&server, Request::new("POST", "/v1/scenes").body(file));
    let scene = answer.expect(201).json()["id"].as_str().expect("an id").to_owned();
    eprintln!("memory grew by {growth:?}");
    assert!(growth.is_none_or(|growth| growth < BOUND_BYTES), "memory grew by {growth:?} bytes");
    server.get(&format!("/v1/scenes/{scene}/frame.png?size=16x16")).expect(200);
}

#[test]
fn a_compressed_body_is_refused_unread() {
    let _alone = alone();
    let server = served::start(&[]);
    server.upload(&Gltf::triangle().glb());
    let zeros = zlib_zeros(GIGABYTE_OF_MATCHES);
    for (encoding, body) in [
        // A gzip member has another header than zlib, and CRC-32 and size at its end, which nobody gets to.
        ("gzip", [b"\x1f\x8b\x08\0\0\0\0\0\0\xff", &zeros[2..]].concat()),
        ("deflate", zeros.clone()),
        ("identity, gzip", glb(b"{}", b"")),
    ] {
        let request = Request::new("POST", "/v1/scenes").header("content-encoding", encoding).body(body);
        let (answer, growth) = post(&server, request);
        answer.expect_problem(415, "media_type_unsupported");
        assert!(
            growth.is_none_or(|growth| growth < BOUND_BYTES),
            "{encoding}: memory grew by {growth:?} bytes"
        );
    }
}
