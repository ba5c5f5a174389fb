//! Sources of light that can be seen. A punctual light never stands inside a closed mesh, which would swallow it.

use std::f64::consts::PI;

use glam::DVec3;

use super::look::{emitter, white};
use super::mesh::{Mesh, Pose};
use super::rng::Rng;
use super::shapes;
use super::stage::Stage;
use super::texture::Rgb;

/// Light that makes a white surface, at a distance, about as bright as the picture's white.
#[derive(Debug, Clone, Copy)]
pub(super) struct Strength {
    /// Illuminance. *Units*: lux in the scale where pi makes white 1.
    pub lux: f64,
    pub distance_m: f64,
}

impl Strength {
    fn candela(self) -> f64 {
        self.lux * self.distance_m * self.distance_m
    }
}

/// A glowing ball. Its radiance is what a lamp of that strength and size has.
pub(super) fn bulb(stage: &mut Stage, at: DVec3, radius: f64, color: Rgb, strength: Strength) {
    let radiance = strength.candela() / (PI * radius * radius);
    let role = format!("bulb {:.0} {:.2}", radiance, color[2]);
    let material = stage.role(&role, |_| emitter(color, radiance));
    let mesh = stage.mesh("bulb", vec![(shapes::sphere(radius, 24), material)]);
    stage.fix("bulb", mesh, Pose::to(at));
}

/// A glowing rectangle, seen from where `facing` points.
pub(super) fn panel(
    stage: &mut Stage,
    at: DVec3,
    facing: DVec3,
    size: [f64; 2],
    color: Rgb,
    strength: Strength,
) {
    let radiance = strength.candela() / (size[0] * size[1]);
    let material = stage.role(&format!("panel {radiance:.1} {:.2}", color[2]), |_| emitter(color, radiance));
    let right = facing.any_orthonormal_vector() * (size[0] * 0.5);
    let up = facing.cross(right).normalize() * (size[1] * 0.5);
    let mut mesh = Mesh::default();
    mesh.quad([at - right - up, at + right - up, at + right + up, at - right + up], size);
    stage.build("panel", vec![(mesh, material)]);
}

/// A pendant on a wire under an open shade, its light a bulb, or a point light below the shade's rim.
pub(super) fn pendant(stage: &mut Stage, rng: &mut Rng, hook: DVec3, drop: f64, strength: Strength) {
    let metal = stage.role("pendant", super::look::lacquer);
    let cord = shapes::cylinder(0.004, drop - 0.1, 8).moved(Pose::at(0.0, -drop + 0.1, 0.0));
    let radius = rng.range(0.1, 0.22);
    let shade =
        shapes::lathe(&[[radius, -drop], [radius * 0.6, -drop + 0.1], [0.02, -drop + 0.12]], 40, true);
    let inside = shade.clone().moved(Pose::at(0.0, -0.002, 0.0)).inside_out();
    stage.put("pendant", vec![(cord.joined(shade).joined(inside), metal)], Pose::to(hook));
    let at = hook - DVec3::Y * (drop + 0.01);
    let color = white(rng.range(0.2, 0.8));
    if rng.chance(0.5) {
        bulb(stage, at + DVec3::Y * 0.03, 0.035, color, strength);
    } else {
        stage.point(at, color, strength.candela());
    }
}

/// A bulb or a bare point light.
pub(super) fn small_light(stage: &mut Stage, rng: &mut Rng, at: DVec3, radius: f64, strength: Strength) {
    let color = white(rng.range(0.1, 0.9));
    if rng.chance(0.6) {
        bulb(stage, at, radius, color, strength);
    } else {
        stage.point(at, color, strength.candela());
    }
}
