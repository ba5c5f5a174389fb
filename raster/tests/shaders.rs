//! Every shader is parsed and validated, held to the table that describes its pass, and searched for what exact
//! code may not use, without an adapter.
#![cfg(feature = "gpu")]

mod lint;

use isoframe_raster::gpu::{ShaderText, shader_texts};
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
