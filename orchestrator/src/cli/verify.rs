//! `isoframe verify`: does a file show what its receipt says?

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::exit::{Exit, Failure};
use super::session::{BackendFlags, Session};
use super::{Global, print};
use crate::receipt::{self, Receipt};
use crate::verify::{Verdict, verify};

/// Render again what a file's receipt says, and compare
///
/// Exit code 0: the file shows what it says. 1: it does not. 3: it cannot be told here, because the file was made
/// by another ENGINE, or needs a model that is not here.
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// File made by Isoframe: PNG, EXR, WebP or JPEG
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Scene that the file is said to show
    #[arg(long, value_name = "SCENE")]
    scene: String,
    /// Environment that lit it, where the receipt names one
    #[arg(long, value_name = "FILE")]
    env: Option<PathBuf>,
    #[command(flatten)]
    backend: BackendFlags,
}

/// What `--json` gives.
#[derive(Debug, Serialize)]
struct Report {
    file: PathBuf,
    /// `same`, `differs` or `not_comparable`.
    verdict: &'static str,
    /// Whether the whole file is the one that this version writes; null unless the verdict is `same`.
    file_identical: Option<bool>,
    /// What differs, or why it cannot be compared.
    detail: Option<String>,
    /// What the file says about itself.
    receipt: Option<Receipt>,
}

impl Verify {
    pub(crate) fn run(&self, global: &Global) -> Result<Exit, Failure> {
        let bytes = std::fs::read(&self.file)
            .map_err(|error| Failure::bad_input(format!("{}: {error}", self.file.display())))?;
        let session = Session::open(&self.backend)?;
        let scene = session.scene(&self.scene)?;
        let receipt = receipt::read(&bytes).ok();
        let named = receipt.as_ref().and_then(|receipt| receipt.request.environment.as_deref());
        if named.is_some() && self.env.is_none() {
            return Err(Failure::not_here(format!(
                "{}: was lit by the environment {}",
                self.file.display(),
                named.unwrap_or_default()
            ))
            .hint("give its file with --env"));
        }
        let environment = session.environment(self.env.as_deref().filter(|_| named.is_some()))?;
        let verdict = verify(&bytes, &scene, &environment, &session.frames, &session.cancel)?;
        let sentence = format!("{}: {verdict}", self.file.display());
        let (exit, verdict, file_identical, detail) = match verdict {
            Verdict::Same { file_identical } => (Exit::Done, "same", Some(file_identical), None),
            Verdict::Differs { what } => (Exit::CheckFailed, "differs", None, Some(what.to_string())),
            Verdict::NotComparable { why } => (Exit::NotHere, "not_comparable", None, Some(why.to_string())),
        };
        let report = Report { file: self.file.clone(), verdict, file_identical, detail, receipt };
        if global.json {
            print::json(&report)?;
        } else {
            print::line(sentence)?;
        }
        Ok(exit)
    }
}
