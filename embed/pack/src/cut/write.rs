//! Writes the modules of the cut.

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
use super::types::{Types, values};
use super::{Cut, Side, Stands};

/// The module from which the rest imports what the main part exports.
const MAIN: &str = "main";
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
    /// Functions that are the same as another of their file, which stands for them.
    same: BTreeMap<u32, u32>,
    /// What is reached at all.
    used: BTreeSet<u32>,
    /// The functions of these that it defines, in the order in which the files have them.
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
        // One that counts is in one piece, and its functions are known by their order.
        let is_one = sides.iter().all(|side| *side == Side::Main);
        let same = if is_one {
            BTreeMap::new()
        } else {
            same(&module, &sides)
        };
        let one_for = |function: u32| same.get(&function).copied().unwrap_or(function);
        let exports = module.exports.iter();
        let exports = exports.filter(|export| export.kind == ExternalKind::Func);
        let exports = exports.map(|export| export.index);
        let roots = module.slots.values().copied().chain(exports);
        let mut used: BTreeSet<u32> = roots.map(one_for).collect();
        if is_one {
            used.extend(0..sides.len() as u32);
        }
        let mut left: Vec<u32> = used.iter().copied().collect();
        while let Some(function) = left.pop() {
            if module.is_imported(function) {
                continue;
            }
            let body = module.body(function);
            let side = sides[function as usize];
            let mut reader = body
                .get_operators_reader()
                .map_err(|error| error.to_string())?;
            while !reader.eof() {
                match reader.read().map_err(|error| error.to_string())? {
                    Operator::Call { function_index } => {
                        let called = one_for(function_index);
                        if used.insert(called) {
                            left.push(called);
                        }
                        if sides[called as usize] != side {
                            *calls[side as usize].entry(called).or_default() += 1;
                        }
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
        let mut order = Vec::new();
        for side in Side::ALL {
            let of_it = module.defined().filter(|(function, _)| {
                sides[*function as usize] == side && used.contains(function)
            });
            if is_one {
                order.extend(of_it.map(|(function, _)| function));
            } else {
                let with_type =
                    of_it.map(|(function, body)| (function, module.ty(function), body.as_bytes()));
                order.extend(alike(with_type));
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
            .map(|(&slot, &function)| (one_for(function), slot))
            .collect();
        // What the rest needs of JavaScript, it imports itself. Slots with functions of one type that lie side by side are told in few
        // bytes.
        let called: BTreeSet<u32> = calls
            .iter()
            .flat_map(|calls| calls.keys().copied())
            .collect();
        let is_new =
            |function: &u32| !module.is_imported(*function) && !slot_of.contains_key(function);
        let new = order
            .iter()
            .copied()
            .filter(|function| called.contains(function));
        let mut new: Vec<u32> = new.filter(is_new).collect();
        // Those of a type stay in the order of their file.
        new.sort_by_key(|function| (sides[*function as usize], module.ty(*function)));
        for function in new {
            slot_of.insert(function, size as u32);
            size += 1;
        }
        let data = parted(&module.data, places);
        Ok(Self {
            module,
            sides,
            same,
            used,
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
        let imports = given.map(|(function, import)| {
            let is_used = self.used.contains(&function);
            let name = is_used.then(|| self.import(function).1);
            (import.name.to_owned(), name)
        });
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
        for &function in self
            .order
            .iter()
            .filter(|&&function| self.is_of(Side::Main, function))
        {
            for operator in module
                .body(function)
                .get_operators_reader()
                .map_err(|error| error.to_string())?
            {
                if let Ok(Operator::Call { function_index }) = operator {
                    used.insert(function_index);
                }
            }
        }
        let mut calls = Calls::of(module);
        let mut imports = ImportSection::new();
        let mut next = 0;
        for (function, import) in (0..)
            .zip(&module.imports)
            .filter(|(function, _)| used.contains(function))
        {
            let (from, name) = self.import(function);
            imports.import(from, &name, EntityType::Function(calls.ty(import.ty)));
            calls.functions.insert(function, Call::Plain(next));
            next += 1;
        }
        let mut functions = FunctionSection::new();
        for &function in &self.order {
            if self.is_of(Side::Main, function) || self.is_often(Side::Main, function) {
                calls.functions.insert(function, Call::Plain(next));
                functions.function(calls.ty(module.ty(function)));
                next += 1;
            } else if let Some(&slot) = self.slot_of.get(&function) {
                calls.functions.insert(function, Call::Slot(slot));
            }
        }
        calls.stand_for(&self.same);
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
                code.function(&self.through(&mut calls, function)?);
            }
        }
        let mut out = wasm_encoder::Module::new();
        out.section(&calls.types.section());
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
        let mut calls = Calls::of(module);
        let mut imports = ImportSection::new();
        let mut next = 0;
        for (&function, _) in self.calls[side as usize]
            .iter()
            .filter(|&(&function, _)| module.is_imported(function))
        {
            let import = &module.imports[function as usize];
            let (from, name) = self.import(function);
            imports.import(from, &name, EntityType::Function(calls.ty(import.ty)));
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
            functions.function(calls.ty(module.ty(function)));
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
        calls.stand_for(&self.same);
        let mut code = CodeSection::new();
        for function in mine {
            code.function(&calls.body(module, module.body(function))?);
        }
        for &function in &often {
            code.function(&self.through(&mut calls, function)?);
        }
        let mut out = wasm_encoder::Module::new();
        out.section(&calls.types.section());
        out.section(&imports);
        out.section(&functions);
        out.section(&self.elements(&calls, side)?);
        out.section(&code);
        out.section(&written(&self.data[side as usize]));
        Ok(out.finish())
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

fn name_of(global: u32) -> String {
    format!("__cut_{global}")
}

fn bytes_of(types: &[wasmparser::ValType]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for ty in values(types) {
        ty.encode(&mut bytes);
    }
    bytes
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
            globals: BTreeMap::new(),
            all: &module.types,
            types: Types::default(),
        }
    }

    fn ty(&mut self, ty: u32) -> u32 {
        self.types.number(&self.all[ty as usize])
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
