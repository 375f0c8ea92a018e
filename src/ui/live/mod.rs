//! A real cluster, in the browser: requests over `fetch`, and what asks for them.

pub mod fetch;

use std::sync::Arc;

use super::cluster::{BASES, Probe, Tried};
use fetch::NoAnswer;

/// So long an answer to a small question may take, in ms: kubectl proxy opens a connection meanwhile.
const ANSWER_MS: u32 = 10_000;
/// The version of a server has some 400 bytes; a page that answers in its place has more.
const VERSION_MOST: usize = 256 * 1024;

/// Looks for an API where the user says, and where it usually is.
///
/// # Errors
/// There is none: what was found at each place.
pub async fn find(setting: &str) -> Result<Tried, Vec<Tried>> {
    let mut tried = Vec::new();
    let bases = [setting].into_iter().chain(BASES);
    for (index, base) in bases.enumerate() {
        // Only the setting can be empty, or be one of the others.
        if base.is_empty() || (index > 0 && base == setting) {
            continue;
        }
        let found = probe(base).await;
        let is_api = matches!(found, Probe::Api(_));
        let one = Tried {
            base: Arc::from(base),
            found,
        };
        if is_api {
            return Ok(one);
        }
        tried.push(one);
    }
    Err(tried)
}

async fn probe(base: &str) -> Probe {
    let url = format!("{base}version");
    match fetch::get(&url, "application/json", VERSION_MOST, ANSWER_MS).await {
        Ok(answer) => Probe::of(answer.status, &answer.content_type, &answer.body),
        Err(NoAnswer::Late) => Probe::Late,
        Err(NoAnswer::Large) => Probe::Page,
        Err(NoAnswer::Broken(_)) => Probe::Gone,
    }
}
