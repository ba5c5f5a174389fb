//! Uploads: every way in, every limit, every bad file.

use std::io::Write;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{self, Answer, Request, connect};
use crate::fixtures::{padded, triangle};
use crate::server::{TestServer, start, start_in};

pub fn upload(server: &TestServer, scene: &Value) -> String {
    let answer = server.send(Request::new("POST", "/v1/scenes").body(scene.to_string()));
    assert!(answer.status == 201 || answer.status == 200, "{}", answer.text());
    answer.json()["id"].as_str().expect("an id").to_owned()
}

/// A form with one file, and fields before and after it.
fn form(file: &[u8]) -> Request {
    let mut body = Vec::new();
    body.extend_from_slice(b"--XX\r\ncontent-disposition: form-data; name=\"note\"\r\n\r\nhello\r\n");
    body.extend_from_slice(b"--XX\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.gltf\"\r\n");
    body.extend_from_slice(b"content-type: model/gltf+json\r\n\r\n");
    body.extend_from_slice(file);
    body.extend_from_slice(
        b"\r\n--XX\r\ncontent-disposition: form-data; name=\"end\"\r\n\r\nx\r\n--XX--\r\n",
    );
    Request::new("POST", "/v1/scenes").header("content-type", "multipart/form-data; boundary=XX").body(body)
}

#[test]
fn the_same_file_is_one_scene_however_it_comes() {
    let server = start(&[]);
    let file = triangle(1).to_string();
    let post = || Request::new("POST", "/v1/scenes").body(file.as_str());
    let first = server.send(post()).expect(201);
    let scene = first.json();
    let id = scene["id"].as_str().expect("an id");
    assert_eq!(id, blake3::hash(file.as_bytes()).to_hex().as_str());
    assert_eq!(first.header("location"), Some(format!("/v1/scenes/{id}")));
    assert_eq!(scene["bytes"], file.len());
    assert_eq!(scene["counts"]["triangles"], 1);
    assert_eq!(scene["bounds"], json!({ "min": [-1.0, -1.0, 0.0], "max": [1.0, 1.0, 0.0] }));
    for again in [post(), post().chunked(7), form(file.as_bytes()), form(file.as_bytes()).chunked(100)] {
        assert_eq!(server.send(again).expect(200).json(), scene);
    }
    assert_eq!(server.get(&format!("/v1/scenes/{id}")).expect(200).json(), scene);
    let listed = server.get("/v1/scenes").expect(200).json();
    assert_eq!(listed, json!({ "entries": [scene] }));
    server.send(Request::new("DELETE", &format!("/v1/scenes/{id}"))).expect(204);
    server.get(&format!("/v1/scenes/{id}")).expect_problem(404, "scene_not_found");
    server.send(Request::new("DELETE", &format!("/v1/scenes/{id}"))).expect_problem(404, "scene_not_found");
    server.send(post()).expect(201);
}

#[test]
fn scenes_survive_a_restart_and_strays_do_not() {
    let folder = std::sync::Arc::new(tempfile::tempdir().expect("a folder"));
    let server = start_in(&folder, &[]);
    let [kept, lost] = [1, 2].map(|variety| upload(&server, &triangle(variety)));
    drop(server);
    // A crash between two steps: a file without an entry, an entry without a file, half an upload.
    let scenes = folder.path().join("scenes");
    let stray = scenes.join("ab").join("ab".repeat(32));
    std::fs::create_dir_all(scenes.join("ab")).expect("made");
    std::fs::write(&stray, "stray").expect("written");
    std::fs::write(folder.path().join("incoming/half"), "half").expect("written");
    std::fs::remove_file(scenes.join(&lost[..2]).join(&lost)).expect("there");
    let server = start_in(&folder, &[]);
    server.get(&format!("/v1/scenes/{kept}")).expect(200);
    server.get(&format!("/v1/scenes/{lost}")).expect_problem(404, "scene_not_found");
    assert!(!stray.exists() && !folder.path().join("incoming/half").exists());
    upload(&server, &triangle(2));
}

