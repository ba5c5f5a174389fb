//! Where bytes come from, and that they come from nowhere else.

use std::io::Write;
use std::path::{Path, PathBuf};

use isoframe_raster::scene::{Limits, SceneError, Source, load};
use serde_json::json;

use crate::common::gltf::{Gltf, TRIANGLE, data_uri, f32_bytes, png};
use crate::{check_refused, error, primitive, scene, try_load};

/// A directory that goes away with the test.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("isoframe-source-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn from_path(path: &Path) -> Result<isoframe_raster::scene::Scene, SceneError> {
    let limits = Limits::default();
    load(&Source::from_path(path, &limits)?, &limits)
}

/// A zip of these entries; a name that ends in `@` becomes a symbolic link to its bytes.
fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    for (name, bytes) in entries {
        match name.strip_suffix('@') {
            Some(name) => out.add_symlink(name, std::str::from_utf8(bytes).unwrap(), options).unwrap(),
            None => {
                out.start_file(*name, options).unwrap();
                out.write_all(bytes).unwrap();
            }
        }
    }
    out.finish().unwrap().into_inner()
}

#[test]
fn every_container_gives_the_same_scene() {
    let file = Gltf::triangle();
    let reference = primitive(file.glb());
    let side = f32_bytes(&TRIANGLE);
    let gltf = file.gltf_with_uri("data/tri%61ngle.bin");
    let entries: &[(&str, &[u8])] = &[("scene.gltf", &gltf), ("data/triangle.bin", &side)];
    let directory = Directory::new("containers");
    for (name, bytes) in entries {
        directory.write(name, bytes);
    }
    let zipped = zip(entries);
    let zip_path = directory.write("packed/scene.zip", &zipped);
    let scenes = [
        ("data uri", scene(file.gltf())),
        ("gltf-buffer", scene(file.gltf_with_uri(&data_uri("application/gltf-buffer", &side)))),
        ("zip", scene(zipped)),
        ("zip from disk", from_path(&zip_path).unwrap()),
        ("directory", from_path(&directory.0).unwrap()),
        ("file on disk", from_path(&directory.0.join("scene.gltf")).unwrap()),
        (
            "zip with a folder",
            scene(zip(&[
                ("a/scene.gltf", &gltf),
                ("a/data/triangle.bin", &side),
                ("__MACOSX/a/._scene.gltf", b"x"),
            ])),
        ),
    ];
    for (name, made) in &scenes {
        assert_eq!(made.meshes[0].primitives[0].position, reference.position, "{name}");
    }
}

#[test]
fn data_uris() {
    // B07. Rule: base64 of any media type; anything else is refused, and is never a file name.
    let file = Gltf::triangle();
    let side = f32_bytes(&TRIANGLE);
    let good = data_uri("application/octet-stream", &side);
    let (head, body) = good.split_once(',').unwrap();
    let upper = format!("DATA:application/octet-stream;BASE64,{body}");
    let escaped = format!("{head},{}", body.replace('A', "%41"));
    for uri in
        [data_uri("text/plain", &side), data_uri("", &side), data_uri("a/b;charset=x", &side), upper, escaped]
    {
        assert_eq!(primitive(file.gltf_with_uri(&uri)).position.as_flattened(), TRIANGLE, "{uri}");
    }
    let percent: String = side.iter().map(|byte| format!("%{byte:02x}")).collect();
    let cases = [
        ("percent-encoded", format!("data:,{percent}"), "invalid-data-uri", "only base64 is read"),
        ("no comma", "data:application/octet-stream;base64".into(), "invalid-data-uri", "no comma"),
        ("bad alphabet", format!("{head},!{body}"), "invalid-data-uri", "byte 0 is not of the alphabet"),
        ("wrong padding", format!("{good}="), "invalid-data-uri", "base64"),
        ("padding inside", format!("{head},AA=A{body}"), "invalid-data-uri", "base64"),
        (
            "short",
            data_uri("", &side[..35]),
            "truncated",
            "buffer 0 is truncated: 36 bytes announced, 35 there",
        ),
        ("broken percent", format!("{head},%4"), "invalid-data-uri", "percent"),
    ];
    for (name, uri, code, says) in cases {
        check_refused(name, file.gltf_with_uri(&uri), code, says);
    }
    // An image that says nothing of its kind is known by its first bytes.
    let mut file = Gltf::triangle();
    file.push("images", json!({ "uri": data_uri("image/png", &png(1, 1, [1, 2, 3, 255])) }));
    file.push("images", json!({ "uri": data_uri("application/octet-stream", &png(1, 1, [1, 2, 3, 255])) }));
    scene(file.glb());
}

