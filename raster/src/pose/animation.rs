//! Channels sampled at a time. *Source*: glTF 2.0, section 3.11 and appendix C.

use glam::{DQuat, DVec3};

use super::hierarchy::{Local, unit_quaternion};
use crate::frame::{AnimationChoice, RenderError};
use crate::scene::{Animation, Channel, ChannelPath, Interpolation, Scene};

/// Below this sine of the angle between two rotations they are interpolated as if flat: the error is
/// its square, less than an `f64` resolves.
const PARALLEL_SIN: f64 = 1e-8;

/// How many names an error lists.
pub(crate) const NAMES_LISTED: usize = 10;

pub(super) struct Animated {
    pub locals: Vec<Local>,
    pub weights: Vec<Vec<f32>>,
}

pub(super) fn sample(scene: &Scene, choice: &AnimationChoice, time_s: f64) -> Result<Animated, RenderError> {
    let mut animated = rest(scene);
    for animation in chosen(scene, choice)? {
        for channel in &animation.channels {
            apply(channel, time_s, &mut animated);
        }
    }
    Ok(animated)
}

fn rest(scene: &Scene) -> Animated {
    let weights = |node: &crate::scene::Node| match node.mesh {
        Some(mesh) => {
            let defaults = &scene.meshes[mesh as usize].weights;
            let mut weights = node.weights.clone().unwrap_or_else(|| defaults.clone());
            weights.resize(defaults.len(), 0.0);
            weights
        }
        None => Vec::new(),
    };
    Animated {
        locals: scene.nodes.iter().map(|node| Local::rest(&node.local)).collect(),
        weights: scene.nodes.iter().map(weights).collect(),
    }
}

fn chosen<'a>(scene: &'a Scene, choice: &AnimationChoice) -> Result<&'a [Animation], RenderError> {
    let all = &scene.animations[..];
    let missing = |reason| RenderError::Request { field: "animation", reason };
    match choice {
        AnimationChoice::None => Ok(&[]),
        AnimationChoice::First => Ok(&all[..all.len().min(1)]),
        AnimationChoice::All => Ok(all),
        AnimationChoice::Index(index) => {
            let index = *index as usize;
            all.get(index..=index)
                .ok_or_else(|| missing(format!("there is no animation {index}; {}", list(all))))
        }
        AnimationChoice::Name(name) => all
            .iter()
            .position(|animation| animation.name == *name)
            .map(|index| &all[index..=index])
            .ok_or_else(|| missing(format!("there is no animation `{name}`; {}", list(all)))),
    }
}

/// From the first key of the chosen animations to the last; None where they have none.
pub(crate) fn span_s(scene: &Scene, choice: &AnimationChoice) -> Option<(f64, f64)> {
    let animations = chosen(scene, choice).ok()?;
    let channels = || animations.iter().flat_map(|animation| &animation.channels);
    let start_s = channels().filter_map(|channel| channel.times_s.first()).copied().reduce(f32::min)?;
    let end_s = channels().filter_map(|channel| channel.times_s.last()).copied().reduce(f32::max)?;
    Some((start_s.into(), end_s.into()))
}

fn list(animations: &[Animation]) -> String {
    listed("the scene has", "animation", animations.iter().map(|animation| animation.name.as_str()))
}

/// `the scene has 2 animations: 0 `run`, 1 `walk``, up to [`NAMES_LISTED`] of them.
pub(crate) fn listed<'a>(has: &str, noun: &str, names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let count = names.len();
    if count == 0 {
        return format!("{has} no {noun}s");
    }
    let mut text = format!("{has} {count} {noun}{}: ", if count == 1 { "" } else { "s" });
    let named: Vec<String> =
        names.take(NAMES_LISTED).enumerate().map(|(index, name)| format!("{index} `{name}`")).collect();
    text.push_str(&named.join(", "));
    if count > NAMES_LISTED {
        text.push_str(", ...");
    }
    text
}

