//! Which data only the rest of the program uses.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::Side;
use super::linked::{Linked, Target};
use super::outline::Taken;

/// What functions, by their names, and data, by its symbols, have the addresses of.
pub(super) struct Uses<'a> {
    /// Each use with the side where it is, if it was `taken` out of the function.
    pub(super) functions: BTreeMap<&'a str, Vec<(Option<Side>, Target<'a>)>>,
    pub(super) data: BTreeMap<u32, Vec<Target<'a>>>,
}

impl<'a> Uses<'a> {
    pub(super) fn of(
        linked: &'a Linked<'_>,
        taken: &BTreeMap<&str, &Taken>,
    ) -> Result<Self, String> {
        let mut functions: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (name, body) in linked.functions() {
            let stretches = match taken.get(name) {
                // wasm-bindgen writes some functions anew.
                Some(taken) if linked.kinds(body)? == taken.of => {
                    linked.bytes_of(body, &taken.stretches)?
                }
                _ => Vec::new(),
            };
            let uses = linked.uses_of(body).into_iter().map(|one| {
                let taken = stretches.iter().find(|(range, _)| range.contains(&one.at));
                (taken.map(|&(_, side)| side), one.target)
            });
            functions.entry(name).or_default().extend(uses);
        }
        let data = linked.symbols().map(|(index, symbol)| {
            let uses = linked.uses_in(&symbol).into_iter();
            (index, uses.map(|one| one.target).collect())
        });
        Ok(Self {
            functions,
            data: data.collect(),
        })
    }
}

/// Which data comes with another side, because no other uses it.
pub(super) fn places(
    linked: &Linked<'_>,
    uses: &Uses<'_>,
    side_of: impl Fn(&str) -> Side,
) -> Vec<(Range<u32>, Side)> {
    let mut reached = [const { BTreeSet::new() }; Side::ALL.len()];
    for (name, uses) in &uses.functions {
        let own = side_of(name);
        for (side, target) in uses {
            if let Target::Data(symbol) = target {
                reached[side.unwrap_or(own) as usize].insert(*symbol);
            }
        }
    }
    for reached in &mut reached {
        let mut left: Vec<u32> = reached.iter().copied().collect();
        while let Some(symbol) = left.pop() {
            for target in uses.data.get(&symbol).into_iter().flatten() {
                if let Target::Data(symbol) = target
                    && reached.insert(*symbol)
                {
                    left.push(*symbol);
                }
            }
        }
    }
    // Texts share their ends, so this is known byte by byte: who uses it.
    let symbols: BTreeMap<u32, _> = linked.symbols().collect();
    let mut used: BTreeMap<u32, u8> = BTreeMap::new();
    for (side, reached) in Side::ALL.into_iter().zip(&reached) {
        for symbol in reached.iter().filter_map(|symbol| symbols.get(symbol)) {
            let from = linked.address_of(symbol);
            for at in from..from + symbol.size {
                *used.entry(at).or_default() |= 1 << side as u8;
            }
        }
    }
    moved(&used)
}