/// URIs that must not be followed, and the code each gets in an upload without side files.
const ESCAPES: &[(&str, &str)] = &[
    ("../../../../etc/passwd", "uri-escapes"),
    ("%2e%2e%2f%2e%2e%2fetc%2fpasswd", "uri-escapes"),
    ("a/../../b", "uri-escapes"),
    ("/etc/passwd", "uri-escapes"),
    ("%2Fetc/passwd", "uri-escapes"),
    ("//host/share", "uri-escapes"),
    ("file:///etc/passwd", "uri-scheme"),
    ("FILE:/etc/passwd", "uri-scheme"),
    ("http://127.0.0.1:9/x", "uri-scheme"),
    ("https%3A//127.0.0.1:9/x", "uri-scheme"),
    ("C:/windows/win.ini", "uri-scheme"),
    ("..\\..\\secret", "invalid-uri"),
    ("%5c%5chost%5cshare", "invalid-uri"),
    ("a%00b", "invalid-uri"),
    ("a\nb", "invalid-uri"),
    ("%ff.bin", "invalid-uri"),
    ("%zz.bin", "invalid-uri"),
    ("%", "invalid-uri"),
    ("", "invalid-uri"),
    (".", "invalid-uri"),
    ("a/", "invalid-uri"),
    ("scene.bin", "side-file"),
];

