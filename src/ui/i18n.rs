//! The two languages.

/// A language of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Lang {
    /// English
    #[default]
    En,
    /// 简体中文
    Zh,
}

/// A text in both languages.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Text {
    /// English
    pub en: std::sync::Arc<str>,
    /// 简体中文
    pub zh: std::sync::Arc<str>,
}

impl Text {
    /// In one of them.
    #[must_use]
    pub fn get(&self, lang: Lang) -> &str {
        match lang {
            Lang::En => &self.en,
            Lang::Zh => &self.zh,
        }
    }
}
