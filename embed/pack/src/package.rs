//! The files of the package.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::Kind;
use crate::slim::slim;
use crate::split::split;
use crate::strict::{Comes, strict};
use crate::styles::shadowed;

/// The page's styles that elements do not need.
const LEFT_OUT: [&str; 6] = [
    "cluster.css",
    "handout.css",
    "low.css",
    "presenter.css",
    "rescue.css",
    "shelf.css",
];
/// Of the page's styles, those that come after an element's first picture, as all that are seldom needed do.
const LATER: [&str; 5] = [
    "scene.css",
    "story.css",
    "drawer.css",
    "question.css",
    "help.css",
];
/// Those whose rules win over these.
const LAST: [&str; 3] = ["motion.css", "forced.css", "chosen.css"];
/// The styles that depend on the window: dialogs are above the whole page.
const OF_THE_WINDOW: [&str; 1] = ["help.css"];
const TOKENS: &str = "tokens.css";
/// Files for the page, not for the package.
const OF_THE_PAGE: [&str; 2] = ["old.js", "rescue.js"];

/// Writes the package beside the files that trunk has built. A release is for visitors, who need no names of functions.
pub(crate) fn write(root: &Path, dist: &Path, kind: Kind) -> Result<(), String> {
    let (mut glue, mut wasm) = built(dist)?;
    let parts = if kind != Kind::Debug {
        let (stem, parts) = split(&linked()?, dist, kind)?;
        let own = [format!("{stem}.js"), format!("{stem}_bg.wasm")];
        let mut page = read(&dist.join("index.html"))?;
        for (old, own) in [&glue, &wasm].into_iter().zip(&own) {
            if !page.contains(old) {
                return Err(format!("index.html does not name {old}"));
            }
            page = page.replace(old, own);
            if old != own {
                remove(&dist.join(old))?;
            }
        }
        [glue, wasm] = own;
        let source = read(&root.join("index.html"))?;
        let comes: Vec<_> = inline(&source)?
            .into_iter()
            .map(|(_, comes)| comes)
            .collect();
        let (page, files) = strict(&preloaded(&page, &wasm)?, &comes)?;
        put(dist, "index.html", &page)?;
        for (name, text) in files {
            put(dist, &name, &text)?;
        }
        parts
    } else {
        Vec::new()
    };
    let version = version(root)?;
    let module = read(&root.join("embed/deltascope.js"))?;
    for place in ["__GLUE__", "__WASM__", "__VERSION__"] {
        if !module.contains(place) {
            return Err(format!("embed/deltascope.js has no {place}"));
        }
    }
    // The program is never loaded by this name, but bundlers look for it.
    let text = read(&dist.join(&glue))?.replace("'deltascope_bg.wasm'", &format!("'{wasm}'"));
    put(dist, &glue, &text)?;
    let module = slim(&module)
        .replace("__GLUE__", &glue)
        .replace("__WASM__", &wasm)
        .replace("__VERSION__", &version);
    put(dist, "deltascope.js", &module)?;
    let [before, later, after] = styles(root)?;
    for (file, styles) in [
        ("deltascope-stage.js", json!([before, after])),
        ("deltascope-later.js", json!(later)),
    ] {
        put(dist, file, &format!("export default {styles};\n"))?;
    }
    let mut files = vec![
        "deltascope.js".to_owned(),
        "deltascope-stage.js".to_owned(),
        "deltascope-later.js".to_owned(),
        glue,
        wasm,
    ];
    files.extend(parts);
    copy_all(&root.join("embed/files"), Path::new(""), dist, &mut files)?;
    files.retain(|file| !OF_THE_PAGE.contains(&&**file));
    put(dist, "LICENSE", &read(&root.join("LICENSE"))?)?;
    files.push("LICENSE".to_owned());
    files.sort();
    let manifest = manifest(root, &version, &files)?;
    put(dist, "package.json", &manifest)
}

/// The page, which fetches what its first picture needs beside the program while that comes.
fn preloaded(page: &str, wasm: &str) -> Result<String, String> {
    let mut links = page.split_inclusive('>');
    let link = links.find(|tag| tag.contains(wasm) && tag.contains("preload"));
    let link = link.ok_or_else(|| format!("index.html does not preload {wasm}"))?;
    let others = ["page", "more"].map(|other| link.replace("_bg.wasm", &format!("-{other}.wasm")));
    Ok(page.replace(link, &format!("{link}{}", others.concat())))
}

