// Resolve: what a pixel's layers and fragments add up to; background, exposure, tone curve, encoding. Twin of
// raster/src/passes/resolve.rs.
//#include frame
//#include prelude
//#include octahedron
//#include tonemap
//#include pixel_light

@group(0) @binding(2) var items: texture_2d<u32>;
@group(0) @binding(3) var lit: texture_2d<u32>;
@group(0) @binding(4) var background: texture_2d<u32>;
@group(0) @binding(5) var<storage, read> pixels: array<u32>;
@group(0) @binding(6) var<storage, read_write> frame: array<u32>;
@group(0) @binding(7) var<uniform> encoding: Encoding;
@group(0) @binding(8) var<storage, read> order: array<u32>;
// Nothing where light is classic.
@group(0) @binding(9) var traced_light: texture_2d<u32>;

// Twin of Encoding in raster/src/gpu/layout.rs.
struct Encoding {
    // The smallest linear value of each sRGB8 code.
    thresholds: array<vec4<f32>, 64>,
    // Four codes a word: a code at most one too small for all values of a bucket of 1/128 octave.
    guesses: array<vec4<u32>, SRGB8_GUESS_VECTORS>,
}

fn map_texel(at: u32) -> vec3<f32> {
    return bitcast<vec3<f32>>(textureLoad(background, place(at), 0).xyz);
}

fn item(k: u32) -> vec4<u32> {
    return textureLoad(items, place(k), 0);
}

fn light_of(k: u32) -> vec4<f32> {
    return bitcast<vec4<f32>>(textureLoad(lit, place(k), 0));
}

// Premultiplied colour and alpha, and what of the background shows.
struct Sum {
    color: vec4<f32>,
    background: f32,
}

fn add_lit(color: vec4<f32>, weight: f32, radiance: vec3<f32>) -> vec4<f32> {
    return guard4(color + vec4<f32>(scale3(radiance, weight), weight));
}

fn sum_fragments(first: u32, count: u32) -> Sum {
    var color = vec4<f32>(0.0);
    var left = SAMPLES;
    for (var k = first; k < first + count; k++) {
        let covered = countOneBits(item(k).z & 0xFFFFu);
        color = add_lit(color, mul(f32(covered), SAMPLE_SHARE), light_of(k).xyz);
        left -= covered;
    }
    return Sum(color, mul(f32(left), SAMPLE_SHARE));
}

fn sum_layered(first: u32, count: u32, first_layer: u32, layer_count: u32) -> Sum {
    var color = vec4<f32>(0.0);
    //#for s in SAMPLES
    var through_$s = 1.0;
    //#end
    for (var k = first_layer; k < first_layer + layer_count; k++) {
        let mask = item(k).z;
        let light = light_of(k);
        var total = 0.0;
        //#for s in SAMPLES
        total = guard(total + select(0.0, through_$s, (mask & (1u << $su)) != 0u));
        //#end
        color = add_lit(color, mul(mul(total, SAMPLE_SHARE), light.w), light.xyz);
        let rest = guard(1.0 - light.w);
        //#for s in SAMPLES
        through_$s = select(through_$s, mul(through_$s, rest), (mask & (1u << $su)) != 0u);
        //#end
    }
    var open = (1u << SAMPLES) - 1u;
    for (var k = first; k < first + count; k++) {
        let mask = item(k).z;
        var total = 0.0;
        //#for s in SAMPLES
        total = guard(total + select(0.0, through_$s, (mask & (1u << $su)) != 0u));
        //#end
        color = add_lit(color, mul(total, SAMPLE_SHARE), light_of(k).xyz);
        open &= ~mask;
    }
    var total = 0.0;
    //#for s in SAMPLES
    total = guard(total + select(0.0, through_$s, (open & (1u << $su)) != 0u));
    //#end
    return Sum(color, mul(total, SAMPLE_SHARE));
}

// The environment itself, through the pixel centre.
fn sky(p: vec2<f32>) -> vec3<f32> {
    let ray = guard3(guard3(scale3(u.ray_x.xyz, p.x) + scale3(u.ray_y.xyz, p.y)) + u.ray_0.xyz);
    return scale3(octahedral_level(0u, u.background_side, octahedral(turn(ray))), u.environment_intensity);
}

// The sRGB8 code of a linear value: the largest k whose threshold is at most x; clamped to 0..1.
fn srgb8(x: f32) -> u32 {
    let clamped = bitcast<u32>(min(max(x, 0.0), 1.0)) & 0x7FFFFFFFu;
    let bucket = (max(clamped, SRGB8_GUESS_FROM) - SRGB8_GUESS_FROM) >> SRGB8_GUESS_SHIFT;
    let word = encoding.guesses[bucket >> 4u][(bucket >> 2u) & 3u];
    let guess = (word >> (8u * (bucket & 3u))) & 255u;
    let next = min(guess + 1u, 255u);
    let code = select(guess, next, encoding.thresholds[next >> 2u][next & 3u] <= bitcast<f32>(clamped));
    return select(code, 0u, clamped < SRGB8_GUESS_FROM);
}

fn put4(at: u32, value: vec4<f32>) {
    let flushed = bitcast<vec4<u32>>(flush4(value));
    frame[at] = flushed.x;
    frame[at + 1u] = flushed.y;
    frame[at + 2u] = flushed.z;
    frame[at + 3u] = flushed.w;
}

