//! White furnaces: under the same light from everywhere nothing gives back more than it gets, and what absorbs nothing
//! gives back all of it.

use std::f32::consts::PI;
use std::sync::Arc;

use isoframe_raster::backend::{Cancel, Job};
use isoframe_raster::environment::{Environment, LEVELS, OCTAHEDRAL_SIDE};
use isoframe_raster::frame::*;
use isoframe_raster::prepared::Prepared;
use isoframe_raster::scene::*;

use crate::rendered::{cpu, dark, plain, square_on};

/// Radiance 1 from everywhere.
fn uniform() -> Environment {
    let texels = (0..LEVELS).map(|level| (OCTAHEDRAL_SIDE >> level).pow(2) as usize).sum();
    let mut irradiance_sh = [[0.0; 4]; 9];
    irradiance_sh[0] = [1.0, 1.0, 1.0, 0.0];
    Environment {
        hash: "uniform".into(),
        specular: vec![[1.0, 1.0, 1.0, 0.0]; texels],
        irradiance_sh,
        background: vec![[1.0, 1.0, 1.0, 0.0]],
        background_side: 1,
        distribution: Default::default(),
    }
}

/// Directional lights whose illuminance together is that of radiance 1 from everywhere. *Source*: points of a
/// Fibonacci spiral.
fn lights(count: u32) -> (Vec<Node>, Vec<Light>) {
    let turn = PI * (3.0 - 5f32.sqrt());
    let node = |k: u32| {
        let z = 1.0 - (2.0 * k as f32 + 1.0) / count as f32;
        let (radius, angle) = ((1.0 - z * z).sqrt(), turn * k as f32);
        // Turns -Z to the direction: half way between them is the axis of half a turn.
        let (x, y) = (radius * angle.cos(), radius * angle.sin());
        let half = [x, y, z - 1.0];
        let length = (half[0] * half[0] + half[1] * half[1] + half[2] * half[2]).sqrt();
        let rotation = [half[0] / length, half[1] / length, half[2] / length, 0.0];
        let local = Transform::Trs(Trs { rotation, ..Trs::default() });
        Node { light: Some(0), local, visible: true, ..Node::default() }
    };
    let intensity = 4.0 * PI / count as f32;
    let light =
        Light { name: String::new(), kind: LightKind::Directional, color: [1.0; 3], intensity, range: None };
    ((0..count).map(node).collect(), vec![light])
}

/// A unit sphere with tangents along its parallels.
fn sphere() -> Primitive {
    let (slices, stacks) = (48, 24);
    let mut p = Primitive::default();
    for j in 0..=stacks {
        for i in 0..=slices {
            let (polar, angle) = (PI * j as f32 / stacks as f32, 2.0 * PI * i as f32 / slices as f32);
            let n = [polar.sin() * angle.sin(), polar.cos(), polar.sin() * angle.cos()];
            p.position.push(n);
            p.normal.push(n);
            p.tangent.push([angle.cos(), 0.0, -angle.sin(), 1.0]);
            p.uv0.push([i as f32 / slices as f32, j as f32 / stacks as f32]);
        }
    }
    for j in 0..stacks {
        for i in 0..slices {
            let k = j * (slices + 1) + i;
            p.indices.extend([k, k + slices + 1, k + 1, k + 1, k + slices + 1, k + slices + 2]);
        }
    }
    p
}

/// Least and largest radiance of a sphere of this material, and the mean.
fn radiance(material: Material, environment: bool) -> [f32; 3] {
    let mut nodes = vec![Node { mesh: Some(0), visible: true, ..Node::default() }];
    let mut scene = Scene {
        meshes: vec![Mesh { primitives: vec![sphere()], ..Mesh::default() }],
        materials: vec![material],
        ..Scene::default()
    };
    if !environment {
        let (shining, all) = lights(256);
        nodes.extend(shining);
        scene.lights = all;
    }
    scene.nodes = nodes;
    let scene = Prepared::new(Arc::new(scene));
    let request = FrameRequest {
        camera: square_on([0.0, 0.0, 3.0], 0.06),
        outputs: vec![Output::Base, Output::Id],
        lighting: Lighting { environment: Some(environment), ..Lighting::default() },
        ..plain(34, 34)
    };
    let given = if environment { &uniform() } else { dark() };
    let job = Job {
        scene: &scene,
        environment: given,
        request: &request,
        color: ColorFormat::Linear,
        cancel: &Cancel::default(),
    };
    let frame = cpu(1).render(&job).expect("a frame");
    let (base, id) = (frame.base.expect("base"), frame.id.expect("ids"));
    let seen = base.iter().zip(&id).filter(|(_, id)| id[0] > 0).flat_map(|(c, _)| c[..3].iter().copied());
    let seen: Vec<f32> = seen.collect();
    assert!(seen.len() > 2000, "{} values", seen.len());
    let least = seen.iter().copied().fold(f32::INFINITY, f32::min);
    let largest = seen.iter().copied().fold(0.0, f32::max);
    [least, largest, seen.iter().sum::<f32>() / seen.len() as f32]
}

