//! Checks the structure of the tree: which crate may import which, no dead files, none that is too long.

mod chinese;
mod colours;
mod contrast;
mod english;
mod reading;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use syn::visit::{self, Visit};

use reading::{
    code, dependencies, is_word, line_of, roots, without_literals, without_tests, words,
};
use tree::{File, assert_none, files, paths, read};

/// The libraries in `src`: each may import those before it. Nothing imports the programs.
const CRATES: [&str; 5] = ["cache", "world", "replay", "presentation", "terminal"];
const PROGRAMS: [&str; 3] = ["page", "cli", "mdbook"];

/// The crates that the cache may depend on, so that its users get few dependencies.
const OF_CACHE: [&str; 7] = [
    "derive_where",
    "foldhash",
    "hashbrown",
    "indexmap",
    "k8s_openapi",
    "kube_core",
    "serde",
];

/// Longer lines must be broken. Links and literals do not count: a message must be found by searching for its
/// words.
const LINE: usize = 140;

/// Longer files must be split. Tables are data (`.json`, `.tsv`, `.txt`) and do not count.
const FILE: usize = 900;

/// Paths that exist on one machine only. Written in parts, so that this file does not match.
const MACHINE_PATHS: [&str; 6] = [
    concat!("/wo", "rk/"),
    concat!("/t", "mp/"),
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
    concat!("..", "/shared"),
];

/// The compiler checks the imports; this checks that no manifest asks for more.
#[test]
fn crates_import_those_above_them() {
    for (place, name) in CRATES.iter().chain(&PROGRAMS).enumerate() {
        let all = dependencies(&read(&format!("src/{name}/Cargo.toml")));
        let mut others = all.clone();
        others.retain(|other| !other.starts_with("deltascope_"));
        for other in &all {
            let Some(other) = other.strip_prefix("deltascope_") else {
                continue;
            };
            let above = CRATES.iter().take(place).any(|above| *above == other);
            assert!(above, "src/{name} may not import {other}");
        }
        let outside: Vec<&String> = others
            .iter()
            .filter(|other| *name == "cache" && !OF_CACHE.contains(&other.as_str()))
            .collect();
        assert!(outside.is_empty(), "the cache does without {outside:?}");
    }
}

/// The sources in `src`, without modules that are only for tests.
fn sources() -> Vec<File> {
    let mut all = files(&["rs"]);
    all.retain(|file| file.under("src/"));
    let of_tests: Vec<String> = all.iter().flat_map(modules_of_tests).collect();
    all.retain(|file| {
        let rests = of_tests
            .iter()
            .filter_map(|module| file.path.strip_prefix(module));
        !rests.into_iter().any(|rest| rest.starts_with(['.', '/']))
    });
    all
}

/// Each module of a crate, with the modules of the crate that it imports.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// Those of a folder: of a crate (`world`), or of a module in it (`world/source`).
fn imports(sources: &[File], folder: &str) -> Imports {
    let base = format!("src/{folder}/");
    // Paths from the crate's root, as paths from the folder.
    let inside: String = folder
        .split('/')
        .skip(1)
        .fold("crate::".to_owned(), |path, name| path + name + "::");
    let mut imports = Imports::new();
    for file in sources.iter().filter(|file| file.under(&base)) {
        let path = &file.path[base.len()..];
        let module = path.split(['/', '.']).next().unwrap();
        let text = without_tests(&code(&file.text))
            .replace(&inside, "\0")
            .replace("crate::", "outside::")
            .replace('\0', "crate::");
        let names = roots(&text, path);
        let of = imports.entry(module.to_owned()).or_default();
        of.extend(names.into_iter().filter(|name| name != module));
    }
    imports.remove("lib");
    imports.remove("mod");
    let all: BTreeSet<String> = imports.keys().cloned().collect();
    for names in imports.values_mut() {
        names.retain(|name| all.contains(name));
    }
    imports
}

