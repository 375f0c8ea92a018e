//! The dialog that connects the page to a real cluster.

use std::sync::Arc;

use gloo_timers::future::TimeoutFuture;
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::parts::{part, shown, text};
use super::share::copy;
use crate::live::{self, Link};
use crate::memo::Memo;
use crate::ui::{Ui, remember, remembered};
use deltascope_cache::controller::Generation;
use deltascope_presentation::cluster::{
    self, CUSTOM, MANY, Missing, Options, Status, Tried, WAYS, Way, groups, index_names,
    is_built_in, missing, offered, without_values,
};
use deltascope_presentation::command::Command;
use deltascope_presentation::i18n::Text;
use deltascope_presentation::strings;
use deltascope_world::source::proxy::discovery::Found;
use deltascope_world::source::proxy::target::{Resource, Target};

/// What is remembered of where the API is.
const REMEMBERED: &str = "api";
/// So many resources are shown at once; more are found by name.
const SHOWN: usize = 100;
/// Who types pauses for less than this, in ms.
const TYPING_MS: u32 = 300;
/// What the menu calls the group without a name.
const CORE: &str = "core";
/// What is chosen where somebody looks for nothing else.
const FIRST: &str = "pods";

/// Where the looking for an API has come to.
#[derive(Clone, PartialEq)]
enum Search {
    /// It goes on.
    Looking,
    /// It is there.
    Found(Tried),
    /// It is not.
    Missing(Vec<Tried>),
}

/// What is known of the number of objects.
#[derive(Clone, Debug, PartialEq)]
enum Counted {
    /// It was asked for.
    Asked,
    /// So many.
    Many(u64),
    /// The server does not say.
    Unknown,
    /// They cannot be listed.
    Refused(Text),
}

/// What the parts of the dialog share.
#[derive(Clone, Copy)]
struct Dialog {
    open: RwSignal<bool>,
    search: RwSignal<Search>,
    /// Where the user says that the API is; empty: where it is found.
    base: RwSignal<String>,
    /// What there is; nothing while it is asked for.
    found: RwSignal<Option<Arc<Found>>>,
    namespaces: RwSignal<Arc<[String]>>,
    /// What the names of the offered resources have in them.
    text: RwSignal<String>,
    group: RwSignal<String>,
    /// The place of what is chosen.
    chosen: RwSignal<Option<usize>>,
    counted: RwSignal<Counted>,
    /// What the user says about metadata.
    metadata_only: RwSignal<Option<bool>>,
    namespace: RwSignal<String>,
    labels: RwSignal<String>,
    fields: RwSignal<String>,
    by_namespace: RwSignal<bool>,
    by_node: RwSignal<bool>,
    indices: RwSignal<String>,
    era: RwSignal<Generation>,
    /// In seconds.
    resync: RwSignal<String>,
    /// What is wrong with what was asked for.
    wrong: RwSignal<Option<Text>>,
    /// How often something was asked for: what comes of older questions is no news.
    asked: StoredValue<u32>,
    /// How often the API was looked for.
    looked: StoredValue<u32>,
    /// Where what is offered was found.
    place: StoredValue<Arc<str>>,
    /// The name of what was chosen last: it is chosen again where there is one of that name.
    name: StoredValue<String>,
}

impl Dialog {
    fn new(open: RwSignal<bool>) -> Self {
        let text = || RwSignal::new(String::new());
        Self {
            open,
            search: RwSignal::new(Search::Looking),
            base: RwSignal::new(remembered(REMEMBERED).unwrap_or_default()),
            found: RwSignal::new(None),
            namespaces: RwSignal::new(Arc::default()),
            text: text(),
            group: text(),
            chosen: RwSignal::new(None),
            counted: RwSignal::new(Counted::Asked),
            metadata_only: RwSignal::new(None),
            namespace: text(),
            labels: text(),
            fields: text(),
            by_namespace: RwSignal::new(true),
            by_node: RwSignal::new(true),
            indices: text(),
            era: RwSignal::new(Generation::Atomic),
            resync: text(),
            wrong: RwSignal::new(None),
            asked: StoredValue::new(0),
            looked: StoredValue::new(0),
            place: StoredValue::new("".into()),
            name: StoredValue::new(FIRST.to_owned()),
        }
    }

