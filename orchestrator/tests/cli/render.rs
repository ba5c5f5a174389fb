//! `render`: files, standard output, reports.

use super::*;

/// Width, height, bit depth and colour type of a PNG.
fn png_header(bytes: &[u8]) -> (u32, u32, u8, u8) {
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"), "not a PNG");
    let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    (word(16), word(20), bytes[24], bytes[25])
}

#[test]
fn one_output_is_one_file_named_as_asked() {
    let folder = Folder::new();
    let out = folder.file("shot.png");
    let said = render(&scene("variants"), &out, &[]).expect(0).text();
    assert_eq!(folder.names(), ["shot.png"]);
    assert!(said.contains("shot.png"), "{said}");
    assert_eq!(png_header(&std::fs::read(&out).expect("there")), (48, 32, 8, 6));
}

#[test]
fn every_format_is_what_its_ending_says() {
    let folder = Folder::new();
    for (name, format, magic) in [
        ("a.png", None, b"\x89PNG".as_slice()),
        ("b.png", Some("png16"), b"\x89PNG"),
        ("c.exr", None, b"\x76\x2f\x31\x01"),
        ("d.exr", Some("exr32"), b"\x76\x2f\x31\x01"),
        ("e.webp", None, b"RIFF"),
        ("f.jpg", None, b"\xff\xd8\xff"),
        ("g.jpeg", Some("jpg:50"), b"\xff\xd8\xff"),
        ("h.bin", Some("webp"), b"RIFF"),
    ] {
        let format = format.map(|format| ["--format", format]);
        let out = folder.file(name);
        render(&scene("variants"), &out, format.as_ref().map_or(&[], |flags| flags.as_slice())).expect(0);
        assert!(std::fs::read(&out).expect("there").starts_with(magic), "{name}");
    }
    assert_eq!(png_header(&std::fs::read(folder.file("b.png")).expect("there")).2, 16);
}

#[test]
fn several_outputs_are_several_files_or_one_exr() {
    let folder = Folder::new();
    render(&scene("skin"), &folder.file("s.png"), &["--output", "depth,color,id"]).expect(0);
    assert_eq!(folder.names(), ["s.color.png", "s.depth.png", "s.id.png"]);
    let folder = Folder::new();
    render(&scene("skin"), &folder.file("s.exr"), &["--output", "depth,color,id,motion"]).expect(0);
    assert_eq!(folder.names(), ["s.exr"]);
    // Named twice, one output is still one.
    let folder = Folder::new();
    render(&scene("skin"), &folder.file("s.png"), &["--output", "depth,depth"]).expect(0);
    assert_eq!(folder.names(), ["s.png"]);
}

#[test]
fn standard_output_has_the_file_and_nothing_else() {
    let folder = Folder::new();
    let out = folder.file("s.png");
    render(&scene("skin"), &out, &[]).expect(0);
    let file = std::fs::read(&out).expect("there");
    let piped = render(&scene("skin"), "-", &[]).expect(0);
    assert!(piped.stdout == file, "the pipe has other bytes than the file");
    let piped = render(&scene("skin"), "-", &["--json"]).expect(0);
    assert!(piped.stdout == file, "--json changed the bytes");
    let report: serde_json::Value =
        serde_json::from_str(piped.stderr.trim()).expect("the report is on stderr");
    assert_eq!(report["frames"][0]["files"][0]["path"], serde_json::Value::Null);
}

#[test]
fn the_report_names_what_was_made() {
    let folder = Folder::new();
    let out = folder.file("s.png");
    let report = render(&scene("skin"), &out, &["--json", "--output", "color,depth", "--time", "0.5"])
        .expect(0)
        .json();
    assert_eq!(report["engine"], isoframe_raster::frame::ENGINE);
    assert_eq!(report["backend"]["healthy"], true);
    let frame = &report["frames"][0];
    for id in [&frame["frame_id"], &frame["plan_id"], &report["scene"]] {
        assert_eq!(id.as_str().map(str::len), Some(64), "{id}");
    }
    assert_eq!(frame["frame_id"], frame["plan_id"], "a raster frame is known by its plan");
    assert_eq!(frame["fallback"], serde_json::Value::Null);
    assert_eq!(frame["time_s"], 0.5);
    let files = frame["files"].as_array().expect("files");
    assert_eq!(files.len(), 2);
    for file in files {
        let path = file["path"].as_str().expect("a path");
        assert_eq!(std::fs::metadata(path).expect("there").len(), file["bytes"].as_u64().expect("a size"));
        assert_eq!(file["pixels"].as_str().map(str::len), Some(64));
    }
    for timing in ["render", "encode", "write"] {
        assert!(frame["timings_ms"][timing].as_f64().expect("a time") >= 0.0);
    }
}

