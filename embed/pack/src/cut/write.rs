//! Writes the modules of the cut.
//!
//! The main one has memory, tables and globals; the others import these from it, under the names of its exports. A call of a function
//! of another file becomes one through the table, where each such function has a slot. What a file needs of JavaScript, it imports
//! itself. Its functions have other numbers than in the program: `Calls` knows them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use wasm_encoder::reencode::{Error, Reencode, RoundtripReencoder, utils};
use wasm_encoder::{
    CodeSection, ConstExpr, DataSection, ElementMode, ElementSection, ElementSegment, Elements,
    Encode, EntityType, ExportSection, Function, FunctionSection, GlobalSection, ImportSection,
    Instruction, MemorySection, TableSection,
};
use wasmparser::{ExternalKind, FuncType, Operator};

use super::alike::alike;
use super::module::{Module, Segment};
use super::types::{Types, encoded};
use super::{Cut, Side, Stands};

/// The module from which the others import what the main one exports.
const MAIN: &str = "main";
/// A call through the table takes some bytes more than a plain one. A function that is called more often has one function that
/// does it for all.
const FEW: usize = 4;
/// A hole in the table takes some bytes; a shorter one of other files is filled with something, which is written over.
const HOLE: u32 = 4;

const SIDES: usize = Side::ALL.len();
/// What wasm-bindgen's glue gives.
pub(crate) const GLUE: &str = "./deltascope_bg.js";
/// The name that the files have for it.
pub(crate) const GIVEN: &str = "g";
/// How the names of what the glue calls for an event begin.
const CLOSURE: &str = "wasm_bindgen__convert__closures_";

/// Less data than this stays: to go on behind a hole takes some bytes.
const SHORT: usize = 16;

