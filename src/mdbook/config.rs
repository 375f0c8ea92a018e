//! The configuration of a book: `[preprocessor.deltascope]` in book.toml.

use std::path::{Path, PathBuf};

use serde_json::Value;

use deltascope_presentation::options::{Attribute, Options};
use deltascope_world::text::Lang;

use super::body::{place_in_toml, plain_toml};
use super::fence::line_of;
use super::near::hint;
use super::{Problem, shown};

/// The name of the preprocessor in book.toml.
pub(super) const NAME: &str = "deltascope";
/// The keys that are no attributes.
const OWN: [&str; 3] = ["assets", "page", "lessons"];
/// The keys in this table that mdBook itself reads.
const MDBOOKS: [&str; 6] = [
    "command",
    "before",
    "after",
    "renderer",
    "renderers",
    "optional",
];

/// The configuration of a book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Config {
    /// Attributes of blocks that do not set them.
    pub(super) defaults: Vec<(Attribute, String)>,
    /// The location of the element's files: a folder of the book's sources, or a URL.
    pub(super) assets: String,
    /// The page, relative to the built book, or a URL: each picture has a link to its moment there.
    pub(super) page: Option<String>,
    /// Whether chapters have links to the lessons that name them, and lists: those of deltascope's own books.
    pub(super) lessons: bool,
    /// The folder of the sources, relative to that of book.toml.
    pub(super) src: PathBuf,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            defaults: Vec::new(),
            assets: NAME.to_owned(),
            page: None,
            lessons: false,
            src: "src".into(),
        }
    }
}

impl Config {
    /// Reads the configuration from book.toml, given as JSON.
    ///
    /// # Errors
    /// All problems, by the name of the key.
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
            if let Some(key) = Attribute::named(name) {
                match Options::default().set(key, &text) {
                    Ok(()) => config.defaults.push((key, text)),
                    Err(error) => wrong.push((name.clone(), error.en.to_string())),
                }
            } else if name == "assets" {
                config.assets = text.trim_end_matches('/').to_owned();
            } else if name == "page" {
                config.page = Some(text);
            } else if name == "lessons" {
                match value.as_bool() {
                    Some(are_linked) => config.lessons = are_linked,
                    None => wrong.push((
                        name.clone(),
                        format!("{name} is true or false, not {value}."),
                    )),
                }
            } else if !MDBOOKS.contains(&&**name) {
                let known: Vec<&str> = Attribute::ALL
                    .map(Attribute::id)
                    .into_iter()
                    .chain(OWN)
                    .chain(MDBOOKS)
                    .collect();
                wrong.push((
                    name.clone(),
                    format!(
                        "[preprocessor.{NAME}] has no {name:?}. {}",
                        hint(name, &known)
                    ),
                ));
            }
        }
        // For other languages the element follows the reader's browser.
        let has_lang = config
            .defaults
            .iter()
            .any(|(key, _)| *key == Attribute::Lang);
        if let Some(lang) = of_book("language")
            && !has_lang
            && Options::default().set(Attribute::Lang, lang).is_ok()
        {
            config.defaults.push((Attribute::Lang, lang.to_owned()));
        }
        if wrong.is_empty() {
            Ok(config)
        } else {
            Err(wrong)
        }
    }

    /// The book's language.
    pub(super) fn lang(&self) -> Lang {
        let mut options = Options::default();
        for (key, value) in &self.defaults {
            // They were set before.
            let _same = options.set(*key, value);
        }
        options.lang.unwrap_or_default()
    }

    /// The configuration of the book that a file belongs to, with the book's folder. The defaults if it belongs to
    /// none.
    ///
    /// # Errors
    /// All problems of the configuration.
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

/// Problems of a book.toml, with their lines.
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
