//! `mdbook-deltascope check`: checks the blocks of Markdown files, without mdBook.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use deltascope_presentation::state::state;
use deltascope_terminal::{self as terminal, Form};
use deltascope_world::text::Lang;

use super::args::Check;
use super::block::{Block, Folder};
use super::config::Config;
use super::expect::lines;
use super::fence::fences;
use super::{Failure, Problem, chapter, print, report, shown};

/// Folders that hold no chapters.
const NOT_CHAPTERS: [&str; 3] = ["node_modules", "target", "book"];

/// Checks the files and reports the problems.
pub(super) fn check(options: &Check) -> Result<(), Failure> {
    let mut files = Vec::new();
    for path in &options.paths {
        find(path, &mut files)
            .map_err(|error| Failure::new(format!("Cannot read {}: {error}.", shown(path))))?;
    }
    let (mut problems, mut count) = (Vec::new(), 0);
    for file in &files {
        let text = chapter(file)
            .map_err(|error| Failure::new(format!("Cannot read {}: {error}.", shown(file))))?;
        let found = fences(&text);
        if found.is_empty() {
            continue;
        }
        let (config, book) = match Config::of_file(file) {
            Ok(found) => found,
            Err(wrong) => {
                for problem in wrong {
                    if !problems.contains(&problem) {
                        problems.push(problem);
                    }
                }
                (Config::default(), None)
            }
        };
        let shown = shown(file);
        let folder = file.parent().unwrap_or(Path::new(""));
        let inside = book.and_then(|book| folder.strip_prefix(book.join(&config.src)).ok());
        let folder = Folder {
            path: folder,
            depth: inside.map(|inside| inside.components().count()),
        };
        for (place, fence) in found.into_iter().enumerate() {
            if fence.body.contains("{{#") {
                terminal::note(&format!(
                    "{shown}:{}: skipped: only mdBook follows its {{{{#…}}}}",
                    fence.line
                ));
                continue;
            }
            count += 1;
            let (mut block, wrong) = Block::look(&fence, &config.defaults, folder);
            if options.verbose {
                let is = if wrong.is_empty() { "ok" } else { "FAILED" };
                let block = block.as_mut().map(described).unwrap_or_default();
                print(
                    Form::Words,
                    &format!("{shown}:{}: {is}{block}\n", fence.line),
                )?;
            }
            problems.extend(wrong.into_iter().map(|wrong| Problem {
                file: shown.clone(),
                line: wrong.line,
                block: place,
                message: wrong.message,
            }));
        }
    }
    if problems.is_empty() {
        return print(
            Form::Words,
            &format!("blocks that hold: {count}, in {} files\n", files.len()),
        );
    }
    Err(Failure::new(report(&problems)))
}

/// The moment that a block shows, as lines for `[expect]`.
fn described(block: &mut Block) -> String {
    let view = block.view();
    let markers: Vec<String> = view
        .markers
        .iter()
        .map(|marker| format!("{} ({})", marker.id, marker.at))
        .collect();
    let mut text = format!(
        ", {}, {}, {} ms, {} facts of {}; markers: {}",
        view.lesson.id,
        view.lesson.era.version(),
        view.time,
        view.step,
        view.steps,
        markers.join(", ")
    );
    for line in lines(&state(&view, Lang::En)) {
        text.push_str("\n  ");
        text.push_str(&line);
    }
    text
}

/// Collects the Markdown files of a folder, in order; or a single file.
fn find(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        fs::metadata(path)?;
        files.push(path.to_owned());
        return Ok(());
    }
    let root = fs::canonicalize(path)?;
    let mut entered = BTreeSet::from([root.clone()]);
    find_in(path, &root, &mut entered, files)
}

fn find_in(
    folder: &Path,
    root: &Path,
    entered: &mut BTreeSet<PathBuf>,
    files: &mut Vec<PathBuf>,
) -> io::Result<()> {
    let mut inside = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<PathBuf>>>()?;
    inside.sort();
    for path in inside {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        if path.is_dir() {
            let whole = fs::canonicalize(&path)?;
            // A link to a folder around it leads in circles, and a folder inside is found without the link.
            let circles = whole.starts_with(root) || root.starts_with(&whole);
            let holds_none = name.starts_with('.') || NOT_CHAPTERS.contains(&&*name);
            if holds_none || (circles && path.is_symlink()) || !entered.insert(whole) {
                continue;
            }
            find_in(&path, root, entered, files)?;
        } else if path.extension().is_some_and(|ending| ending == "md") {
            files.push(path);
        }
    }
    Ok(())
}
