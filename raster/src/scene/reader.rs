//! What every part of the loader needs: the file, its data, the running totals and the notes.

use super::accessor::Accessor;
use super::error::SceneError;
use super::file::{Files, get};
use super::json;
use super::limits::{Budget, Notes};
use super::view::View;

/// A file while it is being read.
pub(crate) struct Reader<'a, 's> {
    pub root: &'a json::Root,
    pub views: &'a [View<'a>],
    pub accessors: &'a [Accessor<'a>],
    pub files: Files<'s>,
    pub budget: Budget<'a>,
    pub notes: Notes,
    pub quantized: bool,
}

impl<'a> Reader<'a, '_> {
    /// Keeps a note about something that is ignored.
    pub fn note(&mut self, note: String) {
        self.notes.add(self.budget.limits, note);
    }

    /// An accessor by index.
    pub fn accessor(&self, index: json::Index, what: &str) -> Result<&'a Accessor<'a>, SceneError> {
        get(self.accessors, index, "accessor", || what.into())
    }
}

/// A number as `f32`. *Errors*: one that is not finite in `f32`.
pub(crate) fn finite(what: impl FnOnce() -> String, value: f64) -> Result<f32, SceneError> {
    let narrow = value as f32;
    if narrow.is_finite() {
        return Ok(super::accessor::settle(narrow));
    }
    Err(SceneError::NotFinite { what: what(), element: 0 })
}

/// Numbers as `f32`.
pub(crate) fn finite_array<const N: usize>(what: &str, values: [f64; N]) -> Result<[f32; N], SceneError> {
    let mut out = [0.0; N];
    for (index, (narrow, value)) in out.iter_mut().zip(values).enumerate() {
        *narrow = finite(|| what.into(), value).map_err(|error| at_element(error, index))?;
    }
    Ok(out)
}

fn at_element(error: SceneError, index: usize) -> SceneError {
    match error {
        SceneError::NotFinite { what, .. } => SceneError::NotFinite { what, element: index as u64 },
        other => other,
    }
}

/// A unit vector; `fallback` where the length is next to nothing. Worked in `f64`, exact everywhere.
pub(crate) fn unit<const N: usize>(vector: [f32; N], fallback: [f32; N]) -> [f32; N] {
    let squared: f64 = vector.iter().map(|&v| f64::from(v) * f64::from(v)).sum();
    if squared < 1e-60 {
        return fallback;
    }
    let length = squared.sqrt();
    vector.map(|v| super::accessor::settle((f64::from(v) / length) as f32))
}