/// The modules in layers, each of which imports only earlier ones; and the rest, which are in circles or import
/// modules that are.
fn layers(mut imports: Imports) -> (Vec<BTreeSet<String>>, Imports) {
    let mut layers: Vec<BTreeSet<String>> = Vec::new();
    loop {
        let free = imports
            .iter()
            .filter(|(_, names)| !names.iter().any(|name| imports.contains_key(name)));
        let free: BTreeSet<String> = free.map(|(module, _)| module.clone()).collect();
        if free.is_empty() {
            return (layers, imports);
        }
        imports.retain(|module, _| !free.contains(module));
        layers.push(free);
    }
}

#[test]
fn modules_do_not_import_in_circles() {
    let sources = sources();
    let mut found = Vec::new();
    let folders: BTreeSet<&str> = sources
        .iter()
        .flat_map(|file| {
            file.path["src/".len()..]
                .rmatch_indices('/')
                .map(|(at, _)| &file.path["src/".len()..][..at])
        })
        .collect();
    assert!(folders.contains("world/source"), "{folders:?}");
    for folder in folders {
        let (_, circles) = layers(imports(&sources, folder));
        for (module, names) in &circles {
            found.push(format!(
                "src/{folder}/{module} imports {names:?}, and these it"
            ));
        }
    }
    assert_none(&found);
}

/// Writes the drawing for `make house`: the crates, and the modules of each in layers, the lowest first.
#[test]
fn the_house_can_be_drawn() {
    let sources = sources();
    let mut house = String::new();
    for name in CRATES.iter().chain(&PROGRAMS) {
        let all = dependencies(&read(&format!("src/{name}/Cargo.toml")));
        let others: Vec<&str> = all
            .iter()
            .filter_map(|other| other.strip_prefix("deltascope_"))
            .collect();
        house += &format!("{name} imports {}\n", list(&others));
        let imports = imports(&sources, name);
        let (layers, _) = layers(imports.clone());
        for (number, layer) in layers.iter().enumerate() {
            for module in layer {
                let names: Vec<&str> = imports[module].iter().map(String::as_str).collect();
                house += &format!("    {number} {module} imports {}\n", list(&names));
            }
        }
    }
    assert!(house.starts_with("cache imports nothing\n"), "{house}");
    #[allow(clippy::disallowed_methods, reason = "`make house` says where")]
    if let Some(path) = std::env::var_os("HOUSE") {
        fs::write(path, house).unwrap();
    }
}

fn list(names: &[&str]) -> String {
    if names.is_empty() {
        "nothing".to_owned()
    } else {
        names.join(", ")
    }
}

/// Finds matches over facts with a wildcard arm: a new fact would pass through them unnoticed.
#[derive(Default)]
struct Wildcards {
    /// The functions that are being visited, innermost last.
    inside: Vec<String>,
    found: Vec<String>,
}

impl Wildcards {
    fn of(text: &str) -> Vec<String> {
        let mut seen = Self::default();
        seen.visit_file(&syn::parse_file(text).unwrap());
        seen.found
    }
}

/// Whether an item is only for tests.
fn is_of_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Path>()
                .is_ok_and(|path| path.is_ident("test"))
    })
}

/// The paths of the modules that a file declares only for tests.
fn modules_of_tests(file: &File) -> Vec<String> {
    let base = file.path.strip_suffix(".rs").unwrap();
    let base = match base.rsplit_once('/') {
        Some((folder, "mod" | "lib" | "main")) => folder,
        _ => base,
    };
    let items = syn::parse_file(&file.text).unwrap().items;
    let declared = items.iter().filter_map(|item| match item {
        syn::Item::Mod(module) if is_of_tests(&module.attrs) => Some(&module.ident),
        _ => None,
    });
    declared.map(|name| format!("{base}/{name}")).collect()
}

impl<'ast> Visit<'ast> for Wildcards {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = match item {
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Fn(item) => &item.attrs,
            _ => return visit::visit_item(self, item),
        };
        if !is_of_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        self.inside.push(signature.ident.to_string());
    }

    fn visit_expr_match(&mut self, of: &'ast syn::ExprMatch) {
        let mut facts = Facts(false);
        for arm in &of.arms {
            facts.visit_pat(&arm.pat);
        }
        if facts.0 && of.arms.iter().any(|arm| takes_all(&arm.pat)) {
            self.found
                .push(self.inside.last().cloned().unwrap_or_default());
        }
        visit::visit_expr_match(self, of);
    }
}

