// Bin: which set-ups touch which tile of 8×8 pixels, and with which edges. Twin of `bin` in
// raster/src/cpu/geometry.rs and of `block_edges` in raster/src/passes/visibility.rs.
//
// A pair is (set-up | crossing edges << 29, c0, c1, c2): an edge that does not cross the tile holds all over it.
// Lists are per mode, then per tile. Counted, summed up, filled: their order does not matter.
//#include frame
//#include integer
//#include counters

@group(0) @binding(2) var setups: texture_2d<u32>;
@group(0) @binding(3) var<storage, read_write> tiles: array<atomic<u32>>;
@group(0) @binding(4) var pairs: texture_storage_2d<rgba32uint, write>;
@group(0) @binding(5) var<storage, read_write> large: array<u32>;
@group(0) @binding(6) var<storage, read_write> counters: Counters;
// Tiles that show something, from the first place on; the others, from the last place back.
@group(0) @binding(7) var<storage, read_write> order: array<u32>;

// An edge over the image: a X + b Y + c, X and Y in 1/16 pixel from the top left of the band.
struct WideEdge {
    a: i32,
    b: i32,
    c: vec2<u32>,
}

struct WideTriangle {
    e0: WideEdge,
    e1: WideEdge,
    e2: WideEdge,
    list: u32,
    // First and last tile in x and y; none where the last comes before the first.
    x0: u32,
    x1: u32,
    y0: u32,
    y1: u32,
}

fn wide(x: i32) -> vec2<u32> {
    return vec2<u32>(bitcast<u32>(x), bitcast<u32>(x >> 31u));
}

fn is_negative(x: vec2<u32>) -> bool {
    return bitcast<i32>(x.y) < 0;
}

fn wide_edge(px: i32, py: i32, qx: i32, qy: i32) -> WideEdge {
    let a = py - qy;
    let b = qx - px;
    var c = sub_wide(vec2<u32>(0u), add_wide(mul_wide_signed(a, px), mul_wide_signed(b, py)));
    // Left and top edges own the samples that lie on them.
    if !(a > 0 || (a == 0 && b > 0)) {
        c = sub_wide(c, vec2<u32>(1u, 0u));
    }
    c = vec2<u32>((c.x >> 4u) | (c.y << 28u), bitcast<u32>(bitcast<i32>(c.y) >> 4u));
    let row = i32(band.first_tile_row);
    return WideEdge(a, b, add_wide(c, mul_wide_signed(b * TILE_STEP, row)));
}

fn wide_triangle(slot: u32) -> WideTriangle {
    let x = bitcast<vec4<i32>>(textureLoad(setups, place(slot * SETUP_PARTS), 0));
    let y = bitcast<vec4<i32>>(textureLoad(setups, place(slot * SETUP_PARTS + 1u), 0));
    let rest = textureLoad(setups, place(slot * SETUP_PARTS + 3u), 0);
    let first_row = band.first_tile_row;
    let y0 = max((rest.z & 0xFFFFu) / TILE, first_row) - first_row;
    let last = (rest.z >> 16u) / TILE;
    // One past the last row, so that a triangle above the band has none.
    let end = min(max(last + 1u, first_row) - first_row, band.tiles_y);
    return WideTriangle(
        wide_edge(x.x, y.x, x.y, y.y),
        wide_edge(x.y, y.y, x.z, y.z),
        wide_edge(x.z, y.z, x.x, y.x),
        select(0u, rest.x, MODES > 1u) * band.tiles_x * band.tiles_y,
        (rest.y & 0xFFFFu) / TILE,
        (rest.y >> 16u) / TILE,
        y0,
        end,
    );
}

fn tile_count(t: WideTriangle) -> u32 {
    return (t.x1 - t.x0 + 1u) * (max(t.y1, t.y0) - t.y0);
}

// 0: wholly outside; 1: wholly inside; 2: the edge crosses the tile.
fn side(e: WideEdge, c: vec2<u32>) -> u32 {
    let most = add_wide(add_wide(c, wide(max(e.a, 0) * TILE_LAST)), wide(max(e.b, 0) * TILE_LAST));
    let least = add_wide(add_wide(c, wide(min(e.a, 0) * TILE_LAST)), wide(min(e.b, 0) * TILE_LAST));
    return select(select(1u, 2u, is_negative(least)), 0u, is_negative(most));
}

fn at_tile(e: WideEdge, x: u32, y: u32) -> vec2<u32> {
    return add_wide(e.c, add_wide(mul_wide_signed(e.a * TILE_STEP, i32(x)), mul_wide_signed(e.b * TILE_STEP, i32(y))));
}

// Counts, or fills in, a set-up at a tile it may touch.
fn visit(t: WideTriangle, slot: u32, x: u32, y: u32, c0: vec2<u32>, c1: vec2<u32>, c2: vec2<u32>, filling: bool) {
    let s0 = side(t.e0, c0);
    let s1 = side(t.e1, c1);
    let s2 = side(t.e2, c2);
    if s0 * s1 * s2 == 0u {
        return;
    }
    let all = MODES * band.tiles_x * band.tiles_y;
    let number = atomicAdd(&tiles[all + 1u + t.list + y * band.tiles_x + x], 1u);
    if filling && number < band.pair_capacity {
        let crossing = (s0 >> 1u) | (s1 & 2u) | ((s2 & 2u) << 1u);
        textureStore(pairs, place(number), vec4<u32>(slot | (crossing << 29u), c0.x, c1.x, c2.x));
    }
}

