// Shade: the light of each item, and what the data outputs show of it. Twin of `evaluate` in
// raster/src/passes/surface.rs and of `light_batch` in raster/src/cpu/tile.rs.
//#include surface
//#include samples
//#include light

@group(0) @binding(9) var items: texture_2d<u32>;
@group(0) @binding(10) var lit: texture_storage_2d<rgba32uint, write>;
@group(0) @binding(11) var<storage, read_write> frame: array<u32>;
@group(0) @binding(12) var<uniform> srgb_table: array<vec4<f32>, 64>;

fn srgb8_to_linear(code: u32) -> f32 {
    return srgb_table[code >> 2u][code & 3u];
}

fn decode_texel(bytes: vec4<u32>, srgb: bool) -> vec4<f32> {
    let plain = vec4<f32>(bytes);
    if !srgb {
        return plain;
    }
    return vec4<f32>(srgb8_to_linear(bytes.x), srgb8_to_linear(bytes.y), srgb8_to_linear(bytes.z), plain.w);
}

// Shading normal: interpolated, mapped, turned to the viewer's side where the material has two.
// `p0` to `p2` are the vertices' parts.
fn shading_normal(
    instance: u32,
    instance_flags: u32,
    material: u32,
    material_flags: u32,
    b: Barycentrics,
    p0: Parts,
    p1: Parts,
    p2: Parts,
    at: Coordinates,
) -> vec3<f32> {
    let mirrored = (instance_flags & INSTANCE_MIRRORED) != 0u;
    var n = normalize3(transform_vector(
        instance_row(instance, INSTANCE_NORMAL),
        instance_row(instance, INSTANCE_NORMAL + 1u),
        instance_row(instance, INSTANCE_NORMAL + 2u),
        vec3<f32>(mean_bits(b, p0.a.w, p0.b.w, p0.c.w), mean_bits(b, p1.a.x, p1.b.x, p1.c.x), mean_bits(b, p1.a.y, p1.b.y, p1.c.y)),
    ));
    if TEXTURED_NORMAL {
        let texture = texture_parts(material, MATERIAL_NORMAL_TEXTURE);
        let t = lookup(texture, false, at);
        let handedness = bitcast<f32>(p2.a.y);
        let side = select(handedness, -handedness, mirrored);
        let along = transform_vector(
            instance_row(instance, INSTANCE_EYE),
            instance_row(instance, INSTANCE_EYE + 1u),
            instance_row(instance, INSTANCE_EYE + 2u),
            vec3<f32>(mean_bits(b, p1.a.z, p1.b.z, p1.c.z), mean_bits(b, p1.a.w, p1.b.w, p1.c.w), mean_bits(b, p2.a.x, p2.b.x, p2.c.x)),
        );
        let tangent = normalize3(guard3(along - scale3(n, dot3(n, along))));
        let bitangent = scale3(cross3(n, tangent), side);
        let strength = bitcast<f32>(material_part(material, MATERIAL_FACTORS).z);
        let x = mul(guard(mul(t.x, 2.0) - 1.0), strength);
        let y = mul(guard(mul(t.y, 2.0) - 1.0), strength);
        let z = guard(mul(t.z, 2.0) - 1.0);
        let mapped = normalize3(guard3(guard3(scale3(tangent, x) + scale3(bitangent, y)) + scale3(n, z)));
        n = select(n, mapped, vec3<bool>(is_textured(texture)));
    }
    // Front faces run anticlockwise, clockwise where the transform mirrors.
    let double_sided = (material_flags & MATERIAL_DOUBLE_SIDED) != 0u;
    return select(n, -n, vec3<bool>(double_sided && b.clockwise != mirrored));
}

// Where the surface was minus where it is. *Units*: pixels. Zero where it was behind the camera.
fn motion_of(c: Corners, b: Barycentrics, v: mat3x4<f32>) -> vec2<f32> {
    let w = clip_of(c, band.clip_vertex_count);
    let now = vec3<f32>(
        mean(b, vec3<f32>(v[0].x, v[1].x, v[2].x)),
        mean(b, vec3<f32>(v[0].y, v[1].y, v[2].y)),
        mean(b, vec3<f32>(v[0].z, v[1].z, v[2].z)),
    );
    let before = vec3<f32>(
        mean(b, vec3<f32>(w[0].x, w[1].x, w[2].x)),
        mean(b, vec3<f32>(w[0].y, w[1].y, w[2].y)),
        mean(b, vec3<f32>(w[0].z, w[1].z, w[2].z)),
    );
    let seen = before.z > MOTION_W_MIN && now.z > MOTION_W_MIN;
    let inverse_now = recip(select(MOTION_W_MIN, now.z, seen));
    let inverse_before = recip(select(MOTION_W_MIN, before.z, seen));
    let moved = guard2(mul2(before.xy, vec2<f32>(inverse_before)) - mul2(now.xy, vec2<f32>(inverse_now)));
    let limit = vec2<f32>(RADIANCE_MAX);
    return select(vec2<f32>(0.0), min(max(moved, -limit), limit), vec2<bool>(seen));
}

