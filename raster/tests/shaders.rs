//! Every shader is parsed and validated, held to the table that describes its pass, and searched for what exact
//! code may not use, without an adapter.
#![cfg(feature = "gpu")]

mod lint;
mod twins;

use std::collections::{BTreeMap, BTreeSet};

use isoframe_raster::gpu::{
    ShaderText, bound_structs, listed_structs, shader_constants, shader_sources, shader_texts,
};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, ImageClass, ImageDimension, Module, ScalarKind, StorageAccess, TypeInner};

fn parse(name: &str, text: &str) -> (Module, ModuleInfo) {
    let module = naga::front::wgsl::parse_str(text)
        .unwrap_or_else(|error| panic!("{name}\n{}", error.emit_to_string(text)));
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(&module)
        .unwrap_or_else(|error| panic!("{name}\n{}", error.emit_to_string(text)));
    (module, info)
}

fn title(shader: &ShaderText) -> String {
    format!("{} {}", shader.label, shader.features)
}

/// How a global is bound, in the words of `Access`.
fn access(module: &Module, global: &naga::GlobalVariable) -> &'static str {
    match (global.space, &module.types[global.ty].inner) {
        (AddressSpace::Uniform, _) => "uniform",
        (AddressSpace::Storage { access }, _) if access.contains(StorageAccess::STORE) => "read_write",
        (AddressSpace::Storage { .. }, _) => "read",
        (_, TypeInner::Image { class: ImageClass::Storage { .. }, .. }) => "filled_list",
        (
            _,
            &TypeInner::Image {
                dim: ImageDimension::D2,
                arrayed,
                class: ImageClass::Sampled { kind: ScalarKind::Uint, .. },
            },
        ) => {
            if arrayed {
                "layered_list"
            } else {
                "list"
            }
        }
        other => panic!("unexpected binding {other:?}"),
    }
}

#[test]
fn shaders_are_valid_and_bind_what_their_passes_say() {
    let texts = shader_texts();
    assert!(texts.len() > 100, "{} texts", texts.len());
    for shader in &texts {
        let (module, _) = parse(&title(shader), &shader.text);
        for (_, global) in module.global_variables.iter() {
            let Some(binding) = global.binding else { continue };
            let at = (binding.group, binding.binding as usize);
            let name = global.name.as_deref().unwrap_or_default();
            assert_eq!(
                (0, Some(&(name, access(&module, global)))),
                (at.0, shader.bindings.get(at.1)),
                "binding {at:?} of {}",
                title(shader)
            );
        }
        let bound = module.global_variables.iter().filter(|(_, global)| global.binding.is_some()).count();
        assert_eq!(bound, shader.bindings.len(), "bindings of {}", title(shader));
        let entry = module.entry_points.iter().find(|e| e.name == shader.entry);
        let entry = entry.unwrap_or_else(|| panic!("{} has no {}", shader.label, shader.entry));
        assert_eq!(entry.workgroup_size, shader.workgroup, "{}", title(shader));
        let [x, y, z] = entry.workgroup_size;
        assert!(x * y * z <= isoframe_raster::gpu::WORKGROUP_INVOCATIONS);
        let buffers = shader.bindings.iter().filter(|(_, access)| access.starts_with("read")).count();
        assert!(buffers <= isoframe_raster::gpu::STORAGE_BUFFERS as usize, "{}", title(shader));
    }
}

#[test]
fn shaders_use_exact_arithmetic_only() {
    let mut breaches = std::collections::BTreeSet::new();
    for shader in &shader_texts() {
        let (module, info) = parse(&title(shader), &shader.text);
        for found in lint::check(&module, &info, &shader.text) {
            breaches.insert(format!("{}: {found}", shader.label));
        }
    }
    // The probe asks on purpose what a device makes of a plain product.
    breaches.retain(|breach| !breach.ends_with("return bits2(a * b - c, a * b + c * d);"));
    assert!(breaches.is_empty(), "\n{}", breaches.into_iter().collect::<Vec<_>>().join("\n"));
}

