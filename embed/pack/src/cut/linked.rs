//! What the linker has written: which function uses which data, and a name for each function that other builds give it, too.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::ops::Range;

use super::body::kinds;
use super::list::path_of;
use super::module::{function_names, number};
use super::outline::Stretches;
use wasmparser::{
    BinaryReader, DataKind, DefinedDataSymbol, FunctionBody, KnownCustom, Linking, Parser, Payload,
    RelocationEntry, RelocationType, SymbolInfo, TypeRef,
};

/// A program with its relocations.
#[derive(Default)]
pub(crate) struct Linked<'a> {
    bytes: &'a [u8],
    imported: u32,
    /// As wasm-bindgen writes them.
    names: BTreeMap<u32, String>,
    bodies: Vec<Range<usize>>,
    symbols: Vec<SymbolInfo<'a>>,
    /// Where each segment of data begins, in the file and in memory.
    segments: Vec<(usize, u32)>,
    code: usize,
    data: usize,
    code_relocations: Vec<RelocationEntry>,
    data_relocations: Vec<RelocationEntry>,
}

/// What a function, or data, has the address of: data by its symbol, or a function by its name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target<'a> {
    Data(u32),
    Function(&'a str),
}

/// A place that has the address of something.
pub(super) struct Use<'a> {
    /// Where, from the begin of the function or the data.
    pub(super) at: usize,
    pub(super) target: Target<'a>,
}

impl<'a> Linked<'a> {
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, String> {
        let mut linked = Self {
            bytes,
            ..Self::default()
        };
        let (mut sections, mut code, mut data) = (0, 0, 0);
        for payload in Parser::new(0).parse_all(bytes) {
            let payload = payload.map_err(|error| error.to_string())?;
            let section = sections;
            if payload.as_section().is_some() {
                sections += 1;
            }
            match &payload {
                Payload::CodeSectionStart { .. } => code = section,
                Payload::DataSection(_) => data = section,
                _ => {}
            }
            linked
                .take(payload, (code, data))
                .map_err(|error| error.to_string())?;
        }
        linked.code_relocations.sort_by_key(|one| one.offset);
        linked.data_relocations.sort_by_key(|one| one.offset);
        linked.check()?;
        Ok(linked)
    }

    /// Refuses what would leave a use of data out.
    fn check(&self) -> Result<(), String> {
        let nameless = (self.imported..)
            .zip(&self.bodies)
            .find(|(index, _)| !self.names.contains_key(index));
        if let Some((index, _)) = nameless {
            return Err(format!(
                "the linked program has no name for function {index}"
            ));
        }
        let is_data = |one: &RelocationEntry| {
            matches!(
                self.symbols.get(one.index as usize),
                Some(SymbolInfo::Data { .. })
            )
        };
        let unknown = self
            .code_relocations
            .iter()
            .chain(&self.data_relocations)
            // The symbols are none of a type's.
            .filter(|one| one.ty != RelocationType::TypeIndexLeb)
            .find(|one| is_data(one) != is_address(one.ty));
        if let Some(one) = unknown {
            return Err(format!(
                "the cut does not know relocations of data like {:?}",
                one.ty
            ));
        }
        // A mistake about where data lies would show only where that is read.
        let symbols: BTreeMap<u32, _> = self.symbols().collect();
        let elsewhere = self.code_relocations.iter().find(|one| {
            let at = self.code + one.offset as usize;
            is_address(one.ty)
                && symbols.get(&one.index).is_some_and(|symbol| {
                    let said = self.address_of(symbol).wrapping_add(one.addend as u32);
                    self.bytes.get(at..at + 5).map(padded) != Some(said)
                })
        });
        match elsewhere {
            Some(one) => Err(format!(
                "the linked program's data {} lies elsewhere",
                one.index
            )),
            None => Ok(()),
        }
    }

