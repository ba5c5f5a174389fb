//! Materials, textures and samplers.

use isoframe_raster::scene::{AlphaMode, Material, TextureRef, Wrap};
use serde_json::{Value, json};

use crate::common::gltf::{Gltf, png};
use crate::{check_refused, scene};

const PLAIN: [f32; 6] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0];

/// A file with these materials and three textures.
fn materials(list: Value) -> Gltf {
    let mut file = Gltf::new();
    for shade in 0..3 {
        file.texture(&png(1, 1, [shade, 0, 0, 255]));
    }
    file.json["materials"] = list;
    file
}

#[test]
fn defaults_and_given_values() {
    let full = json!({
        "name": "full",
        "pbrMetallicRoughness": {
            "baseColorFactor": [0.1, 0.2, 0.3, 0.4], "metallicFactor": 0.5, "roughnessFactor": 0.25,
            "baseColorTexture": { "index": 2, "texCoord": 1 },
            "metallicRoughnessTexture": { "index": 0 },
        },
        "normalTexture": { "index": 1, "scale": -2 },
        "occlusionTexture": { "index": 2, "strength": 0.5, "texCoord": 1 },
        "emissiveTexture": { "index": 2 }, "emissiveFactor": [0, 0.5, 1],
        "alphaMode": "MASK", "alphaCutoff": 0.7, "doubleSided": true,
    });
    let made = scene(
        materials(json!([full, {}, { "alphaMode": "MASK" }, { "alphaMode": "BLEND", "alphaCutoff": 0.1 }]))
            .glb(),
    );
    // Textures are numbered in order of first use: base colour, metallic-roughness, normal.
    let texture = |texture, uv_set| Some(TextureRef { texture, uv_set, uv_transform: PLAIN });
    let expected = Material {
        name: "full".into(),
        base_color: [0.1, 0.2, 0.3, 0.4],
        base_color_texture: texture(0, 1),
        metallic: 0.5,
        roughness: 0.25,
        metallic_roughness_texture: texture(1, 0),
        normal_texture: texture(2, 0),
        normal_scale: -2.0,
        occlusion_texture: texture(0, 1),
        occlusion_strength: 0.5,
        emissive: [0.0, 0.5, 1.0],
        emissive_texture: texture(0, 0),
        alpha_mode: AlphaMode::Mask { cutoff: 0.7 },
        double_sided: true,
        unlit: false,
        ..Material::default()
    };
    assert_eq!(made.materials[0], expected);
    assert_eq!(made.images.iter().map(|image| image.rgba[0][0]).collect::<Vec<_>>(), [2, 0, 1]);
    assert_eq!(made.materials[1], Material::default());
    assert_eq!(made.materials[2].alpha_mode, AlphaMode::Mask { cutoff: 0.5 });
    assert_eq!(made.materials[3].alpha_mode, AlphaMode::Blend);
    assert_eq!(made.materials[4], Material::default(), "glTF's default comes last");
}

#[test]
fn values_out_of_range_are_clamped_and_noted() {
    let file = materials(json!([{
        "pbrMetallicRoughness": { "baseColorFactor": [2, -1, 0.5, 1], "metallicFactor": 1.5 },
        "emissiveFactor": [3, 0, 0], "alphaMode": "DITHER",
        "occlusionTexture": { "index": 0, "texCoord": 2 },
    }]));
    let made = scene(file.glb());
    assert_eq!(made.materials[0].base_color, [1.0, 0.0, 0.5, 1.0]);
    assert_eq!((made.materials[0].metallic, made.materials[0].emissive), (1.0, [1.0, 0.0, 0.0]));
    assert_eq!(made.materials[0].occlusion_texture, None);
    assert_eq!(
        made.notes,
        [
            "material 0 baseColorFactor is clamped to 0..1",
            "material 0 metallicFactor is clamped to 0..1",
            "material 0 occlusionTexture is left out: it needs TEXCOORD_2, and only sets 0 and 1 are read",
            "material 0 emissiveFactor is clamped to 0..1",
            "material 0: alphaMode \"DITHER\" is unknown, OPAQUE is used",
        ]
    );
}

#[test]
fn unlit_and_emissive_strength() {
    let strength = |value: f64, factor: [f64; 3]| {
        json!({ "emissiveFactor": factor,
                "extensions": { "KHR_materials_emissive_strength": { "emissiveStrength": value } } })
    };
    let mut file = materials(json!([
        { "extensions": { "KHR_materials_unlit": {} } },
        strength(4.0, [0.5, 0.25, 0.0]),
        strength(1e9, [1.0, 0.5, 0.0]),
        { "emissiveFactor": [1, 1, 1], "extensions": { "KHR_materials_emissive_strength": {} } },
    ]));
    file.require("KHR_materials_unlit").require("KHR_materials_emissive_strength");
    let made = scene(file.glb());
    assert!(made.materials[0].unlit);
    assert_eq!(made.materials[1].emissive, [2.0, 1.0, 0.0]);
    assert_eq!(made.materials[2].emissive, [65504.0, 65504.0, 0.0], "the largest radiance kept");
    assert_eq!(made.materials[3].emissive, [1.0; 3]);
    assert_eq!(made.notes, ["material 2 emission is clamped to 65504"]);
    file.json["materials"][1] = strength(-1.0, [1.0; 3]);
    check_refused("negative", file.glb(), "value-out-of-range", "material 1 emissiveStrength");
}

