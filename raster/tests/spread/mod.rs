//! A spread of scenes and requests: each uses what the others do not.

mod shadows;
pub mod traced;

use std::sync::Arc;

use isoframe_raster::frame::{
    Background, CameraChoice, ColorFormat, FrameRequest, Lighting, Output, ProjectionChoice, Sun, Tonemap,
};
use isoframe_raster::prepared::Prepared;
use isoframe_raster::scene::{
    self, AlphaMode, Anisotropy, Clearcoat, Image, Iridescence, Light, LightKind, Limits, Material, Mesh,
    MorphTarget, Node, Primitive, Scene, Sheen, Skin, Source, Specular, Texture, TextureRef, Topology,
    Transform, Transmission, Trs, Volume, Wrap,
};

use crate::common;

/// One frame.
pub struct Case {
    pub name: String,
    pub scene: Prepared,
    pub request: FrameRequest,
    pub color: ColorFormat,
}

/// All cases; those of shared assets only where they are.
pub fn cases() -> Vec<Case> {
    let mut cases = built();
    cases.extend(shared());
    cases
}

/// Cases made here.
pub fn built() -> Vec<Case> {
    vec![
        textures(),
        layers(),
        ties(),
        lines_and_points(),
        crossing(),
        lobes(),
        nothing(),
        shadows::casters(),
        shadows::deformed(),
        shadows::many_lights(),
    ]
}

fn request(width: u32, height: u32, samples: u32) -> FrameRequest {
    FrameRequest { width, height, samples, outputs: Output::CLASSIC.to_vec(), ..FrameRequest::default() }
}

/// A camera at `eye` looking down -Z.
fn looking(eye: [f64; 3], projection: ProjectionChoice) -> CameraChoice {
    let [x, y, z] = eye;
    CameraChoice::Matrix {
        world_from_view: [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, x, y, z, 1.0],
        projection,
    }
}

fn perspective(znear: f64) -> ProjectionChoice {
    ProjectionChoice::Perspective { yfov_rad: 0.9, znear: Some(znear), zfar: Some(200.0) }
}

/// A hash of a counter, 0 to 1.
fn random(k: u32) -> f32 {
    let state = k.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
    let word = ((state >> ((state >> 28) + 4)) ^ state).wrapping_mul(277_803_737);
    ((word >> 22) ^ word) as f32 / 4_294_967_296.0
}

fn at(translation: [f32; 3]) -> Transform {
    Transform::Trs(Trs { translation, ..Trs::default() })
}

/// A square of side 2 facing +Z, of `cells` by `cells` cells, bulging.
fn square(cells: u32, material: u32) -> Primitive {
    let mut p = Primitive { material, ..Primitive::default() };
    for j in 0..=cells {
        for i in 0..=cells {
            let (u, v) = (i as f32 / cells as f32, j as f32 / cells as f32);
            let (x, y) = (u * 2.0 - 1.0, v * 2.0 - 1.0);
            p.position.push([x, y, 0.3 * (1.0 - x * x) * (1.0 - y * y)]);
            let n = [0.3 * x, 0.3 * y, 1.0];
            let scale = 1.0 / (n[0] * n[0] + n[1] * n[1] + 1.0f32).sqrt();
            p.normal.push(n.map(|c| c * scale));
            p.tangent.push([1.0, 0.0, 0.0, if i % 2 == 0 { 1.0 } else { -1.0 }]);
            p.uv0.push([u * 2.3 - 0.4, v * 1.7 - 0.2]);
            p.uv1.push([v * 3.0, u * 0.9 + 0.1]);
            let k = j * (cells + 1) + i;
            p.color.push([random(k), random(k + 99), random(k + 999), 0.4 + 0.6 * random(k + 9999)]);
        }
    }
    for j in 0..cells {
        for i in 0..cells {
            let k = j * (cells + 1) + i;
            p.indices.extend([k, k + 1, k + cells + 1, k + 1, k + cells + 2, k + cells + 1]);
        }
    }
    p
}

fn image(width: u32, height: u32, seed: u32) -> Image {
    let rgba = (0..width * height)
        .map(|k| std::array::from_fn(|c| (random(k * 4 + c as u32 + seed) * 255.0) as u8))
        .collect();
    Image { name: String::new(), width, height, rgba }
}

