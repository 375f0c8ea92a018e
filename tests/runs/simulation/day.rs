//! A day of faults: in the evening the store equals the server and every handler has heard of it; at night, with all
//! objects gone, nothing is left anywhere.

use crate::of_world::picture_of;
use deltascope::cache::controller::Generation;
use deltascope::cache::fact::{ProcessMode, Request};
use deltascope::cache::lister_watcher::ApiErrorKind;
use deltascope::cache::rng::Rng;
use deltascope::replay::invariants::Invariants;
use deltascope::replay::picture::Picture;
use deltascope::world::Time;
use deltascope::world::source::pod::{PodSpec, Write};
use deltascope::world::source::scenario::{Entry, Scenario};
use deltascope::world::source::{Command, Refusals};
use deltascope::world::virtual_time::{Input, Settings};

use super::{Run, handler, pod, run_all, scenario, seeds};

const MINUTE: Time = 60_000;
const HOUR: Time = 60 * MINUTE;
/// The faults end so early that all of them are over in the evening.
const FAULTS: Time = 21 * HOUR;
const EVENING: Time = 22 * HOUR;
const NIGHT: Time = 24 * HOUR;

/// What happens at a time; a held or slow loop goes on a minute later.
fn acts(rng: &mut Rng, at: Time, script: &mut Vec<Entry>) {
    let command = match rng.below(32) {
        0..9 => Command::Write(Write::Create(pod(rng).into())),
        9..15 => Command::Write(Write::Update(pod(rng).into())),
        15..20 => Command::Write(Write::delete(pod(rng).into())),
        20 | 21 => Command::Cut,
        22 => Command::Compact,
        23 => Command::Close,
        24 => Command::Bookmark,
        25 => Command::ErrorEvent([410, 429, 500][rng.below(3) as usize]),
        26 | 27 => Command::Refuse(Refusals {
            request: [Request::List, Request::Watch][usize::from(rng.chance(50))],
            kind: [
                ApiErrorKind::Expired,
                ApiErrorKind::TooLarge,
                ApiErrorKind::TooManyRequests,
                ApiErrorKind::ConnectionRefused,
                ApiErrorKind::Forbidden,
                ApiErrorKind::Invalid,
                ApiErrorKind::InternalError,
            ][rng.below(7) as usize],
            times: 1 + rng.below(4) as u32,
        }),
        kind => {
            let input = match kind {
                28 => Input::AddHandler(handler(rng, "late", true)),
                29 => Input::RemoveHandler(rng.below(4) as u8),
                _ => {
                    script.push(Entry {
                        at: at + MINUTE,
                        input: Input::Mode(ProcessMode::Free),
                    });
                    Input::Mode(match kind {
                        30 => ProcessMode::Held,
                        _ => ProcessMode::Paced(700),
                    })
                }
            };
            script.push(Entry { at, input });
            return;
        }
    };
    let input = Input::Source(command);
    script.push(Entry { at, input });
}

/// The same day for each generation.
fn day(seed: u64, generation: Generation) -> Scenario {
    let mut rng = Rng::new(seed);
    let base = scenario(seed, &mut rng, false);
    let mut handlers = base.settings.handlers;
    for handler in &mut handlers {
        handler.resync_ms = handler.resync_ms.map(|ms| ms * 900);
    }
    let mut script = Vec::new();
    // Quiet hours, and minutes in which much comes together.
    let mut at = 0;
    while at < FAULTS {
        at += match rng.below(4) {
            0 => rng.below(20 * MINUTE),
            _ => rng.below(3_000),
        };
        acts(&mut rng, at, &mut script);
    }
    for namespace in ["a", "b"] {
        for number in 0..6 {
            let spec = PodSpec {
                namespace: namespace.to_owned(),
                name: format!("p{number}"),
                ..PodSpec::default()
            };
            script.push(Entry {
                at: NIGHT,
                input: Input::Source(Command::Write(Write::delete(spec.into()))),
            });
        }
    }
    script.sort_by_key(|entry| entry.at);
    Scenario {
        settings: Settings {
            era: generation,
            // See `super::scenario`.
            repeats: match generation {
                Generation::Atomic => Vec::new(),
                _ => base.settings.repeats,
            },
            resync_ms: base.settings.resync_ms * 900,
            handlers,
            ..base.settings
        },
        script,
        ..Scenario::default()
    }
}

impl Run {
    fn until(&mut self, time: Time) {
        while self.world.now() < time && self.step() {}
        self.rest();
    }

    /// What is left where all objects are gone.
    fn check_empty(&self) {
        let picture = picture_of(&self.world);
        let pending = picture.handlers.iter().map(|handler| handler.pending.len());
        let work = picture.work.as_ref().map_or([0; 4], |work| {
            [
                work.queue.len(),
                work.dirty.iter().count(),
                work.delayed.iter().count(),
                work.failures.iter().count(),
            ]
        });
        let indices = picture.store.indices.iter();
        let left = [
            ("the store", picture.store.items.iter().count()),
            (
                "the indices",
                indices.map(|(_, values)| values.iter().count()).sum(),
            ),
            (
                "the queue",
                picture.queue.keys.len() + picture.queue.entries.len(),
            ),
            ("the deltas", picture.queue.deltas.iter().count()),
            ("the buffers", pending.sum()),
            ("the workqueue", work.iter().sum()),
            ("handlers to add", picture.asked.len()),
        ];
        for (what, count) in left {
            assert_eq!(count, 0, "{what}: {}", self.name);
        }
        for (number, handler) in picture.handlers.iter().enumerate() {
            assert!(
                handler.removed || self.kept(number).is_empty(),
                "{}",
                self.name
            );
        }
    }
}

fn run(seed: u64) {
    for generation in Generation::ALL {
        let name = format!("day {seed} of {}", generation.version());
        let mut run = Run::new(day(seed, generation), name);
        let invariants = Invariants::new(&Picture::start(&run.world), false);
        run.until(EVENING);
        run.check();
        run.until(NIGHT + MINUTE);
        run.check();
        run.check_empty();
        run.check_synced();
        run.check_invariants(invariants);
    }
}

#[test]
fn a_day_of_faults_leaves_nothing_behind() {
    run_all(seeds(6, 10), run);
}
