//! Slow, silent and gone clients; early refusals; shutdown.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::client::{self, Request, connect};
use crate::fixtures::triangle;
use crate::server::{TestServer, start, start_in};

/// Waits until the server closes the connection; how long it took. Fails after ten seconds.
fn closed_after(stream: &mut TcpStream) -> Duration {
    let start = Instant::now();
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("set");
    let mut byte = [0; 1024];
    loop {
        match stream.read(&mut byte) {
            Ok(0) => return start.elapsed(),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return start.elapsed(),
            Err(error) => panic!("not closed: {error}"),
        }
    }
}

fn patient() -> TestServer {
    start(&[("server.header_read_ms", "400"), ("server.idle_ms", "1200")])
}

#[test]
fn it_lives_is_ready_and_says_what_it_is() {
    let server = start(&[]);
    assert_eq!(server.get("/healthz").expect(200).json()["status"], "live");
    assert_eq!(server.get("/readyz").expect(200).json()["ready"], true);
    assert_eq!(server.get("/version").expect(200).json()["engine"], isoframe_raster::frame::ENGINE);
    let answer = server.send(Request::new("GET", "/healthz").header("x-request-id", "mine-1.2_3"));
    assert_eq!(answer.header("x-request-id").as_deref(), Some("mine-1.2_3"));
    let answer = server.send(Request::new("GET", "/healthz").header("x-request-id", "not {fit}"));
    assert_eq!(answer.header("x-request-id").expect("an id").len(), 16);
    assert_eq!(
        server.metric("isoframe_requests_total{method=\"GET\",route=\"/healthz\",status=\"200\"}"),
        3.0
    );
}