#[test]
fn the_same_request_is_the_same_file_whatever_renders_it() {
    let folder = Folder::new();
    let mut files = Vec::new();
    for (index, flags) in
        [&["--threads", "1"] as &[&str], &["--threads", "3"], &[], &["--quiet"]].iter().enumerate()
    {
        let out = folder.file(&format!("{index}.png"));
        render("demo", &out, flags).expect(0);
        files.push(std::fs::read(&out).expect("there"));
    }
    assert!(files.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn flags_change_what_they_name() {
    let folder = Folder::new();
    let plain = folder.file("plain.png");
    render(&scene("variants"), &plain, &[]).expect(0);
    let plain = std::fs::read(plain).expect("there");
    for flags in [
        &["--exposure", "1"] as &[&str],
        &["--tonemap", "none"],
        &["--background", "#102030"],
        &["--camera", "top"],
        &["--variant", "sea"],
        &["--sun", "0,-1,0", "--sun-lux", "4"],
        &["--light-direction", "0,-1,0", "--light-lux", "4"],
        &["--env-intensity", "0.25"],
        &["--env-light", "off"],
    ] {
        let out = folder.file("changed.png");
        render(&scene("variants"), &out, flags).expect(0);
        assert!(std::fs::read(&out).expect("there") != plain, "{flags:?} changed nothing");
    }
}

#[test]
fn matrices_may_be_bare_numbers() {
    let folder = Folder::new();
    let identity_at_3 = "1,0,0,0,0,1,0,0,0,0,1,0,0,0,3,1";
    let (bare, named) = (folder.file("bare.png"), folder.file("named.png"));
    render(&scene("variants"), &bare, &["--camera", identity_at_3, "--yfov", "0.5"]).expect(0);
    render(&scene("variants"), &named, &["--camera", &format!("matrix:{identity_at_3};yfov=0.5rad")])
        .expect(0);
    assert!(std::fs::read(bare).expect("there") == std::fs::read(named).expect("there"));
    let ortho = folder.file("ortho.png");
    render(&scene("variants"), &ortho, &["--camera", identity_at_3, "--metres-per-px", "0.05"]).expect(0);
    render(&scene("variants"), &ortho, &["--camera", "front", "--yfov", "0.5"]).expect(2);
}

#[test]
fn the_demo_says_what_to_do_next() {
    let folder = Folder::new();
    let said = render("demo", &folder.file("demo.png"), &[]).expect(0).text();
    assert!(said.contains("serve") && said.contains("verify"), "{said}");
    let quiet = render("demo", &folder.file("demo.png"), &["--quiet"]).expect(0);
    assert_eq!((quiet.text().as_str(), quiet.stderr.as_str()), ("", ""));
}

#[test]
fn a_failing_render_leaves_the_old_file() {
    let folder = Folder::new();
    let out = folder.file("s.png");
    std::fs::write(&out, b"precious").expect("written");
    render(&scene("variants"), &out, &["--camera", "nobody"]).expect(2);
    assert_eq!(std::fs::read(&out).expect("there"), b"precious");
    assert_eq!(folder.names(), ["s.png"]);
}

#[test]
fn it_works_with_no_home_and_no_configuration() {
    let folder = Folder::new();
    let out = folder.file("demo.png");
    let output = command()
        .env_clear()
        .env("VK_DRIVER_FILES", "/nonexistent")
        .args(["render", "demo", "-o", &out, "--size", "32x32"])
        .output()
        .expect("the binary runs");
    finished(output).expect(0);
    assert_eq!(folder.names(), ["demo.png"]);
}
