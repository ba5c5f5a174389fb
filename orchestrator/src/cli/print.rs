//! Results on stdout. A reader that went away is no error; anything else that fails is.

use std::fmt;
use std::io::{self, Write};
use std::time::Duration;

use super::exit::Failure;

/// Writes a line.
pub(crate) fn line(text: impl fmt::Display) -> Result<(), Failure> {
    bytes(format!("{text}\n").as_bytes())
}

/// Writes text as it is.
pub(crate) fn text(text: impl fmt::Display) -> Result<(), Failure> {
    bytes(text.to_string().as_bytes())
}

/// Writes a JSON document, indented.
pub(crate) fn json(value: &impl serde::Serialize) -> Result<(), Failure> {
    line(serde_json::to_string_pretty(value).map_err(Failure::fault)?)
}

/// A duration as reports give it.
pub(crate) fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Writes bytes as they are.
pub(crate) fn bytes(data: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(data).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::fault(format!("stdout: {error}")))
        }
        _ => Ok(()),
    }
}
