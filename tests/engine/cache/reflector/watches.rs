//! How the reflector watches: its requests, and what follows the failure or end of a watch.

use std::time::Duration;

use deltascope::cache::backoff::Jitter;
use deltascope::cache::lister_watcher::ApiErrorKind as Kind;
use deltascope::cache::queue::Release;
use deltascope::cache::reflector::{Need, Reflector, ReflectorOptions};
use kube_core::DynamicObject as O;

use super::Say::{Added, Bookmark, Close, Modified, Opaque, Open, OpenError, Page, Pass, Start};
use super::{NOW, Say, Talk, options, plays, streaming};

#[test]
fn what_follows_a_watch_that_could_not_be_opened() {
    for (kind, expected) in [
        (Kind::ConnectionRefused, r#"pause; WATCH "10""#.to_owned()),
        (Kind::TooManyRequests, r#"pause; WATCH "10""#.to_owned()),
    ]
    .into_iter()
    .chain(
        [
            Kind::Expired,
            Kind::Gone,
            Kind::TooLarge,
            Kind::InternalError,
            Kind::Timeout,
            Kind::Forbidden,
            Kind::Invalid,
            Kind::Unauthorized,
            Kind::NotFound,
            Kind::Other,
        ]
        .map(|kind| (kind, format!(r#"!{kind:?}; pause; LIST "10"/0"#))),
    ) {
        plays(
            &format!("{kind:?}"),
            ReflectorOptions {
                // Applies only to errors in a stream.
                max_internal_error_retry: Duration::from_secs(10),
                ..options()
            },
            &[
                (Start, r#"LIST "0"/500"#),
                (Page("10", &[], ""), r#"Replace "10"; WATCH "10""#),
                (OpenError(kind), &expected),
            ],
        );
    }
}

#[test]
fn what_follows_the_end_of_a_watch() {
    let relist = r#"pause; LIST "11"/0"#;
    for (name, end, expected) in [
        (
            "429",
            Say::Error(Kind::TooManyRequests),
            r#"pause; WATCH "11""#,
        ),
        ("expired", Say::Error(Kind::Expired), relist),
        ("gone", Say::Error(Kind::Gone), relist),
        ("500", Say::Error(Kind::InternalError), relist),
        ("504", Say::Error(Kind::Timeout), relist),
        ("too large", Say::Error(Kind::TooLarge), relist),
        ("403", Say::Error(Kind::Forbidden), relist),
        // In a stream, this is no reason to watch again.
        ("refused", Say::Error(Kind::ConnectionRefused), relist),
        ("other", Say::Error(Kind::Other), relist),
        ("clean", Close, r#"WATCH "11""#),
    ] {
        plays(
            name,
            options(),
            &[
                (Start, r#"LIST "0"/500"#),
                (Page("10", &[], ""), r#"Replace "10"; WATCH "10""#),
                (Open, ""),
                (Modified("a", "11"), "Update a@11"),
                (end, expected),
            ],
        );
    }
}

#[test]
fn a_watch_that_ends_at_once_without_an_event_is_a_failure() {
    let open = [
        (Start, r#"LIST "0"/500"#),
        (Page("10", &[], ""), r#"Replace "10"; WATCH "10""#),
        (Open, ""),
    ];
    let relist = r#"pause; LIST "10"/0"#;
    let ends: [(&str, &[(Say, &str)]); 5] = [
        ("nothing", &[(Close, relist)]),
        ("after a second", &[(Pass(1), ""), (Close, r#"WATCH "10""#)]),
        (
            "a bookmark",
            &[(Bookmark("10"), ""), (Close, r#"WATCH "10""#)],
        ),
        // A skipped event does not count.
        ("no object", &[(Opaque, ""), (Close, relist)]),
        (
            "the clock starts with the request",
            &[
                (Pass(1), ""),
                (Close, r#"WATCH "10""#),
                (Pass(2), r#"WATCH "10""#),
                (Open, ""),
                (Close, r#"WATCH "10""#),
            ],
        ),
    ];
    for (name, end) in ends {
        let lines: Vec<_> = open.iter().chain(end).cloned().collect();
        plays(name, options(), &lines);
    }
}

#[test]
fn internal_errors_are_retried_for_a_limited_time() {
    let error = Say::Error(Kind::InternalError);
    plays(
        "the time limit",
        ReflectorOptions {
            max_internal_error_retry: Duration::from_secs(10),
            ..options()
        },
        &[
            (Start, r#"LIST "0"/500"#),
            (Page("10", &[], ""), r#"Replace "10"; WATCH "10""#),
            (Open, ""),
            (error.clone(), r#"WATCH "10""#),
            (Open, ""),
            (Pass(10), ""),
            (error.clone(), r#"WATCH "10""#),
            (Open, ""),
            // A minute without errors: the time starts anew.
            (Pass(60), ""),
            (error.clone(), r#"WATCH "10""#),
            (Open, ""),
            (Pass(11), ""),
            (error.clone(), r#"pause; LIST "10"/0"#),
            // And in the next round.
            (Page("20", &[], ""), r#"Replace "20"; WATCH "20""#),
            (Open, ""),
            (error, r#"WATCH "20""#),
        ],
    );
}

#[test]
fn since_0_36_added_events_without_a_start_version_do_not_advance_the_version() {
    for (release, expected) in [
        (Release::V0_32, "5"),
        (Release::V0_35, "5"),
        (Release::V0_36, ""),
    ] {
        let both = release == Release::V0_36;
        let update = |rv: &str| format!("; UpdateResourceVersion {rv}");
        let early = |rv| if both { String::new() } else { update(rv) };
        let mut talk = Talk::new(ReflectorOptions {
            release,
            update_resource_version_store: true,
            ..options()
        });
        assert_eq!(talk.say(&Start), r#"LIST "0"/500"#);
        // A server without list versions.
        let said = talk.say(&Page("", &[], ""));
        assert_eq!(said, r#"Replace ""; WATCH """#);
        assert_eq!(talk.say(&Open), "");
        assert_eq!(talk.say(&Added("a", "7")), format!("Add a@7{}", early("7")));
        assert_eq!(talk.say(&Added("b", "5")), format!("Add b@5{}", early("5")));
        assert_eq!(&**talk.reflector.last_sync_resource_version(), expected);
        let mut closed = talk.clone();
        assert_eq!(closed.say(&Close), format!("WATCH {expected:?}"));
        // A bookmark also ends the initial events.
        let mut marked = talk.clone();
        assert_eq!(marked.say(&Bookmark("6")), "UpdateResourceVersion 6");
        assert_eq!(
            talk.say(&Modified("b", "8")),
            "Update b@8; UpdateResourceVersion 8"
        );
        // From here on, events come in order.
        assert_eq!(
            talk.say(&Added("c", "9")),
            "Add c@9; UpdateResourceVersion 9"
        );
        assert_eq!(talk.say(&Close), r#"WATCH "9""#);
    }
}

#[test]
fn a_watch_request_lasts_five_to_ten_minutes_or_longer() {
    #[derive(Clone)]
    struct Fixed(f64);
    impl Jitter for Fixed {
        fn unit(&mut self) -> f64 {
            self.0
        }
        fn boxed_clone(&self) -> Box<dyn Jitter> {
            Box::new(self.clone())
        }
    }
    for (min, unit, seconds) in [
        (0, 0.0, 300),
        (299, 0.5, 450),
        (300, 0.999_999, 599),
        (600, 0.0, 600),
        (600, 0.25, 750),
    ] {
        let mut reflector = Reflector::<O>::new(ReflectorOptions {
            min_watch_timeout: Duration::from_secs(min),
            jitter: Box::new(Fixed(unit)),
            ..streaming()
        });
        reflector.waited(NOW, &mut ());
        let Need::Watch(request) = reflector.need() else {
            panic!("{:?}", reflector.need());
        };
        assert_eq!(request.timeout.as_secs(), seconds, "{min} {unit}");
    }
}
