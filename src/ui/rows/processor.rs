//! The shared processor's room.

use std::sync::Arc;

use super::{current, notification_class, notification_object};
use crate::cache::fact::Fact;
use crate::replay::picture::HandlerRoom;
use crate::ui::view::View;

/// How many places a handler's ring has.
pub const RING: usize = 4;
/// How many lines of output are shown at most.
const LINES: usize = 60;

/// What the room shows.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ProcessorRows {
    /// The handlers.
    pub handlers: Vec<HandlerRow>,
    /// The newest lines, oldest first.
    pub output: Vec<LineRow>,
}

/// One handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandlerRow {
    /// Its place.
    pub number: usize,
    /// Its name.
    pub name: Arc<str>,
    /// It takes its time.
    pub slow: bool,
    /// It runs inside process and has no buffer.
    pub inline: bool,
    /// The classes of what waits, the next one first.
    pub ring: Vec<&'static str>,
    /// How many wait.
    pub pending: usize,
    /// The class of what it is working on.
    pub running: Option<&'static str>,
    /// What it is working on.
    pub running_name: String,
    /// The current fact is about it.
    pub lit: bool,
}

/// One line of output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineRow {
    /// Its place since the start of what is kept.
    pub number: usize,
    /// The text.
    pub text: Arc<str>,
    /// The current fact printed it.
    pub lit: bool,
}

/// The room at this moment.
#[must_use]
pub fn rows(view: &View) -> ProcessorRows {
    let output = &view.picture.output;
    let fact = current(view).map(|record| &record.fact);
    let printed = matches!(fact, Some(Fact::LinePrinted { .. }));
    let at = match fact {
        Some(
            Fact::NotificationQueued { handler, .. }
            | Fact::NotificationTaken { handler, .. }
            | Fact::NotificationHandled { handler },
        ) => Some(usize::from(*handler)),
        _ => None,
    };
    ProcessorRows {
        handlers: view
            .picture
            .handlers
            .iter()
            .enumerate()
            .map(|(number, handler)| handler_row(number, handler, at == Some(number)))
            .collect(),
        output: output
            .iter()
            .enumerate()
            .skip(output.len().saturating_sub(LINES))
            .map(|(number, text)| LineRow {
                number,
                text: Arc::clone(text),
                lit: printed && number + 1 == output.len(),
            })
            .collect(),
    }
}

fn handler_row(number: usize, handler: &HandlerRoom, lit: bool) -> HandlerRow {
    HandlerRow {
        number,
        name: Arc::clone(&handler.name),
        slow: handler.latency_ms > 0,
        inline: handler.inline,
        ring: handler
            .pending
            .iter()
            .take(RING)
            .map(notification_class)
            .collect(),
        pending: handler.pending.len(),
        running: handler.running.as_ref().map(notification_class),
        running_name: handler
            .running
            .as_ref()
            .map(|running| notification_object(running).key.to_string())
            .unwrap_or_default(),
        lit,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{object, view};
    use super::*;
    use crate::cache::fact::Notification;
    use crate::replay::picture::Picture;

    #[test]
    fn a_ring_has_four_places_and_a_count() {
        let delete = |n: u32| Notification::Delete {
            object: object("a", &n.to_string()),
        };
        let mut picture = Picture::default();
        picture.handlers.push(HandlerRoom {
            pending: (0..9).map(delete).collect(),
            ..HandlerRoom::default()
        });
        let rows = rows(&view(picture, Vec::new()));
        assert_eq!(rows.handlers[0].ring, ["Deleted"; RING]);
        assert_eq!(rows.handlers[0].pending, 9);
    }

    #[test]
    fn only_a_line_of_this_step_is_lit() {
        let mut picture = Picture::default();
        picture.output.extend(["one".into(), "two".into()]);
        let fact = Fact::LinePrinted {
            handler: 0,
            line: "two".into(),
        };
        let lit = |facts| -> Vec<bool> {
            let rows = rows(&view(picture.clone(), facts));
            rows.output.iter().map(|line| line.lit).collect()
        };
        assert_eq!(lit(vec![fact.clone()]), [false, true]);
        assert_eq!(lit(vec![fact, Fact::QueueEmpty]), [false, false]);
    }
}
