//! All settings, read in one place: defaults, then a file, then the environment, then the command line.
//!
//! `config/default.toml` is the table of settings: it gives each its name, type, default and meaning.
//! Mistakes are collected and reported together.

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use isoframe_raster::environment::EnvironmentLimits;
use isoframe_raster::scene::Limits;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::frames::{BackendChoice, FrameSettings};
use crate::request::RequestLimits;

/// `config/default.toml`, as shipped.
pub const DEFAULTS_TOML: &str = include_str!("../../config/default.toml");

/// Every setting. See `config/default.toml` for meanings and units.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Settings {
    pub server: Server,
    pub upload: Upload,
    pub scene: Limits,
    pub environment: Environment,
    pub render: Render,
    pub cache: Cache,
    pub jobs: Jobs,
    pub log: Log,
}

/// `[server]`: the listener and its clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Server {
    pub address: SocketAddr,
    pub data_dir: String,
    pub connections: usize,
    pub header_read_ms: u64,
    pub header_bytes: usize,
    pub idle_ms: u64,
    pub body_idle_ms: u64,
    pub body_rate_bytes_per_s: u64,
    pub response_stall_ms: u64,
    pub response_rate_bytes_per_s: u64,
    pub drain_ms: u64,
    pub drain_bytes: u64,
    pub shutdown_ms: u64,
    pub json_bytes: u64,
    pub answer_bytes: u64,
    pub cors_origins: Vec<String>,
}

/// `[upload]`: scene and environment files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Upload {
    pub concurrent: usize,
    pub queue_uploads: usize,
    pub queue_ms: u64,
    pub stored_bytes: u64,
    pub page_entries: u32,
}

/// `[environment]`: limits of an environment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Environment {
    pub file_bytes: u64,
    pub side_px: u32,
    pub picture_px: u64,
}

/// `[render]`: backends and what waits for them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Render {
    pub backend: BackendChoice,
    pub adapter: String,
    pub threads: usize,
    pub concurrent: usize,
    pub queue_requests: usize,
    pub queue_ms: u64,
    pub render_ms: u64,
    pub batch_every_frames: u32,
    pub side_px: u32,
    pub frame_px: u64,
    pub traced_px: u64,
    pub light_samples: u32,
    pub name_bytes: usize,
    pub resident_scene_bytes: u64,
    pub resident_environment_bytes: u64,
    pub rebuild_first_ms: u64,
    pub rebuild_longest_ms: u64,
    pub device_wait_ms: u64,
    pub device_scratch_bytes: u64,
    pub device_resident_bytes: u64,
    pub spare_frame_bytes: usize,
}

/// `[cache]`: frames on disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Cache {
    pub frame_bytes: u64,
}

/// `[jobs]`: work that outlives its request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Jobs {
    pub queue_jobs: usize,
    pub concurrent: usize,
    pub attempts: u32,
    pub frames: u32,
    pub frame_ms: u64,
    pub keep_s: u64,
    pub result_bytes: u64,
}

/// `[log]`: what goes to stderr.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Log {
    pub format: LogFormat,
    pub level: String,
}

/// How log lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Where settings come from, weakest first; the defaults are always below.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// A TOML file.
    pub file: Option<PathBuf>,
    /// Environment variables; only those that begin with `ISOFRAME_` and a section's name are looked at.
    pub environment: Vec<(String, String)>,
    /// From the command line: dotted name and value as text, `("server.address", "0.0.0.0:80")`.
    pub overrides: Vec<(String, String)>,
}

impl Sources {
    /// The process's environment, and the file that `ISOFRAME_CONFIG` names if it is set.
    pub fn from_process() -> Sources {
        let environment: Vec<_> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let file = std::env::var_os("ISOFRAME_CONFIG").map(PathBuf::from);
        Sources { file, environment, overrides: Vec::new() }
    }
}

/// One mistake in the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// File, variable or flag it stands in.
    pub origin: String,
    /// What is wrong, and what would be right.
    pub what: String,
}

/// All mistakes found, at once.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ConfigErrors(pub Vec<Mistake>);

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.0.len() == 1 { "mistake" } else { "mistakes" };
        write!(f, "{} {plural} in the configuration:", self.0.len())?;
        for mistake in &self.0 {
            write!(f, "\n  {}: {}", mistake.origin, mistake.what)?;
        }
        Ok(())
    }
}

