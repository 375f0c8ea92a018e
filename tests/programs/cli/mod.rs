//! The command line, each command as a process: over real HTTP, with a stand-in for `kubectl proxy`.

#![allow(
    clippy::disallowed_methods,
    reason = "tests; these start processes, and threads to serve them"
)]

mod draw;
mod help;
mod hostile;
mod informers;
mod limits;
mod logs;
mod record;
mod replay;
mod serve;
mod smallest;
mod tap;

use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use deltascope::presentation::command::{self as page, Export};
use deltascope::presentation::session::Session;
use deltascope::world::text::Lang;
use serde_json::{Value, json};

use crate::process::{HANGS, Running, output, start};

/// Nothing listens on port 1. It is never assigned to a program that asks for any free port, so no other test gets
/// it.
const NOBODY: &str = "http://127.0.0.1:1";

/// Sets a terminal's title, rings its bell, clears it in two ways, reverses the text direction and forges a line.
const HOSTILE: &str = "x\u{1b}]0;owned\u{7}\0\u{9b}2J\u{7f}\u{202e}\u{2066}\u{2028}\nforged: y";

/// Asserts that nothing in the output controls a terminal.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let drives = |letter: char| {
        (letter.is_control() && letter != '\n')
            || "\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}"
                .contains(letter)
    };
    assert!(!text.contains(drives), "{text:?}");
    text
}

/// A run as the page exports it: its trace, and its transcript.
fn looked_at(lesson: &str, lang: Lang) -> (String, String) {
    let mut session = Session::new();
    session.obey(page::Command::Load(lesson.into()));
    let trace = session.export(Export::Trace).unwrap();
    // As a user who opens the trace sees it.
    session.obey(page::Command::Open(vec![(
        "run.jsonl".to_owned(),
        trace.clone().into_bytes(),
    )]));
    (trace, session.export(Export::Transcript(lang)).unwrap())
}

/// A stand-in for an API server with two objects. `watch` learns whether its watch begins with them.
fn api(plural: &str, watch: impl Fn(bool, TcpStream) + Send + Sync + 'static) -> Proxy {
    let plural = plural.to_owned();
    Proxy::start(move |head, mut to| {
        let path = head.split(' ').nth(1).unwrap();
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        if !path.ends_with(&format!("/{plural}")) {
            resources(&head, &mut to);
        } else if !query.contains("watch=") {
            listed(&mut to, &[pod("web-1", 1), pod("web-2", 2)]);
        } else if query.contains("sendInitialEvents=true") {
            opened(&mut to);
            watch(true, to);
        } else {
            opened(&mut to);
            watch(false, to);
        }
    })
}

/// Answers a list with these Pods.
fn listed(to: &mut TcpStream, items: &[Value]) {
    let list = json!({ "kind": "PodList", "apiVersion": "v1",
        "metadata": { "resourceVersion": "10" }, "items": items });
    let body = list.to_string();
    answer(to, "200 OK", "application/json", body.as_bytes());
}

/// Answers discovery requests as a real server does.
fn resources(head: &str, to: &mut TcpStream) {
    let asked = |path: &str| head.starts_with(&format!("GET {path} "));
    let name = match () {
        () if asked("/api") => "discovery-aggregated-api",
        () if asked("/apis") => "discovery-aggregated-apis",
        () => return answer(to, "404 Not Found", "text/plain", b"404 page not found"),
    };
    let body = fs::read(format!("tests/transcripts/{name}.body")).unwrap();
    answer(to, "200 OK", "application/json", &body);
}

/// An API server that refuses every list and watch of pods with this status.
fn refusing(status: Value) -> Proxy {
    Proxy::start(move |head, mut to| {
        if head.contains("/pods") {
            let body = status.to_string();
            answer(
                &mut to,
                "403 Forbidden",
                "application/json",
                body.as_bytes(),
            );
        } else {
            resources(&head, &mut to);
        }
    })
}

