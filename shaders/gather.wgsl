// Gather: whose traced light a fragment takes. Twin of raster/src/passes/gather.rs. Who includes this binds the list
// `guides`, rows of the image from band.first_guide_row on.
//#include frame
//#include vector

// What a pixel's light was traced for.
struct Guide {
    // NOTHING where there is no surface.
    instance: u32,
    normal: vec3<f32>,
    depth: f32,
}

fn guide_part(k: u32, part: u32) -> vec4<u32> {
    return textureLoad(guides, place(k * GUIDE_PARTS + part), 0);
}

// Twin of PackedGuide in raster/src/gpu/traced.rs.
fn guide_at(k: u32) -> Guide {
    let a = guide_part(k, 0u);
    let b = guide_part(k, 1u);
    return Guide(b.x, bitcast<vec3<f32>>(a.xyz), bitcast<f32>(a.w));
}

// Whether both are of one surface.
fn guides_match(guide: Guide, other: Guide) -> bool {
    let apart = abs(guide.depth - other.depth);
    return guide.instance == other.instance
        && dot3(guide.normal, other.normal) >= SAME_NORMAL
        && apart <= max(abs(other.depth) * SAME_DEPTH, FLUSH_BELOW);
}

// Place in the list of a pixel of the image.
fn guide_place(x: u32, y: u32) -> u32 {
    return (y - band.first_guide_row) * u.width + x;
}

// Place of the pixel whose light a fragment of pixel x, y takes; NOTHING where there is none.
fn guide_source(x: u32, y: u32, fragment: Guide) -> u32 {
    //#for k in NEIGHBOURS
    {
        let at = vec2<i32>(i32(x), i32(y)) + vec2<i32>(NEIGHBOUR_X_$k, NEIGHBOUR_Y_$k);
        if at.x >= 0 && at.y >= 0 && at.x < i32(u.width) && at.y < i32(u.height) {
            let source = guide_place(u32(at.x), u32(at.y));
            if guides_match(guide_at(source), fragment) {
                return source;
            }
        }
    }
    //#end
    return NOTHING;
}
