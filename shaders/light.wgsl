// Light: classic lighting of a surface. Twin of raster/src/passes/light.rs.
//#include octahedron

// Lights, then the split-sum table, the prefiltered environment; see raster/src/gpu/layout.rs.
@group(0) @binding(8) var tables: texture_2d<u32>;

fn table(at: u32) -> vec4<f32> {
    return bitcast<vec4<f32>>(textureLoad(tables, place(at), 0));
}

// Twin of PackedLight in raster/src/draw.rs, in LIGHT_PARTS parts.
struct PackedLight {
    position_eye: vec3<f32>,
    kind: u32,
    direction: vec3<f32>,
    inverse_range2: f32,
    linear_color: vec3<f32>,
    spot_scale: f32,
    spot_offset: f32,
}

fn light_at(k: u32) -> PackedLight {
    let a = table(k * LIGHT_PARTS);
    let b = table(k * LIGHT_PARTS + 1u);
    let c = table(k * LIGHT_PARTS + 2u);
    let d = table(k * LIGHT_PARTS + 3u);
    return PackedLight(a.xyz, bitcast<u32>(a.w), b.xyz, b.w, c.xyz, c.w, d.x);
}

// A point to be lit.
struct Surface {
    position_eye: vec3<f32>,
    normal: vec3<f32>,
    to_viewer: vec3<f32>,
    base: vec3<f32>,
    alpha: f32,
    metallic: f32,
    roughness: f32,
    occlusion: f32,
    emissive: vec3<f32>,
}

// How a surface reflects, once per point.
struct Reflectance {
    n_dot_v: f32,
    diffuse: vec3<f32>,
    f0: vec3<f32>,
    // Split sum: scale and bias of F0.
    scale: f32,
    bias: f32,
    roughness: f32,
}

fn map_texel(at: u32) -> vec3<f32> {
    return table(TABLE_SPECULAR + at).xyz;
}

// The split-sum table, bilinear.
fn dfg(n_dot_v: f32, roughness: f32) -> vec2<f32> {
    let last = vec2<f32>(DFG_SIDE_F32 - 1.0);
    let scaled = guard2(mul2(vec2<f32>(n_dot_v, roughness), vec2<f32>(DFG_SIDE_F32)) - vec2<f32>(0.5));
    let p = min(max(scaled, vec2<f32>(0.0)), last);
    let low = min(floor(p), last - vec2<f32>(1.0));
    let f = guard2(p - low);
    let at = u32(low.y) * DFG_SIDE + u32(low.x);
    // Each entry holds its own and its right neighbour's scale and bias.
    let ab = table(TABLE_DFG + at);
    let cd = table(TABLE_DFG + at + DFG_SIDE);
    let top = guard2(ab.xy + mul2(guard2(ab.zw - ab.xy), vec2<f32>(f.x)));
    let bottom = guard2(cd.xy + mul2(guard2(cd.zw - cd.xy), vec2<f32>(f.x)));
    return guard2(top + mul2(guard2(bottom - top), vec2<f32>(f.y)));
}

fn reflectance(s: Surface) -> Reflectance {
    let metallic = min(max(s.metallic, 0.0), 1.0);
    let roughness = min(max(s.roughness, ROUGHNESS_MIN), 1.0);
    let n_dot_v = min(max(dot3(s.normal, s.to_viewer), NOV_MIN), 1.0);
    let dielectric = vec3<f32>(DIELECTRIC_F0);
    let split = dfg(n_dot_v, roughness);
    return Reflectance(
        n_dot_v,
        scale3(s.base, guard(1.0 - metallic)),
        guard3(dielectric + scale3(guard3(s.base - dielectric), metallic)),
        split.x,
        split.y,
        roughness,
    );
}

// Irradiance / pi from spherical harmonics.
fn irradiance(n: vec3<f32>) -> vec3<f32> {
    var sum = u.irradiance_sh[0].xyz;
    sum = guard3(sum + scale3(u.irradiance_sh[1].xyz, n.y));
    sum = guard3(sum + scale3(u.irradiance_sh[2].xyz, n.z));
    sum = guard3(sum + scale3(u.irradiance_sh[3].xyz, n.x));
    sum = guard3(sum + scale3(u.irradiance_sh[4].xyz, mul(n.x, n.y)));
    sum = guard3(sum + scale3(u.irradiance_sh[5].xyz, mul(n.y, n.z)));
    sum = guard3(sum + scale3(u.irradiance_sh[6].xyz, guard(mul(mul(n.z, n.z), 3.0) - 1.0)));
    sum = guard3(sum + scale3(u.irradiance_sh[7].xyz, mul(n.x, n.z)));
    sum = guard3(sum + scale3(u.irradiance_sh[8].xyz, guard(mul(n.x, n.x) - mul(n.y, n.y))));
    return max(sum, vec3<f32>(0.0));
}

fn level_side(level: u32) -> u32 {
    return OCTAHEDRAL_SIDE >> level;
}

// First texel of a level: those before it hold (4^7 - 4^(7 - level)) / 3 times the texels of a level of side 1,
// counted from the finest.
fn level_first(level: u32) -> u32 {
    let finest = OCTAHEDRAL_SIDE * OCTAHEDRAL_SIDE;
    return (finest * 4u - ((finest * 4u) >> (2u * level))) / 3u;
}