fn texture(image: u32, wrap_u: Wrap, wrap_v: Wrap, linear: bool, mip_linear: Option<bool>) -> Texture {
    Texture { image, mag_linear: linear, min_linear: linear, mip_linear, wrap_u, wrap_v }
}

fn reference(texture: u32, uv_set: u32) -> Option<TextureRef> {
    Some(TextureRef { texture, uv_set, uv_transform: [1.0, 0.0, 0.0, 0.0, 1.0, 0.0] })
}

fn node(mesh: u32, local: Transform) -> Node {
    Node { mesh: Some(mesh), local, visible: true, ..Node::default() }
}

fn case(name: &str, mut scene: Scene, request: FrameRequest, color: ColorFormat) -> Case {
    scene.materials.push(Material::default());
    for (k, node) in scene.nodes.iter_mut().enumerate() {
        node.gltf_index = k as u32;
    }
    Case { name: name.into(), scene: Prepared::new(Arc::new(scene)), request, color }
}

/// Every texture slot, both UV sets, all wraps, filters and mips, vertex colours, mirrored and double-sided.
fn textures() -> Case {
    let turned = TextureRef { texture: 1, uv_set: 1, uv_transform: [0.8, -0.6, 0.2, 0.6, 0.8, -0.1] };
    let full = Material {
        base_color: [0.9, 0.8, 1.0, 1.0],
        base_color_texture: reference(0, 0),
        metallic_roughness_texture: Some(turned),
        normal_texture: reference(2, 0),
        normal_scale: 0.7,
        occlusion_texture: reference(3, 1),
        occlusion_strength: 0.6,
        emissive: [0.2, 0.3, 0.1],
        emissive_texture: reference(4, 0),
        double_sided: true,
        ..Material::default()
    };
    let plain =
        Material { base_color: [0.2, 0.5, 0.9, 1.0], metallic: 0.3, roughness: 0.4, ..Material::default() };
    let mirrored =
        Transform::Trs(Trs { translation: [1.2, 0.1, -0.5], scale: [-0.8, 0.7, 1.3], ..Trs::default() });
    let scene = Scene {
        nodes: vec![node(0, at([-1.0, 0.0, 0.0])), node(0, mirrored), node(1, at([0.2, -0.4, -3.0]))],
        meshes: vec![
            Mesh { primitives: vec![square(6, 0)], ..Mesh::default() },
            Mesh { primitives: vec![Primitive { color: Vec::new(), ..square(1, 1) }], ..Mesh::default() },
        ],
        materials: vec![full, plain],
        textures: vec![
            texture(0, Wrap::Repeat, Wrap::Mirror, true, Some(true)),
            texture(1, Wrap::Clamp, Wrap::Repeat, false, None),
            texture(2, Wrap::Mirror, Wrap::Clamp, true, Some(false)),
            texture(1, Wrap::Repeat, Wrap::Repeat, true, None),
            texture(0, Wrap::Clamp, Wrap::Clamp, false, Some(true)),
        ],
        images: vec![image(37, 16, 0), image(8, 13, 7), image(64, 64, 77)],
        ..Scene::default()
    };
    let request = FrameRequest {
        camera: looking([0.1, 0.0, 3.2], perspective(0.1)),
        previous_camera: Some(looking([0.0, 0.1, 3.0], perspective(0.1))),
        lighting: Lighting {
            environment_rotation_rad: 0.7,
            environment_intensity: 1.3,
            ..Lighting::default()
        },
        exposure_ev: 0.5,
        ..request(101, 67, 4)
    };
    case("textures", scene, request, ColorFormat::Srgb8)
}

