//! A frame on the device: geometry once, then bands of tile rows, so that memory does not grow with height.
//!
//! Lists whose length only the device knows get room by what the frames before needed; each band brings back
//! how much they wanted, and is rendered again with more where that was not enough.

use std::collections::BTreeMap;

use super::GpuSettings;
use super::buffers::{self, Pool, uniform};
use super::deform::DeformJob;
use super::device::Device;
use super::features::{Features, feature};
use super::layout::{self, Band, Counters, DISPATCH_WIDTH, Encoding, TILE};
use super::lists::{List, ListPool};
use super::output::{self, Assembly};
use super::pass::{Pass, Pipeline, Workgroups};
use super::resident::{EnvironmentLists, Residents, SceneLists};
use super::{passes, shader};
use crate::backend::Job;
use crate::draw::{DrawList, FrameConstants, instance_flags};
use crate::exact;
use crate::frame::{Frame, RenderError};

/// Most pixels of a band.
const BAND_PIXELS: u32 = 1 << 20;
/// Pipelines kept.
const PIPELINES_MAX: usize = 512;
/// Global triangle ids that leave room for the piece of a clipped one.
const TRIANGLES_MAX: u32 = 1 << 29;
/// Largest item list: places are packed above a count of seven bits.
const ITEMS_MAX: u64 = 1 << 24;

/// Room in the lists that the device fills.
#[derive(Debug, Clone, Copy, Default)]
struct Capacities {
    setups: u64,
    clipped: u64,
    large: u64,
    pairs: u64,
    items: u64,
}

/// What a device keeps from frame to frame.
#[derive(Debug, Default)]
pub(crate) struct State {
    residents: Residents,
    pool: Pool,
    lists: ListPool,
    pipelines: BTreeMap<(&'static str, Features), Pipeline>,
    capacities: Capacities,
    edits: Vec<(String, String)>,
}

impl State {
    /// Replaces text in all shaders that are compiled from now on.
    pub fn edit(&mut self, edits: Vec<(String, String)>) {
        self.edits = edits;
        self.pipelines.clear();
    }

    /// Memory held on the device. *Units*: bytes.
    pub fn bytes(&self) -> u64 {
        self.pool.bytes() + self.lists.bytes() + self.residents.bytes()
    }

    /// Renders a frame.
    pub fn render(
        &mut self,
        device: &Device,
        settings: GpuSettings,
        job: &Job<'_>,
    ) -> Result<Frame, RenderError> {
        let mut list = DrawList::new(job.scene, job.environment, job.request, job.color)?;
        if list.triangle_count >= TRIANGLES_MAX {
            let wanted = u64::from(list.triangle_count);
            return Err(RenderError::DeviceLimit {
                what: "triangles",
                wanted,
                got: u64::from(TRIANGLES_MAX),
            });
        }
        for instance in &mut list.instances {
            if instance.flags & instance_flags::DEFORMED != 0 {
                instance.first_vertex += job.scene.vertices.len() as u32;
            }
        }
        let features = Features::of(&list, &job.scene.materials);
        let (scene, lights) =
            self.residents.load(device, job.scene, job.environment, &list, settings.resident_bytes)?;
        lights.write_lights(device, &list.lights);
        let mut frame = FrameOnDevice {
            device,
            job,
            list: &list,
            features,
            scene,
            lights,
            pool: &mut self.pool,
            lists: &mut self.lists,
            pipelines: &mut self.pipelines,
            edits: &self.edits,
            capacities: &mut self.capacities,
            constants: uniform(device, "constants", &list.constants),
        };
        let result = frame.render();
        if self.pool.bytes() + self.lists.bytes() > settings.scratch_bytes {
            self.pool.clear();
            self.lists.clear();
            self.capacities = Capacities::default();
        }
        result
    }
}

/// One frame being rendered.
struct FrameOnDevice<'a> {
    device: &'a Device,
    job: &'a Job<'a>,
    list: &'a DrawList,
    features: Features,
    scene: &'a SceneLists,
    lights: &'a EnvironmentLists,
    pool: &'a mut Pool,
    lists: &'a mut ListPool,
    pipelines: &'a mut BTreeMap<(&'static str, Features), Pipeline>,
    edits: &'a [(String, String)],
    capacities: &'a mut Capacities,
    constants: wgpu::Buffer,
}

