//! Holds what shaders declare, read and count with against the host's structs and numbers.

use std::collections::{BTreeMap, BTreeSet};

use isoframe_raster::gpu::{HostField, HostStruct};
use naga::{
    BinaryOperator, Expression, Function, Handle, Literal, Module, ScalarKind, Statement, Type, TypeInner,
};

/// Functions that read a struct out of a list, or one field of it: name, struct, field.
pub const ACCESSORS: [(&str, &str, Option<&str>); 24] = [
    ("vertex_from", "Vertex", None),
    ("vertex_position", "Vertex", Some("position")),
    ("vertex_tangent", "Vertex", Some("tangent")),
    ("instance_ranges", "Instance", None),
    ("instance_ids", "Instance", None),
    ("instance_flags", "Instance", None),
    ("material_base_color", "PackedMaterial", Some("base_color")),
    ("material_emission", "PackedMaterial", None),
    ("material_factors", "PackedMaterial", None),
    ("material_flags", "PackedMaterial", Some("flags")),
    ("material_dielectric", "PackedMaterial", None),
    ("material_clearcoat", "PackedMaterial", None),
    ("material_sheen", "PackedMaterial", None),
    ("material_anisotropy", "PackedMaterial", None),
    ("material_volume", "PackedMaterial", None),
    ("material_iridescence", "PackedMaterial", None),
    ("material_texture", "PackedTexture", None),
    ("light_at", "PackedLight", None),
    ("tree_node", "Node", None),
    ("placement_at", "Placement", None),
    ("leaf_triangle", "LeafTriangle", None),
    ("emitter_at", "Emitter", None),
    ("guide_at", "PackedGuide", None),
    ("light_of_pixel", "PackedPixelLight", None),
];

/// What a list's constants begin with, `PREFIX_FIELD` being where a field begins. *Units*: vec4<u32>.
const PREFIXES: [(&str, &str); 2] = [("INSTANCE", "Instance"), ("MATERIAL", "PackedMaterial")];

/// Numbers that say what they are where they stand.
const PLAIN_NUMBERS: [&str; 8] = ["0.0", "0.5", "1.0", "1.5", "2.0", "3.0", "127.0", "255.0"];

/// How a bound struct of a module differs from the host's. Nothing where the module has no such struct.
pub fn compare_struct(module: &Module, host: &HostStruct) -> Option<Vec<String>> {
    let (members, span) = module.types.iter().find_map(|(_, ty)| match &ty.inner {
        TypeInner::Struct { members, span } if ty.name.as_deref() == Some(host.name) => {
            Some((members, *span))
        }
        _ => None,
    })?;
    let mut found = Vec::new();
    let names: Vec<_> = members.iter().map(|m| m.name.as_deref().unwrap_or_default()).collect();
    let wanted: Vec<_> = host.fields.iter().map(|f| f.name).collect();
    if names != wanted {
        found.push(format!("{}: fields {names:?}, the host's are {wanted:?}", host.name));
        return Some(found);
    }
    if span != host.bytes {
        found.push(format!("{}: {span} bytes, {} on the host", host.name, host.bytes));
    }
    for (member, field) in members.iter().zip(&host.fields) {
        let ty = &module.types[member.ty];
        let got = (member.offset, ty.inner.size(module.to_ctx()), scalar(module, ty));
        let wanted = (field.offset, field.bytes, host_scalar(field));
        if got != wanted {
            found.push(format!("{}.{}: {got:?}, {wanted:?} on the host", host.name, field.name));
        }
    }
    Some(found)
}

/// What a type is made of.
fn scalar(module: &Module, ty: &Type) -> Option<ScalarKind> {
    match ty.inner {
        TypeInner::Array { base, .. } => scalar(module, &module.types[base]),
        TypeInner::Atomic(scalar) => Some(scalar.kind),
        _ => ty.inner.scalar_kind(),
    }
}

