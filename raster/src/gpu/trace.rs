//! Traced light on the device: guides of the whole image, then light by samples.

use std::ops::Range;

use super::buffers;
use super::layout::{self, Band, Counters};
use super::lists::List;
use super::pass::Workgroups;
use super::passes;
use super::record::{Bound, Recorder};
use super::render::{FrameOnDevice, Stage};
use super::resident::SceneLists;
use super::traced::{GUIDE_WORDS, PackedGuide, PackedPixelLight, Tracing, guide_from};
use crate::accumulate::{Accumulated, CHANNELS, Sums, runs};
use crate::frame::RenderError;
use crate::passes::gather::Guide;
use crate::pixel_light::PixelLight;

impl FrameOnDevice<'_> {
    /// What each pixel's light is traced for.
    pub fn guides(&mut self) -> Result<Vec<Guide>, RenderError> {
        let mut guides = Vec::with_capacity(self.pixel_count());
        self.bands(&mut Stage::Guide(&mut guides))?;
        Ok(guides)
    }

    /// Sums of samples.
    pub fn accumulate(&mut self, guides: &[Guide], samples: Range<u32>) -> Result<Accumulated, RenderError> {
        let mut all = Accumulated::default();
        for (first, count) in runs(samples) {
            let mut sums = Vec::with_capacity(self.pixel_count());
            self.bands(&mut Stage::Trace { guides, first, count, sums: &mut sums })?;
            all.push(first, count, sums);
        }
        Ok(all)
    }

    pub(super) fn guide_band(
        &mut self,
        bound: &Bound,
        mut commands: wgpu::CommandEncoder,
        pixels: usize,
        guides: &mut Vec<Guide>,
    ) -> Result<Counters, RenderError> {
        commands.clear_buffer(&bound.found, 0, None);
        self.recorder.guide(&mut commands.begin_compute_pass(&Default::default()), bound)?;
        let words = pixels * GUIDE_WORDS as usize;
        self.read(commands, bound, (&bound.found, 0, words), |words| {
            guides.extend(words.chunks_exact(GUIDE_WORDS as usize).map(guide_from));
        })
    }

    /// Traces a run of samples of a band whose items are listed.
    pub(super) fn trace_band(
        &mut self,
        bound: &Bound,
        band: &Band,
        pixels: usize,
        samples: Range<u32>,
        sums: &mut Vec<Sums>,
    ) -> Result<Counters, RenderError> {
        let device = self.device;
        let levels = samples.len().ilog2();
        let mut commands = device.wgpu().create_command_encoder(&Default::default());
        // Where no triangle is, nothing adds to sums.
        commands.clear_buffer(&bound.sums, 0, None);
        self.recorder.points(&mut commands.begin_compute_pass(&Default::default()), bound)?;
        device.submit(commands)?;
        let pixel_count = self.list.constants.width * band.tiles_y * layout::TILE;
        for sample in samples.clone() {
            if self.job.cancel.is_cancelled() {
                return Err(RenderError::Cancelled);
            }
            let merges = (sample - samples.start).trailing_ones();
            let tracing = Tracing { sample, merges, pixel_count, ..self.tracing };
            self.pool.stored(device, "tracing", &tracing)?;
            let mut commands = device.wgpu().create_command_encoder(&Default::default());
            self.recorder.sample(&mut commands.begin_compute_pass(&Default::default()), bound)?;
            let index = device.submit(commands)?;
            device.wait(index)?;
        }
        let commands = device.wgpu().create_command_encoder(&Default::default());
        let level_bytes = u64::from(pixel_count) * size_of::<Sums>() as u64;
        let words = pixels * CHANNELS;
        self.read(
            commands,
            bound,
            (&bound.sums, u64::from(levels) * level_bytes, words),
            |words: &[u32]| {
                let values: &[f32] = bytemuck::cast_slice(words);
                sums.extend_from_slice(values.as_chunks::<CHANNELS>().0);
            },
        )
    }

    /// Brings the guides of a band to the device, and those of the rows beside it; and their light, where it is known.
    pub(super) fn load_guides(
        &mut self,
        bound: &Bound,
        band: &Band,
        guides: &[Guide],
        light: &[PixelLight],
    ) -> Result<(), RenderError> {
        let c = &self.list.constants;
        let end = (band.first_tile_row + band.tiles_y) * layout::TILE + 1;
        let rows = band.first_guide_row as usize..end.min(c.height) as usize;
        let width = c.width as usize;
        let range = rows.start * width..rows.end * width;
        let packed: Vec<PackedGuide> = guides[range.clone()].iter().map(PackedGuide::from).collect();
        bound.guides.write(self.device, 0, bytemuck::cast_slice(&packed));
        if !light.is_empty() {
            let packed: Vec<PackedPixelLight> = light[range].iter().map(PackedPixelLight::from).collect();
            bound.traced_light.write(self.device, 0, bytemuck::cast_slice(&packed));
        }
        self.device.check()
    }

    /// Submits, and brings back what the lists wanted and words of a buffer from a byte on; shows those unless a list was
    /// too short.
    pub(super) fn read(
        &mut self,
        mut commands: wgpu::CommandEncoder,
        bound: &Bound,
        (buffer, at, words): (&wgpu::Buffer, u64, usize),
        read_with: impl FnOnce(&[u32]),
    ) -> Result<Counters, RenderError> {
        let bytes = words as u64 * 4;
        let counter_bytes = size_of::<Counters>() as u64;
        let readback = self.pool.readback(self.device, "readback", bytes + counter_bytes)?;
        commands.copy_buffer_to_buffer(&bound.counters, 0, &readback, 0, counter_bytes);
        if bytes > 0 {
            commands.copy_buffer_to_buffer(buffer, at, &readback, counter_bytes, bytes);
        }
        let index = self.device.submit(commands)?;
        let counter_words = size_of::<Counters>() / 4;
        let mut counters = Counters::default();
        let capacities = *self.capacities;
        buffers::read(self.device, &readback, index, counter_words + words, |words: &[u32]| {
            counters = *bytemuck::from_bytes(bytemuck::cast_slice(&words[..counter_words]));
            if capacities.suffice(&counters) {
                read_with(&words[counter_words..]);
            }
        })?;
        Ok(counters)
    }
}

