//! Responses of a real cluster: what they are, and how a trace has them.

use std::sync::Arc;

use kube_core::DynamicObject;
use serde_json::Value;

use crate::fields::{Fields, Put, Read, Written, Wrong, moment, one_of};
use deltascope_cache::fact::{Rv, WatchEnd};
use deltascope_cache::lister_watcher::{ApiError, ApiErrorKind};

use super::pod;
use super::wire::{self, RecordedEvent};
use super::write;

/// A response to a request.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerResponse {
    /// The number of the request; a response to an older request is ignored.
    pub request: u32,
    /// The response, or a part of it.
    pub part: ResponsePart,
}

/// The estimated memory of a JSON node, in bytes: the node, its place in a map, the allocation of its text.
const NODE: usize = 96;

impl ServerResponse {
    /// The estimated memory of its objects, in bytes.
    #[must_use]
    pub fn weight(&self) -> usize {
        match &self.part {
            ResponsePart::Page(page) => page.items.iter().map(|object| weight(object)).sum(),
            ResponsePart::Event(RecordedEvent::Object { object, .. }) => weight(object),
            _ => NODE,
        }
    }
}

fn weight(object: &DynamicObject) -> usize {
    let texts = |texts: &Option<std::collections::BTreeMap<String, String>>| {
        let texts = texts.iter().flatten();
        texts
            .map(|(key, value)| NODE + key.len() + value.len())
            .sum::<usize>()
    };
    let of = &object.metadata;
    let owners = of.owner_references.iter().flatten().map(|owner| {
        let texts = [&owner.api_version, &owner.kind, &owner.name, &owner.uid];
        4 * NODE + texts.map(String::len).iter().sum::<usize>()
    });
    8 * NODE
        + owners.sum::<usize>()
        + texts(&of.labels)
        + texts(&of.annotations)
        + weigh(&object.data)
}

fn weigh(value: &Value) -> usize {
    NODE + match value {
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(weigh).sum(),
        Value::Object(fields) => fields.iter().map(|(k, v)| k.len() + weigh(v)).sum(),
        _ => 0,
    }
}

/// A part of a response.
#[derive(Clone, Debug, PartialEq)]
pub enum ResponsePart {
    /// A list, or one page of it.
    Page(Page),
    /// The watch is open.
    Opened,
    /// The request failed for good; code 0 means that there was no answer.
    Refused(ApiError),
    /// The server asks for a retry, and the client will send the same request again.
    Later {
        /// HTTP status.
        code: u16,
        /// Delay before the retry, in ms.
        after_ms: u64,
        /// How often the request was sent so far.
        attempt: u32,
    },
    /// An event of the watch; never [`RecordedEvent::Cut`].
    Event(RecordedEvent),
    /// The watch has ended.
    Ended(WatchEnd),
}

/// A list, or one page of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The version of the list.
    pub rv: Rv,
    /// The objects.
    pub items: Arc<[Arc<DynamicObject>]>,
    /// The continue token for the next page; empty on the last page.
    pub continue_token: Arc<str>,
}

/// As a trace has it; a page has its objects as `items`.
impl Read for ServerResponse {
    fn read(value: Value) -> Result<Self, Wrong> {
        let mut fields = Fields::of("what a cluster has told", value)?;
        let request = fields.need("request")?;
        let page: Option<Value> = fields.get("page")?;
        let opened: bool = fields.get("opened")?;
        let refused: Option<Value> = fields.get("refused")?;
        let later: Option<Value> = fields.get("later")?;
        let event: Option<Value> = fields.get("event")?;
        let ended: Option<Value> = fields.get("ended")?;
        let bytes: Option<u32> = fields.get("bytes")?;
        fields.done()?;
        let part = match (page, refused, later, event, ended) {
            (Some(page), None, None, None, None) => ResponsePart::Page(read_page(page)?),
            (None, Some(refused), None, None, None) => ResponsePart::Refused(read_error(refused)?),
            (None, None, Some(later), None, None) => {
                let mut fields = Fields::of("\"later\"", later)?;
                let part = ResponsePart::Later {
                    code: fields.need("code")?,
                    after_ms: moment(fields.need("afterMs")?)?,
                    attempt: fields.need("attempt")?,
                };
                fields.done()?;
                part
            }
            (None, None, None, Some(event), None) => {
                ResponsePart::Event(wire::event_of(event).map_err(|words| words.en.to_string())?)
            }
            (None, None, None, None, Some(ended)) => {
                let words = [("closed", 0), ("silent", 1), ("cut", 2)];
                ResponsePart::Ended(match one_of(&ended, &words)? {
                    0 => WatchEnd::Closed,
                    1 => WatchEnd::Silent,
                    _ => bytes.map_or(WatchEnd::Cut, WatchEnd::CutInLine),
                })
            }
            (None, None, None, None, None) if opened => ResponsePart::Opened,
            _ => {
                return Err(
                    "what a cluster has told is one of page, opened, refused, later, event and ended"
                        .to_owned().into(),
                );
            }
        };
        Ok(Self { request, part })
    }
}

