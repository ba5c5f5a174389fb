//! `serve`: flags, the line it says, and that signals end it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use super::*;

#[test]
fn mistakes_in_settings_are_reported_together() {
    let folder = Folder::new();
    let config = folder.file("isoframe.toml");
    std::fs::write(&config, "[server]\nconections = 3\n[render]\nthreads = \"many\"\n").expect("written");
    let error = run(["serve", "--config", &config, "--set", "cache.frames=1", "--json"]).expect(2).error();
    let message = error["message"].as_str().expect("a message");
    for word in ["conections", "threads", "cache.frames"] {
        assert!(message.contains(word), "no `{word}` in {message}");
    }
    run(["serve", "--set", "nonsense"]).expect(2);
    run(["serve", "--address", "nowhere"]).expect(2);
}

/// No driver of any kind.
const HIDDEN: [(&str, &str); 3] = [
    ("VK_DRIVER_FILES", "/nonexistent"),
    ("VK_ICD_FILENAMES", "/nonexistent"),
    ("__EGL_VENDOR_LIBRARY_FILENAMES", "/nonexistent"),
];

/// A running `serve`; killed when dropped.
struct Served {
    child: std::process::Child,
    address: String,
    _folder: Folder,
}

impl Served {
    fn start(args: &[&str], environment: &[(&str, &str)]) -> Served {
        let folder = Folder::new();
        let mut child = command()
            .args(["serve", "--port", "0", "--data-dir", &folder.file("data")])
            .args(args)
            .envs(environment.iter().copied())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let mut said = Vec::new();
        let address = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let address =
                line.split("http://").nth(1).and_then(|rest| rest.split(',').next()).map(str::to_owned);
            said.push(line);
            address
        });
        let address = address.unwrap_or_else(|| panic!("it ended: {said:?}"));
        // A pipe that nobody reads would hold up whoever writes to it.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        Served { child, address, _folder: folder }
    }

    /// An answer as it came: header lines in lower case, and body.
    fn ask(&self, head: &str, body: &[u8]) -> (String, Vec<u8>) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let length = body.len();
        write!(stream, "{head} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n")
            .expect("sent");
        stream.write_all(body).expect("sent");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("answered");
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("a header");
        let body = answer.split_off(end + 4);
        (String::from_utf8(answer).expect("a header").to_lowercase(), body)
    }

    fn json(&self, head: &str, body: &[u8]) -> serde_json::Value {
        let (head, body) = self.ask(head, body);
        serde_json::from_slice(&body).unwrap_or_else(|error| panic!("{error}: {head}"))
    }

    /// What renders, as `/readyz` says it; and the header of a frame, which was rendered now.
    fn backend_and_frame(&self) -> (serde_json::Value, String) {
        let ready = self.json("GET /readyz", b"");
        assert_eq!(ready["ready"], true, "{ready}");
        let file = std::fs::read(scene("morph")).expect("there");
        let stored = self.json("POST /v1/scenes", &file);
        let id = stored["id"].as_str().unwrap_or_else(|| panic!("{stored}"));
        let (head, frame) = self.ask(&format!("GET /v1/scenes/{id}/frame.png?size=32x32"), b"");
        assert!(head.starts_with("http/1.1 200") && frame.starts_with(b"\x89PNG"), "{head}");
        (ready["backend"].clone(), head)
    }

    fn metrics(&self) -> String {
        String::from_utf8(self.ask("GET /metrics", b"").1).expect("text")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// CASES B29 (a).
#[test]
fn without_a_driver_the_cpu_serves_and_says_why() {
    let served = Served::start(&[], &HIDDEN);
    let (backend, frame) = served.backend_and_frame();
    let name = backend["name"].as_str().expect("a name");
    let reason = backend["reason"].as_str().expect("a reason");
    assert!(name.starts_with("cpu"), "{backend}");
    assert!(reason.starts_with("auto: cpu, because ") && reason.contains("adapter"), "{backend}");
    assert_eq!((&backend["healthy"], &backend["software"]), (&true.into(), &false.into()));
    assert!(frame.contains("\r\nisoframe-backend: cpu"), "{frame}");
    assert!(!frame.contains("isoframe-fallback"), "the CPU is what was chosen: {frame}");
    let metrics = served.metrics();
    let line = metrics.lines().find(|line| line.starts_with("isoframe_backend{")).expect("a metric");
    assert!(line.contains(&format!("name=\"{name}\"")) && line.contains("auto: cpu, because"), "{line}");
    assert!(line.ends_with("} 1"), "{line}");
}

/// CASES B29 (d): it ends once, with a line that says why, and does not come up on something else.
#[test]
fn without_the_adapter_asked_for_it_does_not_start() {
    let refused = |args: &[&str], environment: &[(&str, &str)]| {
        let folder = Folder::new();
        let all = ["serve", "--port", "0", "--data-dir", &folder.file("data"), "--json"];
        let output = command().args(all).args(args).envs(environment.iter().copied()).output().expect("runs");
        let run = finished(output).expect(3);
        assert!(!run.stderr.contains("listening") && !run.stderr.contains("panicked"), "{}", run.stderr);
        run.error()["message"].as_str().expect("a message").to_owned()
    };
    let message = refused(&["--backend", "wgpu"], &HIDDEN);
    assert!(message.contains("wgpu") && message.contains("adapter"), "{message}");
    let message = refused(&["--adapter", "no such adapter"], &HIDDEN);
    assert!(message.contains("no such adapter"), "{message}");
    // Software adapters count by name only: they are no hardware.
    if let Some((name, _)) = only_software() {
        let message = refused(&["--backend", "wgpu"], &[]);
        assert!(message.contains(&name), "says what there is: {message}");
    }
}

/// CASES B29 (b).
#[test]
fn a_software_adapter_serves_where_it_is_named_and_every_reply_says_so() {
    let Some((name, selector)) = only_software() else { return };
    let unnamed = Served::start(&[], &[]).backend_and_frame().0;
    assert!(unnamed["name"].as_str().expect("a name").starts_with("cpu"), "{unnamed}");
    let served = Served::start(&["--backend", "wgpu", "--adapter", &selector], &[]);
    let (backend, frame) = served.backend_and_frame();
    let title = backend["name"].as_str().expect("a name");
    assert!(title.starts_with(&name) && backend["software"] == true, "{backend}");
    let header = format!("\r\nisoframe-backend: {}\r\n", title.to_lowercase());
    assert!(frame.contains(&header), "no `{header}` in {frame}");
    assert!(served.metrics().contains("software=\"true\"} 1"));
}

/// The first software adapter, its name and what selects it, where there is no hardware; else none, said loudly.
fn only_software() -> Option<(String, String)> {
    let adapters = run(["adapters", "--json"]).expect(0).json();
    let adapters = adapters.as_array().expect("a list").clone();
    if let [first, ..] = adapters.as_slice()
        && adapters.iter().all(|adapter| adapter["software"] == true)
    {
        let text = |field: &str| first[field].as_str().expect("a text").to_owned();
        return Some((text("name"), text("selector")));
    }
    eprintln!("SKIPPED: not a machine with software adapters alone, {} adapters", adapters.len());
    None
}

#[cfg(unix)]
#[test]
fn it_listens_where_it_is_told_and_stops_on_a_signal() {
    let folder = Folder::new();
    let mut child = command()
        .args(["serve", "--port", "0", "--backend", "cpu", "--data-dir", &folder.file("data")])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
    let mut line = String::new();
    while !line.contains("listening on http://") {
        line.clear();
        assert!(stderr.read_line(&mut line).expect("readable") > 0, "it ended");
    }
    let address = line.split("http://").nth(1).and_then(|rest| rest.split(',').next()).expect("an address");
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("answered");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let killed = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill runs");
    assert!(killed.success());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}
