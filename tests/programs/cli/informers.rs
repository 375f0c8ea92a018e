//! What `deltascope tap` records and reports of the informers behind it: a controller in front of the tests' own API
//! server, in its faults.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use deltascope::cache::backoff::Backoff;
use deltascope::cache::controller::{Config, Generation};
use deltascope::cache::event_handler::ResourceEventHandlerFuncs;
use deltascope::cache::object::{Item, Object};
use deltascope::cache::threads::{InformerOptions, Latch, SharedIndexInformer};
use deltascope::replay::trace;
use kube_core::DynamicObject;
use serde_json::{Value, json};

use super::tap::Tap;
use super::{HANGS, Running, ask, connect, deltascope, output, read_until, scratch, start};
use crate::http_client;

/// The tests' API server.
pub(super) struct Api {
    _running: Running,
    pub(super) url: String,
    commands: u16,
}

impl Api {
    pub(super) fn start(options: &[&str]) -> Self {
        let mut command = Command::new("node");
        command
            .args([
                "tests/browser/apiserver.mjs",
                "--port",
                "0",
                "--control",
                "0",
            ])
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let (running, out, _) = start(&mut command);
        let line = out.recv_timeout(HANGS).expect("node does not start");
        let urls: Vec<&str> = line
            .split([' ', ','])
            .filter(|word| word.starts_with("http"))
            .collect();
        Self {
            _running: running,
            url: urls[0].to_owned(),
            commands: port(urls[1]),
        }
    }

