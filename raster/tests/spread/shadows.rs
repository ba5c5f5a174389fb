//! Scenes whose punctual lights cast shadows.

use super::*;

/// Before a wall: instanced, turned, mirrored, flattened and alpha-tested casters, under every kind of light.
pub fn casters() -> Case {
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let trs = |translation, rotation, scale| Trs { translation, rotation, scale };
    let small = [0.35; 3];
    let copies = vec![
        trs([-1.1, 0.7, 0.0], [0.0, 0.0, 0.0, 1.0], small),
        trs([-0.3, 0.8, 0.2], [0.2, half, 0.1, (0.95f32 - half * half).sqrt()], small),
        trs([0.6, 0.7, 0.1], [half, 0.0, 0.0, half], [0.2, 0.4, 0.6]),
    ];
    let mirrored = Transform::Trs(trs([1.2, 0.2, 0.0], [0.0, 0.6, 0.0, 0.8], [-0.4, 0.3, 0.5]));
    let flattened = Transform::Trs(trs([-1.1, -0.2, 0.1], [0.0, 0.0, 0.0, 1.0], [0.4, 0.4, 0.0]));
    // The second column runs along the first: a mesh that is sheared almost flat.
    let sheared =
        Transform::Matrix([0.4, 0.1, 0.0, 0.0, 0.3, 0.4, 0.0, 0.0, 0.1, 0.0, 0.01, 0.0, 0.9, -0.8, 0.1, 1.0]);
    let masked = Material {
        base_color_texture: reference(0, 0),
        alpha_mode: AlphaMode::Mask { cutoff: 0.5 },
        double_sided: true,
        ..Material::default()
    };
    let turned = TextureRef { texture: 1, uv_set: 1, uv_transform: [0.8, -0.6, 0.2, 0.6, 0.8, -0.1] };
    let blended = Material {
        base_color: [0.9, 0.3, 0.2, 0.9],
        base_color_texture: Some(turned),
        alpha_mode: AlphaMode::Blend,
        ..Material::default()
    };
    let unlit = Material { unlit: true, base_color: [0.1, 0.4, 0.2, 1.0], ..Material::default() };
    let scene = Scene {
        nodes: vec![
            node(0, Transform::Trs(trs([0.0, 0.0, -1.0], [0.0, 0.0, 0.0, 1.0], [3.0, 3.0, 0.5]))),
            Node { instances: Some(copies), ..node(1, Transform::default()) },
            node(1, mirrored),
            node(1, flattened),
            node(1, sheared),
            node(2, Transform::Trs(trs([-0.5, -0.6, 0.3], [0.1, 0.0, 0.0, 0.995], [0.4; 3]))),
            node(3, Transform::Trs(trs([0.3, -0.4, 0.4], [0.0, 0.1, 0.0, 0.995], [0.4; 3]))),
            node(4, at([2.0, 1.4, -0.8])),
            Node { light: Some(0), local: at([0.3, 0.6, 2.5]), visible: true, ..Node::default() },
            Node { light: Some(1), local: at([-0.8, 0.2, 1.8]), visible: true, ..Node::default() },
            // Shines away from the wall, and stands within a caster.
            Node { light: Some(0), local: at([0.6, 0.7, 0.1]), visible: true, ..Node::default() },
        ],
        meshes: [square(8, 0), square(3, 0), square(4, 1), square(2, 2), square(1, 3)]
            .map(|p| Mesh { primitives: vec![Primitive { uv1: p.uv0.clone(), ..p }], ..Mesh::default() })
            .to_vec(),
        materials: vec![
            Material { metallic: 0.0, roughness: 0.6, double_sided: true, ..Material::default() },
            masked,
            blended,
            unlit,
        ],
        textures: vec![
            texture(0, Wrap::Repeat, Wrap::Mirror, true, Some(true)),
            texture(0, Wrap::Clamp, Wrap::Repeat, false, None),
        ],
        images: vec![image(9, 7, 31)],
        lights: vec![
            light(LightKind::Point, None, 6.0),
            light(LightKind::Spot { inner_cone_rad: 0.5, outer_cone_rad: 0.9 }, Some(20.0), 9.0),
        ],
        ..Scene::default()
    };
    let sun = Sun { direction_world: [0.5, -0.7, -1.0], illuminance_lux: 1.5 };
    let request = FrameRequest {
        camera: looking([0.0, 0.0, 4.0], perspective(0.1)),
        previous_camera: Some(looking([0.1, 0.0, 4.0], perspective(0.1))),
        lighting: Lighting { shadows: true, sun: Some(sun), environment: Some(false), ..Lighting::default() },
        ..request(120, 90, 4)
    };
    case("shadow casters", scene, request, ColorFormat::Srgb8)
}

