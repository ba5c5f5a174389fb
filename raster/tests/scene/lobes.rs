//! Material extensions that add lobes: read, kept within their ranges, and packed only where they do something.

use isoframe_raster::prepared::{PackedMaterial, Prepared, material_flags};
use isoframe_raster::scene::{
    Anisotropy, Clearcoat, Iridescence, Material, Sheen, Specular, TextureRef, Transmission, Volume,
};
use serde_json::{Value, json};

use crate::common::gltf::{Gltf, png};
use crate::{check_refused, scene};

/// A file with these materials, each given by its extensions, and three textures.
fn file(list: &[Value]) -> Gltf {
    let mut file = Gltf::new();
    for shade in 0..3 {
        file.texture(&png(1, 1, [shade, 0, 0, 255]));
    }
    file.json["materials"] = list.iter().map(|extensions| json!({ "extensions": extensions })).collect();
    file.json["extensionsUsed"] = json!([
        "KHR_materials_anisotropy",
        "KHR_materials_clearcoat",
        "KHR_materials_ior",
        "KHR_materials_iridescence",
        "KHR_materials_sheen",
        "KHR_materials_specular",
        "KHR_materials_transmission",
        "KHR_materials_volume",
        "KHR_texture_transform",
    ]);
    file.json["extensionsRequired"] = file.json["extensionsUsed"].clone();
    file
}

/// Every extension with every member.
fn full() -> Value {
    let moved = json!({ "index": 2, "extensions": { "KHR_texture_transform": { "offset": [0.5, 0.25] } } });
    json!({
        "KHR_materials_ior": { "ior": 1.25 },
        "KHR_materials_specular": {
            "specularFactor": 0.5, "specularTexture": { "index": 0 },
            "specularColorFactor": [0.5, 2, 0], "specularColorTexture": { "index": 1, "texCoord": 1 },
        },
        "KHR_materials_clearcoat": {
            "clearcoatFactor": 0.75, "clearcoatTexture": moved,
            "clearcoatRoughnessFactor": 0.125, "clearcoatRoughnessTexture": { "index": 0 },
            "clearcoatNormalTexture": { "index": 1, "scale": -0.5 },
        },
        "KHR_materials_sheen": {
            "sheenColorFactor": [0.25, 0.5, 1], "sheenColorTexture": { "index": 0 },
            "sheenRoughnessFactor": 0.375, "sheenRoughnessTexture": { "index": 1 },
        },
        "KHR_materials_anisotropy": {
            "anisotropyStrength": 0.625, "anisotropyRotation": -0.5, "anisotropyTexture": { "index": 2 },
        },
        "KHR_materials_transmission": {
            "transmissionFactor": 0.875, "transmissionTexture": { "index": 0 },
        },
        "KHR_materials_volume": {
            "thicknessFactor": 3, "thicknessTexture": { "index": 1 },
            "attenuationDistance": 0.5, "attenuationColor": [1, 0.5, 0],
        },
        "KHR_materials_iridescence": {
            "iridescenceFactor": 0.5, "iridescenceTexture": { "index": 1 }, "iridescenceIor": 1.75,
            "iridescenceThicknessMinimum": 300, "iridescenceThicknessMaximum": 200,
            "iridescenceThicknessTexture": { "index": 2 },
        },
    })
}

fn texture(texture: u32, uv_set: u32) -> Option<TextureRef> {
    Some(TextureRef { texture, uv_set, uv_transform: [1.0, 0.0, 0.0, 0.0, 1.0, 0.0] })
}

