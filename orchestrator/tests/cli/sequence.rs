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

/// CASES B22, B27: nothing previous means zero motion, and every file says that there was nothing.
#[test]
fn the_first_frames_files_say_that_nothing_was_previous() {
    for (ending, format) in [("png", "png"), ("png", "png16"), ("exr", "exr")] {
        let folder = Folder::new();
        let flags = ["--frames", "0..2", "--fps", "10", "--output", "motion", "--format", format];
        render(&scene("morph"), &folder.file(&format!("s.{ending}")), &flags).expect(0);
        let read = |frame: u32| std::fs::read(folder.file(&format!("s.{frame:04}.{ending}"))).expect("there");
        let valid = |file: &[u8]| isoframe::receipt::read(file).expect("a receipt").motion_valid;
        let (first, second) = (read(0), read(1));
        assert_eq!((valid(&first), valid(&second)), (false, true), "{format}");
        let moves = |file: &[u8]| motion(file, ending).into_iter().any(|pixel| pixel != [0.0; 2]);
        assert_eq!((moves(&first), moves(&second)), (false, true), "{format}");
    }
}

/// Motion in a file, in codes from its zero (PNG) or pixels (EXR). The third channel of a PNG is the flag.
fn motion(file: &[u8], ending: &str) -> Vec<[f32; 2]> {
    if ending == "exr" {
        use exr::prelude::*;
        let reader =
            read().no_deep_data().largest_resolution_level().all_channels().all_layers().all_attributes();
        let image = reader.from_buffered(std::io::Cursor::new(file)).expect("readable");
        let channels = &image.layer_data[0].channel_data.list;
        let values = |name: &str| -> Vec<f32> {
            let channel = channels.iter().find(|channel| channel.name.to_string() == name);
            channel.expect("a channel").sample_data.values_as_f32().collect()
        };
        let (x, y) = (values("motion.X"), values("motion.Y"));
        return x.into_iter().zip(y).map(|(x, y)| [x, y]).collect();
    }
    let picture = image::load_from_memory(file).expect("readable");
    if let image::DynamicImage::ImageRgb16(picture) = picture {
        return picture.pixels().map(|pixel| [0, 1].map(|c| f32::from(pixel.0[c]) - 32768.0)).collect();
    }
    picture.to_rgb8().pixels().map(|pixel| [0, 1].map(|c| f32::from(pixel.0[c]) - 128.0)).collect()
}
