//! `isoframe generate`: scenes from numbers, into a folder.

mod folder;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use clap::Args;
use indicatif::ProgressBar;
use isoframe_raster::backend::Cancel;
use serde::Serialize;

use super::exit::{Exit, Failure};
use super::{Global, interrupt, print, progress};
use crate::generate::{self, Entry, Generated, TRIANGLES};
use folder::{Folder, Kept, MANIFEST};

/// Scenes between two writes of the manifest: what a run that dies has to make again.
const BATCH: usize = 64;

/// Make varied scenes from numbers, to train and to measure with
///
/// Scene n is made from the seed S + n alone and is the same file on every machine, so that a set can be made in
/// parts. What a folder holds already is kept: an interrupted run goes on where it ended.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Generate {
    /// Folder to write scenes and scenes.json to; made where it is missing, but not the folder above it
    #[arg(long, short, value_name = "FOLDER")]
    out: PathBuf,
    /// First seed
    #[arg(long, value_name = "S", default_value = "0")]
    seed: u32,
    /// Scenes to make, from seeds S, S + 1 and so on
    #[arg(long, value_name = "N", default_value = "24", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    count: u32,
    /// Instead, one scene of exactly N triangles, to measure structures for ray tracing with
    #[arg(long, value_name = "N", conflicts_with = "count", value_parser = triangle_count)]
    triangles: Option<u32>,
    /// Replaces files and a manifest that are there and differ
    #[arg(long)]
    overwrite: bool,
    /// Scenes made at a time [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

const AFTER_HELP: &str = "\
scenes.json lists each scene with its seed, kind, tags, lights, cameras, times, exposure and blake3;
docs/training-scenes.md says what they mean.

Examples:
  isoframe generate --seed 7 --count 100 --out scenes
  isoframe generate --triangles 1000000 --out scenes
  isoframe render scenes/00000007.glb -o seven.png";

fn triangle_count(text: &str) -> Result<u32, String> {
    let count = text.parse().map_err(|_| "not a number of triangles".to_owned())?;
    if TRIANGLES.contains(&count) {
        return Ok(count);
    }
    Err(format!("{count} is not in {}..={}", TRIANGLES.start(), TRIANGLES.end()))
}

/// What `--json` gives.
#[derive(Debug, Serialize)]
struct Report {
    folder: PathBuf,
    manifest: PathBuf,
    generator: &'static str,
    /// Scenes of this run, made or kept.
    scene_count: usize,
    /// Those that were there.
    kept_count: usize,
    bytes: u64,
    triangle_count: u64,
    /// Scenes of each kind.
    kinds: BTreeMap<String, usize>,
}

impl Generate {
    pub(crate) fn run(&self, global: &Global) -> Result<Exit, Failure> {
        let jobs = self.jobs()?;
        let cancel = interrupt::cancel();
        let mut folder = Folder::open(&self.out, self.overwrite)?;
        let bar = progress::bar(global, jobs.len() as u64, "making scenes");
        let mut entries = Vec::with_capacity(jobs.len());
        let mut kept_count = 0;
        for batch in jobs.chunks(BATCH) {
            let done = self.batch(batch, &folder, &cancel, &bar);
            let failed = done.iter().position(Result::is_err);
            // What was finished counts, whatever became of the rest.
            for (entry, kept) in done.iter().flatten() {
                kept_count += usize::from(*kept == Kept::AsItWas);
                folder.add(entry.clone());
                entries.push(entry.clone());
            }
            folder.save()?;
            if let Some(failed) = failed {
                bar.finish_and_clear();
                return Err(done.into_iter().nth(failed).and_then(Result::err).unwrap_or_else(interrupted));
            }
        }
        bar.finish_and_clear();
        self.say(global, &entries, kept_count)?;
        Ok(Exit::Done)
    }

    fn jobs(&self) -> Result<Vec<Job>, Failure> {
        if let Some(count) = self.triangles {
            return Ok(vec![Job::Triangles { seed: self.seed, count }]);
        }
        let last = self.seed.checked_add(self.count - 1).ok_or_else(|| {
            Failure::bad_input(format!(
                "--seed {} --count {}: seeds end at {}",
                self.seed,
                self.count,
                u32::MAX
            ))
        })?;
        Ok((self.seed..=last).map(|seed| Job::Scene { seed }).collect())
    }

    /// Makes some scenes on all threads; results are in the order of the jobs.
    fn batch(&self, jobs: &[Job], folder: &Folder, cancel: &Cancel, bar: &ProgressBar) -> Vec<Done> {
        let default = thread::available_parallelism().map_or(1, usize::from);
        let threads = self.threads.map_or(default, usize::from).min(jobs.len());
        let next = AtomicUsize::new(0);
        let results: Vec<Mutex<Option<Done>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(job) = jobs.get(index) else { break };
                        let done = if cancel.is_cancelled() { Err(interrupted()) } else { job.run(folder) };
                        *results[index].lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
                        bar.inc(1);
                    }
                });
            }
        });
        let taken = |result: Mutex<Option<Done>>| result.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.into_iter().map(|result| taken(result).unwrap_or_else(|| Err(interrupted()))).collect()
    }

    fn say(&self, global: &Global, entries: &[Entry], kept_count: usize) -> Result<(), Failure> {
        let mut kinds = BTreeMap::new();
        for entry in entries {
            *kinds.entry(entry.kind.clone()).or_default() += 1;
        }
        let report = Report {
            folder: self.out.clone(),
            manifest: self.out.join(MANIFEST),
            generator: generate::GENERATOR,
            scene_count: entries.len(),
            kept_count,
            bytes: entries.iter().map(|entry| entry.bytes).sum(),
            triangle_count: entries.iter().map(|entry| entry.triangle_count).sum(),
            kinds,
        };
        if global.json {
            return print::json(&report);
        }
        if global.quiet {
            return Ok(());
        }
        print::line(format!(
            "{} scenes, {} of them there before, {} triangles, {:.1} MB: {}",
            report.scene_count,
            report.kept_count,
            report.triangle_count,
            report.bytes as f64 / 1e6,
            report.manifest.display()
        ))
    }
}

fn interrupted() -> Failure {
    Failure { exit: Exit::Interrupted, what: "interrupted".into(), hint: None }
        .hint("the same command goes on where this one ended")
}

/// A scene to make.
#[derive(Debug, Clone, Copy)]
enum Job {
    Scene { seed: u32 },
    Triangles { seed: u32, count: u32 },
}

type Done = Result<(Entry, Kept), Failure>;

impl Job {
    /// Makes the scene and its file, unless the folder has it.
    fn run(self, folder: &Folder) -> Done {
        if let Some(entry) = folder.has(&self.file())? {
            return Ok((entry, Kept::AsItWas));
        }
        let made = match self {
            Job::Scene { seed } => generate::scene(seed),
            Job::Triangles { seed, count } => generate::triangles(seed, count),
        };
        let Generated { glb, environment, entry } = made.map_err(Failure::fault)?;
        let mut kept = folder.write(&entry.file, &glb)?;
        if let (Some(around), Some(bytes)) = (&entry.environment, environment) {
            kept = kept.and(folder.write(&around.file, &bytes)?);
        }
        Ok((entry, kept))
    }

    fn file(self) -> String {
        match self {
            Job::Scene { seed } => generate::scene_file(seed),
            Job::Triangles { seed, count } => generate::triangles_file(seed, count),
        }
    }
}
