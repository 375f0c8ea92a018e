//! What the functions of a program that is made by chance can name.

use wasm_encoder::ValType;

pub(super) const I32: ValType = ValType::I32;
pub(super) const I64: ValType = ValType::I64;
pub(super) const F64: ValType = ValType::F64;
pub(super) const REF: ValType = ValType::EXTERNREF;
pub(super) const KINDS: [ValType; 6] = [I32, I32, I64, I32, F64, REF];

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

    pub(super) fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// Parameters and results.
pub(super) type Signature = (&'static [ValType], &'static [ValType]);
pub(super) const SIGNATURES: [Signature; 9] = [
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
pub(super) const TICK: usize = 0;
pub(super) const NOTHING: usize = 1;
pub(super) const THING: usize = 2;
pub(super) const LOG: usize = 3;
pub(super) const RUN: usize = 4;

/// What it imports: module, name, signature.
pub(super) const IMPORTS: [(&str, &str, usize); 4] = [
    ("./deltascope_bg.js", "log", LOG),
    ("./deltascope_bg.js", "thing", THING),
    ("./deltascope_bg.js", "nobody", NOTHING),
    ("other", "number", TICK),
];
pub(super) const FIRST: u32 = IMPORTS.len() as u32;
/// Those that every program defines first: the one that is run, one that says whether no fuel is left, and one that only an
/// export without a user reaches.
pub(super) const OWN: [(&str, usize); 3] = [("run", RUN), ("tick", TICK), ("gone", RUN)];

/// Globals: the fuel, and one of each kind; only the first two are exported.
pub(super) const FUEL: u32 = 0;
pub(super) const GLOBALS: [(u32, ValType); 3] = [(1, I32), (2, I64), (3, F64)];

/// Where things are in memory: first what nobody has the address of.
pub(super) const SCRATCH: i32 = 64;
pub(super) const TEXTS: u32 = 1024;
pub(super) const TEXTS_SIZE: u32 = 64;
/// Data with addresses.
pub(super) const POINTERS: u32 = TEXTS + TEXTS_SIZE;
pub(super) const POINTERS_OF_EACH: u32 = 6;
pub(super) const TABLES: usize = 3;
pub(super) const CELLS: u32 = 2048;
pub(super) const CELL: u32 = 24;
pub(super) const CELLS_OF_ALL: usize = 3;

/// Data that has a name: where, and how long.
#[derive(Clone, Copy)]
pub(super) struct Symbol {
    pub(super) address: u32,
    pub(super) size: u32,
}

/// What data has the address of.
#[derive(Clone, Copy)]
pub(super) enum Pointer {
    Data(usize),
    Slot(u32),
}

/// A place in a function or in data, by its distance from the begin, that has the address or number of something: the kind of the
/// relocation, and the symbol.
pub(super) struct Relocation {
    pub(super) kind: u8,
    pub(super) at: usize,
    pub(super) symbol: usize,
}
pub(super) const CALL: u8 = 0;
pub(super) const SLOT: u8 = 1;
pub(super) const SLOT_IN_DATA: u8 = 2;
pub(super) const OFFSET: u8 = 3;
pub(super) const ADDRESS: u8 = 4;
pub(super) const ADDRESS_IN_DATA: u8 = 5;

/// What functions can name.
pub(super) struct World {
    /// The signature of each function, with those that are imported.
    pub(super) functions: Vec<usize>,
    pub(super) names: Vec<String>,
    /// Functions with slots: from 1 on.
    pub(super) slots: Vec<u32>,
    /// Texts, tables and cells.
    pub(super) symbols: Vec<Symbol>,
    pub(super) tables: Vec<Vec<Pointer>>,
}

impl World {
    pub(super) fn of(choices: &mut Choices<'_>) -> Self {
        let mut functions: Vec<usize> = IMPORTS.iter().map(|(_, _, ty)| *ty).collect();
        functions.extend(OWN.iter().map(|(_, ty)| *ty));
        let mut names: Vec<String> = OWN.iter().map(|(name, _)| (*name).to_owned()).collect();
        for number in 0..2 + choices.below(5) {
            functions.push(choices.below(SIGNATURES.len()));
            names.push(match choices.below(8) {
                1 | 2 => format!("deltascope_page::board::own::f{number}"),
                // Two may have one name.
                3 => "several".to_owned(),
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

    pub(super) fn signature(&self, function: u32) -> Signature {
        SIGNATURES[self.functions[function as usize]]
    }
}
