//! One primitive: attributes, indices, morph targets, and what is made where it is missing.

use super::accessor::{Accessor, Component, Kind, Rows};
use super::error::{SceneError, quote};
use super::file::get;
use super::limits::within;
use super::mesh::Stamps;
use super::reader::{Reader, unit};
use super::topology::Mode;
use super::{Material, MorphTarget, Primitive, Topology, joints, json, normals, tangents};

/// Reads one primitive.
pub(crate) struct PrimitiveReader<'m, 'a, 's> {
    pub reader: &'m mut Reader<'a, 's>,
    pub materials: &'m [Material],
    pub stamps: &'m mut Stamps,
    pub what: String,
}

/// Accessors of the attributes that are used.
struct Attributes<'a> {
    position: &'a Accessor<'a>,
    normal: Option<&'a Accessor<'a>>,
    tangent: Option<&'a Accessor<'a>>,
    uv: [Option<&'a Accessor<'a>>; 2],
    color: Option<&'a Accessor<'a>>,
    joints: [Option<(&'a Accessor<'a>, &'a Accessor<'a>)>; 2],
}

/// What KHR_mesh_quantization adds to the formats of an attribute.
#[derive(Clone, Copy)]
enum Quantized {
    /// Any 8 or 16 bit integer.
    Any,
    /// Signed and normalized.
    SignedUnit,
    /// Signed, normalized or not.
    Signed,
}

impl<'a> PrimitiveReader<'_, 'a, '_> {
    /// The primitive; `None` (and a note) where it has no POSITION and so nothing to draw.
    pub fn read(mut self, json: &json::Primitive, material: u32) -> Result<Option<Primitive>, SceneError> {
        let mode = json.mode.unwrap_or(4);
        let mode = Mode::from_gltf(mode).ok_or_else(|| SceneError::ValueOutOfRange {
            what: format!("{} mode", self.what),
            value: f64::from(mode),
            allowed: "0 to 6",
        })?;
        let variant_materials = self.variants(json)?;
        within(
            &self.what,
            "morph_targets",
            json.targets.len() as u64,
            self.reader.budget.limits.morph_targets,
        )?;
        let attributes = self.attributes(json)?;
        if json.extensions.draco.is_some() {
            // Without plain data the accessors are empty shells: drawing them would show zeros as if they were right.
            let shell = |index: &json::Index| {
                let accessor = self.reader.root.accessors.get(*index as usize);
                accessor.is_some_and(|a| a.buffer_view.is_none() && a.sparse.is_none())
            };
            if json.attributes.values().chain(&json.indices).any(shell) {
                return Err(SceneError::UnsupportedExtension { name: "KHR_draco_mesh_compression".into() });
            }
            self.reader
                .note(format!("{}: KHR_draco_mesh_compression is not read, the plain data is", self.what));
        }
        let Some(attributes) = attributes else {
            self.reader.note(format!("{} has no POSITION and draws nothing", self.what));
            return Ok(None);
        };
        let count = attributes.position.count;
        let mut indices = self.indices(json, mode, count)?;
        let used = self.stamps.compact(&mut indices, count);
        let rows = used.as_deref().map_or(Rows::All, Rows::Some);
        let vertices = used.as_ref().map_or(count, Vec::len);
        self.reader.budget.vertices(&self.what, vertices as u64)?;
        let mut primitive = Primitive {
            topology: mode.topology(),
            indices,
            material,
            variant_materials,
            ..Primitive::default()
        };
        self.read_attributes(&attributes, rows, &mut primitive)?;
        for (number, target) in json.targets.iter().enumerate() {
            let target = self.target(number, target, &attributes, rows)?;
            primitive.targets.push(target);
        }
        self.complete(&attributes, &mut primitive)?;
        Ok(Some(primitive))
    }

