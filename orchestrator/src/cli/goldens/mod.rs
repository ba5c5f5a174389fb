//! `isoframe goldens`: frames that must come out as they once did, bit for bit.

mod case;
mod difference;
mod embedded;
mod report;

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use isoframe_raster::frame::{ENGINE, Output};
use serde::Serialize;

pub(super) use self::case::{Case, Expected};
pub(super) use self::embedded::{CASES, Embedded};

use self::case::Folder;
use super::destination;
use super::digest::Digests;
use super::exit::{Exit, Failure};
use super::session::{BackendFlags, Session};
use super::source::DEMO;
use super::{Global, print, progress};
use crate::encode::{EncodeOptions, Format, Selection, color_format, encode};

/// Check, renew and look at the goldens
#[derive(Debug, Args)]
pub(crate) struct Goldens {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Check(Check),
    Update(Update),
    Report(ReportPage),
}

/// What every action takes.
#[derive(Debug, Args)]
struct Common {
    /// Cases; all of them where none is named
    #[arg(value_name = "CASE")]
    cases: Vec<String>,
    /// Folder of the goldens
    #[arg(long, value_name = "FOLDER", default_value = "goldens")]
    root: PathBuf,
    #[command(flatten)]
    backend: BackendFlags,
}

/// Render the goldens and compare every buffer's hash; exit code 1 where one differs or is missing
///
/// Never writes to the goldens. Where a case fails, what was expected, what came out and the difference are left as
/// pictures under --out.
#[derive(Debug, Args)]
struct Check {
    #[command(flatten)]
    common: Common,
    /// Folder for the pictures of cases that fail; made where it is missing
    #[arg(long, value_name = "FOLDER", default_value = "target/goldens")]
    out: PathBuf,
}

/// Write the hashes and pictures of the named cases anew, and exit with 1: what was written must be looked at
#[derive(Debug, Args)]
struct Update {
    #[command(flatten)]
    common: Common,
    /// Why they change; kept beside the hashes
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Updates every case, where none is named
    #[arg(long, conflicts_with = "cases")]
    all: bool,
}

/// Write one page of HTML with what was expected, what comes out and the difference, for every case
#[derive(Debug, Args)]
struct ReportPage {
    #[command(flatten)]
    common: Common,
    /// Page to write
    #[arg(long, short, value_name = "FILE", default_value = "goldens.html")]
    out: PathBuf,
}

/// How a case came out.
#[derive(Debug, Clone, Serialize)]
struct Outcome {
    case: String,
    about: String,
    /// `same`, `differs`, `missing` (never written) or `other_engine` (written by another `ENGINE`).
    verdict: &'static str,
    /// Buffers that differ.
    differing: Vec<String>,
    backend: String,
    buffers: Digests,
}

/// A rendered case.
struct Rendered {
    case: Case,
    digests: Digests,
    backend: String,
    /// PNG files per output, for people.
    pictures: Vec<(Output, Vec<u8>)>,
}

impl Goldens {
    pub(crate) fn run(&self, global: &Global) -> Result<Exit, Failure> {
        match &self.action {
            Action::Check(check) => check.run(global),
            Action::Update(update) => update.run(global),
            Action::Report(page) => page.run(global),
        }
    }
}