#[test]
fn given_values() {
    let made = scene(file(&[full()]).glb());
    // Textures are numbered in order of first use: 0, 1, 2 by the specular extension and the coat.
    let moved = TextureRef { texture: 2, uv_set: 0, uv_transform: [1.0, 0.0, 0.5, 0.0, 1.0, 0.25] };
    let expected = Material {
        ior: 1.25,
        specular: Specular {
            strength: 0.5,
            texture: texture(0, 0),
            color: [0.5, 2.0, 0.0],
            color_texture: texture(1, 1),
        },
        clearcoat: Clearcoat {
            strength: 0.75,
            texture: Some(moved),
            roughness: 0.125,
            roughness_texture: texture(0, 0),
            normal_texture: texture(1, 0),
            normal_scale: -0.5,
        },
        sheen: Sheen {
            color: [0.25, 0.5, 1.0],
            color_texture: texture(0, 0),
            roughness: 0.375,
            roughness_texture: texture(1, 0),
        },
        anisotropy: Anisotropy { strength: 0.625, rotation_rad: -0.5, texture: texture(2, 0) },
        transmission: Transmission { strength: 0.875, texture: texture(0, 0) },
        volume: Volume {
            thickness: 3.0,
            thickness_texture: texture(1, 0),
            attenuation_color: [1.0, 0.5, 0.0],
            attenuation_distance: Some(0.5),
        },
        iridescence: Iridescence {
            strength: 0.5,
            texture: texture(1, 0),
            ior: 1.75,
            thickness_min_nm: 300.0,
            thickness_max_nm: 200.0,
            thickness_texture: texture(2, 0),
        },
        ..Material::default()
    };
    assert_eq!(made.materials[0], expected);
    assert_eq!(made.notes, [""; 0]);
}

#[test]
fn absent_members_change_nothing() {
    let empty: Vec<Value> = full().as_object().unwrap().keys().map(|name| json!({ name: {} })).collect();
    let count = empty.len();
    let made = scene(file(&empty).glb());
    for material in &made.materials[..count] {
        assert_eq!(*material, Material::default());
    }
    let prepared = Prepared::new(made.into());
    for (material, extension) in prepared.materials[..count].iter().zip(&empty) {
        assert_eq!(material.flags, 0, "{extension}");
    }
}

#[test]
fn values_out_of_range_are_clamped_and_noted() {
    let made = scene(
        file(&[
            json!({ "KHR_materials_ior": { "ior": 0.5 }, "KHR_materials_specular": { "specularColorFactor": [-1, 1, 1e30] } }),
            json!({ "KHR_materials_ior": { "ior": 0 }, "KHR_materials_sheen": { "sheenRoughnessFactor": 1.5 } }),
            json!({ "KHR_materials_volume": { "thicknessFactor": -1, "attenuationDistance": 0, "attenuationColor": [2, 1, 1] } }),
            json!({ "KHR_materials_iridescence": { "iridescenceIor": 0.9, "iridescenceThicknessMinimum": -5 } }),
        ])
        .glb(),
    );
    let [first, second, third, fourth, _] = &made.materials[..] else { panic!() };
    assert_eq!((first.ior, first.specular.color), (1.0, [0.0, 1.0, 1_099_511_627_776.0]));
    assert_eq!((second.ior, second.sheen.roughness), (0.0, 1.0), "0 is an index of its own");
    assert_eq!(third.volume, Volume::default());
    assert_eq!((fourth.iridescence.ior, fourth.iridescence.thickness_min_nm), (1.0, 0.0));
    assert_eq!(
        made.notes,
        [
            "material 0 ior is clamped to at least 1",
            "material 0 specularColorFactor is clamped to at least 0",
            "material 0 specularColorFactor is clamped to at most 1099511600000",
            "material 1 sheenRoughnessFactor is clamped to 0..1",
            "material 2 attenuationDistance is not above 0: nothing is absorbed",
            "material 2 thicknessFactor is clamped to at least 0",
            "material 2 attenuationColor is clamped to 0..1",
            "material 3 iridescenceThicknessMinimum is clamped to at least 0",
            "material 3 iridescenceIor is clamped to at least 1",
        ]
    );
}

#[test]
fn values_that_are_not_numbers_are_refused() {
    let cases = [
        ("KHR_materials_ior", json!({ "ior": 1e39 }), "material 0 ior"),
        ("KHR_materials_anisotropy", json!({ "anisotropyRotation": -1e39 }), "anisotropyRotation"),
        ("KHR_materials_volume", json!({ "attenuationDistance": 1e39 }), "attenuationDistance"),
        ("KHR_materials_sheen", json!({ "sheenColorFactor": [0, 1e39, 0] }), "sheenColorFactor"),
        (
            "KHR_materials_clearcoat",
            json!({ "clearcoatNormalTexture": { "index": 0, "scale": 1e39 } }),
            "scale",
        ),
    ];
    for (name, extension, says) in cases {
        check_refused(says, file(&[json!({ name: extension })]).glb(), "not-finite", says);
    }
    let nowhere = json!({ "KHR_materials_transmission": { "transmissionTexture": { "index": 3 } } });
    check_refused(
        "texture",
        file(&[nowhere]).glb(),
        "unresolved-reference",
        "transmissionTexture: texture 3",
    );
    let kind = json!({ "KHR_materials_ior": { "ior": "high" } });
    check_refused("kind", file(&[kind]).glb(), "invalid-json", "high");
}

