//! What exact shaders may not do (DESIGN section 4, rules 1 to 4), found in naga's IR.
//!
//! A float is *raw* where a compiler may still fuse or regroup it: the result of a product or of a sum that no
//! guard has passed through. Rawness follows values through variables, branches, calls and arguments.

use std::collections::BTreeMap;

use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{
    BinaryOperator, Block, Expression, Function, Handle, MathFunction, Module, ScalarKind, Span, Statement,
    UnaryOperator,
};

/// A product that nothing has guarded.
const PRODUCT: u8 = 1;
/// A sum that nothing has guarded.
const SUM: u8 = 2;

/// Calls that give the same bits everywhere.
const ALLOWED: [MathFunction; 9] = [
    MathFunction::Abs,
    MathFunction::Min,
    MathFunction::Max,
    MathFunction::Clamp,
    MathFunction::Floor,
    MathFunction::CountOneBits,
    MathFunction::CountLeadingZeros,
    MathFunction::CountTrailingZeros,
    MathFunction::ReverseBits,
];

/// What is known about a module's values.
#[derive(Clone, Default, PartialEq)]
struct Knowledge {
    results: BTreeMap<Handle<Function>, u8>,
    arguments: BTreeMap<(Handle<Function>, u32), u8>,
}

/// All breaches, with the line each is in.
pub fn check(module: &Module, info: &ModuleInfo, text: &str) -> Vec<String> {
    let mut known = Knowledge::default();
    loop {
        let mut next = known.clone();
        for (handle, function) in module.functions.iter() {
            Walk::new(module, function, Some(handle), &info[handle], &known).learn(&mut next);
        }
        for (k, entry) in module.entry_points.iter().enumerate() {
            Walk::new(module, &entry.function, None, info.get_entry_point(k), &known).learn(&mut next);
        }
        if next == known {
            break;
        }
        known = next;
    }
    let mut found = Vec::new();
    for (handle, function) in module.functions.iter() {
        found.extend(Walk::new(module, function, Some(handle), &info[handle], &known).breaches(text));
    }
    for (k, entry) in module.entry_points.iter().enumerate() {
        found
            .extend(Walk::new(module, &entry.function, None, info.get_entry_point(k), &known).breaches(text));
    }
    found
}

struct Walk<'a> {
    module: &'a Module,
    function: &'a Function,
    handle: Option<Handle<Function>>,
    info: &'a FunctionInfo,
    known: &'a Knowledge,
    /// Rawness by expression.
    raw: Vec<u8>,
}

