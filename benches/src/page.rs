//! The interface for a page that runs the workloads and measures the time.

use wasm_bindgen::prelude::wasm_bindgen;

use crate::workload::{Left, Row, Run, World, rows};

/// The rows, and the current run.
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
    /// All rows, without any data yet.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self {
            rows: rows(),
            ..Self::default()
        }
    }

    /// Number of rows.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// The name of a row.
    pub fn name(&self, row: usize) -> String {
        self.rows
            .get(row)
            .map_or_else(String::new, |row| row.name.to_owned())
    }

    /// Number of operations in a run.
    pub fn operations(&self, row: usize) -> usize {
        self.rows.get(row).map_or(1, |row| row.operations)
    }

    /// Builds the data of a run, and drops the leftovers of the last one.
    pub fn prepare(&mut self, row: usize) {
        self.left = None;
        self.run = self.rows.get(row).map(|row| (row.prepare)(&self.world));
    }

    /// Runs the row. Only this call is to be timed.
    pub fn run(&mut self) {
        if let Some(run) = self.run.take() {
            self.left = Some(run());
        }
    }
}
