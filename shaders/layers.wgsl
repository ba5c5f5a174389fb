// Layers: after opaque and masked triangles are known, what each pixel shows: its BLEND triangles, nearest first,
// and its fragments. Twin of `collect_layers` in raster/src/cpu/tile.rs and `prune` beside it.
//
// `pixels` holds two words: fragments (first item << 5 | count) and layers (first item << 7 | count). Where there
// are more than LAYERS_MAX layers, the farthest are dropped.
//#include frame
//#include prelude
//#include counters
//#include collect
//#include samples

@group(0) @binding(2) var setups: texture_2d<u32>;
@group(0) @binding(3) var pairs: texture_2d<u32>;
@group(0) @binding(4) var<storage, read> tiles: array<u32>;
@group(0) @binding(5) var items: texture_storage_2d<rgba32uint, write>;
@group(0) @binding(6) var<storage, read_write> pixels: array<u32>;
@group(0) @binding(7) var<storage, read_write> counters: Counters;
@group(0) @binding(8) var<storage, read> samples: array<vec2<u32>>;
@group(0) @binding(9) var<storage, read> order: array<u32>;
@group(0) @binding(10) var<storage, read_write> sorted: array<vec4<u32>>;

struct Corner {
    column: i32,
    row: i32,
    centre: vec2<i32>,
}

fn key_at(sx: vec4<i32>, sy: vec4<i32>, plane: vec4<f32>, at: vec2<i32>) -> f32 {
    let dx = f32(at.x - sx.x);
    let dy = f32(at.y - sy.x);
    return min(max(mul(dx, plane.x) + guard(bitcast<f32>(sx.w) + mul(dy, plane.y)), plane.z), plane.w);
}

// The samples of a pixel that a pair's triangle covers, in front of what is there.
fn covered(pair: vec4<u32>, corner: Corner, first_sample: u32) -> u32 {
    let slot = (pair.x & 0x1FFFFFFFu) * SETUP_PARTS;
    let crossing = vec3<bool>((pair.x & 0x20000000u) != 0u, (pair.x & 0x40000000u) != 0u, (pair.x & 0x80000000u) != 0u);
    let sx = bitcast<vec4<i32>>(textureLoad(setups, place(slot), 0));
    let sy = bitcast<vec4<i32>>(textureLoad(setups, place(slot + 1u), 0));
    let plane = bitcast<vec4<f32>>(textureLoad(setups, place(slot + 2u), 0));
    let id = bitcast<u32>(sy.w);
    let zero = vec3<i32>(0);
    let a = select(zero, sy.xyz - sy.yzx, crossing);
    let b = select(zero, sx.yzx - sx.xyz, crossing);
    let c = select(zero, bitcast<vec3<i32>>(pair.yzw), crossing) + a * (16 * corner.column) + b * (16 * corner.row);
    var mask = 0u;
    for (var s = 0u; s < SAMPLES; s++) {
        let offset = sample_offset(s);
        let e = c + a * (8 + offset.x) + b * (8 + offset.y);
        let key = key_at(sx, sy, plane, corner.centre + 16 * offset);
        let old = samples[first_sample + s];
        let old_key = bitcast<f32>(old.x);
        let seen = (e.x | e.y | e.z) >= 0 && (key > old_key || (key == old_key && id < old.y));
        mask |= select(0u, 1u << s, seen);
    }
    return mask;
}

// Whether item p lies in front of item q: larger key, then lower order. Keys are never negative.
fn in_front(p: vec4<u32>, q: vec4<u32>) -> bool {
    return p.w > q.w || (p.w == q.w && p.x < q.x);
}

// Insertion keeps the nearest `count`, nearest first.
fn list_layers(first: u32, count: u32, begin: u32, end: u32, corner: Corner, first_sample: u32, xy: u32) {
    var kept = 0u;
    for (var at = begin; at < end; at++) {
        let pair = textureLoad(pairs, place(at), 0);
        let mask = covered(pair, corner, first_sample);
        if mask == 0u {
            continue;
        }
        let slot = (pair.x & 0x1FFFFFFFu) * SETUP_PARTS;
        let sx = bitcast<vec4<i32>>(textureLoad(setups, place(slot), 0));
        let sy = bitcast<vec4<i32>>(textureLoad(setups, place(slot + 1u), 0));
        let plane = bitcast<vec4<f32>>(textureLoad(setups, place(slot + 2u), 0));
        let all = mask == (1u << SAMPLES) - 1u;
        let point = select(countTrailingZeros(mask), POINT_CENTRE, all);
        let offset = select(sample_offset(point), vec2<i32>(0), vec2<bool>(all));
        let key = key_at(sx, sy, plane, corner.centre + 16 * offset);
        let item = vec4<u32>(bitcast<u32>(sy.w), xy, mask | (point << 16u) | ITEM_LAYER, bitcast<u32>(key));
        if kept == count && !in_front(item, sorted[first + count - 1u]) {
            continue;
        }
        kept = min(kept + 1u, count);
        var k = kept - 1u;
        while k > 0u {
            let other = sorted[first + k - 1u];
            if !in_front(item, other) {
                break;
            }
            sorted[first + k] = other;
            k -= 1u;
        }
        sorted[first + k] = item;
    }
    for (var k = first; k < first + count; k++) {
        textureStore(items, place(k), sorted[k]);
    }
}

@compute @workgroup_size(WORKGROUP)
fn collect(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let tile = order[workgroup.y * DISPATCH_WIDTH + workgroup.x];
    let tile_count = band.tiles_x * band.tiles_y;
    let row = i32(local / TILE);
    let column = i32(local % TILE);
    let x = (tile % band.tiles_x) * TILE + u32(column);
    let y = (tile / band.tiles_x) * TILE + u32(row);
    if !is_inside(x, y) {
        return;
    }
    let absolute_y = i32(y + band.first_tile_row * TILE);
    let corner = Corner(column, row, vec2<i32>(i32(x), absolute_y) * SUBPIXELS + vec2<i32>(SUBPIXELS / 2));
    let first_sample = (tile * WORKGROUP + local) * SAMPLES;
    //#for s in SAMPLES
    let order_$s = samples[first_sample + $su].y;
    //#end
    let fragment_count = distinct(
        //#for s in SAMPLES
        order_$s,
        //#end
    );
    let list = MODE_BLEND * tile_count + tile;
    let begin = tiles[list];
    let end = min(tiles[list + 1u], band.pair_capacity);
    var seen_count = 0u;
    for (var at = begin; at < end; at++) {
        seen_count += select(0u, 1u, covered(textureLoad(pairs, place(at), 0), corner, first_sample) != 0u);
    }
    let layer_count = min(seen_count, LAYERS_MAX);
    let number = atomicAdd(&counters.items, fragment_count + layer_count);
    list_fragments(
        number,
        x,
        y,
        //#for s in SAMPLES
        order_$s,
        //#end
    );
    let first = number + fragment_count;
    if layer_count > 0u && first + layer_count <= band.item_capacity {
        list_layers(first, layer_count, begin, end, corner, first_sample, x | (y << 16u));
    }
    let at = (y * u.width + x) * 2u;
    pixels[at] = (number << 5u) | fragment_count;
    pixels[at + 1u] = (first << 7u) | layer_count;
}
