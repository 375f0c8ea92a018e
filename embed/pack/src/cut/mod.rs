//! Cuts the program into several modules, so that the first picture needs few bytes: [`Side`] says which there are. What is not there
//! yet comes when it is called, so the cut decides when code comes, and never what it does.
//!
//! Three things go in. The program as wasm-bindgen has written it is what is cut. The program as the linker has written it
//! (`linked`) has relocations, which say which function uses which data. The list (`list`) says which functions, and which of their
//! points, run for which first pictures; a point (`body`) is a place where control may part or come together.
//!
//! 1. The list gives each function a side. What it does not know stays in the main module.
//! 2. Functions that run have stretches that do not. These become functions of their own (`outline`, `flow`), and get a side, too.
//! 3. What no list knows, and only functions of another side reach, goes there (`reach`).
//! 4. Data goes where its only users are (`data`).
//! 5. The modules are written (`write`), with functions that are like each other side by side (`alike`).
//!
//! The main module has memory, table and globals, and the others import them. A function that another side calls has a slot in the
//! table. Until its module is there, a stand is in its slot: a function that fetches that module, and then calls what is in the
//! slot (`split.js`).
//!
//! For the list, `count` writes a program in one piece that notes which points it comes to (`make starts`). The tests cut programs
//! that are made by chance, and run them.

mod alike;
mod body;
pub(crate) mod count;
mod data;
mod flow;
pub(crate) mod linked;
pub(crate) mod list;
mod module;
mod outline;
mod reach;
#[cfg(test)]
mod tests;
mod types;
pub(crate) mod write;

use std::collections::{BTreeMap, BTreeSet};

use wasmparser::{ExternalKind, Validator};

use data::Uses;
use linked::Linked;
use list::List;
use module::Module;
use outline::outline;
use reach::Reach;
use write::Cutter;

/// The modules that come of the cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    #[default]
    Main,
    /// What only the page's first pictures need.
    Page,
    /// What only those of elements need.
    Element,
    /// What the page's first pictures need, and those of elements that show more than most.
    More,
    /// What no first picture needs.
    Rest,
    /// Of that, what only the page has. It comes after the rest.
    Own,
    /// What neither a lesson nor a room needs. It comes after the rest.
    Seldom,
}

impl Side {
    const ALL: [Self; 7] = [
        Self::Main,
        Self::Page,
        Self::Element,
        Self::More,
        Self::Rest,
        Self::Own,
        Self::Seldom,
    ];
    /// The sides beside the main one, which have files of these names.
    pub(crate) const OTHERS: [(Self, &str); 6] = [
        (Self::Page, "page"),
        (Self::Element, "element"),
        (Self::More, "more"),
        (Self::Rest, "rest"),
        (Self::Own, "own"),
        (Self::Seldom, "seldom"),
    ];
}

/// The program in several modules.
pub(crate) struct Cut {
    pub(crate) main: Vec<u8>,
    /// Those beside it, by their names.
    pub(crate) others: Vec<(&'static str, Vec<u8>)>,
    /// What the modules import from the glue: its names there, each imported by its place here.
    pub(crate) imports: Vec<String>,
    /// The names that the glue has for what it calls at an event: each is exported by its place here (`closure_name`).
    pub(crate) closures: Vec<String>,
    pub(crate) stands: Stands,
}

/// What stands in for the functions of the others.
pub(crate) struct Stands {
    /// Parameters, results, and which of the others has the function.
    pub(crate) kinds: Vec<(Vec<u8>, Vec<u8>, usize)>,
    /// The slots, each with the number of its function's kind.
    pub(crate) slots: Vec<(u32, usize)>,
}

impl Stands {
    /// As `split.js` reads them: the kinds, the distance of each slot from the one before, and their kinds.
    pub(crate) fn told(&self) -> serde_json::Value {
        let slots = self.slots.iter().map(|&(slot, _)| slot);
        let before = std::iter::once(0).chain(slots.clone());
        let steps: Vec<u32> = slots.zip(before).map(|(slot, last)| slot - last).collect();
        let of: Vec<usize> = self.slots.iter().map(|&(_, kind)| kind).collect();
        serde_json::json!([self.kinds, steps, of])
    }
}

/// The functions that a program defines.
pub(crate) fn functions(bytes: &[u8], linked: &Linked<'_>) -> Result<Vec<Named>, String> {
    let module = Module::read(bytes)?;
    let contents = linked.contents()?;
    let named = module.defined().map(|(function, _)| {
        let name = module.names.get(&function).copied().unwrap_or_default();
        let content = contents.get(name);
        Named {
            name: name.to_owned(),
            path: list::path_of(name),
            content: content.map_or_else(String::new, |&content| list::short(content)),
            is_kept: module.exported(ExternalKind::Func, function).is_some(),
        }
    });
    Ok(named.collect())
}

/// A function: its name in this build, and how the list knows it.
pub(crate) struct Named {
    name: String,
    pub(crate) path: String,
    pub(crate) content: String,
    /// Others call it by its name, so it stays.
    is_kept: bool,
}

/// Cuts a program, as wasm-bindgen has written it, and leaves out what only the exports reach that are `unused`.
pub(crate) fn cut(
    bytes: &[u8],
    functions: &[Named],
    list: &List<'_>,
    linked: &Linked<'_>,
    unused: &BTreeSet<String>,
) -> Result<Cut, String> {
    let sides: BTreeMap<&str, Side> = functions
        .iter()
        .filter(|one| !one.is_kept && !one.content.is_empty())
        .map(|one| (one.name.as_str(), list.side(&one.path, &one.content)))
        .collect();
    let side_of = |name: &str| sides.get(name).copied().unwrap_or_default();
    let side_at = |at: usize, point: u32| {
        let side = side_of(&functions.get(at)?.name);
        list.point(side, &functions[at].content, point)
    };
    let outlined = outline(bytes, &side_at)?;
    let taken = functions
        .iter()
        .zip(&outlined.taken)
        .filter(|(_, taken)| !taken.stretches.is_empty());
    let taken = taken
        .map(|(one, taken)| (one.name.as_str(), taken))
        .collect();
    let uses = Uses::of(linked, &taken)?;
    let mut module = Module::read(&outlined.bytes)?;
    module
        .exports
        .retain(|export| !unused.contains(export.name));
    let side = |function: u32| match module.names.get(&function) {
        _ if function >= outlined.first => outlined.sides[(function - outlined.first) as usize],
        Some(name) => side_of(name),
        None => Side::Main,
    };
    let mut all: Vec<Side> = (0..module.imported() + module.bodies.len() as u32)
        .map(side)
        .collect();
    // One that counts is in one piece.
    if all.contains(&Side::Rest) {
        Reach::new(&module, &uses)?.place(&mut all)?;
    }
    let moved: BTreeMap<&str, Side> = module
        .names
        .iter()
        .map(|(&function, &name)| (name, all[function as usize]))
        .collect();
    let places = data::places(linked, &uses, |name| {
        moved.get(name).copied().unwrap_or_default()
    });
    let cut = Cutter::new(module, all, &places)
        .and_then(|cutter| cutter.cut())
        .map_err(|error| format!("the program cannot be cut: {error}"))?;
    let others = cut.others.iter().map(|(name, bytes)| (*name, bytes));
    for (name, bytes) in [("main", &cut.main)].into_iter().chain(others) {
        Validator::new()
            .validate_all(bytes)
            .map_err(|error| format!("the cut wrote a wrong module, {name}: {error}"))?;
    }
    Ok(cut)
}
