//! Flags that say what a frame shows: the parameters of a frame request, under the names that query strings use.

use clap::Args;
use isoframe_raster::frame::{CameraChoice, FrameRequest};

use super::exit::Failure;
use crate::request::{RequestLimits, from_pairs, validate};

/// What the frame shows. Each field is the parameter of the same name, as it was written.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Picture {
    /// Size in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720", help_heading = "Picture")]
    size: String,
    /// Coverage samples per pixel: 1, 4, 8 or 16
    #[arg(long, value_name = "N", default_value = "4", help_heading = "Picture")]
    samples: String,
    /// What is seen where nothing is drawn: transparent, environment, #rrggbb or r,g,b
    #[arg(long, value_name = "COLOUR", default_value = "transparent", help_heading = "Picture")]
    background: String,
    /// Exposure, in stops
    #[arg(
        long,
        value_name = "EV",
        default_value = "0",
        allow_negative_numbers = true,
        help_heading = "Picture"
    )]
    exposure: String,
    /// Tone curve: neutral (Khronos PBR Neutral), aces or none
    #[arg(long, value_name = "CURVE", default_value = "neutral", help_heading = "Picture")]
    tonemap: String,
    /// Seed of everything stochastic
    #[arg(long, value_name = "N", default_value = "0", help_heading = "Picture")]
    seed: String,
    /// Neural path: off, auto or required
    #[arg(long, value_name = "MODE", default_value = "off", help_heading = "Picture")]
    neural: String,

    /// Camera: auto, a node's name, an index, front, back, left, right, top, bottom, three-quarter, an orbit
    /// such as "30deg 75deg 105%", or a matrix
    ///
    /// The full grammar is in docs/command-line.md. A matrix is 16 numbers, column-major, world from view.
    #[arg(long, value_name = "CAMERA", allow_hyphen_values = true, help_heading = "Camera")]
    camera: Option<String>,
    /// Camera of the previous frame, for motion; without it, the same camera at --previous-time
    #[arg(long, value_name = "CAMERA", allow_hyphen_values = true, help_heading = "Camera")]
    previous_camera: Option<String>,
    /// Vertical field of view of a matrix camera, in radians
    #[arg(
        long,
        value_name = "RAD",
        help_heading = "Camera",
        requires = "camera",
        conflicts_with = "metres_per_px"
    )]
    yfov: Option<f64>,
    /// Makes a matrix camera orthographic, with this many metres to a pixel
    #[arg(long, value_name = "M", help_heading = "Camera", requires = "camera")]
    metres_per_px: Option<f64>,

    /// Animation: first, none, all, a name or an index
    #[arg(long, value_name = "NAME", default_value = "first", help_heading = "Scene")]
    animation: String,
    /// Material variant of the file, by name
    #[arg(long, value_name = "NAME", help_heading = "Scene")]
    variant: Option<String>,

    /// Environment to light the scene: an equirectangular .hdr or .exr; without it, the built-in studio
    #[arg(long, value_name = "FILE", help_heading = "Light")]
    pub env: Option<std::path::PathBuf>,
    /// Whether the environment lights the scene: on, off, or auto (on with --env, or where neither the file nor
    /// --sun lights it)
    #[arg(long, value_name = "SWITCH", default_value = "auto", help_heading = "Light")]
    env_light: String,
    /// Scale of the environment's light
    #[arg(long, value_name = "FACTOR", default_value = "1", help_heading = "Light")]
    env_intensity: String,
    /// Turn of the environment about +Y: 30deg or 0.5rad
    #[arg(
        long,
        value_name = "ANGLE",
        default_value = "0deg",
        allow_hyphen_values = true,
        help_heading = "Light"
    )]
    env_rotation: String,
    /// Whether the file's own lights shine: on or off
    #[arg(long, value_name = "SWITCH", default_value = "on", help_heading = "Light")]
    lights: String,
    /// Adds a white directional light that shines in this direction
    #[arg(
        long,
        visible_alias = "light-direction",
        value_name = "X,Y,Z",
        allow_hyphen_values = true,
        help_heading = "Light"
    )]
    sun: Option<String>,
    /// Illuminance of --sun, in lux [default: pi]
    #[arg(long, visible_alias = "light-lux", value_name = "LUX", requires = "sun", help_heading = "Light")]
    sun_lux: Option<String>,
    /// Whether lights cast hard shadows: on or off; traced light always has shadows
    #[arg(long, value_name = "SWITCH", default_value = "off", help_heading = "Light")]
    shadows: String,

    /// Traces light with this many samples a pixel, 1 to 65536: soft shadows, occlusion, bounces; off is classic light
    #[arg(long, value_name = "N", default_value = "off", help_heading = "Traced light")]
    traced: String,
    /// How often light may scatter diffusely before it reaches what is seen, 0 to 8 [default: 3]
    #[arg(long, value_name = "N", help_heading = "Traced light")]
    diffuse_bounces: Option<String>,
    /// How often light may be mirrored or refracted, 0 to 8 [default: 4]
    #[arg(long, value_name = "N", help_heading = "Traced light")]
    specular_bounces: Option<String>,
    /// Radius of the file's point and spot lights, in scene units [default: 0, hard shadows]
    #[arg(long, value_name = "LENGTH", help_heading = "Traced light")]
    light_radius: Option<String>,
    /// Angle from the centre of a directional light to its rim; the sun's is 0.2666deg [default: 0, hard shadows]
    #[arg(long, value_name = "ANGLE", help_heading = "Traced light")]
    light_angle: Option<String>,
    /// Ambient occlusion instead of bounces: only what is nearer than this keeps the environment's light away
    #[arg(long, value_name = "LENGTH", help_heading = "Traced light")]
    occlusion_radius: Option<String>,
    /// Bounds the radiance that one sample may add, against fireflies; darkens a little
    #[arg(long, value_name = "RADIANCE", help_heading = "Traced light")]
    sample_max: Option<String>,
}