/// Smallest and largest value of each number.
const RANGES: &[(&str, i64, i64)] = &[
    ("server.connections", 1, 1_000_000),
    ("server.header_read_ms", 1, DAY_MS),
    ("server.header_bytes", 8192, 1 << 24),
    ("server.idle_ms", 1, DAY_MS),
    ("server.body_idle_ms", 1, DAY_MS),
    ("server.body_rate_bytes_per_s", 0, 1 << 40),
    ("server.response_stall_ms", 1, DAY_MS),
    ("server.response_rate_bytes_per_s", 0, 1 << 40),
    ("server.drain_ms", 0, DAY_MS),
    ("server.drain_bytes", 0, 1 << 50),
    ("server.shutdown_ms", 0, DAY_MS),
    ("server.json_bytes", 1024, 1 << 30),
    ("server.answer_bytes", 0, 1 << 50),
    ("upload.concurrent", 1, 1024),
    ("upload.queue_uploads", 0, 1_000_000),
    ("upload.queue_ms", 1, DAY_MS),
    ("upload.stored_bytes", 1, 1 << 60),
    ("upload.page_entries", 1, 10_000),
    ("scene.file_bytes", 1, 1 << 40),
    ("scene.side_bytes", 1, 1 << 40),
    ("scene.json_bytes", 1, 1 << 32),
    // serde_json stops at 127 by itself.
    ("scene.json_depth", 1, 127),
    ("scene.zip_entries", 1, 1 << 24),
    ("scene.zip_ratio", 1, 1 << 20),
    ("scene.array_entries", 1, 1 << 31),
    ("scene.nodes", 1, 1 << 31),
    ("scene.node_depth", 1, 1 << 20),
    ("scene.accessor_elements", 1, 1 << 32),
    ("scene.vertices", 1, 1 << 31),
    ("scene.triangles", 1, 1 << 31),
    ("scene.drawn_triangles", 1, 1 << 40),
    ("scene.instances", 0, 1 << 31),
    ("scene.morph_targets", 0, 1 << 20),
    ("scene.skin_joints", 1, 1 << 16),
    ("scene.animation_keys", 0, 1 << 40),
    ("scene.lights", 0, 1 << 20),
    ("scene.geometry_bytes", 1, 1 << 40),
    ("scene.meshopt_bytes", 0, 1 << 40),
    ("scene.images", 0, 1 << 20),
    ("scene.image_side_px", 1, 32_768),
    ("scene.image_pixels", 1, 1 << 40),
    ("scene.tangent_valence", 1, 1 << 20),
    ("scene.tangent_pairs", 1, 1 << 40),
    ("scene.notes", 0, 1 << 20),
    ("environment.file_bytes", 1, 1 << 40),
    ("environment.side_px", 2, 65_536),
    ("environment.picture_px", 2, 1 << 32),
    ("render.threads", 0, 4096),
    ("render.concurrent", 1, 256),
    ("render.queue_requests", 0, 1_000_000),
    ("render.queue_ms", 1, DAY_MS),
    ("render.render_ms", 1, DAY_MS),
    ("render.batch_every_frames", 1, 1_000_000),
    ("render.side_px", 1, 65_536),
    ("render.frame_px", 1, 1 << 32),
    ("render.traced_px", 1, 1 << 32),
    ("render.light_samples", 1, 1 << 16),
    ("render.name_bytes", 1, 1 << 20),
    ("render.resident_scene_bytes", 0, 1 << 50),
    ("render.resident_environment_bytes", 0, 1 << 50),
    ("render.rebuild_first_ms", 1, DAY_MS),
    ("render.rebuild_longest_ms", 1, DAY_MS),
    ("render.device_wait_ms", 1, DAY_MS),
    ("render.device_scratch_bytes", 0, 1 << 50),
    ("render.device_resident_bytes", 0, 1 << 50),
    ("render.spare_frame_bytes", 0, 1 << 40),
    ("cache.frame_bytes", 0, 1 << 60),
    ("jobs.queue_jobs", 1, 1_000_000),
    ("jobs.concurrent", 1, 256),
    ("jobs.attempts", 1, 100),
    ("jobs.frames", 1, 1_000_000),
    ("jobs.frame_ms", 1, DAY_MS),
    ("jobs.keep_s", 1, 10 * 365 * 86_400),
    ("jobs.result_bytes", 0, 1 << 60),
];

