//! `isoframe conformance`: one set of bytes on everything this machine has.

mod rows;
mod subjects;

use std::time::Instant;

use clap::Args;
use isoframe_raster::frame::ENGINE;
use serde::Serialize;

use self::rows::Row;
use self::subjects::Subject;
use super::digest::Digests;
use super::exit::{Exit, Failure};
use super::table::Table;
use super::{Global, print, progress};

/// Check that everything on this machine renders the same bytes
///
/// Renders the scenes inside the binary, or the ones named, with every buffer: on the CPU at 1, 2 and 7 threads, with
/// each instruction set, with and without flushing denormals; on every adapter; and in a fresh process. Each row
/// renders the scenes forwards, then backwards. Exit code 1 where a buffer differs from the hashes in the binary, or
/// from the plainest CPU row; 3 where an adapter that was named is not there or is refused.
#[derive(Debug, Args)]
pub(crate) struct Conformance {
    /// Scenes of your own, instead of those in the binary
    #[arg(value_name = "SCENE")]
    scenes: Vec<String>,
    /// Size of the frames of scenes of your own
    #[arg(long, value_name = "WxH", default_value = "640x360")]
    size: String,
    /// Only rows of this backend: all, cpu or wgpu
    #[arg(long, value_name = "NAME", default_value = "all", value_parser = ["all", "cpu", "wgpu"])]
    backend: String,
    /// Only adapters whose name contains this, or api:name; may be given more than once
    #[arg(long, value_name = "NAME")]
    adapter: Vec<String>,
    /// Renders the plainest CPU row only: what the fresh process does
    #[arg(long, hide = true)]
    plainest: bool,
}

/// How a row came out.
#[derive(Debug, Clone, Serialize)]
struct Outcome {
    /// What the row rendered on.
    row: String,
    /// `same`, `differs`, `refused` (the probe failed, or limits are too small) or `failed`.
    verdict: &'static str,
    /// Frames rendered.
    frame_count: usize,
    /// Buffers that differ: subject and buffer, and how often.
    differing: Vec<String>,
    /// Why it is refused or failed.
    detail: Option<String>,
    /// *Units*: milliseconds.
    total_ms: f64,
}

/// What `--json` gives.
#[derive(Debug, Serialize)]
struct Report {
    engine: &'static str,
    /// Whether every row that rendered gave the same bytes.
    conformant: bool,
    /// What the rows were compared with: hashes per subject and buffer.
    expected: Vec<SubjectDigests>,
    rows: Vec<Outcome>,
}

#[derive(Debug, Clone, Serialize, serde::Deserialize)]
struct SubjectDigests {
    subject: String,
    buffers: Digests,
}

impl Conformance {
    pub(crate) fn run(&self, global: &Global) -> Result<Exit, Failure> {
        let subjects = match self.scenes.as_slice() {
            [] => subjects::embedded()?,
            scenes => subjects::named(scenes, &self.size)?,
        };
        if self.plainest {
            return print::json(&digests_of(&subjects, &mut *rows::plainest().open()?)?).map(|()| Exit::Done);
        }
        let rows = self.rows()?;
        let bar = progress::bar(global, rows.len() as u64 + 1, "conformance");
        let expected = self.expected(&subjects)?;
        bar.inc(1);
        let mut outcomes = Vec::with_capacity(rows.len());
        for row in rows {
            bar.set_message(row.name.clone());
            outcomes.push(check(row, &subjects, &expected, &self.scenes, &self.size));
            bar.inc(1);
        }
        bar.finish_and_clear();
        let conformant = outcomes.iter().all(|outcome| matches!(outcome.verdict, "same" | "refused"));
        let report = Report { engine: ENGINE, conformant, expected, rows: outcomes };
        if global.json {
            print::json(&report)?;
        } else {
            print::text(report.text(subjects.len()))?;
        }
        Ok(self.exit(&report))
    }

    fn exit(&self, report: &Report) -> Exit {
        let refused = report.rows.iter().any(|row| row.verdict == "refused");
        match (report.conformant, refused && !self.adapter.is_empty()) {
            (false, _) => Exit::CheckFailed,
            (true, true) => Exit::NotHere,
            (true, false) => Exit::Done,
        }
    }

