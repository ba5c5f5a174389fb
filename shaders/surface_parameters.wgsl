// What a surface on the screen is made of. Twin of `parameters` in raster/src/cpu/traced.rs. Who includes this gives
// `Surface`.
//#include basis
//#include parameters
//#include lobes

fn parameters_of(s: Surface) -> BsdfParameters {
    var p = plain_parameters(s.normal, basis_across(s.normal).s);
    p.base = s.base;
    p.metallic = s.metallic;
    p.roughness = s.roughness;
    let l = s.lobes;
    if !WITH_LOBES || l.flags == 0u {
        return p;
    }
    if has_lobe(l, LOBE_SPECULAR | LOBE_TRANSMISSION | LOBE_IRIDESCENCE) {
        p.ior = l.ior;
    }
    if SPECULAR && has_lobe(l, LOBE_SPECULAR) {
        p.specular = l.specular;
        p.specular_color = l.specular_color;
    }
    if CLEARCOAT && has_lobe(l, LOBE_CLEARCOAT) {
        p.clearcoat = l.clearcoat;
        p.clearcoat_roughness = l.clearcoat_roughness;
        p.clearcoat_normal = l.clearcoat_normal;
    }
    if SHEEN && has_lobe(l, LOBE_SHEEN) {
        p.sheen_color = l.sheen_color;
        p.sheen_roughness = l.sheen_roughness;
    }
    if ANISOTROPY && has_lobe(l, LOBE_ANISOTROPY) {
        p.anisotropy = l.anisotropy;
        p.tangent = l.tangent;
    }
    if TRANSMISSION && has_lobe(l, LOBE_TRANSMISSION) {
        p.transmission = l.transmission;
        p.thin = !has_lobe(l, LOBE_VOLUME);
    }
    if IRIDESCENCE && has_lobe(l, LOBE_IRIDESCENCE) {
        p.iridescence = l.iridescence;
        p.iridescence_ior = l.iridescence_ior;
        p.iridescence_thickness_nm = l.iridescence_thickness_nm;
    }
    return p;
}