/// Many BLEND and MASK layers that cross each other, over and under opaque ones, before the environment.
fn layers() -> Case {
    let mut scene = Scene { images: vec![image(16, 16, 5)], ..Scene::default() };
    scene.textures.push(texture(0, Wrap::Repeat, Wrap::Repeat, true, Some(true)));
    for k in 0..8u32 {
        scene.materials.push(Material {
            base_color: [random(k), random(k + 10), random(k + 20), 0.2 + 0.7 * random(k + 30)],
            base_color_texture: if k % 2 == 0 { reference(0, 0) } else { None },
            alpha_mode: match k {
                0 => AlphaMode::Opaque,
                1 | 2 => AlphaMode::Mask { cutoff: 0.35 },
                _ => AlphaMode::Blend,
            },
            roughness: 0.3 + 0.08 * k as f32,
            double_sided: true,
            ..Material::default()
        });
        scene.meshes.push(Mesh { primitives: vec![square(2, k)], ..Mesh::default() });
        let angle = 0.4 * k as f32 - 1.2;
        let (sin, cos) = (angle * 0.5 - angle * angle * angle / 48.0, 1.0 - angle * angle / 8.0);
        let scale = 1.0 / (sin * sin + cos * cos).sqrt();
        let rotation = [0.0, sin * scale, 0.0, cos * scale];
        let translation = [random(k + 40) - 0.5, random(k + 50) - 0.5, random(k + 60) - 0.5];
        scene.nodes.push(node(k, Transform::Trs(Trs { translation, rotation, scale: [1.0; 3] })));
    }
    let request = FrameRequest {
        camera: looking([0.0, 0.0, 3.0], perspective(0.05)),
        background: Background::Environment,
        ..request(72, 56, 8)
    };
    case("layers", scene, request, ColorFormat::Linear)
}

/// Three squares in one place, opaque: each sample belongs to the lowest.
fn ties() -> Case {
    let paint = |k: usize| {
        let mut emissive = [0.0; 3];
        emissive[k] = 1.0;
        Material { emissive, ..Material::default() }
    };
    let square = |k: u32| Mesh { primitives: vec![square(4, k)], ..Mesh::default() };
    let scene = Scene {
        meshes: (0..3).map(square).collect(),
        materials: (0..3).map(paint).collect(),
        nodes: (0..3).map(|k| node(k, Transform::default())).collect(),
        ..Scene::default()
    };
    case("ties", scene, request(64, 48, 4), ColorFormat::Srgb8)
}

/// Lines, points and unlit triangles through an orthographic camera.
fn lines_and_points() -> Case {
    let positions: Vec<[f32; 3]> = (0..40)
        .map(|k| [random(k) * 4.0 - 2.0, random(k + 100) * 3.0 - 1.5, random(k + 200) * 4.0 - 2.0])
        .collect();
    let colors = (0..40).map(|k| [random(k + 300), random(k + 400), random(k + 500), 1.0]).collect();
    let of = |topology, count: u32, material| Primitive {
        topology,
        material,
        indices: (0..count).collect(),
        position: positions.clone(),
        color: Vec::clone(&colors),
        ..Primitive::default()
    };
    let primitives = vec![
        of(Topology::Lines, 40, 0),
        of(Topology::Points, 40, 0),
        Primitive { gltf_index: 2, ..square(3, 1) },
    ];
    let scene = Scene {
        nodes: vec![node(0, Transform::default())],
        meshes: vec![Mesh { primitives, ..Mesh::default() }],
        materials: vec![
            Material::default(),
            Material { unlit: true, base_color: [0.3, 0.6, 0.2, 1.0], ..Material::default() },
        ],
        ..Scene::default()
    };
    let request = FrameRequest {
        camera: looking([0.05, 0.02, 5.0], ProjectionChoice::Orthographic { metres_per_px: 0.05 }),
        background: Background::Srgb([30, 120, 200]),
        tonemap: Tonemap::Aces,
        ..request(93, 61, 1)
    };
    case("lines and points", scene, request, ColorFormat::Srgb8)
}

