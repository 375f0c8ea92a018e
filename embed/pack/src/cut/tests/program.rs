//! Small programs by chance, as the linker and wasm-bindgen write them: with functions in the table, data that has addresses of both,
//! and relocations. A program always ends, for its functions and loops use up fuel.

use wasm_encoder::{
    BlockType, CodeSection, ConstExpr, CustomSection, DataSection, DataSymbolDefinition,
    ElementSection, Elements, EntityType, ExportKind, ExportSection, Function, FunctionSection,
    GlobalSection, GlobalType, ImportSection, Instruction as I, LinkingSection, MemArg,
    MemorySection, MemoryType, Module, NameMap, NameSection, RefType, SymbolTable, TableSection,
    TableType, TypeSection, ValType,
};

use super::function::{Writer, tick};
use super::world::{
    ADDRESS, ADDRESS_IN_DATA, CELL, CELLS, CELLS_OF_ALL, Choices, F64, FIRST, FUEL, I32, I64,
    IMPORTS, OFFSET, OWN, Pointer, RUN, Relocation, SIGNATURES, SLOT_IN_DATA, TEXTS, TEXTS_SIZE,
    World,
};

/// A program.
pub(super) struct Program {
    pub(super) linked: Vec<u8>,
    /// With the names that wasm-bindgen gives.
    pub(super) bound: Vec<u8>,
}

impl Program {
    /// A program that runs a function of two numbers and three more, which returns one.
    pub(super) fn with(instructions: &[I<'_>]) -> Self {
        let mut world = World::of(&mut Choices(&[]));
        world.functions[FIRST as usize + OWN.len()] = RUN;
        let function = |locals: u32, instructions: &[I<'_>]| {
            let mut function = Function::new([(locals, I32)]);
            for instruction in instructions {
                function.instruction(instruction);
            }
            function.instruction(&I::End);
            (function, Vec::new())
        };
        let call = I::Call(FIRST + OWN.len() as u32);
        let bodies = [
            function(0, &[I::LocalGet(0), I::LocalGet(1), call]),
            tick(),
            function(0, &[I::I32Const(0)]),
            function(3, instructions),
            function(0, &[I::I32Const(0)]),
        ];
        let bytes = written(&world, &bodies, &world.names);
        Self {
            linked: bytes.clone(),
            bound: bytes,
        }
    }

    /// A program of two functions, of which one, with the name of what only the page has, reads the same text as the other. Its
    /// first number says whether that one is run.
    pub(super) fn sharing() -> Self {
        let mut world = World::of(&mut Choices(&[]));
        let (own, other) = (FIRST + OWN.len() as u32, FIRST + OWN.len() as u32 + 1);
        for (function, name) in [(own, "deltascope_page::board::own::f"), (other, "a::f")] {
            world.functions[function as usize] = RUN;
            world.names[(function - FIRST) as usize] = name.to_owned();
        }
        // Long enough to be worth a move.
        world.symbols[0].size = TEXTS_SIZE;
        let function = |instructions: &[I<'_>]| {
            let mut function = Function::new([]);
            for instruction in instructions {
                function.instruction(instruction);
            }
            function
        };
        let reads = |offset: u64| {
            let mut function = function(&[]);
            function.raw([0x41]);
            let at = function.byte_len();
            let [one, two] = [TEXTS as u8 | 0x80, (TEXTS >> 7) as u8 | 0x80];
            function.raw([one, two, 0x80, 0x80, 0]);
            function.instruction(&I::I32Load8U(MemArg {
                offset,
                align: 0,
                memory_index: 0,
            }));
            function.instruction(&I::End);
            let (kind, symbol) = (ADDRESS, 0);
            (function, vec![Relocation { kind, at, symbol }])
        };
        let run = [
            I::LocalGet(0),
            I::LocalGet(1),
            I::LocalGet(0),
            I::If(BlockType::FunctionType(RUN as u32)),
            I::Call(own),
            I::Else,
            I::Call(other),
            I::End,
            I::End,
        ];
        let nothing = function(&[I::I32Const(0), I::End]);
        let bodies = [
            (function(&run), Vec::new()),
            tick(),
            (nothing, Vec::new()),
            reads(1),
            reads(2),
        ];
        let bytes = written(&world, &bodies, &world.names);
        Self {
            linked: bytes.clone(),
            bound: bytes,
        }
    }

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
