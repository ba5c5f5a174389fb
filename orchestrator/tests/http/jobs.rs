//! Jobs: accepted, watched, fetched, cancelled, and finished after a restart.

use std::io::{Cursor, Read, Write};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{self, Answer, Request, connect};
use crate::fixtures::{spinning, triangle};
use crate::scenes::upload;
use crate::server::{TestServer, start, start_in};

fn frame(scene: &str) -> Value {
    json!({ "scene": scene, "width": 32, "height": 24 })
}

fn sequence(scene: &str, last: u32) -> Value {
    json!({ "frame": frame(scene), "first": 0, "last": last, "fps": 24.0 })
}

/// Frames that take many seconds each.
fn endless(scene: &str) -> Value {
    json!({
        "frame": { "scene": scene, "width": 8000, "height": 8000, "samples": 16 }, "first": 0, "last": 9, "fps": 24.0
    })
}

fn post(server: &TestServer, path: &str, body: &Value) -> Answer {
    server.send(Request::new("POST", path).json(body))
}

fn accept(server: &TestServer, path: &str, body: &Value) -> String {
    let answer = post(server, path, body).expect(202);
    let job = answer.json();
    assert_eq!(answer.header("location").as_deref(), job["url"].as_str());
    job["url"].as_str().expect("a url").to_owned()
}