fn visit_all(t: WideTriangle, slot: u32, filling: bool) {
    let step0 = wide(t.e0.a * TILE_STEP);
    let step1 = wide(t.e1.a * TILE_STEP);
    let step2 = wide(t.e2.a * TILE_STEP);
    for (var y = t.y0; y < t.y1; y++) {
        var c0 = at_tile(t.e0, t.x0, y);
        var c1 = at_tile(t.e1, t.x0, y);
        var c2 = at_tile(t.e2, t.x0, y);
        for (var x = t.x0; x <= t.x1; x++) {
            visit(t, slot, x, y, c0, c1, c2, filling);
            c0 = add_wide(c0, step0);
            c1 = add_wide(c1, step1);
            c2 = add_wide(c2, step2);
        }
    }
}

@compute @workgroup_size(WORKGROUP)
fn count_small(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let slot = linear_index(workgroup, local);
    if slot >= min(atomicLoad(&counters.setups), band.setup_capacity) {
        return;
    }
    let t = wide_triangle(slot);
    if tile_count(t) > LARGE_TILES {
        let number = atomicAdd(&counters.large, 1u);
        if number < band.large_capacity {
            large[number] = slot;
        }
        return;
    }
    visit_all(t, slot, false);
}

@compute @workgroup_size(WORKGROUP)
fn fill_small(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let slot = linear_index(workgroup, local);
    if slot >= min(atomicLoad(&counters.setups), band.setup_capacity) {
        return;
    }
    let t = wide_triangle(slot);
    if tile_count(t) <= LARGE_TILES {
        visit_all(t, slot, true);
    }
}

// A large triangle is spread over the workgroup: each invocation takes every WORKGROUP-th tile or part of one.
fn visit_spread(workgroup: vec3<u32>, local: u32, filling: bool) {
    let number = workgroup.y * DISPATCH_WIDTH + workgroup.x;
    if number >= min(atomicLoad(&counters.large), band.large_capacity) {
        return;
    }
    let slot = large[number];
    let t = wide_triangle(slot);
    let columns = t.x1 - t.x0 + 1u;
    let count = tile_count(t);
    for (var k = local; k < count; k += WORKGROUP) {
        let x = t.x0 + k % columns;
        let y = t.y0 + k / columns;
        visit(t, slot, x, y, at_tile(t.e0, x, y), at_tile(t.e1, x, y), at_tile(t.e2, x, y), filling);
    }
}

@compute @workgroup_size(WORKGROUP)
fn count_large(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    visit_spread(workgroup, local, false);
}

@compute @workgroup_size(WORKGROUP)
fn fill_large(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    visit_spread(workgroup, local, true);
}

var<workgroup> sums: array<u32, SCAN_WORKGROUP>;

// Where each list begins: counts, after the n + 1 places, become cursors.
@compute @workgroup_size(SCAN_WORKGROUP)
fn scan(@builtin(local_invocation_index) local: u32) {
    let all = MODES * band.tiles_x * band.tiles_y;
    let part = (all + SCAN_WORKGROUP - 1u) / SCAN_WORKGROUP;
    let begin = min(local * part, all);
    let end = min(begin + part, all);
    var sum = 0u;
    for (var k = begin; k < end; k++) {
        sum += atomicLoad(&tiles[all + 1u + k]);
    }
    sums[local] = sum;
    workgroupBarrier();
    if local == 0u {
        var total = 0u;
        for (var k = 0u; k < SCAN_WORKGROUP; k++) {
            let here = sums[k];
            sums[k] = total;
            total += here;
        }
        atomicStore(&tiles[all], total);
        atomicStore(&counters.pairs, total);
    }
    workgroupBarrier();
    var first = sums[local];
    for (var k = begin; k < end; k++) {
        let count = atomicLoad(&tiles[all + 1u + k]);
        atomicStore(&tiles[k], first);
        atomicStore(&tiles[all + 1u + k], first);
        first += count;
    }
}

// Sorts tiles by whether anything is to be done for them.
@compute @workgroup_size(WORKGROUP)
fn sort_tiles(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let tile = linear_index(workgroup, local);
    let count = band.tiles_x * band.tiles_y;
    if tile >= count {
        return;
    }
    var is_active = ALL_TILES;
    for (var mode = 0u; mode < MODES; mode++) {
        let list = mode * count + tile;
        is_active = is_active || atomicLoad(&tiles[list + 1u]) > atomicLoad(&tiles[list]);
    }
    if is_active {
        order[atomicAdd(&counters.active_tiles, 1u)] = tile;
    } else {
        order[count - 1u - atomicAdd(&counters.blank_tiles, 1u)] = tile;
    }
}
