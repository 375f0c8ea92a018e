//! Parts of the program that come later: what the first picture does not need is fetched when it is asked for, or when
//! the page has nothing else to do.
//!
//! A part is a table of functions. In a release, `embed/pack` puts what is only reached from its table into a file of its
//! own. A debug build, which is built again after each change, holds all parts.

use std::cell::{Cell, OnceCell, RefCell};
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Poll, Waker};
use std::thread::LocalKey;

use leptos::prelude::{ArcRwSignal, Get, Set};
use wasm_bindgen_futures::spawn_local;
use wasm_split_helpers::SplitLoaderError;

use deltascope_presentation::i18n::Text;

/// A part, which is fetched once.
pub(crate) struct Part<T: 'static> {
    pub(crate) fetch: fn() -> Fetch<T>,
    pub(crate) table: Cell<Option<&'static T>>,
    /// How it stands, for whoever shows that.
    pub(crate) stands: OnceCell<ArcRwSignal<Stands>>,
    /// Whether it is being fetched, and how often that failed.
    pub(crate) coming: Cell<bool>,
    pub(crate) failed: Cell<u32>,
    pub(crate) waiting: RefCell<Vec<Waker>>,
}

impl<T> Part<T> {
    fn stands(&self) -> ArcRwSignal<Stands> {
        self.stands.get_or_init(ArcRwSignal::default).clone()
    }
}

/// How a part stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stands {
    #[default]
    Away,
    There,
    /// The last fetch has failed.
    Failed,
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
                    stands: std::cell::OnceCell::new(),
                    coming: std::cell::Cell::new(false),
                    failed: std::cell::Cell::new(0),
                    waiting: std::cell::RefCell::new(Vec::new()),
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

/// How a part stands; tracks it.
pub(crate) fn stands<T>(part: &'static Kept<T>) -> Stands {
    part.with(Part::stands).get()
}

/// The same as [`now`]; tracks it.
pub(crate) fn tracked<T>(part: &'static Kept<T>) -> Option<&'static T> {
    stands(part);
    now(part)
}

/// Whether a fetch of it has failed.
pub(crate) fn has_failed<T>(part: &'static Kept<T>) -> bool {
    part.with(|part| part.failed.get() > 0)
}

/// A part, once it is there. All who wait for it wait for one fetch.
///
/// # Errors
/// It cannot be fetched. The next call tries again.
pub(crate) async fn fetched<T>(part: &'static Kept<T>) -> Result<&'static T, Text> {
    if let Some(table) = now(part) {
        return Ok(table);
    }
    // An element fetches before leptos has begun.
    if !part.with(|part| part.coming.replace(true)) {
        spawn_local(fetch(part));
    }
    let failed = part.with(|part| part.failed.get());
    poll_fn(|context| {
        part.with(|part| {
            if let Some(table) = part.table.get() {
                return Poll::Ready(Ok(table));
            }
            if part.failed.get() != failed {
                return Poll::Ready(Err(missing()));
            }
            let mut waiting = part.waiting.borrow_mut();
            if !waiting.iter().any(|one| one.will_wake(context.waker())) {
                waiting.push(context.waker().clone());
            }
            Poll::Pending
        })
    })
    .await
}

async fn fetch<T>(part: &'static Kept<T>) {
    let fetched = part.with(|part| part.fetch)().await;
    let stands = match fetched {
        Ok(table) => {
            part.with(|part| part.table.set(Some(table)));
            Stands::There
        }
        Err(_) => {
            part.with(|part| part.failed.set(part.failed.get() + 1));
            Stands::Failed
        }
    };
    part.with(|part| part.coming.set(false));
    let waiting = part.with(|part| part.waiting.take());
    waiting.into_iter().for_each(Waker::wake);
    part.with(Part::stands).set(stands);
}

/// Why a part is not there.
pub(crate) fn missing() -> Text {
    Text::new(
        "A part of the page could not be loaded. Check the connection, then try again.",
        "页面的一部分没有加载成功。请检查网络连接，然后重试。",
    )
}
