//! `isoframe bench`: how long frames take, with the scene resident and nothing written.

use std::time::{Duration, Instant};

use clap::Args;
use isoframe_raster::frame::{ColorFormat, Output};
use isoframe_raster::prepared::Prepared;
use isoframe_raster::scene::Topology;
use serde::Serialize;

use super::exit::{Exit, Failure};
use super::inspect::drawn_count;
use super::picture::Picture;
use super::session::{BackendFlags, Session};
use super::source::DEMO;
use super::table::Table;
use super::{Global, passes, print, progress};
use crate::frames::FramesError;

/// Measure how long frames take, with the scene resident and nothing encoded or written
///
/// The clock stops when the buffers are in memory. The first frames are warm-up, and are not counted.
#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// Scene: a .glb, a .gltf, a folder or .zip with one of them, or `demo`
    #[arg(long, value_name = "SCENE", default_value = DEMO)]
    scene: String,
    /// Buffers to render: color, all, or a list of names
    #[arg(long, value_name = "NAME,…", default_value = "color", help_heading = "Picture")]
    outputs: String,
    #[command(flatten)]
    picture: Picture,
    /// Time in the animation, in seconds
    #[arg(long, value_name = "S", default_value = "0", allow_negative_numbers = true, help_heading = "Time")]
    time: f64,
    /// Time of the previous frame, for motion, in seconds
    #[arg(long, value_name = "S", allow_negative_numbers = true, help_heading = "Time")]
    previous_time: Option<f64>,
    /// Frames to count
    #[arg(long, value_name = "N", default_value = "20", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    frames: u32,
    /// Frames before them that are not counted
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u32).range(0..=1000))]
    warm_up: u32,
    /// Measures at these sizes one after another, to show how time grows with pixels
    #[arg(long, value_name = "WxH,…", value_delimiter = ',', conflicts_with = "size")]
    sizes: Vec<String>,
    #[command(flatten)]
    backend: BackendFlags,
}

/// What `--json` gives; with `--sizes`, a list of these.
#[derive(Debug, Serialize)]
struct Report {
    scene: String,
    backend: String,
    width: u32,
    height: u32,
    samples: u32,
    outputs: Vec<&'static str>,
    /// Counted frames.
    frame_count: u32,
    /// Drawn triangles, every node and instance counted, hidden ones too.
    triangle_count: u64,
    median_ms: f64,
    min_ms: f64,
    max_ms: f64,
    /// At the median.
    pixels_per_s: f64,
    /// At the median.
    triangles_per_s: f64,
    /// Reading and checking the scene, and packing it for the backend.
    load_ms: f64,
    /// Every counted frame, in order.
    times_ms: Vec<f64>,
    /// The passes, measured over further frames; empty where the backend does not tell.
    passes: Vec<PassReport>,
}

/// What a pass takes.
#[derive(Debug, Serialize)]
struct PassReport {
    name: &'static str,
    /// Per frame, summed over threads. *Units*: milliseconds.
    thread_ms: f64,
    /// For each second of a thread.
    pixels_per_s: f64,
    /// For each second of a thread.
    triangles_per_s: f64,
}

impl Bench {
    pub(crate) fn run(&self, global: &Global) -> Result<Exit, Failure> {
        let session = Session::open(&self.backend)?;
        let start = Instant::now();
        let scene = session.scene(&self.scene)?;
        let load = start.elapsed();
        let sizes: Vec<Option<&str>> = match self.sizes.as_slice() {
            [] => vec![None],
            sizes => sizes.iter().map(|size| Some(size.as_str())).collect(),
        };
        let bar =
            progress::bar(global, (sizes.len() as u64) * u64::from(self.frames + self.warm_up), "measuring");
        let reports = sizes
            .into_iter()
            .map(|size| self.measure(&session, &scene, load, size, &bar))
            .collect::<Result<Vec<_>, _>>()?;
        bar.finish_and_clear();
        match (global.json, reports.as_slice()) {
            (true, [report]) if self.sizes.is_empty() => print::json(report)?,
            (true, reports) => print::json(&reports)?,
            (false, reports) => print::text(table(reports))?,
        }
        Ok(Exit::Done)
    }

