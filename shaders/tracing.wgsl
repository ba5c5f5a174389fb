// What the paths of one sample of every pixel share.

// Twin of Tracing in raster/src/gpu/traced.rs. In storage: a driver may compile a shader anew for each value of a uniform
// that it branches on.
struct Tracing {
    seed: u32,
    sample: u32,
    diffuse_bounces: u32,
    specular_bounces: u32,
    bounces: u32,
    occlusion_radius: f32,
    sample_max: f32,
    light_radius2: f32,
    light_depth: f32,
    sky_side: u32,
    emitter_count: u32,
    merges: u32,
    pixel_count: u32,
    padding_0: u32,
    padding_1: u32,
    padding_2: u32,
}
