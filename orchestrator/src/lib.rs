//! Frames as files and answers: requests, plans, encoders, receipts, verification.
//!
//! The only crate that knows files, HTTP, time and environment. `raster` renders; here a request becomes
//! a plan ([`plan`]), a plan becomes a frame ([`frames`]), a frame becomes a file ([`mod@encode`]) that says
//! what it shows ([`receipt`]) and can be checked anywhere ([`verify`]). [`http`] serves them over a
//! [`store`]; [`config`] has every setting. [`generate`] makes scenes to train and measure with.

pub mod admission;
pub mod cli;
pub mod config;
pub mod encode;
pub mod error;
pub mod fallback;
pub mod frames;
pub mod generate;
pub mod http;
pub mod plan;
pub mod receipt;
pub mod request;
pub mod store;
pub mod verify;
