//! Specular light: the environment convolved with GGX lobes, N = V = R as in Karis 2013.
//!
//! The lobe is not sampled but summed over the whole sphere, from patches of the picture that are small beside the
//! lobe where they are: fine ones near its axis, coarse ones in its tail (Barnes and Hut 1986). A patch's light counts
//! where its centroid is, so that a sun of one pixel is neither missed, nor moved, nor a firefly. Weights are
//! normalised: uniform light stays what it is.

use std::borrow::Cow;

use rayon::prelude::*;

use super::octahedron::{Octahedron, direction_of};
use super::{LEVELS, OCTAHEDRAL_SIDE, stored};

/// Largest size of a patch in units of the lobe's width at its place.
const PATCH_SIZE_MAX: f32 = 0.3;

/// Largest size of a patch under the widest lobe, in radians, because the cosine has a width of its own. It bends the
/// tail only, of which narrow lobes have little.
const PATCH_SIZE_MAX_RAD: f32 = 0.12;

/// Square of the largest size of a patch below the horizon, by the square of the sine of its depth there: it reaches no
/// light, even where the map stretches it twofold.
const HIDDEN_SIZE2_MAX: f32 = 0.5;

/// Sides of the coarsest and finest grid of patches.
const COARSEST_SIDE: u32 = 8;
const FINEST_SIDE: u32 = 512;

/// All levels of [`super::Environment::specular`], one after another.
pub fn prefilter(picture: &Octahedron) -> Vec<[f32; 4]> {
    let finest = reduced(Cow::Borrowed(picture), FINEST_SIDE);
    let patches = Patches::new(&finest);
    let finest = reduced(finest, OCTAHEDRAL_SIDE);
    assert_eq!(
        finest.side, OCTAHEDRAL_SIDE,
        "pictures are powers of two, at least as fine as the finest level"
    );
    let mut out: Vec<[f32; 4]> = finest.texels.iter().map(|&texel| stored(texel)).collect();
    for level in 1..LEVELS {
        let roughness = roughness(level);
        let lobe = Lobe::new(roughness * roughness);
        let side = OCTAHEDRAL_SIDE >> level;
        let texels = (0..side * side).into_par_iter().map(|i| {
            let place = |k: u32| (f64::from(k) + 0.5) / f64::from(side) * 2.0 - 1.0;
            let normal = direction_of(place(i % side), place(i / side)).map(|c| c as f32);
            stored(patches.through(&lobe, normal))
        });
        out.par_extend(texels);
    }
    out
}