    /// Makes normals and tangents where they are missing and needed.
    fn complete(&mut self, attributes: &Attributes<'_>, primitive: &mut Primitive) -> Result<(), SceneError> {
        if primitive.topology != Topology::Triangles {
            return Ok(());
        }
        if attributes.normal.is_none() {
            normals::flatten(&self.what, primitive, &mut self.reader.budget)?;
        }
        let variants = primitive.variant_materials.iter().flatten();
        let uv_set = std::iter::once(&primitive.material)
            .chain(variants)
            .find_map(|&material| self.materials[material as usize].tangent_uv_set());
        let Some(uv_set) = uv_set else {
            primitive.tangent = Vec::new();
            primitive.targets.iter_mut().for_each(|target| target.tangent = Vec::new());
            return Ok(());
        };
        if primitive.tangent.is_empty() {
            let note = tangents::generate(&self.what, primitive, uv_set, &mut self.reader.budget)?;
            if let Some(note) = note {
                self.reader.note(note);
            }
        }
        Ok(())
    }

    fn variants(&mut self, json: &json::Primitive) -> Result<Vec<Option<u32>>, SceneError> {
        let Some(extension) = &json.extensions.variants else { return Ok(Vec::new()) };
        let root = self.reader.root;
        let names = root.extensions.variants.as_ref().map_or(&[][..], |variants| &variants.variants);
        let what = || format!("{} KHR_materials_variants", self.what);
        let mut materials = vec![None; names.len()];
        for mapping in &extension.mappings {
            get(&root.materials, mapping.material, "material", what)?;
            for &variant in &mapping.variants {
                get(names, variant, "variant", what)?;
                let slot = &mut materials[variant as usize];
                if slot.is_some() {
                    let reason = "a variant is mapped twice";
                    return Err(SceneError::Structure { what: what(), reason });
                }
                *slot = Some(mapping.material);
            }
        }
        Ok(materials)
    }

