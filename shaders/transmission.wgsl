// Transmission: what shows through a surface. Twin of raster/src/passes/transmission.rs. Who includes this gives
// `Surface`, `Reflectance` and `prefiltered`.
//#include octahedron
//#include microfacet
//#include lobes

// Share of light that is left after the way through the volume.
fn volume_left(l: Lobes) -> vec3<f32> {
    if !(VOLUME && has_lobe(l, LOBE_VOLUME)) {
        return vec3<f32>(1.0);
    }
    let depth = scale3(l.attenuation, mul(l.thickness, -LOG2_E));
    return vec3<f32>(exp_two(depth.x), exp_two(depth.y), exp_two(depth.z));
}

// Perceptual roughness of what is seen through: an index of 1 bends nothing, so nothing is blurred.
fn through_roughness(s: Surface, r: Reflectance) -> f32 {
    let blur = unit_clamp(guard(mul(s.lobes.ior, 2.0) - 2.0));
    return max(mul(r.roughness, blur), ROUGHNESS_MIN);
}

// The environment through the surface. What bounds a volume bends light once; nothing is known of its far side.
fn behind(s: Surface, r: Reflectance) -> vec3<f32> {
    var direction = -s.to_viewer;
    if VOLUME && has_lobe(s.lobes, LOBE_VOLUME) {
        let eta = recip(max(s.lobes.ior, 1.0));
        let inward = root(guard(1.0 - mul(mul(eta, eta), guard(1.0 - mul(r.n_dot_v, r.n_dot_v)))));
        direction = guard3(scale3(s.normal, guard(mul(eta, r.n_dot_v) - inward)) - scale3(s.to_viewer, eta));
    }
    return prefiltered(turn(direction), through_roughness(s, r));
}

// Distribution times visibility and cosine of a light behind the surface, which shines through it as its mirror image
// would shine on it.
fn through_ggx(s: Surface, r: Reflectance, to_light: vec3<f32>) -> f32 {
    let mirrored = guard3(to_light - scale3(s.normal, mul(dot3(s.normal, to_light), 2.0)));
    let a = angles_of(s.normal, s.to_viewer, mirrored, r.n_dot_v);
    return mul(ggx(a, through_roughness(s, r)), a.n_dot_l);
}