#[test]
fn unknown_paths_and_methods_are_problems() {
    let server = start(&[]);
    server.get("/v1/nothing").expect_problem(404, "not_found");
    let answer = server.send(Request::new("DELETE", "/healthz"));
    assert!(answer.header("allow").expect("says what is allowed").contains("GET"));
    answer.expect_problem(405, "method_not_allowed");
    // A header that is not HTTP never reaches a handler.
    let mut stream = connect(server.address);
    stream.write_all(b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n").expect("written");
    closed_after(&mut stream);
    server.get("/healthz").expect(200);
}

#[test]
fn half_a_header_is_closed_and_silence_too() {
    let server = patient();
    for sent in ["", "GET /healthz HTTP/1.1\r\nhost: x\r\n"] {
        let mut stream = connect(server.address);
        stream.write_all(sent.as_bytes()).expect("written");
        let took = closed_after(&mut stream);
        assert!(took > Duration::from_millis(300) && took < Duration::from_secs(3), "{sent:?}: {took:?}");
    }
    // Dribbling does not reset the clock.
    let mut stream = connect(server.address);
    let start = Instant::now();
    let mut writes = 0;
    while start.elapsed() < Duration::from_secs(5) && stream.write_all(b"G").is_ok() {
        writes += 1;
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(writes < 60, "closed after {writes} bytes in {:?}", start.elapsed());
}

#[test]
fn a_kept_connection_idles_longer_than_a_header_may_take() {
    let server = patient();
    let mut stream = connect(server.address);
    let request = Request::new("GET", "/healthz");
    for _ in 0..2 {
        assert_eq!(client::send_on(&mut stream, &request).expect("answered").status, 200);
        std::thread::sleep(Duration::from_millis(700));
    }
    let took = closed_after(&mut stream);
    assert!(took > Duration::from_millis(300) && took < Duration::from_secs(3), "{took:?}");
}

#[test]
fn two_hundred_silent_connections_hold_up_nobody() {
    let server = start(&[]);
    let silent: Vec<_> = (0..200).map(|_| connect(server.address)).collect();
    let start = Instant::now();
    for _ in 0..50 {
        server.get("/healthz").expect(200);
    }
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    drop(silent);
}

/// CASES B39: silence, half headers and dribbled bodies, 200 of each at once. Who dribbles a body may keep other
/// uploads waiting, with advice and up to the deadline; frames, and all that is read, go on.
#[test]
fn six_hundred_slow_clients_hold_up_no_frame_and_are_closed() {
    let deadline = Duration::from_secs(2);
    let server = start(&[
        ("server.header_read_ms", "2000"),
        ("server.body_idle_ms", "2000"),
        ("server.idle_ms", "2000"),
        ("cache.frame_bytes", "0"),
    ]);
    let file = triangle(1).to_string();
    let post = || Request::new("POST", "/v1/scenes").body(file.as_str());
    let scene = server.send(post()).expect(201).json()["id"].as_str().expect("an id").to_owned();
    let begin = |text: &str| {
        let mut stream = connect(server.address);
        stream.write_all(text.as_bytes()).expect("written");
        stream
    };
    let begun = Instant::now();
    let head = Request::new("POST", "/v1/scenes").body(vec![0; 10_000]).head();
    let mut silent: Vec<_> = (0..200).map(|_| begin("")).collect();
    let mut half: Vec<_> = (0..200).map(|_| begin("GET /healthz HTTP/1.1\r\nhost: x\r\n")).collect();
    let mut dribbling: Vec<_> = (0..200).map(|_| begin(&head)).collect();
    let writers: Vec<_> = dribbling.iter().map(|stream| stream.try_clone().expect("cloned")).collect();
    let dribble = std::thread::spawn(move || {
        while begun.elapsed() < 10 * deadline {
            // Those given up take no more; the others go on.
            writers.iter().for_each(|mut stream| drop(stream.write_all(b" ")));
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    let mut longest = Duration::ZERO;
    let mut frames = 0;
    while begun.elapsed() < 3 * deadline {
        let start = Instant::now();
        server.get("/healthz").expect(200);
        server.get(&format!("/v1/scenes/{scene}")).expect(200);
        server.get(&format!("/v1/scenes/{scene}/frame.png?size=64x48&seed={frames}")).expect(200);
        longest = longest.max(start.elapsed());
        frames += 1;
    }
    assert!(frames > 3 && longest < Duration::from_secs(2), "{frames} frames, the longest took {longest:?}");
    // Slow bodies have an answer: refused at once for want of a seat, or given up at the deadline.
    for stream in &mut dribbling {
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("set");
        let status = client::read_answer(stream, false).expect("answered").status;
        assert!(matches!(status, 408 | 503), "{status}");
    }
    for stream in silent.iter_mut().chain(&mut half) {
        closed_after(stream);
    }
    // Four seats and a queue of sixteen: five rounds of slow bodies, one deadline each.
    assert!(
        begun.elapsed() < 5 * deadline + Duration::from_secs(10),
        "all were closed after {:?}",
        begun.elapsed()
    );
    dribble.join().expect("ends");
    server.send(post()).expect(200);
}

#[test]
fn connections_beyond_the_limit_wait_and_are_served() {
    let server = start(&[("server.connections", "2"), ("server.header_read_ms", "500")]);
    let silent: Vec<_> = (0..2).map(|_| connect(server.address)).collect();
    let start = Instant::now();
    server.get("/healthz").expect(200);
    assert!(start.elapsed() > Duration::from_millis(250), "waited for a seat: {:?}", start.elapsed());
    drop(silent);
}

#[test]
fn a_header_beyond_its_limit_is_refused() {
    let server = start(&[("server.header_bytes", "8192")]);
    server.send(Request::new("GET", "/healthz").header("x-padding", &"x".repeat(7000))).expect(200);
    server.send(Request::new("GET", "/healthz").header("x-padding", &"x".repeat(9000))).expect(431);
}

#[test]
fn shutdown_closes_idle_connections_at_once() {
    let folder = std::sync::Arc::new(tempfile::tempdir().expect("a folder"));
    let server = start_in(&folder, &[]);
    let mut stream = connect(server.address);
    client::send_on(&mut stream, &Request::new("GET", "/healthz")).expect("answered");
    let start = Instant::now();
    drop(server);
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    closed_after(&mut stream);
}

#[test]
fn one_data_directory_serves_one_server() {
    let folder = std::sync::Arc::new(tempfile::tempdir().expect("a folder"));
    let first = start_in(&folder, &[]);
    let error = crate::server::try_start(&folder, &[]).err().expect("refused");
    assert!(error.to_string().contains("held by another isoframe process"), "{error}");
    first.get("/healthz").expect(200);
    drop(first);
    start_in(&folder, &[]).get("/healthz").expect(200);
}

#[test]
fn pages_of_named_origins_may_read_answers() {
    let asks = |server: &TestServer, origin: &str| {
        let answer = server.send(Request::new("GET", "/healthz").header("origin", origin)).expect(200);
        let exposed = answer.header("access-control-expose-headers").unwrap_or_default();
        (answer.header("access-control-allow-origin"), exposed.contains("isoframe-pixels"))
    };
    let server = start(&[]);
    assert_eq!(asks(&server, "https://shop.example"), (None, false));
    let server = start(&[("server.cors_origins", "https://shop.example,https://b.example")]);
    assert_eq!(asks(&server, "https://shop.example").0.as_deref(), Some("https://shop.example"));
    assert!(asks(&server, "https://shop.example").1);
    assert_eq!(asks(&server, "https://evil.example").0, None);
    let preflight = Request::new("OPTIONS", "/v1/frames")
        .header("origin", "https://b.example")
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "content-type, prefer");
    let answer = server.send(preflight).expect(200);
    assert!(answer.header("access-control-allow-methods").expect("methods").contains("POST"));
}
