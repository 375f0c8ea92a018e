//! The Indexer's room.

use std::sync::Arc;

use leptos::prelude::*;

use super::density::{cells, marks};
use super::frame::{Frame, name, rv, rv_if_any, versions};
use super::parts::{Text, either, list, maybe, part, shown, text};
use crate::memo::{Memo, effect};
use crate::slides::count_below;
use crate::ui::Ui;
use deltascope_presentation::anchor::Anchor;
use deltascope_presentation::rows::beside;
use deltascope_presentation::rows::density::Field;
use deltascope_presentation::rows::freshness_class;
use deltascope_presentation::rows::store::{
    Change, IndexRow, ItemRow, StoreRows, ValueRow, first_query, index_names, query, rows,
};
use deltascope_presentation::stage::Panel;
use deltascope_presentation::strings::{self, behind, spoken};

#[component]
pub(super) fn Indexer() -> impl IntoView {
    let ui = Ui::get();
    let room = ui.memo(rows);
    let indices = Memo::new(move |_| room.with(|room| room.indices.clone()));
    let dense = Memo::new(move |_| room.with(|room| room.dense));
    let present = Memo::new(move |_| room.with(|room| room.present));
    let beside = ui.memo(beside::rows);
    view! {
        <Frame
            room=Panel::Indexer
            title=text(|| "Indexer")
            absent=Memo::new(move |_| !present.get())
            side=move || present.get().then(|| gauge(ui, room))
        >
            {either(
                move || present.get(),
                move || {
                    view! {
                        <div
                            class="split"
                            class:many=move || dense.get()
                            tabindex="0"
                            on:scroll=move |_| count_below(&ui.host())
                        >
                            {items(ui, room, dense)}
                            <div class="tree" tabindex=maybe(move || dense.get().then_some("0"))>
                                <h3 class="sub" role=ui.heading()>{ui.word(|words| words.indices)}</h3>
                                {list(indices, |row| Arc::clone(&row.name), move |row| {
                                        view! { <Index row=row dense=dense /> }
                                    })}
                                {shown(move || indices.with(Vec::is_empty), move || view! {
                                    <p class="empty">{ui.word(|words| words.no_indices)}</p>
                                })}
                            </div>
                        </div>
                        {shown(move || !indices.with(Vec::is_empty), move || view! { <Query /> })}
                        {part(move || beside.get().map(|rows| super::beside::card(ui, rows)))}
                    }
                },
                move || view! { <p class="empty">{ui.word(|words| words.no_store)}</p> },
            )}
        </Frame>
    }
}

/// How old the Indexer is.
fn gauge(ui: Ui, room: Memo<StoreRows>) -> AnyView {
    let gauge = Memo::new(move |_| room.with(|room| (room.rv.clone(), room.behind)));
    let kept = ui.memo(|view| view.lesson.keeps_rv);
    view! {
        <span
            class="gauge"
            class:foreign=move || !kept.get()
            role="group"
            data-anchor=Anchor::StoreGauge.to_string()
            aria-label=text(move || {
                let (rv, behind) = gauge.get();
                let lang = ui.lang.get();
                let rv = rv.said();
                let last = if rv.is_empty() { "" } else { strings::last_written(lang, kept.get()) };
                spoken::parts([&*[last, &rv].concat(), &*strings::behind(lang, behind)])
            })
            title=text(move || strings::gauge_title(ui.lang.get(), gauge.get().1, kept.get()))
        >
            {text(move || strings::last_written(ui.lang.get(), kept.get()).to_owned())}
            "rv "
            <b>
                {rv_if_any(Memo::new(move |_| gauge.with(|gauge| gauge.0.clone())))}
            </b>
            {text(move || {
                match strings::behind(ui.lang.get(), gauge.get().1) {
                    behind if behind.is_empty() => behind,
                    behind => [" · ", &behind].concat(),
                }
            })}
        </span>
    }
    .into_any()
}

