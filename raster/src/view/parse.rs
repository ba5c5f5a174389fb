//! Cameras as text, for command lines and query strings.
//!
//! | text | camera |
//! |---|---|
//! | `auto` | the file's first camera, else a framed three-quarter view |
//! | `2` | the third camera-carrying node, counted from 0 |
//! | `front`, `back`, `left`, `right`, `top`, `bottom`, `three-quarter` | a framed view |
//! | `45deg 60deg 105%` | model-viewer's `camera-orbit`: azimuth, polar angle, radius; then `fov=30deg`, `target=0,1,0` |
//! | `matrix:1,0,0,0,...` | world from view, 16 numbers, column-major; then `;yfov=45deg`, `;znear=0.1`, `;zfar=100` or `;ortho=0.01` (metres per pixel) |
//! | `name:Camera.001` | a node or camera of that name; so is any text that is none of the above |
//!
//! Angles are in `deg` or `rad`; lengths in `m` (or no unit), `cm`, `mm`; a radius also in `%` of the
//! framing distance. `auto` in an orbit is what model-viewer starts with: `0deg 75deg 105%`.

use std::fmt;
use std::str::FromStr;

use super::framing::FRAMED_YFOV_RAD;
use super::number::{Degrees, Percent, parse_number, split_unit};
use crate::frame::{CameraChoice, NamedView, ProjectionChoice, RenderError};

const NAMED_VIEWS: [(&str, NamedView); 7] = [
    ("front", NamedView::Front),
    ("back", NamedView::Back),
    ("left", NamedView::Left),
    ("right", NamedView::Right),
    ("top", NamedView::Top),
    ("bottom", NamedView::Bottom),
    ("three-quarter", NamedView::ThreeQuarter),
];

const FORMS: &str = "a camera is `auto`, an index, `front`, `back`, `left`, `right`, `top`, `bottom`, \
    `three-quarter`, an orbit such as `45deg 60deg 105%`, `matrix:` and 16 numbers, or a name";

fn refuse<T>(reason: String) -> Result<T, RenderError> {
    Err(RenderError::Request { field: "camera", reason })
}

impl FromStr for CameraChoice {
    type Err = RenderError;

    fn from_str(text: &str) -> Result<CameraChoice, RenderError> {
        if let Some(name) = text.strip_prefix("name:") {
            return named(name);
        }
        let text = text.trim();
        if text.is_empty() {
            return refuse(format!("nothing given; {FORMS}"));
        }
        if text == "auto" {
            return Ok(CameraChoice::Auto);
        }
        if let Some((_, view)) = NAMED_VIEWS.iter().find(|(name, _)| *name == text) {
            return Ok(CameraChoice::View(*view));
        }
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return text.parse().map(CameraChoice::Index).or_else(|_| {
                refuse(format!("`{text}` is too large for a camera's index; write `name:{text}` for a name"))
            });
        }
        if let Some(matrix) = text.strip_prefix("matrix:") {
            return explicit(matrix);
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        if is_orbit(&words) {
            return orbit(&words);
        }
        named(text)
    }
}

fn named(name: &str) -> Result<CameraChoice, RenderError> {
    if name.is_empty() {
        return refuse("`name:` is followed by the name of a node or camera".into());
    }
    Ok(CameraChoice::Name(name.into()))
}

/// Whether an orbit is meant: two numbers to begin with, or one with an angle's unit. A camera that is
/// called so can still be had with `name:`.
fn is_orbit(words: &[&str]) -> bool {
    let is_number = |word: &&str| split_unit(word).is_some() || *word == "auto";
    let is_angle = |word: &&str| split_unit(word).is_some_and(|(_, unit)| unit == "deg" || unit == "rad");
    words.first().is_some_and(is_angle) || (words.len() > 1 && words[..2].iter().all(is_number))
}

