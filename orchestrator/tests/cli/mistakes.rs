//! Mistakes: one line that says what and where, the right exit code, nothing written.

use super::*;

struct Case<'a> {
    args: &'a [&'a str],
    code: i32,
    /// What the error must say.
    says: &'a [&'a str],
}

fn check(case: &Case<'_>) {
    let plain = run(case.args).expect(case.code);
    assert!(plain.stdout.is_empty(), "{:?} wrote {}", case.args, plain.text());
    for said in case.says {
        assert!(plain.stderr.contains(said), "{:?}: no `{said}` in {}", case.args, plain.stderr);
    }
    assert!(
        !plain.stderr.contains("panicked") && !plain.stderr.contains("RUST_BACKTRACE"),
        "{}",
        plain.stderr
    );
    let machine = run(case.args.iter().chain(&["--json"])).expect(case.code);
    assert!(machine.stdout.is_empty(), "{:?} wrote {}", case.args, machine.text());
    let error = machine.error();
    assert_eq!(error["exit"], case.code, "{error}");
    let message = error["message"].as_str().expect("a message");
    assert!(!message.is_empty() && !message.contains('\n'), "{message}");
}

#[test]
fn the_command_line_itself() {
    for args in [
        &["polish"] as &[&str],
        &["render"],
        &["render", "demo"],
        &["render", "demo", "-o", "x.png", "--sample", "4"],
        &["render", "demo", "-o", "x.png", "--threads", "many"],
        &["render", "demo", "-o", "x.png", "--yfov", "0.7"],
        &["render", "demo", "-o", "x.png", "--backend", "vulkan"],
        &["render", "demo", "-o", "x.png", "--frames", "0..4"],
        &["render", "demo", "-o", "x.png", "--fps", "24"],
        &["render", "demo", "-o", "x.png", "--frames", "4..4", "--fps", "24"],
        &["render", "demo", "-o", "x.png", "--frames", "0..4", "--fps", "24", "--previous-time", "1"],
        &["render", "demo", "-o", "x.png", "--sun-lux", "3"],
        &["verify", "x.png"],
        &["bench", "--frames", "0"],
        &["goldens"],
        &["goldens", "update", "demo"],
    ] {
        check(&Case { args, code: 2, says: &["error"] });
    }
}

#[test]
fn values_of_flags() {
    for (flag, value, says) in [
        ("--output", "colour", "colour"),
        ("--output", "", "output"),
        ("--size", "1280", "1280x720"),
        ("--size", "0x10", "width"),
        ("--size", "99999x10", "width"),
        ("--samples", "3", "samples"),
        ("--exposure", "bright", "exposure"),
        ("--exposure", "NaN", "exposure"),
        ("--tonemap", "filmic", "tonemap"),
        ("--background", "#12", "background"),
        ("--seed", "-1", "seed"),
        ("--camera", "nobody", "nobody"),
        ("--camera", "99", "99"),
        ("--camera", "1,2,3", "16"),
        ("--variant", "nothing", "nothing"),
        ("--animation", "nothing", "nothing"),
        ("--sun", "0,0,0", "direction"),
        ("--time", "inf", "time"),
        ("--format", "gif", "gif"),
        ("--format", "exr", "exr"),
        ("--env", "missing.hdr", "missing.hdr"),
        ("--neural", "sometimes", "neural"),
    ] {
        let folder = Folder::new();
        let out = folder.file("x.png");
        let scene = scene("variants");
        let flag = format!("{flag}={value}");
        check(&Case {
            args: &["render", &scene, "-o", &out, "--backend=cpu", &flag],
            code: 2,
            says: &[says],
        });
        assert!(folder.names().is_empty(), "{flag} left {:?}", folder.names());
    }
}

#[test]
fn scenes() {
    let folder = Folder::new();
    let out = folder.file("x.png");
    for (name, bytes, says) in [
        ("empty.glb", b"".as_slice(), "empty.glb"),
        ("noise.glb", b"not a scene at all", "not a glTF scene"),
        ("cut.glb", b"glTF\x02\0\0\0\xff\xff\0\0", "cut.glb"),
        ("json.gltf", b"{\"asset\": {\"version\": \"2.0\"}, \"nodes\": [", "line 1"),
    ] {
        let path = folder.file(name);
        std::fs::write(&path, bytes).expect("written");
        for command in [&["inspect", &path] as &[&str], &["render", &path, "-o", &out, "--backend", "cpu"]] {
            check(&Case { args: command, code: 2, says: &[name, says] });
        }
    }
    check(&Case { args: &["inspect", "missing.glb"], code: 2, says: &["missing.glb", "demo"] });
    assert!(!folder.names().contains(&"x.png".to_owned()));
}

#[test]
fn destinations() {
    let folder = Folder::new();
    std::fs::create_dir(folder.file("shots.png")).expect("made");
    for (out, says) in [
        (folder.file("none/x.png"), "mkdir -p"),
        (folder.file("x"), "ending"),
        (folder.file("x.gif"), "ending"),
        (folder.file("shots.png"), "folder"),
    ] {
        check(&Case { args: &["render", "demo", "-o", &out, "--backend", "cpu"], code: 2, says: &[says] });
    }
    check(&Case {
        args: &["render", "demo", "-o", "-", "--output", "color,depth", "--backend", "cpu"],
        code: 2,
        says: &["one file"],
    });
    check(&Case {
        args: &["render", "demo", "-o", "-", "--frames", "0..2", "--fps", "1"],
        code: 2,
        says: &["one file"],
    });
}

#[test]
fn what_is_not_on_this_machine() {
    let folder = Folder::new();
    let out = folder.file("x.png");
    check(&Case {
        args: &["render", "demo", "-o", &out, "--backend", "wgpu", "--adapter", "no such adapter"],
        code: 3,
        says: &["no such adapter", "--backend cpu"],
    });
    check(&Case {
        args: &["render", "demo", "-o", &out, "--backend", "cpu", "--neural", "required"],
        code: 3,
        says: &["neural", "--neural auto"],
    });
    assert!(folder.names().is_empty());
}

#[test]
fn a_mistake_ends_before_work_begins() {
    // The scene does not exist either: the flag is what is reported, because it is checked first.
    check(&Case { args: &["render", "missing.glb", "-o", "x.gif"], code: 2, says: &["x.gif"] });
    check(&Case {
        args: &["render", "missing.glb", "-o", "x.png", "--samples", "5"],
        code: 2,
        says: &["samples"],
    });
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_a_fault_and_leaves_the_old_file() {
    // /dev/full takes nothing.
    let run = render(&scene("variants"), "-", &[]);
    assert_eq!(run.code, 0);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("there on Linux");
    let output = command().args(["inspect", "demo"]).stdout(full).output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&output.stderr).contains("stdout"));
}
