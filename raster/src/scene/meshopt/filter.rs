//! Filters that turn unpacked integers into what accessors expect.
//!
//! The extension allows one unit in the last place; this is its formula in IEEE operations, the same everywhere.

/// A filter of mode 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filter {
    None,
    Octahedral,
    Quaternion,
    Exponential,
    Color,
}

impl Filter {
    /// Filters elements of `stride` bytes in place.
    pub fn apply(self, bytes: &mut [u8], stride: usize) {
        match (self, stride) {
            (Filter::None, _) => {}
            (Filter::Exponential, _) => bytes.chunks_exact_mut(4).for_each(exponential),
            (Filter::Quaternion, _) => shorts(bytes, quaternion),
            (Filter::Octahedral, 4) => signed_bytes(bytes, |v| octahedral(v, 127.0)),
            (Filter::Octahedral, _) => shorts(bytes, |v| octahedral(v, 32767.0)),
            (Filter::Color, 4) => {
                for element in bytes.chunks_exact_mut(4) {
                    let signed = [element[0] as i8, element[1] as i8, element[2] as i8].map(i32::from);
                    let rgba =
                        color([i32::from(element[0]), signed[1], signed[2], i32::from(element[3])], 255.0);
                    element.iter_mut().zip(rgba).for_each(|(byte, value)| *byte = value as u8);
                }
            }
            (Filter::Color, _) => {
                for element in bytes.chunks_exact_mut(8) {
                    let at = |index: usize| u16::from_le_bytes([element[index * 2], element[index * 2 + 1]]);
                    let (y, alpha) = (i32::from(at(0)), i32::from(at(3)));
                    let rgba = color([y, i32::from(at(1) as i16), i32::from(at(2) as i16), alpha], 65535.0);
                    for (part, value) in element.chunks_exact_mut(2).zip(rgba) {
                        part.copy_from_slice(&(value as u16).to_le_bytes());
                    }
                }
            }
        }
    }
}

fn signed_bytes(bytes: &mut [u8], filter: impl Fn([i32; 4]) -> [i32; 4]) {
    for element in bytes.chunks_exact_mut(4) {
        let values = [0, 1, 2, 3].map(|index| i32::from(element[index] as i8));
        element.iter_mut().zip(filter(values)).for_each(|(byte, value)| *byte = value as i8 as u8);
    }
}

fn shorts(bytes: &mut [u8], filter: impl Fn([i32; 4]) -> [i32; 4]) {
    for element in bytes.chunks_exact_mut(8) {
        let values =
            [0, 1, 2, 3].map(|i| i32::from(i16::from_le_bytes([element[i * 2], element[i * 2 + 1]])));
        for (part, value) in element.chunks_exact_mut(2).zip(filter(values)) {
            part.copy_from_slice(&(value as i16).to_le_bytes());
        }
    }
}

/// Nearest integer, halves away from zero; what is not a number becomes 0.
fn round(value: f32) -> i32 {
    value.round() as i32
}

/// A unit vector from two coordinates on the octahedron; the third says what 1 is, the fourth passes through.
fn octahedral([x, y, one, rest]: [i32; 4], max: f32) -> [i32; 4] {
    let one = one as f32;
    let (mut x, mut y) = (x as f32 / one, y as f32 / one);
    let z = 1.0 - x.abs() - y.abs();
    let fold = z.min(0.0);
    x += if x >= 0.0 { fold } else { -fold };
    y += if y >= 0.0 { fold } else { -fold };
    let length = (x * x + y * y + z * z).sqrt();
    [round(x / length * max), round(y / length * max), round(z / length * max), rest]
}

/// A unit quaternion from its three smaller components; the last input holds what 1 is and which is left out.
fn quaternion([x, y, z, last]: [i32; 4]) -> [i32; 4] {
    let scale = std::f32::consts::FRAC_1_SQRT_2 / (last | 3) as f32;
    let [x, y, z] = [x, y, z].map(|value| value as f32 * scale);
    let w = (1.0 - x * x - y * y - z * z).max(0.0).sqrt();
    let largest = (last & 3) as usize;
    let mut out = [0; 4];
    for (offset, value) in [w, x, y, z].into_iter().enumerate() {
        out[(largest + offset) % 4] = round(value * 32767.0);
    }
    out
}

/// A float from a signed exponent of 8 bits over a signed mantissa of 24.
fn exponential(element: &mut [u8]) {
    let value = i32::from_le_bytes([element[0], element[1], element[2], element[3]]);
    let (exponent, mantissa) = (value >> 24, value << 8 >> 8);
    // Powers of two and their product are exact; out of the valid range the product may round or overflow, and
    // what is not finite is refused where the accessor is read.
    let power = f64::from_bits(((1023 + i64::from(exponent)) as u64) << 52);
    element.copy_from_slice(&((power * f64::from(mantissa)) as f32).to_le_bytes());
}

/// Red, green, blue and alpha from YCoCg and an alpha whose highest bit says what 1 is.
fn color([y, co, cg, alpha]: [i32; 4], max: f32) -> [i32; 4] {
    let bits = 32 - alpha.leading_zeros();
    let one = (1i32 << bits) - 1;
    let (red, green, blue) = (y + co - cg, y + cg, y - co - cg);
    let alpha = alpha & (one >> 1);
    let alpha = alpha << 1 | alpha & 1;
    // Without any bit set there is no scale; such an element is broken and becomes black.
    let scale = if one == 0 { 0.0 } else { max / one as f32 };
    [red, green, blue, alpha].map(|value| round((value as f32 * scale).clamp(0.0, max)))
}
