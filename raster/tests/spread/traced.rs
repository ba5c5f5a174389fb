//! Scenes whose light is traced.

use isoframe_raster::frame::Traced;

use super::*;

/// All of them, small: paths are long.
pub fn cases() -> Vec<Case> {
    vec![
        sized_lights(),
        deformed_in_motion(),
        blended(),
        shining_textures(),
        occluded(),
        lobed_surfaces(),
        plain_lines(),
        wide(),
    ]
}

/// Another case, made smaller, with traced light.
fn traced(case: Case, size: [u32; 2], samples: u32, lighting: impl FnOnce(&mut Lighting)) -> Case {
    let mut request = FrameRequest {
        width: size[0],
        height: size[1],
        samples,
        outputs: Output::all().collect(),
        seed: 77,
        ..case.request
    };
    request.lighting.shadows = false;
    lighting(&mut request.lighting);
    Case { name: format!("{}, traced", case.name), request, ..case }
}

/// Point, spot and directional lights with a size; MASK, BLEND and unlit casters, mirrored, flattened, sheared.
fn sized_lights() -> Case {
    traced(shadows::casters(), [44, 33], 4, |lighting| {
        lighting.traced =
            Some(Traced { samples: 3, light_radius: 0.3, light_angle_rad: 0.02, ..Traced::default() });
    })
}

/// Skinned and morphed, MASK, environment and lights, far from the origin, in motion; direct light of one sample.
fn deformed_in_motion() -> Case {
    let mut case = traced(shadows::deformed(), [70, 37], 8, |lighting| {
        lighting.environment_rotation_rad = 0.7;
        lighting.traced =
            Some(Traced { samples: 1, diffuse_bounces: 0, specular_bounces: 0, ..Traced::default() });
    });
    let before = [900.0, -699.8, 406.0];
    case.request.previous_camera =
        Some(looking(before, ProjectionChoice::Orthographic { metres_per_px: 0.045 }));
    case
}

/// BLEND and MASK layers before the environment.
fn blended() -> Case {
    traced(layers(), [24, 16], 8, |lighting| {
        lighting.traced = Some(Traced { samples: 4, ..Traced::default() });
    })
}

/// Every texture slot; what shines does so by texture, and lights others beside the environment.
fn shining_textures() -> Case {
    traced(textures(), [41, 27], 4, |lighting| {
        lighting.traced = Some(Traced { samples: 3, diffuse_bounces: 2, ..Traced::default() });
    })
}

/// Ambient occlusion with a radius, beside shining triangles and lights; bounded samples.
fn occluded() -> Case {
    let mut case = crossing();
    let mut scene = (*case.scene.scene).clone();
    scene.materials[1].emissive = [3.0, 2.0, 1.0];
    case.scene = Prepared::new(Arc::new(scene));
    traced(case, [33, 25], 16, |lighting| {
        lighting.environment = Some(true);
        lighting.traced = Some(Traced {
            samples: 4,
            light_radius: 0.1,
            occlusion_radius: Some(0.8),
            sample_radiance_max: Some(2.0),
            ..Traced::default()
        });
    })
}

/// Every lobe alone and all of them, textured, seen by rays from the front and from behind, through volumes too.
fn lobed_surfaces() -> Case {
    traced(lobes(), [56, 37], 4, |lighting| {
        lighting.traced = Some(Traced { samples: 3, light_radius: 0.2, ..Traced::default() });
    })
}

/// Lines, points and unlit triangles: nothing to trace for but what they light.
fn plain_lines() -> Case {
    traced(lines_and_points(), [46, 30], 1, |lighting| {
        lighting.traced = Some(Traced { samples: 2, ..Traced::default() });
    })
}

/// So wide that each row of tiles is a band: neighbours lie in others.
fn wide() -> Case {
    let scene = Scene {
        nodes: vec![node(0, Transform::default()), node(1, at([0.3, 0.2, 0.5]))],
        meshes: [square(3, 0), square(2, 1)]
            .map(|p| Mesh { primitives: vec![p], ..Mesh::default() })
            .to_vec(),
        materials: vec![
            Material { metallic: 0.2, roughness: 0.4, ..Material::default() },
            Material {
                base_color: [0.9, 0.4, 0.2, 0.6],
                alpha_mode: AlphaMode::Blend,
                ..Material::default()
            },
        ],
        ..Scene::default()
    };
    let request = FrameRequest {
        camera: looking([0.05, 0.02, 5.0], ProjectionChoice::Orthographic { metres_per_px: 0.06 }),
        ..request(16384, 27, 4)
    };
    let plain = case("wide", scene, request, ColorFormat::Srgb8);
    traced(plain, [16384, 27], 4, |lighting| {
        lighting.traced = Some(Traced { samples: 2, diffuse_bounces: 1, ..Traced::default() });
    })
}
