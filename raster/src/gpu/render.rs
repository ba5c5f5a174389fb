//! A frame on the device: geometry once, then bands of tile rows, so that memory does not grow with height.
//!
//! Lists whose length only the device knows get room by what the frames before needed; each band brings back
//! how much they wanted, and is rendered again with more where that was not enough.

use std::ops::Range;

use super::buffers::Pool;
use super::capacity::{Capacities, Shortage, items_max};
use super::device::Device;
use super::features::feature;
use super::layout::{self, Band, Counters, Encoding, TILE};
use super::lists::{List, ListPool};
use super::output::{self, Assembly};
use super::record::{Bound, DeformWork, Recorder};
use super::traced::{self, Tracing, point_parts};
use crate::accumulate::{Accumulated, RUN_MAX, Sums, runs};
use crate::backend::Job;
use crate::draw::{DrawList, FrameConstants};
use crate::exact;
use crate::frame::{Frame, RenderError};
use crate::passes::gather::Guide;
use crate::pixel_light::{self, PixelLight};

/// Most pixels of a band.
const BAND_PIXELS: u32 = 1 << 20;
/// Most pixels of a band whose light is traced, so that no dispatch takes long.
const TRACED_BAND_PIXELS: u32 = 1 << 17;

/// What is made of each band.
pub(super) enum Stage<'s> {
    /// Guides of the image.
    Guide(&'s mut Vec<Guide>),
    /// Sums of a run of samples.
    Trace { guides: &'s [Guide], first: u32, count: u32, sums: &'s mut Vec<Sums> },
    /// Outputs; with light, where it was traced.
    Shade { guides: &'s [Guide], light: &'s [PixelLight], assembly: &'s mut Assembly },
}

/// What frames share.
pub(super) struct Kept<'a> {
    pub pool: &'a mut Pool,
    pub lists: &'a mut ListPool,
    pub capacities: &'a mut Capacities,
}

/// One frame being rendered.
pub(super) struct FrameOnDevice<'a> {
    pub device: &'a Device,
    pub job: &'a Job<'a>,
    pub list: &'a DrawList,
    pub recorder: Recorder<'a>,
    pub pool: &'a mut Pool,
    lists: &'a mut ListPool,
    pub capacities: &'a mut Capacities,
    /// What all samples share.
    pub tracing: Tracing,
    instances: List,
    deform: DeformWork,
    band_rows: u32,
    geometry_done: bool,
    /// The band whose items lie on the device, and what its lists hold.
    listed: Option<(Band, Counters)>,
}

