//! Takes stretches that do not run before the first picture out of functions that do, as functions of their own, behind all others.
//!
//! Such a function is given the locals that the stretch reads, and returns those that it sets and that are read after it; and, if
//! the stretch can be left in several ways, in which (see `flow`). In its place the function calls it, and goes on where it would have.
//!
//! There is a pass for each side that a stretch may have, from what is needed last on: it may lie within one that is needed earlier.

use std::collections::BTreeMap;
use std::ops::Range;

use wasm_encoder::reencode::{Error, Reencode, RoundtripReencoder};
use wasm_encoder::{CodeSection, Function, FunctionSection, Instruction, TypeSection};
use wasmparser::{
    CodeSectionReader, FuncType, FunctionSectionReader, Operator, Parser, TypeSectionReader,
    ValType,
};

use super::Side;
use super::body::{Body, bodies, kinds};
use super::flow::{Exit, Flow, Stretch};
use super::module::Module;
use super::types::{Types, encoded};

/// A program with new functions at its end.
pub(super) struct Outlined {
    pub(super) bytes: Vec<u8>,
    /// How many it had before, with those that it imports.
    pub(super) first: u32,
    /// Where the new ones belong.
    pub(super) sides: Vec<Side>,
    /// What was taken out of each function.
    pub(super) taken: Vec<Taken>,
}

/// Instructions of a function, and where they belong.
pub(super) type Stretches = Vec<(Range<usize>, Side)>;

pub(super) struct Taken {
    /// The number of what the function's instructions were.
    pub(super) of: u64,
    /// Which of them were taken.
    pub(super) stretches: Stretches,
}

/// What is taken out, in this order.
const PASSES: [Side; 3] = [Side::Seldom, Side::Rest, Side::More];

/// `side`: where a point of a function belongs, which is known by its place among those that the module defines. It is nothing for those
/// that stay whole.
pub(super) fn outline(
    bytes: &[u8],
    side: &dyn Fn(usize, u32) -> Option<Side>,
) -> Result<Outlined, String> {
    let program = bodies(bytes)?;
    let mut taken: Vec<Stretches> = vec![Vec::new(); program.len()];
    // Which instruction of the program each one that is left was.
    let mut was: Vec<Vec<usize>> = vec![Vec::new(); program.len()];
    let (mut out, mut sides) = (bytes.to_vec(), Vec::new());
    for of in PASSES {
        let last = out;
        let mut left = bodies(&last)?;
        left.truncate(program.len());
        for ((body, before), was) in left.iter_mut().zip(&program).zip(&was) {
            for (op, &at) in body.ops.iter_mut().zip(was) {
                op.point = before.ops[at].point;
            }
        }
        let pass = pass(&last, &left, &|at, body| {
            if side(at, 0).is_none_or(|own| own >= of) {
                return Vec::new();
            }
            let mut stretches = body.stretches(&|point| side(at, point) < Some(of));
            stretches.retain(|range| {
                let mut ops = body.ops[range.clone()].iter();
                ops.any(|op| side(at, op.point) == Some(of))
            });
            stretches
        })?;
        for (at, kept) in pass.kept.into_iter().enumerate() {
            // One that no pass has changed has what it had.
            let before = |now: usize| {
                if was[at].is_empty() {
                    now
                } else {
                    was[at][now]
                }
            };
            let ranges = pass.taken[at].iter();
            let ranges = ranges.map(|range| (before(range.start)..before(range.end), of));
            taken[at].extend(ranges);
            if let Some(kept) = kept {
                was[at] = kept.into_iter().map(before).collect();
            }
        }
        sides.resize(sides.len() + pass.new as usize, of);
        out = pass.bytes;
    }
    let taken = program.iter().zip(taken).map(|(body, stretches)| Taken {
        of: kinds(body.ops.iter().map(|op| &op.operator)),
        stretches,
    });
    Ok(Outlined {
        first: Module::read(bytes)?.imported() + program.len() as u32,
        sides,
        taken: taken.collect(),
        bytes: out,
    })
}

/// A program after some stretches were taken out.
struct Pass {
    bytes: Vec<u8>,
    /// How many functions it has got.
    new: u32,
    /// For each function that was given: what was taken, and which of its instructions each one is now, if it is another function.
    taken: Vec<Vec<Range<usize>>>,
    kept: Vec<Option<Vec<usize>>>,
}

