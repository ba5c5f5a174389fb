//! Scattering by surfaces on every adapter, bit by bit against Rust: 16,384 surfaces of all lobes at once.
#![cfg(feature = "gpu")]

#[path = "common/adapters.rs"]
mod adapters;

use isoframe_raster::environment::{dfg_table, sheen_table};
use isoframe_raster::exact::flush;
use isoframe_raster::gpu::{SCATTER_CASE_PARTS, SCATTER_RESULT_PARTS};
use isoframe_raster::passes::bsdf::{Bsdf, Lobe, Parameters, Sampled, Tables};
use isoframe_raster::passes::vector::Vector;

const CASES: usize = 16_384;

type Packed = [[f32; 4]; SCATTER_CASE_PARTS];
type Answer = [[f32; 4]; SCATTER_RESULT_PARTS];

/// Fractions, from a hash of a counter. *Source*: PCG, "Hash Functions for GPU Rendering" (Jarzynski, Olano 2020).
struct Random(u32);

impl Random {
    fn fraction(&mut self) -> f32 {
        self.0 += 1;
        let state = self.0.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        let word = ((state >> ((state >> 28) + 4)) ^ state).wrapping_mul(277_803_737);
        (((word >> 22) ^ word) >> 8) as f32 / 16_777_216.0
    }

    fn chance(&mut self, of: f32) -> bool {
        self.fraction() < of
    }

    /// Often one of the ends.
    fn factor(&mut self) -> f32 {
        match self.fraction() {
            end if end < 0.3 => 0.0,
            end if end < 0.4 => 1.0,
            _ => self.fraction(),
        }
    }

    fn color(&mut self) -> Vector {
        Vector { x: self.factor(), y: self.factor(), z: self.factor() }
    }

    fn direction(&mut self) -> Vector {
        loop {
            let v =
                Vector { x: self.fraction(), y: self.fraction(), z: self.fraction() }.map(|x| 2.0 * x - 1.0);
            if (0.01..1.0).contains(&v.dot(v)) {
                return v.normalize();
            }
        }
    }

    fn surface(&mut self, normal: Vector) -> Parameters {
        Parameters {
            normal,
            tangent: if self.chance(0.1) { normal } else { self.direction() },
            base: self.color(),
            metallic: self.factor(),
            roughness: self.factor(),
            ior: if self.chance(0.05) { 0.0 } else { 1.0 + 2.0 * self.factor() },
            specular: self.factor(),
            specular_color: self.color(),
            anisotropy: self.factor(),
            clearcoat: self.factor(),
            clearcoat_roughness: self.factor(),
            clearcoat_normal: (normal + self.direction().scale(0.3)).normalize(),
            sheen_color: self.color(),
            sheen_roughness: self.factor(),
            transmission: self.factor(),
            thin: self.chance(0.5),
            outside: self.chance(0.5),
            iridescence: self.factor(),
            iridescence_ior: 1.0 + self.factor(),
            iridescence_thickness_nm: 1000.0 * self.factor(),
        }
    }
}

fn part(v: Vector, w: f32) -> [f32; 4] {
    [v.x, v.y, v.z, w]
}

fn flag(set: bool) -> f32 {
    if set { 1.0 } else { 0.0 }
}

/// A case and what Rust makes of it.
fn case(random: &mut Random) -> (Packed, Answer) {
    let normal = random.direction();
    let p = random.surface(normal);
    let either = random.direction();
    // Some are seen from behind, as shading normals make them.
    let to_viewer = if either.dot(normal) < 0.0 && random.chance(0.9) { -either } else { either };
    let to_light = random.direction();
    let u = [random.fraction(), random.fraction(), random.fraction()];
    let packed = [
        part(p.normal, p.metallic),
        part(p.tangent, p.roughness),
        part(p.base, p.ior),
        part(p.specular_color, p.specular),
        part(p.clearcoat_normal, p.clearcoat),
        part(p.sheen_color, p.sheen_roughness),
        [p.anisotropy, p.clearcoat_roughness, p.transmission, p.iridescence],
        [p.iridescence_ior, p.iridescence_thickness_nm, flag(p.thin), flag(p.outside)],
        part(to_viewer, 0.0),
        part(to_light, 0.0),
        part(Vector::new(u), 0.0),
    ];
    let bsdf = Bsdf::new(&p, to_viewer, &Tables { dfg: dfg_table(), sheen: sheen_table() });
    let found = bsdf.evaluate(to_light);
    let sample = bsdf.sample(u);
    let none = Sampled {
        to_light: Vector::default(),
        scattered: Default::default(),
        lobe: Lobe::Specular,
        transmitted: false,
    };
    let s = sample.unwrap_or(none);
    let answer = [
        part(bsdf.diffuse_reflectance(), found.pdf),
        part(bsdf.specular_reflectance(), s.scattered.pdf),
        part(found.diffuse, flag(s.lobe == Lobe::Diffuse)),
        part(found.specular, flag(s.transmitted)),
        part(s.to_light, flag(sample.is_some())),
        part(s.scattered.diffuse, 0.0),
        part(s.scattered.specular, 0.0),
    ];
    (packed, answer.map(|part| part.map(flush)))
}

#[test]
fn every_adapter_scatters_as_rust_does() {
    let mut random = Random(0);
    let (cases, wanted): (Vec<_>, Vec<_>) = (0..CASES).map(|_| case(&mut random)).unzip();
    let sampled = wanted.iter().filter(|answer| answer[4][3] > 0.5).count();
    assert!(sampled > CASES / 2, "only {sampled} of {CASES} scatter");
    for gpu in adapters::opened() {
        let answers = gpu.scatter(&cases).expect("the device answers");
        for (k, (got, want)) in answers.iter().zip(&wanted).enumerate() {
            let bits = |answer: &Answer| answer.map(|part| part.map(f32::to_bits));
            assert_eq!(bits(got), bits(want), "{}: {got:?}, not {want:?}, for {:?}", gpu.name(), cases[k]);
        }
    }
}
