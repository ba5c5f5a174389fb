//! A tile from set-ups to finished pixels, in one core's cache: visibility, fragments and layers, light, resolve.

use fearless_simd::{Level, f32x8, prelude::*};

use super::band::Band;
use super::geometry::Geometry;
use super::items::{
    CENTER, Item, Items, LAYERS_PRUNED_AT, PIXELS, collect_fragments, index_pixels, offset_of, position,
    prune, shading_point,
};
use super::order::Order;
use super::traced::{TracedLight, lane_of};
use crate::accel::{SceneTree, Stack};
use crate::backend::Cancel;
use crate::draw::{DrawList, instance_flags};
use crate::exact::{Srgb8Encoder, flush};
use crate::frame::{COVERAGE_OWNERS, IdCoverage, PX_PER_OFFSET, SharedPixel, sample_offsets_px16};
use crate::passes::hit::Matter;
use crate::passes::light::{self, Lights};
use crate::passes::project::{Setup, mode};
use crate::passes::resolve;
use crate::passes::shadow::Origin;
use crate::passes::surface::{self, InstanceData, Surface};
use crate::passes::vector::{always, fill, lanes};
use crate::passes::visibility::{self, BLOCK, BLOCKS_X, TILE_HEIGHT, TILE_WIDTH, TileSamples};
use crate::prepared::{PackedMaterial, material_flags};
use crate::simd::dispatch;

/// What all tiles of a frame read.
pub struct TileContext<'a> {
    pub list: &'a DrawList,
    pub geometry: &'a Geometry<'a>,
    pub materials: &'a [PackedMaterial],
    pub indices: &'a [u32],
    pub texels: &'a [u32],
    pub lights: Lights<'a>,
    pub background: &'a [[f32; 4]],
    /// What rays meet; where there are none, absent.
    pub rays: Option<&'a SceneTree>,
    pub matter: Matter<'a>,
    /// Light that was traced before; absent where light is classic.
    pub traced: Option<TracedLight<'a>>,
}

/// Buffers that a thread keeps from tile to tile.
#[derive(Debug, Default)]
pub struct Scratch {
    samples: TileSamples,
    pub fragments: Items,
    pub layers: Items,
    /// Samples a BLEND triangle covers, by pixel, and the pixels it touched.
    masks: Vec<u16>,
    touched: Vec<u16>,
    pub order: Order,
    pub rays: RayScratch,
}

/// What rays need.
#[derive(Debug, Default)]
pub struct RayScratch {
    pub stack: Stack,
    /// Lanes that each light reaches.
    reaching: Vec<u8>,
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

/// A tile of the image.
pub struct Tile<'a> {
    pub context: &'a TileContext<'a>,
    pub ids: &'a [u32],
    /// First pixel.
    pub px: [i32; 2],
}

