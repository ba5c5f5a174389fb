use isoframe_raster::frame::{
    AnimationChoice, Background, CameraChoice, FrameRequest, Lighting, NamedView, NeuralMode, Output,
    ProjectionChoice, Sun, Tonemap, Traced,
};
use proptest::prelude::*;

use super::*;
use crate::plan::{Path, Plan, identity};

fn plain() -> FrameRequest {
    FrameRequest { scene: "5".repeat(64), ..FrameRequest::default() }
}

fn id(request: &FrameRequest) -> String {
    Plan::raster(request, None).unwrap().plan_id().to_owned()
}

/// Every field that decides pixels, each changed alone.
fn single_changes() -> Vec<(&'static str, FrameRequest)> {
    let base = plain();
    let with = |change: fn(&mut FrameRequest)| {
        let mut request = base.clone();
        change(&mut request);
        request
    };
    let camera = |camera| FrameRequest { camera, ..base.clone() };
    let lighting = |lighting| FrameRequest { lighting, ..base.clone() };
    let traced = |change: fn(&mut Traced)| {
        let mut traced = Traced::default();
        change(&mut traced);
        lighting(Lighting { traced: Some(traced), ..Lighting::default() })
    };
    let sun = |direction_world, illuminance_lux| {
        lighting(Lighting { sun: Some(Sun { direction_world, illuminance_lux }), ..Lighting::default() })
    };
    let orbit = CameraChoice::Orbit {
        theta_rad: 0.5,
        phi_rad: 1.0,
        radius: 1.05,
        radius_relative: true,
        target_world: None,
        yfov_rad: None,
    };
    let matrix = |projection| CameraChoice::Matrix {
        world_from_view: [1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., 0., 5., 1.],
        projection,
    };
    let lens = |znear, zfar| matrix(ProjectionChoice::Perspective { yfov_rad: 0.6, znear, zfar });
    vec![
        ("scene", with(|r| r.scene = "6".repeat(64))),
        ("environment", with(|r| r.environment = Some("7".repeat(64)))),
        ("camera index", camera(CameraChoice::Index(0))),
        ("camera index 1", camera(CameraChoice::Index(1))),
        ("camera name", camera(CameraChoice::Name("0".into()))),
        ("camera view", camera(CameraChoice::View(NamedView::Front))),
        ("camera orbit", camera(orbit.clone())),
        ("camera matrix", camera(lens(None, None))),
        ("camera znear", camera(lens(Some(0.1), None))),
        ("camera zfar", camera(lens(None, Some(100.0)))),
        ("camera ortho", camera(matrix(ProjectionChoice::Orthographic { metres_per_px: 0.01 }))),
        ("previous camera", with(|r| r.previous_camera = Some(CameraChoice::Auto))),
        ("animation", with(|r| r.animation = AnimationChoice::None)),
        ("animation all", with(|r| r.animation = AnimationChoice::All)),
        ("animation index", with(|r| r.animation = AnimationChoice::Index(0))),
        ("time", with(|r| r.time_s = 0.1)),
        ("time, one bit", with(|r| r.time_s = 0.1_f64.next_up())),
        ("previous time", with(|r| r.previous_time_s = Some(0.0))),
        ("variant", with(|r| r.variant = Some("red".into()))),
        ("width", with(|r| r.width = 1281)),
        ("height", with(|r| r.height = 721)),
        ("samples", with(|r| r.samples = 8)),
        ("seed", with(|r| r.seed = 1)),
        ("environment on", lighting(Lighting { environment: Some(true), ..Lighting::default() })),
        ("environment off", lighting(Lighting { environment: Some(false), ..Lighting::default() })),
        ("punctual", lighting(Lighting { punctual: false, ..Lighting::default() })),
        ("intensity", lighting(Lighting { environment_intensity: 2.0, ..Lighting::default() })),
        (
            "intensity, one bit",
            lighting(Lighting { environment_intensity: 1.0_f32.next_up(), ..Lighting::default() }),
        ),
        ("rotation", lighting(Lighting { environment_rotation_rad: 0.1, ..Lighting::default() })),
        ("sun", sun([0.0, -1.0, 0.0], 3.0)),
        ("sun direction", sun([0.1, -1.0, 0.0], 3.0)),
        ("sun lux", sun([0.0, -1.0, 0.0], 4.0)),
        ("shadows", lighting(Lighting { shadows: true, ..Lighting::default() })),
        ("traced", traced(|_| {})),
        ("light samples", traced(|t| t.samples = 17)),
        ("diffuse bounces", traced(|t| t.diffuse_bounces = 0)),
        ("specular bounces", traced(|t| t.specular_bounces = 8)),
        ("light radius", traced(|t| t.light_radius = 0.1)),
        ("light angle", traced(|t| t.light_angle_rad = 0.1)),
        ("occlusion radius", traced(|t| t.occlusion_radius = Some(0.1))),
        ("sample max", traced(|t| t.sample_radiance_max = Some(10.0))),
        ("exposure", with(|r| r.exposure_ev = 0.5)),
        ("tonemap", with(|r| r.tonemap = Tonemap::Aces)),
        ("background", with(|r| r.background = Background::Environment)),
        ("background colour", with(|r| r.background = Background::Srgb([0, 0, 1]))),
        ("outputs", with(|r| r.outputs = vec![Output::Color, Output::Depth])),
    ]
}

