//! The command line, each command as a process: over real HTTP, with a stand-in for `kubectl proxy`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests; these start processes, and threads to serve them"
)]

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use crate::attacks;
use deltascope::presentation::command::{self as page, Export};
use deltascope::presentation::i18n::Lang;
use deltascope::presentation::session::Session;
use deltascope::replay::recording::RecordedInput;
use deltascope::replay::trace;
use serde_json::{Value, json};

/// How long anything may take before it hangs.
const HANGS: Duration = Duration::from_secs(60);

/// Nobody listens there: of the ports that are given to whoever asks for any, it is none, so no other test gets it.
const NOBODY: &str = "http://127.0.0.1:1";

// --- serve --------------------------------------------------------------------------------------

#[test]
fn only_this_machine_s_own_page_reaches_the_cluster() {
    let dist = dist("gate");
    let proxy = Proxy::start(|_, mut to| answer(&mut to, "200 OK", "application/json", b"{}"));
    let (_serving, port) = serve(&dist, &proxy.url, &[]);
    let own = format!("127.0.0.1:{port}");
    let site = |site: &str| format!("Sec-Fetch-Site: {site}\r\n");
    let origin = |origin: &str| format!("Origin: {origin}\r\n");
    // What is asked for, the Host, what else stands in the head, and the code.
    let table: &[(&str, &str, String, u16)] = &[
        ("GET /", &own, String::new(), 200),
        ("GET /index.html", &own, String::new(), 200),
        ("HEAD /", &own, String::new(), 200),
        ("GET /missing.js", &own, String::new(), 404),
        ("POST /", &own, String::new(), 405),
        ("GET /k8s/version", &own, String::new(), 200),
        ("HEAD /k8s/version", &own, String::new(), 200),
        (
            "GET /k8s/version",
            &format!("localhost:{port}"),
            String::new(),
            200,
        ),
        (
            "GET /k8s/version",
            &format!("LOCALHOST:{port}"),
            String::new(),
            200,
        ),
        (
            "GET /k8s/version",
            &format!("[::1]:{port}"),
            String::new(),
            200,
        ),
        // Names that another site let point here, and other ports.
        (
            "GET /k8s/version",
            &format!("evil.example:{port}"),
            String::new(),
            403,
        ),
        ("GET /", &format!("evil.example:{port}"), String::new(), 403),
        (
            "GET /k8s/version",
            &format!("127.0.0.1.evil.example:{port}"),
            String::new(),
            403,
        ),
        ("GET /k8s/version", "127.0.0.1", String::new(), 403),
        ("GET /k8s/version", "127.0.0.1:1", String::new(), 403),
        ("GET /k8s/version", "localhost", String::new(), 403),
        ("GET /k8s/version", "[::1]", String::new(), 403),
        ("GET /k8s/version", "", String::new(), 403),
        ("GET /k8s/version", &own, format!("Host: {own}\r\n"), 403),
        (
            "GET http://evil.example/k8s/version",
            &own,
            String::new(),
            403,
        ),
        // Pages of other sites.
        (
            "GET /k8s/version",
            &own,
            origin(&format!("http://{own}")),
            200,
        ),
        (
            "GET /k8s/version",
            &own,
            origin(&format!("http://localhost:{port}")),
            403,
        ),
        (
            "GET /k8s/version",
            &own,
            origin(&format!("https://{own}")),
            403,
        ),
        ("GET /k8s/version", &own, origin("http://evil.example"), 403),
        ("GET /k8s/version", &own, origin("http://127.0.0.1:1"), 403),
        ("GET /k8s/version", &own, origin("null"), 403),
        ("GET /k8s/version", &own, origin(""), 403),
        ("GET /k8s/version", &own, site("same-origin"), 200),
        ("GET /k8s/version", &own, site("none"), 200),
        ("GET /k8s/version", &own, site("cross-site"), 403),
        ("GET /k8s/version", &own, site("same-site"), 403),
        // What changes something, and what acts although it is read.
        ("POST /k8s/api/v1/pods", &own, String::new(), 405),
        (
            "DELETE /k8s/api/v1/namespaces/a/pods/b",
            &own,
            String::new(),
            405,
        ),
        ("OPTIONS /k8s/version", &own, String::new(), 405),
        (
            "GET /k8s/api/v1/namespaces/a/pods/b/exec?command=ls",
            &own,
            String::new(),
            403,
        ),
        (
            "GET /k8s/api/v1/namespaces/a/services/b:80/proxy/admin",
            &own,
            String::new(),
            403,
        ),
        (
            "GET /k8s/api/v1/nodes/a/pr%6fxy/logs",
            &own,
            String::new(),
            403,
        ),
        (
            "GET /k8s/api/v1/namespaces/a/pods//b/attach",
            &own,
            String::new(),
            403,
        ),
        (
            "GET /k8s/api/v1/namespaces/a/pods/proxy",
            &own,
            String::new(),
            403,
        ),
        (
            "GET /k8s/api/v1/namespaces/a/pods/b/log",
            &own,
            String::new(),
            200,
        ),
        // A namespace may have such a name.
        (
            "GET /k8s/api/v1/namespaces/proxy/pods",
            &own,
            String::new(),
            200,
        ),
        (
            "GET /k8s/apis/apps/v1/namespaces/exec/deployments?labelSelector=a%3Dproxy",
            &own,
            String::new(),
            200,
        ),
        (
            "GET /k8s/api/v1/namespaces/kube-system/pods/kube-proxy-1/log",
            &own,
            String::new(),
            200,
        ),
        // Ways out of the folder and out of the prefix.
        ("GET /../Cargo.toml", &own, String::new(), 400),
        ("GET /%2e%2e/secret.txt", &own, String::new(), 400),
        ("GET /..%2fsecret.txt", &own, String::new(), 400),
        ("GET /..%5csecret.txt", &own, String::new(), 400),
        ("GET //etc/passwd", &own, String::new(), 404),
        ("GET /link.txt", &own, String::new(), 404),
        ("GET /folder", &own, String::new(), 404),
        ("GET /%00", &own, String::new(), 400),
        ("GET /%ff", &own, String::new(), 400),
        ("GET /k8s/../index.html", &own, String::new(), 400),
        ("GET /k8s/%2e%2e/x", &own, String::new(), 400),
        ("GET /%6b8s/version", &own, String::new(), 400),
        ("GET /k8s", &own, String::new(), 404),
    ];
    for (what, host, more, code) in table {
        let head = format!("{what} HTTP/1.1\r\nHost: {host}\r\n{more}Connection: close\r\n\r\n");
        let got = ask(port, head.as_bytes());
        assert_eq!(got.code, *code, "{head}{}", got.text());
        if *code >= 400 {
            assert!(!got.text().contains("secret"), "{head}");
            assert!(got.head.contains("text/plain"), "{}", got.head);
        }
    }
}

#[test]
fn what_acts_is_refused_in_every_spelling() {
    let dist = dist("spellings");
    let proxy = Proxy::start(|_, mut to| answer(&mut to, "200 OK", "application/json", b"{}"));
    let (_serving, port) = serve(&dist, &proxy.url, &[]);
    let spellings = |word: &str| {
        let (first, rest) = word.split_at(1);
        let code = first.bytes().next().unwrap();
        let mut spellings = vec![
            word.to_owned(),
            word.to_uppercase(),
            format!("{}{rest}", first.to_uppercase()),
            format!("%{code:02x}{rest}"),
            format!("%{code:02X}{rest}"),
            format!("%25{code:02x}{rest}"),
            format!("%2525{code:02x}{rest}"),
            format!("%{:02x}{rest}", code - 0x20),
            word.bytes().map(|byte| format!("%{byte:02x}")).collect(),
            format!("{word}/"),
            format!("/{word}"),
        ];
        for (before, after) in [
            ("", ";a"),
            ("", ";"),
            ("", "%3ba=b"),
            ("", "%20"),
            ("", "%3f"),
            ("", "%23"),
            ("", "%2f"),
            ("", "%252f"),
            ("", "%5c"),
            ("%2f", ""),
            ("%20", ""),
            ("", ","),
            ("", ":"),
            ("", "%0a"),
            ("", "%ff"),
            ("", "%e2%80%8b"),
        ] {
            spellings.push(format!("{before}{word}{after}"));
        }
        spellings
    };
    let paths = |word: &str| {
        [
            format!("api/v1/namespaces/a/pods/b/{word}"),
            format!("api/v1/namespaces/a/pods/b%2f{word}"),
            format!("api/v1/namespaces/a%2fpods/b/{word}"),
            format!("api/v1/namespaces/a/pods/b/{word}/x"),
            format!("api/v1/nodes/n/{word}/logs/x"),
            format!("api/v1/namespaces/{word}/{word}"),
            format!("api/v1/namespaces%2f{word}"),
            format!("apis/x.example/v1/widgets/w/{word}"),
            word.to_owned(),
        ]
    };
    for word in ["exec", "attach", "portforward", "proxy"] {
        for spelling in spellings(word) {
            for path in paths(&spelling) {
                let got = get(port, &format!("/k8s/{path}"));
                assert!(matches!(got.code, 400 | 403), "{path}: {}", got.code);
            }
        }
    }
    // Decoded for ever, it would be something: nobody means that.
    let deep = format!("/k8s/api/v1/%{}61", "25".repeat(40));
    assert_eq!(get(port, &deep).code, 400);
    assert_eq!(get(port, "/k8s/api/v1/%252e%252e/x").code, 400);
}