impl Recorder<'_> {
    /// What triangles look like: the bindings that all shaders have which evaluate them.
    fn surface<'b>(scene: &'b SceneLists, b: &'b Bound) -> Vec<wgpu::BindingResource<'b>> {
        vec![
            b.instances.resource(),
            scene.materials.resource(),
            scene.vertices.resource(),
            b.clip.resource(),
            scene.triangles.resource(),
            scene.texels.resource(),
        ]
    }

    /// Finds what each pixel's light is to be traced for.
    pub fn guide(&mut self, pass: &mut wgpu::ComputePass<'_>, b: &Bound) -> Result<(), RenderError> {
        let items = Workgroups::Planned(&b.plans, layout::PLAN_ITEM);
        let mut bindings = Self::surface(self.scene, b);
        bindings.extend([b.items.resource(), b.srgb_table.as_entire_binding(), b.found.as_entire_binding()]);
        self.record(passes::GUIDE, pass, b, items, &bindings)
    }

    /// Finds which items need light, and what for.
    pub fn points(&mut self, pass: &mut wgpu::ComputePass<'_>, b: &Bound) -> Result<(), RenderError> {
        let items = Workgroups::Planned(&b.plans, layout::PLAN_ITEM);
        let mut bindings = Self::surface(self.scene, b);
        bindings.extend([
            b.items.resource(),
            b.srgb_table.as_entire_binding(),
            b.guides.resource(),
            b.points.resource(),
        ]);
        self.record(passes::POINT, pass, b, items, &bindings)
    }

    /// Follows a path from each point, and adds what they find to the pixels' sums.
    pub fn sample(&mut self, pass: &mut wgpu::ComputePass<'_>, b: &Bound) -> Result<(), RenderError> {
        let Some(trees) = &self.trees else { return Ok(()) };
        let [nodes, triangles, placements] =
            [&trees.nodes, &trees.triangles, &trees.placements].map(List::clone);
        let emitters = self.emitters.clone();
        let lights = self.lights;
        let items = Workgroups::Planned(&b.plans, layout::PLAN_ITEM);
        let tiles = Workgroups::Planned(&b.plans, layout::PLAN_ACTIVE);
        let mut bindings = Self::surface(self.scene, b);
        bindings.extend([
            lights.tables.resource(),
            b.srgb_table.as_entire_binding(),
            b.points.resource(),
            nodes.resource(),
            triangles.resource(),
            placements.resource(),
            lights.background.resource(),
            lights.distribution().resource(),
            emitters.resource(),
            b.paths.resource(),
            b.tracing.as_entire_binding(),
        ]);
        self.record(passes::TRACE, pass, b, items, &bindings)?;
        self.record(
            passes::ACCUMULATE,
            pass,
            b,
            tiles,
            &[
                b.items.resource(),
                b.points.resource(),
                b.paths.resource(),
                b.pixels.as_entire_binding(),
                b.order.as_entire_binding(),
                b.sums.as_entire_binding(),
                b.tracing.as_entire_binding(),
            ],
        )
    }
}
