// Texels decoded by table.

@group(0) @binding(9) var<uniform> srgb_table: array<vec4<f32>, 64>;

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