/// What the passes of a band bind.
struct Bound {
    band: wgpu::Buffer,
    instances: List,
    clip: List,
    setups: List,
    pairs: List,
    items: List,
    lit: List,
    clipped: wgpu::Buffer,
    counters: wgpu::Buffer,
    plans: wgpu::Buffer,
    large: wgpu::Buffer,
    tiles: wgpu::Buffer,
    order: wgpu::Buffer,
    pixels: wgpu::Buffer,
    samples: wgpu::Buffer,
    sorted: wgpu::Buffer,
    frame: wgpu::Buffer,
    srgb_table: wgpu::Buffer,
    encoding: wgpu::Buffer,
}

/// Vertices to deform: jobs and what they read.
struct DeformWork {
    jobs: Vec<DeformJob>,
    pose: List,
}

impl FrameOnDevice<'_> {
    fn render(&mut self) -> Result<Frame, RenderError> {
        let c = &self.list.constants;
        let tile_rows = c.height.div_ceil(TILE);
        let mut band_rows = self.band_rows();
        let instances = List::upload(self.device, "instances", &self.list.instances)?;
        let deform = self.deform_work()?;
        let mut assembly = Assembly::new(self.list, self.job.color);
        let mut first_row = 0;
        let mut geometry_done = false;
        while first_row < tile_rows {
            if self.job.cancel.is_cancelled() {
                return Err(RenderError::Cancelled);
            }
            let rows = band_rows.min(tile_rows - first_row);
            self.grow_for(rows);
            let band = self.band(first_row, rows);
            let bound = self.bind(&instances, &band)?;
            let pixels = c.width * (rows * TILE).min(c.height - first_row * TILE);
            let counters = self.run(&bound, &band, &deform, geometry_done, pixels, &mut assembly)?;
            match self.shortage(&counters) {
                Shortage::None => {
                    geometry_done = true;
                    first_row += rows;
                }
                Shortage::Geometry => geometry_done = false,
                Shortage::Band => geometry_done = true,
                Shortage::TooMuch { what, wanted, got } => {
                    if rows == 1 {
                        return Err(RenderError::DeviceLimit { what, wanted, got });
                    }
                    band_rows = rows.div_ceil(2);
                    geometry_done = true;
                }
            }
        }
        Ok(assembly.finish())
    }

    /// Rows of tiles in a band: as many as its buffers have room for.
    fn band_rows(&self) -> u32 {
        let c = &self.list.constants;
        let binding = self.device.binding_bytes();
        let row_pixels = u64::from(c.width.next_multiple_of(TILE) * TILE);
        let mut pixel_bytes = u64::from(output::pixel_words(self.list)) * 4;
        if self.features.has(feature::LAYERED) {
            pixel_bytes = pixel_bytes.max(u64::from(c.samples) * 8);
        }
        let pixels = u64::from(BAND_PIXELS).min(binding / pixel_bytes.max(16));
        (pixels / row_pixels).max(1) as u32
    }

    /// Makes room for what a band needs at least.
    fn grow_for(&mut self, rows: u32) {
        let pixels = u64::from(self.list.constants.width * rows * TILE);
        let triangles = u64::from(self.list.triangle_count);
        let c = &mut *self.capacities;
        c.setups = c.setups.max(triangles + 1024);
        c.clipped = c.clipped.max(1024);
        c.large = c.large.max(1024);
        c.pairs = c.pairs.max(16384);
        c.items = c.items.max(pixels + pixels / 4 + 4096).min(ITEMS_MAX);
    }

    fn band(&self, first_tile_row: u32, tiles_y: u32) -> Band {
        let c = &self.list.constants;
        let capacity = |count: u64| count.min(u64::from(u32::MAX)) as u32;
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
            ..Band::default()
        };
        output::lay_out(self.list, c.width * tiles_y * TILE, &mut band);
        band
    }

    fn bind(&mut self, instances: &List, band: &Band) -> Result<Bound, RenderError> {
        let device = self.device;
        let cap = *self.capacities;
        let layered = self.features.has(feature::LAYERED);
        let c = &self.list.constants;
        let tiles = u64::from(band.tiles_x) * u64::from(band.tiles_y);
        let pixels = u64::from(c.width) * u64::from(band.tiles_y * TILE);
        let modes = if layered { 3 } else { 1 };
        let moments = if self.list.moving { 2 } else { 1 };
        let clip = u64::from(self.list.clip_vertex_count) * 2 * moments;
        let sample_words = if layered { tiles * 64 * u64::from(c.samples) * 2 } else { 1 };
        let sorted_words = if layered { cap.items * 4 } else { 1 };
        let frame_words = pixels * u64::from(output::pixel_words(self.list));
        let lists = &mut *self.lists;
        let pool = &mut *self.pool;
        Ok(Bound {
            band: pool.uniform(device, "band", band)?,
            instances: instances.clone(),
            clip: lists.get(device, "clip", clip)?,
            setups: lists.get(device, "setups", cap.setups * 4)?,
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
            srgb_table: pool.uniform(device, "sRGB table", &layout::srgb_table())?,
            encoding: pool.uniform(device, "encoding", &Encoding::new())?,
        })
    }

    fn deform_work(&self) -> Result<DeformWork, RenderError> {
        let mut pose = Vec::new();
        let first = self.scene.fixed_vertex_count;
        let sources = &self.scene.sources;
        let mut jobs = sources.jobs(self.list, 0, first, self.job.scene, &mut pose);
        if self.list.moving {
            let first = first + self.list.deformed_vertex_count;
            jobs.extend(sources.jobs(self.list, 1, first, self.job.scene, &mut pose));
        }
        Ok(DeformWork { jobs, pose: List::upload(self.device, "pose", &pose)? })
    }

    /// Runs the passes of a band, and adds its pixels to the frame unless a list was too short.
    fn run(
        &mut self,
        bound: &Bound,
        band: &Band,
        deform: &DeformWork,
        geometry_done: bool,
        pixels: u32,
        assembly: &mut Assembly,
    ) -> Result<Counters, RenderError> {
        let device = self.device;
        let mut commands = device.wgpu().create_command_encoder(&Default::default());
        // Set-ups and clipped triangles belong to the frame, the rest to the band.
        let kept = if geometry_done { 8 } else { 0 };
        commands.clear_buffer(&bound.counters, kept, Some(size_of::<Counters>() as u64 - kept));
        commands.clear_buffer(&bound.tiles, 0, None);
        {
            let mut pass = commands.begin_compute_pass(&Default::default());
            if !geometry_done {
                self.geometry(&mut pass, bound, deform)?;
            }
            self.bin(&mut pass, bound, band)?;
            self.pixels(&mut pass, bound)?;
        }
        let frame_words = self.list.constants.width * band.tiles_y * TILE * output::pixel_words(self.list);
        let frame_bytes = u64::from(frame_words) * 4;
        let counter_bytes = size_of::<Counters>() as u64;
        let readback = self.pool.readback(device, "readback", frame_bytes + counter_bytes)?;
        commands.copy_buffer_to_buffer(&bound.counters, 0, &readback, 0, counter_bytes);
        if frame_bytes > 0 {
            commands.copy_buffer_to_buffer(&bound.frame, 0, &readback, counter_bytes, frame_bytes);
        }
        let index = device.submit(commands)?;
        let counter_words = size_of::<Counters>() / 4;
        let mut counters = Counters::default();
        let capacities = *self.capacities;
        buffers::read(device, &readback, index, counter_words + frame_words as usize, |words: &[u32]| {
            counters = *bytemuck::from_bytes(bytemuck::cast_slice(&words[..counter_words]));
            if capacities.suffice(&counters) {
                assembly.add(band, pixels, &words[counter_words..]);
            }
        })?;
        Ok(counters)
    }

    fn geometry(
        &mut self,
        pass: &mut wgpu::ComputePass<'_>,
        b: &Bound,
        deform: &DeformWork,
    ) -> Result<(), RenderError> {
        let (scene, list) = (self.scene, self.list);
        for job in &deform.jobs {
            let job_uniform = uniform(self.device, "deform job", job);
            self.record(
                passes::DEFORM,
                pass,
                b,
                linear(job.vertex_count),
                &[
                    job_uniform.as_entire_binding(),
                    scene.source_list.resource(),
                    deform.pose.resource(),
                    scene.vertices.resource(),
                ],
            )?;
        }
        let project = [b.instances.resource(), scene.vertices.resource(), b.clip.resource()];
        self.record(passes::PROJECT, pass, b, linear(list.clip_vertex_count), &project)?;
        if list.moving {
            self.record(passes::PROJECT_PREVIOUS, pass, b, linear(list.clip_vertex_count), &project)?;
        }
        let setup = [
            b.instances.resource(),
            scene.materials.resource(),
            scene.triangles.resource(),
            b.clip.resource(),
            b.setups.resource(),
            b.clipped.as_entire_binding(),
            b.counters.as_entire_binding(),
        ];
        self.record(passes::SETUP, pass, b, linear(list.triangle_count), &setup)?;
        self.plan(passes::PLAN_CLIPPED, pass, b)?;
        let clipped = Workgroups::Planned(&b.plans, layout::PLAN_CLIPPED);
        self.record(passes::SETUP_CLIPPED, pass, b, clipped, &setup)
    }

    fn plan(
        &mut self,
        plan: &'static Pass,
        pass: &mut wgpu::ComputePass<'_>,
        b: &Bound,
    ) -> Result<(), RenderError> {
        let bindings = [b.counters.as_entire_binding(), b.plans.as_entire_binding(), b.items.resource()];
        self.record(plan, pass, b, Workgroups::Fixed([1, 1, 1]), &bindings)
    }

    fn bin(&mut self, pass: &mut wgpu::ComputePass<'_>, b: &Bound, band: &Band) -> Result<(), RenderError> {
        let bindings = [
            b.setups.resource(),
            b.tiles.as_entire_binding(),
            b.pairs.resource(),
            b.large.as_entire_binding(),
            b.counters.as_entire_binding(),
            b.order.as_entire_binding(),
        ];
        let setups = Workgroups::Planned(&b.plans, layout::PLAN_SETUP);
        let large = Workgroups::Planned(&b.plans, layout::PLAN_LARGE);
        self.plan(passes::PLAN_SETUPS, pass, b)?;
        self.record(passes::COUNT_SMALL, pass, b, setups, &bindings)?;
        self.plan(passes::PLAN_LARGE, pass, b)?;
        self.record(passes::COUNT_LARGE, pass, b, large, &bindings)?;
        self.record(passes::SCAN, pass, b, Workgroups::Fixed([1, 1, 1]), &bindings)?;
        self.record(passes::SORT_TILES, pass, b, linear(band.tiles_x * band.tiles_y), &bindings)?;
        self.plan(passes::PLAN_TILES, pass, b)?;
        self.record(passes::FILL_SMALL, pass, b, setups, &bindings)?;
        self.record(passes::FILL_LARGE, pass, b, large, &bindings)
    }

    fn pixels(&mut self, pass: &mut wgpu::ComputePass<'_>, b: &Bound) -> Result<(), RenderError> {
        let (scene, lights) = (self.scene, self.lights);
        let tiles = Workgroups::Planned(&b.plans, layout::PLAN_ACTIVE);
        let strips = Workgroups::Planned(&b.plans, layout::PLAN_ACTIVE_STRIPS);
        let blank = Workgroups::Planned(&b.plans, layout::PLAN_BLANK);
        let visibility = [
            b.setups.resource(),
            b.pairs.resource(),
            b.tiles.as_entire_binding(),
            b.items.resource(),
            b.pixels.as_entire_binding(),
            b.counters.as_entire_binding(),
            b.samples.as_entire_binding(),
            b.order.as_entire_binding(),
        ];
        self.record(passes::VISIBILITY, pass, b, strips, &visibility)?;
        if self.features.has(feature::MASKED) {
            self.record(
                passes::MASK,
                pass,
                b,
                tiles,
                &[
                    b.instances.resource(),
                    scene.materials.resource(),
                    scene.vertices.resource(),
                    b.clip.resource(),
                    scene.triangles.resource(),
                    scene.texels.resource(),
                    b.setups.resource(),
                    b.pairs.resource(),
                    b.tiles.as_entire_binding(),
                    b.samples.as_entire_binding(),
                    b.order.as_entire_binding(),
                ],
            )?;
        }
        if self.features.has(feature::LAYERED) {
            let mut layers = visibility.to_vec();
            layers.push(b.sorted.as_entire_binding());
            self.record(passes::LAYERS, pass, b, tiles, &layers)?;
        }
        self.plan(passes::PLAN_ITEMS, pass, b)?;
        let items = Workgroups::Planned(&b.plans, layout::PLAN_ITEM);
        self.record(
            passes::SHADE,
            pass,
            b,
            items,
            &[
                b.instances.resource(),
                scene.materials.resource(),
                scene.vertices.resource(),
                b.clip.resource(),
                scene.triangles.resource(),
                scene.texels.resource(),
                lights.tables.resource(),
                b.items.resource(),
                b.lit.resource(),
                b.frame.as_entire_binding(),
                b.srgb_table.as_entire_binding(),
            ],
        )?;
        let resolve = [
            b.items.resource(),
            b.lit.resource(),
            lights.background.resource(),
            b.pixels.as_entire_binding(),
            b.frame.as_entire_binding(),
            b.encoding.as_entire_binding(),
            b.order.as_entire_binding(),
        ];
        self.record(passes::RESOLVE, pass, b, tiles, &resolve)?;
        self.record(passes::RESOLVE_BLANK, pass, b, blank, &resolve)?;
        if self.features.has(feature::OUT_ID) {
            let coverage = [
                b.instances.resource(),
                b.items.resource(),
                b.pixels.as_entire_binding(),
                b.frame.as_entire_binding(),
                b.order.as_entire_binding(),
            ];
            self.record(passes::COVERAGE, pass, b, tiles, &coverage)?;
        }
        Ok(())
    }

    fn record(
        &mut self,
        what: &'static Pass,
        pass: &mut wgpu::ComputePass<'_>,
        bound: &Bound,
        workgroups: Workgroups<'_>,
        resources: &[wgpu::BindingResource<'_>],
    ) -> Result<(), RenderError> {
        if matches!(workgroups, Workgroups::Fixed([0, ..] | [_, 0, _])) {
            return Ok(());
        }
        let features = passes::relevant(what, self.features);
        if self.pipelines.len() > PIPELINES_MAX {
            self.pipelines.clear();
        }
        let pipeline = match self.pipelines.get(&(what.label, features)) {
            Some(pipeline) => pipeline,
            None => {
                let source = self
                    .edits
                    .iter()
                    .fold(source(what, features), |source, (from, to)| source.replace(from, to));
                let made = Pipeline::new(self.device, what, &source)?;
                self.pipelines.entry((what.label, features)).or_insert(made)
            }
        };
        let mut all = vec![self.constants.as_entire_binding(), bound.band.as_entire_binding()];
        all.extend_from_slice(resources);
        pipeline.record(self.device, pass, &all, workgroups);
        Ok(())
    }

    /// Makes room where a list was too short.
    fn shortage(&mut self, wanted: &Counters) -> Shortage {
        let most = u64::from(layout::LIST_WIDTH) * u64::from(layout::ROWS_MAX);
        let words = self.device.binding_bytes() / 4;
        let items_most =
            if self.features.has(feature::LAYERED) { words / 4 } else { ITEMS_MAX }.min(ITEMS_MAX);
        let c = &mut *self.capacities;
        let geometry = [
            ("set-up triangles", wanted.setups, &mut c.setups, most / 4),
            ("clipped triangles", wanted.clipped, &mut c.clipped, words),
        ];
        let mut short = Shortage::None;
        for (what, wanted, capacity, most) in geometry {
            short = short.or(grow(what, wanted, capacity, most, Shortage::Geometry));
        }
        let band = [
            ("large triangles", wanted.large, &mut c.large, words),
            ("triangles in tiles", wanted.pairs, &mut c.pairs, most),
            ("fragments", wanted.items, &mut c.items, items_most),
        ];
        for (what, wanted, capacity, most) in band {
            short = short.or(grow(what, wanted, capacity, most, Shortage::Band));
        }
        short
    }
}

