// Instances as a list of INSTANCE_PARTS vec4<u32> each. Twin of Instance in raster/src/draw.rs.
//#include frame

@group(0) @binding(2) var instances: texture_2d<u32>;

fn instance_part(k: u32, part: u32) -> vec4<u32> {
    return textureLoad(instances, place(k * INSTANCE_PARTS + part), 0);
}

// A row of one of the transforms: INSTANCE_CLIP_FROM_LOCAL and the like, and the rows behind them.
fn instance_row(k: u32, part: u32) -> vec4<f32> {
    return bitcast<vec4<f32>>(instance_part(k, part));
}

struct InstanceRanges {
    first_vertex: u32,
    vertex_count: u32,
    first_clip_vertex: u32,
    first_index: u32,
}

fn instance_ranges(k: u32) -> InstanceRanges {
    let p = instance_part(k, INSTANCE_FIRST_VERTEX);
    return InstanceRanges(p.x, p.y, p.z, p.w);
}

struct InstanceIds {
    first_triangle: u32,
    triangle_count: u32,
    material: u32,
    node_id: u32,
}

fn instance_ids(k: u32) -> InstanceIds {
    let p = instance_part(k, INSTANCE_FIRST_TRIANGLE);
    return InstanceIds(p.x, p.y, p.z, p.w);
}

struct InstanceFlags {
    primitive_id: u32,
    flags: u32,
    scale: f32,
}

fn instance_flags(k: u32) -> InstanceFlags {
    let p = instance_part(k, INSTANCE_PRIMITIVE_ID);
    return InstanceFlags(p.x, p.y, bitcast<f32>(p.z));
}

// The last instance whose first vertex, in `clip`, is not above this one.
fn instance_of_vertex(vertex: u32) -> u32 {
    var low = 0u;
    var high = band.instance_count;
    while high - low > 1u {
        let middle = (low + high) >> 1u;
        if instance_ranges(middle).first_clip_vertex <= vertex {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

// The last instance whose first triangle is not above this one.
fn instance_of_triangle(triangle: u32) -> u32 {
    var low = 0u;
    var high = band.instance_count;
    while high - low > 1u {
        let middle = (low + high) >> 1u;
        if instance_ids(middle).first_triangle <= triangle {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}
