//! Cuts the program: functions that do not run before the first picture, and the data that only they use, come later, in a file of
//! their own. What only the page's first pictures need, or only those of elements, has files, too.
//!
//! The files call each other through the table of functions. Until the others are there, something stands in each of their slots
//! that fetches them (`split.js`): so the cut changes when the code comes, and never what it does.

mod alike;
mod body;
pub(crate) mod count;
mod data;
pub(crate) mod linked;
pub(crate) mod list;
mod module;
mod outline;
pub(crate) mod part;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use wasmparser::{ExternalKind, Validator};

use linked::Linked;
use list::List;
use module::Module;
use outline::outline;
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
    Rest,
}

impl Side {
    const ALL: [Self; 5] = [
        Self::Main,
        Self::Page,
        Self::Element,
        Self::More,
        Self::Rest,
    ];
}

/// Whether a file is one of these, and no part's.
pub(crate) fn is_other(name: &str) -> bool {
    ["page", "element", "more", "rest"].contains(&name)
}

/// The program in several modules.
pub(crate) struct Cut {
    pub(crate) main: Vec<u8>,
    /// Those beside it, by their names.
    pub(crate) others: [(&'static str, Vec<u8>); 4],
    /// What the program imported from the glue, with the names that it has there now if a module still imports it.
    pub(crate) imports: Vec<(String, Option<String>)>,
    pub(crate) stands: Stands,
}

/// What stands in for the functions of the others.
pub(crate) struct Stands {
    /// Parameters and results, by the numbers of their types.
    pub(crate) types: Vec<(Vec<u8>, Vec<u8>)>,
    /// The slots, each with the number of its function's type.
    pub(crate) slots: Vec<(u32, usize)>,
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

/// What the splitter has written: the main part, before wasm-bindgen, the parts of the first picture, and the others.
pub(crate) struct Split {
    pub(crate) main: Vec<u8>,
    pub(crate) firsts: Vec<Vec<u8>>,
    pub(crate) laters: Vec<Vec<u8>>,
}

/// Cuts a program, as wasm-bindgen has written it, and leaves out what only the exports reach that are `unused`.
pub(crate) fn cut(
    bytes: &[u8],
    functions: &[Named],
    list: &List<'_>,
    linked: &Linked<'_>,
    split: &Split,
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
    let places = data::places(linked, split, side_of, &taken)?;
    let mut module = Module::read(&outlined.bytes)?;
    module
        .exports
        .retain(|export| !unused.contains(export.name));
    let side = |function: u32| match module.names.get(&function) {
        _ if function >= outlined.first => outlined.sides[(function - outlined.first) as usize],
        Some(name) => side_of(name),
        None => Side::Main,
    };
    let sides = (0..module.imported() + module.bodies.len() as u32)
        .map(side)
        .collect();
    let cut = Cutter::new(module, sides, &places)
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
