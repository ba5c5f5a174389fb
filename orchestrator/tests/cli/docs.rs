//! What the documentation says about the command line is there.

use super::*;

fn page(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn every_flag_is_documented() {
    let page = page("docs/command-line.md");
    let commands = [
        &["render"] as &[&str],
        &["serve"],
        &["verify"],
        &["adapters"],
        &["conformance"],
        &["inspect"],
        &["goldens", "check"],
        &["goldens", "update"],
        &["goldens", "report"],
        &["bench"],
        &["generate"],
        &["completions"],
        &["man"],
    ];
    for command in commands {
        assert!(
            page.contains(&format!("## {}", command[0])),
            "docs/command-line.md has no part on {command:?}"
        );
        let help = run(command.iter().chain(&["--help"])).expect(0).text();
        let flags = help
            .split_whitespace()
            .map(|word| word.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-'));
        for flag in flags.filter(|word| word.starts_with("--") && word.len() > 2) {
            assert!(page.contains(flag), "docs/command-line.md does not mention {flag} of {command:?}");
        }
    }
}

#[test]
fn every_link_leads_somewhere() {
    let mut broken = Vec::new();
    let mut pages = vec!["README.md".to_owned(), "ARCHITECTURE.md".to_owned()];
    for entry in std::fs::read_dir(root().join("docs")).expect("listed") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        if name.ends_with(".md") {
            pages.push(format!("docs/{name}"));
        }
    }
    for name in &pages {
        let folder = Path::new(name).parent().expect("a folder").to_owned();
        for target in page(name).split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap_or_default();
            if file.is_empty() || file.starts_with("http") {
                continue;
            }
            if !root().join(&folder).join(file).exists() {
                broken.push(format!("{name}: {target}"));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_exit_code_is_documented() {
    let page = page("docs/command-line.md");
    for code in ["| 0 |", "| 1 |", "| 2 |", "| 3 |", "| 4 |", "| 130 |"] {
        assert!(page.contains(code), "docs/command-line.md has no {code}");
    }
}

#[test]
fn the_readme_begins_with_two_commands_that_are_right() {
    let readme = page("README.md");
    let commands: Vec<&str> = readme.lines().filter(|line| line.starts_with("cargo ")).take(2).collect();
    assert!(commands[0].starts_with("cargo run --release -- render demo -o demo.png"), "{commands:?}");
    assert!(commands[1].starts_with("cargo test --workspace"), "{commands:?}");
    let line = readme.lines().position(|line| line.starts_with("cargo ")).expect("a command");
    assert!(line < 20, "the first command is on line {line}, not on the first screen");
}
