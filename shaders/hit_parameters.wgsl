// What a surface is made of where a ray meets it. Twin of raster/src/passes/hit/parameters.rs.
//#include hit
//#include tangent_space
//#include basis
//#include parameters

// Normal, tangent and bitangent of the mesh, on the front side.
fn hit_frame(p: HitPlace) -> TangentSpace {
    let c = p.corners;
    let n = normalize3(transform_vector(
        instance_row(p.instance, INSTANCE_NORMAL_FROM_LOCAL),
        instance_row(p.instance, INSTANCE_NORMAL_FROM_LOCAL + 1u),
        instance_row(p.instance, INSTANCE_NORMAL_FROM_LOCAL + 2u),
        hit_mean3(p, c.p.normal, c.q.normal, c.r.normal),
    ));
    var tangent = n;
    var bitangent = n;
    if TEXTURED_NORMAL || CLEARCOAT || ANISOTROPY {
        let handedness = c.p.tangent.w;
        let side = select(handedness, -handedness, (p.flags & INSTANCE_MIRRORED) != 0u);
        let along = transform_vector(
            instance_row(p.instance, INSTANCE_EYE_FROM_LOCAL),
            instance_row(p.instance, INSTANCE_EYE_FROM_LOCAL + 1u),
            instance_row(p.instance, INSTANCE_EYE_FROM_LOCAL + 2u),
            hit_mean3(p, c.p.tangent.xyz, c.q.tangent.xyz, c.r.tangent.xyz),
        );
        tangent = normalize3(guard3(along - scale3(n, dot3(n, along))));
        bitangent = scale3(cross3(n, tangent), side);
    }
    return TangentSpace(n, tangent, bitangent, false);
}

// 1 where there is no texture.
fn hit_texture(p: HitPlace, part: u32, srgb: bool) -> vec4<f32> {
    let t = material_texture(p.material, part);
    if !is_textured(t) {
        return vec4<f32>(1.0);
    }
    return hit_lookup(t, srgb, p);
}

// The normal of a map, towards the side that is seen; the mesh's where there is none.
fn hit_normal(p: HitPlace, f: TangentSpace, part: u32, scale: f32, behind: bool) -> vec3<f32> {
    let t = material_texture(p.material, part);
    var n = f.normal;
    if is_textured(t) {
        n = mapped_normal(f, hit_lookup(t, false, p), scale);
    }
    return select(n, -n, vec3<bool>(behind));
}

// As seen from its back where `behind`; `base` is its colour.
fn hit_parameters(p: HitPlace, base: vec3<f32>, behind: bool) -> BsdfParameters {
    let f = hit_frame(p);
    let factors = material_factors(p.material);
    var normal = select(f.normal, -f.normal, vec3<bool>(behind));
    if TEXTURED_NORMAL {
        normal = hit_normal(p, f, MATERIAL_NORMAL_TEXTURE, factors.normal_scale, behind);
    }
    var out = plain_parameters(normal, basis_across(normal).s);
    out.base = base;
    out.metallic = factors.metallic;
    out.roughness = factors.roughness;
    out.outside = !behind;
    if TEXTURED_METALLIC_ROUGHNESS {
        let t = hit_texture(p, MATERIAL_METALLIC_ROUGHNESS_TEXTURE, false);
        out.roughness = mul(out.roughness, t.y);
        out.metallic = mul(out.metallic, t.z);
    }
    if WITH_LOBES {
        hit_lobes(p, f, behind, &out);
    }
    return out;
}

// What the material extensions add.
fn hit_lobes(p: HitPlace, f: TangentSpace, behind: bool, out: ptr<function, BsdfParameters>) {
    let m = p.material;
    let flags = material_flags(m);
    let coat = material_clearcoat(m);
    if (flags & (LOBE_SPECULAR | LOBE_TRANSMISSION | LOBE_IRIDESCENCE)) != 0u {
        (*out).ior = coat.ior;
    }
    if SPECULAR && (flags & LOBE_SPECULAR) != 0u {
        let d = material_dielectric(m);
        (*out).specular = mul(d.specular, hit_texture(p, MATERIAL_SPECULAR_TEXTURE, false).w);
        (*out).specular_color = mul3(d.specular_color, hit_texture(p, MATERIAL_SPECULAR_COLOR_TEXTURE, true).xyz);
    }
    if CLEARCOAT && (flags & LOBE_CLEARCOAT) != 0u {
        (*out).clearcoat = mul(coat.clearcoat, hit_texture(p, MATERIAL_CLEARCOAT_TEXTURE, false).x);
        let roughness = hit_texture(p, MATERIAL_CLEARCOAT_ROUGHNESS_TEXTURE, false).y;
        (*out).clearcoat_roughness = mul(coat.clearcoat_roughness, roughness);
        (*out).clearcoat_normal =
            hit_normal(p, f, MATERIAL_CLEARCOAT_NORMAL_TEXTURE, coat.clearcoat_normal_scale, behind);
    }
    if SHEEN && (flags & LOBE_SHEEN) != 0u {
        let sheen = material_sheen(m);
        (*out).sheen_color = mul3(sheen.sheen_color, hit_texture(p, MATERIAL_SHEEN_COLOR_TEXTURE, true).xyz);
        let roughness = hit_texture(p, MATERIAL_SHEEN_ROUGHNESS_TEXTURE, false).w;
        (*out).sheen_roughness = mul(sheen.sheen_roughness, roughness);
    }
    if ANISOTROPY && (flags & LOBE_ANISOTROPY) != 0u {
        let a = material_anisotropy(m);
        let d = a.anisotropy_direction;
        var along = d;
        (*out).anisotropy = a.anisotropy;
        let map = material_texture(m, MATERIAL_ANISOTROPY_TEXTURE);
        if is_textured(map) {
            let t = hit_lookup(map, false, p);
            let x = guard(mul(t.x, 2.0) - 1.0);
            let y = guard(mul(t.y, 2.0) - 1.0);
            along = vec2<f32>(guard(mul(x, d.x) - mul(y, d.y)), guard(mul(x, d.y) + mul(y, d.x)));
            (*out).anisotropy = mul(a.anisotropy, t.z);
        }
        let direction = guard3(scale3(f.tangent, along.x) + scale3(f.bitangent, along.y));
        let n = (*out).normal;
        (*out).tangent = normalize3(guard3(direction - scale3(n, dot3(n, direction))));
    }
    if TRANSMISSION && (flags & LOBE_TRANSMISSION) != 0u {
        let share = hit_texture(p, MATERIAL_TRANSMISSION_TEXTURE, false).x;
        (*out).transmission = mul(material_anisotropy(m).transmission, share);
        (*out).thin = (flags & LOBE_VOLUME) == 0u;
    }
    if IRIDESCENCE && (flags & LOBE_IRIDESCENCE) != 0u {
        let film = material_iridescence(m);
        (*out).iridescence = mul(film.iridescence, hit_texture(p, MATERIAL_IRIDESCENCE_TEXTURE, false).x);
        (*out).iridescence_ior = film.iridescence_ior;
        let thinnest = film.iridescence_thickness_min;
        let thickest = film.iridescence_thickness_max;
        let map = material_texture(m, MATERIAL_IRIDESCENCE_THICKNESS_TEXTURE);
        (*out).iridescence_thickness_nm = thickest;
        if is_textured(map) {
            let t = hit_lookup(map, false, p).y;
            (*out).iridescence_thickness_nm = guard(mul(t, guard(thickest - thinnest)) + thinnest);
        }
    }
}
