//! A program that says which of its functions have run, and how far.

use wasm_encoder::reencode::{Error, Reencode, RoundtripReencoder, utils};
use wasm_encoder::{CodeSection, Instruction, MemArg};
use wasmparser::{FunctionBody, MemoryType, Parser};

use super::body::{Body, bodies};
use super::module::Module;

const PAGE: u64 = 65536;

/// A program with a byte for each point of its functions, behind the memory that it had: it is 1 once control was there.
pub(crate) struct Counting {
    pub(crate) bytes: Vec<u8>,
    /// The address of the first.
    pub(crate) at: u64,
    /// The points of each function: how many bytes come after each.
    pub(crate) points: Vec<Vec<usize>>,
}

pub(crate) fn counting(bytes: &[u8]) -> Result<Counting, String> {
    let module = Module::read(bytes)?;
    let bodies = bodies(bytes)?;
    let sum: u64 = bodies.iter().map(|body| u64::from(body.points)).sum();
    let points = bodies.iter().map(|body| {
        let mut bytes = vec![0; body.points as usize];
        for op in &body.ops {
            bytes[op.point as usize] += op.bytes.len();
        }
        bytes
    });
    let points = points.collect();
    let at = module.memories.first().map_or(0, |memory| memory.initial) * PAGE;
    let mut counter = Counter {
        next: at,
        pages: sum.div_ceil(PAGE),
        bodies: bodies.iter(),
    };
    let mut out = wasm_encoder::Module::new();
    counter
        .parse_core_module(&mut out, Parser::new(0), bytes)
        .map_err(|error| error.to_string())?;
    Ok(Counting {
        bytes: out.finish(),
        at,
        points,
    })
}

struct Counter<'a> {
    next: u64,
    pages: u64,
    bodies: std::slice::Iter<'a, Body<'a>>,
}

impl Reencode for Counter<'_> {
    type Error = std::convert::Infallible;

    fn memory_type(
        &mut self,
        ty: MemoryType,
    ) -> Result<wasm_encoder::MemoryType, Error<Self::Error>> {
        let mut ty = RoundtripReencoder.memory_type(ty)?;
        ty.minimum += self.pages;
        Ok(ty)
    }

    fn parse_function_body(
        &mut self,
        code: &mut CodeSection,
        body: FunctionBody<'_>,
    ) -> Result<(), Error<Self::Error>> {
        let mut function = utils::new_function_with_parsed_locals(self, &body)?;
        let mut last = None;
        let Some(points) = self.bodies.next() else {
            return Ok(());
        };
        for op in &points.ops {
            if last.replace(op.point) != Some(op.point) {
                function.instruction(&Instruction::I32Const(
                    (self.next + u64::from(op.point)) as u32 as i32,
                ));
                function.instruction(&Instruction::I32Const(1));
                function.instruction(&Instruction::I32Store8(MemArg {
                    offset: 0,
                    align: 0,
                    memory_index: 0,
                }));
            }
            function.instruction(&self.instruction(op.operator.clone())?);
        }
        self.next += u64::from(points.points);
        code.function(&function);
        Ok(())
    }
}
