//! Plans and identities: what will be rendered, what was rendered, and which file that is.
//!
//! A request is resolved into a plan: which path, which model. The *plan id* is the blake3 of the
//! canonical JSON (RFC 8785) of plan, scene hash and engine; the *frame id* is the same over what was
//! really rendered. Without a fallback that changes the pixels the two are equal.
//!
//! `neural` and `model_channel` are resolved away: a raster plan holds their defaults, whatever was asked,
//! because its pixels do not depend on them and a channel may move.

use std::fmt;

use isoframe_neural::ModelId;
use isoframe_raster::frame::{ENGINE, FrameRequest, Output};
use serde::{Deserialize, Serialize};

use crate::encode::{ENCODER, Format, Selection};
use crate::fallback::Fallback;
use crate::request::{self, RequestError};

/// Hash of the built-in environment.
pub const STUDIO: &str = "studio";

/// How a frame is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Path {
    /// Classic lighting, no network.
    Raster,
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Path::Raster => "raster",
        })
    }
}

/// What will be rendered.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    request: FrameRequest,
    path: Path,
    model: Option<ModelId>,
    id: String,
    fallback: Option<Fallback>,
}

/// What the ids hash.
#[derive(Serialize)]
struct Identity<'a> {
    plan: Resolved<'a>,
    scene: &'a str,
    engine: &'a str,
}

#[derive(Serialize)]
struct Resolved<'a> {
    path: Path,
    model: Option<ModelId>,
    request: &'a FrameRequest,
}

/// What an ETag hashes.
#[derive(Serialize)]
struct FileIdentity<'a> {
    frame: &'a str,
    outputs: Vec<Output>,
    format: String,
    encoder: &'a str,
}

impl Plan {
    /// A raster plan of a request that [`request::validate`] has passed. `fallback` says why it is raster
    /// where something else was asked; it is told, never hashed. *Errors*: a number that is not finite.
    pub fn raster(request: &FrameRequest, fallback: Option<Fallback>) -> Result<Plan, RequestError> {
        let defaults = FrameRequest::default();
        let resolved = FrameRequest {
            neural: defaults.neural,
            model_channel: defaults.model_channel,
            ..request.clone()
        };
        let request = request::canonical(&resolved);
        let id = identity(&request, Path::Raster, None, ENGINE)?;
        Ok(Plan { request, path: Path::Raster, model: None, id, fallback })
    }

    /// The canonical request, flags and channels resolved away.
    pub fn request(&self) -> &FrameRequest {
        &self.request
    }

    /// How the frame is made.
    pub fn path(&self) -> Path {
        self.path
    }

    /// The model that blends it.
    pub fn model(&self) -> Option<ModelId> {
        self.model
    }

    /// The scene's hash.
    pub fn scene(&self) -> &str {
        &self.request.scene
    }

    /// The environment's hash; `studio` for the built-in one.
    pub fn environment(&self) -> &str {
        self.request.environment.as_deref().unwrap_or(STUDIO)
    }

    /// The engine that renders it.
    pub fn engine(&self) -> &'static str {
        ENGINE
    }

    /// Why the plan is not what the request asked for.
    pub fn fallback(&self) -> Option<&Fallback> {
        self.fallback.as_ref()
    }

    /// Names the plan. *Format*: 64 hex digits.
    pub fn plan_id(&self) -> &str {
        &self.id
    }

    /// Names the frame, when nothing falls back to other pixels; a raster frame is known by its plan.
    pub fn frame_id(&self) -> &str {
        &self.id
    }

    /// The strong ETag, in quotes, of this frame as a file.
    pub fn etag(&self, selection: Selection, format: Format) -> String {
        let file = FileIdentity {
            frame: self.frame_id(),
            outputs: selection.outputs(&self.request),
            format: format.to_string(),
            encoder: ENCODER,
        };
        // Strings only: this cannot fail to be JSON.
        let bytes = serde_json_canonicalizer::to_vec(&file).unwrap_or_default();
        format!("\"{}\"", &blake3::hash(&bytes).to_hex()[..32])
    }
}

/// The id of a canonical request made this way by this engine. *Errors*: a number that is not finite.
pub fn identity(
    request: &FrameRequest,
    path: Path,
    model: Option<ModelId>,
    engine: &str,
) -> Result<String, RequestError> {
    let refused = |reason| RequestError::Field { field: "request", reason };
    // A number that is not finite is null in JSON, which some fields read back as absent.
    let json = serde_json::to_vec(request).map_err(|error| refused(error.to_string()))?;
    if serde_json::from_slice::<FrameRequest>(&json).ok().as_ref() != Some(request) {
        return Err(refused("holds a number that is not finite".into()));
    }
    let identity = Identity { plan: Resolved { path, model, request }, scene: &request.scene, engine };
    let bytes = serde_json_canonicalizer::to_vec(&identity).map_err(|error| refused(error.to_string()))?;
    Ok(blake3::hash(&bytes).to_hex().to_string())
}