#[test]
fn any_single_change_changes_the_id() {
    let mut ids = vec![("nothing", id(&plain()))];
    for (what, request) in single_changes() {
        validate(&request, &RequestLimits::default()).unwrap_or_else(|error| panic!("{what}: {error}"));
        ids.push((what, id(&request)));
    }
    for (k, (what, id)) in ids.iter().enumerate() {
        for (other, other_id) in &ids[..k] {
            assert_ne!(id, other_id, "{what} and {other}");
        }
    }
    let engine = |engine| identity(&plain(), Path::Raster, None, engine).unwrap();
    assert_ne!(engine("isoframe-1"), engine("isoframe-2"));
}

#[test]
fn what_a_raster_frame_does_not_depend_on_is_resolved_away() {
    for neural in [NeuralMode::Off, NeuralMode::Auto] {
        for channel in ["live", "canary"] {
            let request = FrameRequest { neural, model_channel: channel.into(), ..plain() };
            assert_eq!(id(&request), id(&plain()), "{neural:?} {channel}");
        }
    }
}

#[test]
fn one_meaning_has_one_id() {
    for (what, request) in single_changes() {
        let canonical = canonical(&request);
        let json = serde_json::to_value(&canonical).unwrap();
        // Field order does not matter: a map read back in reverse.
        let serde_json::Value::Object(fields) = &json else { panic!("not an object") };
        let reversed: Vec<String> =
            fields.iter().rev().map(|(name, value)| format!("{name:?}:{value}")).collect();
        let read: FrameRequest = serde_json::from_str(&format!("{{{}}}", reversed.join(","))).unwrap();
        assert_eq!(read, canonical, "{what}");
        assert_eq!(id(&read), id(&request), "{what}");
        // Defaults are filled in.
        let default = serde_json::to_value(FrameRequest::default()).unwrap();
        let sparse: serde_json::Map<_, _> = fields
            .iter()
            .filter(|(name, value)| default[*name] != **value)
            .map(|(n, v)| (n.clone(), v.clone()))
            .collect();
        let read: FrameRequest = serde_json::from_value(sparse.into()).unwrap();
        assert_eq!(id(&read), id(&request), "{what}");
    }
    let zeros = |zero: f64| FrameRequest {
        time_s: zero,
        previous_time_s: Some(zero),
        exposure_ev: zero as f32,
        camera: CameraChoice::Matrix {
            world_from_view: [zero; 16],
            projection: ProjectionChoice::Perspective { yfov_rad: 1.0, znear: None, zfar: None },
        },
        ..plain()
    };
    assert_eq!(id(&zeros(-0.0)), id(&zeros(0.0)));
    let negative = canonical(&zeros(-0.0));
    assert!(negative.time_s.is_sign_positive() && negative.exposure_ev.is_sign_positive());
    let outputs = |outputs: &[Output]| id(&FrameRequest { outputs: outputs.to_vec(), ..plain() });
    let both = outputs(&[Output::Color, Output::Id]);
    assert_eq!(both, outputs(&[Output::Id, Output::Color, Output::Id]));
}