const DAY_MS: i64 = 86_400_000;

/// Words a setting may be.
const CHOICES: &[(&str, &[&str])] =
    &[("render.backend", &["auto", "cpu", "wgpu"]), ("log.format", &["text", "json"])];

impl Default for Settings {
    fn default() -> Settings {
        defaults_table().try_into().expect("config/default.toml fits Settings; a test holds it")
    }
}

impl Settings {
    /// Reads all sources. *Errors*: every mistake in all of them.
    pub fn load(sources: &Sources) -> Result<Settings, ConfigErrors> {
        let mut merge = Merge { table: defaults_table(), mistakes: Vec::new() };
        if let Some(path) = &sources.file {
            merge.file(path);
        }
        for (name, text) in &sources.environment {
            merge.variable(name, text);
        }
        for (name, text) in &sources.overrides {
            merge.text(name, text, &format!("command line, {name}"));
        }
        if !merge.mistakes.is_empty() {
            return Err(ConfigErrors(merge.mistakes));
        }
        merge.table.try_into().map_err(|error: toml::de::Error| {
            ConfigErrors(vec![Mistake { origin: "configuration".into(), what: error.message().into() }])
        })
    }

    /// What an environment may cost.
    pub fn environment_limits(&self) -> EnvironmentLimits {
        EnvironmentLimits { max_side_px: self.environment.side_px, max_px: self.environment.picture_px }
    }

    /// What the renderer wants to know.
    pub fn frames(&self) -> FrameSettings {
        let render = &self.render;
        FrameSettings {
            backend: render.backend,
            adapter: (!render.adapter.is_empty()).then(|| render.adapter.clone()),
            threads: render.threads,
            resident_scene_bytes: render.resident_scene_bytes,
            resident_environment_bytes: render.resident_environment_bytes,
            rebuild_first_ms: render.rebuild_first_ms,
            rebuild_longest_ms: render.rebuild_longest_ms,
            device_wait_ms: render.device_wait_ms,
            device_scratch_bytes: render.device_scratch_bytes,
            device_resident_bytes: render.device_resident_bytes,
            spare_frame_bytes: render.spare_frame_bytes,
            limits: RequestLimits {
                side_px: render.side_px,
                pixels: render.frame_px,
                traced_pixels: render.traced_px,
                light_samples: render.light_samples,
                name_bytes: render.name_bytes,
            },
        }
    }

    /// The data directory: the one set, else the platform's place for a program's data.
    pub fn data_dir(&self) -> PathBuf {
        if !self.server.data_dir.is_empty() {
            return PathBuf::from(&self.server.data_dir);
        }
        let of = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let base = if cfg!(windows) {
            of("LOCALAPPDATA")
        } else {
            of("XDG_DATA_HOME").or_else(|| of("HOME").map(|home| home.join(".local/share")))
        };
        base.map_or_else(|| PathBuf::from("isoframe-data"), |base| base.join("isoframe"))
    }
}

/// Milliseconds as a duration.
pub(crate) fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn defaults_table() -> Table {
    DEFAULTS_TOML.parse().expect("config/default.toml is TOML; a test holds it")
}

/// Sources merged so far; holds defaults for types and names, so a value never changes its type.
struct Merge {
    table: Table,
    mistakes: Vec<Mistake>,
}

impl Merge {
    fn mistake(&mut self, origin: &str, what: impl Into<String>) {
        self.mistakes.push(Mistake { origin: origin.into(), what: what.into() });
    }

