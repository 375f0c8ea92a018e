//! `getState()`: the picture as JSON, with the names of the scripting interface.

use serde_json::Value;

use deltascope_cache::controller::Generation;
use deltascope_cache::delta::DeltaType;
use deltascope_cache::fact::{Entry, NotificationRef, ObjectRef, Shape};
use deltascope_cache::key::Key;
use deltascope_replay::diff::Thing;
use deltascope_replay::invariants::Violation;
use deltascope_replay::picture::{Picture, QueueKind, ReflectorState};
use deltascope_replay::race::{HANDLERS, QUEUES, STORES};
use deltascope_world::fill::fill;
use deltascope_world::named;

use super::against::Against;
use super::lanes::actor_name;
use super::rows::is_tombstone;
use super::rows::race::said;
use super::story::{Answer, Form, words};
use super::view::selection::Found;
use super::view::story::{Asked, GoalView, StoryView};
use super::view::walking::Break;
use super::view::{BesideView, BranchRow, CompareView, RaceView, View};
use deltascope_world::text::{Lang, Text};

/// The version of the scripting interface. It changes when a name or its meaning changes.
pub const API_VERSION: &str = "1";

named! {
    /// What a board tells the page around it, besides that it is ready.
    pub enum Event {
        /// The cursor moved.
        Step = "step",
        /// It came to a marker.
        Marker = "marker",
        /// It came to a violated invariant.
        Violation = "violation",
        /// A scene of a story is shown.
        Scene = "scene",
        /// The run has decided an answer.
        Answer = "answer",
        /// The goal of a story is reached.
        Goal = "goal",
        /// Something went wrong.
        Error = "error",
    }
}

/// The result of `getState()`.
#[must_use]
pub fn state(view: &View, lang: Lang) -> Value {
    let mut members = of_picture(&view.picture);
    members.extend([
        ("lesson", text(&view.lesson.id)),
        ("era", text(view.lesson.era.version())),
        ("playing", view.playing.into()),
        ("step", view.step.into()),
        ("steps", view.steps.into()),
        ("time", view.time.into()),
        ("wallTime", view.lesson.wall(view.time).into()),
        ("branches", array(view.branches.iter().map(branch))),
        ("grain", text(view.walking.step_size.id())),
        (
            "breakpoints",
            array(view.walking.breaks.iter().map(breakpoint)),
        ),
        ("selection", selection(view)),
        (
            "following",
            view.followed
                .as_ref()
                .map_or(Value::Null, |followed| text(&followed.key)),
        ),
        (
            "violations",
            array(view.checks.violations.iter().map(violation)),
        ),
        (
            "comparison",
            match &view.beside {
                Some(BesideView::Two(compare)) => comparison(compare),
                Some(BesideView::Four(race)) => lanes(race, view, lang),
                None => Value::Null,
            },
        ),
        (
            "live",
            view.live.as_ref().map_or(Value::Null, |live| {
                object(vec![
                    ("following", live.following.into()),
                    ("behind", live.behind.into()),
                ])
            }),
        ),
        (
            "scene",
            view.story.as_ref().map(|story| scene(story, lang)).into(),
        ),
        (
            "goal",
            view.story
                .as_ref()
                .and_then(|story| story.goal.as_ref())
                .map_or(Value::Null, |one| goal(one, lang)),
        ),
        (
            "error",
            view.error.as_ref().map_or(Value::Null, |error| {
                object(vec![
                    ("message", text(error.message.get(lang))),
                    ("line", error.line.into()),
                ])
            }),
        ),
    ]);
    object(members)
}

