//! A tile from set-ups to finished pixels, in one core's cache: visibility, fragments and layers, light, resolve.

use fearless_simd::{Level, f32x8, prelude::*};

use super::geometry::Geometry;
use crate::backend::Cancel;
use crate::draw::{DrawList, instance_flags};
use crate::exact::{Srgb8Encoder, flush};
use crate::frame::{
    COVERAGE_OWNERS, Color, Frame, IdCoverage, PX_PER_OFFSET, SharedPixel, sample_offsets_px16,
};
use crate::passes::light::{self, Lights};
use crate::passes::project::{Setup, mode};
use crate::passes::resolve::{self, LAYERS_MAX, Lit};
use crate::passes::surface::{self, InstanceData};
use crate::passes::vector::{always, fill, lanes};
use crate::passes::visibility::{
    self, BLOCK, BLOCKS, BLOCKS_X, NOTHING, TILE_HEIGHT, TILE_WIDTH, TileSamples,
};
use crate::prepared::{PackedMaterial, material_flags};
use crate::simd::dispatch;

/// Pixels of a tile.
const PIXELS: usize = TILE_WIDTH * TILE_HEIGHT;
/// Shading point code for the pixel's centre.
const CENTER: u8 = u8::MAX;
/// Layers a tile collects before it drops what lies too deep.
const LAYERS_PRUNED_AT: usize = PIXELS * LAYERS_MAX * 2;

/// What all tiles of a frame read.
pub struct TileContext<'a> {
    pub list: &'a DrawList,
    pub geometry: &'a Geometry<'a>,
    pub materials: &'a [PackedMaterial],
    pub indices: &'a [u32],
    pub texels: &'a [u32],
    pub lights: Lights<'a>,
    pub background: &'a [[f32; 4]],
}

/// One row of tiles of every buffer.
pub struct Band<'a> {
    /// Index of its first pixel in the image.
    first: usize,
    width: usize,
    height: usize,
    srgb8: Option<&'a mut [[u8; 4]]>,
    linear: Option<&'a mut [[f32; 4]]>,
    base: Option<&'a mut [[f32; 4]]>,
    depth: Option<&'a mut [f32]>,
    motion: Option<&'a mut [[f32; 2]]>,
    normal: Option<&'a mut [[f32; 3]]>,
    albedo: Option<&'a mut [[f32; 3]]>,
    id: Option<&'a mut [[u32; 2]]>,
    /// Pixels of several owners, found tile by tile.
    shared: Option<Vec<SharedPixel>>,
}

impl Band<'_> {
    /// Nothing drawn, in the buffers of which only drawn pixels are written.
    fn clear(&mut self) {
        fn fill<T: Copy>(buffer: &mut Option<&mut [T]>, value: T) {
            if let Some(buffer) = buffer {
                buffer.fill(value);
            }
        }
        fill(&mut self.depth, f32::INFINITY);
        fill(&mut self.motion, [0.0; 2]);
        fill(&mut self.normal, [0.0; 3]);
        fill(&mut self.albedo, [0.0; 3]);
        fill(&mut self.id, [0; 2]);
    }

    /// The pixels of several owners, by ascending index.
    pub fn into_shared(self) -> Vec<SharedPixel> {
        let mut shared = self.shared.unwrap_or_default();
        shared.sort_unstable_by_key(|pixel| pixel.index);
        shared
    }
}

