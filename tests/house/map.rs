//! ARCHITECTURE.md's map of `src` has every module of a crate, and every file of its larger folders.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[test]
fn the_map_has_every_module() {
    let text = fs::read_to_string("ARCHITECTURE.md").unwrap();
    let (_, map) = text.split_once("## Where things live").unwrap();
    let (map, _) = map.split_once("**Around `src`**").unwrap();
    let mut missing = Vec::new();
    for name in [
        "cache",
        "world",
        "replay",
        "presentation",
        "page",
        "cli",
        "mdbook",
    ] {
        let own = map
            .split("\n**")
            .find(|part| part.starts_with(&format!("`{name}/`")));
        let part = own.or_else(|| {
            map.split("\n**")
                .find(|part| part.starts_with("The programs**"))
        });
        let words: BTreeSet<&str> = part
            .unwrap()
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .collect();
        let folder = format!("src/{name}");
        let whole = ["src/presentation/session", "src/replay/tap", "src/cli/tap"].map(Path::new);
        for folder in whole
            .into_iter()
            .filter(|path| path.starts_with(&folder))
            .chain([Path::new(&folder)])
        {
            for entry in fs::read_dir(folder).unwrap() {
                let file = entry.unwrap().file_name().into_string().unwrap();
                let stem = file.strip_suffix(".rs").unwrap_or(&file);
                if !stem.contains('.')
                    && !["lib", "mod", "README", "LICENSE"].contains(&stem)
                    && !words.contains(stem)
                {
                    missing.push(format!("{}/{stem}", folder.display()));
                }
            }
        }
    }
    assert!(
        missing.is_empty(),
        "ARCHITECTURE.md does not say where these are: {missing:?}"
    );
}
