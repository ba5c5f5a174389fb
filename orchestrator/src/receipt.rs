//! Receipts: what a file shows, written into the file itself.
//!
//! Only functions of the frame's identity: never a tenant, key, device, host or time, so that the file is
//! the same from any machine. Canonical JSON (RFC 8785).

use isoframe_neural::ModelId;
use isoframe_raster::frame::{FrameRequest, Output};
use serde::{Deserialize, Serialize};

use crate::encode::{self, ENCODER, Format, PixelHash};
use crate::plan::{Path, Plan};

/// PNG `iTXt` keyword of a receipt.
pub const PNG_KEYWORD: &str = "isoframe:receipt";

/// Longest receipt that is read. *Units*: bytes.
pub const RECEIPT_MAX_BYTES: usize = 60_000;

/// Linear depth of the codes of an integer depth file: code c < full shows `near + (far - near) * c / (full - 1)`,
/// and full (255 or 65535) shows that nothing was drawn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DepthRange {
    /// Depth of code 0. *Units*: scene units.
    pub near: f32,
    /// Depth of code full - 1. *Units*: scene units.
    pub far: f32,
}

/// What a file shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// Version of this form: 1.
    pub receipt: u32,
    /// The canonical request.
    pub request: FrameRequest,
    /// Plan id.
    pub plan: String,
    /// Frame id.
    pub frame: String,
    /// The engine that rendered it.
    pub engine: String,
    /// The path that made it.
    pub path: Path,
    /// The model that blended it.
    pub model: Option<ModelId>,
    /// Format, as [`Format`] writes it.
    pub format: String,
    /// Outputs in the file.
    pub outputs: Vec<Output>,
    /// Hash of the pixels.
    pub pixels: PixelHash,
    /// What the codes of an integer depth file mean.
    pub depth_range: Option<DepthRange>,
    /// Whether there was a previous time or camera to relate motion to.
    pub motion_valid: bool,
    /// Version of the encoders.
    pub encoder: String,
}

impl Receipt {
    /// The receipt of a frame of this plan.
    pub fn new(
        plan: &Plan,
        format: Format,
        outputs: Vec<Output>,
        pixels: PixelHash,
        depth_range: Option<DepthRange>,
        motion_valid: bool,
    ) -> Receipt {
        Receipt {
            receipt: 1,
            request: plan.request().clone(),
            plan: plan.plan_id().to_owned(),
            frame: plan.frame_id().to_owned(),
            engine: plan.engine().to_owned(),
            path: plan.path(),
            model: plan.model(),
            format: format.to_string(),
            outputs,
            pixels,
            depth_range,
            motion_valid,
            encoder: ENCODER.to_owned(),
        }
    }

    /// Canonical JSON.
    pub fn to_json(&self) -> String {
        // A plan's request is finite, and depth ranges are: this cannot fail to be JSON.
        serde_json_canonicalizer::to_string(self).unwrap_or_default()
    }
}

/// Why a file has no readable receipt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReceiptError {
    /// Not a PNG, EXR, WebP or JPEG file.
    #[error("not a PNG, EXR, WebP or JPEG file")]
    UnknownFormat,
    /// The file ends early or contradicts itself.
    #[error("damaged file: {0}")]
    Damaged(String),
    /// No receipt in the file.
    #[error("the file carries no receipt")]
    Missing,
    /// The receipt is not one.
    #[error("the receipt cannot be read: {0}")]
    Malformed(String),
}

/// Reads the receipt of a file in any of the formats.
pub fn read(file: &[u8]) -> Result<Receipt, ReceiptError> {
    parse(&encode::receipt_json(file)?)
}

/// Reads a receipt, without a file around it.
pub fn parse(json: &str) -> Result<Receipt, ReceiptError> {
    serde_json::from_str(json).map_err(|error| ReceiptError::Malformed(error.to_string()))
}