/// Materials that absorb nothing.
fn white() -> Vec<(&'static str, Material)> {
    let dielectric = || Material { metallic: 0.0, ..Material::default() };
    let metal = || Material { metallic: 1.0, ..Material::default() };
    let coat = |roughness| Clearcoat { strength: 1.0, roughness, ..Clearcoat::default() };
    let film = |thickness_max_nm| Iridescence { strength: 1.0, thickness_max_nm, ..Iridescence::default() };
    let sheen = |roughness| Sheen { color: [1.0; 3], roughness, ..Sheen::default() };
    let glass = || Material { transmission: Transmission { strength: 1.0, texture: None }, ..dielectric() };
    let thick = Volume { thickness: 1.0, ..Volume::default() };
    let stretched = |strength| Anisotropy { strength, rotation_rad: 0.6, texture: None };
    let specular = |strength, color| Specular { strength, color, ..Specular::default() };
    vec![
        ("dielectric", dielectric()),
        ("metal", metal()),
        ("index 1", Material { ior: 1.0, ..dielectric() }),
        ("index 2.4", Material { ior: 2.4, ..dielectric() }),
        ("index 0", Material { ior: 0.0, ..dielectric() }),
        ("half specular", Material { specular: specular(0.5, [1.0, 0.3, 4.0]), ..dielectric() }),
        ("bright specular", Material { specular: specular(1.0, [30.0, 20.0, 1.0]), ..dielectric() }),
        ("coated dielectric", Material { clearcoat: coat(0.0), ..dielectric() }),
        ("rough coat over metal", Material { clearcoat: coat(0.7), ..metal() }),
        ("stretched metal", Material { anisotropy: stretched(0.8), ..metal() }),
        ("stretched dielectric", Material { anisotropy: stretched(1.0), ..dielectric() }),
        ("film over dielectric", Material { iridescence: film(400.0), ..dielectric() }),
        ("film over metal", Material { iridescence: film(700.0), ..metal() }),
        ("white fibres", Material { sheen: sheen(0.2), ..dielectric() }),
        ("rough fibres over metal", Material { sheen: sheen(0.9), ..metal() }),
        ("fibres without roughness", Material { sheen: sheen(0.0), ..dielectric() }),
        ("pane", glass()),
        ("glass", Material { volume: thick.clone(), ..glass() }),
        (
            "half pane",
            Material { transmission: Transmission { strength: 0.5, texture: None }, ..dielectric() },
        ),
        (
            "all together",
            Material {
                ior: 1.8,
                specular: specular(0.7, [1.0, 0.9, 2.0]),
                clearcoat: coat(0.3),
                sheen: sheen(0.5),
                anisotropy: stretched(0.5),
                iridescence: film(300.0),
                volume: thick,
                ..glass()
            },
        ),
    ]
}

const ROUGHNESSES: [f32; 6] = [0.0, 0.15, 0.35, 0.55, 0.8, 1.0];

#[test]
fn white_materials_give_back_all_light_of_an_environment() {
    for (name, material) in white() {
        for roughness in ROUGHNESSES {
            let [least, largest, _] = radiance(Material { roughness, ..material.clone() }, true);
            assert!(
                least >= 0.995 && largest <= 1.005,
                "{name}, roughness {roughness}: {least} to {largest}"
            );
        }
    }
}

#[test]
fn coloured_materials_give_back_less() {
    let absorbing = Volume {
        thickness: 1.0,
        attenuation_color: [0.9, 0.5, 0.1],
        attenuation_distance: Some(0.5),
        ..Volume::default()
    };
    // glTF mixes the reflectance of half metals, not their light: what is neither reflected nor diffused is lost.
    let half = ("half metal", Material { metallic: 0.5, ..Material::default() });
    for (name, material) in white().into_iter().chain([half]) {
        for roughness in ROUGHNESSES {
            let base_color = [0.9, 0.5, 0.1, 1.0];
            let volume = absorbing.clone();
            let tinted = Material { roughness, base_color, volume, ..material.clone() };
            let [_, largest, mean] = radiance(tinted, true);
            assert!(largest <= 1.005, "{name}, roughness {roughness}: {largest}");
            let mirror = name == "index 0";
            assert!(mirror || mean < 0.9, "{name}, roughness {roughness}: {mean} of the light comes back");
        }
    }
}

/// Lights spread over the sphere give what an environment does, in the mean: the same lobes, the same shares.
/// 256 of them show lobes of a roughness of one half and more within a hundredth.
#[test]
fn punctual_lights_are_given_back_as_an_environment_is() {
    for (name, material) in white() {
        for roughness in [0.55, 0.8, 1.0] {
            let mut material = Material { roughness, ..material.clone() };
            material.clearcoat.roughness = material.clearcoat.roughness.max(0.5);
            // Of what is transmitted, only what a rough surface scatters once is found behind it: it may be less. What
            // stretched facets scatter again is taken for that of round ones, which is less.
            let least = match (material.transmission.strength > 0.0, material.anisotropy.strength > 0.0) {
                (true, _) => 0.4,
                (_, true) => 0.94,
                _ => 0.98,
            };
            let [_, _, mean] = radiance(material, false);
            assert!((least..=1.02).contains(&mean), "{name}, roughness {roughness}: {mean}");
        }
    }
}
