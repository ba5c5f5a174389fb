//! Tangents where a normal map or anisotropy needs them and the file has none: MikkTSpace, as glTF 2.0 (3.7.2.1) asks.

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

/// Triangles that are more than a line or point in, a tangent per corner out.
struct Corners<'p> {
    primitive: &'p Primitive,
    uv: &'p [[f32; 2]],
    /// Triangles that take part.
    faces: Vec<u32>,
    /// By position in the primitive's indices.
    tangents: Vec<Option<[f32; 4]>>,
}

impl Corners<'_> {
    fn corner(&self, face: usize, corner: usize) -> usize {
        self.faces[face] as usize * 3 + corner
    }

    fn vertex(&self, face: usize, corner: usize) -> usize {
        self.primitive.indices[self.corner(face, corner)] as usize
    }
}

impl Geometry<ExactOps> for Corners<'_> {
    fn num_faces(&self) -> usize {
        self.faces.len()
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
        let at = self.corner(face, corner);
        // glTF's v points down, MikkTSpace's up: the sign of the bitangent is the other one.
        self.tangents[at] = tangent.map(|space| {
            let [x, y, z, w] = space.tangent_encoded();
            [x, y, z, -w]
        });
    }
}

/// Makes tangents from the UV set of what needs them, splitting vertices whose corners disagree.
///
/// Without that UV set every tangent is some vector at right angles to the normal. Made tangents do not move with
/// morph targets. Returns a note where something else than MikkTSpace's tangents was made.
pub(crate) fn generate(
    what: &str,
    primitive: &mut Primitive,
    uv_set: u32,
    budget: &mut Budget<'_>,
) -> Result<Option<String>, SceneError> {
    // Corner tangents, faces, keys and what MikkTSpace keeps itself for each triangle.
    let scratch = primitive.indices.len() as u64 * 20 + primitive.indices.len() as u64 / 3 * 320;
    budget.geometry_bytes(what, scratch)?;
    let uv = if uv_set == 0 { &primitive.uv0 } else { &primitive.uv1 };
    if uv.is_empty() {
        primitive.tangent = primitive.normal.iter().map(|&normal| sound(None, normal)).collect();
        return Ok(Some(format!("{what} needs tangents but has no TEXCOORD_{uv_set}")));
    }
    let faces = faces(primitive);
    let valence = Valence::of(primitive, uv, &faces);
    if valence.largest > budget.limits.tangent_valence || !budget.take_tangent_pairs(valence.pairs) {
        primitive.tangent = simple(primitive, uv);
        return Ok(Some(format!(
            "{what} has too many triangles around a vertex for MikkTSpace: simple tangents made"
        )));
    }
    let tangents = vec![None; primitive.indices.len()];
    let mut geometry = Corners { primitive, uv, faces, tangents };
    let made = generate_tangents(&mut geometry);
    let mut tangents = geometry.tangents;
    if made.is_err() {
        tangents.fill(None);
    }
    split(what, primitive, &complete(primitive, &tangents), budget)?;
    Ok(made.is_err().then(|| format!("{what}: MikkTSpace made no tangents")))
}

/// Triangles whose corners are three different points. MikkTSpace would search all the others for each of the rest.
fn faces(primitive: &Primitive) -> Vec<u32> {
    let corner = |index: &u32| primitive.position[*index as usize];
    let triangles = primitive.indices.chunks_exact(3).enumerate();
    let solid = triangles.filter(|(_, triangle)| {
        let [a, b, c] = [corner(&triangle[0]), corner(&triangle[1]), corner(&triangle[2])];
        a != b && b != c && c != a
    });
    solid.map(|(face, _)| face as u32).collect()
}

/// How many triangles meet at vertices that are the same in all that MikkTSpace looks at.
struct Valence {
    largest: u64,
    /// Sum of squares.
    pairs: u64,
}

impl Valence {
    fn of(primitive: &Primitive, uv: &[[f32; 2]], faces: &[u32]) -> Valence {
        let mut meeting: HashMap<[u32; 8], u64> = HashMap::with_capacity(primitive.position.len());
        for &face in faces {
            for &index in &primitive.indices[face as usize * 3..][..3] {
                let index = index as usize;
                let ([x, y, z], [a, b, c], [u, v]) =
                    (primitive.position[index], primitive.normal[index], uv[index]);
                *meeting.entry([x, y, z, a, b, c, u, v].map(f32::to_bits)).or_default() += 1;
            }
        }
        // Neither a maximum nor a sum depends on the map's order.
        Valence {
            largest: meeting.values().copied().max().unwrap_or(0),
            pairs: meeting.values().map(|&count| count * count).sum(),
        }
    }
}

