//! `isoframe render`: a frame or a sequence into files.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Instant;

use clap::Args;
use indicatif::ProgressBar;
use isoframe_raster::environment::Environment;
use isoframe_raster::frame::FrameRequest;
use isoframe_raster::prepared::Prepared;
use serde::Serialize;

use super::checkpoint::Checkpoint;
use super::destination::{self, Destination};
use super::exit::{Exit, Failure};
use super::picture::Picture;
use super::session::{BackendFlags, Session};
use super::source::DEMO;
use super::{Global, print, progress};
use crate::encode::{EncodeOptions, PixelHash, Selection, color_format, encode};
use crate::fallback::Fallback;
use crate::frames::Rendered;
use crate::plan::Plan;

/// Most frames of one sequence.
const SEQUENCE_MAX_FRAMES: u64 = 1_000_000;

/// Render a frame or a sequence of a glTF scene
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Render {
    /// Scene: a .glb, a .gltf, a folder or .zip with one of them, or `demo`
    #[arg(value_name = "SCENE")]
    scene: String,
    /// File to write, or - for standard output; its ending gives the format. Its folder must exist
    #[arg(long, short, value_name = "FILE")]
    out: String,
    /// Format, where the ending does not say: png, png16, exr, exr32, webp, jpg or jpg:QUALITY
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    /// Buffers to render: color, base, depth, motion, normal, albedo, id; with --traced also irradiance,
    /// reflectance, emission, hit_distance, variance
    #[arg(long, value_name = "NAME,…", default_value = "color", help_heading = "Picture")]
    output: String,
    #[command(flatten)]
    picture: Picture,
    /// Time in the animation, in seconds
    #[arg(long, value_name = "S", default_value = "0", allow_negative_numbers = true, help_heading = "Time")]
    time: f64,
    /// Time of the previous frame, for motion, in seconds; without it motion is zero
    #[arg(
        long,
        value_name = "S",
        allow_negative_numbers = true,
        conflicts_with = "frames",
        help_heading = "Time"
    )]
    previous_time: Option<f64>,
    /// Renders a sequence: frames A up to but not including B, or A..=B with it
    ///
    /// Frame n shows --time plus n/FPS seconds, and its motion relates to frame n-1; frame 0 has nothing previous.
    /// So a sequence can be made in parts, on several machines, with the same bytes.
    #[arg(long, value_name = "A..B", requires = "fps", help_heading = "Time")]
    frames: Option<FrameRange>,
    /// Frames per second of --frames
    #[arg(long, value_name = "N", requires = "frames", help_heading = "Time")]
    fps: Option<f64>,
    /// Keeps traced light in this file every 20 seconds, and goes on from it when it is there; it is removed at the end
    #[arg(
        long,
        value_name = "FILE",
        requires = "traced",
        conflicts_with = "frames",
        help_heading = "Traced light"
    )]
    checkpoint: Option<PathBuf>,
    #[command(flatten)]
    backend: BackendFlags,
}

const AFTER_HELP: &str = "\
File names:
  With one output, FILE is written as it is named. With several, an .exr takes them all as layers; other
  formats become one file each: shot.png is written as shot.color.png, shot.depth.png and so on.
  Frames of a sequence are numbered where FILE has %d or %04d, else before its ending: shot.0007.png.

Examples:
  isoframe render demo -o demo.png
  isoframe render truck.glb -o truck.exr --output color,depth,motion,id --time 0.5 --previous-time 0.46
  isoframe render fox.glb -o 'fox.%04d.webp' --frames 0..48 --fps 24 --camera '30deg 75deg 105%'
  isoframe render part.glb -o - --camera front --size 800x600 | display
  isoframe render room.glb -o room.exr --traced 1024 --light-radius 0.05 --checkpoint room.light";

/// `A..B` or `A..=B`, kept as the half-open range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FrameRange {
    start: u64,
    end: u64,
}

impl FromStr for FrameRange {
    type Err = String;

    fn from_str(text: &str) -> Result<FrameRange, String> {
        let wanted = || format!("`{text}` is not a range of frames like 0..24 or 0..=23");
        let (start, end) = text.split_once("..").ok_or_else(wanted)?;
        let (end, closed) = end.strip_prefix('=').map_or((end, 0), |end| (end, 1));
        let start: u64 = start.parse().map_err(|_| wanted())?;
        let end = end.parse::<u64>().ok().and_then(|end| end.checked_add(closed)).ok_or_else(wanted)?;
        match end.checked_sub(start) {
            None | Some(0) => Err(format!("`{text}` holds no frame")),
            Some(count) if count > SEQUENCE_MAX_FRAMES => {
                Err(format!("`{text}` holds {count} frames, the limit is {SEQUENCE_MAX_FRAMES}"))
            }
            Some(_) => Ok(FrameRange { start, end }),
        }
    }
}

