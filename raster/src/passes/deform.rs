//! Deform: morph targets, then skin.
//!
//! *Reads*: a primitive's own vertices, weights, joint palettes. *Writes*: [`Vertex`] per packed vertex, in eye
//! space where skinned, else mesh local. Sums run over targets and over joints in file order.

use rayon::prelude::*;

use crate::draw::{Deform, DrawList};
use crate::exact::flush;
use crate::prepared::{Prepared, Vertex};
use crate::scene::{MorphTarget, Primitive};

/// Vertices of a chunk.
const CHUNK_VERTICES: usize = 8192;

/// All deformed vertices of a frame; `moment` is 0 for now, 1 for the previous frame.
pub fn all(prepared: &Prepared, list: &DrawList, moment: usize) -> Vec<Vertex> {
    let mut out = vec![Vertex::default(); list.deformed_vertex_count as usize];
    let mut work = Vec::new();
    let mut rest = out.as_mut_slice();
    for d in &list.deforms {
        let (mine, others) = rest.split_at_mut(d.geometry.vertex_count as usize);
        rest = others;
        for (k, part) in mine.chunks_mut(CHUNK_VERTICES).enumerate() {
            work.push((d, k * CHUNK_VERTICES, part));
        }
    }
    work.into_par_iter().for_each(|(d, base, part)| vertices(prepared, d, moment, base, part));
    out
}

/// Deforms vertices `base..base + out.len()` of a primitive; `moment` is 0 for now, 1 for the previous frame.
pub fn vertices(prepared: &Prepared, deform: &Deform, moment: usize, base: usize, out: &mut [Vertex]) {
    let primitive = &prepared.scene.meshes[deform.mesh as usize].primitives[deform.primitive as usize];
    let g = &deform.geometry;
    let rest = &prepared.vertices[g.first_vertex as usize + base..][..out.len()];
    let sources = &prepared.sources[g.first_source as usize + base..][..out.len()];
    let triangles = g.topology == crate::scene::Topology::Triangles;
    for ((o, rest), &source) in out.iter_mut().zip(rest).zip(sources) {
        let mut v = *rest;
        morph(&mut v, primitive, &deform.weights[moment], source as usize, triangles);
        if !deform.palettes[moment].is_empty() {
            skin(&mut v, primitive, &deform.palettes[moment], source as usize, triangles);
        }
        v.position = v.position.map(flush);
        *o = v;
    }
}

fn morph(v: &mut Vertex, p: &Primitive, weights: &[f32], source: usize, triangles: bool) {
    let add = |sum: &mut [f32], deltas: &[[f32; 3]], weight: f32| {
        if let Some(delta) = deltas.get(source) {
            for k in 0..3 {
                sum[k] += weight * delta[k];
            }
        }
    };
    for (MorphTarget { position, normal, tangent }, &weight) in p.targets.iter().zip(weights) {
        add(&mut v.position, position, weight);
        add(&mut v.normal, normal, weight);
        if triangles {
            add(&mut v.tangent[..3], tangent, weight);
        }
    }
}

fn skin(v: &mut Vertex, p: &Primitive, palette: &[[[f32; 4]; 3]], source: usize, triangles: bool) {
    let (Some(joints), Some(weights)) = (p.joints.get(source), p.joint_weights.get(source)) else { return };
    let mut m = [[0.0f32; 4]; 3];
    for (&joint, &weight) in joints.iter().zip(weights) {
        let j = &palette[joint as usize];
        for r in 0..3 {
            for c in 0..4 {
                m[r][c] += weight * j[r][c];
            }
        }
    }
    let linear = |r: &[f32; 4], x: &[f32]| r[0] * x[0] + r[1] * x[1] + r[2] * x[2];
    let p = v.position;
    v.position = std::array::from_fn(|k| linear(&m[k], &p) + m[k][3]);
    let n = v.normal;
    v.normal = std::array::from_fn(|k| linear(&m[k], &n));
    if triangles {
        let t = v.tangent;
        for k in 0..3 {
            v.tangent[k] = linear(&m[k], &t[..3]);
        }
    }
}
