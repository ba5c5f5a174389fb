//! The one error type of this crate.

use crate::encode::EncodeError;
use crate::frames::FramesError;
use crate::receipt::ReceiptError;
use crate::request::RequestError;
use crate::verify::VerifyError;

/// What can go wrong between a request and a file.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// Opening a backend, or rendering.
    #[error(transparent)]
    Frames(#[from] FramesError),
    /// Encoding.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// Reading a receipt.
    #[error(transparent)]
    Receipt(#[from] ReceiptError),
    /// Verifying a file.
    #[error(transparent)]
    Verify(#[from] VerifyError),
}