    fn measure(
        &self,
        session: &Session,
        scene: &Prepared,
        load: Duration,
        size: Option<&str>,
        bar: &indicatif::ProgressBar,
    ) -> Result<Report, Failure> {
        let all = Output::CLASSIC.map(Output::name).join(",");
        let outputs = if self.outputs == "all" { all.as_str() } else { &self.outputs };
        let environment = session.environment(self.picture.env.as_deref())?;
        let hash = self.picture.env.is_some().then_some(environment.hash.as_str());
        let picture = match size {
            Some(size) => self.picture.with_size(size),
            None => self.picture.clone(),
        };
        let mut request = picture.request(&scene.scene.hash, hash, outputs)?;
        request.time_s = self.time;
        request.previous_time_s = self.previous_time;
        let plan = session.frames.plan(&request)?;
        let mut times_ms = Vec::with_capacity(self.frames as usize);
        let mut backend = String::new();
        for number in 0..self.warm_up + self.frames {
            let start = Instant::now();
            let rendered =
                session.frames.render(&plan, scene, &environment, ColorFormat::Srgb8, &session.cancel)?;
            let elapsed = start.elapsed();
            bar.inc(1);
            if let Some(fallback) = rendered.fallback {
                return Err(Failure::not_here(format!(
                    "the backend gave up, so this measures nothing: {fallback}"
                )));
            }
            backend = rendered.backend;
            session.frames.recycle(rendered.frame);
            if number >= self.warm_up {
                times_ms.push(print::milliseconds(elapsed));
            }
        }
        let mut report = self.report(&request, scene, load, backend, times_ms);
        report.passes = pass_reports(&report, || {
            let color = ColorFormat::Srgb8;
            let rendered = session.frames.render(&plan, scene, &environment, color, &session.cancel)?;
            session.frames.recycle(rendered.frame);
            Ok(())
        })?;
        Ok(report)
    }

    fn report(
        &self,
        request: &isoframe_raster::frame::FrameRequest,
        scene: &Prepared,
        load: Duration,
        backend: String,
        times_ms: Vec<f64>,
    ) -> Report {
        let mut sorted = times_ms.clone();
        sorted.sort_by(f64::total_cmp);
        let median_ms = median(&sorted);
        let pixel_count = f64::from(request.width) * f64::from(request.height);
        let triangle_count = drawn_count(&scene.scene, Topology::Triangles);
        Report {
            scene: self.scene.clone(),
            backend,
            width: request.width,
            height: request.height,
            samples: request.samples,
            outputs: request.outputs.iter().map(|output| output.name()).collect(),
            frame_count: self.frames,
            triangle_count,
            median_ms,
            min_ms: sorted.first().copied().unwrap_or(0.0),
            max_ms: sorted.last().copied().unwrap_or(0.0),
            pixels_per_s: pixel_count / median_ms * 1e3,
            triangles_per_s: triangle_count as f64 / median_ms * 1e3,
            load_ms: print::milliseconds(load),
            times_ms,
            passes: Vec::new(),
        }
    }
}

/// Frames over which passes are measured, apart from the counted ones: their clock is not free.
const PASS_FRAMES: u32 = 3;

fn pass_reports(
    report: &Report,
    mut render: impl FnMut() -> Result<(), FramesError>,
) -> Result<Vec<PassReport>, Failure> {
    let (result, times) = passes::timed(|| (0..PASS_FRAMES).try_for_each(|_| render()));
    result?;
    let of_pass = |(name, total): (&'static str, Duration)| {
        let thread_s = total.as_secs_f64() / f64::from(PASS_FRAMES);
        PassReport {
            name,
            thread_ms: thread_s * 1e3,
            pixels_per_s: f64::from(report.width) * f64::from(report.height) / thread_s,
            triangles_per_s: report.triangle_count as f64 / thread_s,
        }
    };
    Ok(times.into_iter().map(of_pass).collect())
}

/// The middle of sorted values; of an even number, the mean of the two in the middle.
fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        count if count % 2 == 1 => sorted[middle],
        _ => (sorted[middle - 1] + sorted[middle]) / 2.0,
    }
}

fn table(reports: &[Report]) -> String {
    let mut table =
        Table::new(["size", "samples", "median ms", "min ms", "max ms", "Mpixels/s", "Mtriangles/s"]);
    for report in reports {
        table.row([
            format!("{}x{}", report.width, report.height),
            report.samples.to_string(),
            format!("{:.2}", report.median_ms),
            format!("{:.2}", report.min_ms),
            format!("{:.2}", report.max_ms),
            format!("{:.2}", report.pixels_per_s / 1e6),
            format!("{:.2}", report.triangles_per_s / 1e6),
        ]);
    }
    let head = reports.first().map(|report| {
        format!(
            "{}: {} triangles, {} on {}, {} frames each, loaded in {:.0} ms\n\n",
            report.scene,
            report.triangle_count,
            report.outputs.join(" "),
            report.backend,
            report.frame_count,
            report.load_ms
        )
    });
    let mut text = head.unwrap_or_default() + &table.to_string();
    if let [report] = reports
        && !report.passes.is_empty()
    {
        let mut table = Table::new(["pass", "thread ms", "Mpixels/s", "Mtriangles/s"]);
        for pass in &report.passes {
            table.row([
                pass.name.into(),
                format!("{:.2}", pass.thread_ms),
                format!("{:.1}", pass.pixels_per_s / 1e6),
                format!("{:.2}", pass.triangles_per_s / 1e6),
            ]);
        }
        text.push_str(&format!("\nPasses, all threads together, per frame\n{table}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        for (values, expected) in [(vec![3.0], 3.0), (vec![1.0, 9.0], 5.0), (vec![1.0, 2.0, 9.0], 2.0)] {
            assert_eq!(median(&values), expected, "{values:?}");
        }
    }
}
