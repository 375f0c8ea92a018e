//! An informer of kube-rs: keeps the pods of the cluster in a store, and prints the name of each that is put there. With
//! `--streaming` it lists as a stream.

use std::error::Error;
use std::pin::pin;
use std::time::Duration;

use futures_util::TryStreamExt;
use k8s_openapi::api::core::v1::Pod;
use kube::runtime::utils::Backoff;
use kube::runtime::watcher::Event;
use kube::runtime::{WatchStreamExt, reflector, watcher};
use kube::{Api, Client, ResourceExt};

/// Its pauses are as many as the faults that it meets, and would grow to half a minute.
struct Short;

impl Iterator for Short {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        Some(Duration::from_millis(5))
    }
}

impl Backoff for Short {
    fn reset(&mut self) {}
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let config = match std::env::args().nth(1).as_deref() {
        Some("--streaming") => watcher::Config::default().streaming_lists(),
        _ => watcher::Config::default(),
    };
    let pods: Api<Pod> = Api::all(Client::try_default().await?);
    let (_store, writer) = reflector::store();
    let mut told = pin!(watcher(pods, config).reflect(writer).backoff(Short));
    let mut listed = Vec::new();
    loop {
        match told.try_next().await {
            Ok(Some(Event::Apply(pod))) => println!("{}", pod.name_any()),
            // A list counts when it is complete: then it is in the store.
            Ok(Some(Event::Init)) => listed.clear(),
            Ok(Some(Event::InitApply(pod))) => listed.push(pod.name_any()),
            Ok(Some(Event::InitDone)) => listed.iter().for_each(|name| println!("{name}")),
            Ok(Some(Event::Delete(_))) => {}
            Ok(None) => return Ok(()),
            // It tries again.
            Err(error) => eprintln!("{error}"),
        }
    }
}