/// What `--json` gives for each frame.
#[derive(Debug, Serialize)]
struct FrameReport {
    /// Number in the sequence.
    frame: Option<u64>,
    frame_id: String,
    plan_id: String,
    time_s: f64,
    files: Vec<FileReport>,
    /// What rendered it.
    backend: String,
    /// Why something else was asked for than rendered it.
    fallback: Option<Fallback>,
    timings_ms: TimingReport,
}

#[derive(Debug, Serialize)]
struct FileReport {
    /// Null: standard output.
    path: Option<PathBuf>,
    outputs: Vec<&'static str>,
    pixels: PixelHash,
    bytes: usize,
}

/// *Units*: milliseconds.
#[derive(Debug, Default, Serialize)]
struct TimingReport {
    render: f64,
    encode: f64,
    write: f64,
}

/// What `--json` gives.
#[derive(Debug, Serialize)]
struct Report {
    scene: String,
    engine: &'static str,
    backend: crate::frames::BackendReport,
    frames: Vec<FrameReport>,
    /// From the start of the command: reading, preparing, rendering, writing. *Units*: milliseconds.
    total_ms: f64,
}

/// All that a frame is made from.
struct Scenery<'a> {
    session: &'a Session,
    scene: &'a Prepared,
    environment: &'a Environment,
    destination: &'a Destination,
}

impl Render {
    pub(crate) fn run(&self, global: &Global) -> Result<Exit, Failure> {
        let start = Instant::now();
        let destination = Destination::new(&self.out, self.format.as_deref())?;
        let fps = self.fps.unwrap_or(1.0);
        if !(fps.is_finite() && fps > 0.0) {
            return Err(Failure::bad_input(format!("--fps: {fps} is not a rate above 0")));
        }
        if self.checkpoint.is_some() && !self.picture.is_traced() {
            return Err(Failure::bad_input("--checkpoint: only traced light is kept, see --traced"));
        }
        // The picture is checked, and the folder looked for, before a large scene is read.
        let outputs = self.picture.check(&self.output, &self.backend.settings()?.limits)?.outputs;
        let numbers: Vec<Option<u64>> = match self.frames {
            Some(range) => (range.start..range.end).map(Some).collect(),
            None => vec![None],
        };
        destination.check(destination.selections(&outputs).len() * numbers.len())?;
        let session = Session::open(&self.backend)?;
        let scene = session.scene(&self.scene)?;
        let environment = session.environment(self.picture.env.as_deref())?;
        let hash = self.picture.env.is_some().then_some(environment.hash.as_str());
        let request = self.picture.request(&scene.scene.hash, hash, &self.output)?;
        let scenery = Scenery {
            session: &session,
            scene: &scene,
            environment: &environment,
            destination: &destination,
        };

        let mut frames = Vec::with_capacity(numbers.len());
        if let (Some(traced), [None]) = (request.lighting.traced, numbers.as_slice()) {
            let bar = progress::bar(global, traced.samples.into(), "tracing");
            let request = self.at(None, fps, request);
            frames.push(scenery.frame_in_parts(&request, self.checkpoint.as_deref(), &bar)?);
            bar.finish_and_clear();
        } else {
            let bar = progress::bar(global, numbers.len() as u64, "rendering");
            for number in numbers {
                let request = self.at(number, fps, request.clone());
                frames.push(scenery.frame(&request, number)?);
                bar.inc(1);
            }
            bar.finish_and_clear();
        }
        let report = Report {
            scene: scene.scene.hash.clone(),
            engine: isoframe_raster::frame::ENGINE,
            backend: session.frames.backend_report(),
            frames,
            total_ms: print::milliseconds(start.elapsed()),
        };
        self.say(global, &destination, &report)?;
        Ok(Exit::Done)
    }

    /// The request at a frame's time. Motion never depends on where a sequence was begun.
    fn at(&self, number: Option<u64>, fps: f64, mut request: FrameRequest) -> FrameRequest {
        let time_of = |number: u64| self.time + number as f64 / fps;
        match number {
            Some(number) => {
                request.time_s = time_of(number);
                request.previous_time_s = number.checked_sub(1).map(time_of);
            }
            None => {
                request.time_s = self.time;
                request.previous_time_s = self.previous_time;
            }
        }
        request
    }

    fn say(&self, global: &Global, destination: &Destination, report: &Report) -> Result<(), Failure> {
        match (global.json, destination.is_stdout()) {
            // The frame has standard output: the report goes beside it.
            (true, true) => eprintln!("{}", serde_json::to_string(report).map_err(Failure::fault)?),
            (true, false) => print::json(report)?,
            (false, _) if global.quiet || destination.is_stdout() => {}
            (false, _) => {
                for frame in &report.frames {
                    for file in &frame.files {
                        let path = file.path.as_deref().unwrap_or(std::path::Path::new("-"));
                        print::line(format!("{}  frame {}", path.display(), &frame.frame_id[..16]))?;
                    }
                    if let Some(fallback) = &frame.fallback {
                        print::line(format!("  rendered on {} instead: {fallback}", frame.backend))?;
                    }
                }
                print::line(format!("{:.0} ms on {}", report.total_ms, report.backend.name))?;
                if self.scene == DEMO {
                    print::line(next_step(&self.out))?;
                }
            }
        }
        Ok(())
    }
}

