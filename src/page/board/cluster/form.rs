//! The form of the dialog: what to watch, and with which options.

use leptos::prelude::*;

use super::dialog::{Counted, Dialog, has_nodes};
use crate::board::parts::{self, part, text};
use crate::live::Link;
use crate::memo::Memo;
use crate::ui::Ui;
use deltascope_cache::controller::Generation;
use deltascope_presentation::cluster::{
    CUSTOM, MANY, groups, index_names, is_built_in, offered, without_values,
};
use deltascope_presentation::strings;
use deltascope_world::source::proxy::target::Resource;
use deltascope_world::text::Text;

/// Most resources that are listed at once. Others are found by name.
const SHOWN: usize = 100;
/// A longer pause than this ends the typing, in ms.
const TYPING_MS: u32 = 300;
/// The menu's name for the core group, whose name is empty.
const CORE: &str = "core";

pub(super) fn form(ui: Ui, dialog: Dialog, link: Link) -> impl IntoView {
    let namespaced = Memo::new(move |_| dialog.resource().is_none_or(|one| one.namespaced));
    // Whether something is watched already.
    let together =
        move || link.status.with(|status| status.is_on()) || link.tabs.with(|tabs| tabs.len() > 1);
    // The input that was wrong may be right now.
    let clear = move || dialog.wrong.set(None);
    view! {
        <form
            class="watch"
            autocomplete="off"
            on:submit=move |event| {
                event.prevent_default();
                // Enter must not replace the tab that is shown.
                dialog.start(link, together());
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
                {indices(ui, dialog, namespaced)}
                <div class="pair">
                    <label>
                        {ui.word(|words| words.cluster_era)}
                        {eras(dialog)}
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
            {start(ui, dialog, link, together)}
        </form>
    }
}

/// The indices that it is to have.
fn indices(ui: Ui, dialog: Dialog, namespaced: Memo<bool>) -> AnyView {
    let on_nodes = Memo::new(move |_| dialog.resource().is_some_and(|one| has_nodes(&one)));
    let by_node = Memo::new(move |_| on_nodes.get() && !dialog.is_metadata_only());
    let valueless = Memo::new(move |_| {
        let typed = index_names(&dialog.indices.get());
        let node = on_nodes.get().then_some("node");
        let names = node.into_iter().chain(typed.iter().map(|name| &**name));
        dialog.is_metadata_only().then(|| without_values(names))?
    });
    view! {
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
                move || dialog.wrong.set(None),
            )}
            {part(move || {
                let said = valueless.get()?;
                let said = said.get(ui.lang.get()).to_owned();
                Some(view! { <p class="hint" data-testid="cluster-valueless">{said}</p> })
            })}
        </fieldset>
    }
    .into_any()
}

/// Whose client-go watches.
fn eras(dialog: Dialog) -> AnyView {
    view! {
        <select
            data-testid="cluster-era"
            on:change=move |event| {
                if let Some(era) = Generation::from_version(&event_target_value(&event)) {
                    dialog.era.set(era);
                }
            }
        >
            {Generation::ALL
                .map(|era| {
                    view! {
                        <option
                            value=era.version()
                            selected=move || dialog.era.get() == era
                        >
                            {era.client_go()}
                        </option>
                    }
                })
                .into_iter()
                .collect_view()}
        </select>
    }
    .into_any()
}

/// Starts to watch, beside what is watched `together`, or instead of it.
fn start(
    ui: Ui,
    dialog: Dialog,
    link: Link,
    together: impl Fn() -> bool + Copy + Send + Sync + 'static,
) -> AnyView {
    let name = move || dialog.resource().map(|one| one.name()).unwrap_or_default();
    view! {
        <div class="start">
            {part(move || {
                let wrong = dialog.wrong.get()?;
                let wrong = wrong.get(ui.lang.get()).to_owned();
                Some(view! { <p class="wrong" role="alert">{wrong}</p> })
            })}
            <span class="hint">{ui.word(|words| words.cluster_note)}</span>
            <button
                type="button"
                class="btn"
                data-testid="cluster-instead"
                hidden=move || !together()
                disabled=move || dialog.chosen.get().is_none()
                on:click=move |_| dialog.start(link, false)
            >
                {text(move || strings::together::instead(ui.lang.get(), &name()))}
            </button>
            <button
                class="btn go"
                data-testid="cluster-start"
                disabled=move || dialog.chosen.get().is_none()
            >
                {text(move || match together() {
                    true => strings::together::beside(ui.lang.get(), &name()),
                    false => strings::watch(ui.lang.get(), &name()),
                })}
            </button>
        </div>
    }
    .into_any()
}

/// How many objects there are, and for Secrets that their data is redacted.
fn counted(ui: Ui, dialog: Dialog) -> String {
    let lang = ui.lang.get();
    let secret = dialog.resource().is_some_and(|one| one.is_secret());
    let mut said = match dialog.counted.get() {
        Counted::Asked => ui.words().cluster_counting.to_owned(),
        Counted::Many(count) => strings::objects_now(lang, count, count > MANY),
        Counted::Unknown => ui.words().cluster_uncounted.to_owned(),
        Counted::Refused(why) => why.get(lang).to_owned(),
    };
    if secret {
        said.push(' ');
        said.push_str(ui.words().cluster_redacted);
    }
    said
}

struct Field {
    testid: &'static str,
    value: RwSignal<String>,
    hint: fn(&strings::Strings) -> &'static str,
}

fn field(
    field: Field,
    label: parts::Text,
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

/// Chooses the resource.
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
                        // Enter chooses the first match; it does not submit the form.
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
                            // An empty value stands for all groups.
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
