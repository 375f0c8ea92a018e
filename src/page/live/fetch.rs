//! Requests over `fetch`, whose bodies are passed on as they arrive.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::rc::Rc;

use gloo_timers::callback::Timeout;
use gloo_timers::future::TimeoutFuture;
use js_sys::{Reflect, Uint8Array};
use leptos::prelude::{document, window};
use leptos::task::spawn_local;
use leptos::wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    AbortController, AbortSignal, Headers, ReadableStreamDefaultReader, RequestCache, RequestInit,
    Response,
};

use deltascope_world::source::proxy::exchange::{End, Event, Head};

/// How long data that has arrived is processed before the page gets a turn, in ms: half a frame.
const TURN_MS: f64 = 8.0;

/// How long a held reader waits before it checks again, in ms.
const HELD_MS: u32 = 10;

/// A request under way. Dropping it aborts the request; `on` is not called any more.
pub struct Connection {
    abort: Option<AbortController>,
    open: Rc<Cell<bool>>,
    held: Rc<Cell<bool>>,
}

impl Connection {
    /// Sends a GET request. `on` receives its events, but no data while `waits` holds.
    pub fn open(
        url: String,
        accept: String,
        waits: impl Fn() -> bool + 'static,
        mut on: impl FnMut(Event<Vec<u8>>) + 'static,
    ) -> Self {
        let open = Rc::new(Cell::new(true));
        // Missing only in browsers that have no streamed bodies either.
        let abort = AbortController::new().ok();
        let signal = abort.as_ref().map(AbortController::signal);
        let (asked, held) = (Rc::clone(&open), Rc::new(Cell::new(false)));
        let holds = Rc::clone(&held);
        spawn_local(async move {
            let mut on = |event| {
                if asked.get() {
                    on(event);
                }
                if asked.get() {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            };
            let held = move || holds.get() || waits();
            read(&url, &accept, signal.as_ref(), Some(&held), &mut on).await;
        });
        Self { abort, open, held }
    }

    /// Stops reading, or resumes it. Meanwhile data waits in the connection, and in the end the sender notices.
    /// Returns whether reading was stopped before.
    pub fn hold(&self, held: bool) -> bool {
        self.held.replace(held)
    }

    /// Whether reading is stopped.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.held.get()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.open.set(false);
        self.held.set(false);
        if let Some(abort) = &self.abort {
            abort.abort();
        }
    }
}

/// The complete response to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Status and headers.
    pub head: Head,
    /// The body, in full.
    pub body: Vec<u8>,
}

/// Why there is no response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoAnswer {
    /// It took longer than allowed.
    Late,
    /// It is longer than allowed.
    Large,
    /// The connection broke off or never opened; in the browser's words.
    Broken(String),
}

/// Sends a GET request and waits for the complete response, at most `most` bytes and `ms` ms.
pub async fn get(url: &str, accept: &str, most: usize, ms: u32) -> Result<Answer, NoAnswer> {
    let abort = AbortController::new().ok();
    let late = Rc::new(Cell::new(false));
    let timer = Timeout::new(ms, {
        let (abort, late) = (abort.clone(), Rc::clone(&late));
        move || {
            late.set(true);
            if let Some(abort) = abort {
                abort.abort();
            }
        }
    });
    let mut answer = Answer {
        head: Head::default(),
        body: Vec::new(),
    };
    let mut failed = None;
    let signal = abort.as_ref().map(AbortController::signal);
    read(url, accept, signal.as_ref(), None, &mut |event| {
        match event {
            Event::Head(head) => answer.head = head,
            Event::Chunk(bytes) if answer.body.len() + bytes.len() > most => {
                failed = Some(NoAnswer::Large);
                return ControlFlow::Break(());
            }
            Event::Chunk(bytes) => answer.body.extend(bytes),
            Event::End(End::Complete) => {}
            Event::End(End::Broken(why)) => failed = Some(NoAnswer::Broken(why)),
        }
        ControlFlow::Continue(())
    })
    .await;
    drop(timer);
    match failed {
        Some(_) if late.get() => Err(NoAnswer::Late),
        Some(failed) => {
            if let (NoAnswer::Large, Some(abort)) = (&failed, &abort) {
                abort.abort();
            }
            Err(failed)
        }
        None => Ok(answer),
    }
}

// Not generic, so that it is compiled once.
async fn read(
    url: &str,
    accept: &str,
    signal: Option<&AbortSignal>,
    held: Option<&dyn Fn() -> bool>,
    on: &mut dyn FnMut(Event<Vec<u8>>) -> ControlFlow<()>,
) {
    let end = match pieces(url, accept, signal, held, on).await {
        Ok(ControlFlow::Break(())) => return,
        Ok(ControlFlow::Continue(())) => End::Complete,
        Err(error) => End::Broken(words(&error)),
    };
    let _ = on(Event::End(end));
}

async fn pieces(
    url: &str,
    accept: &str,
    signal: Option<&AbortSignal>,
    held: Option<&dyn Fn() -> bool>,
    on: &mut dyn FnMut(Event<Vec<u8>>) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, JsValue> {
    let headers = Headers::new()?;
    headers.set("Accept", accept)?;
    let init = RequestInit::new();
    init.set_headers_headers(&headers);
    init.set_cache(RequestCache::NoStore);
    init.set_signal(signal);
    let response = JsFuture::from(window().fetch_with_str_and_init(url, &init)).await?;
    let response: Response = response.dyn_into()?;
    let header = |name| response.headers().get(name).ok().flatten();
    let head = Head {
        status: response.status(),
        content_type: header("Content-Type").unwrap_or_default(),
        retry_after: header("Retry-After").unwrap_or_default(),
        server: header("Server").unwrap_or_default(),
    };
    if on(Event::Head(head)).is_break() {
        return Ok(ControlFlow::Break(()));
    }
    let Some(body) = response.body() else {
        return Ok(ControlFlow::Continue(()));
    };
    let reader = ReadableStreamDefaultReader::new(&body)?;
    let mut busy = 0.0;
    loop {
        let read = JsFuture::from(reader.read()).await?;
        if Reflect::get(&read, &"done".into())?.is_truthy() {
            return Ok(ControlFlow::Continue(()));
        }
        while held.is_some_and(|held| held()) {
            TimeoutFuture::new(HELD_MS).await;
        }
        let value: Uint8Array = Reflect::get(&read, &"value".into())?.dyn_into()?;
        let began = js_sys::Date::now();
        let chunk = value.to_vec();
        // The chunk may hold part of a Secret, and the browser frees it only some time later.
        value.fill(0, 0, value.length());
        if on(Event::Chunk(chunk)).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        // Reading data that has arrived does not yield to the page, so yield from time to time.
        busy += js_sys::Date::now() - began;
        if busy >= TURN_MS && !document().hidden() {
            busy = 0.0;
            TimeoutFuture::new(0).await;
        }
    }
}

fn words(error: &JsValue) -> String {
    let message = Reflect::get(error, &"message".into()).ok();
    message
        .and_then(|message| message.as_string())
        .unwrap_or_default()
}
