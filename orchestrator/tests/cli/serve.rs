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