/// What the demo says at the end: the door to everything else, in the words with which this program was started.
fn next_step(out: &str) -> String {
    let built_here = std::env::current_exe().is_ok_and(|path| path.iter().any(|part| part == "target"));
    let isoframe = if built_here { "cargo run --release --" } else { "isoframe" };
    format!(
        "
Next: serve frames over HTTP, and open http://127.0.0.1:8080/docs
    {isoframe} serve
Or prove the file, render all its buffers, see what the scene holds:
    {isoframe} verify {out} --scene demo
    {isoframe} render demo -o demo.exr --output color,depth,motion,normal,albedo,id
    {isoframe} inspect demo"
    )
}

impl Scenery<'_> {
    /// Renders one frame and writes its files.
    fn frame(&self, request: &FrameRequest, number: Option<u64>) -> Result<FrameReport, Failure> {
        let format = self.destination.format;
        let frames = &self.session.frames;
        let plan = frames.plan(request)?;
        let rendered: Rendered =
            frames.render(&plan, self.scene, self.environment, color_format(format), &self.session.cancel)?;
        self.written(&plan, rendered, number)
    }

    /// Renders one frame of traced light, shows how far it is, keeps it where a checkpoint is asked for, and writes
    /// its files.
    fn frame_in_parts(
        &self,
        request: &FrameRequest,
        checkpoint: Option<&Path>,
        bar: &ProgressBar,
    ) -> Result<FrameReport, Failure> {
        let frames = &self.session.frames;
        let plan = frames.plan(request)?;
        let mut checkpoint = checkpoint.map(|path| Checkpoint::new(path, &plan));
        let pixels = request.width as usize * request.height as usize;
        let light = checkpoint.as_ref().map(|c| c.read(pixels)).transpose()?.unwrap_or_default();
        if light.end() > 0 {
            tracing::info!(samples = light.end(), "goes on from its checkpoint");
        }
        bar.set_position(light.end().into());
        // What was found before counts for nothing in the time that is left.
        bar.reset_eta();
        let color = color_format(self.destination.format);
        let (scene, environment, cancel) = (self.scene, self.environment, &self.session.cancel);
        let rendered = frames.render_in_parts(&plan, scene, environment, color, cancel, light, |light| {
            bar.set_position(light.end().into());
            checkpoint.as_mut().map_or(Ok::<(), Failure>(()), |checkpoint| checkpoint.keep(light))
        })?;
        let report = self.written(&plan, rendered, None)?;
        if let Some(checkpoint) = checkpoint {
            checkpoint.remove();
        }
        Ok(report)
    }

    /// Writes a frame's files.
    fn written(&self, plan: &Plan, rendered: Rendered, number: Option<u64>) -> Result<FrameReport, Failure> {
        let request = plan.request();
        let mut timings =
            TimingReport { render: print::milliseconds(rendered.timings.render), ..Default::default() };
        let selections = self.destination.selections(&request.outputs);
        let several = selections.len() > 1;
        let mut files = Vec::with_capacity(selections.len());
        for selection in selections {
            files.push(self.file(plan, &rendered, selection, several, number, &mut timings)?);
        }
        Ok(FrameReport {
            frame: number,
            frame_id: plan.frame_id().to_owned(),
            plan_id: plan.plan_id().to_owned(),
            time_s: request.time_s,
            files,
            backend: rendered.backend,
            fallback: rendered.fallback.or_else(|| plan.fallback().cloned()),
            timings_ms: timings,
        })
    }

    fn file(
        &self,
        plan: &Plan,
        rendered: &Rendered,
        selection: Selection,
        several: bool,
        number: Option<u64>,
        timings: &mut TimingReport,
    ) -> Result<FileReport, Failure> {
        let start = Instant::now();
        let options = EncodeOptions { scene: Some(&self.scene.scene) };
        let encoded = encode(&rendered.frame, plan, self.destination.format, selection, &options)?;
        timings.encode += print::milliseconds(start.elapsed());
        let start = Instant::now();
        let path = self.destination.file(selection, several, number);
        destination::write(path.as_deref(), &encoded.bytes)?;
        timings.write += print::milliseconds(start.elapsed());
        let outputs = selection.outputs(plan.request()).into_iter().map(|output| output.name()).collect();
        Ok(FileReport { path, outputs, pixels: encoded.pixels, bytes: encoded.bytes.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_frames() {
        for (text, expected) in [
            ("0..24", Some((0, 24))),
            ("0..=23", Some((0, 24))),
            ("7..8", Some((7, 8))),
            ("5..5", None),
            ("8..7", None),
            ("0..18446744073709551615", None),
            ("0..=18446744073709551615", None),
            ("-1..3", None),
            ("3", None),
            ("a..b", None),
        ] {
            let got = text.parse::<FrameRange>().ok().map(|range| (range.start, range.end));
            assert_eq!(got, expected, "{text}");
        }
    }
}