/// Splits a frame into rows of tiles.
pub fn bands(frame: &mut Frame) -> Vec<Band<'_>> {
    let (width, height) = (frame.width as usize, frame.height as usize);
    let size = width * TILE_HEIGHT;
    fn chunks<'f, T>(buffer: &'f mut Option<Vec<T>>, size: usize) -> impl FnMut() -> Option<&'f mut [T]> {
        let mut chunks = buffer.as_mut().map(|b| b.chunks_mut(size));
        move || chunks.as_mut().and_then(Iterator::next)
    }
    let (mut srgb8, mut linear) = match &mut frame.color {
        Some(Color::Srgb8(pixels)) => (Some(pixels.chunks_mut(size)), None),
        Some(Color::Linear(pixels)) => (None, Some(pixels.chunks_mut(size))),
        None => (None, None),
    };
    let mut base = chunks(&mut frame.base, size);
    let mut depth = chunks(&mut frame.depth, size);
    let mut motion = chunks(&mut frame.motion, size);
    let mut normal = chunks(&mut frame.normal, size);
    let mut albedo = chunks(&mut frame.albedo, size);
    let mut id = chunks(&mut frame.id, size);
    let shares = frame.coverage.is_some();
    (0..super::tile_rows(height as u32))
        .map(|row| Band {
            width,
            height: TILE_HEIGHT.min(height - row * TILE_HEIGHT),
            srgb8: srgb8.as_mut().and_then(Iterator::next),
            linear: linear.as_mut().and_then(Iterator::next),
            base: base(),
            depth: depth(),
            motion: motion(),
            normal: normal(),
            albedo: albedo(),
            id: id(),
            shared: shares.then(Vec::new),
            first: row * size,
        })
        .collect()
}

/// A primitive to light at one pixel.
#[derive(Debug, Clone, Copy, Default)]
struct Item {
    setup: u32,
    /// Depth key at the shading point; layers only.
    key: u32,
    mask: u16,
    /// `block * 64 + y * 8 + x`.
    pixel: u16,
    /// Coverage sample that is the shading point, or [`CENTER`].
    point: u8,
    /// Whether the data outputs show it.
    first: bool,
}

/// Items and their light.
#[derive(Debug, Default)]
struct Items {
    items: Vec<Item>,
    /// First item of each pixel, one more at the end.
    first: Vec<u32>,
    red: Vec<f32>,
    green: Vec<f32>,
    blue: Vec<f32>,
    alpha: Vec<f32>,
}

impl Items {
    fn clear(&mut self) {
        self.items.clear();
        self.first.clear();
    }

    fn of_pixel(&self, pixel: usize) -> std::ops::Range<usize> {
        self.first[pixel] as usize..self.first[pixel + 1] as usize
    }

    fn lit(&self, range: std::ops::Range<usize>) -> impl Iterator<Item = Lit> + '_ {
        range.map(|k| Lit {
            radiance: [self.red[k], self.green[k], self.blue[k]],
            alpha: self.alpha[k],
            mask: u32::from(self.items[k].mask),
        })
    }
}

/// Buffers that a thread keeps from tile to tile.
#[derive(Debug, Default)]
pub struct Scratch {
    samples: TileSamples,
    fragments: Items,
    layers: Items,
    /// Samples a BLEND triangle covers, by pixel, and the pixels it touched.
    masks: Vec<u16>,
    touched: Vec<u16>,
    order: Order,
}

/// Items ordered by instance and, within one, by triangle: eight of one triangle share its corners.
#[derive(Debug, Default)]
struct Order {
    slot_of_instance: Vec<u32>,
    instances: Vec<u32>,
    /// First item of each instance in `items`, one more at the end.
    first: Vec<u32>,
    groups: Vec<Group>,
    /// Slots of groups by a hash of their set-up, [`NOTHING`] where free.
    table: Vec<u32>,
    /// Group of each item.
    slots: Vec<u32>,
    /// Item numbers.
    items: Vec<u32>,
}

/// Items of one triangle.
#[derive(Debug, Clone, Copy)]
struct Group {
    setup: u32,
    /// Place in the table.
    place: u32,
    /// Slot of its instance.
    instance: u32,
    count: u32,
    /// Place of its next item.
    next: u32,
}

