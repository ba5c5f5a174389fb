// Instances as a list of INSTANCE_PARTS vec4<u32> each; twin of Instance in raster/src/draw.rs.
//#include frame

@group(0) @binding(2) var instances: texture_2d<u32>;

fn instance_part(k: u32, part: u32) -> vec4<u32> {
    return textureLoad(instances, place(k * INSTANCE_PARTS + part), 0);
}

fn instance_row(k: u32, part: u32) -> vec4<f32> {
    return bitcast<vec4<f32>>(instance_part(k, part));
}

// The last instance whose `field` of INSTANCE_RANGES or INSTANCE_IDS is not above `number`.
fn instance_below(number: u32, part: u32, field: u32) -> u32 {
    var low = 0u;
    var high = band.instance_count;
    while high - low > 1u {
        let middle = (low + high) >> 1u;
        if instance_part(middle, part)[field] <= number {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

fn instance_of_vertex(vertex: u32) -> u32 {
    return instance_below(vertex, INSTANCE_RANGES, 2u);
}

fn instance_of_triangle(triangle: u32) -> u32 {
    return instance_below(triangle, INSTANCE_IDS, 0u);
}
