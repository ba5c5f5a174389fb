// Point: what of an item its light is to be traced for, if it needs any. Twin of `points` in raster/src/cpu/traced.rs.
// What it fills, `points.wgsl` reads.
//#include evaluate
//#include gather
//#include surface_parameters
//#include origin

@group(0) @binding(8) var items: texture_2d<u32>;
@group(0) @binding(10) var guides: texture_2d<u32>;
@group(0) @binding(11) var points: texture_storage_2d<rgba32uint, write>;

fn put_part(k: u32, part: u32, xyz: vec3<f32>, w: u32) {
    textureStore(points, place(k * POINT_PARTS + part), vec4<u32>(bitcast<vec3<u32>>(xyz), w));
}

fn put_lobes(k: u32, p: BsdfParameters) {
    put_part(k, 7u, p.clearcoat_normal, bitcast<u32>(p.clearcoat));
    put_part(k, 8u, p.specular_color, bitcast<u32>(p.specular));
    put_part(k, 9u, p.sheen_color, bitcast<u32>(p.sheen_roughness));
    put_part(k, 10u, vec3<f32>(p.clearcoat_roughness, p.ior, p.transmission), select(0u, 1u, p.thin));
    let film = vec3<f32>(p.iridescence, p.iridescence_ior, p.iridescence_thickness_nm);
    put_part(k, 11u, film, 0u);
}

// Whether an item of which light makes a difference takes none from a pixel.
fn needs_light(spot: Spot, item: vec4<u32>, y: u32) -> bool {
    if is_first(item) || is_layer(item) {
        return true;
    }
    let fragment = Guide(spot.instance, flush3(spot.normal), flush(spot_depth(spot)));
    return guide_source(spot.x, y, fragment) == NOTHING;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = linear_index(workgroup, local);
    let item = textureLoad(items, place(number), 0);
    if item.x == NOTHING {
        put_part(number, 5u, vec3<f32>(0.0), POINT_NONE);
        return;
    }
    let spot = spot_of(item);
    let y = spot.y + band.first_tile_row * TILE;
    let color = spot_color(spot);
    let alpha = bitcast<u32>(min(max(color.w, 0.0), 1.0));
    if !(spot.lit && needs_light(spot, item, y)) {
        put_part(number, 3u, vec3<f32>(0.0), alpha);
        put_part(number, 5u, vec3<f32>(0.0), POINT_NONE);
        return;
    }
    let s = surface_of(spot, color);
    let p = parameters_of(s);
    let origin = origin_of(spot.instance, spot.triangle, s.position_eye, flat_normal(spot.instance, spot.vertices));
    put_part(number, 0u, origin.position_eye, bitcast<u32>(origin.offset));
    put_part(number, 1u, origin.flat_normal, origin.triangle);
    put_part(number, 2u, s.to_viewer, spot.x | (y << 16u));
    put_part(number, 3u, p.normal, alpha);
    put_part(number, 4u, p.base, bitcast<u32>(p.metallic));
    put_part(number, 5u, vec3<f32>(p.roughness, 0.0, 0.0), select(POINT_EXTRA, POINT_OWN, is_first(item)));
    put_part(number, 6u, p.tangent, bitcast<u32>(p.anisotropy));
    if WITH_LOBES {
        put_lobes(number, p);
    }
}
