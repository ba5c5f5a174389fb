//! The sRGB curve: exact in `f64`, and as tables for whoever needs the same bits everywhere.
//!
//! *Source*: IEC 61966-2-1, with its constants 0.04045, 12.92, 0.055 and 2.4.

include!("srgb_tables.rs");

/// Linear value of an sRGB value, both 0 to 1.
pub fn linear_from_srgb(srgb: f64) -> f64 {
    if srgb <= 0.04045 { srgb / 12.92 } else { libm::pow((srgb + 0.055) / 1.055, 2.4) }
}

/// The text of `srgb_tables.rs`, computed.
#[doc(hidden)]
pub fn tables_source() -> String {
    let decoded = (0..256).map(|code| linear_from_srgb(f64::from(code) / 255.0) as f32);
    let thresholds = (0..256).map(|code| if code == 0 { 0.0 } else { round_up(threshold(code)) });
    [
        "// Made by `tables_source`; `tests/image_srgb.rs` holds this file to it.\n\n".into(),
        table("SRGB8_TO_LINEAR", "Linear value of each 8-bit sRGB code, rounded to nearest.", decoded),
        "\n".into(),
        table(
            "LINEAR_TO_SRGB8_THRESHOLDS",
            "The smallest linear value that encodes to at least this code, where a value encodes to the nearest code.",
            thresholds,
        ),
    ]
    .concat()
}

/// Linear value half way, in sRGB, between a code and the one below.
fn threshold(code: u32) -> f64 {
    linear_from_srgb((f64::from(code) - 0.5) / 255.0)
}

fn round_up(x: f64) -> f32 {
    let near = x as f32;
    if f64::from(near) < x { f32::from_bits(near.to_bits() + 1) } else { near }
}

fn table(name: &str, docs: &str, values: impl Iterator<Item = f32>) -> String {
    let values: Vec<String> = values.map(|v| format!("{v:?}")).collect();
    let rows: Vec<String> = values.chunks(6).map(|row| format!("    {},\n", row.join(", "))).collect();
    format!("/// {docs}\n#[rustfmt::skip]\npub static {name}: [f32; 256] = [\n{}];\n", rows.concat())
}
