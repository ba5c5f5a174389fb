//! Geometry of a frame: deformed and projected vertices, set-up triangles, and which tiles they touch.

use fearless_simd::Level;
use rayon::prelude::*;

use crate::draw::{DrawList, Instance};
use crate::passes::deform;
use crate::passes::project::{self, ClipVertex, Setup};
use crate::passes::visibility::{TILE_HEIGHT, TILE_WIDTH};
use crate::prepared::{Prepared, Vertex};

/// Vertices of a chunk.
const CHUNK_VERTICES: usize = 8192;
/// Triangles of a chunk; clipping makes at most six of one, so a set-up's place in its chunk fits 16 bits.
const CHUNK_TRIANGLES: u32 = 8192;

/// What the tiles read.
pub struct Geometry<'a> {
    vertices: &'a [Vertex],
    deformed: Vec<Vertex>,
    clip: Vec<ClipVertex>,
    previous: Vec<[f32; 3]>,
    /// Set-ups by chunk; an id is chunk << 16 | place, so ids order as triangles do.
    chunks: Vec<Vec<Setup>>,
    tiles_x: usize,
    tile_first: Vec<u32>,
    tile_ids: Vec<u32>,
}

impl<'a> Geometry<'a> {
    /// Runs the geometry passes.
    pub fn new(level: Level, prepared: &'a Prepared, list: &DrawList) -> Geometry<'a> {
        let deformed = tracing::trace_span!("raster.deform").in_scope(|| deform::all(prepared, list, 0));
        let span = tracing::trace_span!("raster.project").entered();
        let mut clip = vec![ClipVertex::default(); list.clip_vertex_count as usize];
        project_all(list, &prepared.vertices, &deformed, &mut clip, |instance, all, base, out| {
            let rows = &instance.clip_from_local;
            project::vertices(level, &list.constants, instance.flags, rows, all, base, out);
        });
        let mut previous = Vec::new();
        if list.moving {
            let deformed = deform::all(prepared, list, 1);
            previous.resize(list.clip_vertex_count as usize, [0.0; 3]);
            project_all(list, &prepared.vertices, &deformed, &mut previous, |instance, all, base, out| {
                project::previous_vertices(level, &list.constants, instance, all, base, out);
            });
        }
        drop(span);
        let chunks = tracing::trace_span!("raster.setup").in_scope(|| set_up_all(prepared, list, &clip));
        let tiles_x = (list.constants.width as usize).div_ceil(TILE_WIDTH);
        let tiles_y = (list.constants.height as usize).div_ceil(TILE_HEIGHT);
        let (tile_first, tile_ids) =
            tracing::trace_span!("raster.bin").in_scope(|| bin(&chunks, tiles_x, tiles_x * tiles_y));
        Geometry {
            vertices: &prepared.vertices,
            deformed,
            clip,
            previous,
            chunks,
            tiles_x,
            tile_first,
            tile_ids,
        }
    }

    /// Tiles in a row.
    pub fn tiles_x(&self) -> usize {
        self.tiles_x
    }

    /// Set-ups that touch a tile.
    #[inline(always)]
    pub fn tile(&self, index: usize) -> &[u32] {
        &self.tile_ids[self.tile_first[index] as usize..self.tile_first[index + 1] as usize]
    }

    /// A set-up by id.
    #[inline(always)]
    pub fn setup(&self, id: u32) -> &Setup {
        &self.chunks[(id >> 16) as usize][(id & 0xFFFF) as usize]
    }

    /// Vertices of an instance.
    #[inline(always)]
    pub fn vertices(&self, instance: &Instance) -> &[Vertex] {
        instance.vertices(self.vertices, &self.deformed)
    }

    /// All vertices: at rest, and deformed for this frame.
    pub fn all_vertices(&self) -> [&[Vertex]; 2] {
        [self.vertices, &self.deformed]
    }

    /// Projected vertices of an instance.
    #[inline(always)]
    pub fn clip(&self, instance: &Instance) -> &[ClipVertex] {
        &self.clip[instance.first_clip_vertex as usize..][..instance.vertex_count as usize]
    }

    /// Previous positions of an instance's vertices; empty where nothing moves.
    #[inline(always)]
    pub fn previous(&self, instance: &Instance) -> &[[f32; 3]] {
        if self.previous.is_empty() {
            return &[];
        }
        &self.previous[instance.first_clip_vertex as usize..][..instance.vertex_count as usize]
    }
}

fn project_all<T: Send>(
    list: &DrawList,
    fixed: &[Vertex],
    deformed: &[Vertex],
    out: &mut [T],
    run: impl Fn(&Instance, &[Vertex], usize, &mut [T]) + Sync,
) {
    let mut work = Vec::new();
    let mut rest = out;
    for instance in &list.instances {
        let (mine, others) = rest.split_at_mut(instance.vertex_count as usize);
        rest = others;
        for (k, part) in mine.chunks_mut(CHUNK_VERTICES).enumerate() {
            work.push((instance, k * CHUNK_VERTICES, part));
        }
    }
    work.into_par_iter().for_each(|(instance, base, part)| {
        run(instance, instance.vertices(fixed, deformed), base, part);
    });
}

fn set_up_all(prepared: &Prepared, list: &DrawList, clip: &[ClipVertex]) -> Vec<Vec<Setup>> {
    // A chunk is some triangles of one instance, or all of several small ones.
    let mut work: Vec<Vec<(u32, std::ops::Range<u32>)>> = Vec::new();
    let mut room = 0;
    for (k, instance) in list.instances.iter().enumerate() {
        let mut first = 0;
        while first < instance.triangle_count {
            if room == 0 {
                work.push(Vec::new());
                room = CHUNK_TRIANGLES;
            }
            let count = room.min(instance.triangle_count - first);
            if let Some(chunk) = work.last_mut() {
                chunk.push((k as u32, first..first + count));
            }
            first += count;
            room -= count;
        }
    }
    work.into_par_iter()
        .map(|chunk| {
            let total: u32 = chunk.iter().map(|(_, r)| r.len() as u32).sum();
            let mut out = Vec::with_capacity(total as usize / 2);
            for (k, range) in chunk {
                let instance = &list.instances[k as usize];
                let clip = &clip[instance.first_clip_vertex as usize..][..instance.vertex_count as usize];
                let indices = &prepared.indices[instance.first_index as usize..];
                let material = &prepared.materials[instance.material as usize];
                project::triangles(&list.constants, k, instance, material, clip, indices, range, &mut out);
            }
            out
        })
        .collect()
}

/// Ids by tile: where each tile's begin, and all of them.
fn bin(chunks: &[Vec<Setup>], tiles_x: usize, tile_count: usize) -> (Vec<u32>, Vec<u32>) {
    let tiles = |s: &Setup| {
        let x = (s.bounds_x & 0xFFFF) as usize / TILE_WIDTH..=(s.bounds_x >> 16) as usize / TILE_WIDTH;
        let y = (s.bounds_y & 0xFFFF) as usize / TILE_HEIGHT..=(s.bounds_y >> 16) as usize / TILE_HEIGHT;
        y.flat_map(move |y| x.clone().map(move |x| y * tiles_x + x))
    };
    let mut first = vec![0u32; tile_count + 1];
    for s in chunks.iter().flatten() {
        for t in tiles(s) {
            first[t + 1] += 1;
        }
    }
    for t in 0..tile_count {
        first[t + 1] += first[t];
    }
    let mut next = first.clone();
    let mut ids = vec![0u32; first[tile_count] as usize];
    for (c, chunk) in chunks.iter().enumerate() {
        for (k, s) in chunk.iter().enumerate() {
            for t in tiles(s) {
                ids[next[t] as usize] = (c as u32) << 16 | k as u32;
                next[t] += 1;
            }
        }
    }
    (first, ids)
}
