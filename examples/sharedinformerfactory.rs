//! One factory for several kinds: one informer per kind, however often it is requested. Prints the objects of each
//! kind, and one line once the kind has synced; the order between kinds is not fixed.
//!
//! ```text
//! cargo run --example sharedinformerfactory
//! cargo run --example sharedinformerfactory -- --proxy http://127.0.0.1:8001
//! ```

mod common;

use std::process::ExitCode;

use common::{Args, Cluster, Lines, Proxy, Source};
use deltascope::cache::event_handler::ResourceEventHandlerFuncs;
use deltascope::cache::factory::FactoryOptions;
use deltascope::cache::lister::{GenericLister, GroupResource};
use deltascope::cache::object::{Item, Object};
use deltascope::cache::selector::Selector;
use deltascope::cache::threads::{InformerOptions, SharedIndexInformer, SharedInformerFactory};
use deltascope::replay::lessons;
use deltascope::world::source::scenario::Scenario;
use kube_core::DynamicObject;

/// Two pods, a service and a deployment, and three kinds that sync.
const LINES: usize = 7;

fn main() -> ExitCode {
    common::main_with(&["--proxy"], run)
}

fn run(args: &Args) -> Result<(), String> {
    let lines = match args.proxy {
        Some(_) => Lines::without_end(),
        None => Lines::new(LINES),
    };
    let stop = lines.enough();
    let factory = SharedInformerFactory::new(FactoryOptions {
        namespace: "default".into(),
        ..FactoryOptions::default()
    });
    let lesson = lessons::load("sharedinformerfactory").map_err(|error| error.en.to_string())?;
    let scenario = &lesson.scenario;
    let pods = Kind::new("Pod", "", "pods", "api/v1");
    let services = Kind::new("Service", "", "services", "api/v1");
    let deployments = Kind::new("Deployment", "apps", "deployments", "apis/apps/v1");

    let informer = pods.informer(&factory, args, Some(scenario), &lines)?;
    services.informer(&factory, args, scenario.beside.first(), &lines)?;
    deployments.informer(&factory, args, scenario.beside.get(1), &lines)?;

    factory.start(&stop);
    for (kind, synced) in factory.wait_for_cache_sync(&stop) {
        let kinds = [&pods, &services, &deployments];
        let name = kinds.iter().find(|known| known.resource == kind);
        if let (true, Some(name)) = (synced, name) {
            lines.print(format_args!("{} synced", name.name));
        }
    }
    // A lister reads the informer's store, so this sends no request either.
    let lister = GenericLister::new(informer.get_indexer(), pods.resource.clone());
    let listed = lister.list::<DynamicObject>(&Selector::everything());
    listed.map_err(|error| error.to_string())?;

    stop.wait();
    factory.shutdown();
    Ok(())
}

struct Kind {
    name: &'static str,
    resource: GroupResource,
    path: String,
}

impl Kind {
    fn new(name: &'static str, group: &str, resource: &str, prefix: &str) -> Self {
        Self {
            name,
            resource: GroupResource::new(group, resource),
            path: format!("{prefix}/namespaces/default/{resource}"),
        }
    }

    /// The kind's informer, with a handler that prints added objects.
    fn informer(
        &self,
        factory: &SharedInformerFactory,
        args: &Args,
        scenario: Option<&Scenario>,
        lines: &Lines,
    ) -> Result<SharedIndexInformer<DynamicObject>, String> {
        let source = match (&args.proxy, scenario) {
            (Some(url), _) => Source::Proxy(Proxy::new(url, &self.path)?),
            (None, Some(scenario)) => Source::Script(Cluster::of_scenario(scenario)),
            (None, None) => return Err(format!("the lesson has no {}", self.name)),
        };
        let make = |scope: &_| SharedIndexInformer::new(source, InformerOptions::of(scope));
        let informer = factory.informer_for(&self.resource, make);
        let informer = informer.map_err(|error| error.to_string())?;
        common::report_watch_errors(&informer)?;
        let (name, lines) = (self.name, lines.clone());
        let add = move |object: &Item<DynamicObject>| {
            if let Some(object) = object.as_object() {
                lines.print(format_args!("OnAdd: {name} {}", object.name()));
            }
        };
        let added = informer.add_event_handler(ResourceEventHandlerFuncs {
            add_func: Some(Box::new(add)),
            ..ResourceEventHandlerFuncs::default()
        });
        added.map_err(|error| error.to_string())?;
        Ok(informer)
    }
}