/// The names that trunk has given to the glue and the program.
fn built(dist: &Path) -> Result<(String, String), String> {
    let mut names = names(dist)?;
    names.sort();
    let wasm = names.iter().find(|name| name.ends_with("_bg.wasm"));
    let wasm =
        wasm.ok_or_else(|| format!("{} holds no wasm: build the page first", dist.display()))?;
    let glue = wasm.replace("_bg.wasm", ".js");
    if !names.contains(&glue) {
        return Err(format!("{} holds {wasm}, but no {glue}", dist.display()));
    }
    Ok((glue, wasm.clone()))
}

/// What the linker has written: beside this program, which cargo has built as well.
fn linked() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| format!("where am I? {error}"))?;
    let target = own
        .ancestors()
        .nth(2)
        .ok_or("this program lies in no folder of cargo's")?;
    Ok(target.join("wasm32-unknown-unknown/page/deltascope.wasm"))
}

fn names(folder: &Path) -> Result<Vec<String>, String> {
    let error = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(error)? {
        names.push(
            entry
                .map_err(error)?
                .file_name()
                .to_string_lossy()
                .into_owned(),
        );
    }
    names.sort();
    Ok(names)
}

/// The files of the page's styles, in its order, and when each is fetched.
fn inline(page: &str) -> Result<Vec<(&str, Comes)>, String> {
    let lines = page.lines().filter(|line| line.contains("rel=\"inline\""));
    let files = lines.filter_map(|line| {
        let file = line.split("style/").nth(1)?.split('"').next()?;
        Some(Comes::of(line).map(|comes| (file, comes)))
    });
    files.collect()
}

/// An element's styles: of its first picture, those that come later, and those whose rules win, with its own. Each in the page's order.
fn styles(root: &Path) -> Result<[String; 3], String> {
    let page = read(&root.join("index.html"))?;
    let mut css = [const { String::new() }; 3];
    let files = inline(&page)?;
    let named = LEFT_OUT.iter().chain(&LATER).chain(&LAST);
    if let Some(absent) = named
        .into_iter()
        .find(|name| files.iter().all(|(file, _)| file != *name))
    {
        return Err(format!("index.html does not name style/{absent}"));
    }
    for (file, comes) in files {
        if !LEFT_OUT.contains(&file) {
            let text = read(&root.join("style").join(file))?;
            let text = shadowed(&text, OF_THE_WINDOW.contains(&file), file == TOKENS)
                .map_err(|error| format!("style/{file}: {error}"))?;
            let at = if comes == Comes::Seldom || LATER.contains(&file) {
                1
            } else if LAST.contains(&file) {
                2
            } else {
                0
            };
            css[at].push_str(&text);
        }
    }
    let own = shadowed(&read(&root.join("embed/stage.css"))?, false, false)
        .map_err(|error| format!("embed/stage.css: {error}"))?;
    css[2].push_str(&own);
    Ok(css)
}

fn version(root: &Path) -> Result<String, String> {
    let manifest = read(&root.join("Cargo.toml"))?;
    let line = manifest
        .lines()
        .find_map(|line| line.strip_prefix("version = \""));
    let version = line.and_then(|rest| rest.strip_suffix('"'));
    version
        .map(ToOwned::to_owned)
        .ok_or_else(|| "Cargo.toml names no version".to_owned())
}

/// `package.json` from the sources, with the version and the files. The rest stays as it is written there: the order of an
/// export's conditions says which counts.
fn manifest(root: &Path, version: &str, files: &[String]) -> Result<String, String> {
    let mut manifest = read(&root.join("embed/package.json"))?;
    for (name, none, value) in [
        ("version", json!("0.0.0"), json!(version)),
        ("files", json!([]), json!(files)),
    ] {
        let none = format!("\"{name}\": {none}");
        if manifest.matches(&none).count() != 1 {
            return Err(format!("embed/package.json has no {none}"));
        }
        manifest = manifest.replace(&none, &format!("\"{name}\": {value:#}"));
    }
    Ok(manifest)
}

fn copy_all(from: &Path, under: &Path, dist: &Path, files: &mut Vec<String>) -> Result<(), String> {
    for name in names(from)? {
        let (path, under) = (from.join(&name), under.join(&name));
        if path.is_dir() {
            let folder = dist.join(&under);
            fs::create_dir_all(&folder)
                .map_err(|error| format!("{}: {error}", folder.display()))?;
            copy_all(&path, &under, dist, files)?;
        } else {
            let name = under.to_string_lossy().replace('\\', "/");
            let text = read(&path)?;
            let is_script = name.ends_with(".js");
            put(dist, &name, &if is_script { slim(&text) } else { text })?;
            files.push(name);
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn remove(path: &Path) -> Result<(), String> {
    fs::remove_file(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn put(dist: &Path, name: &str, text: &str) -> Result<(), String> {
    let path = dist.join(name);
    fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
}