#[test]
fn uploads_open_no_file() {
    // B19. The canary lies exactly where an upload would find it if anything opened files: in the working directory
    // of this process and in the temporary directory, under the names that the uploads use.
    let secret = "canary-7f3a9c-do-not-tell";
    let directory = Directory::new("canary");
    let canary = directory.write("canary.bin", format!("{secret}{}", "x".repeat(64)).as_bytes());
    let working = std::env::current_dir().unwrap();
    let up = "../".repeat(working.components().count() - 1);
    let relative = format!("{up}{}", canary.strip_prefix("/").unwrap_or(&canary).display());
    assert!(Path::new(&relative).exists() || !cfg!(unix), "the canary is really there");
    let absolute = canary.display().to_string();
    let mut uris: Vec<(String, Option<&str>)> =
        ESCAPES.iter().map(|&(uri, code)| (uri.to_owned(), Some(code))).collect();
    uris.extend([(relative.clone(), None), (absolute.clone(), None), (format!("file://{absolute}"), None)]);
    uris.push((relative.replace('/', "%2f").replace('.', "%2e"), None));
    for (uri, code) in uris {
        let mut with_image = Gltf::triangle();
        with_image.push("images", json!({ "uri": uri }));
        let gltf = Gltf::triangle().gltf_with_uri(&uri);
        let uploads = [
            gltf.clone(),
            with_image.glb(),
            zip(&[("scene.gltf", &gltf)]),
            zip(&[("deep/er/scene.gltf", &gltf)]),
        ];
        for (number, upload) in uploads.into_iter().enumerate() {
            let refused = error(upload);
            let text = refused.to_string();
            assert!(!text.contains(secret), "{uri}: {text}");
            let code = code.filter(|_| number < 2);
            assert!(code.is_none_or(|code| code == refused.code()), "{uri}: {} ({text})", refused.code());
            let known = ["uri-escapes", "uri-scheme", "invalid-uri", "side-file", "missing-file"];
            assert!(known.contains(&refused.code()), "{uri}: {}", refused.code());
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn loading_an_upload_reads_nothing() {
    // The kernel counts for us: rchar is what this process has read. Loading from memory reads nothing.
    let read = || {
        let text = std::fs::read_to_string("/proc/thread-self/io").unwrap();
        let value = |line: &str| line.strip_prefix("rchar: ").map(|value| value.parse::<u64>().unwrap());
        text.lines().find_map(value).unwrap()
    };
    let uploads: Vec<Vec<u8>> = ESCAPES
        .iter()
        .map(|(uri, _)| Gltf::triangle().gltf_with_uri(uri))
        .chain([Gltf::triangle().glb()])
        .collect();
    // Reading the counter itself counts: its own size is the only difference allowed.
    let (first, second) = (read(), read());
    let own = second - first;
    let before = read();
    for upload in uploads {
        let _ = try_load(upload);
    }
    assert!(read() - before <= own + 16, "something was read");
}

#[test]
fn directories_stay_inside() {
    let side = f32_bytes(&TRIANGLE);
    let directory = Directory::new("inside");
    directory.write("secret.bin", &side);
    let scene_at = |uri: &str| directory.write("scene/scene.gltf", &Gltf::triangle().gltf_with_uri(uri));
    for (uri, code) in ESCAPES {
        let code = if *code == "side-file" { "missing-file" } else { code };
        let refused = from_path(&scene_at(uri)).unwrap_err();
        assert_eq!(refused.code(), code, "{uri}: {refused}");
    }
    assert_eq!(from_path(&scene_at("../secret.bin")).unwrap_err().code(), "uri-escapes");
    let text = from_path(&scene_at("missing.bin")).unwrap_err().to_string();
    assert_eq!(text, "buffer 0: file \"missing.bin\" is missing");
    directory.write("scene/a folder/b.bin", &side);
    from_path(&scene_at("x/../a%20folder/./b.bin")).unwrap();
    assert_eq!(from_path(&scene_at("a%20folder")).unwrap_err().code(), "missing-file");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../secret.bin", directory.0.join("scene/link.bin")).unwrap();
        assert_eq!(from_path(&scene_at("link.bin")).unwrap_err().code(), "uri-escapes");
        std::os::unix::fs::symlink("a folder/b.bin", directory.0.join("scene/inner.bin")).unwrap();
        from_path(&scene_at("inner.bin")).unwrap();
    }
    assert_eq!(from_path(&directory.0.join("nothing.glb")).unwrap_err().code(), "io");
}

#[test]
fn archives_stay_inside() {
    let side = f32_bytes(&TRIANGLE);
    let gltf = Gltf::triangle().gltf_with_uri("scene.bin");
    let up = Gltf::triangle().gltf_with_uri("../scene.bin");
    scene(zip(&[("a/scene.gltf", &up), ("scene.bin", &side)]));
    let cases: [(&str, Vec<u8>, &str, &str); 9] = [
        ("above the root", zip(&[("scene.gltf", &up), ("scene.bin", &side)]), "uri-escapes", "../scene.bin"),
        ("missing", zip(&[("scene.gltf", &gltf)]), "missing-file", "scene.bin"),
        ("link", zip(&[("scene.gltf", &gltf), ("scene.bin@", b"/etc/passwd")]), "invalid-archive", "link"),
        (
            "escaping entry",
            zip(&[("scene.gltf", &gltf), ("../scene.bin", &side)]),
            "invalid-archive",
            "inside",
        ),
        ("absolute entry", zip(&[("scene.gltf", &gltf), ("/scene.bin", &side)]), "invalid-archive", "inside"),
        ("no scene", zip(&[("scene.bin", &side)]), "unknown-format", "no .gltf or .glb"),
        ("two scenes", zip(&[("a.gltf", &gltf), ("b.glb", &gltf)]), "unknown-format", "a.gltf"),
        ("nothing", zip(&[]), "unknown-format", "no .gltf or .glb"),
        ("zip in a zip", zip(&[("scene.gltf", &zip(&[]))]), "unknown-format", "neither"),
    ];
    for (name, bytes, code, says) in cases {
        check_refused(name, bytes, code, says);
    }
    // The scene nearest to the root is the one.
    scene(zip(&[("scene.gltf", &gltf), ("scene.bin", &side), ("old/other.gltf", b"{}")]));
    let good = zip(&[("scene.gltf", &gltf), ("scene.bin", &side)]);
    for length in 0..good.len() {
        error(&good[..length]);
    }
}

#[test]
fn archives_that_unpack_to_too_much_are_refused_unread() {
    let zeros = vec![0u8; 8 << 20];
    let bomb = zip(&[("scene.gltf", b"{}"), ("scene.bin", &zeros)]);
    assert!(bomb.len() < 32 << 10);
    check_refused("ratio", bomb.clone(), "limit-exceeded", "zip_ratio");
    let limits = Limits { zip_ratio: 10_000, side_bytes: 1 << 20, file_bytes: 1 << 20, ..Limits::default() };
    assert!(crate::load_within(bomb, &limits).unwrap_err().to_string().contains("side_bytes"));
    let many: Vec<String> = (0..5000).map(|number| format!("{number}.bin")).collect();
    let entries: Vec<(&str, &[u8])> = many.iter().map(|name| (name.as_str(), &b""[..])).collect();
    check_refused("entries", zip(&entries), "limit-exceeded", "zip_entries");
    // An entry that lies about its size: 12 bytes instead of 36 in both headers.
    let gltf = Gltf::triangle().gltf_with_uri("scene.bin");
    let mut lying = zip(&[("scene.gltf", &gltf), ("scene.bin", &f32_bytes(&TRIANGLE))]);
    let size = 36u32.to_le_bytes();
    while let Some(at) = lying.windows(4).position(|window| window == size) {
        lying[at..at + 4].copy_from_slice(&12u32.to_le_bytes());
    }
    assert!(["invalid-archive", "truncated"].contains(&error(lying).code()));
}

#[test]
fn the_hash_names_what_is_read() {
    let glb = Gltf::triangle().glb();
    assert_eq!(scene(glb.clone()).hash, blake3::hash(&glb).to_hex().to_string(), "one file: its bytes");
    assert_eq!(scene(zip(&[("x.glb", &glb)])).hash, scene(glb).hash, "the archive does not matter");
    let side = f32_bytes(&TRIANGLE);
    let gltf = Gltf::triangle().gltf_with_uri("data/t.bin");
    let base = zip(&[("scene.gltf", &gltf), ("data/t.bin", &side)]);
    let hash = scene(base).hash;
    // Written out: the listing that the documentation promises.
    let line =
        |bytes: &[u8], path: &str| format!("{} {} {path}\n", blake3::hash(bytes).to_hex(), bytes.len());
    let listing = format!("isoframe scene files 1\n{}{}", line(&gltf, ""), line(&side, "data/t.bin"));
    assert_eq!(hash, blake3::hash(listing.as_bytes()).to_hex().to_string());
    let same = [
        ("order and strangers", zip(&[("data/t.bin", &side), ("readme.txt", b"hi"), ("scene.gltf", &gltf)])),
        ("in a folder", zip(&[("a/scene.gltf", &gltf), ("a/data/t.bin", &side)])),
        ("another name", zip(&[("other.gltf", &gltf), ("data/t.bin", &side)])),
    ];
    for (name, bytes) in same {
        assert_eq!(scene(bytes).hash, hash, "{name}");
    }
    let directory = Directory::new("hash");
    directory.write("scene.gltf", &gltf);
    directory.write("data/t.bin", &side);
    assert_eq!(from_path(&directory.0).unwrap().hash, hash, "directory");
    assert_eq!(from_path(&directory.0.join("scene.gltf")).unwrap().hash, hash, "file with side files");
    let mut other = side.clone();
    other[0] ^= 1;
    assert_ne!(scene(zip(&[("scene.gltf", &gltf), ("data/t.bin", &other)])).hash, hash, "another side file");
}
