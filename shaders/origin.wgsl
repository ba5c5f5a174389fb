// Origin: a point that rays leave. Twin of `Origin` in raster/src/passes/shadow.rs, and of `flat_normal` in
// raster/src/passes/hit.rs.
//#include surface
//#include ray

// Unit normal of the flat triangle, outward as its corners run. *Space*: world axes.
fn flat_normal(instance: u32, corners: Attributes) -> vec3<f32> {
    let b = normalize3(guard3(corners.q.position - corners.p.position));
    let c = normalize3(guard3(corners.r.position - corners.p.position));
    return normalize3(transform_vector(
        instance_row(instance, INSTANCE_NORMAL_FROM_LOCAL),
        instance_row(instance, INSTANCE_NORMAL_FROM_LOCAL + 1u),
        instance_row(instance, INSTANCE_NORMAL_FROM_LOCAL + 2u),
        cross3(b, c),
    ));
}

struct Origin {
    position_eye: vec3<f32>,
    // Of the flat triangle, either side. *Space*: world axes.
    flat_normal: vec3<f32>,
    // How far rays stand off.
    offset: f32,
    // Which no ray from it meets again.
    triangle: u32,
}

fn origin_of(instance: u32, triangle: u32, position_eye: vec3<f32>, flat_normal: vec3<f32>) -> Origin {
    let placed = abs(vec3<f32>(
        instance_row(instance, INSTANCE_EYE_FROM_LOCAL).w,
        instance_row(instance, INSTANCE_EYE_FROM_LOCAL + 1u).w,
        instance_row(instance, INSTANCE_EYE_FROM_LOCAL + 2u).w,
    ));
    let reach = max(abs(position_eye), placed);
    return Origin(position_eye, flat_normal, ray_offset(max(max(reach.x, reach.y), reach.z)), triangle);
}

// Where a ray in this direction begins: off the surface, on the side it goes to.
fn towards(o: Origin, direction: vec3<f32>) -> vec3<f32> {
    let side = select(o.offset, -o.offset, dot3(o.flat_normal, direction) < -FLUSH_BELOW);
    return guard3(o.position_eye + scale3(o.flat_normal, side));
}
