//! Traced light on the CPU: guides of the whole image, then light by samples, then the resolve of classic frames with
//! that light.

use std::ops::Range;
use std::sync::Mutex;

use fearless_simd::{Level, prelude::*};

use super::items::{Item, Items, position};
use super::take;
use super::tile::{Scratch, Tile, TileContext};
use crate::accumulate::{Accumulated, Sample, Sums, Tree, runs};
use crate::backend::Cancel;
use crate::draw::instance_flags;
use crate::exact::flush;
use crate::frame::RenderError;
use crate::passes::bsdf::{Bsdf, Parameters};
use crate::passes::gather::{Guide, Guides};
use crate::passes::illuminate::across;
use crate::passes::resolve;
use crate::passes::sequence::Sequence;
use crate::passes::shadow::Origin;
use crate::passes::surface::{InstanceData, Surface};
use crate::passes::trace::{Start, Tracer};
use crate::passes::vector::{V3, Vector, lanes};
use crate::passes::visibility::{TILE_HEIGHT, TILE_WIDTH};
use crate::pixel_light::PixelLight;
use crate::prepared::material_flags;
use crate::simd::dispatch;

/// Light that was traced, as the resolve reads it.
#[derive(Clone, Copy)]
pub struct TracedLight<'a> {
    pub guides: Guides<'a>,
    pub pixels: &'a [PixelLight],
    pub tracer: &'a Tracer<'a>,
}

impl TracedLight<'_> {
    /// Radiance of a batch but for what is in [`PixelLight::extra`].
    #[inline(always)]
    pub fn radiance<S: Simd>(
        &self,
        simd: S,
        tile: &Tile<'_>,
        data: &InstanceData<'_>,
        batch: &[u32],
        items: &[Item],
        s: &Surface<S>,
    ) -> V3<S> {
        let mut out = [[0.0; 8]; 3];
        for (lane, &k) in batch.iter().enumerate() {
            let own = self.own(data, s, lane);
            let mut radiance = Vector::new(own.emission);
            if let Some(at) = self.source(tile, &items[k as usize], data.index, s, lane) {
                let light = &self.pixels[at];
                let [a, b, c, d, e, f] = own.reflectance;
                radiance = radiance
                    + light.diffuse * Vector::new([a, b, c])
                    + light.specular * Vector::new([d, e, f]);
            }
            for (channel, value) in out.iter_mut().zip(radiance.array()) {
                channel[lane] = value;
            }
        }
        let channel = |k: usize| lanes(simd, |lane| out[k][lane]);
        V3 { x: channel(0), y: channel(1), z: channel(2) }
    }

    /// What a surface does with the light that arrives.
    #[inline(always)]
    pub fn own<S: Simd>(&self, data: &InstanceData<'_>, s: &Surface<S>, lane: usize) -> Own {
        if !is_lit(data) {
            return Own { reflectance: [0.0; 6], emission: lane_of(&s.base, lane).map(flush).array() };
        }
        let bsdf = Bsdf::new(&parameters(s, lane), lane_of(&s.to_viewer, lane), &self.tracer.tables);
        let [a, b, c] = bsdf.diffuse_reflectance().array();
        let [d, e, f] = bsdf.specular_reflectance().array();
        let emission = lane_of(&s.emissive, lane).map(flush).array();
        Own { reflectance: [a, b, c, d, e, f].map(flush), emission }
    }

    /// The pixel whose light an item takes; layers take none.
    #[inline(always)]
    fn source<S: Simd>(
        &self,
        tile: &Tile<'_>,
        item: &Item,
        instance: u32,
        s: &Surface<S>,
        lane: usize,
    ) -> Option<usize> {
        if item.layer {
            return None;
        }
        let [x, y] = tile.pixel(item)?;
        self.guides.source(x, y, &guide(instance, s, lane))
    }
}

/// What a surface does with light: its reflectances, and what it emits.
pub struct Own {
    pub reflectance: [f32; 6],
    pub emission: [f32; 3],
}

/// What a frame's paths are traced with.
pub struct Work<'a> {
    pub level: Level,
    pub threads: usize,
    pub context: &'a TileContext<'a>,
    pub tracer: &'a Tracer<'a>,
    pub cancel: &'a Cancel,
    pub seed: u32,
}

