//! Frames at once: identity, freshness, the cache, errors, limits, hang-ups.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use base64::Engine;
use isoframe_raster::frame::ENGINE;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::client::{self, Answer, Request, connect};
use crate::fixtures::triangle;
use crate::scenes::upload;
use crate::server::{TestServer, start, start_in};

const NO_CACHE: [(&str, &str); 1] = [("cache.frame_bytes", "0")];

fn rendered(server: &TestServer) -> f64 {
    server.metric_sum("isoframe_frames_total")
}

fn frame_path(scene: &str, query: &str) -> String {
    format!("/v1/scenes/{scene}/frame.png?size=64x48{query}")
}

/// A frame that takes many seconds.
fn endless(scene: &str) -> String {
    format!("/v1/scenes/{scene}/frame.png?size=8000x8000&samples=16")
}

fn repr_digest(body: &[u8]) -> String {
    format!("sha-256=:{}:", base64::engine::general_purpose::STANDARD.encode(Sha256::digest(body)))
}

/// Begins a request and leaves its connection open.
fn begin(server: &TestServer, path: &str) -> std::net::TcpStream {
    let mut stream = connect(server.address);
    stream.write_all(Request::new("GET", path).head().as_bytes()).expect("written");
    stream
}

/// Waits until a metric has a value.
fn await_metric(server: &TestServer, name: &str, value: f64) {
    let start = Instant::now();
    while server.metric(name) != value {
        let now = server.metric(name);
        assert!(start.elapsed() < Duration::from_secs(30), "{name} is {now}, not {value}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

const RENDERING: &str = "isoframe_queue{place=\"rendering\"}";
const WAITING: &str = "isoframe_queue{place=\"interactive_waiting\"}";

#[test]
fn a_frame_says_what_it_is() {
    let server = start(&[]);
    let scene = upload(&server, &triangle(1));
    let answer = server.get(&frame_path(&scene, "")).expect(200);
    assert!(answer.body.starts_with(b"\x89PNG\r\n\x1a\n"));
    let header = |name: &str| answer.header(name).unwrap_or_else(|| panic!("no {name}"));
    assert_eq!(header("content-type"), "image/png");
    assert_eq!(header("content-length"), answer.body.len().to_string());
    assert_eq!(header("accept-ranges"), "none");
    assert_eq!(header("cache-control"), "no-cache");
    assert_eq!(header("repr-digest"), repr_digest(&answer.body));
    assert_eq!(header("isoframe-frame-id"), header("isoframe-plan-id"));
    assert_eq!(header("isoframe-engine"), ENGINE);
    assert_eq!((header("isoframe-path"), header("isoframe-model")), ("raster".into(), "none".into()));
    assert_eq!(header("isoframe-pixels").len(), 64);
    assert!(header("isoframe-backend").starts_with("cpu"));
    assert!(header("server-timing").contains("render;dur="));
    assert_eq!(answer.header("isoframe-fallback"), None);
    let etag = header("etag");
    assert!(etag.starts_with('"') && etag.ends_with('"'));
    // The receipt in the file says the same.
    let receipt = isoframe::receipt::read(&answer.body).expect("a receipt");
    assert_eq!(receipt.frame, header("isoframe-frame-id"));
    assert_eq!(receipt.pixels.to_string(), header("isoframe-pixels"));
    assert_eq!(receipt.request.scene, scene);
    // The triangle is there and the rest is not.
    let picture = image::load_from_memory(&answer.body).expect("a picture").to_rgba8();
    assert_eq!(picture.dimensions(), (64, 48));
    assert_eq!((picture.get_pixel(32, 24)[3], picture.get_pixel(1, 1)[3]), (255, 0));
}

#[test]
fn the_cache_answers_the_same_bytes_and_renders_once() {
    let folder = std::sync::Arc::new(tempfile::tempdir().expect("a folder"));
    let server = start_in(&folder, &[]);
    let scene = upload(&server, &triangle(1));
    let path = frame_path(&scene, "");
    let first = server.get(&path).expect(200);
    assert_eq!(first.header("cache-status").as_deref(), Some("isoframe; fwd=miss; stored"));
    let second = server.get(&path).expect(200);
    assert_eq!(second.header("cache-status").as_deref(), Some("isoframe; hit"));
    assert_eq!(second.body, first.body);
    for name in ["etag", "repr-digest", "isoframe-pixels", "isoframe-backend", "isoframe-frame-id"] {
        assert_eq!(second.header(name), first.header(name), "{name}");
    }
    assert_eq!(rendered(&server), 1.0);
    // The same frame asked for in other words.
    let same = format!("/v1/scenes/{scene}/frame.png?height=48&width=64&samples=4&neural=off&time=0");
    assert_eq!(server.get(&same).expect(200).body, first.body);
    let body = json!({ "scene": scene, "width": 64, "height": 48 });
    let posted = server.send(Request::new("POST", "/v1/frames").json(&body)).expect(200);
    assert_eq!((&posted.body, posted.header("etag")), (&first.body, first.header("etag")));
    assert_eq!(rendered(&server), 1.0);
    let fresh = server.send(Request::new("GET", &path).header("cache-control", "no-cache")).expect(200);
    assert_eq!(fresh.body, first.body);
    assert_eq!(rendered(&server), 2.0);
    drop(server);
    let server = start_in(&folder, &[]);
    assert_eq!(server.get(&path).expect(200).body, first.body);
    assert_eq!(rendered(&server), 0.0);
    // A damaged file on disk is made again, not answered.
    let frames = folder.path().join("frames").join(&scene);
    let file = std::fs::read_dir(frames).expect("there").next().expect("one").expect("readable").path();
    let mut bytes = std::fs::read(&file).expect("readable");
    *bytes.last_mut().expect("not empty") ^= 1;
    std::fs::write(&file, bytes).expect("written");
    assert_eq!(server.get(&path).expect(200).body, first.body);
    assert_eq!(rendered(&server), 1.0);
}

#[test]
fn conditional_requests_and_head_render_nothing() {
    let server = start(&NO_CACHE);
    let scene = upload(&server, &triangle(1));
    let path = frame_path(&scene, "");
    let head = server.send(Request::new("HEAD", &path)).expect(200);
    assert_eq!((head.header("content-type").as_deref(), head.body.len()), (Some("image/png"), 0));
    assert_eq!(head.header("content-length"), None, "nobody knows yet how long the file will be");
    let etag = head.header("etag").expect("known from the plan");
    for value in [etag.clone(), format!("W/{etag}"), format!("\"x\", {etag}"), "*".to_owned()] {
        for method in ["GET", "HEAD"] {
            let known = server.send(Request::new(method, &path).header("if-none-match", &value)).expect(304);
            assert_eq!(known.header("etag").as_ref(), Some(&etag));
            assert_eq!(known.header("cache-control").as_deref(), Some("no-cache"));
        }
    }
    assert_eq!(rendered(&server), 0.0);
    let got = server.send(Request::new("GET", &path).header("if-none-match", "\"other\"")).expect(200);
    assert_eq!(got.header("etag"), Some(etag));
    assert_eq!(rendered(&server), 1.0);
    server.get(&path).expect(200);
    assert_eq!(rendered(&server), 2.0, "the cache is off");
    // HEAD promises no frame that GET would not give.
    let head = server.send(Request::new("HEAD", &frame_path(&scene, "&variant=none-such")));
    assert_eq!(head.status, server.get(&frame_path(&scene, "&variant=none-such")).status);
    assert_eq!(head.status, 422);
}

#[test]
fn head_of_a_cached_frame_knows_its_file() {
    let server = start(&[]);
    let scene = upload(&server, &triangle(1));
    let path = frame_path(&scene, "");
    let got = server.get(&path).expect(200);
    let head = server.send(Request::new("HEAD", &path)).expect(200);
    for name in ["content-length", "repr-digest", "etag", "isoframe-pixels"] {
        assert_eq!(head.header(name), got.header(name), "{name}");
    }
}

#[test]
fn only_a_url_that_pins_everything_is_immutable() {
    let server = start(&[]);
    let scene = upload(&server, &triangle(1));
    let check = |query: &str, wanted: &str| {
        let answer = server.get(&frame_path(&scene, query)).expect(200);
        assert_eq!(answer.header("cache-control").as_deref(), Some(wanted), "{query}");
    };
    let immutable = "public, max-age=31536000, immutable";
    check("", "no-cache");
    check("&neural=off", "no-cache");
    check(&format!("&engine={ENGINE}"), "no-cache");
    check(&format!("&engine={ENGINE}&neural=auto"), "no-cache");
    check(&format!("&engine={ENGINE}&neural=off"), immutable);
    let gone = server.get(&frame_path(&scene, "&engine=isoframe-0&neural=off"));
    gone.expect_problem(410, "engine_gone");
    let body = json!({ "scene": scene, "engine": "isoframe-0" });
    server.send(Request::new("POST", "/v1/frames").json(&body)).expect_problem(410, "engine_gone");
}

#[test]
fn digests_are_sent_as_wanted() {
    let server = start(&[]);
    let scene = upload(&server, &triangle(1));
    for (want, sent) in [("sha-256=1", true), ("sha-256=0", false), ("sha-512=10", false)] {
        let answer =
            server.send(Request::new("GET", &frame_path(&scene, "")).header("want-repr-digest", want));
        assert_eq!(answer.header("repr-digest").is_some(), sent, "{want}");
    }
}

#[test]
fn what_cannot_be_is_refused_with_its_field() {
    let server = start(&[("render.side_px", "1000")]);
    let scene = upload(&server, &triangle(1));
    let check = |query: &str, field: &str| {
        let problem = server.get(&frame_path(&scene, query)).expect_problem(422, "request_invalid");
        assert_eq!(problem["field"], field, "{query}: {problem}");
    };
    check("&colour=red", "colour");
    check("&samples=3", "samples");
    check("&samples=4&samples=4", "samples");
    check("&width=64", "size");
    check("&time=soon", "time");
    check("&exposure=1000", "exposure_ev");
    check("&variant=none-such", "variant");
    check("&animation=none-such", "animation");
    check("&output=beauty", "output");
    check("&output=color,depth", "outputs");
    check("&format=exr", "format");
    check("&format=bmp", "format");
    check("&format=png&format=png", "format");
    check("&scene=other", "scene");
    check("&time=%ff", "time");
    let wide = server.get(&format!("/v1/scenes/{scene}/frame.png?size=1001x10"));
    assert!(wide.expect_problem(422, "request_invalid")["detail"].as_str().expect("text").contains("1000"));
    server.get(&frame_path(&"0".repeat(64), "")).expect_problem(404, "scene_not_found");
    let problem = server.get(&frame_path("..%2f..%2fetc", ""));
    assert!(!problem.text().contains("etc"), "{}", problem.text());
    problem.expect_problem(404, "scene_not_found");
    server
        .get(&frame_path(&scene, &format!("&env={}", "0".repeat(64))))
        .expect_problem(404, "environment_not_found");
    server.get(&frame_path(&scene, "&env=sunset")).expect_problem(422, "request_invalid");
    server.get(&format!("/v1/scenes/{scene}/frame.gif")).expect_problem(404, "not_found");
    assert_eq!(rendered(&server), 0.0);
}

#[test]
fn bad_bodies_are_refused() {
    let server = start(&[("server.json_bytes", "2000")]);
    let scene = upload(&server, &triangle(1));
    let post = |body: &str| {
        let request =
            Request::new("POST", "/v1/frames").header("content-type", "application/json; charset=utf-8");
        server.send(request.body(body))
    };
    post("{").expect_problem(400, "request_malformed");
    post("[]").expect_problem(422, "request_invalid");
    let field = |fields: Value| {
        let mut body = json!({ "scene": scene, "width": 8, "height": 8 });
        body.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
        post(&body.to_string())
    };
    field(json!({})).expect(200);
    assert_eq!(field(json!({ "colour": 1 })).expect_problem(422, "request_invalid")["field"], "body");
    assert_eq!(field(json!({ "width": "8" })).expect_problem(422, "request_invalid")["field"], "body");
    assert_eq!(field(json!({ "samples": 5 })).expect_problem(422, "request_invalid")["field"], "samples");
    assert_eq!(field(json!({ "format": 1 })).expect_problem(422, "request_invalid")["field"], "format");
    assert_eq!(field(json!({ "outputs": [] })).expect_problem(422, "request_invalid")["field"], "outputs");
    assert_eq!(field(json!({ "scene": "x" })).expect_problem(422, "request_invalid")["field"], "scene");
    post(&" ".repeat(2000)).expect_problem(400, "request_malformed");
    assert_eq!(post(&" ".repeat(2001)).expect_problem(413, "body_too_large")["limit_bytes"], 2000);
    let plain = Request::new("POST", "/v1/frames").header("content-type", "text/plain").body("{}");
    server.send(plain).expect_problem(415, "media_type_unsupported");
    let gzip = Request::new("POST", "/v1/frames").header("content-type", "application/json");
    server
        .send(gzip.header("content-encoding", "gzip").body("x"))
        .expect_problem(415, "media_type_unsupported");
}

#[test]
fn neural_wishes_are_met_or_answered() {
    let server = start(&[]);
    let scene = upload(&server, &triangle(1));
    let off = server.get(&frame_path(&scene, "&neural=off")).expect(200);
    let auto = server.get(&frame_path(&scene, "&neural=auto")).expect(200);
    assert_eq!(auto.header("isoframe-fallback").as_deref(), Some("no_model"));
    assert_eq!((&auto.body, auto.header("etag")), (&off.body, off.header("etag")));
    let required = server.get(&frame_path(&scene, "&neural=required"));
    assert!(required.header("retry-after").is_some());
    required.expect_problem(503, "neural_unavailable");
}

#[test]
fn every_output_comes_in_every_format_that_holds_it() {
    let server = start(&[]);
    let scene = upload(&server, &triangle(1));
    let get = |extension: &str, query: &str| {
        server.get(&format!("/v1/scenes/{scene}/frame.{extension}?size=16x16{query}"))
    };
    for output in ["color", "base", "depth", "motion", "normal", "albedo", "id"] {
        let answer = get("exr", &format!("&output={output}")).expect(200);
        assert!(answer.body.starts_with(&[0x76, 0x2f, 0x31, 0x01]), "{output}");
    }
    let layers = get("exr", "&output=color,base,depth,motion,normal,albedo,id").expect(200);
    assert_eq!(layers.header("content-type").as_deref(), Some("image/x-exr"));
    assert_eq!(&get("webp", "").expect(200).body[8..12], b"WEBP");
    assert_eq!(&get("jpg", "").expect(200).body[..3], b"\xff\xd8\xff");
    assert_ne!(get("jpg", "&format=jpg:30").expect(200).body, get("jpg", "").expect(200).body);
    assert_ne!(get("png", "&format=png16").expect(200).body, get("png", "").expect(200).body);
    get("exr", "&format=exr32").expect(200);
    get("png", "&output=depth").expect(200);
}

#[test]
fn a_hang_up_stops_the_render_and_frees_its_slot() {
    let server = start(&NO_CACHE);
    let scene = upload(&server, &triangle(1));
    let client = begin(&server, &endless(&scene));
    await_metric(&server, RENDERING, 1.0);
    drop(client);
    await_metric(&server, "isoframe_renders_stopped_total{why=\"hang_up\"}", 1.0);
    let start = Instant::now();
    server.get(&frame_path(&scene, "")).expect(200);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(rendered(&server), 1.0, "the stopped one was not finished");
}

#[test]
fn a_client_that_hangs_up_in_the_queue_leaves_it() {
    let server = start(&NO_CACHE);
    let scene = upload(&server, &triangle(1));
    let rendering = begin(&server, &endless(&scene));
    await_metric(&server, RENDERING, 1.0);
    let waiting = begin(&server, &frame_path(&scene, ""));
    await_metric(&server, WAITING, 1.0);
    drop(waiting);
    await_metric(&server, WAITING, 0.0);
    drop(rendering);
    await_metric(&server, RENDERING, 0.0);
    assert_eq!(rendered(&server), 0.0);
}

#[test]
fn a_frame_beyond_the_time_limit_is_stopped() {
    let server = start(&[("render.render_ms", "100"), ("cache.frame_bytes", "0")]);
    let scene = upload(&server, &triangle(1));
    let start = Instant::now();
    server.get(&endless(&scene)).expect_problem(504, "render_timeout");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    await_metric(&server, RENDERING, 0.0);
    assert_eq!(server.metric("isoframe_renders_stopped_total{why=\"time_limit\"}"), 1.0);
    server.get(&frame_path(&scene, "")).expect(200);
}

#[test]
fn a_full_queue_and_a_long_wait_are_refused_with_advice() {
    let server =
        start(&[("render.queue_requests", "1"), ("render.queue_ms", "300"), ("cache.frame_bytes", "0")]);
    let scene = upload(&server, &triangle(1));
    let rendering = begin(&server, &endless(&scene));
    await_metric(&server, RENDERING, 1.0);
    let start = Instant::now();
    let waiting = server.get(&frame_path(&scene, ""));
    assert!(start.elapsed() >= Duration::from_millis(250), "{:?}", start.elapsed());
    assert!(waiting.header("retry-after").is_some());
    waiting.expect_problem(503, "overload");
    let in_queue = begin(&server, &frame_path(&scene, ""));
    await_metric(&server, WAITING, 1.0);
    let start = Instant::now();
    let refused = server.get(&frame_path(&scene, "&seed=1"));
    assert!(start.elapsed() < Duration::from_millis(250), "{:?}", start.elapsed());
    assert!(refused.header("retry-after").is_some());
    refused.expect_problem(503, "overload");
    // What needs no renderer is answered all the same.
    let etag = server
        .send(Request::new("HEAD", &frame_path(&scene, "")))
        .expect(200)
        .header("etag")
        .expect("an etag");
    server.send(Request::new("GET", &frame_path(&scene, "")).header("if-none-match", &etag)).expect(304);
    server.get("/readyz").expect(200);
    drop((rendering, in_queue));
    await_metric(&server, RENDERING, 0.0);
    server.get(&frame_path(&scene, "")).expect(200);
}

#[test]
fn a_failing_neighbour_changes_no_byte() {
    let server = start(&[("cache.frame_bytes", "0"), ("render.concurrent", "2")]);
    let scene = upload(&server, &triangle(1));
    let path = frame_path(&scene, "");
    let alone = server.get(&path).expect(200).body;
    let running = std::sync::atomic::AtomicBool::new(true);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let mut stopped = 0;
            while running.load(std::sync::atomic::Ordering::Relaxed) {
                server.get(&frame_path(&scene, "&variant=none-such")).expect(422);
                server.send(Request::new("POST", "/v1/scenes").body("not a scene")).expect(422);
                let client = begin(&server, &endless(&scene));
                std::thread::sleep(Duration::from_millis(20));
                drop(client);
                stopped += 1;
            }
            assert!(stopped > 0);
        });
        for _ in 0..20 {
            assert!(server.get(&path).expect(200).body == alone);
        }
        running.store(false, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn a_deleted_scene_has_no_frames_any_more() {
    let server = start(&[]);
    let scene = upload(&server, &triangle(1));
    let path = frame_path(&scene, "");
    let etag = server.get(&path).expect(200).header("etag").expect("an etag");
    let frames = server.data_dir().join("frames").join(&scene);
    assert!(frames.exists());
    server.send(Request::new("DELETE", &format!("/v1/scenes/{scene}"))).expect(204);
    server.get(&path).expect_problem(404, "scene_not_found");
    server
        .send(Request::new("GET", &path).header("if-none-match", &etag))
        .expect_problem(404, "scene_not_found");
    assert!(!frames.exists());
    assert_eq!(server.metric("isoframe_frame_cache_frames"), 0.0);
}

#[test]
fn the_cache_forgets_the_oldest_frames() {
    let server = start(&[("cache.frame_bytes", "6000")]);
    let scene = upload(&server, &triangle(1));
    let path = |seed: u32| frame_path(&scene, &format!("&seed={seed}"));
    for seed in 0..12 {
        server.get(&path(seed)).expect(200);
    }
    let kept = server.metric("isoframe_frame_cache_bytes");
    assert!(kept > 0.0 && kept <= 6000.0, "{kept}");
    let status = |answer: Answer| answer.header("cache-status").expect("a status");
    assert_eq!(status(server.get(&path(11))), "isoframe; hit");
    assert_eq!(status(server.get(&path(0))), "isoframe; fwd=miss; stored");
}

#[test]
fn answers_beyond_their_memory_wait_on_disk_and_are_whole() {
    let server = start(&[("server.answer_bytes", "0"), ("cache.frame_bytes", "0")]);
    let scene = upload(&server, &triangle(1));
    let answer = server.get(&frame_path(&scene, "")).expect(200);
    assert_eq!(answer.header("repr-digest"), Some(repr_digest(&answer.body)));
    let left = std::fs::read_dir(server.data_dir().join("incoming")).expect("there").count();
    assert_eq!(left, 0, "no file stays behind");
}

#[test]
fn shutdown_finishes_what_runs() {
    let server = start(&[]);
    let scene = upload(&server, &triangle(1));
    let slow = format!("/v1/scenes/{scene}/frame.png?size=2000x2000&samples=16");
    let mut client = begin(&server, &slow);
    await_metric(&server, RENDERING, 1.0);
    drop(server);
    client::read_answer(&mut client, false).expect("answered").expect(200);
}

#[test]
fn shutdown_waits_no_longer_than_it_may() {
    let server = start(&[("server.shutdown_ms", "300")]);
    let scene = upload(&server, &triangle(1));
    let client = begin(&server, &endless(&scene));
    await_metric(&server, RENDERING, 1.0);
    let start = Instant::now();
    drop(server);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    drop(client);
}

#[test]
fn a_client_that_takes_nothing_is_cut_off() {
    let server = start(&[("server.response_stall_ms", "500"), ("server.idle_ms", "500")]);
    let one = server.get("/v1/openapi.json").expect(200).body.len();
    // More than the buffers of both sides hold: one request after another, and nothing is read.
    let requests = 64_000_000 / one;
    let mut deaf = connect(server.address);
    deaf.write_all(Request::new("GET", "/v1/openapi.json").head().repeat(requests).as_bytes())
        .expect("written");
    std::thread::sleep(Duration::from_secs(3));
    let mut taken = Vec::new();
    let ended = deaf.read_to_end(&mut taken);
    assert!(taken.len() < requests * one, "{} bytes, {ended:?}", taken.len());
    server.get("/healthz").expect(200);
}