fn read_page(value: Value) -> Result<Page, String> {
    let mut fields = Fields::of("a page", value)?;
    let items: Vec<Value> = fields.get("items")?;
    let items = items.into_iter().map(|item| match item {
        Value::Object(item) => pod::trimmed(item, None, pod::Keep::default()).map(Arc::new),
        _ => Err("an object of a page must be a JSON object".to_owned()),
    });
    let page = Page {
        items: items.collect::<Result<_, _>>()?,
        rv: fields.get("resourceVersion")?,
        continue_token: fields.get("continue")?,
    };
    fields.done()?;
    Ok(page)
}

fn read_error(value: Value) -> Result<ApiError, String> {
    let mut fields = Fields::of("\"refused\"", value)?;
    let (code, reason): (u16, Arc<str>) = (fields.need("code")?, fields.get("reason")?);
    let message: Arc<str> = fields.get("message")?;
    let too_large: bool = fields.get("tooLarge")?;
    let refused: bool = fields.get("connectionRefused")?;
    fields.done()?;
    let mut error = ApiError::from_status(code, &reason, &message, []);
    if too_large {
        error.kind = ApiErrorKind::TooLarge;
    } else if refused {
        error.kind = ApiErrorKind::ConnectionRefused;
    }
    Ok(error)
}

/// Of a page it holds only the number of objects: [`response_items`] writes these apart, because together they exceed the
/// longest line.
impl Put for ServerResponse {
    fn written(&self) -> Value {
        let mut fields = Written::default();
        fields.some("request", Some(self.request.into()));
        let mut of = Written::default();
        match &self.part {
            ResponsePart::Page(page) => {
                of.put("resourceVersion", (&*page.rv).into());
                of.put("continue", (&*page.continue_token).into());
                of.some("count", Some(page.items.len().into()));
                fields.some("page", Some(of.done()));
            }
            ResponsePart::Opened => fields.some("opened", Some(true.into())),
            ResponsePart::Refused(error) => {
                of.some("code", Some(error.code.into()));
                of.put("reason", (&*error.reason).into());
                of.put("message", (&*error.message).into());
                of.put("tooLarge", error.is_too_large_resource_version().into());
                let refused = error.kind == ApiErrorKind::ConnectionRefused;
                of.put("connectionRefused", refused.into());
                fields.some("refused", Some(of.done()));
            }
            ResponsePart::Later {
                code,
                after_ms,
                attempt,
            } => {
                of.some("code", Some((*code).into()));
                of.some("afterMs", Some((*after_ms).into()));
                of.some("attempt", Some((*attempt).into()));
                fields.some("later", Some(of.done()));
            }
            ResponsePart::Event(event) => fields.some("event", Some(write::event(event))),
            ResponsePart::Ended(end) => {
                let (word, bytes) = match end {
                    WatchEnd::Closed => ("closed", None),
                    WatchEnd::Silent => ("silent", None),
                    WatchEnd::CutInLine(bytes) => ("cut", Some((*bytes).into())),
                    WatchEnd::Cut | WatchEnd::Failed(..) | WatchEnd::TooMuch(_) => ("cut", None),
                };
                fields.some("ended", Some(word.into()));
                fields.some("bytes", bytes);
            }
        }
        fields.done()
    }
}

/// The objects of all pages among the responses, in order.
pub fn response_items(responses: &[ServerResponse]) -> impl Iterator<Item = Value> {
    responses
        .iter()
        .filter_map(|response| match &response.part {
            ResponsePart::Page(page) => {
                Some(page.items.iter().map(|object| write::whole_object(object)))
            }
            _ => None,
        })
        .flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_text_of_an_owner_reference_weighs_what_it_has() {
        let weight = |texts: [&str; 4]| {
            let [api_version, kind, name, uid] = texts;
            let owner =
                json!({ "apiVersion": api_version, "kind": kind, "name": name, "uid": uid });
            let object = json!({ "metadata": { "name": "a", "ownerReferences": [owner] } });
            weight(&pod::from_json(object).unwrap())
        };
        let long = "x".repeat(500);
        for at in 0..4 {
            let mut texts = ["v"; 4];
            texts[at] = &long;
            assert_eq!(weight(texts), weight(["v"; 4]) + 499, "{at}");
        }
    }
}