    fn file(&mut self, path: &Path) {
        let origin = path.display().to_string();
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) => return self.mistake(&origin, format!("cannot be read: {error}")),
        };
        let table: Table = match text.parse() {
            Ok(table) => table,
            Err(error) => return self.mistake(&origin, error.to_string().trim_end()),
        };
        for (section, value) in table {
            let Value::Table(entries) = value else {
                self.mistake(&origin, format!("`{section}` is not a section; {}", self.sections()));
                continue;
            };
            for (key, value) in entries {
                let name = format!("{section}.{key}");
                self.value(&name, value, &format!("{origin}, {name}"));
            }
        }
    }

    fn variable(&mut self, variable: &str, text: &str) {
        let Some(rest) = variable.strip_prefix("ISOFRAME_") else { return };
        let rest = rest.to_ascii_lowercase();
        let section = self.table.keys().find(|s| rest.starts_with(&format!("{s}_"))).cloned();
        if let Some(section) = section {
            let name = format!("{section}.{}", &rest[section.len() + 1..]);
            self.text(&name, text, &format!("environment, {variable}"));
        }
    }

    /// Sets a value given as text, read as the type of its default.
    fn text(&mut self, name: &str, text: &str, origin: &str) {
        let Some(default) = self.lookup(name) else { return self.unknown(name, origin) };
        let value = match default {
            Value::Integer(_) => text.replace('_', "").parse().ok().map(Value::Integer),
            Value::Float(_) => text.parse().ok().map(Value::Float),
            Value::Boolean(_) => text.parse().ok().map(Value::Boolean),
            Value::Array(_) => Some(Value::Array(
                text.split(',').filter(|t| !t.trim().is_empty()).map(|t| t.trim().into()).collect(),
            )),
            _ => Some(Value::String(text.into())),
        };
        let wanted = default.type_str();
        match value {
            Some(value) => self.value(name, value, origin),
            None => self.mistake(origin, format!("`{text}` is not of type {wanted}")),
        }
    }

    fn value(&mut self, name: &str, value: Value, origin: &str) {
        let Some(default) = self.lookup(name) else { return self.unknown(name, origin) };
        if !value.same_type(default) {
            let what = format!("is of type {}, not {}", value.type_str(), default.type_str());
            return self.mistake(origin, what);
        }
        if let Err(what) = check(name, &value) {
            return self.mistake(origin, what);
        }
        let (section, key) = name.split_once('.').expect("lookup found it");
        if let Some(Value::Table(entries)) = self.table.get_mut(section) {
            entries.insert(key.into(), value);
        }
    }

    fn lookup(&self, name: &str) -> Option<&Value> {
        let (section, key) = name.split_once('.')?;
        self.table.get(section)?.as_table()?.get(key)
    }

    fn sections(&self) -> String {
        format!("sections are {}", self.table.keys().cloned().collect::<Vec<_>>().join(", "))
    }

    fn unknown(&mut self, name: &str, origin: &str) {
        let section = name.split_once('.').and_then(|(section, _)| self.table.get(section)?.as_table());
        let known = match section {
            Some(entries) => format!("has {}", entries.keys().cloned().collect::<Vec<_>>().join(", ")),
            None => self.sections(),
        };
        self.mistake(origin, format!("there is no setting `{name}`; its section {known}"));
    }
}

