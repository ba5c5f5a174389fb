// Emitters: the triangles that shine in a frame. Twin of raster/src/emitters.rs. Who includes this binds the list
// `emitters`: all of them, one more that ends the masses, then by instance the first of its triangles, four a part.

// Twin of Emitter in raster/src/emitters.rs.
struct Emitter {
    before: u32,
    instance: u32,
    triangle: u32,
    pdf_area: f32,
}

fn emitter_part(k: u32, part: u32) -> vec4<u32> {
    return textureLoad(emitters, place(k + part), 0);
}

fn emitter_at(k: u32) -> Emitter {
    let p = emitter_part(k, 0u);
    return Emitter(p.x, p.y, p.z, bitcast<f32>(p.w));
}

// The first of an instance's triangles, or DARK.
fn first_emitter(instance: u32) -> u32 {
    return emitter_part(tracing.emitter_count + 1u, instance >> 2u)[instance & 3u];
}
