// Deform: morph targets, then skin. Twin of raster/src/passes/deform.rs. Sums run over targets and over joints
// in file order.
//#include frame
//#include prelude
//#include vector
//#include vertices

// Twin of DeformJob in raster/src/gpu/deform.rs, a uniform. Places count vec4<u32>.
struct DeformJob {
    first_vertex: u32,
    vertex_count: u32,
    first_source: u32,
    first_target: u32,
    target_count: u32,
    first_weight: u32,
    first_joint: u32,
    is_triangles: u32,
}

@group(0) @binding(2) var<uniform> job: DeformJob;
// Per vertex itself, its joints packed two to a word, two parts of weights: SOURCE_PARTS. Per target and
// vertex the displacements of position, normal, tangent: TARGET_PARTS.
@group(0) @binding(3) var sources: texture_2d<u32>;
// Weights of targets, four a part; rows of joints, three parts each.
@group(0) @binding(4) var pose: texture_2d<u32>;
@group(0) @binding(5) var vertices: texture_storage_2d<rgba32uint, write>;

fn source(at: u32) -> vec4<u32> {
    return textureLoad(sources, place(at), 0);
}

fn source_float(at: u32) -> vec4<f32> {
    return bitcast<vec4<f32>>(source(at));
}

fn pose_row(at: u32) -> vec4<f32> {
    return bitcast<vec4<f32>>(textureLoad(pose, place(at), 0));
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let vertex = linear_index(workgroup, local);
    if vertex >= job.vertex_count {
        return;
    }
    let at = job.first_source + vertex * SOURCE_PARTS;
    let rest = vertex_from(source(at), source(at + 1u), source(at + 2u), source(at + 3u));
    var position = rest.position;
    var normal = rest.normal;
    var tangent = rest.tangent.xyz;
    for (var k = 0u; k < job.target_count; k++) {
        let weight = pose_row(job.first_weight + k / 4u)[k % 4u];
        let delta = job.first_target + (k * job.vertex_count + vertex) * TARGET_PARTS;
        position = guard3(position + scale3(source_float(delta).xyz, weight));
        normal = guard3(normal + scale3(source_float(delta + 1u).xyz, weight));
        tangent = guard3(tangent + scale3(source_float(delta + 2u).xyz, weight));
    }
    if job.first_joint != NOTHING {
        var row_x = vec4<f32>(0.0);
        var row_y = vec4<f32>(0.0);
        var row_z = vec4<f32>(0.0);
        for (var k = 0u; k < JOINTS; k++) {
            let pair = source(at + VERTEX_PARTS)[k / 2u];
            let joint = job.first_joint + ((pair >> (16u * (k & 1u))) & 0xFFFFu) * 3u;
            let weight = vec4<f32>(source_float(at + VERTEX_PARTS + 1u + k / 4u)[k % 4u]);
            row_x = guard4(row_x + mul4(pose_row(joint), weight));
            row_y = guard4(row_y + mul4(pose_row(joint + 1u), weight));
            row_z = guard4(row_z + mul4(pose_row(joint + 2u), weight));
        }
        position = vec3<f32>(
            transform_row(row_x, position),
            transform_row(row_y, position),
            transform_row(row_z, position),
        );
        normal = transform_vector(row_x, row_y, row_z, normal);
        tangent = transform_vector(row_x, row_y, row_z, tangent);
    }
    // Lines and points keep other things where triangles have a tangent.
    tangent = select(rest.tangent.xyz, tangent, vec3<bool>(job.is_triangles == 1u));
    position = flush3(position);
    let to = (job.first_vertex + vertex) * VERTEX_PARTS;
    textureStore(vertices, place(to), bitcast<vec4<u32>>(vec4<f32>(position, normal.x)));
    textureStore(vertices, place(to + 1u), bitcast<vec4<u32>>(vec4<f32>(normal.yz, tangent.xy)));
    textureStore(vertices, place(to + 2u), bitcast<vec4<u32>>(vec4<f32>(tangent.z, rest.tangent.w, rest.uv0)));
    textureStore(vertices, place(to + 3u), source(at + 3u));
}
