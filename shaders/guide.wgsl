// Guide: what each pixel's light will be traced for: its first fragment. Twin of `guides` in raster/src/cpu/traced.rs.
//#include evaluate

@group(0) @binding(8) var items: texture_2d<u32>;
// By pixel of the band, GUIDE_WORDS each: the instance plus 1, so that what was cleared is no surface; normal; depth.
@group(0) @binding(10) var<storage, read_write> found: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let item = textureLoad(items, place(linear_index(workgroup, local)), 0);
    if item.x == NOTHING || !is_first(item) {
        return;
    }
    let spot = spot_of(item);
    let normal = flush3(spot.normal);
    let at = (spot.y * u.width + spot.x) * GUIDE_WORDS;
    found[at] = spot.instance + 1u;
    found[at + 1u] = bitcast<u32>(normal.x);
    found[at + 2u] = bitcast<u32>(normal.y);
    found[at + 3u] = bitcast<u32>(normal.z);
    found[at + 4u] = bitcast<u32>(flush(spot_depth(spot)));
}
