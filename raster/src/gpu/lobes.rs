//! What host and shaders must agree on about the lobes of materials.

use std::mem::offset_of;

use super::layout::part;
use super::shader::Constant;
use crate::environment::SHEEN_ROUGHNESS_MIN;
use crate::passes::{bsdf, film, light, microfacet, transmission};
use crate::prepared::{PackedMaterial, material_flags};

/// Places, flags and numbers.
pub(super) fn constants() -> Vec<Constant> {
    let whole = [
        ("MATERIAL_SPECULAR_COLOR", part(offset_of!(PackedMaterial, specular_color))),
        ("MATERIAL_IOR", part(offset_of!(PackedMaterial, ior))),
        ("MATERIAL_SHEEN_COLOR", part(offset_of!(PackedMaterial, sheen_color))),
        ("MATERIAL_ANISOTROPY", part(offset_of!(PackedMaterial, anisotropy))),
        ("MATERIAL_ATTENUATION", part(offset_of!(PackedMaterial, attenuation))),
        ("MATERIAL_IRIDESCENCE", part(offset_of!(PackedMaterial, iridescence))),
        ("MATERIAL_SPECULAR_TEXTURE", part(offset_of!(PackedMaterial, specular_texture))),
        ("MATERIAL_SPECULAR_COLOR_TEXTURE", part(offset_of!(PackedMaterial, specular_color_texture))),
        ("MATERIAL_CLEARCOAT_TEXTURE", part(offset_of!(PackedMaterial, clearcoat_texture))),
        (
            "MATERIAL_CLEARCOAT_ROUGHNESS_TEXTURE",
            part(offset_of!(PackedMaterial, clearcoat_roughness_texture)),
        ),
        ("MATERIAL_CLEARCOAT_NORMAL_TEXTURE", part(offset_of!(PackedMaterial, clearcoat_normal_texture))),
        ("MATERIAL_SHEEN_COLOR_TEXTURE", part(offset_of!(PackedMaterial, sheen_color_texture))),
        ("MATERIAL_SHEEN_ROUGHNESS_TEXTURE", part(offset_of!(PackedMaterial, sheen_roughness_texture))),
        ("MATERIAL_ANISOTROPY_TEXTURE", part(offset_of!(PackedMaterial, anisotropy_texture))),
        ("MATERIAL_TRANSMISSION_TEXTURE", part(offset_of!(PackedMaterial, transmission_texture))),
        ("MATERIAL_THICKNESS_TEXTURE", part(offset_of!(PackedMaterial, thickness_texture))),
        ("MATERIAL_IRIDESCENCE_TEXTURE", part(offset_of!(PackedMaterial, iridescence_texture))),
        (
            "MATERIAL_IRIDESCENCE_THICKNESS_TEXTURE",
            part(offset_of!(PackedMaterial, iridescence_thickness_texture)),
        ),
        ("LOBES", material_flags::LOBES),
        ("LOBE_CLEARCOAT", material_flags::CLEARCOAT),
        ("LOBE_SHEEN", material_flags::SHEEN),
        ("LOBE_SPECULAR", material_flags::SPECULAR),
        ("LOBE_TRANSMISSION", material_flags::TRANSMISSION),
        ("LOBE_VOLUME", material_flags::VOLUME),
        ("LOBE_ANISOTROPY", material_flags::ANISOTROPY),
        ("LOBE_IRIDESCENCE", material_flags::IRIDESCENCE),
    ];
    let numbers = [
        ("DIELECTRIC_REST", 1.0 - light::DIELECTRIC_F0),
        ("LOG2_E", transmission::LOG2_E),
        ("CHARLIE_SCALE", microfacet::CHARLIE_SCALE),
        ("SHEEN_ROUGHNESS_MIN", SHEEN_ROUGHNESS_MIN),
    ];
    let mut all = whole.map(|(name, value)| Constant::U32(name, value)).to_vec();
    all.extend(numbers.map(|(name, value)| Constant::F32(name, value)));
    all.extend(film_constants());
    all.extend(bsdf_constants());
    all
}