#[test]
fn what_a_cluster_answers_tells_the_browser_nothing_to_do() {
    let dist = dist("answers");
    let proxy = Proxy::start(|head, mut to| {
        let code = if head.contains("/upgrade") {
            "101 Switching Protocols"
        } else if head.contains("/moved") {
            "301 Moved Permanently"
        } else {
            "200 OK"
        };
        let answer = format!(
            "HTTP/1.1 {code}\r\nContent-Type: application/json\r\nETag: \"a\"\r\nRetry-After: 1\r\nWarning: 299 - \"old\"\r\n\
             Clear-Site-Data: \"*\"\r\nRefresh: 0; url=http://evil.example/\r\nLocation: http://evil.example/\r\n\
             Link: <http://evil.example/>; rel=preload\r\nSet-Cookie: a=b\r\nWWW-Authenticate: Basic\r\n\
             Strict-Transport-Security: max-age=1\r\nAlt-Svc: h2=\":1\"\r\nService-Worker-Allowed: /\r\n\
             Content-Security-Policy: default-src *\r\nAccess-Control-Allow-Origin: *\r\nX-Anything: 1\r\n\
             Content-Disposition: attachment\r\nSourceMap: /x\r\nUpgrade: websocket\r\nContent-Length: 2\r\n\r\n{{}}"
        );
        to.write_all(answer.as_bytes()).unwrap();
    });
    let (_serving, port) = serve(&dist, &proxy.url, &[]);
    for (path, code) in [("plain", 200), ("moved", 301), ("upgrade", 502)] {
        let got = get(port, &format!("/k8s/{path}"));
        assert_eq!(got.code, code, "{path}");
        let lines = got.head.lines().skip(1);
        let mut names: Vec<String> = lines
            .map(|line| line.split(':').next().unwrap().to_lowercase())
            .collect();
        names.sort();
        let own = [
            "connection",
            "content-length",
            "content-security-policy",
            "content-type",
            "cross-origin-resource-policy",
            "date",
            "etag",
            "retry-after",
            "warning",
            "x-content-type-options",
        ];
        let strange: Vec<&String> = names
            .iter()
            .filter(|name| !own.contains(&&***name))
            .collect();
        assert!(strange.is_empty(), "{path}: {strange:?}");
        assert_eq!(got.header("retry-after").is_some(), code != 502, "{path}");
        if code != 502 {
            let policy = got.header("content-security-policy");
            assert_eq!(policy, Some("sandbox; default-src 'none'"), "{path}");
        }
    }
}

#[test]
fn who_is_connected_and_does_nothing_makes_room() {
    const ROOM: usize = 64;
    let dist = dist("room");
    let (go_on, told) = channel::<()>();
    let told = std::sync::Mutex::new(told);
    let proxy = Proxy::start(move |head, mut to| {
        to.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
            .unwrap();
        if head.contains("/flood") {
            let chunk = format!("{:x}\r\n{}\r\n", 1 << 20, "x".repeat(1 << 20));
            while to.write_all(chunk.as_bytes()).is_ok() {}
        } else {
            told.lock().unwrap().recv().unwrap();
            to.write_all(b"3\r\ntwo\r\n").unwrap();
            let _ended = to.read(&mut [0; 1]);
        }
    });
    let (_serving, port) = serve(&dist, &proxy.url, &[]);
    let asked = |path: &str| {
        let mut stream = connect(port);
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"
        )
        .unwrap();
        stream
    };
    let mut watch = asked("/k8s/watch");
    read_until(&mut watch, b"one");
    // Some have asked nothing, some a part, and some have their answer.
    let mut idle: Vec<TcpStream> = (1..ROOM)
        .map(|number| match number % 3 {
            0 => connect(port),
            1 => {
                let mut stream = connect(port);
                stream.write_all(b"GET / HT").unwrap();
                stream
            }
            _ => {
                let mut stream = asked("/");
                read_until(&mut stream, b"\r\n\r\nindex.html");
                stream
            }
        })
        .collect();
    for _ in 0..3 {
        assert_eq!(get(port, "/").code, 200);
    }
    // The oldest has gone; the newest is still served.
    assert!(matches!(idle[0].read(&mut [0; 1]), Ok(0) | Err(_)));
    let newest = idle.last_mut().unwrap();
    write!(newest, "GET / HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n").unwrap();
    read_until(newest, b"\r\n\r\nindex.html");
    // Who asks, and does not read what comes, is idle as well.
    let unread: Vec<TcpStream> = (0..ROOM)
        .map(|_| {
            let mut stream = asked("/k8s/flood");
            read_until(&mut stream, b"one");
            stream
        })
        .collect();
    assert_eq!(get(port, "/").code, 200);
    drop(unread);
    // A watch is not, however long nothing came.
    go_on.send(()).unwrap();
    read_until(&mut watch, b"two");
}

#[test]
fn the_page_has_the_types_that_browsers_want() {
    let dist = dist("types");
    let (_serving, port) = serve(&dist, "http://127.0.0.1:1", &[]);
    for (path, media_type) in [
        ("", "text/html; charset=utf-8"),
        ("page.js", "text/javascript; charset=utf-8"),
        ("page.wasm", "application/wasm"),
        ("folder/a%20b.css", "text/css; charset=utf-8"),
        ("odd", "application/octet-stream"),
    ] {
        let got = get(port, &format!("/{path}"));
        assert_eq!(got.code, 200, "{path}");
        assert_eq!(got.header("content-type"), Some(media_type), "{path}");
        assert_eq!(got.header("x-content-type-options"), Some("nosniff"));
        let policy = got.header("content-security-policy");
        assert_eq!(policy, Some("frame-ancestors 'self'"), "{path}");
    }
}

/// `make test` runs this again, when the page is built.
#[test]
fn the_page_in_the_program_is_served_from_anywhere() {
    // Another project's page is not to run where the cluster is.
    let nowhere = scratch("nowhere");
    fs::create_dir_all(nowhere.join("dist")).unwrap();
    fs::write(nowhere.join("dist/index.html"), "another").unwrap();
    let mut command = deltascope(&["serve", "--port", "0", "--proxy", "http://127.0.0.1:1"]);
    let packed = Path::new(env!("CARGO_MANIFEST_DIR")).join("embed/page/page.bin");
    let Ok(packed) = fs::read(packed) else {
        let output = output(command.current_dir(&nowhere));
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{err}");
        assert!(
            err.contains("make dist") && err.contains("cargo install"),
            "{err}"
        );
        return;
    };
    let (_running, out, _) = start(command.current_dir(&nowhere));
    let port = port_of(&out.recv_timeout(HANGS).unwrap());
    let end = packed.iter().position(|byte| *byte == b'\n').unwrap();
    let names: Vec<(String, usize)> = serde_json::from_slice(&packed[..end]).unwrap();
    let mut rest = &packed[end + 1..];
    for (name, size) in &names {
        let (bytes, others) = rest.split_at(*size);
        rest = others;
        let got = get(port, &format!("/{name}"));
        assert!(got.code == 200 && got.body == bytes, "{name}: {}", got.code);
    }
    assert!(rest.is_empty() && names.iter().any(|(name, _)| name.ends_with(".wasm")));
    assert_eq!(get(port, "/").body, get(port, "/index.html").body);
    assert_eq!(get(port, "/nothing").code, 404);
}

#[test]
fn what_goes_to_the_proxy_is_the_page_s_wish_and_nothing_of_its_identity() {
    let dist = dist("head");
    let proxy = Proxy::start(|head, mut to| {
        let answer = format!(
            "HTTP/1.1 429 Too Many Requests\r\nContent-Type: text/plain\r\nRetry-After: 2\r\n\
             Access-Control-Allow-Origin: *\r\nSet-Cookie: a=b\r\nContent-Length: {}\r\n\r\n{head}",
            head.len()
        );
        to.write_all(answer.as_bytes()).unwrap();
    });
    let (_serving, port) = serve(&dist, &format!("{}base", proxy.url), &[]);
    let head = format!(
        "GET /k8s/api/v1/pods?watch=1&labelSelector=a%3Db HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\
         Accept: application/json;as=Table\r\nAccept-Encoding: gzip\r\nCookie: a=b\r\n\
         Authorization: Bearer x\r\nImpersonate-User: admin\r\nUpgrade: websocket\r\n\
         Connection: close, upgrade\r\n\r\n"
    );
    let got = ask(port, head.as_bytes());
    assert_eq!((got.code, got.header("retry-after")), (429, Some("2")));
    assert_eq!(got.header("access-control-allow-origin"), None);
    assert_eq!(got.header("set-cookie"), None);
    let arrived = got.text().to_lowercase();
    let arrived: Vec<&str> = arrived.lines().filter(|line| !line.is_empty()).collect();
    let host = proxy
        .url
        .trim_start_matches("http://")
        .trim_end_matches('/');
    assert_eq!(
        arrived,
        [
            "get /base/api/v1/pods?watch=1&labelselector=a%3db http/1.1",
            "accept: application/json;as=table",
            &format!("host: {host}"),
        ]
    );
}

