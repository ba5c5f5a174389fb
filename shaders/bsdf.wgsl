// How a surface scatters light. Twin of raster/src/passes/bsdf.rs and what lies below it. Who includes this has
// `table`, and says with CLEARCOAT, SHEEN, ANISOTROPY, TRANSMISSION and IRIDESCENCE what surfaces may have.
//#include vector
//#include bsdf_facets
//#include bsdf_film

struct BsdfScattered {
    diffuse: vec3<f32>,
    specular: vec3<f32>,
    pdf: f32,
}

struct BsdfSampled {
    to_light: vec3<f32>,
    scattered: BsdfScattered,
    is_diffuse: bool,
    transmitted: bool,
    // False where nothing is scattered.
    found: bool,
}

struct BsdfAlbedo {
    white: f32,
    single: vec3<f32>,
    multiple: vec3<f32>,
    rest: vec3<f32>,
}

struct BsdfCoat {
    present: bool,
    frame: BsdfFrame,
    facets: BsdfFacets,
    weight: f32,
    albedo: f32,
    keep: f32,
}

struct BsdfSheen {
    present: bool,
    n_dot_v: f32,
    exponent: f32,
    scale: vec3<f32>,
    albedo: vec3<f32>,
    keep: f32,
}

struct BsdfTransmission {
    present: bool,
    thin: bool,
    inside: bool,
    weight: f32,
    tint: vec3<f32>,
    ratio: f32,
    albedo: vec3<f32>,
    more: vec3<f32>,
}

struct BsdfChance {
    diffuse: f32,
    cosine: f32,
    facets: f32,
    transmission: f32,
    sheen: f32,
    coat: f32,
}

struct Bsdf {
    frame: BsdfFrame,
    facets: BsdfFacets,
    fresnel: BsdfFresnel,
    albedo: BsdfAlbedo,
    coat: BsdfCoat,
    sheen: BsdfSheen,
    transmission: BsdfTransmission,
    keep: f32,
    diffuse_reflectance: vec3<f32>,
    specular_reflectance: vec3<f32>,
    chance: BsdfChance,
}

fn bsdf_albedo(f: BsdfFresnel, split: vec2<f32>, anisotropy: f32) -> BsdfAlbedo {
    let single = guard3(scale3(f.f0, split.x) + scale3(f.f90, split.y));
    let white = guard(split.x + split.y);
    let missing = guard(1.0 - white);
    let average = guard3(f.f0 + scale3(guard3(f.f90 - f.f0), FRESNEL_MEAN));
    let again = bsdf_recip3(guard3(vec3<f32>(1.0) - scale3(average, missing)));
    let multiple = scale3(mul3(mul3(single, average), again), missing);
    let rest = guard3(guard3(vec3<f32>(1.0) - single) - multiple);
    return BsdfAlbedo(white, single, scale3(multiple, guard(1.0 - anisotropy)), rest);
}

fn bsdf_coat(p: BsdfParameters, to_viewer: vec3<f32>) -> BsdfCoat {
    let frame = bsdf_frame(p.clearcoat_normal, p.tangent);
    let view = bsdf_seen(bsdf_local(frame, to_viewer));
    let roughness = min(max(p.clearcoat_roughness, ROUGHNESS_MIN), 1.0);
    let alpha = mul(roughness, roughness);
    let present = p.clearcoat > BSDF_LOBE_PRESENT;
    let split = bsdf_dfg(view.z, roughness);
    let whole = mul(p.clearcoat, guard(mul(DIELECTRIC_F0, split.x) + split.y));
    let albedo = select(0.0, whole, present);
    return BsdfCoat(present, frame, bsdf_facets(vec2<f32>(alpha), view), p.clearcoat, albedo, guard(1.0 - albedo));
}

// Cosine-weighted, and the density.
fn bsdf_coat_evaluate(c: BsdfCoat, to_light: vec3<f32>) -> vec2<f32> {
    let light = bsdf_local(c.frame, to_light);
    if light.z < BSDF_NOL_MIN {
        return vec2<f32>(0.0);
    }
    let half = normalize3(guard3(light + c.facets.view));
    let distribution = bsdf_distribution(c.facets, half);
    let grazing = bsdf_grazing5(dot3(c.facets.view, half));
    let reflected = guard(DIELECTRIC_F0 + mul(guard(1.0 - DIELECTRIC_F0), grazing));
    let value = mul(mul(c.weight, reflected), mul(distribution, bsdf_visibility_cosine(c.facets, light)));
    return vec2<f32>(value, mul(distribution, bsdf_masking(c.facets)));
}

