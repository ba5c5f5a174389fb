//! Numbers with units, to and from text without losing a bit.

use std::fmt;

/// Splits `45deg` into `45` and `deg`; the unit may be empty. None where it does not begin with a number.
pub(super) fn split_unit(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let sign = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let mantissa = bytes[sign..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    if !bytes[sign..sign + mantissa].iter().any(u8::is_ascii_digit) {
        return None;
    }
    let mut end = sign + mantissa;
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let exponent_sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let first = end + 1 + exponent_sign;
        let digits = bytes[first.min(bytes.len())..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits > 0 {
            end = first + digits;
        }
    }
    Some(text.split_at(end))
}

/// A finite number times a power of ten, rounded once: `105` with power -2 is the `f64` nearest to 1.05.
pub(super) fn parse_number(text: &str, power: i32) -> Option<f64> {
    let (number, rest) = split_unit(text)?;
    if !rest.is_empty() {
        return None;
    }
    let (mantissa, exponent) = match number.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (number, 0),
    };
    let exponent = exponent.checked_add(power)?;
    format!("{mantissa}e{exponent}").parse().ok().filter(|value: &f64| value.is_finite())
}

/// An angle in radians, written in degrees where a short number of degrees means the same bits.
pub(super) struct Degrees(pub f64);

impl fmt::Display for Degrees {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const RAD_PER_DEG: f64 = std::f64::consts::PI / 180.0;
        let degrees = (self.0 / RAD_PER_DEG * 1e6).round() / 1e6;
        if (degrees * RAD_PER_DEG).to_bits() == self.0.to_bits() {
            write!(f, "{degrees}deg")
        } else {
            write!(f, "{}rad", self.0)
        }
    }
}

/// A factor, written in percent by moving its decimal point.
pub(super) struct Percent(pub f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.0 * 100.0;
        if parse_number(&percent.to_string(), -2) == Some(self.0) {
            return write!(f, "{percent}%");
        }
        let text = format!("{:e}", self.0);
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        write!(f, "{mantissa}e{}%", exponent.parse::<i32>().unwrap_or(0) + 2)
    }
}
