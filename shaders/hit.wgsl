// What a ray finds where it meets a triangle. Twin of raster/src/passes/hit.rs.
//#include origin
//#include tree

// A triangle with its corners fetched, and where on it the point is.
struct HitPlace {
    instance: u32,
    material: u32,
    flags: u32,
    corners: Attributes,
    weights: vec3<f32>,
}

fn hit_place(hit: Hit) -> HitPlace {
    return HitPlace(
        hit.instance,
        instance_ids(hit.instance).material,
        instance_flags(hit.instance).flags,
        attributes_of(corners_of(hit.instance, hit.triangle)),
        hit.weights,
    );
}

// (w0 v0 + w1 v1) + w2 v2 per component.
fn hit_mean3(p: HitPlace, a: vec3<f32>, b: vec3<f32>, c: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(
        dot3(p.weights, vec3<f32>(a.x, b.x, c.x)),
        dot3(p.weights, vec3<f32>(a.y, b.y, c.y)),
        dot3(p.weights, vec3<f32>(a.z, b.z, c.z)),
    );
}

// *Space*: eye.
fn hit_position_eye(p: HitPlace) -> vec3<f32> {
    let c = p.corners;
    return eye_from_local(p.instance, hit_mean3(p, c.p.position, c.q.position, c.r.position));
}

// A texture at its finest level.
fn hit_lookup(t: PackedTexture, srgb: bool, p: HitPlace) -> vec4<f32> {
    let second = vec2<bool>(t.uv_set == 1u);
    let a = select(p.corners.p.uv0, p.corners.p.uv1, second);
    let b = select(p.corners.q.uv0, p.corners.q.uv1, second);
    let c = select(p.corners.r.uv0, p.corners.r.uv1, second);
    let uv = vec2<f32>(dot3(p.weights, vec3<f32>(a.x, b.x, c.x)), dot3(p.weights, vec3<f32>(a.y, b.y, c.y)));
    return sample_finest(t, srgb, uv);
}

// Base colour with alpha: factor × texture × vertex colour.
fn hit_base_color(p: HitPlace, srgb: bool) -> vec4<f32> {
    var color = material_base_color(p.material);
    if TEXTURED_BASE {
        let t = material_texture(p.material, MATERIAL_BASE_COLOR_TEXTURE);
        let textured = mul4(color, hit_lookup(t, srgb, p));
        color = select(color, textured, vec4<bool>(is_textured(t)));
    }
    if COLORED {
        let vertex = vertex_color(p.corners, p.weights);
        let colored = mul4(color, mul4(vertex, vec4<f32>(INVERSE_65535)));
        color = select(color, colored, vec4<bool>((p.flags & INSTANCE_COLORED) != 0u));
    }
    return color;
}

// Emitted radiance, whichever side it is seen from.
fn hit_emission(p: HitPlace) -> vec3<f32> {
    let emissive = material_emission(p.material).emissive;
    if !TEXTURED_EMISSIVE {
        return emissive;
    }
    let t = material_texture(p.material, MATERIAL_EMISSIVE_TEXTURE);
    return select(emissive, mul3(emissive, hit_lookup(t, true, p).xyz), vec3<bool>(is_textured(t)));
}

// Whether a hit casts a hard shadow.
fn casts_shadow(hit: Hit) -> bool {
    let p = hit_place(hit);
    let blended = (material_flags(p.material) & MATERIAL_BLEND) != 0u;
    let alpha = hit_base_color(p, false).w;
    return alpha >= select(material_emission(p.material).cutoff, SHADOW_ALPHA, blended);
}
