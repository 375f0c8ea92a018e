//! The Indexer's room.

use std::sync::Arc;

use leptos::prelude::*;

use super::frame::{Frame, follow, name, rv};
use crate::ui::app::Ui;
use crate::ui::rows::live::Room;
use crate::ui::rows::store::{Change, IndexRow, TagRow, ValueRow, index_keys, index_names, rows};
use crate::ui::strings;

/// The room.
#[component]
pub(super) fn Indexer() -> impl IntoView {
    let ui = Ui::get();
    let room = ui.memo(rows);
    let items = Memo::new(move |_| room.with(|room| room.items.clone()));
    let indices = Memo::new(move |_| room.with(|room| room.indices.clone()));
    let hidden = Memo::new(move |_| room.with(|room| room.hidden));
    let present = Memo::new(move |_| room.with(|room| room.present));
    let gauge = Memo::new(move |_| room.with(|room| (room.rv.clone(), room.behind)));
    let kept = ui.memo(|view| view.lesson.era.as_ref() == "1.36");
    let side = move || {
        present.get().then(|| {
            view! {
                <span
                    class="gauge"
                    data-anchor="store/gauge"
                    title=move || (!kept.get()).then(|| ui.words().not_kept)
                >
                    "rv "
                    <b>
                        {move || {
                            let text = gauge.get().0;
                            if text.short.is_empty() { "–".into_any() } else { rv(text).into_any() }
                        }}
                    </b>
                    " · "
                    {move || strings::behind(ui.lang.get(), gauge.get().1)}
                </span>
            }
        })
    };
    view! {
        <Frame
            room=Room::Indexer
            title=Signal::stored("Indexer".to_owned())
            absent=Signal::derive(move || !present.get())
            side=side
        >
            <Show
                when=move || present.get()
                fallback=move || view! { <p class="empty">{move || ui.words().no_store}</p> }
            >
                <div class="split" tabindex="0">
                    <div class="items">
                        <h3 class="sub">{move || ui.words().items}</h3>
                        <ul>
                            <For
                                each=move || items.get()
                                key=|row| row.key.clone()
                                children=move |row| {
                                    let key = row.key.clone();
                                    let row = follow(items, |row| row.key.clone(), row);
                                    view! {
                                        <li
                                            class=move || {
                                                row.with(|row| format!("obj {}", row.change.class()))
                                            }
                                            data-testid=move || {
                                                let stays = row.with(|row| row.change != Change::Out);
                                                stays.then_some("store-item")
                                            }
                                            data-anchor=format!("store/item/{key}")
                                            title=key.to_string()
                                            translate="no"
                                        >
                                            <i class=move || row.with(|row| row.mark.class())></i>
                                            <span class="n">
                                                {move || name(row.with(|row| row.name.clone()))}
                                            </span>
                                            <span class="rv">
                                                {move || rv(row.with(|row| row.rv.clone()))}
                                            </span>
                                        </li>
                                    }
                                }
                            />
                        </ul>
                        {move || {
                            let hidden = hidden.get();
                            (hidden > 0)
                                .then(|| {
                                    view! {
                                        <p class="empty">{strings::more(ui.lang.get(), hidden)}</p>
                                    }
                                })
                        }}
                        <Show when=move || items.with(Vec::is_empty)>
                            <div class="slot empty-slot">
                                <span>{move || ui.words().empty_store}</span>
                            </div>
                        </Show>
                    </div>
                    <div class="tree">
                        <h3 class="sub">{move || ui.words().indices}</h3>
                        <For
                            each=move || indices.get()
                            key=|row| Arc::clone(&row.name)
                            children=move |row| {
                                let row = follow(indices, |row| Arc::clone(&row.name), row);
                                view! { <Index row=row /> }
                            }
                        />
                        <Show when=move || indices.with(Vec::is_empty)>
                            <p class="empty">{move || ui.words().no_indices}</p>
                        </Show>
                    </div>
                </div>
                <Show when=move || !indices.with(Vec::is_empty)>
                    <Query />
                </Show>
            </Show>
        </Frame>
    }
}

