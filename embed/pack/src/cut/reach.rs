//! What can run before other files are there: a function that nothing else than theirs calls, or has the address of, can come with them.
//!
//! The list tells functions by their paths and instructions, and generic ones have those of all their instances. So what the list does not
//! know is not always what runs.

use std::collections::{BTreeMap, BTreeSet};

use wasmparser::{ExternalKind, Operator};

use super::Side;
use super::data::Uses;
use super::linked::Target;
use super::module::Module;

/// Who calls whom, or has its address.
pub(super) struct Reach<'a> {
    module: &'a Module<'a>,
    calls: BTreeMap<u32, BTreeSet<u32>>,
    /// By name, for the linker and wasm-bindgen number functions in other ways: what a function uses, and on which side.
    uses: &'a Uses<'a>,
    numbers: BTreeMap<&'a str, Vec<u32>>,
    /// What functions have the addresses of that wasm-bindgen has given other names: those that JavaScript calls.
    known: Vec<Target<'a>>,
}

/// The functions with these names describe others to wasm-bindgen, which takes them away.
const DESCRIBES: &str = "__wbindgen_describe";

impl<'a> Reach<'a> {
    pub(super) fn new(module: &'a Module<'a>, uses: &'a Uses<'a>) -> Result<Self, String> {
        let mut calls: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for (function, body) in module.defined() {
            let operators = body.get_operators_reader();
            for operator in operators.map_err(|error| error.to_string())? {
                let operator = operator.map_err(|error| error.to_string())?;
                if let Operator::Call { function_index } = operator {
                    calls.entry(function).or_default().insert(function_index);
                }
            }
        }
        let mut numbers: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for (&number, &name) in &module.names {
            numbers.entry(linked(name)).or_default().push(number);
        }
        let renamed = uses.functions.iter();
        let renamed = renamed
            .filter(|(name, _)| !numbers.contains_key(*name) && !name.starts_with(DESCRIBES));
        let known = renamed.flat_map(|(_, uses)| uses.iter().map(|(_, target)| *target));
        Ok(Self {
            module,
            calls,
            uses,
            known: known.collect(),
            numbers,
        })
    }

    /// Moves what no list has placed, and of the rest what only the page reaches.
    ///
    /// # Errors
    /// A function runs for a first picture, and nothing reaches it: then more may be overlooked.
    pub(super) fn place(&self, sides: &mut [Side]) -> Result<(), String> {
        use Side::{Element, Main, More, Own, Page, Rest, Seldom};
        let all = self.without(&[], sides);
        // A stretch has no name: something reaches it if that reaches what it was taken from.
        let mut named = self.module.names.iter();
        let lost = named.find(|(function, _)| {
            matches!(sides[**function as usize], Page | Element | More) && !all.contains(function)
        });
        if let Some((function, name)) = lost {
            return Err(format!("nothing reaches {name}, function {function}"));
        }
        for (from, to, others) in [
            (Main, Rest, &[Rest, Own, Seldom][..]),
            (Rest, Own, &[Own]),
            (Rest, Seldom, &[Seldom]),
            (Own, Seldom, &[Seldom]),
            (Main, Page, &[Page, Rest, Own, Seldom]),
            (Main, Element, &[Element, Rest, Own, Seldom]),
        ] {
            let reached = self.without(others, sides);
            for (function, _) in self.module.defined() {
                let side = &mut sides[function as usize];
                if *side == from && !reached.contains(&function) {
                    *side = to;
                }
            }
        }
        Ok(())
    }

