// Mean light of a pixel, as it was traced. Who includes this binds the list `traced_light`, whose pixels are those of the
// guides.

// Twin of PackedPixelLight in raster/src/gpu/traced.rs.
struct PixelLight {
    diffuse: vec3<f32>,
    specular: vec3<f32>,
    // Of layers, and of fragments that no pixel's light is for.
    extra: vec3<f32>,
}

fn light_part(k: u32, part: u32) -> vec4<u32> {
    return textureLoad(traced_light, place(k * PIXEL_LIGHT_PARTS + part), 0);
}

fn light_of_pixel(k: u32) -> PixelLight {
    let a = light_part(k, 0u);
    let b = light_part(k, 1u);
    let c = light_part(k, 2u);
    return PixelLight(bitcast<vec3<f32>>(a.xyz), bitcast<vec3<f32>>(b.xyz), bitcast<vec3<f32>>(c.xyz));
}
