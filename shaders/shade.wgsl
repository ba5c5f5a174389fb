// Shade: the light of each item, and what the data outputs show of it. Twin of `evaluate` in
// raster/src/passes/surface.rs and of `light_batch` in raster/src/cpu/tile.rs.
//#include evaluate
//#include light
//#include gather
//#include pixel_light
//#include surface_parameters
//#include bsdf

@group(0) @binding(10) var items: texture_2d<u32>;
@group(0) @binding(11) var lit: texture_storage_2d<rgba32uint, write>;
@group(0) @binding(12) var<storage, read_write> frame: array<u32>;
// What `shadow` found.
@group(0) @binding(13) var<storage, read> reaching: array<u32>;
// What light was traced for, and what was found; nothing where light is classic.
@group(0) @binding(14) var guides: texture_2d<u32>;
@group(0) @binding(15) var traced_light: texture_2d<u32>;

fn reaches(light: u32, item: u32) -> bool {
    return ((reaching[item * reaching_words() + light / 32u] >> (light & 31u)) & 1u) != 0u;
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

// What a surface does with the light that arrives. Twin of `own` in raster/src/cpu/traced.rs.
struct Own {
    diffuse: vec3<f32>,
    specular: vec3<f32>,
    emission: vec3<f32>,
}

fn own_of(s: Surface, spot: Spot) -> Own {
    if !spot.lit {
        return Own(vec3<f32>(0.0), vec3<f32>(0.0), flush3(s.base));
    }
    let b = bsdf_new(parameters_of(s), s.to_viewer);
    return Own(flush3(b.diffuse_reflectance), flush3(b.specular_reflectance), flush3(s.emissive));
}

// Radiance, but for what pixels keep apart. Twin of `radiance` in raster/src/cpu/traced.rs.
fn traced_radiance(own: Own, spot: Spot, item: vec4<u32>) -> vec3<f32> {
    if is_layer(item) {
        return own.emission;
    }
    let y = spot.y + band.first_tile_row * TILE;
    let source = guide_source(spot.x, y, Guide(spot.instance, flush3(spot.normal), flush(spot_depth(spot))));
    if source == NOTHING {
        return own.emission;
    }
    let light = light_of_pixel(source);
    let diffuse = guard3(own.emission + mul3(light.diffuse, own.diffuse));
    return guard3(diffuse + mul3(light.specular, own.specular));
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = linear_index(workgroup, local);
    let item = textureLoad(items, place(number), 0);
    if item.x == NOTHING {
        return;
    }
    let spot = spot_of(item);
    let color = spot_color(spot);
    var radiance = color.xyz;
    var own: Own;
    if TRACED || OUT_REFLECTANCE || OUT_EMISSION {
        own = own_of(surface_of(spot, color), spot);
    }
    if TRACED {
        radiance = select(radiance, traced_radiance(own, spot, item), vec3<bool>(spot.lit));
    } else if LIT {
        radiance = select(radiance, shade(surface_of(spot, color), number), vec3<bool>(spot.lit));
    }
    let alpha = select(1.0, unit_clamp(color.w), (spot.flags & MATERIAL_BLEND) != 0u);
    textureStore(lit, place(number), bitcast<vec4<u32>>(vec4<f32>(radiance, alpha)));

    if !is_first(item) {
        return;
    }
    let pixel = spot.y * u.width + spot.x;
    if OUT_DEPTH {
        put(band.depth_at + pixel, spot_depth(spot));
    }
    if MOVING {
        let moved = motion_of(spot.corners, spot.weights, spot.clip);
        put(band.motion_at + pixel * 2u, moved.x);
        put(band.motion_at + pixel * 2u + 1u, moved.y);
    }
    if OUT_NORMAL {
        put3(band.normal_at + pixel * 3u, spot.normal);
    }
    if OUT_ALBEDO {
        put3(band.albedo_at + pixel * 3u, color.xyz);
    }
    if OUT_ID {
        frame[band.id_at + pixel * 2u] = instance_ids(spot.instance).node_id;
        frame[band.id_at + pixel * 2u + 1u] = instance_flags(spot.instance).primitive_id;
    }
    if OUT_REFLECTANCE {
        put3(band.reflectance_at + pixel * 6u, own.diffuse);
        put3(band.reflectance_at + pixel * 6u + 3u, own.specular);
    }
    if OUT_EMISSION {
        put3(band.emission_at + pixel * 3u, own.emission);
    }
}