fn put(at: u32, value: f32) {
    frame[at] = bitcast<u32>(flush(value));
}

fn put3(at: u32, value: vec3<f32>) {
    put(at, value.x);
    put(at + 1u, value.y);
    put(at + 2u, value.z);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = linear_index(workgroup, local);
    let item = textureLoad(items, place(number), 0);
    if item.x == NOTHING {
        return;
    }
    let triangle = item.x >> 3u;
    let x = item.y & 0xFFFFu;
    let y = item.y >> 16u;
    let point = (item.z >> 16u) & 0xFFu;
    let p = point_px(x, y + band.first_tile_row * 8u, sample_offset(point));
    let instance = instance_of_triangle(triangle);
    let ids = instance_part(instance, INSTANCE_IDS);
    let instance_flags = instance_part(instance, INSTANCE_FLAGS).y;
    let material = ids.z;
    let flags = material_part(material, MATERIAL_FLAGS).x;
    let c = corners_of(instance, triangle);
    let v = clip_of(c, 0u);
    let b = barycentrics(v, p);
    let p0 = parts_of(c, 0u);
    let p1 = parts_of(c, 1u);
    let p2 = parts_of(c, 2u);
    let p3 = parts_of(c, 3u);
    let at = coordinates(b, p2, p3);
    let color = base_color(instance_flags, material, b, p3, at, true);

    let instance_lit = (instance_flags & INSTANCE_UNLIT) == 0u;
    var normal = vec3<f32>(0.0);
    if LIT || OUT_NORMAL {
        normal = select(normal, shading_normal(instance, instance_flags, material, flags, b, p0, p1, p2, at), vec3<bool>(instance_lit));
    }
    var radiance = color.xyz;
    if LIT {
        let local_position = vec3<f32>(
            mean_bits(b, p0.a.x, p0.b.x, p0.c.x),
            mean_bits(b, p0.a.y, p0.b.y, p0.c.y),
            mean_bits(b, p0.a.z, p0.b.z, p0.c.z),
        );
        let position_eye = vec3<f32>(
            transform_row(instance_row(instance, INSTANCE_EYE), local_position),
            transform_row(instance_row(instance, INSTANCE_EYE + 1u), local_position),
            transform_row(instance_row(instance, INSTANCE_EYE + 2u), local_position),
        );
        var to_viewer = u.to_viewer.xyz;
        if !ORTHOGRAPHIC {
            to_viewer = normalize3(-position_eye);
        }
        let factors = bitcast<vec4<f32>>(material_part(material, MATERIAL_FACTORS));
        var s = Surface(
            position_eye,
            normal,
            to_viewer,
            color.xyz,
            color.w,
            factors.x,
            factors.y,
            1.0,
            bitcast<vec3<f32>>(material_part(material, MATERIAL_EMISSIVE).xyz),
        );
        if TEXTURED_METALLIC_ROUGHNESS {
            let texture = texture_parts(material, MATERIAL_METALLIC_ROUGHNESS_TEXTURE);
            let t = lookup(texture, false, at);
            s.roughness = select(s.roughness, mul(s.roughness, t.y), is_textured(texture));
            s.metallic = select(s.metallic, mul(s.metallic, t.z), is_textured(texture));
        }
        if TEXTURED_OCCLUSION {
            let texture = texture_parts(material, MATERIAL_OCCLUSION_TEXTURE);
            let t = lookup(texture, false, at);
            let occlusion = guard(mul(guard(t.x - 1.0), factors.w) + 1.0);
            s.occlusion = select(1.0, max(occlusion, 0.0), is_textured(texture));
        }
        if TEXTURED_EMISSIVE {
            let texture = texture_parts(material, MATERIAL_EMISSIVE_TEXTURE);
            let t = lookup(texture, true, at);
            s.emissive = select(s.emissive, mul3(s.emissive, t.xyz), vec3<bool>(is_textured(texture)));
        }
        let lit_here = instance_lit && (flags & MATERIAL_UNLIT) == 0u;
        radiance = select(radiance, shade(s), vec3<bool>(lit_here));
    }
    let alpha = select(1.0, unit_clamp(color.w), (flags & MATERIAL_BLEND) != 0u);
    textureStore(lit, place(number), bitcast<vec4<u32>>(vec4<f32>(radiance, alpha)));

    if (item.z >> 24u) == 0u {
        return;
    }
    let pixel = y * u.width + x;
    if OUT_DEPTH {
        put(band.depth_at + pixel, mean(b, vec3<f32>(v[0].w, v[1].w, v[2].w)));
    }
    if MOVING {
        let moved = motion_of(c, b, v);
        put(band.motion_at + pixel * 2u, moved.x);
        put(band.motion_at + pixel * 2u + 1u, moved.y);
    }
    if OUT_NORMAL {
        put3(band.normal_at + pixel * 3u, normal);
    }
    if OUT_ALBEDO {
        put3(band.albedo_at + pixel * 3u, color.xyz);
    }
    if OUT_ID {
        frame[band.id_at + pixel * 2u] = ids.w;
        frame[band.id_at + pixel * 2u + 1u] = instance_part(instance, INSTANCE_FLAGS).x;
    }
}
