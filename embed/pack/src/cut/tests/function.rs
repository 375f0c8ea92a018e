//! Functions by chance.

use wasm_encoder::{BlockType, Function, HeapType, Instruction as I, MemArg, ValType};

use super::world::{
    ADDRESS, CALL, CELL, CELLS_OF_ALL, Choices, F64, FIRST, FUEL, GLOBALS, I32, I64, KINDS, LOG,
    OFFSET, OWN, POINTERS_OF_EACH, Pointer, REF, Relocation, SCRATCH, SLOT, TABLES, World,
};

/// Says whether no fuel is left, and burns some.
pub(super) fn tick() -> (Function, Vec<Relocation>) {
    let mut function = Function::new([]);
    for instruction in [
        I::GlobalGet(FUEL),
        I::I32Eqz,
        I::If(BlockType::Empty),
        I::I32Const(1),
        I::Return,
        I::End,
        I::GlobalGet(FUEL),
        I::I32Const(1),
        I::I32Sub,
        I::GlobalSet(FUEL),
        I::I32Const(0),
        I::End,
    ] {
        function.instruction(&instruction);
    }
    (function, Vec::new())
}

/// Writes a function.
pub(super) struct Writer<'w, 'b, 'c> {
    world: &'w World,
    number: u32,
    choices: &'c mut Choices<'b>,
    function: Function,
    relocations: Vec<Relocation>,
    locals: Vec<ValType>,
    results: &'static [ValType],
    /// What jumps to the labels around take, from outside inwards.
    labels: Vec<Vec<ValType>>,
    deep: usize,
}

/// How much fuel there is for each function that the first one calls.
const ENOUGH: i32 = 40;
/// How deep statements and expressions may be in others.
const DEEP: usize = 5;

