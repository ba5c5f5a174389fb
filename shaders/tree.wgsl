// What rays meet: a tree of boxes over instances in eye space; in its leaves, trees over the triangles of meshes in
// their own space. Twin of raster/src/accel/.
//
// Only the tests of triangles decide what is hit, ties go to the lower number, and boxes are tested with room for every
// rounding of theirs: so the order of visits, in which this differs from the twin, changes nothing.
//
// Who includes this binds the lists `nodes`, `leaf_triangles` and `placements`, and says which hits on instances that
// are not opaque count: `accepts(hit: Hit) -> bool`, by the hit alone.
//#include frame
//#include ray

// Twin of Node in raster/src/accel/build.rs.
struct Node {
    min: vec3<f32>,
    // First of two children, or of `count` entries.
    first: u32,
    max: vec3<f32>,
    // 0 where there are children.
    count: u32,
}

fn node_part(k: u32, part: u32) -> vec4<u32> {
    return textureLoad(nodes, place(k * NODE_PARTS + part), 0);
}

fn tree_node(k: u32) -> Node {
    let a = node_part(k, 0u);
    let b = node_part(k, 1u);
    return Node(bitcast<vec3<f32>>(a.xyz), a.w, bitcast<vec3<f32>>(b.xyz), b.w);
}

// Twin of Placement in raster/src/gpu/trees.rs.
struct Placement {
    local_from_eye: mat3x4<f32>,
    instance: u32,
    first_triangle: u32,
    first_node: u32,
    first_leaf_triangle: u32,
    opaque: u32,
}

fn placement_part(k: u32, part: u32) -> vec4<u32> {
    return textureLoad(placements, place(k * PLACEMENT_PARTS + part), 0);
}

fn placement_at(k: u32) -> Placement {
    let x = placement_part(k, 0u);
    let y = placement_part(k, 1u);
    let z = placement_part(k, 2u);
    let a = placement_part(k, 3u);
    let b = placement_part(k, 4u);
    return Placement(
        mat3x4<f32>(bitcast<vec4<f32>>(x), bitcast<vec4<f32>>(y), bitcast<vec4<f32>>(z)),
        a.x,
        a.y,
        a.z,
        a.w,
        b.x,
    );
}

// Twin of LeafTriangle in raster/src/gpu/trees.rs.
struct LeafTriangle {
    corner_0: vec3<f32>,
    number: u32,
    corner_1: vec3<f32>,
    corner_2: vec3<f32>,
}

fn triangle_part(k: u32, part: u32) -> vec4<u32> {
    return textureLoad(leaf_triangles, place(k * TRIANGLE_PARTS + part), 0);
}

fn leaf_triangle(k: u32) -> LeafTriangle {
    let a = triangle_part(k, 0u);
    let b = triangle_part(k, 1u);
    let c = triangle_part(k, 2u);
    return LeafTriangle(bitcast<vec3<f32>>(a.xyz), a.w, bitcast<vec3<f32>>(b.xyz), bitcast<vec3<f32>>(c.xyz));
}

// What a ray met.
struct Hit {
    // In lengths of the direction.
    t: f32,
    instance: u32,
    // Over all instances; NO_TRIANGLE for none.
    triangle: u32,
    // Of the corners.
    weights: vec3<f32>,
}

// A ray as boxes see it.
struct BoxRay {
    inverse: vec3<f32>,
    // The origin, moved by the slack, as seen from near and from far planes.
    near: vec3<f32>,
    far: vec3<f32>,
    backwards: vec3<bool>,
}

// `root` is the box around all.
fn box_ray(origin: vec3<f32>, direction: vec3<f32>, root: Node) -> BoxRay {
    let reach = max(max(abs(root.min), abs(root.max)), abs(origin));
    let slack = mul(max(max(reach.x, reach.y), reach.z), BOX_SLACK);
    let backwards = direction < vec3<f32>(0.0);
    let d = max(abs(direction), vec3<f32>(BOX_DIRECTION_MIN));
    let inverse = vec3<f32>(recip(d.x), recip(d.y), recip(d.z));
    let moved = select(vec3<f32>(slack), vec3<f32>(-slack), backwards);
    return BoxRay(select(inverse, -inverse, backwards), guard3(origin + moved), guard3(origin - moved), backwards);
}