    pub(super) fn tell(&self, command: &str, args: &Value) -> Value {
        let body = args.to_string();
        let request = format!(
            "POST /{command} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let got = ask(self.commands, request.as_bytes());
        assert_eq!(got.code, 200, "{command}: {}", got.text());
        json_of(&got.body, got.header("Transfer-Encoding").is_some())
    }

    /// The versions of the pods.
    pub(super) fn pods(&self) -> BTreeMap<String, String> {
        let request = "GET /api/v1/pods HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        let list = json_of(&ask(port(&self.url), request.as_bytes()).body, false);
        let pods = list["items"].as_array().unwrap().iter();
        pods.map(|pod| {
            let of = |name: &str| pod["metadata"][name].as_str().unwrap();
            (
                format!("{}/{}", of("namespace"), of("name")),
                of("resourceVersion").to_owned(),
            )
        })
        .collect()
    }
}

fn port(url: &str) -> u16 {
    let (_, port) = url.rsplit_once(':').unwrap();
    port.trim_end_matches('/').parse().unwrap()
}

fn json_of(body: &[u8], chunked: bool) -> Value {
    let text = std::str::from_utf8(body).unwrap();
    match chunked {
        true => {
            // A small answer is one chunk.
            let lines: Vec<&str> = text.split("\r\n").collect();
            serde_json::from_str(lines[1]).unwrap()
        }
        false => serde_json::from_str(text).unwrap(),
    }
}

/// How an informer is made.
pub(super) fn options(generation: Generation) -> InformerOptions<DynamicObject> {
    InformerOptions {
        // Its pauses are as many as the faults, and would grow to half a minute.
        config: Config {
            backoff: Backoff {
                duration: Duration::from_millis(5),
                cap: Duration::from_millis(5),
                ..Backoff::default()
            },
            ..Config::new(generation)
        },
        ..InformerOptions::default()
    }
}

/// A controller with one informer of the pods, which says what its handler hears.
struct Controller {
    added: Receiver<String>,
    stop: Latch,
}

impl Controller {
    fn start(tap: &Tap, generation: Generation, path: &str) -> Self {
        let base = format!("http://127.0.0.1:{}{}", tap.port, tap.base);
        let proxy = http_client::Proxy::new(&base, path).unwrap();
        let informer = SharedIndexInformer::<DynamicObject>::new(proxy, options(generation));
        let (send, added) = channel();
        let add = move |pod: &Item<DynamicObject>| {
            // The test may be over.
            let _over = send.send(pod.as_object().unwrap().name().to_owned());
        };
        informer
            .add_event_handler(ResourceEventHandlerFuncs {
                add_func: Some(Box::new(add)),
                ..ResourceEventHandlerFuncs::default()
            })
            .unwrap();
        let stop = Latch::new();
        let (latch, running) = (stop.clone(), Arc::new(informer));
        thread::spawn(move || running.run(&latch).unwrap());
        Self { added, stop }
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        self.stop.set();
    }
}

pub(super) fn hears_of(heard: &Receiver<String>, name: &str) {
    while heard.recv_timeout(HANGS).expect(name) != name {}
}

/// Where the tap records, empty.
pub(super) fn folder(name: &str) -> PathBuf {
    let folder = scratch(&format!("tap-{name}"));
    let _none = fs::remove_dir_all(&folder);
    folder
}

pub(super) fn recordings(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

/// What the tap knows, once it has read all that has passed.
pub(super) fn informers(tap: &Tap) -> Value {
    let head = tap.head("GET", "/deltascope/informers.json");
    let got = ask(
        tap.port,
        format!("{head}Connection: close\r\n\r\n").as_bytes(),
    );
    assert_eq!(got.code, 200);
    json_of(&got.body, false)
}

/// Waits until so many informers are so.
fn are(tap: &Tap, count: usize, so: impl Fn(&Value) -> bool) {
    let late = Instant::now() + HANGS;
    loop {
        let known = informers(tap);
        let all = known["informers"].as_array().unwrap().iter();
        if all.filter(|one| so(one)).count() == count {
            return;
        }
        assert!(Instant::now() < late, "they are not so: {known:#}");
    }
}

/// Waits until so many informers have an open watch: then what happens next comes as an event.
pub(super) fn watching(tap: &Tap, count: usize) {
    are(tap, count, |one| !one["openSinceMs"].is_null());
}

/// The store of the engine's informer at the end of a recording.
pub(super) fn stored(file: &Path) -> BTreeMap<String, String> {
    let bytes = fs::read(file).unwrap();
    let (read, error) = trace::read("trace", &bytes);
    assert_eq!(error, None);
    let mut timeline = read.unwrap().recording.play().unwrap();
    timeline.extend(timeline.len() + 1_000_000);
    let picture = timeline.picture(timeline.len());
    let items = picture.store.items.iter();
    items
        .map(|(key, object)| (key.to_string(), object.rv.to_string()))
        .collect()
}

/// The faults, in an order in which each finds an open watch.
pub(super) fn faults() -> Vec<(&'static str, Vec<(&'static str, Value)>)> {
    vec![
        ("none", vec![]),
        ("bookmark", vec![("bookmark", json!([]))]),
        ("end", vec![("end", json!([]))]),
        ("drop", vec![("drop", json!([]))]),
        ("cut", vec![("cut", json!([]))]),
        (
            "pieces",
            vec![
                ("pieces", json!([7])),
                ("generate", json!(["pods", 3])),
                ("pieces", json!([0])),
            ],
        ),
        (
            "expired",
            vec![
                ("advance", json!([])),
                ("compact", json!([])),
                ("end", json!([])),
            ],
        ),
        (
            "refused",
            vec![
                (
                    "fail",
                    json!([{ "on": "watch", "status": 403, "times": 1 }]),
                ),
                ("end", json!([])),
            ],
        ),
        (
            "failing",
            vec![
                (
                    "fail",
                    json!([{ "on": "watch", "status": 500, "times": 1 }]),
                ),
                ("drop", json!([])),
            ],
        ),
        (
            "no answer",
            vec![
                ("fail", json!([{ "on": "watch", "status": 0, "times": 1 }])),
                ("end", json!([])),
            ],
        ),
        (
            "stalled",
            vec![
                ("stall", json!([])),
                ("generate", json!(["pods", 2])),
                ("resume", json!([])),
            ],
        ),
        ("nonsense", vec![("raw", json!(["{\"type\":\"ADDED\"\n"]))]),
        ("restart", vec![("restart", json!([]))]),
    ]
}

/// Has a controller meet every fault through a tap, and compares what is recorded with the server. `begin` starts it; it names the
/// pods that it hears of.
fn in_every_fault<T>(of: &str, begin: impl FnOnce(&Tap) -> (Receiver<String>, T)) {
    let api = Api::start(&["--pods", "20", "--rate", "0"]);
    let name = format!("faults-{of}");
    let folder = folder(&name);
    let mut tap = Tap::start(&name, &api.url, &["--out", folder.to_str().unwrap()]);
    let (heard, controller) = begin(&tap);
    for (number, (fault, commands)) in faults().iter().enumerate() {
        // A fault needs a watch that it can meet.
        watching(&tap, 1);
        for (command, args) in commands {
            api.tell(command, args);
        }
        let name = format!("after-{number}");
        api.tell("create", &json!(["pods", { "metadata": { "name": name } }]));
        hears_of(&heard, &name);
        let known = informers(&tap);
        let files = recordings(&folder);
        assert_eq!(files.len(), 1, "{of} {fault}: {known:#}");
        assert_eq!(stored(&files[0]), api.pods(), "{of} {fault}");
        let informer = &known["informers"][0];
        assert_eq!(informer["objects"], api.pods().len(), "{of} {fault}");
    }
    drop(controller);
    let said = tap.end();
    assert!(said.contains("1 informer of 1 client"), "{said}");
}

#[test]
fn the_recorded_stores_equal_the_servers_in_every_fault() {
    let threads = [Generation::Classic, Generation::Atomic].map(|generation| {
        thread::spawn(move || {
            in_every_fault(generation.version(), |tap| {
                let mut controller = Controller::start(tap, generation, "api/v1/pods");
                let (_, none) = channel();
                (std::mem::replace(&mut controller.added, none), controller)
            });
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
#[ignore = "make soak builds the program, tests/kube-rs"]
fn the_recorded_stores_of_kube_rs_equal_the_servers_in_every_fault() {
    let program = std::env::var_os("KUBE_RS").expect("KUBE_RS is the program");
    let threads = [("list", None), ("stream", Some("--streaming"))].map(|(of, option)| {
        let mut command = Command::new(&program);
        thread::spawn(move || {
            in_every_fault(&format!("kube-rs-{of}"), |tap| {
                command
                    .args(option)
                    .env("KUBECONFIG", &tap.config)
                    .stdin(Stdio::null())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped());
                let (running, told, errors) = start(&mut command);
                (told, (running, errors))
            });
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn a_good_controllers_report_names_nothing() {
    let api = Api::start(&["--pods", "20", "--secrets", "3"]);
    let folder = folder("good");
    let out = folder.to_str().unwrap();
    let html = scratch("tap-good.html");
    let report = ["--out", out, "--report", html.to_str().unwrap()];
    let mut tap = Tap::start("good", &api.url, &report);
    let pods = Controller::start(&tap, Generation::Atomic, "api/v1/pods");
    let secrets = Controller::start(
        &tap,
        Generation::InOrder,
        "api/v1/namespaces/default/secrets",
    );
    watching(&tap, 2);
    api.tell(
        "create",
        &json!(["pods", { "metadata": { "name": "last" } }]),
    );
    api.tell("create", &json!(["secrets", { "metadata": { "name": "last" }, "data": { "password": "aHVudGVyMg==" } }]));
    hears_of(&pods.added, "last");
    hears_of(&secrets.added, "last");
    let known = informers(&tap);
    assert_eq!(known["findings"], json!([]), "{known:#}");
    let of = |place: usize, what: &str| known["informers"][place][what].clone();
    let pods_are = usize::from(of(0, "scope")["plural"] != "pods");
    assert_eq!(of(pods_are, "objects"), api.pods().len());
    for place in 0..2 {
        assert_eq!(of(place, "ends")["hungUp"], 0, "{known:#}");
        assert_eq!(of(place, "watches"), 1, "{known:#}");
    }
    let said = tap.end();
    assert!(!said.contains("\n- "), "{said}");
    assert!(said.contains(&format!("deltascope report {out}")), "{said}");
    assert!(
        fs::read_to_string(&html)
            .unwrap()
            .contains("Nothing odd was found.")
    );
    let files = recordings(&folder);
    assert_eq!(files.len(), 2);
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        assert!(text.contains("last"), "{file:?}");
        for kept_out in ["aHVudGVyMg", "managedFields"] {
            assert!(!text.contains(kept_out), "{file:?} has {kept_out}");
        }
        let replayed = output(&mut deltascope(&["replay", file.to_str().unwrap()]));
        assert_eq!(replayed.status.code(), Some(0));
        assert!(
            String::from_utf8(replayed.stdout)
                .unwrap()
                .contains("OnAdd: last")
        );
    }
    // The same from the recordings.
    let again = scratch("tap-good.json");
    let mut command = deltascope(&["report", "-o", again.to_str().unwrap()]);
    assert_eq!(output(command.args(&files)).status.code(), Some(0));
    let again: Value = serde_json::from_slice(&fs::read(&again).unwrap()).unwrap();
    assert_eq!(again["findings"], json!([]));
    for (one, other) in [
        ("objects", "objects"),
        ("bytes", "bytes"),
        ("agent", "agent"),
        ("scope", "scope"),
    ] {
        let of = |report: &Value, name: &str| {
            let mut all: Vec<String> = (report["informers"].as_array().unwrap().iter())
                .map(|informer| informer[name].to_string())
                .collect();
            all.sort();
            all
        };
        assert_eq!(of(&known, one), of(&again, other), "{one}");
    }
}

#[test]
fn a_look_at_the_informers_holds_no_request_up() {
    let api = Api::start(&["--pods", "1", "--rate", "0"]);
    let folder = folder("look");
    let tap = Tap::start("look", &api.url, &["--out", folder.to_str().unwrap()]);
    let list = read_all(raw(&tap, "/api/v1/pods"));
    let path = format!("/api/v1/pods?watch=1&resourceVersion={}", version(&list));
    let mut watch = raw(&tap, &path);
    super::read_until(&mut watch, b"\r\n\r\n");
    let late = Instant::now() + HANGS;
    while !folder.exists() || recordings(&folder).is_empty() {
        assert!(Instant::now() < late, "no recording");
    }
    // A recording that can only be read when somebody writes it.
    let file = &recordings(&folder)[0];
    fs::remove_file(file).unwrap();
    let made = Command::new("mkfifo").arg(file).status();
    assert!(made.unwrap().success());
    let look = raw(&tap, "/deltascope/informers.json");
    // This waits for its reader.
    let writer = fs::OpenOptions::new().write(true).open(file).unwrap();
    let got = read_all(raw(&tap, "/version"));
    assert!(got.contains(" 200 OK"), "{got}");
    drop(writer);
    let got = read_all(look);
    assert!(got.contains("\"plural\":\"pods\""), "{got}");
}

#[test]
fn a_client_without_an_informer_is_counted() {
    let api = Api::start(&["--pods", "1", "--rate", "0"]);
    let mut tap = Tap::start("lists", &api.url, &[]);
    read_all(raw(&tap, "/api/v1/pods"));
    // It is told in order.
    informers(&tap);
    let said = tap.end();
    let is = "0 informers of 1 client in ";
    assert!(said.contains(is), "{said}");
    assert!(said.contains("; 1 list that no watch followed"), "{said}");
}

/// A client that asks as no good controller does.
fn raw(tap: &Tap, path: &str) -> std::net::TcpStream {
    let mut stream = super::connect(tap.port);
    let head = tap.head("GET", path);
    std::io::Write::write_all(
        &mut stream,
        format!("{head}User-Agent: bad/v1\r\nConnection: close\r\n\r\n").as_bytes(),
    )
    .unwrap();
    stream
}

fn read_all(mut stream: std::net::TcpStream) -> String {
    let mut text = String::new();
    std::io::Read::read_to_string(&mut stream, &mut text).unwrap();
    text
}

fn version(list: &str) -> &str {
    let (_, rest) = list.split_once("\"resourceVersion\":\"").unwrap();
    rest.split('"').next().unwrap()
}

#[test]
fn a_bad_controllers_report_names_each_of_its_faults() {
    let api = Api::start(&["--pods", "5001", "--secrets", "3"]);
    let folder = folder("bad");
    let html = scratch("tap-bad.html");
    let report = [
        "--out",
        folder.to_str().unwrap(),
        "--report",
        html.to_str().unwrap(),
    ];
    let mut tap = Tap::start("bad", &api.url, &report);
    // All pods at once, of the newest version, twice.
    let mut watches = Vec::new();
    for _ in 0..2 {
        let list = read_all(raw(&tap, "/api/v1/pods"));
        let mut watch = raw(
            &tap,
            &format!("/api/v1/pods?watch=true&resourceVersion={}", version(&list)),
        );
        super::read_until(&mut watch, b"\r\n\r\n");
        watches.push(watch);
    }
    // Every Secret of the cluster.
    let list = read_all(raw(&tap, "/api/v1/secrets?resourceVersion=0"));
    let from = version(&list).to_owned();
    let mut secrets = raw(
        &tap,
        &format!("/api/v1/secrets?watch=true&resourceVersion={from}"),
    );
    super::read_until(&mut secrets, b"\r\n\r\n");
    api.tell(
        "create",
        &json!(["pods", { "metadata": { "name": "read" } }]),
    );
    for watch in &mut watches {
        super::read_until(watch, b"\"name\":\"read\"");
    }
    // Objects that are read again and again.
    for _ in 0..12 {
        let got = read_all(raw(&tap, "/api/v1/namespaces/default/pods/read"));
        assert!(got.contains(" 200 OK"), "{got}");
    }
    // All watches end, and the Secrets are listed again.
    api.tell("end", &json!([]));
    read_all(secrets);
    read_all(raw(&tap, "/api/v1/secrets?resourceVersion=0"));
    let known = informers(&tap);
    let mut kinds: Vec<&str> = (known["findings"].as_array().unwrap().iter())
        .map(|finding| finding["kind"].as_str().unwrap())
        .collect();
    // How long a watch was open is the machine's affair.
    kinds.retain(|kind| *kind != "short-watches");
    kinds.sort_unstable();
    kinds.dedup();
    let wanted = ["all-secrets", "big-list", "poll", "relists", "twice"];
    assert_eq!(kinds, wanted, "{:#}", known["findings"]);
    let said = tap.end();
    for words in [
        "Two informers of pods in bad/v1",
        "every Secret of the cluster",
        "deltascope replay",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    // Without script, and with the texts of others escaped.
    let html = fs::read_to_string(&html).unwrap();
    assert!(
        html.contains("<li id=\"twice-1\">") && !html.contains("<script"),
        "{html}"
    );
}

/// A folder with a page.
pub(super) fn page() -> PathBuf {
    let dist = scratch("tap-page");
    fs::create_dir_all(&dist).unwrap();
    fs::write(
        dist.join("index.html"),
        "<head><meta http-equiv=content-security-policy content=\"default-src 'self'\"><title>deltascope</title></head>",
    )
    .unwrap();
    fs::write(dist.join("deltascope.js"), "// the page").unwrap();
    fs::write(scratch("secret.txt"), "secret").unwrap();
    dist
}

#[test]
fn the_tap_serves_its_page_and_the_recordings_so_far() {
    let api = Api::start(&["--pods", "5"]);
    let dist = page();
    let mut tap = Tap::start("window", &api.url, &["--dist", dist.to_str().unwrap()]);
    let controller = Controller::start(&tap, Generation::Atomic, "api/v1/pods");
    watching(&tap, 1);
    let create = |name: &str| {
        api.tell("create", &json!(["pods", { "metadata": { "name": name } }]));
        hears_of(&controller.added, name);
        informers(&tap);
    };
    // From here on nothing comes by itself.
    create("first");
    let get = |method: &str, path: &str, more: &str| {
        let head = tap.head(method, path);
        let request = format!("{head}{more}Connection: close\r\n\r\n");
        ask(tap.port, request.as_bytes())
    };
    let of = |path: &str| get("GET", &format!("/deltascope/{path}"), "");
    // The page knows that it is a tap's, and its address stays here.
    let index = of("");
    let says = "<meta name=\"deltascope-informers\" content=\"page.json\"><title>";
    assert!(index.text().contains(says), "{}", index.text());
    for (name, value) in [
        ("Referrer-Policy", "no-referrer"),
        // All of it: a header comes before anything of the page is read.
        (
            "Content-Security-Policy",
            "default-src 'self'; frame-ancestors 'self'",
        ),
        ("X-Content-Type-Options", "nosniff"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cache-Control", "no-store"),
        ("Content-Type", "text/html; charset=utf-8"),
    ] {
        assert_eq!(index.header(name), Some(value), "{name}");
    }
    assert_eq!(of("deltascope.js").text(), "// the page");
    // The recording from anywhere on, in whole lines.
    let known = informers(&tap);
    assert_eq!(known["informers"][0]["file"], "", "nobody keeps it");
    let shown: Value = serde_json::from_slice(&of("page.json").body).unwrap();
    assert_eq!(shown["rows"][0]["recording"], 1, "{shown:#}");
    assert_eq!(shown["rows"][0]["cells"][1]["en"], "6");
    let recorded = of("informers/1.jsonl").body;
    assert!(recorded.starts_with(b"{\"deltascope\":1") && recorded.ends_with(b"\n"));
    let size = recorded.len();
    let from = |from: usize| of(&format!("informers/1.jsonl?from={from}"));
    assert_eq!(from(7).body, recorded[7..]);
    assert!(from(size).body.is_empty());
    create("new");
    let more = from(size).text();
    assert!(more.contains("\"new\"") && more.ends_with('\n'), "{more}");
    // What is refused, and why. The token and the origin are the passage's affair, as for any path.
    let table = [
        (
            "GET",
            "/deltascope/informers/1.jsonl?from=99999999",
            "",
            416,
        ),
        ("GET", "/deltascope/informers/1.jsonl?from=x", "", 400),
        ("GET", "/deltascope/informers/1.jsonl?to=1", "", 400),
        ("GET", "/deltascope/informers/0.jsonl", "", 404),
        ("GET", "/deltascope/informers/2.jsonl", "", 404),
        ("GET", "/deltascope/informers/1.json", "", 404),
        ("GET", "/deltascope/informers/../informers.json", "", 400),
        ("GET", "/deltascope/%2e%2e/secret.txt", "", 400),
        ("GET", "/deltascope/none.js", "", 404),
        ("POST", "/deltascope/", "", 405),
        ("DELETE", "/deltascope/informers.json", "", 405),
        ("HEAD", "/deltascope/", "", 200),
        (
            "GET",
            "/deltascope/",
            "Origin: http://evil.example\r\n",
            403,
        ),
        ("GET", "/deltascope/", "Sec-Fetch-Site: cross-site\r\n", 403),
    ];
    for (method, path, more, code) in table {
        let got = get(method, path, more);
        assert_eq!(got.code, code, "{method} {path} {more}: {}", got.text());
        assert!(!got.text().contains("secret"), "{path}");
    }
    let wrong = tap.base.replace(|c: char| c.is_ascii_digit(), "x");
    let request = format!(
        "GET {wrong}/deltascope/ HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n",
        tap.port
    );
    assert_eq!(ask(tap.port, request.as_bytes()).code, 404);
    controller.stop.set();
    // Without --out there is no recording to look at afterwards.
    let said = tap.end();
    assert!(!said.contains("deltascope replay"), "{said}");
    drop((api, controller));
}

#[test]
fn a_tap_without_a_temporary_folder_only_lists() {
    let api = Api::start(&["--pods", "5"]);
    let config = scratch("tap-nowhere.kubeconfig");
    let mut command = deltascope(&["tap", "--proxy", &api.url, "--kubeconfig-out"]);
    command.arg(&config).arg("--dist").arg(page());
    let (mut running, _, err) = start(command.env("TMPDIR", folder("nowhere")));
    let said = err.recv_timeout(HANGS).expect("it does not start");
    assert!(
        said.contains("not recorded") && said.contains("--out"),
        "{said}"
    );
    let line = err.recv_timeout(HANGS).expect("it does not start");
    assert!(line.contains("tap: http://"), "{line}");
    super::kill(&running, "INT");
    assert_eq!(super::code(&mut running), Some(0));
}

#[test]
fn recordings_that_nobody_keeps_go_with_the_tap() {
    let api = Api::start(&["--pods", "5"]);
    let dist = page();
    let temporary = folder("temporary");
    fs::create_dir_all(&temporary).unwrap();
    let config = scratch("tap-temporary.kubeconfig");
    let mut command = deltascope(&["tap", "--proxy", &api.url, "--kubeconfig-out"]);
    command.arg(&config).arg("--dist").arg(&dist);
    let (mut running, _, err) = start(command.env("TMPDIR", &temporary));
    let line = err.recv_timeout(HANGS).expect("it does not start");
    let inside: Vec<PathBuf> = recordings(&temporary);
    assert_eq!(inside.len(), 1, "{inside:?}");
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&inside[0]).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o700);
    // Its name is no secret, unlike the token that is in the address of the page.
    let name = inside[0].file_name().unwrap().to_str().unwrap();
    let (_, rest) = line.split_once("http://127.0.0.1:").unwrap();
    let token = rest.split('/').nth(1).unwrap();
    assert!(
        rest.contains("/deltascope/") && !name.contains(token),
        "{line} {name}"
    );
    super::kill(&running, "INT");
    assert_eq!(super::code(&mut running), Some(0));
    assert_eq!(recordings(&temporary), Vec::<PathBuf>::new());
}

#[test]
fn two_names_over_one_connection_are_one_process() {
    let api = Api::start(&["--pods", "3"]);
    let tap = Tap::start("names", &api.url, &[]);
    let ask_as = |agent: &str, path: &str| {
        let head = tap.head("GET", path);
        format!("{head}User-Agent: {agent}\r\n\r\n").into_bytes()
    };
    // Each watches over a connection of its own. (They are open until the end.)
    let watches = ["one", "two", "three"].map(|agent| {
        let mut watch = connect(tap.port);
        let asked = ask_as(agent, "/api/v1/pods?watch=1&resourceVersion=41000");
        watch.write_all(&asked).unwrap();
        watch
    });
    watching(&tap, watches.len());
    api.tell("create", &json!(["pods", {}]));
    are(&tap, watches.len(), |one| one["events"] == 4);
    assert_eq!(informers(&tap)["findings"], json!([]));
    // Two of them ask for something else over one.
    let mut both = connect(tap.port);
    for agent in ["one", "two"] {
        both.write_all(&ask_as(agent, "/version")).unwrap();
        read_until(&mut both, b"}\n");
    }
    let known = informers(&tap);
    let found = &known["findings"];
    assert_eq!(found.as_array().unwrap().len(), 1, "{known:#}");
    assert_eq!(found[0]["kind"], "twice");
    assert_eq!(found[0]["evidence"]["together"], true);
    let agents = [&found[0]["informer"], &found[0]["evidence"]["other"]].map(|place| {
        let place = usize::try_from(place.as_u64().unwrap()).unwrap();
        known["informers"][place]["agent"].as_str().unwrap()
    });
    assert!(agents == ["one", "two"] || agents == ["two", "one"]);
}
