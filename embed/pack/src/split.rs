//! Cuts the program into what the first picture needs and parts that come later.
//!
//! A function of `src/page/later` that is marked as the way into a part is the boundary: what is only reached from there,
//! code and data, goes into a file of its own. The tool works on what the linker has written, so wasm-bindgen, which
//! trunk has run on the whole program, runs once more on the main part.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use wasm_encoder::reencode::{Reencode, RoundtripReencoder};
use wasm_split_cli_support::{Options, transform};

use serde_json::json;

use crate::Kind;
use crate::cut::count::counting;
use crate::cut::linked::Linked;
use crate::cut::list::{self, List};
use crate::cut::part::merged;
use crate::cut::{self, Stands};
use crate::program;
use crate::slim::slim;

/// The part that an element's first picture needs.
const FIRST: &str = "mount";
/// The module from which the main part imports what loads the others. It exists only within the glue.
const LINK: &str = "./parts.js";

/// Writes the main part and its glue, and the others beside them. Returns the begin of their names, and those of the others.
pub(crate) fn split(
    linked: &Path,
    dist: &Path,
    kind: Kind,
) -> Result<(String, Vec<String>), String> {
    let folder = linked.with_file_name("deltascope-parts");
    let main = folder.join("main.wasm");
    let bytes = read(linked)?;
    let split = transform({
        let mut options = Options::new(&bytes);
        options.output_dir = &folder;
        options.main_out_path = &main;
        options.link_name = LINK;
        options
    });
    let split =
        split.map_err(|error| format!("{} cannot be split: {error:#}", linked.display()))?;
    bind(&main, &folder)?;
    let bound = read(&folder.join("deltascope_bg.wasm"))?;
    let linked = Linked::read(&bytes)?;
    let functions = cut::functions(&bound, &linked)?;
    let list = match kind {
        Kind::Counts => List::default(),
        _ => List::read(list::TEXT)?,
    };
    let firsts: BTreeSet<_> = split
        .prefetch_map
        .get(FIRST)
        .into_iter()
        .flatten()
        .collect();
    let parts: BTreeSet<_> = split.prefetch_map.values().flatten().collect();
    let all = |files: &BTreeSet<&String>| {
        let files = files
            .iter()
            .map(|file| read(&folder.join(format!("{file}.wasm"))));
        files.collect::<Result<_, _>>()
    };
    let written = cut::Split {
        main: read(&main)?,
        firsts: all(&firsts)?,
        laters: all(&(&parts - &firsts))?,
    };
    let path = folder.join("deltascope.js");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let (text, unused) = without_classes(&text)?;
    let cut = cut::cut(&bound, &functions, &list, &linked, &written, &unused)?;
    let (main, counts) = match kind {
        Kind::Counts => {
            let counting = counting(&cut.main)?;
            (counting.bytes, Some((counting.at, counting.points)))
        }
        _ => (cut.main, None),
    };
    // What the splitter has written, each in the file where it comes.
    let mut modules: BTreeMap<&str, Vec<Vec<u8>>> = BTreeMap::new();
    for (name, bytes) in cut.others {
        modules.insert(name, vec![bytes]);
    }
    for part in &parts {
        let bytes = bare(&folder.join(format!("{part}.wasm")))?;
        let file = file_for(part, &split.prefetch_map);
        modules.entry(file).or_default().push(bytes);
    }
    let files = modules.into_iter().map(|(name, modules)| {
        let modules: Vec<&[u8]> = modules.iter().map(Vec::as_slice).collect();
        let bytes = match modules[..] {
            [one] if cut::is_other(name) => one.to_vec(),
            _ => merged(&modules).map_err(|error| format!("{name}: {error}"))?,
        };
        Ok((name, small(name, &bytes)?))
    });
    let files = files.collect::<Result<Vec<_>, String>>()?;
    let text = named(&text, &cut.imports)?;
    let glue = |stem: &str| {
        let uses = split.prefetch_map.iter().map(|(part, all)| {
            let files = all.iter().map(|file| file_for(file, &split.prefetch_map));
            let files: BTreeSet<_> = files.filter(|file| !cut::is_other(file)).collect();
            let files = files.into_iter().map(|file| file_of(stem, file));
            (part.clone(), files.collect())
        });
        let text = with_parts(&text, &uses.collect())?;
        with_others(&text, |other| file_of(stem, other), &cut.stands).map(|text| slim(&text))
    };
    // They fit only each other, also if only the list is another. So none has a name that another build gives.
    let mut hash = DefaultHasher::new();
    hash.write(glue("deltascope")?.as_bytes());
    hash.write(&main);
    for (_, bytes) in &files {
        hash.write(bytes);
    }
    let stem = format!("deltascope-{:016x}", hash.finish());
    if let Some((at, points)) = counts {
        let functions = functions.iter().zip(&points);
        let functions: Vec<_> = functions
            .map(|(one, points)| json!([one.path, one.content, points]))
            .collect();
        let told = json!({ "glue": format!("{stem}.js"), "at": at, "functions": functions });
        put(dist, "functions.json", told.to_string().as_bytes())?;
    }
    put(dist, &format!("{stem}.js"), glue(&stem)?.as_bytes())?;
    put(dist, &format!("{stem}_bg.wasm"), &main)?;
    let mut names = Vec::new();
    for (file, bytes) in &files {
        names.push(file_of(&stem, file));
        put(dist, &file_of(&stem, file), bytes)?;
    }
    Ok((stem, names))
}

