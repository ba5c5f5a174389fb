// Trace: the light that arrives at a point along one sampled path. Twin of raster/src/passes/trace.rs.
//
// Drivers expand functions where they are called, so there is one loop with one ray in it: a path draws from one light
// after the other, or scatters, each time round.
//#include tracing
//#include illuminate
//#include hit_parameters
//#include bsdf
//#include points
//#include srgb

@group(0) @binding(10) var points: texture_2d<u32>;
@group(0) @binding(11) var nodes: texture_2d<u32>;
@group(0) @binding(12) var leaf_triangles: texture_2d<u32>;
@group(0) @binding(13) var placements: texture_2d<u32>;
@group(0) @binding(14) var background: texture_2d<u32>;
@group(0) @binding(15) var distribution: texture_2d<u32>;
@group(0) @binding(16) var emitters: texture_2d<u32>;
// By item: diffuse light and distance, specular light; or radiance, of what is weighed with others.
@group(0) @binding(17) var paths: texture_storage_2d<rgba32uint, write>;
@group(0) @binding(18) var<storage, read> tracing: Tracing;

// By which a ray decides what it passes.
var<private> opacity_key: u32;

// MASK by its cutoff, BLEND by chance.
fn accepts(hit: Hit) -> bool {
    if !LAYERED {
        return true;
    }
    let p = hit_place(hit);
    let alpha = hit_base_color(p, false).w;
    if (material_flags(p.material) & MATERIAL_BLEND) != 0u {
        return unit(join(opacity_key, hit.triangle)) < alpha;
    }
    return alpha >= material_emission(p.material).cutoff;
}

fn largest(v: vec3<f32>) -> f32 {
    return max(max(v.x, v.y), v.z);
}

// Light along one path.
struct Light {
    // Divided by the reflectances.
    diffuse: vec3<f32>,
    specular: vec3<f32>,
    distance: f32,
}

// What is left of a path, and what it found.
struct Path {
    direction: vec3<f32>,
    // Density with which scattering chose the direction.
    pdf: f32,
    throughput: vec3<f32>,
    diffuse_left: u32,
    specular_left: u32,
    // Whether the vertex that the path comes to scatters it again.
    goes_on: bool,
    found: vec3<f32>,
    // How the first vertex scatters what is found.
    first: BsdfScattered,
    inverse_pdf: f32,
}

// With which probability a vertex draws from a kind of light; the first draws from all.
fn share(is_first: bool) -> f32 {
    return select(recip(f32(max(light_kinds(), 1u))), 1.0, is_first);
}

// Counts a bounce.
fn count_bounce(path: ptr<function, Path>, diffuse: bool) {
    if diffuse {
        (*path).goes_on = (*path).diffuse_left > 0u;
        (*path).diffuse_left -= select(0u, 1u, (*path).goes_on);
    } else {
        (*path).goes_on = (*path).specular_left > 0u;
        (*path).specular_left -= select(0u, 1u, (*path).goes_on);
    }
}

// Sends the path on; false where it ends.
fn scatter(path: ptr<function, Path>, b: Bsdf, s: Sequence, vertex: u32) -> bool {
    let lobe = sequence_pair(s, vertex, DECISION_LOBE);
    let sampled = bsdf_sample(b, vec3<f32>(lobe.x, sequence_pair(s, vertex, DECISION_DIRECTION)));
    if !sampled.found {
        return false;
    }
    let scattered = sampled.scattered;
    let inverse = recip(scattered.pdf);
    if vertex == 0u {
        (*path).first = scattered;
        (*path).inverse_pdf = inverse;
    } else {
        let reflected = guard3(mul3(scattered.diffuse, b.diffuse_reflectance) + scattered.specular);
        var throughput = mul3((*path).throughput, scale3(reflected, inverse));
        let chance = largest(throughput);
        if chance < FLUSH_BELOW {
            return false;
        }
        if vertex >= ROULETTE_FROM && chance < SURVIVAL_MAX {
            if lobe.y >= chance {
                return false;
            }
            throughput = scale3(throughput, recip(chance));
        }
        (*path).throughput = throughput;
    }
    (*path).direction = sampled.to_light;
    (*path).pdf = scattered.pdf;
    count_bounce(path, sampled.is_diffuse);
    return true;
}

fn add_found(path: ptr<function, Path>, radiance: vec3<f32>) {
    (*path).found = guard3((*path).found + mul3((*path).throughput, radiance));
}

