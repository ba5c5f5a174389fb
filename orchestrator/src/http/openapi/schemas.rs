//! The shapes of requests, as the document shows them.
//!
//! `raster` owns the types and knows nothing of HTTP, so they are described a second time here; tests hold both
//! against each other, field by field and word by word.
#![allow(dead_code, missing_docs)]

use utoipa::{IntoParams, ToSchema};

/// A frame request: everything that decides the pixels, and the file it is wanted in. What is absent has its
/// default.
#[derive(ToSchema)]
pub(crate) struct FrameBody {
    /// Format of the file: `png` (8 bit), `png16`, `exr` (half), `exr32`, `webp` (lossless), `jpg`, `jpg:1` to
    /// `jpg:100`.
    #[schema(required = false, default = "png")]
    format: String,
    /// Engine that must make it; another one than the server's is refused (410).
    #[schema(required = false)]
    engine: String,
    /// blake3 of the scene, hex.
    #[schema(example = "0f3e4c1b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f00f")]
    scene: String,
    /// blake3 of the environment, hex; absent: the built-in studio.
    environment: Option<String>,
    /// The camera.
    #[schema(required = false)]
    camera: Camera,
    /// Camera of the previous frame, for motion; absent: the same choice at `previous_time_s`.
    previous_camera: Option<Camera>,
    /// Which animations play.
    #[schema(required = false)]
    animation: Animation,
    /// Scene time, in seconds.
    #[schema(required = false, default = 0.0)]
    time_s: f64,
    /// Scene time of the previous frame, for motion. Absent together with `previous_camera`: motion is zero.
    previous_time_s: Option<f64>,
    /// Material variant, by name.
    variant: Option<String>,
    /// In pixels.
    #[schema(required = false, default = 1280)]
    width: u32,
    /// In pixels.
    #[schema(required = false, default = 720)]
    height: u32,
    /// Coverage samples per pixel: 1, 4, 8 or 16.
    #[schema(required = false, default = 4)]
    samples: u32,
    /// Seed of everything stochastic.
    #[schema(required = false, default = 0)]
    seed: u32,
    /// Lighting.
    #[schema(required = false)]
    lighting: Lighting,
    /// In stops.
    #[schema(required = false, default = 0.0)]
    exposure_ev: f32,
    /// Tone curve.
    #[schema(required = false)]
    tonemap: Tonemap,
    /// What is seen where nothing is drawn.
    #[schema(required = false)]
    background: Background,
    /// Outputs; several fit an EXR only.
    #[schema(required = false)]
    outputs: Vec<Output>,
    /// Whether a network may blend the frame.
    #[schema(required = false)]
    neural: Neural,
    /// Channel to take the model from.
    #[schema(required = false, default = "live")]
    model_channel: String,
}

/// Which camera sees the scene. Angles in radians, lengths in scene units, +Y up.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub(crate) enum Camera {
    /// The file's first camera, else a framed three-quarter view.
    Auto,
    /// The n-th camera-carrying node.
    Index(u32),
    /// A node or camera of this name.
    Name(String),
    /// A framed view.
    View(View),
    /// As model-viewer's `camera-orbit`.
    Orbit {
        theta_rad: f64,
        phi_rad: f64,
        radius: f64,
        /// Whether `radius` is a factor of the framing distance.
        radius_relative: bool,
        target_world: Option<[f64; 3]>,
        yfov_rad: Option<f64>,
    },
    /// An explicit camera.
    Matrix {
        /// World from view, column-major, looking down -Z.
        world_from_view: [f64; 16],
        projection: Projection,
    },
}

/// Directions to look from.
#[derive(ToSchema)]
#[schema(rename_all = "kebab-case")]
pub(crate) enum View {
    Front,
    Back,
    Left,
    Right,
    Top,
    Bottom,
    ThreeQuarter,
}

/// The lens of an explicit camera.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub(crate) enum Projection {
    Perspective { yfov_rad: f64, znear: Option<f64>, zfar: Option<f64> },
    Orthographic { metres_per_px: f64 },
}

/// Which animations move the scene.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub(crate) enum Animation {
    First,
    None,
    All,
    Index(u32),
    Name(String),
}

