// Punctual lights of the frame, and which of them reach which items.
//#include frame

// Lights, then the split-sum table, the albedo of sheen, the prefiltered environment; see raster/src/gpu/layout.rs.
@group(0) @binding(8) var tables: texture_2d<u32>;

fn table(at: u32) -> vec4<f32> {
    return bitcast<vec4<f32>>(textureLoad(tables, place(at), 0));
}

// Twin of PackedLight in raster/src/draw.rs, in LIGHT_PARTS parts.
struct PackedLight {
    position_eye: vec3<f32>,
    kind: u32,
    direction: vec3<f32>,
    inverse_range2: f32,
    linear_color: vec3<f32>,
    spot_scale: f32,
    spot_offset: f32,
}

fn light_at(k: u32) -> PackedLight {
    let a = table(k * LIGHT_PARTS);
    let b = table(k * LIGHT_PARTS + 1u);
    let c = table(k * LIGHT_PARTS + 2u);
    let d = table(k * LIGHT_PARTS + 3u);
    return PackedLight(a.xyz, bitcast<u32>(a.w), b.xyz, b.w, c.xyz, c.w, d.x);
}

// Words of an item that say which lights reach it, a bit each.
fn reaching_words() -> u32 {
    return (u.light_count + 31u) / 32u;
}
