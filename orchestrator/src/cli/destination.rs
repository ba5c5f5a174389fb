//! Where frames go: file names for several outputs and frames, and writes that leave no half file behind.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use isoframe_raster::frame::Output;

use super::exit::Failure;
use super::print;
use crate::encode::{Format, Selection};

/// Digits of a frame number where the name does not say how many.
const FRAME_DIGITS: usize = 4;

/// `-o` and `--format` together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Destination {
    /// None: standard output.
    path: Option<PathBuf>,
    /// Format of the files.
    pub format: Format,
}

impl Destination {
    /// Reads `-o` and `--format`. *Errors*: no known extension, or one that contradicts the format.
    pub(crate) fn new(out: &str, format: Option<&str>) -> Result<Destination, Failure> {
        let asked = format
            .map(|text| {
                text.parse::<Format>()
                    .map_err(|error| Failure::bad_input(format!("--format {text}: {error}")))
            })
            .transpose()?;
        if out == "-" {
            return Ok(Destination { path: None, format: asked.unwrap_or(Format::Png8) });
        }
        let path = PathBuf::from(out);
        let extension =
            path.extension().and_then(|extension| extension.to_str()).unwrap_or("").to_lowercase();
        let format = match (asked, extension.parse::<Format>()) {
            (Some(asked), Ok(named)) if asked.extension() != named.extension() => {
                return Err(Failure::bad_input(format!(
                    "-o {out}: ends in .{extension}, --format says {asked}"
                )));
            }
            (Some(asked), _) => asked,
            // `png16` and the like are formats, not extensions.
            (None, Ok(named)) if named.extension() == extension || extension == "jpeg" => named,
            (None, _) => {
                return Err(Failure::bad_input(format!("-o {out}: the ending says no format"))
                    .hint("end it in .png, .exr, .webp or .jpg, or give --format"));
            }
        };
        Ok(Destination { path: Some(path), format })
    }

    /// Whether frames go to standard output.
    pub(crate) fn is_stdout(&self) -> bool {
        self.path.is_none()
    }

    /// What each file of a frame holds: EXR takes all outputs into one, the others hold one each.
    pub(crate) fn selections(&self, outputs: &[Output]) -> Vec<Selection> {
        match (outputs, self.format) {
            ([output], _) => vec![Selection::One(*output)],
            (_, Format::ExrHalf | Format::ExrFloat) => vec![Selection::Layers],
            _ => outputs.iter().map(|output| Selection::One(*output)).collect(),
        }
    }

    /// Refuses what cannot be written, before anything is rendered: a missing folder, several files into one pipe.
    pub(crate) fn check(&self, file_count: usize) -> Result<(), Failure> {
        let Some(path) = &self.path else {
            if file_count > 1 {
                return Err(Failure::bad_input(format!(
                    "-o -: standard output takes one file, this makes {file_count}"
                ))
                .hint("write to files, or put several outputs into one .exr with --format exr"));
            }
            if io::stdout().is_terminal() {
                return Err(
                    Failure::bad_input("-o -: standard output is a terminal").hint("pipe it somewhere")
                );
            }
            return Ok(());
        };
        let folder = folder_of(path);
        if !folder.is_dir() {
            return Err(Failure::bad_input(format!(
                "-o {}: there is no folder {}",
                path.display(),
                folder.display()
            ))
            .hint(format!("mkdir -p {}", folder.display())));
        }
        if path.is_dir() {
            return Err(Failure::bad_input(format!("-o {}: is a folder", path.display())));
        }
        Ok(())
    }

    /// The file of one selection and frame; `several` says that a frame makes more than one file.
    pub(crate) fn file(&self, selection: Selection, several: bool, frame: Option<u64>) -> Option<PathBuf> {
        let path = self.path.as_ref()?;
        let output = match selection {
            Selection::One(output) if several => Some(output),
            _ => None,
        };
        if output.is_none() && frame.is_none() {
            return Some(path.clone());
        }
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, self.format.extension()));
        let stem = output.map_or_else(|| stem.to_owned(), |output| insert_output(stem, output));
        let stem = frame.map_or_else(|| stem.clone(), |number| insert_number(&stem, number));
        Some(path.with_file_name(format!("{stem}.{extension}")))
    }
}

/// `shot.%04d` becomes `shot.depth.%04d`, `shot` becomes `shot.depth`.
fn insert_output(stem: &str, output: Output) -> String {
    match placeholder(stem) {
        Some((start, _, _)) => {
            let head = stem[..start].trim_end_matches(['.', '_', '-']);
            let separator = &stem[head.len()..start];
            let separator = if separator.is_empty() { "." } else { separator };
            let dot = if head.is_empty() { "" } else { "." };
            format!("{head}{dot}{output}{separator}{}", &stem[start..])
        }
        None => format!("{stem}.{output}"),
    }
}

