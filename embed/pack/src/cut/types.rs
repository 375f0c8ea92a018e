//! The types of a module's functions.

use wasm_encoder::TypeSection;
use wasm_encoder::reencode::{Reencode, RoundtripReencoder};
use wasmparser::{FuncType, ValType};

/// Types with numbers; more of them may come, until the section is written.
#[derive(Default)]
pub(super) struct Types(Vec<FuncType>);

impl Types {
    /// Those that a module has, under their numbers.
    pub(super) fn of(known: &[FuncType]) -> Self {
        Self(known.to_vec())
    }

    pub(super) fn number(&mut self, ty: &FuncType) -> u32 {
        let at = self.0.iter().position(|known| known == ty);
        at.unwrap_or_else(|| {
            self.0.push(ty.clone());
            self.0.len() - 1
        }) as u32
    }

    pub(super) fn section(&self) -> Result<TypeSection, String> {
        let mut section = TypeSection::new();
        for ty in &self.0 {
            let (params, results) = (encoded(ty.params())?, encoded(ty.results())?);
            section.ty().function(params, results);
        }
        Ok(section)
    }
}

pub(super) fn encoded(types: &[ValType]) -> Result<Vec<wasm_encoder::ValType>, String> {
    let types = types.iter().map(|&ty| RoundtripReencoder.val_type(ty));
    types
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())
}