fn host_scalar(field: &HostField) -> Option<ScalarKind> {
    let kinds = [("f32", ScalarKind::Float), ("u32", ScalarKind::Uint), ("i32", ScalarKind::Sint)];
    kinds.into_iter().find(|(name, _)| field.kind.contains(name)).map(|(_, kind)| kind)
}

/// How what an accessor reads differs from where the host's fields lie. Nothing where the module has none.
pub fn compare_accessor(
    module: &Module,
    name: &str,
    host: &HostStruct,
    field: Option<&str>,
) -> Option<Vec<String>> {
    let (_, function) = module.functions.iter().find(|(_, f)| f.name.as_deref() == Some(name))?;
    let reader = Reader { module, function };
    Some(reader.fields(field).map_or_else(
        |reason| vec![format!("{name}: {reason}")],
        |fields| {
            fields.iter().filter_map(|read| read.compare(host)).map(|why| format!("{name}: {why}")).collect()
        },
    ))
}

/// The words of a list's element that a field is made of.
struct Read {
    field: String,
    words: Vec<u32>,
    kind: Option<ScalarKind>,
}

impl Read {
    fn compare(&self, host: &HostStruct) -> Option<String> {
        let Some(field) = host.fields.iter().find(|f| f.name == self.field) else {
            return Some(format!("{} has no {}", host.name, self.field));
        };
        let wanted: Vec<_> = (field.offset / 4..(field.offset + field.bytes) / 4).collect();
        let same = self.words == wanted && self.kind == host_scalar(field);
        (!same).then(|| {
            format!("{}: words {:?} as {:?}, {wanted:?} on the host", self.field, self.words, self.kind)
        })
    }
}

/// Follows what a function returns back to the words it was read from.
struct Reader<'a> {
    module: &'a Module,
    function: &'a Function,
}

impl Reader<'_> {
    fn fields(&self, field: Option<&str>) -> Result<Vec<Read>, String> {
        let returned = self.function.body.iter().find_map(|statement| match statement {
            Statement::Return { value } => *value,
            _ => None,
        });
        let value = returned.ok_or("returns nothing")?;
        let result = self.function.result.as_ref().ok_or("has no result")?;
        let ty = &self.module.types[result.ty];
        match (field, &ty.inner, &self.function.expressions[value]) {
            (None, TypeInner::Struct { members, .. }, Expression::Compose { components, .. }) => members
                .iter()
                .zip(components)
                .map(|(member, component)| {
                    Ok(Read {
                        field: member.name.clone().unwrap_or_default(),
                        words: self.words(*component)?,
                        kind: scalar(self.module, &self.module.types[member.ty]),
                    })
                })
                .collect(),
            (Some(field), _, _) => {
                let words = self.words(value)?;
                Ok(vec![Read { field: field.to_owned(), words, kind: scalar(self.module, ty) }])
            }
            _ => Err("does not return a struct that it makes".to_owned()),
        }
    }

    fn words(&self, value: Handle<Expression>) -> Result<Vec<u32>, String> {
        match &self.function.expressions[value] {
            // Elements handed over in order.
            Expression::FunctionArgument(k) => Ok((k * 4..k * 4 + 4).collect()),
            Expression::CallResult(_) => {
                let part = self.number(self.last_argument(value)?)?;
                Ok((part * 4..part * 4 + 4).collect())
            }
            Expression::As { expr, convert: None, .. } => self.words(*expr),
            Expression::AccessIndex { base, index } => Ok(vec![self.words(*base)?[*index as usize]]),
            Expression::Swizzle { size, vector, pattern } => {
                let words = self.words(*vector)?;
                Ok(pattern[..*size as usize]
                    .iter()
                    .map(|component| words[component.index() as usize])
                    .collect())
            }
            Expression::Compose { components, .. } => {
                let words: Result<Vec<_>, _> = components.iter().map(|part| self.words(*part)).collect();
                Ok(words?.concat())
            }
            other => Err(format!("{other:?} is not read from the list")),
        }
    }

    /// The call's last argument: which element.
    fn last_argument(&self, value: Handle<Expression>) -> Result<Handle<Expression>, String> {
        let found = self.function.body.iter().find_map(|statement| match statement {
            Statement::Call { arguments, result, .. } if *result == Some(value) => arguments.last(),
            _ => None,
        });
        found.copied().ok_or_else(|| "an element is read where it is not always".to_owned())
    }

    /// A count of elements; what the caller hands over counts as 0.
    fn number(&self, value: Handle<Expression>) -> Result<u32, String> {
        match &self.function.expressions[value] {
            Expression::Literal(Literal::U32(number)) => Ok(*number),
            Expression::FunctionArgument(_) => Ok(0),
            Expression::Constant(constant) => {
                let bits = constant_bits(self.module, self.module.constants[*constant].init);
                bits.first().copied().ok_or_else(|| "no number".to_owned())
            }
            Expression::Binary { op, left, right } => {
                let (left, right) = (self.number(*left)?, self.number(*right)?);
                match op {
                    BinaryOperator::Add => Ok(left + right),
                    BinaryOperator::Multiply => Ok(left * right),
                    other => Err(format!("{other:?} of elements")),
                }
            }
            other => Err(format!("{other:?} is no number")),
        }
    }
}