#[test]
fn a_watch_streams_and_who_hangs_up_ends_it() {
    let dist = dist("streams");
    let (go_on, told) = channel::<()>();
    let told = std::sync::Mutex::new(told);
    let (ended, end) = channel();
    let proxy = Proxy::start(move |_, mut to| {
        to.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
            .unwrap();
        told.lock().unwrap().recv().unwrap();
        to.write_all(b"3\r\ntwo\r\n").unwrap();
        // Nothing more comes: only the end of the connection can.
        let rest = to.read(&mut [0; 1]);
        ended.send(matches!(rest, Ok(0) | Err(_))).unwrap();
    });
    let (_serving, port) = serve(&dist, &proxy.url, &[]);
    let mut watch = connect(port);
    write!(
        watch,
        "GET /k8s/x HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"
    )
    .unwrap();
    // The second piece is sent when the first has been seen.
    read_until(&mut watch, b"one");
    go_on.send(()).unwrap();
    read_until(&mut watch, b"two");
    drop(watch);
    assert!(end.recv_timeout(HANGS).expect("the proxy still streams"));
}

#[test]
fn writes_pass_when_they_are_let() {
    let dist = dist("writes");
    let proxy = Proxy::start(|head, mut to| {
        let mut body = [0; 5];
        to.read_exact(&mut body).unwrap();
        assert!(head.starts_with("POST /api/v1/pods HTTP/1.1"), "{head}");
        answer(&mut to, "201 Created", "text/plain", &body);
    });
    let (_serving, port) = serve(&dist, &proxy.url, &["--allow-writes"]);
    let head = format!(
        "POST /k8s/api/v1/pods HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
    );
    let got = ask(port, head.as_bytes());
    assert_eq!((got.code, &*got.text()), (201, "hello"));
    // But still from its own page alone.
    let head = head.replace("\r\n\r\n", "\r\nOrigin: http://evil.example\r\n\r\n");
    assert_eq!(ask(port, head.as_bytes()).code, 403);
}

#[test]
fn a_proxy_that_is_down_is_told_of_with_what_to_type() {
    let dist = dist("down");
    let mut command = deltascope(&["serve", "--port", "0", "--proxy", NOBODY]);
    let (serving, out, err) = start(command.arg("--dist").arg(&dist));
    let warning = err.recv_timeout(HANGS).unwrap();
    let typed = "kubectl proxy --port=1";
    assert!(warning.contains(typed), "{warning}");
    let port = port_of(&out.recv_timeout(HANGS).unwrap());
    let got = get(port, "/k8s/version");
    assert_eq!(got.code, 502);
    assert!(got.text().contains(typed) && got.text().contains("请启动"));
    assert_eq!(get(port, "/").code, 200);
    drop(serving);
}

#[cfg(unix)]
#[test]
fn ctrl_c_and_a_request_to_end_end_it_well() {
    let dist = dist("ends");
    let proxy = Proxy::start(|_, mut to| {
        to.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
            .unwrap();
        let _ended = to.read(&mut [0; 1]);
    });
    for signal in ["INT", "TERM"] {
        let (mut serving, port) = serve(&dist, &proxy.url, &[]);
        // A watch that is open does not keep it.
        let mut watch = connect(port);
        write!(
            watch,
            "GET /k8s/x HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"
        )
        .unwrap();
        read_until(&mut watch, b"one");
        kill(&serving, signal);
        assert_eq!(code(&mut serving), Some(0), "{signal}");
    }
}