    /// Looks for the API, then for what it has.
    fn look(self) {
        let base = match live::here(&self.base.get_untracked()) {
            Ok(base) => base,
            Err(wrong) => return self.wrong.set(Some(wrong)),
        };
        self.wrong.set(None);
        self.search.set(Search::Looking);
        let looked = next(self.looked);
        next(self.asked);
        spawn_local(async move {
            let there = live::find(&base).await;
            let is_old = || self.looked.get_value() != looked;
            if is_old() {
                return;
            }
            let there = match there {
                Ok(there) => there,
                Err(tried) => return self.search.set(Search::Missing(tried)),
            };
            remember(REMEMBERED, &base);
            let base = Arc::clone(&there.base);
            if self.place.get_value() != base {
                // What another API has is no news of this one.
                self.found.set(None);
                self.chosen.set(None);
                self.namespaces.set(Arc::default());
                self.place.set_value(Arc::clone(&base));
            }
            self.search.set(Search::Found(there));
            let found = live::discover(&base).await;
            if is_old() {
                return;
            }
            self.offer(found);
            let namespaces = live::namespaces(&base).await;
            if !is_old() {
                self.namespaces.set(namespaces.into());
            }
        });
    }

    fn offer(self, found: Found) {
        let before = self.name.get_value();
        let place = |name: &str| {
            let mut names = found.resources.iter().map(Resource::name);
            names.position(|other| other == name)
        };
        let place = place(&before).or_else(|| place(FIRST));
        self.found.set(Some(Arc::new(found)));
        self.choose(place);
    }

    fn choose(self, place: Option<usize>) {
        self.chosen.set(place);
        self.metadata_only.set(None);
        if let Some(resource) = untrack(|| self.resource()) {
            self.name.set_value(resource.name());
        }
        self.count(0);
    }

    fn resource(self) -> Option<Resource> {
        let found = self.found.get()?;
        found.resources.get(self.chosen.get()?).cloned()
    }

    fn options(self) -> Options {
        let base = match self.search.get_untracked() {
            Search::Found(there) => there.base.to_string(),
            _ => String::new(),
        };
        let mut indices = index_names(&self.indices.get_untracked());
        for (on, name) in [(self.by_node, "node"), (self.by_namespace, "namespace")] {
            if on.get_untracked() {
                indices.insert(0, name.into());
            }
        }
        Options {
            base,
            resource: String::new(),
            namespace: self.namespace.get_untracked(),
            label_selector: self.labels.get_untracked(),
            field_selector: self.fields.get_untracked(),
            metadata_only: Some(self.is_metadata_only()),
            indices,
            era: self.era.get_untracked(),
            resync_ms: 0,
        }
    }

    fn target(self) -> Option<(Target, Options)> {
        let resource = untrack(|| self.resource())?;
        let mut options = self.options();
        options.resource = resource.name();
        if !resource.namespaced {
            options.namespace.clear();
            options.indices.retain(|name| &**name != "namespace");
        }
        if !has_nodes(&resource) {
            options.indices.retain(|name| &**name != "node");
        }
        Some((options.target(&resource), options))
    }

    fn is_metadata_only(self) -> bool {
        let many = matches!(self.counted.get(), Counted::Many(count) if count > MANY);
        self.metadata_only.get().unwrap_or(many)
    }

    /// Asks how many objects there are, where nothing else is asked for within so many ms.
    fn count(self, wait: u32) {
        self.wrong.set(None);
        let asked = next(self.asked);
        self.counted.set(Counted::Asked);
        spawn_local(async move {
            TimeoutFuture::new(wait).await;
            let target = self.target().filter(|_| self.asked.get_value() == asked);
            let Some((target, _)) = target else {
                return;
            };
            let counted = match live::count(&target).await {
                Ok(Some(count)) => Counted::Many(count),
                Ok(None) => Counted::Unknown,
                Err(why) => Counted::Refused(why),
            };
            if self.asked.get_value() == asked {
                self.counted.set(counted);
            }
        });
    }

