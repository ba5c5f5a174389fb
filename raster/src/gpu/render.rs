//! A frame on the device: geometry once, then bands of tile rows, so that memory does not grow with height.
//!
//! Lists whose length only the device knows get room by what the frames before needed; each band brings back
//! how much they wanted, and is rendered again with more where that was not enough.

use super::GpuSettings;
use super::buffers::{self, Pool, uniform};
use super::capacity::{Capacities, Shortage};
use super::device::Device;
use super::features::{Features, feature};
use super::layout::{self, Band, Counters, Encoding, TILE};
use super::lists::{List, ListPool};
use super::output::{self, Assembly};
use super::record::{Bound, DeformWork, Pipelines, Recorder};
use super::resident::Residents;
use crate::backend::Job;
use crate::draw::{DrawList, FrameConstants, instance_flags};
use crate::exact;
use crate::frame::{Frame, RenderError};

/// Most pixels of a band.
const BAND_PIXELS: u32 = 1 << 20;
/// Global triangle ids that leave room for the piece of a clipped one.
const TRIANGLES_MAX: u32 = u32::MAX / layout::PIECES + 1;

/// What a device keeps from frame to frame.
#[derive(Debug, Default)]
pub(crate) struct State {
    residents: Residents,
    pool: Pool,
    lists: ListPool,
    pipelines: Pipelines,
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
        let recorder = Recorder {
            device,
            list: &list,
            features,
            scene,
            lights,
            pipelines: &mut self.pipelines,
            edits: &self.edits,
            constants: uniform(device, "constants", &list.constants),
        };
        let mut frame = FrameOnDevice {
            device,
            job,
            list: &list,
            recorder,
            pool: &mut self.pool,
            lists: &mut self.lists,
            capacities: &mut self.capacities,
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
    recorder: Recorder<'a>,
    pool: &'a mut Pool,
    lists: &'a mut ListPool,
    capacities: &'a mut Capacities,
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
            let band_pixels = u64::from(c.width * rows * TILE);
            self.capacities.grow_for(band_pixels, u64::from(self.list.triangle_count));
            let band = self.band(first_row, rows);
            let bound = self.bind(&instances, &band)?;
            let pixels = c.width * (rows * TILE).min(c.height - first_row * TILE);
            let counters = self.run(&bound, &band, &deform, geometry_done, pixels, &mut assembly)?;
            let words = self.device.binding_bytes() / 4;
            let layered = self.recorder.features.has(feature::LAYERED);
            match self.capacities.grow(&counters, words, layered) {
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
        if self.recorder.features.has(feature::LAYERED) {
            pixel_bytes = pixel_bytes.max(u64::from(c.samples) * 8);
        }
        let pixels = u64::from(BAND_PIXELS).min(binding / pixel_bytes.max(16));
        (pixels / row_pixels).max(1) as u32
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
        let layered = self.recorder.features.has(feature::LAYERED);
        let c = &self.list.constants;
        let tiles = u64::from(band.tiles_x) * u64::from(band.tiles_y);
        let pixels = u64::from(c.width) * u64::from(band.tiles_y * TILE);
        let modes = if layered { 3 } else { 1 };
        let moments = if self.list.moving { 2 } else { 1 };
        let clip = u64::from(self.list.clip_vertex_count) * u64::from(layout::CLIP_PARTS) * moments;
        let sample_words = if layered { tiles * 64 * u64::from(c.samples) * 2 } else { 1 };
        let sorted_words = if layered { cap.items * 4 } else { 1 };
        let frame_words = pixels * u64::from(output::pixel_words(self.list));
        let lists = &mut *self.lists;
        let pool = &mut *self.pool;
        Ok(Bound {
            band: pool.uniform(device, "band", band)?,
            instances: instances.clone(),
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
            srgb_table: pool.uniform(device, "sRGB table", &layout::srgb_table())?,
            encoding: pool.uniform(device, "encoding", &Encoding::new())?,
        })
    }

    fn deform_work(&self) -> Result<DeformWork, RenderError> {
        let mut pose = Vec::new();
        let first = self.recorder.scene.fixed_vertex_count;
        let sources = &self.recorder.scene.sources;
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
                self.recorder.geometry(&mut pass, bound, deform)?;
            }
            self.recorder.bin(&mut pass, bound, band)?;
            self.recorder.pixels(&mut pass, bound)?;
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
}

const _: () = assert!(size_of::<FrameConstants>().is_multiple_of(16));
