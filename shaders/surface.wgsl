// Surface: what a triangle looks like at a point of the screen: barycentrics, attributes, textures. Twin of
// raster/src/passes/surface.rs.
//#include frame
//#include prelude
//#include vector
//#include instances
//#include materials
//#include texture
//#include vertices

@group(0) @binding(4) var vertices: texture_2d<u32>;
@group(0) @binding(5) var clip: texture_2d<u32>;
@group(0) @binding(6) var triangles: texture_2d<u32>;
// RGBA8 in layers of TEXELS_ROWS rows of TEXELS_WIDTH.
@group(0) @binding(7) var texels: texture_2d_array<u32>;

fn texel(at: u32) -> vec4<u32> {
    let row = at / TEXELS_WIDTH;
    return textureLoad(texels, vec2<u32>(at & (TEXELS_WIDTH - 1u), row & (TEXELS_ROWS - 1u)), row / TEXELS_ROWS, 0);
}

// Pixels from the image centre of a point `offset` sixteenths of a pixel from the centre of pixel x, y.
fn point_px(x: u32, y: u32, offset: vec2<i32>) -> vec2<f32> {
    let sixteenths = vec2<f32>(vec2<i32>(i32(x), i32(y)) * 16 + vec2<i32>(8) + offset);
    return guard2(mul2(sixteenths, vec2<f32>(PX_PER_OFFSET)) - mul2(vec2<f32>(f32(u.width), f32(u.height)), vec2<f32>(0.5)));
}

// Where a triangle's corners lie in `vertices` and in `clip`.
struct Corners {
    vertex: vec3<u32>,
    clip: vec3<u32>,
}

fn corners_of(instance: u32, triangle: u32) -> Corners {
    let ranges = instance_ranges(instance);
    let at = ranges.first_index / 3u + (triangle - instance_ids(instance).first_triangle);
    let index = textureLoad(triangles, place(at), 0).xyz;
    return Corners(vec3<u32>(ranges.first_vertex) + index, vec3<u32>(ranges.first_clip_vertex) + index);
}

fn vertex_part(k: u32, part: u32) -> vec4<u32> {
    return textureLoad(vertices, place(k * VERTEX_PARTS + part), 0);
}

fn vertex_at(k: u32) -> Vertex {
    return vertex_from(vertex_part(k, 0u), vertex_part(k, 1u), vertex_part(k, 2u), vertex_part(k, 3u));
}

fn eye_from_local(instance: u32, p: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(
        transform_row(instance_row(instance, INSTANCE_EYE_FROM_LOCAL), p),
        transform_row(instance_row(instance, INSTANCE_EYE_FROM_LOCAL + 1u), p),
        transform_row(instance_row(instance, INSTANCE_EYE_FROM_LOCAL + 2u), p),
    );
}

// The vertices of a triangle.
struct Attributes {
    p: Vertex,
    q: Vertex,
    r: Vertex,
}

fn attributes_of(c: Corners) -> Attributes {
    return Attributes(vertex_at(c.vertex.x), vertex_at(c.vertex.y), vertex_at(c.vertex.z));
}

// X, Y, W, D of each corner; `first` is 0, or where the previous frame's begin.
fn clip_of(c: Corners, first: u32) -> mat3x4<f32> {
    return mat3x4<f32>(
        bitcast<vec4<f32>>(textureLoad(clip, place((first + c.clip.x) * CLIP_PARTS), 0)),
        bitcast<vec4<f32>>(textureLoad(clip, place((first + c.clip.y) * CLIP_PARTS), 0)),
        bitcast<vec4<f32>>(textureLoad(clip, place((first + c.clip.z) * CLIP_PARTS), 0)),
    );
}

// Barycentric weights, each 0 to 1, together 1, and their slopes.
struct Barycentrics {
    weight: vec3<f32>,
    slope_x: vec3<f32>,
    slope_y: vec3<f32>,
    // Whether the corners run clockwise on the screen.
    clockwise: bool,
}