    /// Looks up and checks all attributes; `None` without POSITION.
    fn attributes(&mut self, json: &json::Primitive) -> Result<Option<Attributes<'a>>, SceneError> {
        let mut count = None;
        for (name, &index) in &json.attributes {
            let what = format!("{} {name}", self.what);
            let accessor = self.reader.accessor(index, &what)?;
            // All attributes have the number of elements of the first.
            accessor.require_count(*count.get_or_insert(accessor.count), &what)?;
            if !known_attribute(name) && !name.starts_with('_') {
                self.reader.note(format!("attribute {} is ignored", quote(name)));
            }
        }
        let find =
            |name: &str| json.attributes.get(name).map(|&index| &self.reader.accessors[index as usize]);
        let Some(position) = find("POSITION") else { return Ok(None) };
        let pair = |joints: &str, weights: &str| match (find(joints), find(weights)) {
            (None, None) => Ok(None),
            (Some(joints), Some(weights)) => Ok(Some((joints, weights))),
            _ => Err(SceneError::Structure {
                what: format!("{} {joints}", self.what),
                reason: "JOINTS and WEIGHTS come in pairs",
            }),
        };
        let attributes = Attributes {
            position,
            normal: find("NORMAL"),
            tangent: find("TANGENT"),
            uv: [find("TEXCOORD_0"), find("TEXCOORD_1")],
            color: find("COLOR_0"),
            joints: [pair("JOINTS_0", "WEIGHTS_0")?, pair("JOINTS_1", "WEIGHTS_1")?],
        };
        self.check_formats(&attributes)?;
        Ok(Some(attributes))
    }

    fn check_formats(&self, attributes: &Attributes<'_>) -> Result<(), SceneError> {
        let what = |name: &str| format!("{} {name}", self.what);
        self.vector(Some(attributes.position), Kind::Vec3, Quantized::Any, &what("POSITION"))?;
        self.vector(attributes.normal, Kind::Vec3, Quantized::SignedUnit, &what("NORMAL"))?;
        self.vector(attributes.tangent, Kind::Vec4, Quantized::SignedUnit, &what("TANGENT"))?;
        for (set, uv) in attributes.uv.iter().enumerate() {
            let what = what(&format!("TEXCOORD_{set}"));
            let core = |a: &Accessor<'_>| {
                a.kind == Kind::Vec2 && a.normalized && matches!(a.component, Component::U8 | Component::U16)
            };
            if !uv.is_some_and(core) {
                self.vector(*uv, Kind::Vec2, Quantized::Any, &what)?;
            }
        }
        if let Some(color) = attributes.color {
            let fits = matches!(color.kind, Kind::Vec3 | Kind::Vec4) && unit_or_float(color);
            color.require(fits, &what("COLOR_0"), "VEC3 or VEC4 of F32, or normalized U8 or U16")?;
        }
        for (set, (joints, weights)) in
            attributes.joints.iter().enumerate().filter_map(|(s, j)| Some((s, (*j)?)))
        {
            let whole = joints.kind == Kind::Vec4
                && !joints.normalized
                && matches!(joints.component, Component::U8 | Component::U16);
            joints.require(whole, &what(&format!("JOINTS_{set}")), "VEC4 of U8 or U16")?;
            let fits = weights.kind == Kind::Vec4 && unit_or_float(weights);
            weights.require(
                fits,
                &what(&format!("WEIGHTS_{set}")),
                "VEC4 of F32, or normalized U8 or U16",
            )?;
        }
        Ok(())
    }

    /// Checks a vector attribute: floats, or what KHR_mesh_quantization allows where the file uses it.
    fn vector(
        &self,
        accessor: Option<&Accessor<'_>>,
        kind: Kind,
        quantized: Quantized,
        what: &str,
    ) -> Result<(), SceneError> {
        let Some(accessor) = accessor else { return Ok(()) };
        let integer = !matches!(accessor.component, Component::F32 | Component::U32);
        let signed = matches!(accessor.component, Component::I8 | Component::I16);
        let allowed = self.reader.quantized
            && match quantized {
                Quantized::Any => integer,
                Quantized::Signed => signed,
                Quantized::SignedUnit => signed && accessor.normalized,
            };
        let fits = accessor.kind == kind && (accessor.component == Component::F32 || allowed);
        let wanted = match kind {
            Kind::Vec2 => "VEC2 of F32 or normalized U8 or U16 (more with KHR_mesh_quantization)",
            Kind::Vec4 => "VEC4 of F32 (more with KHR_mesh_quantization)",
            _ => "VEC3 of F32 (more with KHR_mesh_quantization)",
        };
        accessor.require(fits, what, wanted)
    }

    /// Vertex indices as a list, all below `count`.
    fn indices(&mut self, json: &json::Primitive, mode: Mode, count: usize) -> Result<Vec<u32>, SceneError> {
        let what = format!("{} indices", self.what);
        let given = match json.indices {
            Some(index) => Some(self.reader.accessor(index, &what)?),
            None => None,
        };
        let number = given.map_or(count, |accessor| accessor.count);
        let pieces = mode.pieces(number, &what)?;
        self.reader.budget.triangles(&self.what, pieces as u64)?;
        self.reader.budget.geometry_bytes(&self.what, pieces as u64 * 12)?;
        let list = match given {
            Some(accessor) => {
                let unsigned = matches!(accessor.component, Component::U8 | Component::U16 | Component::U32);
                let fits = accessor.kind == Kind::Scalar && unsigned && !accessor.normalized;
                accessor.require(fits, &what, "SCALAR of U8, U16 or U32")?;
                let list = accessor.integers::<1>(&what, Rows::All, &mut self.reader.budget)?;
                check_indices(&what, &list, accessor.component, count)?;
                list.into_iter().map(|[index]| index).collect()
            }
            None => (0..count as u32).collect::<Vec<u32>>(),
        };
        Ok(if mode.is_list() { list } else { mode.expand(&list) })
    }

    fn read_attributes(
        &mut self,
        attributes: &Attributes<'_>,
        rows: Rows<'_>,
        primitive: &mut Primitive,
    ) -> Result<(), SceneError> {
        let what = self.what.clone();
        let budget = &mut self.reader.budget;
        primitive.position = attributes.position.floats(&format!("{what} POSITION"), rows, budget)?;
        let limit = budget.limits.coordinate;
        check_coordinates(&what, &primitive.position, limit)?;
        if let Some(normal) = attributes.normal {
            primitive.normal = normal.floats(&format!("{what} NORMAL"), rows, budget)?;
            primitive.normal.iter_mut().for_each(|n| *n = unit(*n, [0.0, 0.0, 1.0]));
            // 3.7.2.1: tangents without normals are ignored.
            if let Some(tangent) = attributes.tangent {
                primitive.tangent = tangent.floats(&format!("{what} TANGENT"), rows, budget)?;
                primitive.tangent.iter_mut().for_each(|t| *t = unit_tangent(*t));
            }
        }
        for (set, uv) in attributes.uv.iter().enumerate() {
            let Some(uv) = uv else { continue };
            let read = uv.floats(&format!("{what} TEXCOORD_{set}"), rows, budget)?;
            *(if set == 0 { &mut primitive.uv0 } else { &mut primitive.uv1 }) = read;
        }
        if let Some(color) = attributes.color {
            let what = format!("{what} COLOR_0");
            primitive.color = if color.kind == Kind::Vec4 {
                color.floats::<4>(&what, rows, budget)?
            } else {
                let rgb = color.floats::<3>(&what, rows, budget)?;
                rgb.into_iter().map(|[r, g, b]| [r, g, b, 1.0]).collect()
            };
            primitive.color.iter_mut().for_each(|c| *c = c.map(|value| value.clamp(0.0, 1.0)));
        }
        joints::read(&what, attributes.joints, rows, budget, primitive)
    }

    fn target(
        &mut self,
        number: usize,
        json: &std::collections::BTreeMap<String, json::Index>,
        attributes: &Attributes<'_>,
        rows: Rows<'_>,
    ) -> Result<MorphTarget, SceneError> {
        let mut target = MorphTarget::default();
        for (name, &index) in json {
            let what = format!("{} target {number} {name}", self.what);
            let accessor = self.reader.accessor(index, &what)?;
            accessor.require_count(attributes.position.count, &what)?;
            let quantized = if name == "POSITION" { Quantized::Signed } else { Quantized::SignedUnit };
            let into = match name.as_str() {
                "POSITION" => &mut target.position,
                "NORMAL" if attributes.normal.is_some() => &mut target.normal,
                "TANGENT" if attributes.normal.is_some() && attributes.tangent.is_some() => {
                    &mut target.tangent
                }
                _ => {
                    self.reader
                        .note(format!("morph target attribute {} without a base is ignored", quote(name)));
                    continue;
                }
            };
            self.vector(Some(accessor), Kind::Vec3, quantized, &what)?;
            *into = accessor.floats(&what, rows, &mut self.reader.budget)?;
        }
        check_coordinates(
            &format!("{} target {number}", self.what),
            &target.position,
            self.reader.budget.limits.coordinate,
        )?;
        Ok(target)
    }
}

