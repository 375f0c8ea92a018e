//! The drawer's tab `branches`: the tree of runs, what the server did around the cursor, and settings.

use leptos::prelude::*;

use super::parts::{part, text};
use super::tabs::focus_on;
use crate::memo::Memo;
use crate::ui::Ui;
use deltascope_presentation::against::{Against, With};
use deltascope_presentation::command::{Command, When};
use deltascope_presentation::decimal::seconds;
use deltascope_presentation::session::typed;
use deltascope_presentation::view::{BranchRow, ServerEvent};

#[component]
pub(super) fn Branches() -> impl IntoView {
    let ui = Ui::get();
    let branches = ui.memo(|view| view.branches.to_vec());
    let events = ui.memo(|view| view.events.to_vec());
    let renamed = RwSignal::new(None::<u32>);
    view! {
        <div class="branches">
            <button
                class="btn"
                data-testid="btn-fork"
                title=text(move || format!("{} (F)", ui.words().fork_here))
                on:click=move |_| ui.send(Command::Fork)
            >
                {ui.word(|words| words.fork_here)}
            </button>
            <ul class="tree" data-testid="branch-tree" aria-label=ui.word(|words| words.branches)>
                {part(move || {
                    let renamed_now = renamed.get();
                    let rows = branches.get().into_iter();
                    rows.map(|row| branch(ui, &row, renamed, renamed_now == Some(row.id)))
                        .collect_view()
                })}
            </ul>
            <h3 role=ui.heading()>{ui.word(|words| words.server_events)}</h3>
            <p class="hint">{ui.word(|words| words.server_events_hint)}</p>
            {part(move || {
                let events = events.get();
                if events.is_empty() {
                    view! { <p class="empty">{ui.words().no_server_events}</p> }.into_any()
                } else {
                    view! {
                        <ol class="events" data-testid="server-events">
                            {events.iter().map(|row| event(ui, row)).collect_view()}
                        </ol>
                    }
                        .into_any()
                }
            })}
            <h3 role=ui.heading()>{ui.word(|words| words.another_setting)}</h3>
            <Settings />
        </div>
    }
}

fn branch(ui: Ui, row: &BranchRow, renamed: RwSignal<Option<u32>>, editing: bool) -> AnyView {
    let lang = ui.lang.get();
    let words = ui.words();
    let (id, current) = (row.id, row.current);
    let name = row.name.get(lang).to_owned();
    let shown = match editing {
        true => name_field(ui, row, renamed),
        false => name_button(ui, row),
    };
    view! {
        <li class:current=current prop:style=format!("--depth:{}", row.depth) data-branch=id.to_string()>
            {shown}
            <button
                class="mini"
                data-testid="btn-rename"
                title=words.branch_rename
                aria-label=format!("{}: {name}", words.branch_rename)
                on:click=move |_| {
                    renamed.set(Some(id));
                    focus_on(ui, format!(".branches [data-branch='{id}'] input"));
                }
            >
                "✎"
            </button>
            {(!current)
                .then(|| {
                    view! {
                        <button
                            class="mini"
                            data-testid="btn-compare-branch"
                            title=words.compare
                            aria-label=format!("{}: {name}", words.compare)
                            on:click=move |_| ui.send(Command::Compare(Against::Run(With::Branch(id))))
                        >
                            "⇄"
                        </button>
                    }
                })}
            {(row.depth > 0 && !current)
                .then(|| {
                    view! {
                        <button
                            class="mini"
                            data-testid="btn-remove-branch"
                            title=words.branch_remove
                            aria-label=format!("{}: {name}", words.branch_remove)
                            on:click=move |_| ui.send(Command::RemoveBranch(id))
                        >
                            "×"
                        </button>
                    }
                })}
        </li>
    }
    .into_any()
}

/// Names a branch.
fn name_field(ui: Ui, row: &BranchRow, renamed: RwSignal<Option<u32>>) -> AnyView {
    let id = row.id;
    let name = row.name.get(ui.lang.get()).to_owned();
    let value = if row.is_named {
        name.clone()
    } else {
        String::new()
    };
    let done = move |name: String| {
        renamed.set(None);
        ui.send(Command::RenameBranch(id, name.into()));
        focus_on(ui, branch_go(id));
    };
    view! {
        <input
            type="text"
            maxlength="40"
            data-testid="branch-name"
            aria-label=ui.words().branch_name
            placeholder=name.clone()
            value=value
            on:blur=move |event| {
                // Removing the field from the document blurs it as well.
                if renamed.get_untracked() == Some(id) {
                    done(event_target_value(&event));
                }
            }
            on:keydown=move |event| {
                match event.key().as_str() {
                    "Enter" => done(event_target_value(&event)),
                    "Escape" => {
                        event.stop_propagation();
                        event.prevent_default();
                        renamed.set(None);
                        focus_on(ui, branch_go(id));
                    }
                    _ => {}
                }
            }
        />
    }
    .into_any()
}

