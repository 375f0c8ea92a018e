//! A function, instruction by instruction, and the places in it that one can tell apart by what has run.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem::discriminant;
use std::ops::Range;

use wasmparser::{
    BlockType, FuncType, FuncValidatorAllocations, FunctionBody, Operator, Parser, ValType,
    ValidPayload, Validator, WasmFeatures,
};

pub(super) struct Op<'a> {
    pub(super) operator: Operator<'a>,
    /// Its bytes, from the begin of the function.
    pub(super) bytes: Range<usize>,
    /// How many values there are before it, and how many it leaves alone.
    pub(super) height: u32,
    pub(super) low: u32,
    /// Whether control can get here.
    pub(super) is_reached: bool,
    /// Which point of the function comes last before it.
    pub(super) point: u32,
    /// For the begin of a block: the index after its end.
    pub(super) after: usize,
    /// For the begin of a block: how many values a jump to its label takes.
    pub(super) takes: usize,
}

/// A number for what instructions are, without their operands, which the linker and wasm-bindgen may write in another way.
pub(super) fn kinds<'o, 'a: 'o>(operators: impl Iterator<Item = &'o Operator<'a>>) -> u64 {
    let mut hash = DefaultHasher::new();
    for operator in operators {
        discriminant(operator).hash(&mut hash);
    }
    hash.finish()
}

pub(super) struct Body<'a> {
    pub(super) ty: FuncType,
    /// The types of parameters and locals.
    pub(super) locals: Vec<ValType>,
    pub(super) ops: Vec<Op<'a>>,
    /// How many points it has: the first is its begin, and after each place where control may part, or come together, there is
    /// another.
    pub(super) points: u32,
}

/// The functions that a module defines.
pub(super) fn bodies(bytes: &[u8]) -> Result<Vec<Body<'_>>, String> {
    let mut validator = Validator::new_with_features(WasmFeatures::default());
    let (mut all, mut allocations) = (Vec::new(), FuncValidatorAllocations::default());
    let (mut types, mut functions) = (Vec::new(), Vec::new());
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload.map_err(|error| error.to_string())?;
        match &payload {
            wasmparser::Payload::TypeSection(section) => {
                let section = section
                    .clone()
                    .into_iter_err_on_gc_types()
                    .collect::<Result<Vec<_>, _>>();
                types = section.map_err(|error| error.to_string())?;
            }
            wasmparser::Payload::FunctionSection(section) => {
                functions = section
                    .clone()
                    .into_iter()
                    .collect::<Result<Vec<_>, _>>()
                    .map_err(|error| error.to_string())?;
            }
            _ => {}
        }
        let valid = validator
            .payload(&payload)
            .map_err(|error| error.to_string())?;
        if let ValidPayload::Func(function, body) = valid {
            let ty: &FuncType = &types[functions[all.len()] as usize];
            let mut validator = function.into_validator(allocations);
            all.push(read(&mut validator, &body, ty, &types).map_err(|error| error.to_string())?);
            allocations = validator.into_allocations();
        }
    }
    Ok(all)
}

