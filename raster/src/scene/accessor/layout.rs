//! What an accessor says about its bytes, checked against its view before anything is read.

use std::cell::OnceCell;

use super::sparse::{Sparse, sparse};
use crate::scene::error::{SceneError, quote};
use crate::scene::file::get;
use crate::scene::json;
use crate::scene::limits::{Limits, within};
use crate::scene::view::View;

/// Component type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    pub fn from_gltf(code: u32) -> Option<Component> {
        Some(match code {
            5120 => Component::I8,
            5121 => Component::U8,
            5122 => Component::I16,
            5123 => Component::U16,
            5125 => Component::U32,
            5126 => Component::F32,
            _ => return None,
        })
    }

    pub fn bytes(self) -> u64 {
        match self {
            Component::I8 | Component::U8 => 1,
            Component::I16 | Component::U16 => 2,
            Component::U32 | Component::F32 => 4,
        }
    }
}

/// Element type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Scalar,
    Vec2,
    Vec3,
    Vec4,
    Mat2,
    Mat3,
    Mat4,
}

impl Kind {
    fn from_gltf(name: &str) -> Option<Kind> {
        Some(match name {
            "SCALAR" => Kind::Scalar,
            "VEC2" => Kind::Vec2,
            "VEC3" => Kind::Vec3,
            "VEC4" => Kind::Vec4,
            "MAT2" => Kind::Mat2,
            "MAT3" => Kind::Mat3,
            "MAT4" => Kind::Mat4,
            _ => return None,
        })
    }

    /// Rows and columns.
    fn shape(self) -> (u64, u64) {
        match self {
            Kind::Scalar => (1, 1),
            Kind::Vec2 => (2, 1),
            Kind::Vec3 => (3, 1),
            Kind::Vec4 => (4, 1),
            Kind::Mat2 => (2, 2),
            Kind::Mat3 => (3, 3),
            Kind::Mat4 => (4, 4),
        }
    }

    pub fn components(self) -> usize {
        let (rows, columns) = self.shape();
        (rows * columns) as usize
    }
}

/// Bytes of one tightly packed element; columns of matrices start at multiples of four.
fn element_bytes(kind: Kind, component: Component) -> u64 {
    let (rows, columns) = kind.shape();
    let column = rows * component.bytes();
    if columns == 1 { column } else { column.next_multiple_of(4) * columns }
}

/// An accessor whose every element is known to lie inside its view.
#[derive(Debug)]
pub(crate) struct Accessor<'a> {
    pub index: usize,
    pub component: Component,
    pub kind: Kind,
    pub normalized: bool,
    pub count: usize,
    /// From the first element on; none means zeros.
    pub(super) bytes: Option<&'a [u8]>,
    pub(super) stride: usize,
    pub(super) sparse: Option<Sparse<'a>>,
    /// First element that is not finite, once looked for.
    pub(super) not_finite: OnceCell<Option<usize>>,
}

impl Accessor<'_> {
    /// Type and component type, for errors.
    pub fn format_name(&self) -> String {
        let normalized = if self.normalized { " normalized" } else { "" };
        format!("{:?} of {:?}{normalized}", self.kind, self.component)
    }

    /// Refuses the accessor for a use, unless `fits`.
    pub fn require(&self, fits: bool, what: &str, allowed: &'static str) -> Result<(), SceneError> {
        if fits {
            return Ok(());
        }
        Err(SceneError::AccessorFormat { what: what.into(), got: self.format_name(), allowed })
    }

    /// Refuses another number of elements.
    pub fn require_count(&self, wanted: usize, what: &str) -> Result<(), SceneError> {
        if self.count == wanted {
            return Ok(());
        }
        let (wanted, got) = (wanted as u64, self.count as u64);
        Err(SceneError::CountMismatch { what: what.into(), wanted, got })
    }
}

/// Checks all accessors of the file.
pub(crate) fn accessors<'a>(
    root: &json::Root,
    views: &'a [View<'_>],
    limits: &Limits,
) -> Result<Vec<Accessor<'a>>, SceneError> {
    root.accessors
        .iter()
        .enumerate()
        .map(|(index, accessor)| layout(index, accessor, views, limits))
        .collect()
}

fn layout<'a>(
    index: usize,
    accessor: &json::Accessor,
    views: &'a [View<'_>],
    limits: &Limits,
) -> Result<Accessor<'a>, SceneError> {
    let what = format!("accessor {index}");
    let component =
        Component::from_gltf(accessor.component_type).ok_or_else(|| SceneError::ValueOutOfRange {
            what: format!("{what} componentType"),
            value: f64::from(accessor.component_type),
            allowed: "5120, 5121, 5122, 5123, 5125 or 5126",
        })?;
    let kind = Kind::from_gltf(&accessor.kind).ok_or_else(|| SceneError::AccessorFormat {
        what: what.clone(),
        got: quote(&accessor.kind),
        allowed: "SCALAR, VEC2 to VEC4 or MAT2 to MAT4",
    })?;
    if accessor.count == 0 {
        let what = format!("{what} count");
        return Err(SceneError::ValueOutOfRange { what, value: 0.0, allowed: "at least 1" });
    }
    within(&what, "accessor_elements", accessor.count, limits.accessor_elements)?;
    if accessor.normalized && matches!(component, Component::F32 | Component::U32) {
        return Err(SceneError::Structure { what, reason: "only 8 and 16 bit integers can be normalized" });
    }
    let element = element_bytes(kind, component);
    let mut stride = element;
    let mut bytes = None;
    if let Some(view_index) = accessor.buffer_view {
        let view = get(views, view_index, "bufferView", || what.clone())?;
        stride = view.stride.unwrap_or(element);
        if stride < element {
            return Err(SceneError::Stride { what, stride, reason: "elements would overlap" });
        }
        let offset = accessor.byte_offset.unwrap_or(0);
        bytes = Some(slice(&what, view, offset, stride, element, accessor.count, component.bytes())?);
    }
    let sparse = match &accessor.sparse {
        Some(part) => Some(sparse(&what, part, accessor.count, component, element, views)?),
        None => None,
    };
    Ok(Accessor {
        index,
        component,
        kind,
        normalized: accessor.normalized,
        count: accessor.count as usize,
        bytes,
        stride: stride as usize,
        sparse,
        not_finite: OnceCell::new(),
    })
}

/// The bytes of `count` elements in a view, checked for room and alignment.
pub(super) fn slice<'a>(
    what: &str,
    view: &'a View<'_>,
    offset: u64,
    stride: u64,
    element: u64,
    count: u64,
    alignment: u64,
) -> Result<&'a [u8], SceneError> {
    if view.placeholder {
        return Err(SceneError::Structure { what: what.into(), reason: "its buffer has no data" });
    }
    let total = view.offset.saturating_add(offset);
    for misplaced in [offset, total, stride] {
        if misplaced % alignment != 0 {
            return Err(SceneError::Misaligned { what: what.into(), offset: misplaced, alignment });
        }
    }
    let available = view.bytes.len() as u64;
    let last = stride.checked_mul(count - 1).and_then(|bytes| bytes.checked_add(element));
    let end = last.and_then(|bytes| bytes.checked_add(offset)).unwrap_or(u64::MAX);
    if end > available {
        return Err(SceneError::OutOfBounds { what: what.into(), end, available });
    }
    Ok(&view.bytes[offset as usize..end as usize])
}
