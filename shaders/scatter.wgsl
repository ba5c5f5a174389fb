// Scatters light off given surfaces. Twin of what raster/tests/gpu_bsdf.rs asks of raster/src/passes/bsdf.rs.
//#include bsdf

struct Uniform {
    zero: u32,
}

@group(0) @binding(0) var<uniform> u: Uniform;
@group(0) @binding(1) var<storage, read> tables: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> cases: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> results: array<vec4<f32>>;

fn table(at: u32) -> vec4<f32> {
    return tables[at];
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let at = id.x * SCATTER_CASE_PARTS;
    var p: BsdfParameters;
    p.normal = cases[at].xyz;
    p.metallic = cases[at].w;
    p.tangent = cases[at + 1u].xyz;
    p.roughness = cases[at + 1u].w;
    p.base = cases[at + 2u].xyz;
    p.ior = cases[at + 2u].w;
    p.specular_color = cases[at + 3u].xyz;
    p.specular = cases[at + 3u].w;
    p.clearcoat_normal = cases[at + 4u].xyz;
    p.clearcoat = cases[at + 4u].w;
    p.sheen_color = cases[at + 5u].xyz;
    p.sheen_roughness = cases[at + 5u].w;
    p.anisotropy = cases[at + 6u].x;
    p.clearcoat_roughness = cases[at + 6u].y;
    p.transmission = cases[at + 6u].z;
    p.iridescence = cases[at + 6u].w;
    p.iridescence_ior = cases[at + 7u].x;
    p.iridescence_thickness_nm = cases[at + 7u].y;
    p.thin = cases[at + 7u].z > 0.5;
    p.outside = cases[at + 7u].w > 0.5;
    let b = bsdf_new(p, cases[at + 8u].xyz);
    let e = bsdf_evaluate(b, cases[at + 9u].xyz);
    var s = bsdf_sample(b, cases[at + 10u].xyz);
    if !s.found {
        s = BsdfSampled();
    }
    let out = id.x * SCATTER_RESULT_PARTS;
    results[out] = flush4(vec4<f32>(b.diffuse_reflectance, e.pdf));
    results[out + 1u] = flush4(vec4<f32>(b.specular_reflectance, s.scattered.pdf));
    results[out + 2u] = flush4(vec4<f32>(e.diffuse, select(0.0, 1.0, s.is_diffuse)));
    results[out + 3u] = flush4(vec4<f32>(e.specular, select(0.0, 1.0, s.transmitted)));
    results[out + 4u] = flush4(vec4<f32>(s.to_light, select(0.0, 1.0, s.found)));
    results[out + 5u] = flush4(vec4<f32>(s.scattered.diffuse, 0.0));
    results[out + 6u] = flush4(vec4<f32>(s.scattered.specular, 0.0));
}
