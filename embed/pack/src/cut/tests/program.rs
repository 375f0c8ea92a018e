//! Small programs by chance, as the linker and wasm-bindgen write them: with functions in the table, data that has addresses of both,
//! and relocations. A program always ends, for its functions and loops use up fuel.

use wasm_encoder::{
    BlockType, CodeSection, ConstExpr, CustomSection, DataSection, DataSymbolDefinition,
    ElementSection, Elements, EntityType, ExportKind, ExportSection, Function, FunctionSection,
    GlobalSection, GlobalType, HeapType, ImportSection, Instruction as I, LinkingSection, MemArg,
    MemorySection, MemoryType, Module, NameMap, NameSection, RefType, SymbolTable, TableSection,
    TableType, TypeSection, ValType,
};

const I32: ValType = ValType::I32;
const I64: ValType = ValType::I64;
const F64: ValType = ValType::F64;
const REF: ValType = ValType::EXTERNREF;

/// Numbers by chance. When none are left, they are 0, which always stands for the least.
pub(super) struct Choices<'b>(pub(super) &'b [u8]);

impl Choices<'_> {
    pub(super) fn below(&mut self, end: usize) -> usize {
        let Some((&first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        usize::from(first) % end
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// Parameters and results.
type Signature = (&'static [ValType], &'static [ValType]);
const SIGNATURES: [Signature; 9] = [
    (&[], &[I32]),
    (&[], &[]),
    (&[], &[REF]),
    (&[I32], &[I32]),
    (&[I32, I32], &[I32]),
    (&[I32, I64], &[]),
    (&[F64], &[F64]),
    (&[I32, REF], &[I64, I32]),
    (&[REF], &[REF]),
];
const TICK: usize = 0;
const NOTHING: usize = 1;
const THING: usize = 2;
const LOG: usize = 3;
const RUN: usize = 4;

/// What it imports: module, name, signature.
const IMPORTS: [(&str, &str, usize); 4] = [
    ("./deltascope_bg.js", "log", LOG),
    ("./deltascope_bg.js", "thing", THING),
    ("./deltascope_bg.js", "nobody", NOTHING),
    ("other", "number", TICK),
];
const FIRST: u32 = IMPORTS.len() as u32;
/// Those that every program defines first: the one that is run, one that says whether no fuel is left, and one that only an
/// export without a user reaches.
const OWN: [(&str, usize); 3] = [("run", RUN), ("tick", TICK), ("gone", RUN)];

/// Globals: the fuel, and one of each kind; only the first two are exported.
const FUEL: u32 = 0;
const GLOBALS: [(u32, ValType); 3] = [(1, I32), (2, I64), (3, F64)];

/// Where things are in memory: first what nobody has the address of.
const SCRATCH: i32 = 64;
const TEXTS: u32 = 1024;
const TEXTS_SIZE: u32 = 64;
/// Data with addresses.
const POINTERS: u32 = TEXTS + TEXTS_SIZE;
const POINTERS_OF_EACH: u32 = 6;
const TABLES: usize = 3;
const CELLS: u32 = 2048;
const CELL: u32 = 24;
const CELLS_OF_ALL: usize = 3;

/// Data that has a name: where, and how long.
#[derive(Clone, Copy)]
struct Symbol {
    address: u32,
    size: u32,
}

/// What data has the address of.
#[derive(Clone, Copy)]
enum Pointer {
    Data(usize),
    Slot(u32),
}

/// A place in a function or in data, by its distance from the begin, that has the address or number of something: the kind of the
/// relocation, and the symbol.
struct Relocation {
    kind: u8,
    at: usize,
    symbol: usize,
}
const CALL: u8 = 0;
const SLOT: u8 = 1;
const SLOT_IN_DATA: u8 = 2;
const OFFSET: u8 = 3;
const ADDRESS: u8 = 4;
const ADDRESS_IN_DATA: u8 = 5;

/// A program.
pub(super) struct Program {
    pub(super) linked: Vec<u8>,
    /// With the names that wasm-bindgen gives.
    pub(super) bound: Vec<u8>,
}

/// What functions can name.
struct World {
    /// The signature of each function, with those that are imported.
    functions: Vec<usize>,
    names: Vec<String>,
    /// Functions with slots: from 1 on.
    slots: Vec<u32>,
    /// Texts, tables and cells.
    symbols: Vec<Symbol>,
    tables: Vec<Vec<Pointer>>,
}

impl World {
    fn of(choices: &mut Choices<'_>) -> Self {
        let mut functions: Vec<usize> = IMPORTS.iter().map(|(_, _, ty)| *ty).collect();
        functions.extend(OWN.iter().map(|(_, ty)| *ty));
        let mut names: Vec<String> = OWN.iter().map(|(name, _)| (*name).to_owned()).collect();
        for number in 0..2 + choices.below(5) {
            functions.push(choices.below(SIGNATURES.len()));
            names.push(match choices.below(8) {
                1 => format!("deltascope_page::board::own::f{number}"),
                // Two may have one name.
                2 => "several".to_owned(),
                _ => format!("a::f{number}"),
            });
        }
        let others = FIRST + OWN.len() as u32..functions.len() as u32;
        let slots: Vec<u32> = others.filter(|_| choices.below(2) == 0).collect();
        let mut symbols = Vec::new();
        for _ in 0..TABLES {
            // They may share bytes.
            let at = choices.below(32) as u32;
            symbols.push(Symbol {
                address: TEXTS + at,
                size: 8 + choices.below((TEXTS_SIZE - at) as usize - 8) as u32,
            });
        }
        for at in 0..TABLES as u32 {
            let size = 4 * POINTERS_OF_EACH;
            let address = POINTERS + at * size;
            symbols.push(Symbol { address, size });
        }
        for at in 0..CELLS_OF_ALL as u32 {
            let address = CELLS + at * CELL;
            let size = CELL;
            symbols.push(Symbol { address, size });
        }
        let mut pointer = || match choices.below(3) {
            1 if !slots.is_empty() => Pointer::Slot(1 + choices.below(slots.len()) as u32),
            _ => Pointer::Data(choices.below(symbols.len())),
        };
        let mut table = || (0..POINTERS_OF_EACH).map(|_| pointer()).collect();
        let tables = (0..TABLES).map(|_| table()).collect();
        Self {
            functions,
            names,
            slots,
            symbols,
            tables,
        }
    }

    fn signature(&self, function: u32) -> Signature {
        SIGNATURES[self.functions[function as usize]]
    }
}

impl Program {
    pub(super) fn of(choices: &mut Choices<'_>) -> Self {
        let world = World::of(choices);
        let defined = FIRST..world.functions.len() as u32;
        let bodies: Vec<_> = defined
            .map(|function| match function - FIRST {
                1 => tick(),
                _ => Writer::function(&world, function, choices),
            })
            .collect();
        let all = |names: &[String]| written(&world, &bodies, names);
        let mut bound = world.names.clone();
        let several = bound.iter_mut().filter(|name| *name == "several");
        for (at, name) in several.enumerate().skip(1) {
            *name = format!("several[{at}]");
        }
        Self {
            linked: all(&world.names),
            bound: all(&bound),
        }
    }
}

/// Says whether no fuel is left, and burns some.
fn tick() -> (Function, Vec<Relocation>) {
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
struct Writer<'w, 'b, 'c> {
    world: &'w World,
    choices: &'c mut Choices<'b>,
    function: Function,
    relocations: Vec<Relocation>,
    locals: Vec<ValType>,
    results: &'static [ValType],
    /// What jumps to the labels around take, from outside inwards.
    labels: Vec<Vec<ValType>>,
    deep: usize,
}

/// How deep statements and expressions may be in others.
const DEEP: usize = 5;

impl Writer<'_, '_, '_> {
    fn function(
        world: &World,
        number: u32,
        choices: &mut Choices<'_>,
    ) -> (Function, Vec<Relocation>) {
        let (params, results) = world.signature(number);
        let own: Vec<ValType> = (0..choices.below(6))
            .map(|_| choices.one(&[I32, I64, I32, F64, REF]))
            .collect();
        let mut writer = Writer {
            world,
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
        writer.statements();
        if number == FIRST {
            writer.call_all();
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
            self.call(function);
            for &ty in results.iter().rev() {
                self.as_number(ty);
                self.call(0);
                self.put(&I::Drop);
            }
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

    fn value(&mut self, ty: ValType) {
        self.deep += 1;
        let is_deep = self.deep > DEEP;
        match self.choices.below(if is_deep { 2 } else { 10 }) {
            0 => self.zero(ty),
            1 => match self.local(ty) {
                Some(local) => self.put(&I::LocalGet(local)),
                None => self.zero(ty),
            },
            2 => {
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
            3 => {
                self.put(&I::Block(BlockType::Result(ty)));
                self.labels.push(vec![ty]);
                self.statements();
                self.value(ty);
                self.end();
            }
            4 => {
                let functions: Vec<u32> = (0..self.world.functions.len() as u32)
                    .filter(|function| {
                        self.world.signature(*function).1 == [ty] && *function != FIRST + 2
                    })
                    .collect();
                if functions.is_empty() {
                    self.zero(ty);
                } else {
                    let function = self.choices.one(&functions);
                    self.call_of(function);
                }
            }
            5 => {
                self.value(ty);
                match self.local(ty) {
                    Some(local) => self.put(&I::LocalTee(local)),
                    None => self.put(&I::Nop),
                }
            }
            // A value that is there before a statement.
            6 => {
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
                let symbol = self.choices.below(self.world.symbols.len());
                let address = self.world.symbols[symbol].address;
                self.linked(&[0x2d, 0], OFFSET, symbol, address);
            }
            6 => {
                let table = self.choices.below(TABLES);
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
                    .one(&[I::I32Add, I::I32Sub, I::I32Mul, I::I32LtS, I::I32DivU].each_ref())
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
            for _ in 0..self.choices.below(4) {
                self.statement();
            }
        }
        self.deep -= 1;
    }

    fn statement(&mut self) {
        match self.choices.below(16) {
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
                let cell = self.choices.below(CELLS_OF_ALL);
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
            13 => match self.choices.below(4) {
                1 => self.put(&I::Unreachable),
                2 => {
                    let slot = self.choices.below(4) as i32;
                    self.put(&I::I32Const(slot));
                    self.value(REF);
                    self.put(&I::TableSet(1));
                }
                _ => {
                    self.value(I32);
                    self.call(0);
                    self.put(&I::Drop);
                }
            },
            _ => {
                let ty = self.choices.one(&[I32, I64, F64, REF]);
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

fn leb(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

fn relocated(section: u8, all: &[Relocation]) -> Vec<u8> {
    let mut bytes = vec![section];
    bytes.extend(leb(all.len()));
    for one in all {
        bytes.push(one.kind);
        bytes.extend(leb(one.at));
        bytes.extend(leb(one.symbol));
        if matches!(one.kind, OFFSET | ADDRESS | ADDRESS_IN_DATA) {
            bytes.push(0);
        }
    }
    bytes
}

fn written(world: &World, bodies: &[(Function, Vec<Relocation>)], names: &[String]) -> Vec<u8> {
    let mut types = TypeSection::new();
    for (params, results) in SIGNATURES {
        let of = |types: &[ValType]| types.to_vec();
        types.ty().function(of(params), of(results));
    }
    let mut imports = ImportSection::new();
    for (module, name, ty) in IMPORTS {
        imports.import(module, name, EntityType::Function(ty as u32));
    }
    let mut functions = FunctionSection::new();
    for &ty in &world.functions[IMPORTS.len()..] {
        functions.function(ty as u32);
    }
    let mut tables = TableSection::new();
    let size = 1 + world.slots.len() as u64;
    for (element_type, minimum, maximum) in [
        (RefType::FUNCREF, size, Some(size)),
        (RefType::EXTERNREF, 4, None),
    ] {
        tables.table(TableType {
            element_type,
            minimum,
            maximum,
            table64: false,
            shared: false,
        });
    }
    let mut memories = MemorySection::new();
    memories.memory(MemoryType {
        minimum: 1,
        maximum: None,
        memory64: false,
        shared: false,
        page_size_log2: None,
    });
    let mut globals = GlobalSection::new();
    for (val_type, value) in [
        (I32, ConstExpr::i32_const(0)),
        (I32, ConstExpr::i32_const(5)),
        (I64, ConstExpr::i64_const(6)),
        (F64, ConstExpr::f64_const(0.5.into())),
    ] {
        let ty = GlobalType {
            val_type,
            mutable: true,
            shared: false,
        };
        globals.global(ty, &value);
    }
    let mut exports = ExportSection::new();
    for (name, kind, index) in [
        ("memory", ExportKind::Memory, 0),
        ("__indirect_function_table", ExportKind::Table, 0),
        ("__wbindgen_externrefs", ExportKind::Table, 1),
        ("fuel", ExportKind::Global, FUEL),
        ("number", ExportKind::Global, 1),
        ("run", ExportKind::Func, FIRST),
        ("gone", ExportKind::Func, FIRST + 2),
    ] {
        exports.export(name, kind, index);
    }
    let mut elements = ElementSection::new();
    if !world.slots.is_empty() {
        let first = ConstExpr::i32_const(1);
        elements.active(None, &first, Elements::Functions((&world.slots).into()));
    }
    let (mut code, mut relocations) = (CodeSection::new(), Vec::new());
    let mut at = leb(bodies.len()).len();
    for (function, of_it) in bodies {
        code.function(function);
        at += leb(function.byte_len()).len();
        relocations.extend(of_it.iter().map(|one| Relocation {
            at: at + one.at,
            ..*one
        }));
        at += function.byte_len();
    }
    let (data, in_data) = data(world);
    let mut symbols = SymbolTable::new();
    for symbol in &world.symbols {
        let (index, first) = if symbol.address < CELLS {
            (0, TEXTS)
        } else {
            (1, CELLS)
        };
        let definition = DataSymbolDefinition {
            index,
            offset: symbol.address - first,
            size: symbol.size,
        };
        symbols.data(0, "data", Some(definition));
    }
    for function in 0..FIRST {
        symbols.function(SymbolTable::WASM_SYM_UNDEFINED, function, None);
    }
    let mut named = NameMap::new();
    for (function, name) in (FIRST..).zip(names) {
        symbols.function(0, function, Some(name));
        named.append(function, name);
    }
    let (mut linking, mut name) = (LinkingSection::new(), NameSection::new());
    linking.symbol_table(&symbols);
    name.functions(&named);
    let custom = |name: &'static str, data: Vec<u8>| CustomSection {
        name: name.into(),
        data: data.into(),
    };
    let mut module = Module::new();
    module
        .section(&types)
        .section(&imports)
        .section(&functions)
        .section(&tables)
        .section(&memories)
        .section(&globals)
        .section(&exports)
        .section(&elements)
        .section(&code)
        .section(&data)
        .section(&linking)
        .section(&custom("reloc.CODE", relocated(8, &relocations)))
        .section(&custom("reloc.DATA", relocated(9, &in_data)))
        .section(&name);
    module.finish()
}

fn data(world: &World) -> (DataSection, Vec<Relocation>) {
    let mut constant: Vec<u8> = (0..TEXTS_SIZE as u8)
        .map(|at| at.wrapping_mul(37))
        .collect();
    let mut relocations = Vec::new();
    for pointer in world.tables.iter().flatten() {
        let (kind, symbol, number) = match *pointer {
            Pointer::Data(symbol) => (ADDRESS_IN_DATA, symbol, world.symbols[symbol].address),
            Pointer::Slot(slot) => {
                let function = world.slots[slot as usize - 1] as usize;
                (SLOT_IN_DATA, world.symbols.len() + function, slot)
            }
        };
        relocations.push(Relocation {
            kind,
            at: constant.len(),
            symbol,
        });
        constant.extend(number.to_le_bytes());
    }
    // The numbers of segments and bytes, what kind of segment it is, and where.
    let head = 1 + 1 + 4 + leb(constant.len()).len();
    relocations.iter_mut().for_each(|one| one.at += head);
    let cells = (0..CELL * CELLS_OF_ALL as u32).map(|at| at as u8 | 0x80);
    let mut section = DataSection::new();
    section.active(0, &ConstExpr::i32_const(TEXTS as i32), constant);
    section.active(0, &ConstExpr::i32_const(CELLS as i32), cells);
    (section, relocations)
}
