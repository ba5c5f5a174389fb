//! `goldens`: checking never writes, a missing golden fails, only an explicit update writes, and it says so.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::*;

/// A folder with a copy of two cases.
struct Goldens {
    folder: Folder,
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("made");
    for entry in std::fs::read_dir(from).expect("listed") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).expect("copied");
        }
    }
}

impl Goldens {
    fn new() -> Goldens {
        let goldens = Goldens { folder: Folder::new() };
        for case in ["edges", "ties"] {
            copy(&root().join("goldens").join(case), &goldens.path(case));
        }
        goldens
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.0.path().join("goldens").join(name)
    }

    fn run(&self, args: &[&str]) -> Run {
        let output = command()
            .arg("goldens")
            .args(args)
            .args(["--root", "goldens", "--backend", "cpu"])
            .current_dir(self.folder.0.path())
            .output()
            .expect("the binary runs");
        finished(output)
    }

    /// Every file below the cases, with its bytes.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        fn walk(folder: &Path, into: &mut BTreeMap<PathBuf, Vec<u8>>) {
            for entry in std::fs::read_dir(folder).expect("listed") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    walk(&path, into);
                } else {
                    into.insert(path.clone(), std::fs::read(&path).expect("there"));
                }
            }
        }
        let mut files = BTreeMap::new();
        walk(&self.path(""), &mut files);
        files
    }
}

#[test]
fn the_shipped_goldens_are_the_same() {
    let said = run(["goldens", "check", "--backend", "cpu"]).expect(0).text();
    assert!(said.contains("goldens are the same"), "{said}");
}

#[test]
fn checking_never_writes_to_the_goldens() {
    let goldens = Goldens::new();
    let before = goldens.files();
    goldens.run(&["check"]).expect(0);
    std::fs::remove_file(goldens.path("ties/expected.toml")).expect("removed");
    for value in ["0", "false", "1", ""] {
        let output = command()
            .args(["goldens", "check", "--root", "goldens", "--backend", "cpu"])
            .env("UPDATE", value)
            .env("ISOFRAME_UPDATE", value)
            .current_dir(goldens.folder.0.path())
            .output()
            .expect("the binary runs");
        finished(output).expect(1);
    }
    let mut expected = before;
    expected.remove(&goldens.path("ties/expected.toml"));
    assert!(goldens.files() == expected, "a check wrote to the goldens");
}

#[test]
fn a_missing_golden_fails() {
    let goldens = Goldens::new();
    std::fs::remove_file(goldens.path("ties/expected.toml")).expect("removed");
    let outcomes = goldens.run(&["check", "--json"]).expect(1).json();
    let verdicts: Vec<_> =
        outcomes.as_array().expect("a list").iter().map(|o| o["verdict"].clone()).collect();
    assert_eq!(verdicts, ["same", "missing"]);
}

#[test]
fn another_hash_fails_and_leaves_pictures() {
    let goldens = Goldens::new();
    let path = goldens.path("edges/expected.toml");
    let text = std::fs::read_to_string(&path).expect("there");
    let line = text.lines().find(|line| line.starts_with("depth = ")).expect("a depth hash");
    let other = format!("depth = \"{}\"", "0".repeat(64));
    std::fs::write(&path, text.replace(line, &other)).expect("written");
    let outcomes = goldens.run(&["check", "edges", "--out", "left", "--json"]).expect(1).json();
    assert_eq!(outcomes[0]["verdict"], "differs");
    assert_eq!(outcomes[0]["differing"], serde_json::json!(["depth"]));
    let left = goldens.folder.0.path().join("left/edges");
    for name in ["depth.expected.png", "depth.actual.png", "depth.difference.png"] {
        assert!(left.join(name).is_file(), "{name} was not left");
    }
}

#[test]
fn another_engine_fails() {
    let goldens = Goldens::new();
    let path = goldens.path("edges/expected.toml");
    let text = std::fs::read_to_string(&path).expect("there");
    std::fs::write(&path, text.replace(isoframe_raster::frame::ENGINE, "isoframe-0")).expect("written");
    let outcomes = goldens.run(&["check", "edges", "--json"]).expect(1).json();
    assert_eq!(outcomes[0]["verdict"], "other_engine");
}

#[test]
fn an_update_needs_a_reason_and_a_name_and_still_fails() {
    let goldens = Goldens::new();
    let before = goldens.files();
    goldens.run(&["update", "edges"]).expect(2);
    goldens.run(&["update", "--reason", "x"]).expect(2);
    goldens.run(&["update", "edges", "--reason", " "]).expect(2);
    goldens.run(&["update", "nothing", "--reason", "x"]).expect(2);
    assert!(goldens.files() == before, "a refused update wrote");
    std::fs::remove_file(goldens.path("edges/expected.toml")).expect("removed");
    let said = goldens.run(&["update", "edges", "--reason", "the edges moved"]).expect(1).text();
    assert!(said.contains("wrote edges") && said.contains("on purpose"), "{said}");
    let text = std::fs::read_to_string(goldens.path("edges/expected.toml")).expect("written");
    assert!(text.contains("the edges moved"), "{text}");
    goldens.run(&["check"]).expect(0);
}

#[test]
fn the_report_holds_everything_and_fetches_nothing() {
    let goldens = Goldens::new();
    goldens.run(&["report", "-o", "page.html"]).expect(0);
    let page = std::fs::read_to_string(goldens.folder.0.path().join("page.html")).expect("written");
    assert!(page.contains("2 of 2 are the same") && page.contains("data:image/png;base64,"), "{page}");
    for word in ["http://", "https://", "<script", "src=\"/"] {
        assert!(!page.contains(word), "the page has `{word}`");
    }
    std::fs::remove_file(goldens.path("ties/expected.toml")).expect("removed");
    goldens.run(&["report", "-o", "page.html"]).expect(1);
}