/// A program that is to be cut.
pub(super) struct Cutter<'a> {
    module: Module<'a>,
    /// Where each function belongs.
    sides: Vec<Side>,
    /// Whether it stays in one piece: then nothing is left out, and functions are known by their order. One that counts does.
    is_one: bool,
    /// Functions that are the same as another of their file, which stands for them.
    same: BTreeMap<u32, u32>,
    /// What is reached at all.
    used: BTreeSet<u32>,
    /// How often the functions of each side call what is imported or of another side.
    calls: [BTreeMap<u32, usize>; SIDES],
    /// The globals that the others use.
    globals: BTreeSet<u32>,
    /// The functions that are used, in the order in which the files have them.
    order: Vec<u32>,
    /// The table: that of the program, and behind it what is called from another side.
    table: BTreeMap<u32, u32>,
    /// A slot of each function that has any.
    slot_of: BTreeMap<u32, u32>,
    /// What the glue gives, in the order of its names there.
    given: Vec<u32>,
    /// What each side writes into memory.
    data: [Vec<(u32, &'a [u8])>; SIDES],
}

impl<'a> Cutter<'a> {
    pub(super) fn new(
        module: Module<'a>,
        sides: Vec<Side>,
        places: &[(Range<u32>, Side)],
    ) -> Result<Self, String> {
        if module.tables.is_empty() {
            return Err("a program without a table".to_owned());
        }
        let is_one = sides.iter().all(|side| *side == Side::Main);
        let mut cutter = Self {
            is_one,
            same: if is_one {
                BTreeMap::new()
            } else {
                same(&module, &sides)
            },
            used: BTreeSet::new(),
            calls: [const { BTreeMap::new() }; SIDES],
            globals: BTreeSet::new(),
            order: Vec::new(),
            table: module.slots.clone(),
            slot_of: BTreeMap::new(),
            given: Vec::new(),
            data: parted(&module.data, places),
            module,
            sides,
        };
        cutter.follow()?;
        cutter.place_given();
        cutter.arrange();
        cutter.give_slots();
        Ok(cutter)
    }

    fn one_for(&self, function: u32) -> u32 {
        self.same.get(&function).copied().unwrap_or(function)
    }

    fn is_of(&self, side: Side, function: u32) -> bool {
        self.sides[function as usize] == side
    }

    /// Finds what is used, from the table and the exports on.
    fn follow(&mut self) -> Result<(), String> {
        let exports = self.module.exports.iter();
        let exports = exports.filter(|export| export.kind == ExternalKind::Func);
        let exports = exports.map(|export| export.index);
        let roots = self.module.slots.values().copied().chain(exports);
        let mut left: Vec<u32> = roots.map(|function| self.one_for(function)).collect();
        for &function in left.iter().filter(|&&one| self.module.is_imported(one)) {
            self.calls[Side::Main as usize].insert(function, 0);
        }
        if self.is_one {
            left.extend(0..self.sides.len() as u32);
        }
        while let Some(function) = left.pop() {
            if !self.used.insert(function) || self.module.is_imported(function) {
                continue;
            }
            let side = self.sides[function as usize];
            let operators = self.module.body(function).get_operators_reader();
            for operator in operators.map_err(|error| error.to_string())? {
                match operator.map_err(|error| error.to_string())? {
                    Operator::Call { function_index } => {
                        let called = self.one_for(function_index);
                        left.push(called);
                        if self.module.is_imported(called) || !self.is_of(side, called) {
                            *self.calls[side as usize].entry(called).or_default() += 1;
                        }
                    }
                    Operator::GlobalGet { global_index } | Operator::GlobalSet { global_index }
                        if side != Side::Main =>
                    {
                        self.globals.insert(global_index);
                    }
                    Operator::RefFunc { .. }
                    | Operator::ReturnCall { .. }
                    | Operator::MemoryInit { .. }
                    | Operator::DataDrop { .. }
                    | Operator::TableInit { .. }
                    | Operator::ElemDrop { .. } => {
                        return Err("an instruction that the cut does not know".to_owned());
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Puts the functions of each side in an order.
    fn arrange(&mut self) {
        for side in Side::ALL {
            let module = &self.module;
            let of_it = module
                .defined()
                .filter(|(function, _)| self.is_of(side, *function) && self.used.contains(function))
                .map(|(function, body)| (function, module.ty(function), body.as_bytes()));
            let of_it: Vec<u32> = if self.is_one {
                of_it.map(|(function, ..)| function).collect()
            } else {
                alike(of_it)
            };
            self.order.extend(of_it);
        }
    }

    /// Gives a slot to what is called from another side and has none.
    fn give_slots(&mut self) {
        for (&slot, &function) in &self.module.slots {
            let one = self.one_for(function);
            self.slot_of.entry(one).or_insert(slot);
        }
        let called = |function: &u32| self.calls.iter().any(|calls| calls.contains_key(function));
        let new = self.order.iter().copied();
        let new = new.filter(|function| called(function) && !self.slot_of.contains_key(function));
        let mut new: Vec<u32> = new.collect();
        // Slots with functions of one type that lie side by side are told in few bytes; those of a type stay in the order of their file.
        new.sort_by_key(|function| (self.sides[*function as usize], self.module.ty(*function)));
        let first = self
            .module
            .tables
            .first()
            .map_or(0, |table| table.ty.initial) as u32;
        for (slot, function) in (first..).zip(new) {
            self.slot_of.insert(function, slot);
            self.table.insert(slot, function);
        }
    }

    pub(super) fn cut(&self) -> Result<Cut, String> {
        let others = Side::OTHERS.map(|(side, name)| Ok((name, self.file(side)?)));
        let imports = self.given.iter();
        let imports = imports.map(|&function| self.module.imports[function as usize].name);
        Ok(Cut {
            main: self.file(Side::Main)?,
            others: others.into_iter().collect::<Result<_, String>>()?,
            imports: imports.map(str::to_owned).collect(),
            closures: self.closures().map(str::to_owned).collect(),
            stands: self.stands()?,
        })
    }

    /// The module of a side.
    fn file(&self, side: Side) -> Result<Vec<u8>, String> {
        let module = &self.module;
        let called = &self.calls[side as usize];
        let mut calls = Calls::of(module);
        let mut imports = ImportSection::new();
        for &function in called.keys().filter(|&&one| module.is_imported(one)) {
            let (from, name) = self.import(function);
            let ty = calls.ty(module.ty(function));
            imports.import(from, &name, EntityType::Function(ty));
            calls.number(function);
        }
        let mine = self.order.iter().copied();
        let mine = mine.filter(|&function| self.is_of(side, function));
        let often = called.iter().filter(|&(_, &calls)| calls > FEW);
        let often = often.map(|(&function, _)| function);
        let often: Vec<u32> = often.filter(|&one| !module.is_imported(one)).collect();
        let mut functions = FunctionSection::new();
        for function in mine.clone().chain(often.iter().copied()) {
            functions.function(calls.ty(module.ty(function)));
            calls.number(function);
        }
        for function in called.keys() {
            if let Some(&slot) = self.slot_of.get(function) {
                let call = calls.functions.entry(*function);
                call.or_insert(Call::Slot(slot));
            }
        }
        calls.stand_for(&self.same);
        if side != Side::Main {
            self.import_from_main(&mut imports, &mut calls)?;
        }
        let mut code = CodeSection::new();
        for function in mine {
            code.function(&calls.body(module, module.body(function))?);
        }
        for &function in &often {
            code.function(&self.through(&mut calls, function)?);
        }
        let mut out = wasm_encoder::Module::new();
        out.section(&calls.types.section()?);
        out.section(&imports);
        out.section(&functions);
        if side == Side::Main {
            self.define(&mut out, &calls)?;
        }
        out.section(&self.elements(&calls, side)?);
        out.section(&code);
        out.section(&written(&self.data[side as usize]));
        Ok(out.finish())
    }

    /// What all modules share, as the main one has it, and what it exports.
    fn define(&self, out: &mut wasm_encoder::Module, calls: &Calls<'_>) -> Result<(), String> {
        let module = &self.module;
        let mut tables = TableSection::new();
        for at in 0..module.tables.len() {
            tables.table(self.table(at)?);
        }
        let mut memories = MemorySection::new();
        for &memory in &module.memories {
            let ty = RoundtripReencoder.memory_type(memory);
            memories.memory(ty.map_err(|error| error.to_string())?);
        }
        let mut globals = GlobalSection::new();
        for global in &module.globals {
            let start = RoundtripReencoder.const_expr(global.init_expr.clone());
            let start = start.map_err(|error| error.to_string())?;
            globals.global(global_type(global.ty)?, &start);
        }
        let mut exports = ExportSection::new();
        for export in &module.exports {
            let index = match export.kind {
                ExternalKind::Func => calls.plain(export.index)?,
                _ => export.index,
            };
            let closure = self.closures().position(|name| name == export.name);
            let name = closure.map_or_else(|| export.name.to_owned(), closure_name);
            exports.export(&name, export.kind.into(), index);
        }
        for &global in &self.globals {
            if module.exported(ExternalKind::Global, global).is_none() {
                exports.export(&name_of(global), wasm_encoder::ExportKind::Global, global);
            }
        }
        out.section(&tables);
        out.section(&memories);
        out.section(&globals);
        out.section(&exports);
        Ok(())
    }

    /// The same, as the others have it.
    fn import_from_main(
        &self,
        imports: &mut ImportSection,
        calls: &mut Calls<'_>,
    ) -> Result<(), String> {
        let module = &self.module;
        let named = |kind: ExternalKind, at: u32| {
            let name = module.exported(kind, at);
            name.ok_or_else(|| format!("{kind:?} {at} is not exported"))
        };
        for (at, &memory) in (0..).zip(&module.memories) {
            let ty = RoundtripReencoder.memory_type(memory);
            let ty = ty.map_err(|error| error.to_string())?;
            let name = named(ExternalKind::Memory, at)?;
            imports.import(MAIN, name, EntityType::Memory(ty));
        }
        for at in 0..module.tables.len() {
            let name = named(ExternalKind::Table, at as u32)?;
            imports.import(MAIN, name, EntityType::Table(self.table(at)?));
        }
        for (index, &global) in (0..).zip(&self.globals) {
            let own = name_of(global);
            let name = module.exported(ExternalKind::Global, global);
            let ty = global_type(module.globals[global as usize].ty)?;
            imports.import(MAIN, name.unwrap_or(&own), EntityType::Global(ty));
            calls.globals.insert(global, index);
        }
        Ok(())
    }

    fn table(&self, at: usize) -> Result<wasm_encoder::TableType, String> {
        let ty = RoundtripReencoder.table_type(self.module.tables[at].ty);
        let mut ty = ty.map_err(|error| error.to_string())?;
        if at == 0 {
            let last = self.table.last_key_value().map_or(0, |(&slot, _)| slot);
            let size = ty.minimum.max(u64::from(last) + 1);
            (ty.minimum, ty.maximum) = (size, Some(size));
        }
        Ok(ty)
    }

    /// Gives what is imported from the glue its place there. In the order of the names, texts that are alike stand together.
    fn place_given(&mut self) {
        let imports = (0..).zip(&self.module.imports);
        let imports = imports.filter(|(function, _)| self.used.contains(function));
        let mut given: Vec<_> = imports
            .filter(|(_, import)| import.module == GLUE)
            .map(|(function, import)| (import.name, function))
            .collect();
        given.sort_unstable();
        self.given = given.into_iter().map(|(_, function)| function).collect();
    }

    /// What is exported for the glue's closures.
    fn closures(&self) -> impl Iterator<Item = &'a str> {
        let names = self.module.exports.iter().map(|export| export.name);
        names.filter(|name| name.starts_with(CLOSURE))
    }

    /// The module and the name of an imported function: of the glue's, its place.
    fn import(&self, function: u32) -> (&'a str, String) {
        let import = &self.module.imports[function as usize];
        let place = self.given.iter().position(|&given| given == function);
        match place {
            Some(place) => (GIVEN, place.to_string()),
            None => (import.module, import.name.to_owned()),
        }
    }

    /// A function that calls another through the table.
    fn through(&self, calls: &mut Calls<'_>, function: u32) -> Result<Function, String> {
        let ty = self.module.ty(function);
        let slot = self
            .slot_of
            .get(&function)
            .ok_or("a function without a slot")?;
        let mut through = Function::new([]);
        for at in 0..self.module.types[ty as usize].params().len() {
            through.instruction(&Instruction::LocalGet(at as u32));
        }
        through.instruction(&Instruction::I32Const(*slot as i32));
        through.instruction(&Instruction::CallIndirect {
            type_index: calls.ty(ty),
            table_index: 0,
        });
        through.instruction(&Instruction::End);
        Ok(through)
    }

    /// The functions of one side in the table.
    fn elements(&self, calls: &Calls<'_>, side: Side) -> Result<ElementSection, String> {
        let mut runs: Vec<(u32, Vec<u32>)> = Vec::new();
        for (&slot, &function) in &self.table {
            if !self.is_of(side, function) {
                continue;
            }
            let index = calls.plain(function)?;
            if let Some((first, run)) = runs.last_mut() {
                let end = *first + run.len() as u32;
                let hole = slot - end;
                // What is another file's is put there before anything runs; other holes stay.
                let is_filled = side == Side::Main
                    && hole < HOLE
                    && (end..slot).all(|slot| self.table.contains_key(&slot));
                if hole == 0 || is_filled {
                    run.extend((0..hole).map(|_| index));
                    run.push(index);
                    continue;
                }
            }
            runs.push((slot, vec![index]));
        }
        let mut section = ElementSection::new();
        for (first, run) in runs {
            section.segment(ElementSegment {
                mode: ElementMode::Active {
                    table: None,
                    offset: &ConstExpr::i32_const(first as i32),
                },
                elements: Elements::Functions(run.into()),
            });
        }
        Ok(section)
    }

    fn stands(&self) -> Result<Stands, String> {
        let mut numbers: BTreeMap<(u32, usize), usize> = BTreeMap::new();
        let mut kinds = Vec::new();
        let mut slots = Vec::new();
        for (&slot, &function) in &self.table {
            let of = Side::OTHERS
                .iter()
                .position(|(side, _)| self.is_of(*side, function));
            let Some(of) = of else {
                continue;
            };
            let ty = self.module.ty(function);
            let number = match numbers.get(&(ty, of)) {
                Some(&number) => number,
                None => {
                    let ty = &self.module.types[ty as usize];
                    kinds.push((bytes_of(ty.params())?, bytes_of(ty.results())?, of));
                    kinds.len() - 1
                }
            };
            numbers.insert((ty, of), number);
            slots.push((slot, number));
        }
        Ok(Stands { kinds, slots })
    }
}

/// The functions of each file with the same type and the same instructions as one before them, and that one.
fn same(module: &Module<'_>, sides: &[Side]) -> BTreeMap<u32, u32> {
    let mut ones = BTreeMap::new();
    let pairs = module.defined().filter_map(|(function, body)| {
        let what = (
            sides[function as usize],
            module.ty(function),
            body.as_bytes(),
        );
        let one = *ones.entry(what).or_insert(function);
        (one != function).then_some((function, one))
    });
    pairs.collect()
}

fn written(segments: &[(u32, &[u8])]) -> DataSection {
    let mut section = DataSection::new();
    for (address, bytes) in segments {
        section.active(
            0,
            &ConstExpr::i32_const(*address as i32),
            bytes.iter().copied(),
        );
    }
    section
}

/// The data of each side.
fn parted<'a>(
    data: &[Segment<'a>],
    places: &[(Range<u32>, Side)],
) -> [Vec<(u32, &'a [u8])>; SIDES] {
    let mut parts = [const { Vec::new() }; SIDES];
    for segment in data {
        let end = segment.address + segment.bytes.len() as u32;
        let mut put = |side: Side, from: u32, to: u32| {
            if from < to {
                let bytes = &segment.bytes
                    [(from - segment.address) as usize..(to - segment.address) as usize];
                parts[side as usize].push((from, bytes));
            }
        };
        let mut from = segment.address;
        let inside = places.iter().filter(|(range, _)| {
            range.start >= segment.address && range.end <= end && range.len() >= SHORT
        });
        for (range, side) in inside {
            put(Side::Main, from, range.start);
            put(*side, range.start, range.end);
            from = range.end;
        }
        put(Side::Main, from, end);
    }
    parts
}

/// The short name of what is exported for a closure.
pub(crate) fn closure_name(place: usize) -> String {
    format!("closure{place}")
}

fn name_of(global: u32) -> String {
    format!("__cut_{global}")
}

fn global_type(ty: wasmparser::GlobalType) -> Result<wasm_encoder::GlobalType, String> {
    let ty = RoundtripReencoder.global_type(ty);
    ty.map_err(|error| error.to_string())
}

fn bytes_of(types: &[wasmparser::ValType]) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    for ty in encoded(types)? {
        ty.encode(&mut bytes);
    }
    Ok(bytes)
}

/// How a function is called.
#[derive(Clone, Copy)]
enum Call {
    Plain(u32),
    Slot(u32),
}

/// How the functions of a module call others, and where it has its globals and types.
struct Calls<'m> {
    functions: BTreeMap<u32, Call>,
    /// How many functions have numbers.
    count: u32,
    globals: BTreeMap<u32, u32>,
    /// Those of the program, and which of them the module uses.
    all: &'m [FuncType],
    types: Types,
}

impl Reencode for Calls<'_> {
    type Error = std::convert::Infallible;

    fn type_index(&mut self, ty: u32) -> Result<u32, Error<Self::Error>> {
        Ok(self.ty(ty))
    }

    /// The main part has all of them where they were.
    fn global_index(&mut self, global: u32) -> Result<u32, Error<Self::Error>> {
        Ok(self.globals.get(&global).copied().unwrap_or(global))
    }
}

impl<'m> Calls<'m> {
    fn of(module: &'m Module<'_>) -> Self {
        Self {
            functions: BTreeMap::new(),
            count: 0,
            globals: BTreeMap::new(),
            all: &module.types,
            types: Types::default(),
        }
    }

    fn ty(&mut self, ty: u32) -> u32 {
        self.types.number(&self.all[ty as usize])
    }

    /// Gives a function the next number.
    fn number(&mut self, function: u32) {
        self.functions.insert(function, Call::Plain(self.count));
        self.count += 1;
    }

    /// Calls one function in place of those that are the same.
    fn stand_for(&mut self, same: &BTreeMap<u32, u32>) {
        for (&function, one) in same {
            if let Some(&call) = self.functions.get(one) {
                self.functions.insert(function, call);
            }
        }
    }

    fn plain(&self, function: u32) -> Result<u32, String> {
        match self.functions.get(&function) {
            Some(Call::Plain(index)) => Ok(*index),
            _ => Err(format!("function {function} is not where it is needed")),
        }
    }

    fn body(
        &mut self,
        module: &Module<'_>,
        body: &wasmparser::FunctionBody<'_>,
    ) -> Result<Function, String> {
        self.rewritten(module, body)
            .map_err(|error| error.to_string())
    }

    fn rewritten(
        &mut self,
        module: &Module<'_>,
        body: &wasmparser::FunctionBody<'_>,
    ) -> Result<Function, Box<dyn std::error::Error>> {
        let mut function = utils::new_function_with_parsed_locals(self, body)?;
        let mut reader = body.get_operators_reader()?;
        while !reader.eof() {
            match reader.read()? {
                Operator::Call { function_index } => match self.functions.get(&function_index) {
                    Some(&Call::Plain(index)) => {
                        function.instruction(&Instruction::Call(index));
                    }
                    Some(&Call::Slot(slot)) => {
                        function.instruction(&Instruction::I32Const(slot as i32));
                        function.instruction(&Instruction::CallIndirect {
                            type_index: self.ty(module.ty(function_index)),
                            table_index: 0,
                        });
                    }
                    None => {
                        return Err(format!("function {function_index} cannot be called").into());
                    }
                },
                operator => {
                    function.instruction(&self.instruction(operator)?);
                }
            }
        }
        Ok(function)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use wasm_encoder::{CodeSection, Function, FunctionSection, Instruction, TypeSection, ValType};

    use super::{Module, Side, same};

    #[test]
    fn functions_of_a_file_are_the_same_if_type_and_instructions_are() {
        let mut types = TypeSection::new();
        types.ty().function([], []);
        types.ty().function([ValType::I32], []);
        let (mut functions, mut code) = (FunctionSection::new(), CodeSection::new());
        for (ty, instructions) in [(0, 1), (0, 2), (0, 1), (1, 1), (0, 1), (0, 1)] {
            functions.function(ty);
            let mut body = Function::new([]);
            for _ in 1..instructions {
                body.instruction(&Instruction::Nop);
            }
            body.instruction(&Instruction::End);
            code.function(&body);
        }
        let mut module = wasm_encoder::Module::new();
        module.section(&types).section(&functions).section(&code);
        let bytes = module.finish();
        let mut sides = vec![Side::Main; 6];
        sides[4] = Side::Rest;
        let found = same(&Module::read(&bytes).unwrap(), &sides);
        assert_eq!(found, BTreeMap::from([(2, 0), (5, 0)]));
    }
}
