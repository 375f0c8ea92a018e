//! The API server.

use deltascope_cache::step::Step;

use super::{Routine, Title, line, plain};

pub(super) static SERVER_WRITE: Routine = Routine {
    title: Title::Of("API server"),
    lines: &[
        plain("write(verb, obj):"),
        line("  if it cannot be done: refuse", &[Step::ServerCheck]),
        line(
            "  apply it to objects[key], at the next rv",
            &[Step::ServerWrite],
        ),
        line("  send the event to each watch", &[Step::ServerSend]),
        line("  forget the oldest history", &[Step::ServerCompact]),
    ],
    unordered: Some((2, 3)),
};

pub(super) static SERVER_READ: Routine = Routine {
    title: Title::Of("API server"),
    lines: &[
        plain("list(rv):"),
        line("  answer with all objects, at one rv", &[Step::ServerList]),
        plain("watch(rv):"),
        line("  open after rv, or 410 if forgotten", &[Step::ServerWatch]),
        line("  until it is closed or cut", &[Step::ServerClose]),
    ],
    unordered: None,
};
