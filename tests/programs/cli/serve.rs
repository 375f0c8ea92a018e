//! `deltascope serve`: which requests reach the cluster through it, and what is passed on.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;

use super::{
    Got, HANGS, NOBODY, Proxy, Running, answer, ask, connect, deltascope, output, read_until,
    scratch, start,
};
#[cfg(unix)]
use super::{code, kill};

#[test]
fn only_the_servers_own_page_reaches_the_cluster() {
    let dist = dist("gate");
    let proxy = Proxy::start(|_, mut to| answer(&mut to, "200 OK", "application/json", b"{}"));
    let (_serving, port) = serve(&dist, &proxy.url, &[]);
    let own = format!("127.0.0.1:{port}");
    let site = |site: &str| format!("Sec-Fetch-Site: {site}\r\n");
    let origin = |origin: &str| format!("Origin: {origin}\r\n");
    // The request, its Host, other headers, and the status.
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
        // Host names that another site resolved to this address, and other ports.
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
        // Requests that change something, and GET requests that act.
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
        // A namespace may have this name.
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
        // Paths that leave the folder or the prefix.
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
fn acting_subresources_are_refused_in_every_encoding() {
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
    // Decoded again and again it would name a subresource; no honest client writes this.
    let deep = format!("/k8s/api/v1/%{}61", "25".repeat(40));
    assert_eq!(get(port, &deep).code, 400);
    assert_eq!(get(port, "/k8s/api/v1/%252e%252e/x").code, 400);
}

#[test]
fn response_headers_that_make_a_browser_act_are_dropped() {
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
            "HTTP/1.1 {code}\r\nServer: nginx\r\nContent-Type: application/json\r\nETag: \"a\"\r\nRetry-After: 1\r\nWarning: 299 - \"old\"\r\n\
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
        let strange: Vec<&str> = names
            .iter()
            .map(String::as_str)
            .filter(|name| !own.contains(name))
            .collect();
        // Ours names the program that answers in the cluster's place; a cluster's own does not come through.
        let expected: &[&str] = if code == 502 { &["server"] } else { &[] };
        assert_eq!(strange, expected, "{path}");
        assert_eq!(got.header("retry-after").is_some(), code != 502, "{path}");
        if code != 502 {
            let policy = got.header("content-security-policy");
            assert_eq!(policy, Some("sandbox; default-src 'none'"), "{path}");
        }
    }
}

#[test]
fn an_idle_connection_makes_room_for_a_new_one() {
    const ROOM: usize = 64;
    let dist = dist("room");
    let (go_on, resume) = channel::<()>();
    let resume = std::sync::Mutex::new(resume);
    let proxy = Proxy::start(move |head, mut to| {
        to.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
            .unwrap();
        if head.contains("/flood") {
            let chunk = format!("{:x}\r\n{}\r\n", 1 << 20, "x".repeat(1 << 20));
            while to.write_all(chunk.as_bytes()).is_ok() {}
        } else {
            resume.lock().unwrap().recv().unwrap();
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
    // Some have sent no request, some a part of one, and some have their response.
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
    // The oldest was closed; the newest is still served.
    assert!(matches!(idle[0].read(&mut [0; 1]), Ok(0) | Err(_)));
    let newest = idle.last_mut().unwrap();
    write!(newest, "GET / HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n").unwrap();
    read_until(newest, b"\r\n\r\nindex.html");
    // A client that does not read its response counts as idle as well.
    let unread: Vec<TcpStream> = (0..ROOM)
        .map(|_| {
            let mut stream = asked("/k8s/flood");
            read_until(&mut stream, b"one");
            stream
        })
        .collect();
    assert_eq!(get(port, "/").code, 200);
    drop(unread);
    // A watch does not, however long no event comes.
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

/// `make test` runs this again once the page is built.
#[test]
fn the_page_in_the_program_is_served_from_anywhere() {
    // Another project's page must not run with access to the cluster.
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
    // What the page states of its scripts and styles, the server says as well.
    let page = get(port, "/");
    let policy = page.header("content-security-policy").unwrap();
    let own = policy.strip_suffix("; frame-ancestors 'self'").unwrap();
    assert!(
        own.contains("script-src 'self' 'wasm-unsafe-eval'; style-src 'self';"),
        "{own}"
    );
    let text = String::from_utf8_lossy(&page.body).into_owned();
    assert!(text.contains(&format!("content=\"{own}\"")) && !text.contains("<style"));
    assert_eq!(get(port, "/nothing").code, 404);
}

#[test]
fn request_headers_with_an_identity_are_not_passed_on() {
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
fn a_watch_streams_until_the_client_hangs_up() {
    let dist = dist("streams");
    let (go_on, resume) = channel::<()>();
    let resume = std::sync::Mutex::new(resume);
    let (ended, end) = channel();
    let proxy = Proxy::start(move |_, mut to| {
        to.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
            .unwrap();
        resume.lock().unwrap().recv().unwrap();
        to.write_all(b"3\r\ntwo\r\n").unwrap();
        // Nothing more arrives: this read returns only when the connection ends.
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
    // The second piece is sent once the first has arrived.
    read_until(&mut watch, b"one");
    go_on.send(()).unwrap();
    read_until(&mut watch, b"two");
    drop(watch);
    assert!(end.recv_timeout(HANGS).expect("the proxy still streams"));
}

#[test]
fn writes_pass_when_they_are_allowed() {
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
    // But still only from the server's own page.
    let head = head.replace("\r\n\r\n", "\r\nOrigin: http://evil.example\r\n\r\n");
    assert_eq!(ask(port, head.as_bytes()).code, 403);
}

#[test]
fn a_proxy_that_is_down_is_reported_with_the_command_to_start_it() {
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
    // By which the page knows whose words these are.
    assert_eq!(got.header("server"), Some("deltascope-serve"));
    assert_eq!(get(port, "/").code, 200);
    drop(serving);
}

#[cfg(unix)]
#[test]
fn ctrl_c_and_sigterm_end_it_without_an_error() {
    let dist = dist("ends");
    let proxy = Proxy::start(|_, mut to| {
        to.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
            .unwrap();
        let _ended = to.read(&mut [0; 1]);
    });
    for signal in ["INT", "TERM"] {
        let (mut serving, port) = serve(&dist, &proxy.url, &[]);
        // An open watch does not delay the end.
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
fn an_error_at_start_says_what_to_do() {
    let dist = dist("refused");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().port().to_string();
    let here = dist.to_str().unwrap();
    // Arguments, exit code, and text on stderr.
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

/// Starts the server and returns its port.
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

/// A built page, with files beside it that must not be served.
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
    // The link may exist from an earlier run.
    let _there = std::os::unix::fs::symlink(&secret, dist.join("link.txt"));
    dist
}

fn get(port: u16, path: &str) -> Got {
    let head =
        format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    ask(port, head.as_bytes())
}
