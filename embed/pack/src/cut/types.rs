//! The types of a module.

use wasm_encoder::reencode::{Reencode, RoundtripReencoder};
use wasm_encoder::{TypeSection, ValType};
use wasmparser::FuncType;

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
