// Rays and triangles, watertight. Twin of raster/src/passes/ray.rs.
//#include vector

// A ray as its triangles see it: the axis it runs along most, and the shear that turns it into that axis.
struct Shear {
    along: u32,
    // Across per along, twice, and 1 / along.
    slope: vec3<f32>,
    origin: vec3<f32>,
}

// Components across, across, along.
fn turned(v: vec3<f32>, along: u32) -> vec3<f32> {
    return select(select(v, v.zxy, vec3<bool>(along == 1u)), v.yzx, vec3<bool>(along == 0u));
}

// Of a ray whose largest component of direction is within 2^-100 to 2^100.
fn shear_of(origin: vec3<f32>, direction: vec3<f32>) -> Shear {
    let m = abs(direction);
    let along = select(select(2u, 1u, m.y >= m.z), 0u, m.x >= m.y && m.x >= m.z);
    let d = turned(direction, along);
    let inverse = recip(d.z);
    return Shear(along, vec3<f32>(mul(d.x, inverse), mul(d.y, inverse), inverse), origin);
}

// Where a ray meets a triangle.
struct Meeting {
    met: bool,
    // In lengths of the direction.
    t: f32,
    // Edge functions of the corners, and their sum; weights are their quotients.
    edge: vec3<f32>,
    sum: f32,
}

// A corner, across, across and along the ray.
fn sheared(s: Shear, corner: vec3<f32>) -> vec3<f32> {
    let c = turned(guard3(corner - s.origin), s.along);
    return vec3<f32>(guard(c.x - mul(c.z, s.slope.x)), guard(c.y - mul(c.z, s.slope.y)), mul(c.z, s.slope.z));
}

fn meet(s: Shear, corner_0: vec3<f32>, corner_1: vec3<f32>, corner_2: vec3<f32>) -> Meeting {
    let p = sheared(s, corner_0);
    let q = sheared(s, corner_1);
    let r = sheared(s, corner_2);
    let edge = cross3(vec3<f32>(p.y, q.y, r.y), vec3<f32>(p.x, q.x, r.x));
    let some_left = min(min(edge.x, edge.y), edge.z) < -FLUSH_BELOW;
    let some_right = max(max(edge.x, edge.y), edge.z) > FLUSH_BELOW;
    let sum = sum3(edge);
    let thick = abs(sum) > FLUSH_BELOW;
    let inverse = recip(select(1.0, sum, thick));
    let t = mul(dot3(edge, vec3<f32>(p.z, q.z, r.z)), inverse);
    // What is seen edge-on is met within the extent of its corners only.
    let low = min(min(p.xy, q.xy), r.xy);
    let high = max(max(p.xy, q.xy), r.xy);
    let within = all(low <= vec2<f32>(FLUSH_BELOW)) && all(high >= vec2<f32>(-FLUSH_BELOW));
    return Meeting(!(some_left && some_right) && thick && within && t > T_MIN, t, edge, sum);
}

// Weights of a triangle's corners: each 0 to 1, together about 1.
fn meeting_weights(edge: vec3<f32>, sum: f32) -> vec3<f32> {
    return min(max(scale3(edge, recip(sum)), vec3<f32>(0.0)), vec3<f32>(1.0));
}

// The length by which rays leave a surface whose coordinates, and those of what placed it, are up to `reach`.
fn ray_offset(reach: f32) -> f32 {
    let exponent = (bitcast<u32>(reach) >> 23u) & 255u;
    return bitcast<f32>((max(exponent, OFFSET_EXPONENT + OFFSET_EXPONENT_MIN) - OFFSET_EXPONENT) << 23u);
}
