// Illuminate: light drawn from what shines: punctual lights with a size, triangles that shine, the environment. Twin of
// raster/src/passes/illuminate.rs.
//#include basis
//#include hit
//#include lights
//#include origin
//#include sky
//#include emitters

// Light that may arrive.
struct Arriving {
    // Whether there is any.
    some: bool,
    // Where from, unit. *Space*: world axes.
    direction: vec3<f32>,
    // How far the way must be clear.
    distance: f32,
    // Radiance over density, to be weighed.
    radiance: vec3<f32>,
    // Density of the direction; 0 where only this finds it.
    pdf: f32,
}

fn square_sum(a: f32, b: f32) -> f32 {
    return max(guard(mul(a, a) + mul(b, b)), FLUSH_BELOW);
}

// Radiance to multiply the scattering by, which would find this direction with density `other`.
fn weighed(l: Arriving, other: f32) -> vec3<f32> {
    let a = min(l.pdf, PDF_MAX);
    let b = min(other, PDF_MAX);
    let balanced = scale3(l.radiance, mul(a, recip(square_sum(a, b))));
    return select(balanced, l.radiance, vec3<bool>(l.pdf < FLUSH_BELOW));
}

// Weight of light found by scattering with density `own`, where drawing from lights has density `other`.
fn mis_weight(own: f32, other: f32) -> f32 {
    let a = min(own, PDF_MAX);
    let b = min(other, PDF_MAX);
    return mul(mul(a, a), recip(square_sum(a, b)));
}

// A direction in a cone about `axis` with 1 - cos of `depth`, evenly, and its squared sine.
fn in_cone(axis: vec3<f32>, depth: f32, at: vec2<f32>) -> vec4<f32> {
    let fall = mul(at.x, depth);
    let sine2 = mul(fall, guard(2.0 - fall));
    let turned = sin_cos_turns(at.y);
    let b = basis_across(axis);
    let radius = root(sine2);
    let flat = guard3(scale3(b.s, mul(radius, turned.y)) + scale3(b.t, mul(radius, turned.x)));
    return vec4<f32>(normalize3(guard3(flat + scale3(axis, guard(1.0 - fall)))), sine2);
}

// How many kinds of light there are.
fn light_kinds() -> u32 {
    return select(0u, 1u, PUNCTUAL_LIGHTS) + select(0u, 1u, EMITTERS) + select(0u, 1u, SKY);
}

// Of a point or spot light: distance, range and cone.
fn falloff(light: PackedLight, to_light: vec3<f32>, distance2: f32) -> f32 {
    let ratio2 = mul(distance2, light.inverse_range2);
    let window = max(guard(1.0 - mul(ratio2, ratio2)), 0.0);
    let faded = mul(recip(distance2), window);
    let cosine = -dot3(light.direction, to_light);
    let cone = min(max(guard(mul(cosine, light.spot_scale) + light.spot_offset), 0.0), 1.0);
    return select(faded, mul(faded, mul(cone, cone)), light.kind == LIGHT_SPOT);
}

// About how bright a light is at a place; 0 where it does not reach.
fn brightness(light: PackedLight, position: vec3<f32>) -> f32 {
    let luminance = dot3(light.linear_color, BSDF_LUMINANCE);
    let away = guard3(light.position_eye - position);
    let distance2 = max(dot3(away, away), DISTANCE2_MIN);
    let reaching = mul(luminance, falloff(light, scale3(away, rsqrt(distance2)), distance2));
    return select(reaching, luminance, light.kind == LIGHT_DIRECTIONAL);
}

fn punctual_light(light: PackedLight, position: vec3<f32>, at: vec2<f32>) -> Arriving {
    let directional = light.kind == LIGHT_DIRECTIONAL;
    let away = guard3(light.position_eye - position);
    let distance2 = max(dot3(away, away), DISTANCE2_MIN);
    let inverse = rsqrt(distance2);
    let to_light = scale3(away, inverse);
    let rim2 = min(mul(tracing.light_radius2, recip(distance2)), SINE2_MAX);
    let cosine = root(guard(1.0 - rim2));
    let depth = mul(rim2, recip(guard(1.0 + cosine)));
    let axis = select(to_light, light.direction, vec3<bool>(directional));
    let drawn = in_cone(axis, select(depth, tracing.light_depth, directional), at);
    if directional {
        // Over all of it, the illuminance of a facing surface is what the light says.
        let strength = mul(2.0, recip(guard(2.0 - tracing.light_depth)));
        return Arriving(true, drawn.xyz, T_MAX, scale3(light.linear_color, strength), 0.0);
    }
    let distance = mul(distance2, inverse);
    // To where the sphere begins.
    let half_chord = root(max(guard(rim2 - drawn.w), 0.0));
    let reach = mul(distance, guard(root(max(guard(1.0 - drawn.w), 0.0)) - half_chord));
    let strength = mul(mul(falloff(light, to_light, distance2), 2.0), recip(guard(1.0 + cosine)));
    return Arriving(true, drawn.xyz, reach, scale3(light.linear_color, strength), 0.0);
}