impl<'a> Walk<'a> {
    fn new(
        module: &'a Module,
        function: &'a Function,
        handle: Option<Handle<Function>>,
        info: &'a FunctionInfo,
        known: &'a Knowledge,
    ) -> Walk<'a> {
        let mut walk =
            Walk { module, function, handle, info, known, raw: vec![0; function.expressions.len()] };
        let mut locals = BTreeMap::new();
        loop {
            for (expression, kind) in function.expressions.iter() {
                walk.raw[expression.index()] = walk.rawness(expression, kind, &locals);
            }
            let before = locals.clone();
            walk.stores(&function.body, &mut locals);
            if locals == before {
                return walk;
            }
        }
    }

    fn of(&self, expression: Handle<Expression>) -> u8 {
        self.raw[expression.index()]
    }

    fn scalar(&self, expression: Handle<Expression>) -> Option<ScalarKind> {
        let inner = self.info[expression].ty.inner_with(&self.module.types);
        inner.scalar_kind().or(match inner {
            naga::TypeInner::Matrix { scalar, .. } => Some(scalar.kind),
            _ => None,
        })
    }

    fn rawness(
        &self,
        expression: Handle<Expression>,
        kind: &Expression,
        locals: &BTreeMap<Handle<naga::LocalVariable>, u8>,
    ) -> u8 {
        match *kind {
            Expression::Binary { left, right, .. } if self.is_constant(left) && self.is_constant(right) => 0,
            Expression::Binary { op, .. } if self.scalar(expression) == Some(ScalarKind::Float) => match op {
                BinaryOperator::Multiply => PRODUCT,
                BinaryOperator::Add | BinaryOperator::Subtract => SUM,
                _ => 0,
            },
            Expression::Unary { op: UnaryOperator::Negate, expr } => self.of(expr),
            Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => self.of(base),
            Expression::Splat { value, .. } => self.of(value),
            Expression::Swizzle { vector, .. } => self.of(vector),
            Expression::Compose { ref components, .. } => components.iter().fold(0, |r, c| r | self.of(*c)),
            Expression::Select { accept, reject, .. } => self.of(accept) | self.of(reject),
            // Nothing moves an addition through a floor.
            Expression::Math { fun: MathFunction::Floor, .. } => 0,
            Expression::Math { arg, arg1, arg2, .. }
                if self.scalar(expression) == Some(ScalarKind::Float) =>
            {
                let of = |a: Option<Handle<Expression>>| a.map_or(0, |a| self.of(a));
                self.of(arg) | of(arg1) | of(arg2)
            }
            Expression::Load { pointer } => self.local(pointer).map_or(0, |l| *locals.get(&l).unwrap_or(&0)),
            Expression::CallResult(callee) => *self.known.results.get(&callee).unwrap_or(&0),
            Expression::FunctionArgument(number) => {
                let key = self.handle.map(|handle| (handle, number));
                key.and_then(|key| self.known.arguments.get(&key)).copied().unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// Whether a value is known when the shader is compiled.
    fn is_constant(&self, expression: Handle<Expression>) -> bool {
        match self.function.expressions[expression] {
            Expression::Literal(_) | Expression::Constant(_) | Expression::ZeroValue(_) => true,
            Expression::Splat { value, .. } => self.is_constant(value),
            Expression::Compose { ref components, .. } => components.iter().all(|c| self.is_constant(*c)),
            Expression::Binary { left, right, .. } => self.is_constant(left) && self.is_constant(right),
            _ => false,
        }
    }

    /// The variable that a pointer points into.
    fn local(&self, pointer: Handle<Expression>) -> Option<Handle<naga::LocalVariable>> {
        match self.function.expressions[pointer] {
            Expression::LocalVariable(local) => Some(local),
            Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => self.local(base),
            _ => None,
        }
    }

    fn stores(&self, block: &Block, locals: &mut BTreeMap<Handle<naga::LocalVariable>, u8>) {
        statements(block, &mut |statement| {
            if let Statement::Store { pointer, value } = *statement
                && let Some(local) = self.local(pointer)
            {
                *locals.entry(local).or_default() |= self.of(value);
            }
        });
    }

    /// Adds what this function returns and passes on.
    fn learn(&self, known: &mut Knowledge) {
        statements(&self.function.body, &mut |statement| match statement {
            Statement::Return { value: Some(value) } => {
                if let Some(handle) = self.handle {
                    *known.results.entry(handle).or_default() |= self.of(*value);
                }
            }
            Statement::Call { function, arguments, .. } => {
                for (argument, number) in arguments.iter().zip(0..) {
                    *known.arguments.entry((*function, number)).or_default() |= self.of(*argument);
                }
            }
            _ => {}
        });
    }

    fn breaches(&self, text: &str) -> Vec<String> {
        let mut found = Vec::new();
        for (expression, kind) in self.function.expressions.iter() {
            if let Some(rule) = self.breach(expression, kind) {
                let span = self.function.expressions.get_span(expression);
                found.push(format!("{rule}: {}", line(text, span)));
            }
        }
        found
    }

    fn breach(&self, expression: Handle<Expression>, kind: &Expression) -> Option<String> {
        match *kind {
            Expression::Binary { op, left, right } => {
                let scalar = self.scalar(expression);
                let raw = self.of(left) | self.of(right);
                let is_matrix = |e: Handle<Expression>| {
                    matches!(self.info[e].ty.inner_with(&self.module.types), naga::TypeInner::Matrix { .. })
                };
                match op {
                    BinaryOperator::Multiply if is_matrix(left) || is_matrix(right) => {
                        Some("a matrix product".into())
                    }
                    BinaryOperator::Divide | BinaryOperator::Modulo if scalar != Some(ScalarKind::Uint) => {
                        Some(format!("{op:?} of {scalar:?}"))
                    }
                    BinaryOperator::Add | BinaryOperator::Subtract
                        if scalar == Some(ScalarKind::Float) && raw != 0 =>
                    {
                        Some("an unguarded product or sum feeds a sum".into())
                    }
                    BinaryOperator::Multiply if scalar == Some(ScalarKind::Float) && raw & PRODUCT != 0 => {
                        Some("an unguarded product feeds a product".into())
                    }
                    _ => None,
                }
            }
            Expression::Math { fun, .. } if !ALLOWED.contains(&fun) => {
                // What packs and unpacks integers, and finds bits, is exact; nothing else is.
                (fun != MathFunction::FirstTrailingBit).then(|| format!("{fun:?}"))
            }
            Expression::Derivative { .. } | Expression::ImageSample { .. } => Some("filtering".into()),
            _ => None,
        }
    }
}

fn statements(block: &Block, visit: &mut impl FnMut(&Statement)) {
    for statement in block {
        visit(statement);
        match statement {
            Statement::Block(inner) => statements(inner, visit),
            Statement::If { accept, reject, .. } => {
                statements(accept, visit);
                statements(reject, visit);
            }
            Statement::Switch { cases, .. } => cases.iter().for_each(|case| statements(&case.body, visit)),
            Statement::Loop { body, continuing, .. } => {
                statements(body, visit);
                statements(continuing, visit);
            }
            _ => {}
        }
    }
}

fn line(text: &str, span: Span) -> String {
    let location = span.location(text);
    let content = text.lines().nth(location.line_number as usize - 1).unwrap_or_default();
    format!("line {}: {}", location.line_number, content.trim())
}
