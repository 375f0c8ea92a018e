//! Files that come later, as small as they can be: several of the splitter's in one, with the functions in the order that is best for
//! compression, and with no type that they do not use.

use std::convert::Infallible;

use wasm_encoder::reencode::{Error, Reencode, RoundtripReencoder};
use wasm_encoder::{
    CodeSection, DataSection, ElementSection, ExportSection, FunctionSection, ImportSection,
    Module, TypeSection, ValType,
};
use wasmparser::{FuncType, FunctionBody, Operator, Parser, Payload, TypeRef};

use super::alike::alike;

/// The types that a module uses.
#[derive(Default)]
pub(super) struct Types(Vec<FuncType>);

impl Types {
    pub(super) fn number(&mut self, ty: &FuncType) -> u32 {
        let at = self.0.iter().position(|known| known == ty);
        at.unwrap_or_else(|| {
            self.0.push(ty.clone());
            self.0.len() - 1
        }) as u32
    }

    /// Once all else is written.
    pub(super) fn section(&self) -> TypeSection {
        let mut section = TypeSection::new();
        for ty in &self.0 {
            section
                .ty()
                .function(values(ty.params()), values(ty.results()));
        }
        section
    }
}

pub(super) fn values(types: &[wasmparser::ValType]) -> Vec<ValType> {
    let types = types.iter().map(|&ty| RoundtripReencoder.val_type(ty));
    types.filter_map(Result::ok).collect()
}

/// One of the modules that become one.
#[derive(Default)]
struct Part<'a> {
    types: Vec<FuncType>,
    /// The types of the functions that it defines.
    functions: Vec<u32>,
    bodies: Vec<FunctionBody<'a>>,
    /// Where its functions, tables, memories and globals are in the one, in this order.
    places: [Vec<u32>; 4],
}

const FUNCTIONS: usize = 0;
const TABLES: usize = 1;
const MEMORIES: usize = 2;
const GLOBALS: usize = 3;

struct Anew<'p, 'a> {
    part: &'p Part<'a>,
    types: &'p mut Types,
}

impl Reencode for Anew<'_, '_> {
    type Error = Infallible;

    fn type_index(&mut self, ty: u32) -> Result<u32, Error<Self::Error>> {
        Ok(self.types.number(&self.part.types[ty as usize]))
    }

    fn function_index(&mut self, function: u32) -> Result<u32, Error<Self::Error>> {
        Ok(self.part.places[FUNCTIONS][function as usize])
    }

    fn table_index(&mut self, table: u32) -> Result<u32, Error<Self::Error>> {
        Ok(self.part.places[TABLES][table as usize])
    }

    fn memory_index(&mut self, memory: u32) -> Result<u32, Error<Self::Error>> {
        Ok(self.part.places[MEMORIES][memory as usize])
    }

    fn global_index(&mut self, global: u32) -> Result<u32, Error<Self::Error>> {
        Ok(self.part.places[GLOBALS][global as usize])
    }
}

/// Modules that import all but their functions, as one that does what they do, one after the other.
pub(crate) fn merged(modules: &[&[u8]]) -> Result<Vec<u8>, String> {
    written(modules).map_err(|error| error.to_string())
}