/// The file in which something comes that the splitter has written: that of its part; if several parts share it, it comes with the first
/// of them, as the rest does, unless an element's first picture needs it.
fn file_for<'a>(written: &str, uses: &'a HashMap<String, Vec<String>>) -> &'a str {
    let of = |part: &str| {
        uses.get(part)
            .is_some_and(|files| files.iter().any(|file| file == written))
    };
    let mut parts = uses.keys().filter(|part| of(part));
    match (parts.next(), parts.next()) {
        (Some(part), None) => part,
        _ if of(FIRST) => "shared",
        _ => "rest",
    }
}

fn file_of(stem: &str, part: &str) -> String {
    format!("{stem}-{part}.wasm")
}

/// Runs wasm-bindgen as trunk does.
fn bind(main: &Path, folder: &Path) -> Result<(), String> {
    let status = Command::new("wasm-bindgen")
        .args([
            "--target",
            "web",
            "--no-typescript",
            "--keep-lld-exports",
            "--out-name",
            "deltascope",
            "--out-dir",
        ])
        .arg(folder)
        .arg(main)
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("wasm-bindgen ended with {status}")),
        Err(error) => Err(format!(
            "wasm-bindgen cannot be run: {error}. `make setup` installs it; target/tools/bin belongs on PATH"
        )),
    }
}

/// The glue, with what loads the parts in place of an import of it: so it is found where the glue is, and works on the
/// same instance of the program, also when an element has loaded both again.
fn with_parts(glue: &str, uses: &BTreeMap<String, Vec<String>>) -> Result<String, String> {
    let is_link = |line: &&str| line.starts_with("import * as ") && line.contains(LINK);
    let imports: Vec<&str> = glue.lines().filter(is_link).collect();
    if imports.is_empty() {
        return Err("the glue does not import what loads the parts".to_owned());
    }
    let mut text: String = glue
        .lines()
        .filter(|line| !is_link(line))
        .flat_map(|line| [line, "\n"])
        .collect();
    text.push_str(LOADER);
    text.push_str("const loaders = {\n");
    for (part, files) in uses {
        // Bundlers look for this form.
        let urls = files
            .iter()
            .map(|file| format!("new URL('./{file}', import.meta.url)"));
        let urls = urls.collect::<Vec<_>>().join(", ");
        let first = if part == FIRST { ", true" } else { "" };
        let _ = writeln!(
            text,
            "    __wasm_split_load_{part}: loads(() => [{urls}]{first}),"
        );
    }
    text.push_str("};\n");
    // There is an import for each part.
    for import in imports {
        let name = import.split_whitespace().nth(3).unwrap_or_default();
        let _ = writeln!(text, "const {name} = loaders;");
    }
    Ok(text)
}

