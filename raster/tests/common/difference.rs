//! Whether two frames are the same bytes in everything they hold.

use isoframe_raster::frame::{Color, Frame};

fn bytes<T: bytemuck::Pod>(buffer: &Option<Vec<T>>) -> Option<&[u8]> {
    buffer.as_ref().map(|buffer| bytemuck::cast_slice(buffer))
}

/// Each output's bytes.
fn outputs(frame: &Frame) -> [(&'static str, Option<&[u8]>); 12] {
    [
        (
            "color",
            frame.color.as_ref().map(|color| match color {
                Color::Srgb8(pixels) => bytemuck::cast_slice(pixels),
                Color::Linear(pixels) => bytemuck::cast_slice(pixels),
            }),
        ),
        ("base", bytes(&frame.base)),
        ("depth", bytes(&frame.depth)),
        ("motion", bytes(&frame.motion)),
        ("normal", bytes(&frame.normal)),
        ("albedo", bytes(&frame.albedo)),
        ("id", bytes(&frame.id)),
        ("irradiance", bytes(&frame.irradiance)),
        ("reflectance", bytes(&frame.reflectance)),
        ("emission", bytes(&frame.emission)),
        ("hit_distance", bytes(&frame.hit_distance)),
        ("variance", bytes(&frame.variance)),
    ]
}

/// What differs, in words; nothing where the frames are the same bytes.
pub fn difference(expected: &Frame, actual: &Frame) -> Option<String> {
    for ((name, a), (_, b)) in outputs(expected).into_iter().zip(outputs(actual)) {
        if a != b {
            let (a, b) = (a.unwrap_or_default(), b.unwrap_or_default());
            let count = a.iter().zip(b).filter(|(a, b)| a != b).count();
            let first = a.iter().zip(b).position(|(a, b)| a != b);
            return Some(format!(
                "{name}: {count} of {} bytes differ ({} long), first at {first:?}",
                a.len(),
                b.len()
            ));
        }
    }
    if expected.coverage != actual.coverage {
        return Some("coverage differs".into());
    }
    (expected.motion_valid != actual.motion_valid).then(|| "motion_valid differs".into())
}