impl Work<'_> {
    /// What each pixel's light is traced for.
    pub fn guides(&self) -> Result<Vec<Guide>, RenderError> {
        let mut guides = vec![Guide::default(); self.width() * self.height()];
        self.rows(&mut guides, |tile, scratch, row, simd_level| {
            dispatch!(simd_level, simd => tile.guides(simd, scratch, self.width(), row));
        })?;
        Ok(guides)
    }

    /// Sums of an aligned run of samples, a power of two.
    fn trace(&self, guides: Guides<'_>, first: u32, count: u32) -> Result<Vec<Sums>, RenderError> {
        let mut sums = vec![Sums::default(); self.width() * self.height()];
        self.rows(&mut sums, |tile, scratch, row, simd_level| {
            let run = Run { work: self, guides, first, count };
            dispatch!(simd_level, simd => run.tile(simd, tile, scratch, row));
        })?;
        Ok(sums)
    }

    /// Sums of samples.
    pub fn accumulate(&self, guides: &[Guide], samples: Range<u32>) -> Result<Accumulated, RenderError> {
        let _span = tracing::trace_span!("raster.trace").entered();
        let guides = Guides { width: self.width(), pixels: guides };
        let mut all = Accumulated::default();
        for (first, count) in runs(samples) {
            all.push(first, count, self.trace(guides, first, count)?);
        }
        Ok(all)
    }

    fn width(&self) -> usize {
        self.context.list.constants.width as usize
    }

    fn height(&self) -> usize {
        self.context.list.constants.height as usize
    }

    /// Runs tiles on all threads; each is given its row of tiles of `out`.
    fn rows<T: Send>(
        &self,
        out: &mut [T],
        run: impl Fn(&Tile<'_>, &mut Scratch, &mut [T], Level) + Sync,
    ) -> Result<(), RenderError> {
        let tiles_x = self.context.geometry.tiles_x();
        let waiting = Mutex::new(out.chunks_mut(self.width() * TILE_HEIGHT).enumerate());
        rayon::scope(|scope| {
            for _ in 0..self.threads {
                scope.spawn(|_| {
                    let mut scratch = Scratch::default();
                    while let Some((row, pixels)) = take(&waiting) {
                        for column in 0..tiles_x {
                            if self.cancel.is_cancelled() {
                                return;
                            }
                            let tile = Tile {
                                context: self.context,
                                ids: self.context.geometry.tile(row * tiles_x + column),
                                px: [(column * TILE_WIDTH) as i32, (row * TILE_HEIGHT) as i32],
                            };
                            run(&tile, &mut scratch, pixels, self.level);
                        }
                    }
                });
            }
        });
        if self.cancel.is_cancelled() { Err(RenderError::Cancelled) } else { Ok(()) }
    }
}

impl Tile<'_> {
    /// Position of an item's pixel in the image; tiles reach beyond its edge.
    #[inline(always)]
    pub fn pixel(&self, item: &Item) -> Option<[usize; 2]> {
        let (dx, dy) = position(item.pixel as usize);
        let (x, y) = ((self.px[0] + dx) as usize, (self.px[1] + dy) as usize);
        let c = &self.context.list.constants;
        (x < c.width as usize && y < c.height as usize).then_some([x, y])
    }

    /// Place of a pixel in a row of tiles.
    #[inline(always)]
    fn place_in_row(&self, [x, y]: [usize; 2], width: usize) -> usize {
        (y - self.px[1] as usize) * width + x
    }

    fn guides<S: Simd>(&self, simd: S, scratch: &mut Scratch, width: usize, row: &mut [Guide]) {
        if !self.collect(simd, scratch) {
            return;
        }
        let Scratch { fragments, order, .. } = scratch;
        if fragments.items.is_empty() {
            return;
        }
        order.sort(self.context, &fragments.items);
        for (instance, members) in order.by_instance() {
            let data = self.instance(instance);
            for batch in members.chunks(8) {
                simd.vectorize(
                    #[inline(always)]
                    || {
                        let (_, s) = self.surfaces(simd, &data, batch, &fragments.items);
                        for (lane, &k) in batch.iter().enumerate() {
                            let item = &fragments.items[k as usize];
                            if let Some(at) = self.pixel(item).filter(|_| item.first) {
                                row[self.place_in_row(at, width)] = guide(instance, &s, lane);
                            }
                        }
                    },
                );
            }
        }
    }
}

/// A run of samples.
struct Run<'a> {
    work: &'a Work<'a>,
    guides: Guides<'a>,
    first: u32,
    count: u32,
}