/// Attributes that are read.
fn known_attribute(name: &str) -> bool {
    let known = ["POSITION", "NORMAL", "TANGENT", "TEXCOORD_0", "TEXCOORD_1", "COLOR_0"];
    known.contains(&name) || ["JOINTS_0", "WEIGHTS_0", "JOINTS_1", "WEIGHTS_1"].contains(&name)
}

fn unit_or_float(accessor: &Accessor<'_>) -> bool {
    match accessor.component {
        Component::F32 => true,
        Component::U8 | Component::U16 => accessor.normalized,
        _ => false,
    }
}

/// Unit direction, and a handedness of exactly 1 or -1.
fn unit_tangent([x, y, z, w]: [f32; 4]) -> [f32; 4] {
    let [x, y, z] = unit([x, y, z], [1.0, 0.0, 0.0]);
    [x, y, z, if w < 0.0 { -1.0 } else { 1.0 }]
}

fn check_indices(
    what: &str,
    list: &[[u32; 1]],
    component: Component,
    count: usize,
) -> Result<(), SceneError> {
    let restart = match component {
        Component::U8 => 0xFF,
        Component::U16 => 0xFFFF,
        _ => u32::MAX,
    };
    for (at, &[value]) in list.iter().enumerate() {
        if value == restart {
            return Err(SceneError::IndexRestart { what: what.into(), at: at as u64, value });
        }
        if value as usize >= count {
            let (at, count) = (at as u64, count as u64);
            return Err(SceneError::IndexOutOfRange { what: what.into(), at, value, count });
        }
    }
    Ok(())
}

fn check_coordinates(what: &str, positions: &[[f32; 3]], limit: f64) -> Result<(), SceneError> {
    let beyond = |position: &[f32; 3]| position.iter().any(|&value| f64::from(value.abs()) > limit);
    match positions.iter().find(|position| beyond(position)) {
        None => Ok(()),
        Some(position) => Err(SceneError::Limit {
            what: format!("{what} POSITION"),
            limit: "coordinate",
            wanted: position.iter().fold(0.0f32, |most, value| most.max(value.abs())).ceil() as u64,
            allowed: limit as u64,
        }),
    }
}
