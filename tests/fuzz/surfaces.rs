//! Whatever reads what others wrote, each as a function of bytes: a surface. A surface panics where a rule is broken: what
//! is read and written reads the same again, cuts change nothing, and an error says something in both languages.
//!
//! `make test` tries some mutations of the inputs in `tests/fuzz/corpus` and of files that are there for other
//! reasons; `make fuzz` looks for more of them, guided by what the program does.

use std::fmt::Debug;

use deltascope::cache::lister_watcher::{ListRequest, WatchRequest};
use deltascope::cache::rng::Rng;
use deltascope::cache::selector::Selector;
use deltascope::presentation::against::Against;
use deltascope::presentation::anchor::Anchor;
use deltascope::presentation::cluster;
use deltascope::presentation::command::{Command, Export};
use deltascope::presentation::options::{Attribute, Options, Place};
use deltascope::presentation::session::Session;
use deltascope::presentation::session::typed::{CALLS, Given, SELDOM_CALLS};
use deltascope::presentation::shelf::progress::Progress;
use deltascope::presentation::state::state;
use deltascope::presentation::story::Story;
use deltascope::replay::growing::Growing;
use deltascope::replay::lessons::{self, SCENARIO};
use deltascope::replay::link::{Link, ShelfLink};
use deltascope::replay::predicate::Predicate;
use deltascope::replay::recording::{RecordedInput, Recording};
use deltascope::replay::tap::call::{Call, accepting_json};
use deltascope::replay::tap::detect::{Client, Detector};
use deltascope::replay::tap::follow::{Follower, Over};
use deltascope::replay::tap::ledger::Ledger;
use deltascope::replay::tap::note::{self, Note};
use deltascope::replay::tap::record::Recorder;
use deltascope::replay::trace::{self, Trace};
use deltascope::replay::{log, wall};
use deltascope::world::fields::{Put as _, Read};
use deltascope::world::source::live::{Asked, ResponsePart, ServerResponse, Wanted};
use deltascope::world::source::pod;
use deltascope::world::source::proxy::exchange::{Deadlines, End, Exchange, Head};
use deltascope::world::source::proxy::target::Target;
use deltascope::world::source::scenario::Scenario;
use deltascope::world::source::{wire, write};
use deltascope::world::text::{Lang, Text};
use serde_json::{Value, json};

/// Something that reads what others wrote.
pub(crate) struct Surface {
    /// Also the folder of its own inputs.
    pub(crate) name: &'static str,
    /// Other folders with inputs.
    pub(crate) more: &'static [&'static str],
    /// Sources, or folders of them, with words that it knows.
    pub(crate) knows: &'static [&'static str],
    /// Its longest input, in bytes: one that says the same thing again and again finds no more, only later.
    pub(crate) longest: usize,
    /// Reads an input.
    pub(crate) read: fn(&[u8]),
}

const ANSWERS: &[&str] = &[
    "src/world/source/wire.rs",
    "src/world/source/wire",
    "src/world/source/pod.rs",
];
const RUNS: &[&str] = &[
    "src/world/source",
    "src/world/virtual_time",
    "src/replay/trace.rs",
];

/// All surfaces.
pub(crate) const SURFACES: &[Surface] = &[
    surface(
        "anchor",
        256,
        &[],
        &["src/presentation/anchor.rs", "src/presentation/against.rs"],
        |bytes| text(bytes, anchor),
    ),
    surface("asked", 1024, &[], &["src/replay/tap/call.rs"], |bytes| {
        text(bytes, asked)
    }),
    surface(
        "attribute",
        1024,
        &[],
        &["src/presentation/options.rs", "src/replay/moment.rs"],
        |bytes| text(bytes, attribute),
    ),
    surface(
        "block",
        2048,
        &["docs/en/src"],
        &[
            "src/mdbook",
            "src/presentation/options.rs",
            "src/replay/moment.rs",
        ],
        |bytes| text(bytes, block),
    ),
    surface(
        "file",
        4096,
        &["tests/transcripts", "src/replay/lessons/recordings"],
        ANSWERS,
        file,
    ),
    surface(
        "lesson",
        4096,
        &["src/replay/lessons"],
        &[
            "src/world/source",
            "src/world/virtual_time",
            "src/presentation/story",
        ],
        lesson,
    ),
    surface(
        "link",
        2048,
        &["tests/links"],
        &["src/replay/link.rs"],
        |bytes| text(bytes, link),
    ),
    surface("list", 4096, &["tests/transcripts"], ANSWERS, |bytes| {
        answer(bytes, false)
    }),
    surface("log", 4096, &[], &["src/replay/log.rs"], controller_log),
    surface(
        "message",
        1024,
        &[],
        &[
            "tests/fuzz/surfaces.rs",
            "src/presentation/session/typed.rs",
        ],
        message,
    ),
    surface(
        "predicate",
        256,
        &[],
        &["src/replay/predicate.rs", "src/cache/fact"],
        |bytes| text(bytes, predicate),
    ),
    surface("recording", 4096, &["tests/traces"], RUNS, growing),
    surface(
        "request",
        2048,
        &["tests/transcripts"],
        &["src/world/source/wire", "src/replay/tap"],
        requests,
    ),
    surface("selector", 512, &[], &["src/cache/selector.rs"], |bytes| {
        text(bytes, selector)
    }),
    surface("trace", 4096, &["tests/traces"], RUNS, a_trace),
    surface("watch", 4096, &["tests/transcripts"], ANSWERS, |bytes| {
        answer(bytes, true)
    }),
];