impl Tile<'_> {
    #[inline(always)]
    fn render<S: Simd>(&self, simd: S, scratch: &mut Scratch, band: &mut Band<'_>) {
        let drawn = self.collect(simd, scratch);
        if drawn {
            let _span = tracing::trace_span!("raster.light").entered();
            let Scratch { fragments, layers, order, rays, .. } = scratch;
            self.light(simd, fragments, order, rays, Some(band));
            self.light(simd, layers, order, rays, None);
        }
        let _span = tracing::trace_span!("raster.resolve").entered();
        self.resolve(simd, scratch, band, drawn);
    }

    /// Finds what covers the samples: fragments and layers. False where no triangle touches the tile.
    #[inline(always)]
    pub fn collect<S: Simd>(&self, simd: S, scratch: &mut Scratch) -> bool {
        let c = &self.context.list.constants;
        let key_far = if c.orthographic == 1 { 0.0 } else { crate::exact::recip(c.zfar.min(1e30)) };
        scratch.fragments.clear();
        scratch.layers.clear();
        if self.ids.is_empty() {
            return false;
        }
        let _span = tracing::trace_span!("raster.visibility").entered();
        scratch.samples.clear(c.samples as usize, key_far);
        self.visibility(simd, scratch);
        simd.vectorize(
            #[inline(always)]
            || collect_fragments(simd, self.context.geometry, &scratch.samples, &mut scratch.fragments),
        );
        true
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
                layer: true,
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
    pub fn instance(&self, index: u32) -> InstanceData<'_> {
        let instance = &self.context.list.instances[index as usize];
        InstanceData {
            index,
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
    fn light<S: Simd>(
        &self,
        simd: S,
        items: &mut Items,
        order: &mut Order,
        rays: &mut RayScratch,
        band: Option<&mut Band<'_>>,
    ) {
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
        for (instance, members) in order.by_instance() {
            let data = self.instance(instance);
            for batch in members.chunks(8) {
                simd.vectorize(
                    #[inline(always)]
                    || self.light_batch(simd, &data, batch, items, rays, band.as_deref_mut()),
                );
            }
        }
    }

    /// Evaluates up to eight items of one instance, and their triangles; lanes beyond repeat the last.
    #[inline(always)]
    pub fn surfaces<S: Simd>(
        &self,
        simd: S,
        data: &InstanceData<'_>,
        batch: &[u32],
        items: &[Item],
    ) -> ([u32; 8], Surface<S>) {
        let c = &self.context.list.constants;
        let mut triangles = [0; 8];
        let mut x = [0.0; 8];
        let mut y = [0.0; 8];
        for lane in 0..8 {
            let item = &items[batch[lane.min(batch.len() - 1)] as usize];
            let offset = offset_of(item.point, c.samples);
            triangles[lane] = self.context.geometry.setup(item.setup).triangle;
            x[lane] = self.x_px(item.pixel as usize, offset);
            y[lane] = self.y_px(item.pixel as usize, offset);
        }
        let [vx, vy, vz, _] = c.to_viewer;
        let to_viewer = (c.orthographic == 1).then_some([vx, vy, vz]);
        let (x, y) = (f32x8::simd_from(simd, x), f32x8::simd_from(simd, y));
        (triangles, surface::evaluate(simd, data, to_viewer, &triangles, x, y))
    }

    #[inline(always)]
    fn light_batch<S: Simd>(
        &self,
        simd: S,
        data: &InstanceData<'_>,
        batch: &[u32],
        items: &mut Items,
        rays: &mut RayScratch,
        band: Option<&mut Band<'_>>,
    ) {
        let (triangles, s) = self.surfaces(simd, data, batch, &items.items);
        let unlit = data.material.flags & material_flags::UNLIT != 0
            || data.instance.flags & instance_flags::UNLIT != 0;
        let radiance = if unlit {
            s.base
        } else if let Some(traced) = &self.context.traced {
            traced.radiance(simd, self, data, batch, &items.items, &s)
        } else {
            let reaching = self.context.rays.map(|tree| {
                self.shadows(simd, tree, data, &triangles, batch.len(), &s, rays);
                rays.reaching.as_slice()
            });
            light::shade(simd, &self.context.lights, &s, reaching)
        };
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
            if let Some(traced) = &self.context.traced {
                let own = traced.own(data, &s, lane);
                if let Some(reflectance) = &mut band.reflectance {
                    reflectance[at] = own.reflectance;
                }
                if let Some(emission) = &mut band.emission {
                    emission[at] = own.emission;
                }
            }
        }
    }

    /// Finds which lights reach which of `count` lanes.
    #[inline(always)]
    fn shadows<S: Simd>(
        &self,
        simd: S,
        tree: &SceneTree,
        data: &InstanceData<'_>,
        triangles: &[u32; 8],
        count: usize,
        s: &Surface<S>,
        rays: &mut RayScratch,
    ) {
        let matter = &self.context.matter;
        rays.reaching.clear();
        rays.reaching.resize(self.context.lights.punctual.len(), 0);
        for lane in 0..count {
            let flat_normal = matter.place(data.index, triangles[lane], [0.0; 3]).flat_normal();
            let position = lane_of(&s.position_eye, lane);
            let origin = Origin::new(data.instance, triangles[lane], position, flat_normal);
            for (k, light) in self.context.lights.punctual.iter().enumerate() {
                let query = origin.to_light(light);
                let hit = tree.trace(simd, &query, &mut rays.stack, &|hit| matter.casts_shadow(hit));
                rays.reaching[k] |= u8::from(hit.is_none()) << lane;
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
                            shared.push(SharedPixel::new((band.first + at + lane) as u32, owners));
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
                        let (mut color, background) = sum.unwrap_or(([zero; 4], one));
                        if let Some(traced) = &self.context.traced {
                            self.add_extra(simd, traced, pixel, lanes, &mut color);
                        }
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

    /// Adds the traced light that is kept for whole pixels.
    #[inline(always)]
    fn add_extra<S: Simd>(
        &self,
        simd: S,
        traced: &TracedLight<'_>,
        pixel: usize,
        count: usize,
        color: &mut [f32x8<S>; 4],
    ) {
        let (dx, dy) = position(pixel);
        let width = self.context.list.constants.width as usize;
        let at = (self.px[1] + dy) as usize * width + (self.px[0] + dx) as usize;
        let pixels = &traced.pixels[at..at + count];
        for (k, channel) in color[..3].iter_mut().enumerate() {
            let extra = lanes(
                simd,
                #[inline(always)]
                |lane| pixels.get(lane).map_or(0.0, |p| p.extra.array()[k]),
            );
            *channel = *channel + extra;
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