    fn rows(&self) -> Result<Vec<Row>, Failure> {
        let mut found = Vec::new();
        if self.backend != "wgpu" && self.adapter.is_empty() {
            found.extend(rows::cpu());
            found.push(rows::fresh_process());
        }
        if self.backend != "cpu" {
            found.extend(rows::wgpu(&self.adapter)?);
        }
        if found.is_empty() {
            return Err(
                Failure::not_here("conformance: there is no adapter to check").hint("isoframe adapters")
            );
        }
        Ok(found)
    }

    /// The hashes in the binary; for scenes of one's own, those of the plainest CPU row.
    fn expected(&self, subjects: &[Subject]) -> Result<Vec<SubjectDigests>, Failure> {
        let known = subjects.iter().map(|subject| {
            let buffers = subject.expected.clone()?;
            Some(SubjectDigests { subject: subject.name.clone(), buffers })
        });
        match known.collect::<Option<Vec<_>>>() {
            Some(known) => Ok(known),
            None => digests_of(subjects, &mut *rows::plainest().open()?),
        }
    }
}

/// Renders every subject once.
fn digests_of(
    subjects: &[Subject],
    renderer: &mut dyn rows::Renders,
) -> Result<Vec<SubjectDigests>, Failure> {
    let digests = |subject: &Subject| -> Result<SubjectDigests, Failure> {
        let frame = renderer.render(subject)?;
        Ok(SubjectDigests { subject: subject.name.clone(), buffers: Digests::of(&frame) })
    };
    subjects.iter().map(digests).collect()
}

/// Runs a row: all subjects forwards, then backwards, so that each follows another one than before.
fn check(
    row: Row,
    subjects: &[Subject],
    expected: &[SubjectDigests],
    scenes: &[String],
    size: &str,
) -> Outcome {
    let start = Instant::now();
    let mut outcome = Outcome {
        row: row.name.clone(),
        verdict: "same",
        frame_count: 0,
        differing: Vec::new(),
        detail: None,
        total_ms: 0.0,
    };
    let result = match row.is_fresh_process {
        true => rows::in_fresh_process(scenes, size).map(|digests| compare(&mut outcome, &digests, expected)),
        false => row.open().and_then(|mut renderer| {
            let forwards = digests_of(subjects, &mut *renderer)?;
            compare(&mut outcome, &forwards, expected);
            let order: Vec<usize> = (0..subjects.len()).rev().collect();
            for index in order {
                let frame = renderer.render(&subjects[index])?;
                let digests =
                    SubjectDigests { subject: subjects[index].name.clone(), buffers: Digests::of(&frame) };
                compare(&mut outcome, &[digests], &expected[index..=index]);
            }
            Ok(())
        }),
    };
    outcome.differing.sort();
    outcome.differing.dedup();
    if !outcome.differing.is_empty() {
        outcome.verdict = "differs";
    }
    if let Err(failure) = result {
        outcome.verdict = if failure.exit == Exit::NotHere { "refused" } else { "failed" };
        outcome.detail = Some(failure.to_string());
    }
    outcome.total_ms = print::milliseconds(start.elapsed());
    outcome
}

fn compare(outcome: &mut Outcome, got: &[SubjectDigests], expected: &[SubjectDigests]) {
    outcome.frame_count += got.len();
    for (got, expected) in got.iter().zip(expected) {
        let differing = expected.buffers.differing(&got.buffers);
        outcome.differing.extend(differing.into_iter().map(|buffer| format!("{}/{buffer}", got.subject)));
    }
}

impl Report {
    fn text(&self, subject_count: usize) -> String {
        let mut table = Table::new(["rendered on", "verdict", "frames", "ms"]);
        for row in &self.rows {
            table.row([
                row.row.clone(),
                row.verdict.into(),
                row.frame_count.to_string(),
                format!("{:.0}", row.total_ms),
            ]);
        }
        let mut text = table.to_string();
        for row in &self.rows {
            if !row.differing.is_empty() {
                text.push_str(&format!("\n{} differs in {}\n", row.row, row.differing.join(", ")));
            }
            if let Some(detail) = &row.detail {
                text.push_str(&format!("\n{}: {detail}\n", row.row));
            }
        }
        let same = self.rows.iter().filter(|row| row.verdict == "same").count();
        let verdict = match (self.conformant, same == self.rows.len()) {
            (false, _) => "NOT the same bytes everywhere",
            (true, true) => "one set of bytes",
            (true, false) => "one set of bytes, on all that passed the probe",
        };
        text.push_str(&format!(
            "\n{verdict}: {same} of {} rows the same, {subject_count} scenes, engine {}\n",
            self.rows.len(),
            self.engine
        ));
        text
    }
}