    /// What can be reached without the functions of some sides.
    fn without(&self, others: &[Side], sides: &[Side]) -> BTreeSet<u32> {
        let exports = self.module.exports.iter();
        let exported = exports.filter(|export| export.kind == ExternalKind::Func);
        let mut left: Vec<u32> = exported.map(|export| export.index).collect();
        let mut reached: BTreeSet<u32> = left.iter().copied().collect();
        let mut symbols = BTreeSet::new();
        let mut targets: Vec<&Target<'a>> = self.known.iter().collect();
        while let Some(function) = left.pop() {
            if others.contains(&sides[function as usize]) {
                continue;
            }
            let mut found: Vec<u32> = self
                .calls
                .get(&function)
                .into_iter()
                .flatten()
                .copied()
                .collect();
            let name = self.module.names.get(&function);
            let uses = name.and_then(|name| self.uses.functions.get(linked(name)));
            let uses = uses.into_iter().flatten();
            let uses = uses.filter(|(side, _)| !side.is_some_and(|side| others.contains(&side)));
            targets.extend(uses.map(|(_, target)| target));
            while let Some(target) = targets.pop() {
                match target {
                    Target::Function(name) => {
                        found.extend(self.numbers.get(name).into_iter().flatten())
                    }
                    Target::Data(symbol) => {
                        if symbols.insert(*symbol) {
                            targets.extend(self.uses.data.get(symbol).into_iter().flatten());
                        }
                    }
                }
            }
            left.extend(
                found
                    .into_iter()
                    .filter(|&function| reached.insert(function)),
            );
        }
        reached
    }
}

/// The name that the linker has given: wasm-bindgen numbers those that several functions have.
fn linked(name: &str) -> &str {
    let number = name
        .strip_suffix(']')
        .and_then(|name| name.rsplit_once('['));
    match number {
        Some((name, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use wasm_encoder::{
        CodeSection, ExportKind, ExportSection, Function, FunctionSection, Instruction, NameMap,
        NameSection, TypeSection,
    };

    use super::{Module, Reach, Side, Target, Uses};

    /// A program of functions, each with its name and what it calls. The first one is exported.
    fn program(functions: &[(&str, &[u32])]) -> Vec<u8> {
        let (mut types, mut indices) = (TypeSection::new(), FunctionSection::new());
        let (mut code, mut names) = (CodeSection::new(), NameMap::new());
        types.ty().function([], []);
        for (number, (name, calls)) in (0..).zip(functions) {
            indices.function(0);
            names.append(number, name);
            let mut function = Function::new([]);
            for call in *calls {
                function.instruction(&Instruction::Call(*call));
            }
            function.instruction(&Instruction::End);
            code.function(&function);
        }
        let (mut exports, mut named) = (ExportSection::new(), NameSection::new());
        exports.export("main", ExportKind::Func, 0);
        named.functions(&names);
        let mut module = wasm_encoder::Module::new();
        module.section(&types).section(&indices).section(&exports);
        module.section(&code).section(&named);
        module.finish()
    }

    #[test]
    fn what_only_others_reach_comes_with_them() {
        let bytes = program(&[
            ("main", &[1, 9]),
            ("called", &[2]),
            ("rest", &[3]),
            ("one", &[]),
            ("one[1]", &[]),
            ("in data", &[]),
            ("in a stretch", &[]),
            ("own", &[8]),
            ("of own", &[]),
            ("page", &[10, 3]),
            ("of the page", &[]),
        ]);
        let module = Module::read(&bytes).unwrap();
        let uses = Uses {
            functions: BTreeMap::from([
                (
                    "main",
                    vec![
                        (None, Target::Data(0)),
                        (Some(Side::Rest), Target::Function("in a stretch")),
                        (Some(Side::Rest), Target::Function("own")),
                    ],
                ),
                ("rest", vec![(None, Target::Function("one"))]),
            ]),
            data: BTreeMap::from([(0, vec![Target::Function("in data")])]),
        };
        let mut sides = [Side::Main; 11];
        sides[2] = Side::Rest;
        sides[7] = Side::Own;
        sides[9] = Side::Page;
        let reach = Reach::new(&module, &uses).unwrap();
        reach.place(&mut sides).unwrap();
        use Side::{Main, Own, Page, Rest};
        let expected = [
            Main, Main, Rest, Page, Rest, Main, Rest, Own, Own, Page, Page,
        ];
        assert_eq!(sides, expected);
    }
}
