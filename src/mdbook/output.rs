//! Files beside a book's sources. mdBook watches these while it serves a book, so unchanged files are not written.
//! Only files that this program has written are ever removed.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::Value;

/// Makes these files the program's only ones in a folder. `manifest` lists the files that it wrote before; those
/// of others stay.
pub(super) fn put(folder: &Path, manifest: &str, files: &[(String, Vec<u8>)]) -> io::Result<()> {
    let list = folder.join(manifest);
    let before: Vec<String> = fs::read(&list)
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok())
        .unwrap_or_default();
    if files.is_empty() && before.is_empty() {
        return Ok(());
    }
    for (name, bytes) in files {
        let path = folder.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        write(&path, bytes)?;
    }
    for name in &before {
        let is_kept = files.iter().any(|(kept, _)| kept == name);
        // The manifest may have been edited, and name files elsewhere.
        let is_inside = Path::new(name)
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)));
        if !is_kept && is_inside {
            remove(&folder.join(name))?;
        }
    }
    if files.is_empty() {
        return remove(&list);
    }
    let mut names: Vec<&str> = files.iter().map(|(name, _)| &**name).collect();
    names.sort_unstable();
    write(&list, format!("{:#}\n", Value::from(names)).as_bytes())
}

/// Writes a file if its content differs.
pub(super) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    fs::write(path, bytes)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// A short hash of some bytes.
pub(super) fn digest(bytes: &[u8]) -> String {
    // FNV-1a is enough: it need not resist attacks, and names should be short.
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{:08x}", (hash >> 32) ^ (hash & 0xffff_ffff))
}
