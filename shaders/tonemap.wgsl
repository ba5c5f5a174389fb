// Tone mapping: scene-linear radiance to display-referred linear. Twin of raster/src/passes/tonemap.rs.
//#include vector

fn neutral(color: vec3<f32>) -> vec3<f32> {
    let least = min(min(color.x, color.y), color.z);
    let toe = guard(least - mul(mul(least, least), NEUTRAL_TOE_SQUARED));
    let offset = select(NEUTRAL_OFFSET, toe, least < NEUTRAL_TOE);
    let c = guard3(color - vec3<f32>(offset));
    let brightest = max(max(c.x, c.y), c.z);
    let compressed = brightest >= NEUTRAL_START;
    let peak = max(brightest, NEUTRAL_START);
    let new_peak = guard(1.0 - mul(recip(guard(peak + NEUTRAL_PEAK_OFFSET)), NEUTRAL_PEAK_SCALE));
    let scaled = scale3(c, mul(new_peak, recip(peak)));
    let grey = guard(1.0 - recip(guard(mul(guard(peak - new_peak), NEUTRAL_DESATURATION) + 1.0)));
    let bright = guard3(scaled + scale3(guard3(vec3<f32>(new_peak) - scaled), grey));
    return select(c, bright, vec3<bool>(compressed));
}

fn aces_curve(v: f32) -> f32 {
    let a = guard(mul(v, guard(v + ACES_A)) - ACES_B);
    let b = guard(mul(v, guard(mul(v, ACES_C) + ACES_D)) + ACES_E);
    return mul(a, recip(b));
}

fn aces(color: vec3<f32>) -> vec3<f32> {
    let c = min(color, vec3<f32>(ACES_MAX));
    let d = vec3<f32>(dot3(c, ACES_INPUT_0), dot3(c, ACES_INPUT_1), dot3(c, ACES_INPUT_2));
    let e = vec3<f32>(aces_curve(d.x), aces_curve(d.y), aces_curve(d.z));
    let f = vec3<f32>(dot3(e, ACES_OUTPUT_0), dot3(e, ACES_OUTPUT_1), dot3(e, ACES_OUTPUT_2));
    return min(max(f, vec3<f32>(0.0)), vec3<f32>(1.0));
}

// Applies the curve to exposed radiance.
fn tonemapped(color: vec3<f32>) -> vec3<f32> {
    if TONEMAP == TONEMAP_NEUTRAL {
        return neutral(color);
    }
    if TONEMAP == TONEMAP_ACES {
        return aces(color);
    }
    return color;
}
