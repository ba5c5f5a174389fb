// Materials as a list of MATERIAL_PARTS vec4<u32> each. Twin of PackedMaterial and PackedTexture in
// raster/src/prepared.rs.
//#include frame

@group(0) @binding(3) var materials: texture_2d<u32>;

fn material_part(k: u32, part: u32) -> vec4<u32> {
    return textureLoad(materials, place(k * MATERIAL_PARTS + part), 0);
}

fn material_base_color(k: u32) -> vec4<f32> {
    return bitcast<vec4<f32>>(material_part(k, MATERIAL_BASE_COLOR));
}

struct Emission {
    emissive: vec3<f32>,
    cutoff: f32,
}

fn material_emission(k: u32) -> Emission {
    let p = bitcast<vec4<f32>>(material_part(k, MATERIAL_EMISSIVE));
    return Emission(p.xyz, p.w);
}

struct Factors {
    metallic: f32,
    roughness: f32,
    normal_scale: f32,
    occlusion_strength: f32,
}

fn material_factors(k: u32) -> Factors {
    let p = bitcast<vec4<f32>>(material_part(k, MATERIAL_METALLIC));
    return Factors(p.x, p.y, p.z, p.w);
}

fn material_flags(k: u32) -> u32 {
    return material_part(k, MATERIAL_FLAGS).x;
}

// Factors of the extensions; zero where their bits of the flags are not set.
struct Dielectric {
    specular_color: vec3<f32>,
    specular: f32,
}

fn material_dielectric(k: u32) -> Dielectric {
    let p = bitcast<vec4<f32>>(material_part(k, MATERIAL_SPECULAR_COLOR));
    return Dielectric(p.xyz, p.w);
}

struct Clearcoat {
    ior: f32,
    clearcoat: f32,
    clearcoat_roughness: f32,
    clearcoat_normal_scale: f32,
}

fn material_clearcoat(k: u32) -> Clearcoat {
    let p = bitcast<vec4<f32>>(material_part(k, MATERIAL_IOR));
    return Clearcoat(p.x, p.y, p.z, p.w);
}

struct Sheen {
    sheen_color: vec3<f32>,
    sheen_roughness: f32,
}

fn material_sheen(k: u32) -> Sheen {
    let p = bitcast<vec4<f32>>(material_part(k, MATERIAL_SHEEN_COLOR));
    return Sheen(p.xyz, p.w);
}

struct Anisotropy {
    anisotropy: f32,
    transmission: f32,
    anisotropy_direction: vec2<f32>,
}

fn material_anisotropy(k: u32) -> Anisotropy {
    let p = bitcast<vec4<f32>>(material_part(k, MATERIAL_ANISOTROPY));
    return Anisotropy(p.x, p.y, p.zw);
}

struct Volume {
    attenuation: vec3<f32>,
    thickness: f32,
}

fn material_volume(k: u32) -> Volume {
    let p = bitcast<vec4<f32>>(material_part(k, MATERIAL_ATTENUATION));
    return Volume(p.xyz, p.w);
}

struct Iridescence {
    iridescence: f32,
    iridescence_ior: f32,
    iridescence_thickness_min: f32,
    iridescence_thickness_max: f32,
}

fn material_iridescence(k: u32) -> Iridescence {
    let p = bitcast<vec4<f32>>(material_part(k, MATERIAL_IRIDESCENCE));
    return Iridescence(p.x, p.y, p.z, p.w);
}

struct PackedTexture {
    // The rows that u' and v' are made with.
    uv_transform: mat2x3<f32>,
    uv_set: u32,
    first_texel: u32,
    width: u32,
    height: u32,
    level_count: u32,
    flags: u32,
}

// `part` is one of MATERIAL_BASE_COLOR_TEXTURE and the like.
fn material_texture(k: u32, part: u32) -> PackedTexture {
    let a = material_part(k, part);
    let b = material_part(k, part + 1u);
    let c = material_part(k, part + 2u);
    return PackedTexture(
        mat2x3<f32>(bitcast<vec3<f32>>(a.xyz), bitcast<vec3<f32>>(vec3<u32>(a.w, b.xy))),
        b.z,
        b.w,
        c.x,
        c.y,
        c.z,
        c.w,
    );
}

fn is_textured(t: PackedTexture) -> bool {
    return t.level_count > 0u;
}