/// The id of a request that is written down here, so that no change to fields, names or defaults passes unseen:
/// blake3 of the JSON below, made with `b3sum`.
#[test]
fn canonical_json_is_as_written() {
    let request = canonical(&FrameRequest { time_s: 0.1, exposure_ev: 0.1, ..plain() });
    let json = serde_json_canonicalizer::to_string(&request).unwrap();
    let five = "5".repeat(64);
    let written = format!(
        concat!(
            r#"{{"animation":"first","background":"transparent","camera":"auto","environment":null,"#,
            r#""exposure_ev":0.10000000149011612,"height":720,"lighting":{{"environment":null,"#,
            r#""environment_intensity":1,"environment_rotation_rad":0,"punctual":true,"shadows":false,"#,
            r#""sun":null,"traced":null}},"#,
            r#""model_channel":"live","neural":"off","outputs":["color"],"previous_camera":null,"#,
            r#""previous_time_s":null,"samples":4,"scene":"{}","seed":0,"time_s":0.1,"tonemap":"neutral","#,
            r#""variant":null,"width":1280}}"#
        ),
        five
    );
    assert_eq!(json, written);
    let identity = format!(
        r#"{{"engine":"e","plan":{{"model":null,"path":"raster","request":{written}}},"scene":"{five}"}}"#
    );
    let expected = blake3::hash(identity.as_bytes()).to_hex().to_string();
    assert_eq!(super::super::plan::identity(&request, Path::Raster, None, "e").unwrap(), expected);
}

#[test]
fn what_cannot_be_is_refused_with_its_field() {
    let camera = |camera| FrameRequest { camera, ..plain() };
    let lens = |yfov_rad, znear, zfar| {
        camera(CameraChoice::Matrix {
            world_from_view: [0.0; 16],
            projection: ProjectionChoice::Perspective { yfov_rad, znear, zfar },
        })
    };
    let orbit = |theta_rad, radius, yfov_rad| {
        camera(CameraChoice::Orbit {
            theta_rad,
            phi_rad: 1.0,
            radius,
            radius_relative: false,
            target_world: None,
            yfov_rad,
        })
    };
    let sun = |direction_world, illuminance_lux| FrameRequest {
        lighting: Lighting { sun: Some(Sun { direction_world, illuminance_lux }), ..Lighting::default() },
        ..plain()
    };
    let intensity = |environment_intensity| FrameRequest {
        lighting: Lighting { environment_intensity, ..Lighting::default() },
        ..plain()
    };
    let traced = |traced| FrameRequest {
        lighting: Lighting { traced: Some(traced), ..Lighting::default() },
        ..plain()
    };
    let light = Traced::default();
    let named = |bytes| "x".repeat(bytes);
    for (expected, request) in [
        ("scene", FrameRequest { scene: String::new(), ..plain() }),
        ("scene", FrameRequest { scene: "A".repeat(64), ..plain() }),
        ("scene", FrameRequest { scene: "../".repeat(21) + "a", ..plain() }),
        ("environment", FrameRequest { environment: Some("studio".into()), ..plain() }),
        ("width", FrameRequest { width: 0, ..plain() }),
        ("width", FrameRequest { width: 16385, ..plain() }),
        ("height", FrameRequest { height: 0, ..plain() }),
        ("height", FrameRequest { height: u32::MAX, ..plain() }),
        ("size", FrameRequest { width: 16384, height: 16384, ..plain() }),
        ("samples", FrameRequest { samples: 0, ..plain() }),
        ("samples", FrameRequest { samples: 2, ..plain() }),
        ("samples", FrameRequest { samples: 32, ..plain() }),
        ("time_s", FrameRequest { time_s: f64::NAN, ..plain() }),
        ("time_s", FrameRequest { time_s: f64::INFINITY, ..plain() }),
        ("previous_time_s", FrameRequest { previous_time_s: Some(f64::NEG_INFINITY), ..plain() }),
        ("exposure_ev", FrameRequest { exposure_ev: f32::NAN, ..plain() }),
        ("exposure_ev", FrameRequest { exposure_ev: 33.0, ..plain() }),
        ("camera", camera(CameraChoice::Name(String::new()))),
        ("camera", camera(CameraChoice::Name(named(1025)))),
        ("camera", orbit(f64::NAN, 1.0, None)),
        ("camera", orbit(0.0, 0.0, None)),
        ("camera", orbit(0.0, f64::INFINITY, None)),
        ("camera", orbit(0.0, 1.0, Some(0.0))),
        ("camera", orbit(0.0, 1.0, Some(std::f64::consts::PI))),
        ("camera", lens(0.5, Some(0.0), None)),
        ("camera", lens(0.5, Some(2.0), Some(1.0))),
        ("camera", lens(0.5, None, Some(f64::INFINITY))),
        ("previous_camera", FrameRequest { previous_camera: Some(CameraChoice::Name(named(0))), ..plain() }),
        ("animation", FrameRequest { animation: AnimationChoice::Name(named(1025)), ..plain() }),
        ("variant", FrameRequest { variant: Some(String::new()), ..plain() }),
        ("model_channel", FrameRequest { model_channel: named(1025), ..plain() }),
        ("lighting.environment_intensity", intensity(-1.0)),
        ("lighting.environment_intensity", intensity(f32::INFINITY)),
        ("lighting.sun.direction_world", sun([0.0; 3], 1.0)),
        ("lighting.sun.direction_world", sun([f32::NAN, 1.0, 0.0], 1.0)),
        ("lighting.sun.direction_world", sun([1e-30, 0.0, 0.0], 1.0)),
        ("lighting.sun.illuminance_lux", sun([1.0, 0.0, 0.0], -1.0)),
        ("lighting.traced.samples", traced(Traced { samples: 0, ..light })),
        ("lighting.traced.samples", traced(Traced { samples: 65537, ..light })),
        ("lighting.traced.diffuse_bounces", traced(Traced { diffuse_bounces: 9, ..light })),
        ("lighting.traced.specular_bounces", traced(Traced { specular_bounces: 9, ..light })),
        ("lighting.traced.light_radius", traced(Traced { light_radius: -1.0, ..light })),
        ("lighting.traced.light_radius", traced(Traced { light_radius: f32::NAN, ..light })),
        ("lighting.traced.light_angle_rad", traced(Traced { light_angle_rad: 1.6, ..light })),
        ("lighting.traced.occlusion_radius", traced(Traced { occlusion_radius: Some(0.0), ..light })),
        ("lighting.traced.sample_radiance_max", traced(Traced { sample_radiance_max: Some(0.0), ..light })),
        ("size", FrameRequest { width: 4097, height: 4096, ..traced(light) }),
        ("outputs", FrameRequest { outputs: vec![Output::Irradiance], ..plain() }),
        ("outputs", FrameRequest { outputs: vec![], ..plain() }),
    ] {
        match validate(&request, &RequestLimits::default()) {
            Err(RequestError::Field { field, reason }) => assert_eq!(field, expected, "{reason}"),
            other => panic!("{expected}: {other:?} for {request:?}"),
        }
    }
    validate(&FrameRequest { width: 1, height: 1, ..plain() }, &RequestLimits::default()).unwrap();
    validate(&FrameRequest { width: 16384, height: 4096, ..plain() }, &RequestLimits::default()).unwrap();
}