#[test]
fn texture_transforms() {
    let transform = |value: Value| json!({ "emissiveTexture": { "index": 0, "texCoord": 0, "extensions": { "KHR_texture_transform": value } } });
    // A quarter turn takes (1, 0) to (0, -1): counter-clockwise where v points down.
    let quarter = std::f64::consts::FRAC_PI_2;
    let mut file = materials(json!([
        transform(json!({})),
        transform(json!({ "offset": [0.25, -0.5], "scale": [2, 3] })),
        transform(json!({ "rotation": quarter })),
        transform(json!({ "offset": [0.5, 1], "rotation": quarter, "scale": [2, 4], "texCoord": 1 })),
    ]));
    file.require("KHR_texture_transform");
    let made = scene(file.glb());
    let seen = |index: usize| made.materials[index].emissive_texture.unwrap();
    assert_eq!(seen(0).uv_transform, PLAIN);
    assert_eq!(seen(1).uv_transform, [2.0, 0.0, 0.25, 0.0, 3.0, -0.5]);
    let close =
        |got: [f32; 6], expected: [f32; 6]| got.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6);
    assert!(close(seen(2).uv_transform, [0.0, 1.0, 0.0, -1.0, 0.0, 0.0]), "{:?}", seen(2));
    assert!(close(seen(3).uv_transform, [0.0, 4.0, 0.5, -2.0, 0.0, 1.0]), "{:?}", seen(3));
    assert_eq!((seen(2).uv_set, seen(3).uv_set), (0, 1), "the transform's set wins");
}

#[test]
fn samplers() {
    let mut file = materials(json!([
        { "emissiveTexture": { "index": 0 } },
        { "emissiveTexture": { "index": 1 } },
        { "emissiveTexture": { "index": 2 } },
    ]));
    file.json["samplers"] = json!([
        { "magFilter": 9728, "minFilter": 9728, "wrapS": 33071, "wrapT": 33648 },
        { "magFilter": 9729, "minFilter": 9985, "wrapS": 10497 },
    ]);
    file.json["textures"][0]["sampler"] = json!(0);
    file.json["textures"][1]["sampler"] = json!(1);
    let made = scene(file.glb());
    let [first, second, third] = made.textures[..] else { panic!() };
    assert_eq!((first.mag_linear, first.min_linear, first.mip_linear), (false, false, None));
    assert_eq!((first.wrap_u, first.wrap_v), (Wrap::Clamp, Wrap::Mirror));
    assert_eq!((second.mag_linear, second.min_linear, second.mip_linear), (true, true, Some(false)));
    assert_eq!((third.mag_linear, third.min_linear, third.mip_linear), (true, true, Some(true)));
    assert_eq!((third.wrap_u, third.wrap_v), (Wrap::Repeat, Wrap::Repeat));
    for (name, value) in [("magFilter", 9987), ("minFilter", 1), ("wrapS", 0), ("wrapT", 10496)] {
        let mut bad = file.clone();
        bad.json["samplers"][1][name] = json!(value);
        check_refused(name, bad.glb(), "value-out-of-range", &format!("sampler 1 {name}"));
    }
}

#[test]
fn references_that_lead_nowhere() {
    let cases = [
        (
            json!([{ "emissiveTexture": { "index": 3 } }]),
            "material 0 emissiveTexture: texture 3 does not exist (3 present)",
        ),
        (json!([{ "normalTexture": { "index": 9 } }]), "material 0 normalTexture: texture 9"),
    ];
    for (list, says) in cases {
        check_refused(says, materials(list).glb(), "unresolved-reference", says);
    }
    let mut file = materials(json!([]));
    file.json["textures"][1]["sampler"] = json!(0);
    check_refused("sampler", file.glb(), "unresolved-reference", "texture 1: sampler 0");
    file.json["textures"][1] = json!({ "source": 7 });
    check_refused("image", file.glb(), "unresolved-reference", "texture 1: image 7");
    let mut file = Gltf::triangle();
    file.json["meshes"][0]["primitives"][0]["material"] = json!(0);
    check_refused("material", file.glb(), "unresolved-reference", "mesh 0 primitive 0: material 0");
}