/// A point to trace light for.
struct Point {
    item: u32,
    start: Start,
    /// Diffuse and specular reflectance.
    reflectance: [Vector; 2],
}

impl Run<'_> {
    fn tile<S: Simd>(&self, simd: S, tile: &Tile<'_>, scratch: &mut Scratch, row: &mut [Sums]) {
        if !tile.collect(simd, scratch) {
            return;
        }
        let fragments = self.points(simd, tile, scratch, false);
        let layers = self.points(simd, tile, scratch, true);
        let width = self.work.width();
        let samples = tile.context.list.constants.samples;
        let (mut next_fragment, mut next_layer) = (0, 0);
        let mut weights = Vec::new();
        for pixel in 0..TILE_WIDTH * TILE_HEIGHT {
            let of_pixel = |items: &Items| if items.first.is_empty() { 0..0 } else { items.of_pixel(pixel) };
            let (f, l) = (of_pixel(&scratch.fragments), of_pixel(&scratch.layers));
            let own_fragments = own(&fragments, &mut next_fragment, f.end);
            let own_layers = own(&layers, &mut next_layer, l.end);
            if own_fragments.is_empty() && own_layers.is_empty() {
                continue;
            }
            let (dx, dy) = position(pixel);
            let at = [(tile.px[0] + dx) as usize, (tile.px[1] + dy) as usize];
            resolve::weights(
                samples,
                l.clone().map(|k| (u32::from(scratch.layers.items[k].mask), scratch.layers.alpha[k])),
                f.clone().map(|k| u32::from(scratch.fragments.items[k].mask)),
                &mut weights,
            );
            let of_layers = own_layers.iter().map(|p| (p, false, weights[p.item as usize - l.start]));
            let of_fragments = own_fragments.iter().map(|p| {
                let item = &scratch.fragments.items[p.item as usize];
                (p, item.first, weights[l.len() + p.item as usize - f.start])
            });
            let points: Vec<(&Point, bool, f32)> = of_layers.chain(of_fragments).collect();
            row[tile.place_in_row(at, width)] = self.pixel(simd, &mut scratch.rays.stack, at, &points);
        }
    }

    /// Sums over the run's samples of a pixel's points: whether each is what the pixel's own light is for, and how
    /// much of the pixel it is.
    #[inline(always)]
    fn pixel<S: Simd>(
        &self,
        simd: S,
        stack: &mut crate::accel::Stack,
        [x, y]: [usize; 2],
        points: &[(&Point, bool, f32)],
    ) -> Sums {
        let mut tree = Tree::default();
        for sample in self.first..self.first + self.count {
            let mut sum = Sample::default();
            for &(point, own, weight) in points {
                let key = if own { 0 } else { point.start.origin.triangle + 1 };
                let sequence = Sequence::new(x as u32, y as u32, self.work.seed ^ key, sample);
                let light = self.work.tracer.light(simd, stack, &point.start, &sequence);
                if own {
                    (sum.diffuse, sum.specular, sum.distance) =
                        (light.diffuse, light.specular, light.distance);
                } else {
                    let [diffuse, specular] = point.reflectance;
                    let radiance = light.diffuse * diffuse + light.specular * specular;
                    sum.extra = sum.extra + radiance.scale(weight);
                }
            }
            tree.push(sum.sums());
        }
        tree.whole()
    }

    /// The points that light is to be traced for, in order of their items: of layers all; of fragments those that
    /// their pixel's light is for, and those that no pixel's is. Leaves the alpha of layers.
    fn points<S: Simd>(
        &self,
        simd: S,
        tile: &Tile<'_>,
        scratch: &mut Scratch,
        of_layers: bool,
    ) -> Vec<Point> {
        let Scratch { fragments, layers, order, .. } = scratch;
        let items = if of_layers { layers } else { fragments };
        let mut points = Vec::new();
        if items.items.is_empty() {
            return points;
        }
        items.alpha.clear();
        items.alpha.resize(items.items.len(), 1.0);
        order.sort(tile.context, &items.items);
        for (instance, members) in order.by_instance() {
            let data = tile.instance(instance);
            let lit = is_lit(&data);
            for batch in members.chunks(8) {
                simd.vectorize(
                    #[inline(always)]
                    || {
                        let (triangles, s) = tile.surfaces(simd, &data, batch, &items.items);
                        for (lane, &k) in batch.iter().enumerate() {
                            items.alpha[k as usize] = s.alpha[lane].max(0.0).min(1.0);
                            let item = &items.items[k as usize];
                            if lit && self.needs_light(tile, item, instance, &s, lane) {
                                points.push(self.point(&data, k, triangles[lane], &s, lane));
                            }
                        }
                    },
                );
            }
        }
        points.sort_unstable_by_key(|p| p.item);
        points
    }

    #[inline(always)]
    fn needs_light<S: Simd>(
        &self,
        tile: &Tile<'_>,
        item: &Item,
        instance: u32,
        s: &Surface<S>,
        lane: usize,
    ) -> bool {
        let Some([x, y]) = tile.pixel(item) else { return false };
        item.first || item.layer || self.guides.source(x, y, &guide(instance, s, lane)).is_none()
    }

    #[inline(always)]
    fn point<S: Simd>(
        &self,
        data: &InstanceData<'_>,
        item: u32,
        triangle: u32,
        s: &Surface<S>,
        lane: usize,
    ) -> Point {
        let tracer = self.work.tracer;
        let flat_normal = tracer.matter.place(data.index, triangle, [0.0; 3]).flat_normal();
        let origin = Origin::new(data.instance, triangle, lane_of(&s.position_eye, lane), flat_normal);
        let parameters = parameters(s, lane);
        let to_viewer = lane_of(&s.to_viewer, lane);
        let bsdf = Bsdf::new(&parameters, to_viewer, &tracer.tables);
        Point {
            item,
            start: Start { origin, to_viewer, parameters },
            reflectance: [bsdf.diffuse_reflectance(), bsdf.specular_reflectance()],
        }
    }
}