#[component]
fn Index(row: Memo<IndexRow>) -> impl IntoView {
    let ui = Ui::get();
    let name = row.with_untracked(|row| row.name.to_string());
    let values = Memo::new(move |_| row.with(|row| row.values.clone()));
    view! {
        <div class="index">
            <h4 class="row" translate="no">
                <i class="twist">"▾"</i>
                {name}
            </h4>
            <ul>
                <For
                    each=move || values.get()
                    key=|row| Arc::clone(&row.value)
                    children=move |row| {
                        let row = follow(values, |row| Arc::clone(&row.value), row);
                        view! { <Value row=row /> }
                    }
                />
            </ul>
            <Show when=move || values.with(Vec::is_empty)>
                <p class="empty">{move || ui.words().empty_store}</p>
            </Show>
        </div>
    }
}

#[component]
fn Value(row: Memo<ValueRow>) -> impl IntoView {
    let (index, value) = row.with_untracked(|row| (row.index.clone(), row.value.to_string()));
    let label = if value.is_empty() {
        "\"\"".to_owned()
    } else {
        value.clone()
    };
    let tags = Memo::new(move |_| row.with(|row| row.tags.clone()));
    let hidden = Memo::new(move |_| row.with(|row| row.hidden));
    view! {
        <li class="row v" translate="no">
            <span class="value" title=value.clone()>
                {label}
            </span>
            <span class="set">
                <For
                    each=move || tags.get()
                    key=|row| row.key.clone()
                    children=move |row: TagRow| {
                        let anchor = format!("store/index/{index}/{value}/{}", row.key);
                        let title = row.key.to_string();
                        let row = follow(tags, |row| row.key.clone(), row);
                        view! {
                            <span
                                class=move || row.with(|row| format!("tag {}", row.change.class()))
                                data-testid=move || {
                                    row.with(|row| row.change != Change::Out).then_some("index-key")
                                }
                                data-anchor=anchor
                                title=title
                            >
                                <i class=move || row.with(|row| row.mark.class())></i>
                                <span class="n">{move || name(row.with(|row| row.name.clone()))}</span>
                            </span>
                        }
                    }
                />
                {move || {
                    let hidden = hidden.get();
                    (hidden > 0).then(|| view! { <span class="tag">{format!("+{hidden}")}</span> })
                }}
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
    // Until asked for something else: the last index and its first value.
    let index = Memo::new(move |_| {
        let names = names.get();
        wanted
            .get()
            .filter(|wanted| names.iter().any(|name| **name == **wanted))
            .or_else(|| {
                let app = names.iter().find(|name| &***name == "app");
                app.or(names.last()).map(|name| name.to_string())
            })
            .unwrap_or_default()
    });
    let first = Memo::new(move |_| {
        let index = index.get();
        ui.view.with(|view| {
            let values = view.picture.store.indices.get(index.as_str());
            values
                .and_then(|values| values.iter().max_by_key(|(_, keys)| keys.len()))
                .map(|(value, _)| value.to_string())
                .unwrap_or_default()
        })
    });
    let value = move || asked.get().unwrap_or_else(|| first.get());
    let answer = Memo::new(move |_| {
        let (index, value) = (index.get(), value());
        let keys = ui
            .view
            .with(|view| index_keys(&view.picture, &index, &value));
        let keys: Vec<_> = keys
            .into_iter()
            .flatten()
            .map(|key| key.to_string())
            .collect();
        format!("[{}]", keys.join(" "))
    });
    view! {
        <div class="query">
            <h3 class="sub">{move || ui.words().query}</h3>
            <p class="obj mono" translate="no">
                "IndexKeys("
                <select
                    aria-label=move || ui.words().query_index
                    prop:value=move || index.get()
                    on:change=move |event| {
                        wanted.set(Some(event_target_value(&event)));
                        asked.set(None);
                    }
                >
                    <For
                        each=move || names.get()
                        key=|name| Arc::clone(name)
                        children=move |name| {
                            let this = name.to_string();
                            let text = format!("\"{name}\"");
                            view! {
                                <option
                                    value=name.to_string()
                                    selected=move || index.get() == this
                                >
                                    {text}
                                </option>
                            }
                        }
                    />
                </select>
                ", \""
                <input
                    aria-label=move || ui.words().query_value
                    prop:value=value
                    size=move || value().chars().count().clamp(2, 16).to_string()
                    maxlength="253"
                    autocomplete="off"
                    spellcheck="false"
                    on:input=move |event| asked.set(Some(event_target_value(&event)))
                />
                "\") → "
                <output>{move || answer.get()}</output>
            </p>
        </div>
    }
}