/// The objects that it has.
fn items(ui: Ui, room: Memo<StoreRows>, dense: Memo<bool>) -> AnyView {
    let items = Memo::new(move |_| room.with(|room| room.items.clone()));
    let hidden = Memo::new(move |_| room.with(|room| room.hidden));
    view! {
        <div class="items">
            <h3 class="sub" role=ui.heading()>{ui.word(|words| words.items)}</h3>
            {shown(move || dense.get(), || cells(Field::Items, |words| words.items, None))}
            <ul
                role="list"
                aria-label=text(move || {
                    spoken::counted(ui.words().items, room.with(|room| room.count))
                })
            >
                {list(items, |row| row.key.clone(), move |row| item(ui, row))}
            </ul>
            {part(move || {
                let hidden = hidden.get();
                (hidden > 0)
                    .then(|| {
                        view! {
                            <p class="empty">{strings::more(ui.lang.get(), hidden)}</p>
                        }
                    })
            })}
            {shown(move || items.with(Vec::is_empty) && !dense.get(), move || view! {
                <div class="slot empty-slot">
                    <span>{ui.word(|words| words.empty_store)}</span>
                </div>
            })}
        </div>
    }
    .into_any()
}

fn item(ui: Ui, row: Memo<ItemRow>) -> AnyView {
    let key = row.with_untracked(|row| row.key.clone());
    let anchor = Anchor::Item(key.clone()).to_string();
    let version = Memo::new(move |_| row.with(|row| row.rv.clone()));
    view! {
        <li
            class=text(move || {
                row.with(|row| {
                    ["obj ", freshness_class(row.freshness), " ", row.change.class()].concat()
                })
            })
            data-testid=maybe(move || {
                let stays = row.with(|row| row.change != Change::Out);
                stays.then_some("store-item")
            })
            data-anchor=anchor
            title=text(move || {
                row.with(|row| {
                    let out = row.change == Change::Out;
                    let out = if out { ui.words().deleted } else { "" };
                    let lang = ui.lang.get();
                    let there = behind::in_cache(lang, row.freshness, &row.server.said());
                    spoken::parts([&*row.key, &*row.rv.said(), &*there, out])
                })
            })
            translate="no"
        >
            <i class=text(move || row.with(|row| row.mark.class()))></i>
            <span class="n">
                {part(move || name(row.with(|row| row.name.clone()), &key))}
            </span>
            <span class="rv">
                {either(
                    move || row.with(|row| row.freshness.differs()),
                    move || part(move || row.with(|row| {
                        let both = [&row.rv, &row.server];
                        let lang = ui.lang.get();
                        let there = behind::in_cache(lang, row.freshness, &row.server.said());
                        versions(row.freshness, both, [&*row.rv.said(), &*there])
                    })),
                    move || rv(version),
                )}
            </span>
        </li>
    }
    .into_any()
}

#[component]
fn Index(row: Memo<IndexRow>, dense: Memo<bool>) -> impl IntoView {
    let ui = Ui::get();
    let name = row.with_untracked(|row| row.name.to_string());
    let label = name.clone();
    let values = Memo::new(move |_| row.with(|row| row.values.clone()));
    view! {
        <div class="index">
            <h4 class="row" role=ui.heading() translate="no">
                <i class="twist">"▾"</i>
                {name}
            </h4>
            <ul role="list" aria-label=text(move || spoken::counted(&label, values.with(Vec::len)))>
                {list(values, |row| Arc::clone(&row.value), move |row| {
                        view! { <Value row=row dense=dense /> }
                    })}
            </ul>
            {part(move || {
                let hidden = row.with(|row| row.hidden);
                (hidden > 0)
                    .then(|| view! { <p class="empty">{strings::more(ui.lang.get(), hidden)}</p> })
            })}
            {shown(move || values.with(Vec::is_empty), move || view! {
                <p class="empty">{ui.word(|words| words.empty_store)}</p>
            })}
        </div>
    }
}

