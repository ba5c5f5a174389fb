//! Help, version, completions and the man page.

use super::*;

const COMMANDS: [&str; 11] = [
    "render",
    "serve",
    "verify",
    "adapters",
    "conformance",
    "inspect",
    "goldens",
    "bench",
    "generate",
    "completions",
    "man",
];

#[test]
fn help_names_every_command_and_exit_code() {
    let help = run(["--help"]).expect(0).text();
    for command in COMMANDS {
        assert!(help.contains(&format!("\n  {command}")), "{command} is missing in\n{help}");
    }
    for code in ["0", "1", "2", "3", "4", "130"] {
        assert!(help.contains(&format!("\n  {code}  ")), "exit code {code} is missing in\n{help}");
    }
}

#[test]
fn every_flag_of_every_command_has_help() {
    for command in COMMANDS {
        let help = run([command, "--help"]).expect(0).text();
        let mut lines = help.lines().peekable();
        while let Some(line) = lines.next() {
            if line.trim_start().starts_with("--") || line.trim_start().starts_with("-o,") {
                let said = line.trim().split("  ").count() > 1
                    || lines
                        .peek()
                        .is_some_and(|next| next.starts_with("          ") && !next.trim().is_empty());
                assert!(said, "{command}: {line}");
            }
        }
    }
}

#[test]
fn the_version_is_the_packages() {
    assert_eq!(run(["--version"]).expect(0).text().trim(), concat!("isoframe ", env!("CARGO_PKG_VERSION")));
}

#[test]
fn completions_exist_for_every_shell() {
    for (shell, sign) in [
        ("bash", "complete -F _isoframe"),
        ("zsh", "#compdef isoframe"),
        ("fish", "complete -c isoframe"),
        ("powershell", "Register-ArgumentCompleter"),
        ("elvish", "edit:completion"),
    ] {
        let script = run(["completions", shell]).expect(0).text();
        assert!(script.contains(sign) && script.contains("conformance"), "{shell}");
    }
    run(["completions", "cmd"]).expect(2);
}

#[test]
fn the_man_page_is_one() {
    let page = run(["man"]).expect(0).text();
    assert!(page.contains(".TH isoframe 1") && page.contains("Exit codes"), "{page}");
    let folder = Folder::new();
    run(["man", "--folder", &folder.file("")]).expect(0);
    let names = folder.names();
    for page in ["isoframe.1", "isoframe-render.1", "isoframe-goldens-check.1"] {
        assert!(names.iter().any(|name| name == page), "{page} is not in {names:?}");
    }
}

#[test]
fn no_command_shows_help_and_fails() {
    let run = run([] as [&str; 0]).expect(2);
    assert!(run.stderr.contains("Usage"), "{}", run.stderr);
}
