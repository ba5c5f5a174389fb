// What is to be scattered from. Twin of raster/src/passes/bsdf/parameters.rs.

// In glTF's terms.
struct BsdfParameters {
    normal: vec3<f32>,
    tangent: vec3<f32>,
    base: vec3<f32>,
    metallic: f32,
    roughness: f32,
    ior: f32,
    specular: f32,
    specular_color: vec3<f32>,
    anisotropy: f32,
    clearcoat: f32,
    clearcoat_roughness: f32,
    clearcoat_normal: vec3<f32>,
    sheen_color: vec3<f32>,
    sheen_roughness: f32,
    transmission: f32,
    thin: bool,
    outside: bool,
    iridescence: f32,
    iridescence_ior: f32,
    iridescence_thickness_nm: f32,
}

// Parameters that change nothing.
fn plain_parameters(normal: vec3<f32>, tangent: vec3<f32>) -> BsdfParameters {
    var p: BsdfParameters;
    p.normal = normal;
    p.tangent = tangent;
    p.base = vec3<f32>(1.0);
    p.roughness = 1.0;
    p.ior = 1.5;
    p.specular = 1.0;
    p.specular_color = vec3<f32>(1.0);
    p.clearcoat_normal = normal;
    p.thin = true;
    p.outside = true;
    p.iridescence_ior = PLAIN_IRIDESCENCE_IOR;
    p.iridescence_thickness_nm = PLAIN_IRIDESCENCE_THICKNESS_NM;
    return p;
}