/// The members of `getState()` that a picture holds.
fn of_picture(picture: &Picture) -> Vec<(&'static str, Value)> {
    let handlers = picture.handlers.iter().map(|handler| {
        object(vec![
            ("name", text(&handler.name)),
            ("pending", handler.pending.len().into()),
            (
                "notifications",
                array(handler.notifications.iter().map(|one| notification(one))),
            ),
        ])
    });
    let lock = &picture.lock;
    let holder = lock
        .holder
        .map(|actor| text(&actor_name(actor, picture, Lang::En)));
    let waiting = lock.waiting.iter();
    let waiting = waiting.map(|actor| text(&actor_name(*actor, picture, Lang::En)));
    let objects = picture.api.objects.iter();
    let objects = objects.filter(|(_, entry)| !entry.deleted);
    vec![
        ("knownObjects", picture.queue.known_objects.into()),
        (
            "lock",
            object(vec![
                ("holder", holder.unwrap_or(Value::Null)),
                ("waiting", array(waiting)),
            ]),
        ),
        (
            "api",
            object(vec![
                ("resourceVersion", text(&picture.api.rv)),
                (
                    "objects",
                    map(objects.map(|(key, entry)| (&**key, text(&entry.object.rv)))),
                ),
            ]),
        ),
        (
            "reflector",
            object(vec![
                ("state", text(reflector_state(picture.reflector.state))),
                (
                    "lastSyncResourceVersion",
                    text(&picture.reflector.last_sync),
                ),
            ]),
        ),
        ("queue", queue(picture)),
        ("store", store(picture)),
        ("handlers", array(handlers)),
        (
            "output",
            array(picture.output.iter().map(|printed| text(&printed.line))),
        ),
    ]
}

/// What a path of `getState()` leads to in a picture; `None` if it leads to nothing. At its end, `.length` is the
/// number of an array's elements or an object's members.
#[must_use]
pub(crate) fn value_at(picture: &Picture, path: &str) -> Option<Value> {
    let (path, counts) = match path.strip_suffix(".length") {
        Some(path) => (path, true),
        None => (path, false),
    };
    let root = object(of_picture(picture));
    let (mut value, mut rest) = (&root, Some(path));
    while let Some(path) = rest {
        // Names contain dots: the longest that fits.
        let mut ends = path.match_indices('.').map(|(at, _)| at).rev();
        let mut end = path.len();
        value = loop {
            let name = path.get(..end)?;
            let found = match value {
                Value::Array(values) => name.parse().ok().and_then(|at: usize| values.get(at)),
                value => value.get(name),
            };
            match found {
                Some(found) => break found,
                None => end = ends.next()?,
            }
        };
        rest = path.get(end + 1..);
    }
    match value {
        Value::Array(values) if counts => Some(values.len().into()),
        Value::Object(members) if counts => Some(members.len().into()),
        _ if counts => None,
        value => Some(value.clone()),
    }
}

fn scene(story: &StoryView, lang: Lang) -> Value {
    let question = story.asked.as_ref();
    object(vec![
        ("index", (story.index + 1).into()),
        ("of", story.of.into()),
        ("rooms", array(story.lit.iter().map(|room| text(room.id())))),
        ("say", plain(&story.say, lang)),
        (
            "question",
            question.map_or(Value::Null, |asked| self::question(asked, lang)),
        ),
    ])
}

fn question(asked: &Asked, lang: Lang) -> Value {
    let choices = match asked.form {
        Form::Place => array(asked.answers.iter().map(answer)),
        Form::Choice | Form::Number | Form::Order => {
            array(asked.choices.iter().map(|choice| plain(choice, lang)))
        }
    };
    let right = asked.verdict.as_ref().and_then(|one| one.is_right);
    let because = asked.verdict.as_ref();
    let because = because.and_then(|one| one.because.as_ref());
    object(vec![
        ("kind", text(asked.form.id())),
        ("text", plain(&asked.text, lang)),
        ("choices", choices),
        ("answered", answered(asked)),
        ("right", right.into()),
        (
            "because",
            because.map_or(Value::Null, |because| plain(because, lang)),
        ),
    ])
}

/// What was answered, as a script gives it; `"shown"` if the answer was asked for, null before that.
#[must_use]
pub fn answered(asked: &Asked) -> Value {
    match &asked.given {
        None => Value::Null,
        Some(None) => text("shown"),
        Some(Some(given)) => answer(given),
    }
}

fn answer(answer: &Answer) -> Value {
    match answer {
        Answer::Choice(choice) => (*choice).into(),
        Answer::Number(number) => (*number).into(),
        Answer::Place(room) => text(room.id()),
        Answer::Order(items) => array(items.iter().map(|item| (*item).into())),
    }
}

fn goal(goal: &GoalView, lang: Lang) -> Value {
    object(vec![
        ("text", plain(&goal.text, lang)),
        ("reached", goal.reached.into()),
        (
            "missed",
            goal.missed
                .as_ref()
                .map_or(Value::Null, |missed| plain(missed, lang)),
        ),
        (
            "hints",
            array(goal.hints.iter().map(|hint| plain(hint, lang))),
        ),
    ])
}

