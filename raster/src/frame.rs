//! The contract: what a frame request says, and what the buffers that answer it hold.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Version of the arithmetic rules and of every pass. It changes whenever any byte of any frame may
/// change; goldens are renewed in the same commit.
pub const ENGINE: &str = "isoframe-3";

/// One buffer of a frame (AOV).
///
/// *Sample*: the data outputs (`depth` to `id`) show the surface that owns coverage sample 0 of each pixel, the
/// same offset over the whole frame ([`sample_offsets_px16`]), never an average: at the pixel's centre where that
/// triangle covers all samples, else at sample 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// The picture: exposed, tone mapped, display-referred linear Rec.709, or sRGB8.
    /// *Shape*: 4 channels; linear is premultiplied, sRGB8 has straight alpha. *Range*: 0 to 1 after tone mapping.
    /// *Nothing drawn*: the background; (0, 0, 0, 0) where that is transparent.
    Color,
    /// The deterministic base image before exposure and tone mapping: scene-linear Rec.709 radiance.
    /// *Shape*: 4 channels f32, premultiplied. *Range*: 0 to 65504. *Nothing drawn*: the background.
    Base,
    /// Distance along the view axis (not the ray).
    /// *Shape*: 1 channel f32. *Units*: scene units (metres in glTF). *Nothing drawn*: +infinity.
    Depth,
    /// Where the surface was in the previous frame minus where it is now; x right, y down.
    /// *Shape*: 2 channels f32. *Units*: pixels, unjittered. *Range*: clamped to +-65504.
    /// *Nothing drawn*, nothing previous, or previously behind the camera: (0, 0).
    Motion,
    /// Shading normal after normal mapping, facing the viewer.
    /// *Shape*: 3 channels f32. *Space*: world, unit length. *Nothing drawn*: (0, 0, 0).
    Normal,
    /// Base colour after textures and vertex colours, before lighting.
    /// *Shape*: 3 channels f32. *Space*: linear Rec.709. *Range*: 0 to 1. *Nothing drawn*: (0, 0, 0).
    Albedo,
    /// Node and primitive of the nearest opaque surface.
    /// *Shape*: 2 channels u32: glTF node index + 1, glTF primitive index within its mesh + 1.
    /// *Nothing drawn*: (0, 0).
    Id,
    /// Traced light that arrives, divided by reflectance: diffuse, then specular; the mean over light samples. With
    /// it, `reflectance` and `emission`, the base image of a pixel that one opaque triangle covers is exactly
    /// `(emission + diffuse * diffuse reflectance) + specular * specular reflectance`.
    /// *Shape*: 6 channels f32. *Nothing drawn*, or unlit: zeros.
    Irradiance,
    /// What traced light was divided by: diffuse reflectance, then an estimate of the specular one.
    /// *Shape*: 6 channels f32. *Range*: 0 to about 1. *Nothing drawn*: zeros.
    Reflectance,
    /// Radiance that the surface emits; of an unlit one, its colour.
    /// *Shape*: 3 channels f32. *Nothing drawn*: zeros.
    Emission,
    /// Mean distance from the surface to what traced paths met first; 65504 where they met nothing.
    /// *Shape*: 1 channel f32. *Units*: scene units. *Nothing drawn*: 0.
    HitDistance,
    /// Variance over light samples of the luminance of `irradiance`: of the diffuse, then of the specular.
    /// *Shape*: 2 channels f32. *Nothing drawn*: zeros.
    Variance,
}

impl Output {
    /// The outputs of any frame, in canonical order.
    pub const CLASSIC: [Output; 7] = [
        Output::Color,
        Output::Base,
        Output::Depth,
        Output::Motion,
        Output::Normal,
        Output::Albedo,
        Output::Id,
    ];

    /// The outputs that only traced light has, in canonical order.
    pub const TRACED: [Output; 5] =
        [Output::Irradiance, Output::Reflectance, Output::Emission, Output::HitDistance, Output::Variance];

    /// All outputs, in canonical order.
    pub fn all() -> impl Iterator<Item = Output> {
        Output::CLASSIC.into_iter().chain(Output::TRACED)
    }