fn barycentrics(v: mat3x4<f32>, p: vec2<f32>) -> Barycentrics {
    let w = vec3<f32>(v[0].z, v[1].z, v[2].z);
    let x = guard3(vec3<f32>(v[0].x, v[1].x, v[2].x) - scale3(w, p.x));
    let y = guard3(vec3<f32>(v[0].y, v[1].y, v[2].y) - scale3(w, p.y));
    let e = cross3(x, y);
    let sum = sum3(e);
    let flat = abs(sum) < FLUSH_BELOW;
    let inverse = recip(select(sum, 1.0, flat));
    let clamped = min(max(scale3(e, inverse), vec3<f32>(0.0)), vec3<f32>(1.0));
    let b = vec3<f32>(select(clamped.x, 1.0, flat), clamped.yz);
    return Barycentrics(
        scale3(b, recip(sum3(b))),
        scale3(mul3(w.zxy, y.yzx) - mul3(w.yzx, y.zxy), inverse),
        scale3(mul3(w.yzx, x.zxy) - mul3(w.zxy, x.yzx), inverse),
        sum > 0.0,
    );
}

fn mean(b: Barycentrics, v: vec3<f32>) -> f32 {
    return dot3(b.weight, v);
}

// Per component, of a value at each corner.
fn mean3(b: Barycentrics, p: vec3<f32>, q: vec3<f32>, r: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(
        mean(b, vec3<f32>(p.x, q.x, r.x)),
        mean(b, vec3<f32>(p.y, q.y, r.y)),
        mean(b, vec3<f32>(p.z, q.z, r.z)),
    );
}

// `p`, `q` and `r` are the corners' coordinates.
fn footprint(b: Barycentrics, p: vec2<f32>, q: vec2<f32>, r: vec2<f32>) -> Footprint {
    let u_corners = vec3<f32>(p.x, q.x, r.x);
    let v_corners = vec3<f32>(p.y, q.y, r.y);
    let uv = vec2<f32>(mean(b, u_corners), mean(b, v_corners));
    let du = guard3(u_corners - vec3<f32>(uv.x));
    let dv = guard3(v_corners - vec3<f32>(uv.y));
    return Footprint(
        uv,
        vec2<f32>(dot3(b.slope_x, du), dot3(b.slope_x, dv)),
        vec2<f32>(dot3(b.slope_y, du), dot3(b.slope_y, dv)),
    );
}

// Both texture coordinate sets of a point.
struct Coordinates {
    set0: Footprint,
    set1: Footprint,
}

fn coordinates(b: Barycentrics, a: Attributes) -> Coordinates {
    var out: Coordinates;
    if UV0 {
        out.set0 = footprint(b, a.p.uv0, a.q.uv0, a.r.uv0);
    }
    if UV1 {
        out.set1 = footprint(b, a.p.uv1, a.q.uv1, a.r.uv1);
    }
    return out;
}

fn lookup(t: PackedTexture, srgb: bool, at: Coordinates) -> vec4<f32> {
    var f = at.set0;
    if UV1 {
        let second = t.uv_set == 1u;
        f = Footprint(
            select(at.set0.uv, at.set1.uv, second),
            select(at.set0.dx, at.set1.dx, second),
            select(at.set0.dy, at.set1.dy, second),
        );
    }
    return sample_texture(t, srgb, f);
}

// Colour of the vertices, 0 to 65535.
fn vertex_color(a: Attributes, weights: vec3<f32>) -> vec4<f32> {
    let rg = vec3<u32>(a.p.color.x, a.q.color.x, a.r.color.x);
    let ba = vec3<u32>(a.p.color.y, a.q.color.y, a.r.color.y);
    return vec4<f32>(
        dot3(weights, vec3<f32>(rg & vec3<u32>(0xFFFFu))),
        dot3(weights, vec3<f32>(rg >> vec3<u32>(16u))),
        dot3(weights, vec3<f32>(ba & vec3<u32>(0xFFFFu))),
        dot3(weights, vec3<f32>(ba >> vec3<u32>(16u))),
    );
}

// Base colour with alpha: factor × texture × vertex colour.
fn base_color(flags: u32, material: u32, b: Barycentrics, a: Attributes, at: Coordinates, srgb: bool) -> vec4<f32> {
    var color = material_base_color(material);
    if TEXTURED_BASE {
        let t = material_texture(material, MATERIAL_BASE_COLOR_TEXTURE);
        let textured = mul4(color, lookup(t, srgb, at));
        color = select(color, textured, vec4<bool>(is_textured(t)));
    }
    if COLORED {
        let vertex = vertex_color(a, b.weight);
        let colored = mul4(color, mul4(vertex, vec4<f32>(INVERSE_65535)));
        color = select(color, colored, vec4<bool>((flags & INSTANCE_COLORED) != 0u));
    }
    return color;
}