/// Words of a story, without their marks.
fn plain(words: &Text, lang: Lang) -> Value {
    Value::String(words::plain(words.get(lang)))
}

fn branch(branch: &BranchRow) -> Value {
    object(vec![
        ("id", branch.id.into()),
        ("name", text(&branch.name.en)),
        ("made", text(&branch.made.en)),
        ("depth", branch.depth.into()),
        ("current", branch.current.into()),
    ])
}

fn breakpoint(one: &Break) -> Value {
    object(vec![
        ("at", text(&one.predicate.to_string())),
        ("on", one.on.into()),
        ("hit", one.hit.into()),
    ])
}

fn selection(view: &View) -> Value {
    let Some(selection) = &view.selection else {
        return Value::Null;
    };
    let step = match selection.found {
        Found::Fact(place) => (place + 1).into(),
        Found::Start => 0.into(),
        Found::LongAgo => Value::Null,
    };
    object(vec![
        ("anchor", selection.anchor.to_string().into()),
        ("key", selection.key.as_ref().map(|key| text(key)).into()),
        ("step", step),
    ])
}

// Written by hand and compiled once each: `json!` would add some KB to the page.

fn text(text: &str) -> Value {
    Value::String(text.to_owned())
}

fn array(mut values: impl Iterator<Item = Value>) -> Value {
    collect(&mut values)
}

fn collect(values: &mut dyn Iterator<Item = Value>) -> Value {
    Value::Array(values.collect())
}

fn object(members: Vec<(&str, Value)>) -> Value {
    map(members.into_iter())
}

fn map<'a>(mut members: impl Iterator<Item = (&'a str, Value)>) -> Value {
    fill_map(&mut members)
}

fn fill_map(members: &mut dyn Iterator<Item = (&str, Value)>) -> Value {
    let members = members.map(|(name, value)| (name.to_owned(), value));
    Value::Object(fill(members))
}

fn violation(found: &Violation) -> Value {
    let key = found.key.as_ref().map(|key| text(key));
    object(vec![
        ("monitor", text(found.invariant.id())),
        ("at", found.at.into()),
        ("time", found.time.into()),
        ("key", key.unwrap_or(Value::Null)),
        ("known", found.known.into()),
    ])
}

fn comparison(compare: &CompareView) -> Value {
    let [_, other] = &compare.sides;
    let rooms = compare.rooms.iter();
    let counts = |counts: &Vec<u32>| match counts.as_slice() {
        [count] => (*count).into(),
        counts => array(counts.iter().map(|count| (*count).into())),
    };
    let summary = compare.summary.iter().map(|counted| {
        let both = vec![counts(&counted.left), counts(&counted.right)];
        (counted.metric.id(), Value::Array(both))
    });
    object(vec![
        ("with", text(&compare.with.id())),
        ("step", other.step.into()),
        ("steps", other.steps.into()),
        ("time", other.time.into()),
        (
            "differs",
            map(rooms.map(|room| (room.room.id(), room.differs().into()))),
        ),
        ("summary", map(summary)),
        (
            "violations",
            array(compare.violations.iter().map(violation)),
        ),
    ])
}

/// The four generations, as the result of a comparison with all of them.
fn lanes(race: &RaceView, view: &View, lang: Lang) -> Value {
    let moment = &race.moment;
    let lane = |(lane, generation): (usize, Generation)| {
        let differs = moment.differs(lane);
        let known = moment.handlers.iter().map(|handler| {
            let things = handler.known.columns.iter().map(|one| &one.things[lane]);
            let there = things.filter_map(|thing| match thing {
                Some(Thing::Object(object)) => Some((&*object.key, reference(object))),
                _ => None,
            });
            (&*handler.name, map(there))
        });
        let of = |what: usize| differs[what].into();
        object(vec![
            ("era", text(generation.version())),
            ("step", moment.lanes[lane].step.into()),
            (
                "differs",
                object(vec![
                    ("queue", of(QUEUES)),
                    ("store", of(STORES)),
                    ("handlers", of(HANDLERS)),
                ]),
            ),
            ("knows", map(known)),
        ])
    };
    object(vec![
        ("with", text(&Against::Race.id())),
        ("time", view.time.into()),
        ("parts", moment.parts.into()),
        ("said", text(&said(view, lang).unwrap_or_default())),
        (
            "lanes",
            array(Generation::ALL.into_iter().enumerate().map(lane)),
        ),
    ])
}

