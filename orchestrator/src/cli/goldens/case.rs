//! A golden: a scene, a request, and the hashes that every buffer must have.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use isoframe_raster::frame::{ENGINE, FrameRequest, Output};
use serde::{Deserialize, Serialize};

use super::super::digest::Digests;
use super::super::exit::Failure;
use crate::request::from_pairs;

/// File that says what a case renders; written by hand.
const CASE_FILE: &str = "case.toml";
/// File that says what must come out; written by `goldens update` only.
const EXPECTED_FILE: &str = "expected.toml";

/// What `case.toml` holds.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    /// What the case is about, in one sentence.
    pub about: String,
    /// Scene file beside `case.toml`, or `demo`.
    pub scene: String,
    /// Environment file beside `case.toml`; absent: the built-in studio.
    pub environment: Option<String>,
    /// Parameters of the request, as query strings name them; all outputs are rendered.
    #[serde(default)]
    pub request: BTreeMap<String, String>,
}

/// What `expected.toml` holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expected {
    /// The `ENGINE` that the hashes are of.
    pub engine: String,
    /// Why they last changed.
    pub reason: String,
    /// Hash per buffer, see [`Digests`].
    pub buffers: Digests,
}

impl Case {
    /// Reads `case.toml`.
    pub(crate) fn parse(text: &str) -> Result<Case, toml::de::Error> {
        toml::from_str(text)
    }

    /// The request, for a scene and environment of these hashes.
    pub(crate) fn request(&self, scene: &str, environment: Option<&str>) -> Result<FrameRequest, Failure> {
        let named = [("scene", Some(scene)), ("env", environment)];
        let named = named.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let traced = self.request.contains_key("traced");
        let all = Output::all().filter(|output| traced || !Output::TRACED.contains(output));
        let all = all.map(Output::name).collect::<Vec<_>>().join(",");
        let given = self.request.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let output = (!self.request.contains_key("output")).then_some(("output", all.as_str()));
        Ok(from_pairs(named.chain(given).chain(output))?)
    }
}

impl Expected {
    /// Reads `expected.toml`.
    pub(crate) fn parse(text: &str) -> Result<Expected, toml::de::Error> {
        toml::from_str(text)
    }

    /// What this engine has just rendered.
    pub(crate) fn now(buffers: Digests, reason: &str) -> Expected {
        Expected { engine: ENGINE.to_owned(), reason: reason.to_owned(), buffers }
    }
}

/// A case's folder.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    /// Name of the case.
    pub name: String,
    /// Where it lies.
    pub path: PathBuf,
}

impl Folder {
    /// The cases below `root`, by name; all of them, or those asked for. *Errors*: a name that is not there.
    pub(crate) fn list(root: &Path, names: &[String]) -> Result<Vec<Folder>, Failure> {
        let entries = fs::read_dir(root).map_err(|error| {
            Failure::bad_input(format!("goldens {}: {error}", root.display())).hint("--root names the folder")
        })?;
        let mut found: Vec<Folder> = entries
            .filter_map(Result::ok)
            .filter(|entry| entry.path().join(CASE_FILE).is_file())
            .map(|entry| Folder {
                name: entry.file_name().to_string_lossy().into_owned(),
                path: entry.path(),
            })
            .collect();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        if found.is_empty() {
            return Err(Failure::bad_input(format!("goldens {}: holds no case", root.display())));
        }
        if let Some(unknown) = names.iter().find(|name| !found.iter().any(|folder| folder.name == **name)) {
            return Err(Failure::bad_input(format!("goldens {}: has no case `{unknown}`", root.display())));
        }
        if !names.is_empty() {
            found.retain(|folder| names.contains(&folder.name));
        }
        Ok(found)
    }

    /// What the case renders.
    pub(crate) fn case(&self) -> Result<Case, Failure> {
        let path = self.path.join(CASE_FILE);
        let text = fs::read_to_string(&path).map_err(|error| bad(&path, error))?;
        Case::parse(&text).map_err(|error| bad(&path, error))
    }

    /// What must come out; none where it was never written.
    pub(crate) fn expected(&self) -> Result<Option<Expected>, Failure> {
        let path = self.path.join(EXPECTED_FILE);
        match fs::read_to_string(&path) {
            Ok(text) => Expected::parse(&text).map(Some).map_err(|error| bad(&path, error)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(bad(&path, error)),
        }
    }

    /// Writes what must come out.
    pub(crate) fn write_expected(&self, expected: &Expected) -> Result<(), Failure> {
        let text = toml::to_string(expected).map_err(Failure::fault)?;
        let text = format!("# Written by `isoframe goldens update`.\n{text}");
        super::super::destination::write(Some(&self.path.join(EXPECTED_FILE)), text.as_bytes())
    }

    /// The picture of an output as it should be, for people to look at; the hashes decide.
    pub(crate) fn picture(&self, output: &str) -> PathBuf {
        self.path.join("expected").join(format!("{output}.png"))
    }
}

fn bad(path: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::bad_input(format!("{}: {error}", path.display()))
}
