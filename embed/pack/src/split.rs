//! Puts the program into several files: what the first picture needs, and what comes later (see [`cut`]).
//!
//! The cut works on what the linker has written, so wasm-bindgen, which trunk has run on the whole program, runs once more, with what
//! the files need of each other.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use wasm_encoder::reencode::{Reencode, RoundtripReencoder};

use serde_json::json;

use crate::Kind;
use crate::cut::count::counting;
use crate::cut::linked::Linked;
use crate::cut::list::{self, List};
use crate::cut::write::{GIVEN, GLUE, closure_name};
use crate::cut::{self, Side, Stands};
use crate::slim::slim;

/// Writes the main part and its glue, and the others beside them. Returns the begin of their names, and those of the others.
pub(crate) fn split(
    linked: &Path,
    dist: &Path,
    kind: Kind,
) -> Result<(String, Vec<String>), String> {
    let folder = linked.with_file_name("deltascope-bound");
    bind(linked, &folder)?;
    let (bytes, bound) = (read(linked)?, read(&folder.join("deltascope_bg.wasm"))?);
    let linked = Linked::read(&bytes)?;
    let functions = cut::functions(&bound, &linked)?;
    let list = match kind {
        Kind::Counts => List::default(),
        _ => List::read(list::TEXT)?,
    };
    let path = folder.join("deltascope.js");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let (text, unused) = without_classes(&text)?;
    let cut = cut::cut(&bound, &functions, &list, &linked, &unused)?;
    let (main, counts) = match kind {
        Kind::Counts => {
            let counting = counting(&cut.main)?;
            (counting.bytes, Some((counting.at, counting.points)))
        }
        _ => (cut.main, None),
    };
    let others = cut.others.iter();
    let files = others
        .map(|(name, bytes)| Ok((*name, small(name, bytes)?)))
        .collect::<Result<Vec<_>, String>>()?;
    if cut.closures.is_empty() {
        return Err("the glue names its closures in another way".to_owned());
    }
    let text = closures(&given(&text, &cut.imports)?, &cut.closures);
    let glue = |stem: &str| {
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

fn file_of(stem: &str, other: &str) -> String {
    format!("{stem}-{other}.wasm")
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

/// The glue, where what it gives the program is an array: of these, in their order.
fn given(glue: &str, imports: &[String]) -> Result<String, String> {
    let begin = "    const import0 = {\n        __proto__: null,\n";
    let end = format!(
        "    }};\n    return {{\n        __proto__: null,\n        \"{GLUE}\": import0,\n    }};\n"
    );
    let parts = glue.split_once(begin);
    let parts = parts.and_then(|(before, rest)| Some((before, rest.split_once(&end)?)));
    let (before, (functions, after)) =
        parts.ok_or("the glue gives its functions in another way")?;
    let mut named: BTreeMap<&str, String> = BTreeMap::new();
    let mut last = "";
    for line in functions.lines() {
        let function = line
            .strip_prefix("        ")
            .and_then(|line| line.split_once(": function"));
        let line = match function {
            Some((name, rest)) if !name.contains(' ') => {
                if named.contains_key(name) {
                    return Err(format!("the glue has {name} twice"));
                }
                last = name;
                &format!("        function{rest}")
            }
            _ => line,
        };
        let text = named.entry(last).or_default();
        text.push_str(line);
        text.push('\n');
    }
    let texts = imports.iter().map(|name| {
        named.get(name.as_str()).map_or_else(
            || Err(format!("the glue has no {name}")),
            |text| Ok(text.as_str()),
        )
    });
    let texts = texts.collect::<Result<String, _>>()?;
    Ok(format!(
        "{before}    return {{ {GIVEN}: [\n{texts}    ] }};\n{after}"
    ))
}

/// The glue, with short names for what it calls at an event.
fn closures(glue: &str, names: &[String]) -> String {
    let mut text = glue.to_owned();
    let mut names: Vec<_> = names.iter().enumerate().collect();
    // One may begin as another does.
    names.sort_unstable_by_key(|(_, name)| Reverse(name.len()));
    for (place, name) in names {
        text = text.replace(name, &closure_name(place));
    }
    text
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
    // A closure of a program that has died would trap again; in the middle of another report nobody hears of that.
    let calls = "Closure(arg0, arg1, f) {";
    if before.matches(calls).count() != 2 {
        return Err("the glue makes closures in another way".to_owned());
    }
    let before = before.replace(
        calls,
        "Closure(arg0, arg1, call) {\n    const f = whileAlive(call);",
    );
    let load = "const { instance, module } =";
    if [end, sync, load].iter().any(|text| !after.contains(text)) {
        return Err("the glue begins in another way".to_owned());
    }
    let after = after
        .replacen(load, &format!("const own = first();\n    {load}"), 1)
        .replacen(end, &format!("await stand(instance.exports.__indirect_function_table);\n    await takeFirst(await own, instance.exports);\n    {end}"), 1)
        .replacen(sync, "export { __wbg_init as default };", 1);
    // Bundlers look for this form.
    let addresses = Side::OTHERS
        .map(|(_, other)| format!("() => new URL('./{}', import.meta.url)", name(other)))
        .join(", ");
    Ok(format!(
        "{before}async function __wbg_init_once{after}{LOADER}const addresses = [{addresses}];\nconst stands = {};\n",
        stands.told()
    ))
}

pub(crate) const LOADER: &str = include_str!("split.js");

/// Bundlers put files up to 4096 bytes into their code, as URLs that a strict policy forbids.
const LEAST: usize = 4097;

/// A file as small as it can be: the linker leaves room in its numbers.
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

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn put(dist: &Path, name: &str, bytes: &[u8]) -> Result<(), String> {
    let path: PathBuf = dist.join(name);
    fs::write(&path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::{closures, given, without_classes};

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
        let glue = "    const import0 = {\n        __proto__: null,\n        one: function() {\n            a;\n        },\n        \
            two: function() { return handleError(function () {\n            b({ c: d });\n        }, arguments); },\n    };\n    \
            return {\n        __proto__: null,\n        \"./deltascope_bg.js\": import0,\n    };\n}\n";
        let given = |names: &[&str]| {
            given(
                glue,
                &names.iter().map(ToString::to_string).collect::<Vec<_>>(),
            )
        };
        let one = "        function() {\n            a;\n        },\n";
        let two = "        function() { return handleError(function () {\n            b({ c: d });\n        }, arguments); },\n";
        for (names, functions) in [(&["two", "one"][..], [two, one]), (&["one"], [one, ""])] {
            let array = format!("    return {{ g: [\n{}    ] }};\n}}\n", functions.concat());
            assert_eq!(given(names).unwrap(), array);
        }
        assert!(given(&["three"]).is_err());
    }

    #[test]
    fn closures_have_short_names() {
        let names = ["a_h1", "a_h1_2"].map(str::to_owned);
        assert_eq!(
            closures("wasm.a_h1(a_h1_2)", &names),
            "wasm.closure0(closure1)"
        );
    }
}