// The environment as seen by a lobe of this roughness about `d`.
fn prefiltered(d: vec3<f32>, roughness: f32) -> vec3<f32> {
    // r (2 - r), as the levels were made.
    let level = min(mul(mul(roughness, guard(2.0 - roughness)), LAST_LEVEL_F32), LAST_LEVEL_F32);
    let low = min(floor(level), LAST_LEVEL_F32 - 1.0);
    let blend = guard(level - low);
    let k = u32(low);
    let at = octahedral(d);
    let a = octahedral_level(level_first(k), level_side(k), at);
    let b = octahedral_level(level_first(k + 1u), level_side(k + 1u), at);
    return guard3(a + scale3(guard3(b - a), blend));
}

// Light from the environment, diffuse and specular, with multiple scattering.
fn environment(s: Surface, r: Reflectance) -> vec3<f32> {
    let n_dot_v = dot3(s.normal, s.to_viewer);
    let reflected = guard3(scale3(s.normal, mul(n_dot_v, 2.0)) - s.to_viewer);
    let diffuse_light = irradiance(turn(s.normal));
    let specular_light = prefiltered(turn(reflected), r.roughness);
    let white = vec3<f32>(1.0);
    let single = guard3(scale3(r.f0, r.scale) + vec3<f32>(r.bias));
    let missing = guard(1.0 - guard(r.scale + r.bias));
    let average = guard3(r.f0 + scale3(guard3(white - r.f0), FRESNEL_MEAN));
    let rest = guard3(white - scale3(average, missing));
    let again = vec3<f32>(recip(rest.x), recip(rest.y), recip(rest.z));
    let multiple = scale3(mul3(mul3(single, average), again), missing);
    let diffuse = mul3(r.diffuse, guard3(guard3(white - single) - multiple));
    let light = guard3(mul3(single, specular_light) + mul3(guard3(multiple + diffuse), diffuse_light));
    return scale3(light, mul(s.occlusion, u.environment_intensity));
}

fn unit_clamp(v: f32) -> f32 {
    return min(max(v, 0.0), 1.0);
}

// Light from one punctual light.
fn punctual(k: u32, s: Surface, r: Reflectance) -> vec3<f32> {
    let light = light_at(k);
    let axis_light = light.direction;
    var to_light = axis_light;
    var strength = 1.0;
    if POSITIONAL_LIGHTS {
        let away = guard3(light.position_eye - s.position_eye);
        let distance2 = max(dot3(away, away), DISTANCE2_MIN);
        let towards = scale3(away, rsqrt(distance2));
        let ratio2 = mul(distance2, light.inverse_range2);
        let window = max(guard(1.0 - mul(ratio2, ratio2)), 0.0);
        let faded = mul(recip(distance2), window);
        let cosine = -dot3(axis_light, towards);
        let cone = unit_clamp(guard(mul(cosine, light.spot_scale) + light.spot_offset));
        to_light = select(towards, axis_light, light.kind == LIGHT_DIRECTIONAL);
        strength = select(faded, mul(faded, mul(cone, cone)), light.kind == LIGHT_SPOT);
        strength = select(strength, 1.0, light.kind == LIGHT_DIRECTIONAL);
    }
    let half = normalize3(guard3(to_light + s.to_viewer));
    let n_dot_l = unit_clamp(dot3(s.normal, to_light));
    let n_dot_h = unit_clamp(dot3(s.normal, half));
    let v_dot_h = unit_clamp(dot3(s.to_viewer, half));

    let alpha = mul(r.roughness, r.roughness);
    let alpha2 = mul(alpha, alpha);
    let d = guard(mul(guard(mul(n_dot_h, alpha2) - n_dot_h), n_dot_h) + 1.0);
    let distribution = mul(mul(alpha2, INVERSE_PI), recip(max(mul(d, d), DIVISOR_MIN_SQUARED)));
    let smith_v = mul(n_dot_l, root(guard(mul(guard(r.n_dot_v - mul(r.n_dot_v, alpha2)), r.n_dot_v) + alpha2)));
    let smith_l = mul(r.n_dot_v, root(guard(mul(guard(n_dot_l - mul(n_dot_l, alpha2)), n_dot_l) + alpha2)));
    let visibility = mul(recip(max(guard(smith_v + smith_l), DIVISOR_MIN)), 0.5);
    let grazing = guard(1.0 - v_dot_h);
    let grazing2 = mul(grazing, grazing);
    let grazing5 = mul(mul(grazing2, grazing2), grazing);
    let white = vec3<f32>(1.0);
    let fresnel = guard3(r.f0 + scale3(guard3(white - r.f0), grazing5));
    // What single scattering loses inside the microsurface comes back coloured by F0.
    let lost = guard(recip(max(guard(r.scale + r.bias), ENERGY_MIN)) - 1.0);
    let energy = guard3(white + scale3(r.f0, lost));
    let specular = scale3(mul3(fresnel, energy), mul(distribution, visibility));
    let diffuse = scale3(mul3(guard3(white - fresnel), r.diffuse), INVERSE_PI);
    return scale3(mul3(guard3(diffuse + specular), light.linear_color), mul(n_dot_l, strength));
}

// Radiance towards the viewer.
fn shade(s: Surface) -> vec3<f32> {
    let r = reflectance(s);
    var radiance = s.emissive;
    if ENVIRONMENT_LIGHT {
        radiance = guard3(radiance + environment(s, r));
    }
    if PUNCTUAL_LIGHTS {
        for (var k = 0u; k < u.light_count; k++) {
            radiance = guard3(radiance + punctual(k, s, r));
        }
    }
    return min(max(radiance, vec3<f32>(0.0)), vec3<f32>(RADIANCE_MAX));
}
