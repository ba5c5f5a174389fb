// Facets, their frame, what they reflect. Twin of microfacets, frame, fresnel and tables in raster/src/passes/bsdf/.
//#include vector
//#include parameters

struct BsdfFrame {
    tangent: vec3<f32>,
    bitangent: vec3<f32>,
    normal: vec3<f32>,
}

struct BsdfFacets {
    alpha: vec2<f32>,
    inverse_alpha: vec2<f32>,
    view: vec3<f32>,
    view_length: f32,
}

struct BsdfFresnel {
    f0: vec3<f32>,
    f90: vec3<f32>,
}

fn bsdf_recip3(v: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(recip(v.x), recip(v.y), recip(v.z));
}

fn bsdf_frame(normal: vec3<f32>, tangent: vec3<f32>) -> BsdfFrame {
    let across = guard3(tangent - scale3(normal, dot3(normal, tangent)));
    let square = dot3(across, across);
    var first = scale3(across, rsqrt(square));
    if square <= BSDF_TANGENT_MIN {
        let sign = select(1.0, -1.0, normal.z < -BSDF_TANGENT_MIN);
        let a = -recip(guard(sign + normal.z));
        let x = guard(1.0 + mul(sign, mul(mul(normal.x, normal.x), a)));
        first = vec3<f32>(x, mul(sign, mul(mul(normal.x, normal.y), a)), mul(-sign, normal.x));
    }
    return BsdfFrame(first, cross3(normal, first), normal);
}

// World axes to the frame's.
fn bsdf_local(f: BsdfFrame, d: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(dot3(d, f.tangent), dot3(d, f.bitangent), dot3(d, f.normal));
}

// The frame's axes to the world's.
fn bsdf_world(f: BsdfFrame, d: vec3<f32>) -> vec3<f32> {
    return guard3(guard3(scale3(f.tangent, d.x) + scale3(f.bitangent, d.y)) + scale3(f.normal, d.z));
}

// A view at or below the horizon is brought just above it.
fn bsdf_seen(view: vec3<f32>) -> vec3<f32> {
    return normalize3(vec3<f32>(view.xy, max(view.z, NOV_MIN)));
}

fn bsdf_sample_cosine(at: vec2<f32>) -> vec3<f32> {
    let turned = sin_cos_turns(at.x);
    let radius = root(at.y);
    return vec3<f32>(mul(radius, turned.y), mul(radius, turned.x), root(guard(1.0 - at.y)));
}

fn bsdf_sample_uniform(at: vec2<f32>) -> vec3<f32> {
    let turned = sin_cos_turns(at.x);
    let radius = root(mul(at.y, guard(2.0 - at.y)));
    return vec3<f32>(mul(radius, turned.y), mul(radius, turned.x), guard(1.0 - at.y));
}

fn bsdf_stretched_length(alpha: vec2<f32>, d: vec3<f32>) -> f32 {
    let s = mul2(d.xy, alpha);
    let square = guard(guard(mul(s.x, s.x) + mul(s.y, s.y)) + mul(d.z, d.z));
    return mul(square, rsqrt(square));
}

fn bsdf_facets(alpha: vec2<f32>, view: vec3<f32>) -> BsdfFacets {
    let inverse = vec2<f32>(recip(alpha.x), recip(alpha.y));
    return BsdfFacets(alpha, inverse, view, bsdf_stretched_length(alpha, view));
}

// Density of facets by their normals.
fn bsdf_distribution(f: BsdfFacets, half: vec3<f32>) -> f32 {
    let s = mul2(half.xy, f.inverse_alpha);
    let q = guard(guard(mul(s.x, s.x) + mul(s.y, s.y)) + mul(half.z, half.z));
    let peak = mul(INVERSE_PI, mul(f.inverse_alpha.x, f.inverse_alpha.y));
    return mul(peak, recip(mul(q, q)));
}

