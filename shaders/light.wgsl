// Light: classic lighting of a surface. Twin of raster/src/passes/light.rs. Who includes this gives `Surface`.
//#include octahedron
//#include lights
//#include lobes
//#include microfacet
//#include film
//#include transmission
//#include coats

// How a surface reflects, once per point.
struct Reflectance {
    n_dot_v: f32,
    roughness: f32,
    // Fresnel reflectance at normal incidence and at grazing.
    f0: vec3<f32>,
    f90: f32,
    // Share of uniform light that is reflected once.
    single: vec3<f32>,
    // Share that is scattered evenly: reflected more than once, or diffused.
    scattered: vec3<f32>,
    // Share that is let through, with what it was coloured by.
    through: vec3<f32>,
    stretch: Stretch,
    coats: Coats,
}

fn map_texel(at: u32) -> vec3<f32> {
    return table(TABLE_SPECULAR + at).xyz;
}

// A place in a table of albedos by angle and roughness, each 0 to 1: an entry, and the way to its right and lower
// neighbour. Beyond the last entry its slope goes on.
struct AlbedoPlace {
    at: u32,
    f: vec2<f32>,
}

fn albedo_place(column: f32, row: f32) -> AlbedoPlace {
    let scaled = guard2(mul2(vec2<f32>(column, row), vec2<f32>(DFG_SIDE_F32)) - vec2<f32>(0.5));
    let p = max(scaled, vec2<f32>(0.0));
    let low = min(floor(p), vec2<f32>(DFG_SIDE_F32 - 2.0));
    return AlbedoPlace(u32(low.y) * DFG_SIDE + u32(low.x), guard2(p - low));
}

// The split-sum table, bilinear.
fn dfg(n_dot_v: f32, roughness: f32) -> vec2<f32> {
    let place = albedo_place(n_dot_v, roughness);
    // Each entry holds its own and its right neighbour's scale and bias.
    let ab = table(TABLE_DFG + place.at);
    let cd = table(TABLE_DFG + place.at + DFG_SIDE);
    let f = place.f;
    let top = guard2(ab.xy + mul2(guard2(ab.zw - ab.xy), vec2<f32>(f.x)));
    let bottom = guard2(cd.xy + mul2(guard2(cd.zw - cd.xy), vec2<f32>(f.x)));
    return guard2(top + mul2(guard2(bottom - top), vec2<f32>(f.y)));
}

// Reflectance of the dielectric part at normal incidence, and the strength of its reflection.
fn dielectric_of(l: Lobes) -> vec4<f32> {
    if !(SPECULAR && has_lobe(l, LOBE_SPECULAR)) {
        return vec4<f32>(vec3<f32>(DIELECTRIC_F0), 1.0);
    }
    let ratio = mul(guard(l.ior - 1.0), recip(guard(l.ior + 1.0)));
    let strength = unit_clamp(l.specular);
    let tinted = scale3(l.specular_color, mul(ratio, ratio));
    return vec4<f32>(scale3(min(tinted, vec3<f32>(1.0)), strength), strength);
}