#[test]
fn what_cannot_be_served_says_what_to_do() {
    let dist = dist("refused");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().port().to_string();
    let here = dist.to_str().unwrap();
    // Arguments, exit code, and what stands on stderr.
    let table: &[(&[&str], i32, &str)] = &[
        (&["serve", "--dist", here, "--port", &taken], 1, "is taken"),
        (
            &["--lang", "zh", "serve", "--dist", here, "--port", &taken],
            1,
            "已被占用",
        ),
        (&["serve", "--dist", "no/such/dist"], 1, "make dist"),
        (&["serve", "--address", "0.0.0.0"], 2, "only 127.0.0.1"),
        (&["serve", "--address", "192.0.2.1"], 2, "ssh -L"),
        (
            &["serve", "--proxy", "https://127.0.0.1:6443"],
            2,
            "kubectl proxy",
        ),
        (&["serve", "--proxy", "8001"], 2, "http://127.0.0.1:8001"),
        (
            &["serve", "--proxy", "http://me:secret@127.0.0.1:8001"],
            2,
            "kubectl proxy",
        ),
        (&["serve", "--port", "70000"], 2, "70000"),
        (&["sevre"], 2, "serve"),
        (&["completions", "tcsh"], 2, "fish"),
        (&["--no-such"], 2, "--no-such"),
        (&[], 2, "Usage"),
    ];
    for (args, code, said) in table {
        let output = output(&mut deltascope(args));
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(*code), "{args:?}: {err}");
        assert!(err.contains(said), "{args:?}: {err}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}

// --- draw ---------------------------------------------------------------------------------------

#[test]
fn a_moment_is_drawn_of_a_lesson_a_scenario_or_a_trace() {
    let run = |args: &[&str]| {
        let output = output(&mut deltascope(args));
        let err = String::from_utf8(output.stderr).unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
            err,
        )
    };
    let (code, svg, _) = run(&[
        "draw",
        "--lesson",
        "tombstone",
        "--at",
        "relist",
        "--panels",
        "queue",
        "--lang",
        "zh",
    ]);
    assert_eq!(code, Some(0));
    assert!(
        svg.starts_with("<svg ") && svg.ends_with("</svg>\n"),
        "{svg}"
    );
    assert!(svg.contains("DELTAFIFO") && !svg.contains("INDEXER") && svg.contains("width=\"750\""));

    let scenario = scratch("scenario.json");
    let object = json!({"metadata": {"namespace": "default", "name": "drawn"}});
    let text = json!({"settings": {"machinery": "shared"}, "initial": [object]}).to_string();
    fs::write(&scenario, text).unwrap();
    let picture = scratch("picture.svg");
    let (from, to) = (scenario.to_str().unwrap(), picture.to_str().unwrap());
    let (code, said, _) = run(&[
        "draw", from, "--at", "end", "--width", "1600", "--theme", "dark", "-o", to,
    ]);
    assert_eq!((code, &*said), (Some(0), ""));
    assert!(
        fs::read_to_string(&picture)
            .unwrap()
            .contains("default/drawn")
    );

    let (trace, _) = looked_at("tombstone", Lang::En);
    let file = scratch("drawn.jsonl");
    fs::write(&file, trace).unwrap();
    let (code, svg, err) = run(&["draw", file.to_str().unwrap(), "--at", "end", "--no-strip"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(svg.contains("SHARED PROCESSOR"));

    for (args, code, said) in [
        (&["--lesson", "nothing"][..], 1, "no lesson"),
        (
            &["--lesson", "tombstone", "--at", "nowhere"],
            1,
            "no marker",
        ),
        (&["--panels", "kitchen"], 2, "kitchen"),
        (&["--width", "3"], 2, "240"),
        (&["nosuch.json"], 1, "nosuch.json"),
    ] {
        let args = [&["draw", "--lang", "en"], args].concat();
        let (found, svg, err) = run(&args);
        assert_eq!((found, &*svg), (Some(code), ""), "{args:?}: {err}");
        assert!(err.contains(said), "{args:?}: {err}");
    }
}

// --- replay -------------------------------------------------------------------------------------

/// A run that was looked at in the page: its trace, and what the page says in words.
fn looked_at(lesson: &str, lang: Lang) -> (String, String) {
    let mut session = Session::new();
    session.obey(page::Command::Load(lesson.into()));
    let trace = session.export(Export::Trace).unwrap();
    // As whoever opens the trace sees it.
    session.obey(page::Command::Open(vec![(
        "run.jsonl".to_owned(),
        trace.clone().into_bytes(),
    )]));
    (trace, session.export(Export::Transcript(lang)).unwrap())
}

#[test]
fn a_trace_is_told_as_the_page_tells_it() {
    let file = scratch("told.jsonl");
    for (lang, name) in [(Lang::En, "en"), (Lang::Zh, "zh")] {
        let (trace, told) = looked_at("deltafifo", lang);
        fs::write(&file, &trace).unwrap();
        let path = file.to_str().unwrap();
        let output = output(&mut deltascope(&["replay", path, "--lang", name]));
        assert_eq!(output.status.code(), Some(0));
        assert!(
            output.stdout == told.as_bytes(),
            "{name}: not the page's words"
        );
        assert!(output.stderr.is_empty());
        // The same from stdin.
        let mut child = deltascope(&["--lang", name, "replay", "-"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        thread::spawn(move || input.write_all(trace.as_bytes()).unwrap());
        let output = child.wait_with_output().unwrap();
        assert!(output.stdout == told.as_bytes(), "{name}: stdin");
    }
}

#[test]
fn objects_of_several_namespaces_are_told_apart() {
    let in_namespace = |namespace: &str, version: u64| {
        let mut pod = pod("dup", version);
        pod["metadata"]["namespace"] = json!(namespace);
        pod["metadata"]["uid"] = json!(namespace);
        pod
    };
    let list = |namespaces: [&str; 2]| {
        json!({ "kind": "PodList", "apiVersion": "v1", "metadata": { "resourceVersion": "10" },
            "items": [in_namespace(namespaces[0], 1), in_namespace(namespaces[1], 2)] })
    };
    let watch = [("MODIFIED", 11), ("DELETED", 12)].map(|(kind, version)| {
        json!({ "type": kind, "object": in_namespace("lab", version) }).to_string()
    });
    let events = scratch("namespaces-watch.json");
    fs::write(&events, watch.join("\n")).unwrap();
    let (mut both, mut one) = (String::new(), String::new());
    for (namespaces, told) in [(["lab", "team-a"], &mut both), (["lab", "lab"], &mut one)] {
        let file = scratch("namespaces-list.json");
        fs::write(&file, list(namespaces).to_string()).unwrap();
        for lang in ["en", "zh"] {
            let files = [file.to_str().unwrap(), events.to_str().unwrap()];
            let output = output(&mut deltascope(&[
                "replay", files[0], files[1], "--lang", lang,
            ]));
            assert_eq!(output.status.code(), Some(0));
            told.push_str(&String::from_utf8(output.stdout).unwrap());
        }
    }
    let lines: Vec<&str> = both.lines().filter(|line| line.contains("dup")).collect();
    assert!(lines.len() > 20, "{both}");
    for line in &lines {
        assert!(
            line.contains("lab/dup") || line.contains("team-a/dup"),
            "{line}"
        );
    }
    for name in ["lab/dup", "team-a/dup"] {
        assert!(lines.iter().any(|line| line.contains(name)), "{name}");
    }
    // Where there is one namespace, it says nothing.
    assert!(one.contains("dup") && !one.contains("lab/dup"), "{one}");
}

/// A log with a line each of three objects, ten seconds apart.
fn log_of_three(name: &str) -> PathBuf {
    let line = |second: u64, kind: &str, name: &str, version: u64| {
        json!({ "time": format!("2026-11-22T23:59:{second:02}.250Z"), "informer": { "type": kind,
            "initial": kind == "ADDED", "object": pod(name, version) } })
    };
    let lines = [
        line(30, "ADDED", "web-0", 41),
        line(30, "ADDED", "web-1", 42),
        line(40, "MODIFIED", "web-0", 43),
        line(50, "MODIFIED", "web-1", 44),
    ];
    let file = scratch(name);
    fs::write(&file, lines.map(|line| format!("{line}\n")).concat()).unwrap();
    file
}

#[test]
fn facts_are_told_with_the_time_of_the_clock_as_json_and_of_one_object() {
    let file = log_of_three("three.log");
    let path = file.to_str().unwrap();
    let told = |more: &[&str]| {
        let output = output(&mut deltascope(&[&["replay", path], more].concat()));
        let err = String::from_utf8(output.stderr).unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
            err,
        )
    };
    let facts = |more: &[&str]| -> Vec<Value> {
        let (code, out, err) = told(&[&["--json"], more].concat());
        assert_eq!(code, Some(0), "{err}");
        out.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let (_, words, _) = told(&[]);
    assert!(
        words.contains("10.00 s  2026-11-22T23:59:40.250Z  "),
        "{words}"
    );
    let all = facts(&[]);
    for (place, fact) in all.iter().enumerate() {
        assert_eq!(fact["step"], place + 1);
        for text in ["actor", "fact", "what", "why"] {
            assert!(fact[text].is_string(), "{fact}");
        }
        let wall = fact["wallTime"].as_str().unwrap();
        assert!(
            wall.starts_with("2026-11-22T23:59:") && wall.ends_with('Z'),
            "{fact}"
        );
        assert!(words.contains(fact["what"].as_str().unwrap()), "{fact}");
        if let Some(cause) = fact["cause"]["step"].as_u64() {
            assert!(cause < fact["step"].as_u64().unwrap(), "{fact}");
        }
    }
    let received = |facts: &[Value]| -> Vec<(u64, String)> {
        let received = facts.iter().filter(|fact| fact["fact"] == "EventReceived");
        received
            .map(|fact| {
                (
                    fact["time"].as_u64().unwrap(),
                    fact["key"].as_str().unwrap().to_owned(),
                )
            })
            .collect()
    };
    let events = [
        (10_000, "default/web-0".to_owned()),
        (20_000, "default/web-1".to_owned()),
    ];
    assert_eq!(received(&all), events);
    // Of one object: in order, nothing of the other, and what is about both.
    let one = facts(&["--key", "default/web-1"]);
    assert!(one.len() < all.len() && one.iter().all(|fact| all.contains(fact)));
    assert_eq!(received(&one), events[1..]);
    let about = |fact: &&Value| fact["key"] == "default/web-1";
    assert_eq!(
        one.iter().filter(about).count(),
        all.iter().filter(about).count()
    );
    assert!(one.iter().all(|fact| fact["key"].is_null() || about(&fact)));
    assert!(one.iter().any(|fact| fact["fact"] == "ObjectsLearned"));
    // The end of it.
    assert_eq!(facts(&["--last", "3"]), all[all.len() - 3..]);
    assert_eq!(
        facts(&["--last", "3", "--key", "default/web-1"]),
        one[one.len() - 3..]
    );
    assert_eq!(facts(&["--last", "0"]), [Value::Null; 0]);
    assert_eq!(facts(&["--last", "1h"]), all);
    let end = all.last().unwrap()["time"].as_u64().unwrap();
    let late: Vec<&Value> = all
        .iter()
        .filter(|fact| fact["time"].as_u64().unwrap() + 5_000 >= end)
        .collect();
    assert!(!late.is_empty() && late.len() < all.len());
    assert!(facts(&["--last", "5s"]).iter().eq(late));
    let (_, words, _) = told(&["--last", "1", "--key", "default/web-1", "--lang", "zh"]);
    assert!(
        words.contains("之前的内容省略") && words.contains("只讲述与 default/web-1"),
        "{words}"
    );
    for (more, code, said) in [
        (["--key", "web-1"], 1, "default/web"),
        (["--key", "default/nobody"], 1, "default/nobody"),
        (["--last", "soon"], 2, "30s"),
    ] {
        let (found, out, err) = told(&more);
        assert_eq!((found, &*out), (Some(code), ""), "{more:?}");
        assert!(err.contains(said), "{err}");
    }
}

#[test]
fn a_part_of_a_recording_opens_by_itself() {
    let file = log_of_three("whole.log");
    let path = file.to_str().unwrap();
    let part = scratch("part.jsonl");
    let part = part.to_str().unwrap();
    // How much is left: of each object, how often it is heard of, and the last time.
    let table: &[(&[&str], [usize; 2])] = &[
        (&[], [1, 1]),
        (&["--key", "default/web-1"], [0, 1]),
        (&["--until", "15s"], [1, 0]),
        (&["--key", "default/web-0", "--era", "1.32"], [1, 0]),
    ];
    let heard = |path: &str, name: &str| {
        let output = output(&mut deltascope(&["replay", path, "--json"]));
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{err}");
        let out = String::from_utf8(output.stdout).unwrap();
        assert!(
            out.contains("2026-11-22T23:59:"),
            "the time of the clock stays"
        );
        let line = format!("\"key\":\"default/{name}\"");
        let facts = out
            .lines()
            .filter(|fact| fact.contains("\"EventReceived\""));
        facts.filter(|fact| fact.contains(&line)).count()
    };
    for (more, [zero, one]) in table {
        let args = [&["replay", path, "--export", part], *more].concat();
        let output = output(&mut deltascope(&args));
        assert_eq!(
            (output.status.code(), &*output.stdout),
            (Some(0), &b""[..]),
            "{more:?}"
        );
        let (read, error) = trace::read("part", &fs::read(part).unwrap());
        assert!(read.is_some() && error.is_none(), "{more:?}: {error:?}");
        assert_eq!(
            [heard(part, "web-0"), heard(part, "web-1")],
            [*zero, *one],
            "{more:?}"
        );
        if more.contains(&"default/web-1") {
            assert!(!fs::read_to_string(part).unwrap().contains("web-0"));
        }
    }
    // The end of a long one begins with what the cluster had then.
    let long = scratch("long.log");
    let lines = (0..4_000).map(|number| {
        let (name, kind) = (
            format!("web-{}", number % 7),
            if number < 7 { "ADDED" } else { "MODIFIED" },
        );
        let line = json!({ "ts": 1_800_000_000_000_u64 + number * 100, "informer": {
            "type": kind, "object": pod(&name, 100 + number) } });
        format!("{line}\n")
    });
    fs::write(&long, lines.collect::<String>()).unwrap();
    let long = long.to_str().unwrap();
    let output_of = |args: &[&str]| {
        let output = output(&mut deltascope(args));
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {err}");
        String::from_utf8(output.stdout).unwrap()
    };
    output_of(&["replay", long, "--last", "20s", "--export", part]);
    let (whole, part_of_it) = (output_of(&["replay", long]), output_of(&["replay", part]));
    assert!(part_of_it.len() * 2 < whole.len());
    let end = |told: &str| told.lines().last().unwrap().to_owned();
    assert_eq!(end(&whole), end(&part_of_it));
    // What is simulated follows from all of it.
    let simulated = scratch("simulated.jsonl");
    fs::write(&simulated, looked_at("tombstone", Lang::En).0).unwrap();
    let refused = output(&mut deltascope(&[
        "replay",
        simulated.to_str().unwrap(),
        "--export",
        "-",
    ]));
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        String::from_utf8(refused.stderr)
            .unwrap()
            .contains("simulated")
    );
}

#[test]
fn a_trace_keeps_the_time_of_the_clock() {
    let file = log_of_three("kept.log");
    let mut session = Session::new();
    session.obey(page::Command::Open(vec![(
        "a.log".to_owned(),
        fs::read(file).unwrap(),
    )]));
    let wall = |session: &mut Session| {
        session.obey(page::Command::Seek(usize::MAX));
        let view = session.view();
        view.lesson.wall(view.time)
    };
    let shown = wall(&mut session);
    assert!(
        shown.as_ref().unwrap().starts_with("2026-11-22T23:59:50."),
        "{shown:?}"
    );
    session.obey(page::Command::Era("1.32".into()));
    assert!(wall(&mut session).is_some());
    let written = session.export(Export::Trace).unwrap();
    assert!(
        written
            .lines()
            .next()
            .unwrap()
            .contains("\"start\":\"2026-11-22T23:59:30.250Z\"")
    );
    session.obey(page::Command::Load("tombstone".into()));
    assert_eq!(wall(&mut session), None);
    // One that has none opens as before; so does one that is no time, and says so.
    for (start, odd_start) in [
        ("\"other\":1", false),
        ("\"start\":\"yesterday\"", true),
        ("\"start\":7", true),
    ] {
        let odd = written.replace("\"start\":\"2026-11-22T23:59:30.250Z\"", start);
        session.obey(page::Command::Open(vec![(
            "b.jsonl".to_owned(),
            odd.into_bytes(),
        )]));
        let error = session.view().error;
        assert_eq!(error.is_some(), odd_start, "{start}: {error:?}");
        assert!(error.is_none_or(|error| error.message.en.contains("\"start\" is no time")));
        assert_eq!(wall(&mut session), None, "{start}");
    }
}

#[test]
fn what_is_replayed_can_be_chosen() {
    let (trace, whole) = looked_at("deltafifo", Lang::En);
    let file = scratch("chosen.jsonl");
    fs::write(&file, &trace).unwrap();
    let path = file.to_str().unwrap();
    let list = "tests/transcripts/list-25-limit-rv0.body";
    let broken = scratch("broken.jsonl");
    fs::write(&broken, format!("{trace}{{\"op\":\"cut\",\"at\":")).unwrap();
    let broken = broken.to_str().unwrap();
    let nothing = scratch("nothing.jsonl");
    fs::write(&nothing, "hello\n").unwrap();
    let nothing = nothing.to_str().unwrap();
    let endless = scratch("endless.jsonl");
    fs::write(&endless, looked_at("sandbox", Lang::En).0).unwrap();
    let endless = endless.to_str().unwrap();
    let log = scratch("controller.log");
    let line = json!({ "time": "2026-11-22T10:00:00Z", "msg": "seen", "informer": {
        "type": "ADDED", "initial": true, "object": pod("web-0", 41) } });
    fs::write(&log, format!("I1122 starting\n{line}\n")).unwrap();
    let log = log.to_str().unwrap();
    // Arguments, exit code, and what stands on stdout and on stderr.
    let table: &[(&[&str], i32, &str, &str)] = &[
        (&[path, "--until", "500ms"], 0, "0.50 s", ""),
        (&[path, "--until", "delta=Deleted"], 0, "Deleted", ""),
        (
            &[path, "--until", "key=default/nobody"],
            1,
            "",
            "default/nobody was not found",
        ),
        (
            &[path, "--until", "key=default/nobody", "--lang", "zh"],
            1,
            "",
            "没有找到",
        ),
        (&[path, "--until", "soon"], 2, "", "1500ms"),
        (&[path, "--era", "2.0"], 2, "", "1.36"),
        (&[broken], 1, "0.50 s", "broken.jsonl, line 3"),
        (&[nothing], 1, "", "nothing.jsonl"),
        (&["no/such/file"], 1, "", "no/such/file"),
        (&[list], 0, "list-25-limit-rv0.body", ""),
        // Its queue is put together by hand: it has no other generation.
        (&[list, "--era", "1.36"], 1, "", "by hand"),
        (&[log, "--era", "1.32"], 0, "web-0", ""),
        (&[endless, "--until", "1s"], 0, "(1.32)", ""),
        (
            &[endless, "--until", "1s", "--era", "1.32"],
            0,
            "(1.32)",
            "",
        ),
        (&[], 2, "", "FILE"),
    ];
    for (args, code, out, err) in table {
        let mut args = args.to_vec();
        args.insert(0, "replay");
        let output = output(&mut deltascope(&args));
        let stdout = String::from_utf8(output.stdout).unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(*code), "{args:?}: {stderr}");
        assert!(stdout.contains(out), "{args:?}");
        assert_eq!(out.is_empty(), stdout.is_empty(), "{args:?}");
        assert!(stderr.contains(err), "{args:?}: {stderr}");
        if args.contains(&path) {
            assert!(whole.starts_with(&stdout), "{args:?}");
        }
    }
}

#[test]
fn nobody_has_to_read_to_the_end() {
    let (trace, _) = looked_at("sandbox", Lang::En);
    let file = scratch("long.jsonl");
    fs::write(&file, &trace).unwrap();
    let mut child = deltascope(&["replay", file.to_str().unwrap(), "--until", "5m"])
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut [0; 10]).unwrap();
    drop(out);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

// --- record -------------------------------------------------------------------------------------

#[test]
fn what_is_recorded_plays_again() {
    for era in ["1.32", "1.36"] {
        let api = api("pods", |initial, mut to| {
            if initial {
                for name in ["web-1", "web-2"] {
                    send(&mut to, "ADDED", &pod(name, 1));
                }
                let end = json!({ "kind": "Pod", "apiVersion": "v1", "metadata": {
                    "resourceVersion": "10",
                    "annotations": { "k8s.io/initial-events-end": "true" } } });
                send(&mut to, "BOOKMARK", &end);
            }
            send(&mut to, "MODIFIED", &pod("web-1", 11));
            send(&mut to, "ADDED", &pod("web-3", 12));
            // Open until somebody hangs up.
            let _ended = to.read(&mut [0; 1]);
        });
        let mut command = deltascope(&["record", "--proxy", &api.url, "--era", era]);
        let (mut recording, out, _) = start(&mut command);
        // It comes at once, while the watch is open.
        let mut text = written_until(&out, "web-3");
        end(&mut recording);
        text.extend(out.iter().map(|line| format!("{line}\n")));
        // The same facts: each input comes after as many as it did.
        let (read, error) = trace::read("trace", text.as_bytes());
        assert!(error.is_none(), "{era}: {error:?}");
        let trace = read.unwrap();
        assert_eq!(&*trace.title.en, "pods · all namespaces");
        // So that it can be laid beside logs.
        assert!(trace.start > Some(1_700_000_000_000), "{:?}", trace.start);
        let timeline = trace.recording.play().unwrap();
        let after =
            |inputs: &[RecordedInput]| inputs.iter().map(|one| one.after).collect::<Vec<_>>();
        assert_eq!(
            after(timeline.inputs()),
            after(&trace.recording.inputs),
            "{era}"
        );
        let file = scratch(&format!("recorded-{era}.jsonl"));
        fs::write(&file, text).unwrap();
        let told = output(&mut deltascope(&["replay", file.to_str().unwrap()]));
        assert_eq!(told.status.code(), Some(0), "{era}");
        let told = String::from_utf8(told.stdout).unwrap();
        for line in [
            "OnAdd: web-1",
            "OnAdd: web-2",
            "OnUpdate: web-1",
            "OnAdd: web-3",
        ] {
            assert!(told.contains(line), "{era}: {line}");
        }
    }
}

#[cfg(unix)]
#[test]
fn what_is_killed_leaves_a_trace_that_opens() {
    let api = api("configmaps", |_, mut to| {
        send(&mut to, "ADDED", &pod("late", 11));
        let _ended = to.read(&mut [0; 1]);
    });
    let args = [
        "record",
        "--proxy",
        &api.url,
        "-r",
        "configmaps",
        "--era",
        "1.32",
    ];
    let mut command = deltascope(&args);
    let (mut recording, out, err) = start(command.arg("--progress"));
    assert!(
        err.recv_timeout(HANGS)
            .unwrap()
            .contains("configmaps · all")
    );
    let mut text = written_until(&out, "late");
    kill(&recording, "KILL");
    assert_eq!(code(&mut recording), None);
    text.extend(out.iter().map(|line| format!("{line}\n")));
    // Its data stays where it was.
    assert!(!text.contains("hidden"));
    let file = scratch("killed.jsonl");
    fs::write(&file, text).unwrap();
    let path = file.to_str().unwrap();
    let told = output(&mut deltascope(&["replay", path]));
    assert_eq!(told.status.code(), Some(0));
    assert!(
        String::from_utf8(told.stdout)
            .unwrap()
            .contains("OnAdd: late")
    );
}

#[test]
fn a_recording_ends_as_asked_or_says_why_not() {
    let api_of_pods = api("pods", |_, mut to| {
        for number in 11..40 {
            send(&mut to, "ADDED", &pod(&format!("web-{number}"), number));
        }
        let _ended = to.read(&mut [0; 1]);
    });
    let forbidden = Proxy::start(|head, mut to| {
        if head.contains("/pods") {
            let status = json!({ "kind": "Status", "apiVersion": "v1", "code": 403,
                "reason": "Forbidden", "message": "pods is forbidden" });
            let status = status.to_string();
            answer(
                &mut to,
                "403 Forbidden",
                "application/json",
                status.as_bytes(),
            );
        } else {
            resources(&head, &mut to);
        }
    });
    let page = Proxy::start(|_, mut to| answer(&mut to, "200 OK", "text/html", b"<html>"));
    let (api, forbidden, page) = (&*api_of_pods.url, &*forbidden.url, &*page.url);
    let nowhere = scratch("no/such").join("trace.jsonl");
    let nowhere = nowhere.to_str().unwrap();
    // Arguments, exit code, how many events are written, and what stands on stderr.
    let table: &[(&[&str], i32, usize, &str)] = &[
        (&["--proxy", api, "--max-events", "3"], 0, 3, ""),
        (
            &["--proxy", api, "--max-events", "3", "--metadata-only"],
            0,
            3,
            "",
        ),
        (
            &[
                "--proxy",
                api,
                "--max-events",
                "3",
                "--era",
                "1.32",
                "-n",
                "a",
            ],
            0,
            3,
            "",
        ),
        (&["--max-events", "0"], 2, 0, "--max-events"),
        (
            &["--proxy", forbidden, "--for", "100ms"],
            1,
            0,
            "kubectl auth can-i list pods -A",
        ),
        (
            &["--proxy", forbidden, "--for", "100ms", "--lang", "zh"],
            1,
            0,
            "没有录到任何内容",
        ),
        (&["--proxy", api, "-r", "widgets"], 1, 0, "widgets"),
        (&["--proxy", api, "-n", "No_Such"], 1, 0, "DNS label"),
        (&["--proxy", api, "-l", "a=b=c"], 1, 0, "label selector"),
        (&["--proxy", api, "-o", nowhere], 1, 0, "no/such"),
        (&["--proxy", NOBODY], 3, 0, "kubectl proxy --port=1"),
        (&["--proxy", page], 3, 0, "web page"),
        (&["-A", "-n", "a"], 2, 0, "--all-namespaces"),
        (&["--full", "--metadata-only"], 2, 0, "--metadata-only"),
        (&["--for", "soon"], 2, 0, "30s"),
        (&["--era", "2.0"], 2, 0, "1.36"),
    ];
    for (args, code, events, err) in table {
        let mut args = args.to_vec();
        args.insert(0, "record");
        let output = output(&mut deltascope(&args));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(*code), "{args:?}: {stderr}");
        assert!(stderr.contains(err), "{args:?}: {stderr}");
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert_eq!(stdout.matches("\"ADDED\"").count(), *events, "{args:?}");
        if *events > 0 {
            let (read, error) = trace::read("trace", stdout.as_bytes());
            assert!(read.is_some() && error.is_none(), "{args:?}");
        }
    }
}

#[test]
fn a_recording_rotates_and_each_file_opens_on_its_own() {
    const EVENTS: u64 = 6_000;
    for era in ["1.32", "1.36"] {
        let api = api("pods", |initial, mut to| {
            if initial {
                let end = json!({ "kind": "Pod", "apiVersion": "v1", "metadata": {
                    "resourceVersion": "10",
                    "annotations": { "k8s.io/initial-events-end": "true" } } });
                send(&mut to, "BOOKMARK", &end);
            }
            for number in 0..EVENTS {
                let kind = if number < 5 { "ADDED" } else { "MODIFIED" };
                send(
                    &mut to,
                    kind,
                    &pod(&format!("pod-{}", number % 5), 11 + number),
                );
            }
            let _ended = to.read(&mut [0; 1]);
        });
        let folder = scratch(&format!("rotated-{era}"));
        let _none = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let to = folder.join("pods.jsonl");
        let most = EVENTS.to_string();
        let args = [
            "record",
            "--proxy",
            &api.url,
            "--era",
            era,
            "--max-events",
            &most,
        ];
        let mut command = deltascope(&args);
        command
            .args(["--rotate", "16K", "--keep", "2", "-o"])
            .arg(&to);
        let output = output(&mut command);
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{err}");
        let mut names: Vec<String> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort_by_key(|name| (name.len(), name.clone()));
        let numbers: Vec<u32> = names
            .iter()
            .map(|name| {
                let number = name.strip_prefix("pods-").unwrap().strip_suffix(".jsonl");
                number.unwrap().parse().unwrap()
            })
            .collect();
        assert!(
            numbers.len() == 2 && numbers[0] + 1 == numbers[1] && numbers[1] > 3,
            "{names:?}"
        );
        for (name, end) in names.iter().zip([None, Some(10 + EVENTS)]) {
            let bytes = fs::read(folder.join(name)).unwrap();
            let (read, error) = trace::read(name, &bytes);
            assert!(error.is_none(), "{name}: {error:?}");
            let recording = read.unwrap().recording;
            let mut timeline = recording.play().unwrap();
            assert_eq!(timeline.inputs().len(), recording.inputs.len(), "{name}");
            timeline.extend(timeline.len() + 1_000_000);
            let picture = timeline.picture(timeline.len());
            assert_eq!(
                picture.store.items.len(),
                if era == "1.32" { 7 } else { 5 },
                "{name}"
            );
            let newest = picture
                .store
                .items
                .iter()
                .map(|(_, object)| object.rv.parse::<u64>().unwrap())
                .max();
            assert!(end.is_none() || newest == end, "{name}: {newest:?}");
        }
    }
    for (args, said) in [
        (&["--rotate", "16K"][..], "--output"),
        (&["--keep", "2"], "--rotate"),
        (&["--rotate", "1K", "-o", "x"], "16K"),
        (&["--rotate", "1G", "-o", "x"], "16K"),
        (&["--rotate", "16é", "-o", "x"], "16K"),
        (
            &["--rotate", "16M", "-o", "x", "--scramble", "names"],
            "--scramble",
        ),
    ] {
        let output = output(&mut deltascope(&[&["record"], args].concat()));
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.code() == Some(2) && err.contains(said),
            "{args:?}: {err}"
        );
    }
}

#[test]
fn a_recording_can_be_given_away() {
    let api = api("pods", |_, mut to| {
        send(&mut to, "ADDED", &pod("late", 11));
        let _ended = to.read(&mut [0; 1]);
    });
    for (parts, names, labels) in [
        ("names", false, true),
        ("labels", true, false),
        ("names,labels", false, false),
    ] {
        let args = [
            "record", "--proxy", &api.url, "-n", "corner", "--era", "1.32",
        ];
        let mut command = deltascope(&args);
        let output = output(command.args(["--max-events", "1", "--scramble", parts]));
        assert_eq!(output.status.code(), Some(0), "{parts}");
        let text = String::from_utf8(output.stdout).unwrap();
        for name in ["web-1", "late", "corner"] {
            assert_eq!(text.contains(name), names, "{parts}: {name}");
        }
        assert_eq!(text.contains("\"tier\""), labels, "{parts}");
        let (read, error) = trace::read("trace", text.as_bytes());
        assert!(read.is_some() && error.is_none(), "{parts}");
    }
}

#[test]
fn a_recording_ends_when_nobody_reads_it() {
    let api = api("pods", |_, mut to| {
        for number in 11.. {
            if !send(&mut to, "ADDED", &pod("web", number)) {
                break;
            }
        }
    });
    let mut child = deltascope(&["record", "--proxy", &api.url, "--era", "1.32"])
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut [0; 10]).unwrap();
    drop(out);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

/// What is written up to the line with this.
fn written_until(out: &Receiver<String>, wanted: &str) -> String {
    let mut text = String::new();
    while !text.contains(wanted) {
        text.push_str(&out.recv_timeout(HANGS).expect("it is not written"));
        text.push('\n');
    }
    text
}

/// A stand-in for an API server with two objects; `watch` is told whether it begins with them.
fn api(plural: &str, watch: impl Fn(bool, TcpStream) + Send + Sync + 'static) -> Proxy {
    let plural = plural.to_owned();
    Proxy::start(move |head, mut to| {
        let path = head.split(' ').nth(1).unwrap();
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        if !path.ends_with(&format!("/{plural}")) {
            resources(&head, &mut to);
        } else if !query.contains("watch=") {
            let items = json!([pod("web-1", 1), pod("web-2", 2)]);
            let list = json!({ "kind": "PodList", "apiVersion": "v1",
                "metadata": { "resourceVersion": "10" }, "items": items });
            answer(
                &mut to,
                "200 OK",
                "application/json",
                list.to_string().as_bytes(),
            );
        } else if query.contains("sendInitialEvents=true") {
            opened(&mut to);
            watch(true, to);
        } else {
            opened(&mut to);
            watch(false, to);
        }
    })
}

/// Which resources there are, as a real server says it.
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

fn opened(to: &mut TcpStream) {
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    to.write_all(head.as_bytes()).unwrap();
}

/// Whether somebody takes it.
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

/// As Ctrl-C does where there is one.
fn end(running: &mut Running) {
    #[cfg(unix)]
    {
        kill(running, "INT");
        assert_eq!(code(running), Some(0));
    }
    #[cfg(not(unix))]
    running.0.kill().unwrap();
}

// --- what is text of others ----------------------------------------------------------------------

/// Sets a terminal's title, rings, clears it in two ways, turns the line round and forges another.
const HOSTILE: &str = "x\u{1b}]0;owned\u{7}\0\u{9b}2J\u{7f}\u{202e}\u{2066}\u{2028}\nforged: y";

/// Nothing in it drives a terminal.
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

#[test]
fn nothing_of_others_drives_a_terminal() {
    let pod = json!({ "kind": "Pod", "apiVersion": "v1", "metadata": { "name": HOSTILE, "namespace": HOSTILE,
        "uid": HOSTILE, "resourceVersion": HOSTILE, "labels": { HOSTILE: HOSTILE } } });
    let list = json!({ "kind": "PodList", "apiVersion": "v1",
        "metadata": { "resourceVersion": HOSTILE }, "items": [pod] });
    let file = scratch("hostile.json");
    fs::write(&file, list.to_string()).unwrap();
    let list = file.to_str().unwrap();
    let lesson = json!({ "scenario": { "settings": { "machinery": "shared" }, "initial": [pod] },
        "title": { "en": HOSTILE, "zh": HOSTILE } });
    let file = scratch("hostile-lesson.json");
    fs::write(&file, lesson.to_string()).unwrap();
    let lesson = file.to_str().unwrap();
    let (trace, _) = looked_at("tombstone", Lang::En);
    let (_, rest) = trace.split_once('\n').unwrap();
    let head = json!({ "deltascope": 1, "titleEn": HOSTILE, "titleZh": HOSTILE });
    let head = head
        .to_string()
        .replace("{\"deltascope\":1,", "{")
        .replacen('{', "{\"deltascope\":1,", 1);
    let file = scratch("hostile.jsonl");
    fs::write(&file, format!("{head}\n{rest}")).unwrap();
    let trace = file.to_str().unwrap();
    // With a name that says so: it is no trace.
    #[cfg(unix)]
    let broken = scratch("hostile\u{1b}[2J.jsonl");
    #[cfg(not(unix))]
    let broken = scratch("hostile-broken.jsonl");
    fs::write(&broken, format!("{head}\n{{\"{HOSTILE}")).unwrap();
    let broken = broken.to_str().unwrap();
    let nobody = "no/such\u{1b}[2J\u{202e}";
    let option = "--no\u{1b}]0;owned\u{7}\u{202e}";
    // Arguments, exit code, and how the name is told.
    let table: &[(&[&str], i32, &str)] = &[
        (
            &["replay", list],
            0,
            "x\\u{1b}]0;owned\\u{7}\\u{0}\\u{9b}2J\\u{7f}\\u{202e}\\u{2066}\\u{2028}\\nforged: y",
        ),
        (&["replay", trace], 0, "x\\u{1b}]0;owned"),
        (&["replay", "--lang", "zh", trace], 0, "x\\u{1b}]0;owned"),
        (&["replay", broken], 1, ".jsonl"),
        (&["replay", nobody], 1, "no/such\\u{1b}[2J\\u{202e}"),
        (&["replay", list, "--until", HOSTILE], 2, "--until"),
        (&["replay", list, "--era", HOSTILE], 2, "--era"),
        (&["replay", list, option], 2, "--no"),
        (&["draw", list, "--at", HOSTILE], 2, "owned"),
        (&["draw", list], 0, "<svg"),
        (&["draw", lesson], 1, "DNS"),
        (&["draw", "--lesson", HOSTILE], 1, "owned"),
        (&["record", "--index", HOSTILE], 2, "owned"),
        (
            &["record", "-o", nobody, "--proxy", "http://127.0.0.1:1"],
            3,
            "kubectl proxy",
        ),
        (&["serve", "--dist", nobody], 1, "no/such"),
        (&["serve", "--proxy", HOSTILE], 2, "kubectl proxy"),
        (&[HOSTILE], 2, "unrecognized"),
    ];
    for (args, code, said) in table {
        // An argument has no NUL.
        let args: Vec<String> = args.iter().map(|arg| arg.replace('\0', "")).collect();
        let args: Vec<&str> = args.iter().map(|arg| &**arg).collect();
        let output = output(&mut deltascope(&args));
        let (out, err) = (shown(&output.stdout), shown(&output.stderr));
        assert_eq!(output.status.code(), Some(*code), "{args:?}: {err}");
        assert!(format!("{out}{err}").contains(said), "{args:?}: {out}{err}");
        let forged = format!("{out}{err}")
            .lines()
            .any(|line| line.starts_with("forged"));
        assert!(!forged || *code == 2, "{args:?}: {out}{err}");
    }
}

#[test]
fn nothing_of_a_cluster_drives_a_terminal() {
    let forbidden = Proxy::start(|head, mut to| {
        if head.contains("/pods") {
            let status = json!({ "kind": "Status", "apiVersion": "v1", "code": 403,
                "reason": HOSTILE, "message": HOSTILE });
            answer(
                &mut to,
                "403 Forbidden",
                "application/json",
                status.to_string().as_bytes(),
            );
        } else {
            resources(&head, &mut to);
        }
    });
    let no_json = Proxy::start(|head, mut to| {
        if head.contains("/pods") {
            answer(
                &mut to,
                "500 Internal Server Error",
                "text/plain",
                HOSTILE.as_bytes(),
            );
        } else {
            resources(&head, &mut to);
        }
    });
    for (url, said) in [(&forbidden.url, "owned"), (&no_json.url, "500")] {
        for more in [&[][..], &["--progress"]] {
            let args = [&["record", "--proxy", url, "--for", "100ms"], more].concat();
            let output = output(&mut deltascope(&args));
            assert_eq!(output.status.code(), Some(1));
            let err = shown(&output.stderr);
            assert!(
                err.contains(said) && !err.lines().any(|line| line.starts_with("forged")),
                "{err}"
            );
        }
    }
    // What is recorded is the same object, however it is written.
    let api = api("pods", |_, mut to| {
        send(&mut to, "ADDED", &pod(HOSTILE, 11));
        let _ended = to.read(&mut [0; 1]);
    });
    let args = [
        "record",
        "--proxy",
        &api.url,
        "--max-events",
        "1",
        "--era",
        "1.32",
    ];
    let output = output(&mut deltascope(&args));
    assert_eq!(output.status.code(), Some(0));
    let text = shown(&output.stdout);
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(
        last.pointer("/told/0/event/object/metadata/name"),
        Some(&json!(HOSTILE)),
        "{last}"
    );
}

// --- what takes much -----------------------------------------------------------------------------

/// The program with a bound on its memory that what it refuses would not keep, where the system knows one.
fn within_bounds(args: &[&str]) -> Command {
    let mut command = deltascope(args);
    if cfg!(unix) {
        let program = command.get_program().to_owned();
        command = Command::new("sh");
        command
            .args(["-c", "ulimit -v 524288; exec \"$0\" \"$@\""])
            .arg(program)
            .args(args)
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
    }
    command
}

#[test]
fn no_small_file_takes_much() {
    let long = format!("{HOSTILE}{}", "x".repeat(700_000));
    let header = "{\"deltascope\":1}\n";
    let small = "{\"scenario\":{\"settings\":{\"machinery\":\"shared\"}}}\n";
    let print = json!({ "at": 1, "op": "print", "line": "{indices}".repeat(60_000) });
    // A file, what is said of it, and whether there is something to tell before that.
    let mut table: Vec<(&str, String, Vec<&str>, bool)> = Vec::new();
    for (scenario, field, most) in attacks::scenarios(&long) {
        let trace = format!("{header}{}\n", json!({ "scenario": scenario }));
        let line = "much.jsonl, line 2: ";
        table.push(("much.jsonl", trace, vec![line, field, most], false));
        table.push(("much.json", scenario.to_string(), vec![field, most], false));
    }
    let named = json!([{ "metadata": { "name": "x".repeat(7_000_000), "resourceVersion": "1" } }]);
    let list = json!({ "kind": "PodList", "apiVersion": "v1", "metadata": { "resourceVersion": "1" }, "items": named });
    let values = "{\"a\":0},".repeat(1_000_000);
    for (name, text, said, tells) in [
        (
            "named.list",
            list.to_string(),
            vec![
                "named.list, line 1: items[0]",
                "metadata.name: 7000000 bytes",
                "4096",
            ],
            false,
        ),
        (
            "named.json",
            json!({ "settings": { "machinery": "shared" }, "initial": named }).to_string(),
            vec!["The object has 70000", "at most 1572864", "Leave out"],
            false,
        ),
        (
            "values.list",
            format!("{{\"kind\":\"PodList\",\"items\":[{values}{{}}]}}"),
            vec![
                "values.list, line 1: ",
                "at most 10000",
                "Record one namespace",
            ],
            false,
        ),
        (
            "values.json",
            format!("{{\"settings\":{{}},\"x\":[{values}0]}}"),
            vec!["values.json, line 1: ", "small values", "Record less"],
            false,
        ),
        (
            "values.jsonl",
            format!("{header}{{\"scenario\":{{}},\"x\":[{values}0]}}\n"),
            vec![
                "values.jsonl, line 2: ",
                "small values",
                "Cut the file here",
            ],
            false,
        ),
        // Of a trace the rest is there, and what is exported of it opens.
        (
            "print.jsonl",
            format!("{header}{small}{print}\n"),
            vec![
                "print.jsonl, line 3: ",
                "field \"line\": 540000",
                "the most is 4096",
            ],
            true,
        ),
        (
            "nobody.jsonl",
            format!(
                "{header}{small}{{\"at\":5,\"op\":\"delete\",\"object\":{{\"metadata\":{{\"name\":\"\"}}}}}}\n"
            ),
            vec![
                "nobody.jsonl, line 3: metadata.name is missing",
                "Mend the line",
            ],
            true,
        ),
        (
            "moment.jsonl",
            format!(
                "{{\"deltascope\":1,\"at\":{}}}\n{small}",
                json!("x".repeat(700_000))
            ),
            vec!["no marker \"xxxx", "…\"", "Write input:N"],
            true,
        ),
    ] {
        table.push((name, text, said, tells));
    }
    for (name, text, said, tells) in table {
        let (file, written) = (scratch(name), scratch("much-written"));
        fs::write(&file, text).unwrap();
        let (path, to) = (file.to_str().unwrap(), written.to_str().unwrap());
        for args in [&["draw", path, "-o", to][..], &["replay", path]] {
            // It takes no scenario without a trace around.
            if args[0] == "replay" && name.ends_with(".json") {
                continue;
            }
            let _there_was_none = fs::remove_file(&written);
            let done = output(&mut within_bounds(args));
            let (out, err) = (shown(&done.stdout), shown(&done.stderr));
            assert_eq!(done.status.code(), Some(1), "{args:?}: {err}");
            for words in &said {
                assert!(err.contains(words), "{args:?}: {words}: {err}");
            }
            assert!(err.len() < 800, "{args:?}: {err}");
            let tells = tells && args[0] == "replay";
            assert_eq!(
                (out.is_empty(), written.exists()),
                (!tells, false),
                "{args:?}: {err}"
            );
        }
        fs::remove_file(&file).unwrap();
    }
}

#[test]
fn a_title_without_end_is_cut() {
    let file = scratch("title.jsonl");
    let title = "名".repeat(1_000_000);
    let head = format!("{{\"deltascope\":1,\"titleEn\":\"{title}\",\"titleZh\":\"{title}\"}}");
    let text = format!("{head}\n{{\"scenario\":{{\"settings\":{{\"machinery\":\"shared\"}}}}}}\n");
    fs::write(&file, text).unwrap();
    for program in ["draw", "replay"] {
        let done = output(&mut within_bounds(&[program, file.to_str().unwrap()]));
        let (out, err) = (shown(&done.stdout), shown(&done.stderr));
        assert_eq!((done.status.code(), &*err), (Some(0), ""), "{program}");
        assert!(
            out.contains("名名") && out.len() < 100_000,
            "{program}: {}",
            out.len()
        );
    }
    fs::remove_file(&file).unwrap();
}

// --- help and completions -----------------------------------------------------------------------

#[test]
fn help_shows_examples_and_exit_codes() {
    for (args, said) in [
        (&["--help"][..], "Exit codes"),
        (&["--version"], env!("CARGO_PKG_VERSION")),
        (&["serve", "--help"], "Examples:"),
        (&["record", "--help"], "Examples:"),
        (&["replay", "--help"], "Examples:"),
        (&["completions", "--help"], "Examples:"),
    ] {
        let output = output(&mut deltascope(args));
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        let out = String::from_utf8(output.stdout).unwrap();
        assert!(out.contains(said), "{args:?}: {out}");
    }
}

#[test]
fn completions_are_scripts_of_their_shell() {
    for (shell, check) in [
        ("bash", Some(["bash", "-n"])),
        ("zsh", Some(["zsh", "-n"])),
        ("fish", Some(["fish", "-n"])),
        ("powershell", None),
        ("elvish", None),
    ] {
        let script = output(&mut deltascope(&["completions", shell]));
        assert_eq!(script.status.code(), Some(0), "{shell}");
        let text = String::from_utf8_lossy(&script.stdout);
        assert!(text.contains("allow-writes"), "{shell}");
        let Some([program, option]) = check else {
            continue;
        };
        let parser = Command::new(program)
            .arg(option)
            .stdin(Stdio::piped())
            .spawn();
        // Not everybody has every shell.
        if let Ok(mut parser) = parser {
            let mut input = parser.stdin.take().unwrap();
            input.write_all(&script.stdout).unwrap();
            drop(input);
            assert!(parser.wait().unwrap().success(), "{shell}");
        }
    }
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

/// A program that is ended when the test is.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = self.0.kill();
        let _code = self.0.wait();
    }
}

