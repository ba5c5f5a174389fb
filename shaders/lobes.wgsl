// Lobes: what the material extensions add to a point of a surface. Twin of raster/src/passes/lobes.rs.
//#include surface
//#include tangent_space

// Parameters of the lobes. Those whose bit of `flags` is not set mean nothing.
struct Lobes {
    flags: u32,
    specular: f32,
    specular_color: vec3<f32>,
    ior: f32,
    clearcoat: f32,
    clearcoat_roughness: f32,
    clearcoat_normal: vec3<f32>,
    sheen_color: vec3<f32>,
    sheen_roughness: f32,
    anisotropy: f32,
    tangent: vec3<f32>,
    transmission: f32,
    thickness: f32,
    attenuation: vec3<f32>,
    iridescence: f32,
    iridescence_ior: f32,
    iridescence_thickness_nm: f32,
}

fn has_lobe(l: Lobes, lobe: u32) -> bool {
    return (l.flags & lobe) != 0u;
}

// 1 where there is no texture.
fn lobe_texture(material: u32, part: u32, srgb: bool, at: Coordinates) -> vec4<f32> {
    let t = material_texture(material, part);
    if !is_textured(t) {
        return vec4<f32>(1.0);
    }
    return lookup(t, srgb, at);
}

// `normal` is the surface's, turned to the viewer's side.
fn lobes_of(material: u32, flags: u32, scale: f32, at: Coordinates, f: TangentSpace, normal: vec3<f32>) -> Lobes {
    var l: Lobes;
    l.flags = flags & LOBES;
    let coat = material_clearcoat(material);
    l.ior = coat.ior;
    if SPECULAR && has_lobe(l, LOBE_SPECULAR) {
        let m = material_dielectric(material);
        l.specular = mul(m.specular, lobe_texture(material, MATERIAL_SPECULAR_TEXTURE, false, at).w);
        let color = lobe_texture(material, MATERIAL_SPECULAR_COLOR_TEXTURE, true, at).xyz;
        l.specular_color = mul3(m.specular_color, color);
    }
    if CLEARCOAT && has_lobe(l, LOBE_CLEARCOAT) {
        l.clearcoat = mul(coat.clearcoat, lobe_texture(material, MATERIAL_CLEARCOAT_TEXTURE, false, at).x);
        let roughness = lobe_texture(material, MATERIAL_CLEARCOAT_ROUGHNESS_TEXTURE, false, at).y;
        l.clearcoat_roughness = mul(coat.clearcoat_roughness, roughness);
        let map = material_texture(material, MATERIAL_CLEARCOAT_NORMAL_TEXTURE);
        var coat_normal = f.normal;
        if is_textured(map) {
            coat_normal = mapped_normal(f, lookup(map, false, at), coat.clearcoat_normal_scale);
        }
        l.clearcoat_normal = seen_normal(f, coat_normal);
    }
    if SHEEN && has_lobe(l, LOBE_SHEEN) {
        let m = material_sheen(material);
        l.sheen_color = mul3(m.sheen_color, lobe_texture(material, MATERIAL_SHEEN_COLOR_TEXTURE, true, at).xyz);
        let roughness = lobe_texture(material, MATERIAL_SHEEN_ROUGHNESS_TEXTURE, false, at).w;
        l.sheen_roughness = mul(m.sheen_roughness, roughness);
    }
    if ANISOTROPY && has_lobe(l, LOBE_ANISOTROPY) {
        let m = material_anisotropy(material);
        l.anisotropy = m.anisotropy;
        let d = m.anisotropy_direction;
        var along = d.x;
        var across = d.y;
        let map = material_texture(material, MATERIAL_ANISOTROPY_TEXTURE);
        if is_textured(map) {
            let t = lookup(map, false, at);
            let x = guard(mul(t.x, 2.0) - 1.0);
            let y = guard(mul(t.y, 2.0) - 1.0);
            along = guard(mul(x, d.x) - mul(y, d.y));
            across = guard(mul(x, d.y) + mul(y, d.x));
            l.anisotropy = mul(l.anisotropy, t.z);
        }
        let direction = guard3(scale3(f.tangent, along) + scale3(f.bitangent, across));
        l.tangent = normalize3(guard3(direction - scale3(normal, dot3(normal, direction))));
    }
    if TRANSMISSION && has_lobe(l, LOBE_TRANSMISSION) {
        let share = lobe_texture(material, MATERIAL_TRANSMISSION_TEXTURE, false, at).x;
        l.transmission = mul(material_anisotropy(material).transmission, share);
    }
    if VOLUME && has_lobe(l, LOBE_VOLUME) {
        let m = material_volume(material);
        let depth = mul(m.thickness, lobe_texture(material, MATERIAL_THICKNESS_TEXTURE, false, at).y);
        l.thickness = mul(depth, scale);
        l.attenuation = m.attenuation;
    }
    if IRIDESCENCE && has_lobe(l, LOBE_IRIDESCENCE) {
        let m = material_iridescence(material);
        l.iridescence = mul(m.iridescence, lobe_texture(material, MATERIAL_IRIDESCENCE_TEXTURE, false, at).x);
        l.iridescence_ior = m.iridescence_ior;
        let thinnest = m.iridescence_thickness_min;
        let thickest = m.iridescence_thickness_max;
        let map = material_texture(material, MATERIAL_IRIDESCENCE_THICKNESS_TEXTURE);
        l.iridescence_thickness_nm = thickest;
        if is_textured(map) {
            l.iridescence_thickness_nm = guard(mul(lookup(map, false, at).y, guard(thickest - thinnest)) + thinnest);
        }
    }
    return l;
}