    fn start(self, link: Link) {
        let Some((target, mut options)) = self.target() else {
            return;
        };
        let resync = cluster::resync_ms(&self.resync.get_untracked());
        match options.check().and(resync) {
            Ok(ms) => options.resync_ms = ms,
            Err(wrong) => return self.wrong.set(Some(wrong)),
        }
        self.wrong.set(None);
        spawn_local(async move {
            match link.begin(target, options).await {
                Ok(()) => self.open.set(false),
                Err(wrong) => self.wrong.set(Some(wrong)),
            }
        });
    }
}

/// Counts, and says to how many.
fn next(number: StoredValue<u32>) -> u32 {
    let next = number.get_value().wrapping_add(1);
    number.set_value(next);
    next
}

/// Whether its objects are on nodes.
fn has_nodes(resource: &Resource) -> bool {
    resource.group.is_empty() && resource.plural == FIRST
}

/// The dialog; the browser holds the focus in it and gives it back.
#[component]
pub(super) fn Cluster(
    /// Whether it is open.
    open: RwSignal<bool>,
) -> impl IntoView {
    let ui = Ui::get();
    let element = NodeRef::<html::Dialog>::new();
    let dialog = Dialog::new(open);
    let link = Link::get();
    Effect::new(move |_| {
        let Some(element) = element.get() else {
            return;
        };
        if open.get() && !element.open() {
            let _ = element.show_modal();
            // Not before somebody wants it: a page that is only read asks nobody anything.
            dialog.look();
        } else if !open.get() && element.open() {
            element.close();
        }
    });
    view! {
        <dialog
            class="cluster"
            data-testid="cluster"
            node_ref=element
            aria-labelledby="cluster-title"
            on:close=move |_| open.set(false)
            on:click=move |event| {
                // A click on the backdrop has the dialog itself as its target.
                if event.target() == event.current_target() {
                    open.set(false);
                }
            }
        >
            {shown(move || open.get(), move || view! {
                <div class="sheet">
                    <div class="head">
                        <h2 id="cluster-title">{ui.word(|words| words.cluster_title)}</h2>
                        <button class="chip" on:click=move |_| open.set(false)>
                            {ui.word(|words| words.close)}
                        </button>
                    </div>
                    {shown(move || link.status.with(|status| status.is_on()), move || connected(ui, link))}
                    {part(move || match dialog.search.get() {
                        Search::Looking => {
                            view! {
                                <p class="looking" role="status">
                                    {ui.word(|words| words.cluster_looking)}
                                </p>
                            }
                                .into_any()
                        }
                        Search::Missing(tried) => absent(ui, dialog, &tried).into_any(),
                        Search::Found(found) => {
                            view! {
                                {there(ui, &found)}
                                {form(ui, dialog, link)}
                            }
                                .into_any()
                        }
                    })}
                </div>
            })}
        </dialog>
    }
}

/// Where the API is.
fn there(ui: Ui, found: &Tried) -> impl IntoView + use<> {
    let base = found.base.to_string();
    let what = found.found.clone();
    view! {
        <p class="there" role="status" data-testid="cluster-found">
            <i class="dot"></i>
            <span>{text(move || what.words(ui.lang.get()))}</span>
            <code class="mono">{base}</code>
        </p>
    }
}

/// What is watched already.
fn connected(ui: Ui, link: Link) -> impl IntoView {
    let title = link
        .target()
        .map(|target| cluster::title(&target))
        .unwrap_or_default();
    view! {
        <div class="connected">
            <span>
                {ui.word(|words| words.cluster_connected)} " "
                <b>{text(move || title.get(ui.lang.get()).to_owned())}</b>
            </span>
            <button
                class="btn"
                data-testid="btn-disconnect"
                on:click=move |_| ui.send(Command::Disconnect)
            >
                {ui.word(|words| words.cluster_disconnect)}
            </button>
        </div>
    }
}