/// Whether a pattern names a fact.
struct Facts(bool);

impl<'ast> Visit<'ast> for Facts {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let mut segments = path.segments.iter().rev().skip(1);
        self.0 |= segments
            .next()
            .is_some_and(|owner| owner.ident.to_string().ends_with("Fact"));
    }
}

fn takes_all(pattern: &syn::Pat) -> bool {
    match pattern {
        syn::Pat::Wild(_) => true,
        syn::Pat::Ident(name) => {
            // Names of variants and constants begin with a capital letter.
            let named = name.ident.to_string();
            name.subpat.is_none() && named.starts_with(|first: char| first.is_lowercase())
        }
        syn::Pat::Or(either) => either.cases.iter().any(takes_all),
        syn::Pat::Tuple(all) => all.elems.iter().all(takes_all),
        syn::Pat::TupleStruct(all) => all.path.is_ident("Some") && all.elems.iter().all(takes_all),
        _ => false,
    }
}

#[test]
fn no_match_over_facts_has_a_wildcard() {
    let mut found = Vec::new();
    for file in sources() {
        let wild = Wildcards::of(&file.text);
        found.extend(wild.iter().map(|name| format!("{}: fn {name}", file.path)));
    }
    assert_none(&found);
}

#[test]
fn wildcards_are_found() {
    let body = |body: &str| Wildcards::of(&format!("impl A {{ fn f(x: &Fact) {{ {body} }} }}"));
    let seen = |text: &str| !body(text).is_empty();
    assert_eq!(body("match x { Fact::Run(_) => 1, _ => 2 }"), ["f"]);
    assert!(seen("match x { QueueFact::Synced => {} fact => g(fact) }"));
    assert!(seen(
        "match x { Some(Fact::Run(_)) => 1, Some(_) | None => 2 }"
    ));
    assert!(seen(
        "let y = || match (x, z) { (RunFact::A { .. }, 1) => {} (_, _) => {} };"
    ));
    assert!(!seen("match x { Fact::Run(_) => 1, Fact::Work(_) => 2 }"));
    assert!(!seen("match z { Lang::En => 1, _ => 2 }"));
    assert!(!seen("matches!(x, Fact::Run(_))"));
    let tests = "#[cfg(test)] mod tests { fn f() { match x { Fact::Run(_) => 1, _ => 2 } } }";
    assert!(Wildcards::of(tests).is_empty());
}

#[test]
fn only_the_command_line_has_a_terminal() {
    let found: Vec<String> = files(&["rs"])
        .iter()
        .filter(|file| file.under("src/") && file.path != "src/terminal/lib.rs")
        .flat_map(|file| {
            let reads = file.under("src/cli/") || file.under("src/mdbook/");
            let code = without_tests(&code(&file.text));
            let lines: Vec<usize> = words(&code)
                .filter(|(_, word)| {
                    ["stdout", "stderr"].contains(word) || *word == "stdin" && !reads
                })
                .map(|(at, _)| line_of(&code, at))
                .collect();
            lines.into_iter().map(|line| {
                format!(
                    "{}:{line}: only src/terminal prints, and only src/cli and src/mdbook read stdin",
                    file.path
                )
            })
        })
        .collect();
    assert_none(&found);
}

/// Each instance of a sort adds some KB to the page.
#[test]
fn the_page_sorts_in_one_place() {
    let own = "src/cache/sorted.rs";
    let of_page = |file: &&File| {
        let others = ["src/cli/", "src/mdbook/", "src/terminal/", "src/bin/", own];
        !others.iter().any(|other| file.under(other))
    };
    let sorts = |code: &str| -> Vec<usize> {
        let after = code
            .match_indices(".sort")
            .map(|(at, word)| at + word.len());
        let is_std = |at: &usize| code[*at..].starts_with("()") || code[*at..].starts_with('_');
        after.filter(is_std).collect()
    };
    let mut found = Vec::new();
    for file in sources().iter().filter(of_page) {
        let code = without_tests(&code(&file.text));
        let lines = sorts(&code).into_iter().map(|at| line_of(&code, at));
        found.extend(lines.map(|line| format!("{}:{line}: use cache::sorted::sort", file.path)));
    }
    assert_none(&found);
    assert_eq!(
        sorts("x.sort(); Order::Key.sort(&mut x, f); x.sort_by(f)").len(),
        2
    );
}