fn reflector_state(state: ReflectorState) -> &'static str {
    match state {
        ReflectorState::Idle => "idle",
        ReflectorState::List => "list",
        ReflectorState::Stream => "stream",
        ReflectorState::Watch => "watch",
        ReflectorState::Backoff => "backoff",
        ReflectorState::Stopped => "stopped",
    }
}

fn queue(picture: &Picture) -> Value {
    let queue = &picture.queue;
    let kind = ("kind", text(queue.kind.id()));
    if queue.kind == QueueKind::RealFifo {
        return object(vec![
            kind,
            ("items", array(queue.entries.iter().map(entry))),
        ]);
    }
    let keys = ("keys", array(queue.keys.iter().map(|key| text(key))));
    if queue.kind == QueueKind::Fifo {
        let objects = queue.deltas.iter().flat_map(|(key, deltas)| {
            let newest = deltas.iter();
            newest.map(move |(_, object)| (&**key, reference(object)))
        });
        return object(vec![kind, keys, ("objects", map(objects))]);
    }
    let delta = |(delta_type, object): &(DeltaType, ObjectRef)| {
        Value::Array(vec![text(delta_type.as_str()), reference(object)])
    };
    let deltas = queue.deltas.iter();
    let deltas = deltas.map(|(key, deltas)| (&**key, array(deltas.iter().map(delta))));
    object(vec![kind, keys, ("deltas", map(deltas))])
}

fn store(picture: &Picture) -> Value {
    let store = &picture.store;
    let items = store.items.iter();
    let items = items.map(|(key, object)| (&**key, reference(object)));
    let indices = store.indices.iter().filter(|_| store.present);
    let indices = indices.map(|(name, values)| {
        let keys = |keys: &Vec<Key>| array(keys.iter().map(|key| text(key)));
        let values = values.iter();
        (
            &**name,
            map(values.map(|(value, set)| (&**value, keys(set)))),
        )
    });
    object(vec![
        ("items", map(items)),
        ("indices", map(indices)),
        ("behind", store.behind.count().into()),
    ])
}

fn entry(entry: &Entry) -> Value {
    let (name, key, value) = match entry {
        Entry::Delta(delta_type, object) => {
            (delta_type.as_str(), text(&object.key), reference(object))
        }
        Entry::ReplacedAll { rv, objects } => {
            let listed = |one: &ObjectRef| Value::Array(vec![text(&one.key), reference(one)]);
            let objects = array(objects.iter().map(listed));
            let list = object(vec![("rv", text(rv)), ("objects", objects)]);
            ("ReplacedAll", Value::Null, list)
        }
        Entry::SyncAll => ("SyncAll", Value::Null, Value::Null),
        Entry::Bookmark { rv } => ("Bookmark", Value::Null, object(vec![("rv", text(rv))])),
    };
    Value::Array(vec![text(name), key, value])
}

fn notification(notification: &NotificationRef) -> Value {
    let (name, object, more) = match notification {
        NotificationRef::Add {
            object,
            is_in_initial_list,
        } => (
            "add",
            object,
            vec![reference(object), (*is_in_initial_list).into()],
        ),
        NotificationRef::Update { old, new } => {
            let old = old.as_ref().map(reference).into();
            ("update", new, vec![old, reference(new)])
        }
        NotificationRef::Delete { object } => {
            let inner = if object.shape == Shape::EmptyTombstone {
                Value::Null
            } else {
                text(&object.rv)
            };
            ("delete", object, vec![inner, is_tombstone(object).into()])
        }
    };
    let mut fields = vec![text(name), text(&object.key)];
    fields.extend(more);
    Value::Array(fields)
}

/// An object in the notation of the recorded test vectors.
fn reference(one: &ObjectRef) -> Value {
    match one.shape {
        Shape::Object => text(&one.rv),
        Shape::Tombstone => object(vec![("tombstone", text(&one.rv))]),
        Shape::EmptyTombstone => object(vec![("tombstone", Value::Null)]),
        Shape::ExplicitKey => object(vec![("explicitKey", text(&one.key))]),
        Shape::Opaque => text(&one.key),
    }
}