/// The name of a branch, and the way to it.
fn name_button(ui: Ui, row: &BranchRow) -> AnyView {
    let (id, lang) = (row.id, ui.lang.get());
    let name = row.name.get(lang).to_owned();
    let made = row.made.get(lang).to_owned();
    view! {
        <button
            class="go"
            aria-current=row.current.then_some("true")
            title=format!("{} {name}", ui.words().branch_go)
            on:click=move |_| {
                ui.send(Command::Branch(id));
                focus_on(ui, branch_go(id));
            }
        >
            <b>{name.clone()}</b>
            {(!name.ends_with(&made)).then(|| view! { <span class="made">{made}</span> })}
        </button>
    }
    .into_any()
}

/// Selector of the button that goes to a branch.
fn branch_go(id: u32) -> String {
    format!(".branches [data-branch='{id}'] .go")
}

fn event(ui: Ui, row: &ServerEvent) -> AnyView {
    let lang = ui.lang.get();
    let words = ui.words();
    let place = row.place;
    let time = seconds(row.time);
    let what = row.what.get(lang).to_owned();
    let named = format!("{what} {} ({time} s)", row.key);
    let button = |sign: &'static str, word: &'static str, id: &'static str, command: Command| {
        view! {
            <button
                class="mini"
                data-testid=id
                title=word
                aria-label=format!("{word}: {named}")
                on:click=move |event| {
                    // The first click redraws the rows, so the second click of a double click would hit another
                    // one.
                    if event.detail() < 2 {
                        ui.send(command.clone());
                    }
                }
            >
                {sign}
            </button>
        }
        .into_any()
    };
    view! {
        <li class:future=!row.past data-place=place.to_string()>
            <button
                class="go mono"
                title=named.clone()
                on:click=move |_| {
                    ui.send(Command::Seek(place + 1));
                    focus_on(ui, format!(".branches [data-place='{place}'] .go"));
                }
            >
                <span class="when">{time.clone()}</span>
                <span>{what.clone()}</span>
                <span class="key" translate="no">
                    {row.key.to_string()}
                </span>
                <span class="rv" translate="no">
                    {row.rv.to_string()}
                </span>
            </button>
            {row.can_move
                .then(|| {
                    [
                        button("↑", words.event_earlier, "btn-earlier", Command::MoveEvent(place, When::Earlier)),
                        button("↓", words.event_later, "btn-later", Command::MoveEvent(place, When::Later)),
                    ]
                        .collect_view()
                })}
            {button("×", words.drop_event, "btn-drop", Command::DropEvent(place))}
        </li>
    }
    .into_any()
}

#[component]
fn Settings() -> impl IntoView {
    let ui = Ui::get();
    let settings = ui.memo(|view| view.settings.to_vec());
    let chosen = RwSignal::new(0_usize);
    let typed = RwSignal::new(None::<String>);
    let row = Memo::new(move |_| {
        settings.with(|rows| {
            let row = rows.get(chosen.get()).or_else(|| rows.first());
            row.cloned()
        })
    });
    let go = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let Some(row) = row.get_untracked() else {
            return;
        };
        let value = typed.get_untracked().unwrap_or_else(|| row.value.clone());
        ui.send(typed::setting(&row.setting, &value));
        typed.set(None);
    };
    view! {
        <form class="setting" data-testid="setting-form" on:submit=go>
            {part(move || {
                let rows = settings.get();
                if rows.is_empty() {
                    return view! { <p class="empty">{ui.words().no_settings}</p> }.into_any();
                }
                let lang = ui.lang.get();
                // The form keeps its choice when the rows change.
                let at = chosen.get_untracked();
                let options = rows.iter().enumerate().map(|(place, row)| {
                    view! {
                        <option value=place.to_string() selected=place == at>
                            {row.name.get(lang).to_owned()}
                        </option>
                    }
                });
                let words = ui.words();
                view! {
                    <select
                        data-testid="select-setting"
                        aria-label=words.setting
                        on:change=move |event| {
                            typed.set(None);
                            chosen.set(event_target_value(&event).parse().unwrap_or_default());
                        }
                    >
                        {options.collect_view()}
                    </select>
                    <input
                        type="text"
                        data-testid="setting-value"
                        aria-label=words.setting_value
                        list="setting-choices"
                        prop:value=move || {
                            let value = typed.get();
                            value.unwrap_or_else(|| row.get().map(|row| row.value).unwrap_or_default())
                        }
                        on:input=move |event| typed.set(Some(event_target_value(&event)))
                    />
                    <datalist id="setting-choices">
                        {part(move || {
                            row.get()
                                .map(|row| {
                                    let choices = row.setting.choices().iter();
                                    choices
                                        .map(|choice| view! { <option value=*choice></option> })
                                        .collect_view()
                                })
                        })}
                    </datalist>
                    <button class="btn" type="submit" data-testid="btn-set">
                        {words.branch_with}
                    </button>
                }
                    .into_any()
            })}
        </form>
    }
}