/// Renders a row of tiles.
pub fn band(
    level: Level,
    context: &TileContext<'_>,
    cancel: &Cancel,
    scratch: &mut Scratch,
    row: usize,
    band: &mut Band<'_>,
) {
    let tiles_x = context.geometry.tiles_x();
    band.clear();
    for column in 0..tiles_x {
        if cancel.is_cancelled() {
            return;
        }
        let tile = Tile {
            context,
            ids: context.geometry.tile(row * tiles_x + column),
            px: [(column * TILE_WIDTH) as i32, (row * TILE_HEIGHT) as i32],
        };
        dispatch!(level, simd => tile.render(simd, scratch, band));
    }
}

struct Tile<'a> {
    context: &'a TileContext<'a>,
    ids: &'a [u32],
    px: [i32; 2],
}

impl Tile<'_> {
    #[inline(always)]
    fn render<S: Simd>(&self, simd: S, scratch: &mut Scratch, band: &mut Band<'_>) {
        let c = &self.context.list.constants;
        let key_far = if c.orthographic == 1 { 0.0 } else { crate::exact::recip(c.zfar.min(1e30)) };
        let drawn = !self.ids.is_empty();
        scratch.fragments.clear();
        scratch.layers.clear();
        if drawn {
            let span = tracing::trace_span!("raster.visibility").entered();
            scratch.samples.clear(c.samples as usize, key_far);
            self.visibility(simd, scratch);
            simd.vectorize(
                #[inline(always)]
                || collect_fragments(simd, self.context.geometry, &scratch.samples, &mut scratch.fragments),
            );
            drop(span);
            let _span = tracing::trace_span!("raster.light").entered();
            self.light(simd, &mut scratch.fragments, &mut scratch.order, Some(band));
            self.light(simd, &mut scratch.layers, &mut scratch.order, None);
        }
        let _span = tracing::trace_span!("raster.resolve").entered();
        self.resolve(simd, scratch, band, drawn);
    }

    /// Opaque and masked triangles into the samples, then blended ones into layers.
    #[inline(always)]
    fn visibility<S: Simd>(&self, simd: S, scratch: &mut Scratch) {
        let geometry = self.context.geometry;
        let mut blended = false;
        for &id in self.ids {
            let setup = geometry.setup(id);
            match setup.mode {
                mode::OPAQUE => visibility::draw(simd, setup, id, self.px, &mut scratch.samples),
                mode::MASK => self.draw_masked(simd, setup, id, &mut scratch.samples),
                _ => blended = true,
            }
        }
        if !blended {
            return;
        }
        scratch.masks.resize(PIXELS, 0);
        for &id in self.ids {
            let setup = geometry.setup(id);
            if setup.mode == mode::BLEND {
                self.collect_layers(simd, setup, id, scratch);
                if scratch.layers.items.len() > LAYERS_PRUNED_AT {
                    prune(&mut scratch.layers.items);
                }
            }
        }
        prune(&mut scratch.layers.items);
        index_pixels(&mut scratch.layers);
    }

    #[inline(always)]
    fn draw_masked<S: Simd>(&self, simd: S, setup: &Setup, id: u32, samples: &mut TileSamples) {
        let data = self.instance(setup.instance);
        let cutoff = f32x8::splat(simd, data.material.cutoff);
        let offsets = sample_offsets_px16(samples.samples as u32);
        visibility::walk(
            simd,
            setup,
            id,
            self.px,
            samples,
            #[inline(always)]
            |samples, mut s| {
                let x = lanes(
                    simd,
                    #[inline(always)]
                    |lane| self.x_px(s.block * 64 + lane, offsets[s.sample]),
                );
                let y = f32x8::splat(simd, self.y_px(s.block * 64 + s.y * 8, offsets[s.sample]));
                let alpha = surface::alpha(simd, &data, &[setup.triangle; 8], x, y);
                s.mask = s.mask & alpha.simd_ge(cutoff);
                visibility::store(simd, samples, id, &s);
            },
        );
    }

    #[inline(always)]
    fn collect_layers<S: Simd>(&self, simd: S, setup: &Setup, id: u32, scratch: &mut Scratch) {
        let (masks, touched) = (&mut scratch.masks, &mut scratch.touched);
        touched.clear();
        visibility::walk(
            simd,
            setup,
            id,
            self.px,
            &mut scratch.samples,
            #[inline(always)]
            |_, s| {
                let mut lanes = s.mask.to_bitmask();
                while lanes != 0 {
                    let pixel = s.block * 64 + s.y * 8 + lanes.trailing_zeros() as usize;
                    lanes &= lanes - 1;
                    if masks[pixel] == 0 {
                        touched.push(pixel as u16);
                    }
                    masks[pixel] |= 1 << s.sample;
                }
            },
        );
        let samples = self.context.list.constants.samples;
        for &pixel in touched.iter() {
            let mask = std::mem::take(&mut masks[pixel as usize]);
            let point = shading_point(mask, samples);
            scratch.layers.items.push(Item {
                setup: id,
                key: self.key_at(setup, pixel as usize, point).to_bits(),
                mask,
                pixel,
                point,
                first: false,
            });
        }
    }

    /// The depth key of a set-up at a shading point, as [`visibility::walk`] finds it.
    fn key_at(&self, setup: &Setup, pixel: usize, point: u8) -> f32 {
        let offset = offset_of(point, self.context.list.constants.samples);
        let (x, y) = position(pixel);
        let dx = ((self.px[0] + x) * 256 + 128 + 16 * offset[0] - setup.sx[0]) as f32;
        let dy = ((self.px[1] + y) * 256 + 128 + 16 * offset[1] - setup.sy[0]) as f32;
        let key = dx * setup.key_dx + (setup.key + dy * setup.key_dy);
        key.max(setup.key_min).min(setup.key_max)
    }

    /// Pixels from the image centre.
    #[inline(always)]
    fn x_px(&self, pixel: usize, offset: [i32; 2]) -> f32 {
        let x = self.px[0] + position(pixel).0;
        (x * 16 + 8 + offset[0]) as f32 * PX_PER_OFFSET - self.context.list.constants.width as f32 * 0.5
    }

    /// See [`Self::x_px`].
    #[inline(always)]
    fn y_px(&self, pixel: usize, offset: [i32; 2]) -> f32 {
        let y = self.px[1] + position(pixel).1;
        (y * 16 + 8 + offset[1]) as f32 * PX_PER_OFFSET - self.context.list.constants.height as f32 * 0.5
    }

    #[inline(always)]
    fn instance(&self, index: u32) -> InstanceData<'_> {
        let instance = &self.context.list.instances[index as usize];
        InstanceData {
            instance,
            material: &self.context.materials[instance.material as usize],
            vertices: self.context.geometry.vertices(instance),
            clip: self.context.geometry.clip(instance),
            previous: self.context.geometry.previous(instance),
            indices: &self.context.indices[instance.first_index as usize..],
            texels: self.context.texels,
        }
    }

    /// Lights all items, eight of one instance at a time. Not inlined, so that it is built once for both its callers.
    #[inline(never)]
    fn light<S: Simd>(&self, simd: S, items: &mut Items, order: &mut Order, band: Option<&mut Band<'_>>) {
        if items.items.is_empty() {
            return;
        }
        let count = items.items.len();
        for channel in [&mut items.red, &mut items.green, &mut items.blue, &mut items.alpha] {
            channel.clear();
            channel.resize(count, 0.0);
        }
        order.sort(self.context, &items.items);
        let mut band = band;
        for (slot, &instance) in order.instances.iter().enumerate() {
            let data = self.instance(instance);
            let members = &order.items[order.first[slot] as usize..order.first[slot + 1] as usize];
            for batch in members.chunks(8) {
                simd.vectorize(
                    #[inline(always)]
                    || self.light_batch(simd, &data, batch, items, band.as_deref_mut()),
                );
            }
        }
    }

    #[inline(always)]
    fn light_batch<S: Simd>(
        &self,
        simd: S,
        data: &InstanceData<'_>,
        batch: &[u32],
        items: &mut Items,
        band: Option<&mut Band<'_>>,
    ) {
        let c = &self.context.list.constants;
        let mut triangles = [0; 8];
        let mut x = [0.0; 8];
        let mut y = [0.0; 8];
        for lane in 0..8 {
            let item = &items.items[batch[lane.min(batch.len() - 1)] as usize];
            let offset = offset_of(item.point, c.samples);
            triangles[lane] = self.context.geometry.setup(item.setup).triangle;
            x[lane] = self.x_px(item.pixel as usize, offset);
            y[lane] = self.y_px(item.pixel as usize, offset);
        }
        let [vx, vy, vz, _] = c.to_viewer;
        let to_viewer = (c.orthographic == 1).then_some([vx, vy, vz]);
        let (x, y) = (f32x8::simd_from(simd, x), f32x8::simd_from(simd, y));
        let s = surface::evaluate(simd, data, to_viewer, &triangles, x, y);
        let unlit = data.material.flags & material_flags::UNLIT != 0
            || data.instance.flags & instance_flags::UNLIT != 0;
        let radiance = if unlit { s.base } else { light::shade(simd, &self.context.lights, &s) };
        let one = f32x8::splat(simd, 1.0);
        let alpha = if data.material.flags & material_flags::BLEND != 0 {
            s.alpha.max(f32x8::splat(simd, 0.0)).min(one)
        } else {
            one
        };
        for (lane, &k) in batch.iter().enumerate() {
            let k = k as usize;
            items.red[k] = radiance.x[lane];
            items.green[k] = radiance.y[lane];
            items.blue[k] = radiance.z[lane];
            items.alpha[k] = alpha[lane];
        }
        let Some(band) = band else { return };
        for (lane, &k) in batch.iter().enumerate() {
            let item = &items.items[k as usize];
            if !item.first {
                continue;
            }
            let (px, py) = position(item.pixel as usize);
            let (x, y) = ((self.px[0] + px) as usize, py as usize);
            // Tiles reach beyond the image's right and lower edge.
            if x >= band.width || y >= band.height {
                continue;
            }
            let at = y * band.width + x;
            if let Some(depth) = &mut band.depth {
                depth[at] = flush(s.depth[lane]);
            }
            if let Some(motion) = &mut band.motion {
                motion[at] = [flush(s.motion[0][lane]), flush(s.motion[1][lane])];
            }
            if let Some(normal) = &mut band.normal {
                normal[at] = [s.normal.x[lane], s.normal.y[lane], s.normal.z[lane]].map(flush);
            }
            if let Some(albedo) = &mut band.albedo {
                albedo[at] = [s.base.x[lane], s.base.y[lane], s.base.z[lane]].map(flush);
            }
            if let Some(id) = &mut band.id {
                id[at] = [data.instance.node_id, data.instance.primitive_id];
            }
        }
    }

    /// Adds pixels up and writes them.
    #[inline(always)]
    fn resolve<S: Simd>(&self, simd: S, scratch: &Scratch, band: &mut Band<'_>, drawn: bool) {
        let c = &self.context.list.constants;
        let encoder = Srgb8Encoder::new();
        let width = (band.width - self.px[0] as usize).min(TILE_WIDTH);
        let zero = f32x8::splat(simd, 0.0);
        let one = f32x8::splat(simd, 1.0);
        let lane_px = f32x8::simd_from(simd, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        // Where nothing is drawn, all pixels are alike unless the environment shows.
        let blank = resolve::finish(simd, c, self.context.background, [zero; 4], one, zero, zero);
        let mut blank_srgb8 = [[0; 4]; BLOCK];
        resolve::encode_srgb8(&encoder, &blank.display, &mut blank_srgb8);
        for y in 0..band.height {
            for bx in 0..width.div_ceil(BLOCK) {
                let pixel = ((y / BLOCK) * BLOCKS_X + bx) * 64 + (y % BLOCK) * BLOCK;
                let at = y * band.width + self.px[0] as usize + bx * BLOCK;
                let lanes = (width - bx * BLOCK).min(BLOCK);
                let sum = if drawn { sum_row(simd, c.samples, scratch, pixel) } else { None };
                if let Some(shared) = &mut band.shared
                    && sum.is_some()
                {
                    for lane in 0..lanes {
                        if let Some(owners) = self.owners(c.samples, &scratch.fragments, pixel + lane) {
                            shared.push(SharedPixel { index: (band.first + at + lane) as u32, owners });
                        }
                    }
                }
                let done = match sum {
                    None if c.background != 2 => {
                        if let Some(out) = &mut band.srgb8 {
                            out[at..at + lanes].copy_from_slice(&blank_srgb8[..lanes]);
                        }
                        if band.linear.is_none() && band.base.is_none() {
                            continue;
                        }
                        blank
                    }
                    sum => {
                        let (color, background) = sum.unwrap_or(([zero; 4], one));
                        let x = lane_px + self.x_px(pixel, [0, 0]);
                        let y = f32x8::splat(simd, self.y_px(pixel, [0, 0]));
                        let done = resolve::finish(simd, c, self.context.background, color, background, x, y);
                        if let Some(out) = &mut band.srgb8 {
                            resolve::encode_srgb8(&encoder, &done.display, &mut out[at..at + lanes]);
                        }
                        done
                    }
                };
                if let Some(base) = &mut band.base {
                    for lane in 0..lanes {
                        base[at + lane] = fill(|k| done.base[k][lane]);
                    }
                }
                if let Some(out) = &mut band.linear {
                    resolve::encode_linear(&done.display, &mut out[at..at + lanes]);
                }
            }
        }
    }

    /// The four ids that own most samples of a pixel, most first, ties to the lower id. None where one owns all.
    fn owners(&self, samples: u32, fragments: &Items, pixel: usize) -> Option<[IdCoverage; COVERAGE_OWNERS]> {
        let range = fragments.of_pixel(pixel);
        if range.is_empty() || fragments.items[range.start].mask.count_ones() == samples {
            return None;
        }
        let mut owners: [IdCoverage; 17] = Default::default();
        let mut count = 0;
        let mut left = samples;
        for k in range {
            let item = &fragments.items[k];
            let setup = self.context.geometry.setup(item.setup);
            let instance = &self.context.list.instances[setup.instance as usize];
            let id = [instance.node_id, instance.primitive_id];
            let owned = item.mask.count_ones();
            left -= owned;
            match owners[..count].iter_mut().find(|o| o.id == id) {
                Some(owner) => owner.samples += owned,
                None => {
                    owners[count] = IdCoverage { id, samples: owned };
                    count += 1;
                }
            }
        }
        if left > 0 {
            owners[count] = IdCoverage { id: [0, 0], samples: left };
            count += 1;
        }
        owners[..count].sort_unstable_by_key(|o| (u32::MAX - o.samples, o.id));
        (count > 1).then(|| [owners[0], owners[1], owners[2], owners[3]])
    }
}

