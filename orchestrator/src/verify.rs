//! Verification: does a file show what its receipt says? Renders again and compares.

use std::fmt;

use isoframe_neural::ModelId;
use isoframe_raster::backend::Cancel;
use isoframe_raster::environment::Environment;
use isoframe_raster::frame::ENGINE;
use isoframe_raster::prepared::Prepared;
use serde::Deserialize;

use crate::encode::{
    self, ENCODER, EncodeError, EncodeOptions, Encoded, Format, Selection, color_format, pixels_of_file,
};
use crate::frames::{Frames, FramesError};
use crate::plan::{Plan, identity};
use crate::receipt::{self, Receipt, ReceiptError};
use crate::request::{self, RequestError};

/// What verification found.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The file shows what its receipt says.
    Same {
        /// Whether the whole file is the one that this version writes. If not, its pixels and receipt are, and
        /// something else is not: another compression, say, or added metadata.
        file_identical: bool,
    },
    /// It does not.
    Differs {
        /// What differs.
        what: Difference,
    },
    /// It cannot be told here.
    NotComparable {
        /// Why not.
        why: Obstacle,
    },
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Same { file_identical: true } => f.write_str("same: the file, byte for byte"),
            Verdict::Same { file_identical: false } => {
                f.write_str("same: pixels and receipt; the file around them was written otherwise")
            }
            Verdict::Differs { what } => write!(f, "differs: {what}"),
            Verdict::NotComparable { why } => write!(f, "not comparable: {why}"),
        }
    }
}

/// How a file is not what its receipt says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Difference {
    /// The receipt is right, the pixels are not: they were changed after the file was written.
    #[error("the pixels are not those of the receipt: {detail}")]
    Pixels {
        /// Where.
        detail: String,
    },
    /// The receipt contradicts itself, its file, or what this scene renders to.
    #[error("the receipt was changed: {detail}")]
    Receipt {
        /// Which of its statements.
        detail: String,
    },
    /// Pixels and receipt agree with each other, and not with the scene.
    #[error("this request renders to other pixels: {detail}")]
    Render {
        /// Where.
        detail: String,
    },
}

/// Why a file cannot be compared here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    /// There is no receipt to compare with.
    #[error(transparent)]
    Receipt(ReceiptError),
    /// Another version of the receipt's form.
    #[error("the receipt has form {0}, this version reads form 1")]
    Form(u32),
    /// Another engine.
    #[error("the file was rendered by engine {file}, this is {here}")]
    Engine {
        /// Engine in the receipt.
        file: String,
        /// Engine here.
        here: &'static str,
    },
    /// Other encoders.
    #[error("the file was written by encoder {file}, this is {here}")]
    Encoder {
        /// Encoder in the receipt.
        file: String,
        /// Encoder here.
        here: &'static str,
    },
    /// A model that is not here.
    #[error("the file was blended by model {0}, which is not here")]
    Model(ModelId),
    /// Another scene or environment than the one given.
    #[error("the file shows {what} {file}, this is {here}")]
    Input {
        /// `scene` or `environment`.
        what: &'static str,
        /// Hash in the receipt.
        file: String,
        /// Hash of what was given.
        here: String,
    },
    /// A request that the limits set here refuse.
    #[error("the request is refused here: {0}")]
    Request(RequestError),
}

