// Visibility of MASK: triangles whose alpha decides per sample. Twin of `draw_masked` in raster/src/cpu/tile.rs.
//#include surface
//#include samples

@group(0) @binding(8) var setups: texture_2d<u32>;
@group(0) @binding(9) var pairs: texture_2d<u32>;
@group(0) @binding(10) var<storage, read> tiles: array<u32>;
@group(0) @binding(11) var<storage, read_write> samples: array<vec2<u32>>;
@group(0) @binding(12) var<storage, read> order: array<u32>;

// Alpha is never encoded.
fn decode_texel(bytes: vec4<u32>, srgb: bool) -> vec4<f32> {
    return vec4<f32>(bytes);
}

fn alpha_at(triangle: u32, instance: u32, p: vec2<f32>) -> f32 {
    let c = corners_of(instance, triangle);
    let b = barycentrics(clip_of(c, 0u), p);
    let a = attributes_of(c);
    let material = instance_ids(instance).material;
    return base_color(instance_flags(instance).flags, material, b, a, coordinates(b, a), false).w;
}

@compute @workgroup_size(WORKGROUP)
fn masked(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let tile = order[workgroup.y * DISPATCH_WIDTH + workgroup.x];
    let tile_count = band.tiles_x * band.tiles_y;
    let row = i32(local / TILE);
    let column = i32(local % TILE);
    let x = (tile % band.tiles_x) * TILE + u32(column);
    let y = (tile / band.tiles_x + band.first_tile_row) * TILE + u32(row);
    let centre = vec2<i32>(i32(x), i32(y)) * SUBPIXELS + vec2<i32>(SUBPIXELS / 2);
    let list = MODE_MASK * tile_count + tile;
    let first_sample = (tile * WORKGROUP + local) * SAMPLES;
    let end = min(tiles[list + 1u], band.pair_capacity);
    for (var at = tiles[list]; at < end; at++) {
        let pair = textureLoad(pairs, place(at), 0);
        let slot = (pair.x & 0x1FFFFFFFu) * SETUP_PARTS;
        let crossing = vec3<bool>((pair.x & 0x20000000u) != 0u, (pair.x & 0x40000000u) != 0u, (pair.x & 0x80000000u) != 0u);
        let sx = bitcast<vec4<i32>>(textureLoad(setups, place(slot), 0));
        let sy = bitcast<vec4<i32>>(textureLoad(setups, place(slot + 1u), 0));
        let plane = bitcast<vec4<f32>>(textureLoad(setups, place(slot + 2u), 0));
        let id = bitcast<u32>(sy.w);
        let zero = vec3<i32>(0);
        let a = select(zero, sy.xyz - sy.yzx, crossing);
        let b = select(zero, sx.yzx - sx.xyz, crossing);
        let c = select(zero, bitcast<vec3<i32>>(pair.yzw), crossing) + a * (16 * column) + b * (16 * row);
        let instance = instance_of_triangle(id / PIECES);
        let cutoff = material_emission(instance_ids(instance).material).cutoff;
        for (var s = 0u; s < SAMPLES; s++) {
            let offset = sample_offset(s);
            let e = c + a * (8 + offset.x) + b * (8 + offset.y);
            if (e.x | e.y | e.z) < 0 {
                continue;
            }
            let dx = f32(centre.x + 16 * offset.x - sx.x);
            let dy = f32(centre.y + 16 * offset.y - sy.x);
            let key = min(max(mul(dx, plane.x) + guard(bitcast<f32>(sx.w) + mul(dy, plane.y)), plane.z), plane.w);
            let old = samples[first_sample + s];
            let old_key = bitcast<f32>(old.x);
            if !(key > old_key || (key == old_key && id < old.y)) {
                continue;
            }
            if alpha_at(id / PIECES, instance, point_px(x, y, offset)) >= cutoff {
                samples[first_sample + s] = vec2<u32>(bitcast<u32>(key), id);
            }
        }
    }
}