#[component]
fn Value(row: Memo<ValueRow>, dense: Memo<bool>) -> impl IntoView {
    let (index, value) = row.with_untracked(|row| (row.index.clone(), row.value.clone()));
    let label = if value.is_empty() {
        "\"\"".to_owned()
    } else {
        value.to_string()
    };
    let said = label.clone();
    let tags = Memo::new(move |_| row.with(|row| row.tags.clone()));
    let listed = Memo::new(move |_| if dense.get() { Vec::new() } else { tags.get() });
    let hidden = Memo::new(move |_| row.with(|row| row.hidden));
    view! {
        <li class="row v" translate="no">
            <span class="value" title=value.to_string()>
                {label}
            </span>
            {shown(move || dense.get(), move || marks(row))}
            <span
                class="set"
                role=maybe(move || (!dense.get()).then_some("list"))
                aria-label=maybe(move || {
                    (!dense.get()).then(|| spoken::counted(&said, row.with(|row| row.count)))
                })
            >
                {list(listed, |row| row.key.clone(), move |row| {
                        let key = row.with_untracked(|row| row.key.clone());
                        let title = key.to_string();
                        let anchor = Anchor::index_key(&index, &value, &key).to_string();
                        view! {
                            <span
                                role="listitem"
                                class=text(move || row.with(|row| format!("tag {}", row.change.class())))
                                data-testid=maybe(move || {
                                    row.with(|row| row.change != Change::Out).then_some("index-key")
                                })
                                data-anchor=anchor
                                title=title
                            >
                                <i class=text(move || row.with(|row| row.mark.class()))></i>
                                <span class="n">
                                    {part(move || name(row.with(|row| row.name.clone()), &key))}
                                </span>
                            </span>
                        }
                    })}
                {part(move || {
                    let hidden = hidden.get();
                    (hidden > 0).then(|| view! { <span class="tag" role="listitem">{format!("+{hidden}")}</span> })
                })}
            </span>
        </li>
    }
}

#[component]
fn Query() -> impl IntoView {
    let ui = Ui::get();
    let names = ui.memo(index_names);
    let wanted = RwSignal::new(None::<String>);
    let asked = RwSignal::new(None::<String>);
    let lesson = ui.memo(|view| Arc::clone(&view.lesson.id));
    effect(move || {
        lesson.with(|_| ());
        wanted.set(None);
        asked.set(None);
    });
    let first = ui.memo(|view| first_query(view, None).0);
    let index = move || wanted.get().unwrap_or_else(|| first.get());
    let value = Memo::new(move |_| {
        let index = index();
        let first = || ui.view.with(|view| first_query(view, Some(&index)).1);
        asked.get().unwrap_or_else(first)
    });
    let answer = Memo::new(move |_| {
        let (index, value) = (index(), value.get());
        ui.view.with(|view| query(&view.picture, &index, &value))
    });
    let input = move |label: Text, value: Text, size: Text, name, set: RwSignal<Option<String>>| {
        view! {
            "\""
            <input
                aria-label=label
                data-testid=name
                list=name
                prop:value=value
                size=size
                maxlength="253"
                autocomplete="off"
                spellcheck="false"
                on:input=move |event| set.set(Some(event_target_value(&event)))
            />
            "\""
        }
    };
    let size = |text: &str| text.chars().count().clamp(2, 18).to_string();
    view! {
        <div class="query">
            <h3 class="sub" role=ui.heading()>{ui.word(|words| words.query)}</h3>
            <p class="obj mono" translate="no">
                "IndexKeys("
                {input(
                    ui.word(|words| words.query_index),
                    text(index),
                    text(move || size(&index())),
                    "query-index",
                    wanted,
                )}
                ", "
                {input(
                    ui.word(|words| words.query_value),
                    text(move || value.get()),
                    text(move || value.with(|value| size(value))),
                    "query-value",
                    asked,
                )}
                ") → "
                <output class:Deleted=move || answer.with(Result::is_err) data-testid="query-answer">
                    {text(move || answer.get().unwrap_or_else(|error| error))}
                </output>
                <datalist id="query-index">
                    {list(names, Arc::clone, move |name| {
                        let name = name.get_untracked().to_string();
                        view! { <option value=name></option> }
                    })}
                </datalist>
            </p>
        </div>
    }
}