/// Numbers of `film.wgsl`.
fn film_constants() -> Vec<Constant> {
    let [fx, fy, fz, fx2] = film::FREQUENCY;
    let [hx, hy, hz, hx2] = film::HEIGHT;
    let [dx, dy, dz, dx2] = film::DECAY;
    let [red, green, blue] = film::RGB_FROM_XYZ;
    let numbers = [
        ("INVERSE_FADE_NM", film::INVERSE_FADE_NM),
        ("PATH_MAX_NM", film::PATH_MAX_NM),
        ("FILM_BASE_MAX", film::BASE_MAX),
        ("FILM_GRAZING_MAX", film::GRAZING_MAX),
        ("FILM_PRODUCT_MIN", film::PRODUCT_MIN),
        ("FILM_PRODUCT_MAX", film::PRODUCT_MAX),
        ("FILM_FREQUENCY_X", fx),
        ("FILM_FREQUENCY_Y", fy),
        ("FILM_FREQUENCY_Z", fz),
        ("FILM_FREQUENCY_X2", fx2),
        ("FILM_HEIGHT_X", hx),
        ("FILM_HEIGHT_Y", hy),
        ("FILM_HEIGHT_Z", hz),
        ("FILM_HEIGHT_X2", hx2),
        ("FILM_DECAY_X", dx),
        ("FILM_DECAY_Y", dy),
        ("FILM_DECAY_Z", dz),
        ("FILM_DECAY_X2", dx2),
    ];
    let mut all = numbers.map(|(name, value)| Constant::F32(name, value)).to_vec();
    all.push(Constant::F32x3("RED_FROM_XYZ", red));
    all.push(Constant::F32x3("GREEN_FROM_XYZ", green));
    all.push(Constant::F32x3("BLUE_FROM_XYZ", blue));
    all
}

/// Numbers of `bsdf.wgsl`.
fn bsdf_constants() -> Vec<Constant> {
    let [x, y, z, more_x] = bsdf::SENSITIVITY;
    let [r, g, b] = bsdf::REC709_FROM_XYZ;
    let mut all: Vec<Constant> = [
        ("BSDF_TANGENT_MIN", bsdf::TANGENT_MIN),
        ("BSDF_NOL_MIN", bsdf::NOL_MIN),
        ("BSDF_PDF_MIN", bsdf::PDF_MIN),
        ("BSDF_REFLECTANCE_MIN", bsdf::REFLECTANCE_MIN),
        ("BSDF_LOBE_PRESENT", bsdf::LOBE_PRESENT),
        ("BSDF_LOBE_MIN", bsdf::LOBE_MIN),
        ("BSDF_UNIFORM_PDF", bsdf::UNIFORM_PDF),
        ("BSDF_QUARTER", bsdf::QUARTER),
        ("BSDF_SHEEN_ROUGHNESS_MIN", SHEEN_ROUGHNESS_MIN),
        ("BSDF_VOLUME_IOR_MIN", bsdf::VOLUME_IOR_MIN),
        ("BSDF_THIN_MIN", bsdf::THIN_MIN),
        ("BSDF_FACING_MIN", bsdf::FACING_MIN),
        ("BSDF_SPREAD_MIN", bsdf::SPREAD_MIN),
        ("BSDF_FACET_SHARE", bsdf::FACET_SHARE),
        ("BSDF_REFLECTANCE_MAX", bsdf::REFLECTANCE_MAX),
        ("BSDF_ROUND_TRIP_MIN", bsdf::ROUND_TRIP_MIN),
        ("BSDF_FADE_IN", bsdf::FADE_IN),
        ("BSDF_GRAZING_MAX", bsdf::GRAZING_MAX),
    ]
    .map(|(name, value)| Constant::F32(name, value))
    .to_vec();
    all.extend(
        [
            ("BSDF_LUMINANCE", bsdf::LUMINANCE.array()),
            ("BSDF_SENSITIVITY_X", x),
            ("BSDF_SENSITIVITY_Y", y),
            ("BSDF_SENSITIVITY_Z", z),
            ("BSDF_SENSITIVITY_MORE_X", more_x),
            ("BSDF_REC709_FROM_XYZ_0", r),
            ("BSDF_REC709_FROM_XYZ_1", g),
            ("BSDF_REC709_FROM_XYZ_2", b),
        ]
        .map(|(name, value)| Constant::F32x3(name, value)),
    );
    all
}
