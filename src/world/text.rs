//! Texts in the two languages of the project.

use std::sync::Arc;

use crate::in_fields;

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
}

/// `1 object`, `3 objects`
#[must_use]
pub fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

in_fields! {
    /// A text in both languages.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Text: "a text" {
        /// English
        pub en: Arc<str> = "en", needed;
        /// 简体中文
        pub zh: Arc<str> = "zh", needed;
    }
}

impl Text {
    /// The text in one language.
    #[must_use]
    pub fn get(&self, lang: Lang) -> &str {
        lang.pick(&self.en, &self.zh)
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
