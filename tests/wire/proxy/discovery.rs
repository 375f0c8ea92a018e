//! The resources of a server, and the names to find them by.

use deltascope::world::source::proxy::discovery::{self, Discovery, Found};
use deltascope::world::source::proxy::exchange::Head;
use deltascope::world::source::proxy::target::Resource;

use super::{Answer, resource};

#[test]
fn old_and_new_servers_have_the_same_resources() {
    let recorded = |kind: &'static str| {
        move |path: &str| {
            let name = match (path, kind) {
                ("/api", "new") => "discovery-aggregated-api",
                ("/apis", "new") => "discovery-aggregated-apis",
                ("/api", _) => "discovery-api",
                ("/apis", _) => "discovery-apis",
                ("/api/v1", _) => "discovery-api-v1",
                _ => "error-404-group",
            };
            let answer = Answer::of(name);
            Ok((answer.head, answer.body))
        }
    };
    let new = discovered(recorded("new"));
    let names = |found: &Found| {
        found
            .resources
            .iter()
            .map(Resource::name)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(&new),
        ["configmaps", "namespaces", "pods", "deployments.apps"]
    );
    assert_eq!(new.errors, []);
    let old = discovered(recorded("old"));
    assert_eq!(old.resources, new.resources[..3]);
    // The request for the group failed.
    let [error] = &old.errors[..] else {
        panic!("{:?}", old.errors);
    };
    assert!(error.en.contains("404"), "{error:?}");
}

#[test]
fn a_failed_request_does_not_hide_other_resources() {
    let group = |name: &str, versions: &str| {
        format!(r#"{{"metadata":{{"name":"{name}"}},"versions":[{versions}]}}"#)
    };
    let version = |version: &str, freshness: &str, resources: &str| {
        format!(r#"{{"version":"{version}","freshness":"{freshness}","resources":[{resources}]}}"#)
    };
    let resource = |name: &str, verbs: &str| {
        format!(
            r#"{{"resource":"{name}","responseKind":{{"kind":"K{name}"}},"scope":"Namespaced","verbs":[{verbs}]}}"#
        )
    };
    let all = r#""list","watch""#;
    let groups = [
        group(
            "g.io",
            &[
                version(
                    "v2",
                    "Current",
                    &[resource("b", all), resource("w", r#""watch""#)].join(","),
                ),
                version(
                    "v1",
                    "Current",
                    &[resource("a", all), resource("b", all), resource("w", all)].join(","),
                ),
            ]
            .join(","),
        ),
        group("stale.io", &version("v1", "Stale", "")),
        group("gone.io", &version("v1", "Stale", &resource("old", all))),
    ]
    .join(",");
    let list = |items: &str| format!(r#"{{"kind":"APIGroupDiscoveryList","items":[{items}]}}"#);
    let of_pods = group("", &version("v1", "Current", &resource("pods", all)));
    let json = Head {
        status: 200,
        content_type: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
            .to_owned(),
        ..Head::default()
    };
    let answer = |text: String| Ok((json.clone(), text.into_bytes()));
    let found = discovered(|path| {
        match path {
        "/api" => answer(list(&of_pods)),
        "/apis" => answer(list(&groups)),
        "/apis/stale.io/v1" => answer(
            r#"{"kind":"APIResourceList","resources":[{"name":"fresh","kind":"F","namespaced":true,"verbs":["list","watch"]},{"name":"fresh/status","kind":"F","verbs":["list","watch"]}]}"#.to_owned(),
        ),
        _ => Err("no route".to_owned()),
    }
    });
    let names: Vec<String> = found
        .resources
        .iter()
        .map(|resource| format!("{}/{}", resource.name(), resource.version))
        .collect();
    assert_eq!(
        names,
        [
            "pods/v1",
            "b.g.io/v2",
            "a.g.io/v1",
            "w.g.io/v1",
            "fresh.stale.io/v1",
            "old.gone.io/v1"
        ]
    );
    let [error] = &found.errors[..] else {
        panic!("{:?}", found.errors);
    };
    assert!(
        error.en.contains("apis/gone.io/v1") && error.en.contains("no route"),
        "{error:?}"
    );
    assert!(error.zh.contains("没有应答"), "{error:?}");

    // One half of the API fails, then both.
    let forbidden = Answer::of("error-403-namespace");
    let found = discovered(|path| match path {
        "/api" => answer(list(&of_pods)),
        _ => Ok((forbidden.head.clone(), forbidden.body.clone())),
    });
    assert_eq!((found.resources.len(), found.errors.len()), (1, 1));
    let page = Answer::of("static-index");
    let found = discovered(|_| Ok((page.head.clone(), page.body.clone())));
    assert_eq!((found.resources.len(), found.errors.len()), (0, 2));
    assert!(found.errors[0].en.contains("there is no API here"));
    let found = discovered(|_| answer(list("")));
    assert_eq!((found.resources.len(), found.errors.len()), (0, 1));
    for spoiled in [
        "",
        "[]",
        "{}",
        r#"{"kind":"APIGroupList","groups":[1,{},{"name":2,"versions":[{}]}]}"#,
    ] {
        let found = discovered(|_| answer(spoiled.to_owned()));
        assert!(
            found.resources.is_empty() && !found.errors.is_empty(),
            "{spoiled}"
        );
    }
}

#[test]
fn resources_are_found_by_the_names_that_kubectl_accepts() {
    let with = |group: &str, kind: &str, plural: &str, short: &str| Resource {
        singular: kind.to_ascii_lowercase(),
        short_names: vec![short.to_owned()],
        ..resource(group, "v1", kind, plural)
    };
    let resources = [
        with("", "Pod", "pods", "po"),
        with("", "Event", "events", "ev"),
        with("apps", "Deployment", "deployments", "deploy"),
        with("events.k8s.io", "Event", "events", "ev"),
        with("metrics.k8s.io", "PodMetrics", "podmetrics", "pods"),
    ];
    for (text, name) in [
        ("pods", Some("pods")),
        ("Pod", Some("pods")),
        ("po", Some("pods")),
        (" PODS ", Some("pods")),
        ("pods.v1", Some("pods")),
        ("deployments.apps", Some("deployments.apps")),
        ("deployment.v1.apps", Some("deployments.apps")),
        ("deploy", Some("deployments.apps")),
        ("events", Some("events")),
        ("events.events.k8s.io", Some("events.events.k8s.io")),
        ("ev.v1.events.k8s.io", Some("events.events.k8s.io")),
        ("deployments.v2.apps", None),
        ("", None),
        ("pod.apps", None),
    ] {
        let found = discovery::find(&resources, text);
        assert_eq!(
            found.as_ref().map(|found| found.name()).ok().as_deref(),
            name,
            "{text}"
        );
        if let Err(words) = found {
            assert!(
                words.en.contains("It has: ") && words.zh.contains("它有："),
                "{words:?}"
            );
        }
    }
}

/// The result of a discovery with these answers.
fn discovered(answer: impl Fn(&str) -> Result<(Head, Vec<u8>), String>) -> Found {
    let mut discovery = Discovery::new("/");
    while let Some(ask) = discovery.next_ask() {
        assert!(!discovery.is_done());
        assert!(ask.request.accept.ends_with("application/json"));
        match answer(&ask.request.url) {
            Ok((head, body)) => discovery.answer(ask.id, Ok((&head, &body))),
            Err(why) => discovery.answer(ask.id, Err(&why)),
        }
    }
    assert!(discovery.is_done());
    discovery.finish()
}
