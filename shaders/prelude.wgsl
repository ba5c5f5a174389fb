// The guard. Who includes this has a uniform `u` whose `zero` is 0.

// A rounded result that nothing may fuse, regroup or distribute: the compiler cannot know that zero is 0.
// A product that feeds a sum or another product, and a sum that feeds a sum, go through this.
fn guard(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ u.zero);
}

fn guard2(x: vec2<f32>) -> vec2<f32> {
    return bitcast<vec2<f32>>(bitcast<vec2<u32>>(x) ^ vec2<u32>(u.zero));
}

fn guard3(x: vec3<f32>) -> vec3<f32> {
    return bitcast<vec3<f32>>(bitcast<vec3<u32>>(x) ^ vec3<u32>(u.zero));
}

fn guard4(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(bitcast<vec4<u32>>(x) ^ vec4<u32>(u.zero));
}

fn mul(x: f32, y: f32) -> f32 {
    return guard(x * y);
}

fn mul2(x: vec2<f32>, y: vec2<f32>) -> vec2<f32> {
    return guard2(x * y);
}

fn mul3(x: vec3<f32>, y: vec3<f32>) -> vec3<f32> {
    return guard3(x * y);
}

fn mul4(x: vec4<f32>, y: vec4<f32>) -> vec4<f32> {
    return guard4(x * y);
}
