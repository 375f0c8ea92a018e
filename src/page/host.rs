//! Where a board is mounted: all of a page, or the shadow root of an element among others.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::Array;
use leptos::prelude::{StoredValue, WithValue, document, on_cleanup, window};
use leptos::wasm_bindgen::JsCast;
use leptos::wasm_bindgen::prelude::{Closure, JsValue, wasm_bindgen};
use web_sys::{Element, Event, EventTarget, FocusOptions, HtmlElement, NodeList, ShadowRoot};

use deltascope_presentation::anchor::Anchor;

/// Where a board is mounted. What it looks for, it looks for there.
#[derive(Clone)]
pub struct Host {
    number: u32,
    scale: Rc<Cell<f64>>,
    element: Option<(ShadowRoot, HtmlElement)>,
}

/// A sheet of styles that is made by a script.
pub struct Sheet(Option<StyleSheet>);

impl Sheet {
    /// Other rules, in the place of what it has.
    pub fn set(&self, rules: &str) {
        if let Some(sheet) = &self.0 {
            sheet.replace(rules);
        }
    }
}

// web-sys has these only for those who take what may still change.
#[wasm_bindgen]
extern "C" {
    #[derive(Clone)]
    #[wasm_bindgen(js_name = CSSStyleSheet)]
    type StyleSheet;
    #[wasm_bindgen(constructor, catch, js_class = "CSSStyleSheet")]
    fn new() -> Result<StyleSheet, JsValue>;
    #[wasm_bindgen(method, js_name = replaceSync)]
    fn replace(this: &StyleSheet, rules: &str);

    type Adopting;
    #[wasm_bindgen(method, getter, js_name = adoptedStyleSheets)]
    fn sheets(this: &Adopting) -> Array;
    #[wasm_bindgen(method, setter, js_name = adoptedStyleSheets)]
    fn set_sheets(this: &Adopting, sheets: &Array);
}

/// Finds an element over the cell of an anchor.
pub(crate) type FindCell = Box<dyn Fn(&Anchor) -> Option<Element>>;

thread_local! {
    static HOSTS: Cell<u32> = const { Cell::new(0) };
    /// The fields of cells on the page, each with its number and that of its host.
    static FIELDS: RefCell<Vec<(usize, u32, FindCell)>> = const { RefCell::new(Vec::new()) };
}

impl Host {
    /// The page, which is the board's alone.
    #[must_use]
    pub fn page() -> Self {
        Self::new(None)
    }

    fn new(element: Option<(ShadowRoot, HtmlElement)>) -> Self {
        let number = HOSTS.get();
        HOSTS.set(number + 1);
        Self {
            number,
            scale: Rc::new(Cell::new(1.0)),
            element,
        }
    }

    /// Inside this element of a shadow root; without one it is as on a page of its own.
    #[must_use]
    pub fn inside(mount: &HtmlElement) -> Self {
        let root = mount.get_root_node().dyn_into::<ShadowRoot>().ok();
        Self::new(root.map(|root| (root, mount.clone())))
    }

    /// Lets [`Self::cell`] search this field until the caller's owner is cleaned up.
    pub(crate) fn add_field(&self, find: FindCell) {
        let host = self.number;
        let number = FIELDS.with_borrow_mut(|fields| {
            let number = fields.last().map_or(0, |(number, ..)| number + 1);
            fields.push((number, host, find));
            number
        });
        on_cleanup(move || {
            FIELDS.with_borrow_mut(|fields| fields.retain(|(of, ..)| *of != number));
        });
    }

    /// An element over the cell of an object that has no element of its own.
    pub(crate) fn cell(&self, anchor: &Anchor) -> Option<Element> {
        FIELDS.with_borrow(|fields| {
            let mut fields = fields.iter().filter(|(_, host, _)| *host == self.number);
            fields.find_map(|(.., find)| find(anchor))
        })
    }

    /// Whether the page is the board's alone.
    #[must_use]
    pub fn is_page(&self) -> bool {
        self.element.is_none()
    }

    /// The first element that a selector finds.
    #[must_use]
    pub fn find(&self, selector: &str) -> Option<Element> {
        let found = match &self.element {
            Some((root, _)) => root.query_selector(selector),
            None => document().query_selector(selector),
        };
        found.ok().flatten()
    }

    /// All that a selector finds.
    #[must_use]
    pub fn find_all(&self, selector: &str) -> Option<NodeList> {
        let found = match &self.element {
            Some((root, _)) => root.query_selector_all(selector),
            None => document().query_selector_all(selector),
        };
        found.ok()
    }