fn await_state(server: &TestServer, url: &str, state: &str) -> Value {
    let start = Instant::now();
    loop {
        let job = server.get(url).expect(200).json();
        if job["state"] == state {
            return job;
        }
        let over = ["done", "failed", "cancelled"].iter().any(|last| job["state"] == *last);
        assert!(!over && start.elapsed() < Duration::from_secs(60), "not {state}: {job}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Names and bytes of a zip's files, in order.
fn unzip(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).expect("a zip");
    (0..zip.len())
        .map(|index| {
            let mut file = zip.by_index(index).expect("a file");
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).expect("reads");
            (file.name().expect("UTF-8").into_owned(), bytes)
        })
        .collect()
}

#[test]
fn a_frame_as_a_job_is_the_frame() {
    let server = start(&[("cache.frame_bytes", "0")]);
    let scene = upload(&server, &triangle(1));
    let path = format!("/v1/scenes/{scene}/frame.png?size=32x24");
    let answer = server.send(Request::new("GET", &path).header("prefer", "respond-async")).expect(202);
    assert_eq!(answer.header("preference-applied").as_deref(), Some("respond-async"));
    let url = answer.header("location").expect("a location");
    let job = await_state(&server, &url, "done");
    assert_eq!(
        (&job["kind"], &job["frames_done"], &job["frames_total"]),
        (&json!("frame"), &json!(1), &json!(1))
    );
    let result = server.get(job["result"]["url"].as_str().expect("a url")).expect(200);
    let now = server.get(&path).expect(200);
    assert!(result.body == now.body);
    for name in
        ["etag", "content-type", "repr-digest", "isoframe-pixels", "isoframe-frame-id", "isoframe-plan-id"]
    {
        assert_eq!(result.header(name), now.header(name), "{name}");
    }
    let etag = result.header("etag").expect("an etag");
    server.send(Request::new("GET", &format!("{url}/result")).header("if-none-match", &etag)).expect(304);
    server.send(Request::new("DELETE", &url)).expect(204);
    server.get(&url).expect_problem(404, "job_not_found");
    server.get(&format!("{url}/result")).expect_problem(404, "job_not_found");
    server.get("/v1/jobs/..%2f..").expect_problem(404, "job_not_found");
}

#[test]
fn what_is_cached_is_answered_at_once_even_where_a_job_would_do() {
    let server = start(&[]);
    let scene = upload(&server, &triangle(1));
    let post = || Request::new("POST", "/v1/frames").json(&frame(&scene));
    server.send(post()).expect(200);
    server.send(post().header("prefer", "respond-async, wait=5")).expect(200);
}

#[test]
fn a_sequence_is_a_zip_of_its_frames_the_same_each_time() {
    let server = start(&[("cache.frame_bytes", "0")]);
    let scene = upload(&server, &spinning(1));
    let results: Vec<_> = (0..2)
        .map(|_| {
            let url = accept(&server, "/v1/sequences", &sequence(&scene, 5));
            await_state(&server, &url, "done");
            server.get(&format!("{url}/result")).expect(200)
        })
        .collect();
    assert_eq!(results[0].header("content-type").as_deref(), Some("application/zip"));
    assert!(results[0].header("content-disposition").expect("a name").contains(".zip"));
    assert!(results[0].body == results[1].body, "the same frames give the same zip");
    let files = unzip(&results[0].body);
    let names: Vec<_> = files.iter().map(|(name, _)| name.as_str()).collect();
    let frames: Vec<_> = (0..6).map(|number| format!("frame_{number:04}.png")).collect();
    assert_eq!(names[..6], frames);
    assert_eq!(names[6..], ["manifest.json"]);
    let manifest: Value = serde_json::from_slice(&files[6].1).expect("JSON");
    for (number, (_, file)) in files[..6].iter().enumerate() {
        let receipt = isoframe::receipt::read(file).expect("a receipt");
        let entry = &manifest["frames"][number];
        assert_eq!(entry["frame_id"], receipt.frame.as_str());
        assert_eq!(entry["pixels"], receipt.pixels.to_string());
        assert_eq!(receipt.request.time_s, number as f64 / 24.0);
        let previous = (number > 0).then(|| (number - 1) as f64 / 24.0);
        assert_eq!(receipt.request.previous_time_s, previous);
        // A frame of a sequence is the frame that a single request gets.
        let mut body = frame(&scene);
        body["time_s"] = json!(receipt.request.time_s);
        body["previous_time_s"] = json!(receipt.request.previous_time_s);
        assert!(post(&server, "/v1/frames", &body).expect(200).body == *file);
    }
    assert_ne!(files[0].1, files[5].1, "it moves");
}

#[test]
fn a_dry_run_says_ids_cost_and_what_is_cached() {
    let server = start(&[]);
    let scene = upload(&server, &triangle(1));
    let mut second = frame(&scene);
    second["samples"] = json!(8);
    let batch = json!({ "frames": [frame(&scene), second] });
    let before = post(&server, "/v1/batches?dry_run=true", &batch).expect(200).json();
    assert_eq!((&before["cached"], &before["pixel_samples"]), (&json!(0), &json!(32 * 24 * (4 + 8))));
    assert!(before.get("estimated_ms").is_none(), "nothing was learnt yet");
    assert_eq!(server.metric_sum("isoframe_frames_total"), 0.0);
    let made = post(&server, "/v1/frames", &frame(&scene)).expect(200);
    let after = post(&server, "/v1/batches?dry_run=true", &batch).expect(200).json();
    assert_eq!((&after["cached"], &after["pixel_samples"]), (&json!(1), &json!(32 * 24 * 8)));
    assert_eq!(after["frames"][0]["cached"], true);
    assert_eq!(after["frames"][0]["etag"].as_str(), made.header("etag").as_deref());
    assert_eq!(after["frames"][0]["frame_id"].as_str(), made.header("isoframe-frame-id").as_deref());
    assert!(after["estimated_ms"].as_f64().expect("learnt") > 0.0);
    let url = accept(&server, "/v1/batches", &batch);
    await_state(&server, &url, "done");
    let files = unzip(&server.get(&format!("{url}/result")).expect(200).body);
    assert_eq!(
        files.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["0000.png", "0001.png", "manifest.json"]
    );
    assert!(files[0].1 == made.body);
}

#[test]
fn jobs_that_cannot_be_done_are_refused_before_they_are_accepted() {
    let server = start(&[("jobs.frames", "10")]);
    let scene = upload(&server, &triangle(1));
    let check = |path: &str, body: Value, field: &str| {
        let problem = post(&server, path, &body).expect_problem(422, "request_invalid");
        assert_eq!(problem["field"], field, "{body}: {problem}");
    };
    let with = |name: &str, value: Value| {
        let mut body = sequence(&scene, 5);
        body[name] = value;
        body
    };
    check("/v1/sequences", with("last", json!(10)), "frames");
    check("/v1/sequences", with("first", json!(6)), "frames");
    check("/v1/sequences", with("fps", json!(0.0)), "fps");
    check("/v1/sequences", with("frame", json!([])), "frame");
    check("/v1/sequences", with("frame", json!({ "scene": scene, "samples": 2 })), "frame_0000.png.samples");
    check(
        "/v1/sequences",
        with("frame", json!({ "scene": scene, "previous_time_s": 1.0 })),
        "frame.previous_time_s",
    );
    check("/v1/batches", json!({ "frames": [] }), "frames");
    check("/v1/batches", json!({ "frames": [frame(&scene), { "colour": 1 }] }), "frames[1]");
    let missing = "0".repeat(64);
    post(&server, "/v1/sequences", &sequence(&missing, 5)).expect_problem(404, "scene_not_found");
    post(&server, "/v1/sequences", &json!({ "frames": 3 })).expect_problem(400, "request_malformed");
    post(&server, "/v1/sequences?dry=1", &sequence(&scene, 5)).expect_problem(400, "request_malformed");
}

#[test]
fn a_job_whose_frame_fails_says_why() {
    let server = start(&[]);
    let scene = upload(&server, &triangle(1));
    let mut bad = frame(&scene);
    bad["variant"] = json!("none-such");
    let url = accept(&server, "/v1/batches", &json!({ "frames": [frame(&scene), bad] }));
    let job = await_state(&server, &url, "failed");
    assert_eq!(job["problem"]["code"], "request_invalid");
    assert_eq!(job["problem"]["field"], "0001.png.variant");
    assert_eq!(job["attempts"], 1, "what cannot be is not tried again");
    assert_eq!(job["frames_done"], 1);
    let problem = server.get(&format!("{url}/result")).expect_problem(409, "job_not_done");
    assert!(problem["detail"].as_str().expect("text").contains("failed"));
}

#[test]
fn events_tell_of_each_step_and_end() {
    let server = start(&[("cache.frame_bytes", "0")]);
    let scene = upload(&server, &spinning(1));
    let mut body = sequence(&scene, 19);
    body["frame"]["width"] = json!(400);
    body["frame"]["height"] = json!(300);
    let url = accept(&server, "/v1/sequences", &body);
    let answer = server.get(&format!("{url}/events")).expect(200);
    assert_eq!(answer.header("content-type").as_deref(), Some("text/event-stream"));
    let text = answer.text();
    let events: Vec<_> = text
        .split("\n\n")
        .filter(|event| event.contains("event:"))
        .map(|event| {
            let line =
                |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).expect("a line").trim();
            let job: Value = serde_json::from_str(line("data:")).expect("JSON");
            (line("event:").to_owned(), job)
        })
        .collect();
    let (last, steps) = events.split_last().expect("events");
    assert_eq!(
        (last.0.as_str(), &last.1["state"], &last.1["frames_done"]),
        ("done", &json!("done"), &json!(20))
    );
    let done: Vec<_> = steps.iter().map(|(_, job)| job["frames_done"].as_u64().expect("a number")).collect();
    assert!(steps.iter().all(|(name, _)| name == "progress"));
    assert!(done.len() >= 2 && done.is_sorted(), "{done:?}");
    // Asked for again, a job that has ended tells its end at once.
    assert!(server.get(&format!("{url}/events")).expect(200).text().starts_with("event: done"));
}