impl Picture {
    /// Whether light is traced.
    pub(crate) fn is_traced(&self) -> bool {
        self.traced != "off"
    }

    /// The request for a scene and environment of these hashes, at time 0 with nothing previous.
    pub(crate) fn request(
        &self,
        scene: &str,
        environment: Option<&str>,
        outputs: &str,
    ) -> Result<FrameRequest, Failure> {
        let given = [
            ("scene", Some(scene)),
            ("env", environment),
            ("output", Some(outputs)),
            ("size", Some(&self.size)),
            ("samples", Some(&self.samples)),
            ("background", Some(&self.background)),
            ("exposure", Some(&self.exposure)),
            ("tonemap", Some(&self.tonemap)),
            ("seed", Some(&self.seed)),
            ("neural", Some(&self.neural)),
            ("animation", Some(&self.animation)),
            ("variant", self.variant.as_deref()),
            ("env-light", Some(&self.env_light)),
            ("env-intensity", Some(&self.env_intensity)),
            ("env-rotation", Some(&self.env_rotation)),
            ("lights", Some(&self.lights)),
            ("sun", self.sun.as_deref()),
            ("sun-lux", self.sun_lux.as_deref()),
            ("shadows", Some(&self.shadows)),
            ("traced", Some(&self.traced)),
            ("diffuse-bounces", self.diffuse_bounces.as_deref()),
            ("specular-bounces", self.specular_bounces.as_deref()),
            ("light-radius", self.light_radius.as_deref()),
            ("light-angle", self.light_angle.as_deref()),
            ("occlusion-radius", self.occlusion_radius.as_deref()),
            ("sample-max", self.sample_max.as_deref()),
        ];
        let pairs = given.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let mut request = from_pairs(pairs).map_err(|error| Failure::bad_input(format!("--{error}")))?;
        request.camera = match &self.camera {
            Some(camera) => self.camera("camera", camera)?,
            None => CameraChoice::Auto,
        };
        let previous = self.previous_camera.as_ref();
        request.previous_camera =
            previous.map(|camera| self.camera("previous-camera", camera)).transpose()?;
        Ok(request)
    }

    /// Checks all that can be checked without the scene.
    pub(crate) fn check(&self, outputs: &str, limits: &RequestLimits) -> Result<FrameRequest, Failure> {
        let any_scene = "0".repeat(64);
        let request = self.request(&any_scene, None, outputs)?;
        validate(&request, limits)?;
        Ok(request)
    }

    /// The same at another size.
    pub(crate) fn with_size(&self, size: &str) -> Picture {
        Picture { size: size.to_owned(), ..self.clone() }
    }

    /// A camera as written; bare numbers are a matrix, seen through `--yfov` or `--metres-per-px`.
    fn camera(&self, name: &'static str, text: &str) -> Result<CameraChoice, Failure> {
        let bare = text.contains(',') && text.split(',').all(|part| part.trim().parse::<f64>().is_ok());
        let lens = match (self.metres_per_px, self.yfov) {
            (Some(metres_per_px), _) => format!(";ortho={metres_per_px}"),
            (None, Some(yfov_rad)) => format!(";yfov={yfov_rad}rad"),
            (None, None) => String::new(),
        };
        let text = match (bare, lens.is_empty()) {
            (true, _) => format!("matrix:{text}{lens}"),
            (false, true) => text.to_owned(),
            (false, false) => {
                return Err(Failure::bad_input(format!(
                    "--{name}: --yfov and --metres-per-px go with 16 bare numbers"
                ))
                .hint(
                    "in an orbit write `fov=30deg`, after `matrix:` write `;yfov=45deg` or `;ortho=0.01`",
                ));
            }
        };
        crate::request::camera(name, &text).map_err(|error| Failure::bad_input(format!("--{error}")))
    }
}
