//! Which data only the rest of the program uses.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use wasmparser::{DataKind, Operator, Parser, Payload, TypeRef};

use super::Side;
use super::linked::Linked;
use super::module::function_names;
use super::outline::Taken;

/// A module as the splitter has written it: its functions have the length that they had, its data another place.
#[derive(Default)]
struct Split<'a> {
    bytes: &'a [u8],
    bodies: BTreeMap<&'a str, Range<usize>>,
    /// Where data begins, in memory and in the file.
    segments: Vec<(u32, Range<usize>)>,
}

impl<'a> Split<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, Box<dyn std::error::Error>> {
        let mut split = Self {
            bytes,
            ..Self::default()
        };
        let (mut imported, mut bodies, mut all) = (0, Vec::new(), BTreeMap::new());
        for payload in Parser::new(0).parse_all(bytes) {
            match payload? {
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        imported += usize::from(matches!(import?.ty, TypeRef::Func(_)));
                    }
                }
                Payload::CodeSectionEntry(body) => {
                    bodies.push(body.range().start as usize..body.range().end as usize)
                }
                Payload::DataSection(segments) => {
                    for segment in segments {
                        let segment = segment?;
                        let DataKind::Active { offset_expr, .. } = segment.kind else {
                            continue;
                        };
                        let Operator::I32Const { value } =
                            offset_expr.get_operators_reader().read()?
                        else {
                            continue;
                        };
                        let end = segment.range.end as usize;
                        split
                            .segments
                            .push((value as u32, end - segment.data.len()..end));
                    }
                }
                Payload::CustomSection(custom) => {
                    let names = function_names(&custom)?.into_iter();
                    all.extend(names.map(|(index, name)| (index as usize, name)));
                }
                _ => {}
            }
        }
        for (at, body) in bodies.into_iter().enumerate() {
            if let Some(&name) = all.get(&(imported + at)) {
                split.bodies.insert(name, body);
            }
        }
        Ok(split)
    }

    /// What memory has at an address when the module begins.
    fn word(&self, address: u32) -> Option<u32> {
        let (first, range) = self.segments.iter().find(|(first, range)| {
            address >= *first && address as usize + 4 <= *first as usize + range.len()
        })?;
        let at = range.start + (address - first) as usize;
        Some(u32::from_le_bytes(self.bytes[at..at + 4].try_into().ok()?))
    }
}