// What the data outputs hold where the first sample shows nothing.
fn put_nothing(pixel: u32) {
    if OUT_DEPTH {
        frame[band.depth_at + pixel] = 0x7F800000u;
    }
    if MOVING {
        frame[band.motion_at + pixel * 2u] = 0u;
        frame[band.motion_at + pixel * 2u + 1u] = 0u;
    }
    for (var k = 0u; k < 3u; k++) {
        if OUT_NORMAL {
            frame[band.normal_at + pixel * 3u + k] = 0u;
        }
        if OUT_ALBEDO {
            frame[band.albedo_at + pixel * 3u + k] = 0u;
        }
    }
    for (var k = 0u; k < 6u; k++) {
        if OUT_REFLECTANCE {
            frame[band.reflectance_at + pixel * 6u + k] = 0u;
        }
    }
    for (var k = 0u; k < 3u; k++) {
        if OUT_EMISSION {
            frame[band.emission_at + pixel * 3u + k] = 0u;
        }
    }
    if OUT_ID {
        frame[band.id_at + pixel * 2u] = 0u;
        frame[band.id_at + pixel * 2u + 1u] = 0u;
    }
}

// `display` is straight and display-referred.
fn put_color(pixel: u32, display: vec3<f32>, alpha: f32) {
    if SRGB8 {
        let code = u32(guard(mul(alpha, 255.0) + 0.5));
        frame[band.color_at + pixel] =
            srgb8(display.x) | (srgb8(display.y) << 8u) | (srgb8(display.z) << 16u) | (code << 24u);
    } else {
        put4(band.color_at + pixel * 4u, vec4<f32>(scale3(display, alpha), alpha));
    }
}

// Pixels of tiles that no triangle touches.
@compute @workgroup_size(WORKGROUP)
fn blank(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let last = band.tiles_x * band.tiles_y - 1u;
    let at = tile_pixel(order[last - (workgroup.y * DISPATCH_WIDTH + workgroup.x)], local);
    if at.x >= u.width || at.y + band.first_tile_row * TILE >= u.height {
        return;
    }
    let pixel = at.y * u.width + at.x;
    if OUT_DATA {
        put_nothing(pixel);
    }
    if OUT_BASE {
        put4(band.base_at + pixel * 4u, vec4<f32>(0.0));
    }
    if OUT_COLOR {
        if BACKGROUND == BACKGROUND_CONSTANT {
            put_color(pixel, u.background_linear.xyz, 1.0);
        } else if SRGB8 {
            frame[band.color_at + pixel] = 0u;
        } else {
            put4(band.color_at + pixel * 4u, vec4<f32>(0.0));
        }
    }
    if OUT_ID {
        for (var k = 0u; k < COVERAGE_WORDS; k++) {
            frame[band.coverage_at + pixel * COVERAGE_WORDS + k] = select(0u, SAMPLES, k == OWNER_WORDS - 1u);
        }
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let at = tile_pixel(order[workgroup.y * DISPATCH_WIDTH + workgroup.x], local);
    let x = at.x;
    let y = at.y;
    let absolute_y = y + band.first_tile_row * TILE;
    if x >= u.width || absolute_y >= u.height {
        return;
    }
    let pixel = y * u.width + x;
    var sum: Sum;
    var first_shown = false;
    if LAYERED {
        let fragments = pixels[pixel * 2u];
        let layers = pixels[pixel * 2u + 1u];
        let first = fragments >> 5u;
        sum = sum_layered(first, fragments & 31u, layers >> 7u, layers & 127u);
        first_shown = (fragments & 31u) > 0u && (item(first).z & ITEM_FIRST) != 0u;
    } else {
        let fragments = pixels[pixel];
        let first = fragments >> 5u;
        sum = sum_fragments(first, fragments & 31u);
        first_shown = (fragments & 31u) > 0u && (item(first).z & ITEM_FIRST) != 0u;
    }
    if OUT_DATA {
        if !first_shown {
            put_nothing(pixel);
        }
    }

    var rgb = sum.color.xyz;
    if TRACED {
        rgb = guard3(rgb + light_of_pixel((absolute_y - band.first_guide_row) * u.width + x).extra);
    }
    var alpha = min(sum.color.w, 1.0);
    if BACKGROUND == BACKGROUND_ENVIRONMENT {
        let p = guard2(
            mul2(vec2<f32>(vec2<i32>(i32(x), i32(absolute_y)) * 16 + vec2<i32>(8)), vec2<f32>(PX_PER_OFFSET))
                - mul2(vec2<f32>(f32(u.width), f32(u.height)), vec2<f32>(0.5)),
        );
        rgb = guard3(rgb + scale3(sky(p), sum.background));
        alpha = 1.0;
    }
    if OUT_BASE {
        put4(band.base_at + pixel * 4u, vec4<f32>(min(rgb, vec3<f32>(RADIANCE_MAX)), alpha));
    }
    if OUT_COLOR {
        let thin = alpha < FLUSH_BELOW;
        let divisor = select(alpha, 1.0, thin);
        let straight = select(recip(divisor), 1.0, divisor >= 1.0);
        let mapped = tonemapped(scale3(rgb, mul(straight, u.exposure)));
        var display = select(mapped, vec3<f32>(0.0), vec3<bool>(thin));
        if BACKGROUND == BACKGROUND_CONSTANT {
            display = guard3(scale3(display, alpha) + scale3(u.background_linear.xyz, guard(1.0 - alpha)));
            alpha = 1.0;
        }
        put_color(pixel, display, alpha);
    }
}