/// The glue without the classes that it offers, which dependencies declare and no page uses, and what they alone take from the program.
fn without_classes(glue: &str) -> Result<(String, BTreeSet<String>), String> {
    let (mut kept, mut taken) = (String::new(), String::new());
    let mut lines = glue.lines();
    while let Some(line) = lines.next() {
        let end = if line.starts_with("export class ") {
            "}"
        } else if line.starts_with("const ") && line.contains("Finalization = ") {
            ";"
        } else {
            let is_of_a_class = line.starts_with("if (Symbol.dispose) ");
            let text = if is_of_a_class { &mut taken } else { &mut kept };
            text.push_str(line);
            text.push('\n');
            continue;
        };
        let mut last = Some(line);
        while let Some(line) = last.take() {
            taken.push_str(line);
            taken.push('\n');
            let is_end = if end == "}" {
                line == end
            } else {
                line.ends_with(end)
            };
            if !is_end {
                last = Some(lines.next().ok_or("a class in the glue has no end")?);
            }
        }
    }
    let kept_ones = taken_from_program(&kept);
    let unused = taken_from_program(&taken).into_iter();
    let unused = unused.filter(|name| !kept_ones.contains(name));
    let unused = unused.map(str::to_owned).collect();
    Ok((kept, unused))
}

/// What a script takes from the program, by its names.
fn taken_from_program(script: &str) -> BTreeSet<&str> {
    let uses = script.split("wasm.").skip(1);
    uses.map(|rest| {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let end = rest.bytes().position(|byte| !is_name(byte));
        &rest[..end.unwrap_or(rest.len())]
    })
    .collect()
}

/// The glue, with other names for what the program imports from it, and without what it does not import.
fn named(glue: &str, imports: &[(String, Option<String>)]) -> Result<String, String> {
    let mut text = glue.to_owned();
    for (long, short) in imports {
        let key = format!("        {long}: ");
        let mut parts = text.split(&key);
        let (Some(before), Some(after), None) = (parts.next(), parts.next(), parts.next()) else {
            return Err(format!("the glue has no place for {long}"));
        };
        text = match short {
            Some(short) => format!("{before}{short}: {after}"),
            None => {
                let end = "\n        },\n";
                let rest = after.split_once(end);
                let (_, rest) = rest.ok_or_else(|| format!("{long} has no end in the glue"))?;
                format!("{before}{rest}")
            }
        };
    }
    Ok(text)
}

/// The glue, with the addresses of the other files, and with what stands in for their functions until they come.
fn with_others(
    glue: &str,
    name: impl Fn(&str) -> String,
    stands: &Stands,
) -> Result<String, String> {
    let (sync, end) = (
        "export { initSync, __wbg_init as default };",
        "return __wbg_finalize_init(instance, module);",
    );
    let (before, after) = glue
        .split_once("async function __wbg_init_once")
        .ok_or("the glue begins in another way")?;
    let load = "const { instance, module } =";
    if [end, sync, load].iter().any(|text| !after.contains(text)) {
        return Err("the glue begins in another way".to_owned());
    }
    let after = after
        .replacen(load, &format!("const own = first();\n    {load}"), 1)
        .replacen(end, &format!("await stand(instance.exports.__indirect_function_table);\n    await takeFirst(await own, instance.exports);\n    {end}"), 1)
        .replacen(sync, "export { __wbg_init as default };", 1);
    // Bundlers look for this form.
    let addresses = ["page", "element", "more", "rest"]
        .map(|other| format!("() => new URL('./{}', import.meta.url)", name(other)))
        .join(", ");
    let types: Vec<_> = stands
        .types
        .iter()
        .map(|(params, results)| json!([params, results]))
        .collect();
    let mut last = 0;
    let steps = stands
        .slots
        .iter()
        .map(|&(slot, _)| slot - std::mem::replace(&mut last, slot));
    let steps: Vec<_> = steps.collect();
    let of: Vec<_> = stands.slots.iter().map(|&(_, ty)| ty).collect();
    let stands = json!([types, steps, of]);
    Ok(format!(
        "{before}async function __wbg_init_once{after}const addresses = [{addresses}];\nconst stands = {stands};\n",
    ))
}

const LOADER: &str = include_str!("split.js");

/// Bundlers put files up to 4096 bytes into their code, as URLs that a strict policy forbids.
const LEAST: usize = 4097;

