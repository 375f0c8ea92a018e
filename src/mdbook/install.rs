//! `mdbook-deltascope install`: copies the element's files, and adds the preprocessor to book.toml.

use std::fs;
use std::path::{Component, Path};

use serde_json::Value;
use toml_edit::{Array, DocumentMut, Item, Table, value};

use deltascope_terminal::Form;

use super::args::Install;
use super::body::plain_toml;
use super::config::{Config, NAME, problems};
use super::{Failure, output, print, report, shown};

/// Lists the files of the folder that this program has written.
const MANIFEST: &str = "deltascope-files.json";
/// The page that comes with the element; books do not need it.
const NOT_FOR_BOOKS: [&str; 1] = ["index.html"];

/// Most files and folders to copy: links could make a few into many.
const MAX_FILES: usize = 10_000;

/// Copies the files, and adds the preprocessor to book.toml.
pub(super) fn install(options: &Install) -> Result<(), Failure> {
    let path = options.book.join("book.toml");
    let text = fs::read_to_string(&path).map_err(|error| {
        Failure::new(format!(
            "{} cannot be read: {error}. Say which folder has the book: mdbook-deltascope install BOOK",
            shown(&path)
        ))
    })?;
    let book = plain_toml(&text).map_err(|wrong| {
        let line = super::fence::line_of(&text, wrong.offset);
        Failure::new(format!("{}:{line}: {}", shown(&path), wrong.message))
    })?;
    let config =
        Config::read(&book).map_err(|wrong| Failure::new(report(&problems(&path, &wrong))))?;
    let mut said = String::new();
    if config.assets.contains("://") || config.assets.starts_with('/') {
        said.push_str(&format!(
            "{} has the element's files: none are copied\n",
            config.assets
        ));
    } else {
        let files = files(&options.from)?;
        let folder = options.book.join(&config.src).join(&config.assets);
        output::put(&folder, MANIFEST, &files).map_err(|error| {
            Failure::new(format!("{} cannot be written: {error}.", shown(&folder)))
        })?;
        said.push_str(&format!("{} files in {}\n", files.len(), shown(&folder)));
    }
    if let Some(edited) = with_preprocessor(&text)? {
        output::write(&path, edited.as_bytes()).map_err(|error| {
            Failure::new(format!("{} cannot be written: {error}.", shown(&path)))
        })?;
        said.push_str(&format!("[preprocessor.{NAME}] in {}\n", shown(&path)));
    }
    print(Form::Words, &said)
}

/// book.toml with the preprocessor, or `None` if it has it already.
fn with_preprocessor(text: &str) -> Result<Option<String>, Failure> {
    let mut document: DocumentMut = text
        .parse()
        .map_err(|error| Failure::new(format!("book.toml cannot be edited: {error}")))?;
    if document
        .get("preprocessor")
        .and_then(|all| all.get(NAME))
        .is_some()
    {
        return Ok(None);
    }
    let all = document.entry("preprocessor").or_insert_with(|| {
        let mut all = Table::new();
        all.set_implicit(true);
        Item::Table(all)
    });
    let Some(all) = all.as_table_like_mut() else {
        return Err(Failure::new(
            "book.toml cannot be edited: preprocessor is no table",
        ));
    };
    let mut own = Table::new();
    // After `links`, so that included files are there.
    own.insert("after", value(Array::from_iter(["links"])));
    all.insert(NAME, Item::Table(own));
    Ok(Some(document.to_string()))
}

/// The files of the built element: those that its package lists, else all except the page.
fn files(dist: &Path) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let cannot = |path: &Path, error: &dyn std::fmt::Display| {
        Failure::new(format!(
            "{} cannot be read: {error}. Build the element first (make dist), or say where it is: --from DIST",
            shown(path)
        ))
    };
    let package = fs::read(dist.join("package.json"));
    let package: Option<Value> = package
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok());
    let named = package
        .as_ref()
        .and_then(|package| package.get("files")?.as_array());
    let mut names: Vec<String> = match named {
        Some(named) => named
            .iter()
            .map(|name| plain(name).map(str::to_owned))
            .collect::<Result<_, _>>()
            .map_err(|name| {
                Failure::new(format!(
                    "{} names {name} in \"files\", which is no file inside its folder; nothing is copied. Build the element again (make dist), or say where it is: --from DIST",
                    shown(&dist.join("package.json"))
                ))
            })?,
        None => {
            let entries = fs::read_dir(dist).map_err(|error| cannot(dist, &error))?;
            let names = entries
                .flatten()
                .map(|entry| entry.file_name().to_string_lossy().into_owned());
            names
                .filter(|name| !NOT_FOR_BOOKS.contains(&&**name))
                .collect()
        }
    };
    names.sort();
    let (mut files, mut entered) = (Vec::new(), 0);
    while let Some(name) = names.pop() {
        let path = dist.join(&name);
        entered += 1;
        if entered > MAX_FILES {
            return Err(cannot(
                dist,
                &format!("there are more than {MAX_FILES} files and folders in it"),
            ));
        }
        if path.is_dir() {
            let whole = fs::canonicalize(&path).map_err(|error| cannot(&path, &error))?;
            let mut around = path
                .ancestors()
                .skip(1)
                .take_while(|one| one.starts_with(dist));
            if around.any(|one| fs::canonicalize(one).is_ok_and(|one| one == whole)) {
                return Err(in_circles(&path));
            }
            let entries = fs::read_dir(&path).map_err(|error| cannot(&path, &error))?;
            names.extend(
                entries
                    .flatten()
                    .map(|entry| format!("{name}/{}", entry.file_name().to_string_lossy())),
            );
            continue;
        }
        let bytes = fs::read(&path).map_err(|error| cannot(&path, &error))?;
        files.push((name, bytes));
    }
    if !files.iter().any(|(name, _)| name == "deltascope.js") {
        return Err(cannot(&dist.join("deltascope.js"), &"it is not there"));
    }
    files.sort();
    Ok(files)
}

fn in_circles(link: &Path) -> Failure {
    Failure::new(format!(
        "{} is a link to a folder that it lies in; nothing is copied. Remove it, or build the element again (make dist)",
        shown(link)
    ))
}

/// Accepts a relative name that stays below the folder it is joined to.
fn plain(name: &Value) -> Result<&str, &Value> {
    let text = name.as_str().ok_or(name)?;
    let mut parts = Path::new(text).components().peekable();
    let is_inside =
        parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)));
    is_inside.then_some(text).ok_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn book_toml_keeps_its_other_content() {
        for (text, expected) in [
            (
                "# Mine\n[book]\ntitle = \"x\" # so\n",
                Some(
                    "# Mine\n[book]\ntitle = \"x\" # so\n\n[preprocessor.deltascope]\nafter = [\"links\"]\n",
                ),
            ),
            (
                "[preprocessor.toc]\n\n[output.html]\n",
                Some(
                    "[preprocessor.toc]\n\n[preprocessor.deltascope]\nafter = [\"links\"]\n\n[output.html]\n",
                ),
            ),
            ("[preprocessor.deltascope]\nlang = \"zh\"\n", None),
        ] {
            assert_eq!(with_preprocessor(text).unwrap().as_deref(), expected);
        }
    }
}
