//! `verify`: files as they were written, and files that somebody changed.

use super::*;

fn verify(file: &str, scene: &str, more: &[&str]) -> Run {
    run(["verify", file, "--scene", scene, "--backend", "cpu"].iter().copied().chain(more.iter().copied()))
}

/// A rendered file of the case's scene.
fn made(folder: &Folder, name: &str, more: &[&str]) -> String {
    let out = folder.file(name);
    render(&scene("skin"), &out, more).expect(0);
    out
}

#[test]
fn every_format_verifies() {
    let folder = Folder::new();
    let moving = ["--time", "0.6", "--previous-time", "0.5"];
    for (name, more) in [
        ("a.png", &[] as &[&str]),
        ("b.png", &["--output", "depth"]),
        ("c.png", &["--format", "png16", "--output", "motion"]),
        ("d.exr", &["--output", "color,base,depth,motion,normal,albedo,id"]),
        ("e.webp", &[]),
        ("f.jpg", &[]),
    ] {
        let file = made(&folder, name, &[more, &moving].concat());
        let said = verify(&file, &scene("skin"), &[]).expect(0).text();
        assert!(said.contains("same"), "{name}: {said}");
    }
}

#[test]
fn a_changed_pixel_differs() {
    let folder = Folder::new();
    let file = made(&folder, "a.png", &[]);
    let picture = image::open(&file).expect("readable").to_rgba8();
    let chunk = receipt_chunk(&std::fs::read(&file).expect("there"));
    let mut forged = picture.clone();
    let pixel = forged.get_pixel_mut(24, 16);
    pixel.0[0] ^= 1;
    let forged_file = folder.file("forged.png");
    forged.save(&forged_file).expect("written");
    put_chunk(&forged_file, &chunk);
    let said = verify(&forged_file, &scene("skin"), &[]).expect(1).text();
    assert!(said.contains("differs"), "{said}");
    // The same picture, saved by another program: the pixels are right, the file is not ours.
    let saved = folder.file("saved.png");
    picture.save(&saved).expect("written");
    put_chunk(&saved, &chunk);
    let report = verify(&saved, &scene("skin"), &["--json"]).expect(0).json();
    assert_eq!((&report["verdict"], &report["file_identical"]), (&"same".into(), &false.into()));
}

#[test]
fn a_changed_receipt_differs() {
    let folder = Folder::new();
    let file = made(&folder, "a.png", &["--time", "0.6"]);
    let bytes = std::fs::read(&file).expect("there");
    let text = String::from_utf8_lossy(&receipt_chunk(&bytes)).into_owned();
    assert!(text.contains("\"time_s\":0.6"), "{text}");
    let picture = image::open(&file).expect("readable").to_rgba8();
    let forged = folder.file("forged.png");
    picture.save(&forged).expect("written");
    put_chunk(&forged, text.replace("\"time_s\":0.6", "\"time_s\":0.5").as_bytes());
    verify(&forged, &scene("skin"), &[]).expect(1);
}

#[test]
fn what_cannot_be_compared_says_why() {
    let folder = Folder::new();
    let file = made(&folder, "a.png", &[]);
    let said = verify(&file, &scene("morph"), &[]).expect(3).text();
    assert!(said.contains("scene"), "{said}");
    // A picture without a receipt.
    let bare = folder.file("bare.png");
    image::open(&file).expect("readable").to_rgba8().save(&bare).expect("written");
    let said = verify(&bare, &scene("skin"), &[]).expect(3).text();
    assert!(said.contains("receipt"), "{said}");
    // Another engine.
    let bytes = std::fs::read(&file).expect("there");
    let text = String::from_utf8_lossy(&receipt_chunk(&bytes)).into_owned();
    let other = folder.file("other.png");
    image::open(&file).expect("readable").to_rgba8().save(&other).expect("written");
    put_chunk(&other, text.replace(isoframe_raster::frame::ENGINE, "isoframe-0").as_bytes());
    let said = verify(&other, &scene("skin"), &[]).expect(3).text();
    assert!(said.contains("engine"), "{said}");
    // No file, no scene.
    verify(&folder.file("none.png"), &scene("skin"), &[]).expect(2);
    verify(&file, "none.glb", &[]).expect(2);
}

/// Data of the PNG chunk that holds the receipt.
fn receipt_chunk(png: &[u8]) -> Vec<u8> {
    let mut at = 8;
    while at + 12 <= png.len() {
        let length = u32::from_be_bytes(png[at..at + 4].try_into().expect("four bytes")) as usize;
        let data = &png[at + 8..at + 8 + length];
        if &png[at + 4..at + 8] == b"iTXt" && data.starts_with(b"isoframe") {
            return data.to_vec();
        }
        at += 12 + length;
    }
    panic!("no receipt in the file");
}

/// Puts an `iTXt` chunk after the header of a PNG file.
fn put_chunk(path: &str, data: &[u8]) {
    let png = std::fs::read(path).expect("there");
    let header_end = 8 + 12 + 13;
    let typed = [b"iTXt".as_slice(), data].concat();
    let chunk = [&(data.len() as u32).to_be_bytes()[..], &typed, &crc32(&typed).to_be_bytes()].concat();
    std::fs::write(path, [&png[..header_end], &chunk, &png[header_end..]].concat()).expect("written");
}

/// The checksum of PNG chunks. *Source*: PNG specification, annex D.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
        }
    }
    !crc
}