/// A part as small as it can be: the linker leaves room in its numbers.
fn small(name: &str, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut module = wasm_encoder::Module::new();
    RoundtripReencoder
        .parse_core_module(&mut module, wasmparser::Parser::new(0), bytes)
        .map_err(|error| format!("{name}: {error}"))?;
    let room = LEAST.saturating_sub(module.len());
    if room > 0 {
        module.section(&wasm_encoder::CustomSection {
            name: "".into(),
            data: vec![0; room].into(),
        });
    }
    Ok(module.finish())
}

fn bare(path: &Path) -> Result<Vec<u8>, String> {
    let bare = program::bare(&read(path)?);
    bare.ok_or_else(|| format!("{} is no WebAssembly module", path.display()))
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn put(dist: &Path, name: &str, bytes: &[u8]) -> Result<(), String> {
    let path: PathBuf = dist.join(name);
    fs::write(&path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{file_for, named, with_parts, without_classes};

    #[test]
    fn the_glue_loads_the_parts_itself() {
        let glue = "import * as import1 from \"./parts.js\"\nimport * as import2 from \"./parts.js\"\nlet wasm;\n";
        let files = |files: &[&str]| files.iter().map(|file| (*file).to_owned()).collect();
        let uses = BTreeMap::from([
            ("one".to_owned(), files(&["a.wasm", "b.wasm"])),
            ("two".to_owned(), files(&["b.wasm"])),
        ]);
        let text = with_parts(glue, &uses).unwrap();
        assert!(!text.contains("./parts.js"), "{text}");
        for line in [
            "    __wasm_split_load_one: loads(() => [new URL('./a.wasm', import.meta.url), new URL('./b.wasm', import.meta.url)]),",
            "const import1 = loaders;",
            "const import2 = loaders;",
        ] {
            assert!(text.lines().any(|one| one == line), "{line}\n{text}");
        }
        assert!(with_parts("let wasm;\n", &uses).is_err(), "no import");
    }

    #[test]
    fn classes_go_with_what_they_alone_use() {
        let glue = "export class A {\n    free() {\n        wasm.a_free(wasm.both);\n    }\n}\n\
            if (Symbol.dispose) A.prototype[Symbol.dispose] = A.prototype.free;\nexport function f() {\n    wasm.f(wasm.both);\n}\n\
            const AFinalization = (typeof FinalizationRegistry === 'undefined')\n    ? { register: () => {} }\n    \
            : new FinalizationRegistry(ptr => wasm.a_free(ptr, 1));\nlet wasm;\n";
        let (text, unused) = without_classes(glue).unwrap();
        assert_eq!(
            text,
            "export function f() {\n    wasm.f(wasm.both);\n}\nlet wasm;\n"
        );
        assert_eq!(Vec::from_iter(unused), ["a_free"]);
        assert!(without_classes("export class A {\n").is_err());
    }

    #[test]
    fn the_glue_gives_what_the_program_imports() {
        let glue = "        one: function() {\n            a;\n        },\n        two: function() {\n            b;\n        },\n";
        let names = |names: [(&str, Option<&str>); 1]| {
            named(
                glue,
                &names.map(|(long, short)| (long.to_owned(), short.map(str::to_owned))),
            )
        };
        let other = "        two: function() {\n            b;\n        },\n";
        let short = glue.replace("        one", "1");
        assert_eq!(names([("one", Some("1"))]).unwrap(), short);
        assert_eq!(names([("one", None)]).unwrap(), other);
        assert!(names([("three", None)]).is_err());
    }

    #[test]
    fn what_parts_share_comes_with_the_first() {
        let uses = [
            ("mount", &["split_mount", "chunk_1", "chunk_2"][..]),
            ("runs", &["split_runs", "chunk_1", "chunk_3", "chunk_4"]),
            ("tools", &["split_tools", "chunk_3"]),
        ];
        let uses = uses.map(|(part, files)| {
            let files = files.iter().map(|file| (*file).to_owned());
            (part.to_owned(), files.collect())
        });
        let uses = uses.into();
        for (written, file) in [
            ("split_mount", "mount"),
            ("chunk_1", "shared"),
            ("chunk_2", "mount"),
            ("chunk_3", "rest"),
            ("chunk_4", "runs"),
            ("split_tools", "tools"),
        ] {
            assert_eq!(file_for(written, &uses), file, "{written}");
        }
    }
}
