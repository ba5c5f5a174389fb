// Accumulate: what one sample adds to each pixel, in a fixed binary tree over the samples' numbers. Twin of
// raster/src/accumulate.rs, of `weights` in raster/src/passes/resolve.rs, and of `pixel` in raster/src/cpu/traced.rs.
//#include frame
//#include vector
//#include tracing
//#include points

@group(0) @binding(2) var items: texture_2d<u32>;
@group(0) @binding(3) var points: texture_2d<u32>;
@group(0) @binding(4) var paths: texture_2d<u32>;
@group(0) @binding(5) var<storage, read> pixels: array<u32>;
@group(0) @binding(6) var<storage, read> order: array<u32>;
// Sums of each level of the tree, then by pixel: diffuse, specular, extra, distance, squares of both luminances.
@group(0) @binding(7) var<storage, read_write> sums: array<vec4<f32>>;
@group(0) @binding(8) var<storage, read> tracing: Tracing;

// What one sample of a pixel adds.
struct Sample {
    diffuse: vec3<f32>,
    distance: f32,
    specular: vec3<f32>,
    extra: vec3<f32>,
}

fn path_part(k: u32, part: u32) -> vec4<f32> {
    return bitcast<vec4<f32>>(textureLoad(paths, place(k * PATH_PARTS + part), 0));
}

fn item_mask(k: u32) -> u32 {
    return textureLoad(items, place(k), 0).z & 0xFFFFu;
}

fn with_item(sample: Sample, k: u32, weight: f32) -> Sample {
    let kind = point_kind(k);
    if kind == POINT_NONE {
        return sample;
    }
    let a = path_part(k, 0u);
    if kind == POINT_OWN {
        return Sample(a.xyz, a.w, path_part(k, 1u).xyz, sample.extra);
    }
    return Sample(sample.diffuse, sample.distance, sample.specular, guard3(sample.extra + scale3(a.xyz, weight)));
}

fn sample_of(pixel: u32) -> Sample {
    var sample = Sample();
    let fragments = pixels[pixel * PIXEL_WORDS];
    let first = fragments >> 5u;
    let end = first + (fragments & 31u);
    if !LAYERED {
        for (var k = first; k < end; k++) {
            sample = with_item(sample, k, mul(f32(countOneBits(item_mask(k))), SAMPLE_SHARE));
        }
        return sample;
    }
    let layers = pixels[pixel * PIXEL_WORDS + 1u];
    let first_layer = layers >> 7u;
    //#for s in SAMPLES
    var through_$s = 1.0;
    //#end
    for (var k = first_layer; k < first_layer + (layers & 127u); k++) {
        let mask = item_mask(k);
        let alpha = point_alpha(k);
        var total = 0.0;
        //#for s in SAMPLES
        total = guard(total + select(0.0, through_$s, (mask & (1u << $su)) != 0u));
        //#end
        sample = with_item(sample, k, mul(mul(total, SAMPLE_SHARE), alpha));
        let rest = guard(1.0 - alpha);
        //#for s in SAMPLES
        through_$s = select(through_$s, mul(through_$s, rest), (mask & (1u << $su)) != 0u);
        //#end
    }
    for (var k = first; k < end; k++) {
        let mask = item_mask(k);
        var total = 0.0;
        //#for s in SAMPLES
        total = guard(total + select(0.0, through_$s, (mask & (1u << $su)) != 0u));
        //#end
        sample = with_item(sample, k, mul(total, SAMPLE_SHARE));
    }
    return sample;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let at = tile_pixel(order[workgroup.y * DISPATCH_WIDTH + workgroup.x], local);
    if at.x >= u.width || at.y + band.first_tile_row * TILE >= u.height {
        return;
    }
    let pixel = at.y * u.width + at.x;
    let sample = sample_of(pixel);
    let d = sample.diffuse;
    let s = sample.specular;
    let e = sample.extra;
    let luminance_d = dot3(d, BSDF_LUMINANCE);
    let luminance_s = dot3(s, BSDF_LUMINANCE);
    var a = vec4<f32>(d, s.x);
    var b = vec4<f32>(s.yz, e.xy);
    var c = vec4<f32>(e.z, sample.distance, mul(luminance_d, luminance_d), mul(luminance_s, luminance_s));
    for (var level = 0u; level < tracing.merges; level++) {
        let below = (level * tracing.pixel_count + pixel) * SUMS_PARTS;
        a = guard4(sums[below] + a);
        b = guard4(sums[below + 1u] + b);
        c = guard4(sums[below + 2u] + c);
    }
    let place_of_sum = (tracing.merges * tracing.pixel_count + pixel) * SUMS_PARTS;
    sums[place_of_sum] = a;
    sums[place_of_sum + 1u] = b;
    sums[place_of_sum + 2u] = c;
}