/// Lighting options.
#[derive(ToSchema)]
pub(crate) struct Lighting {
    /// Whether the environment lights the scene. Absent: if one was given or the file has no light.
    environment: Option<bool>,
    /// Whether the file's lights shine.
    #[schema(required = false, default = true)]
    punctual: bool,
    /// Scale of the environment's radiance.
    #[schema(required = false, default = 1.0)]
    environment_intensity: f32,
    /// Turn of the environment about +Y, in radians.
    #[schema(required = false, default = 0.0)]
    environment_rotation_rad: f32,
    /// One more directional light.
    sun: Option<Sun>,
    /// Whether lights cast hard shadows; traced light always has shadows.
    #[schema(required = false, default = false)]
    shadows: bool,
    /// Traced light; absent: classic.
    traced: Option<Traced>,
}

/// Traced light.
#[derive(ToSchema)]
pub(crate) struct Traced {
    /// Light samples of each pixel.
    #[schema(required = false, default = 16, minimum = 1, maximum = 65536)]
    samples: u32,
    /// How often light may scatter diffusely before it reaches what is seen.
    #[schema(required = false, default = 3, maximum = 8)]
    diffuse_bounces: u32,
    /// How often it may be mirrored or refracted.
    #[schema(required = false, default = 4, maximum = 8)]
    specular_bounces: u32,
    /// Radius of point and spot lights, in scene units.
    #[schema(required = false, default = 0.0)]
    light_radius: f32,
    /// Angle from the centre of a directional light to its rim, in radians.
    #[schema(required = false, default = 0.0)]
    light_angle_rad: f32,
    /// Ambient occlusion instead of bounces, in scene units.
    occlusion_radius: Option<f32>,
    /// Largest radiance that one sample may add.
    sample_radiance_max: Option<f32>,
}

/// A white directional light.
#[derive(ToSchema)]
pub(crate) struct Sun {
    /// Direction in which it shines, world space, not zero.
    direction_world: [f32; 3],
    /// On a surface that faces it, in lux.
    illuminance_lux: f32,
}

/// Tone curves.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub(crate) enum Tonemap {
    Neutral,
    Aces,
    None,
}

/// Backgrounds.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub(crate) enum Background {
    Transparent,
    Environment,
    /// sRGB, 0 to 255.
    Srgb([u8; 3]),
}

/// Outputs.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub(crate) enum Output {
    Color,
    Base,
    Depth,
    Motion,
    Normal,
    Albedo,
    Id,
    Irradiance,
    Reflectance,
    Emission,
    HitDistance,
    Variance,
}

/// Neural modes.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub(crate) enum Neural {
    Off,
    Auto,
    Required,
}

