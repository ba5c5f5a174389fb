//! The service in a process of its own: its memory is its alone.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::client::{self, Answer, Request};
use crate::process_memory;

/// A running `isoframe serve`; ended when dropped.
pub struct Served {
    pub address: SocketAddr,
    child: Child,
    _folder: TempDir,
}

/// Starts it on the CPU, with a fresh data directory; `overrides` are settings as on a command line.
pub fn start(overrides: &[(&str, &str)]) -> Served {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_isoframe"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("ISOFRAME_") {
            command.env_remove(name);
        }
    }
    command.args(["serve", "--port", "0", "--backend", "cpu", "--set", "log.level=error"]);
    command.arg("--data-dir").arg(folder.path());
    // glibc would keep tens of MiB of freed memory in each of its arenas. Told to give it back, what stays resident
    // is what the service holds.
    command.env("MALLOC_TRIM_THRESHOLD_", "1048576");
    for (name, value) in overrides {
        command.arg("--set").arg(format!("{name}={value}"));
    }
    let mut child = command.stderr(Stdio::piped()).spawn().expect("the binary runs");
    let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
    let address = lines
        .by_ref()
        .map_while(Result::ok)
        .find_map(|line| line.split("http://").nth(1)?.split(',').next()?.parse().ok())
        .expect("says where it listens");
    // A pipe that nobody reads would hold up whoever writes to it.
    std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| eprintln!("serve: {line}")));
    Served { address, child, _folder: folder }
}

impl Served {
    /// Sends a request on a connection of its own.
    pub fn send(&self, request: Request) -> Answer {
        client::send(self.address, request)
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send(Request::new("GET", path))
    }

    /// Stores a scene. Its id.
    pub fn upload(&self, scene: &[u8]) -> String {
        let answer = self.send(Request::new("POST", "/v1/scenes").body(scene)).expect(201);
        answer.json()["id"].as_str().expect("an id").to_owned()
    }

    /// Its resident memory. *Units*: bytes.
    pub fn resident_bytes(&self) -> Option<u64> {
        process_memory::resident_bytes(&self.child.id().to_string())
    }

    /// Runs, and tells the most memory that was resident above what was before. *Units*: bytes.
    pub fn peak_growth<T>(&self, run: impl FnOnce() -> T) -> (T, Option<u64>) {
        let process = self.child.id().to_string();
        process_memory::restart_peak(&process);
        let before = self.resident_bytes();
        let out = run();
        let growth =
            before.and_then(|before| Some(process_memory::peak_bytes(&process)?.saturating_sub(before)));
        (out, growth)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let ended = self.child.try_wait().expect("asked");
        let _ = self.child.kill();
        let _ = self.child.wait();
        assert!(ended.is_none() || std::thread::panicking(), "the service ended by itself: {ended:?}");
    }
}
