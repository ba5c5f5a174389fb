// Project, triangles: set-up records. Twin of `triangles` in raster/src/passes/project.rs.
//
// A set-up is SETUP_PARTS vec4<u32>: (sx0, sx1, sx2, key), (sy0, sy1, sy2, order),
// (key_dx, key_dy, key_min, key_max), (mode, bounds_x, bounds_y, 0). `order` is the global triangle times PIECES
// and the piece of it: set-ups lie in any order, `order` decides ties. Triangles that need clipping are listed and
// clipped by a pass of their own.
//#include frame
//#include prelude
//#include exact
//#include integer
//#include counters
//#include instances
//#include materials

@group(0) @binding(4) var triangles: texture_2d<u32>;
@group(0) @binding(5) var clip: texture_2d<u32>;
@group(0) @binding(6) var setups: texture_storage_2d<rgba32uint, write>;
@group(0) @binding(7) var<storage, read_write> clipped: array<u32>;
@group(0) @binding(8) var<storage, read_write> counters: Counters;

// What the triangles of an instance share.
struct Maker {
    negative_kept: bool,
    positive_kept: bool,
    mode: u32,
}

struct Projected {
    sx: i32,
    sy: i32,
    key: f32,
}

fn maker_of(k: u32) -> Maker {
    let flags = material_flags(instance_ids(k).material);
    let drawn = instance_flags(k).flags;
    var mode = MODE_OPAQUE;
    if (flags & MATERIAL_BLEND) != 0u {
        mode = MODE_BLEND;
    } else if (flags & MATERIAL_MASK) != 0u {
        mode = MODE_MASK;
    }
    let sprite = (drawn & (INSTANCE_LINES | INSTANCE_POINTS)) != 0u;
    let double_sided = sprite || (flags & MATERIAL_DOUBLE_SIDED) != 0u;
    let mirrored = (drawn & INSTANCE_MIRRORED) != 0u;
    return Maker(double_sided || !mirrored, double_sided || mirrored, mode);
}

// Whether no sample of the grid lies between.
fn missed(low: i32, high: i32) -> bool {
    return ((high - SAMPLE_FIRST) & -SAMPLE_PITCH) < (low - SAMPLE_FIRST);
}

// A positive 64-bit integer as f32, rounded once: both halves are exact.
fn float_from_wide(x: vec2<u32>) -> f32 {
    let high = f32(bitcast<i32>((x.y << 8u) | (x.x >> 24u)));
    let low = f32(bitcast<i32>(x.x & 0x00FFFFFFu));
    return mul(high, EXACT_INTEGERS) + low;
}

fn make(maker: Maker, order: u32, a: Projected, b_in: Projected, c_in: Projected) {
    var b = b_in;
    var c = c_in;
    let min_x = min(min(a.sx, b.sx), c.sx);
    let max_x = max(max(a.sx, b.sx), c.sx);
    let min_y = min(min(a.sy, b.sy), c.sy);
    let max_y = max(max(a.sy, b.sy), c.sy);
    if missed(min_x, max_x) || missed(min_y, max_y) {
        return;
    }
    var area = sub_wide(mul_wide_signed(b.sx - a.sx, c.sy - a.sy), mul_wide_signed(c.sx - a.sx, b.sy - a.sy));
    let negative = bitcast<i32>(area.y) < 0;
    let kept = select(maker.positive_kept, maker.negative_kept, negative);
    if (area.x | area.y) == 0u || !kept {
        return;
    }
    if negative {
        let swapped = b;
        b = c;
        c = swapped;
        area = sub_wide(vec2<u32>(0u), area);
    }
    let x0 = max(min_x >> 8u, 0);
    let x1 = min(max_x >> 8u, i32(u.width) - 1);
    let y0 = max(min_y >> 8u, 0);
    let y1 = min(max_y >> 8u, i32(u.height) - 1);
    if x0 > x1 || y0 > y1 {
        return;
    }
    let inverse_area = recip(float_from_wide(area));
    let k1 = b.key - a.key;
    let k2 = c.key - a.key;
    let x1f = f32(b.sx - a.sx);
    let y1f = f32(b.sy - a.sy);
    let x2f = f32(c.sx - a.sx);
    let y2f = f32(c.sy - a.sy);
    let key_dx = mul(mul(k1, y2f) - mul(k2, y1f), inverse_area);
    let key_dy = mul(mul(k2, x1f) - mul(k1, x2f), inverse_area);
    let key_min = min(min(a.key, b.key), c.key);
    let key_max = max(max(a.key, b.key), c.key);
    let slot = atomicAdd(&counters.setups, 1u);
    if slot >= band.setup_capacity {
        return;
    }
    let at = slot * SETUP_PARTS;
    textureStore(setups, place(at), vec4<u32>(bitcast<vec3<u32>>(vec3<i32>(a.sx, b.sx, c.sx)), bitcast<u32>(a.key)));
    textureStore(setups, place(at + 1u), vec4<u32>(bitcast<vec3<u32>>(vec3<i32>(a.sy, b.sy, c.sy)), order));
    textureStore(setups, place(at + 2u), bitcast<vec4<u32>>(vec4<f32>(key_dx, key_dy, key_min, key_max)));
    textureStore(setups, place(at + 3u), vec4<u32>(maker.mode, u32(x0) | (u32(x1) << 16u), u32(y0) | (u32(y1) << 16u), 0u));
}

// Where a triangle's corners lie in `clip`.
fn clip_vertices(k: u32, triangle: u32) -> vec3<u32> {
    let ranges = instance_ranges(k);
    let at = ranges.first_index / 3u + (triangle - instance_ids(k).first_triangle);
    return vec3<u32>(ranges.first_clip_vertex) + textureLoad(triangles, place(at), 0).xyz;
}