#[test]
fn lists_come_in_pages_in_order_of_arrival() {
    let server = start(&[("upload.page_entries", "3")]);
    let ids: Vec<_> = (0..7).map(|variety| upload(&server, &triangle(variety))).collect();
    let mut seen = Vec::new();
    let mut path = "/v1/scenes?limit=3".to_owned();
    loop {
        let page = server.get(&path).expect(200).json();
        let entries = page["entries"].as_array().expect("a list");
        assert!(!entries.is_empty() && entries.len() <= 3);
        seen.extend(entries.iter().map(|scene| scene["id"].as_str().expect("an id").to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/v1/scenes?limit=3&after={next}");
    }
    // Those that arrived within one millisecond may stand in any order.
    assert_eq!(seen.len(), ids.len());
    assert!(ids.iter().all(|id| seen.contains(id)));
    server.get("/v1/scenes?limit=4").expect_problem(422, "request_invalid");
    server.get("/v1/scenes?limit=0").expect_problem(422, "request_invalid");
    server.get("/v1/scenes?limit=x").expect_problem(400, "request_malformed");
    server.get("/v1/scenes?page=2").expect_problem(400, "request_malformed");
}

#[test]
fn bad_files_are_refused_with_what_and_where() {
    let server = start(&[]);
    let check = |file: Vec<u8>, code: &str, says: &str| {
        let problem =
            server.send(Request::new("POST", "/v1/scenes").body(file)).expect_problem(422, "scene_invalid");
        assert_eq!(problem["cause"], code, "{problem}");
        assert!(problem["detail"].as_str().expect("a text").contains(says), "{problem}");
        let text = problem.to_string();
        assert!(!text.contains(&server.data_dir().display().to_string()) && !text.contains(".rs"), "{text}");
    };
    check(b"not a scene".to_vec(), "unknown-format", "glTF");
    check(vec![], "unknown-format", "glTF");
    check(b"glTF\x02\0\0\0\xff\xff\0\0".to_vec(), "truncated", "truncated");
    let mut scene = triangle(1);
    scene["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]);
    scene["extensionsUsed"] = json!(["KHR_draco_mesh_compression"]);
    check(scene.to_string().into_bytes(), "unsupported-extension", "KHR_draco_mesh_compression");
    let mut scene = triangle(1);
    scene["nodes"][0]["children"] = json!([0]);
    check(scene.to_string().into_bytes(), "node-cycle", "node 0");
    assert_eq!(server.get("/v1/scenes").json()["entries"], json!([]));
    assert!(!server.data_dir().join("scenes").exists(), "nothing was kept");
}

/// A zip of these entries; a name that ends in `@` becomes a symbolic link to its bytes.
fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    for (name, bytes) in entries {
        match name.strip_suffix('@') {
            Some(name) => {
                let target = std::str::from_utf8(bytes).expect("a path");
                out.add_symlink(name, target, options).expect("added");
            }
            None => {
                out.start_file(*name, options).expect("added");
                out.write_all(bytes).expect("written");
            }
        }
    }
    out.finish().expect("a zip").into_inner()
}

/// A triangle whose image has this URI.
fn textured(uri: &str) -> Value {
    let mut scene = triangle(1);
    scene["images"] = json!([{ "uri": uri }]);
    scene["textures"] = json!([{ "source": 0 }]);
    scene["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"] = json!({ "index": 0 });
    scene
}

/// A triangle whose buffer has this URI.
fn buffered(uri: &str) -> Value {
    let mut scene = triangle(1);
    scene["buffers"][0]["uri"] = json!(uri);
    scene
}

/// CASES B19. The files meant are there and sound: whoever read them would take the scene.
#[test]
fn uris_in_an_upload_open_no_file_and_no_connection() {
    let server = start(&[]);
    let canary = TcpListener::bind("127.0.0.1:0").expect("binds");
    canary.set_nonblocking(true).expect("set");
    let buffer = server.data_dir().join("secret.bin");
    std::fs::write(&buffer, [7_u8; 36]).expect("written");
    let picture = server.data_dir().join("secret.png");
    image::RgbaImage::from_pixel(2, 2, image::Rgba([9; 4])).save(&picture).expect("written");
    let png = std::fs::read(&picture).expect("there");
    let post = |file: Vec<u8>| server.send(Request::new("POST", "/v1/scenes").body(file));
    let refused = |what: &str, file: Vec<u8>| {
        let answer = post(file);
        assert_eq!(answer.status, 422, "{what}: {}", answer.text());
        let problem = answer.expect_problem(422, "scene_invalid");
        assert!(!problem.to_string().contains("root:"), "{what}: {problem}");
    };
    // Both forms are taken where the side file is in the zip.
    let scene = |scene: Value| scene.to_string().into_bytes();
    let files: &[(&str, &[u8])] = &[("a.bin", &[0; 36]), ("a.png", &png)];
    for made in [buffered("a.bin"), textured("a.png")] {
        post(zip(&[&[("scene.gltf", scene(made).as_slice())], files].concat())).expect(201);
    }
    for (at, form) in [(&buffer, &buffered as &dyn Fn(&str) -> Value), (&picture, &textured)] {
        let here = at.display().to_string();
        let escapes = format!("{}{here}", "../".repeat(24));
        for uri in [
            "../../../../etc/passwd",
            "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
            "file:///etc/passwd",
            "scene.bin",
            "missing.png",
            "..\\..\\etc\\passwd",
            &here,
            &escapes,
            &escapes.replace('.', "%2e"),
            &format!("file://{here}"),
            &format!("http://{}/x", canary.local_addr().expect("bound")),
            &format!("//{}/x", canary.local_addr().expect("bound")),
        ] {
            refused(uri, scene(form(uri)));
            refused(&format!("{uri} in a zip"), zip(&[("scene.gltf", &scene(form(uri)))]));
        }
        let link = |target: &str| zip(&[("scene.gltf", &scene(form("side"))), ("side@", target.as_bytes())]);
        refused("a link to a file", link(&here));
        refused("a link upwards", link(&escapes));
        let outside = zip(&[("scene.gltf", &scene(form("side"))), ("../side", b"x")]);
        refused("an entry outside", outside);
    }
    assert!(!server.data_dir().parent().expect("a parent").join("side").exists(), "nothing is unpacked");
    assert!(canary.accept().is_err(), "nobody connected");
}

#[test]
fn compressed_bodies_and_bad_forms_are_refused() {
    let server = start(&[]);
    let post = |request: Request| server.send(request);
    let gzip = Request::new("POST", "/v1/scenes").header("content-encoding", "gzip").body("x");
    post(gzip).expect_problem(415, "media_type_unsupported");
    let multipart = |boundary: &str, body: &str| {
        let kind = format!("multipart/form-data{boundary}");
        post(Request::new("POST", "/v1/scenes").header("content-type", &kind).body(body))
    };
    multipart("", "x").expect_problem(400, "request_malformed");
    multipart("; boundary=XX", "x").expect_problem(400, "request_malformed");
    let field = "--XX\r\ncontent-disposition: form-data; name=\"other\"\r\n\r\nx\r\n--XX--\r\n";
    multipart("; boundary=XX", field).expect_problem(400, "request_malformed");
    let file = "--XX\r\ncontent-disposition: form-data; name=\"file\"\r\n\r\nx\r\n";
    multipart("; boundary=XX", &format!("{file}{file}--XX--\r\n")).expect_problem(400, "request_malformed");
}

#[test]
fn the_size_limit_is_exact_and_its_answer_arrives() {
    let limit = 200_000;
    let server = start(&[("scene.file_bytes", &limit.to_string())]);
    let ways: [(&str, &dyn Fn(Vec<u8>) -> Request); 4] = [
        ("content-length", &|file| Request::new("POST", "/v1/scenes").body(file)),
        ("chunked", &|file| Request::new("POST", "/v1/scenes").body(file).chunked(10_000)),
        ("multipart", &|file| form(&file)),
        ("multipart chunked", &|file| form(&file).chunked(10_000)),
    ];
    for (index, (way, request)) in ways.into_iter().enumerate() {
        let scene = triangle(index as u32);
        for (bytes, status) in [(limit - 1, 201), (limit, 201), (limit + 1, 413), (limit * 10, 413)] {
            let answer = client::try_send(server.address, request(padded(&scene, bytes)));
            let answer = answer.unwrap_or_else(|error| panic!("{way}, {bytes} bytes: {error}"));
            assert_eq!(answer.status, status, "{way}, {bytes} bytes: {}", answer.text());
            if status == 413 {
                assert_eq!(answer.expect_problem(413, "body_too_large")["limit_bytes"], limit, "{way}");
            }
        }
    }
    // An announced size beyond the limit is refused before a byte of it is asked for.
    let mut stream = connect(server.address);
    let head =
        "POST /v1/scenes HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 999999999\r\n\r\n";
    stream.write_all(head.as_bytes()).expect("written");
    client::read_answer(&mut stream, false).expect("answered").expect_problem(413, "body_too_large");
}

/// CASES B39: what an ordinary client shows its user.
#[test]
fn curl_receives_the_answer_to_a_body_beyond_the_limit() {
    if std::process::Command::new("curl").arg("--version").output().is_err() {
        eprintln!("SKIPPED: curl is not installed");
        return;
    }
    let limit = 200_000;
    let server = start(&[("scene.file_bytes", &limit.to_string())]);
    let url = format!("http://{}/v1/scenes", server.address);
    let (file, answer) = (server.data_dir().join("file"), server.data_dir().join("answer"));
    let data = format!("@{}", file.display());
    let form = format!("file=@{}", file.display());
    let ways: [(&str, &[&str]); 4] = [
        ("content-length", &["--data-binary", &data]),
        ("chunked", &["--data-binary", &data, "--header", "transfer-encoding: chunked"]),
        ("without waiting for 100 Continue", &["--data-binary", &data, "--header", "expect:"]),
        ("multipart", &["--form", &form]),
    ];
    for (bytes, status) in [(limit, 201), (limit + 1, 413), (limit * 100, 413)] {
        for (index, (way, args)) in ways.iter().enumerate() {
            std::fs::write(&file, padded(&triangle(index as u32), bytes)).expect("written");
            let mut curl = std::process::Command::new("curl");
            curl.args(["--silent", "--show-error", "--noproxy", "*", "--max-time", "60"]);
            curl.args(["--write-out", "%{http_code}", "--output"]).arg(&answer).args(*args).arg(&url);
            let output = curl.output().expect("runs");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{way}, {bytes} bytes: {said}");
            assert_eq!(String::from_utf8_lossy(&output.stdout), status.to_string(), "{way}, {bytes} bytes");
            let body: Value =
                serde_json::from_slice(&std::fs::read(&answer).expect("received")).expect("JSON");
            if status == 413 {
                assert_eq!(
                    (&body["code"], &body["limit_bytes"]),
                    (&json!("body_too_large"), &json!(limit)),
                    "{way}"
                );
            } else {
                assert_eq!(body["bytes"], bytes, "{way}");
            }
        }
    }
}

#[test]
fn a_large_body_after_a_refusal_is_drained_and_the_connection_lives() {
    let server = start(&[("scene.file_bytes", "1000")]);
    let mut stream = connect(server.address);
    let large = Request::new("POST", "/v1/scenes").body(vec![b' '; 20_000_000]);
    client::send_on(&mut stream, &large).expect("answered").expect_problem(413, "body_too_large");
    client::send_on(&mut stream, &Request::new("GET", "/healthz")).expect("answered").expect(200);
}

#[test]
fn slow_bodies_are_given_up_and_others_are_not_held_up() {
    let server = start(&[("server.body_idle_ms", "400"), ("server.body_rate_bytes_per_s", "1000")]);
    let head = Request::new("POST", "/v1/scenes").body(vec![0; 10_000]).head();
    let slow = |pause: Option<Duration>| {
        let (address, head) = (server.address, head.clone());
        std::thread::spawn(move || -> (Answer, Duration) {
            let mut stream = connect(address);
            stream.write_all(head.as_bytes()).expect("written");
            let start = Instant::now();
            let mut writer = stream.try_clone().expect("cloned");
            let dribble = std::thread::spawn(move || {
                while let Some(pause) = pause
                    && writer.write_all(b" ").is_ok()
                {
                    std::thread::sleep(pause);
                }
            });
            let answer = client::read_answer(&mut stream, false).expect("answered");
            let took = start.elapsed();
            drop(stream);
            dribble.join().expect("ends");
            (answer, took)
        })
    };
    let silent = slow(None);
    let dribbling = slow(Some(Duration::from_millis(100)));
    let start = Instant::now();
    upload(&server, &triangle(1));
    assert!(start.elapsed() < Duration::from_secs(2), "a normal upload took {:?}", start.elapsed());
    for client in [silent, dribbling] {
        let (answer, took) = client.join().expect("answered");
        answer.expect_problem(408, "body_timeout");
        assert!(took > Duration::from_millis(300) && took < Duration::from_secs(5), "{took:?}");
    }
}

#[test]
fn uploads_beyond_the_seats_are_refused_at_once_and_seats_come_back() {
    let server = start(&[("upload.concurrent", "1"), ("upload.queue_uploads", "0")]);
    let mut slow = connect(server.address);
    slow.write_all(Request::new("POST", "/v1/scenes").body(vec![0; 10_000]).head().as_bytes())
        .expect("written");
    slow.write_all(b"begun").expect("written");
    // Whoever comes first has the one seat: the slow one must not be the one that is refused.
    std::thread::sleep(Duration::from_millis(300));
    let file = triangle(1).to_string();
    let post = || Request::new("POST", "/v1/scenes").body(file.as_str());
    let start = Instant::now();
    let refused = loop {
        // The slow one may not have its seat yet.
        let answer = server.send(post());
        if answer.status == 503 || start.elapsed() > Duration::from_secs(5) {
            break answer;
        }
    };
    assert_eq!(refused.header("retry-after").as_deref(), Some("1"));
    refused.expect_problem(503, "overload");
    drop(slow);
    let start = Instant::now();
    while server.send(post()).status == 503 {
        assert!(start.elapsed() < Duration::from_secs(5), "the seat of a client that hung up is free");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn an_upload_waits_for_a_seat_and_is_refused_in_the_end() {
    let server =
        start(&[("upload.concurrent", "1"), ("upload.queue_ms", "400"), ("server.body_idle_ms", "1500")]);
    let mut slow = connect(server.address);
    slow.write_all(Request::new("POST", "/v1/scenes").body(vec![0; 10_000]).head().as_bytes())
        .expect("written");
    slow.write_all(b"begun").expect("written");
    std::thread::sleep(Duration::from_millis(300));
    let post = || server.send(Request::new("POST", "/v1/scenes").body(triangle(1).to_string()));
    post().expect_problem(503, "overload");
    let start = Instant::now();
    while post().status == 503 {
        assert!(start.elapsed() < Duration::from_secs(5), "the slow one is given up, and its seat is free");
    }
}

#[test]
fn a_full_store_refuses_and_deleting_makes_room() {
    let file = padded(&triangle(1), 2000);
    let server = start(&[("upload.stored_bytes", "3000")]);
    let post = |file: Vec<u8>| server.send(Request::new("POST", "/v1/scenes").body(file));
    let id = post(file.clone()).expect(201).json()["id"].as_str().expect("an id").to_owned();
    let problem = post(padded(&triangle(2), 2000)).expect_problem(507, "storage_full");
    assert_eq!(problem["limit_bytes"], 3000);
    post(file).expect(200);
    server.send(Request::new("DELETE", &format!("/v1/scenes/{id}"))).expect(204);
    post(padded(&triangle(2), 2000)).expect(201);
}

#[test]
fn environments_are_taken_checked_and_light_scenes() {
    let server = start(&[("environment.side_px", "16")]);
    let scene = upload(&server, &triangle(1));
    // Radiance, 8 by 4, flat pixels: mantissas 128 and 64 of exponent 129 are 1.0 and 0.5.
    let hdr = |width: usize, red: u8| {
        let mut file =
            format!("#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y {} +X {width}\n", width / 2).into_bytes();
        (0..width * width / 2).for_each(|_| file.extend_from_slice(&[red, 64, 64, 129]));
        file
    };
    let post = |file: Vec<u8>| server.send(Request::new("POST", "/v1/environments").body(file));
    let stored = post(hdr(8, 128)).expect(201).json();
    assert_eq!(
        (&stored["width"], &stored["height"], &stored["repaired_px"]),
        (&json!(8), &json!(4), &json!(0))
    );
    let id = stored["id"].as_str().expect("an id");
    assert_eq!(post(hdr(8, 128)).expect(200).json(), stored);
    assert_eq!(server.get("/v1/environments").json(), json!({ "entries": [stored] }));
    assert_eq!(server.get(&format!("/v1/environments/{id}")).json(), stored);
    let frame = |query: &str| {
        let path = format!("/v1/scenes/{scene}/frame.png?size=16x16&background=environment{query}");
        server.get(&path)
    };
    let lit = frame(&format!("&env={id}")).expect(200);
    assert_ne!(lit.body, frame("").expect(200).body, "another light than the studio's");
    for (file, cause) in [
        (b"x".to_vec(), "environment_format"),
        (hdr(32, 128), "environment_size"),
        (hdr(8, 128)[..60].to_vec(), "environment_damaged"),
    ] {
        assert_eq!(post(file).expect_problem(422, "environment_invalid")["cause"], cause);
    }
    server.send(Request::new("DELETE", &format!("/v1/environments/{id}"))).expect(204);
    frame(&format!("&env={id}")).expect_problem(404, "environment_not_found");
}

#[test]
fn the_files_of_the_shared_assets_are_taken() {
    let Some(folder) = assets() else { return };
    let server = start(&[]);
    for (path, triangles) in [("Box/Box.glb", 12), ("CesiumMilkTruck/CesiumMilkTruck.glb", 2856)] {
        let Ok(file) = std::fs::read(folder.join(path)) else {
            eprintln!("SKIPPED: {path} is not there");
            continue;
        };
        let scene = server.send(Request::new("POST", "/v1/scenes").body(file)).expect(201).json();
        assert_eq!(scene["counts"]["triangles"], triangles, "{path}");
    }
}

/// The folder of test scenes, if it is there.
pub fn assets() -> Option<std::path::PathBuf> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/assets");
    let folder = std::env::var_os("ISOFRAME_ASSETS").map_or_else(|| default.into(), std::path::PathBuf::from);
    if !folder.is_dir() {
        eprintln!("SKIPPED: no test scenes; ISOFRAME_ASSETS names their folder");
        return None;
    }
    Some(folder)
}
