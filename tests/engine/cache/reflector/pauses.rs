//! How long the reflector pauses, and after which errors.

use std::time::Duration;

use deltascope::cache::backoff::{
    BACKOFF_RESET, Backoff, BackoffManager, Jitter, NoJitter, ResetSince,
};
use deltascope::cache::fact::{Fact, ReflectorFact};
use deltascope::cache::lister_watcher::{ApiError, ApiErrorKind as Kind};
use deltascope::cache::queue::Release;
use deltascope::cache::reflector::ReflectorOptions;
use proptest::prelude::*;

use super::Say::{ListError, Start};
use super::{NOW, Talk, options};

#[test]
fn the_reason_or_else_the_code_decides_the_class_of_an_error() {
    let none: [&str; 0] = [];
    for (code, reason, message, causes, expected) in [
        (410, "Expired", "", &none[..], Kind::Expired),
        (410, "Gone", "", &none, Kind::Gone),
        (410, "", "", &none, Kind::Gone),
        (410, "Conflict", "", &none, Kind::Other),
        (429, "", "", &none, Kind::TooManyRequests),
        (429, "Conflict", "", &none, Kind::TooManyRequests),
        (500, "", "", &none, Kind::InternalError),
        (500, "InternalError", "", &none, Kind::InternalError),
        (500, "ServerTimeout", "", &none, Kind::Other),
        (504, "Timeout", "", &none, Kind::Timeout),
        (
            504,
            "Timeout",
            "",
            &["ResourceVersionTooLarge"],
            Kind::TooLarge,
        ),
        (
            504,
            "Timeout",
            "",
            &["Too large resource version"],
            Kind::TooLarge,
        ),
        (
            504,
            "",
            "Too large resource version: 9, current: 5",
            &none,
            Kind::TooLarge,
        ),
        (
            500,
            "",
            "Too large resource version",
            &none,
            Kind::InternalError,
        ),
        (403, "Forbidden", "", &none, Kind::Forbidden),
        (422, "Invalid", "", &none, Kind::Invalid),
        (401, "", "", &none, Kind::Unauthorized),
        (404, "NotFound", "", &none, Kind::NotFound),
        (418, "Teapot", "", &none, Kind::Other),
    ] {
        let error = ApiError::from_status(code, reason, message, causes.iter().copied());
        assert_eq!(error.kind, expected, "{code} {reason} {message} {causes:?}");
        assert_eq!((error.code, &*error.reason), (code, reason));
    }
    for kind in [
        Kind::Expired,
        Kind::Gone,
        Kind::InternalError,
        Kind::Invalid,
    ] {
        let error = ApiError::new(kind, "m");
        let again = ApiError::from_status(error.code, &error.reason, "m", []);
        assert_eq!(again, error);
    }
}

#[test]
fn pauses_double_up_to_the_cap_and_start_over() {
    let pauses = |since, gap: u64, count: usize| -> Vec<u128> {
        let mut manager = BackoffManager::new(Backoff::default(), since, NOW);
        let mut now = NOW;
        let mut pause = || {
            let pause = manager.step(now, 0.0);
            now += pause + Duration::from_secs(gap);
            pause.as_millis()
        };
        (0..count).map(|_| pause()).collect()
    };
    let grown = [800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000];
    assert_eq!(pauses(ResetSince::LastBackoff, 0, 8), grown);
    // Up to 0.35 the pauses stay long while the server is away; since then they start over.
    let long = pauses(ResetSince::LastBackoff, 0, 50);
    assert!(long[6..].iter().all(|pause| *pause == 30_000));
    let anew = pauses(ResetSince::LastReset, 0, 10);
    assert_eq!(
        anew,
        [
            800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000, 30_000, 800
        ]
    );
    for since in [ResetSince::LastBackoff, ResetSince::LastReset] {
        let gap = BACKOFF_RESET.as_secs() + 1;
        assert_eq!(pauses(since, gap, 5), [800; 5], "{since:?}");
    }
    let mut constant = BackoffManager::new(
        Backoff {
            duration: Duration::from_secs(1),
            factor: 0.0,
            jitter: 0.5,
            steps: 5,
            cap: Duration::ZERO,
        },
        ResetSince::LastReset,
        NOW,
    );
    assert_eq!(constant.step(NOW, 0.0), Duration::from_secs(1));
    assert_eq!(constant.step(NOW, 0.5), Duration::from_millis(1250));
    // The step limit ends the growth, too.
    let mut two = BackoffManager::new(
        Backoff {
            steps: 2,
            ..Backoff::default()
        },
        ResetSince::LastReset,
        NOW,
    );
    let steps: Vec<_> = (0..4).map(|_| two.step(NOW, 0.0).as_millis()).collect();
    assert_eq!(steps, [800, 1600, 3200, 3200]);
    assert_eq!(NoJitter.boxed_clone().unit(), 0.0);
}

#[test]
fn since_0_36_an_absent_server_is_asked_more_often() {
    for (release, again) in [(Release::V0_35, 30_000), (Release::V0_36, 800)] {
        let mut talk = Talk::new(ReflectorOptions {
            release,
            ..options()
        });
        talk.say(&Start);
        for _ in 0..10 {
            talk.say(&ListError(Kind::ConnectionRefused));
        }
        let pauses: Vec<_> = talk
            .facts
            .iter()
            .filter_map(|(_, fact)| match fact {
                Fact::Reflector(ReflectorFact::BackoffStarted { ms, .. }) => Some(*ms),
                _ => None,
            })
            .collect();
        assert_eq!(pauses[..7], [800, 1600, 3200, 6400, 12_800, 25_600, 30_000]);
        assert_eq!(pauses[9], again, "{release:?}");
    }
}

proptest! {
    /// Each pause is between its base and twice its base, however the clock moves in between.
    #[test]
    fn a_pause_is_once_to_twice_its_base(
        steps in prop::collection::vec((0.0..1.0_f64, 0..200_000_u64), 1..40),
        last in any::<bool>(),
    ) {
        let since = if last { ResetSince::LastBackoff } else { ResetSince::LastReset };
        let mut manager = BackoffManager::new(Backoff::default(), since, NOW);
        let (mut now, mut start, mut base) = (NOW, NOW, 800.0_f64);
        for (unit, wait) in steps {
            now += Duration::from_millis(wait);
            if now - start > BACKOFF_RESET {
                base = 800.0;
                start = now;
            } else if last {
                start = now;
            }
            let pause = manager.step(now, unit).as_secs_f64() * 1000.0;
            prop_assert!(pause >= base - 1e-3 && pause < 2.0 * base + 1e-3, "{pause} {base}");
            prop_assert!((pause - base * (1.0 + unit)).abs() < 1e-3);
            prop_assert!(pause < 60_000.0);
            base = (base * 2.0).min(30_000.0);
        }
    }
}