/// What to watch, and what with.
fn form(ui: Ui, dialog: Dialog, link: Link) -> impl IntoView {
    let namespaced = Memo::new(move |_| dialog.resource().is_none_or(|one| one.namespaced));
    let on_nodes = Memo::new(move |_| dialog.resource().is_some_and(|one| has_nodes(&one)));
    let by_node = Memo::new(move |_| on_nodes.get() && !dialog.is_metadata_only());
    let valueless = Memo::new(move |_| {
        let typed = index_names(&dialog.indices.get());
        let node = on_nodes.get().then_some("node");
        let names = node.into_iter().chain(typed.iter().map(|name| &**name));
        dialog.is_metadata_only().then(|| without_values(names))?
    });
    // What was wrong may be mended now.
    let clear = move || dialog.wrong.set(None);
    view! {
        <form
            class="watch"
            autocomplete="off"
            on:submit=move |event| {
                event.prevent_default();
                dialog.start(link);
            }
        >
            <div class="column">{picker(ui, dialog)}</div>
            <div class="column">
                {field(
                    Field { testid: "cluster-namespace", value: dialog.namespace, hint: |words| words.cluster_all },
                    text(move || ui.words().namespace),
                    ui,
                    move || !namespaced.get(),
                    move || dialog.count(TYPING_MS),
                )}
                <datalist id="cluster-namespaces">
                    {part(move || {
                        let names = dialog.namespaces.get();
                        names.iter().map(|name| view! { <option value=name.clone()></option> }).collect_view()
                    })}
                </datalist>
                {field(
                    Field { testid: "cluster-labels", value: dialog.labels, hint: |_| "app=web,tier!=cache" },
                    text(move || ui.words().cluster_labels),
                    ui,
                    || false,
                    clear,
                )}
                {field(
                    Field { testid: "cluster-fields", value: dialog.fields, hint: |_| "spec.nodeName=n1" },
                    text(move || ui.words().cluster_fields),
                    ui,
                    || false,
                    clear,
                )}
                <label class="check">
                    <input
                        type="checkbox"
                        data-testid="cluster-metadata"
                        prop:checked=move || dialog.is_metadata_only()
                        on:change=move |event| {
                            dialog.metadata_only.set(Some(event_target_checked(&event)));
                        }
                    />
                    {ui.word(|words| words.cluster_metadata)}
                </label>
                <p class="hint" data-testid="cluster-count">
                    {text(move || counted(ui, dialog))}
                </p>
                <fieldset>
                    <legend>{ui.word(|words| words.indices)}</legend>
                    <div class="checks">
                        {check("cluster-by-namespace", "namespace", dialog.by_namespace, namespaced)}
                        {check("cluster-by-node", "node", dialog.by_node, by_node)}
                    </div>
                    {field(
                        Field { testid: "cluster-indices", value: dialog.indices, hint: |_| "app, .spec.nodeName" },
                        text(move || ui.words().cluster_indices),
                        ui,
                        || false,
                        clear,
                    )}
                    {part(move || {
                        let said = valueless.get()?;
                        let said = said.get(ui.lang.get()).to_owned();
                        Some(view! { <p class="hint" data-testid="cluster-valueless">{said}</p> })
                    })}
                </fieldset>
                <div class="pair">
                    <label>
                        {ui.word(|words| words.cluster_era)}
                        <select
                            data-testid="cluster-era"
                            on:change=move |event| {
                                if let Some(era) = Generation::from_era(&event_target_value(&event)) {
                                    dialog.era.set(era);
                                }
                            }
                        >
                            {Generation::ALL
                                .map(|era| {
                                    view! {
                                        <option
                                            value=era.era()
                                            selected=move || dialog.era.get() == era
                                        >
                                            {era.era()}
                                        </option>
                                    }
                                })
                                .into_iter()
                                .collect_view()}
                        </select>
                    </label>
                    {field(
                        Field { testid: "cluster-resync", value: dialog.resync, hint: |words| words.cluster_never },
                        text(move || ui.words().cluster_resync),
                        ui,
                        || false,
                        clear,
                    )}
                </div>
            </div>
            <div class="start">
                {part(move || {
                    let wrong = dialog.wrong.get()?;
                    let wrong = wrong.get(ui.lang.get()).to_owned();
                    Some(view! { <p class="wrong" role="alert">{wrong}</p> })
                })}
                <span class="hint">{ui.word(|words| words.cluster_note)}</span>
                <button
                    class="btn go"
                    data-testid="cluster-start"
                    disabled=move || dialog.chosen.get().is_none()
                >
                    {text(move || {
                        let name = dialog.resource().map(|one| one.name()).unwrap_or_default();
                        strings::watch(ui.lang.get(), &name)
                    })}
                </button>
            </div>
        </form>
    }
}

