// Texture lookups in our own arithmetic: wrap, level, bilinear, trilinear. Twin of
// raster/src/passes/texture.rs. Who includes this gives `texel` and `decode_texel`.
//#include materials
//#include prelude
//#include exact

// Coordinates of a set and their change per pixel to the right and down.
struct Footprint {
    uv: vec2<f32>,
    dx: vec2<f32>,
    dy: vec2<f32>,
}

// A level of a texture.
struct Level {
    first: u32,
    width: u32,
    height: u32,
}

fn next_level(l: Level) -> Level {
    return Level(l.first + l.width * l.height, max(l.width >> 1u, 1u), max(l.height >> 1u, 1u));
}

// Two neighbouring texels along an axis and the way between them.
struct Axis {
    low: i32,
    high: i32,
    blend: f32,
}

fn fold_texel(i: i32, count: i32, wrap: u32) -> i32 {
    let below = select(i, i + count, i < 0);
    let repeated = select(below, below - count, below > count - 1);
    return select(clamp(i, 0, count - 1), repeated, wrap == WRAP_REPEAT);
}

fn axis(coordinate: f32, count: u32, wrap: u32, linear: bool) -> Axis {
    let t = min(max(coordinate, -UV_MAX), UV_MAX);
    let repeated = guard(t - floor(t));
    let m = guard(t - mul(floor(mul(t, 0.5)), 2.0));
    let mirrored = select(m, 2.0 - m, m > 1.0);
    let clamped = min(max(t, 0.0), 1.0);
    let unit = select(select(clamped, mirrored, wrap == WRAP_MIRROR), repeated, wrap == WRAP_REPEAT);
    let position = guard(mul(unit, f32(count)) - select(0.0, 0.5, linear));
    let whole = floor(position);
    let low = i32(whole);
    return Axis(
        fold_texel(low, i32(count), wrap),
        fold_texel(low + 1, i32(count), wrap),
        select(0.0, guard(position - whole), linear),
    );
}

fn blend4(a: vec4<f32>, b: vec4<f32>, t: f32) -> vec4<f32> {
    return guard4(a + mul4(guard4(b - a), vec4<f32>(t)));
}

fn bilinear(l: Level, uv: vec2<f32>, wrap_u: u32, wrap_v: u32, linear: bool, srgb: bool) -> vec4<f32> {
    let x = axis(uv.x, l.width, wrap_u, linear);
    let y = axis(uv.y, l.height, wrap_v, linear);
    let row0 = l.first + u32(y.low) * l.width;
    let row1 = l.first + u32(y.high) * l.width;
    let a = decode_texel(texel(row0 + u32(x.low)), srgb);
    let b = decode_texel(texel(row0 + u32(x.high)), srgb);
    let c = decode_texel(texel(row1 + u32(x.low)), srgb);
    let d = decode_texel(texel(row1 + u32(x.high)), srgb);
    let value = blend4(blend4(a, b, x.blend), blend4(c, d, x.blend), y.blend);
    let scaled = mul4(value, vec4<f32>(INVERSE_255));
    return select(scaled, vec4<f32>(value.xyz, scaled.w), vec4<bool>(srgb));
}

// (u', v') = rows of the transform times (u, v, 1).
fn transformed(t: PackedTexture, uv: vec2<f32>) -> vec2<f32> {
    let m_u = t.uv_transform[0];
    let m_v = t.uv_transform[1];
    return vec2<f32>(
        guard(guard(mul(uv.x, m_u.x) + mul(uv.y, m_u.y)) + m_u.z),
        guard(guard(mul(uv.x, m_v.x) + mul(uv.y, m_v.y)) + m_v.z),
    );
}

// The finest level at one point, for rays: they have no footprint, and many of them average.
fn sample_finest(t: PackedTexture, srgb: bool, uv: vec2<f32>) -> vec4<f32> {
    let level = Level(t.first_texel, max(t.width, 1u), max(t.height, 1u));
    let wrap_u = (t.flags >> TEXTURE_WRAP_U_SHIFT) & TEXTURE_WRAP_MASK;
    let wrap_v = (t.flags >> TEXTURE_WRAP_V_SHIFT) & TEXTURE_WRAP_MASK;
    return bilinear(level, transformed(t, uv), wrap_u, wrap_v, (t.flags & TEXTURE_MAG_LINEAR) != 0u, srgb);
}

// Filtered RGBA, 0 to 1, sRGB decoded.
fn sample_texture(t: PackedTexture, srgb: bool, f: Footprint) -> vec4<f32> {
    let m_u = t.uv_transform[0];
    let m_v = t.uv_transform[1];
    let uv = transformed(t, f.uv);
    let width = max(t.width, 1u);
    let height = max(t.height, 1u);
    let level_count = max(t.level_count, 1u);
    let size = vec2<f32>(f32(width), f32(height));
    let a = mul2(vec2<f32>(mul(f.dx.x, m_u.x) + mul(f.dx.y, m_u.y), mul(f.dx.x, m_v.x) + mul(f.dx.y, m_v.y)), size);
    let b = mul2(vec2<f32>(mul(f.dy.x, m_u.x) + mul(f.dy.y, m_u.y), mul(f.dy.x, m_v.x) + mul(f.dy.y, m_v.y)), size);
    let rho2 = max(mul(a.x, a.x) + mul(a.y, a.y), mul(b.x, b.x) + mul(b.y, b.y));
    let lod_any = mul(log_two(rho2), 0.5);
    let linear = (t.flags & select(TEXTURE_MAG_LINEAR, TEXTURE_MIN_LINEAR, lod_any > 0.0)) != 0u;
    let last = f32(level_count - 1u);
    let lod = select(0.0, min(max(lod_any, 0.0), last), (t.flags & TEXTURE_MIPS) != 0u);
    let between = (t.flags & TEXTURE_MIP_LINEAR) != 0u;
    let whole = floor(select(lod + 0.5, lod, between));
    let blend = select(0.0, lod - whole, between);

    let number = u32(whole);
    var level = Level(t.first_texel, width, height);
    for (var k = 0u; k < number; k++) {
        level = next_level(level);
    }
    let wrap_u = (t.flags >> TEXTURE_WRAP_U_SHIFT) & TEXTURE_WRAP_MASK;
    let wrap_v = (t.flags >> TEXTURE_WRAP_V_SHIFT) & TEXTURE_WRAP_MASK;
    let near = bilinear(level, uv, wrap_u, wrap_v, linear, srgb);
    if !TRILINEAR {
        return near;
    }
    if number + 1u < level_count {
        level = next_level(level);
    }
    let far = bilinear(level, uv, wrap_u, wrap_v, linear, srgb);
    return blend4(near, far, blend);
}