/// Parameters of a frame's URL: the flags of `isoframe render` without their dashes.
#[derive(IntoParams)]
#[into_params(parameter_in = Query, rename_all = "kebab-case")]
pub(crate) struct FrameQuery {
    /// `first`, `none`, `all`, an index, or a name. Default `first`.
    #[param(example = "first")]
    animation: Option<String>,
    /// `transparent`, `environment`, `#rrggbb`, `r,g,b`. Default `transparent`.
    background: Option<String>,
    /// `auto`, an index, a name, `front`, `three-quarter`, an orbit, a matrix. Default `auto`.
    camera: Option<String>,
    /// Diffuse bounces of traced light, 0 to 8. Default 3.
    diffuse_bounces: Option<u32>,
    /// Environment, blake3, hex. Default: the built-in studio.
    env: Option<String>,
    /// Scale of the environment's radiance. Default 1.
    env_intensity: Option<f64>,
    /// Whether the environment lights the scene: `auto`, `on`, `off`. Default `auto`.
    env_light: Option<String>,
    /// Turn of the environment about +Y: `30deg`, `0.5rad`. Default 0.
    env_rotation: Option<String>,
    /// Stops. Default 0.
    exposure: Option<f64>,
    /// Pixels, with `width`. Default 720.
    height: Option<u32>,
    /// Angle from the centre of a directional light to its rim, of traced light: `0.27deg`. Default 0.
    light_angle: Option<String>,
    /// Radius of point and spot lights of traced light, in scene units. Default 0.
    light_radius: Option<f64>,
    /// Whether the file's lights shine: `on`, `off`. Default `on`.
    lights: Option<String>,
    /// Channel to take a model from. Default `live`.
    model_channel: Option<String>,
    /// `off`, `auto`, `required`. Default `off`; has to be in the URL for an `immutable` answer.
    neural: Option<String>,
    /// Ambient occlusion instead of bounces, in scene units.
    occlusion_radius: Option<f64>,
    /// One output, or several separated by commas (EXR only). Default `color`.
    output: Option<String>,
    /// Camera of the previous frame, for motion.
    previous_camera: Option<String>,
    /// Scene time of the previous frame in seconds, for motion.
    previous_time: Option<f64>,
    /// Largest radiance that one sample of traced light may add.
    sample_max: Option<f64>,
    /// Coverage samples per pixel: 1, 4, 8, 16. Default 4.
    samples: Option<u32>,
    /// Seed of everything stochastic. Default 0.
    seed: Option<u32>,
    /// Whether lights cast hard shadows: `on`, `off`. Default `off`.
    shadows: Option<String>,
    /// Width and height: `1280x720`.
    size: Option<String>,
    /// Mirrored or refracted bounces of traced light, 0 to 8. Default 4.
    specular_bounces: Option<u32>,
    /// Direction `x,y,z` in which one more light shines.
    sun: Option<String>,
    /// Its illuminance in lux. Default pi.
    sun_lux: Option<f64>,
    /// Scene time in seconds. Default 0.
    time: Option<f64>,
    /// `neutral`, `aces`, `none`. Default `neutral`.
    tonemap: Option<String>,
    /// Light samples of each pixel, or `off` for classic light. Default `off`.
    traced: Option<String>,
    /// Material variant, by name.
    variant: Option<String>,
    /// Pixels, with `height`. Default 1280.
    width: Option<u32>,
    /// Precision of the file: `png16`, `exr32`, `jpg:80`. Default: the extension.
    format: Option<String>,
    /// Engine that must make it; another one than the server's is 410.
    engine: Option<String>,
}

/// Headers of frame requests.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
pub(crate) struct FrameHeaders {
    /// ETags that the client has; a GET or HEAD of one of them is 304.
    #[param(rename = "If-None-Match")]
    if_none_match: Option<String>,
    /// `no-cache` passes the frame cache.
    #[param(rename = "Cache-Control")]
    cache_control: Option<String>,
    /// `sha-256=0` leaves `Repr-Digest` out.
    #[param(rename = "Want-Repr-Digest")]
    want_repr_digest: Option<String>,
}

/// Headers of requests that become jobs.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
pub(crate) struct JobHeaders {
    /// `respond-async` makes a job of a frame (RFC 7240).
    #[param(rename = "Prefer")]
    prefer: Option<String>,
    /// Names the request: repeated, it gives the same job.
    #[param(rename = "Idempotency-Key")]
    idempotency_key: Option<String>,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use isoframe_raster::frame::{self, FrameRequest};
    use serde_json::{Value, json};
    use utoipa::PartialSchema;

    use super::*;
    use crate::request::PARAMETERS;

    fn schema<T: PartialSchema>() -> Value {
        serde_json::to_value(T::schema()).expect("JSON")
    }

    fn properties(schema: &Value) -> BTreeSet<String> {
        schema["properties"].as_object().expect("an object").keys().cloned().collect()
    }

    fn keys(value: impl serde::Serialize) -> BTreeSet<String> {
        serde_json::to_value(value).expect("JSON").as_object().expect("an object").keys().cloned().collect()
    }

    /// Null may be given where it is the default, and nowhere else; nothing but the scene has to be given.
    fn assert_nulls(schema: &Value, defaults: &Value) {
        for (name, property) in schema["properties"].as_object().expect("an object") {
            let nullable = property.to_string().contains("\"null\"");
            let is_null = defaults.get(name).is_some_and(Value::is_null);
            assert_eq!(nullable, is_null, "{name}: {property}");
        }
        let required: Vec<_> = schema["required"].as_array().into_iter().flatten().collect();
        assert!(required.is_empty() || required == ["scene"], "{required:?}");
    }

    /// Words and tags of an enum's schema, however deep they stand.
    fn words(schema: &Value) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for part in schema["oneOf"].as_array().into_iter().flatten().chain([schema]) {
            found.extend(
                part["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned),
            );
            found.extend(part["const"].as_str().map(str::to_owned));
            found.extend(part["properties"].as_object().into_iter().flat_map(|p| p.keys().cloned()));
        }
        found
    }

