//! Sequences: numbering, times, and that parts make the whole.

use super::*;

#[test]
fn frames_are_numbered() {
    let folder = Folder::new();
    render(&scene("morph"), &folder.file("m.png"), &["--frames", "8..=10", "--fps", "24"]).expect(0);
    assert_eq!(folder.names(), ["m.0008.png", "m.0009.png", "m.0010.png"]);
    let folder = Folder::new();
    let flags = ["--frames", "0..2", "--fps", "24", "--output", "color,motion"];
    render(&scene("morph"), &folder.file("m_%02d.png"), &flags).expect(0);
    assert_eq!(folder.names(), ["m.color_00.png", "m.color_01.png", "m.motion_00.png", "m.motion_01.png"]);
}

#[test]
fn parts_make_the_whole() {
    let flags = |range| ["--frames", range, "--fps", "12", "--output", "motion"];
    let whole = Folder::new();
    render(&scene("morph"), &whole.file("m.png"), &flags("0..4")).expect(0);
    let part = Folder::new();
    render(&scene("morph"), &part.file("m.png"), &flags("2..4")).expect(0);
    assert_eq!(part.names(), ["m.0002.png", "m.0003.png"]);
    for name in part.names() {
        let same = std::fs::read(part.file(&name)).expect("there")
            == std::fs::read(whole.file(&name)).expect("there");
        assert!(same, "{name} depends on where the sequence began");
    }
}

#[test]
fn a_frame_of_a_sequence_is_the_frame_of_its_times() {
    let folder = Folder::new();
    let flags = ["--frames", "3..4", "--fps", "10", "--output", "motion", "--time", "0.25"];
    render(&scene("morph"), &folder.file("s.png"), &flags).expect(0);
    // Frame 3 at 10 frames per second, from 0.25 s: 0.55 s, after 0.45 s; written as the sums come out in f64.
    let (time, previous) = ((0.25 + 3.0 / 10.0_f64).to_string(), (0.25 + 2.0 / 10.0_f64).to_string());
    let flags = ["--time", &time, "--previous-time", &previous, "--output", "motion"];
    render(&scene("morph"), &folder.file("one.png"), &flags).expect(0);
    let read = |name: &str| std::fs::read(folder.file(name)).expect("there");
    assert!(read("s.0003.png") == read("one.png"));
}

#[test]
fn the_first_frame_has_nothing_previous() {
    let folder = Folder::new();
    let flags = ["--frames", "0..2", "--fps", "10", "--json"];
    let report = render(&scene("morph"), &folder.file("s.png"), &flags).expect(0).json();
    let frames = report["frames"].as_array().expect("frames");
    assert_eq!(frames.iter().map(|frame| frame["frame"].as_u64()).collect::<Vec<_>>(), [Some(0), Some(1)]);
    assert_eq!(
        frames.iter().map(|frame| frame["time_s"].as_f64()).collect::<Vec<_>>(),
        [Some(0.0), Some(0.1)]
    );
    assert_ne!(frames[0]["frame_id"], frames[1]["frame_id"]);
}
