//! What a page calls to run the workloads; it has the clock.

use wasm_bindgen::prelude::wasm_bindgen;

use crate::workload::{Left, Row, Run, World, rows};

/// The rows, and the one that is being measured.
#[wasm_bindgen]
#[derive(Default)]
pub struct Bench {
    rows: Vec<Row>,
    world: World,
    run: Option<Run>,
    left: Option<Left>,
}

#[wasm_bindgen]
impl Bench {
    /// All rows, nothing built yet.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self {
            rows: rows(),
            ..Self::default()
        }
    }

    /// How many rows there are.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// The name of a row.
    pub fn name(&self, row: usize) -> String {
        self.rows
            .get(row)
            .map_or_else(String::new, |row| row.name.to_owned())
    }

    /// How many operations a run has.
    pub fn operations(&self, row: usize) -> usize {
        self.rows.get(row).map_or(1, |row| row.operations)
    }

    /// Builds what a run needs, and drops what the last one left.
    pub fn prepare(&mut self, row: usize) {
        self.left = None;
        self.run = self.rows.get(row).map(|row| (row.prepare)(&self.world));
    }

    /// The run: all that is to be timed.
    pub fn run(&mut self) {
        if let Some(run) = self.run.take() {
            self.left = Some(run());
        }
    }
}