/// Checks a value of the right type.
fn check(name: &str, value: &Value) -> Result<(), String> {
    if let Some(number) = value.as_integer()
        && let Some((_, low, high)) = RANGES.iter().find(|(ranged, ..)| *ranged == name)
        && !(*low..=*high).contains(&number)
    {
        return Err(format!("{number} is not from {low} to {high}"));
    }
    if let Some(number) = value.as_float()
        && !(number.is_finite() && number > 0.0)
    {
        return Err(format!("{number} is not a number above 0"));
    }
    for entry in value.as_array().into_iter().flatten() {
        // Only one list so far: origins.
        let origin = entry.as_str().unwrap_or_default();
        let whole = origin.starts_with("http://") || origin.starts_with("https://");
        if origin != "*"
            && !(whole && !origin.ends_with('/') && origin.bytes().all(|byte| byte.is_ascii_graphic()))
        {
            return Err(format!("`{entry}` is not an origin such as \"https://shop.example\", or \"*\""));
        }
    }
    let Some(text) = value.as_str() else { return Ok(()) };
    if let Some((_, choices)) = CHOICES.iter().find(|(chosen, _)| *chosen == name)
        && !choices.contains(&text)
    {
        return Err(format!("`{text}` is not one of {}", choices.join(", ")));
    }
    match name {
        "server.address" => match text.parse::<SocketAddr>() {
            Ok(_) => Ok(()),
            Err(_) => Err(format!("`{text}` is not an address and port such as 127.0.0.1:8080")),
        },
        "log.level" => match tracing_subscriber::EnvFilter::try_new(text) {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("`{text}`: {error}")),
        },
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(
        file: &str,
        environment: &[(&str, &str)],
        overrides: &[(&str, &str)],
    ) -> Result<Settings, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("isoframe.toml");
        std::fs::write(&path, file).expect("written");
        let own =
            |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        let sources = Sources { file: Some(path), environment: own(environment), overrides: own(overrides) };
        Settings::load(&sources).map_err(|e| e.to_string())
    }

    #[test]
    fn defaults_are_complete_ranged_and_documented() {
        let table = defaults_table();
        let settings = Settings::default();
        // A field of Settings that the file lacks, or the other way round, fails here.
        assert_eq!(Table::try_from(&settings).expect("a table"), table);
        let mut numbers = Vec::new();
        for (section, entries) in &table {
            for (key, value) in entries.as_table().expect("sections only") {
                let name = format!("{section}.{key}");
                check(&name, value).expect("a default is valid");
                if value.is_integer() {
                    numbers.push(name);
                }
            }
        }
        let mut ranged: Vec<_> = RANGES.iter().map(|(name, ..)| name.to_string()).collect();
        ranged.sort();
        numbers.sort();
        assert_eq!(numbers, ranged, "every number has a range");
        let mut previous = "";
        for line in DEFAULTS_TOML.lines() {
            if line.contains(" = ") && !line.starts_with('#') {
                let shares = line.starts_with("response_rate") || line.starts_with("drain_bytes");
                assert!(previous.starts_with('#') || shares, "`{line}` has a comment above it");
            }
            previous = line;
        }
    }

    #[test]
    fn defaults_are_those_of_the_parts() {
        let settings = Settings::default();
        assert_eq!(settings.scene, Limits::default());
        assert_eq!(settings.environment_limits(), EnvironmentLimits::default());
        assert_eq!(settings.frames(), FrameSettings::default());
    }

    #[test]
    fn later_sources_win() {
        let file = "[server]\nconnections = 5\nidle_ms = 7\n[cache]\nframe_bytes = 0\n";
        let environment = [("ISOFRAME_SERVER_CONNECTIONS", "6"), ("ISOFRAME_ASSETS", "elsewhere")];
        let settings = load(
            file,
            &environment,
            &[("server.idle_ms", "8"), ("server.cors_origins", "https://a, https://b")],
        )
        .expect("valid");
        assert_eq!(settings.server.connections, 6);
        assert_eq!(settings.server.idle_ms, 8);
        assert_eq!(settings.cache.frame_bytes, 0);
        assert_eq!(settings.server.cors_origins, ["https://a", "https://b"]);
    }

    #[test]
    fn every_mistake_is_reported_at_once() {
        let file = "top = 1\n[server]\nconnections = 0\naddres = \"x\"\nidle_ms = \"soon\"\n[cash]\nframe_bytes = 1\n";
        let environment = [("ISOFRAME_LOG_FORMAT", "xml"), ("ISOFRAME_LOG_FORMATS", "json")];
        let text = load(
            file,
            &environment,
            &[("server.address", "localhost"), ("render.threads", "many"), ("server.cors_origins", "shop")],
        )
        .expect_err("invalid");
        for part in [
            "10 mistakes",
            "`top` is not a section",
            "server.connections: 0 is not from 1 to 1000000",
            "no setting `server.addres`",
            "server.idle_ms: is of type string, not integer",
            "no setting `cash.frame_bytes`",
            "ISOFRAME_LOG_FORMAT: `xml` is not one of text, json",
            "ISOFRAME_LOG_FORMATS: there is no setting `log.formats`",
            "`localhost` is not an address",
            "`many` is not of type integer",
            "`\"shop\"` is not an origin",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
    }

    #[test]
    fn a_missing_file_is_a_mistake() {
        let sources = Sources { file: Some("/nonexistent/isoframe.toml".into()), ..Sources::default() };
        let error = Settings::load(&sources).expect_err("no file");
        assert!(error.to_string().contains("cannot be read"), "{error}");
    }
}