const fn surface(
    name: &'static str,
    longest: usize,
    more: &'static [&'static str],
    knows: &'static [&'static str],
    read: fn(&[u8]),
) -> Surface {
    Surface {
        name,
        more,
        knows,
        longest,
        read,
    }
}

/// The requests of a controller that are read: more than lists of one kind that a tap remembers.
const REQUESTS: usize = 12;
/// The facts of a run that are computed: what is read must play, and reading is what is tried here.
const PLAYED: usize = 200;

fn text(bytes: &[u8], read: fn(&str)) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        read(text);
    }
}

/// An error says something, in both languages.
fn said(words: &Text) {
    assert!(!words.en.is_empty() && !words.zh.is_empty(), "{words:?}");
}

fn debug(what: &impl Debug) -> String {
    format!("{what:?}")
}

/// Random numbers that depend on the input alone.
fn chance(bytes: &[u8]) -> Rng {
    let mix = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    Rng::new(bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix))
}

/// The same bytes in pieces.
fn pieces(bytes: &[u8]) -> Vec<&[u8]> {
    let mut chance = chance(bytes);
    let (mut pieces, mut rest) = (Vec::new(), bytes);
    while !rest.is_empty() {
        let most = 2 << chance.below(10);
        let wanted = 1 + chance.below(most) as usize;
        let (piece, after) = rest.split_at(wanted.min(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

// --- a cluster's answers --------------------------------------------------------------------------

/// A list or a watch means the same in whatever pieces it comes.
fn answer(bytes: &[u8], watch: bool) {
    let whole = responses(bytes, watch, &[bytes]);
    assert_eq!(responses(bytes, watch, &pieces(bytes)), whole);
    let ends = |response: &ServerResponse| match &response.part {
        ResponsePart::Opened => false,
        ResponsePart::Event(event) => matches!(event, wire::RecordedEvent::Error { .. }),
        _ => true,
    };
    assert_eq!(whole.iter().filter(|one| ends(one)).count(), 1, "{whole:?}");
    assert!(whole.last().is_some_and(ends), "{whole:?}");
}

fn responses(bytes: &[u8], watch: bool, pieces: &[&[u8]]) -> Vec<ServerResponse> {
    let mut exchange = Exchange::new(&target(), &wanted(watch), Deadlines::default(), 0);
    exchange.sent(0);
    let mut responses = exchange.head(0, &head(bytes));
    for piece in pieces {
        responses.extend(exchange.chunk(0, piece));
    }
    let end = match bytes.len() % 5 {
        0 => End::Broken("reset".to_owned()),
        _ => End::Complete,
    };
    responses.extend(exchange.end(0, end));
    responses
}

fn target() -> Target {
    let Call::List(scope, _) = Call::read("GET", "/api/v1/pods", &[], "") else {
        unreachable!("this is a list");
    };
    scope.target("Pod")
}

fn wanted(watch: bool) -> Wanted {
    Wanted {
        request: 7,
        ask: match watch {
            true => Asked::Watch(WatchRequest::default()),
            false => Asked::List(ListRequest::default()),
        },
        has: 0,
        too_much: false,
    }
}

/// Mostly a success.
fn head(bytes: &[u8]) -> Head {
    Head {
        status: [200, 200, 200, 200, 410, 429, 500][bytes.len() % 7],
        content_type: "application/json".to_owned(),
        ..Head::default()
    }
}

/// A request's first line as it comes, and the encodings that its client takes.
fn asked(text: &str) {
    let (line, accept) = text.split_once('\n').unwrap_or((text, ""));
    let (method, wanted) = line.split_once(' ').unwrap_or(("GET", line));
    let call = Call::asked(method, wanted, accept);
    // What need not be encoded may be.
    let mut encoded = String::new();
    let mut rest = wanted.chars();
    while let Some(one) = rest.next() {
        let is_hex = |at: usize| {
            rest.as_str()
                .as_bytes()
                .get(at)
                .is_some_and(u8::is_ascii_hexdigit)
        };
        match one {
            '%' if is_hex(0) && is_hex(1) => {
                encoded.push('%');
                encoded.extend(rest.by_ref().take(2));
            }
            _ if one.is_ascii_alphanumeric() => encoded += &format!("%{:02X}", u32::from(one)),
            _ => encoded.push(one),
        }
    }
    assert_eq!(Call::asked(method, &encoded, accept), call, "{encoded}");
    if let Some(json) = accepting_json(accept) {
        assert_eq!(accepting_json(&json), None, "{json}");
    }
}

/// What a controller asks and hears behind the tap: lines of `METHOD path`, each followed by an answer.
fn requests(bytes: &[u8]) {
    let client = Client {
        agent: "controller/v0.0.0 client-go".into(),
        connection: 1,
    };
    let (mut detector, mut recorder) = (Detector::default(), None);
    let (mut notes, mut written, mut at) = (Vec::new(), String::new(), 0);
    let one_by_one = bytes.split(|byte| *byte == b'\x1e');
    for (id, one) in one_by_one.take(REQUESTS).enumerate() {
        let end = one.iter().position(|byte| *byte == b'\n');
        let (line, body) = one.split_at(end.unwrap_or_default());
        let line = String::from_utf8_lossy(line);
        let (method, path) = line
            .split_once(' ')
            .unwrap_or(("GET", "/api/v1/pods?watch=1"));
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let query: Vec<(String, String)> = query
            .split('&')
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let call = Call::read(method, path, &query, "");
        let began = detector.began(id as u64, &client, &call);
        let Some((mut follower, asked)) = Follower::new(at, &call) else {
            assert_eq!(began, None);
            continue;
        };
        let track = began.map_or(0, |began| began.track);
        let recorder: &mut Recorder = recorder.get_or_insert_with(|| {
            let empty = |_: &str| Trace {
                lesson: "tap".into(),
                title: Text::default(),
                at: None,
                start: None,
                recording: Recording {
                    scenario: Scenario::read(
                        json!({ "settings": { "feed": "cluster", "machinery": "shared" } }),
                    )
                    .unwrap_or_default(),
                    inputs: Vec::new(),
                },
            };
            Recorder::new(&call, asked.clone(), Box::new(empty), usize::MAX)
        });
        written += &recorder.asked(at, &call, &asked);
        notes.push(asked);
        let mut took = |step: deltascope::replay::tap::follow::Piece, at| {
            for part in &step.parts {
                if let ResponsePart::Page(page) = part {
                    detector.page(track, id as u64, &page.rv, &page.continue_token);
                }
            }
            written += &recorder.took(at, step.parts, &step.notes);
            notes.extend(step.notes);
        };
        took(follower.head(at, &head(body)), at);
        for piece in pieces(body) {
            at += piece.len() as u64 % 700;
            took(follower.chunk(at, piece), at);
        }
        let over = match body.len() % 3 {
            0 => Over::HungUp,
            1 => Over::Broken("reset".to_owned()),
            _ => Over::Complete,
        };
        took(follower.end(at, over), at);
        detector.ended(track, id as u64);
    }
    let _count = Ledger::of(&notes).summary();
    let Some(mut recorder) = recorder else { return };
    written += &recorder.finish();
    // What the tap writes opens.
    let (read, error) = trace::read("tap.jsonl", written.as_bytes());
    assert_eq!(error, None, "{written}");
    if let Some(read) = read {
        played(&read.recording);
    }
}

// --- files ----------------------------------------------------------------------------------------

/// A list or a watch in a file reads the same again, once it is written.
fn file(bytes: &[u8]) {
    let recorded = wire::open(&[("a.json".to_owned(), bytes.to_vec())]);
    if let Some(error) = &recorded.error {
        said(&error.message);
    }
    assert!(recorded.start.is_some() || recorded.has_watch || recorded.error.is_some());
    if let Some(start) = &recorded.start {
        let again = wire::list_of(write::list(start), write::items(start).collect());
        assert_eq!(again.as_ref(), Ok(start));
    }
}

/// A run reads the same again, once it is written.
fn a_trace(bytes: &[u8]) {
    let (read, error) = trace::read("a.jsonl", bytes);
    assert!(read.is_some() || error.is_some());
    if let Some(error) = &error {
        said(&error.message);
    }
    if let Some(read) = read {
        written_again(&read);
        played(&read.recording);
    }
}

fn written_again(read: &Trace) {
    let written = trace::write(read);
    let (again, error) = trace::read("a.jsonl", written.as_bytes());
    assert_eq!(error, None, "{written}");
    let again = again.map(|again| trace::write(&again));
    assert_eq!(again, Some(written));
}

fn controller_log(bytes: &[u8]) {
    let (read, error) = log::read("a.log", bytes);
    assert!(read.is_some() || error.is_some());
    if let Some(error) = &error {
        said(&error.message);
    }
    if let Err(error) = log::read_calls("a.log", bytes) {
        said(&error.message);
    }
    if let Some(read) = read {
        written_again(&read);
        played(&read.recording);
    }
}

/// A recording that still grows holds the same inputs in whatever pieces it comes.
fn growing(bytes: &[u8]) {
    let mut whole = Growing::new("a.jsonl");
    if let Ok(whole) = whole.read(bytes) {
        let mut pieced = Growing::new("a.jsonl");
        let mut inputs: Vec<RecordedInput> = Vec::new();
        for piece in pieces(bytes) {
            match pieced.read(piece) {
                Ok(grown) => inputs.extend(grown.inputs),
                Err(error) => panic!("{error} in pieces"),
            }
        }
        let places = |inputs: &[RecordedInput]| -> Vec<_> {
            inputs.iter().map(|taken| (taken.after, taken.at)).collect()
        };
        assert_eq!(places(&inputs), places(&whole.inputs));
    }
    let notes: Vec<Note> = note::read(bytes);
    let mut ledger = Ledger::of(&notes);
    let _counted = (
        ledger.objects(),
        ledger.bytes(),
        ledger.rate(),
        ledger.generation(),
    );
    let _summary = ledger.summary();
    a_trace(bytes);
}

/// A lesson or a bare scenario.
fn lesson(bytes: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else {
        return;
    };
    let lesson = match lessons::inline(value.clone()) {
        Ok(lesson) => lesson,
        Err(wrong) => return assert!(!wrong.message().is_empty()),
    };
    if let Some(story) = &lesson.story
        && let Err(wrong) = Story::read(story)
    {
        assert!(!wrong.message().is_empty());
    }
    // What is written is what was said; what was left out of it is not.
    let written = lesson.scenario.written();
    match Scenario::read(written.clone()) {
        Ok(again) => assert_eq!(again.written(), written),
        Err(wrong) => panic!("{}: {written}", wrong.message()),
    }
    assert!(value.get(SCENARIO).is_some() || lesson.story.is_none());
    let inputs = Vec::new();
    played(&Recording {
        scenario: lesson.scenario,
        inputs,
    });
}

/// A run that can be built plays, and its recording plays to the same picture.
fn played(recording: &Recording) {
    let Ok((timeline, _)) = recording.play_within(PLAYED) else {
        return;
    };
    let end = timeline.len().min(PLAYED);
    let mut picture = timeline.picture(0);
    timeline.fold(&mut picture, 0..end);
    assert!(picture == timeline.picture(end));
}

// --- texts ----------------------------------------------------------------------------------------

/// The fragment of a link: what it holds makes a link that holds the same.
fn link(text: &str) {
    let fragment = text.lines().next().unwrap_or_default();
    let link = match Link::read(fragment) {
        Ok(link) => link,
        Err(words) => return said(&words),
    };
    let _shelf = ShelfLink::read(fragment);
    let own = link.lesson.as_deref().map(lessons::load);
    let own = match &own {
        Some(Err(words)) => return said(words),
        Some(Ok(lesson)) => lesson.scenario.clone(),
        None => Scenario::default(),
    };
    let recording = match link.recording(&own) {
        Ok(recording) => recording,
        Err(words) => return said(&words),
    };
    let lesson = link.lesson.clone().map(|id| (id, &own));
    let again = Link::of(lesson, &recording).to_string();
    if again.len() <= deltascope::replay::link::LONGEST {
        match Link::read(&again).and_then(|read| read.recording(&own)) {
            Ok(read) => assert_eq!(debug(&read), debug(&recording), "{again}"),
            Err(words) => panic!("{}: {again}", words.en),
        }
    }
    played(&recording);
}

/// Lines of `name=value`, as on the element and in the address of a frame.
fn attribute(text: &str) {
    let mut options = Options::default();
    for line in text.lines() {
        let (name, value) = line.split_once('=').unwrap_or((line, ""));
        let Some(attribute) = Attribute::named(name) else {
            continue;
        };
        let before = options.clone();
        if let Err(words) = options.set(attribute, value) {
            said(&words);
            assert!(words.en.contains(name) && words.zh.contains(name));
            assert_eq!(options, before, "a wrong value changes nothing");
        }
    }
    let places = [&options.at, &options.until].into_iter().flatten();
    for place in places {
        if let Place::Moment(moment) = place {
            assert_eq!(moment.to_string().parse().as_ref(), Ok(moment));
        }
    }
}

fn predicate(text: &str) {
    match text.parse::<Predicate>() {
        Ok(predicate) => {
            assert_eq!(predicate.to_string().parse(), Ok(predicate));
        }
        Err(error) => assert!(!error.words().en.is_empty() && !error.words().zh.is_empty()),
    }
}

fn selector(text: &str) {
    match Selector::parse(text) {
        Ok(selector) => {
            let written = selector.to_string();
            let again = Selector::parse(&written);
            assert_eq!(again.map(|again| again.to_string()).as_ref(), Ok(&written));
            let labels = [("app".to_owned(), "web".to_owned())].into();
            let _selects = selector.matches(&labels);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// A place on the stage, and other names that scripts and the browser's memory hold.
fn anchor(text: &str) {
    if let Some(anchor) = Anchor::read(text) {
        assert_eq!(Anchor::read(&anchor.to_string()).as_ref(), Some(&anchor));
    }
    if let Some(against) = Against::parse(text) {
        assert_eq!(Against::parse(&against.id()), Some(against));
    }
    let progress = Progress::read(text);
    assert_eq!(Progress::read(&progress.write()).write(), progress.write());
    let _time = wall::read(text);
    if let Err(wrong) = pod::parse(text) {
        assert!(!wrong.is_empty());
    }
}

/// A chapter of a book.
fn block(text: &str) {
    let lines = text.lines().count().max(1);
    for (line, message) in deltascope_mdbook::problems(text) {
        assert!(
            (1..=lines).contains(&line) && !message.is_empty(),
            "{line}: {message}"
        );
    }
}

// --- messages -------------------------------------------------------------------------------------

fn value_given(value: &Value) -> Given {
    Given {
        text: value.as_str().map(str::to_owned),
        number: value.as_f64().map(|number| number.clamp(-2e3, 2e3)),
        json: (!value.is_string()).then(|| value.to_string()),
    }
}

/// What a page tells a frame or an element: an array of calls, each an array of a method's name and its arguments.
fn message(bytes: &[u8]) {
    let Ok(Value::Array(calls)) = serde_json::from_slice(bytes) else {
        return;
    };
    let mut session = Session::empty();
    for call in calls.iter().take(6) {
        let name = call.get(0).and_then(Value::as_str).unwrap_or_default();
        let given = call.get(1).cloned().unwrap_or_default();
        let text = given.as_str().unwrap_or_default();
        // The smallest run is found by trying many.
        let calls = CALLS.iter().chain(&SELDOM_CALLS);
        let mut commands = calls.filter(|(name, _)| *name != "smallest");
        if let Some((_, command)) = commands.find(|(one, _)| *one == name) {
            let other = call.get(2).map(value_given).unwrap_or_default();
            session.obey(command(&value_given(&given), &other));
        }
        match name {
            "openLink" => drop(session.obey(Command::OpenLink(text.into()))),
            "connect" => {
                if let Err(words) = cluster::Options::from_json(given) {
                    said(&words);
                }
            }
            "getUrl" => {
                if let Err(words) = session.export(Export::Link) {
                    said(&words);
                }
            }
            _ => {}
        }
    }
    let view = session.view();
    if let Some(error) = &view.error {
        said(&error.message);
    }
    let _told = state(&view, Lang::En);
}