/// The bits of a constant, one word per component.
fn constant_bits(module: &Module, value: Handle<Expression>) -> Vec<u32> {
    match &module.global_expressions[value] {
        Expression::Literal(Literal::U32(x)) => vec![*x],
        Expression::Literal(Literal::I32(x)) => vec![*x as u32],
        Expression::Literal(Literal::F32(x)) => vec![x.to_bits()],
        Expression::Literal(Literal::Bool(x)) => vec![u32::from(*x)],
        Expression::Compose { components, .. } => {
            components.iter().flat_map(|part| constant_bits(module, *part)).collect()
        }
        other => panic!("{other:?} is no number"),
    }
}

/// Constants of a module that are not the host's, in name or in value.
pub fn compare_constants(module: &Module, host: &BTreeMap<String, BTreeSet<Vec<u32>>>) -> Vec<String> {
    let constants = module.constants.iter().filter_map(|(_, c)| Some((c.name.as_ref()?, c.init)));
    constants
        .filter_map(|(name, init)| {
            let bits = constant_bits(module, init);
            match host.get(name) {
                None => Some(format!("{name} is typed in WGSL")),
                Some(values) if values.contains(&bits) => None,
                Some(values) => Some(format!("{name}: {bits:08x?}, {values:08x?} on the host")),
            }
        })
        .collect()
}

/// Constants that name where a field begins and are wrong; and how many there are.
pub fn compare_parts(
    host: &BTreeMap<String, BTreeSet<Vec<u32>>>,
    structs: &[HostStruct],
) -> (usize, Vec<String>) {
    let (mut seen, mut found) = (0, Vec::new());
    for (prefix, name) in PREFIXES {
        let host_struct = structs.iter().find(|s| s.name == name).expect("the struct");
        for field in &host_struct.fields {
            let constant = format!("{prefix}_{}", field.name.to_uppercase());
            let Some(values) = host.get(&constant) else { continue };
            seen += 1;
            if *values != BTreeSet::from([vec![field.offset / 16]]) || field.offset % 16 != 0 {
                found.push(format!("{constant}: {values:?}, {} bytes on the host", field.offset));
            }
        }
    }
    (seen, found)
}

/// Fractions in a WGSL file that the host should give.
pub fn typed_numbers(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines() {
        let code = line.split("//").next().unwrap_or_default();
        let words = code.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == '_'));
        for word in words.filter(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'))
        {
            if !PLAIN_NUMBERS.contains(&word.trim_end_matches('f')) {
                found.push(format!("{word} in `{}`", line.trim()));
            }
        }
    }
    found
}
