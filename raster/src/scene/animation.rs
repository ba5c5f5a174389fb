//! Animations.

use std::collections::BTreeSet;

use super::accessor::{Accessor, Component, Kind, Rows};
use super::error::{SceneError, quote};
use super::file::get;
use super::graph::Graph;
use super::reader::Reader;
use super::{Animation, Channel, ChannelPath, Interpolation, Mesh, json};

/// Reads all animations. Channels without a node, or whose node is not in the active scene, are left out.
pub(crate) fn animations(
    reader: &mut Reader<'_, '_>,
    graph: &Graph,
    meshes: &[Mesh],
) -> Result<Vec<Animation>, SceneError> {
    let mut animations = Vec::with_capacity(reader.root.animations.len());
    for (index, json) in reader.root.animations.iter().enumerate() {
        let what = format!("animation {index}");
        check_samplers(reader, &what, json)?;
        let mut taken = BTreeSet::new();
        let mut channels = Vec::with_capacity(json.channels.len());
        for (number, channel) in json.channels.iter().enumerate() {
            let what = format!("{what} channel {number}");
            if let Some(channel) = read_channel(reader, graph, meshes, &what, json, channel, &mut taken)? {
                channels.push(channel);
            }
        }
        let last = |channel: &Channel| channel.times_s.last().copied().unwrap_or(0.0);
        let duration_s = channels.iter().map(last).fold(0.0, f32::max);
        animations.push(Animation { name: json.name.clone(), channels, duration_s });
    }
    Ok(animations)
}

/// Checks what can be checked of all samplers, in use or not.
fn check_samplers(reader: &Reader<'_, '_>, what: &str, json: &json::Animation) -> Result<(), SceneError> {
    for (number, sampler) in json.samplers.iter().enumerate() {
        let what = format!("{what} sampler {number}");
        interpolation(&what, sampler)?;
        let input = reader.accessor(sampler.input, &format!("{what} input"))?;
        let fits = input.kind == Kind::Scalar && input.component == Component::F32;
        input.require(fits, &format!("{what} input"), "SCALAR of F32")?;
        reader.accessor(sampler.output, &format!("{what} output"))?;
    }
    Ok(())
}

fn interpolation(what: &str, sampler: &json::AnimationSampler) -> Result<Interpolation, SceneError> {
    match sampler.interpolation.as_deref() {
        None | Some("LINEAR") => Ok(Interpolation::Linear),
        Some("STEP") => Ok(Interpolation::Step),
        Some("CUBICSPLINE") => Ok(Interpolation::CubicSpline),
        Some(other) => Err(SceneError::AccessorFormat {
            what: format!("{what} interpolation"),
            got: quote(other),
            allowed: "LINEAR, STEP or CUBICSPLINE",
        }),
    }
}

fn read_channel(
    reader: &mut Reader<'_, '_>,
    graph: &Graph,
    meshes: &[Mesh],
    what: &str,
    animation: &json::Animation,
    channel: &json::Channel,
    taken: &mut BTreeSet<(u32, u8)>,
) -> Result<Option<Channel>, SceneError> {
    let sampler = get(&animation.samplers, channel.sampler, "sampler", || what.into())?;
    let structure = |reason| SceneError::Structure { what: what.into(), reason };
    let path = match channel.target.path.as_str() {
        "translation" => ChannelPath::Translation,
        "rotation" => ChannelPath::Rotation,
        "scale" => ChannelPath::Scale,
        "weights" => ChannelPath::Weights,
        other => {
            reader.note(format!("{what} moves {}, which is ignored", quote(other)));
            return Ok(None);
        }
    };
    let Some(index) = channel.target.node else { return Ok(None) };
    let node = get(&reader.root.nodes, index, "node", || what.into())?;
    if !taken.insert((index, path as u8)) {
        return Err(structure("another channel moves the same property"));
    }
    let width = match path {
        ChannelPath::Rotation => 4,
        ChannelPath::Translation | ChannelPath::Scale => 3,
        ChannelPath::Weights => node.mesh.map_or(0, |mesh| meshes[mesh as usize].weights.len()),
    };
    if width == 0 {
        return Err(structure("the node has no morph targets"));
    }
    if node.matrix.is_some() && path != ChannelPath::Weights {
        return Err(structure("a node with a matrix cannot be animated"));
    }
    let interpolation = interpolation(what, sampler)?;
    let input = reader.accessor(sampler.input, what)?;
    let output = reader.accessor(sampler.output, what)?;
    check_output(what, path, output)?;
    let per_key = width * if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
    let per_element = output.kind.components();
    let wanted = input.count.saturating_mul(per_key) / per_element;
    output.require_count(wanted, &format!("{what} output"))?;
    let Some(node) = graph.position[index as usize] else { return Ok(None) };
    reader.budget.animation_keys(what, input.count as u64)?;
    let times_s = times(reader, what, input)?;
    let values = values(reader, what, output)?;
    check_values(reader, what, path, interpolation, &values)?;
    Ok(Some(Channel { node, path, interpolation, times_s, values, width }))
}

