//! `conformance` and `adapters`: the table, the JSON and the verdicts.

use super::*;

#[test]
fn every_cpu_row_gives_the_bytes_in_the_binary() {
    let report = run(["conformance", "--backend", "cpu", "--json"]).expect(0).json();
    assert_eq!(report["conformant"], true);
    let rows = report["rows"].as_array().expect("rows");
    let names: Vec<&str> = rows.iter().map(|row| row["row"].as_str().expect("a name")).collect();
    for word in
        ["1 thread,", "2 threads", "7 threads", "denormals kept", "denormals flushed", "fresh process"]
    {
        assert!(names.iter().any(|name| name.contains(word)), "no row with `{word}` in {names:?}");
    }
    let subjects = report["expected"].as_array().expect("subjects").len() as u64;
    for row in rows {
        assert_eq!(row["verdict"], "same", "{row}");
        let times = if row["row"].as_str().expect("a name").contains("fresh") { 1 } else { 2 };
        assert_eq!(row["frame_count"].as_u64(), Some(times * subjects), "{row}");
    }
}

#[test]
fn scenes_of_ones_own_are_compared_with_the_plainest_row() {
    let scene = scene("nodes");
    let text = run(["conformance", &scene, "--size", "64x40", "--backend", "cpu"]).expect(0).text();
    assert!(text.contains("one set of bytes") && text.contains("1 scenes"), "{text}");
}

#[test]
fn an_adapter_that_is_not_there_is_not_here() {
    let error = run(["conformance", "--adapter", "no such adapter", "--json"]).expect(3).error();
    assert!(error["message"].as_str().expect("a message").contains("no such adapter"), "{error}");
}

#[test]
fn no_adapter_is_an_answer() {
    let hidden = |args: &[&str]| {
        let output = command()
            .args(args)
            .envs([("VK_DRIVER_FILES", "/nonexistent"), ("VK_ICD_FILENAMES", "/nonexistent")])
            .env("__EGL_VENDOR_LIBRARY_FILENAMES", "/nonexistent")
            .output()
            .expect("the binary runs");
        finished(output)
    };
    let adapters = hidden(&["adapters", "--json"]).expect(0).json();
    assert!(adapters.is_array());
    let said = hidden(&["adapters"]).expect(0).text();
    assert!(said.contains("CPU backend renders the same bytes") || said.contains("exactness"), "{said}");
}

#[test]
fn looking_for_adapters_says_nothing_by_itself() {
    let output = command().arg("adapters").env_remove("XDG_RUNTIME_DIR").output().expect("the binary runs");
    let run = finished(output).expect(0);
    assert_eq!(run.stderr, "", "a driver or we wrote to stderr");
}
