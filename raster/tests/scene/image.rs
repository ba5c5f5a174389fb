//! Images as far as the loader answers for them: which are read, and that sizes are known before pixels are.

use isoframe_raster::scene::Limits;
use serde_json::json;

use crate::common::gltf::{Gltf, data_uri, png};
use crate::{check_refused, load_within, scene};

/// A PNG whose header says this size, with no pixels behind it.
fn claims(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = png(1, 1, [0; 4]);
    bytes[16..20].copy_from_slice(&width.to_be_bytes());
    bytes[20..24].copy_from_slice(&height.to_be_bytes());
    let mut crc = u32::MAX;
    for byte in &bytes[12..29] {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 != 0 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
        }
    }
    bytes[29..33].copy_from_slice(&(!crc).to_be_bytes());
    bytes
}

/// A file that uses each of these images in a material.
fn with_images(images: &[Vec<u8>]) -> Gltf {
    let mut file = Gltf::new();
    for image in images {
        let texture = file.texture(image);
        file.push("materials", json!({ "emissiveTexture": { "index": texture } }));
    }
    file
}

#[test]
fn only_used_images_are_decoded() {
    let mut file = with_images(&[png(2, 3, [1, 2, 3, 4]), png(1, 1, [5, 6, 7, 8])]);
    file.texture(&png(9, 9, [0; 4]));
    file.json["materials"].as_array_mut().unwrap().remove(0);
    let made = scene(file.glb());
    assert_eq!(made.images.len(), 1);
    assert_eq!((made.images[0].width, made.images[0].height), (1, 1));
    assert_eq!(made.images[0].rgba, [[5, 6, 7, 8]]);
    assert_eq!(made.textures.len(), 1);
    // One image seen through two textures is decoded once.
    file.push("textures", json!({ "source": 1 }));
    file.push("materials", json!({ "normalTexture": { "index": 3 } }));
    let made = scene(file.glb());
    assert_eq!((made.images.len(), made.textures.len()), (1, 2));
}

#[test]
fn bombs_are_refused_by_their_header() {
    // B40.
    let side = claims(50_000, 50_000);
    check_refused(
        "side",
        with_images(std::slice::from_ref(&side)).glb(),
        "limit-exceeded",
        "image 0: 50000 exceeds the limit image_side_px",
    );
    let mut unused = Gltf::new();
    unused.push("images", json!({ "uri": data_uri("image/png", &side) }));
    check_refused("unused", unused.glb(), "limit-exceeded", "image_side_px");
    let thousand = vec![claims(4096, 4096); 1000];
    check_refused("many", with_images(&thousand).glb(), "limit-exceeded", "exceeds the limit image_pixels");
    let limits = Limits { image_pixels: 99, ..Limits::default() };
    let file = with_images(&[png(7, 7, [0; 4]), png(7, 7, [0; 4])]);
    load_within(file.glb(), &limits).unwrap();
    let file = with_images(&[png(7, 7, [0; 4]), png(7, 7, [0; 4]), png(2, 1, [0; 4])]);
    let error = load_within(file.glb(), &limits).unwrap_err();
    assert_eq!(error.to_string(), "image 2: 100 exceeds the limit image_pixels = 99");
}

#[test]
fn images_that_are_none() {
    let good = png(1, 1, [0; 4]);
    for (name, bytes) in [("text", b"not a picture".to_vec()), ("cut header", good[..20].to_vec())] {
        check_refused(name, with_images(&[good.clone(), bytes.clone()]).glb(), "invalid-image", "image 1");
        let mut unused = Gltf::new();
        unused.push("images", json!({ "uri": data_uri("image/png", &bytes) }));
        check_refused(name, unused.glb(), "invalid-image", "image 0");
    }
    check_refused("cut pixels", with_images(&[good[..45].to_vec()]).glb(), "invalid-image", "image 0");
    let cases = [
        (json!({}), "it has neither uri nor bufferView"),
        (json!({ "uri": "a.png", "bufferView": 0 }), "it has both uri and bufferView"),
    ];
    for (image, says) in cases {
        let mut file = Gltf::new();
        file.push("images", image);
        check_refused(says, file.glb(), "invalid-structure", says);
    }
    let mut file = with_images(&[good]);
    file.json["bufferViews"][0]["byteStride"] = json!(4);
    check_refused("strided", file.glb(), "invalid-stride", "image 0");
}

#[test]
fn errors_of_many_images_come_in_order() {
    // Decoded on several threads; the first bad one in the file is the one reported, every time.
    let good = png(64, 64, [1, 2, 3, 4]);
    let broken = good[..good.len() - 20].to_vec();
    let mut images = vec![good.clone(); 40];
    (images[13], images[14], images[31]) = (broken.clone(), broken.clone(), broken);
    let file = with_images(&images).glb();
    for _ in 0..5 {
        check_refused("many", file.clone(), "invalid-image", "image 13:");
    }
}
