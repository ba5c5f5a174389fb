//! The same frame is the same file: twice, at any thread count, in any process, on any machine.

use std::process::Command;

use super::*;

/// One hash over all files of a frame.
fn all_files() -> String {
    let mut hasher = blake3::Hasher::new();
    for (width, height) in [(65, 40), (257, 3)] {
        for (.., encoded) in files(width, height) {
            hasher.update(&encoded.bytes);
        }
    }
    hasher.finalize().to_hex().to_string()
}

/// Prints the hash for the test below, which runs it in processes of its own.
#[test]
#[ignore = "run by files_are_the_same_in_any_process"]
fn print_hash_of_all_files() {
    println!("hash {}", all_files());
}

/// Fresh processes have fresh hash seeds, which order maps, and `RAYON_NUM_THREADS` sets the threads of the
/// pool that compresses EXR.
#[test]
fn files_are_the_same_in_any_process() {
    let here = all_files();
    for threads in ["1", "2", "7"] {
        let output = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "encode::tests::determinism::print_hash_of_all_files",
                "--ignored",
                "--nocapture",
            ])
            .env("RAYON_NUM_THREADS", threads)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(&format!("hash {here}")), "{threads} threads: {text}");
    }
}

/// Hashes of whole files, made by this test and kept: a change means another encoder version.
#[test]
fn files_are_those_of_this_encoder_version() {
    assert_eq!(ENCODER, "isoframe-encode-1");
    let mut lines = String::new();
    for (format, selection, _, encoded) in files(65, 40) {
        let hash = blake3::hash(&encoded.bytes).to_hex();
        lines += &format!("{format} {selection:?} {} {}\n", &hash[..16], &encoded.pixels.to_string()[..16]);
    }
    insta::assert_snapshot!("files", lines);
}