/// A skinned and morphed sheet before a wall, far from the world's origin, through an orthographic camera.
pub fn deformed() -> Case {
    let mut sheet = square(6, 1);
    let bend = |p: &[f32; 3]| (p[1] * 0.5 + 0.5).clamp(0.0, 1.0);
    sheet.joints = vec![[0, 1, 0, 0, 0, 0, 0, 0]; sheet.position.len()];
    sheet.joint_weights =
        sheet.position.iter().map(|p| [1.0 - bend(p), bend(p), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]).collect();
    let bulge = sheet.position.iter().map(|p| [0.0, 0.0, p[0] * p[1]]).collect();
    let target = MorphTarget { position: bulge, ..MorphTarget::default() };
    let morphed =
        Primitive { targets: vec![target], joints: Vec::new(), joint_weights: Vec::new(), ..sheet.clone() };
    let identity = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    let away = [900.0, -700.0, 400.0];
    let beside = |d: [f32; 3]| at(std::array::from_fn(|k| away[k] + d[k]));
    let leaning = Trs {
        translation: [0.5, 0.2, 0.3],
        rotation: [0.3, 0.2, 0.0, 0.87f32.sqrt()],
        scale: [0.7, 0.7, 0.7],
    };
    let scene = Scene {
        nodes: vec![
            node(0, beside([0.0, 0.0, -1.5])),
            Node { local: beside([-0.6, 0.0, 0.0]), visible: true, ..Node::default() },
            Node { parent: Some(1), local: Transform::Trs(leaning), visible: true, ..Node::default() },
            Node { skin: Some(0), ..node(1, Transform::default()) },
            Node { weights: Some(vec![0.8]), ..node(2, beside([0.8, 0.5, 0.2])) },
            Node { light: Some(0), local: beside([0.2, 0.4, 5.0]), visible: true, ..Node::default() },
            Node { light: Some(1), local: beside([1.0, 1.0, 2.0]), visible: true, ..Node::default() },
        ],
        meshes: [square(5, 0), sheet, morphed]
            .map(|p| Mesh { primitives: vec![p], ..Mesh::default() })
            .to_vec(),
        materials: vec![
            Material { metallic: 0.0, roughness: 0.7, ..Material::default() },
            Material {
                metallic: 0.0,
                double_sided: true,
                alpha_mode: AlphaMode::Mask { cutoff: 0.6 },
                ..Material::default()
            },
        ],
        skins: vec![Skin { name: String::new(), joints: vec![1, 2], inverse_bind: vec![identity; 2] }],
        lights: vec![light(LightKind::Directional, None, 2.0), light(LightKind::Point, None, 3.0)],
        ..Scene::default()
    };
    let eye = [900.1, -699.9, 406.0];
    let request = FrameRequest {
        camera: looking(eye, ProjectionChoice::Orthographic { metres_per_px: 0.045 }),
        lighting: Lighting { shadows: true, environment: Some(false), ..Lighting::default() },
        ..request(77, 59, 8)
    };
    case("deformed shadow casters", scene, request, ColorFormat::Linear)
}

/// More lights than one word has bits.
pub fn many_lights() -> Case {
    let mut scene = Scene {
        nodes: vec![node(0, at([0.0, 0.0, -0.6]))],
        meshes: vec![
            Mesh { primitives: vec![square(3, 0)], ..Mesh::default() },
            Mesh { primitives: vec![square(1, 0)], ..Mesh::default() },
        ],
        materials: vec![Material { metallic: 0.0, double_sided: true, ..Material::default() }],
        lights: vec![light(LightKind::Point, None, 0.1)],
        ..Scene::default()
    };
    for k in 0..5u32 {
        let place = Trs {
            translation: [0.4 * k as f32 - 0.8, random(k) - 0.5, 0.2],
            scale: [0.15; 3],
            ..Trs::default()
        };
        scene.nodes.push(node(1, Transform::Trs(place)));
    }
    for k in 0..40u32 {
        let place = [2.0 * random(k + 7) - 1.0, 2.0 * random(k + 77) - 1.0, 0.3 + random(k + 777)];
        scene.nodes.push(Node { light: Some(0), local: at(place), visible: true, ..Node::default() });
    }
    let request = FrameRequest {
        camera: looking([0.0, 0.0, 2.6], perspective(0.1)),
        lighting: Lighting { shadows: true, environment: Some(false), ..Lighting::default() },
        ..request(36, 28, 1)
    };
    case("40 lights", scene, request, ColorFormat::Linear)
}
