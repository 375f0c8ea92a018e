//! The ten example programs, each run as a process: their exact output.

#![allow(
    clippy::disallowed_methods,
    reason = "tests; these start processes, and threads to serve them"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use deltascope::replay::lessons;

use crate::process::{HANGS, output, start};

/// The programs that end by themselves.
const PROGRAMS: [&str; 9] = [
    "deltafifo",
    "listwatch",
    "reflector",
    "indexer",
    "myinformer",
    "sharedinformer-simulate",
    "sharedinformer-listwatch",
    "sharedinformer-indexer",
    "sharedinformerfactory",
];

/// Builds the examples: they are missing if only this test binary was built.
fn example(name: &str) -> Command {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let folder = BUILT.get_or_init(|| {
        let deps = std::env::current_exe().unwrap();
        let folder = deps.parent().unwrap().parent().unwrap().join("examples");
        let built = Command::new(env!("CARGO"))
            .args([
                "build",
                "--quiet",
                // With the same flags as `make`, so that nothing is built twice.
                "--workspace",
                "--exclude=deltascope-page",
                "--exclude=deltascope-bench",
                "--features=cli,mdbook",
                "--examples",
                "--profile",
                "test",
                "--target-dir",
            ])
            .arg(folder.parent().unwrap().parent().unwrap())
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status();
        assert!(built.unwrap().success(), "the examples do not build");
        folder
    });
    let mut command = Command::new(folder.join(name));
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn text(bytes: &[u8]) -> Vec<String> {
    let text = std::str::from_utf8(bytes).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// The lines grouped by who printed them: the order is fixed only within a group.
fn by_printer(lines: &[String]) -> Vec<Vec<&String>> {
    let printers: [fn(&str) -> bool; 6] = [
        |line| line.starts_with("OnAdd:second "),
        |line| line.starts_with("OnAdd: Service "),
        |line| line.starts_with("OnAdd: Deployment "),
        |line| line == "Service synced",
        |line| line == "Deployment synced",
        |line| line == "Pod synced",
    ];
    let printer = |line: &String| printers.iter().position(|is| is(line));
    let mut lines: Vec<&String> = lines.iter().collect();
    lines.sort_by_key(|line| printer(line));
    let groups = lines.chunk_by(|a, b| printer(a) == printer(b));
    groups.map(<[_]>::to_vec).collect()
}

#[test]
fn each_program_prints_the_lines_of_its_lesson_and_ends() {
    for name in PROGRAMS {
        let output = output(&mut example(name));
        let printed = text(&output.stdout);
        let expected = lessons::load(name).unwrap().expect.output;
        assert_eq!(by_printer(&printed), by_printer(&expected), "{name}");
        if !name.starts_with("sharedinformer") {
            assert_eq!(printed, expected, "{name}");
        }
        assert!(output.status.success(), "{name}");
        assert_eq!(text(&output.stderr), [""; 0], "{name}");
    }
}

#[test]
fn an_unknown_option_is_answered_with_the_usage() {
    for (name, args) in [
        ("deltafifo", &["--proxy", "http://127.0.0.1:1"][..]),
        ("listwatch", &["--listen", "x"]),
        ("reflector", &["--proxy"]),
        ("indexer-run", &["help"]),
    ] {
        let mut command = example(name);
        command.args(args);
        let output = output(&mut command);
        assert_eq!(output.status.code(), Some(2), "{name}");
        let error = text(&output.stderr).join("\n");
        assert!(
            error.contains(args[0]) && error.contains("usage:"),
            "{error}"
        );
        assert_eq!(text(&output.stdout), [""; 0], "{name}");
    }
}

#[test]
fn a_query_by_label_is_answered_over_http() {
    let mut command = example("indexer-run");
    command.args(["--listen", "127.0.0.1:0"]);
    let (_running, _, errors) = start(&mut command);
    let listening = errors.recv_timeout(HANGS).unwrap();
    let address = listening.strip_prefix("listening at http://").unwrap();
    for (path, status, body) in [
        (
            "/",
            200,
            r#"["default/robusta-forwarder-5f65fd6fbb-s2trs"]"#,
        ),
        (
            "/?app=",
            200,
            r#"["default/robusta-forwarder-5f65fd6fbb-s2trs"]"#,
        ),
        (
            "/?x=1&app=wiremock",
            200,
            r#"["default/wiremock-84d49c989c-zg4ls"]"#,
        ),
        ("/?app=nobody", 200, "[]"),
        ("/pods", 404, r#"{"error":"ask for /?app=NAME"}"#),
    ] {
        let (code, text) = get(address, path);
        assert_eq!((code, &*text), (status, body), "{path}");
    }
    assert_eq!(
        lessons::load("indexer-run").unwrap().expect.output,
        [get(address, "/").1]
    );

    let mut second = example("indexer-run");
    second.args(["--listen", address]);
    let output = output(&mut second);
    assert_eq!(output.status.code(), Some(1));
    let error = text(&output.stderr).join("\n");
    assert!(
        error.contains(address) && error.contains("--listen"),
        "{error}"
    );
}

fn get(address: &str, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(HANGS)).unwrap();
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let code = head.split(' ').nth(1).unwrap().parse().unwrap();
    (code, body.to_owned())
}

// ---- a real cluster, by way of a proxy

const LIST: &str = include_str!("../../src/replay/lessons/recordings/watch-bookmarks-list.body");
const EVENTS: &str = include_str!("../../src/replay/lessons/recordings/watch-bookmarks.body");
const NO_STREAMS: &str = r#"{"kind":"Status","apiVersion":"v1","status":"Failure","message":"sendInitialEvents is forbidden for watch","reason":"Invalid","code":422}"#;

/// A server that replays recorded responses. If `closes`, a watch ends after its events, else it stays open.
fn serve(closes: bool) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = Arc::clone(&asked);
    thread::spawn(move || {
        let mut open = Vec::new();
        for stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut stream = stream;
            let mut request = String::new();
            // The rest of the head does not matter.
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                request.push_str(&std::mem::take(&mut line));
            }
            let target = request.split(' ').nth(1).unwrap_or_default().to_owned();
            let (status, body, stays) = if target.contains("sendInitialEvents=true") {
                ("422 Unprocessable Entity", NO_STREAMS, false)
            } else if target.contains("watch=true") {
                ("200 OK", EVENTS, !closes)
            } else {
                ("200 OK", LIST, false)
            };
            log.lock().unwrap().push(target);
            let head = "Content-Type: application/json\r\nConnection: close";
            // The client may have gone.
            let _gone = write!(stream, "HTTP/1.1 {status}\r\n{head}\r\n\r\n{body}");
            if stays {
                open.push(stream);
            }
        }
    });
    (url, asked)
}