/// Takes stretches out of the first functions of a program.
fn pass(
    bytes: &[u8],
    bodies: &[Body<'_>],
    stretches: &dyn Fn(usize, &Body<'_>) -> Vec<Range<usize>>,
) -> Result<Pass, String> {
    let module = Module::read(bytes)?;
    let number = module.imported() + module.bodies.len() as u32;
    let mut out = Outliner {
        types: Types::of(&module.types),
        functions: Vec::new(),
        anew: Vec::new(),
        first: number,
    };
    let (mut taken, mut kept) = (Vec::new(), Vec::new());
    for (at, body) in bodies.iter().enumerate() {
        let without = out.without(body, stretches(at, body))?;
        out.anew.push(without.function);
        taken.push(without.taken);
        kept.push(without.kept);
    }
    let mut anew = wasm_encoder::Module::new();
    out.parse_core_module(&mut anew, Parser::new(0), bytes)
        .map_err(|error| error.to_string())?;
    Ok(Pass {
        bytes: anew.finish(),
        new: out.functions.len() as u32,
        taken,
        kept,
    })
}

struct Outliner {
    types: Types,
    /// What comes: types and bodies.
    functions: Vec<(u32, Function)>,
    /// What takes the place of what was there.
    anew: Vec<Option<Function>>,
    first: u32,
}

/// A function without some of its stretches, if it has any: see [`Pass`].
#[derive(Default)]
struct Without {
    function: Option<Function>,
    taken: Vec<Range<usize>>,
    kept: Option<Vec<usize>>,
}

impl Outliner {
    fn without(&mut self, body: &Body<'_>, ranges: Vec<Range<usize>>) -> Result<Without, String> {
        if ranges.is_empty() {
            return Ok(Without::default());
        }
        let flow = Flow::of(body);
        let mut stretches: Vec<Stretch> = ranges
            .into_iter()
            .filter_map(|range| flow.stretch(range))
            .collect();
        if stretches.is_empty() {
            return Ok(Without::default());
        }
        let mut locals: Vec<ValType> = body.locals[body.ty.params().len()..].to_vec();
        let code = body.locals.len() as u32;
        let several = stretches.iter().any(|one| one.exits.len() > 1);
        let results = body.ty.results();
        if several {
            locals.push(ValType::I32);
            locals.extend(results);
        }
        let mut function = Function::new_with_locals_types(encoded(&locals)?);
        let (mut at, mut kept) = (0, Vec::new());
        // From the begin of the function on: a stretch never contains another.
        stretches.sort_by_key(|one| one.range.start);
        let mut left = stretches.iter().peekable();
        while at < body.ops.len() {
            if let Some(stretch) = left.next_if(|one| one.range.start == at) {
                let number = self.first + self.functions.len() as u32;
                let taken = self.taken(body, stretch)?;
                self.functions.push(taken);
                for instruction in call(stretch, number, code, results.len() as u32) {
                    function.instruction(&instruction);
                    kept.push(at);
                }
                at = stretch.range.end;
                continue;
            }
            function.instruction(
                &RoundtripReencoder
                    .instruction(body.ops[at].operator.clone())
                    .map_err(|error| error.to_string())?,
            );
            kept.push(at);
            at += 1;
        }
        kept.push(at);
        Ok(Without {
            function: Some(function),
            taken: stretches.into_iter().map(|one| one.range).collect(),
            kept: Some(kept),
        })
    }

    /// The function that a stretch becomes, with its type.
    fn taken(&mut self, body: &Body<'_>, stretch: &Stretch) -> Result<(u32, Function), String> {
        let ty = |local: &u32| body.locals[*local as usize];
        let mut results = Vec::new();
        let returns = stretch.exits.contains(&Exit::Return);
        if returns {
            results.extend(body.ty.results());
        }
        results.extend(stretch.outputs.iter().map(ty));
        if stretch.exits.len() > 1 {
            results.push(ValType::I32);
        }
        let params = stretch.params.iter().map(ty);
        let number = self.types.number(&FuncType::new(params, results));
        let own: Vec<u32> = stretch
            .used
            .iter()
            .copied()
            .filter(|local| !stretch.params.contains(local))
            .collect();
        let place: BTreeMap<u32, u32> = stretch
            .params
            .iter()
            .chain(&own)
            .copied()
            .zip(0..)
            .collect();
        let mut function =
            Function::new_with_locals_types(encoded(&own.iter().map(ty).collect::<Vec<_>>())?);
        let zeros = body.ty.results().iter().map(|&ty| zero(ty));
        let zeros = zeros.collect::<Result<Vec<_>, _>>()?;
        let leave = |function: &mut Function, exit: Exit| {
            if returns && exit != Exit::Return {
                for zero in &zeros {
                    function.instruction(zero);
                }
            }
            for local in &stretch.outputs {
                function.instruction(&Instruction::LocalGet(place[local]));
            }
            if stretch.exits.len() > 1 {
                function.instruction(&Instruction::I32Const(stretch.code(exit)));
            }
        };
        let mut depth = 0;
        for op in &body.ops[stretch.range.clone()] {
            match &op.operator {
                Operator::LocalGet { local_index } => {
                    function.instruction(&Instruction::LocalGet(place[local_index]))
                }
                Operator::LocalSet { local_index } => {
                    function.instruction(&Instruction::LocalSet(place[local_index]))
                }
                Operator::LocalTee { local_index } => {
                    function.instruction(&Instruction::LocalTee(place[local_index]))
                }
                Operator::Br { relative_depth } if *relative_depth >= depth => {
                    leave(&mut function, stretch.exit(relative_depth - depth));
                    function.instruction(&Instruction::Return)
                }
                Operator::BrIf { relative_depth } if *relative_depth >= depth => {
                    function.instruction(&Instruction::If(wasm_encoder::BlockType::Empty));
                    leave(&mut function, stretch.exit(relative_depth - depth));
                    function.instruction(&Instruction::Return);
                    function.instruction(&Instruction::End)
                }
                Operator::Return => {
                    leave(&mut function, Exit::Return);
                    function.instruction(&Instruction::Return)
                }
                operator => {
                    match operator {
                        Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } => {
                            depth += 1
                        }
                        Operator::End => depth -= 1,
                        _ => {}
                    }
                    function.instruction(
                        &RoundtripReencoder
                            .instruction(operator.clone())
                            .map_err(|error| error.to_string())?,
                    )
                }
            };
        }
        if stretch.exits.contains(&Exit::Falls) {
            leave(&mut function, Exit::Falls);
        } else {
            function.instruction(&Instruction::Unreachable);
        }
        function.instruction(&Instruction::End);
        Ok((number, function))
    }
}

/// Calls what a stretch has become, and goes on where it would have.
fn call(stretch: &Stretch, number: u32, code: u32, results: u32) -> Vec<Instruction<'static>> {
    let mut all = Vec::new();
    for &local in &stretch.params {
        all.push(Instruction::LocalGet(local));
    }
    all.push(Instruction::Call(number));
    let several = stretch.exits.len() > 1;
    if several {
        all.push(Instruction::LocalSet(code));
    }
    for &local in stretch.outputs.iter().rev() {
        all.push(Instruction::LocalSet(local));
    }
    if several && stretch.exits.contains(&Exit::Return) {
        for result in (0..results).rev() {
            all.push(Instruction::LocalSet(code + 1 + result));
        }
    }
    let Some((last, others)) = stretch.exits.split_last() else {
        all.push(Instruction::Unreachable);
        return all;
    };
    for &exit in others {
        all.push(Instruction::LocalGet(code));
        if stretch.exits.len() > 2 {
            all.push(Instruction::I32Const(stretch.code(exit)));
            all.push(Instruction::I32Eq);
        }
        match exit {
            Exit::Label(label) => {
                all.push(Instruction::BrIf(label));
            }
            Exit::Return | Exit::Falls => {
                all.push(Instruction::If(wasm_encoder::BlockType::Empty));
                for result in 0..results {
                    all.push(Instruction::LocalGet(code + 1 + result));
                }
                all.push(Instruction::Return);
                all.push(Instruction::End);
            }
        }
    }
    match *last {
        Exit::Label(label) => {
            all.push(Instruction::Br(label));
        }
        Exit::Return => {
            if several {
                for result in 0..results {
                    all.push(Instruction::LocalGet(code + 1 + result));
                }
            }
            all.push(Instruction::Return);
        }
        Exit::Falls => {}
    }
    all
}

