// Project, vertices: to clip coordinates and the sub-pixel grid. Twin of `vertices` in
// raster/src/passes/project.rs.
//#include frame
//#include prelude
//#include vector
//#include instances

// VERTEX_PARTS vec4<u32> each; twin of Vertex in raster/src/prepared.rs.
@group(0) @binding(3) var vertices: texture_2d<u32>;
// CLIP_PARTS vec4<u32> each: (x, y, w, d), (sx, sy, key, outcode); twin of ClipVertex in
// raster/src/passes/project.rs.
@group(0) @binding(4) var clip: texture_storage_2d<rgba32uint, write>;

fn vertex_part(k: u32, part: u32) -> vec4<f32> {
    return bitcast<vec4<f32>>(textureLoad(vertices, place(k * VERTEX_PARTS + part), 0));
}

fn vertex_position(k: u32) -> vec3<f32> {
    return vertex_part(k, 0u).xyz;
}

fn vertex_tangent(k: u32) -> vec4<f32> {
    return vec4<f32>(vertex_part(k, 1u).zw, vertex_part(k, 2u).xy);
}

fn flush_clip(v: f32) -> f32 {
    return select(v, 0.0, abs(v) < CLIP_FLUSH_BELOW);
}

fn snap(v: f32, extent: u32) -> i32 {
    let whole = floor(mul(min(max(v, -GUARD_PX), GUARD_PX), SUBPIXELS_F32) + 0.5);
    return i32(whole) + i32(extent) * (SUBPIXELS / 2);
}

// Projects vertex `at` into place `to`.
fn project(
    row_x: vec4<f32>,
    row_y: vec4<f32>,
    row_w: vec4<f32>,
    row_d: vec4<f32>,
    flags: u32,
    first: u32,
    at: u32,
    to: u32,
) {
    let p = vertex_position(at);
    var x = transform_row(row_x, p);
    var y = transform_row(row_y, p);
    let w = transform_row(row_w, p);
    let d = transform_row(row_d, p);
    if (flags & INSTANCE_LINES) != 0u {
        // Half a pixel to the side, across the direction in which the line runs on screen.
        let tangent = vertex_tangent(at);
        let q = vertex_position(first + bitcast<u32>(tangent.x));
        let side = mul(tangent.w, 0.5);
        let qw = transform_row(row_w, q);
        let dx = guard(mul(transform_row(row_x, q), w) - mul(x, qw));
        let dy = guard(mul(transform_row(row_y, q), w) - mul(y, qw));
        let half = mul(mul(rsqrt(guard(mul(dx, dx) + mul(dy, dy))), side), w);
        x = guard(x - mul(dy, half));
        y = guard(y + mul(dx, half));
    }
    if (flags & INSTANCE_POINTS) != 0u {
        let tangent = vertex_tangent(at);
        x = guard(x + mul(mul(tangent.x, 0.5), w));
        y = guard(y + mul(mul(tangent.y, 0.5), w));
    }
    x = flush_clip(x);
    y = flush_clip(y);

    let near = d < u.znear;
    let inverse_w = recip(select(w, 1.0, near));
    let px = mul(x, inverse_w);
    let py = mul(y, inverse_w);
    let key = select(inverse_w, mul(d, u.key_scale) + u.key_offset, u.orthographic == 1u);

    let half_width = mul(f32(u.width), 0.5);
    let half_height = mul(f32(u.height), 0.5);
    let inside = select(0u, OUTCODE_LEFT, px < -half_width)
        | select(0u, OUTCODE_RIGHT, px > half_width)
        | select(0u, OUTCODE_TOP, py < -half_height)
        | select(0u, OUTCODE_BOTTOM, py > half_height)
        | select(0u, OUTCODE_FAR, d > u.zfar)
        | select(0u, OUTCODE_WIDE, abs(px) > GUARD_PX || abs(py) > GUARD_PX);
    textureStore(clip, place(to * CLIP_PARTS), bitcast<vec4<u32>>(vec4<f32>(x, y, w, d)));
    let snapped = vec4<u32>(
        bitcast<u32>(snap(px, u.width)),
        bitcast<u32>(snap(py, u.height)),
        bitcast<u32>(key),
        select(inside, OUTCODE_NEAR, near),
    );
    textureStore(clip, place(to * CLIP_PARTS + 1u), snapped);
}

@compute @workgroup_size(WORKGROUP)
fn current(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let vertex = linear_index(workgroup, local);
    if vertex >= band.clip_vertex_count {
        return;
    }
    let k = instance_of_vertex(vertex);
    let ranges = instance_ranges(k);
    project(
        instance_row(k, INSTANCE_CLIP_FROM_LOCAL),
        instance_row(k, INSTANCE_CLIP_FROM_LOCAL + 1u),
        instance_row(k, INSTANCE_CLIP_FROM_LOCAL + 2u),
        instance_row(k, INSTANCE_CLIP_FROM_LOCAL + 3u),
        instance_flags(k).flags,
        ranges.first_vertex,
        ranges.first_vertex + (vertex - ranges.first_clip_vertex),
        vertex,
    );
}

// X, Y and W of the previous frame, behind the vertices of this one.
@compute @workgroup_size(WORKGROUP)
fn previous(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let vertex = linear_index(workgroup, local);
    if vertex >= band.clip_vertex_count {
        return;
    }
    let k = instance_of_vertex(vertex);
    let ranges = instance_ranges(k);
    let flags = instance_flags(k).flags;
    let first = ranges.first_vertex + select(0u, band.deformed_count, (flags & INSTANCE_DEFORMED) != 0u);
    project(
        instance_row(k, INSTANCE_PREVIOUS_CLIP_FROM_LOCAL),
        instance_row(k, INSTANCE_PREVIOUS_CLIP_FROM_LOCAL + 1u),
        instance_row(k, INSTANCE_PREVIOUS_CLIP_FROM_LOCAL + 2u),
        instance_row(k, INSTANCE_PREVIOUS_CLIP_FROM_LOCAL + 2u),
        flags,
        first,
        first + (vertex - ranges.first_clip_vertex),
        band.clip_vertex_count + vertex,
    );
}
