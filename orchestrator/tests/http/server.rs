//! A server of its own for each test.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use isoframe::config::{Settings, Sources};
use isoframe::http::{ServeError, Server};
use tempfile::TempDir;
use tokio::sync::Notify;

use crate::client::{self, Answer, Request};

/// A running server; stopped and waited for when dropped.
pub struct TestServer {
    pub address: SocketAddr,
    folder: Option<Arc<TempDir>>,
    stop: Arc<Notify>,
    thread: Option<JoinHandle<()>>,
}

/// Starts a server with a fresh data directory; `overrides` are settings as on a command line.
pub fn start(overrides: &[(&str, &str)]) -> TestServer {
    start_in(&Arc::new(tempfile::tempdir().expect("a folder")), overrides)
}

/// Starts a server on a data directory that outlives it.
pub fn start_in(folder: &Arc<TempDir>, overrides: &[(&str, &str)]) -> TestServer {
    try_start(folder, overrides).expect("starts")
}

/// The same where starting may fail.
pub fn try_start(folder: &Arc<TempDir>, overrides: &[(&str, &str)]) -> Result<TestServer, ServeError> {
    let settings = settings(folder.path(), overrides);
    let stop = Arc::new(Notify::new());
    let stopped = stop.clone();
    let (tell, told) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(async move {
            match Server::bind(settings).await {
                Ok(server) => {
                    tell.send(Ok(server.address())).expect("the test waits");
                    server.run(async move { stopped.notified().await }).await;
                }
                Err(error) => tell.send(Err(error)).expect("the test waits"),
            }
        });
        runtime.shutdown_timeout(std::time::Duration::from_secs(10));
    });
    let address = told.recv().expect("the server thread lives")?;
    Ok(TestServer { address, folder: Some(folder.clone()), stop, thread: Some(thread) })
}

/// The defaults with a port of the system's choice, the CPU, and `overrides`.
pub fn settings(folder: &Path, overrides: &[(&str, &str)]) -> Settings {
    let mut all = vec![
        ("server.address".to_owned(), "127.0.0.1:0".to_owned()),
        ("server.data_dir".to_owned(), folder.display().to_string()),
        ("render.backend".to_owned(), "cpu".to_owned()),
    ];
    all.extend(overrides.iter().map(|(name, value)| (name.to_string(), value.to_string())));
    Settings::load(&Sources { overrides: all, ..Sources::default() }).expect("valid settings")
}

impl TestServer {
    /// Sends a request on a connection of its own.
    pub fn send(&self, request: Request) -> Answer {
        client::send(self.address, request)
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send(Request::new("GET", path))
    }

    /// Where its data lies.
    pub fn data_dir(&self) -> PathBuf {
        self.folder.as_ref().expect("there until dropped").path().to_owned()
    }

    /// A metric's value; 0 if it has none yet. `name` with its labels, as `/metrics` writes them.
    pub fn metric(&self, name: &str) -> f64 {
        let text = self.get("/metrics").text();
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.map_or(0.0, |value| value.parse().expect("a number"))
    }

    /// Sum of a metric over all its labels.
    pub fn metric_sum(&self, name: &str) -> f64 {
        let text = self.get("/metrics").text();
        let ours = text
            .lines()
            .filter(|line| line.starts_with(&format!("{name}{{")) || line.starts_with(&format!("{name} ")));
        ours.map(|line| {
            line.rsplit(' ').next().and_then(|value| value.parse::<f64>().ok()).expect("a number")
        })
        .sum()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.stop.notify_one();
        if let Some(thread) = self.thread.take() {
            let joined = thread.join();
            assert!(joined.is_ok() || std::thread::panicking(), "the server panicked");
        }
    }
}