fn snapped(v: vec4<u32>) -> Projected {
    return Projected(bitcast<i32>(v.x), bitcast<i32>(v.y), bitcast<f32>(v.z));
}

@compute @workgroup_size(WORKGROUP)
fn whole(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let triangle = linear_index(workgroup, local);
    if triangle >= band.triangle_count {
        return;
    }
    let k = instance_of_triangle(triangle);
    let index = clip_vertices(k, triangle);
    let p = textureLoad(clip, place(index.x * CLIP_PARTS + 1u), 0);
    let q = textureLoad(clip, place(index.y * CLIP_PARTS + 1u), 0);
    let r = textureLoad(clip, place(index.z * CLIP_PARTS + 1u), 0);
    if (p.w & q.w & r.w & ~OUTCODE_WIDE) != 0u {
        return;
    }
    if ((p.w | q.w | r.w) & (OUTCODE_NEAR | OUTCODE_WIDE)) != 0u {
        let slot = atomicAdd(&counters.clipped, 1u);
        if slot < band.clipped_capacity {
            clipped[slot] = triangle;
        }
        return;
    }
    make(
        maker_of(k),
        triangle * PIECES,
        snapped(p),
        snapped(q),
        snapped(r),
    );
}

// Distance inside plane `k`: near, then the guard band's right, left, bottom, top. v is X, Y, W, D.
fn inside_plane(k: u32, v: vec4<f32>) -> f32 {
    switch k {
        case 0u: {
            return guard(v.w - u.znear);
        }
        case 1u: {
            return guard(mul(GUARD_PX, v.z) - v.x);
        }
        case 2u: {
            return guard(mul(GUARD_PX, v.z) + v.x);
        }
        case 3u: {
            return guard(mul(GUARD_PX, v.z) - v.y);
        }
        default: {
            return guard(mul(GUARD_PX, v.z) + v.y);
        }
    }
}

// Whether p comes before q, or is the same, by the bits of X, Y, W, D.
fn ordered(p: vec4<f32>, q: vec4<f32>) -> bool {
    let a = bitcast<vec4<u32>>(p);
    let b = bitcast<vec4<u32>>(q);
    if a.x != b.x {
        return a.x < b.x;
    }
    if a.y != b.y {
        return a.y < b.y;
    }
    if a.z != b.z {
        return a.z < b.z;
    }
    return a.w <= b.w;
}

// Where the edge meets the plane; the same bits whichever end comes first.
fn intersect(p: vec4<f32>, dp: f32, q: vec4<f32>, dq: f32) -> vec4<f32> {
    let first = ordered(p, q);
    let a = select(q, p, first);
    let b = select(p, q, first);
    // The distances differ in sign, and either end may be the one outside.
    let da = abs(select(dq, dp, first));
    let db = abs(select(dp, dq, first));
    let t = mul(da, recip(max(da + db, FLUSH_BELOW)));
    return guard4(a + mul4(guard4(b - a), vec4<f32>(t)));
}

fn project_clipped(v: vec4<f32>) -> Projected {
    let inverse_w = recip(select(CLIP_FLUSH_BELOW, v.z, v.z > CLIP_FLUSH_BELOW));
    let p = mul2(v.xy, vec2<f32>(inverse_w));
    let clamped = min(max(p, vec2<f32>(-GUARD_PX)), vec2<f32>(GUARD_PX));
    let whole = vec2<i32>(floor(mul2(clamped, vec2<f32>(SUBPIXELS_F32)) + vec2<f32>(0.5)));
    let key = select(inverse_w, guard(mul(v.w, u.key_scale) + u.key_offset), u.orthographic == 1u);
    return Projected(
        whole.x + i32(u.width) * (SUBPIXELS / 2),
        whole.y + i32(u.height) * (SUBPIXELS / 2),
        key,
    );
}

fn corner(at: u32) -> vec4<f32> {
    return bitcast<vec4<f32>>(textureLoad(clip, place(at * CLIP_PARTS), 0));
}

@compute @workgroup_size(WORKGROUP)
fn clip_listed(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = linear_index(workgroup, local);
    if number >= min(atomicLoad(&counters.clipped), band.clipped_capacity) {
        return;
    }
    let triangle = clipped[number];
    let k = instance_of_triangle(triangle);
    let index = clip_vertices(k, triangle);
    var polygon: array<vec4<f32>, 8>;
    polygon[0] = corner(index.x);
    polygon[1] = corner(index.y);
    polygon[2] = corner(index.z);
    var count = 3u;
    for (var plane = 0u; plane < 5u; plane++) {
        var next: array<vec4<f32>, 8>;
        var kept = 0u;
        for (var i = 0u; i < count; i++) {
            let p = polygon[i];
            let q = polygon[select(i + 1u, 0u, i + 1u == count)];
            let dp = inside_plane(plane, p);
            let dq = inside_plane(plane, q);
            if dp >= 0.0 && kept < 8u {
                next[kept] = p;
                kept += 1u;
            }
            if (dp >= 0.0) != (dq >= 0.0) && kept < 8u {
                next[kept] = intersect(p, dp, q, dq);
                kept += 1u;
            }
        }
        polygon = next;
        count = kept;
        if count < 3u {
            return;
        }
    }
    let maker = maker_of(k);
    let a = project_clipped(polygon[0]);
    var b = project_clipped(polygon[1]);
    for (var i = 1u; i < count - 1u; i++) {
        let c = project_clipped(polygon[i + 1u]);
        make(maker, triangle * PIECES + (i - 1u), a, b, c);
        b = c;
    }
}