#[test]
fn jobs_are_cancelled_while_they_wait_and_while_they_run() {
    let server = start(&[]);
    let scene = upload(&server, &triangle(1));
    let running = accept(&server, "/v1/sequences", &endless(&scene));
    await_state(&server, &running, "running");
    let waiting = accept(&server, "/v1/sequences", &sequence(&scene, 1));
    assert_eq!(server.get(&waiting).json()["state"], "queued");
    let path = format!("/v1/scenes/{scene}");
    let problem = server.send(Request::new("DELETE", &path)).expect_problem(409, "scene_in_use");
    assert!(problem["detail"].as_str().expect("text").contains("job"));
    server.send(Request::new("DELETE", &waiting)).expect(202);
    await_state(&server, &waiting, "cancelled");
    let start = Instant::now();
    server.send(Request::new("DELETE", &running)).expect(202);
    await_state(&server, &running, "cancelled");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    server.send(Request::new("DELETE", &path)).expect(204);
    server.get(&format!("{running}/result")).expect_problem(409, "job_not_done");
}

#[test]
fn an_idempotency_key_names_one_request() {
    let server = start(&[]);
    let scene = upload(&server, &triangle(1));
    let send = |path: &str, body: &Value, key: &str| {
        server.send(Request::new("POST", path).header("idempotency-key", key).json(body))
    };
    let body = sequence(&scene, 2);
    let first = send("/v1/sequences", &body, "\"order-1\"").expect(202).json();
    for key in ["\"order-1\"", "order-1"] {
        assert_eq!(send("/v1/sequences", &body, key).expect(202).json()["id"], first["id"]);
    }
    send("/v1/sequences", &sequence(&scene, 3), "order-1").expect_problem(422, "idempotency_mismatch");
    let other = send("/v1/sequences", &body, "order-2").expect(202).json();
    assert_ne!(other["id"], first["id"]);
    send("/v1/sequences", &body, "").expect_problem(422, "request_invalid");
    send("/v1/sequences", &body, &"k".repeat(256)).expect_problem(422, "request_invalid");
    // While a request with the key is still being read, another one is told so.
    let slow = Request::new("POST", "/v1/sequences").header("idempotency-key", "slow").json(&body);
    let mut stream = connect(server.address);
    stream.write_all(slow.head().as_bytes()).expect("written");
    let start = Instant::now();
    loop {
        let answer = send("/v1/sequences?dry_run=true", &body, "slow");
        if answer.status == 409 {
            answer.expect_problem(409, "idempotency_in_flight");
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(5));
    }
    stream.write_all(&slow.body).expect("written");
    client::read_answer(&mut stream, false).expect("answered").expect(202);
}