    fn words_of<T: serde::Serialize>(values: &[T]) -> BTreeSet<String> {
        let word = |value| match serde_json::to_value(value).expect("JSON") {
            Value::String(word) => word,
            tagged => tagged.as_object().expect("tagged").keys().next().expect("one").clone(),
        };
        values.iter().map(word).collect()
    }

    #[test]
    fn the_frame_body_has_the_fields_of_a_request_and_its_defaults() {
        let body = schema::<FrameBody>();
        let mut wanted = keys(FrameRequest::default());
        wanted.extend(["format".to_owned(), "engine".to_owned()]);
        assert_eq!(properties(&body), wanted);
        let defaults = serde_json::to_value(FrameRequest::default()).expect("JSON");
        for (name, property) in body["properties"].as_object().expect("an object") {
            if let (Some(shown), Some(real)) = (property.get("default"), defaults.get(name)) {
                assert_eq!(shown, real, "{name}");
            }
        }
        assert_nulls(&body, &defaults);
        let lighting = schema::<Lighting>();
        assert_eq!(properties(&lighting), keys(frame::Lighting::default()));
        assert_nulls(&lighting, &serde_json::to_value(frame::Lighting::default()).expect("JSON"));
        let sun = frame::Sun { direction_world: [1.0; 3], illuminance_lux: 1.0 };
        assert_eq!(properties(&schema::<Sun>()), keys(sun));
        assert_eq!(properties(&schema::<Traced>()), keys(frame::Traced::default()));
    }

    #[test]
    fn enums_have_the_words_of_the_wire() {
        use frame::*;
        let orbit = CameraChoice::Orbit {
            theta_rad: 0.0,
            phi_rad: 1.0,
            radius: 1.0,
            radius_relative: true,
            target_world: None,
            yfov_rad: None,
        };
        let orthographic = ProjectionChoice::Orthographic { metres_per_px: 1.0 };
        let perspective = ProjectionChoice::Perspective { yfov_rad: 1.0, znear: None, zfar: None };
        let cameras = [
            CameraChoice::Auto,
            CameraChoice::Index(1),
            CameraChoice::Name("n".into()),
            CameraChoice::View(NamedView::Front),
            orbit,
            CameraChoice::Matrix { world_from_view: [0.0; 16], projection: orthographic },
        ];
        assert_eq!(words(&schema::<Camera>()), words_of(&cameras));
        assert_eq!(words(&schema::<Projection>()), words_of(&[orthographic, perspective]));
        let animations = [
            AnimationChoice::First,
            AnimationChoice::None,
            AnimationChoice::All,
            AnimationChoice::Index(0),
            AnimationChoice::Name("n".into()),
        ];
        assert_eq!(words(&schema::<Animation>()), words_of(&animations));
        let views = [
            NamedView::Front,
            NamedView::Back,
            NamedView::Left,
            NamedView::Right,
            NamedView::Top,
            NamedView::Bottom,
            NamedView::ThreeQuarter,
        ];
        assert_eq!(words(&schema::<View>()), words_of(&views));
        use frame::{Background as B, Output as O, Tonemap as T};
        assert_eq!(words(&schema::<super::Tonemap>()), words_of(&[T::Neutral, T::Aces, T::None]));
        assert_eq!(
            words(&schema::<super::Background>()),
            words_of(&[B::Transparent, B::Environment, B::Srgb([0; 3])])
        );
        assert_eq!(words(&schema::<super::Output>()), words_of(&O::all().collect::<Vec<_>>()));
        assert_eq!(
            words(&schema::<Neural>()),
            words_of(&[NeuralMode::Off, NeuralMode::Auto, NeuralMode::Required])
        );
    }

    #[test]
    fn the_query_has_the_parameters_of_the_command_line() {
        let shown: BTreeSet<String> = FrameQuery::into_params(|| None).into_iter().map(|p| p.name).collect();
        let mut wanted: BTreeSet<String> = PARAMETERS.iter().map(|name| name.to_string()).collect();
        wanted.remove("scene");
        wanted.extend(["format".to_owned(), "engine".to_owned()]);
        assert_eq!(shown, wanted);
        assert_ne!(json!(shown), json!([]));
    }
}