/// The lines that somebody writes, as they come.
fn lines_of(from: impl Read + Send + 'static) -> Receiver<String> {
    let (send, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                break;
            }
        }
    });
    lines
}

fn start(command: &mut Command) -> (Running, Receiver<String>, Receiver<String>) {
    let mut child = command.spawn().unwrap();
    let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    (Running(child), lines_of(out), lines_of(err))
}

fn output(command: &mut Command) -> Output {
    let (send, done) = channel();
    let child = command.spawn().unwrap();
    thread::spawn(move || send.send(child.wait_with_output().unwrap()));
    done.recv_timeout(HANGS).expect("it hangs")
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

/// How it ended.
#[cfg(unix)]
fn code(running: &mut Running) -> Option<i32> {
    running.0.wait().unwrap().code()
}

/// Serves, and says at which port.
fn serve(dist: &Path, proxy: &str, more: &[&str]) -> (Running, u16) {
    let mut command = deltascope(&["serve", "--port", "0", "--proxy", proxy]);
    let (running, out, _) = start(command.arg("--dist").arg(dist).args(more));
    let first = out.recv_timeout(HANGS).unwrap();
    (running, port_of(&first))
}

fn port_of(line: &str) -> u16 {
    let rest = line.strip_prefix("http://127.0.0.1:").expect(line);
    rest.split('/').next().unwrap().parse().unwrap()
}

/// A file of one test's own.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-files");
    fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

/// A built page, and beside it what is none of its business.
fn dist(name: &str) -> PathBuf {
    let beside = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cli-{name}"));
    let dist = beside.join("dist");
    fs::create_dir_all(dist.join("folder")).unwrap();
    let secret = beside.join("secret.txt");
    fs::write(&secret, "secret").unwrap();
    for name in [
        "index.html",
        "page.js",
        "page.wasm",
        "folder/a b.css",
        "odd",
    ] {
        fs::write(dist.join(name), name).unwrap();
    }
    #[cfg(unix)]
    // It may be there from the last time.
    let _there = std::os::unix::fs::symlink(&secret, dist.join("link.txt"));
    dist
}

// --- HTTP, as bytes -----------------------------------------------------------------------------

/// A stand-in for `kubectl proxy`, in threads that end with the test.
struct Proxy {
    url: String,
}

impl Proxy {
    /// Each connection has one request, whose head and connection are handed over.
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
                    // What serve asks by itself when it starts.
                    if head.starts_with("GET /version ") && !head.contains("accept") {
                        answer(&mut stream, "200 OK", "application/json", b"{}");
                    } else {
                        each(head, stream);
                    }
                });
            }
        });
        Self { url }
    }
}

/// Up to the empty line, and no byte more.
fn head_of(from: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && from.read(&mut byte).unwrap_or(0) == 1 {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

fn answer(to: &mut TcpStream, status: &str, media_type: &str, body: &[u8]) {
    let size = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {size}\r\n\r\n"
    );
    // Whoever asked with HEAD, or has gone, does not read it.
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

fn get(port: u16, path: &str) -> Got {
    let head =
        format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    ask(port, head.as_bytes())
}

/// Sends the bytes, and reads to the end.
fn ask(port: u16, bytes: &[u8]) -> Got {
    let mut stream = connect(port);
    stream.write_all(bytes).unwrap();
    let mut all = Vec::new();
    // One that refuses a body may close before it was read.
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

fn read_until(from: &mut TcpStream, wanted: &[u8]) {
    let mut seen = Vec::new();
    let mut byte = [0];
    while !seen.ends_with(wanted) {
        let read = from.read(&mut byte).expect("it does not come");
        assert_eq!(read, 1, "the end comes first");
        seen.push(byte[0]);
    }
}