fn bsdf_sheen(p: BsdfParameters, n_dot_v: f32) -> BsdfSheen {
    let roughness = min(max(p.sheen_roughness, BSDF_SHEEN_ROUGHNESS_MIN), 1.0);
    let inverse_alpha = recip(mul(roughness, roughness));
    let largest = max(max(p.sheen_color.x, p.sheen_color.y), p.sheen_color.z);
    let present = largest > BSDF_LOBE_PRESENT;
    let whole = select(0.0, max(bsdf_sheen_table(n_dot_v, roughness), 0.0), present);
    let shown = min(whole, 1.0);
    let scale = mul(mul(mul(guard(2.0 + inverse_alpha), BSDF_UNIFORM_PDF), BSDF_QUARTER), recip(max(whole, 1.0)));
    return BsdfSheen(
        present,
        n_dot_v,
        mul(0.5, inverse_alpha),
        scale3(p.sheen_color, scale),
        scale3(p.sheen_color, shown),
        guard(1.0 - mul(largest, shown)),
    );
}

fn bsdf_sheen_evaluate(s: BsdfSheen, n_dot_l: f32, half: vec3<f32>) -> vec3<f32> {
    let sine2 = guard(mul(half.x, half.x) + mul(half.y, half.y));
    let distribution = exp_two(mul(log_two(sine2), s.exponent));
    let divisor = guard(guard(n_dot_l + s.n_dot_v) - mul(n_dot_l, s.n_dot_v));
    return scale3(s.scale, mul(mul(distribution, n_dot_l), recip(divisor)));
}

// Squared cosine on the other side of a facet, negative where there is none.
fn bsdf_cosine2(t: BsdfTransmission, cosine: f32) -> f32 {
    return guard(1.0 - mul(mul(t.ratio, t.ratio), guard(1.0 - mul(cosine, cosine))));
}

fn bsdf_beyond(t: BsdfTransmission, f: BsdfFresnel, cosine: f32) -> vec3<f32> {
    if !t.inside {
        return bsdf_schlick(f, cosine);
    }
    let square = bsdf_cosine2(t, cosine);
    if square > BSDF_FACING_MIN {
        return bsdf_schlick(f, root(square));
    }
    return vec3<f32>(1.0);
}

fn bsdf_transmission_fresnel(t: BsdfTransmission, f: BsdfFresnel, cosine: f32) -> vec3<f32> {
    let reflected = bsdf_schlick(f, cosine);
    if TRANSMISSION && t.inside {
        return guard3(reflected + scale3(guard3(bsdf_beyond(t, f, cosine) - reflected), t.weight));
    }
    return reflected;
}

fn bsdf_transmission(p: BsdfParameters, f: BsdfFresnel, albedo: BsdfAlbedo, n_dot_v: f32) -> BsdfTransmission {
    let share = mul(guard(1.0 - p.metallic), p.transmission);
    let present = share > BSDF_LOBE_PRESENT;
    let weight = select(0.0, share, present);
    let inside = present && !p.thin && !p.outside;
    let ior = max(p.ior, BSDF_VOLUME_IOR_MIN);
    let tint = scale3(p.base, weight);
    let ratio = select(ior, recip(ior), p.outside);
    var lobe = BsdfTransmission(present, p.thin, inside, weight, tint, ratio, mul3(albedo.rest, tint), vec3<f32>(0.0));
    if p.thin {
        let once = guard3(vec3<f32>(albedo.white) - albedo.single);
        lobe.tint = mul3(mul3(tint, albedo.rest), bsdf_recip3(max(once, vec3<f32>(BSDF_THIN_MIN))));
    }
    if inside {
        lobe.more = guard3(bsdf_transmission_fresnel(lobe, f, n_dot_v) - bsdf_schlick(f, n_dot_v));
        lobe.albedo = mul3(lobe.tint, guard3(vec3<f32>(1.0) - bsdf_beyond(lobe, f, n_dot_v)));
    }
    return lobe;
}

