//! Many clients at once.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Condvar, Mutex};
use std::thread::Builder;
use std::time::{Duration, Instant};

use crate::alone;
use crate::client::{self, Request};
use crate::fixtures::{padded, triangle};
use crate::served::{self, Served};

/// Shut until all may pass.
#[derive(Default)]
struct Gate(Mutex<bool>, Condvar);

impl Gate {
    fn open(&self) {
        *self.0.lock().expect("not poisoned") = true;
        self.1.notify_all();
    }

    fn wait(&self) {
        drop(self.1.wait_while(self.0.lock().expect("not poisoned"), |open| !*open).expect("not poisoned"));
    }
}

const CLIENTS: usize = 1000;
const SEATS: usize = 4;
const QUEUE: usize = 16;
const BODY_BYTES: usize = 1 << 20;

/// What a client of the crowd met: status, whether it was told when to come back, and how long it took.
type Outcome = (u16, bool, Duration);

/// CASES B38. Every client sends all of its body but the last byte, so that who has a seat keeps it until all
/// others were refused.
#[test]
fn a_thousand_posts_at_once_are_bounded_and_refused_quickly() {
    let _alone = alone();
    let server = served::start(&[
        ("upload.concurrent", &SEATS.to_string()),
        ("upload.queue_uploads", &QUEUE.to_string()),
        ("upload.queue_ms", "300000"),
        ("server.connections", "2000"),
        // A thousand clients on two cores are slow ones; this is about the queue.
        ("server.header_read_ms", "300000"),
        ("server.body_idle_ms", "300000"),
        ("server.drain_ms", "300000"),
    ]);
    server.upload(&padded(&triangle(0), BODY_BYTES));
    let file = padded(&triangle(1), BODY_BYTES);
    let (outcomes, growth) = server.peak_growth(|| crowd(&server, &file));
    let (accepted, refused): (Vec<Outcome>, Vec<_>) =
        outcomes.into_iter().partition(|(status, ..)| matches!(status, 200 | 201));
    assert!(refused.iter().all(|(status, ..)| *status == 503), "{refused:?}");
    assert_eq!((accepted.len(), refused.len()), (SEATS + QUEUE, CLIENTS - SEATS - QUEUE));
    assert!(refused.iter().all(|(_, advised, _)| *advised), "each refusal says when to come back");
    let mut waits: Vec<Duration> = refused.iter().map(|(.., took)| *took).collect();
    waits.sort();
    let median = waits[waits.len() / 2];
    eprintln!("half of {} refused within {median:?}, memory grew by {growth:?}", refused.len());
    assert!(median < Duration::from_secs(1), "half of the refusals took {median:?} and more");
    if let Some(growth) = growth {
        /// A connection's read buffer (64 KiB), the piece of its body that is being thrown away (as much), its
        /// tasks and its refusal.
        const CONNECTION_BYTES: usize = 160 << 10;
        let bound = (SEATS + QUEUE) * BODY_BYTES + CLIENTS * CONNECTION_BYTES;
        assert!(growth < bound as u64, "memory grew by {growth} bytes, {bound} are allowed");
    }
    // It recovers at once.
    server.send(Request::new("POST", "/v1/scenes").body(file)).expect(200);
}

/// A thousand threads of clients and as many that write their bodies: stacks are small.
fn small_thread() -> Builder {
    Builder::new().stack_size(128 << 10)
}

/// A thousand clients that post the file at once.
fn crowd(server: &Served, file: &[u8]) -> Vec<Outcome> {
    let head = Request::new("POST", "/v1/scenes").header("connection", "close").body(file).head();
    let (ready, gate, refused) = (Barrier::new(CLIENTS), Gate::default(), AtomicUsize::new(0));
    let (last, rest) = file.split_last().expect("not empty");
    let client = || {
        let mut stream = client::connect(server.address);
        stream.set_read_timeout(None).expect("set");
        stream.set_write_timeout(None).expect("set");
        let mut writer = stream.try_clone().expect("cloned");
        ready.wait();
        let start = Instant::now();
        stream.write_all(head.as_bytes()).expect("written");
        std::thread::scope(|threads| {
            // Who is refused may be cut off; who waits for a seat is read when it has one.
            let body = || {
                let _ = writer.write_all(rest);
                gate.wait();
                let _ = writer.write_all(&[*last]);
            };
            small_thread().spawn_scoped(threads, body).expect("a thread");
            let answer = client::read_answer(&mut stream, false).expect("answered");
            let took = start.elapsed();
            if answer.status == 503 && refused.fetch_add(1, Ordering::SeqCst) + 1 == CLIENTS - SEATS - QUEUE {
                gate.open();
            }
            (answer.status, answer.header("retry-after").is_some(), took)
        })
    };
    std::thread::scope(|threads| {
        let spawn = |_| small_thread().spawn_scoped(threads, client).expect("a thread");
        let clients: Vec<_> = (0..CLIENTS).map(spawn).collect();
        clients.into_iter().map(|client| client.join().expect("answered")).collect()
    })
}

/// CASES B38: with all seats taken and nobody else about, a refusal takes less than 100 ms.
#[test]
fn a_refusal_is_quick() {
    let _alone = alone();
    let server = served::start(&[
        ("upload.concurrent", "1"),
        ("upload.queue_uploads", "0"),
        ("server.body_idle_ms", "300000"),
    ]);
    let file = padded(&triangle(1), BODY_BYTES);
    let post = Request::new("POST", "/v1/scenes").body(file.as_slice());
    let mut holder = client::connect(server.address);
    let head = post.clone().header("expect", "100-continue").head();
    holder.write_all(head.as_bytes()).expect("written");
    // The body is asked for once its seat is taken.
    assert_eq!(client::read_answer(&mut holder, false).expect("answered").status, 100);
    let mut waits: Vec<Duration> = (0..100)
        .map(|_| {
            let start = Instant::now();
            let answer = server.send(post.clone());
            let took = start.elapsed();
            assert!(answer.header("retry-after").is_some());
            answer.expect_problem(503, "overload");
            took
        })
        .collect();
    waits.sort();
    assert!(waits[50] < Duration::from_millis(100), "half of the refusals took {:?} and more", waits[50]);
    // The one with the seat was not disturbed.
    holder.write_all(&file).expect("written");
    client::read_answer(&mut holder, false).expect("answered").expect(201);
}
