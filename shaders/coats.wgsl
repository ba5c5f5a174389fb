// Coats: what lies over a surface: fibres, and over them a clear coat. Twin of raster/src/passes/coats.rs. Who
// includes this gives `Surface`, `table`, `dfg`, `mirror` and `prefiltered`.
//#include octahedron
//#include microfacet
//#include lobes

// The coats of a point.
struct Coats {
    // Share of light that the coat leaves to what is beneath it.
    through_coat: f32,
    coat: f32,
    coat_albedo: f32,
    coat_roughness: f32,
    coat_n_dot_v: f32,
    // Share of light that the fibres leave to what is beneath them.
    through_sheen: f32,
    sheen: vec3<f32>,
    sheen_albedo: f32,
    sheen_scale: f32,
    sheen_roughness: f32,
}

// What white fibres reflect of uniform light, bilinear, by the root of the cosine.
fn sheen_whole(root_cosine: f32, roughness: f32) -> f32 {
    let place = albedo_place(root_cosine, roughness);
    // Each entry holds its own and its right, lower and lower right neighbour's.
    let e = table(TABLE_SHEEN + place.at);
    let top = guard(e.x + mul(guard(e.y - e.x), place.f.x));
    let bottom = guard(e.z + mul(guard(e.w - e.z), place.f.x));
    return guard(top + mul(guard(bottom - top), place.f.y));
}

fn coats_of(s: Surface, n_dot_v: f32) -> Coats {
    var c: Coats;
    c.through_coat = 1.0;
    c.through_sheen = 1.0;
    if SHEEN && has_lobe(s.lobes, LOBE_SHEEN) {
        c.sheen = min(max(s.lobes.sheen_color, vec3<f32>(0.0)), vec3<f32>(1.0));
        c.sheen_roughness = min(max(s.lobes.sheen_roughness, SHEEN_ROUGHNESS_MIN), 1.0);
        let whole = sheen_whole(root(n_dot_v), c.sheen_roughness);
        c.sheen_albedo = min(whole, 1.0);
        c.sheen_scale = recip(max(whole, 1.0));
        let largest = max(max(c.sheen.x, c.sheen.y), c.sheen.z);
        c.through_sheen = guard(1.0 - mul(largest, c.sheen_albedo));
    }
    if CLEARCOAT && has_lobe(s.lobes, LOBE_CLEARCOAT) {
        c.coat = unit_clamp(s.lobes.clearcoat);
        c.coat_roughness = min(max(s.lobes.clearcoat_roughness, ROUGHNESS_MIN), 1.0);
        c.coat_n_dot_v = min(max(dot3(s.lobes.clearcoat_normal, s.to_viewer), NOV_MIN), 1.0);
        let split = dfg(c.coat_n_dot_v, c.coat_roughness);
        c.coat_albedo = mul(c.coat, guard(mul(split.x, DIELECTRIC_F0) + split.y));
        c.through_coat = guard(1.0 - c.coat_albedo);
    }
    return c;
}

// Adds the coats over the light of the environment that `beneath` gives.
fn coats_environment(c: Coats, s: Surface, beneath: vec3<f32>) -> vec3<f32> {
    var light = beneath;
    if SHEEN && has_lobe(s.lobes, LOBE_SHEEN) {
        let seen = turn(mirror(s.normal, s.to_viewer));
        let fibres = mul3(c.sheen, prefiltered(seen, c.sheen_roughness));
        light = guard3(scale3(light, c.through_sheen) + scale3(fibres, c.sheen_albedo));
    }
    if CLEARCOAT && has_lobe(s.lobes, LOBE_CLEARCOAT) {
        let seen = turn(mirror(s.lobes.clearcoat_normal, s.to_viewer));
        let coat = prefiltered(seen, c.coat_roughness);
        light = guard3(scale3(light, c.through_coat) + scale3(coat, c.coat_albedo));
    }
    return light;
}

// Adds the coats over the light of a punctual light that `beneath` gives.
fn coats_punctual(c: Coats, s: Surface, to_light: vec3<f32>, beside: Angles, beneath: vec3<f32>) -> vec3<f32> {
    var light = beneath;
    if SHEEN && has_lobe(s.lobes, LOBE_SHEEN) {
        let spread = charlie(beside, c.sheen_roughness);
        let fibres = scale3(c.sheen, mul(mul(spread, c.sheen_scale), beside.n_dot_l));
        light = guard3(scale3(light, c.through_sheen) + fibres);
    }
    if CLEARCOAT && has_lobe(s.lobes, LOBE_CLEARCOAT) {
        let a = angles_of(s.lobes.clearcoat_normal, s.to_viewer, to_light, c.coat_n_dot_v);
        let fresnel = guard(mul(schlick(a.v_dot_h), DIELECTRIC_REST) + DIELECTRIC_F0);
        let coat = mul(mul(mul(c.coat, fresnel), ggx(a, c.coat_roughness)), a.n_dot_l);
        light = guard3(scale3(light, c.through_coat) + vec3<f32>(coat));
    }
    return light;
}