    /// The name used in requests, file names and layers.
    pub fn name(self) -> &'static str {
        match self {
            Output::Color => "color",
            Output::Base => "base",
            Output::Depth => "depth",
            Output::Motion => "motion",
            Output::Normal => "normal",
            Output::Albedo => "albedo",
            Output::Id => "id",
            Output::Irradiance => "irradiance",
            Output::Reflectance => "reflectance",
            Output::Emission => "emission",
            Output::HitDistance => "hit_distance",
            Output::Variance => "variance",
        }
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Output {
    type Err = String;
    fn from_str(s: &str) -> Result<Self, String> {
        Output::all().find(|o| o.name() == s).ok_or_else(|| {
            let names: Vec<&str> = Output::all().map(Output::name).collect();
            format!("unknown output `{s}`; outputs are {}", names.join(", "))
        })
    }
}

/// The curve between scene-linear radiance and the display.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tonemap {
    /// Khronos PBR Neutral: base colours under grey light come out as they are.
    #[default]
    Neutral,
    /// ACES, the fit by Stephen Hill.
    Aces,
    /// Exposure only; values above 1 are kept in linear buffers and clamped in sRGB8.
    None,
}

/// What is seen where nothing is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Background {
    /// Alpha 0.
    #[default]
    Transparent,
    /// The environment map, unfiltered, through exposure and tone mapping.
    Environment,
    /// A constant. *Space*: sRGB, 0 to 255; shown as it is, past exposure and tone mapping.
    Srgb([u8; 3]),
}

/// Directions to look from when a view is asked for by name; all frame the scene's bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum NamedView {
    Front,
    Back,
    Left,
    Right,
    Top,
    Bottom,
    ThreeQuarter,
}

/// Which camera sees the scene. Angles in radians, lengths in scene units, +Y up.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CameraChoice {
    /// The file's first camera in node order, else [`NamedView::ThreeQuarter`].
    #[default]
    Auto,
    /// The n-th camera-carrying node, in node order.
    Index(u32),
    /// A node or camera of this name.
    Name(String),
    /// A framed view.
    View(NamedView),
    /// model-viewer's `camera-orbit`: azimuth from +Z towards +X, polar from +Y, distance from target.
    Orbit {
        /// Azimuth.
        theta_rad: f64,
        /// Polar angle, 0 = straight above.
        phi_rad: f64,
        /// Distance; relative to the framing distance when `radius_relative`.
        radius: f64,
        /// Whether `radius` is a factor of the framing distance (`105%` is 1.05) rather than scene units.
        radius_relative: bool,
        /// Point looked at; the centre of the bounds when absent.
        target_world: Option<[f64; 3]>,
        /// Vertical field of view; 30 degrees when absent.
        yfov_rad: Option<f64>,
    },
    /// An explicit camera.
    Matrix {
        /// World from view, column-major, looking down -Z.
        world_from_view: [f64; 16],
        /// The lens.
        projection: ProjectionChoice,
    },
}

/// The lens of an explicit camera.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProjectionChoice {
    /// Perspective.
    Perspective {
        /// Vertical field of view.
        yfov_rad: f64,
        /// Near plane distance; chosen from the bounds when absent.
        znear: Option<f64>,
        /// Far plane distance; infinite when absent.
        zfar: Option<f64>,
    },
    /// Orthographic, by scale.
    Orthographic {
        /// Scene units (metres) per pixel.
        metres_per_px: f64,
    },
}

/// Which animations move the scene.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnimationChoice {
    /// The file's first animation, if it has one.
    #[default]
    First,
    /// Rest pose.
    None,
    /// All animations at once, later ones winning on the same property.
    All,
    /// By index.
    Index(u32),
    /// By name.
    Name(String),
}

/// Lighting options of classic lighting.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lighting {
    /// Whether the environment lights the scene. Absent: on if an environment was given or the file has no light.
    pub environment: Option<bool>,
    /// Whether the file's punctual lights shine.
    pub punctual: bool,
    /// Scale of the environment's radiance.
    pub environment_intensity: f32,
    /// Turn of the environment about +Y. *Units*: radians.
    pub environment_rotation_rad: f32,
    /// One extra directional light: direction it travels (world, any length) and illuminance in lux; white.
    pub sun: Option<Sun>,
    /// Whether punctual lights and the sun cast hard shadows, one ray each. Traced light always has shadows.
    pub shadows: bool,
    /// Traced light; classic where absent.
    pub traced: Option<Traced>,
}