// Adds light of the environment where a path leaves the scene.
fn add_missed(path: ptr<function, Path>, vertex: u32) {
    if SKY {
        let direction = (*path).direction;
        let other = mul(sky_pdf(direction), share(vertex == 1u));
        add_found(path, scale3(sky_radiance(direction), mis_weight((*path).pdf, other)));
    }
}

// What is left of light after a way through a volume.
fn absorbed(coefficient: vec3<f32>, way: f32) -> vec3<f32> {
    let depth = scale3(scale3(coefficient, way), LOG2_E);
    return vec3<f32>(exp_two(-depth.x), exp_two(-depth.y), exp_two(-depth.z));
}

// A vertex after the first.
struct PathVertex {
    // Whether there is light to be reflected.
    some: bool,
    origin: Origin,
    parameters: BsdfParameters,
}

// Adds what a surface emits along the path.
fn arrive(path: ptr<function, Path>, hit: Hit, vertex: u32) -> PathVertex {
    let p = hit_place(hit);
    let flags = material_flags(p.material);
    let color = hit_base_color(p, true).xyz;
    if (flags & MATERIAL_UNLIT) != 0u || (p.flags & INSTANCE_UNLIT) != 0u {
        add_found(path, color);
        return PathVertex();
    }
    let flat = flat_normal(p.instance, p.corners);
    let cosine = -dot3(flat, (*path).direction);
    let behind = cosine < -FLUSH_BELOW;
    if VOLUME && behind && (flags & LOBE_VOLUME) != 0u {
        (*path).throughput = mul3((*path).throughput, absorbed(material_volume(p.material).attenuation, hit.t));
    }
    if shows(p, cosine) {
        var density = 0.0;
        if EMITTERS {
            density = mul(emitter_pdf(hit, cosine), share(vertex == 1u));
        }
        add_found(path, scale3(hit_emission(p), mis_weight((*path).pdf, density)));
    }
    let origin = origin_of(p.instance, hit.triangle, hit_position_eye(p), flat);
    return PathVertex(true, origin, hit_parameters(p, color, behind));
}

// Light that may come from a kind of light.
fn drawn_light(kind: u32, o: Origin, s: Sequence, vertex: u32) -> Arriving {
    var l = Arriving();
    if SKY && kind == LIGHTS_SKY {
        l = from_sky(s, vertex);
    }
    if PUNCTUAL_LIGHTS && kind == LIGHTS_PUNCTUAL {
        l = from_punctual(o, s, vertex);
    }
    if EMITTERS && kind == LIGHTS_EMITTERS {
        l = from_emitters(o, s, vertex);
    }
    if vertex > 0u {
        let kinds = f32(max(light_kinds(), 1u));
        l.radiance = select(l.radiance, scale3(l.radiance, kinds), vec3<bool>(l.pdf < FLUSH_BELOW));
        l.pdf = mul(l.pdf, share(false));
    }
    return l;
}

// Which kind of light a vertex after the first draws from; LIGHTS_KINDS for none.
fn picked_kind(s: Sequence, vertex: u32) -> u32 {
    let kinds = light_kinds();
    if kinds == 0u {
        return LIGHTS_KINDS;
    }
    let nth = u32(mul(sequence_pair(s, vertex, DECISION_LIGHT).y, f32(kinds)));
    let sky = select(0u, 1u, SKY);
    let punctual = select(0u, 1u, PUNCTUAL_LIGHTS);
    return select(select(LIGHTS_EMITTERS, LIGHTS_PUNCTUAL, nth < sky + punctual), LIGHTS_SKY, nth < sky);
}

// Within what a sample may add, in its own hue.
fn bounded(light: vec3<f32>) -> vec3<f32> {
    let most = largest(light);
    let scaled = scale3(light, mul(tracing.sample_max, recip(min(most, T_MAX))));
    let within = select(light, scaled, vec3<bool>(most > tracing.sample_max));
    return min(max(within, vec3<f32>(0.0)), vec3<f32>(SAMPLE_MAX));
}

