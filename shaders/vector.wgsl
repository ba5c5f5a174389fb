// Twin of raster/src/passes/vector.rs. Sums run x, y, z.
//#include exact

fn sum3(v: vec3<f32>) -> f32 {
    return guard(guard(v.x + v.y) + v.z);
}

fn dot3(a: vec3<f32>, b: vec3<f32>) -> f32 {
    return sum3(mul3(a, b));
}

fn cross3(a: vec3<f32>, b: vec3<f32>) -> vec3<f32> {
    return guard3(mul3(a.yzx, b.zxy) - mul3(a.zxy, b.yzx));
}

fn scale3(v: vec3<f32>, s: f32) -> vec3<f32> {
    return mul3(v, vec3<f32>(s));
}

fn normalize3(v: vec3<f32>) -> vec3<f32> {
    return scale3(v, rsqrt(dot3(v, v)));
}

// (r0 x + r1 y) + r2 z, per row.
fn transform_vector(x: vec4<f32>, y: vec4<f32>, z: vec4<f32>, v: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(dot3(v, x.xyz), dot3(v, y.xyz), dot3(v, z.xyz));
}

// ((r0 x + r1 y) + r2 z) + r3.
fn transform_row(row: vec4<f32>, v: vec3<f32>) -> f32 {
    return guard(dot3(v, row.xyz) + row.w);
}
