//! Tangents where a normal map needs them and the file has none: MikkTSpace, as glTF 2.0 (3.7.2.1) asks.

use std::collections::HashMap;

use bevy_mikktspace::{Geometry, Ops, TangentSpace, generate_tangents};

use super::Primitive;
use super::accessor::settle;
use super::error::SceneError;
use super::limits::Budget;
use super::normals::{bytes_per_vertex, gather_vertices};

/// Arithmetic with the same bits everywhere: the IEEE square root, and libm's own arc cosine.
struct ExactOps;

impl Ops for ExactOps {
    fn sqrt(x: f32) -> f32 {
        x.sqrt()
    }
    fn acos(x: f32) -> f32 {
        libm::acos(f64::from(x)) as f32
    }
}

/// Triangles in, one tangent per corner out.
struct Corners<'p> {
    primitive: &'p Primitive,
    uv: &'p [[f32; 2]],
    tangents: Vec<[f32; 4]>,
}

impl Corners<'_> {
    fn vertex(&self, face: usize, corner: usize) -> usize {
        self.primitive.indices[face * 3 + corner] as usize
    }
}

impl Geometry<ExactOps> for Corners<'_> {
    fn num_faces(&self) -> usize {
        self.primitive.indices.len() / 3
    }
    fn num_vertices_of_face(&self, _: usize) -> usize {
        3
    }
    fn position(&self, face: usize, corner: usize) -> [f32; 3] {
        self.primitive.position[self.vertex(face, corner)]
    }
    fn normal(&self, face: usize, corner: usize) -> [f32; 3] {
        self.primitive.normal[self.vertex(face, corner)]
    }
    fn tex_coord(&self, face: usize, corner: usize) -> [f32; 2] {
        self.uv[self.vertex(face, corner)]
    }
    fn set_tangent(&mut self, tangent: Option<TangentSpace>, face: usize, corner: usize) {
        let vertex = self.vertex(face, corner);
        let normal = self.primitive.normal[vertex];
        let encoded = tangent.map_or([0.0; 4], |space| space.tangent_encoded());
        self.tangents[face * 3 + corner] = sound(encoded, normal);
    }
}

/// A unit tangent that is finite and not along the normal, whatever degenerate coordinates gave.
fn sound([x, y, z, w]: [f32; 4], normal: [f32; 3]) -> [f32; 4] {
    let squared: f64 = [x, y, z].iter().map(|&v| f64::from(v) * f64::from(v)).sum();
    let sign = if w < 0.0 { -1.0 } else { 1.0 };
    if !squared.is_finite() || squared < 1e-12 {
        let [x, y, z] = any_perpendicular(normal);
        return [x, y, z, 1.0];
    }
    let length = squared.sqrt();
    let [x, y, z] = [x, y, z].map(|v| settle((f64::from(v) / length) as f32));
    // glTF's v points down, MikkTSpace's up: the sign of the bitangent is the other one.
    [x, y, z, -sign]
}

/// A unit vector at right angles to `normal`.
fn any_perpendicular(normal: [f32; 3]) -> [f32; 3] {
    let [x, y, z] = normal.map(f64::from);
    let (a, b, c) = if x.abs() < 0.9 { (0.0, z, -y) } else { (-z, 0.0, x) };
    let length = (a * a + b * b + c * c).sqrt();
    [a, b, c].map(|v| settle((v / length) as f32))
}

/// Makes tangents from the UV set of the normal map, splitting vertices whose corners disagree.
///
/// Without that UV set every tangent is some vector at right angles to the normal. Returns a note where something
/// else than MikkTSpace's tangents was made.
pub(crate) fn generate(
    what: &str,
    primitive: &mut Primitive,
    uv_set: u32,
    budget: &mut Budget<'_>,
) -> Result<Option<String>, SceneError> {
    let corners = primitive.indices.len();
    budget.geometry_bytes(what, corners as u64 * 16)?;
    let uv = if uv_set == 0 { &primitive.uv0 } else { &primitive.uv1 };
    if uv.is_empty() {
        budget.geometry_bytes(what, primitive.position.len() as u64 * 16)?;
        let made = primitive.normal.iter().map(|&normal| sound([0.0; 4], normal));
        primitive.tangent = made.collect();
        return Ok(Some(format!("{what} has a normal map but not its TEXCOORD_{uv_set}")));
    }
    let mut geometry = Corners { primitive, uv, tangents: vec![[1.0, 0.0, 0.0, 1.0]; corners] };
    let made = generate_tangents(&mut geometry);
    let tangents = geometry.tangents;
    if made.is_err() {
        let made = primitive.normal.iter().map(|&normal| sound([0.0; 4], normal));
        primitive.tangent = made.collect();
        return Ok(Some(format!("{what}: no tangents could be made")));
    }
    split(what, primitive, &tangents, budget)?;
    Ok(None)
}

/// Gives each vertex its tangent; a vertex with several becomes several.
fn split(
    what: &str,
    primitive: &mut Primitive,
    tangents: &[[f32; 4]],
    budget: &mut Budget<'_>,
) -> Result<(), SceneError> {
    let mut made: HashMap<(u32, [u32; 4]), u32> = HashMap::with_capacity(primitive.position.len());
    let mut from = Vec::with_capacity(primitive.position.len());
    let mut tangent = Vec::with_capacity(primitive.position.len());
    // Numbered in order of first use, so the order of the map does not matter.
    for (index, &value) in primitive.indices.iter_mut().zip(tangents) {
        let vertex = made.entry((*index, value.map(f32::to_bits))).or_insert_with(|| {
            from.push(*index);
            tangent.push(value);
            from.len() as u32 - 1
        });
        *index = *vertex;
    }
    let added = from.len().saturating_sub(primitive.position.len()) as u64;
    budget.vertices(what, added)?;
    budget.geometry_bytes(what, added * (bytes_per_vertex(primitive) + 16))?;
    gather_vertices(primitive, &from);
    primitive.tangent = tangent;
    Ok(())
}