fn opened(to: &mut TcpStream) {
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    to.write_all(head.as_bytes()).unwrap();
}

/// Sends a watch event. Returns whether the client still reads.
fn send(to: &mut TcpStream, kind: &str, object: &Value) -> bool {
    let line = json!({ "type": kind, "object": object }).to_string();
    let chunk = format!("{:x}\r\n{line}\n\r\n", line.len() + 1);
    to.write_all(chunk.as_bytes()).is_ok()
}

fn pod(name: &str, version: u64) -> Value {
    json!({ "kind": "Pod", "apiVersion": "v1", "data": { "password": "hidden" }, "metadata": {
        "name": name, "namespace": "default", "uid": name, "labels": { "tier": "front" },
        "resourceVersion": version.to_string() } })
}

// --- processes ----------------------------------------------------------------------------------

fn deltascope(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deltascope"));
    command
        .args(args)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[cfg(unix)]
fn kill(running: &Running, signal: &str) {
    let pid = running.0.id().to_string();
    let sent = Command::new("kill")
        .arg(format!("-{signal}"))
        .arg(pid)
        .status();
    assert!(sent.unwrap().success());
}

#[cfg(unix)]
fn code(running: &mut Running) -> Option<i32> {
    running.0.wait().unwrap().code()
}

/// A file that only one test uses.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-files");
    fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

// --- HTTP, as bytes -----------------------------------------------------------------------------

/// A stand-in for `kubectl proxy`, in threads that end with the test process.
struct Proxy {
    url: String,
}

impl Proxy {
    /// Each connection has one request; `each` gets its head and the connection.
    fn start(each: impl Fn(String, TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let each = std::sync::Arc::new(each);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let each = std::sync::Arc::clone(&each);
                thread::spawn(move || {
                    let head = head_of(&mut stream);
                    // The request that `serve` and `tap` send when they start.
                    if head.starts_with("GET /version ") && !head.contains("accept") {
                        let version = b"{\"gitVersion\":\"v1.34.0\"}";
                        answer(&mut stream, "200 OK", "application/json", version);
                    } else {
                        each(head, stream);
                    }
                });
            }
        });
        Self { url }
    }
}

/// Reads up to the empty line, and no byte more.
fn head_of(from: &mut impl Read) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && from.read(&mut byte).unwrap_or(0) == 1 {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

fn answer(to: &mut impl Write, status: &str, media_type: &str, body: &[u8]) {
    let size = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {size}\r\n\r\n"
    );
    // A client that sent HEAD, or has gone, does not read the body.
    let _gone = to
        .write_all(head.as_bytes())
        .and_then(|()| to.write_all(body));
}

struct Got {
    code: u16,
    head: String,
    body: Vec<u8>,
}

impl Got {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(HANGS)).unwrap();
    stream
}

/// Sends the bytes, and reads the response to the end.
fn ask(port: u16, bytes: &[u8]) -> Got {
    let mut stream = connect(port);
    stream.write_all(bytes).unwrap();
    let mut all = Vec::new();
    // A server that refuses a body may close the connection before it has read it.
    let read = stream.read_to_end(&mut all);
    assert!(
        read.is_ok() || read.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionReset)
    );
    let end = all
        .windows(4)
        .position(|part| part == b"\r\n\r\n")
        .expect("an answer has a head");
    let head = String::from_utf8(all[..end].to_vec()).unwrap();
    let code = head.split(' ').nth(1).unwrap().parse().unwrap();
    Got {
        code,
        head,
        body: all[end + 4..].to_vec(),
    }
}

fn read_until(from: &mut TcpStream, wanted: &[u8]) -> Vec<u8> {
    let mut seen = Vec::new();
    let mut byte = [0];
    while !seen.ends_with(wanted) {
        let read = from.read(&mut byte).expect("it does not come");
        assert_eq!(read, 1, "the end comes first");
        seen.push(byte[0]);
    }
    seen
}
