//! The house's arrows point one way: raster knows nobody, neural knows raster, orchestrator knows both, and it
//! alone knows HTTP, files, time and environment.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace above").to_owned()
}

/// Dependencies of each member, by package name, as cargo itself sees them.
fn dependencies() -> BTreeMap<String, Vec<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let text = |value: &serde_json::Value| value.as_str().expect("a name").to_owned();
    let of_package = |package: &serde_json::Value| {
        let dependencies = package["dependencies"].as_array().expect("a list");
        (text(&package["name"]), dependencies.iter().map(|dependency| text(&dependency["name"])).collect())
    };
    metadata["packages"].as_array().expect("packages").iter().map(of_package).collect()
}

#[test]
fn crates_depend_one_way() {
    let dependencies = dependencies();
    let ours = |package: &str| -> Vec<&str> {
        let all = dependencies.get(package).unwrap_or_else(|| panic!("{package} is a member"));
        all.iter().map(String::as_str).filter(|name| name.starts_with("isoframe")).collect()
    };
    assert_eq!(ours("isoframe-raster"), Vec::<&str>::new());
    assert_eq!(ours("isoframe-neural"), ["isoframe-raster"]);
    assert_eq!(ours("isoframe"), ["isoframe-neural", "isoframe-raster"]);
    // What would bring HTTP, a runtime or a clock into the inner crates.
    let outer = ["axum", "hyper", "tokio", "tower", "reqwest", "rusqlite", "clap", "chrono", "time", "rand"];
    for package in ["isoframe-raster", "isoframe-neural"] {
        let found: Vec<_> =
            dependencies[package].iter().filter(|name| outer.contains(&name.as_str())).collect();
        assert!(found.is_empty(), "{package} depends on {found:?}");
    }
}

/// What the sources of a crate may not name, and the files that may after all.
struct Rule {
    folder: &'static str,
    word: &'static str,
    except: &'static [&'static str],
}

const RULES: &[Rule] = &[
    Rule { folder: "raster/src", word: "isoframe_neural", except: &[] },
    Rule { folder: "raster/src", word: "std::net", except: &[] },
    Rule { folder: "raster/src", word: "std::env", except: &[] },
    Rule { folder: "raster/src", word: "std::process", except: &[] },
    Rule { folder: "raster/src", word: "SystemTime", except: &[] },
    Rule { folder: "raster/src", word: "Instant::", except: &[] },
    // The scene's own files, for the command line; uploads never come here.
    Rule { folder: "raster/src", word: "std::fs", except: &["raster/src/scene/source.rs"] },
    Rule { folder: "neural/src", word: "isoframe::", except: &[] },
    Rule { folder: "neural/src", word: "std::net", except: &[] },
    Rule { folder: "neural/src", word: "std::env", except: &[] },
    Rule { folder: "neural/src", word: "SystemTime", except: &[] },
    Rule { folder: "neural/src", word: "Instant::", except: &[] },
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The part of a source file that is not tests: tests may read files and clocks.
fn product(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("readable");
    let is_tests =
        path.file_stem().is_some_and(|stem| stem == "tests") || path.iter().any(|part| part == "tests");
    match (is_tests, text.find("\n#[cfg(test)]\nmod ")) {
        (true, _) => String::new(),
        (false, Some(end)) => text[..end].to_owned(),
        (false, None) => text,
    }
}

#[test]
fn sources_name_only_what_their_crate_may_know() {
    let mut offences = Vec::new();
    for rule in RULES {
        for path in sources(&root().join(rule.folder)) {
            let name =
                path.strip_prefix(root()).expect("below the root").to_string_lossy().replace('\\', "/");
            if rule.except.contains(&name.as_str()) {
                continue;
            }
            for (number, line) in product(&path).lines().enumerate() {
                if line.contains(rule.word) && !line.trim_start().starts_with("//") {
                    offences.push(format!("{name}:{}: {}", number + 1, line.trim()));
                }
            }
        }
    }
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

#[test]
fn the_exact_crates_keep_away_from_the_platforms_math() {
    // std's transcendental functions are the platform's libm: other bits on other machines.
    let banned = [
        ".sin()",
        ".cos()",
        ".tan()",
        ".sin_cos()",
        ".atan2(",
        ".acos()",
        ".asin()",
        ".exp()",
        ".exp2()",
        ".ln()",
        ".log2()",
        ".log10()",
        ".powf(",
        ".powi(",
        ".mul_add(",
        ".cbrt()",
        ".hypot(",
    ];
    let mut offences = Vec::new();
    for path in sources(&root().join("raster/src")) {
        for (number, line) in product(&path).lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            if banned.iter().any(|word| code.contains(word)) {
                offences.push(format!("{}:{}: {}", path.display(), number + 1, line.trim()));
            }
        }
    }
    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

#[test]
fn every_folder_of_the_house_is_on_the_map() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("there is a map");
    for folder in [
        "raster",
        "neural",
        "orchestrator",
        "shaders",
        "goldens",
        "scenes",
        "benches",
        "docs",
        "config",
        "ops",
    ] {
        assert!(map.contains(&format!("{folder}/")), "ARCHITECTURE.md does not mention {folder}/");
    }
}