/// Each line breaks one rule.
#[test]
fn the_lint_sees_each_broken_rule() {
    let broken = [
        ("fused product", "let x = a * b; return x + c;"),
        ("fused product, negated", "return c - (-(a * b));"),
        ("regrouped sum", "return a + b + c;"),
        ("regrouped product", "return a * b * c;"),
        ("through a variable", "var x = a * b; x = x + c; return x;"),
        ("through a branch", "let x = select(a, a * b, c > 1.0); return x + c;"),
        ("through a function", "return product(a, b) + c;"),
        ("through an argument", "return increment(a * b);"),
        ("float division", "return a / b;"),
        ("float remainder", "return a % b;"),
        ("signed remainder", "return f32(i32(a) % i32(b));"),
        ("fma", "return fma(a, b, c);"),
        ("dot", "return dot(vec3<f32>(a), vec3<f32>(b));"),
        ("mix", "return mix(a, b, c);"),
        ("pow", "return pow(a, b);"),
        ("sqrt", "return sqrt(a);"),
        ("sin", "return sin(a);"),
        ("round", "return round(a);"),
        ("length", "return length(vec2<f32>(a, b));"),
        ("normalize", "return normalize(vec2<f32>(a, b)).x;"),
        ("exp2", "return exp2(a);"),
        ("matrix product", "return (mat2x2<f32>(a, b, c, a) * vec2<f32>(a, b)).x;"),
    ];
    let around = |body: &str| {
        format!(
            "fn product(a: f32, b: f32) -> f32 {{ return a * b; }}
             fn increment(a: f32) -> f32 {{ return a + 1.0; }}
             fn mul(x: f32, y: f32) -> f32 {{ return bitcast<f32>(bitcast<u32>(x * y) ^ 0u); }}
             fn f(a: f32, b: f32, c: f32) -> f32 {{ {body} }}"
        )
    };
    for (rule, body) in broken {
        let text = around(body);
        let (module, info) = parse(rule, &text);
        assert!(!lint::check(&module, &info, &text).is_empty(), "{rule} was not seen");
    }
    for body in ["return mul(a, b) + c;", "return floor(a) * (b - c);", "return abs(min(a, b));"] {
        let text = around(body);
        let (module, info) = parse(body, &text);
        let found = lint::check(&module, &info, &text);
        assert!(found.is_empty(), "{body}: {found:?}");
    }
}

/// The host's constants: all values that each has.
fn host_constants() -> BTreeMap<String, BTreeSet<Vec<u32>>> {
    let mut all: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for (name, bits) in shader_constants() {
        all.entry(name).or_default().insert(bits);
    }
    all
}

/// Everything in which a shader differs from the host, and which twins it has.
fn differences(module: &Module, seen: &mut BTreeSet<&'static str>) -> Vec<String> {
    let mut found = twins::compare_constants(module, &host_constants());
    for host in bound_structs() {
        if let Some(differences) = twins::compare_struct(module, &host) {
            seen.insert(host.name);
            found.extend(differences);
        }
    }
    let listed = listed_structs();
    for (name, host, field) in twins::ACCESSORS {
        let host = listed.iter().find(|s| s.name == host).expect("the struct");
        if let Some(differences) = twins::compare_accessor(module, name, host, field) {
            seen.insert(name);
            found.extend(differences);
        }
    }
    found
}

#[test]
fn structs_lists_and_numbers_are_the_hosts() {
    let (mut seen, mut found) = (BTreeSet::new(), BTreeSet::new());
    for shader in &shader_texts() {
        let (module, _) = parse(&title(shader), &shader.text);
        for difference in differences(&module, &mut seen) {
            found.insert(format!("{}: {difference}", shader.label));
        }
    }
    assert!(found.is_empty(), "\n{}", found.into_iter().collect::<Vec<_>>().join("\n"));
    let all: BTreeSet<_> =
        bound_structs().iter().map(|s| s.name).chain(twins::ACCESSORS.map(|(name, ..)| name)).collect();
    assert_eq!(seen, all, "twins that no shader has");
    let (parts, found) = twins::compare_parts(&host_constants(), &listed_structs());
    assert!(parts >= 16 && found.is_empty(), "{parts} places of fields, {found:?}");
}