/// `shot.%04d` becomes `shot.0012`, `shot` becomes `shot.0012`.
fn insert_number(stem: &str, number: u64) -> String {
    match placeholder(stem) {
        Some((start, end, digits)) => format!("{}{number:0digits$}{}", &stem[..start], &stem[end..]),
        None => format!("{stem}.{number:0digits$}", digits = FRAME_DIGITS),
    }
}

/// Where `%d` or `%04d` stands, and how many digits it asks for.
fn placeholder(stem: &str) -> Option<(usize, usize, usize)> {
    let start = stem.find('%')?;
    let rest = &stem[start + 1..];
    let digits = rest.find('d')?;
    let width = &rest[..digits];
    let digit_count = if width.is_empty() { Some(0) } else { width.parse().ok() };
    digit_count.filter(|&count| count <= 20).map(|count| (start, start + digits + 2, count))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Writes a whole file, or leaves what was there: into a temporary file beside it, then renamed over it.
/// What is no regular file (`/dev/null`, a pipe) is written to directly; a link is followed.
pub(crate) fn write(path: Option<&Path>, bytes: &[u8]) -> Result<(), Failure> {
    let Some(path) = path else { return print::bytes(bytes) };
    let failed = |error: io::Error| Failure::fault(format!("{}: {error}", path.display()));
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::metadata(&target).is_ok_and(|metadata| !metadata.is_file()) {
        return fs::OpenOptions::new()
            .write(true)
            .open(&target)
            .and_then(|mut file| file.write_all(bytes))
            .map_err(failed);
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(".isoframe-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any new file: what the user's umask leaves of this.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder_of(&target)).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.persist(&target).map_err(|error| failed(error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(out: &str, output: Output, several: bool, frame: Option<u64>) -> String {
        let destination = Destination::new(out, None).expect("a known ending");
        destination.file(Selection::One(output), several, frame).expect("a file").display().to_string()
    }

    #[test]
    fn file_names() {
        use Output::{Color, Depth};
        for (out, output, several, frame, expected) in [
            ("a/out.png", Color, false, None, "a/out.png"),
            ("a/out.png", Depth, true, None, "a/out.depth.png"),
            ("out.png", Color, true, None, "out.color.png"),
            ("out.png", Color, false, Some(7), "out.0007.png"),
            ("out.png", Depth, true, Some(7), "out.depth.0007.png"),
            ("out.%d.png", Color, false, Some(12345), "out.12345.png"),
            ("out_%06d.png", Color, false, Some(7), "out_000007.png"),
            ("out_%06d.png", Depth, true, Some(7), "out.depth_000007.png"),
            ("%03d.webp", Depth, true, Some(7), "depth.007.webp"),
            ("50%.png", Color, false, Some(1), "50%.0001.png"),
            ("v1.2.jpg", Color, true, None, "v1.2.color.jpg"),
        ] {
            assert_eq!(name(out, output, several, frame), expected, "{out}");
        }
        // As asked, whatever the ending: it may be no regular file.
        let named = Destination::new("a/plain", Some("png")).expect("a format");
        assert_eq!(named.file(Selection::One(Color), false, None), Some("a/plain".into()));
        assert_eq!(named.file(Selection::One(Depth), true, None), Some("a/plain.depth.png".into()));
    }

    #[test]
    fn formats_follow_the_ending_or_the_flag() {
        for (out, format, expected) in [
            ("a.png", None, Some(Format::Png8)),
            ("a.PNG", None, Some(Format::Png8)),
            ("a.png", Some("png16"), Some(Format::Png16)),
            ("a.exr", Some("exr32"), Some(Format::ExrFloat)),
            ("a.jpeg", None, Some(Format::Jpeg { quality: 90 })),
            ("a.bin", Some("png"), Some(Format::Png8)),
            ("-", None, Some(Format::Png8)),
            ("-", Some("exr"), Some(Format::ExrHalf)),
            ("a.png", Some("exr"), None),
            ("a.png16", None, None),
            ("a", None, None),
            ("a.gif", None, None),
            ("a.png", Some("gif"), None),
        ] {
            let got = Destination::new(out, format).ok().map(|destination| destination.format);
            assert_eq!(got, expected, "{out} {format:?}");
        }
    }

    #[test]
    fn a_write_replaces_the_file_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("frame.png");
        fs::write(&path, b"old").expect("written");
        write(Some(&path), b"new").expect("written");
        assert_eq!(fs::read(&path).expect("read"), b"new");
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 1);
        write(Some(&folder.path().join("missing/frame.png")), b"x").expect_err("no folder");
    }

    #[cfg(unix)]
    #[test]
    fn devices_and_links_are_written_through() {
        write(Some(Path::new("/dev/null")), b"x").expect("written");
        assert!(!fs::metadata("/dev/null").expect("still there").is_file());
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (real, link) = (folder.path().join("real.png"), folder.path().join("link.png"));
        fs::write(&real, b"old").expect("written");
        std::os::unix::fs::symlink(&real, &link).expect("linked");
        write(Some(&link), b"new").expect("written");
        assert_eq!(fs::read(&real).expect("read"), b"new");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
    }
}