    /// What has the focus.
    #[must_use]
    pub fn active_element(&self) -> Option<Element> {
        match &self.element {
            Some((root, _)) => root.active_element(),
            None => document().active_element(),
        }
    }

    /// Hears what happens here, and nothing that happens elsewhere, as long as the owner of the caller
    /// is there.
    pub fn listen<E: JsCast>(&self, name: &'static str, hear: impl Fn(E) + 'static) {
        self.hear(name, false, hear);
    }

    /// The same before anything in it hears of it.
    pub fn listen_first<E: JsCast>(&self, name: &'static str, hear: impl Fn(E) + 'static) {
        self.hear(name, true, hear);
    }

    fn hear<E: JsCast>(&self, name: &'static str, first: bool, hear: impl Fn(E) + 'static) {
        let target: EventTarget = match &self.element {
            Some((_, mount)) => mount.clone().into(),
            None => window().into(),
        };
        let hear = Closure::<dyn Fn(Event)>::new(move |event: Event| hear(event.unchecked_into()));
        let called = hear.as_ref().unchecked_ref();
        // Fails for nothing that a browser knows.
        let _ = target.add_event_listener_with_callback_and_bool(name, called, first);
        let kept = StoredValue::new_local((target, hear));
        on_cleanup(move || {
            kept.with_value(|(target, hear)| {
                let called = hear.as_ref().unchecked_ref();
                let _ = target.remove_event_listener_with_callback_and_bool(name, called, first);
            });
        });
    }

    /// How many of its own px are one on the screen: slides are scaled.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scale.get()
    }

    /// Looks how it is scaled now.
    pub fn measure_scale(&self) {
        let root = self.element.as_ref().map(|(_, mount)| mount);
        let scale = root.map(|mount| {
            let shown = mount.get_bounding_client_rect().width();
            f64::from(mount.offset_width()) / shown
        });
        // Nothing is shown, or it differs by what is lost in rounding.
        let scale = scale.filter(|scale| scale.is_finite() && (scale - 1.0).abs() > 0.01);
        self.scale.set(scale.unwrap_or(1.0));
    }

    /// Gives the focus away: keys are the page's again, and Tab goes on behind the board.
    pub fn leave(&self) {
        let end = self.find(".frame > .end");
        if let Some(end) = end.and_then(|end| end.dyn_into::<HtmlElement>().ok()) {
            let still = FocusOptions::new();
            still.set_prevent_scroll(true);
            let _ = end.focus_with_options(&still);
        }
        let active = self.active_element();
        if let Some(active) = active.and_then(|active| active.dyn_into::<HtmlElement>().ok()) {
            let _ = active.blur();
        }
    }

    /// A sheet of styles of its own here, as long as the owner of the caller is there.
    #[must_use]
    pub fn sheet(&self) -> Sheet {
        let Ok(sheet) = StyleSheet::new() else {
            // Only a browser that has no such sheets, which has no elements like these either.
            return Sheet(None);
        };
        let root: Adopting = match &self.element {
            Some((root, _)) => root.clone().unchecked_into(),
            None => document().unchecked_into(),
        };
        root.sheets().push(&sheet);
        let kept = StoredValue::new_local((root, sheet.clone()));
        on_cleanup(move || {
            kept.with_value(|(root, sheet)| {
                let others = root.sheets().filter(&mut |one, _, _| one != **sheet);
                root.set_sheets(&others);
            });
        });
        Sheet(Some(sheet))
    }

    /// What language and theme are written on.
    #[must_use]
    pub fn root(&self) -> Option<Element> {
        match &self.element {
            Some((_, mount)) => self.frame().or_else(|| Some(mount.clone().into())),
            None => document().document_element(),
        }
    }

    /// What the board of an element is mounted into.
    #[must_use]
    pub fn mount(&self) -> Option<&HtmlElement> {
        self.element.as_ref().map(|(_, mount)| mount)
    }

    /// The frame of an element: the styles ask how large it is.
    #[must_use]
    pub fn frame(&self) -> Option<Element> {
        let (_, mount) = self.element.as_ref()?;
        mount.closest(".frame").ok().flatten()
    }

    /// What is measured: its font-size is one rem.
    #[must_use]
    pub fn measure(&self) -> Option<Element> {
        match &self.element {
            Some((_, mount)) => mount.parent_element(),
            None => document().document_element(),
        }
    }
}

/// Where on the stage an element is.
#[must_use]
pub fn anchor_of(element: &Element) -> Option<Anchor> {
    Anchor::read(&element.get_attribute("data-anchor")?)
}
