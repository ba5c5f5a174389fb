//! The contract between frame buffers and the neural stage: which model a frame is asked to go through.
//!
//! A request says *whether* a network may blend the frame ([`NeuralMode`]); resolving it against the live
//! model, if there is one, says *which* ([`Resolution`]). What is resolved goes into the plan, so that a
//! frame's identity names a model by its hash and never by a channel that may move.

use std::fmt;
use std::str::FromStr;

use isoframe_raster::frame::NeuralMode;
use serde::{Deserialize, Serialize};

/// Identity of a model: blake3 of its manifest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct ModelId([u8; 32]);

impl ModelId {
    /// From the 32 bytes of the hash.
    pub fn from_bytes(bytes: [u8; 32]) -> ModelId {
        ModelId(bytes)
    }

    /// The 32 bytes of the hash.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ModelId({self})")
    }
}

impl From<ModelId> for String {
    fn from(id: ModelId) -> String {
        id.to_string()
    }
}

/// A model id that is not 64 lower-case hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelIdError;

impl fmt::Display for ModelIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a model id is 64 lower-case hex digits")
    }
}

impl std::error::Error for ModelIdError {}

impl FromStr for ModelId {
    type Err = ModelIdError;

    fn from_str(text: &str) -> Result<ModelId, ModelIdError> {
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Ok(byte - b'0'),
            b'a'..=b'f' => Ok(byte - b'a' + 10),
            _ => Err(ModelIdError),
        };
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(ModelIdError);
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Ok(ModelId(bytes))
    }
}

impl TryFrom<String> for ModelId {
    type Error = ModelIdError;

    fn try_from(text: String) -> Result<ModelId, ModelIdError> {
        text.parse()
    }
}

/// What a request's [`NeuralMode`] comes to, given the live model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolution {
    /// Raster, as asked.
    Raster,
    /// Raster, because no model is live; under `auto` that is a fallback and is said.
    NoModel,
    /// This model.
    Model(ModelId),
    /// `required`, and no model is live: an error, not a fallback.
    Unavailable,
}

/// Resolves a request's mode against the model that is live on its channel.
pub fn resolve(mode: NeuralMode, live: Option<ModelId>) -> Resolution {
    match (mode, live) {
        (NeuralMode::Off, _) => Resolution::Raster,
        (NeuralMode::Auto | NeuralMode::Required, Some(model)) => Resolution::Model(model),
        (NeuralMode::Auto, None) => Resolution::NoModel,
        (NeuralMode::Required, None) => Resolution::Unavailable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_ids_round_trip_and_refuse_what_is_not_a_hash() {
        let text = "0123456789abcdef".repeat(4);
        let id: ModelId = text.parse().unwrap();
        assert_eq!(id.to_string(), text);
        assert_eq!(id.as_bytes()[..2], [0x01, 0x23]);
        for bad in ["", "0", &text[1..], &text.to_uppercase(), &format!("{text}0"), &"é".repeat(32)] {
            assert_eq!(bad.parse::<ModelId>(), Err(ModelIdError), "{bad}");
        }
    }

    #[test]
    fn modes_resolve_against_the_live_model() {
        let model = ModelId::from_bytes([7; 32]);
        for (mode, live, expected) in [
            (NeuralMode::Off, None, Resolution::Raster),
            (NeuralMode::Off, Some(model), Resolution::Raster),
            (NeuralMode::Auto, None, Resolution::NoModel),
            (NeuralMode::Auto, Some(model), Resolution::Model(model)),
            (NeuralMode::Required, None, Resolution::Unavailable),
            (NeuralMode::Required, Some(model), Resolution::Model(model)),
        ] {
            assert_eq!(resolve(mode, live), expected, "{mode:?} {live:?}");
        }
    }
}