/// The bytes that do not stay in the main part, given who uses each, as bits.
///
/// A function of a file that is absent has a stand that fetches it, but data has none: a function may use only what is surely there.
/// That is the file it lies in and the main part, for any of the others may come first, and another one never. So what two
/// files use stays in the main part, but for the two that come after the rest.
fn moved(used: &BTreeMap<u32, u8>) -> Vec<(Range<u32>, Side)> {
    let mut places: Vec<(Range<u32>, Side)> = Vec::new();
    for (&at, &sides) in used {
        let bit = |side: Side| 1 << side as u8;
        let after = bit(Side::Rest) | bit(Side::Own) | bit(Side::Seldom);
        let sides = if sides & !after == 0 && sides.count_ones() > 1 {
            bit(Side::Rest)
        } else {
            sides
        };
        let only = Side::ALL
            .into_iter()
            .find(|&side| side != Side::Main && sides == bit(side));
        let Some(side) = only else {
            continue;
        };
        match places.last_mut() {
            Some((range, of)) if *of == side && range.end == at => range.end += 1,
            _ => places.push((at..at + 1, side)),
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use wasm_encoder::{
        CodeSection, ConstExpr, CustomSection, DataSection, DataSymbolDefinition, Function,
        FunctionSection, LinkingSection, MemorySection, MemoryType, Module, NameMap, NameSection,
        SymbolTable, TypeSection,
    };

    use super::{Linked, Uses, moved, places};
    use crate::cut::Side;

    /// Where the texts begin in memory.
    const TEXTS: u32 = 1_024;

    /// A program as the linker writes it: functions by their names, each of which uses one of these texts. A text is a place and a
    /// length.
    fn program(functions: &[(&str, usize)], texts: &[(u32, u32)]) -> Vec<u8> {
        let (mut types, mut indices) = (TypeSection::new(), FunctionSection::new());
        types.ty().function([], []);
        let (mut code, mut names, mut symbols) =
            (CodeSection::new(), NameMap::new(), SymbolTable::new());
        // The code is the fourth section.
        let mut relocations = vec![3, functions.len() as u8];
        for (number, (name, text)) in (0..).zip(functions) {
            indices.function(0);
            names.append(number, name);
            let address = TEXTS + texts[*text].0;
            let [one, two] = [address as u8 | 0x80, (address >> 7) as u8 | 0x80];
            let mut function = Function::new([]);
            function.raw([0x41, one, two, 0x80, 0x80, 0, 0x1a, 0x0b]);
            code.function(&function);
            // Behind the length, the locals and the operator of as many bodies of ten bytes.
            let at = 1 + 10 * number as u8 + 3;
            relocations.extend([4, at, *text as u8, 0]);
        }
        for (offset, size) in texts {
            let (index, offset, size) = (0, *offset, *size);
            let place = DataSymbolDefinition {
                index,
                offset,
                size,
            };
            symbols.data(0, "text", Some(place));
        }
        let mut memories = MemorySection::new();
        memories.memory(MemoryType {
            minimum: 1,
            maximum: None,
            memory64: false,
            shared: false,
            page_size_log2: None,
        });
        let mut data = DataSection::new();
        data.active(0, &ConstExpr::i32_const(TEXTS as i32), [7; 64]);
        let mut linking = LinkingSection::new();
        linking.symbol_table(&symbols);
        let mut named = NameSection::new();
        named.functions(&names);
        let mut module = Module::new();
        module
            .section(&types)
            .section(&indices)
            .section(&memories)
            .section(&code)
            .section(&data)
            .section(&linking)
            .section(&CustomSection {
                name: "reloc.CODE".into(),
                data: (&relocations).into(),
            })
            .section(&named);
        module.finish()
    }

    #[test]
    fn a_text_goes_where_its_only_user_is_but_for_the_end_that_another_shares() {
        // The second text is the end of the first, and some more; nobody uses the last.
        let texts = [(0, 6), (4, 6), (20, 4), (30, 4), (40, 4)];
        let functions = [("element", 0), ("rest", 1), ("main", 2), ("page", 3)];
        let bytes = program(&functions, &texts);
        let linked = Linked::read(&bytes).unwrap();
        let side_of = |name: &str| match name {
            "element" => Side::Element,
            "rest" => Side::Rest,
            "page" => Side::Page,
            _ => Side::Main,
        };
        let expected = [
            (0..4, Side::Element),
            (6..10, Side::Rest),
            (30..34, Side::Page),
        ];
        let expected = expected.map(|(at, side)| (TEXTS + at.start..TEXTS + at.end, side));
        let uses = Uses::of(&linked, &BTreeMap::new()).unwrap();
        let found = places(&linked, &uses, side_of);
        assert_eq!(found, expected);
    }

    #[test]
    fn data_that_two_files_use_stays() {
        // Byte by byte: every set of users, two bytes each.
        let used: BTreeMap<u32, u8> = (0..256).map(|at| (at, (at / 2) as u8)).collect();
        let bit = |side: Side| 1 << side as u32;
        let mut expected = Side::OTHERS.map(|(side, _)| (bit(side), side)).to_vec();
        // Two files come after the rest.
        let [rest, own, seldom] = [Side::Rest, Side::Own, Side::Seldom].map(bit);
        let several = [rest | own, rest | seldom, own | seldom, rest | own | seldom];
        expected.extend(several.map(|users| (users, Side::Rest)));
        expected.sort_by_key(|(users, _)| *users);
        let expected = expected.into_iter();
        let expected: Vec<_> = expected
            .map(|(users, side)| (2 * users..2 * users + 2, side))
            .collect();
        assert_eq!(moved(&used), expected);
    }
}
