//! What a client asks for: a frame request, the file it wants it in, and what its URL pins.

use isoframe_raster::frame::{ENGINE, FrameRequest, Output};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::app::App;
use super::problem::ApiError;
use crate::encode::{Format, Selection};
use crate::plan::Plan;
use crate::request::{RequestError, from_pairs};

/// A frame as a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ask {
    pub request: FrameRequest,
    pub format: Format,
    pub selection: Selection,
}

/// An [`Ask`] as jobs keep it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Kept {
    request: FrameRequest,
    format: String,
}

/// What a URL says beside the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pins {
    /// The URL names everything that decides the bytes: the answer never changes.
    pub immutable: bool,
}

impl Ask {
    /// A file of this format: one output as itself, several as layers.
    pub(crate) fn new(request: FrameRequest, format: Format) -> Result<Ask, ApiError> {
        let exr = matches!(format, Format::ExrHalf | Format::ExrFloat);
        let selection = match request.outputs[..] {
            [] => return Err(ApiError::invalid("outputs", "ask for at least one output")),
            [output] => Selection::One(output),
            _ if exr => Selection::Layers,
            _ => {
                let names: Vec<_> = request.outputs.iter().map(|output| Output::name(*output)).collect();
                let reason =
                    format!("{format} holds one output, not {}; exr holds them all", names.join(", "));
                return Err(ApiError::invalid("outputs", reason));
            }
        };
        Ok(Ask { request, format, selection })
    }

    /// From the pairs of a query, for a file of a scene with this extension.
    pub(crate) fn from_query(
        scene: &str,
        extension: &str,
        pairs: Vec<(String, String)>,
    ) -> Result<(Ask, Pins), ApiError> {
        let mut engine = None;
        let mut format = None;
        let mut rest = Vec::with_capacity(pairs.len());
        for (name, value) in pairs {
            let place = match name.as_str() {
                "engine" => &mut engine,
                "format" => &mut format,
                "scene" => return Err(ApiError::invalid("scene", "the path names the scene")),
                _ => {
                    rest.push((name, value));
                    continue;
                }
            };
            if place.replace(value).is_some() {
                return Err(ApiError::invalid(name, "given more than once"));
            }
        }
        check_engine(engine.as_deref())?;
        let pinned = engine.is_some() && rest.iter().any(|(name, value)| name == "neural" && value == "off");
        let format = parse_format(format.as_deref().unwrap_or(extension))?;
        if format.extension() != extension {
            let reason = format!("{format} is not a format of .{extension} files");
            return Err(ApiError::invalid("format", reason));
        }
        let mut request = from_pairs(rest)?;
        request.scene = scene.to_owned();
        Ok((Ask::new(request, format)?, Pins { immutable: pinned }))
    }

    /// From a JSON object: a frame request with `format` (and `engine`) beside its fields.
    pub(crate) fn from_json(value: Value) -> Result<Ask, ApiError> {
        let Value::Object(mut fields) = value else {
            return Err(ApiError::invalid("body", "is not a JSON object"));
        };
        let mut text = |name: &str| match fields.remove(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(ApiError::invalid(name, "is not a text")),
        };
        check_engine(text("engine")?.as_deref())?;
        let format = parse_format(text("format")?.as_deref().unwrap_or("png"))?;
        let request = serde_json::from_value(Value::Object(fields));
        let request = request.map_err(|error| ApiError::invalid("body", error.to_string()))?;
        Ask::new(request, format)
    }

    /// As jobs keep it.
    pub(crate) fn to_json(&self) -> Value {
        let kept = Kept { request: self.request.clone(), format: self.format.to_string() };
        // Finite numbers, texts and lists: this cannot fail to be JSON.
        serde_json::to_value(kept).unwrap_or_default()
    }

    /// From what a job kept.
    pub(crate) fn from_kept(value: Value) -> Result<Ask, ApiError> {
        let kept: Kept = serde_json::from_value(value).map_err(ApiError::internal)?;
        Ask::new(kept.request, parse_format(&kept.format)?)
    }

    /// The plan, and the ETag of its file.
    pub(crate) fn plan(&self, app: &App) -> Result<(Plan, String), ApiError> {
        let plan = app.frames.plan(&self.request)?;
        let etag = plan.etag(self.selection, self.format);
        Ok((plan, etag))
    }
}

fn check_engine(engine: Option<&str>) -> Result<(), ApiError> {
    match engine {
        Some(wanted) if wanted != ENGINE => {
            Err(ApiError::EngineGone { wanted: wanted.chars().take(64).collect(), here: ENGINE })
        }
        _ => Ok(()),
    }
}

fn parse_format(text: &str) -> Result<Format, ApiError> {
    text.parse().map_err(|error: crate::encode::FormatError| ApiError::invalid("format", error.to_string()))
}

impl From<RequestError> for ApiError {
    fn from(error: RequestError) -> ApiError {
        match error {
            RequestError::Field { field, reason } => ApiError::invalid(field, reason),
            RequestError::Repeated { field } => ApiError::invalid(field, "given more than once"),
            RequestError::Unknown { ref name } => ApiError::invalid(name.clone(), error.to_string()),
            RequestError::NeuralUnavailable { reason, detail } => {
                ApiError::NeuralUnavailable { reason, detail }
            }
        }
    }
}