/// How many objects there are, and what follows from it.
fn counted(ui: Ui, dialog: Dialog) -> String {
    let lang = ui.lang.get();
    let secret = dialog.resource().is_some_and(|one| one.is_secret());
    let mut said = match dialog.counted.get() {
        Counted::Asked => ui.words().cluster_counting.to_owned(),
        Counted::Many(count) => strings::counted(lang, count, count > MANY),
        Counted::Unknown => ui.words().cluster_uncounted.to_owned(),
        Counted::Refused(why) => why.get(lang).to_owned(),
    };
    if secret {
        said.push(' ');
        said.push_str(ui.words().cluster_redacted);
    }
    said
}

/// A text field.
struct Field {
    testid: &'static str,
    value: RwSignal<String>,
    hint: fn(&strings::Strings) -> &'static str,
}

fn field(
    field: Field,
    label: super::parts::Text,
    ui: Ui,
    disabled: impl Fn() -> bool + Send + Sync + 'static,
    changed: impl Fn() + 'static,
) -> AnyView {
    let Field {
        testid,
        value,
        hint,
    } = field;
    let disabled: Box<dyn Fn() -> bool + Send + Sync> = Box::new(disabled);
    let changed: Box<dyn Fn()> = Box::new(changed);
    view! {
        <label>
            {label}
            <input
                class="mono"
                data-testid=testid
                list=(testid == "cluster-namespace").then_some("cluster-namespaces")
                autocapitalize="off"
                autocomplete="off"
                spellcheck="false"
                translate="no"
                placeholder=text(move || hint(ui.words()))
                disabled=disabled
                prop:value=move || value.get()
                on:input=move |event| {
                    value.set(event_target_value(&event));
                    changed();
                }
            />
        </label>
    }
    .into_any()
}

fn check(
    testid: &'static str,
    name: &'static str,
    value: RwSignal<bool>,
    on: Memo<bool>,
) -> AnyView {
    view! {
        <label class="check" class:off=move || !on.get()>
            <input
                type="checkbox"
                data-testid=testid
                disabled=move || !on.get()
                prop:checked=move || value.get() && on.get()
                on:change=move |event| value.set(event_target_checked(&event))
            />
            {name}
        </label>
    }
    .into_any()
}

/// Which resource.
fn picker(ui: Ui, dialog: Dialog) -> impl IntoView {
    let offer = Memo::new(move |_| {
        let group = dialog.group.get();
        let group = match &*group {
            "" => None,
            CORE => Some(""),
            group => Some(group),
        };
        match &dialog.found.get() {
            Some(found) => offered(&found.resources, &dialog.text.get(), group),
            None => Vec::new(),
        }
    });
    view! {
        <div class="find">
            <input
                type="search"
                data-testid="cluster-search"
                aria-label=ui.word(|words| words.cluster_search)
                placeholder=ui.word(|words| words.cluster_search)
                autocapitalize="off"
                spellcheck="false"
                prop:value=move || dialog.text.get()
                on:input=move |event| dialog.text.set(event_target_value(&event))
                on:keydown=move |event| {
                    if event.key() == "Enter" {
                        // It chooses; it does not begin yet.
                        event.prevent_default();
                        if let Some(first) = offer.with_untracked(|offer| offer.first().copied()) {
                            dialog.choose(Some(first));
                        }
                    }
                }
            />
            <select
                data-testid="cluster-group"
                aria-label=ui.word(|words| words.cluster_group)
                on:change=move |event| dialog.group.set(event_target_value(&event))
            >
                <option value="">{ui.word(|words| words.cluster_groups)}</option>
                {part(move || {
                    let found = dialog.found.get();
                    let all = found.map(|found| groups(&found.resources)).unwrap_or_default();
                    all.into_iter()
                        .map(|(group, count)| {
                            let name = match &*group {
                                "" => CORE,
                                CUSTOM => ui.words().cluster_custom,
                                name => name,
                            };
                            // An empty one would be all of them.
                            let value = if group.is_empty() { CORE } else { &*group };
                            view! {
                                <option value=value.to_owned()>{format!("{name} · {count}")}</option>
                            }
                        })
                        .collect_view()
                })}
            </select>
        </div>
        <div
            class="offer"
            role="radiogroup"
            aria-label=ui.word(|words| words.cluster_resource)
            data-testid="cluster-offer"
        >
            {part(move || {
                let Some(found) = dialog.found.get() else {
                    return view! { <p class="empty">{ui.words().cluster_asking}</p> }.into_any();
                };
                let places = offer.get();
                if places.is_empty() {
                    return view! { <p class="empty">{ui.words().cluster_nothing}</p> }.into_any();
                }
                let more = places.len().saturating_sub(SHOWN);
                let rows = places
                    .into_iter()
                    .take(SHOWN)
                    .filter_map(|place| Some(row(ui, dialog, place, found.resources.get(place)?)))
                    .collect_view();
                let more = (more > 0).then(|| {
                    view! { <p class="empty">{strings::more(ui.lang.get(), more)}</p> }
                });
                view! {
                    {rows}
                    {more}
                }
                    .into_any()
            })}
        </div>
        {part(move || {
            let found = dialog.found.get()?;
            let error = found.errors.first()?;
            let error = Text::new(&error.en, &error.zh);
            Some(view! { <p class="wrong">{error.get(ui.lang.get()).to_owned()}</p> })
        })}
    }
}

