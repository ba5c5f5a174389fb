// What the passes of a frame share: its constants, the band that is rendered, where work counts itself.

// Twin of FrameConstants in raster/src/draw.rs.
struct FrameConstants {
    zero: u32,
    width: u32,
    height: u32,
    samples: u32,
    orthographic: u32,
    key_scale: f32,
    key_offset: f32,
    znear: f32,
    zfar: f32,
    exposure: f32,
    tonemap: u32,
    background: u32,
    light_count: u32,
    environment_light: u32,
    environment_intensity: f32,
    background_side: u32,
    environment_cos: f32,
    environment_sin: f32,
    outputs: u32,
    srgb8: u32,
    background_linear: vec4<f32>,
    to_viewer: vec4<f32>,
    ray_x: vec4<f32>,
    ray_y: vec4<f32>,
    ray_0: vec4<f32>,
    irradiance_sh: array<vec4<f32>, 9>,
}

// Twin of Band in raster/src/gpu/layout.rs.
struct Band {
    instance_count: u32,
    clip_vertex_count: u32,
    triangle_count: u32,
    first_tile_row: u32,
    tiles_x: u32,
    tiles_y: u32,
    setup_capacity: u32,
    pair_capacity: u32,
    item_capacity: u32,
    clipped_capacity: u32,
    large_capacity: u32,
    key_far: f32,
    color_at: u32,
    base_at: u32,
    depth_at: u32,
    motion_at: u32,
    normal_at: u32,
    albedo_at: u32,
    id_at: u32,
    coverage_at: u32,
    reflectance_at: u32,
    emission_at: u32,
    deformed_count: u32,
    first_tree_node: u32,
    visits_max: u32,
    first_guide_row: u32,
    padding: vec2<u32>,
}

@group(0) @binding(0) var<uniform> u: FrameConstants;
@group(0) @binding(1) var<uniform> band: Band;

// Where element `i` of a list lies in the texture that holds it.
fn place(i: u32) -> vec2<u32> {
    return vec2<u32>(i & (LIST_WIDTH - 1u), i / LIST_WIDTH);
}

// The pixel of an invocation of a tile's workgroup, from the band's top left.
fn tile_pixel(tile: u32, local: u32) -> vec2<u32> {
    return vec2<u32>((tile % band.tiles_x) * TILE + (local % TILE), (tile / band.tiles_x) * TILE + (local / TILE));
}

// The number of an invocation in a dispatch that may be folded into rows of DISPATCH_WIDTH workgroups.
fn linear_index(workgroup: vec3<u32>, local: u32) -> u32 {
    return (workgroup.y * DISPATCH_WIDTH + workgroup.x) * WORKGROUP + local;
}
