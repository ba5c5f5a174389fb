// Two directions across a unit one. Twin of `across` in raster/src/passes/illuminate.rs.
//#include vector

struct Basis {
    s: vec3<f32>,
    t: vec3<f32>,
}

fn basis_across(n: vec3<f32>) -> Basis {
    let sign = select(1.0, -1.0, n.z < -FLUSH_BELOW);
    let a = -recip(guard(sign + n.z));
    let b = mul(mul(n.x, n.y), a);
    return Basis(
        vec3<f32>(
            guard(mul(mul(mul(n.x, n.x), a), sign) + 1.0),
            mul(b, sign),
            -mul(n.x, sign),
        ),
        vec3<f32>(b, guard(mul(mul(n.y, n.y), a) + sign), -n.y),
    );
}