// Cosine-weighted, and the density in w.
fn bsdf_transmission_evaluate(t: BsdfTransmission, f: BsdfFresnel, facets: BsdfFacets, light: vec3<f32>) -> vec4<f32> {
    let view = facets.view;
    if t.thin {
        let mirrored = vec3<f32>(light.xy, -light.z);
        let half = normalize3(guard3(mirrored + view));
        let distribution = bsdf_distribution(facets, half);
        let share = mul3(t.tint, guard3(vec3<f32>(1.0) - bsdf_schlick(f, dot3(view, half))));
        let value = scale3(share, mul(distribution, bsdf_visibility_cosine(facets, mirrored)));
        return vec4<f32>(value, mul(distribution, bsdf_masking(facets)));
    }
    let either = normalize3(guard3(scale3(view, t.ratio) + light));
    let half = select(either, -either, either.z < -BSDF_FACING_MIN);
    let v = dot3(view, half);
    let l = dot3(light, half);
    if v < BSDF_FACING_MIN || l > -BSDF_FACING_MIN {
        return vec4<f32>(0.0);
    }
    let sum = guard(mul(t.ratio, v) + l);
    let spread = mul(-l, recip(max(mul(sum, sum), BSDF_SPREAD_MIN)));
    let seen = mul(bsdf_distribution(facets, half), bsdf_masking(facets));
    let density = mul(seen, mul(mul(BSDF_FACET_SHARE, v), spread));
    let share = mul3(t.tint, guard3(vec3<f32>(1.0) - bsdf_beyond(t, f, v)));
    return vec4<f32>(scale3(share, density), density);
}

fn bsdf_weight(luminance: f32) -> f32 {
    return select(0.0, max(luminance, BSDF_LOBE_MIN), luminance > BSDF_LOBE_PRESENT);
}

fn bsdf_chance(diffuse: vec3<f32>, multiple: vec3<f32>, lobes: array<vec3<f32>, 4>) -> BsdfChance {
    let of_diffuse = dot3(BSDF_LUMINANCE, diffuse);
    let cosine = guard(of_diffuse + dot3(BSDF_LUMINANCE, multiple));
    let of_cosine = bsdf_weight(cosine);
    let facets = bsdf_weight(dot3(BSDF_LUMINANCE, lobes[0]));
    let transmission = bsdf_weight(dot3(BSDF_LUMINANCE, lobes[1]));
    let sheen = bsdf_weight(dot3(BSDF_LUMINANCE, lobes[2]));
    let coat = bsdf_weight(dot3(BSDF_LUMINANCE, lobes[3]));
    let sum = guard(guard(guard(guard(of_cosine + facets) + transmission) + sheen) + coat);
    let whole = recip(max(sum, BSDF_LOBE_PRESENT));
    let chance = mul(of_cosine, whole);
    return BsdfChance(
        mul(chance, mul(of_diffuse, recip(max(cosine, BSDF_LOBE_PRESENT)))),
        chance,
        mul(facets, whole),
        mul(transmission, whole),
        mul(sheen, whole),
        mul(coat, whole),
    );
}

fn bsdf_new(p: BsdfParameters, to_viewer: vec3<f32>) -> Bsdf {
    var b: Bsdf;
    b.frame = bsdf_frame(p.normal, p.tangent);
    let view = bsdf_seen(bsdf_local(b.frame, to_viewer));
    let roughness = min(max(p.roughness, ROUGHNESS_MIN), 1.0);
    let alpha = mul(roughness, roughness);
    var stretched = alpha;
    var anisotropy = 0.0;
    if ANISOTROPY {
        anisotropy = p.anisotropy;
        stretched = guard(alpha + mul(guard(1.0 - alpha), mul(anisotropy, anisotropy)));
    }
    b.facets = bsdf_facets(vec2<f32>(stretched, alpha), view);
    b.fresnel = bsdf_fresnel(p);
    if IRIDESCENCE {
        b.fresnel = bsdf_film(p, b.fresnel, view.z);
    }
    b.albedo = bsdf_albedo(b.fresnel, bsdf_dfg(view.z, roughness), anisotropy);
    b.coat.keep = 1.0;
    b.sheen.keep = 1.0;
    if CLEARCOAT {
        b.coat = bsdf_coat(p, to_viewer);
    }
    if SHEEN {
        b.sheen = bsdf_sheen(p, view.z);
    }
    if TRANSMISSION {
        b.transmission = bsdf_transmission(p, b.fresnel, b.albedo, view.z);
    }
    b.keep = mul(b.coat.keep, b.sheen.keep);
    b.diffuse_reflectance = scale3(p.base, mul(guard(1.0 - p.metallic), guard(1.0 - p.transmission)));
    let diffuse = scale3(mul3(b.albedo.rest, b.diffuse_reflectance), b.keep);
    let multiple = scale3(b.albedo.multiple, b.keep);
    let lobes = array<vec3<f32>, 4>(
        scale3(guard3(b.albedo.single + b.transmission.more), b.keep),
        scale3(b.transmission.albedo, b.keep),
        scale3(b.sheen.albedo, b.coat.keep),
        vec3<f32>(b.coat.albedo),
    );
    let specular = guard3(guard3(guard3(guard3(multiple + lobes[0]) + lobes[1]) + lobes[2]) + lobes[3]);
    b.specular_reflectance = max(specular, vec3<f32>(BSDF_REFLECTANCE_MIN));
    b.chance = bsdf_chance(diffuse, multiple, lobes);
    return b;
}

