//! Joints and weights of skinned vertices.

use super::Primitive;
use super::accessor::{Accessor, Rows};
use super::error::SceneError;
use super::limits::Budget;

/// Reads up to two sets of joints and weights.
///
/// *Rule*: weights below zero count as zero; the rest are divided by their sum, so that bytes that add up to 254
/// and floats that miss one by an exporter's rounding both become exact shares. A vertex without any weight follows
/// its first joint. A joint with weight zero is stored as joint 0, so that it cannot be out of range.
pub(crate) fn read(
    what: &str,
    sets: [Option<(&Accessor<'_>, &Accessor<'_>)>; 2],
    rows: Rows<'_>,
    budget: &mut Budget<'_>,
    primitive: &mut Primitive,
) -> Result<(), SceneError> {
    let Some((first_joints, first_weights)) = sets[0] else { return Ok(()) };
    let joints = first_joints.integers::<4>(&format!("{what} JOINTS_0"), rows, budget)?;
    let weights = first_weights.floats::<4>(&format!("{what} WEIGHTS_0"), rows, budget)?;
    budget.geometry_bytes(what, joints.len() as u64 * 48)?;
    let more = match sets[1] {
        Some((joints, weights)) => Some((
            joints.integers::<4>(&format!("{what} JOINTS_1"), rows, budget)?,
            weights.floats::<4>(&format!("{what} WEIGHTS_1"), rows, budget)?,
        )),
        None => None,
    };
    primitive.joints.reserve_exact(joints.len());
    primitive.joint_weights.reserve_exact(joints.len());
    for vertex in 0..joints.len() {
        let mut all_joints = [0u16; 8];
        let mut all_weights = [0f32; 8];
        for slot in 0..4 {
            all_joints[slot] = joints[vertex][slot] as u16;
            all_weights[slot] = weights[vertex][slot];
            if let Some((joints, weights)) = &more {
                all_joints[slot + 4] = joints[vertex][slot] as u16;
                all_weights[slot + 4] = weights[vertex][slot];
            }
        }
        normalise(&mut all_joints, &mut all_weights);
        primitive.joints.push(all_joints);
        primitive.joint_weights.push(all_weights);
    }
    Ok(())
}

fn normalise(joints: &mut [u16; 8], weights: &mut [f32; 8]) {
    weights.iter_mut().for_each(|weight| *weight = weight.max(0.0));
    let sum: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
    if sum < 1e-30 {
        *weights = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    } else if sum != 1.0 {
        weights.iter_mut().for_each(|weight| *weight = (f64::from(*weight) / sum) as f32);
    }
    for (joint, &weight) in joints.iter_mut().zip(weights.iter()) {
        if weight == 0.0 {
            *joint = 0;
        }
    }
}

/// The largest joint index of a primitive.
pub(crate) fn largest(primitive: &Primitive) -> Option<u16> {
    primitive.joints.iter().flatten().copied().max()
}