/// Traced light: stochastic, seeded by [`FrameRequest::seed`], exact. Any range of samples can be rendered by itself:
/// the sum over samples is a fixed dyadic tree.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Traced {
    /// Light samples of each pixel, 1 to 65536; the others than [`FrameRequest::samples`], which are coverage.
    pub samples: u32,
    /// How often light may scatter diffusely on its way to the surface that is seen, 0 to 8; 0 is direct light.
    pub diffuse_bounces: u32,
    /// How often it may be mirrored or refracted, 0 to 8.
    pub specular_bounces: u32,
    /// Radius of point and spot lights, as spheres. *Units*: scene units. 0: hard shadows.
    pub light_radius: f32,
    /// Angle from the centre of a directional light to its rim; 0.00465 is the sun's. *Units*: radians.
    pub light_angle_rad: f32,
    /// Ambient occlusion: light from the environment is only kept away by what is nearer than this, and does not
    /// bounce. *Units*: scene units. Absent: light bounces as it does.
    pub occlusion_radius: Option<f32>,
    /// Largest radiance that one sample may add, against fireflies. Biased: absent in references.
    pub sample_radiance_max: Option<f32>,
}

impl Default for Traced {
    fn default() -> Self {
        Traced {
            samples: 16,
            diffuse_bounces: 3,
            specular_bounces: 4,
            light_radius: 0.0,
            light_angle_rad: 0.0,
            occlusion_radius: None,
            sample_radiance_max: None,
        }
    }
}

/// A white directional light given with the request.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sun {
    /// Direction in which the light travels, world space, not zero.
    pub direction_world: [f32; 3],
    /// Illuminance on a surface facing the light. *Units*: lux (1 lux shows a white diffuser at 1/pi).
    pub illuminance_lux: f32,
}

impl Default for Lighting {
    fn default() -> Self {
        Lighting {
            environment: None,
            punctual: true,
            environment_intensity: 1.0,
            environment_rotation_rad: 0.0,
            sun: None,
            shadows: false,
            traced: None,
        }
    }
}

/// Whether a network may blend the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NeuralMode {
    /// Raster only.
    #[default]
    Off,
    /// Where a model is live and healthy.
    Auto,
    /// An error rather than a fallback.
    Required,
}

/// A frame request: plain data, everything that decides the pixels. Canonical JSON is RFC 8785 with
/// defaults filled in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FrameRequest {
    /// blake3 of the scene, hex.
    pub scene: String,
    /// blake3 of the environment file, hex; absent for the built-in studio.
    pub environment: Option<String>,
    /// The camera.
    pub camera: CameraChoice,
    /// The camera of the previous frame, for motion; absent: the same choice at `previous_time_s`.
    pub previous_camera: Option<CameraChoice>,
    /// Which animations play.
    pub animation: AnimationChoice,
    /// Scene time. *Units*: seconds.
    pub time_s: f64,
    /// Scene time of the previous frame, for motion. Absent together with `previous_camera`: motion is zero.
    pub previous_time_s: Option<f64>,
    /// KHR_materials_variants choice by name.
    pub variant: Option<String>,
    /// *Units*: pixels.
    pub width: u32,
    /// *Units*: pixels.
    pub height: u32,
    /// Coverage samples per pixel: 1, 4, 8 or 16.
    pub samples: u32,
    /// Seed of everything stochastic.
    pub seed: u32,
    /// Lighting options.
    pub lighting: Lighting,
    /// *Units*: stops.
    pub exposure_ev: f32,
    /// Tone curve.
    pub tonemap: Tonemap,
    /// Background.
    pub background: Background,
    /// Outputs, in canonical order, without repeats.
    pub outputs: Vec<Output>,
    /// Neural path.
    pub neural: NeuralMode,
    /// Channel to take the model from.
    pub model_channel: String,
}