/// The picture at no more than a side.
fn reduced(mut picture: Cow<'_, Octahedron>, side: u32) -> Cow<'_, Octahedron> {
    while picture.side > side {
        picture = Cow::Owned(picture.halved());
    }
    picture
}

/// Perceptual roughness of a level; see [`LEVELS`].
fn roughness(level: u32) -> f64 {
    1.0 - (1.0 - f64::from(level) / f64::from(LEVELS - 1)).sqrt()
}

/// A GGX lobe about the normal, seen along it.
struct Lobe {
    alpha2: f32,
    /// Square of its width about its axis: light turns twice as far as the half vector.
    core2: f32,
    /// Square of the largest size of a patch, whatever the width at its place.
    patch_size2_max: f32,
}

impl Lobe {
    fn new(alpha: f64) -> Lobe {
        let (alpha2, core2) = ((alpha * alpha) as f32, (4.0 * alpha * alpha) as f32);
        // The tail's share of the lobe goes with core2.
        let patch_size2_max = PATCH_SIZE_MAX_RAD * PATCH_SIZE_MAX_RAD / core2.min(1.0);
        Lobe { alpha2, core2, patch_size2_max }
    }

    /// Square of the largest size that a patch may have, by the squared chord between normal and patch.
    #[inline(always)]
    fn patch_size2(&self, chord2: f32) -> f32 {
        const SIZE2: f32 = PATCH_SIZE_MAX * PATCH_SIZE_MAX;
        let below = (0.5 * chord2 - 1.0).max(0.0);
        (SIZE2 * (self.core2 + chord2)).min(self.patch_size2_max).max(HIDDEN_SIZE2_MAX * (below * below))
    }

    /// D times the cosine, up to a constant, by the squared chord between normal and light.
    #[inline(always)]
    fn weight(&self, chord2: f32) -> f32 {
        // The half vector's cosine squared is 1 - chord2 / 4.
        let width = self.alpha2 + (1.0 - self.alpha2) * 0.25 * chord2;
        (1.0 - 0.5 * chord2).max(0.0) / (width * width)
    }
}

/// Squared distance between the k-th of four directions and one.
#[inline(always)]
fn chord2([x, y, z]: &[[f32; 4]; 3], k: usize, to: [f32; 3]) -> f32 {
    let (x, y, z) = (x[k] - to[0], y[k] - to[1], z[k] - to[2]);
    (x * x + y * y) + z * z
}

/// Four neighbours, two by two, side by side for vector code.
#[derive(Clone, Copy, Default)]
struct Four {
    /// Of the areas' centroids.
    direction: [[f32; 4]; 3],
    /// *Units*: steradians.
    solid_angle: [f32; 4],
    /// Of the light's centroids.
    light_direction: [[f32; 4]; 3],
    /// Radiance times solid angle.
    light: [[f32; 4]; 3],
}

/// The picture as ever finer patches.
struct Patches {
    /// From coarse to fine. Patch k of a grid is made of the four in place k of the next.
    grids: Vec<Vec<Four>>,
}

impl Patches {
    fn new(finest: &Octahedron) -> Patches {
        let mut grids = Vec::new();
        let mut next = Cow::Borrowed(finest);
        let mut moments: Vec<Moments> =
            next.texels.iter().zip(directions(next.side)).map(Moments::new).collect();
        loop {
            grids.push(fours(&next, &moments));
            if next.side <= COARSEST_SIDE {
                break;
            }
            moments = halved(next.side as usize, &moments);
            next = Cow::Owned(next.halved());
        }
        grids.reverse();
        Patches { grids }
    }

    /// Average radiance through a lobe about `normal`; the fourth is of no use.
    fn through(&self, lobe: &Lobe, normal: [f32; 3]) -> [f32; 4] {
        let mut sum = Sum::default();
        let mut open = Vec::with_capacity(64);
        for root in 0..self.grids[0].len() as u32 {
            open.push((0usize, root));
            while let Some((depth, index)) = open.pop() {
                let refine = depth + 1 < self.grids.len();
                let coarse = self.grids[depth][index as usize].add_to(&mut sum, lobe, normal, refine);
                for k in (0..4).rev() {
                    if coarse >> k & 1 == 1 {
                        open.push((depth + 1, index * 4 + k));
                    }
                }
            }
        }
        sum.average()
    }
}

impl Four {
    /// Adds the patches that are fine enough (all, where there are no finer ones); the others' bits come back.
    #[inline(always)]
    fn add_to(&self, sum: &mut Sum, lobe: &Lobe, normal: [f32; 3], refine: bool) -> u32 {
        let mut coarse = 0;
        let mut weight = [0.0f32; 4];
        let mut light_weight = [0.0f32; 4];
        for k in 0..4 {
            let away2 = chord2(&self.direction, k, normal);
            let light_away2 = chord2(&self.light_direction, k, normal);
            let too_large = refine && self.solid_angle[k] > lobe.patch_size2(away2);
            coarse |= u32::from(too_large) << k;
            weight[k] = if too_large { 0.0 } else { lobe.weight(away2) };
            light_weight[k] = if too_large { 0.0 } else { lobe.weight(light_away2) };
        }
        for k in 0..4 {
            sum.weights[k] += weight[k] * self.solid_angle[k];
            for c in 0..3 {
                sum.light[c][k] += light_weight[k] * self.light[c][k];
            }
        }
        coarse
    }
}

/// Four running sums, added up at the end.
#[derive(Default)]
struct Sum {
    light: [[f32; 4]; 3],
    weights: [f32; 4],
}

impl Sum {
    fn average(&self) -> [f32; 4] {
        let total = |[a, b, c, d]: [f32; 4]| (a + b) + (c + d);
        let weights = total(self.weights);
        let [r, g, b] = self.light.map(|light| total(light) / weights);
        [r, g, b, 0.0]
    }
}

/// First moments of a patch: of its area, and of its light, all channels together. Both are made in the same steps, so
/// that under uniform light both point the same way.
#[derive(Clone, Copy)]
struct Moments {
    area: [f32; 3],
    light: [f32; 3],
}

impl Moments {
    fn new((&[r, g, b, solid_angle], direction): (&[f32; 4], [f32; 3])) -> Moments {
        let brightness = r + g + b;
        let area = direction.map(|d| d * solid_angle);
        Moments { area, light: area.map(|a| a * brightness) }
    }

    /// Directions of the area's centroid and of the light's, the former where there is no light to speak of.
    fn directions(&self) -> [[f32; 3]; 2] {
        let unit = |v: [f32; 3]| {
            let length = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt();
            // Below this, squares lose their digits.
            (length > 1e-15).then(|| v.map(|c| c / length))
        };
        let area = unit(self.area).unwrap_or([0.0, 1.0, 0.0]);
        [area, unit(self.light).unwrap_or(area)]
    }
}

fn halved(side: usize, moments: &[Moments]) -> Vec<Moments> {
    let mut out = Vec::with_capacity(moments.len() / 4);
    for rows in moments.chunks_exact(side * 2) {
        let (top, bottom) = rows.split_at(side);
        let pairs = top.as_chunks::<2>().0.iter().zip(bottom.as_chunks::<2>().0);
        out.extend(pairs.map(|([a, b], [c, d])| Moments {
            area: std::array::from_fn(|k| (a.area[k] + b.area[k]) + (c.area[k] + d.area[k])),
            light: std::array::from_fn(|k| (a.light[k] + b.light[k]) + (c.light[k] + d.light[k])),
        }));
    }
    out
}

/// Directions of a grid's texels.
fn directions(side: u32) -> impl Iterator<Item = [f32; 3]> {
    let place = move |k: u32| (f64::from(k) + 0.5) / f64::from(side) * 2.0 - 1.0;
    (0..side * side).map(move |i| direction_of(place(i % side), place(i / side)).map(|c| c as f32))
}

/// A grid's patches by fours, in Morton order.
fn fours(grid: &Octahedron, moments: &[Moments]) -> Vec<Four> {
    let half = grid.side / 2;
    let mut out = vec![Four::default(); (half * half) as usize];
    for (i, (texel, moments)) in (0u32..).zip(grid.texels.iter().zip(moments)) {
        let (x, y) = (i % grid.side, i / grid.side);
        let four = &mut out[(spread_bits(x / 2) | spread_bits(y / 2) << 1) as usize];
        let k = (x % 2 + y % 2 * 2) as usize;
        let [direction, light_direction] = moments.directions();
        for c in 0..3 {
            four.direction[c][k] = direction[c];
            four.light_direction[c][k] = light_direction[c];
            four.light[c][k] = texel[c] * texel[3];
        }
        four.solid_angle[k] = texel[3];
    }
    out
}

/// The lower 16 bits, each followed by a zero.
fn spread_bits(v: u32) -> u32 {
    let v = (v | v << 8) & 0x00ff_00ff;
    let v = (v | v << 4) & 0x0f0f_0f0f;
    let v = (v | v << 2) & 0x3333_3333;
    (v | v << 1) & 0x5555_5555
}
