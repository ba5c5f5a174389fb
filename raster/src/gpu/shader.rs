//! Shader text: one file per pass, put together with the constants that Rust owns.

use std::fmt::Write;

use crate::exact;

/// The files under `shaders/`, by stem.
pub(super) const SOURCES: [(&str, &str); 62] = [
    ("accumulate", include_str!("../../../shaders/accumulate.wgsl")),
    ("basis", include_str!("../../../shaders/basis.wgsl")),
    ("bin", include_str!("../../../shaders/bin.wgsl")),
    ("bsdf", include_str!("../../../shaders/bsdf.wgsl")),
    ("bsdf_facets", include_str!("../../../shaders/bsdf_facets.wgsl")),
    ("bsdf_film", include_str!("../../../shaders/bsdf_film.wgsl")),
    ("coats", include_str!("../../../shaders/coats.wgsl")),
    ("collect", include_str!("../../../shaders/collect.wgsl")),
    ("counters", include_str!("../../../shaders/counters.wgsl")),
    ("coverage", include_str!("../../../shaders/coverage.wgsl")),
    ("deform", include_str!("../../../shaders/deform.wgsl")),
    ("emitters", include_str!("../../../shaders/emitters.wgsl")),
    ("evaluate", include_str!("../../../shaders/evaluate.wgsl")),
    ("exact", include_str!("../../../shaders/exact.wgsl")),
    ("film", include_str!("../../../shaders/film.wgsl")),
    ("frame", include_str!("../../../shaders/frame.wgsl")),
    ("gather", include_str!("../../../shaders/gather.wgsl")),
    ("guide", include_str!("../../../shaders/guide.wgsl")),
    ("hit", include_str!("../../../shaders/hit.wgsl")),
    ("hit_parameters", include_str!("../../../shaders/hit_parameters.wgsl")),
    ("illuminate", include_str!("../../../shaders/illuminate.wgsl")),
    ("instances", include_str!("../../../shaders/instances.wgsl")),
    ("integer", include_str!("../../../shaders/integer.wgsl")),
    ("layers", include_str!("../../../shaders/layers.wgsl")),
    ("light", include_str!("../../../shaders/light.wgsl")),
    ("lights", include_str!("../../../shaders/lights.wgsl")),
    ("lobes", include_str!("../../../shaders/lobes.wgsl")),
    ("mask", include_str!("../../../shaders/mask.wgsl")),
    ("materials", include_str!("../../../shaders/materials.wgsl")),
    ("microfacet", include_str!("../../../shaders/microfacet.wgsl")),
    ("octahedron", include_str!("../../../shaders/octahedron.wgsl")),
    ("origin", include_str!("../../../shaders/origin.wgsl")),
    ("parameters", include_str!("../../../shaders/parameters.wgsl")),
    ("pixel_light", include_str!("../../../shaders/pixel_light.wgsl")),
    ("plan", include_str!("../../../shaders/plan.wgsl")),
    ("point", include_str!("../../../shaders/point.wgsl")),
    ("points", include_str!("../../../shaders/points.wgsl")),
    ("prelude", include_str!("../../../shaders/prelude.wgsl")),
    ("probe", include_str!("../../../shaders/probe.wgsl")),
    ("project", include_str!("../../../shaders/project.wgsl")),
    ("ray", include_str!("../../../shaders/ray.wgsl")),
    ("resolve", include_str!("../../../shaders/resolve.wgsl")),
    ("samples", include_str!("../../../shaders/samples.wgsl")),
    ("scatter", include_str!("../../../shaders/scatter.wgsl")),
    ("sequence", include_str!("../../../shaders/sequence.wgsl")),
    ("setup", include_str!("../../../shaders/setup.wgsl")),
    ("shade", include_str!("../../../shaders/shade.wgsl")),
    ("shadow", include_str!("../../../shaders/shadow.wgsl")),
    ("sky", include_str!("../../../shaders/sky.wgsl")),
    ("srgb", include_str!("../../../shaders/srgb.wgsl")),
    ("surface", include_str!("../../../shaders/surface.wgsl")),
    ("surface_parameters", include_str!("../../../shaders/surface_parameters.wgsl")),
    ("tangent_space", include_str!("../../../shaders/tangent_space.wgsl")),
    ("texture", include_str!("../../../shaders/texture.wgsl")),
    ("tonemap", include_str!("../../../shaders/tonemap.wgsl")),
    ("trace", include_str!("../../../shaders/trace.wgsl")),
    ("tracing", include_str!("../../../shaders/tracing.wgsl")),
    ("transmission", include_str!("../../../shaders/transmission.wgsl")),
    ("tree", include_str!("../../../shaders/tree.wgsl")),
    ("vector", include_str!("../../../shaders/vector.wgsl")),
    ("vertices", include_str!("../../../shaders/vertices.wgsl")),
    ("visibility", include_str!("../../../shaders/visibility.wgsl")),
];