fn written(modules: &[&[u8]]) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let mut types = Types::default();
    let mut imports = ImportSection::new();
    // What is imported, and as which: several modules share it.
    let mut known: [Vec<(&str, &str)>; 4] = Default::default();
    let mut parts = Vec::new();
    for bytes in modules {
        let mut part = Part::default();
        for payload in Parser::new(0).parse_all(bytes) {
            match payload? {
                Payload::TypeSection(section) => {
                    part.types = section
                        .into_iter_err_on_gc_types()
                        .collect::<Result<_, _>>()?;
                }
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        let import = import?;
                        let kind = match import.ty {
                            TypeRef::Func(_) => FUNCTIONS,
                            TypeRef::Table(_) => TABLES,
                            TypeRef::Memory(_) => MEMORIES,
                            TypeRef::Global(_) => GLOBALS,
                            _ => return Err(format!("{} is imported", import.name).into()),
                        };
                        let name = (import.module, import.name);
                        let at = known[kind].iter().position(|known| *known == name);
                        if at.is_none() {
                            known[kind].push(name);
                            let mut anew = Anew {
                                part: &part,
                                types: &mut types,
                            };
                            let ty = anew.entity_type(import.ty)?;
                            imports.import(import.module, import.name, ty);
                        }
                        let at = at.unwrap_or(known[kind].len() - 1);
                        part.places[kind].push(at as u32);
                    }
                }
                Payload::FunctionSection(section) => {
                    part.functions = section.into_iter().collect::<Result<_, _>>()?;
                }
                Payload::CodeSectionEntry(body) => part.bodies.push(body),
                _ => {}
            }
        }
        parts.push(part);
    }
    // The functions of all, each as its module and its number there.
    let all = parts.iter().enumerate();
    let all: Vec<(usize, usize)> = all
        .flat_map(|(part, of)| (0..of.bodies.len()).map(move |at| (part, at)))
        .collect();
    let order = alike((0..).zip(&all).map(|(one, &(part, at))| {
        let part = &parts[part];
        // Its number in all.
        let ty = types.number(&part.types[part.functions[at] as usize]);
        (one, ty, part.bodies[at].as_bytes())
    }));
    let mut places = vec![0; order.len()];
    for (place, &one) in (known[FUNCTIONS].len() as u32..).zip(&order) {
        places[one as usize] = place;
    }
    for (&(part, _), place) in all.iter().zip(places) {
        parts[part].places[FUNCTIONS].push(place);
    }
    let mut functions = FunctionSection::new();
    let mut code = CodeSection::new();
    for &one in &order {
        let (part, at) = all[one as usize];
        let part = &parts[part];
        let mut anew = Anew {
            part,
            types: &mut types,
        };
        functions.function(anew.type_index(part.functions[at])?);
        for operator in part.bodies[at].get_operators_reader()? {
            if let Operator::MemoryInit { .. }
            | Operator::DataDrop { .. }
            | Operator::TableInit { .. }
            | Operator::ElemDrop { .. } = operator?
            {
                return Err("an instruction that goes by the number of a segment".into());
            }
        }
        anew.parse_function_body(&mut code, part.bodies[at].clone())?;
    }
    let (mut exports, mut elements) = (ExportSection::new(), ElementSection::new());
    let mut data = DataSection::new();
    for (bytes, part) in modules.iter().zip(&parts) {
        let mut anew = Anew {
            part,
            types: &mut types,
        };
        for payload in Parser::new(0).parse_all(bytes) {
            match payload? {
                Payload::ExportSection(section) => {
                    anew.parse_export_section(&mut exports, section)?;
                }
                Payload::ElementSection(section) => {
                    anew.parse_element_section(&mut elements, section)?;
                }
                Payload::DataSection(section) => anew.parse_data_section(&mut data, section)?,
                Payload::Version { .. }
                | Payload::TypeSection(_)
                | Payload::ImportSection(_)
                | Payload::FunctionSection(_)
                | Payload::DataCountSection { .. }
                | Payload::CodeSectionStart { .. }
                | Payload::CodeSectionEntry(_)
                | Payload::CustomSection(_)
                | Payload::End(_) => {}
                other => return Err(format!("a part must not have {other:?}").into()),
            }
        }
    }
    let mut out = Module::new();
    out.section(&types.section())
        .section(&imports)
        .section(&functions)
        .section(&exports)
        .section(&elements)
        .section(&code)
        .section(&data);
    Ok(out.finish())
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{
        CodeSection, EntityType, ExportKind, ExportSection, Function, FunctionSection,
        ImportSection, Instruction, Module, TypeSection, ValType,
    };
    use wasmparser::{Operator, Parser, Payload, Validator};

    use super::merged;

    /// A module with a function that calls what it imports with so many numbers, once for each of these.
    fn module(import: &str, params: usize, numbers: &[i32]) -> Vec<u8> {
        let mut types = TypeSection::new();
        for params in 0..4 {
            types.ty().function(vec![ValType::I32; params], []);
        }
        let (mut imports, mut functions) = (ImportSection::new(), FunctionSection::new());
        imports.import("main", import, EntityType::Function(params as u32));
        functions.function(0);
        let (mut code, mut exports) = (CodeSection::new(), ExportSection::new());
        let mut body = Function::new([]);
        for number in numbers {
            for _ in 0..params {
                body.instruction(&Instruction::I32Const(*number));
            }
            body.instruction(&Instruction::Call(0));
        }
        body.instruction(&Instruction::End);
        code.function(&body);
        exports.export(&format!("{import}{}", numbers.len()), ExportKind::Func, 1);
        let mut module = Module::new();
        module
            .section(&types)
            .section(&imports)
            .section(&functions)
            .section(&exports)
            .section(&code);
        module.finish()
    }

    #[test]
    fn modules_in_one_do_what_they_did_with_the_types_that_they_use() {
        let modules = [
            module("f", 1, &[1, 2, 3]),
            module("g", 2, &[4]),
            module("f", 1, &[5]),
        ];
        let bytes = merged(&modules.each_ref().map(Vec::as_slice)).unwrap();
        Validator::new().validate_all(&bytes).unwrap();
        let (mut types, mut imports, mut exports, mut calls) = (0, Vec::new(), Vec::new(), vec![]);
        for payload in Parser::new(0).parse_all(&bytes) {
            match payload.unwrap() {
                Payload::TypeSection(section) => types = section.count(),
                Payload::ImportSection(section) => {
                    imports.extend(section.into_imports().map(|import| import.unwrap().name));
                }
                Payload::ExportSection(section) => {
                    let section = section.into_iter().map(Result::unwrap);
                    exports.extend(section.map(|export| (export.name, export.index)));
                }
                Payload::CodeSectionEntry(body) => {
                    let operators = body.get_operators_reader().unwrap().into_iter();
                    let mut told = String::new();
                    for operator in operators {
                        match operator.unwrap() {
                            Operator::I32Const { value } => told += &value.to_string(),
                            Operator::Call { function_index } => {
                                told += imports[function_index as usize];
                            }
                            _ => {}
                        }
                    }
                    calls.push(told);
                }
                _ => {}
            }
        }
        assert_eq!((types, &*imports), (3, &["f", "g"][..]));
        let calls = |(name, index): (_, u32)| (name, &*calls[index as usize - imports.len()]);
        let exports: Vec<_> = exports.into_iter().map(calls).collect();
        assert_eq!(exports, [("f3", "1f2f3f"), ("g1", "44g"), ("f1", "5f")]);
    }
}