/// Triangles through the near plane and far beyond the guard band, coplanar ones, and every kind of light.
fn crossing() -> Case {
    let mut floor = Primitive {
        position: vec![
            [-900.0, -1.0, 900.0],
            [900.0, -1.0, 900.0],
            [900.0, -1.2, -900.0],
            [-900.0, -1.1, -900.0],
        ],
        normal: vec![[0.0, 1.0, 0.0]; 4],
        indices: vec![0, 1, 2, 0, 2, 3],
        ..Primitive::default()
    };
    floor.uv0 = floor.position.iter().map(|p| [p[0], p[2]]).collect();
    let scene = Scene {
        nodes: vec![
            node(0, Transform::default()),
            node(1, at([0.0, 0.0, -2.0])),
            node(2, at([0.0, 0.0, -2.0])),
            node(1, at([0.3, -0.2, 1.9])),
            Node { light: Some(0), local: at([1.0, 2.0, 0.5]), visible: true, ..Node::default() },
            Node { light: Some(1), local: at([-0.5, 0.4, 1.5]), visible: true, ..Node::default() },
            Node { light: Some(2), local: at([0.0, 1.0, 3.0]), visible: true, ..Node::default() },
        ],
        meshes: [floor, square(2, 1), square(2, 2)]
            .map(|p| Mesh { primitives: vec![p], ..Mesh::default() })
            .to_vec(),
        materials: vec![
            Material { metallic: 0.0, roughness: 0.5, ..Material::default() },
            Material {
                base_color: [0.9, 0.2, 0.1, 1.0],
                metallic: 0.1,
                roughness: 0.2,
                ..Material::default()
            },
            Material {
                base_color: [0.1, 0.3, 0.9, 1.0],
                metallic: 0.9,
                roughness: 0.6,
                ..Material::default()
            },
        ],
        lights: vec![
            light(LightKind::Directional, None, 2.0),
            light(LightKind::Point, Some(9.0), 3.0),
            light(LightKind::Spot { inner_cone_rad: 0.2, outer_cone_rad: 0.6 }, None, 30.0),
        ],
        ..Scene::default()
    };
    let request = FrameRequest {
        camera: looking([0.1, 0.0, 2.0], perspective(0.01)),
        previous_camera: Some(looking([0.1, 0.05, 1.8], perspective(0.01))),
        tonemap: Tonemap::None,
        ..request(65, 49, 16)
    };
    case("crossing", scene, request, ColorFormat::Linear)
}

/// Materials with each lobe alone and with all of them, textured and not.
fn lobed() -> Vec<Material> {
    let plastic = || Material { metallic: 0.0, roughness: 0.4, ..Material::default() };
    let full = Material {
        base_color: [0.8, 0.7, 0.9, 1.0],
        base_color_texture: reference(0, 0),
        normal_texture: reference(0, 1),
        metallic: 0.3,
        roughness: 0.3,
        ior: 1.7,
        specular: Specular {
            strength: 0.8,
            texture: reference(0, 1),
            color: [1.0, 0.5, 3.0],
            color_texture: reference(1, 0),
        },
        clearcoat: Clearcoat {
            strength: 0.7,
            texture: reference(0, 0),
            roughness: 0.5,
            roughness_texture: reference(1, 1),
            normal_texture: reference(0, 0),
            normal_scale: 0.6,
        },
        sheen: Sheen {
            color: [0.3, 0.9, 0.5],
            color_texture: reference(1, 1),
            roughness: 0.8,
            roughness_texture: reference(0, 0),
        },
        anisotropy: Anisotropy { strength: 0.9, rotation_rad: 0.5, texture: reference(1, 0) },
        transmission: Transmission { strength: 0.8, texture: reference(1, 1) },
        volume: Volume {
            thickness: 0.7,
            thickness_texture: reference(0, 1),
            attenuation_color: [0.8, 0.4, 0.6],
            attenuation_distance: Some(0.3),
        },
        iridescence: Iridescence {
            strength: 0.9,
            texture: reference(0, 0),
            ior: 1.4,
            thickness_min_nm: 150.0,
            thickness_max_nm: 700.0,
            thickness_texture: reference(1, 0),
        },
        double_sided: true,
        ..Material::default()
    };
    vec![
        full,
        Material { ior: 2.1, ..plastic() },
        Material { clearcoat: Clearcoat { strength: 1.0, ..Clearcoat::default() }, ..plastic() },
        Material {
            metallic: 1.0,
            anisotropy: Anisotropy { strength: 0.7, rotation_rad: -1.0, texture: None },
            ..plastic()
        },
        Material { sheen: Sheen { color: [0.9; 3], roughness: 0.2, ..Sheen::default() }, ..plastic() },
        Material { transmission: Transmission { strength: 0.9, texture: None }, ..plastic() },
        Material { iridescence: Iridescence { strength: 1.0, ..Iridescence::default() }, ..plastic() },
        plastic(),
    ]
}

