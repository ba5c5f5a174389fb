//! How a command ends: exit codes, and errors as one line or as JSON.

use std::fmt;
use std::process::ExitCode;

use isoframe_raster::frame::RenderError;

use crate::encode::EncodeError;
use crate::frames::FramesError;
use crate::request::RequestError;
use crate::verify::VerifyError;

/// The exit codes, as `--help` and the documentation list them.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  done, and every check passed
  1  a check failed: the file differs, a golden differs, a backend disagrees
  2  the command line or an input is wrong: bad flag, unreadable scene, missing folder
  3  not possible or not comparable here: no such adapter, another ENGINE, a missing model
  4  not finished: a write failed, or a fault inside Isoframe
  130  interrupted";

/// Why a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done, and every check passed.
    Done,
    /// A check failed.
    CheckFailed,
    /// The command line or an input is wrong.
    BadInput,
    /// This machine or build cannot do it, or the two things cannot be compared.
    NotHere,
    /// A write failed, or a fault inside Isoframe.
    Fault,
    /// Ctrl-C.
    Interrupted,
}

impl Exit {
    /// All of them.
    #[cfg(test)]
    const ALL: [Exit; 6] =
        [Exit::Done, Exit::CheckFailed, Exit::BadInput, Exit::NotHere, Exit::Fault, Exit::Interrupted];

    /// The number the process ends with.
    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::CheckFailed => 1,
            Exit::BadInput => 2,
            Exit::NotHere => 3,
            Exit::Fault => 4,
            // What a shell expects of a process that SIGINT ended.
            Exit::Interrupted => 130,
        }
    }

    /// The word for it in JSON errors.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Exit::Done => "done",
            Exit::CheckFailed => "check_failed",
            Exit::BadInput => "bad_input",
            Exit::NotHere => "not_here",
            Exit::Fault => "fault",
            Exit::Interrupted => "interrupted",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// A command that could not be carried out: what went wrong and where, and what to do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Exit code to end with.
    pub exit: Exit,
    /// What went wrong, and where.
    pub what: String,
    /// What the caller can do.
    pub hint: Option<String>,
}

impl Failure {
    /// The command line or an input is wrong.
    pub(crate) fn bad_input(what: impl fmt::Display) -> Failure {
        Failure { exit: Exit::BadInput, what: what.to_string(), hint: None }
    }

    /// This machine or build cannot do it.
    pub(crate) fn not_here(what: impl fmt::Display) -> Failure {
        Failure { exit: Exit::NotHere, what: what.to_string(), hint: None }
    }

    /// A write failed, or a fault inside Isoframe.
    pub(crate) fn fault(what: impl fmt::Display) -> Failure {
        Failure { exit: Exit::Fault, what: what.to_string(), hint: None }
    }

    /// The same with advice.
    pub(crate) fn hint(mut self, hint: impl fmt::Display) -> Failure {
        self.hint = Some(hint.to_string());
        self
    }

    /// The JSON written to stderr under `--json`.
    pub(crate) fn json(&self) -> String {
        serde_json::json!({
            "error": { "code": self.exit.name(), "exit": self.exit.code(), "message": self.what, "hint": self.hint }
        })
        .to_string()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&one_line(&self.what))?;
        match &self.hint {
            Some(hint) => write!(f, " (hint: {})", one_line(hint)),
            None => Ok(()),
        }
    }
}

const BACKEND_HINT: &str = "isoframe adapters lists what is here; --backend cpu gives the same bytes";

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Failure {
        match error {
            RequestError::NeuralUnavailable { .. } => {
                Failure::not_here(error).hint("--neural auto falls back to raster and says so")
            }
            RequestError::Field { .. } | RequestError::Unknown { .. } | RequestError::Repeated { .. } => {
                Failure::bad_input(error)
            }
        }
    }
}

impl From<RenderError> for Failure {
    fn from(error: RenderError) -> Failure {
        match error {
            RenderError::Request { .. } => Failure::bad_input(error),
            RenderError::DeviceLimit { .. } | RenderError::DeviceLost(_) => {
                Failure::not_here(error).hint(BACKEND_HINT)
            }
            RenderError::Cancelled => {
                Failure { exit: Exit::Interrupted, what: "interrupted".into(), hint: None }
            }
        }
    }
}

impl From<FramesError> for Failure {
    fn from(error: FramesError) -> Failure {
        match error {
            FramesError::Backend { .. } => Failure::not_here(error).hint(BACKEND_HINT),
            FramesError::Request(error) => error.into(),
            FramesError::Render(error) => error.into(),
            FramesError::Mismatch { .. } => Failure::bad_input(error),
            FramesError::Cpu(_) => Failure::fault(error),
        }
    }
}

impl From<EncodeError> for Failure {
    fn from(error: EncodeError) -> Failure {
        match error {
            EncodeError::Layers { .. } | EncodeError::Range { .. } | EncodeError::Size { .. } => {
                Failure::bad_input(error)
            }
            EncodeError::Missing { .. }
            | EncodeError::Receipt { .. }
            | EncodeError::ColorFormat { .. }
            | EncodeError::Shape { .. }
            | EncodeError::Library { .. } => Failure::fault(error),
        }
    }
}

impl From<VerifyError> for Failure {
    fn from(error: VerifyError) -> Failure {
        match error {
            VerifyError::Frames(error) => error.into(),
            VerifyError::Encode(error) => error.into(),
        }
    }
}

/// Errors from files name the folder or line they come from; none of them may break the one-line promise.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line_with_its_hint() {
        let failure = Failure::bad_input("scene a.glb:\n  accessor 5").hint("check\nit");
        assert_eq!(failure.to_string(), "scene a.glb: accessor 5 (hint: check it)");
        let json: serde_json::Value = serde_json::from_str(&failure.json()).expect("valid JSON");
        assert_eq!(json["error"]["exit"], 2);
        assert_eq!(json["error"]["code"], "bad_input");
    }

    #[test]
    fn help_lists_every_code() {
        for exit in Exit::ALL {
            assert!(EXIT_CODES.contains(&format!("\n  {}  ", exit.code())), "{exit:?}");
        }
    }
}