fn light_along(k: u32, s: Sequence) -> Light {
    let at = point_floats(k, 0u);
    let facing = point_part(k, 1u);
    var origin = Origin(at.xyz, bitcast<vec3<f32>>(facing.xyz), at.w, facing.w);
    var b = bsdf_new(point_parameters(k), point_to_viewer(k));
    let reflectance = b.specular_reflectance;
    let inverse = vec3<f32>(recip(reflectance.x), recip(reflectance.y), recip(reflectance.z));
    var out = Light(vec3<f32>(0.0), vec3<f32>(0.0), DISTANCE_MAX);
    var path: Path;
    path.throughput = vec3<f32>(1.0);
    path.diffuse_left = tracing.diffuse_bounces;
    path.specular_left = tracing.specular_bounces;
    var vertex = 0u;
    var kind = 0u;
    loop {
        let scatters = kind == LIGHTS_KINDS;
        var l = Arriving();
        var scattered = BsdfScattered();
        var reflected = vec3<f32>(0.0);
        if scatters {
            if !scatter(&path, b, s, vertex) {
                break;
            }
            l = Arriving(true, path.direction, tracing.occlusion_radius, vec3<f32>(0.0), 0.0);
        } else {
            l = drawn_light(kind, origin, s, vertex);
            if l.some {
                scattered = bsdf_evaluate(b, l.direction);
                reflected = guard3(mul3(scattered.diffuse, b.diffuse_reflectance) + scattered.specular);
                let brightest = max(largest(scattered.diffuse), largest(scattered.specular));
                l.some = select(largest(reflected), brightest, vertex == 0u) >= FLUSH_BELOW;
                l.distance = min(l.distance, select(T_MAX, tracing.occlusion_radius, kind == LIGHTS_SKY));
            }
        }
        if l.some {
            let keys = sequence_bits(s, vertex + select(0u, 1u, scatters), DECISION_OPACITY);
            opacity_key = select(keys.x, keys.y, scatters);
            let hit = trace(towards(origin, l.direction), l.direction, l.distance, origin.triangle, !scatters);
            let met = hit.triangle != NO_TRIANGLE;
            if scatters {
                vertex += 1u;
                if !met {
                    add_missed(&path, vertex);
                    break;
                }
                if vertex == 1u {
                    out.distance = min(hit.t, DISTANCE_MAX);
                }
                if tracing.bounces == 0u {
                    break;
                }
                let next = arrive(&path, hit, vertex);
                if !next.some || !path.goes_on {
                    break;
                }
                origin = next.origin;
                b = bsdf_new(next.parameters, -path.direction);
                kind = picked_kind(s, vertex);
                continue;
            }
            if !met {
                if vertex == 0u {
                    // Ambient occlusion finds shining triangles by drawing from them alone.
                    let is_found = tracing.bounces == 1u || kind == LIGHTS_SKY;
                    let light = weighed(l, select(0.0, scattered.pdf, is_found));
                    out.diffuse = guard3(out.diffuse + mul3(scattered.diffuse, light));
                    out.specular = guard3(out.specular + mul3(scattered.specular, light));
                } else {
                    add_found(&path, mul3(reflected, weighed(l, scattered.pdf)));
                }
            }
        }
        kind = select(LIGHTS_KINDS, kind + 1u, vertex == 0u);
    }
    let diffuse = scale3(mul3(path.first.diffuse, path.found), path.inverse_pdf);
    let specular = scale3(mul3(path.first.specular, path.found), path.inverse_pdf);
    out.diffuse = bounded(guard3(out.diffuse + diffuse));
    out.specular = bounded(mul3(guard3(out.specular + specular), inverse));
    return out;
}

fn put_path(k: u32, part: u32, xyz: vec3<f32>, w: f32) {
    textureStore(paths, place(k * PATH_PARTS + part), bitcast<vec4<u32>>(vec4<f32>(xyz, w)));
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = linear_index(workgroup, local);
    let kind = point_kind(number);
    if kind == POINT_NONE {
        return;
    }
    let own = kind == POINT_OWN;
    let pixel = point_pixel(number);
    let triangle = point_part(number, 1u).w;
    let s = sequence_of(pixel.x, pixel.y, tracing.seed ^ select(triangle + 1u, 0u, own), tracing.sample);
    let light = light_along(number, s);
    if own {
        put_path(number, 0u, light.diffuse, light.distance);
        put_path(number, 1u, light.specular, 0.0);
        return;
    }
    let b = bsdf_new(point_parameters(number), point_to_viewer(number));
    let diffuse = mul3(light.diffuse, b.diffuse_reflectance);
    put_path(number, 0u, guard3(diffuse + mul3(light.specular, b.specular_reflectance)), 0.0);
}