/// x and y of a pixel in the tile.
#[inline(always)]
fn position(pixel: usize) -> (i32, i32) {
    let (block, inner) = (pixel / 64, pixel % 64);
    (((block % BLOCKS_X) * BLOCK + inner % BLOCK) as i32, ((block / BLOCKS_X) * BLOCK + inner / BLOCK) as i32)
}

#[inline(always)]
fn offset_of(point: u8, samples: u32) -> [i32; 2] {
    if point == CENTER { [0, 0] } else { sample_offsets_px16(samples)[point as usize] }
}

/// The centre where all samples are covered, else the first one that is.
#[inline(always)]
fn shading_point(mask: u16, samples: u32) -> u8 {
    if mask.count_ones() == samples { CENTER } else { mask.trailing_zeros() as u8 }
}

/// Finds the distinct triangles of each pixel, in order of their first sample. Set-ups that clipping made of one
/// triangle are that triangle.
#[inline(always)]
fn collect_fragments<S: Simd>(simd: S, geometry: &Geometry<'_>, samples: &TileSamples, out: &mut Items) {
    let n = samples.samples;
    let full = ((1u32 << n) - 1) as u16;
    for block in 0..BLOCKS {
        for y in 0..BLOCK {
            let row0 = &samples.ids[samples.row(block, 0, y)..][..8];
            let first = fearless_simd::u32x8::from_slice(simd, row0);
            let mut same = fearless_simd::mask32x8::splat(simd, true);
            for s in 1..n {
                let row = &samples.ids[samples.row(block, s, y)..][..8];
                same = same & first.simd_eq(fearless_simd::u32x8::from_slice(simd, row));
            }
            let same = same.to_bitmask();
            for x in 0..8 {
                let pixel = (block * 64 + y * 8 + x) as u16;
                out.first.push(out.items.len() as u32);
                if same >> x & 1 == 1 {
                    if row0[x] != NOTHING {
                        out.items.push(Item {
                            setup: row0[x],
                            key: 0,
                            mask: full,
                            pixel,
                            point: CENTER,
                            first: true,
                        });
                    }
                } else {
                    collect_mixed(geometry, samples, block, y, x, pixel, &mut out.items);
                }
            }
        }
    }
    out.first.push(out.items.len() as u32);
}