fn row(ui: Ui, dialog: Dialog, place: usize, resource: &Resource) -> impl IntoView + use<> {
    let Resource {
        group,
        kind,
        plural,
        short_names,
        namespaced,
        ..
    } = resource.clone();
    let custom = !is_built_in(&group);
    let testid = format!("resource-{}", resource.name());
    let group = if group.is_empty() {
        group
    } else {
        format!(".{group}")
    };
    let short = short_names.join(", ");
    view! {
        <label class="check" data-testid=testid>
            <input
                type="radio"
                name="cluster-resource"
                prop:checked=move || dialog.chosen.get() == Some(place)
                on:change=move |_| dialog.choose(Some(place))
            />
            <span class="mono name" translate="no">
                <b>{plural}</b>
                <i>{group}</i>
            </span>
            <span class="kind" translate="no">
                {kind}
                {(!short.is_empty()).then(|| format!(" · {short}"))}
            </span>
            {(!namespaced).then(|| view! { <span class="flag">{ui.words().cluster_scoped}</span> })}
            {custom.then(|| view! { <span class="flag">"CRD"</span> })}
        </label>
    }
}

/// There is no API: what is missing, and what to type.
fn absent(ui: Ui, dialog: Dialog, tried: &[Tried]) -> impl IntoView + use<> {
    let Missing {
        what,
        command,
        ways,
    } = missing(tried);
    let tried = tried.to_vec();
    view! {
        <div class="no-api" role="alert" data-testid="cluster-missing">
            <p>{text(move || what.get(ui.lang.get()).to_owned())}</p>
            {command.map(|command| typed(ui, command))}
        </div>
        <ul class="tried">
            {tried
                .into_iter()
                .map(|Tried { base, found }| {
                    view! {
                        <li>
                            <code class="mono">{base.to_string()}"version"</code>
                            <span>{text(move || found.words(ui.lang.get()))}</span>
                        </li>
                    }
                })
                .collect_view()}
        </ul>
        {ways.then(|| view! {
            <h3>{ui.word(|words| words.cluster_ways)}</h3>
            <ol class="ways">{WAYS.iter().map(|way| one_way(ui, way)).collect_view()}</ol>
        })}
        <form
            class="look"
            on:submit=move |event| {
                event.prevent_default();
                dialog.look();
            }
        >
            <label>
                {ui.word(|words| words.cluster_base)}
                <input
                    class="mono"
                    data-testid="cluster-base"
                    placeholder=cluster::BASES[0]
                    autocomplete="off"
                    spellcheck="false"
                    prop:value=move || dialog.base.get()
                    on:input=move |event| dialog.base.set(event_target_value(&event))
                />
            </label>
            <button class="btn go" data-testid="cluster-look">
                {ui.word(|words| words.cluster_look)}
            </button>
        </form>
        {part(move || {
            let wrong = dialog.wrong.get()?;
            let wrong = wrong.get(ui.lang.get()).to_owned();
            Some(view! { <p class="wrong" role="alert">{wrong}</p> })
        })}
    }
}