// From above: `light` is `to_light` in the surface's frame.
fn bsdf_reflected(b: Bsdf, to_light: vec3<f32>, light: vec3<f32>) -> BsdfScattered {
    let half = normalize3(guard3(light + b.facets.view));
    let distribution = bsdf_distribution(b.facets, half);
    let fresnel = bsdf_transmission_fresnel(b.transmission, b.fresnel, dot3(b.facets.view, half));
    let single = scale3(fresnel, mul(distribution, bsdf_visibility_cosine(b.facets, light)));
    let cosine = mul(light.z, INVERSE_PI);
    var specular = scale3(guard3(single + scale3(b.albedo.multiple, cosine)), b.keep);
    let density = mul(distribution, bsdf_masking(b.facets));
    var pdf = guard(mul(b.chance.cosine, cosine) + mul(b.chance.facets, density));
    if SHEEN && b.sheen.present {
        specular = guard3(specular + scale3(bsdf_sheen_evaluate(b.sheen, light.z, half), b.coat.keep));
        pdf = guard(pdf + mul(b.chance.sheen, BSDF_UNIFORM_PDF));
    }
    if CLEARCOAT && b.coat.present {
        let coat = bsdf_coat_evaluate(b.coat, to_light);
        specular = guard3(specular + vec3<f32>(coat.x));
        pdf = guard(pdf + mul(b.chance.coat, coat.y));
    }
    return BsdfScattered(scale3(b.albedo.rest, mul(cosine, b.keep)), specular, pdf);
}

fn bsdf_evaluate(b: Bsdf, to_light: vec3<f32>) -> BsdfScattered {
    let light = bsdf_local(b.frame, to_light);
    if light.z > BSDF_NOL_MIN {
        return bsdf_reflected(b, to_light, light);
    }
    if TRANSMISSION && b.transmission.present && light.z < -BSDF_NOL_MIN {
        let found = bsdf_transmission_evaluate(b.transmission, b.fresnel, b.facets, light);
        return BsdfScattered(vec3<f32>(0.0), scale3(found.xyz, b.keep), mul(b.chance.transmission, found.w));
    }
    return BsdfScattered();
}

fn bsdf_sample(b: Bsdf, u: vec3<f32>) -> BsdfSampled {
    let facets = guard(b.chance.cosine + b.chance.facets);
    let transmission = guard(facets + b.chance.transmission);
    let sheen = guard(transmission + b.chance.sheen);
    let transmitted = TRANSMISSION && u.x >= facets && u.x < transmission;
    let view = b.facets.view;
    var direction = vec3<f32>(0.0);
    if u.x < b.chance.cosine {
        direction = bsdf_world(b.frame, bsdf_sample_cosine(u.yz));
    } else if u.x < transmission {
        let half = bsdf_sample_facet(b.facets, u.yz);
        let cosine = dot3(view, half);
        var light = guard3(scale3(half, mul(2.0, cosine)) - view);
        if transmitted {
            light.z = -light.z;
            if !b.transmission.thin {
                let square = bsdf_cosine2(b.transmission, cosine);
                if square < BSDF_FACING_MIN {
                    return BsdfSampled();
                }
                let along = guard(mul(b.transmission.ratio, cosine) - root(square));
                light = guard3(scale3(half, along) - scale3(view, b.transmission.ratio));
            }
        }
        direction = bsdf_world(b.frame, light);
    } else if SHEEN && b.sheen.present && (u.x < sheen || !b.coat.present) {
        direction = bsdf_world(b.frame, bsdf_sample_uniform(u.yz));
    } else if CLEARCOAT && b.coat.present {
        let half = bsdf_sample_facet(b.coat.facets, u.yz);
        let view = b.coat.facets.view;
        direction = bsdf_world(b.coat.frame, guard3(scale3(half, mul(2.0, dot3(view, half))) - view));
    } else {
        return BsdfSampled();
    }
    let to_light = normalize3(direction);
    if (bsdf_local(b.frame, to_light).z < 0.0) != transmitted {
        return BsdfSampled();
    }
    let scattered = bsdf_evaluate(b, to_light);
    let is_diffuse = u.x < b.chance.diffuse;
    let found = scattered.pdf > BSDF_PDF_MIN;
    return BsdfSampled(to_light, scattered, is_diffuse, transmitted, found);
}