    fn take(
        &mut self,
        payload: Payload<'a>,
        (code, data): (u32, u32),
    ) -> Result<(), Box<dyn std::error::Error>> {
        match payload {
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    self.imported += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                }
            }
            Payload::CodeSectionStart { range, .. } => self.code = range.start as usize,
            Payload::CodeSectionEntry(body) => {
                let range = body.range();
                self.bodies.push(range.start as usize..range.end as usize);
            }
            Payload::DataSection(segments) => {
                self.data = segments.range().start as usize;
                for segment in segments {
                    let segment = segment?;
                    let address = match segment.kind {
                        DataKind::Active { offset_expr, .. } => number(&offset_expr)?,
                        DataKind::Passive => return Err("data that is not active".into()),
                    };
                    let at = segment.range.end as usize - segment.data.len();
                    self.segments.push((at, address));
                }
            }
            Payload::CustomSection(custom) => {
                match custom.as_known() {
                    KnownCustom::Name(_) => {
                        let names = function_names(&custom)?.into_iter();
                        self.names.extend(names.map(|(index, name)| {
                            (index, rustc_demangle::demangle(name).to_string())
                        }));
                    }
                    KnownCustom::Linking(linking) => {
                        for part in linking.subsections() {
                            if let Linking::SymbolTable(symbols) = part? {
                                self.symbols = symbols.into_iter().collect::<Result<_, _>>()?;
                            }
                        }
                    }
                    KnownCustom::Reloc(relocations) => {
                        let all = relocations
                            .entries()
                            .into_iter()
                            .collect::<Result<_, _>>()?;
                        match relocations.section_index() {
                            section if section == code => self.code_relocations = all,
                            section if section == data => self.data_relocations = all,
                            _ => {}
                        }
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The functions that it defines, by their names.
    pub(super) fn functions(&self) -> impl Iterator<Item = (&str, &Range<usize>)> {
        let named = (self.imported..).zip(&self.bodies);
        named.filter_map(|(index, range)| Some((self.names.get(&index)?.as_str(), range)))
    }

    /// Where data lies in memory.
    pub(super) fn address_of(&self, symbol: &DefinedDataSymbol) -> u32 {
        self.segments[symbol.index as usize].1 + symbol.offset
    }

    pub(super) fn uses_of(&self, body: &Range<usize>) -> Vec<Use<'_>> {
        self.uses(&self.code_relocations, self.code, body)
    }

    /// The bytes of stretches of a function, which has the instructions that it had.
    pub(super) fn bytes_of(
        &self,
        body: &Range<usize>,
        stretches: &Stretches,
    ) -> Result<Stretches, String> {
        let reader = BinaryReader::new(&self.bytes[body.clone()], 0);
        let operators = FunctionBody::new(reader).get_operators_reader();
        let operators = operators
            .map_err(|error| error.to_string())?
            .into_iter_with_offsets();
        let mut at = operators
            .map(|one| one.map(|(_, at)| at as usize))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| error.to_string())?;
        at.push(body.len());
        Ok(stretches
            .iter()
            .filter_map(|(range, side)| Some((*at.get(range.start)?..*at.get(range.end)?, *side)))
            .collect())
    }

    /// The number of what a function's instructions are.
    pub(super) fn kinds(&self, body: &Range<usize>) -> Result<u64, String> {
        let reader = BinaryReader::new(&self.bytes[body.clone()], 0);
        let operators = FunctionBody::new(reader).get_operators_reader();
        let operators = operators.map_err(|error| error.to_string())?.into_iter();
        let operators = operators.collect::<Result<Vec<_>, _>>();
        Ok(kinds(operators.map_err(|error| error.to_string())?.iter()))
    }

    pub(super) fn symbols(&self) -> impl Iterator<Item = (u32, DefinedDataSymbol)> {
        (0..)
            .zip(&self.symbols)
            .filter_map(|(index, symbol)| match symbol {
                SymbolInfo::Data {
                    symbol: Some(symbol),
                    ..
                } if symbol.size > 0 => Some((index, *symbol)),
                _ => None,
            })
    }

    pub(super) fn uses_in(&self, symbol: &DefinedDataSymbol) -> Vec<Use<'_>> {
        let from = self.segments[symbol.index as usize].0 + symbol.offset as usize;
        self.uses(
            &self.data_relocations,
            self.data,
            &(from..from + symbol.size as usize),
        )
    }

