// Microfacets: GGX with height-correlated Smith, round and stretched, and fibres. Twin of raster/src/passes/microfacet.rs. Who
// includes this gives `Surface`.
//#include vector

// Cosines between normal, viewer, light and the direction half way, 0 to 1.
struct Angles {
    half: vec3<f32>,
    n_dot_v: f32,
    n_dot_l: f32,
    n_dot_h: f32,
    v_dot_h: f32,
}

fn unit_clamp(v: f32) -> f32 {
    return min(max(v, 0.0), 1.0);
}

fn angles_of(normal: vec3<f32>, to_viewer: vec3<f32>, to_light: vec3<f32>, n_dot_v: f32) -> Angles {
    let half = normalize3(guard3(to_light + to_viewer));
    return Angles(
        half,
        n_dot_v,
        unit_clamp(dot3(normal, to_light)),
        unit_clamp(dot3(normal, half)),
        unit_clamp(dot3(to_viewer, half)),
    );
}

// Schlick's weight of the reflectance at grazing, for a cosine of 0 to 1.
fn schlick(cosine: f32) -> f32 {
    let grazing = guard(1.0 - cosine);
    let grazing2 = mul(grazing, grazing);
    return mul(mul(grazing2, grazing2), grazing);
}

// Distribution times visibility of a perceptual roughness.
fn ggx(a: Angles, roughness: f32) -> f32 {
    let alpha = mul(roughness, roughness);
    let alpha2 = mul(alpha, alpha);
    let d = guard(mul(guard(mul(a.n_dot_h, alpha2) - a.n_dot_h), a.n_dot_h) + 1.0);
    let distribution = mul(mul(alpha2, INVERSE_PI), recip(max(mul(d, d), DIVISOR_MIN_SQUARED)));
    let smith_v =
        mul(a.n_dot_l, root(guard(mul(guard(a.n_dot_v - mul(a.n_dot_v, alpha2)), a.n_dot_v) + alpha2)));
    let smith_l =
        mul(a.n_dot_v, root(guard(mul(guard(a.n_dot_l - mul(a.n_dot_l, alpha2)), a.n_dot_l) + alpha2)));
    return mul(distribution, mul(recip(max(guard(smith_v + smith_l), DIVISOR_MIN)), 0.5));
}

// Distribution times visibility of fibres of a perceptual roughness.
fn charlie(a: Angles, roughness: f32) -> f32 {
    let exponent = recip(mul(roughness, roughness));
    let sine2 = guard(1.0 - mul(a.n_dot_h, a.n_dot_h));
    let distribution = mul(guard(exponent + 2.0), exp_two(mul(log_two(sine2), mul(exponent, 0.5))));
    let both = guard(guard(a.n_dot_l + a.n_dot_v) - mul(a.n_dot_l, a.n_dot_v));
    return mul(mul(distribution, recip(both)), CHARLIE_SCALE);
}

// A lobe that is longer along a direction than across it.
struct Stretch {
    tangent: vec3<f32>,
    bitangent: vec3<f32>,
    alpha_along: f32,
    alpha_across: f32,
}

fn stretch_of(s: Surface, roughness: f32) -> Stretch {
    let strength = unit_clamp(s.lobes.anisotropy);
    let alpha = mul(roughness, roughness);
    return Stretch(
        s.lobes.tangent,
        cross3(s.normal, s.lobes.tangent),
        guard(alpha + mul(guard(1.0 - alpha), mul(strength, strength))),
        alpha,
    );
}

// Perceptual roughness of the round lobe that covers as much.
fn mean_roughness(t: Stretch) -> f32 {
    return root(root(mul(t.alpha_along, t.alpha_across)));
}

// The normal about which the environment is mirrored: bent so that the lobe lies across the tangent.
fn bent_normal(t: Stretch, s: Surface, roughness: f32) -> vec3<f32> {
    let flat = cross3(cross3(t.bitangent, s.to_viewer), t.bitangent);
    let keep = guard(1.0 - mul(unit_clamp(s.lobes.anisotropy), guard(1.0 - roughness)));
    let keep2 = mul(keep, keep);
    return normalize3(guard3(flat + scale3(guard3(s.normal - flat), mul(keep2, keep2))));
}

fn stretched_reach(t: Stretch, to: vec3<f32>, n_dot: f32) -> f32 {
    let g = vec3<f32>(mul(dot3(t.tangent, to), t.alpha_along), mul(dot3(t.bitangent, to), t.alpha_across), n_dot);
    return root(dot3(g, g));
}

// Distribution times visibility.
fn stretched_ggx(t: Stretch, to_viewer: vec3<f32>, to_light: vec3<f32>, a: Angles) -> f32 {
    let area = mul(t.alpha_along, t.alpha_across);
    let f = vec3<f32>(
        mul(dot3(t.tangent, a.half), t.alpha_across),
        mul(dot3(t.bitangent, a.half), t.alpha_along),
        mul(a.n_dot_h, area),
    );
    let w = mul(area, recip(max(dot3(f, f), DIVISOR_MIN_SQUARED)));
    let distribution = mul(mul(area, INVERSE_PI), mul(w, w));
    let smith_v = mul(a.n_dot_l, stretched_reach(t, to_viewer, a.n_dot_v));
    let smith_l = mul(a.n_dot_v, stretched_reach(t, to_light, a.n_dot_l));
    return mul(distribution, mul(recip(max(guard(smith_v + smith_l), DIVISOR_MIN)), 0.5));
}