impl Common {
    /// Renders the cases one by one.
    fn each(
        &self,
        global: &Global,
        mut visit: impl FnMut(&Folder, Rendered) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let folders = Folder::list(&self.root, &self.cases)?;
        let session = Session::open(&self.backend)?;
        let bar = progress::bar(global, folders.len() as u64, "goldens");
        for folder in folders {
            let at = |failure: Failure| Failure {
                what: format!("golden {}: {}", folder.name, failure.what),
                ..failure
            };
            let rendered = render(&session, &folder).map_err(at)?;
            visit(&folder, rendered)?;
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(())
    }
}

fn render(session: &Session, folder: &Folder) -> Result<Rendered, Failure> {
    let case = folder.case()?;
    let beside = |name: &str| folder.path.join(name);
    let scene = match case.scene.as_str() {
        DEMO => session.scene(DEMO)?,
        name => session.scene(&beside(name).to_string_lossy())?,
    };
    let file = case.environment.as_deref().map(beside);
    let environment = session.environment(file.as_deref())?;
    let hash = file.is_some().then_some(environment.hash.as_str());
    let request = case.request(&scene.scene.hash, hash)?;
    let plan = session.frames.plan(&request)?;
    let format = Format::Png8;
    let rendered =
        session.frames.render(&plan, &scene, &environment, color_format(format), &session.cancel)?;
    let picture = |output: &Output| -> Result<(Output, Vec<u8>), Failure> {
        let options = EncodeOptions { scene: Some(&scene.scene) };
        let encoded = encode(&rendered.frame, &plan, format, Selection::One(*output), &options)?;
        Ok((*output, encoded.bytes))
    };
    let pictures = request.outputs.iter().map(picture).collect::<Result<_, _>>()?;
    Ok(Rendered { case, digests: Digests::of(&rendered.frame), backend: rendered.backend, pictures })
}

fn judge(folder: &Folder, rendered: &Rendered) -> Result<Outcome, Failure> {
    let expected = folder.expected()?;
    let (verdict, differing) = match &expected {
        None => ("missing", Vec::new()),
        Some(expected) if expected.engine != ENGINE => ("other_engine", Vec::new()),
        Some(expected) => match expected.buffers.differing(&rendered.digests) {
            differing if differing.is_empty() => ("same", differing),
            differing => ("differs", differing),
        },
    };
    Ok(Outcome {
        case: folder.name.clone(),
        about: rendered.case.about.clone(),
        verdict,
        differing,
        backend: rendered.backend.clone(),
        buffers: rendered.digests.clone(),
    })
}

impl Check {
    fn run(&self, global: &Global) -> Result<Exit, Failure> {
        let mut outcomes = Vec::new();
        self.common.each(global, |folder, rendered| {
            let outcome = judge(folder, &rendered)?;
            if outcome.verdict != "same" {
                leave_pictures(&self.out, folder, &rendered)?;
            }
            outcomes.push(outcome);
            Ok(())
        })?;
        let failed: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.verdict != "same").collect();
        if global.json {
            print::json(&outcomes)?;
        } else {
            for outcome in &failed {
                let differing = outcome.differing.join(", ");
                print::line(format!("{:12}  {}  {differing}", outcome.verdict, outcome.case))?;
            }
            print::line(format!(
                "{} of {} goldens are the same",
                outcomes.len() - failed.len(),
                outcomes.len()
            ))?;
            if !failed.is_empty() {
                print::line(format!("pictures of the others are under {}", self.out.display()))?;
            }
        }
        Ok(if failed.is_empty() { Exit::Done } else { Exit::CheckFailed })
    }
}

/// Expected, actual and difference of each output of a case that failed.
fn leave_pictures(out: &Path, folder: &Folder, rendered: &Rendered) -> Result<(), Failure> {
    let to = out.join(&folder.name);
    fs::create_dir_all(&to).map_err(|error| Failure::fault(format!("{}: {error}", to.display())))?;
    for (output, actual) in &rendered.pictures {
        destination::write(Some(&to.join(format!("{output}.actual.png"))), actual)?;
        let Ok(expected) = fs::read(folder.picture(output.name())) else { continue };
        destination::write(Some(&to.join(format!("{output}.expected.png"))), &expected)?;
        let difference = difference::of(&expected, actual)?;
        destination::write(Some(&to.join(format!("{output}.difference.png"))), &difference.png)?;
    }
    Ok(())
}

impl Update {
    fn run(&self, global: &Global) -> Result<Exit, Failure> {
        if self.common.cases.is_empty() && !self.all {
            return Err(
                Failure::bad_input("goldens update: no case is named").hint("name cases, or give --all")
            );
        }
        if self.reason.trim().is_empty() {
            return Err(Failure::bad_input("--reason: says nothing"));
        }
        let mut written = Vec::new();
        self.common.each(global, |folder, rendered| {
            let before = folder.expected()?;
            let changed = match &before {
                None => vec!["all".to_owned()],
                Some(expected) => expected.buffers.differing(&rendered.digests),
            };
            folder.write_expected(&Expected::now(rendered.digests.clone(), &self.reason))?;
            for (output, picture) in &rendered.pictures {
                let path = folder.picture(output.name());
                let parent = path.parent().unwrap_or(&folder.path);
                fs::create_dir_all(parent)
                    .map_err(|error| Failure::fault(format!("{}: {error}", parent.display())))?;
                destination::write(Some(&path), picture)?;
            }
            written.push(serde_json::json!({ "case": folder.name, "changed": changed }));
            Ok(())
        })?;
        if global.json {
            print::json(&written)?;
        } else {
            for case in &written {
                let changed = case["changed"].as_array().map_or(0, Vec::len);
                let name = case["case"].as_str().unwrap_or_default();
                print::line(format!("wrote {name} ({changed} buffers changed)"))?;
            }
            print::line(
                "Goldens were written; this is exit code 1 on purpose. Look at them, then run `goldens check`.",
            )?;
        }
        Ok(Exit::CheckFailed)
    }
}

impl ReportPage {
    fn run(&self, global: &Global) -> Result<Exit, Failure> {
        let mut page = report::Page::new();
        let mut failed = false;
        self.common.each(global, |folder, rendered| {
            let outcome = judge(folder, &rendered)?;
            failed |= outcome.verdict != "same";
            page.case(folder, &outcome, &rendered)
        })?;
        destination::write(Some(&self.out), page.finish().as_bytes())?;
        if !global.quiet {
            print::line(format!("wrote {}", self.out.display()))?;
        }
        Ok(if failed { Exit::CheckFailed } else { Exit::Done })
    }
}
