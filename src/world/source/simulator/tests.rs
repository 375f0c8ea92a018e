use serde_json::json;

use super::*;
use deltascope_cache::selector::Selector;

fn object(name: &str, app: &str) -> DynamicObject {
    let object = json!({ "metadata": { "name": name, "labels": { "app": app } } });
    pod::from_json(object).unwrap()
}

fn selecting(selector: Option<&str>) -> Settings {
    let selector = selector.map(|text| Selector::parse(text).unwrap());
    Settings {
        selector,
        ..Settings::default()
    }
}

fn server(settings: Settings) -> Simulator {
    let initial = vec![object("in", "web"), object("out", "db")];
    Simulator::new(settings.into(), initial, None, &[])
}

fn list(server: &mut Simulator, limit: u32, token: &str) -> (Vec<String>, Arc<str>) {
    let request = ListRequest {
        resource_version: Rv::default(),
        resource_version_match: None,
        limit,
        continue_token: token.into(),
    };
    let page = server.list(0, &request, &mut ()).unwrap();
    let name = |item: &Item<DynamicObject>| item.plain_object().map(|o| o.name().to_owned());
    (
        page.items.iter().filter_map(name).collect(),
        page.continue_token,
    )
}

fn watch(server: &mut Simulator, rv: &str, initial: bool) {
    let request = WatchRequest {
        resource_version: rv.into(),
        resource_version_match: None,
        allow_watch_bookmarks: true,
        send_initial_events: initial.then_some(true),
        timeout: std::time::Duration::ZERO,
    };
    server.watch(0, &request, &mut ()).unwrap();
}

/// Type, version and label of each item received; `mark` is a bookmark, `end` the one that ends the initial
/// events.
fn received(server: &mut Simulator) -> Vec<String> {
    let mut items = Vec::new();
    while let Some(item) = server.receive() {
        items.push(match item {
            WatchItem::Event(event, item) => {
                let object = item.plain_object().unwrap();
                let app = &object.metadata.labels.as_ref().unwrap()["app"];
                format!("{} {} {app}", event.as_str(), object.resource_version())
            }
            WatchItem::Bookmark {
                resource_version,
                initial_events_end,
            } => format!(
                "{} {resource_version}",
                if initial_events_end { "end" } else { "mark" }
            ),
            _ => "over".to_owned(),
        });
    }
    items
}

// Recorded from a real server: `watch-pod-lifecycle-selector`.
#[test]
fn a_watch_with_a_selector_sends_added_and_deleted_when_an_object_starts_and_stops_matching() {
    let update = |app| Write::Update(object("x", app));
    let delete = || Write::Delete {
        namespace: String::new(),
        name: "x".to_owned(),
    };
    let table = [
        (Write::Create(object("x", "db")), None),
        (update("cache"), None),
        (update("web"), Some("ADDED 6 web")),
        (update("web"), Some("MODIFIED 7 web")),
        // The object still exists; the watch sends its last matching state, with the version of the change.
        (update("db"), Some("DELETED 8 web")),
        (delete(), None),
        (Write::Create(object("x", "web")), Some("ADDED 10 web")),
        (delete(), Some("DELETED 11 web")),
    ];
    let mut server = server(selecting(Some("app=web")));
    assert_eq!(list(&mut server, 0, "").0, ["in"]);
    watch(&mut server, "3", false);
    let mut all = Vec::new();
    for (write, expected) in table {
        server.command(0, Command::Write(write), &mut ());
        let items = received(&mut server);
        assert_eq!(items, Vec::from_iter(expected), "{all:?}");
        all.extend(items);
    }
    // A watch from an old version receives the same events; a bookmark then states the server's version.
    watch(&mut server, "3", false);
    server.command(0, Command::Bookmark, &mut ());
    all.push("mark 11".to_owned());
    assert_eq!(received(&mut server), all);
    // A watch from version 0, and a streaming list.
    watch(&mut server, "0", false);
    assert_eq!(received(&mut server), ["ADDED 2 web"]);
    watch(&mut server, "", true);
    assert_eq!(received(&mut server), ["ADDED 2 web", "end 11"]);
    server.command(0, Command::Compact, &mut ());
    assert_eq!(&*server.oldest(), "12");
}

#[test]
fn a_broken_server_lists_objects_twice_and_does_not_end_the_initial_events() {
    let again = ["out".into(), "gone".into(), "in".into()];
    for (selector, limit, pages) in [
        (None, 0, vec![vec!["in", "out", "out", "in"]]),
        (Some("app=web"), 0, vec![vec!["in", "in"]]),
        (None, 3, vec![vec!["in", "out", "out"], vec!["in"]]),
    ] {
        let mut server = server(Settings {
            repeats: again.to_vec(),
            ..selecting(selector)
        });
        let mut token = Arc::default();
        for page in pages {
            let (names, next) = list(&mut server, limit, &token);
            assert_eq!(names, page);
            token = next;
        }
        assert!(token.is_empty());
    }
    let mut server = server(Settings {
        withholds_initial_events_end: true,
        ..Settings::default()
    });
    watch(&mut server, "", true);
    server.command(0, Command::Bookmark, &mut ());
    assert_eq!(
        received(&mut server),
        ["ADDED 2 web", "ADDED 3 db", "mark 3"]
    );
}
