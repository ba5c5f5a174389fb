//! The command line as a person or a script sees it: the binary is run, and its exit code, output and files read.

mod conformance;
mod docs;
mod generate;
mod goldens;
mod help;
mod inspect;
mod mistakes;
mod render;
mod sequence;
mod serve;
mod verify;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Flags that keep a frame small: these tests are about the command line.
const SMALL: [&str; 6] = ["--size", "48x32", "--samples", "1", "--backend", "cpu"];

/// What a run left.
struct Run {
    code: i32,
    stdout: Vec<u8>,
    stderr: String,
}

impl Run {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}\n{}", self.text(), self.stderr))
    }

    /// The error that `--json` leaves on stderr, in its last line: drivers write there too.
    fn error(&self) -> serde_json::Value {
        let last = self.stderr.trim().lines().last().unwrap_or_default();
        let value: serde_json::Value =
            serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {}", self.stderr));
        value["error"].clone()
    }

    #[track_caller]
    fn expect(self, code: i32) -> Run {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.text(), self.stderr);
        self
    }
}

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isoframe"));
    // Nothing of the machine that runs the tests may count.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("ISOFRAME_") {
            command.env_remove(name);
        }
    }
    command.stdin(Stdio::null()).current_dir(root());
    command
}

fn run<I: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = I>) -> Run {
    finished(command().args(args).output().expect("the binary runs"))
}

fn finished(output: Output) -> Run {
    Run {
        code: output.status.code().unwrap_or(-1),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace above").to_owned()
}

/// A small scene that moves.
fn scene(case: &str) -> String {
    root().join("goldens").join(case).join("scene.gltf").to_string_lossy().into_owned()
}

/// A folder that goes away with the test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    fn file(&self, name: &str) -> String {
        self.0.path().join(name).to_string_lossy().into_owned()
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("listed");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

/// `render SCENE -o OUT` with a small frame, and more.
fn render(scene: &str, out: &str, more: &[&str]) -> Run {
    run(["render", scene, "-o", out].iter().copied().chain(SMALL).chain(more.iter().copied()))
}
