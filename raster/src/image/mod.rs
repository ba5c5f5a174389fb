//! Images in: decoding under limits, mip chains, the sRGB curve.
//!
//! PNG, JPEG and WebP become straight-alpha RGBA8 exactly as encoded: colour-space chunks (gAMA, cHRM, iCCP,
//! EXIF orientation) are ignored, as glTF 2.0 section 3.8.3 asks. The bytes depend on the file alone, not on
//! the CPU that decodes it.

mod decode;
mod jpeg;
mod limits;
pub mod mips;
mod png;
pub mod srgb;
mod webp;

pub use decode::{Format, decode, probe};
pub use limits::{ImageError, PixelBudget};
