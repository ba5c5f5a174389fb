//! Accessors: typed, strided, sparse, normalised arrays over buffer views.

mod layout;
mod read;
mod sparse;

pub(crate) use layout::{Accessor, Component, Kind, accessors};
pub(crate) use read::{Rows, settle};