/// A tangent for every corner: corners that got none take that of another corner of their vertex, or any.
fn complete(primitive: &Primitive, tangents: &[Option<[f32; 4]>]) -> Vec<[f32; 4]> {
    let mut of_vertex = vec![None; primitive.position.len()];
    for (&index, tangent) in primitive.indices.iter().zip(tangents) {
        of_vertex[index as usize] = of_vertex[index as usize].or(*tangent);
    }
    let corners = primitive.indices.iter().zip(tangents);
    let made = corners.map(|(&index, tangent)| {
        let index = index as usize;
        sound(tangent.or(of_vertex[index]), primitive.normal[index])
    });
    made.collect()
}

/// A unit tangent that is finite, whatever degenerate coordinates gave; where there is none, some vector at right
/// angles to the normal.
fn sound(tangent: Option<[f32; 4]>, normal: [f32; 3]) -> [f32; 4] {
    let [x, y, z, w] = tangent.unwrap_or_default();
    let squared: f64 = [x, y, z].iter().map(|&v| f64::from(v) * f64::from(v)).sum();
    if !squared.is_finite() || squared < 1e-12 {
        let [x, y, z] = any_perpendicular(normal);
        return [x, y, z, 1.0];
    }
    let length = squared.sqrt();
    let [x, y, z] = [x, y, z].map(|v| settle((f64::from(v) / length) as f32));
    [x, y, z, if w < 0.0 { -1.0 } else { 1.0 }]
}

/// A unit vector at right angles to `normal`.
fn any_perpendicular(normal: [f32; 3]) -> [f32; 3] {
    let [x, y, z] = normal.map(f64::from);
    let (a, b, c) = if x.abs() < 0.9 { (0.0, z, -y) } else { (-z, 0.0, x) };
    let length = (a * a + b * b + c * c).sqrt();
    [a, b, c].map(|v| settle((v / length) as f32))
}

/// Tangents as the sum of the triangles' own around each vertex, at right angles to the normal: linear in time, for
/// geometry that is too much for MikkTSpace.
fn simple(primitive: &Primitive, uv: &[[f32; 2]]) -> Vec<[f32; 4]> {
    let mut sums = vec![[0.0f64; 4]; primitive.position.len()];
    for triangle in primitive.indices.chunks_exact(3) {
        let [a, b, c] = [triangle[0], triangle[1], triangle[2]].map(|index| index as usize);
        let edge = |to: usize| {
            [0, 1, 2].map(|k| f64::from(primitive.position[to][k]) - f64::from(primitive.position[a][k]))
        };
        let uv_edge = |to: usize| [0, 1].map(|k| f64::from(uv[to][k]) - f64::from(uv[a][k]));
        let (e, f, [du, dv], [eu, ev]) = (edge(b), edge(c), uv_edge(b), uv_edge(c));
        let area = du * ev - dv * eu;
        let sign = if area < 0.0 { -1.0 } else { 1.0 };
        for vertex in [a, b, c] {
            for k in 0..3 {
                sums[vertex][k] += (e[k] * ev - f[k] * dv) * sign;
            }
            sums[vertex][3] += area;
        }
    }
    let vertices = sums.iter().zip(&primitive.normal);
    let made = vertices.map(|(&[x, y, z, area], &normal)| {
        let n = normal.map(f64::from);
        let along = n[0] * x + n[1] * y + n[2] * z;
        let flat = [x - along * n[0], y - along * n[1], z - along * n[2]];
        let length = (flat[0] * flat[0] + flat[1] * flat[1] + flat[2] * flat[2]).sqrt();
        if !length.is_finite() || length < 1e-30 {
            return sound(None, normal);
        }
        let [x, y, z] = flat.map(|v| (v / length) as f32);
        // As glTF's v points down, a map that is not mirrored has a negative area and a positive sign.
        sound(Some([x, y, z, if area > 0.0 { -1.0 } else { 1.0 }]), normal)
    });
    made.collect()
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
    budget.geometry_bytes(what, from.len() as u64 * 16 + added * bytes_per_vertex(primitive))?;
    gather_vertices(primitive, &from);
    primitive.tangent = tangent;
    Ok(())
}
