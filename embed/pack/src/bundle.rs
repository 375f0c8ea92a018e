//! All files of a folder as one file, which the command line embeds.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

/// Writes a line of JSON, `[["index.html", 1234], …]`, and after it the contents of the files, in this order.
///
/// # Errors
/// Fails if a file cannot be read or written; the error names it.
pub(crate) fn write(from: &Path, to: &Path) -> Result<(), String> {
    let (mut names, mut bytes) = (Vec::new(), Vec::new());
    let mut folders = vec![String::new()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        let path = from.join(&folder);
        let cannot = |error| format!("{} cannot be read: {error}", path.display());
        for entry in fs::read_dir(&path).map_err(cannot)? {
            let entry = entry.map_err(cannot)?;
            let name = format!("{folder}{}", entry.file_name().to_string_lossy());
            // trunk's pages have no symbolic links; one could lead in circles.
            let kind = entry.file_type().map_err(cannot)?;
            if kind.is_dir() {
                folders.push(format!("{name}/"));
            } else if kind.is_file() {
                files.push(name);
            }
        }
    }
    files.sort();
    if !files.iter().any(|name| name == "index.html") {
        return Err(format!("{} has no page: build it first", from.display()));
    }
    if files.iter().any(|name| name == "functions.json") {
        return Err(format!(
            "{} holds a page that counts what runs: build it without DELTASCOPE_COUNTS",
            from.display()
        ));
    }
    for name in files {
        let path = from.join(&name);
        let mut held = fs::read(&path)
            .map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
        names.push(json!([name, held.len()]));
        bytes.append(&mut held);
    }
    let mut packed = format!("{}\n", Value::from(names)).into_bytes();
    packed.append(&mut bytes);
    // A new file would have the command line compiled again.
    if fs::read(to).is_ok_and(|old| old == packed) {
        return Ok(());
    }
    fs::write(to, packed).map_err(|error| format!("{} cannot be written: {error}", to.display()))
}