fn check_output(what: &str, path: ChannelPath, output: &Accessor<'_>) -> Result<(), SceneError> {
    let unit = output.normalized && output.component != Component::U32;
    let float = output.component == Component::F32;
    let what = format!("{what} output");
    match path {
        ChannelPath::Translation | ChannelPath::Scale => {
            output.require(output.kind == Kind::Vec3 && float, &what, "VEC3 of F32")
        }
        ChannelPath::Rotation => {
            let fits = output.kind == Kind::Vec4 && (float || unit);
            output.require(fits, &what, "VEC4 of F32 or normalized 8 or 16 bit integers")
        }
        ChannelPath::Weights => {
            let fits = output.kind == Kind::Scalar && (float || unit);
            output.require(fits, &what, "SCALAR of F32 or normalized 8 or 16 bit integers")
        }
    }
}

fn times(reader: &mut Reader<'_, '_>, what: &str, input: &Accessor<'_>) -> Result<Vec<f32>, SceneError> {
    let what = format!("{what} input");
    let times: Vec<f32> =
        input.floats::<1>(&what, Rows::All, &mut reader.budget)?.into_iter().map(|[time]| time).collect();
    if times[0] < 0.0 {
        return Err(SceneError::ValueOutOfRange { what, value: f64::from(times[0]), allowed: "0 or more" });
    }
    match times.windows(2).position(|pair| pair[1] <= pair[0]) {
        Some(at) => Err(SceneError::AnimationTimes { what, at: at as u64 + 1 }),
        None => Ok(times),
    }
}

fn values(reader: &mut Reader<'_, '_>, what: &str, output: &Accessor<'_>) -> Result<Vec<f32>, SceneError> {
    let what = format!("{what} output");
    let budget = &mut reader.budget;
    Ok(match output.kind {
        Kind::Scalar => output.floats::<1>(&what, Rows::All, budget)?.into_flattened(),
        Kind::Vec3 => output.floats::<3>(&what, Rows::All, budget)?.into_flattened(),
        _ => output.floats::<4>(&what, Rows::All, budget)?.into_flattened(),
    })
}

/// Bounds positions and scales, and refuses rotations of no length; others are normalised where they are used.
fn check_values(
    reader: &Reader<'_, '_>,
    what: &str,
    path: ChannelPath,
    interpolation: Interpolation,
    values: &[f32],
) -> Result<(), SceneError> {
    let what = format!("{what} output");
    super::node::check_entries(&what, "value", values, reader.budget.limits.coordinate)?;
    if path != ChannelPath::Rotation {
        return Ok(());
    }
    // Of a cubic spline's three only the middle one is a rotation.
    let (step, first) = if interpolation == Interpolation::CubicSpline { (12, 4) } else { (4, 0) };
    for (key, chunk) in values.chunks_exact(step).enumerate() {
        let squared: f64 = chunk[first..first + 4].iter().map(|&v| f64::from(v) * f64::from(v)).sum();
        if squared < 1e-12 {
            return Err(SceneError::ValueOutOfRange {
                what: format!("{what} key {key}"),
                value: 0.0,
                allowed: "a quaternion of length 1",
            });
        }
    }
    Ok(())
}
