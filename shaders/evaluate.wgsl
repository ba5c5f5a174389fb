// Evaluate: what an item looks like at its shading point. Twin of `evaluate` in raster/src/passes/surface.rs.
//#include surface
//#include tangent_space
//#include samples
//#include lobes
//#include srgb

fn is_layer(item: vec4<u32>) -> bool {
    return (item.z & ITEM_LAYER) != 0u;
}

// Whether the data outputs show the item.
fn is_first(item: vec4<u32>) -> bool {
    return (item.z & ITEM_FIRST) != 0u;
}

// An item's triangle at its shading point.
struct Spot {
    // Pixel, from the band's top left.
    x: u32,
    y: u32,
    triangle: u32,
    instance: u32,
    material: u32,
    // Of the material, and of the instance.
    flags: u32,
    drawn_flags: u32,
    // Whether light makes a difference.
    lit: bool,
    corners: Corners,
    clip: mat3x4<f32>,
    weights: Barycentrics,
    vertices: Attributes,
    at: Coordinates,
    frame: TangentSpace,
    // Zero where the primitive has none.
    normal: vec3<f32>,
}

fn spot_of(item: vec4<u32>) -> Spot {
    var s: Spot;
    s.triangle = item.x / PIECES;
    s.x = item.y & 0xFFFFu;
    s.y = item.y >> 16u;
    let p = point_px(s.x, s.y + band.first_tile_row * TILE, sample_offset((item.z >> 16u) & 0xFFu));
    s.instance = instance_of_triangle(s.triangle);
    s.material = instance_ids(s.instance).material;
    s.flags = material_flags(s.material);
    s.drawn_flags = instance_flags(s.instance).flags;
    let instance_lit = (s.drawn_flags & INSTANCE_UNLIT) == 0u;
    s.lit = instance_lit && (s.flags & MATERIAL_UNLIT) == 0u;
    s.corners = corners_of(s.instance, s.triangle);
    s.clip = clip_of(s.corners, 0u);
    s.weights = barycentrics(s.clip, p);
    s.vertices = attributes_of(s.corners);
    s.at = coordinates(s.weights, s.vertices);
    if LIT || OUT_NORMAL {
        let mirrored = (s.drawn_flags & INSTANCE_MIRRORED) != 0u;
        let double_sided = (s.flags & MATERIAL_DOUBLE_SIDED) != 0u;
        s.frame = tangent_space_of(s.instance, mirrored, double_sided, s.weights, s.vertices);
        var shading = s.frame.normal;
        if TEXTURED_NORMAL {
            let texture = material_texture(s.material, MATERIAL_NORMAL_TEXTURE);
            let t = lookup(texture, false, s.at);
            let mapped = mapped_normal(s.frame, t, material_factors(s.material).normal_scale);
            shading = select(shading, mapped, vec3<bool>(is_textured(texture)));
        }
        s.normal = select(s.normal, seen_normal(s.frame, shading), vec3<bool>(instance_lit));
    }
    return s;
}

fn spot_color(s: Spot) -> vec4<f32> {
    return base_color(s.drawn_flags, s.material, s.weights, s.vertices, s.at, true);
}

fn spot_depth(s: Spot) -> f32 {
    return mean(s.weights, vec3<f32>(s.clip[0].w, s.clip[1].w, s.clip[2].w));
}

// A point to be lit.
struct Surface {
    position_eye: vec3<f32>,
    normal: vec3<f32>,
    to_viewer: vec3<f32>,
    base: vec3<f32>,
    alpha: f32,
    metallic: f32,
    roughness: f32,
    occlusion: f32,
    emissive: vec3<f32>,
    lobes: Lobes,
}

// With the colour that the spot has.
fn surface_of(p: Spot, color: vec4<f32>) -> Surface {
    let v = p.vertices;
    let local_position = mean3(p.weights, v.p.position, v.q.position, v.r.position);
    let position_eye = eye_from_local(p.instance, local_position);
    var to_viewer = u.to_viewer.xyz;
    if !ORTHOGRAPHIC {
        to_viewer = normalize3(-position_eye);
    }
    let factors = material_factors(p.material);
    var s = Surface(
        position_eye,
        p.normal,
        to_viewer,
        color.xyz,
        color.w,
        factors.metallic,
        factors.roughness,
        1.0,
        material_emission(p.material).emissive,
        Lobes(),
    );
    if WITH_LOBES && (p.drawn_flags & INSTANCE_UNLIT) == 0u && (p.flags & LOBES) != 0u {
        s.lobes = lobes_of(p.material, p.flags, instance_flags(p.instance).scale, p.at, p.frame, p.normal);
    }
    if TEXTURED_METALLIC_ROUGHNESS {
        let texture = material_texture(p.material, MATERIAL_METALLIC_ROUGHNESS_TEXTURE);
        let t = lookup(texture, false, p.at);
        s.roughness = select(s.roughness, mul(s.roughness, t.y), is_textured(texture));
        s.metallic = select(s.metallic, mul(s.metallic, t.z), is_textured(texture));
    }
    if TEXTURED_OCCLUSION {
        let texture = material_texture(p.material, MATERIAL_OCCLUSION_TEXTURE);
        let t = lookup(texture, false, p.at);
        let occlusion = guard(mul(guard(t.x - 1.0), factors.occlusion_strength) + 1.0);
        s.occlusion = select(1.0, max(occlusion, 0.0), is_textured(texture));
    }
    if TEXTURED_EMISSIVE {
        let texture = material_texture(p.material, MATERIAL_EMISSIVE_TEXTURE);
        let t = lookup(texture, true, p.at);
        s.emissive = select(s.emissive, mul3(s.emissive, t.xyz), vec3<bool>(is_textured(texture)));
    }
    return s;
}