fn reflectance(s: Surface) -> Reflectance {
    let white = vec3<f32>(1.0);
    let metallic = min(max(s.metallic, 0.0), 1.0);
    let roughness = min(max(s.roughness, ROUGHNESS_MIN), 1.0);
    let n_dot_v = min(max(dot3(s.normal, s.to_viewer), NOV_MIN), 1.0);
    let dielectric = dielectric_of(s.lobes);
    var f0 = guard3(dielectric.xyz + scale3(guard3(s.base - dielectric.xyz), metallic));
    let f90 = guard(dielectric.w + mul(guard(1.0 - dielectric.w), metallic));
    if IRIDESCENCE && has_lobe(s.lobes, LOBE_IRIDESCENCE) {
        f0 = film_reflectance(s.lobes, n_dot_v, f0, f90);
    }
    var stretch: Stretch;
    var mean = roughness;
    if ANISOTROPY && has_lobe(s.lobes, LOBE_ANISOTROPY) {
        stretch = stretch_of(s, roughness);
        mean = mean_roughness(stretch);
    }

    let split = dfg(n_dot_v, mean);
    let single = guard3(scale3(f0, split.x) + vec3<f32>(mul(f90, split.y)));
    let missing = guard(1.0 - guard(split.x + split.y));
    let average = guard3(f0 + scale3(guard3(vec3<f32>(f90) - f0), FRESNEL_MEAN));
    let rest = guard3(white - scale3(average, missing));
    let again = vec3<f32>(recip(rest.x), recip(rest.y), recip(rest.z));
    let multiple = scale3(mul3(mul3(single, average), again), missing);
    let diffuse = scale3(s.base, guard(1.0 - metallic));
    var entering = mul3(diffuse, guard3(guard3(white - single) - multiple));
    var through = vec3<f32>(0.0);
    if TRANSMISSION && has_lobe(s.lobes, LOBE_TRANSMISSION) {
        let share = unit_clamp(s.lobes.transmission);
        through = scale3(mul3(entering, volume_left(s.lobes)), share);
        entering = scale3(entering, guard(1.0 - share));
    }
    var coats: Coats;
    if (SHEEN || CLEARCOAT) && has_lobe(s.lobes, LOBE_SHEEN | LOBE_CLEARCOAT) {
        coats = coats_of(s, n_dot_v);
    }
    return Reflectance(
        n_dot_v,
        roughness,
        f0,
        f90,
        single,
        guard3(multiple + entering),
        through,
        stretch,
        coats,
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

// The direction that `v` is seen in when mirrored about `n`.
fn mirror(n: vec3<f32>, v: vec3<f32>) -> vec3<f32> {
    return guard3(scale3(n, mul(dot3(n, v), 2.0)) - v);
}

// Light from the environment.
fn environment(s: Surface, r: Reflectance) -> vec3<f32> {
    var about = s.normal;
    if ANISOTROPY && has_lobe(s.lobes, LOBE_ANISOTROPY) {
        about = bent_normal(r.stretch, s, r.roughness);
    }
    let diffuse_light = irradiance(turn(s.normal));
    let specular_light = prefiltered(turn(mirror(about, s.to_viewer)), r.roughness);
    var light = guard3(mul3(r.single, specular_light) + mul3(r.scattered, diffuse_light));
    if TRANSMISSION && has_lobe(s.lobes, LOBE_TRANSMISSION) {
        light = guard3(light + mul3(r.through, behind(s, r)));
    }
    if (SHEEN || CLEARCOAT) && has_lobe(s.lobes, LOBE_SHEEN | LOBE_CLEARCOAT) {
        light = coats_environment(r.coats, s, light);
    }
    return scale3(light, mul(s.occlusion, u.environment_intensity));
}

// The direction towards a light, and how much of its intensity arrives.
fn arriving(light: PackedLight, s: Surface) -> vec4<f32> {
    let axis_light = light.direction;
    if !POSITIONAL_LIGHTS {
        return vec4<f32>(axis_light, 1.0);
    }
    let away = guard3(light.position_eye - s.position_eye);
    let distance2 = max(dot3(away, away), DISTANCE2_MIN);
    let towards = scale3(away, rsqrt(distance2));
    let ratio2 = mul(distance2, light.inverse_range2);
    let window = max(guard(1.0 - mul(ratio2, ratio2)), 0.0);
    let faded = mul(recip(distance2), window);
    let cosine = -dot3(axis_light, towards);
    let cone = unit_clamp(guard(mul(cosine, light.spot_scale) + light.spot_offset));
    let strength = select(faded, mul(faded, mul(cone, cone)), light.kind == LIGHT_SPOT);
    return select(
        vec4<f32>(towards, strength),
        vec4<f32>(axis_light, 1.0),
        vec4<bool>(light.kind == LIGHT_DIRECTIONAL),
    );
}

// Light from one punctual light.
fn punctual(k: u32, s: Surface, r: Reflectance) -> vec3<f32> {
    let light = light_at(k);
    let arrives = arriving(light, s);
    let to_light = arrives.xyz;
    let a = angles_of(s.normal, s.to_viewer, to_light, r.n_dot_v);
    var spread = ggx(a, r.roughness);
    if ANISOTROPY && has_lobe(s.lobes, LOBE_ANISOTROPY) {
        spread = stretched_ggx(r.stretch, s.to_viewer, to_light, a);
    }
    let fresnel = guard3(r.f0 + scale3(guard3(vec3<f32>(r.f90) - r.f0), schlick(a.v_dot_h)));
    let scattered = scale3(r.scattered, INVERSE_PI);
    var light_out = scale3(guard3(scale3(fresnel, spread) + scattered), a.n_dot_l);
    if TRANSMISSION && has_lobe(s.lobes, LOBE_TRANSMISSION) {
        light_out = guard3(light_out + scale3(r.through, through_ggx(s, r, to_light)));
    }
    if (SHEEN || CLEARCOAT) && has_lobe(s.lobes, LOBE_SHEEN | LOBE_CLEARCOAT) {
        light_out = coats_punctual(r.coats, s, to_light, a, light_out);
    }
    return scale3(mul3(light_out, light.linear_color), arrives.w);
}

// Radiance towards the viewer. Who includes this says which lights reach an item.
fn shade(s: Surface, item: u32) -> vec3<f32> {
    let r = reflectance(s);
    var radiance = s.emissive;
    if CLEARCOAT && has_lobe(s.lobes, LOBE_CLEARCOAT) {
        radiance = scale3(radiance, r.coats.through_coat);
    }
    if ENVIRONMENT_LIGHT {
        radiance = guard3(radiance + environment(s, r));
    }
    if PUNCTUAL_LIGHTS {
        for (var k = 0u; k < u.light_count; k++) {
            var light = punctual(k, s, r);
            if SHADOWS {
                light = select(vec3<f32>(0.0), light, vec3<bool>(reaches(k, item)));
            }
            radiance = guard3(radiance + light);
        }
    }
    return min(max(radiance, vec3<f32>(0.0)), vec3<f32>(RADIANCE_MAX));
}