// Masking and shadowing over 4 (n·v)(n·l), times n·l.
fn bsdf_visibility_cosine(f: BsdfFacets, light: vec3<f32>) -> f32 {
    let length_light = bsdf_stretched_length(f.alpha, light);
    let sum = guard(mul(light.z, f.view_length) + mul(f.view.z, length_light));
    return mul(mul(0.5, light.z), recip(sum));
}

// Share of facets that the viewer sees, over 4 n·v.
fn bsdf_masking(f: BsdfFacets) -> f32 {
    return mul(0.5, recip(guard(f.view.z + f.view_length)));
}

// The normal of a facet that the viewer sees.
fn bsdf_sample_facet(f: BsdfFacets, at: vec2<f32>) -> vec3<f32> {
    let stretched = normalize3(vec3<f32>(mul2(f.view.xy, f.alpha), f.view.z));
    let turned = sin_cos_turns(at.x);
    let depth = mul(at.y, guard(1.0 + stretched.z));
    let radius = root(mul(depth, guard(2.0 - depth)));
    let cap = vec3<f32>(mul(radius, turned.y), mul(radius, turned.x), guard(1.0 - depth));
    let half = guard3(cap + stretched);
    return normalize3(vec3<f32>(mul2(half.xy, f.alpha), half.z));
}

fn bsdf_grazing5(cosine: f32) -> f32 {
    let grazing = max(guard(1.0 - cosine), 0.0);
    let grazing2 = mul(grazing, grazing);
    return mul(mul(grazing2, grazing2), grazing);
}

fn bsdf_schlick(f: BsdfFresnel, cosine: f32) -> vec3<f32> {
    return guard3(f.f0 + scale3(guard3(f.f90 - f.f0), bsdf_grazing5(cosine)));
}

fn bsdf_fresnel(p: BsdfParameters) -> BsdfFresnel {
    let ratio = mul(guard(p.ior - 1.0), recip(guard(p.ior + 1.0)));
    let dielectric = scale3(min(scale3(p.specular_color, mul(ratio, ratio)), vec3<f32>(1.0)), p.specular);
    let grazing = guard(p.specular + mul(guard(1.0 - p.specular), p.metallic));
    let f0 = guard3(dielectric + scale3(guard3(p.base - dielectric), p.metallic));
    return BsdfFresnel(f0, vec3<f32>(grazing));
}

// Entry at or before each coordinate, and the shares of the next.
fn bsdf_place(at: vec2<f32>) -> vec4<f32> {
    let p = max(guard2(mul2(at, vec2<f32>(DFG_SIDE_F32)) - vec2<f32>(0.5)), vec2<f32>(0.0));
    let low = min(floor(p), vec2<f32>(DFG_SIDE_F32 - 2.0));
    return vec4<f32>(low, guard2(p - low));
}

// Scale and bias of F0, bilinear. Each entry holds its own and its right neighbour's.
fn bsdf_dfg(n_dot_v: f32, roughness: f32) -> vec2<f32> {
    let p = bsdf_place(vec2<f32>(n_dot_v, roughness));
    let at = TABLE_DFG + u32(p.y) * DFG_SIDE + u32(p.x);
    let ab = table(at);
    let cd = table(at + DFG_SIDE);
    let top = guard2(ab.xy + mul2(guard2(ab.zw - ab.xy), p.zz));
    let bottom = guard2(cd.xy + mul2(guard2(cd.zw - cd.xy), p.zz));
    return guard2(top + mul2(guard2(bottom - top), p.ww));
}

// Albedo of sheen, bilinear. Each entry holds itself, its right neighbour and those of the next row.
fn bsdf_sheen_table(n_dot_v: f32, roughness: f32) -> f32 {
    let p = bsdf_place(vec2<f32>(root(n_dot_v), roughness));
    let t = table(TABLE_SHEEN + u32(p.y) * DFG_SIDE + u32(p.x));
    let top = guard(t.x + mul(guard(t.y - t.x), p.z));
    let bottom = guard(t.z + mul(guard(t.w - t.z), p.z));
    return guard(top + mul(guard(bottom - top), p.w));
}