impl Writer<'_, '_, '_> {
    pub(super) fn function(
        world: &World,
        number: u32,
        choices: &mut Choices<'_>,
    ) -> (Function, Vec<Relocation>) {
        let (params, results) = world.signature(number);
        let own: Vec<ValType> = (0..choices.below(6)).map(|_| choices.one(&KINDS)).collect();
        let mut writer = Writer {
            world,
            number,
            choices,
            function: Function::new_with_locals_types(own.iter().copied()),
            relocations: Vec::new(),
            locals: params.iter().chain(&own).copied().collect(),
            results,
            labels: vec![results.to_vec()],
            deep: 0,
        };
        writer.tick();
        writer.put(&I::If(BlockType::Empty));
        for &ty in results {
            writer.zero(ty);
        }
        writer.put(&I::Return);
        writer.put(&I::End);
        match number - FIRST {
            0 => writer.call_all(),
            // Nobody runs it.
            2 => {}
            _ => writer.statements(),
        }
        for &ty in results {
            writer.value(ty);
        }
        writer.put(&I::End);
        (writer.function, writer.relocations)
    }

    fn put(&mut self, instruction: &I<'_>) {
        self.function.instruction(instruction);
    }

    fn tick(&mut self) {
        self.call(FIRST + 1);
    }

    fn zero(&mut self, ty: ValType) {
        self.put(&match ty {
            I64 => I::I64Const(0),
            F64 => I::F64Const(0.0.into()),
            ValType::Ref(_) => I::RefNull(HeapType::EXTERN),
            _ => I::I32Const(0),
        });
    }

    /// An operator with a number that the linker has put there.
    fn linked(&mut self, operator: &[u8], kind: u8, symbol: usize, number: u32) {
        self.function.raw(operator.iter().copied());
        let at = self.function.byte_len();
        self.relocations.push(Relocation { kind, at, symbol });
        let byte = |at: u32| (number >> (7 * at) & 0x7f) as u8 | 0x80;
        self.function
            .raw([byte(0), byte(1), byte(2), byte(3), byte(4) & 0x7f]);
    }

    fn address(&mut self, symbol: usize) {
        let address = self.world.symbols[symbol].address;
        self.linked(&[0x41], ADDRESS, symbol, address);
    }

    fn call(&mut self, function: u32) {
        let symbol = self.world.symbols.len() + function as usize;
        self.linked(&[0x10], CALL, symbol, function);
    }

    /// Calls all functions, so that none is without a use, and tells their results.
    fn call_all(&mut self) {
        for function in FIRST + OWN.len() as u32..self.world.functions.len() as u32 {
            let (params, results) = self.world.signature(function);
            self.deep += DEEP;
            params.iter().for_each(|&ty| self.value(ty));
            self.deep -= DEEP;
            // Else the first ones would burn it all.
            self.put(&I::I32Const(ENOUGH));
            self.put(&I::GlobalSet(FUEL));
            self.call(function);
            for &ty in results.iter().rev() {
                self.as_number(ty);
                self.call(0);
                self.put(&I::Drop);
            }
        }
    }

    /// Which of so much data it uses: mostly some that few others do.
    fn one_of(&mut self, count: usize) -> usize {
        match self.choices.below(8) {
            0 => self.choices.below(count),
            of_it => (self.number as usize * 2 + of_it / 5) % count,
        }
    }

    /// Makes a number of what is there.
    fn as_number(&mut self, ty: ValType) {
        match ty {
            I64 => self.put(&I::I32WrapI64),
            F64 => self.put(&I::I32TruncSatF64S),
            ValType::Ref(_) => self.put(&I::RefIsNull),
            _ => {}
        }
    }

    fn local(&mut self, ty: ValType) -> Option<u32> {
        let of = (0..).zip(&self.locals).filter(|(_, local)| **local == ty);
        let of: Vec<u32> = of.map(|(at, _)| at).collect();
        (!of.is_empty()).then(|| self.choices.one(&of))
    }

    fn local_or_zero(&mut self, ty: ValType) {
        match self.local(ty) {
            Some(local) => self.put(&I::LocalGet(local)),
            None => self.zero(ty),
        }
    }

    fn value(&mut self, ty: ValType) {
        self.deep += 1;
        let is_deep = self.deep > DEEP;
        match self.choices.below(if is_deep { 4 } else { 14 }) {
            0 => self.zero(ty),
            // What is in locals matters most.
            1..=3 => self.local_or_zero(ty),
            4 => {
                self.condition();
                self.put(&I::If(BlockType::Result(ty)));
                self.labels.push(vec![ty]);
                self.statements();
                self.value(ty);
                self.put(&I::Else);
                self.statements();
                self.value(ty);
                self.end();
            }
            5 => {
                self.put(&I::Block(BlockType::Result(ty)));
                self.labels.push(vec![ty]);
                self.statements();
                self.value(ty);
                self.end();
            }
            6 => {
                let functions: Vec<u32> = (0..self.world.functions.len() as u32)
                    .filter(|function| {
                        self.world.signature(*function).1 == [ty]
                            && ![FIRST, FIRST + 2].contains(function)
                    })
                    .collect();
                if functions.is_empty() {
                    self.zero(ty);
                } else {
                    let function = self.choices.one(&functions);
                    self.call_of(function);
                }
            }
            7 => {
                self.value(ty);
                match self.local(ty) {
                    Some(local) => self.put(&I::LocalTee(local)),
                    None => self.put(&I::Nop),
                }
            }
            // A value that is there before a statement.
            8 => {
                self.value(ty);
                self.statement();
            }
            _ => self.kind_of_value(ty),
        }
        self.deep -= 1;
    }

    fn kind_of_value(&mut self, ty: ValType) {
        match ty {
            I64 => match self.choices.below(3) {
                1 => {
                    self.value(I32);
                    self.put(&I::I64ExtendI32S);
                }
                2 => self.put(&I::GlobalGet(2)),
                _ => {
                    self.value(I64);
                    self.value(I64);
                    self.put(&I::I64Xor);
                }
            },
            F64 => match self.choices.below(3) {
                1 => {
                    self.value(I32);
                    self.put(&I::F64ConvertI32S);
                }
                2 => self.put(&I::GlobalGet(3)),
                _ => {
                    self.value(F64);
                    self.value(F64);
                    self.put(&I::F64Add);
                }
            },
            ValType::Ref(_) => {
                let slot = self.choices.below(4) as i32;
                self.put(&I::I32Const(slot));
                self.put(&I::TableGet(1));
            }
            _ => self.number(),
        }
    }

    fn number(&mut self) {
        match self.choices.below(9) {
            1 => {
                let number = self.choices.below(256) as i32;
                self.put(&I::I32Const(number - 9));
            }
            2 => {
                let ty = self.choices.one(&[I64, F64, REF]);
                self.value(ty);
                self.as_number(ty);
            }
            3 => self.put(&I::GlobalGet(1)),
            4 => {
                self.place();
                self.put(&I::I32Load(within(SCRATCH)));
            }
            // A byte of some data: its address is in the instruction, or a value.
            5 => {
                self.value(I32);
                self.put(&I::I32Const(7));
                self.put(&I::I32And);
                let symbol = self.one_of(self.world.symbols.len());
                let address = self.world.symbols[symbol].address;
                self.linked(&[0x2d, 0], OFFSET, symbol, address);
            }
            6 => {
                let table = self.one_of(TABLES);
                let at = self.choices.below(POINTERS_OF_EACH as usize);
                self.address(TABLES + table);
                match self.world.tables[table][at] {
                    Pointer::Data(_) => {
                        self.put(&I::I32Load(within(4 * at as i32)));
                        self.put(&I::I32Load8U(within(3)));
                    }
                    Pointer::Slot(slot) => {
                        // Behind its arguments.
                        self.put(&I::Drop);
                        let function = self.world.slots[slot as usize - 1];
                        self.arguments(function);
                        self.address(TABLES + table);
                        self.put(&I::I32Load(within(4 * at as i32)));
                        self.indirect(function);
                    }
                }
            }
            7 if !self.world.slots.is_empty() => {
                let slot = self.choices.below(self.world.slots.len());
                let function = self.world.slots[slot];
                self.arguments(function);
                let symbol = self.world.symbols.len() + function as usize;
                self.linked(&[0x41], SLOT, symbol, slot as u32 + 1);
                self.indirect(function);
            }
            8 => self.params(),
            _ => {
                self.value(I32);
                self.value(I32);
                let operator = self
                    .choices
                    .one(&[I::I32Add, I::I32Sub, I::I32Mul, I::I32LtS, I::I32Xor].each_ref())
                    .clone();
                self.put(&operator);
            }
        }
    }

    /// A block or a loop that takes a number.
    fn params(&mut self) {
        self.value(I32);
        let ty = BlockType::FunctionType(LOG as u32);
        let is_loop = self.choices.below(2) == 1;
        self.put(&if is_loop { I::Loop(ty) } else { I::Block(ty) });
        self.labels.push(vec![I32]);
        match self.local(I32) {
            Some(local) => self.put(&I::LocalSet(local)),
            None => self.put(&I::Drop),
        }
        if is_loop {
            // Out of the function, for want of a label that always takes a number.
            self.tick();
            self.put(&I::If(BlockType::Empty));
            self.results.iter().for_each(|&ty| self.zero(ty));
            self.put(&I::Return);
            self.put(&I::End);
        }
        self.statements();
        self.value(I32);
        self.end();
    }

    fn condition(&mut self) {
        self.value(I32);
        if self.choices.below(2) == 1 {
            self.put(&I::I32Eqz);
        }
    }

    fn end(&mut self) {
        self.labels.pop();
        self.put(&I::End);
    }

    fn arguments(&mut self, function: u32) {
        for &ty in self.world.signature(function).0 {
            self.value(ty);
        }
    }

    fn call_of(&mut self, function: u32) {
        self.arguments(function);
        self.call(function);
    }

    /// Calls what the table has, and makes a number of what it returns.
    fn indirect(&mut self, function: u32) {
        self.put(&I::CallIndirect {
            type_index: self.world.functions[function as usize] as u32,
            table_index: 0,
        });
        let results = self.world.signature(function).1;
        match results {
            [] => self.put(&I::I32Const(1)),
            [first, more @ ..] => {
                more.iter().for_each(|_| self.put(&I::Drop));
                self.as_number(*first);
            }
        }
    }

    /// A place in the memory that belongs to nobody.
    fn place(&mut self) {
        self.value(I32);
        self.put(&I::I32Const(0x3c));
        self.put(&I::I32And);
    }

    fn statements(&mut self) {
        self.deep += 1;
        if self.deep <= DEEP {
            for _ in 0..self.choices.below(6) {
                self.statement();
            }
        }
        self.deep -= 1;
    }

    fn statement(&mut self) {
        match self.choices.below(24) {
            1 => {
                self.condition();
                self.put(&I::If(BlockType::Empty));
                self.labels.push(Vec::new());
                self.statements();
                if self.choices.below(2) == 1 {
                    self.put(&I::Else);
                    self.statements();
                }
                self.end();
            }
            2 => {
                self.put(&I::Block(BlockType::Empty));
                self.labels.push(Vec::new());
                self.statements();
                self.end();
            }
            3 => {
                self.put(&I::Block(BlockType::Empty));
                self.labels.push(Vec::new());
                self.put(&I::Loop(BlockType::Empty));
                self.labels.push(Vec::new());
                self.tick();
                self.put(&I::BrIf(1));
                self.statements();
                if self.choices.below(2) == 1 {
                    self.condition();
                    self.put(&I::BrIf(0));
                }
                self.end();
                self.end();
            }
            4 => {
                let label = self.choices.below(self.labels.len());
                self.label(label);
                self.put(&I::Br(label as u32));
            }
            5..=7 => {
                let label = self.choices.below(self.labels.len());
                let takes = self.label(label);
                self.condition();
                self.put(&I::BrIf(label as u32));
                takes.iter().for_each(|_| self.put(&I::Drop));
            }
            8 => {
                self.results.iter().for_each(|&ty| self.value(ty));
                self.put(&I::Return);
            }
            9 => self.table(),
            10 => {
                self.place();
                self.value(I32);
                self.put(&I::I32Store(within(SCRATCH)));
            }
            11 => {
                let cell = self.one_of(CELLS_OF_ALL);
                let at = self.choices.below(CELL as usize - 4) as i32;
                self.address(2 * TABLES + cell);
                self.value(I32);
                self.put(&I::I32Store(within(at)));
            }
            12 => {
                let (global, ty) = self.choices.one(&GLOBALS);
                self.value(ty);
                self.put(&I::GlobalSet(global));
            }
            13..=16 => match self.choices.below(40) {
                1 => self.put(&I::Unreachable),
                2 => {
                    let slot = self.choices.below(4) as i32;
                    self.put(&I::I32Const(slot));
                    self.value(REF);
                    self.put(&I::TableSet(1));
                }
                _ => {
                    let ty = self.choices.one(&KINDS);
                    self.local_or_zero(ty);
                    self.as_number(ty);
                    self.call(0);
                    self.put(&I::Drop);
                }
            },
            _ => {
                let ty = self.choices.one(&KINDS);
                self.value(ty);
                match self.local(ty) {
                    Some(local) => self.put(&I::LocalSet(local)),
                    None => self.put(&I::Drop),
                }
            }
        }
        // A short stretch is not worth a function.
        let size = self.choices.one(&[60, 0, 0, 20, 150]);
        (0..size).for_each(|_| self.put(&I::Nop));
    }

    /// Gives a label what it takes.
    fn label(&mut self, label: usize) -> Vec<ValType> {
        let takes = self.labels[self.labels.len() - 1 - label].clone();
        takes.iter().for_each(|&ty| self.value(ty));
        takes
    }

    fn table(&mut self) {
        let takes = |label: usize| self.labels[self.labels.len() - 1 - label].is_empty();
        let plain: Vec<u32> = (0..self.labels.len())
            .filter(|&label| takes(label))
            .map(|label| label as u32)
            .collect();
        if plain.is_empty() {
            return;
        }
        let targets = [(); 3].map(|()| self.choices.one(&plain));
        self.value(I32);
        self.put(&I::BrTable(targets[..2].into(), targets[2]));
    }
}

fn within(offset: i32) -> MemArg {
    MemArg {
        offset: offset as u64,
        align: 0,
        memory_index: 0,
    }
}