impl Default for FrameRequest {
    fn default() -> Self {
        FrameRequest {
            scene: String::new(),
            environment: None,
            camera: CameraChoice::Auto,
            previous_camera: None,
            animation: AnimationChoice::First,
            time_s: 0.0,
            previous_time_s: None,
            variant: None,
            width: 1280,
            height: 720,
            samples: 4,
            seed: 0,
            lighting: Lighting::default(),
            exposure_ev: 0.0,
            tonemap: Tonemap::Neutral,
            background: Background::Transparent,
            outputs: vec![Output::Color],
            neural: NeuralMode::Off,
            model_channel: "live".into(),
        }
    }
}

/// How the `color` buffer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorFormat {
    /// sRGB-encoded RGBA, 8 bit, straight alpha.
    Srgb8,
    /// Display-referred linear RGBA, f32, premultiplied.
    Linear,
}

/// The `color` output in one of its two formats; row-major from the top left.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Color {
    Srgb8(Vec<[u8; 4]>),
    Linear(Vec<[f32; 4]>),
}

/// What was rendered. Buffers are row-major from the top left, `width * height` long, present when asked for.
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Frame {
    pub width: u32,
    pub height: u32,
    pub color: Option<Color>,
    pub base: Option<Vec<[f32; 4]>>,
    pub depth: Option<Vec<f32>>,
    pub motion: Option<Vec<[f32; 2]>>,
    pub normal: Option<Vec<[f32; 3]>>,
    pub albedo: Option<Vec<[f32; 3]>>,
    pub id: Option<Vec<[u32; 2]>>,
    pub irradiance: Option<Vec<[f32; 6]>>,
    pub reflectance: Option<Vec<[f32; 6]>>,
    pub emission: Option<Vec<[f32; 3]>>,
    pub hit_distance: Option<Vec<f32>>,
    pub variance: Option<Vec<[f32; 2]>>,
    /// Whether there was a previous time or camera to relate `motion` to.
    pub motion_valid: bool,
    /// Who owns the coverage samples of each pixel, for Cryptomatte; there when `id` is.
    pub coverage: Option<Coverage>,
}

impl Frame {
    /// Memory that the buffers take. *Units*: bytes.
    pub fn bytes(&self) -> usize {
        fn of<T>(buffer: &Option<Vec<T>>) -> usize {
            buffer.as_ref().map_or(0, |b| size_of_val(b.as_slice()))
        }
        let color = match &self.color {
            Some(Color::Srgb8(pixels)) => size_of_val(pixels.as_slice()),
            Some(Color::Linear(pixels)) => size_of_val(pixels.as_slice()),
            None => 0,
        };
        let shared = self.coverage.as_ref().map_or(0, |c| size_of_val(c.shared.as_slice()));
        let surface = of(&self.depth) + of(&self.motion) + of(&self.normal) + of(&self.albedo) + of(&self.id);
        let light = of(&self.irradiance) + of(&self.reflectance) + of(&self.emission);
        let traced = light + of(&self.hit_distance) + of(&self.variance);
        color + of(&self.base) + surface + shared + traced
    }
}

/// Who owns the coverage samples of each pixel. Most pixels have one owner, the one that `id` shows: only the others
/// are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Coverage samples of a pixel.
    pub samples: u32,
    /// Pixels with more than one owner, by ascending index.
    pub shared: Vec<SharedPixel>,
}

/// A pixel with more than one owner, packed: a frame may have as many as pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedPixel {
    index: u32,
    ids: [[u32; 2]; COVERAGE_OWNERS],
    samples: [u8; COVERAGE_OWNERS],
}

const _: () = assert!(size_of::<SharedPixel>() == 40, "a 4K frame of nothing but edges stays within 1 GB");

impl SharedPixel {
    /// `index` in the buffers, and the owners of most samples, most first, ties to the lower id; unused ones own none.
    pub fn new(index: u32, owners: [IdCoverage; COVERAGE_OWNERS]) -> SharedPixel {
        // At most 16 samples.
        SharedPixel { index, ids: owners.map(|o| o.id), samples: owners.map(|o| o.samples as u8) }
    }

