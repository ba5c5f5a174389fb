// Tangent space: the directions that a material's maps turn about. Twin of raster/src/passes/tangent_space.rs.
//#include surface

// The directions at a point.
struct TangentSpace {
    // Interpolated, towards the side that the vertices say.
    normal: vec3<f32>,
    tangent: vec3<f32>,
    bitangent: vec3<f32>,
    // Whether the other side is seen, of a material with two.
    back: bool,
}

fn tangent_space_of(instance: u32, mirrored: bool, double_sided: bool, b: Barycentrics, a: Attributes) -> TangentSpace {
    let n = normalize3(transform_vector(
        instance_row(instance, INSTANCE_NORMAL_FROM_LOCAL),
        instance_row(instance, INSTANCE_NORMAL_FROM_LOCAL + 1u),
        instance_row(instance, INSTANCE_NORMAL_FROM_LOCAL + 2u),
        mean3(b, a.p.normal, a.q.normal, a.r.normal),
    ));
    var tangent = n;
    var bitangent = n;
    if TEXTURED_NORMAL || CLEARCOAT || ANISOTROPY {
        let handedness = a.p.tangent.w;
        let side = select(handedness, -handedness, mirrored);
        let along = transform_vector(
            instance_row(instance, INSTANCE_EYE_FROM_LOCAL),
            instance_row(instance, INSTANCE_EYE_FROM_LOCAL + 1u),
            instance_row(instance, INSTANCE_EYE_FROM_LOCAL + 2u),
            mean3(b, a.p.tangent.xyz, a.q.tangent.xyz, a.r.tangent.xyz),
        );
        tangent = normalize3(guard3(along - scale3(n, dot3(n, along))));
        bitangent = scale3(cross3(n, tangent), side);
    }
    // Front faces run anticlockwise, clockwise where the transform mirrors.
    return TangentSpace(n, tangent, bitangent, double_sided && b.clockwise != mirrored);
}

// The normal that a map gives, towards the side that the vertices say.
fn mapped_normal(f: TangentSpace, t: vec4<f32>, strength: f32) -> vec3<f32> {
    let x = mul(guard(mul(t.x, 2.0) - 1.0), strength);
    let y = mul(guard(mul(t.y, 2.0) - 1.0), strength);
    let z = guard(mul(t.z, 2.0) - 1.0);
    return normalize3(guard3(guard3(scale3(f.tangent, x) + scale3(f.bitangent, y)) + scale3(f.normal, z)));
}

// A normal turned to the viewer's side where the material has two.
fn seen_normal(f: TangentSpace, n: vec3<f32>) -> vec3<f32> {
    return select(n, -n, vec3<bool>(f.back));
}
