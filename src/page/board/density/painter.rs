//! Draws the cells of a field on a canvas: only those that have changed.

use std::cell::RefCell;
use std::rc::Rc;

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, HtmlElement};

use super::{css, ratio};
use crate::ui::Theme;
use deltascope_cache::delta::DeltaType;
use deltascope_presentation::decimal::decimals;
use deltascope_presentation::rows::density::{Cells, Field, Fill, Layout, Look};
use deltascope_presentation::view::View;
use deltascope_presentation::view::cells::Hue;

/// The colours of cells, as names of style variables. [`hue`] gives the index.
const COLOURS: [&str; 7] = [
    "--wire",
    "--added",
    "--updated",
    "--deleted",
    "--replaced",
    "--sync",
    "--bookmark",
];

fn colour(hue: Hue) -> usize {
    match hue {
        Hue::Same => 0,
        Hue::Of(DeltaType::Added) => 1,
        Hue::Of(DeltaType::Updated) => 2,
        Hue::Of(DeltaType::Deleted) => 3,
        Hue::Of(DeltaType::Replaced | DeltaType::ReplacedAll) => 4,
        Hue::Of(DeltaType::Sync | DeltaType::SyncAll) => 5,
        Hue::Of(DeltaType::Bookmark) => 6,
    }
}

/// What the canvas shows.
#[derive(Default)]
pub(super) struct Painter {
    pub(super) cells: Cells,
    layout: Layout,
    theme: Option<Theme>,
    colours: Rc<[String]>,
}

impl Painter {
    /// Draws the cells that have changed. Returns false if none has.
    pub(super) fn paint(
        &mut self,
        canvas: &HtmlCanvasElement,
        view: &View,
        field: Field,
        layout: Layout,
        theme: Theme,
    ) -> bool {
        let Some(pen) = pen(canvas) else {
            return false;
        };
        let mut anew = false;
        if self.theme != Some(theme) {
            self.theme = Some(theme);
            self.colours = colours(canvas, theme);
            anew = true;
        }
        if self.layout != layout {
            self.layout = layout;
            let ratio = ratio();
            let (width, height) = (
                layout.columns as u32 * layout.pitch,
                layout.rows as u32 * layout.pitch,
            );
            canvas.set_width(width);
            canvas.set_height(height);
            let style = decimals(
                "width:#px;height:#px",
                &[f64::from(width) / ratio, f64::from(height) / ratio],
            );
            css(canvas, &style);
            self.cells = Cells::default();
            anew = true;
        }
        let changed = self.cells.show(field, view, layout.cells());
        if anew {
            pen.clear_rect(0.0, 0.0, canvas.width().into(), canvas.height().into());
            for (cell, look) in self.cells.looks().iter().enumerate() {
                if look.fill != Fill::Nothing {
                    self.cell(&pen, cell, *look);
                }
            }
            return true;
        }
        for cell in &changed {
            let (x, y) = layout.at(*cell);
            let side = f64::from(layout.pitch);
            pen.clear_rect(x.into(), y.into(), side, side);
            if let Some(look) = self.cells.looks().get(*cell) {
                self.cell(&pen, *cell, *look);
            }
        }
        !changed.is_empty()
    }

    fn cell(&self, pen: &CanvasRenderingContext2d, cell: usize, look: Look) {
        let (x, y) = self.layout.at(cell);
        let (x, y) = (f64::from(x), f64::from(y));
        let side = f64::from(self.layout.pitch - self.layout.gap);
        let Some(colour) = self.colours.get(colour(look.hue)) else {
            return;
        };
        pen.set_fill_style_str(colour);
        // Cells in the normal state are drawn pale.
        pen.set_global_alpha(if look.hue == Hue::Same { 0.5 } else { 1.0 });
        let line = (side / 6.0).round().max(1.0);
        match look.fill {
            Fill::Nothing => {}
            // Too small for anything but a colour.
            _ if side < 5.0 => pen.fill_rect(x, y, side, side),
            Fill::Full => pen.fill_rect(x, y, side, side),
            Fill::Struck | Fill::Dashed | Fill::Whole => {
                for (dx, dy, width, height) in [
                    (0.0, 0.0, side, line),
                    (0.0, side - line, side, line),
                    (0.0, 0.0, line, side),
                    (side - line, 0.0, line, side),
                ] {
                    pen.fill_rect(x + dx, y + dy, width, height);
                }
                if look.fill == Fill::Dashed {
                    // How much of each side the dash leaves out, and from where.
                    let (gap, at) = ((side / 4.0).round(), (side * 3.0 / 8.0).round());
                    pen.clear_rect(x + at, y, gap, side);
                    pen.clear_rect(x, y + at, side, gap);
                }
                if look.fill == Fill::Struck {
                    pen.begin_path();
                    pen.move_to(x, y + side);
                    pen.line_to(x + side, y);
                    pen.set_line_width(line);
                    pen.set_stroke_style_str(colour);
                    pen.stroke();
                }
            }
        }
    }

    /// The cell that an arrow key moves to: the next one that is not empty.
    pub(super) fn go(&self, key: &str, from: Option<usize>) -> Option<usize> {
        let looks = self.cells.looks();
        let is_there = |cell: &usize| {
            let look = looks.get(*cell);
            look.is_some_and(|look| look.fill != Fill::Nothing)
        };
        let columns = self.layout.columns.max(1);
        let (cells, at) = (looks.len(), from.unwrap_or_default());
        match key {
            "ArrowRight" => (at + 1..cells).find(is_there),
            "ArrowLeft" => (0..at).rev().find(is_there),
            "ArrowDown" => (at + columns..cells).step_by(columns).find(is_there),
            "ArrowUp" => (at % columns..at).step_by(columns).rev().find(is_there),
            "Home" => (0..cells).find(is_there),
            "End" => (0..cells).rev().find(is_there),
            _ => return None,
        }
        // At the edge the cursor stays.
        .or(from)
    }
}

pub(super) fn pen(canvas: &HtmlCanvasElement) -> Option<CanvasRenderingContext2d> {
    canvas.get_context("2d").ok().flatten()?.dyn_into().ok()
}

thread_local! {
    static PALETTE: RefCell<Option<(Theme, Rc<[String]>)>> = const { RefCell::new(None) };
}

/// The colours of the current theme as values: a canvas does not resolve style variables.
pub(super) fn colours(canvas: &HtmlCanvasElement, theme: Theme) -> Rc<[String]> {
    if let Some((of, colours)) = PALETTE.with_borrow(Clone::clone)
        && of == theme
    {
        return colours;
    }
    let probe: &HtmlElement = canvas.as_ref();
    let style = probe.style();
    let of = |name: &&str| {
        let _ = style.set_property("color", &format!("var({name})"));
        let computed = window().get_computed_style(probe).ok().flatten();
        let colour = computed.and_then(|style| style.get_property_value("color").ok());
        colour.unwrap_or_default()
    };
    let colours: Rc<[String]> = COLOURS.iter().map(of).collect();
    let _ = style.remove_property("color");
    PALETTE.set(Some((theme, Rc::clone(&colours))));
    colours
}