fn collect_mixed(
    geometry: &Geometry<'_>,
    samples: &TileSamples,
    block: usize,
    y: usize,
    x: usize,
    pixel: u16,
    out: &mut Vec<Item>,
) {
    let n = samples.samples;
    let begin = out.len();
    let same = |p: u32, q: u32| p == q || geometry.setup(p).triangle == geometry.setup(q).triangle;
    for s in 0..n {
        let id = samples.ids[samples.row(block, s, y) + x];
        if id == NOTHING {
            continue;
        }
        match out[begin..].iter_mut().find(|i| same(i.setup, id)) {
            Some(item) => item.mask |= 1 << s,
            None => out.push(Item { setup: id, key: 0, mask: 1 << s, pixel, point: s as u8, first: s == 0 }),
        }
    }
    if let [whole] = &mut out[begin..] {
        whole.point = shading_point(whole.mask, n as u32);
    }
}

/// Orders layers by pixel, nearest first, and drops what lies too deep.
fn prune(layers: &mut Vec<Item>) {
    layers.sort_unstable_by_key(|i| (i.pixel, u32::MAX - i.key, i.setup));
    let mut depth = 0;
    let mut last = u16::MAX;
    layers.retain(|i| {
        depth = if i.pixel == last { depth + 1 } else { 1 };
        last = i.pixel;
        depth <= LAYERS_MAX
    });
}

