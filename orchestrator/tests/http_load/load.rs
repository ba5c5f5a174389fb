//! Many clients at once, and many requests one after another.

use std::sync::{Barrier, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::client::{self, Request};
use crate::fixtures::{padded, triangle};
use crate::server::start;

/// Held by the test that runs.
static ALONE: Mutex<()> = Mutex::new(());

/// Memory of this process, server and test together. *Units*: bytes.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kibibytes| kibibytes * 1024)
}

#[test]
fn a_thousand_posts_at_once_are_bounded_and_refused_quickly() {
    const CLIENTS: usize = 1000;
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let server = start(&[
        ("upload.concurrent", "4"),
        ("upload.queue_uploads", "16"),
        ("server.connections", "2000"),
        // A thousand clients on two cores are slow ones; this is about the queue.
        ("server.header_read_ms", "300000"),
        ("server.body_idle_ms", "300000"),
        ("server.drain_ms", "300000"),
    ]);
    let file = padded(&triangle(1), 1 << 20);
    let ready = Barrier::new(CLIENTS);
    let before = resident_bytes();
    let outcomes: Vec<(u16, bool, Duration)> = std::thread::scope(|threads| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| {
                let (ready, file, server) = (&ready, &file, &server);
                let client = move || {
                    let mut stream = client::connect(server.address);
                    let request = Request::new("POST", "/v1/scenes");
                    let head = format!(
                        "{}content-length: {}\r\n\r\n",
                        request.head().split("content-length").next().expect("a head"),
                        file.len()
                    );
                    ready.wait();
                    let start = Instant::now();
                    std::io::Write::write_all(&mut stream, head.as_bytes()).expect("written");
                    let _ = std::io::Write::write_all(&mut stream, file);
                    let answer = client::read_answer(&mut stream, false).expect("answered");
                    (answer.status, answer.header("retry-after").is_some(), start.elapsed())
                };
                std::thread::Builder::new()
                    .stack_size(256 * 1024)
                    .spawn_scoped(threads, client)
                    .expect("a thread")
            })
            .collect();
        clients.into_iter().map(|client| client.join().expect("answered")).collect()
    });
    let accepted = outcomes.iter().filter(|(status, ..)| matches!(status, 200 | 201)).count();
    let refused: Vec<_> = outcomes.iter().filter(|(status, ..)| *status == 503).collect();
    assert_eq!(accepted + refused.len(), CLIENTS);
    assert!(accepted >= 1, "some are taken");
    assert!(refused.iter().all(|(_, advised, _)| *advised), "each refusal says when to come back");
    let mut waits: Vec<_> = refused.iter().map(|(_, _, took)| *took).collect();
    waits.sort();
    eprintln!("{accepted} accepted, {} refused, half within {:?}", refused.len(), waits.get(waits.len() / 2));
    if let (Some(before), Some(after)) = (before, resident_bytes()) {
        let grown = after.saturating_sub(before);
        // The thousand clients' own threads and socket buffers live in this process too.
        assert!(grown < 400 << 20, "memory grew by {grown} bytes");
    }
    server.send(Request::new("POST", "/v1/scenes").body(file)).expect(200);
}

#[test]
fn memory_does_not_grow_over_many_requests() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let server = start(&[("cache.frame_bytes", "0")]);
    let scenes = [1, 2].map(|variety| {
        let scene = Request::new("POST", "/v1/scenes").body(triangle(variety).to_string());
        server.send(scene).expect(201).json()["id"].as_str().expect("an id").to_owned()
    });
    let round = |count: usize| {
        for index in 0..count {
            let scene = &scenes[index % 2];
            let size = if index % 4 < 2 { "64x64" } else { "48x40" };
            server.get(&format!("/v1/scenes/{scene}/frame.png?size={size}")).expect(200);
            if index % 5 == 0 {
                server.get(&format!("/v1/scenes/{scene}/frame.png?size={size}&variant=none")).expect(422);
                server.send(Request::new("POST", "/v1/scenes").body("not a scene")).expect(422);
            }
        }
    };
    round(200);
    let Some(before) = resident_bytes() else {
        eprintln!("SKIPPED: this system does not tell a process its memory");
        return;
    };
    round(800);
    let grown = resident_bytes().expect("told before").saturating_sub(before);
    assert!(grown < 8 << 20, "800 requests grew memory by {grown} bytes");
}
