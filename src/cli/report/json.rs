//! The report as JSON, for programs: `--report run.json`, and what the tap serves while it runs.

use serde_json::{Value, json};

use deltascope_replay::tap::finding::Finding;
use deltascope_replay::tap::ledger::Ledger;
use deltascope_replay::tap::report::{Found, Informer, List, Report};
use deltascope_replay::wall;

use super::{Observed, words};

/// The whole report.
pub(super) fn of(observed: &Observed, found: &[Finding]) -> Report {
    let (start, lasted) = (observed.start, observed.lasted);
    let informers = observed.informers.iter();
    Report {
        start: start.map(wall::written),
        lasted_ms: lasted,
        informers: informers
            .map(|ledger| Informer::of(ledger, start, lasted))
            .collect(),
        findings: found
            .iter()
            .map(|one| finding(one, &observed.informers))
            .collect(),
        requests: (observed.counts.iter())
            .map(|((agent, verb, resource), count)| {
                json!({
                    "agent": &**agent, "verb": verb, "resource": resource,
                    "count": count.times, "failed": count.failed,
                })
            })
            .collect(),
        polls: (observed.polls.iter())
            .map(|poll| {
                json!({
                    "agent": &*poll.agent, "scope": poll.scope, "count": poll.count,
                    "firstMs": poll.first, "lastMs": poll.last,
                })
            })
            .collect(),
    }
}

/// The same as text. If it is brief, no recording is played for it.
pub(in super::super) fn text(observed: &Observed, brief: bool) -> String {
    let found = match brief {
        true => observed.odd(),
        false => observed.findings(),
    };
    serde_json::to_string(&of(observed, &found)).unwrap_or_default()
}

fn finding(finding: &Finding, informers: &[Ledger]) -> Found {
    let evidence = match finding {
        Finding::Twice { other, .. } => json!({ "other": other }),
        Finding::BigList { list, .. } => json!(List::of(list)),
        Finding::Relists { lists, count, .. } => json!({
            "count": count, "lists": lists.iter().map(List::of).collect::<Vec<_>>() }),
        Finding::ShortWatches { watches, .. } => json!(
            watches
                .iter()
                .map(|(at, ms)| json!({ "atMs": at, "lastedMs": ms }))
                .collect::<Vec<_>>()
        ),
        Finding::HotObject { key, hot, .. } => json!({
            "key": key, "changes": hot.changes,
            "writers": hot.writers.iter().map(|(by, n)| json!({ "manager": &**by, "changes": n })).collect::<Vec<_>>() }),
        Finding::KnownBug {
            violation,
            generation,
            ..
        } => json!({
            "generation": generation.version(), "invariant": violation.invariant.id(),
            "key": violation.key.as_ref().map(ToString::to_string) }),
        Finding::Poll { poll } => json!({
            "agent": &*poll.agent, "scope": poll.scope, "count": poll.count }),
        Finding::AllSecrets { .. } | Finding::ManagedFields { .. } => Value::Null,
    };
    Found {
        kind: finding.id(),
        informer: finding.informer(),
        at_ms: finding.at(),
        words: words::finding(finding, informers),
        evidence,
    }
}
