// Twin of raster/src/exact.rs.
//#include prelude

// 1/x for 2^-100 <= |x| <= 2^100.
fn recip(x: f32) -> f32 {
    let bits = bitcast<u32>(x);
    let sign = bits & 0x80000000u;
    let a = bitcast<f32>(bits & 0x7FFFFFFFu);
    var r = bitcast<f32>(RECIP_GUESS - (bits & 0x7FFFFFFFu));
    r = mul(r, 2.0 - mul(a, r));
    r = mul(r, 2.0 - mul(a, r));
    r = mul(r, 2.0 - mul(a, r));
    return bitcast<f32>(bitcast<u32>(r) ^ sign);
}

// 1/sqrt(x) for 2^-100 <= x <= 2^100; smaller and negative x count as 2^-100.
fn rsqrt(x: f32) -> f32 {
    let y = select(FLUSH_BELOW, x, x > FLUSH_BELOW);
    let half = mul(0.5, y);
    var r = bitcast<f32>(RSQRT_GUESS - (bitcast<u32>(y) >> 1u));
    r = mul(r, 1.5 - mul(mul(half, r), r));
    r = mul(r, 1.5 - mul(mul(half, r), r));
    r = mul(r, 1.5 - mul(mul(half, r), r));
    return r;
}

// sqrt(x) as x / sqrt(x); 0 for x up to 2^-100.
fn root(x: f32) -> f32 {
    return select(0.0, mul(x, rsqrt(x)), x > FLUSH_BELOW);
}

// log2(x) for x >= 2^-100; smaller and negative x count as 2^-100.
fn log_two(x: f32) -> f32 {
    let bits = bitcast<u32>(select(FLUSH_BELOW, x, x > FLUSH_BELOW));
    let exponent = f32(bits >> 23u);
    let m = bitcast<f32>((bits & 0x007FFFFFu) | 0x3F800000u);
    var p = mul(m, LOG2_POLYNOMIAL_5) + LOG2_POLYNOMIAL_4;
    p = mul(p, m) + LOG2_POLYNOMIAL_3;
    p = mul(p, m) + LOG2_POLYNOMIAL_2;
    p = mul(p, m) + LOG2_POLYNOMIAL_1;
    p = mul(p, m) + LOG2_POLYNOMIAL_0;
    return guard(exponent - 127.0) + guard(p);
}

// 2^x for x in -99 to 99, to which x is clamped.
fn exp_two(x: f32) -> f32 {
    let y = min(max(x, -EXP2_MAX), EXP2_MAX);
    let whole = floor(y);
    let f = guard(y - whole);
    var p = mul(f, EXP2_POLYNOMIAL_6) + EXP2_POLYNOMIAL_5;
    p = mul(p, f) + EXP2_POLYNOMIAL_4;
    p = mul(p, f) + EXP2_POLYNOMIAL_3;
    p = mul(p, f) + EXP2_POLYNOMIAL_2;
    p = mul(p, f) + EXP2_POLYNOMIAL_1;
    p = mul(p, f) + 1.0;
    return mul(p, bitcast<f32>(u32(i32(whole) + 127) << 23u));
}

// Sine and cosine of 2 pi u, u in 0 to 1.
fn sin_cos_turns(turns: f32) -> vec2<f32> {
    let quarters = mul(turns, QUARTERS);
    let nearest = floor(quarters + 0.5);
    let f = guard(quarters - nearest);
    let g = mul(f, f);
    var s = mul(g, SIN_POLYNOMIAL_3) + SIN_POLYNOMIAL_2;
    s = mul(s, g) + SIN_POLYNOMIAL_1;
    s = mul(s, g) + SIN_POLYNOMIAL_0;
    s = mul(s, f);
    var c = mul(g, COS_POLYNOMIAL_3) + COS_POLYNOMIAL_2;
    c = mul(c, g) + COS_POLYNOMIAL_1;
    c = mul(c, g) + COS_POLYNOMIAL_0;
    c = guard(mul(c, g) + 1.0);
    let quarter = u32(i32(nearest)) & 3u;
    let turned = select(vec2<f32>(s, c), vec2<f32>(c, -s), (quarter & 1u) == 1u);
    return select(turned, -turned, (quarter & 2u) == 2u);
}

// cos(2 pi x) for |x| up to 2^20.
fn cos_turns(x: f32) -> f32 {
    // The way to the nearest whole number, then to the nearer quarter.
    let b = guard(QUARTER_TURN - abs(guard(x - floor(guard(x + 0.5)))));
    let b2 = mul(b, b);
    var p = guard(mul(b2, SINE_POLYNOMIAL_3) + SINE_POLYNOMIAL_2);
    p = guard(mul(p, b2) + SINE_POLYNOMIAL_1);
    p = guard(mul(p, b2) + SINE_POLYNOMIAL_0);
    return mul(p, b);
}

// What is stored: +0 where |x| is below 2^-100, else x.
fn flush(x: f32) -> f32 {
    return select(x, 0.0, (bitcast<u32>(x) & 0x7FFFFFFFu) < FLUSH_BELOW_BITS);
}

fn flush2(x: vec2<f32>) -> vec2<f32> {
    return select(x, vec2<f32>(0.0), (bitcast<vec2<u32>>(x) & vec2<u32>(0x7FFFFFFFu)) < vec2<u32>(FLUSH_BELOW_BITS));
}

fn flush3(x: vec3<f32>) -> vec3<f32> {
    return select(x, vec3<f32>(0.0), (bitcast<vec3<u32>>(x) & vec3<u32>(0x7FFFFFFFu)) < vec3<u32>(FLUSH_BELOW_BITS));
}

fn flush4(x: vec4<f32>) -> vec4<f32> {
    return select(x, vec4<f32>(0.0), (bitcast<vec4<u32>>(x) & vec4<u32>(0x7FFFFFFFu)) < vec4<u32>(FLUSH_BELOW_BITS));
}
