// Film: the colours of a thin film over a surface. Twin of raster/src/passes/film.rs.
//#include vector
//#include microfacet
//#include lobes

// A film at a point.
struct Film {
    // 0 where it has no thickness: Schlick's curve would see it at grazing all the same.
    there: f32,
    ior: f32,
    // Cosine within the film.
    cosine: f32,
    // Reflectance of its upper side.
    upper: f32,
    // What one and two more passes through it add, in colours of white light, -1 to 1.
    once: vec3<f32>,
    twice: vec3<f32>,
}

// Reflectance at normal incidence between two indices.
fn normal_reflectance(inside: f32, outside: f32) -> f32 {
    let ratio = mul(guard(inside - outside), recip(guard(inside + outside)));
    return mul(ratio, ratio);
}

fn film_fresnel(f0: f32, cosine: f32) -> f32 {
    return guard(f0 + mul(guard(1.0 - f0), schlick(cosine)));
}

fn film_wave(path_nm: f32, decay: f32, frequency: f32, height: f32) -> f32 {
    return mul(mul(exp_two(mul(mul(path_nm, path_nm), decay)), cos_turns(mul(path_nm, frequency))), height);
}

// The colour of white light's interference with itself after a path, -1 to 1 of it.
fn interference(path_nm: f32) -> vec3<f32> {
    let first = film_wave(path_nm, FILM_DECAY_X, FILM_FREQUENCY_X, FILM_HEIGHT_X);
    let second = film_wave(path_nm, FILM_DECAY_X2, FILM_FREQUENCY_X2, FILM_HEIGHT_X2);
    let xyz = vec3<f32>(
        guard(first + second),
        film_wave(path_nm, FILM_DECAY_Y, FILM_FREQUENCY_Y, FILM_HEIGHT_Y),
        film_wave(path_nm, FILM_DECAY_Z, FILM_FREQUENCY_Z, FILM_HEIGHT_Z),
    );
    return vec3<f32>(dot3(xyz, RED_FROM_XYZ), dot3(xyz, GREEN_FROM_XYZ), dot3(xyz, BLUE_FROM_XYZ));
}

fn film_of(l: Lobes, n_dot_v: f32) -> Film {
    let thickness = max(l.iridescence_thickness_nm, 0.0);
    let t = min(mul(thickness, INVERSE_FADE_NM), 1.0);
    let there = mul(mul(t, t), guard(3.0 - mul(t, 2.0)));
    let ior = guard(1.0 + mul(guard(l.iridescence_ior - 1.0), there));
    let inverse = recip(ior);
    let cosine = root(guard(1.0 - mul(mul(inverse, inverse), guard(1.0 - mul(n_dot_v, n_dot_v)))));
    let upper = film_fresnel(normal_reflectance(ior, 1.0), n_dot_v);
    let path = min(mul(mul(mul(ior, thickness), cosine), 2.0), PATH_MAX_NM);
    return Film(there, ior, cosine, upper, interference(path), interference(mul(path, 2.0)));
}

fn film_channel(f: Film, f0: f32, once: f32, twice: f32) -> f32 {
    let base_root = root(min(max(f0, 0.0), FILM_BASE_MAX));
    let base_ior = mul(guard(1.0 + base_root), recip(guard(1.0 - base_root)));
    let lower = film_fresnel(normal_reflectance(base_ior, f.ior), f.cosine);
    let product = min(max(mul(f.upper, lower), FILM_PRODUCT_MIN), FILM_PRODUCT_MAX);
    let amplitude = root(product);
    let entering = guard(1.0 - f.upper);
    let returned = mul(mul(mul(entering, entering), lower), recip(guard(1.0 - product)));
    // The first order changes its sign where the base is the denser: its reflection is half a turn off.
    let first = mul(guard(returned - entering), amplitude);
    let turned = select(-first, first, base_ior < f.ior);
    let flat = guard(f.upper + returned);
    let sum = guard(guard(flat + mul(mul(turned, once), 2.0)) + mul(mul(mul(first, amplitude), twice), 2.0));
    return max(sum, 0.0);
}

fn film_blend(f0: f32, seen: f32, least: f32, scale: f32, share: f32) -> f32 {
    let flat = unit_clamp(mul(guard(min(seen, 1.0) - least), scale));
    return guard(f0 + mul(guard(flat - f0), share));
}

// Reflectance at normal incidence of a base with this `f0` under the film, such that Schlick's curve gives the film's
// reflectance at this cosine.
fn film_reflectance(l: Lobes, n_dot_v: f32, f0: vec3<f32>, f90: f32) -> vec3<f32> {
    let f = film_of(l, n_dot_v);
    let grazing = min(schlick(n_dot_v), FILM_GRAZING_MAX);
    let least = mul(f90, grazing);
    let scale = recip(guard(1.0 - grazing));
    let share = mul(unit_clamp(l.iridescence), f.there);
    return vec3<f32>(
        film_blend(f0.x, film_channel(f, f0.x, f.once.x, f.twice.x), least, scale, share),
        film_blend(f0.y, film_channel(f, f0.y, f.once.y, f.twice.y), least, scale, share),
        film_blend(f0.z, film_channel(f, f0.z, f.once.z, f.twice.z), least, scale, share),
    );
}