fn zero(ty: ValType) -> Result<Instruction<'static>, String> {
    Ok(match ty {
        ValType::I64 => Instruction::I64Const(0),
        ValType::F32 => Instruction::F32Const(0.0.into()),
        ValType::F64 => Instruction::F64Const(0.0.into()),
        ValType::V128 => Instruction::V128Const(0),
        ValType::I32 => Instruction::I32Const(0),
        ValType::Ref(ty) => {
            let ty = RoundtripReencoder.heap_type(ty.heap_type());
            Instruction::RefNull(ty.map_err(|error| error.to_string())?)
        }
    })
}

impl Reencode for Outliner {
    type Error = String;

    fn parse_type_section(
        &mut self,
        section: &mut TypeSection,
        _: TypeSectionReader<'_>,
    ) -> Result<(), Error<String>> {
        *section = self.types.section().map_err(Error::UserError)?;
        Ok(())
    }

    fn parse_function_section(
        &mut self,
        section: &mut FunctionSection,
        all: FunctionSectionReader<'_>,
    ) -> Result<(), Error<String>> {
        for ty in all {
            section.function(ty?);
        }
        for (ty, _) in &self.functions {
            section.function(*ty);
        }
        Ok(())
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        section: CodeSectionReader<'_>,
    ) -> Result<(), Error<String>> {
        let mut anew = std::mem::take(&mut self.anew).into_iter();
        for body in section {
            match anew.next().flatten() {
                Some(function) => code.function(&function),
                None => code.raw(body?.as_bytes()),
            };
        }
        for (_, function) in &self.functions {
            code.function(function);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{
        BlockType, CodeSection, Function, FunctionSection, Instruction as I, TypeSection, ValType,
    };
    use wasmparser::Validator;

    use super::outline;
    use crate::cut::Side;
    use crate::cut::module::Module;

    /// Control comes only later to what is after the first jump, and not to what is after the second.
    fn side(_: usize, point: u32) -> Option<Side> {
        Some(match point {
            1 => Side::More,
            2 => Side::Rest,
            _ => Side::Main,
        })
    }

    /// A function that jumps over a stretch, which may be left to a label that reads a local, and with the function's result.
    fn program() -> Vec<u8> {
        with_results(&[])
    }

    /// It also returns zeros of these types.
    fn with_results(more: &[ValType]) -> Vec<u8> {
        let zeros = || {
            more.iter().map(|&ty| match ty {
                ValType::Ref(ty) => I::RefNull(ty.heap_type),
                _ => I::V128Const(0),
            })
        };
        let mut function = Function::new([(1, ValType::I32)]);
        function.instruction(&I::Block(BlockType::Empty));
        function.instruction(&I::LocalGet(0));
        function.instruction(&I::BrIf(0));
        for number in 0..30 {
            function.instruction(&I::LocalGet(1));
            function.instruction(&I::I32Const(number));
            function.instruction(&I::I32Add);
            function.instruction(&I::LocalSet(2));
        }
        function.instruction(&I::LocalGet(2));
        function.instruction(&I::BrIf(0));
        function.instruction(&I::LocalGet(1));
        zeros().for_each(|zero| {
            function.instruction(&zero);
        });
        function.instruction(&I::Return);
        function.instruction(&I::End);
        function.instruction(&I::LocalGet(2));
        zeros().for_each(|zero| {
            function.instruction(&zero);
        });
        function.instruction(&I::End);
        let mut types = TypeSection::new();
        let results: Vec<_> = [ValType::I32].iter().chain(more).copied().collect();
        types.ty().function([ValType::I32; 2], results);
        let mut functions = FunctionSection::new();
        functions.function(0);
        let mut code = CodeSection::new();
        code.function(&function);
        let mut module = wasm_encoder::Module::new();
        module.section(&types).section(&functions).section(&code);
        module.finish()
    }

    #[test]
    fn a_stretch_is_given_what_it_reads_and_returns_what_is_read_later_and_how_it_was_left() {
        let program = program();
        let outlined = outline(&program, &side).unwrap();
        Validator::new().validate_all(&outlined.bytes).unwrap();
        let module = Module::read(&outlined.bytes).unwrap();
        assert_eq!((outlined.first, module.bodies.len()), (1, 2));
        let ty = &module.types[module.ty(1) as usize];
        // One local; the result, the other local, and the way.
        assert_eq!((ty.params().len(), ty.results().len()), (1, 3));
        let taken = &outlined.taken[0].stretches;
        assert_eq!(
            taken
                .iter()
                .map(|(range, side)| (range.len(), *side))
                .collect::<Vec<_>>(),
            [(124, Side::More)]
        );
        assert_eq!(outlined.sides, [Side::More]);
        assert!(module.bodies[0].range().end - module.bodies[0].range().start < 60);
    }

    #[test]
    fn a_stretch_that_may_return_has_a_zero_of_each_type() {
        let program = with_results(&[ValType::FUNCREF, ValType::EXTERNREF, ValType::V128]);
        let outlined = outline(&program, &side).unwrap();
        assert_eq!(outlined.taken[0].stretches.len(), 1);
        Validator::new().validate_all(&outlined.bytes).unwrap();
    }

    #[test]
    fn a_function_that_the_list_does_not_know_stays_whole() {
        let program = program();
        let outlined = outline(&program, &|_, _| None).unwrap();
        assert_eq!(Module::read(&outlined.bytes).unwrap().bodies.len(), 1);
        assert!(outlined.taken[0].stretches.is_empty());
    }
}
