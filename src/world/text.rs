//! Texts in the two languages of the project.

use std::fmt::Arguments;
use std::sync::Arc;

use serde_json::Value;

use crate::bounds::shortened;
use crate::fields::{Fields, Put, Read, Written, Wrong};

/// A language of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Lang {
    /// English
    #[default]
    En,
    /// 简体中文
    Zh,
}

impl Lang {
    /// The one in this language.
    #[must_use]
    pub fn pick<T>(self, en: T, zh: T) -> T {
        match self {
            Self::En => en,
            Self::Zh => zh,
        }
    }

    /// What [`in_lang!`] fills in.
    ///
    /// [`in_lang!`]: crate::in_lang
    #[doc(hidden)]
    #[must_use]
    pub fn filled(self, en: Arguments, zh: Arguments) -> String {
        self.pick(en, zh).to_string()
    }
}

/// A [`Text`] whose languages are filled in, each as by `format!`: a literal, or one with arguments in parentheses.
#[macro_export]
macro_rules! text {
    ($en:tt, $zh:tt $(,)?) => {
        $crate::text::Text::filled($crate::in_lang!(@ $en), $crate::in_lang!(@ $zh))
    };
}

/// `in_lang!(lang, "{n} more", "还有 {n} 个")`: the same in one language, as a `String`.
#[macro_export]
macro_rules! in_lang {
    (@ $text:literal) => { format_args!($text) };
    (@ ($($args:tt)*)) => { format_args!($($args)*) };
    ($lang:expr, $en:tt, $zh:tt $(,)?) => {
        $crate::text::Lang::filled($lang, $crate::in_lang!(@ $en), $crate::in_lang!(@ $zh))
    };
}

/// `1 object`, `3 objects`
#[must_use]
pub fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A text in both languages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// English
    pub en: Arc<str>,
    /// 简体中文
    pub zh: Arc<str>,
}

/// It is written once for both languages, or as an object with both.
impl Read for Text {
    fn read(value: Value) -> Result<Self, Wrong> {
        match value {
            Value::String(_) => <Arc<str>>::read(value).map(|text| Self::new(&text, &text)),
            Value::Object(_) => {
                let mut fields = Fields::of("a text", value)?;
                let read = Self {
                    en: fields.need("en")?,
                    zh: fields.need("zh")?,
                };
                fields.done()?;
                Ok(read)
            }
            other => {
                let other = shortened(&other.to_string());
                let write = r#"write "…", or {"en": "…", "zh": "…"}"#;
                Err(format!("a text cannot be {other}; {write}").into())
            }
        }
    }
}

impl Put for Text {
    fn written(&self) -> Value {
        let mut fields = Written::default();
        fields.some("en", Some(self.en.written()));
        fields.some("zh", Some(self.zh.written()));
        fields.done()
    }
}

impl Text {
    /// The text in one language.
    #[must_use]
    pub fn get(&self, lang: Lang) -> &str {
        lang.pick(&self.en, &self.zh)
    }

    /// What [`text!`](crate::text!) fills in.
    #[doc(hidden)]
    #[must_use]
    pub fn filled(en: Arguments, zh: Arguments) -> Self {
        Self::new(&en.to_string(), &zh.to_string())
    }

    /// Builds a text from its two languages.
    #[must_use]
    pub fn new(en: &str, zh: &str) -> Self {
        Self {
            en: en.into(),
            zh: zh.into(),
        }
    }
}