#[test]
fn numbers_are_typed_once_and_used() {
    let typed: Vec<_> = shader_sources()
        .iter()
        .flat_map(|(stem, text)| twins::typed_numbers(text).into_iter().map(move |n| format!("{stem}: {n}")))
        .collect();
    assert!(typed.is_empty(), "\n{}", typed.join("\n"));
    let text: String = shader_sources().iter().map(|(_, text)| *text).collect();
    let words: BTreeSet<_> = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).collect();
    for name in host_constants().keys() {
        // Samples and neighbours are counted by loops.
        let rows = ["SAMPLE_X_", "SAMPLE_Y_", "NEIGHBOUR_X_", "NEIGHBOUR_Y_"];
        let is_counted = rows.iter().any(|row| name.starts_with(row));
        assert!(is_counted || words.contains(name.as_str()), "no shader uses {name}");
    }
}

/// One thing wrong at a time: each must be seen in the text it is in.
#[test]
fn each_broken_twin_is_seen() {
    let broken = [
        ("field renamed", "    large_capacity: u32,", "    large_count: u32,"),
        (
            "fields swapped",
            "    key_scale: f32,\n    key_offset: f32,",
            "    key_offset: f32,\n    key_scale: f32,",
        ),
        ("field left out", "    deformed_count: u32,\n", ""),
        ("padding left out", "    padding: u32,\n", ""),
        ("type changed", "    exposure: f32,", "    exposure: u32,"),
        ("offset moved", "    background_linear: vec4<f32>,", "    background_linear: vec3<f32>,"),
        ("array cut short", "irradiance_sh: array<vec4<f32>, 9>", "irradiance_sh: array<vec4<f32>, 8>"),
        (
            "counter swapped",
            "    items: atomic<u32>,\n    pairs: atomic<u32>,",
            "    pairs: atomic<u32>,\n    items: atomic<u32>,",
        ),
        ("table cut short", "thresholds: array<vec4<f32>, 64>", "thresholds: array<vec4<f32>, 63>"),
        (
            "job's fields swapped",
            "    first_source: u32,\n    first_target: u32,",
            "    first_target: u32,\n    first_source: u32,",
        ),
        (
            "component swapped",
            "return InstanceIds(p.x, p.y, p.z, p.w);",
            "return InstanceIds(p.x, p.y, p.w, p.z);",
        ),
        (
            "part mistaken",
            "instance_part(k, INSTANCE_PRIMITIVE_ID)",
            "instance_part(k, INSTANCE_FIRST_TRIANGLE)",
        ),
        ("part after next", "material_part(k, part + 2u)", "material_part(k, part + 1u)"),
        ("swizzle shifted", "bitcast<vec2<f32>>(p2.zw)", "bitcast<vec2<f32>>(p2.yz)"),
        ("element mistaken", "table(k * LIGHT_PARTS + 3u)", "table(k * LIGHT_PARTS + 2u)"),
        ("word mistaken", "return Emission(p.xyz, p.w);", "return Emission(p.yzw, p.x);"),
        ("number changed", "const LIST_WIDTH: u32 = 2048u;", "const LIST_WIDTH: u32 = 1024u;"),
        ("float changed", "const ACES_MAX: f32 = 1000000.0f;", "const ACES_MAX: f32 = 999999.9f;"),
        ("number typed in WGSL", "const NOTHING", "const EVERYTHING: u32 = 1u;\nconst NOTHING"),
    ];
    // One text of each pass will do.
    let texts: BTreeMap<_, _> = shader_texts().into_iter().map(|shader| (shader.label, shader)).collect();
    for (what, from, to) in broken {
        let mut seen = 0;
        for shader in texts.values().filter(|shader| shader.text.contains(from)) {
            // Where the broken thing is used the text may not parse: seen, but not by us.
            if let Ok(module) = naga::front::wgsl::parse_str(&shader.text.replace(from, to)) {
                let found = differences(&module, &mut BTreeSet::new());
                assert!(!found.is_empty(), "{what} is not seen in {}", title(shader));
                seen += 1;
            }
        }
        assert!(seen > 0, "{what}: no shader that holds `{from}` parses without it");
    }
    assert_eq!(twins::typed_numbers("let x = y * 0.25; // 0.3\nlet z = 0.5;").len(), 1);
}
