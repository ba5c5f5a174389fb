// Sky: the environment as single rays see and sample it. Twin of raster/src/passes/sky.rs. Who includes this binds the
// lists `background` and `distribution`.
//#include octahedron
//#include sequence

fn map_texel(at: u32) -> vec3<f32> {
    return bitcast<vec3<f32>>(textureLoad(background, place(at), 0).xyz);
}

// A direction drawn from the sky.
struct SkySample {
    // Unit. *Space*: world axes.
    direction: vec3<f32>,
    // Density. *Units*: 1 / steradian.
    pdf: f32,
}

// A whole number as f32, rounded once.
fn f32_from_u32(x: u32) -> f32 {
    return guard(mul(f32(x >> 16u), HIGH_HALF) + f32(x & 0xFFFFu));
}

// Masses before each row, then before each cell of each row.
fn sky_mass(at: u32) -> u32 {
    return textureLoad(distribution, place(at >> 2u), 0)[at & 3u];
}

// The entry whose stretch of the cumulated masses from `first` on holds `at`.
fn find_mass(first: u32, at: u32) -> u32 {
    var low = 0u;
    var high = tracing.sky_side;
    while high - low > 1u {
        let middle = (low + high) / 2u;
        if sky_mass(first + middle) <= at {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

fn first_cell(y: u32) -> u32 {
    return (y + 1u) * (tracing.sky_side + 1u);
}

fn turned_back(d: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(
        guard(mul(d.x, u.environment_cos) - mul(d.z, u.environment_sin)),
        d.y,
        guard(mul(d.z, u.environment_cos) + mul(d.x, u.environment_sin)),
    );
}

fn signed_by(v: f32, by: f32) -> f32 {
    return select(v, -v, by < -FLUSH_BELOW);
}

// Place in the octahedral map, 0 to 1 twice.
fn sky_place(d: vec3<f32>) -> vec2<f32> {
    let p = scale3(d, recip(max(sum3(abs(d)), FLUSH_BELOW)));
    let folded = vec2<f32>(signed_by(guard(1.0 - abs(p.z)), p.x), signed_by(guard(1.0 - abs(p.x)), p.z));
    let at = select(p.xz, folded, vec2<bool>(p.y < -FLUSH_BELOW));
    return guard2(mul2(at, vec2<f32>(0.5)) + vec2<f32>(0.5));
}

// The point of the octahedron at a place in the map, -1 to 1 twice.
fn on_octahedron(px: f32, pz: f32) -> vec3<f32> {
    let y = guard(guard(1.0 - abs(px)) - abs(pz));
    let folded = vec3<f32>(signed_by(guard(1.0 - abs(pz)), px), y, signed_by(guard(1.0 - abs(px)), pz));
    return select(vec3<f32>(px, y, pz), folded, vec3<bool>(y < -FLUSH_BELOW));
}

// Radiance from a direction.
fn sky_radiance(direction: vec3<f32>) -> vec3<f32> {
    let texel = octahedral_level(0u, u.background_side, sky_place(turn(direction)));
    return scale3(texel, u.environment_intensity);
}

fn cell_share(first: u32, k: u32) -> f32 {
    return mul(f32_from_u32(sky_mass(first + k + 1u) - sky_mass(first + k)), MASS_UNIT);
}

// Density of a unit direction in a cell.
fn sky_density(x: u32, y: u32, d: vec3<f32>) -> f32 {
    let mass = mul(cell_share(0u, y), cell_share(first_cell(y), x));
    let inverse = recip(sum3(abs(d)));
    let cells = f32(tracing.sky_side * tracing.sky_side);
    return mul(mul(mul(mass, cells), MAP_STRETCH), mul(mul(inverse, inverse), inverse));
}

fn sky_coordinate(k: u32, bits: u32, inverse_side: f32) -> f32 {
    return guard(mul(mul(guard(f32(k) + unit(bits)), inverse_side), 2.0) - 1.0);
}

// Draws a direction: `cell` picks the cell, `point` the place in it.
fn sky_sample(cell: vec2<u32>, point: vec2<u32>) -> SkySample {
    let y = find_mass(0u, cell.x >> 1u);
    let x = find_mass(first_cell(y), cell.y >> 1u);
    let inverse_side = recip(f32(tracing.sky_side));
    let at = on_octahedron(
        sky_coordinate(x, point.x, inverse_side),
        sky_coordinate(y, point.y, inverse_side),
    );
    let direction = normalize3(at);
    return SkySample(turned_back(direction), sky_density(x, y, direction));
}

// Density with which a direction is drawn.
fn sky_pdf(direction: vec3<f32>) -> f32 {
    let d = turn(direction);
    let side = f32(tracing.sky_side);
    let cell = vec2<u32>(min(max(mul2(sky_place(d), vec2<f32>(side)), vec2<f32>(0.0)), vec2<f32>(side - 1.0)));
    return sky_density(cell.x, cell.y, d);
}
