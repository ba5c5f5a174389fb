// A thin film over the surface. Twin of raster/src/passes/bsdf/iridescence.rs.
//#include bsdf_facets

fn bsdf_f0_between(a: f32, b: f32) -> f32 {
    let ratio = mul(guard(a - b), recip(guard(a + b)));
    return mul(ratio, ratio);
}

fn bsdf_mirror(f0: f32, cosine: f32) -> f32 {
    return guard(f0 + mul(guard(1.0 - f0), bsdf_grazing5(cosine)));
}

fn bsdf_wave(path: f32, gaussian: vec3<f32>) -> f32 {
    let turns = mul(path, gaussian.y);
    let cosine = sin_cos_turns(guard(turns - floor(turns))).y;
    return mul(mul(gaussian.x, cosine), exp_two(-mul(mul(gaussian.z, path), path)));
}

// XYZ of light whose waves meet after a path difference, without any lost half. *Units*: nm.
fn bsdf_sensitivity(path: f32) -> vec3<f32> {
    let x = bsdf_wave(path, BSDF_SENSITIVITY_X);
    let more_x = bsdf_wave(path, BSDF_SENSITIVITY_MORE_X);
    return vec3<f32>(guard(x + more_x), bsdf_wave(path, BSDF_SENSITIVITY_Y), bsdf_wave(path, BSDF_SENSITIVITY_Z));
}

fn bsdf_rec709(xyz: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(
        dot3(BSDF_REC709_FROM_XYZ_0, xyz),
        dot3(BSDF_REC709_FROM_XYZ_1, xyz),
        dot3(BSDF_REC709_FROM_XYZ_2, xyz),
    );
}

// Of one channel: what is reflected inside, the amplitude of a round trip, and the sign of odd ones.
fn bsdf_film_channel(f0: f32, ior: f32, below: f32, r12: f32) -> vec3<f32> {
    let t121 = guard(1.0 - r12);
    let amplitude = root(min(max(f0, 0.0), BSDF_REFLECTANCE_MAX));
    let base = mul(guard(1.0 + amplitude), recip(guard(1.0 - amplitude)));
    let r23 = bsdf_mirror(bsdf_f0_between(base, ior), below);
    let trip = min(max(mul(r12, r23), BSDF_ROUND_TRIP_MIN), BSDF_REFLECTANCE_MAX);
    let inner = mul(mul(t121, t121), mul(r23, recip(guard(1.0 - trip))));
    let sign = select(-1.0, 1.0, base < ior);
    return vec3<f32>(inner, root(trip), select(sign, -sign, ior < 1.0));
}

// What film and surface reflect together.
fn bsdf_film_reflectance(p: BsdfParameters, f0: vec3<f32>, cosine: f32) -> vec3<f32> {
    let t = min(max(mul(p.iridescence_thickness_nm, BSDF_FADE_IN), 0.0), 1.0);
    let step = mul(mul(t, t), guard(3.0 - mul(2.0, t)));
    let ior = guard(1.0 + mul(guard(p.iridescence_ior - 1.0), step));
    let inverse = recip(ior);
    let square = guard(1.0 - mul(mul(inverse, inverse), guard(1.0 - mul(cosine, cosine))));
    let below = root(square);
    let r12 = bsdf_mirror(bsdf_f0_between(ior, 1.0), cosine);
    let t121 = guard(1.0 - r12);
    let path = mul(mul(2.0, ior), mul(p.iridescence_thickness_nm, below));
    let r = bsdf_film_channel(f0.x, ior, below, r12);
    let g = bsdf_film_channel(f0.y, ior, below, r12);
    let b = bsdf_film_channel(f0.z, ior, below, r12);
    let inner = vec3<f32>(r.x, g.x, b.x);
    let trip = vec3<f32>(r.y, g.y, b.y);
    let signs = vec3<f32>(r.z, g.z, b.z);
    let once = bsdf_rec709(scale3(mul3(bsdf_sensitivity(path), signs), 2.0));
    let twice = bsdf_rec709(scale3(bsdf_sensitivity(mul(2.0, path)), 2.0));
    let first = mul3(guard3(inner - vec3<f32>(t121)), trip);
    let second = mul3(first, trip);
    let sum = guard3(guard3(vec3<f32>(r12) + inner) + mul3(first, once));
    return guard3(sum + mul3(second, twice));
}

// F0 with which Schlick's Fresnel gives at the viewer's angle what the film gives.
fn bsdf_film(p: BsdfParameters, f: BsdfFresnel, cosine: f32) -> BsdfFresnel {
    if p.iridescence < BSDF_LOBE_PRESENT {
        return f;
    }
    let white = vec3<f32>(1.0);
    let reflected = min(max(bsdf_film_reflectance(p, f.f0, cosine), vec3<f32>(0.0)), white);
    let grazing = min(bsdf_grazing5(cosine), BSDF_GRAZING_MAX);
    let above = guard3(reflected - scale3(f.f90, grazing));
    let f0 = min(max(scale3(above, recip(guard(1.0 - grazing))), vec3<f32>(0.0)), white);
    return BsdfFresnel(guard3(f.f0 + scale3(guard3(f0 - f.f0), p.iridescence)), f.f90);
}
