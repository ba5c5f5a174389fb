//! One body, every backend: all outputs of a spread of scenes are the same bytes on the CPU at any thread count
//! and instruction set, with denormals flushed and not, and on every adapter of this machine; also when other
//! frames come between. Fresh processes and the drivers are `ops/drivers/matrix.sh`'s part.
#![cfg(feature = "gpu")]

#[path = "common/adapters.rs"]
mod adapters;
mod common;
#[path = "common/difference.rs"]
mod difference;
mod spread;

use difference::difference;
use isoframe_raster::backend::{Cancel, Job};
use isoframe_raster::cpu::{Cpu, CpuOptions, InstructionSet};
use isoframe_raster::environment::Environment;
use isoframe_raster::frame::{Frame, RenderError};
use isoframe_raster::gpu::{TEXELS_LAYERS_MAX, TEXELS_PER_LAYER};
use isoframe_raster::prepared::Prepared;
use spread::Case;

fn render(
    case: &Case,
    environment: &Environment,
    backend: &dyn Fn(&Job<'_>) -> Result<Frame, RenderError>,
) -> Frame {
    let job = Job {
        scene: &case.scene,
        environment,
        request: &case.request,
        color: case.color,
        cancel: &Cancel::default(),
    };
    backend(&job).unwrap_or_else(|error| panic!("{}: {error}", case.name))
}

fn check(who: &str, case: &Case, expected: &Frame, actual: &Frame) {
    if let Some(difference) = difference(expected, actual) {
        panic!("{who}, {}: {difference}", case.name);
    }
}

fn cpu(options: CpuOptions) -> Cpu {
    Cpu::new(options).unwrap_or_else(|error| panic!("{options:?}: {error}"))
}

fn references(cases: &[Case], environment: &Environment) -> Vec<Frame> {
    let plain = cpu(CpuOptions::default());
    cases.iter().map(|case| render(case, environment, &|job| plain.render(job))).collect()
}

#[test]
fn cpu_threads_instruction_sets_and_denormals_change_no_byte() {
    let environment = Environment::studio();
    let mut cases = spread::cases();
    cases.extend(spread::traced::cases());
    let expected = references(&cases, &environment);
    let mut all = Vec::new();
    for instruction_set in InstructionSet::available() {
        for threads in [1, 2, 7] {
            for denormals_flushed in [false, true] {
                all.push(CpuOptions { threads, instruction_set, denormals_flushed, ..CpuOptions::default() });
            }
        }
    }
    for options in all {
        let backend = cpu(options);
        for (case, expected) in cases.iter().zip(&expected) {
            let frame = render(case, &environment, &|job| backend.render(job));
            check(&format!("{options:?}"), case, expected, &frame);
        }
    }
}

#[test]
fn every_adapter_gives_the_cpus_bytes() {
    let environment = Environment::studio();
    let cases = spread::cases();
    let expected = references(&cases, &environment);
    for gpu in adapters::opened() {
        let forth = cases.iter().zip(&expected);
        // Again, the other way round: what a frame leaves behind must not be seen by the next.
        for (case, expected) in forth.clone().chain(forth.rev()) {
            let frame = render(case, &environment, &|job| gpu.render(job));
            check(&gpu.name(), case, expected, &frame);
        }
        eprintln!("{}: {} cases, same bytes", gpu.name(), cases.len());
    }
}

#[test]
fn traced_light_is_the_same_on_every_adapter() {
    let environment = Environment::studio();
    let cases = spread::traced::cases();
    let expected = references(&cases, &environment);
    for gpu in adapters::opened() {
        for (case, expected) in cases.iter().zip(&expected) {
            let frame = render(case, &environment, &|job| gpu.render(job));
            check(&gpu.name(), case, expected, &frame);
            eprintln!("{}, {}: same bytes", gpu.name(), case.name);
        }
    }
}

/// Parts of the samples made apart, some on the CPU, are the whole.
#[test]
fn traced_samples_of_all_backends_join() {
    let environment = Environment::studio();
    let case = &spread::traced::cases()[0];
    let plain = cpu(CpuOptions::default());
    let expected = render(case, &environment, &|job| plain.render(job));
    for gpu in adapters::opened() {
        let joined = render(case, &environment, &|job| {
            let mut light = gpu.trace(job, 0..1)?;
            light.append(plain.trace(job, 1..2)?);
            light.append(gpu.trace(job, 2..3)?);
            gpu.resolve(job, &light)
        });
        check(&gpu.name(), case, &expected, &joined);
    }
}

#[test]
fn breaking_traced_light_is_seen() {
    let breaches = [
        (
            "numbers are the host's",
            "return mix_bits(a ^ (b * JOIN_FACTOR",
            "return mix_bits(a ^ (b * MIX_FIRST",
        ),
        ("samples are summed in a tree", "level < tracing.merges; level++", "level < 0u; level++"),
        ("light found twice is weighed", "recip(square_sum(a, b))", "recip(square_sum(a, a))"),
        (
            "fragments take a neighbour's light",
            "guides_match(guide_at(source), fragment)",
            "source == NOTHING",
        ),
    ];
    let environment = Environment::studio();
    // Environment, layers and edges: light is found in both ways, and gathered.
    let cases = spread::traced::cases();
    let case = cases.iter().find(|case| case.name == "layers, traced").expect("the case");
    let plain = cpu(CpuOptions::default());
    let expected = render(case, &environment, &|job| plain.render(job));
    let texts = isoframe_raster::gpu::shader_texts();
    for (rule, from, _) in breaches {
        assert!(texts.iter().any(|shader| shader.text.contains(from)), "no shader holds `{from}`: {rule}");
    }
    for gpu in adapters::opened() {
        for (rule, from, to) in breaches {
            gpu.edit_shaders(&[(from, to)]);
            let frame = render(case, &environment, &|job| gpu.render(job));
            let seen = difference(&expected, &frame);
            eprintln!("{}, {rule}: {seen:?}", gpu.name());
            assert!(seen.is_some(), "{}: breaking `{rule}` is not seen", gpu.name());
        }
        gpu.edit_shaders(&[]);
    }
}

/// Puts `count` texels before a scene's own.
fn push_texels_back(scene: &mut Prepared, count: u32) {
    scene.texels.splice(0..0, std::iter::repeat_n(0, count as usize));
    for m in &mut scene.materials {
        for texture in [
            &mut m.base_color_texture,
            &mut m.metallic_roughness_texture,
            &mut m.normal_texture,
            &mut m.occlusion_texture,
            &mut m.emissive_texture,
            &mut m.specular_texture,
            &mut m.specular_color_texture,
            &mut m.clearcoat_texture,
            &mut m.clearcoat_roughness_texture,
            &mut m.clearcoat_normal_texture,
            &mut m.sheen_color_texture,
            &mut m.sheen_roughness_texture,
            &mut m.anisotropy_texture,
            &mut m.transmission_texture,
            &mut m.thickness_texture,
            &mut m.iridescence_texture,
            &mut m.iridescence_thickness_texture,
        ] {
            texture.first_texel += count;
        }
    }
}

#[test]
fn texels_are_found_in_whatever_layer_they_lie() {
    let environment = Environment::studio();
    let mut cases = spread::built();
    cases.retain(|case| !case.scene.texels.is_empty());
    assert!(cases.len() > 1, "{} textured cases", cases.len());
    let expected = references(&cases, &environment);
    for case in &mut cases {
        // Half before and half after the second layer ends.
        let half = case.scene.texels.len() as u32 / 2;
        push_texels_back(&mut case.scene, 2 * TEXELS_PER_LAYER - half);
    }
    for gpu in adapters::opened() {
        for (case, expected) in cases.iter().zip(&expected) {
            let frame = render(case, &environment, &|job| gpu.render(job));
            check(&gpu.name(), case, expected, &frame);
        }
    }
}

#[test]
fn more_texels_than_fit_are_refused_by_name() {
    let environment = Environment::studio();
    let mut case = spread::built().swap_remove(0);
    let most = TEXELS_PER_LAYER as usize * TEXELS_LAYERS_MAX as usize;
    // Untouched zeros take no memory.
    case.scene.texels = vec![0; most + 1];
    for gpu in adapters::opened() {
        let (scene, request, color) = (&case.scene, &case.request, case.color);
        let job = Job { scene, environment: &environment, request, color, cancel: &Cancel::default() };
        match gpu.render(&job) {
            Err(RenderError::DeviceLimit { what: "texels", wanted, got }) => {
                assert_eq!(got, most as u64 * 4, "{}", gpu.name());
                assert!(wanted > got, "{}: {wanted}", gpu.name());
            }
            other => panic!("{}: {:?}", gpu.name(), other.err()),
        }
    }
}

/// A rule of DESIGN section 4 and how to break it.
struct Breach {
    rule: &'static str,
    from: &'static str,
    to: &'static str,
    /// Whether every driver shows it, or only those that fuse.
    everywhere: bool,
}

const BREACHES: [Breach; 11] = [
    Breach { rule: "1: products and inner sums are guarded", from: "u.zero", to: "0u", everywhere: false },
    Breach {
        rule: "1: sums are not regrouped",
        from: "return guard(guard(v.x + v.y) + v.z);",
        to: "return guard(v.x + guard(v.y + v.z));",
        everywhere: true,
    },
    Breach {
        rule: "2: reciprocals are our own",
        from: "return bitcast<f32>(bitcast<u32>(r) ^ sign);",
        to: "return 1.0 / x;",
        everywhere: true,
    },
    Breach {
        rule: "3: square roots are our own",
        from: "    return r;\n",
        to: "    return inverseSqrt(y);\n",
        everywhere: true,
    },
    Breach {
        rule: "3: textures are filtered in our own arithmetic",
        from: "guard4(a + mul4(guard4(b - a), vec4<f32>(t)))",
        to: "mix(a, b, vec4<f32>(t * 0.999))",
        everywhere: true,
    },
    Breach {
        rule: "6: ties in depth go to the lower id",
        from: "&& id < orders[",
        to: "&& id > orders[",
        everywhere: true,
    },
    Breach {
        rule: "8: rays are sheared in our own arithmetic",
        from: "return vec3<f32>(guard(c.x - mul(c.z, s.slope.x)), guard(c.y - mul(c.z, s.slope.y)), mul(c.z, s.slope.z));",
        to: "return vec3<f32>(c.xy - c.z * (s.slope.xy + 0.00001), mul(c.z, s.slope.z));",
        everywhere: true,
    },
    Breach {
        rule: "8: rays leave a surface on the side that they go to",
        from: "dot3(o.flat_normal, direction) < -FLUSH_BELOW",
        to: "dot3(o.flat_normal, direction) >= -FLUSH_BELOW",
        everywhere: true,
    },
    Breach {
        rule: "8: alpha decides which hits count",
        from: "return alpha >= select(",
        to: "return alpha < select(",
        everywhere: true,
    },
    Breach {
        rule: "7: left and top edges own the samples on them",
        from: "if !(a > 0 || (a == 0 && b > 0)) {",
        to: "if a > 0 || (a == 0 && b > 0) {",
        everywhere: true,
    },
    Breach {
        rule: "7: edges are wider than 32 bits",
        from: "vec2<u32>(bitcast<u32>(x), bitcast<u32>(x >> 31u))",
        to: "vec2<u32>(bitcast<u32>(x), 0u)",
        everywhere: true,
    },
];

#[test]
fn breaking_a_rule_is_seen() {
    let environment = Environment::studio();
    let cases = spread::built();
    let expected = references(&cases, &environment);
    let texts = isoframe_raster::gpu::shader_texts();
    for breach in &BREACHES {
        let found = texts.iter().any(|shader| shader.text.contains(breach.from));
        assert!(found, "no shader holds `{}`: rule {} is not broken", breach.from, breach.rule);
    }
    for gpu in adapters::opened() {
        let fuses = gpu.sweep(12).expect("the device answers").fuses;
        for breach in &BREACHES {
            gpu.edit_shaders(&[(breach.from, breach.to)]);
            let seen = cases.iter().zip(&expected).find_map(|(case, expected)| {
                let frame = render(case, &environment, &|job| gpu.render(job));
                difference(expected, &frame).map(|difference| format!("{}: {difference}", case.name))
            });
            assert!(
                seen.is_some() || !(breach.everywhere || fuses),
                "{}: breaking {} is not seen",
                gpu.name(),
                breach.rule
            );
            let seen = seen.unwrap_or_else(|| "not seen: this driver neither fuses nor regroups here".into());
            eprintln!("{}, rule {}: {seen}", gpu.name(), breach.rule);
        }
        gpu.edit_shaders(&[]);
        for (case, expected) in cases.iter().zip(&expected) {
            check(&gpu.name(), case, expected, &render(case, &environment, &|job| gpu.render(job)));
        }
    }
}
