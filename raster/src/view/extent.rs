//! What framed cameras frame: all that an animation covers.

use std::sync::OnceLock;

use glam::DVec3;

use crate::frame::AnimationChoice;
use crate::pose::{self, Box3, Clouds};
use crate::scene::Scene;

/// Parts that an animation's span is cut into to find what it covers; what moves between two ends has
/// the framing's margin.
const SPAN_PARTS: u32 = 24;

type Bounds = Option<(DVec3, DVec3)>;

/// Bounds of what a scene's animations cover, found when first asked for. One belongs to one scene.
///
/// A framed camera takes these bounds and not those of the moment, so that it stands still while the
/// scene moves and no frame of a sequence depends on another.
#[derive(Debug)]
pub struct Extents {
    rest: OnceLock<Bounds>,
    all: OnceLock<Bounds>,
    each: Vec<OnceLock<Bounds>>,
}

impl Extents {
    /// Of this scene, none found yet.
    pub fn new(scene: &Scene) -> Extents {
        Extents {
            rest: OnceLock::new(),
            all: OnceLock::new(),
            each: scene.animations.iter().map(|_| OnceLock::new()).collect(),
        }
    }

    /// Box around all that is drawn while the chosen animations play. *Space*: world. None where nothing is.
    pub fn bounds_world(&self, scene: &Scene, choice: &AnimationChoice) -> Bounds {
        let slot = match choice {
            AnimationChoice::None => &self.rest,
            AnimationChoice::All => &self.all,
            AnimationChoice::First => self.each.first().unwrap_or(&self.rest),
            AnimationChoice::Index(index) => self.each.get(*index as usize).unwrap_or(&self.rest),
            AnimationChoice::Name(name) => scene
                .animations
                .iter()
                .position(|animation| animation.name == *name)
                .and_then(|index| self.each.get(index))
                .unwrap_or(&self.rest),
        };
        *slot.get_or_init(|| covered(scene, choice))
    }
}

fn covered(scene: &Scene, choice: &AnimationChoice) -> Bounds {
    let mut bounds = Box3::EMPTY;
    let mut clouds = Clouds::new(scene);
    for time_s in sample_times_s(scene, choice) {
        // Where curves overshoot beyond what a pose may hold, that moment cannot be drawn either.
        if let Ok(pose) = pose::evaluate(scene, choice, time_s) {
            clouds.extend(&mut bounds, &pose);
        }
    }
    bounds.get()
}

fn sample_times_s(scene: &Scene, choice: &AnimationChoice) -> Vec<f64> {
    match pose::span_s(scene, choice) {
        Some((start_s, end_s)) if start_s < end_s => (0..=SPAN_PARTS)
            .map(|part| start_s + (end_s - start_s) * f64::from(part) / f64::from(SPAN_PARTS))
            .collect(),
        span_s => vec![span_s.map_or(0.0, |(start_s, _)| start_s)],
    }
}