fn apply(channel: &Channel, time_s: f64, animated: &mut Animated) {
    let node = channel.node as usize;
    if channel.path == ChannelPath::Weights {
        let weights = &mut animated.weights[node];
        for (index, weight) in weights.iter_mut().enumerate().take(channel.width) {
            *weight = component(channel, time_s, index) as f32;
        }
        return;
    }
    // A matrix is never animated (glTF 3.11).
    let Local::Trs { translation, rotation, scale } = &mut animated.locals[node] else { return };
    let three = || {
        DVec3::new(
            component(channel, time_s, 0),
            component(channel, time_s, 1),
            component(channel, time_s, 2),
        )
    };
    match channel.path {
        ChannelPath::Translation => *translation = three(),
        ChannelPath::Scale => *scale = three(),
        ChannelPath::Rotation => *rotation = turned(channel, time_s),
        ChannelPath::Weights => {}
    }
}

/// Where a time falls among the keys.
enum Place {
    /// At this key, or held by it.
    Key(usize),
    /// Between this key and the next.
    Between { key: usize, fraction: f64, segment_s: f64 },
}

fn place(channel: &Channel, time_s: f64) -> Place {
    let times = &channel.times_s;
    let later = times.partition_point(|&key_s| f64::from(key_s) <= time_s);
    if later == 0 {
        return Place::Key(0);
    }
    let key = later - 1;
    let start_s = f64::from(times[key]);
    if later == times.len() || channel.interpolation == Interpolation::Step || start_s == time_s {
        return Place::Key(key);
    }
    let segment_s = f64::from(times[later]) - start_s;
    Place::Between { key, fraction: (time_s - start_s) / segment_s, segment_s }
}

/// Value of a key: `part` 0 is the in-tangent, 1 the value, 2 the out-tangent of a cubic spline.
fn key_value(channel: &Channel, key: usize, part: usize, index: usize) -> f64 {
    let at = match channel.interpolation {
        Interpolation::CubicSpline => (key * 3 + part) * channel.width + index,
        Interpolation::Step | Interpolation::Linear => key * channel.width + index,
    };
    channel.values[at].into()
}

fn component(channel: &Channel, time_s: f64, index: usize) -> f64 {
    match place(channel, time_s) {
        Place::Key(key) => key_value(channel, key, 1, index),
        Place::Between { key, fraction, segment_s } => {
            let start = key_value(channel, key, 1, index);
            let end = key_value(channel, key + 1, 1, index);
            if channel.interpolation == Interpolation::CubicSpline {
                let out_tangent = segment_s * key_value(channel, key, 2, index);
                let in_tangent = segment_s * key_value(channel, key + 1, 0, index);
                hermite(fraction, start, out_tangent, end, in_tangent)
            } else {
                start * (1.0 - fraction) + end * fraction
            }
        }
    }
}

/// Cubic Hermite spline through `start` and `end`, tangents already times the segment's duration.
fn hermite(t: f64, start: f64, out_tangent: f64, end: f64, in_tangent: f64) -> f64 {
    let t2 = t * t;
    let t3 = t2 * t;
    (2.0 * t3 - 3.0 * t2 + 1.0) * start
        + (t3 - 2.0 * t2 + t) * out_tangent
        + (-2.0 * t3 + 3.0 * t2) * end
        + (t3 - t2) * in_tangent
}

fn turned(channel: &Channel, time_s: f64) -> DQuat {
    let key_quaternion = |key| unit_quaternion([0, 1, 2, 3].map(|index| key_value(channel, key, 1, index)));
    match place(channel, time_s) {
        Place::Between { key, fraction, .. } if channel.interpolation == Interpolation::Linear => {
            slerp(key_quaternion(key), key_quaternion(key + 1), fraction)
        }
        _ => unit_quaternion([0, 1, 2, 3].map(|index| component(channel, time_s, index))),
    }
}

/// The shorter way round from one unit quaternion to another.
fn slerp(start: DQuat, end: DQuat, t: f64) -> DQuat {
    let dot = start.x * end.x + start.y * end.y + start.z * end.z + start.w * end.w;
    let end = if dot < 0.0 { -end } else { end };
    // Half the angle's tangent from chords keeps its precision where acos of the dot product loses it.
    let angle_rad = 2.0 * libm::atan2((end - start).length(), (end + start).length());
    let sin = libm::sin(angle_rad);
    let (from, to) = if sin < PARALLEL_SIN {
        (1.0 - t, t)
    } else {
        (libm::sin(angle_rad * (1.0 - t)) / sin, libm::sin(angle_rad * t) / sin)
    };
    let sum = start * from + end * to;
    unit_quaternion([sum.x, sum.y, sum.z, sum.w])
}
