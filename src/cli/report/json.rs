//! The report as JSON, for programs: `--report run.json`, and what the tap serves while it runs.

use serde_json::{Value, json};

use deltascope_cache::fact::Request;
use deltascope_presentation::session::heard::said;
use deltascope_replay::heard::{Differs, Kind};
use deltascope_replay::tap::finding::{Finding, Odd};
use deltascope_replay::tap::ledger::{Because, EndKind, How, List};
use deltascope_replay::tap::note::Why;
use deltascope_replay::wall;
use deltascope_world::text::Text;

use super::{Informer, Logs, Observed, words};

/// The whole report.
pub(super) fn of(observed: &Observed, found: &[Finding]) -> Value {
    json!({
        "start": observed.start.map(wall::written),
        "lastedMs": observed.lasted,
        "informers": observed.informers.iter().map(informer).collect::<Vec<_>>(),
        "findings": found.iter().map(|one| finding(one, &observed.informers)).collect::<Vec<_>>(),
        "requests": observed.counts.iter().map(|((agent, verb, resource), count)| json!({
            "agent": &**agent, "verb": verb, "resource": resource,
            "count": count.times, "failed": count.failed,
        })).collect::<Vec<_>>(),
        "polls": observed.polls.iter().map(|poll| json!({
            "agent": &*poll.agent, "scope": poll.scope, "count": poll.count,
            "firstMs": poll.first, "lastMs": poll.last,
        })).collect::<Vec<_>>(),
        "log": observed.log.as_ref().map(|log| json!({
            "lines": log.lines, "unclaimed": log.unclaimed, "unread": log.unread,
            "firstUnread": log.first_unread.as_ref().map(|(line, words)| json!({
                "line": line, "words": { "en": &*words.en, "zh": &*words.zh } })),
        })),
    })
}

fn informer(informer: &Informer) -> Value {
    let Informer { ledger, logs, .. } = informer;
    let (generation, named) = ledger.generation();
    let ends = EndKind::ALL.map(|kind| (kind.id().to_owned(), ledger.ends_of(kind).into()));
    json!({
        "agent": &*ledger.agent,
        "scope": ledger.scope,
        "start": ledger.start.map(wall::written),
        "untilMs": ledger.until,
        "file": informer.file(),
        "stopped": ledger.stopped.map(|(at, why)| json!({ "atMs": at, "why": why })),
        "generation": { "version": generation.version(), "named": named },
        "objects": ledger.objects(),
        "bytes": ledger.bytes(),
        "bytesReceived": ledger.came,
        "managedFieldsBytes": ledger.managed,
        "events": ledger.events,
        "bookmarks": ledger.bookmarks,
        "eventsPerSecond": ledger.rate(),
        "listCount": ledger.list_count,
        "lists": ledger.lists.iter().map(list).collect::<Vec<_>>(),
        "watches": ledger.watches,
        "openSinceMs": ledger.open_since(),
        "ends": ends.into_iter().collect::<serde_json::Map<String, Value>>(),
        "log": (informer.lines > 0 || logs.is_some()).then(|| log(informer, logs.as_ref())),
        "lastEnds": ledger.ends.iter().map(|(at, why)| json!({ "atMs": at, "why": why })).collect::<Vec<_>>(),
    })
}

/// What was logged of an informer, as far as its recording was played.
fn log(informer: &Informer, logs: Option<&Logs>) -> Value {
    json!({
        "lines": informer.lines,
        "trouble": informer.trouble.as_ref().map(|text| &*text.en),
        "compared": logs.map(|logs| json!({
            "alike": logs.tally.alike, "behind": logs.tally.behind, "ahead": logs.tally.ahead,
            "dropped": logs.tally.dropped, "lacksBeginning": logs.lacks_beginning,
            "first": logs.first.as_ref().map(differs),
        })),
    })
}

fn differs(first: &Differs) -> Value {
    let kind = match first.kind {
        Kind::Missing => "missing",
        Kind::Extra => "extra",
        Kind::Order => "order",
        Kind::Type => "type",
        Kind::Tombstone => "tombstone",
    };
    json!({
        "difference": kind,
        "should": first.should.as_ref().map(|one| json!({ "atMs": one.time, "call": said(&one.call) })),
        "heard": first.heard.as_ref().map(|line| json!({ "line": line.line, "call": said(&line.call) })),
    })
}

fn list(list: &List) -> Value {
    let (how, limit) = match list.how {
        How::Cached => ("cached", 0),
        How::Whole => ("whole", 0),
        How::Paged(limit) => ("paged", limit),
        How::NotOlder => ("notOlder", 0),
        How::Streamed => ("streamed", 0),
    };
    let because = match &list.because {
        None => Value::Null,
        Some(Because::Nothing) => "nothing".into(),
        Some(Because::Ended(why)) => of_why(why),
    };
    json!({
        "atMs": list.at, "how": how, "limit": limit, "because": because,
        "objects": list.objects, "pages": list.pages,
    })
}

fn of_why(why: &Why) -> Value {
    serde_json::to_value(why).unwrap_or_default()
}

fn finding(finding: &Finding, informers: &[Informer]) -> Value {
    let Text { en, zh } = words::finding(finding, informers);
    let evidence = match &finding.odd {
        Odd::Twice { other, together } => json!({ "other": other, "together": together }),
        Odd::BigList(one) => list(one),
        Odd::Relists { lists, count } => json!({
            "count": count, "lists": lists.iter().map(list).collect::<Vec<_>>() }),
        Odd::ShortWatches(watches) => json!(
            watches
                .iter()
                .map(|(at, ms)| json!({ "atMs": at, "lastedMs": ms }))
                .collect::<Vec<_>>()
        ),
        Odd::HotObject { key, hot } => json!({
            "key": key, "changes": hot.changes,
            "writers": hot.writers.iter().map(|(by, n)| json!({ "manager": &**by, "changes": n })).collect::<Vec<_>>() }),
        Odd::KnownBug {
            violation,
            generation,
        } => json!({
            "generation": generation.version(), "invariant": violation.invariant.id(),
            "key": violation.key.as_ref().map(ToString::to_string) }),
        Odd::Poll(poll) => json!({
            "agent": &*poll.agent, "scope": poll.scope, "count": poll.count }),
        Odd::Refused(refused) => json!({
            "agent": &*refused.agent, "scope": refused.scope, "watch": refused.request == Request::Watch, "count": refused.count,
            "code": refused.error.code, "message": &*refused.error.message }),
        Odd::Log(first) => differs(first),
        Odd::AllSecrets | Odd::ManagedFields => Value::Null,
    };
    json!({
        "kind": finding.odd.id(),
        "informer": finding.informer,
        "atMs": finding.at,
        "words": { "en": &*en, "zh": &*zh },
        "evidence": evidence,
    })
}
