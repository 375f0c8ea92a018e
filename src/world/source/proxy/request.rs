//! The requests that kube-core builds, with the parameters that it leaves out.

use kube_core::params::{ListParams, WatchParams};
use kube_core::{DynamicObject, Request, Resource as _};

use crate::source::live::Asked;
use crate::text::Text;
use deltascope_cache::lister_watcher::{ListRequest, ResourceVersionMatch, WatchRequest};

use super::target::Target;

/// Plain JSON.
pub const JSON: &str = "application/json";
/// A list of metadata; whole objects where a server does not support that.
const METADATA_LIST: &str =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
/// A watch of metadata: here the type is the one of a single object.
const METADATA: &str =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

/// A GET request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpRequest {
    /// The address.
    pub url: String,
    /// The header `Accept`.
    pub accept: String,
}

/// A GET of a path (without a leading `/`).
#[must_use]
pub fn get(base: &str, path: &str, accept: &str) -> HttpRequest {
    HttpRequest {
        url: format!("{base}{path}"),
        accept: accept.to_owned(),
    }
}

/// Builds the request for a list or a watch.
///
/// # Errors
/// The target is invalid; the text says what to do.
pub fn of(target: &Target, asked: &Asked) -> Result<HttpRequest, Text> {
    target.check()?;
    match asked {
        Asked::List(request) => list(target, request),
        Asked::Watch(request) => watch(target, request),
    }
}

/// A list of one object whose answer states the total number, whatever is selected: with selectors no server states one. See
/// [`super::list::count`].
///
/// # Errors
/// The target is invalid; the text says what to do.
pub fn count(target: &Target) -> Result<HttpRequest, Text> {
    let one = ListRequest {
        limit: 1,
        ..ListRequest::default()
    };
    let target = Target {
        label_selector: String::new(),
        field_selector: String::new(),
        metadata_only: true,
        ..target.clone()
    };
    of(&target, &Asked::List(one))
}

/// A list of the namespaces: see [`super::list::names`].
#[must_use]
pub fn namespaces(base: &str) -> HttpRequest {
    get(
        base,
        "api/v1/namespaces?resourceVersion=0&pretty=false",
        METADATA_LIST,
    )
}

fn list(target: &Target, request: &ListRequest) -> Result<HttpRequest, Text> {
    let ListRequest {
        resource_version,
        resource_version_match,
        limit,
        continue_token,
    } = request;
    let (version, token) = (&**resource_version, &**continue_token);
    // kube-core drops version 0 when there is a limit; a reflector sends both.
    let beside = version == "0" && *limit > 0 && token.is_empty();
    let params = ListParams {
        label_selector: some(&target.label_selector),
        field_selector: some(&target.field_selector),
        limit: Some(*limit).filter(|limit| *limit > 0),
        continue_token: some(token),
        resource_version: some(version).filter(|_| !beside),
        ..ListParams::default()
    };
    let built = path(target).list(&params).ok();
    let built = built
        .as_ref()
        .and_then(|built| built.uri().path_and_query());
    let mut more = String::new();
    if beside {
        more.push_str("&resourceVersion=0");
    }
    matching(*resource_version_match, &mut more);
    let accept = if target.metadata_only {
        METADATA_LIST
    } else {
        JSON
    };
    finished(target, built.map(|path| path.as_str()), &more, accept)
}

fn watch(target: &Target, request: &WatchRequest) -> Result<HttpRequest, Text> {
    let WatchRequest {
        resource_version,
        resource_version_match,
        allow_watch_bookmarks,
        send_initial_events,
        timeout,
    } = request;
    // kube-core requests initial events with all required parameters, or not at all.
    let initial = *send_initial_events == Some(true)
        && *allow_watch_bookmarks
        && *resource_version_match == Some(ResourceVersionMatch::NotOlderThan);
    let params = WatchParams {
        label_selector: some(&target.label_selector),
        field_selector: some(&target.field_selector),
        timeout: u32::try_from(timeout.as_secs()).ok(),
        bookmarks: *allow_watch_bookmarks,
        send_initial_events: initial,
    };
    let built = path(target).watch(&params, resource_version).ok();
    let built = built
        .as_ref()
        .and_then(|built| built.uri().path_and_query());
    // kube-core sends an empty version; client-go omits it.
    let built = built.map(|path| {
        let path = path.as_str();
        path.strip_suffix("&resourceVersion=").unwrap_or(path)
    });
    let mut more = String::new();
    if !initial {
        if let Some(on) = send_initial_events {
            more.push_str(if *on {
                "&sendInitialEvents=true"
            } else {
                "&sendInitialEvents=false"
            });
        }
        matching(*resource_version_match, &mut more);
    }
    let accept = if target.metadata_only { METADATA } else { JSON };
    finished(target, built, &more, accept)
}

fn path(target: &Target) -> Request {
    let resource = target.resource.api_resource();
    Request::new(DynamicObject::url_path(
        &resource,
        target.namespace.as_deref(),
    ))
}

fn matching(version_match: Option<ResourceVersionMatch>, more: &mut String) {
    if let Some(version_match) = version_match {
        more.push_str("&resourceVersionMatch=");
        more.push_str(version_match.as_str());
    }
}

fn finished(
    target: &Target,
    built: Option<&str>,
    more: &str,
    accept: &str,
) -> Result<HttpRequest, Text> {
    let Some(path) = built else {
        return Err(Text::new(
            "The request is too long for an address. Use shorter selectors.",
            "请求太长，无法写成地址。请使用更短的选择器。",
        ));
    };
    // kube-core joins the first parameter with `&`, like the others.
    let path = path.trim_start_matches('/').replacen("?&", "?", 1);
    let join = if path.ends_with('?') { "" } else { "&" };
    // API servers send browsers indented JSON otherwise.
    let path = format!("{path}{join}pretty=false{more}");
    Ok(get(&target.base, &path, accept))
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.is_empty())
}