impl Capacities {
    fn suffice(&self, c: &Counters) -> bool {
        u64::from(c.setups) <= self.setups
            && u64::from(c.clipped) <= self.clipped
            && u64::from(c.large) <= self.large
            && u64::from(c.pairs) <= self.pairs
            && u64::from(c.items) <= self.items
    }
}

/// What a band lacked.
#[derive(Debug, Clone, Copy)]
enum Shortage {
    None,
    /// Room for the band's lists, which was made.
    Band,
    /// Room for the frame's lists, which was made.
    Geometry,
    /// More room than there can be.
    TooMuch {
        what: &'static str,
        wanted: u64,
        got: u64,
    },
}

impl Shortage {
    /// The worse of two; geometry is first to be known whole.
    fn or(self, other: Shortage) -> Shortage {
        match (self, other) {
            (Shortage::None, other) => other,
            (Shortage::Band, Shortage::TooMuch { .. }) => other,
            (first, _) => first,
        }
    }
}

fn grow(what: &'static str, wanted: u32, capacity: &mut u64, most: u64, short: Shortage) -> Shortage {
    let wanted = u64::from(wanted);
    if wanted <= *capacity {
        return Shortage::None;
    }
    if wanted > most {
        return Shortage::TooMuch { what, wanted, got: most };
    }
    *capacity = (wanted + wanted / 4).min(most);
    short
}

/// The text of a pass made for some features.
pub(crate) fn source(pass: &Pass, features: Features) -> String {
    let mut constants = layout::constants();
    constants.extend(features.constants());
    shader::compose(pass.stem, &constants)
}

/// One invocation each, 64 a workgroup.
fn linear(count: u32) -> Workgroups<'static> {
    folded(count.div_ceil(64))
}

/// Workgroups in rows of [`DISPATCH_WIDTH`].
fn folded(count: u32) -> Workgroups<'static> {
    Workgroups::Fixed([count.min(DISPATCH_WIDTH), count.div_ceil(DISPATCH_WIDTH), 1])
}

const _: () = assert!(size_of::<FrameConstants>().is_multiple_of(16));