/// Which data of the main part comes with another side, because no other uses it: functions there, or what was `taken` out of others.
pub(super) fn places(
    linked: &Linked<'_>,
    split: &super::Split,
    side_of: impl Fn(&str) -> Side,
    taken: &BTreeMap<&str, &Taken>,
) -> Result<Vec<(Range<u32>, Side)>, String> {
    let read = |bytes| Split::read(bytes).map_err(|error| error.to_string());
    let mut all = vec![read(&split.main)?];
    for bytes in &split.firsts {
        all.push(read(bytes)?);
    }
    let mut later = Vec::new();
    for bytes in &split.laters {
        later.push(read(bytes)?);
    }
    let symbols: BTreeMap<u32, _> = linked.symbols().collect();
    // Where each of them is now, as the functions that use them say, and then as other data does.
    let mut place: BTreeMap<u32, u32> = BTreeMap::new();
    let mut reached = [const { BTreeSet::new() }; Side::ALL.len()];
    for (linked_name, name, body) in linked.functions() {
        let uses = linked.uses_of(body);
        let of = all
            .iter()
            .enumerate()
            .find_map(|(at, split)| Some((at, split, split.bodies.get(linked_name)?)));
        // Functions without relocations are written anew.
        if let Some((_, split, now)) = of.filter(|(_, _, now)| now.len() == body.len()) {
            for one in &uses {
                let at = now.start + one.at;
                let value = padded(&split.bytes[at..at + 5]).wrapping_sub(one.addend as u32);
                if place
                    .insert(one.symbol, value)
                    .is_some_and(|other| other != value)
                {
                    return Err(format!("{name}: data in two places"));
                }
            }
        }
        let side = match of {
            Some((0, ..)) => side_of(name),
            // A part of an element's first picture.
            Some(_) => Side::Element,
            None if later
                .iter()
                .any(|split| split.bodies.contains_key(linked_name)) =>
            {
                Side::Rest
            }
            None => return Err(format!("{name}: the splitter has written it into no file")),
        };
        let stretches = match taken.get(name) {
            // wasm-bindgen writes some functions anew.
            Some(taken) if linked.kinds(body)? == taken.of => {
                linked.bytes_of(body, &taken.stretches)?
            }
            _ => Vec::new(),
        };
        for one in &uses {
            let taken = stretches.iter().find(|(range, _)| range.contains(&one.at));
            let side = taken.map_or(side, |&(_, side)| side);
            reached[side as usize].insert(one.symbol);
        }
    }
    let uses: BTreeMap<u32, _> = symbols
        .iter()
        .map(|(&index, symbol)| (index, linked.uses_in(symbol)))
        .collect();
    let mut found: Vec<u32> = place.keys().copied().collect();
    while let Some(symbol) = found.pop() {
        for one in uses.get(&symbol).into_iter().flatten() {
            let at = place[&symbol] + one.at as u32;
            if let Some(word) = all.iter().find_map(|split| split.word(at))
                && place
                    .insert(one.symbol, word.wrapping_sub(one.addend as u32))
                    .is_none()
            {
                found.push(one.symbol);
            }
        }
    }
    for reached in &mut reached {
        let mut left: Vec<u32> = reached.iter().copied().collect();
        while let Some(symbol) = left.pop() {
            for one in uses.get(&symbol).into_iter().flatten() {
                if reached.insert(one.symbol) {
                    left.push(one.symbol);
                }
            }
        }
    }
    // Texts share their ends, so this is known byte by byte: who uses it.
    let mut used: BTreeMap<u32, u8> = BTreeMap::new();
    for (side, reached) in Side::ALL.into_iter().zip(&reached) {
        for symbol in reached {
            match (place.get(symbol), symbols.get(symbol)) {
                (Some(&from), Some(symbol)) => {
                    for at in from..from + symbol.size {
                        *used.entry(at).or_default() |= 1 << side as u8;
                    }
                }
                (None, Some(_)) if side != Side::Rest => {
                    return Err(format!("nothing says where the data of symbol {symbol} is"));
                }
                _ => {}
            }
        }
    }
    Ok(moved(&used))
}

/// The bytes that do not stay in the main part, given who uses each, as bits.
///
/// A function of a file that is absent has a stand that fetches it, but data has none: a function may use only what is surely there.
/// That is the file it lies in and the main part, for any of the others may come first, and another one never. So what two
/// files use stays in the main part. The parts are not asked here: `loads` in `split.js` waits for all before it lets one run,
/// and for those of elements before their first part, which counts as one of its users.
fn moved(used: &BTreeMap<u32, u8>) -> Vec<(Range<u32>, Side)> {
    let mut places: Vec<(Range<u32>, Side)> = Vec::new();
    for (&at, &sides) in used {
        let only = Side::ALL
            .into_iter()
            .find(|&side| side != Side::Main && sides == 1 << side as u8);
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

fn padded(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .rev()
        .fold(0, |value, byte| value << 7 | u32::from(byte & 0x7f))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use wasm_encoder::{
        CodeSection, ConstExpr, CustomSection, DataSection, DataSymbolDefinition, Function,
        FunctionSection, LinkingSection, MemorySection, MemoryType, Module, NameMap, NameSection,
        SymbolTable, TypeSection,
    };

    use super::{Linked, moved, places};
    use crate::cut::{Side, Split};

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
        let split = Split {
            main: bytes.clone(),
            firsts: Vec::new(),
            laters: Vec::new(),
        };
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
        let found = places(&linked, &split, side_of, &BTreeMap::new()).unwrap();
        assert_eq!(found, expected);
    }

    #[test]
    fn data_that_two_files_use_stays() {
        // Byte by byte: every set of users, two bytes each.
        let used: BTreeMap<u32, u8> = (0..64).map(|at| (at, at as u8 / 2)).collect();
        let bit = |side: Side| 1 << side as u32;
        let expected = [Side::Page, Side::Element, Side::More, Side::Rest].map(|side| {
            let at = 2 * bit(side);
            (at..at + 2, side)
        });
        assert_eq!(moved(&used), expected);
    }
}