fn one_way(ui: Ui, way: &'static Way) -> impl IntoView {
    view! {
        <li>
            <p>{text(move || way.words(ui.lang.get()))}</p>
            {way.commands.iter().map(|command| typed(ui, command)).collect_view()}
            <p class="then">
                {ui.word(|words| words.cluster_then)} " "
                <a class="mono" href=way.page>
                    {way.page}
                </a>
            </p>
        </li>
    }
}

/// A command, to be copied.
fn typed(ui: Ui, command: &'static str) -> impl IntoView {
    let copied = RwSignal::new(false);
    view! {
        <div class="typed">
            <code class="mono" translate="no">
                {command}
            </code>
            <button
                class="chip"
                aria-label=text(move || format!("{} {command}", ui.words().cluster_copy))
                on:click=move |_| {
                    let Some(copying) = copy(command) else {
                        return;
                    };
                    spawn_local(async move {
                        copied.set(wasm_bindgen_futures::JsFuture::from(copying).await.is_ok());
                    });
                }
            >
                {text(move || {
                    let words = ui.words();
                    if copied.get() { words.share_copied } else { words.cluster_copy }
                })}
            </button>
        </div>
    }
}

/// That the page is live, and how the connection is.
#[component]
pub(super) fn Badge(
    /// Whether the dialog is open.
    open: RwSignal<bool>,
) -> impl IntoView {
    let ui = Ui::get();
    let status = Link::get().status;
    let is_on = Memo::new(move |_| status.with(|status| status.is_on()));
    let has_trouble = move || status.with(|status| !status.is_well());
    view! {
        {shown(move || is_on.get(), move || view! {
            <button
                class="chip live-badge"
                class:trouble=has_trouble
                data-testid="live-badge"
                aria-haspopup="dialog"
                title=text(move || {
                    let title = ui.view.with(|view| view.lesson.title.clone());
                    title.get(ui.lang.get()).to_owned()
                })
                on:click=move |_| open.set(true)
            >
                <i class="dot"></i>
                <b translate="no">"LIVE"</b>
                <span class="words">
                    {text(move || status.with(|status| status.words(ui.lang.get())))}
                </span>
                <span class="short" aria-hidden="true">
                    {text(move || status.with(Status::short))}
                </span>
            </button>
        })}
    }
}

/// What is wrong with the connection, in words, until it is mended.
#[component]
pub(super) fn Trouble() -> impl IntoView {
    let ui = Ui::get();
    let status = Link::get().status;
    let trouble = Memo::new(move |_| status.with(|status| status.trouble.clone()));
    view! {
        {part(move || {
            let trouble = trouble.get()?;
            Some(
                view! {
                    <div class="problem-card live-trouble" role="status" data-testid="live-trouble">
                        <span>{text(move || trouble.get(ui.lang.get()).to_owned())}</span>
                    </div>
                },
            )
        })}
    }
}

/// Back to the edge, and along with it.
#[component]
pub(super) fn Edge() -> impl IntoView {
    let ui = Ui::get();
    let live = ui.memo(|view| view.live);
    let is_live = Memo::new(move |_| live.get().is_some());
    let following = Memo::new(move |_| live.get().is_some_and(|live| live.following));
    let at_edge = Memo::new(move |_| live.get().is_some_and(|live| live.following && !live.late));
    view! {
        {shown(move || is_live.get(), move || view! {
            <button
                class="edge"
                class:on=move || at_edge.get()
                data-testid="btn-live"
                aria-pressed=text(move || following.get().to_string())
                title=ui.word(|words| words.go_live)
                on:click=move |_| ui.send(Command::GoLive)
            >
                <i class="dot"></i>
                {text(move || match live.get() {
                    // One fact after the other is no delay to speak of.
                    Some(live) if live.late || !live.following => {
                        strings::facts_behind(ui.lang.get(), live.behind, live.following)
                    }
                    _ => ui.words().live.to_owned(),
                })}
            </button>
        })}
    }
}