#[test]
fn every_rust_file_is_a_module() {
    let all = files(&["rs"]);
    let sources: Vec<&File> = all.iter().filter(|file| file.under("src/")).collect();
    let mut reached = BTreeSet::new();
    let roots = ["src/lib.rs", "src/main.rs", "src/bin/mdbook-deltascope.rs"];
    let mut next: Vec<String> = roots.map(str::to_owned).into();
    let crates = CRATES.iter().chain(&PROGRAMS);
    next.extend(crates.map(|name| format!("src/{name}/lib.rs")));
    while let Some(path) = next.pop() {
        let Some(file) = sources.iter().find(|file| file.path == path) else {
            continue;
        };
        if reached.insert(path) {
            next.extend(modules(&file.path, &file.text));
        }
    }
    let dead: Vec<String> = sources
        .iter()
        .filter(|file| !reached.contains(&file.path))
        .map(|file| format!("{}: no `mod` declares it", file.path))
        .collect();
    assert_none(&dead);
}

#[test]
fn every_other_file_of_src_is_included_by_a_rust_file() {
    let rust: String = files(&["rs"])
        .iter()
        .filter(|file| file.under("src/"))
        .map(|file| file.text.as_str())
        .collect();
    let dead: Vec<String> = paths()
        .iter()
        .filter(|path| path.starts_with("src/") && !path.ends_with(".rs"))
        .filter(|path| {
            let of_a_package = ["/Cargo.toml", "/README.md", "/LICENSE"];
            !of_a_package.iter().any(|name| path.ends_with(name))
        })
        .filter(|path| {
            let name = path.rsplit('/').next().unwrap();
            // A lesson is named by its line in listed.rs.
            let line = format!("\n        \"{}\" ", name.trim_end_matches(".json"));
            let is_listed = path.starts_with("src/replay/lessons/") && rust.contains(&line);
            !is_listed && !rust.contains(name)
        })
        .map(|path| format!("{path}: no file of src names it"))
        .collect();
    assert_none(&dead);
}

#[test]
fn every_style_sheet_is_imported() {
    // The files in this folder are for pages outside of this project.
    let mut sheets = files(&["css"]);
    sheets.retain(|file| !file.under("embed/files/"));
    let mut using: Vec<(String, String)> = Vec::new();
    for file in files(&["html", "css", "rs"]) {
        using.push((file.path, file.text));
    }
    let dead: Vec<String> = sheets
        .iter()
        .filter(|sheet| {
            let name = sheet.path.rsplit('/').next().unwrap();
            !using
                .iter()
                .any(|(path, text)| *path != sheet.path && text.contains(name))
        })
        .map(|sheet| format!("{}: nothing imports it", sheet.path))
        .collect();
    assert_none(&dead);
}

/// A package states the oldest Rust that compiles it: the one that compiles and tests it here.
#[test]
fn the_stated_rust_is_the_one_that_is_tested() {
    let all = files(&["toml"]);
    let value = |path: &str, name: &str| {
        let file = all.iter().find(|file| file.path == path).unwrap();
        let found = file.text.lines().find_map(|line| line.strip_prefix(name));
        found.unwrap().trim_matches('"').to_owned()
    };
    let stated = value("Cargo.toml", "rust-version = ");
    assert_eq!(
        value("rust-toolchain.toml", "channel = "),
        format!("{stated}.0")
    );
}