fn orbit(words: &[&str]) -> Result<CameraChoice, RenderError> {
    let [theta, phi, radius, more @ ..] = words else {
        return refuse(format!(
            "`{}` is not a whole orbit: azimuth, polar angle and radius, such as `45deg 60deg 105%`",
            words.join(" ")
        ));
    };
    let start =
        |word: &str, angle_deg: f64| if word == "auto" { Ok(angle_deg.to_rad()) } else { angle_rad(word) };
    let (theta_rad, phi_rad) = (start(theta, 0.0)?, start(phi, 75.0)?);
    let (radius, radius_relative) = orbit_radius(radius)?;
    let (mut target_world, mut yfov_rad) = (None, None);
    for word in more {
        match word.split_once('=') {
            Some(("fov", angle)) if yfov_rad.is_none() => yfov_rad = Some(angle_rad(angle)?),
            Some(("target", point)) if target_world.is_none() => target_world = Some(target(point)?),
            Some(("fov" | "target", _)) => {
                return refuse(format!("`{word}` says again what was said before"));
            }
            _ => {
                return refuse(format!(
                    "`{word}` is no part of an orbit: after the radius come `fov=30deg` and `target=x,y,z`"
                ));
            }
        }
    }
    Ok(CameraChoice::Orbit { theta_rad, phi_rad, radius, radius_relative, target_world, yfov_rad })
}

trait ToRad {
    fn to_rad(self) -> f64;
}

impl ToRad for f64 {
    fn to_rad(self) -> f64 {
        self * (std::f64::consts::PI / 180.0)
    }
}

fn angle_rad(text: &str) -> Result<f64, RenderError> {
    let angle = match split_unit(text) {
        Some((number, "deg")) => parse_number(number, 0).map(ToRad::to_rad),
        Some((number, "rad")) => parse_number(number, 0),
        Some((number, "")) => {
            return refuse(format!("`{text}` has no unit: `{number}deg` or `{number}rad`"));
        }
        _ => None,
    };
    angle.map_or_else(|| refuse(format!("`{text}` is not an angle: `45deg` or `0.8rad`")), Ok)
}

fn length_m(text: &str) -> Option<f64> {
    match split_unit(text)? {
        (number, "m" | "") => parse_number(number, 0),
        (number, "cm") => parse_number(number, -2),
        (number, "mm") => parse_number(number, -3),
        _ => None,
    }
}

fn orbit_radius(text: &str) -> Result<(f64, bool), RenderError> {
    if text == "auto" {
        return Ok((1.05, true));
    }
    if let Some((number, "%")) = split_unit(text)
        && let Some(factor) = parse_number(number, -2)
    {
        return Ok((factor, true));
    }
    match length_m(text) {
        Some(radius) => Ok((radius, false)),
        None => refuse(format!("`{text}` is not a radius: `2.5m`, `80cm`, `900mm`, `105%` or `auto`")),
    }
}

fn target(text: &str) -> Result<[f64; 3], RenderError> {
    let parts: Option<Vec<f64>> = text.split(',').map(length_m).collect();
    match parts.and_then(|parts| <[f64; 3]>::try_from(parts).ok()) {
        Some(point) => Ok(point),
        None => refuse(format!("`target={text}` is not a point: `target=0,1.5,0`")),
    }
}

fn explicit(text: &str) -> Result<CameraChoice, RenderError> {
    let mut parts = text.split(';');
    let numbers: Vec<&str> = parts.next().unwrap_or_default().split(',').map(str::trim).collect();
    let parsed: Option<Vec<f64>> = numbers.iter().map(|number| parse_number(number, 0)).collect();
    let Some(world_from_view) = parsed.and_then(|parsed| <[f64; 16]>::try_from(parsed).ok()) else {
        return refuse(match numbers.iter().find(|number| parse_number(number, 0).is_none()) {
            Some(number) => format!("`{number}` in the matrix is not a finite number"),
            None => format!("a matrix has 16 numbers, column after column, not {}", numbers.len()),
        });
    };
    let mut lens = ExplicitLens::default();
    for part in parts {
        lens.read(part.trim())?;
    }
    Ok(CameraChoice::Matrix { world_from_view, projection: lens.projection()? })
}