/// Why verification could not be done.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The frame could not be rendered again.
    #[error(transparent)]
    Frames(#[from] FramesError),
    /// The frame could not be encoded again.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

/// What is read of a receipt before it is known to be of this version.
#[derive(Deserialize)]
struct Versions {
    receipt: u32,
    engine: String,
    encoder: String,
}

/// Verification that ends early.
enum Stop {
    Verdict(Verdict),
    Error(VerifyError),
}

impl From<Obstacle> for Stop {
    fn from(why: Obstacle) -> Stop {
        Stop::Verdict(Verdict::NotComparable { why })
    }
}

impl From<Difference> for Stop {
    fn from(what: Difference) -> Stop {
        Stop::Verdict(Verdict::Differs { what })
    }
}

impl<E: Into<VerifyError>> From<E> for Stop {
    fn from(error: E) -> Stop {
        Stop::Error(error.into())
    }
}

/// Renders again what a file's receipt says, and compares.
pub fn verify(
    file: &[u8],
    scene: &Prepared,
    environment: &Environment,
    frames: &Frames,
    cancel: &Cancel,
) -> Result<Verdict, VerifyError> {
    let verdict = read(file).and_then(|receipt| {
        let (plan, format) = accept(&receipt, frames)?;
        check_inputs(&plan, scene, environment)?;
        let again = render_again(&receipt, &plan, format, scene, environment, frames, cancel)?;
        compare(file, &receipt, format, &again)
    });
    match verdict {
        Ok(verdict) | Err(Stop::Verdict(verdict)) => Ok(verdict),
        Err(Stop::Error(error)) => Err(error),
    }
}

/// The receipt, if it is one of this version.
fn read(file: &[u8]) -> Result<Receipt, Stop> {
    let json = encode::receipt_json(file).map_err(Obstacle::Receipt)?;
    let malformed = |error: serde_json::Error| Obstacle::Receipt(ReceiptError::Malformed(error.to_string()));
    let versions: Versions = serde_json::from_str(&json).map_err(malformed)?;
    if versions.receipt != 1 {
        return Err(Obstacle::Form(versions.receipt).into());
    }
    if versions.engine != ENGINE {
        return Err(Obstacle::Engine { file: versions.engine, here: ENGINE }.into());
    }
    if versions.encoder != ENCODER {
        return Err(Obstacle::Encoder { file: versions.encoder, here: ENCODER }.into());
    }
    let receipt = receipt::parse(&json).map_err(|error| changed(error.to_string()))?;
    // One text per receipt: what parses to the same and was written otherwise was changed too.
    if receipt.to_json() != json { Err(changed("it is not in canonical form").into()) } else { Ok(receipt) }
}

fn changed(detail: impl Into<String>) -> Difference {
    Difference::Receipt { detail: detail.into() }
}

/// The plan that a receipt names, once its statements agree with each other.
fn accept(receipt: &Receipt, frames: &Frames) -> Result<(Plan, Format), Stop> {
    let id = identity(&receipt.request, receipt.path, receipt.model, ENGINE)
        .map_err(|error| changed(error.to_string()))?;
    for (name, stated) in [("plan", &receipt.plan), ("frame", &receipt.frame)] {
        if *stated != id {
            return Err(changed(format!("{name} {stated} is not the id of its request, {id}")).into());
        }
    }
    if let Some(model) = receipt.model {
        return Err(Obstacle::Model(model).into());
    }
    request::validate(&receipt.request, frames.limits()).map_err(Obstacle::Request)?;
    let plan = Plan::raster(&receipt.request, None).map_err(Obstacle::Request)?;
    if plan.plan_id() != id {
        return Err(changed("its request is not in canonical form").into());
    }
    let format: Format = receipt.format.parse().map_err(|_| changed("it names no format"))?;
    let outputs = &receipt.outputs;
    let one = outputs.len() == 1 && receipt.request.outputs.contains(&outputs[0]);
    let layered = matches!(format, Format::ExrHalf | Format::ExrFloat) && *outputs == receipt.request.outputs;
    if !one && !layered {
        return Err(changed("its outputs are not those of its request").into());
    }
    Ok((plan, format))
}

fn check_inputs(plan: &Plan, scene: &Prepared, environment: &Environment) -> Result<(), Obstacle> {
    for (what, file, here) in
        [("scene", plan.scene(), &scene.scene.hash), ("environment", plan.environment(), &environment.hash)]
    {
        if file != here {
            return Err(Obstacle::Input { what, file: file.to_owned(), here: here.clone() });
        }
    }
    Ok(())
}

fn render_again(
    receipt: &Receipt,
    plan: &Plan,
    format: Format,
    scene: &Prepared,
    environment: &Environment,
    frames: &Frames,
    cancel: &Cancel,
) -> Result<Encoded, VerifyError> {
    let rendered = frames.render(plan, scene, environment, color_format(format), cancel)?;
    let selection = match receipt.outputs[..] {
        [output] => Selection::One(output),
        _ => Selection::Layers,
    };
    let options = EncodeOptions { scene: Some(&scene.scene) };
    Ok(encode::encode(&rendered.frame, plan, format, selection, &options)?)
}

fn compare(file: &[u8], receipt: &Receipt, format: Format, again: &Encoded) -> Result<Verdict, Stop> {
    if file == again.bytes {
        return Ok(Verdict::Same { file_identical: true });
    }
    let statement_of_pixels = receipt.pixels == again.pixels;
    let statements = Receipt { pixels: again.pixels.clone(), ..receipt.clone() } == again.receipt;
    if !statements {
        return Err(changed("it does not say what this request renders to").into());
    }
    if let Format::Jpeg { .. } = format {
        // The pixels that went in cannot be had from the file; the file can only be the same or not.
        return Err(if statement_of_pixels {
            Difference::Pixels { detail: "the compressed data are other ones".into() }.into()
        } else {
            changed(format!("pixels {} are rendered as {}", receipt.pixels, again.pixels)).into()
        });
    }
    let pixels_in = |bytes: &[u8]| pixels_of_file(bytes, format, &receipt.request, &receipt.outputs);
    let found = pixels_in(file).map_err(|detail| Difference::Pixels { detail })?;
    let rendered = pixels_in(&again.bytes).map_err(|reason| EncodeError::Library { format, reason })?;
    let difference = found.difference(&rendered);
    if !found.has_layout_of(&rendered) && found.hash() == receipt.pixels {
        return Err(changed("the file does not hold the outputs that it names").into());
    }
    match (difference, statement_of_pixels) {
        (None, true) => Ok(Verdict::Same { file_identical: false }),
        (Some(detail), true) => Err(Difference::Pixels { detail }.into()),
        (None, false) => {
            Err(changed(format!("pixels {} are rendered as {}", receipt.pixels, again.pixels)).into())
        }
        (Some(detail), false) if found.hash() == receipt.pixels => Err(Difference::Render { detail }.into()),
        (Some(detail), false) => Err(changed(format!("and the pixels: {detail}")).into()),
    }
}

#[cfg(test)]
mod tests;