#[test]
fn a_number_that_is_no_number_has_no_id() {
    for request in
        [FrameRequest { time_s: f64::NAN, ..plain() }, FrameRequest { exposure_ev: f32::INFINITY, ..plain() }]
    {
        assert!(matches!(Plan::raster(&request, None), Err(RequestError::Field { .. })));
    }
}

#[test]
fn pairs_say_what_json_says() {
    let six = "6".repeat(64);
    let pairs = [
        ("scene", six.as_str()),
        ("env", &"7".repeat(64)),
        ("camera", "front"),
        ("previous-camera", "2"),
        ("animation", "name:first"),
        ("time", "0.1"),
        ("previous-time", "-1e-1"),
        ("variant", "rouge é"),
        ("size", "640x480"),
        ("samples", "16"),
        ("seed", "4294967295"),
        ("env-light", "on"),
        ("env-intensity", "0.1"),
        ("env-rotation", "180deg"),
        ("lights", "off"),
        ("sun", "0.1, -1,0"),
        ("sun-lux", "100000"),
        ("shadows", "on"),
        ("diffuse-bounces", "0"),
        ("traced", "64"),
        ("specular-bounces", "8"),
        ("light-radius", "0.25"),
        ("light-angle", "0.1rad"),
        ("occlusion-radius", "2"),
        ("sample-max", "10"),
        ("exposure", "-0.3"),
        ("tonemap", "aces"),
        ("background", "#0a0B0c"),
        ("output", "depth,color"),
        ("neural", "auto"),
        ("model-channel", "beta"),
    ];
    let json = serde_json::json!({
        "scene": six, "environment": "7".repeat(64), "camera": {"view": "front"},
        "previous_camera": {"index": 2}, "animation": {"name": "first"}, "time_s": 0.1,
        "previous_time_s": -0.1, "variant": "rouge é", "width": 640, "height": 480, "samples": 16,
        "seed": 4294967295_u32,
        "lighting": {
            "environment": true, "punctual": false, "environment_intensity": 0.1,
            "environment_rotation_rad": std::f64::consts::PI,
            "sun": {"direction_world": [0.1, -1, 0], "illuminance_lux": 100000}, "shadows": true,
            "traced": {
                "samples": 64, "diffuse_bounces": 0, "specular_bounces": 8, "light_radius": 0.25,
                "light_angle_rad": 0.1, "occlusion_radius": 2, "sample_radiance_max": 10,
            },
        },
        "exposure_ev": -0.3, "tonemap": "aces", "background": {"srgb": [10, 11, 12]},
        "outputs": ["depth", "color"], "neural": "auto", "model_channel": "beta",
    });
    let from_json: FrameRequest = serde_json::from_value(json).unwrap();
    assert_eq!(from_pairs(pairs).unwrap(), from_json);
    assert_eq!(from_pairs::<&str, &str>([]).unwrap(), FrameRequest::default());
}