fn read<'a, T: wasmparser::WasmModuleResources>(
    validator: &mut wasmparser::FuncValidator<T>,
    body: &FunctionBody<'a>,
    ty: &FuncType,
    types: &[FuncType],
) -> Result<Body<'a>, Box<dyn std::error::Error>> {
    let mut locals = body.get_binary_reader();
    validator.read_locals(&mut locals)?;
    let locals = (0..validator.len_locals())
        .filter_map(|local| validator.get_local_type(local))
        .collect();
    let start = body.range().start as usize;
    let mut ops: Vec<Op<'a>> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let (mut points, mut parts) = (1, false);
    let mut reader = body.get_operators_reader()?;
    while !reader.eof() {
        let (operator, at) = reader.read_with_offset()?;
        if std::mem::take(&mut parts) {
            points += 1;
        }
        let height = validator.operand_stack_height();
        let is_reached = validator
            .get_control_frame(0)
            .is_some_and(|frame| !frame.unreachable);
        let pops = operator
            .operator_arity(validator)
            .map_or(0, |(pops, _)| pops);
        let mut takes = 0;
        match &operator {
            Operator::Block { blockty } | Operator::If { blockty } => {
                takes = match blockty {
                    BlockType::Empty => 0,
                    BlockType::Type(_) => 1,
                    BlockType::FuncType(ty) => types[*ty as usize].results().len(),
                };
                open.push(ops.len());
            }
            Operator::Loop { blockty } => {
                if let BlockType::FuncType(ty) = blockty {
                    takes = types[*ty as usize].params().len();
                }
                open.push(ops.len());
            }
            Operator::TryTable { .. }
            | Operator::Throw { .. }
            | Operator::ThrowRef
            | Operator::Try { .. }
            | Operator::Catch { .. }
            | Operator::CatchAll
            | Operator::Delegate { .. }
            | Operator::Rethrow { .. } => {
                return Err("the cut does not know exceptions: build with panic=abort".into());
            }
            Operator::End => {
                if let Some(begin) = open.pop() {
                    ops[begin].after = ops.len() + 1;
                }
            }
            _ => {}
        }
        parts = matches!(
            operator,
            Operator::If { .. }
                | Operator::Else
                | Operator::End
                | Operator::BrIf { .. }
                | Operator::Loop { .. }
        );
        validator.op(at, &operator)?;
        let bytes = at as usize - start..reader.original_position() as usize - start;
        let low = height.saturating_sub(pops);
        ops.push(Op {
            operator,
            bytes,
            height,
            low,
            is_reached,
            point: points - 1,
            after: 0,
            takes,
        });
    }
    Ok(Body {
        ty: ty.clone(),
        locals,
        ops,
        points,
    })
}

/// Stretches shorter than this stay: a call takes as much. `starts.mjs` knows it, too.
const SHORT: usize = 48;

impl Body<'_> {
    /// The stretches that have not run, though the function has. Each begins and ends in the same block, and neither takes a value from
    /// before it nor leaves one.
    pub(super) fn stretches(&self, has_run: &dyn Fn(u32) -> bool) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        self.within(0, self.ops.len().saturating_sub(1), has_run, &mut found);
        found
    }

    fn within(
        &self,
        from: usize,
        to: usize,
        has_run: &dyn Fn(u32) -> bool,
        found: &mut Vec<Range<usize>>,
    ) {
        let mut close = |stretch: &mut Option<(usize, usize)>| {
            if let Some((from, to)) = stretch.take()
                && from < to
                && self.ops[to - 1].bytes.end - self.ops[from].bytes.start >= SHORT
            {
                found.push(from..to);
            }
        };
        // Where it begins, and up to where it could be taken.
        let mut stretch: Option<(usize, usize)> = None;
        let mut inner = Vec::new();
        let mut at = from;
        while at < to {
            let op = &self.ops[at];
            let next = if op.after > 0 { op.after } else { at + 1 };
            if has_run(op.point) || !op.is_reached {
                close(&mut stretch);
                if op.after > 0 {
                    inner.push((at, next));
                }
            } else {
                let low = self.ops[at..next]
                    .iter()
                    .filter(|op| op.is_reached)
                    .map(|op| op.low)
                    .min()
                    .unwrap_or(0);
                if stretch.is_some_and(|(from, _)| low < self.ops[from].height) {
                    close(&mut stretch);
                }
                if low >= op.height || stretch.is_some() {
                    let (from, mut end) = stretch.unwrap_or((at, at));
                    let after = &self.ops[next];
                    if !after.is_reached || after.height == self.ops[from].height {
                        end = next;
                    }
                    stretch = Some((from, end));
                }
            }
            at = next;
        }
        close(&mut stretch);
        for (begin, after) in inner {
            let end = after - 1;
            let mut start = begin + 1;
            let mut at = start;
            while at < end {
                if matches!(self.ops[at].operator, Operator::Else) {
                    self.within(start, at, has_run, found);
                    start = at + 1;
                    at = start;
                } else {
                    at = if self.ops[at].after > 0 {
                        self.ops[at].after
                    } else {
                        at + 1
                    };
                }
            }
            self.within(start, end, has_run, found);
        }
    }
}
