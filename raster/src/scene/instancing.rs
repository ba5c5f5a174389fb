//! EXT_mesh_gpu_instancing.

use super::accessor::{Accessor, Component, Kind, Rows};
use super::error::{SceneError, quote};
use super::node::{check_entries, unit_quaternion};
use super::reader::Reader;
use super::{Trs, json};

/// Reads the transforms of a node's instances. Besides the extension's floats and normalized rotations, integers as
/// KHR_mesh_quantization stores positions are taken for translation and scale.
pub(crate) fn instances(
    reader: &mut Reader<'_, '_>,
    node: &str,
    json: &json::Instancing,
) -> Result<Vec<Trs>, SceneError> {
    let what = format!("{node} EXT_mesh_gpu_instancing");
    let mut count = None;
    for (name, &index) in &json.attributes {
        let what = format!("{what} {name}");
        let accessor = reader.accessor(index, &what)?;
        accessor.require_count(*count.get_or_insert(accessor.count), &what)?;
        if !["TRANSLATION", "ROTATION", "SCALE"].contains(&name.as_str()) && !name.starts_with('_') {
            reader.note(format!("instance attribute {} is ignored", quote(name)));
        }
    }
    let count = count.ok_or_else(|| SceneError::Structure {
        what: what.clone(),
        reason: "it has no attributes, so no number of instances",
    })?;
    reader.budget.instances(&what, count as u64)?;
    reader.budget.geometry_bytes(&what, count as u64 * 40)?;
    let mut instances = vec![Trs::default(); count];
    let limit = reader.budget.limits.coordinate;
    let find = |name: &str| json.attributes.get(name).map(|&index| &reader.accessors[index as usize]);
    let (translation, rotation, scale) = (find("TRANSLATION"), find("ROTATION"), find("SCALE"));
    let vector = |accessor: &Accessor<'_>, what: &str| {
        let fits = accessor.kind == Kind::Vec3 && accessor.component != Component::U32;
        accessor.require(fits, what, "VEC3 of F32 or 8 or 16 bit integers")
    };
    if let Some(accessor) = translation {
        let what = format!("{what} TRANSLATION");
        vector(accessor, &what)?;
        let values = accessor.floats::<3>(&what, Rows::All, &mut reader.budget)?;
        values.iter().try_for_each(|value| check_entries(&what, "value", value, limit))?;
        instances.iter_mut().zip(values).for_each(|(instance, value)| instance.translation = value);
    }
    if let Some(accessor) = scale {
        let what = format!("{what} SCALE");
        vector(accessor, &what)?;
        let values = accessor.floats::<3>(&what, Rows::All, &mut reader.budget)?;
        values.iter().try_for_each(|value| check_entries(&what, "value", value, limit))?;
        instances.iter_mut().zip(values).for_each(|(instance, value)| instance.scale = value);
    }
    if let Some(accessor) = rotation {
        let what = format!("{what} ROTATION");
        let signed = matches!(accessor.component, Component::I8 | Component::I16) && accessor.normalized;
        let fits = accessor.kind == Kind::Vec4 && (accessor.component == Component::F32 || signed);
        accessor.require(fits, &what, "VEC4 of F32 or normalized I8 or I16")?;
        let values = accessor.floats::<4>(&what, Rows::All, &mut reader.budget)?;
        for (at, (instance, value)) in instances.iter_mut().zip(values).enumerate() {
            instance.rotation = unit_quaternion(value).ok_or_else(|| SceneError::ValueOutOfRange {
                what: format!("{what} element {at}"),
                value: 0.0,
                allowed: "a quaternion of length 1",
            })?;
        }
    }
    Ok(instances)
}