#[derive(Default)]
struct ExplicitLens {
    yfov_rad: Option<f64>,
    znear: Option<f64>,
    zfar: Option<f64>,
    metres_per_px: Option<f64>,
}

impl ExplicitLens {
    fn read(&mut self, part: &str) -> Result<(), RenderError> {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let length = || match length_m(value) {
            Some(length) => Ok(length),
            None => refuse(format!("`{part}` is not a length in metres: `{key}=0.1`")),
        };
        let (slot, value) = match key {
            "yfov" => (&mut self.yfov_rad, angle_rad(value)?),
            "znear" => (&mut self.znear, length()?),
            "zfar" => (&mut self.zfar, length()?),
            "ortho" => (&mut self.metres_per_px, length()?),
            _ => {
                return refuse(format!(
                    "`{part}` is no part of a lens: after the matrix come `;yfov=45deg`, `;znear=0.1` and \
                     `;zfar=100`, or `;ortho=0.01`"
                ));
            }
        };
        if slot.replace(value).is_some() {
            return refuse(format!("`{part}` says again what was said before"));
        }
        Ok(())
    }

    fn projection(self) -> Result<ProjectionChoice, RenderError> {
        let perspective = self.yfov_rad.or(self.znear).or(self.zfar);
        match (self.metres_per_px, perspective) {
            (Some(_), Some(_)) => refuse(
                "`ortho` goes without `yfov`, `znear` and `zfar`: its planes come from the scene".into(),
            ),
            (Some(metres_per_px), None) => Ok(ProjectionChoice::Orthographic { metres_per_px }),
            (None, _) => Ok(ProjectionChoice::Perspective {
                yfov_rad: self.yfov_rad.unwrap_or(FRAMED_YFOV_RAD),
                znear: self.znear,
                zfar: self.zfar,
            }),
        }
    }
}

/// The canonical text: [`CameraChoice::from_str`] reads it back to the last bit.
impl fmt::Display for CameraChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CameraChoice::Auto => f.write_str("auto"),
            CameraChoice::Index(index) => write!(f, "{index}"),
            CameraChoice::Name(name) => write!(f, "name:{name}"),
            CameraChoice::View(view) => {
                f.write_str(NAMED_VIEWS.iter().find(|(_, named)| named == view).map_or("", |(name, _)| name))
            }
            CameraChoice::Orbit { theta_rad, phi_rad, radius, radius_relative, target_world, yfov_rad } => {
                write!(f, "{} {} ", Degrees(*theta_rad), Degrees(*phi_rad))?;
                if *radius_relative { write!(f, "{}", Percent(*radius)) } else { write!(f, "{radius}m") }?;
                yfov_rad.map_or(Ok(()), |yfov_rad| write!(f, " fov={}", Degrees(yfov_rad)))?;
                target_world.map_or(Ok(()), |[x, y, z]| write!(f, " target={x},{y},{z}"))
            }
            CameraChoice::Matrix { world_from_view, projection } => {
                let numbers: Vec<String> = world_from_view.iter().map(f64::to_string).collect();
                write!(f, "matrix:{}", numbers.join(","))?;
                match projection {
                    ProjectionChoice::Perspective { yfov_rad, znear, zfar } => {
                        write!(f, ";yfov={}", Degrees(*yfov_rad))?;
                        znear.map_or(Ok(()), |znear| write!(f, ";znear={znear}"))?;
                        zfar.map_or(Ok(()), |zfar| write!(f, ";zfar={zfar}"))
                    }
                    ProjectionChoice::Orthographic { metres_per_px } => write!(f, ";ortho={metres_per_px}"),
                }
            }
        }
    }
}