    /// Index in the buffers.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// See [`SharedPixel::new`].
    pub fn owners(&self) -> [IdCoverage; COVERAGE_OWNERS] {
        std::array::from_fn(|k| IdCoverage { id: self.ids[k], samples: u32::from(self.samples[k]) })
    }
}

impl Coverage {
    /// Owners of neighbouring pixels, as in [`SharedPixel::owners`]: `ids` is a part of the `id` buffer that begins at
    /// pixel `first`.
    pub fn owners<'a>(
        &'a self,
        first: usize,
        ids: &'a [[u32; 2]],
    ) -> impl Iterator<Item = [IdCoverage; COVERAGE_OWNERS]> + 'a {
        let begin = self.shared.partition_point(|pixel| (pixel.index as usize) < first);
        let mut shared = self.shared[begin..].iter().peekable();
        (first..).zip(ids).map(move |(index, &id)| match shared.next_if(|p| p.index as usize == index) {
            Some(pixel) => pixel.owners(),
            None => {
                let mut owners = [IdCoverage::default(); COVERAGE_OWNERS];
                owners[0] = IdCoverage { id, samples: self.samples };
                owners
            }
        })
    }
}

/// Owners of a pixel that are told apart.
pub const COVERAGE_OWNERS: usize = 4;

/// Share of a pixel that one id owns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IdCoverage {
    /// Node and primitive as in [`Output::Id`]; (0, 0) is the background.
    pub id: [u32; 2],
    /// Coverage samples owned, 0 to `samples`.
    pub samples: u32,
}

/// Unit of [`sample_offsets_px16`]. *Units*: pixels.
pub const PX_PER_OFFSET: f32 = 1.0 / 16.0;

/// Offsets of the coverage samples from the pixel centre. *Units*: 1/16 pixel, x right, y down.
/// *Source*: the standard patterns of Direct3D 11. Sample 0 is the one that data outputs show.
pub fn sample_offsets_px16(samples: u32) -> &'static [[i32; 2]] {
    match samples {
        4 => &[[-2, -6], [6, -2], [-6, 2], [2, 6]],
        8 => &[[1, -3], [-1, 3], [5, 1], [-3, -5], [-5, 5], [-7, -1], [3, 7], [7, -7]],
        16 => &[
            [1, 1],
            [-1, -3],
            [-3, 2],
            [4, -1],
            [-5, -2],
            [2, 5],
            [5, 3],
            [3, -5],
            [-2, 6],
            [0, -7],
            [-4, -6],
            [-6, 4],
            [-8, 0],
            [7, -4],
            [6, 7],
            [-7, -8],
        ],
        _ => &[[0, 0]],
    }
}

/// What went wrong while rendering.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// The request asks for what cannot be; says which field and why.
    #[error("{field}: {reason}")]
    Request {
        /// Field of the request.
        field: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The frame does not fit this device; the CPU may still render it.
    #[error("{what} needs {wanted} bytes, this adapter binds {got}")]
    DeviceLimit {
        /// Which buffer.
        what: &'static str,
        /// Bytes needed.
        wanted: u64,
        /// Bytes available.
        got: u64,
    },
    /// The device was lost or refused a call.
    #[error("device lost: {0}")]
    DeviceLost(String),
    /// The caller cancelled.
    #[error("cancelled")]
    Cancelled,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coverage_lists_only_pixels_of_several_owners() {
        let share = |node, samples| IdCoverage { id: [node, 1], samples };
        let none = IdCoverage::default();
        let two = [share(3, 3), share(2, 1), none, none];
        let coverage =
            Coverage { samples: 4, shared: vec![SharedPixel::new(1, two), SharedPixel::new(4, two)] };
        let ids: Vec<[u32; 2]> = (0..6).map(|k| [k, 1]).collect();
        let one = |node| [share(node, 4), none, none, none];
        let all: Vec<_> = coverage.owners(0, &ids).collect();
        assert_eq!(all, [one(0), two, one(2), one(3), two, one(5)]);
        // A part of the image, as a line of a file.
        assert_eq!(coverage.owners(2, &ids[2..5]).collect::<Vec<_>>(), all[2..5]);
    }
}