    fn uses(&self, all: &[RelocationEntry], base: usize, range: &Range<usize>) -> Vec<Use<'_>> {
        let uses = within(all, base, range).iter().filter_map(|one| {
            let target = match self.symbols.get(one.index as usize) {
                _ if is_address(one.ty) => Target::Data(one.index),
                Some(SymbolInfo::Func { index, .. }) if is_slot(one.ty) => {
                    Target::Function(self.names.get(index)?)
                }
                _ => return None,
            };
            Some(Use {
                at: base + one.offset as usize - range.start,
                target,
            })
        });
        uses.collect()
    }

    /// For each function, by its name, what it does as a number: its instructions without their operands, and the last names of what it
    /// calls, so that it lasts when a field or a module moves. Another version of Rust may number them in
    /// another way (`make starts`). Names that several have are left out.
    pub(super) fn contents(&self) -> Result<BTreeMap<&str, u64>, String> {
        let (mut contents, mut several) = (BTreeMap::new(), Vec::new());
        for (name, body) in self.functions() {
            if contents.insert(name, self.content(body)?).is_some() {
                several.push(name);
            }
        }
        contents.retain(|name, _| !several.contains(name));
        Ok(contents)
    }

    fn content(&self, body: &Range<usize>) -> Result<u64, String> {
        let mut hash = DefaultHasher::new();
        hash.write_u64(self.kinds(body)?);
        for one in within(&self.code_relocations, self.code, body) {
            if let Some(SymbolInfo::Func { index, .. }) = self.symbols.get(one.index as usize)
                && !matches!(one.ty, RelocationType::TypeIndexLeb)
            {
                let path = self.names.get(index).map(|name| path_of(name));
                let last = path.iter().flat_map(|path| path.rsplit("::")).next();
                hash.write(last.unwrap_or_default().as_bytes());
            }
        }
        Ok(hash.finish())
    }
}

fn within<'r>(
    all: &'r [RelocationEntry],
    base: usize,
    range: &Range<usize>,
) -> &'r [RelocationEntry] {
    let from = all.partition_point(|one| base + (one.offset as usize) < range.start);
    let to = all.partition_point(|one| base + (one.offset as usize) < range.end);
    &all[from..to]
}

fn padded(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .rev()
        .fold(0, |value, byte| value << 7 | u32::from(byte & 0x7f))
}

/// The address of a function is its slot in the table.
fn is_slot(ty: RelocationType) -> bool {
    use RelocationType as Ty;
    matches!(ty, Ty::TableIndexSleb | Ty::TableIndexI32)
}

fn is_address(ty: RelocationType) -> bool {
    use RelocationType as Ty;
    matches!(
        ty,
        Ty::MemoryAddrLeb | Ty::MemoryAddrSleb | Ty::MemoryAddrI32
    )
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{CodeSection, Function, FunctionSection, Instruction, Module, NameMap};
    use wasm_encoder::{NameSection, TypeSection};

    use super::Linked;

    fn program(name: Option<&str>) -> Vec<u8> {
        let (mut types, mut functions) = (TypeSection::new(), FunctionSection::new());
        types.ty().function([], []);
        functions.function(0);
        let mut function = Function::new([]);
        function.instruction(&Instruction::End);
        let mut code = CodeSection::new();
        code.function(&function);
        let (mut names, mut section) = (NameMap::new(), NameSection::new());
        if let Some(name) = name {
            names.append(0, name);
        }
        section.functions(&names);
        let mut module = Module::new();
        module.section(&types).section(&functions).section(&code);
        module.section(&section);
        module.finish()
    }

    #[test]
    fn a_function_without_a_name_is_refused() {
        assert!(Linked::read(&program(Some("a"))).is_ok());
        let error = Linked::read(&program(None)).err().unwrap();
        assert!(error.contains("no name for function 0"), "{error}");
    }
}
