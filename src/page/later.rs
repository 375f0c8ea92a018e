//! Parts of the program that come later: what the first picture does not need is fetched when it is asked for, or when
//! the page has nothing else to do.
//!
//! A part is a table of functions. In a release, `embed/pack` puts what is only reached from its table into a file of its
//! own. A debug build, which is built again after each change, holds all parts.

use std::cell::Cell;
use std::pin::Pin;
use std::thread::LocalKey;

use wasm_split_helpers::SplitLoaderError;

use deltascope_presentation::i18n::Text;

/// A part, which is fetched once.
pub(crate) struct Part<T: 'static> {
    pub(crate) fetch: fn() -> Fetch<T>,
    pub(crate) table: Cell<Option<&'static T>>,
}

type Fetch<T> = Pin<Box<dyn Future<Output = Fetched<T>>>>;

/// A part's table, if its file could be fetched.
pub(crate) type Fetched<T> = Result<&'static T, SplitLoaderError>;

/// Where a part is kept.
pub(crate) type Kept<T> = LocalKey<Part<T>>;

/// Declares a part: where it is kept, its name, and the type of its table, which has the table as `ALL`.
macro_rules! part {
    ($(#[$doc:meta])* $part:ident, $name:ident: $table:ty) => {
        thread_local! {
            $(#[$doc])*
            pub(crate) static $part: $crate::later::Part<$table> = const {
                $crate::later::Part {
                    fetch: || Box::pin($name()),
                    table: std::cell::Cell::new(None),
                }
            };
        }

        #[cfg(not(debug_assertions))]
        #[wasm_split_helpers::wasm_split($name, fallible)]
        fn $name() -> $crate::later::Fetched<$table> {
            Ok(&<$table>::ALL)
        }

        #[cfg(debug_assertions)]
        async fn $name() -> $crate::later::Fetched<$table> {
            Ok(&<$table>::ALL)
        }
    };
}
pub(crate) use part;

/// A part, if it is there.
pub(crate) fn now<T>(part: &'static Kept<T>) -> Option<&'static T> {
    part.with(|part| part.table.get())
}

/// A part, once it is there.
///
/// # Errors
/// It cannot be fetched. The next call tries again.
pub(crate) async fn fetched<T>(part: &'static Kept<T>) -> Result<&'static T, Text> {
    if let Some(table) = now(part) {
        return Ok(table);
    }
    let fetch = part.with(|part| part.fetch);
    let table = fetch().await.map_err(|_| missing())?;
    part.with(|part| part.table.set(Some(table)));
    Ok(table)
}

/// Why a part is not there.
pub(crate) fn missing() -> Text {
    Text::new(
        "A part of the page could not be loaded. Check the connection, then try again.",
        "页面的一部分没有加载成功。请检查网络连接，然后重试。",
    )
}
