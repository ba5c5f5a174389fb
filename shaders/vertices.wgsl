// Vertices as a list of VERTEX_PARTS vec4<u32> each. Twin of Vertex in raster/src/prepared.rs. Who includes this
// binds the list.

struct Vertex {
    position: vec3<f32>,
    normal: vec3<f32>,
    tangent: vec4<f32>,
    uv0: vec2<f32>,
    uv1: vec2<f32>,
    color: vec2<u32>,
}

fn vertex_from(p0: vec4<u32>, p1: vec4<u32>, p2: vec4<u32>, p3: vec4<u32>) -> Vertex {
    return Vertex(
        bitcast<vec3<f32>>(p0.xyz),
        bitcast<vec3<f32>>(vec3<u32>(p0.w, p1.xy)),
        bitcast<vec4<f32>>(vec4<u32>(p1.zw, p2.xy)),
        bitcast<vec2<f32>>(p2.zw),
        bitcast<vec2<f32>>(p3.xy),
        p3.zw,
    );
}
