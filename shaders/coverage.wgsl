// Coverage: the COVERAGE_OWNERS ids that own most samples of a pixel, most first, ties to the lower id. Twin of
// `owners` in raster/src/cpu/tile.rs.
//#include frame
//#include instances

@group(0) @binding(3) var items: texture_2d<u32>;
@group(0) @binding(4) var<storage, read> pixels: array<u32>;
@group(0) @binding(5) var<storage, read_write> frame: array<u32>;
@group(0) @binding(6) var<storage, read> order: array<u32>;

// Whether owner p (node, primitive, samples) comes before owner q.
fn comes_first(p: vec3<u32>, q: vec3<u32>) -> bool {
    if p.z != q.z {
        return p.z > q.z;
    }
    if p.x != q.x {
        return p.x < q.x;
    }
    return p.y < q.y;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let at = tile_pixel(order[workgroup.y * DISPATCH_WIDTH + workgroup.x], local);
    let x = at.x;
    let y = at.y;
    if x >= u.width || y + band.first_tile_row * TILE >= u.height {
        return;
    }
    let pixel = y * u.width + x;
    let fragments = pixels[pixel * PIXEL_WORDS];
    let first = fragments >> 5u;
    var owners: array<vec3<u32>, 17>;
    var count = 0u;
    var left = SAMPLES;
    for (var k = first; k < first + (fragments & 31u); k++) {
        let item = textureLoad(items, place(k), 0);
        let instance = instance_of_triangle(item.x / PIECES);
        let id = vec2<u32>(instance_ids(instance).node_id, instance_flags(instance).primitive_id);
        let owned = countOneBits(item.z & 0xFFFFu);
        left -= owned;
        var found = false;
        for (var j = 0u; j < count; j++) {
            if owners[j].x == id.x && owners[j].y == id.y {
                owners[j].z += owned;
                found = true;
            }
        }
        if !found {
            owners[count] = vec3<u32>(id, owned);
            count += 1u;
        }
    }
    if left > 0u {
        owners[count] = vec3<u32>(0u, 0u, left);
        count += 1u;
    }
    for (var rank = 0u; rank < COVERAGE_OWNERS; rank++) {
        var best = vec3<u32>(0u);
        var best_at = 17u;
        for (var j = 0u; j < count; j++) {
            if owners[j].z > 0u && (best_at == 17u || comes_first(owners[j], best)) {
                best = owners[j];
                best_at = j;
            }
        }
        if best_at < 17u {
            owners[best_at].z = 0u;
        }
        let word = band.coverage_at + pixel * COVERAGE_WORDS + rank * OWNER_WORDS;
        frame[word] = best.x;
        frame[word + 1u] = best.y;
        frame[word + 2u] = best.z;
    }
}
