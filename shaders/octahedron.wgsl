// Octahedral maps: a direction's place, and bilinear lookups whose edges wrap as the octahedron folds. Twin of
// raster/src/passes/octahedron.rs. Who includes this gives `map_texel`.
//#include frame
//#include prelude
//#include vector

// World axes to the environment's.
fn turn(d: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(
        guard(mul(d.x, u.environment_cos) + mul(d.z, u.environment_sin)),
        d.y,
        guard(mul(d.z, u.environment_cos) - mul(d.x, u.environment_sin)),
    );
}

// Texel position in a map of unit side, 0 to 1.
fn octahedral(d: vec3<f32>) -> vec2<f32> {
    let p = scale3(d, recip(sum3(abs(d))));
    let folded = guard2(vec2<f32>(1.0) - abs(p.zx));
    let signed = select(folded, -folded, p.xz < vec2<f32>(0.0));
    let place = select(p.xz, signed, vec2<bool>(p.y < 0.0));
    return guard2(mul2(place, vec2<f32>(0.5)) + vec2<f32>(0.5));
}

// A texel beyond the edge, at most one away, is its neighbour across the fold.
fn fold_octahedron(at: vec2<i32>, side: i32) -> vec2<i32> {
    let last = side - 1;
    var x = clamp(at.x, 0, last);
    var y = select(at.y, last - at.y, at.x < 0 || at.x > last);
    x = select(x, last - x, y < 0 || y > last);
    y = clamp(y, 0, last);
    return vec2<i32>(x, y);
}

fn octahedral_level(first: u32, side: u32, at: vec2<f32>) -> vec3<f32> {
    let position = guard2(mul2(at, vec2<f32>(f32(side))) - vec2<f32>(0.5));
    let whole = floor(position);
    let f = guard2(position - whole);
    let corner = vec2<i32>(whole);
    let n = i32(side);
    let p00 = fold_octahedron(corner, n);
    let p10 = fold_octahedron(corner + vec2<i32>(1, 0), n);
    let p01 = fold_octahedron(corner + vec2<i32>(0, 1), n);
    let p11 = fold_octahedron(corner + vec2<i32>(1, 1), n);
    let a = map_texel(first + u32(p00.y * n + p00.x));
    let b = map_texel(first + u32(p10.y * n + p10.x));
    let c = map_texel(first + u32(p01.y * n + p01.x));
    let d = map_texel(first + u32(p11.y * n + p11.x));
    let top = guard3(a + scale3(guard3(b - a), f.x));
    let bottom = guard3(c + scale3(guard3(d - c), f.x));
    return guard3(top + scale3(guard3(bottom - top), f.y));
}
