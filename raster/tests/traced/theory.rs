//! Scenes whose light is known in closed form.

use isoframe_raster::frame::Traced;
use serde_json::json;

use crate::room::{Room, diffuse, from_above, lamp, mean, metal, plastic, render, request, uniform};

/// Mean radiance over a small square at the origin of a floor, seen from above.
fn seen(room: &Room, radiance: f32, traced: Traced) -> f64 {
    let mut request = request(from_above([0.0, 0.5, 0.0], 0.01, 16), 16, traced);
    request.lighting.environment = Some(radiance > 0.0);
    mean(&render(&room.prepared(), &uniform(radiance), &request))
}

#[track_caller]
fn near(got: f64, want: f64, relative: f64) {
    assert!((got / want - 1.0).abs() < relative, "{got}, not {want}");
}

const SAMPLES: Traced = Traced {
    samples: 64,
    diffuse_bounces: 0,
    specular_bounces: 0,
    light_radius: 0.0,
    light_angle_rad: 0.0,
    occlusion_radius: None,
    sample_radiance_max: None,
};

#[test]
fn a_point_light_falls_off_with_the_square() {
    for (radius, tolerance) in [(0.0, 1e-3), (0.3, 1e-2)] {
        let mut room = Room::new();
        let floor = room.material(diffuse([0.5; 3]));
        room.floor(0.0, 10.0, floor);
        room.light(json!({ "type": "point", "intensity": 8.0 }), json!({ "translation": [0.0, 2.0, 0.0] }));
        // A sphere sheds the light of a point at its centre on what faces it.
        near(seen(&room, 0.0, Traced { light_radius: radius, ..SAMPLES }), 0.5 / PI * 8.0 / 4.0, tolerance);
    }
}

const PI: f64 = std::f64::consts::PI;

#[test]
fn a_directional_light_is_what_a_facing_surface_gets() {
    for (angle, tolerance) in [(0.0, 1e-3), (0.3, 1e-2)] {
        let mut room = Room::new();
        let floor = room.material(diffuse([0.8; 3]));
        room.floor(0.0, 10.0, floor);
        // Turned a quarter about X: it shines straight down.
        let down = [-std::f32::consts::FRAC_1_SQRT_2, 0.0, 0.0, std::f32::consts::FRAC_1_SQRT_2];
        room.light(json!({ "type": "directional", "intensity": 3.0 }), json!({ "rotation": down }));
        near(seen(&room, 0.0, Traced { light_angle_rad: angle, ..SAMPLES }), 0.8 / PI * 3.0, tolerance);
    }
}

/// Form factor of a square of half side a, parallel, at distance h over its centre.
fn form_factor(a: f64, h: f64) -> f64 {
    let x = a / h;
    4.0 / (2.0 * PI) * 2.0 * (x / (1.0 + x * x).sqrt()) * libm::atan(x / (1.0 + x * x).sqrt())
}

#[test]
fn a_lamp_gives_its_form_factor() {
    for half in [0.1, 1.0, 20.0] {
        let mut room = Room::new();
        let (floor, lamp) = (room.material(diffuse([0.6; 3])), room.material(lamp(5.0)));
        room.floor(0.0, 1.0, floor);
        room.ceiling(1.0, half, lamp);
        let mut request =
            request(from_above([0.0, 0.5, 0.0], 0.01, 16), 16, Traced { samples: 256, ..SAMPLES });
        request.lighting.environment = Some(false);
        let got = mean(&render(&room.prepared(), &uniform(0.0), &request));
        near(got, 0.6 * 5.0 * form_factor(f64::from(half), 1.0), 5e-3);
    }
}

/// A wall that hides half of an even sky halves the light at its foot; ambient occlusion sees it only when it is near.
#[test]
fn a_wall_hides_half_the_sky() {
    let mut room = Room::new();
    let floor = room.material(diffuse([0.5; 3]));
    let wall = room.material(diffuse([0.0; 3]));
    room.floor(0.0, 50.0, floor);
    room.square([-2000.0, 0.0, -0.03], [4000.0, 0.0, 0.0], [0.0, 2000.0, 0.0], wall);
    let with = |occlusion_radius| seen(&room, 1.0, Traced { samples: 256, occlusion_radius, ..SAMPLES });
    near(with(None), 0.25, 2e-2);
    near(with(Some(1e4)), 0.25, 2e-2);
    near(with(Some(1e-3)), 0.5, 1e-2);
}

/// Between two large plates the light of bounces is a geometric series.
#[test]
fn bounces_add_up() {
    let mut room = Room::new();
    let (floor, lamp) = (
        room.material(diffuse([0.5; 3])),
        json!({
            "emissiveFactor": [1.0, 1.0, 1.0],
            "pbrMetallicRoughness": { "baseColorFactor": [0.5, 0.5, 0.5, 1.0], "metallicFactor": 0.0 },
            "extensions": { "KHR_materials_specular": { "specularFactor": 0.0 } },
        }),
    );
    let lamp = room.material(lamp);
    room.floor(0.0, 500.0, floor);
    room.ceiling(1.0, 500.0, lamp);
    let mut expected = 0.5;
    let mut term = 0.5;
    for bounces in 0..=8 {
        let traced = Traced { samples: 256, diffuse_bounces: bounces, ..SAMPLES };
        near(seen(&room, 0.0, traced), expected, 1e-2);
        // From the floor to the ceiling and back.
        if bounces % 2 == 1 {
            term *= 0.25;
            expected += term;
        }
    }
}

/// White surfaces under a white sky are as white as the sky: no lobe adds light, none loses any.
#[test]
fn white_surfaces_vanish_in_a_furnace() {
    let materials = [
        ("diffuse", diffuse([1.0; 3])),
        ("metal 0.1", metal([1.0; 3], 0.1)),
        ("metal 0.5", metal([1.0; 3], 0.5)),
        ("metal 1", metal([1.0; 3], 1.0)),
        ("plastic 0.2", plastic([1.0; 3], 0.2)),
        ("plastic 1", plastic([1.0; 3], 1.0)),
    ];
    for (name, material) in materials {
        let mut room = Room::new();
        let material = room.material(material);
        room.sphere([0.0; 3], 1.0, material);
        let traced = Traced { samples: 64, ..SAMPLES };
        let mut request = request(from_above([0.0, 3.0, 0.0], 1.1, 48), 48, traced);
        request.lighting.environment = Some(true);
        let frame = render(&room.prepared(), &uniform(1.0), &request);
        let base = frame.base.as_ref().expect("base");
        let sphere: Vec<f64> = base.iter().filter(|p| p[3] > 0.0).map(|p| f64::from(p[0])).collect();
        let mean = sphere.iter().sum::<f64>() / sphere.len() as f64;
        assert!(sphere.len() > 1400);
        assert!((0.995..1.005).contains(&mean), "{name}: {mean}");
    }
}
