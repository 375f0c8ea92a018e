//! A program as it is after wasm-bindgen: what the cut needs of it.

use std::collections::BTreeMap;

use wasmparser::{
    BinaryReaderError, ConstExpr, CustomSectionReader, DataKind, ElementItems, ElementKind, Export,
    ExternalKind, FuncType, FunctionBody, Global, KnownCustom, MemoryType, Name, Operator, Parser,
    Payload, Table, TypeRef,
};

/// An imported function.
pub(super) struct Import<'a> {
    pub(super) module: &'a str,
    pub(super) name: &'a str,
    pub(super) ty: u32,
}

/// A run of bytes in memory, which a module writes as it begins.
pub(super) struct Segment<'a> {
    pub(super) address: u32,
    pub(super) bytes: &'a [u8],
}

/// A WebAssembly module with one memory, which imports only functions.
#[derive(Default)]
pub(super) struct Module<'a> {
    pub(super) types: Vec<FuncType>,
    pub(super) imports: Vec<Import<'a>>,
    /// The types of the functions that it defines.
    pub(super) functions: Vec<u32>,
    pub(super) bodies: Vec<FunctionBody<'a>>,
    pub(super) tables: Vec<Table<'a>>,
    pub(super) memories: Vec<MemoryType>,
    pub(super) globals: Vec<Global<'a>>,
    pub(super) exports: Vec<Export<'a>>,
    /// What the first table holds, slot by slot.
    pub(super) slots: BTreeMap<u32, u32>,
    pub(super) data: Vec<Segment<'a>>,
    pub(super) names: BTreeMap<u32, &'a str>,
}

impl<'a> Module<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, String> {
        let mut module = Self::default();
        for payload in Parser::new(0).parse_all(bytes) {
            let payload = payload.map_err(|error| error.to_string())?;
            module.take(payload).map_err(|error| error.to_string())?;
        }
        if module.functions.len() != module.bodies.len() {
            return Err("functions without bodies".to_owned());
        }
        Ok(module)
    }

    fn take(&mut self, payload: Payload<'a>) -> Result<(), Box<dyn std::error::Error>> {
        match payload {
            Payload::TypeSection(types) => {
                self.types = types
                    .into_iter_err_on_gc_types()
                    .collect::<Result<_, _>>()?;
            }
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    let import = import?;
                    let TypeRef::Func(ty) = import.ty else {
                        return Err(format!("{} is imported, and no function", import.name).into());
                    };
                    self.imports.push(Import {
                        module: import.module,
                        name: import.name,
                        ty,
                    });
                }
            }
            Payload::FunctionSection(types) => {
                self.functions = types.into_iter().collect::<Result<_, _>>()?
            }
            Payload::TableSection(tables) => {
                self.tables = tables.into_iter().collect::<Result<_, _>>()?
            }
            Payload::MemorySection(memories) => {
                self.memories = memories.into_iter().collect::<Result<_, _>>()?
            }
            Payload::GlobalSection(globals) => {
                self.globals = globals.into_iter().collect::<Result<_, _>>()?
            }
            Payload::ExportSection(exports) => {
                self.exports = exports.into_iter().collect::<Result<_, _>>()?
            }
            Payload::StartSection { .. } => {
                return Err(
                    "a start function, which would run before what stands in for others".into(),
                );
            }
            Payload::ElementSection(elements) => {
                for element in elements {
                    let element = element?;
                    let ElementKind::Active {
                        table_index,
                        offset_expr,
                    } = element.kind
                    else {
                        return Err("elements that are not active".into());
                    };
                    let first = number(&offset_expr)?;
                    match element.items {
                        ElementItems::Functions(functions) if table_index.unwrap_or(0) == 0 => {
                            for (slot, function) in (first..).zip(functions) {
                                self.slots.insert(slot, function?);
                            }
                        }
                        ElementItems::Expressions(_, items) if table_index.unwrap_or(0) == 0 => {
                            for (slot, item) in (first..).zip(items) {
                                match item?.get_operators_reader().read()? {
                                    Operator::RefNull { .. } => {}
                                    Operator::RefFunc { function_index } => {
                                        self.slots.insert(slot, function_index);
                                    }
                                    other => {
                                        return Err(format!("{other:?} in the table").into());
                                    }
                                }
                            }
                        }
                        _ => return Err("elements of another table".into()),
                    }
                }
            }
            Payload::DataSection(segments) => {
                for segment in segments {
                    let segment = segment?;
                    let DataKind::Active {
                        memory_index: 0,
                        offset_expr,
                    } = segment.kind
                    else {
                        return Err("data that is not active".into());
                    };
                    let address = number(&offset_expr)?;
                    self.data.push(Segment {
                        address,
                        bytes: segment.data,
                    });
                }
            }
            Payload::CodeSectionEntry(body) => self.bodies.push(body),
            Payload::CustomSection(custom) => {
                self.names.extend(function_names(&custom)?);
            }
            _ => {}
        }
        Ok(())
    }

    /// How many functions it imports: those that it defines come after them.
    pub(super) fn imported(&self) -> u32 {
        self.imports.len() as u32
    }

    pub(super) fn ty(&self, function: u32) -> u32 {
        match self.imports.get(function as usize) {
            Some(import) => import.ty,
            None => self.functions[function as usize - self.imports.len()],
        }
    }

    pub(super) fn is_imported(&self, function: u32) -> bool {
        function < self.imported()
    }

    /// The functions that it defines.
    pub(super) fn defined(&self) -> impl Iterator<Item = (u32, &FunctionBody<'a>)> {
        (self.imported()..).zip(&self.bodies)
    }

    pub(super) fn body(&self, function: u32) -> &FunctionBody<'a> {
        &self.bodies[(function - self.imported()) as usize]
    }

    pub(super) fn exported(&self, kind: ExternalKind, index: u32) -> Option<&'a str> {
        let mut exports = self.exports.iter();
        exports
            .find(|export| export.kind == kind && export.index == index)
            .map(|export| export.name)
    }
}

/// The names of functions in a section, by their index.
pub(super) fn function_names<'a>(
    custom: &CustomSectionReader<'a>,
) -> Result<Vec<(u32, &'a str)>, BinaryReaderError> {
    let mut found = Vec::new();
    if let KnownCustom::Name(names) = custom.as_known() {
        for part in names {
            if let Name::Function(names) = part? {
                for name in names {
                    found.push(name.map(|name| (name.index, name.name))?);
                }
            }
        }
    }
    Ok(found)
}

pub(super) fn number(expression: &ConstExpr<'_>) -> Result<u32, Box<dyn std::error::Error>> {
    match expression.get_operators_reader().read()? {
        Operator::I32Const { value } => Ok(value as u32),
        other => Err(format!("{other:?} where a number should be").into()),
    }
}