/// A line that asks for another file, once.
const INCLUDE: &str = "//#include ";

/// Lines between this and [`END`] are repeated: `//#for k in COUNT`, with `$k` standing for the number.
const FOR: &str = "//#for ";
const END: &str = "//#end";

/// A number that both languages use; Rust is where it is typed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Constant {
    Bool(&'static str, bool),
    U32(&'static str, u32),
    I32(&'static str, i32),
    F32(&'static str, f32),
    F32x3(&'static str, [f32; 3]),
    /// One of a row of numbers, `NAME_k`.
    Numbered(&'static str, usize, i32),
}

impl Constant {
    fn wgsl(&self, text: &mut String) {
        // `{:?}` prints the shortest decimal that reads back as the same bits.
        let result = match *self {
            Constant::Bool(name, value) => writeln!(text, "const {name}: bool = {value};"),
            Constant::U32(name, value) => writeln!(text, "const {name}: u32 = {value}u;"),
            Constant::I32(name, value) => writeln!(text, "const {name}: i32 = i32({value});"),
            Constant::F32(name, value) => writeln!(text, "const {name}: f32 = {value:?}f;"),
            Constant::F32x3(name, [x, y, z]) => {
                writeln!(text, "const {name}: vec3<f32> = vec3<f32>({x:?}, {y:?}, {z:?});")
            }
            Constant::Numbered(name, k, value) => {
                writeln!(text, "const {name}_{k}: i32 = i32({value});")
            }
        };
        result.expect("writing to a string cannot fail");
    }

    /// Name and bits, one per component.
    pub fn bits(&self) -> (String, Vec<u32>) {
        match *self {
            Constant::Bool(name, value) => (name.to_owned(), vec![value.into()]),
            Constant::U32(name, value) => (name.to_owned(), vec![value]),
            Constant::I32(name, value) => (name.to_owned(), vec![value as u32]),
            Constant::F32(name, value) => (name.to_owned(), vec![value.to_bits()]),
            Constant::F32x3(name, value) => (name.to_owned(), value.map(f32::to_bits).to_vec()),
            Constant::Numbered(name, k, value) => (format!("{name}_{k}"), vec![value as u32]),
        }
    }

    /// The value of a `u32` of this name.
    fn count(&self, wanted: &str) -> Option<u32> {
        match *self {
            Constant::U32(name, value) if name == wanted => Some(value),
            _ => None,
        }
    }
}

/// The numbers of `exact.wgsl`.
pub(crate) fn exact_constants() -> Vec<Constant> {
    let [c5, c4, c3, c2, c1, c0] = exact::LOG2_POLYNOMIAL;
    let [e6, e5, e4, e3, e2, e1] = exact::EXP2_POLYNOMIAL;
    let [q3, q2, q1, q0] = exact::SINE_POLYNOMIAL;
    let [s3, s2, s1, s0] = exact::SIN_POLYNOMIAL;
    let [k3, k2, k1, k0] = exact::COS_POLYNOMIAL;
    vec![
        Constant::F32("FLUSH_BELOW", exact::FLUSH_BELOW),
        Constant::U32("FLUSH_BELOW_BITS", exact::FLUSH_BELOW.to_bits()),
        Constant::U32("RECIP_GUESS", exact::RECIP_GUESS),
        Constant::U32("RSQRT_GUESS", exact::RSQRT_GUESS),
        Constant::F32("LOG2_POLYNOMIAL_5", c5),
        Constant::F32("LOG2_POLYNOMIAL_4", c4),
        Constant::F32("LOG2_POLYNOMIAL_3", c3),
        Constant::F32("LOG2_POLYNOMIAL_2", c2),
        Constant::F32("LOG2_POLYNOMIAL_1", c1),
        Constant::F32("LOG2_POLYNOMIAL_0", c0),
        Constant::F32("EXP2_POLYNOMIAL_6", e6),
        Constant::F32("EXP2_POLYNOMIAL_5", e5),
        Constant::F32("EXP2_POLYNOMIAL_4", e4),
        Constant::F32("EXP2_POLYNOMIAL_3", e3),
        Constant::F32("EXP2_POLYNOMIAL_2", e2),
        Constant::F32("EXP2_POLYNOMIAL_1", e1),
        Constant::F32("SIN_POLYNOMIAL_3", s3),
        Constant::F32("SIN_POLYNOMIAL_2", s2),
        Constant::F32("SIN_POLYNOMIAL_1", s1),
        Constant::F32("SIN_POLYNOMIAL_0", s0),
        Constant::F32("COS_POLYNOMIAL_3", k3),
        Constant::F32("COS_POLYNOMIAL_2", k2),
        Constant::F32("COS_POLYNOMIAL_1", k1),
        Constant::F32("COS_POLYNOMIAL_0", k0),
        Constant::F32("EXP2_MAX", exact::EXP2_MAX),
        Constant::F32("QUARTERS", exact::QUARTERS),
        Constant::F32("QUARTER_TURN", exact::QUARTER_TURN),
        Constant::F32("SINE_POLYNOMIAL_3", q3),
        Constant::F32("SINE_POLYNOMIAL_2", q2),
        Constant::F32("SINE_POLYNOMIAL_1", q1),
        Constant::F32("SINE_POLYNOMIAL_0", q0),
    ]
}

/// The whole text of a shader: constants, what it includes, itself.
pub(crate) fn compose(stem: &str, constants: &[Constant]) -> String {
    let mut text = String::new();
    for constant in constants {
        constant.wgsl(&mut text);
    }
    let mut body = String::new();
    include(stem, &mut Vec::new(), &mut body);
    let lines: Vec<&str> = body.lines().collect();
    repeat(&lines, &[], constants, &mut text);
    text
}

fn include(stem: &str, seen: &mut Vec<String>, text: &mut String) {
    if seen.iter().any(|name| name == stem) {
        return;
    }
    seen.push(stem.to_owned());
    let (_, source) =
        SOURCES.iter().find(|(name, _)| *name == stem).unwrap_or_else(|| panic!("no shader is named {stem}"));
    for line in source.lines() {
        match line.strip_prefix(INCLUDE) {
            Some(wanted) => include(wanted.trim(), seen, text),
            None => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
}

/// Copies lines, those in loops as often as their loops run. `bound` are the outer loops' numbers.
fn repeat(lines: &[&str], bound: &[(String, u32)], constants: &[Constant], text: &mut String) {
    let mut k = 0;
    while k < lines.len() {
        let line = substitute(lines[k], bound);
        k += 1;
        let Some(head) = line.trim_start().strip_prefix(FOR) else {
            text.push_str(&line);
            text.push('\n');
            continue;
        };
        let (name, count) =
            head.split_once(" in ").unwrap_or_else(|| panic!("a loop without a count: {line}"));
        let count = count.trim();
        let count = count
            .parse()
            .ok()
            .or_else(|| constants.iter().find_map(|constant| constant.count(count)))
            .unwrap_or_else(|| panic!("no constant is named {count}"));
        let length = loop_length(&lines[k..]);
        for number in 0..count {
            let bound = [bound, &[(format!("${name}"), number)]].concat();
            repeat(&lines[k..k + length], &bound, constants, text);
        }
        k += length + 1;
    }
}

/// Lines before the end of the loop that has just begun.
fn loop_length(lines: &[&str]) -> usize {
    let mut depth = 0;
    for (k, line) in lines.iter().enumerate() {
        let line = line.trim_start();
        if line.starts_with(FOR) {
            depth += 1;
        } else if line.starts_with(END) {
            if depth == 0 {
                return k;
            }
            depth -= 1;
        }
    }
    panic!("a loop without an end");
}

fn substitute(line: &str, bound: &[(String, u32)]) -> String {
    bound.iter().fold(line.to_owned(), |line, (name, number)| line.replace(name, &number.to_string()))
}
