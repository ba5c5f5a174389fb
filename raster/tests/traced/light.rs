//! Light that can be found in two ways is the same light either way, and the same with both.

use isoframe_raster::accumulate::Accumulated;
use isoframe_raster::frame::Traced;
use isoframe_raster::passes::trace::Technique;

use crate::room::{Room, diffuse, from_above, lamp, metal, plastic, request, uniform, with_job};

const SEEDS: u32 = 64;
const PX: usize = 12;

/// Mean diffuse and specular light of the image by seed.
fn means(light: &Accumulated) -> [f64; 2] {
    let pixels = PX * PX;
    let share = 1.0 / f64::from(light.count()) / pixels as f64;
    let mut out = [0.0; 2];
    for k in 0..pixels {
        let sums = light.sums(k);
        out[0] += f64::from(sums[0]) * share;
        out[1] += f64::from(sums[3]) * share;
    }
    out
}

#[test]
fn both_ways_find_the_same_light() {
    let mut room = Room::new();
    let floor = room.material(plastic([0.7; 3], 0.5));
    let shiny = room.material(metal([0.9; 3], 0.35));
    let wall = room.material(diffuse([0.6; 3]));
    let lamp = room.material(lamp(3.0));
    room.floor(0.0, 1.5, floor);
    room.sphere([0.3, 0.35, 0.0], 0.35, shiny);
    room.square([-1.0, 0.0, 1.0], [0.0, 0.0, -2.0], [0.0, 1.5, 0.0], wall);
    room.ceiling(1.2, 0.4, lamp);
    let scene = room.prepared();
    let environment = uniform(0.4);
    let by = |technique: Technique| -> Vec<[f64; 2]> {
        (0..SEEDS)
            .map(|seed| {
                let traced =
                    Traced { samples: 8, diffuse_bounces: 2, specular_bounces: 2, ..Traced::default() };
                let mut request = request(from_above([0.0, 1.1, 0.0], 1.0, PX as u32), PX as u32, traced);
                request.seed = seed;
                request.lighting.environment = Some(true);
                with_job(&scene, &environment, &request, |cpu, job| {
                    means(&cpu.trace_by(technique, job, 0..8).expect("traced"))
                })
            })
            .collect()
    };
    let all = [Technique::Both, Technique::Drawing, Technique::Scattering].map(|t| (t, by(t)));
    let spread = |values: &[[f64; 2]], c: usize| {
        let n = values.len() as f64;
        let mean = values.iter().map(|v| v[c]).sum::<f64>() / n;
        let variance = values.iter().map(|v| (v[c] - mean).powi(2)).sum::<f64>() / (n - 1.0);
        (mean, (variance / n).sqrt())
    };
    for c in 0..2 {
        let (both, both_error) = spread(&all[0].1, c);
        for (technique, values) in &all[1..] {
            let (mean, error) = spread(values, c);
            let apart = (mean - both).abs() / error.hypot(both_error);
            eprintln!(
                "{technique:?} {c}: {mean:.5} +- {error:.5}, both {both:.5} +- {both_error:.5}: {apart:.2}"
            );
            assert!(apart < 4.0, "{technique:?}, part {c}: {mean} +- {error}, not {both} +- {both_error}");
            assert!(error > 0.5 * both_error, "both together are the quieter");
        }
    }
}