fn index_pixels(layers: &mut Items) {
    let mut k = 0;
    for pixel in 0..=PIXELS {
        while k < layers.items.len() && (layers.items[k].pixel as usize) < pixel {
            k += 1;
        }
        layers.first.push(k as u32);
    }
}

impl Order {
    /// Groups items; those of a triangle keep their order.
    fn sort(&mut self, context: &TileContext<'_>, items: &[Item]) {
        self.slot_of_instance.resize(context.list.instances.len(), NOTHING);
        let room = (2 * items.len()).next_power_of_two().max(self.table.len());
        self.table.resize(room, NOTHING);
        self.instances.clear();
        self.first.clear();
        self.groups.clear();
        self.slots.clear();
        let (mut last_setup, mut last_slot) = (NOTHING, 0);
        for item in items {
            if item.setup != last_setup {
                (last_setup, last_slot) = (item.setup, self.group_of(context, item.setup));
            }
            self.groups[last_slot as usize].count += 1;
            self.slots.push(last_slot);
        }
        for group in &self.groups {
            self.first[group.instance as usize + 1] += group.count;
        }
        for slot in 0..self.instances.len() {
            self.first[slot + 1] += self.first[slot];
        }
        for group in &mut self.groups {
            let at = &mut self.first[group.instance as usize];
            group.next = *at;
            *at += group.count;
        }
        // Each has moved on to where the next one begins.
        self.first.rotate_right(1);
        self.first[0] = 0;
        self.items.clear();
        self.items.resize(items.len(), 0);
        for (k, &slot) in self.slots.iter().enumerate() {
            let at = &mut self.groups[slot as usize].next;
            self.items[*at as usize] = k as u32;
            *at += 1;
        }
        for group in &self.groups {
            self.table[group.place as usize] = NOTHING;
        }
        for &instance in &self.instances {
            self.slot_of_instance[instance as usize] = NOTHING;
        }
    }