/// Every lobe under every kind of light, beside a material that has none.
fn lobes() -> Case {
    let materials = lobed();
    let count = materials.len() as u32;
    let placed = |k: u32| {
        let (x, y) = ((k % 4) as f32 * 1.3 - 2.0, (k / 4) as f32 * 1.5 - 0.8);
        let scale = [if k == 0 { -0.7 } else { 0.6 }, 0.7, 0.9];
        let turned = [0.2, 0.3, 0.0, 0.932_737_9];
        node(k, Transform::Trs(Trs { translation: [x, y, 0.0], rotation: turned, scale }))
    };
    let mut nodes: Vec<Node> = (0..count).map(placed).collect();
    for (light, translation) in [[1.0, 2.0, 2.5], [-1.5, 0.4, 1.5], [0.0, 0.5, -2.0]].into_iter().enumerate()
    {
        let local = at(translation);
        nodes.push(Node { light: Some(light as u32), local, visible: true, ..Node::default() });
    }
    let scene = Scene {
        nodes,
        meshes: (0..count)
            .map(|k| Mesh {
                primitives: vec![Primitive { color: Vec::new(), ..square(3, k) }],
                ..Mesh::default()
            })
            .collect(),
        materials,
        textures: vec![
            texture(0, Wrap::Repeat, Wrap::Repeat, true, Some(true)),
            texture(1, Wrap::Mirror, Wrap::Clamp, true, None),
        ],
        images: vec![image(16, 16, 3), image(9, 7, 40)],
        lights: vec![
            light(LightKind::Directional, None, 2.0),
            light(LightKind::Point, Some(9.0), 3.0),
            light(LightKind::Point, None, 20.0),
        ],
        ..Scene::default()
    };
    let request = FrameRequest {
        camera: looking([0.0, 0.1, 4.0], perspective(0.1)),
        lighting: Lighting { environment: Some(true), ..Lighting::default() },
        tonemap: Tonemap::None,
        ..request(111, 73, 4)
    };
    case("lobes", scene, request, ColorFormat::Linear)
}

fn light(kind: LightKind, range: Option<f32>, intensity: f32) -> Light {
    Light { name: String::new(), kind, color: [1.0, 0.9, 0.8], intensity, range }
}

/// No triangle at all.
fn nothing() -> Case {
    case(
        "nothing",
        Scene { nodes: vec![Node { visible: true, ..Node::default() }], ..Scene::default() },
        request(17, 9, 4),
        ColorFormat::Srgb8,
    )
}

/// Scenes made by others, where they are.
fn shared() -> Vec<Case> {
    const SCENES: [(&str, u32, f64); 15] = [
        ("CesiumMilkTruck/CesiumMilkTruck.glb", 4, 0.4),
        ("AlphaBlendModeTest/AlphaBlendModeTest.glb", 4, 0.0),
        ("Fox/Fox.glb", 4, 0.7),
        ("AnimatedMorphCube/AnimatedMorphCube.glb", 4, 0.9),
        ("RiggedSimple/RiggedSimple.glb", 4, 0.5),
        ("SimpleInstancing/simple-instancing.glb", 4, 0.0),
        ("TextureSettingsTest/TextureSettingsTest.glb", 4, 0.0),
        ("PlayCanvasLights/Lights.glb", 4, 0.0),
        ("BoxMeshopt/BoxMeshopt.glb", 4, 0.0),
        ("ClearCoatTest/ClearCoatTest.glb", 4, 0.0),
        ("BoxAnimated/BoxAnimated.glb", 1, 1.2),
        ("SpecularTest/SpecularTest.glb", 4, 0.0),
        ("AnisotropyStrengthTest/AnisotropyStrengthTest.glb", 4, 0.0),
        ("AttenuationTest/AttenuationTest.glb", 4, 0.0),
        ("ClearcoatWicker/ClearcoatWicker.glb", 4, 0.0),
    ];
    let Some(folder) = common::assets() else { return Vec::new() };
    let limits = Limits::default();
    let mut cases = Vec::new();
    for (path, samples, time_s) in SCENES {
        let source = Source::from_path(folder.join(path), &limits);
        let scene = source.and_then(|source| scene::load(&source, &limits));
        let scene = scene.unwrap_or_else(|error| panic!("{path}: {error}"));
        let request =
            FrameRequest { time_s, previous_time_s: Some(time_s - 0.1), ..request(96, 64, samples) };
        let scene = Arc::new(scene);
        let direction_world = [-0.4, -1.0, -0.6];
        let lighting = Lighting {
            shadows: true,
            sun: Some(Sun { direction_world, illuminance_lux: 2.0 }),
            ..Lighting::default()
        };
        for (name, request) in [
            (path.to_owned(), request.clone()),
            (format!("{path} with shadows"), FrameRequest { lighting, ..request }),
        ] {
            let scene = Prepared::new(scene.clone());
            cases.push(Case { name, scene, request, color: ColorFormat::Srgb8 });
        }
    }
    cases
}
