//! A reflector's requests are sent as client-go sends them, and invalid ones are refused before they are
//! sent.

use std::time::Duration;

use deltascope::cache::lister_watcher::{ListRequest, ResourceVersionMatch, WatchRequest};
use deltascope::world::source::live::Asked;
use deltascope::world::source::proxy::exchange::{Deadlines, Exchange, Phase};
use deltascope::world::source::proxy::request;
use deltascope::world::source::proxy::target::{self, Target};

use super::Meaning::Refused;
use super::{meaning, pods, resource, wanted};

#[test]
fn requests_have_the_parameters_of_a_reflector() {
    let list = |rv: &str, limit, token: &str| {
        Asked::List(ListRequest {
            resource_version: rv.into(),
            limit,
            continue_token: token.into(),
            ..ListRequest::default()
        })
    };
    let watch = |rv: &str, initial: Option<bool>| {
        Asked::Watch(WatchRequest {
            resource_version: rv.into(),
            resource_version_match: initial.map(|_| ResourceVersionMatch::NotOlderThan),
            allow_watch_bookmarks: true,
            send_initial_events: initial,
            timeout: Duration::from_secs(401),
        })
    };
    let deployments = Target {
        base: "http://127.0.0.1:8001/".to_owned(),
        resource: resource("apps", "v1", "Deployment", "deployments"),
        namespace: Some("default".to_owned()),
        label_selector: "app in (a, b)".to_owned(),
        field_selector: "metadata.name=x".to_owned(),
        metadata_only: true,
    };
    let selectors = "fieldSelector=metadata.name%3Dx&labelSelector=app+in+%28a%2C+b%29";
    let of_apps = "http://127.0.0.1:8001/apis/apps/v1/namespaces/default/deployments";
    for (target, asked, url) in [
        (
            &pods(),
            list("0", 500, ""),
            "/api/v1/pods?limit=500&pretty=false&resourceVersion=0".to_owned(),
        ),
        (&pods(), list("", 0, ""), "/api/v1/pods?pretty=false".to_owned()),
        (
            &pods(),
            list("41", 0, ""),
            "/api/v1/pods?resourceVersion=41&pretty=false".to_owned(),
        ),
        (
            &pods(),
            list("", 500, "a+/="),
            "/api/v1/pods?limit=500&continue=a%2B%2F%3D&pretty=false".to_owned(),
        ),
        (
            &pods(),
            watch("41", None),
            "/api/v1/pods?watch=true&timeoutSeconds=401&allowWatchBookmarks=true&resourceVersion=41&pretty=false".to_owned(),
        ),
        (
            &pods(),
            watch("", Some(true)),
            "/api/v1/pods?watch=true&timeoutSeconds=401&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&pretty=false".to_owned(),
        ),
        (
            &deployments,
            list("0", 0, ""),
            format!("{of_apps}?{selectors}&resourceVersion=0&pretty=false"),
        ),
        (
            &deployments,
            watch("9", None),
            format!("{of_apps}?watch=true&timeoutSeconds=401&{selectors}&allowWatchBookmarks=true&resourceVersion=9&pretty=false"),
        ),
    ] {
        let request = request::of(target, &asked).unwrap();
        assert_eq!(request.url, url);
        let kind = match (target.metadata_only, &asked) {
            (false, _) => "application/json",
            (true, Asked::List(_)) => "application/json;as=PartialObjectMetadataList;",
            (true, Asked::Watch(_)) => "application/json;as=PartialObjectMetadata;",
        };
        assert!(request.accept.starts_with(kind), "{}", request.accept);
    }
}

#[test]
fn an_invalid_target_is_refused_before_it_is_sent() {
    let of = |change: fn(&mut Target)| {
        let mut target = pods();
        change(&mut target);
        target
    };
    for target in [
        of(|target| target.base = "javascript:alert(1)/".to_owned()),
        of(|target| target.base = "//evil.example/".to_owned()),
        of(|target| target.namespace = Some("a/../secrets?".to_owned())),
        of(|target| target.resource.plural = "pods/x".to_owned()),
        of(|target| target.resource.plural = "..".to_owned()),
        of(|target| target.label_selector = "a===b".to_owned()),
        of(|target| target.field_selector = "x".repeat(100_000)),
        of(|target| {
            target.resource.namespaced = false;
            target.namespace = Some("default".to_owned());
        }),
    ] {
        let words = target.check().unwrap_err();
        assert!(!words.en.is_empty() && !words.zh.is_empty());
        let mut exchange = Exchange::new(&target, &wanted(false), Deadlines::default(), 5);
        assert_eq!(
            (exchange.phase(), exchange.due()),
            (Phase::Waiting(5), Some(5))
        );
        let responses = exchange.timeout(5);
        assert!(
            matches!(meaning(&responses), Refused(0, ..)),
            "{responses:?}"
        );
        assert_eq!(exchange.phase(), Phase::Done);
    }
    for (text, base) in [
        ("", Some("/")),
        ("/", Some("/")),
        (" /k8s ", Some("/k8s/")),
        ("http://127.0.0.1:8001", Some("http://127.0.0.1:8001/")),
        ("http://[::1]:8001/k8s/", Some("http://[::1]:8001/k8s/")),
        ("ftp://a/", None),
        ("k8s", None),
        ("http:///", None),
        ("/a?b", None),
    ] {
        assert_eq!(target::base(text).ok().as_deref(), base, "{text}");
    }
}
