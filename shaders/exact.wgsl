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