impl<'a> FrameOnDevice<'a> {
    /// Uploads what all its bands read.
    pub fn new(
        device: &'a Device,
        job: &'a Job<'a>,
        recorder: Recorder<'a>,
        kept: Kept<'a>,
        tracing: Tracing,
    ) -> Result<FrameOnDevice<'a>, RenderError> {
        let list = recorder.list;
        let instances = List::upload(device, "instances", &list.instances)?;
        let deform = deform_work(device, job, &recorder)?;
        let Kept { pool, lists, capacities } = kept;
        let mut frame = FrameOnDevice {
            device,
            job,
            list,
            recorder,
            pool,
            lists,
            capacities,
            tracing,
            instances,
            deform,
            band_rows: 1,
            geometry_done: false,
            listed: None,
        };
        frame.band_rows = frame.rows_that_fit();
        Ok(frame)
    }

    /// Renders it.
    pub fn render(&mut self) -> Result<Frame, RenderError> {
        match self.job.request.lighting.traced {
            Some(traced) if self.is_traced() => {
                let guides = self.guides()?;
                let light = self.accumulate(&guides, 0..traced.samples)?;
                self.shade_traced(&guides, &light)
            }
            _ => self.shade(&[], &[]),
        }
    }

    /// Sums of samples; of a frame that light makes no difference to, zeros.
    pub fn trace(&mut self, samples: Range<u32>) -> Result<Accumulated, RenderError> {
        if self.is_traced() {
            let guides = self.guides()?;
            return self.accumulate(&guides, samples);
        }
        let mut all = Accumulated::default();
        for (first, count) in runs(samples) {
            all.push(first, count, vec![Sums::default(); self.pixel_count()]);
        }
        Ok(all)
    }

    /// The frame with light that was traced.
    pub fn resolve(&mut self, light: &Accumulated) -> Result<Frame, RenderError> {
        if !self.is_traced() {
            return self.shade(&[], &[]);
        }
        let guides = self.guides()?;
        self.shade_traced(&guides, light)
    }

    /// Whether paths make a difference.
    fn is_traced(&self) -> bool {
        self.recorder.features.has(feature::TRACED)
    }

    pub(super) fn pixel_count(&self) -> usize {
        self.list.constants.width as usize * self.list.constants.height as usize
    }

    fn shade_traced(&mut self, guides: &[Guide], light: &Accumulated) -> Result<Frame, RenderError> {
        let light = PixelLight::all(light);
        let mut frame = self.shade(guides, &light)?;
        pixel_light::fill(&mut frame, &light);
        Ok(frame)
    }

    fn shade(&mut self, guides: &[Guide], light: &[PixelLight]) -> Result<Frame, RenderError> {
        let mut assembly = Assembly::new(self.list, self.job.color);
        self.bands(&mut Stage::Shade { guides, light, assembly: &mut assembly })?;
        Ok(assembly.finish())
    }

    /// Runs a stage on the whole image.
    pub fn bands(&mut self, stage: &mut Stage<'_>) -> Result<(), RenderError> {
        let c = &self.list.constants;
        let tile_rows = c.height.div_ceil(TILE);
        let words = self.device.binding_bytes() / 4;
        let items_max = items_max(words, self.item_words());
        let mut first_row = 0;
        while first_row < tile_rows {
            if self.job.cancel.is_cancelled() {
                return Err(RenderError::Cancelled);
            }
            let rows = self.band_rows.min(tile_rows - first_row);
            let band_pixels = u64::from(c.width * rows * TILE);
            self.capacities.grow_for(band_pixels, u64::from(self.list.triangle_count), items_max);
            let band = self.band(first_row, rows);
            let bound = self.bind(&band)?;
            let counters = self.run(&bound, &band, stage)?;
            self.listed = None;
            match self.capacities.grow(&counters, words, items_max) {
                Shortage::None => {
                    self.geometry_done = true;
                    self.listed = Some((band, counters));
                    first_row += rows;
                }
                Shortage::Geometry => self.geometry_done = false,
                Shortage::Band => self.geometry_done = true,
                Shortage::TooMuch { what, wanted, got } => {
                    if rows == 1 {
                        return Err(RenderError::DeviceLimit { what, wanted, got });
                    }
                    self.band_rows = rows.div_ceil(2);
                    self.geometry_done = true;
                }
            }
        }
        Ok(())
    }

    /// Words of an item in the widest buffer, or list as narrow as one.
    fn item_words(&self) -> u64 {
        let features = self.recorder.features;
        let sorted_words = if features.has(feature::LAYERED) { 4 } else { 0 };
        let point_words = if self.is_traced() { u64::from(point_parts(features)) * 4 } else { 0 };
        self.reaching_words().max(sorted_words).max(point_words)
    }

    /// Words of an item that say which lights reach it.
    fn reaching_words(&self) -> u64 {
        if self.recorder.features.has(feature::SHADOWS) {
            self.list.lights.len().div_ceil(32) as u64
        } else {
            0
        }
    }

    /// Bytes of a pixel's sums, in all levels of the longest run.
    fn sums_bytes(&self) -> u64 {
        match self.job.request.lighting.traced {
            Some(_) if self.is_traced() => traced::sums_bytes(RUN_MAX),
            _ => 0,
        }
    }

    /// Rows of tiles in a band: as many as its buffers have room for.
    fn rows_that_fit(&self) -> u32 {
        let c = &self.list.constants;
        let binding = self.device.binding_bytes();
        let row_pixels = u64::from(c.width.next_multiple_of(TILE) * TILE);
        let mut pixel_bytes = u64::from(output::pixel_words(self.list)) * 4;
        if self.recorder.features.has(feature::LAYERED) {
            pixel_bytes = pixel_bytes.max(u64::from(c.samples) * 8);
        }
        pixel_bytes = pixel_bytes.max(self.sums_bytes());
        let most = if self.is_traced() { TRACED_BAND_PIXELS } else { BAND_PIXELS };
        let pixels = u64::from(most).min(binding / pixel_bytes.max(16));
        (pixels / row_pixels).max(1) as u32
    }

    fn band(&self, first_tile_row: u32, tiles_y: u32) -> Band {
        let c = &self.list.constants;
        let capacity = |count: u64| count.min(u64::from(u32::MAX)) as u32;
        let trees = self.recorder.trees.as_ref();
        let mut band = Band {
            instance_count: self.list.instances.len() as u32,
            clip_vertex_count: self.list.clip_vertex_count,
            triangle_count: self.list.triangle_count,
            first_tile_row,
            tiles_x: c.width.div_ceil(TILE),
            tiles_y,
            setup_capacity: capacity(self.capacities.setups),
            pair_capacity: capacity(self.capacities.pairs),
            item_capacity: capacity(self.capacities.items),
            clipped_capacity: capacity(self.capacities.clipped),
            large_capacity: capacity(self.capacities.large),
            key_far: if c.orthographic == 1 { 0.0 } else { exact::recip(c.zfar.min(1e30)) },
            deformed_count: self.list.deformed_vertex_count,
            first_tree_node: trees.map_or(0, |trees| trees.first_node),
            visits_max: trees.map_or(0, |trees| trees.visits_max),
            first_guide_row: (first_tile_row * TILE).saturating_sub(1),
            ..Band::default()
        };
        output::lay_out(self.list, c.width * tiles_y * TILE, &mut band);
        band
    }

    fn bind(&mut self, band: &Band) -> Result<Bound, RenderError> {
        let device = self.device;
        let cap = *self.capacities;
        let layered = self.recorder.features.has(feature::LAYERED);
        let c = &self.list.constants;
        let tiles = u64::from(band.tiles_x) * u64::from(band.tiles_y);
        let pixels = u64::from(c.width) * u64::from(band.tiles_y * TILE);
        let modes = if layered { 3 } else { 1 };
        let moments = if self.list.moving { 2 } else { 1 };
        let clip = u64::from(self.list.clip_vertex_count) * u64::from(layout::CLIP_PARTS) * moments;
        let sample_words = if layered { tiles * 64 * u64::from(c.samples) * 2 } else { 1 };
        let sorted_words = if layered { cap.items * 4 } else { 1 };
        let reaching_words = (cap.items + u64::from(layout::WORKGROUP)) * self.reaching_words();
        let frame_words = pixels * u64::from(output::pixel_words(self.list));
        // What only traced light needs is as short as can be without.
        let traced = |count: u64| if self.is_traced() { count } else { 1 };
        let guided = traced(pixels + 2 * u64::from(c.width));
        let traced_items = traced(cap.items + 64);
        let guide_bytes = traced(pixels * u64::from(traced::GUIDE_WORDS) * 4);
        let sums_bytes = pixels * self.sums_bytes();
        let point_parts = u64::from(point_parts(self.recorder.features));
        let lists = &mut *self.lists;
        let pool = &mut *self.pool;
        Ok(Bound {
            band: pool.uniform(device, "band", band)?,
            instances: self.instances.clone(),
            clip: lists.get(device, "clip", clip)?,
            setups: lists.get(device, "setups", cap.setups * u64::from(layout::SETUP_PARTS))?,
            pairs: lists.get(device, "pairs", cap.pairs)?,
            items: lists.get(device, "items", cap.items + 64)?,
            lit: lists.get(device, "lit", cap.items + 64)?,
            clipped: pool.storage(device, "clipped", cap.clipped * 4)?,
            counters: pool.storage(device, "counters", size_of::<Counters>() as u64)?,
            plans: pool.storage(device, "plans", u64::from(layout::PLANS) * 16)?,
            large: pool.storage(device, "large", cap.large * 4)?,
            tiles: pool.storage(device, "tiles", (2 * modes * tiles + 1) * 4)?,
            order: pool.storage(device, "order", tiles * 4)?,
            pixels: pool.storage(device, "pixels", pixels * 8)?,
            samples: pool.storage(device, "samples", sample_words * 4)?,
            sorted: pool.storage(device, "sorted", sorted_words * 4)?,
            frame: pool.storage(device, "frame", frame_words * 4)?,
            reaching: pool.storage(device, "reaching", reaching_words * 4)?,
            srgb_table: pool.uniform(device, "sRGB table", &layout::srgb_table())?,
            encoding: pool.uniform(device, "encoding", &Encoding::new())?,
            guides: lists.get(device, "guides", guided * u64::from(traced::GUIDE_PARTS))?,
            traced_light: lists.get(device, "traced light", guided * u64::from(traced::PIXEL_LIGHT_PARTS))?,
            found: pool.storage(device, "found guides", guide_bytes)?,
            points: lists.get(device, "points", traced_items * point_parts)?,
            paths: lists.get(device, "paths", traced_items * u64::from(traced::PATH_PARTS))?,
            sums: pool.storage(device, "sums", sums_bytes)?,
            tracing: pool.stored(device, "tracing", &self.tracing)?,
        })
    }

    /// Runs a stage on a band. Where a list was too short, nothing comes of it.
    fn run(&mut self, bound: &Bound, band: &Band, stage: &mut Stage<'_>) -> Result<Counters, RenderError> {
        let c = &self.list.constants;
        let pixels = c.width * (band.tiles_y * TILE).min(c.height - band.first_tile_row * TILE);
        let mut commands = self.device.wgpu().create_command_encoder(&Default::default());
        let is_listed = self.listed.is_some_and(|(listed, _)| listed == *band);
        if !is_listed {
            self.list(&mut commands, bound, band)?;
        }
        match stage {
            Stage::Guide(guides) => self.guide_band(bound, commands, pixels as usize, guides),
            Stage::Trace { guides, first, count, sums } => {
                if !is_listed {
                    let counters = self.read(commands, bound, (&bound.counters, 0, 0), |_| {})?;
                    if !self.capacities.suffice(&counters) {
                        return Ok(counters);
                    }
                }
                self.load_guides(bound, band, guides, &[])?;
                self.trace_band(bound, band, pixels as usize, *first..*first + *count, sums)
            }
            Stage::Shade { guides, light, assembly } => {
                if !light.is_empty() {
                    self.load_guides(bound, band, guides, light)?;
                }
                self.recorder.outputs(&mut commands.begin_compute_pass(&Default::default()), bound)?;
                let words = c.width * band.tiles_y * TILE * output::pixel_words(self.list);
                self.read(commands, bound, (&bound.frame, 0, words as usize), |words| {
                    assembly.add(band, pixels, words);
                })
            }
        }
    }

    /// Lists the items of a band.
    fn list(
        &mut self,
        commands: &mut wgpu::CommandEncoder,
        bound: &Bound,
        band: &Band,
    ) -> Result<(), RenderError> {
        // Set-ups and clipped triangles belong to the frame, the rest to the band.
        let kept = if self.geometry_done { 8 } else { 0 };
        commands.clear_buffer(&bound.counters, kept, Some(size_of::<Counters>() as u64 - kept));
        commands.clear_buffer(&bound.tiles, 0, None);
        let mut pass = commands.begin_compute_pass(&Default::default());
        if !self.geometry_done {
            self.recorder.geometry(&mut pass, bound, &self.deform)?;
        }
        self.recorder.bin(&mut pass, bound, band)?;
        self.recorder.items(&mut pass, bound)
    }
}

fn deform_work(device: &Device, job: &Job<'_>, recorder: &Recorder<'_>) -> Result<DeformWork, RenderError> {
    let list = recorder.list;
    let mut pose = Vec::new();
    let first = recorder.scene.fixed_vertex_count;
    let sources = &recorder.scene.sources;
    let mut jobs = sources.jobs(list, 0, first, job.scene, &mut pose);
    if list.moving {
        let first = first + list.deformed_vertex_count;
        jobs.extend(sources.jobs(list, 1, first, job.scene, &mut pose));
    }
    Ok(DeformWork { jobs, pose: List::upload(device, "pose", &pose)? })
}

const _: () = assert!(size_of::<FrameConstants>().is_multiple_of(16));
