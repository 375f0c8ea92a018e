//! The words of a surface, which libFuzzer puts together: those of its inputs, and those that the sources that read it
//! compare with. What a source learns to read is a word of the next run.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::surfaces::Surface;

/// Most words of a surface: of more, each would be tried too rarely.
const MOST: usize = 1_500;

/// The files in a folder, in the order of their names.
pub(crate) fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let files = paths.iter().filter_map(|path| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        Some((name, fs::read(path).ok()?))
    });
    files.collect()
}

/// The words of a surface, the most frequent ones first.
pub(crate) fn words(root: &Path, surface: &Surface) -> Vec<String> {
    let mut found = BTreeMap::<String, usize>::new();
    let own = format!("tests/fuzz/corpus/{}", surface.name);
    let folders = surface.more.iter().copied().chain([&*own]);
    let files: Vec<_> = folders.flat_map(|one| files(&root.join(one))).collect();
    let inputs = files
        .iter()
        .filter_map(|(_, bytes)| std::str::from_utf8(bytes).ok());
    let sources: Vec<_> = surface
        .knows
        .iter()
        .flat_map(|one| sources(root, one))
        .collect();
    let literals = sources.iter().flat_map(|source| literals(source));
    for text in inputs.chain(literals) {
        let ends = |c: char| !(c.is_ascii_alphanumeric() || "_-./".contains(c));
        for word in text.split(ends).filter(|word| is_word(word)) {
            *found.entry(word.to_owned()).or_default() += 1;
        }
    }
    for name in sources.iter().flat_map(|source| names(source)) {
        found.entry(name).or_insert(1);
    }
    let mut words: Vec<_> = found.into_iter().collect();
    words.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    words.into_iter().map(|(word, _)| word).take(MOST).collect()
}

/// A source, or those in a folder.
fn sources(root: &Path, path: &str) -> Vec<String> {
    match fs::read_to_string(root.join(path)) {
        Ok(source) => vec![source],
        Err(_) => {
            let sources = files(&root.join(path)).into_iter();
            sources
                .map(|(_, bytes)| String::from_utf8_lossy(&bytes).into_owned())
                .collect()
        }
    }
}

/// Names and numbers of objects and versions are none.
fn is_word(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    (2..=32).contains(&word.len())
        && digits <= 2
        && word.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// The fields and the variants of a source, as serde names them, and the variants as facts are named.
fn names(source: &str) -> Vec<String> {
    let mut names = Vec::new();
    for line in source.lines().map(str::trim_start) {
        let line = line.strip_prefix("pub ").unwrap_or(line);
        let end = line.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let (name, rest) = line.split_at(end.unwrap_or(line.len()));
        let Some(first) = name.chars().next().filter(|_| is_word(name)) else {
            continue;
        };
        let rest = rest.trim_start();
        if first.is_ascii_uppercase() && rest.starts_with([',', '{', '(']) {
            names.push(name.to_owned());
            names.push(format!("{}{}", first.to_ascii_lowercase(), &name[1..]));
        } else if first.is_ascii_lowercase() && rest.starts_with(": ") {
            let mut parts = name.split('_');
            let mut camel = parts.next().unwrap_or_default().to_owned();
            for part in parts.filter(|part| !part.is_empty()) {
                camel += &part[..1].to_ascii_uppercase();
                camel += &part[1..];
            }
            names.push(camel);
        }
    }
    names
}

/// The literals of a source, without what its tests say.
fn literals(source: &str) -> impl Iterator<Item = &str> {
    let own = source.split("#[cfg(test)]").next().unwrap_or_default();
    let code = own
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let pieces = code.flat_map(|line| line.split('"').skip(1).step_by(2));
    // A sentence is said, not read.
    pieces.filter(|literal| !literal.contains(' '))
}

/// The blocks of a chapter, one by one.
pub(crate) fn blocks(chapter: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<String> = None;
    for line in chapter.lines() {
        if let Some(block) = &mut open {
            *block += line;
            block.push('\n');
            if line.starts_with("```") {
                blocks.extend(open.take());
            }
        } else if line.starts_with("```deltascope") {
            open = Some(format!("{line}\n"));
        }
    }
    blocks
}