    /// The slot of a triangle's group.
    fn group_of(&mut self, context: &TileContext<'_>, setup: u32) -> u32 {
        let last = self.table.len() - 1;
        // Knuth's multiplicative hash: neighbouring ids land far apart.
        let mut place = (setup.wrapping_mul(0x9E37_79B1) >> 8) as usize & last;
        loop {
            let slot = self.table[place];
            if slot == NOTHING {
                break;
            }
            if self.groups[slot as usize].setup == setup {
                return slot;
            }
            place = (place + 1) & last;
        }
        let instance = context.geometry.setup(setup).instance;
        let instance_slot = &mut self.slot_of_instance[instance as usize];
        if *instance_slot == NOTHING {
            *instance_slot = self.instances.len() as u32;
            self.instances.push(instance);
            self.first.resize(self.instances.len() + 1, 0);
        }
        let slot = self.groups.len() as u32;
        self.table[place] = slot;
        self.groups.push(Group { setup, place: place as u32, instance: *instance_slot, count: 0, next: 0 });
        slot
    }
}

/// Sums of eight neighbouring pixels: colour and what shows of the background. None where nothing is drawn.
#[inline(always)]
fn sum_row<S: Simd>(
    simd: S,
    samples: u32,
    scratch: &Scratch,
    pixel: usize,
) -> Option<([f32x8<S>; 4], f32x8<S>)> {
    let (fragments, layers) = (&scratch.fragments, &scratch.layers);
    let layered = !layers.items.is_empty() && layers.first[pixel] != layers.first[pixel + 8];
    let begin = fragments.first[pixel] as usize;
    let count = fragments.first[pixel + 8] as usize - begin;
    let zero = f32x8::splat(simd, 0.0);
    let one = f32x8::splat(simd, 1.0);
    if !layered && count == 0 {
        return None;
    }
    if !layered && count == 8 && fragments.items[begin..begin + 8].iter().all(|i| i.point == CENTER) {
        let channel = always(
            #[inline(always)]
            |values: &[f32]| f32x8::from_slice(simd, &values[begin..begin + 8]),
        );
        let color = [channel(&fragments.red), channel(&fragments.green), channel(&fragments.blue), one];
        return Some((color, zero));
    }
    let mut color = [[0.0f32; 8]; 4];
    let mut background = [0.0f32; 8];
    for lane in 0..8 {
        let of_fragments = fragments.lit(fragments.of_pixel(pixel + lane));
        let sum = if layered {
            resolve::pixel(samples, layers.lit(layers.of_pixel(pixel + lane)), of_fragments)
        } else {
            resolve::opaque_pixel(samples, of_fragments)
        };
        for k in 0..4 {
            color[k][lane] = sum.color[k];
        }
        background[lane] = sum.background;
    }
    let color = [
        f32x8::simd_from(simd, color[0]),
        f32x8::simd_from(simd, color[1]),
        f32x8::simd_from(simd, color[2]),
        f32x8::simd_from(simd, color[3]),
    ];
    Some((color, f32x8::simd_from(simd, background)))
}
