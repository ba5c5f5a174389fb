//! A scene of a chosen number of triangles, to measure structures for ray tracing with.

use glam::DVec3;

use super::look;
use super::mesh::{Mesh, Pose};
use super::noise::fbm;
use super::rng::Rng;
use super::shapes;
use super::stage::{Stage, Viewpoint};
use super::{GenerateError, Generated};

/// Fewest and most triangles. The most is what the loader takes by default.
pub const TRIANGLES: std::ops::RangeInclusive<u32> = 1000..=20_000_000;

/// Side of the ground. *Units*: metres.
const SIDE_M: f64 = 40.0;

/// Ground, lumps in three sizes and thin blades, exactly `count` triangles, no two meshes drawn twice: what a builder
/// sees is what the number says. A third is ground, a half lumps, the rest blades of grass.
///
/// *Errors*: as [`super::scene`].
pub fn triangles(seed: u32, count: u32) -> Result<Generated, GenerateError> {
    let count = count.clamp(*TRIANGLES.start(), *TRIANGLES.end());
    let mut stage = Stage::new(Rng::new(u64::from(seed)).fork("triangles"));
    let mut rng = stage.rng.fork("soup");
    let relief = rng.bits() >> 1;
    let height = |x: f64, z: f64| (fbm(relief, DVec3::new(x * 0.1, 0.5, z * 0.1)) - 0.5) * 3.0;
    let eye = DVec3::new(0.0, height(0.0, 17.0) + 3.5, 17.0);
    let view = Viewpoint { eye, target: DVec3::new(0.0, 0.5, -2.0), yfov_rad: 0.8 };
    stage.view("wide", view);
    let cells = (f64::from(count) / 6.0).sqrt() as u32;
    let soil = stage.role("ground", look::soil);
    stage.build("ground", vec![(shapes::heightfield(SIDE_M, cells, height), soil)]);
    let lumps_end = u64::from(count) * 5 / 6;
    let spot = |rng: &mut Rng| {
        let (x, z) = (rng.range(-0.48, 0.48) * SIDE_M, rng.range(-0.48, 0.48) * SIDE_M);
        DVec3::new(x, height(x, z), z)
    };
    let mut lump = 0;
    loop {
        let share = (u64::from(count) / 200).max(16);
        // A sphere of n segments has about n^2 triangles.
        let segments = (((share as f64) * rng.range(0.3, 1.7)).sqrt() as u32).clamp(4, 2000);
        let radius = rng.log_range(0.15, 1.6);
        let mesh = if lump % 2 == 0 {
            shapes::rock(&mut rng, radius, segments)
        } else {
            shapes::blob(&mut rng, radius, segments)
        };
        if stage.triangles + mesh.triangle_count() as u64 > lumps_end {
            break;
        }
        let material = stage.role(&format!("lump {}", lump % 6), look::any);
        let at = spot(&mut rng) + DVec3::Y * (radius * 0.4);
        stage.build_at("lump", vec![(mesh, material)], Pose::to(at));
        lump += 1;
    }
    let blades = blades(&mut rng, u64::from(count) - stage.triangles, spot);
    let grass = stage.role("grass", |rng| look::Look { double_sided: true, ..look::plastic(rng) });
    stage.build("grass", vec![(blades, grass)]);
    stage.sun(DVec3::new(-0.5, -1.0, -0.4), look::white(0.2), 4.0);
    stage.surround(&mut rng, 0.6);
    stage.tags.insert("benchmark");
    super::finished(stage, "triangles", super::triangles_file(seed, count), seed)
}

/// Single triangles that stand on the ground.
fn blades(rng: &mut Rng, count: u64, spot: impl Fn(&mut Rng) -> DVec3) -> Mesh {
    let mut mesh = Mesh::default();
    for _ in 0..count {
        let at = spot(rng);
        let (sin, cos) = libm::sincos(rng.range(0.0, std::f64::consts::TAU));
        let across = DVec3::new(cos, 0.0, sin) * rng.range(0.005, 0.02);
        let tip = DVec3::new(-sin * rng.range(0.0, 0.1), rng.range(0.1, 0.35), cos * rng.range(0.0, 0.1));
        let first = mesh.position.len() as u32;
        let normal = (across * 2.0).cross(tip + across).normalize_or(DVec3::Y);
        mesh.position.extend([at - across, at + across, at + tip]);
        mesh.normal.extend([normal; 3]);
        mesh.uv.extend([[0.0, 0.0], [0.02, 0.0], [0.01, 0.2]]);
        mesh.index.extend([first, first + 1, first + 2]);
    }
    mesh
}