#[test]
fn values_are_read() {
    let read = |name, value| from_pairs([(name, value)]).unwrap();
    assert_eq!(read("background", "1,2,3").background, Background::Srgb([1, 2, 3]));
    assert_eq!(read("background", "environment").background, Background::Environment);
    assert_eq!(read("animation", "3").animation, AnimationChoice::Index(3));
    assert_eq!(read("animation", "Walk").animation, AnimationChoice::Name("Walk".into()));
    assert_eq!(read("env-light", "off").lighting.environment, Some(false));
    assert_eq!(read("env-rotation", "90").lighting.environment_rotation_rad, std::f32::consts::FRAC_PI_2);
    assert_eq!(read("env-rotation", "0.5rad").lighting.environment_rotation_rad, 0.5);
    assert_eq!(read("sun", "0,-2,0").lighting.sun.unwrap().illuminance_lux, std::f32::consts::PI);
    assert_eq!((read("width", "5").width, read("width", "5").height), (5, 720));
}

#[test]
fn malformed_pairs_are_refused_with_their_name() {
    for (name, value) in [
        ("size", "640"),
        ("size", "640x"),
        ("size", "-1x4"),
        ("width", "4.5"),
        ("height", "99999999999"),
        ("samples", "four"),
        ("seed", "-1"),
        ("time", "nan"),
        ("time", "inf"),
        ("time", ""),
        ("exposure", "1e39"),
        ("env-intensity", "1,0"),
        ("env-rotation", "1turn"),
        ("env-light", "yes"),
        ("lights", "auto"),
        ("sun", "0,-1"),
        ("sun", "0,-1,0,0"),
        ("sun-lux", "3"),
        ("shadows", "soft"),
        ("traced", "on"),
        ("traced", "-1"),
        ("light-radius", "0.1"),
        ("diffuse-bounces", "2"),
        ("tonemap", "agx"),
        ("background", "#12345"),
        ("background", "#ééé"),
        ("background", "256,0,0"),
        ("background", "white"),
        ("output", ""),
        ("output", "color,colour"),
        ("neural", "yes"),
        ("camera", ""),
        ("previous-camera", "matrix:1,2"),
    ] {
        match from_pairs([(name, value)]) {
            Err(RequestError::Field { field, .. }) => assert_eq!(field, name, "{value}"),
            other => panic!("{name}={value}: {other:?}"),
        }
    }
    let error = from_pairs([("colour", "1")]).unwrap_err();
    assert!(error.to_string().contains("unknown parameter `colour`"), "{error}");
    assert!(PARAMETERS.iter().all(|name| error.to_string().contains(name)), "{error}");
    for repeated in [
        [("seed", "1"), ("seed", "1")],
        [("size", "1x1"), ("width", "1")],
        [("height", "1"), ("size", "1x1")],
    ] {
        assert!(matches!(from_pairs(repeated), Err(RequestError::Repeated { .. })), "{repeated:?}");
    }
}

proptest! {
    /// Every finite number comes back from canonical JSON with the same bits, so that a receipt names the same
    /// request after any number of readings.
    #[test]
    fn canonical_requests_survive_json(
        time_s in -1e9_f64..1e9, exposure_ev in -32.0_f32..32.0, intensity in 0.0_f32..65504.0,
        direction_world in prop::array::uniform3(-1e6_f32..1e6), name in "\\PC{1,40}", seed: u32,
    ) {
        let request = canonical(&FrameRequest {
            time_s,
            exposure_ev,
            seed,
            variant: Some(name),
            lighting: Lighting {
                environment_intensity: intensity,
                sun: Some(Sun { direction_world, illuminance_lux: 1.0 }),
                ..Lighting::default()
            },
            ..plain()
        });
        let json = serde_json_canonicalizer::to_string(&request).unwrap();
        let read: FrameRequest = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(&read, &request);
        prop_assert_eq!(serde_json_canonicalizer::to_string(&read).unwrap(), json);
    }

    /// No text from outside panics.
    #[test]
    fn pairs_never_panic(which in 0..PARAMETERS.len(), value in "\\PC{0,60}") {
        let _ = from_pairs([(PARAMETERS[which], value.as_str())]);
    }
}
