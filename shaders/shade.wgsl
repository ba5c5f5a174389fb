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
fn shading_normal(
    instance: u32,
    mirrored: bool,
    material: u32,
    double_sided: bool,
    b: Barycentrics,
    a: Attributes,
    at: Coordinates,
) -> vec3<f32> {
    var n = normalize3(transform_vector(
        instance_row(instance, INSTANCE_NORMAL_FROM_LOCAL),
        instance_row(instance, INSTANCE_NORMAL_FROM_LOCAL + 1u),
        instance_row(instance, INSTANCE_NORMAL_FROM_LOCAL + 2u),
        mean3(b, a.p.normal, a.q.normal, a.r.normal),
    ));
    if TEXTURED_NORMAL {
        let texture = material_texture(material, MATERIAL_NORMAL_TEXTURE);
        let t = lookup(texture, false, at);
        let handedness = a.p.tangent.w;
        let side = select(handedness, -handedness, mirrored);
        let along = transform_vector(
            instance_row(instance, INSTANCE_EYE_FROM_LOCAL),
            instance_row(instance, INSTANCE_EYE_FROM_LOCAL + 1u),
            instance_row(instance, INSTANCE_EYE_FROM_LOCAL + 2u),
            mean3(b, a.p.tangent.xyz, a.q.tangent.xyz, a.r.tangent.xyz),
        );
        let tangent = normalize3(guard3(along - scale3(n, dot3(n, along))));
        let bitangent = scale3(cross3(n, tangent), side);
        let strength = material_factors(material).normal_scale;
        let x = mul(guard(mul(t.x, 2.0) - 1.0), strength);
        let y = mul(guard(mul(t.y, 2.0) - 1.0), strength);
        let z = guard(mul(t.z, 2.0) - 1.0);
        let mapped = normalize3(guard3(guard3(scale3(tangent, x) + scale3(bitangent, y)) + scale3(n, z)));
        n = select(n, mapped, vec3<bool>(is_textured(texture)));
    }
    // Front faces run anticlockwise, clockwise where the transform mirrors.
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

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = linear_index(workgroup, local);
    let item = textureLoad(items, place(number), 0);
    if item.x == NOTHING {
        return;
    }
    let triangle = item.x / PIECES;
    let x = item.y & 0xFFFFu;
    let y = item.y >> 16u;
    let point = (item.z >> 16u) & 0xFFu;
    let p = point_px(x, y + band.first_tile_row * TILE, sample_offset(point));
    let instance = instance_of_triangle(triangle);
    let ids = instance_ids(instance);
    let drawn = instance_flags(instance);
    let material = ids.material;
    let flags = material_flags(material);
    let c = corners_of(instance, triangle);
    let v = clip_of(c, 0u);
    let b = barycentrics(v, p);
    let a = attributes_of(c);
    let at = coordinates(b, a);
    let color = base_color(drawn.flags, material, b, a, at, true);

    let instance_lit = (drawn.flags & INSTANCE_UNLIT) == 0u;
    var normal = vec3<f32>(0.0);
    if LIT || OUT_NORMAL {
        let mirrored = (drawn.flags & INSTANCE_MIRRORED) != 0u;
        let double_sided = (flags & MATERIAL_DOUBLE_SIDED) != 0u;
        let shading = shading_normal(instance, mirrored, material, double_sided, b, a, at);
        normal = select(normal, shading, vec3<bool>(instance_lit));
    }
    var radiance = color.xyz;
    if LIT {
        let local_position = mean3(b, a.p.position, a.q.position, a.r.position);
        let position_eye = vec3<f32>(
            transform_row(instance_row(instance, INSTANCE_EYE_FROM_LOCAL), local_position),
            transform_row(instance_row(instance, INSTANCE_EYE_FROM_LOCAL + 1u), local_position),
            transform_row(instance_row(instance, INSTANCE_EYE_FROM_LOCAL + 2u), local_position),
        );
        var to_viewer = u.to_viewer.xyz;
        if !ORTHOGRAPHIC {
            to_viewer = normalize3(-position_eye);
        }
        let factors = material_factors(material);
        var s = Surface(
            position_eye,
            normal,
            to_viewer,
            color.xyz,
            color.w,
            factors.metallic,
            factors.roughness,
            1.0,
            material_emission(material).emissive,
        );
        if TEXTURED_METALLIC_ROUGHNESS {
            let texture = material_texture(material, MATERIAL_METALLIC_ROUGHNESS_TEXTURE);
            let t = lookup(texture, false, at);
            s.roughness = select(s.roughness, mul(s.roughness, t.y), is_textured(texture));
            s.metallic = select(s.metallic, mul(s.metallic, t.z), is_textured(texture));
        }
        if TEXTURED_OCCLUSION {
            let texture = material_texture(material, MATERIAL_OCCLUSION_TEXTURE);
            let t = lookup(texture, false, at);
            let occlusion = guard(mul(guard(t.x - 1.0), factors.occlusion_strength) + 1.0);
            s.occlusion = select(1.0, max(occlusion, 0.0), is_textured(texture));
        }
        if TEXTURED_EMISSIVE {
            let texture = material_texture(material, MATERIAL_EMISSIVE_TEXTURE);
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
        frame[band.id_at + pixel * 2u] = ids.node_id;
        frame[band.id_at + pixel * 2u + 1u] = drawn.primitive_id;
    }
}