// Where a ray enters a box and, with some room, where it leaves it or ends: it meets the box where the first is not
// above the second.
fn enter(r: BoxRay, node: Node, t_max: f32) -> vec2<f32> {
    let near = (select(node.min, node.max, r.backwards) - r.near) * r.inverse;
    let far = (select(node.max, node.min, r.backwards) - r.far) * r.inverse;
    let first = max(max(near.x, near.y), max(near.z, 0.0));
    let last = guard(min(min(far.x, far.y), min(far.z, t_max)));
    return vec2<f32>(first, last * BOX_FARTHER);
}

// The nearest triangle that a ray meets, ties to the lower number; or, where any will do, whether it meets one. `skip`
// is never met.
fn trace(origin: vec3<f32>, direction: vec3<f32>, t_max: f32, skip: u32, any: bool) -> Hit {
    var best = Hit(t_max, 0u, NO_TRIANGLE, vec3<f32>(0.0));
    // Nodes yet to be visited: of the tree over instances, above `base` of the mesh that the ray is in.
    var stack: array<u32, TREE_STACK>;
    var top = 0u;
    var base = 0u;
    var in_mesh = false;
    var placement: Placement;
    var shear: Shear;
    var first_node = band.first_tree_node;
    var node = tree_node(first_node);
    let outside = box_ray(origin, direction, node);
    var boxes = outside;
    for (var visits = band.visits_max; visits > 0u; visits--) {
        var descends = false;
        if node.count == 0u {
            let at = first_node + node.first;
            let left = tree_node(at);
            let right = tree_node(at + 1u);
            let in_left = enter(boxes, left, best.t);
            let in_right = enter(boxes, right, best.t);
            let meets_left = in_left.x <= in_left.y;
            let meets_right = in_right.x <= in_right.y;
            let right_first = meets_right && (!meets_left || in_right.x < in_left.x);
            descends = meets_left || meets_right;
            if meets_left && meets_right {
                stack[top] = at + select(1u, 0u, right_first);
                top += 1u;
            }
            if right_first {
                node = right;
            } else {
                node = left;
            }
        } else if in_mesh {
            for (var k = 0u; k < node.count; k++) {
                let triangle = leaf_triangle(placement.first_leaf_triangle + node.first + k);
                let number = placement.first_triangle + triangle.number;
                let m = meet(shear, triangle.corner_0, triangle.corner_1, triangle.corner_2);
                let nearer = m.met && (m.t < best.t || (m.t == best.t && number < best.triangle));
                if !nearer || number == skip {
                    continue;
                }
                let hit = Hit(m.t, placement.instance, number, meeting_weights(m.edge, m.sum));
                if placement.opaque == 0u {
                    if !accepts(hit) {
                        continue;
                    }
                }
                if any {
                    return hit;
                }
                best = hit;
            }
        } else {
            placement = placement_at(node.first);
            let rows = placement.local_from_eye;
            let local_direction = transform_vector(rows[0], rows[1], rows[2], direction);
            let size = abs(local_direction);
            // A ray that goes nowhere meets nothing.
            if max(max(size.x, size.y), size.z) >= FLUSH_BELOW {
                let local_origin = vec3<f32>(
                    transform_row(rows[0], origin),
                    transform_row(rows[1], origin),
                    transform_row(rows[2], origin),
                );
                shear = shear_of(local_origin, local_direction);
                first_node = placement.first_node;
                node = tree_node(first_node);
                boxes = box_ray(local_origin, local_direction, node);
                base = top;
                in_mesh = true;
                descends = true;
            }
        }
        while !descends && top > 0u {
            if in_mesh && top == base {
                in_mesh = false;
                first_node = band.first_tree_node;
                boxes = outside;
            }
            top -= 1u;
            node = tree_node(stack[top]);
            let entered = enter(boxes, node, best.t);
            descends = any || entered.x <= entered.y;
        }
        if !descends {
            break;
        }
    }
    return best;
}

fn trace_closest(origin: vec3<f32>, direction: vec3<f32>, t_max: f32, skip: u32) -> Hit {
    return trace(origin, direction, t_max, skip, false);
}

fn trace_any(origin: vec3<f32>, direction: vec3<f32>, t_max: f32, skip: u32) -> bool {
    return trace(origin, direction, t_max, skip, true).triangle != NO_TRIANGLE;
}