#[test]
fn accepted_jobs_survive_a_restart() {
    let folder = std::sync::Arc::new(tempfile::tempdir().expect("a folder"));
    let server = start_in(&folder, &[]);
    let scene = upload(&server, &spinning(1));
    let mut body = sequence(&scene, 29);
    body["frame"]["width"] = json!(300);
    body["frame"]["height"] = json!(300);
    let [first, second] = [0; 2].map(|_| accept(&server, "/v1/sequences", &body));
    await_state(&server, &first, "running");
    drop(server);
    let server = start_in(&folder, &[]);
    let results = [first, second].map(|url| {
        let job = await_state(&server, &url, "done");
        assert_eq!(job["attempts"], 1, "a shutdown is not an attempt: {job}");
        server.get(&format!("{url}/result")).expect(200).body
    });
    assert_eq!(unzip(&results[0]).len(), 31);
    assert!(results[0] == results[1]);
    assert!(server.metric_sum("isoframe_frames_total") <= 30.0, "frames made before the restart were kept");
}

#[test]
fn a_job_begun_too_often_fails() {
    let folder = std::sync::Arc::new(tempfile::tempdir().expect("a folder"));
    let server = start_in(&folder, &[]);
    let scene = upload(&server, &triangle(1));
    let running = accept(&server, "/v1/sequences", &endless(&scene));
    await_state(&server, &running, "running");
    let waiting = accept(&server, "/v1/sequences", &sequence(&scene, 1));
    drop(server);
    // What three crashes in the middle of it leave behind.
    let index = rusqlite::Connection::open(folder.path().join("index.sqlite")).expect("opens");
    let id = running.rsplit('/').next().expect("an id");
    let rows =
        index.execute("UPDATE jobs SET state = 'running', attempts = 3 WHERE id = ?", [id]).expect("runs");
    assert_eq!(rows, 1);
    drop(index);
    let server = start_in(&folder, &[]);
    let job = await_state(&server, &running, "failed");
    assert_eq!(job["problem"]["code"], "internal");
    await_state(&server, &waiting, "done");
}

#[test]
fn the_queue_of_jobs_is_bounded_and_old_jobs_are_forgotten() {
    let server = start(&[("jobs.queue_jobs", "2"), ("jobs.keep_s", "1")]);
    let scene = upload(&server, &triangle(1));
    let running = accept(&server, "/v1/sequences", &endless(&scene));
    await_state(&server, &running, "running");
    let waiting = [0; 2].map(|_| accept(&server, "/v1/sequences", &sequence(&scene, 0)));
    let refused = post(&server, "/v1/sequences", &sequence(&scene, 0));
    assert!(refused.header("retry-after").is_some());
    refused.expect_problem(503, "overload");
    server.send(Request::new("DELETE", &running)).expect(202);
    for url in &waiting {
        await_state(&server, url, "done");
    }
    std::thread::sleep(Duration::from_millis(1100));
    // The next job's end is when the old ones go.
    let last = accept(&server, "/v1/sequences", &sequence(&scene, 0));
    let start = Instant::now();
    while server.get(&waiting[0]).status != 404 {
        assert!(start.elapsed() < Duration::from_secs(10), "forgotten");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(server.get(&last).status == 200 || server.get(&last).status == 404);
    let results = std::fs::read_dir(server.data_dir().join("results")).expect("there").count();
    assert!(results <= 1, "{results} results on disk");
}

#[test]
fn requests_come_before_jobs_but_do_not_starve_them() {
    let server = start(&[("cache.frame_bytes", "0")]);
    let scene = upload(&server, &triangle(1));
    let mut body = sequence(&scene, 9);
    body["frame"]["width"] = json!(640);
    body["frame"]["height"] = json!(480);
    let url = accept(&server, "/v1/sequences", &body);
    let start = Instant::now();
    while server.get(&url).json()["state"] != "done" {
        post(&server, "/v1/frames", &frame(&scene)).expect(200);
        assert!(start.elapsed() < Duration::from_secs(60), "the job starves");
    }
}