#[test]
fn dispersion_is_noted() {
    let mut dispersed = file(&[json!({ "KHR_materials_dispersion": { "dispersion": 0.1 } })]);
    dispersed.uses("KHR_materials_dispersion");
    let made = scene(dispersed.glb());
    assert_eq!(
        made.notes,
        ["extension KHR_materials_dispersion is not rendered: all colours are refracted alike"]
    );
}

fn packed(material: Material) -> PackedMaterial {
    let scene = isoframe_raster::scene::Scene { materials: vec![material], ..Default::default() };
    Prepared::new(scene.into()).materials[0]
}

#[test]
fn flags_are_set_where_a_lobe_does_something() {
    use material_flags::*;
    let glass = || Material {
        metallic: 0.0,
        transmission: Transmission { strength: 0.5, texture: None },
        volume: Volume { thickness: 2.0, ..Volume::default() },
        ..Material::default()
    };
    let film =
        |strength, thickness_max_nm| Iridescence { strength, thickness_max_nm, ..Iridescence::default() };
    let coat = Clearcoat { strength: 0.1, ..Clearcoat::default() };
    let sheen = Sheen { color: [0.0, 0.0, 0.1], ..Sheen::default() };
    let stretched = Anisotropy { strength: 0.1, ..Anisotropy::default() };
    let tinted = Specular { color: [1.0, 1.0, 0.9], ..Specular::default() };
    let plastic = || Material { metallic: 0.5, ..Material::default() };
    let cases = [
        ("clearcoat", Material { clearcoat: coat.clone(), ..Material::default() }, CLEARCOAT),
        ("sheen", Material { sheen, ..Material::default() }, SHEEN),
        ("anisotropy", Material { anisotropy: stretched, ..Material::default() }, ANISOTROPY),
        ("ior", Material { ior: 1.0, ..plastic() }, SPECULAR),
        ("specular", Material { specular: tinted.clone(), ..plastic() }, SPECULAR),
        ("specular of a metal", Material { specular: tinted, ..Material::default() }, 0),
        ("transmission", glass(), TRANSMISSION | VOLUME),
        ("thin", Material { volume: Volume::default(), ..glass() }, TRANSMISSION),
        ("transmission of a metal", Material { metallic: 1.0, ..glass() }, 0),
        ("volume alone", Material { transmission: Transmission::default(), ..glass() }, 0),
        ("iridescence", Material { iridescence: film(0.5, 400.0), ..Material::default() }, IRIDESCENCE),
        ("no film", Material { iridescence: film(0.5, 0.0), ..Material::default() }, 0),
        ("unlit", Material { unlit: true, clearcoat: coat, ..Material::default() }, UNLIT),
    ];
    for (name, material, flags) in cases {
        assert_eq!(packed(material).flags, flags, "{name}");
    }
}

#[test]
fn attenuation_is_the_absorption_of_a_unit() {
    let material = Material {
        metallic: 0.0,
        transmission: Transmission { strength: 1.0, texture: None },
        volume: Volume {
            thickness: 1.0,
            attenuation_color: [1.0, 0.5, 0.0],
            attenuation_distance: Some(0.5),
            ..Volume::default()
        },
        ..Material::default()
    };
    let [r, g, b] = packed(material.clone()).attenuation;
    assert_eq!(r.to_bits(), 0, "white is not absorbed");
    // Half is left after half a unit, so a quarter after one: exp(-g) = 1/4.
    assert!((g - 4f32.ln()).abs() < 1e-6, "{g}");
    assert!(b > 30.0 && b.is_finite(), "black is: {b}");
    let clear = Volume { attenuation_distance: None, ..material.volume.clone() };
    assert_eq!(packed(Material { volume: clear, ..material.clone() }).attenuation, [0.0; 3]);
    let dense = Volume { attenuation_distance: Some(1e-38), ..material.volume.clone() };
    let [_, _, b] = packed(Material { volume: dense, ..material }).attenuation;
    assert_eq!(b, 1_099_511_627_776.0);
}
