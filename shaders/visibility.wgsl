// Visibility: which opaque triangle owns each coverage sample. Twin of raster/src/passes/visibility.rs.
//
// LANES invocations own a tile; each keeps STRIP pixels of a row in registers. The largest key wins, ties go to
// the lower order.
//#include frame
//#include prelude
//#include counters
//#include collect

@group(0) @binding(2) var setups: texture_2d<u32>;
@group(0) @binding(3) var pairs: texture_2d<u32>;
@group(0) @binding(4) var<storage, read> tiles: array<u32>;
@group(0) @binding(5) var items: texture_storage_2d<rgba32uint, write>;
@group(0) @binding(6) var<storage, read_write> pixels: array<u32>;
@group(0) @binding(7) var<storage, read_write> counters: Counters;
@group(0) @binding(8) var<storage, read_write> samples: array<vec2<u32>>;
@group(0) @binding(9) var<storage, read> order: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn opaque(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let place_of_tile = (workgroup.y * DISPATCH_WIDTH + workgroup.x) * STRIP + local / LANES;
    let lane = local % LANES;
    if place_of_tile >= atomicLoad(&counters.active_tiles) {
        return;
    }
    let tile = order[place_of_tile];
    let tile_x = tile % band.tiles_x;
    let tile_y = tile / band.tiles_x;
    let row = i32(lane / (TILE / STRIP));
    let column = i32((lane % (TILE / STRIP)) * STRIP);
    let centre_x = (i32(tile_x * TILE) + column) * SUBPIXELS + SUBPIXELS / 2;
    let centre_y = (i32((tile_y + band.first_tile_row) * TILE) + row) * SUBPIXELS + SUBPIXELS / 2;

    var keys: array<f32, STATES>;
    var orders: array<u32, STATES>;
    //#for k in STATES
    keys[$k] = band.key_far;
    orders[$k] = NOTHING;
    //#end

    let end = min(tiles[tile + 1u], band.pair_capacity);
    for (var at = tiles[tile]; at < end; at++) {
        let pair = textureLoad(pairs, place(at), 0);
        let slot = (pair.x & 0x1FFFFFFFu) * SETUP_PARTS;
        let crossing = vec3<bool>((pair.x & 0x20000000u) != 0u, (pair.x & 0x40000000u) != 0u, (pair.x & 0x80000000u) != 0u);
        let sx = bitcast<vec4<i32>>(textureLoad(setups, place(slot), 0));
        let sy = bitcast<vec4<i32>>(textureLoad(setups, place(slot + 1u), 0));
        let plane = bitcast<vec4<f32>>(textureLoad(setups, place(slot + 2u), 0));
        let key = bitcast<f32>(sx.w);
        let id = bitcast<u32>(sy.w);
        let zero = vec3<i32>(0);
        let a = select(zero, sy.xyz - sy.yzx, crossing);
        let b = select(zero, sx.yzx - sx.xyz, crossing);
        let c = select(zero, bitcast<vec3<i32>>(pair.yzw), crossing) + a * (16 * column) + b * (16 * row);
        let a16 = a * 16;
        //#for s in SAMPLES
        {
            var e = c + a * (8 + SAMPLE_X_$s) + b * (8 + SAMPLE_Y_$s);
            let dy = f32(centre_y + 16 * SAMPLE_Y_$s - sy.x);
            let key_y = guard(key + mul(dy, plane.y));
            //#for p in STRIP
            {
                let dx = f32(centre_x + $p * SUBPIXELS + 16 * SAMPLE_X_$s - sx.x);
                let k = min(max(mul(dx, plane.x) + key_y, plane.z), plane.w);
                let nearer = k > keys[$p * SAMPLES + $s] || (k == keys[$p * SAMPLES + $s] && id < orders[$p * SAMPLES + $s]);
                let drawn = (e.x | e.y | e.z) >= 0 && nearer;
                keys[$p * SAMPLES + $s] = select(keys[$p * SAMPLES + $s], k, drawn);
                orders[$p * SAMPLES + $s] = select(orders[$p * SAMPLES + $s], id, drawn);
                e += a16;
            }
            //#end
        }
        //#end
    }

    let y = tile_y * TILE + u32(row);
    let x0 = tile_x * TILE + u32(column);
    if LAYERED {
        let first = (tile * WORKGROUP + lane * STRIP) * SAMPLES;
        //#for k in STATES
        samples[first + $k] = vec2<u32>(bitcast<u32>(keys[$k]), orders[$k]);
        //#end
    } else {
        var total = 0u;
        //#for p in STRIP
        let count_$p = select(0u, distinct(
            //#for s in SAMPLES
            orders[$p * SAMPLES + $s],
            //#end
        ), is_inside(x0 + $p, y));
        total += count_$p;
        //#end
        var number = atomicAdd(&counters.items, total);
        //#for p in STRIP
        if count_$p > 0u {
            list_fragments(
                number,
                x0 + $p,
                y,
                //#for s in SAMPLES
                orders[$p * SAMPLES + $s],
                //#end
            );
        }
        if is_inside(x0 + $p, y) {
            pixels[y * u.width + x0 + $p] = (number << 5u) | count_$p;
        }
        number += count_$p;
        //#end
    }
}
