//! Writes the modules of the cut.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use wasm_encoder::reencode::{Reencode, RoundtripReencoder, utils};
use wasm_encoder::{
    CodeSection, ConstExpr, DataSection, ElementMode, ElementSection, ElementSegment, Elements,
    EntityType, ExportSection, Function, FunctionSection, GlobalSection, ImportSection,
    Instruction, MemorySection, TableSection,
};
use wasmparser::{ExternalKind, Operator};

use super::alike::alike;
use super::module::{Module, Segment};
use super::{Cut, Side, Stands};

/// The module from which the rest imports what the main part exports.
const MAIN: &str = "__wasm_split";
/// A call through the table takes some bytes more than a plain one. A function that is called more often has one function that
/// does it for all.
const FEW: usize = 4;
/// A hole in the table takes some bytes; a shorter one of other files is filled with something, which is written over.
const HOLE: u32 = 4;

const SIDES: usize = Side::ALL.len();
/// What wasm-bindgen's glue gives.
const GLUE: &str = "./deltascope_bg.js";

/// Less data than this stays: to go on behind a hole takes some bytes.
const SHORT: usize = 16;

pub(super) struct Cutter<'a> {
    module: Module<'a>,
    sides: Vec<Side>,
    /// The functions that it defines, in the order in which the files have them.
    order: Vec<u32>,
    /// How often the functions of each side call those of others.
    calls: [BTreeMap<u32, usize>; SIDES],
    /// What the others use.
    globals: BTreeSet<u32>,
    /// The slots of what is called from the other side, or through the table anyway.
    slot_of: BTreeMap<u32, u32>,
    size: u64,
    /// What each side writes into memory.
    data: [Vec<(u32, &'a [u8])>; SIDES],
}

impl<'a> Cutter<'a> {
    pub(super) fn new(
        module: Module<'a>,
        sides: Vec<Side>,
        places: &[(Range<u32>, Side)],
    ) -> Result<Self, String> {
        let mut calls = [const { BTreeMap::new() }; SIDES];
        let mut globals = BTreeSet::new();
        for (function, body) in module.defined() {
            let side = sides[function as usize];
            let mut reader = body
                .get_operators_reader()
                .map_err(|error| error.to_string())?;
            while !reader.eof() {
                match reader.read().map_err(|error| error.to_string())? {
                    Operator::Call { function_index } if sides[function_index as usize] != side => {
                        *calls[side as usize].entry(function_index).or_default() += 1;
                    }
                    Operator::GlobalGet { global_index } | Operator::GlobalSet { global_index }
                        if side != Side::Main =>
                    {
                        globals.insert(global_index);
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
        let mut size = module
            .tables
            .first()
            .ok_or("a program without a table")?
            .ty
            .initial;
        let mut slot_of: BTreeMap<u32, u32> = module
            .slots
            .iter()
            .rev()
            .map(|(&slot, &function)| (function, slot))
            .collect();
        // What the rest needs of JavaScript, it imports itself. Slots with functions of one type that lie side by side are told in few
        // bytes.
        let called: BTreeSet<u32> = calls
            .iter()
            .flat_map(|calls| calls.keys().copied())
            .collect();
        let is_new =
            |function: &u32| !module.is_imported(*function) && !slot_of.contains_key(function);
        let mut new: Vec<u32> = called.into_iter().filter(is_new).collect();
        new.sort_by_key(|function| (sides[*function as usize], module.ty(*function), *function));
        for function in new {
            slot_of.insert(function, size as u32);
            size += 1;
        }
        let data = parted(&module.data, places);
        let mut order = Vec::new();
        // One that counts is in one piece, and its functions are known by their order.
        let is_one = sides.iter().all(|side| *side == Side::Main);
        for side in Side::ALL {
            let of_it = module
                .defined()
                .filter(|(function, _)| sides[*function as usize] == side);
            if is_one {
                order.extend(of_it.map(|(function, _)| function));
            } else {
                let with_bytes = of_it.map(|(function, body)| (function, body.as_bytes()));
                order.extend(alike(with_bytes.collect()));
            }
        }
        Ok(Self {
            module,
            sides,
            order,
            calls,
            globals,
            slot_of,
            size,
            data,
        })
    }

    pub(super) fn cut(&self) -> Result<Cut, String> {
        let others = Side::OTHERS.map(|(side, name)| Ok((name, self.other(side)?)));
        let given = (0..).zip(&self.module.imports);
        let given = given.filter(|(_, import)| import.module == GLUE);
        let imports =
            given.map(|(function, import)| (import.name.to_owned(), self.import(function).1));
        Ok(Cut {
            main: self.main()?,
            others: others.into_iter().collect::<Result<_, String>>()?,
            imports: imports.collect(),
            stands: self.stands(),
        })
    }

    fn table(&self, at: usize) -> Result<wasm_encoder::TableType, String> {
        let ty = RoundtripReencoder.table_type(self.module.tables[at].ty);
        let mut ty = ty.map_err(|error| error.to_string())?;
        if at == 0 {
            (ty.minimum, ty.maximum) = (self.size, Some(self.size));
        }
        Ok(ty)
    }

    /// The module and the name of an imported function: the glue's have a short one.
    fn import(&self, function: u32) -> (&'a str, String) {
        let import = &self.module.imports[function as usize];
        let name = if import.module == GLUE {
            function.to_string()
        } else {
            import.name.to_owned()
        };
        (import.module, name)
    }

    fn is_of(&self, side: Side, function: u32) -> bool {
        self.sides[function as usize] == side
    }

    fn is_often(&self, side: Side, function: u32) -> bool {
        self.calls[side as usize]
            .get(&function)
            .is_some_and(|&calls| calls > FEW)
    }

    fn main(&self) -> Result<Vec<u8>, String> {
        let module = &self.module;
        // What only others import is not among these.
        let mut used: BTreeSet<u32> = module.slots.values().copied().collect();
        used.extend(
            module
                .exports
                .iter()
                .filter(|export| export.kind == ExternalKind::Func)
                .map(|export| export.index),
        );
        for (_, body) in module
            .defined()
            .filter(|(function, _)| self.is_of(Side::Main, *function))
        {
            for operator in body
                .get_operators_reader()
                .map_err(|error| error.to_string())?
            {
                if let Ok(Operator::Call { function_index }) = operator {
                    used.insert(function_index);
                }
            }
        }
        let mut calls = Calls::default();
        let mut imports = ImportSection::new();
        let mut next = 0;
        for (function, import) in (0..)
            .zip(&module.imports)
            .filter(|(function, _)| used.contains(function))
        {
            let (from, name) = self.import(function);
            imports.import(from, &name, EntityType::Function(import.ty));
            calls.functions.insert(function, Call::Plain(next));
            next += 1;
        }
        let mut functions = FunctionSection::new();
        for &function in &self.order {
            if self.is_of(Side::Main, function) || self.is_often(Side::Main, function) {
                calls.functions.insert(function, Call::Plain(next));
                functions.function(module.ty(function));
                next += 1;
            } else if let Some(&slot) = self.slot_of.get(&function) {
                calls.functions.insert(function, Call::Slot(slot));
            }
        }
        let mut tables = TableSection::new();
        for at in 0..module.tables.len() {
            tables.table(self.table(at)?);
        }
        let mut memories = MemorySection::new();
        for &memory in &module.memories {
            memories.memory(
                RoundtripReencoder
                    .memory_type(memory)
                    .map_err(|error| error.to_string())?,
            );
        }
        let mut globals = GlobalSection::new();
        for global in &module.globals {
            let ty = RoundtripReencoder
                .global_type(global.ty)
                .map_err(|error| error.to_string())?;
            let start = RoundtripReencoder
                .const_expr(global.init_expr.clone())
                .map_err(|error| error.to_string())?;
            globals.global(ty, &start);
        }
        let mut exports = ExportSection::new();
        for export in &module.exports {
            let index = match export.kind {
                ExternalKind::Func => calls.plain(export.index)?,
                _ => export.index,
            };
            exports.export(export.name, export.kind.into(), index);
        }
        for &global in &self.globals {
            if module.exported(ExternalKind::Global, global).is_none() {
                exports.export(&name_of(global), wasm_encoder::ExportKind::Global, global);
            }
        }
        let mut code = CodeSection::new();
        for &function in &self.order {
            if self.is_of(Side::Main, function) {
                code.function(&calls.body(module, module.body(function))?);
            } else if self.is_often(Side::Main, function) {
                code.function(&self.through(function)?);
            }
        }
        let mut out = wasm_encoder::Module::new();
        out.section(&module.type_section());
        out.section(&imports);
        out.section(&functions);
        out.section(&tables);
        out.section(&memories);
        out.section(&globals);
        out.section(&exports);
        out.section(&self.elements(&calls, Side::Main)?);
        out.section(&code);
        out.section(&written(&self.data[Side::Main as usize]));
        Ok(out.finish())
    }

    fn other(&self, side: Side) -> Result<Vec<u8>, String> {
        let module = &self.module;
        let mut calls = Calls::default();
        let mut imports = ImportSection::new();
        let mut next = 0;
        for (&function, _) in self.calls[side as usize]
            .iter()
            .filter(|&(&function, _)| module.is_imported(function))
        {
            let import = &module.imports[function as usize];
            let (from, name) = self.import(function);
            imports.import(from, &name, EntityType::Function(import.ty));
            calls.functions.insert(function, Call::Plain(next));
            next += 1;
        }
        for (at, &memory) in (0..).zip(&module.memories) {
            let ty = RoundtripReencoder
                .memory_type(memory)
                .map_err(|error| error.to_string())?;
            let name = module
                .exported(ExternalKind::Memory, at)
                .ok_or("a memory that is not exported")?;
            imports.import(MAIN, name, EntityType::Memory(ty));
        }
        for at in 0..module.tables.len() {
            let name = module
                .exported(ExternalKind::Table, at as u32)
                .ok_or("a table that is not exported")?;
            imports.import(MAIN, name, EntityType::Table(self.table(at)?));
        }
        for (index, &global) in (0..).zip(&self.globals) {
            let own = name_of(global);
            let name = module
                .exported(ExternalKind::Global, global)
                .unwrap_or(&own);
            let ty = RoundtripReencoder
                .global_type(module.globals[global as usize].ty)
                .map_err(|error| error.to_string())?;
            imports.import(MAIN, name, EntityType::Global(ty));
            calls.globals.insert(global, index);
        }
        let mut functions = FunctionSection::new();
        let mut own = |function: u32| {
            functions.function(module.ty(function));
            calls.functions.insert(function, Call::Plain(next));
            next += 1;
        };
        let often: Vec<u32> = self.calls[side as usize]
            .keys()
            .copied()
            .filter(|&function| !module.is_imported(function) && self.is_often(side, function))
            .collect();
        let mine = self.order.iter().copied();
        let mine = mine.filter(|&function| self.is_of(side, function));
        mine.clone().for_each(&mut own);
        often.iter().copied().for_each(&mut own);
        for &function in self.calls[side as usize].keys() {
            if let Some(&slot) = self.slot_of.get(&function) {
                calls.functions.entry(function).or_insert(Call::Slot(slot));
            }
        }
        let mut code = CodeSection::new();
        for function in mine {
            code.function(&calls.body(module, module.body(function))?);
        }
        for &function in &often {
            code.function(&self.through(function)?);
        }
        let mut out = wasm_encoder::Module::new();
        out.section(&module.type_section());
        out.section(&imports);
        out.section(&functions);
        out.section(&self.elements(&calls, side)?);
        out.section(&code);
        out.section(&written(&self.data[side as usize]));
        Ok(out.finish())
    }

    /// A function that calls another through the table.
    fn through(&self, function: u32) -> Result<Function, String> {
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
            type_index: ty,
            table_index: 0,
        });
        through.instruction(&Instruction::End);
        Ok(through)
    }

    /// The functions of one side in the table.
    fn elements(&self, calls: &Calls, side: Side) -> Result<ElementSection, String> {
        let mut all = self.module.slots.clone();
        all.extend(
            self.slot_of
                .iter()
                .map(|(&function, &slot)| (slot, function)),
        );
        let mut runs: Vec<(u32, Vec<u32>)> = Vec::new();
        for (&slot, &function) in &all {
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
                    && (end..slot).all(|slot| all.contains_key(&slot));
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

    fn stands(&self) -> Stands {
        let mut numbers: BTreeMap<(u32, usize), usize> = BTreeMap::new();
        let mut kinds = Vec::new();
        let mut all = self.module.slots.clone();
        all.extend(
            self.slot_of
                .iter()
                .map(|(&function, &slot)| (slot, function)),
        );
        let mut slots = Vec::new();
        for (slot, function) in all {
            let of = Side::OTHERS
                .iter()
                .position(|(side, _)| self.is_of(*side, function));
            let Some(of) = of else {
                continue;
            };
            let ty = self.module.ty(function);
            let number = *numbers.entry((ty, of)).or_insert_with(|| {
                let ty = &self.module.types[ty as usize];
                kinds.push((bytes_of(ty.params()), bytes_of(ty.results()), of));
                kinds.len() - 1
            });
            slots.push((slot, number));
        }
        Stands { kinds, slots }
    }
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

fn name_of(global: u32) -> String {
    format!("__cut_{global}")
}

fn bytes_of(types: &[wasmparser::ValType]) -> Vec<u8> {
    use wasm_encoder::Encode;
    let mut bytes = Vec::new();
    for &ty in types {
        if let Ok(ty) = RoundtripReencoder.val_type(ty) {
            ty.encode(&mut bytes);
        }
    }
    bytes
}

/// How a function is called.
#[derive(Clone, Copy)]
enum Call {
    Plain(u32),
    Slot(u32),
}

/// How the functions of a module call others, and where it has its globals.
#[derive(Default)]
struct Calls {
    functions: BTreeMap<u32, Call>,
    globals: BTreeMap<u32, u32>,
}

impl Calls {
    fn plain(&self, function: u32) -> Result<u32, String> {
        match self.functions.get(&function) {
            Some(Call::Plain(index)) => Ok(*index),
            _ => Err(format!("function {function} is not where it is needed")),
        }
    }

    fn body(
        &self,
        module: &Module<'_>,
        body: &wasmparser::FunctionBody<'_>,
    ) -> Result<Function, String> {
        self.rewritten(module, body)
            .map_err(|error| error.to_string())
    }

    fn rewritten(
        &self,
        module: &Module<'_>,
        body: &wasmparser::FunctionBody<'_>,
    ) -> Result<Function, Box<dyn std::error::Error>> {
        let mut same = RoundtripReencoder;
        let mut function = utils::new_function_with_parsed_locals(&mut same, body)?;
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
                            type_index: module.ty(function_index),
                            table_index: 0,
                        });
                    }
                    None => {
                        return Err(format!("function {function_index} cannot be called").into());
                    }
                },
                Operator::GlobalGet { global_index } => {
                    function.instruction(&Instruction::GlobalGet(self.global(global_index)));
                }
                Operator::GlobalSet { global_index } => {
                    function.instruction(&Instruction::GlobalSet(self.global(global_index)));
                }
                operator => {
                    function.instruction(&same.instruction(operator)?);
                }
            }
        }
        Ok(function)
    }

    /// The main part has all of them where they were.
    fn global(&self, global: u32) -> u32 {
        self.globals.get(&global).copied().unwrap_or(global)
    }
}