// Light of a punctual light, picked by how bright it would be here.
fn from_punctual(o: Origin, s: Sequence, vertex: u32) -> Arriving {
    var total = 0.0;
    for (var k = 0u; k < u.light_count; k++) {
        total = guard(total + brightness(light_at(k), o.position_eye));
    }
    let at = mul(sequence_pair(s, vertex, DECISION_LIGHT).x, total);
    var before = 0.0;
    var picked = NOTHING;
    var picked_brightness = 1.0;
    for (var k = 0u; k < u.light_count; k++) {
        let own = brightness(light_at(k), o.position_eye);
        if own >= FLUSH_BELOW && (picked == NOTHING || before <= at) {
            picked = k;
            picked_brightness = own;
        }
        before = guard(before + own);
    }
    if total < FLUSH_BELOW || picked == NOTHING {
        return Arriving();
    }
    var lit = punctual_light(light_at(picked), o.position_eye, sequence_pair(s, vertex, DECISION_LIGHT_POINT));
    lit.radiance = scale3(lit.radiance, mul(total, recip(picked_brightness)));
    return lit;
}

// Light of the environment.
fn from_sky(s: Sequence, vertex: u32) -> Arriving {
    let cell = sequence_bits(s, vertex, DECISION_ENVIRONMENT);
    let drawn = sky_sample(cell, sequence_bits(s, vertex, DECISION_ENVIRONMENT_POINT));
    return Arriving(true, drawn.direction, T_MAX, sky_radiance(drawn.direction), drawn.pdf);
}

// Whether a triangle shines to where it is seen under `cosine` to its normal.
fn shows(p: HitPlace, cosine: f32) -> bool {
    let both = (material_flags(p.material) & MATERIAL_DOUBLE_SIDED) != 0u;
    return cosine > COSINE_MIN || (both && cosine < -COSINE_MIN);
}

fn find_emitter(at: u32) -> u32 {
    var low = 0u;
    var high = tracing.emitter_count;
    while high - low > 1u {
        let middle = (low + high) / 2u;
        if emitter_at(middle).before <= at {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

// Light of a shining triangle.
fn from_emitters(o: Origin, s: Sequence, vertex: u32) -> Arriving {
    let emitter = emitter_at(find_emitter(sequence_bits(s, vertex, DECISION_LIGHT).x >> 1u));
    let at = sequence_pair(s, vertex, DECISION_LIGHT_POINT);
    let r = root(at.x);
    let weights = vec3<f32>(guard(1.0 - r), mul(r, guard(1.0 - at.y)), mul(r, at.y));
    let p = hit_place(Hit(0.0, emitter.instance, emitter.triangle, weights));
    let away = guard3(hit_position_eye(p) - o.position_eye);
    let distance2 = max(dot3(away, away), DISTANCE2_MIN);
    let inverse = rsqrt(distance2);
    let direction = scale3(away, inverse);
    let cosine = -dot3(flat_normal(p.instance, p.corners), direction);
    if emitter.triangle == o.triangle || !shows(p, cosine) {
        return Arriving();
    }
    let pdf = mul(mul(emitter.pdf_area, distance2), recip(abs(cosine)));
    let reach = mul(mul(distance2, inverse), NEARLY);
    return Arriving(true, direction, reach, hit_emission(p), pdf);
}

// Density with which drawing from shining triangles finds a point on one, seen under `cosine` to its normal.
fn emitter_pdf(hit: Hit, cosine: f32) -> f32 {
    let first = first_emitter(hit.instance);
    if first == DARK {
        return 0.0;
    }
    let number = hit.triangle - instance_ids(hit.instance).first_triangle;
    let emitter = emitter_at(first + number);
    return mul(mul(emitter.pdf_area, mul(hit.t, hit.t)), recip(max(abs(cosine), COSINE_MIN)));
}
