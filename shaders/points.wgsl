// Points that light is traced for, by item, in POINT_PARTS parts: those of the lobes only where materials have some. Who
// includes this binds the list `points`; `point` fills it.
//#include frame
//#include parameters

fn point_part(k: u32, part: u32) -> vec4<u32> {
    return textureLoad(points, place(k * POINT_PARTS + part), 0);
}

fn point_floats(k: u32, part: u32) -> vec4<f32> {
    return bitcast<vec4<f32>>(point_part(k, part));
}

// POINT_NONE; POINT_OWN where the pixel's light is for it; POINT_EXTRA.
fn point_kind(k: u32) -> u32 {
    return point_part(k, 5u).w;
}

fn point_alpha(k: u32) -> f32 {
    return point_floats(k, 3u).w;
}

// Pixel of the image, x and y.
fn point_pixel(k: u32) -> vec2<u32> {
    let packed = point_part(k, 2u).w;
    return vec2<u32>(packed & 0xFFFFu, packed >> 16u);
}

fn point_to_viewer(k: u32) -> vec3<f32> {
    return point_floats(k, 2u).xyz;
}

fn point_parameters(k: u32) -> BsdfParameters {
    let normal = point_floats(k, 3u).xyz;
    let base = point_floats(k, 4u);
    var p = plain_parameters(normal, point_floats(k, 6u).xyz);
    p.base = base.xyz;
    p.metallic = base.w;
    p.roughness = point_floats(k, 5u).x;
    if WITH_LOBES {
        let a = point_floats(k, 6u);
        let b = point_floats(k, 7u);
        let c = point_floats(k, 8u);
        let d = point_floats(k, 9u);
        let e = point_part(k, 10u);
        let f = point_floats(k, 11u);
        let e_floats = bitcast<vec3<f32>>(e.xyz);
        p.anisotropy = a.w;
        p.clearcoat_normal = b.xyz;
        p.clearcoat = b.w;
        p.specular_color = c.xyz;
        p.specular = c.w;
        p.sheen_color = d.xyz;
        p.sheen_roughness = d.w;
        p.clearcoat_roughness = e_floats.x;
        p.ior = e_floats.y;
        p.transmission = e_floats.z;
        p.thin = e.w == 1u;
        p.iridescence = f.x;
        p.iridescence_ior = f.y;
        p.iridescence_thickness_nm = f.z;
    }
    return p;
}
