//! What a book says of all its blocks: `[preprocessor.deltascope]` in book.toml.

use std::path::{Path, PathBuf};

use serde_json::Value;

use deltascope_presentation::options::{KEYS, Options};

use super::body::{place_in_toml, plain_toml};
use super::fence::line_of;
use super::near::hint;
use super::{Problem, shown};

/// The name of the preprocessor in book.toml.
pub(super) const NAME: &str = "deltascope";
/// What mdBook itself reads there.
const MDBOOKS: [&str; 6] = [
    "command",
    "before",
    "after",
    "renderer",
    "renderers",
    "optional",
];

/// What a book says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Config {
    /// Attributes of blocks that have none of their own.
    pub(super) defaults: Vec<(&'static str, String)>,
    /// Where the element's files are: a folder of the book's sources, or an address.
    pub(super) assets: String,
    /// The folder of the sources, from that of book.toml.
    pub(super) src: PathBuf,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            defaults: Vec::new(),
            assets: NAME.to_owned(),
            src: "src".into(),
        }
    }
}

impl Config {
    /// Reads it out of book.toml, as JSON.
    ///
    /// # Errors
    /// All that is wrong with it, by name.
    pub(super) fn read(book: &Value) -> Result<Self, Vec<(String, String)>> {
        let mut config = Self::default();
        let mut wrong = Vec::new();
        let of_book = |name: &str| book.get("book")?.get(name)?.as_str();
        if let Some(src) = of_book("src") {
            config.src = src.into();
        }
        let own = book.get("preprocessor").and_then(|all| all.get(NAME));
        let own = own.and_then(Value::as_object).into_iter().flatten();
        for (name, value) in own {
            let text = match value {
                Value::String(text) => text.clone(),
                value => value.to_string(),
            };
            if let Some(key) = KEYS.into_iter().find(|key| key == name) {
                match Options::default().set(key, &text) {
                    Ok(()) => config.defaults.push((key, text)),
                    Err(error) => wrong.push((name.clone(), error.en.to_string())),
                }
            } else if name == "assets" {
                config.assets = text.trim_end_matches('/').to_owned();
            } else if !MDBOOKS.contains(&&**name) {
                let known: Vec<&str> = KEYS.into_iter().chain(["assets"]).chain(MDBOOKS).collect();
                wrong.push((
                    name.clone(),
                    format!(
                        "[preprocessor.{NAME}] has no {name:?}. {}",
                        hint(name, &known)
                    ),
                ));
            }
        }
        // A book in another language leaves the element to the reader's browser.
        let has_lang = config.defaults.iter().any(|(key, _)| *key == "lang");
        if let Some(lang) = of_book("language")
            && !has_lang
            && Options::default().set("lang", lang).is_ok()
        {
            config.defaults.push(("lang", lang.to_owned()));
        }
        if wrong.is_empty() {
            Ok(config)
        } else {
            Err(wrong)
        }
    }

    /// That of the book whose file this is, with the book's folder; defaults where it is of none.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub(super) fn of_file(file: &Path) -> Result<(Self, Option<&Path>), Vec<Problem>> {
        for folder in file.ancestors().skip(1) {
            let path = folder.join("book.toml");
            let Ok(text) = std::fs::read_to_string(&path) else {
                continue;
            };
            return match plain_toml(&text) {
                Ok(book) => Self::read(&book)
                    .map(|config| (config, Some(folder)))
                    .map_err(|wrong| problems(&path, &wrong)),
                Err(wrong) => Err(vec![Problem {
                    file: shown(&path),
                    line: line_of(&text, wrong.offset),
                    block: 0,
                    message: wrong.message,
                }]),
            };
        }
        Ok((Self::default(), None))
    }
}

/// What is wrong in a book.toml, with its lines.
pub(super) fn problems(path: &Path, wrong: &[(String, String)]) -> Vec<Problem> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    wrong
        .iter()
        .map(|(name, message)| {
            let place = place_in_toml(&text, &["preprocessor", NAME, name]);
            Problem {
                file: shown(path),
                line: place.map_or(1, |place| line_of(&text, place)),
                block: 0,
                message: message.clone(),
            }
        })
        .collect()
}