/// Those of the points whose items come before `end`, from `next` on.
fn own<'p>(points: &'p [Point], next: &mut usize, end: usize) -> &'p [Point] {
    let begin = *next;
    while *next < points.len() && (points[*next].item as usize) < end {
        *next += 1;
    }
    &points[begin..*next]
}

fn is_lit(data: &InstanceData<'_>) -> bool {
    data.material.flags & material_flags::UNLIT == 0 && data.instance.flags & instance_flags::UNLIT == 0
}

/// One lane of eight vectors.
#[inline(always)]
pub fn lane_of<S: Simd>(v: &V3<S>, lane: usize) -> Vector {
    Vector { x: v.x[lane], y: v.y[lane], z: v.z[lane] }
}

#[inline(always)]
fn guide<S: Simd>(instance: u32, s: &Surface<S>, lane: usize) -> Guide {
    Guide { instance, normal: lane_of(&s.normal, lane).map(flush), depth: flush(s.depth[lane]) }
}

/// What the surface is made of.
#[inline(always)]
fn parameters<S: Simd>(s: &Surface<S>, lane: usize) -> Parameters {
    let normal = lane_of(&s.normal, lane);
    let mut out = Parameters {
        normal,
        tangent: across(normal)[0],
        base: lane_of(&s.base, lane),
        metallic: s.metallic[lane],
        roughness: s.roughness[lane],
        clearcoat_normal: normal,
        ..Parameters::default()
    };
    let l = &s.lobes;
    if l.flags == 0 {
        return out;
    }
    if l.has(material_flags::SPECULAR | material_flags::TRANSMISSION | material_flags::IRIDESCENCE) {
        out.ior = l.ior[lane];
    }
    if l.has(material_flags::SPECULAR) {
        out.specular = l.specular[lane];
        out.specular_color = lane_of(&l.specular_color, lane);
    }
    if l.has(material_flags::CLEARCOAT) {
        out.clearcoat = l.clearcoat[lane];
        out.clearcoat_roughness = l.clearcoat_roughness[lane];
        out.clearcoat_normal = lane_of(&l.clearcoat_normal, lane);
    }
    if l.has(material_flags::SHEEN) {
        out.sheen_color = lane_of(&l.sheen_color, lane);
        out.sheen_roughness = l.sheen_roughness[lane];
    }
    if l.has(material_flags::ANISOTROPY) {
        out.anisotropy = l.anisotropy[lane];
        out.tangent = lane_of(&l.tangent, lane);
    }
    if l.has(material_flags::TRANSMISSION) {
        out.transmission = l.transmission[lane];
        out.thin = !l.has(material_flags::VOLUME);
    }
    if l.has(material_flags::IRIDESCENCE) {
        out.iridescence = l.iridescence[lane];
        out.iridescence_ior = l.iridescence_ior[lane];
        out.iridescence_thickness_nm = l.iridescence_thickness_nm[lane];
    }
    out
}