/// The Makefile builds a page anew when one of its sources is newer; trunk does so while it serves.
#[test]
fn trunk_watches_the_sources_of_the_page() {
    let (trunk, make) = (read("Trunk.toml"), read("Makefile"));
    let quoted = |name: &str| -> Vec<String> {
        let line = trunk.lines().find_map(|line| line.strip_prefix(name));
        serde_json::from_str(line.unwrap()).unwrap()
    };
    let found = make.split_once("PAGE_SOURCES = $(shell find ").unwrap().1;
    let (found, _) = found.split_once(" -type f)").unwrap();
    let (in_it, not) = found.split_once(" -not ").unwrap();
    // What is said there itself needs a new start.
    let sources: Vec<&str> = in_it.split(' ').filter(|of| *of != "Trunk.toml").collect();
    assert_eq!(quoted("watch = "), sources);
    let left_out = quoted("ignore = ")
        .into_iter()
        .map(|of| format!("'{of}/*'"));
    let not = not.split(' ').filter(|of| of.ends_with("/*'"));
    let not: BTreeSet<_> = not.map(str::to_owned).collect();
    assert_eq!(left_out.collect::<BTreeSet<_>>(), not);
}

#[test]
fn text_files_are_clean() {
    let mut found = Vec::new();
    for file in files(&[
        "rs", "css", "html", "toml", "md", "mjs", "js", "ts", "sh", "yml", "yaml", "",
    ]) {
        found.extend(untidy(&file.path, &file.text));
    }
    assert_none(&found);
}

// --- searches -----------------------------------------------------------------------------------

/// The files that `mod name;` in this file may mean.
fn modules(path: &str, text: &str) -> Vec<String> {
    let base = ["/mod.rs", "/lib.rs", "/main.rs"]
        .iter()
        .find_map(|root| path.strip_suffix(root))
        .unwrap_or(path.trim_end_matches(".rs"));
    let code = code(text);
    let mut found = Vec::new();
    for (at, _) in words(&code).filter(|(_, word)| *word == "mod") {
        let rest = code[at + 3..].trim_start();
        let name: String = rest.chars().take_while(|&c| is_word(c)).collect();
        if rest[name.len()..].trim_start().starts_with(';') {
            found.push(format!("{base}/{name}.rs"));
            found.push(format!("{base}/{name}/mod.rs"));
        }
    }
    found
}

fn untidy(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    if !text.is_empty() && !text.ends_with('\n') {
        found.push(format!("{path}: no newline at the end"));
    }
    let length = text.lines().count();
    if length > FILE {
        found.push(format!("{path}: {length} lines; the most is {FILE}"));
    }
    if path.ends_with(".rs") {
        for (index, line) in without_literals(text).lines().enumerate() {
            if line.chars().count() > LINE && !line.contains("://") {
                found.push(format!("{path}:{}: longer than {LINE}", index + 1));
            }
        }
    }
    let recipes = path == "Makefile";
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        if line.contains('\t') && !recipes {
            found.push(format!("{path}:{number}: a tab"));
        }
        for name in MACHINE_PATHS {
            if line.contains(name) {
                found.push(format!("{path}:{number}: {name} is only on one machine"));
            }
        }
    }
    found
}

// --- tests of the checks themselves -------------------------------------------------------------

#[test]
fn modules_are_followed() {
    let text = "mod one;\npub(crate) mod two;\n// mod three;\nmod tests { }";
    assert_eq!(
        modules("src/ui/mod.rs", text),
        [
            "src/ui/one.rs",
            "src/ui/one/mod.rs",
            "src/ui/two.rs",
            "src/ui/two/mod.rs"
        ]
    );
    assert_eq!(
        modules("src/lib.rs", "pub mod ui;"),
        ["src/ui.rs", "src/ui/mod.rs"]
    );
    assert_eq!(
        modules("src/ui/rows.rs", "mod queue;"),
        ["src/ui/rows/queue.rs", "src/ui/rows/queue/mod.rs"]
    );
}

#[test]
fn untidy_text_is_found() {
    assert_eq!(untidy("a.rs", "x").len(), 1);
    assert_eq!(untidy("a.rs", "\tx\n").len(), 1);
    assert_eq!(untidy("Makefile", "\tx\n").len(), 0);
    assert_eq!(
        untidy("a.rs", &format!("{}\n", "x".repeat(LINE + 1))).len(),
        1
    );
    assert_eq!(
        untidy("a.md", &format!("{}here\n", MACHINE_PATHS[0])).len(),
        1
    );
    assert_eq!(untidy("a.mjs", &"x\n".repeat(FILE + 1)).len(), 1);
    assert_eq!(untidy("a.rs", "x\n").len(), 0);
}
