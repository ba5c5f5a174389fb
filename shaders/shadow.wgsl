// Shadow: which punctual lights reach each item; one ray each, no noise. Twin of raster/src/passes/shadow.rs and of
// `shadows` in raster/src/cpu/tile.rs.
//#include hit
//#include lights
//#include samples

@group(0) @binding(9) var items: texture_2d<u32>;
@group(0) @binding(10) var nodes: texture_2d<u32>;
@group(0) @binding(11) var leaf_triangles: texture_2d<u32>;
@group(0) @binding(12) var placements: texture_2d<u32>;
@group(0) @binding(13) var<storage, read_write> reaching: array<u32>;

// Alpha is never encoded.
fn decode_texel(bytes: vec4<u32>, srgb: bool) -> vec4<f32> {
    return vec4<f32>(bytes);
}

fn accepts(hit: Hit) -> bool {
    if LAYERED {
        return casts_shadow(hit);
    }
    return true;
}

// Whether the ray to a light's centre meets nothing.
fn is_reached(o: Origin, light: PackedLight) -> bool {
    let directional = light.kind == LIGHT_DIRECTIONAL;
    let along = vec3<bool>(directional);
    let origin = towards(o, select(guard3(light.position_eye - o.position_eye), light.direction, along));
    let direction = select(guard3(light.position_eye - origin), light.direction, along);
    return !trace_any(origin, direction, select(1.0, T_MAX, directional), o.triangle);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = linear_index(workgroup, local);
    let item = textureLoad(items, place(number), 0);
    if item.x == NOTHING {
        return;
    }
    let triangle = item.x / PIECES;
    let instance = instance_of_triangle(triangle);
    let unlit = (instance_flags(instance).flags & INSTANCE_UNLIT) != 0u;
    if unlit || (material_flags(instance_ids(instance).material) & MATERIAL_UNLIT) != 0u {
        return;
    }
    let offset = sample_offset((item.z >> 16u) & 0xFFu);
    let p = point_px(item.y & 0xFFFFu, (item.y >> 16u) + band.first_tile_row * TILE, offset);
    let c = corners_of(instance, triangle);
    let a = attributes_of(c);
    let b = barycentrics(clip_of(c, 0u), p);
    let position_eye = eye_from_local(instance, mean3(b, a.p.position, a.q.position, a.r.position));
    let origin = origin_of(instance, triangle, position_eye, flat_normal(instance, a));
    let words = reaching_words();
    for (var word = 0u; word < words; word++) {
        var bits = 0u;
        let count = min(u.light_count - word * 32u, 32u);
        for (var k = 0u; k < count; k++) {
            bits |= select(0u, 1u << k, is_reached(origin, light_at(word * 32u + k)));
        }
        reaching[number * words + word] = bits;
    }
}