#[test]
fn listwatch_prints_what_a_cluster_behind_a_proxy_sends() {
    let (url, asked) = serve(true);
    let mut command = example("listwatch");
    command.args(["--proxy", &url]);
    let output = output(&mut command);
    assert_eq!(
        text(&output.stdout),
        [
            "nettool",
            "web-0",
            "ADDED : via-proxy , Status: Pending",
            "MODIFIED : via-proxy , Status: Pending",
            "MODIFIED : via-proxy , Status: Pending",
            "DELETED : via-proxy , Status: Pending",
            "MODIFIED : nettool , Status: Pending",
        ]
    );
    assert!(output.status.success());
    // Without a resource version, the watch begins with the current objects.
    let pods = "/api/v1/namespaces/default/pods";
    assert_eq!(
        *asked.lock().unwrap(),
        [pods.to_owned(), format!("{pods}?watch=true")]
    );
}

#[test]
fn a_shared_informer_lists_and_watches_a_cluster_behind_a_proxy() {
    let (url, asked) = serve(false);
    let mut command = example("sharedinformer-listwatch");
    command.args(["--proxy", &url]);
    let (_running, lines, _errors) = start(&mut command);
    let names = ["nettool", "web-0", "via-proxy"];
    let printed: Vec<String> = (0..2 * names.len())
        .map(|_| lines.recv_timeout(HANGS).expect("it hangs"))
        .collect();
    let expected: Vec<String> = ["OnAdd: ", "OnAdd:second "]
        .iter()
        .flat_map(|text| names.map(|name| format!("{text}{name}")))
        .collect();
    assert_eq!(by_printer(&printed), by_printer(&expected));
    let asked = asked.lock().unwrap();
    let count = |what: &str| asked.iter().filter(|target| target.contains(what)).count();
    assert_eq!(
        count("resourceVersion=41572"),
        1,
        "one watch from the list on: {asked:?}"
    );
    let lists = asked.iter().filter(|target| !target.contains("watch=true"));
    assert_eq!(lists.count(), 1, "one list for both: {asked:?}");
}

#[test]
fn an_unreachable_cluster_is_reported() {
    for (url, says) in [
        // Port 1 is never assigned to a program that asks for any free port, so no other test gets it.
        ("http://127.0.0.1:1", "is `kubectl proxy` running?"),
        ("https://example.invalid", "must begin with http://"),
    ] {
        let mut command = example("listwatch");
        command.args(["--proxy", url]);
        let output = output(&mut command);
        assert_eq!(output.status.code(), Some(1), "{url}");
        let error = text(&output.stderr).join("\n");
        assert!(error.contains(says) && error.contains(url), "{error}");
    }
}
